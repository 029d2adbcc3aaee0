/* check_linalg.c - factors and solutions, multiplied back; Fourier transforms, summed directly. */
#include <math.h>
#include <string.h>

#include "trial.h"

enum { A, B, P, Q, R, LARGEST = 6 };

/* Small matrices of the self-test's own -------------------------------------------------------- */

typedef struct matrix {
    int64_t rows, cols;
    value   x[LARGEST * LARGEST];
} matrix;

static matrix read_matrix(const tsr_tensor *t)
{
    matrix m = { .rows = t->shape[0], .cols = t->ndim > 1 ? t->shape[1] : 1 };
    for (int64_t k = 0; k < tsr_numel(t); k++) m.x[k] = value_at(t, k);
    return m;
}

static matrix times(matrix a, matrix b)
{
    matrix c = { .rows = a.rows, .cols = b.cols };
    for (int64_t i = 0; i < a.rows * b.cols; i++)
        for (int64_t k = 0; k < a.cols; k++) {
            const value x = a.x[i / b.cols * a.cols + k], y = b.x[k * b.cols + i % b.cols];
            c.x[i].re += x.re * y.re - x.im * y.im;
            c.x[i].im += x.re * y.im + x.im * y.re;
        }
    return c;
}

static matrix adjoint(matrix a)
{
    matrix b = { .rows = a.cols, .cols = a.rows };
    for (int64_t i = 0; i < a.rows * a.cols; i++) {
        b.x[i % a.cols * a.rows + i / a.cols] = complex_value(a.x[i].re, -a.x[i].im);
    }
    return b;
}

static matrix identity(int64_t n)
{
    matrix m = { .rows = n, .cols = n };
    for (int64_t i = 0; i < n; i++) m.x[i * n + i].re = 1;
    return m;
}

/* Each column times a number. */
static matrix scaled(matrix a, matrix by)
{
    for (int64_t i = 0; i < a.rows * a.cols; i++) {
        const value s = by.x[i % a.cols], x = a.x[i];
        a.x[i] = complex_value(x.re * s.re - x.im * s.im, x.re * s.im + x.im * s.re);
    }
    return a;
}

static void check_equal(trial *t, const char *what, matrix got, matrix wanted)
{
    const double slack = 2000 * epsilon_of(t->check->dtype);
    GO_ON(t);
    MUST(t, got.rows == wanted.rows && got.cols == wanted.cols, "%s: the shapes differ", what);
    for (int64_t i = 0; i < got.rows * got.cols; i++)
        MUST(t, hypot(got.x[i].re - wanted.x[i].re, got.x[i].im - wanted.x[i].im) <= slack,
             "%s: element %lld is %g%+gi, not %g%+gi", what, (long long)i, got.x[i].re, got.x[i].im,
             wanted.x[i].re, wanted.x[i].im);
}

/* Trials ------------------------------------------------------------------------------------------ */

static void random_matrix(trial *t, int slot, int64_t rows, int64_t cols)
{
    make_output(t, slot, t->check->dtype, 2, (const int64_t[]){ rows, cols });
    GO_ON(t);
    for (int64_t k = 0; k < rows * cols; k++)
        write_value(
            t->check->dtype, element(t->tensor[slot], k),
            complex_value((double)random_between(t, -64, 64) / 64, (double)random_between(t, -64, 64) / 64));
}

/* Far from singular: the diagonal outweighs the rest. */
static void random_square(trial *t, int slot, int64_t n)
{
    random_matrix(t, slot, n, n);
    GO_ON(t);
    for (int64_t i = 0; i < n; i++) {
        value v = value_at(t->tensor[slot], i * n + i);
        v.re += 10;
        write_value(t->check->dtype, element(t->tensor[slot], i * n + i), v);
    }
}

/* Equal to its adjoint, and positive. */
static void random_hermitian(trial *t, int slot, int64_t n)
{
    random_square(t, slot, n);
    GO_ON(t);
    const matrix m = read_matrix(t->tensor[slot]), turned = adjoint(m);
    for (int64_t i = 0; i < n * n; i++)
        write_value(t->check->dtype, element(t->tensor[slot], i),
                    complex_value((m.x[i].re + turned.x[i].re) / 2, (m.x[i].im + turned.x[i].im) / 2));
}

static void check_solve(trial *t)
{
    const int64_t n = random_between(t, 1, LARGEST);
    random_square(t, A, n);
    random_matrix(t, B, n, random_between(t, 1, 4));
    GO_ON(t);
    NEED_LIBRARY(t, tsr_solve(&t->tensor[P], t->tensor[A], t->tensor[B]));
    check_equal(t, "a @ x is b", times(read_matrix(t->tensor[A]), read_matrix(t->tensor[P])),
                read_matrix(t->tensor[B]));
}

static void check_inv(trial *t)
{
    const int64_t n = random_between(t, 1, LARGEST);
    random_square(t, A, n);
    GO_ON(t);
    NEED_LIBRARY(t, tsr_inv(&t->tensor[P], t->tensor[A]));
    check_equal(t, "a @ inverse", times(read_matrix(t->tensor[A]), read_matrix(t->tensor[P])), identity(n));
}

static void check_cholesky(trial *t)
{
    const bool upper = once_in(t, 2);
    random_hermitian(t, A, random_between(t, 1, LARGEST));
    GO_ON(t);
    NEED_LIBRARY(t, tsr_cholesky(&t->tensor[P], t->tensor[A], upper));
    const matrix z = read_matrix(t->tensor[P]);
    check_equal(t, "the product of triangles", upper ? times(adjoint(z), z) : times(z, adjoint(z)),
                read_matrix(t->tensor[A]));
}

static void check_lu(trial *t)
{
    random_matrix(t, A, random_between(t, 1, LARGEST), random_between(t, 1, LARGEST));
    GO_ON(t);
    NEED_LIBRARY(t, tsr_lu(&t->tensor[P], &t->tensor[Q], &t->tensor[R], t->tensor[A]));
    const matrix a = read_matrix(t->tensor[A]);
    matrix taken = a;
    for (int64_t i = 0; i < a.rows * a.cols; i++)
        taken.x[i] = a.x[(int64_t)value_at(t->tensor[P], i / a.cols).bits * a.cols + i % a.cols];
    check_equal(t, "l @ u", times(read_matrix(t->tensor[Q]), read_matrix(t->tensor[R])), taken);
}

static void check_qr(trial *t)
{
    random_matrix(t, A, random_between(t, 1, LARGEST), random_between(t, 1, LARGEST));
    GO_ON(t);
    NEED_LIBRARY(t, tsr_qr(&t->tensor[Q], &t->tensor[R], t->tensor[A], once_in(t, 2)));
    const matrix q = read_matrix(t->tensor[Q]);
    check_equal(t, "q @ r", times(q, read_matrix(t->tensor[R])), read_matrix(t->tensor[A]));
    check_equal(t, "q's columns", times(adjoint(q), q), identity(q.cols));
}

static void check_svd(trial *t)
{
    random_matrix(t, A, random_between(t, 1, LARGEST), random_between(t, 1, LARGEST));
    GO_ON(t);
    NEED_LIBRARY(t, tsr_svd(&t->tensor[P], &t->tensor[Q], &t->tensor[R], t->tensor[A], false));
    const matrix u = read_matrix(t->tensor[P]), s = read_matrix(t->tensor[Q]), vh = read_matrix(t->tensor[R]);
    check_equal(t, "(u * s) @ vh", times(scaled(u, s), vh), read_matrix(t->tensor[A]));
    check_equal(t, "u's columns", times(adjoint(u), u), identity(u.cols));
    for (int64_t i = 1; i < s.rows; i++)
        MUST(t, s.x[i - 1].re >= s.x[i].re && s.x[i].re >= 0, "singular value %lld is out of order",
             (long long)i);
}

static void check_eigh(trial *t)
{
    random_hermitian(t, A, random_between(t, 1, LARGEST));
    GO_ON(t);
    NEED_LIBRARY(t, tsr_eigh(&t->tensor[P], &t->tensor[Q], t->tensor[A]));
    const matrix v = read_matrix(t->tensor[Q]);
    check_equal(t, "a @ v", times(read_matrix(t->tensor[A]), v), scaled(v, read_matrix(t->tensor[P])));
    check_equal(t, "v's columns", times(adjoint(v), v), identity(v.cols));
}

static void check_eig(trial *t)
{
    const int64_t n = random_between(t, 1, LARGEST);
    random_matrix(t, A, n, n);
    GO_ON(t);
    NEED_LIBRARY(t, tsr_eig(&t->tensor[P], &t->tensor[Q], t->tensor[A]));
    const matrix v = read_matrix(t->tensor[Q]);
    check_equal(t, "a @ v", times(read_matrix(t->tensor[A]), v), scaled(v, read_matrix(t->tensor[P])));
}

/* Fourier transforms ----------------------------------------------------------------------------------- */

/* A transform of n elements of each lane: a longer one is cut, a shorter one is followed by zeros. */
typedef struct transform {
    int          axis;
    int64_t      n;
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
static value transformed(const tsr_tensor *x, int64_t *index, const transform *f, int64_t k, double sign, double *size)
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
    void      (*run)(trial *t);
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
                               .dtype = dtypes[d] },
                      rules[i].name);
        add_check(list, (check){ .family = "fft", .op = TSR_OP_FFT, .run = check_fft, .dtype = dtypes[d],
                                 .more = 4 },
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
