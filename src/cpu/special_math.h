/* special_math.h - lgamma, digamma, i0 and erfinv of doubles: what the C library lacks, or has with less
 * accuracy near zeros (and with a global variable: lgamma's signgam).
 *
 * Errors in units in the last place are in op.def; that of lgamma holds next to its zeros below 0, too. */
#ifndef TSRI_SPECIAL_MATH_H
#define TSRI_SPECIAL_MATH_H

#include "fine_math.h"
#include "special_tables.h"

#define TSRI_ALL(c) c, (int)(sizeof(c) / sizeof *(c))

/* lgamma ----------------------------------------------------------------------------------- */

/* A polynomial for lgamma(x) / ((x - 1) (x - 2)) around x, in t = (x - middle) * scale. */
typedef struct tsri_piece {
    const double *c;
    int    n;
    double middle, scale;
} tsri_piece;

static inline tsri_piece tsri_lgamma_piece(double x)
{
    if (x < 1) return (tsri_piece){ TSRI_ALL(tsri_lgamma_half), 0.75, 4 };
    if (x < 2) return (tsri_piece){ TSRI_ALL(tsri_lgamma_one), 1.5, 2 };
    return (tsri_piece){ TSRI_ALL(tsri_lgamma_two), 2.5, 2 };
}

/* From 1/2 to 3, exact near 1 and 2. */
static inline double tsri_lgamma_near(double x)
{
    const tsri_piece p = tsri_lgamma_piece(x);
    return (x - 1) * (x - 2) * tsri_polynomial((x - p.middle) * p.scale, p.c, p.n) + 0.0;  /* not -0 at 1 */
}

/* Stirling's series: log gamma(x) for x >= 8. */
static inline double tsri_lgamma_large(double x)
{
    static const double series[] = { 1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188,
                                     -691.0 / 360360, 1.0 / 156, -3617.0 / 122400 };
    const double r = 1 / x, rest = r * tsri_polynomial(r * r, TSRI_ALL(series));
    return (x - 0.5) * (log(x) - 1) + (0.41893853320467274178 + rest);
}

/* For x above 0. */
static inline double tsri_lgamma_right(double x)
{
    double product = 1;
    if (x < 0.5) return tsri_lgamma_near(x + 1) - log(x);
    if (x >= 8) return x - x == 0 ? tsri_lgamma_large(x) : x;
    for (; x >= 3; product *= x) x -= 1;
    return product == 1 ? tsri_lgamma_near(x) : log(product) + tsri_lgamma_near(x);
}

/* Between the first two zeros below 0, which no pole separates, and a little beyond. */
static inline double tsri_lgamma_pair(double x)
{
    const double *a = tsri_lgamma_zeros[0][1], *b = tsri_lgamma_zeros[1][0];
    const double from_a = (x + 2 - a[0]) - a[1], from_b = (x + 3 - b[0]) - b[1];
    return from_a * from_b * tsri_polynomial((x + 2.609375) / 0.171875, TSRI_ALL(tsri_lgamma_pair_rest));
}

/* (lgamma(1 + a) - lgamma(1 + b)) / (a - b), for a and b on one side of 0. The difference of polynomials is
 * divided term by term, so that nothing cancels. */
static inline double tsri_lgamma_slope(double a, double b)
{
    const tsri_piece p = tsri_lgamma_piece(1 + a);
    const double ta = (a + (1 - p.middle)) * p.scale, tb = (b + (1 - p.middle)) * p.scale;
    double at_b = p.c[p.n - 1], quotient = at_b, at_a = at_b;
    for (int k = p.n - 2; k >= 0; k--) {
        at_b = at_b * tb + p.c[k];
        at_a = at_a * ta + p.c[k];
        if (k > 0) quotient = quotient * ta + at_b;
    }
    return (a + b - 1) * at_a + b * (b - 1) * p.scale * quotient;
}

/* lgamma(-n + e) near its zero at -n + z: gamma's factors are divided by those at the zero. */
static inline double tsri_lgamma_by_zero(int n, double e, const double zero[2])
{
    const double z = zero[0], d = (e - z) - zero[1];
    double rest = 0;  /* the product of all but the first is 1 + rest */
    for (int j = 1; j <= n; j++) {
        const double factor = -d / (j - z);
        rest += factor + rest * factor;
    }
    return d * tsri_lgamma_slope(e, z) - log1p(d / z + (rest + d / z * rest));
}

/* lgamma(-n + e) for |e| <= 1/2, not 0: gamma(-n + e) = +-gamma(1 + e) / (e (1 - e) .. (n - e)). */
static inline double tsri_lgamma_beside(int n, double e)
{
    if (n >= 2 && n <= 17) {
        const double *zero = tsri_lgamma_zeros[n - 2][e < 0], ratio = e / zero[0];
        if (ratio > 1.0 / 3 && ratio < 3) return tsri_lgamma_by_zero(n, e, zero);
    }
    double product = fabs(e);
    for (int j = 1; j <= n; j++) product *= j - e;
    return tsri_lgamma_near(1 + e) - log(product);
}

/* log|gamma(x)|; infinite at 0, -1, -2 .. and at both infinities. */
static inline double tsri_lgamma(double x)
{
    if (!(x < 0)) return x == 0 ? (double)INFINITY : tsri_lgamma_right(x);
    const double whole = rint(x), e = x - whole;
    if (e == 0 || x - x != 0) return (double)INFINITY;
    if (x > -0x1p-60) return -log(-x);
    if (x > -2.78125 && x < -2.4375) return tsri_lgamma_pair(x);
    if (whole >= -30) return tsri_lgamma_beside((int)-whole, e);
    return log(3.14159265358979323846 / (-x * fabs(sin(3.14159265358979323846 * e)))) - tsri_lgamma_right(-x);
}

/* digamma ------------------------------------------------------------------------------------ */

/* For x above 0: near its zero as a multiple of the distance from it. */
static inline double tsri_digamma_right(double x)
{
    static const double series[] = { 1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132, -691.0 / 32760,
                                     1.0 / 12 };
    double above = 0, below = 1;  /* above / below is what is to be added */
    if (x >= 10) {
        const double r = 1 / x, square = r * r;
        return log(x) - (0.5 * r + square * tsri_polynomial(square, TSRI_ALL(series)));
    }
    if (x < 1) {
        above = -1;
        below = x;
        x += 1;
    }
    while (x >= 2) {
        x -= 1;
        above = above * x + below;
        below *= x;
    }
    const double distance = (x - TSRI_DIGAMMA_ZERO) - TSRI_DIGAMMA_ZERO_LOW;
    return above / below + distance * tsri_polynomial((x - 1.5) * 2, TSRI_ALL(tsri_digamma_one));
}

/* pi / tan(pi e) for |e| <= 1/2, not 0. */
static inline double tsri_cotangent(double e)
{
    const double pi = 3.14159265358979323846, a = fabs(e);
    return copysign(a < 0.25 ? pi / tan(pi * a) : pi * tan(pi * (0.5 - a)), e);
}

/* The derivative of log gamma; NaN at -1, -2 .., -infinity at 0 and +infinity at -0. Below 0 by reflection,
 * which loses digits near the zeros of digamma there. */
static inline double tsri_digamma(double x)
{
    if (fabs(x) < 0x1p-30) return -1 / x - 0.57721566490153286061;
    if (!(x < 0)) return tsri_digamma_right(x);
    const double e = x - rint(x);
    if (e == 0 || x - x != 0) return (double)NAN;
    return tsri_digamma_right(1 - x) - tsri_cotangent(e);
}

/* i0 ------------------------------------------------------------------------------------------- */

/* 1 / k!^2 */
static const double tsri_i0_series[] = {
    1, 1, 0.25, 1 / 36.0, 1 / 576.0, 1 / 14400.0, 1 / 518400.0, 1 / 25401600.0, 1 / 1625702400.0,
    1 / 131681894400.0, 1 / 13168189440000.0, 1 / 1593350922240000.0, 1 / 229442532802560000.0,
    1 / 38775788043632640000.0, 1 / 7600054456551997440000.0, 1 / 1710012252724199424000000.0,
    1 / 437763136697395052544000000.0, 1 / 126513546505547170185216000000.0,
    1 / 40990389067797283140009984000000.0, 1 / 14797530453474819213543604224000000.0,
    1 / 5919012181389927685417441689600000000.0, 1 / 2610284372992958109269091785113600000000.0,
    1 / 1263377636528591724886240423994982400000000.0,
};

/* The modified Bessel function of order 0: a series of squares, whose terms are positive. */
static inline double tsri_i0(double x)
{
    const double a = fabs(x);
    if (a <= 8) return tsri_polynomial(0.25 * a * a, TSRI_ALL(tsri_i0_series));
    if (a > 720) return (double)INFINITY;
    if (a != a) return a;
    const double half = exp(0.5 * a);  /* exp(a) overflows before i0 does */
    return half * (tsri_polynomial(16 / a - 1, TSRI_ALL(tsri_i0_large)) / sqrt(a)) * half;
}

/* erfinv --------------------------------------------------------------------------------------- */

/* erfinv(1 - w) / t in t = sqrt(-log w). */
static inline double tsri_erfinv_tail(double t)
{
    if (t < 1.875) return tsri_polynomial((t - 1.515625) * (2 / 0.71875), TSRI_ALL(tsri_erfinv_tail_0));
    if (t < 3) return tsri_polynomial((t - 2.4375) * (2 / 1.125), TSRI_ALL(tsri_erfinv_tail_1));
    if (t < 4.5) return tsri_polynomial((t - 3.75) * (2 / 1.5), TSRI_ALL(tsri_erfinv_tail_2));
    return tsri_polynomial((t - 5.3125) * (2 / 1.625), TSRI_ALL(tsri_erfinv_tail_3));
}

/* y with erf(y) = x; infinite at -1 and 1, NaN beyond. */
static inline double tsri_erfinv(double x)
{
    const double a = fabs(x);
    if (a <= 0.75) return x * tsri_polynomial(x * x * (2 / 0.5625) - 1, TSRI_ALL(tsri_erfinv_middle));
    if (!(a < 1)) return a == 1 ? x * (double)INFINITY : (double)NAN;
    const double t = sqrt(-log(1 - a));
    return copysign(t * tsri_erfinv_tail(t), x);
}

#endif
