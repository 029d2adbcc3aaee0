/* ops.hpp - how an op on Tensors becomes an op of the library: check, make the result, hand over. */
#ifndef MXBASE_OPS_HPP
#define MXBASE_OPS_HPP

#include "face.hpp"

namespace mxface {

using MxBase::AscendStream;
using MxBase::Tensor;
using MxBase::TensorDType;
using MxBase::TensorParts;

enum class Types { IMAGES, BYTES, FLOATS, BYTES_OR_F32, ANY };  /* IMAGES: UINT8, FLOAT16, FLOAT32 */

struct Rules {
    const char *name;
    Types types = Types::IMAGES;
    bool same_type = true;
    bool same_shape = true;
    bool regions = false;  /* does it work on the refer rects? */
};

/* 1004 unless all have memory on one device, the stream's, and fit the rules. */
APP_ERROR check_sources(const Rules &rules, const Tensor *const *srcs, size_t count,
                        const AscendStream &stream);

/* Makes an empty dst, and checks any other. */
APP_ERROR make_ready(const Rules &rules, Tensor &dst, const std::vector<uint32_t> &shape, TensorDType type,
                     int32_t device);

inline const std::vector<uint32_t> &dims_of(const Tensor &t)
{
    return TensorParts::Shape(*TensorParts::Base(t))->dims;
}

inline bool has_region(const Tensor &t)
{
    const MxBase::Rect &r = TensorParts::Dptr(t)->refer;
    return r.x0 > 0 || r.y0 > 0 || r.x1 > 0 || r.y1 > 0;
}

APP_ERROR refuse_param(const Rules &rules, const char *words);
APP_ERROR not_here(const char *name); /* 1005 */

/* A tensor on the way; released at the end. */
struct Held {
    Held() = default;
    ~Held() { tsr_release(&t); }
    Held(const Held &) = delete;
    Held &operator=(const Held &) = delete;
    tsr_tensor *t = nullptr;
};

/* A view of the elements [first, first + length) along an axis. */
tsr_status look_along(Placed *out, const tsr_tensor *t, int axis, int64_t first, int64_t length);

/* Runs op(&out, inputs) with sources that were checked and a dst that is ready. */
template <typename F>
APP_ERROR hand_over(const Rules &rules, const Tensor *const *srcs, size_t count, Tensor &dst,
                    AscendStream &stream, F op)
{
    Placed scratch[3];
    tsr_tensor *in[2] = { nullptr, nullptr }, *out = nullptr;
    tsr_status s = TensorParts::Look(&out, &scratch[2], dst, rules.regions);
    for (size_t i = 0; s == TSR_OK && i < count; i++)
        s = TensorParts::Look(&in[i], &scratch[i], *srcs[i], rules.regions);
    if (s == TSR_OK) {
        const OnStream queued(stream);
        s = op(&out, in[0], in[1]);
        if (s == TSR_OK) s = finish(out);
    }
    return to_error(s, rules.name);
}

/* dst has the shape of the first source. */
template <typename F>
APP_ERROR run(const Rules &rules, std::initializer_list<const Tensor *> srcs, Tensor &dst, TensorDType type,
              AscendStream &stream, F op)
{
    APP_ERROR ret = check_sources(rules, srcs.begin(), srcs.size(), stream);
    if (ret != APP_ERR_OK) return ret;
    const Tensor &first = **srcs.begin();
    ret = make_ready(rules, dst, dims_of(first), type, TensorParts::Device(stream));
    if (ret != APP_ERR_OK) return ret;
    if (has_region(dst) != has_region(first)) return refuse_param(rules, "the regions differ.");
    return hand_over(rules, srcs.begin(), srcs.size(), dst, stream, op);
}

} // namespace mxface

#endif
