/* llaisys/ops.h - operators. Results come first and exist already.
 *
 * All tensors of a call lie on one device; floats have one dtype of f32, f16 and bf16 (any for add
 * and rearrange), which f16 and bf16 are computed in f32 for and rounded to once. Strides may be
 * anything. Failures are as in tensor.h. */
#ifndef LLAISYS_OPS_H
#define LLAISYS_OPS_H

#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* c = a + b, of one shape */
__export void llaisysAdd(llaisysTensor_t c, llaisysTensor_t a, llaisysTensor_t b);

/* The largest of vals and its place, i64, in tensors of one element each; the first of equals. */
__export void llaisysArgmax(llaisysTensor_t max_idx, llaisysTensor_t max_val, llaisysTensor_t vals);

/* Rows index (n), i64, of weight (rows, d): out is (n, d). */
__export void llaisysEmbedding(llaisysTensor_t out, llaisysTensor_t index, llaisysTensor_t weight);

/* in (m, k) times weight (n, k) transposed, plus bias (n): out is (m, n). bias may be NULL. */
__export void llaisysLinear(llaisysTensor_t out, llaisysTensor_t in, llaisysTensor_t weight,
                            llaisysTensor_t bias);

/* The same elements in other strides. */
__export void llaisysRearrange(llaisysTensor_t out, llaisysTensor_t in);

/* in / sqrt(mean of squares along the last dim + eps) * weight */
__export void llaisysRmsNorm(llaisysTensor_t out, llaisysTensor_t in, llaisysTensor_t weight, float eps);

/* Rotary positions: in is (seq, heads, d), pos_ids (seq), i64; elements j and j + d / 2 are rotated by
 * pos / theta^(2j / d). */
__export void llaisysROPE(llaisysTensor_t out, llaisysTensor_t in, llaisysTensor_t pos_ids, float theta);

/* Causal attention: q (seq, heads, d), k (total, kv_heads, d), v (total, kv_heads, e), attn_val (seq,
 * heads, e); kv_heads divides heads, and row i looks at the first i + total - seq + 1. */
__export void llaisysSelfAttention(llaisysTensor_t attn_val, llaisysTensor_t q, llaisysTensor_t k,
                                   llaisysTensor_t v, float scale);

/* up * gate / (1 + exp(-gate)), of one shape */
__export void llaisysSwiGLU(llaisysTensor_t out, llaisysTensor_t gate, llaisysTensor_t up);

#ifdef __cplusplus
}
#endif

#endif
