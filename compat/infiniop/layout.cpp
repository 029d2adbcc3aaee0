/* layout.cpp - operators that lay elements out anew, and Kronecker products. */
#include "op.h"

#include <cstring>

using namespace face;

namespace
{

enum { MOST_BLOCKS = MAX_TENSORS - 1 };

} // namespace

/* Matrices along the diagonal, zeros elsewhere. */
infiniStatus_t infiniopCreateBlockDiagDescriptor(Handle handle, Desc *out, T y, T *x, size_t count)
{
    T in[MOST_BLOCKS] = {};
    if (!x) return INFINI_STATUS_NULL_POINTER;
    if (count == 0) return INFINI_STATUS_BAD_PARAM;
    if (count > MOST_BLOCKS) return INFINI_STATUS_NOT_IMPLEMENTED;
    uint32_t optional = 0;
    for (size_t i = 0; i < MOST_BLOCKS; i++) {
        if (i < count) in[i] = x[i];
        else optional |= 1u << (i + 1);
    }
    Draft draft(TAG_BlockDiag, handle, out, 1,
                { y, in[0], in[1], in[2], in[3], in[4], in[5], in[6], in[7], in[8], in[9], in[10] },
                optional);
    int64_t rows = 0, cols = 0;
    for (int i = 1; i <= (int)count; i++) {
        draft.one_dtype({ 0, i }).rank(i, 2, 2);
        rows += draft.dim(i, 0);
        cols += draft.dim(i, 1);
    }
    draft.op.integer[0] = (int64_t)count;
    return draft.shape(0, { rows, cols }).finish();
}

namespace
{

tsr_status block_diag(tsr_tensor **t, const InfiniopDescriptor &op)
{
    int64_t row = 0, col = 0;
    TSR_TRY(tsr_zero(t[0]));
    for (int64_t i = 1; i <= op.integer[0]; i++) {
        const int64_t rows = t[i]->shape[0], cols = t[i]->shape[1];
        View band, block;
        TSR_TRY(tsr_slice(&band, t[0], 0, row, row + rows, 1));
        TSR_TRY(tsr_slice(&block, band, 1, col, col + cols, 1));
        TSR_TRY(tsr_copy(block, t[i]));
        row += rows;
        col += cols;
    }
    return TSR_OK;
}

} // namespace

infiniStatus_t infiniopBlockDiag(Desc desc, P, size_t, P y, const void **x, P stream)
{
    FACE_TRY(check(desc, TAG_BlockDiag));
    if (!x) return INFINI_STATUS_NULL_POINTER;
    C data[MAX_TENSORS] = { y };
    for (int64_t i = 0; i < desc->integer[0]; i++) data[i + 1] = x[i];
    return run(desc, TAG_BlockDiag, stream, data, block_diag);
}

infiniStatus_t infiniopCreateBroadcastToDescriptor(Handle handle, Desc *out, T y, T x)
{
    return Draft(TAG_BroadcastTo, handle, out, 1, { y, x }).one_dtype({ 0, 1 }).expand(1, 0).finish();
}

infiniStatus_t infiniopBroadcastTo(Desc desc, P, size_t, P y, C x, P stream)
{
    return run(desc, TAG_BroadcastTo, stream, { y, x },
               [](tsr_tensor **t, const InfiniopDescriptor &) { return tsr_copy(t[0], t[1]); });
}

infiniStatus_t infiniopCreateFlipudDescriptor(Handle handle, Desc *out, T y, T x)
{
    return Draft(TAG_Flipud, handle, out, 1, { y, x })
        .one_dtype({ 0, 1 })
        .one_shape({ 0, 1 })
        .rank(1, 1, TSR_MAX_NDIM)
        .finish();
}

infiniStatus_t infiniopFlipud(Desc desc, P, size_t, P y, C x, P stream)
{
    return run(desc, TAG_Flipud, stream, { y, x },
               [](tsr_tensor **t, const InfiniopDescriptor &) -> tsr_status {
                   const int rows = 0;
                   View flipped;
                   TSR_TRY(tsr_flip(&flipped, t[1], 1, &rows));
                   return tsr_copy(t[0], flipped);
               });
}

infiniStatus_t infiniopCreateDiffDescriptor(Handle handle, Desc *out, T y, T x, int dim, int n)
{
    Draft draft(TAG_Diff, handle, out, 1, { y, x });
    draft.all_dtypes(FLOATS)
        .one_dtype({ 0, 1 })
        .axis(1, dim)
        .need(n > 0, INFINI_STATUS_BAD_PARAM)
        .rank(0, draft.dims(1), draft.dims(1));
    const int axis = dim < 0 ? dim + draft.dims(1) : dim;
    draft.op.integer[0] = axis;
    draft.op.integer[1] = n;
    for (int i = 0; draft.good() && i < draft[1].ndim; i++)
        draft.need(draft[0].shape[i] == draft[1].shape[i] - (i == axis ? n : 0),
                   INFINI_STATUS_BAD_TENSOR_SHAPE);
    return draft.finish();
}

infiniStatus_t infiniopDiff(Desc desc, P, size_t, P y, C x, P stream)
{
    return run(desc, TAG_Diff, stream, { y, x },
               [](tsr_tensor **t, const InfiniopDescriptor &op) -> tsr_status {
                   Temp wide_x, result;
                   TSR_TRY(tsr_cast(&wide_x, t[1], wide(t[1])));
                   TSR_TRY(tsr_diff(&result, wide_x, (int)op.integer[0], op.integer[1]));
                   return tsr_copy(t[0], result);
               });
}

/* Dim by dim, sizes multiply; a missing leading dim is 1. */
infiniStatus_t infiniopCreateKronDescriptor(Handle handle, Desc *out, T y, T a, T b)
{
    Draft draft(TAG_Kron, handle, out, 1, { y, a, b });
    draft.dtypes(0, NUMBERS).one_dtype({ 0, 1, 2 });
    const int n = draft.dims(1) > draft.dims(2) ? draft.dims(1) : draft.dims(2);
    draft.rank(0, n, n).need(2 * n <= TSR_MAX_NDIM, INFINI_STATUS_BAD_TENSOR_SHAPE);
    for (int i = 1; draft.good() && i <= n; i++)
        draft.need(draft.dim(0, -i) == (i <= draft.dims(1) ? draft.dim(1, -i) : 1) *
                                           (i <= draft.dims(2) ? draft.dim(2, -i) : 1),
                   INFINI_STATUS_BAD_TENSOR_SHAPE);
    return draft.finish();
}

namespace
{

/* a with a dim of 1 after each, b with one before each: their product has the result's elements in order. */
tsr_status kron(tsr_tensor **t, const InfiniopDescriptor &)
{
    const int n = t[0]->ndim;
    int64_t left[TSR_MAX_NDIM], right[TSR_MAX_NDIM];
    View a, b;
    Temp packed_a, packed_b, product, result;
    for (int i = 0; i < n; i++) {
        const int from_a = i - (n - t[1]->ndim), from_b = i - (n - t[2]->ndim);
        left[2 * i] = from_a >= 0 ? t[1]->shape[from_a] : 1;
        left[2 * i + 1] = right[2 * i] = 1;
        right[2 * i + 1] = from_b >= 0 ? t[2]->shape[from_b] : 1;
    }
    TSR_TRY(tsr_reshape(&packed_a, t[1], 2 * n, left));
    TSR_TRY(tsr_reshape(&packed_b, t[2], 2 * n, right));
    TSR_TRY(tsr_mul(&product, packed_a, packed_b));
    TSR_TRY(tsr_reshape(&result, product, n, t[0]->shape));
    return tsr_copy(t[0], result);
}

} // namespace

infiniStatus_t infiniopKron(Desc desc, P, size_t, P y, C a, C b, P stream)
{
    return run(desc, TAG_Kron, stream, { y, a, b }, kron);
}

/* pad is pairs of int from the last dim on, pad_size their bytes. A mode that is none is constant. */
infiniStatus_t infiniopCreatePadDescriptor(Handle handle, Desc *out, T y, T x, void *pad, size_t pad_size,
                                           const char *mode, double value)
{
    static const struct {
        const char *name;
        tsr_pad_mode mode;
    } modes[] = { { "reflect", TSR_PAD_REFLECT },
                  { "replicate", TSR_PAD_EDGE },
                  { "circular", TSR_PAD_WRAP } };
    const int *sizes = static_cast<const int *>(pad);
    const size_t count = pad_size / sizeof(int);
    Draft draft(TAG_Pad, handle, out, 1, { y, x });
    draft.all_dtypes(FLOATS)
        .one_dtype({ 0, 1 })
        .need(pad && pad_size % sizeof(int) == 0 && count > 0 && count % 2 == 0 && draft.dims(1) <= 8 &&
                  count <= 2 * (size_t)draft.dims(1),
              INFINI_STATUS_BAD_PARAM)
        .rank(0, draft.dims(1), draft.dims(1));
    for (size_t i = 0; draft.good() && i < count; i++) {
        draft.need(sizes[i] >= 0, INFINI_STATUS_BAD_PARAM);
        draft.op.integer[2 * (draft.dims(1) - 1 - (int)i / 2) + (int)i % 2] = sizes[i];
    }
    for (int i = 0; draft.good() && i < draft[1].ndim; i++)
        draft.need(draft[0].shape[i] ==
                       draft[1].shape[i] + draft.op.integer[2 * i] + draft.op.integer[2 * i + 1],
                   INFINI_STATUS_BAD_TENSOR_SHAPE);
    draft.op.number[0] = value;
    draft.op.number[1] = TSR_PAD_CONSTANT;
    for (const auto &m : modes)
        if (mode && std::strcmp(mode, m.name) == 0) draft.op.number[1] = m.mode;
    for (int i = 0; draft.good() && draft.op.number[1] == TSR_PAD_REFLECT && i < draft[1].ndim; i++)
        draft.need((draft.op.integer[2 * i] < draft[1].shape[i] &&
                    draft.op.integer[2 * i + 1] < draft[1].shape[i]) ||
                       (draft.op.integer[2 * i] == 0 && draft.op.integer[2 * i + 1] == 0),
                   INFINI_STATUS_BAD_PARAM);
    return draft.finish();
}

infiniStatus_t infiniopPad(Desc desc, P, size_t, P y, C x, P stream)
{
    return run(desc, TAG_Pad, stream, { y, x }, [](tsr_tensor **t, const InfiniopDescriptor &op) {
        int64_t before[8], after[8];
        for (int i = 0; i < t[1]->ndim; i++) {
            before[i] = op.integer[2 * i];
            after[i] = op.integer[2 * i + 1];
        }
        return tsr_pad(&t[0], t[1], t[1]->ndim, before, after, (tsr_pad_mode)(int)op.number[1],
                       TSR_SCALAR(op.number[0]));
    });
}

/* Powers of a vector's elements as columns. */
infiniStatus_t infiniopCreateVanderDescriptor(Handle handle, Desc *out, T y, T x, int n, int increasing)
{
    Draft draft(TAG_Vander, handle, out, 1, { y, x });
    draft.op.integer[0] = increasing;
    draft.all_dtypes(FLOATS).one_dtype({ 0, 1 }).rank(1, 1, 1).rank(0, 2, 2);
    return draft.shape(0, { draft.dim(1, 0), n > 0 ? n : draft.dim(1, 0) }).finish();
}

infiniStatus_t infiniopVander(Desc desc, P, size_t, P y, C x, P stream)
{
    return run(desc, TAG_Vander, stream, { y, x },
               [](tsr_tensor **t, const InfiniopDescriptor &op) -> tsr_status {
                   const int64_t n = t[0]->shape[1];
                   Temp wide_x, power;
                   TSR_TRY(tsr_cast(&wide_x, t[1], wide(t[1])));
                   TSR_TRY(tsr_full_like(&power, wide_x, TSR_SCALAR(1)));
                   for (int64_t i = 0; i < n; i++) {
                       View column;
                       TSR_TRY(tsr_select(&column, t[0], 1, op.integer[0] ? i : n - 1 - i));
                       TSR_TRY(tsr_copy(column, power));
                       TSR_TRY(tsr_mul(&power, power, wide_x));
                   }
                   return TSR_OK;
               });
}

/* Windows of images as columns: (n, c, h, w) to (n, c * kh * kw, windows). Pairs are height, width. */
infiniStatus_t infiniopCreateUnfoldDescriptor(Handle handle, Desc *out, T y, T x, const int *kernel,
                                              const int *steps, const int *padding, const int *dilation)
{
    Draft draft(TAG_Unfold, handle, out, 1, { y, x });
    draft.all_dtypes(FLOATS).one_dtype({ 0, 1 }).rank(1, 4, 4).rank(0, 3, 3).need(
        kernel && steps && padding && dilation, INFINI_STATUS_NULL_POINTER);
    int64_t windows = 1, size = draft.dim(1, 1);
    for (int i = 0; draft.good() && i < 2; i++) {
        draft.need(kernel[i] > 0 && steps[i] > 0 && padding[i] >= 0 && dilation[i] > 0,
                   INFINI_STATUS_BAD_PARAM);
        if (!draft.good()) break;
        const int64_t reach = (int64_t)dilation[i] * (kernel[i] - 1) + 1;
        const int64_t room = draft.dim(1, 2 + i) + 2 * (int64_t)padding[i] - reach;
        draft.need(room >= 0, INFINI_STATUS_BAD_TENSOR_SHAPE);
        const int64_t numbers[] = { kernel[i], steps[i], padding[i], dilation[i], room / steps[i] + 1 };
        for (int k = 0; k < 5; k++) draft.op.integer[5 * i + k] = numbers[k];
        windows *= numbers[4];
        size *= kernel[i];
    }
    return draft.shape(0, { draft.dim(1, 0), size, windows }).finish();
}

namespace
{

tsr_status unfold(tsr_tensor **t, const InfiniopDescriptor &op)
{
    const int64_t *h = op.integer, *w = op.integer + 5, n = t[1]->shape[0], c = t[1]->shape[1];
    const int64_t pads[4] = { 0, 0, h[2], w[2] };
    const int64_t parts[6] = { n, c, h[0], w[0], h[4], w[4] };
    Temp padded, gathered, columns;
    TSR_TRY(tsr_pad(&padded, t[1], 4, pads, pads, TSR_PAD_CONSTANT, TSR_SCALAR(0)));
    const int64_t *s = padded->stride;
    const int64_t strides[6] = { s[0], s[1], s[2] * h[3], s[3] * w[3], s[2] * h[1], s[3] * w[1] };
    View windows;
    TSR_TRY(tsr_as_strided(&windows, padded, 6, parts, strides, 0));
    TSR_TRY(tsr_rearrange(&gathered, windows));
    TSR_TRY(tsr_view(&columns, gathered, 3, t[0]->shape));
    return tsr_copy(t[0], columns);
}

} // namespace

infiniStatus_t infiniopUnfold(Desc desc, P, size_t, P y, C x, P stream)
{
    return run(desc, TAG_Unfold, stream, { y, x }, unfold);
}
