/* philox.h - Philox 4x32-10, the counter-based generator of Salmon, Moraes, Dror
 * and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011).
 *
 * A counter of four words and a key of two give four random words: a function,
 * with no state to carry. Inline, so that kernels can take it into their loops.
 */
#ifndef TSRI_PHILOX_H
#define TSRI_PHILOX_H

#include <stdint.h>

/* What the key's words grow by from round to round: the golden ratio, sqrt(3) - 1. */
#define TSRI_PHILOX_K0 0x9E3779B9u
#define TSRI_PHILOX_K1 0xBB67AE85u

static inline void tsri_philox_round(uint32_t *c0, uint32_t *c1, uint32_t *c2, uint32_t *c3, uint32_t k0,
                                     uint32_t k1)
{
    const uint64_t p0 = (uint64_t)0xD2511F53u * *c0, p1 = (uint64_t)0xCD9E8D57u * *c2;
    *c0 = (uint32_t)(p1 >> 32) ^ *c1 ^ k0;
    *c2 = (uint32_t)(p0 >> 32) ^ *c3 ^ k1;
    *c1 = (uint32_t)p1;
    *c3 = (uint32_t)p0;
}

static inline void tsri_philox(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++, k0 += TSRI_PHILOX_K0, k1 += TSRI_PHILOX_K1)
        tsri_philox_round(&c0, &c1, &c2, &c3, k0, k1);
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

#endif
