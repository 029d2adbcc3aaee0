/* gemm.h - what a matrix multiplication is made of: panels, microkernels, stores.
 *
 * Whatever the dtypes and strides, work is done on panels of one of seven classes:
 *
 *     F32   f8, f16, bf16, f32     computed and summed in float
 *     F64   f64                    in double
 *     I16   i8, u8, i16, u16       products of int16, summed in 32 bits
 *     U32   i32, u32               in 32 bits; sums wrap, signed and unsigned alike
 *     U64   i64, u64               in 64 bits
 *     C64   c64                    real and imaginary parts apart, in float
 *     C128  c128                   the same in double
 *
 *     pack    dtype -> panel:  for each index of k, `width` elements side by side
 *     ukr     panel x panel -> tile of mr x nr sums
 *     store   tile -> dtype:   alpha * sum + beta * c, rounded once
 *
 * An instruction set brings microkernels with mr and nr of its own; packing and
 * storing take any. Complex panels hold the real parts of an index of k, then the
 * imaginary ones; complex tiles hold all real parts, then all imaginary ones.
 *
 * The order of a sum over k is fixed, so that every path, microkernel and number
 * of threads gives the same bits: products are added in order within blocks of
 * TSRI_GEMM_BLOCK indices, each from 0, and the blocks' sums in order.
 */
#ifndef TSRI_GEMM_H
#define TSRI_GEMM_H

#include "tessera/backend.h"

typedef enum tsri_gemm_class {
    TSRI_GEMM_F32, TSRI_GEMM_F64, TSRI_GEMM_I16, TSRI_GEMM_U32, TSRI_GEMM_U64, TSRI_GEMM_C64, TSRI_GEMM_C128,
    TSRI_GEMM_CLASSES
} tsri_gemm_class;

enum {
    TSRI_GEMM_BLOCK = 256,  /* indices of k that are summed from 0 */
    TSRI_GEMM_ROWS = 8      /* rows that tsri_gemm_rows_fn sums side by side, at most */
};

/* tile = (add ? tile : 0) + the sum over p < k of a[p] (mr elements) times b[p] (nr
 * elements). k is at most TSRI_GEMM_BLOCK. The three are aligned as their elements are,
 * and do not overlap. */
typedef void (*tsri_gemm_ukr_fn)(int64_t k, const void *a, const void *b, void *tile, bool add);

typedef struct tsri_gemm_ukr {
    tsri_gemm_ukr_fn run;
    int16_t mr, nr;
    int16_t element;  /* bytes of one element of a panel, both parts of a complex one */
    int16_t sum;      /* bytes of one sum in a tile */
} tsri_gemm_ukr;

/* alpha and beta in the types that sums have. */
typedef struct tsri_gemm_scale {
    tsr_c128 alpha, beta;  /* floats: the real part */
    uint64_t int_alpha, int_beta;
    bool     plain;        /* alpha is 1 and there is no c */
} tsri_gemm_scale;

/* One matrix as it lies in memory; steps in bytes. */
typedef struct tsri_gemm_matrix {
    char   *data;
    int64_t row, col;
} tsri_gemm_matrix;

/* A panel from n <= width elements `step` apart, for k indices `step_k` apart. What is
 * missing to `width` is 0. */
typedef void (*tsri_gemm_pack_fn)(void *panel, const char *src, int64_t step, int64_t step_k, int64_t n,
                                  int64_t k, int width);

/* rows x cols sums of a tile whose rows are nr long (and whose imaginary parts lie mr *
 * nr after the real ones) to z, with what c holds there (c.data may be NULL). */
typedef void (*tsri_gemm_store_fn)(tsri_gemm_matrix z, tsri_gemm_matrix c, const void *tile, int64_t rows,
                                   int64_t cols, int mr, int nr, const tsri_gemm_scale *scale);

/* sums[i] = (add ? sums[i] : 0) + the sum over p < k of row i of a times x[i * x_step +
 * p], for rows <= TSRI_GEMM_ROWS. x holds panels of width 1; complex sums hold the real
 * parts, then, from TSRI_GEMM_ROWS on, the imaginary ones. */
typedef void (*tsri_gemm_rows_fn)(void *sums, const char *a, int64_t step, int64_t step_k, int64_t rows,
                                  int64_t k, const void *x, int64_t x_step, bool add);

typedef struct tsri_gemm_dtype {
    tsri_gemm_class    cls;
    tsri_gemm_pack_fn  pack;
    tsri_gemm_store_fn store;
    tsri_gemm_rows_fn  rows;
} tsri_gemm_dtype;

/* Microkernels in plain C (ukr_portable.c); what every dtype needs (pack.c). pack is NULL
 * for dtypes that are not multiplied. */
extern const tsri_gemm_ukr   tsri_gemm_ukr_portable[TSRI_GEMM_CLASSES];
extern const tsri_gemm_dtype tsri_gemm_dtypes[TSR_DTYPE_COUNT];

/* The op, and whether its dtypes can be multiplied (gemm.c). */
bool       tsri_cpu_has_matmul(const tsr_op *op);
tsr_status tsri_cpu_matmul(const tsr_op *op);

#endif
