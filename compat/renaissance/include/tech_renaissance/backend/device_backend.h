/* device_backend.h - what the backends of the CPU and of CUDA share: one set of functions, which the
 * library runs where the tensors lie.
 *
 * Ops are for FP32 unless a function says otherwise. Shapes, dtypes and devices that do not fit,
 * and tensors without storage, throw TRException; what the device cannot do NotImplementedError.
 * An _into result may be an operand.
 */
#pragma once

#include <string>

#include "tech_renaissance/backend/backend.h"
#include "tech_renaissance/data/shape.h"
#include "tech_renaissance/data/strides.h"
#include "tech_renaissance/data/tensor.h"

namespace tr {

/* Decoupled weight decay is AdamW's. */
struct AdamSettings {
    float lr = 1e-3f, beta1 = 0.9f, beta2 = 0.999f, eps = 1e-8f, weight_decay = 0.0f;
    bool decoupled = false;
};

class TR_EXPORT DeviceBackend : public Backend {
public:
    ~DeviceBackend() override;

    std::string name() const override;
    Device device() const override;

    /* Memory. The holder owns what allocate gives. */
    std::shared_ptr<void> allocate(size_t size) override;
    void deallocate(void *ptr) override;
    void *get_data_ptr(const std::shared_ptr<void> &holder) override;
    void copy_data(void *dst, const void *src, size_t size, const Device &dst_device,
                   const Device &src_device) const override;
    int64_t get_memory_size(const Tensor &tensor) override;

    /* Making. */
    Tensor empty(const Shape &shape, DType dtype) override;
    Tensor empty(const Shape &shape, DType dtype) const override;
    Tensor zeros(const Shape &shape, DType dtype) override;
    Tensor ones(const Shape &shape, DType dtype) override;
    Tensor zeros_like(const Tensor &input) const override;
    Tensor randn(const Shape &shape, unsigned int seed = 0) override;
    Tensor uniform(const Shape &shape, float min_val = 0.0f, float max_val = 1.0f,
                   unsigned int seed = 0) override;
    Tensor randbool(const Shape &shape, float rate_of_zeros, unsigned int seed = 0,
                    DType dtype = DType::FP32) override;
    void randbool_inplace(Tensor &tensor_a, float rate_of_zeros, unsigned int seed = 0) override;

    /* Filling; the dtype must be that of the value. */
    void fill(Tensor &dst, float value) override;
    void fill(Tensor &dst, int8_t value) override;
    void fill(Tensor &dst, int32_t value) override;
    void fill_fp32(Tensor &dst, float value) override;
    void fill_int8(Tensor &dst, int8_t value) override;
    void fill_int32(Tensor &dst, int32_t value) override;

    /* Moving and reading. */
    Tensor to(const Tensor &tensor, const Device &device) const override;
    Tensor to_cpu(const Tensor &tensor) const override;
    Tensor from_cpu(const Tensor &tensor) const override;
    Tensor copy(const Tensor &tensor) const override;
    void copy_into(const Tensor &src, Tensor &dst) const override;
    float get_scalar_float(const Tensor &tensor) override;
    int32_t get_scalar_int32(const Tensor &tensor) override;
    int8_t get_scalar_int8(const Tensor &tensor) override;

    /* Two tensors of one shape. The forms with the result first are the older ones. */
    Tensor add(const Tensor &a, const Tensor &b) const override;
    void add(Tensor &result, const Tensor &a, const Tensor &b) override;
    void add_into(const Tensor &a, const Tensor &b, Tensor &result) const override;
    void minus_into(const Tensor &a, const Tensor &b, Tensor &result) const override;
    Tensor mul(const Tensor &a, const Tensor &b) const override;
    void mul(Tensor &result, const Tensor &a, const Tensor &b) override;
    void mul_into(const Tensor &a, const Tensor &b, Tensor &result) const override;
    void div_into(const Tensor &tensor_a, const Tensor &tensor_b, Tensor &result) const override;

    /* A tensor and a number. */
    Tensor add(const Tensor &input, float scalar) const override;
    void add_inplace(Tensor &input, float scalar) const override;
    void add_into(const Tensor &input, float scalar, Tensor &output) const override;
    Tensor mul(const Tensor &input, float scalar) const override;
    void mul_inplace(Tensor &input, float scalar) const override;
    void mul_into(const Tensor &input, float scalar, Tensor &output) const override;
    Tensor minus(const Tensor &input, float scalar) const override;
    void minus_inplace(Tensor &input, float scalar) const override;
    void minus_into(const Tensor &input, float scalar, Tensor &output) const override;
    Tensor minus(float scalar, const Tensor &input) const override;
    void minus_inplace(float scalar, Tensor &input) const override;
    void minus_into(float scalar, const Tensor &input, Tensor &output) const override;
    Tensor mac(const Tensor &input, float scalar_x, float scalar_y) const override;
    void mac_inplace(Tensor &input, float scalar_x, float scalar_y) const override;
    void mac_into(const Tensor &input, float scalar_x, float scalar_y, Tensor &output) const override;
    Tensor clamp(const Tensor &input, float min_val, float max_val) const override;
    void clamp_inplace(Tensor &input, float min_val, float max_val) const override;
    void clamp_into(const Tensor &input, float min_val, float max_val, Tensor &output) const override;

    /* Two tensors, one of which may be repeated to the other's shape. */
    Tensor add_broadcast(const Tensor &tensor_a, const Tensor &tensor_b) const override;
    void add_broadcast_into(const Tensor &tensor_a, const Tensor &tensor_b, Tensor &result) const override;
    Tensor minus_broadcast(const Tensor &tensor_a, const Tensor &tensor_b) const override;
    void minus_broadcast_into(const Tensor &tensor_a, const Tensor &tensor_b,
                              Tensor &result) const override;
    Tensor mul_broadcast(const Tensor &tensor_a, const Tensor &tensor_b) const override;
    void mul_broadcast_into(const Tensor &tensor_a, const Tensor &tensor_b, Tensor &result) const override;

    /* One tensor. dtanh and drelu are derivatives at x. */
    Tensor relu(const Tensor &tensor_a) override;
    void relu_inplace(Tensor &tensor_a) override;
    void relu_into(const Tensor &tensor_a, Tensor &result) override;
    Tensor drelu(const Tensor &tensor_a) override;
    void drelu_inplace(Tensor &tensor_a) override;
    void drelu_into(const Tensor &tensor_a, Tensor &result) override;
    Tensor tanh(const Tensor &tensor_a) override;
    void tanh_inplace(Tensor &tensor_a) override;
    void tanh_into(const Tensor &tensor_a, Tensor &result) override;
    Tensor dtanh(const Tensor &tensor_a) override;
    void dtanh_inplace(Tensor &tensor_a) override;
    void dtanh_into(const Tensor &tensor_a, Tensor &result) override;
    Tensor sqrt(const Tensor &input) override;
    void sqrt_inplace(Tensor &input) override;
    void sqrt_into(const Tensor &input, Tensor &output) override;
    Tensor square(const Tensor &input) override;
    void square_inplace(Tensor &input) override;
    void square_into(const Tensor &input, Tensor &output) override;

    /* Products of matrices. */
    Tensor mm(const Tensor &a, const Tensor &b) override;
    void mm(Tensor &result, const Tensor &a, const Tensor &b) override;
    void mm_into(const Tensor &a, const Tensor &b, Tensor &result) override;
    void mm_into_transposed(const Tensor &a, const Tensor &b, Tensor &result, bool transpose_a = false,
                            bool transpose_b = false) override;
    Tensor transpose(const Tensor &input) const override;
    void transpose_into(const Tensor &input, Tensor &output) const override;

    /* Shapes. A view shares the storage; reshape copies. */
    Tensor view(const Tensor &input, const Shape &new_shape) override;
    Tensor reshape(const Tensor &tensor_a, const Shape &shape) override;
    void reshape_inplace(Tensor &tensor_a, const Shape &shape) override;
    void reshape_into(const Tensor &tensor_a, Tensor &result, const Shape &shape) override;

    /* Along a dim, and losses. */
    void sum_into(const Tensor &tensor_a, Tensor &result, int32_t dim,
                  bool keep_dim = false) const override;
    Tensor softmax(const Tensor &input, int dim) override;
    void softmax_into(const Tensor &input, Tensor &output, int dim) override;
    float crossentropy(const Tensor &pred, const Tensor &label, std::string reduction = "mean") override;
    Tensor one_hot(const Tensor &label, int32_t num_classes, float label_smoothing = 0.0f) override;
    void one_hot_into(const Tensor &label, Tensor &result, int32_t num_classes,
                      float label_smoothing = 0.0f) override;
    void dropout_into(const Tensor &input, Tensor &mask, Tensor &result, float p) override;
    void ddropout_into(const Tensor &input, const Tensor &mask, Tensor &result, float p) override;

    /* Steps of optimizers, which Tech Renaissance has not: what its SGD, Adam and AdamW do by chains of the
     * ops above, in one pass. Contiguous tensors of one shape. Steps of Adam are counted from 1. */
    void sgd_step(Tensor &param, const Tensor &grad, Tensor &velocity, float lr, float momentum,
                  float weight_decay = 0.0f);
    void adam_step(Tensor &param, const Tensor &grad, Tensor &m, Tensor &v, int step,
                   const AdamSettings &settings);

protected:
    DeviceBackend(const char *name, int cuda, int32_t device);

private:
    friend struct DeviceAccess;

    const char *name_;
    int cuda_;       /* the index of the CUDA device; -1 is the CPU */
    int32_t device_; /* the library's number for it */
};

} // namespace tr
