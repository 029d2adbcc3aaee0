/* decimal.c - an estimate in floating point, corrected by comparing the decimal exactly with the points
 * half-way to the neighbouring doubles. */
#include "core/half.h"
#include "core/mem.h"
#include "decimal.h"

enum { DIGITS = 800, LIMBS = 160 };  /* no double needs more digits to be told from its neighbours */

typedef struct decimal {
    bool    negative, whole;  /* whole: neither point nor exponent */
    int     n;
    int64_t exponent;         /* digits * 10^exponent */
    uint8_t digit[DIGITS];
} decimal;

/* Text --------------------------------------------------------------------------------- */

typedef struct reader { const char *at, *end; } reader;

static bool is_digit(const reader *r) { return r->at < r->end && *r->at >= '0' && *r->at <= '9'; }

/* Of digits that do not fit, only whether one is not 0 matters. */
static void add_digit(decimal *d, uint8_t v, bool after_point)
{
    if (d->n == 0 && v == 0) {
        d->exponent -= after_point;
    } else if (d->n < DIGITS) {
        d->digit[d->n++] = v;
        d->exponent -= after_point;
    } else {
        if (v) d->digit[DIGITS - 1] |= 1;
        d->exponent += !after_point;
    }
}

static bool read_exponent(reader *r, decimal *d)
{
    int64_t e = 0;
    bool negative = false;
    if (r->at >= r->end || (*r->at != 'e' && *r->at != 'E')) return true;
    r->at++;
    if (r->at < r->end && (*r->at == '-' || *r->at == '+')) negative = *r->at++ == '-';
    if (!is_digit(r)) return false;
    for (; is_digit(r); r->at++)
        if (e < 1000000000) e = e * 10 + (*r->at - '0');
    d->exponent += negative ? -e : e;
    d->whole = false;
    return true;
}

static bool read_decimal(reader *r, decimal *d)
{
    bool any = false;
    for (; is_digit(r); r->at++, any = true) add_digit(d, (uint8_t)(*r->at - '0'), false);
    if (r->at < r->end && *r->at == '.') {
        d->whole = false;
        for (r->at++; is_digit(r); r->at++, any = true) add_digit(d, (uint8_t)(*r->at - '0'), true);
    }
    return any && read_exponent(r, d) && r->at == r->end;
}

static bool is_word(const reader *r, const char *word)
{
    const char *p = r->at;
    for (; *word; word++, p++)
        if (p >= r->end || (*p | 0x20) != *word) return false;
    return p == r->end;
}

/* Big integers ------------------------------------------------------------------------- */

/* The largest has 4779 bits: 2^54 * 10^1130 * 2^971. */
typedef struct big { int n; uint32_t limb[LIMBS]; } big;

static void times(big *b, uint32_t factor, uint32_t plus)
{
    uint64_t carry = plus;
    for (int i = 0; i < b->n; i++) {
        carry += (uint64_t)b->limb[i] * factor;
        b->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry) b->limb[b->n++] = (uint32_t)carry;
}

static void times_ten_to(big *b, int64_t e)
{
    for (; e >= 9; e -= 9) times(b, 1000000000, 0);
    for (; e > 0; e--) times(b, 10, 0);
}

static void times_two_to(big *b, int e)
{
    for (; e >= 31; e -= 31) times(b, UINT32_C(1) << 31, 0);
    if (e > 0) times(b, UINT32_C(1) << e, 0);
}

static int compare(const big *a, const big *b)
{
    if (a->n != b->n) return a->n < b->n ? -1 : 1;
    for (int i = a->n - 1; i >= 0; i--)
        if (a->limb[i] != b->limb[i]) return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

/* The decimal against m * 2^e: less, equal or more. */
static int compare_to(const decimal *d, uint64_t m, int e)
{
    big a = { .n = 0 }, b = { .n = 0 };
    for (int i = 0; i < d->n; i++) times(&a, 10, d->digit[i]);
    b.limb[0] = (uint32_t)m;
    b.limb[1] = (uint32_t)(m >> 32);
    b.n = b.limb[1] ? 2 : b.limb[0] ? 1 : 0;
    times_ten_to(&a, d->exponent > 0 ? d->exponent : 0);
    times_ten_to(&b, d->exponent < 0 ? -d->exponent : 0);
    times_two_to(&a, e < 0 ? -e : 0);
    times_two_to(&b, e > 0 ? e : 0);
    return compare(&a, &b);
}

/* Doubles ------------------------------------------------------------------------------ */

/* 10^e to within a few steps; the exponent of two is kept apart, so nothing overflows. */
static double power_of_ten(int64_t e, int *two)
{
    double result = 1, base = 10;
    int result_two = 0, base_two = 0;
    const bool down = e < 0;
    for (uint64_t n = (uint64_t)(down ? -e : e); n; n >>= 1) {
        if (n & 1) {
            result *= base;
            result_two += base_two;
            while (result >= 2) { result /= 2; result_two++; }
        }
        base *= base;
        base_two *= 2;
        while (base >= 2) { base /= 2; base_two++; }
    }
    *two = down ? -result_two : result_two;
    return down ? 1 / result : result;
}

static double scaled(double x, int two)
{
    for (; two > 0; two--) x *= 2;
    for (; two < 0 && x > 0; two++) x /= 2;
    return x;
}

static uint64_t guess(const decimal *d)
{
    double x = 0;
    int two;
    const int n = d->n < 17 ? d->n : 17;
    for (int i = 0; i < n; i++) x = x * 10 + d->digit[i];
    x *= power_of_ten(d->exponent + (d->n - n), &two);
    x = scaled(x, two);
    return x > 1.7976931348623157e308 ? UINT64_C(0x7FEFFFFFFFFFFFFF) : tsri_f64_bits(x);
}

/* A positive pattern as m * 2^*e. */
static uint64_t significand(uint64_t bits, int *e)
{
    const int field = (int)(bits >> 52);
    const uint64_t low = bits & UINT64_C(0xFFFFFFFFFFFFF);
    *e = (field ? field : 1) - 1075;
    return field ? low | UINT64_C(1) << 52 : low;
}

/* The nearest double: up while the decimal is above the point half-way to the next double, down while it is
 * below the point half-way to the one before. */
static uint64_t rounded(const decimal *d)
{
    uint64_t bits = guess(d);
    for (int e;;) {
        const uint64_t m = significand(bits, &e);
        const int above = compare_to(d, 2 * m + 1, e - 1);
        if (above < 0 || (above == 0 && !(m & 1))) break;
        bits++;
        if (bits == UINT64_C(0x7FF0000000000000)) return bits;
    }
    for (int e; bits > 0;) {
        const uint64_t before = significand(bits - 1, &e);
        const int below = compare_to(d, 2 * before + 1, e - 1);
        if (below > 0 || (below == 0 && (before & 1))) break;
        bits--;
    }
    return bits;
}

static double to_double(const decimal *d)
{
    static const double ten[] = { 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
                                  1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
    double x = 0;
    if (d->n == 0 || d->n + d->exponent < -330) return 0;
    if (d->n + d->exponent > 310) return tsri_f64_from_bits(UINT64_C(0x7FF0000000000000));
    if (d->n <= 15 && d->exponent >= -22 && d->exponent <= 22) {  /* both exact, so one rounding */
        for (int i = 0; i < d->n; i++) x = x * 10 + d->digit[i];
        return d->exponent < 0 ? x / ten[-d->exponent] : x * ten[d->exponent];
    }
    return tsri_f64_from_bits(rounded(d));
}

/* False if it does not fit. */
static bool to_integer(tsr_scalar *out, const decimal *d)
{
    uint64_t v = 0;
    if (!d->whole || d->n > 20) return false;
    for (int i = 0; i < d->n; i++)
        if (__builtin_mul_overflow(v, 10u, &v) || __builtin_add_overflow(v, d->digit[i], &v)) return false;
    if (d->negative && (v == 0 || v > UINT64_C(1) << 63)) return false;  /* -0 is a double */
    if (d->negative) *out = tsr_scalar_i64((int64_t)(0 - v));
    else             *out = v <= INT64_MAX ? tsr_scalar_i64((int64_t)v) : tsr_scalar_u64(v);
    return true;
}

bool tsri_parse_number(tsr_scalar *out, const char *text, size_t length)
{
    reader r = { text, text + length };
    decimal d;
    d.negative = false;
    d.whole = true;
    d.n = 0;
    d.exponent = 0;
    if (r.at < r.end && (*r.at == '-' || *r.at == '+')) d.negative = *r.at++ == '-';
    double x;
    if (is_word(&r, "nan")) x = tsri_f64_from_bits(UINT64_C(0x7FF8000000000000));
    else if (is_word(&r, "inf") || is_word(&r, "infinity"))
        x = tsri_f64_from_bits(UINT64_C(0x7FF0000000000000));
    else if (!read_decimal(&r, &d)) return false;
    else if (to_integer(out, &d)) return true;
    else x = to_double(&d);
    *out = tsr_scalar_f64(d.negative ? -x : x);
    return true;
}
