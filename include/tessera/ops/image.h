/* image.h - resize and resample pictures, signals and volumes.
 *
 * Rules for the whole header:
 *
 *   - x is (n, c, spatial...) with one to three spatial dims, or, where it says so, (c,
 *     spatial...) without a batch. An empty batch and no channels are legal.
 *   - The definitions are those of PyTorch's interpolate and grid_sample. Coordinates are
 *     computed in f64; f32 and shorter floats are summed in f32, f64 in f64, and rounded
 *     once. PyTorch computes coordinates of f32 in f32, and so is further off in large
 *     pictures.
 *   - Operands have any strides, and so channels may come last in memory.
 *   - The result has the same bits for every number of threads.
 *
 * TSR_ESHAPE if sizes do not fit; TSR_EDTYPE if a dtype is not taken; TSR_EINVAL if options
 * contradict each other; TSR_EOVERFLOW if a size exceeds 2^63 - 1.
 */
#ifndef TESSERA_OPS_IMAGE_H
#define TESSERA_OPS_IMAGE_H

#include "../tensor.h"

TSR_BEGIN_C

/* How values between elements are found. */
typedef enum tsr_interpolation {
    TSR_INTERPOLATE_NEAREST = 0,   /* the element before it: PyTorch's "nearest" */
    TSR_INTERPOLATE_NEAREST_EXACT, /* the nearest one: PyTorch's "nearest-exact" */
    TSR_INTERPOLATE_LINEAR,        /* bilinear in two dims, trilinear in three */
    TSR_INTERPOLATE_CUBIC,         /* Keys' cubic, a = -0.75; antialiased, a = -0.5 */
    TSR_INTERPOLATE_AREA,          /* the mean of what an output covers: adaptive_avg_pool */
    TSR_INTERPOLATE_MAX_ = 0x7fffffff
} tsr_interpolation;

typedef struct tsr_resize_options {
    tsr_interpolation mode;
    bool   align_corners; /* linear and cubic: the first and last elements stay where they are */
    bool   antialias;     /* linear and cubic: when it shrinks, an output sees all that it covers */
    double scale[3];      /* how many outputs an element becomes along each spatial dim; 0: none given */
} tsr_resize_options;

/* The last n (1 .. 3) dims of x become sizes[0 .. n - 1]. A size of -1 is floor(scale *
 * the dim's size) if there is a scale, else the dim's own. how may be NULL: nearest.
 *
 * Output o lies at (o + 0.5) * step - 0.5 of x, where step is 1 / scale if a scale is
 * given, else in / out; with align_corners at o * (in - 1) / (out - 1). To have the step
 * computed from the sizes, as PyTorch's recompute_scale_factor does, give sizes only.
 * Nearest takes element floor(o * step), nearest-exact floor((o + 0.5) * step), computed in
 * f32 as PyTorch does. Where a dim's size stays, linear and antialiased ones copy it.
 * Elements whose weight is 0 do not count, even if they are infinite.
 *
 * The dims come one after another, with weights computed once. A result that is
 * allocated has x's order of dims: channels that come last stay last.
 *
 * u8 has the same bits on every processor: weights are rounded to 2^-14 or finer, what lies
 * between columns and rows to 1/64 of a level, and the result, halves up, to 0 .. 255. Before
 * that last rounding it is off by less than 1/30 of a level for linear and 1/10 for cubic,
 * and n/250 where n rows or columns are averaged; libraries that round to bytes after each
 * dim may be off by one. Devices sum in f32, and may differ by one level. (u8/floating)
 *
 *     tsr_resize(&small, picture, 2, (int64_t[]){ 224, 224 },
 *                &(tsr_resize_options){ .mode = TSR_INTERPOLATE_LINEAR, .antialias = true });
 *
 * TSR_EINVAL   align_corners or antialias with another mode than linear and cubic; a
 *              scale that is negative or not finite
 * TSR_ESHAPE   x has not n + 1 or n + 2 dims; a spatial dim of x is empty and the
 *              result's is not
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_resize(tsr_tensor **out, const tsr_tensor *x, int n,
                                             const int64_t *sizes, const tsr_resize_options *how);

/* What is seen outside x. */
typedef enum tsr_grid_padding {
    TSR_GRID_ZEROS = 0,
    TSR_GRID_BORDER,     /* the element at the border */
    TSR_GRID_REFLECTION, /* x, reflected at its border as often as needed */
    TSR_GRID_MAX_ = 0x7fffffff
} tsr_grid_padding;

/* x (n, c, h, w) at the places of grid (n, oh, ow, 2): the result is (n, c, oh, ow). The
 * last dim of grid is (column, row), from -1 to 1: these are the outer borders of x, or, with
 * align_corners, the centres of its outermost elements. NaN counts as -1. For volumes x is
 * (n, c, d, h, w), grid (n, od, oh, ow, 3), and its last dim (column, row, slice).
 *
 * mode is nearest (halves to even), linear, or, in two spatial dims, cubic. grid has any
 * floating dtype. (floating)
 *
 * TSR_EINVAL   another mode
 * TSR_ESHAPE   x and grid do not fit; x has no elements to see
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_grid_sample(tsr_tensor **out, const tsr_tensor *x,
                                                  const tsr_tensor *grid, tsr_interpolation mode,
                                                  tsr_grid_padding padding, bool align_corners);

TSR_END_C

#endif
