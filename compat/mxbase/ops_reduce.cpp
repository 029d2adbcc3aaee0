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
        return store_floats(*out, &result.t);
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

APP_ERROR MinMax(const Tensor &, Tensor &, Tensor &, AscendStream &) { return not_here("MinMax"); }

APP_ERROR MinMaxLoc(const Tensor &, Tensor &, Tensor &, Tensor &, Tensor &, AscendStream &)
{
    return not_here("MinMaxLoc");
}

} // namespace MxBase
