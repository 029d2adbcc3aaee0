/* order.h - ops that compare elements with each other.
 *
 * Rules for the whole header:
 *
 *   - Numbers and bools of one dtype have an order; complex ones have none
 *     (TSR_EDTYPE).
 *   - NaN comes last, ascending and descending alike, and so is neither among the
 *     smallest nor among the largest while there are numbers. -0 and 0 are equal.
 *   - Sorting is stable always: equal elements (and NaNs) stay in the order they had,
 *     descending too. Elements keep their bits.
 *   - Indices are i64 and count along the axis.
 *   - A result that is allocated is contiguous; a given one may have any strides, and
 *     may be the input (in place) or overlap it. Two results of one call that overlap
 *     each other are TSR_EOVERLAP.
 *   - A scalar has no axis to sort along (TSR_EINDEX).
 *
 * After a failure all results are as they were, or all of those that were given have
 * undefined contents (TSR_ENOMEM).
 */
#ifndef TESSERA_OPS_ORDER_H
#define TESSERA_OPS_ORDER_H

#include "../tensor.h"

TSR_BEGIN_C

/* x in order along an axis; where each element of that was; both at once. */
TSR_API TSR_MUST_CHECK tsr_status tsr_sort(tsr_tensor **out, const tsr_tensor *x, int axis, bool descending);
TSR_API TSR_MUST_CHECK tsr_status tsr_argsort(tsr_tensor **out, const tsr_tensor *x, int axis,
                                              bool descending);
TSR_API TSR_MUST_CHECK tsr_status tsr_sort_with_indices(tsr_tensor **values, tsr_tensor **indices,
                                                        const tsr_tensor *x, int axis, bool descending);

/* The k largest (or smallest) along an axis, best first, and where they were; of equal
 * ones, those that come first. sorted false leaves the order open. TSR_EINVAL unless
 * 0 <= k <= the dim's size. */
TSR_API TSR_MUST_CHECK tsr_status tsr_topk(tsr_tensor **values, tsr_tensor **indices, const tsr_tensor *x,
                                           int64_t k, int axis, bool largest, bool sorted);

/* The k-th smallest along an axis, counted from 1, and where it was; the axis is dropped,
 * or stays with size 1 if keep_dim. TSR_EINVAL unless 1 <= k <= the dim's size. */
TSR_API TSR_MUST_CHECK tsr_status tsr_kthvalue(tsr_tensor **values, tsr_tensor **indices, const tsr_tensor *x,
                                               int64_t k, int axis, bool keep_dim);

/* What else tsr_unique may tell; a NULL is not asked for. */
typedef struct tsr_unique_results {
    tsr_tensor **counts;  /* i64(n): how often each value is there */
    tsr_tensor **inverse; /* i64, x's shape: which of the values each element is */
    tsr_tensor **first;   /* i64(n): where each value is first, in row-major order */
} tsr_unique_results;

/* The different values of x, ascending, as a vector of n. Each NaN is a value of its
 * own, and of -0 and 0 the one that comes first stands for both, as the Python array
 * API standard has it. more may be NULL. A result that is given must have exactly n
 * elements. */
TSR_API TSR_MUST_CHECK tsr_status tsr_unique(tsr_tensor **values, const tsr_tensor *x,
                                             const tsr_unique_results *more);

/* Is each element of x among those of `test`? bool, x's shape. The dtypes are promoted;
 * NaN is in nothing. */
TSR_API TSR_MUST_CHECK tsr_status tsr_isin(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *test);

/* For each element of x, before which element of the ascending vector `sorted` it can be
 * put with the order kept, 0 .. n: the first such place, or, if right, the last. i64,
 * x's shape. The dtypes are promoted; x may be a number. Whether `sorted` is so is not
 * checked; if not, the results are still 0 .. n. */
TSR_API TSR_MUST_CHECK tsr_status tsr_searchsorted(tsr_tensor **out, const tsr_tensor *sorted,
                                                   const tsr_tensor *x, bool right);

TSR_END_C

#endif
