/* attention.h - softmax(q k^T) v, by heads.
 *
 * Rules for the whole header:
 *
 *   - Floating dtypes; q, k and v are promoted to one, which the result has. Scores,
 *     softmax and sums are f32 (f64 for f64), rounded once to the result.
 *   - Operands and results have any strides: a (batch, seq, heads, d) layout is a
 *     permuted view. A result that is allocated is contiguous; a given one may overlap
 *     an operand.
 *   - Keys and values that are masked out do not count, whatever they hold: NaN and
 *     infinities in k and v reach only the rows that attend to them. A row of q that
 *     attends to nothing gives 0. A NaN or +infinity among a row's scores makes the row
 *     NaN.
 *   - Memory beside operands and result grows with the length of the sequences, never
 *     with the product of two lengths.
 *   - The result has the same bits for every number of threads.
 *   - Dims of size 0 are legal.
 *
 * TSR_EDTYPE if a dtype is not taken; TSR_ESHAPE if shapes do not fit.
 */
#ifndef TESSERA_OPS_ATTENTION_H
#define TESSERA_OPS_ATTENTION_H

#include "../tensor.h"

TSR_BEGIN_C

/* Zero means default; a NULL pointer to it is all defaults. */
typedef struct tsr_attention_options {
    double scale;   /* of scores; 0 is 1 / sqrt(d) */
    bool   causal; /* row i of m attends to key j of n only where j <= i + n - m */
} tsr_attention_options;

/* softmax(scale * q k^T + mask) v.
 *
 *     q     (..., heads, m, d)
 *     k     (..., kv_heads, n, d)        v  (..., kv_heads, n, e)
 *     mask  broadcasts to (..., heads, m, n); NULL: none
 *     out   (..., heads, m, e)
 *
 * kv_heads divides heads; head h attends to k and v of head h / (heads / kv_heads). In a
 * mask of bool, true lets a row attend to a key; one of any floating dtype is added to the
 * scores, and -infinity in it masks the key out.
 *
 * TSR_EINVAL   scale is not finite
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_attention(tsr_tensor **out, const tsr_tensor *q, const tsr_tensor *k,
                                                const tsr_tensor *v, const tsr_tensor *mask,
                                                const tsr_attention_options *how);

/* Causal attention of the latest rows to all so far: q (seq, heads, d), k (total,
 * kv_heads, d), v (total, kv_heads, e), result (seq, heads, e). Row i attends to the first
 * i + total - seq + 1 keys. scale 0 is 1 / sqrt(d). Fails as tsr_attention does. */
TSR_API TSR_MUST_CHECK tsr_status tsr_self_attention(tsr_tensor **out, const tsr_tensor *q,
                                                     const tsr_tensor *k, const tsr_tensor *v, double scale);

/* The matrices of a layer, as tsr_linear takes them: (features out, features in). The rows of
 * q, k and v are those of head 0, then of head 1, and so on. Of a matrix that holds all three, give
 * three slices. A bias may be NULL. */
typedef struct tsr_attention_weights {
    const tsr_tensor *q;       /* (heads * d, embed) */
    const tsr_tensor *k;       /* (kv_heads * d, embed) */
    const tsr_tensor *v;       /* (kv_heads * e, embed) */
    const tsr_tensor *out;     /* (features, heads * e) */
    const tsr_tensor *q_bias, *k_bias, *v_bias, *out_bias;
} tsr_attention_weights;

/* A layer of attention from x to itself: x is (..., seq, embed), the result (..., seq,
 * features). How many heads k and v have follows from their sizes. mask is as in
 * tsr_attention, and may be NULL.
 *
 * TSR_EINVAL   heads is not positive
 * TSR_ESHAPE   the rows of a matrix do not divide into heads, or shapes do not fit
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_multi_head_attention(tsr_tensor **out, const tsr_tensor *x,
                                                           const tsr_attention_weights *weights,
                                                           int64_t heads, const tsr_tensor *mask,
                                                           const tsr_attention_options *how);

TSR_END_C

#endif
