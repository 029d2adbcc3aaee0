/* cpu_elements.cpp - the CPU's backend: making, casting, comparing, and ops on elements. */
#include <cstring>

#include "bridge.hpp"
#include "elementwise.hpp"
#include "random.hpp"

namespace tr {

using face::Op;
using face::Operand;
using face::Temporary;

CpuBackend::CpuBackend() : DeviceBackend("CpuBackend", -1, TSR_CPU)
{
    Logger::get_instance().info("CPU backend initialized");
}

CpuBackend::~CpuBackend() = default;

/* Making ------------------------------------------------------------------------------------- */

namespace {

void check_fillable(const char *where, const Tensor &t)
{
    const std::string prefix = std::string(where) + ": ";
    if (t.is_empty()) throw TRException(prefix + "Cannot operate on empty tensor");
    if (!TensorAccess::device(t).is_cpu()) throw TRException(prefix + "Device must be CPU");
}

void check_random(const char *where, const Tensor &t)
{
    if (!face::is_fp32(t))
        throw TRException(std::string(where) + ": This function can only be used for FP32 tensors");
    check_fillable(where, t);
}

void check_integers(const char *where, int low, int high, DType dtype)
{
    const std::string prefix = std::string(where) + ": ";
    if (low >= high) throw TRException(prefix + "low must be less than high");
    if (face::dtype_of(dtype) == TSR_DTYPE_INVALID)
        throw TRException(prefix + "only supports FP32, INT8, and INT32 data types");
    if (dtype == DType::INT8 && (low < -128 || high > 127))
        throw TRException(prefix + "INT8 range must be within [-128, 127]");
}

} // namespace

Tensor CpuBackend::null_tensor() { return Tensor(); }

Tensor CpuBackend::full(const Shape &shape, float value, DType dtype)
{
    if (dtype != DType::FP32) throw TRException("full: only FP32 tensors are supported");
    Tensor t = empty(shape, dtype);
    fill(t, value);
    return t;
}

void CpuBackend::full_inplace(Tensor &tensor_a, float value)
{
    if (!face::is_fp32(tensor_a)) throw TRException("full_inplace: only FP32 tensors are supported");
    check_fillable("full_inplace", tensor_a);
    if (tsr_fill(Operand(tensor_a), TSR_SCALAR(value)) != TSR_OK) throw TRException(tsr_last_error());
}

void CpuBackend::randn_inplace(Tensor &tensor_a, unsigned int seed)
{
    check_random("randn_inplace", tensor_a);
    face::draw_normal(tensor_a, seed);
}

void CpuBackend::uniform_inplace(Tensor &tensor_a, float min_val, float max_val, unsigned int seed)
{
    check_random("uniform_inplace", tensor_a);
    face::draw_uniform(tensor_a, min_val, max_val, seed);
}

Tensor CpuBackend::randint(const Shape &shape, int low, int high, DType dtype, unsigned int seed)
{
    check_integers("randint", low, high, dtype);
    Tensor t = empty(shape, dtype);
    face::draw_integers(t, low, high, seed);
    return t;
}

void CpuBackend::randint_inplace(Tensor &tensor_a, int low, int high, DType dtype, unsigned int seed)
{
    check_integers("randint_inplace", low, high, dtype);
    if (tensor_a.dtype() != dtype)
        throw TRException("randint_inplace: tensor dtype must match input dtype parameter");
    check_fillable("randint_inplace", tensor_a);
    face::draw_integers(tensor_a, low, high, seed);
}

Tensor CpuBackend::randint(const Shape &shape, int low, int high, unsigned int seed, DType dtype)
{
    return randint(shape, low, high, dtype, seed);
}

void CpuBackend::randint_inplace(Tensor &tensor_a, int low, int high, unsigned int seed)
{
    randint_inplace(tensor_a, low, high, tensor_a.dtype(), seed);
}

/* Casting ------------------------------------------------------------------------------------ */

namespace {

/* What INT8 cannot hold becomes its nearest end, from floats and from integers. */
tsr_status op_cast(tsr_tensor *out, const tsr_tensor *x)
{
    Temporary held;
    if (x->dtype != TSR_I32 || out->dtype != TSR_I8) return tsr_copy(out, x);
    TSR_TRY(tsr_clip(held.out(), x, TSR_NUMBER(-128), TSR_NUMBER(127)));
    return tsr_copy(out, held);
}

void check_cast(const Op &op, const Tensor &t, DType target)
{
    if (t.is_empty()) op.refuse("Input tensor cannot be empty");
    op.check_device(t);
    if (t.dtype() == target) op.refuse("Input tensor already has the target dtype");
    if (face::dtype_of(target) == TSR_DTYPE_INVALID) op.refuse("Target dtype must be FP32, INT8, or INT32");
}

} // namespace

Tensor CpuBackend::cast(const Tensor &tensor_a, DType target_dtype)
{
    const Op op{*this, "cast"};
    check_cast(op, tensor_a, target_dtype);
    Tensor result = empty(tensor_a.shape(), target_dtype);
    op.must(op_cast(Operand(result), Operand(tensor_a)));
    return result;
}

void CpuBackend::cast_inplace(Tensor &tensor_a, DType target_dtype)
{
    const Op op{*this, "cast_inplace"};
    check_cast(op, tensor_a, target_dtype);
    if (tensor_a.dtype() == DType::INT8) op.refuse("Input tensor dtype must be FP32 or INT32");
    if (target_dtype == DType::INT8) op.refuse("Target dtype must be FP32 or INT32");
    tensor_a = cast(tensor_a, target_dtype);
}

void CpuBackend::cast_into(const Tensor &tensor_a, DType target_dtype, Tensor &result)
{
    const Op op{*this, "cast_into"};
    check_cast(op, tensor_a, target_dtype);
    if (result.is_empty()) op.refuse("Result tensor cannot be empty");
    if (result.dtype() != target_dtype) op.refuse("Result tensor dtype must match target_dtype");
    if (tensor_a.shape() != result.shape()) op.refuse("Input and result tensors must have the same shape");
    if (!TensorAccess::device(result).is_cpu())
        op.refuse("Input and result tensors must be on the same device");
    op.must(op_cast(Operand(result), Operand(tensor_a)));
}

/* Single elements ---------------------------------------------------------------------------- */

namespace {

template <typename T>
T &item_of(const char *where, const Tensor &t, DType dtype, const char *name, int64_t index)
{
    const std::string prefix = std::string(where) + ": ";
    if (!TensorAccess::device(t).is_cpu()) throw TRException(prefix + "tensor must be on CPU device");
    if (t.is_empty()) throw TRException(prefix + "tensor storage not allocated");
    if (t.dtype() != dtype)
        throw TRException(prefix + "tensor dtype must be " + name + ", got " + dtype_to_string(t.dtype()));
    if (index < 0 || index >= t.numel())
        throw TRException(prefix + "element index " + std::to_string(index) + " out of range [0, " +
                          std::to_string(t.numel()) + ")");
    return static_cast<T *>(TensorAccess::address(t))[index];
}

} // namespace

float CpuBackend::get_item_fp32(const Tensor &t, int64_t i)
{
    return item_of<float>("get_item_fp32", t, DType::FP32, "FP32", i);
}

void CpuBackend::set_item_fp32(Tensor &t, int64_t i, float value)
{
    item_of<float>("set_item_fp32", t, DType::FP32, "FP32", i) = value;
}

int8_t CpuBackend::get_item_int8(const Tensor &t, int64_t i)
{
    return item_of<int8_t>("get_item_int8", t, DType::INT8, "INT8", i);
}

void CpuBackend::set_item_int8(Tensor &t, int64_t i, int8_t value)
{
    item_of<int8_t>("set_item_int8", t, DType::INT8, "INT8", i) = value;
}

int32_t CpuBackend::get_item_int32(const Tensor &t, int64_t i)
{
    return item_of<int32_t>("get_item_int32", t, DType::INT32, "INT32", i);
}

void CpuBackend::set_item_int32(Tensor &t, int64_t i, int32_t value)
{
    item_of<int32_t>("set_item_int32", t, DType::INT32, "INT32", i) = value;
}

/* Comparing ---------------------------------------------------------------------------------- */

namespace {

void check_floats(const Op &op, const Tensor &a, const Tensor &b)
{
    op.check_device(a);
    op.check_device(b);
    if (!face::is_fp32(a) || !face::is_fp32(b)) op.refuse("Only FP32 tensors are supported");
}

/* True if there is nothing to measure. */
bool check_error(const Op &op, const Tensor &a, const Tensor &b)
{
    check_floats(op, a, b);
    if (a.shape() != b.shape()) op.refuse("Tensor shapes must be identical");
    if (a.is_empty() && b.is_empty()) return true;
    if (a.is_empty() || b.is_empty()) op.refuse("Cannot compute error with empty tensor");
    return false;
}

float mean_distance(const Op &op, const Tensor &a, const Tensor &b)
{
    face::Number mean;
    op.must(tsr_l1_loss(mean.out(), Operand(a), Operand(b), TSR_REDUCTION_MEAN));
    return mean.value();
}

float mean_size(const Op &op, const Tensor &a)
{
    face::Number sum;
    op.must(tsr_norm(sum.out(), Operand(a), 0, nullptr, false, 1.0));
    return sum.value() / static_cast<float>(a.numel());
}

} // namespace

bool CpuBackend::is_close(const Tensor &a, const Tensor &b, float eps) const
{
    const Op op{*this, "is_close"};
    check_floats(op, a, b);
    if (a.shape() != b.shape()) return false;
    if (a.is_empty() || b.is_empty()) return a.is_empty() && b.is_empty();
    return mean_distance(op, a, b) <= eps;
}

double CpuBackend::get_mean_abs_err(const Tensor &a, const Tensor &b) const
{
    const Op op{*this, "get_mean_abs_err"};
    return check_error(op, a, b) ? 0.0 : double{mean_distance(op, a, b)};
}

double CpuBackend::get_mean_rel_err(const Tensor &a, const Tensor &b) const
{
    const Op op{*this, "get_mean_rel_err"};
    if (check_error(op, a, b)) return 0.0;
    const double size = mean_size(op, a);
    return size < std::numeric_limits<double>::epsilon() ? 0.0 : mean_distance(op, a, b) / size;
}

void CpuBackend::eq_into(const Tensor &a, const Tensor &b, Tensor &result) const
{
    const Op op{*this, "eq_into"};
    Temporary same;
    op.check_device(a);
    op.check_device(b);
    op.check_device(result);
    if (a.dtype() != DType::INT32 || b.dtype() != DType::INT32 || result.dtype() != DType::INT32)
        throw TypeError("[CpuBackend::eq_into] All tensors must be INT32 type");
    if (a.shape() != b.shape() || a.shape() != result.shape())
        throw ShapeError("[CpuBackend::eq_into] All tensors must have the same shape");
    if (a.is_empty() && b.is_empty() && result.is_empty()) return;
    if (a.is_empty() || b.is_empty() || result.is_empty())
        throw ShapeError("[CpuBackend::eq_into] Inconsistent empty tensor status");
    op.must(tsr_eq(same.out(), Operand(a), Operand(b)));
    op.must(tsr_copy(Operand(result), same));
}

Tensor CpuBackend::eq(const Tensor &a, const Tensor &b) const
{
    const Op op{*this, "eq"};
    op.check_device(a);
    op.check_device(b);
    if (a.dtype() != DType::INT32 || b.dtype() != DType::INT32)
        throw TypeError("[CpuBackend::eq] All tensors must be INT32 type");
    if (a.shape() != b.shape()) throw ShapeError("[CpuBackend::eq] All tensors must have the same shape");
    if (a.is_empty() && b.is_empty()) return null_tensor();
    if (a.is_empty() || b.is_empty()) throw ShapeError("[CpuBackend::eq] Inconsistent empty tensor status");
    Tensor result = empty(a.shape(), DType::INT32);
    eq_into(a, b, result);
    return result;
}

bool CpuBackend::equal(const Tensor &a, const Tensor &b) const
{
    const Op op{*this, "equal"};
    bool same = false;
    op.check_device(a);
    op.check_device(b);
    if (face::is_fp32(a) || face::is_fp32(b))
        throw TypeError("[CpuBackend::equal] All tensors must be INT32 or INT8 type");
    if (a.dtype() != b.dtype()) throw TypeError("[CpuBackend::equal] Tensors must have the same data type");
    if (a.shape() != b.shape()) return false;
    if (a.is_empty() || b.is_empty()) return a.is_empty() && b.is_empty();
    op.must(tsr_equal(&same, Operand(a), Operand(b)));
    return same;
}

/* Ops on elements ---------------------------------------------------------------------------- */

Tensor CpuBackend::div(const Tensor &a, const Tensor &b) const
{
    return face::binary({*this, "div"}, tsr_div, "tensor division", a, b);
}

namespace {

void set_all(const Op &op, Tensor &t, int value)
{
    op.check_device(t);
    if (t.is_empty()) op.refuse("Target tensor has no allocated Storage");
    op.must(tsr_fill(Operand(t), TSR_SCALAR(value)));
}

void set_all_like(const Op &op, const Tensor &input, Tensor &output, int value)
{
    op.check_device(input);
    op.check_device(output);
    if (input.shape() != output.shape())
        op.refuse("Shape mismatch: input shape " + input.shape().to_string() + " != output shape " +
                  output.shape().to_string());
    if (input.dtype() != output.dtype())
        op.refuse("Dtype mismatch: input dtype " + std::to_string(static_cast<int>(input.dtype())) +
                  " != output dtype " + std::to_string(static_cast<int>(output.dtype())));
    set_all(op, output, value);
}

void refuse_zero(const Op &op, const Tensor &x)
{
    const float least = 1e-10f;
    const float *data = x.data_ptr<float>();
    for (int64_t i = 0; i < x.numel(); ++i)
        if (std::fabs(data[i]) < least) op.refuse("Division by zero encountered: " + std::to_string(data[i]));
}

} // namespace

Tensor CpuBackend::ones_like(const Tensor &input) const
{
    const Op op{*this, "ones_like"};
    op.check_device(input);
    Tensor t = op.make(input.shape(), input.dtype());
    set_all(op, t, 1);
    return t;
}

void CpuBackend::zeros_inplace(Tensor &x) const { set_all({*this, "zeros_inplace"}, x, 0); }
void CpuBackend::ones_inplace(Tensor &x) const { set_all({*this, "ones_inplace"}, x, 1); }
void CpuBackend::zeros_into(const Tensor &x, Tensor &y) const
{
    set_all_like({*this, "zeros_into"}, x, y, 0);
}
void CpuBackend::ones_into(const Tensor &x, Tensor &y) const { set_all_like({*this, "ones_into"}, x, y, 1); }

Tensor CpuBackend::relu(const Tensor &x) const { return face::unary({*this, "relu"}, tsr_relu, x); }
void CpuBackend::relu_inplace(Tensor &x) const { face::unary_inplace({*this, "relu_inplace"}, tsr_relu, x); }

void CpuBackend::relu_into(const Tensor &x, Tensor &y) const
{
    face::unary_into({*this, "relu_into"}, tsr_relu, x, y);
}

Tensor CpuBackend::sign(const Tensor &x) const { return face::unary({*this, "sign"}, tsr_sign, x); }
void CpuBackend::sign_inplace(Tensor &x) const { face::unary_inplace({*this, "sign_inplace"}, tsr_sign, x); }

void CpuBackend::sign_into(const Tensor &x, Tensor &y) const
{
    face::unary_into({*this, "sign_into"}, tsr_sign, x, y);
}

Tensor CpuBackend::abs(const Tensor &x) const { return face::unary({*this, "abs"}, tsr_abs, x); }
void CpuBackend::abs_inplace(Tensor &x) const { face::unary_inplace({*this, "abs_inplace"}, tsr_abs, x); }
void CpuBackend::abs_into(const Tensor &x, Tensor &y) const
{
    face::unary_into({*this, "abs_into"}, tsr_abs, x, y);
}

Tensor CpuBackend::negative(const Tensor &x) const { return face::unary({*this, "negative"}, tsr_neg, x); }
void CpuBackend::negative_inplace(Tensor &x) const
{
    face::unary_inplace({*this, "negative_inplace"}, tsr_neg, x);
}

void CpuBackend::negative_into(const Tensor &x, Tensor &y) const
{
    face::unary_into({*this, "negative_into"}, tsr_neg, x, y);
}

Tensor CpuBackend::reciprocal(const Tensor &x) const
{
    return face::unary({*this, "reciprocal"}, tsr_reciprocal, x, refuse_zero);
}

void CpuBackend::reciprocal_inplace(Tensor &x) const
{
    face::unary_inplace({*this, "reciprocal_inplace"}, tsr_reciprocal, x, refuse_zero);
}

void CpuBackend::reciprocal_into(const Tensor &x, Tensor &y) const
{
    face::unary_into({*this, "reciprocal_into"}, tsr_reciprocal, x, y, refuse_zero);
}

Tensor CpuBackend::round(const Tensor &x) const { return face::unary({*this, "round"}, tsr_round, x); }
void CpuBackend::round_inplace(Tensor &x) const
{
    face::unary_inplace({*this, "round_inplace"}, tsr_round, x);
}

void CpuBackend::round_into(const Tensor &x, Tensor &y) const
{
    face::unary_into({*this, "round_into"}, tsr_round, x, y);
}

void CpuBackend::transpose_inplace(Tensor &input) const { input = transpose(input); }

/* Losses of elements ------------------------------------------------------------------------- */

namespace {

/* -goal * log(p) - (1 - goal) * log(1 - p), p being held to 1e-8 .. 1. */
tsr_status op_bce(tsr_tensor **out, const tsr_tensor *goal, const tsr_tensor *pred)
{
    Temporary held, other, logs, weights;
    TSR_TRY(tsr_clip(held.out(), pred, TSR_NUMBER(1e-8f), TSR_NUMBER(1.0f - 1e-8f)));
    TSR_TRY(tsr_sub(other.out(), TSR_NUMBER(1), held));
    TSR_TRY(tsr_log(other.out(), other));
    TSR_TRY(tsr_sub(weights.out(), TSR_NUMBER(1), goal));
    TSR_TRY(tsr_mul(other.out(), other, weights));
    TSR_TRY(tsr_log(logs.out(), held));
    TSR_TRY(tsr_mul(logs.out(), logs, goal));
    TSR_TRY(tsr_add(out, logs, other));
    return tsr_neg(out, *out);
}

void check_bce(const Op &op, const Tensor &goal, const Tensor &pred, const Tensor *result)
{
    op.check_device(goal);
    op.check_device(pred);
    if (result) op.check_device(*result);
    if (goal.is_empty()) op.refuse("Goal tensor has no allocated Storage");
    if (pred.is_empty()) op.refuse("Prediction tensor has no allocated Storage");
    if (result && result->is_empty()) op.refuse("Result tensor has no allocated Storage");
    if (!face::is_fp32(goal) || !face::is_fp32(pred) || (result && !face::is_fp32(*result)))
        op.refuse("Only FP32 tensors are supported for binary cross entropy.");
    if (goal.shape() != pred.shape())
        op.refuse("Shape mismatch: goal shape " + goal.shape().to_string() + " != pred shape " +
                  pred.shape().to_string());
    if (result && goal.shape() != result->shape())
        op.refuse("Shape mismatch: goal shape " + goal.shape().to_string() + " != result shape " +
                  result->shape().to_string());
}

} // namespace

Tensor CpuBackend::bce(const Tensor &goal, const Tensor &pred) const
{
    const Op op{*this, "bce"};
    check_bce(op, goal, pred, nullptr);
    Tensor result = op.make(goal.shape(), DType::FP32);
    Operand out(result);
    op.must(op_bce(out.out(), Operand(goal), Operand(pred)));
    return result;
}

void CpuBackend::bce_into(const Tensor &goal, const Tensor &pred, Tensor &result) const
{
    const Op op{*this, "bce_into"};
    check_bce(op, goal, pred, &result);
    Operand out(result);
    op.must(op_bce(out.out(), Operand(goal), Operand(pred)));
}

float CpuBackend::mse(const Tensor &pred, const Tensor &target, std::string reduction)
{
    const Op op{*this, "mse"};
    const bool by_rows = reduction == "sum";
    face::Number loss;
    op.check_device(pred);
    op.check_device(target);
    if (!face::is_fp32(pred) || !face::is_fp32(target))
        throw TypeError("mse function requires FP32 input tensors");
    if (pred.ndim() != 2 || target.ndim() != 2)
        throw ShapeError("mse function requires 2D input tensors, got " + std::to_string(pred.ndim()) +
                         "D and " + std::to_string(target.ndim()) + "D tensors");
    if (pred.shape() != target.shape())
        throw ShapeError("Prediction tensor shape " + pred.shape().to_string() +
                         " doesn't match target tensor shape " + target.shape().to_string());
    if (pred.is_empty() || target.is_empty()) op.refuse("Input tensor has no allocated Storage");
    op.must(tsr_mse_loss(loss.out(), Operand(pred), Operand(target),
                         by_rows ? TSR_REDUCTION_SUM : TSR_REDUCTION_MEAN));
    return by_rows ? loss.value() / static_cast<float>(pred.dim_size(0)) : loss.value();
}

} // namespace tr
