/* pool.c - pools: each tap meets a whole row of outputs; adaptive windows go one by one. */
#include "conv.h"
#include "core/dtype_int.h"
#include "core/half.h"
#include "tessera/threads.h"

enum {
    ROW = 128,             /* outputs collected side by side */
    LANES = 8,             /* collected side by side within an adaptive window */
    PART_WORK = 1 << 14    /* elements that make a thread worth waking */
};

/* A row of outputs: its channel of x, itself, and which it is. */
typedef struct row {
    const char *x;
    char       *z, *indices;
    int64_t     at[2];
} row;

typedef struct job job;
typedef void (*row_fn)(const job *j, const row *r);

struct job {
    tsri_slide             axis[TSRI_AXES];
    const tsr_pool_params *p;
    int                    lacks;      /* axes that the op does not have */
    int64_t                channels;   /* of an image */
    const char            *x;
    char                  *z, *indices;
    int64_t                x_image, x_channel, z_image, z_channel;   /* bytes, here and below */
    int64_t                i_image, i_channel, i[TSRI_AXES];         /* of the indices */
    row_fn                 run;
};

/* Where the windows of adaptive output o begin and end. */
static int64_t adaptive_begin(const tsri_slide *a, int64_t o) { return o * a->in / a->out; }
static int64_t adaptive_end(const tsri_slide *a, int64_t o) { return ((o + 1) * a->in - 1) / a->out + 1; }

/* The inputs along the outer axes that a tap of this row looks at; false if there are none. */
static bool find_line(int64_t i[2], const job *j, const row *r, int64_t t0, int64_t t1)
{
    i[0] = r->at[0] * j->axis[0].step + tsri_slide_at(&j->axis[0], t0);
    i[1] = r->at[1] * j->axis[1].step + tsri_slide_at(&j->axis[1], t1);
    return (uint64_t)i[0] < (uint64_t)j->axis[0].in && (uint64_t)i[1] < (uint64_t)j->axis[1].in;
}

/* How many places the window of output o counts along an axis, for an average. */
static int64_t count_places(const job *j, int d, int64_t o)
{
    const tsri_slide *a = &j->axis[d];
    const int64_t low = j->p->exclude_pad ? 0 : -a->first;  /* what counts, ahead of x and behind it */
    int64_t begin = o * a->step + a->first, end = begin + a->taps;
    if (begin < -low) begin = -low;
    if (end > a->in + low) end = a->in + low;
    return end > begin ? end - begin : 0;
}

/* Lines of an adaptive window: what its outer axes look at. */
typedef struct window {
    int64_t begin[TSRI_AXES], end[TSRI_AXES];
} window;

static window find_window(const job *j, const row *r, int64_t o)
{
    window w;
    const int64_t at[TSRI_AXES] = { r->at[0], r->at[1], o };
    for (int d = 0; d < TSRI_AXES; d++) {
        w.begin[d] = adaptive_begin(&j->axis[d], at[d]);
        w.end[d] = adaptive_end(&j->axis[d], at[d]);
    }
    return w;
}

#define TEMPLATE "cpu/conv/max_float.inc"
#include "cpu/template/each_float.inc"
#undef TEMPLATE
#define TEMPLATE "cpu/conv/max_integer.inc"
#include "cpu/template/each_integer.inc"
#undef TEMPLATE
#define TEMPLATE "cpu/conv/avg.inc"
#include "cpu/template/each_float.inc"
#undef TEMPLATE

/* By what they are asked: sliding windows, the same with indices, adaptive ones, the same with indices. */
typedef struct row_fns { row_fn slide, slide_at, adapt, adapt_at; } row_fns;

#define MAX(suffix) { max_slide_##suffix, max_slide_at_##suffix, max_adapt_##suffix, max_adapt_at_##suffix }
#define AVG(suffix) { avg_slide_##suffix, NULL, avg_adapt_##suffix, NULL }

static const row_fns max_rows[TSR_DTYPE_COUNT] = {
    [TSR_F8E4M3] = MAX(f8e4m3), [TSR_F8E5M2] = MAX(f8e5m2), [TSR_F16] = MAX(f16), [TSR_BF16] = MAX(bf16),
    [TSR_F32] = MAX(f32),       [TSR_F64] = MAX(f64),       [TSR_I8] = MAX(i8),   [TSR_I16] = MAX(i16),
    [TSR_I32] = MAX(i32),       [TSR_I64] = MAX(i64),       [TSR_U8] = MAX(u8),   [TSR_U16] = MAX(u16),
    [TSR_U32] = MAX(u32),       [TSR_U64] = MAX(u64),
};

static const row_fns avg_rows[TSR_DTYPE_COUNT] = {
    [TSR_F8E4M3] = AVG(f8e4m3), [TSR_F8E5M2] = AVG(f8e5m2), [TSR_F16] = AVG(f16), [TSR_BF16] = AVG(bf16),
    [TSR_F32] = AVG(f32),       [TSR_F64] = AVG(f64),
};

static row_fn row_of(const tsr_op *op)
{
    const row_fns *fns = &(op->kind == TSR_OP_MAX_POOL ? max_rows : avg_rows)[op->in[0]->dtype];
    const tsr_pool_params *p = op->params;
    if (p->adaptive) return op->nout > 1 ? fns->adapt_at : fns->adapt;
    return op->nout > 1 ? fns->slide_at : fns->slide;
}

/* Bytes from one index of a dim to the next; 0 where there is no next. */
static int64_t bytes_along(const tsr_tensor *t, int axis)
{
    return t->shape[axis] > 1 ? t->stride[axis] * tsri_dtype_size(t->dtype) : 0;
}

static tsri_slide see_axis(const tsr_op *op, int d)
{
    const tsr_pool_params *p = op->params;
    const tsr_tensor *x = op->in[0], *z = op->out[0];
    const int at = z->ndim - p->spatial + d;
    return (tsri_slide){ .out = z->shape[at], .in = x->shape[at], .taps = p->kernel[d],
                         .step = z->shape[at] > 1 ? p->stride[d] : 1,  /* one of any length leads nowhere */
                         .first = -p->padding[d], .reach = p->dilation[d], .x = bytes_along(x, at),
                         .z = bytes_along(z, at) };
}

static void see_operands(job *j, const tsr_op *op)
{
    const tsr_pool_params *p = op->params;
    const tsr_tensor *x = op->in[0], *z = op->out[0], *indices = op->nout > 1 ? op->out[1] : NULL;
    const int c = z->ndim - p->spatial - 1;
    *j = (job){ .p = p, .lacks = TSRI_AXES - p->spatial, .channels = z->shape[c], .x = x->data, .z = z->data,
                .run = row_of(op) };
    j->x_channel = bytes_along(x, c);
    j->z_channel = bytes_along(z, c);
    j->x_image = c ? bytes_along(x, 0) : 0;
    j->z_image = c ? bytes_along(z, 0) : 0;
    for (int d = 0; d < TSRI_AXES; d++)
        j->axis[d] = d < j->lacks ? (tsri_slide){ 1, 1, 1, 1, 0, 0, 0, 0, 0 } : see_axis(op, d - j->lacks);
    if (!indices) return;
    j->indices = indices->data;
    j->i_channel = bytes_along(indices, c);
    j->i_image = c ? bytes_along(indices, 0) : 0;
    for (int d = j->lacks; d < TSRI_AXES; d++) j->i[d] = bytes_along(indices, c + 1 + d - j->lacks);
}

/* Rows begin .. end - 1 of all images, channels and outer places. */
static tsr_status pool_rows(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    const int64_t deep = j->axis[0].out, high = j->axis[1].out;
    for (int64_t i = begin; i < end; i++) {
        const int64_t image = i / high / deep / j->channels, channel = i / high / deep % j->channels;
        row r = { .x = j->x + image * j->x_image + channel * j->x_channel,
                  .z = j->z + image * j->z_image + channel * j->z_channel, .indices = NULL,
                  .at = { i / high % deep, i % high } };
        r.z += r.at[0] * j->axis[0].z + r.at[1] * j->axis[1].z;
        if (j->indices)
            r.indices = j->indices + image * j->i_image + channel * j->i_channel + r.at[0] * j->i[0] +
                        r.at[1] * j->i[1];
        j->run(j, &r);
    }
    return TSR_OK;
}

/* Elements that a row looks at. */
static double row_work(const job *j)
{
    double work = (double)j->axis[2].out;
    for (int d = 0; d < TSRI_AXES; d++)
        work *= j->p->adaptive ? (double)j->axis[d].in / (double)j->axis[d].out + 1 : (double)j->axis[d].taps;
    return work;
}

tsr_status tsri_cpu_pool(const tsr_op *op)
{
    const tsr_tensor *z = op->out[0];
    job j;
    if (tsr_desc_numel(&z->desc) == 0) return TSR_OK;
    see_operands(&j, op);
    const int64_t images = z->ndim - j.p->spatial == 2 ? z->shape[0] : 1;
    return tsr_parallel_for(images * j.channels * j.axis[0].out * j.axis[1].out,
                            (int64_t)(PART_WORK / row_work(&j)), pool_rows, &j);
}
