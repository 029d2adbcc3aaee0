/* loss.cpp - losses and distances. */
#include "op.h"

#include <cmath>

using namespace face;

infiniStatus_t infiniopCreateCrossEntropyDescriptor(infiniopHandle_t handle,
                                                    infiniopCrossEntropyDescriptor_t *desc_ptr,
                                                    infiniopTensorDescriptor_t y,
                                                    infiniopTensorDescriptor_t x,
                                                    infiniopTensorDescriptor_t target)
{
    Draft draft(TAG_CrossEntropy, handle, desc_ptr, 1, { y, x, target });
    draft.dtypes(0, FLOATS)
        .dtypes(1, FLOATS)
        .dtypes(2, INTEGERS)
        .rank(1, 1, TSR_MAX_NDIM - 1)
        .one_shape({ 0, 2 });
    if (!draft.good()) return draft.finish();
    tsr_desc places = draft[1];
    places.ndim--;
    return draft.need(tsr_desc_same_shape(&places, &draft[2]), INFINI_STATUS_BAD_TENSOR_SHAPE).finish();
}

namespace {

enum { IGNORED = -100 }; /* a target that does not count */

/* Tessera has classes as axis 1, and at least one dim before them. */
tsr_status cross_entropy(tsr_tensor **t, const InfiniopDescriptor &)
{
    View x, target, y;
    Temp loss;
    TSR_TRY(tsr_unsqueeze(&x, t[1], 0));
    TSR_TRY(tsr_move_axis(&x, x, -1, 1));
    TSR_TRY(tsr_unsqueeze(&target, t[2], 0));
    TSR_TRY(tsr_unsqueeze(&y, t[0], 0));
    if (y->dtype == x->dtype)
        return tsr_cross_entropy(&y, x, target, nullptr, TSR_REDUCTION_NONE, IGNORED, 0);
    Temp x_wide;
    TSR_TRY(tsr_cast(&x_wide, x, wide(x)));
    TSR_TRY(tsr_cross_entropy(&loss, x_wide, target, nullptr, TSR_REDUCTION_NONE, IGNORED, 0));
    return tsr_copy(y, loss);
}

} // namespace

infiniStatus_t infiniopCrossEntropy(infiniopCrossEntropyDescriptor_t desc, void *, size_t, void *y,
                                    const void *x, const void *target, void *stream)
{
    return run(desc, TAG_CrossEntropy, stream, { y, x, target }, cross_entropy);
}

namespace {

bool broadcasts_to(const tsr_desc &from, const tsr_desc &to)
{
    tsr_desc expanded;
    return tsr_desc_expand(&expanded, &from, to.ndim, to.shape) == TSR_OK;
}

/* (1 - y) x + (1 + (pos_weight - 1) y) softplus(-x), times weight. */
tsr_status bce(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y, const tsr_tensor *weight,
               const tsr_tensor *pos_weight)
{
    Temp tail, line, factor;
    TSR_TRY(tsr_neg(&tail, x));
    TSR_TRY(tsr_softplus(&tail, tail));
    if (pos_weight) {
        TSR_TRY(tsr_sub(&factor, pos_weight, TSR_NUMBER(1)));
        Temp grown;
        TSR_TRY(tsr_mul(&grown, y, factor));
        TSR_TRY(tsr_add(&grown, grown, TSR_NUMBER(1)));
        TSR_TRY(tsr_mul(&tail, tail, grown));
    }
    TSR_TRY(tsr_mul(&line, x, y));
    TSR_TRY(tsr_sub(&line, x, line));
    TSR_TRY(tsr_add(&tail, tail, line));
    if (weight) TSR_TRY(tsr_mul(&tail, tail, weight));
    *out = tsr_retain(tail);
    return TSR_OK;
}

tsr_status bce_with_logits(tsr_tensor **t, const InfiniopDescriptor &op)
{
    Temp in[4], loss, whole;
    for (int i = 0; i < 4; i++)
        if (t[i + 1]) TSR_TRY(tsr_cast(&in[i], t[i + 1], wide(t[1])));
    TSR_TRY(bce(&loss, in[0], in[1], in[2], in[3]));
    if (op.integer[0] == INFINIOP_REDUCTION_NONE) return tsr_copy(t[0], loss);
    if (op.integer[0] == INFINIOP_REDUCTION_MEAN) TSR_TRY(tsr_mean(&whole, loss, 0, nullptr, false));
    else TSR_TRY(tsr_sum(&whole, loss, 0, nullptr, false));
    return tsr_copy(t[0], whole);
}

} // namespace

infiniStatus_t infiniopCreateBCEWithLogitsDescriptor(
    infiniopHandle_t handle, infiniopBCEWithLogitsDescriptor_t *desc_ptr, infiniopTensorDescriptor_t out,
    infiniopTensorDescriptor_t logits, infiniopTensorDescriptor_t target, infiniopTensorDescriptor_t weight,
    infiniopTensorDescriptor_t pos_weight, infiniopReduction_t reduction)
{
    Draft draft(TAG_BCEWithLogits, handle, desc_ptr, 1, { out, logits, target, weight, pos_weight },
                1u << 3 | 1u << 4);
    draft.op.integer[0] = reduction;
    draft.all_dtypes(FLOATS).one_dtype({ 0, 1, 2, 3, 4 }).one_shape({ 1, 2 })
        .need((int)reduction >= INFINIOP_REDUCTION_NONE && (int)reduction <= INFINIOP_REDUCTION_SUM,
              INFINI_STATUS_BAD_PARAM);
    if (reduction == INFINIOP_REDUCTION_NONE) draft.one_shape({ 0, 1 });
    else draft.scalar(0);
    for (int i = 3; draft.good() && i < 5; i++)
        if (draft.has(i)) draft.need(broadcasts_to(draft[i], draft[1]), INFINI_STATUS_BAD_TENSOR_SHAPE);
    return draft.finish();
}

infiniStatus_t infiniopBCEWithLogits(infiniopBCEWithLogitsDescriptor_t desc, void *, size_t, void *out,
                                     const void *logits, const void *target, const void *weight,
                                     const void *pos_weight, void *stream)
{
    return run(desc, TAG_BCEWithLogits, stream, { out, logits, target, weight, pos_weight }, bce_with_logits);
}

infiniStatus_t infiniopCreateCdistDescriptor(infiniopHandle_t handle, infiniopCdistDescriptor_t *desc_ptr,
                                             infiniopTensorDescriptor_t y, infiniopTensorDescriptor_t x1,
                                             infiniopTensorDescriptor_t x2, double p)
{
    Draft draft(TAG_Cdist, handle, desc_ptr, 1, { y, x1, x2 });
    draft.op.number[0] = p;
    draft.all_dtypes(FLOATS)
        .one_dtype({ 0, 1, 2 })
        .need(p >= 0, INFINI_STATUS_BAD_PARAM)
        .rank(1, 2, TSR_MAX_NDIM - 1);
    if (!draft.good()) return draft.finish();
    const int n = draft[1].ndim;
    draft.rank(0, n, n).rank(2, n, n)
        .need(draft.dim(0, -2) == draft.dim(1, -2) && draft.dim(0, -1) == draft.dim(2, -2) &&
              draft.dim(1, -1) == draft.dim(2, -1), INFINI_STATUS_BAD_TENSOR_SHAPE);
    for (int i = 0; draft.good() && i < n - 2; i++)
        draft.need(draft[0].shape[i] == draft[1].shape[i] && draft[0].shape[i] == draft[2].shape[i],
                   INFINI_STATUS_BAD_TENSOR_SHAPE);
    return draft.finish();
}

infiniStatus_t infiniopCdist(infiniopCdistDescriptor_t desc, void *, size_t, void *y, const void *x1,
                             const void *x2, void *stream)
{
    return run(desc, TAG_Cdist, stream, { y, x1, x2 },
               [](tsr_tensor **t, const InfiniopDescriptor &op) -> tsr_status {
                   const int last = -1;
                   View rows, cols;
                   Temp a, b, difference, distance;
                   TSR_TRY(tsr_cast(&a, t[1], wide(t[1])));
                   TSR_TRY(tsr_cast(&b, t[2], wide(t[2])));
                   TSR_TRY(tsr_unsqueeze(&rows, a, -2));
                   TSR_TRY(tsr_unsqueeze(&cols, b, -3));
                   TSR_TRY(tsr_sub(&difference, rows, cols));
                   TSR_TRY(tsr_norm(&distance, difference, 1, &last, false, op.number[0]));
                   return tsr_copy(t[0], distance);
               });
}
