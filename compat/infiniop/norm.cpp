/* norm.cpp - softmax, norms, and rotary positions. */
#include "op.h"

#include <cmath>

using namespace face;

/* Softmax ------------------------------------------------------------------------------ */

namespace {

using AlongAxis = tsr_status(tsr_tensor **, const tsr_tensor *, int);

infiniStatus_t create_softmax(Tag tag, infiniopHandle_t handle, InfiniopDescriptor **out,
                              infiniopTensorDescriptor_t y, infiniopTensorDescriptor_t x, int axis)
{
    Draft draft(tag, handle, out, 1, { y, x });
    draft.op.integer[0] = axis;
    return draft.all_dtypes(FLOATS).one_shape({ 0, 1 }).axis(1, axis).finish();
}

/* y may be wider or narrower than x: the wider one is computed in. */
tsr_status softmax_into(tsr_tensor *y, const tsr_tensor *x, int axis, AlongAxis *op)
{
    Temp x_wide, y_wide;
    if (y->dtype == x->dtype) return op(&y, x, axis);
    const tsr_dtype dtype = y->dtype == TSR_F64 || x->dtype == TSR_F64 ? TSR_F64 : TSR_F32;
    TSR_TRY(tsr_cast(&x_wide, x, dtype));
    TSR_TRY(op(&y_wide, x_wide, axis));
    return tsr_copy(y, y_wide);
}

infiniStatus_t run_softmax(const InfiniopDescriptor *desc, Tag tag, void *y, const void *x, void *stream,
                           AlongAxis *op)
{
    return run(desc, tag, stream, { y, x }, [op](tsr_tensor **t, const InfiniopDescriptor &d) {
        return softmax_into(t[0], t[1], (int)d.integer[0], op);
    });
}

} // namespace

infiniStatus_t infiniopCreateSoftmaxDescriptor(infiniopHandle_t handle, infiniopSoftmaxDescriptor_t *desc_ptr,
                                               infiniopTensorDescriptor_t y, infiniopTensorDescriptor_t x,
                                               int axis)
{
    return create_softmax(TAG_Softmax, handle, desc_ptr, y, x, axis);
}

infiniStatus_t infiniopSoftmax(infiniopSoftmaxDescriptor_t desc, void *, size_t, void *y, const void *x,
                               void *stream)
{
    return run_softmax(desc, TAG_Softmax, y, x, stream, tsr_softmax);
}

infiniStatus_t infiniopCreateLogSoftmaxDescriptor(infiniopHandle_t handle,
                                                  infiniopLogSoftmaxDescriptor_t *desc_ptr,
                                                  infiniopTensorDescriptor_t y, infiniopTensorDescriptor_t x,
                                                  int axis)
{
    return create_softmax(TAG_LogSoftmax, handle, desc_ptr, y, x, axis);
}

infiniStatus_t infiniopLogSoftmax(infiniopLogSoftmaxDescriptor_t desc, void *, size_t, void *y, const void *x,
                                  void *stream)
{
    return run_softmax(desc, TAG_LogSoftmax, y, x, stream, tsr_log_softmax);
}

infiniStatus_t infiniopCreateCausalSoftmaxDescriptor(infiniopHandle_t handle,
                                                     infiniopCausalSoftmaxDescriptor_t *desc_ptr,
                                                     infiniopTensorDescriptor_t y,
                                                     infiniopTensorDescriptor_t x)
{
    Draft draft(TAG_CausalSoftmax, handle, desc_ptr, 1, { y, x });
    return draft.all_dtypes(FLOATS).one_dtype({ 0, 1 }).one_shape({ 0, 1 }).rank(1, 2, 3)
        .need(draft.dim(1, -1) >= draft.dim(1, -2), INFINI_STATUS_BAD_TENSOR_SHAPE).finish();
}

infiniStatus_t infiniopCausalSoftmax(infiniopCausalSoftmaxDescriptor_t desc, void *, size_t, void *y,
                                     const void *x, void *stream)
{
    return run(desc, TAG_CausalSoftmax, stream, { y, x }, [](tsr_tensor **t, const InfiniopDescriptor &) {
        return tsr_causal_softmax(&t[0], t[1]);
    });
}

/* Norms ------------------------------------------------------------------------------------ */

infiniStatus_t infiniopCreateRMSNormDescriptor(infiniopHandle_t handle, infiniopRMSNormDescriptor_t *desc_ptr,
                                               infiniopTensorDescriptor_t y, infiniopTensorDescriptor_t x,
                                               infiniopTensorDescriptor_t w, float epsilon)
{
    Draft draft(TAG_RMSNorm, handle, desc_ptr, 1, { y, x, w });
    draft.op.number[0] = epsilon;
    return draft.all_dtypes(FLOATS).one_dtype({ 0, 1 }).one_shape({ 0, 1 }).rank(1, 1, TSR_MAX_NDIM)
        .shape(2, { draft.dim(1, -1) }).need(epsilon >= 0, INFINI_STATUS_BAD_PARAM).finish();
}

infiniStatus_t infiniopRMSNorm(infiniopRMSNormDescriptor_t desc, void *, size_t, void *y, const void *x,
                               const void *w, void *stream)
{
    return run(desc, TAG_RMSNorm, stream, { y, x, w }, [](tsr_tensor **t, const InfiniopDescriptor &op) {
        return tsr_rms_norm(&t[0], t[1], t[2], op.number[0]);
    });
}

infiniStatus_t infiniopCreateAddRMSNormDescriptor(infiniopHandle_t handle,
                                                  infiniopAddRMSNormDescriptor_t *desc_ptr,
                                                  infiniopTensorDescriptor_t y,
                                                  infiniopTensorDescriptor_t residual_out,
                                                  infiniopTensorDescriptor_t a, infiniopTensorDescriptor_t b,
                                                  infiniopTensorDescriptor_t weight, float epsilon)
{
    Draft draft(TAG_AddRMSNorm, handle, desc_ptr, 2, { y, residual_out, a, b, weight });
    draft.op.number[0] = epsilon;
    return draft.all_dtypes(FLOATS)
        .one_dtype({ 0, 1, 2, 3 })
        .one_shape({ 0, 1, 2, 3 })
        .rank(0, 1, TSR_MAX_NDIM)
        .shape(4, { draft.dim(0, -1) })
        .need(epsilon >= 0, INFINI_STATUS_BAD_PARAM)
        .finish();
}

infiniStatus_t infiniopAddRMSNorm(infiniopAddRMSNormDescriptor_t desc, void *, size_t, void *y,
                                  void *residual_out, const void *a, const void *b, const void *weight,
                                  void *stream)
{
    return run(desc, TAG_AddRMSNorm, stream, { y, residual_out, a, b, weight },
               [](tsr_tensor **t, const InfiniopDescriptor &op) {
        return tsr_add_rms_norm(&t[0], &t[1], t[2], t[3], t[4], op.number[0]);
    });
}

infiniStatus_t infiniopCreateLayerNormDescriptor(
    infiniopHandle_t handle, infiniopLayerNormDescriptor_t *desc_ptr, infiniopTensorDescriptor_t output,
    infiniopTensorDescriptor_t input_standardization, infiniopTensorDescriptor_t input_std_deviation,
    infiniopTensorDescriptor_t input, infiniopTensorDescriptor_t weight, infiniopTensorDescriptor_t bias,
    float eps)
{
    Draft draft(TAG_LayerNorm, handle, desc_ptr, 3,
                { output, input_standardization, input_std_deviation, input, weight, bias },
                1u << 1 | 1u << 2 | 1u << 5);
    draft.op.number[0] = eps;
    draft.all_dtypes(FLOATS)
        .one_dtype({ 0, 3 })
        .one_shape({ 0, 1, 3 })
        .rank(3, 1, TSR_MAX_NDIM)
        .shape(4, { draft.dim(3, -1) })
        .shape(5, { draft.dim(3, -1) })
        .need(eps >= 0, INFINI_STATUS_BAD_PARAM);
    if (draft.good() && draft.has(2)) {
        tsr_desc rows = draft[3];
        rows.ndim--;
        draft.need(tsr_desc_same_shape(&rows, &draft[2]), INFINI_STATUS_BAD_TENSOR_SHAPE);
    }
    return draft.finish();
}

namespace {

/* sqrt(var + eps) of each row. */
tsr_status deviations(tsr_tensor *out, const tsr_tensor *x, double eps)
{
    const int last = -1;
    Temp x_wide, var;
    TSR_TRY(tsr_cast(&x_wide, x, wide(x)));
    TSR_TRY(tsr_var(&var, x_wide, 1, &last, false, 0));
    TSR_TRY(tsr_add(&var, var, TSR_NUMBER(eps)));
    TSR_TRY(tsr_sqrt(&var, var));
    return tsr_copy(out, var);
}

tsr_status layer_norm(tsr_tensor **t, const InfiniopDescriptor &op)
{
    Temp plain;
    if (t[2]) TSR_TRY(deviations(t[2], t[3], op.number[0]));
    if (t[1]) {
        TSR_TRY(tsr_layer_norm(&plain, t[3], 1, nullptr, nullptr, op.number[0]));
        TSR_TRY(tsr_copy(t[1], plain));
    }
    return tsr_layer_norm(&t[0], t[3], 1, t[4], t[5], op.number[0]);
}

} // namespace

infiniStatus_t infiniopLayerNorm(infiniopLayerNormDescriptor_t desc, void *, size_t, void *output,
                                 void *input_standardization, void *input_std_deviation, const void *input,
                                 const void *weight, const void *bias, void *stream)
{
    return run(desc, TAG_LayerNorm, stream,
               { output, input_standardization, input_std_deviation, input, weight, bias }, layer_norm);
}

infiniStatus_t infiniopCreateLPNormDescriptor(infiniopHandle_t handle, infiniopLPNormDescriptor_t *desc_ptr,
                                              infiniopTensorDescriptor_t output,
                                              infiniopTensorDescriptor_t input, int axis, int p, float eps)
{
    Draft draft(TAG_LPNorm, handle, desc_ptr, 1, { output, input });
    draft.op.integer[0] = axis;
    draft.op.integer[1] = p;
    draft.op.number[0] = eps;
    return draft.all_dtypes(FLOATS).one_dtype({ 0, 1 }).one_shape({ 0, 1 }).axis(1, axis)
        .need(p > 0, INFINI_STATUS_BAD_PARAM).finish();
}

infiniStatus_t infiniopLPNorm(infiniopLPNormDescriptor_t desc, void *, size_t, void *output,
                              const void *input, void *stream)
{
    return run(desc, TAG_LPNorm, stream, { output, input },
               [](tsr_tensor **t, const InfiniopDescriptor &op) -> tsr_status {
        const int axis = (int)op.integer[0];
        Temp x, norm;
        TSR_TRY(tsr_cast(&x, t[1], wide(t[1])));
        TSR_TRY(tsr_norm(&norm, x, 1, &axis, true, (double)op.integer[1]));
        TSR_TRY(tsr_maximum(&norm, norm, TSR_NUMBER(op.number[0])));
        TSR_TRY(tsr_div(&x, x, norm));
        return tsr_copy(t[0], x);
    });
}

/* Rotary positions ---------------------------------------------------------------------------- */

infiniStatus_t infiniopCreateRoPEDescriptor(infiniopHandle_t handle, infiniopRoPEDescriptor_t *desc_ptr,
                                            infiniopTensorDescriptor_t y, infiniopTensorDescriptor_t x,
                                            infiniopTensorDescriptor_t pos_ids,
                                            infiniopTensorDescriptor_t sin_table,
                                            infiniopTensorDescriptor_t cos_table, infiniopRoPEAlgo_t algo)
{
    Draft draft(TAG_RoPE, handle, desc_ptr, 1, { y, x, pos_ids, sin_table, cos_table });
    draft.op.integer[0] = algo == INFINIOP_ROPE_ALGO_GPT_J ? TSR_ROPE_PAIRS : TSR_ROPE_HALVES;
    draft.dtypes(0, FLOATS)
        .dtypes(2, INTEGERS)
        .dtypes(3, FLOATS)
        .dtypes(4, FLOATS)
        .one_dtype({ 0, 1 })
        .one_dtype({ 3, 4 })
        .need(algo == INFINIOP_ROPE_ALGO_GPT_J || algo == INFINIOP_ROPE_ALGO_GPT_NEOX,
              INFINI_STATUS_BAD_PARAM)
        .one_shape({ 0, 1 })
        .rank(1, 3, 4)
        .rank(2, 1, 2)
        .rank(3, 2, 2)
        .one_shape({ 3, 4 })
        .need(draft.dim(1, -1) % 2 == 0 && draft.dim(3, 1) == draft.dim(1, -1) / 2,
              INFINI_STATUS_BAD_TENSOR_SHAPE)
        .need(draft.dim(2, -1) == draft.dim(1, -3), INFINI_STATUS_BAD_TENSOR_SHAPE);
    if (draft.good() && draft[2].ndim == 2)
        draft.rank(1, 4, 4).need(draft.dim(2, 0) == draft.dim(1, 0), INFINI_STATUS_BAD_TENSOR_SHAPE);
    return draft.finish();
}

namespace {

tsr_status rope(tsr_tensor **t, const InfiniopDescriptor &op)
{
    const tsr_rope_mode mode = (tsr_rope_mode)op.integer[0];
    if (t[2]->ndim == 1) return tsr_rope_with(&t[0], t[1], t[2], t[3], t[4], mode);
    for (int64_t i = 0; i < t[2]->shape[0]; i++) { /* each sequence has positions of its own */
        View y, x, positions;
        TSR_TRY(tsr_select(&y, t[0], 0, i));
        TSR_TRY(tsr_select(&x, t[1], 0, i));
        TSR_TRY(tsr_select(&positions, t[2], 0, i));
        TSR_TRY(tsr_rope_with(&y, x, positions, t[3], t[4], mode));
    }
    return TSR_OK;
}

} // namespace

infiniStatus_t infiniopRoPE(infiniopRoPEDescriptor_t desc, void *, size_t, void *y, const void *x,
                            const void *pos_ids, const void *sin_table, const void *cos_table, void *stream)
{
    return run(desc, TAG_RoPE, stream, { y, x, pos_ids, sin_table, cos_table }, rope);
}

infiniStatus_t infiniopCreateMRoPEDescriptor(
    infiniopHandle_t handle, infiniopMRoPEDescriptor_t *desc_ptr, infiniopTensorDescriptor_t q_out,
    infiniopTensorDescriptor_t k_out, infiniopTensorDescriptor_t q, infiniopTensorDescriptor_t k,
    infiniopTensorDescriptor_t cos, infiniopTensorDescriptor_t sin, infiniopTensorDescriptor_t positions,
    int head_size, int rotary_dim, int section_t, int section_h, int section_w, bool interleaved)
{
    Draft draft(TAG_MRoPE, handle, desc_ptr, 2, { q_out, k_out, q, k, cos, sin, positions });
    const int64_t numbers[] = { head_size, rotary_dim, section_t, section_h, section_w, interleaved };
    for (int i = 0; i < 6; i++) draft.op.integer[i] = numbers[i];
    draft.dtypes(0, FLOATS)
        .one_dtype({ 0, 1, 2, 3 })
        .dtypes(4, FLOATS)
        .one_dtype({ 4, 5 })
        .dtypes(6, INTEGERS)
        .need(head_size > 0 && rotary_dim > 0 && rotary_dim % 2 == 0 && rotary_dim <= head_size &&
                  section_t >= 0 && section_h >= 0 && section_w >= 0,
              INFINI_STATUS_BAD_PARAM)
        .rank(2, 2, 2)
        .one_shape({ 0, 2 })
        .rank(3, 2, 2)
        .one_shape({ 1, 3 })
        .rank(4, 2, 2)
        .one_shape({ 4, 5 })
        .rank(6, 1, 2);
    if (!draft.good()) return draft.finish();
    return draft.need(draft.dim(2, 1) % head_size == 0 && draft.dim(3, 1) % head_size == 0 &&
                      draft.dim(2, 0) == draft.dim(3, 0) && draft.dim(4, 1) == rotary_dim / 2 &&
                      draft.dim(6, -1) == draft.dim(2, 0) && (draft[6].ndim == 1 || draft.dim(6, 0) == 3),
                      INFINI_STATUS_BAD_TENSOR_SHAPE).finish();
}

namespace {

/* Which of the three positions pair i is rotated by. */
int section_of(const InfiniopDescriptor &op, int64_t i)
{
    const int64_t *n = op.integer + 2;
    if (!op.integer[5]) return i < n[0] ? 0 : i < n[0] + n[1] ? 1 : 2;
    if (i % 3 == 1 && i < n[1] * 3) return 1;
    return i % 3 == 2 && i < n[2] * 3 ? 2 : 0;
}

/* Row i of the result: the angles of token i, each column from the row of its own section's position. */
tsr_status section_table(tsr_tensor **out, const tsr_tensor *table, const tsr_tensor *positions,
                         const InfiniopDescriptor &op)
{
    if (positions->ndim == 1) return tsr_take(out, table, positions, 0);
    Temp rows[3];
    for (int s = 0; s < 3; s++) {
        View mine;
        TSR_TRY(tsr_select(&mine, positions, 0, s));
        TSR_TRY(tsr_take(&rows[s], table, mine, 0));
    }
    TSR_TRY(tsr_clone(out, rows[0]));
    const int64_t n = table->shape[1];
    for (int64_t from = 0, to; from < n; from = to) {
        const int s = section_of(op, from);
        for (to = from + 1; to < n && section_of(op, to) == s; to++) {}
        View dst, src;
        TSR_TRY(tsr_slice(&dst, *out, 1, from, to, 1));
        TSR_TRY(tsr_slice(&src, rows[s], 1, from, to, 1));
        TSR_TRY(tsr_copy(dst, src));
    }
    return TSR_OK;
}

tsr_status mrope_one(tsr_tensor *out, const tsr_tensor *x, const tsr_tensor *sin, const tsr_tensor *cos,
                     const tsr_tensor *tokens, const InfiniopDescriptor &op)
{
    const int64_t head[2] = { -1, op.integer[0] };
    View y_heads, x_heads, y, rotated;
    TSR_TRY(tsr_split_dim(&y_heads, out, 1, 2, head));
    TSR_TRY(tsr_split_dim(&x_heads, x, 1, 2, head));
    TSR_TRY(tsr_copy(y_heads, x_heads));
    TSR_TRY(tsr_slice(&y, y_heads, 2, 0, op.integer[1], 1));
    TSR_TRY(tsr_slice(&rotated, x_heads, 2, 0, op.integer[1], 1));
    return tsr_rope_with(&y, rotated, tokens, sin, cos, TSR_ROPE_HALVES);
}

tsr_status mrope(tsr_tensor **t, const InfiniopDescriptor &op)
{
    Temp sin, cos, host_tokens, tokens;
    TSR_TRY(section_table(&cos, t[4], t[6], op));
    TSR_TRY(section_table(&sin, t[5], t[6], op));
    TSR_TRY(tsr_arange(&host_tokens, TSR_I64, TSR_SCALAR(0), TSR_SCALAR((long long)t[2]->shape[0]),
                       TSR_SCALAR(1)));
    TSR_TRY(tsr_to(&tokens, host_tokens, tsr_device_of(t[2])));
    TSR_TRY(mrope_one(t[0], t[2], sin, cos, tokens, op));
    return mrope_one(t[1], t[3], sin, cos, tokens, op);
}

} // namespace

infiniStatus_t infiniopMRoPE(infiniopMRoPEDescriptor_t desc, void *, size_t, void *q_out, void *k_out,
                             const void *q, const void *k, const void *cos, const void *sin,
                             const void *positions, void *stream)
{
    return run(desc, TAG_MRoPE, stream, { q_out, k_out, q, k, cos, sin, positions }, mrope);
}
