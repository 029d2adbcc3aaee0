/* matrix.c - see matrix.h. */
#include "matrix.h"

#include <math.h>
#include <string.h>

value value_times(value a, value b)
{
    return complex_value(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
}
value value_minus(value a, value b) { return complex_value(a.re - b.re, a.im - b.im); }
double magnitude(value a) { return hypot(a.re, a.im); }

/* Reading ----------------------------------------------------------------------------------------- */

static matrix read_some(const tsr_tensor *t, int64_t batch, int64_t rows, int64_t cols)
{
    matrix m = { .rows = rows, .cols = cols };
    for (int64_t k = 0; k < rows * cols; k++) m.x[k] = value_at(t, batch * rows * cols + k);
    return m;
}

matrix read_matrix(const tsr_tensor *t, int64_t batch)
{
    return read_some(t, batch, t->shape[t->ndim - 2], t->shape[t->ndim - 1]);
}

matrix read_column(const tsr_tensor *t, int64_t batch)
{
    return read_some(t, batch, t->shape[t->ndim - 1], 1);
}

/* Computing --------------------------------------------------------------------------------------- */

matrix product(matrix a, matrix b)
{
    matrix c = { .rows = a.rows, .cols = b.cols };
    for (int64_t i = 0; i < a.rows; i++)
        for (int64_t k = 0; k < a.cols; k++)
            for (int64_t j = 0; j < b.cols; j++) {
                const value p = value_times(a.x[i * a.cols + k], b.x[k * b.cols + j]);
                c.x[i * b.cols + j].re += p.re;
                c.x[i * b.cols + j].im += p.im;
            }
    return c;
}

matrix adjoint(matrix a)
{
    matrix b = { .rows = a.cols, .cols = a.rows };
    for (int64_t i = 0; i < a.rows * a.cols; i++)
        b.x[i % a.cols * a.rows + i / a.cols] = complex_value(a.x[i].re, -a.x[i].im);
    return b;
}

matrix identity(int64_t n)
{
    matrix m = { .rows = n, .cols = n };
    for (int64_t i = 0; i < n; i++) m.x[i * n + i].re = 1;
    return m;
}

matrix scaled(matrix a, matrix by)
{
    for (int64_t i = 0; i < a.rows * a.cols; i++) a.x[i] = value_times(a.x[i], by.x[i % a.cols]);
    return a;
}

matrix left_columns(matrix a, int64_t cols)
{
    matrix b = { .rows = a.rows, .cols = cols };
    for (int64_t i = 0; i < a.rows * cols; i++) b.x[i] = a.x[i / cols * a.cols + i % cols];
    return b;
}

double norm_of(matrix a)
{
    double sum = 0;
    for (int64_t i = 0; i < a.rows * a.cols; i++) sum = hypot(sum, magnitude(a.x[i]));
    return sum;
}

bool is_triangle(matrix a, bool upper)
{
    for (int64_t i = 0; i < a.rows * a.cols; i++) {
        const int64_t row = i / a.cols, col = i % a.cols;
        if ((upper ? col < row : col > row) && magnitude(a.x[i]) != 0) return false;
    }
    return true;
}

void check_distance(trial *t, const char *what, matrix got, matrix wanted, double bound)
{
    GO_ON(t);
    MUST(t, got.rows == wanted.rows && got.cols == wanted.cols, "%s: the shapes differ", what);
    for (int64_t i = 0; i < got.rows * got.cols; i++) wanted.x[i] = value_minus(got.x[i], wanted.x[i]);
    MUST(t, norm_of(wanted) <= bound, "%s, %lld x %lld, is off by %g, where rounding leaves %g", what,
         (long long)got.rows, (long long)got.cols, norm_of(wanted), bound);
}

double matrix_rounding(tsr_dtype dtype, matrix a)
{
    return 20 * epsilon_of(dtype) * (double)(a.rows + a.cols + 1);
}

/* Operands and results ------------------------------------------------------------------------------ */

static int64_t random_side(trial *t)
{
    return once_in(t, 15) ? random_below(t, 2) : random_size(t, 1, once_in(t, 6) ? 12 : 6, MATRIX_LARGEST);
}

int matrix_shape(trial *t, int64_t shape[4], bool square)
{
    const int n = (int)random_below(t, 3);
    for (int i = 0; i < n; i++) shape[i] = once_in(t, 20) ? 0 : random_between(t, 1, 3);
    shape[n] = random_side(t);
    shape[n + 1] = square ? shape[n] : random_side(t);
    return n + 2;
}

/* Between -2 and 2 and exact in f32. */
static double random_part(trial *t)
{
    return ldexp((double)(2 * random_below(t, 1 << 20) + 1 - (1 << 20)), -19);
}

void make_matrices(trial *t, int slot, tsr_dtype dtype, int ndim, const int64_t *shape)
{
    const int own = once_in(t, 4) ? ndim - 2 : 0;
    make_output(t, slot, dtype, ndim - own, shape + own);
    GO_ON(t);
    const unsigned char *bytes_end = begin_elements(t, INT64_MAX);  /* random ones, which are regular */
    for (int64_t k = 0; k < count_of(ndim - own, shape + own); k++) {
        const double re = random_part(t);
        write_value(dtype, element(t->tensor[slot], k), complex_value(re, random_part(t)));
    }
    end_elements(t, bytes_end);
    if (own) NEED(t, tsr_expand(&t->tensor[slot], t->tensor[slot], ndim, shape));
}

int right_side_shape(trial *t, int64_t shape[4], const tsr_tensor *a)
{
    const int batch = a->ndim - 2, skip = (int)random_below(t, batch + 1);
    int n = 0;
    const bool vector = once_in(t, 3);
    for (int i = skip; i < batch && !vector; i++) shape[n++] = once_in(t, 4) ? 1 : a->shape[i];
    shape[n++] = a->shape[batch];
    if (!vector) shape[n++] = once_in(t, 8) ? 0 : random_between(t, 1, 5);
    return n;
}

matrix read_broadcast(const tsr_tensor *b, const tsr_tensor *a, int64_t batch)
{
    int64_t at[TSR_MAX_NDIM];
    if (b->ndim == 1) return read_column(b, 0);
    const int n = b->ndim - 2, skip = a->ndim - 2 - n;
    index_of(at, batch, a->ndim - 2, a->shape);
    for (int i = 0; i < n; i++)
        if (b->shape[i] == 1) at[skip + i] = 0;
    return read_matrix(b, place_of(at + skip, n, b->shape));
}

int64_t matrices_of(const tsr_tensor *a) { return count_of(a->ndim - 2, a->shape); }

static int result_shape(int64_t shape[TSR_MAX_NDIM], const tsr_tensor *like, int64_t rows, int64_t cols)
{
    int n = like->ndim - 2;
    memcpy(shape, like->shape, sizeof *shape * (size_t)n);
    if (rows >= 0) shape[n++] = rows;
    if (cols >= 0) shape[n++] = cols;
    return n;
}

void make_result(trial *t, int slot, tsr_dtype dtype, int like, int64_t rows, int64_t cols)
{
    int64_t shape[TSR_MAX_NDIM];
    GO_ON(t);
    const int ndim = result_shape(shape, t->tensor[like], rows, cols);
    if (once_in(t, 2)) make_output(t, slot, dtype, ndim, shape);
}

void check_result(trial *t, int slot, tsr_dtype dtype, int like, int64_t rows, int64_t cols)
{
    int64_t shape[TSR_MAX_NDIM];
    GO_ON(t);
    const int ndim = result_shape(shape, t->tensor[like], rows, cols);
    check_shape(t, slot, dtype, ndim, shape);
    check_gaps(t, slot);
}
