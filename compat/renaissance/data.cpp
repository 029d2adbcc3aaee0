/* data.cpp - the values that describe tensors: dtypes, devices, shapes, strides, offsets. */
#include <climits>

#include "bridge.hpp"

namespace tr {

/* DType -------------------------------------------------------------------------------------- */

size_t dtype_size(DType dtype) { return tsr_dtype_size(face::dtype_of(dtype)); }

std::string dtype_to_string(DType dtype)
{
    switch (dtype) {
    case DType::FP32: return "FP32";
    case DType::INT8: return "INT8";
    case DType::INT32: return "INT32";
    default: return "unknown";
    }
}

DType string_to_dtype(const std::string &str)
{
    if (str == "FP32" || str == "FLOAT32" || str == "fp32" || str == "float32") return DType::FP32;
    if (str == "INT8" || str == "int8") return DType::INT8;
    if (str == "INT32" || str == "int32") return DType::INT32;
    throw TRException("[string_to_dtype] Unsupported dtype string: '" + str +
                      "'. Supported types are: 'FP32', 'FLOAT32', 'fp32', 'float32', 'INT8', 'int8', "
                      "'INT32', 'int32'");
}

/* Device ------------------------------------------------------------------------------------- */

Device::Device(const std::string &device_name, int device_index) : name(device_name), index(device_index)
{
    if (name != "CPU" && name != "CUDA")
        throw TRException("[Device::Device] Unsupported device type: '" + name +
                          "'. Supported types are: 'CPU', 'CUDA'");
    if (name == "CPU" && index != -1)
        throw TRException("[Device::Device] CPU device index must be -1, got: " + std::to_string(index));
    if (name == "CUDA" && (index < 0 || index >= 8))
        throw TRException("[Device::Device] CUDA device index must be between 0 and 7, got: " +
                          std::to_string(index));
}

std::string Device::str() const { return index < 0 ? name : name + ":" + std::to_string(index); }
std::string Device::to_string() const { return str(); }
bool Device::operator==(const Device &other) const { return index == other.index && name == other.name; }
bool Device::operator!=(const Device &other) const { return !(*this == other); }
bool Device::is_cpu() const { return name == "CPU"; }
bool Device::is_cuda() const { return name == "CUDA"; }

/* Shape -------------------------------------------------------------------------------------- */

/* Elements are counted in 63 bits, with room for what is made of them. */
void Shape::set(const int32_t *dims, int32_t count)
{
    numel_ = 1;
    for (int32_t i = 0; i < count; ++i) {
        if (dims[i] < 0) throw TRException("[Shape::validate_dims] Shape dimensions must be non-negative");
        if (dims[i] == 0 && count > 1)
            throw TRException("[Shape::validate_dims] Shape dimensions cannot be zero (except for scalar)");
        if (dims[i] != 0 && numel_ > INT64_MAX / 1000 / dims[i])
            throw TRException("[Shape::validate_dims] Shape dimensions are too large");
        if (dims[i] != 0) numel_ *= dims[i];
    }
    for (int32_t i = 0; i < 4; ++i) dims_[i] = i < 4 - count ? 0 : dims[i - (4 - count)];
    ndim_ = count == 1 && dims[0] == 0 ? 0 : count;
}

Shape::Shape() { set(nullptr, 0); }
Shape::Shape(int32_t dim0) { set(&dim0, 1); }

Shape::Shape(int32_t dim0, int32_t dim1)
{
    const int32_t dims[] = {dim0, dim1};
    set(dims, 2);
}

Shape::Shape(int32_t dim0, int32_t dim1, int32_t dim2)
{
    const int32_t dims[] = {dim0, dim1, dim2};
    set(dims, 3);
}

Shape::Shape(int32_t n, int32_t c, int32_t h, int32_t w)
{
    const int32_t dims[] = {n, c, h, w};
    set(dims, 4);
}

Shape::Shape(std::initializer_list<int32_t> dims)
{
    if (dims.size() > 4) throw TRException("[Shape::Shape] Shape cannot have more than 4 dimensions");
    set(dims.begin(), static_cast<int32_t>(dims.size()));
}

int32_t Shape::dim(int32_t dim) const
{
    if (dim < 0 || dim >= ndim_) throw TRException("[Shape::dim] Dimension index out of range");
    return dims_[4 - ndim_ + dim];
}

std::string Shape::to_string() const
{
    std::string text = "(";
    for (int32_t i = 0; i < ndim_; ++i) text += (i ? "," : "") + std::to_string(dim(i));
    return text + ")";
}

bool Shape::is_matmul_compatible(const Shape &other) const
{
    return ndim_ == 2 && other.ndim_ == 2 && w() == other.h();
}

bool Shape::is_broadcastable_to(const Shape &target) const
{
    if (ndim_ > target.ndim_) return false;
    for (int32_t i = 4 - ndim_; i < 4; ++i)
        if (dims_[i] != target.dims_[i] && dims_[i] != 1) return false;
    return true;
}

std::ostream &operator<<(std::ostream &os, const Shape &shape) { return os << shape.to_string(); }

/* Strides ------------------------------------------------------------------------------------ */

Strides::Strides() noexcept : strides_{0, 0, 0, 0} {}

Strides::Strides(const Shape &shape)
{
    strides_[3] = 1;
    strides_[2] = shape.w();
    strides_[1] = strides_[2] * shape.h();
    strides_[0] = strides_[1] * shape.c();
}

Strides::Strides(int64_t n, int64_t c, int64_t h, int64_t w) noexcept : strides_{n, c, h, w} {}

int64_t Strides::stride(int32_t dim) const
{
    if (dim < 0 || dim >= 4)
        throw std::out_of_range("[Strides::stride] Dimension index out of range: " + std::to_string(dim));
    return strides_[static_cast<size_t>(dim)];
}

bool Strides::operator==(const Strides &other) const noexcept { return strides_ == other.strides_; }
bool Strides::operator!=(const Strides &other) const noexcept { return !(*this == other); }

int64_t Strides::get_offset(int64_t n, int64_t c, int64_t h, int64_t w) const noexcept
{
    return n * strides_[0] + c * strides_[1] + h * strides_[2] + w * strides_[3];
}

std::string Strides::to_string() const
{
    std::string text = "Strides(";
    for (size_t i = 0; i < 4; ++i) text += (i ? ", " : "") + std::to_string(strides_[i]);
    return text + ")";
}

bool Strides::is_contiguous(const Shape &shape) const { return *this == Strides(shape); }

/* Offset ------------------------------------------------------------------------------------- */

namespace {

const char *const dim_names[] = {"N", "C", "H", "W"};

} // namespace

void Offset::set_range(int dim, int32_t start, int32_t end)
{
    if (end != -1 && start >= end)
        throw TRException(std::string("Offset: invalid range for ") + dim_names[dim] + " dimension, start=" +
                          std::to_string(start) + ", end=" + std::to_string(end) +
                          ". Expected: end == -1 OR start < end");
    range_[dim].start = start;
    range_[dim].end = end;
}

void Offset::set_stride(int dim, int32_t stride)
{
    if (stride <= 0)
        throw TRException(std::string("Offset: invalid stride for ") + dim_names[dim] +
                          " dimension, stride=" + std::to_string(stride) + ". Expected: stride > 0");
    range_[dim].stride = stride;
}

Offset::Offset(int32_t w_start, int32_t w_end) { set_range(3, w_start, w_end); }

Offset::Offset(int32_t h_start, int32_t h_end, int32_t w_start, int32_t w_end)
{
    set_range(2, h_start, h_end);
    set_range(3, w_start, w_end);
}

Offset::Offset(int32_t c_start, int32_t c_end, int32_t h_start, int32_t h_end, int32_t w_start, int32_t w_end)
{
    set_range(1, c_start, c_end);
    set_range(2, h_start, h_end);
    set_range(3, w_start, w_end);
}

Offset::Offset(int32_t n_start, int32_t n_end, int32_t c_start, int32_t c_end, int32_t h_start, int32_t h_end,
               int32_t w_start, int32_t w_end)
{
    set_range(0, n_start, n_end);
    set_range(1, c_start, c_end);
    set_range(2, h_start, h_end);
    set_range(3, w_start, w_end);
}

/* Storage ------------------------------------------------------------------------------------ */

Storage::Storage(size_t size, const Device &device)
    : data_ptr_(nullptr), size_(size), device_(device), holder_(nullptr), memory_(nullptr)
{
}

void Storage::set_data_ptr(void *ptr, std::shared_ptr<void> holder)
{
    data_ptr_ = ptr;
    holder_ = std::move(holder);
    memory_ = face::memory_of(holder_);
}

} // namespace tr
