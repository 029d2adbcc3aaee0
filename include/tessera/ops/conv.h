/* conv.h - convolutions and pools: windows that slide over one to three spatial dims.
 *
 * Rules for the whole header:
 *
 *   - x is (n, c, spatial...), or (c, spatial...) without a batch; the result has the
 *     same dims. 1d, 2d and 3d say how many spatial dims there are. Arrays of options
 *     hold one number for each of them, the outermost first; further numbers are ignored.
 *   - Options are a struct in which zero means the default. Numbers that are negative,
 *     or that an op has no use for, are TSR_EINVAL.
 *   - Operands have any strides, and so channels may come last in memory. Results that
 *     are allocated are contiguous. A result may overlap an operand.
 *   - An empty batch and no channels are legal: a sum over nothing is 0.
 *   - The result has the same bits for every number of threads.
 *   - Padding times a weight that is infinite or NaN is NaN or is left out: a backend may
 *     choose.
 *
 * TSR_ESHAPE if sizes do not fit, as when a window is longer than the padded x;
 * TSR_EDTYPE if a dtype is not taken, or integers meet floats; TSR_EOVERFLOW if a size exceeds
 * 2^63 - 1.
 */
#ifndef TESSERA_OPS_CONV_H
#define TESSERA_OPS_CONV_H

#include "../tensor.h"

TSR_BEGIN_C

/* Convolutions ----------------------------------------------------------------- */

typedef enum tsr_conv_fit {
    TSR_CONV_PADDED = 0, /* with the padding given */
    TSR_CONV_VALID,      /* without any */
    TSR_CONV_SAME,       /* so that the result is ceil(in / stride) long; odd padding is added at the end */
    TSR_CONV_FIT_MAX_ = 0x7fffffff
} tsr_conv_fit;

typedef struct tsr_conv {
    int64_t      stride[3];          /* 0 means 1 */
    int64_t      padding[3];         /* zeros on both sides of x */
    int64_t      pad_low[3];         /* more zeros before x */
    int64_t      pad_high[3];        /* more zeros after x */
    int64_t      dilation[3];        /* from one tap of the window to the next; 0 means 1 */
    int64_t      output_padding[3];  /* transposed ones only */
    int64_t      groups;             /* 0 means 1 */
    tsr_conv_fit fit;
} tsr_conv;

/* out[n, o, p...] = bias[o] + the sum over c and taps k of
 *     x[n, c, p * stride - low + k * dilation] * w[o, c, k...]
 * where what lies outside x is 0. w is (c_out, c_in / groups, k...), and bias (c_out) or
 * NULL. With groups, the first c_out / groups outputs see the first c_in / groups
 * channels only, and so on. The window is not flipped. Along each spatial dim,
 *
 *     out = floor((in + low + high - dilation * (k - 1) - 1) / stride) + 1
 *
 * how may be NULL. Operands of different dtypes are promoted. f16, bf16 and f8 are
 * multiplied and summed in f32 and rounded once, with the bias; f32, f64, c64 and c128
 * are summed in themselves; integers wrap. Where w holds an infinity or a NaN, an output
 * whose window reaches outside x may be NaN or not. (integer/floating/c64/c128)
 *
 * TSR_EINVAL   padding together with another fit than TSR_CONV_PADDED
 * TSR_ESHAPE   channels, outputs and groups do not divide; a window is empty, or longer
 *              than the padded x
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_conv1d(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *w,
                                             const tsr_tensor *bias, const tsr_conv *how);
TSR_API TSR_MUST_CHECK tsr_status tsr_conv2d(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *w,
                                             const tsr_tensor *bias, const tsr_conv *how);
TSR_API TSR_MUST_CHECK tsr_status tsr_conv3d(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *w,
                                             const tsr_tensor *bias, const tsr_conv *how);

/* Transposed convolution: x[n, c, p...] * w[c, o, k...] is added to
 *     out[n, o, p * stride - low + k * dilation]
 * where that is inside. w is (c_in, c_out / groups, k...). Along each spatial dim,
 *
 *     out = (in - 1) * stride - low - high + dilation * (k - 1) + output_padding + 1
 *
 * which restores the shape that a convolution with the same options had.
 *
 * TSR_EINVAL   fit is TSR_CONV_SAME; output_padding is not below the stride or the dilation
 * TSR_ESHAPE   as above; a spatial dim of x is empty, or one of the result would be negative
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_conv_transpose1d(tsr_tensor **out, const tsr_tensor *x,
                                                       const tsr_tensor *w, const tsr_tensor *bias,
                                                       const tsr_conv *how);
TSR_API TSR_MUST_CHECK tsr_status tsr_conv_transpose2d(tsr_tensor **out, const tsr_tensor *x,
                                                       const tsr_tensor *w, const tsr_tensor *bias,
                                                       const tsr_conv *how);
TSR_API TSR_MUST_CHECK tsr_status tsr_conv_transpose3d(tsr_tensor **out, const tsr_tensor *x,
                                                       const tsr_tensor *w, const tsr_tensor *bias,
                                                       const tsr_conv *how);

/* Gradients of a convolution with the same options (of which output_padding is TSR_EINVAL): grad is that
 * of its result, (n, c_out, p...), or without n as x is. Conjugates of complex numbers are the caller's. f16,
 * bf16 and f8 are summed in f32 and rounded once. (floating/c64/c128)
 *
 * By data: the sum of grad[n, o, p...] * w[o, c, k...] over all that x[n, c, p * stride - low + k * dilation]
 * went into, for x whose spatial dims have `sizes`.
 *
 * By weights: the sum of grad[n, o, p...] * x[n, c, p * stride - low + k * dilation] over n and p, for
 * windows of `sizes`, as (c_out, c_in / groups, k...).
 *
 * TSR_EINVAL   there are not 1 to 3 sizes, or one is negative (of a window: below 1)
 * TSR_ESHAPE   grad does not have the shape of the convolution's result; otherwise as above */
TSR_API TSR_MUST_CHECK tsr_status tsr_conv_grad_data(tsr_tensor **out, const tsr_tensor *grad,
                                                     const tsr_tensor *w, int nsizes, const int64_t *sizes,
                                                     const tsr_conv *how);
TSR_API TSR_MUST_CHECK tsr_status tsr_conv_grad_weights(tsr_tensor **out, const tsr_tensor *grad,
                                                        const tsr_tensor *x, int nsizes,
                                                        const int64_t *sizes, const tsr_conv *how);

/* Pools ------------------------------------------------------------------------- */

typedef struct tsr_pool {
    int64_t kernel[3];    /* must be given */
    int64_t stride[3];    /* 0 means as long as the kernel */
    int64_t padding[3];   /* on both sides; at most half of the window */
    int64_t dilation[3];  /* max only; 0 means 1 */
    bool    ceil_mode;    /* a last window that reaches past x counts too, if it begins before x ends */
    bool    exclude_pad;  /* avg only: the padding does not count */
    int64_t divisor;      /* avg only: divides the sum; 0: the number of places that count does */
} tsr_pool;

/* The largest element of each window, of those that lie in x; NaN if one is. indices, if
 * not NULL, receives where the first of them is: i64, counted in row-major order over the
 * spatial dims of x. A window that sees nothing of x gives the lowest number of the
 * dtype (-infinity, where there is one) and -1. (real)
 *
 * TSR_EINVAL   a kernel is below 1, padding is more than half of a window
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_max_pool1d(tsr_tensor **out, tsr_tensor **indices, const tsr_tensor *x,
                                                 const tsr_pool *how);
TSR_API TSR_MUST_CHECK tsr_status tsr_max_pool2d(tsr_tensor **out, tsr_tensor **indices, const tsr_tensor *x,
                                                 const tsr_pool *how);
TSR_API TSR_MUST_CHECK tsr_status tsr_max_pool3d(tsr_tensor **out, tsr_tensor **indices, const tsr_tensor *x,
                                                 const tsr_pool *how);

/* The sum of each window, added up in f64, over how many places it has. Places in the
 * padding count, unless exclude_pad; those past the padding, which ceil_mode may reach,
 * do not. (floating)
 *
 * TSR_EINVAL   as for max_pool
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_avg_pool1d(tsr_tensor **out, const tsr_tensor *x, const tsr_pool *how);
TSR_API TSR_MUST_CHECK tsr_status tsr_avg_pool2d(tsr_tensor **out, const tsr_tensor *x, const tsr_pool *how);
TSR_API TSR_MUST_CHECK tsr_status tsr_avg_pool3d(tsr_tensor **out, const tsr_tensor *x, const tsr_pool *how);

/* (sum of x^p)^(1 / p) of each window, p > 0, without intermediate overflow: PyTorch's
 * LPPool, and sum pooling for p = 1. Powers of negative numbers are those of tsr_pow, and so
 * their signs count where p is odd; the root of a negative sum is NaN, unless p is 1. Padding
 * counts as zeros. A window that ceil_mode lets reach past x and its padding is scaled by
 * the kernel's size over the places that it has, as PyTorch's. An infinite p gives the largest
 * |x|. Powers and sums are in f64. (floating)
 *
 * TSR_EINVAL   p is not positive; else as for max_pool
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_lp_pool1d(tsr_tensor **out, const tsr_tensor *x, double p,
                                                const tsr_pool *how);
TSR_API TSR_MUST_CHECK tsr_status tsr_lp_pool2d(tsr_tensor **out, const tsr_tensor *x, double p,
                                                const tsr_pool *how);
TSR_API TSR_MUST_CHECK tsr_status tsr_lp_pool3d(tsr_tensor **out, const tsr_tensor *x, double p,
                                                const tsr_pool *how);

/* Pools to a given size: the last n dims of x become sizes[0 .. n - 1]. Output o of s
 * along a dim of `in` sees floor(o * in / s) .. ceil((o + 1) * in / s) - 1. n is 1 .. 3,
 * and a size of -1 keeps the dim's.
 *
 * TSR_ESHAPE   there is nothing in a window
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_adaptive_max_pool(tsr_tensor **out, tsr_tensor **indices,
                                                        const tsr_tensor *x, int n, const int64_t *sizes);
TSR_API TSR_MUST_CHECK tsr_status tsr_adaptive_avg_pool(tsr_tensor **out, const tsr_tensor *x, int n,
                                                        const int64_t *sizes);

/* The largest and the mean of all places in the last n (1 .. 3) dims, which stay, with
 * size 1. As adaptive pools to a size of 1. */
TSR_API TSR_MUST_CHECK tsr_status tsr_max_pool_all(tsr_tensor **out, tsr_tensor **indices,
                                                   const tsr_tensor *x, int n);
TSR_API TSR_MUST_CHECK tsr_status tsr_avg_pool_all(tsr_tensor **out, const tsr_tensor *x, int n);

TSR_END_C

#endif
