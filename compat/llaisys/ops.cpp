/* ops.cpp - llaisys/ops.h: the original's checks, and one op of the library each. */
#include "rope.hpp"

#include <cfloat>
#include <cmath>

namespace
{

void same_device(const LlaisysTensor &a, const LlaisysTensor &b)
{
    if (a.device_type == b.device_type && a.device_id == b.device_id) return;
    std::fprintf(stderr, "[ERROR] Input tensors must be on the same device!\n");
    throw_runtime("device mismatch");
}

void same_dtype(const LlaisysTensor &a, const LlaisysTensor &b)
{
    if (a.dtype != b.dtype) throw_argument("Datatypes mismatch");
}

void same_shape(const LlaisysTensor &a, const LlaisysTensor &b)
{
    if (!tsr_desc_same_shape(&a.t->desc, &b.t->desc)) throw_argument("Shapes mismatch");
}

template <typename... Rest> void all_alike(const LlaisysTensor &first, const Rest &...rest)
{
    (same_device(first, rest), ...);
    (same_dtype(first, rest), ...);
}

void must_be_float(const LlaisysTensor &h)
{
    if (h.dtype != LLAISYS_DTYPE_F32 && h.dtype != LLAISYS_DTYPE_F16 && h.dtype != LLAISYS_DTYPE_BF16)
        throw_runtime("Unsupported data type");
}

void must_be_i64(const LlaisysTensor &h)
{
    if (h.dtype != LLAISYS_DTYPE_I64) throw_argument("Datatypes mismatch: indices are i64");
}

void must_have_dims(const LlaisysTensor &h, int ndim)
{
    if (h.t->ndim != ndim) throw_argument("Shapes mismatch: a tensor has the wrong number of dims");
}

/* A tensor of one element without its dims, placed in the caller's struct. */
tsr_tensor *as_scalar(tsr_tensor *place, const LlaisysTensor &h)
{
    tsr_tensor *t = tsr_place_none(place);
    if (tsr_numel(h.t) != 1) throw_argument("Shapes mismatch: a result has more or less than one element");
    must(tsr_view(&t, h.t, 0, nullptr));
    return t;
}

/* Lets go of what a placed view holds. */
struct Placed {
    tsr_tensor tensor;
    tsr_tensor *t;
    explicit Placed(const LlaisysTensor &h) : t(as_scalar(&tensor, h)) {}
    ~Placed() { tsr_release(&t); }
    Placed(const Placed &) = delete;
    Placed &operator=(const Placed &) = delete;
};

void rotate(tsr_tensor *result, const tsr_tensor *in, const tsr_tensor *positions, float theta)
{
    Owned sines, cosines, rows;
    make_tables(sines, cosines, positions, in->shape[2], theta);
    count_up(rows, TSR_I64, positions->shape[0], positions->device);
    must(tsr_rope_with(&result, in, rows.t, sines.t, cosines.t, TSR_ROPE_HALVES));
}

} // namespace

void llaisysAdd(llaisysTensor_t c, llaisysTensor_t a, llaisysTensor_t b)
{
    guarded([&] {
        all_alike(given(c), given(a), given(b));
        same_shape(*c, *a);
        same_shape(*c, *b);
        tsr_tensor *out = c->t;
        must(tsr_add(&out, a->t, b->t));
    });
}

void llaisysArgmax(llaisysTensor_t max_idx, llaisysTensor_t max_val, llaisysTensor_t vals)
{
    guarded([&] {
        all_alike(given(max_val), given(vals));
        same_device(given(max_idx), *vals);
        must_be_i64(*max_idx);
        Placed index(*max_idx), value(*max_val);
        must(tsr_argmax(&index.t, vals->t, TSR_ALL_AXES, false));
        must(tsr_max(&value.t, vals->t, 0, nullptr, false));
    });
}

void llaisysEmbedding(llaisysTensor_t out, llaisysTensor_t index, llaisysTensor_t weight)
{
    guarded([&] {
        all_alike(given(out), given(weight));
        same_device(*out, given(index));
        must_be_i64(*index);
        must_have_dims(*weight, 2);
        tsr_tensor *result = out->t;
        must(tsr_embedding(&result, weight->t, index->t));
    });
}

void llaisysLinear(llaisysTensor_t out, llaisysTensor_t in, llaisysTensor_t weight, llaisysTensor_t bias)
{
    guarded([&] {
        const LlaisysTensor &to = given(out);
        all_alike(to, given(in), given(weight), bias ? *bias : to);
        must_be_float(to);
        must_have_dims(*weight, 2);
        tsr_tensor *result = out->t;
        must(tsr_linear(&result, in->t, weight->t, bias ? bias->t : nullptr));
    });
}

void llaisysRearrange(llaisysTensor_t out, llaisysTensor_t in)
{
    guarded([&] {
        all_alike(given(out), given(in));
        same_shape(*out, *in);
        tsr_tensor *result = out->t;
        must(tsr_rearrange(&result, in->t));
    });
}

void llaisysRmsNorm(llaisysTensor_t out, llaisysTensor_t in, llaisysTensor_t weight, float eps)
{
    guarded([&] {
        all_alike(given(out), given(in), given(weight));
        same_shape(*out, *in);
        must_be_float(*out);
        tsr_tensor *result = out->t;
        must(tsr_rms_norm(&result, in->t, weight->t, eps));
    });
}

void llaisysROPE(llaisysTensor_t out, llaisysTensor_t in, llaisysTensor_t pos_ids, float theta)
{
    guarded([&] {
        all_alike(given(out), given(in));
        same_device(*out, given(pos_ids));
        same_shape(*out, *in);
        must_be_float(*out);
        must_be_i64(*pos_ids);
        must_have_dims(*in, 3);
        must_have_dims(*pos_ids, 1);
        if (!(theta > 0.0f) || std::isinf(theta)) throw_argument("theta is not positive and finite");
        if (in->t->shape[2] % 2) throw_argument("Shapes mismatch: the last dim is odd");
        rotate(out->t, in->t, pos_ids->t, theta);
    });
}

void llaisysSelfAttention(llaisysTensor_t attn_val, llaisysTensor_t q, llaisysTensor_t k, llaisysTensor_t v,
                          float scale)
{
    guarded([&] {
        all_alike(given(attn_val), given(q), given(k), given(v));
        must_be_float(*attn_val);
        must_have_dims(*q, 3);
        tsr_tensor *result = attn_val->t;
        /* A scale of 0 means "the default" to the library, and 0 here; the least double scales all
         * scores to 0. */
        must(tsr_self_attention(&result, q->t, k->t, v->t, scale == 0.0f ? DBL_MIN : scale));
    });
}

void llaisysSwiGLU(llaisysTensor_t out, llaisysTensor_t gate, llaisysTensor_t up)
{
    guarded([&] {
        all_alike(given(out), given(gate), given(up));
        same_shape(*out, *gate);
        same_shape(*out, *up);
        must_be_float(*out);
        tsr_tensor *result = out->t;
        must(tsr_swiglu(&result, gate->t, up->t));
    });
}
