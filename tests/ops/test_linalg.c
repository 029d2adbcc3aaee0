/* test_linalg.c - linear algebra, by what must hold of its results.
 *
 * Matrices lie in memory with any strides: permuted, negative, with gaps, repeated, and
 * junk where a dim has size 1. They are read element by element into long double, in
 * which residuals are computed and bounded by what a backward stable algorithm leaves.
 * Singular values and determinants are computed again by other methods (Jacobi's
 * rotations, elimination with full pivoting).
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* fork, setenv */
#endif
#include <complex.h>
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cpu/lapack.h"
#include "property/reference.h"

enum { CASES = 4 * 200, SIDE = 41 };

typedef long double         wide;
typedef long double complex number;

static const tsr_dtype dtypes[] = { TSR_F32, TSR_F64, TSR_C64, TSR_C128 };

static tsr_dtype dtype_of(const ref_case *c) { return dtypes[c->number % 4]; }

#define NEEDS_LAPACK() do { if (!tsri_lapack_get(TSR_F64)) SKIP("no LAPACK"); } while (0)

/* Elements ------------------------------------------------------------------------------------ */

static number complex_of(wide re, wide im)
{
    number z = re;
    ((wide *)&z)[1] = im;  /* re + I * im would make a NaN of an infinity */
    return z;
}

static number element(const tsr_tensor *t, const int64_t *index)
{
    int64_t at = 0;
    tsr_scalar s;
    for (int i = 0; i < t->ndim; i++) if (index[i] > 0) at += index[i] * t->stride[i];
    const void *p = (const char *)t->data + at * ref_size(t->dtype);
    switch (t->dtype) {
    case TSR_F32:  return *(const float *)p;
    case TSR_F64:  return *(const double *)p;
    case TSR_C64:  return complex_of(((const tsr_c64 *)p)->re, ((const tsr_c64 *)p)->im);
    case TSR_C128: return complex_of(((const tsr_c128 *)p)->re, ((const tsr_c128 *)p)->im);
    default:
        if (tsr_scalar_load(&s, t->dtype, p) != TSR_OK) abort();
        if (s.dtype == TSR_I64) return s.as.i;
        if (s.dtype == TSR_U64) return s.as.u;
        return s.as.c.re;
    }
}

static void set_element(tsr_tensor *t, const int64_t *index, number x)
{
    int64_t at = 0;
    for (int i = 0; i < t->ndim; i++) if (index[i] > 0) at += index[i] * t->stride[i];
    void *p = (char *)t->data + at * ref_size(t->dtype);
    const tsr_scalar s = tsr_scalar_c128((double)creall(x), (double)cimagl(x));
    if (tsr_scalar_store(p, t->dtype, s) != TSR_OK) abort();
}

/* One matrix of a batch, or one vector as a column. */
typedef struct matrix {
    int64_t m, n;
    number  at[SIDE][SIDE];
} matrix;

/* Index b of the first `dims` dims, in row-major order. */
static void index_of(int64_t *index, const tsr_tensor *t, int dims, int64_t b)
{
    for (int i = dims - 1; i >= 0; i--) {
        index[i] = b % t->shape[i];
        b /= t->shape[i];
    }
}

static int64_t count_of(const tsr_tensor *t, int inner)
{
    int64_t n = 1;
    for (int i = 0; i < t->ndim - inner; i++) n *= t->shape[i];
    return n;
}

static void load_matrix(matrix *out, const tsr_tensor *t, int64_t b)
{
    int64_t index[TSR_MAX_NDIM];
    const int d = t->ndim - 2;
    index_of(index, t, d, b);
    out->m = t->shape[d];
    out->n = t->shape[d + 1];
    for (index[d] = 0; index[d] < out->m; index[d]++)
        for (index[d + 1] = 0; index[d + 1] < out->n; index[d + 1]++)
            out->at[index[d]][index[d + 1]] = element(t, index);
}

static void load_vector(matrix *out, const tsr_tensor *t, int64_t b)
{
    int64_t index[TSR_MAX_NDIM];
    const int d = t->ndim - 1;
    index_of(index, t, d, b);
    out->m = t->shape[d];
    out->n = 1;
    for (index[d] = 0; index[d] < out->m; index[d]++) out->at[index[d]][0] = element(t, index);
}

/* Matrices in long double --------------------------------------------------------------------- */

static void product(matrix *out, const matrix *a, const matrix *b)
{
    static matrix z;
    z.m = a->m;
    z.n = b->n;
    for (int64_t i = 0; i < a->m; i++)
        for (int64_t j = 0; j < b->n; j++) {
            number sum = 0;
            for (int64_t k = 0; k < a->n; k++) sum += a->at[i][k] * b->at[k][j];
            z.at[i][j] = sum;
        }
    *out = z;
}

static void adjoint(matrix *out, const matrix *a)
{
    static matrix z;
    z.m = a->n;
    z.n = a->m;
    for (int64_t i = 0; i < a->m; i++)
        for (int64_t j = 0; j < a->n; j++) z.at[j][i] = conjl(a->at[i][j]);
    *out = z;
}

static void identity(matrix *out, int64_t n)
{
    out->m = out->n = n;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) out->at[i][j] = i == j;
}

static wide size_of(const matrix *a)
{
    wide sum = 0;
    for (int64_t i = 0; i < a->m; i++)
        for (int64_t j = 0; j < a->n; j++) sum += creall(a->at[i][j] * conjl(a->at[i][j]));
    return sqrtl(sum);
}

/* |a - b|, by the root of the sum of squares. */
static wide distance(const matrix *a, const matrix *b)
{
    static matrix z;
    z = *a;
    if (a->m != b->m || a->n != b->n) return INFINITY;
    for (int64_t i = 0; i < a->m; i++)
        for (int64_t j = 0; j < a->n; j++) z.at[i][j] -= b->at[i][j];
    return size_of(&z);
}

static wide unit_of(tsr_dtype dtype) { return ref_part(dtype) == TSR_F32 ? 0x1p-23L : 0x1p-52L; }

/* What rounding may leave of matrices of this size. */
static wide slack(tsr_dtype dtype, const matrix *a) { return 20 * unit_of(dtype) * (wide)(a->m + a->n + 1); }

/* How far columns are from orthonormal. */
static wide not_orthonormal(const matrix *q)
{
    static matrix t, one;
    adjoint(&t, q);
    product(&t, &t, q);
    identity(&one, q->n);
    return distance(&t, &one);
}

static bool is_triangle(const matrix *a, bool upper)
{
    for (int64_t i = 0; i < a->m; i++)
        for (int64_t j = 0; j < a->n; j++)
            if ((upper ? j < i : j > i) && a->at[i][j] != 0) return false;
    return true;
}

static void swap(number *x, number *y)
{
    const number z = *x;
    *x = *y;
    *y = z;
}

/* The determinant by elimination with full pivoting. */
static number reference_det(const matrix *a)
{
    static matrix t;
    number det = 1;
    t = *a;
    for (int64_t k = 0; k < t.n; k++) {
        int64_t r = k, s = k;
        for (int64_t i = k; i < t.n; i++)
            for (int64_t j = k; j < t.n; j++)
                if (cabsl(t.at[i][j]) > cabsl(t.at[r][s])) { r = i; s = j; }
        if (t.at[r][s] == 0) return 0;
        for (int64_t j = 0; j < t.n; j++) swap(&t.at[k][j], &t.at[r][j]);
        for (int64_t i = 0; i < t.n; i++) swap(&t.at[i][k], &t.at[i][s]);
        det *= ((r != k) != (s != k) ? -1 : 1) * t.at[k][k];
        for (int64_t i = k + 1; i < t.n; i++) {
            const number f = t.at[i][k] / t.at[k][k];
            for (int64_t j = k; j < t.n; j++) t.at[i][j] -= f * t.at[k][j];
        }
    }
    return det;
}

static int descending(const void *a, const void *b)
{
    const wide x = *(const wide *)a, y = *(const wide *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* Singular values by one-sided rotations of pairs of columns; the lesser dim is made the columns. */
static int64_t reference_svd(wide *s, const matrix *a)
{
    static matrix t;
    if (a->n <= a->m) t = *a;
    else adjoint(&t, a);
    for (int sweep = 0; sweep < 30; sweep++)
        for (int64_t p = 0; p < t.n; p++)
            for (int64_t q = p + 1; q < t.n; q++) {
                wide pp = 0, qq = 0;
                number pq = 0;
                for (int64_t i = 0; i < t.m; i++) {
                    pp += creall(t.at[i][p] * conjl(t.at[i][p]));
                    qq += creall(t.at[i][q] * conjl(t.at[i][q]));
                    pq += conjl(t.at[i][p]) * t.at[i][q];
                }
                if (cabsl(pq) <= 1e-19L * sqrtl(pp * qq)) continue;
                const wide zeta = (qq - pp) / (2 * cabsl(pq));
                const wide tan = (zeta < 0 ? -1 : 1) / (fabsl(zeta) + sqrtl(1 + zeta * zeta));
                const wide cos = 1 / sqrtl(1 + tan * tan), sin = cos * tan;
                const number turn = pq / cabsl(pq);
                for (int64_t i = 0; i < t.m; i++) {
                    const number x = t.at[i][p], y = t.at[i][q] * conjl(turn);
                    t.at[i][p] = cos * x - sin * y;
                    t.at[i][q] = sin * x + cos * y;
                }
            }
    for (int64_t j = 0; j < t.n; j++) {
        s[j] = 0;
        for (int64_t i = 0; i < t.m; i++) s[j] = hypotl(s[j], cabsl(t.at[i][j]));
    }
    qsort(s, (size_t)t.n, sizeof *s, descending);
    return t.n;
}

/* Random tensors ------------------------------------------------------------------------------ */

/* A tensor with odd strides over memory of its own, full of NaN (of 77, for integers). `repeat`
 * is how many of its first dims may be repeated by a stride of 0. */
static void make_odd(ref_case *c, int handle, tsr_dtype dtype, int ndim, const int64_t *shape, int repeat)
{
    int order[TSR_MAX_NDIM];
    int64_t stride[TSR_MAX_NDIM] = { 0 }, step = ref_between(c, 1, 2), offset = 0;
    tsr_tensor *base = NULL;
    for (int i = 0; i < ndim; i++) order[i] = i;
    for (int i = ndim - 1; i > 0; i--) {
        const int64_t j = ref_below(c, i + 1);
        const int x = order[i];
        order[i] = order[j];
        order[j] = x;
    }
    for (int i = 0; i < ndim; i++) {
        const int d = order[i];
        const bool back = ref_once_in(c, 4);
        if (shape[d] == 1) { stride[d] = ref_between(c, -1000000, 1000000); continue; }
        if (d < repeat && ref_once_in(c, 4)) continue;
        stride[d] = back ? -step : step;
        if (back && shape[d] > 0) offset += (shape[d] - 1) * step;
        step *= shape[d] > 0 ? shape[d] : 1;
        if (ref_once_in(c, 3)) step += ref_between(c, 1, 3);
    }
    ref_say(c, "    t%d: %s", handle, tsr_dtype_name(dtype));
    ref_say_numbers(c, ndim, shape);
    ref_say_numbers(c, ndim, stride);
    ref_say(c, "\n");
    const double junk = ref_is_float(ref_part(dtype)) ? NAN : 77;
    const bool made = tsr_full(&base, dtype, 1, &step, TSR_SCALAR(junk)) == TSR_OK &&
                      tsr_as_strided(&c->t[handle], base, ndim, shape, stride, offset) == TSR_OK;
    tsr_release(&base);
    if (!made) ref_fail(c, __FILE__, __LINE__, "a tensor with odd strides");
}

/* Between -2 and 2, exact in f32, never 0; so many that a matrix is not singular by chance. */
static wide random_part(ref_case *c) { return (wide)(2 * ref_below(c, 1 << 20) + 1 - (1 << 20)) / (1 << 19); }

static number random_number(ref_case *c, tsr_dtype dtype)
{
    return random_part(c) + (ref_is_complex(dtype) ? I * random_part(c) : 0);
}

static void fill_random(ref_case *c, tsr_tensor *t)
{
    int64_t index[TSR_MAX_NDIM] = { 0 };
    for (int64_t k = tsr_numel(t); k > 0; k--) {
        set_element(t, index, random_number(c, t->dtype));
        ref_next(index, t->ndim, t->shape);
    }
}

/* Up to two batch dims, mostly small, now and then empty; returns how many. */
static int random_batch(ref_case *c, int64_t *shape)
{
    const int n = (int)ref_below(c, 3);
    for (int i = 0; i < n; i++) shape[i] = ref_once_in(c, 20) ? 0 : ref_between(c, 1, 3);
    return n;
}

static int64_t random_side(ref_case *c, bool batch)
{
    return ref_once_in(c, 15) ? ref_below(c, 2) : ref_between(c, 1, batch || !ref_once_in(c, 6) ? 12 : 40);
}

/* A batch of random matrices in c->t[handle]. */
static void random_matrices(ref_case *c, int handle, tsr_dtype dtype, bool square)
{
    int64_t shape[TSR_MAX_NDIM];
    const int n = random_batch(c, shape);
    shape[n] = random_side(c, n > 0);
    shape[n + 1] = square ? shape[n] : random_side(c, n > 0);
    make_odd(c, handle, dtype, n + 2, shape, n);
    if (!c->failed) fill_random(c, c->t[handle]);
}

/* A result that is made (NULL), or given with odd strides, in c->t[handle]. */
static void random_result(ref_case *c, int handle, tsr_dtype dtype, const tsr_tensor *like, int64_t rows,
                          int64_t cols)
{
    int64_t shape[TSR_MAX_NDIM];
    int n = like->ndim - 2;
    if (ref_once_in(c, 2)) return;
    for (int i = 0; i < n; i++) shape[i] = like->shape[i];
    if (rows >= 0) shape[n++] = rows;
    if (cols >= 0) shape[n++] = cols;
    make_odd(c, handle, dtype, n, shape, 0);
}

static bool has_shape(const tsr_tensor *t, tsr_dtype dtype, const tsr_tensor *like, int64_t rows,
                      int64_t cols)
{
    int n = like->ndim - 2;
    if (!t || t->dtype != dtype || t->ndim != n + (rows >= 0) + (cols >= 0)) return false;
    for (int i = 0; i < n; i++) if (t->shape[i] != like->shape[i]) return false;
    if (rows >= 0 && t->shape[n++] != rows) return false;
    return cols < 0 || t->shape[n] == cols;
}

static int64_t rows_of(const tsr_tensor *t) { return t->shape[t->ndim - 2]; }
static int64_t cols_of(const tsr_tensor *t) { return t->shape[t->ndim - 1]; }
static int64_t least_of(const tsr_tensor *t) { return rows_of(t) < cols_of(t) ? rows_of(t) : cols_of(t); }

static matrix ma, mb, mc, md;

/* Factors ------------------------------------------------------------------------------------- */

static void lu_case(ref_case *c)
{
    const tsr_dtype dtype = dtype_of(c);
    random_matrices(c, 0, dtype, false);
    MUST_GO_ON(c);
    const tsr_tensor *a = c->t[0];
    const int64_t k = least_of(a);
    random_result(c, 1, TSR_I64, a, rows_of(a), -1);
    random_result(c, 2, dtype, a, rows_of(a), k);
    random_result(c, 3, dtype, a, k, cols_of(a));
    MUST(tsr_lu(&c->t[1], &c->t[2], &c->t[3], a) == TSR_OK);
    MUST(has_shape(c->t[1], TSR_I64, a, rows_of(a), -1));
    MUST(has_shape(c->t[2], dtype, a, rows_of(a), k) && has_shape(c->t[3], dtype, a, k, cols_of(a)));
    for (int64_t b = 0; b < count_of(a, 2); b++) {
        bool met[SIDE] = { false };
        load_matrix(&ma, c->t[2], b);
        load_matrix(&mb, c->t[3], b);
        MUST(is_triangle(&ma, false) && is_triangle(&mb, true));
        for (int64_t i = 0; i < k; i++) MUST(ma.at[i][i] == 1);
        for (int64_t i = 0; i < ma.m; i++)
            for (int64_t j = 0; j < ma.n; j++)
                MUST(cabsl(ma.at[i][j]) <= (ref_is_complex(dtype) ? 2.5L : 1.001L));
        product(&mc, &ma, &mb);
        load_matrix(&ma, a, b);
        load_vector(&mb, c->t[1], b);
        md = ma;
        for (int64_t i = 0; i < ma.m; i++) {
            const int64_t from = (int64_t)creall(mb.at[i][0]);
            MUST(from >= 0 && from < ma.m && !met[from]);
            met[from] = true;
            for (int64_t j = 0; j < ma.n; j++) md.at[i][j] = ma.at[from][j];
        }
        MUST(distance(&md, &mc) <= slack(dtype, &ma) * size_of(&ma));
    }
}
static void test_lu_gives_triangles_of_swapped_rows(void)
{
    NEEDS_LAPACK();
    ref_cases(CASES, lu_case);
}

static void inv_case(ref_case *c)
{
    const tsr_dtype dtype = dtype_of(c);
    random_matrices(c, 0, dtype, true);
    MUST_GO_ON(c);
    const tsr_tensor *a = c->t[0];
    random_result(c, 1, dtype, a, rows_of(a), rows_of(a));
    MUST(tsr_inv(&c->t[1], a) == TSR_OK);
    MUST(has_shape(c->t[1], dtype, a, rows_of(a), rows_of(a)));
    for (int64_t b = 0; b < count_of(a, 2); b++) {
        load_matrix(&ma, a, b);
        load_matrix(&mb, c->t[1], b);
        product(&mc, &ma, &mb);
        identity(&md, ma.n);
        MUST(distance(&mc, &md) <= slack(dtype, &ma) * size_of(&ma) * size_of(&mb));
    }
    MUST(tsr_inv(&c->t[2], c->t[1]) == TSR_OK);
    for (int64_t b = 0; b < count_of(a, 2); b++) {  /* inv(inv(a)) is a, as far as a is well conditioned */
        load_matrix(&ma, a, b);
        load_matrix(&mb, c->t[1], b);
        load_matrix(&mc, c->t[2], b);
        const wide condition = size_of(&ma) * size_of(&mb);
        if (condition * slack(dtype, &ma) < 0.01L)
            MUST(distance(&ma, &mc) <= 2 * slack(dtype, &ma) * condition * size_of(&mc));
    }
}
static void test_inv_is_inverse_for_all_dtypes_and_strides(void)
{
    NEEDS_LAPACK();
    ref_cases(CASES, inv_case);
}

/* The dims of a's batch that b has too: all, the last, none, or one of size 1. */
static int some_batch(ref_case *c, int64_t *shape, const tsr_tensor *a)
{
    const int n = a->ndim - 2, skip = (int)ref_below(c, n + 1);
    for (int i = skip; i < n; i++) shape[i - skip] = ref_once_in(c, 4) ? 1 : a->shape[i];
    return n - skip;
}

/* Where matrix b of the result lies in a batch that was broadcast to it. */
static int64_t place_in(const tsr_tensor *t, int inner, const tsr_tensor *x, int inner_x, int64_t b)
{
    int64_t index[TSR_MAX_NDIM], at = 0;
    const int n = t->ndim - inner, skip = x->ndim - inner_x - n;
    index_of(index, x, x->ndim - inner_x, b);
    for (int i = 0; i < n; i++) at = at * t->shape[i] + (t->shape[i] == 1 ? 0 : index[skip + i]);
    return at;
}

static void solve_case(ref_case *c)
{
    static const tsr_dtype singles[] = { TSR_F32, TSR_C64 }, doubles[] = { TSR_F64, TSR_C128 };
    const tsr_dtype dtype = dtype_of(c);
    tsr_dtype other = dtype, result = dtype;
    int64_t shape[TSR_MAX_NDIM];
    if (ref_once_in(c, 4)) other = (ref_once_in(c, 2) ? singles : doubles)[ref_below(c, 2)];
    random_matrices(c, 0, dtype, true);
    MUST_GO_ON(c);
    const tsr_tensor *a = c->t[0];
    const bool vector = ref_once_in(c, 3);
    int n = vector ? 0 : some_batch(c, shape, a);
    shape[n++] = rows_of(a);
    if (!vector) shape[n++] = ref_between(c, ref_once_in(c, 8) ? 0 : 1, 5);
    make_odd(c, 1, other, n, shape, vector ? 0 : n - 2);
    MUST_GO_ON(c);
    fill_random(c, c->t[1]);
    MUST(tsr_dtype_promote(&result, dtype, other) == TSR_OK);
    const int64_t k = vector ? -1 : cols_of(c->t[1]);
    random_result(c, 2, result, a, rows_of(a), k);
    MUST(tsr_solve(&c->t[2], a, c->t[1]) == TSR_OK);
    MUST(has_shape(c->t[2], result, a, rows_of(a), k));
    const wide unit = unit_of(dtype) > unit_of(other) ? unit_of(result) : unit_of(dtype);
    for (int64_t b = 0; b < count_of(a, 2); b++) {
        load_matrix(&ma, a, b);
        if (vector) load_vector(&mb, c->t[1], 0);
        else load_matrix(&mb, c->t[1], place_in(c->t[1], 2, c->t[2], 2, b));
        if (vector) load_vector(&mc, c->t[2], b);
        else load_matrix(&mc, c->t[2], b);
        product(&md, &ma, &mc);
        const wide sizes = size_of(&ma) * size_of(&mc) + size_of(&mb);
        MUST(distance(&md, &mb) <= 20 * unit * (wide)(ma.n + 2) * sizes);
    }
}
static void test_solve_solves_for_vectors_matrices_and_batches(void)
{
    NEEDS_LAPACK();
    ref_cases(CASES, solve_case);
}

/* c->t[handle] becomes Hermitian in one triangle, with `shift` added to a diagonal that is positive if
 * shift is, and NaN in the other. */
static void make_hermitian(ref_case *c, int handle, bool upper, wide shift)
{
    tsr_tensor *t = c->t[handle];
    int64_t index[TSR_MAX_NDIM];
    const int d = t->ndim - 2;
    const int64_t n = rows_of(t);
    for (int64_t b = 0; b < count_of(t, 2); b++) {
        index_of(index, t, d, b);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++) {
                index[d] = i;
                index[d + 1] = j;
                const number x = element(t, index);
                if (i == j) set_element(t, index, shift > 0 ? fabsl(creall(x)) + shift : creall(x));
                else if (upper ? i > j : i < j) set_element(t, index, NAN);
            }
    }
}

/* One triangle mirrored. */
static void mirror(matrix *a, bool upper)
{
    for (int64_t i = 0; i < a->m; i++)
        for (int64_t j = 0; j < i; j++) {
            if (upper) a->at[i][j] = conjl(a->at[j][i]);
            else a->at[j][i] = conjl(a->at[i][j]);
        }
}

static void cholesky_case(ref_case *c)
{
    const tsr_dtype dtype = dtype_of(c);
    const bool upper = ref_once_in(c, 2);
    random_matrices(c, 0, dtype, true);
    MUST_GO_ON(c);
    make_hermitian(c, 0, upper, 120);
    const tsr_tensor *a = c->t[0];
    random_result(c, 1, dtype, a, rows_of(a), rows_of(a));
    MUST(tsr_cholesky(&c->t[1], a, upper) == TSR_OK);
    MUST(has_shape(c->t[1], dtype, a, rows_of(a), rows_of(a)));
    for (int64_t b = 0; b < count_of(a, 2); b++) {
        load_matrix(&ma, a, b);
        load_matrix(&mb, c->t[1], b);
        mirror(&ma, upper);
        MUST(is_triangle(&mb, upper));
        for (int64_t i = 0; i < mb.n; i++) MUST(creall(mb.at[i][i]) > 0 && cimagl(mb.at[i][i]) == 0);
        adjoint(&mc, &mb);
        if (upper) product(&md, &mc, &mb);
        else product(&md, &mb, &mc);
        MUST(distance(&ma, &md) <= slack(dtype, &ma) * size_of(&ma));
    }
}
static void test_cholesky_reads_and_writes_one_triangle(void)
{
    NEEDS_LAPACK();
    ref_cases(CASES, cholesky_case);
}

static void qr_case(ref_case *c)
{
    const tsr_dtype dtype = dtype_of(c);
    const bool complete = ref_once_in(c, 2);
    random_matrices(c, 0, dtype, false);
    MUST_GO_ON(c);
    const tsr_tensor *a = c->t[0];
    const int64_t k = complete ? rows_of(a) : least_of(a);
    random_result(c, 1, dtype, a, rows_of(a), k);
    random_result(c, 2, dtype, a, k, cols_of(a));
    ref_say(c, "    complete %d\n", complete);
    MUST(tsr_qr(&c->t[1], &c->t[2], a, complete) == TSR_OK);
    MUST(has_shape(c->t[1], dtype, a, rows_of(a), k) && has_shape(c->t[2], dtype, a, k, cols_of(a)));
    for (int64_t b = 0; b < count_of(a, 2); b++) {
        load_matrix(&ma, a, b);
        load_matrix(&mb, c->t[1], b);
        load_matrix(&mc, c->t[2], b);
        MUST(not_orthonormal(&mb) <= slack(dtype, &ma) * sqrtl((wide)k + 1) && is_triangle(&mc, true));
        product(&md, &mb, &mc);
        MUST(distance(&ma, &md) <= slack(dtype, &ma) * size_of(&ma));
    }
}
static void test_qr_gives_orthonormal_columns_and_a_triangle(void)
{
    NEEDS_LAPACK();
    ref_cases(CASES, qr_case);
}

static void svd_case(ref_case *c)
{
    const tsr_dtype dtype = dtype_of(c), real = ref_part(dtype);
    const bool full = ref_once_in(c, 2);
    wide s[SIDE];
    random_matrices(c, 0, dtype, false);
    MUST_GO_ON(c);
    const tsr_tensor *a = c->t[0];
    const int64_t k = least_of(a), p = full ? rows_of(a) : k, q = full ? cols_of(a) : k;
    random_result(c, 1, dtype, a, rows_of(a), p);
    random_result(c, 2, real, a, k, -1);
    random_result(c, 3, dtype, a, q, cols_of(a));
    random_result(c, 4, real, a, k, -1);
    ref_say(c, "    full %d\n", full);
    MUST(tsr_svd(&c->t[1], &c->t[2], &c->t[3], a, full) == TSR_OK);
    MUST(tsr_svdvals(&c->t[4], a) == TSR_OK);
    MUST(has_shape(c->t[1], dtype, a, rows_of(a), p) && has_shape(c->t[3], dtype, a, q, cols_of(a)));
    MUST(has_shape(c->t[2], real, a, k, -1) && has_shape(c->t[4], real, a, k, -1));
    for (int64_t b = 0; b < count_of(a, 2); b++) {
        load_matrix(&ma, a, b);
        const wide bound = slack(dtype, &ma) * (size_of(&ma) + 0x1p-100L);
        load_vector(&mb, c->t[2], b);
        load_vector(&mc, c->t[4], b);
        MUST(distance(&mb, &mc) <= bound);
        if (ma.m * ma.n <= 400) {
            MUST(reference_svd(s, &ma) == k);
            for (int64_t i = 0; i < k; i++) MUST(fabsl(creall(mb.at[i][0]) - s[i]) <= bound);
        }
        for (int64_t i = 1; i < k; i++) MUST(creall(mb.at[i][0]) <= creall(mb.at[i - 1][0]));
        load_matrix(&mc, c->t[3], b);
        adjoint(&md, &mc);
        MUST(not_orthonormal(&md) <= slack(dtype, &ma) * sqrtl((wide)q + 1));
        mc.m = k;
        for (int64_t i = 0; i < k; i++)
            for (int64_t j = 0; j < mc.n; j++) mc.at[i][j] *= mb.at[i][0];
        load_matrix(&mb, c->t[1], b);
        MUST(not_orthonormal(&mb) <= slack(dtype, &ma) * sqrtl((wide)p + 1));
        mb.n = k;
        product(&md, &mb, &mc);
        MUST(distance(&ma, &md) <= bound);
    }
}
static void test_svd_puts_matrices_together_again(void)
{
    NEEDS_LAPACK();
    ref_cases(CASES, svd_case);
}

static void eigh_case(ref_case *c)
{
    const tsr_dtype dtype = dtype_of(c), real = ref_part(dtype);
    random_matrices(c, 0, dtype, true);
    MUST_GO_ON(c);
    make_hermitian(c, 0, false, 0);
    const tsr_tensor *a = c->t[0];
    const int64_t n = rows_of(a);
    random_result(c, 1, real, a, n, -1);
    random_result(c, 2, dtype, a, n, n);
    random_result(c, 3, real, a, n, -1);
    MUST(tsr_eigh(&c->t[1], &c->t[2], a) == TSR_OK);
    MUST(tsr_eigvalsh(&c->t[3], a) == TSR_OK);
    MUST(has_shape(c->t[1], real, a, n, -1) && has_shape(c->t[2], dtype, a, n, n) &&
         has_shape(c->t[3], real, a, n, -1));
    for (int64_t b = 0; b < count_of(a, 2); b++) {
        load_matrix(&ma, a, b);
        mirror(&ma, false);
        const wide bound = slack(dtype, &ma) * size_of(&ma);
        load_vector(&mb, c->t[1], b);
        load_vector(&mc, c->t[3], b);
        MUST(distance(&mb, &mc) <= bound);
        for (int64_t i = 1; i < n; i++) MUST(creall(mb.at[i][0]) >= creall(mb.at[i - 1][0]));
        load_matrix(&mc, c->t[2], b);
        MUST(not_orthonormal(&mc) <= slack(dtype, &ma) * sqrtl((wide)n + 1));
        product(&md, &ma, &mc);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++) mc.at[i][j] *= mb.at[j][0];
        MUST(distance(&md, &mc) <= bound);
    }
}
static void test_eigh_gives_real_values_and_orthonormal_vectors(void)
{
    NEEDS_LAPACK();
    ref_cases(CASES, eigh_case);
}

static void eig_case(ref_case *c)
{
    const tsr_dtype dtype = dtype_of(c), complex_dtype = ref_part(dtype) == TSR_F32 ? TSR_C64 : TSR_C128;
    random_matrices(c, 0, dtype, true);
    MUST_GO_ON(c);
    const tsr_tensor *a = c->t[0];
    const int64_t n = rows_of(a);
    random_result(c, 1, complex_dtype, a, n, -1);
    random_result(c, 2, complex_dtype, a, n, n);
    random_result(c, 3, complex_dtype, a, n, -1);
    MUST(tsr_eig(&c->t[1], &c->t[2], a) == TSR_OK);
    MUST(tsr_eigvals(&c->t[3], a) == TSR_OK);
    MUST(has_shape(c->t[1], complex_dtype, a, n, -1) && has_shape(c->t[2], complex_dtype, a, n, n));
    MUST(has_shape(c->t[3], complex_dtype, a, n, -1));
    for (int64_t b = 0; b < count_of(a, 2); b++) {
        number sum = 0, also = 0, trace = 0;
        load_matrix(&ma, a, b);
        load_vector(&mb, c->t[1], b);
        load_matrix(&mc, c->t[2], b);
        const wide bound = 5 * slack(dtype, &ma) * (size_of(&ma) + 0x1p-100L);
        product(&md, &ma, &mc);
        for (int64_t j = 0; j < n; j++) {
            wide length = 0;
            for (int64_t i = 0; i < n; i++) length = hypotl(length, cabsl(mc.at[i][j]));
            MUST(fabsl(length - 1) <= slack(dtype, &ma));
            for (int64_t i = 0; i < n; i++) mc.at[i][j] *= mb.at[j][0];
            sum += mb.at[j][0];
            trace += ma.at[j][j];
        }
        MUST(distance(&md, &mc) <= bound);
        MUST(cabsl(sum - trace) <= bound * sqrtl((wide)n + 1));
        load_vector(&mb, c->t[3], b);
        for (int64_t j = 0; j < n; j++) also += mb.at[j][0];
        MUST(cabsl(also - trace) <= bound * sqrtl((wide)n + 1));
    }
}
static void test_eig_gives_complex_values_and_vectors(void)
{
    NEEDS_LAPACK();
    ref_cases(CASES, eig_case);
}

/* What follows from factors ------------------------------------------------------------------- */

static void det_case(ref_case *c)
{
    const tsr_dtype dtype = dtype_of(c), real = ref_part(dtype);
    random_matrices(c, 0, dtype, true);
    MUST_GO_ON(c);
    const tsr_tensor *a = c->t[0];
    random_result(c, 1, dtype, a, -1, -1);
    random_result(c, 2, dtype, a, -1, -1);
    random_result(c, 3, real, a, -1, -1);
    MUST(tsr_det(&c->t[1], a) == TSR_OK);
    MUST(tsr_slogdet(&c->t[2], &c->t[3], a) == TSR_OK);
    MUST(has_shape(c->t[1], dtype, a, -1, -1) && has_shape(c->t[2], dtype, a, -1, -1) &&
         has_shape(c->t[3], real, a, -1, -1));
    for (int64_t b = 0; b < count_of(a, 2); b++) {
        int64_t index[TSR_MAX_NDIM];
        load_matrix(&ma, a, b);
        wide bound = slack(dtype, &ma) * (wide)(ma.n + 1);  /* Hadamard's: the product of the rows' lengths */
        for (int64_t i = 0; i < ma.n; i++) {
            wide row = 0;
            for (int64_t j = 0; j < ma.n; j++) row = hypotl(row, cabsl(ma.at[i][j]));
            bound *= row + (row == 0);
        }
        const number want = reference_det(&ma);
        index_of(index, c->t[1], a->ndim - 2, b);
        const number sign = element(c->t[2], index);
        const wide log = creall(element(c->t[3], index));
        MUST(cabsl(element(c->t[1], index) - want) <= bound);
        MUST(cabsl(sign * expl(log) - want) <= bound + cabsl(want) * slack(dtype, &ma) * (wide)(ma.n + 1));
        MUST(want == 0 || fabsl(cabsl(sign) - 1) <= slack(dtype, &ma));
    }
}
static void test_det_and_slogdet_match_elimination(void)
{
    NEEDS_LAPACK();
    ref_cases(CASES, det_case);
}

static void law_case(ref_case *c)
{
    tsr_tensor *d[3] = { NULL };
    random_matrices(c, 0, TSR_F64, true);
    MUST_GO_ON(c);
    make_odd(c, 1, TSR_F64, c->t[0]->ndim, c->t[0]->shape, 0);
    MUST_GO_ON(c);
    fill_random(c, c->t[1]);
    MUST(tsr_matmul(&c->t[2], c->t[0], c->t[1]) == TSR_OK);
    for (int i = 0; i < 3; i++) {
        MUST(tsr_det(&c->t[3 + i], c->t[i]) == TSR_OK);
        d[i] = c->t[3 + i];
    }
    for (int64_t b = 0; b < count_of(c->t[0], 2); b++) {
        int64_t index[TSR_MAX_NDIM];
        wide bound = 1e-9L;
        index_of(index, d[0], d[0]->ndim, b);
        for (int i = 0; i < 2; i++) {
            load_matrix(&ma, c->t[i], b);
            for (int64_t r = 0; r < ma.n; r++) bound *= size_of(&ma);
        }
        MUST(cabsl(element(d[2], index) - element(d[0], index) * element(d[1], index)) <= bound);
    }
}
static void test_the_determinant_of_a_product_is_the_product(void)
{
    NEEDS_LAPACK();
    ref_cases(200, law_case);
}

/* Products of (m, rank) and (rank, n) matrices: a batch of known rank in c->t[handle]. */
static void known_rank(ref_case *c, int handle, tsr_dtype dtype, int64_t *rank)
{
    int64_t shape[TSR_MAX_NDIM], half[TSR_MAX_NDIM];
    tsr_tensor *x = NULL, *y = NULL;
    const int n = random_batch(c, shape);
    shape[n] = random_side(c, true);
    shape[n + 1] = random_side(c, true);
    *rank = ref_between(c, 0, shape[n] < shape[n + 1] ? shape[n] : shape[n + 1]);
    make_odd(c, handle, dtype, n + 2, shape, 0);
    MUST_GO_ON(c);
    memcpy(half, shape, sizeof half);
    half[n + 1] = *rank;
    if (tsr_zeros(&x, dtype, n + 2, half) != TSR_OK) abort();
    half[n] = *rank;
    half[n + 1] = shape[n + 1];
    if (tsr_zeros(&y, dtype, n + 2, half) != TSR_OK) abort();
    fill_random(c, x);
    fill_random(c, y);
    if (tsr_matmul(&c->t[handle], x, y) != TSR_OK) abort();
    tsr_release(&x);
    tsr_release(&y);
}

/* How many singular values stand clear of rounding; false where one does neither clearly. */
static bool clear_rank(int64_t *rank, const matrix *a, tsr_dtype dtype)
{
    wide s[SIDE];
    const int64_t n = reference_svd(s, a);
    *rank = 0;
    for (int64_t i = 0; i < n; i++) {
        if (s[i] > 1000 * slack(dtype, a) * s[0]) ++*rank;
        else if (s[i] > 0.02L * slack(dtype, a) * s[0]) return false;
    }
    return true;
}

static void pinv_case(ref_case *c)
{
    const tsr_dtype dtype = dtype_of(c);
    int64_t rank = 0;
    known_rank(c, 0, dtype, &rank);
    MUST_GO_ON(c);
    const tsr_tensor *a = c->t[0];
    random_result(c, 1, dtype, a, cols_of(a), rows_of(a));
    random_result(c, 2, TSR_I64, a, -1, -1);
    const double rtol = (double)(10 * unit_of(dtype)) * 40;
    MUST(tsr_pinv(&c->t[1], a, rtol) == TSR_OK);
    MUST(tsr_matrix_rank(&c->t[2], a, rtol) == TSR_OK);
    MUST(has_shape(c->t[1], dtype, a, cols_of(a), rows_of(a)) && has_shape(c->t[2], TSR_I64, a, -1, -1));
    for (int64_t b = 0; b < count_of(a, 2); b++) {
        int64_t index[TSR_MAX_NDIM], clear;
        index_of(index, c->t[2], c->t[2]->ndim, b);
        load_matrix(&ma, a, b);
        if (!clear_rank(&clear, &ma, dtype)) continue;
        MUST((int64_t)creall(element(c->t[2], index)) == clear);
        load_matrix(&mb, c->t[1], b);
        const wide x = size_of(&ma) * size_of(&mb);
        const wide bound = 4 * slack(dtype, &ma) * x * x;
        product(&mc, &ma, &mb);   /* Penrose: a @ x @ a = a, x @ a @ x = x, both products Hermitian */
        product(&md, &mc, &ma);
        MUST(distance(&md, &ma) <= bound * size_of(&ma));
        adjoint(&md, &mc);
        MUST(distance(&mc, &md) <= bound);
        product(&mc, &mb, &ma);
        product(&md, &mc, &mb);
        MUST(distance(&md, &mb) <= bound * size_of(&mb));
        adjoint(&md, &mc);
        MUST(distance(&mc, &md) <= bound);
    }
}
static void test_pinv_and_matrix_rank_know_the_rank(void)
{
    NEEDS_LAPACK();
    ref_cases(CASES, pinv_case);
}

static void lstsq_case(ref_case *c)
{
    const tsr_dtype dtype = dtype_of(c);
    int64_t rank = 0, shape[TSR_MAX_NDIM];
    known_rank(c, 0, dtype, &rank);
    MUST_GO_ON(c);
    const tsr_tensor *a = c->t[0];
    const bool vector = ref_once_in(c, 3);
    int n = vector ? 0 : some_batch(c, shape, a);
    shape[n++] = rows_of(a);
    if (!vector) shape[n++] = ref_between(c, 0, 4);
    make_odd(c, 1, dtype, n, shape, vector ? 0 : n - 2);
    MUST_GO_ON(c);
    fill_random(c, c->t[1]);
    const int64_t k = vector ? -1 : cols_of(c->t[1]);
    random_result(c, 2, dtype, a, cols_of(a), k);
    MUST(tsr_lstsq(&c->t[2], a, c->t[1], (double)(10 * unit_of(dtype)) * 40) == TSR_OK);
    MUST(has_shape(c->t[2], dtype, a, cols_of(a), k));
    MUST(tsr_pinv(&c->t[3], a, (double)(10 * unit_of(dtype)) * 40) == TSR_OK);
    for (int64_t b = 0; b < count_of(a, 2); b++) {
        int64_t clear;
        load_matrix(&ma, a, b);
        if (!clear_rank(&clear, &ma, dtype)) continue;
        if (vector) load_vector(&mb, c->t[1], 0);
        else load_matrix(&mb, c->t[1], place_in(c->t[1], 2, c->t[2], 2, b));
        if (vector) load_vector(&mc, c->t[2], b);
        else load_matrix(&mc, c->t[2], b);
        load_matrix(&md, c->t[3], b);
        const wide x = size_of(&ma) * size_of(&md);
        const wide bound = 4 * slack(dtype, &ma) * x * size_of(&md) * size_of(&mb);
        product(&md, &md, &mb);
        MUST(distance(&md, &mc) <= bound);
    }
}
static void test_lstsq_is_pinv_times_b(void)
{
    NEEDS_LAPACK();
    ref_cases(CASES, lstsq_case);
}

/* What needs no factors ----------------------------------------------------------------------- */

static wide reference_norm(const matrix *a, tsr_matrix_ord ord)
{
    wide s[SIDE], best = ord == TSR_ORD_MINUS_ONE || ord == TSR_ORD_MINUS_INF ? INFINITY : 0, sum = 0;
    const bool columns = ord == TSR_ORD_ONE || ord == TSR_ORD_MINUS_ONE;
    const bool least = ord == TSR_ORD_MINUS_ONE || ord == TSR_ORD_MINUS_INF;
    if (a->m == 0 || a->n == 0) return 0;
    if (ord == TSR_ORD_FRO) return size_of(a);
    if (ord == TSR_ORD_NUC || ord == TSR_ORD_TWO || ord == TSR_ORD_MINUS_TWO) {
        const int64_t n = reference_svd(s, a);
        for (int64_t i = 0; i < n; i++) sum += s[i];
        return ord == TSR_ORD_NUC ? sum : s[ord == TSR_ORD_TWO ? 0 : n - 1];
    }
    for (int64_t i = 0; i < (columns ? a->n : a->m); i++) {
        sum = 0;
        for (int64_t j = 0; j < (columns ? a->m : a->n); j++)
            sum += cabsl(columns ? a->at[j][i] : a->at[i][j]);
        if (least ? sum < best : sum > best) best = sum;
    }
    return best;
}

static void norm_case(ref_case *c)
{
    const tsr_dtype dtype = dtype_of(c), real = ref_part(dtype);
    const tsr_matrix_ord ord = (tsr_matrix_ord)ref_below(c, 8);
    const bool keepdims = ref_once_in(c, 2);
    const bool factors = ord == TSR_ORD_NUC || ord == TSR_ORD_TWO || ord == TSR_ORD_MINUS_TWO;
    if (factors && !tsri_lapack_get(TSR_F64)) return;
    random_matrices(c, 0, dtype, false);
    MUST_GO_ON(c);
    const tsr_tensor *a = c->t[0];
    random_result(c, 1, real, a, keepdims ? 1 : -1, keepdims ? 1 : -1);
    MUST(tsr_matrix_norm(&c->t[1], a, ord, keepdims) == TSR_OK);
    MUST(has_shape(c->t[1], real, a, keepdims ? 1 : -1, keepdims ? 1 : -1));
    for (int64_t b = 0; b < count_of(a, 2); b++) {
        int64_t index[TSR_MAX_NDIM] = { 0 };
        load_matrix(&ma, a, b);
        if (factors && ma.m * ma.n > 400) continue;
        index_of(index, c->t[1], a->ndim - 2, b);
        index[a->ndim - 2] = index[a->ndim - 1] = 0;
        const wide want = reference_norm(&ma, ord);
        MUST(fabsl(creall(element(c->t[1], index)) - want) <= slack(dtype, &ma) * (size_of(&ma) + want));
    }
}
static void test_matrix_norm_matches_its_definition(void) { ref_cases(2 * CASES, norm_case); }

static void test_vector_norm_is_norm(void)
{
    tsr_tensor *x = NULL, *a = NULL, *b = NULL;
    bool same = false;
    EXPECT_OK(tsr_randn(&x, TSR_F32, TSR_SHAPE(3, 4, 5), 7));
    EXPECT_OK(tsr_vector_norm(&a, x, 2, (const int[]){ 0, -1 }, true, 3));
    EXPECT_OK(tsr_norm(&b, x, 2, (const int[]){ 0, -1 }, true, 3));
    EXPECT_OK(tsr_equal(&same, a, b));
    EXPECT(same);
    tsr_release(&a);
    tsr_release(&b);
    EXPECT_OK(tsr_vector_norm(&a, x, 0, NULL, false, 2));
    EXPECT(a && a->ndim == 0);
    tsr_release(&a);
    tsr_release(&x);
}

/* Any numeric dtype that computes. */
static tsr_dtype any_number(ref_case *c)
{
    static const tsr_dtype all[] = { TSR_I8, TSR_I16, TSR_I32, TSR_I64, TSR_U8, TSR_U16, TSR_U32, TSR_U64,
                                     TSR_F8E4M3,
                                     TSR_F8E5M2, TSR_F16, TSR_BF16, TSR_F32, TSR_F64, TSR_C64, TSR_C128 };
    return all[c->number % 16];
}

static wide any_unit(tsr_dtype dtype) { return ldexpl(1, -ref_format_of(ref_part(dtype)).mantissa_bits); }

/* Equal, or for floats rounded to the dtype. */
static bool is_near(tsr_dtype dtype, number got, number want)
{
    return ref_is_float(ref_part(dtype)) ? cabsl(got - want) <= any_unit(dtype) * cabsl(want) : got == want;
}

/* Whole numbers that every dtype holds and whose products and sums stay exact in most. */
static void fill_whole(ref_case *c, tsr_tensor *t)
{
    int64_t index[TSR_MAX_NDIM] = { 0 };
    const bool negative = ref_is_float(ref_part(t->dtype)) || ref_is_signed(t->dtype);
    for (int64_t k = tsr_numel(t); k > 0; k--) {
        const wide re = ref_between(c, negative ? -3 : 0, 3);
        set_element(t, index, complex_of(re, ref_is_complex(t->dtype) ? ref_between(c, -3, 3) : 0));
        ref_next(index, t->ndim, t->shape);
    }
}

/* The value of a whole number in an integer dtype, with its low bits kept; floats stay. */
static number wrapped(tsr_dtype dtype, number x)
{
    const tsr_dtype real = ref_part(dtype);
    if (ref_is_float(real)) return x;
    const int unused = 64 - ref_bits(real);
    const uint64_t bits = (uint64_t)(int64_t)creall(x) << unused;
    return ref_is_signed(real) ? (number)((int64_t)bits >> unused) : (number)(bits >> unused);
}

static void trace_case(ref_case *c)
{
    const tsr_dtype dtype = any_number(c);
    const tsr_dtype result = ref_is_float(ref_part(dtype)) ? dtype : ref_is_signed(dtype) ? TSR_I64 : TSR_U64;
    random_matrices(c, 0, dtype, false);
    MUST_GO_ON(c);
    fill_whole(c, c->t[0]);
    const tsr_tensor *a = c->t[0];
    const int64_t offset = ref_once_in(c, 2) ? 0 : ref_between(c, -14, 14);
    random_result(c, 1, result, a, -1, -1);
    MUST(tsr_trace(&c->t[1], a, offset) == TSR_OK);
    MUST(has_shape(c->t[1], result, a, -1, -1));
    for (int64_t b = 0; b < count_of(a, 2); b++) {
        int64_t index[TSR_MAX_NDIM];
        number sum = 0;
        load_matrix(&ma, a, b);
        for (int64_t i = 0; i < ma.m; i++)
            if (i + offset >= 0 && i + offset < ma.n) sum += ma.at[i][i + offset];
        index_of(index, c->t[1], a->ndim - 2, b);
        const number got = element(c->t[1], index);
        MUST(is_near(dtype, got, sum));
    }
}
static void test_trace_sums_any_diagonal_of_any_dtype(void) { ref_cases(16 * 200, trace_case); }

/* Two shapes that broadcast, of up to four dims. */
static void random_shapes(ref_case *c, int *na, int64_t *a, int *nb, int64_t *b, int64_t most)
{
    const int n = (int)ref_between(c, 0, 4);
    int64_t full[4];
    for (int i = 0; i < n; i++) full[i] = ref_once_in(c, 15) ? 0 : ref_between(c, 1, most);
    *na = (int)ref_between(c, n / 2, n);
    *nb = *na == n ? (int)ref_between(c, n / 2, n) : n;
    for (int i = 0; i < *na; i++) a[i] = ref_once_in(c, 4) ? 1 : full[n - *na + i];
    for (int i = 0; i < *nb; i++) b[i] = ref_once_in(c, 4) ? 1 : full[n - *nb + i];
}

static void cross_case(ref_case *c)
{
    const tsr_dtype dtype = any_number(c);
    int na, nb;
    int64_t sa[TSR_MAX_NDIM], sb[TSR_MAX_NDIM];
    random_shapes(c, &na, sa, &nb, sb, 4);
    const int least = na < nb ? na : nb;
    if (least == 0) return;
    const int back = (int)ref_between(c, 1, least), n = na > nb ? na : nb;
    sa[na - back] = sb[nb - back] = 3;
    make_odd(c, 0, dtype, na, sa, na - back);
    make_odd(c, 1, dtype, nb, sb, nb - back);
    MUST_GO_ON(c);
    fill_whole(c, c->t[0]);
    fill_whole(c, c->t[1]);
    MUST(tsr_cross(&c->t[2], c->t[0], c->t[1], ref_once_in(c, 2) ? -back : n - back) == TSR_OK);
    const tsr_tensor *z = c->t[2];
    MUST(z->ndim == n && z->dtype == dtype && z->shape[n - back] == 3);
    int64_t index[TSR_MAX_NDIM] = { 0 };
    for (int64_t k = tsr_numel(z); k > 0; k--) {
        number x[2][3];
        const int64_t at = index[n - back];
        for (int o = 0; o < 2; o++) {
            const tsr_tensor *t = c->t[o];
            int64_t place[TSR_MAX_NDIM];
            for (int i = 0; i < t->ndim; i++) place[i] = t->shape[i] == 1 ? 0 : index[n - t->ndim + i];
            for (int64_t e = 0; e < 3; e++) {
                place[t->ndim - back] = e;
                x[o][e] = element(t, place);
            }
        }
        const number want = x[0][(at + 1) % 3] * x[1][(at + 2) % 3] - x[0][(at + 2) % 3] * x[1][(at + 1) % 3];
        const number got = element(z, index), exact = wrapped(dtype, want);
        MUST(is_near(dtype, got, exact));
        ref_next(index, n, z->shape);
    }
}
static void test_cross_broadcasts_for_any_dtype_and_axis(void) { ref_cases(16 * 200, cross_case); }

static void kron_case(ref_case *c)
{
    const tsr_dtype dtype = any_number(c);
    const int na = (int)ref_between(c, 0, 4), nb = (int)ref_between(c, 0, 4), n = na > nb ? na : nb;
    int64_t sa[TSR_MAX_NDIM], sb[TSR_MAX_NDIM], sz[TSR_MAX_NDIM];
    for (int i = 0; i < na; i++) sa[i] = ref_once_in(c, 15) ? 0 : ref_between(c, 1, 3);
    for (int i = 0; i < nb; i++) sb[i] = ref_once_in(c, 15) ? 0 : ref_between(c, 1, 3);
    for (int i = 0; i < n; i++) sz[i] = (i < n - na ? 1 : sa[i - n + na]) * (i < n - nb ? 1 : sb[i - n + nb]);
    make_odd(c, 0, dtype, na, sa, na);
    make_odd(c, 1, dtype, nb, sb, nb);
    MUST_GO_ON(c);
    fill_whole(c, c->t[0]);
    fill_whole(c, c->t[1]);
    if (ref_once_in(c, 2)) make_odd(c, 2, dtype, n, sz, 0);
    MUST(tsr_kron(&c->t[2], c->t[0], c->t[1]) == TSR_OK);
    const tsr_tensor *z = c->t[2];
    MUST(z->ndim == n && z->dtype == dtype);
    for (int i = 0; i < n; i++) MUST(z->shape[i] == sz[i]);
    int64_t index[TSR_MAX_NDIM] = { 0 };
    for (int64_t k = tsr_numel(z); k > 0; k--) {
        int64_t x[TSR_MAX_NDIM], y[TSR_MAX_NDIM];
        for (int i = 0; i < n; i++) {
            const int64_t inner = i < n - nb ? 1 : sb[i - n + nb];
            if (i >= n - na) x[i - n + na] = index[i] / inner;
            if (i >= n - nb) y[i - n + nb] = index[i] % inner;
        }
        const number want = wrapped(dtype, element(c->t[0], x) * element(c->t[1], y));
        MUST(is_near(dtype, element(z, index), want));
        ref_next(index, n, z->shape);
    }
}
static void test_kron_multiplies_any_ranks(void) { ref_cases(16 * 200, kron_case); }

/* With more dims than can be split: each index of the first ones is a product of its own. */
static void test_kron_of_the_highest_rank(void)
{
    tsr_tensor *a = NULL, *b = NULL, *z = NULL;
    int64_t shape[TSR_MAX_NDIM], index[TSR_MAX_NDIM] = { 0 };
    int64_t wrong = 0;
    for (int i = 0; i < TSR_MAX_NDIM; i++) shape[i] = i % 2 && i < 20 ? 2 : 1;
    for (int i = 0; i < TSR_MAX_NDIM && i < 2; i++) shape[i] = 2;
    EXPECT_OK(tsr_randn(&a, TSR_F64, TSR_MAX_NDIM, shape, 1));
    EXPECT_OK(tsr_randn(&b, TSR_F64, TSR_MAX_NDIM, shape, 2));
    EXPECT_OK(tsr_kron(&z, a, b));
    for (int64_t k = tsr_numel(z); k > 0; k--) {
        int64_t x[TSR_MAX_NDIM], y[TSR_MAX_NDIM];
        for (int i = 0; i < TSR_MAX_NDIM; i++) {
            x[i] = index[i] / shape[i];
            y[i] = index[i] % shape[i];
        }
        wrong += creall(element(z, index)) != (double)creall(element(a, x)) * (double)creall(element(b, y));
        ref_next(index, z->ndim, z->shape);
    }
    EXPECT(tsr_numel(z) > 0 && wrong == 0);
    tsr_release(&a);
    tsr_release(&b);
    tsr_release(&z);
}

static void power_case(ref_case *c)
{
    const tsr_dtype dtype = c->number % 5 == 4 ? TSR_I32 : dtypes[c->number % 5];
    const int64_t n = ref_between(c, dtype == TSR_I32 || !tsri_lapack_get(TSR_F64) ? 0 : -5, 7);
    random_matrices(c, 0, dtype, true);
    MUST_GO_ON(c);
    if (dtype == TSR_I32) fill_whole(c, c->t[0]);
    const tsr_tensor *a = c->t[0];
    if (n < 0) MUST(tsr_inv(&c->t[2], a) == TSR_OK);
    random_result(c, 1, dtype, a, rows_of(a), rows_of(a));
    ref_say(c, "    to the %lld\n", (long long)n);
    MUST(tsr_matrix_power(&c->t[1], a, n) == TSR_OK);
    MUST(has_shape(c->t[1], dtype, a, rows_of(a), rows_of(a)));
    for (int64_t b = 0; b < count_of(a, 2); b++) {
        wide size = 1;
        load_matrix(&ma, n < 0 ? c->t[2] : a, b);
        identity(&mb, ma.n);
        for (int64_t i = 0; i < (n < 0 ? -n : n); i++) {
            product(&mb, &mb, &ma);
            size *= size_of(&ma);
        }
        load_matrix(&mc, c->t[1], b);
        if (dtype != TSR_I32) MUST(distance(&mb, &mc) <= 10 * slack(dtype, &ma) * size);
        else if (size < 0x1p31L) MUST(distance(&mb, &mc) == 0);
    }
}
static void test_matrix_power_multiplies_over_and_over(void) { ref_cases(1000, power_case); }

static void test_transposes_swap_the_last_two_axes(void)
{
    tsr_tensor *a = NULL, *r = NULL, *t = NULL, *h = NULL;
    EXPECT_OK(tsr_randn(&a, TSR_C64, TSR_SHAPE(2, 3, 4), 3));
    EXPECT_OK(tsr_matrix_transpose(&t, a));
    EXPECT_OK(tsr_adjoint(&h, a));
    EXPECT(t->shape[1] == 4 && t->shape[2] == 3 && t->data == a->data && h->data != a->data);
    for (int64_t b = 0; b < 2; b++) {
        load_matrix(&ma, a, b);
        load_matrix(&mb, h, b);
        adjoint(&mc, &ma);
        EXPECT(distance(&mb, &mc) == 0);
    }
    EXPECT_OK(tsr_real(&r, a));
    EXPECT_OK(tsr_adjoint(&h, r));
    EXPECT(h->data == r->data && h->shape[2] == 3);
    EXPECT_OK(tsr_adjoint(&a, a));
    EXPECT(a->shape[1] == 4 && a->shape[2] == 3);
    EXPECT_OK(tsr_matrix_transpose(&a, a));
    EXPECT(a->shape[1] == 3 && a->shape[2] == 4);
    tsr_release(&a);
    tsr_release(&r);
    tsr_release(&t);
    tsr_release(&h);
}

/* Matrices without an answer ------------------------------------------------------------------ */

static void test_singular_and_indefinite_matrices_are_named(void)
{
    NEEDS_LAPACK();
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
    tsr_release(&z);
    tsr_release(&b);
    EXPECT_OK(tsr_slogdet(&z, &b, a));
    EXPECT(TSR_AT(double, z, 1, 2) == 0 && TSR_AT(double, b, 1, 2) == -INFINITY);
    EXPECT(fabs(TSR_AT(double, z, 0, 1)) == 1);
    tsr_release(&z);
    tsr_release(&b);
    tsr_release(&a);
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

static bool is_nan(number x) { return isnan(creall(x)) || isnan(cimagl(x)); }

/* Of the results of matrix `b` of three, all (or none) are NaN; zeros and ones of triangles aside. */
static bool all_nan(const tsr_tensor *t, int64_t b, bool nan)
{
    const int64_t n = tsr_numel(t) / 3;
    int64_t index[TSR_MAX_NDIM], found = 0, numbers = 0;
    for (int64_t k = 0; k < n; k++) {
        index_of(index, t, t->ndim, b * n + k);
        const number x = element(t, index);
        if (is_nan(x)) found++;
        else if (x != 0 && x != 1) numbers++;
    }
    return nan ? found > 0 && numbers == 0 : found == 0;
}

static void test_nan_and_infinity_stay_in_their_matrix(void)
{
    static const double bad[] = { NAN, INFINITY, -INFINITY };
    NEEDS_LAPACK();
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
        tsr_release(&a);
        tsr_release(&b);
    }
}

/* NaN on the right-hand side reaches its own column only. */
static void test_nan_in_b_stays_in_its_column(void)
{
    NEEDS_LAPACK();
    tsr_tensor *a = NULL, *b = NULL, *x = NULL;
    EXPECT_OK(tsr_randn(&a, TSR_F64, TSR_SHAPE(4, 4), 5));
    EXPECT_OK(tsr_randn(&b, TSR_F64, TSR_SHAPE(4, 3), 6));
    TSR_AT(double, b, 0, 1) = NAN;
    EXPECT_OK(tsr_solve(&x, a, b));
    for (int64_t i = 0; i < 4; i++)
        EXPECT(isfinite(TSR_AT(double, x, i, 0)) && isfinite(TSR_AT(double, x, i, 2)));
    tsr_release(&a);
    tsr_release(&b);
    tsr_release(&x);
}

static void test_huge_and_tiny_numbers_are_decomposed(void)
{
    static const double sizes[] = { 1e-300, 1e300, 4.9e-324, 1.7e308 };
    NEEDS_LAPACK();
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

/* As NumPy has it, and with no LAPACK. */
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
    EXPECT_OK(tsr_matrix_norm(&z[0], a, TSR_ORD_TWO, false));
    EXPECT(TSR_AT(double, z[0], 1) == 0);
    tsr_release(&z[0]);
    tsr_release(&a);
    EXPECT_OK(tsr_zeros(&a, TSR_F64, TSR_SHAPE(0, 4, 4)));  /* no matrices */
    tsr_release(&b);
    EXPECT_OK(tsr_zeros(&b, TSR_F64, TSR_SHAPE(4)));
    for (int which = 0; which < CALLS; which++) {
        EXPECT_OK(call(which, z, a, b));
        EXPECT(tsr_numel(z[0]) == 0 && z[0]->shape[0] == 0);
        for (int r = 0; r < 3; r++) tsr_release(&z[r]);
    }
    tsr_release(&a);
    tsr_release(&b);
}

static void test_matrices_without_elements_have_answers(void) { empty_matrices(); }

/* Without LAPACK ------------------------------------------------------------------------------ */

/* In a process of its own that has TSR_LAPACK set to `value`: does every function say what it lacks? */
static void expect_none_found(const char *value)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        tsr_tensor *a = NULL, *b = NULL, *z[3] = { NULL };
        test_state.failures = 0;
        setenv("TSR_LAPACK", value, 1);
        EXPECT_OK(tsr_eye(&a, TSR_F64, 4, 4, 0));
        EXPECT_OK(tsr_ones(&b, TSR_F64, TSR_SHAPE(4)));
        for (int which = 0; which < CALLS; which++) {
            EXPECT_FAILS(call(which, z, a, b), TSR_EUNSUPPORTED,
                         "needs LAPACK, and none was found; install libopenblas0");
            EXPECT(!z[0] && !z[1] && !z[2]);
        }
        EXPECT_FAILS(tsr_cholesky(&z[0], a, false), TSR_EUNSUPPORTED,
                     "cholesky: needs LAPACK, and none was found; install libopenblas0 (Debian: apt-get "
                     "install libopenblas0) or set TSR_LAPACK to its absolute path");
        EXPECT_OK(tsr_matrix_power(&z[0], a, 3));
        empty_matrices();
        fflush(stdout);
        _exit(test_state.failures > 0);
    }
    int status = -1;
    EXPECT(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

/* Must run before anything looks for LAPACK: it is looked for once. */
static void test_without_lapack_each_function_says_what_is_missing(void)
{
    expect_none_found("none");
    expect_none_found("/nowhere/liblapack.so");
}

/* Results in odd places ----------------------------------------------------------------------- */

static void expect_close(const tsr_tensor *a, const tsr_tensor *b)
{
    bool close = false;
    EXPECT_OK(tsr_allclose(&close, a, b, NULL, NULL));
    EXPECT(close);
}

/* Each function whose first result fits in a's memory, written over a, gives what it gives elsewhere. */
static void test_results_may_overlap_operands(void)
{
    NEEDS_LAPACK();
    for (int which = 0; which < CALLS; which++) {
        tsr_tensor *a = NULL, *want[3] = { NULL }, *z[3] = { NULL }, *big = NULL, *b = NULL;
        EXPECT_OK(tsr_randn(&big, TSR_C128, TSR_SHAPE(400), 9));
        EXPECT_OK(tsr_randn(&b, TSR_C128, TSR_SHAPE(2, 4, 4), 10));
        EXPECT_OK(tsr_as_strided(&a, big, TSR_SHAPE(2, 4, 4), (const int64_t[]){ 1, 9, 3 }, 40));
        for (int64_t m = 0; m < 2; m++)
            for (int64_t d = 0; d < 4; d++) TSR_AT(tsr_c128, a, m, d, d) = (tsr_c128){ 9, 0 };
        EXPECT_OK(call(which, want, a, b));
        for (int r = 0; r < 3 && want[r]; r++) {  /* the result over a, the others elsewhere */
            tsr_tensor *copy = NULL, *over = NULL, *saved = NULL;
            if (want[r]->dtype != TSR_C128) continue;
            EXPECT_OK(tsr_clone(&saved, big));
            EXPECT_OK(tsr_as_strided(&over, big, want[r]->ndim, want[r]->shape, want[r]->stride, 38));
            z[r] = over;
            EXPECT_OK(call(which, z, a, b));
            for (int k = 0; k < 3 && z[k]; k++) expect_close(z[k], want[k]);
            EXPECT_OK(tsr_copy(big, saved));
            for (int k = 0; k < 3; k++) tsr_release(&z[k]);
            tsr_release(&copy);
            tsr_release(&saved);
        }
        for (int r = 0; r < 3; r++) tsr_release(&want[r]);
        tsr_release(&a);
        tsr_release(&b);
        tsr_release(&big);
    }
}

static void test_in_place_results_are_right(void)
{
    NEEDS_LAPACK();
    tsr_tensor *a = NULL, *b = NULL, *want = NULL;
    EXPECT_OK(tsr_randn(&a, TSR_F32, TSR_SHAPE(5, 5), 1));
    EXPECT_OK(tsr_randn(&b, TSR_F32, TSR_SHAPE(5, 5), 2));
    EXPECT_OK(tsr_solve(&want, a, b));
    EXPECT_OK(tsr_solve(&b, a, b));
    expect_close(b, want);
    tsr_release(&want);
    EXPECT_OK(tsr_inv(&want, a));
    EXPECT_OK(tsr_inv(&a, a));
    expect_close(a, want);
    tsr_release(&want);
    EXPECT_OK(tsr_matrix_power(&want, a, 3));
    EXPECT_OK(tsr_matrix_power(&a, a, 3));
    expect_close(a, want);
    tsr_release(&want);
    EXPECT_OK(tsr_pinv(&want, a, -1));
    EXPECT_OK(tsr_pinv(&a, a, -1));
    expect_close(a, want);
    tsr_release(&want);
    tsr_release(&a);
    tsr_release(&b);
    EXPECT_OK(tsr_randn(&a, TSR_F64, TSR_SHAPE(4, 3), 3));
    EXPECT_OK(tsr_randn(&b, TSR_F64, TSR_SHAPE(3), 4));
    EXPECT_OK(tsr_cross(&want, a, b, -1));
    EXPECT_OK(tsr_cross(&a, a, b, -1));
    expect_close(a, want);
    tsr_release(&want);
    tsr_release(&b);
    EXPECT_OK(tsr_full(&b, TSR_F64, TSR_SHAPE(1, 1), TSR_SCALAR(3.0)));
    EXPECT_OK(tsr_kron(&want, b, a));
    EXPECT_OK(tsr_kron(&a, b, a));
    expect_close(a, want);
    tsr_release(&want);
    tsr_release(&a);
    tsr_release(&b);
}

/* Described and placed results are filled, and are as they were after a failure. */
static void test_described_and_placed_results_are_filled(void)
{
    NEEDS_LAPACK();
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
    tsr_release(&p);
    tsr_release(&z);
    tsr_release(&zero);
    tsr_release(&a);
}

static void test_thread_counts_give_the_same_bits(void)
{
    NEEDS_LAPACK();
    tsr_tensor *a = NULL, *b = NULL;
    EXPECT_OK(tsr_randn(&a, TSR_F64, TSR_SHAPE(3, 60, 60), 4));
    EXPECT_OK(tsr_randn(&b, TSR_F64, TSR_SHAPE(60), 5));
    for (int64_t m = 0; m < 3; m++)
        for (int64_t i = 0; i < 60; i++) TSR_AT(double, a, m, i, i) += 100;
    for (int which = 0; which < CALLS; which++) {
        tsr_tensor *one[3] = { NULL }, *four[3] = { NULL };
        EXPECT_OK(tsr_set_threads(1));
        EXPECT_OK(call(which, one, a, b));
        EXPECT_OK(tsr_set_threads(4));
        EXPECT_OK(call(which, four, a, b));
        for (int r = 0; r < 3 && one[r]; r++) {
            bool same = false;
            EXPECT_OK(tsr_equal(&same, one[r], four[r]));
            EXPECT_MSG(same, "%s", call_names[which]);
        }
        for (int r = 0; r < 3; r++) {
            tsr_release(&one[r]);
            tsr_release(&four[r]);
        }
    }
    EXPECT_OK(tsr_set_threads(0));
    tsr_release(&a);
    tsr_release(&b);
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
        EXPECT_FAILS(call(which, z, half, a), TSR_EDTYPE, part);
        EXPECT_FAILS(call(which, z, whole, a), TSR_EDTYPE, "tsr_cast converts");
        EXPECT_FAILS(call(which, z, small, a), TSR_EDTYPE, part);
        if (square) EXPECT_FAILS(call(which, z, odd, a), TSR_ESHAPE, "not square");
        z[0] = flag;  /* no result is bool */
        EXPECT_STATUS(call(which, z, a, a), TSR_EDTYPE);
        EXPECT(z[0] == flag);
        z[0] = NULL;
        for (int r = 1; r < 3; r++) EXPECT(z[r] == NULL);
    }
    EXPECT_FAILS(tsr_det(NULL, a), TSR_ENULL, "det: out");
    EXPECT_FAILS(tsr_slogdet(NULL, &z[1], a), TSR_ENULL, "slogdet: sign");
    EXPECT_FAILS(tsr_slogdet(&z[0], NULL, a), TSR_ENULL, "slogdet: logabsdet");
    EXPECT_FAILS(tsr_slogdet(&z[0], &z[0], a), TSR_EINVAL, "slogdet: sign and logabsdet are one handle");
    EXPECT_FAILS(tsr_inv(NULL, a), TSR_ENULL, "inv: out");
    EXPECT_FAILS(tsr_solve(NULL, a, a), TSR_ENULL, "solve: x");
    EXPECT_FAILS(tsr_solve(&z[0], a, NULL), TSR_ENULL, "solve: b");
    EXPECT_FAILS(tsr_solve(&z[0], a, v), TSR_ESHAPE, "solve: a is f32(2, 2 | 2, 1) and b is f32(3, 1");
    EXPECT_FAILS(tsr_solve(&z[0], a, half), TSR_EDTYPE, "solve: b");
    EXPECT_FAILS(tsr_lstsq(NULL, a, a, -1), TSR_ENULL, "lstsq: x");
    EXPECT_FAILS(tsr_lstsq(&z[0], a, NULL, -1), TSR_ENULL, "lstsq: b");
    EXPECT_FAILS(tsr_lstsq(&z[0], a, v, -1), TSR_ESHAPE, "lstsq: a is f32(2, 2");
    EXPECT_FAILS(tsr_lstsq(&z[0], a, half, -1), TSR_EDTYPE, "lstsq: b");
    EXPECT_FAILS(tsr_lstsq(&z[0], a, a, NAN), TSR_EINVAL, "lstsq: rtol is nan");
    EXPECT_FAILS(tsr_pinv(NULL, a, -1), TSR_ENULL, "pinv: out");
    EXPECT_FAILS(tsr_pinv(&z[0], a, INFINITY), TSR_EINVAL, "pinv: rtol is inf");
    EXPECT_FAILS(tsr_matrix_rank(NULL, a, -1), TSR_ENULL, "matrix_rank: out");
    EXPECT_FAILS(tsr_matrix_rank(&z[0], a, NAN), TSR_EINVAL, "matrix_rank: rtol");
    EXPECT_FAILS(tsr_cholesky(NULL, a, false), TSR_ENULL, "cholesky: out");
    EXPECT_FAILS(tsr_lu(&z[0], &z[1], NULL, a), TSR_ENULL, "lu: u");
    EXPECT_FAILS(tsr_lu(&z[0], &z[1], &z[0], a), TSR_EINVAL, "lu: p and u are one handle");
    EXPECT_FAILS(tsr_qr(&z[0], NULL, a, false), TSR_ENULL, "qr: r");
    EXPECT_FAILS(tsr_qr(&z[0], &z[0], a, false), TSR_EINVAL, "qr: q and r are one handle");
    EXPECT_FAILS(tsr_svd(NULL, &z[1], &z[2], a, false), TSR_ENULL, "svd: u");
    EXPECT_FAILS(tsr_svd(&z[0], NULL, &z[2], a, false), TSR_ENULL, "svd: s");
    EXPECT_FAILS(tsr_svd(&z[0], &z[1], NULL, a, false), TSR_ENULL, "svd: vh");
    EXPECT_FAILS(tsr_svdvals(NULL, a), TSR_ENULL, "svdvals: s");
    EXPECT_FAILS(tsr_eigh(NULL, &z[1], a), TSR_ENULL, "eigh: w");
    EXPECT_FAILS(tsr_eigh(&z[0], NULL, a), TSR_ENULL, "eigh: v");
    EXPECT_FAILS(tsr_eigvalsh(NULL, a), TSR_ENULL, "eigvalsh: w");
    EXPECT_FAILS(tsr_eig(NULL, &z[1], a), TSR_ENULL, "eig: w");
    EXPECT_FAILS(tsr_eig(&z[0], NULL, a), TSR_ENULL, "eig: v");
    EXPECT_FAILS(tsr_eigvals(NULL, a), TSR_ENULL, "eigvals: w");
    EXPECT_FAILS(tsr_matrix_power(NULL, a, 2), TSR_ENULL, "matrix_power: out");
    EXPECT_FAILS(tsr_matrix_power(&z[0], NULL, 2), TSR_ENULL, "matrix_power: a");
    EXPECT_FAILS(tsr_matrix_power(&z[0], odd, 2), TSR_ESHAPE, "matrix_power: a is f32(2, 3");
    EXPECT_FAILS(tsr_matrix_power(&z[0], whole, -1), TSR_EDTYPE, "matrix_power: a is i32");
    EXPECT_FAILS(tsr_matrix_power(&z[0], flag, 1), TSR_EDTYPE, "matrix_power: a is bool");
    EXPECT_FAILS(tsr_matrix_transpose(NULL, a), TSR_ENULL, "matrix_transpose: out");
    EXPECT_FAILS(tsr_matrix_transpose(&z[0], NULL), TSR_ENULL, "matrix_transpose: a");
    EXPECT_FAILS(tsr_matrix_transpose(&z[0], v), TSR_ESHAPE, "matrix_transpose: a is f32(3");
    EXPECT_FAILS(tsr_adjoint(NULL, a), TSR_ENULL, "adjoint: out");
    EXPECT_FAILS(tsr_adjoint(&z[0], NULL), TSR_ENULL, "adjoint: a");
    EXPECT_FAILS(tsr_adjoint(&z[0], v), TSR_ESHAPE, "adjoint: a");
    EXPECT_FAILS(tsr_adjoint(&z[0], small), TSR_EDTYPE, "adjoint: a is c32");
    EXPECT_FAILS(tsr_vector_norm(NULL, a, 0, NULL, false, 2), TSR_ENULL, "vector_norm: out");
    EXPECT_FAILS(tsr_vector_norm(&z[0], NULL, 0, NULL, false, 2), TSR_ENULL, "vector_norm: x");
    EXPECT_FAILS(tsr_vector_norm(&z[0], a, 1, NULL, false, 2), TSR_ENULL, "vector_norm: axes");
    EXPECT_FAILS(tsr_vector_norm(&z[0], whole, 0, NULL, false, 2), TSR_EDTYPE, "vector_norm: x is i32");
    EXPECT_FAILS(tsr_vector_norm(&z[0], a, 0, NULL, false, NAN), TSR_EINVAL, "vector_norm: p is NaN");
    EXPECT_FAILS(tsr_matrix_norm(NULL, a, TSR_ORD_FRO, false), TSR_ENULL, "matrix_norm: out");
    EXPECT_FAILS(tsr_matrix_norm(&z[0], NULL, TSR_ORD_FRO, false), TSR_ENULL, "matrix_norm: a");
    EXPECT_FAILS(tsr_matrix_norm(&z[0], v, TSR_ORD_FRO, false), TSR_ESHAPE, "matrix_norm: a");
    EXPECT_FAILS(tsr_matrix_norm(&z[0], whole, TSR_ORD_ONE, false), TSR_EDTYPE, "matrix_norm: a is i32");
    EXPECT_FAILS(tsr_matrix_norm(&z[0], half, TSR_ORD_TWO, false), TSR_EDTYPE, "matrix_norm: a is f16");
    EXPECT_FAILS(tsr_matrix_norm(&z[0], a, (tsr_matrix_ord)8, false), TSR_EINVAL,
                 "matrix_norm: there is no norm 8");
    EXPECT_FAILS(tsr_trace(NULL, a, 0), TSR_ENULL, "trace: out");
    EXPECT_FAILS(tsr_trace(&z[0], NULL, 0), TSR_ENULL, "trace: a");
    EXPECT_FAILS(tsr_trace(&z[0], v, 0), TSR_ESHAPE, "trace: a");
    EXPECT_FAILS(tsr_trace(&z[0], flag, 0), TSR_EDTYPE, "trace: a is bool");
    EXPECT_FAILS(tsr_trace(&v, a, 0), TSR_ESHAPE, "trace: the result is f32(");
    EXPECT_FAILS(tsr_cross(NULL, v, v, 0), TSR_ENULL, "cross: out");
    EXPECT_FAILS(tsr_cross(&z[0], NULL, v, 0), TSR_ENULL, "cross: a");
    EXPECT_FAILS(tsr_cross(&z[0], v, NULL, 0), TSR_ENULL, "cross: b");
    EXPECT_FAILS(tsr_cross(&z[0], v, v, 1), TSR_EINDEX, "cross: axis 1");
    EXPECT_OK(tsr_matrix_transpose(&odd, odd));
    EXPECT_FAILS(tsr_cross(&z[0], odd, v, 0), TSR_EINDEX, "cross: b is f32(3");
    EXPECT_FAILS(tsr_cross(&z[0], a, a, 0), TSR_ESHAPE, "2 elements along axis 0, not 3");
    EXPECT_FAILS(tsr_cross(&z[0], flag, flag, 0), TSR_ESHAPE, "cross: a is bool");
    EXPECT_FAILS(tsr_cross(&z[0], v, TSR_NUMBER(2), 0), TSR_EINDEX, "cross: b");
    EXPECT_FAILS(tsr_kron(NULL, v, v), TSR_ENULL, "kron: out");
    EXPECT_FAILS(tsr_kron(&z[0], NULL, v), TSR_ENULL, "kron: a");
    EXPECT_FAILS(tsr_kron(&z[0], v, NULL), TSR_ENULL, "kron: b");
    EXPECT_FAILS(tsr_kron(&z[0], flag, flag), TSR_EDTYPE, "kron");
    EXPECT_FAILS(tsr_kron(&z[0], a, whole), TSR_EDTYPE, "kron: f32 and i32");
    EXPECT(z[0] == NULL && z[1] == NULL && z[2] == NULL);
    tsr_release(&a);
    tsr_release(&v);
    tsr_release(&odd);
    tsr_release(&half);
    tsr_release(&whole);
    tsr_release(&flag);
    tsr_release(&small);
}

static void test_results_that_overlap_each_other_are_refused(void)
{
    tsr_tensor *a = NULL, *q = NULL, *r = NULL;
    EXPECT_OK(tsr_eye(&a, TSR_F64, 3, 3, 0));
    EXPECT_OK(tsr_zeros(&q, TSR_F64, TSR_SHAPE(3, 3)));
    EXPECT_OK(tsr_matrix_transpose(&r, q));
    EXPECT_FAILS(tsr_qr(&q, &r, a, false), TSR_EOVERLAP,
                 "qr: q, f64(3, 3 | 3, 1), and r, f64(3, 3 | 1, 3), overlap");
    tsr_release(&a);
    tsr_release(&q);
    tsr_release(&r);
}

/* Sizes are looked at before memory is. */
static void test_matrices_beyond_32_bits_are_refused(void)
{
    NEEDS_LAPACK();
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
    tsr_release(&one);
    tsr_release(&a);
}

static void test_infer_tells_what_factors_will_be(void)
{
    tsr_desc a, b, z[4];
    const tsr_factor_params full = { .full = true }, reduced = { .full = false };
    EXPECT_OK(tsr_desc_init(&a, TSR_C64, 3, (const int64_t[]){ 2, 5, 3 }, NULL));
    EXPECT_OK(tsr_infer(z, TSR_OP_SVD, 1, (const tsr_desc *[]){ &a }, &full));
    EXPECT(z[0].dtype == TSR_F32 && z[0].ndim == 2 && z[0].shape[1] == 3);
    EXPECT(z[1].dtype == TSR_C64 && z[1].shape[1] == 5 && z[1].shape[2] == 5 && z[2].shape[1] == 3 &&
           z[2].shape[2] == 3);
    EXPECT_OK(tsr_infer(z, TSR_OP_QR, 1, (const tsr_desc *[]){ &a }, &reduced));
    EXPECT(z[0].shape[1] == 5 && z[0].shape[2] == 3 && z[1].shape[1] == 3 && z[1].shape[2] == 3);
    EXPECT_OK(tsr_infer(z, TSR_OP_LU, 1, (const tsr_desc *[]){ &a }, NULL));
    EXPECT(z[0].shape[1] == 5 && z[0].shape[2] == 3 && z[1].dtype == TSR_I64 && z[1].shape[1] == 3);
    EXPECT_STATUS(tsr_infer(z, TSR_OP_EIG, 1, (const tsr_desc *[]){ &a }, NULL), TSR_ESHAPE);
    EXPECT_OK(tsr_desc_init(&a, TSR_F64, 2, (const int64_t[]){ 4, 4 }, NULL));
    EXPECT_OK(tsr_desc_init(&b, TSR_F64, 2, (const int64_t[]){ 4, 7 }, NULL));
    EXPECT_OK(tsr_infer(z, TSR_OP_EIG, 1, (const tsr_desc *[]){ &a }, NULL));
    EXPECT(z[0].dtype == TSR_C128 && z[0].ndim == 1 && z[1].dtype == TSR_C128 && z[1].ndim == 2);
    EXPECT_OK(tsr_infer(z, TSR_OP_EIGH, 1, (const tsr_desc *[]){ &a }, NULL));
    EXPECT(z[0].dtype == TSR_F64 && z[1].dtype == TSR_F64);
    EXPECT_OK(tsr_infer(z, TSR_OP_SOLVE, 2, (const tsr_desc *[]){ &a, &b }, NULL));
    EXPECT(z[0].dtype == TSR_F64 && z[0].shape[0] == 4 && z[0].shape[1] == 7);
    tsr_cost cost;
    EXPECT_OK(tsr_op_cost(&cost, TSR_OP_INV, 1, (const tsr_desc *[]){ &a }, NULL));
    EXPECT(cost.flops == 2 * 64 && cost.bytes == 2 * 128);
}

/* Memory -------------------------------------------------------------------------------------- */

static int allowed;

static bool allow_some(void *context, size_t bytes)
{
    (void)context;
    (void)bytes;
    return allowed-- > 0;
}

/* The functions that do not factorise, after those that do. */
static tsr_status any_call(int which, tsr_tensor **t, const tsr_tensor *a, const tsr_tensor *b)
{
    switch (which - CALLS) {
    case 0:  return tsr_matrix_transpose(&t[0], a);
    case 1:  return tsr_adjoint(&t[0], a);
    case 2:  return tsr_vector_norm(&t[0], a, 0, NULL, false, 2);
    case 3:  return tsr_matrix_norm(&t[0], a, TSR_ORD_ONE, false);
    case 4:  return tsr_matrix_norm(&t[0], a, TSR_ORD_NUC, true);
    case 5:  return tsr_trace(&t[0], a, 1);
    case 6:  return tsr_cross(&t[0], a, a, -1);
    case 7:  return tsr_kron(&t[0], a, b);
    case 8:  return tsr_matrix_power(&t[0], a, 5);
    case 9:  return tsr_matrix_power(&t[0], a, -3);
    case 10: return tsr_matrix_power(&t[0], a, 0);
    default: return call(which, t, a, b);
    }
}

/* With every number of allocations that is too small, a call fails and leaves nothing behind. */
static void expect_survives(int which, const tsr_tensor *a, const tsr_tensor *b)
{
    for (int n = 0; n < 200; n++) {
        tsr_tensor *z[3] = { NULL };
        allowed = n;
        tsr_set_alloc_hook(allow_some, NULL);
        const tsr_status s = any_call(which, z, a, b);
        tsr_set_alloc_hook(NULL, NULL);
        EXPECT_MSG(s == TSR_OK || s == TSR_ENOMEM, "call %d: %s", which, tsr_last_error());
        EXPECT(s == TSR_OK ? z[0] != NULL : !z[0] && !z[1] && !z[2]);
        for (int r = 0; r < 3; r++) tsr_release(&z[r]);
        if (s == TSR_OK) return;
    }
    EXPECT(!"it ends");
}

static void test_running_out_of_memory_leaves_nothing_behind(void)
{
    NEEDS_LAPACK();
    for (int d = 0; d < 4; d++) {
        tsr_tensor *a = NULL, *b = NULL, *eye = NULL;
        EXPECT_OK(tsr_eye(&eye, dtypes[d], 3, 3, 0));
        EXPECT_OK(tsr_expand(&a, eye, TSR_SHAPE(20, 3, 3)));
        EXPECT_OK(tsr_ones(&b, d == 1 ? TSR_F32 : dtypes[d], TSR_SHAPE(3)));  /* f64 with f32: one is cast */
        for (int which = 0; which < CALLS + 11; which++) expect_survives(which, a, b);
        tsr_release(&a);
        tsr_release(&b);
        tsr_release(&eye);
    }
}

/* Results that were given stay, and an operand under one is copied. */
static void test_running_out_of_memory_in_place_changes_no_handle(void)
{
    NEEDS_LAPACK();
    for (int n = 0;; n++) {
        tsr_tensor *a = NULL;
        EXPECT_OK(tsr_eye(&a, TSR_F64, 3, 3, 0));
        const void *data = a->data;
        allowed = n;
        tsr_set_alloc_hook(allow_some, NULL);
        const tsr_status s = tsr_inv(&a, a);
        tsr_set_alloc_hook(NULL, NULL);
        EXPECT(a && a->data == data && (s == TSR_OK || s == TSR_ENOMEM));
        tsr_release(&a);
        if (s == TSR_OK || n > 50) break;
    }
}

static void test_without_libraries_of_others_there_are_no_factors_and_words_say_so(void)
{
    NEEDS_LAPACK();
    tsr_tensor *a = NULL, *z = NULL;
    const bool before = tsr_get_external();
    EXPECT_OK(tsr_eye(&a, TSR_F64, 2, 2, 0));
    tsr_set_external(false);
    EXPECT(!tsr_get_external());
    EXPECT_FAILS(tsr_inv(&z, a), TSR_EUNSUPPORTED, "inv: needs LAPACK, and libraries of others are not used here");
    EXPECT(z == NULL);
    tsr_set_external(true);
    EXPECT_OK(tsr_inv(&z, a));
    tsr_set_external(before);
    tsr_release(&a); tsr_release(&z);
}

int main(int argc, char **argv)
{
    ref_begin(argc, argv);
    RUN(test_without_lapack_each_function_says_what_is_missing);
    RUN(test_matrices_without_elements_have_answers);
    RUN(test_bad_arguments_are_refused_in_words);
    RUN(test_results_that_overlap_each_other_are_refused);
    RUN(test_transposes_swap_the_last_two_axes);
    RUN(test_vector_norm_is_norm);
    RUN(test_matrix_norm_matches_its_definition);
    RUN(test_trace_sums_any_diagonal_of_any_dtype);
    RUN(test_cross_broadcasts_for_any_dtype_and_axis);
    RUN(test_kron_multiplies_any_ranks);
    RUN(test_kron_of_the_highest_rank);
    RUN(test_matrix_power_multiplies_over_and_over);
    RUN(test_infer_tells_what_factors_will_be);
    RUN(test_lu_gives_triangles_of_swapped_rows);
    RUN(test_inv_is_inverse_for_all_dtypes_and_strides);
    RUN(test_solve_solves_for_vectors_matrices_and_batches);
    RUN(test_cholesky_reads_and_writes_one_triangle);
    RUN(test_qr_gives_orthonormal_columns_and_a_triangle);
    RUN(test_svd_puts_matrices_together_again);
    RUN(test_eigh_gives_real_values_and_orthonormal_vectors);
    RUN(test_eig_gives_complex_values_and_vectors);
    RUN(test_det_and_slogdet_match_elimination);
    RUN(test_the_determinant_of_a_product_is_the_product);
    RUN(test_pinv_and_matrix_rank_know_the_rank);
    RUN(test_lstsq_is_pinv_times_b);
    RUN(test_singular_and_indefinite_matrices_are_named);
    RUN(test_nan_and_infinity_stay_in_their_matrix);
    RUN(test_nan_in_b_stays_in_its_column);
    RUN(test_huge_and_tiny_numbers_are_decomposed);
    RUN(test_results_may_overlap_operands);
    RUN(test_in_place_results_are_right);
    RUN(test_described_and_placed_results_are_filled);
    RUN(test_thread_counts_give_the_same_bits);
    RUN(test_matrices_beyond_32_bits_are_refused);
    RUN(test_running_out_of_memory_leaves_nothing_behind);
    RUN(test_running_out_of_memory_in_place_changes_no_handle);
    RUN(test_without_libraries_of_others_there_are_no_factors_and_words_say_so);
    return TEST_END();
}
