/* ops_shape.cpp - ops that lay out tensors anew. */
#include "MxBase/E2eInfer/TensorOperation/MatricesOperation/CoreOperationsOnTensors.h"

#include <algorithm>
#include <numeric>

#include "ops.hpp"

namespace MxBase {

using namespace mxface;

namespace {

const uint32_t LEAST_ERODED = 64, MOST_ERODED = 4096; /* sides of an image */

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

std::vector<uint32_t> in_order(const std::vector<uint32_t> &dims, const std::vector<int> &axes)
{
    std::vector<uint32_t> shape;
    for (const int axis : axes) shape.push_back(dims[axis]);
    return shape;
}

/* Has t the dims in that order already? */
bool is_in_order(const Tensor &t, const std::vector<uint32_t> &dims, const std::vector<int> &axes)
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

namespace {

/* The results of BatchSplit, where src is: made if there are none, else 1007 unless they fit. */
APP_ERROR make_results(std::vector<Tensor> &list, size_t count, const std::vector<uint32_t> &shape,
                       const Tensor &src)
{
    const auto fits = [&](const Tensor &t) {
        return dims_of(t) == shape && t.GetDataType() == src.GetDataType() &&
               t.GetDeviceId() == src.GetDeviceId();
    };
    if (!list.empty() && (list.size() != count || !std::all_of(list.begin(), list.end(), fits)))
        return fail(APP_ERR_COMM_ALLOC_MEM, "BatchSplit: the results do not fit src.");
    for (size_t i = list.size(); i < count; i++) {
        Tensor made;
        const APP_ERROR ret =
            TensorParts::Renew(made, shape, static_cast<TensorDataType>(src.GetDataType()),
                               src.GetMemoryType(), src.GetDeviceId());
        if (ret != APP_ERR_OK) return APP_ERR_COMM_ALLOC_MEM;
        list.push_back(made);
    }
    return APP_ERR_OK;
}

} // namespace

APP_ERROR BatchSplit(const Tensor &src, std::vector<Tensor> &dst, bool isReplace, AscendStream &stream)
{
    const Rules rules = { "BatchSplit" };
    if (src.IsEmpty()) return refuse_param(rules, "src is empty.");
    std::vector<uint32_t> shape = dims_of(src);
    if (shape.size() != 3 && shape.size() != 4) return refuse_param(rules, "src has not 3 or 4 dims.");
    const size_t batch = shape[0], bytes = batch > 0 ? src.GetByteSize() / batch : 0;
    const TensorDType type = src.GetDataType();
    if (type != TensorDType::UINT8 && type != TensorDType::FLOAT16 && type != TensorDType::FLOAT32)
        return refuse_param(rules, "src's type is not taken.");
    shape.erase(shape.begin());
    std::vector<Tensor> parts, results = dst;
    for (const Tensor &t : dst)
        if (t.IsEmpty()) return refuse_param(rules, "a result is empty.");
    if (!isReplace || !dst.empty()) {
        const APP_ERROR ret = make_results(results, batch, shape, src);
        if (ret != APP_ERR_OK) return ret;
    }
    if (is_on_device(src.GetMemoryType()) && src.GetDeviceId() != stream.GetDeviceId())
        return refuse_param(rules, "the stream is another device's.");
    if (batch == 0) return fail(APP_ERR_COMM_OUT_OF_RANGE, "BatchSplit: the batch is empty.");
    for (size_t i = 0; i < batch; i++) {
        auto *at = static_cast<uint8_t *>(src.GetData()) + i * bytes;
        parts.push_back(
            Tensor(at, shape, type, src.GetDeviceId(), src.GetMemoryType() == MemoryData::MEMORY_DVPP, true));
    }
    if (isReplace) {
        dst = parts;
        return APP_ERR_OK;
    }
    const OnStream queued(stream);
    for (size_t i = 0; i < batch; i++) {
        const APP_ERROR ret =
            TensorBase::TensorBaseCopy(*TensorParts::Base(results[i]), *TensorParts::Base(parts[i]));
        if (ret != APP_ERR_OK) return APP_ERR_COMM_ALLOC_MEM;
    }
    dst = results;
    return APP_ERR_OK;
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
    const bool is_ready = is_in_order(dst, dims, axes);
    const std::vector<uint32_t> shape = is_ready ? std::vector<uint32_t>() : in_order(dims, axes);
    ret = make_ready(rules, dst, is_ready ? dims_of(dst) : shape, src.GetDataType(), src.GetDeviceId());
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

namespace {

/* Smallest elements of windows of `size` along an axis, written into out. Beyond an image its edge goes on,
 * which changes no smallest element: the part of a window that lies inside holds the edge. */
tsr_status smallest_along(tsr_tensor *out, const tsr_tensor *x, int axis, int64_t size)
{
    const int64_t n = x->shape[axis], before = size / 2, after = (size - 1) / 2;
    TSR_TRY(tsr_copy(out, x));
    for (int64_t d = -before; d <= after; d++) {
        const int64_t shift = d < 0 ? -d : d;
        if (d == 0 || shift >= n) continue;
        Placed to, from;
        TSR_TRY(look_along(&to, out, axis, d < 0 ? shift : 0, n - shift));
        TSR_TRY(look_along(&from, x, axis, d < 0 ? 0 : shift, n - shift));
        tsr_tensor *target = to.Use();
        TSR_TRY(tsr_minimum(&target, target, from.Use()));
    }
    return TSR_OK;
}

tsr_status erode(tsr_tensor *out, const tsr_tensor *x, int64_t size, uint32_t times)
{
    Held rows, image;
    TSR_TRY(tsr_clone(&image.t, x));
    TSR_TRY(tsr_clone(&rows.t, x));
    for (uint32_t i = 0; i < times; i++) {
        TSR_TRY(smallest_along(rows.t, image.t, 1, size));
        TSR_TRY(smallest_along(image.t, rows.t, 0, size));
    }
    return tsr_copy(out, image.t);
}

/* What is wrong with the image or how it is to be eroded; NULL if nothing is. */
const char *why_not_erode(const std::vector<uint32_t> &dims, const BlurConfig &config)
{
    const uint32_t size = config.kernelSize.height;
    if (dims.size() != 2 && dims.size() != 3) return "src is no HW or HWC.";
    if (dims[0] < LEAST_ERODED || dims[0] > MOST_ERODED || dims[1] < LEAST_ERODED || dims[1] > MOST_ERODED)
        return "a side of src is not within the limits.";
    if (dims.size() == 3 && dims[2] != 1 && dims[2] != 3 && dims[2] != 4)
        return "src has not 1, 3 or 4 channels.";
    if (config.iterations < 1 || config.iterations > 100) return "the iterations are not 1 to 100.";
    if (size < 3 || size > 9 || size != config.kernelSize.width) return "the kernel is no square of 3 to 9.";
    if (config.morphShape != MorphShape::MORPH_RECT) return "the kernel is no rectangle.";
    if (config.borderType != BorderType::BORDER_REPLICATE) return "the border is not replicated.";
    if (config.anchor.first != -1 && config.anchor.second != -1) return "the anchor is not the centre.";
    return nullptr;
}

} // namespace

APP_ERROR Erode(const Tensor &src, Tensor &dst, const BlurConfig &blurConfig, AscendStream &stream)
{
    const Rules rules = { "Erode" };
    const Tensor *const srcs[] = { &src };
    const APP_ERROR ret = check_sources(rules, srcs, 1, stream);
    if (ret != APP_ERR_OK) return ret;
    const char *why_not = why_not_erode(dims_of(src), blurConfig);
    if (why_not) return refuse_param(rules, why_not);
    return run(rules, { &src }, dst, src.GetDataType(), stream,
               [&](tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *) {
                   return erode(*out, x, blurConfig.kernelSize.height, blurConfig.iterations);
               });
}

} // namespace MxBase
