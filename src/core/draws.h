/* draws.h - random integers and exponential numbers: the mapping, exactly, as randoms.h
 * states it for uniform and normal ones.
 *
 * Elements are numbered in row-major order. Blocks and keys are those of randoms.h, with
 * streams of their own; word 3 of the counter, 0 there, counts attempts here.
 *
 * Integers in [low, high), of which there are r = high - low:
 *
 *   r <= 2^32   number i takes word i % 4 of block i / 4 as w. The value is low plus the
 *               upper half of the 64-bit product w * r, unless its lower half is below
 *               (2^32 - r) mod r: then the same word of the next attempt is taken. So every
 *               value has equally many words (Lemire, "Fast random integer generation in
 *               an interval", 2019).
 *   r > 2^32    number i takes 64 bits of block i / 2, as f64 does. The value is low plus
 *               bits mod r, unless bits is below (2^64 - r) mod r.
 *
 * The dtype plays no part: equal bounds give equal values in every dtype.
 *
 * Exponential: e = -log u, with u as for normal numbers (of one word for f32 and shorter,
 * in f32; of 64 bits for f64), and the value is e / rate, divided in f64 and rounded once
 * to the dtype.
 */
#ifndef TSRI_DRAWS_H
#define TSRI_DRAWS_H

#include "randoms.h"

enum { TSRI_STREAM_INTEGERS = 2, TSRI_STREAM_EXPONENTIAL = 3 };

static inline void tsri_draw_words(uint32_t out[4], uint64_t seed, uint64_t block, uint32_t stream,
                                   uint32_t attempt)
{
    const uint32_t counter[4] = { (uint32_t)block, (uint32_t)(block >> 32), stream, attempt };
    const uint32_t key[2] = { (uint32_t)seed, (uint32_t)(seed >> 32) };
    tsri_philox(out, counter, key);
}

/* Number i of those below r <= 2^32; words are of its block's first attempt. */
static inline uint64_t tsri_draw_below_32(const uint32_t words[4], uint64_t seed, uint64_t i, uint64_t r)
{
    const uint32_t few = (uint32_t)((((uint64_t)1 << 32) - r) % r);
    uint64_t product = words[i % 4] * r;
    for (uint32_t attempt = 1; (uint32_t)product < few; attempt++) {
        uint32_t again[4];
        tsri_draw_words(again, seed, i / 4, TSRI_STREAM_INTEGERS, attempt);
        product = again[i % 4] * r;
    }
    return product >> 32;
}

/* Number i of those below r > 2^32. */
static inline uint64_t tsri_draw_below_64(const uint32_t words[4], uint64_t seed, uint64_t i, uint64_t r)
{
    const uint64_t few = (0 - r) % r;
    uint64_t bits = tsri_random_bits(words[i % 2 * 2], words[i % 2 * 2 + 1]);
    for (uint32_t attempt = 1; bits < few; attempt++) {
        uint32_t again[4];
        tsri_draw_words(again, seed, i / 2, TSRI_STREAM_INTEGERS, attempt);
        bits = tsri_random_bits(again[i % 2 * 2], again[i % 2 * 2 + 1]);
    }
    return bits % r;
}

/* Elements first .. first + n - 1 of integers in [low, high), low < high. */
static inline void tsri_draw_integers(int64_t *out, uint64_t seed, int64_t low, int64_t high, int64_t first,
                                      int64_t n)
{
    const uint64_t r = (uint64_t)high - (uint64_t)low, end = (uint64_t)(first + n);
    const bool narrow = r >> 32 == 0 || r == (uint64_t)1 << 32;
    const uint64_t each = narrow ? 4 : 2;
    uint32_t words[4];
    for (uint64_t i = (uint64_t)first; i < end; i++) {
        if (i == (uint64_t)first || i % each == 0)
            tsri_draw_words(words, seed, i / each, TSRI_STREAM_INTEGERS, 0);
        const uint64_t v =
            narrow ? tsri_draw_below_32(words, seed, i, r) : tsri_draw_below_64(words, seed, i, r);
        *out++ = (int64_t)((uint64_t)low + v);
    }
}

/* Elements first .. first + n - 1 of exponential numbers with this rate: as f64 has them if `wide`, else as
 * f32 does. */
static inline void tsri_draw_exponentials(double *out, bool wide, uint64_t seed, double rate, int64_t first,
                                          int64_t n)
{
    const uint64_t each = wide ? 2 : 4, end = (uint64_t)(first + n);
    uint32_t w[4];
    for (uint64_t i = (uint64_t)first; i < end; i++) {
        if (i == (uint64_t)first || i % each == 0)
            tsri_draw_words(w, seed, i / each, TSRI_STREAM_EXPONENTIAL, 0);
        const double d = (double)(int64_t)(tsri_random_bits(w[i % 2 * 2], w[i % 2 * 2 + 1]) >> 11) *
                         (1.0 / 9007199254740992.0) + 0.5 / 9007199254740992.0;
        const float f = (float)w[i % 4] * (1.0f / 4294967296.0f) + 0.5f / 4294967296.0f;
        *out++ = (wide ? 0.0 - tsri_log_f64(d) : (double)(0.0f - tsri_log_f32(f))) / rate;
    }
}

#endif
