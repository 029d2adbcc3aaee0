/* random.h - random tensors that can be repeated anywhere.
 *
 * Counter-based: the seed and an element's row-major index give its value, by
 * ten rounds of Philox 4x32 on counter (index / values per block) and key
 * (seed). The values do not depend on strides, thread count, instruction set or
 * device, and the first n values of a longer tensor are those of a shorter one.
 * docs/concepts/random.md states the mapping from bits to values exactly.
 *
 * If *out is NULL a contiguous tensor is allocated on the host; otherwise it must have
 * that dtype and shape, may have any strides, and is overwritten.
 *
 * There is no state: calls that must not repeat each other's values need seeds of their
 * own.
 *
 * TSR_EDTYPE  the dtype is not one that the call makes, or *out's is another
 * TSR_ESHAPE  *out has another shape
 */
#ifndef TESSERA_RANDOM_H
#define TESSERA_RANDOM_H

#include "tensor.h"

TSR_BEGIN_C

/* Philox 4x32-10 itself, as in the paper by Salmon et al. (2011): four words from a
 * counter and a key. Does nothing if a pointer is NULL. */
TSR_API void tsr_philox(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2]);

/* Uniform in [low, high), each part if complex. No value is high or above it, in
 * any dtype; if the dtype has no number in the range (low = high among others),
 * every value is low, rounded. TSR_EINVAL unless both are finite in the dtype and
 * low <= high. */
TSR_API TSR_MUST_CHECK tsr_status tsr_uniform(tsr_tensor **out, tsr_dtype dtype, int ndim,
                                              const int64_t *shape, double low, double high, uint64_t seed);

/* Normal, mean 0, deviation 1, each part if complex. */
TSR_API TSR_MUST_CHECK tsr_status tsr_randn(tsr_tensor **out, tsr_dtype dtype, int ndim, const int64_t *shape,
                                            uint64_t seed);

/* mean + deviation * x, for the x of tsr_randn, rounded once in f32 (f64 for f64) and then to
 * the dtype, which is floating. TSR_EINVAL unless both are finite and deviation is not
 * negative. */
TSR_API TSR_MUST_CHECK tsr_status tsr_normal(tsr_tensor **out, tsr_dtype dtype, int ndim,
                                             const int64_t *shape, double mean, double deviation,
                                             uint64_t seed);

/* Exponential with this rate: mean 1 / rate. Floating dtypes. TSR_EINVAL unless the rate is
 * finite and positive. */
TSR_API TSR_MUST_CHECK tsr_status tsr_exponential(tsr_tensor **out, tsr_dtype dtype, int ndim,
                                                  const int64_t *shape, double rate, uint64_t seed);

/* Integers in [low, high), all equally likely, of any integer dtype; the same ones in every
 * dtype. TSR_EINVAL unless low < high and all of them fit the dtype. */
TSR_API TSR_MUST_CHECK tsr_status tsr_integers(tsr_tensor **out, tsr_dtype dtype, int ndim,
                                               const int64_t *shape, int64_t low, int64_t high,
                                               uint64_t seed);

/* bool, true with probability p: where the number in [0, 1) that tsr_uniform makes of
 * this seed in f64 is below p. TSR_EINVAL unless 0 <= p <= 1. */
TSR_API TSR_MUST_CHECK tsr_status tsr_bernoulli(tsr_tensor **out, int ndim, const int64_t *shape, double p,
                                                uint64_t seed);

/* The same with a probability for each element: p is floating, and the result has its
 * shape. Above 1 counts as 1; below 0, and NaN, as 0. */
TSR_API TSR_MUST_CHECK tsr_status tsr_bernoulli_each(tsr_tensor **out, const tsr_tensor *p, uint64_t seed);

/* Order -------------------------------------------------------------------------------- */

/* 0 .. n - 1 in random order: i64, a vector. The order is that of random 64-bit keys; no
 * order differs from another in likelihood by more than n^2 / 2^64 of it. TSR_EINVAL if n
 * is negative. */
TSR_API TSR_MUST_CHECK tsr_status tsr_permutation(tsr_tensor **out, int64_t n, uint64_t seed);

/* x with its indices along the axis in the order of tsr_permutation. Any dtype. */
TSR_API TSR_MUST_CHECK tsr_status tsr_shuffle(tsr_tensor **out, const tsr_tensor *x, int axis, uint64_t seed);

/* Choosing ----------------------------------------------------------------------------- */

/* Indices drawn by weight: weights is (..., n), floating, and the result i64 (...,
 * samples). With replacement each sample is drawn by itself; without, no index comes
 * twice, and samples stand in the order in which they would be drawn one after the other.
 * An index of weight 0 is never drawn.
 *
 * TSR_EINVAL   samples is negative; a weight is negative, infinite or NaN; a row has no
 *              weight above 0, or, without replacement, fewer of them than samples
 * TSR_ESHAPE   weights is a scalar, or has no elements to draw from
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_multinomial(tsr_tensor **out, const tsr_tensor *weights,
                                                  int64_t samples, bool replacement, uint64_t seed);

/* One index for each row of logits, (..., n), floating; the result is i64 (...).
 *
 * The probabilities are softmax(logits / temperature), in f64. They are sorted in descending
 * order, equal ones by ascending index. The first top_k are kept (0: all); of those, the
 * shortest prefix whose sum is at least top_p times the sum of all top_k (1: all). With one
 * number r in [0, 1) for each row, the index drawn is the first at which the running sum of
 * the kept probabilities reaches r times their total. Temperature 0 takes the largest logit,
 * the first of equals.
 *
 * tsr_sample draws r as tsr_uniform does in f64 with this seed; tsr_sample_with takes r as
 * `random`, the same for all rows.
 *
 * TSR_EINVAL   temperature is negative or not finite; top_k is negative; top_p is not in
 *              [0, 1]; random is not in [0, 1); a logit is NaN or +infinity, or all of a
 *              row's are -infinity
 * TSR_ESHAPE   logits is a scalar, or has no elements to choose from
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_sample(tsr_tensor **out, const tsr_tensor *logits, double temperature,
                                             int64_t top_k, double top_p, uint64_t seed);
TSR_API TSR_MUST_CHECK tsr_status tsr_sample_with(tsr_tensor **out, const tsr_tensor *logits,
                                                  double temperature, int64_t top_k, double top_p,
                                                  double random);

TSR_END_C

#endif
