/* move.c - copy, fill, where, gather, scatter: elements moved. */
#include "launch.h"
#include "numbers.h"

#include <stdio.h>
#include <string.h>

#include <tessera/ops/index.h>

/* Is operand k contiguous? */
static bool runs_on(const ocl_nest *t, int k)
{
    return t->ndim == 0 || (t->ndim == 1 && t->step[k][0] == (cl_long)ocl_size_of((tsr_dtype)t->dtype[k]));
}

static void size_option(char out[32], tsr_dtype dtype)
{
    snprintf(out, 32, "-DSIZE=%d", (int)ocl_size_of(dtype));
}

/* Copy ----------------------------------------------------------------------------------- */

static const char *can_copy(const ocl_device *d, const tsr_op *op)
{
    if (op->in[0]->dtype == op->out[0]->dtype) return NULL;
    const char *why = ocl_lacks(d, op->in[0]->dtype);
    return why ? why : ocl_lacks(d, op->out[0]->dtype);
}

static tsr_status copy_bytes(const ocl_call *call, const ocl_nest *t, const cl_mem *mems)
{
    const size_t bytes = (size_t)t->count * ocl_size_of((tsr_dtype)t->dtype[0]);
    if (mems[0] == mems[1] && t->base[0] == t->base[1]) return TSR_OK;
    const cl_int error = ocl.clEnqueueCopyBuffer(call->stream->queue, mems[1], mems[0], (size_t)t->base[1],
                                                 (size_t)t->base[0], bytes, 0, NULL, NULL);
    if (error == CL_SUCCESS) (void)ocl.clFlush(call->stream->queue);
    __atomic_store_n(&call->stream->last, call->name, __ATOMIC_RELAXED);
    if (error == CL_SUCCESS) return TSR_OK;
    return ocl_fail(ocl_status(error), "%s: opencl:%d does not copy (%s)", call->name, call->device->index,
                    ocl_error_name(error));
}

/* The dim outside the last along which the source has unit stride; -1 if none is
 * worth transposing for. */
static int dense_dim(const ocl_nest *t, int64_t size)
{
    enum { LEAST = 16 };
    const int last = t->ndim - 1;
    if (size > 8 || last < 1 || t->step[0][last] != size || t->n[last] < LEAST || t->step[1][last] == size)
        return -1;
    for (int d = 0; d < last; d++)
        if (t->step[1][d] == size && t->n[d] >= LEAST) return d;
    return -1;
}

static void leave_out(ocl_nest *t, int d)
{
    t->count /= t->n[d];
    for (int i = d; i + 1 < t->ndim; i++) {
        t->n[i] = t->n[i + 1];
        for (int k = 0; k < OCL_OPERANDS; k++) t->step[k][i] = t->step[k][i + 1];
    }
    t->ndim--;
}

static tsr_status transpose(const ocl_call *call, const ocl_nest *all, const cl_mem *mems, int dense,
                       const char *options)
{
    enum { SIDE = 16 };
    const int last = all->ndim - 1;
    const bool alone = call->device->is_processor;
    ocl_nest t = *all;
    leave_out(&t, last);
    leave_out(&t, dense);
    for (int64_t first = 0; first < t.count; first += OCL_LANES_AT_ONCE) {
        ocl_launch l;
        const int64_t rest = t.count - first;
        const size_t groups[3] = { (size_t)(all->n[last] + SIDE - 1) / SIDE,
                                   (size_t)(all->n[dense] + SIDE - 1) / SIDE,
                                   (size_t)(rest < OCL_LANES_AT_ONCE ? rest : OCL_LANES_AT_ONCE) };
        OCL_TRY(ocl_begin(&l, call, "move", alone ? "transpose_block" : "transpose", options));
        ocl_arg_mem(&l, mems[0]);
        ocl_arg_mem(&l, mems[1]);
        ocl_arg_nest(&l, &t);
        ocl_arg_long(&l, first);
        ocl_arg_long(&l, all->n[dense]);
        ocl_arg_long(&l, all->step[0][dense]);
        ocl_arg_long(&l, all->n[last]);
        ocl_arg_long(&l, all->step[1][last]);
        OCL_TRY(ocl_end_groups(&l, 3, groups, (const size_t[]){ alone ? 1 : SIDE, alone ? 1 : SIDE, 1 }));
    }
    return TSR_OK;
}

static tsr_status copy_same(const ocl_call *call, const ocl_nest *t, const cl_mem *mems)
{
    ocl_launch l;
    char options[32];
    const tsr_dtype dtype = (tsr_dtype)t->dtype[0];
    if (runs_on(t, 0) && runs_on(t, 1)) return copy_bytes(call, t, mems);
    size_option(options, dtype);
    const int dense = dense_dim(t, (int64_t)ocl_size_of(dtype));
    if (dense >= 0 && call->device->group >= 256) return transpose(call, t, mems, dense, options);
    OCL_TRY(ocl_begin(&l, call, "move", "copy", options));
    ocl_arg_mem(&l, mems[0]);
    ocl_arg_mem(&l, mems[1]);
    ocl_arg_nest(&l, t);
    return ocl_end(&l, t->count);
}

static tsr_status run_copy(const ocl_call *call)
{
    ocl_nest t;
    cl_mem mems[2];
    ocl_launch l;
    const tsr_tensor *z = call->op->out[0], *x = call->op->in[0];
    OCL_TRY(ocl_nest_of(&t, mems, 2, (const tsr_tensor *const[]){ z, x }));
    if (z->dtype == x->dtype) return copy_same(call, &t, mems);
    const bool parts = x->dtype == TSR_C32 || x->dtype == TSR_C64;
    char options[96], dtypes[64];
    ocl_fix_dtypes(dtypes, sizeof dtypes, &t, t.count);
    snprintf(options, sizeof options, "%s%s", parts ? "-DCLASS_CFLOAT" : ocl_class_option(x->dtype), dtypes);
    OCL_TRY(ocl_begin(&l, call, "cast", "cast", options));
    ocl_arg_mem(&l, mems[0]);
    ocl_arg_mem(&l, mems[1]);
    ocl_arg_nest(&l, &t);
    return ocl_end(&l, t.count);
}

const ocl_runner ocl_runner_copy = { can_copy, run_copy };

/* Fill ----------------------------------------------------------------------------------- */

static const char *can_always(const ocl_device *d, const tsr_op *op)
{
    (void)d; (void)op;
    return NULL;
}

static tsr_status run_fill(const ocl_call *call)
{
    ocl_nest t;
    cl_mem mem;
    ocl_launch l;
    char options[32];
    unsigned char bytes[16];
    uint64_t words[2];
    const tsr_tensor *z = call->op->out[0];
    const size_t size = ocl_size_of(z->dtype);
    OCL_TRY(ocl_nest_of(&t, &mem, 1, (const tsr_tensor *const[]){ z }));
    ocl_scalar_bytes(bytes, z->dtype, ((const tsr_fill_params *)call->op->params)->value);
    if (runs_on(&t, 0) && (size_t)t.base[0] % size == 0) {
        const cl_int error = ocl.clEnqueueFillBuffer(call->stream->queue, mem, bytes, size, (size_t)t.base[0],
                                                     (size_t)t.count * size, 0, NULL, NULL);
        __atomic_store_n(&call->stream->last, call->name, __ATOMIC_RELAXED);
        if (error == CL_SUCCESS) (void)ocl.clFlush(call->stream->queue);
        if (error == CL_SUCCESS) return TSR_OK;
        return ocl_fail(ocl_status(error), "%s: opencl:%d does not fill (%s)", call->name,
                        call->device->index, ocl_error_name(error));
    }
    memcpy(words, bytes, sizeof words);
    size_option(options, z->dtype);
    OCL_TRY(ocl_begin(&l, call, "move", "fill", options));
    ocl_arg_mem(&l, mem);
    ocl_arg_nest(&l, &t);
    ocl_arg(&l, sizeof words[0], &words[0]);
    ocl_arg(&l, sizeof words[1], &words[1]);
    return ocl_end(&l, t.count);
}

const ocl_runner ocl_runner_fill = { can_always, run_fill };

/* Where ---------------------------------------------------------------------------------- */

static tsr_status run_where(const ocl_call *call)
{
    ocl_nest t;
    cl_mem mems[4];
    ocl_launch l;
    char options[32];
    const tsr_op *op = call->op;
    OCL_TRY(
        ocl_nest_of(&t, mems, 4, (const tsr_tensor *const[]){ op->out[0], op->in[0], op->in[1], op->in[2] }));
    size_option(options, op->out[0]->dtype);
    OCL_TRY(ocl_begin(&l, call, "move", "where", options));
    for (int k = 0; k < 4; k++) ocl_arg_mem(&l, mems[k]);
    ocl_arg_nest(&l, &t);
    return ocl_end(&l, t.count);
}

const ocl_runner ocl_runner_where = { can_always, run_where };

/* Gather and scatter ----------------------------------------------------------------------- */

static tsr_status run_gather(const ocl_call *call)
{
    ocl_nest t;
    ocl_operand operands[3];
    ocl_launch l;
    char options[32];
    const tsr_tensor *z = call->op->out[0], *x = call->op->in[0], *index = call->op->in[1];
    const int axis = ((const tsr_axis_params *)call->op->params)->axis;
    OCL_TRY(ocl_see(&operands[0], z));
    OCL_TRY(ocl_see(&operands[1], index));
    OCL_TRY(ocl_see(&operands[2], x));
    const int64_t step = operands[2].stride[axis];
    operands[2].stride[axis] = 0;
    ocl_nest_in_order(&t, z->ndim, z->shape, 3, operands);
    size_option(options, z->dtype);
    OCL_TRY(ocl_begin(&l, call, "move", "gather", options));
    for (int k = 0; k < 3; k++) ocl_arg_mem(&l, operands[k].mem);
    ocl_arg_nest(&l, &t);
    ocl_arg_long(&l, step);
    return ocl_end(&l, t.count);
}

const ocl_runner ocl_runner_gather = { can_always, run_gather };

static const char *can_scatter(const ocl_device *d, const tsr_op *op)
{
    const tsr_scatter_params *p = op->params;
    return p->mode == TSR_SCATTER_SET ? NULL : ocl_lacks(d, op->out[0]->dtype);
}

static tsr_status run_scatter(const ocl_call *call)
{
    ocl_nest t;
    ocl_operand operands[3];
    ocl_launch l;
    char options[64];
    const tsr_scatter_params *p = call->op->params;
    const tsr_tensor *z = call->op->out[0], *index = call->op->in[0], *x = call->op->in[1];
    static const char *const modes[] = { "SET", "ADD", "MAX" };
    if (ocl_numel(index) == 0) return TSR_OK;
    OCL_TRY(ocl_see(&operands[0], z));
    OCL_TRY(ocl_see(&operands[1], index));
    OCL_TRY(ocl_see(&operands[2], x));
    ocl_nest_lanes(&t, index->ndim, index->shape, p->axis, 3, operands);
    snprintf(options, sizeof options, "%s -DMODE_%s",
             p->mode == TSR_SCATTER_SET ? "-DCLASS_UNSIGNED" : ocl_class_option(z->dtype), modes[p->mode]);
    OCL_TRY(ocl_begin(&l, call, "scatter", "scatter", options));
    for (int k = 0; k < 3; k++) ocl_arg_mem(&l, operands[k].mem);
    ocl_arg_nest(&l, &t);
    ocl_arg_long(&l, index->shape[p->axis]);
    for (int k = 0; k < 3; k++) ocl_arg_long(&l, operands[k].stride[p->axis]);
    return ocl_end(&l, t.count);
}

const ocl_runner ocl_runner_scatter = { can_scatter, run_scatter };
