/* draw.h - random numbers on the CPU: the ops, and their kernels.
 *
 * Kernels compute words from block numbers (core/philox.h) and values from words
 * (core/random_values.h). Every instruction set gives the same bits (core/same_math.h). */
#ifndef TSRI_CPU_DRAW_H
#define TSRI_CPU_DRAW_H

#include "core/random_values.h"
#include "tessera/backend.h"

enum {
    TSRI_DRAW_GROUP = 32,   /* blocks are made in groups of so many */
#ifdef TSR_FREESTANDING  /* stacks are small */
    TSRI_DRAW_WORDS = 128
#else
    TSRI_DRAW_WORDS = 1024  /* words that are made at a time */
#endif
};

/* Words are in order: word i % 4 of block i / 4 for f32; for f64 a block's words 0, 1 and 2, 3 are two
 * numbers of 64 bits. n is a multiple of the values of a block. stream: z is aligned to 64 bytes, and
 * the kernel may use non-temporal stores. */
typedef struct tsri_draw_kernels {
    /* Whole groups: up to TSRI_DRAW_GROUP - 1 blocks more than are asked for. */
    void (*words)(uint32_t *out, uint64_t seed, uint64_t block, uint32_t stream, int64_t blocks);
    void (*uniform_f32)(float *z, const uint32_t *words, int64_t n, const tsri_range *range, bool stream);
    void (*uniform_f64)(double *z, const uint32_t *words, int64_t n, const tsri_range *range, bool stream);
    void (*normal_f32)(float *z, const uint32_t *words, int64_t n, bool stream);
    void (*normal_f64)(double *z, const uint32_t *words, int64_t n, bool stream);

    /* The same from block numbers, or NULL. They make as many of the n values as they can, in whole
     * blocks, and return how many, which may be 0. */
    int64_t (*uniforms_f32)(float *z, uint64_t seed, uint64_t block, int64_t n, const tsri_range *range,
                            bool stream);
    int64_t (*normals_f32)(float *z, uint64_t seed, uint64_t block, int64_t n, bool stream);
} tsri_draw_kernels;

tsr_status tsri_cpu_random(const tsr_op *op);
tsr_status tsri_cpu_integers(const tsr_op *op);
tsr_status tsri_cpu_exponential(const tsr_op *op);

#endif
