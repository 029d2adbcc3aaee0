/* traits.c - what ops know beyond their rows in op.def: one row for each that has
 * a rule of its own for its results, can be done with other ops, or may work in
 * place. */
#include "attention.h"
#include "fft_int.h"
#include "image.h"
#include "quant.h"
#include "conv.h"
#include "nn.h"
#include "dispatch.h"
#include "linalg_int.h"
#include "sample.h"
#include "training.h"

/* Rules of the primitives ----------------------------------------------------------- */

static tsr_status infer_same(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                             const void *params)
{
    (void)name; (void)kind; (void)params;
    return tsri_desc_packed_like(out, in[0], in[0]->dtype);
}

/* As index, with x's dtype; the front has made all operands of one rank. */
static tsr_status infer_gather(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                               const void *params)
{
    (void)kind; (void)params;
    TSRI_CHECK(in[0]->ndim == in[1]->ndim, TSR_ESHAPE, "%s: x is %s and index is %s, which differ in rank",
               name, TSRI_DESC(in[0]), TSRI_DESC(in[1]));
    return tsri_desc_packed_like(out, in[1], in[0]->dtype);
}

/* sort gives values and indices, argsort indices. */
static tsr_status infer_sort(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                             const void *params)
{
    (void)params;
    if (kind == TSR_OP_SORT) TSRI_TRY(tsri_desc_packed(out++, name, in[0]->dtype, in[0]->ndim, in[0]->shape));
    return tsri_desc_packed(out, name, TSR_I64, in[0]->ndim, in[0]->shape);
}

static tsr_status infer_chosen(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                               const void *params)
{
    (void)out; (void)kind; (void)in; (void)params;
    return tsri_fail(TSR_EUNSUPPORTED, "infer: %s writes into a result that its caller chooses", name);
}

/* How often the flops of a reduction are done: once for each element that goes in. */
static double work_reduce(const tsr_desc *const *in, const tsr_desc *out, const void *params)
{
    (void)out; (void)params;
    return (double)tsr_desc_numel(in[0]);
}

static double work_matmul(const tsr_desc *const *in, const tsr_desc *out, const void *params)
{
    (void)params;
    return (double)tsr_desc_numel(out) * (double)in[0]->shape[in[0]->ndim - 1];
}

/* The table --------------------------------------------------------------------------- */

#define ELEMENTWISE                                                                                   \
    { .infer = tsri_infer_elementwise, .broadcast = tsri_broadcast_elementwise, .in_place = 7,        \
      .by_tile = true }

const tsri_op_traits tsri_traits[TSR_OP_COUNT] = {
    [TSR_OP_COPY] = { .infer = infer_same, .in_place = 1 },
    [TSR_OP_FILL] = { .infer = infer_chosen },
    [TSR_OP_UNIFORM] = { .infer = infer_chosen },
    [TSR_OP_RANDN] = { .infer = infer_chosen },
    [TSR_OP_GATHER] = { .infer = infer_gather },
    [TSR_OP_SCATTER] = { .infer = infer_chosen },
    [TSR_OP_SORT] = { .infer = infer_sort },
    [TSR_OP_ARGSORT] = { .infer = infer_sort },
#define UNARY(ID, ...)     [TSR_OP_##ID] = ELEMENTWISE,
#define UNARY_A(ID, ...)   [TSR_OP_##ID] = ELEMENTWISE,
#define UNARY_AB(ID, ...)  [TSR_OP_##ID] = ELEMENTWISE,
#define BINARY(ID, ...)    [TSR_OP_##ID] = ELEMENTWISE,
#define TERNARY(ID, ...)   [TSR_OP_##ID] = ELEMENTWISE,
#define TERNARY_A(ID, ...) [TSR_OP_##ID] = ELEMENTWISE,
#include "tessera/op.def"
    [TSR_OP_SUM] = { .infer = tsri_infer_reduce, .work = work_reduce },
    [TSR_OP_PROD] = { .infer = tsri_infer_reduce, .work = work_reduce },
    [TSR_OP_MEAN] = { .infer = tsri_infer_reduce, .work = work_reduce },
    [TSR_OP_VAR] = { .infer = tsri_infer_reduce, .work = work_reduce },
    [TSR_OP_STD] = { .infer = tsri_infer_reduce, .work = work_reduce },
    [TSR_OP_MAX] = { .infer = tsri_infer_reduce, .work = work_reduce },
    [TSR_OP_MIN] = { .infer = tsri_infer_reduce, .work = work_reduce },
    [TSR_OP_ANY] = { .infer = tsri_infer_reduce, .work = work_reduce },
    [TSR_OP_ALL] = { .infer = tsri_infer_reduce, .work = work_reduce },
    [TSR_OP_COUNT_NONZERO] = { .infer = tsri_infer_reduce, .work = work_reduce },
    [TSR_OP_LOGSUMEXP] = { .infer = tsri_infer_reduce, .work = work_reduce },
    [TSR_OP_NORM] = { .infer = tsri_infer_reduce, .work = work_reduce },
    [TSR_OP_ARGMAX] = { .infer = tsri_infer_reduce, .work = work_reduce },
    [TSR_OP_ARGMIN] = { .infer = tsri_infer_reduce, .work = work_reduce },
    [TSR_OP_CUMSUM] = { .infer = tsri_infer_reduce, .in_place = 1 },
    [TSR_OP_CUMPROD] = { .infer = tsri_infer_reduce, .in_place = 1 },
    [TSR_OP_CUMMAX] = { .infer = tsri_infer_reduce, .in_place = 1 },
    [TSR_OP_MATMUL] = { .infer = tsri_infer_matmul,
                        .work = work_matmul,
                        .broadcast = tsri_broadcast_matmul,
                        .in_place = 1 << 2,
                        .optional = 1 << 2 },
    [TSR_OP_MATMUL_I8] = { .infer = tsri_infer_matmul,
                           .work = work_matmul,
                           .broadcast = tsri_broadcast_matmul },
    [TSR_OP_LINEAR_ACTIVATION] = { .parts = tsri_linear_activation_parts,
                                   .work = work_matmul,
                                   .in_place = 1 << 3,
                                   .optional = 3 << 2 },
    [TSR_OP_ATTENTION] = { .infer = tsri_infer_attention,
                           .parts = tsri_parts_attention,
                           .work = tsri_work_attention,
                           .optional = 1 << 3 },
    [TSR_OP_SELF_ATTENTION] = { .infer = tsri_infer_self_attention,
                                .parts = tsri_parts_self_attention,
                                .work = tsri_work_self_attention },
    [TSR_OP_QUANTISE] = { .infer = tsri_infer_quantise, .parts = tsri_parts_quantise, .optional = 1 << 2 },
    [TSR_OP_DEQUANTISE] = { .infer = tsri_infer_quantise,
                            .parts = tsri_parts_dequantise,
                            .optional = 1 << 2 },
    [TSR_OP_QUANTISATION_RANGE] = { .infer = tsri_infer_quant_range, .parts = tsri_parts_quant_range },
    [TSR_OP_QUANTISE_DYNAMIC] = { .infer = tsri_infer_quant_dynamic, .parts = tsri_parts_quant_dynamic },
    [TSR_OP_DEQUANTISE_BLOCKS] = { .infer = tsri_infer_dequantise_blocks },
    [TSR_OP_LINEAR_BLOCKS] = { .infer = tsri_infer_linear_blocks,
                               .parts = tsri_parts_linear_blocks,
                               .work = work_matmul,
                               .optional = 1 << 2 },
    [TSR_OP_SCALE_EACH] = { .infer = tsri_infer_step, .parts = tsri_step_parts, .in_place = 1 },
    [TSR_OP_AXPY_EACH] = { .infer = tsri_infer_step, .parts = tsri_step_parts, .in_place = 1 },
    [TSR_OP_SGD_STEP] = { .infer = tsri_infer_step, .parts = tsri_step_parts, .in_place = 1 },
    [TSR_OP_ADAM_STEP] = { .infer = tsri_infer_step, .parts = tsri_step_parts, .in_place = 1 },
    [TSR_OP_JOINT_NORM] = { .infer = tsri_infer_joint_norm, .parts = tsri_joint_norm_parts,
                            .work = work_reduce },
    [TSR_OP_INTEGERS] = { .infer = infer_chosen },
    [TSR_OP_EXPONENTIAL] = { .infer = infer_chosen },
    [TSR_OP_SAMPLE] = { .parts = tsri_parts_sample, .work = tsri_work_sample },
    [TSR_OP_LU] = { .infer = tsri_infer_factors, .work = tsri_work_factors },
    [TSR_OP_SOLVE] = { .infer = tsri_infer_system,
                       .work = tsri_work_factors,
                       .broadcast = tsri_broadcast_system },
    [TSR_OP_INV] = { .work = tsri_work_factors },
    [TSR_OP_CHOLESKY] = { .work = tsri_work_factors },
    [TSR_OP_QR] = { .infer = tsri_infer_factors, .work = tsri_work_factors },
    [TSR_OP_SVD] = { .infer = tsri_infer_factors, .work = tsri_work_factors },
    [TSR_OP_EIGH] = { .infer = tsri_infer_factors, .work = tsri_work_factors },
    [TSR_OP_EIG] = { .infer = tsri_infer_factors, .work = tsri_work_factors },
    [TSR_OP_FFT] = { .infer = tsri_infer_fft, .work = tsri_fft_work, .in_place = 1 },
    [TSR_OP_RFFT] = { .infer = tsri_infer_fft, .work = tsri_fft_work },
    [TSR_OP_IRFFT] = { .infer = tsri_infer_fft, .work = tsri_fft_work },
    [TSR_OP_CONV] = { .infer = tsri_infer_conv,
                      .parts = tsri_conv_parts,
                      .work = tsri_conv_work,
                      .optional = 1 << 2 },
    [TSR_OP_CONV_TRANSPOSE] = { .infer = tsri_infer_conv,
                                .parts = tsri_conv_transpose_parts,
                                .work = tsri_conv_transpose_work,
                                .optional = 1 << 2 },
    [TSR_OP_CONV_GRAD_WEIGHTS] = { .infer = tsri_infer_conv_grad,
                                   .parts = tsri_conv_grad_parts,
                                   .work = tsri_conv_grad_work },
    [TSR_OP_MAX_POOL] = { .infer = tsri_infer_pool, .parts = tsri_max_pool_parts, .work = tsri_pool_work },
    [TSR_OP_AVG_POOL] = { .infer = tsri_infer_pool, .parts = tsri_avg_pool_parts, .work = tsri_pool_work },
    [TSR_OP_LP_POOL] = { .infer = tsri_infer_pool, .parts = tsri_lp_pool_parts, .work = tsri_pool_work },
    [TSR_OP_RESIZE] = { .infer = tsri_infer_resize, .parts = tsri_resize_parts, .work = tsri_resize_work },
    [TSR_OP_GRID_SAMPLE] = { .infer = tsri_infer_grid_sample, .parts = tsri_grid_sample_parts },
    [TSR_OP_SOFTMAX] = { .infer = tsri_infer_along, .parts = tsri_softmax_parts, .in_place = 1 },
    [TSR_OP_LOG_SOFTMAX] = { .infer = tsri_infer_along, .parts = tsri_softmax_parts, .in_place = 1 },
    [TSR_OP_CAUSAL_SOFTMAX] = { .parts = tsri_causal_softmax_parts, .in_place = 1 },
    [TSR_OP_LAYER_NORM] = { .infer = tsri_infer_layer_norm,
                            .parts = tsri_layer_norm_parts,
                            .in_place = 1,
                            .optional = 6 },
    [TSR_OP_RMS_NORM] = { .parts = tsri_layer_norm_parts, .in_place = 1, .optional = 2 },
    [TSR_OP_ADD_RMS_NORM] = { .parts = tsri_add_rms_norm_parts, .in_place = 3, .optional = 4 },
    [TSR_OP_BATCH_NORM] = { .parts = tsri_batch_norm_parts, .in_place = 1, .optional = 24 },
    [TSR_OP_GROUP_NORM] = { .infer = tsri_infer_group_norm,
                            .parts = tsri_group_norm_parts,
                            .in_place = 1,
                            .optional = 6 },
    [TSR_OP_ROPE] = { .infer = tsri_infer_rope, .parts = tsri_rope_parts, .in_place = 1 },
    [TSR_OP_ROPE_WITH] = { .infer = tsri_infer_rope, .parts = tsri_rope_parts, .in_place = 1 },
    [TSR_OP_SWIGLU] = { .parts = tsri_swiglu_parts, .in_place = 3 },
    [TSR_OP_DROPOUT] = { .parts = tsri_dropout_parts, .in_place = 1 },
    [TSR_OP_CROSS_ENTROPY] = { .infer = tsri_infer_loss,
                               .parts = tsri_class_loss_parts,
                               .work = tsri_loss_work,
                               .optional = 4 },
    [TSR_OP_CROSS_ENTROPY_SOFT] = { .infer = tsri_infer_loss,
                                    .parts = tsri_soft_loss_parts,
                                    .work = tsri_loss_work,
                                    .optional = 4 },
    [TSR_OP_NLL_LOSS] = { .infer = tsri_infer_loss,
                          .parts = tsri_class_loss_parts,
                          .work = tsri_loss_work,
                          .optional = 4 },
    [TSR_OP_MSE_LOSS] = { .infer = tsri_infer_loss, .parts = tsri_pair_loss_parts, .work = tsri_loss_work },
    [TSR_OP_L1_LOSS] = { .infer = tsri_infer_loss, .parts = tsri_pair_loss_parts, .work = tsri_loss_work },
    [TSR_OP_HUBER_LOSS] = { .infer = tsri_infer_loss, .parts = tsri_pair_loss_parts, .work = tsri_loss_work },
    [TSR_OP_SMOOTH_L1_LOSS] = { .infer = tsri_infer_loss,
                                .parts = tsri_pair_loss_parts,
                                .work = tsri_loss_work },
};
