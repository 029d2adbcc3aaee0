/* conv.h - convolutions and pooling on the CPU.
 *
 * Every convolution is turned into a grid: three spatial dims along which windows slide,
 * and for each output the sum of products over taps (elements of the window) and channels.
 * "Kernels" are the output channels, each with its own weights; a "place" is a position
 * in the spatial dims. A transposed convolution is several grids, one for each remainder of the outputs
 * modulo the strides: each has only the taps that see an input, and its windows slide by one.
 *
 * Floats with vector instructions: micro-kernels with vectors across kernels (tiles.c), or with
 * vectors along places (windows.c). Others: a product of matrices (multiply.c), or directly,
 * where there is too little work for that (direct.c).
 */
#ifndef TSRI_CPU_CONV_H
#define TSRI_CPU_CONV_H

#include "core/desc_int.h"
#include "cpu/tuning/tuning.h"
#include "tessera/backend.h"

/* What suits this processor. Convolutions run when it is chosen. */
static inline const tsri_tuning_conv *tsri_conv_tuning(void) { return &tsri_tuning_used->conv; }

/* How windows slide along one spatial dim. Inputs outside 0 .. in - 1 are padding. */
typedef struct tsri_slide {
    int64_t out, in, taps;
    int64_t step;          /* inputs from one output's window to the next */
    int64_t first, reach;  /* tap t of output o sees input o * step + first + t * reach */
    int64_t x, w, z;       /* bytes from one input, tap and output to the next */
} tsri_slide;

/* The input that tap t of output 0 sees. */
static inline int64_t tsri_slide_at(const tsri_slide *s, int64_t tap) { return s->first + tap * s->reach; }

/* Bytes from the input that a tap sees for one output to that for the next; meaningless unless both are in
 * x. */
static inline int64_t tsri_slide_bytes(const tsri_slide *s) { return tsri_mul_wrapping(s->step, s->x); }

/* Narrows *begin .. *end - 1 to the outputs whose tap sees an input in x. */
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
    tsri_slide  axis[TSRI_AXES];    /* axes that an op lacks have size 1, and come first */
    tsr_dtype   dtype;
    int64_t     batch, groups;
    int64_t     channels, kernels;  /* of one group: inputs and outputs */
    const char *x, *w, *bias;       /* bias may be NULL */
    char       *z;
    int64_t     x_image, x_channel, w_group, w_channel, w_kernel, z_image, z_channel, bias_step;  /* bytes */
} tsri_grid;

/* All write all of the grid's outputs. TSR_ENOMEM if there is no memory for scratch. */
tsr_status tsri_grid_multiply(const tsri_grid *g);

/* For floats, if the instruction set has tile micro-kernels, and there are enough kernels to fill vectors. */
bool       tsri_grid_has_tiles(const tsri_grid *g);
tsr_status tsri_grid_tiles(const tsri_grid *g);

/* For floats, if the instruction set has strip micro-kernels, and windows are not too wide for scratch. */
bool       tsri_grid_has_windows(const tsri_grid *g);
tsr_status tsri_grid_windows(const tsri_grid *g);

/* For floats, if a group has one channel and few kernels. */
bool       tsri_grid_is_direct(const tsri_grid *g);
tsr_status tsri_grid_direct(const tsri_grid *g);

/* The ops (conv.c, pooling.c). */
bool       tsri_cpu_has_conv(const tsr_op *op);
tsr_status tsri_cpu_conv(const tsr_op *op);
tsr_status tsri_cpu_pool(const tsr_op *op);
tsr_status tsri_cpu_lp_pool(const tsr_op *op);  /* lp_pool.c */

#endif
