/* pool.c - lp_pool in one kernel. */
#include "launch.h"
#include "numbers.h"

/* As in pool.cl. Dims stand outermost first; what x lacks has size 1. */
typedef struct window {
    cl_long out[3], in[3], taps[3], stride[3], padding[3];
    cl_long z_step[3], x_step[3];  /* bytes */
} window;

static const char *can(const ocl_device *d, const tsr_op *op)
{
    const char *why = ocl_lacks(d, op->in[0]->dtype);
    return why ? why : d->has_f64 ? NULL : "the device has no f64";
}

static window window_of(const tsr_op *op, const ocl_operand *operands)
{
    const tsr_pool_params *p = op->params;
    const tsr_tensor *x = op->in[0], *z = op->out[0];
    window w = { .out = { 1, 1, 1 }, .in = { 1, 1, 1 }, .taps = { 1, 1, 1 }, .stride = { 1, 1, 1 } };
    for (int i = 0; i < p->spatial; i++) {
        const int dim = x->ndim - p->spatial + i, d = 3 - p->spatial + i;
        w.out[d] = z->shape[dim];
        w.in[d] = x->shape[dim];
        w.taps[d] = p->kernel[i];
        w.stride[d] = p->stride[i];
        w.padding[d] = p->padding[i];
        w.z_step[d] = operands[0].stride[dim];
        w.x_step[d] = operands[1].stride[dim];
    }
    return w;
}

static tsr_status run(const ocl_call *call)
{
    const tsr_op *op = call->op;
    const tsr_pool_params *p = op->params;
    ocl_operand operands[2];
    ocl_nest t;
    ocl_launch l;
    OCL_TRY(ocl_see(&operands[0], op->out[0]));
    OCL_TRY(ocl_see(&operands[1], op->in[0]));
    const window w = window_of(op, operands);
    ocl_nest_in_order(&t, op->in[0]->ndim - p->spatial, op->in[0]->shape, 2, operands);
    OCL_TRY(ocl_begin(&l, call, "pool", "lp_pool", ""));
    for (int k = 0; k < 2; k++) ocl_arg_mem(&l, operands[k].mem);
    ocl_arg_nest(&l, &t);
    ocl_arg(&l, sizeof w, &w);
    ocl_arg_wide(&l, p->p);
    return ocl_end(&l, ocl_numel(op->out[0]));
}

const ocl_runner ocl_runner_pool = { can, run };
