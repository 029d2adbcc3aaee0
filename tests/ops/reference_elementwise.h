/* reference_elementwise.h - what every elementwise op should give, one element at a time.
 *
 * Shares nothing with the kernels:
 *
 *   integers and bool   in 128 bits, then cut to the dtype
 *   + - * / sqrt fma    on integers alone: a float is a sign, 128 bits and a power of two, and
 *                       what is lost sets the last bit, so that the one rounding is right
 *   other functions     in long double, by its own functions
 *
 * A result is right if it is within `units` last places of the value here, or its bits are those
 * of the value rounded once where units is 0. How many units an op may be off:
 *
 *   f32 and shorter     1
 *   f64                 2; 3 to 6 for erfc, sigmoid, silu, softplus, elu and hardswish, which
 *                       are made of several steps
 *   gelu, gelu_tanh     f64: more in the lower tail, where the function is as steep as its
 *                       argument is large: 2 x^2 + 4 and 8 |inner| + 4
 *   logaddexp, lerp, addcmul
 *                       and four roundings of the largest term, which may cancel
 *   complex             1 (c64), 8 (c128) of the result's magnitude, not of each part; for
 *                       pow, times |y log x|
 *
 * Not judged: complex products and quotients of c128 whose parts are beyond 2^+-200 (overflow
 * on the way), addcmul and lerp whose intermediate terms overflow the type computed in.
 */
#ifndef TSR_TEST_REFERENCE_ELEMENTWISE_H
#define TSR_TEST_REFERENCE_ELEMENTWISE_H

#include <complex.h>
#include <float.h>
#include <math.h>

#include "property/reference.h"
#include "tessera/backend.h"

typedef long double         ew_real;
typedef long double complex ew_complex;
__extension__ typedef __int128          ew_int;
__extension__ typedef unsigned __int128 ew_bits;

/* Exact arithmetic ------------------------------------------------------------------- */

/* (-1)^negative * bits * 2^exponent; the last bit is also set where lower ones were lost. */
typedef struct ew_exact {
    int     kind;  /* of ref_number */
    bool    negative;
    ew_bits bits;
    int     exponent;
} ew_exact;

static inline ew_exact ew_exact_of(ref_number n)
{
    return (ew_exact){ (int)n.kind, n.negative, n.bits, n.exponent };
}

static inline ew_exact ew_nan(void) { return (ew_exact){ REF_NAN, false, 0, 0 }; }
static inline ew_exact ew_infinite(bool negative) { return (ew_exact){ REF_INFINITE, negative, 0, 0 }; }
static inline bool     ew_is_zero(ew_exact x) { return x.kind == REF_FINITE && x.bits == 0; }

static inline int ew_length(ew_bits bits)
{
    int n = 0;
    for (; bits; bits >>= 1) n++;
    return n;
}

static inline ew_bits ew_shift_right(ew_bits bits, int by)
{
    if (by <= 0) return bits;
    if (by > 127) return bits != 0;
    return bits >> by | ((bits & (((ew_bits)1 << by) - 1)) != 0);
}

/* With 64 bits, for ref_encode_float. */
static inline ref_number ew_shorten(ew_exact x)
{
    const int drop = ew_length(x.bits) > 64 ? ew_length(x.bits) - 64 : 0;
    ref_number n = { REF_FINITE, x.negative, (uint64_t)ew_shift_right(x.bits, drop), x.exponent + drop };
    if (x.kind == REF_NAN) n.kind = REF_NAN;
    if (x.kind == REF_INFINITE) n.kind = REF_INFINITE;
    return n;
}

/* Factors of at most 64 bits. */
static inline ew_exact ew_mul(ew_exact x, ew_exact y)
{
    const bool negative = x.negative != y.negative;
    if (x.kind == REF_NAN || y.kind == REF_NAN) return ew_nan();
    if (x.kind == REF_INFINITE || y.kind == REF_INFINITE)
        return ew_is_zero(x) || ew_is_zero(y) ? ew_nan() : ew_infinite(negative);
    return (ew_exact){ REF_FINITE, negative, x.bits * y.bits, x.exponent + y.exponent };
}

/* The leading bit at 125, so that two of them can be added. */
static inline ew_exact ew_normal(ew_exact x)
{
    const int up = 126 - ew_length(x.bits);
    x.bits <<= up;
    x.exponent -= up;
    return x;
}

/* Terms of at most 120 bits: bits are lost only where the terms are far apart, and then the
 * leading bits do not cancel. */
static inline ew_exact ew_add(ew_exact x, ew_exact y)
{
    if (x.kind == REF_NAN || y.kind == REF_NAN) return ew_nan();
    if (x.kind == REF_INFINITE && y.kind == REF_INFINITE) return x.negative == y.negative ? x : ew_nan();
    if (x.kind == REF_INFINITE) return x;
    if (y.kind == REF_INFINITE) return y;
    if (!x.bits && !y.bits) return (ew_exact){ REF_FINITE, x.negative && y.negative, 0, 0 };
    if (!x.bits) return y;
    if (!y.bits) return x;
    x = ew_normal(x);
    y = ew_normal(y);
    if (y.exponent > x.exponent || (y.exponent == x.exponent && y.bits > x.bits)) {
        const ew_exact swap = x;
        x = y;
        y = swap;
    }
    y.bits = ew_shift_right(y.bits, x.exponent - y.exponent);
    if (x.negative == y.negative) x.bits += y.bits;
    else x.bits -= y.bits;
    if (!x.bits) x.negative = false;
    return x;
}

static inline ew_exact ew_div(ew_exact x, ew_exact y)
{
    const bool negative = x.negative != y.negative;
    if (x.kind == REF_NAN || y.kind == REF_NAN) return ew_nan();
    if (x.kind == REF_INFINITE) return y.kind == REF_INFINITE ? ew_nan() : ew_infinite(negative);
    if (y.kind == REF_INFINITE) return (ew_exact){ REF_FINITE, negative, 0, 0 };
    if (!y.bits) return x.bits ? ew_infinite(negative) : ew_nan();
    if (!x.bits) return (ew_exact){ REF_FINITE, negative, 0, 0 };
    x = ew_normal(x);  /* of 126 bits over at most 53 */
    return (ew_exact){ REF_FINITE, negative, x.bits / y.bits | (x.bits % y.bits != 0),
                       x.exponent - y.exponent };
}

static inline ew_exact ew_sqrt(ew_exact x)
{
    if (x.kind == REF_NAN || ew_is_zero(x)) return x;
    if (x.negative) return ew_nan();
    if (x.kind == REF_INFINITE) return x;
    x = ew_normal(x);
    if (x.exponent % 2) {
        x.bits >>= 1;  /* a float's low bits are 0 here */
        x.exponent++;
    }
    ew_bits root = 0;
    for (int bit = 63; bit >= 0; bit--) {
        const ew_bits next = root | (ew_bits)1 << bit;
        if (next * next <= x.bits) root = next;
    }
    return (ew_exact){ REF_FINITE, false, root | (root * root != x.bits), x.exponent / 2 };
}

/* Numbers ------------------------------------------------------------------------------ */

static inline ew_real ew_real_of(ref_number n)
{
    const ew_real sign = n.negative ? -1 : 1;
    if (n.kind == REF_NAN) return copysignl(NAN, sign);
    if (n.kind == REF_INFINITE) return sign * (ew_real)INFINITY;
    return copysignl(ldexpl((ew_real)n.bits, n.exponent), sign);
}

static inline ref_number ew_number_of(ew_real x)
{
    int exponent = 0;
    ref_number n = { isnan(x) ? REF_NAN : isinf(x) ? REF_INFINITE : REF_FINITE, signbit(x) != 0, 0, 0 };
    if (n.kind != REF_FINITE || x == 0) return n;
    const ew_real scaled = ldexpl(frexpl(fabsl(x), &exponent), 64), whole = floorl(scaled);
    n.bits = (uint64_t)whole | (scaled != whole);
    n.exponent = exponent - 64;
    return n;
}

static inline ew_real ew_load(tsr_dtype real, const void *p) { return ew_real_of(ref_decode(real, p)); }

static inline ew_complex ew_make(ew_real re, ew_real im)
{
    union { ew_real part[2]; ew_complex z; } u = { { re, im } };
    return u.z;
}

static inline ew_complex ew_load_complex(tsr_dtype dtype, const void *p)
{
    const tsr_dtype part = ref_part(dtype);
    return ew_make(ew_load(part, p), ew_load(part, (const char *)p + ref_size(part)));
}

static inline ew_int ew_load_int(tsr_dtype dtype, const void *p)
{
    const ref_number n = ref_decode(dtype, p);
    return n.negative ? -(ew_int)n.bits : (ew_int)n.bits;
}

/* The last place of a value of this size, and the largest value. */
static inline ew_real ew_unit(tsr_dtype real, ew_real x)
{
    const ref_format f = ref_format_of(real);
    const int lowest = 2 - (1 << (f.exponent_bits - 1));
    int exponent = lowest + 1;
    if (x != 0 && isfinite(x)) (void)frexpl(x, &exponent);
    return ldexpl(1, (exponent - 1 < lowest ? lowest : exponent - 1) - f.mantissa_bits);
}

static inline ew_real ew_largest(tsr_dtype real)
{
    switch (real) {
    case TSR_F8E4M3: return 448;
    case TSR_F8E5M2: return 57344;
    case TSR_F16:    return 65504;
    case TSR_BF16:   return 0x1.fep127L;
    case TSR_F32:    return FLT_MAX;
    default:         return DBL_MAX;
    }
}

/* Wants --------------------------------------------------------------------------------- */

typedef struct ew_want {
    enum { EW_BITS, EW_REAL, EW_COMPLEX, EW_PARTS, EW_CATEGORY, EW_ANYTHING } how;
    unsigned char bits[16];   /* EW_BITS; a NaN is any NaN */
    ew_real       re, im;     /* EW_COMPLEX: as a whole; EW_PARTS: each; EW_CATEGORY: inf, NaN, neither */
    ew_real       units;      /* 0: rounded once */
    ew_real       slack;      /* absolute, besides */
    bool          any_zero;   /* the sign of a zero is free */
} ew_want;

static inline ew_want ew_want_int(tsr_dtype dtype, ew_int value)
{
    ew_want w = { .how = EW_BITS };
    ref_store_bits(w.bits, ref_size(dtype), (uint64_t)(ew_bits)value);
    return w;
}

static inline ew_want ew_want_bool(bool value)
{
    ew_want w = { .how = EW_BITS };
    w.bits[0] = value;
    return w;
}

static inline ew_want ew_want_exact(tsr_dtype real, ew_exact x)
{
    ew_want w = { .how = EW_BITS };
    ref_store_bits(w.bits, ref_size(real), ref_encode_float(real, ew_shorten(x)));
    return w;
}

static inline ew_want ew_want_once(tsr_dtype real, ew_real x)
{
    ew_want w = { .how = EW_BITS };
    ref_store_bits(w.bits, ref_size(real), ref_encode_float(real, ew_number_of(x)));
    return w;
}

static inline ew_want ew_want_near(ew_real x, ew_real units)
{
    return (ew_want){ .how = EW_REAL, .re = x, .units = units };
}

/* Floats ---------------------------------------------------------------------------------- */

static inline ew_real ew_sigmoid(ew_real x) { return x < 0 ? expl(x) / (1 + expl(x)) : 1 / (1 + expl(-x)); }

static inline ew_real ew_gelu(ew_real x)
{
    return x == -(ew_real)INFINITY ? -0.0L : 0.5L * x * erfcl(-x * 0.707106781186547524400844362104849L);
}

static inline ew_real ew_gelu_inner(ew_real x)
{
    return 0.797884560802865355879892119868764L * (x + 0.044715L * x * x * x);
}

/* Numbers of 2^64 and more are even; some C libraries take them for fractions. */
static inline ew_real ew_pow(ew_real x, ew_real y) { return powl(x < 0 && fabsl(y) >= 0x1p64L ? -x : x, y); }

static inline ew_real ew_gelu_tanh(ew_real x)
{
    return x == -(ew_real)INFINITY ? -0.0L : x * ew_sigmoid(2 * ew_gelu_inner(x));
}

static inline ew_real ew_softplus(ew_real x) { return x > 0 ? x + log1pl(expl(-x)) : log1pl(expl(x)); }

static inline ew_real ew_hardswish(ew_real x)
{
    if (x <= -3) return -0.0L;
    return x >= 3 ? x : x * (x + 3) / 6;
}

static inline ew_real ew_larger(ew_real x, ew_real y)
{
    if (isnan(x) || isnan(y)) return NAN;
    return x > y || (x == y && !signbit(x)) ? x : y;
}

static inline ew_real ew_smaller(ew_real x, ew_real y)
{
    if (isnan(x) || isnan(y)) return NAN;
    return x < y || (x == y && signbit(x)) ? x : y;
}

/* The functions that long double computes as they stand; false if this is none of them. */
static inline bool ew_function(ew_real *z, tsr_op_kind op, ew_real x, ew_real y)
{
    switch (op) {
    case TSR_OP_RSQRT:     *z = 1 / sqrtl(x); return true;
    case TSR_OP_EXP:       *z = expl(x); return true;
    case TSR_OP_EXP2:      *z = exp2l(x); return true;
    case TSR_OP_EXPM1:     *z = expm1l(x); return true;
    case TSR_OP_LOG:       *z = logl(x); return true;
    case TSR_OP_LOG2:      *z = log2l(x); return true;
    case TSR_OP_LOG10:     *z = log10l(x); return true;
    case TSR_OP_LOG1P:     *z = log1pl(x); return true;
    case TSR_OP_SIN:       *z = sinl(x); return true;
    case TSR_OP_COS:       *z = cosl(x); return true;
    case TSR_OP_TAN:       *z = tanl(x); return true;
    case TSR_OP_ASIN:      *z = asinl(x); return true;
    case TSR_OP_ACOS:      *z = acosl(x); return true;
    case TSR_OP_ATAN:      *z = atanl(x); return true;
    case TSR_OP_SINH:      *z = sinhl(x); return true;
    case TSR_OP_COSH:      *z = coshl(x); return true;
    case TSR_OP_TANH:      *z = tanhl(x); return true;
    case TSR_OP_ASINH:     *z = asinhl(x); return true;
    case TSR_OP_ACOSH:     *z = acoshl(x); return true;
    case TSR_OP_ATANH:     *z = atanhl(x); return true;
    case TSR_OP_ERF:       *z = erfl(x); return true;
    case TSR_OP_ERFC:      *z = erfcl(x); return true;
    case TSR_OP_ANGLE:     *z = isnan(x) ? x : signbit(x) ? acosl(-1) : 0; return true;
    case TSR_OP_SIGMOID:   *z = ew_sigmoid(x); return true;
    case TSR_OP_SILU:      *z = x == -(ew_real)INFINITY ? -0.0L : x * ew_sigmoid(x); return true;
    case TSR_OP_GELU:      *z = ew_gelu(x); return true;
    case TSR_OP_GELU_TANH: *z = ew_gelu_tanh(x); return true;
    case TSR_OP_SOFTPLUS:  *z = ew_softplus(x); return true;
    case TSR_OP_HARDSWISH: *z = ew_hardswish(x); return true;
    case TSR_OP_POW:       *z = ew_pow(x, y); return true;
    case TSR_OP_ATAN2:     *z = atan2l(x, y); return true;
    case TSR_OP_HYPOT:     *z = hypotl(x, y); return true;
    default:               return false;
    }
}

/* What f64 may be off, in units. */
static inline ew_real ew_units_f64(tsr_op_kind op, ew_real x)
{
    switch (op) {
    case TSR_OP_ERFC:
    case TSR_OP_SILU:      return 6;
    case TSR_OP_SIGMOID:
    case TSR_OP_SOFTPLUS:
    case TSR_OP_ELU:
    case TSR_OP_HARDSWISH: return 3;
    case TSR_OP_GELU:      return fabsl(x) < 40 ? 2 * x * x + 4 : 4;
    case TSR_OP_GELU_TANH: return fabsl(x) < 40 ? 8 * fabsl(ew_gelu_inner(x)) + 4 : 4;
    default:               return 2;
    }
}

static inline bool ew_test(bool *z, tsr_op_kind op, ew_real x, ew_real y)
{
    switch (op) {
    case TSR_OP_ISFINITE:    *z = isfinite(x); return true;
    case TSR_OP_ISINF:       *z = isinf(x); return true;
    case TSR_OP_ISNAN:       *z = isnan(x); return true;
    case TSR_OP_SIGNBIT:     *z = signbit(x) != 0; return true;
    case TSR_OP_LOGICAL_NOT: *z = x == 0; return true;
    case TSR_OP_EQ:          *z = x == y; return true;
    case TSR_OP_NE:          *z = x != y; return true;
    case TSR_OP_LT:          *z = x < y; return true;
    case TSR_OP_LE:          *z = x <= y; return true;
    case TSR_OP_GT:          *z = x > y; return true;
    case TSR_OP_GE:          *z = x >= y; return true;
    case TSR_OP_LOGICAL_AND: *z = x != 0 && y != 0; return true;
    case TSR_OP_LOGICAL_OR:  *z = x != 0 || y != 0; return true;
    case TSR_OP_LOGICAL_XOR: *z = (x != 0) != (y != 0); return true;
    default:                 return false;
    }
}

/* The floor of the quotient: exact below 2^53, the quotient to a unit above. */
static inline ew_want ew_floor_div(tsr_dtype dtype, ew_real x, ew_real y)
{
    if (isnan(x) || isnan(y) || isinf(x) || y == 0 || x == 0) return ew_want_once(dtype, x / y);
    if (isinf(y)) return ew_want_once(dtype, (x < 0) != (y < 0) ? -1 : 0);
    if (fabsl(x / y) >= 0x1p53L) return ew_want_near(x / y, 1);
    const ew_real rest = fmodl(x, y), whole = roundl((x - rest) / y);
    const bool down = rest != 0 && (x < 0) != (y < 0);
    return ew_want_once(dtype, down ? whole - 1 : copysignl(whole, x / y));
}

static inline ew_want ew_remainder(tsr_dtype dtype, ew_real x, ew_real y)
{
    if (isnan(x) || isnan(y) || isinf(x) || y == 0) return ew_want_once(dtype, NAN);
    if (isinf(y)) return ew_want_once(dtype, x == 0 ? copysignl(0, y) : (x < 0) != (y < 0) ? y : x);
    const ew_real rest = fmodl(x, y);
    if (rest == 0) return ew_want_once(dtype, copysignl(0, y));
    if ((rest < 0) == (y < 0)) return ew_want_once(dtype, rest);
    return ew_want_exact(dtype, ew_add(ew_exact_of(ew_number_of(rest)), ew_exact_of(ew_number_of(y))));
}

static inline ew_want ew_logaddexp(ew_real x, ew_real y, ew_real units)
{
    const ew_real high = x > y ? x : y, low = x > y ? y : x;
    if (isnan(x) || isnan(y)) return ew_want_near(NAN, units);
    if (isinf(high)) return ew_want_near(high, units);
    if (isinf(low)) return (ew_want){ .how = EW_REAL, .re = high, .any_zero = true };
    ew_want w = ew_want_near(high + log1pl(expl(low - high)), units);
    w.slack = 4 * (ew_real)DBL_EPSILON * (fabsl(high) + (high - low) * expl(low - high));
    w.any_zero = true;
    return w;
}

static inline ew_want ew_lerp(tsr_dtype dtype, ew_real x, ew_real y, ew_real v)
{
    if (isfinite(x) && isfinite(y) && (v == 0 || v == 1)) {
        ew_want w = ew_want_near(v == 0 ? x : y, 0.25L);  /* a quarter of a unit: exactly it */
        w.any_zero = true;
        if (dtype == TSR_F64 && fabsl(y - x) > ew_largest(TSR_F64)) w.how = EW_ANYTHING;
        return w;
    }
    ew_want w = ew_want_near(v < 0.5L ? x + v * (y - x) : y - (y - x) * (1 - v), 1);
    const ew_real scale = fabsl(x) + fabsl(y) + (fabsl(x) + fabsl(y)) * fabsl(v);
    w.any_zero = true;
    if (isfinite(scale)) w.slack = 4 * (ew_real)DBL_EPSILON * scale;
    if (dtype == TSR_F64 && isfinite(scale) && scale > ew_largest(TSR_F64) / 4) w.how = EW_ANYTHING;
    return w;
}

static inline ew_want ew_addcmul(tsr_dtype dtype, ew_real x, ew_real y, ew_real v, ew_real a)
{
    const tsr_dtype in = dtype == TSR_F64 ? TSR_F64 : TSR_F32;
    const ew_real first = a * y, product = first * v;
    ew_want w = ew_want_near(x + product, 1);
    const ew_real scale = fabsl(x) + fabsl(product);
    const bool wild = (isfinite(first) && (fabsl(first) > ew_largest(in) ||
                                           (first != 0 && fabsl(first) < ldexpl(ew_unit(in, 0), 30)))) ||
                      (isfinite(product) && fabsl(product) > ew_largest(in) / 2);
    w.any_zero = true;
    if (wild) w.how = EW_ANYTHING;
    if (isfinite(scale)) w.slack = 4 * (in == TSR_F64 ? (ew_real)DBL_EPSILON : (ew_real)FLT_EPSILON) * scale +
                                   2 * ew_unit(in, 0);
    return w;
}

/* The neighbour of x on the way to y, by counting through the patterns in order of value. */
static inline ew_want ew_nextafter(tsr_dtype dtype, const unsigned char *x, const unsigned char *y)
{
    const ew_real from = ew_load(dtype, x), to = ew_load(dtype, y);
    if (isnan(from) || isnan(to)) return ew_want_once(dtype, NAN);
    if (from == to) return ew_want_once(dtype, to);
    const int bits = ref_bits(dtype);
    const uint64_t sign = (uint64_t)1 << (bits - 1), pattern = ref_load_bits(x, ref_size(dtype));
    const ew_int place = pattern & sign ? -(ew_int)(pattern & ~sign) : (ew_int)pattern;
    const ew_int next = from < to ? place + 1 : place - 1;
    ew_want w = { .how = EW_BITS };
    uint64_t z = next < 0 ? (uint64_t)-next | sign : (uint64_t)next;
    if (next == 0 && place < 0) z = sign;  /* the zero on the side of x */
    ref_store_bits(w.bits, ref_size(dtype), z);
    return w;
}

static inline bool ew_simple(ew_real *z, tsr_op_kind op, ew_real x, ew_real y, ew_real v)
{
    switch (op) {
    case TSR_OP_ABS:      *z = fabsl(x); return true;
    case TSR_OP_NEG:      *z = -x; return true;
    case TSR_OP_SIGN:     *z = isnan(x) ? x : x > 0 ? 1 : x < 0 ? -1 : 0; return true;
    case TSR_OP_CEIL:     *z = ceill(x); return true;
    case TSR_OP_FLOOR:    *z = floorl(x); return true;
    case TSR_OP_ROUND:    *z = rintl(x); return true;
    case TSR_OP_TRUNC:    *z = truncl(x); return true;
    case TSR_OP_CONJ:
    case TSR_OP_REAL:     *z = x; return true;
    case TSR_OP_IMAG:     *z = 0; return true;
    case TSR_OP_RELU:     *z = x > 0 || isnan(x) ? x : 0; return true;
    case TSR_OP_COPYSIGN: *z = copysignl(x, y); return true;
    case TSR_OP_MAXIMUM:  *z = ew_larger(x, y); return true;
    case TSR_OP_MINIMUM:  *z = ew_smaller(x, y); return true;
    case TSR_OP_FMAX:     *z = isnan(x) ? y : isnan(y) ? x : ew_larger(x, y); return true;
    case TSR_OP_FMIN:     *z = isnan(x) ? y : isnan(y) ? x : ew_smaller(x, y); return true;
    case TSR_OP_CLIP:     *z = ew_smaller(ew_larger(x, y), v); return true;
    default:              return false;
    }
}

static inline ew_want ew_eval_float(tsr_op_kind op, tsr_dtype dtype, const unsigned char *const *in,
                                    const double *params)
{
    ew_real v[3] = { 0, 0, 0 }, z = 0;
    ew_exact e[3];
    bool yes = false;
    for (int i = 0; i < 3; i++) {
        if (!in[i]) continue;
        v[i] = ew_load(dtype, in[i]);
        e[i] = ew_exact_of(ref_decode(dtype, in[i]));
    }
    const ew_real units = dtype == TSR_F64 ? ew_units_f64(op, v[0]) : 1;
    if (ew_simple(&z, op, v[0], v[1], v[2])) return ew_want_once(dtype, z);
    if (ew_test(&yes, op, v[0], v[1])) return ew_want_bool(yes);
    if (ew_function(&z, op, v[0], v[1])) return ew_want_near(z, units);
    switch (op) {
    case TSR_OP_SQUARE:     return ew_want_exact(dtype, ew_mul(e[0], e[0]));
    case TSR_OP_SQRT:       return ew_want_exact(dtype, ew_sqrt(e[0]));
    case TSR_OP_RECIPROCAL: return ew_want_exact(dtype, ew_div((ew_exact){ REF_FINITE, false, 1, 0 }, e[0]));
    case TSR_OP_ADD:        return ew_want_exact(dtype, ew_add(e[0], e[1]));
    case TSR_OP_SUB:        e[1].negative = !e[1].negative; return ew_want_exact(dtype, ew_add(e[0], e[1]));
    case TSR_OP_MUL:        return ew_want_exact(dtype, ew_mul(e[0], e[1]));
    case TSR_OP_DIV:        return ew_want_exact(dtype, ew_div(e[0], e[1]));
    case TSR_OP_FMA:        return ew_want_exact(dtype, ew_add(ew_mul(e[0], e[1]), e[2]));
    case TSR_OP_FLOOR_DIV:  return ew_floor_div(dtype, v[0], v[1]);
    case TSR_OP_REMAINDER:  return ew_remainder(dtype, v[0], v[1]);
    case TSR_OP_LOGADDEXP:  return ew_logaddexp(v[0], v[1], units);
    case TSR_OP_NEXTAFTER:  return ew_nextafter(dtype, in[0], in[1]);
    case TSR_OP_LERP:       return ew_lerp(dtype, v[0], v[1], v[2]);
    case TSR_OP_ADDCMUL:    return ew_addcmul(dtype, v[0], v[1], v[2], params[0]);
    case TSR_OP_ELU:
        return v[0] < 0 ? ew_want_near(params[0] * expm1l(v[0]), units) : ew_want_once(dtype, v[0]);
    case TSR_OP_LEAKY_RELU: return v[0] < 0 ? ew_want_near(params[0] * v[0], 1) : ew_want_once(dtype, v[0]);
    case TSR_OP_HARDTANH:
        return ew_want_once(dtype, v[0] < params[0] ? params[0] : v[0] > params[1] ? params[1] : v[0]);
    default:                break;
    }
    printf("the reference does not know %s of floats\n", tsr_op_get_info(op)->name);
    abort();
}

/* Integers and bool -------------------------------------------------------------------------- */

/* Modulo 2^128, which holds every modulus here. */
static inline ew_bits ew_power(ew_bits x, uint64_t n)
{
    if (n == 0) return 1;
    const ew_bits half = ew_power(x, n / 2);
    return half * half * (n % 2 ? x : 1);
}

static inline ew_int ew_int_pow(ew_int x, ew_int y)
{
    if (y >= 0) return (ew_int)ew_power((ew_bits)x, (uint64_t)y);
    return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
}

static inline ew_int ew_int_floor(ew_int x, ew_int y)
{
    if (y == 0) return 0;
    return x / y - (x % y != 0 && (x < 0) != (y < 0));
}

static inline bool ew_int_test(bool *z, tsr_op_kind op, ew_int x, ew_int y)
{
    switch (op) {
    case TSR_OP_ISFINITE:    *z = true; return true;
    case TSR_OP_ISINF:
    case TSR_OP_ISNAN:       *z = false; return true;
    case TSR_OP_SIGNBIT:     *z = x < 0; return true;
    case TSR_OP_LOGICAL_NOT: *z = x == 0; return true;
    case TSR_OP_EQ:          *z = x == y; return true;
    case TSR_OP_NE:          *z = x != y; return true;
    case TSR_OP_LT:          *z = x < y; return true;
    case TSR_OP_LE:          *z = x <= y; return true;
    case TSR_OP_GT:          *z = x > y; return true;
    case TSR_OP_GE:          *z = x >= y; return true;
    case TSR_OP_LOGICAL_AND: *z = x && y; return true;
    case TSR_OP_LOGICAL_OR:  *z = x || y; return true;
    case TSR_OP_LOGICAL_XOR: *z = !x != !y; return true;
    default:                 return false;
    }
}

static inline ew_want ew_eval_int(tsr_op_kind op, tsr_dtype dtype, const unsigned char *const *in,
                                  const double *params)
{
    ew_int v[3] = { 0, 0, 0 };
    bool yes = false;
    for (int i = 0; i < 3; i++) if (in[i]) v[i] = ew_load_int(dtype, in[i]);
    const ew_int x = v[0], y = v[1], w = v[2];
    const ew_bits ux = (ew_bits)x, uy = (ew_bits)y, uw = (ew_bits)w;
    const bool shifts_out = y < 0 || y >= ref_bits(dtype);
    if (ew_int_test(&yes, op, x, y)) return ew_want_bool(yes);
    switch (op) {
    case TSR_OP_ABS:         return ew_want_int(dtype, x < 0 ? -x : x);
    case TSR_OP_NEG:         return ew_want_int(dtype, -x);
    case TSR_OP_SIGN:        return ew_want_int(dtype, (x > 0) - (x < 0));
    case TSR_OP_SQUARE:      return ew_want_int(dtype, (ew_int)(ux * ux));
    case TSR_OP_CEIL:
    case TSR_OP_FLOOR:
    case TSR_OP_ROUND:
    case TSR_OP_TRUNC:
    case TSR_OP_CONJ:
    case TSR_OP_REAL:        return ew_want_int(dtype, x);
    case TSR_OP_IMAG:        return ew_want_int(dtype, 0);
    case TSR_OP_RELU:        return ew_want_int(dtype, x > 0 ? x : 0);
    case TSR_OP_BITWISE_NOT: return ew_want_int(dtype, dtype == TSR_BOOL ? !x : -x - 1);
    case TSR_OP_ADD:         return ew_want_int(dtype, x + y);
    case TSR_OP_SUB:         return ew_want_int(dtype, x - y);
    case TSR_OP_MUL:         return ew_want_int(dtype, (ew_int)(ux * uy));
    case TSR_OP_FLOOR_DIV:   return ew_want_int(dtype, ew_int_floor(x, y));
    case TSR_OP_REMAINDER:   return ew_want_int(dtype, y == 0 ? 0 : x - y * ew_int_floor(x, y));
    case TSR_OP_POW:         return ew_want_int(dtype, ew_int_pow(x, y));
    case TSR_OP_MAXIMUM:
    case TSR_OP_FMAX:        return ew_want_int(dtype, x > y ? x : y);
    case TSR_OP_MINIMUM:
    case TSR_OP_FMIN:        return ew_want_int(dtype, x < y ? x : y);
    case TSR_OP_BITWISE_AND: return ew_want_int(dtype, x & y);
    case TSR_OP_BITWISE_OR:  return ew_want_int(dtype, x | y);
    case TSR_OP_BITWISE_XOR: return ew_want_int(dtype, x ^ y);
    case TSR_OP_SHIFT_LEFT:  return ew_want_int(dtype, shifts_out ? 0 : (ew_int)(ux << (int)y));
    case TSR_OP_SHIFT_RIGHT:
        return ew_want_int(dtype, shifts_out ? -(x < 0) : ew_int_floor(x, (ew_int)1 << (int)y));
    case TSR_OP_CLIP:        return ew_want_int(dtype, (x > y ? x : y) < w ? (x > y ? x : y) : w);
    case TSR_OP_FMA:         return ew_want_int(dtype, (ew_int)(ux * uy + uw));
    case TSR_OP_ADDCMUL:     return ew_want_int(dtype, (ew_int)(ux + (ew_bits)(ew_int)params[0] * uy * uw));
    default:                 break;
    }
    printf("the reference does not know %s of integers\n", tsr_op_get_info(op)->name);
    abort();
}

/* Complex ---------------------------------------------------------------------------------- */

static inline bool ew_is_finite(ew_complex z) { return isfinite(creall(z)) && isfinite(cimagl(z)); }

/* Are the finite parts 0 or within 2^+-exponent? */
static inline bool ew_is_within(ew_complex z, int exponent)
{
    const ew_real part[2] = { fabsl(creall(z)), fabsl(cimagl(z)) };
    for (int i = 0; i < 2; i++)
        if (part[i] != 0 && isfinite(part[i]) &&
            (part[i] < ldexpl(1, -exponent) || part[i] > ldexpl(1, exponent)))
            return false;
    return true;
}

static inline ew_complex ew_complex_expm1(ew_complex x)
{
    const ew_real a = creall(x), b = cimagl(x), half = sinl(b / 2);
    if (!ew_is_finite(x) || a > 1) return ew_make(creall(cexpl(x)) - 1, cimagl(cexpl(x)));
    return ew_make(expm1l(a) * cosl(b) - 2 * half * half, expl(a) * sinl(b));
}

static inline ew_complex ew_complex_log1p(ew_complex x)
{
    const ew_real a = creall(x), b = cimagl(x);
    if (!(fabsl(a) < 0.5L && fabsl(b) < 0.5L)) return clogl(ew_make(1 + a, b));
    return ew_make(0.5L * log1pl(a * a + b * b + 2 * a), atan2l(b, 1 + a));
}

static inline bool ew_complex_function(ew_complex *z, tsr_op_kind op, ew_complex x)
{
    switch (op) {
    case TSR_OP_SQRT:  *z = csqrtl(x); return true;
    case TSR_OP_EXP:   *z = cexpl(x); return true;
    case TSR_OP_EXPM1: *z = ew_complex_expm1(x); return true;
    case TSR_OP_LOG:   *z = clogl(x); return true;
    case TSR_OP_LOG2:  *z = ew_make(creall(clogl(x)) / logl(2), cimagl(clogl(x)) / logl(2)); return true;
    case TSR_OP_LOG10: *z = ew_make(creall(clogl(x)) / logl(10), cimagl(clogl(x)) / logl(10)); return true;
    case TSR_OP_LOG1P: *z = ew_complex_log1p(x); return true;
    case TSR_OP_SIN:   *z = csinl(x); return true;
    case TSR_OP_COS:   *z = ccosl(x); return true;
    case TSR_OP_TAN:   *z = ctanl(x); return true;
    case TSR_OP_ASIN:  *z = casinl(x); return true;
    case TSR_OP_ACOS:  *z = cacosl(x); return true;
    case TSR_OP_ATAN:  *z = catanl(x); return true;
    case TSR_OP_SINH:  *z = csinhl(x); return true;
    case TSR_OP_COSH:  *z = ccoshl(x); return true;
    case TSR_OP_TANH:  *z = ctanhl(x); return true;
    case TSR_OP_ASINH: *z = casinhl(x); return true;
    case TSR_OP_ACOSH: *z = cacoshl(x); return true;
    case TSR_OP_ATANH: *z = catanhl(x); return true;
    default:           return false;
    }
}

/* x y, in parts, as long as both are finite; else as the C standard says. */
static inline ew_complex ew_times(ew_complex x, ew_complex y)
{
    if (!ew_is_finite(x) || !ew_is_finite(y)) return x * y;
    const ew_real a = creall(x), b = cimagl(x), p = creall(y), q = cimagl(y);
    return ew_make(a * p - b * q, a * q + b * p);
}

/* By Smith's way. */
static inline ew_complex ew_over(ew_complex x, ew_complex y)
{
    const ew_real a = creall(x), b = cimagl(x), p = creall(y), q = cimagl(y);
    if (!ew_is_finite(x) || !ew_is_finite(y) || y == 0) return x / y;
    if (fabsl(p) >= fabsl(q)) {
        const ew_real r = q / p, d = p + q * r;
        return ew_make((a + b * r) / d, (b - a * r) / d);
    }
    const ew_real r = p / q, d = p * r + q;
    return ew_make((a * r + b) / d, (b * r - a) / d);
}

static inline bool ew_complex_test(bool *z, tsr_op_kind op, ew_complex x, ew_complex y)
{
    const bool fx = creall(x) != 0 || cimagl(x) != 0, fy = creall(y) != 0 || cimagl(y) != 0;
    const bool same = creall(x) == creall(y) && cimagl(x) == cimagl(y);
    switch (op) {
    case TSR_OP_ISFINITE:    *z = ew_is_finite(x); return true;
    case TSR_OP_ISINF:       *z = isinf(creall(x)) || isinf(cimagl(x)); return true;
    case TSR_OP_ISNAN:       *z = isnan(creall(x)) || isnan(cimagl(x)); return true;
    case TSR_OP_LOGICAL_NOT: *z = !fx; return true;
    case TSR_OP_EQ:          *z = same; return true;
    case TSR_OP_NE:          *z = !same; return true;
    case TSR_OP_LOGICAL_AND: *z = fx && fy; return true;
    case TSR_OP_LOGICAL_OR:  *z = fx || fy; return true;
    case TSR_OP_LOGICAL_XOR: *z = fx != fy; return true;
    default:                 return false;
    }
}

static inline ew_want ew_want_pair(tsr_dtype dtype, ew_real re, ew_real im)
{
    const tsr_dtype part = ref_part(dtype);
    ew_want w = { .how = EW_BITS };
    ref_store_bits(w.bits, ref_size(part), ref_encode_float(part, ew_number_of(re)));
    ref_store_bits(w.bits + ref_size(part), ref_size(part), ref_encode_float(part, ew_number_of(im)));
    return w;
}

/* The sum of the parts, rounded once each. */
static inline ew_want ew_complex_add(tsr_dtype dtype, const unsigned char *x, const unsigned char *y,
                                     bool minus)
{
    const tsr_dtype part = ref_part(dtype);
    const int64_t size = ref_size(part);
    ew_want w = { .how = EW_BITS };
    for (int i = 0; i < 2; i++) {
        ew_exact b = ew_exact_of(ref_decode(part, y + i * size));
        if (minus) b.negative = !b.negative;
        const ew_exact sum = ew_add(ew_exact_of(ref_decode(part, x + i * size)), b);
        ref_store_bits(w.bits + i * size, size, ref_encode_float(part, ew_shorten(sum)));
    }
    return w;
}

static inline ew_want ew_complex_near(tsr_dtype dtype, ew_complex z, ew_real units)
{
    return (ew_want){ .how = EW_COMPLEX, .re = creall(z), .im = cimagl(z),
                      .units = dtype == TSR_C64 ? 1 : units, .any_zero = true };
}

static inline ew_want ew_complex_pow(tsr_dtype dtype, ew_complex x, ew_complex y)
{
    if (y == 0) return ew_want_pair(dtype, 1, 0);
    if (x == 0) return creall(y) > 0 ? ew_want_pair(dtype, 0, 0) : (ew_want){ .how = EW_ANYTHING };
    const ew_complex power = ew_times(y, clogl(x));
    ew_want w = ew_complex_near(dtype, cexpl(power), 8 + 8 * cabsl(power));
    if (dtype == TSR_C64) w.slack = (8 + 8 * cabsl(power)) * (ew_real)DBL_EPSILON * hypotl(w.re, w.im);
    if (!(cabsl(power) < 1e6L) || !(hypotl(w.re, w.im) < ew_largest(ref_part(dtype)) / 2))
        w.how = EW_ANYTHING;
    return w;
}

/* Products, quotients and what is made of them. `size` bounds the terms that may cancel. */
static inline ew_want ew_complex_arithmetic(tsr_op_kind op, tsr_dtype dtype, const ew_complex *v,
                                            const double *params)
{
    const ew_complex x = v[0], y = v[1], w = v[2], one = ew_make(1, 0);
    ew_complex z = 0;
    ew_real size = 0;
    for (int i = 0; i < 3; i++)
        if (dtype == TSR_C128 && !ew_is_within(v[i], 200)) return (ew_want){ .how = EW_ANYTHING };
    switch (op) {
    case TSR_OP_SQUARE:     z = ew_times(x, x); break;
    case TSR_OP_MUL:        z = ew_times(x, y); break;
    case TSR_OP_DIV:        z = ew_over(x, y); break;
    case TSR_OP_RECIPROCAL: z = ew_over(one, x); break;
    case TSR_OP_RSQRT:      z = ew_over(one, csqrtl(x)); break;
    case TSR_OP_FMA:        z = ew_times(x, y) + w; size = cabsl(x) * cabsl(y) + cabsl(w); break;
    case TSR_OP_ADDCMUL:
        z = x + ew_times(ew_make(params[0] * creall(y), params[0] * cimagl(y)), w);
        size = cabsl(x) + fabsl((ew_real)params[0]) * cabsl(y) * cabsl(w);
        break;
    case TSR_OP_LERP:
        z = cabsl(w) < 0.5L ? x + ew_times(w, y - x) : y - ew_times(y - x, one - w);
        size = (cabsl(x) + cabsl(y)) * (2 + cabsl(w));
        break;
    default:
        printf("the reference does not know %s of complex numbers\n", tsr_op_get_info(op)->name);
        abort();
    }
    ew_want want = ew_complex_near(dtype, z, 8);
    if (isfinite(size)) want.slack = 8 * (ew_real)DBL_EPSILON * size;
    if (!ew_is_finite(x) || !ew_is_finite(y) || !ew_is_finite(w) || !ew_is_finite(z))
        want.how = op == TSR_OP_SQUARE || op == TSR_OP_MUL || op == TSR_OP_DIV ? EW_CATEGORY : EW_ANYTHING;
    return want;
}

static inline ew_want ew_eval_complex(tsr_op_kind op, tsr_dtype dtype, const unsigned char *const *in,
                                      const double *params)
{
    const tsr_dtype part = ref_part(dtype);
    ew_complex v[3] = { 0, 0, 0 }, z = 0;
    bool yes = false;
    for (int i = 0; i < 3; i++) if (in[i]) v[i] = ew_load_complex(dtype, in[i]);
    const ew_real a = creall(v[0]), b = cimagl(v[0]), size = hypotl(a, b);
    if (ew_complex_test(&yes, op, v[0], v[1])) return ew_want_bool(yes);
    if (ew_complex_function(&z, op, v[0])) {
        ew_want w = ew_complex_near(dtype, z, 8);
        if (!ew_is_finite(v[0]) || !ew_is_finite(z)) w.how = EW_PARTS;
        return w;
    }
    switch (op) {
    case TSR_OP_ABS:   return ew_want_near(size, dtype == TSR_C64 ? 1 : 2);
    case TSR_OP_REAL:  return ew_want_once(part, a);
    case TSR_OP_IMAG:  return ew_want_once(part, b);
    case TSR_OP_ANGLE: return ew_want_near(atan2l(b, a), dtype == TSR_C64 ? 1 : 2);
    case TSR_OP_NEG:   return ew_want_pair(dtype, -a, -b);
    case TSR_OP_CONJ:  return ew_want_pair(dtype, a, -b);
    case TSR_OP_ROUND: return ew_want_pair(dtype, rintl(a), rintl(b));
    case TSR_OP_SIGN:
        if (size == 0) return ew_want_pair(dtype, 0, 0);
        if (isfinite(size)) return ew_complex_near(dtype, ew_make(a / size, b / size), 4);
        return isnan(a) || isnan(b) ? ew_want_pair(dtype, NAN, NAN)
                                    : (ew_want){ .how = EW_CATEGORY, .re = NAN };
    case TSR_OP_ADD:
    case TSR_OP_SUB:   return ew_complex_add(dtype, in[0], in[1], op == TSR_OP_SUB);
    case TSR_OP_POW:   return ew_complex_pow(dtype, v[0], v[1]);
    default:           return ew_complex_arithmetic(op, dtype, v, params);
    }
}

/* What `op` must give for elements of one dtype (where: a bool and two of it). */
static inline ew_want ew_eval(tsr_op_kind op, tsr_dtype dtype, const unsigned char *const in[3],
                              const double *params)
{
    if (op == TSR_OP_WHERE) {
        ew_want w = { .how = EW_BITS };
        memcpy(w.bits, *in[0] ? in[1] : in[2], (size_t)ref_size(dtype));
        return w;
    }
    if (ref_is_complex(dtype)) return ew_eval_complex(op, dtype, in, params);
    if (ref_is_float(dtype)) return ew_eval_float(op, dtype, in, params);
    return ew_eval_int(op, dtype, in, params);
}

/* Judging ---------------------------------------------------------------------------------- */

static inline bool ew_bits_are(tsr_dtype part, const unsigned char *got, const unsigned char *want)
{
    const int64_t size = ref_size(part);
    if (!memcmp(got, want, (size_t)size)) return true;
    return ref_is_float(part) && ref_decode(part, got).kind == REF_NAN &&
           ref_decode(part, want).kind == REF_NAN;
}

/* Is g within `off` of want? What is beyond the largest number may be infinite, or must be. */
static inline bool ew_is_near(tsr_dtype part, ew_real g, ew_real want, ew_real off)
{
    const ew_real largest = ew_largest(part), beyond = largest + ew_unit(part, largest) / 2;
    const bool no_infinity = part == TSR_F8E4M3;
    if (isnan(want)) return isnan(g);
    if (!isfinite(g)) {
        const bool side = no_infinity ? isnan(g) : isinf(g) && (g > 0) == (want > 0);
        return side && fabsl(want) + off >= beyond;
    }
    return isfinite(want) && fabsl(g - want) <= off;
}

static inline bool ew_is_real(tsr_dtype part, const unsigned char *got, const ew_want *w)
{
    const ew_real g = ew_load(part, got);
    if (w->re == 0 && !w->any_zero && w->slack == 0) return g == 0 && !signbit(g) == !signbit(w->re);
    return ew_is_near(part, g, w->re, w->units * ew_unit(part, w->re) + w->slack);
}

static inline bool ew_is_complex(tsr_dtype part, const unsigned char *got, const ew_want *w)
{
    const ew_real re = ew_load(part, got), im = ew_load(part, got + ref_size(part));
    const ew_real size = hypotl(w->re, w->im), off = w->units * ew_unit(part, size) + w->slack;
    return ew_is_near(part, re, w->re, off) && ew_is_near(part, im, w->im, off);
}

/* Infinite, NaN or finite as wanted; finite parts near. */
static inline bool ew_part_is(tsr_dtype part, const unsigned char *got, ew_real want, ew_real units)
{
    const ew_real g = ew_load(part, got);
    if (!isfinite(want)) return isnan(want) ? isnan(g) : isinf(g);
    return ew_is_near(part, g, want, units * ew_unit(part, want));
}

static inline bool ew_category_is(tsr_dtype part, const unsigned char *got, const ew_want *w)
{
    const ew_real re = ew_load(part, got), im = ew_load(part, got + ref_size(part));
    if (isinf(w->re) || isinf(w->im)) return isinf(re) || isinf(im);
    if (isnan(w->re) || isnan(w->im)) return isnan(re) || isnan(im);
    return true;
}

static inline bool ew_is_right(tsr_dtype result, const unsigned char *got, const ew_want *w)
{
    const tsr_dtype part = ref_part(result);
    const int64_t size = ref_size(part);
    switch (w->how) {
    case EW_BITS:
        return ew_bits_are(part, got, w->bits) &&
               (!ref_is_complex(result) || ew_bits_are(part, got + size, w->bits + size));
    case EW_REAL:     return ew_is_real(part, got, w);
    case EW_COMPLEX:  return ew_is_complex(part, got, w);
    case EW_PARTS:
        return ew_part_is(part, got, w->re, w->units) && ew_part_is(part, got + size, w->im, w->units);
    case EW_CATEGORY: return ew_category_is(part, got, w);
    default:          return true;
    }
}

#endif
