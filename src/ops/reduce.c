/* reduce.c - every op that reduces axes or runs along one: axes, dtypes and shapes of results, and totals of
 * contiguous tensors without the general dispatch. */
#include "backend/registry.h"
#include "core/see.h"
#include "dispatch.h"
#include "signature.h"
#include "tessera/move.h"
#include "tessera/ops/elementwise.h"
#include "tessera/ops/reduce.h"
#include "tessera/view.h"

static bool is_scan(tsr_op_kind kind)
{
    return kind == TSR_OP_CUMSUM || kind == TSR_OP_CUMPROD || kind == TSR_OP_CUMMAX;
}

/* Dtypes ---------------------------------------------------------------------------- */

/* Integers are added up and multiplied in 64 bits. */
static bool widens(tsr_op_kind kind)
{
    return kind == TSR_OP_SUM || kind == TSR_OP_PROD || kind == TSR_OP_CUMSUM || kind == TSR_OP_CUMPROD;
}

static tsr_dtype widened(tsr_dtype dtype)
{
    const tsr_kind kind = tsr_dtype_kind(dtype);
    return kind == TSR_SIGNED ? TSR_I64 : kind == TSR_UNSIGNED ? TSR_U64 : dtype;
}

static tsr_dtype given_dtype(tsr_op_kind kind, const tsri_dtype_rule *rule, tsr_dtype x)
{
    if (widens(kind))                      return widened(x);
    if (rule->result == TSRI_RESULT_GROUP) return x;
    if (rule->result == TSRI_RESULT_REAL)  return tsr_dtype_real(x);
    return rule->fixed;
}

/* Shapes ---------------------------------------------------------------------------- */

static tsr_status check_not_nothing(tsr_op_kind kind, const tsr_desc *x, const tsr_desc *out, uint32_t axes)
{
    const bool chooses =
        kind == TSR_OP_MAX || kind == TSR_OP_MIN || kind == TSR_OP_ARGMAX || kind == TSR_OP_ARGMIN;
    if (!chooses || tsr_desc_numel(out) == 0) return TSR_OK;
    for (int d = 0; d < x->ndim; d++)
        TSRI_CHECK(!(axes >> d & 1) || x->shape[d] > 0, TSR_ESHAPE,
                   "%s: %s has no elements along axis %d to choose from", tsr_op_get_info(kind)->name,
                   TSRI_DESC(x), d);
    return TSR_OK;
}

tsr_status tsri_infer_reduce(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                             const void *params)
{
    const tsr_desc *x = in[0];
    const tsr_reduce_params *p = params;
    const tsr_dtype dtype = given_dtype(kind, tsri_rule_of(kind), x->dtype);
    int64_t shape[TSR_MAX_NDIM];
    int ndim = 0;
    TSRI_CHECK(!(p->axes >> x->ndim), TSR_EINDEX, "%s: axes has bits beyond the %d dims of %s", name,
               (int)x->ndim, TSRI_DESC(x));
    if (is_scan(kind)) return tsri_desc_packed_like(out, x, dtype);
    for (int d = 0; d < x->ndim; d++) {
        const bool reduced = p->axes >> d & 1;
        if (!reduced || p->keepdims) shape[ndim++] = reduced ? 1 : x->shape[d];
    }
    TSRI_TRY(tsri_desc_packed(out, name, dtype, ndim, shape));
    return check_not_nothing(kind, x, out, p->axes);
}

/* Calls ------------------------------------------------------------------------------- */

/* The number of elements of x, if x is packed and is reduced over all axes into a given scalar that does
 * not overlap it; otherwise 0. Such calls need no inference, which saves time. */
static int64_t count_plain_total(const tsr_tensor *out, tsr_op_kind kind, const tsr_tensor *x,
                                 const tsr_reduce_params *params)
{
    if (!out || out->ndim != 0 || !out->data || (out->flags & TSR_FLAG_READONLY) || is_scan(kind)) return 0;
    if (params->axes != ((uint32_t)1 << x->ndim) - 1 || (params->keepdims && x->ndim > 0)) return 0;
    const uintptr_t z = (uintptr_t)out->data, from = (uintptr_t)x->data;
    int64_t n = 1;
    for (int d = 0; d < x->ndim; d++) n = tsri_mul_wrapping(n, x->shape[d]);
    const uint64_t bytes = (uint64_t)n * (uint64_t)tsri_dtype_size(x->dtype);
    if (n == 0 || !tsri_is_packed(&x->desc)) return 0;
    if (z < from + bytes && from < z + (uint64_t)tsri_dtype_size(out->dtype)) return 0;
    const tsri_dtype_rule *rule = tsri_rule_of(kind);
    const bool fits = (rule->accepts[0] >> x->dtype & 1) && x->dtype != TSR_C32 &&
                      given_dtype(kind, rule, x->dtype) == out->dtype;
    return fits ? n : 0;
}

static tsr_status reduce(tsr_tensor **out, tsr_op_kind kind, const tsr_tensor *x,
                         const tsr_reduce_params *params)
{
    const int64_t n = count_plain_total(*out, kind, x, params);
    if (n == 0) return tsri_dispatch_unary(out, kind, params, x);
    if (tsri_is_plain(x) && tsri_is_plain(*out) && tsri_host->reduce_row(kind, n, *out, x)) return TSR_OK;
    return tsri_op_run(
        &(tsr_op){ .kind = kind, .nin = 1, .nout = 1, .in = { x }, .out = { *out }, .params = params });
}

static tsr_status over_axes(tsr_tensor **out, tsr_op_kind kind, const char *op, const tsr_tensor *x,
                            int naxes, const int *axes, bool keepdims, double a)
{
    tsr_reduce_params params = { .keepdims = keepdims, .a = a };
    TSRI_CHECK(out, TSR_ENULL, "%s: out is NULL", op);
    TSRI_TRY(tsri_check_allocated(op, "x", x));
    TSRI_TRY(tsri_axis_set(&params.axes, op, &x->desc, naxes, axes));
    return reduce(out, kind, x, &params);
}

static tsr_status over_one(tsr_tensor **out, tsr_op_kind kind, const char *op, const tsr_tensor *x, int axis,
                           bool keepdims)
{
    if (axis == TSR_ALL_AXES && !is_scan(kind)) return over_axes(out, kind, op, x, 0, NULL, keepdims, 0);
    return over_axes(out, kind, op, x, 1, &axis, keepdims, 0);
}

/* The ops ----------------------------------------------------------------------------- */

#define OVER_AXES(name, ID) \
    tsr_status tsr_##name(tsr_tensor **out, const tsr_tensor *x, int naxes, const int *axes, bool keepdims) \
    { return over_axes(out, TSR_OP_##ID, #name, x, naxes, axes, keepdims, 0); }
#define OVER_ONE(name, ID) \
    tsr_status tsr_##name(tsr_tensor **out, const tsr_tensor *x, int axis, bool keepdims) \
    { return over_one(out, TSR_OP_##ID, #name, x, axis, keepdims); }
#define ALONG(name, ID) \
    tsr_status tsr_##name(tsr_tensor **out, const tsr_tensor *x, int axis) \
    { return over_one(out, TSR_OP_##ID, #name, x, axis, false); }

OVER_AXES(sum, SUM)
OVER_AXES(prod, PROD)
OVER_AXES(mean, MEAN)
OVER_AXES(max, MAX)
OVER_AXES(min, MIN)
OVER_AXES(any, ANY)
OVER_AXES(all, ALL)
OVER_AXES(count_nonzero, COUNT_NONZERO)
OVER_AXES(logsumexp, LOGSUMEXP)
OVER_ONE(argmax, ARGMAX)
OVER_ONE(argmin, ARGMIN)
ALONG(cumsum, CUMSUM)
ALONG(cumprod, CUMPROD)
ALONG(cummax, CUMMAX)

/* Is it neither infinite nor NaN? */
static bool is_finite(double x) { return x - x == 0; }

tsr_status tsr_var(tsr_tensor **out, const tsr_tensor *x, int naxes, const int *axes, bool keepdims,
                   double correction)
{
    TSRI_CHECK(is_finite(correction), TSR_EINVAL, "var: the correction is %g", correction);
    return over_axes(out, TSR_OP_VAR, "var", x, naxes, axes, keepdims, correction);
}

tsr_status tsr_std(tsr_tensor **out, const tsr_tensor *x, int naxes, const int *axes, bool keepdims,
                   double correction)
{
    TSRI_CHECK(is_finite(correction), TSR_EINVAL, "std: the correction is %g", correction);
    return over_axes(out, TSR_OP_STD, "std", x, naxes, axes, keepdims, correction);
}

tsr_status tsr_norm(tsr_tensor **out, const tsr_tensor *x, int naxes, const int *axes, bool keepdims,
                    double p)
{
    TSRI_CHECK(p == p, TSR_EINVAL, "norm: p is NaN");
    return over_axes(out, TSR_OP_NORM, "norm", x, naxes, axes, keepdims, p);
}

/* The parameters of diff. */
typedef struct differences {
    int     axis;
    int64_t n;
} differences;

/* *out = x[1:] - x[:-1] along the axis. */
static tsr_status diff_once(tsr_tensor **out, const tsr_tensor *x, int axis)
{
    tsr_tensor later, former;
    tsri_see_slice(&later, x, axis, 1, x->shape[axis], 1);
    tsri_see_slice(&former, x, axis, 0, x->shape[axis] - 1, 1);
    return tsri_elementwise(out, TSR_OP_SUB, NULL, 2, (const tsr_tensor *const[]){ &later, &former });
}

static tsr_status infer_diff(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                             const void *params)
{
    const differences *p = params;
    int axis = 0;
    tsr_desc shorter;
    (void)kind;
    TSRI_TRY(tsri_axis(&axis, name, "axis", p->axis, in[0]));
    tsri_desc_copy(&shorter, in[0]);
    shorter.shape[axis] = tsri_max(shorter.shape[axis] - p->n, 0);
    return tsri_desc_packed_like(out, &shorter, shorter.dtype);
}

static tsr_status run_diff(const tsr_op *op)
{
    const differences *p = op->params;
    const tsr_tensor *x = op->in[0];
    const int axis = p->axis < 0 ? p->axis + x->ndim : p->axis;
    tsr_tensor *out = op->out[0], *had = NULL, *next = NULL;
    tsr_status s = TSR_OK;
    if (p->n == 0) return tsri_copy_run(out, x);
    if (out->shape[axis] == 0) return TSR_OK;
    for (int64_t i = 1; i < p->n && s == TSR_OK; i++) {
        s = diff_once(&next, had ? had : x, axis);
        tsr_release(&had);
        had = next;
        next = NULL;
    }
    if (s == TSR_OK) s = diff_once(&out, had ? had : x, axis);
    tsr_release(&had);
    return s;
}

tsr_status tsr_diff(tsr_tensor **out, const tsr_tensor *x, int axis, int64_t n)
{
    static tsri_composed call = { .row = "diff", .traits = { .infer = infer_diff, .parts = run_diff } };
    TSRI_CHECK(n >= 0, TSR_EINVAL, "diff: n is %lld, below 0", (long long)n);
    return tsri_dispatch_composed(out, &call, &(differences){ axis, n }, x);
}
