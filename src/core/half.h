/* half.h - f16, bf16 and f8 one value at a time, and floats to integers.
 *
 * Plain C, free of the rounding mode, of subnormal-flushing modes and of tables,
 * and without branches where a kernel loops over it: gcc (at -O3) and clang (at
 * -O2) turn a loop over any of the f32 conversions into vector code. Those from
 * and to 64-bit integers stay scalar where the machine has no such instruction.
 *
 *     format   sign exponent mantissa  bias   largest   smallest
 *     f16       1      5       10       15      65504    2^-24
 *     bf16      1      8        7      127   3.39e38    2^-133
 *     f8e5m2    1      5        2       15      57344    2^-16
 *     f8e4m3    1      4        3        7        448    2^-9     no infinities
 *
 * Rounding is to nearest, ties to even, once, from the source's own value.
 * Overflow gives infinity (NaN in f8e4m3); the _sat forms give the largest
 * finite value instead, also for an infinity. A NaN keeps its sign and as many
 * of its top payload bits as fit, and becomes quiet.
 */
#ifndef TSRI_HALF_H
#define TSRI_HALF_H

#include "status_int.h"

/* Values and their bits ------------------------------------------------------ */

static inline uint32_t tsri_f32_bits(float value)
{
    const union { float f; uint32_t u; } x = { .f = value };
    return x.u;
}

static inline float tsri_f32_from_bits(uint32_t bits)
{
    const union { uint32_t u; float f; } x = { .u = bits };
    return x.f;
}

static inline uint64_t tsri_f64_bits(double value)
{
    const union { double f; uint64_t u; } x = { .f = value };
    return x.u;
}

static inline double tsri_f64_from_bits(uint64_t bits)
{
    const union { uint64_t u; double f; } x = { .u = bits };
    return x.f;
}

/* Choices by mask: where a compiler may not compute a float operation whose result
 * is not used, it makes a branch of ?:, and does not vectorise the loop. */
static inline uint32_t tsri_mask32(bool yes) { return 0u - (uint32_t)yes; }
static inline uint64_t tsri_mask64(bool yes) { return 0u - (uint64_t)yes; }

static inline uint32_t tsri_select32(bool yes, uint32_t a, uint32_t b)
{
    return b ^ ((a ^ b) & tsri_mask32(yes));
}

/* 2^n, for n that gives a normal number. */
static inline float  tsri_f32_pow2(int n) { return tsri_f32_from_bits((uint32_t)(127 + n) << 23); }
static inline double tsri_f64_pow2(int n) { return tsri_f64_from_bits((uint64_t)(1023 + n) << 52); }

/* The two halves of the work, for any format --------------------------------- */

/* The f32 bits of a short magnitude with `mant` mantissa bits and this bias. A
 * subnormal is a count of the format's smallest step, which f32 holds as a
 * normal number. Infinity and NaN are the caller's. */
static TSRI_ALWAYS_INLINE uint32_t tsri_widen_to_f32(uint32_t m, int mant, int bias)
{
    const uint32_t normal = (m << (23 - mant)) + ((uint32_t)(127 - bias) << 23);
    const uint32_t subnormal = tsri_f32_bits((float)(int32_t)m * tsri_f32_pow2(1 - bias - mant));
    return tsri_select32(m >> mant != 0, normal, subnormal);
}

/* The pattern nearest to the f32 magnitude with bits u, ties to even. Too large
 * a magnitude, infinity and NaN give patterns above the format's largest.
 *
 * Among normals, rounding is integer arithmetic on the pattern: a carry out of
 * the mantissa raises the exponent, as it should. Below them, counts of the
 * smallest step are taken with exact float operations only (a product with a
 * power of two, a truncation, the rest), since not every machine has a vector
 * shift by a variable. */
static TSRI_ALWAYS_INLINE uint32_t tsri_round_f32(uint32_t u, int mant, int bias)
{
    const int drop = 23 - mant;
    const uint32_t least = (uint32_t)(128 - bias) << 23; /* the smallest normal */
    const uint32_t half = (1u << (drop - 1)) - 1u + (u >> drop & 1u);
    const uint32_t normal = (u - ((uint32_t)(127 - bias) << 23) + half) >> drop;

    const float steps = tsri_f32_from_bits(u < least ? u : least) * tsri_f32_pow2(bias - 1 + mant);
    const int32_t whole = (int32_t)steps;
    const float rest = steps - (float)whole;
    const int32_t odd = whole & 1;
    const int32_t up = (rest > 0.5f ? 1 : 0) | (rest == 0.5f ? odd : 0);
    return tsri_select32(u < least, (uint32_t)(whole + up), normal);
}

/* The same from an f64 magnitude. */
static TSRI_ALWAYS_INLINE uint32_t tsri_round_f64(uint64_t u, int mant, int bias)
{
    const int drop = 52 - mant;
    const uint64_t least = (uint64_t)(1024 - bias) << 52;
    const uint64_t half = ((uint64_t)1 << (drop - 1)) - 1u + (u >> drop & 1u);
    const uint64_t normal = (u - ((uint64_t)(1023 - bias) << 52) + half) >> drop;

    const double steps = tsri_f64_from_bits(u < least ? u : least) * tsri_f64_pow2(bias - 1 + mant);
    const int32_t whole = (int32_t)steps;
    const double rest = steps - (double)whole;
    const int32_t odd = whole & 1;
    const int32_t up = (rest > 0.5 ? 1 : 0) | (rest == 0.5 ? odd : 0);
    return u < least ? (uint32_t)(whole + up) : (uint32_t)normal;
}

/* Any short format -------------------------------------------------------------
 *
 * With `mant` bits of mantissa and `exp` of exponent; `inf`: with infinities (short_floats.def). All three
 * are constants where these are used. A format with the exponents of f32 is its upper part. */

/* The pattern of infinity, or of NaN where there are no infinities: what too large numbers become. */
#define TSRI_SHORT_TOP(mant, exp, inf) \
    ((inf) ? ((1u << (exp)) - 1u) << (mant) : (1u << ((mant) + (exp))) - 1u)

/* The highest pattern that is not NaN. */
#define TSRI_SHORT_NUMBER(mant, exp, inf) (TSRI_SHORT_TOP(mant, exp, inf) - ((inf) ? 0u : 1u))

/* Exact. */
static TSRI_ALWAYS_INLINE float tsri_short_to_f32(uint32_t bits, int mant, int exp, bool inf)
{
    const uint32_t m = bits & ((1u << (mant + exp)) - 1u), sign = bits >> (mant + exp) << 31;
    const uint32_t top = TSRI_SHORT_TOP(mant, exp, inf), quiet = m > top ? 0x00400000u : 0u;
    const uint32_t special = inf ? 0x7f800000u | m << (23 - mant) | quiet : 0x7fc00000u;
    if (exp == 8) return tsri_f32_from_bits(sign | m << (23 - mant) | quiet);
    const uint32_t wide = tsri_widen_to_f32(m, mant, (1 << (exp - 1)) - 1);
    return tsri_f32_from_bits(sign | tsri_select32(m >= top, special, wide));
}

/* The NaN with the top bits of the payload of another, made quiet. */
static TSRI_ALWAYS_INLINE uint32_t tsri_short_nan(uint32_t payload, int mant, int exp, bool inf)
{
    const uint32_t quiet = ((1u << (exp + 1)) - 1u) << (mant - 1);
    return inf ? quiet | (payload & ((1u << mant) - 1u)) : TSRI_SHORT_TOP(mant, exp, inf);
}

/* Rounded once. `top` caps what was too large: TSRI_SHORT_TOP, or one less to saturate. */
static TSRI_ALWAYS_INLINE uint32_t tsri_f32_to_short(float value, uint32_t top, int mant, int exp, bool inf)
{
    const uint32_t bits = tsri_f32_bits(value), u = bits & 0x7fffffffu;
    const uint32_t upper = (u + ((1u << (22 - mant)) - 1u) + (u >> (23 - mant) & 1u)) >> (23 - mant);
    const uint32_t m = exp == 8 ? upper : tsri_round_f32(u, mant, (1 << (exp - 1)) - 1);
    const uint32_t capped = m < top ? m : top, nan = tsri_short_nan(u >> (23 - mant), mant, exp, inf);
    return bits >> 31 << (mant + exp) | (u > 0x7f800000u ? nan : capped);
}

static TSRI_ALWAYS_INLINE uint32_t tsri_f64_to_short(double value, int mant, int exp, bool inf)
{
    const uint64_t bits = tsri_f64_bits(value), u = bits & 0x7fffffffffffffffu;
    const uint32_t m = tsri_round_f64(u, mant, (1 << (exp - 1)) - 1), top = TSRI_SHORT_TOP(mant, exp, inf);
    const uint32_t capped = m < top ? m : top;
    const uint32_t nan = tsri_short_nan((uint32_t)(u >> (52 - mant)), mant, exp, inf);
    return (uint32_t)(bits >> 63) << (mant + exp) | (u > 0x7ff0000000000000u ? nan : capped);
}

/* tsri_f16_to_f32, tsri_f32_to_f16, tsri_f32_to_f16_sat, tsri_f64_to_f16, and so on. */
#define X(ID, suffix, S, mant, exp, inf, dlpack)                                               \
    static inline float tsri_##suffix##_to_f32(S bits)                                         \
    { return tsri_short_to_f32(bits, mant, exp, inf); }                                        \
    static inline S tsri_f32_to_##suffix(float value)                                          \
    { return (S)tsri_f32_to_short(value, TSRI_SHORT_TOP(mant, exp, inf), mant, exp, inf); }    \
    static inline S tsri_f32_to_##suffix##_sat(float value)                                    \
    { return (S)tsri_f32_to_short(value, TSRI_SHORT_TOP(mant, exp, inf) - 1u, mant, exp, inf); } \
    static inline S tsri_f64_to_##suffix(double value)                                         \
    { return (S)tsri_f64_to_short(value, mant, exp, inf); }
#include "short_floats.def"
#undef X

/* Integers to floats ------------------------------------------------------------
 *
 * A double that any float of at most 24 mantissa bits rounds to as it would from
 * the integer itself: exact below 2^53; above, the low 11 bits, which lie far
 * below the last place of such a float, are replaced by one that says whether
 * any of them was set. That bit is what keeps a tie from appearing or vanishing.
 * So (float)tsri_i64_to_f64_odd(v) and tsri_f64_to_f16(tsri_i64_to_f64_odd(v))
 * round once. */

static inline uint64_t tsri_sticky_u64(uint64_t v)
{
    const uint64_t sticky = (v & ~(uint64_t)0x7ff) | (v & 0x7ffu ? 0x800u : 0u);
    return v >> 53 ? sticky : v;
}

static inline double tsri_u64_to_f64_odd(uint64_t v) { return (double)tsri_sticky_u64(v); }

static inline double tsri_i64_to_f64_odd(int64_t v)
{
    const uint64_t magnitude = v < 0 ? 0u - (uint64_t)v : (uint64_t)v;
    const double x = (double)tsri_sticky_u64(magnitude);
    return v < 0 ? -x : x;
}

/* Floats to integers -------------------------------------------------------------
 *
 * Toward zero; what is out of range becomes the nearest end, NaN becomes 0. Each
 * converts only what fits, so none relies on what a machine does with the rest. */

static inline int32_t tsri_f64_to_i32_sat(double x)
{
    const uint64_t high = tsri_mask64(x >= 2147483648.0), low = tsri_mask64(x <= -2147483649.0);
    const uint64_t nan = tsri_mask64(x != x);
    const int32_t t = (int32_t)tsri_f64_from_bits(tsri_f64_bits(x) & ~(high | low | nan));
    return (int32_t)((uint32_t)t | (uint32_t)(high & 0x7fffffffu) | (uint32_t)(low & 0x80000000u));
}

static inline uint32_t tsri_f64_to_u32_sat(double x)
{
    const bool fits = x > 0 && x < 4294967296.0;
    const uint32_t t = (uint32_t)(fits ? x : 0.0);
    return x >= 4294967296.0 ? UINT32_MAX : t;
}

static inline int64_t tsri_f64_to_i64_sat(double x)
{
    const bool fits = x >= -9223372036854775808.0 && x < 9223372036854775808.0;
    const int64_t end = x > 0 ? INT64_MAX : x < 0 ? INT64_MIN : 0;
    const int64_t t = (int64_t)(fits ? x : 0.0);
    return fits ? t : end;
}

static inline uint64_t tsri_f64_to_u64_sat(double x)
{
    const bool fits = x > 0 && x < 18446744073709551616.0;
    const uint64_t t = (uint64_t)(fits ? x : 0.0);
    return x >= 18446744073709551616.0 ? UINT64_MAX : t;
}

static inline int32_t tsri_f32_to_i32_sat(float x)
{
    const uint32_t high = tsri_mask32(x >= 2147483648.0f), low = tsri_mask32(x < -2147483648.0f);
    const uint32_t nan = tsri_mask32(x != x);
    const int32_t t = (int32_t)tsri_f32_from_bits(tsri_f32_bits(x) & ~(high | low | nan));
    return (int32_t)((uint32_t)t | (high & 0x7fffffffu) | (low & 0x80000000u));
}

static inline uint32_t tsri_f32_to_u32_sat(float x) { return tsri_f64_to_u32_sat((double)x); }
static inline int64_t  tsri_f32_to_i64_sat(float x) { return tsri_f64_to_i64_sat((double)x); }
static inline uint64_t tsri_f32_to_u64_sat(float x) { return tsri_f64_to_u64_sat((double)x); }

/* The narrow ones through i32: truncated there, cut to the range here. */
static inline int32_t tsri_clamp_i32(int32_t v, int32_t low, int32_t high)
{
    const int32_t raised = v < low ? low : v;
    return raised > high ? high : raised;
}

static inline int8_t   tsri_i32_to_i8_sat(int32_t v)  { return (int8_t)tsri_clamp_i32(v, -128, 127); }
static inline int16_t  tsri_i32_to_i16_sat(int32_t v) { return (int16_t)tsri_clamp_i32(v, -32768, 32767); }
static inline uint8_t  tsri_i32_to_u8_sat(int32_t v)  { return (uint8_t)tsri_clamp_i32(v, 0, 255); }
static inline uint16_t tsri_i32_to_u16_sat(int32_t v) { return (uint16_t)tsri_clamp_i32(v, 0, 65535); }

static inline int8_t   tsri_f64_to_i8_sat(double x)  { return tsri_i32_to_i8_sat(tsri_f64_to_i32_sat(x)); }
static inline int16_t  tsri_f64_to_i16_sat(double x) { return tsri_i32_to_i16_sat(tsri_f64_to_i32_sat(x)); }
static inline uint8_t  tsri_f64_to_u8_sat(double x)  { return tsri_i32_to_u8_sat(tsri_f64_to_i32_sat(x)); }
static inline uint16_t tsri_f64_to_u16_sat(double x) { return tsri_i32_to_u16_sat(tsri_f64_to_i32_sat(x)); }
static inline int8_t   tsri_f32_to_i8_sat(float x)   { return tsri_i32_to_i8_sat(tsri_f32_to_i32_sat(x)); }
static inline int16_t  tsri_f32_to_i16_sat(float x)  { return tsri_i32_to_i16_sat(tsri_f32_to_i32_sat(x)); }
static inline uint8_t  tsri_f32_to_u8_sat(float x)   { return tsri_i32_to_u8_sat(tsri_f32_to_i32_sat(x)); }
static inline uint16_t tsri_f32_to_u16_sat(float x)  { return tsri_i32_to_u16_sat(tsri_f32_to_i32_sat(x)); }

/* By dtype: a double as its bits, and back. */
static inline uint64_t tsri_float_bits(tsr_dtype dtype, double v)
{
    switch (dtype) {
#define X(ID, suffix, S, mant, exp, inf, dlpack) case TSR_##ID: return tsri_f64_to_##suffix(v);
#include "short_floats.def"
#undef X
    case TSR_F32:    return tsri_f32_bits((float)v);
    default:         return tsri_f64_bits(v);
    }
}

static inline double tsri_float_value(tsr_dtype dtype, uint64_t bits)
{
    switch (dtype) {
#define X(ID, suffix, S, mant, exp, inf, dlpack) \
    case TSR_##ID: return (double)tsri_##suffix##_to_f32((S)bits);
#include "short_floats.def"
#undef X
    case TSR_F32:    return (double)tsri_f32_from_bits((uint32_t)bits);
    default:         return tsri_f64_from_bits(bits);
    }
}

#endif
