/* check_matmul.c - products of matrices against three loops. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "op_facts.h"
#include "trial.h"

enum { A, B, RESULT, W, C, FULL };

typedef tsr_status (*product_fn)(tsr_tensor **, const tsr_tensor *, const tsr_tensor *);

typedef struct rule {
    const char *name;
    product_fn  call;
} rule;

static const rule rules[] = {
    { "matmul", tsr_matmul },
    { "matmul_i8", tsr_matmul_i8 },
};

/* One element: the sum over k of a[.., i, k] * b[.., k, j], and how large its terms are. */
static value right(const tsr_tensor *a, const tsr_tensor *b, int64_t batch, int64_t i, int64_t j,
                   double *size)
{
    const int64_t m = a->shape[a->ndim - 2], n = b->shape[b->ndim - 1], depth = a->shape[a->ndim - 1];
    value sum = { 0 };
    *size = 0;
    for (int64_t k = 0; k < depth; k++) {
        const value x = value_at(a, (batch * m + i) * depth + k),
                    y = value_at(b, (batch * depth + k) * n + j);
        sum.bits += x.bits * y.bits;
        sum.re += x.re * y.re - x.im * y.im;
        sum.im += x.re * y.im + x.im * y.re;
        *size += hypot(x.re, x.im) * hypot(y.re, y.im);
    }
    return sum;
}

/* Rounding errors of k terms, in units of epsilon, cancel like random steps do; those of equal terms, where
 * both operands are repeated along k, all have one sign and add up. */
static double roundings(const tsr_tensor *a, const tsr_tensor *b)
{
    const double k = (double)a->shape[a->ndim - 1];
    return a->stride[a->ndim - 1] == 0 && b->stride[b->ndim - 2] == 0 ? fmax(k / 2, sqrt(k)) : sqrt(k);
}

/* Real dtypes are read without imaginary parts, so one sum serves all. */
static void check_values(trial *t, int64_t batches, int64_t m, int64_t n)
{
    GO_ON(t);
    const tsr_dtype dtype = t->tensor[RESULT]->dtype;
    const int64_t count = batches * m * n, cost = t->tensor[A]->shape[t->tensor[A]->ndim - 1];
    for (int64_t k = first_sample(t, count, cost); k >= 0; k = next_sample(t, k, count, cost)) {
        double size = 0;
        const value wanted = right(t->tensor[A], t->tensor[B], k / (m * n), k / n % m, k % n, &size);
        check_near(t, RESULT, k, wanted,
                   (4 + roundings(t->tensor[A], t->tensor[B])) * epsilon_of(dtype) * size);
    }
}

/* Integers of any bits, whose sums wrap. */
static filling numbers_of(tsr_dtype dtype) { return is_integer(dtype) ? FILL_SPECIAL : FILL_SMALL; }

/* Half of the operands are packed, as kernels for matrices in their places want them; or all three. */
static void make_matrix(trial *t, int slot, tsr_dtype dtype, int rank, const int64_t *shape, bool all_packed)
{
    t->packed = all_packed || once_in(t, 3);
    if (slot == RESULT) make_output(t, slot, dtype, rank, shape);
    else                make_input(t, slot, dtype, rank, shape, numbers_of(dtype));
    t->packed = false;
}

static void check_product(trial *t)
{
    const rule *r = t->check->about;
    const int64_t most = most_elements(t), m = random_size(t, 0, 9, most),
                  k = random_size(t, 0, 12, most / (m + 1)), longer = m > k ? m : k,
                  n = random_size(t, 0, 9, most / (longer + 1));
    const bool batched = once_in(t, 3) && m * k + k * n < most / 4;
    const int64_t batches = random_between(t, 1, 3);
    const int64_t a[] = { batches, m, k }, b[] = { batches, k, n }, c[] = { batches, m, n };
    const int skip = batched ? 0 : 1, rank = batched ? 3 : 2;
    const bool packed = once_in(t, 4);
    make_matrix(t, A, t->check->dtype, rank, a + skip, packed);
    make_matrix(t, B, t->check->other ? t->check->other : t->check->dtype, rank, b + skip, packed);
    make_matrix(t, RESULT, t->check->other ? TSR_I32 : t->check->dtype, rank, c + skip, packed);
    GO_ON(t);
    if (once_in(t, 4)) tsr_release(&t->tensor[RESULT]);
    const bool made = !t->tensor[RESULT];
    NEED(t, r->call(&t->tensor[RESULT], t->tensor[A], t->tensor[B]));
    if (!made) check_gaps(t, RESULT);
    check_shape(t, RESULT, t->check->other ? TSR_I32 : t->check->dtype, rank, c + skip);
    check_inferred(t, 2, A, NULL, RESULT);
    check_values(t, batched ? batches : 1, m, n);
}

/* alpha * (a @ b) + beta * c, with c repeated; c + a @ b; or a @ w^T + c. */
enum { GEMM, ADDMM, LINEAR };

/* c is none, or broadcasts to the result: FULL is what it is then. */
static void make_addend(trial *t, int ndim, const int64_t *whole, int call)
{
    int64_t own[3];
    const int drop = call == LINEAR ? ndim - 1 : (int)random_between(t, 0, call == ADDMM ? 1 : ndim);
    if (call != ADDMM && once_in(t, 4)) return;
    for (int d = 0; d < ndim; d++) own[d] = call != LINEAR && once_in(t, 4) ? 1 : whole[d];
    make_input(t, C, t->check->dtype, ndim - drop, own + drop, numbers_of(t->check->dtype));
    make_packed(t, FULL, C, ndim, whole);
}

static tsr_status call_addition(trial *t, int call, int64_t alpha, int64_t beta)
{
    tsr_tensor **out = &t->tensor[RESULT];
    const tsr_tensor *a = t->tensor[A], *b = t->tensor[B], *c = t->tensor[C];
    if (c && tsr_same_shape(c, *out)) c = operand_or_result(t, C, RESULT);
    if (call == GEMM) return tsr_gemm(out, a, b, c, TSR_SCALAR(alpha), TSR_SCALAR(beta));
    return call == ADDMM ? tsr_addmm(out, c, a, b) : tsr_linear(out, a, t->tensor[W], c);
}

static void check_sums(trial *t, int64_t m, int64_t n, int64_t alpha, int64_t beta)
{
    const int64_t count = tsr_numel(t->tensor[RESULT]), cost = t->tensor[A]->shape[t->tensor[A]->ndim - 1];
    for (int64_t k = first_sample(t, count, cost); k >= 0; k = next_sample(t, k, count, cost)) {
        double size = 0;
        const value ab = right(t->tensor[A], t->tensor[B], k / (m * n), k / n % m, k % n, &size),
                    c = t->tensor[FULL] ? value_at(t->tensor[FULL], k) : (value){ 0 };
        const double x = (double)alpha, y = (double)beta;
        const value wanted = { .bits = (uint64_t)alpha * ab.bits + (uint64_t)beta * c.bits,
                               .re = x * ab.re + y * c.re, .im = x * ab.im + y * c.im };
        size = fabs(x) * size + fabs(y) * hypot(c.re, c.im);
        check_near(t, RESULT, k, wanted,
                   (6 + roundings(t->tensor[A], t->tensor[B])) * epsilon_of(t->check->dtype) * size);
    }
}

/* In batches too, but for addmm; w is one matrix for all rows of x. */
static void check_addition(trial *t)
{
    const int64_t most = most_elements(t), m = random_size(t, 0, 9, most),
                  k = random_size(t, 0, 12, most / (m + 1)), longer = m > k ? m : k,
                  n = random_size(t, 0, 9, most / (longer + 1));
    const int call = (int)random_below(t, 3), rank = call != ADDMM && once_in(t, 3) ? 3 : 2, first = 3 - rank;
    const bool is_unsigned = is_integer(t->check->dtype) && !is_signed(t->check->dtype);
    const int64_t least = is_unsigned ? 0 : -2, alpha = call == GEMM ? random_between(t, least, 2) : 1,
                  beta = call == GEMM ? random_between(t, least, 2) : 1,
                  batches = rank == 3 ? random_between(t, 1, 3) : 1;
    const int64_t a[] = { batches, m, k }, w[] = { batches, n, k }, z[] = { batches, m, n };
    const int skip = call == LINEAR ? 1 : first;
    make_input(t, A, t->check->dtype, rank, a + first, numbers_of(t->check->dtype));
    make_input(t, W, t->check->dtype, 3 - skip, w + skip, numbers_of(t->check->dtype));
    make_addend(t, rank, z + first, call);
    make_output(t, RESULT, t->check->dtype, rank, z + first);
    GO_ON(t);
    NEED(t, tsr_transpose(&t->tensor[B], t->tensor[W], -2, -1));
    NEED(t, call_addition(t, call, alpha, beta));
    if (rank == 3) NEED(t, tsr_expand(&t->tensor[B], t->tensor[B], 3, (const int64_t[]){ batches, k, n }));
    check_gaps(t, RESULT);
    GO_ON(t);
    check_sums(t, m, n, alpha, beta);
}

typedef struct sizes {
    const char *name;
    int64_t m[2], k[2], n[2]; /* from .. to */
} sizes;

static const sizes large[] = {
    { "matmul in blocks", { 60, 90 }, { 250, 300 }, { 40, 60 } },
    { "matmul of few rows", { 2, 3 }, { 512, 513 }, { 600, 640 } }, /* a b that no cache of a core holds */
};

static int64_t random_of(trial *t, const int64_t range[2]) { return random_between(t, range[0], range[1]); }

/* Large enough that a product is cut into blocks, or read in an order of its own; of small integers, so that
 * any order of adding gives the same. */
static void check_large(trial *t)
{
    const sizes *s = t->check->about;
    const int64_t m = random_of(t, s->m), k = random_of(t, s->k), n = random_of(t, s->n);
    tsr_tensor **a = &t->tensor[A], **b = &t->tensor[B], **c = &t->tensor[RESULT];
    NEED(t, tsr_empty(a, t->check->dtype, TSR_SHAPE(m, k)));
    NEED(t, tsr_empty(b, t->check->dtype, TSR_SHAPE(n, k)));
    for (int64_t i = 0; i < m * k; i++)
        write_value(t->check->dtype, element(*a, i), real_value((double)(i * 7 % 5 - 2)));
    for (int64_t i = 0; i < n * k; i++)
        write_value(t->check->dtype, element(*b, i), real_value((double)(i * 3 % 7 - 3)));
    NEED(t, tsr_transpose(b, *b, 0, 1));
    NEED(t, tsr_matmul(c, *a, *b));
    for (int tries = 0; tries < 200 && !t->failed; tries++) {
        double size = 0;
        const int64_t i = random_below(t, m), j = random_below(t, n);
        check_near(t, RESULT, i * n + j, right(*a, *b, 0, i, j, &size), 0);
    }
}

void list_matmul(check_list *list)
{
    for (int d = 1; d < TSR_DTYPE_COUNT; d++)
        if (d != TSR_BOOL && d != TSR_C32) {
            check c = { .family = "matmul",
                        .op = TSR_OP_MATMUL,
                        .run = check_product,
                        .about = &rules[0],
                        .more = 32,
                        .dtype = (tsr_dtype)d };
            add_check(list, c, "matmul");
            c.run = check_addition;
            c.more = 8;
            add_check(list, c, "gemm");
        }
    for (int i = 0; i < 4; i++)
        add_check(list,
                  (check){ .family = "matmul",
                           .op = TSR_OP_MATMUL_I8,
                           .run = check_product,
                           .about = &rules[1],
                           .more = 8,
                           .dtype = i & 1 ? TSR_U8 : TSR_I8,
                           .other = i & 2 ? TSR_U8 : TSR_I8 },
                  "matmul_i8");
    for (int i = 0; i < 4; i++)
        add_check(list,
                  (check){ .family = "matmul",
                           .op = TSR_OP_MATMUL,
                           .run = check_large,
                           .about = &large[i / 2],
                           .every = i < 2 ? 5 : 1,
                           .dtype = i & 1 ? TSR_F64 : TSR_F32 },
                  large[i / 2].name);
}
