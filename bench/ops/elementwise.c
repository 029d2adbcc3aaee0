/* elementwise.c - elementwise: arithmetic, functions, casts, broadcasts, mixed orders. */
#include "ops.h"

typedef tsr_status (*unary_fn)(tsr_tensor **, const tsr_tensor *);
typedef tsr_status (*binary_fn)(tsr_tensor **, const tsr_tensor *, const tsr_tensor *);

static const struct {
    const char *name;
    unary_fn run;
    bool ends;
} unaries[] = {
    /* ends: measured far from 0 too */
    { "exp", tsr_exp, true },         { "tanh", tsr_tanh, false },
    { "gelu", tsr_gelu, true },       { "gelu_tanh", tsr_gelu_tanh, false },
    { "sigmoid", tsr_sigmoid, true }, { "sqrt", tsr_sqrt, false },
    { "log", tsr_log, true },         { "sin", tsr_sin, false },
    { "relu", tsr_relu, false },      { "silu", tsr_silu, true },
    { "erf", tsr_erf, false },
};
static const struct { const char *name; binary_fn run; } binaries[] = {
    { "add", tsr_add }, { "mul", tsr_mul }, { "maximum", tsr_maximum }, { "less", tsr_lt },
};

static tsr_status run_unary(job *j)  { return unaries[j->axis].run(&j->z, j->x[0]); }
static tsr_status run_binary(job *j) { return binaries[j->axis].run(&j->z, j->x[0], j->x[1]); }
static tsr_status run_fma(job *j)    { return tsr_fma(&j->z, j->x[0], j->x[1], j->x[2]); }
static tsr_status run_where(job *j)  { return tsr_where(&j->z, j->x[2], j->x[0], j->x[1]); }
static tsr_status run_power(job *j)  { return tsr_pow(&j->z, j->x[0], TSR_NUMBER(2.0)); }
static tsr_status run_number(job *j) { return tsr_add(&j->z, j->x[0], TSR_NUMBER(2.5)); }
static tsr_status run_fresh_add(job *j)
{
    tsr_tensor *t = NULL;
    const tsr_status s = tsr_add(&t, j->x[0], j->x[1]);
    tsr_release(&t);
    return s;
}

static void make_vectors(job *j)
{
    for (int i = 0; i < 3; i++)
        values(&j->x[i], i == 2 && j->run == run_where ? TSR_BOOL : j->dtype, 1, j->n, (uint64_t)i);
    must(tsr_zeros(&j->z, j->to != TSR_DTYPE_INVALID ? j->to : j->dtype, 1, j->n));
}

/* Logarithms and roots want positive numbers. */
static void make_positive(job *j)
{
    make_vectors(j);
    must(tsr_abs(&j->x[0], j->x[0]));
}

/* Numbers far from 0, where functions overflow, vanish or end; for the logarithm, half are 0. */
static void make_wide(job *j)
{
    make_vectors(j);
    must(tsr_mul(&j->x[0], j->x[0], TSR_NUMBER(100)));
    if (unaries[j->axis].run == tsr_log) must(tsr_relu(&j->x[0], j->x[0]));
}

static job *add_vectors(const char *op, tsr_dtype dtype, const char *tag, int64_t n, int operands, bool quick)
{
    job *j = add((double)n * size_of(dtype) * operands, (double)n * size_of(dtype), 0, quick, "b.%s.%s.%s",
                 op, dtype_name(dtype), tag);
    j->make = make_vectors;
    j->dtype = dtype;
    j->n[0] = n;
    return j;
}

/* Broadcasts and mixed orders of (4096, 4096). */
enum mix { OUTER, ROW, COLUMN, TRANSPOSED };

static void make_mixed(job *j)
{
    const int64_t n = j->n[0];
    ROOM(&j->z, TSR_F32, n, n);
    if (j->n[1] == OUTER) VALUES(&j->x[0], TSR_F32, n, 1);
    else                  VALUES(&j->x[0], TSR_F32, n, n);
    switch ((enum mix)j->n[1]) {
    case OUTER:
    case ROW:    VALUES(&j->x[1], TSR_F32, 1, n); break;
    case COLUMN: VALUES(&j->x[1], TSR_F32, n, 1); break;
    case TRANSPOSED: VALUES(&j->x[2], TSR_F32, n, n); must(tsr_transpose(&j->x[1], j->x[2], 0, 1)); break;
    }
}

static void add_mixed(const char *name, enum mix mix, bool quick)
{
    const double all = 4096.0 * 4096 * 4, row = 4096 * 4;
    job *j = add(mix == OUTER ? 2 * row : mix == TRANSPOSED ? 2 * all : all + row, all, 0, quick, "%s", name);
    j->make = make_mixed;
    j->run = run_binary;
    j->n[0] = 4096;
    j->n[1] = mix;
}

static void make_stepped(job *j)
{
    for (int i = 0; i < 2; i++) {
        VALUES(&j->x[2 + i], TSR_F32, 2 * j->n[0]);
        must(tsr_slice(&j->x[i], j->x[2 + i], 0, 0, 2 * j->n[0], 2));
    }
    must(tsr_zeros(&j->z, TSR_F32, 1, j->n));
}

static void make_cast(job *j)
{
    values(&j->x[0], j->dtype, 1, j->n, 1);
    must(tsr_zeros(&j->z, j->to, 1, j->n));
}

void add_elementwise(void)
{
    static const struct {
        const char *tag;
        int64_t n;
    } sizes[] = { { "64", 64 }, { "1K", 1024 }, { "1M", 1 << 20 }, { "16M", N16M } };
    static const tsr_dtype shorts[] = { TSR_F16, TSR_BF16, TSR_I32, TSR_I8, TSR_F64 };
    static const tsr_dtype casts[][2] = { { TSR_F32, TSR_F16 },  { TSR_F16, TSR_F32 }, { TSR_F32, TSR_BF16 },
                                          { TSR_BF16, TSR_F32 }, { TSR_I8, TSR_F32 },  { TSR_F32, TSR_F64 },
                                          { TSR_F32, TSR_I32 },  { TSR_F32, TSR_U8 } };
    job *j;
    for (int i = 0; i < 4; i++) {
        add_vectors("add", TSR_F32, sizes[i].tag, sizes[i].n, 2, i != 2)->run = run_binary;
        add_vectors("fma", TSR_F32, sizes[i].tag, sizes[i].n, 3, i == 3)->run = run_fma;
    }
    j = add_vectors("mul", TSR_F32, "16M", N16M, 2, false);
    j->run = run_binary;
    j->axis = 1;
    add_vectors("add", TSR_F32, "16M.alloc", N16M, 2, true)->run = run_fresh_add;
    add_vectors("addscalar", TSR_F32, "16M", N16M, 1, false)->run = run_number;
    add_mixed("b.bcast_outer.f32.4096", OUTER, true);
    add_mixed("b.bcast_row.f32.4096", ROW, true);
    add_mixed("b.bcast_col.f32.4096", COLUMN, false);
    for (int i = 0; i < (int)(sizeof unaries / sizeof unaries[0]); i++) {
        j = add_vectors(unaries[i].name, TSR_F32, "16M", N16M, 1, i < 3);
        j->run = run_unary;
        j->make = make_positive;
        j->axis = i;
    }
    for (int i = 0; i < (int)(sizeof unaries / sizeof unaries[0]); i++) {
        if (!unaries[i].ends) continue;
        j = add_vectors(unaries[i].name, TSR_F32, "1M.wide", 1 << 20, 1, false);
        j->run = run_unary;
        j->make = make_wide;
        j->axis = i;
    }
    add_vectors("pow2", TSR_F32, "1M", 1 << 20, 1, false)->run = run_power;
    add_vectors("exp", TSR_F32, "1K", 1024, 1, false)->run = run_unary;
    add_vectors("exp", TSR_F64, "16M", N16M, 1, false)->run = run_unary;
    add_vectors("exp", TSR_F16, "16M", N16M, 1, false)->run = run_unary;
    for (int i = 0; i < 5; i++)
        add_vectors("add", shorts[i], "16M", N16M, 2, i == 0 || i == 3)->run = run_binary;
    j = add_vectors("mul", TSR_I8, "16M", N16M, 2, false);
    j->run = run_binary;
    j->axis = 1;
    j = add(4.0 * 4 * (1 << 23), 4.0 * (1 << 23), 0, true, "b.add_strided2.f32.8M");
    j->make = make_stepped;
    j->run = run_binary;
    j->n[0] = 1 << 23;
    add_mixed("b.add_T.f32.4096", TRANSPOSED, true);
    for (int i = 0; i < 8; i++) {
        j = add((double)N16M * size_of(casts[i][0]), (double)N16M * size_of(casts[i][1]), 0, i == 0 || i == 4,
                "b.cast.%s.%s.16M", dtype_name(casts[i][0]), dtype_name(casts[i][1]));
        j->make = make_cast;
        j->run = run_copy;
        j->dtype = casts[i][0];
        j->to = casts[i][1];
        j->n[0] = N16M;
    }
    j = add(9.0 * N16M, 4.0 * N16M, 0, false, "b.where.f32.16M");
    j->make = make_vectors;
    j->run = run_where;
    j->n[0] = N16M;
    j = add(8.0 * N16M, 1.0 * N16M, 0, false, "b.less.f32.16M");
    j->make = make_vectors;
    j->run = run_binary;
    j->to = TSR_BOOL;
    j->axis = 3;
    j->n[0] = N16M;
    j = add_vectors("maximum", TSR_F32, "16M", N16M, 2, false);
    j->run = run_binary;
    j->axis = 2;
}
