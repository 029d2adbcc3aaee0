/* device_nn.cpp - the part of both backends that sums, normalises and measures losses. */
#include "bridge.hpp"
#include "reduction.hpp"

namespace tr {

using face::Op;
using face::Operand;
using face::Temporary;

namespace face {

void refuse_along(const Op &op, const char *title, const std::string &words)
{
    throw TRException("[" + std::string(op.kind()) + " " + title + "] " + words);
}

int32_t check_along(const Op &op, const char *title, const Tensor &x, int32_t dim)
{
    if (TensorAccess::device(x).index != DeviceAccess::cuda(op.backend))
        refuse_along(op, title, std::string("Device must be ") + op.kind());
    if (x.is_empty()) refuse_along(op, title, "Tensor storage not allocated");
    if (x.is_scalar()) refuse_along(op, title, "Cannot perform operation on scalar tensor");
    if (dim < 0) dim += x.ndim();
    if (dim < 0 || dim >= x.ndim()) refuse_along(op, "Dim", "Dimension index out of range");
    return dim;
}

void check_result_place(const Op &op, const char *title, const Tensor &result)
{
    if (TensorAccess::device(result).index != DeviceAccess::cuda(op.backend))
        refuse_along(op, title, std::string("Result tensor must be on ") + op.kind() + " device");
    if (result.is_empty()) refuse_along(op, title, "Result tensor storage not allocated");
}

void check_result_shape(const Op &op, const char *title, const Tensor &result, const Shape &expected)
{
    if (result.shape() != expected)
        refuse_along(op, title, "Result shape mismatch. expected: " + expected.to_string() +
                                    ", actual: " + result.shape().to_string());
}

Shape reduced_shape(const Shape &shape, int32_t dim, bool keep_dim)
{
    int32_t dims[4];
    int count = 0;
    for (int32_t i = 0; i < shape.ndim(); ++i) {
        if (i != dim) dims[count++] = shape.dim(i);
        else if (keep_dim) dims[count++] = 1;
    }
    return shape_of(dims, count);
}

} // namespace face

/* Along a dim -------------------------------------------------------------------------------- */

void DeviceBackend::sum_into(const Tensor &x, Tensor &result, int32_t dim, bool keep_dim) const
{
    const Op op{*this, "sum_into"};
    const int axis = face::check_along(op, "Sum", x, dim);
    face::check_result_place(op, "Sum", result);
    if (!face::is_fp32(x) || !face::is_fp32(result))
        face::refuse_along(op, "Sum", "Only supports FP32 tensor");
    face::check_result_shape(op, "Sum", result, face::reduced_shape(x.shape(), axis, keep_dim));
    Operand out(result);
    op.must(tsr_sum(out.out(), Operand(x), 1, &axis, keep_dim));
}

Tensor DeviceBackend::softmax(const Tensor &x, int dim)
{
    const Op op{*this, "softmax"};
    const int axis = face::check_along(op, "Softmax", x, dim);
    if (!face::is_fp32(x)) face::refuse_along(op, "Softmax", "Only supports FP32 tensor");
    Tensor result = empty(x.shape(), DType::FP32);
    Operand out(result);
    op.must(tsr_softmax(out.out(), Operand(x), axis));
    return result;
}

void DeviceBackend::softmax_into(const Tensor &x, Tensor &result, int dim)
{
    const Op op{*this, "softmax_into"};
    const int axis = face::check_along(op, "Softmax", x, dim);
    face::check_result_place(op, "Softmax", result);
    if (!face::is_fp32(x) || !face::is_fp32(result))
        face::refuse_along(op, "Softmax", "Only supports FP32 tensor");
    if (x.shape() != result.shape()) face::refuse_along(op, "Softmax", "Input and result shapes must match");
    Operand out(result);
    op.must(tsr_softmax(out.out(), Operand(x), axis));
}

/* Losses ------------------------------------------------------------------------------------- */

namespace {

/* -sum of label * log(pred), of labels above 0 and predictions of 1e-12 at least. */
tsr_status op_crossentropy(float *loss, const tsr_tensor *pred, const tsr_tensor *label)
{
    Temporary logs, weights, sum;
    TSR_TRY(tsr_maximum(logs.out(), pred, TSR_NUMBER(1e-12f)));
    TSR_TRY(tsr_log(logs.out(), logs));
    TSR_TRY(tsr_maximum(weights.out(), label, TSR_NUMBER(0)));
    TSR_TRY(tsr_mul(logs.out(), logs, weights));
    TSR_TRY(tsr_sum(sum.out(), logs, 0, nullptr, false));
    TSR_TRY(tsr_store(loss, sizeof *loss, sum));
    *loss = -*loss;
    return TSR_OK;
}

} // namespace

float DeviceBackend::crossentropy(const Tensor &pred, const Tensor &label, std::string reduction)
{
    const Op op{*this, "crossentropy"};
    float loss = 0.0f;
    op.check_device(pred);
    op.check_device(label);
    if (!face::is_fp32(pred) || !face::is_fp32(label))
        throw TypeError("crossentropy function requires FP32 input tensors");
    if (pred.ndim() != 2 || label.ndim() != 2)
        throw ShapeError("crossentropy function requires 2D input tensors, got " +
                         std::to_string(pred.ndim()) + "D and " + std::to_string(label.ndim()) + "D tensors");
    if (pred.shape() != label.shape())
        throw ShapeError("Prediction tensor shape " + pred.shape().to_string() +
                         " doesn't match label tensor shape " + label.shape().to_string());
    if (pred.is_empty() || label.is_empty()) op.refuse("Input tensor has no allocated Storage");
    op.must(op_crossentropy(&loss, Operand(pred), Operand(label)));
    return reduction == "sum" ? loss : loss / static_cast<float>(pred.dim_size(0));
}

namespace {

void check_smoothing(int32_t num_classes, float smoothing)
{
    if (num_classes <= 0)
        throw ValueError("num_classes must be positive, got " + std::to_string(num_classes));
    if (!(smoothing >= 0.0f && smoothing < 1.0f))
        throw ValueError("label_smoothing must be in [0, 1), got " + std::to_string(smoothing));
}

void check_labels(const Tensor &label, int32_t num_classes)
{
    std::vector<int32_t> values(static_cast<size_t>(label.numel()));
    label.to_cpu_data(values.data(), label.memory_size());
    for (size_t i = 0; i < values.size(); ++i)
        if (values[i] < 0 || values[i] >= num_classes)
            throw IndexError("Label value " + std::to_string(values[i]) + " at position " +
                             std::to_string(i) + " is out of range [0, " + std::to_string(num_classes - 1) +
                             "]");
}

} // namespace

Tensor DeviceBackend::one_hot(const Tensor &label, int32_t num_classes, float label_smoothing)
{
    if (label.dtype() != DType::INT32) throw TypeError("one_hot function requires INT32 input tensor");
    if (label.ndim() != 1)
        throw ShapeError("one_hot function requires 1D input tensor, got " + std::to_string(label.ndim()) +
                         "D tensor");
    check_smoothing(num_classes, label_smoothing);
    Tensor result = empty(Shape(label.dim_size(0), num_classes), DType::FP32);
    one_hot_into(label, result, num_classes, label_smoothing);
    return result;
}

void DeviceBackend::one_hot_into(const Tensor &label, Tensor &result, int32_t num_classes,
                                 float label_smoothing)
{
    const Op op{*this, "one_hot_into"};
    op.check_device(label);
    op.check_device(result);
    if (label.dtype() != DType::INT32) throw TypeError("one_hot_into function requires INT32 input tensor");
    if (!face::is_fp32(result)) throw TypeError("one_hot_into function requires FP32 result tensor");
    if (label.ndim() != 1 || result.ndim() != 2)
        throw ShapeError("one_hot_into function requires 1D input tensor and 2D result tensor");
    if (label.dim_size(0) != result.dim_size(0))
        throw ShapeError("Input tensor batch size (" + std::to_string(label.dim_size(0)) +
                         ") doesn't match result tensor batch size (" + std::to_string(result.dim_size(0)) +
                         ")");
    if (result.dim_size(1) != num_classes)
        throw ShapeError("Result tensor number of classes (" + std::to_string(result.dim_size(1)) +
                         ") doesn't match num_classes (" + std::to_string(num_classes) + ")");
    check_smoothing(num_classes, label_smoothing);
    if (label.is_empty() || result.is_empty()) op.refuse("Tensor has no allocated Storage");
    check_labels(label, num_classes);

    Operand out(result);
    op.must(tsr_one_hot(out.out(), Operand(label), num_classes, TSR_F32));
    if (label_smoothing > 0.0f)
        op.must(tsr_fma(out.out(), out, TSR_NUMBER(1.0f - label_smoothing),
                        TSR_NUMBER(label_smoothing / static_cast<float>(num_classes))));
}

/* Dropout ------------------------------------------------------------------------------------ */

namespace {

void check_dropout(const Op &op, const Tensor &input, const Tensor &mask, const Tensor &result, float p)
{
    const std::string prefix = "[" + std::string(DeviceAccess::name(op.backend)) + "::" + op.name + "] ";
    if (!face::is_fp32(input)) throw TypeError(prefix + "Input tensor must be FP32 type");
    if (!face::is_fp32(mask)) throw TypeError(prefix + "Mask tensor must be FP32 type");
    if (!face::is_fp32(result)) throw TypeError(prefix + "Result tensor must be FP32 type");
    op.check_device(input);
    op.check_device(mask);
    op.check_device(result);
    if (input.shape() != mask.shape() || input.shape() != result.shape())
        throw ShapeError(prefix + "Input, mask and result tensors must have the same shape. Input: " +
                         input.shape().to_string() + ", Mask: " + mask.shape().to_string() +
                         ", Result: " + result.shape().to_string());
    if (input.is_empty()) throw ShapeError(prefix + "Input tensor is empty");
    if (mask.is_empty()) throw ShapeError(prefix + "Mask tensor is empty");
    if (result.is_empty()) throw ShapeError(prefix + "Result tensor is empty");
    if (!(p >= 0.0f && p <= 1.0f))
        throw ValueError(prefix +
                         "Dropout probability p must be between 0.0 and 1.0, got: " + std::to_string(p));
}

/* Where nothing is kept there is nothing to scale up. */
void drop(const Op &op, const Tensor &input, const Tensor &mask, Tensor &result, float p)
{
    Operand out(result);
    op.must(tsr_mul(out.out(), Operand(input), Operand(mask)));
    if (p < 1.0f) op.must(tsr_mul(out.out(), out, TSR_NUMBER(1.0f / (1.0f - p))));
}

} // namespace

void DeviceBackend::dropout_into(const Tensor &input, Tensor &mask, Tensor &result, float p)
{
    const Op op{*this, "dropout_into"};
    check_dropout(op, input, mask, result, p);
    randbool_inplace(mask, p);
    drop(op, input, mask, result, p);
}

void DeviceBackend::ddropout_into(const Tensor &input, const Tensor &mask, Tensor &result, float p)
{
    const Op op{*this, "ddropout_into"};
    check_dropout(op, input, mask, result, p);
    drop(op, input, mask, result, p);
}

} // namespace tr
