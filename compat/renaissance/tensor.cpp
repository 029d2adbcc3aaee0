/* tensor.cpp - tr::Tensor: making, moving and showing. */
#include <cstring>

#include "bridge.hpp"

namespace tr {

namespace {

/* Laid out by columns, if the backend is the library's own for a CUDA device. */
bool is_by_columns(const Backend &backend, const Device &device)
{
    return device.is_cuda() && dynamic_cast<const CudaBackend *>(&backend) != nullptr;
}

/* As the backend of the device makes it, which may be one of the program's own. */
Tensor allocated(const Shape &shape, DType dtype, const Device &device)
{
    const std::shared_ptr<Backend> backend = BackendManager::instance().get_backend(device);
    Tensor t = TensorAccess::described(shape, dtype, device, is_by_columns(*backend, device));
    const std::shared_ptr<void> holder = backend->allocate(t.memory_size());
    auto storage = std::make_shared<Storage>(t.memory_size(), device);
    storage->set_data_ptr(backend->get_data_ptr(holder), holder);
    TensorAccess::give_storage(t, std::move(storage));
    return t;
}

/* static_cast of what the type cannot hold is undefined; the nearest end is not. */
template <typename T> T saturated(float value)
{
    const double x = value;
    if (x != x) return 0;
    if (x <= static_cast<double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
    if (x >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
    return static_cast<T>(x);
}

/* Is the memory the host's, or the library's on a device? */
bool is_library_memory(const Tensor &t)
{
    return TensorAccess::device(t).is_cpu() || TensorAccess::memory(*TensorAccess::storage(t)) != nullptr;
}

void check_buffer(const char *where, const void *data, const char *which, size_t size, const Tensor &t)
{
    const std::string prefix = std::string("[Tensor::") + where + "] ";
    if (!data) throw TRException(prefix + which + " data pointer is null");
    if (size != t.memory_size())
        throw TRException(prefix + "Data size mismatch: expected " + std::to_string(t.memory_size()) +
                          " bytes, got " + std::to_string(size) + " bytes");
    if (t.is_empty()) throw TRException(prefix + "Cannot copy data " + (*which == 'I' ? "to" : "from") +
                                        " empty Tensor");
}

} // namespace

Tensor::Tensor() : dtype_(DType::FP32), device_(tr::CPU), offset_(0), is_view_(false) {}

Tensor::Tensor(const Shape &shape, DType dtype, const Device &device)
    : shape_(shape), dtype_(dtype), device_(device), offset_(0), strides_(shape), is_view_(false)
{
    if (face::dtype_of(dtype) == TSR_DTYPE_INVALID)
        throw TRException("[Tensor::validate_shape_dtype] Tensor dtype must be FP32, INT8, or INT32");
}

Tensor::Tensor(std::shared_ptr<Storage> storage, const Shape &shape, const Strides &strides, DType dtype,
               const Device &device, size_t offset)
    : Tensor(shape, dtype, device)
{
    storage_ = std::move(storage);
    strides_ = strides;
    offset_ = offset;
    is_view_ = true;
}

Tensor &Tensor::grad()
{
    if (!grad_) grad_ = std::make_shared<Tensor>(zeros(shape_, dtype_, device_));
    return *grad_;
}

const Tensor &Tensor::grad() const
{
    if (!grad_)
        throw TRException("[Tensor::grad] Gradient tensor not initialized. Call non-const grad() first.");
    return *grad_;
}

void Tensor::set_grad(const Tensor &grad) { set_grad(Tensor(grad)); }

void Tensor::set_grad(Tensor &&grad)
{
    if (grad.shape() != shape_ || grad.dtype() != dtype_)
        throw TRException("[Tensor::set_grad] Gradient tensor shape or dtype mismatch");
    grad_ = std::make_shared<Tensor>(std::move(grad));
}

bool Tensor::has_grad() const { return grad_ && grad_->storage_allocated(); }

void Tensor::zero_grad()
{
    if (has_grad()) BackendManager::instance().get_backend(device_)->fill(*grad_, 0.0f);
}

size_t Tensor::memory_size() const noexcept { return static_cast<size_t>(numel()) * dtype_size(); }

bool Tensor::is_contiguous() const noexcept
{
    if (shape_.is_scalar() || strides_ == Strides(shape_)) return true;
    return device_.is_cuda() && ndim() == 2 && strides_ == TensorAccess::column_major(shape_);
}

/* Factories ---------------------------------------------------------------------------------- */

Tensor Tensor::empty(const Shape &shape, DType dtype, const Device &device)
{
    return allocated(shape, dtype, device);
}

Tensor Tensor::zeros(const Shape &shape, DType dtype, const Device &device)
{
    return full(shape, 0.0f, dtype, device);
}

Tensor Tensor::ones(const Shape &shape, DType dtype, const Device &device)
{
    return full(shape, 1.0f, dtype, device);
}

Tensor Tensor::full(const Shape &shape, float value, DType dtype, const Device &device)
{
    Tensor t = allocated(shape, dtype, device);
    const std::shared_ptr<Backend> backend = BackendManager::instance().get_backend(device);
    if (dtype == DType::FP32) backend->fill(t, value);
    else if (dtype == DType::INT8) backend->fill(t, saturated<int8_t>(value));
    else backend->fill(t, saturated<int32_t>(value));
    return t;
}

namespace {

void check_random(const char *where, DType dtype)
{
    if (dtype != DType::FP32)
        throw TRException(std::string("[Tensor::") + where + "] Only FP32 is supported");
}

} // namespace

Tensor Tensor::randn(const Shape &shape, unsigned int seed, DType dtype, const Device &device)
{
    check_random("randn", dtype);
    return BackendManager::get_cpu_backend()->randn(shape, seed).to(device);
}

Tensor Tensor::uniform(const Shape &shape, float min_val, float max_val, unsigned int seed, DType dtype,
                       const Device &device)
{
    check_random("uniform", dtype);
    return BackendManager::get_cpu_backend()->uniform(shape, min_val, max_val, seed).to(device);
}

Tensor Tensor::randint(int low, int high, const Shape &shape, unsigned int seed, const Device &device)
{
    return BackendManager::get_cpu_backend()->randint(shape, low, high, DType::FP32, seed).to(device);
}

/* Data --------------------------------------------------------------------------------------- */

/* Work on a simulated device may still be under way, and its memory can be looked at. */
static void await_simulation(const Storage &storage)
{
    const tsr_storage *memory = TensorAccess::memory(storage);
    if (memory && tsr_storage_memory(memory) == TSR_MEMORY_MANAGED)
        (void)!tsr_device_sync(tsr_storage_device(memory));
}

void *Tensor::data_ptr() noexcept
{
    if (storage_ && device_.index >= 0) await_simulation(*storage_);
    return TensorAccess::address(*this);
}

const void *Tensor::data_ptr() const noexcept { return const_cast<Tensor *>(this)->data_ptr(); }

void Tensor::from_cpu_data(const void *data, size_t size)
{
    check_buffer("from_cpu_data", data, "Input", size, *this);
    if (!is_library_memory(*this)) {
        BackendManager::instance().get_backend(device_)->copy_data(data_ptr(), data, size, device_, tr::CPU);
        return;
    }
    face::Operand t(*this);
    if (tsr_load(t, data, size) != TSR_OK)
        throw TRException(std::string("Failed to copy data from CPU: ") + tsr_last_error());
}

void Tensor::to_cpu_data(void *data, size_t size) const
{
    check_buffer("to_cpu_data", data, "Output", size, *this);
    if (!is_library_memory(*this)) {
        BackendManager::instance().get_backend(device_)->copy_data(data, data_ptr(), size, tr::CPU, device_);
        return;
    }
    if (tsr_store(data, size, face::Operand(*this)) != TSR_OK)
        throw TRException(std::string("Failed to copy data to CPU: ") + tsr_last_error());
}

std::shared_ptr<Backend> Tensor::item_backend() const
{
    if (!is_scalar()) throw TRException("item() only for scalar tensors");
    if (is_empty()) throw TRException("Cannot get item: Tensor is empty (no Storage allocated)");
    return BackendManager::instance().get_backend(device_);
}

float Tensor::item_float() const { return item_backend()->get_scalar_float(*this); }
int32_t Tensor::item_int32() const { return item_backend()->get_scalar_int32(*this); }
int8_t Tensor::item_int8() const { return item_backend()->get_scalar_int8(*this); }

/* Views and copies --------------------------------------------------------------------------- */


Tensor Tensor::view() const
{
    Tensor same = *this;
    same.grad_.reset();
    return same;
}

Tensor Tensor::clone() const { return BackendManager::instance().get_backend(device_)->copy(*this); }

Tensor Tensor::to(const Device &device) const
{
    if (device == device_) return *this;
    BackendManager &manager = BackendManager::instance();
    if (device.is_cpu()) return manager.get_backend(device_)->to_cpu(*this);
    return manager.get_backend(device)->from_cpu(cpu());
}

Tensor Tensor::cpu() const { return to(tr::CPU); }
Tensor Tensor::cuda(int device_id) const { return to(Device("CUDA", device_id)); }

Tensor Tensor::reshape(const Shape &shape) const
{
    return BackendManager::instance().get_backend(device_)->view(*this, shape);
}

Tensor Tensor::expand_dim(int32_t dim) const
{
    int32_t dims[4];
    if (ndim() == 4 || dim < 0 || dim > ndim())
        throw TRException("[Tensor::expand_dim] Dimension index out of range");
    for (int32_t i = 0; i <= ndim(); ++i) dims[i] = i == dim ? 1 : dim_size(i < dim ? i : i - 1);
    return reshape(face::shape_of(dims, ndim() + 1));
}

Tensor Tensor::squeeze_dim(int32_t dim) const
{
    int32_t dims[4];
    if (dim_size(dim) != 1) throw TRException("[Tensor::squeeze_dim] Dimension size is not 1");
    for (int32_t i = 0; i < ndim() - 1; ++i) dims[i] = dim_size(i < dim ? i : i + 1);
    return reshape(face::shape_of(dims, ndim() - 1));
}

bool Tensor::operator==(const Tensor &other) const noexcept
{
    return shape_ == other.shape_ && dtype_ == other.dtype_ && device_ == other.device_ &&
           storage_ == other.storage_ && offset_ == other.offset_;
}

/* Factories outside of the class -------------------------------------------------------------- */

Tensor full(const Shape &shape, float value, DType dtype, const Device &device)
{
    return Tensor::full(shape, value, dtype, device);
}

Tensor empty(const Shape &shape, DType dtype, const Device &device)
{
    return Tensor::empty(shape, dtype, device);
}

} // namespace tr
