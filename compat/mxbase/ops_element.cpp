/* ops_element.cpp - ops on each element. */
#include "MxBase/E2eInfer/TensorOperation/MatricesOperation/PerElementOperations.h"

#include <algorithm>

#include "ops.hpp"

namespace mxface {

namespace {

bool takes(Types types, TensorDType type)
{
    const bool byte = type == TensorDType::UINT8, f32 = type == TensorDType::FLOAT32;
    const bool floats = f32 || type == TensorDType::FLOAT16;
    switch (types) {
    case Types::IMAGES: return byte || floats;
    case Types::BYTES: return byte;
    case Types::FLOATS: return floats;
    case Types::BYTES_OR_F32: return byte || f32;
    default: return type != TensorDType::UNDEFINED;
    }
}

bool is_usable(const MxBase::TensorBase *base)
{
    return base && TensorParts::Buffer(*base)->storage && is_on_device(TensorParts::Buffer(*base)->type);
}

bool same_region(const Tensor &a, const Tensor &b)
{
    const MxBase::Rect &x = TensorParts::Dptr(a)->refer, &y = TensorParts::Dptr(b)->refer;
    return x.x1 - x.x0 == y.x1 - y.x0 && x.y1 - x.y0 == y.y1 - y.y0;
}

} // namespace

APP_ERROR refuse_param(const Rules &rules, const char *words)
{
    LogError << rules.name << ": " << words << GetErrorInfo(APP_ERR_COMM_INVALID_PARAM);
    return APP_ERR_COMM_INVALID_PARAM;
}

APP_ERROR not_here(const char *name)
{
    LogError << name << ": there is no such op here." << GetErrorInfo(APP_ERR_COMM_UNREALIZED);
    return APP_ERR_COMM_UNREALIZED;
}

APP_ERROR check_sources(const Rules &rules, const Tensor *const *srcs, size_t count,
                        const AscendStream &stream)
{
    const MxBase::TensorBase *first = count > 0 ? TensorParts::Base(*srcs[0]) : nullptr;
    if (!is_usable(first)) return refuse_param(rules, "an input is empty, or on the host.");
    const std::vector<uint32_t> &dims = TensorParts::Shape(*first)->dims;
    const TensorDType type = TensorParts::Type(*first);
    const int32_t device = TensorParts::Buffer(*first)->deviceId;
    const bool first_region = has_region(*srcs[0]);
    if (dims.empty() || dims.size() > 4) return refuse_param(rules, "an input has not 1 to 4 dims.");
    if (device != TensorParts::Device(stream)) return refuse_param(rules, "the stream is another device's.");
    for (size_t i = 0; i < count; i++) {
        const MxBase::TensorBase *base = TensorParts::Base(*srcs[i]);
        if (!is_usable(base)) return refuse_param(rules, "an input is empty, or on the host.");
        const std::vector<uint32_t> &shape = TensorParts::Shape(*base)->dims;
        const TensorDType its = TensorParts::Type(*base);
        const bool region = has_region(*srcs[i]);
        if (!takes(rules.types, its)) return refuse_param(rules, "an input's type is not taken.");
        if (TensorParts::Buffer(*base)->deviceId != device) return refuse_param(rules, "the devices differ.");
        if (rules.same_type && its != type) return refuse_param(rules, "the inputs' types differ.");
        if (shape.size() != dims.size()) return refuse_param(rules, "the inputs' ranks differ.");
        if (region && !rules.regions) return refuse_param(rules, "regions are not taken.");
        if (rules.same_shape && !region && !first_region && shape != dims)
            return refuse_param(rules, "the inputs' shapes differ.");
        if (rules.regions && i > 0 && !same_region(*srcs[0], *srcs[i]))
            return refuse_param(rules, "the regions differ.");
    }
    return APP_ERR_OK;
}

APP_ERROR make_ready(const Rules &rules, Tensor &dst, const std::vector<uint32_t> &shape, TensorDType type,
                     int32_t device)
{
    const MxBase::TensorBase *base = TensorParts::Base(dst);
    if (!base || !TensorParts::Buffer(*base)->storage) {
        Tensor made;
        const APP_ERROR ret = TensorParts::Renew(made, shape, static_cast<MxBase::TensorDataType>(type),
                                                 MemoryData::MEMORY_DEVICE, device);
        if (ret == APP_ERR_OK) dst = made;
        return ret;
    }
    const std::vector<uint32_t> &dims = TensorParts::Shape(*base)->dims;
    if (TensorParts::Buffer(*base)->deviceId != device || !is_usable(base))
        return refuse_param(rules, "dst is on another device.");
    if (TensorParts::Type(*base) != type) return refuse_param(rules, "dst has another type.");
    if (has_region(dst) ? !rules.regions || dims.size() != shape.size() : dims != shape)
        return refuse_param(rules, "dst has another shape.");
    return APP_ERR_OK;
}

tsr_status look_along(Placed *out, const tsr_tensor *t, int axis, int64_t first, int64_t length)
{
    tsr_tensor *view = out->Use();
    return tsr_slice(&view, t, axis, first, first + length, 1);
}

} // namespace mxface

namespace MxBase {

using namespace mxface;
using In = const tsr_tensor *;
using Out = tsr_tensor **;

namespace {

/* The larger of two types in the order UINT8, FLOAT16, FLOAT32. */
TensorDType larger(const Tensor &a, const Tensor &b)
{
    const auto rank = [](TensorDType t) {
        return t == TensorDType::UINT8 ? 0 : t == TensorDType::FLOAT16 ? 1 : 2;
    };
    return rank(a.GetDataType()) > rank(b.GetDataType()) ? a.GetDataType() : b.GetDataType();
}

using Unary = tsr_status (*)(Out, In);
using Binary = tsr_status (*)(Out, In, In);

APP_ERROR unary(const Rules &rules, const Tensor &src, Tensor &dst, AscendStream &stream, Unary op)
{
    return run(rules, { &src }, dst, src.GetDataType(), stream,
               [op](Out out, In x, In) { return op(out, x); });
}

APP_ERROR binary(const Rules &rules, const Tensor &a, const Tensor &b, Tensor &dst, AscendStream &stream,
                 Binary op)
{
    return run(rules, { &a, &b }, dst, a.GetDataType(), stream, op);
}

/* a * alpha + gamma in f32. */
tsr_status scaled(Held *out, In a, double alpha, double gamma)
{
    TSR_TRY(tsr_cast(&out->t, a, TSR_F32));
    TSR_TRY(tsr_mul(&out->t, out->t, TSR_NUMBER(alpha)));
    return gamma == 0 ? TSR_OK : tsr_add(&out->t, out->t, TSR_NUMBER(gamma));
}

/* Products of bytes are held to 255. */
tsr_status multiply_bytes(Out out, In x, In y)
{
    Held wide[2];
    TSR_TRY(tsr_cast(&wide[0].t, x, TSR_I32));
    TSR_TRY(tsr_cast(&wide[1].t, y, TSR_I32));
    TSR_TRY(tsr_mul(&wide[0].t, wide[0].t, wide[1].t));
    TSR_TRY(tsr_minimum(&wide[0].t, wide[0].t, TSR_NUMBER(255)));
    return tsr_copy(*out, wide[0].t);
}

/* One number where a condition holds, and another where it does not. */
tsr_status choose(Out out, In mask, double yes, double no)
{
    Held f;
    TSR_TRY(tsr_cast(&f.t, mask, TSR_F32));
    TSR_TRY(tsr_mul(&f.t, f.t, TSR_NUMBER(yes - no)));
    TSR_TRY(tsr_add(&f.t, f.t, TSR_NUMBER(no)));
    return tsr_copy(*out, f.t);
}

APP_ERROR weigh(const char *name, const Tensor &a, double alpha, const Tensor &b, double beta, double gamma,
                Tensor &dst, AscendStream &stream)
{
    const Rules rules = { name };
    return run(rules, { &a, &b }, dst, a.GetDataType(), stream, [=](Out out, In x, In y) {
        Held u, v;
        TSR_TRY(scaled(&u, x, alpha, gamma));
        TSR_TRY(scaled(&v, y, beta, 0));
        TSR_TRY(tsr_add(&u.t, u.t, v.t));
        return tsr_copy(*out, u.t);
    });
}

/* A quotient in 16 bits, which is what the system cuts to bytes. */
tsr_status divide(Out out, In x, In y)
{
    TSR_TRY(tsr_div(out, x, y));
    Held half;
    TSR_TRY(tsr_cast(&half.t, *out, TSR_F16));
    return tsr_copy(*out, half.t);
}

/* op in f32, times the scale. */
APP_ERROR mixed(const char *name, const Tensor &a, const Tensor &b, Tensor &dst, double scale,
                AscendStream &stream, Binary op)
{
    Rules rules = { name };
    rules.same_type = false;
    return run(rules, { &a, &b }, dst, larger(a, b), stream, [=](Out out, In x, In y) {
        Held u, v;
        TSR_TRY(scaled(&u, x, scale, 0));
        TSR_TRY(tsr_cast(&v.t, y, TSR_F32));
        TSR_TRY((op == tsr_div && (*out)->dtype == TSR_U8 ? divide : op)(&u.t, u.t, v.t));
        return tsr_copy(*out, u.t);
    });
}

} // namespace

APP_ERROR Add(const Tensor &src1, const Tensor &src2, Tensor &dst, AscendStream &stream)
{
    Rules rules = { "Add" };
    rules.regions = true;
    return binary(rules, src1, src2, dst, stream, tsr_add);
}

APP_ERROR Subtract(const Tensor &src1, const Tensor &src2, Tensor &dst, AscendStream &stream)
{
    return binary({ "Subtract" }, src1, src2, dst, stream, tsr_sub);
}

APP_ERROR Multiply(const Tensor &src1, const Tensor &src2, Tensor &dst, AscendStream &stream)
{
    const bool bytes = !src1.IsEmpty() && src1.GetDataType() == TensorDType::UINT8;
    return binary({ "Multiply" }, src1, src2, dst, stream, bytes ? multiply_bytes : tsr_mul);
}

APP_ERROR Multiply(const Tensor &src1, const Tensor &src2, Tensor &dst, double scale, AscendStream &stream)
{
    return mixed("Multiply", src1, src2, dst, scale, stream, tsr_mul);
}

APP_ERROR Divide(const Tensor &src1, const Tensor &src2, Tensor &dst, AscendStream &stream)
{
    return mixed("Divide", src1, src2, dst, 1, stream, tsr_div);
}

APP_ERROR Divide(const Tensor &src1, const Tensor &src2, Tensor &dst, float scale, AscendStream &stream)
{
    return mixed("Divide", src1, src2, dst, scale, stream, tsr_div);
}

APP_ERROR BitwiseAnd(const Tensor &src1, const Tensor &src2, Tensor &dst, AscendStream &stream)
{
    return binary({ "BitwiseAnd", Types::BYTES }, src1, src2, dst, stream, tsr_bitwise_and);
}

APP_ERROR BitwiseOr(const Tensor &src1, const Tensor &src2, Tensor &dst, AscendStream &stream)
{
    return binary({ "BitwiseOr", Types::BYTES }, src1, src2, dst, stream, tsr_bitwise_or);
}

APP_ERROR BitwiseXor(const Tensor &src1, const Tensor &src2, Tensor &dst, AscendStream &stream)
{
    return binary({ "BitwiseXor", Types::BYTES }, src1, src2, dst, stream, tsr_bitwise_xor);
}

APP_ERROR BitwiseNot(const Tensor &src, Tensor &dst, AscendStream &stream)
{
    return unary({ "BitwiseNot", Types::BYTES }, src, dst, stream, tsr_bitwise_not);
}

APP_ERROR Pow(const Tensor &src1, const Tensor &src2, Tensor &dst, AscendStream &stream)
{
    return binary({ "Pow" }, src1, src2, dst, stream, tsr_pow);
}

APP_ERROR Sqr(const Tensor &src, Tensor &dst, AscendStream &stream)
{
    return unary({ "Sqr" }, src, dst, stream, tsr_square);
}

APP_ERROR Sqrt(const Tensor &src, Tensor &dst, AscendStream &stream)
{
    return unary({ "Sqrt", Types::FLOATS }, src, dst, stream, tsr_sqrt);
}

APP_ERROR Exp(const Tensor &src, Tensor &dst, AscendStream &stream)
{
    return unary({ "Exp", Types::FLOATS }, src, dst, stream, tsr_exp);
}

APP_ERROR Log(const Tensor &src, Tensor &dst, AscendStream &stream)
{
    return unary({ "Log", Types::FLOATS }, src, dst, stream, tsr_log);
}

APP_ERROR ThresholdBinary(const Tensor &src, Tensor &dst, float thresh, float maxVal, AscendStream &stream)
{
    return Threshold(src, dst, thresh, maxVal, ThresholdType::THRESHOLD_BINARY, stream);
}

APP_ERROR Threshold(const Tensor &src, Tensor &dst, float thresh, float maxVal,
                    const ThresholdType &thresholdType, AscendStream &stream)
{
    const Rules rules = { "Threshold" };
    const bool inverse = thresholdType == ThresholdType::THRESHOLD_BINARY_INV;
    if (!inverse && thresholdType != ThresholdType::THRESHOLD_BINARY)
        return refuse_param(rules, "there is no such type of threshold.");
    return run(rules, { &src }, dst, src.GetDataType(), stream, [=](Out out, In x, In) {
        Held f, mask;
        TSR_TRY(tsr_cast(&f.t, x, TSR_F32));
        TSR_TRY(tsr_gt(&mask.t, f.t, TSR_NUMBER(thresh)));
        return choose(out, mask.t, inverse ? 0 : maxVal, inverse ? maxVal : 0);
    });
}

APP_ERROR AddWeighted(const Tensor &src1, float alpha, const Tensor &src2, float beta, float gamma,
                      Tensor &dst, AscendStream &stream)
{
    return weigh("AddWeighted", src1, alpha, src2, beta, gamma, dst, stream);
}

APP_ERROR AbsDiff(const Tensor &src1, const Tensor &src2, Tensor &dst, AscendStream &stream)
{
    return binary({ "AbsDiff" }, src1, src2, dst, stream, [](Out out, In x, In y) {
        Held high, low;
        TSR_TRY(tsr_maximum(&high.t, x, y));
        TSR_TRY(tsr_minimum(&low.t, x, y));
        return tsr_sub(out, high.t, low.t);
    });
}

APP_ERROR Abs(const Tensor &src, Tensor &dst, AscendStream &stream)
{
    return unary({ "Abs" }, src, dst, stream, tsr_abs);
}

APP_ERROR ScaleAdd(const Tensor &src1, float scale, const Tensor &src2, Tensor &dst, AscendStream &stream)
{
    return weigh("ScaleAdd", src1, scale, src2, 1, 0, dst, stream);
}

APP_ERROR Rescale(const Tensor &src, Tensor &dst, float scale, float bias, AscendStream &stream)
{
    return run({ "Rescale" }, { &src }, dst, src.GetDataType(), stream, [=](Out out, In x, In) {
        Held f;
        TSR_TRY(scaled(&f, x, scale, bias));
        return tsr_copy(*out, f.t);
    });
}

APP_ERROR ConvertTo(const Tensor &src, Tensor &dst, const TensorDType &dataType, AscendStream &stream)
{
    Rules rules = { "ConvertTo", Types::ANY };
    rules.regions = true;
    const Tensor *const srcs[] = { &src };
    tsr_dtype known;
    APP_ERROR ret = check_sources(rules, srcs, 1, stream);
    if (ret != APP_ERR_OK) return ret;
    if (src.GetDataType() == dataType ||
        tsr_dtype_from_number(&known, TSR_NUMBERING_MXBASE, static_cast<int>(dataType)) != TSR_OK)
        return refuse_param(rules, "the type is none, or src's own.");
    if (TensorParts::Dptr(dst) && has_region(dst)) return refuse_param(rules, "dst has a region.");
    std::vector<uint32_t> shape = dims_of(src);
    if (has_region(src)) {
        const auto is_float = [](TensorDType t) {
            return t == TensorDType::FLOAT16 || t == TensorDType::FLOAT32;
        };
        if (!(src.GetDataType() == TensorDType::UINT8 && is_float(dataType)) &&
            !(is_float(src.GetDataType()) && dataType == TensorDType::UINT8))
            return refuse_param(rules, "of a region only UINT8 to floats and back.");
        const Rect r = src.GetReferRect();
        const size_t row = shape.size() == 4 ? 1 : 0;
        shape[row] = r.y1 - r.y0;
        shape[row + 1] = r.x1 - r.x0;
    }
    ret = make_ready(rules, dst, shape, dataType, src.GetDeviceId());
    if (ret != APP_ERR_OK) return ret;
    return hand_over(rules, srcs, 1, dst, stream, [](Out out, In x, In) { return tsr_copy(*out, x); });
}

APP_ERROR Clip(const Tensor &src, Tensor &dst, float minVal, float maxVal, AscendStream &stream)
{
    const Rules rules = { "Clip" };
    if (!(minVal <= maxVal)) return refuse_param(rules, "minVal is more than maxVal.");
    return run(rules, { &src }, dst, src.GetDataType(), stream, [=](Out out, In x, In) {
        Held f;
        TSR_TRY(tsr_cast(&f.t, x, TSR_F32));
        TSR_TRY(tsr_clip(&f.t, f.t, TSR_NUMBER(minVal), TSR_NUMBER(maxVal)));
        return tsr_copy(*out, f.t);
    });
}

APP_ERROR Min(const Tensor &src1, const Tensor &src2, Tensor &dst, AscendStream &stream)
{
    return binary({ "Min" }, src1, src2, dst, stream, tsr_minimum);
}

APP_ERROR Max(const Tensor &src1, const Tensor &src2, Tensor &dst, AscendStream &stream)
{
    return binary({ "Max" }, src1, src2, dst, stream, tsr_maximum);
}

namespace {

bool can_sort(const Tensor &src, int axis)
{
    return !src.IsEmpty() && src.GetShape().size() == 2 && (axis == 0 || axis == 1);
}

} // namespace

APP_ERROR SortIdx(const Tensor &src, Tensor &dstIdx, int axis, bool descending, AscendStream &stream)
{
    const Rules rules = { "SortIdx" };
    if (!can_sort(src, axis)) return refuse_param(rules, "src is no matrix, or the axis not 0 or 1.");
    return run(rules, { &src }, dstIdx, TensorDType::INT32, stream, [=](Out out, In x, In) {
        Held places;
        TSR_TRY(tsr_argsort(&places.t, x, axis, descending));
        return tsr_copy(*out, places.t);
    });
}

APP_ERROR Sort(const Tensor &src, Tensor &dst, int axis, bool descending, AscendStream &stream)
{
    const Rules rules = { "Sort" };
    if (!can_sort(src, axis)) return refuse_param(rules, "src is no matrix, or the axis not 0 or 1.");
    return run(rules, { &src }, dst, src.GetDataType(), stream,
               [=](Out out, In x, In) { return tsr_sort(out, x, axis, descending); });
}

APP_ERROR Compare(const Tensor &src1, const Tensor &src2, Tensor &dst, const CmpOp cmpOp,
                  AscendStream &stream)
{
    static const Binary ops[] = { tsr_eq, tsr_ne, tsr_lt, tsr_gt, tsr_le, tsr_ge };
    const Rules rules = { "Compare" };
    const int number = static_cast<int>(cmpOp);
    if (number < 0 || number > 5) return refuse_param(rules, "there is no such comparison.");
    return run(rules, { &src1, &src2 }, dst, src1.GetDataType(), stream, [=](Out out, In x, In y) {
        Held mask;
        TSR_TRY(ops[number](&mask.t, x, y));
        return choose(out, mask.t, 255, 0);
    });
}

} // namespace MxBase
