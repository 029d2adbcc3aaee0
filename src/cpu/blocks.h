/* blocks.h - blocks of quantised numbers on the CPU. */
#ifndef TSRI_CPU_BLOCKS_H
#define TSRI_CPU_BLOCKS_H

#include "tessera/backend.h"
#include "tessera/tensor.h"

enum { TSRI_BLOCK_ELEMENTS = 256, TSRI_BLOCK_BYTES = 292 };  /* of a block, at most */

typedef struct tsri_block_type {
    int32_t elements, bytes;  /* of a block */
    void  (*decode)(float *dst, const unsigned char *src, int64_t n);  /* n blocks */
} tsri_block_type;

/* Rows of blocks in memory; steps in bytes. */
typedef struct tsri_blocks {
    const tsri_block_type *type;
    const char            *data;
    int64_t                row, block, byte;
    const struct tsri_block_kernels *kernels;  /* of products; NULL: in plain C */
} tsri_blocks;

/* Those of a tensor (..., rows, blocks, bytes), whose last dim is as long as the kind says. */
tsri_blocks tsri_blocks_of(const tsr_tensor *t, int32_t kind);

/* n blocks of a row, from `first` on, to contiguous floats. */
void tsri_blocks_decode(const tsri_blocks *b, float *dst, int64_t row, int64_t first, int64_t n);

/* Kernels for `cols` rows of packed blocks, which become columns of a product. k indices, TSRI_GEMM_BLOCK at
 * most, are whole blocks; `step` bytes lie between rows. As many bytes as are read are prefetched from
 * `ahead` on, which need not be an address in memory. */
typedef struct tsri_block_kernels {
    int32_t cols;       /* of pack */
    int32_t sum_cols;   /* of sum */
    /* A panel: for each index, `cols` floats side by side. */
    void (*pack)(float *panel, const char *blocks, int64_t step, int64_t k, const char *ahead);
    /* sums[j] = (add ? sums[j] : 0) + the sum over p < k of element p of row j times x[p], in order. */
    void (*sum)(float *sums, const char *blocks, int64_t step, int64_t k, const float *x, bool add,
                const char *ahead);
} tsri_block_kernels;

tsr_status tsri_cpu_dequantise_blocks(const tsr_op *op);
tsr_status tsri_cpu_linear_blocks(const tsr_op *op);

#endif
