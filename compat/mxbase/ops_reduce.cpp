/* ops_reduce.cpp - ops that bring dims together. */
#include "MxBase/E2eInfer/TensorOperation/MatricesOperation/MatrixReductions.h"

#include "ops.hpp"

namespace MxBase {

using namespace mxface;
using In = const tsr_tensor *;
using Out = tsr_tensor **;

namespace {

using Reduction = tsr_status (*)(Out, In, int, const int *, bool);
using Before = tsr_status (*)(Out, In);

/* In f32 along some axes, what `before` makes of each element, if there is such. */
APP_ERROR reduce(const Rules &rules, const Tensor &src, Tensor &dst, const std::vector<uint32_t> &shape,
                 TensorDType type, const std::vector<int> &axes, AscendStream &stream, Reduction op,
                 Before before)
{
    const Tensor *const srcs[] = { &src };
    const APP_ERROR ret = make_ready(rules, dst, shape, type, src.GetDeviceId());
    if (ret != APP_ERR_OK) return ret;
    return hand_over(rules, srcs, 1, dst, stream, [&](Out out, In x, In) {
        Held f, result;
        TSR_TRY(tsr_cast(&f.t, x, TSR_F32));
        if (before) TSR_TRY(before(&f.t, f.t));
        TSR_TRY(op(&result.t, f.t, static_cast<int>(axes.size()), axes.data(), false));
        if ((*out)->dtype == TSR_U8) TSR_TRY(tsr_round(&result.t, result.t));
        return tsr_copy(*out, result.t);
    });
}

APP_ERROR sum_channels(const char *name, const Tensor &src, Tensor &dst, AscendStream &stream, Before before)
{
    const Rules rules = { name, Types::BYTES_OR_F32 };
    const Tensor *const srcs[] = { &src };
    const APP_ERROR ret = check_sources(rules, srcs, 1, stream);
    if (ret != APP_ERR_OK) return ret;
    const std::vector<uint32_t> &dims = dims_of(src);
    if (dims.size() != 3 || dims[0] > 4096 || dims[1] > 4096 || (dims[2] != 1 && dims[2] != 3))
        return refuse_param(rules, "src is no HWC of 1 or 3 channels, at most 4096 high and wide.");
    return reduce(rules, src, dst, { dims[2] }, TensorDType::FLOAT32, { 0, 1 }, stream, tsr_sum, before);
}

} // namespace

APP_ERROR Sum(const Tensor &src, Tensor &dst, AscendStream &stream)
{
    const Rules rules = { "Sum" };
    const Tensor *const srcs[] = { &src };
    const APP_ERROR ret = check_sources(rules, srcs, 1, stream);
    if (ret != APP_ERR_OK) return ret;
    const std::vector<uint32_t> &dims = dims_of(src);
    if (dims.size() < 3 || dims.back() < 1 || dims.back() > 4)
        return refuse_param(rules, "src is no HWC or NHWC of 1 to 4 channels.");
    const bool batches = dims.size() == 4;
    const std::vector<uint32_t> shape =
        batches ? std::vector<uint32_t>{ dims[0], dims[3] } : std::vector<uint32_t>{ dims[2] };
    const std::vector<int> axes = batches ? std::vector<int>{ 1, 2 } : std::vector<int>{ 0, 1 };
    return reduce(rules, src, dst, shape, src.GetDataType(), axes, stream, tsr_sum, nullptr);
}

APP_ERROR Reduce(const Tensor &src, Tensor &dst, const ReduceDim &rDim, const ReduceType &rType,
                 AscendStream &stream)
{
    static const Reduction ops[] = { tsr_sum, tsr_mean, tsr_max, tsr_min };
    const Rules rules = { "Reduce" };
    const Tensor *const srcs[] = { &src };
    const APP_ERROR ret = check_sources(rules, srcs, 1, stream);
    if (ret != APP_ERR_OK) return ret;
    std::vector<uint32_t> shape = dims_of(src);
    const int number = static_cast<int>(rType), dim = static_cast<int>(rDim);
    if (shape.size() < 2 || (shape.size() > 2 && (shape.back() < 1 || shape.back() > 4)))
        return refuse_param(rules, "src is no HW, HWC or NHWC of 1 to 4 channels.");
    if (number < 0 || number > 3 || dim < 0 || dim > 1)
        return refuse_param(rules, "there is no such reduction.");
    const int axis = (shape.size() == 4 ? 1 : 0) + dim;
    shape.erase(shape.begin() + axis);
    return reduce(rules, src, dst, shape, src.GetDataType(), { axis }, stream, ops[number], nullptr);
}

APP_ERROR AbsSum(const Tensor &src, Tensor &dst, AscendStream &stream)
{
    return sum_channels("AbsSum", src, dst, stream, tsr_abs);
}

APP_ERROR SqrSum(const Tensor &src, Tensor &dst, AscendStream &stream)
{
    return sum_channels("SqrSum", src, dst, stream, tsr_square);
}

namespace {

using ArgReduction = tsr_status (*)(Out, In, int, bool);

tsr_status look_flat(Placed *out, In x)
{
    tsr_tensor *row = out->Use();
    const int64_t all = -1;
    return tsr_view(&row, x, 1, &all);
}

/* The row and the column of the first smallest or largest element, as its number in the image says. */
tsr_status place_of(tsr_tensor *out, In number, int64_t width)
{
    Held half[2];
    const tsr_tensor *both[2];
    TSR_TRY(tsr_floor_div(&half[0].t, number, TSR_NUMBER(width)));
    TSR_TRY(tsr_remainder(&half[1].t, number, TSR_NUMBER(width)));
    for (int i = 0; i < 2; i++) both[i] = half[i].t;
    Held pair;
    TSR_TRY(tsr_concat(&pair.t, 2, both, 0));
    return tsr_copy(out, pair.t);
}

/* One extreme of an image: its value, and its place unless that is NULL. */
APP_ERROR extreme(const Rules &rules, const Tensor &src, Tensor &value, Tensor *place, AscendStream &stream,
                  Reduction op, ArgReduction arg)
{
    const Tensor *const srcs[] = { &src };
    APP_ERROR ret = hand_over(rules, srcs, 1, value, stream, [=](Out out, In x, In) {
        Placed flat;
        const int axis = 0;
        TSR_TRY(look_flat(&flat, x));
        return op(out, flat.Use(), 1, &axis, true);
    });
    if (ret != APP_ERR_OK || !place) return ret;
    const int64_t width = dims_of(src)[1];
    return hand_over(rules, srcs, 1, *place, stream, [=](Out out, In x, In) {
        Placed flat;
        Held number;
        TSR_TRY(look_flat(&flat, x));
        TSR_TRY(arg(&number.t, flat.Use(), 0, true));
        return place_of(*out, number.t, width);
    });
}

APP_ERROR find_extremes(const Rules &rules, const Tensor &src, Tensor *const values[2],
                        Tensor *const places[2], AscendStream &stream)
{
    const Tensor *const srcs[] = { &src };
    APP_ERROR ret = check_sources(rules, srcs, 1, stream);
    if (ret != APP_ERR_OK) return ret;
    const std::vector<uint32_t> &dims = dims_of(src);
    if (dims.size() < 2 || dims.size() > 3 || (dims.size() == 3 && dims[2] != 1))
        return refuse_param(rules, "src is no HW, nor HWC of 1 channel.");
    for (int i = 0; ret == APP_ERR_OK && i < 2; i++)
        ret = make_ready(rules, *values[i], { 1 }, src.GetDataType(), src.GetDeviceId());
    for (int i = 0; ret == APP_ERR_OK && places && i < 2; i++)
        ret = make_ready(rules, *places[i], { 2 }, TensorDType::UINT32, src.GetDeviceId());
    if (ret != APP_ERR_OK) return ret;
    ret = extreme(rules, src, *values[0], places ? places[0] : nullptr, stream, tsr_min, tsr_argmin);
    if (ret != APP_ERR_OK) return ret;
    return extreme(rules, src, *values[1], places ? places[1] : nullptr, stream, tsr_max, tsr_argmax);
}

} // namespace

APP_ERROR MinMax(const Tensor &src, Tensor &minVal, Tensor &maxVal, AscendStream &stream)
{
    Tensor *const values[] = { &minVal, &maxVal };
    return find_extremes({ "MinMax" }, src, values, nullptr, stream);
}

APP_ERROR MinMaxLoc(const Tensor &src, Tensor &minVal, Tensor &maxVal, Tensor &minLoc, Tensor &maxLoc,
                    AscendStream &stream)
{
    Tensor *const values[] = { &minVal, &maxVal }, *const places[] = { &minLoc, &maxLoc };
    return find_extremes({ "MinMaxLoc" }, src, values, places, stream);
}

} // namespace MxBase
