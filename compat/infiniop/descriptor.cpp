/* descriptor.cpp - handles, tensor descriptors, and what all operator descriptors have in common. */
#include "op.h"

#include <new>

#include "infinirt.h"

using namespace face;

namespace face {

Live live;

namespace {

/* A copy on the heap that is known by its tag. */
template <class Object>
infiniStatus_t hand_over(Object **out, const Object &object, uint32_t tag)
{
    Object *made = new (std::nothrow) Object(object);
    if (!made || !live.add(made, tag)) {
        delete made;
        return INFINI_STATUS_INTERNAL_ERROR;
    }
    *out = made;
    return INFINI_STATUS_SUCCESS;
}

template <class Object>
infiniStatus_t end(Object *object, uint32_t tag)
{
    if (!object) return INFINI_STATUS_NULL_POINTER;
    if (!live.remove(object, tag)) return INFINI_STATUS_BAD_PARAM;
    delete object;
    return INFINI_STATUS_SUCCESS;
}

} // namespace

} // namespace face

/* Handles ------------------------------------------------------------------------- */

infiniStatus_t infiniopCreateHandle(infiniopHandle_t *handle_ptr)
{
    InfiniopHandle h;
    if (!handle_ptr) return INFINI_STATUS_NULL_POINTER;
    FACE_TRY(infinirtGetDevice(&h.device, &h.device_id));
    FACE_TRY(find_device(&h.where, h.device, h.device_id));
    return hand_over(handle_ptr, h, TAG_HANDLE);
}

infiniStatus_t infiniopDestroyHandle(infiniopHandle_t handle)
{
    return end(handle, TAG_HANDLE);
}

infiniStatus_t infiniopSetRuntimeDevice(infiniDevice_t device, int device_id)
{
    return infinirtSetDevice(device, device_id);
}

/* Tensor descriptors ----------------------------------------------------------------- */

namespace {

/* C16 is two 8-bit floats, which Tessera does not have as one element: its bits move as u16. */
infiniStatus_t dtype_of(tsr_dtype *out, infiniDtype_t dtype)
{
    if (dtype == INFINI_DTYPE_C16) {
        *out = TSR_U16;
        return INFINI_STATUS_SUCCESS;
    }
    return tsr_dtype_from_number(out, TSR_NUMBERING_INFINIOP, dtype) == TSR_OK
               ? INFINI_STATUS_SUCCESS
               : INFINI_STATUS_BAD_TENSOR_DTYPE;
}

infiniStatus_t make_desc(tsr_desc *out, infiniDtype_t dtype, size_t ndim, const size_t *shape,
                         const ptrdiff_t *strides)
{
    int64_t sizes[TSR_MAX_NDIM], steps[TSR_MAX_NDIM];
    tsr_dtype d = TSR_DTYPE_INVALID;
    FACE_TRY(dtype_of(&d, dtype));
    if (ndim > TSR_MAX_NDIM) return INFINI_STATUS_BAD_TENSOR_SHAPE;
    if (ndim && !shape) return INFINI_STATUS_NULL_POINTER;
    for (size_t i = 0; i < ndim; i++) {
        if (shape[i] > (size_t)INT64_MAX) return INFINI_STATUS_BAD_TENSOR_SHAPE;
        sizes[i] = (int64_t)shape[i];
        if (strides) steps[i] = strides[i];
    }
    return status_of(tsr_desc_init(out, d, (int)ndim, sizes, strides ? steps : nullptr));
}

} // namespace

infiniStatus_t infiniopCreateTensorDescriptor(infiniopTensorDescriptor_t *desc_ptr, size_t ndim,
                                              const size_t *shape, const ptrdiff_t *strides,
                                              infiniDtype_t dtype)
{
    tsr_desc d;
    if (!desc_ptr) return INFINI_STATUS_NULL_POINTER;
    FACE_TRY(make_desc(&d, dtype, ndim, shape, strides));
    InfiniopTensorDescriptor *made = nullptr;
    FACE_TRY(hand_over(&made, InfiniopTensorDescriptor(), TAG_TENSOR));
    made->dtype = dtype;
    made->ndim = ndim;
    made->shape = made->own_shape;
    made->strides = made->own_strides;
    for (size_t i = 0; i < ndim; i++) {
        made->own_shape[i] = shape[i];
        made->own_strides[i] = (ptrdiff_t)d.stride[i];
    }
    *desc_ptr = made;
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t infiniopDestroyTensorDescriptor(infiniopTensorDescriptor_t desc)
{
    return desc ? end(desc, TAG_TENSOR) : INFINI_STATUS_SUCCESS;
}

/* All groups ---------------------------------------------------------------------------- */

infiniStatus_t infiniopGetDescriptorDeviceType(const InfiniopDescriptor *desc_ptr,
                                               infiniDevice_t *device_type)
{
    if (!desc_ptr || !device_type) return INFINI_STATUS_NULL_POINTER;
    if (live.kind(desc_ptr) <= TAG_TENSOR) return INFINI_STATUS_BAD_PARAM;
    *device_type = desc_ptr->device_type;
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t infiniopGetDescriptorDeviceId(const InfiniopDescriptor *desc_ptr, int *device_id)
{
    if (!desc_ptr || !device_id) return INFINI_STATUS_NULL_POINTER;
    if (live.kind(desc_ptr) <= TAG_TENSOR) return INFINI_STATUS_BAD_PARAM;
    *device_id = desc_ptr->device_id;
    return INFINI_STATUS_SUCCESS;
}

namespace {

infiniStatus_t workspace_size(const InfiniopDescriptor *desc, Tag tag, size_t *size)
{
    FACE_TRY(check(desc, tag));
    if (!size) return INFINI_STATUS_NULL_POINTER;
    *size = 0;
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t destroy(InfiniopDescriptor *desc, Tag tag)
{
    return end(desc, tag);
}

} // namespace

#define X(Name)                                                                                          \
    infiniStatus_t infiniopGet##Name##WorkspaceSize(infiniop##Name##Descriptor_t desc, size_t *size)      \
    {                                                                                                    \
        return workspace_size(desc, TAG_##Name, size);                                                   \
    }                                                                                                    \
    infiniStatus_t infiniopDestroy##Name##Descriptor(infiniop##Name##Descriptor_t desc)                   \
    {                                                                                                    \
        return destroy(desc, TAG_##Name);                                                                \
    }
#include "groups.def"
#undef X

namespace face {

/* Drafts -------------------------------------------------------------------------------- */

Draft::Draft(Tag tag, infiniopHandle_t handle, InfiniopDescriptor **out, int results,
             std::initializer_list<infiniopTensorDescriptor_t> tensors, uint32_t optional)
    : op(), status_(INFINI_STATUS_SUCCESS), out_(out)
{
    op.tag = tag;
    op.count = (int32_t)tensors.size();
    op.results = results;
    op.given = 0;
    need(handle && out, INFINI_STATUS_NULL_POINTER);
    if (good()) need(live.kind(handle) == TAG_HANDLE, INFINI_STATUS_BAD_PARAM);
    if (!good()) return;
    op.device_type = handle->device;
    op.device_id = handle->device_id;
    op.where = handle->where;
    for (int i = 0; i < op.count && good(); i++) {
        const InfiniopTensorDescriptor *t = tensors.begin()[i];
        need(t || optional >> i & 1, INFINI_STATUS_NULL_POINTER);
        if (t) need(live.kind(t) == TAG_TENSOR, INFINI_STATUS_BAD_PARAM);
        if (!t || !good()) continue;
        op.given |= 1u << i;
        op.dtype[i] = t->dtype;
        status_ = make_desc(&op.tensor[i].desc, t->dtype, t->ndim, t->shape, t->strides);
    }
}

Draft &Draft::need(bool condition, infiniStatus_t otherwise)
{
    if (good() && !condition) status_ = otherwise;
    return *this;
}

int64_t Draft::dim(int i, int axis) const
{
    const int n = good() && has(i) ? op.tensor[i].ndim : 0;
    if (axis < 0) axis += n;
    return axis >= 0 && axis < n ? op.tensor[i].shape[axis] : 0;
}

Draft &Draft::dtypes(int i, Dtypes allowed)
{
    if (!good() || !has(i)) return *this;
    return need(allowed >> (unsigned)op.dtype[i] & 1, INFINI_STATUS_BAD_TENSOR_DTYPE);
}

Draft &Draft::all_dtypes(Dtypes allowed)
{
    for (int i = 0; i < op.count; i++) dtypes(i, allowed);
    return *this;
}

Draft &Draft::one_dtype(std::initializer_list<int> which)
{
    int first = -1;
    for (int i : which) {
        if (!good() || !has(i)) continue;
        if (first < 0) first = i;
        need(op.tensor[i].dtype == op.tensor[first].dtype && (op.dtype[i] == INFINI_DTYPE_C16) ==
             (op.dtype[first] == INFINI_DTYPE_C16), INFINI_STATUS_BAD_TENSOR_DTYPE);
    }
    return *this;
}

Draft &Draft::one_shape(std::initializer_list<int> which)
{
    int first = -1;
    for (int i : which) {
        if (!good() || !has(i)) continue;
        if (first < 0) first = i;
        need(tsr_desc_same_shape(&op.tensor[i].desc, &op.tensor[first].desc), INFINI_STATUS_BAD_TENSOR_SHAPE);
    }
    return *this;
}

Draft &Draft::rank(int i, int least, int most)
{
    if (!good() || !has(i)) return *this;
    return need(op.tensor[i].ndim >= least && op.tensor[i].ndim <= most, INFINI_STATUS_BAD_TENSOR_SHAPE);
}

Draft &Draft::shape(int i, std::initializer_list<int64_t> sizes)
{
    if (!good() || !has(i)) return *this;
    need(op.tensor[i].ndim == (int)sizes.size(), INFINI_STATUS_BAD_TENSOR_SHAPE);
    for (int d = 0; good() && d < op.tensor[i].ndim; d++)
        need(op.tensor[i].shape[d] == sizes.begin()[d], INFINI_STATUS_BAD_TENSOR_SHAPE);
    return *this;
}

Draft &Draft::scalar(int i)
{
    if (!good() || !has(i)) return *this;
    need(tsr_desc_numel(&op.tensor[i].desc) == 1, INFINI_STATUS_BAD_TENSOR_SHAPE);
    if (good()) op.tensor[i].ndim = 0;
    return *this;
}

Draft &Draft::expand(int i, int like)
{
    if (!good() || !has(i)) return *this;
    const tsr_desc &shape = op.tensor[like].desc;
    tsr_desc expanded;
    need(tsr_desc_expand(&expanded, &op.tensor[i].desc, shape.ndim, shape.shape) == TSR_OK,
         INFINI_STATUS_BAD_TENSOR_SHAPE);
    if (good()) op.tensor[i].desc = expanded;
    return *this;
}

Draft &Draft::axis(int i, int64_t axis)
{
    if (!good()) return *this;
    return need(axis >= -op.tensor[i].ndim && axis < op.tensor[i].ndim, INFINI_STATUS_BAD_PARAM);
}

Draft &Draft::infer(tsr_op_kind kind, std::initializer_list<int> operands, const void *params)
{
    const tsr_desc *in[TSR_OP_MAX_IN];
    tsr_desc out[TSR_OP_MAX_OUT];
    int n = 0;
    if (!good()) return *this;
    for (int i : operands) in[n++] = i >= 0 && has(i) ? &op.tensor[i].desc : nullptr;
    status_ = status_of(tsr_infer(out, kind, n, in, params));
    if (!good()) return *this;
    return need(tsr_desc_same_shape(&out[0], &op.tensor[0].desc), INFINI_STATUS_BAD_TENSOR_SHAPE);
}

infiniStatus_t Draft::finish()
{
    for (int i = 0; i < op.results && good(); i++)
        if (has(i)) need(!tsr_desc_self_overlaps(&op.tensor[i].desc), INFINI_STATUS_BAD_TENSOR_STRIDES);
    for (int i = 0; i < MAX_TENSORS && good(); i++)
        if (has(i)) status_ = set_tensor(&op, i, op.tensor[i].desc);
    if (!good()) return status_;
    return hand_over(out_, op, op.tag);
}

/* Operands ------------------------------------------------------------------------------ */

namespace {

alignas(64) char somewhere[64];

/* The bytes of each element as one more dim: these may lie anywhere. */
tsr_status place_bytes(tsr_tensor *t, void *data, const tsr_desc *desc)
{
    tsr_desc bytes = *desc;
    const int64_t size = (int64_t)tsr_dtype_size(desc->dtype);
    if (desc->ndim == TSR_MAX_NDIM) return TSR_EUNSUPPORTED;
    for (int i = 0; i < desc->ndim; i++) bytes.stride[i] *= size;
    bytes.dtype = TSR_U8;
    bytes.shape[desc->ndim] = size;
    bytes.stride[desc->ndim] = 1;
    bytes.ndim++;
    return tsr_place(t, data, &bytes);
}

} // namespace

infiniStatus_t set_tensor(InfiniopDescriptor *op, int i, const tsr_desc &desc)
{
    const tsr_desc copy = desc;
    const size_t size = tsr_dtype_size(copy.dtype);
    tsr_tensor *t = &op->tensor[i];
    FACE_TRY(status_of(tsr_place(t, somewhere, &copy)));
    op->align[i] = (uint8_t)((tsr_dtype_kind(copy.dtype) == TSR_COMPLEX ? size / 2 : size) - 1);
    op->given |= 1u << i;
    if (op->where == TSR_CPU) return INFINI_STATUS_SUCCESS;
    t->device = op->where; /* memory of a device is placed as the host's is; only where it lies differs */
    t->memory = TSR_MEMORY_DEVICE;
    return INFINI_STATUS_SUCCESS;
}

tsr_status copy_bytes(void *dst, const tsr_desc *dst_desc, const void *src, const tsr_desc *src_desc)
{
    tsr_tensor to, from;
    TSR_TRY(place_bytes(&to, dst, dst_desc));
    TSR_TRY(place_bytes(&from, const_cast<void *>(src), src_desc));
    return tsr_copy(&to, &from);
}

infiniStatus_t Operand::bind_unusual(const InfiniopDescriptor &op, int i, void *data)
{
    desc_ = &op.tensor[i].desc;
    data_ = data;
    if (!tsr_desc_numel(desc_)) {
        place(op.tensor[i], op.tensor[i].data);
        return INFINI_STATUS_SUCCESS;
    }
    if (!data) return INFINI_STATUS_NULL_POINTER;
    if (op.where != TSR_CPU) return INFINI_STATUS_BAD_PARAM;
    FACE_TRY(status_of(tsr_empty(&copy_, desc_->dtype, desc_->ndim, desc_->shape)));
    tensor_ = copy_;
    return status_of(copy_bytes(copy_->data, &copy_->desc, data, desc_));
}

infiniStatus_t Operand::write_copy()
{
    return status_of(copy_bytes(data_, desc_, copy_->data, &copy_->desc));
}

/* Streams ------------------------------------------------------------------------------- */

void OnStream::use(tsr_device where, void *stream)
{
    where_ = where;
    before_ = tsr_stream_current(where);
    changed_ = before_ != stream && tsr_stream_use((tsr_stream *)stream) == TSR_OK;
}

void OnStream::restore()
{
    const tsr_status s = before_ ? tsr_stream_use((tsr_stream *)before_) : tsr_stream_use_default(where_);
    (void)s; /* it was the current stream before */
}

/* Small tensors --------------------------------------------------------------------------- */

tsr_status small_tensor(tsr_tensor **out, const tsr_tensor *beside, tsr_dtype dtype, int64_t n,
                        const void *data)
{
    Temp host;
    TSR_TRY(tsr_from_data(&host, dtype, 1, &n, data));
    return tsr_to(out, host, tsr_device_of(beside));
}

} // namespace face
