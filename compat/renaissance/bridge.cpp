/* bridge.cpp - tensors and devices of the library for those of Tech Renaissance. */
#include "bridge.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tr {

/* Tensors ---------------------------------------------------------------------------------- */

Strides TensorAccess::column_major(const Shape &shape)
{
    Strides strides(shape);
    strides.data()[2] = 1;
    strides.data()[3] = shape.h();
    return strides;
}

Tensor TensorAccess::described(const Shape &shape, DType dtype, const Device &device, bool by_columns)
{
    Tensor t(shape, dtype, device);
    if (by_columns && shape.ndim() == 2) t.strides_ = column_major(shape);
    return t;
}

Tensor TensorAccess::view(const Tensor &t, const Shape &shape, const Strides &strides)
{
    return Tensor(t.storage_, shape, strides, t.dtype_, t.device_, t.offset_);
}

namespace face {

void Operand::bind_device(const Tensor &t)
{
    const tsr_desc desc = view_.desc;
    tsr_storage *memory = TensorAccess::memory(*TensorAccess::storage(t));
    tsr_place_none(&view_);
    if (!memory) throw TRException("Tensor memory was not allocated by the backend of its device");
    if (tsr_from_storage(&slot_, memory, TensorAccess::offset(t) * t.dtype_size(), &desc) != TSR_OK)
        throw TRException(tsr_last_error());
    counted_ = true;
}

Number::Number() : value_(0.0f), slot_(&view_)
{
    tsr_place_none(&view_);
    view_.data = &value_;
    view_.dtype = TSR_F32;
}

Shape shape_of(const int32_t *dims, int count)
{
    switch (count) {
    case 0: return Shape();
    case 1: return Shape(dims[0]);
    case 2: return Shape(dims[0], dims[1]);
    case 3: return Shape(dims[0], dims[1], dims[2]);
    default: return Shape(dims[0], dims[1], dims[2], dims[3]);
    }
}

/* Checks and messages ------------------------------------------------------------------------ */

void Op::refuse(const std::string &words) const
{
    throw TRException("[" + std::string(DeviceAccess::name(backend)) + "::" + name + "] " + words);
}

void Op::fail(tsr_status s) const
{
    if (s == TSR_EUNSUPPORTED)
        throw NotImplementedError("[" + std::string(DeviceAccess::name(backend)) + " " + name +
                                  "] Operation NOT implemented!");
    refuse(tsr_last_error());
}

void Op::refuse_device() const
{
    throw TRException(DeviceAccess::cuda(backend) < 0 ? "CpuBackend: tensor must be on CPU device"
                                                      : "CudaBackend: tensor device mismatch");
}

Tensor Op::make(const Shape &shape, DType dtype) const { return backend.empty(shape, dtype); }

void refuse_shapes(const Tensor &a, const Tensor &b)
{
    throw TRException("Tensor shape mismatch: " + a.shape().to_string() + " vs " + b.shape().to_string());
}

/* Devices and memory ------------------------------------------------------------------------- */

namespace {

tsr_device named(const char *backend, int index)
{
    char name[32];
    tsr_device device;
    std::snprintf(name, sizeof name, "%s:%d", backend, index);
    return tsr_device_parse(&device, name) == TSR_OK ? device : TSR_NO_DEVICE;
}

bool may_simulate()
{
    const char *text = std::getenv("TR_SIMULATE_CUDA");
    return !text || std::strcmp(text, "0") != 0;
}

/* Lets go of a storage of the library's; how memory_of knows one. */
struct StorageRelease {
    tsr_storage *storage;
    void operator()(void *) { tsr_storage_release(&storage); }
};

} // namespace

bool find_cuda(tsr_device *out, int index)
{
    *out = named("cuda", index);
    if (*out == TSR_NO_DEVICE && named("cuda", 0) == TSR_NO_DEVICE && may_simulate())
        *out = named("sim", index);
    return *out != TSR_NO_DEVICE;
}

bool is_simulated(tsr_device device)
{
    char name[32];
    tsr_device_name(name, sizeof name, device);
    return std::strncmp(name, "sim", 3) == 0;
}

/* Memory of a simulated device is shared with the host: programs look at it through data_ptr(). No
 * device has 2^47 bytes, and the library's pool of device memory counts no further. */
std::shared_ptr<void> take_memory(size_t bytes, tsr_device device)
{
    if (device != TSR_CPU && bytes >> 47) return nullptr;
    tsr_storage *storage = nullptr;
    const tsr_memory kind =
        device != TSR_CPU && is_simulated(device) ? TSR_MEMORY_MANAGED : TSR_MEMORY_DEFAULT;
    if (tsr_storage_create(&storage, bytes, device, kind) != TSR_OK) return nullptr;
    return std::shared_ptr<void>(tsr_storage_data(storage), StorageRelease{storage});
}

tsr_storage *memory_of(const std::shared_ptr<void> &holder)
{
    const StorageRelease *release = std::get_deleter<StorageRelease>(holder);
    return release ? release->storage : nullptr;
}

} // namespace face
} // namespace tr
