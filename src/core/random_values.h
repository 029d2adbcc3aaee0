/* random_values.h - from seed and index to a value; the mapping, exactly.
 *
 * A tensor's elements are numbered in row-major order of their indices. A real
 * dtype takes one number of its stream per element; a complex one takes two, its
 * element i being (number 2i, number 2i + 1). Numbers come in blocks of one
 * Philox call:
 *
 *   key       word 0, 1: low and high half of the seed
 *   counter   word 0, 1: low and high half of the block's number
 *             word 2: the stream, 0 for uniform and 1 for normal; word 3: 0
 *
 *   f32 and shorter   computed in f32, four to a block: number i is made from
 *                     word i % 4 of block i / 4, then rounded to the dtype
 *   f64               two to a block: number i is made from the 64 bits with low
 *                     half word 2 (i % 2), high half the next, of block i / 2
 *
 * Uniform: u = (word >> 8) * 2^-24, or (bits >> 11) * 2^-53, and the value is
 * low + (high - low) * u, computed in that order in f32 or f64 (on halves, and
 * doubled, where high - low overflows), low and high being rounded to it first.
 * Rounding, here and to a shorter dtype, can reach high or leave the range; so the
 * value is held to the first and the last number of the dtype that lie in
 * [low, high) as the caller gave them. Where the dtype has none in there, every
 * value is low, rounded.
 *
 * Normal: Box and Muller's transform of numbers 2j and 2j + 1 together. With w
 * the word (or bits) of the even one, u = (w + 1/2) * 2^-32 (f64: ((w >> 11) +
 * 1/2) * 2^-53), rounded, which is within (0, 1]; with t the word (or bits) of the
 * odd one as a fraction of a full turn, the values are
 *
 *     number 2j       sqrt(-2 log u) * cos t
 *     number 2j + 1   sqrt(-2 log u) * sin t
 *
 * by the functions of same_math.h. No f32 value is beyond 6.77, no f64 value
 * beyond 8.66.
 */
#ifndef TSRI_RANDOM_VALUES_H
#define TSRI_RANDOM_VALUES_H

#include "half.h"
#include "mem.h"
#include "philox.h"
#include "same_math.h"

enum { TSRI_STREAM_UNIFORM = 0, TSRI_STREAM_NORMAL = 1 };

/* The words of one block. */
static inline void tsri_random_words(uint32_t out[4], uint64_t seed, uint64_t block, uint32_t stream)
{
    const uint32_t counter[4] = { (uint32_t)block, (uint32_t)(block >> 32), stream, 0 };
    const uint32_t key[2] = { (uint32_t)seed, (uint32_t)(seed >> 32) };
    tsri_philox(out, counter, key);
}

static inline uint64_t tsri_random_bits(uint32_t low, uint32_t high) { return (uint64_t)high << 32 | low; }

/* The range of a uniform tensor ---------------------------------------------- */

/* [low, high) in one floating dtype. All numbers are exact in the type that the
 * dtype is computed in. */
typedef struct tsri_range {
    double low, width; /* a value is (low + width * u) * unit */
    double unit;       /* 1; 2 where low and width had to be halved */
    double first, last;
} tsri_range;

/* The smallest number of the dtype that is not below v, and the largest that is
 * below v. The patterns of one sign lie in the order of their magnitudes; -0 is not
 * below v unless v is above 0, and such a v is never rounded to it. */
static inline double tsri_float_at_least(tsr_dtype dtype, double v)
{
    const uint64_t sign = (uint64_t)1 << (8 * tsr_dtype_size(dtype) - 1), bits = tsri_float_bits(dtype, v);
    if (tsri_float_value(dtype, bits) >= v) return tsri_float_value(dtype, bits);
    return tsri_float_value(dtype, bits & sign ? bits - 1 : bits + 1);
}

static inline double tsri_float_below(tsr_dtype dtype, double v)
{
    const uint64_t sign = (uint64_t)1 << (8 * tsr_dtype_size(dtype) - 1), bits = tsri_float_bits(dtype, v);
    if (tsri_float_value(dtype, bits) < v) return tsri_float_value(dtype, bits);
    return tsri_float_value(dtype, bits == 0 ? sign | 1 : bits & sign ? bits + 1 : bits - 1);
}

/* dtype is floating; low <= high, and both are finite when rounded to it. */
static inline tsri_range tsri_range_of(tsr_dtype dtype, double low, double high)
{
    tsri_range r;
    const bool   wide = dtype == TSR_F64;
    double lo = low, hi = high, width = high - low;
    if (!wide) {
        lo = (double)(float)low;
        hi = (double)(float)high;
        width = (double)((float)hi - (float)lo);
    }
    const bool   fits = width <= (wide ? 1.7976931348623157e308 : 3.4028234663852886e38);
    r.unit = fits ? 1 : 2;
    r.low = fits ? lo : lo / 2;
    r.width = fits ? width : hi / 2 - lo / 2;
    if (!wide) r.width = (double)(float)r.width;
    r.first = tsri_float_at_least(dtype, low);
    r.last = tsri_float_below(dtype, high);
    if (r.first > r.last) r.first = r.last = tsri_float_value(dtype, tsri_float_bits(dtype, low));
    return r;
}

/* From words to values ------------------------------------------------------- */

static inline float tsri_uniform_value_f32(uint32_t word, const tsri_range *r)
{
    const float u = (float)(int32_t)(word >> 8) * (1.0f / 16777216.0f);
    const float v = ((float)r->low + (float)r->width * u) * (float)r->unit;
    const float least = v < (float)r->first ? (float)r->first : v;
    return least > (float)r->last ? (float)r->last : least;
}

static inline double tsri_uniform_value_f64(uint64_t bits, const tsri_range *r)
{
    const double u = (double)(int64_t)(bits >> 11) * (1.0 / 9007199254740992.0);
    const double v = (r->low + r->width * u) * r->unit;
    return v > r->last ? r->last : v;  /* low is an f64: nothing is below it */
}

static inline void tsri_randn_pair_f32(float *even, float *odd, uint32_t word, uint32_t turn)
{
    const float u = (float)word * (1.0f / 4294967296.0f) + 0.5f / 4294967296.0f;
    const float radius = tsri_sqrt_f32(-2.0f * tsri_log_f32(u));
    float cosine, sine;
    tsri_cos_sin_f32(&cosine, &sine, turn);
    *even = radius * cosine;
    *odd = radius * sine;
}

static inline void tsri_randn_pair_f64(double *even, double *odd, uint64_t bits, uint64_t turn)
{
    const double u = (double)(int64_t)(bits >> 11) * (1.0 / 9007199254740992.0) + 0.5 / 9007199254740992.0;
    const double radius = tsri_sqrt_f64(-2.0 * tsri_log_f64(u));
    double cosine, sine;
    tsri_cos_sin_f64(&cosine, &sine, turn);
    *even = radius * cosine;
    *odd = radius * sine;
}

/* One block ------------------------------------------------------------------ */

static inline void tsri_uniform_f32(float out[4], uint64_t seed, uint64_t block, float low, float high)
{
    const tsri_range r = tsri_range_of(TSR_F32, (double)low, (double)high);
    uint32_t w[4];
    tsri_random_words(w, seed, block, TSRI_STREAM_UNIFORM);
    for (int i = 0; i < 4; i++) out[i] = tsri_uniform_value_f32(w[i], &r);
}

static inline void tsri_uniform_f64(double out[2], uint64_t seed, uint64_t block, double low, double high)
{
    const tsri_range r = tsri_range_of(TSR_F64, low, high);
    uint32_t w[4];
    tsri_random_words(w, seed, block, TSRI_STREAM_UNIFORM);
    for (int i = 0; i < 2; i++) out[i] = tsri_uniform_value_f64(tsri_random_bits(w[2 * i], w[2 * i + 1]), &r);
}

static inline void tsri_randn_f32(float out[4], uint64_t seed, uint64_t block)
{
    uint32_t w[4];
    tsri_random_words(w, seed, block, TSRI_STREAM_NORMAL);
    for (int i = 0; i < 4; i += 2) tsri_randn_pair_f32(out + i, out + i + 1, w[i], w[i + 1]);
}

static inline void tsri_randn_f64(double out[2], uint64_t seed, uint64_t block)
{
    uint32_t w[4];
    tsri_random_words(w, seed, block, TSRI_STREAM_NORMAL);
    tsri_randn_pair_f64(out, out + 1, tsri_random_bits(w[0], w[1]), tsri_random_bits(w[2], w[3]));
}

/* Many blocks ----------------------------------------------------------------
 *
 * The same, for TSRI_LANES blocks at a time: each loop has a fixed length and does
 * one thing to all lanes, which is what a compiler makes vector code of. */

enum { TSRI_LANES = 16 };

/* Word k of block block + l in c[k][l]. */
static inline void tsri_random_words_lanes(uint32_t c[4][TSRI_LANES], uint64_t seed, uint64_t block,
                                           uint32_t stream)
{
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    for (int l = 0; l < TSRI_LANES; l++) {
        c[0][l] = (uint32_t)(block + (uint64_t)l);
        c[1][l] = (uint32_t)((block + (uint64_t)l) >> 32);
        c[2][l] = stream;
        c[3][l] = 0;
    }
    for (int round = 0; round < 10; round++, k0 += TSRI_PHILOX_K0, k1 += TSRI_PHILOX_K1)
        for (int l = 0; l < TSRI_LANES; l++)
            tsri_philox_round(&c[0][l], &c[1][l], &c[2][l], &c[3][l], k0, k1);
}

static inline void tsri_random_lanes_f32(float out[4 * TSRI_LANES], uint64_t seed, uint64_t block,
                                         const tsri_range *range)
{
    uint32_t c[4][TSRI_LANES];
    float    v[4][TSRI_LANES];
    tsri_random_words_lanes(c, seed, block, range ? TSRI_STREAM_UNIFORM : TSRI_STREAM_NORMAL);
    if (range) {
        const tsri_range r = *range;
        for (int k = 0; k < 4; k++)
            for (int l = 0; l < TSRI_LANES; l++) v[k][l] = tsri_uniform_value_f32(c[k][l], &r);
    } else {
        for (int k = 0; k < 4; k += 2)
            for (int l = 0; l < TSRI_LANES; l++)
                tsri_randn_pair_f32(&v[k][l], &v[k + 1][l], c[k][l], c[k + 1][l]);
    }
    for (int l = 0; l < TSRI_LANES; l++)
        for (int k = 0; k < 4; k++) out[4 * l + k] = v[k][l];
}

static inline void tsri_random_lanes_f64(double out[2 * TSRI_LANES], uint64_t seed, uint64_t block,
                                         const tsri_range *range)
{
    uint32_t c[4][TSRI_LANES];
    uint64_t bits[2][TSRI_LANES];
    double   v[2][TSRI_LANES];
    tsri_random_words_lanes(c, seed, block, range ? TSRI_STREAM_UNIFORM : TSRI_STREAM_NORMAL);
    for (int k = 0; k < 2; k++)
        for (int l = 0; l < TSRI_LANES; l++) bits[k][l] = tsri_random_bits(c[2 * k][l], c[2 * k + 1][l]);
    if (range) {
        const tsri_range r = *range;
        for (int k = 0; k < 2; k++)
            for (int l = 0; l < TSRI_LANES; l++) v[k][l] = tsri_uniform_value_f64(bits[k][l], &r);
    } else {
        for (int l = 0; l < TSRI_LANES; l++) tsri_randn_pair_f64(&v[0][l], &v[1][l], bits[0][l], bits[1][l]);
    }
    for (int l = 0; l < TSRI_LANES; l++)
        for (int k = 0; k < 2; k++) out[2 * l + k] = v[k][l];
}

/* A full run of f32 values as numbers of a floating dtype, packed. */
static inline void tsri_random_round(unsigned char out[16 * TSRI_LANES], tsr_dtype dtype,
                                     const float values[4 * TSRI_LANES])
{
    switch (dtype) {
#define X(ID, suffix, S, mant, exp, inf, dlpack)                                          \
    case TSR_##ID:                                                                        \
        for (int i = 0; i < 4 * TSRI_LANES; i++) {                                        \
            const S element = tsri_f32_to_##suffix(values[i]);                            \
            memcpy(out + i * (int)sizeof element, &element, sizeof element);              \
        }                                                                                 \
        return;
#include "short_floats.def"
#undef X
    default:
        memcpy(out, values, 4 * TSRI_LANES * sizeof *values);
        return;
    }
}

/* Elements first .. first + n - 1 of a floating or complex tensor, packed, into
 * out (any alignment): uniform in `range`, which is of the dtype of the parts, or
 * normal where range is NULL. */
static inline void tsri_random_elements(void *out, tsr_dtype dtype, uint64_t seed, const tsri_range *range,
                                        int64_t first, int64_t n)
{
    const tsr_dtype real = tsr_dtype_real(dtype);
    const uint64_t  size = tsr_dtype_size(real), parts = tsr_dtype_size(dtype) / size;
    const uint64_t  per_block = real == TSR_F64 ? 2 : 4, end = (uint64_t)(first + n) * parts;
    char *at = (char *)out;
    for (uint64_t i = (uint64_t)first * parts; i < end;) {
        const uint64_t skip = i % per_block, block = i / per_block, made = TSRI_LANES * per_block - skip;
        const uint64_t take = end - i < made ? end - i : made;
        float  floats[4 * TSRI_LANES];
        double doubles[2 * TSRI_LANES];
        unsigned char rounded[16 * TSRI_LANES];
        if (real == TSR_F64) {
            tsri_random_lanes_f64(doubles, seed, block, range);
            memcpy(at, doubles + skip, (size_t)(take * size));
        } else {
            tsri_random_lanes_f32(floats, seed, block, range);
            tsri_random_round(rounded, real, floats);
            memcpy(at, rounded + skip * size, (size_t)(take * size));
        }
        at += take * size;
        i += take;
    }
}

#endif
