/* image.cpp - adaptive pools, sampling grids, and sizes changed by interpolation. */
#include "op.h"

#include <cmath>
#include <cstring>
#include <vector>

using namespace face;

/* Adaptive pools ---------------------------------------------------------------------------- */

namespace
{

/* The last n dims of x become those of y; the others are equal. */
Draft &need_pool(Draft &draft, int n)
{
    draft.all_dtypes(FLOATS)
        .one_dtype({ 0, 1 })
        .rank(1, n + 1, n + 2)
        .rank(0, draft.dims(1), draft.dims(1));
    for (int i = 0; draft.good() && i < draft[1].ndim; i++)
        draft.need(i >= draft[1].ndim - n ? draft[0].shape[i] > 0 && draft[1].shape[i] > 0
                                          : draft[0].shape[i] == draft[1].shape[i],
                   INFINI_STATUS_BAD_TENSOR_SHAPE);
    return draft;
}

tsr_status adaptive_pool(tsr_tensor *out, const tsr_tensor *x, int n, bool largest)
{
    Temp result;
    const int64_t *sizes = out->shape + out->ndim - n;
    if (largest) TSR_TRY(tsr_adaptive_max_pool(&result, nullptr, x, n, sizes));
    else TSR_TRY(tsr_adaptive_avg_pool(&result, x, n, sizes));
    return tsr_copy(out, result);
}

} // namespace

infiniStatus_t infiniopCreateAdaptiveAvgPool1dDescriptor(Handle handle, Desc *out, T y, T x)
{
    Draft draft(TAG_AdaptiveAvgPool1d, handle, out, 1, { y, x });
    return need_pool(draft, 1).finish();
}

infiniStatus_t infiniopAdaptiveAvgPool1d(Desc desc, P, size_t, P y, C x, P stream)
{
    return run(
        desc, TAG_AdaptiveAvgPool1d, stream, { y, x },
        [](tsr_tensor **t, const InfiniopDescriptor &) { return adaptive_pool(t[0], t[1], 1, false); });
}

infiniStatus_t infiniopCreateAdaptiveAvgPool3DDescriptor(Handle handle, Desc *out, T y, T x, size_t *sizes)
{
    Draft draft(TAG_AdaptiveAvgPool3D, handle, out, 1, { y, x });
    need_pool(draft, 3);
    for (int i = 0; sizes && i < 3; i++)
        draft.need((int64_t)sizes[i] == draft.dim(0, i - 3), INFINI_STATUS_BAD_TENSOR_SHAPE);
    return draft.finish();
}

infiniStatus_t infiniopAdaptiveAvgPool3D(Desc desc, P, size_t, P y, C x, P stream)
{
    return run(
        desc, TAG_AdaptiveAvgPool3D, stream, { y, x },
        [](tsr_tensor **t, const InfiniopDescriptor &) { return adaptive_pool(t[0], t[1], 3, false); });
}

infiniStatus_t infiniopCreateAdaptiveMaxPool1dDescriptor(Handle handle, Desc *out, T y, T x, size_t size)
{
    Draft draft(TAG_AdaptiveMaxPool1d, handle, out, 1, { y, x });
    return need_pool(draft, 1)
        .need((int64_t)size == draft.dim(0, -1), INFINI_STATUS_BAD_TENSOR_SHAPE)
        .finish();
}

infiniStatus_t infiniopAdaptiveMaxPool1d(Desc desc, P, size_t, P y, C x, P stream)
{
    return run(
        desc, TAG_AdaptiveMaxPool1d, stream, { y, x },
        [](tsr_tensor **t, const InfiniopDescriptor &) { return adaptive_pool(t[0], t[1], 1, true); });
}

/* Grids -------------------------------------------------------------------------------------- */

/* (n, h, w, 2) places in -1 .. 1 that matrices (n, 2, 3) send (x, y, 1) to. */
infiniStatus_t infiniopCreateAffineGridDescriptor(Handle handle, Desc *out, T y, T x, uint8_t align_corners)
{
    Draft draft(TAG_AffineGrid, handle, out, 1, { y, x });
    draft.op.integer[0] = align_corners;
    return draft.all_dtypes(FLOATS)
        .one_dtype({ 0, 1 })
        .rank(0, 4, 4)
        .shape(1, { draft.dim(0, 0), 2, 3 })
        .need(draft.dim(0, 3) == 2, INFINI_STATUS_BAD_TENSOR_SHAPE)
        .finish();
}

namespace
{

double grid_at(int64_t i, int64_t n, bool align_corners)
{
    if (align_corners) return n > 1 ? 2.0 * (double)i / (double)(n - 1) - 1 : 0;
    return (2.0 * (double)i + 1) / (double)n - 1;
}

tsr_status affine_grid(tsr_tensor **t, const InfiniopDescriptor &op)
{
    const int64_t n = t[0]->shape[0], h = t[0]->shape[1], w = t[0]->shape[2];
    const int64_t points[2] = { h * w, 3 }, shape[4] = { n, h, w, 2 };
    std::vector<double> base((size_t)(3 * h * w), 1);
    for (int64_t i = 0; i < h; i++)
        for (int64_t j = 0; j < w; j++) {
            base[(size_t)(3 * (i * w + j))] = grid_at(j, w, op.integer[0]);
            base[(size_t)(3 * (i * w + j) + 1)] = grid_at(i, h, op.integer[0]);
        }
    Temp flat, theta, grid, result;
    View rows, columns;
    if (tsr_numel(t[0]) == 0) return TSR_OK;
    TSR_TRY(small_tensor(&flat, t[0], TSR_F64, 3 * h * w, base.data()));
    TSR_TRY(tsr_view(&rows, flat, 2, points));
    TSR_TRY(tsr_cast(&theta, t[1], TSR_F64));
    TSR_TRY(tsr_transpose(&columns, theta, 1, 2));
    TSR_TRY(tsr_matmul(&grid, rows, columns));
    TSR_TRY(tsr_reshape(&result, grid, 4, shape));
    return tsr_copy(t[0], result);
}

} // namespace

infiniStatus_t infiniopAffineGrid(Desc desc, P, size_t, P y, C x, P stream)
{
    return run(desc, TAG_AffineGrid, stream, { y, x }, affine_grid);
}

/* Sizes ---------------------------------------------------------------------------------------- */

namespace
{

enum Method { NEAREST_CORNER, NEAREST_CENTRE, LINEAR, AREA };

/* Where element i of n falls among m, by PyTorch's rules. */
double source_at(int64_t i, int64_t m, int64_t n, bool align_corners)
{
    if (align_corners) return n > 1 ? (double)i * (double)(m - 1) / (double)(n - 1) : 0;
    const double at = ((double)i + 0.5) * (double)m / (double)n - 0.5;
    return at < 0 ? 0 : at;
}

/* Weights (n, m) of m elements for n. */
std::vector<double> weights(int64_t m, int64_t n, Method method, bool align_corners)
{
    std::vector<double> w((size_t)(m * n), 0);
    for (int64_t i = 0; i < n; i++) {
        double *row = w.data() + i * m;
        if (method == LINEAR) {
            const double at = source_at(i, m, n, align_corners);
            const int64_t low = std::min((int64_t)at, m - 1), high = std::min(low + 1, m - 1);
            row[low] += 1 - (at - (double)low);
            row[high] += at - (double)low;
        } else if (method == NEAREST_CORNER) {
            row[std::min(i * m / n, m - 1)] = 1;
        } else {
            row[std::min((int64_t)std::llround(source_at(i, m, n, align_corners)), m - 1)] = 1;
        }
    }
    return w;
}

/* One axis of x to n elements: a product with the weights. */
tsr_status resize_axis(tsr_tensor **out, const tsr_tensor *x, int axis, int64_t n, Method method,
                       bool align_corners)
{
    const int64_t m = x->shape[axis], shape[2] = { n, m };
    const std::vector<double> numbers = weights(m, n, method, align_corners);
    Temp flat, matrix, product;
    View last, rows;
    TSR_TRY(small_tensor(&flat, x, TSR_F64, m * n, numbers.data()));
    TSR_TRY(tsr_view(&rows, flat, 2, shape));
    TSR_TRY(tsr_cast(&matrix, rows, x->dtype));
    TSR_TRY(tsr_move_axis(&last, x, axis, -1));
    TSR_TRY(tsr_linear(&product, last, matrix, nullptr));
    return tsr_move_axis(out, product, -1, axis);
}

tsr_status resize(tsr_tensor *y, const tsr_tensor *x, Method method, bool align_corners)
{
    if (method == AREA) return adaptive_pool(y, x, x->ndim - 2, false);
    Temp step[TSR_MAX_NDIM];
    TSR_TRY(tsr_cast(&step[1], x, wide(x)));
    for (int axis = 2; axis < x->ndim; axis++)
        TSR_TRY(resize_axis(&step[axis], step[axis - 1], axis, y->shape[axis], method, align_corners));
    return tsr_copy(y, step[x->ndim - 1]);
}

/* Batch and channels stay, the others are not empty. */
Draft &need_sizes(Draft &draft, int least, int most)
{
    draft.all_dtypes(FLOATS).one_dtype({ 0, 1 }).rank(1, least, most).rank(0, draft.dims(1), draft.dims(1));
    for (int i = 0; draft.good() && i < draft[1].ndim; i++)
        draft.need(i < 2 ? draft[0].shape[i] == draft[1].shape[i]
                         : draft[0].shape[i] > 0 && draft[1].shape[i] > 0,
                   INFINI_STATUS_BAD_TENSOR_SHAPE);
    return draft;
}

tsr_status resize_as_told(tsr_tensor **t, const InfiniopDescriptor &op)
{
    return resize(t[0], t[1], (Method)op.integer[0], op.integer[1]);
}

} // namespace

/* The result's shape says the size; one of size and scale_factor must be there, as in the original. */
infiniStatus_t infiniopCreateInterpolateDescriptor(Handle handle, Desc *out, T y, T x, const char *mode,
                                                   void *size, void *scale_factor, int align_corners)
{
    static const struct {
        const char *name;
        Method method;
        int spatial;
    } modes[] = { { "nearest", NEAREST_CENTRE, 0 },
                  { "linear", LINEAR, 1 },
                  { "bilinear", LINEAR, 2 },
                  { "trilinear", LINEAR, 3 },
                  { "area", AREA, 0 } };
    Draft draft(TAG_Interpolate, handle, out, 1, { y, x });
    need_sizes(draft, 3, 5)
        .need(mode, INFINI_STATUS_NULL_POINTER)
        .need((size != nullptr) != (scale_factor != nullptr), INFINI_STATUS_BAD_PARAM);
    bool known = false;
    for (const auto &m : modes) {
        if (!draft.good() || std::strcmp(mode, m.name) != 0) continue;
        known = m.spatial == 0 || m.spatial == draft.dims(1) - 2;
        draft.op.integer[0] = m.method;
    }
    draft.op.integer[1] = align_corners;
    return draft.need(known, INFINI_STATUS_BAD_PARAM).finish();
}

infiniStatus_t infiniopInterpolate(Desc desc, P, size_t, P y, C x, P stream)
{
    return run(desc, TAG_Interpolate, stream, { y, x }, resize_as_told);
}

infiniStatus_t infiniopCreateUpsampleBilinearDescriptor(Handle handle, Desc *out, T y, T x,
                                                        int align_corners)
{
    Draft draft(TAG_UpsampleBilinear, handle, out, 1, { y, x });
    draft.op.integer[0] = LINEAR;
    draft.op.integer[1] = align_corners;
    return need_sizes(draft, 4, 4).finish();
}

infiniStatus_t infiniopUpsampleBilinear(Desc desc, P, size_t, P y, C x, P stream)
{
    return run(desc, TAG_UpsampleBilinear, stream, { y, x }, resize_as_told);
}

infiniStatus_t infiniopCreateUpsampleNearestDescriptor(Handle handle, Desc *out, T y, T x)
{
    Draft draft(TAG_UpsampleNearest, handle, out, 1, { y, x });
    draft.op.integer[0] = NEAREST_CORNER;
    return need_sizes(draft, 3, 5).finish();
}

infiniStatus_t infiniopUpsampleNearest(Desc desc, P, size_t, P y, C x, P stream)
{
    return run(desc, TAG_UpsampleNearest, stream, { y, x }, resize_as_told);
}
