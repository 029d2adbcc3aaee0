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
    const int32_t *offset;    /* tap by tap: where each output's float is, in bytes; NULL: none, or too far */
    const float   *by_tap;    /* tap by tap: the weights, if there are offsets */
} tsri_columns;

typedef struct tsri_image_kernels {
    /* z[i] = the sum of weight[t] * row[t][i], t < taps, i < n; numbers of the rows' type, but f32 of u8. */
    void (*combine[TSRI_LINE_TYPES])(void *z, const void *const *row, const void *weight, int64_t taps,
                                     int64_t n);

    /* A line of pixels of `inner` elements each, to other columns; z as above. */
    void (*spread[TSRI_LINE_TYPES])(void *z, const void *x, const tsri_columns *c, int64_t inner);

    /* Rounded, halves to even, and held to 0 .. 255; NaN gives 0. */
    void (*to_bytes)(uint8_t *z, const float *x, int64_t n);
} tsri_image_kernels;

struct tsri_cpu_kernels;
void tsri_cpu_image_portable(struct tsri_cpu_kernels *k);  /* portable.c */

/* The ops (resize.c, nearest.c, grid.c). */
tsr_status tsri_cpu_resize(const tsr_op *op);
tsr_status tsri_cpu_resize_nearest(const tsr_op *op);
tsr_status tsri_cpu_grid_sample(const tsr_op *op);

#endif
