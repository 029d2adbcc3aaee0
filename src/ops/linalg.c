/* linalg.c - factorisations and systems of equations: what they take and give; backends compute them. */
#include "linalg_int.h"
#include "tessera/move.h"
#include "tessera/ops/linalg.h"

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

tsr_status tsri_infer_system(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                             const void *params)
{
    const tsr_desc *a = in[0], *b = in[1];
    const bool vector = b->ndim == 1;
    int64_t shape[TSR_MAX_NDIM];
    int ndim = 0;
    (void)params;
    TSRI_CHECK(a->ndim >= 2, TSR_ESHAPE, "%s: a is %s, which has %d dims; matrices have two", name,
               TSRI_DESC(a), (int)a->ndim);
    TSRI_CHECK(b->ndim >= 1, TSR_ESHAPE, "%s: b is %s, and must be a vector or matrices", name, TSRI_DESC(b));
    TSRI_CHECK(kind != TSR_OP_SOLVE || a->shape[a->ndim - 2] == a->shape[a->ndim - 1], TSR_ESHAPE,
               "%s: a is %s, whose matrices are not square", name, TSRI_DESC(a));
    TSRI_CHECK(b->shape[vector ? 0 : b->ndim - 2] == a->shape[a->ndim - 2], TSR_ESHAPE,
               "%s: a is %s and b is %s: b has not as many rows as a", name, TSRI_DESC(a), TSRI_DESC(b));
    tsr_desc batch[2] = { *a, *b };
    batch[0].ndim -= 2;
    batch[1].ndim -= vector ? 1 : 2;
    const tsr_desc *const both[] = { &batch[0], &batch[1] };
    TSRI_CHECK(tsri_broadcast_dims(&ndim, shape, 2, both) == TSR_OK, TSR_ESHAPE,
               "%s: the batches of a, %s, and b, %s, do not broadcast", name, TSRI_DESC(a), TSRI_DESC(b));
    shape[ndim++] = a->shape[a->ndim - 1];
    if (!vector) shape[ndim++] = b->shape[b->ndim - 1];
    return tsri_desc_packed(out, name, a->dtype, ndim, shape);
}

/* A vector becomes a column, and both operands have the result's batch. */
tsr_status tsri_broadcast_system(tsri_operands *o, int nin, tsr_tensor **out, tsr_tensor *view)
{
    int64_t shape[TSR_MAX_NDIM];
    if (o->in[1]->ndim == 1) {
        *view = tsri_as_column(*out);
        *out = view;
        tsr_desc *b = &tsri_operand_view(o, 1)->desc;
        tsri_insert_dim(b, 1, 1, 0);
    }
    const tsr_desc *x = &(*out)->desc;
    for (int d = 0; d < x->ndim; d++) shape[d] = x->shape[d];
    for (int i = 0; i < nin; i++) {
        shape[x->ndim - 2] = tsri_row_count(o->in[i]);
        shape[x->ndim - 1] = tsri_col_count(o->in[i]);
        TSRI_TRY(tsri_operand_expand(o, i, x->ndim, shape));
    }
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

tsr_status tsr_solve(tsr_tensor **x, const tsr_tensor *a, const tsr_tensor *b)
{
    TSRI_CHECK(x, TSR_ENULL, "solve: x is NULL");
    return tsri_dispatch(
        &(tsri_call){ .kind = TSR_OP_SOLVE, .nin = 2, .in = { a, b }, .nout = 1, .out = { x } });
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
    return tsri_dispatch(&(tsri_call){ .kind = TSR_OP_QR, .params = &params, .nin = 1, .in = { a }, .nout = 2,
                                       .out = { q, r } });
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
    TSRI_CHECK(u, TSR_ENULL, "svd: u is NULL");
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
    TSRI_CHECK(w, TSR_ENULL, "%s: w is NULL", name);
    return tsri_dispatch(&(tsri_call){ .kind = kind, .nin = 1, .in = { a }, .nout = nout, .out = { w, v },
                                       .name = name });
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
