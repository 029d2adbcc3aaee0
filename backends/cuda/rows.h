/* rows.h - softmax and norms: reductions over a row, and functions of its elements and the reduced numbers.
 *
 * A row of unit stride is kept in registers and read once: by some threads of a warp, by a block, or by the
 * blocks of a cluster. A longer one is computed in parts by independent blocks: a first pass stores the
 * reduced numbers of each part, a second combines them. Other rows are read once for each pass
 * (rows.cu). */
#ifndef TSRC_ROWS_H
#define TSRC_ROWS_H

#include "plan.h"

namespace tsrc {

/* What one part of a row comes to. Softmax: the largest, and the sum of exponentials relative to it. Norms:
 * the mean, and the sum of squares about it. */
struct RowPart {
    double first, second;
};

struct RowArgs {
    tsrc_place lanes; /* z, x; numbered in row-major order */
    tsrc_place also;  /* add_rms_norm: sum_out, residual */
    char *z, *sum;
    const char *x, *residual;
    const char *weight, *bias;             /* NULL: none */
    uint32_t count;                        /* lanes */
    uint32_t threads, across, lanes_first; /* of a lane; lanes of a block; as in reductions */
    int64_t n;
    int64_t step_z, step_x, step_sum, step_residual, step_weight, step_bias;
    int64_t rows, columns; /* causal_softmax: of a matrix */
    int64_t each;          /* group_norm: elements of a channel; else 1 */
    int64_t groups;        /* group_norm: of an image; else 1 */
    double eps;
    int op, dtype, dtype_weight, dtype_bias, flag;
    /* Of rows in registers: */
    int wide;               /* rows are aligned: a thread's elements lie side by side */
    uint32_t blocks, share; /* of a row; elements of a block */
    double inverse;         /* 1 / n */
    tsrc_div by_each;
    RowPart *parts; /* part p of row i at i * blocks + p */
};

/* How many blocks have a row, and how they meet. */
enum RowMode { ROW_ALONE, ROW_CLUSTER, ROW_FIRST_PASS, ROW_SECOND_PASS };

/* A kernel for rows of up to `most` elements for each block; NULL: there is none. */
struct RowKernel {
    const void *run;
    uint32_t threads, rows; /* of a block */
    uint32_t most;
};

/* The kernel of the shortest share that holds n elements, or else of the longest. */
RowKernel softmax_kernel_for(const RowArgs &a, int64_t n, RowMode mode);
RowKernel norm_kernel_for(const RowArgs &a, int64_t n, RowMode mode);

} // namespace tsrc

#endif
