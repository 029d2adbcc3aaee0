/* matmul.cpp - products of matrices, and the layers that are made of them. */
#include "host.h"

#include <cmath>

using namespace face;

/* A batch of 1 counts as none. */
static void drop_batch_of_one(tsr_desc &d)
{
    if (d.ndim != 3 || d.shape[0] != 1) return;
    d.ndim = 2;
    for (int i = 0; i < 2; i++) {
        d.shape[i] = d.shape[i + 1];
        d.stride[i] = d.stride[i + 1];
    }
}

infiniStatus_t infiniopCreateGemmDescriptor(infiniopHandle_t handle, infiniopGemmDescriptor_t *desc_ptr,
                                            infiniopTensorDescriptor_t c, infiniopTensorDescriptor_t a,
                                            infiniopTensorDescriptor_t b)
{
    Draft draft(TAG_Gemm, handle, desc_ptr, 1, { c, a, b });
    draft.all_dtypes(FLOATS).one_dtype({ 0, 1, 2 }).rank(0, 2, 3).rank(1, 2, 3).rank(2, 2, 3);
    if (!draft.good()) return draft.finish();
    for (int i = 0; i < 3; i++) drop_batch_of_one(draft[i]);
    draft.need(draft.dim(0, -2) == draft.dim(1, -2) && draft.dim(0, -1) == draft.dim(2, -1) &&
               draft.dim(1, -1) == draft.dim(2, -2), INFINI_STATUS_BAD_TENSOR_SHAPE);
    for (int i = 1; i < 3; i++)
        draft.need(draft[i].ndim == 2 || (draft[0].ndim == 3 && draft[i].shape[0] == draft[0].shape[0]),
                   INFINI_STATUS_BAD_TENSOR_SHAPE);
    if (draft[0].ndim == 3 && draft[1].ndim == 2 && draft[2].ndim == 2) { /* two matrices for a whole batch */
        const int64_t shape[3] = { draft[0].shape[0], draft[1].shape[0], draft[1].shape[1] };
        draft.need(tsr_desc_expand(&draft[1], &draft[1], 3, shape) == TSR_OK, INFINI_STATUS_BAD_TENSOR_SHAPE);
    }
    return draft.finish();
}

infiniStatus_t infiniopGemm(infiniopGemmDescriptor_t desc, void *, size_t, void *c, const void *a,
                            const void *b, float alpha, float beta, void *stream)
{
    return run(desc, TAG_Gemm, stream, { c, a, b }, [=](tsr_tensor **t, const InfiniopDescriptor &) {
        if (alpha == 1 && beta == 0) return tsr_matmul(&t[0], t[1], t[2]);
        return tsr_gemm(&t[0], t[1], t[2], beta == 0 ? nullptr : t[0], TSR_SCALAR((double)alpha),
                        TSR_SCALAR((double)beta));
    });
}

/* y = x to the n */
infiniStatus_t infiniopCreateMatrixPowerDescriptor(infiniopHandle_t handle,
                                                   infiniopMatrixPowerDescriptor_t *desc_ptr,
                                                   infiniopTensorDescriptor_t y, infiniopTensorDescriptor_t x,
                                                   int n)
{
    Draft draft(TAG_MatrixPower, handle, desc_ptr, 1, { y, x });
    draft.op.integer[0] = n;
    return draft.all_dtypes(FLOATS).one_dtype({ 0, 1 }).rank(1, 2, TSR_MAX_NDIM).one_shape({ 0, 1 })
        .need(draft.dim(1, -1) == draft.dim(1, -2), INFINI_STATUS_BAD_TENSOR_SHAPE).finish();
}

infiniStatus_t infiniopMatrixPower(infiniopMatrixPowerDescriptor_t desc, void *, size_t, void *y,
                                   const void *x, void *stream)
{
    return run(desc, TAG_MatrixPower, stream, { y, x },
               [](tsr_tensor **t, const InfiniopDescriptor &op) -> tsr_status {
                   Temp x_wide, power;
                   TSR_TRY(tsr_cast(&x_wide, t[1], wide(t[1])));
                   TSR_TRY(tsr_matrix_power(&power, x_wide, op.integer[0]));
                   return tsr_copy(t[0], power);
               });
}

/* int8 -------------------------------------------------------------------------------------- */

/* n scales, as (n), (n, 1) or (1, n), become (n). */
static void make_vector(Draft &draft, int i, int64_t n)
{
    if (!draft.good()) return;
    tsr_desc &d = draft[i];
    draft.rank(i, 1, 2).need(tsr_desc_numel(&d) == n, INFINI_STATUS_BAD_TENSOR_SHAPE);
    if (!draft.good() || d.ndim == 1) return;
    const int at = d.shape[0] == n ? 0 : 1;
    draft.need(d.shape[at] == n, INFINI_STATUS_BAD_TENSOR_SHAPE);
    d.ndim = 1;
    d.stride[0] = d.stride[at];
    d.shape[0] = n;
}

infiniStatus_t infiniopCreateI8GemmDescriptor(infiniopHandle_t handle, infiniopI8GemmDescriptor_t *desc_ptr,
                                              infiniopTensorDescriptor_t out, infiniopTensorDescriptor_t bias,
                                              infiniopTensorDescriptor_t x,
                                              infiniopTensorDescriptor_t x_scale,
                                              infiniopTensorDescriptor_t weights,
                                              infiniopTensorDescriptor_t weights_scale)
{
    Draft draft(TAG_I8Gemm, handle, desc_ptr, 1, { out, bias, x, x_scale, weights, weights_scale }, 1u << 1);
    draft.dtypes(0, FLOATS).dtypes(1, FLOATS).dtypes(2, set_of(INFINI_DTYPE_I8)).dtypes(3, FLOATS)
        .dtypes(4, set_of(INFINI_DTYPE_I8)).dtypes(5, FLOATS).rank(2, 2, 2).rank(4, 2, 2)
        .shape(0, { draft.dim(2, 0), draft.dim(4, 1) })
        .need(draft.dim(2, 1) == draft.dim(4, 0), INFINI_STATUS_BAD_TENSOR_SHAPE);
    if (draft.good() && draft.has(1)) make_vector(draft, 1, draft.dim(4, 1));
    make_vector(draft, 3, draft.dim(2, 0));
    make_vector(draft, 5, draft.dim(4, 1));
    return draft.finish();
}

infiniStatus_t infiniopI8Gemm(infiniopI8GemmDescriptor_t desc, void *, size_t, void *out, const void *bias,
                              const void *x, const void *x_scale, const void *weights,
                              const void *weights_scale, void *stream)
{
    return run(desc, TAG_I8Gemm, stream, { out, bias, x, x_scale, weights, weights_scale },
               [](tsr_tensor **t, const InfiniopDescriptor &) {
        return tsr_matmul_quantised(&t[0], t[2], t[3], nullptr, t[4], t[5], nullptr, t[1], t[0]->dtype);
    });
}

/* Feed-forward layers -------------------------------------------------------------------------- */

infiniStatus_t infiniopCreateFusedFFNDescriptor(infiniopHandle_t handle,
                                                infiniopFusedFFNDescriptor_t *desc_ptr,
                                                infiniopTensorDescriptor_t out, infiniopTensorDescriptor_t in,
                                                infiniopTensorDescriptor_t residual,
                                                infiniopTensorDescriptor_t norm_weight,
                                                infiniopTensorDescriptor_t gate_up_weight,
                                                infiniopTensorDescriptor_t down_weight, float epsilon)
{
    Draft draft(TAG_FusedFFN, handle, desc_ptr, 1,
                { out, in, residual, norm_weight, gate_up_weight, down_weight }, 1u << 2);
    draft.op.number[0] = epsilon;
    return draft.all_dtypes(FLOATS).one_dtype({ 0, 1, 2, 4, 5 }).rank(1, 2, 2).one_shape({ 0, 1, 2 })
        .rank(5, 2, 2).shape(3, { draft.dim(1, 1) }).shape(4, { 2 * draft.dim(5, 1), draft.dim(1, 1) })
        .need(draft.dim(5, 0) == draft.dim(1, 1), INFINI_STATUS_BAD_TENSOR_SHAPE)
        .need(epsilon >= 0, INFINI_STATUS_BAD_PARAM).finish();
}

infiniStatus_t infiniopFusedFFN(infiniopFusedFFNDescriptor_t desc, void *, size_t, void *out, const void *in,
                                const void *residual, const void *norm_weight, const void *gate_up_weight,
                                const void *down_weight, void *stream)
{
    return run(desc, TAG_FusedFFN, stream, { out, in, residual, norm_weight, gate_up_weight, down_weight },
               [](tsr_tensor **t, const InfiniopDescriptor &op) -> tsr_status {
        Temp normed, both, hidden, down;
        TSR_TRY(tsr_rms_norm(&normed, t[1], t[3], op.number[0]));
        TSR_TRY(tsr_linear(&both, normed, t[4], nullptr));
        TSR_TRY(tsr_silu_and_mul(&hidden, both));
        if (!t[2]) return tsr_linear(&t[0], hidden, t[5], nullptr);
        TSR_TRY(tsr_linear(&down, hidden, t[5], nullptr));
        return tsr_add(&t[0], down, t[2]);
    });
}

/* Mixtures of experts ----------------------------------------------------------------------------- */

namespace {

/* The experts that tokens chose, and with what weight: n tokens by topk. */
struct Choice {
    int64_t n = 0, topk = 0;
    Packed<int64_t> expert; /* -1: none */
    Packed<double>  weight;
};

enum Others { OTHERS_FAIL, OTHERS_ARE_NONE }; /* numbers that are no expert's */

tsr_status read_choice(Choice *out, const tsr_tensor *experts, const tsr_tensor *weights, int64_t count,
                       Others others)
{
    out->n = experts->shape[0];
    out->topk = experts->shape[1];
    TSR_TRY(out->expert.read(experts));
    for (int64_t i = 0; i < out->n * out->topk; i++) {
        if (out->expert[i] >= 0 && out->expert[i] < count) continue;
        if (others == OTHERS_FAIL) return TSR_EINDEX;
        out->expert[i] = -1;
    }
    return out->weight.read(weights);
}

/* Adds to sum (n, hidden) what each chosen expert makes of its token (1, hidden), both f32. Where `only` is
 * an expert, the others are left out. */
template <class Expert>
tsr_status mix(tsr_tensor *sum, const tsr_tensor *x, const Choice &choice, Expert &&expert, int64_t only = -1)
{
    for (int64_t at = 0; at < choice.n * choice.topk; at++) {
        const int64_t n = at / choice.topk, e = choice.expert[at];
        View token, row;
        Temp part;
        if (e < 0 || (only >= 0 && e != only)) continue;
        TSR_TRY(tsr_slice(&token, x, 0, n, n + 1, 1));
        TSR_TRY(tsr_slice(&row, sum, 0, n, n + 1, 1));
        TSR_TRY(expert(&part, token, e, choice.weight[at]));
        TSR_TRY(tsr_add(&row, row, part));
    }
    return TSR_OK;
}

tsr_status select_or_none(tsr_tensor **out, const tsr_tensor *t, int64_t i)
{
    return t ? tsr_select(out, t, 0, i) : TSR_OK;
}

/* b tanh(x / b) */
tsr_status bounded(tsr_tensor **out, const tsr_tensor *x, double b)
{
    TSR_TRY(tsr_mul(out, x, TSR_NUMBER(1 / b)));
    TSR_TRY(tsr_tanh(out, *out));
    return tsr_mul(out, *out, TSR_NUMBER(b));
}

/* sigmoid(gate) times the gate held within 4, times the other half held within 25. */
tsr_status situ_glu(tsr_tensor **out, const tsr_tensor *hidden)
{
    const int last = hidden->ndim - 1;
    const int64_t n = hidden->shape[last] / 2;
    Temp open, scale, other;
    View gate, up;
    TSR_TRY(tsr_slice(&gate, hidden, last, 0, n, 1));
    TSR_TRY(tsr_slice(&up, hidden, last, n, 2 * n, 1));
    TSR_TRY(bounded(&scale, gate, 4));
    TSR_TRY(tsr_sigmoid(&open, gate));
    TSR_TRY(tsr_mul(&scale, scale, open));
    TSR_TRY(bounded(&other, up, 25));
    return tsr_mul(out, scale, other);
}

tsr_status activate(tsr_tensor **out, const tsr_tensor *hidden, int activation)
{
    if (activation == INFINIOP_FUSED_MOE_ACT_SITUGLU) return situ_glu(out, hidden);
    if (activation == INFINIOP_FUSED_MOE_ACT_SWIGLU) return tsr_silu_and_mul(out, hidden);
    return tsr_silu(out, hidden);
}

/* weight * (w2 act(w1 x + b1) + b2) of one expert; t are w1, w2, b1, b2. */
tsr_status moe_expert(tsr_tensor **out, const tsr_tensor *x, tsr_tensor *const *t, int64_t e, double weight,
                      int activation)
{
    Temp w1, w2, b1, b2, hidden, act, y;
    TSR_TRY(tsr_select(&w1, t[0], 0, e));
    TSR_TRY(tsr_select(&w2, t[1], 0, e));
    TSR_TRY(select_or_none(&b1, t[2], e));
    TSR_TRY(select_or_none(&b2, t[3], e));
    TSR_TRY(tsr_linear(&hidden, x, w1, b1));
    TSR_TRY(activate(&act, hidden, activation));
    TSR_TRY(tsr_linear(&y, act, w2, b2));
    return tsr_mul(out, y, TSR_NUMBER(weight));
}

tsr_status fused_moe(tsr_tensor **t, const InfiniopDescriptor &op)
{
    Choice choice;
    Temp x, sum;
    const int activation = (int)op.integer[0];
    TSR_TRY(read_choice(&choice, t[2], t[3], t[4]->shape[0], OTHERS_FAIL));
    TSR_TRY(tsr_cast(&x, t[1], wide(t[1])));
    TSR_TRY(tsr_zeros_like(&sum, x));
    TSR_TRY(mix(sum, x, choice, [&](tsr_tensor **part, const tsr_tensor *token, int64_t e, double weight) {
        return moe_expert(part, token, t + 4, e, weight, activation);
    }));
    return tsr_copy(t[0], sum);
}

} // namespace

infiniStatus_t infiniopCreateFusedMoeDescriptor(
    infiniopHandle_t handle, infiniopFusedMoeDescriptor_t *desc_ptr, infiniopTensorDescriptor_t out,
    infiniopTensorDescriptor_t input, infiniopTensorDescriptor_t token_selected_experts,
    infiniopTensorDescriptor_t token_final_scales, infiniopTensorDescriptor_t w1,
    infiniopTensorDescriptor_t w2, infiniopTensorDescriptor_t b1, infiniopTensorDescriptor_t b2,
    infiniopFusedMoeActivation_t activation)
{
    Draft draft(TAG_FusedMoe, handle, desc_ptr, 1,
                { out, input, token_selected_experts, token_final_scales, w1, w2, b1, b2 },
                1u << 6 | 1u << 7);
    const int64_t wide_by = activation == INFINIOP_FUSED_MOE_ACT_SILU ? 1 : 2;
    draft.op.integer[0] = activation;
    draft.need((int)activation >= INFINIOP_FUSED_MOE_ACT_SILU && activation <= INFINIOP_FUSED_MOE_ACT_SITUGLU,
               INFINI_STATUS_NOT_IMPLEMENTED)
        .dtypes(0, FLOATS).one_dtype({ 0, 1, 4, 5, 6, 7 }).dtypes(2, INTEGERS).dtypes(3, FLOATS)
        .rank(1, 2, 2).one_shape({ 0, 1 }).rank(2, 2, 2).one_shape({ 2, 3 }).rank(4, 3, 3).rank(5, 3, 3)
        .need(draft.dim(2, 0) == draft.dim(1, 0), INFINI_STATUS_BAD_TENSOR_SHAPE)
        .shape(5, { draft.dim(4, 0), draft.dim(1, 1), draft.dim(5, 2) })
        .shape(4, { draft.dim(5, 0), wide_by * draft.dim(5, 2), draft.dim(1, 1) })
        .shape(6, { draft.dim(4, 0), draft.dim(4, 1) }).shape(7, { draft.dim(5, 0), draft.dim(5, 1) });
    return draft.finish();
}

infiniStatus_t infiniopFusedMoe(infiniopFusedMoeDescriptor_t desc, void *, size_t, void *out,
                                const void *input, const void *token_selected_experts,
                                const void *token_final_scales, const void *w1, const void *w2,
                                const void *b1, const void *b2, void *stream)
{
    return run(desc, TAG_FusedMoe, stream,
               { out, input, token_selected_experts, token_final_scales, w1, w2, b1, b2 }, fused_moe);
}

/* As FusedMoe with SWIGLU and no biases. The lists of MoeAlign follow from topk_ids and are not read. */
infiniStatus_t infiniopCreateMoeFusedDenseDescriptor(Handle handle, Desc *out, T y, T hidden_states, T w13,
                                                     T w2, T topk_weights, T topk_ids, T sorted_token_ids,
                                                     T expert_ids, T num_tokens_post_padded)
{
    Draft draft(TAG_MoeFusedDense, handle, out, 1,
                { y, hidden_states, topk_ids, topk_weights, w13, w2, sorted_token_ids, expert_ids,
                  num_tokens_post_padded });
    const int64_t n = draft.dim(1, 0), hidden = draft.dim(1, 1), experts = draft.dim(4, 0),
                  inner = draft.dim(5, 2), topk = draft.dim(2, 1);
    return draft.dtypes(0, FLOATS).one_dtype({ 0, 1, 4, 5 }).dtypes(2, INTEGERS).dtypes(3, FLOATS)
        .dtypes(6, INTEGERS).dtypes(7, INTEGERS).dtypes(8, INTEGERS).rank(1, 2, 2).one_shape({ 0, 1 })
        .shape(2, { n, topk }).one_shape({ 2, 3 }).shape(4, { experts, 2 * inner, hidden })
        .shape(5, { experts, hidden, inner }).rank(6, 1, 1).rank(7, 1, 1).shape(8, { 1 })
        .need(draft.dim(6, 0) >= n * topk && draft.dim(7, 0) > 0 && topk > 0, INFINI_STATUS_BAD_TENSOR_SHAPE)
        .finish();
}

infiniStatus_t infiniopMoeFusedDense(Desc desc, P, size_t, P y, C hidden_states, C w13, C w2, C topk_weights,
                                     C topk_ids, C, C, C, P stream)
{
    FACE_TRY(check(desc, TAG_MoeFusedDense));
    InfiniopDescriptor op = *desc;
    op.given &= (1u << 6) - 1;
    return run_checked(&op, stream, { y, hidden_states, topk_ids, topk_weights, w13, w2 },
               [](tsr_tensor **t, const InfiniopDescriptor &) -> tsr_status {
        tsr_tensor *const matrices[4] = { t[4], t[5], nullptr, nullptr };
        Choice choice;
        Temp x, sum;
        TSR_TRY(read_choice(&choice, t[2], t[3], t[4]->shape[0], OTHERS_ARE_NONE));
        TSR_TRY(tsr_cast(&x, t[1], wide(t[1])));
        TSR_TRY(tsr_zeros_like(&sum, x));
        TSR_TRY(mix(sum, x, choice,
                    [&](tsr_tensor **part, const tsr_tensor *token, int64_t e, double weight) {
            return moe_expert(part, token, matrices, e, weight, INFINIOP_FUSED_MOE_ACT_SWIGLU);
        }));
        return tsr_copy(t[0], sum);
    });
}

/* Weights of 4 bits with a scale for each 32, as infiniopMxfp4Dequantize reads them ------------------- */

/* alpha x w^T + bias */
infiniStatus_t infiniopCreateLinearMxfp4Descriptor(Handle handle, Desc *out, T y, T x, T packed_weight,
                                                   T weight_scale, T bias, float alpha)
{
    Draft draft(TAG_LinearMxfp4, handle, out, 1, { y, x, packed_weight, weight_scale, bias }, 1u << 4);
    const int64_t n = draft.dim(2, 0), k = draft.dim(1, -1);
    draft.op.number[0] = alpha;
    draft.dtypes(0, SHORT_FLOATS).one_dtype({ 0, 1, 4 }).dtypes(2, UNSIGNED_BYTES).dtypes(3, UNSIGNED_BYTES)
        .rank(1, 2, TSR_MAX_NDIM).shape(2, { n, k / 2 }).shape(3, { n, k / 32 }).shape(4, { n })
        .need(k > 0 && k % 32 == 0 && draft.dims(0) == draft.dims(1) && draft.dim(0, -1) == n,
              INFINI_STATUS_BAD_TENSOR_SHAPE);
    for (int d = 0; d < draft.dims(1) - 1; d++)
        draft.need(draft.dim(0, d) == draft.dim(1, d), INFINI_STATUS_BAD_TENSOR_SHAPE);
    return draft.finish();
}

infiniStatus_t infiniopLinearMxfp4(Desc desc, P, size_t, P y, C x, C packed_weight, C weight_scale, C bias,
                                   P stream)
{
    return run(desc, TAG_LinearMxfp4, stream, { y, x, packed_weight, weight_scale, bias },
               [](tsr_tensor **t, const InfiniopDescriptor &op) -> tsr_status {
        Temp w, wide_x, product, wide_bias;
        TSR_TRY(expand_mxfp4(&w, t[2], t[3]));
        TSR_TRY(tsr_cast(&wide_x, t[1], TSR_F32));
        TSR_TRY(tsr_linear(&product, wide_x, w, nullptr));
        TSR_TRY(tsr_mul(&product, product, TSR_NUMBER(op.number[0])));
        if (!t[4]) return tsr_copy(t[0], product);
        TSR_TRY(tsr_cast(&wide_bias, t[4], TSR_F32));
        TSR_TRY(tsr_add(&product, product, wide_bias));
        return tsr_copy(t[0], product);
    });
}

infiniStatus_t infiniopCreateFusedMoeMxfp4Descriptor(Handle handle, Desc *out, T y, T x, T selected_experts,
                                                     T routing_weights, T w13_packed, T w13_scale,
                                                     T w2_packed, T w2_scale,
                                                     infiniopFusedMoeActivation_t activation)
{
    Draft draft(TAG_FusedMoeMxfp4, handle, out, 1,
                { y, x, selected_experts, routing_weights, w13_packed, w13_scale, w2_packed, w2_scale });
    const int64_t n = draft.dim(1, 0), hidden = draft.dim(1, 1), experts = draft.dim(4, 0),
                  inner = draft.dim(4, 1) / 2;
    draft.op.integer[0] = activation;
    draft.need(activation == INFINIOP_FUSED_MOE_ACT_SWIGLU || activation == INFINIOP_FUSED_MOE_ACT_SITUGLU,
               INFINI_STATUS_BAD_PARAM)
        .dtypes(0, SHORT_FLOATS).one_dtype({ 0, 1 }).dtypes(2, INTEGERS).dtypes(3, FLOATS);
    for (int i = 4; i < 8; i++) draft.dtypes(i, UNSIGNED_BYTES);
    return draft.rank(1, 2, 2).one_shape({ 0, 1 }).shape(2, { n, draft.dim(2, 1) }).one_shape({ 2, 3 })
        .shape(4, { experts, 2 * inner, hidden / 2 }).shape(5, { experts, 2 * inner, hidden / 32 })
        .shape(6, { experts, hidden, inner / 2 }).shape(7, { experts, hidden, inner / 32 })
        .need(hidden > 0 && hidden % 32 == 0 && inner > 0 && inner % 32 == 0, INFINI_STATUS_BAD_TENSOR_SHAPE)
        .finish();
}

namespace {

/* Matrix e of the experts' as f32, unless it is there already. */
tsr_status expand_expert(tsr_tensor **out, const tsr_tensor *packed, const tsr_tensor *scales, int64_t e)
{
    View one, its_scales;
    if (*out) return TSR_OK;
    TSR_TRY(tsr_select(&one, packed, 0, e));
    TSR_TRY(tsr_select(&its_scales, scales, 0, e));
    return expand_mxfp4(out, one, its_scales);
}

/* weight w2 act(w13 x), act(...) rounded to the dtype of the result. */
tsr_status mxfp4_expert(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *w13, const tsr_tensor *w2,
                        double weight, const InfiniopDescriptor &op)
{
    Temp hidden, act, rounded, wide_act, y;
    TSR_TRY(tsr_linear(&hidden, x, w13, nullptr));
    TSR_TRY(activate(&act, hidden, (int)op.integer[0]));
    TSR_TRY(tsr_cast(&rounded, act, op.tensor[0].dtype));
    TSR_TRY(tsr_cast(&wide_act, rounded, TSR_F32));
    TSR_TRY(tsr_linear(&y, wide_act, w2, nullptr));
    return tsr_mul(out, y, TSR_NUMBER(weight));
}

/* Expert by expert, so that each one's matrices are expanded once. */
tsr_status fused_moe_mxfp4(tsr_tensor **t, const InfiniopDescriptor &op)
{
    Choice choice;
    Temp x, sum;
    TSR_TRY(read_choice(&choice, t[2], t[3], t[4]->shape[0], OTHERS_ARE_NONE));
    TSR_TRY(tsr_cast(&x, t[1], TSR_F32));
    TSR_TRY(tsr_zeros_like(&sum, x));
    for (int64_t e = 0; e < t[4]->shape[0]; e++) {
        Temp w13, w2;
        const auto expert = [&](tsr_tensor **part, const tsr_tensor *token, int64_t,
                                double weight) -> tsr_status {
            TSR_TRY(expand_expert(&w13, t[4], t[5], e));
            TSR_TRY(expand_expert(&w2, t[6], t[7], e));
            return mxfp4_expert(part, token, w13, w2, weight, op);
        };
        TSR_TRY(mix(sum, x, choice, expert, e));
    }
    return tsr_copy(t[0], sum);
}

} // namespace

infiniStatus_t infiniopFusedMoeMxfp4(Desc desc, P, size_t, P y, C x, C selected_experts, C routing_weights,
                                     C w13_packed, C w13_scale, C w2_packed, C w2_scale, P stream)
{
    return run(desc, TAG_FusedMoeMxfp4, stream,
               { y, x, selected_experts, routing_weights, w13_packed, w13_scale, w2_packed, w2_scale },
               fused_moe_mxfp4);
}

/* integer[]: intermediate size, experts. Tensors 4 and 5 stand for one expert's gate (or up) and down. */
infiniStatus_t infiniopCreateDeepseekMoeDescriptor(
    infiniopHandle_t handle, infiniopDeepseekMoeDescriptor_t *desc_ptr, infiniopTensorDescriptor_t out,
    infiniopTensorDescriptor_t hidden, infiniopTensorDescriptor_t topk_indices,
    infiniopTensorDescriptor_t topk_weights, size_t intermediate_size, size_t num_experts)
{
    Draft draft(TAG_DeepseekMoe, handle, desc_ptr, 1, { out, hidden, topk_indices, topk_weights });
    draft.dtypes(0, FLOATS).one_dtype({ 0, 1 }).dtypes(2, INTEGERS).dtypes(3, FLOATS).rank(1, 2, 2)
        .one_shape({ 0, 1 }).rank(2, 2, 2).one_shape({ 2, 3 })
        .need(draft.dim(2, 0) == draft.dim(1, 0), INFINI_STATUS_BAD_TENSOR_SHAPE)
        .need(intermediate_size <= INT32_MAX && num_experts <= INT32_MAX, INFINI_STATUS_BAD_PARAM);
    if (!draft.good()) return draft.finish();
    const int64_t gate[2] = { (int64_t)intermediate_size, draft.dim(1, 1) }, down[2] = { gate[1], gate[0] };
    draft.op.integer[0] = gate[0];
    draft.op.integer[1] = (int64_t)num_experts;
    draft.need(tsr_desc_init(&draft[4], draft[0].dtype, 2, gate, nullptr) == TSR_OK &&
                   tsr_desc_init(&draft[5], draft[0].dtype, 2, down, nullptr) == TSR_OK,
               INFINI_STATUS_BAD_TENSOR_SHAPE);
    draft.op.given |= 3u << 4;
    return draft.finish();
}

namespace {

/* Where each expert's matrices lie. */
struct ExpertPointers {
    const void *const *gate, *const *up, *const *down;
};

/* down(silu(gate x) * (up x) * weight), what is before `down` rounded to the dtype of the matrices. */
tsr_status deepseek_expert(tsr_tensor **out, const tsr_tensor *x, const InfiniopDescriptor &op,
                           const ExpertPointers &p, int64_t e, double weight)
{
    Operand gate_m, up_m, down_m;
    Temp gate, up, act, rounded, wide_act;
    if (gate_m.bind(op, 4, p.gate[e]) || up_m.bind(op, 4, p.up[e]) || down_m.bind(op, 5, p.down[e]))
        return TSR_ENULL;
    TSR_TRY(tsr_linear(&gate, x, gate_m.tensor(), nullptr));
    TSR_TRY(tsr_linear(&up, x, up_m.tensor(), nullptr));
    TSR_TRY(tsr_swiglu(&act, gate, up));
    TSR_TRY(tsr_mul(&act, act, TSR_NUMBER(weight)));
    TSR_TRY(tsr_cast(&rounded, act, op.tensor[0].dtype));
    TSR_TRY(tsr_cast(&wide_act, rounded, x->dtype));
    return tsr_linear(out, wide_act, down_m.tensor(), nullptr);
}

infiniStatus_t run_deepseek(const InfiniopDescriptor *desc, void *stream, void *out, const void *hidden,
                            const void *indices, const void *weights, const ExpertPointers &p)
{
    if (!p.gate || !p.up || !p.down) return INFINI_STATUS_NULL_POINTER;
    return run(desc, TAG_DeepseekMoe, stream, { out, hidden, indices, weights },
               [&p](tsr_tensor **t, const InfiniopDescriptor &op) -> tsr_status {
        Choice choice;
        Temp x, sum;
        TSR_TRY(read_choice(&choice, t[2], t[3], op.integer[1], OTHERS_FAIL));
        TSR_TRY(tsr_cast(&x, t[1], wide(t[1])));
        TSR_TRY(tsr_zeros_like(&sum, x));
        TSR_TRY(mix(sum, x, choice,
                    [&](tsr_tensor **part, const tsr_tensor *token, int64_t e, double weight) {
            return deepseek_expert(part, token, op, p, e, weight);
        }));
        return tsr_copy(t[0], sum);
    });
}

} // namespace

infiniStatus_t infiniopDeepseekMoe(infiniopDeepseekMoeDescriptor_t desc, void *, size_t, void *out,
                                   const void *hidden, const void *topk_indices, const void *topk_weights,
                                   const void *const *gate_weights, const void *const *up_weights,
                                   const void *const *down_weights, void *stream)
{
    return run_deepseek(desc, stream, out, hidden, topk_indices, topk_weights,
                        { gate_weights, up_weights, down_weights });
}

infiniStatus_t infiniopDeepseekMoeWithDevicePtrs(infiniopDeepseekMoeDescriptor_t desc, void *, size_t,
                                                 void *out, const void *hidden, const void *topk_indices,
                                                 const void *topk_weights, const void *gate_weight_ptrs,
                                                 const void *up_weight_ptrs, const void *down_weight_ptrs,
                                                 void *stream)
{
    FACE_TRY(check(desc, TAG_DeepseekMoe));
    if (desc->where != TSR_CPU) return INFINI_STATUS_NOT_IMPLEMENTED;
    return run_deepseek(desc, stream, out, hidden, topk_indices, topk_weights,
                        { (const void *const *)gate_weight_ptrs, (const void *const *)up_weight_ptrs,
                          (const void *const *)down_weight_ptrs });
}

/* Sums of products ------------------------------------------------------------------------------- */

/* beta input + alpha (sum over the batch of batch1 batch2); input broadcasts. */
infiniStatus_t infiniopCreateAddbmmDescriptor(Handle handle, Desc *out, T y, T input, T batch1, T batch2,
                                              float alpha, float beta)
{
    Draft draft(TAG_Addbmm, handle, out, 1, { y, input, batch1, batch2 });
    draft.op.number[0] = alpha;
    draft.op.number[1] = beta;
    return draft.all_dtypes(FLOATS).one_dtype({ 0, 1, 2, 3 }).rank(2, 3, 3)
        .shape(3, { draft.dim(2, 0), draft.dim(2, 2), draft.dim(3, 2) })
        .shape(0, { draft.dim(2, 1), draft.dim(3, 2) }).expand(1, 0).finish();
}

infiniStatus_t infiniopAddbmm(Desc desc, P, size_t, P y, C input, C batch1, C batch2, P stream)
{
    return run(desc, TAG_Addbmm, stream, { y, input, batch1, batch2 },
               [](tsr_tensor **t, const InfiniopDescriptor &op) -> tsr_status {
                   const int batch = 0;
                   Temp a, b, products, sum, start;
                   TSR_TRY(tsr_cast(&a, t[2], wide(t[2])));
                   TSR_TRY(tsr_cast(&b, t[3], wide(t[3])));
                   TSR_TRY(tsr_matmul(&products, a, b));
                   TSR_TRY(tsr_sum(&sum, products, 1, &batch, false));
                   TSR_TRY(tsr_mul(&sum, sum, TSR_NUMBER(op.number[0])));
                   if (op.number[1] == 0) return tsr_copy(t[0], sum);
                   TSR_TRY(tsr_cast(&start, t[1], wide(t[1])));
                   TSR_TRY(tsr_mul(&start, start, TSR_NUMBER(op.number[1])));
                   TSR_TRY(tsr_add(&sum, sum, start));
                   return tsr_copy(t[0], sum);
               });
}

/* beta input + alpha vec1 vec2^T; input broadcasts. */
infiniStatus_t infiniopCreateAddrDescriptor(Handle handle, Desc *out, T y, T input, T vec1, T vec2,
                                            float beta, float alpha)
{
    Draft draft(TAG_Addr, handle, out, 1, { y, input, vec1, vec2 });
    draft.op.number[0] = alpha;
    draft.op.number[1] = beta;
    return draft.all_dtypes(FLOATS).one_dtype({ 0, 1, 2, 3 }).rank(2, 1, 1).rank(3, 1, 1)
        .shape(0, { draft.dim(2, 0), draft.dim(3, 0) }).expand(1, 0).finish();
}

infiniStatus_t infiniopAddr(Desc desc, P, size_t, P y, C input, C vec1, C vec2, P stream)
{
    return run(desc, TAG_Addr, stream, { y, input, vec1, vec2 },
               [](tsr_tensor **t, const InfiniopDescriptor &op) -> tsr_status {
                   Temp a, b, sum, start;
                   TSR_TRY(tsr_cast(&a, t[2], wide(t[2])));
                   TSR_TRY(tsr_cast(&b, t[3], wide(t[3])));
                   TSR_TRY(tsr_mul(&a, a, TSR_NUMBER(op.number[0])));
                   TSR_TRY(tsr_outer(&sum, a, b));
                   if (op.number[1] == 0) return tsr_copy(t[0], sum);
                   TSR_TRY(tsr_cast(&start, t[1], wide(t[1])));
                   TSR_TRY(tsr_mul(&start, start, TSR_NUMBER(op.number[1])));
                   TSR_TRY(tsr_add(&sum, sum, start));
                   return tsr_copy(t[0], sum);
               });
}
