/* index.cpp - operators that look elements up, write them by index, or select them. */
#include "host.h"

#include <cstring>

#include "infinirt.h"

using namespace face;

namespace
{

constexpr Dtypes PLACES = set_of(INFINI_DTYPE_I32) | set_of(INFINI_DTYPE_I64);

} // namespace

/* Elements of the flattened tensor; negative places count from the end. */
infiniStatus_t infiniopCreateTakeDescriptor(Handle handle, Desc *out, T y, T x, T indices)
{
    return Draft(TAG_Take, handle, out, 1, { y, x, indices })
        .one_dtype({ 0, 1 })
        .dtypes(2, PLACES)
        .one_shape({ 0, 2 })
        .finish();
}

infiniStatus_t infiniopTake(Desc desc, P, size_t, P y, C x, C indices, P stream)
{
    return run(desc, TAG_Take, stream, { y, x, indices },
               [](tsr_tensor **t, const InfiniopDescriptor &) -> tsr_status {
                   const int64_t all = -1;
                   Temp flat;
                   if (tsr_numel(t[0]) == 0) return TSR_OK;
                   TSR_TRY(tsr_reshape(&flat, t[1], 1, &all));
                   return tsr_take(&t[0], flat, t[2], 0);
               });
}

namespace
{

/* output, input, index, source: slices of source for places along a dim. */
Draft &need_slices(Draft &draft, int64_t dim)
{
    draft.dtypes(0, NUMBERS)
        .one_dtype({ 0, 1, 3 })
        .dtypes(2, PLACES)
        .one_shape({ 0, 1 })
        .rank(2, 1, 1)
        .axis(1, dim)
        .rank(3, draft.dims(1), draft.dims(1));
    const int64_t axis = dim < 0 ? dim + draft.dims(1) : dim;
    draft.op.integer[0] = axis;
    for (int i = 0; draft.good() && i < draft[1].ndim; i++)
        draft.need(draft[3].shape[i] == (i == axis ? draft.dim(2, 0) : draft[1].shape[i]),
                   INFINI_STATUS_BAD_TENSOR_SHAPE);
    return draft;
}

tsr_status keep_input(tsr_tensor **t) { return tsr_identical(t[0], t[1]) ? TSR_OK : tsr_copy(t[0], t[1]); }

/* Each index as often as a slice has elements: what scatter takes. */
tsr_status spread(tsr_tensor **out, const tsr_tensor *index, const tsr_tensor *source, int axis)
{
    int64_t shape[TSR_MAX_NDIM];
    View column;
    for (int i = 0; i < source->ndim; i++) shape[i] = i == axis ? index->shape[0] : 1;
    TSR_TRY(tsr_view(&column, index, source->ndim, shape));
    return tsr_expand(out, column, source->ndim, source->shape);
}

} // namespace

infiniStatus_t infiniopCreateIndexAddDescriptor(Handle handle, Desc *out, T y, T x, int64_t dim, T index,
                                                T source, float alpha)
{
    Draft draft(TAG_IndexAdd, handle, out, 1, { y, x, index, source });
    draft.op.number[0] = alpha;
    draft.op.integer[1] =
        draft.good() && (FLOATS >> (unsigned)draft.op.dtype[0] & 1); /* is it of floats? */
    return need_slices(draft, dim).finish();
}

infiniStatus_t infiniopIndexAdd(Desc desc, P, size_t, P y, C x, C index, C source, P stream)
{
    return run(desc, TAG_IndexAdd, stream, { y, x, index, source },
               [](tsr_tensor **t, const InfiniopDescriptor &op) -> tsr_status {
                   Temp places, wide_x, scaled;
                   const tsr_dtype dtype = op.integer[1] ? wide(t[0]) : t[0]->dtype;
                   TSR_TRY(tsr_cast(&wide_x, t[1], dtype));
                   TSR_TRY(tsr_cast(&scaled, t[3], dtype));
                   TSR_TRY(tsr_mul(&scaled, scaled, TSR_NUMBER(op.number[0])));
                   TSR_TRY(spread(&places, t[2], t[3], (int)op.integer[0]));
                   TSR_TRY(
                       tsr_scatter(&wide_x, wide_x, places, scaled, (int)op.integer[0], TSR_SCATTER_ADD));
                   return tsr_copy(t[0], wide_x);
               });
}

infiniStatus_t infiniopCreateIndexCopyDescriptor(Handle handle, Desc *out, T y, T x, int64_t dim, T index,
                                                 T source)
{
    Draft draft(TAG_IndexCopy, handle, out, 1, { y, x, index, source });
    return need_slices(draft, dim).finish();
}

infiniStatus_t infiniopIndexCopy(Desc desc, P, size_t, P y, C x, C index, C source, P stream)
{
    return run(desc, TAG_IndexCopy, stream, { y, x, index, source },
               [](tsr_tensor **t, const InfiniopDescriptor &op) -> tsr_status {
                   Temp places;
                   const int axis = (int)op.integer[0];
                   TSR_TRY(keep_input(t));
                   TSR_TRY(spread(&places, t[2], t[3], axis));
                   return tsr_scatter(&t[0], t[0], places, t[3], axis, TSR_SCATTER_SET);
               });
}

/* Reduction 0 sets, 1 adds, 2 multiplies. */
infiniStatus_t infiniopCreateScatterDescriptor(Handle handle, Desc *out, T y, T x, T indices, T updates,
                                               int axis, int reduction)
{
    Draft draft(TAG_Scatter, handle, out, 1, { y, x, indices, updates });
    draft.op.integer[0] = axis;
    draft.op.integer[1] = reduction;
    return draft.dtypes(0, NUMBERS)
        .one_dtype({ 0, 1, 3 })
        .dtypes(2, PLACES)
        .one_shape({ 0, 1 })
        .one_shape({ 2, 3 })
        .axis(1, axis)
        .rank(2, draft.dims(1), draft.dims(1))
        .need(reduction >= 0 && reduction <= 2, INFINI_STATUS_BAD_PARAM)
        .finish();
}

namespace {

double product(double a, double b) { return a * b; }
int64_t product(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }

/* The op set has no such scatter: a loop over the updates, on the host. */
template <class Element>
tsr_status scatter_products(const tsr_tensor *x, tsr_tensor *const *t, int axis)
{
    Packed<Element> out, updates;
    Packed<int64_t> places;
    TSR_TRY(out.read(x));
    TSR_TRY(places.read(t[2]));
    TSR_TRY(updates.read(t[3]));
    if (axis < 0) axis += x->ndim;
    for (int d = 0; d < x->ndim; d++)
        if (d != axis && t[3]->shape[d] > x->shape[d]) return TSR_ESHAPE;
    for (int64_t i = 0; i < tsr_numel(t[3]); i++) {
        int64_t at = 0, rest = i, step = 1;
        if (places[i] < 0 || places[i] >= x->shape[axis]) return TSR_EINDEX;
        for (int d = x->ndim - 1; d >= 0; d--) {
            at += (d == axis ? places[i] : rest % t[3]->shape[d]) * step;
            rest /= t[3]->shape[d];
            step *= x->shape[d];
        }
        out[at] = product(out[at], updates[i]);
    }
    return out.write(t[0]);
}

} // namespace

infiniStatus_t infiniopScatter(Desc desc, P, size_t, P y, C x, C indices, C updates, P stream)
{
    return run(desc, TAG_Scatter, stream, { y, x, indices, updates },
               [](tsr_tensor **t, const InfiniopDescriptor &op) -> tsr_status {
                   const int axis = (int)op.integer[0];
                   if (op.integer[1] == 2)
                       return tsr_dtype_kind(t[0]->dtype) == TSR_FLOATING
                                  ? scatter_products<double>(t[1], t, axis)
                                  : scatter_products<int64_t>(t[1], t, axis);
                   TSR_TRY(keep_input(t));
                   return tsr_scatter(&t[0], t[0], t[2], t[3], axis,
                                      op.integer[1] ? TSR_SCATTER_ADD : TSR_SCATTER_SET);
               });
}

infiniStatus_t infiniopCreateEmbeddingDescriptor(Handle handle, Desc *out, T y, T indices, T weight)
{
    Draft draft(TAG_Embedding, handle, out, 1, { y, indices, weight });
    draft.one_dtype({ 0, 2 })
        .dtypes(1, PLACES)
        .rank(2, 2, 2)
        .rank(0, draft.dims(1) + 1, draft.dims(1) + 1)
        .need(draft.dim(0, -1) == draft.dim(2, 1), INFINI_STATUS_BAD_TENSOR_SHAPE);
    for (int i = 0; draft.good() && i < draft[1].ndim; i++)
        draft.need(draft[0].shape[i] == draft[1].shape[i], INFINI_STATUS_BAD_TENSOR_SHAPE);
    return draft.finish();
}

infiniStatus_t infiniopEmbedding(Desc desc, P y, C indices, C weight, P stream)
{
    return run(desc, TAG_Embedding, stream, { y, indices, weight },
               [](tsr_tensor **t, const InfiniopDescriptor &) { return tsr_embedding(&t[0], t[2], t[1]); });
}

/* Of each request the state of its last token: offsets[i + 1] - 1 is that token's place. */
infiniStatus_t infiniopCreateSelectLastTokenHiddenDescriptor(Handle handle, Desc *out, T y, T hidden,
                                                             T offsets)
{
    Draft draft(TAG_SelectLastTokenHidden, handle, out, 1, { y, hidden, offsets });
    return draft.dtypes(0, FLOATS)
        .one_dtype({ 0, 1 })
        .dtypes(2, PLACES)
        .rank(1, 3, 3)
        .rank(2, 1, 1)
        .need(draft.dim(2, 0) >= 2 && draft.dim(1, 0) * draft.dim(1, 1) > 0, INFINI_STATUS_BAD_TENSOR_SHAPE)
        .shape(0, { 1, draft.dim(2, 0) - 1, draft.dim(1, 2) })
        .finish();
}

infiniStatus_t infiniopSelectLastTokenHidden(Desc desc, P y, C hidden, C offsets, P stream)
{
    return run(desc, TAG_SelectLastTokenHidden, stream, { y, hidden, offsets },
               [](tsr_tensor **t, const InfiniopDescriptor &) -> tsr_status {
                   const int64_t rows[2] = { t[1]->shape[0] * t[1]->shape[1], t[1]->shape[2] };
                   const int64_t n = t[2]->shape[0];
                   Temp states, last, below;
                   View ends, result;
                   TSR_TRY(tsr_slice(&ends, t[2], 0, 1, n, 1));
                   TSR_TRY(tsr_sub(&last, ends, TSR_NUMBER(1)));
                   Packed<int64_t> least;
                   TSR_TRY(tsr_min(&below, last, 0, nullptr, false));
                   TSR_TRY(least.read(below));
                   if (least[0] < 0) return TSR_EINDEX;
                   TSR_TRY(tsr_reshape(&states, t[1], 2, rows));
                   TSR_TRY(tsr_squeeze(&result, t[0], 0));
                   return tsr_take(&result, states, last, 0);
               });
}

/* Results of a size that is known at the end ----------------------------------------------- */

namespace
{

/* Elements of a packed host tensor as memory of the runtime's on the host, which infinirtFree returns. */
tsr_status hand_out(void **out, const tsr_tensor *t)
{
    const size_t bytes = tsr_byte_size(t);
    void *copy = nullptr;
    if (infinirtMallocHost(&copy, bytes ? bytes : 1) != INFINI_STATUS_SUCCESS) return TSR_ENOMEM;
    if (bytes) std::memcpy(copy, t->data, bytes);
    *out = copy;
    return TSR_OK;
}

} // namespace

infiniStatus_t infiniopCreateArgwhereDescriptor(Handle handle, Desc *out, T x)
{
    Draft draft(TAG_Argwhere, handle, out, 0, { x });
    return draft.dtypes(0, NUMBERS | set_of(INFINI_DTYPE_BOOL))
        .rank(0, 1, TSR_MAX_NDIM)
        .need(draft.op.where == TSR_CPU, INFINI_STATUS_DEVICE_TYPE_NOT_SUPPORTED)
        .finish();
}

infiniStatus_t infiniopArgwhere(Desc desc, P, size_t, void **y, size_t *count, C x, P stream)
{
    if (!y || !count) return INFINI_STATUS_NULL_POINTER;
    return run(desc, TAG_Argwhere, stream, { x },
               [=](tsr_tensor **t, const InfiniopDescriptor &) -> tsr_status {
                   Temp places;
                   TSR_TRY(tsr_nonzero(&places, t[0]));
                   TSR_TRY(hand_out(y, places));
                   *count = (size_t)places->shape[0];
                   return TSR_OK;
               });
}

infiniStatus_t infiniopCreateMaskedSelectDescriptor(Handle handle, Desc *out, T x, T mask)
{
    Draft draft(TAG_MaskedSelect, handle, out, 0, { x, mask });
    return draft.dtypes(0, NUMBERS)
        .dtypes(1, set_of(INFINI_DTYPE_BOOL))
        .one_shape({ 0, 1 })
        .need(draft.op.where == TSR_CPU, INFINI_STATUS_DEVICE_TYPE_NOT_SUPPORTED)
        .finish();
}

infiniStatus_t infiniopMaskedSelect(Desc desc, P, size_t, C x, const bool *mask, void **data, size_t *count,
                                    P stream)
{
    if (!data || !count) return INFINI_STATUS_NULL_POINTER;
    return run(desc, TAG_MaskedSelect, stream, { x, mask },
               [=](tsr_tensor **t, const InfiniopDescriptor &) -> tsr_status {
                   Temp chosen;
                   TSR_TRY(tsr_masked_select(&chosen, t[0], t[1]));
                   TSR_TRY(hand_out(data, chosen));
                   *count = (size_t)tsr_numel(chosen);
                   return TSR_OK;
               });
}
