/* any_op.h - any op on small operands, by its kind alone: shapes and parameters that suit it, and dtypes from
 * its signature. */
#ifndef ANY_OP_H
#define ANY_OP_H

#include "ops/dispatch.h"
#include "test.h"

enum { ROWS = 5, COLS = 131, ANY_OP_DIMS = 4, FREE = 0xff };

typedef struct any_shape { int ndim; int64_t dim[2 * ANY_OP_DIMS]; } any_shape;

/* Operands that are not (ROWS, COLS). */
static const struct any_shapes { tsr_op_kind kind; any_shape in[TSR_OP_MAX_IN];
} any_shapes[] = {
    { TSR_OP_MATMUL, { { 2, { 33, 47 } }, { 2, { 47, 29 } }, { 2, { 33, 29 } } } },
    { TSR_OP_MATMUL_I8, { { 2, { 33, 47 } }, { 2, { 47, 29 } } } },
    { TSR_OP_SEARCHSORTED, { { 2, { ROWS, COLS } }, { 1, { 64 } } } },
    { TSR_OP_ATTENTION,
      { { 3, { 2, 9, 16 } }, { 3, { 2, 11, 16 } }, { 3, { 2, 11, 8 } }, { 3, { 2, 9, 11 } } } },
    { TSR_OP_SELF_ATTENTION, { { 3, { 9, 2, 16 } }, { 3, { 11, 2, 16 } }, { 3, { 11, 2, 8 } } } },
    { TSR_OP_QUANTISE, { { 2, { ROWS, COLS } }, { 0, { 0 } }, { 0, { 0 } } } },
    { TSR_OP_DEQUANTISE, { { 2, { ROWS, COLS } }, { 0, { 0 } }, { 0, { 0 } } } },
    { TSR_OP_DEQUANTISE_BLOCKS, { { 3, { ROWS, 3, 18 } } } },
    { TSR_OP_LINEAR_BLOCKS, { { 2, { ROWS, 96 } }, { 3, { 37, 3, 18 } }, { 1, { 37 } } } },
    { TSR_OP_SAMPLE, { { 2, { ROWS, COLS } }, { 1, { ROWS } } } },
    { TSR_OP_LU, { { 2, { 6, 6 } } } },
    { TSR_OP_SOLVE, { { 2, { 6, 6 } }, { 2, { 6, 3 } } } },
    { TSR_OP_INV, { { 2, { 6, 6 } } } },
    { TSR_OP_CHOLESKY, { { 2, { 1, 1 } } } },
    { TSR_OP_QR, { { 2, { 6, 6 } } } },
    { TSR_OP_SVD, { { 2, { 6, 6 } } } },
    { TSR_OP_EIGH, { { 2, { 6, 6 } } } },
    { TSR_OP_EIG, { { 2, { 6, 6 } } } },
    { TSR_OP_IRFFT, { { 2, { ROWS, 67 } } } },
    { TSR_OP_CONV, { { 4, { 2, 3, 12, 13 } }, { 4, { 4, 3, 3, 3 } }, { 1, { 4 } } } },
    { TSR_OP_CONV_TRANSPOSE, { { 4, { 2, 3, 12, 13 } }, { 4, { 3, 4, 3, 3 } }, { 1, { 4 } } } },
    { TSR_OP_CONV_GRAD_WEIGHTS, { { 4, { 2, 4, 10, 11 } }, { 4, { 2, 3, 12, 13 } } } },
    { TSR_OP_LINEAR_ACTIVATION,
      { { 2, { ROWS, 96 } }, { 2, { 37, 96 } }, { 1, { 37 } }, { 2, { ROWS, 37 } } } },
    { TSR_OP_MAX_POOL, { { 4, { 2, 3, 12, 13 } } } },
    { TSR_OP_AVG_POOL, { { 4, { 2, 3, 12, 13 } } } },
    { TSR_OP_LP_POOL, { { 4, { 2, 3, 12, 13 } } } },
    { TSR_OP_RESIZE, { { 4, { 2, 3, 12, 13 } } } },
    { TSR_OP_GRID_SAMPLE, { { 4, { 2, 3, 12, 13 } }, { 4, { 2, 7, 9, 2 } } } },
    { TSR_OP_LAYER_NORM, { { 2, { ROWS, COLS } }, { 1, { COLS } }, { 1, { COLS } } } },
    { TSR_OP_RMS_NORM, { { 2, { ROWS, COLS } }, { 1, { COLS } } } },
    { TSR_OP_ADD_RMS_NORM, { { 2, { ROWS, COLS } }, { 2, { ROWS, COLS } }, { 1, { COLS } } } },
    { TSR_OP_BATCH_NORM, { { 3, { 2, 4, 37 } }, { 1, { 4 } }, { 1, { 4 } }, { 1, { 4 } }, { 1, { 4 } } } },
    { TSR_OP_GROUP_NORM, { { 3, { 2, 4, 37 } }, { 1, { 4 } }, { 1, { 4 } } } },
    { TSR_OP_ROPE, { { 3, { 7, 2, 16 } }, { 1, { 7 } } } },
    { TSR_OP_ROPE_WITH, { { 3, { 7, 2, 16 } }, { 1, { 7 } }, { 2, { 9, 8 } }, { 2, { 9, 8 } } } },
    { TSR_OP_CROSS_ENTROPY, { { 2, { ROWS, COLS } }, { 1, { ROWS } }, { 1, { COLS } } } },
    { TSR_OP_CROSS_ENTROPY_SOFT, { { 2, { ROWS, COLS } }, { 2, { ROWS, COLS } }, { 1, { COLS } } } },
    { TSR_OP_NLL_LOSS, { { 2, { ROWS, COLS } }, { 1, { ROWS } }, { 1, { COLS } } } },
};

static any_shape any_shape_of(tsr_op_kind kind, int operand)
{
    for (size_t i = 0; i < sizeof any_shapes / sizeof *any_shapes; i++)
        if (any_shapes[i].kind == kind) return any_shapes[i].in[operand];
    return (any_shape){ 2, { ROWS, COLS } };
}

static const struct any_params { const char *name; const void *params;
} any_params[] = {
    { "tsr_random_params", &(tsr_random_params){ 7, -1, 1 } },
    { "tsr_pair_params", &(tsr_pair_params){ 0.5, 1.5 } },
    { "tsr_reduce_params", &(tsr_reduce_params){ .axes = 1 << 1, .a = 1 } },
    { "tsr_axis_params", &(tsr_axis_params){ 1 } },
    { "tsr_scatter_params", &(tsr_scatter_params){ 1, TSR_SCATTER_SET } },
    { "tsr_sort_params", &(tsr_sort_params){ 1, false } },
    { "tsr_search_params", &(tsr_search_params){ false } },
    { "tsr_rope_params", &(tsr_rope_params){ TSR_ROPE_HALVES, 10000 } },
    { "tsr_dropout_params", &(tsr_dropout_params){ 0.25, 9 } },
    { "tsr_loss_params", &(tsr_loss_params){ TSR_REDUCTION_MEAN, 1, 0, -100 } },
    { "tsr_conv_params",
      &(tsr_conv_params){ .spatial = 2, .groups = 1, .stride = { 1, 1 }, .dilation = { 1, 1 },
                         .size = { 3, 3 } } },
    { "tsr_step_params",
      &(tsr_step_params){ .rate = 0.125, .kept = 1, .first = 0.9, .second = 0.99, .scale = 1, .eps = 1 } },
    { "tsr_activation_params", &(tsr_activation_params){ TSR_ACTIVATION_GELU } },
    { "tsr_pool_params",
      &(tsr_pool_params){ .spatial = 2, .kernel = { 3, 3 }, .stride = { 2, 2 }, .dilation = { 1, 1 },
                         .p = 2 } },
    { "tsr_resize_params",
      &(tsr_resize_params){ .spatial = 2, .mode = TSR_INTERPOLATE_LINEAR, .size = { 7, 20 } } },
    { "tsr_grid_params", &(tsr_grid_params){ TSR_INTERPOLATE_LINEAR, TSR_GRID_ZEROS, false } },
    { "tsr_factor_params", &(tsr_factor_params){ false, false } },
    { "tsr_attention_params", &(tsr_attention_params){ 0.25, false } },
    { "tsr_quant_params", &(tsr_quant_params){ TSR_ALL_AXES, TSR_I8, false } },
    { "tsr_block_params", &(tsr_block_params){ TSR_BLOCKS_Q4_0 } },
    { "tsr_integers_params", &(tsr_integers_params){ 5, -3, 100 } },
    { "tsr_exponential_params", &(tsr_exponential_params){ 5, 1 } },
    { "tsr_sample_params", &(tsr_sample_params){ 1, 1, 0 } },
    { "tsr_fft_params", &(tsr_fft_params){ 1, false, 132, 1 } },
};

static const void *any_params_of(tsr_op_kind kind)
{
    const char *name = tsr_op_get_info(kind)->params;
    static const tsr_norm_params groups = { 2, 1e-5 }, dims = { 1, 1e-5 };
    static tsr_matmul_params product;
    static tsr_fill_params value;
    static const tsr_quant_params numbers = { TSR_ALL_AXES, TSR_F32, false };
    if (kind == TSR_OP_DEQUANTISE) return &numbers;
    if (!strcmp(name, "tsr_norm_params")) return kind == TSR_OP_GROUP_NORM ? &groups : &dims;
    if (!strcmp(name, "tsr_matmul_params")) {
        product = (tsr_matmul_params){ TSR_SCALAR(1), TSR_SCALAR(1) };
        return &product;
    }
    if (!strcmp(name, "tsr_fill_params")) {
        value = (tsr_fill_params){ TSR_SCALAR(3) };
        return &value;
    }
    for (size_t i = 0; i < sizeof any_params / sizeof *any_params; i++)
        if (!strcmp(any_params[i].name, name)) return any_params[i].params;
    return NULL;
}

/* What operand i takes: operands of one dtype name take what the first of them does. */
static uint32_t any_dtypes(const tsr_signature *s, int i)
{
    for (int k = 0; k < i; k++)
        if (s->operand[i].dtype_name != FREE && s->operand[k].dtype_name == s->operand[i].dtype_name)
            return s->operand[k].dtypes;
    return s->operand[i].dtypes;
}

static tsr_dtype any_usual(uint32_t dtypes)
{
    static const tsr_dtype liked[] = { TSR_F32, TSR_I64, TSR_BOOL, TSR_I8, TSR_F64, TSR_C64, TSR_U8 };
    for (size_t i = 0; i < sizeof liked / sizeof *liked; i++)
        if (dtypes >> liked[i] & 1) return liked[i];
    return TSR_C128;
}

/* Dtypes of all operands, where operand i and those that share its name have dtype d. */
static void any_set_dtypes(tsr_dtype *out, const tsr_signature *s, int i, tsr_dtype d)
{
    for (int k = 0; k < s->noperands - s->nresults; k++) {
        const bool with = k == i || (s->operand[i].dtype_name != FREE &&
                                     s->operand[k].dtype_name == s->operand[i].dtype_name);
        out[k] = with ? d : any_usual(any_dtypes(s, k));
    }
}

/* An op with its operands. */
typedef struct any_op {
    tsr_signature s;
    tsr_op        op;
    tsr_tensor   *in[TSR_OP_MAX_IN], *out[TSR_OP_MAX_OUT];
} any_op;

static void any_op_end(any_op *a)
{
    for (int i = 0; i < TSR_OP_MAX_IN; i++) tsr_release(&a->in[i]);
    for (int i = 0; i < TSR_OP_MAX_OUT; i++) tsr_release(&a->out[i]);
}

/* Numbers that suit the operand: indices are small, a list to search is sorted, variances are not negative.
 */
static double any_number(const char *operand, tsr_dtype dtype, int64_t k, uint64_t *seed)
{
    const double some = (double)(test_next(seed) >> 11) * 0x1p-53;
    if (!strcmp(operand, "sorted")) return (double)k;
    if (!strcmp(operand, "index") || !strcmp(operand, "positions") || !strcmp(operand, "target"))
        return (double)(k % 3);
    if (!strcmp(operand, "scale") || !strcmp(operand, "var") || !strcmp(operand, "second") ||
        !strcmp(operand, "random"))
        return 0.5 * some + 0.25;
    const tsr_kind kind = tsr_dtype_kind(dtype);
    if (kind == TSR_BOOLEAN) return some < 0.5;
    if (kind == TSR_UNSIGNED) return (double)(int64_t)(some * 100);
    if (kind == TSR_SIGNED) return (double)(int64_t)(some * 200 - 100);
    return k % 17 == 3 ? 0 : (some - 0.5) * (k % 7 == 1 ? 60 : 4);
}

static tsr_status any_operand(tsr_tensor **out, const char *name, tsr_dtype dtype, any_shape shape,
                              uint64_t *seed)
{
    tsr_tensor *wide = NULL;
    const bool is_complex = tsr_dtype_kind(dtype) == TSR_COMPLEX;
    TSR_TRY(tsr_zeros(&wide, is_complex ? TSR_C128 : TSR_F64, shape.ndim, shape.dim));
    double *p = wide->data;
    for (int64_t k = 0; k < tsr_numel(wide) * (is_complex ? 2 : 1); k++)
        p[k] = any_number(name, dtype, k, seed);
    const tsr_status s = tsr_cast(out, wide, dtype);
    tsr_release(&wide);
    return s;
}

/* The op on operands of these dtypes, not run. Results are described by tsr_infer; one without operands is
 * (ROWS, COLS) of dtype[0]. */
static inline tsr_status any_op_make(any_op *a, tsr_op_kind kind, const tsr_dtype *dtypes, uint64_t seed)
{
    const tsr_op_info *info = tsr_op_get_info(kind);
    const tsr_desc *descs[TSR_OP_MAX_IN];
    tsr_desc made[TSR_OP_MAX_OUT];
    memset(a, 0, sizeof *a);
    TSR_TRY(tsr_signature_parse(&a->s, info->signature));
    const int nin = a->s.noperands - a->s.nresults;
    a->op = (tsr_op){ .kind = kind, .nin = nin, .nout = a->s.nresults, .params = any_params_of(kind) };
    for (int i = 0; i < nin; i++) {
        TSR_TRY(any_operand(&a->in[i], a->s.operand[i].name, dtypes[i], any_shape_of(kind, i), &seed));
        a->op.in[i] = a->in[i];
        descs[i] = &a->in[i]->desc;
    }
    if (nin == 0) TSR_TRY(tsr_desc_init(&made[0], dtypes[0], 2, (const int64_t[]){ ROWS, COLS }, NULL));
    else if (kind == TSR_OP_SCATTER) made[0] = a->in[1]->desc;
    else TSR_TRY(tsr_infer(made, kind, nin, descs, a->op.params));
    for (int i = 0; i < a->s.nresults; i++) {
        TSR_TRY(tsr_zeros(&a->out[i], made[i].dtype, made[i].ndim, made[i].shape));
        a->op.out[i] = a->out[i];
    }
    return TSR_OK;
}

/* By the backend's kernel, or with other ops. */
static inline tsr_status any_op_run(any_op *a)
{
    tsri_call call = { .kind = a->op.kind, .params = a->op.params, .nin = a->op.nin, .nout = a->op.nout };
    if (!tsri_traits_of(a->op.kind)->parts) return tsri_op_run(&a->op);
    for (int i = 0; i < a->op.nin; i++) call.in[i] = a->in[i];
    for (int i = 0; i < a->op.nout; i++) call.out[i] = &a->out[i];
    return tsri_dispatch(&call);
}

#endif
