/* statistics.h - counts, quantiles and covariances.
 *
 * Rules for the whole header:
 *
 *   - They give what NumPy's functions of the same names give; where they do not, the
 *     words below say so.
 *   - Counts are i64. Sums of weights are made in f64, element after element, and are the
 *     same for every number of threads.
 *   - Complex numbers have no order and fall into no bin (TSR_EDTYPE); covariances take
 *     them.
 *   - A result that is allocated is contiguous; a given one may have any strides and may
 *     overlap the operands. After a failure results are as they were, or those that were
 *     given have undefined contents (TSR_ENOMEM).
 *   - On a device, elements are counted and sorted there; the host computes edges, densities
 *     and quantiles from what it is sent, and copies results back.
 */
#ifndef TESSERA_OPS_STATISTICS_H
#define TESSERA_OPS_STATISTICS_H

#include "../tensor.h"

TSR_BEGIN_C

/* How often each of 0, 1, 2 .. is in x, an integer tensor of any shape: i64, as long as the
 * largest element needs, and at least minlength. With weights (real, x's shape) the sum of
 * the weights instead, in f64. TSR_EINVAL if an element or minlength is negative.
 *
 *     bincount([1, 1, 3]) = [0, 2, 0, 1]
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_bincount(tsr_tensor **out, const tsr_tensor *x,
                                               const tsr_tensor *weights, int64_t minlength);

/* How many elements of x lie in each of `bins` bins of one width between low and high, and
 * the bins + 1 edges, in f64. low = high = 0 stands for x's own range: 0 to 1 if x is empty,
 * TSR_EINVAL if it is not finite. A range of no width is made 1 wide. A bin contains its
 * lower edge, the last one its upper edge too. Elements are compared with the edges in f64.
 * NaN and what lies outside is in no bin.
 *
 * Counts are i64; with weights (real, x's shape) sums in the weights' dtype; if density,
 * f64: divided by their total and each bin's width.
 *
 *     histogram([1, 2, 2, 5], 2) = [3, 1], [1, 3, 5]
 *
 * TSR_EINVAL if bins is not positive, low is above high, or one of them is not finite. */
TSR_API TSR_MUST_CHECK tsr_status tsr_histogram(tsr_tensor **counts, tsr_tensor **edges, const tsr_tensor *x,
                                                int64_t bins, double low, double high,
                                                const tsr_tensor *weights, bool density);

/* The same for bins between given edges, a vector of 2 or more that does not descend
 * (TSR_EINVAL). */
TSR_API TSR_MUST_CHECK tsr_status tsr_histogram_with(tsr_tensor **counts, const tsr_tensor *x,
                                                     const tsr_tensor *edges, const tsr_tensor *weights,
                                                     bool density);

/* The value at i + t of a sorted lane, 0 <= t < 1, between its elements a (at i) and b (at i + 1). */
typedef enum tsr_quantile_method {
    TSR_QUANTILE_LINEAR,    /* (1 - t) a + t b */
    TSR_QUANTILE_LOWER,     /* a */
    TSR_QUANTILE_HIGHER,    /* b */
    TSR_QUANTILE_NEAREST,   /* the nearer one; if both are equally near, the one with an even index */
    TSR_QUANTILE_MIDPOINT   /* (a + b) / 2 */
} tsr_quantile_method;

/* The middle element over these axes, all if naxes is 0; the mean of the two in the middle if
 * their number is even. Floats keep their dtype, integers and bool give f64. NaN if an element
 * is NaN, or if there is none; nanmedian leaves NaNs out. */
TSR_API TSR_MUST_CHECK tsr_status tsr_median(tsr_tensor **out, const tsr_tensor *x, int naxes,
                                             const int *axes, bool keepdims);
TSR_API TSR_MUST_CHECK tsr_status tsr_nanmedian(tsr_tensor **out, const tsr_tensor *x, int naxes,
                                                const int *axes, bool keepdims);

/* For each q from 0 to 1, a scalar or a vector: the element at q (n - 1) of the n over these
 * axes in order. The result has q's dim, then those of x that stay. Dtypes and NaN as for the
 * median; a neighbour that has no share does not count, even if it is infinite.
 *
 *     quantile([1, 2, 4], [0.5, 0.75]) = [2, 3]
 *
 * TSR_EINVAL if a q is not from 0 to 1, or there is no such method. */
TSR_API TSR_MUST_CHECK tsr_status tsr_quantile(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *q,
                                               int naxes, const int *axes, bool keepdims,
                                               tsr_quantile_method method);
TSR_API TSR_MUST_CHECK tsr_status tsr_nanquantile(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *q,
                                                  int naxes, const int *axes, bool keepdims,
                                                  tsr_quantile_method method);

/* The covariances of variables, the rows of x (m, n), observed n times: (m, m), also if m is 1
 * (where NumPy drops the dims), or one number for a vector. Divided by n - correction.
 * Observation i counts fweights[i] times (integers) and has the importance aweights[i] (real);
 * n is the sum of their products then. Neither is negative (TSR_EINVAL). Floats and complex
 * numbers keep their dtype, where NumPy gives f64 and c128; integers give f64. f16 and shorter
 * are computed in f32. */
TSR_API TSR_MUST_CHECK tsr_status tsr_cov(tsr_tensor **out, const tsr_tensor *x, double correction,
                                          const tsr_tensor *fweights, const tsr_tensor *aweights);

/* Covariances divided by the deviations of both variables, held to -1 .. 1 in each part. */
TSR_API TSR_MUST_CHECK tsr_status tsr_corrcoef(tsr_tensor **out, const tsr_tensor *x);

TSR_END_C

#endif
