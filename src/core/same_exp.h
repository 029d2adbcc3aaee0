/* same_exp.h - e to the x, for x that is not positive, with the same bits on every
 * machine: the companion of same_math.h, by its rules.
 *
 * Softmax needs no more: it takes the exponential of differences from the largest.
 * x = n log 2 + r with |r| at most half of log 2; e^r is the Taylor series, cut where
 * the next term no longer shows, and 2^n is put together from its bits. Adding 1.5 times
 * the power of two whose unit is 1 rounds to the nearest whole number and leaves that
 * number in the low bits. No branches, so that loops over it become vector code.
 */
#ifndef TSRI_SAME_EXP_H
#define TSRI_SAME_EXP_H

#include "half.h"

/* To about 1e-7 of the value. 0 below -87.3, where e^x is no longer a normal number, and
 * for -infinity; NaN for NaN. */
static inline float tsri_exp_f32(float x)
{
    const uint32_t keep = tsri_mask32(!(x < -87.3f));
    const float held = tsri_f32_from_bits(tsri_select32(x < -87.3f, 0xc2ae999au, tsri_f32_bits(x)));
    const float t = held * 1.44269504f + 12582912.0f, n = t - 12582912.0f;
    const float r = held - n * 0.693359375f + n * 2.12194440e-4f;
    const float high = 1.0f / 24 + r * (1.0f / 120 + r * (1.0f / 720 + r * (1.0f / 5040)));
    const float e = 1.0f + (r + r * r * (0.5f + r * (1.0f / 6 + r * high)));
    const float power = tsri_f32_from_bits((tsri_f32_bits(t) << 23) + 0x3f800000u);
    return tsri_f32_from_bits(tsri_f32_bits(e * power) & keep);
}

/* To about 3e-16 of the value; 0 below -708. */
static inline double tsri_exp_f64(double x)
{
    const uint64_t keep = tsri_mask64(!(x < -708.0)), bits = tsri_f64_bits(x);
    const double held = tsri_f64_from_bits(bits ^ ((bits ^ 0xc086200000000000u) & ~keep));
    const double t = held * 1.44269504088896340736 + 6755399441055744.0, n = t - 6755399441055744.0;
    const double r = held - n * 6.93147180369123816490e-01 - n * 1.90821492927058770002e-10;
    const double top =
        1.0 / 3628800 + r * (1.0 / 39916800 + r * (1.0 / 479001600 + r * (1.0 / 6227020800.0)));
    const double mid = 1.0 / 720 + r * (1.0 / 5040 + r * (1.0 / 40320 + r * (1.0 / 362880 + r * top)));
    const double e = 1.0 + (r + r * r * (0.5 + r * (1.0 / 6 + r * (1.0 / 24 + r * (1.0 / 120 + r * mid)))));
    const double power = tsri_f64_from_bits((tsri_f64_bits(t) << 52) + 0x3ff0000000000000u);
    return tsri_f64_from_bits(tsri_f64_bits(e * power) & keep);
}

#endif
