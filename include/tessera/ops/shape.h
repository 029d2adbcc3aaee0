/* shape.h - ops that lay elements out in another shape.
 *
 * Rules for the whole header:
 *
 *   - Elements keep their bits; any dtype is taken, and the result has it.
 *   - A result that is allocated is contiguous; one that is given may have any
 *     strides, and may overlap an input.
 *   - Negative axes count from the end.
 *   - tsr_meshgrid is a view function: it copies nothing, and releases and replaces its results.
 *
 * TSR_EINDEX if there is no such axis; TSR_EOVERFLOW if the result would have more
 * than 2^63 - 1 elements or bytes.
 */
#ifndef TESSERA_OPS_SHAPE_H
#define TESSERA_OPS_SHAPE_H

#include "../tensor.h"

TSR_BEGIN_C

/* The whole of t, reps[i] times along dim i. Shape and reps are aligned at the
 * right, and the shorter one is lengthened by 1s: (2, 3) by (4) is (2, 12), by
 * (4, 1, 1) is (4, 2, 3). TSR_EINVAL if a number is negative, or the result would
 * have too many dims. */
TSR_API TSR_MUST_CHECK tsr_status tsr_tile(tsr_tensor **out, const tsr_tensor *t, int n, const int64_t *reps);

/* Each index along one axis, `count` times in a row: (a, b) by 2 is (a, a, b, b).
 * TSR_EINVAL if count is negative. */
TSR_API TSR_MUST_CHECK tsr_status tsr_repeat(tsr_tensor **out, const tsr_tensor *t, int64_t count, int axis);

/* Element i along axes[j] moves to i + shifts[j]; what leaves at one end comes in at
 * the other. An axis named twice moves by the sum. */
TSR_API TSR_MUST_CHECK tsr_status tsr_roll(tsr_tensor **out, const tsr_tensor *t, int n,
                                           const int64_t *shifts, const int *axes);

/* What lies outside (a, b, c), four places to each side:
 *
 *     constant   v v v v | a b c | v v v v
 *     edge       a a a a | a b c | c c c c
 *     reflect    a b c b | a b c | b a b c     the ends are not repeated
 *     wrap       c a b c | a b c | a b c a
 */
typedef enum tsr_pad_mode {
    TSR_PAD_CONSTANT = 0,
    TSR_PAD_EDGE,
    TSR_PAD_REFLECT,
    TSR_PAD_WRAP,
    TSR_PAD_MAX_ = 0x7fffffff
} tsr_pad_mode;

/* t with before[i] more indices ahead of dim i and after[i] behind it; n is the rank
 * of t. value is for the constant mode, and takes t's dtype. Any length may be
 * asked of any mode, except that only `constant` extends a dim of size 0
 * (TSR_ESHAPE). TSR_EINVAL if a length is negative or there is no such mode. */
TSR_API TSR_MUST_CHECK tsr_status tsr_pad(tsr_tensor **out, const tsr_tensor *t, int n, const int64_t *before,
                                          const int64_t *after, tsr_pad_mode mode, tsr_scalar value);

/* The matrices in the last two dims with zeros above (tril) or below (triu) their
 * k-th diagonal; k > 0 is above the main one. TSR_ESHAPE below rank 2. */
TSR_API TSR_MUST_CHECK tsr_status tsr_tril(tsr_tensor **out, const tsr_tensor *t, int64_t k);
TSR_API TSR_MUST_CHECK tsr_status tsr_triu(tsr_tensor **out, const tsr_tensor *t, int64_t k);

/* A vector of n as the k-th diagonal of a square matrix of n + |k|, else zero; or the
 * k-th diagonal of a matrix as a vector (a copy; tsr_diagonal is the view). A
 * diagonal outside the matrix is empty. TSR_ESHAPE for any other rank. */
TSR_API TSR_MUST_CHECK tsr_status tsr_diag(tsr_tensor **out, const tsr_tensor *t, int64_t k);

typedef enum tsr_mesh_order {
    TSR_MESH_IJ = 0, /* tensor i runs along dim i */
    TSR_MESH_XY,     /* the first two dims swapped: tensor 0 runs along dim 1 */
    TSR_MESH_MAX_ = 0x7fffffff
} tsr_mesh_order;

/* n vectors as n views of one shape, each running along its own dim and repeated
 * (stride 0) along the others. If all goes well, each of outs[0 .. n - 1] is released and
 * holds its view; otherwise none is changed. They may be the vectors' own handles.
 * TSR_ESHAPE if one is no vector; TSR_EINVAL unless 1 <= n <= TSR_MAX_NDIM. */
TSR_API TSR_MUST_CHECK tsr_status tsr_meshgrid(tsr_tensor **outs, int n, const tsr_tensor *const *vectors,
                                               tsr_mesh_order order);

TSR_END_C

#endif
