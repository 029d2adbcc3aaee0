/* nn.c - networks' ops but for losses (nn_loss.c): check what the signature cannot say,
 * and dispatch. */
#include "nn.h"
#include "composed.h"
#include "index_int.h"
#include "tessera/move.h"
#include "tessera/ops/nn.h"
#include "tessera/ops/reduce.h"

/* Checks ------------------------------------------------------------------------------ */

static tsr_status check_eps(const char *op, double eps)
{
    TSRI_CHECK(tsri_is_finite(eps) && eps >= 0, TSR_EINVAL,
               "%s: eps is %g, and must be finite and not negative", op, eps);
    return TSR_OK;
}

/* Softmax ------------------------------------------------------------------------------ */

tsr_status tsri_infer_along(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                            const void *params)
{
    int axis = 0;
    (void)kind;
    TSRI_TRY(tsri_axis(&axis, name, "axis", ((const tsr_axis_params *)params)->axis, in[0]));
    return tsri_desc_packed(out, name, in[0]->dtype, in[0]->ndim, in[0]->shape);
}

static tsr_status softmax(tsr_tensor **out, tsr_op_kind kind, const tsr_tensor *x, int axis)
{
    int at = 0;
    const char *op = tsr_op_get_info(kind)->name;
    TSRI_TRY(tsri_check_allocated(op, "x", x));
    TSRI_TRY(tsri_axis(&at, op, "axis", axis, &x->desc));
    const tsr_axis_params params = { at };
    return tsri_dispatch_one(out, NULL, kind, &params, 1, (const tsr_tensor *const[]){ x });
}

tsr_status tsr_softmax(tsr_tensor **out, const tsr_tensor *x, int axis)
{
    return softmax(out, TSR_OP_SOFTMAX, x, axis);
}

tsr_status tsr_log_softmax(tsr_tensor **out, const tsr_tensor *x, int axis)
{
    return softmax(out, TSR_OP_LOG_SOFTMAX, x, axis);
}

tsr_status tsr_causal_softmax(tsr_tensor **out, const tsr_tensor *x)
{
    return tsri_dispatch_one(out, NULL, TSR_OP_CAUSAL_SOFTMAX, NULL, 1, (const tsr_tensor *const[]){ x });
}

/* Norms --------------------------------------------------------------------------------- */

/* Has d the last n dims of x? */
static bool has_last_dims(const tsr_desc *d, const tsr_desc *x, int n)
{
    if (d->ndim != n) return false;
    for (int i = 0; i < n; i++)
        if (d->shape[i] != x->shape[x->ndim - n + i]) return false;
    return true;
}

tsr_status tsri_infer_layer_norm(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                                 const void *params)
{
    const int64_t n = ((const tsr_norm_params *)params)->count;
    (void)kind;
    TSRI_CHECK(n >= 1 && n <= in[0]->ndim, TSR_EINVAL, "%s: ndims is %lld, with x %s of %d dims", name,
               (long long)n, TSRI_DESC(in[0]), (int)in[0]->ndim);
    for (int i = 1; i < 3; i++)
        TSRI_CHECK(!in[i] || has_last_dims(in[i], in[0], (int)n), TSR_ESHAPE,
                   "%s: %s is %s, but the last %d dims of x %s are %s", name, i == 1 ? "weight" : "bias",
                   TSRI_DESC(in[i]), (int)n, TSRI_DESC(in[0]),
                   TSRI_DIMS((int)n, in[0]->shape + in[0]->ndim - n));
    return tsri_desc_packed(out, name, in[0]->dtype, in[0]->ndim, in[0]->shape);
}

tsr_status tsr_layer_norm(tsr_tensor **out, const tsr_tensor *x, int ndims, const tsr_tensor *weight,
                          const tsr_tensor *bias, double eps)
{
    const tsr_norm_params params = { ndims, eps };
    TSRI_TRY(check_eps("layer_norm", eps));
    return tsri_dispatch_one(out, NULL, TSR_OP_LAYER_NORM, &params, 3,
                          (const tsr_tensor *const[]){ x, weight, bias });
}

tsr_status tsr_rms_norm(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *weight, double eps)
{
    const tsr_norm_params params = { 1, eps };
    TSRI_TRY(check_eps("rms_norm", eps));
    return tsri_dispatch_one(out, NULL, TSR_OP_RMS_NORM, &params, 2,
                             (const tsr_tensor *const[]){ x, weight });
}

tsr_status tsr_add_rms_norm(tsr_tensor **out, tsr_tensor **sum_out, const tsr_tensor *x,
                            const tsr_tensor *residual, const tsr_tensor *weight, double eps)
{
    const tsr_norm_params params = { 1, eps };
    TSRI_TRY(check_eps("add_rms_norm", eps));
    return tsri_dispatch(&(tsri_call){ .kind = TSR_OP_ADD_RMS_NORM, .params = &params, .nin = 3,
                                   .in = { x, residual, weight }, .nout = 2, .out = { sum_out, out } });
}

tsr_status tsr_batch_norm(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *mean,
                          const tsr_tensor *var, const tsr_tensor *weight, const tsr_tensor *bias, double eps)
{
    const tsr_norm_params params = { 1, eps };
    TSRI_TRY(check_eps("batch_norm", eps));
    return tsri_dispatch_one(out, NULL, TSR_OP_BATCH_NORM, &params, 5,
                          (const tsr_tensor *const[]){ x, mean, var, weight, bias });
}

tsr_status tsri_infer_group_norm(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                                 const void *params)
{
    const int64_t groups = ((const tsr_norm_params *)params)->count;
    (void)kind;
    TSRI_CHECK(groups >= 1 && in[0]->shape[1] % groups == 0, TSR_EINVAL,
               "%s: %lld groups do not divide the %lld channels of x %s", name, (long long)groups,
               (long long)in[0]->shape[1], TSRI_DESC(in[0]));
    return tsri_desc_packed(out, name, in[0]->dtype, in[0]->ndim, in[0]->shape);
}

static tsr_status group_norm(tsr_tensor **out, const char *name, const tsr_tensor *x, int64_t groups,
                             const tsr_tensor *weight, const tsr_tensor *bias, double eps)
{
    const tsr_norm_params params = { groups, eps };
    TSRI_TRY(check_eps(name, eps));
    return tsri_dispatch_one(out, name, TSR_OP_GROUP_NORM, &params, 3,
                          (const tsr_tensor *const[]){ x, weight, bias });
}

tsr_status tsr_group_norm(tsr_tensor **out, const tsr_tensor *x, int64_t groups, const tsr_tensor *weight,
                          const tsr_tensor *bias, double eps)
{
    return group_norm(out, "group_norm", x, groups, weight, bias, eps);
}

tsr_status tsr_instance_norm(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *weight,
                             const tsr_tensor *bias, double eps)
{
    TSRI_TRY(tsri_check_allocated("instance_norm", "x", x));
    const int64_t channels = x->ndim > 1 ? x->shape[1] : 1;  /* no group of no channels */
    return group_norm(out, "instance_norm", x, channels > 0 ? channels : 1, weight, bias, eps);
}

/* Rotary positions ----------------------------------------------------------------------- */

tsr_status tsri_infer_rope(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                           const void *params)
{
    const int mode = ((const tsr_rope_params *)params)->mode;
    const int64_t d = in[0]->shape[in[0]->ndim - 1];
    TSRI_CHECK(mode == TSR_ROPE_HALVES || mode == TSR_ROPE_PAIRS, TSR_EINVAL, "%s: %d is no mode", name,
               mode);
    TSRI_CHECK(d % 2 == 0, TSR_ESHAPE, "%s: the last dim of x %s is odd", name, TSRI_DESC(in[0]));
    for (int i = 2; i < 4 && kind == TSR_OP_ROPE_WITH; i++)
        TSRI_CHECK(in[i]->shape[1] == d / 2, TSR_ESHAPE,
                   "%s: %s is %s, with %lld columns, not half of x %s's last dim", name,
                   i == 2 ? "sin_table" : "cos_table", TSRI_DESC(in[i]), (long long)in[i]->shape[1],
                   TSRI_DESC(in[0]));
    return tsri_desc_packed(out, name, in[0]->dtype, in[0]->ndim, in[0]->shape);
}

tsr_status tsr_rope(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *positions, double theta,
                    tsr_rope_mode mode)
{
    tsr_tensor *temporary = NULL;
    const tsr_rope_params params = { (int32_t)mode, theta };
    TSRI_CHECK(tsri_is_finite(theta) && theta > 0, TSR_EINVAL,
               "rope: theta is %g, and must be finite and positive", theta);
    tsr_status s = tsri_as_integers(&positions, &temporary, "rope", "positions");
    if (s == TSR_OK)
        s = tsri_dispatch_one(out, NULL, TSR_OP_ROPE, &params, 2,
                              (const tsr_tensor *const[]){ x, positions });
    tsr_release(&temporary);
    return s;
}

/* Positions that are rows of the tables. */
static tsr_status check_positions(const tsr_tensor *positions, const tsr_tensor *table)
{
    int64_t value = 0, at[TSR_MAX_NDIM];
    bool outside = false;
    TSRI_TRY(tsri_check_allocated("rope_with", "positions", positions));
    TSRI_TRY(tsri_check_tensor("rope_with", "sin_table", table));
    if (table->ndim != 2) return TSR_OK;  /* the signature finds the words */
    const tsri_index_range rows = { 0, table->shape[0] - 1 };
    TSRI_TRY(tsri_find_outside(&outside, &value, at, positions, rows, NULL));
    TSRI_CHECK(!outside, TSR_EINDEX,
               "rope_with: position %lld at %s is outside the %lld rows of sin_table %s", (long long)value,
               TSRI_DIMS(positions->ndim, at), (long long)table->shape[0], TSRI_DESC(&table->desc));
    return TSR_OK;
}

tsr_status tsr_rope_with(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *positions,
                         const tsr_tensor *sin_table, const tsr_tensor *cos_table, tsr_rope_mode mode)
{
    tsr_tensor *temporary = NULL;
    const tsr_rope_params params = { (int32_t)mode, 0 };
    tsr_status s = tsri_as_integers(&positions, &temporary, "rope_with", "positions");
    if (s == TSR_OK) s = check_positions(positions, sin_table);
    if (s == TSR_OK)
        s = tsri_dispatch_one(out, NULL, TSR_OP_ROPE_WITH, &params, 4,
                           (const tsr_tensor *const[]){ x, positions, sin_table, cos_table });
    tsr_release(&temporary);
    return s;
}

/* Gates ------------------------------------------------------------------------------------ */

static tsr_status swiglu(tsr_tensor **out, const char *name, const tsr_tensor *gate, const tsr_tensor *up)
{
    return tsri_dispatch_one(out, name, TSR_OP_SWIGLU, NULL, 2, (const tsr_tensor *const[]){ gate, up });
}

tsr_status tsr_swiglu(tsr_tensor **out, const tsr_tensor *gate, const tsr_tensor *up)
{
    return swiglu(out, "swiglu", gate, up);
}

tsr_status tsr_silu_and_mul(tsr_tensor **out, const tsr_tensor *x)
{
    tsr_tensor gate, up;
    TSRI_TRY(tsri_check_allocated("silu_and_mul", "x", x));
    const int last = x->ndim - 1;
    TSRI_CHECK(last >= 0 && x->shape[last] % 2 == 0, TSR_ESHAPE,
               "silu_and_mul: x is %s, whose last dim has no halves", TSRI_DESC(&x->desc));
    tsri_see_slice(&gate, x, last, 0, x->shape[last] / 2, 1);
    tsri_see_slice(&up, x, last, x->shape[last] / 2, x->shape[last], 1);
    return swiglu(out, "silu_and_mul", &gate, &up);
}

/* Dropout and pooling ------------------------------------------------------------------------ */

tsr_status tsr_dropout(tsr_tensor **out, const tsr_tensor *x, double p, uint64_t seed)
{
    const tsr_dropout_params params = { p, seed };
    TSRI_CHECK(p >= 0 && p <= 1, TSR_EINVAL, "dropout: p is %g, and must be 0 to 1", p);
    return tsri_dispatch_one(out, NULL, TSR_OP_DROPOUT, &params, 1, (const tsr_tensor *const[]){ x });
}

tsr_status tsr_global_avg_pool(tsr_tensor **out, const tsr_tensor *x)
{
    TSRI_TRY(tsri_check_kinds("global_avg_pool", "x", x, TSRI_FLOATING));
    TSRI_CHECK(x->ndim == 3, TSR_ESHAPE, "global_avg_pool: x is %s, and must be (batch, seq, feat)",
               TSRI_DESC(&x->desc));
    return tsri_as_of("global_avg_pool", tsr_mean(out, x, 1, (const int[]){ 1 }, false));
}
