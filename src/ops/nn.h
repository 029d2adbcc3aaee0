/* nn.h - networks' ops: rules for their results, and how they are done with other ops.
 *
 * nn.c has the calls, nn_parts.c and nn_loss.c the parts. */
#ifndef TSRI_NN_H
#define TSRI_NN_H

#include "dispatch.h"
#include "operands.h"

/* Rules (nn.c, nn_loss.c). */
tsr_status tsri_infer_along(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                            const void *params);
tsr_status tsri_infer_layer_norm(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                                 const void *params);
tsr_status tsri_infer_group_norm(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                                 const void *params);
tsr_status tsri_infer_rope(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                           const void *params);
tsr_status tsri_infer_loss(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                           const void *params);
double tsri_loss_work(const tsr_desc *const *in, const tsr_desc *out, const void *params);

/* Parts (nn_parts.c, nn_loss.c). */
tsr_status tsri_softmax_parts(const tsr_op *op);  /* log_softmax's too */
tsr_status tsri_causal_softmax_parts(const tsr_op *op);
tsr_status tsri_layer_norm_parts(const tsr_op *op);  /* rms_norm's too */
tsr_status tsri_add_rms_norm_parts(const tsr_op *op);
tsr_status tsri_batch_norm_parts(const tsr_op *op);
tsr_status tsri_group_norm_parts(const tsr_op *op);
tsr_status tsri_rope_parts(const tsr_op *op);  /* rope_with's too */
tsr_status tsri_swiglu_parts(const tsr_op *op);
tsr_status tsri_dropout_parts(const tsr_op *op);
tsr_status tsri_class_loss_parts(const tsr_op *op);  /* cross_entropy, nll_loss */
tsr_status tsri_soft_loss_parts(const tsr_op *op);   /* cross_entropy_soft */
tsr_status tsri_pair_loss_parts(const tsr_op *op);   /* mse, l1, huber, smooth_l1 */

/* What parts are written with --------------------------------------------------- */

enum { TSRI_TEMPS = 10 };

/* An op done with others; what it leaves in t[0 .. TSRI_TEMPS - 1] is released. */
typedef tsr_status (*tsri_recipe)(const tsr_op *op, tsr_tensor **t);
tsr_status tsri_cook(const tsr_op *op, tsri_recipe recipe);

/* The dtype that x is computed in. */
static inline tsr_dtype tsri_work_dtype(tsr_dtype dtype) { return dtype == TSR_F64 ? TSR_F64 : TSR_F32; }

/* A list of one element for each channel, seen with dims behind it so that it meets
 * axis 1 of a tensor of this rank. The view owns nothing. */
void tsri_see_channels(tsr_tensor *v, const tsr_tensor *t, int ndim);

/* What calls are written with ----------------------------------------------------- */

/* Dispatches an op with one result. */
static inline tsr_status tsri_dispatch_one(tsr_tensor **out, const char *name, tsr_op_kind kind,
                                        const void *params, int nin, const tsr_tensor *const *in)
{
    tsri_call call;
    tsri_call_init(&call, out, kind, NULL, params, nin, in);
    call.name = name;
    return tsri_dispatch(&call);
}

/* Is it neither infinite nor NaN? */
static inline bool tsri_is_finite(double x) { return x - x == 0; }

#endif
