/* nn_loss.c - losses: the calls, the rules for their results, and their parts. */
#include "nn.h"
#include "index_int.h"
#include "signature.h"
#include "tessera/move.h"
#include "tessera/ops/elementwise.h"
#include "tessera/ops/index.h"
#include "tessera/ops/nn.h"
#include "tessera/ops/reduce.h"
#include "tessera/view.h"

static const char *operand(tsr_op_kind kind, int i) { return tsri_signature_of(kind)->operand[i].name; }

/* Rules ------------------------------------------------------------------------------------- */

static bool takes_classes(tsr_op_kind kind)
{
    return kind == TSR_OP_CROSS_ENTROPY || kind == TSR_OP_NLL_LOSS;
}

/* The shape of the places that have a loss each: x's, without the classes where it has any. */
static void find_places(tsr_desc *places, tsr_op_kind kind, const tsr_desc *x)
{
    const bool classes = takes_classes(kind) || kind == TSR_OP_CROSS_ENTROPY_SOFT;
    places->dtype = x->dtype;
    places->ndim = 0;
    for (int i = 0; i < x->ndim; i++)
        if (!classes || i != 1) places->shape[places->ndim++] = x->shape[i];
}

static bool same_dims(const tsr_desc *a, const tsr_desc *b)
{
    if (a->ndim != b->ndim) return false;
    for (int i = 0; i < a->ndim; i++)
        if (a->shape[i] != b->shape[i]) return false;
    return true;
}

tsr_status tsri_infer_loss(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                           const void *params)
{
    tsr_desc places;
    const int reduction = ((const tsr_loss_params *)params)->reduction;
    find_places(&places, kind, in[0]);
    TSRI_CHECK(same_dims(in[1], takes_classes(kind) ? &places : in[0]), TSR_ESHAPE,
               "%s: %s is %s, which does not fit %s %s", name, operand(kind, 1), TSRI_DESC(in[1]),
               operand(kind, 0), TSRI_DESC(in[0]));
    TSRI_CHECK(!takes_classes(kind) || in[0]->shape[1] > 0 || tsr_desc_numel(in[1]) == 0, TSR_ESHAPE,
               "%s: %s %s has no classes", name, operand(kind, 0), TSRI_DESC(in[0]));
    TSRI_CHECK(reduction >= TSR_REDUCTION_NONE && reduction <= TSR_REDUCTION_SUM, TSR_EINVAL,
               "%s: %d is no reduction", name, reduction);
    return tsri_desc_packed(out, name, places.dtype, reduction == TSR_REDUCTION_NONE ? places.ndim : 0,
                            places.shape);
}

double tsri_loss_work(const tsr_desc *const *in, const tsr_desc *out, const void *params)
{
    (void)out; (void)params;
    return (double)tsr_desc_numel(in[0]);
}

/* Losses of classes ------------------------------------------------------------------------ */

static tsr_status check_targets(const char *name, const char *what, const tsr_tensor *x,
                                const tsr_tensor *target, int64_t ignore_index)
{
    int64_t value = 0, at[TSR_MAX_NDIM];
    bool outside = false;
    TSRI_TRY(tsri_check_allocated(name, "target", target));
    TSRI_TRY(tsri_check_allocated(name, what, x));
    if (x->ndim < 2) return TSR_OK;  /* the signature finds the words */
    TSRI_TRY(tsri_find_outside(&outside, &value, at, target, (tsri_index_range){ 0, x->shape[1] - 1 },
                               &ignore_index));
    TSRI_CHECK(!outside, TSR_EINDEX,
               "%s: target %lld at %s is none of the %lld classes of %s %s", name, (long long)value,
               TSRI_DIMS(target->ndim, at), (long long)x->shape[1], what, TSRI_DESC(&x->desc));
    return TSR_OK;
}

static tsr_status class_loss(tsr_tensor **out, tsr_op_kind kind, const tsr_tensor *x,
                             const tsr_tensor *target, const tsr_tensor *weight,
                             const tsr_loss_params *params)
{
    tsr_tensor *temporary = NULL;
    const char *name = tsr_op_get_info(kind)->name;
    tsr_status s = tsri_as_integers(&target, &temporary, name, "target");
    if (s == TSR_OK) s = check_targets(name, operand(kind, 0), x, target, params->ignore_index);
    if (s == TSR_OK)
        s = tsri_dispatch_one(out, NULL, kind, params, 3, (const tsr_tensor *const[]){ x, target, weight });
    tsr_release(&temporary);
    return s;
}

tsr_status tsr_cross_entropy(tsr_tensor **out, const tsr_tensor *logits, const tsr_tensor *target,
                             const tsr_tensor *weight, tsr_reduction reduction, int64_t ignore_index,
                             double label_smoothing)
{
    const tsr_loss_params params = { (int32_t)reduction, 0, label_smoothing, ignore_index };
    TSRI_CHECK(label_smoothing >= 0 && label_smoothing <= 1, TSR_EINVAL,
               "cross_entropy: label_smoothing is %g, and must be 0 to 1", label_smoothing);
    TSRI_TRY(tsri_check_allocated("cross_entropy", "target", target));
    if (tsr_dtype_kind(target->dtype) != TSR_FLOATING)
        return class_loss(out, TSR_OP_CROSS_ENTROPY, logits, target, weight, &params);
    return tsri_dispatch_one(out, "cross_entropy", TSR_OP_CROSS_ENTROPY_SOFT, &params, weight ? 3 : 2,
                          (const tsr_tensor *const[]){ logits, target, weight });
}

tsr_status tsr_nll_loss(tsr_tensor **out, const tsr_tensor *log_probs, const tsr_tensor *target,
                        const tsr_tensor *weight, tsr_reduction reduction, int64_t ignore_index)
{
    const tsr_loss_params params = { (int32_t)reduction, 0, 0, ignore_index };
    return class_loss(out, TSR_OP_NLL_LOSS, log_probs, target, weight, &params);
}

/* Losses of pairs ----------------------------------------------------------------------------- */

static tsr_status pair_loss(tsr_tensor **out, tsr_op_kind kind, const tsr_tensor *x, const tsr_tensor *y,
                            tsr_reduction reduction, double a)
{
    const tsr_loss_params params = { (int32_t)reduction, a, 0, 0 };
    return tsri_dispatch_one(out, NULL, kind, &params, 2, (const tsr_tensor *const[]){ x, y });
}

tsr_status tsr_mse_loss(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y, tsr_reduction reduction)
{
    return pair_loss(out, TSR_OP_MSE_LOSS, x, y, reduction, 0);
}

tsr_status tsr_l1_loss(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y, tsr_reduction reduction)
{
    return pair_loss(out, TSR_OP_L1_LOSS, x, y, reduction, 0);
}

tsr_status tsr_huber_loss(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y, tsr_reduction reduction,
                          double delta)
{
    TSRI_CHECK(tsri_is_finite(delta) && delta > 0, TSR_EINVAL,
               "huber_loss: delta is %g, and must be finite and positive", delta);
    return pair_loss(out, TSR_OP_HUBER_LOSS, x, y, reduction, delta);
}

tsr_status tsr_smooth_l1_loss(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y,
                              tsr_reduction reduction, double beta)
{
    TSRI_CHECK(tsri_is_finite(beta) && beta >= 0, TSR_EINVAL,
               "smooth_l1_loss: beta is %g, and must be finite and not negative", beta);
    return pair_loss(out, TSR_OP_SMOOTH_L1_LOSS, x, y, reduction, beta);
}

/* Parts ---------------------------------------------------------------------------------------- */

/* Losses to the result. weights are those of the places; NULL: all 1. */
static tsr_status finish(const tsr_op *op, tsr_tensor **total, tsr_tensor **count, const tsr_tensor *losses,
                         const tsr_tensor *weights)
{
    const int reduction = ((const tsr_loss_params *)op->params)->reduction;
    if (reduction == TSR_REDUCTION_NONE) return tsr_copy(op->out[0], losses);
    if (reduction == TSR_REDUCTION_MEAN && !weights) {
        TSRI_TRY(tsr_mean(total, losses, 0, NULL, false));
    } else {
        TSRI_TRY(tsr_sum(total, losses, 0, NULL, false));
    }
    if (reduction == TSR_REDUCTION_MEAN && weights) {
        TSRI_TRY(tsr_sum(count, weights, 0, NULL, false));
        TSRI_TRY(tsr_div(total, *total, *count));
    }
    return tsr_copy(op->out[0], *total);
}

/* Logarithms of probabilities in the dtype that is computed in. */
static tsr_status log_probs(const tsr_tensor **x, tsr_tensor **temporary, const tsr_op *op)
{
    *x = op->in[0];
    TSRI_TRY(tsri_as_dtype(x, temporary, tsri_work_dtype((*x)->dtype)));
    if (op->kind == TSR_OP_NLL_LOSS) return TSR_OK;
    TSRI_TRY(tsr_log_softmax(temporary, *x, 1));
    *x = *temporary;
    return TSR_OK;
}

/* *out = -x * weight summed over the classes; weight may be NULL. */
static tsr_status spread(tsr_tensor **out, tsr_tensor **product, const tsr_tensor *x,
                         const tsr_tensor *weight)
{
    tsr_tensor view;
    if (weight) {
        tsri_see_channels(&view, weight, x->ndim);
        TSRI_TRY(tsr_mul(product, x, &view));
        x = *product;
    }
    TSRI_TRY(tsr_sum(out, x, 1, (const int[]){ 1 }, false));
    return tsr_neg(out, *out);
}

/* *losses = (1 - s) * *losses + by * what it is spread to. */
static tsr_status smooth(tsr_tensor **losses, tsr_tensor **spreads, double s, double by)
{
    TSRI_TRY(tsr_mul(losses, *losses, TSR_NUMBER(1 - s)));
    TSRI_TRY(tsr_mul(spreads, *spreads, TSR_NUMBER(by)));
    return tsr_add(losses, *losses, *spreads);
}

/* t[1] is the weight of classes, t[2] which places are ignored, t[3] the targets of the others,
 * t[4] losses, t[5] weights of places. */
static tsr_status class_recipe(const tsr_op *op, tsr_tensor **t)
{
    const tsr_loss_params *p = op->params;
    const tsr_tensor *x = NULL, *weight = op->in[2];
    TSRI_TRY(log_probs(&x, &t[0], op));
    if (weight) TSRI_TRY(tsri_as_dtype(&weight, &t[1], x->dtype));
    TSRI_TRY(tsr_eq(&t[2], op->in[1], TSR_NUMBER(p->ignore_index)));
    TSRI_TRY(tsr_where(&t[3], t[2], TSR_NUMBER(0), op->in[1]));
    if (weight) {
        TSRI_TRY(tsr_take(&t[5], weight, t[3], 0));
    } else {
        TSRI_TRY(tsr_cast(&t[5], t[3], x->dtype));
        TSRI_TRY(tsr_fill(t[5], tsr_scalar_i64(1)));
    }
    TSRI_TRY(tsr_where(&t[5], t[2], TSR_NUMBER(0), t[5]));
    TSRI_TRY(tsr_unsqueeze(&t[3], t[3], 1));
    TSRI_TRY(tsr_gather(&t[4], x, t[3], 1));
    TSRI_TRY(tsr_squeeze(&t[4], t[4], 1));
    TSRI_TRY(tsr_neg(&t[4], t[4]));
    TSRI_TRY(tsr_mul(&t[4], t[4], t[5]));
    if (p->smoothing != 0) {
        TSRI_TRY(spread(&t[6], &t[7], x, weight));
        TSRI_TRY(smooth(&t[4], &t[6], p->smoothing, p->smoothing / (double)x->shape[1]));
    }
    TSRI_TRY(tsr_where(&t[4], t[2], TSR_NUMBER(0), t[4]));
    return finish(op, &t[8], &t[9], t[4], t[5]);
}

tsr_status tsri_class_loss_parts(const tsr_op *op) { return tsri_cook(op, class_recipe); }

static tsr_status soft_recipe(const tsr_op *op, tsr_tensor **t)
{
    const tsr_loss_params *p = op->params;
    const tsr_tensor *x = NULL, *target = op->in[1], *weight = op->in[2];
    TSRI_TRY(log_probs(&x, &t[0], op));
    TSRI_TRY(tsri_as_dtype(&target, &t[1], x->dtype));
    if (weight) TSRI_TRY(tsri_as_dtype(&weight, &t[2], x->dtype));
    TSRI_TRY(tsr_mul(&t[3], x, target));
    TSRI_TRY(spread(&t[4], &t[5], t[3], weight));
    if (p->smoothing != 0) {
        TSRI_TRY(spread(&t[6], &t[5], x, weight));
        TSRI_TRY(smooth(&t[4], &t[6], p->smoothing, p->smoothing / (double)x->shape[1]));
    }
    return finish(op, &t[7], &t[8], t[4], NULL);
}

tsr_status tsri_soft_loss_parts(const tsr_op *op) { return tsri_cook(op, soft_recipe); }

/* *out = d^2 * by where |d| <= edge, else slope * (|d| - edge / 2). At the edge both are equal. */
static tsr_status bend(tsr_tensor **out, tsr_tensor **t, const tsr_tensor *d, double edge, double by,
                       double slope)
{
    TSRI_TRY(tsr_abs(&t[0], d));
    TSRI_TRY(tsr_le(&t[1], t[0], TSR_NUMBER(edge)));
    TSRI_TRY(tsr_sub(&t[0], t[0], TSR_NUMBER(edge / 2)));
    TSRI_TRY(tsr_mul(&t[0], t[0], TSR_NUMBER(slope)));
    TSRI_TRY(tsr_square(&t[2], d));
    TSRI_TRY(tsr_mul(&t[2], t[2], TSR_NUMBER(by)));
    return tsr_where(out, t[1], t[2], t[0]);
}

static tsr_status pair_recipe(const tsr_op *op, tsr_tensor **t)
{
    const tsr_tensor *x = op->in[0], *y = op->in[1];
    const double a = ((const tsr_loss_params *)op->params)->a;
    const tsr_dtype work = tsri_work_dtype(x->dtype);
    const bool smooth_l1 = op->kind == TSR_OP_SMOOTH_L1_LOSS;
    TSRI_TRY(tsri_as_dtype(&x, &t[0], work));
    TSRI_TRY(tsri_as_dtype(&y, &t[1], work));
    TSRI_TRY(tsr_sub(&t[2], x, y));
    if (op->kind == TSR_OP_MSE_LOSS)                          TSRI_TRY(tsr_square(&t[2], t[2]));
    else if (op->kind == TSR_OP_L1_LOSS || a == 0)            TSRI_TRY(tsr_abs(&t[2], t[2]));
    else TSRI_TRY(bend(&t[2], &t[3], t[2], a, smooth_l1 ? 0.5 / a : 0.5, smooth_l1 ? 1 : a));
    return finish(op, &t[6], &t[7], t[2], NULL);
}

tsr_status tsri_pair_loss_parts(const tsr_op *op) { return tsri_cook(op, pair_recipe); }
