/* test_half.c - the short floats against a slow reference.
 *
 * The reference shares nothing with half.h. It builds the value of every pattern
 * by multiplying, takes the exact midpoints between neighbours, and calls a
 * pattern right if the number lies between its two midpoints, or on one and the
 * pattern is even: the definition of round to nearest even.
 */
#include "test.h"

#include "core/half.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#define HAVE_MXCSR 1
#endif

/* The reference ------------------------------------------------------------------ */

enum { MOST = 0x8000 };

typedef struct format {
    const char *name;
    int         mant, bias;
    uint32_t    sign;              /* the sign bit */
    uint32_t    top;               /* the largest finite pattern */
    uint32_t    over;              /* what overflow gives */
    double      value[MOST];       /* of every positive pattern up to top + 1 */
    double      middle[MOST];      /* between it and the next */
    uint32_t  (*from_f32)(float);
    uint32_t  (*from_f32_sat)(float);
    uint32_t  (*from_f64)(double);
    float     (*to_f32)(uint32_t);
} format;

static uint32_t f16_from_f32(float x)        { return tsri_f32_to_f16(x); }
static uint32_t f16_from_f32_sat(float x)    { return tsri_f32_to_f16_sat(x); }
static uint32_t f16_from_f64(double x)       { return tsri_f64_to_f16(x); }
static float    f16_to_f32(uint32_t b)       { return tsri_f16_to_f32((uint16_t)b); }
static uint32_t bf16_from_f32(float x)       { return tsri_f32_to_bf16(x); }
static uint32_t bf16_from_f32_sat(float x)   { return tsri_f32_to_bf16_sat(x); }
static uint32_t bf16_from_f64(double x)      { return tsri_f64_to_bf16(x); }
static float    bf16_to_f32(uint32_t b)      { return tsri_bf16_to_f32((uint16_t)b); }
static uint32_t f8e4m3_from_f32(float x)     { return tsri_f32_to_f8e4m3(x); }
static uint32_t f8e4m3_from_f32_sat(float x) { return tsri_f32_to_f8e4m3_sat(x); }
static uint32_t f8e4m3_from_f64(double x)    { return tsri_f64_to_f8e4m3(x); }
static float    f8e4m3_to_f32(uint32_t b)    { return tsri_f8e4m3_to_f32((uint8_t)b); }
static uint32_t f8e5m2_from_f32(float x)     { return tsri_f32_to_f8e5m2(x); }
static uint32_t f8e5m2_from_f32_sat(float x) { return tsri_f32_to_f8e5m2_sat(x); }
static uint32_t f8e5m2_from_f64(double x)    { return tsri_f64_to_f8e5m2(x); }
static float    f8e5m2_to_f32(uint32_t b)    { return tsri_f8e5m2_to_f32((uint8_t)b); }

#define USE(t) .from_f32 = t##_from_f32, .from_f32_sat = t##_from_f32_sat, .from_f64 = t##_from_f64, \
               .to_f32 = t##_to_f32

enum { FORMATS = 4 };
static format formats[FORMATS] = {
    { .name = "f16",    .mant = 10, .bias = 15,  .sign = 0x8000, .top = 0x7bff, .over = 0x7c00, USE(f16) },
    { .name = "bf16",   .mant = 7,  .bias = 127, .sign = 0x8000, .top = 0x7f7f, .over = 0x7f80, USE(bf16) },
    { .name = "f8e4m3", .mant = 3,  .bias = 7,   .sign = 0x80,   .top = 0x7e,   .over = 0x7f,   USE(f8e4m3) },
    { .name = "f8e5m2", .mant = 2,  .bias = 15,  .sign = 0x80,   .top = 0x7b,   .over = 0x7c,   USE(f8e5m2) },
};

static double times_pow2(double x, int n)
{
    for (; n > 0; n--) x *= 2;
    for (; n < 0; n++) x *= 0.5;
    return x;
}

static double value_of(const format *f, uint32_t pattern)
{
    const int exponent = (int)(pattern >> f->mant);
    const double fraction = (double)(pattern & ((1u << f->mant) - 1u));
    const double step = times_pow2(1, -f->mant);
    if (exponent == 0) return times_pow2(fraction * step, 1 - f->bias);
    return times_pow2(1 + fraction * step, exponent - f->bias);
}

static void build(format *f)
{
    for (uint32_t p = 0; p <= f->top + 1; p++) f->value[p] = value_of(f, p);
    for (uint32_t p = 0; p <= f->top; p++) f->middle[p] = (f->value[p] + f->value[p + 1]) / 2;
}

/* Is this the pattern x rounds to, where overflow gives `over`? */
static bool nearest(const format *f, double x, uint32_t pattern, uint32_t over)
{
    const double m = x < 0 ? -x : x;
    const bool negative = tsri_f64_bits(x) >> 63;
    if (((pattern & f->sign) != 0) != negative) return false;
    pattern &= f->sign - 1u;
    const bool beyond = m > f->middle[f->top] || (m == f->middle[f->top] && f->top % 2 == 1);
    if (beyond) return pattern == over;
    if (pattern > f->top) return false;
    const bool above = pattern == 0 || m > f->middle[pattern - 1] ||
                       (m == f->middle[pattern - 1] && pattern % 2 == 0);
    const bool below = m < f->middle[pattern] || (m == f->middle[pattern] && pattern % 2 == 0);
    return above && below;
}

static bool is_nan_pattern(const format *f, uint32_t pattern)
{
    const uint32_t m = pattern & (f->sign - 1u);
    return f->over == 0x7f ? m == 0x7f : m > f->over;
}

static void expect_f64(const format *f, double x)
{
    EXPECT_MSG(nearest(f, x, f->from_f64(x), f->over), "%s of f64 %.17g is %#x", f->name, x, f->from_f64(x));
}

static void expect_f32(const format *f, float x)
{
    const double wide = (double)x;
    EXPECT_MSG(nearest(f, wide, f->from_f32(x), f->over), "%s of f32 %.9g is %#x", f->name, wide,
               f->from_f32(x));
    EXPECT_MSG(nearest(f, wide, f->from_f32_sat(x), f->top), "%s_sat of f32 %.9g is %#x", f->name, wide,
               f->from_f32_sat(x));
    expect_f64(f, wide);
}

/* Short to f32 -------------------------------------------------------------------- */

TEST(test_half_every_pattern_has_its_value)
{
    for (int i = 0; i < FORMATS; i++) {
        const format *f = &formats[i];
        for (uint32_t p = 0; p < 2 * f->sign; p++) {
            const uint32_t m = p & (f->sign - 1u);
            const float x = f->to_f32(p);
            const uint32_t bits = tsri_f32_bits(x);
            const double sign = p >= f->sign ? -1 : 1;
            EXPECT_MSG((bits >> 31) == (p >= f->sign), "%s %#x lost its sign", f->name, p);
            if (m <= f->top) EXPECT_MSG((double)x == sign * f->value[m], "%s %#x", f->name, p);
            else if (is_nan_pattern(f, p))
                EXPECT_MSG((bits & 0x7fc00000u) == 0x7fc00000u, "%s %#x is no quiet NaN", f->name, p);
            else EXPECT_MSG((bits & 0x7fffffffu) == 0x7f800000u, "%s %#x is not infinite", f->name, p);
        }
    }
}

TEST(test_half_every_pattern_comes_back)
{
    for (int i = 0; i < FORMATS; i++) {
        const format *f = &formats[i];
        const uint32_t quiet = is_nan_pattern(f, f->over) ? 0 : 1u << (f->mant - 1);
        for (uint32_t p = 0; p < 2 * f->sign; p++) {
            const uint32_t want = is_nan_pattern(f, p) ? p | quiet : p;
            EXPECT_MSG(f->from_f32(f->to_f32(p)) == want, "%s %#x through f32", f->name, p);
            EXPECT_MSG(f->from_f64((double)f->to_f32(p)) == want, "%s %#x through f64", f->name, p);
        }
    }
}

TEST(test_half_known_values)
{
    EXPECT(tsr_f16_to_f32(0x3c00) == 1 && tsr_f16_to_f32(0x7bff) == 65504 && tsr_f16_to_f32(0xc000) == -2);
    EXPECT(tsr_bf16_to_f32(0x3f80) == 1 && tsr_bf16_to_f32(0x4049) == 3.140625f);
    EXPECT(tsr_f8e4m3_to_f32(0x38) == 1 && tsr_f8e4m3_to_f32(0x7e) == 448);
    EXPECT(tsr_f8e4m3_to_f32(0x01) == 0x1p-9f);
    EXPECT(tsr_f8e5m2_to_f32(0x3c) == 1 && tsr_f8e5m2_to_f32(0x7b) == 57344);
    EXPECT(tsr_f32_to_f16(65519.996f) == 0x7bff && tsr_f32_to_f16(65520) == 0x7c00);
    EXPECT(tsr_f32_to_f16_sat(1e9f) == 0x7bff && tsr_f32_to_f16_sat(-1e9f) == 0xfbff);
    EXPECT(tsr_f32_to_f8e4m3(464) == 0x7e && tsr_f32_to_f8e4m3(465) == 0x7f);
    EXPECT(tsr_f32_to_f8e4m3_sat(465) == 0x7e && tsr_f32_to_f8e4m3_sat(-1e30f) == 0xfe);
    EXPECT(tsr_f32_to_f8e5m2(61440) == 0x7c && tsr_f32_to_f8e5m2_sat(61440) == 0x7b);
    EXPECT(tsr_f32_to_bf16(3.4e38f) == 0x7f80 && tsr_f32_to_bf16_sat(3.4e38f) == 0x7f7f);
    EXPECT(tsr_f32_to_bf16(1.00390625f) == 0x3f80 && tsr_f32_to_bf16(1.01171875f) == 0x3f82);
    EXPECT(tsr_f64_to_f16(1) == 0x3c00 && tsr_f64_to_bf16(-1) == 0xbf80);
    EXPECT(tsr_f64_to_f8e4m3(-1) == 0xb8 && tsr_f64_to_f8e5m2(1e9) == 0x7c);
}

/* f32 and f64 to short --------------------------------------------------------------- */

TEST(test_half_midpoints_go_to_even_and_their_neighbours_do_not)
{
    for (int i = 0; i < FORMATS; i++) {
        const format *f = &formats[i];
        for (uint32_t p = 0; p <= f->top; p++)
            for (int sign = 0; sign < 2; sign++) {
                const double mid = sign ? -f->middle[p] : f->middle[p];
                const uint32_t m32 = tsri_f32_bits((float)mid);
                const uint64_t m64 = tsri_f64_bits(mid);
                for (int d = -1; d <= 1; d++) {
                    expect_f32(f, tsri_f32_from_bits(m32 + (uint32_t)d));
                    expect_f64(f, tsri_f64_from_bits(m64 + (uint64_t)(int64_t)d));
                }
                EXPECT_MSG((double)(float)mid == mid, "%s: f32 lacks the midpoint after %#x", f->name, p);
            }
    }
}

TEST(test_half_f64_is_not_rounded_twice)
{
    /* A hair above a tie: through f32 the hair is lost, and the tie goes down. */
    EXPECT(tsri_f64_to_f16(0x1.002p0 + 0x1p-40) == 0x3c01);
    EXPECT(tsri_f32_to_f16((float)(0x1.002p0 + 0x1p-40)) == 0x3c00);
    EXPECT(tsri_f64_to_bf16(0x1.01p0 + 0x1p-40) == 0x3f81);
    EXPECT(tsri_f64_to_f8e4m3(0x1.1p0 + 0x1p-40) == 0x39);
    EXPECT(tsri_f64_to_f8e5m2(0x1.2p0 + 0x1p-40) == 0x3d);
    /* A hair below a tie whose even neighbour is above. */
    EXPECT(tsri_f64_to_f16(0x1.006p0 - 0x1p-40) == 0x3c01);
    EXPECT(tsri_f64_to_bf16(0x1.03p0 - 0x1p-40) == 0x3f81);
    /* At the top, and half of the smallest step. */
    EXPECT(tsri_f64_to_f16(65520 - 0x1p-30) == 0x7bff);
    EXPECT(tsri_f64_to_bf16(0x1.ffp127 - 0x1p90) == 0x7f7f && tsri_f64_to_bf16(0x1.ffp127) == 0x7f80);
    EXPECT(tsri_f64_to_f16(0x1p-25) == 0 && tsri_f64_to_f16(0x1.0000000000001p-25) == 1);
    EXPECT(tsri_f64_to_bf16(0x1p-134) == 0 && tsri_f64_to_bf16(0x1.0000000000001p-134) == 1);
    EXPECT(tsri_f64_to_f8e4m3(464) == 0x7e && tsri_f64_to_f8e4m3(464 + 0x1p-40) == 0x7f);
}

TEST(test_half_random_f32_patterns_round_to_nearest_even)
{
    uint64_t state = 1;
    for (int n = 0; n < 10000000; n++) {
        const uint64_t r = test_next(&state);
        for (int half = 0; half < 2; half++) {
            const float x = tsri_f32_from_bits((uint32_t)(r >> (32 * half)));
            if (x != x) continue;
            for (int i = 0; i < FORMATS; i++) {
                const uint32_t got = formats[i].from_f32(x);
                if (!nearest(&formats[i], (double)x, got, formats[i].over)) expect_f32(&formats[i], x);
            }
        }
    }
}

/* Uniform patterns overflow or vanish mostly; these lie where the format does. */
TEST(test_half_random_numbers_in_range_round_to_nearest_even)
{
    uint64_t state = 2;
    for (int n = 0; n < 500000; n++)
        for (int i = 0; i < FORMATS; i++) {
            const format *f = &formats[i];
            const int low = -f->bias - f->mant - 2, span = 2 * f->bias + f->mant + 6;
            const uint64_t r = test_next(&state);
            const uint64_t exponent = (uint64_t)(1023 + low + (int)(r >> 52 & 0x3ff) % span);
            const double x = tsri_f64_from_bits((r & 0x800fffffffffffffu) | exponent << 52);
            if (!nearest(f, x, f->from_f64(x), f->over)) expect_f64(f, x);
            expect_f32(f, (float)x);
        }
}

TEST(test_half_nan_keeps_its_sign_and_top_payload_bits_and_is_quiet)
{
    uint64_t state = 3;
    for (int n = 0; n < 100000; n++) {
        const uint64_t r = test_next(&state), sign = r >> 63;
        const uint32_t b32 = 0x7f800001u | ((uint32_t)r & 0x807fffffu);
        const uint64_t b64 = 0x7ff0000000000001u | (r & 0x800fffffffffffffu);
        const float x = tsri_f32_from_bits(b32);
        const double y = tsri_f64_from_bits(b64);
        EXPECT(tsri_f32_to_f16(x) == ((b32 >> 16 & 0x8000u) | 0x7e00u | (b32 >> 13 & 0x3ffu)));
        EXPECT(tsri_f32_to_bf16(x) == (b32 >> 16 | 0x40u));
        EXPECT(tsri_f32_to_f8e4m3(x) == ((b32 >> 24 & 0x80u) | 0x7fu));
        EXPECT(tsri_f32_to_f8e5m2(x) == ((b32 >> 24 & 0x80u) | 0x7eu | (b32 >> 21 & 3u)));
        EXPECT(tsri_f64_to_f16(y) == (sign << 15 | 0x7e00u | (b64 >> 42 & 0x3ffu)));
        EXPECT(tsri_f64_to_bf16(y) == (sign << 15 | 0x7fc0u | (b64 >> 45 & 0x7fu)));
        EXPECT(tsri_f64_to_f8e4m3(y) == (sign << 7 | 0x7fu));
        EXPECT(tsri_f64_to_f8e5m2(y) == (sign << 7 | 0x7eu | (b64 >> 50 & 3u)));
        for (int i = 0; i < FORMATS; i++) EXPECT(formats[i].from_f32_sat(x) == formats[i].from_f32(x));
    }
}

TEST(test_half_infinity_overflows_and_saturates)
{
    const float inf = tsri_f32_from_bits(0x7f800000u);
    for (int i = 0; i < FORMATS; i++) {
        const format *f = &formats[i];
        EXPECT(f->from_f32(inf) == f->over && f->from_f32(-inf) == (f->over | f->sign));
        EXPECT(f->from_f64((double)inf) == f->over && f->from_f64(-(double)inf) == (f->over | f->sign));
        EXPECT(f->from_f32_sat(inf) == f->top && f->from_f32_sat(-inf) == (f->top | f->sign));
        EXPECT(f->from_f64(1e300) == f->over && f->from_f64(-1e300) == (f->over | f->sign));
    }
}

TEST(test_half_tiny_numbers_become_zeros_of_their_sign)
{
    const double tiny[] = { 0, 0x1p-1074, 0x1p-1022, 0x1p-200, 0x1p-149 };
    for (int i = 0; i < FORMATS; i++)
        for (size_t t = 0; t < sizeof tiny / sizeof *tiny; t++) {
            EXPECT(formats[i].from_f64(tiny[t]) == 0 && formats[i].from_f64(-tiny[t]) == formats[i].sign);
            EXPECT(formats[i].from_f32((float)tiny[t]) == 0);
            EXPECT(formats[i].from_f32(-(float)tiny[t]) == formats[i].sign);
        }
}

/* The floating-point environment ------------------------------------------------------- */

#ifdef HAVE_MXCSR
/* Calls into the library, so that the compiler cannot move the work out of the mode. */
static uint64_t digest(void)
{
    uint64_t h = 0;
    for (uint32_t p = 0; p < 0x10000; p++) {
        h = h * 31 + tsri_f32_bits(tsr_f16_to_f32((uint16_t)p));
        h = h * 31 + tsri_f32_bits(tsr_bf16_to_f32((uint16_t)p));
        h = h * 31 + tsri_f32_bits(tsr_f8e4m3_to_f32((uint8_t)p));
        h = h * 31 + tsri_f32_bits(tsr_f8e5m2_to_f32((uint8_t)p));
        for (uint32_t low = 0; low < 3; low++) {
            const uint32_t bits = (p << 16) + (low == 0 ? 0u : low == 1 ? 0x7fffu : 0x8001u);
            const float x = tsri_f32_from_bits(bits);
            const double y = tsri_f64_from_bits((uint64_t)p << 48 | low * 0x7fffffffffffu);
            h = h * 31 + tsr_f32_to_f16(x);
            h = h * 31 + tsr_f32_to_bf16(x);
            h = h * 31 + tsr_f32_to_f8e4m3(x);
            h = h * 31 + tsr_f32_to_f8e5m2(x);
            h = h * 31 + tsr_f64_to_f16(y);
            h = h * 31 + tsr_f64_to_bf16(y);
            h = h * 31 + tsr_f64_to_f8e4m3(y);
            h = h * 31 + tsr_f64_to_f8e5m2(y);
        }
    }
    return h;
}
#endif

TEST(test_half_ignores_rounding_and_flushing_modes)
{
#ifdef HAVE_MXCSR
    const unsigned usual = _mm_getcsr();
    const unsigned flush_both = 0x8040;
    const uint64_t want = digest();
    for (unsigned rounding = 0; rounding < 4; rounding++)
        for (unsigned flush = 0; flush < 2; flush++) {
            _mm_setcsr(usual | rounding << 13 | (flush ? flush_both : 0));
            const uint64_t got = digest();
            _mm_setcsr(usual);
            EXPECT_MSG(got == want, "rounding %u, flushing %u", rounding, flush);
        }
#else
    SKIP("no mode register that this test can set");
#endif
}

/* Integers to floats ---------------------------------------------------------------------- */

/* v with `bits` significant bits, to nearest even, by integer arithmetic. */
static double round_integer(uint64_t v, int bits)
{
    int drop = 0;
    while (drop < 64 && v >> drop >= (uint64_t)1 << bits) drop++;
    if (drop == 0) return (double)v;
    const uint64_t rest = v & (((uint64_t)1 << drop) - 1), half = (uint64_t)1 << (drop - 1);
    uint64_t kept = v >> drop;
    if (rest > half || (rest == half && kept % 2 == 1)) kept++;
    return times_pow2((double)kept, drop);
}

static void expect_integer(uint64_t v)
{
    const double odd = tsri_u64_to_f64_odd(v);
    EXPECT_MSG((double)(float)odd == round_integer(v, 24), "f32 of %llu", (unsigned long long)v);
    for (int i = 0; i < FORMATS; i++) {
        const format *f = &formats[i];
        const uint32_t want = f->from_f64(round_integer(v, f->mant + 1));
        EXPECT_MSG(f->from_f64(odd) == want, "%s of %llu", f->name, (unsigned long long)v);
        if (v > (uint64_t)INT64_MAX + 1) continue;
        const int64_t negative = (int64_t)(0u - v);
        EXPECT_MSG(f->from_f64(tsri_i64_to_f64_odd(negative)) == (v ? want | f->sign : want), "%s of %lld",
                   f->name, (long long)negative);
        if (v > (uint64_t)INT64_MAX) continue;
        EXPECT_MSG(f->from_f64(tsri_i64_to_f64_odd((int64_t)v)) == want, "%s of %lld", f->name, (long long)v);
    }
}

TEST(test_half_integers_round_once)
{
    for (uint64_t v = 0; v < 70000; v++) expect_integer(v);
    for (int k = 16; k < 64; k++)
        for (int j = 1; j <= k && j <= 30; j++)
            for (int d = -2; d <= 2; d++) {
                const uint64_t power = (uint64_t)1 << k, step = (uint64_t)1 << (k - j);
                expect_integer(power + (uint64_t)(int64_t)d);
                expect_integer(power + step + (uint64_t)(int64_t)d);
                expect_integer(power + 3 * step + (uint64_t)(int64_t)d);
            }
    expect_integer(UINT64_MAX);
    expect_integer((uint64_t)INT64_MAX);
    /* bf16 midpoint plus 1: a plain (double) would drop the 1 and tie downward. */
    EXPECT(tsri_f64_to_bf16(tsri_i64_to_f64_odd(((int64_t)1 << 62) + ((int64_t)1 << 54) + 1)) == 0x5e81);
    EXPECT(tsri_f64_to_bf16((double)(((int64_t)1 << 62) + ((int64_t)1 << 54) + 1)) == 0x5e80);
}

/* Floats to integers ------------------------------------------------------------------------ */

static int64_t cut(double x, double low, double high)
{
    if (x != x) return 0;
    if (x <= low) return (int64_t)low;
    if (x >= high) return (int64_t)high;
    return (int64_t)x;
}

static void expect_cut(double x)
{
    const float f = (float)x;
    const double g = (double)f;
    EXPECT_MSG(tsri_f64_to_i8_sat(x) == cut(x, -128, 127), "i8 of %.17g", x);
    EXPECT_MSG(tsri_f64_to_i16_sat(x) == cut(x, -32768, 32767), "i16 of %.17g", x);
    EXPECT_MSG(tsri_f64_to_i32_sat(x) == cut(x, -2147483648.0, 2147483647.0), "i32 of %.17g", x);
    EXPECT_MSG(tsri_f64_to_u8_sat(x) == cut(x, 0, 255), "u8 of %.17g", x);
    EXPECT_MSG(tsri_f64_to_u16_sat(x) == cut(x, 0, 65535), "u16 of %.17g", x);
    EXPECT_MSG(tsri_f64_to_u32_sat(x) == cut(x, 0, 4294967295.0), "u32 of %.17g", x);
    EXPECT_MSG(tsri_f32_to_i8_sat(f) == cut(g, -128, 127), "i8 of %.17g", g);
    EXPECT_MSG(tsri_f32_to_i16_sat(f) == cut(g, -32768, 32767), "i16 of %.17g", g);
    EXPECT_MSG(tsri_f32_to_i32_sat(f) == cut(g, -2147483648.0, 2147483647.0), "i32 of %.17g", g);
    EXPECT_MSG(tsri_f32_to_u8_sat(f) == cut(g, 0, 255), "u8 of %.17g", g);
    EXPECT_MSG(tsri_f32_to_u16_sat(f) == cut(g, 0, 65535), "u16 of %.17g", g);
    EXPECT_MSG(tsri_f32_to_u32_sat(f) == cut(g, 0, 4294967295.0), "u32 of %.17g", g);
    EXPECT(tsri_f32_to_i64_sat(f) == tsri_f64_to_i64_sat(g));
    EXPECT(tsri_f32_to_u64_sat(f) == tsri_f64_to_u64_sat(g));
}

TEST(test_half_floats_truncate_and_saturate_to_integers)
{
    uint64_t state = 4;
    for (int k = 0; k < 70; k++)
        for (int d = -8; d <= 8; d++) {
            expect_cut(times_pow2(1, k) + d * 0.25);
            expect_cut(-times_pow2(1, k) + d * 0.25);
        }
    for (int n = 0; n < 300000; n++) {
        const uint64_t r = test_next(&state);
        expect_cut(tsri_f64_from_bits((r & 0x800fffffffffffffu) | (uint64_t)(1020 + (r >> 52) % 50) << 52));
        expect_cut((double)tsri_f32_from_bits((uint32_t)r));
    }
    expect_cut(0);
    expect_cut(-0.0);
    expect_cut(1e300);
    expect_cut(-1e300);
    expect_cut(tsri_f64_from_bits(0x7ff0000000000000u));
    expect_cut(tsri_f64_from_bits(0xfff0000000000000u));
    expect_cut(tsri_f64_from_bits(0x7ff8000000000000u));
    expect_cut(tsri_f64_from_bits(0xfff8000000000000u));
}

TEST(test_half_64_bit_integers_saturate_at_their_own_ends)
{
    const double nan = tsri_f64_from_bits(0x7ff8000000000000u), inf = tsri_f64_from_bits(0x7ff0000000000000u);
    EXPECT(tsri_f64_to_i64_sat(0x1p63) == INT64_MAX && tsri_f64_to_i64_sat(-0x1p63) == INT64_MIN);
    EXPECT(tsri_f64_to_i64_sat(0x1.fffffffffffffp62) == INT64_MAX - 1023);
    EXPECT(tsri_f64_to_i64_sat(-0x1.0000000000001p63) == INT64_MIN);
    EXPECT(tsri_f64_to_i64_sat(inf) == INT64_MAX && tsri_f64_to_i64_sat(-inf) == INT64_MIN);
    EXPECT(tsri_f64_to_i64_sat(nan) == 0 && tsri_f64_to_i64_sat(-nan) == 0 && tsri_f64_to_i64_sat(-0.9) == 0);
    EXPECT(tsri_f64_to_i64_sat(-1.9) == -1 && tsri_f64_to_i64_sat(1e15 + 0.5) == 1000000000000000);
    EXPECT(tsri_f64_to_u64_sat(0x1p64) == UINT64_MAX && tsri_f64_to_u64_sat(inf) == UINT64_MAX);
    EXPECT(tsri_f64_to_u64_sat(0x1.fffffffffffffp63) == UINT64_MAX - 2047);
    EXPECT(tsri_f64_to_u64_sat(0x1p63) == (uint64_t)1 << 63);
    EXPECT(tsri_f64_to_u64_sat(-1) == 0 && tsri_f64_to_u64_sat(-inf) == 0 && tsri_f64_to_u64_sat(nan) == 0);
    EXPECT(tsri_f32_to_i64_sat(0x1p63f) == INT64_MAX && tsri_f32_to_u64_sat(0x1p64f) == UINT64_MAX);
    EXPECT(tsri_f32_to_i64_sat(0x1.fffffep62f) == INT64_MAX - 0x7fffffffff);
}

TEST_BEFORE
{
    for (int i = 0; i < FORMATS; i++) build(&formats[i]);
}
