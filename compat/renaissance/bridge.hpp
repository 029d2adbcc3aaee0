/* bridge.hpp - between tr::Tensor and the library's tensors: what the files of the face share.
 *
 * A function of a backend checks its operands with the words of Tech Renaissance, looks at them as
 * tensors of the library (Operand, which allocates nothing on the CPU), and calls the op.
 */
#ifndef RENAISSANCE_BRIDGE_HPP
#define RENAISSANCE_BRIDGE_HPP

#include <string>

#include "tech_renaissance.h"
#include "tessera/tessera.h"

namespace tr {

/* What the face may see of a tensor and its storage. */
struct TensorAccess {
    static const Device &device(const Tensor &t) { return t.device_; }
    static size_t offset(const Tensor &t) { return t.offset_; }
    static Storage *storage(const Tensor &t) { return t.storage_.get(); }
    static tsr_storage *memory(const Storage &s) { return static_cast<tsr_storage *>(s.memory_); }
    static void *address(const Tensor &t) { return t.storage_ ? bytes_of(t) : nullptr; }

    /* Row-major; column-major where a matrix lies on a CUDA device of the library's. */
    static Tensor described(const Shape &shape, DType dtype, const Device &device, bool column_major);
    static void give_storage(Tensor &t, std::shared_ptr<Storage> storage) { t.storage_ = std::move(storage); }
    static Tensor view(const Tensor &t, const Shape &shape, const Strides &strides);
    static Strides column_major(const Shape &shape);

private:
    static void *bytes_of(const Tensor &t)
    {
        char *first = static_cast<char *>(t.storage_->raw_ptr());
        return first ? first + t.offset_ * t.dtype_size() : nullptr;
    }
};

struct DeviceAccess {
    static const char *name(const DeviceBackend &b) { return b.name_; }
    static int cuda(const DeviceBackend &b) { return b.cuda_; }
    static tsr_device device(const DeviceBackend &b) { return b.device_; }
};

namespace face {

/* TSR_DTYPE_INVALID for what is none. */
inline tsr_dtype dtype_of(DType dtype)
{
    switch (dtype) {
    case DType::FP32: return TSR_F32;
    case DType::INT8: return TSR_I8;
    case DType::INT32: return TSR_I32;
    default: return TSR_DTYPE_INVALID;
    }
}

/* The library's device for tr::CUDA[index]; false if there is none. */
bool find_cuda(tsr_device *out, int index);
bool is_simulated(tsr_device device);

/* Memory of a device, in a holder that Storage knows as the library's. */
std::shared_ptr<void> take_memory(size_t bytes, tsr_device device);

/* The library's storage behind such a holder; NULL for any other. */
tsr_storage *memory_of(const std::shared_ptr<void> &holder);

/* A tensor as the library sees it, with the same memory. It must have storage.
 *
 * On the CPU the struct is filled in here: that costs nothing beside the op, and the storage, which
 * the tensor keeps alive, need not be counted. */
class Operand {
public:
    explicit Operand(const Tensor &t) : slot_(&view_), counted_(false)
    {
        const Shape &shape = t.shape();
        const int32_t dims[4] = {shape.n(), shape.c(), shape.h(), shape.w()};
        const int32_t ndim = shape.ndim();

        view_.dtype = dtype_of(t.dtype());
        view_.ndim = ndim;
        for (int32_t i = 0; i < ndim; ++i) {
            view_.shape[i] = dims[4 - ndim + i];
            view_.stride[i] = t.strides().data()[4 - ndim + i];
        }
        view_.data = TensorAccess::address(t);
        view_.storage = TensorAccess::memory(*TensorAccess::storage(t));
        view_.count = 1;
        view_.flags = TSR_FLAG_PLACED;
        view_.device = TSR_CPU;
        view_.memory = TSR_MEMORY_HOST;
        if (TensorAccess::device(t).index >= 0) bind_device(t);
    }
    Operand(const Operand &) = delete;
    Operand &operator=(const Operand &) = delete;
    ~Operand()
    {
        if (counted_) tsr_release(&slot_);
    }

    tsr_tensor *operator->() { return &view_; }
    operator tsr_tensor *() { return &view_; }
    operator const tsr_tensor *() const { return &view_; }

    /* For ops that write into what is there. */
    tsr_tensor **out() { return &slot_; }

private:
    void bind_device(const Tensor &t);

    tsr_tensor view_, *slot_;
    bool counted_; /* does the view hold on to its storage? */
};

/* A tensor of the library's own, released at the end of the block. */
class Temporary {
public:
    Temporary() : t_(nullptr) {}
    Temporary(const Temporary &) = delete;
    Temporary &operator=(const Temporary &) = delete;
    ~Temporary() { tsr_release(&t_); }

    tsr_tensor **out() { return &t_; }
    tsr_tensor *operator->() { return t_; }
    operator const tsr_tensor *() const { return t_; }

private:
    tsr_tensor *t_;
};

/* A view that the library makes, without allocating. */
class View {
public:
    View() : slot_(tsr_place_none(&view_)) {}
    View(const View &) = delete;
    View &operator=(const View &) = delete;
    ~View() { tsr_release(&slot_); }

    tsr_tensor **out() { return &slot_; }
    operator const tsr_tensor *() const { return slot_; }

private:
    tsr_tensor view_, *slot_;
};

/* A float on the host as a result of rank 0. */
class Number {
public:
    Number();
    tsr_tensor **out() { return &slot_; }
    float value() const { return value_; }

private:
    float value_;
    tsr_tensor view_, *slot_;
};

/* A function of a backend, for checks and messages. */
struct Op {
    const DeviceBackend &backend;
    const char *name;

    [[noreturn]] void refuse(const std::string &words) const; /* "[CpuBackend::name] words" */
    const char *kind() const { return DeviceAccess::cuda(backend) < 0 ? "CPU" : "CUDA"; }

    void check_device(const Tensor &t) const
    {
        if (TensorAccess::device(t).index != DeviceAccess::cuda(backend)) refuse_device();
    }
    void must(tsr_status s) const
    {
        if (s != TSR_OK) fail(s);
    }
    [[noreturn]] void fail(tsr_status s) const;
    [[noreturn]] void refuse_device() const;

    Tensor make(const Shape &shape, DType dtype) const;
};

/* TRException("Tensor shape mismatch: a vs b") */
[[noreturn]] void refuse_shapes(const Tensor &a, const Tensor &b);
inline void check_same_shape(const Tensor &a, const Tensor &b)
{
    if (a.shape() != b.shape()) refuse_shapes(a, b);
}

inline bool is_fp32(const Tensor &t) { return t.dtype() == DType::FP32; }

/* A shape from `count` sizes. */
Shape shape_of(const int32_t *dims, int count);

/* Writes row-major elements, of any dtype, through `next`, which makes one. */
template <typename T, typename F> void generate(T *data, int64_t count, F next)
{
    for (int64_t i = 0; i < count; ++i) data[i] = static_cast<T>(next());
}

} // namespace face
} // namespace tr

#endif
