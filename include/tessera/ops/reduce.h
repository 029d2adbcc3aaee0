/* reduce.h - reductions over axes, and scans along one.
 *
 * Rules for the whole header:
 *
 *   - Axes are a list of naxes numbers, negative from the end, each axis once.
 *     naxes 0 (then axes may be NULL) means all of them.
 *   - keepdims leaves the reduced axes in the result, with size 1.
 *   - sum, prod, cumsum and cumprod of integers give i64, of unsigned ones u64, and
 *     wrap. Floats and complex numbers keep their dtype. Every float is added up in
 *     f64 and rounded once to the result; f64 itself in short lanes whose sums are
 *     added with the error carried along, so that the error is a few units in the
 *     last place of the sum of |x|, however many elements there are.
 *   - Products are kept with an exponent of any size and rounded once: factors that
 *     overflow or underflow in between do no harm, and 0 times finite numbers is 0.
 *     Sums, means, var and std of f64 are right wherever they are representable. A
 *     cumprod is a plain product in f64 at every step.
 *   - The result has the same bits for every number of threads.
 *   - Of no elements: sum 0, prod 1, any false, all true, count_nonzero 0,
 *     logsumexp -inf, norm 0; mean, var and std NaN. max, min, argmax and argmin
 *     have no result, and fail with TSR_ESHAPE.
 *   - A result that is allocated is contiguous; that of a scan has x's memory order. A
 *     given one may overlap x.
 *   - c32 is a storage dtype: only any, all and count_nonzero take it.
 *
 * TSR_EDTYPE if an op does not take a dtype; TSR_EINDEX for an axis that is not
 * there, TSR_EINVAL for one that is named twice.
 */
#ifndef TESSERA_OPS_REDUCE_H
#define TESSERA_OPS_REDUCE_H

#include "../tensor.h"

TSR_BEGIN_C

/* Sums and products. (numeric) */
TSR_API TSR_MUST_CHECK tsr_status tsr_sum(tsr_tensor **out, const tsr_tensor *x, int naxes, const int *axes,
                                          bool keepdims);
TSR_API TSR_MUST_CHECK tsr_status tsr_prod(tsr_tensor **out, const tsr_tensor *x, int naxes, const int *axes,
                                           bool keepdims);

/* sum / count. (floating/complex) */
TSR_API TSR_MUST_CHECK tsr_status tsr_mean(tsr_tensor **out, const tsr_tensor *x, int naxes, const int *axes,
                                           bool keepdims);

/* The sum of |x - mean|^2, divided by count - correction, NaN unless that is
 * positive; and its square root. The result is real. (floating/complex)
 *
 * TSR_EINVAL   correction is not finite
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_var(tsr_tensor **out, const tsr_tensor *x, int naxes, const int *axes,
                                          bool keepdims, double correction);
TSR_API TSR_MUST_CHECK tsr_status tsr_std(tsr_tensor **out, const tsr_tensor *x, int naxes, const int *axes,
                                          bool keepdims, double correction);

/* The largest and the smallest element; NaN if any element is NaN. If 0 and -0 are both the
 * largest or smallest, the result is either of them. (bool/real)
 *
 * TSR_ESHAPE   there is nothing to choose from
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_max(tsr_tensor **out, const tsr_tensor *x, int naxes, const int *axes,
                                          bool keepdims);
TSR_API TSR_MUST_CHECK tsr_status tsr_min(tsr_tensor **out, const tsr_tensor *x, int naxes, const int *axes,
                                          bool keepdims);

/* Whether any element is nonzero, whether all are, and how many are; NaN is nonzero. The results
 * are bool, bool and i64. (any) */
TSR_API TSR_MUST_CHECK tsr_status tsr_any(tsr_tensor **out, const tsr_tensor *x, int naxes, const int *axes,
                                          bool keepdims);
TSR_API TSR_MUST_CHECK tsr_status tsr_all(tsr_tensor **out, const tsr_tensor *x, int naxes, const int *axes,
                                          bool keepdims);
TSR_API TSR_MUST_CHECK tsr_status tsr_count_nonzero(tsr_tensor **out, const tsr_tensor *x, int naxes,
                                                    const int *axes, bool keepdims);

/* The logarithm of the sum of exp(x), without intermediate overflow. For f32 and shorter the
 * exponentials may be off by 2^-34 of themselves. (floating) */
TSR_API TSR_MUST_CHECK tsr_status tsr_logsumexp(tsr_tensor **out, const tsr_tensor *x, int naxes,
                                                const int *axes, bool keepdims);

/* (sum of |x|^p)^(1/p), without intermediate overflow; p 0 counts what is not zero,
 * infinity is the largest |x|, -infinity the smallest. The result is real.
 * (floating/complex)
 *
 * TSR_EINVAL   p is NaN
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_norm(tsr_tensor **out, const tsr_tensor *x, int naxes, const int *axes,
                                           bool keepdims, double p);

/* For argmax and argmin: the flattened tensor, in row-major order of indices. */
enum { TSR_ALL_AXES = -0x7fffffff - 1 };

/* Index along the axis of the first element that max or min would give, so of the
 * first NaN if there is one; i64. (bool/real)
 *
 * TSR_ESHAPE   there is nothing to choose from
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_argmax(tsr_tensor **out, const tsr_tensor *x, int axis, bool keepdims);
TSR_API TSR_MUST_CHECK tsr_status tsr_argmin(tsr_tensor **out, const tsr_tensor *x, int axis, bool keepdims);

/* Scans: element i is the sum, product or largest of elements 0 .. i along the axis.
 * (numeric, numeric, bool/real) */
TSR_API TSR_MUST_CHECK tsr_status tsr_cumsum(tsr_tensor **out, const tsr_tensor *x, int axis);
TSR_API TSR_MUST_CHECK tsr_status tsr_cumprod(tsr_tensor **out, const tsr_tensor *x, int axis);
TSR_API TSR_MUST_CHECK tsr_status tsr_cummax(tsr_tensor **out, const tsr_tensor *x, int axis);

/* The n-th difference along the axis: x[i + 1] - x[i], n times over, so that the axis
 * is n shorter, or empty. x's dtype; integers wrap. n 0 copies. (numeric)
 *
 * TSR_EINVAL   n is negative
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_diff(tsr_tensor **out, const tsr_tensor *x, int axis, int64_t n);

TSR_END_C

#endif
