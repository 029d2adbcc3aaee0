/* shape.cpp - rearrange, and windows that slide: convolutions and pools. */
#include "op.h"

using namespace face;

infiniStatus_t infiniopCreateRearrangeDescriptor(infiniopHandle_t handle,
                                                 infiniopRearrangeDescriptor_t *desc_ptr,
                                                 infiniopTensorDescriptor_t dst,
                                                 infiniopTensorDescriptor_t src)
{
    return Draft(TAG_Rearrange, handle, desc_ptr, 1, { dst, src })
        .one_dtype({ 0, 1 })
        .one_shape({ 0, 1 })
        .finish();
}

infiniStatus_t infiniopRearrange(infiniopRearrangeDescriptor_t desc, void *dst, const void *src, void *stream)
{
    FACE_TRY(check(desc, TAG_Rearrange));
    const bool is_odd = ((uintptr_t)dst & desc->align[0]) || ((uintptr_t)src & desc->align[1]);
    if (is_odd && dst && src && desc->where == TSR_CPU)
        return status_of(copy_bytes(dst, &desc->tensor[0].desc, src, &desc->tensor[1].desc));
    return run(desc, TAG_Rearrange, stream, { dst, src }, [](tsr_tensor **t, const InfiniopDescriptor &) {
        return tsr_rearrange(&t[0], t[1]);
    });
}

/* (..., c r r, h, w) -> (..., c, r, r, h, w) -> (..., c, h, r, w, r), which is the result's memory. */
infiniStatus_t infiniopCreatePixelShuffleDescriptor(infiniopHandle_t handle,
                                                    infiniopPixelShuffleDescriptor_t *desc_ptr,
                                                    infiniopTensorDescriptor_t y,
                                                    infiniopTensorDescriptor_t x, int upscale_factor)
{
    const int64_t r = upscale_factor;
    Draft draft(TAG_PixelShuffle, handle, desc_ptr, 1, { y, x });
    draft.op.integer[0] = r;
    draft.one_dtype({ 0, 1 })
        .need(r > 0 && r < 1 << 20, INFINI_STATUS_BAD_PARAM)
        .rank(1, 3, TSR_MAX_NDIM - 2);
    if (!draft.good()) return draft.finish();
    tsr_desc want = draft[1];
    const int h = want.ndim - 2;
    draft.need(want.shape[h - 1] % (r * r) == 0, INFINI_STATUS_BAD_TENSOR_SHAPE);
    want.shape[h - 1] /= r * r;
    want.shape[h] *= r;
    want.shape[h + 1] *= r;
    return draft.need(tsr_desc_same_shape(&want, &draft[0]), INFINI_STATUS_BAD_TENSOR_SHAPE).finish();
}

namespace {

tsr_status pixel_shuffle(tsr_tensor **t, const InfiniopDescriptor &op)
{
    const int64_t r = op.integer[0], channels[3] = { -1, r, r }, sizes[2] = { -1, r };
    const int c = t[1]->ndim - 3;
    View x, y;
    TSR_TRY(tsr_split_dim(&x, t[1], c, 3, channels));    /* c r1 r2 h w */
    TSR_TRY(tsr_move_axis(&x, x, c + 3, c + 1));         /* c h r1 r2 w */
    TSR_TRY(tsr_move_axis(&x, x, c + 4, c + 3));         /* c h r1 w r2 */
    TSR_TRY(tsr_split_dim(&y, t[0], c + 2, 2, sizes));
    TSR_TRY(tsr_split_dim(&y, y, c + 1, 2, sizes));
    return tsr_copy(y, x);
}

} // namespace

infiniStatus_t infiniopPixelShuffle(infiniopPixelShuffleDescriptor_t desc, void *, size_t, void *y,
                                    const void *x, void *stream)
{
    return run(desc, TAG_PixelShuffle, stream, { y, x }, pixel_shuffle);
}

/* Convolutions --------------------------------------------------------------------------- */

/* integer[]: spatial dims, then three of each: padding, stride, dilation. */
infiniStatus_t infiniopCreateConvDescriptor(infiniopHandle_t handle, infiniopConvDescriptor_t *desc_ptr,
                                            infiniopTensorDescriptor_t y, infiniopTensorDescriptor_t x,
                                            infiniopTensorDescriptor_t w, infiniopTensorDescriptor_t b,
                                            void *pads, void *strides, void *dilations, size_t n)
{
    Draft draft(TAG_Conv, handle, desc_ptr, 1, { y, x, w, b }, 1u << 3);
    draft.need(pads && strides && dilations, INFINI_STATUS_NULL_POINTER)
        .need(n >= 1 && n <= 3, INFINI_STATUS_BAD_PARAM)
        .all_dtypes(FLOATS)
        .one_dtype({ 0, 1, 2, 3 });
    const int rank = (int)n + 2;
    draft.rank(0, rank, rank).rank(1, rank, rank).rank(2, rank, rank);
    if (!draft.good()) return draft.finish();
    tsr_conv_params params = {};
    params.spatial = (int32_t)n;
    params.groups = 1;
    draft.op.integer[0] = (int64_t)n;
    for (size_t i = 0; i < n; i++) {
        const int64_t pad = ((const int64_t *)pads)[i], stride = ((const int64_t *)strides)[i];
        const int64_t dilation = ((const int64_t *)dilations)[i];
        draft.need(pad >= 0 && stride >= 1 && dilation >= 1, INFINI_STATUS_BAD_PARAM);
        draft.op.integer[1 + i] = params.low[i] = params.high[i] = pad;
        draft.op.integer[4 + i] = params.stride[i] = stride;
        draft.op.integer[7 + i] = params.dilation[i] = dilation;
    }
    return draft.infer(TSR_OP_CONV, { 1, 2, 3 }, &params).finish();
}

infiniStatus_t infiniopConv(infiniopConvDescriptor_t desc, void *, size_t, void *y, const void *x,
                            const void *w, const void *bias, void *stream)
{
    return run(desc, TAG_Conv, stream, { y, x, w, bias }, [](tsr_tensor **t, const InfiniopDescriptor &op) {
        tsr_conv how = {};
        for (int i = 0; i < 3; i++) {
            how.padding[i] = op.integer[1 + i];
            how.stride[i] = op.integer[4 + i];
            how.dilation[i] = op.integer[7 + i];
        }
        if (op.integer[0] == 1) return tsr_conv1d(&t[0], t[1], t[2], t[3], &how);
        if (op.integer[0] == 2) return tsr_conv2d(&t[0], t[1], t[2], t[3], &how);
        return tsr_conv3d(&t[0], t[1], t[2], t[3], &how);
    });
}

/* Pools ------------------------------------------------------------------------------------- */

namespace {

/* integer[]: three of each: kernel, stride, padding. */
infiniStatus_t create_avg_pool(Draft &draft, int n, const size_t *kernel, const size_t *stride,
                               const size_t *padding)
{
    tsr_pool_params params = {};
    params.spatial = n;
    draft.all_dtypes(FLOATS).one_dtype({ 0, 1 }).rank(1, n + 1, n + 2);
    for (int i = 0; i < n; i++) {
        const size_t step = stride && stride[i] ? stride[i] : kernel[i], pad = padding ? padding[i] : 0;
        draft.need(kernel[i] >= 1 && kernel[i] <= INT32_MAX && step <= INT32_MAX && pad <= kernel[i] / 2,
                   INFINI_STATUS_BAD_PARAM);
        draft.op.integer[i] = params.kernel[i] = (int64_t)kernel[i];
        draft.op.integer[3 + i] = params.stride[i] = (int64_t)step;
        draft.op.integer[6 + i] = params.padding[i] = (int64_t)pad;
        params.dilation[i] = 1;
    }
    return draft.infer(TSR_OP_AVG_POOL, { 1 }, &params).finish();
}

tsr_pool pool_of(const InfiniopDescriptor &op)
{
    tsr_pool how = {};
    for (int i = 0; i < 3; i++) {
        how.kernel[i] = op.integer[i];
        how.stride[i] = op.integer[3 + i];
        how.padding[i] = op.integer[6 + i];
    }
    return how;
}

} // namespace

infiniStatus_t infiniopCreateAvgPool1dDescriptor(infiniopHandle_t handle,
                                                 infiniopAvgPool1dDescriptor_t *desc_ptr,
                                                 infiniopTensorDescriptor_t y, infiniopTensorDescriptor_t x,
                                                 size_t kernel_size, size_t stride, size_t padding)
{
    Draft draft(TAG_AvgPool1d, handle, desc_ptr, 1, { y, x });
    return create_avg_pool(draft, 1, &kernel_size, &stride, &padding);
}

infiniStatus_t infiniopAvgPool1d(infiniopAvgPool1dDescriptor_t desc, void *, size_t, void *y, const void *x,
                                 void *stream)
{
    return run(desc, TAG_AvgPool1d, stream, { y, x }, [](tsr_tensor **t, const InfiniopDescriptor &op) {
        const tsr_pool how = pool_of(op);
        return tsr_avg_pool1d(&t[0], t[1], &how);
    });
}

infiniStatus_t infiniopCreateAvgPool3dDescriptor(infiniopHandle_t handle,
                                                 infiniopAvgPool3dDescriptor_t *desc_ptr,
                                                 infiniopTensorDescriptor_t y, infiniopTensorDescriptor_t x,
                                                 void *kernel_size, void *stride, void *padding)
{
    Draft draft(TAG_AvgPool3d, handle, desc_ptr, 1, { y, x });
    if (!kernel_size) return draft.need(false, INFINI_STATUS_NULL_POINTER).finish();
    return create_avg_pool(draft, 3, (const size_t *)kernel_size, (const size_t *)stride,
                           (const size_t *)padding);
}

infiniStatus_t infiniopAvgPool3d(infiniopAvgPool3dDescriptor_t desc, void *, size_t, void *y, const void *x,
                                 void *stream)
{
    return run(desc, TAG_AvgPool3d, stream, { y, x }, [](tsr_tensor **t, const InfiniopDescriptor &op) {
        const tsr_pool how = pool_of(op);
        return tsr_avg_pool3d(&t[0], t[1], &how);
    });
}
