/* ops_matmul.c - products of matrices and vectors.
 *
 * Errors are relative to |a| @ |b| and grow with the root of k. */
#include <string.h>

#include "operands.h"

enum { A, B, C };

static const tolerance sums = { .ulps = 2, .sized = true, .grows = GROWS_ROOT };

static tsr_status matmul(trial *t, side s) { return tsr_matmul(RESULT(t, s, 0), IN(t, s, A), IN(t, s, B)); }
static tsr_status matmul_i8(trial *t, side s)
{
    return tsr_matmul_i8(RESULT(t, s, 0), IN(t, s, A), IN(t, s, B));
}
static tsr_status gemm(trial *t, side s)
{
    const bool whole = tsr_dtype_kind(t->check->dtype) < TSR_FLOATING;
    const tsr_scalar alpha = whole ? tsr_scalar_i64(t->with.n[0]) : tsr_scalar_f64(t->with.a);
    const tsr_scalar beta = whole ? tsr_scalar_i64(t->with.n[1]) : tsr_scalar_f64(t->with.b);
    return tsr_gemm(RESULT(t, s, 0), IN(t, s, A), IN(t, s, B), IN(t, s, C), alpha, beta);
}
static tsr_status addmm(trial *t, side s)
{
    return tsr_addmm(RESULT(t, s, 0), IN(t, s, C), IN(t, s, A), IN(t, s, B));
}
static tsr_status linear(trial *t, side s)
{
    return tsr_linear(RESULT(t, s, 0), IN(t, s, A), IN(t, s, B), IN(t, s, C));
}
static tsr_status dot(trial *t, side s) { return tsr_dot(RESULT(t, s, 0), IN(t, s, A), IN(t, s, B)); }
static tsr_status vecdot(trial *t, side s)
{
    return tsr_vecdot(RESULT(t, s, 0), IN(t, s, A), IN(t, s, B), -1);
}
static tsr_status outer(trial *t, side s) { return tsr_outer(RESULT(t, s, 0), IN(t, s, A), IN(t, s, B)); }
static tsr_status tensordot(trial *t, side s)
{
    return tsr_tensordot(RESULT(t, s, 0), IN(t, s, A), IN(t, s, B), 1, NULL, NULL);
}
static tsr_status einsum(trial *t, side s)
{
    const tsr_tensor *all[] = { IN(t, s, A), IN(t, s, B) };
    return tsr_einsum(RESULT(t, s, 0), "ij,jk->ki", 2, all);
}

/* Sizes of m, k and n by the trial: small, with ones, with nothing, large. */
static int64_t random_size(trial *t)
{
    switch (t->number % 4) {
    case 0: return random_between(t, 1, 20);
    case 1: return random_between(t, 1, 3);
    case 2: return random_below(t, 3);
    default: return once_in(t, 3) ? random_between(t, 1, 150) : random_between(t, 8, 70);
    }
}

static values values_for(trial *t)
{
    values v = { -2, 2, 0, false };
    if (tsr_dtype_kind(t->check->dtype) < TSR_FLOATING) return any_values;
    if (t->number % 4 == 1) v.special = 40;
    return v;
}

/* The trial's own m, k, n are with.n[0 .. 2] of sizes; batch dims in front of both, broadcast. */
typedef struct sizes {
    int64_t m, k, n;
    int batch;
    int64_t dims[2];
} sizes;

static sizes random_sizes(trial *t)
{
    sizes z = { random_size(t),
                random_size(t),
                random_size(t),
                (int)random_below(t, 3),
                { random_between(t, 1, 3), random_between(t, 1, 2) } };
    t->terms = (double)z.k;
    return z;
}

static void make_batch(trial *t, int slot, tsr_dtype dtype, const sizes *z, int64_t rows, int64_t cols,
                       bool may_shrink)
{
    const values v = values_for(t);
    int64_t shape[4];
    int ndim = 0, drop = may_shrink && once_in(t, 3) ? z->batch : 0;
    for (int i = drop; i < z->batch; i++) shape[ndim++] = may_shrink && once_in(t, 3) ? 1 : z->dims[i];
    shape[ndim++] = rows;
    shape[ndim++] = cols;
    make_input(t, slot, dtype, ndim, shape, &v);
}

static void check_matmul(trial *t)
{
    const sizes z = random_sizes(t);
    const values v = values_for(t);
    const tsr_dtype dtype = t->check->dtype;
    if (once_in(t, 6))
        make_input(t, A, dtype, 1, &z.k, &v);
    else
        make_batch(t, A, dtype, &z, z.m, z.k, true);
    if (once_in(t, 6))
        make_input(t, B, dtype, 1, &z.k, &v);
    else
        make_batch(t, B, dtype, &z, z.k, z.n, true);
    run_op(t, matmul, 1, 0, &sums);
}

static void check_matmul_i8(trial *t)
{
    const sizes z = random_sizes(t);
    make_batch(t, A, t->check->dtype, &z, z.m, z.k, true);
    make_batch(t, B, once_in(t, 2) ? TSR_I8 : TSR_U8, &z, z.k, z.n, true);
    run_op(t, matmul_i8, 1, 0, &sums);
}

static void check_gemm(trial *t)
{
    static const double numbers[] = { 1, 0.5, 2, 0 };
    const sizes z = random_sizes(t);
    t->with.a = numbers[random_below(t, 3)];
    t->with.b = numbers[random_below(t, 4)];
    t->with.n[0] = random_between(t, 1, 3);
    t->with.n[1] = random_below(t, 3);
    make_batch(t, A, t->check->dtype, &z, z.m, z.k, false);
    make_batch(t, B, t->check->dtype, &z, z.k, z.n, false);
    if (!once_in(t, 4)) make_batch(t, C, t->check->dtype, &z, z.m, z.n, false);
    run_op(t, gemm, 1, 1 << C, &sums);
}

/* Two operands and perhaps a third, each of these dims: letters m, k, n. */
typedef struct product {
    const char *name;
    call_fn call;
    const char *a, *b, *c;
    bool may_lack; /* c */
} product;

static const product products[] = {
    { "addmm", addmm, "mk", "kn", "mn", false },   { "linear", linear, "mk", "nk", "n", true },
    { "dot", dot, "k", "k", NULL, false },         { "vecdot", vecdot, "mk", "mk", NULL, false },
    { "outer", outer, "m", "n", NULL, false },     { "tensordot", tensordot, "mnk", "km", NULL, false },
    { "einsum", einsum, "mk", "kn", NULL, false },
};

static void make_letters(trial *t, int slot, const char *letters, const sizes *z)
{
    const values v = values_for(t);
    int64_t shape[4];
    int ndim = 0;
    for (; *letters; letters++) shape[ndim++] = *letters == 'm' ? z->m : *letters == 'k' ? z->k : z->n;
    make_input(t, slot, t->check->dtype, ndim, shape, &v);
}

static void check_product(trial *t)
{
    const product *p = t->check->about;
    sizes z = random_sizes(t);
    if (strlen(p->a) > 2 && z.n > 9) z.n = 9;
    make_letters(t, A, p->a, &z);
    make_letters(t, B, p->b, &z);
    if (p->c && !(p->may_lack && once_in(t, 3))) make_letters(t, C, p->c, &z);
    run_op(t, p->call, 1, 0, &sums);
}

void list_matmul(check_list *list)
{
    const uint32_t dtypes = dtypes_of(TSR_OP_MATMUL, 0);
    const check c = { .family = "matmul", .op = TSR_OP_MATMUL };
    check own = c;
    own.run = check_matmul;
    add_for_dtypes(list, own, "matmul", dtypes);
    own.run = check_gemm;
    add_for_dtypes(list, own, "gemm", dtypes);
    own.run = check_product;
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        own.about = &products[i];
        add_for_dtypes(list, own, products[i].name, dtypes);
    }
    add_for_dtypes(list, (check){ .family = "matmul", .op = TSR_OP_MATMUL_I8, .run = check_matmul_i8 },
                   "matmul_i8", dtypes_of(TSR_OP_MATMUL_I8, 0));
}
