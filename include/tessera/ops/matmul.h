/* matmul.h - products of matrices and vectors, and contractions of tensors.
 *
 * Rules for the whole header:
 *
 *   - Operands of different dtypes are promoted (tsr_dtype_promote); integers and floats
 *     are not promoted together. All dtypes of numbers are taken but c32: cast it to c64.
 *     bool is not a number.
 *   - f16, bf16 and f8 are multiplied and summed in f32 and rounded once to the
 *     result; f32, f64, c64 and c128 in themselves (in their parts). Integers
 *     wrap in their dtype, as if summed exactly and cut to its bits;
 *     tsr_matmul_i8 sums bytes in i32.
 *   - A sum over k has one order, whatever the shapes around it, the strides and
 *     the number of threads: blocks of 256 are summed in order, each from 0, and
 *     then the blocks' sums in order. Only one row times one column (a dot) of floats
 *     over more than 1024 indices has an order of its own, which depends on k, the
 *     dtype and the machine's vectors alone. NaN and infinities are computed with like other numbers.
 *     A complex product is the textbook one: an infinity in it may give NaN.
 *   - Operands and results have any strides; a transpose is a view. Results that are
 *     allocated are contiguous.
 *   - The result may overlap an operand.
 *   - Dims of size 0 are legal: a sum over nothing is 0.
 *
 * TSR_EDTYPE if a dtype is not taken, or integers meet floats (cast first); TSR_ESHAPE if shapes do not fit.
 */
#ifndef TESSERA_OPS_MATMUL_H
#define TESSERA_OPS_MATMUL_H

#include "../tensor.h"

TSR_BEGIN_C

/* Products of matrices ------------------------------------------------------- */

/* a @ b, as the Python array API standard says: the last two dims are matrices, and
 * those before them broadcast. A 1-D a is a row and a 1-D b a column; the dim that
 * this adds is not in the result.
 *
 *     (m, k) @ (k, n)            -> (m, n)
 *     (5, 1, m, k) @ (3, k, n)   -> (5, 3, m, n)
 *     (k) @ (k, n) -> (n)        (m, k) @ (k) -> (m)        (k) @ (k) -> ()
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_matmul(tsr_tensor **out, const tsr_tensor *a, const tsr_tensor *b);

/* The same for i8 and u8, in any mix, to i32; sums beyond its range wrap. */
TSR_API TSR_MUST_CHECK tsr_status tsr_matmul_i8(tsr_tensor **out, const tsr_tensor *a, const tsr_tensor *b);

/* alpha * (a @ b) + beta * c, rounded once. a and b have two dims at least, and c
 * broadcasts to the result. c may be the result itself. c may be NULL, which counts
 * as 0. If beta is 0, c is not read, so that NaNs in it do not matter; a @ b is computed
 * even if alpha is 0. alpha and beta are converted to the type in which sums are computed;
 * TSR_EDTYPE if that cannot hold them (a fraction for integers, a complex number for reals). */
TSR_API TSR_MUST_CHECK tsr_status tsr_gemm(tsr_tensor **out, const tsr_tensor *a, const tsr_tensor *b,
                                           const tsr_tensor *c, tsr_scalar alpha, tsr_scalar beta);

/* c + a @ b, for matrices a and b; c broadcasts. */
TSR_API TSR_MUST_CHECK tsr_status tsr_addmm(tsr_tensor **out, const tsr_tensor *c, const tsr_tensor *a,
                                            const tsr_tensor *b);

/* x @ w^T + bias, rounded once: x is (..., k), w (n, k), bias (n) or NULL, and the result (..., n). */
TSR_API TSR_MUST_CHECK tsr_status tsr_linear(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *w,
                                             const tsr_tensor *bias);

typedef enum tsr_activation {
    TSR_ACTIVATION_NONE = 0,
    TSR_ACTIVATION_RELU,
    TSR_ACTIVATION_GELU,
    TSR_ACTIVATION_GELU_TANH,
    TSR_ACTIVATION_SILU,
    TSR_ACTIVATION_MAX_ = 0x7fffffff
} tsr_activation;

/* activation(x @ w^T + bias + residual), as tsr_linear, tsr_add and tsr_relu (tsr_gelu, ..) give it, but
 * that a backend may round fewer times in between, and compute gelu_tanh of f16 and bf16 to their last place.
 * bias and residual may be NULL. The residual is (..., n) as the result is, and may be the result itself.
 * (floating)
 *
 * TSR_EINVAL   there is no such activation */
TSR_API TSR_MUST_CHECK tsr_status tsr_linear_activation(tsr_tensor **out, const tsr_tensor *x,
                                                        const tsr_tensor *w, const tsr_tensor *bias,
                                                        const tsr_tensor *residual,
                                                        tsr_activation activation);

/* Products of vectors -------------------------------------------------------- */

/* The sum of a[i] * b[i] of two vectors, as a scalar. Complex numbers are not conjugated. */
TSR_API TSR_MUST_CHECK tsr_status tsr_dot(tsr_tensor **out, const tsr_tensor *a, const tsr_tensor *b);

/* The sum of conj(a) * b along an axis, which must be equally long in both; the other
 * dims broadcast, and are the result's. The axis is one of both operands' together: -1
 * is the last of each, 0 the first of the one with more dims. TSR_EINDEX if one of them
 * lacks it; TSR_EINVAL if an operand has the highest rank. */
TSR_API TSR_MUST_CHECK tsr_status tsr_vecdot(tsr_tensor **out, const tsr_tensor *a, const tsr_tensor *b,
                                             int axis);

/* out[i, j] = a[i] * b[j] of two vectors. */
TSR_API TSR_MUST_CHECK tsr_status tsr_outer(tsr_tensor **out, const tsr_tensor *a, const tsr_tensor *b);

/* Contractions --------------------------------------------------------------- */

/* Sums products over n pairs of axes: axes_a[i] of a with axes_b[i] of b, which are
 * equally long. Both lists NULL: the last n axes of a with the first n of b. The result
 * has a's other axes, then b's. TSR_EINDEX if there is no such axis; TSR_EINVAL if one
 * is named twice, or n is more than a tensor has. */
TSR_API TSR_MUST_CHECK tsr_status tsr_tensordot(tsr_tensor **out, const tsr_tensor *a, const tsr_tensor *b,
                                                int n, const int *axes_a, const int *axes_b);

enum { TSR_EINSUM_OPERANDS = 32 };  /* the most that tsr_einsum takes */

/* Einstein's notation for n operands:
 *
 *     "ij,jk->ik"      a product of matrices        "ij->ji"   a transpose
 *     "ij,jk"          the same                     "ii->i"    a diagonal
 *     "...ij,...jk"    in batches                   "ij->"     a sum
 *
 * Each operand's dims are named by letters; A and a are two names. A name that stands
 * twice in one operand takes its diagonal. Names that the result lacks are summed over.
 * "..." stands for the dims that have no names, which broadcast, aligned at the right;
 * in the result they stand together, and a result with names but without "..." sums over
 * them. Named dims must be equally long: a 1 is not repeated. Without "->" the result
 * has the dims of "..." and then, in the order of ASCII, the names that stand once.
 * Spaces do not count. An operand without dims is written as nothing: ",i->i".
 *
 * Operands are multiplied in pairs. Of more than two, the pair whose product is smallest
 * goes first (of equals, the one with fewer multiplications, then the earlier one); what
 * stands in one operand only is summed first of all. Products in between are kept in the
 * type that sums have.
 *
 * TSR_EFORMAT     the text is no such notation: the message names the column, from 1, and
 *                 what was expected there
 * TSR_EINVAL      the number of operands is not the one in the text, or not 1 .. TSR_EINSUM_OPERANDS
 * TSR_ESHAPE      an operand's rank or a size does not fit, or a product has more dims than
 *                 a tensor can have
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_einsum(tsr_tensor **out, const char *text, int n,
                                             const tsr_tensor *const *operands);

TSR_END_C

#endif
