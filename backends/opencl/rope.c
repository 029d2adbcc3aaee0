/* rope.c - rotary positions in one kernel. What the positions are divided by is computed on the host,
 * whose power function is the CPU's: an angle magnifies its error by the position. */
#include "launch.h"
#include "numbers.h"

#include <math.h>
#include <stdlib.h>

#include <tessera/ops/nn.h>

static const char *can(const ocl_device *d, const tsr_op *op)
{
    (void)op;
    return d->has_f64 ? NULL : "the device has no f64";
}

/* theta^(2j / d) for pairs j of d / 2, as a buffer. */
static tsr_status make_slowness(cl_mem *out, const ocl_call *call, int64_t pairs, double theta)
{
    const size_t bytes = (size_t)pairs * sizeof(double);
    double *slowness = malloc(bytes);
    if (!slowness) return ocl_fail(TSR_ENOMEM, "%s: no room for %lld numbers", call->name, (long long)pairs);
    for (int64_t j = 0; j < pairs; j++) slowness[j] = pow(theta, 2 * (double)j / (double)(2 * pairs));
    const tsr_status s = ocl_constant(out, call, slowness, bytes);
    free(slowness);
    return s;
}

static tsr_status run(const ocl_call *call)
{
    ocl_nest t;
    ocl_operand operands[3];
    ocl_launch l;
    cl_mem slowness = NULL;
    const tsr_op *op = call->op;
    const tsr_rope_params *p = op->params;
    const tsr_tensor *z = op->out[0], *x = op->in[0];
    const int last = x->ndim - 1;
    const int64_t pairs = x->shape[last] / 2;
    OCL_TRY(ocl_see(&operands[0], z));
    OCL_TRY(ocl_see(&operands[1], x));
    OCL_TRY(ocl_see(&operands[2], op->in[1]));
    const int64_t step = operands[2].stride[0];
    for (int d = 0; d <= last; d++) operands[2].stride[d] = d == last - 2 && x->shape[d] > 1 ? step : 0;
    ocl_nest_lanes(&t, x->ndim, x->shape, last, 3, operands);
    OCL_TRY(make_slowness(&slowness, call, pairs, p->theta));
    tsr_status s = ocl_begin(&l, call, "rope", "rope", ocl_class_option(x->dtype));
    if (s == TSR_OK) {
        size_t group = 16;
        while (group > l.kernel->group) group /= 2;
        for (int k = 0; k < 3; k++) ocl_arg_mem(&l, operands[k].mem);
        ocl_arg_mem(&l, slowness);
        ocl_arg_nest(&l, &t);
        ocl_arg_long(&l, pairs);
        ocl_arg_long(&l, operands[0].stride[last]);
        ocl_arg_long(&l, operands[1].stride[last]);
        ocl_arg_int(&l, p->mode == TSR_ROPE_PAIRS);
        const size_t groups[2] = { (size_t)t.count, ((size_t)pairs + group - 1) / group };
        s = ocl_end_groups(&l, 2, groups, (const size_t[]){ 1, group });
    }
    (void)ocl.clReleaseMemObject(slowness);
    return s;
}

const ocl_runner ocl_runner_rope = { can, run };
