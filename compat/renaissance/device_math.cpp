/* device_math.cpp - the part of both backends that computes element by element, and products. */
#include "bridge.hpp"
#include "elementwise.hpp"

namespace tr {

using face::Op;
using face::Operand;
using face::Temporary;

/* One operand -------------------------------------------------------------------------------- */

namespace face {

namespace {

/* "tanh_into" is about tanh. */
std::string base_name(const char *name)
{
    const std::string text(name);
    return text.substr(0, text.find("_in"));
}

void check_input(const Op &op, const Tensor &x)
{
    op.check_device(x);
    if (!is_fp32(x)) op.refuse("Only FP32 tensors are supported");
    if (x.is_empty()) op.refuse("Cannot compute " + base_name(op.name) + " of empty tensor");
}

void check_into(const Op &op, const Tensor &x, const Tensor &y)
{
    op.check_device(x);
    op.check_device(y);
    if (!is_fp32(x) || !is_fp32(y)) op.refuse("Only FP32 tensors are supported");
    if (x.shape() != y.shape())
        op.refuse("Shape mismatch: input shape " + x.shape().to_string() + " != output shape " +
                  y.shape().to_string());
    if (x.is_empty()) op.refuse("Cannot compute " + base_name(op.name) + " of empty tensor");
    if (y.is_empty()) op.refuse("Output tensor is empty");
}

void apply(const Op &op, Unary function, const Tensor &x, Tensor &y)
{
    Operand out(y);
    op.must(function(out.out(), Operand(x)));
}

} // namespace

Tensor unary(const Op &op, Unary function, const Tensor &x, Check check)
{
    check_input(op, x);
    if (check) check(op, x);
    Tensor y = op.make(x.shape(), DType::FP32);
    apply(op, function, x, y);
    return y;
}

void unary_inplace(const Op &op, Unary function, Tensor &x, Check check)
{
    check_input(op, x);
    if (check) check(op, x);
    apply(op, function, x, x);
}

void unary_into(const Op &op, Unary function, const Tensor &x, Tensor &y, Check check)
{
    check_into(op, x, y);
    if (check) check(op, x);
    apply(op, function, x, y);
}

} // namespace face

namespace {

/* 1 - tanh(x)^2 */
tsr_status op_dtanh(tsr_tensor **out, const tsr_tensor *x)
{
    TSR_TRY(tsr_tanh(out, x));
    TSR_TRY(tsr_square(out, *out));
    return tsr_sub(out, TSR_NUMBER(1), *out);
}

/* 1 where x > 0, else 0 */
tsr_status op_drelu(tsr_tensor **out, const tsr_tensor *x)
{
    Temporary positive;
    TSR_TRY(tsr_gt(positive.out(), x, TSR_NUMBER(0)));
    return tsr_copy(*out, positive);
}

/* The host can look at the CPU's numbers before they are computed with. */
void refuse_negative(const Op &op, const Tensor &x)
{
    if (DeviceAccess::cuda(op.backend) >= 0) return;
    const float *data = x.data_ptr<float>();
    const int64_t count = x.numel();
    int negative = 0;
    for (int64_t i = 0; i < count; ++i) negative |= data[i] < 0.0f; /* without a way out: in vectors */
    for (int64_t i = 0; negative && i < count; ++i)
        if (data[i] < 0.0f) op.refuse("Negative input encountered: " + std::to_string(data[i]));
}

} // namespace

Tensor DeviceBackend::relu(const Tensor &x) { return face::unary({*this, "relu"}, tsr_relu, x); }
void DeviceBackend::relu_inplace(Tensor &x) { face::unary_inplace({*this, "relu_inplace"}, tsr_relu, x); }
void DeviceBackend::relu_into(const Tensor &x, Tensor &y)
{
    face::unary_into({*this, "relu_into"}, tsr_relu, x, y);
}

Tensor DeviceBackend::drelu(const Tensor &x) { return face::unary({*this, "drelu"}, op_drelu, x); }
void DeviceBackend::drelu_inplace(Tensor &x) { face::unary_inplace({*this, "drelu_inplace"}, op_drelu, x); }

void DeviceBackend::drelu_into(const Tensor &x, Tensor &y)
{
    face::unary_into({*this, "drelu_into"}, op_drelu, x, y);
}

Tensor DeviceBackend::tanh(const Tensor &x) { return face::unary({*this, "tanh"}, tsr_tanh, x); }
void DeviceBackend::tanh_inplace(Tensor &x) { face::unary_inplace({*this, "tanh_inplace"}, tsr_tanh, x); }
void DeviceBackend::tanh_into(const Tensor &x, Tensor &y)
{
    face::unary_into({*this, "tanh_into"}, tsr_tanh, x, y);
}

Tensor DeviceBackend::dtanh(const Tensor &x) { return face::unary({*this, "dtanh"}, op_dtanh, x); }
void DeviceBackend::dtanh_inplace(Tensor &x) { face::unary_inplace({*this, "dtanh_inplace"}, op_dtanh, x); }

void DeviceBackend::dtanh_into(const Tensor &x, Tensor &y)
{
    face::unary_into({*this, "dtanh_into"}, op_dtanh, x, y);
}

Tensor DeviceBackend::sqrt(const Tensor &x)
{
    return face::unary({*this, "sqrt"}, tsr_sqrt, x, refuse_negative);
}

void DeviceBackend::sqrt_inplace(Tensor &x)
{
    face::unary_inplace({*this, "sqrt_inplace"}, tsr_sqrt, x, refuse_negative);
}

void DeviceBackend::sqrt_into(const Tensor &x, Tensor &y)
{
    face::unary_into({*this, "sqrt_into"}, tsr_sqrt, x, y, refuse_negative);
}

Tensor DeviceBackend::square(const Tensor &x) { return face::unary({*this, "square"}, tsr_square, x); }
void DeviceBackend::square_inplace(Tensor &x)
{
    face::unary_inplace({*this, "square_inplace"}, tsr_square, x);
}

void DeviceBackend::square_into(const Tensor &x, Tensor &y)
{
    face::unary_into({*this, "square_into"}, tsr_square, x, y);
}

/* Two tensors of one shape ------------------------------------------------------------------- */

namespace face {

void binary_into(const Op &op, Binary function, const Tensor &a, const Tensor &b, Tensor &result)
{
    op.check_device(a);
    op.check_device(b);
    op.check_device(result);
    check_same_shape(a, b);
    check_same_shape(a, result);
    if (result.is_empty()) op.refuse("Result tensor has no allocated Storage");
    if (a.is_empty()) op.refuse("Input tensor 'a' has no allocated Storage");
    if (b.is_empty()) op.refuse("Input tensor 'b' has no allocated Storage");
    if (!is_fp32(a) || !is_fp32(b) || !is_fp32(result))
        op.refuse(std::string(op.name) + " only supports FP32");
    Operand out(result);
    op.must(function(out.out(), Operand(a), Operand(b)));
}

Tensor binary(const Op &op, Binary function, const char *what, const Tensor &a, const Tensor &b)
{
    op.check_device(a);
    op.check_device(b);
    if (a.is_empty()) op.refuse("First input tensor has no allocated Storage");
    if (b.is_empty()) op.refuse("Second input tensor has no allocated Storage");
    if (a.shape() != b.shape())
        op.refuse("Shape mismatch: tensor_a shape " + a.shape().to_string() + " vs tensor_b shape " +
                  b.shape().to_string());
    if (a.dtype() != b.dtype())
        op.refuse("Data type mismatch: tensor_a dtype " + dtype_to_string(a.dtype()) + " vs tensor_b dtype " +
                  dtype_to_string(b.dtype()));
    if (!is_fp32(a)) op.refuse(std::string("Only FP32 tensors are supported for ") + what + ".");
    Tensor result = op.make(a.shape(), DType::FP32);
    Operand out(result);
    op.must(function(out.out(), Operand(a), Operand(b)));
    return result;
}

} // namespace face

Tensor DeviceBackend::add(const Tensor &a, const Tensor &b) const
{
    return face::binary({*this, "add"}, tsr_add, "tensor addition", a, b);
}

void DeviceBackend::add(Tensor &result, const Tensor &a, const Tensor &b)
{
    face::binary_into({*this, "add"}, tsr_add, a, b, result);
}

void DeviceBackend::add_into(const Tensor &a, const Tensor &b, Tensor &result) const
{
    face::binary_into({*this, "add_into"}, tsr_add, a, b, result);
}

void DeviceBackend::minus_into(const Tensor &a, const Tensor &b, Tensor &result) const
{
    face::binary_into({*this, "minus_into"}, tsr_sub, a, b, result);
}

Tensor DeviceBackend::mul(const Tensor &a, const Tensor &b) const
{
    return face::binary({*this, "mul"}, tsr_mul, "tensor multiplication", a, b);
}

void DeviceBackend::mul(Tensor &result, const Tensor &a, const Tensor &b)
{
    face::binary_into({*this, "mul"}, tsr_mul, a, b, result);
}

void DeviceBackend::mul_into(const Tensor &a, const Tensor &b, Tensor &result) const
{
    face::binary_into({*this, "mul_into"}, tsr_mul, a, b, result);
}

void DeviceBackend::div_into(const Tensor &a, const Tensor &b, Tensor &result) const
{
    face::binary_into({*this, "div_into"}, tsr_div, a, b, result);
}

/* A tensor and numbers ----------------------------------------------------------------------- */

namespace {

/* What is done with a number or two: x -> y. */
struct Scalar {
    enum What { MUL, ADD, MINUS, FROM, MAC, CLAMP } what;
    float first, second;

    const char *words() const
    {
        switch (what) {
        case MUL: return "scalar multiplication";
        case ADD: return "scalar addition";
        case MAC: return "multiply-add operations";
        case CLAMP: return "clamp operation";
        default: return "scalar subtraction";
        }
    }

    tsr_status run(tsr_tensor **y, const tsr_tensor *x) const
    {
        switch (what) {
        case MUL: return tsr_mul(y, x, TSR_NUMBER(first));
        case ADD: return tsr_add(y, x, TSR_NUMBER(first));
        case MINUS: return tsr_sub(y, x, TSR_NUMBER(first));
        case FROM: return tsr_sub(y, TSR_NUMBER(first), x);
        case MAC: return tsr_fma(y, x, TSR_NUMBER(first), TSR_NUMBER(second));
        default: return tsr_clip(y, x, TSR_NUMBER(first), TSR_NUMBER(second));
        }
    }
};

void check_scalar(const Op &op, const Scalar &s, const Tensor &x, const Tensor *y)
{
    op.check_device(x);
    if (y) op.check_device(*y);
    if (x.is_empty()) op.refuse("Input tensor has no allocated Storage");
    if (y && y->is_empty()) op.refuse("Output tensor has no allocated Storage");
    if (!face::is_fp32(x) || (y && !face::is_fp32(*y)))
        op.refuse(std::string("Only FP32 tensors are supported for ") + s.words() + ".");
    if (y && x.shape() != y->shape())
        op.refuse("Shape mismatch: input shape " + x.shape().to_string() + " != output shape " +
                  y->shape().to_string());
    if (s.what == Scalar::CLAMP && s.first > s.second)
        op.refuse("min_val (" + std::to_string(s.first) + ") cannot be greater than max_val (" +
                  std::to_string(s.second) + ")");
}

Tensor scalar(const Op &op, const Scalar &s, const Tensor &x)
{
    check_scalar(op, s, x, nullptr);
    Tensor y = op.make(x.shape(), DType::FP32);
    Operand out(y);
    op.must(s.run(out.out(), Operand(x)));
    return y;
}

void scalar_inplace(const Op &op, const Scalar &s, Tensor &x)
{
    check_scalar(op, s, x, nullptr);
    Operand out(x);
    op.must(s.run(out.out(), out));
}

void scalar_into(const Op &op, const Scalar &s, const Tensor &x, Tensor &y)
{
    check_scalar(op, s, x, &y);
    Operand out(y);
    op.must(s.run(out.out(), Operand(x)));
}

} // namespace

Tensor DeviceBackend::add(const Tensor &x, float v) const
{
    return scalar({*this, "add"}, {Scalar::ADD, v, 0}, x);
}

void DeviceBackend::add_inplace(Tensor &x, float v) const
{
    scalar_inplace({*this, "add_inplace"}, {Scalar::ADD, v, 0}, x);
}

void DeviceBackend::add_into(const Tensor &x, float v, Tensor &y) const
{
    scalar_into({*this, "add_into"}, {Scalar::ADD, v, 0}, x, y);
}

Tensor DeviceBackend::mul(const Tensor &x, float v) const
{
    return scalar({*this, "mul"}, {Scalar::MUL, v, 0}, x);
}

void DeviceBackend::mul_inplace(Tensor &x, float v) const
{
    scalar_inplace({*this, "mul_inplace"}, {Scalar::MUL, v, 0}, x);
}

void DeviceBackend::mul_into(const Tensor &x, float v, Tensor &y) const
{
    scalar_into({*this, "mul_into"}, {Scalar::MUL, v, 0}, x, y);
}

Tensor DeviceBackend::minus(const Tensor &x, float v) const
{
    return scalar({*this, "minus"}, {Scalar::MINUS, v, 0}, x);
}

void DeviceBackend::minus_inplace(Tensor &x, float v) const
{
    scalar_inplace({*this, "minus_inplace"}, {Scalar::MINUS, v, 0}, x);
}

void DeviceBackend::minus_into(const Tensor &x, float v, Tensor &y) const
{
    scalar_into({*this, "minus_into"}, {Scalar::MINUS, v, 0}, x, y);
}

Tensor DeviceBackend::minus(float v, const Tensor &x) const
{
    return scalar({*this, "minus"}, {Scalar::FROM, v, 0}, x);
}

void DeviceBackend::minus_inplace(float v, Tensor &x) const
{
    scalar_inplace({*this, "minus_inplace"}, {Scalar::FROM, v, 0}, x);
}

void DeviceBackend::minus_into(float v, const Tensor &x, Tensor &y) const
{
    scalar_into({*this, "minus_into"}, {Scalar::FROM, v, 0}, x, y);
}

Tensor DeviceBackend::mac(const Tensor &x, float v, float w) const
{
    return scalar({*this, "mac"}, {Scalar::MAC, v, w}, x);
}

void DeviceBackend::mac_inplace(Tensor &x, float v, float w) const
{
    scalar_inplace({*this, "mac_inplace"}, {Scalar::MAC, v, w}, x);
}

void DeviceBackend::mac_into(const Tensor &x, float v, float w, Tensor &y) const
{
    scalar_into({*this, "mac_into"}, {Scalar::MAC, v, w}, x, y);
}

Tensor DeviceBackend::clamp(const Tensor &x, float low, float high) const
{
    return scalar({*this, "clamp"}, {Scalar::CLAMP, low, high}, x);
}

void DeviceBackend::clamp_inplace(Tensor &x, float low, float high) const
{
    scalar_inplace({*this, "clamp_inplace"}, {Scalar::CLAMP, low, high}, x);
}

void DeviceBackend::clamp_into(const Tensor &x, float low, float high, Tensor &y) const
{
    scalar_into({*this, "clamp_into"}, {Scalar::CLAMP, low, high}, x, y);
}

/* Two tensors, one repeated ------------------------------------------------------------------ */

namespace {

[[noreturn]] void refuse_broadcast(const Op &op, const std::string &words)
{
    throw TRException("[" + std::string(op.kind()) + " Broadcast] " + words);
}

void check_broadcast(const Op &op, const Tensor &t, const char *name)
{
    if (!face::is_fp32(t))
        refuse_broadcast(op, std::string("Currently only supports FP32 tensor operations, ") + name +
                                 " data type is: " + dtype_to_string(t.dtype()));
    if (TensorAccess::device(t).index != DeviceAccess::cuda(op.backend))
        refuse_broadcast(op, std::string("Device must be ") + op.kind() + ", " + name +
                                 " device is: " + TensorAccess::device(t).to_string());
}

void check_not_empty(const Op &op, const Tensor &t, const char *name)
{
    if (t.is_empty()) refuse_broadcast(op, std::string(name) + " is an empty tensor");
}

/* One of the two shapes; ranks must be the same unless one is a scalar's. */
Shape broadcast_shape(const Op &op, const Shape &a, const Shape &b)
{
    const std::string both = a.to_string() + " and " + b.to_string();
    if (a == b) return a;
    if (a.ndim() != b.ndim() && !a.is_scalar() && !b.is_scalar())
        refuse_broadcast(op, "Tensor shapes do not meet operation requirements: " + both);
    if (a.is_broadcastable_to(b)) return b;
    if (b.is_broadcastable_to(a)) return a;
    refuse_broadcast(op, "Tensor shapes are incompatible and cannot be broadcast: " + both);
}

Tensor broadcast(const Op &op, face::Binary function, const Tensor &a, const Tensor &b)
{
    check_broadcast(op, a, "tensor_a");
    check_broadcast(op, b, "tensor_b");
    if (a.is_empty() && b.is_empty()) return Tensor();
    check_not_empty(op, a, "tensor_a");
    check_not_empty(op, b, "tensor_b");
    Tensor result = op.make(broadcast_shape(op, a.shape(), b.shape()), DType::FP32);
    Operand out(result);
    op.must(function(out.out(), Operand(a), Operand(b)));
    return result;
}

void broadcast_into(const Op &op, face::Binary function, const Tensor &a, const Tensor &b, Tensor &result)
{
    check_broadcast(op, a, "tensor_a");
    check_broadcast(op, b, "tensor_b");
    check_broadcast(op, result, "result");
    if (a.is_empty() && b.is_empty()) return;
    check_not_empty(op, a, "tensor_a");
    check_not_empty(op, b, "tensor_b");
    check_not_empty(op, result, "result");
    const Shape shape = broadcast_shape(op, a.shape(), b.shape());
    if (result.shape() != shape)
        refuse_broadcast(op, "Output tensor shape mismatch, expected: " + shape.to_string() +
                                 ", actual: " + result.shape().to_string());
    Operand out(result);
    op.must(function(out.out(), Operand(a), Operand(b)));
}

} // namespace

Tensor DeviceBackend::add_broadcast(const Tensor &a, const Tensor &b) const
{
    return broadcast({*this, "add_broadcast"}, tsr_add, a, b);
}

void DeviceBackend::add_broadcast_into(const Tensor &a, const Tensor &b, Tensor &result) const
{
    broadcast_into({*this, "add_broadcast_into"}, tsr_add, a, b, result);
}

Tensor DeviceBackend::minus_broadcast(const Tensor &a, const Tensor &b) const
{
    return broadcast({*this, "minus_broadcast"}, tsr_sub, a, b);
}

void DeviceBackend::minus_broadcast_into(const Tensor &a, const Tensor &b, Tensor &result) const
{
    broadcast_into({*this, "minus_broadcast_into"}, tsr_sub, a, b, result);
}

Tensor DeviceBackend::mul_broadcast(const Tensor &a, const Tensor &b) const
{
    return broadcast({*this, "mul_broadcast"}, tsr_mul, a, b);
}

void DeviceBackend::mul_broadcast_into(const Tensor &a, const Tensor &b, Tensor &result) const
{
    broadcast_into({*this, "mul_broadcast_into"}, tsr_mul, a, b, result);
}

} // namespace tr
