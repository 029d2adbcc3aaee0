/* gemm.h - what a matrix product is made of: panels, micro-kernels, stores.
 *
 * Whatever the dtypes and strides, work is done on elements of one of twelve classes:
 *
 *     F32   f8, f16, bf16, f32     computed and summed in float
 *     F64   f64                    in double
 *     I16   i8, u8, i16, u16       products of int16, summed in 32 bits
 *     U32   i32, u32               in 32 bits; sums wrap, signed and unsigned alike
 *     U64   i64, u64               in 64 bits
 *     C64   c64                    real and imaginary parts apart, in float
 *     C128  c128                   the same in double
 *     PAIRS i8, u8, i16, u16       elements of two int16, of neighbouring indices of k
 *     S8    i8                     elements of four bytes; a has 128 added
 *     U8    u8 times i8            elements of four bytes
 *     BF16  bf16                   elements of two, summed in float
 *     SPLIT i32, u32               elements of two, in halves of 16 bits (gemm_vnni.c)
 *
 * The last five exist only on machines with such instructions (elsewhere their microkernels are
 * NULL). There they replace I16, F32 and U32, which every machine has. On machines with tile
 * registers an element of S8, U8 and BF16 is longer: 64 bytes of neighbouring indices of k.
 *
 *     pack           dtype -> panel:  for each index of k, `width` elements side by side
 *     micro-kernel   a panel of a, a panel of b -> a micro-tile of sums, in registers, over a block of k
 *     store          sums -> dtype:   alpha * sum + beta * c, rounded once
 *
 * Each instruction set has micro-kernels of its own sizes mr x nr. Packing and storing work for
 * any size. An operand is used unpacked where its elements are those of its class, and its
 * strides are ones that micro-kernels can read or write.
 *
 * Complex panels hold the real parts of an index of k, then the imaginary ones;
 * complex tiles hold all real parts, then all imaginary ones.
 *
 * The order of a sum over k is fixed, so that every path, micro-kernel and number of
 * threads gives the same bits: products are added in order within blocks of
 * TSRI_GEMM_BLOCK indices, each from 0, and the blocks' sums in order. If a
 * class uses fused multiply-add, every kernel of the instruction set does.
 *
 * Long dots (one row times one column) are the exception, where an instruction set has
 * many_accumulators for their class: a piece of TSRI_GEMM_PIECE indices, of half as many complex ones,
 * is summed in several independent accumulators, and the pieces' sums are added in order. A single
 * accumulator would be slower than memory there.
 */
#ifndef TSRI_GEMM_H
#define TSRI_GEMM_H

#include "cpu/tuning/tuning.h"
#include "tessera/backend.h"

typedef enum tsri_gemm_class {
    TSRI_GEMM_F32, TSRI_GEMM_F64, TSRI_GEMM_I16, TSRI_GEMM_U32, TSRI_GEMM_U64, TSRI_GEMM_C64, TSRI_GEMM_C128,
    TSRI_GEMM_PAIRS, TSRI_GEMM_S8, TSRI_GEMM_U8, TSRI_GEMM_BF16, TSRI_GEMM_SPLIT,
    TSRI_GEMM_CLASSES
} tsri_gemm_class;

enum {
    TSRI_GEMM_BLOCK = 256,  /* indices of k that are summed from 0 */
    TSRI_GEMM_LONG = 1024,  /* a dot of more indices of k is a long one */
    TSRI_GEMM_PIECE = 2048, /* indices of a long dot that are summed at a time */
    TSRI_GEMM_ROWS = 16,    /* rows that tsri_gemm_rows_fn sums at once, at most */
    TSRI_GEMM_VECTOR_ROWS = 16,   /* rows of a micro-tile in vector registers, at most */
    TSRI_GEMM_TILE_ROWS = 32,   /* rows of one in tile registers, at most */
    TSRI_GEMM_SWEEP = 2048  /* columns of a sweep, at most */
};

/* Micro-kernels ----------------------------------------------------------------- */

/* The operands of a micro-kernel: rows of a times columns of b, for k <= TSRI_GEMM_BLOCK indices,
 * give a micro-tile of z; `more` others may follow it. Steps are in bytes. One of a's two steps is
 * the size of an element. Complex operands are packed; the imaginary part of a sum is z_im bytes
 * after the real one. */
typedef struct tsri_gemm_strip {
    int64_t     k;
    const char *a;
    int64_t     a_row, a_col;  /* a_col: to the next element, of a group of indices */
    int64_t     rows;          /* read only by micro-kernels that serve any number of rows */
    const char *b;
    int64_t     b_row;  /* columns have unit stride */
    char       *z;
    int64_t     z_row, z_im;
    int64_t     cols;   /* columns: more than the next narrower micro-kernels have, and at most those of this
                           one, so that all its vectors but the last are full. No other columns of z are
                           written (but see `writes`) */
    bool        add;    /* to the sums that z holds; else z is written */
    bool        padded; /* b may be read to the micro-kernel's whole width; else only `cols` columns */
    bool        stream; /* non-temporal stores: z is aligned to vectors, and add is false */
    bool        prefetch_z;    /* z is not in cache, and add is false: the next z may be prefetched */
    const char *const *ahead;  /* `lines` addresses, one at least, that are needed soon: one is prefetched
                                  with every two indices of k. NULL: none. Micro-kernels of `whole_rows`
                                  prefetch the next line of every address with each element of k */
    int64_t            lines;
    /* How many micro-tiles of the same size follow, and the steps from one to the next in z, a and b. Only
     * for unpacked operands, and only the micro-kernels of most rows for their width, or of eight rows, take
     * more than one: the others compute the first and ignore `more`. On return z, a and b are those of the
     * last. */
    int64_t            more, z_next, a_next, b_next;
} tsri_gemm_strip;

typedef void (*tsri_gemm_microkernel_fn)(tsri_gemm_strip *s);

/* The same for two full packed panels: tile (mr x nr) = (add ? tile : 0) + the sum over p < k of
 * a[p] (mr elements) times b[p] (nr elements). The three are aligned as their elements
 * are, and do not overlap. */
typedef void (*tsri_gemm_panel_fn)(int64_t k, const void *a, const void *b, void *tile, bool add);

/* Micro-kernels of one width: run[r] is for r rows, 1 <= r <= rows. An instruction set lists them
 * from narrow to wide, so with fewer and fewer rows; a width of 0 ends the list. A panel of b is
 * as wide as the narrowest of them that its columns fit in. */
typedef struct tsri_gemm_microkernels {
    int64_t            cols, rows;
    tsri_gemm_microkernel_fn run[TSRI_GEMM_TILE_ROWS + 1];
} tsri_gemm_microkernels;

/* Memory ------------------------------------------------------------------------ */

/* alpha and beta in the types that sums have. */
typedef struct tsri_gemm_scale {
    tsr_c128 alpha, beta;  /* floats: the real part */
    uint64_t int_alpha, int_beta;
    bool     plain;        /* alpha is 1 and there is no c; the others do not count */
} tsri_gemm_scale;

/* One matrix in memory; steps in bytes. */
typedef struct tsri_gemm_matrix {
    char   *data;
    int64_t row, col;
} tsri_gemm_matrix;

/* A panel from n <= width elements `step` apart, for k indices `step_k` apart. What is
 * missing to `width`, and to a whole group of indices, is 0. */
typedef void (*tsri_gemm_pack_fn)(void *panel, const char *src, int64_t step, int64_t step_k, int64_t n,
                                  int64_t k, int width);

/* Stores rows x cols sums of a tile to z, with what c holds there (c.data may be NULL). Rows of the
 * tile are nr long; imaginary parts are mr * nr after the real ones. */
typedef void (*tsri_gemm_store_fn)(tsri_gemm_matrix z, tsri_gemm_matrix c, const void *tile, int64_t rows,
                                   int64_t cols, int mr, int nr, const tsri_gemm_scale *scale);

/* sums[i] = (add ? sums[i] : 0) + the sum over p < k of row i of a times x[i * x_step +
 * p], for rows <= TSRI_GEMM_ROWS. x holds panels of width 1; complex sums hold the real
 * parts, then, from TSRI_GEMM_ROWS on, the imaginary ones. k is TSRI_GEMM_BLOCK at most;
 * where the class has many_accumulators, also up to TSRI_GEMM_PIECE for one row whose step_k is
 * the size of an element; that row is then summed in them. */
typedef void (*tsri_gemm_rows_fn)(void *sums, const char *a, int64_t step, int64_t step_k, int64_t rows,
                                  int64_t k, const void *x, int64_t x_step, bool add);

/* sums[j] = the sum over p < k of x[p] times element p of row j, for `rows` rows of bytes with unit stride,
 * `step` apart; x is a packed panel of width 1. Sums wrap. */
typedef void (*tsri_gemm_dots_fn)(uint32_t *sums, const char *x, const char *row, int64_t step, int64_t rows,
                                  int64_t k);

typedef struct tsri_gemm_dtype {
    tsri_gemm_class    cls;
    bool               native;  /* elements are what panels, and sums, hold */
    tsri_gemm_pack_fn  pack;
    tsri_gemm_store_fn store;
    tsri_gemm_rows_fn  rows;
    tsri_gemm_microkernel_fn sweep;  /* one row, up to TSRI_GEMM_SWEEP columns of this dtype; NULL: none */
} tsri_gemm_dtype;

/* Classes ----------------------------------------------------------------------- */

/* How a machine multiplies elements of one class: the kernels of an instruction set. */
typedef struct tsri_gemm_kernels {
    tsri_gemm_panel_fn run;
    int16_t mr, nr;   /* of run */
    int16_t element;  /* bytes of one element of a panel, both parts of a complex one */
    int16_t sum;      /* bytes of one sum in a tile */
    int16_t group;    /* indices of k in one element */
    int16_t block;    /* indices of k of a micro-kernel's call, at most; 0: TSRI_GEMM_BLOCK elements */
    int16_t start;    /* 1: a packed panel of b begins with a row of what sums start from; else 0 */
    int16_t panel;    /* columns of a packed panel of b, at most: the width of one of the micro-kernels */
    int16_t writes;   /* z is written in groups of this many columns, also where fewer are left: the columns
                         of z must be a multiple of it. 0: only the columns asked for are written */
    bool    packed_only;  /* both operands must be packed, */
    bool    whole_rows;   /* except that a is used unpacked where its rows are whole elements */
    bool    streams;      /* micro-kernels have non-temporal stores */
    bool    many_accumulators;          /* the dtypes' `rows` sums one long row in several accumulators */
    void (*begin)(void), (*end)(void);  /* called around a run of micro-kernels on one thread; may be NULL */
    tsri_gemm_dots_fn dots;               /* of rows of b's transpose, with bytes (bytes.c); or NULL */
    const tsri_gemm_microkernels *microkernels;
    const tsri_gemm_dtype *dtypes;        /* TSR_DTYPE_COUNT of them */
    const tsri_gemm_dtype *right;         /* the same for b */
} tsri_gemm_kernels;

/* In plain C (gemm_portable.c, pack.c). pack is NULL for dtypes that are not multiplied. */
extern const tsri_gemm_kernels   tsri_gemm_kernels_portable[TSRI_GEMM_CLASSES];
extern const tsri_gemm_dtype tsri_gemm_dtypes[TSR_DTYPE_COUNT];

/* Products ---------------------------------------------------------------------- */

/* z = alpha * a b + beta * c, of matrices in memory. */
typedef struct tsri_gemm {
    const tsri_gemm_kernels *kernels;
    tsri_gemm_class      cls;
    tsr_dtype            a_type, b_type, z_type;
    tsri_gemm_scale      scale;
    tsri_gemm_matrix     a, b, c, z;  /* c.data is NULL if there is none */
    const struct tsri_blocks *blocks; /* b as rows of quantised blocks (cpu/blocks.h) for skinny.c, or NULL */
    int64_t              m, n, k;
} tsri_gemm;

/* The matrix from (row, col) on. */
static inline tsri_gemm_matrix tsri_gemm_at(tsri_gemm_matrix x, int64_t row, int64_t col)
{
    if (x.data) x.data += row * x.row + col * x.col;
    return x;
}

/* The product, on as many threads as it is worth (product.c). Sets no message with TSR_ENOMEM:
 * the thread that reports it may be another. Changes g. */
tsr_status tsri_gemm_run(tsri_gemm *g);

/* What suits this processor. Products run when it is chosen. */
static inline const tsri_tuning_products *tsri_gemm_tuning(void) { return &tsri_tuning_used->products; }

/* Replaces the product by its transpose, b^T a^T = z^T, where micro-kernels suit that better. Returns
 * whether it did, so that a and b are swapped. */
bool tsri_gemm_transpose(tsri_gemm *g);

/* Parts of it, for products in which none of m, n and k is 0: */
tsr_status tsri_gemm_panels(const tsri_gemm *g);  /* any (panels.c) */
tsr_status tsri_gemm_regions(const tsri_gemm *g); /* any; on threads, some in regions (regions.c) */
tsr_status tsri_gemm_skinny(const tsri_gemm *g);  /* of few rows, with a b of unit stride along k */
tsr_status tsri_gemm_bytes(const tsri_gemm *g);   /* the same by kernels with dots, b unpacked (bytes.c) */
/* n is 1, or at most TSRI_GEMM_VECTORS and the rows of a have unit stride (vector.c). */
enum { TSRI_GEMM_VECTORS = 3 };
tsr_status tsri_gemm_vector(const tsri_gemm *g);
bool       tsri_gemm_is_long_dot(const tsri_gemm *g);
tsr_status tsri_gemm_long_dot(const tsri_gemm *g);  /* where it is one (dot.c) */

/* A panel of columns col .. of the blocks, from index p of k on (linear_blocks.c). */
void tsri_gemm_pack_blocks(const tsri_gemm *g, void *panel, int64_t p, int64_t k, int64_t col, int64_t cols,
                           int width);

/* Is a used unpacked, and b packed? (panels.c) */
bool tsri_gemm_packs_b_only(const tsri_gemm *g);

/* For products of fewer than `work` multiplications whose a, b and z are used unpacked: `count` of
 * them on this thread, `step` bytes of z, a and b apart (small.c). */
bool tsri_gemm_is_small(const tsri_gemm *g, int64_t work);
void tsri_gemm_small(const tsri_gemm *g, int64_t count, const int64_t step[3]);

/* z = a b of two small matrices of one dtype, if b fits one panel and nothing need be packed; else false.
 * For calls whose overhead counts. */
bool tsri_gemm_one_panel(const tsri_gemm_kernels *u, const tsr_tensor *z, const tsr_tensor *a,
                         const tsr_tensor *b);

/* The op, and whether its dtypes can be multiplied (gemm.c). */
bool       tsri_cpu_has_matmul(const tsr_op *op);
tsr_status tsri_cpu_matmul(const tsr_op *op);

#endif
