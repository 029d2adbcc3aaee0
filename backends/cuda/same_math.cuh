/* same_math.cuh - square root, logarithm, sine and cosine with the bits that they have on the CPU:
 * additions, products and quotients in a fixed order, built with -fmad=false. */
#ifndef TSRC_SAME_MATH_CUH
#define TSRC_SAME_MATH_CUH

#include "numbers.cuh"

namespace tsrc {

TSRC_FN uint64_t bits64(double x) { return uint64_t(__double_as_longlong(x)); }
TSRC_FN double from_bits64(uint64_t b) { return __longlong_as_double((long long)b); }

TSRC_FN float same_sqrt(float x)
{
    float y = __uint_as_float(0x5f3759dfu - (__float_as_uint(x) >> 1));
    for (int step = 0; step < 3; step++) y = y * (1.5f - 0.5f * x * y * y);
    const float root = x * y;
    return root + 0.5f * y * (x - root * root);
}

TSRC_FN double same_sqrt(double x)
{
    double y = from_bits64(0x5fe6eb50c7b537a9u - (bits64(x) >> 1));
    for (int step = 0; step < 4; step++) y = y * (1.5 - 0.5 * x * y * y);
    const double root = x * y;
    return root + 0.5 * y * (x - root * root);
}

TSRC_FN float same_log(float x)
{
    const uint32_t half = 0x3f3504f3u, from = __float_as_uint(x) - half;
    const float e = float(int32_t(from) >> 23), m = __uint_as_float((from & 0x007fffffu) + half);
    const float s = (m - 1.0f) / (m + 1.0f), z = s * s;
    const float series = z * (1.0f / 3 + z * (1.0f / 5 + z * (1.0f / 7 + z * (1.0f / 9))));
    return e * 0.693147181f + (2.0f * s + 2.0f * s * series);
}

TSRC_FN double same_log(double x)
{
    const uint64_t half = 0x3fe6a09e667f3bcdu, from = bits64(x) - half;
    const double e = double(int32_t(int64_t(from) >> 52)),
                 m = from_bits64((from & 0x000fffffffffffffu) + half);
    const double s = (m - 1.0) / (m + 1.0), z = s * s;
    const double high = 1.0 / 13 + z * (1.0 / 15 + z * (1.0 / 17 + z * (1.0 / 19 + z * (1.0 / 21))));
    const double low = 1.0 / 5 + z * (1.0 / 7 + z * (1.0 / 9 + z * (1.0 / 11 + z * high)));
    const double series = z * (1.0 / 3 + z * low);
    return e * 0.693147180559945309 + (2.0 * s + 2.0 * s * series);
}

/* Of turn / 2^32, and turn / 2^64, of a full circle. */
TSRC_FN void same_cos_sin(float &cosine, float &sine, uint32_t turn)
{
    const uint32_t quarter = (turn + 0x20000000u) >> 30;
    const float x = float(int32_t(turn << 2)) * (1.57079633f / 4294967296.0f), z = x * x;
    const float s = x + x * z * (-1.0f / 6 + z * (1.0f / 120 + z * (-1.0f / 5040 + z * (1.0f / 362880))));
    const float c = 1.0f + z * (-0.5f + z * (1.0f / 24 + z * (-1.0f / 720 + z * (1.0f / 40320))));
    const uint32_t c_bits = __float_as_uint(c), s_bits = __float_as_uint(s);
    const uint32_t change = (c_bits ^ s_bits) & (0u - (quarter & 1));
    cosine = __uint_as_float(c_bits ^ change ^ ((quarter + 1) & 2) << 30);
    sine = __uint_as_float(s_bits ^ change ^ (quarter & 2) << 30);
}

TSRC_FN void same_cos_sin(double &cosine, double &sine, uint64_t turn)
{
    const uint64_t quarter = (turn + 0x2000000000000000u) >> 62;
    const double x = double(int64_t(turn << 2)) * (1.57079632679489662 / 18446744073709551616.0), z = x * x;
    const double sine_high =
        1.0 / 362880 + z * (-1.0 / 39916800 + z * (1.0 / 6227020800.0 + z * (-1.0 / 1307674368000.0)));
    const double cosine_high =
        1.0 / 40320 + z * (-1.0 / 3628800 +
                           z * (1.0 / 479001600 + z * (-1.0 / 87178291200.0 + z * (1.0 / 20922789888000.0))));
    const double s = x + x * z * (-1.0 / 6 + z * (1.0 / 120 + z * (-1.0 / 5040 + z * sine_high)));
    const double c = 1.0 + z * (-0.5 + z * (1.0 / 24 + z * (-1.0 / 720 + z * cosine_high)));
    const uint64_t c_bits = bits64(c), s_bits = bits64(s);
    const uint64_t change = (c_bits ^ s_bits) & (0 - (quarter & 1));
    cosine = from_bits64(c_bits ^ change ^ ((quarter + 1) & 2) << 62);
    sine = from_bits64(s_bits ^ change ^ (quarter & 2) << 62);
}

/* Box and Muller's transform of one word (or 64 bits) and a turn. */
TSRC_FN void normal_pair(float &even, float &odd, uint32_t word, uint32_t turn)
{
    const float u = float(word) * (1.0f / 4294967296.0f) + 0.5f / 4294967296.0f;
    const float radius = same_sqrt(-2.0f * same_log(u));
    float cosine, sine;
    same_cos_sin(cosine, sine, turn);
    even = radius * cosine;
    odd = radius * sine;
}

TSRC_FN void normal_pair(double &even, double &odd, uint64_t bits, uint64_t turn)
{
    const double u = double(int64_t(bits >> 11)) * (1.0 / 9007199254740992.0) + 0.5 / 9007199254740992.0;
    const double radius = same_sqrt(-2.0 * same_log(u));
    double cosine, sine;
    same_cos_sin(cosine, sine, turn);
    even = radius * cosine;
    odd = radius * sine;
}

/* -log u of the same u. */
TSRC_FN float exponential(uint32_t word)
{
    return 0.0f - same_log(float(word) * (1.0f / 4294967296.0f) + 0.5f / 4294967296.0f);
}

TSRC_FN double exponential(uint64_t bits)
{
    return 0.0 -
           same_log(double(int64_t(bits >> 11)) * (1.0 / 9007199254740992.0) + 0.5 / 9007199254740992.0);
}

} // namespace tsrc

#endif
