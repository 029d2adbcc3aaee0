/* elementwise_lists.h - which elementwise kernels there are for each class of dtypes.
 *
 *     X(walker, op, ID)
 *
 * The kernels and their places in the table come from these lists. */

#define FLOAT_WALKS(X) \
    X(walk1, neg, NEG) X(walk1, abs, ABS) X(walk1, sign, SIGN) X(walk1, square, SQUARE) \
    X(walk1, reciprocal, RECIPROCAL) X(walk1, conj, CONJ) X(walk1, real, REAL) X(walk1, imag, IMAG) \
    X(walk1, relu, RELU) X(walk2, add, ADD) X(walk2, sub, SUB) X(walk2, mul, MUL) \
    X(walk2, div, DIV) X(walk2, maximum, MAXIMUM) X(walk2, minimum, MINIMUM) X(walk2, fmax, FMAX) \
    X(walk2, fmin, FMIN) X(test1, isfinite, ISFINITE) X(test1, isinf, ISINF) X(test1, isnan, ISNAN) \
    X(test1, signbit, SIGNBIT) X(test1, logical_not, LOGICAL_NOT) X(test2, eq, EQ) X(test2, ne, NE) \
    X(test2, lt, LT) X(test2, le, LE) X(test2, gt, GT) X(test2, ge, GE) \
    X(test2, logical_and, LOGICAL_AND) X(test2, logical_or, LOGICAL_OR) X(test2, logical_xor, LOGICAL_XOR)

/* The other ops of op.def that take floats are computed in double (float_maths.inc); a new row is one of
 * them. These are not: the ops above, and those with kernels of their own (float_parts.inc, clip). */
#define TSRI_OWN_KERNEL_neg         ~, 1
#define TSRI_OWN_KERNEL_abs         ~, 1
#define TSRI_OWN_KERNEL_sign        ~, 1
#define TSRI_OWN_KERNEL_square      ~, 1
#define TSRI_OWN_KERNEL_reciprocal  ~, 1
#define TSRI_OWN_KERNEL_conj        ~, 1
#define TSRI_OWN_KERNEL_real        ~, 1
#define TSRI_OWN_KERNEL_imag        ~, 1
#define TSRI_OWN_KERNEL_relu        ~, 1
#define TSRI_OWN_KERNEL_add         ~, 1
#define TSRI_OWN_KERNEL_sub         ~, 1
#define TSRI_OWN_KERNEL_mul         ~, 1
#define TSRI_OWN_KERNEL_div         ~, 1
#define TSRI_OWN_KERNEL_maximum     ~, 1
#define TSRI_OWN_KERNEL_minimum     ~, 1
#define TSRI_OWN_KERNEL_fmax        ~, 1
#define TSRI_OWN_KERNEL_fmin        ~, 1
#define TSRI_OWN_KERNEL_copysign    ~, 1
#define TSRI_OWN_KERNEL_nextafter   ~, 1
#define TSRI_OWN_KERNEL_where       ~, 1
#define TSRI_OWN_KERNEL_clip        ~, 1
#define TSRI_OWN_KERNEL_fma         ~, 1
#define TSRI_OWN_KERNEL_addcmul     ~, 1

/* The text if `op` is not in that list. An undefined name is one token, a defined one two, so that 0 or 1
 * is second. */
#define TSRI_IF_IN_DOUBLE(op, ...)         TSRI_SECOND(TSRI_OWN_KERNEL_##op, 0, ~)(__VA_ARGS__)
#define TSRI_SECOND(...)                   TSRI_SECOND_(__VA_ARGS__)
#define TSRI_SECOND_(first, second, ...)   TSRI_IF_IN_DOUBLE_##second
#define TSRI_IF_IN_DOUBLE_0(...)           __VA_ARGS__
#define TSRI_IF_IN_DOUBLE_1(...)

/* Ops that do not depend on the sign; _SAME: ops that use the kernel of another op. */
#define INTEGER_BITS(X) \
    X(walk1, neg, NEG) X(walk1, square, SQUARE) X(walk1, bitwise_not, BITWISE_NOT) \
    X(walk2, add, ADD) X(walk2, sub, SUB) X(walk2, mul, MUL) X(walk2, bitwise_and, BITWISE_AND) \
    X(walk2, bitwise_or, BITWISE_OR) X(walk2, bitwise_xor, BITWISE_XOR) X(walk2, shift_left, SHIFT_LEFT) \
    X(test1, logical_not, LOGICAL_NOT) X(test2, eq, EQ) X(test2, ne, NE) X(test2, logical_and, LOGICAL_AND) \
    X(test2, logical_or, LOGICAL_OR) X(test2, logical_xor, LOGICAL_XOR)
#define INTEGER_COPIES(X) X(walk1, conj, CONJ)
#define INTEGER_COPIES_SAME(X) \
    X(walk1, conj, REAL) X(walk1, conj, CEIL) X(walk1, conj, FLOOR) X(walk1, conj, ROUND) \
    X(walk1, conj, TRUNC)
#define INTEGER_BITS_THREES(X) X(each3, fma, FMA)

#define INTEGER_SIGNED(X) \
    X(walk1, abs, ABS) X(walk1, sign, SIGN) X(walk1, relu, RELU) X(walk2, maximum, MAXIMUM) \
    X(walk2, minimum, MINIMUM) X(walk2, shift_right, SHIFT_RIGHT) X(test1, signbit, SIGNBIT) \
    X(test2, lt, LT) X(test2, le, LE) X(test2, gt, GT) X(test2, ge, GE)
#define INTEGER_SIGNED_SAME(X) X(walk2, maximum, FMAX) X(walk2, minimum, FMIN)
#define INTEGER_SIGNED_THREES(X) X(each3, clip, CLIP)

/* Ops for which plain C is fast enough, or vectors have other kernels. */
#define INTEGER_BITS_SLOW(X) \
    X(each1, imag, IMAG) X(test1, isfinite, ISFINITE) X(test1, isinf, ISINF) X(test1, isnan, ISNAN)
#define INTEGER_SIGNED_SLOW(X) \
    X(each2, floor_div, FLOOR_DIV) X(each2, remainder, REMAINDER) X(each2, pow, POW)
#define INTEGER_SLOW_THREES(X) X(each3, addcmul, ADDCMUL)

#define COMPLEX_WALKS(X) \
    X(walk1, neg, NEG) X(walk1, sign, SIGN) X(walk1, square, SQUARE) X(walk1, sqrt, SQRT) \
    X(walk1, rsqrt, RSQRT) X(walk1, reciprocal, RECIPROCAL) X(walk1, exp, EXP) X(walk1, expm1, EXPM1) \
    X(walk1, log, LOG) X(walk1, log2, LOG2) X(walk1, log10, LOG10) X(walk1, log1p, LOG1P) \
    X(walk1, sin, SIN) X(walk1, cos, COS) X(walk1, tan, TAN) X(walk1, asin, ASIN) \
    X(walk1, acos, ACOS) X(walk1, atan, ATAN) X(walk1, sinh, SINH) X(walk1, cosh, COSH) \
    X(walk1, tanh, TANH) X(walk1, asinh, ASINH) X(walk1, acosh, ACOSH) X(walk1, atanh, ATANH) \
    X(walk1, round, ROUND) X(walk1, conj, CONJ) X(walk2, add, ADD) X(walk2, sub, SUB) \
    X(walk2, mul, MUL) X(walk2, div, DIV) X(walk2, pow, POW) X(walk_real, abs, ABS) \
    X(walk_real, real, REAL) X(walk_real, imag, IMAG) X(walk_real, angle, ANGLE) \
    X(test1, isfinite, ISFINITE) \
    X(test1, isinf, ISINF) X(test1, isnan, ISNAN) X(test1, logical_not, LOGICAL_NOT) X(test2, eq, EQ) \
    X(test2, ne, NE) X(test2, logical_and, LOGICAL_AND) X(test2, logical_or, LOGICAL_OR) \
    X(test2, logical_xor, LOGICAL_XOR)

#define COMPLEX_THREES(X) \
    X(each3, lerp, LERP) X(each3, fma, FMA) X(each3, addcmul, ADDCMUL)

/* Any byte but 0 is true. */
#define BOOL_WALKS(X) \
    X(test1, logical_not, LOGICAL_NOT) X(test2, logical_and, LOGICAL_AND) X(test2, logical_or, LOGICAL_OR) \
    X(test2, eq, EQ) X(test2, ne, NE) X(test2, lt, LT) X(test2, le, LE) X(test2, gt, GT) X(test2, ge, GE)
#define BOOL_SAME(X) \
    X(test1, logical_not, BITWISE_NOT) X(test2, ne, LOGICAL_XOR) X(test2, ne, BITWISE_XOR) \
    X(test2, logical_and, BITWISE_AND) X(test2, logical_or, BITWISE_OR) X(test2, logical_or, MAXIMUM) \
    X(test2, logical_or, FMAX) X(test2, logical_and, MINIMUM) X(test2, logical_and, FMIN)
