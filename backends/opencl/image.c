/* image.c - resize, a dim at a time by the host's tables, and grid_sample. */
#include "launch.h"
#include "numbers.h"

#include <stdio.h>
#include <stdlib.h>

#include <tessera/ops/image.h>

/* Resize ------------------------------------------------------------------------------------ */

/* How a dim is made: where each output's first input is, and the weights from there on. */
typedef struct table {
    int64_t taps;
    cl_mem  first, weight;
} table;

static const char *can_resize(const ocl_device *d, const tsr_op *op)
{
    if (ocl_host->size <= offsetof(tsr_host, resize_table)) return "the library is older than it";
    return ocl_lacks(d, op->in[0]->dtype);
}

static bool is_nearest(const tsr_op *op)
{
    return ((const tsr_resize_params *)op->params)->mode <= TSR_INTERPOLATE_NEAREST_EXACT;
}

/* The numbers that sums are in. */
static tsr_dtype sum_dtype(const tsr_op *op)
{
    const tsr_dtype dtype = op->in[0]->dtype;
    return is_nearest(op) ? dtype : dtype == TSR_F64 ? TSR_F64 : TSR_F32;
}

/* `room` has numbers for all. */
static tsr_status fill_table(table *t, const ocl_call *call, int d, int64_t in, int64_t *room)
{
    const tsr_resize_params *p = call->op->params;
    const size_t out = (size_t)p->size[d], n = out * (size_t)t->taps;
    double *weight = (double *)(void *)(room + out);
    float *narrow = (float *)(void *)weight;
    ocl_host->resize_table(p, d, in, room, weight);
    OCL_TRY(ocl_constant(&t->first, call, room, out * sizeof *room));
    if (sum_dtype(call->op) == TSR_F64) return ocl_constant(&t->weight, call, weight, n * sizeof *weight);
    for (size_t i = 0; i < n; i++) narrow[i] = (float)weight[i];
    return ocl_constant(&t->weight, call, narrow, n * sizeof *narrow);
}

static tsr_status make_table(table *t, const ocl_call *call, int d, int64_t in)
{
    const tsr_resize_params *p = call->op->params;
    *t = (table){ .taps = ocl_host->resize_table(p, d, in, NULL, NULL) };
    const int64_t most = INT64_MAX / 64 / (t->taps + 1);
    int64_t *room = p->size[d] < most ? malloc((size_t)(p->size[d] * (t->taps + 1)) * sizeof *room) : NULL;
    if (!room) return ocl_fail(TSR_ENOMEM, "%s: no room for %lld weights", call->name, (long long)p->size[d]);
    const tsr_status s = fill_table(t, call, d, in, room);
    free(room);
    return s;
}

/* z = x with another dim `axis`; all others are z's. */
static tsr_status run_pass(const ocl_call *call, const table *t, const ocl_operand *z, const ocl_operand *x,
                           const int64_t *shape, int axis)
{
    ocl_nest nest;
    ocl_launch l;
    char options[96], dtypes[64];
    ocl_operand operands[3] = { *z, { .mem = t->first, .dtype = TSR_I64 }, *x };
    const bool nearest = is_nearest(call->op);
    operands[1].stride[axis] = shape[axis] > 1 ? (int64_t)sizeof(cl_long) : 0;
    operands[2].stride[axis] = 0;
    ocl_nest_in_order(&nest, call->op->in[0]->ndim, shape, 3, operands);
    ocl_fix_dtypes(dtypes, sizeof dtypes, &nest, nest.count);
    if (nearest) snprintf(options, sizeof options, "-DSIZE=%d", (int)ocl_size_of(z->dtype));
    else snprintf(options, sizeof options, "%s%s", ocl_class_option(sum_dtype(call->op)), dtypes);
    OCL_TRY(ocl_begin(&l, call, nearest ? "move" : "image", nearest ? "gather" : "resize", options));
    for (int k = 0; k < 3; k++) ocl_arg_mem(&l, operands[k].mem);
    ocl_arg_nest(&l, &nest);
    ocl_arg_long(&l, x->stride[axis]);
    if (!nearest) {
        ocl_arg_mem(&l, t->weight);
        ocl_arg_long(&l, t->taps);
    }
    return ocl_end(&l, nest.count);
}

/* Packed memory of this shape for numbers that are not the result yet. */
static tsr_status make_between(ocl_operand *out, const ocl_call *call, const int64_t *shape)
{
    int64_t step = (int64_t)ocl_size_of(sum_dtype(call->op));
    *out = (ocl_operand){ .dtype = sum_dtype(call->op) };
    for (int d = call->op->in[0]->ndim - 1; d >= 0; d--) {
        out->stride[d] = shape[d] > 1 ? step : 0;
        step *= shape[d];
    }
    return ocl_scratch(&out->mem, call, (size_t)step);
}

static tsr_status resize_axis(const ocl_call *call, const ocl_operand *z, const ocl_operand *x,
                              const int64_t *shape, int d)
{
    const tsr_tensor *in = call->op->in[0];
    const int axis = in->ndim - ((const tsr_resize_params *)call->op->params)->spatial + d;
    table t;
    tsr_status s = make_table(&t, call, d, in->shape[axis]);
    if (s == TSR_OK) s = run_pass(call, &t, z, x, shape, axis);
    if (t.first) (void)ocl.clReleaseMemObject(t.first);
    if (t.weight) (void)ocl.clReleaseMemObject(t.weight);
    return s;
}

/* The last dim comes first; the first one writes the result. */
static tsr_status run_resize(const ocl_call *call)
{
    const tsr_tensor *in = call->op->in[0], *out = call->op->out[0];
    const int spatial = ((const tsr_resize_params *)call->op->params)->spatial;
    int64_t shape[TSR_MAX_NDIM];
    ocl_operand step[4];
    tsr_status s = ocl_see(&step[spatial], in);
    for (int d = 0; d < in->ndim; d++) shape[d] = in->shape[d];
    for (int d = spatial - 1; d >= 0; d--) {
        shape[in->ndim - spatial + d] = out->shape[in->ndim - spatial + d];
        step[d].mem = NULL;
        if (s == TSR_OK) s = d == 0 ? ocl_see(&step[0], out) : make_between(&step[d], call, shape);
        if (s == TSR_OK) s = resize_axis(call, &step[d], &step[d + 1], shape, d);
    }
    for (int d = 1; d < spatial; d++)
        if (step[d].mem) (void)ocl.clReleaseMemObject(step[d].mem);
    return s;
}

const ocl_runner ocl_runner_resize = { can_resize, run_resize };

/* Grids ------------------------------------------------------------------------------------- */

/* As in image.cl. */
typedef struct grid_args {
    cl_long size[3], x_step[3];  /* the outermost first; what x lacks has size 1 */
    cl_long channels, z_channel, x_channel, which;
    cl_int  spatial, mode, padding, align_corners, grid_dtype, unused;
} grid_args;

static const char *can_grid(const ocl_device *d, const tsr_op *op)
{
    const char *why = ocl_lacks(d, op->in[0]->dtype);
    return why ? why : d->has_f64 ? NULL : "the device has no f64";
}

static grid_args describe_grid(const tsr_op *op, const ocl_operand *operands)
{
    const tsr_grid_params *p = op->params;
    const tsr_tensor *x = op->in[0];
    const int spatial = x->ndim - 2;
    grid_args a = { .size = { 1, 1, 1 }, .channels = x->shape[1], .z_channel = operands[0].stride[1],
                    .x_channel = operands[1].stride[1], .which = operands[2].stride[spatial + 1],
                    .spatial = spatial, .mode = p->mode, .padding = p->padding,
                    .align_corners = p->align_corners, .grid_dtype = (cl_int)op->in[1]->dtype };
    for (int d = 0; d < spatial; d++) {
        a.size[3 - spatial + d] = x->shape[2 + d];
        a.x_step[3 - spatial + d] = operands[1].stride[2 + d];
    }
    return a;
}

/* A work item for each place of the grid. */
static tsr_status run_grid(const ocl_call *call)
{
    const tsr_op *op = call->op;
    const tsr_tensor *z = op->out[0];
    ocl_operand operands[3];
    ocl_nest t;
    ocl_launch l;
    OCL_TRY(ocl_see(&operands[0], z));
    OCL_TRY(ocl_see(&operands[1], op->in[0]));
    OCL_TRY(ocl_see(&operands[2], op->in[1]));
    const grid_args a = describe_grid(op, operands);
    for (int d = z->ndim - 1; d >= 2; d--) {
        operands[1].stride[d] = 0;
        operands[2].stride[d] = operands[2].stride[d - 1];
    }
    ocl_nest_lanes(&t, z->ndim, z->shape, 1, 3, operands);
    OCL_TRY(ocl_begin(&l, call, "image", "grid_sample", ocl_class_option(z->dtype)));
    for (int k = 0; k < 3; k++) ocl_arg_mem(&l, operands[k].mem);
    ocl_arg_nest(&l, &t);
    ocl_arg(&l, sizeof a, &a);
    return ocl_end(&l, t.count);
}

const ocl_runner ocl_runner_grid = { can_grid, run_grid };
