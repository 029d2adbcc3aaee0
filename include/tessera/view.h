/* view.h - other ways to look at the same memory.
 *
 * A view function never copies. It releases what *out held and replaces it by a
 * tensor that shares t's storage (t may be *out itself).
 * On failure *out is as it was. The view keeps the storage alive; t may be
 * released first. Views of a described tensor are TSR_ESTATE, as there is no
 * memory to look at (allocate it first; desc.h has the same functions on descs).
 *
 * Negative axes count from the end. Bounds are strict: nothing is clamped.
 */
#ifndef TESSERA_VIEW_H
#define TESSERA_VIEW_H

#include "tensor.h"

TSR_BEGIN_C

/* The same elements in row-major order under another shape. One dim may be -1:
 * it is worked out. TSR_ESHAPE if the counts differ; TSR_ESTRIDE, naming the
 * dims, if the new shape merges dims that are not contiguous. */
TSR_API TSR_MUST_CHECK tsr_status tsr_view(tsr_tensor **out, const tsr_tensor *t, int ndim,
                                           const int64_t *shape);

/* A view where that is possible, a contiguous copy where it is not. */
TSR_API TSR_MUST_CHECK tsr_status tsr_reshape(tsr_tensor **out, const tsr_tensor *t, int ndim,
                                              const int64_t *shape);

/* A view of all of t if t is contiguous, else a contiguous copy. */
TSR_API TSR_MUST_CHECK tsr_status tsr_contiguous(tsr_tensor **out, const tsr_tensor *t);

/* Elements start, start + step, ... before stop, along one axis. Negative bounds
 * count from the end; TSR_NONE is the end that the step's sign starts from or
 * runs to. TSR_EINVAL if step is 0; TSR_EINDEX if a bound leaves the dim or
 * start lies beyond stop. */
TSR_API TSR_MUST_CHECK tsr_status tsr_slice(tsr_tensor **out, const tsr_tensor *t, int axis, int64_t start,
                                            int64_t stop, int64_t step);

/* One index along one axis; the axis is dropped. */
TSR_API TSR_MUST_CHECK tsr_status tsr_select(tsr_tensor **out, const tsr_tensor *t, int axis, int64_t index);

/* The sub-tensor at a prefix of indices: t[i, j] of a rank-4 tensor is a matrix. */
TSR_API TSR_MUST_CHECK tsr_status tsr_at_prefix(tsr_tensor **out, const tsr_tensor *t, int n,
                                                const int64_t *index);

/* Dim i of the result is dim axes[i] of t; n is the rank and axes a permutation. */
TSR_API TSR_MUST_CHECK tsr_status tsr_permute(tsr_tensor **out, const tsr_tensor *t, int n, const int *axes);
TSR_API TSR_MUST_CHECK tsr_status tsr_transpose(tsr_tensor **out, const tsr_tensor *t, int a, int b);
TSR_API TSR_MUST_CHECK tsr_status tsr_move_axis(tsr_tensor **out, const tsr_tensor *t, int from, int to);

/* Repeat dims of size 1, and new leading dims, with stride 0. -1 keeps a size. */
TSR_API TSR_MUST_CHECK tsr_status tsr_expand(tsr_tensor **out, const tsr_tensor *t, int ndim,
                                             const int64_t *shape);

/* Drop one dim of size 1 (TSR_ESHAPE if it is not); drop all of them; add one
 * before `axis` of the result. */
TSR_API TSR_MUST_CHECK tsr_status tsr_squeeze(tsr_tensor **out, const tsr_tensor *t, int axis);
TSR_API TSR_MUST_CHECK tsr_status tsr_squeeze_all(tsr_tensor **out, const tsr_tensor *t);
TSR_API TSR_MUST_CHECK tsr_status tsr_unsqueeze(tsr_tensor **out, const tsr_tensor *t, int axis);

/* Walk the named axes backwards. n 0 flips them all. */
TSR_API TSR_MUST_CHECK tsr_status tsr_flip(tsr_tensor **out, const tsr_tensor *t, int n, const int *axes);

/* The k-th diagonal of axes a and b (above the main one for k > 0), as a new
 * last dim; a and b are dropped. */
TSR_API TSR_MUST_CHECK tsr_status tsr_diagonal(tsr_tensor **out, const tsr_tensor *t, int64_t k, int a,
                                               int b);

/* Sliding windows: dim `axis` becomes the window's place, and a new last dim of
 * length `size` the place in the window. */
TSR_API TSR_MUST_CHECK tsr_status tsr_unfold(tsr_tensor **out, const tsr_tensor *t, int axis, int64_t size,
                                             int64_t step);

/* Dims axis .. axis + count - 1 as one (TSR_ESTRIDE if they are not contiguous
 * with each other); one dim as several whose sizes multiply to it (one may be -1). */
TSR_API TSR_MUST_CHECK tsr_status tsr_merge_dims(tsr_tensor **out, const tsr_tensor *t, int axis, int count);
TSR_API TSR_MUST_CHECK tsr_status tsr_split_dim(tsr_tensor **out, const tsr_tensor *t, int axis, int n,
                                                const int64_t *sizes);

/* Any shape and strides, starting `offset` elements from element (0, ..., 0) of
 * t. TSR_EBOUNDS if one element would leave t's storage. */
TSR_API TSR_MUST_CHECK tsr_status tsr_as_strided(tsr_tensor **out, const tsr_tensor *t, int ndim,
                                                 const int64_t *shape, const int64_t *stride, int64_t offset);

/* The parts of a complex tensor. tsr_view_real of a real tensor is a view of
 * all of it; tsr_view_imag of one is TSR_EDTYPE. */
TSR_API TSR_MUST_CHECK tsr_status tsr_view_real(tsr_tensor **out, const tsr_tensor *t);
TSR_API TSR_MUST_CHECK tsr_status tsr_view_imag(tsr_tensor **out, const tsr_tensor *t);

/* The same bits as another dtype. Equal sizes: any strides. To a smaller one the
 * last dim grows, to a larger one it shrinks; it must then be packed (stride 1,
 * TSR_ESTRIDE), divide evenly (TSR_ESHAPE), be aligned, and the other strides
 * must divide too. Nothing is viewed as bool, whose bytes are only 0 and 1. */
TSR_API TSR_MUST_CHECK tsr_status tsr_bit_view(tsr_tensor **out, const tsr_tensor *t, tsr_dtype dtype);

/* Cut along an axis into n views of the given sizes, which must add up; or into
 * n views of one index each, without the axis. All of outs[0 .. n - 1] are
 * replaced, or none. */
TSR_API TSR_MUST_CHECK tsr_status tsr_split(tsr_tensor **outs, const tsr_tensor *t, int axis, int n,
                                            const int64_t *sizes);
TSR_API TSR_MUST_CHECK tsr_status tsr_unstack(tsr_tensor **outs, const tsr_tensor *t, int axis, int n);

TSR_END_C

#endif
