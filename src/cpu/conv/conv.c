/* conv.c - from a convolution, plain or transposed, to grids. */
#include "cpu/edges.h"
#include "conv.h"
#include "core/desc_int.h"
#include "core/dtype_int.h"
#include "conv_kernels.h"

const int64_t tsri_edges_conv[] = { TSRI_CONV_ROWS, TSRI_CONV_PLACES, TSRI_CONV_BLOCK, 0 };

/* Bytes from one index of a dim to the next; 0 where there is no next. */
static int64_t bytes_along(const tsr_desc *d, int axis, int64_t size)
{
    return d->shape[axis] > 1 ? tsri_mul_wrapping(d->stride[axis], size) : 0;
}

static const tsri_slide one_place = { 1, 1, 1, 1, 0, 0, 0, 0, 0 };

/* All fields but the axes. */
static void describe_operands(tsri_grid *g, const tsr_op *op)
{
    const tsr_conv_params *p = op->params;
    const tsr_tensor *x = op->in[0], *w = op->in[1], *bias = op->nin > 2 ? op->in[2] : NULL, *z = op->out[0];
    const int64_t size = tsri_dtype_size(z->dtype);
    const int c = z->ndim - p->spatial - 1;
    const bool transposed = op->kind == TSR_OP_CONV_TRANSPOSE;
    const int w_out = transposed ? 1 : 0, w_in = transposed ? 0 : 1;
    *g = (tsri_grid){ .dtype = z->dtype, .batch = c ? z->shape[0] : 1, .groups = p->groups,
                      .channels = x->shape[c] / p->groups, .kernels = z->shape[c] / p->groups,
                      .x = x->data, .w = w->data, .bias = bias ? bias->data : NULL, .z = z->data };
    g->x_image = c ? bytes_along(&x->desc, 0, size) : 0;
    g->z_image = c ? bytes_along(&z->desc, 0, size) : 0;
    g->x_channel = bytes_along(&x->desc, c, size);
    g->z_channel = bytes_along(&z->desc, c, size);
    g->w_channel = bytes_along(&w->desc, w_in, size);
    g->w_kernel = bytes_along(&w->desc, w_out, size);
    g->w_group = transposed ? g->channels * g->w_channel : g->kernels * g->w_kernel;
    g->bias_step = bias ? bytes_along(&bias->desc, 0, size) : 0;
}

/* How windows slide along spatial dim d. */
static tsri_slide describe_axis(const tsr_op *op, int d)
{
    const tsr_conv_params *p = op->params;
    const tsr_tensor *x = op->in[0], *w = op->in[1], *z = op->out[0];
    const int64_t size = tsri_dtype_size(z->dtype);
    const int at = z->ndim - p->spatial + d;
    const bool single = op->kind == TSR_OP_CONV && z->shape[at] == 1;  /* the step is never taken */
    return (tsri_slide){ .out = z->shape[at], .in = x->shape[at], .taps = w->shape[2 + d],
                         .step = single ? 1 : p->stride[d],
                         .first = -p->low[d], .reach = p->dilation[d], .x = bytes_along(&x->desc, at, size),
                         .w = bytes_along(&w->desc, 2 + d, size), .z = bytes_along(&z->desc, at, size) };
}

/* Merged axes ---------------------------------------------------------------------------- */

/* Does output i see input i only? */
static bool is_plain(const tsri_slide *a)
{
    return a->taps == 1 && a->step == 1 && a->first == 0 && a->in == a->out;
}

/* Do the two axes merge into one? */
static bool continues(const tsri_slide *outer, const tsri_slide *inner)
{
    return outer->out == 1 || (outer->x == inner->x * inner->out && outer->z == inner->z * inner->out);
}

/* Axes with a window of 1 are merged where strides allow: a 1 x 1 convolution becomes a product of matrices.
 * An inner axis of size 1 is replaced by the outer one, so that rows are long. */
static void join_axes(tsri_grid *g)
{
    for (int d = 1; d < TSRI_AXES; d++) {
        tsri_slide *inner = &g->axis[d], *outer = &g->axis[d - 1];
        if (!is_plain(inner)) continue;
        if (inner->out == 1) {
            *inner = *outer;
        } else if (is_plain(outer) && continues(outer, inner)) {
            inner->out *= outer->out;
            inner->in = inner->out;
        } else {
            continue;
        }
        *outer = one_place;
    }
}

static tsr_status run_grid(tsri_grid *g)
{
    for (int d = 0; d < TSRI_AXES; d++)
        if (g->axis[d].out == 0) return TSR_OK;
    if (g->batch == 0 || g->groups == 0 || g->kernels == 0) return TSR_OK;
    join_axes(g);
    if (tsri_grid_has_tiles(g)) return tsri_grid_tiles(g);
    if (tsri_grid_has_windows(g)) return tsri_grid_windows(g);
    return tsri_grid_is_direct(g) ? tsri_grid_direct(g) : tsri_grid_multiply(g);
}

/* Transposed -------------------------------------------------------------------------------- */

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Outputs start, start + stride, ... of an axis: all use the same taps, and each sees the next input. Moves
 * the grid's w and z to their first elements. */
static tsri_slide describe_phase(tsri_grid *g, const tsri_slide *a, int64_t start)
{
    const int64_t stride = a->step, dilation = a->reach, common = common_divisor(stride, dilation);
    const int64_t period = stride / common;  /* from one tap that has an input to the next */
    int64_t tap = 0;
    while (tap < a->taps && tap < period && (start - a->first - tap * dilation) % stride != 0) tap++;
    const bool any = tap < a->taps && tap < period;
    tsri_slide phase = { .out = (a->out - start - 1) / stride + 1, .in = a->in, .step = 1, .x = a->x };
    if (phase.out > 1) phase.z = a->z * stride;
    g->z += start * a->z;
    if (!any) return phase;
    phase.taps = (a->taps - tap - 1) / period + 1;
    phase.first = (start - a->first - tap * dilation) / stride;
    phase.reach = -(dilation / common);
    phase.w = phase.taps > 1 ? period * a->w : 0;
    g->w += tap * a->w;
    return phase;
}

static int64_t phases(const tsri_slide *a) { return a->out < a->step ? a->out : a->step; }

static tsr_status run_phases(const tsri_grid *whole)
{
    const tsri_slide *a = whole->axis;
    int64_t start[TSRI_AXES];
    for (start[0] = 0; start[0] < phases(&a[0]); start[0]++)
        for (start[1] = 0; start[1] < phases(&a[1]); start[1]++)
            for (start[2] = 0; start[2] < phases(&a[2]); start[2]++) {
                tsri_grid g = *whole;
                for (int d = 0; d < TSRI_AXES; d++) g.axis[d] = describe_phase(&g, &a[d], start[d]);
                TSRI_TRY(run_grid(&g));
            }
    return TSR_OK;
}

/* The op ------------------------------------------------------------------------------------- */

/* A bias is added to complex sums by another op: multiplying infinities by 1 here would give NaN. */
bool tsri_cpu_has_conv(const tsr_op *op)
{
    return tsr_dtype_kind(op->out[0]->dtype) != TSR_COMPLEX || op->nin < 3 || !op->in[2];
}

tsr_status tsri_cpu_conv(const tsr_op *op)
{
    const tsr_conv_params *p = op->params;
    tsri_grid g;
    describe_operands(&g, op);
    for (int d = 0; d < TSRI_AXES; d++) {
        const int own = d - TSRI_AXES + p->spatial;
        g.axis[d] = own < 0 ? one_place : describe_axis(op, own);
    }
    return op->kind == TSR_OP_CONV ? run_grid(&g) : run_phases(&g);
}
