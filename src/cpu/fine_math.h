/* fine_math.h - functions of doubles that are within 0.9 units in the last place, where libm's are within 2.
 *
 * Exponentials and quotients are held in two doubles until the last step, so that only that one rounds to
 * double precision. The vector kernels (simd/math_f64.inc) do the same steps. */
#ifndef TSRI_FINE_MATH_H
#define TSRI_FINE_MATH_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* (exp(r) - 1 - r) / r^2 for |r| <= ln(2) / 2, to 2^-58. */
static const double tsri_exp_tail[] = {
    0x1.000000000000ap-1, 0x1.55555555554f9p-3, 0x1.555555555083ep-5, 0x1.1111111127d10p-7,
    0x1.6c16c18438b84p-10, 0x1.a01a012a0eeb0p-13, 0x1.a01999e24fa53p-16, 0x1.71df25b383d61p-19,
    0x1.28ad9b964f933p-22, 0x1.ad7f3e5c6e47dp-26,
};

/* The same with each term accurate by itself: to 2^-58 of exp(r) - 1. */
static const double tsri_exp_fine[] = {
    0x1.0000000000000p-1, 0x1.5555555555555p-3, 0x1.5555555555555p-5, 0x1.1111111110e68p-7,
    0x1.6c16c16c16a92p-10, 0x1.a01a01a4b5f72p-13, 0x1.a01a01a2bc29ep-16, 0x1.71de17d5ef6f3p-19,
    0x1.27e4e7c1afb9dp-22, 0x1.af2391d7f5e6cp-26, 0x1.1f5ad27a72453p-29,
};

/* (2 atanh(s) / s - 2) / s^2 in s^2, for |s| <= (sqrt(2) - 1) / (sqrt(2) + 1), to 2^-58. */
static const double tsri_log_tail[] = {
    0x1.5555555555593p-1, 0x1.999999997fb31p-2, 0x1.2492494217a6ep-2, 0x1.c71c51e7f2e35p-3,
    0x1.7466462d7a2afp-3, 0x1.39a0f4ea2e7bdp-3, 0x1.2f0d8f8e1c68fp-3,
};

#define TSRI_LN2_HIGH   0x1.62e42fefa38p-1      /* short: products with exponents are exact */
#define TSRI_LN2_LOW    0x1.ef35793c7673p-45
#define TSRI_LOG10E     0x1.bcb7b1526e50ep-2
#define TSRI_LOG10E_LOW 0x1.95355baaafad3p-57
#define TSRI_LG2_HIGH   0x1.34413509f78p-2      /* log10(2), likewise */
#define TSRI_LG2_LOW    0x1.fef311f12b358p-46
#define TSRI_GELU_CUBIC 0.044715
#define TSRI_GELU_CUBIC_LOW 2.1960211427085595e-18
#define TSRI_GELU_TWICE 1.59576912160573071176  /* 2 sqrt(2 / pi) */
#define TSRI_GELU_TWICE_LOW (-9.96930880911092e-17)

static inline double tsri_polynomial(double x, const double *c, int n)
{
    double p = c[n - 1];
    for (int i = n - 2; i >= 0; i--) p = p * x + c[i];
    return p;
}

/* A number high + low, times 2^k. */
typedef struct tsri_parts { double high, low, k; } tsri_parts;

/* The sum, rounded once. */
static inline double tsri_join(tsri_parts p)
{
    const double sum = p.high + p.low;
    if (p.k > -1000 && p.k < 1000) {
        const union { uint64_t u; double f; } power = { (uint64_t)((int64_t)p.k + 1023) << 52 };
        return sum * power.f;
    }
    return ldexp(sum, p.k < -3000 ? -3000 : p.k > 3000 ? 3000 : (int)p.k);
}

/* The same number with k = 0; numbers below 2^-1000 may become 0. */
static inline tsri_parts tsri_plain(tsri_parts p)
{
    const int64_t k = p.k < -1000 ? -1023 : p.k > 1023 ? 1023 : (int64_t)p.k;
    const union { uint64_t u; double f; } power = { (uint64_t)(k + 1023) << 52 };
    return (tsri_parts){ p.high * power.f, p.low * power.f, 0 };
}

/* exp(x), for |x| < 2000; high is near 1. */
static inline tsri_parts tsri_exp_parts(double x)
{
    const double magic = 0x1.8p52, k = (x * 0x1.71547652b82fep+0 + magic) - magic;
    const double r1 = x - k * TSRI_LN2_HIGH, r = r1 - k * TSRI_LN2_LOW, rest = (r1 - r) - k * TSRI_LN2_LOW;
    const double tail = r * r * tsri_polynomial(r, tsri_exp_fine, 11) + rest, most = 1 + r;
    const double low = (r - (most - 1)) + tail, high = most + low;
    return (tsri_parts){ high, (most - high) + low, k };
}

/* top / bottom; top.k stays, bottom.k is 0. */
static inline tsri_parts tsri_quotient(tsri_parts top, tsri_parts bottom)
{
    const double by = 1 / bottom.high, q = top.high * by;
    const double left = fma(-q, bottom.high, top.high) + (top.low - q * bottom.low);
    return (tsri_parts){ q, left * by, top.k };
}

/* 1 / (1 + exp(-t - t_low)), in the form that does not overflow. */
static inline tsri_parts tsri_sigmoid_parts(double t, double t_low)
{
    tsri_parts e = tsri_exp_parts(t < 0 ? fmax(t, -1500) : fmax(-t, -1500));
    e.low += e.high * (t < 0 ? t_low : -t_low);
    const tsri_parts plain = tsri_plain(e), one = { 1, 0, 0 };
    const double sum = 1 + plain.high;
    return tsri_quotient(t < 0 ? e : one, (tsri_parts){ sum, ((1 - sum) + plain.high) + plain.low, 0 });
}

static inline double tsri_sigmoid(double x) { return x != x ? x : tsri_join(tsri_sigmoid_parts(x, 0)); }

/* x times p, which is not above 1. */
static inline double tsri_times_parts(double x, tsri_parts p)
{
    const double y = x * p.high;
    return copysign(tsri_join((tsri_parts){ y, fma(x, p.high, -y) + x * p.low, p.k }), x);
}

static inline double tsri_silu(double x)
{
    if (!(x < 50)) return x;
    return x < -1000 ? -0.0 : tsri_times_parts(x, tsri_sigmoid_parts(x, 0));
}

/* 2 sqrt(2 / pi) (x + 0.044715 x^3), and its rounding error. */
static inline double tsri_gelu_argument(double x, double *lost)
{
    const double square = x * x, square_lost = fma(x, x, -square), part = TSRI_GELU_CUBIC * square;
    const double part_lost =
        fma(TSRI_GELU_CUBIC, square, -part) + (TSRI_GELU_CUBIC * square_lost + TSRI_GELU_CUBIC_LOW * square);
    const double sum = 1 + part, sum_lost = (part > 1 ? (part - sum) + 1 : (1 - sum) + part) + part_lost;
    const double inner = x * sum, inner_lost = fma(x, sum, -inner) + x * sum_lost,
                 t = TSRI_GELU_TWICE * inner;
    *lost = fma(TSRI_GELU_TWICE, inner, -t) + (TSRI_GELU_TWICE * inner_lost + TSRI_GELU_TWICE_LOW * inner);
    return t;
}

/* x / 2 (1 + tanh(t / 2)) = x sigmoid(t), without cancellation. */
static inline double tsri_gelu_tanh(double x)
{
    double lost;
    if (!(x < 40)) return x;
    if (x < -40) return -0.0;
    const double t = tsri_gelu_argument(x, &lost);
    return tsri_times_parts(x, tsri_sigmoid_parts(t, lost));
}

/* (1 - e) / (1 + e) for e = exp(-2 |x|). */
static inline double tsri_tanh(double x)
{
    if (!(fabs(x) > 0x1p-28)) return x;
    const double a = fmin(fabs(x), 22);
    const tsri_parts e = tsri_plain(tsri_exp_parts(-2 * a));
    const double below = 1 + e.high, above = 1 - e.high, rest = ((1 - above) - e.high) - e.low,
                 top = above + rest;
    const tsri_parts n = { top, (above - top) + rest, 0 };
    const tsri_parts q = tsri_quotient(n, (tsri_parts){ below, ((1 - below) + e.high) + e.low, 0 });
    return copysign(q.high + q.low, x);
}

/* (exp(|x|) -+ exp(-|x|)) / 2. */
static inline double tsri_half_sum(double a, double sign)
{
    tsri_parts e = tsri_exp_parts(fmin(a, 711));
    e.k -= 1;
    if (a > 40) return tsri_join(e);
    const tsri_parts h = tsri_plain(e);
    const double v = 0.25 / h.high, v_low = v * (fma(-v, h.high, 0.25) - v * h.low) * 4;
    const double sum = h.high + sign * v;
    return sum + (((h.high - sum) + sign * v) + (h.low + sign * v_low));
}

static inline double tsri_sinh(double x)
{
    return !(fabs(x) > 0x1p-28) ? x : copysign(tsri_half_sum(fabs(x), -1), x);
}

static inline double tsri_cosh(double x) { return x != x ? x : tsri_half_sum(fabs(x), 1); }

/* x = 2^k (1 + f) with 1 + f in sqrt(1/2) .. sqrt(2); x is positive and finite. */
static inline double tsri_log_parts(double x, double *k)
{
    const bool tiny = x < 0x1p-1022;
    union { double f; uint64_t u; } v = { tiny ? x * 0x1p54 : x };
    const int64_t whole = (int64_t)((v.u - 0x3fe6a09e667f3bcd + ((uint64_t)1024 << 52)) >> 52) - 1024;
    v.u -= (uint64_t)whole << 52;
    *k = (double)(whole - (tiny ? 54 : 0));
    return v.f - 1;
}

static inline double tsri_log10(double x)
{
    double k;
    if (!(x > 0) || x == (double)INFINITY) return log10(x);
    const double f = tsri_log_parts(x, &k), s = f / (2 + f), z = s * s, square = f * f, half = 0.5 * square;
    const double high = f - half, lost = ((f - high) - half) - 0.5 * fma(f, f, -square);
    const double low = lost + s * (half + z * tsri_polynomial(z, tsri_log_tail, 7));
    const double p = high * TSRI_LOG10E;
    const double p_low = fma(high, TSRI_LOG10E, -p) + (high * TSRI_LOG10E_LOW + low * TSRI_LOG10E);
    const double y = k * TSRI_LG2_HIGH, sum = y + p;
    return sum + (((y - sum) + p) + (p_low + k * TSRI_LG2_LOW));
}

/* x less a whole multiple of y, exact as fmod is: below |y|, of the sign of x, or of the other one where the
 * quotient was rounded up to a whole number. */
static inline double tsri_left_over(double x, double y)
{
    const double ratio = x / y;
    if (!(fabs(ratio) < 0x1p52)) return fmod(x, y);
    return fabs(ratio) < 1 ? x : fma(-(double)(int64_t)ratio, y, x);
}

static inline double tsri_remainder(double x, double y)
{
    const double r = tsri_left_over(x, y);
    if (r != r) return r;
    if (r != 0 && (r < 0) != (y < 0)) return isinf(y) ? y : r + y;
    return r != 0 ? r : copysign(0, y);
}

/* The root of the sum of two squares, each of a high and a low part. libm's where a square could overflow or
 * lose bits. */
static inline double tsri_hypot(double x, double y)
{
    const double a = fabs(x), b = fabs(y), large = a > b ? a : b, small = a > b ? b : a;
    if (!(large >= 0x1p-400 && large <= 0x1p400 && (small >= 0x1p-400 || small == 0)))
        return isinf(x) || isinf(y) ? (double)INFINITY : hypot(x, y);
    const double p = x * x, q = y * y, sum = p + q, back = sum - p, root = sqrt(sum);
    const double lost = ((p - (sum - back)) + (q - back)) + (fma(x, x, -p) + fma(y, y, -q));
    return fma(fma(-root, root, sum) + lost, 0.5 / root, root);
}

#endif
