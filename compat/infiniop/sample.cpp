/* sample.cpp - choosing: sampling, the best experts, histograms. */
#include "op.h"

#include <algorithm>

using namespace face;

/* Sampling ---------------------------------------------------------------------------- */

infiniStatus_t infiniopCreateRandomSampleDescriptor(infiniopHandle_t handle,
                                                    infiniopRandomSampleDescriptor_t *desc_ptr,
                                                    infiniopTensorDescriptor_t result,
                                                    infiniopTensorDescriptor_t probs)
{
    Draft draft(TAG_RandomSample, handle, desc_ptr, 1, { result, probs });
    return draft.dtypes(0, INTEGERS).dtypes(1, FLOATS).rank(1, 1, 1).scalar(0)
        .need(draft.dim(1, 0) > 0, INFINI_STATUS_BAD_TENSOR_SHAPE).finish();
}

namespace {

/* The sum of the k largest probabilities. */
tsr_status mass_of_topk(double *out, const tsr_tensor *logits, int64_t k, double temperature)
{
    Temp x, values, places, sum, host;
    TSR_TRY(tsr_cast(&x, logits, TSR_F64));
    TSR_TRY(tsr_div(&x, x, TSR_NUMBER(temperature)));
    TSR_TRY(tsr_softmax(&x, x, 0));
    TSR_TRY(tsr_topk(&values, &places, x, k, 0, true, true));
    TSR_TRY(tsr_sum(&sum, values, 0, nullptr, false));
    TSR_TRY(tsr_to(&host, sum, TSR_CPU));
    return tsr_item_f64(out, host);
}

/* Tessera draws where the sum reaches r of what is kept; here it is r of the smaller of topp and the
 * topk's sum, with nothing left out. So r shrinks by that. */
tsr_status sample(tsr_tensor *result, const tsr_tensor *logits, double r, double topp, int64_t topk,
                  double temperature)
{
    Temp place;
    if (r == 0 || topp <= 0 || topk <= 1 || temperature == 0) {
        TSR_TRY(tsr_argmax(&place, logits, 0, false));
        return tsr_copy(result, place);
    }
    double mass = 1;
    const int64_t n = logits->shape[0];
    if (topk < n) TSR_TRY(mass_of_topk(&mass, logits, topk, temperature));
    TSR_TRY(tsr_sample_with(&place, logits, temperature, 0, 1, r * std::min(mass, topp)));
    return tsr_copy(result, place);
}

} // namespace

infiniStatus_t infiniopRandomSample(infiniopRandomSampleDescriptor_t desc, void *, size_t, void *result,
                                    const void *probs, float random_val, float topp, int topk,
                                    float temperature, void *stream)
{
    FACE_TRY(check(desc, TAG_RandomSample));
    if (!(random_val >= 0 && random_val < 1) || desc->integer[0]) return INFINI_STATUS_BAD_PARAM;
    return run(desc, TAG_RandomSample, stream, { result, probs },
               [=](tsr_tensor **t, const InfiniopDescriptor &) {
        return sample(t[0], t[1], random_val, topp, topk, temperature);
    });
}

/* Experts ------------------------------------------------------------------------------- */

namespace {

/* values and indices are the caller's, packed; only x is described. */
infiniStatus_t run_experts(const InfiniopDescriptor *desc, Tag tag, void *stream, void *values, void *indices,
                           const void *x, const void *bias, int64_t topk,
                           tsr_status (*body)(tsr_tensor *values, tsr_tensor *indices, tsr_tensor **t,
                                              int64_t topk, double factor, int norm),
                           double factor, int norm)
{
    FACE_TRY(check(desc, tag));
    if (topk < 1 || topk > desc->tensor[2].shape[1]) return INFINI_STATUS_BAD_PARAM;
    InfiniopDescriptor op = *desc;
    const int64_t shape[2] = { desc->tensor[2].shape[0], topk };
    tsr_desc d;
    FACE_TRY(status_of(tsr_desc_init(&d, TSR_F32, 2, shape, nullptr)));
    FACE_TRY(set_tensor(&op, 0, d));
    d.dtype = TSR_I32;
    FACE_TRY(set_tensor(&op, 1, d));
    op.results = 2;
    return run_checked(&op, stream, { values, indices, x, bias },
               [=](tsr_tensor **t, const InfiniopDescriptor &) {
        return body(t[0], t[1], t + 2, topk, factor, norm);
    });
}

/* Values over their sum along the last axis. */
tsr_status divide_by_sum(tsr_tensor **values, double least)
{
    const int last = -1;
    Temp sum;
    TSR_TRY(tsr_sum(&sum, *values, 1, &last, true));
    if (least > 0) TSR_TRY(tsr_add(&sum, sum, TSR_NUMBER(least)));
    return tsr_div(values, *values, sum);
}

tsr_status topk_softmax(tsr_tensor *values, tsr_tensor *indices, tsr_tensor **t, int64_t topk, double,
                        int norm)
{
    Temp x, best, places;
    TSR_TRY(tsr_cast(&x, t[0], TSR_F32));
    TSR_TRY(tsr_softmax(&x, x, -1));
    TSR_TRY(tsr_topk(&best, &places, x, topk, -1, true, true));
    if (norm) TSR_TRY(divide_by_sum(&best, 0));
    TSR_TRY(tsr_copy(values, best));
    return tsr_copy(indices, places);
}

enum { GROUPS = 8, GROUPS_KEPT = 4 };

/* 1 for the groups whose two best sum highest, 0 for the others: (n, GROUPS, 1). */
tsr_status best_groups(tsr_tensor **keep, const tsr_tensor *grouped)
{
    const int last = -1;
    Temp two, places, sum, best, which, none;
    TSR_TRY(tsr_topk(&two, &places, grouped, 2, -1, true, true));
    TSR_TRY(tsr_sum(&sum, two, 1, &last, false));
    TSR_TRY(tsr_topk(&best, &which, sum, GROUPS_KEPT, -1, true, true));
    TSR_TRY(tsr_zeros_like(&none, sum));
    TSR_TRY(tsr_scatter(&none, none, which, TSR_NUMBER(1), 1, TSR_SCATTER_SET));
    return tsr_unsqueeze(keep, none, -1);
}

tsr_status route(tsr_tensor *values, tsr_tensor *indices, tsr_tensor **t, int64_t topk, double factor, int)
{
    Temp scores, chosen, best, places, weights;
    const int64_t n = t[0]->shape[0], width = t[0]->shape[1];
    const int64_t groups[3] = { n, GROUPS, width / GROUPS }, flat[2] = { n, width };
    TSR_TRY(tsr_cast(&scores, t[0], TSR_F32));
    TSR_TRY(tsr_sigmoid(&scores, scores));
    TSR_TRY(tsr_add(&chosen, scores, t[1]));
    Temp grouped, keep, kept, picked;
    TSR_TRY(tsr_view(&grouped, chosen, 3, groups));
    TSR_TRY(best_groups(&keep, grouped));
    TSR_TRY(tsr_mul(&kept, grouped, keep));
    TSR_TRY(tsr_view(&picked, kept, 2, flat));
    TSR_TRY(tsr_topk(&best, &places, picked, topk, -1, true, true));
    TSR_TRY(tsr_gather(&weights, scores, places, 1));
    TSR_TRY(divide_by_sum(&weights, 1e-20));
    TSR_TRY(tsr_mul(&weights, weights, TSR_NUMBER(factor)));
    TSR_TRY(tsr_copy(values, weights));
    return tsr_copy(indices, places);
}

} // namespace

infiniStatus_t infiniopCreateTopksoftmaxDescriptor(infiniopHandle_t handle,
                                                   infiniopTopksoftmaxDescriptor_t *desc_ptr,
                                                   infiniopTensorDescriptor_t x)
{
    return Draft(TAG_Topksoftmax, handle, desc_ptr, 0, { nullptr, nullptr, x, nullptr },
                 1u | 1u << 1 | 1u << 3)
        .dtypes(2, FLOATS)
        .rank(2, 2, 2)
        .finish();
}

infiniStatus_t infiniopTopksoftmax(infiniopTopksoftmaxDescriptor_t desc, void *, size_t, void *values,
                                   void *indices, const void *x, const size_t topk, const int norm,
                                   void *stream)
{
    return run_experts(desc, TAG_Topksoftmax, stream, values, indices, x, nullptr, (int64_t)topk,
                       topk_softmax, 0, norm);
}

infiniStatus_t infiniopCreateTopkrouterDescriptor(infiniopHandle_t handle,
                                                  infiniopTopkrouterDescriptor_t *desc_ptr,
                                                  infiniopTensorDescriptor_t x,
                                                  infiniopTensorDescriptor_t correction_bias)
{
    Draft draft(TAG_Topkrouter, handle, desc_ptr, 0, { nullptr, nullptr, x, correction_bias }, 1u | 1u << 1);
    return draft.dtypes(2, FLOATS)
        .dtypes(3, set_of(INFINI_DTYPE_F32))
        .rank(2, 2, 2)
        .shape(3, { draft.dim(2, 1) })
        .need(draft.dim(2, 1) % GROUPS == 0 && draft.dim(2, 1) >= 2 * GROUPS, INFINI_STATUS_BAD_TENSOR_SHAPE)
        .finish();
}

infiniStatus_t infiniopTopkrouter(infiniopTopkrouterDescriptor_t desc, void *, size_t, void *values,
                                  void *indices, const void *x, const void *correction_bias,
                                  const float routed_scaling_factor, const size_t topk, void *stream)
{
    return run_experts(desc, TAG_Topkrouter, stream, values, indices, x, correction_bias, (int64_t)topk,
                       route, routed_scaling_factor, 0);
}

/* Histograms ------------------------------------------------------------------------------ */

infiniStatus_t infiniopCreateHistcDescriptor(infiniopHandle_t handle, infiniopHistcDescriptor_t *desc_ptr,
                                             infiniopTensorDescriptor_t y, infiniopTensorDescriptor_t x,
                                             int64_t bins, double min_val, double max_val)
{
    Draft draft(TAG_Histc, handle, desc_ptr, 1, { y, x });
    draft.op.integer[0] = bins;
    draft.op.number[0] = min_val;
    draft.op.number[1] = max_val;
    return draft.dtypes(0, set_of(INFINI_DTYPE_F32)).dtypes(1, FLOATS)
        .need(bins > 0 && min_val <= max_val && max_val - min_val <= 1.7e308, INFINI_STATUS_BAD_PARAM)
        .shape(0, { bins }).finish();
}

namespace {

tsr_status range_of(double *low, double *high, const tsr_tensor *x)
{
    if (*low == 0 && *high == 0 && tsr_numel(x)) {
        Temp least, most, host;
        TSR_TRY(tsr_min(&least, x, 0, nullptr, false));
        TSR_TRY(tsr_to(&host, least, TSR_CPU));
        TSR_TRY(tsr_item_f64(low, host));
        TSR_TRY(tsr_max(&most, x, 0, nullptr, false));
        Temp host_most;
        TSR_TRY(tsr_to(&host_most, most, TSR_CPU));
        TSR_TRY(tsr_item_f64(high, host_most));
    }
    if (*low == *high) {
        *low -= 1;
        *high += 1;
    }
    return TSR_OK;
}

/* Which bin each element falls into; one behind the last stands for none. */
tsr_status bins_of(tsr_tensor **out, const tsr_tensor *x, double low, double high, int64_t bins)
{
    Temp at, below, above, inside, outside, index;
    TSR_TRY(tsr_sub(&at, x, TSR_NUMBER(low)));
    TSR_TRY(tsr_mul(&at, at, TSR_NUMBER((double)bins)));
    TSR_TRY(tsr_div(&at, at, TSR_NUMBER(high - low)));
    TSR_TRY(tsr_floor(&at, at));
    TSR_TRY(tsr_minimum(&at, at, TSR_NUMBER((double)(bins - 1))));
    TSR_TRY(tsr_ge(&below, x, TSR_NUMBER(low)));
    TSR_TRY(tsr_le(&above, x, TSR_NUMBER(high)));
    TSR_TRY(tsr_logical_and(&inside, below, above));
    TSR_TRY(tsr_full_like(&outside, at, TSR_SCALAR((double)bins)));
    TSR_TRY(tsr_where(&index, inside, at, outside));
    return tsr_cast(out, index, TSR_I64);
}

tsr_status histogram(tsr_tensor **t, const InfiniopDescriptor &op)
{
    double low = op.number[0], high = op.number[1];
    const int64_t bins = op.integer[0], room = bins + 1, all = -1;
    Temp x, index, flat, counts, host;
    View first;
    TSR_TRY(tsr_cast(&x, t[1], TSR_F64));
    TSR_TRY(range_of(&low, &high, x));
    TSR_TRY(bins_of(&index, x, low, high, bins));
    TSR_TRY(tsr_reshape(&flat, index, 1, &all));
    TSR_TRY(tsr_zeros(&host, TSR_I64, 1, &room)); /* f32 cannot count beyond 2^24 by ones */
    TSR_TRY(tsr_to(&counts, host, tsr_device_of(t[1])));
    TSR_TRY(tsr_scatter(&counts, counts, flat, TSR_NUMBER(1), 0, TSR_SCATTER_ADD));
    TSR_TRY(tsr_slice(&first, counts, 0, 0, bins, 1));
    return tsr_copy(t[0], first);
}

} // namespace

infiniStatus_t infiniopHistc(infiniopHistcDescriptor_t desc, void *, size_t, void *y, const void *x,
                             void *stream)
{
    return run(desc, TAG_Histc, stream, { y, x }, histogram);
}

/* Routing with described results ------------------------------------------------------------------ */

namespace {

/* weights, indices, gate, bias: (n, k) twice, (n, experts), (experts) or none. */
Draft &need_routing(Draft &draft, bool renormalize)
{
    draft.op.integer[0] = renormalize;
    return draft.dtypes(0, set_of(INFINI_DTYPE_F32)).dtypes(1, INTEGERS).dtypes(2, FLOATS).dtypes(3, FLOATS)
        .rank(2, 2, 2).rank(0, 2, 2).one_shape({ 0, 1 }).shape(3, { draft.dim(2, 1) })
        .need(draft.dim(0, 0) == draft.dim(2, 0) && draft.dim(0, 1) >= 1, INFINI_STATUS_BAD_TENSOR_SHAPE)
        .need(draft.dim(0, 1) <= draft.dim(2, 1), INFINI_STATUS_BAD_TENSOR_SHAPE);
}

/* The experts of the best scores; the bias counts for the choice and not for the weights. */
tsr_status choose_experts(tsr_tensor **t, const tsr_tensor *scores, bool renormalize)
{
    Temp bias, biased, best, places, weights;
    const tsr_tensor *choice = scores;
    if (t[3]) {
        TSR_TRY(tsr_cast(&bias, t[3], scores->dtype));
        TSR_TRY(tsr_add(&biased, scores, bias));
        choice = biased;
    }
    TSR_TRY(tsr_topk(&best, &places, choice, t[0]->shape[1], -1, true, true));
    TSR_TRY(tsr_gather(&weights, scores, places, 1));
    if (renormalize) TSR_TRY(divide_by_sum(&weights, 0));
    TSR_TRY(tsr_copy(t[0], weights));
    return tsr_copy(t[1], places);
}

} // namespace

infiniStatus_t infiniopCreateMoeTopkSoftmaxDescriptor(Handle handle, Desc *out, T weights, T indices,
                                                      T gate, T bias, bool renormalize, float softcapping)
{
    Draft draft(TAG_MoeTopkSoftmax, handle, out, 2, { weights, indices, gate, bias }, 1u << 3);
    draft.op.number[0] = softcapping;
    return need_routing(draft, renormalize).finish();
}

infiniStatus_t infiniopMoeTopkSoftmax(Desc desc, P, size_t, P weights, P indices, C gate, C bias, P stream)
{
    return run(desc, TAG_MoeTopkSoftmax, stream, { weights, indices, gate, bias },
               [](tsr_tensor **t, const InfiniopDescriptor &op) -> tsr_status {
                   Temp scores;
                   TSR_TRY(tsr_cast(&scores, t[2], TSR_F32));
                   if (op.number[0] != 0) {
                       TSR_TRY(tsr_mul(&scores, scores, TSR_NUMBER(1 / op.number[0])));
                       TSR_TRY(tsr_tanh(&scores, scores));
                       TSR_TRY(tsr_mul(&scores, scores, TSR_NUMBER(op.number[0])));
                   }
                   TSR_TRY(tsr_softmax(&scores, scores, -1));
                   return choose_experts(t, scores, op.integer[0]);
               });
}

infiniStatus_t infiniopCreateMoeTopkSigmoidDescriptor(Handle handle, Desc *out, T weights, T indices,
                                                      T gate, T bias, bool renormalize)
{
    Draft draft(TAG_MoeTopkSigmoid, handle, out, 2, { weights, indices, gate, bias }, 1u << 3);
    return need_routing(draft, renormalize).finish();
}

infiniStatus_t infiniopMoeTopkSigmoid(Desc desc, P, size_t, P weights, P indices, C gate, C bias, P stream)
{
    return run(desc, TAG_MoeTopkSigmoid, stream, { weights, indices, gate, bias },
               [](tsr_tensor **t, const InfiniopDescriptor &op) -> tsr_status {
                   Temp scores;
                   TSR_TRY(tsr_cast(&scores, t[2], TSR_F32));
                   TSR_TRY(tsr_sigmoid(&scores, scores));
                   return choose_experts(t, scores, op.integer[0]);
               });
}

/* (n, k, width) summed over k. */
infiniStatus_t infiniopCreateMoeSumDescriptor(Handle handle, Desc *out, T y, T x)
{
    Draft draft(TAG_MoeSum, handle, out, 1, { y, x });
    return draft.all_dtypes(FLOATS).one_dtype({ 0, 1 }).rank(1, 3, 3)
        .shape(0, { draft.dim(1, 0), draft.dim(1, 2) }).finish();
}

infiniStatus_t infiniopMoeSum(Desc desc, P, size_t, P y, C x, P stream)
{
    return run(desc, TAG_MoeSum, stream, { y, x },
               [](tsr_tensor **t, const InfiniopDescriptor &) -> tsr_status {
                   const int experts = 1;
                   Temp wide_x, sum;
                   TSR_TRY(tsr_cast(&wide_x, t[1], wide(t[1])));
                   TSR_TRY(tsr_sum(&sum, wide_x, 1, &experts, false));
                   return tsr_copy(t[0], sum);
               });
}

/* Draws in batches -------------------------------------------------------------------------------- */

infiniStatus_t infiniopCreateRandomSampleBatchDescriptor(Handle handle, infiniopRandomSampleDescriptor_t *out,
                                                         T result, T probs)
{
    Draft draft(TAG_RandomSample, handle, out, 1, { result, probs });
    draft.op.integer[0] = 1;
    return draft.dtypes(0, INTEGERS).dtypes(1, FLOATS).rank(1, 2, 2).shape(0, { draft.dim(1, 0) })
        .need(draft.dim(1, 1) > 0, INFINI_STATUS_BAD_TENSOR_SHAPE).finish();
}

infiniStatus_t infiniopRandomSampleBatch(infiniopRandomSampleDescriptor_t desc, P, size_t, P result, C probs,
                                         const float *random_val, const float *topp, const int *topk,
                                         const float *temperature, int batch_size, P stream)
{
    FACE_TRY(check(desc, TAG_RandomSample));
    if (!random_val || !topp || !topk || !temperature) return INFINI_STATUS_NULL_POINTER;
    if (!desc->integer[0] || batch_size != desc->tensor[1].shape[0]) return INFINI_STATUS_BAD_PARAM;
    for (int i = 0; i < batch_size; i++)
        if (!(random_val[i] >= 0 && random_val[i] < 1)) return INFINI_STATUS_BAD_PARAM;
    return run(desc, TAG_RandomSample, stream, { result, probs },
               [=](tsr_tensor **t, const InfiniopDescriptor &) -> tsr_status {
                   for (int i = 0; i < batch_size; i++) {
                       View one, row;
                       TSR_TRY(tsr_select(&one, t[0], 0, i));
                       TSR_TRY(tsr_select(&row, t[1], 0, i));
                       TSR_TRY(sample(one, row, random_val[i], topp[i], topk[i], temperature[i]));
                   }
                   return TSR_OK;
               });
}
