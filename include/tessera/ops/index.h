/* index.h - ops that select elements by index.
 *
 * Rules for the whole header:
 *
 *   - An index tensor has any integer dtype and any strides. A negative index counts
 *     from the end. One outside its dim is TSR_EINDEX; the message names the index,
 *     its place in the index tensor, and the dim. All indices are checked before
 *     anything is written, so the result is then as it was.
 *   - Elements keep their bits, where nothing is added; any dtype is taken, and the
 *     result has it. Dtypes are not promoted: src must have that of t (TSR_EDTYPE).
 *   - A result that is allocated is contiguous; a given one may have any strides, and
 *     may be an input (in place) or overlap it.
 *   - The host reads indices and masks (TSR_EDEVICE where it cannot); indices on a device
 *     only where it cannot check them itself, or finds one below 0 or outside its dim.
 *   - While a graph is kept, indices on its device are not checked, as they are not known:
 *     they must be from 0 to below the dim's size whenever the graph is launched.
 */
#ifndef TESSERA_OPS_INDEX_H
#define TESSERA_OPS_INDEX_H

#include "../tensor.h"

TSR_BEGIN_C

/* Reading ------------------------------------------------------------------------ */

/* t at each index along one axis: the dims of `index`, however many, stand where the
 * axis stood. (5, 7) taken at (2, 3) indices along axis 1 is (5, 2, 3). TSR_EINVAL if
 * the result would have too many dims. */
TSR_API TSR_MUST_CHECK tsr_status tsr_take(tsr_tensor **out, const tsr_tensor *t, const tsr_tensor *index,
                                           int axis);

/* out[.., i, ..] = t[.., index[.., i, ..], ..]: as many along the axis as index
 * is long there. t and index have one rank (TSR_ESHAPE).
 *
 * The two differ in the other dims. NumPy's rule, for tsr_take_along_axis: they
 * broadcast, t against index. PyTorch's rule, for tsr_gather: index may be shorter
 * than t, and only the beginning of t is looked at; the result has index's shape. */
TSR_API TSR_MUST_CHECK tsr_status tsr_take_along_axis(tsr_tensor **out, const tsr_tensor *t,
                                                      const tsr_tensor *index, int axis);
TSR_API TSR_MUST_CHECK tsr_status tsr_gather(tsr_tensor **out, const tsr_tensor *t, const tsr_tensor *index,
                                             int axis);

/* Rows of a matrix: weight is (n, d), the result has index's dims and then d.
 * TSR_ESHAPE if weight is no matrix. */
TSR_API TSR_MUST_CHECK tsr_status tsr_embedding(tsr_tensor **out, const tsr_tensor *weight,
                                                const tsr_tensor *index);

/* Writing ------------------------------------------------------------------------ */

typedef enum tsr_scatter_mode {
    TSR_SCATTER_SET = 0, /* of several elements for one place, the last in row-major order is kept */
    TSR_SCATTER_ADD,     /* added one by one in row-major order, rounding to the dtype each time (numeric, not
                            c32) */
    TSR_SCATTER_MAX,     /* the largest of all and of what was there; NaN if any is (bool, real) */
    TSR_SCATTER_MODE_MAX_ = 0x7fffffff
} tsr_scatter_mode;

/* out = t, and then out[.., index[.., i, ..], ..] takes src[.., i, ..] as the mode
 * says, for every index. t, index and src have one rank; index may be shorter than
 * src, and outside the axis shorter than t (TSR_ESHAPE). src may also be a scalar or a
 * number (TSR_NUMBER), which every index gets. TSR_EDTYPE if the mode does not take the
 * dtype. The outcome does not depend on the number of threads. */
TSR_API TSR_MUST_CHECK tsr_status tsr_scatter(tsr_tensor **out, const tsr_tensor *t, const tsr_tensor *index,
                                              const tsr_tensor *src, int axis, tsr_scatter_mode mode);

/* out = t, and then out[.., index[i], ..] += src[.., i, ..] in the order of i. index is
 * a vector, or a scalar, that stands for a vector of one; src has t's shape but for the
 * axis, where it is as long as index (TSR_ESHAPE). Numeric, not c32. */
TSR_API TSR_MUST_CHECK tsr_status tsr_index_add(tsr_tensor **out, const tsr_tensor *t,
                                                const tsr_tensor *index, const tsr_tensor *src, int axis);

/* index's dims and one more of length `depth`, 1 at the index and 0 elsewhere. Any
 * dtype. TSR_EINVAL if depth is negative. */
TSR_API TSR_MUST_CHECK tsr_status tsr_one_hot(tsr_tensor **out, const tsr_tensor *index, int64_t depth,
                                              tsr_dtype dtype);

/* Masks -------------------------------------------------------------------------- */

/* The elements of t where mask (bool) is true, in row-major order, as a vector. t and
 * mask broadcast. A result that is given must have exactly that length. */
TSR_API TSR_MUST_CHECK tsr_status tsr_masked_select(tsr_tensor **out, const tsr_tensor *t,
                                                    const tsr_tensor *mask);

/* t with `value`, converted to its dtype, where mask (bool) is true. mask broadcasts to
 * t's shape (TSR_ESHAPE). */
TSR_API TSR_MUST_CHECK tsr_status tsr_masked_fill(tsr_tensor **out, const tsr_tensor *t,
                                                  const tsr_tensor *mask, tsr_scalar value);

/* Where t is not zero (NaN is not): i64 (n, rank of t), an index a row, in row-major
 * order. A scalar gives (1, 0) or (0, 0). */
TSR_API TSR_MUST_CHECK tsr_status tsr_nonzero(tsr_tensor **out, const tsr_tensor *t);

TSR_END_C

#endif
