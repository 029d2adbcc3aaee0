/* ops_shape.cpp - ops that lay out tensors anew. */
#include "MxBase/E2eInfer/TensorOperation/MatricesOperation/CoreOperationsOnTensors.h"

#include <numeric>

#include "ops.hpp"

namespace MxBase {

using namespace mxface;

namespace {

std::vector<const Tensor *> pointers(const std::vector<Tensor> &tensors)
{
    std::vector<const Tensor *> p;
    for (const Tensor &t : tensors) p.push_back(&t);
    return p;
}

/* As many tensors of one shape, made if there are none. */
APP_ERROR make_list(const Rules &rules, std::vector<Tensor> &list, size_t count,
                    const std::vector<uint32_t> &shape, const Tensor &like)
{
    std::vector<Tensor> ready = list.empty() ? std::vector<Tensor>(count) : list;
    if (ready.size() != count) return refuse_param(rules, "there are not as many results.");
    for (Tensor &t : ready) {
        if (list.empty()) t = Tensor();
        const APP_ERROR ret = make_ready(rules, t, shape, like.GetDataType(), like.GetDeviceId());
        if (ret != APP_ERR_OK) return ret;
    }
    list = ready;
    return APP_ERR_OK;
}

/* Two tensors or more joined along a dim, that of columns (0), rows (1) or channels (2). */
APP_ERROR join(const Rules &rules, const std::vector<Tensor> &tv, Tensor &dst, size_t axis,
               AscendStream &stream)
{
    const std::vector<const Tensor *> srcs = pointers(tv);
    std::vector<Placed> scratch(tv.size());
    std::vector<const tsr_tensor *> in;
    std::vector<uint32_t> shape = dims_of(tv[0]);
    uint64_t length = 0;
    for (const Tensor &t : tv) {
        const std::vector<uint32_t> &dims = dims_of(t);
        for (size_t i = 0; i < dims.size(); i++)
            if (i != axis && dims[i] != shape[i]) return refuse_param(rules, "the inputs' shapes differ.");
        length += dims[axis];
    }
    if (length > UINT32_MAX) return refuse_param(rules, "the result is too large.");
    shape[axis] = static_cast<uint32_t>(length);
    const APP_ERROR ret = make_ready(rules, dst, shape, tv[0].GetDataType(), tv[0].GetDeviceId());
    if (ret != APP_ERR_OK) return ret;
    for (size_t i = 0; i < tv.size(); i++) {
        tsr_tensor *t = nullptr;
        const tsr_status s = TensorParts::Look(&t, &scratch[i], tv[i], false);
        if (s != TSR_OK) return to_error(s, rules.name);
        in.push_back(t);
    }
    return hand_over(
        rules, srcs.data(), 0, dst, stream, [&](tsr_tensor **out, const tsr_tensor *, const tsr_tensor *) {
            return tsr_concat(out, static_cast<int>(in.size()), in.data(), static_cast<int>(axis));
        });
}

APP_ERROR stack(const char *name, const std::vector<Tensor> &tv, Tensor &dst, bool side_by_side,
                AscendStream &stream)
{
    Rules rules = { name };
    rules.same_shape = false;
    const std::vector<const Tensor *> srcs = pointers(tv);
    const APP_ERROR ret = check_sources(rules, srcs.data(), srcs.size(), stream);
    if (ret != APP_ERR_OK) return ret;
    const size_t rank = dims_of(tv[0]).size();
    if (tv.size() < 2 || rank < 2) return refuse_param(rules, "there are not two images.");
    return join(rules, tv, dst, (rank == 4 ? 1 : 0) + (side_by_side ? 1 : 0), stream);
}

std::vector<uint32_t> turn(const std::vector<uint32_t> &dims, const std::vector<int> &axes)
{
    std::vector<uint32_t> shape;
    for (const int axis : axes) shape.push_back(dims[axis]);
    return shape;
}

/* Has t the dims in that order already? */
bool is_turned(const Tensor &t, const std::vector<uint32_t> &dims, const std::vector<int> &axes)
{
    if (t.IsEmpty() || dims_of(t).size() != axes.size()) return false;
    for (size_t i = 0; i < axes.size(); i++)
        if (dims_of(t)[i] != dims[axes[i]]) return false;
    return true;
}

} // namespace

APP_ERROR Hstack(const std::vector<Tensor> &tv, Tensor &dst, AscendStream &stream)
{
    return stack("Hstack", tv, dst, true, stream);
}

APP_ERROR Vstack(const std::vector<Tensor> &tv, Tensor &dst, AscendStream &stream)
{
    return stack("Vstack", tv, dst, false, stream);
}

APP_ERROR Merge(const std::vector<Tensor> &tv, Tensor &dst, AscendStream &stream)
{
    Rules rules = { "Merge" };
    rules.same_shape = false;
    const std::vector<const Tensor *> srcs = pointers(tv);
    const APP_ERROR ret = check_sources(rules, srcs.data(), srcs.size(), stream);
    if (ret != APP_ERR_OK) return ret;
    const size_t rank = dims_of(tv[0]).size();
    uint64_t channels = 0;
    for (const Tensor &t : tv) channels += dims_of(t).back();
    if (tv.size() < 2 || rank < 3 || (channels != 3 && channels != 4))
        return refuse_param(rules, "the inputs are no images whose channels are 3 or 4 together.");
    return join(rules, tv, dst, rank - 1, stream);
}

APP_ERROR Split(const Tensor &src, std::vector<Tensor> &tv, AscendStream &stream)
{
    const Rules rules = { "Split" };
    const Tensor *const srcs[] = { &src };
    APP_ERROR ret = check_sources(rules, srcs, 1, stream);
    if (ret != APP_ERR_OK) return ret;
    std::vector<uint32_t> shape = dims_of(src);
    const int last = static_cast<int>(shape.size()) - 1;
    const uint32_t channels = shape.back();
    if (last < 2 || (channels != 3 && channels != 4))
        return refuse_param(rules, "src has not 3 or 4 channels.");
    shape.back() = 1;
    ret = make_list(rules, tv, channels, shape, src);
    for (uint32_t c = 0; ret == APP_ERR_OK && c < channels; c++)
        ret = hand_over(rules, srcs, 1, tv[c], stream,
                        [=](tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *) {
                            Placed channel;
                            tsr_tensor *view = channel.Use();
                            TSR_TRY(tsr_slice(&view, x, last, c, c + 1, 1));
                            return tsr_copy(*out, view);
                        });
    return ret;
}

APP_ERROR BatchSplit(const Tensor &src, std::vector<Tensor> &dst, bool isReplace, AscendStream &stream)
{
    Rules rules = { "BatchSplit" };
    if (src.IsEmpty()) return refuse_param(rules, "src is empty.");
    std::vector<uint32_t> shape = dims_of(src);
    if (shape.size() != 3 && shape.size() != 4) return refuse_param(rules, "src has not 3 or 4 dims.");
    const size_t batch = shape[0], bytes = batch > 0 ? src.GetByteSize() / batch : 0;
    const TensorDType type = src.GetDataType();
    if (type != TensorDType::UINT8 && type != TensorDType::FLOAT16 && type != TensorDType::FLOAT32)
        return refuse_param(rules, "src's type is not taken.");
    const bool on_device = is_on_device(src.GetMemoryType());
    if (on_device && src.GetDeviceId() != stream.GetDeviceId())
        return refuse_param(rules, "the stream is another device's.");
    shape.erase(shape.begin());
    std::vector<Tensor> parts;
    for (size_t i = 0; i < batch; i++) {
        auto *at = static_cast<uint8_t *>(src.GetData()) + i * bytes;
        parts.push_back(
            Tensor(at, shape, type, src.GetDeviceId(), src.GetMemoryType() == MemoryData::MEMORY_DVPP, true));
    }
    if (isReplace) {
        dst = parts;
        return APP_ERR_OK;
    }
    if (!on_device) return refuse_param(rules, "copies are made on a device only.");
    APP_ERROR ret = make_list(rules, dst, batch, shape, src);
    const OnStream queued(stream);
    for (size_t i = 0; ret == APP_ERR_OK && i < batch; i++)
        ret = TensorBase::TensorBaseCopy(*TensorParts::Base(dst[i]), *TensorParts::Base(parts[i]));
    return ret;
}

APP_ERROR Transpose(const Tensor &src, Tensor &dst, std::vector<int> axes, AscendStream &stream)
{
    const Rules rules = { "Transpose" };
    const Tensor *const srcs[] = { &src };
    APP_ERROR ret = check_sources(rules, srcs, 1, stream);
    if (ret != APP_ERR_OK) return ret;
    const std::vector<uint32_t> &dims = dims_of(src);
    const int rank = static_cast<int>(dims.size());
    if (axes.empty()) {
        axes.resize(dims.size());
        std::iota(axes.rbegin(), axes.rend(), 0);
    }
    if (axes.size() != dims.size()) return refuse_param(rules, "there are not as many axes as dims.");
    for (const int axis : axes)
        if (axis < 0 || axis >= rank) return refuse_param(rules, "an axis is none of src's.");
    const bool is_ready = is_turned(dst, dims, axes);
    const std::vector<uint32_t> turned = is_ready ? std::vector<uint32_t>() : turn(dims, axes);
    ret = make_ready(rules, dst, is_ready ? dims_of(dst) : turned, src.GetDataType(), src.GetDeviceId());
    if (ret != APP_ERR_OK) return ret;
    return hand_over(rules, srcs, 1, dst, stream,
                     [&](tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *) {
                         Placed order;
                         tsr_tensor *view = order.Use();
                         TSR_TRY(tsr_permute(&view, x, rank, axes.data()));
                         return tsr_rearrange(out, view);
                     });
}

APP_ERROR Tile(const Tensor &src, Tensor &dst, const std::vector<uint32_t> &multiples, AscendStream &stream)
{
    const Rules rules = { "Tile" };
    const Tensor *const srcs[] = { &src };
    APP_ERROR ret = check_sources(rules, srcs, 1, stream);
    if (ret != APP_ERR_OK) return ret;
    std::vector<uint32_t> shape = dims_of(src);
    if (shape.size() != multiples.size())
        return refuse_param(rules, "there are not as many numbers as dims.");
    const std::vector<int64_t> times(multiples.begin(), multiples.end());
    for (size_t i = 0; i < shape.size(); i++) {
        const uint64_t length = uint64_t(shape[i]) * multiples[i];
        if (multiples[i] == 0 || length > UINT32_MAX)
            return refuse_param(rules, "a number is 0, or too large.");
        shape[i] = static_cast<uint32_t>(length);
    }
    ret = make_ready(rules, dst, shape, src.GetDataType(), src.GetDeviceId());
    if (ret != APP_ERR_OK) return ret;
    return hand_over(rules, srcs, 1, dst, stream,
                     [&](tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *) {
                         return tsr_tile(out, x, static_cast<int>(times.size()), times.data());
                     });
}

APP_ERROR CvtColor(const Tensor &, Tensor &, const CvtColorMode &, bool, AscendStream &)
{
    return not_here("CvtColor");
}
APP_ERROR Erode(const Tensor &, Tensor &, const BlurConfig &, AscendStream &) { return not_here("Erode"); }

} // namespace MxBase
