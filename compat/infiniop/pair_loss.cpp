/* pair_loss.cpp - losses of pairs and triplets of tensors. */
#include "op.h"

#include <cmath>

using namespace face;

/* Losses of pairs ------------------------------------------------------------------------------- */

namespace
{

/* `loss` as it is, its mean or its sum, into out. */
tsr_status store_loss(tsr_tensor *out, const tsr_tensor *loss, int64_t reduction)
{
    Temp whole;
    View one;
    if (reduction == INFINIOP_REDUCTION_NONE) return tsr_copy(out, loss);
    if (reduction == INFINIOP_REDUCTION_MEAN) TSR_TRY(tsr_mean(&whole, loss, 0, nullptr, false));
    else TSR_TRY(tsr_sum(&whole, loss, 0, nullptr, false));
    TSR_TRY(tsr_view(&one, whole, out->ndim, out->shape));
    return tsr_copy(out, one);
}

/* Result 0 has the shape of tensor `like`, or one element; integer[0] is the reduction. */
Draft &need_reduction(Draft &draft, int like, int reduction)
{
    draft.op.integer[0] = reduction;
    draft.need(reduction >= INFINIOP_REDUCTION_NONE && reduction <= INFINIOP_REDUCTION_SUM,
               INFINI_STATUS_BAD_PARAM);
    if (reduction == INFINIOP_REDUCTION_NONE) return draft.one_shape({ 0, like });
    return draft.scalar(0);
}

/* Wide copies of n operands, from t[1] on. */
tsr_status widen(Temp *out, tsr_tensor **t, int n)
{
    for (int i = 0; i < n; i++) TSR_TRY(tsr_cast(&out[i], t[i + 1], wide(t[1])));
    return TSR_OK;
}

tsr_status clamp_below(tsr_tensor **x, double least)
{
    Temp bound;
    TSR_TRY(tsr_full_like(&bound, *x, TSR_SCALAR(least)));
    return tsr_maximum(x, *x, bound);
}

} // namespace

infiniStatus_t infiniopCreateHuberLossDescriptor(Handle handle, Desc *out, T y, T x, T target, float delta,
                                                 int reduction)
{
    Draft draft(TAG_HuberLoss, handle, out, 1, { y, x, target });
    draft.op.number[0] = delta;
    draft.all_dtypes(FLOATS)
        .one_dtype({ 0, 1, 2 })
        .one_shape({ 1, 2 })
        .need(delta > 0, INFINI_STATUS_BAD_PARAM);
    return need_reduction(draft, 1, reduction).finish();
}

infiniStatus_t infiniopHuberLoss(Desc desc, P, size_t, P y, C x, C target, P stream)
{
    return run(desc, TAG_HuberLoss, stream, { y, x, target },
               [](tsr_tensor **t, const InfiniopDescriptor &op) -> tsr_status {
                   Temp in[2], loss;
                   TSR_TRY(widen(in, t, 2));
                   TSR_TRY(tsr_huber_loss(&loss, in[0], in[1], TSR_REDUCTION_NONE, op.number[0]));
                   return store_loss(t[0], loss, op.integer[0]);
               });
}

infiniStatus_t infiniopCreateSmoothL1LossDescriptor(Handle handle, Desc *out, T y, T x, T target,
                                                    float beta, int reduction)
{
    Draft draft(TAG_SmoothL1Loss, handle, out, 1, { y, x, target });
    draft.op.number[0] = beta;
    draft.all_dtypes(FLOATS)
        .one_dtype({ 0, 1, 2 })
        .one_shape({ 1, 2 })
        .need(beta >= 0, INFINI_STATUS_BAD_PARAM);
    return need_reduction(draft, 1, reduction).finish();
}

infiniStatus_t infiniopSmoothL1Loss(Desc desc, P, size_t, P y, C x, C target, P stream)
{
    return run(desc, TAG_SmoothL1Loss, stream, { y, x, target },
               [](tsr_tensor **t, const InfiniopDescriptor &op) -> tsr_status {
                   Temp in[2], loss;
                   TSR_TRY(widen(in, t, 2));
                   if (op.number[0] > 0)
                       TSR_TRY(tsr_smooth_l1_loss(&loss, in[0], in[1], TSR_REDUCTION_NONE, op.number[0]));
                   else TSR_TRY(tsr_l1_loss(&loss, in[0], in[1], TSR_REDUCTION_NONE));
                   return store_loss(t[0], loss, op.integer[0]);
               });
}

/* (log(var) + (x - target)^2 / var) / 2 with var at least eps, and log(2 pi) / 2 if it is to be full. */
infiniStatus_t infiniopCreateGaussianNllLossDescriptor(Handle handle, Desc *out, T y, T x, T target, T var,
                                                       int full, double eps, int reduction)
{
    Draft draft(TAG_GaussianNllLoss, handle, out, 1, { y, x, target, var });
    draft.op.number[0] = eps;
    draft.op.integer[1] = full;
    draft.all_dtypes(FLOATS).one_dtype({ 0, 1, 2, 3 }).one_shape({ 1, 2, 3 });
    return need_reduction(draft, 1, reduction).finish();
}

infiniStatus_t infiniopGaussianNllLoss(Desc desc, P, size_t, P y, C x, C target, C var, P stream)
{
    return run(desc, TAG_GaussianNllLoss, stream, { y, x, target, var },
               [](tsr_tensor **t, const InfiniopDescriptor &op) -> tsr_status {
                   Temp in[3], loss;
                   TSR_TRY(widen(in, t, 3));
                   TSR_TRY(clamp_below(&in[2], op.number[0]));
                   TSR_TRY(tsr_sub(&in[0], in[0], in[1]));
                   TSR_TRY(tsr_square(&in[0], in[0]));
                   TSR_TRY(tsr_div(&in[0], in[0], in[2]));
                   TSR_TRY(tsr_log(&loss, in[2]));
                   TSR_TRY(tsr_add(&loss, loss, in[0]));
                   TSR_TRY(tsr_mul(&loss, loss, TSR_NUMBER(0.5)));
                   if (op.integer[1]) TSR_TRY(tsr_add(&loss, loss, TSR_NUMBER(0.91893853320467274178)));
                   return store_loss(t[0], loss, op.integer[0]);
               });
}

/* x where the target is 1, max(0, margin - x) where it is -1, and max(x, margin) elsewhere. */
infiniStatus_t infiniopCreateHingeEmbeddingLossDescriptor(Handle handle, Desc *out, T y, T x, T target,
                                                          double margin, int reduction)
{
    Draft draft(TAG_HingeEmbeddingLoss, handle, out, 1, { y, x, target });
    draft.op.number[0] = margin;
    draft.all_dtypes(FLOATS).one_dtype({ 0, 1, 2 }).one_shape({ 1, 2 });
    return need_reduction(draft, 1, reduction).finish();
}

infiniStatus_t infiniopHingeEmbeddingLoss(Desc desc, P, size_t, P y, C x, C target, P stream)
{
    return run(desc, TAG_HingeEmbeddingLoss, stream, { y, x, target },
               [](tsr_tensor **t, const InfiniopDescriptor &op) -> tsr_status {
                   Temp in[2], apart, is_apart, is_together, loss, other;
                   TSR_TRY(widen(in, t, 2));
                   TSR_TRY(tsr_cast(&other, in[0], in[0]->dtype));
                   TSR_TRY(clamp_below(&other, op.number[0]));
                   TSR_TRY(tsr_neg(&apart, in[0]));
                   TSR_TRY(tsr_add(&apart, apart, TSR_NUMBER(op.number[0])));
                   TSR_TRY(clamp_below(&apart, 0));
                   TSR_TRY(tsr_eq(&is_apart, in[1], TSR_NUMBER(-1)));
                   TSR_TRY(tsr_eq(&is_together, in[1], TSR_NUMBER(1)));
                   TSR_TRY(tsr_where(&loss, is_together, in[0], other));
                   TSR_TRY(tsr_where(&loss, is_apart, apart, loss));
                   return store_loss(t[0], loss, op.integer[0]);
               });
}

/* Of (n, c): the sum over the other classes of max(0, margin - x[target] + x[i])^p / c, times the target's
 * weight. */
infiniStatus_t infiniopCreateMultiMarginLossDescriptor(Handle handle, Desc *out, T y, T x, T target,
                                                       T weight, int p, float margin, int reduction)
{
    Draft draft(TAG_MultiMarginLoss, handle, out, 1, { y, x, target, weight }, 1u << 3);
    draft.op.number[0] = margin;
    draft.op.integer[1] = p;
    draft.dtypes(0, FLOATS)
        .one_dtype({ 0, 1, 3 })
        .dtypes(2, INTEGERS)
        .rank(1, 2, 2)
        .shape(2, { draft.dim(1, 0) })
        .shape(3, { draft.dim(1, 1) })
        .need(p == 1 || p == 2, INFINI_STATUS_BAD_PARAM)
        .need(draft.dim(1, 1) > 0, INFINI_STATUS_BAD_TENSOR_SHAPE);
    return need_reduction(draft, 2, reduction).finish();
}

namespace
{

tsr_status multi_margin(tsr_tensor **t, const InfiniopDescriptor &op)
{
    const int64_t c = t[1]->shape[1];
    const int last = 1;
    Temp x, own, all, mask, zero, loss, places;
    View column;
    TSR_TRY(tsr_cast(&x, t[1], wide(t[1])));
    TSR_TRY(tsr_cast(&places, t[2], TSR_I64));
    TSR_TRY(tsr_unsqueeze(&column, places, 1));
    TSR_TRY(tsr_gather(&own, x, column, 1));
    TSR_TRY(tsr_sub(&all, x, own));
    TSR_TRY(tsr_add(&all, all, TSR_NUMBER(op.number[0])));
    TSR_TRY(clamp_below(&all, 0));
    if (op.integer[1] == 2) TSR_TRY(tsr_square(&all, all));
    TSR_TRY(tsr_one_hot(&mask, places, c, TSR_BOOL));
    TSR_TRY(tsr_zeros_like(&zero, all));
    TSR_TRY(tsr_where(&all, mask, zero, all));
    TSR_TRY(tsr_sum(&loss, all, 1, &last, false));
    TSR_TRY(tsr_mul(&loss, loss, TSR_NUMBER(1.0 / (double)c)));
    if (t[3]) {
        Temp weight, wide_weight;
        TSR_TRY(tsr_take(&weight, t[3], places, 0));
        TSR_TRY(tsr_cast(&wide_weight, weight, x->dtype));
        TSR_TRY(tsr_mul(&loss, loss, wide_weight));
    }
    return store_loss(t[0], loss, op.integer[0]);
}

} // namespace

infiniStatus_t infiniopMultiMarginLoss(Desc desc, P, size_t, P y, C x, C target, C weight, P stream)
{
    return run(desc, TAG_MultiMarginLoss, stream, { y, x, target, weight }, multi_margin);
}

/* Triplets: max(0, d(anchor, positive) - d(anchor, negative) + margin) ---------------------------- */

namespace
{

/* (sum of |a - b|^p, and eps)^(1 / p) along the last axis. */
tsr_status distance(tsr_tensor **out, const tsr_tensor *a, const tsr_tensor *b, double p, double eps)
{
    const int last = -1;
    Temp difference, power;
    TSR_TRY(tsr_sub(&difference, a, b));
    TSR_TRY(tsr_abs(&difference, difference));
    TSR_TRY(tsr_pow(&power, difference, TSR_NUMBER(p)));
    TSR_TRY(tsr_sum(out, power, 1, &last, false));
    TSR_TRY(tsr_add(out, *out, TSR_NUMBER(eps)));
    return tsr_pow(out, *out, TSR_NUMBER(1 / p));
}

/* number: margin, p, eps; integer[1]: may the positive be nearer to the negative? */
tsr_status triplet(tsr_tensor **t, const InfiniopDescriptor &op)
{
    const double margin = op.number[0], p = op.number[1], eps = op.number[2];
    Temp in[3], near, apart, between;
    TSR_TRY(widen(in, t, 3));
    TSR_TRY(distance(&near, in[0], in[1], p, eps));
    TSR_TRY(distance(&apart, in[0], in[2], p, eps));
    if (op.integer[1]) {
        TSR_TRY(distance(&between, in[1], in[2], p, eps));
        TSR_TRY(tsr_minimum(&apart, apart, between));
    }
    TSR_TRY(tsr_sub(&near, near, apart));
    TSR_TRY(tsr_add(&near, near, TSR_NUMBER(margin)));
    TSR_TRY(clamp_below(&near, 0));
    return store_loss(t[0], near, op.integer[0]);
}

Draft &need_triplet(Draft &draft, double margin, double p, double eps, int swap, int reduction)
{
    draft.op.number[0] = margin;
    draft.op.number[1] = p;
    draft.op.number[2] = eps;
    draft.op.integer[0] = reduction;
    draft.op.integer[1] = swap;
    draft.all_dtypes(FLOATS)
        .one_dtype({ 0, 1, 2, 3 })
        .one_shape({ 1, 2, 3 })
        .rank(1, 1, TSR_MAX_NDIM)
        .need(p > 0 && reduction >= INFINIOP_REDUCTION_NONE && reduction <= INFINIOP_REDUCTION_SUM,
              INFINI_STATUS_BAD_PARAM);
    if (reduction != INFINIOP_REDUCTION_NONE) return draft.scalar(0);
    draft.rank(0, draft.dims(1) - 1, draft.dims(1) - 1);
    for (int i = 0; draft.good() && i < draft[0].ndim; i++)
        draft.need(draft[0].shape[i] == draft[1].shape[i], INFINI_STATUS_BAD_TENSOR_SHAPE);
    return draft;
}

} // namespace

infiniStatus_t infiniopCreateTripletMarginLossDescriptor(Handle handle, Desc *out, T y, T anchor,
                                                         T positive, T negative, float margin, int p,
                                                         float eps, int swap, int reduction)
{
    Draft draft(TAG_TripletMarginLoss, handle, out, 1, { y, anchor, positive, negative });
    return need_triplet(draft, margin, p, eps, swap, reduction).finish();
}

infiniStatus_t infiniopTripletMarginLoss(Desc desc, P, size_t, P y, C anchor, C positive, C negative,
                                         P stream)
{
    return run(desc, TAG_TripletMarginLoss, stream, { y, anchor, positive, negative }, triplet);
}

infiniStatus_t infiniopCreateTripletMarginWithDistanceLossDescriptor(Handle handle, Desc *out, T y,
                                                                     T anchor, T positive, T negative,
                                                                     float margin, int swap, int reduction)
{
    Draft draft(TAG_TripletMarginWithDistanceLoss, handle, out, 1, { y, anchor, positive, negative });
    return need_triplet(draft, margin, 2, 1e-6, swap, reduction).finish();
}

infiniStatus_t infiniopTripletMarginWithDistanceLoss(Desc desc, P, size_t, P y, C anchor, C positive,
                                                     C negative, P stream)
{
    return run(desc, TAG_TripletMarginWithDistanceLoss, stream, { y, anchor, positive, negative }, triplet);
}
