/* tensor.cpp - llaisys/tensor.h: handles over tensors of the library. */
#include "face.hpp"

#include <iostream>
#include <memory>

namespace
{

/* A handle that is destroyed unless it is handed out. */
struct Destroy {
    void operator()(LlaisysTensor *h) const
    {
        tsr_release(&h->t);
        delete h;
    }
};
typedef std::unique_ptr<LlaisysTensor, Destroy> Handle;

Handle make_handle(llaisysDataType_t dtype, llaisysDeviceType_t type, int id)
{
    return Handle(new LlaisysTensor{nullptr, dtype, type, id});
}

Handle handle_like(const LlaisysTensor &like)
{
    return make_handle(like.dtype, like.device_type, like.device_id);
}

int64_t size_of(size_t n)
{
    if (n > static_cast<size_t>(INT64_MAX)) throw_argument("a size or an index is negative or too large");
    return static_cast<int64_t>(n);
}

int copy_shape(int64_t out[TSR_MAX_NDIM], const size_t *shape, size_t ndim)
{
    if (ndim > TSR_MAX_NDIM) throw_argument("too many dims");
    if (ndim && !shape) throw_argument("shape is NULL");
    for (size_t i = 0; i < ndim; i++) out[i] = size_of(shape[i]);
    return static_cast<int>(ndim);
}

tsr_dtype dtype_of(llaisysDataType_t number)
{
    tsr_dtype dtype;
    if (tsr_dtype_from_number(&dtype, TSR_NUMBERING_LLAISYS, number) != TSR_OK)
        throw_runtime("Unsupported data type");
    return dtype;
}

/* Elements ------------------------------------------------------------------------ */

template <typename T> struct plain {
    static T of(T x) { return x; }
};

template <float (*widen)(uint16_t)> struct wide {
    static float of(uint16_t x) { return widen(x); }
};

/* One line for each run of the last dim. */
template <typename T, typename Show> void print_rows(const tsr_tensor *t, const T *p, int dim)
{
    const int64_t n = dim < t->ndim ? t->shape[dim] : 1, step = dim < t->ndim ? t->stride[dim] : 0;
    const bool is_last = dim + 1 >= t->ndim;
    for (int64_t i = 0; i < n; i++) {
        if (is_last)
            std::cout << Show::of(p[i * step]) << " ";
        else
            print_rows<T, Show>(t, p + i * step, dim + 1);
    }
    if (is_last) std::cout << std::endl;
}

template <typename T, typename Show = plain<T>> void print_as(const tsr_tensor *t)
{
    print_rows<T, Show>(t, static_cast<const T *>(t->data), 0);
}

void print_elements(const tsr_tensor *t, llaisysDataType_t dtype)
{
    switch (dtype) {
    case LLAISYS_DTYPE_BYTE: return print_as<char>(t);
    case LLAISYS_DTYPE_BOOL: return print_as<bool>(t);
    case LLAISYS_DTYPE_I8: return print_as<int8_t>(t);
    case LLAISYS_DTYPE_I16: return print_as<int16_t>(t);
    case LLAISYS_DTYPE_I32: return print_as<int32_t>(t);
    case LLAISYS_DTYPE_I64: return print_as<int64_t>(t);
    case LLAISYS_DTYPE_U8: return print_as<uint8_t>(t);
    case LLAISYS_DTYPE_U16: return print_as<uint16_t>(t);
    case LLAISYS_DTYPE_U32: return print_as<uint32_t>(t);
    case LLAISYS_DTYPE_U64: return print_as<uint64_t>(t);
    case LLAISYS_DTYPE_F16: return print_as<uint16_t, wide<tsr_f16_to_f32>>(t);
    case LLAISYS_DTYPE_BF16: return print_as<uint16_t, wide<tsr_bf16_to_f32>>(t);
    case LLAISYS_DTYPE_F32: return print_as<float>(t);
    case LLAISYS_DTYPE_F64: return print_as<double>(t);
    default: throw_runtime("Unsupported data type");
    }
}

void print_info(const LlaisysTensor &h)
{
    std::cout << "Tensor: shape[ ";
    for (int i = 0; i < h.t->ndim; i++) std::cout << h.t->shape[i] << " ";
    std::cout << "] strides[ ";
    for (int i = 0; i < h.t->ndim; i++) std::cout << h.t->stride[i] << " ";
    std::cout << "] dtype=" << static_cast<int>(h.dtype) << std::endl;
}

void debug(const LlaisysTensor &h)
{
    tsr_tensor *host = nullptr;
    print_info(h);
    must(tsr_to_host(&host, h.t));
    const std::unique_ptr<tsr_tensor *, void (*)(tsr_tensor **)> release(&host, tsr_release);
    print_elements(host, h.dtype);
}

} // namespace

/* Making ---------------------------------------------------------------------------- */

llaisysTensor_t tensorCreate(size_t *shape, size_t ndim, llaisysDataType_t dtype,
                             llaisysDeviceType_t device_type, int device_id)
{
    return guarded<llaisysTensor_t>(nullptr, [&] {
        int64_t dims[TSR_MAX_NDIM];
        tsr_desc desc;
        const int n = copy_shape(dims, shape, ndim);
        must(tsr_desc_init(&desc, dtype_of(dtype), n, dims, nullptr));
        const tsr_device device = device_of(device_type, device_id);
        Handle h = make_handle(dtype, device_type, device_id);
        must(tsr_declare(&h->t, &desc, device, TSR_MEMORY_DEFAULT));
        must(tsr_alloc(h->t));
        return h.release();
    });
}

void tensorDestroy(llaisysTensor_t tensor)
{
    if (tensor) Destroy()(tensor);
}

/* Asking ---------------------------------------------------------------------------- */

void *tensorGetData(llaisysTensor_t tensor)
{
    return guarded<void *>(nullptr, [&] { return given(tensor).t->data; });
}

size_t tensorGetNdim(llaisysTensor_t tensor)
{
    return guarded<size_t>(0, [&] { return static_cast<size_t>(given(tensor).t->ndim); });
}

void tensorGetShape(llaisysTensor_t tensor, size_t *shape)
{
    guarded([&] {
        const tsr_tensor *t = given(tensor).t;
        if (t->ndim && !shape) throw_argument("shape is NULL");
        for (int i = 0; i < t->ndim; i++) shape[i] = static_cast<size_t>(t->shape[i]);
    });
}

void tensorGetStrides(llaisysTensor_t tensor, ptrdiff_t *strides)
{
    guarded([&] {
        const tsr_tensor *t = given(tensor).t;
        if (t->ndim && !strides) throw_argument("strides is NULL");
        for (int i = 0; i < t->ndim; i++) strides[i] = static_cast<ptrdiff_t>(t->stride[i]);
    });
}

llaisysDataType_t tensorGetDataType(llaisysTensor_t tensor)
{
    return guarded(LLAISYS_DTYPE_INVALID, [&] { return given(tensor).dtype; });
}

llaisysDeviceType_t tensorGetDeviceType(llaisysTensor_t tensor)
{
    return guarded(LLAISYS_DEVICE_CPU, [&] { return given(tensor).device_type; });
}

int tensorGetDeviceId(llaisysTensor_t tensor)
{
    return guarded(0, [&] { return given(tensor).device_id; });
}

uint8_t tensorIsContiguous(llaisysTensor_t tensor)
{
    return guarded<uint8_t>(0, [&] { return static_cast<uint8_t>(tsr_is_contiguous(given(tensor).t)); });
}

void tensorDebug(llaisysTensor_t tensor)
{
    guarded([&] { debug(given(tensor)); });
}

/* Data and views -------------------------------------------------------------------- */

void tensorLoad(llaisysTensor_t tensor, const void *data)
{
    guarded([&] {
        tsr_tensor *t = given(tensor).t;
        if (!data && tsr_numel(t)) throw_argument("data is NULL");
        if (tsr_numel(t)) must(tsr_load(t, data, static_cast<size_t>(tsr_byte_size(t))));
    });
}

llaisysTensor_t tensorView(llaisysTensor_t tensor, size_t *shape, size_t ndim)
{
    return guarded<llaisysTensor_t>(nullptr, [&] {
        int64_t dims[TSR_MAX_NDIM];
        const LlaisysTensor &from = given(tensor);
        const int n = copy_shape(dims, shape, ndim);
        Handle h = handle_like(from);
        must(tsr_view(&h->t, from.t, n, dims));
        return h.release();
    });
}

llaisysTensor_t tensorReshape(llaisysTensor_t tensor, size_t *shape, size_t ndim)
{
    return guarded<llaisysTensor_t>(nullptr, [&] {
        int64_t dims[TSR_MAX_NDIM];
        const LlaisysTensor &from = given(tensor);
        const int n = copy_shape(dims, shape, ndim);
        Handle h = handle_like(from);
        must(tsr_reshape(&h->t, from.t, n, dims));
        return h.release();
    });
}

llaisysTensor_t tensorPermute(llaisysTensor_t tensor, size_t *order)
{
    return guarded<llaisysTensor_t>(nullptr, [&] {
        int axes[TSR_MAX_NDIM];
        const LlaisysTensor &from = given(tensor);
        if (from.t->ndim && !order) throw_argument("order is NULL");
        for (int i = 0; i < from.t->ndim; i++) {
            if (order[i] >= static_cast<size_t>(from.t->ndim))
                throw_argument("order names a dim that is not there");
            axes[i] = static_cast<int>(order[i]);
        }
        Handle h = handle_like(from);
        must(tsr_permute(&h->t, from.t, from.t->ndim, axes));
        return h.release();
    });
}

llaisysTensor_t tensorSlice(llaisysTensor_t tensor, size_t dim, size_t start, size_t end)
{
    return guarded<llaisysTensor_t>(nullptr, [&] {
        const LlaisysTensor &from = given(tensor);
        if (dim >= static_cast<size_t>(from.t->ndim)) throw_argument("slice of a dim that is not there");
        Handle h = handle_like(from);
        must(tsr_slice(&h->t, from.t, static_cast<int>(dim), size_of(start), size_of(end), 1));
        return h.release();
    });
}
