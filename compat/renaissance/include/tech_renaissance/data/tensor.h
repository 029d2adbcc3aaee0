/* tensor.h - a shape, a dtype and a device, looking at a storage.
 *
 * Tensors are handles: copies share the storage. Computing is done by the backend of the device.
 * A tensor made by its constructor has no storage ("empty"); the factories give it one.
 */
#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <type_traits>

#include "tech_renaissance/data/device.h"
#include "tech_renaissance/data/dtype.h"
#include "tech_renaissance/data/shape.h"
#include "tech_renaissance/data/storage.h"
#include "tech_renaissance/data/strides.h"
#include "tech_renaissance/utils/tr_exception.h"

namespace tr {

class Backend;

class TR_EXPORT Tensor {
public:
    Tensor(); /* an empty FP32 scalar on the CPU */
    Tensor(const Shape &shape, DType dtype = DType::FP32, const Device &device = tr::CPU);

    const Shape &shape() const noexcept { return shape_; }
    DType dtype() const noexcept { return dtype_; }
    Device device() const noexcept { return device_; }
    int32_t ndim() const noexcept { return shape_.ndim(); }
    int64_t numel() const noexcept { return shape_.numel(); }
    int32_t dim_size(int32_t dim) const { return shape_.dim(dim); }
    int32_t batch() const noexcept { return shape_.n(); }
    int32_t number() const noexcept { return shape_.n(); }
    int32_t channel() const noexcept { return shape_.c(); }
    int32_t height() const noexcept { return shape_.h(); }
    int32_t width() const noexcept { return shape_.w(); }
    size_t dtype_size() const noexcept { return ::tr::dtype_size(dtype_); }
    size_t memory_size() const noexcept;

    std::shared_ptr<Storage> storage() const noexcept { return storage_; }
    bool storage_allocated() const { return storage_ != nullptr; }
    bool is_empty() const noexcept { return !storage_ || storage_->is_empty(); }
    bool is_scalar() const noexcept { return shape_.is_scalar(); }
    bool is_view() const noexcept { return is_view_; }
    bool is_matmul_compatible(const Shape &other) const { return shape_.is_matmul_compatible(other); }

    /* Where elements lie. A matrix of the CUDA backend is column-major: H 1, W the rows. */
    const Strides &strides() const noexcept { return strides_; }
    bool is_contiguous() const noexcept; /* packed, as its backend lays tensors out? */

    /* Factories. full() converts the value to the dtype; the random ones make FP32. */
    static Tensor empty(const Shape &shape, DType dtype = DType::FP32, const Device &device = tr::CPU);
    static Tensor zeros(const Shape &shape, DType dtype = DType::FP32, const Device &device = tr::CPU);
    static Tensor ones(const Shape &shape, DType dtype = DType::FP32, const Device &device = tr::CPU);
    static Tensor full(const Shape &shape, float value, DType dtype = DType::FP32,
                       const Device &device = tr::CPU);
    static Tensor randn(const Shape &shape, unsigned int seed = 42, DType dtype = DType::FP32,
                        const Device &device = tr::CPU);
    static Tensor uniform(const Shape &shape, float min_val = 0.0f, float max_val = 1.0f,
                          unsigned int seed = 0, DType dtype = DType::FP32, const Device &device = tr::CPU);
    static Tensor randint(int low, int high, const Shape &shape, unsigned int seed = 0,
                          const Device &device = tr::CPU);

    /* The first byte, in the order of the backend; nullptr when empty. */
    void *data_ptr() noexcept;
    const void *data_ptr() const noexcept;
    template <typename T> T *data_ptr() noexcept { return static_cast<T *>(data_ptr()); }
    template <typename T> const T *data_ptr() const noexcept { return static_cast<const T *>(data_ptr()); }

    Tensor view() const; /* the same storage again */

    /* Copies, with storage of their own; reshape and the dims of size 1 share it. */
    Tensor clone() const;
    Tensor to(const Device &device) const;
    Tensor cpu() const;
    Tensor cuda(int device_id = 0) const;
    Tensor reshape(const Shape &shape) const;
    Tensor expand_dim(int32_t dim) const;
    Tensor unsqueeze_dim(int32_t dim) const { return expand_dim(dim); }
    Tensor squeeze_dim(int32_t dim) const;

    /* Row-major elements from and to the host, whatever the device; size must be memory_size(). */
    void from_cpu_data(const void *data, size_t size);
    void to_cpu_data(void *data, size_t size) const;

    /* The gradient, which copies of the tensor share once it is there. grad() makes it, all zeros; the const
     * form throws if there is none. set_grad() keeps a handle to what it is given, which must have the
     * tensor's shape and dtype. */
    Tensor &grad();
    const Tensor &grad() const;
    void set_grad(const Tensor &grad);
    void set_grad(Tensor &&grad);
    bool has_grad() const;
    void zero_grad(); /* nothing if there is none */

    /* The value of a scalar, as float, int32_t or int8_t. */
    template <typename T> T item() const
    {
        if constexpr (std::is_same_v<T, float>) {
            return item_float();
        } else if constexpr (std::is_same_v<T, int32_t>) {
            return item_int32();
        } else {
            static_assert(std::is_same_v<T, int8_t>, "Unsupported type for item()");
            return item_int8();
        }
    }

    std::string to_string() const;
    void print(const std::string &name = "") const;
    void print(const std::string &name, int precision) const;
    void summary(const std::string &name = "") const;

    /* The same elements of the same storage; values do not matter. */
    bool operator==(const Tensor &other) const noexcept;
    bool operator!=(const Tensor &other) const noexcept { return !(*this == other); }

protected:
    Tensor(std::shared_ptr<Storage> storage, const Shape &shape, const Strides &strides, DType dtype,
           const Device &device, size_t offset);

private:
    friend class Backend;
    friend class CpuBackend;
    friend class CudaBackend;
    friend struct TensorAccess;

    Shape shape_;
    DType dtype_;
    Device device_;
    std::shared_ptr<Storage> storage_;
    size_t offset_; /* elements */
    Strides strides_;
    bool is_view_;
    std::shared_ptr<Tensor> grad_;

    std::shared_ptr<Backend> item_backend() const;
    float item_float() const;
    int32_t item_int32() const;
    int8_t item_int8() const;
};

TR_EXPORT std::ostream &operator<<(std::ostream &os, const Tensor &tensor);

} // namespace tr
