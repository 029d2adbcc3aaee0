/* gemm.h - what a matrix multiplication is made of: panels, strips, stores.
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
 * The last five are there where a machine multiplies so (their strips are not NULL), and
 * take the place of I16, F32 and U32, which every machine has. Machines with tiles have longer
 * elements in S8, U8 and BF16: 64 bytes of neighbouring indices of k.
 *
 *     pack    dtype -> panel:  for each index of k, `width` elements side by side
 *     strip   some rows of a, a panel of b -> sums
 *     store   sums -> dtype:   alpha * sum + beta * c, rounded once
 *
 * An instruction set brings strips with mr and nr of its own; packing and storing
 * take any. A dtype whose elements are those of its class is not packed where its
 * strides let strips read and write it as it lies.
 *
 * Complex panels hold the real parts of an index of k, then the imaginary ones;
 * complex tiles hold all real parts, then all imaginary ones.
 *
 * The order of a sum over k is fixed, so that every path, strip and number of
 * threads gives the same bits: products are added in order within blocks of
 * TSRI_GEMM_BLOCK indices, each from 0, and the blocks' sums in order. Where a
 * class multiplies and adds in one step, every kernel of the set does.
 *
 * Long dots (one row times one column) are the exception, where a set has strands for
 * their class: pieces of TSRI_GEMM_PIECE indices are summed in strands side by side, and
 * the pieces' sums in order. There a sum in order would be slower than memory.
 */
#ifndef TSRI_GEMM_H
#define TSRI_GEMM_H

#include "tessera/backend.h"

typedef enum tsri_gemm_class {
    TSRI_GEMM_F32, TSRI_GEMM_F64, TSRI_GEMM_I16, TSRI_GEMM_U32, TSRI_GEMM_U64, TSRI_GEMM_C64, TSRI_GEMM_C128,
    TSRI_GEMM_PAIRS, TSRI_GEMM_S8, TSRI_GEMM_U8, TSRI_GEMM_BF16, TSRI_GEMM_SPLIT,
    TSRI_GEMM_CLASSES
} tsri_gemm_class;

enum {
    TSRI_GEMM_BLOCK = 256,  /* indices of k that are summed from 0 */
    TSRI_GEMM_LONG = 1024,  /* indices of k that make no long dot */
    TSRI_GEMM_PIECE = 2048, /* those of a long dot that are summed at a time */
    TSRI_GEMM_ROWS = 16,    /* rows that tsri_gemm_rows_fn sums side by side, at most */
    TSRI_GEMM_STRIP = 16,   /* rows of a strip in vectors, at most */
    TSRI_GEMM_TILED = 32,   /* rows of a strip in tiles, at most */
    TSRI_GEMM_SWEEP = 2048  /* columns of a sweep, at most */
};

/* Strips ------------------------------------------------------------------------ */

/* Rows of a times columns of b, for k <= TSRI_GEMM_BLOCK indices. Steps in bytes.
 * One of a's steps is an element. Complex operands are panels; the imaginary parts of
 * sums lie z_im after the real ones. */
typedef struct tsri_gemm_strip {
    int64_t     k;
    const char *a;
    int64_t     a_row, a_col;  /* a_col: to the next element, of a group of indices */
    int64_t     rows;          /* where one function serves strips of any height */
    const char *b;
    int64_t     b_row;  /* columns follow each other */
    char       *z;
    int64_t     z_row, z_im;
    int64_t     cols;   /* of which all vectors of the strip but the last are full: more than the next narrower
                           strips have, to the width that the strip is for. No others of z are written (but see
                           `writes`) */
    bool        add;    /* to the sums that z holds; else z is written */
    bool        padded; /* rows of b can be read to the whole width; else `cols` columns are, and no more */
    bool        stream; /* z is written around the caches: it is aligned to vectors, and add is false */
    bool        far;    /* z is far, and add is false: strips may send for that of the next one while they sum */
    const char *const *ahead;  /* `lines` addresses, one at least, that are needed soon: a strip sends for
                                  one with every two indices of k. NULL: none. Strips that read whole rows
                                  send for the next line after each of them with every element */
    int64_t            lines;
    /* Strips alike that follow, each so far from the one before, and of as many columns. Only for operands that are
     * used as they lie, in strips as high as their width has, or of eight rows; others do but the first. The last
     * one is left here. */
    int64_t            more, z_next, a_next, b_next;
} tsri_gemm_strip;

typedef void (*tsri_gemm_strip_fn)(tsri_gemm_strip *s);

/* The same for whole panels: tile (mr x nr) = (add ? tile : 0) + the sum over p < k of
 * a[p] (mr elements) times b[p] (nr elements). The three are aligned as their elements
 * are, and do not overlap. */
typedef void (*tsri_gemm_ukr_fn)(int64_t k, const void *a, const void *b, void *tile, bool add);

/* Strips of one width: run[r] is for r rows, 1 <= r <= rows. A set has them from narrow
 * to wide, and from high to low; after the widest comes one of 0 columns. A panel of b is
 * as wide as the narrowest of them that its columns fit. */
typedef struct tsri_gemm_strips {
    int64_t            cols, rows;
    tsri_gemm_strip_fn run[TSRI_GEMM_TILED + 1];
} tsri_gemm_strips;

/* Memory ------------------------------------------------------------------------ */

/* alpha and beta in the types that sums have. */
typedef struct tsri_gemm_scale {
    tsr_c128 alpha, beta;  /* floats: the real part */
    uint64_t int_alpha, int_beta;
    bool     plain;        /* alpha is 1 and there is no c; the others do not count */
} tsri_gemm_scale;

/* One matrix as it lies in memory; steps in bytes. */
typedef struct tsri_gemm_matrix {
    char   *data;
    int64_t row, col;
} tsri_gemm_matrix;

/* A panel from n <= width elements `step` apart, for k indices `step_k` apart. What is
 * missing to `width`, and to a whole group of indices, is 0. */
typedef void (*tsri_gemm_pack_fn)(void *panel, const char *src, int64_t step, int64_t step_k, int64_t n,
                                  int64_t k, int width);

/* rows x cols sums of a tile whose rows are nr long (and whose imaginary parts lie mr *
 * nr after the real ones) to z, with what c holds there (c.data may be NULL). */
typedef void (*tsri_gemm_store_fn)(tsri_gemm_matrix z, tsri_gemm_matrix c, const void *tile, int64_t rows,
                                   int64_t cols, int mr, int nr, const tsri_gemm_scale *scale);

/* sums[i] = (add ? sums[i] : 0) + the sum over p < k of row i of a times x[i * x_step +
 * p], for rows <= TSRI_GEMM_ROWS. x holds panels of width 1; complex sums hold the real
 * parts, then, from TSRI_GEMM_ROWS on, the imaginary ones. k is TSRI_GEMM_BLOCK at most;
 * where the class has strands, also up to TSRI_GEMM_PIECE for one row whose step_k is an
 * element, which is then summed in them. */
typedef void (*tsri_gemm_rows_fn)(void *sums, const char *a, int64_t step, int64_t step_k, int64_t rows,
                                  int64_t k, const void *x, int64_t x_step, bool add);

typedef struct tsri_gemm_dtype {
    tsri_gemm_class    cls;
    bool               native;  /* elements are those of panels, and of sums */
    tsri_gemm_pack_fn  pack;
    tsri_gemm_store_fn store;
    tsri_gemm_rows_fn  rows;
} tsri_gemm_dtype;

/* Classes ----------------------------------------------------------------------- */

/* How a machine multiplies elements of one class. */
typedef struct tsri_gemm_ukr {
    tsri_gemm_ukr_fn run;
    int16_t mr, nr;   /* of run */
    int16_t element;  /* bytes of one element of a panel, both parts of a complex one */
    int16_t sum;      /* bytes of one sum in a tile */
    int16_t group;    /* indices of k in one element */
    int16_t block;    /* indices of k that strips take at a time; 0: TSRI_GEMM_BLOCK elements */
    int16_t start;    /* 1: a packed panel of b begins with the sums that strips start from; else 0 */
    int16_t panel;    /* columns of a packed panel of b, at most: those of one of the strips */
    int16_t writes;   /* columns that strips read and write at a time, whether or not there are as many, so that z has
                         a whole number of them in every part; 0: none but those that are there */
    bool    packed_only;  /* strips want both operands packed */
    bool    whole_rows;   /* but read a as it lies where its rows are whole elements */
    bool    streams;      /* strips can write around the caches */
    bool    strands;      /* rows of dtypes can sum one row in strands */
    void (*begin)(void), (*end)(void);  /* around a stretch of strips on one thread; NULL: nothing is to do */
    const tsri_gemm_strips *strips;
    tsri_gemm_strip_fn      sweep;   /* one row, up to TSRI_GEMM_SWEEP columns; NULL: none */
    const tsri_gemm_dtype  *dtypes;  /* TSR_DTYPE_COUNT of them */
    const tsri_gemm_dtype  *right;   /* the same for b */
} tsri_gemm_ukr;

/* In plain C (ukr_portable.c, pack.c). pack is NULL for dtypes that are not multiplied. */
extern const tsri_gemm_ukr   tsri_gemm_ukr_portable[TSRI_GEMM_CLASSES];
extern const tsri_gemm_dtype tsri_gemm_dtypes[TSR_DTYPE_COUNT];

/* Products ---------------------------------------------------------------------- */

/* z = alpha * a b + beta * c, of matrices in memory. */
typedef struct tsri_gemm {
    const tsri_gemm_ukr *ukr;
    tsri_gemm_class      cls;
    tsr_dtype            a_type, b_type, z_type;
    tsri_gemm_scale      scale;
    tsri_gemm_matrix     a, b, c, z;  /* c.data is NULL if there is none */
    int64_t              m, n, k;
} tsri_gemm;

/* The matrix from (row, col) on. */
static inline tsri_gemm_matrix tsri_gemm_at(tsri_gemm_matrix x, int64_t row, int64_t col)
{
    if (x.data) x.data += row * x.row + col * x.col;
    return x;
}

/* The product, on as many threads as it is worth (product.c). TSR_ENOMEM comes without
 * words: another thread may have to say them. Changes g. */
tsr_status tsri_gemm_run(tsri_gemm *g);

/* Turns the product where strips then suit it better, which is the same product of other
 * matrices; tells whether a and b changed sides. */
bool tsri_gemm_turn(tsri_gemm *g);

/* Parts of it, for products in which none of m, n and k is 0: */
tsr_status tsri_gemm_panels(const tsri_gemm *g);  /* any (panels.c) */
tsr_status tsri_gemm_regions(const tsri_gemm *g); /* any; on threads, some in regions (regions.c) */
tsr_status tsri_gemm_vector(const tsri_gemm *g);  /* n is 1 (vector.c) */
bool       tsri_gemm_is_long_dot(const tsri_gemm *g);
tsr_status tsri_gemm_long_dot(const tsri_gemm *g);  /* where it is one (dot.c) */

/* Is a read as it lies, and b packed? (panels.c) */
bool tsri_gemm_packs_b_only(const tsri_gemm *g);

/* For products that strips read and write as they lie, and of less than `work` products of
 * numbers: `count` of them on this thread, each `step` bytes of z, a and b after the one
 * before (small.c). */
enum { TSRI_GEMM_SMALL = 1 << 22 };
bool tsri_gemm_is_small(const tsri_gemm *g, int64_t work);
void tsri_gemm_small(const tsri_gemm *g, int64_t count, const int64_t step[3]);

/* z = a b of two matrices of one dtype, if that takes one panel of b and nothing but strips; else false. For
 * calls on a handful of elements. */
bool tsri_gemm_at_once(const tsri_gemm_ukr *u, const tsr_tensor *z, const tsr_tensor *a, const tsr_tensor *b);

/* The op, and whether its dtypes can be multiplied (gemm.c). */
bool       tsri_cpu_has_matmul(const tsr_op *op);
tsr_status tsri_cpu_matmul(const tsr_op *op);

#endif
