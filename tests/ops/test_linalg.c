/* test_linalg.c - what linear algebra promises beside its results: which matrices are refused and in
 * which words, what NaN and matrices without elements give, where results may lie, and what there is
 * without LAPACK. The results themselves are checked by tests/net (opcheck/check_linalg.c,
 * check_spectrum.c, check_products.c).
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* fork, setenv */
#endif
#include <float.h>
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

#include "opcheck/trial.h"
#define TEST_OWN_MAIN
#include "test.h"

static const tsr_dtype dtypes[] = { TSR_F32, TSR_F64, TSR_C64, TSR_C128 };

/* What needs no factors ----------------------------------------------------------------------- */

static void test_vector_norm_is_norm(void)
{
    tsr_tensor *x = NULL, *a = NULL, *b = NULL;
    bool same = false;
    EXPECT_OK(tsr_randn(&x, TSR_F32, TSR_SHAPE(3, 4, 5), 7));
    EXPECT_OK(tsr_vector_norm(&a, x, 2, (const int[]){ 0, -1 }, true, 3));
    EXPECT_OK(tsr_norm(&b, x, 2, (const int[]){ 0, -1 }, true, 3));
    EXPECT_OK(tsr_equal(&same, a, b));
    EXPECT(same);
    tsr_release_all(&a, &b);
    EXPECT_OK(tsr_vector_norm(&a, x, 0, NULL, false, 2));
    EXPECT(a && a->ndim == 0);
    tsr_release_all(&a, &x);
}

/* With more dims than can be split: each index of the first ones is a product of its own. */
static void test_kron_of_the_highest_rank(void)
{
    tsr_tensor *a = NULL, *b = NULL, *z = NULL;
    int64_t shape[TSR_MAX_NDIM], wrong = 0;
    for (int i = 0; i < TSR_MAX_NDIM; i++) shape[i] = i < 2 || (i % 2 && i < 20) ? 2 : 1;
    EXPECT_OK(tsr_randn(&a, TSR_F64, TSR_MAX_NDIM, shape, 1));
    EXPECT_OK(tsr_randn(&b, TSR_F64, TSR_MAX_NDIM, shape, 2));
    EXPECT_OK(tsr_kron(&z, a, b));
    for (int64_t k = 0; k < tsr_numel(z); k++) {
        int64_t x[TSR_MAX_NDIM], y[TSR_MAX_NDIM];
        index_of(x, k, z->ndim, z->shape);
        for (int i = 0; i < TSR_MAX_NDIM; i++) {
            y[i] = x[i] % shape[i];
            x[i] /= shape[i];
        }
        wrong += value_at(z, k).re != value_at(a, place_of(x, a->ndim, shape)).re *
                                          value_at(b, place_of(y, b->ndim, shape)).re;
    }
    EXPECT(tsr_numel(z) > 0 && wrong == 0);
    tsr_release_all(&a, &b, &z);
}

static void test_transposes_swap_the_last_two_axes(void)
{
    tsr_tensor *a = NULL, *r = NULL, *t = NULL, *h = NULL;
    EXPECT_OK(tsr_randn(&a, TSR_C64, TSR_SHAPE(2, 3, 4), 3));
    EXPECT_OK(tsr_matrix_transpose(&t, a));
    EXPECT_OK(tsr_adjoint(&h, a));
    EXPECT(t->shape[1] == 4 && t->shape[2] == 3 && t->data == a->data && h->data != a->data);
    EXPECT_OK(tsr_real(&r, a));
    EXPECT_OK(tsr_adjoint(&h, r));
    EXPECT(h->data == r->data && h->shape[2] == 3);
    EXPECT_OK(tsr_adjoint(&a, a));
    EXPECT(a->shape[1] == 4 && a->shape[2] == 3);
    EXPECT_OK(tsr_matrix_transpose(&a, a));
    EXPECT(a->shape[1] == 3 && a->shape[2] == 4);
    tsr_release_all(&a, &r, &t, &h);
}

/* Matrices without a result ------------------------------------------------------------------ */

static void test_singular_and_indefinite_matrices_are_named(void)
{
    tsr_tensor *a = NULL, *b = NULL, *z = NULL;
    EXPECT_OK(tsr_randn(&a, TSR_F64, TSR_SHAPE(2, 3, 3, 3), 11));
    EXPECT_OK(tsr_ones(&b, TSR_F64, TSR_SHAPE(3)));
    for (int64_t i = 0; i < 3; i++) TSR_AT(double, a, 1, 2, i, 1) = 0;  /* a column of matrix (1, 2) */
    EXPECT_FAILS(tsr_inv(&z, a), TSR_EINVAL, "inv: matrix (1, 2) of f64(2, 3, 3, 3");
    EXPECT_FAILS(tsr_inv(&z, a), TSR_EINVAL, "is singular: pivot 2 of 3 is 0");
    EXPECT_FAILS(tsr_solve(&z, a, b), TSR_EINVAL, "solve: matrix (1, 2) of f64(2, 3, 3, 3");
    EXPECT_FAILS(tsr_matrix_power(&z, a, -2), TSR_EINVAL, "singular");
    EXPECT_OK(tsr_det(&z, a));
    EXPECT(TSR_AT(double, z, 1, 2) == 0 && TSR_AT(double, z, 0, 0) != 0);
    tsr_release_all(&z, &b);
    EXPECT_OK(tsr_slogdet(&z, &b, a));
    EXPECT(TSR_AT(double, z, 1, 2) == 0 && TSR_AT(double, b, 1, 2) == -INFINITY);
    EXPECT(fabs(TSR_AT(double, z, 0, 1)) == 1);
    tsr_release_all(&z, &b, &a);
    EXPECT_OK(tsr_eye(&a, TSR_C64, 4, 4, 0));
    TSR_AT(tsr_c64, a, 2, 2).re = -1;
    EXPECT_FAILS(tsr_cholesky(&z, a, false), TSR_EINVAL,
                 "cholesky: c64(4, 4 | 4, 1) is not positive definite: its leading minor of order 3");
    EXPECT_FAILS(tsr_cholesky(&z, a, true), TSR_EINVAL, "order 3");
    TSR_AT(tsr_c64, a, 2, 2).re = 0;
    EXPECT_FAILS(tsr_inv(&z, a), TSR_EINVAL, "inv: c64(4, 4 | 4, 1) is singular: pivot 3 of 4 is 0");
    EXPECT(z == NULL);
    tsr_release(&a);
}

/* One call of each function that factorises, on a as its operand; results in t[0 .. 2]. */
enum { CALLS = 16 };

static const char *const call_names[CALLS] = {
    "det", "slogdet", "inv", "solve", "lstsq", "pinv", "matrix_rank", "cholesky", "lu", "qr", "svd",
    "svdvals", "eigh", "eigvalsh", "eig", "eigvals",
};

static tsr_status call(int which, tsr_tensor **t, const tsr_tensor *a, const tsr_tensor *b)
{
    switch (which) {
    case 0:  return tsr_det(&t[0], a);
    case 1:  return tsr_slogdet(&t[0], &t[1], a);
    case 2:  return tsr_inv(&t[0], a);
    case 3:  return tsr_solve(&t[0], a, b);
    case 4:  return tsr_lstsq(&t[0], a, b, -1);
    case 5:  return tsr_pinv(&t[0], a, -1);
    case 6:  return tsr_matrix_rank(&t[0], a, -1);
    case 7:  return tsr_cholesky(&t[0], a, false);
    case 8:  return tsr_lu(&t[0], &t[1], &t[2], a);
    case 9:  return tsr_qr(&t[0], &t[1], a, false);
    case 10: return tsr_svd(&t[0], &t[1], &t[2], a, true);
    case 11: return tsr_svdvals(&t[0], a);
    case 12: return tsr_eigh(&t[0], &t[1], a);
    case 13: return tsr_eigvalsh(&t[0], a);
    case 14: return tsr_eig(&t[0], &t[1], a);
    default: return tsr_eigvals(&t[0], a);
    }
}

/* Of the results of matrix `b` of three, all (or none) are NaN, except zeros and ones of triangles. */
static bool all_nan(const tsr_tensor *t, int64_t b, bool nan)
{
    const int64_t n = tsr_numel(t) / 3;
    int64_t found = 0, numbers = 0;
    for (int64_t k = b * n; k < (b + 1) * n; k++) {
        const value x = value_at(t, k);
        if (isnan(x.re) || isnan(x.im)) found++;
        else if (x.im != 0 || (x.re != 0 && x.re != 1)) numbers++;
    }
    return nan ? found > 0 && numbers == 0 : found == 0;
}

static void test_nan_and_infinity_stay_in_their_matrix(void)
{
    static const double bad[] = { NAN, INFINITY, -INFINITY };
    for (int i = 0; i < 4 * CALLS * 3; i++) {
        const int which = i % CALLS;
        tsr_tensor *a = NULL, *b = NULL, *z[3] = { NULL };
        EXPECT_OK(tsr_randn(&a, dtypes[i / CALLS % 4], TSR_SHAPE(3, 5, 5), 5));
        EXPECT_OK(tsr_randn(&b, dtypes[i / CALLS % 4], TSR_SHAPE(5), 6));
        for (int64_t m = 0; m < 3; m++)
            for (int64_t d = 0; d < 5; d++)
                EXPECT_OK(tsr_set(a, 3, (const int64_t[]){ m, d, d }, TSR_SCALAR(20.0 + (double)d)));
        EXPECT_OK(tsr_set(a, 3, (const int64_t[]){ 1, 3, 2 }, TSR_SCALAR(bad[i / CALLS / 4])));
        EXPECT_OK(call(which, z, a, b));
        for (int r = 0; r < 3 && z[r]; r++) {
            const bool index = z[r]->dtype == TSR_I64;
            for (int64_t m = 0; m < 3; m++)
                if (!index) EXPECT_MSG(all_nan(z[r], m, m == 1), "%s, result %d, matrix %d",
                                       call_names[which], r, (int)m);
            if (index && which == 6)
                EXPECT(TSR_AT(int64_t, z[r], 0) == 5 && TSR_AT(int64_t, z[r], 1) == 0 &&
                       TSR_AT(int64_t, z[r], 2) == 5);
        }
        for (int r = 0; r < 3; r++) tsr_release(&z[r]);
        tsr_release_all(&a, &b);
    }
}

/* NaN on the right-hand side reaches its own column only. */
static void test_nan_in_b_stays_in_its_column(void)
{
    tsr_tensor *a = NULL, *b = NULL, *x = NULL;
    EXPECT_OK(tsr_randn(&a, TSR_F64, TSR_SHAPE(4, 4), 5));
    EXPECT_OK(tsr_randn(&b, TSR_F64, TSR_SHAPE(4, 3), 6));
    TSR_AT(double, b, 0, 1) = NAN;
    EXPECT_OK(tsr_solve(&x, a, b));
    for (int64_t i = 0; i < 4; i++)
        EXPECT(isfinite(TSR_AT(double, x, i, 0)) && isfinite(TSR_AT(double, x, i, 2)));
    tsr_release_all(&a, &b, &x);
}

static void test_huge_and_tiny_numbers_are_decomposed(void)
{
    static const double sizes[] = { 1e-300, 1e300, 4.9e-324, 1.7e308 };
    for (int i = 0; i < 4; i++) {
        tsr_tensor *a = NULL, *z[3] = { NULL };
        EXPECT_OK(tsr_full(&a, TSR_F64, TSR_SHAPE(4, 4), TSR_SCALAR(sizes[i])));
        for (int which = 10; which < CALLS; which++) {
            const tsr_status s = call(which, z, a, a);
            EXPECT(s == TSR_OK || s == TSR_EINVAL);
            for (int r = 0; r < 3; r++) tsr_release(&z[r]);
        }
        tsr_release(&a);
    }
}

/* Nothing ------------------------------------------------------------------------------------- */

static void expect_shape(const tsr_tensor *t, int ndim, const int64_t *shape)
{
    EXPECT(t && t->ndim == ndim);
    for (int i = 0; t && i < ndim && i < t->ndim; i++) EXPECT(t->shape[i] == shape[i]);
}

/* As NumPy has it. */
static void empty_matrices(void)
{
    tsr_tensor *a = NULL, *b = NULL, *z[3] = { NULL };
    double x = -1;
    EXPECT_OK(tsr_zeros(&a, TSR_F64, TSR_SHAPE(0, 0)));
    EXPECT_OK(tsr_zeros(&b, TSR_F64, TSR_SHAPE(0)));
    for (int which = 0; which < CALLS; which++) {
        EXPECT_OK(call(which, z, a, b));
        if (which == 0 || which == 1) EXPECT(tsr_item_f64(&x, z[0]) == TSR_OK && x == 1);
        if (which == 1) EXPECT(tsr_item_f64(&x, z[1]) == TSR_OK && x == 0);
        if (which == 6) EXPECT(tsr_item_f64(&x, z[0]) == TSR_OK && x == 0);
        for (int r = 0; r < 3; r++) tsr_release(&z[r]);
    }
    tsr_release(&a);
    EXPECT_OK(tsr_zeros(&a, TSR_F64, TSR_SHAPE(2, 3, 0)));
    EXPECT_OK(tsr_qr(&z[0], &z[1], a, true));
    expect_shape(z[0], 3, (const int64_t[]){ 2, 3, 3 });
    expect_shape(z[1], 3, (const int64_t[]){ 2, 3, 0 });
    for (int64_t i = 0; i < 18; i++)
        EXPECT(TSR_AT(double, z[0], i / 9, i / 3 % 3, i % 3) == (i / 3 % 3 == i % 3));
    for (int r = 0; r < 3; r++) tsr_release(&z[r]);
    EXPECT_OK(tsr_svd(&z[0], &z[1], &z[2], a, true));
    expect_shape(z[0], 3, (const int64_t[]){ 2, 3, 3 });
    expect_shape(z[1], 2, (const int64_t[]){ 2, 0 });
    expect_shape(z[2], 3, (const int64_t[]){ 2, 0, 0 });
    EXPECT(TSR_AT(double, z[0], 1, 2, 2) == 1 && TSR_AT(double, z[0], 1, 2, 1) == 0);
    for (int r = 0; r < 3; r++) tsr_release(&z[r]);
    EXPECT_OK(tsr_lu(&z[0], &z[1], &z[2], a));
    EXPECT(TSR_AT(int64_t, z[0], 1, 2) == 2);
    for (int r = 0; r < 3; r++) tsr_release(&z[r]);
    EXPECT_OK(tsr_pinv(&z[0], a, -1));
    expect_shape(z[0], 3, (const int64_t[]){ 2, 0, 3 });
    tsr_release(&z[0]);
    for (int ord = TSR_ORD_FRO; ord <= TSR_ORD_MINUS_INF; ord++) {
        EXPECT_OK(tsr_matrix_norm(&z[0], a, (tsr_matrix_ord)ord, false));
        EXPECT(TSR_AT(double, z[0], 1) == 0);
        tsr_release(&z[0]);
    }
    tsr_release(&a);
    EXPECT_OK(tsr_zeros(&a, TSR_F64, TSR_SHAPE(0, 4, 4)));  /* no matrices */
    tsr_release(&b);
    EXPECT_OK(tsr_zeros(&b, TSR_F64, TSR_SHAPE(4)));
    for (int which = 0; which < CALLS; which++) {
        EXPECT_OK(call(which, z, a, b));
        EXPECT(tsr_numel(z[0]) == 0 && z[0]->shape[0] == 0);
        for (int r = 0; r < 3; r++) tsr_release(&z[r]);
    }
    tsr_release_all(&a, &b);
}

static void test_matrices_without_elements_have_results(void) { empty_matrices(); }

/* Without LAPACK ------------------------------------------------------------------------------ */

/* In a process of its own that has TSR_LAPACK set to `path`: every function has a result. */
static void expect_own_results(const char *path)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        tsr_tensor *a = NULL, *b = NULL, *z[3] = { NULL };
        test_state.failures = 0;
        setenv("TSR_LAPACK", path, 1);
        EXPECT_OK(tsr_eye(&a, TSR_F64, 4, 4, 0));
        EXPECT_OK(tsr_ones(&b, TSR_F64, TSR_SHAPE(4)));
        for (int which = 0; which < CALLS; which++) {
            EXPECT_OK(call(which, z, a, b));
            for (int r = 0; r < 3; r++) tsr_release(&z[r]);
        }
        empty_matrices();
        fflush(stdout);
        _exit(test_state.failures > 0);
    }
    int status = -1;
    EXPECT(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

/* Must run before anything looks for LAPACK: it is looked for once. */
static void test_without_lapack_each_function_has_a_result(void)
{
    expect_own_results("none");
    expect_own_results("/nowhere/liblapack.so");
}

/* Sizes around blocks, and matrices that iterations find hard: values that are equal, zero, far apart,
 * defective. */
static void fill_hard(tsr_tensor *a, int kind)
{
    const int64_t n = a->shape[0], m = a->shape[1];
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            const double wave = sin((double)(i * 7 + j * 13 + kind));
            TSR_AT(double, a, i, j) = kind == 0   ? wave
                                      : kind == 1 ? (double)(i == j)
                                      : kind == 2 ? 0
                                      : kind == 3 ? (i == j ? pow(10, -(double)i / 3) : 0)
                                      : kind == 4 ? (double)(j == i + 1)       /* one block of Jordan's */
                                      : kind == 5 ? 1.0 / (double)(i + j + 1)  /* Hilbert's */
                                      : kind == 6 ? (double)(j == (i + 1) % m) /* a cycle: roots of 1 */
                                                  : 1e-3 * wave + (double)(i / 3 == j / 3);
        }
}

/* What is made of the factors, against a; relative to its size. */
static void expect_same_matrix(const tsr_tensor *a, const tsr_tensor *b, const char *what, int64_t n,
                               int kind)
{
    tsr_tensor *d = NULL, *size = NULL, *all = NULL, *wide = NULL;
    EXPECT_OK(tsr_cast(&wide, a, b->dtype));
    EXPECT_OK(tsr_sub(&d, wide, b));
    EXPECT_OK(tsr_norm(&size, d, 0, NULL, false, 2));
    EXPECT_OK(tsr_norm(&all, wide, 0, NULL, false, 2));
    const double off = *(double *)size->data, of = *(double *)all->data;
    EXPECT_MSG(off <= 64 * DBL_EPSILON * sqrt((double)n) * (of + DBL_MIN),
               "%s of %lld, kind %d: %g of %g", what, (long long)n, kind, off, of);
    tsr_release_all(&d, &size, &all, &wide);
}

static void check_hard(int64_t m, int64_t n, int kind)
{
    tsr_tensor *a = NULL, *x[3] = { NULL }, *p = NULL, *t = NULL, *w = NULL, *c = NULL;
    EXPECT_OK(tsr_empty(&a, TSR_F64, TSR_SHAPE(m, n)));
    fill_hard(a, kind);
    EXPECT_OK(tsr_qr(&x[0], &x[1], a, false));
    EXPECT_OK(tsr_matmul(&p, x[0], x[1]));
    expect_same_matrix(a, p, "qr", m, kind);
    tsr_release_all(&x[0], &x[1], &p);
    EXPECT_OK(tsr_svd(&x[0], &x[1], &x[2], a, false));
    EXPECT_OK(tsr_mul(&t, x[0], x[1]));
    EXPECT_OK(tsr_matmul(&p, t, x[2]));
    expect_same_matrix(a, p, "svd", m, kind);
    tsr_release_all(&x[0], &x[1], &x[2], &p, &t);
    if (m == n) {
        EXPECT_OK(tsr_transpose(&t, a, 0, 1));
        EXPECT_OK(tsr_add(&c, a, t));
        EXPECT_OK(tsr_eigh(&w, &x[0], c));
        EXPECT_OK(tsr_mul(&p, x[0], w));
        EXPECT_OK(tsr_matmul(&x[1], c, x[0]));
        expect_same_matrix(x[1], p, "eigh", n, kind);
        tsr_release_all(&t, &c, &w, &p, &x[0], &x[1]);
        EXPECT_OK(tsr_eig(&w, &x[0], a));
        EXPECT_OK(tsr_cast(&c, a, TSR_C128));
        EXPECT_OK(tsr_mul(&p, x[0], w));
        EXPECT_OK(tsr_matmul(&x[1], c, x[0]));
        if (kind != 2 && kind != 4) expect_same_matrix(x[1], p, "eig", n, kind);
        tsr_release_all(&w, &x[0], &c, &p, &x[1]);
    }
    tsr_release(&a);
}

/* Equal rows, equal columns, ones: beside the one value that is not 0 are rounding errors, which never become
 * small beside each other. */
static void check_low_rank(tsr_dtype dtype, int64_t n)
{
    tsr_tensor *row = NULL, *one = NULL, *a = NULL, *w = NULL, *v = NULL;
    EXPECT_OK(tsr_randn(&row, dtype, TSR_SHAPE(n), (uint64_t)n));
    EXPECT_OK(tsr_ones(&one, dtype, TSR_SHAPE(1)));
    for (int kind = 0; kind < 3; kind++) {
        EXPECT_OK(tsr_expand(&a, kind < 2 ? row : one, TSR_SHAPE(n, n)));
        if (kind == 1) EXPECT_OK(tsr_matrix_transpose(&a, a));
        EXPECT_OK(tsr_eig(&w, &v, a));
        tsr_release_all(&w, &v);
        if (kind == 2) EXPECT_OK(tsr_eigh(&w, &v, a));
        tsr_release_all(&w, &v, &a);
    }
    tsr_release_all(&row, &one);
}

static void expect_orthonormal(const tsr_tensor *v, const char *what)
{
    tsr_tensor *h = NULL, *p = NULL, *one = NULL, *off = NULL, *wide = NULL;
    const int64_t n = v->shape[0];
    const bool is_short = v->dtype == TSR_F32 || v->dtype == TSR_C64;
    EXPECT_OK(tsr_cast(&wide, v, TSR_C128));
    EXPECT_OK(tsr_adjoint(&h, wide));
    EXPECT_OK(tsr_matmul(&p, h, wide));
    EXPECT_OK(tsr_eye(&one, TSR_C128, n, n, 0));
    EXPECT_OK(tsr_sub(&p, p, one));
    EXPECT_OK(tsr_norm(&off, p, 0, NULL, false, 2));
    const double is = *(double *)off->data;
    EXPECT_MSG(is <= 64 * (is_short ? FLT_EPSILON : DBL_EPSILON) * (double)n, "%s of %lld, %s: off by %g",
               what, (long long)n, tsr_dtype_name(v->dtype), is);
    tsr_release_all(&h, &p, &one, &off, &wide);
}

/* Of a matrix of equal columns, a triangle remains whose elements fall to the least that there are. */
static void test_own_vectors_are_orthonormal_however_small_elements_are(void)
{
    const bool before = tsr_get_external();
    tsr_set_external(false);
    for (int seed = 0; seed < 100; seed++)
        for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
            const int64_t n = 3 + seed % 20;
            tsr_tensor *column = NULL, *a = NULL, *x[3] = { NULL };
            EXPECT_OK(tsr_randn(&column, dtypes[i], TSR_SHAPE(n, 1), (uint64_t)seed));
            EXPECT_OK(tsr_expand(&a, column, TSR_SHAPE(n, n)));
            EXPECT_OK(tsr_svd(&x[0], &x[1], &x[2], a, false));
            expect_orthonormal(x[0], "u");
            expect_orthonormal(x[2], "vh");
            tsr_release_all(&x[0], &x[1], &x[2]);
            EXPECT_OK(tsr_qr(&x[0], &x[1], a, false));
            expect_orthonormal(x[0], "q");
            tsr_release_all(&x[0], &x[1], &column, &a);
        }
    tsr_set_external(before);
}

static void test_own_routines_factor_matrices_of_low_rank(void)
{
    const bool before = tsr_get_external();
    tsr_set_external(false);
    for (int64_t n = 2; n < 70; n += 3) {
        check_low_rank(TSR_F32, n);
        check_low_rank(TSR_F64, n);
    }
    tsr_set_external(before);
}

/* Three values that a third of the rows each share, and a little noise: what the iteration works on are
 * differences of numbers that are nearly equal. */
static void test_own_routines_find_values_that_are_nearly_equal(void)
{
    const bool before = tsr_get_external();
    tsr_set_external(false);
    for (int64_t n = 20; n < 150; n += 9)
        for (int kind = 5; kind < 8; kind++) {
            tsr_tensor *a = NULL, *x = NULL, *w = NULL, *v = NULL;
            EXPECT_OK(tsr_empty(&a, TSR_F64, TSR_SHAPE(n, n)));
            fill_hard(a, kind);
            for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
                EXPECT_OK(tsr_cast(&x, a, dtypes[i]));
                EXPECT_OK(tsr_eig(&w, &v, x));
                tsr_release_all(&x, &w, &v);
            }
            tsr_release(&a);
        }
    tsr_set_external(before);
}

static void test_own_routines_factor_hard_matrices(void)
{
    static const int64_t sizes[] = { 1, 2, 3, 17, 47, 48, 49, 97, 130 };
    const bool before = tsr_get_external();
    tsr_set_external(false);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int kind = 0; kind < 8; kind++) {
            check_hard(sizes[i], sizes[i], kind);
            if (kind < 4) {
                check_hard(sizes[i], sizes[i] / 2 + 1, kind);
                check_hard(sizes[i] / 2 + 1, sizes[i], kind);
            }
        }
    tsr_set_external(before);
}

/* Matrices are scaled to numbers near 1 and back, so a power of two changes no digit of the values. */
static void test_a_power_of_two_changes_only_the_exponents_of_values(void)
{
    static tsr_status (*const values_of[])(tsr_tensor **, const tsr_tensor *) = { tsr_svdvals, tsr_eigvalsh,
                                                                                 tsr_eigvals };
    static const double powers[] = { 0x1p-900, 0x1p+900 };
    const bool before = tsr_get_external();
    tsr_set_external(false);
    for (int i = 0; i < 6; i++) {
        const double by = powers[i % 2];
        tsr_tensor *a = NULL, *scaled = NULL, *w = NULL, *v = NULL;
        bool same = false;
        EXPECT_OK(tsr_empty(&a, TSR_F64, TSR_SHAPE(17, 17)));
        fill_hard(a, 0);
        EXPECT_OK(tsr_mul(&scaled, a, TSR_NUMBER(by)));
        EXPECT_OK(values_of[i / 2](&w, a));
        EXPECT_OK(values_of[i / 2](&v, scaled));
        EXPECT_OK(tsr_mul(&w, w, TSR_NUMBER(by)));
        EXPECT_OK(tsr_equal(&same, w, v));
        EXPECT_MSG(same, "values %d of a matrix times %g", i / 2, by);
        tsr_release_all(&a, &scaled, &w, &v);
    }
    tsr_set_external(before);
}

/* Results in odd places ----------------------------------------------------------------------- */

static void expect_close(const tsr_tensor *a, const tsr_tensor *b)
{
    bool close = false;
    EXPECT_OK(tsr_allclose(&close, a, b, NULL, NULL));
    EXPECT(close);
}

/* Described and placed results are filled, and are as they were after a failure. */
static void test_described_and_placed_results_are_filled(void)
{
    tsr_tensor *a = NULL, *zero = NULL, *z = NULL, place, *p = tsr_place_none(&place);
    tsr_desc d;
    EXPECT_OK(tsr_eye(&a, TSR_F64, 3, 3, 0));
    EXPECT_OK(tsr_zeros(&zero, TSR_F64, TSR_SHAPE(3, 3)));
    EXPECT_OK(tsr_desc_init(&d, TSR_F64, 2, (const int64_t[]){ 3, 3 }, (const int64_t[]){ 1, 5 }));
    EXPECT_OK(tsr_declare(&z, &d, TSR_CPU, TSR_MEMORY_HOST));
    EXPECT_STATUS(tsr_inv(&z, zero), TSR_EINVAL);
    EXPECT(z && z->data == NULL);
    EXPECT_OK(tsr_inv(&z, a));
    expect_close(z, a);
    EXPECT_STATUS(tsr_inv(&p, zero), TSR_EINVAL);
    EXPECT(p == &place && tsr_is_none(p));
    EXPECT_OK(tsr_inv(&p, a));
    expect_close(p, a);
    tsr_release_all(&p, &z, &zero, &a);
}

/* Bad input ----------------------------------------------------------------------------------- */

static void test_bad_arguments_are_refused_in_words(void)
{
    tsr_tensor *a = NULL, *v = NULL, *odd = NULL, *half = NULL, *whole = NULL, *flag = NULL, *small = NULL;
    tsr_tensor *z[3] = { NULL };
    EXPECT_OK(tsr_zeros(&a, TSR_F32, TSR_SHAPE(2, 2)));
    EXPECT_OK(tsr_zeros(&v, TSR_F32, TSR_SHAPE(3)));
    EXPECT_OK(tsr_zeros(&odd, TSR_F32, TSR_SHAPE(2, 3)));
    EXPECT_OK(tsr_zeros(&half, TSR_F16, TSR_SHAPE(2, 2)));
    EXPECT_OK(tsr_zeros(&whole, TSR_I32, TSR_SHAPE(2, 2)));
    EXPECT_OK(tsr_zeros(&flag, TSR_BOOL, TSR_SHAPE(2, 2)));
    EXPECT_OK(tsr_zeros(&small, TSR_C32, TSR_SHAPE(2, 2)));
    for (int which = 0; which < CALLS; which++) {
        char part[40];
        const bool square = which < 4 || which == 7 || which >= 12;
        snprintf(part, sizeof part, "%s: a", call_names[which]);
        EXPECT_FAILS(call(which, z, NULL, a), TSR_ENULL, part);
        EXPECT_FAILS(call(which, z, v, a), TSR_ESHAPE, part);
        EXPECT_FAILS(call(which, z, half, half), TSR_EDTYPE, part);
        EXPECT_FAILS(call(which, z, whole, whole), TSR_EDTYPE, "tsr_cast converts");
        EXPECT_FAILS(call(which, z, small, small), TSR_EDTYPE, part);
        if (square) EXPECT_FAILS(call(which, z, odd, a), TSR_ESHAPE, part);
        z[0] = flag;  /* no result is bool */
        EXPECT_STATUS(call(which, z, a, a), TSR_EDTYPE);
        EXPECT(z[0] == flag);
        z[0] = NULL;
        for (int r = 1; r < 3; r++) EXPECT(z[r] == NULL);
    }
    EXPECT_FAILS(tsr_slogdet(&z[0], &z[0], a), TSR_EINVAL, "slogdet: sign and logabsdet are the same handle");
    EXPECT_FAILS(tsr_solve(&z[0], a, v), TSR_ESHAPE, "solve: a is f32(2, 2 | 2, 1) and b is f32(3 | 1");
    EXPECT_FAILS(tsr_solve(&z[0], a, whole), TSR_EDTYPE, "solve: f32 and i32");
    EXPECT_FAILS(tsr_lstsq(&z[0], a, NULL, -1), TSR_ENULL, "lstsq: b");
    EXPECT_FAILS(tsr_lstsq(&z[0], a, v, -1), TSR_ESHAPE, "lstsq: a is f32(2, 2");
    EXPECT_FAILS(tsr_lstsq(&z[0], a, whole, -1), TSR_EDTYPE, "lstsq: f32 and i32");
    EXPECT_FAILS(tsr_lstsq(&z[0], a, a, NAN), TSR_EINVAL, "lstsq: rtol is nan");
    EXPECT_FAILS(tsr_pinv(&z[0], a, INFINITY), TSR_EINVAL, "pinv: rtol is inf");
    EXPECT_FAILS(tsr_matrix_rank(&z[0], a, NAN), TSR_EINVAL, "matrix_rank: rtol");
    EXPECT_FAILS(tsr_lu(&z[0], &z[1], &z[0], a), TSR_EINVAL, "lu: p and u are the same handle");
    EXPECT_FAILS(tsr_qr(&z[0], &z[0], a, false), TSR_EINVAL, "qr: q and r are the same handle");
    EXPECT_FAILS(tsr_matrix_power(&z[0], odd, 2), TSR_ESHAPE, "matrix_power: a: n is 2");
    EXPECT_FAILS(tsr_matrix_power(&z[0], whole, -1), TSR_EDTYPE, "matrix_power: a: dtype must be f32/f64");
    EXPECT_FAILS(tsr_matrix_power(&z[0], flag, 1), TSR_EDTYPE, "matrix_power: a: dtype");
    EXPECT_FAILS(tsr_matrix_transpose(&z[0], v), TSR_ESHAPE, "matrix_transpose: a is f32(3");
    EXPECT_FAILS(tsr_adjoint(&z[0], v), TSR_ESHAPE, "adjoint: a");
    EXPECT_FAILS(tsr_adjoint(&z[0], small), TSR_EDTYPE, "adjoint: a is c32");
    EXPECT_FAILS(tsr_vector_norm(&z[0], a, 1, NULL, false, 2), TSR_ENULL, "vector_norm: axes");
    EXPECT_FAILS(tsr_vector_norm(&z[0], whole, 0, NULL, false, 2), TSR_EDTYPE, "vector_norm: x: dtype");
    EXPECT_FAILS(tsr_vector_norm(&z[0], a, 0, NULL, false, NAN), TSR_EINVAL, "vector_norm: p is NaN");
    EXPECT_FAILS(tsr_matrix_norm(&z[0], v, TSR_ORD_FRO, false), TSR_ESHAPE, "matrix_norm: a");
    EXPECT_FAILS(tsr_matrix_norm(&z[0], whole, TSR_ORD_ONE, false), TSR_EDTYPE, "matrix_norm: a: dtype");
    EXPECT_FAILS(tsr_matrix_norm(&z[0], half, TSR_ORD_TWO, false), TSR_EDTYPE, "matrix_norm: a: dtype");
    EXPECT_FAILS(tsr_matrix_norm(&z[0], a, (tsr_matrix_ord)8, false), TSR_EINVAL,
                 "matrix_norm: there is no norm 8");
    EXPECT_FAILS(tsr_trace(&z[0], v, 0), TSR_ESHAPE, "trace: a");
    EXPECT_FAILS(tsr_trace(&z[0], flag, 0), TSR_EDTYPE, "trace: a: dtype must be");
    EXPECT_FAILS(tsr_trace(&v, a, 0), TSR_ESHAPE, "trace: the result is f32(");
    EXPECT_FAILS(tsr_cross(&z[0], NULL, v, 0), TSR_ENULL, "cross: a");
    EXPECT_FAILS(tsr_cross(&z[0], v, NULL, 0), TSR_ENULL, "cross: b");
    EXPECT_FAILS(tsr_cross(&z[0], v, v, 1), TSR_EINDEX, "cross: axis 1");
    EXPECT_OK(tsr_matrix_transpose(&odd, odd));
    EXPECT_FAILS(tsr_cross(&z[0], odd, v, 0), TSR_EINDEX, "cross: b is f32(3");
    EXPECT_FAILS(tsr_cross(&z[0], a, a, 0), TSR_ESHAPE, "2 elements along axis 0, not 3");
    EXPECT_FAILS(tsr_cross(&z[0], flag, flag, 0), TSR_EDTYPE, "cross: a: dtype must be real/c64/c128");
    EXPECT_FAILS(tsr_cross(&z[0], v, TSR_NUMBER(2), 0), TSR_EINDEX, "cross: b");
    EXPECT_FAILS(tsr_kron(&z[0], NULL, v), TSR_ENULL, "kron: a");
    EXPECT_FAILS(tsr_kron(&z[0], v, NULL), TSR_ENULL, "kron: b");
    EXPECT_FAILS(tsr_kron(&z[0], flag, flag), TSR_EDTYPE, "kron");
    EXPECT_FAILS(tsr_kron(&z[0], a, whole), TSR_EDTYPE, "kron: f32 and i32");
    EXPECT(z[0] == NULL && z[1] == NULL && z[2] == NULL);
    tsr_release_all(&a, &v, &odd, &half, &whole, &flag, &small);
}

static void test_results_that_overlap_each_other_are_refused(void)
{
    tsr_tensor *a = NULL, *q = NULL, *r = NULL;
    EXPECT_OK(tsr_eye(&a, TSR_F64, 3, 3, 0));
    EXPECT_OK(tsr_zeros(&q, TSR_F64, TSR_SHAPE(3, 3)));
    EXPECT_OK(tsr_matrix_transpose(&r, q));
    EXPECT_FAILS(tsr_qr(&q, &r, a, false), TSR_EOVERLAP,
                 "qr: the results overlap each other: f64(3, 3 | 3, 1) and f64(3, 3 | 1, 3)");
    tsr_release_all(&a, &q, &r);
}

/* Sizes are looked at before memory is. */
static void test_matrices_beyond_32_bits_are_refused(void)
{
    tsr_tensor *one = NULL, *a = NULL, *z = NULL;
    EXPECT_OK(tsr_ones(&one, TSR_F32, TSR_SHAPE(1, 1)));
    EXPECT_OK(tsr_expand(&a, one, TSR_SHAPE(1, (int64_t)1 << 31)));
    EXPECT_FAILS(tsr_svdvals(&z, a), TSR_EINVAL, "too large for LAPACK, which counts in 32 bits");
    EXPECT_OK(tsr_expand(&a, one, TSR_SHAPE((int64_t)1 << 31, 1)));
    EXPECT_FAILS(tsr_matrix_rank(&z, a, -1), TSR_EINVAL, "too large for LAPACK");
    tsr_release(&one);
    EXPECT_OK(tsr_ones(&one, TSR_I8, TSR_SHAPE(1, 1)));
    EXPECT_OK(tsr_expand(&a, one, TSR_SHAPE((int64_t)1 << 62, 1)));
    EXPECT_FAILS(tsr_kron(&z, a, a), TSR_EOVERFLOW, "kron: dim 0");
    EXPECT(z == NULL);
    tsr_release_all(&one, &a);
}

int main(int argc, char **argv)
{
    TEST_BEGIN(argc, argv);
    RUN(test_without_lapack_each_function_has_a_result);
    RUN(test_own_routines_find_values_that_are_nearly_equal);
    RUN(test_own_routines_factor_hard_matrices);
    RUN(test_own_routines_factor_matrices_of_low_rank);
    RUN(test_own_vectors_are_orthonormal_however_small_elements_are);
    RUN(test_a_power_of_two_changes_only_the_exponents_of_values);
    RUN(test_matrices_without_elements_have_results);
    RUN(test_bad_arguments_are_refused_in_words);
    RUN(test_results_that_overlap_each_other_are_refused);
    RUN(test_transposes_swap_the_last_two_axes);
    RUN(test_vector_norm_is_norm);
    RUN(test_kron_of_the_highest_rank);
    RUN(test_singular_and_indefinite_matrices_are_named);
    RUN(test_nan_and_infinity_stay_in_their_matrix);
    RUN(test_nan_in_b_stays_in_its_column);
    RUN(test_huge_and_tiny_numbers_are_decomposed);
    RUN(test_described_and_placed_results_are_filled);
    RUN(test_matrices_beyond_32_bits_are_refused);
    return TEST_END();
}
