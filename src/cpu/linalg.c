/* linalg.c - factorisations on the CPU, by LAPACK or routines with its interface. See linalg.h.
 *
 * A matrix that holds NaN or an infinity never reaches them, as their iterations need not
 * end then: its results are NaN.
 */
#include "linalg.h"
#include "core/text.h"
#include "core/mem.h"
#include "cpu_run.h"

/* Memory ------------------------------------------------------------------------------- */

/* Padding elements of a block: some kernels of OpenBLAS (cgemv_n of 0.3.21) read a column and a vector past
 * the last element. */
enum { PADDING = 16 };

static int64_t padding(const tsri_factoring *c) { return PADDING + (c->m > c->n ? c->m : c->n); }

tsr_status tsri_factor_alloc(tsri_factoring *c, void **out, tsr_dtype dtype, int64_t n)
{
    tsr_desc d;
    int64_t elements;
    TSRI_ASSERT(c->nrooms < TSRI_FACTOR_BLOCKS);
    TSRI_CHECK(tsri_add(&elements, n, padding(c)), TSR_EOVERFLOW, "%s: %lld elements are too many", c->op,
               (long long)n);
    TSRI_TRY(tsri_desc_packed(&d, c->op, dtype, 1, &elements));
    TSRI_TRY(tsri_make(&c->room[c->nrooms], c->op, &d, TSR_CPU, TSR_MEMORY_HOST));
    *out = c->room[c->nrooms++]->data;
    return TSR_OK;
}

tsr_status tsri_factor_check_count(const tsri_factoring *c, double n)
{
    TSRI_CHECK(n <= INT32_MAX, TSR_EINVAL,
               "%s: the matrices of %s are too large for LAPACK, which counts in 32 bits", c->op,
               TSRI_DESC(c->a));
    return TSR_OK;
}

tsr_status tsri_factor_work(tsri_factoring *c, void **out, int32_t *lwork, const tsr_c128 *wanted,
                            double least)
{
    float narrow;
    memcpy(&narrow, wanted, sizeof narrow);
    /* A count in f32 may have been rounded down. */
    double n = c->real == TSR_F32 ? (double)narrow * (1 + 0x1p-22) : wanted->re;
    if (!(n >= least)) n = least;
    TSRI_TRY(tsri_factor_check_count(c, n));
    *lwork = n < 1 ? 1 : (int32_t)n;
    return tsri_factor_alloc(c, out, c->dtype, *lwork);
}

/* "f64(4, 4 | 4, 1)", or "matrix (0, 2) of f64(...)" in a batch. */
static void name_matrix(char *out, size_t size, const tsr_desc *a, int64_t number)
{
    int64_t index[TSR_MAX_NDIM];
    tsri_text text = tsri_text_into(out, size);
    for (int i = a->ndim - 3; i >= 0; i--) {
        index[i] = number % a->shape[i];
        number /= a->shape[i];
    }
    if (a->ndim > 2) tsri_put(&text, "matrix %s of ", TSRI_DIMS(a->ndim - 2, index));
    tsri_put(&text, "%s", TSRI_DESC(a));
}

TSRI_COLD tsr_status tsri_factor_fail(const tsri_factoring *c, int64_t number, int32_t info)
{
    char matrix[2 * TSRI_DESC_TEXT];
    name_matrix(matrix, sizeof matrix, c->a, number);
    switch (c->kind) {
    case TSR_OP_SOLVE:
    case TSR_OP_INV:
        return tsri_fail(TSR_EINVAL, "%s: %s is singular: pivot %d of %d is 0", c->op, matrix, (int)info,
                         (int)c->n);
    case TSR_OP_CHOLESKY:
        return tsri_fail(TSR_EINVAL,
                         "%s: %s is not positive definite: its leading minor of order %d is not positive",
                         c->op, matrix, (int)info);
    default:
        return tsri_fail(TSR_EINVAL, "%s: %s: the iteration did not converge (value %d)", c->op, matrix,
                         (int)info);
    }
}

/* Layout -------------------------------------------------------------------------------- */

/* A view of packed matrices or vectors with the dims of d. */
static void view_packed(tsr_tensor *v, void *data, tsr_dtype dtype, const tsr_desc *d, int64_t rows,
                       int64_t cols)
{
    const int inner = cols ? 2 : 1, nd = d->ndim;
    int64_t step = cols ? rows * cols : rows;
    *v = (tsr_tensor){ .data = data, .count = 1, .flags = TSR_FLAG_PLACED, .device = TSR_CPU,
                       .memory = TSR_MEMORY_HOST };
    v->dtype = dtype;
    v->ndim = nd;
    for (int i = 0; i < nd; i++) v->shape[i] = d->shape[i];
    v->stride[nd - inner] = 1;
    if (cols) v->stride[nd - 1] = rows;
    for (int i = nd - inner - 1; i >= 0; i--) {
        v->stride[i] = step;
        step *= d->shape[i];
    }
}

static tsr_status copy(tsr_tensor *dst, const tsr_tensor *src)
{
    const tsr_op op = { .kind = TSR_OP_COPY, .nin = 1, .nout = 1, .in = { src }, .out = { dst } };
    return tsri_cpu_copy(&op);
}

tsr_status tsri_factor_pack(tsri_factoring *c, void **out, const tsr_tensor *a)
{
    tsr_tensor v;
    TSRI_TRY(tsri_factor_alloc(c, out, a->dtype, tsr_numel(a)));
    view_packed(&v, *out, a->dtype, &a->desc, a->shape[a->ndim - 2], a->shape[a->ndim - 1]);
    return copy(&v, a);
}

tsr_status tsri_factor_unpack(tsr_tensor *out, void *data, tsr_dtype dtype, int64_t rows, int64_t cols)
{
    tsr_tensor v;
    view_packed(&v, data, dtype, &out->desc, rows, cols);
    return copy(out, &v);
}

/* Values -------------------------------------------------------------------------------- */

static int64_t parts_of(tsr_dtype dtype) { return tsr_dtype_kind(dtype) == TSR_COMPLEX ? 2 : 1; }

static bool is_finite_f32(const float *x, int64_t n)
{
    bool finite = true;
    for (int64_t i = 0; i < n; i++) finite &= x[i] - x[i] == 0;
    return finite;
}

static bool is_finite_f64(const double *x, int64_t n)
{
    bool finite = true;
    for (int64_t i = 0; i < n; i++) finite &= x[i] - x[i] == 0;
    return finite;
}

bool tsri_factor_is_finite(const tsri_factoring *c, const void *data, int64_t n)
{
    n *= parts_of(c->dtype);
    return c->real == TSR_F32 ? is_finite_f32(data, n) : is_finite_f64(data, n);
}

bool tsri_factor_is_finite_triangle(const tsri_factoring *c, void *a, bool upper)
{
    const int64_t n = c->n;
    for (int64_t j = 0; j < n; j++) {
        const int64_t first = upper ? 0 : j, rows = upper ? j + 1 : n - j;
        if (!tsri_factor_is_finite(c, tsri_factor_at(a, c->dtype, j * n + first), rows)) return false;
    }
    return true;
}

/* The triangle beside the diagonal of a packed matrix becomes 0. */
static void clear_triangle(const tsri_factoring *c, void *a, int64_t rows, int64_t cols, bool upper)
{
    for (int64_t j = 0; j < cols; j++) {
        const int64_t first = upper ? 0 : j + 1, end = upper && j < rows ? j : rows;
        const int64_t bytes = (end - first) * tsri_dtype_size(c->dtype);
        if (bytes > 0) memset(tsri_factor_at(a, c->dtype, j * rows + first), 0, (size_t)bytes);
    }
}

void tsri_factor_fill_nan(void *data, tsr_dtype dtype, int64_t n)
{
    float *narrow = data;
    double *wide = data;
    n *= parts_of(dtype);
    for (int64_t i = 0; i < n; i++) {
        if (tsr_dtype_real(dtype) == TSR_F32) narrow[i] = __builtin_nanf("");
        else wide[i] = __builtin_nan("");
    }
}

/* Triangles ------------------------------------------------------------------------------ */

/* Rows swapped, lower times upper, in place of an m x n matrix. False if it is not
 * finite: it is NaN then, and no rows are swapped. */
static bool factor(const tsri_factoring *c, void *a, int32_t *pivots, int32_t *info)
{
    if (tsri_factor_is_finite(c, a, (int64_t)c->m * c->n)) {
        c->f->getrf(&c->m, &c->n, a, &c->m, pivots, info);
        return true;
    }
    tsri_factor_fill_nan(a, c->dtype, (int64_t)c->m * c->n);
    for (int32_t i = 0; i < c->k; i++) pivots[i] = i + 1;
    return false;
}

static tsr_status lu(tsri_factoring *c, const tsr_op *op)
{
    void *a = NULL, *pivots = NULL;
    const int64_t size = (int64_t)c->m * c->n;
    TSRI_TRY(tsri_factor_pack(c, &a, op->in[0]));
    TSRI_TRY(tsri_factor_alloc(c, &pivots, TSR_I32, c->count * c->k));
    int32_t *pivot = pivots, zero_at = 0;  /* a pivot of 0 is no failure here */
    for (int64_t i = 0; i < c->count; i++)
        (void)factor(c, tsri_factor_at(a, c->dtype, i * size), pivot + i * c->k, &zero_at);
    for (int64_t i = 0; i < c->count * c->k; i++) pivot[i]--;
    TSRI_TRY(tsri_factor_unpack(op->out[0], a, c->dtype, c->m, c->n));
    return tsri_factor_unpack(op->out[1], pivots, TSR_I32, c->k, 0);
}

/* Is it one matrix, repeated by strides of 0? */
static bool is_one_matrix(const tsr_desc *d)
{
    for (int i = 0; i < d->ndim - 2; i++)
        if (d->shape[i] != 1 && d->stride[i] != 0) return false;
    return true;
}

/* The matrices of a, or the one that they all are. */
static tsr_status pack_factors(tsri_factoring *c, void **out, const tsr_tensor *a, bool shared)
{
    tsr_tensor v = *a;
    for (int i = 0; i < a->ndim - 2 && shared; i++) v.shape[i] = 1;
    return tsri_factor_pack(c, out, &v);
}

static tsr_status solve(tsri_factoring *c, const tsr_op *op)
{
    void *a = NULL, *b = NULL, *pivots = NULL;
    const bool shared = is_one_matrix(&op->in[0]->desc);
    const int32_t k = (int32_t)op->in[1]->shape[op->in[1]->ndim - 1];
    const int64_t size = (int64_t)c->n * c->n, sides = (int64_t)c->n * k;
    bool finite = true;
    TSRI_TRY(pack_factors(c, &a, op->in[0], shared));
    TSRI_TRY(tsri_factor_pack(c, &b, op->in[1]));
    TSRI_TRY(tsri_factor_alloc(c, &pivots, TSR_I32, c->n));
    for (int64_t i = 0; i < c->count; i++) {
        void *ai = tsri_factor_at(a, c->dtype, shared ? 0 : i * size);
        void *bi = tsri_factor_at(b, c->dtype, i * sides);
        int32_t info = 0;
        if (i == 0 || !shared) finite = factor(c, ai, pivots, &info);
        if (info != 0) return tsri_factor_fail(c, i, info);
        if (finite) c->f->getrs("N", &c->n, &k, ai, &c->n, pivots, bi, &c->n, &info, 1);
        else tsri_factor_fill_nan(bi, c->dtype, sides);
    }
    return tsri_factor_unpack(op->out[0], b, c->dtype, c->n, k);
}

static tsr_status inv(tsri_factoring *c, const tsr_op *op)
{
    void *a = NULL, *pivots = NULL, *work = NULL;
    const int64_t size = (int64_t)c->n * c->n;
    const int32_t ask = -1;
    int32_t lwork = 0, info = 0;
    tsr_c128 wanted = { 0, 0 };
    TSRI_TRY(tsri_factor_pack(c, &a, op->in[0]));
    TSRI_TRY(tsri_factor_alloc(c, &pivots, TSR_I32, c->n));
    c->f->getri(&c->n, a, &c->n, pivots, &wanted, &ask, &info);
    TSRI_TRY(tsri_factor_work(c, &work, &lwork, &wanted, c->n));
    for (int64_t i = 0; i < c->count; i++) {
        void *ai = tsri_factor_at(a, c->dtype, i * size);
        const bool finite = factor(c, ai, pivots, &info);
        if (finite && info == 0) c->f->getri(&c->n, ai, &c->n, pivots, work, &lwork, &info);
        if (info != 0) return tsri_factor_fail(c, i, info);
    }
    return tsri_factor_unpack(op->out[0], a, c->dtype, c->n, c->n);
}

static tsr_status cholesky(tsri_factoring *c, const tsr_op *op)
{
    void *a = NULL;
    const bool upper = ((const tsr_factor_params *)op->params)->upper;
    const int64_t size = (int64_t)c->n * c->n;
    int32_t info = 0;
    TSRI_TRY(tsri_factor_pack(c, &a, op->in[0]));
    for (int64_t i = 0; i < c->count; i++) {
        void *ai = tsri_factor_at(a, c->dtype, i * size);
        if (tsri_factor_is_finite_triangle(c, ai, upper))
            c->f->potrf(upper ? "U" : "L", &c->n, ai, &c->n, &info, 1);
        else tsri_factor_fill_nan(ai, c->dtype, size);
        if (info != 0) return tsri_factor_fail(c, i, info);
        clear_triangle(c, ai, c->n, c->n, !upper);
    }
    return tsri_factor_unpack(op->out[0], a, c->dtype, c->n, c->n);
}

/* Orthogonal times triangle --------------------------------------------------------------- */

typedef struct reflectors {
    int32_t cols;              /* of q */
    void   *tau, *work;
    int32_t lwork;
} reflectors;

/* Work memory for both steps: the larger of what each asks for. */
static tsr_status open_reflectors(reflectors *r, tsri_factoring *c, void *a)
{
    const int32_t ask = -1;
    int32_t done = 0;
    tsr_c128 one = { 0, 0 }, two = { 0, 0 };
    float a32, b32;
    TSRI_TRY(tsri_factor_alloc(c, &r->tau, c->dtype, c->k));
    c->f->geqrf(&c->m, &c->n, a, &c->m, r->tau, &one, &ask, &done);
    c->f->ungqr(&c->m, &r->cols, &c->k, a, &c->m, r->tau, &two, &ask, &done);
    memcpy(&a32, &one, sizeof a32);
    memcpy(&b32, &two, sizeof b32);
    const bool second = c->real == TSR_F32 ? b32 > a32 : two.re > one.re;
    return tsri_factor_work(c, &r->work, &r->lwork, second ? &two : &one, c->n > r->cols ? c->n : r->cols);
}

/* a becomes r, and q is made of the reflectors that were below it. */
static void factor_qr(const reflectors *r, const tsri_factoring *c, void *a, void *q)
{
    int32_t done = 0;
    const int64_t size = (int64_t)c->m * c->n, copied = (int64_t)c->m * (c->n < r->cols ? c->n : r->cols);
    if (!tsri_factor_is_finite(c, a, size)) {
        tsri_factor_fill_nan(a, c->dtype, size);
        tsri_factor_fill_nan(q, c->dtype, (int64_t)c->m * r->cols);
    } else {
        c->f->geqrf(&c->m, &c->n, a, &c->m, r->tau, r->work, &r->lwork, &done);
        memcpy(q, a, (size_t)(copied * tsri_dtype_size(c->dtype)));
        c->f->ungqr(&c->m, &r->cols, &c->k, q, &c->m, r->tau, r->work, &r->lwork, &done);
    }
    clear_triangle(c, a, c->m, c->n, false);
}

static tsr_status qr(tsri_factoring *c, const tsr_op *op)
{
    void *a = NULL, *q = NULL;
    reflectors r = { .cols = (int32_t)op->out[0]->shape[op->out[0]->ndim - 1] };
    const int64_t size = (int64_t)c->m * c->n, size_q = (int64_t)c->m * r.cols;
    TSRI_TRY(tsri_factor_pack(c, &a, op->in[0]));
    TSRI_TRY(tsri_factor_alloc(c, &q, c->dtype, c->count * size_q));
    TSRI_TRY(open_reflectors(&r, c, a));
    for (int64_t i = 0; i < c->count; i++)
        factor_qr(&r, c, tsri_factor_at(a, c->dtype, i * size), tsri_factor_at(q, c->dtype, i * size_q));
    TSRI_TRY(tsri_factor_unpack(op->out[0], q, c->dtype, c->m, r.cols));
    return tsri_factor_unpack(op->out[1], a, c->dtype, c->m, c->n);
}

/* Dispatch -------------------------------------------------------------------------------- */

typedef tsr_status (*factor_fn)(tsri_factoring *c, const tsr_op *op);

static factor_fn function_of(tsr_op_kind kind)
{
    switch (kind) {
    case TSR_OP_LU:       return lu;
    case TSR_OP_SOLVE:    return solve;
    case TSR_OP_INV:      return inv;
    case TSR_OP_CHOLESKY: return cholesky;
    case TSR_OP_QR:       return qr;
    case TSR_OP_SVD:      return tsri_factor_svd;
    case TSR_OP_EIGH:     return tsri_factor_eigh;
    default:              return tsri_factor_eig;
    }
}

static tsr_status fill(tsr_tensor *t, double value)
{
    const tsr_fill_params params = { tsr_scalar_f64(value) };
    return tsri_cpu_fill(&(tsr_op){ .kind = TSR_OP_FILL, .nout = 1, .out = { t }, .params = &params });
}

static bool is_nothing(const tsr_op *op)
{
    for (int i = 0; i < op->nin; i++)
        if (tsr_numel(op->in[i]) == 0) return true;
    return false;
}

/* Empty matrices. A result that has elements all the same is orthogonal: the identity will do. */
static tsr_status factor_nothing(const tsr_op *op)
{
    for (int i = 0; i < op->nout; i++) {
        tsr_tensor diagonal = *op->out[i];
        int64_t offset = 0;
        if (tsr_numel(op->out[i]) == 0) continue;
        TSRI_TRY(fill(op->out[i], 0));
        TSRI_TRY(tsri_desc_diagonal(&diagonal.desc, &offset, &op->out[i]->desc, 0, -2, -1));
        TSRI_TRY(fill(&diagonal, 1));
    }
    return TSR_OK;
}

static tsr_status open_factoring(tsri_factoring *c, const tsr_op *op)
{
    const tsr_desc *a = c->a;
    const int64_t m = a->shape[a->ndim - 2], n = a->shape[a->ndim - 1];
    TSRI_CHECK(c->f, TSR_EUNSUPPORTED, "%s: a build for microcontrollers has no factorisations", c->op);
    for (int i = 0; i < op->nin; i++) {
        const tsr_tensor *t = op->in[i];
        TSRI_TRY(tsri_factor_check_count(c, (double)tsri_max(t->shape[t->ndim - 2], t->shape[t->ndim - 1])));
    }
    c->count = tsr_desc_numel(a) / (m * n);
    c->m = (int32_t)m;
    c->n = (int32_t)n;
    c->k = c->m < c->n ? c->m : c->n;
    return TSR_OK;
}

tsr_status tsri_cpu_factor(const tsr_op *op)
{
    const tsr_tensor *a = op->in[0];
    if (is_nothing(op)) return factor_nothing(op);
    tsri_factoring c = { .kind = op->kind, .op = tsr_op_get_info(op->kind)->name, .a = &a->desc,
                         .f = tsri_lapack_get(a->dtype), .dtype = a->dtype };
    c.real = tsr_dtype_real(a->dtype);
    tsr_status s = open_factoring(&c, op);
    if (s == TSR_OK) s = function_of(op->kind)(&c, op);
    while (c.nrooms > 0) tsr_release(&c.room[--c.nrooms]);
    return s;
}
