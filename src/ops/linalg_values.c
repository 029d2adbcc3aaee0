/* linalg_values.c - linear algebra made of other ops: norms, trace, determinants, triangular factors. */
#include "backend/device_run.h"
#include "linalg_int.h"
#include "tessera/move.h"
#include "tessera/ops/elementwise.h"
#include "tessera/ops/linalg.h"
#include "tessera/ops/reduce.h"
#include "tessera/ops/shape.h"
#include "tessera/scope.h"
#include "tessera/view.h"

#define LAST 1, (const int[]){ -1 }

/* Other views ------------------------------------------------------------------------------ */

static tsr_status check_matrix(const char *op, const tsr_tensor *a)
{
    TSRI_TRY(tsri_check_allocated(op, "a", a));
    TSRI_CHECK(a->ndim >= 2, TSR_ESHAPE, "%s: a is %s, which has %d dims; matrices have two", op,
               TSRI_DESC(&a->desc), (int)a->ndim);
    return TSR_OK;
}

tsr_status tsr_matrix_transpose(tsr_tensor **out, const tsr_tensor *a)
{
    TSRI_CHECK(out, TSR_ENULL, "matrix_transpose: out is NULL");
    TSRI_TRY(check_matrix("matrix_transpose", a));
    return tsr_transpose(out, a, -2, -1);
}

tsr_status tsr_adjoint(tsr_tensor **out, const tsr_tensor *a)
{
    tsr_tensor *conj = NULL;
    TSRI_CHECK(out, TSR_ENULL, "adjoint: out is NULL");
    TSRI_TRY(check_matrix("adjoint", a));
    TSRI_CHECK(a->dtype != TSR_C32, TSR_EDTYPE,
               "adjoint: a is %s, which only stores (tsr_cast converts to c64)", TSRI_DESC(&a->desc));
    if (!tsri_is_complex(a)) return tsr_transpose(out, a, -2, -1);
    TSRI_TRY(tsr_conj(&conj, a));
    const tsr_status s = tsr_transpose(out, conj, -2, -1);
    tsr_release(&conj);
    return s;
}

/* Norms and sums --------------------------------------------------------------------------- */

tsr_status tsr_vector_norm(tsr_tensor **out, const tsr_tensor *x, int naxes, const int *axes, bool keepdims,
                           double p)
{
    return tsri_as_of("vector_norm", tsr_norm(out, x, naxes, axes, keepdims, p));
}

static double infinity_or(bool negative) { return negative ? -__builtin_inf() : __builtin_inf(); }

/* Reduces the last dims of x, a view of the operand a, in a call that messages name `op`. */
static tsr_status reduce_last(tsr_tensor **out, const char *op, tsr_op_kind kind, const tsr_tensor *x,
                              int dims, bool keepdims, double p)
{
    static const char *const a[] = { "a" };
    const tsr_reduce_params params = { .axes = ((uint32_t)(1 << dims) - 1) << (x->ndim - dims),
                                       .keepdims = keepdims, .a = p };
    return tsri_dispatch(&(tsri_call){ .kind = kind, .params = &params, .nin = 1, .in = { x }, .nout = 1,
                                       .out = { out }, .name = op, .names = a });
}

/* The numbers of which a matrix norm is the largest, the smallest or the sum: the norms of rows or columns,
 * or the singular values as a column. */
static tsr_status find_lines(tsr_tensor **out, const tsr_tensor *a, tsr_matrix_ord ord)
{
    static const char name[] = "matrix_norm";
    tsr_tensor seen;
    if (ord == TSR_ORD_NUC || ord == TSR_ORD_TWO || ord == TSR_ORD_MINUS_TWO) {
        TSRI_TRY(tsri_svd(name, NULL, out, NULL, a, false));
        tsri_insert_dim(&(*out)->desc, (*out)->ndim, 1, 0);
        return TSR_OK;
    }
    const bool columns = ord == TSR_ORD_ONE || ord == TSR_ORD_MINUS_ONE;
    seen = columns ? tsri_as_transposed(a) : *a;
    return reduce_last(out, name, TSR_OP_NORM, &seen, 1, true, 1);
}

tsr_status tsr_matrix_norm(tsr_tensor **out, const tsr_tensor *a, tsr_matrix_ord ord, bool keepdims)
{
    static const char name[] = "matrix_norm";
    const bool least = ord == TSR_ORD_MINUS_ONE || ord == TSR_ORD_MINUS_TWO || ord == TSR_ORD_MINUS_INF;
    tsr_tensor *lines = NULL;
    TSRI_TRY(check_matrix(name, a));
    TSRI_CHECK((unsigned)ord <= TSR_ORD_MINUS_INF, TSR_EINVAL, "%s: there is no norm %d", name, (int)ord);
    if (ord == TSR_ORD_FRO) return reduce_last(out, name, TSR_OP_NORM, a, 2, keepdims, 2);
    TSRI_TRY(find_lines(&lines, a, ord));
    const tsr_status s = reduce_last(out, name, TSR_OP_NORM, lines, 2, keepdims,
                                     ord == TSR_ORD_NUC ? 1 : infinity_or(least));
    tsr_release(&lines);
    return s;
}

tsr_status tsr_trace(tsr_tensor **out, const tsr_tensor *a, int64_t offset)
{
    tsr_tensor v;
    TSRI_TRY(check_matrix("trace", a));
    tsri_see_diagonal(&v, a, offset);
    return reduce_last(out, "trace", TSR_OP_SUM, &v, 1, false, 0);
}

/* Determinants ------------------------------------------------------------------------------ */

/* Both factors in one matrix; pivots[i] is the row that row i was swapped with (i64). */
static tsr_status factor_lu(const char *name, tsr_tensor **lu, tsr_tensor **pivots, const tsr_tensor *a)
{
    return tsri_dispatch(&(tsri_call){
        .kind = TSR_OP_LU, .nin = 1, .in = { a }, .nout = 2, .out = { lu, pivots }, .name = name });
}

/* The sign of each permutation, of this dtype: 1 after an even number of swaps, else -1. */
static tsr_status parity(tsr_tensor **out, const tsr_tensor *pivots, tsr_dtype dtype)
{
    tsr_tensor *t[3] = { NULL };
    tsr_status s;
    TSRI_WORK_ON(pivots->device, s,
                 tsr_arange(&t[0], TSR_I64, TSR_SCALAR(0), TSR_SCALAR(tsri_col_count(pivots)),
                            TSR_SCALAR(1)));
    if (s == TSR_OK) s = tsr_ne(&t[1], pivots, t[0]);
    if (s == TSR_OK) s = tsr_count_nonzero(&t[2], t[1], LAST, false);
    if (s == TSR_OK) s = tsr_remainder(&t[2], t[2], TSR_NUMBER(2));
    if (s == TSR_OK) s = tsr_mul(&t[2], t[2], TSR_NUMBER(-2));
    if (s == TSR_OK) s = tsr_add(&t[2], t[2], TSR_NUMBER(1));
    if (s == TSR_OK) s = tsr_cast(out, t[2], dtype);
    tsri_release_all(3, t);
    return s;
}

/* The factors of a, and what a determinant is made of. */
typedef struct pivoted {
    tsr_tensor *lu, *pivots, *parity;
    tsr_tensor  diagonal;  /* of lu */
} pivoted;

static tsr_status open_pivoted(pivoted *p, const char *op, const tsr_tensor *a)
{
    TSRI_TRY(factor_lu(op, &p->lu, &p->pivots, a));
    TSRI_TRY(parity(&p->parity, p->pivots, a->dtype));
    tsri_see_diagonal(&p->diagonal, p->lu, 0);
    return TSR_OK;
}

static void end_pivoted(pivoted *p)
{
    tsr_release_all(&p->lu, &p->pivots, &p->parity);
}

static tsr_status run_det(const tsr_op *op)
{
    pivoted p = { .lu = NULL };
    tsr_tensor *out = op->out[0];
    tsr_status s = open_pivoted(&p, "det", op->in[0]);
    if (s == TSR_OK) s = tsr_prod(&out, &p.diagonal, LAST, false);
    if (s == TSR_OK) s = tsr_mul(&out, out, p.parity);
    end_pivoted(&p);
    return s;
}

tsr_status tsr_det(tsr_tensor **out, const tsr_tensor *a)
{
    static tsri_composed call = { .row = "det", .traits = { .parts = run_det } };
    return tsri_dispatch_composed(out, &call, NULL, a);
}

static tsr_status infer_slogdet(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                                const void *params)
{
    (void)kind; (void)params;
    TSRI_TRY(tsri_batch_desc(&out[0], name, in[0]->dtype, in[0], -1, -1));
    return tsri_batch_desc(&out[1], name, tsr_dtype_real(in[0]->dtype), in[0], -1, -1);
}

static tsr_status run_slogdet(const tsr_op *op)
{
    pivoted p = { .lu = NULL };
    tsr_tensor *sign = op->out[0], *logabsdet = op->out[1], *t[2] = { NULL };
    tsr_status s = open_pivoted(&p, "slogdet", op->in[0]);
    if (s == TSR_OK) s = tsr_sign(&t[0], &p.diagonal);
    if (s == TSR_OK) s = tsr_abs(&t[1], &p.diagonal);
    if (s == TSR_OK) s = tsr_log(&t[1], t[1]);
    if (s == TSR_OK) s = tsr_prod(&sign, t[0], LAST, false);
    if (s == TSR_OK) s = tsr_mul(&sign, sign, p.parity);
    if (s == TSR_OK) s = tsr_sum(&logabsdet, t[1], LAST, false);
    tsri_release_all(2, t);
    end_pivoted(&p);
    return s;
}

tsr_status tsr_slogdet(tsr_tensor **sign, tsr_tensor **logabsdet, const tsr_tensor *a)
{
    static tsri_composed composed = { .row = "slogdet",
                                      .traits = { .infer = infer_slogdet, .parts = run_slogdet } };
    return tsri_dispatch(&(tsri_call){ .composed = &composed, .nin = 1, .in = { a }, .nout = 2,
                                       .out = { sign, logabsdet } });
}

/* Triangles ----------------------------------------------------------------------------------- */

/* The order that swaps of rows i and pivots[i], for i = 0, 1, ..., leave m rows in. */
static void order_rows(int64_t *order, int64_t m, const int64_t *pivots, int64_t k)
{
    for (int64_t i = 0; i < m; i++) order[i] = i;
    for (int64_t i = 0; i < k; i++) {
        const int64_t row = order[i];
        if (pivots[i] < 0 || pivots[i] >= m) continue;  /* the null backend leaves any numbers */
        order[i] = order[pivots[i]];
        order[pivots[i]] = row;
    }
}

static tsr_status permutation(tsr_tensor *p, const tsr_tensor *pivots)
{
    tsr_tensor *orders = NULL, *temporary = NULL;
    const int64_t m = p->shape[p->ndim - 1], k = pivots->shape[pivots->ndim - 1];
    const int64_t n = m ? tsr_numel(p) / m : 0;
    tsr_status s;
    TSRI_WORK_ON(TSR_CPU, s, tsr_empty(&orders, TSR_I64, p->ndim, p->shape));
    if (s == TSR_OK) s = tsri_copy_to_host(&pivots, &temporary);
    for (int64_t i = 0; i < n && s == TSR_OK; i++)
        order_rows((int64_t *)orders->data + i * m, m, (const int64_t *)pivots->data + i * k, k);
    if (s == TSR_OK) s = tsri_copy_run(p, orders);
    tsr_release_all(&orders, &temporary);
    return s;
}

static tsr_status infer_lu(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                           const void *params)
{
    const tsr_desc *a = in[0];
    const int64_t m = a->shape[a->ndim - 2], n = a->shape[a->ndim - 1], k = tsri_least(m, n);
    (void)kind; (void)params;
    TSRI_TRY(tsri_batch_desc(&out[0], name, TSR_I64, a, m, -1));
    TSRI_TRY(tsri_batch_desc(&out[1], name, a->dtype, a, m, k));
    return tsri_batch_desc(&out[2], name, a->dtype, a, k, n);
}

static tsr_status run_lu(const tsr_op *op)
{
    const tsr_tensor *a = op->in[0];
    tsr_tensor *l = op->out[1], *u = op->out[2], *lu = NULL, *pivots = NULL, part, ones;
    const int64_t k = tsri_least(tsri_row_count(a), tsri_col_count(a));
    tsr_status s = factor_lu("lu", &lu, &pivots, a);
    if (s == TSR_OK) s = permutation(op->out[0], pivots);
    if (s == TSR_OK) tsri_see_slice(&part, lu, a->ndim - 1, 0, k, 1);
    if (s == TSR_OK) s = tsr_tril(&l, &part, -1);
    if (s == TSR_OK) tsri_see_diagonal(&ones, l, 0);
    if (s == TSR_OK) s = tsri_fill_run(&ones, TSR_SCALAR(1.0));
    if (s == TSR_OK) tsri_see_slice(&part, lu, a->ndim - 2, 0, k, 1);
    if (s == TSR_OK) s = tsr_triu(&u, &part, 0);
    tsr_release_all(&lu, &pivots);
    return s;
}

tsr_status tsr_lu(tsr_tensor **p, tsr_tensor **l, tsr_tensor **u, const tsr_tensor *a)
{
    static tsri_composed composed = {
        .row = "lu",
        .signature = "a{ dT:f32/f64/c64/c128 | (..., m, n) } "
                     "-> p{ i64 | (..., m) } l{ dT | (..., m, _) } u{ dT | (..., _, n) }",
        .traits = { .infer = infer_lu, .parts = run_lu }
    };
    return tsri_dispatch(
        &(tsri_call){ .composed = &composed, .nin = 1, .in = { a }, .nout = 3, .out = { p, l, u } });
}
