/* cpu_backend.h - the CPU's backend. Tensors are row-major and packed, aligned to 64 bytes. */
#pragma once

#include <string>

#include "tech_renaissance/backend/backend.h"
#include "tech_renaissance/backend/backend_manager.h"
#include "tech_renaissance/backend/device_backend.h"
#include "tech_renaissance/data/offset.h"
#include "tech_renaissance/data/shape.h"
#include "tech_renaissance/data/strides.h"
#include "tech_renaissance/data/tensor.h"

#define EXPORT_TENSOR ::tr::BackendManager::get_cpu_backend()->export_tensor
#define IMPORT_TENSOR ::tr::BackendManager::get_cpu_backend()->import_tensor

namespace tr {

class TR_EXPORT CpuBackend : public DeviceBackend {
public:
    explicit CpuBackend();
    ~CpuBackend() override;

    using DeviceBackend::relu;
    using DeviceBackend::relu_inplace;
    using DeviceBackend::relu_into;
    using DeviceBackend::sum_into;

    static Tensor null_tensor(); /* empty; assigning it lets go of a tensor's storage */
    Tensor full(const Shape &shape, float value, DType dtype = DType::FP32);
    static void full_inplace(Tensor &tensor_a, float value);
    static void randn_inplace(Tensor &tensor_a, unsigned int seed = 0);
    static void uniform_inplace(Tensor &tensor_a, float min_val = 0.0f, float max_val = 1.0f,
                                unsigned int seed = 0);
    /* Integers in [low, high), of any dtype. */
    Tensor randint(const Shape &shape, int low, int high, DType dtype, unsigned int seed = 0);
    static void randint_inplace(Tensor &tensor_a, int low, int high, DType dtype, unsigned int seed = 0);
    /* The older order; the tensor says the dtype of the second. */
    Tensor randint(const Shape &shape, int low, int high, unsigned int seed = 0, DType dtype = DType::FP32);
    static void randint_inplace(Tensor &tensor_a, int low, int high, unsigned int seed = 0);

    /* Floats are cut toward zero; what INT8 and INT32 cannot hold becomes their nearest end. */
    Tensor cast(const Tensor &tensor_a, DType target_dtype);
    void cast_inplace(Tensor &tensor_a, DType target_dtype); /* between FP32 and INT32 */
    void cast_into(const Tensor &tensor_a, DType target_dtype, Tensor &result);

    /* One element by its row-major index. */
    float get_item_fp32(const Tensor &tensor_a, int64_t element_index);
    void set_item_fp32(Tensor &tensor_a, int64_t element_index, float value);
    int8_t get_item_int8(const Tensor &tensor_a, int64_t element_index);
    void set_item_int8(Tensor &tensor_a, int64_t element_index, int8_t value);
    int32_t get_item_int32(const Tensor &tensor_a, int64_t element_index);
    void set_item_int32(Tensor &tensor_a, int64_t element_index, int32_t value);

    /* .tsr files: 64 bytes that describe the tensor, then its elements. Any dtype. */
    void export_tensor(const Tensor &tensor, const std::string &filename) const;
    Tensor import_tensor(const std::string &filename) const;

    /* Is the mean of |a - b| at most eps? Shapes that differ are not close. */
    bool is_close(const Tensor &tensor_a, const Tensor &tensor_b, float eps = 5e-5f) const;
    double get_mean_abs_err(const Tensor &tensor_a, const Tensor &tensor_b) const;
    double get_mean_rel_err(const Tensor &tensor_a, const Tensor &tensor_b) const; /* over the mean of |a| */

    /* INT32: 1 where equal, else 0. equal: INT32 or INT8, all of them? */
    Tensor eq(const Tensor &tensor_a, const Tensor &tensor_b) const;
    void eq_into(const Tensor &tensor_a, const Tensor &tensor_b, Tensor &result) const;
    bool equal(const Tensor &tensor_a, const Tensor &tensor_b) const;

    Tensor div(const Tensor &tensor_a, const Tensor &tensor_b) const;

    /* Any dtype. */
    Tensor ones_like(const Tensor &input) const;
    void zeros_inplace(Tensor &input) const;
    void ones_inplace(Tensor &input) const;
    void zeros_into(const Tensor &input, Tensor &output) const;
    void ones_into(const Tensor &input, Tensor &output) const;

    Tensor relu(const Tensor &input) const;
    void relu_inplace(Tensor &input) const;
    void relu_into(const Tensor &input, Tensor &output) const;
    Tensor sign(const Tensor &input) const;
    void sign_inplace(Tensor &input) const;
    void sign_into(const Tensor &input, Tensor &output) const;
    Tensor abs(const Tensor &input) const;
    void abs_inplace(Tensor &input) const;
    void abs_into(const Tensor &input, Tensor &output) const;
    Tensor negative(const Tensor &input) const;
    void negative_inplace(Tensor &input) const;
    void negative_into(const Tensor &input, Tensor &output) const;
    Tensor reciprocal(const Tensor &input) const; /* TRException where |x| < 1e-10 */
    void reciprocal_inplace(Tensor &input) const;
    void reciprocal_into(const Tensor &input, Tensor &output) const;
    Tensor round(const Tensor &input) const; /* halves to even */
    void round_inplace(Tensor &input) const;
    void round_into(const Tensor &input, Tensor &output) const;
    void transpose_inplace(Tensor &input) const;

    Tensor expand(const Tensor &tensor_a, const Shape &shape_b) const;
    void expand_into(const Tensor &tensor_a, Tensor &tensor_b) const;

    /* FP32 and INT8. */
    Tensor unsqueeze(const Tensor &tensor_a, int32_t dim) const;
    void unsqueeze_inplace(Tensor &tensor_a, int32_t dim) const;
    void unsqueeze_into(const Tensor &tensor_a, Tensor &tensor_b) const;
    Tensor squeeze(const Tensor &tensor_a, int32_t dim) const;
    void squeeze_inplace(Tensor &tensor_a, int32_t dim) const;
    void squeeze_into(const Tensor &tensor_a, Tensor &tensor_b) const;
    Tensor pad(const Tensor &tensor_a, int32_t padding) const; /* zeros around H and W */
    void pad_into(const Tensor &tensor_a, int32_t padding, Tensor &tensor_b) const;

    /* Any dtype. */
    Tensor slice(const Tensor &tensor_a, const Offset &offset);
    void slice_into(const Tensor &tensor_a, Tensor &result, const Offset &offset);

    /* Along a dim, negative from the end. max and argmax take any dtype; argmax is INT32. */
    void softmax_inplace(Tensor &tensor_a, int32_t dim);
    Tensor max(const Tensor &tensor_a, int32_t dim, bool keep_dim = false);
    void max_into(const Tensor &tensor_a, Tensor &result, int32_t dim, bool keep_dim = false);
    Tensor sum(const Tensor &tensor_a, int32_t dim, bool keep_dim = false);
    void sum_into(const Tensor &tensor_a, Tensor &result, int32_t dim, bool keep_dim = false);
    Tensor argmax(const Tensor &tensor_a, int32_t dim, bool keep_dim = false);
    void argmax_into(const Tensor &tensor_a, Tensor &result, int32_t dim, bool keep_dim = false);

    /* Over H and W of two to four dims. Strides are 1 or 2. */
    Tensor max_pool(const Tensor &input, int32_t kernel_size = 2, int32_t stride = 2);
    void max_pool_into(const Tensor &input, Tensor &result, int32_t kernel_size = 2, int32_t stride = 2);
    Tensor global_avg_pool(const Tensor &input);
    void global_avg_pool_into(const Tensor &input, Tensor &result);

    /* Kernels are (C_out, C_in, k, k), for transposed_conv too; results have four dims. */
    Tensor conv(const Tensor &input, const Tensor &kernel, int32_t stride = 1, int32_t padding = 0);
    void conv_into(const Tensor &input, const Tensor &kernel, Tensor &result, int32_t stride = 1,
                   int32_t padding = 0);
    Tensor transposed_conv(const Tensor &input, const Tensor &kernel, int32_t stride = 1,
                           int32_t padding = 0);
    void transposed_conv_into(const Tensor &input, const Tensor &kernel, Tensor &result, int32_t stride = 1,
                              int32_t padding = 0);

    /* Of each element: -goal log(pred) - (1 - goal) log(1 - pred). */
    Tensor bce(const Tensor &goal, const Tensor &pred) const;
    void bce_into(const Tensor &goal, const Tensor &pred, Tensor &result) const;

    /* Matrices. "mean": over all elements; "sum": over the rows. */
    float mse(const Tensor &pred, const Tensor &target, std::string reduction = "mean");
};

} // namespace tr
