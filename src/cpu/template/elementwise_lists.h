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

#define FLOAT_MATHS(X) \
    X(each1, sqrt, SQRT) X(each1, rsqrt, RSQRT) X(each1, exp, EXP) X(each1, exp2, EXP2) \
    X(each1, expm1, EXPM1) X(each1, log, LOG) X(each1, log2, LOG2) X(each1, log10, LOG10) \
    X(each1, log1p, LOG1P) X(each1, sin, SIN) X(each1, cos, COS) X(each1, tan, TAN) \
    X(each1, asin, ASIN) X(each1, acos, ACOS) X(each1, atan, ATAN) X(each1, sinh, SINH) \
    X(each1, cosh, COSH) X(each1, tanh, TANH) X(each1, asinh, ASINH) X(each1, acosh, ACOSH) \
    X(each1, atanh, ATANH) X(each1, erf, ERF) X(each1, erfc, ERFC) X(each1, ceil, CEIL) \
    X(each1, floor, FLOOR) X(each1, round, ROUND) X(each1, trunc, TRUNC) X(each1, angle, ANGLE) \
    X(each1, sigmoid, SIGMOID) X(each1, silu, SILU) X(each1, gelu, GELU) X(each1, gelu_tanh, GELU_TANH) \
    X(each1, softplus, SOFTPLUS) X(each1, hardswish, HARDSWISH) X(each2, pow, POW) X(each2, atan2, ATAN2) \
    X(each2, hypot, HYPOT) X(each2, logaddexp, LOGADDEXP) X(each2, remainder, REMAINDER) X(each2, floor_div, FLOOR_DIV)

#define FLOAT_PARAMS(X) \
    X(each1p, elu, ELU) X(each1p, leaky_relu, LEAKY_RELU) X(each1p, hardtanh, HARDTANH)

/* Dtypes that C does not compute in go through double; so do the long functions of float. */
#define FLOAT_THROUGH(X) FLOAT_MATHS(X) FLOAT_PARAMS(X) X(each3, lerp, LERP)
#define SHORT_THROUGH(X) FLOAT_WALKS(X) FLOAT_THROUGH(X) X(each3, clip, CLIP)

/* What does not look at the sign; ops that have the kernel of another. */
#define INTEGER_BITS(X) \
    X(walk1, neg, NEG) X(walk1, square, SQUARE) X(walk1, conj, CONJ) X(walk1, bitwise_not, BITWISE_NOT) \
    X(walk2, add, ADD) X(walk2, sub, SUB) X(walk2, mul, MUL) X(walk2, bitwise_and, BITWISE_AND) \
    X(walk2, bitwise_or, BITWISE_OR) X(walk2, bitwise_xor, BITWISE_XOR) X(walk2, shift_left, SHIFT_LEFT) \
    X(test1, logical_not, LOGICAL_NOT) X(test2, eq, EQ) X(test2, ne, NE) X(test2, logical_and, LOGICAL_AND) \
    X(test2, logical_or, LOGICAL_OR) X(test2, logical_xor, LOGICAL_XOR)
#define INTEGER_BITS_SAME(X) \
    X(walk1, conj, REAL) X(walk1, conj, CEIL) X(walk1, conj, FLOOR) X(walk1, conj, ROUND) X(walk1, conj, TRUNC)
#define INTEGER_BITS_THREES(X) X(each3, fma, FMA)

#define INTEGER_SIGNED(X) \
    X(walk1, abs, ABS) X(walk1, sign, SIGN) X(walk1, relu, RELU) X(walk2, maximum, MAXIMUM) X(walk2, minimum, MINIMUM) \
    X(walk2, shift_right, SHIFT_RIGHT) X(test1, signbit, SIGNBIT) X(test2, lt, LT) X(test2, le, LE) X(test2, gt, GT) \
    X(test2, ge, GE)
#define INTEGER_SIGNED_SAME(X) X(walk2, maximum, FMAX) X(walk2, minimum, FMIN)
#define INTEGER_SIGNED_THREES(X) X(each3, clip, CLIP)

/* What vectors do not do better. */
#define INTEGER_BITS_SLOW(X) \
    X(each1, imag, IMAG) X(test1, isfinite, ISFINITE) X(test1, isinf, ISINF) X(test1, isnan, ISNAN)
#define INTEGER_SIGNED_SLOW(X) X(each2, floor_div, FLOOR_DIV) X(each2, remainder, REMAINDER) X(each2, pow, POW)
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
    X(walk_real, real, REAL) X(walk_real, imag, IMAG) X(walk_real, angle, ANGLE) X(test1, isfinite, ISFINITE) \
    X(test1, isinf, ISINF) X(test1, isnan, ISNAN) X(test1, logical_not, LOGICAL_NOT) X(test2, eq, EQ) \
    X(test2, ne, NE) X(test2, logical_and, LOGICAL_AND) X(test2, logical_or, LOGICAL_OR) X(test2, logical_xor, LOGICAL_XOR)

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
