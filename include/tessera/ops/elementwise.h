/* elementwise.h - ops that work element by element.
 *
 * Rules for the whole header:
 *
 *   - Operands broadcast by NumPy's rule: aligned at the right, each dim equal or 1.
 *   - Operands of different dtypes are promoted (tsr_dtype_promote). Integers and
 *     floats are not promoted together: cast first. A number (TSR_NUMBER(2.5)) takes
 *     the dtype of the tensors beside it.
 *   - The result may be one of the operands (in place), or overlap them.
 *   - A result that is allocated has no gaps, and the memory order of the first operand
 *     that has its shape.
 *   - f16, bf16 and f8 compute in f32 and round once to the result. c32 is a storage
 *     dtype: cast it to c64 to compute.
 *   - Special values (NaN, infinities, -0) follow the Python array API standard.
 *
 * TSR_EDTYPE if an op does not take a dtype; TSR_ESHAPE if shapes do not broadcast.
 */
#ifndef TESSERA_OPS_ELEMENTWISE_H
#define TESSERA_OPS_ELEMENTWISE_H

#include "../tensor.h"

TSR_BEGIN_C

/* One operand ---------------------------------------------------------------- */

/* |x|; the most negative integer stays as it is. (numeric) */
TSR_API TSR_MUST_CHECK tsr_status tsr_abs(tsr_tensor **out, const tsr_tensor *x);
/* -x; unsigned integers wrap. (numeric) */
TSR_API TSR_MUST_CHECK tsr_status tsr_neg(tsr_tensor **out, const tsr_tensor *x);
/* -1, 0 or 1; x / |x| for complex; NaN for NaN. (numeric) */
TSR_API TSR_MUST_CHECK tsr_status tsr_sign(tsr_tensor **out, const tsr_tensor *x);
/* x * x. (numeric) */
TSR_API TSR_MUST_CHECK tsr_status tsr_square(tsr_tensor **out, const tsr_tensor *x);
/* square root. (floating/complex) */
TSR_API TSR_MUST_CHECK tsr_status tsr_sqrt(tsr_tensor **out, const tsr_tensor *x);
/* 1 / sqrt(x). (floating/complex) */
TSR_API TSR_MUST_CHECK tsr_status tsr_rsqrt(tsr_tensor **out, const tsr_tensor *x);
/* 1 / x. (floating/complex) */
TSR_API TSR_MUST_CHECK tsr_status tsr_reciprocal(tsr_tensor **out, const tsr_tensor *x);
/* e to the x. (floating/complex) */
TSR_API TSR_MUST_CHECK tsr_status tsr_exp(tsr_tensor **out, const tsr_tensor *x);
/* 2 to the x. (floating) */
TSR_API TSR_MUST_CHECK tsr_status tsr_exp2(tsr_tensor **out, const tsr_tensor *x);
/* e to the x, less 1, exact near 0. (floating/complex) */
TSR_API TSR_MUST_CHECK tsr_status tsr_expm1(tsr_tensor **out, const tsr_tensor *x);
/* natural logarithm. (floating/complex) */
TSR_API TSR_MUST_CHECK tsr_status tsr_log(tsr_tensor **out, const tsr_tensor *x);
/* logarithm to base 2. (floating/complex) */
TSR_API TSR_MUST_CHECK tsr_status tsr_log2(tsr_tensor **out, const tsr_tensor *x);
/* logarithm to base 10. (floating/complex) */
TSR_API TSR_MUST_CHECK tsr_status tsr_log10(tsr_tensor **out, const tsr_tensor *x);
/* log(1 + x), exact near 0. (floating/complex) */
TSR_API TSR_MUST_CHECK tsr_status tsr_log1p(tsr_tensor **out, const tsr_tensor *x);
/* sine. (floating/complex) */
TSR_API TSR_MUST_CHECK tsr_status tsr_sin(tsr_tensor **out, const tsr_tensor *x);
/* cosine. (floating/complex) */
TSR_API TSR_MUST_CHECK tsr_status tsr_cos(tsr_tensor **out, const tsr_tensor *x);
/* tangent. (floating/complex) */
TSR_API TSR_MUST_CHECK tsr_status tsr_tan(tsr_tensor **out, const tsr_tensor *x);
/* inverse sine. (floating/complex) */
TSR_API TSR_MUST_CHECK tsr_status tsr_asin(tsr_tensor **out, const tsr_tensor *x);
/* inverse cosine. (floating/complex) */
TSR_API TSR_MUST_CHECK tsr_status tsr_acos(tsr_tensor **out, const tsr_tensor *x);
/* inverse tangent. (floating/complex) */
TSR_API TSR_MUST_CHECK tsr_status tsr_atan(tsr_tensor **out, const tsr_tensor *x);
/* hyperbolic sine. (floating/complex) */
TSR_API TSR_MUST_CHECK tsr_status tsr_sinh(tsr_tensor **out, const tsr_tensor *x);
/* hyperbolic cosine. (floating/complex) */
TSR_API TSR_MUST_CHECK tsr_status tsr_cosh(tsr_tensor **out, const tsr_tensor *x);
/* hyperbolic tangent. (floating/complex) */
TSR_API TSR_MUST_CHECK tsr_status tsr_tanh(tsr_tensor **out, const tsr_tensor *x);
/* inverse hyperbolic sine. (floating/complex) */
TSR_API TSR_MUST_CHECK tsr_status tsr_asinh(tsr_tensor **out, const tsr_tensor *x);
/* inverse hyperbolic cosine. (floating/complex) */
TSR_API TSR_MUST_CHECK tsr_status tsr_acosh(tsr_tensor **out, const tsr_tensor *x);
/* inverse hyperbolic tangent. (floating/complex) */
TSR_API TSR_MUST_CHECK tsr_status tsr_atanh(tsr_tensor **out, const tsr_tensor *x);
/* error function. (floating) */
TSR_API TSR_MUST_CHECK tsr_status tsr_erf(tsr_tensor **out, const tsr_tensor *x);
/* 1 - erf(x), exact where that is small. (floating) */
TSR_API TSR_MUST_CHECK tsr_status tsr_erfc(tsr_tensor **out, const tsr_tensor *x);
/* y with erf(y) = x; infinite at -1 and 1, NaN beyond. (floating) */
TSR_API TSR_MUST_CHECK tsr_status tsr_erfinv(tsr_tensor **out, const tsr_tensor *x);
/* log|gamma(x)|; infinite at 0, -1, -2 .. and at both infinities, as in C and PyTorch (SciPy: -infinity at
 * -infinity). (floating) */
TSR_API TSR_MUST_CHECK tsr_status tsr_lgamma(tsr_tensor **out, const tsr_tensor *x);
/* the derivative of lgamma: NaN at -1, -2 .., -infinity at 0, infinity at -0, as in SciPy and PyTorch.
 * Below 0 it is a difference of two terms: near its zeros there, errors are in units of x. (floating) */
TSR_API TSR_MUST_CHECK tsr_status tsr_digamma(tsr_tensor **out, const tsr_tensor *x);
/* the modified Bessel function of order 0; infinite at both infinities, where SciPy and PyTorch have NaN.
 * (floating) */
TSR_API TSR_MUST_CHECK tsr_status tsr_i0(tsr_tensor **out, const tsr_tensor *x);
/* the next integer up. (real) */
TSR_API TSR_MUST_CHECK tsr_status tsr_ceil(tsr_tensor **out, const tsr_tensor *x);
/* the next integer down. (real) */
TSR_API TSR_MUST_CHECK tsr_status tsr_floor(tsr_tensor **out, const tsr_tensor *x);
/* the nearest integer, halves to even. (numeric) */
TSR_API TSR_MUST_CHECK tsr_status tsr_round(tsr_tensor **out, const tsr_tensor *x);
/* the integer toward zero. (real) */
TSR_API TSR_MUST_CHECK tsr_status tsr_trunc(tsr_tensor **out, const tsr_tensor *x);
/* neither infinite nor NaN. (numeric) */
TSR_API TSR_MUST_CHECK tsr_status tsr_isfinite(tsr_tensor **out, const tsr_tensor *x);
/* infinite; for complex, in either part. (numeric) */
TSR_API TSR_MUST_CHECK tsr_status tsr_isinf(tsr_tensor **out, const tsr_tensor *x);
/* NaN; for complex, in either part. (numeric) */
TSR_API TSR_MUST_CHECK tsr_status tsr_isnan(tsr_tensor **out, const tsr_tensor *x);
/* is the sign negative? true for -0. (real) */
TSR_API TSR_MUST_CHECK tsr_status tsr_signbit(tsr_tensor **out, const tsr_tensor *x);
/* x is zero. (any) */
TSR_API TSR_MUST_CHECK tsr_status tsr_logical_not(tsr_tensor **out, const tsr_tensor *x);
/* every bit inverted. (bool/integer) */
TSR_API TSR_MUST_CHECK tsr_status tsr_bitwise_not(tsr_tensor **out, const tsr_tensor *x);
/* the imaginary part negated. (numeric) */
TSR_API TSR_MUST_CHECK tsr_status tsr_conj(tsr_tensor **out, const tsr_tensor *x);
/* the real part. (numeric) */
TSR_API TSR_MUST_CHECK tsr_status tsr_real(tsr_tensor **out, const tsr_tensor *x);
/* the imaginary part; 0 for real numbers. (numeric) */
TSR_API TSR_MUST_CHECK tsr_status tsr_imag(tsr_tensor **out, const tsr_tensor *x);
/* the angle in the complex plane. (floating/complex) */
TSR_API TSR_MUST_CHECK tsr_status tsr_angle(tsr_tensor **out, const tsr_tensor *x);
/* max(x, 0). (real) */
TSR_API TSR_MUST_CHECK tsr_status tsr_relu(tsr_tensor **out, const tsr_tensor *x);
/* x times the normal distribution's integral, by erf. (floating) */
TSR_API TSR_MUST_CHECK tsr_status tsr_gelu(tsr_tensor **out, const tsr_tensor *x);
/* gelu by its tanh approximation. (floating) */
TSR_API TSR_MUST_CHECK tsr_status tsr_gelu_tanh(tsr_tensor **out, const tsr_tensor *x);
/* x * sigmoid(x). (floating) */
TSR_API TSR_MUST_CHECK tsr_status tsr_silu(tsr_tensor **out, const tsr_tensor *x);
/* 1 / (1 + exp(-x)). (floating) */
TSR_API TSR_MUST_CHECK tsr_status tsr_sigmoid(tsr_tensor **out, const tsr_tensor *x);
/* log(1 + exp(x)) without overflow. (floating) */
TSR_API TSR_MUST_CHECK tsr_status tsr_softplus(tsr_tensor **out, const tsr_tensor *x);
/* x * min(max(x + 3, 0), 6) / 6. (floating) */
TSR_API TSR_MUST_CHECK tsr_status tsr_hardswish(tsr_tensor **out, const tsr_tensor *x);

/* x, or alpha * expm1(x) below 0; x, or slope * x below 0; x held to low .. high. (floating) */
TSR_API TSR_MUST_CHECK tsr_status tsr_elu(tsr_tensor **out, const tsr_tensor *x, double alpha);
TSR_API TSR_MUST_CHECK tsr_status tsr_leaky_relu(tsr_tensor **out, const tsr_tensor *x, double slope);
TSR_API TSR_MUST_CHECK tsr_status tsr_hardtanh(tsr_tensor **out, const tsr_tensor *x, double low,
                                               double high);

/* Two operands --------------------------------------------------------------- */

/* x + y; integers wrap. (numeric) */
TSR_API TSR_MUST_CHECK tsr_status tsr_add(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y);
/* x - y; integers wrap. (numeric) */
TSR_API TSR_MUST_CHECK tsr_status tsr_sub(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y);
/* x * y; integers wrap. (numeric) */
TSR_API TSR_MUST_CHECK tsr_status tsr_mul(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y);
/* x / y. (floating/complex) */
TSR_API TSR_MUST_CHECK tsr_status tsr_div(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y);
/* floor(x / y); integers by 0 give 0. (real) */
TSR_API TSR_MUST_CHECK tsr_status tsr_floor_div(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y);
/* x - y * floor(x / y), with y's sign; integers by 0 give 0. (real) */
TSR_API TSR_MUST_CHECK tsr_status tsr_remainder(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y);
/* x to the y; an integer to a negative power is 0 unless x is 1 or -1. (numeric) */
TSR_API TSR_MUST_CHECK tsr_status tsr_pow(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y);
/* the angle of (y, x): atan(x / y) in the right quadrant. (floating) */
TSR_API TSR_MUST_CHECK tsr_status tsr_atan2(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y);
/* sqrt(x^2 + y^2) without intermediate overflow. (floating) */
TSR_API TSR_MUST_CHECK tsr_status tsr_hypot(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y);
/* |x| with the sign of y. (floating) */
TSR_API TSR_MUST_CHECK tsr_status tsr_copysign(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y);
/* the next number of the dtype after x toward y. (floating) */
TSR_API TSR_MUST_CHECK tsr_status tsr_nextafter(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y);
/* the larger; NaN if either is. (bool/real) */
TSR_API TSR_MUST_CHECK tsr_status tsr_maximum(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y);
/* the smaller; NaN if either is. (bool/real) */
TSR_API TSR_MUST_CHECK tsr_status tsr_minimum(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y);
/* the larger; NaN only if both are. (bool/real) */
TSR_API TSR_MUST_CHECK tsr_status tsr_fmax(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y);
/* the smaller; NaN only if both are. (bool/real) */
TSR_API TSR_MUST_CHECK tsr_status tsr_fmin(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y);
/* log(exp(x) + exp(y)) without overflow. (floating) */
TSR_API TSR_MUST_CHECK tsr_status tsr_logaddexp(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y);
/* x == y. (any) */
TSR_API TSR_MUST_CHECK tsr_status tsr_eq(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y);
/* x != y. (any) */
TSR_API TSR_MUST_CHECK tsr_status tsr_ne(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y);
/* x < y. (bool/real) */
TSR_API TSR_MUST_CHECK tsr_status tsr_lt(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y);
/* x <= y. (bool/real) */
TSR_API TSR_MUST_CHECK tsr_status tsr_le(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y);
/* x > y. (bool/real) */
TSR_API TSR_MUST_CHECK tsr_status tsr_gt(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y);
/* x >= y. (bool/real) */
TSR_API TSR_MUST_CHECK tsr_status tsr_ge(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y);
/* neither is zero. (any) */
TSR_API TSR_MUST_CHECK tsr_status tsr_logical_and(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y);
/* not both are zero. (any) */
TSR_API TSR_MUST_CHECK tsr_status tsr_logical_or(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y);
/* exactly one is zero. (any) */
TSR_API TSR_MUST_CHECK tsr_status tsr_logical_xor(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y);
/* bits of both. (bool/integer) */
TSR_API TSR_MUST_CHECK tsr_status tsr_bitwise_and(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y);
/* bits of either. (bool/integer) */
TSR_API TSR_MUST_CHECK tsr_status tsr_bitwise_or(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y);
/* bits of exactly one. (bool/integer) */
TSR_API TSR_MUST_CHECK tsr_status tsr_bitwise_xor(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y);
/* x << y; 0 where y is negative or too large. (integer) */
TSR_API TSR_MUST_CHECK tsr_status tsr_shift_left(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y);
/* x >> y, keeping the sign; all sign where y is negative or too large. (integer) */
TSR_API TSR_MUST_CHECK tsr_status tsr_shift_right(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y);

/* Three operands ------------------------------------------------------------- */

/* x where c, else y. (any) */
TSR_API TSR_MUST_CHECK tsr_status tsr_where(tsr_tensor **out, const tsr_tensor *c, const tsr_tensor *x,
                                            const tsr_tensor *y);
/* min(max(x, low), high); NaN if any is. (real) */
TSR_API TSR_MUST_CHECK tsr_status tsr_clip(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *low,
                                           const tsr_tensor *high);
/* x + w * (y - x), exact at w = 0 and w = 1. (floating/complex) */
TSR_API TSR_MUST_CHECK tsr_status tsr_lerp(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y,
                                           const tsr_tensor *w);
/* x * y + w; rounded once for real dtypes. (numeric) */
TSR_API TSR_MUST_CHECK tsr_status tsr_fma(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y,
                                          const tsr_tensor *w);

/* x + scale * y * w; integers take the whole part of the scale. (numeric) */
TSR_API TSR_MUST_CHECK tsr_status tsr_addcmul(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y,
                                              const tsr_tensor *w, double scale);

/* alpha * x + y, rounded once for real dtypes; in place: tsr_axpy(&y, TSR_SCALAR(0.5), x, y). alpha takes the
 * dtype of x and y: TSR_EDTYPE if that has no such numbers. (numeric) */
TSR_API TSR_MUST_CHECK tsr_status tsr_axpy(tsr_tensor **out, tsr_scalar alpha, const tsr_tensor *x,
                                           const tsr_tensor *y);

TSR_END_C

#endif
