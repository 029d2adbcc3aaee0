/* same_math.h - square root, logarithm, sine and cosine with the same bits on
 * every machine.
 *
 * Additions, multiplications and divisions that IEEE 754 rounds one way only, in
 * a fixed order; no library, no table, no instruction that some machines lack.
 * That holds where float and double are computed as such and products are not
 * fused into sums: build with -ffp-contract=off (nvcc: -fmad=false). The x87 unit
 * computes wider and does not qualify.
 *
 * Polynomials are the Taylor series, cut where the next term no longer shows.
 */
#ifndef TSRI_SAME_MATH_H
#define TSRI_SAME_MATH_H

#include "half.h"

/* sqrt(x) for x = 0 and normal positive x below 2^124, to 1 unit in the last
 * place: an estimate of 1 / sqrt(x) from the exponent, Newton's steps to double
 * its digits, and one on the root itself. */
static inline float tsri_sqrt_f32(float x)
{
    float y = tsri_f32_from_bits(0x5f3759dfu - (tsri_f32_bits(x) >> 1));
    for (int step = 0; step < 3; step++) y = y * (1.5f - 0.5f * x * y * y);
    const float root = x * y;
    return root + 0.5f * y * (x - root * root);
}

/* The same below 2^1020. */
static inline double tsri_sqrt_f64(double x)
{
    double y = tsri_f64_from_bits(0x5fe6eb50c7b537a9u - (tsri_f64_bits(x) >> 1));
    for (int step = 0; step < 4; step++) y = y * (1.5 - 0.5 * x * y * y);
    const double root = x * y;
    return root + 0.5 * y * (x - root * root);
}

/* The natural logarithm of a positive normal x, to about 2 units in the last
 * place. x = m * 2^e with m within sqrt(1/2) .. sqrt(2), and log m = 2 artanh s
 * with s = (m - 1) / (m + 1), which is at most 0.172. */
static inline float tsri_log_f32(float x)
{
    const uint32_t half = 0x3f3504f3u; /* sqrt(1/2) */
    const uint32_t from = tsri_f32_bits(x) - half;
    const float e = (float)((int32_t)from >> 23);
    const float m = tsri_f32_from_bits((from & 0x007fffffu) + half);
    const float s = (m - 1.0f) / (m + 1.0f), z = s * s;
    const float series = z * (1.0f / 3 + z * (1.0f / 5 + z * (1.0f / 7 + z * (1.0f / 9))));
    return e * 0.693147181f + (2.0f * s + 2.0f * s * series);
}

static inline double tsri_log_f64(double x)
{
    const uint64_t half = 0x3fe6a09e667f3bcdu;
    const uint64_t from = tsri_f64_bits(x) - half;
    const double e = (double)(int32_t)((int64_t)from >> 52);
    const double m = tsri_f64_from_bits((from & 0x000fffffffffffffu) + half);
    const double s = (m - 1.0) / (m + 1.0), z = s * s;
    const double high = 1.0 / 13 + z * (1.0 / 15 + z * (1.0 / 17 + z * (1.0 / 19 + z * (1.0 / 21))));
    const double low = 1.0 / 5 + z * (1.0 / 7 + z * (1.0 / 9 + z * (1.0 / 11 + z * high)));
    const double series = z * (1.0 / 3 + z * low);
    return e * 0.693147180559945309 + (2.0 * s + 2.0 * s * series);
}

/* cos and sin of turn / 2^32 of a full circle, to about 1e-7. The turn is split
 * into quarters, counted exactly in integers, and a rest of at most an eighth to
 * either side. An odd quarter exchanges the two; the signs follow. On bits, so
 * that a loop over it has no branches. */
static inline void tsri_cos_sin_f32(float *cosine, float *sine, uint32_t turn)
{
    const uint32_t quarter = (turn + 0x20000000u) >> 30;
    const float x = (float)(int32_t)(turn << 2) * (1.57079633f / 4294967296.0f), z = x * x;
    const float s = x + x * z * (-1.0f / 6 + z * (1.0f / 120 + z * (-1.0f / 5040 + z * (1.0f / 362880))));
    const float c = 1.0f + z * (-0.5f + z * (1.0f / 24 + z * (-1.0f / 720 + z * (1.0f / 40320))));
    const uint32_t c_bits = tsri_f32_bits(c), s_bits = tsri_f32_bits(s);
    const uint32_t change = (c_bits ^ s_bits) & (0u - (quarter & 1));
    *cosine = tsri_f32_from_bits(c_bits ^ change ^ ((quarter + 1) & 2) << 30);
    *sine = tsri_f32_from_bits(s_bits ^ change ^ (quarter & 2) << 30);
}

/* cos and sin of turn / 2^64 of a full circle, to about 2e-16. */
static inline void tsri_cos_sin_f64(double *cosine, double *sine, uint64_t turn)
{
    const uint64_t quarter = (turn + 0x2000000000000000u) >> 62;
    const double x = (double)(int64_t)(turn << 2) * (1.57079632679489662 / 18446744073709551616.0), z = x * x;
    const double sine_high = 1.0 / 362880 + z * (-1.0 / 39916800 + z * (1.0 / 6227020800.0 +
                             z * (-1.0 / 1307674368000.0)));
    const double cosine_high = 1.0 / 40320 + z * (-1.0 / 3628800 + z * (1.0 / 479001600 +
                               z * (-1.0 / 87178291200.0 + z * (1.0 / 20922789888000.0))));
    const double s = x + x * z * (-1.0 / 6 + z * (1.0 / 120 + z * (-1.0 / 5040 + z * sine_high)));
    const double c = 1.0 + z * (-0.5 + z * (1.0 / 24 + z * (-1.0 / 720 + z * cosine_high)));
    const uint64_t c_bits = tsri_f64_bits(c), s_bits = tsri_f64_bits(s);
    const uint64_t change = (c_bits ^ s_bits) & (0u - (quarter & 1));
    *cosine = tsri_f64_from_bits(c_bits ^ change ^ ((quarter + 1) & 2) << 62);
    *sine = tsri_f64_from_bits(s_bits ^ change ^ (quarter & 2) << 62);
}

#endif
