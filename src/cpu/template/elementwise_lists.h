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
    X(walk2, fmin, FMIN) X(walk_test1, isfinite, ISFINITE) X(walk_test1, isinf, ISINF) X(walk_test1, isnan, ISNAN) \
    X(walk_test1, signbit, SIGNBIT) X(walk_test1, logical_not, LOGICAL_NOT) X(walk_test2, eq, EQ) X(walk_test2, ne, NE) \
    X(walk_test2, lt, LT) X(walk_test2, le, LE) X(walk_test2, gt, GT) X(walk_test2, ge, GE) \
    X(walk_test2, logical_and, LOGICAL_AND) X(walk_test2, logical_or, LOGICAL_OR) X(walk_test2, logical_xor, LOGICAL_XOR)

#define FLOAT_MATHS(X) \
    X(walk_math1, sqrt, SQRT) X(walk_math1, rsqrt, RSQRT) X(walk_math1, exp, EXP) X(walk_math1, exp2, EXP2) \
    X(walk_math1, expm1, EXPM1) X(walk_math1, log, LOG) X(walk_math1, log2, LOG2) X(walk_math1, log10, LOG10) \
    X(walk_math1, log1p, LOG1P) X(walk_math1, sin, SIN) X(walk_math1, cos, COS) X(walk_math1, tan, TAN) \
    X(walk_math1, asin, ASIN) X(walk_math1, acos, ACOS) X(walk_math1, atan, ATAN) X(walk_math1, sinh, SINH) \
    X(walk_math1, cosh, COSH) X(walk_math1, tanh, TANH) X(walk_math1, asinh, ASINH) X(walk_math1, acosh, ACOSH) \
    X(walk_math1, atanh, ATANH) X(walk_math1, erf, ERF) X(walk_math1, erfc, ERFC) X(walk_math1, ceil, CEIL) \
    X(walk_math1, floor, FLOOR) X(walk_math1, round, ROUND) X(walk_math1, trunc, TRUNC) X(walk_math1, angle, ANGLE) \
    X(walk_math1, sigmoid, SIGMOID) X(walk_math1, silu, SILU) X(walk_math1, gelu, GELU) X(walk_math1, gelu_tanh, GELU_TANH) \
    X(walk_math1, softplus, SOFTPLUS) X(walk_math1, hardswish, HARDSWISH) X(walk_math2, pow, POW) X(walk_math2, atan2, ATAN2) \
    X(walk_math2, hypot, HYPOT) X(walk_math2, logaddexp, LOGADDEXP) X(walk_math2, remainder, REMAINDER) X(walk_math2, floor_div, FLOOR_DIV)

#define FLOAT_PARAMS(X) \
    X(walk_math1p, elu, ELU) X(walk_math1p, leaky_relu, LEAKY_RELU) X(walk_math1p, hardtanh, HARDTANH)

#define FLOAT_THREES(X) \
    X(walk3, clip, CLIP) X(walk3, addcmul, ADDCMUL)

#define INTEGER_WALKS(X) \
    X(walk1, neg, NEG) X(walk1, abs, ABS) X(walk1, sign, SIGN) X(walk1, square, SQUARE) \
    X(walk1, ceil, CEIL) X(walk1, floor, FLOOR) X(walk1, round, ROUND) X(walk1, trunc, TRUNC) \
    X(walk1, conj, CONJ) X(walk1, real, REAL) X(walk1, imag, IMAG) X(walk1, relu, RELU) \
    X(walk1, bitwise_not, BITWISE_NOT) X(walk2, add, ADD) X(walk2, sub, SUB) X(walk2, mul, MUL) \
    X(walk2, floor_div, FLOOR_DIV) X(walk2, remainder, REMAINDER) X(walk2, pow, POW) X(walk2, maximum, MAXIMUM) \
    X(walk2, minimum, MINIMUM) X(walk2, fmax, FMAX) X(walk2, fmin, FMIN) X(walk2, bitwise_and, BITWISE_AND) \
    X(walk2, bitwise_or, BITWISE_OR) X(walk2, bitwise_xor, BITWISE_XOR) X(walk2, shift_left, SHIFT_LEFT) X(walk2, shift_right, SHIFT_RIGHT) \
    X(walk_test1, isfinite, ISFINITE) X(walk_test1, isinf, ISINF) X(walk_test1, isnan, ISNAN) X(walk_test1, signbit, SIGNBIT) \
    X(walk_test1, logical_not, LOGICAL_NOT) X(walk_test2, eq, EQ) X(walk_test2, ne, NE) X(walk_test2, lt, LT) \
    X(walk_test2, le, LE) X(walk_test2, gt, GT) X(walk_test2, ge, GE) X(walk_test2, logical_and, LOGICAL_AND) \
    X(walk_test2, logical_or, LOGICAL_OR) X(walk_test2, logical_xor, LOGICAL_XOR)

#define INTEGER_THREES(X) \
    X(walk3, clip, CLIP) X(walk3, fma, FMA) X(walk3, addcmul, ADDCMUL)

#define COMPLEX_WALKS(X) \
    X(walk1, neg, NEG) X(walk1, sign, SIGN) X(walk1, square, SQUARE) X(walk1, sqrt, SQRT) \
    X(walk1, rsqrt, RSQRT) X(walk1, reciprocal, RECIPROCAL) X(walk1, exp, EXP) X(walk1, expm1, EXPM1) \
    X(walk1, log, LOG) X(walk1, log2, LOG2) X(walk1, log10, LOG10) X(walk1, log1p, LOG1P) \
    X(walk1, sin, SIN) X(walk1, cos, COS) X(walk1, tan, TAN) X(walk1, asin, ASIN) \
    X(walk1, acos, ACOS) X(walk1, atan, ATAN) X(walk1, sinh, SINH) X(walk1, cosh, COSH) \
    X(walk1, tanh, TANH) X(walk1, asinh, ASINH) X(walk1, acosh, ACOSH) X(walk1, atanh, ATANH) \
    X(walk1, round, ROUND) X(walk1, conj, CONJ) X(walk2, add, ADD) X(walk2, sub, SUB) \
    X(walk2, mul, MUL) X(walk2, div, DIV) X(walk2, pow, POW) X(walk_real, abs, ABS) \
    X(walk_real, real, REAL) X(walk_real, imag, IMAG) X(walk_real, angle, ANGLE) X(walk_test1, isfinite, ISFINITE) \
    X(walk_test1, isinf, ISINF) X(walk_test1, isnan, ISNAN) X(walk_test1, logical_not, LOGICAL_NOT) X(walk_test2, eq, EQ) \
    X(walk_test2, ne, NE) X(walk_test2, logical_and, LOGICAL_AND) X(walk_test2, logical_or, LOGICAL_OR) X(walk_test2, logical_xor, LOGICAL_XOR)

#define COMPLEX_THREES(X) \
    X(walk3, lerp, LERP) X(walk3, fma, FMA) X(walk3, addcmul, ADDCMUL)

#define BOOL_WALKS(X) \
    X(walk1, bitwise_not, BITWISE_NOT) X(walk1, logical_not, LOGICAL_NOT) X(walk2, maximum, MAXIMUM) X(walk2, minimum, MINIMUM) \
    X(walk2, fmax, FMAX) X(walk2, fmin, FMIN) X(walk2, bitwise_and, BITWISE_AND) X(walk2, bitwise_or, BITWISE_OR) \
    X(walk2, bitwise_xor, BITWISE_XOR) X(walk2, eq, EQ) X(walk2, ne, NE) X(walk2, lt, LT) \
    X(walk2, le, LE) X(walk2, gt, GT) X(walk2, ge, GE) X(walk2, logical_and, LOGICAL_AND) \
    X(walk2, logical_or, LOGICAL_OR) X(walk2, logical_xor, LOGICAL_XOR)
