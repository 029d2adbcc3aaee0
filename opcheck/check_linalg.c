/* check_linalg.c - factors and solutions, multiplied back; Fourier transforms, summed directly. */
#include <math.h>
#include <string.h>

#include "matrix.h"

enum { A, B, P, Q, R, V };

static int64_t rows_of(const tsr_tensor *a) { return a->shape[a->ndim - 2]; }
static int64_t cols_of(const tsr_tensor *a) { return a->shape[a->ndim - 1]; }
static int64_t least_of(const tsr_tensor *a) { return rows_of(a) < cols_of(a) ? rows_of(a) : cols_of(a); }

/* Matrices in slot A that may be singular, or are not. */
static void any_matrices(trial *t, bool square)
{
    int64_t shape[4];
    const int ndim = matrix_shape(t, shape, square);
    if (once_in(t, 4))
        make_input(t, A, t->check->dtype, ndim, shape, FILL_SMALL);
    else
        make_matrices(t, A, t->check->dtype, ndim, shape);
}

static void regular_matrices(trial *t)
{
    int64_t shape[4];
    make_matrices(t, A, t->check->dtype, matrix_shape(t, shape, true), shape);
}

/* Hermitian in one triangle, with NaN in the other, which is not read. */
static void hermitian_matrices(trial *t, bool upper, double shift)
{
    regular_matrices(t);
    GO_ON(t);
    const int64_t n = rows_of(t->tensor[A]);
    for (int64_t k = 0; k < tsr_numel(t->tensor[A]); k++) {
        const int64_t i = k / n % n, j = k % n;
        const double re = value_at(t->tensor[A], k).re;
        if (i != j && (i > j) != upper) continue;
        write_value(t->check->dtype, element(t->tensor[A], k),
                    i != j ? complex_value(NAN, NAN) : real_value(shift > 0 ? fabs(re) + shift : re));
    }
}

static matrix mirrored(matrix a, bool upper)
{
    const matrix other = adjoint(a);
    for (int64_t i = 0; i < a.rows * a.cols; i++)
        if (upper ? i / a.cols > i % a.cols : i / a.cols < i % a.cols) a.x[i] = other.x[i];
    return a;
}

static void check_orthonormal(trial *t, const char *what, matrix q)
{
    check_distance(t, what, product(adjoint(q), q), identity(q.cols),
                   matrix_rounding(t->check->dtype, q) * sqrt((double)q.cols + 1));
}

/* Values of matrix b in two slots are the same but for rounding, and in order. */
static void check_values(trial *t, int slot, int also, int64_t b, bool descending, double bound)
{
    const matrix w = read_column(t->tensor[slot], b);
    check_distance(t, "the values alone", read_column(t->tensor[also], b), w, bound);
    for (int64_t i = 1; i < w.rows && !t->failed; i++) {
        const double x = w.x[i - 1].re, y = w.x[i].re;
        MUST(t, descending ? x >= y && y >= 0 : x <= y, "value %lld is out of order", (long long)i);
    }
}

/* Systems ----------------------------------------------------------------------------------------- */

/* b has another dtype now and then: both are promoted. */
static void check_solve(trial *t)
{
    static const tsr_dtype dtypes[] = { TSR_F32, TSR_F64, TSR_C64, TSR_C128 };
    const tsr_dtype other = once_in(t, 4) ? dtypes[random_below(t, 4)] : t->check->dtype;
    tsr_dtype z;
    int64_t shape[4];
    regular_matrices(t);
    GO_ON(t);
    const tsr_tensor *a = t->tensor[A];
    const int ndim = right_side_shape(t, shape, a);
    const int64_t cols = ndim > 1 ? shape[ndim - 1] : -1;
    make_input(t, B, other, ndim, shape, FILL_SMALL);
    NEED(t, tsr_dtype_promote(&z, a->dtype, other));
    make_result(t, P, z, A, rows_of(a), cols);
    GO_ON(t);
    NEED_LIBRARY(t, tsr_solve(&t->tensor[P], a, t->tensor[B]));
    check_result(t, P, z, A, rows_of(a), cols);
    for (int64_t k = 0; k < matrices_of(a) && !t->failed; k++) {
        const matrix m = read_matrix(a, k), b = read_broadcast(t->tensor[B], a, k),
                     x = cols < 0 ? read_column(t->tensor[P], k) : read_matrix(t->tensor[P], k);
        check_distance(t, "a @ x", product(m, x), b,
                       matrix_rounding(z, m) * (norm_of(m) * norm_of(x) + norm_of(b)));
    }
}

static void check_inv(trial *t)
{
    const tsr_dtype dtype = t->check->dtype;
    regular_matrices(t);
    GO_ON(t);
    const tsr_tensor *a = t->tensor[A];
    make_result(t, P, dtype, A, rows_of(a), rows_of(a));
    GO_ON(t);
    NEED_LIBRARY(t, tsr_inv(&t->tensor[P], a));
    check_result(t, P, dtype, A, rows_of(a), rows_of(a));
    for (int64_t k = 0; k < matrices_of(a) && !t->failed; k++) {
        const matrix m = read_matrix(a, k), z = read_matrix(t->tensor[P], k);
        check_distance(t, "a @ inverse", product(m, z), identity(m.rows),
                       matrix_rounding(dtype, m) * norm_of(m) * norm_of(z));
    }
}

/* Factors ----------------------------------------------------------------------------------------- */

static void check_cholesky(trial *t)
{
    const tsr_dtype dtype = t->check->dtype;
    const bool upper = once_in(t, 2);
    hermitian_matrices(t, upper, 120);
    GO_ON(t);
    const tsr_tensor *a = t->tensor[A];
    make_result(t, P, dtype, A, rows_of(a), rows_of(a));
    GO_ON(t);
    NEED_LIBRARY(t, tsr_cholesky(&t->tensor[P], a, upper));
    check_result(t, P, dtype, A, rows_of(a), rows_of(a));
    for (int64_t k = 0; k < matrices_of(a) && !t->failed; k++) {
        const matrix m = mirrored(read_matrix(a, k), upper), z = read_matrix(t->tensor[P], k);
        MUST(t, is_triangle(z, upper), "the factor is no triangle");
        for (int64_t i = 0; i < z.rows; i++)
            MUST(t, z.x[i * z.cols + i].re > 0 && z.x[i * z.cols + i].im == 0,
                 "its diagonal is not positive");
        check_distance(t, "the product of triangles", upper ? product(adjoint(z), z) : product(z, adjoint(z)),
                       m, matrix_rounding(dtype, m) * norm_of(m));
    }
}

/* The rows of a in the order of p, which names each once. */
static matrix taken(trial *t, matrix a, int64_t k)
{
    matrix z = a;
    bool met[MATRIX_LARGEST] = { false };
    for (int64_t i = 0; i < a.rows; i++) {
        const int64_t from = (int64_t)value_at(t->tensor[P], k * a.rows + i).bits;
        const bool right = from >= 0 && from < a.rows && !met[from];
        if (!right) fail_trial(t, "row %lld of p is %lld", (long long)i, (long long)from);
        if (!right) return z;
        met[from] = true;
        memcpy(z.x + i * a.cols, a.x + from * a.cols, sizeof *z.x * (size_t)a.cols);
    }
    return z;
}

/* A triangle with ones on its diagonal; pivots were the largest, by the sum of parts for complex ones. */
static void check_lower(trial *t, matrix l)
{
    MUST(t, is_triangle(l, false), "l is no triangle");
    for (int64_t i = 0; i < l.rows * l.cols; i++) {
        const double most = i / l.cols == i % l.cols ? 1 : is_complex(t->check->dtype) ? 2.5 : 1.001;
        MUST(t, magnitude(l.x[i]) <= most, "element %lld of l is %g", (long long)i, magnitude(l.x[i]));
        if (most == 1) MUST(t, l.x[i].re == 1, "the diagonal of l is not 1");
    }
}

static void check_lu(trial *t)
{
    const tsr_dtype dtype = t->check->dtype;
    any_matrices(t, false);
    GO_ON(t);
    const tsr_tensor *a = t->tensor[A];
    const int64_t least = least_of(a);
    make_result(t, P, TSR_I64, A, rows_of(a), -1);
    make_result(t, Q, dtype, A, rows_of(a), least);
    make_result(t, R, dtype, A, least, cols_of(a));
    GO_ON(t);
    NEED_LIBRARY(t, tsr_lu(&t->tensor[P], &t->tensor[Q], &t->tensor[R], a));
    check_result(t, P, TSR_I64, A, rows_of(a), -1);
    check_result(t, Q, dtype, A, rows_of(a), least);
    check_result(t, R, dtype, A, least, cols_of(a));
    for (int64_t k = 0; k < matrices_of(a) && !t->failed; k++) {
        const matrix m = read_matrix(a, k), l = read_matrix(t->tensor[Q], k),
                     u = read_matrix(t->tensor[R], k);
        MUST(t, is_triangle(u, true), "u is no triangle");
        check_lower(t, l);
        GO_ON(t);
        check_distance(t, "l @ u", product(l, u), taken(t, m, k), matrix_rounding(dtype, m) * norm_of(m));
    }
}

static void check_qr(trial *t)
{
    const tsr_dtype dtype = t->check->dtype;
    const bool complete = once_in(t, 2);
    any_matrices(t, false);
    GO_ON(t);
    const tsr_tensor *a = t->tensor[A];
    const int64_t k = complete ? rows_of(a) : least_of(a);
    make_result(t, Q, dtype, A, rows_of(a), k);
    make_result(t, R, dtype, A, k, cols_of(a));
    GO_ON(t);
    NEED_LIBRARY(t, tsr_qr(&t->tensor[Q], &t->tensor[R], a, complete));
    check_result(t, Q, dtype, A, rows_of(a), k);
    check_result(t, R, dtype, A, k, cols_of(a));
    for (int64_t b = 0; b < matrices_of(a) && !t->failed; b++) {
        const matrix m = read_matrix(a, b), q = read_matrix(t->tensor[Q], b),
                     r = read_matrix(t->tensor[R], b);
        MUST(t, is_triangle(r, true), "r is no triangle");
        check_orthonormal(t, "q's columns", q);
        check_distance(t, "q @ r", product(q, r), m, matrix_rounding(dtype, m) * norm_of(m));
    }
}

static void check_svd(trial *t)
{
    const tsr_dtype dtype = t->check->dtype, real = part_of(dtype);
    const bool full = once_in(t, 2);
    any_matrices(t, false);
    GO_ON(t);
    const tsr_tensor *a = t->tensor[A];
    const int64_t k = least_of(a), p = full ? rows_of(a) : k, q = full ? cols_of(a) : k;
    make_result(t, P, dtype, A, rows_of(a), p);
    make_result(t, Q, real, A, k, -1);
    make_result(t, R, dtype, A, q, cols_of(a));
    make_result(t, V, real, A, k, -1);
    GO_ON(t);
    NEED_LIBRARY(t, tsr_svd(&t->tensor[P], &t->tensor[Q], &t->tensor[R], a, full));
    NEED_LIBRARY(t, tsr_svdvals(&t->tensor[V], a));
    check_result(t, P, dtype, A, rows_of(a), p);
    check_result(t, Q, real, A, k, -1);
    check_result(t, R, dtype, A, q, cols_of(a));
    check_result(t, V, real, A, k, -1);
    for (int64_t b = 0; b < matrices_of(a) && !t->failed; b++) {
        const matrix m = read_matrix(a, b), u = read_matrix(t->tensor[P], b),
                     s = read_column(t->tensor[Q], b), v = adjoint(read_matrix(t->tensor[R], b));
        const double bound = matrix_rounding(dtype, m) * norm_of(m);
        check_values(t, Q, V, b, true, bound);
        check_orthonormal(t, "u's columns", u);
        check_orthonormal(t, "vh's rows", v);
        check_distance(t, "(u * s) @ vh", product(scaled(left_columns(u, k), s), adjoint(left_columns(v, k))),
                       m, bound);
    }
}

/* Eigenvalues ------------------------------------------------------------------------------------- */

typedef tsr_status values_and_vectors(tsr_tensor **values, tsr_tensor **vectors, const tsr_tensor *a);
typedef tsr_status values_alone(tsr_tensor **values, const tsr_tensor *a);

/* Values into P, vectors into Q; the values alone into R. */
static void solve(trial *t, tsr_dtype values, tsr_dtype vectors, values_and_vectors *both,
                  values_alone *alone)
{
    const tsr_tensor *a = t->tensor[A];
    const int64_t n = rows_of(a);
    make_result(t, P, values, A, n, -1);
    make_result(t, Q, vectors, A, n, n);
    make_result(t, R, values, A, n, -1);
    GO_ON(t);
    NEED_LIBRARY(t, both(&t->tensor[P], &t->tensor[Q], a));
    NEED_LIBRARY(t, alone(&t->tensor[R], a));
    check_result(t, P, values, A, n, -1);
    check_result(t, Q, vectors, A, n, n);
    check_result(t, R, values, A, n, -1);
}

static void check_eigh(trial *t)
{
    const tsr_dtype dtype = t->check->dtype;
    hermitian_matrices(t, false, 0);
    GO_ON(t);
    const tsr_tensor *a = t->tensor[A];
    solve(t, part_of(dtype), dtype, tsr_eigh, tsr_eigvalsh);
    GO_ON(t);
    for (int64_t b = 0; b < matrices_of(a) && !t->failed; b++) {
        const matrix m = mirrored(read_matrix(a, b), false), v = read_matrix(t->tensor[Q], b);
        const double bound = matrix_rounding(dtype, m) * norm_of(m);
        check_values(t, P, R, b, false, bound);
        check_orthonormal(t, "v's columns", v);
        check_distance(t, "a @ v", product(m, v), scaled(v, read_column(t->tensor[P], b)), bound);
    }
}

/* Columns have length 1; the sum of the values is the trace. */
static void check_eig_matrix(trial *t, matrix m, int64_t b)
{
    const matrix w = read_column(t->tensor[P], b), also = read_column(t->tensor[R], b),
                 v = read_matrix(t->tensor[Q], b);
    const double slack = 5 * matrix_rounding(t->check->dtype, m),
                 bound = slack * (norm_of(m) + ldexp(1, -100));
    value sum = { 0 }, sum_also = { 0 }, trace = { 0 };
    check_distance(t, "a @ v", product(m, v), scaled(v, w), bound);
    for (int64_t j = 0; j < m.rows; j++) {
        double length = 0;
        for (int64_t i = 0; i < m.rows; i++) length = hypot(length, magnitude(v.x[i * m.rows + j]));
        MUST(t, fabs(length - 1) <= slack, "vector %lld has length %g", (long long)j, length);
        sum = complex_value(sum.re + w.x[j].re, sum.im + w.x[j].im);
        sum_also = complex_value(sum_also.re + also.x[j].re, sum_also.im + also.x[j].im);
        const value d = m.x[j * m.rows + j];
        trace = complex_value(trace.re + d.re, trace.im + d.im);
    }
    const double most = bound * sqrt((double)m.rows + 1);
    MUST(t, magnitude(value_minus(sum, trace)) <= most, "the values' sum is not the trace");
    MUST(t, magnitude(value_minus(sum_also, trace)) <= most, "the sum of the values alone is not the trace");
}

static void check_eig(trial *t)
{
    const tsr_dtype wide = part_of(t->check->dtype) == TSR_F64 ? TSR_C128 : TSR_C64;
    any_matrices(t, true);
    GO_ON(t);
    const tsr_tensor *a = t->tensor[A];
    solve(t, wide, wide, tsr_eig, tsr_eigvals);
    GO_ON(t);
    for (int64_t b = 0; b < matrices_of(a) && !t->failed; b++) check_eig_matrix(t, read_matrix(a, b), b);
}

/* Fourier transforms ----------------------------------------------------------------------------------- */

/* A transform of n elements of each lane: a longer one is cut, a shorter one is followed by zeros. */
typedef struct transform {
    int axis;
    int64_t n;
    tsr_fft_norm norm;
} transform;

static transform random_transform(trial *t, int ndim, const int64_t *shape)
{
    transform f = { .axis = (int)random_below(t, ndim), .norm = (tsr_fft_norm)random_below(t, 3) };
    f.n = once_in(t, 4) ? random_size(t, 1, 20, most_elements(t) / count_of(ndim, shape) + 1) : shape[f.axis];
    return f;
}

static double scale_of(const transform *f, bool inverse)
{
    const double n = (double)f->n;
    if (f->norm == TSR_FFT_ORTHO) return 1 / sqrt(n);
    return (f->norm == TSR_FFT_BACKWARD) == inverse ? 1 / n : 1;
}

/* Term k of the transform of the lane that an element lies in, and the size of what was summed. */
static value transformed(const tsr_tensor *x, int64_t *index, const transform *f, int64_t k, double sign,
                         double *size)
{
    value sum = { 0 };
    *size = 0;
    for (int64_t j = 0; j < f->n && j < x->shape[f->axis]; j++) {
        index[f->axis] = j;
        const value v = value_at(x, place_of(index, x->ndim, x->shape));
        const double angle = sign * 2 * acos(-1) * (double)(j * k % f->n) / (double)f->n;
        sum.re += v.re * cos(angle) - v.im * sin(angle);
        sum.im += v.re * sin(angle) + v.im * cos(angle);
        *size += hypot(v.re, v.im);
    }
    return sum;
}

static void check_transform(trial *t, int slot, const transform *f, bool inverse)
{
    const tsr_tensor *x = t->tensor[A], *z = t->tensor[slot];
    const double scale = scale_of(f, inverse);
    GO_ON(t);
    const int64_t count = tsr_numel(z), cost = 16 * f->n;
    for (int64_t at = first_sample(t, count, cost); at >= 0; at = next_sample(t, at, count, cost)) {
        int64_t index[TSR_MAX_NDIM];
        double size;
        index_of(index, at, z->ndim, z->shape);
        const value sum = transformed(x, index, f, index[f->axis], inverse ? 1 : -1, &size);
        check_near(t, slot, at, complex_value(sum.re * scale, sum.im * scale),
                   16 * epsilon_of(x->dtype) * size * scale);
    }
}

/* A result with strides of its own, now and then. */
static void make_spectrum(trial *t, int slot, tsr_dtype dtype, int ndim, const int64_t *shape)
{
    if (once_in(t, 2)) make_output(t, slot, dtype, ndim, shape);
}

static void check_fft(trial *t)
{
    int64_t shape[TRIAL_RANK];
    const int ndim = random_shape(t, shape, 1, 3, false);
    const transform f = random_transform(t, ndim, shape);
    const tsr_dtype dtype = part_of(t->check->dtype) == TSR_F64 ? TSR_C128 : TSR_C64;
    make_input(t, A, t->check->dtype, ndim, shape, FILL_SMALL);
    shape[f.axis] = f.n;
    make_spectrum(t, P, dtype, ndim, shape);
    make_spectrum(t, Q, dtype, ndim, shape);
    GO_ON(t);
    NEED(t, tsr_fft(&t->tensor[P], t->tensor[A], f.n, f.axis, f.norm));
    check_transform(t, P, &f, false);
    NEED(t, tsr_ifft(&t->tensor[Q], t->tensor[A], f.n, f.axis, f.norm));
    check_transform(t, Q, &f, true);
}

/* Half the spectrum of reals, and the reals again. */
static void check_rfft(trial *t)
{
    int64_t shape[TRIAL_RANK], half[TRIAL_RANK];
    const int ndim = random_shape(t, shape, 1, 3, false);
    const transform f = random_transform(t, ndim, shape);
    const int64_t there = shape[f.axis];
    make_input(t, A, t->check->dtype, ndim, shape, FILL_SMALL);
    shape[f.axis] = f.n;
    memcpy(half, shape, sizeof half);
    half[f.axis] = f.n / 2 + 1;
    make_spectrum(t, P, t->check->dtype == TSR_F64 ? TSR_C128 : TSR_C64, ndim, half);
    make_spectrum(t, Q, t->check->dtype, ndim, shape);
    GO_ON(t);
    NEED(t, tsr_rfft(&t->tensor[P], t->tensor[A], f.n, f.axis, f.norm));
    check_transform(t, P, &f, false);
    GO_ON(t);
    NEED(t, tsr_irfft(&t->tensor[Q], t->tensor[P], f.n, f.axis, f.norm));
    check_shape(t, Q, t->check->dtype, ndim, shape);
    const int64_t count = count_of(ndim, shape);
    for (int64_t k = first_sample(t, count, 4); k >= 0; k = next_sample(t, k, count, 4)) {
        int64_t index[TSR_MAX_NDIM];
        index_of(index, k, ndim, shape);
        const bool beyond = index[f.axis] >= there;
        const tsr_tensor *x = t->tensor[A];
        check_near(t, Q, k, beyond ? real_value(0) : value_at(x, place_of(index, ndim, x->shape)),
                   256 * epsilon_of(t->check->dtype));
    }
}

typedef struct rule {
    const char *name;
    void (*run)(trial *t);
} rule;

static const rule rules[] = {
    { "solve", check_solve }, { "inv", check_inv }, { "cholesky", check_cholesky }, { "lu", check_lu },
    { "qr", check_qr },       { "svd", check_svd }, { "eigh", check_eigh },         { "eig", check_eig },
};

void list_linalg(check_list *list)
{
    static const tsr_dtype dtypes[] = { TSR_F32, TSR_F64, TSR_C64, TSR_C128 };
    for (int d = 0; d < 4; d++) {
        for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
            add_check(list,
                      (check){ .family = "linalg",
                               .op = tsr_op_find(rules[i].name),
                               .run = rules[i].run,
                               .more = 6,
                               .dtype = dtypes[d] },
                      rules[i].name);
        add_check(
            list,
            (check){ .family = "fft", .op = TSR_OP_FFT, .run = check_fft, .dtype = dtypes[d], .more = 4 },
            "fft");
        if (is_complex(dtypes[d])) continue;
        for (int back = 0; back < 2; back++)
            add_check(list,
                      (check){ .family = "fft",
                               .op = back ? TSR_OP_IRFFT : TSR_OP_RFFT,
                               .run = check_rfft,
                               .more = 3,
                               .dtype = dtypes[d] },
                      back ? "irfft" : "rfft");
    }
}
