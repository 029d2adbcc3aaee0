/* plan_range.c - the range of uniform numbers in a dtype; see plan.h. */
#include <float.h>
#include <string.h>

#include "plan.h"

/* A floating format: mantissa bits, exponent's bias, and the largest finite magnitude. */
typedef struct format {
    int mant, bias;
    uint64_t largest, infinity; /* what is above the largest becomes infinity, or NaN where there is none */
} format;

static format format_of(tsr_dtype dtype)
{
    switch (dtype) {
    case TSR_F8E4M3: return (format){ 3, 7, 0x7e, 0x7f };
    case TSR_F8E5M2: return (format){ 2, 15, 0x7b, 0x7c };
    case TSR_F16: return (format){ 10, 15, 0x7bff, 0x7c00 };
    case TSR_BF16: return (format){ 7, 127, 0x7f7f, 0x7f80 };
    case TSR_F32: return (format){ 23, 127, 0x7f7fffff, 0x7f800000 };
    default: return (format){ 52, 1023, 0x7fefffffffffffff, 0x7ff0000000000000 };
    }
}

static uint64_t bits_of(double v)
{
    uint64_t b;
    memcpy(&b, &v, sizeof b);
    return b;
}

static double from_bits(uint64_t b)
{
    double v;
    memcpy(&v, &b, sizeof v);
    return v;
}

/* v * 2^n, for results that are normal numbers or exact. */
static double scaled(double v, int n)
{
    for (; n > 1000; n -= 1000) v *= from_bits((uint64_t)(1023 + 1000) << 52);
    for (; n < -1000; n += 1000) v *= from_bits((uint64_t)(1023 - 1000) << 52);
    return v * from_bits((uint64_t)(1023 + n) << 52);
}

/* The pattern of a finite v, rounded to nearest even; without its sign. */
static uint64_t pattern(format f, double v)
{
    const uint64_t u = bits_of(v) & 0x7fffffffffffffffu;
    if (f.mant == 52) return u;
    const uint64_t least = (uint64_t)(1024 - f.bias) << 52; /* the smallest normal number */
    if (u < least) {                                        /* counts of the smallest step */
        const double steps = scaled(from_bits(u), f.bias - 1 + f.mant);
        const uint64_t whole = (uint64_t)steps;
        const double rest = steps - (double)whole;
        return whole + (rest > 0.5 || (rest == 0.5 && (whole & 1)));
    }
    const int drop = 52 - f.mant;
    const uint64_t half = ((uint64_t)1 << (drop - 1)) - 1 + (u >> drop & 1);
    const uint64_t m = (u - ((uint64_t)(1023 - f.bias) << 52) + half) >> drop;
    return m < f.infinity ? m : f.infinity;
}

/* The value of a finite pattern. */
static double value(format f, uint64_t m)
{
    if (f.mant == 52) return from_bits(m);
    const uint64_t e = m >> f.mant, rest = m & (((uint64_t)1 << f.mant) - 1);
    if (e == 0) return scaled((double)rest, 1 - f.bias - f.mant);
    return scaled((double)(rest | (uint64_t)1 << f.mant), (int)e - f.bias - f.mant);
}

/* Patterns with their sign as numbers that go up and down with the values. */
static int64_t rank_of(format f, double v)
{
    const int64_t m = (int64_t)pattern(f, v);
    return bits_of(v) >> 63 ? -m : m;
}

static double at_rank(format f, int64_t r) { return r < 0 ? -value(f, (uint64_t)-r) : value(f, (uint64_t)r); }

tsrc_range tsrc_range_of(tsr_dtype dtype, double low, double high)
{
    tsrc_range r;
    const format f = format_of(dtype);
    const bool wide = dtype == TSR_F64;
    const double lo = wide ? low : (double)(float)low, hi = wide ? high : (double)(float)high;
    const double width = wide ? hi - lo : (double)((float)hi - (float)lo);
    const bool fits = width <= (wide ? DBL_MAX : (double)FLT_MAX);
    r.unit = fits ? 1 : 2;
    r.low = fits ? lo : lo / 2;
    r.width = fits ? width : hi / 2 - lo / 2;
    if (!wide) r.width = (double)(float)r.width;
    int64_t first = rank_of(f, low), last = rank_of(f, high);
    if (at_rank(f, first) < low) first++;
    if (!(at_rank(f, last) < high)) last--;
    r.first = at_rank(f, first);
    r.last = at_rank(f, last);
    if (r.first > r.last) {
        const double rounded = value(f, pattern(f, low));
        r.first = r.last = bits_of(low) >> 63 ? -rounded : rounded;
    }
    return r;
}
