/* scan.c - sums, products and maxima so far, along an axis. */
#include "launch.h"
#include "numbers.h"

#include <stdio.h>

enum { LONG = 1024 };  /* a line that is worth a work group */

static const char *can(const ocl_device *d, const tsr_op *op) { return ocl_lacks(d, op->in[0]->dtype); }

static size_t state_size(const ocl_device *d, tsr_dtype dtype)
{
    return ocl_is_floating(dtype) || ocl_is_complex(dtype) ? (d->has_f64 ? 32 : 16) : 8;
}

static tsr_status run(const ocl_call *call)
{
    ocl_nest t;
    ocl_operand operands[2];
    ocl_launch l;
    char options[128], dtypes[64];
    const tsr_op *op = call->op;
    const tsr_tensor *z = op->out[0], *x = op->in[0];
    const int axis = __builtin_ctz(((const tsr_reduce_params *)op->params)->axes);
    const int64_t n = x->shape[axis];
    OCL_TRY(ocl_see(&operands[0], z));
    OCL_TRY(ocl_see(&operands[1], x));
    ocl_nest_lanes(&t, x->ndim, x->shape, axis, 2, operands);
    /* A stretch's product may leave the range that the product so far stays in. */
    const bool is_whole = !ocl_is_floating(x->dtype) && !ocl_is_complex(x->dtype);
    const bool in_order = op->kind == TSR_OP_CUMPROD && !is_whole;
    const bool serial = in_order || n < LONG || t.count >= 64 * (int64_t)call->device->units;
    ocl_fix_dtypes(dtypes, sizeof dtypes, &t, t.count * n);
    snprintf(options, sizeof options, "%s -DSCAN_%s%s", ocl_class_option(x->dtype),
             op->kind == TSR_OP_CUMSUM ? "SUM" : op->kind == TSR_OP_CUMPROD ? "PROD" : "MAX", dtypes);
    OCL_TRY(ocl_begin(&l, call, "scan", serial ? "serial" : "scan", options));
    ocl_arg_mem(&l, operands[0].mem);
    ocl_arg_mem(&l, operands[1].mem);
    ocl_arg_nest(&l, &t);
    ocl_arg_long(&l, n);
    ocl_arg_long(&l, operands[0].stride[axis]);
    ocl_arg_long(&l, operands[1].stride[axis]);
    if (serial) return ocl_end(&l, t.count);
    const size_t bytes = state_size(call->device, x->dtype), group = ocl_group_for(&l, n, bytes),
                 groups = (size_t)t.count;
    ocl_arg_local(&l, group * bytes);
    return ocl_end_groups(&l, 1, &groups, &group);
}

const ocl_runner ocl_runner_scan = { can, run };
