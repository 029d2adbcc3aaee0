/* lp_pool.c - roots of sums of powers: a row of outputs at a time, in f64. Rows of powers are added up first,
 * and then the columns of each window.
 *
 * Where a power might leave the range of f64, the elements of a window are first divided by a power of two
 * near the largest of them. */
#ifndef TSR_FREESTANDING

#include <math.h>

#include "conv.h"
#include "core/alloc.h"
#include "core/sizes.h"
#include "core/threads_int.h"
#include "cpu/kernels.h"

enum { COLUMN = TSRI_AXES - 1 };

typedef struct job {
    tsri_slide  axis[TSRI_AXES];  /* axes that x lacks have size 1, and come first */
    int64_t     images, channels;
    double      kernel;           /* places of a window */
    int64_t     x_image, x_channel, z_image, z_channel;  /* bytes */
    const char *x;
    char       *z;
    tsr_dtype   dtype;
    double      p;
    bool        scaled;
    const tsri_cpu_kernels *all;
} job;

/* Numbers of one row of outputs, and of a row of x. */
typedef struct work {
    double *x, *columns;                  /* columns: sums of the powers of rows */
    double *sum, *largest, *half[2];      /* half: two factors whose product scales a window */
    float  *run;
} work;

/* Rows of x --------------------------------------------------------------------------------- */

static void load(const work *w, const job *j, const char *row)
{
    const tsri_slide *a = &j->axis[COLUMN];
    if (j->dtype == TSR_F64) {
        j->all->widen[j->dtype](w->x, row, a->x, a->in);
        return;
    }
    j->all->widen[j->dtype](w->run, row, a->x, a->in);
    for (int64_t i = 0; i < a->in; i++) w->x[i] = (double)w->run[i];
}

/* The columns that output o sees. */
static void see(const tsri_slide *a, int64_t o, int64_t *begin, int64_t *end)
{
    const int64_t at = o * a->step + a->first;
    *begin = most(at, 0);
    *end = least(at + a->taps, a->in);
}

static void find_largest(const work *w, const job *j)
{
    const tsri_slide *a = &j->axis[COLUMN];
    for (int64_t o = 0; o < a->out; o++) {
        int64_t i, end;
        for (see(a, o, &i, &end); i < end; i++) {
            const double size = fabs(w->x[i]);
            if (size > w->largest[o] || size != size) w->largest[o] = size;  /* a NaN stays */
        }
    }
}

static double power(double x, double p)
{
    return p == 2 ? x * x : p == 1 ? x : p == 3 ? x * x * x : pow(x, p);
}

static void run_row(tsr_op_kind op, double *row, int64_t n, double p, const job *j)
{
    const tsri_tile t = { .rows = 1, .cols = n, .ptr = { (char *)row, (char *)row, (char *)&p },
                          .col_step = { sizeof *row, sizeof *row } };
    j->all->elementwise[op][TSR_F64](&t, NULL);
}

static bool has_negative(const double *row, int64_t n)
{
    bool found = false;
    for (int64_t i = 0; i < n; i++) found |= row[i] < 0;
    return found;
}

/* Whole powers, times the root where p is one half more. */
static void multiply_row(double *row, int64_t n, int power, bool root)
{
    for (int64_t i = 0; i < n; i++) {
        const double x = row[i], square = x * x;
        double z = root ? sqrt(x) : 1;
        if (power & 1) z *= x;
        if (power & 2) z *= square;
        if (power & 4) z *= square * square;
        row[i] = z;
    }
}

/* row[i] = row[i]^p. Sums of floats narrower than f64 need not be right to its last bits: logarithms of
 * numbers that have one are quicker than powers. */
static void raise_row(double *row, int64_t n, double p, const job *j)
{
    enum { MOST = 6 };
    const bool whole = p == floor(p), halves = 2 * p == floor(2 * p);
    if (p == 1 || n == 0) return;
    if (p == 0.5 || (whole && p <= MOST)) {
        multiply_row(row, n, (int)p, !whole);
    } else if (j->dtype == TSR_F64 || has_negative(row, n)) {
        run_row(TSR_OP_POW, row, n, p, j);
    } else if (halves && p <= MOST) {
        multiply_row(row, n, (int)p, true);
    } else {
        run_row(TSR_OP_LOG, row, n, p, j);
        for (int64_t i = 0; i < n; i++) row[i] *= p;
        run_row(TSR_OP_EXP, row, n, p, j);
    }
}

static void add_scaled(const work *w, const job *j)
{
    const tsri_slide *a = &j->axis[COLUMN];
    for (int64_t o = 0; o < a->out; o++) {
        int64_t i, end;
        for (see(a, o, &i, &end); i < end; i++)
            w->sum[o] += power(w->x[i] * w->half[0][o] * w->half[1][o], j->p);
    }
}

static void add_row(const work *w, const job *j)
{
    const int64_t n = j->axis[COLUMN].in;
    raise_row(w->x, n, j->p, j);
    for (int64_t i = 0; i < n; i++) w->columns[i] += w->x[i];
}

static void add_columns(const work *w, const job *j)
{
    const tsri_slide *a = &j->axis[COLUMN];
    for (int64_t o = 0; o < a->out; o++) {
        int64_t i, end;
        for (see(a, o, &i, &end); i < end; i++) w->sum[o] += w->columns[i];
    }
}

/* Every row of x that a row of outputs sees. */
static void each_row(const work *w, const job *j, const char *x, const int64_t *at,
                     void (*fn)(const work *w, const job *j))
{
    const tsri_slide *s = &j->axis[0], *r = &j->axis[1];
    int64_t i, slices, first, rows;
    see(s, at[0], &i, &slices);
    see(r, at[1], &first, &rows);
    for (; i < slices; i++)
        for (int64_t k = first; k < rows; k++) {
            load(w, j, x + i * s->x + k * r->x);
            fn(w, j);
        }
}

/* Rows of outputs ----------------------------------------------------------------------------- */

static void plan_scales(const work *w, const job *j)
{
    for (int64_t o = 0; o < j->axis[COLUMN].out; o++) {
        int exponent = isinf(w->largest[o]) ? 1024 : 0;  /* beside which all others come to little */
        if (isfinite(w->largest[o])) (void)frexp(w->largest[o], &exponent);
        w->half[0][o] = ldexp(1, -exponent / 2);
        w->half[1][o] = ldexp(1, -exponent - -exponent / 2);
    }
}

/* How many places along an axis the window of output o has, in x and its padding. */
static double count_of(const tsri_slide *a, int64_t o)
{
    return (double)least(a->taps, a->in - 2 * a->first - o * a->step);
}

static void finish(const work *w, const job *j, const int64_t *at)
{
    const tsri_slide *a = &j->axis[COLUMN];
    const double around = count_of(&j->axis[0], at[0]) * count_of(&j->axis[1], at[1]);
    for (int64_t o = 0; o < a->out; o++) {
        const double count = around * count_of(a, o);
        if (count != j->kernel) w->sum[o] = w->sum[o] / count * j->kernel;
    }
    raise_row(w->sum, a->out, 1 / j->p, j);
    for (int64_t o = 0; o < a->out && j->scaled; o++) w->sum[o] = w->sum[o] / w->half[0][o] / w->half[1][o];
}

static void store(const work *w, const job *j, char *z)
{
    const tsri_slide *a = &j->axis[COLUMN];
    const bool wide = j->dtype == TSR_F64;
    for (int64_t i = 0; i < a->out && !wide; i++) w->run[i] = (float)w->sum[i];
    j->all->narrow[wide ? TSRI_WIDE_F64 : TSRI_WIDE_F32][j->dtype](z, a->z, wide ? (void *)w->sum : w->run,
                                                                  a->out);
}

static void pool_row(const work *w, const job *j, int64_t i)
{
    const tsri_slide *s = &j->axis[0], *r = &j->axis[1];
    const int64_t at[] = { i / r->out % s->out, i % r->out }, plane = i / r->out / s->out,
                  channel = plane % j->channels, image = plane / j->channels;
    const char *x = j->x + image * j->x_image + channel * j->x_channel;
    for (int64_t o = 0; o < j->axis[COLUMN].out; o++) w->sum[o] = w->largest[o] = 0;
    for (int64_t k = 0; k < j->axis[COLUMN].in; k++) w->columns[k] = 0;
    if (j->scaled) {
        each_row(w, j, x, at, find_largest);
        plan_scales(w, j);
    }
    if (isinf(j->p)) {
        for (int64_t o = 0; o < j->axis[COLUMN].out; o++) w->sum[o] = w->largest[o];
    } else {
        each_row(w, j, x, at, j->scaled ? add_scaled : add_row);
        if (!j->scaled) add_columns(w, j);
        finish(w, j, at);
    }
    store(w, j, j->z + image * j->z_image + channel * j->z_channel + at[0] * s->z + at[1] * r->z);
}

static tsr_status pool_rows(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    const tsri_slide *a = &j->axis[COLUMN];
    const int64_t longest = most(a->in, a->out), bytes = longest > INT64_MAX / 64 ? 0 : longest * 52;
    double *room = bytes > 0 ? tsri_scratch((size_t)bytes) : NULL;
    TSRI_CHECK(room, TSR_ENOMEM, "lp_pool: no room for a row of %lld", (long long)longest);
    work w = { .x = room, .columns = room + a->in, .sum = room + 2 * a->in };
    w.largest = w.sum + a->out;
    w.half[0] = w.largest + a->out;
    w.half[1] = w.half[0] + a->out;
    w.run = (float *)(void *)(w.half[1] + a->out);
    for (int64_t i = begin; i < end; i++) pool_row(&w, j, i);
    tsri_free(room, (size_t)bytes);
    return TSR_OK;
}

static int64_t bytes_along(const tsr_tensor *t, int d)
{
    return t->shape[d] > 1 ? t->stride[d] * tsri_dtype_size(t->dtype) : tsri_dtype_size(t->dtype);
}

/* Powers of f32 and shorter floats stay in the range of f64 up to the sixth. */
static bool may_overflow(tsr_dtype dtype, double p) { return dtype == TSR_F64 || p > 6; }

static void describe_job(job *j, const tsr_op *op)
{
    const tsr_pool_params *p = op->params;
    const tsr_tensor *x = op->in[0], *z = op->out[0];
    const int first = x->ndim - p->spatial;
    *j = (job){ .images = 1, .channels = x->shape[first - 1], .kernel = 1, .x = x->data, .z = z->data,
                .dtype = x->dtype, .p = p->p, .scaled = may_overflow(x->dtype, p->p),
                .all = tsri_cpu_kernels_get() };
    for (int d = 0; d < TSRI_AXES; d++)
        j->axis[d] = (tsri_slide){ .out = 1, .in = 1, .taps = 1, .step = 1 };
    for (int d = 0; d < p->spatial; d++) {
        j->axis[TSRI_AXES - p->spatial + d] =
            (tsri_slide){ .out = z->shape[first + d], .in = x->shape[first + d], .taps = p->kernel[d],
                          .step = p->stride[d], .first = -p->padding[d], .x = bytes_along(x, first + d),
                          .z = bytes_along(z, first + d) };
        j->kernel *= (double)p->kernel[d];
    }
    j->x_channel = bytes_along(x, first - 1);
    j->z_channel = bytes_along(z, first - 1);
    if (first < 2) return;
    j->images = x->shape[0];
    j->x_image = bytes_along(x, 0);
    j->z_image = bytes_along(z, 0);
}

tsr_status tsri_cpu_lp_pool(const tsr_op *op)
{
    job j;
    if (tsr_desc_numel(&op->out[0]->desc) == 0) return TSR_OK;
    describe_job(&j, op);
    const tsri_slide *a = j.axis;
    const double row = (double)a[COLUMN].in + (double)a[COLUMN].out * (double)a[COLUMN].taps,
                 cost = TSRI_WORK_ELEMENT * (double)a[0].taps * (double)a[1].taps * row;
    return tsri_parallel_for(j.images * j.channels * a[0].out * a[1].out, tsri_grain(cost), pool_rows, &j);
}

#endif
