/* quant.cpp - bytes and nibbles that stand for numbers. */
#include "op.h"

using namespace face;

/* int8 ----------------------------------------------------------------------------------------
 *
 * Symmetric where there is no zero point. Otherwise the zero point is a float that is not rounded,
 * as InfiniOP has it: q = round(x / scale + zero), x = (q - zero) * scale. */

namespace {

constexpr Dtypes I8 = set_of(INFINI_DTYPE_I8), F32 = set_of(INFINI_DTYPE_F32);

/* x / scale + zero, rounded and held to int8; zero may be NULL. scale and zero broadcast to x. */
tsr_status quantise(tsr_tensor *out, const tsr_tensor *x, const tsr_tensor *scale, const tsr_tensor *zero)
{
    Temp q;
    TSR_TRY(tsr_div(&q, x, scale));
    if (zero) TSR_TRY(tsr_add(&q, q, zero));
    TSR_TRY(tsr_round(&q, q));
    TSR_TRY(tsr_clip(&q, q, TSR_NUMBER(-128), TSR_NUMBER(127)));
    return tsr_copy(out, q);
}

/* The scale and zero point that cover x (f32), over these axes, which stay with size 1. */
tsr_status range_of(tsr_tensor **scale, tsr_tensor **zero, const tsr_tensor *x, int naxes, const int *axes)
{
    Temp low, high, offset;
    TSR_TRY(tsr_min(&low, x, naxes, axes, true));
    TSR_TRY(tsr_max(&high, x, naxes, axes, true));
    TSR_TRY(tsr_sub(scale, high, low));
    TSR_TRY(tsr_div(scale, *scale, TSR_NUMBER(255)));
    TSR_TRY(tsr_maximum(scale, *scale, TSR_NUMBER(1e-8)));
    TSR_TRY(tsr_div(&offset, low, *scale));
    TSR_TRY(tsr_neg(&offset, offset));
    return tsr_sub(zero, offset, TSR_NUMBER(128));
}

tsr_status quantise_asymmetric(tsr_tensor **t, int naxes, const int *axes)
{
    Temp x, scale, zero, scale_out, zero_out;
    TSR_TRY(tsr_cast(&x, t[3], TSR_F32));
    TSR_TRY(range_of(&scale, &zero, x, naxes, axes));
    TSR_TRY(quantise(t[0], x, scale, zero));
    TSR_TRY(tsr_reshape(&scale_out, scale, t[1]->ndim, t[1]->shape));
    TSR_TRY(tsr_reshape(&zero_out, zero, t[2]->ndim, t[2]->shape));
    TSR_TRY(tsr_copy(t[1], scale_out));
    return tsr_copy(t[2], zero_out);
}

/* scale = largest |x| / 127, by Tessera's own op; axis TSR_ALL_AXES: one for all. */
tsr_status quantise_symmetric(tsr_tensor **t, int axis)
{
    Temp x, q, scale, zero, shaped;
    TSR_TRY(tsr_cast(&x, t[3], TSR_F32));
    TSR_TRY(tsr_quantise_dynamic(&q, &scale, &zero, x, axis, TSR_I8, true));
    TSR_TRY(tsr_copy(t[0], q));
    TSR_TRY(tsr_reshape(&shaped, scale, t[1]->ndim, t[1]->shape));
    return tsr_copy(t[1], shaped);
}

/* Tensors: packed, scale, zero, x. */
Draft &need_quant(Draft &draft, int64_t scales)
{
    draft.dtypes(0, I8).dtypes(1, F32).dtypes(2, F32).dtypes(3, FLOATS).one_shape({ 0, 3 })
        .rank(3, 1, TSR_MAX_NDIM);
    for (int i = 1; draft.good() && i < 3; i++)
        if (draft.has(i)) draft.need(tsr_desc_numel(&draft[i]) == scales, INFINI_STATUS_BAD_TENSOR_SHAPE);
    if (!draft.good()) return draft;
    return draft.need(tsr_desc_numel(&draft[3]) > 0, INFINI_STATUS_BAD_TENSOR_SHAPE);
}

} // namespace

infiniStatus_t infiniopCreatePerChannelQuantI8Descriptor(infiniopHandle_t handle,
                                                         infiniopPerChannelQuantI8Descriptor_t *desc_ptr,
                                                         infiniopTensorDescriptor_t x_packed,
                                                         infiniopTensorDescriptor_t x_scale,
                                                         infiniopTensorDescriptor_t x_zero,
                                                         infiniopTensorDescriptor_t x)
{
    Draft draft(TAG_PerChannelQuantI8, handle, desc_ptr, 3, { x_packed, x_scale, x_zero, x }, 1u << 2);
    return need_quant(draft.rank(3, 2, 2), draft.dim(3, 0)).finish();
}

infiniStatus_t infiniopPerChannelQuantI8(infiniopPerChannelQuantI8Descriptor_t desc, void *, size_t,
                                         void *x_packed, void *x_scale, void *x_zero, const void *x,
                                         void *stream)
{
    return run(desc, TAG_PerChannelQuantI8, stream, { x_packed, x_scale, x_zero, x },
               [](tsr_tensor **t, const InfiniopDescriptor &) {
        const int rows = 1;
        return t[2] ? quantise_asymmetric(t, 1, &rows) : quantise_symmetric(t, 0);
    });
}

infiniStatus_t infiniopCreatePerTensorQuantI8Descriptor(infiniopHandle_t handle,
                                                        infiniopPerTensorQuantI8Descriptor_t *desc_ptr,
                                                        infiniopTensorDescriptor_t x_packed,
                                                        infiniopTensorDescriptor_t x_scale,
                                                        infiniopTensorDescriptor_t x_zero,
                                                        infiniopTensorDescriptor_t x)
{
    Draft draft(TAG_PerTensorQuantI8, handle, desc_ptr, 3, { x_packed, x_scale, x_zero, x }, 1u << 2);
    return need_quant(draft, 1).finish();
}

namespace {

/* A tensor of one element, whatever its rank, as a scalar of its own. */
tsr_status one_of(tsr_tensor **out, const tsr_tensor *t) { return t ? tsr_view(out, t, 0, nullptr) : TSR_OK; }

tsr_status quantise_static(tsr_tensor **t)
{
    Temp x, scale, zero;
    TSR_TRY(tsr_cast(&x, t[3], TSR_F32));
    TSR_TRY(one_of(&scale, t[1]));
    TSR_TRY(one_of(&zero, t[2]));
    return quantise(t[0], x, scale, zero);
}

} // namespace

infiniStatus_t infiniopPerTensorQuantI8(infiniopPerTensorQuantI8Descriptor_t desc, void *, size_t,
                                        void *x_packed, void *x_scale, void *x_zero, const void *x,
                                        const bool is_static, void *stream)
{
    return run(desc, TAG_PerTensorQuantI8, stream, { x_packed, x_scale, x_zero, x },
               [is_static](tsr_tensor **t, const InfiniopDescriptor &) {
        if (is_static) return quantise_static(t);
        return t[2] ? quantise_asymmetric(t, 0, nullptr) : quantise_symmetric(t, TSR_ALL_AXES);
    });
}

infiniStatus_t infiniopCreatePerTensorDequantI8Descriptor(infiniopHandle_t handle,
                                                          infiniopPerTensorDequantI8Descriptor_t *desc_ptr,
                                                          infiniopTensorDescriptor_t x,
                                                          infiniopTensorDescriptor_t x_packed,
                                                          infiniopTensorDescriptor_t x_scale,
                                                          infiniopTensorDescriptor_t x_zero)
{
    return Draft(TAG_PerTensorDequantI8, handle, desc_ptr, 1, { x, x_packed, x_scale, x_zero }, 1u << 3)
        .dtypes(0, FLOATS)
        .dtypes(1, I8)
        .dtypes(2, F32)
        .dtypes(3, F32)
        .one_shape({ 0, 1 })
        .scalar(2)
        .scalar(3)
        .finish();
}

infiniStatus_t infiniopPerTensorDequantI8(infiniopPerTensorDequantI8Descriptor_t desc, void *, size_t,
                                          void *x, const void *x_packed, const void *x_scale,
                                          const void *x_zero, void *stream)
{
    return run(desc, TAG_PerTensorDequantI8, stream, { x, x_packed, x_scale, x_zero },
               [](tsr_tensor **t, const InfiniopDescriptor &) -> tsr_status {
        Temp q;
        if (!t[3]) return tsr_dequantise(&t[0], t[1], t[2], nullptr, TSR_ALL_AXES, t[0]->dtype);
        TSR_TRY(tsr_cast(&q, t[1], TSR_F32));
        TSR_TRY(tsr_sub(&q, q, t[3]));
        TSR_TRY(tsr_mul(&q, q, t[2]));
        return tsr_copy(t[0], q);
    });
}

/* 4 bits ------------------------------------------------------------------------------------------ */

namespace {

/* Eight nibbles of each int32 as a new dim before `axis` of the result; shifts in this order. */
tsr_status unpack(tsr_tensor **out, const tsr_tensor *packed, int axis, const int32_t (&shifts)[8])
{
    Temp amounts, wide_words, bits, mask;
    View words;
    int64_t shape[TSR_MAX_NDIM];
    const int32_t low = 15;
    for (int i = 0; i <= packed->ndim; i++) shape[i] = i == axis ? 8 : 1;
    TSR_TRY(small_tensor(&amounts, packed, TSR_I32, 8, shifts));
    TSR_TRY(small_tensor(&mask, packed, TSR_I32, 1, &low));
    View by;
    TSR_TRY(tsr_view(&by, amounts, packed->ndim + 1, shape));
    TSR_TRY(tsr_unsqueeze(&words, packed, axis));
    TSR_TRY(tsr_shift_right(&bits, words, by));
    return tsr_bitwise_and(out, bits, mask);
}

const int32_t in_order[8] = { 0, 4, 8, 12, 16, 20, 24, 28 };
const int32_t awq_order[8] = { 0, 16, 4, 20, 8, 24, 12, 28 };

constexpr Dtypes I32 = set_of(INFINI_DTYPE_I32) | set_of(INFINI_DTYPE_U32);

/* Words of either sign hold the same nibbles. */
void read_as_i32(Draft &draft, int i) { draft[i].dtype = TSR_I32; }

/* (q - zero) * scale, in f32. */
tsr_status scale_up(tsr_tensor *out, const tsr_tensor *q, const tsr_tensor *zero, const tsr_tensor *scale)
{
    Temp difference, x, wide_scale;
    TSR_TRY(tsr_sub(&difference, q, zero));
    TSR_TRY(tsr_cast(&x, difference, TSR_F32));
    TSR_TRY(tsr_cast(&wide_scale, scale, TSR_F32));
    TSR_TRY(tsr_mul(&x, x, wide_scale));
    return tsr_copy(out, x);
}

} // namespace

infiniStatus_t infiniopCreateDequantizeAWQDescriptor(infiniopHandle_t handle,
                                                     infiniopDequantizeAWQDescriptor_t *desc_ptr,
                                                     infiniopTensorDescriptor_t out,
                                                     infiniopTensorDescriptor_t qweight,
                                                     infiniopTensorDescriptor_t scales,
                                                     infiniopTensorDescriptor_t zeros)
{
    Draft draft(TAG_DequantizeAWQ, handle, desc_ptr, 1, { out, qweight, scales, zeros });
    const int64_t rows = draft.dim(1, 0), words = draft.dim(1, 1), groups = draft.dim(2, 0);
    draft.dtypes(0, SHORT_FLOATS).dtypes(1, I32).dtypes(2, SHORT_FLOATS).dtypes(3, I32).rank(1, 2, 2)
        .shape(0, { rows, words * 8 }).shape(2, { groups, words * 8 }).shape(3, { groups, words })
        .need(groups > 0 && rows % groups == 0, INFINI_STATUS_BAD_TENSOR_SHAPE);
    read_as_i32(draft, 1);
    read_as_i32(draft, 3);
    return draft.finish();
}

infiniStatus_t infiniopDequantizeAWQ(infiniopDequantizeAWQDescriptor_t desc, void *, size_t, void *out,
                                     const void *qweight, const void *scales, const void *zeros, void *stream)
{
    return run(desc, TAG_DequantizeAWQ, stream, { out, qweight, scales, zeros },
               [](tsr_tensor **t, const InfiniopDescriptor &) -> tsr_status {
        const int64_t groups = t[2]->shape[0], cols = t[2]->shape[1];
        const int64_t by_group[3] = { groups, t[1]->shape[0] / groups, cols },
                      one_row[3] = { groups, 1, cols };
        Temp q, zero;
        View q_groups, zero_row, scale_row, out_groups;
        TSR_TRY(unpack(&q, t[1], 2, awq_order));
        TSR_TRY(unpack(&zero, t[3], 2, awq_order));
        TSR_TRY(tsr_view(&q_groups, q, 3, by_group));
        TSR_TRY(tsr_view(&zero_row, zero, 3, one_row));
        TSR_TRY(tsr_unsqueeze(&scale_row, t[2], 1));
        TSR_TRY(tsr_split_dim(&out_groups, t[0], 0, 2, by_group));
        return scale_up(out_groups, q_groups, zero_row, scale_row);
    });
}

infiniStatus_t infiniopCreateDequantizeGPTQDescriptor(infiniopHandle_t handle,
                                                      infiniopDequantizeGPTQDescriptor_t *desc_ptr,
                                                      infiniopTensorDescriptor_t out,
                                                      infiniopTensorDescriptor_t qweight,
                                                      infiniopTensorDescriptor_t scales,
                                                      infiniopTensorDescriptor_t zeros,
                                                      infiniopTensorDescriptor_t g_idx)
{
    Draft draft(TAG_DequantizeGPTQ, handle, desc_ptr, 1, { out, qweight, scales, zeros, g_idx });
    const int64_t rows = draft.dim(0, 0), cols = draft.dim(0, 1), groups = draft.dim(2, 0);
    draft.dtypes(0, SHORT_FLOATS).dtypes(1, I32).dtypes(2, SHORT_FLOATS).dtypes(3, I32)
        .dtypes(4, set_of(INFINI_DTYPE_I32) | set_of(INFINI_DTYPE_I64)).rank(0, 2, 2)
        .shape(1, { (rows + 7) / 8, cols }).shape(2, { groups, cols }).shape(3, { groups, (cols + 7) / 8 })
        .shape(4, { rows }).need(groups > 0, INFINI_STATUS_BAD_TENSOR_SHAPE);
    read_as_i32(draft, 1);
    read_as_i32(draft, 3);
    return draft.finish();
}

namespace {

/* Nibbles of `words` along an axis, the first n of them. */
tsr_status unpack_along(tsr_tensor **out, const tsr_tensor *words, int axis, int64_t n)
{
    Temp nibbles;
    View joined;
    TSR_TRY(unpack(&nibbles, words, axis + 1, in_order));
    TSR_TRY(tsr_merge_dims(&joined, nibbles, axis, 2));
    return tsr_slice(out, joined, axis, 0, n, 1);
}

tsr_status dequantise_gptq(tsr_tensor **t, const InfiniopDescriptor &)
{
    Temp q, zeros, group, groups, zero, scale;
    const int64_t count = t[2]->shape[0];
    TSR_TRY(unpack_along(&q, t[1], 0, t[0]->shape[0]));
    TSR_TRY(unpack_along(&zeros, t[3], 1, t[0]->shape[1]));
    TSR_TRY(tsr_cast(&groups, t[4], TSR_I64));
    TSR_TRY(tsr_remainder(&group, groups, TSR_NUMBER((long long)count)));
    TSR_TRY(tsr_take(&zero, zeros, group, 0));
    TSR_TRY(tsr_add(&zero, zero, TSR_NUMBER(1)));
    TSR_TRY(tsr_take(&scale, t[2], group, 0));
    return scale_up(t[0], q, zero, scale);
}

} // namespace

infiniStatus_t infiniopDequantizeGPTQ(infiniopDequantizeGPTQDescriptor_t desc, void *, size_t, void *out,
                                      const void *qweight, const void *scales, const void *zeros,
                                      const void *g_idx, void *stream)
{
    return run(desc, TAG_DequantizeGPTQ, stream, { out, qweight, scales, zeros, g_idx }, dequantise_gptq);
}

infiniStatus_t infiniopCreateMxfp4DequantizeDescriptor(infiniopHandle_t handle,
                                                       infiniopMxfp4DequantizeDescriptor_t *desc_ptr,
                                                       infiniopTensorDescriptor_t out,
                                                       infiniopTensorDescriptor_t packed,
                                                       infiniopTensorDescriptor_t scales)
{
    Draft draft(TAG_Mxfp4Dequantize, handle, desc_ptr, 1, { out, packed, scales });
    draft.dtypes(0, SHORT_FLOATS)
        .dtypes(1, UNSIGNED_BYTES)
        .dtypes(2, UNSIGNED_BYTES)
        .rank(0, 1, TSR_MAX_NDIM - 2);
    if (!draft.good()) return draft.finish();
    const int n = draft[0].ndim;
    draft.rank(1, n, n).rank(2, n, n)
        .need(draft.dim(0, -1) % 32 == 0 && draft.dim(1, -1) == draft.dim(0, -1) / 2 &&
              draft.dim(2, -1) == draft.dim(0, -1) / 32, INFINI_STATUS_BAD_TENSOR_SHAPE);
    for (int i = 0; draft.good() && i < n - 1; i++)
        draft.need(draft[1].shape[i] == draft[0].shape[i] && draft[2].shape[i] == draft[0].shape[i],
                   INFINI_STATUS_BAD_TENSOR_SHAPE);
    return draft.finish();
}

namespace {

/* A sign, two bits of exponent and one of fraction. */
const float e2m1[16] = { 0, 0.5f, 1, 1.5f, 2, 3, 4, 6, -0.0f, -0.5f, -1, -1.5f, -2, -3, -4, -6 };

/* Both nibbles of each byte, low first: (..., k / 2) gives (..., k). */
tsr_status nibbles_of(tsr_tensor **out, const tsr_tensor *packed)
{
    Temp low, high, both;
    TSR_TRY(tsr_bitwise_and(&low, packed, TSR_NUMBER(15)));
    TSR_TRY(tsr_shift_right(&high, packed, TSR_NUMBER(4)));
    const tsr_tensor *pair[2] = { low, high };
    TSR_TRY(tsr_stack(&both, 2, pair, -1));
    return tsr_merge_dims(out, both, packed->ndim - 1, 2);
}

} // namespace

tsr_status face::expand_mxfp4(tsr_tensor **out, const tsr_tensor *packed, const tsr_tensor *scales)
{
    const int64_t blocks[2] = { -1, 32 };
    const int last = packed->ndim - 1;
    Temp table, index, x, exponent, scale;
    View x_blocks, scale_blocks;
    TSR_TRY(small_tensor(&table, packed, TSR_F32, 16, e2m1));
    TSR_TRY(nibbles_of(&index, packed));
    TSR_TRY(tsr_take(&x, table, index, 0));
    TSR_TRY(tsr_cast(&exponent, scales, TSR_F32));
    TSR_TRY(tsr_sub(&exponent, exponent, TSR_NUMBER(127)));
    TSR_TRY(tsr_exp2(&scale, exponent));
    TSR_TRY(tsr_split_dim(&x_blocks, x, last, 2, blocks));
    TSR_TRY(tsr_unsqueeze(&scale_blocks, scale, -1));
    TSR_TRY(tsr_mul(&x_blocks, x_blocks, scale_blocks));
    return tsr_merge_dims(out, x_blocks, last, 2);
}

infiniStatus_t infiniopMxfp4Dequantize(infiniopMxfp4DequantizeDescriptor_t desc, void *, size_t, void *out,
                                       const void *packed, const void *scales, void *stream)
{
    return run(desc, TAG_Mxfp4Dequantize, stream, { out, packed, scales },
               [](tsr_tensor **t, const InfiniopDescriptor &) -> tsr_status {
        Temp x;
        TSR_TRY(expand_mxfp4(&x, t[1], t[2]));
        return tsr_copy(t[0], x);
    });
}

/* Gates of a delta net ------------------------------------------------------------------------------ */

infiniStatus_t infiniopCreateFusedGatedDeltaNetGatingDescriptor(
    infiniopHandle_t handle, infiniopFusedGatedDeltaNetGatingDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t g, infiniopTensorDescriptor_t beta_output, infiniopTensorDescriptor_t A_log,
    infiniopTensorDescriptor_t a, infiniopTensorDescriptor_t b, infiniopTensorDescriptor_t dt_bias,
    float beta, float threshold)
{
    Draft draft(TAG_FusedGatedDeltaNetGating, handle, desc_ptr, 2, { g, beta_output, A_log, a, b, dt_bias });
    draft.op.number[0] = beta;
    draft.op.number[1] = threshold;
    return draft.all_dtypes(FLOATS)
        .one_shape({ 0, 1, 3, 4 })
        .rank(0, 1, TSR_MAX_NDIM)
        .shape(2, { draft.dim(0, -1) })
        .shape(5, { draft.dim(0, -1) })
        .need(beta != 0, INFINI_STATUS_BAD_PARAM)
        .finish();
}

infiniStatus_t infiniopFusedGatedDeltaNetGating(infiniopFusedGatedDeltaNetGatingDescriptor_t desc, void *,
                                                size_t, void *g, void *beta_output, const void *A_log,
                                                const void *a, const void *b, const void *dt_bias,
                                                void *stream)
{
    return run(desc, TAG_FusedGatedDeltaNetGating, stream, { g, beta_output, A_log, a, b, dt_bias },
               [](tsr_tensor **t, const InfiniopDescriptor &op) -> tsr_status {
        Temp in[4], sum, soft, decay;
        for (int i = 0; i < 4; i++)
            TSR_TRY(tsr_cast(&in[i], t[i + 2], wide(t[0]))); /* A_log, a, b, dt_bias */
        TSR_TRY(tsr_add(&sum, in[1], in[3]));
        TSR_TRY(softplus(&soft, sum, op.number[0], op.number[1]));
        TSR_TRY(tsr_exp(&decay, in[0]));
        TSR_TRY(tsr_neg(&decay, decay));
        TSR_TRY(tsr_mul(&soft, soft, decay));
        TSR_TRY(tsr_copy(t[0], soft));
        TSR_TRY(tsr_sigmoid(&in[2], in[2]));
        return tsr_copy(t[1], in[2]);
    });
}
