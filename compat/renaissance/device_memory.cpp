/* device_memory.cpp - the part of both backends that makes, fills, moves and reads tensors. */
#include <cstring>
#include <ctime>

#include "bridge.hpp"
#include "random.hpp"

namespace tr {

using face::Op;
using face::Operand;

DeviceBackend::DeviceBackend(const char *name, int cuda, int32_t device)
    : Backend(true), name_(name), cuda_(cuda), device_(device)
{
}

DeviceBackend::~DeviceBackend() = default;

std::string DeviceBackend::name() const { return name_; }
Device DeviceBackend::device() const { return cuda_ < 0 ? tr::CPU : tr::CUDA[static_cast<size_t>(cuda_)]; }

/* Memory ------------------------------------------------------------------------------------- */

std::shared_ptr<void> DeviceBackend::allocate(size_t size)
{
    if (size == 0) throw TRException("Cannot allocate zero bytes");
    std::shared_ptr<void> holder = face::take_memory(size, device_);
    if (!holder)
        throw TRException(std::string(cuda_ < 0 ? "CPU" : "CUDA") + " memory allocation failed: " +
                          std::to_string(size) + " bytes");
    return holder;
}

/* Memory goes back when its last holder does. */
void DeviceBackend::deallocate(void *) {}

void *DeviceBackend::get_data_ptr(const std::shared_ptr<void> &holder) { return holder.get(); }

namespace {

/* Bytes at an address as a tensor of the library. */
void borrow(face::Temporary &out, void *data, size_t size, tsr_device device)
{
    tsr_storage *storage = nullptr;
    tsr_desc desc;
    const int64_t shape[] = {static_cast<int64_t>(size)};
    const tsr_memory kind = device == TSR_CPU            ? TSR_MEMORY_HOST
                            : face::is_simulated(device) ? TSR_MEMORY_MANAGED
                                                         : TSR_MEMORY_DEVICE;
    tsr_status s = tsr_desc_init(&desc, TSR_U8, 1, shape, nullptr);
    if (s == TSR_OK) s = tsr_storage_borrow(&storage, data, size, device, kind);
    if (s == TSR_OK) s = tsr_from_storage(out.out(), storage, 0, &desc);
    tsr_storage_release(&storage);
    if (s != TSR_OK) throw TRException(tsr_last_error());
}

tsr_device place_of(const Device &device)
{
    tsr_device found = TSR_CPU;
    if (device.is_cuda() && !face::find_cuda(&found, device.index))
        throw TRException("Backend not found for device: " + device.to_string());
    return found;
}

} // namespace

void DeviceBackend::copy_data(void *dst, const void *src, size_t size, const Device &dst_device,
                              const Device &src_device) const
{
    const bool on_host = dst_device.is_cpu() && src_device.is_cpu();
    if (!dst || !src) throw TRException("Null pointer in copy operation");
    if (cuda_ < 0) {
        if (!on_host) throw TRException("CpuBackend only supports CPU<->CPU copy");
        std::memmove(dst, src, size);
        return;
    }
    if (on_host) throw TRException("Unsupported copy direction");
    if (size == 0) return;
    face::Temporary to, from;
    borrow(to, dst, size, place_of(dst_device));
    borrow(from, const_cast<void *>(src), size, place_of(src_device));
    if (tsr_copy(*to.out(), from) != TSR_OK) throw TRException(tsr_last_error());
}

int64_t DeviceBackend::get_memory_size(const Tensor &tensor)
{
    if (!tensor.storage_allocated()) return 0;
    Op{*this, "get_memory_size"}.check_device(tensor);
    return static_cast<int64_t>(tensor.memory_size());
}

/* Making ------------------------------------------------------------------------------------- */

Tensor DeviceBackend::empty(const Shape &shape, DType dtype) const
{
    Tensor t = TensorAccess::described(shape, dtype, device(), cuda_ >= 0);
    const std::shared_ptr<void> holder = const_cast<DeviceBackend *>(this)->allocate(t.memory_size());
    auto storage = std::make_shared<Storage>(t.memory_size(), TensorAccess::device(t));
    storage->set_data_ptr(holder.get(), holder);
    TensorAccess::give_storage(t, std::move(storage));
    return t;
}

Tensor DeviceBackend::empty(const Shape &shape, DType dtype)
{
    return static_cast<const DeviceBackend *>(this)->empty(shape, dtype);
}

namespace {

Tensor filled(const Op &op, const Shape &shape, DType dtype, int value)
{
    Tensor t = op.make(shape, dtype);
    op.must(tsr_fill(Operand(t), TSR_SCALAR(value)));
    return t;
}

} // namespace

Tensor DeviceBackend::zeros(const Shape &shape, DType dtype)
{
    return filled({*this, "zeros"}, shape, dtype, 0);
}
Tensor DeviceBackend::ones(const Shape &shape, DType dtype)
{
    return filled({*this, "ones"}, shape, dtype, 1);
}

Tensor DeviceBackend::zeros_like(const Tensor &input) const
{
    const Op op{*this, "zeros_like"};
    op.check_device(input);
    return filled(op, input.shape(), input.dtype(), 0);
}

/* The numbers are those of the C++ library's generators, as in Tech Renaissance. A seed of 0 means
 * the time on a CUDA device, and 0 on the CPU. */
Tensor DeviceBackend::randn(const Shape &shape, unsigned int seed)
{
    Tensor t = empty(shape, DType::FP32);
    face::draw_normal(t, cuda_ >= 0 && seed == 0 ? static_cast<unsigned int>(std::time(nullptr)) : seed);
    return t;
}

Tensor DeviceBackend::uniform(const Shape &shape, float min_val, float max_val, unsigned int seed)
{
    Tensor t = empty(shape, DType::FP32);
    face::draw_uniform(t, min_val, max_val, seed);
    return t;
}

namespace {

void check_rate(const char *where, float rate)
{
    if (!(rate >= 0.0f && rate <= 1.0f))
        throw TRException(std::string(where) + ": rate_of_zeros must be between 0.0 and 1.0");
}

} // namespace

Tensor DeviceBackend::randbool(const Shape &shape, float rate_of_zeros, unsigned int seed, DType dtype)
{
    check_rate("randbool", rate_of_zeros);
    if (dtype != DType::FP32) throw TRException("randbool: only FP32 tensors are supported");
    Tensor t = empty(shape, DType::FP32);
    face::draw_bool(t, rate_of_zeros, seed);
    return t;
}

void DeviceBackend::randbool_inplace(Tensor &tensor_a, float rate_of_zeros, unsigned int seed)
{
    check_rate("randbool_inplace", rate_of_zeros);
    if (!face::is_fp32(tensor_a)) throw TRException("randbool_inplace: only FP32 tensors are supported");
    if (tensor_a.is_empty()) throw TRException("randbool_inplace: Cannot operate on empty tensor");
    Op{*this, "randbool_inplace"}.check_device(tensor_a);
    face::draw_bool(tensor_a, rate_of_zeros, seed);
}

/* Filling ------------------------------------------------------------------------------------ */

namespace {

void fill_checked(const Op &op, Tensor &dst, DType dtype, const char *words, tsr_scalar value)
{
    op.check_device(dst);
    if (dst.is_empty()) op.refuse("Target tensor has no allocated Storage");
    if (dst.dtype() != dtype) op.refuse(words);
    op.must(tsr_fill(Operand(dst), value));
}

} // namespace

void DeviceBackend::fill(Tensor &dst, float value)
{
    fill_checked({*this, "fill"}, dst, DType::FP32, "fill(float) requires FP32 tensor", TSR_SCALAR(value));
}

void DeviceBackend::fill(Tensor &dst, int8_t value)
{
    fill_checked({*this, "fill"}, dst, DType::INT8, "fill(int8_t) requires INT8 tensor",
                 TSR_SCALAR(int{value}));
}

void DeviceBackend::fill(Tensor &dst, int32_t value)
{
    fill_checked({*this, "fill"}, dst, DType::INT32, "fill(int32_t) requires INT32 tensor",
                 TSR_SCALAR(value));
}

void DeviceBackend::fill_fp32(Tensor &dst, float value) { fill(dst, value); }
void DeviceBackend::fill_int8(Tensor &dst, int8_t value) { fill(dst, value); }
void DeviceBackend::fill_int32(Tensor &dst, int32_t value) { fill(dst, value); }

/* Moving ------------------------------------------------------------------------------------- */

Tensor DeviceBackend::to(const Tensor &tensor, const Device &target) const
{
    if (TensorAccess::device(tensor) == target) return tensor;
    if (cuda_ < 0)
        throw TRException("CPU backend cannot directly convert to device: " + target.to_string() +
                          ". Please use BackendManager to get the appropriate backend first.");
    if (target.is_cpu()) return to_cpu(tensor);
    if (target.index != cuda_) throw TRException("CudaBackend: tensor device mismatch");
    return from_cpu(tensor);
}

namespace {

/* Both have storage, one dtype and one shape; they may lie on different devices. */
void copy_elements(const Op &op, Tensor &dst, const Tensor &src)
{
    if (src.is_empty() || dst.is_empty()) throw TRException("Null pointer in copy operation");
    op.must(tsr_copy(Operand(dst), Operand(src)));
}

} // namespace

Tensor DeviceBackend::to_cpu(const Tensor &tensor) const
{
    if (TensorAccess::device(tensor).is_cpu()) return tensor;
    if (cuda_ < 0) throw TRException("CpuBackend::to_cpu expects input tensor to be on CPU device");
    const Op op{*this, "to_cpu"};
    op.check_device(tensor);
    Tensor result = BackendManager::get_cpu_backend()->empty(tensor.shape(), tensor.dtype());
    copy_elements(op, result, tensor);
    return result;
}

Tensor DeviceBackend::from_cpu(const Tensor &tensor) const
{
    if (TensorAccess::device(tensor).index == cuda_) return tensor;
    if (cuda_ < 0) throw TRException("CpuBackend::from_cpu expects input tensor to be on CPU device");
    if (!TensorAccess::device(tensor).is_cpu())
        throw TRException("from_cpu expects input tensor to be on CPU device");
    Tensor result = empty(tensor.shape(), tensor.dtype());
    copy_elements({*this, "from_cpu"}, result, tensor);
    return result;
}

Tensor DeviceBackend::copy(const Tensor &tensor) const
{
    const Op op{*this, "copy"};
    op.check_device(tensor);
    Tensor result = empty(tensor.shape(), tensor.dtype());
    copy_elements(op, result, tensor);
    return result;
}

void DeviceBackend::copy_into(const Tensor &src, Tensor &dst) const
{
    const Op op{*this, "copy_into"};
    const bool any_here =
        TensorAccess::device(src).index == cuda_ || TensorAccess::device(dst).index == cuda_;
    if (cuda_ >= 0 && !any_here)
        op.refuse("Cannot perform copy operation: neither tensor belongs to CUDA backend. "
                  "Please use the appropriate backend's copy_into method.");
    if (cuda_ < 0) {
        op.check_device(src);
        op.check_device(dst);
    }
    if (src.dtype() != dst.dtype())
        op.refuse("Data type mismatch: source dtype " + std::to_string(static_cast<int>(src.dtype())) +
                  " != destination dtype " + std::to_string(static_cast<int>(dst.dtype())));
    face::check_same_shape(src, dst);
    copy_elements(op, dst, src);
}

/* Reading ------------------------------------------------------------------------------------ */

namespace {

tsr_scalar scalar_of(const Op &op, const Tensor &t)
{
    alignas(8) unsigned char bytes[8];
    tsr_scalar value;
    if (!t.is_scalar()) throw TRException(std::string(op.name) + ": tensor must be scalar");
    op.check_device(t);
    if (t.is_empty()) throw TRException(std::string(op.name) + ": tensor data is null");
    op.must(tsr_store(bytes, t.memory_size(), Operand(t)));
    op.must(tsr_scalar_load(&value, face::dtype_of(t.dtype()), bytes));
    return value;
}

} // namespace

float DeviceBackend::get_scalar_float(const Tensor &tensor)
{
    return static_cast<float>(tsr_scalar_to_f64(scalar_of({*this, "get_scalar_float"}, tensor)));
}

int32_t DeviceBackend::get_scalar_int32(const Tensor &tensor)
{
    const int64_t value = tsr_scalar_to_i64(scalar_of({*this, "get_scalar_int32"}, tensor));
    return static_cast<int32_t>(std::clamp<int64_t>(value, INT32_MIN, INT32_MAX));
}

int8_t DeviceBackend::get_scalar_int8(const Tensor &tensor)
{
    const int64_t value = tsr_scalar_to_i64(scalar_of({*this, "get_scalar_int8"}, tensor));
    return static_cast<int8_t>(std::clamp<int64_t>(value, INT8_MIN, INT8_MAX));
}

} // namespace tr
