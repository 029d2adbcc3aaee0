/* check_spectrum.c - numbers of matrices: determinants, eigenvalues, singular values, ranks and norms; and
 * solutions that are made of singular values. */
#include <math.h>
#include <string.h>

#include "matrix.h"

enum { A, B, P, Q, LARGEST = 6, BATCH = 3 };

#define SLACK 4000 /* times the epsilon and the size of what was summed */

static value over(value a, value b)
{
    const double d = b.re * b.re + b.im * b.im;
    return complex_value((a.re * b.re + a.im * b.im) / d, (a.im * b.re - a.re * b.im) / d);
}

/* Batches of matrices with `rank` rows of which the diagonal outweighs the rest; the others repeat those. */
static int draw_matrices(trial *t, int slot, int64_t rows, int64_t cols, int64_t rank, int64_t *batches)
{
    const int64_t shape[] = { *batches = random_between(t, 1, BATCH), rows, cols };
    const int skip = *batches == 1 && once_in(t, 2);
    make_output(t, slot, t->check->dtype, 3 - skip, shape + skip);
    if (t->failed) return 3 - skip;
    for (int64_t k = 0; k < *batches * rows * cols; k++) {
        const int64_t i = k / cols % rows, j = k % cols;
        value v =
            complex_value((double)random_between(t, -64, 64) / 64, (double)random_between(t, -64, 64) / 64);
        if (i == j) v.re += 10;
        if (i >= rank) v = rank ? value_at(t->tensor[slot], k - (i - i % rank) * cols) : complex_value(0, 0);
        write_value(t->check->dtype, element(t->tensor[slot], k), v);
    }
    return 3 - skip;
}

static int64_t batches_of(const tsr_tensor *a) { return a->ndim == 3 ? a->shape[0] : 1; }

/* Determinants ------------------------------------------------------------------------------------ */

static value right_det(matrix m)
{
    const int64_t n = m.rows;
    value det = complex_value(1, 0);
    for (int64_t k = 0; k < n; k++) {
        int64_t best = k;
        for (int64_t i = k; i < n; i++)
            if (magnitude(m.x[i * n + k]) > magnitude(m.x[best * n + k])) best = i;
        if (magnitude(m.x[best * n + k]) == 0) return complex_value(0, 0);
        for (int64_t j = 0; j < n && best != k; j++) {
            const value other = m.x[k * n + j];
            m.x[k * n + j] = m.x[best * n + j];
            m.x[best * n + j] = complex_value(-other.re, -other.im);
        }
        det = value_times(det, m.x[k * n + k]);
        for (int64_t i = k + 1; i < n; i++) {
            const value f = over(m.x[i * n + k], m.x[k * n + k]);
            for (int64_t j = k; j < n; j++)
                m.x[i * n + j] = value_minus(m.x[i * n + j], value_times(f, m.x[k * n + j]));
        }
    }
    return det;
}

/* Rows exchanged now and then, so that signs differ. */
static void exchange_rows(trial *t, int64_t n)
{
    GO_ON(t);
    for (int64_t b = 0; n > 1 && b < batches_of(t->tensor[A]); b++) {
        if (once_in(t, 2)) continue;
        for (int64_t j = 0; j < n; j++) {
            void *x = element(t->tensor[A], b * n * n + j), *y = element(t->tensor[A], b * n * n + n + j);
            const value v = read_value(t->check->dtype, x);
            write_value(t->check->dtype, x, read_value(t->check->dtype, y));
            write_value(t->check->dtype, y, v);
        }
    }
}

static void check_det(trial *t)
{
    const tsr_dtype dtype = t->check->dtype;
    const int64_t n = random_between(t, 0, 2 * LARGEST);
    const double slack = SLACK * epsilon_of(dtype);
    int64_t batches;
    draw_matrices(t, A, n, n, n, &batches);
    exchange_rows(t, n);
    make_result(t, B, dtype, A, -1, -1);
    make_result(t, P, dtype, A, -1, -1);
    make_result(t, Q, part_of(dtype), A, -1, -1);
    GO_ON(t);
    NEED_LIBRARY(t, tsr_det(&t->tensor[B], t->tensor[A]));
    NEED_LIBRARY(t, tsr_slogdet(&t->tensor[P], &t->tensor[Q], t->tensor[A]));
    check_result(t, B, dtype, A, -1, -1);
    check_result(t, P, dtype, A, -1, -1);
    check_result(t, Q, part_of(dtype), A, -1, -1);
    for (int64_t b = 0; b < batches && !t->failed; b++) {
        const value det = right_det(read_matrix(t->tensor[A], b));
        const double d = magnitude(det);
        check_near(t, B, b, det, slack * d);
        check_near(t, P, b, complex_value(det.re / d, det.im / d), slack);
        check_near(t, Q, b, real_value(log(d)), slack);
    }
}

/* Values ------------------------------------------------------------------------------------------- */

static value trace(matrix m)
{
    value sum = { 0 };
    for (int64_t i = 0; i < m.rows; i++)
        sum = complex_value(sum.re + m.x[i * m.cols + i].re, sum.im + m.x[i * m.cols + i].im);
    return sum;
}

/* Values w of a square matrix m: the sum of w^p is the trace of m^p for p = 1 .. n, which only they have.
 * Singular values are squared first. */
static void check_powers(trial *t, int slot, int64_t batch, matrix m, int64_t n, bool squared)
{
    const double slack = SLACK * epsilon_of(t->check->dtype);
    matrix power = m;
    value w[LARGEST], each[LARGEST];
    double largest = 1;
    for (int64_t i = 0; i < n; i++) {
        w[i] = value_at(t->tensor[slot], batch * n + i);
        if (squared) w[i] = value_times(w[i], w[i]);
        each[i] = w[i];
    }
    for (int64_t i = 0; i < m.rows * m.cols; i++) largest = fmax(largest, magnitude(m.x[i]));
    for (int64_t p = 1; p <= n && !t->failed; p++) {
        value sum = { 0 };
        for (int64_t i = 0; i < n; i++) sum = complex_value(sum.re + each[i].re, sum.im + each[i].im);
        const value off = value_minus(sum, trace(power));
        MUST(t, magnitude(off) <= slack * (double)n * pow(3 * largest, (double)p),
             "the sum of powers %lld of the values of matrix %lld is off by %g", (long long)p,
             (long long)batch, magnitude(off));
        for (int64_t i = 0; i < n; i++) each[i] = value_times(each[i], w[i]);
        power = product(power, m);
    }
}

static void check_order(trial *t, int slot, int64_t n, bool descending)
{
    for (int64_t k = 1; k < tsr_numel(t->tensor[slot]) && !t->failed; k++) {
        const double a = value_at(t->tensor[slot], k - 1).re, b = value_at(t->tensor[slot], k).re;
        if (k % n) MUST(t, descending ? a >= b : a <= b, "value %lld is out of order", (long long)k);
    }
}

static void check_eigvals(trial *t)
{
    const bool hermitian = t->check->about != NULL;
    const int64_t n = random_between(t, 1, LARGEST);
    int64_t batches;
    draw_matrices(t, A, n, n, n, &batches);
    GO_ON(t);
    if (hermitian)
        NEED_LIBRARY(t, tsr_eigvalsh(&t->tensor[P], t->tensor[A]));
    else
        NEED_LIBRARY(t, tsr_eigvals(&t->tensor[P], t->tensor[A]));
    for (int64_t b = 0; b < batches && !t->failed; b++) {
        matrix m = read_matrix(t->tensor[A], b);
        const matrix other = adjoint(m);
        for (int64_t i = 0; hermitian && i < n * n; i++) { /* only the lower triangle is read */
            if (i % n > i / n) m.x[i] = other.x[i];
            if (i % n == i / n) m.x[i].im = 0;
        }
        check_powers(t, P, b, m, n, false);
    }
    if (hermitian) check_order(t, P, n, false);
}

static void check_svdvals(trial *t)
{
    const int64_t rows = random_between(t, 1, LARGEST), cols = random_between(t, 1, LARGEST);
    const int64_t k = rows < cols ? rows : cols;
    int64_t batches;
    draw_matrices(t, A, rows, cols, random_between(t, 0, rows), &batches);
    GO_ON(t);
    NEED_LIBRARY(t, tsr_svdvals(&t->tensor[P], t->tensor[A]));
    for (int64_t b = 0; b < batches && !t->failed; b++) {
        const matrix m = read_matrix(t->tensor[A], b), h = adjoint(m);
        check_powers(t, P, b, rows < cols ? product(m, h) : product(h, m), k, true);
    }
    check_order(t, P, k, true);
}

/* Solutions ------------------------------------------------------------------------------------------ */

static void check_equal(trial *t, const char *what, matrix got, matrix wanted)
{
    const double slack = SLACK * epsilon_of(t->check->dtype);
    GO_ON(t);
    for (int64_t i = 0; i < got.rows * got.cols; i++)
        MUST(t, magnitude(value_minus(got.x[i], wanted.x[i])) <= slack * (1 + magnitude(wanted.x[i])),
             "%s: element %lld is %g%+gi, not %g%+gi", what, (long long)i, got.x[i].re, got.x[i].im,
             wanted.x[i].re, wanted.x[i].im);
}

/* Penrose's four conditions, which only the pseudo-inverse meets; and the rank, which is known. */
static void check_pinv(trial *t)
{
    const int64_t rows = random_between(t, 1, LARGEST), cols = random_between(t, 1, LARGEST),
                  rank = random_between(t, 0, rows);
    int64_t batches;
    draw_matrices(t, A, rows, cols, rank, &batches);
    make_result(t, P, t->check->dtype, A, cols, rows);
    make_result(t, Q, TSR_I64, A, -1, -1);
    GO_ON(t);
    NEED_LIBRARY(t, tsr_pinv(&t->tensor[P], t->tensor[A], 1e-4));
    NEED_LIBRARY(t, tsr_matrix_rank(&t->tensor[Q], t->tensor[A], 1e-4));
    check_result(t, P, t->check->dtype, A, cols, rows);
    check_result(t, Q, TSR_I64, A, -1, -1);
    for (int64_t b = 0; b < batches && !t->failed; b++) {
        const matrix a = read_matrix(t->tensor[A], b), p = read_matrix(t->tensor[P], b);
        const matrix ap = product(a, p), pa = product(p, a);
        check_equal(t, "a p a", product(ap, a), a);
        check_equal(t, "p a p", product(pa, p), p);
        check_equal(t, "the adjoint of a p", adjoint(ap), ap);
        check_equal(t, "the adjoint of p a", adjoint(pa), pa);
        check_near(t, Q, b, integer_value(TSR_I64, (uint64_t)(rank < cols ? rank : cols)), 0);
    }
}

/* The remainder is orthogonal to the columns of a, and x to the null space of a: x = p a x. */
static void check_lstsq(trial *t)
{
    const tsr_dtype dtype = t->check->dtype;
    const int64_t rows = random_between(t, 1, LARGEST), cols = random_between(t, 1, LARGEST);
    int64_t batches, shape[4];
    draw_matrices(t, A, rows, cols, random_between(t, 1, rows), &batches);
    GO_ON(t);
    const int ndim = right_side_shape(t, shape, t->tensor[A]);
    const int64_t k = ndim > 1 ? shape[ndim - 1] : -1;
    make_input(t, B, dtype, ndim, shape, FILL_SMALL);
    make_result(t, P, dtype, A, cols, k);
    GO_ON(t);
    NEED_LIBRARY(t, tsr_lstsq(&t->tensor[P], t->tensor[A], t->tensor[B], 1e-4));
    NEED_LIBRARY(t, tsr_pinv(&t->tensor[Q], t->tensor[A], 1e-4));
    check_result(t, P, dtype, A, cols, k);
    for (int64_t b = 0; b < batches && !t->failed; b++) {
        const matrix a = read_matrix(t->tensor[A], b), h = adjoint(a),
                     x = k < 0 ? read_column(t->tensor[P], b) : read_matrix(t->tensor[P], b),
                     ax = product(a, x);
        check_equal(t, "adjoint(a) a x", product(h, ax),
                    product(h, read_broadcast(t->tensor[B], t->tensor[A], b)));
        check_equal(t, "p a x", product(read_matrix(t->tensor[Q], b), ax), x);
    }
}

/* The inverse, multiplied up. */
static void check_negative_power(trial *t)
{
    const int64_t n = random_between(t, 1, LARGEST), power = random_between(t, 1, 3);
    int64_t batches;
    draw_matrices(t, A, n, n, n, &batches);
    make_result(t, P, t->check->dtype, A, n, n);
    GO_ON(t);
    NEED_LIBRARY(t, tsr_matrix_power(&t->tensor[P], t->tensor[A], -power));
    check_result(t, P, t->check->dtype, A, n, n);
    for (int64_t b = 0; b < batches && !t->failed; b++) {
        matrix z = read_matrix(t->tensor[P], b);
        for (int64_t p = 0; p < power; p++) z = product(z, read_matrix(t->tensor[A], b));
        check_equal(t, "the inverse times a", z, identity(n));
    }
}

/* Norms ------------------------------------------------------------------------------------------------ */

/* The sum of sizes of a row, or of a column. */
static double line_of(matrix m, bool row, int64_t i)
{
    double sum = 0;
    for (int64_t k = 0; k < (row ? m.cols : m.rows); k++)
        sum += magnitude(m.x[row ? i * m.cols + k : k * m.cols + i]);
    return sum;
}

/* By sums of lines, of squares, or of the singular values that tsr_svdvals gives. */
static double right_norm(matrix m, const tsr_tensor *s, int64_t b, int ord)
{
    const int64_t k = m.rows < m.cols ? m.rows : m.cols;
    const bool row = ord == TSR_ORD_INF || ord == TSR_ORD_MINUS_INF;
    const bool least = ord == TSR_ORD_MINUS_ONE || ord == TSR_ORD_MINUS_INF;
    double z = 0;
    if (ord == TSR_ORD_TWO) return value_at(s, b * k).re;
    if (ord == TSR_ORD_MINUS_TWO) return value_at(s, b * k + k - 1).re;
    for (int64_t i = 0; ord == TSR_ORD_NUC && i < k; i++) z += value_at(s, b * k + i).re;
    for (int64_t i = 0; ord == TSR_ORD_FRO && i < m.rows * m.cols; i++) z = hypot(z, magnitude(m.x[i]));
    if (ord == TSR_ORD_NUC || ord == TSR_ORD_FRO) return z;
    for (int64_t i = 0; i < (row ? m.rows : m.cols); i++) {
        const double line = line_of(m, row, i);
        z = i == 0 ? line : least ? fmin(z, line) : fmax(z, line);
    }
    return z;
}

static void check_matrix_norm(trial *t)
{
    const int ord = (int)random_between(t, TSR_ORD_FRO, TSR_ORD_MINUS_INF);
    const bool keep = once_in(t, 2);
    int64_t batches;
    draw_matrices(t, A, random_between(t, 1, LARGEST), random_between(t, 1, LARGEST), LARGEST, &batches);
    make_result(t, P, part_of(t->check->dtype), A, keep ? 1 : -1, keep ? 1 : -1);
    GO_ON(t);
    NEED_LIBRARY(t, tsr_svdvals(&t->tensor[Q], t->tensor[A]));
    NEED_LIBRARY(t, tsr_matrix_norm(&t->tensor[P], t->tensor[A], (tsr_matrix_ord)ord, keep));
    check_result(t, P, part_of(t->check->dtype), A, keep ? 1 : -1, keep ? 1 : -1);
    for (int64_t b = 0; b < batches && !t->failed; b++) {
        const double wanted = right_norm(read_matrix(t->tensor[A], b), t->tensor[Q], b, ord);
        check_near(t, P, b, real_value(wanted), 32 * epsilon_of(t->check->dtype) * (10 + wanted));
    }
}

/* The norm of each matrix seen as a vector. */
static void check_vector_norm(trial *t)
{
    const double p = (double)random_between(t, 1, 6) / 2;
    int64_t batches;
    draw_matrices(t, A, random_between(t, 1, LARGEST), random_between(t, 1, LARGEST), LARGEST, &batches);
    make_result(t, P, part_of(t->check->dtype), A, -1, -1);
    GO_ON(t);
    NEED(t, tsr_vector_norm(&t->tensor[P], t->tensor[A], 2, (const int[]){ -1, -2 }, false, p));
    check_result(t, P, part_of(t->check->dtype), A, -1, -1);
    for (int64_t b = 0; b < batches && !t->failed; b++) {
        const matrix m = read_matrix(t->tensor[A], b);
        double sum = 0;
        for (int64_t i = 0; i < m.rows * m.cols; i++) sum += pow(magnitude(m.x[i]), p);
        check_near(t, P, b, real_value(pow(sum, 1 / p)),
                   32 * epsilon_of(t->check->dtype) * (1 + pow(sum, 1 / p)));
    }
}

static bool is_factored(tsr_dtype d) { return d == TSR_F32 || d == TSR_F64 || d == TSR_C64 || d == TSR_C128; }

void list_spectrum(check_list *list)
{
    static const char hermitian[] = "hermitian";
    const struct {
        const char *name;
        void (*run)(trial *t);
        const void *about;
    } rules[] = {
        { "det", check_det, NULL },
        { "eigvals", check_eigvals, NULL },
        { "eigvalsh", check_eigvals, hermitian },
        { "svdvals", check_svdvals, NULL },
        { "pinv", check_pinv, NULL },
        { "lstsq", check_lstsq, NULL },
        { "matrix_norm", check_matrix_norm, NULL },
        { "vector_norm", check_vector_norm, NULL },
        { "negative matrix_power", check_negative_power, NULL },
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        add_checks(list,
                   (check){ .family = "linalg", .run = rules[i].run, .every = 2, .about = rules[i].about },
                   rules[i].name, is_factored);
}
