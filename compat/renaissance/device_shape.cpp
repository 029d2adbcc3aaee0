/* device_shape.cpp - the part of both backends that multiplies matrices and changes shapes. */
#include <utility>

#include "bridge.hpp"

namespace tr {

using face::Op;
using face::Operand;
using face::Temporary;

/* Products ----------------------------------------------------------------------------------- */

namespace {

void set_matrix(Operand &t, int64_t rows, int64_t cols, int64_t row_stride, int64_t col_stride)
{
    t->ndim = 2;
    t->shape[0] = rows;
    t->shape[1] = cols;
    t->stride[0] = row_stride;
    t->stride[1] = col_stride;
}

void transpose_matrix(Operand &t)
{
    std::swap(t->shape[0], t->shape[1]);
    std::swap(t->stride[0], t->stride[1]);
}

/* The last two dims, of the first of all matrices; a vector is a row on the left and a column on
 * the right. On a CUDA device four dims are (M, K, 1, 1), and on the right (N, K, 1, 1). */
void see_as_matrix(const Op &op, Operand &t, const char *which, bool on_right)
{
    const int n = t->ndim;
    if (n == 0) op.refuse(std::string("Tensor ") + which + " must have at least 1 dimension");
    if (DeviceAccess::cuda(op.backend) >= 0 && n == 4) {
        if (t->shape[2] != 1 || t->shape[3] != 1) op.refuse("Tensors of 4 dimensions must be (M, K, 1, 1)");
        set_matrix(t, t->shape[0], t->shape[1], t->stride[0], t->stride[1]);
        if (on_right) transpose_matrix(t);
    } else if (n == 1 && on_right) {
        set_matrix(t, t->shape[0], 1, t->stride[0], 1);
    } else if (n == 1) {
        set_matrix(t, 1, t->shape[0], t->shape[0], t->stride[0]);
    } else {
        set_matrix(t, t->shape[n - 2], t->shape[n - 1], t->stride[n - 2], t->stride[n - 1]);
    }
}

/* A vector holds a column if there is one, else a row. */
void see_as_result(const Op &op, Operand &t, int64_t rows, int64_t cols)
{
    if (t->ndim == 1) {
        const int64_t stride = t->stride[0], length = t->shape[0];
        if (cols == 1) set_matrix(t, length, 1, stride, 1);
        else set_matrix(t, 1, length, length, stride);
    } else {
        see_as_matrix(op, t, "C", false);
    }
    if (t->shape[0] != rows || t->shape[1] != cols) op.refuse("Result tensor dimension mismatch");
}

void check_mm(const Op &op, const Tensor &a, const Tensor &b, const Tensor &result)
{
    op.check_device(a);
    op.check_device(b);
    op.check_device(result);
    if (!face::is_fp32(a) || !face::is_fp32(b) || !face::is_fp32(result))
        op.refuse("Only FP32 tensors are supported for matrix multiplication");
    if (a.is_empty() || b.is_empty() || result.is_empty())
        op.refuse("Cannot perform matrix multiplication on empty tensors");
}

void multiply(const Op &op, const Tensor &a, const Tensor &b, Tensor &result, bool transpose_a,
              bool transpose_b)
{
    check_mm(op, a, b, result);
    Operand x(a), y(b), out(result);
    see_as_matrix(op, x, "A", false);
    see_as_matrix(op, y, "B", true);
    if (transpose_a) transpose_matrix(x);
    if (transpose_b) transpose_matrix(y);
    if (x->shape[1] != y->shape[0])
        op.refuse("Matrix multiplication dimension mismatch: A.cols(" + std::to_string(x->shape[1]) +
                  ") != B.rows(" + std::to_string(y->shape[0]) + ")");
    see_as_result(op, out, x->shape[0], y->shape[1]);
    op.must(tsr_matmul(out.out(), x, y));
}

} // namespace

Tensor DeviceBackend::mm(const Tensor &a, const Tensor &b)
{
    const bool flat = cuda_ < 0 || a.ndim() != 4;
    const Shape shape = flat ? Shape(a.height(), b.width()) : Shape(a.batch(), b.batch(), 1, 1);
    Tensor result = empty(shape, DType::FP32);
    multiply({*this, "mm"}, a, b, result, false, false);
    return result;
}

void DeviceBackend::mm(Tensor &result, const Tensor &a, const Tensor &b)
{
    multiply({*this, "mm"}, a, b, result, false, false);
}

void DeviceBackend::mm_into(const Tensor &a, const Tensor &b, Tensor &result)
{
    multiply({*this, "mm"}, a, b, result, false, false);
}

void DeviceBackend::mm_into_transposed(const Tensor &a, const Tensor &b, Tensor &result, bool transpose_a,
                                       bool transpose_b)
{
    multiply({*this, "mm_into_transposed"}, a, b, result, transpose_a, transpose_b);
}

/* Transposes --------------------------------------------------------------------------------- */

namespace {

void check_matrix(const Op &op, const Tensor &t, const char *which)
{
    op.check_device(t);
    if (!face::is_fp32(t)) op.refuse("Only FP32 tensors are supported");
    if (t.ndim() != 2)
        op.refuse(std::string("Only 2D tensors are supported") + which + ", but got " +
                  std::to_string(t.ndim()) + "D tensor");
    if (t.is_empty()) op.refuse("Cannot transpose empty tensor");
}

void transpose_elements(const Op &op, const Tensor &input, Tensor &output)
{
    Operand x(input);
    transpose_matrix(x);
    op.must(tsr_copy(Operand(output), x));
}

} // namespace

Tensor DeviceBackend::transpose(const Tensor &input) const
{
    const Op op{*this, "transpose"};
    check_matrix(op, input, "");
    Tensor result = empty(Shape(input.width(), input.height()), DType::FP32);
    transpose_elements(op, input, result);
    return result;
}

void DeviceBackend::transpose_into(const Tensor &input, Tensor &output) const
{
    const Op op{*this, "transpose_into"};
    check_matrix(op, input, " for input");
    check_matrix(op, output, " for output");
    if (output.height() != input.width() || output.width() != input.height())
        op.refuse("Dimension mismatch: input shape " + input.shape().to_string() +
                  " cannot be transposed to output shape " + output.shape().to_string() +
                  ". Expected output shape " + Shape(input.width(), input.height()).to_string());
    transpose_elements(op, input, output);
}

/* Shapes ------------------------------------------------------------------------------------- */

namespace {

int fill_sizes(int64_t *out, const Shape &shape)
{
    for (int32_t i = 0; i < shape.ndim(); ++i) out[i] = shape.dim(i);
    return shape.ndim();
}

void check_count(const Op &op, const Tensor &t, const Shape &shape)
{
    if (t.numel() != shape.numel())
        op.refuse("Shape mismatch: tensor has " + std::to_string(t.numel()) + " elements, but target shape " +
                  shape.to_string() + " has " + std::to_string(shape.numel()) + " elements");
}

void check_reshape(const Op &op, const Tensor &t, const Shape &shape)
{
    op.check_device(t);
    if (!face::is_fp32(t)) op.refuse("Only FP32 tensors are supported");
    check_count(op, t, shape);
    if (t.is_empty()) op.refuse("Cannot reshape empty tensor");
}

/* The elements of src, in row-major order of indices, into dst, whatever the shapes. */
void refill(const Op &op, Tensor &dst, const Tensor &src)
{
    Temporary seen; /* a view where the strides allow it, else a copy */
    int64_t sizes[4];
    const int ndim = fill_sizes(sizes, dst.shape());
    op.must(tsr_reshape(seen.out(), Operand(src), ndim, sizes));
    op.must(tsr_copy(Operand(dst), seen));
}

} // namespace

/* A matrix of a CUDA device cannot be seen in another shape unless its columns allow it. */
Tensor DeviceBackend::view(const Tensor &input, const Shape &new_shape)
{
    const Op op{*this, "view"};
    int64_t sizes[4];
    tsr_desc desc;
    op.check_device(input);
    if (input.is_empty()) op.refuse("Cannot create a view of empty tensor");
    check_count(op, input, new_shape);
    Strides strides(new_shape);
    if (input.strides() != Strides(input.shape()) && !input.is_scalar()) {
        const int ndim = fill_sizes(sizes, new_shape);
        op.must(tsr_desc_view(&desc, tsr_desc_of(Operand(input)), ndim, sizes));
        for (int i = 0; i < ndim; ++i) strides.data()[4 - ndim + i] = desc.stride[i];
    }
    return TensorAccess::view(input, new_shape, strides);
}

Tensor DeviceBackend::reshape(const Tensor &tensor_a, const Shape &shape)
{
    const Op op{*this, "reshape"};
    check_reshape(op, tensor_a, shape);
    Tensor result = empty(shape, DType::FP32);
    refill(op, result, tensor_a);
    return result;
}

void DeviceBackend::reshape_inplace(Tensor &tensor_a, const Shape &shape)
{
    const Op op{*this, "reshape_inplace"};
    check_reshape(op, tensor_a, shape);
    Tensor result = empty(shape, DType::FP32);
    refill(op, result, tensor_a);
    tensor_a = std::move(result);
}

/* The result keeps its own shape. */
void DeviceBackend::reshape_into(const Tensor &tensor_a, Tensor &result, const Shape &shape)
{
    const Op op{*this, "reshape_into"};
    check_reshape(op, tensor_a, shape);
    op.check_device(result);
    if (!face::is_fp32(result)) op.refuse("Only FP32 tensors are supported");
    if (result.is_empty()) op.refuse("Output tensor is empty");
    if (result.numel() != shape.numel())
        op.refuse("Output tensor has " + std::to_string(result.numel()) + " elements, but target shape " +
                  shape.to_string() + " has " + std::to_string(shape.numel()) + " elements");
    refill(op, result, tensor_a);
}

} // namespace tr
