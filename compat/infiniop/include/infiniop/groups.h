/* groups.h - operator groups whose declarations follow one pattern, as one table.
 *
 * INFINIOP_GROUP(Name, (tensors and numbers), (pointers)) declares infiniopNameDescriptor_t and
 *
 *     infiniopCreateNameDescriptor(handle, desc_ptr, tensors and numbers)
 *     infiniopGetNameWorkspaceSize(desc, size)
 *     infiniopName(desc, workspace, workspace_size, pointers, stream)
 *     infiniopDestroyNameDescriptor(desc)
 *
 * Results come first. INFINIOP_GROUP_DIRECT is the same without a workspace. What each group computes is
 * in docs/compat/infiniop.md. */
#ifndef INFINIOP_GROUPS_H
#define INFINIOP_GROUPS_H

#ifdef __cplusplus
#include <cstdint>
#else
#include <stdbool.h>
#include <stdint.h>
#endif

#include "operator_descriptor.h"
#include "ops/fused_moe.h"
#include "ops/random_sample.h"

#define INFINIOP_LIST(...) __VA_ARGS__

#define INFINIOP_GROUP_LIFE(Name, create) \
    typedef struct InfiniopDescriptor *infiniop##Name##Descriptor_t; \
    __INFINI_C __export infiniStatus_t infiniopCreate##Name##Descriptor( \
        infiniopHandle_t handle, infiniop##Name##Descriptor_t *desc_ptr, INFINIOP_LIST create); \
    __INFINI_C __export infiniStatus_t infiniopGet##Name##WorkspaceSize( \
        infiniop##Name##Descriptor_t desc, size_t *size); \
    __INFINI_C __export infiniStatus_t infiniopDestroy##Name##Descriptor(infiniop##Name##Descriptor_t desc);

#define INFINIOP_GROUP(Name, create, run) \
    INFINIOP_GROUP_LIFE(Name, create) \
    __INFINI_C __export infiniStatus_t infiniop##Name( \
        infiniop##Name##Descriptor_t desc, void *workspace, size_t workspace_size, INFINIOP_LIST run, \
        void *stream);

#define INFINIOP_GROUP_DIRECT(Name, create, run) \
    INFINIOP_GROUP_LIFE(Name, create) \
    __INFINI_C __export infiniStatus_t infiniop##Name( \
        infiniop##Name##Descriptor_t desc, INFINIOP_LIST run, void *stream);

#define INFINIOP_UNARY(Name) \
    INFINIOP_GROUP(Name, (infiniopTensorDescriptor_t y_desc, infiniopTensorDescriptor_t x_desc), \
                   (void *y, const void *x))

#define INFINIOP_BINARY(Name) \
    INFINIOP_GROUP(Name, (infiniopTensorDescriptor_t c_desc, infiniopTensorDescriptor_t a_desc, \
                          infiniopTensorDescriptor_t b_desc), (void *c, const void *a, const void *b))

/* Element by element, all tensors of one shape. */
INFINIOP_UNARY(Acos)
INFINIOP_UNARY(Asin)
INFINIOP_UNARY(Asinh)
INFINIOP_UNARY(Digamma)
INFINIOP_UNARY(Floor)
INFINIOP_UNARY(Relu6)
INFINIOP_UNARY(Selu)
INFINIOP_UNARY(Sinh)
INFINIOP_UNARY(Softsign)
INFINIOP_UNARY(Tanhshrink)

INFINIOP_BINARY(BitwiseRightShift)
INFINIOP_BINARY(FloorDivide)
INFINIOP_BINARY(Fmin)
INFINIOP_BINARY(Fmod)
INFINIOP_BINARY(Hypot)
INFINIOP_BINARY(Ldexp)
INFINIOP_BINARY(LogAddExp2)
INFINIOP_BINARY(LogAddExp)

/* The others. */
#define INFINIOP_T infiniopTensorDescriptor_t

INFINIOP_GROUP(AdaptiveAvgPool1d, (INFINIOP_T out, INFINIOP_T input), (void *output, const void *input))
INFINIOP_GROUP(AdaptiveAvgPool3D,
    (INFINIOP_T y, INFINIOP_T x, size_t *output_size),
    (void *y, const void *x))
INFINIOP_GROUP(AdaptiveMaxPool1d,
    (INFINIOP_T y, INFINIOP_T x, size_t output_size),
    (void *y, const void *x))
INFINIOP_GROUP(Addbmm,
    (INFINIOP_T out, INFINIOP_T input, INFINIOP_T batch1, INFINIOP_T batch2, float alpha, float beta),
    (void *output, const void *input, const void *batch1, const void *batch2))
INFINIOP_GROUP(Addr,
    (INFINIOP_T out, INFINIOP_T input, INFINIOP_T vec1, INFINIOP_T vec2, float beta, float alpha),
    (void *out, const void *input, const void *vec1, const void *vec2))
INFINIOP_GROUP(AffineGrid,
    (INFINIOP_T output, INFINIOP_T input, uint8_t align_corners),
    (void *output, const void *input))
INFINIOP_GROUP(All,
    (INFINIOP_T output, INFINIOP_T input, size_t *dim, size_t dim_size, bool keepdim),
    (void *output, const void *input, size_t *dim, size_t dim_size, bool keepdim))
INFINIOP_GROUP(Argwhere, (INFINIOP_T input), (void **output, size_t *count, const void *input))
INFINIOP_GROUP(BlockDiag, (INFINIOP_T y, INFINIOP_T *x, size_t num_inputs), (void *y, const void **x))
INFINIOP_GROUP(BroadcastTo, (INFINIOP_T y, INFINIOP_T x), (void *y, const void *x))
INFINIOP_GROUP(CausalConv1d,
    (INFINIOP_T out, INFINIOP_T conv_state, INFINIOP_T final_conv_state, INFINIOP_T qkv,
     INFINIOP_T weight, INFINIOP_T bias, INFINIOP_T cu_seqlens, INFINIOP_T initial_state_indices,
     INFINIOP_T final_state_indices),
    (void *out, void *conv_state, void *final_conv_state, const void *qkv, const void *weight,
     const void *bias, const void *cu_seqlens, const void *initial_state_indices,
     const void *final_state_indices))
INFINIOP_GROUP(Diff, (INFINIOP_T y, INFINIOP_T x, int dim, int n), (void *y, const void *x))
INFINIOP_GROUP(Dist,
    (INFINIOP_T y, INFINIOP_T x1, INFINIOP_T x2, double p),
    (void *y, const void *x1, const void *x2))
INFINIOP_GROUP_DIRECT(Embedding,
    (INFINIOP_T output, INFINIOP_T input, INFINIOP_T weight_desc),
    (void *output, const void *input, const void *weight))
INFINIOP_GROUP(FlashAttention,
    (INFINIOP_T out, INFINIOP_T q, INFINIOP_T k, INFINIOP_T v, INFINIOP_T total_kv_len, float scale,
     char is_causal),
    (void *out, const void *q, const void *k, const void *v, const void *total_kv_len))
INFINIOP_GROUP(Flipud, (INFINIOP_T output, INFINIOP_T input), (void *output, const void *input))
INFINIOP_GROUP(FloatPower,
    (INFINIOP_T y, INFINIOP_T x, INFINIOP_T exponent, float scalar_exponent),
    (void *y, const void *x, const void *exponent))
INFINIOP_GROUP_DIRECT(Fp8IndexerLogits,
    (INFINIOP_T logits, INFINIOP_T q_fp8, INFINIOP_T kv_cache, INFINIOP_T block_tables,
     INFINIOP_T weights_fp32, INFINIOP_T positions, INFINIOP_T request_ids),
    (void *logits, const void *q_fp8, const void *kv_cache, const void *block_tables,
     const void *weights_fp32, const void *positions, const void *request_ids))
INFINIOP_GROUP_DIRECT(Fp8IndexerQuant,
    (INFINIOP_T q_fp8, INFINIOP_T weights_fp32, INFINIOP_T q, INFINIOP_T weights),
    (void *q_fp8, void *weights_fp32, const void *q, const void *weights))
INFINIOP_GROUP_DIRECT(Fp8MlaRmsnormCache,
    (INFINIOP_T cache, INFINIOP_T vendor_cache, INFINIOP_T compressed_kv, INFINIOP_T norm_weight,
     INFINIOP_T rope, INFINIOP_T slot_mapping, double eps),
    (void *cache, void *vendor_cache, const void *compressed_kv, const void *norm_weight,
     const void *rope, const void *slot_mapping))
INFINIOP_GROUP(Fp8SparseMla,
    (INFINIOP_T output, INFINIOP_T query, INFINIOP_T kv_cache, INFINIOP_T indices, INFINIOP_T topk_lens,
     float scale),
    (void *output, const void *query, const void *kv_cache, const void *indices, const void *topk_lens))
INFINIOP_GROUP_DIRECT(FusedFp8Indexer,
    (INFINIOP_T q_fp8, INFINIOP_T weights_fp32, INFINIOP_T k_cache, INFINIOP_T q_raw,
     INFINIOP_T k_weights, INFINIOP_T norm_weight, INFINIOP_T norm_bias, INFINIOP_T positions,
     INFINIOP_T cos_sin_cache, INFINIOP_T slot_mapping, uint64_t rope_dim, double eps,
     double weights_scale),
    (void *q_fp8, void *weights_fp32, void *k_cache, const void *q_raw, const void *k_weights,
     const void *norm_weight, const void *norm_bias, const void *positions, const void *cos_sin_cache,
     const void *slot_mapping))
INFINIOP_GROUP(FusedMoeMxfp4,
    (INFINIOP_T output, INFINIOP_T input, INFINIOP_T selected_experts, INFINIOP_T routing_weights,
     INFINIOP_T w13_packed, INFINIOP_T w13_scale, INFINIOP_T w2_packed, INFINIOP_T w2_scale,
     infiniopFusedMoeActivation_t activation),
    (void *output, const void *input, const void *selected_experts, const void *routing_weights,
     const void *w13_packed, const void *w13_scale, const void *w2_packed, const void *w2_scale))
INFINIOP_GROUP(GaussianNllLoss,
    (INFINIOP_T y, INFINIOP_T input, INFINIOP_T target, INFINIOP_T var, int full, double eps,
     int reduction),
    (void *y, const void *input, const void *target, const void *var))
INFINIOP_GROUP(HingeEmbeddingLoss,
    (INFINIOP_T y, INFINIOP_T input, INFINIOP_T target, double margin, int reduction),
    (void *y, const void *input, const void *target))
INFINIOP_GROUP(HuberLoss,
    (INFINIOP_T output, INFINIOP_T input, INFINIOP_T target, float delta, int reduction),
    (void *output, const void *input, const void *target))
INFINIOP_GROUP(IndexAdd,
    (INFINIOP_T output, INFINIOP_T input, int64_t dim, INFINIOP_T index, INFINIOP_T source, float alpha),
    (void *output, const void *input, const void *index, const void *source))
INFINIOP_GROUP(IndexCopy,
    (INFINIOP_T output, INFINIOP_T input, int64_t dim, INFINIOP_T index, INFINIOP_T source),
    (void *output, const void *input, const void *index, const void *source))
INFINIOP_GROUP(Inner,
    (INFINIOP_T out, INFINIOP_T input, INFINIOP_T other),
    (void *out, const void *input, const void *other))
INFINIOP_GROUP(Interpolate,
    (INFINIOP_T y, INFINIOP_T x, const char *mode, void *size, void *scale_factor, int align_corners),
    (void *y, const void *x))
INFINIOP_GROUP(KimiDeltaAttention,
    (INFINIOP_T out, INFINIOP_T initial_state, INFINIOP_T final_state, INFINIOP_T q, INFINIOP_T k,
     INFINIOP_T v, INFINIOP_T g, INFINIOP_T beta, INFINIOP_T A_log, INFINIOP_T dt_bias,
     INFINIOP_T cu_seqlens, INFINIOP_T initial_state_indices, INFINIOP_T final_state_indices, float scale,
     float lower_bound, bool use_qk_l2norm),
    (void *out, void *initial_state, void *final_state, const void *q, const void *k, const void *v,
     const void *g, const void *beta, const void *A_log, const void *dt_bias, const void *cu_seqlens,
     const void *initial_state_indices, const void *final_state_indices))
INFINIOP_GROUP(Kron,
    (INFINIOP_T y, INFINIOP_T x1, INFINIOP_T x2),
    (void *y, const void *x1, const void *x2))
INFINIOP_GROUP(Kthvalue,
    (INFINIOP_T values, INFINIOP_T indices, INFINIOP_T input, int k, int dim, int keepdim),
    (void *values, void *indices, const void *input))
INFINIOP_GROUP(Lerp,
    (INFINIOP_T output, INFINIOP_T start, INFINIOP_T end, INFINIOP_T weight, float weight_scalar),
    (void *output, const void *start, const void *end, const void *weight))
INFINIOP_GROUP(LinearMxfp4,
    (INFINIOP_T output, INFINIOP_T input, INFINIOP_T packed_weight, INFINIOP_T weight_scale,
     INFINIOP_T bias, float alpha),
    (void *output, const void *input, const void *packed_weight, const void *weight_scale,
     const void *bias))
INFINIOP_GROUP(LogCumSumExp,
    (INFINIOP_T y, INFINIOP_T x, int axis, int exclusive, int reverse),
    (void *y, const void *x))
INFINIOP_GROUP(Logdet, (INFINIOP_T y, INFINIOP_T x), (void *y, const void *x))
INFINIOP_GROUP(MambaSelectiveScan,
    (INFINIOP_T out, INFINIOP_T x, INFINIOP_T dt, INFINIOP_T b, INFINIOP_T c, INFINIOP_T a_log,
     INFINIOP_T d, INFINIOP_T gate, INFINIOP_T dt_bias, INFINIOP_T state),
    (void *out, const void *x, const void *dt, const void *b, const void *c, const void *a_log,
     const void *d, const void *gate, const void *dt_bias, void *state))
INFINIOP_GROUP(MaskedSelect,
    (INFINIOP_T input, INFINIOP_T mask),
    (const void *input, const bool *mask, void **data_ptr, size_t *dlen))
INFINIOP_GROUP(MoeAlign,
    (INFINIOP_T sorted_token_ids, INFINIOP_T expert_ids, INFINIOP_T num_tokens_post_padded,
     INFINIOP_T topk_ids, size_t num_experts, size_t block_size),
    (void *sorted_token_ids, void *expert_ids, void *num_tokens_post_padded, const void *topk_ids,
     const void *expert_map, int pad_sorted_token_ids))
INFINIOP_GROUP(MoeFusedDense,
    (INFINIOP_T output, INFINIOP_T hidden_states, INFINIOP_T w13, INFINIOP_T w2, INFINIOP_T topk_weights,
     INFINIOP_T topk_ids, INFINIOP_T sorted_token_ids, INFINIOP_T expert_ids,
     INFINIOP_T num_tokens_post_padded),
    (void *output, const void *hidden_states, const void *w13, const void *w2, const void *topk_weights,
     const void *topk_ids, const void *sorted_token_ids, const void *expert_ids,
     const void *num_tokens_post_padded))
INFINIOP_GROUP(MoeFusedGate,
    (INFINIOP_T topk_weights, INFINIOP_T topk_indices, INFINIOP_T input, INFINIOP_T bias,
     size_t num_expert_group, size_t topk_group, size_t num_fused_shared_experts,
     float routed_scaling_factor, bool apply_routed_scaling_factor_on_output),
    (void *topk_weights, void *topk_indices, const void *input, const void *bias))
INFINIOP_GROUP(MoeSum, (INFINIOP_T output, INFINIOP_T input), (void *output, const void *input))
INFINIOP_GROUP(MoeTopkSigmoid,
    (INFINIOP_T topk_weights, INFINIOP_T topk_indices, INFINIOP_T gating_output,
     INFINIOP_T correction_bias, bool renormalize),
    (void *topk_weights, void *topk_indices, const void *gating_output, const void *correction_bias))
INFINIOP_GROUP(MoeTopkSoftmax,
    (INFINIOP_T topk_weights, INFINIOP_T topk_indices, INFINIOP_T gating_output,
     INFINIOP_T correction_bias, bool renormalize, float moe_softcapping),
    (void *topk_weights, void *topk_indices, const void *gating_output, const void *correction_bias))
INFINIOP_GROUP(MulScalar,
    (INFINIOP_T output, INFINIOP_T input),
    (void *output, const void *input, double alpha))
INFINIOP_GROUP(MultiMarginLoss,
    (INFINIOP_T output, INFINIOP_T input, INFINIOP_T target, INFINIOP_T weight, int p, float margin,
     int reduction),
    (void *output, const void *input, const void *target, const void *weight))
INFINIOP_GROUP(Pad,
    (INFINIOP_T y, INFINIOP_T x, void *pad, size_t pad_size, const char *mode, double value),
    (void *y, const void *x))
INFINIOP_GROUP(Prelu,
    (INFINIOP_T y, INFINIOP_T x, INFINIOP_T weight),
    (void *y, const void *x, const void *weight))
INFINIOP_GROUP(PrepareMoeInput,
    (INFINIOP_T expert_offsets, INFINIOP_T blockscale_offsets, INFINIOP_T problem_sizes1,
     INFINIOP_T problem_sizes2, INFINIOP_T input_permutation, INFINIOP_T output_permutation,
     INFINIOP_T topk_ids, size_t num_experts, size_t n, size_t k),
    (void *expert_offsets, void *blockscale_offsets, void *problem_sizes1, void *problem_sizes2,
     void *input_permutation, void *output_permutation, const void *topk_ids))
INFINIOP_GROUP(Rwkv5Wkv,
    (INFINIOP_T out, INFINIOP_T receptance, INFINIOP_T key, INFINIOP_T value, INFINIOP_T time_decay,
     INFINIOP_T time_faaaa, INFINIOP_T state),
    (void *out, const void *receptance, const void *key, const void *value, const void *time_decay,
     const void *time_faaaa, void *state))
INFINIOP_GROUP(Scatter,
    (INFINIOP_T output, INFINIOP_T input, INFINIOP_T indices, INFINIOP_T updates, int axis,
     int reduction),
    (void *output, const void *input, const void *indices, const void *updates))
INFINIOP_GROUP_DIRECT(SelectLastTokenHidden,
    (INFINIOP_T output, INFINIOP_T hidden_states, INFINIOP_T input_offsets),
    (void *output, const void *hidden_states, const void *input_offsets))
INFINIOP_GROUP(SmoothL1Loss,
    (INFINIOP_T output, INFINIOP_T input, INFINIOP_T target, float beta, int reduction),
    (void *output, const void *input, const void *target))
INFINIOP_GROUP(Sum,
    (INFINIOP_T output, INFINIOP_T input, size_t *dim, size_t dim_size, bool keepdim),
    (void *output, const void *input, size_t *dim, size_t dim_size, bool keepdim))
INFINIOP_GROUP(Take,
    (INFINIOP_T output, INFINIOP_T input, INFINIOP_T indices),
    (void *output, const void *input, const void *indices))
INFINIOP_GROUP(Tan, (INFINIOP_T input, INFINIOP_T out), (void *output, const void *input))
INFINIOP_GROUP(TopK,
    (INFINIOP_T values_output, INFINIOP_T indices_output, INFINIOP_T input, size_t k, size_t dim,
     bool largest, bool sorted),
    (void *values_output, void *indices_output, const void *input, size_t k, size_t dim, bool largest,
     bool sorted))
INFINIOP_GROUP(TripletMarginLoss,
    (INFINIOP_T output, INFINIOP_T anchor, INFINIOP_T positive, INFINIOP_T negative, float margin, int p,
     float eps, int swap, int reduction),
    (void *output, const void *anchor, const void *positive, const void *negative))
INFINIOP_GROUP(TripletMarginWithDistanceLoss,
    (INFINIOP_T output, INFINIOP_T anchor, INFINIOP_T positive, INFINIOP_T negative, float margin,
     int swap, int reduction),
    (void *output, const void *anchor, const void *positive, const void *negative))
INFINIOP_GROUP(Unfold,
    (INFINIOP_T output, INFINIOP_T input, const int *kernel_sizes, const int *strides,
     const int *paddings, const int *dilations),
    (void *output, const void *input))
INFINIOP_GROUP(UpsampleBilinear,
    (INFINIOP_T output, INFINIOP_T input, int align_corners),
    (void *output, const void *input))
INFINIOP_GROUP(UpsampleNearest, (INFINIOP_T output, INFINIOP_T input), (void *output, const void *input))
INFINIOP_GROUP(Vander,
    (INFINIOP_T output, INFINIOP_T input, int N, int increasing),
    (void *output, const void *input))
INFINIOP_GROUP(Var,
    (INFINIOP_T var_output, INFINIOP_T input, size_t *dim, size_t dim_size, bool unbiased, bool keepdim),
    (void *var_output, const void *input, size_t *dim, size_t dim_size, bool unbiased, bool keepdim))
INFINIOP_GROUP(VarMean,
    (INFINIOP_T var_output, INFINIOP_T mean_output, INFINIOP_T input, size_t *dim, size_t dim_size,
     bool unbiased, bool keepdim),
    (void *var_output, void *mean_output, const void *input, size_t *dim, size_t dim_size, bool unbiased,
     bool keepdim))

/* A descriptor of RandomSample with one row of probabilities for each draw. */
__INFINI_C __export infiniStatus_t infiniopCreateRandomSampleBatchDescriptor(
    infiniopHandle_t handle, infiniopRandomSampleDescriptor_t *desc_ptr, INFINIOP_T result, INFINIOP_T probs);

__INFINI_C __export infiniStatus_t infiniopRandomSampleBatch(
    infiniopRandomSampleDescriptor_t desc, void *workspace, size_t workspace_size, void *result,
    const void *probs, const float *random_val, const float *topp, const int *topk, const float *temperature,
    int batch_size, void *stream);

#undef INFINIOP_T
#undef INFINIOP_UNARY
#undef INFINIOP_BINARY
#undef INFINIOP_GROUP
#undef INFINIOP_GROUP_DIRECT
#undef INFINIOP_GROUP_LIFE
#undef INFINIOP_LIST

#endif
