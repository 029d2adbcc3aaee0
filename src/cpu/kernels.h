/* kernels.h - the CPU's kernel table.
 *
 * The portable set fills every slot. An instruction set then overwrites the slots
 * for which it has a faster kernel (kernels.c). Kernels see tiles (core/loop.h),
 * never shapes, and check nothing.
 *
 * A cast goes through a wide type: the source's elements are widened, which is
 * exact, a short run at a time, and narrowed to the destination, which rounds
 * once. So n dtypes need n + 6 n small kernels and not n * n.
 */
#ifndef TSRI_KERNELS_H
#define TSRI_KERNELS_H

#include "attention.h"
#include "conv/conv_kernels.h"
#include "core/atomic.h"
#include "core/dtype_int.h"
#include "core/loop.h"
#include "gemm/gemm.h"
#include "isa.h"
#include "nn/row_kernels.h"
#include "reduce.h"
#include "tessera/backend.h"
#include "tuning/tuning.h"

#if defined(__GNUC__)
#define TSRI_NOINLINE __attribute__((noinline))
#else
#define TSRI_NOINLINE
#endif

/* Types that hold some dtypes exactly, and that narrow to all. */
typedef enum tsri_wide {
    TSRI_WIDE_I64,  /* bool, i8 .. i64, u8 .. u32 */
    TSRI_WIDE_U64,  /* u64 */
    TSRI_WIDE_F32,  /* f8, f16, bf16, f32 */
    TSRI_WIDE_F64,  /* f64 */
    TSRI_WIDE_C64,  /* c32, c64 */
    TSRI_WIDE_C128, /* c128 */
    TSRI_WIDE_COUNT
} tsri_wide;

enum { TSRI_RUN = 128 }; /* elements widened at a time */

typedef void (*tsri_widen_fn)(void *wide, const char *src, int64_t step, int64_t n);
typedef void (*tsri_narrow_fn)(char *dst, int64_t step, const void *wide, int64_t n);

/* z[i] = the element at x + offset[i]. */
typedef void (*tsri_gather_fn)(char *z, const char *x, const int32_t *offset, int64_t n);

/* z[r * dz + i elements] = element r at x + offset[i], for r < rows and i < n. rows fill 16
 * bytes of elements at least, n elements gather_transpose_bytes at least. */
typedef void (*tsri_gather_transpose_fn)(char *z, int64_t dz, const char *x, const int32_t *offset, int64_t n,
                                         int64_t rows);

/* Copies rows of elements of `size` bytes. A row's source begins `step` bytes times its index after
 * operand 2. Operands: result, index, source. */
typedef void (*tsri_gather_rows_fn)(const tsri_tile *t, int64_t step, int64_t size);

enum { TSRI_SIZES = 5 };  /* elements of 1, 2, 4, 8 and 16 bytes */

typedef struct tsri_cpu_kernels {
    tsri_tile_fn   copy[TSRI_SIZES];  /* operand 0 = operand 1; no params */
    tsri_tile_fn   fill[TSRI_SIZES];  /* operand 0 = the element at params */
    tsri_gather_fn gather_offsets[TSRI_SIZES];
    tsri_gather_transpose_fn gather_transpose[TSRI_SIZES];  /* NULL: none */
    int64_t        gather_transpose_bytes;  /* of the columns of a block: fewer do not fill a vector */
    tsri_wide      wide[TSR_DTYPE_COUNT];
    tsri_widen_fn  widen[TSR_DTYPE_COUNT];
    tsri_narrow_fn narrow[TSRI_WIDE_COUNT][TSR_DTYPE_COUNT];
    tsri_tile_fn   cast[TSR_DTYPE_COUNT][TSR_DTYPE_COUNT]; /* from, to; NULL: through the wide type. Rows as
                                          for elementwise */
    tsri_gemm_kernels  gemm[TSRI_GEMM_CLASSES];
    tsri_tile_fn   elementwise[TSR_OP_COUNT][TSR_DTYPE_COUNT]; /* by the last operand's dtype; NULL: none.
                                          Rows of the result are contiguous, those of operands are
                                          contiguous or repeat one element (stage.h) */
    tsri_tile_fn   gather[TSRI_SIZES];                   /* index.c says what their params are */
    tsri_gather_rows_fn gather_rows;                     /* tiles with contiguous rows, one index each */
    tsri_tile_fn   scatter[3][TSR_DTYPE_COUNT];          /* by tsr_scatter_mode; NULL: none */
    tsri_accumulate_fn accumulate[TSRI_ACC_COUNT][TSR_DTYPE_COUNT]; /* reduce.h; NULL: none, here and below */
    tsri_reduce_short_fn reduce_short[TSRI_ACC_NONZERO + 1][TSR_DTYPE_COUNT];
    tsri_scan_fn    scan[TSRI_SCAN_COUNT][TSR_DTYPE_COUNT];
    tsri_nn_kernels nn[TSRI_ROW_TYPES];
    const tsri_attention_rows *attention;  /* of floats; NULL: in plain C */
    const tsri_conv_kernels *conv;         /* of float and double; NULL: none */
    const struct tsri_draw_kernels *draw;  /* draw.h */
    const struct tsri_sort_kernels *sort;  /* sort.h */
    const struct tsri_pool_kernels *pool;  /* conv/pooling.h: by the type of numbers */
    const struct tsri_image_kernels *image;  /* image/image.h */
    const struct tsri_block_kernels *blocks; /* blocks.h: by tsr_block_kind; NULL: none. Some are empty */
    const struct tsri_training_kernels *training; /* training.h */
} tsri_cpu_kernels;

/* The table for this machine. Chosen at the first call. */
extern tsri_cpu_kernels tsri_cpu_table;
extern bool tsri_cpu_table_chosen;
void tsri_cpu_table_choose(void);

static inline const tsri_cpu_kernels *tsri_cpu_kernels_get(void)
{
    if (!TSRI_LIKELY(tsri_load_acquire(&tsri_cpu_table_chosen))) tsri_cpu_table_choose();
    return &tsri_cpu_table;
}

/* What suits its processor. */
static inline const tsri_tuning *tsri_tuning_get(void)
{
    (void)tsri_cpu_kernels_get();
    return tsri_tuning_used;
}

/* Fills every slot (portable.c). */
void tsri_cpu_portable(tsri_cpu_kernels *k);

/* Fills the elementwise slots (elementwise.c). */
void tsri_cpu_elementwise_portable(tsri_cpu_kernels *k);

/* Fills the slots of reductions and scans (reduce.c). */
void tsri_cpu_reduce_portable(tsri_cpu_kernels *k);

/* Fills those of gather and scatter (index.c). */
void tsri_cpu_index_portable(tsri_cpu_kernels *k);

/* Fill those of random numbers (draw.c) and of sorting (order.c). */
void tsri_cpu_draw_portable(tsri_cpu_kernels *k);
void tsri_cpu_sort_portable(tsri_cpu_kernels *k);

#endif
