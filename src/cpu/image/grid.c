/* grid.c - pictures at the places of a grid: for each place, which elements of x and with which weights, once
 * for all channels. */
#ifndef TSR_FREESTANDING

#include "image.h"
#include "core/alloc.h"
#include "core/sizes.h"
#include "core/tensor_int.h"
#include "core/threads_int.h"
#include "cpu/cpu_run.h"
#include "cpu/kernels.h"
#include "tessera/ops/image.h"

enum { AXES = 3, MOST_TAPS = 4, MOST = 16, BLOCK = 64 };

/* Elements that a place sees along one axis; -1: one outside. */
typedef struct taps {
    int     n;
    int64_t index[MOST_TAPS];
    double  weight[MOST_TAPS];
} taps;

typedef struct job {
    const tsr_grid_params *p;
    const tsr_tensor *grid;
    int            spatial;
    tsr_dtype      dtype;
    const char    *x;
    char          *z;
    int64_t        size[AXES], places[AXES];    /* of x and z; the outermost first */
    int64_t        x_step[AXES], z_step[AXES];  /* elements of x, bytes of z */
    int64_t        x_image, z_image, channels, x_channel, z_channel, images;
    bool           wide;                        /* x is f64, else f32 */
    int64_t        blocks, all;                 /* blocks of an image; places of it */
    const tsri_cpu_kernels *k;
} job;

/* Coordinates ---------------------------------------------------------------------------------- */

static double floor_of(double x)
{
    const double whole = (double)(int64_t)x;
    return whole > x ? whole - 1 : whole;
}

static double held(double x, double low, double high) { return x < low ? low : x > high ? high : x; }

/* x, reflected at low and low + span as often as needed. */
static double reflected(double x, double low, double span)
{
    const double from = x < low ? low - x : x - low;
    if (span == 0) return 0;
    const double flips = from / span < 0x1p53 ? floor_of(from / span) : 0,
                 extra = held(from - flips * span, 0, span);
    return (int64_t)flips % 2 == 0 ? low + extra : low + span - extra;
}

/* The place in x that is meant by one outside it; still outside, where zeros are seen. */
static double padded(double at, int64_t size, const tsr_grid_params *p)
{
    const double last = (double)(size - 1);
    if (p->padding == TSR_GRID_REFLECTION)
        at = p->align_corners ? reflected(at, 0, last) : reflected(at, -0.5, (double)size);
    if (p->padding != TSR_GRID_ZEROS) return held(at, 0, last);
    return held(at, -8, last + 8);
}

static int64_t inside(double at, int64_t size) { return at >= 0 && at < (double)size ? (int64_t)at : -1; }

/* To the nearest, halves to even. */
static double nearest_of(double x)
{
    const double low = floor_of(x), over = x - low;
    return over > 0.5 || (over == 0.5 && (int64_t)low % 2 != 0) ? low + 1 : low;
}

/* Keys' cubic at x >= 0, a = -0.75. */
static double cubic(double x)
{
    if (x < 1) return (1.25 * x - 2.25) * x * x + 1;
    return (((x - 5) * x + 8) * x - 4) * -0.75;
}

static void take_cubic(taps *t, double at, int64_t size, const tsr_grid_params *p)
{
    const double limit = 0x1p52, low = floor_of(held(at, -limit, limit)), over = held(at - low, 0, 1);
    t->n = 4;
    for (int i = 0; i < 4; i++) {
        const double away = over + 1 - i;
        t->index[i] = inside(nearest_of(padded(low - 1 + i, size, p)), size);
        t->weight[i] = cubic(away < 0 ? -away : away);
    }
}

/* What a coordinate of -1 .. 1 sees along an axis; NaN counts as -1. */
static void take_axis(taps *t, double at, int64_t size, const tsr_grid_params *p)
{
    if (at != at) at = -1;
    at = p->align_corners ? (at + 1) / 2 * (double)(size - 1) : ((at + 1) * (double)size - 1) / 2;
    if (p->mode == TSR_INTERPOLATE_CUBIC) {
        take_cubic(t, at, size, p);
        return;
    }
    at = padded(at, size, p);
    const double low = p->mode == TSR_INTERPOLATE_NEAREST ? nearest_of(at) : floor_of(at), over = at - low;
    t->n = p->mode == TSR_INTERPOLATE_NEAREST || over == 0 ? 1 : 2;
    t->index[0] = inside(low, size);
    t->index[1] = inside(low + 1, size);
    t->weight[0] = t->n == 1 ? 1 : 1 - over;
    t->weight[1] = over;
}

/* Blocks of places -------------------------------------------------------------------------------- */

/* Which elements of a channel the places of a block see. */
typedef struct seen {
    int     n[BLOCK];
    int64_t offset[BLOCK][MOST];
    double  weight[BLOCK][MOST];
} seen;

/* The coordinate of a place of an image along axis d of x. */
static double coordinate(const job *j, int64_t image, const int64_t *at, int d)
{
    const tsr_tensor *g = j->grid;
    const int64_t size = tsri_dtype_size(g->dtype);
    int64_t offset = image > 0 ? image * g->stride[0] : 0;
    for (int i = 0; i < j->spatial; i++) offset += at[AXES - j->spatial + i] * g->stride[1 + i];
    const int64_t which = AXES - 1 - d;  /* columns come first */
    if (which > 0) offset += which * g->stride[1 + j->spatial];
    double wide;
    float narrow;
    const char *p = (const char *)g->data + offset * size;
    if (g->dtype == TSR_F64) {
        j->k->widen[g->dtype](&wide, p, size, 1);
        return wide;
    }
    j->k->widen[g->dtype](&narrow, p, size, 1);
    return (double)narrow;
}

static void find_place(const job *j, int64_t *at, int64_t place)
{
    for (int d = AXES - 1; d >= 0; d--) {
        at[d] = place % j->places[d];
        place /= j->places[d];
    }
}

static void see_place(seen *s, int b, const job *j, int64_t image, int64_t place)
{
    taps t[AXES];
    int64_t at[AXES];
    int n = 0;
    find_place(j, at, place);
    for (int d = 0; d < AXES; d++) {
        t[d] = (taps){ .n = 1, .weight = { 1 } };
        if (d >= AXES - j->spatial) take_axis(&t[d], coordinate(j, image, at, d), j->size[d], j->p);
    }
    for (int i = 0; i < t[0].n; i++)
        for (int k = 0; k < t[1].n; k++)
            for (int m = 0; m < t[2].n; m++) {
                if (t[0].index[i] < 0 || t[1].index[k] < 0 || t[2].index[m] < 0) continue;
                const double weight = t[0].weight[i] * t[1].weight[k] * t[2].weight[m];
                if (weight == 0) continue;
                s->offset[b][n] = t[0].index[i] * j->x_step[0] + t[1].index[k] * j->x_step[1] +
                                  t[2].index[m] * j->x_step[2];
                s->weight[b][n++] = weight;
            }
    s->n[b] = n;
}

static void sum_f32(float *z, const seen *s, const float *x, int count)
{
    for (int b = 0; b < count; b++) {
        float sum = 0;
        for (int i = 0; i < s->n[b]; i++) sum += (float)s->weight[b][i] * x[s->offset[b][i]];
        z[b] = sum;
    }
}

static void sum_f64(double *z, const seen *s, const double *x, int count)
{
    for (int b = 0; b < count; b++) {
        double sum = 0;
        for (int i = 0; i < s->n[b]; i++) sum += s->weight[b][i] * x[s->offset[b][i]];
        z[b] = sum;
    }
}

static void store(const job *j, char *z, const void *numbers, int64_t first, int count)
{
    const int64_t wide = j->wide ? 8 : 4;
    for (int b = 0; b < count;) {  /* places of one row */
        int64_t at[AXES];
        find_place(j, at, first + b);
        const int64_t n = least(count - b, j->places[AXES - 1] - at[AXES - 1]);
        j->k->narrow[j->wide ? TSRI_WIDE_F64 : TSRI_WIDE_F32][j->dtype](
            z + at[0] * j->z_step[0] + at[1] * j->z_step[1] + at[2] * j->z_step[2], j->z_step[2],
            (const char *)numbers + b * wide, n);
        b += (int)n;
    }
}

static void sample_block(const job *j, seen *s, int64_t image, int64_t first, int count)
{
    double numbers[BLOCK];
    for (int b = 0; b < count; b++) see_place(s, b, j, image, first + b);
    for (int64_t c = 0; c < j->channels; c++) {
        const int64_t at = image * j->x_image + c * j->x_channel;
        if (j->wide) sum_f64(numbers, s, (const double *)(const void *)j->x + at, count);
        else sum_f32((float *)(void *)numbers, s, (const float *)(const void *)j->x + at, count);
        store(j, j->z + image * j->z_image + c * j->z_channel, numbers, first, count);
    }
}

static tsr_status sample_blocks(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    seen *s = tsri_scratch(sizeof *s);
    TSRI_CHECK(s, TSR_ENOMEM, "grid_sample: no room for %zu bytes", sizeof *s);
    for (int64_t i = begin; i < end; i++) {
        const int64_t image = i / j->blocks, first = i % j->blocks * BLOCK;
        sample_block(j, s, image, first, (int)least(BLOCK, j->all - first));
    }
    tsri_free(s, sizeof *s);
    return TSR_OK;
}

static int64_t step_of(const tsr_tensor *t, int d) { return t->shape[d] > 1 ? t->stride[d] : 0; }

static void describe_job(job *j, const tsr_op *op, const tsr_tensor *x)
{
    const tsr_tensor *z = op->out[0];
    const int64_t size = tsri_dtype_size(z->dtype);
    const int lacks = AXES - (x->ndim - 2);
    *j = (job){ .p = op->params, .grid = op->in[1], .spatial = x->ndim - 2, .dtype = z->dtype, .x = x->data,
                .z = z->data, .images = x->shape[0], .channels = x->shape[1], .wide = x->dtype == TSR_F64,
                .x_image = step_of(x, 0), .z_image = step_of(z, 0) * size, .x_channel = step_of(x, 1),
                .z_channel = step_of(z, 1) * size, .size = { 1, 1, 1 }, .places = { 1, 1, 1 }, .all = 1,
                .k = tsri_cpu_kernels_get() };
    for (int d = lacks; d < AXES; d++) {
        j->size[d] = x->shape[2 + d - lacks];
        j->places[d] = z->shape[2 + d - lacks];
        j->x_step[d] = step_of(x, 2 + d - lacks);
        j->z_step[d] = step_of(z, 2 + d - lacks) * size;
        j->all *= j->places[d];
    }
    j->blocks = pieces(j->all, BLOCK);
}

static tsr_status sample(const tsr_op *op, const tsr_tensor *x)
{
    job j;
    describe_job(&j, op, x);
    const double work = BLOCK * (TSRI_WORK_SEARCH + TSRI_WORK_NUMBER * (double)j.channels);
    return tsri_parallel_for(j.images * j.blocks, tsri_grain(work), sample_blocks, &j);
}

/* Short floats are widened first: an element is seen by several places. */
tsr_status tsri_cpu_grid_sample(const tsr_op *op)
{
    const tsr_tensor *x = op->in[0];
    tsr_tensor wide;
    tsr_desc d;
    if (tsr_desc_numel(&op->out[0]->desc) == 0) return TSR_OK;
    if (x->dtype == TSR_F32 || x->dtype == TSR_F64) return sample(op, x);
    TSRI_TRY(tsri_desc_packed(&d, "grid_sample", TSR_F32, x->ndim, x->shape));
    const int64_t numel = tsr_desc_numel(&d);
    const size_t bytes = (size_t)numel * sizeof(float);
    wide = *x;
    wide.desc = d;
    wide.data = numel < INT64_MAX / 8 ? tsri_scratch(bytes) : NULL;
    TSRI_CHECK(wide.data, TSR_ENOMEM, "grid_sample: no room for %lld numbers", (long long)numel);
    tsr_op copy = { .kind = TSR_OP_COPY, .nin = 1, .nout = 1, .in = { x }, .out = { &wide } };
    tsr_status s = tsri_cpu_copy(&copy);
    if (s == TSR_OK) s = sample(op, &wide);
    tsri_free(wide.data, bytes);
    return s;
}

#endif
