/* linalg.c - factorisations of matrices: checked here, done by a backend. */
#include "linalg_int.h"
#include "tessera/move.h"
#include "tessera/ops/linalg.h"

/* Checks --------------------------------------------------------------------------------- */

tsr_status tsri_check_matrix(const char *op, const char *what, const tsr_tensor *a)
{
    TSRI_TRY(tsri_check_allocated(op, what, a));
    TSRI_CHECK(a->ndim >= 2, TSR_ESHAPE, "%s: %s is %s, which has %d dims; matrices have two", op, what,
               TSRI_DESC(&a->desc), (int)a->ndim);
    return TSR_OK;
}

static tsr_status check_dtype(const char *op, const char *what, const tsr_tensor *a)
{
    const tsr_dtype d = a->dtype;
    TSRI_CHECK(d == TSR_F32 || d == TSR_F64 || d == TSR_C64 || d == TSR_C128, TSR_EDTYPE,
               "%s: %s is %s; it takes f32, f64, c64 and c128 (tsr_cast converts)", op, what,
               TSRI_DESC(&a->desc));
    return TSR_OK;
}

tsr_status tsri_check_factorable(const char *op, const char *what, const tsr_tensor *a)
{
    TSRI_TRY(tsri_check_matrix(op, what, a));
    return check_dtype(op, what, a);
}

tsr_status tsri_check_square(const char *op, const char *what, const tsr_tensor *a)
{
    TSRI_CHECK(tsri_row_count(a) == tsri_col_count(a), TSR_ESHAPE,
               "%s: %s is %s, whose matrices are not square", op, what, TSRI_DESC(&a->desc));
    return TSR_OK;
}

tsr_status tsri_check_numeric(const char *op, const char *what, const tsr_tensor *t)
{
    TSRI_CHECK(tsr_dtype_kind(t->dtype) != TSR_BOOLEAN && t->dtype != TSR_C32, TSR_EDTYPE,
               "%s: %s is %s; it takes numbers, and c32 only stores (tsr_cast converts)", op, what,
               TSRI_DESC(&t->desc));
    return TSR_OK;
}

tsr_status tsri_check_handles(const char *op, int n, tsr_tensor **const *outs, const char *const *names)
{
    for (int i = 0; i < n; i++) {
        TSRI_CHECK(outs[i], TSR_ENULL, "%s: %s is NULL", op, names[i]);
        for (int j = 0; j < i; j++) {
            TSRI_CHECK(outs[i] != outs[j], TSR_EINVAL, "%s: %s and %s are one handle", op, names[j],
                       names[i]);
            TSRI_CHECK(!tsr_may_overlap(*outs[i], *outs[j]), TSR_EOVERLAP, "%s: %s, %s, and %s, %s, overlap",
                       op, names[j], TSRI_DESC(&(*outs[j])->desc), names[i], TSRI_DESC(&(*outs[i])->desc));
        }
    }
    return TSR_OK;
}

/* Shapes --------------------------------------------------------------------------------- */

tsr_status tsri_batch_desc(tsr_desc *out, const char *op, tsr_dtype dtype, const tsr_desc *a, int64_t rows,
                           int64_t cols)
{
    int64_t shape[TSR_MAX_NDIM];
    int ndim = a->ndim - 2;
    for (int i = 0; i < ndim; i++) shape[i] = a->shape[i];
    if (rows >= 0) shape[ndim++] = rows;
    if (cols >= 0) shape[ndim++] = cols;
    return tsri_desc_packed(out, op, dtype, ndim, shape);
}

tsr_status tsri_join_batches(int *n, int64_t *shape, const char *op, const tsr_tensor *a, const tsr_tensor *b)
{
    tsr_desc da = a->desc, db = b->desc;
    da.ndim -= 2;
    db.ndim -= 2;
    TSRI_CHECK(tsri_broadcast_dims(n, shape, 2, (const tsr_desc *const[]){ &da, &db }) == TSR_OK, TSR_ESHAPE,
               "%s: the batches of a, %s, and b, %s, do not broadcast", op, TSRI_DESC(&a->desc),
               TSRI_DESC(&b->desc));
    return TSR_OK;
}

/* The dtype whose parts are of this one. */
static tsr_dtype complex_of(tsr_dtype dtype) { return tsr_dtype_real(dtype) == TSR_F32 ? TSR_C64 : TSR_C128; }

static tsr_status infer_svd(tsr_desc *out, const char *name, const tsr_desc *a, bool full)
{
    const int64_t m = a->shape[a->ndim - 2], n = a->shape[a->ndim - 1], k = tsri_least(m, n);
    TSRI_TRY(tsri_batch_desc(&out[0], name, tsr_dtype_real(a->dtype), a, k, -1));
    TSRI_TRY(tsri_batch_desc(&out[1], name, a->dtype, a, m, full ? m : k));
    return tsri_batch_desc(&out[2], name, a->dtype, a, full ? n : k, n);
}

/* Square matrices: values, and vectors as columns. */
static tsr_status infer_eigen(tsr_desc *out, const char *name, const tsr_desc *a, tsr_dtype values,
                              tsr_dtype vectors)
{
    const int64_t n = a->shape[a->ndim - 1];
    TSRI_TRY(tsri_batch_desc(&out[0], name, values, a, n, -1));
    return tsri_batch_desc(&out[1], name, vectors, a, n, n);
}

tsr_status tsri_infer_factors(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                              const void *params)
{
    const tsr_desc *a = in[0];
    const tsr_factor_params *p = params;
    const int64_t m = a->shape[a->ndim - 2], n = a->shape[a->ndim - 1], k = tsri_least(m, n);
    switch (kind) {
    case TSR_OP_LU:
        TSRI_TRY(tsri_batch_desc(&out[0], name, a->dtype, a, m, n));
        return tsri_batch_desc(&out[1], name, TSR_I64, a, k, -1);
    case TSR_OP_QR:
        TSRI_TRY(tsri_batch_desc(&out[0], name, a->dtype, a, m, p->full ? m : k));
        return tsri_batch_desc(&out[1], name, a->dtype, a, p->full ? m : k, n);
    case TSR_OP_SVD:  return infer_svd(out, name, a, p->full);
    case TSR_OP_EIGH: return infer_eigen(out, name, a, tsr_dtype_real(a->dtype), a->dtype);
    default:          return infer_eigen(out, name, a, complex_of(a->dtype), complex_of(a->dtype));
    }
}

double tsri_work_factors(const tsr_desc *const *in, const tsr_desc *out, const void *params)
{
    const tsr_desc *a = in[0];
    (void)out; (void)params;
    return (double)tsr_desc_numel(a) * (double)tsri_least(a->shape[a->ndim - 2], a->shape[a->ndim - 1]);
}

/* Systems ---------------------------------------------------------------------------------- */

tsr_status tsr_inv(tsr_tensor **out, const tsr_tensor *a)
{
    return tsri_dispatch_unary(out, TSR_OP_INV, NULL, a);
}

/* The operands of solve as matrices of one dtype and one batch. */
typedef struct sides {
    tsr_dtype   dtype;
    int         nbatch;
    int64_t     batch[TSR_MAX_NDIM];
    tsr_tensor  view[2];
    tsr_tensor *temporary[2];
} sides;

static tsr_status prepare_side(sides *y, int i, const tsr_tensor *t)
{
    int64_t shape[TSR_MAX_NDIM];
    TSRI_TRY(tsri_as_dtype(&t, &y->temporary[i], y->dtype));
    for (int d = 0; d < y->nbatch; d++) shape[d] = y->batch[d];
    shape[y->nbatch] = tsri_row_count(t);
    shape[y->nbatch + 1] = tsri_col_count(t);
    y->view[i] = *t;
    return tsri_desc_expand(&y->view[i].desc, &t->desc, y->nbatch + 2, shape);
}

static tsr_status solve_run(tsr_tensor **x, sides *y, const tsr_tensor *a, const tsr_tensor *b)
{
    tsr_status s = prepare_side(y, 0, a);
    if (s == TSR_OK) s = prepare_side(y, 1, b);
    if (s == TSR_OK)
        s = tsri_dispatch(&(tsri_call){ .kind = TSR_OP_SOLVE, .nin = 2, .in = { &y->view[0], &y->view[1] },
                                    .nout = 1, .out = { x } });
    tsri_release_all(2, y->temporary);
    return s;
}

/* b is a matrix by now; x lacks its last dim if b was a vector. */
static tsr_status solve(tsr_tensor **x, const tsr_tensor *a, const tsr_tensor *b, bool vector)
{
    sides y = { .nbatch = 0 };
    tsr_desc d;
    tsri_origin origin = TSRI_ORIGIN_GIVEN;
    TSRI_CHECK(tsri_row_count(b) == tsri_row_count(a), TSR_ESHAPE,
               "solve: a is %s and b is %s: b has not as many rows as a", TSRI_DESC(&a->desc),
               TSRI_DESC(&b->desc));
    TSRI_TRY(tsri_promote_all(&y.dtype, "solve", 2, (const tsr_tensor *const[]){ a, b }));
    TSRI_TRY(tsri_join_batches(&y.nbatch, y.batch, "solve", a, b));
    if (!vector) return solve_run(x, &y, a, b);
    TSRI_TRY(tsri_batch_desc(&d, "solve", y.dtype, &a->desc, tsri_row_count(a), -1));
    TSRI_TRY(tsri_result(x, &origin, "solve", &d, a));
    tsr_tensor column = tsri_as_column(*x), *into = &column;
    return tsri_result_end(x, origin, solve_run(&into, &y, a, b));
}

tsr_status tsr_solve(tsr_tensor **x, const tsr_tensor *a, const tsr_tensor *b)
{
    TSRI_CHECK(x, TSR_ENULL, "solve: x is NULL");
    TSRI_TRY(tsri_check_factorable("solve", "a", a));
    TSRI_TRY(tsri_check_square("solve", "a", a));
    TSRI_TRY(tsri_check_allocated("solve", "b", b));
    TSRI_CHECK(b->ndim >= 1, TSR_ESHAPE, "solve: b is %s, and must be a vector or matrices",
               TSRI_DESC(&b->desc));
    TSRI_TRY(check_dtype("solve", "b", b));
    if (b->ndim > 1) return solve(x, a, b, false);
    const tsr_tensor column = tsri_as_column(b);
    return solve(x, a, &column, true);
}

/* Factors ------------------------------------------------------------------------------------ */

tsr_status tsr_cholesky(tsr_tensor **out, const tsr_tensor *a, bool upper)
{
    const tsr_factor_params params = { .upper = upper };
    return tsri_dispatch_unary(out, TSR_OP_CHOLESKY, &params, a);
}

tsr_status tsr_qr(tsr_tensor **q, tsr_tensor **r, const tsr_tensor *a, bool complete)
{
    const tsr_factor_params params = { .full = complete };
    const tsri_call call = { .kind = TSR_OP_QR, .params = &params, .nin = 1, .in = { a }, .nout = 2,
                             .out = { q, r } };
    TSRI_TRY(tsri_check_handles("qr", 2, call.out, (const char *const[]){ "q", "r" }));
    return tsri_dispatch(&call);
}

tsr_status tsri_svd(const char *name, tsr_tensor **u, tsr_tensor **s, tsr_tensor **vh, const tsr_tensor *a,
                    bool full_matrices)
{
    const tsr_factor_params params = { .full = full_matrices };
    return tsri_dispatch(&(tsri_call){ .kind = TSR_OP_SVD, .params = &params, .nin = 1, .in = { a },
                                   .nout = u ? 3 : 1, .out = { s, u, vh }, .name = name });
}

tsr_status tsr_svd(tsr_tensor **u, tsr_tensor **s, tsr_tensor **vh, const tsr_tensor *a, bool full_matrices)
{
    TSRI_TRY(tsri_check_handles("svd", 3, (tsr_tensor **const[]){ u, s, vh },
                                (const char *const[]){ "u", "s", "vh" }));
    return tsri_svd("svd", u, s, vh, a, full_matrices);
}

tsr_status tsr_svdvals(tsr_tensor **s, const tsr_tensor *a)
{
    TSRI_CHECK(s, TSR_ENULL, "svdvals: s is NULL");
    return tsri_svd("svdvals", NULL, s, NULL, a, false);
}

/* Eigenvalues --------------------------------------------------------------------------------- */

static tsr_status eigen(const char *name, tsr_op_kind kind, int nout, tsr_tensor **w, tsr_tensor **v,
                        const tsr_tensor *a)
{
    const tsri_call call = { .kind = kind, .nin = 1, .in = { a }, .nout = nout, .out = { w, v },
                             .name = name };
    TSRI_TRY(tsri_check_handles(name, nout, call.out, (const char *const[]){ "w", "v" }));
    return tsri_dispatch(&call);
}

tsr_status tsr_eigh(tsr_tensor **w, tsr_tensor **v, const tsr_tensor *a)
{
    return eigen("eigh", TSR_OP_EIGH, 2, w, v, a);
}

tsr_status tsr_eigvalsh(tsr_tensor **w, const tsr_tensor *a)
{
    return eigen("eigvalsh", TSR_OP_EIGH, 1, w, NULL, a);
}

tsr_status tsr_eig(tsr_tensor **w, tsr_tensor **v, const tsr_tensor *a)
{
    return eigen("eig", TSR_OP_EIG, 2, w, v, a);
}

tsr_status tsr_eigvals(tsr_tensor **w, const tsr_tensor *a)
{
    return eigen("eigvals", TSR_OP_EIG, 1, w, NULL, a);
}
