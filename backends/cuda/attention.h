/* attention.h - attention without a matrix of scores: how operands lie, and kernels by dtype and size.
 *
 * A block computes a tile of rows that use one head of k and v: rows of all heads of q that share it. It goes
 * over the keys in tiles, and keeps for each row the largest score so far, the sum of the weights relative to
 * it, and the weighted sum of rows of v (the mixture). Both sums are scaled when a larger score is found.
 *
 * Keys that a row does not attend to have weight 0, but 0 times a NaN or infinity of v is NaN. So products
 * with weight 0 must be left out. Some kernels always do; others repeat a tile that way (CARE) if a mixture
 * is not finite. */
#ifndef TSRC_ATTENTION_H
#define TSRC_ATTENTION_H

#include <cstddef>

#include "plan.h"

namespace tsrc {

enum { MOST_SIZE = 256 /* of d and e */, MOST_SHARES = 128 /* of a row's keys */ };

enum { OF_Q, OF_K, OF_V, OF_Z, OF_MASK, OPERANDS };

/* The matrices of an operand: bytes from head to head, row to row, element to element. */
struct Heads {
    char *data;
    int64_t head, row, col;
    int wide; /* rows can be read 16 bytes at a time */
};

struct AttentionArgs {
    Heads of[OPERANDS]; /* no mask: data is NULL */
    int32_t nd;         /* batch dims, innermost first */
    tsrc_div batch[TSRC_DIMS];
    int64_t step[TSRC_DIMS][OPERANDS];
    uint32_t m, n, d, e;
    uint32_t shared, kv_heads; /* heads of q that look at one of k */
    uint32_t tiles;            /* of rows, for each head of k */
    double early, late;        /* scales of q and of scores */
    uint32_t parts, part;      /* blocks that share the keys of rows; keys of one */
    float *states;             /* what each of them came to, if they are several */
    int causal, mask_dtype, flag;
};

/* A kernel, its shared memory, and the rows of a block; for blocks that share keys what puts them together
 * (NULL: nothing does), its threads, and the bytes of a block's states. */
struct AttentionKernel {
    const void *run;
    size_t shared;
    uint32_t threads, rows;
    const void *join;
    uint32_t width;
    size_t state;
};

AttentionKernel fma_attention(const AttentionArgs &a);                  /* f64 */
AttentionKernel tf32_attention(const AttentionArgs &a);                 /* f32 */
AttentionKernel mma_attention(tsr_dtype dtype, const AttentionArgs &a); /* f16, bf16 */

/* For few rows: shares of a head's keys, and what puts them together. `state` is the bytes of a share. Rows
 * of k and v are wide. */
struct DecodeKernel {
    const void *run = nullptr, *join = nullptr; /* NULL: there are none */
    uint32_t threads = 0, rows = 0, width = 0;  /* rows and columns of a state */
    size_t state = 0, shared = 0;
    uint32_t keys = 0, enough = 0; /* least keys of a block; from how many blocks on a GPU is busy */
};

DecodeKernel decode_attention(tsr_dtype dtype, const AttentionArgs &a); /* f16, bf16, f32 */
DecodeKernel narrow_attention(tsr_dtype dtype, const AttentionArgs &a); /* f16, bf16; 16 rows at most */

struct Work;

/* By cuDNN, if it supports the case and there is enough work to make a plan for; false: it was not done. A
 * NaN or infinity of v may also reach rows that do not attend to it, and rows without keys may be NaN:
 * mend_attention() is for these. */
bool dnn_attention(const Work &w, const AttentionArgs &a, tsr_status *status);

/* Repeats such rows without that fault. f16, bf16. */
AttentionKernel mend_attention(tsr_dtype dtype);

} // namespace tsrc

#endif
