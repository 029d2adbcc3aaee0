/* linalg.h - linear algebra: systems, factorisations, eigenvalues, norms.
 *
 * Rules for the whole header:
 *
 *   - A matrix is the last two dims of a tensor; the dims before them are a batch, and
 *     each of its matrices is computed by itself. A rank below 2 is TSR_ESHAPE.
 *   - Functions that factorise (det, slogdet, inv, solve, lstsq, cholesky, lu, qr, svd, svdvals,
 *     eigh, eigvalsh, eig, eigvals, pinv, matrix_rank; matrix_power below 0;
 *     matrix_norm by singular values) take f32, f64, c64 and c128 (TSR_EDTYPE:
 *     tsr_cast converts); two operands are promoted first. The CPU uses LAPACK if it is
 *     found: when it is first needed, at the absolute path in TSR_LAPACK, or by its usual
 *     names. Otherwise the library's own routines are used, whose errors are larger by a
 *     small factor, and which take up to five times as long.
 *   - A matrix that holds NaN or an infinity is no failure: the elements of its results
 *     that depend on that are NaN, and its rank is 0. Other matrices of the batch are
 *     not affected.
 *   - A matrix without a result (singular, not positive definite, an iteration that does
 *     not converge) is TSR_EINVAL; the message names its place in the batch. The contents
 *     of given results are undefined then.
 *   - Results that are allocated are contiguous; those that are given may have any
 *     strides. A result may overlap an operand, but two results of one call that overlap
 *     are TSR_EOVERLAP.
 *   - The last bits of results depend on which LAPACK was found, if any, and not on the
 *     number of threads (tsr_set_threads).
 *   - rtol is relative to the largest singular value of each matrix: what is not larger
 *     than rtol times that counts as 0. Negative means the default, max(rows, cols) times
 *     the distance from 1 to the next number of the dtype. TSR_EINVAL if it is not finite.
 *   - Matrices whose dims, or the room that LAPACK needs for them, exceed 2^31 - 1 are
 *     TSR_EINVAL.
 */
#ifndef TESSERA_OPS_LINALG_H
#define TESSERA_OPS_LINALG_H

#include "../tensor.h"

TSR_BEGIN_C

/* Other views ---------------------------------------------------------------- */

/* A view with the last two dims swapped, for any dtype. *out is released and holds the view. */
TSR_API TSR_MUST_CHECK tsr_status tsr_matrix_transpose(tsr_tensor **out, const tsr_tensor *a);

/* The same with elements conjugated: a view for real dtypes, a copy for complex ones; c32 is
 * TSR_EDTYPE. *out is released and holds the result. */
TSR_API TSR_MUST_CHECK tsr_status tsr_adjoint(tsr_tensor **out, const tsr_tensor *a);

/* Norms and sums ---------------------------------------------------------------- */

/* tsr_norm (reduce.h) by the name that the Python array API standard has for it.
 * (floating/complex) */
TSR_API TSR_MUST_CHECK tsr_status tsr_vector_norm(tsr_tensor **out, const tsr_tensor *x, int naxes,
                                                  const int *axes, bool keepdims, double p);

typedef enum tsr_matrix_ord {
    TSR_ORD_FRO = 0,   /* square root of the sum of |a|^2 */
    TSR_ORD_NUC,       /* sum of the singular values */
    TSR_ORD_ONE,       /* largest column sum of |a| */
    TSR_ORD_MINUS_ONE, /* smallest column sum */
    TSR_ORD_TWO,       /* largest singular value */
    TSR_ORD_MINUS_TWO, /* smallest singular value */
    TSR_ORD_INF,       /* largest row sum of |a| */
    TSR_ORD_MINUS_INF, /* smallest row sum */
    TSR_ORD_MAX_ = 0x7fffffff
} tsr_matrix_ord;

/* A norm of each matrix, real; 0 of one without elements. keepdims leaves two dims of
 * size 1. (floating/complex) TSR_EINVAL if there is no such norm. */
TSR_API TSR_MUST_CHECK tsr_status tsr_matrix_norm(tsr_tensor **out, const tsr_tensor *a, tsr_matrix_ord ord,
                                                  bool keepdims);

/* The sum of the offset-th diagonal (above the main one for offset > 0), in the dtype that
 * tsr_sum gives; 0 where there is no such diagonal. (numeric) */
TSR_API TSR_MUST_CHECK tsr_status tsr_trace(tsr_tensor **out, const tsr_tensor *a, int64_t offset);

/* Products -------------------------------------------------------------------------- */

/* The vector product along an axis that has three elements in both operands (TSR_ESHAPE);
 * the other dims broadcast. The axis is one of both operands' together: -1 is the last of
 * each, 0 the first of the one with more dims; TSR_EINDEX if one of them lacks it. Short
 * floats are computed in f32. (numeric) */
TSR_API TSR_MUST_CHECK tsr_status tsr_cross(tsr_tensor **out, const tsr_tensor *a, const tsr_tensor *b,
                                            int axis);

/* Kronecker's product: each element of a times the whole of b, so that dim i is a's times
 * b's. The one with fewer dims gets dims of size 1 in front. (numeric) */
TSR_API TSR_MUST_CHECK tsr_status tsr_kron(tsr_tensor **out, const tsr_tensor *a, const tsr_tensor *b);

/* The product of n equal square matrices; the identity for 0; of the inverse for n < 0.
 * Each product in between is rounded to the dtype. (numeric; as inv for n < 0) */
TSR_API TSR_MUST_CHECK tsr_status tsr_matrix_power(tsr_tensor **out, const tsr_tensor *a, int64_t n);

/* Systems --------------------------------------------------------------------------- */

/* The determinant, as the product of the pivots of lu; 1 for 0 x 0. */
TSR_API TSR_MUST_CHECK tsr_status tsr_det(tsr_tensor **out, const tsr_tensor *a);

/* The same where that would overflow: det = sign * exp(logabsdet). sign has a's dtype and
 * is 0 for a singular matrix, logabsdet is real and -infinity then. */
TSR_API TSR_MUST_CHECK tsr_status tsr_slogdet(tsr_tensor **sign, tsr_tensor **logabsdet, const tsr_tensor *a);

/* The inverse of square matrices. TSR_EINVAL, naming matrix and pivot, if a pivot is 0. */
TSR_API TSR_MUST_CHECK tsr_status tsr_inv(tsr_tensor **out, const tsr_tensor *a);

/* x with a @ x = b, for square a. b is a vector if it has one dim, and x is then (..., n);
 * otherwise b is (..., n, k), and so is x. Batch dims broadcast, dtypes are promoted.
 * TSR_EINVAL as for inv. */
TSR_API TSR_MUST_CHECK tsr_status tsr_solve(tsr_tensor **x, const tsr_tensor *a, const tsr_tensor *b);

/* x with the least norm among those that minimise |a @ x - b|, for a of any
 * shape (..., m, n), by its singular values. b is a vector of m or (..., m, k). */
TSR_API TSR_MUST_CHECK tsr_status tsr_lstsq(tsr_tensor **x, const tsr_tensor *a, const tsr_tensor *b,
                                            double rtol);

/* The pseudo-inverse: (..., n, m) for (..., m, n). */
TSR_API TSR_MUST_CHECK tsr_status tsr_pinv(tsr_tensor **out, const tsr_tensor *a, double rtol);

/* How many singular values count; i64. */
TSR_API TSR_MUST_CHECK tsr_status tsr_matrix_rank(tsr_tensor **out, const tsr_tensor *a, double rtol);

/* Factors ------------------------------------------------------------------------------ */

/* Lower-triangular l with a = l @ adjoint(l), or upper-triangular u with a = adjoint(u) @ u.
 * Only that triangle of a is read; its mirror image is taken for granted. TSR_EINVAL,
 * naming matrix and order, if a is not positive definite. */
TSR_API TSR_MUST_CHECK tsr_status tsr_cholesky(tsr_tensor **out, const tsr_tensor *a, bool upper);

/* a taken at p along its rows is l @ u: a[p[i], j] = (l @ u)[i, j]. For (..., m, n) and
 * k = min(m, n): p is i64 (..., m), l (..., m, k) lower-triangular with ones on the
 * diagonal, u (..., k, n) upper-triangular. A singular matrix has factors too. */
TSR_API TSR_MUST_CHECK tsr_status tsr_lu(tsr_tensor **p, tsr_tensor **l, tsr_tensor **u, const tsr_tensor *a);

/* a = q @ r: orthonormal columns, upper triangle. q is (..., m, k) and r (..., k, n), with
 * k = min(m, n), or m if complete. */
TSR_API TSR_MUST_CHECK tsr_status tsr_qr(tsr_tensor **q, tsr_tensor **r, const tsr_tensor *a, bool complete);

/* a = (u * s) @ vh: orthonormal columns, real values in descending order, orthonormal rows.
 * u is (..., m, k), s (..., k) and vh (..., k, n), with k = min(m, n); if full_matrices, u is
 * (..., m, m) and vh (..., n, n). */
TSR_API TSR_MUST_CHECK tsr_status tsr_svd(tsr_tensor **u, tsr_tensor **s, tsr_tensor **vh,
                                          const tsr_tensor *a, bool full_matrices);
TSR_API TSR_MUST_CHECK tsr_status tsr_svdvals(tsr_tensor **s, const tsr_tensor *a);

/* a @ v = v * w for Hermitian (real symmetric) a: real values in ascending order, orthonormal
 * columns. Only the lower triangle of a is read. */
TSR_API TSR_MUST_CHECK tsr_status tsr_eigh(tsr_tensor **w, tsr_tensor **v, const tsr_tensor *a);
TSR_API TSR_MUST_CHECK tsr_status tsr_eigvalsh(tsr_tensor **w, const tsr_tensor *a);

/* a @ v = v * w for any square a: complex values in no order, complex columns of length 1.
 * c64 for f32 and c64, c128 for f64 and c128. */
TSR_API TSR_MUST_CHECK tsr_status tsr_eig(tsr_tensor **w, tsr_tensor **v, const tsr_tensor *a);
TSR_API TSR_MUST_CHECK tsr_status tsr_eigvals(tsr_tensor **w, const tsr_tensor *a);

TSR_END_C

#endif
