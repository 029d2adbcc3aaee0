/* random_integers.h - random integers and exponential numbers: the mapping, exactly, as random_values.h
 * states it for uniform and normal ones.
 *
 * Elements are numbered in row-major order. Blocks and keys are those of random_values.h, with
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
#ifndef TSRI_RANDOM_INTEGERS_H
#define TSRI_RANDOM_INTEGERS_H

#include "random_values.h"

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
    const uint32_t threshold = (uint32_t)((((uint64_t)1 << 32) - r) % r);
    uint64_t product = words[i % 4] * r;
    for (uint32_t attempt = 1; (uint32_t)product < threshold; attempt++) {
        uint32_t again[4];
        tsri_draw_words(again, seed, i / 4, TSRI_STREAM_INTEGERS, attempt);
        product = again[i % 4] * r;
    }
    return product >> 32;
}

/* Number i of those below r > 2^32. */
static inline uint64_t tsri_draw_below_64(const uint32_t words[4], uint64_t seed, uint64_t i, uint64_t r)
{
    const uint64_t threshold = (0 - r) % r;
    uint64_t bits = tsri_random_bits(words[i % 2 * 2], words[i % 2 * 2 + 1]);
    for (uint32_t attempt = 1; bits < threshold; attempt++) {
        uint32_t again[4];
        tsri_draw_words(again, seed, i / 2, TSRI_STREAM_INTEGERS, attempt);
        bits = tsri_random_bits(again[i % 2 * 2], again[i % 2 * 2 + 1]);
    }
    return bits % r;
}

/* Numbers first .. first + n - 1 of integers in [low, low + r), r <= 2^32, from the words of their
 * blocks. first and n are multiples of 4. Words that are thrown away are rare, and so looked for
 * together first: that loop, and the first one, become vector code. */
static inline void tsri_place_integers_32(int64_t *out, const uint32_t *words, uint64_t seed, uint64_t first,
                                          int64_t n, int64_t low, uint64_t r)
{
    const uint32_t threshold = (uint32_t)((((uint64_t)1 << 32) - r) % r), times = (uint32_t)r;
    const uint64_t whole = r >> 32 ? UINT64_MAX : 0;  /* 2^32 takes words as they are */
    uint32_t again = 0;
    for (int64_t i = 0; i < n; i++) {
        const uint64_t product = (uint64_t)words[i] * times;
        out[i] = (int64_t)((uint64_t)low + ((product >> 32) | (words[i] & whole)));
    }
    for (int64_t i = 0; i < n; i++) again |= words[i] * times < threshold;
    for (int64_t i = 0; i < n && again; i++)
        if (words[i] * times < threshold)
            out[i] = (int64_t)((uint64_t)low +
                               tsri_draw_below_32(words + i / 4 * 4, seed, first + (uint64_t)i, r));
}

/* The same for r > 2^32, and multiples of 2. */
static inline void tsri_place_integers_64(int64_t *out, const uint32_t *words, uint64_t seed, uint64_t first,
                                          int64_t n, int64_t low, uint64_t r)
{
    for (int64_t i = 0; i < n; i++) {
        const uint64_t v = tsri_draw_below_64(words + i / 2 * 4, seed, first + (uint64_t)i, r);
        out[i] = (int64_t)((uint64_t)low + v);
    }
}

/* -log u, as f32 has it from one word, and as f64 has it from two. */
static inline float tsri_exponential_f32(uint32_t word)
{
    return 0.0f - tsri_log_f32((float)word * (1.0f / 4294967296.0f) + 0.5f / 4294967296.0f);
}

static inline double tsri_exponential_f64(const uint32_t words[2])
{
    return 0.0 - tsri_log_f64((double)(int64_t)(tsri_random_bits(words[0], words[1]) >> 11) *
                                  (1.0 / 9007199254740992.0) + 0.5 / 9007199254740992.0);
}

#endif
