/* nn.h - ops of neural networks: softmax, norms, rotary positions, gates, losses.
 *
 * Rules for the whole header:
 *
 *   - Any floating dtype. f32 and shorter ones compute in f32 with sums in f64, f64 in
 *     itself with the errors of its sums carried along; a result is rounded once. It
 *     has x's dtype. Operands that stand for the same thing (logits and probabilities,
 *     gate and up) are promoted.
 *   - Weights, biases, means and tables may have another floating dtype than x. A
 *     weight that is NULL counts as all 1, a bias as all 0.
 *   - NaN and infinities are computed with like other numbers.
 *   - A result that is allocated is contiguous; a given one may have any strides, and
 *     may be x (in place) or overlap an operand.
 *   - The result has the same bits for every number of threads.
 *   - Dims of size 0 are legal; negative axes count from the end.
 *
 * TSR_EDTYPE if a dtype is not taken; TSR_ESHAPE if shapes do not fit; TSR_EINDEX for
 * an axis that is not there; TSR_EINVAL for a number out of its range.
 */
#ifndef TESSERA_OPS_NN_H
#define TESSERA_OPS_NN_H

#include "../tensor.h"

TSR_BEGIN_C

/* Softmax -------------------------------------------------------------------- */

/* exp(x) over the sum of exp(x) along an axis, without intermediate overflow; and its
 * logarithm. -inf counts as nothing. A lane that is -inf throughout, or has a NaN or
 * +inf in it, gives NaN throughout. */
TSR_API TSR_MUST_CHECK tsr_status tsr_softmax(tsr_tensor **out, const tsr_tensor *x, int axis);
TSR_API TSR_MUST_CHECK tsr_status tsr_log_softmax(tsr_tensor **out, const tsr_tensor *x, int axis);

/* Softmax along the last axis of x (..., q, k), of which row i sees columns 0 .. i + k - q
 * only: the last row sees all. What it does not see is 0, whatever was there; a row that
 * sees nothing is 0. */
TSR_API TSR_MUST_CHECK tsr_status tsr_causal_softmax(tsr_tensor **out, const tsr_tensor *x);

/* Norms ---------------------------------------------------------------------- */

/* (x - mean) / sqrt(var + eps) * weight + bias over the last ndims dims together;
 * var is the mean of (x - mean)^2. weight and bias have those dims, or are NULL.
 * TSR_EINVAL unless 1 <= ndims <= x's rank, and eps is finite and not negative. */
TSR_API TSR_MUST_CHECK tsr_status tsr_layer_norm(tsr_tensor **out, const tsr_tensor *x, int ndims,
                                                 const tsr_tensor *weight, const tsr_tensor *bias,
                                                 double eps);

/* x / sqrt(mean of x^2 + eps) * weight along the last axis: x is (..., n), weight (n) or NULL. */
TSR_API TSR_MUST_CHECK tsr_status tsr_rms_norm(tsr_tensor **out, const tsr_tensor *x,
                                               const tsr_tensor *weight, double eps);

/* sum_out = x + residual, rounded to their dtype; out = rms_norm of that. sum_out may
 * be x or residual. TSR_EOVERLAP if the two results overlap. */
TSR_API TSR_MUST_CHECK tsr_status tsr_add_rms_norm(tsr_tensor **out, tsr_tensor **sum_out,
                                                   const tsr_tensor *x, const tsr_tensor *residual,
                                                   const tsr_tensor *weight, double eps);

/* The same formula as layer_norm's with a mean and a var that are known for each channel
 * (inference). Channels are axis 1: x is (n, c, ...), the others are (c); weight and
 * bias may be NULL. */
TSR_API TSR_MUST_CHECK tsr_status tsr_batch_norm(tsr_tensor **out, const tsr_tensor *x,
                                                 const tsr_tensor *mean, const tsr_tensor *var,
                                                 const tsr_tensor *weight, const tsr_tensor *bias,
                                                 double eps);

/* The same over `groups` groups of channels, c / groups neighbours each, with all that
 * comes after the channels: x is (n, c, ...), weight and bias are (c) or NULL. TSR_EINVAL
 * unless groups is positive and divides c. tsr_instance_norm makes each channel a group. */
TSR_API TSR_MUST_CHECK tsr_status tsr_group_norm(tsr_tensor **out, const tsr_tensor *x, int64_t groups,
                                                 const tsr_tensor *weight, const tsr_tensor *bias,
                                                 double eps);
TSR_API TSR_MUST_CHECK tsr_status tsr_instance_norm(tsr_tensor **out, const tsr_tensor *x,
                                                    const tsr_tensor *weight, const tsr_tensor *bias,
                                                    double eps);

/* Rotary positions ------------------------------------------------------------ */

/* Which elements of the last dim, of size d, are rotated together as pair j of d / 2. */
typedef enum tsr_rope_mode {
    TSR_ROPE_HALVES = 0, /* j and j + d / 2 */
    TSR_ROPE_PAIRS,      /* 2j and 2j + 1 */
    TSR_ROPE_MODE_MAX_ = 0x7fffffff
} tsr_rope_mode;

/* Rotates each pair (a, b) of x (..., seq, heads, d) by an angle that depends on the place
 * in the sequence and on the pair, positions[i] / theta^(2j / d):
 *
 *     a' = a cos - b sin        b' = b cos + a sin
 *
 * computed in f64. positions is (seq), of any integers. TSR_ESHAPE if d is odd;
 * TSR_EINVAL unless theta is finite and positive. */
TSR_API TSR_MUST_CHECK tsr_status tsr_rope(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *positions,
                                           double theta, tsr_rope_mode mode);

/* The same with sines and cosines from tables (max_pos, d / 2), row positions[i] of them.
 * TSR_EINDEX if a position is no row; the message names it and its place. Positions are
 * looked at on the host. */
TSR_API TSR_MUST_CHECK tsr_status tsr_rope_with(tsr_tensor **out, const tsr_tensor *x,
                                                const tsr_tensor *positions, const tsr_tensor *sin_table,
                                                const tsr_tensor *cos_table, tsr_rope_mode mode);

/* Gates ---------------------------------------------------------------------- */

/* up * gate / (1 + exp(-gate)) of two tensors of one shape. */
TSR_API TSR_MUST_CHECK tsr_status tsr_swiglu(tsr_tensor **out, const tsr_tensor *gate, const tsr_tensor *up);

/* The same of the first half of x's last axis, as gate, and the second: (..., 2n) gives
 * (..., n). TSR_ESHAPE if the last axis is odd. */
TSR_API TSR_MUST_CHECK tsr_status tsr_silu_and_mul(tsr_tensor **out, const tsr_tensor *x);

/* Dropout and pooling --------------------------------------------------------- */

/* x / (1 - p), with 0 in the place of a share p of the elements. Seed and row-major index
 * decide alone: an element is kept where its number of tsr_uniform's f32 stream, u, has
 * u >= p, p being rounded up to a multiple of 2^-24. p 0 copies, p 1 gives zeros. */
TSR_API TSR_MUST_CHECK tsr_status tsr_dropout(tsr_tensor **out, const tsr_tensor *x, double p, uint64_t seed);

/* The mean over a sequence: x (batch, seq, feat) gives (batch, feat); NaN of no elements. */
TSR_API TSR_MUST_CHECK tsr_status tsr_global_avg_pool(tsr_tensor **out, const tsr_tensor *x);

/* Losses ----------------------------------------------------------------------- */

/* What a loss function gives: the loss of each place, or a scalar, their mean or sum. */
typedef enum tsr_reduction {
    TSR_REDUCTION_NONE = 0,
    TSR_REDUCTION_MEAN, /* of no places: NaN */
    TSR_REDUCTION_SUM,
    TSR_REDUCTION_MAX_ = 0x7fffffff
} tsr_reduction;

/* -weight[t] * log softmax(logits)[t] at each place, where t is its target. logits are
 * (n, c, ...), target (n, ...) of any integers, weight (c) or NULL. A place whose target
 * is ignore_index has loss 0 and does not count; the mean is over the weights of the
 * targets that do. With a label_smoothing of s, from 0 to 1, the loss is 1 - s of that and
 * s / c of the sum of weight[i] * -log softmax(logits)[i] over all classes i.
 *
 * target may also be probabilities, floating and of the logits' shape: the loss is then
 * the sum of p[i] * weight[i] * -log softmax(logits)[i], with p smoothed to (1 - s) p +
 * s / c, and the mean is over the places. ignore_index does not matter then.
 *
 * TSR_EINDEX if a target is neither a class nor ignore_index; the message names it and its
 * place. Targets are looked at on the host (TSR_EDEVICE where it cannot). */
TSR_API TSR_MUST_CHECK tsr_status tsr_cross_entropy(tsr_tensor **out, const tsr_tensor *logits,
                                                    const tsr_tensor *target, const tsr_tensor *weight,
                                                    tsr_reduction reduction, int64_t ignore_index,
                                                    double label_smoothing);

/* The same of logarithms of probabilities: -weight[t] * log_probs[t]. */
TSR_API TSR_MUST_CHECK tsr_status tsr_nll_loss(tsr_tensor **out, const tsr_tensor *log_probs,
                                               const tsr_tensor *target, const tsr_tensor *weight,
                                               tsr_reduction reduction, int64_t ignore_index);

/* Of d = x - y, for two tensors of one shape:
 *
 *     mse_loss         d^2
 *     l1_loss          |d|
 *     huber_loss       d^2 / 2 where |d| <= delta, else delta (|d| - delta / 2)
 *     smooth_l1_loss   d^2 / (2 beta) where |d| < beta, else |d| - beta / 2
 *
 * TSR_EINVAL unless delta is finite and positive, and beta finite and not negative. */
TSR_API TSR_MUST_CHECK tsr_status tsr_mse_loss(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y,
                                               tsr_reduction reduction);
TSR_API TSR_MUST_CHECK tsr_status tsr_l1_loss(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y,
                                              tsr_reduction reduction);
TSR_API TSR_MUST_CHECK tsr_status tsr_huber_loss(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y,
                                                 tsr_reduction reduction, double delta);
TSR_API TSR_MUST_CHECK tsr_status tsr_smooth_l1_loss(tsr_tensor **out, const tsr_tensor *x,
                                                     const tsr_tensor *y, tsr_reduction reduction,
                                                     double beta);

TSR_END_C

#endif
