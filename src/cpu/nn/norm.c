/* norm.c - layer, rms, group and batch norms.
 *
 * The elements that are normalised together are a lane: their dims are merged where strides allow;
 * else the tensor is copied first. */
#ifndef TSR_FREESTANDING

#include <math.h>

#include "nn.h"
#include "rows_run.h"
#include "core/alloc.h"
#include "core/tensor_int.h"
#include "core/threads_int.h"
#include "cpu/cpu_run.h"
#include "cpu/reduce.h"

static double by_of(double squares, int64_t n, double eps) { return 1 / sqrt(squares / (double)n + eps); }

/* Must the row be looked at again: did squares of doubles overflow or underflow, or may the rounding error
 * of the mean be a share of the deviations? Floats are safe from both. */
static bool is_delicate(const tsri_rows *r, double mean, double squares, double eps)
{
    const double v = squares / (double)r->n + eps;
    if (r->wide != sizeof(double)) return false;
    return !(v > 0x1p-900 && v < 0x1p1000) ||
           (squares > 0 && squares <= (double)r->n * mean * mean * 0x1p-40);
}

/* A power of two that scales the largest of the row, or sqrt(eps), to about 1. */
static double scale_of(const double *x, int64_t n, double eps)
{
    double most = sqrt(eps);
    for (int64_t i = 0; i < n; i++) most = fabs(x[i]) > most ? fabs(x[i]) : most;
    const double e = most > 0 && most < (double)INFINITY ? tsri_take_exponent(&most) : 0;
    return tsri_scaled(1, e > 1000 ? -1000 : e < -1000 ? 1000 : -e);
}

/* The mean of x * by - from. */
static double mean_of(const double *x, int64_t n, double by, double from)
{
    double sum[2] = { 0 };
    for (int64_t i = 0; i < n; i++) tsri_add_exactly(&sum[0], &sum[1], x[i] * by - from);
    return tsri_with_error(sum[0], sum[1]) / (double)n;
}

/* y = (x - mean) / sqrt(var + eps), or x / sqrt(mean square + eps), of a delicate row. Where all x are equal
 * and eps vanishes beside them, y is 0. */
static TSRI_COLD void normalise_carefully(double *y, const double *x, int64_t n, double eps, bool centred)
{
    const double s = scale_of(x, n, eps);
    const double mean = centred ? mean_of(x, n, s, 0) : 0, rest = centred ? mean_of(x, n, s, mean) : 0;
    double squares[2] = { 0 };
    for (int64_t i = 0; i < n; i++) {
        const double d = x[i] * s - mean - rest;
        tsri_add_exactly(&squares[0], &squares[1], d * d);
    }
    const double all = tsri_with_error(squares[0], squares[1]);
    const double by = all == 0 && eps > 0 ? 1 : by_of(all, n, eps * s * s);
    for (int64_t i = 0; i < n; i++) y[i] = (x[i] * s - mean - rest) * by;
}

/* Tensors under another shape ------------------------------------------------------------ */

typedef struct reshaped {
    tsr_tensor  view;
    tsr_tensor *copy;  /* NULL: the view is of the tensor itself */
} reshaped;

static tsr_status copy_run(tsr_tensor *dst, const tsr_tensor *src)
{
    return tsri_cpu_copy(
        &(tsr_op){ .kind = TSR_OP_COPY, .nin = 1, .nout = 1, .in = { src }, .out = { dst } });
}

static tsr_status open_reshaped(reshaped *r, const char *op, const tsr_tensor *t, int ndim,
                                const int64_t *shape, bool read)
{
    bool is_view = false;
    tsr_desc packed;
    r->view = *t;
    TSRI_TRY(tsri_desc_reshape(&r->view.desc, &is_view, &t->desc, ndim, shape));
    if (is_view) return TSR_OK;
    TSRI_TRY(tsri_desc_packed(&packed, op, t->dtype, t->ndim, t->shape));
    TSRI_TRY(tsri_make(&r->copy, op, &packed, TSR_CPU, TSR_MEMORY_HOST));
    if (read) TSRI_TRY(copy_run(r->copy, t));
    r->view.data = r->copy->data;
    return TSR_OK;
}

/* Copies back to `to`, if that is not NULL and s is TSR_OK, and frees the copy. Returns s or the error. */
static tsr_status close_reshaped(reshaped *r, tsr_tensor *to, tsr_status s)
{
    if (s == TSR_OK && r->copy && to) s = copy_run(to, r->copy);
    tsr_release(&r->copy);
    return s;
}

/* The rows of out and x under a shape whose last dim is normalised. */
static tsr_status run_reshaped(tsri_rows *rows, const tsr_op *op, int ndim, const int64_t *shape,
                               const tsr_tensor *beside)
{
    reshaped x = { .copy = NULL }, z = { .copy = NULL };
    rows->axis = ndim - 1;
    rows->nout = rows->nin = 1;
    rows->nbeside = beside ? 1 : 0;
    tsr_status s = open_reshaped(&x, rows->op, op->in[0], ndim, shape, true);
    if (s == TSR_OK) s = open_reshaped(&z, rows->op, op->out[0], ndim, shape, false);
    if (s == TSR_OK) s = tsri_rows_run(rows, (const tsr_tensor *const[]){ &z.view, &x.view, beside });
    s = close_reshaped(&z, op->out[0], s);
    return close_reshaped(&x, NULL, s);
}

/* Weights and biases for each element of a lane -------------------------------------------- */

typedef struct affine {
    void  *memory;   /* NULL: there is neither w nor b */
    size_t bytes;
    void  *w, *b;    /* b may be NULL */
    double eps;
} affine;

static void fill_row(void *row, tsr_dtype dtype, int64_t n, double value)
{
    for (int64_t i = 0; i < n; i++) {
        if (dtype == TSR_F64) ((double *)row)[i] = value;
        else                  ((float *)row)[i] = (float)value;
    }
}

static tsr_status load_row(void *row, tsr_dtype dtype, int64_t n, const tsr_tensor *t, double otherwise)
{
    if (t) return tsri_unpack(row, dtype, t);
    fill_row(row, dtype, n, otherwise);
    return TSR_OK;
}

static tsr_status open_affine(affine *a, const char *op, tsr_dtype dtype, int64_t n, const tsr_tensor *w,
                              const tsr_tensor *b)
{
    if (!w && !b) return TSR_OK;
    a->bytes = 2 * (size_t)n * (size_t)tsri_dtype_size(dtype);
    a->memory = tsri_scratch(a->bytes);
    TSRI_CHECK(a->memory, TSR_ENOMEM, "%s: no room for weights of %lld elements", op, (long long)n);
    a->w = a->memory;
    a->b = b ? (char *)a->memory + a->bytes / 2 : NULL;
    TSRI_TRY(load_row(a->w, dtype, n, w, 1));
    return b ? tsri_unpack(a->b, dtype, b) : TSR_OK;
}

static void close_affine(affine *a)
{
    if (a->memory) tsri_free(a->memory, a->bytes);
}

static void apply(const tsri_rows *r, void *y, const void *x, double mean, double by,
                  const tsri_row_options *options)
{
    const affine *a = r->params;
    if (a->memory) r->k->scale_each(y, x, r->n, mean, by, a->w, a->b, options);
    else           r->k->scale(y, x, r->n, mean, by, 0, options);
}

/* Layer and rms norm ------------------------------------------------------------------------ */

static void layer_row(const tsri_rows *r, void *const *row, char *const *beside, const tsri_row_options *w)
{
    double mean, squares;
    tsri_row_options options = *w;
    (void)beside;
    const double eps = ((const affine *)r->params)->eps;
    r->k->moments(&mean, &squares, row[1], r->n, &options);
    if (is_delicate(r, mean, squares, eps)) {
        normalise_carefully(row[0], row[1], r->n, eps, true);
        apply(r, row[0], row[0], 0, 1, &options);
    } else {
        apply(r, row[0], row[1], mean, by_of(squares, r->n, eps), &options);
    }
}

static void rms_row(const tsri_rows *r, void *const *row, char *const *beside, const tsri_row_options *w)
{
    tsri_row_options options = *w;
    (void)beside;
    const double squares = r->k->squares(row[1], r->n, &options), eps = ((const affine *)r->params)->eps;
    if (is_delicate(r, 0, squares, eps)) {
        normalise_carefully(row[0], row[1], r->n, eps, false);
        apply(r, row[0], row[0], 0, 1, &options);
    } else {
        apply(r, row[0], row[1], 0, by_of(squares, r->n, eps), &options);
    }
}

tsr_status tsri_cpu_layer_norm(const tsr_op *op)
{
    const bool rms = op->kind == TSR_OP_RMS_NORM;
    const tsr_norm_params *p = op->params;
    const tsr_tensor *x = op->in[0];
    const int outer = x->ndim - (rms ? 1 : (int)p->count);
    int64_t shape[TSR_MAX_NDIM];
    affine a = { .eps = p->eps };
    tsri_rows rows = { .op = rms ? "rms_norm" : "layer_norm", .fn = rms ? rms_row : layer_row, .params = &a };
    if (tsr_desc_numel(&x->desc) == 0) return TSR_OK;
    for (int i = 0; i < outer; i++) shape[i] = x->shape[i];
    shape[outer] = 1;
    for (int i = outer; i < x->ndim; i++) shape[outer] *= x->shape[i];
    tsr_status s =
        open_affine(&a, rows.op, tsri_row_dtype(x->dtype), shape[outer], op->in[1], rms ? NULL : op->in[2]);
    if (s == TSR_OK) s = run_reshaped(&rows, op, outer + 1, shape, NULL);
    close_affine(&a);
    return s;
}

/* To the dtype that the tensors have, and back. */
static void round_row(const tsri_rows *r, char *row)
{
    double run[TSRI_RUN];
    if (r->size == r->wide) return;
    for (int64_t i = 0; i < r->n; i += TSRI_RUN) {
        const int64_t n = r->n - i < TSRI_RUN ? r->n - i : TSRI_RUN;
        r->narrow((char *)run, r->size, row + i * r->wide, n);
        r->widen(row + i * r->wide, (const char *)run, r->size, n);
    }
}

static void add_rms_row(const tsri_rows *r, void *const *row, char *const *beside, const tsri_row_options *w)
{
    r->k->add(row[0], row[2], row[3], r->n);
    round_row(r, row[0]);
    rms_row(r, (void *const[]){ row[1], row[0] }, beside, w);
}

tsr_status tsri_cpu_add_rms_norm(const tsr_op *op)
{
    const tsr_tensor *x = op->in[0];
    const int axis = x->ndim - 1;
    affine a = { .eps = ((const tsr_norm_params *)op->params)->eps };
    tsri_rows rows = {
        .op = "add_rms_norm", .fn = add_rms_row, .params = &a, .nout = 2, .nin = 2, .axis = axis
    };
    if (tsr_desc_numel(&x->desc) == 0) return TSR_OK;
    tsr_status s = open_affine(&a, rows.op, tsri_row_dtype(x->dtype), x->shape[axis], op->in[2], NULL);
    if (s == TSR_OK)
        s = tsri_rows_run(&rows, (const tsr_tensor *const[]){ op->out[0], op->out[1], x, op->in[1] });
    close_affine(&a);
    return s;
}

/* Channels ------------------------------------------------------------------------------------ */

/* (x - from) * by + add, for one channel. */
typedef struct channel {
    double from, by, add;
} channel;

/* From mean, var, weight and bias, of which each may be NULL. */
static tsr_status load_channels(channel *to, int64_t c, const tsr_tensor *const in[4], double eps,
                                const char *op)
{
    const double otherwise[4] = { 0, 1, 1, 0 };
    const size_t bytes = 4 * (size_t)c * sizeof(double);
    double *v = tsri_scratch(bytes);
    tsr_status s = TSR_OK;
    TSRI_CHECK(v, TSR_ENOMEM, "%s: no room for %lld channels", op, (long long)c);
    for (int i = 0; i < 4 && s == TSR_OK; i++) s = load_row(v + i * c, TSR_F64, c, in[i], otherwise[i]);
    for (int64_t i = 0; i < c && s == TSR_OK; i++)
        to[i] = (channel){ v[i], in[1] ? v[2 * c + i] / sqrt(v[c + i] + eps) : v[2 * c + i], v[3 * c + i] };
    tsri_free(v, bytes);
    return s;
}

static tsr_status open_channels(channel **out, size_t *bytes, int64_t c, const tsr_tensor *const in[4],
                                double eps, const char *op)
{
    *bytes = (size_t)c * sizeof(channel);
    *out = tsri_scratch(*bytes);
    TSRI_CHECK(*out, TSR_ENOMEM, "%s: no room for %lld channels", op, (long long)c);
    return load_channels(*out, c, in, eps, op);
}

/* Batch norm ------------------------------------------------------------------------------------ */

typedef struct batch {
    const tsri_nn_kernels *k;
    tsri_widen_fn  widen;
    tsri_narrow_fn narrow;
    bool           wide;    /* numbers are doubles */
    bool           packed;  /* rows need no conversion */
    bool           stream;
} batch;

/* A run of elements, each of another channel. */
static void scale_channels(void *run, int64_t n, const char *channels, int64_t step, bool wide)
{
    for (int64_t i = 0; i < n; i++) {
        const channel *c = (const channel *)(const void *)(channels + i * step);
        if (wide) ((double *)run)[i] = (((double *)run)[i] - c->from) * c->by + c->add;
        else      ((float *)run)[i] = (float)(((double)((float *)run)[i] - c->from) * c->by + c->add);
    }
}

/* Rows of one channel each. */
static void batch_rows(const tsri_tile *t, const batch *b)
{
    const tsri_row_options options = { .stream = b->stream };
    for (int64_t r = 0; r < t->rows; r++) {
        const channel *c = (const channel *)(const void *)(t->ptr[2] + r * t->row_step[2]);
        b->k->scale(t->ptr[0] + r * t->row_step[0], t->ptr[1] + r * t->row_step[1], t->cols, c->from, c->by,
                    c->add, &options);
    }
    if (b->stream && b->k->fence) b->k->fence();
}

/* Operands: result, x, channels. */
static void batch_tile(const tsri_tile *t, const void *params)
{
    const batch *b = params;
    const tsri_row_options options = { .stream = false };
    double run[TSRI_RUN];
    if (b->packed && t->col_step[2] == 0) {
        batch_rows(t, b);
        return;
    }
    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t i = 0; i < t->cols; i += TSRI_RUN) {
            const int64_t n = t->cols - i < TSRI_RUN ? t->cols - i : TSRI_RUN;
            const char *at = t->ptr[2] + r * t->row_step[2] + i * t->col_step[2];
            const channel *c = (const channel *)(const void *)at;
            b->widen(run, t->ptr[1] + r * t->row_step[1] + i * t->col_step[1], t->col_step[1], n);
            if (t->col_step[2] == 0) b->k->scale(run, run, n, c->from, c->by, c->add, &options);
            else                     scale_channels(run, n, at, t->col_step[2], b->wide);
            b->narrow(t->ptr[0] + r * t->row_step[0] + i * t->col_step[0], t->col_step[0], run, n);
        }
}

tsr_status tsri_cpu_batch_norm(const tsr_op *op)
{
    tsri_loop loop;
    size_t bytes;
    channel *channels;
    const tsr_tensor *x = op->in[0], *z = op->out[0];
    const tsri_cpu_kernels *k = tsri_cpu_kernels_get();
    const int64_t size = tsri_dtype_size(x->dtype);
    int64_t strides[TSR_MAX_NDIM] = { 0 };
    batch b = { .k = tsri_row_kernels(x->dtype), .widen = k->widen[x->dtype],
                .narrow = k->narrow[k->wide[x->dtype]][x->dtype], .wide = x->dtype == TSR_F64 };
    if (tsr_desc_numel(&x->desc) == 0) return TSR_OK;
    tsr_status s = open_channels(&channels, &bytes, x->shape[1], op->in + 1,
                                 ((const tsr_norm_params *)op->params)->eps, "batch_norm");
    strides[1] = 1;
    if (s == TSR_OK) {
        tsri_loop_build(&loop, z->ndim, z->shape, 3, (const tsri_operand[]){
            { z->data, z->stride, size }, { x->data, x->stride, size },
            { (char *)channels, strides, (int64_t)sizeof(channel) } }, 0);
        const int64_t *step = loop.dim[loop.ndim > 0 ? loop.ndim - 1 : 0].step;
        b.packed =
            loop.ndim > 0 && step[0] == size && step[1] == size && tsri_row_dtype(x->dtype) == x->dtype;
        b.stream = x->data != z->data && tsri_cpu_streams(2 * size * tsri_loop_count(&loop));
        s = tsri_loop_run_parallel(&loop, &(tsri_kernel){ .fn = batch_tile, .params = &b },
                                   tsri_grain(TSRI_WORK_DECODED));
    }
    if (channels) tsri_free(channels, bytes);
    return s;
}

/* Group norm --------------------------------------------------------------------------------------- */

typedef struct groups {
    int64_t channels, each;  /* of a group; elements of a channel */
    double  eps;
} groups;

/* beside: the group's channels. */
static void group_row(const tsri_rows *r, void *const *row, char *const *beside, const tsri_row_options *w)
{
    const groups *g = r->params;
    const channel *c = (const channel *)(const void *)beside[0];
    tsri_row_options options = *w, none = { .next = NULL };
    double mean, squares;
    void *x = row[1];
    r->k->moments(&mean, &squares, x, r->n, &none);
    double by = by_of(squares, r->n, g->eps);
    if (is_delicate(r, mean, squares, g->eps)) {
        normalise_carefully(row[0], x, r->n, g->eps, true);
        x = row[0];
        mean = 0;
        by = 1;
    }
    for (int64_t i = 0; i < g->channels; i++) {
        const int64_t at = i * g->each * r->wide;
        if (w->next) options.next = w->next + i * g->each * w->size;
        r->k->scale((char *)row[0] + at, (char *)x + at, g->each, mean, by * c[i].by, c[i].add, &options);
    }
}

tsr_status tsri_cpu_group_norm(const tsr_op *op)
{
    size_t bytes;
    channel *channels;
    tsr_tensor beside;
    const tsr_tensor *x = op->in[0];
    const tsr_norm_params *p = op->params;
    const int64_t numel = tsr_desc_numel(&x->desc), c = x->shape[1];
    if (numel == 0) return TSR_OK;
    const int64_t shape[3] = { x->shape[0], p->count, numel / x->shape[0] / p->count };
    const groups g = { c / p->count, numel / x->shape[0] / c, p->eps };
    tsri_rows rows = { .op = "group_norm", .fn = group_row, .params = &g };
    const tsr_tensor *const in[4] = { NULL, NULL, op->in[1], op->in[2] };
    tsr_status s = open_channels(&channels, &bytes, c, in, 0, "group_norm");
    /* A channel is three doubles wide. */
    tsri_view_memory(&beside, channels, TSR_F64, 3, shape, (const int64_t[]){ 0, 3 * g.channels, 0 });
    if (s == TSR_OK) s = run_reshaped(&rows, op, 3, shape, &beside);
    if (channels) tsri_free(channels, bytes);
    return s;
}

#endif
