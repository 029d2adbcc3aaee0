/* check_products.c - Kronecker's and the vector product, powers, traces and differences, straight from their
 * formulas. */
#include <math.h>
#include <string.h>

#include "trial.h"

enum { A, B, RESULT, RANK = TRIAL_RANK };

static value times(value x, value y)
{
    return (value){ x.bits * y.bits, x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re };
}
static value plus(value x, value y) { return (value){ x.bits + y.bits, x.re + y.re, x.im + y.im }; }
static value minus(value x, value y) { return (value){ x.bits - y.bits, x.re - y.re, x.im - y.im }; }
static double size_of_value(value x) { return hypot(x.re, x.im); }

static bool is_multiplied(tsr_dtype dtype) { return dtype != TSR_BOOL && dtype != TSR_C32; }
static bool is_conjugated(tsr_dtype dtype) { return dtype != TSR_C32; }

/* Kronecker's product -------------------------------------------------------------------------- */

/* a and b have dims aligned at the right; dim d of the result is a's times b's. */
static void check_kron(trial *t)
{
    int64_t a[RANK], b[RANK], z[RANK];
    const int na = random_shape(t, a, 0, RANK, true), nb = (int)random_between(t, 0, RANK),
              n = na > nb ? na : nb;
    const int64_t whole = count_of(na, a);
    int64_t left = most_elements(t) / (whole ? whole : 1);
    for (int d = 0; d < nb; d++) {
        b[d] = random_size(t, 1, left < 3 ? left : 3, left);
        left /= b[d];
    }
    for (int d = 0; d < n; d++)
        z[d] = (d < n - na ? 1 : a[d - (n - na)]) * (d < n - nb ? 1 : b[d - (n - nb)]);
    make_input(t, A, t->check->dtype, na, a, FILL_SMALL);
    make_input(t, B, t->check->dtype, nb, b, FILL_SMALL);
    make_output(t, RESULT, t->check->dtype, n, z);
    GO_ON(t);
    NEED(t, tsr_kron(&t->tensor[RESULT], t->tensor[A], t->tensor[B]));
    check_gaps(t, RESULT);
    const int64_t count = count_of(n, z);
    for (int64_t k = first_sample(t, count, 8); k >= 0; k = next_sample(t, k, count, 8)) {
        int64_t at[RANK], i[RANK], j[RANK];
        index_of(at, k, n, z);
        for (int d = 0; d < n; d++) {
            const int64_t size = d < n - nb ? 1 : b[d - (n - nb)];
            if (d >= n - na) i[d - (n - na)] = at[d] / size;
            if (d >= n - nb) j[d - (n - nb)] = at[d] % size;
        }
        const value x = value_at(t->tensor[A], place_of(i, na, a)),
                    y = value_at(t->tensor[B], place_of(j, nb, b));
        check_near(t, RESULT, k, times(x, y),
                   4 * epsilon_of(t->check->dtype) * size_of_value(x) * size_of_value(y));
    }
}

/* The vector product ------------------------------------------------------------------------------ */

/* Element `part` of three along the axis. An operand has the last dims, and repeats those of size 1. */
static value part_at(const tsr_tensor *x, const int64_t *at, int n, int axis, int64_t part)
{
    int64_t own[RANK];
    for (int d = 0; d < x->ndim; d++) {
        const int whole = d + n - x->ndim;
        own[d] = whole == axis ? part : x->shape[d] == 1 ? 0 : at[whole];
    }
    return value_at(x, place_of(own, x->ndim, x->shape));
}

static void check_cross(trial *t)
{
    int64_t shape[RANK], own[RANK];
    const int n = random_shape(t, shape, 1, RANK, true), axis = (int)random_below(t, n);
    const int fewer = (int)random_between(t, n - axis, n), longer = once_in(t, 2) ? A : B;
    shape[axis] = 3;
    for (int d = 0; d < n; d++) own[d] = d != axis && once_in(t, 3) ? 1 : shape[d];
    make_input(t, longer, t->check->dtype, n, shape, FILL_SMALL);
    make_input(t, longer == A ? B : A, t->check->dtype, fewer, own + n - fewer, FILL_SMALL);
    make_output(t, RESULT, t->check->dtype, n, shape);
    GO_ON(t);
    NEED(t, tsr_cross(&t->tensor[RESULT], t->tensor[A], t->tensor[B], once_in(t, 2) ? axis : axis - n));
    check_gaps(t, RESULT);
    const int64_t count = count_of(n, shape);
    for (int64_t k = first_sample(t, count, 16); k >= 0; k = next_sample(t, k, count, 16)) {
        int64_t at[RANK];
        index_of(at, k, n, shape);
        const int64_t p = (at[axis] + 1) % 3, q = (at[axis] + 2) % 3;
        const tsr_tensor *a = t->tensor[A], *b = t->tensor[B];
        const value x = times(part_at(a, at, n, axis, p), part_at(b, at, n, axis, q)),
                    y = times(part_at(a, at, n, axis, q), part_at(b, at, n, axis, p));
        check_near(t, RESULT, k, minus(x, y), 256 * epsilon_of(t->check->dtype));
    }
}

/* Powers ---------------------------------------------------------------------------------------------- */

enum { LARGEST = 6, HIGHEST = 5 };

/* The power-th power of the matrix that begins at element `first`, without rounding between products. */
static void right_power(value *z, const tsr_tensor *a, int64_t first, int64_t n, int64_t power)
{
    for (int64_t i = 0; i < n * n; i++) z[i] = i / n == i % n ? (value){ 1, 1, 0 } : (value){ 0 };
    for (int64_t p = 0; p < power; p++) {
        value row[LARGEST * LARGEST] = { { 0 } };
        for (int64_t i = 0; i < n * n; i++)
            for (int64_t k = 0; k < n; k++)
                row[i] = plus(row[i], times(z[i / n * n + k], value_at(a, first + k * n + i % n)));
        memcpy(z, row, sizeof row);
    }
}

/* Products are rounded to the dtype: short floats take one at most, so that a bound is easily said. */
static void check_power(trial *t)
{
    const tsr_dtype dtype = t->check->dtype;
    const bool is_short = is_float(dtype) && dtype != TSR_F32 && dtype != TSR_F64;
    const int64_t n = random_between(t, 0, LARGEST), power = random_between(t, 0, is_short ? 2 : HIGHEST);
    int64_t shape[RANK];
    const int batch = random_shape(t, shape, 0, RANK - 2, true);
    for (int d = 0; d < batch && count_of(batch, shape) > 64; d++) shape[d] = 1;
    shape[batch] = shape[batch + 1] = n;
    make_input(t, A, dtype, batch + 2, shape, FILL_SMALL);
    make_output(t, RESULT, dtype, batch + 2, shape);
    GO_ON(t);
    NEED(t, tsr_matrix_power(&t->tensor[RESULT], t->tensor[A], power));
    check_gaps(t, RESULT);
    const double size =
        pow(12 * (double)n + 1, (double)power); /* of sums of products of elements to 8, or 8 + 8i */
    for (int64_t m = 0; n && m < count_of(batch, shape) && !t->failed; m++) {
        value z[LARGEST * LARGEST];
        right_power(z, t->tensor[A], m * n * n, n, power);
        for (int64_t i = 0; i < n * n; i++)
            check_near(t, RESULT, m * n * n + i, z[i], power > 1 ? 8 * epsilon_of(dtype) * size : 0);
    }
}

/* Traces ------------------------------------------------------------------------------------------------ */

static tsr_dtype sum_dtype(tsr_dtype dtype)
{
    return !is_integer(dtype) ? dtype : is_signed(dtype) ? TSR_I64 : TSR_U64;
}

static void check_trace(trial *t)
{
    int64_t shape[RANK];
    const int n = random_shape(t, shape, 2, RANK, true);
    const int64_t rows = shape[n - 2], cols = shape[n - 1], offset = random_between(t, -rows - 1, cols + 1);
    make_input(t, A, t->check->dtype, n, shape, FILL_SMALL);
    make_output(t, RESULT, sum_dtype(t->check->dtype), n - 2, shape);
    GO_ON(t);
    NEED(t, tsr_trace(&t->tensor[RESULT], t->tensor[A], offset));
    check_gaps(t, RESULT);
    const int64_t count = count_of(n - 2, shape), cost = 4 * rows;
    for (int64_t k = first_sample(t, count, cost); k >= 0; k = next_sample(t, k, count, cost)) {
        value sum = { 0 };
        for (int64_t i = 0; i < rows; i++)
            if (i + offset >= 0 && i + offset < cols)
                sum = plus(sum, value_at(t->tensor[A], (k * rows + i) * cols + i + offset));
        check_near(t, RESULT, k, sum, 1e-12);
    }
}

/* Differences ------------------------------------------------------------------------------------------- */

static value rounded(tsr_dtype dtype, value v)
{
    unsigned char element_of_dtype[16];
    write_value(dtype, element_of_dtype, v);
    return read_value(dtype, element_of_dtype);
}

/* The n-th difference at an index, rounded to the dtype each time. */
static value difference(const tsr_tensor *x, const int64_t *at, int axis, int64_t n)
{
    int64_t next[RANK];
    memcpy(next, at, sizeof *at * (size_t)x->ndim);
    if (n == 0) return value_at(x, place_of(at, x->ndim, x->shape));
    next[axis]++;
    return rounded(x->dtype, minus(difference(x, next, axis, n - 1), difference(x, at, axis, n - 1)));
}

static void check_diff(trial *t)
{
    int64_t shape[RANK], z[RANK];
    const int ndim = random_shape(t, shape, 1, RANK, true), axis = (int)random_below(t, ndim);
    const int64_t n = random_between(t, 0, 3);
    memcpy(z, shape, sizeof z);
    z[axis] = shape[axis] > n ? shape[axis] - n : 0;
    make_input(t, A, t->check->dtype, ndim, shape, FILL_SMALL);
    make_output(t, RESULT, t->check->dtype, ndim, z);
    GO_ON(t);
    NEED(t, tsr_diff(&t->tensor[RESULT], t->tensor[A], axis, n));
    check_gaps(t, RESULT);
    const int64_t count = count_of(ndim, z);
    for (int64_t k = first_sample(t, count, 32); k >= 0; k = next_sample(t, k, count, 32)) {
        int64_t at[RANK];
        index_of(at, k, ndim, z);
        const value wanted = difference(t->tensor[A], at, axis, n), got = value_at(t->tensor[RESULT], k);
        MUST(t,
             is_integer(t->check->dtype) ? got.bits == wanted.bits
                                         : got.re == wanted.re && got.im == wanted.im,
             "difference %lld of element %lld is %g%+gi, not %g%+gi", (long long)n, (long long)k, got.re,
             got.im, wanted.re, wanted.im);
    }
}

/* Adjoints ------------------------------------------------------------------------------------- */

static void check_adjoint(trial *t)
{
    int64_t shape[RANK], z[RANK];
    const int n = random_shape(t, shape, 2, RANK, true);
    memcpy(z, shape, sizeof z);
    z[n - 2] = shape[n - 1];
    z[n - 1] = shape[n - 2];
    make_input(t, A, t->check->dtype, n, shape, FILL_SPECIAL);
    GO_ON(t);
    NEED(t, tsr_adjoint(&t->tensor[RESULT], t->tensor[A]));
    check_shape(t, RESULT, t->check->dtype, n, z);
    const int64_t count = count_of(n, z);
    for (int64_t k = first_sample(t, count, 4); k >= 0; k = next_sample(t, k, count, 4)) {
        const int64_t cols = z[n - 1], rows = z[n - 2], i = k / cols % rows, j = k % cols;
        unsigned char wanted[16];
        value v = value_at(t->tensor[A], k - i * cols - j + j * rows + i);
        v.im = -v.im;
        write_value(t->check->dtype, wanted, v);
        check_bits(t, RESULT, k, wanted);
    }
}

void list_products(check_list *list)
{
    static const struct {
        const char *name;
        void (*run)(trial *t);
    } rules[] = {
        { "kron", check_kron },   { "cross", check_cross }, { "matrix_power", check_power },
        { "trace", check_trace }, { "diff", check_diff },
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        add_checks(list, (check){ .family = "linalg", .run = rules[i].run, .every = 2 }, rules[i].name,
                   is_multiplied);
    add_checks(list, (check){ .family = "linalg", .run = check_adjoint, .every = 2 }, "adjoint",
               is_conjugated);
}
