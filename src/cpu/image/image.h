/* image.h - pictures of other sizes and at other places on the CPU. */
#ifndef TSRI_CPU_IMAGE_H
#define TSRI_CPU_IMAGE_H

#include "core/desc_int.h"
#include "tessera/backend.h"

/* Lines are of three types; u8 is summed in f32. */
enum { TSRI_LINE_F32, TSRI_LINE_F64, TSRI_LINE_U8, TSRI_LINE_TYPES };

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

    /* The lowest input of each block of as many elements as a kernel picks at a time; and, tap by tap, how
     * many elements behind it each input is. NULL: in some block they are further apart than two blocks. */
    const int32_t *base, *behind;
} tsri_columns;

enum { TSRI_FEW_TAPS = 6 };  /* of the tables that go tap by tap, at most */

typedef struct tsri_image_kernels {
    /* z[i] = the sum of weight[t] * row[t][i], t < taps, i < n; numbers of the rows' type, but f32 of u8. */
    void (*combine[TSRI_LINE_TYPES])(void *z, const void *const *row, const void *weight, int64_t taps,
                                     int64_t n);

    /* The same of rows of f32, to bytes, as to_bytes has it. */
    void (*combine_bytes)(uint8_t *z, const void *const *row, const float *weight, int64_t taps, int64_t n);

    /* A line of pixels of `inner` elements each, to other columns; z as above. */
    void (*spread[TSRI_LINE_TYPES])(void *z, const void *x, const tsri_columns *c, int64_t inner);

    int64_t picked;  /* floats of outputs that spread picks from twice as many of inputs; 0: it picks none */

    /* Rounded, halves to even, and held to 0 .. 255; NaN gives 0. */
    void (*to_bytes)(uint8_t *z, const float *x, int64_t n);
} tsri_image_kernels;

struct tsri_cpu_kernels;
void tsri_cpu_image_portable(struct tsri_cpu_kernels *k);  /* lines_portable.c */

/* The ops (resize.c, nearest.c, grid.c). */
tsr_status tsri_cpu_resize(const tsr_op *op);
tsr_status tsri_cpu_resize_nearest(const tsr_op *op);
tsr_status tsri_cpu_grid_sample(const tsr_op *op);

#endif
