/* linalg_least.c - what follows from singular values: rank, pseudo-inverse, least squares. */
#include "linalg_int.h"
#include "tessera/move.h"
#include "tessera/ops/elementwise.h"
#include "tessera/ops/linalg.h"
#include "tessera/ops/matmul.h"
#include "tessera/ops/reduce.h"

#define LAST 1, (const int[]){ -1 }

static tsr_status check_rtol(const char *op, double rtol)
{
    TSRI_CHECK(rtol - rtol == 0, TSR_EINVAL, "%s: rtol is %g", op, rtol);
    return TSR_OK;
}

/* Which singular values count, as bool: those larger than rtol times the largest. */
static tsr_status which_count(tsr_tensor **out, const tsr_tensor *s, const tsr_tensor *a, double rtol)
{
    tsr_tensor *limit = NULL;
    const double next = s->dtype == TSR_F32 ? 0x1p-23 : 0x1p-52;
    if (rtol < 0) rtol = (double)tsri_max(tsri_row_count(a), tsri_col_count(a)) * next;
    tsr_status status = tsr_norm(&limit, s, LAST, true, __builtin_inf());
    if (status == TSR_OK) status = tsr_mul(&limit, limit, TSR_NUMBER(rtol));
    if (status == TSR_OK) status = tsr_gt(out, s, limit);
    tsr_release(&limit);
    return status;
}

/* Rank --------------------------------------------------------------------------------------- */

static tsr_status run_rank(const tsr_op *op)
{
    tsr_tensor *out = op->out[0], *t[2] = { NULL };
    tsr_status s = tsri_svd("matrix_rank", NULL, &t[0], NULL, op->in[0], false);
    if (s == TSR_OK) s = which_count(&t[1], t[0], op->in[0], *(const double *)op->params);
    if (s == TSR_OK) s = tsr_count_nonzero(&out, t[1], LAST, false);
    tsri_release_all(2, t);
    return s;
}

tsr_status tsr_matrix_rank(tsr_tensor **out, const tsr_tensor *a, double rtol)
{
    static tsri_composed call = { .row = "matrix_rank", .traits = { .parts = run_rank } };
    TSRI_TRY(check_rtol("matrix_rank", rtol));
    return tsri_dispatch_composed(out, &call, &rtol, a);
}

/* Inverses of what can be inverted -------------------------------------------------------------- */

/* a = (u * s) @ vh, and what its pseudo-inverse is made of. */
typedef struct decomposed {
    tsr_tensor *u, *s, *vh, *count;
    tsr_tensor *v;   /* adjoint(vh) / s, or 0 where s does not count */
    tsr_tensor *uh;  /* adjoint(u) */
} decomposed;

static void end_decomposed(decomposed *x)
{
    tsr_tensor **all[] = { &x->u, &x->s, &x->vh, &x->count, &x->v, &x->uh };
    for (int i = 0; i < 6; i++) tsr_release(all[i]);
}

static tsr_status decompose(decomposed *x, const char *op, const tsr_tensor *a, double rtol)
{
    TSRI_TRY(tsri_svd(op, &x->u, &x->s, &x->vh, a, false));
    TSRI_TRY(which_count(&x->count, x->s, a, rtol));
    TSRI_TRY(tsr_reciprocal(&x->s, x->s));
    TSRI_TRY(tsr_where(&x->s, x->count, x->s, TSR_NUMBER(0.0)));
    const tsr_tensor v = tsri_as_transposed(x->vh), uh = tsri_as_transposed(x->u);
    tsr_tensor row = *x->s;
    tsri_insert_dim(&row.desc, row.ndim - 1, 1, 0);
    TSRI_TRY(tsr_conj(&x->v, &v));
    TSRI_TRY(tsr_mul(&x->v, x->v, &row));
    return tsr_conj(&x->uh, &uh);
}

static tsr_status run_pinv(const tsr_op *op)
{
    decomposed x = { NULL, NULL, NULL, NULL, NULL, NULL };
    tsr_tensor *out = op->out[0];
    tsr_status s = decompose(&x, "pinv", op->in[0], *(const double *)op->params);
    if (s == TSR_OK) s = tsr_matmul(&out, x.v, x.uh);
    end_decomposed(&x);
    return s;
}

tsr_status tsr_pinv(tsr_tensor **out, const tsr_tensor *a, double rtol)
{
    static tsri_composed call = { .row = "pinv", .traits = { .parts = run_pinv } };
    TSRI_TRY(check_rtol("pinv", rtol));
    return tsri_dispatch_composed(out, &call, &rtol, a);
}

/* Least squares ------------------------------------------------------------------------------------ */

/* u^H b is computed first: of all products it is the smallest. */
static tsr_status run_lstsq(const tsr_op *op)
{
    decomposed x = { NULL, NULL, NULL, NULL, NULL, NULL };
    const tsr_tensor *a = op->in[0], *b = op->in[1];
    const bool vector = b->ndim == 1;
    tsr_tensor *part = NULL, side = vector ? tsri_as_column(b) : *b;
    tsr_tensor out = vector ? tsri_as_column(op->out[0]) : *op->out[0], *into = &out;
    tsr_status s = decompose(&x, "lstsq", a, *(const double *)op->params);
    if (s == TSR_OK) s = tsr_matmul(&part, x.uh, &side);
    if (s == TSR_OK) s = tsr_matmul(&into, x.v, part);
    tsr_release(&part);
    end_decomposed(&x);
    return s;
}

tsr_status tsr_lstsq(tsr_tensor **x, const tsr_tensor *a, const tsr_tensor *b, double rtol)
{
    static tsri_composed call = { .row = "lstsq",
                                  .traits = { .infer = tsri_infer_system, .parts = run_lstsq } };
    TSRI_CHECK(x, TSR_ENULL, "lstsq: x is NULL");
    TSRI_TRY(check_rtol("lstsq", rtol));
    return tsri_dispatch_product(x, &call, &rtol, a, b);
}
