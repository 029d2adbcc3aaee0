/* nn_parts.c - networks' ops done with other ops, for backends that have no kernel for
 * them. f32 and shorter dtypes go through f32, f64 through itself; a result is rounded
 * to its dtype when it is copied to where it belongs. */
#include "nn.h"
#include "core/same_math.h"
#include "tessera/move.h"
#include "tessera/ops/elementwise.h"
#include "tessera/ops/index.h"
#include "tessera/ops/nn.h"
#include "tessera/ops/reduce.h"
#include "tessera/ops/shape.h"
#include "tessera/random.h"
#include "tessera/view.h"

/* Tools -------------------------------------------------------------------------------- */

tsr_status tsri_cook(const tsr_op *op, tsri_recipe recipe)
{
    tsr_tensor *t[TSRI_TEMPS] = { NULL };
    const tsr_status s = recipe(op, t);
    for (int i = TSRI_TEMPS; i-- > 0;) tsr_release(&t[i]);
    return s;
}

void tsri_see_channels(tsr_tensor *v, const tsr_tensor *t, int ndim)
{
    *v = *t;
    for (v->ndim = 1; v->ndim < ndim - 1; v->ndim++) {
        v->shape[v->ndim] = 1;
        v->stride[v->ndim] = 0;
    }
}

/* Packed, on the device of the op's operands; described only. */
static tsr_status describe_temp(tsr_tensor **t, const tsr_op *op, tsr_dtype dtype, int ndim,
                                const int64_t *shape)
{
    tsr_desc d;
    TSRI_TRY(tsri_desc_packed(&d, tsr_op_get_info(op->kind)->name, dtype, ndim, shape));
    return tsr_declare(t, &d, op->in[0]->device, tsri_memory_beside(op->in[0]));
}

static bool is_empty(const tsr_op *op) { return tsr_desc_numel(&op->out[0]->desc) == 0; }

/* The square root of a number that is not negative; 0 where it hardly is anything. */
static double root(double x) { return x < 1e-300 ? 0 : tsri_sqrt_f64(x); }

/* Softmax ------------------------------------------------------------------------------ */

static tsr_status softmax(const tsr_op *op, tsr_tensor **t)
{
    const tsr_tensor *x = op->in[0];
    const int axis = ((const tsr_axis_params *)op->params)->axis;
    if (is_empty(op)) return TSR_OK;
    TSRI_TRY(tsri_as_dtype(&x, &t[0], tsri_work_dtype(x->dtype)));
    TSRI_TRY(tsr_max(&t[1], x, 1, &axis, true));
    TSRI_TRY(tsr_sub(&t[2], x, t[1]));
    TSRI_TRY(tsr_exp(&t[3], t[2]));
    TSRI_TRY(tsr_sum(&t[4], t[3], 1, &axis, true));
    if (op->kind == TSR_OP_LOG_SOFTMAX) {
        TSRI_TRY(tsr_log(&t[4], t[4]));
        TSRI_TRY(tsr_sub(&t[3], t[2], t[4]));
    } else {
        TSRI_TRY(tsr_div(&t[3], t[3], t[4]));
    }
    return tsr_copy(op->out[0], t[3]);
}

tsr_status tsri_softmax_parts(const tsr_op *op) { return tsri_cook(op, softmax); }

static tsr_status causal_softmax(const tsr_op *op, tsr_tensor **t)
{
    const tsr_tensor *x = op->in[0];
    const tsr_dtype work = tsri_work_dtype(x->dtype);
    if (is_empty(op)) return TSR_OK;
    const int64_t *matrix = x->shape + x->ndim - 2;
    TSRI_TRY(tsri_as_dtype(&x, &t[0], work));
    TSRI_TRY(describe_temp(&t[1], op, work, 2, matrix));
    TSRI_TRY(tsr_fill(t[1], tsr_scalar_i64(1)));
    TSRI_TRY(tsr_tril(&t[1], t[1], matrix[1] - matrix[0]));
    TSRI_TRY(tsr_gt(&t[2], t[1], TSR_NUMBER(0)));
    TSRI_TRY(tsr_where(&t[3], t[2], x, TSR_NUMBER(-__builtin_inf())));
    TSRI_TRY(tsr_softmax(&t[3], t[3], -1));
    TSRI_TRY(tsr_where(&t[3], t[2], t[3], TSR_NUMBER(0)));
    return tsr_copy(op->out[0], t[3]);
}

tsr_status tsri_causal_softmax_parts(const tsr_op *op) { return tsri_cook(op, causal_softmax); }

/* Norms --------------------------------------------------------------------------------- */

/* *out = x - mean. The mean is rounded, which shows where it is large; what it leaves has
 * a small one, and loses that. */
static tsr_status centre(tsr_tensor **out, tsr_tensor **mean, const tsr_tensor *x, int naxes, const int *axes)
{
    TSRI_TRY(tsr_mean(mean, x, naxes, axes, true));
    TSRI_TRY(tsr_sub(out, x, *mean));
    TSRI_TRY(tsr_mean(mean, *out, naxes, axes, true));
    return tsr_sub(out, *out, *mean);
}

/* *out = x / sqrt(mean of x^2 + eps), by roots so that no square overflows. */
static tsr_status divide_by_rms(tsr_tensor **out, tsr_tensor **rms, const tsr_tensor *x, int naxes,
                                const int *axes, double eps)
{
    double n = 1;
    for (int i = 0; i < naxes; i++) n *= (double)x->shape[axes[i]];
    TSRI_TRY(tsr_norm(rms, x, naxes, axes, true, 2));
    TSRI_TRY(tsr_div(rms, *rms, TSR_NUMBER(root(n))));
    TSRI_TRY(tsr_hypot(rms, *rms, TSR_NUMBER(root(eps))));
    return tsr_div(out, x, *rms);
}

/* *t = *t * weight + bias, each of which may be NULL, in the dtype of *t. */
static tsr_status scale_and_shift(tsr_tensor **t, tsr_tensor **temporary, const tsr_tensor *weight,
                                  const tsr_tensor *bias)
{
    if (weight) {
        TSRI_TRY(tsri_as_dtype(&weight, temporary, (*t)->dtype));
        TSRI_TRY(tsr_mul(t, *t, weight));
        tsr_release(temporary);
    }
    if (bias) {
        TSRI_TRY(tsri_as_dtype(&bias, temporary, (*t)->dtype));
        TSRI_TRY(tsr_add(t, *t, bias));
    }
    return TSR_OK;
}

static tsr_status layer_norm(const tsr_op *op, tsr_tensor **t)
{
    int axes[TSR_MAX_NDIM];
    const tsr_tensor *x = op->in[0];
    const bool rms = op->kind == TSR_OP_RMS_NORM;
    const tsr_norm_params *p = op->params;
    const int n = rms ? 1 : (int)p->count;
    if (is_empty(op)) return TSR_OK;
    for (int i = 0; i < n; i++) axes[i] = x->ndim - n + i;
    TSRI_TRY(tsri_as_dtype(&x, &t[0], tsri_work_dtype(x->dtype)));
    if (!rms) TSRI_TRY(centre(&t[1], &t[2], x, n, axes));
    TSRI_TRY(divide_by_rms(&t[3], &t[4], rms ? x : t[1], n, axes, p->eps));
    TSRI_TRY(scale_and_shift(&t[3], &t[5], op->in[1], rms ? NULL : op->in[2]));
    return tsr_copy(op->out[0], t[3]);
}

tsr_status tsri_layer_norm_parts(const tsr_op *op) { return tsri_cook(op, layer_norm); }

tsr_status tsri_add_rms_norm_parts(const tsr_op *op)
{
    tsr_tensor *sum = op->out[0], *normed = op->out[1];
    TSRI_TRY(tsr_add(&sum, op->in[0], op->in[1]));
    return tsr_rms_norm(&normed, sum, op->in[2], ((const tsr_norm_params *)op->params)->eps);
}

/* A list of channels, or NULL, in a dtype and seen along axis 1 of a tensor of this rank. */
static tsr_status open_channels(tsr_tensor *v, const tsr_tensor **list, tsr_tensor **temporary,
                                tsr_dtype dtype, int ndim)
{
    if (!*list) return TSR_OK;
    TSRI_TRY(tsri_as_dtype(list, temporary, dtype));
    tsri_see_channels(v, *list, ndim);
    *list = v;
    return TSR_OK;
}

static tsr_status batch_norm(const tsr_op *op, tsr_tensor **t)
{
    tsr_tensor view[4];
    const tsr_tensor *x = op->in[0], *list[4] = { op->in[1], op->in[2], op->in[3], op->in[4] };
    const tsr_dtype work = tsri_work_dtype(x->dtype);
    if (is_empty(op)) return TSR_OK;
    TSRI_TRY(tsri_as_dtype(&x, &t[0], work));
    for (int i = 0; i < 4; i++) TSRI_TRY(open_channels(&view[i], &list[i], &t[1 + i], work, x->ndim));
    TSRI_TRY(tsr_sub(&t[5], x, list[0]));
    TSRI_TRY(tsr_add(&t[6], list[1], TSR_NUMBER(((const tsr_norm_params *)op->params)->eps)));
    TSRI_TRY(tsr_sqrt(&t[6], t[6]));
    TSRI_TRY(tsr_div(&t[5], t[5], t[6]));
    TSRI_TRY(scale_and_shift(&t[5], &t[7], list[2], list[3]));
    return tsr_copy(op->out[0], t[5]);
}

tsr_status tsri_batch_norm_parts(const tsr_op *op) { return tsri_cook(op, batch_norm); }

static tsr_status group_norm(const tsr_op *op, tsr_tensor **t)
{
    tsr_tensor view[2];
    const tsr_norm_params *p = op->params;
    const tsr_tensor *x = op->in[0], *list[2] = { op->in[1], op->in[2] };
    const tsr_dtype work = tsri_work_dtype(x->dtype);
    if (is_empty(op)) return TSR_OK;
    TSRI_TRY(tsri_as_dtype(&x, &t[0], work));
    for (int i = 0; i < 2; i++) TSRI_TRY(open_channels(&view[i], &list[i], &t[1 + i], work, x->ndim));
    TSRI_TRY(tsr_reshape(&t[3], x, TSR_SHAPE(x->shape[0], p->count, -1)));
    TSRI_TRY(centre(&t[4], &t[5], t[3], 1, (const int[]){ 2 }));
    TSRI_TRY(divide_by_rms(&t[6], &t[7], t[4], 1, (const int[]){ 2 }, p->eps));
    TSRI_TRY(tsr_reshape(&t[8], t[6], x->ndim, x->shape));
    TSRI_TRY(scale_and_shift(&t[8], &t[9], list[0], list[1]));
    return tsr_copy(op->out[0], t[8]);
}

tsr_status tsri_group_norm_parts(const tsr_op *op) { return tsri_cook(op, group_norm); }

/* Rotary positions ----------------------------------------------------------------------- */

/* Sines and cosines for (seq, 1, pairs), in f64, from theta. */
static tsr_status make_angles(tsr_tensor **sine, tsr_tensor **cosine, const tsr_op *op, int64_t d,
                             tsr_tensor **t)
{
    TSRI_TRY(tsr_arange(&t[0], TSR_F64, tsr_scalar_i64(0), tsr_scalar_i64(d), tsr_scalar_i64(2)));
    TSRI_TRY(tsr_div(&t[0], t[0], TSR_NUMBER((double)d)));
    TSRI_TRY(tsr_pow(&t[0], TSR_NUMBER(((const tsr_rope_params *)op->params)->theta), t[0]));
    TSRI_TRY(tsr_cast(&t[1], op->in[1], TSR_F64));
    TSRI_TRY(tsr_view(&t[1], t[1], TSR_SHAPE(op->in[1]->shape[0], 1, 1)));
    TSRI_TRY(tsr_div(sine, t[1], t[0]));
    TSRI_TRY(tsr_cos(cosine, *sine));
    return tsr_sin(sine, *sine);
}

/* The same from a table. */
static tsr_status look_up(tsr_tensor **out, tsr_tensor **taken, const tsr_tensor *table,
                          const tsr_tensor *positions)
{
    TSRI_TRY(tsr_take(taken, table, positions, 0));
    TSRI_TRY(tsr_cast(out, *taken, TSR_F64));
    tsr_release(taken);
    return tsr_unsqueeze(out, *out, 1);
}

/* *v rebound to one half of t's last axis: its first or second elements of all pairs. */
static tsr_status see_half(tsr_tensor **v, const tsr_tensor *t, int mode, int half)
{
    const int64_t d = t->shape[t->ndim - 1];
    if (mode == TSR_ROPE_PAIRS) return tsr_slice(v, t, -1, half, d, 2);
    return tsr_slice(v, t, -1, half * (d / 2), (half + 1) * (d / 2), 1);
}

/* t[2] a, t[3] b, t[4] sine, t[5] cosine; the rest is for intermediate results. */
static tsr_status rope(const tsr_op *op, tsr_tensor **t)
{
    const tsr_tensor *x = op->in[0];
    const int mode = ((const tsr_rope_params *)op->params)->mode;
    if (is_empty(op)) return TSR_OK;
    if (op->kind == TSR_OP_ROPE) {
        TSRI_TRY(make_angles(&t[4], &t[5], op, x->shape[x->ndim - 1], t));
    } else {
        TSRI_TRY(look_up(&t[4], &t[0], op->in[2], op->in[1]));
        TSRI_TRY(look_up(&t[5], &t[0], op->in[3], op->in[1]));
    }
    for (int half = 0; half < 2; half++) {
        TSRI_TRY(see_half(&t[6], x, mode, half));
        TSRI_TRY(tsr_cast(&t[2 + half], t[6], TSR_F64));
    }
    TSRI_TRY(tsr_mul(&t[7], t[2], t[5]));
    TSRI_TRY(tsr_mul(&t[8], t[3], t[4]));
    TSRI_TRY(tsr_sub(&t[7], t[7], t[8]));
    TSRI_TRY(tsr_mul(&t[3], t[3], t[5]));
    TSRI_TRY(tsr_mul(&t[2], t[2], t[4]));
    TSRI_TRY(tsr_add(&t[3], t[3], t[2]));
    TSRI_TRY(see_half(&t[6], op->out[0], mode, 0));
    TSRI_TRY(tsr_copy(t[6], t[7]));
    TSRI_TRY(see_half(&t[6], op->out[0], mode, 1));
    return tsr_copy(t[6], t[3]);
}

tsr_status tsri_rope_parts(const tsr_op *op) { return tsri_cook(op, rope); }

/* Gates, dropout ---------------------------------------------------------------------------- */

static tsr_status swiglu(const tsr_op *op, tsr_tensor **t)
{
    const tsr_tensor *gate = op->in[0], *up = op->in[1];
    const tsr_dtype work = tsri_work_dtype(gate->dtype);
    TSRI_TRY(tsri_as_dtype(&gate, &t[0], work));
    TSRI_TRY(tsri_as_dtype(&up, &t[1], work));
    TSRI_TRY(tsr_silu(&t[2], gate));
    TSRI_TRY(tsr_mul(&t[2], t[2], up));
    return tsr_copy(op->out[0], t[2]);
}

tsr_status tsri_swiglu_parts(const tsr_op *op) { return tsri_cook(op, swiglu); }

/* p rounded up to a multiple of 2^-24, as numbers of the stream are. */
static double round_up(double p)
{
    const double grid = 16777216.0, whole = (double)(int64_t)(p * grid);
    return (whole < p * grid ? whole + 1 : whole) / grid;
}

static tsr_status dropout(const tsr_op *op, tsr_tensor **t)
{
    const tsr_tensor *x = op->in[0];
    const tsr_dropout_params *p = op->params;
    TSRI_TRY(tsri_as_dtype(&x, &t[0], tsri_work_dtype(x->dtype)));
    TSRI_TRY(describe_temp(&t[1], op, TSR_F32, x->ndim, x->shape));
    TSRI_TRY(tsr_uniform(&t[1], TSR_F32, x->ndim, x->shape, 0, 1, p->seed));
    TSRI_TRY(tsr_ge(&t[2], t[1], TSR_NUMBER(round_up(p->p))));
    TSRI_TRY(tsr_mul(&t[3], x, TSR_NUMBER(1 / (1 - p->p))));
    TSRI_TRY(tsr_where(&t[3], t[2], t[3], TSR_NUMBER(0)));
    return tsr_copy(op->out[0], t[3]);
}

tsr_status tsri_dropout_parts(const tsr_op *op) { return tsri_cook(op, dropout); }
