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
    int            spatial;
    tsr_dtype      dtype, grid_dtype;           /* of z and of the grid */
    const char    *x, *grid;
    char          *z;
    int64_t        size[AXES], x_step[AXES];    /* of x, the outermost first; elements */
    int64_t        places[AXES], z_step[AXES], grid_step[AXES];  /* of z, as they follow each other; bytes */
    int64_t        which;                       /* bytes from one coordinate of a place to the next */
    int64_t        x_image, z_image, grid_image, channels, x_channel, z_channel, images;
    bool           wide;                        /* x is f64, else f32 */
    int64_t        blocks;                      /* of an image */
    int64_t        behind[MOST];                /* elements from the first tap of a place to each */
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
        const double distance = over + 1 - i;
        t->index[i] = inside(nearest_of(padded(low - 1 + i, size, p)), size);
        t->weight[i] = cubic(distance < 0 ? -distance : distance);
    }
}

/* Where a coordinate of -1 .. 1 lies among the elements of an axis. */
static double place_of(double at, int64_t size, const tsr_grid_params *p)
{
    return p->align_corners ? (at + 1) / 2 * (double)(size - 1) : ((at + 1) * (double)size - 1) / 2;
}

/* What a coordinate sees along an axis. NaN counts as -1; infinity times 0, where there is one element,
 * too. */
static void take_axis(taps *t, double at, int64_t size, const tsr_grid_params *p)
{
    at = place_of(at, size, p);
    if (at != at) at = p->align_corners ? 0 : -0.5;
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

/* Which elements of a channel the places of a block see: up to BLOCK that follow each other in a row. */
typedef struct seen {
    double  at[AXES][BLOCK];  /* coordinates along the axes of x */
    int     n[BLOCK];
    int64_t offset[BLOCK][MOST];
    double  weight[BLOCK][MOST];
    float   narrow[BLOCK][MOST];
    bool    inside[BLOCK];    /* f32 has no offsets there: elements lie behind the base as the job says */
    int64_t base[BLOCK];      /* the first offset; 0: there is none */
} seen;

static void read_places(seen *s, const job *j, const char *grid, int count)
{
    const int64_t step = j->grid_step[AXES - 1];
    float run[BLOCK];
    for (int d = AXES - j->spatial; d < AXES; d++) {
        const char *from = grid + (AXES - 1 - d) * j->which;  /* columns come first */
        if (j->grid_dtype == TSR_F64) {
            j->k->widen[TSR_F64](s->at[d], from, step, count);
            continue;
        }
        j->k->widen[j->grid_dtype](run, from, step, count);
        for (int b = 0; b < count; b++) s->at[d][b] = (double)run[b];
    }
}

/* Taps that all lie in x and count, from `low` on; false: they do not. */
static inline bool take_inside(int64_t *low, double *w, double at, int64_t size, const int mode)
{
    const int reach = mode == TSR_INTERPOLATE_CUBIC;  /* taps beyond both neighbours */
    if (!(at >= reach && at <= (double)(size - 1 - reach))) return false;
    const int64_t before = (int64_t)at;
    const double over = at - (double)before;
    *low = before - reach;
    if (mode == TSR_INTERPOLATE_NEAREST) {
        *low += (over > 0.5) | ((over == 0.5) & (before % 2 != 0));  /* without a branch: any may be next */
        w[0] = 1;
        return true;
    }
    for (int i = 0; i < 4 && reach; i++) w[i] = cubic(i < 2 ? over + 1 - i : i - 1 - over);
    if (!reach) {
        w[0] = 1 - over;
        w[1] = over;
    }
    return over != 0;
}

/* A place whose taps all lie in x and count; false: it is not. Compiled for modes and dims that are known. */
static inline bool see_inside(seen *s, int b, const job *j, const int spatial, const int mode)
{
    const int each = mode == TSR_INTERPOLATE_CUBIC ? 4 : mode == TSR_INTERPOLATE_LINEAR ? 2 : 1;
    int n = 1;
    int64_t base = 0;
    double weight[MOST] = { 1 };
    for (int d = AXES - spatial; d < AXES; d++) {
        int64_t low;
        double w[MOST_TAPS];
        if (!take_inside(&low, w, place_of(s->at[d][b], j->size[d], j->p), j->size[d], mode)) return false;
        base += low * j->x_step[d];
        for (int i = n - 1; i >= 0; i--)
            for (int m = each - 1; m >= 0; m--) weight[i * each + m] = weight[i] * w[m];
        n *= each;
    }
    s->n[b] = n;
    s->base[b] = base;
    for (int i = 0; i < n; i++) s->narrow[b][i] = (float)weight[i];
    for (int i = 0; i < n && j->wide; i++) {
        s->offset[b][i] = base + j->behind[i];
        s->weight[b][i] = weight[i];
    }
    return true;
}

static bool see_known(seen *s, int b, const job *j)
{
    const int mode = j->p->mode;
    if (j->spatial == 2 && mode == TSR_INTERPOLATE_LINEAR)
        return see_inside(s, b, j, 2, TSR_INTERPOLATE_LINEAR);
    if (j->spatial == 2 && mode == TSR_INTERPOLATE_NEAREST)
        return see_inside(s, b, j, 2, TSR_INTERPOLATE_NEAREST);
    if (j->spatial == 2 && mode == TSR_INTERPOLATE_CUBIC)
        return see_inside(s, b, j, 2, TSR_INTERPOLATE_CUBIC);
    return see_inside(s, b, j, j->spatial, mode);
}

static void see_any(seen *s, int b, const job *j)
{
    taps t[AXES];
    int n = 0;
    for (int d = 0; d < AXES; d++) {
        t[d] = (taps){ .n = 1, .weight = { 1 } };
        if (d >= AXES - j->spatial) take_axis(&t[d], s->at[d][b], j->size[d], j->p);
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

static void see_place(seen *s, int b, const job *j)
{
    s->inside[b] = see_known(s, b, j);
    if (s->inside[b]) return;
    see_any(s, b, j);
    s->base[b] = s->n[b] ? s->offset[b][0] : 0;
    for (int i = 0; i < s->n[b]; i++) s->narrow[b][i] = (float)s->weight[b][i];
}

/* Places that see one element, or none. */
static void nearest_f32(float *z, const seen *s, const float *x, int count)
{
    for (int b = 0; b < count; b++) {
        const float element = x[s->base[b]];
        z[b] = s->n[b] ? element : 0;
    }
}

/* One element of a channel. */
static TSRI_NOINLINE float sum_place(const seen *s, int b, const float *x, const job *j)
{
    const float *w = s->narrow[b], *from = x + s->base[b];
    float sum = 0;
    if (s->inside[b])
        for (int i = 0; i < s->n[b]; i++) sum += w[i] * from[j->behind[i]];
    else
        for (int i = 0; i < s->n[b]; i++) sum += w[i] * x[s->offset[b][i]];
    return sum;
}

/* Places of four taps, but for those at the border. */
static TSRI_NOINLINE void sum_fours(float *z, const seen *s, const float *x, int count, const job *j)
{
    const int64_t one = j->behind[1], two = j->behind[2], three = j->behind[3];
    for (int b = 0; b < count; b++) {
        const float *w = s->narrow[b], *from = x + s->base[b];
        if (s->inside[b]) z[b] = w[0] * from[0] + w[1] * from[one] + w[2] * from[two] + w[3] * from[three];
        else z[b] = sum_place(s, b, x, j);
    }
}

/* Four rows of four elements: columns are summed before each other, so that none waits. */
static inline float sum_sixteen(const float *w, const float *x, int64_t row, int64_t column)
{
    float sum[4] = { 0, 0, 0, 0 };
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 4; c++) sum[c] += w[4 * r + c] * x[r * row + c * column];
    return sum[0] + sum[2] + (sum[1] + sum[3]);
}

/* Places of sixteen taps, but for those at the border. */
static TSRI_NOINLINE void sum_sixteens(float *z, const seen *s, const float *x, int count, const job *j)
{
    const int64_t row = j->behind[4], column = j->behind[1];
    for (int b = 0; b < count; b++) {
        const float *from = x + s->base[b];
        if (!s->inside[b])    z[b] = sum_place(s, b, x, j);
        else if (column == 1) z[b] = sum_sixteen(s->narrow[b], from, row, 1);
        else                  z[b] = sum_sixteen(s->narrow[b], from, row, column);
    }
}

static void sum_f32(float *z, const seen *s, const float *x, int count, const job *j)
{
    const int mode = j->p->mode;
    if (mode == TSR_INTERPOLATE_NEAREST) nearest_f32(z, s, x, count);
    else if (mode == TSR_INTERPOLATE_LINEAR && j->spatial == 2) sum_fours(z, s, x, count, j);
    else if (mode == TSR_INTERPOLATE_CUBIC && j->spatial == 2) sum_sixteens(z, s, x, count, j);
    else
        for (int b = 0; b < count; b++) z[b] = sum_place(s, b, x, j);
}

static void sum_f64(double *z, const seen *s, const double *x, int count)
{
    for (int b = 0; b < count; b++) {
        double sum = 0;
        for (int i = 0; i < s->n[b]; i++) sum += s->weight[b][i] * x[s->offset[b][i]];
        z[b] = sum;
    }
}

/* A block of an image. */
static void sample_block(const job *j, seen *s, int64_t image, int64_t block)
{
    const int64_t along = pieces(j->places[2], BLOCK), column = block % along * BLOCK,
                  at[] = { block / along / j->places[1], block / along % j->places[1], column };
    const int count = (int)least(BLOCK, j->places[2] - column);
    const char *grid = j->grid + image * j->grid_image;
    char *z = j->z + image * j->z_image;
    double numbers[BLOCK];
    const bool direct = j->dtype == TSR_F32 && j->z_step[2] == sizeof(float);
    for (int d = 0; d < AXES; d++) {
        grid += at[d] * j->grid_step[d];
        z += at[d] * j->z_step[d];
    }
    read_places(s, j, grid, count);
    for (int b = 0; b < count; b++) see_place(s, b, j);
    for (int64_t c = 0; c < j->channels; c++, z += j->z_channel) {
        const int64_t from = image * j->x_image + c * j->x_channel;
        float *to = direct ? (float *)(void *)z : (float *)(void *)numbers;
        if (j->wide) sum_f64(numbers, s, (const double *)(const void *)j->x + from, count);
        else sum_f32(to, s, (const float *)(const void *)j->x + from, count, j);
        if (!direct)
            j->k->narrow[j->wide ? TSRI_WIDE_F64 : TSRI_WIDE_F32][j->dtype](z, j->z_step[2], numbers, count);
    }
}

static tsr_status sample_blocks(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    seen *s = tsri_scratch(sizeof *s);
    TSRI_CHECK(s, TSR_ENOMEM, "grid_sample: no room for %zu bytes", sizeof *s);
    for (int64_t i = begin; i < end; i++) sample_block(j, s, i / j->blocks, i % j->blocks);
    tsri_free(s, sizeof *s);
    return TSR_OK;
}

static int64_t step_of(const tsr_tensor *t, int d) { return t->shape[d] > 1 ? t->stride[d] : 0; }
static int64_t bytes_of(const tsr_tensor *t, int d) { return step_of(t, d) * tsri_dtype_size(t->dtype); }

/* Blocks lie along the last dim of places: if it has one, another takes its place. */
static void order_places(job *j)
{
    const int last = AXES - 1;
    for (int d = last - 1; d >= 0 && j->places[last] == 1; d--) {
        j->places[last] = j->places[d];
        j->z_step[last] = j->z_step[d];
        j->grid_step[last] = j->grid_step[d];
        j->places[d] = 1;
    }
}

static void find_behind(job *j)
{
    const int each = j->p->mode == TSR_INTERPOLATE_CUBIC ? 4 : j->p->mode == TSR_INTERPOLATE_LINEAR ? 2 : 1;
    int n = 1;
    for (int d = AXES - j->spatial; d < AXES; d++) {
        for (int i = n - 1; i >= 0; i--)
            for (int m = each - 1; m >= 0; m--) j->behind[i * each + m] = j->behind[i] + m * j->x_step[d];
        n *= each;
    }
}

static void describe_job(job *j, const tsr_op *op, const tsr_tensor *x)
{
    const tsr_tensor *z = op->out[0], *grid = op->in[1];
    const int lacks = AXES - (x->ndim - 2);
    *j = (job){ .p = op->params, .grid = grid->data, .grid_dtype = grid->dtype, .spatial = x->ndim - 2,
                .dtype = z->dtype, .x = x->data, .z = z->data, .images = x->shape[0],
                .channels = x->shape[1], .wide = x->dtype == TSR_F64, .x_image = step_of(x, 0),
                .z_image = bytes_of(z, 0), .grid_image = bytes_of(grid, 0), .x_channel = step_of(x, 1),
                .z_channel = bytes_of(z, 1), .which = bytes_of(grid, grid->ndim - 1), .size = { 1, 1, 1 },
                .places = { 1, 1, 1 }, .k = tsri_cpu_kernels_get() };
    for (int d = lacks; d < AXES; d++) {
        j->size[d] = x->shape[2 + d - lacks];
        j->x_step[d] = step_of(x, 2 + d - lacks);
        j->places[d] = z->shape[2 + d - lacks];
        j->z_step[d] = bytes_of(z, 2 + d - lacks);
        j->grid_step[d] = bytes_of(grid, 1 + d - lacks);
    }
    order_places(j);
    find_behind(j);
    j->blocks = j->places[0] * j->places[1] * pieces(j->places[2], BLOCK);
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
