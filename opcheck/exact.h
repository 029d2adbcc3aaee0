/* exact.h - arithmetic on integers alone: a float is a sign, 128 bits and a power of two, and what is lost
 * sets the last bit, so that the one rounding at the end is right. */
#ifndef TSR_OPCHECK_EXACT_H
#define TSR_OPCHECK_EXACT_H

#include <complex.h>
#include <float.h>
#include <math.h>

#include "number.h"

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
    const ref_format f = ref_format_of(real);
    const int highest = (1 << (f.exponent_bits - 1)) - (f.infinities ? 1 : 0);
    const ew_real last = ldexpl(1, f.infinities ? -f.mantissa_bits : 1 - f.mantissa_bits);
    return ldexpl(2 - last, highest);
}

#endif
