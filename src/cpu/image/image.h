/* image.h - pictures of other sizes and at other places on the CPU. */
#ifndef TSRI_CPU_IMAGE_H
#define TSRI_CPU_IMAGE_H

#include "core/desc_int.h"
#include "tessera/backend.h"

/* Lines of floats are of two types. */
enum { TSRI_LINE_F32, TSRI_LINE_F64, TSRI_LINE_TYPES };

/* How columns become others: output o is the sum of weight[o * taps + t] * column first[o] + t, for t below
 * count[o]. */
typedef struct tsri_columns {
    int64_t        in, out, taps;
    const int64_t *first, *count;
    const void    *weight;    /* float, or double for lines of doubles */
    int64_t        inside;    /* outputs, from the first on, with all taps four elements before the end */

    /* Tap by tap, for every element of a line of outputs: where its input is, as bytes of floats, and its
     * weight. NULL: inputs are too far, or taps too many. */
    const int32_t *offset;
    const float   *by_tap;

    /* The lowest input of each block of elements; and, tap by tap, how many elements behind it each input is:
     * less than twice as many as a kernel gathers at a time. NULL: they are further apart. */
    int64_t        block;
    const int32_t *base, *behind;
} tsri_columns;

enum { TSRI_TABLE_TAPS = 6 };  /* of the tables that go tap by tap, at most */

/* Bytes are resized with integers, and so alike on every machine: weights are in units of 2^-bits, and lines
 * between the dims are 16-bit numbers in units of 2^-TSRI_LINE_BITS. */
enum { TSRI_LINE_BITS = 6, TSRI_BYTE_BLOCK = 4, TSRI_BYTE_TAPS = 16 };

typedef struct tsri_byte_columns {
    int64_t        in, out, inner;  /* columns, and elements of a pixel */
    const int64_t *first, *count;   /* as tsri_columns */
    int64_t        taps;            /* of a row of weights: a multiple of TSRI_BYTE_TAPS; the rest are 0 */
    const int16_t *weight;
    int            bits;
    int64_t        inside;          /* outputs from the first on that may read `taps` pixels and 4 bytes */

    /* The elements of a line of outputs in blocks of TSRI_BYTE_BLOCK, and their taps in pairs, pair by pair.
     * The inputs of a block are among the 16 from `base` on. shuffle: 16 indices that make each
     * pair two 16-bit numbers; by_pair: their weights. NULL: inputs of a block are further apart. */
    int64_t        blocks, pairs;   /* blocks: a multiple of four */
    const int32_t *base;
    const uint8_t *shuffle;
    const int16_t *by_pair;
} tsri_byte_columns;

/* The most bits that weights up to `largest` have as 16-bit numbers, up to `most`. */
int tsri_weight_bits(double largest, int most);

/* n weights in units of 2^-bits. Their running sums are rounded, and so no error adds up. */
void tsri_fix_weights(int16_t *z, const double *w, int64_t n, int bits);

/* Bytes of the tables below; 0: too many. */
int64_t tsri_byte_table_bytes(int64_t in, int64_t out, int64_t taps, int64_t inner);

/* Weights of bytes, and of lines, have at most so many bits: sums of products, up to 1.5 times as large as
 * the largest input, stay in 32. */
enum { TSRI_BYTE_WEIGHT_BITS = 22, TSRI_LINE_WEIGHT_BITS = 15 };

/* weight: rows of `taps` numbers. */
void tsri_byte_columns_fill(tsri_byte_columns *c, const double *weight, int64_t taps, int most_bits,
                            void *room);

typedef struct tsri_image_kernels {
    /* z[i] = the sum of weight[t] * row[t][i], t < taps, i < n; all numbers are of one type. */
    void (*combine[TSRI_LINE_TYPES])(void *z, const void *const *row, const void *weight, int64_t taps,
                                     int64_t n);

    /* A line of pixels of `inner` elements each, to other columns. */
    void (*spread[TSRI_LINE_TYPES])(void *z, const void *x, const tsri_columns *c, int64_t inner);

    int64_t gathered;  /* floats of outputs that spread gathers from twice as many inputs; 0: none */

    /* A line of bytes to a line of other columns, rounded, halves up. Up to 16 numbers behind it are
     * written too. */
    void (*spread_bytes)(int16_t *z, const uint8_t *x, const tsri_byte_columns *c);

    /* z[i] = the sum of weight[t] * row[t][i], rounded, halves up, and held to 0 .. 255. Rows are lines, of
     * which up to 32 numbers behind the n are read. */
    void (*combine_bytes)(uint8_t *z, const void *const *row, const int16_t *weight, int bits, int64_t taps,
                          int64_t n);

    /* The other way round, for pictures that become much smaller: z[i] = the sum of weight[t] * row[t][i] of
     * rows of bytes as a line; and a line to bytes of other columns, rounded, halves up, and held to
     * 0 .. 255. Up to 32 numbers behind the line are read there. */
    void (*combine_rows)(int16_t *z, const void *const *row, const int16_t *weight, int bits, int64_t taps,
                         int64_t n);
    void (*gather_bytes)(uint8_t *z, const int16_t *x, const tsri_byte_columns *c);

    /* A row of `out` pixels that are the means of two by two, of pixels of up to four bytes; NULL: there is
     * none. */
    void (*halve_bytes)(uint8_t *z, const uint8_t *above, const uint8_t *below, int64_t out, int64_t inner);
} tsri_image_kernels;

extern const tsri_image_kernels tsri_image_plain;  /* lines_portable.c */

struct tsri_cpu_kernels;
void tsri_cpu_image_portable(struct tsri_cpu_kernels *k);  /* lines_portable.c */

/* The ops (resize.c, resize_nearest.c, grid.c). */
tsr_status tsri_cpu_resize(const tsr_op *op);
tsr_status tsri_cpu_resize_nearest(const tsr_op *op);
tsr_status tsri_cpu_grid_sample(const tsr_op *op);

#endif
