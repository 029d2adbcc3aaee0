/* conv.h - the rules and parts of convolutions and pools (conv.c, pooling.c). */
#ifndef TSRI_CONV_H
#define TSRI_CONV_H

#include "dispatch.h"

tsr_status tsri_infer_conv(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                           const void *params);
tsr_status tsri_conv_parts(const tsr_op *op);
tsr_status tsri_conv_transpose_parts(const tsr_op *op);
double     tsri_conv_work(const tsr_desc *const *in, const tsr_desc *out, const void *params);
tsr_status tsri_infer_conv_grad(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                                const void *params);
tsr_status tsri_conv_grad_parts(const tsr_op *op);
double     tsri_conv_grad_work(const tsr_desc *const *in, const tsr_desc *out, const void *params);
double     tsri_conv_transpose_work(const tsr_desc *const *in, const tsr_desc *out, const void *params);

tsr_status tsri_infer_pool(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                           const void *params);
tsr_status tsri_max_pool_parts(const tsr_op *op);
tsr_status tsri_avg_pool_parts(const tsr_op *op);
tsr_status tsri_lp_pool_parts(const tsr_op *op);
double     tsri_pool_work(const tsr_desc *const *in, const tsr_desc *out, const void *params);

/* Shared by the two files ------------------------------------------------------------ */

enum { TSRI_SPATIAL = 3 };  /* spatial dims, at most */

/* A window of `taps` places, `dilation` apart, is this long. False on overflow. */
static inline bool tsri_window_length(int64_t *out, int64_t taps, int64_t dilation)
{
    return tsri_mul(out, taps - 1, dilation) && tsri_add(out, *out, 1);
}

/* A tensor for the length of a call, where `like` is. */
static inline tsr_status tsri_make_temporary(tsr_tensor **out, const char *op, const tsr_tensor *like,
                                             tsr_dtype dtype, int ndim, const int64_t *shape)
{
    tsr_desc d;
    TSRI_TRY(tsri_desc_packed(&d, op, dtype, ndim, shape));
    return tsri_make(out, op, &d, like->device, like->memory);
}

#endif
