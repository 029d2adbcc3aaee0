/* pooling.c - pooling: windows as rows of taps, over contiguous numbers.
 *
 * Small windows slide over lines of numbers (pooling_slide.c); large and adaptive ones are
 * reduced line by line (pooling_large.c). */
#include "core/desc_int.h"
#include "core/dtype_int.h"
#include "pooling_job.h"
#include "core/threads_int.h"


/* Bytes from one index of a dim to the next; 0 where there is no next. */
static int64_t bytes_along(const tsr_tensor *t, int axis)
{
    return t->shape[axis] > 1 ? tsri_mul_wrapping(t->stride[axis], tsri_dtype_size(t->dtype)) : 0;
}

static int64_t length(int64_t step) { return step < 0 ? -step : step; }

/* Is pooling adaptive, with windows that differ? If all have one size and one step, they slide. */
static bool is_adaptive(const tsr_op *op)
{
    const tsr_pool_params *p = op->params;
    const tsr_tensor *x = op->in[0], *z = op->out[0];
    bool whole = true;
    for (int d = z->ndim - p->spatial; d < z->ndim; d++) whole &= x->shape[d] % z->shape[d] == 0;
    return p->adaptive && !whole;
}

static tsri_slide describe_axis(const tsri_pooling *j, const tsr_op *op, int d)
{
    const tsr_pool_params *p = j->p;
    const tsr_tensor *x = op->in[0], *z = op->out[0];
    const int at = z->ndim - p->spatial + d;
    tsri_slide a = { .out = z->shape[at],
                     .in = x->shape[at],
                     .taps = 1,
                     .step = 1,
                     .reach = 1,
                     .x = bytes_along(x, at),
                     .z = bytes_along(z, at) };
    if (p->adaptive && !j->adaptive) a.taps = a.step = a.in / a.out;
    if (!p->adaptive) {
        a.taps = p->kernel[d];
        a.step = p->stride[d];
        a.first = -p->padding[d];
        a.reach = p->dilation[d];
    }
    if (a.out == 1) a.step = 1;  /* the step is never taken */
    return a;
}

/* An axis of n places without windows. */
static tsri_slide describe_places(int64_t n, int64_t x, int64_t z)
{
    return (tsri_slide){ .out = n, .in = n, .taps = 1, .step = 1, .reach = 1, .x = x, .z = z };
}

/* If channels have a smaller stride than columns, they are the lane; else they count as images, or rows. */
static void describe_axes(tsri_pooling *j, const tsr_op *op)
{
    const tsr_tensor *x = op->in[0], *z = op->out[0], *indices = op->nout > 1 ? op->out[1] : NULL;
    const int c = z->ndim - j->p->spatial - 1, last = z->ndim - 1;
    const bool channels =
        z->shape[c] > 1 && x->shape[last] > 1 && length(bytes_along(x, c)) < length(bytes_along(x, last));
    const int channel = channels             ? LANE
                        : j->p->spatial == 1 ? ROWS
                                             : -1,
              first = (channels ? LANE : AXES) - j->p->spatial;
    for (int d = 0; d < AXES; d++) j->axis[d] = describe_places(1, 0, 0);
    for (int d = 0; d < j->p->spatial; d++) {
        j->axis[first + d] = describe_axis(j, op, d);
        j->spatial[first + d] = true;
        if (indices) j->i[first + d] = bytes_along(indices, c + 1 + d);
    }
    j->channels = channel < 0 ? z->shape[c] : 1;
    if (channel < 0) {
        j->x_channel = bytes_along(x, c);
        j->z_channel = bytes_along(z, c);
        if (indices) j->i_channel = bytes_along(indices, c);
        return;
    }
    j->axis[channel] = describe_places(z->shape[c], bytes_along(x, c), bytes_along(z, c));
    if (indices) j->i[channel] = bytes_along(indices, c);
}

/* Do n planes, x and z bytes apart, continue the rows of one plane, in x and in z? */
static bool continues(const tsri_slide *a, int64_t n, int64_t x, int64_t z)
{
    return n == 1 || (x == a->in * a->x && z == a->out * a->z);
}

/* Planes whose windows need no padding and leave no lines over at the end are merged into one of more
 * rows. */
static void join_planes(tsri_pooling *j)
{
    tsri_slide *a = &j->axis[ROWS];
    if (j->adaptive || j->indices || j->axis[0].in > 1 || j->axis[1].in > 1 || a->first != 0 || a->out == 1 ||
        a->in != a->out * a->step || (a->taps - 1) * a->reach >= a->step)
        return;
    if (!continues(a, j->channels, j->x_channel, j->z_channel)) return;
    a->in *= j->channels;
    a->out *= j->channels;
    j->channels = 1;
    if (!continues(a, j->images, j->x_image, j->z_image)) return;
    a->in *= j->images;
    a->out *= j->images;
    j->images = 1;
}

static int type_of(tsr_dtype dtype)
{
    const bool integers = tsr_dtype_kind(dtype) != TSR_FLOATING;
    if (dtype == TSR_F64) return TSRI_POOL_F64;
    return integers && tsri_dtype_size(dtype) > 2 ? TSRI_POOL_I64 : TSRI_POOL_F32;
}

static void describe_job(tsri_pooling *j, const tsr_op *op)
{
    const tsr_tensor *x = op->in[0], *z = op->out[0], *indices = op->nout > 1 ? op->out[1] : NULL;
    *j = (tsri_pooling){ .p = op->params,
                .average = op->kind == TSR_OP_AVG_POOL,
                .adaptive = is_adaptive(op),
                .images = 1,
                .x = x->data,
                .z = z->data,
                .indices = indices ? indices->data : NULL,
                .dtype = x->dtype,
                .size = tsri_dtype_size(x->dtype),
                .type = type_of(x->dtype),
                .all = tsri_cpu_kernels_get(),
                .rows = 1 };
    j->wide = j->type == TSRI_POOL_F32 ? 4 : 8;
    j->k = &j->all->pool[j->type];
    if (z->ndim - j->p->spatial == 2) {
        j->images = z->shape[0];
        j->x_image = bytes_along(x, 0);
        j->z_image = bytes_along(z, 0);
        j->i_image = indices ? bytes_along(indices, 0) : 0;
    }
    describe_axes(j, op);
    join_planes(j);
    tsri_pooling_lowest(j);
    j->slides = tsri_pooling_blocks(j);
    tsri_pooling_counts_plan(j);
    j->blocks = (j->axis[ROWS].out + j->rows - 1) / j->rows;
}

/* Block `i` of all images, channels and outer places. */
static tsri_pooling_block find_block(const tsri_pooling *j, int64_t i)
{
    const tsri_slide *a = j->axis;
    tsri_pooling_block b = { .at = { 0, 0, i % j->blocks * j->rows } };
    b.rows = least(j->rows, a[ROWS].out - b.at[ROWS]);
    i /= j->blocks;
    b.at[1] = i % a[1].out;
    i /= a[1].out;
    b.at[0] = i % a[0].out;
    i /= a[0].out;
    const int64_t channel = i % j->channels, image = i / j->channels;
    b.x = j->x + image * j->x_image + channel * j->x_channel;
    b.z = j->z + image * j->z_image + channel * j->z_channel;
    if (j->indices) b.indices = j->indices + image * j->i_image + channel * j->i_channel;
    for (int d = 0; d < TSRI_AXES; d++) {
        b.z += b.at[d] * a[d].z;
        if (j->indices) b.indices += b.at[d] * j->i[d];
    }
    return b;
}

static tsr_status pool_blocks(void *context, int64_t begin, int64_t end)
{
    const tsri_pooling *j = context;
    for (int64_t i = begin; i < end; i++) {
        const tsri_pooling_block b = find_block(j, i);
        if (j->slides) tsri_pooling_slide(j, &b);
        else           tsri_pooling_reduce(j, &b);
    }
    return TSR_OK;
}

/* Elements that a block reads. */
static double block_work(const tsri_pooling *j)
{
    double work = (double)(j->axis[LANE].out * j->rows);
    for (int d = 0; d < AXES; d++)
        work *= j->adaptive ? (double)j->axis[d].in / (double)j->axis[d].out + 1 : (double)j->axis[d].taps;
    return work;
}

tsr_status tsri_cpu_pool(const tsr_op *op)
{
    tsri_pooling j;
    if (tsr_desc_numel(&op->out[0]->desc) == 0) return TSR_OK;
    describe_job(&j, op);
    return tsri_parallel_for(j.images * j.channels * j.axis[0].out * j.axis[1].out * j.blocks,
                            tsri_grain(TSRI_WORK_READ * block_work(&j)), pool_blocks, &j);
}
