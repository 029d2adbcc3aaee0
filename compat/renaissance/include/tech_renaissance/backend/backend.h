/* backend.h - what a device can do: memory, and ops on tensors that lie there.
 *
 * Ops come in up to three forms: the value form makes its result, _inplace writes into its
 * operand, _into writes into a tensor that fits. Every function here throws NotImplementedError
 * until a backend overrides it, so a backend of the program's own need have only what it uses:
 * derive with Backend(true) and hand it to BackendManager::register_backend.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "tech_renaissance/data/device.h"
#include "tech_renaissance/data/dtype.h"
#include "tech_renaissance/data/shape.h"
#include "tech_renaissance/utils/tr_exception.h"

namespace tr {

class Tensor;

class TR_EXPORT Backend {
public:
    /* Throws TRException unless a derived class passes true. */
    explicit Backend(bool allow_construction = false);
    virtual ~Backend();

    virtual std::string name() const;
    virtual Device device() const;

    /* Memory. The holder owns what allocate gives. */
    virtual std::shared_ptr<void> allocate(size_t size);
    virtual void deallocate(void *ptr);
    virtual void *get_data_ptr(const std::shared_ptr<void> &holder);
    virtual void copy_data(void *dst, const void *src, size_t size, const Device &dst_device,
                           const Device &src_device) const;
    virtual int64_t get_memory_size(const Tensor &tensor);

    /* Making. */
    virtual Tensor empty(const Shape &shape, DType dtype);
    virtual Tensor empty(const Shape &shape, DType dtype) const;
    virtual Tensor zeros(const Shape &shape, DType dtype);
    virtual Tensor ones(const Shape &shape, DType dtype);
    virtual Tensor zeros_like(const Tensor &input) const;
    virtual Tensor randn(const Shape &shape, unsigned int seed = 0);
    virtual Tensor uniform(const Shape &shape, float min_val = 0.0f, float max_val = 1.0f,
                           unsigned int seed = 0);
    virtual Tensor randbool(const Shape &shape, float rate_of_zeros, unsigned int seed = 0,
                            DType dtype = DType::FP32);
    virtual void randbool_inplace(Tensor &tensor_a, float rate_of_zeros, unsigned int seed = 0);

    /* Filling; the dtype must be that of the value. */
    virtual void fill(Tensor &dst, float value);
    virtual void fill(Tensor &dst, int8_t value);
    virtual void fill(Tensor &dst, int32_t value);
    virtual void fill_fp32(Tensor &dst, float value);
    virtual void fill_int8(Tensor &dst, int8_t value);
    virtual void fill_int32(Tensor &dst, int32_t value);

    /* Moving and reading. */
    virtual Tensor to(const Tensor &tensor, const Device &device) const;
    virtual Tensor to_cpu(const Tensor &tensor) const;
    virtual Tensor from_cpu(const Tensor &tensor) const;
    virtual Tensor copy(const Tensor &tensor) const;
    virtual void copy_into(const Tensor &src, Tensor &dst) const;
    virtual float get_scalar_float(const Tensor &tensor);
    virtual int32_t get_scalar_int32(const Tensor &tensor);
    virtual int8_t get_scalar_int8(const Tensor &tensor);

    /* Two tensors of one shape. The forms with the result first are the older ones. */
    virtual Tensor add(const Tensor &a, const Tensor &b) const;
    virtual void add(Tensor &result, const Tensor &a, const Tensor &b);
    virtual void add_into(const Tensor &a, const Tensor &b, Tensor &result) const;
    virtual void minus_into(const Tensor &a, const Tensor &b, Tensor &result) const;
    virtual Tensor mul(const Tensor &a, const Tensor &b) const;
    virtual void mul(Tensor &result, const Tensor &a, const Tensor &b);
    virtual void mul_into(const Tensor &a, const Tensor &b, Tensor &result) const;
    virtual void div_into(const Tensor &tensor_a, const Tensor &tensor_b, Tensor &result) const;

    /* A tensor and a number. */
    virtual Tensor add(const Tensor &input, float scalar) const;
    virtual void add_inplace(Tensor &input, float scalar) const;
    virtual void add_into(const Tensor &input, float scalar, Tensor &output) const;
    virtual Tensor mul(const Tensor &input, float scalar) const;
    virtual void mul_inplace(Tensor &input, float scalar) const;
    virtual void mul_into(const Tensor &input, float scalar, Tensor &output) const;
    virtual Tensor minus(const Tensor &input, float scalar) const;
    virtual void minus_inplace(Tensor &input, float scalar) const;
    virtual void minus_into(const Tensor &input, float scalar, Tensor &output) const;
    virtual Tensor minus(float scalar, const Tensor &input) const;
    virtual void minus_inplace(float scalar, Tensor &input) const;
    virtual void minus_into(float scalar, const Tensor &input, Tensor &output) const;
    virtual Tensor mac(const Tensor &input, float scalar_x, float scalar_y) const;
    virtual void mac_inplace(Tensor &input, float scalar_x, float scalar_y) const;
    virtual void mac_into(const Tensor &input, float scalar_x, float scalar_y, Tensor &output) const;
    virtual Tensor clamp(const Tensor &input, float min_val, float max_val) const;
    virtual void clamp_inplace(Tensor &input, float min_val, float max_val) const;
    virtual void clamp_into(const Tensor &input, float min_val, float max_val, Tensor &output) const;

    /* Two tensors, one of which may be repeated to the other's shape. */
    virtual Tensor add_broadcast(const Tensor &tensor_a, const Tensor &tensor_b) const;
    virtual void add_broadcast_into(const Tensor &tensor_a, const Tensor &tensor_b, Tensor &result) const;
    virtual Tensor minus_broadcast(const Tensor &tensor_a, const Tensor &tensor_b) const;
    virtual void minus_broadcast_into(const Tensor &tensor_a, const Tensor &tensor_b, Tensor &result) const;
    virtual Tensor mul_broadcast(const Tensor &tensor_a, const Tensor &tensor_b) const;
    virtual void mul_broadcast_into(const Tensor &tensor_a, const Tensor &tensor_b, Tensor &result) const;

    /* One tensor. dtanh and drelu are derivatives at x. */
    virtual Tensor relu(const Tensor &tensor_a);
    virtual void relu_inplace(Tensor &tensor_a);
    virtual void relu_into(const Tensor &tensor_a, Tensor &result);
    virtual Tensor drelu(const Tensor &tensor_a);
    virtual void drelu_inplace(Tensor &tensor_a);
    virtual void drelu_into(const Tensor &tensor_a, Tensor &result);
    virtual Tensor tanh(const Tensor &tensor_a);
    virtual void tanh_inplace(Tensor &tensor_a);
    virtual void tanh_into(const Tensor &tensor_a, Tensor &result);
    virtual Tensor dtanh(const Tensor &tensor_a);
    virtual void dtanh_inplace(Tensor &tensor_a);
    virtual void dtanh_into(const Tensor &tensor_a, Tensor &result);
    virtual Tensor sqrt(const Tensor &input);
    virtual void sqrt_inplace(Tensor &input);
    virtual void sqrt_into(const Tensor &input, Tensor &output);
    virtual Tensor square(const Tensor &input);
    virtual void square_inplace(Tensor &input);
    virtual void square_into(const Tensor &input, Tensor &output);

    /* Products of matrices. */
    virtual Tensor mm(const Tensor &a, const Tensor &b);
    virtual void mm(Tensor &result, const Tensor &a, const Tensor &b);
    virtual void mm_into(const Tensor &a, const Tensor &b, Tensor &result);
    virtual void mm_into_transposed(const Tensor &a, const Tensor &b, Tensor &result,
                                    bool transpose_a = false, bool transpose_b = false);
    virtual Tensor transpose(const Tensor &input) const;
    virtual void transpose_into(const Tensor &input, Tensor &output) const;

    /* Shapes. A view shares the storage; reshape copies. */
    virtual Tensor view(const Tensor &input, const Shape &new_shape);
    virtual Tensor reshape(const Tensor &tensor_a, const Shape &shape);
    virtual void reshape_inplace(Tensor &tensor_a, const Shape &shape);
    virtual void reshape_into(const Tensor &tensor_a, Tensor &result, const Shape &shape);

    /* Along a dim, and losses. */
    virtual void sum_into(const Tensor &tensor_a, Tensor &result, int32_t dim, bool keep_dim = false) const;
    virtual Tensor softmax(const Tensor &input, int dim);
    virtual void softmax_into(const Tensor &input, Tensor &output, int dim);
    virtual float crossentropy(const Tensor &pred, const Tensor &label, std::string reduction);
    virtual Tensor one_hot(const Tensor &label, int32_t num_classes, float label_smoothing);
    virtual void one_hot_into(const Tensor &label, Tensor &result, int32_t num_classes,
                              float label_smoothing);
    virtual void dropout_into(const Tensor &input, Tensor &mask, Tensor &result, float p);
    virtual void ddropout_into(const Tensor &input, const Tensor &mask, Tensor &result, float p);

private:
    [[noreturn]] void refuse(const char *method) const;
};

} // namespace tr
