/* rows.c - softmax and norms in one kernel each. Norms of lanes that are not walked with one step are
 * left to the library, which composes them. */
#include "launch.h"
#include "numbers.h"

#include <stdio.h>

/* The step of dims `from` .. of a tensor merged into one, in bytes; false if there is none. */
static bool lane_step(int64_t *out, const tsr_tensor *t, int from)
{
    int64_t length = 1;
    *out = 0;
    for (int d = t->ndim - 1; d >= from; d--) {
        if (t->shape[d] == 1) continue;
        if (length > 1 && t->stride[d] != *out * length) return false;
        if (length == 1) *out = t->stride[d];
        length *= t->shape[d];
    }
    *out *= (int64_t)ocl_size_of(t->dtype);
    return true;
}

static bool is_softmax(tsr_op_kind kind)
{
    return kind == TSR_OP_SOFTMAX || kind == TSR_OP_LOG_SOFTMAX || kind == TSR_OP_CAUSAL_SOFTMAX;
}

/* The operands of a norm; what is not there is NULL. */
typedef struct norm {
    const tsr_tensor *z, *x, *residual, *added, *weight, *bias;
    int               from;  /* first dim of a lane */
    bool              is_rms;
} norm;

static norm norm_of(const tsr_op *op)
{
    const tsr_norm_params *p = op->params;
    const int last = op->in[0]->ndim - 1;
    switch (op->kind) {
    case TSR_OP_LAYER_NORM:
        return (norm){ .z = op->out[0], .x = op->in[0], .weight = op->in[1], .bias = op->in[2],
                       .from = op->in[0]->ndim - (int)p->count };
    case TSR_OP_RMS_NORM:
        return (norm){ .z = op->out[0], .x = op->in[0], .weight = op->in[1], .from = last, .is_rms = true };
    default:
        return (norm){ .z = op->out[1], .x = op->in[0], .residual = op->in[1], .added = op->out[0],
                       .weight = op->in[2], .from = last, .is_rms = true };
    }
}

static const char *can(const ocl_device *d, const tsr_op *op)
{
    int64_t step;
    for (int i = 0; i < op->nin; i++) {
        const char *why = op->in[i] ? ocl_lacks(d, op->in[i]->dtype) : NULL;
        if (why) return why;
    }
    if (is_softmax(op->kind)) return NULL;
    const norm n = norm_of(op);
    const bool fits = lane_step(&step, n.z, n.from) && lane_step(&step, n.x, n.from) &&
                      (!n.weight || lane_step(&step, n.weight, 0)) &&
                      (!n.bias || lane_step(&step, n.bias, 0));
    return fits ? NULL : "lanes have more than one step";
}

static void write_options(char *out, size_t size, const ocl_nest *t, tsr_dtype dtype, int64_t length)
{
    char dtypes[64];
    ocl_fix_dtypes(dtypes, sizeof dtypes, t, t->count * length);
    snprintf(out, size, "%s%s", ocl_class_option(dtype), dtypes);
}

static tsr_status run_softmax(const ocl_call *call)
{
    ocl_nest t;
    ocl_operand operands[2];
    ocl_launch l;
    char options[96];
    const tsr_op *op = call->op;
    const tsr_tensor *z = op->out[0], *x = op->in[0];
    const bool causal = op->kind == TSR_OP_CAUSAL_SOFTMAX;
    const int axis = causal ? z->ndim - 1 : ((const tsr_axis_params *)op->params)->axis;
    const size_t bytes = 2 * (call->device->has_f64 ? sizeof(double) : sizeof(float));
    OCL_TRY(ocl_see(&operands[0], z));
    OCL_TRY(ocl_see(&operands[1], x));
    ocl_nest_lanes(&t, z->ndim, z->shape, axis, 2, operands);
    write_options(options, sizeof options, &t, x->dtype, z->shape[axis]);
    OCL_TRY(ocl_begin(&l, call, "rows", "softmax", options));
    ocl_arg_mem(&l, operands[0].mem);
    ocl_arg_mem(&l, operands[1].mem);
    ocl_arg_nest(&l, &t);
    ocl_arg_long(&l, z->shape[axis]);
    ocl_arg_long(&l, operands[0].stride[axis]);
    ocl_arg_long(&l, operands[1].stride[axis]);
    ocl_arg_long(&l, causal ? z->shape[axis - 1] : 0);
    ocl_arg_int(&l, op->kind == TSR_OP_LOG_SOFTMAX);
    const size_t group = ocl_group_for(&l, z->shape[axis], bytes), rows = (size_t)t.count;
    ocl_arg_local(&l, group * bytes);
    return ocl_end_groups(&l, 1, &rows, &group);
}

static int64_t step_of(const tsr_tensor *t, int from)
{
    int64_t step = 0;
    if (t) (void)lane_step(&step, t, from);
    return step;
}

static tsr_status run_norm(const ocl_call *call)
{
    ocl_nest t;
    ocl_operand operands[4], weight = { .mem = NULL }, bias = { .mem = NULL };
    ocl_launch l;
    char options[96];
    const norm n = norm_of(call->op);
    const tsr_tensor *all[4] = { n.z, n.x, n.residual ? n.residual : n.x, n.added ? n.added : n.z };
    const size_t bytes = 2 * (call->device->has_f64 ? sizeof(double) : sizeof(float));
    int64_t length = 1;
    for (int d = n.from; d < n.x->ndim; d++) length *= n.x->shape[d];
    for (int i = 0; i < 4; i++) OCL_TRY(ocl_see(&operands[i], all[i]));
    if (n.weight) OCL_TRY(ocl_see(&weight, n.weight));
    if (n.bias) OCL_TRY(ocl_see(&bias, n.bias));
    ocl_nest_in_order(&t, n.from, n.x->shape, 4, operands);
    write_options(options, sizeof options, &t, n.x->dtype, length);
    OCL_TRY(ocl_begin(&l, call, "rows", "norm", options));
    for (int i = 0; i < 4; i++) ocl_arg_mem(&l, operands[i].mem);
    ocl_arg_mem(&l, weight.mem ? weight.mem : operands[1].mem);
    ocl_arg_mem(&l, bias.mem ? bias.mem : operands[1].mem);
    ocl_arg_nest(&l, &t);
    ocl_arg_long(&l, length);
    for (int i = 0; i < 4; i++) ocl_arg_long(&l, step_of(all[i], n.from));
    ocl_arg_long(&l, weight.base);
    ocl_arg_long(&l, step_of(n.weight, 0));
    ocl_arg_long(&l, bias.base);
    ocl_arg_long(&l, step_of(n.bias, 0));
    ocl_arg_int(&l, n.weight ? (int)n.weight->dtype : 0);
    ocl_arg_int(&l, n.bias ? (int)n.bias->dtype : 0);
    ocl_arg_int(&l, n.is_rms);
    ocl_arg_int(&l, n.residual != NULL);
    ocl_arg_wide(&l, ((const tsr_norm_params *)call->op->params)->eps);
    const size_t group = ocl_group_for(&l, length, bytes), rows = (size_t)t.count;
    ocl_arg_local(&l, group * bytes);
    return ocl_end_groups(&l, 1, &rows, &group);
}

static tsr_status run(const ocl_call *call)
{
    return is_softmax(call->op->kind) ? run_softmax(call) : run_norm(call);
}

const ocl_runner ocl_runner_rows = { can, run };
