/* conv.h - convolutions and pools on the CPU.
 *
 * Whatever its options, a convolution comes down to a grid: three spatial dims along
 * which windows slide, and for each output the sum over taps and channels of products.
 * A transposed one is several grids, one for each remainder of the outputs modulo the
 * strides: in each, only the taps that meet an input are left, and the windows slide by
 * one. Grids of floats are done where vectors bring it: by tiles with vectors of kernels
 * (tiles.c), or by strips with vectors of places (windows.c). Others are done by a product
 * of matrices (multiply.c), or directly, where there is too little to multiply with
 * (direct.c).
 */
#ifndef TSRI_CPU_CONV_H
#define TSRI_CPU_CONV_H

#include "core/desc_int.h"
#include "tessera/backend.h"

/* How windows slide along one spatial dim. What lies outside 0 .. in - 1 is not there. */
typedef struct tsri_slide {
    int64_t out, in, taps;
    int64_t step;          /* inputs from one output's window to the next */
    int64_t first, reach;  /* tap t of output o looks at input o * step + first + t * reach */
    int64_t x, w, z;       /* bytes from one input, tap and output to the next */
} tsri_slide;

/* Where tap t of output 0 looks. */
static inline int64_t tsri_slide_at(const tsri_slide *s, int64_t tap) { return s->first + tap * s->reach; }

/* Bytes from where a tap looks for one output to where it looks for the next; junk if the two are not both
 * in x. */
static inline int64_t tsri_slide_bytes(const tsri_slide *s) { return tsri_mul_wrapping(s->step, s->x); }

/* Outputs *begin .. *end - 1 are those of begin .. end - 1 whose tap looks at an input that is there. */
static inline void tsri_slide_inside(const tsri_slide *s, int64_t tap, int64_t *begin, int64_t *end)
{
    const int64_t at = tsri_slide_at(s, tap);
    const int64_t low = at >= 0 ? 0 : (-at - 1) / s->step + 1;
    const int64_t high = s->in > at ? (s->in - at - 1) / s->step + 1 : 0;
    if (low > *begin) *begin = low;
    if (high < *end) *end = high;
}

enum { TSRI_AXES = 3 };

typedef struct tsri_grid {
    tsri_slide  axis[TSRI_AXES];    /* axes that an op lacks have one place, and come first */
    tsr_dtype   dtype;
    int64_t     batch, groups;
    int64_t     channels, kernels;  /* of one group: inputs and outputs */
    const char *x, *w, *bias;       /* bias may be NULL */
    char       *z;
    int64_t     x_image, x_channel, w_group, w_channel, w_kernel, z_image, z_channel, bias_step;  /* bytes */
} tsri_grid;

/* TSR_ENOMEM where there is no room for scratch. All of the grid's outputs are written. */
tsr_status tsri_grid_multiply(const tsri_grid *g);

/* For floats, where vectors bring tiles, and kernels fill them. */
bool       tsri_grid_has_tiles(const tsri_grid *g);
tsr_status tsri_grid_tiles(const tsri_grid *g);

/* For floats, where vectors bring strips, and windows are not wide beyond measure. */
bool       tsri_grid_has_windows(const tsri_grid *g);
tsr_status tsri_grid_windows(const tsri_grid *g);

/* For floats; good where a group has one channel and few kernels. */
bool       tsri_grid_is_direct(const tsri_grid *g);
tsr_status tsri_grid_direct(const tsri_grid *g);

/* The ops (conv.c, pool.c). */
bool       tsri_cpu_has_conv(const tsr_op *op);
tsr_status tsri_cpu_conv(const tsr_op *op);
tsr_status tsri_cpu_pool(const tsr_op *op);

#endif
