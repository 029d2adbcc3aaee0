/* pooling.c - the largest, the mean and the norm of windows.
 *
 * With other ops, a pool goes tap by tap: a tap of all windows is a slice of x, and
 * those that lie in x meet a slice of the result. Nothing is padded and no window is
 * laid out. Adaptive windows, which differ in length, go one by one. */
#include "conv.h"
#include "composed.h"
#include "tessera/move.h"
#include "tessera/ops/conv.h"
#include "tessera/ops/elementwise.h"
#include "tessera/ops/reduce.h"
#include "tessera/scope.h"
#include "tessera/view.h"

/* Sizes ------------------------------------------------------------------------------ */

/* One number of each option. */
static tsr_status check_dim(const char *name, tsr_op_kind kind, const tsr_pool_params *p, int d)
{
    int64_t window = 0;
    TSRI_CHECK(p->kernel[d] >= 1, TSR_EINVAL, "%s: kernel %lld of spatial dim %d", name,
               (long long)p->kernel[d], d);
    TSRI_CHECK(p->stride[d] >= 1, TSR_EINVAL, "%s: stride %lld of spatial dim %d", name,
               (long long)p->stride[d], d);
    TSRI_CHECK(p->dilation[d] >= 1 && (p->dilation[d] == 1 || kind == TSR_OP_MAX_POOL), TSR_EINVAL,
               "%s: dilation %lld of spatial dim %d", name, (long long)p->dilation[d], d);
    TSRI_CHECK(tsri_window_length(&window, p->kernel[d], p->dilation[d]), TSR_EOVERFLOW,
               "%s: kernel %lld of spatial dim %d with dilation %lld overflows", name,
               (long long)p->kernel[d], d, (long long)p->dilation[d]);
    TSRI_CHECK(p->padding[d] >= 0 && p->padding[d] <= window / 2, TSR_EINVAL,
               "%s: padding %lld of spatial dim %d; it is at most half of the window, which is %lld long",
               name, (long long)p->padding[d], d, (long long)window);
    return TSR_OK;
}

static tsr_status check_params(const char *name, tsr_op_kind kind, const tsr_pool_params *p)
{
    TSRI_CHECK(p->spatial >= 1 && p->spatial <= TSRI_SPATIAL, TSR_EINVAL,
               "%s: %d spatial dims; there are 1 to %d", name, (int)p->spatial, TSRI_SPATIAL);
    TSRI_CHECK(kind == TSR_OP_AVG_POOL || (!p->exclude_pad && p->divisor == 0), TSR_EINVAL,
               "%s: exclude_pad or a divisor, which only an average takes", name);
    TSRI_CHECK(kind != TSR_OP_LP_POOL || p->p > 0, TSR_EINVAL, "%s: p is %g; it is above 0", name, p->p);
    for (int d = 0; d < p->spatial; d++) {
        if (!p->adaptive) TSRI_TRY(check_dim(name, kind, p, d));
        else
            TSRI_CHECK(p->size[d] >= 0, TSR_EINVAL, "%s: size %lld of spatial dim %d", name,
                       (long long)p->size[d], d);
    }
    return TSR_OK;
}

static tsr_status check_rank(const char *name, int spatial, const tsr_desc *x)
{
    TSRI_CHECK(x->ndim == spatial + 1 || x->ndim == spatial + 2, TSR_ESHAPE,
               "%s: x is %s; with %d spatial dims it has %d dims, or %d without a batch", name, TSRI_DESC(x),
               spatial, spatial + 2, spatial + 1);
    return TSR_OK;
}

/* Spatial dim d of the result of sliding windows. */
static tsr_status pool_size(int64_t *out, const char *name, const tsr_pool_params *p, const tsr_desc *x,
                            int d)
{
    const int64_t size = x->shape[x->ndim - p->spatial + d], window = (p->kernel[d] - 1) * p->dilation[d] + 1;
    int64_t padded = 0;
    TSRI_CHECK(tsri_add(&padded, size, 2 * p->padding[d]), TSR_EOVERFLOW,
               "%s: padding of spatial dim %d overflows", name, d);
    TSRI_CHECK(window <= padded, TSR_ESHAPE,
               "%s: spatial dim %d of x %s, %lld long with padding, has no room for a window %lld long", name,
               d, TSRI_DESC(x), (long long)padded, (long long)window);
    *out = (padded - window) / p->stride[d] + 1;
    const bool rest = (padded - window) % p->stride[d] != 0;
    if (p->ceil_mode && rest && *out <= (size + p->padding[d] - 1) / p->stride[d]) (*out)++;
    return TSR_OK;
}

static tsr_status adaptive_size(int64_t *out, const char *name, const tsr_pool_params *p, const tsr_desc *x,
                                int d)
{
    const int64_t size = x->shape[x->ndim - p->spatial + d];
    int64_t product = 0;
    *out = p->size[d];
    TSRI_CHECK(size > 0 || *out == 0, TSR_ESHAPE,
               "%s: spatial dim %d of x %s is empty, and is to become %lld", name, d, TSRI_DESC(x),
               (long long)*out);
    TSRI_CHECK(*out < INT64_MAX && tsri_mul(&product, *out + 1, size), TSR_EOVERFLOW,
               "%s: spatial dim %d of x %s is to become %lld: too many", name, d, TSRI_DESC(x),
               (long long)*out);
    return TSR_OK;
}

tsr_status tsri_infer_pool(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                           const void *params)
{
    const tsr_pool_params *p = params;
    const tsr_desc *x = in[0];
    int64_t shape[TSRI_SPATIAL + 2];
    TSRI_TRY(check_params(name, kind, p));
    TSRI_TRY(check_rank(name, p->spatial, x));
    const int first = x->ndim - p->spatial;
    for (int i = 0; i < first; i++) shape[i] = x->shape[i];
    for (int d = 0; d < p->spatial; d++)
        TSRI_TRY((p->adaptive ? adaptive_size : pool_size)(&shape[first + d], name, p, x, d));
    if (kind == TSR_OP_MAX_POOL) TSRI_TRY(tsri_desc_packed(&out[1], name, TSR_I64, x->ndim, shape));
    return tsri_desc_packed(&out[0], name, x->dtype, x->ndim, shape);
}

/* Elements that are looked at. */
double tsri_pool_work(const tsr_desc *const *in, const tsr_desc *out, const void *params)
{
    const tsr_pool_params *p = params;
    double work = p->adaptive ? (double)tsr_desc_numel(in[0]) : (double)tsr_desc_numel(out);
    for (int d = 0; d < p->spatial && !p->adaptive; d++) work *= (double)p->kernel[d];
    return work;
}

/* Windows as slices ------------------------------------------------------------------- */

/* What has the result's shape: what is accumulated, and, where indices are wanted, these and two masks; or
 * what each window is divided by. */
enum { Z, INDICES, TAKEN, MORE, RESULTS, SCALE = INDICES };

typedef struct pool {
    const tsr_pool_params *p;
    tsr_op_kind            kind;
    int                    first;             /* spatial dim */
    int                    results;           /* 1, or RESULTS with indices, or 2 with scales */
    const tsr_tensor      *x;
    tsr_tensor            *result[RESULTS];
    const tsr_tensor      *places;            /* the number of each place in x's spatial dims, for indices */
} pool;

/* The same, narrowed together. */
typedef struct views {
    tsr_tensor x, places, result[RESULTS];
} views;

static views whole_views(const pool *l)
{
    views v = { .x = *l->x };
    if (l->places) v.places = *l->places;
    for (int i = 0; i < l->results; i++) v.result[i] = *l->result[i];
    return v;
}

static const char *name_of(const pool *l) { return tsr_op_get_info(l->kind)->name; }

/* Spatial dim d of the inputs: `count` of them, from `in` on. */
static void narrow_inputs(views *v, const pool *l, int d, int64_t in, int64_t count, int64_t step)
{
    const int64_t end = in + (count - 1) * step + 1;
    if (l->places) tsri_see_slice(&v->places, &v->places, d, in, end, step);
    tsri_see_slice(&v->x, &v->x, l->first + d, in, end, step);
}

static void narrow_results(views *v, const pool *l, int d, int64_t out, int64_t count)
{
    for (int i = 0; i < l->results; i++)
        tsri_see_slice(&v->result[i], &v->result[i], l->first + d, out, out + count, 1);
}

/* Sets TAKEN where x replaces the result: it is the first of its window, larger than the result, or NaN. A
 * result that is NaN already stays, and its index with it. */
static tsr_status choose(views *v)
{
    tsr_tensor *taken = &v->result[TAKEN], *more = &v->result[MORE];
    TSRI_TRY(tsr_gt(&taken, &v->x, &v->result[Z]));
    TSRI_TRY(tsr_lt(&more, &v->result[INDICES], TSR_NUMBER(0)));
    TSRI_TRY(tsr_logical_or(&taken, taken, more));
    TSRI_TRY(tsr_ne(&more, &v->x, &v->x));
    TSRI_TRY(tsr_logical_or(&taken, taken, more));
    TSRI_TRY(tsr_eq(&more, &v->result[Z], &v->result[Z]));
    return tsr_logical_and(&taken, taken, more);
}

/* z += (x / scale)^p */
static tsr_status take_power(views *v, const pool *l)
{
    tsr_tensor *z = &v->result[Z], *power = NULL;
    tsr_status s = tsr_div(&power, &v->x, &v->result[SCALE]);
    if (s == TSR_OK) s = tsr_pow(&power, power, TSR_NUMBER(l->p->p));
    if (s == TSR_OK) s = tsr_add(&z, z, power);
    tsr_release(&power);
    return s;
}

/* Adds one input to each result: x and the results have the same shape here. */
static tsr_status take(views *v, const pool *l)
{
    tsr_tensor *z = &v->result[Z], *indices = &v->result[INDICES];
    if (l->kind == TSR_OP_AVG_POOL) return tsr_add(&z, z, &v->x);
    if (l->kind == TSR_OP_LP_POOL) return take_power(v, l);
    if (!l->places) return tsr_maximum(&z, z, &v->x);
    TSRI_TRY(choose(v));
    TSRI_TRY(tsr_where(&z, &v->result[TAKEN], &v->x, z));
    return tsr_where(&indices, &v->result[TAKEN], &v->places, indices);
}

/* The outputs whose tap `at` places after their window's beginning lies in x. */
static void inside(int64_t *begin, int64_t *end, int64_t at, int64_t stride, int64_t size, int64_t outputs)
{
    *begin = at >= 0 ? 0 : (-at - 1) / stride + 1;
    *end = size > at ? (size - at - 1) / stride + 1 : 0;
    if (*end > outputs) *end = outputs;
}

/* All taps of spatial dims d and up, of what v has been narrowed to. */
static tsr_status take_taps(const views *v, const pool *l, int d)
{
    const tsr_pool_params *p = l->p;
    views narrowed = *v;
    if (d >= TSRI_SPATIAL || d == p->spatial) return take(&narrowed, l);
    for (int64_t t = 0; t < p->kernel[d]; t++) {
        const int64_t at = t * p->dilation[d] - p->padding[d], stride = p->stride[d];
        int64_t begin, end;
        inside(&begin, &end, at, stride, l->x->shape[l->first + d], l->result[Z]->shape[l->first + d]);
        if (begin >= end) continue;
        narrowed = *v;
        narrow_inputs(&narrowed, l, d, begin * stride + at, end - begin, stride);
        narrow_results(&narrowed, l, d, begin, end - begin);
        TSRI_TRY(take_taps(&narrowed, l, d + 1));
    }
    return TSR_OK;
}

/* Adaptive windows --------------------------------------------------------------------- */

/* Every place of one window in turn, from dim d on. */
static tsr_status take_places(const views *v, const pool *l, int d)
{
    views place = *v;
    if (d == l->p->spatial) return take(&place, l);
    for (int64_t i = 0; i < v->x.shape[l->first + d]; i++) {
        place = *v;
        narrow_inputs(&place, l, d, i, 1, 1);
        TSRI_TRY(take_places(&place, l, d + 1));
    }
    return TSR_OK;
}

/* One window, whose output v is narrowed to. */
static tsr_status take_window(const views *v, const pool *l)
{
    static const int axes[] = { -3, -2, -1 };
    tsr_tensor z = v->result[Z], *out = &z;
    const int *last = axes + TSRI_SPATIAL - l->p->spatial;
    if (l->places) return take_places(v, l, 0);
    if (l->kind == TSR_OP_MAX_POOL) return tsr_max(&out, &v->x, l->p->spatial, last, true);
    return tsr_mean(&out, &v->x, l->p->spatial, last, true);
}

static tsr_status take_windows(const views *v, const pool *l, int d)
{
    views narrowed;
    if (d == l->p->spatial) return take_window(v, l);
    const int64_t size = l->x->shape[l->first + d], outputs = l->result[Z]->shape[l->first + d];
    for (int64_t o = 0; o < outputs; o++) {
        const int64_t begin = o * size / outputs, end = ((o + 1) * size - 1) / outputs + 1;
        narrowed = *v;
        narrow_inputs(&narrowed, l, d, begin, end - begin, 1);
        narrow_results(&narrowed, l, d, o, 1);
        TSRI_TRY(take_windows(&narrowed, l, d + 1));
    }
    return TSR_OK;
}

static tsr_status take_all(const pool *l)
{
    const views v = whole_views(l);
    if (tsr_numel(l->result[Z]) == 0) return TSR_OK;
    return l->p->adaptive ? take_windows(&v, l, 0) : take_taps(&v, l, 0);
}

/* Parts ---------------------------------------------------------------------------------- */

/* What no element is below: integers saturate. */
static tsr_scalar lowest(tsr_dtype dtype)
{
    return tsr_scalar_f64(dtype == TSR_F8E4M3 ? -448 : -__builtin_inf());  /* f8e4m3 has no infinity */
}

/* 0, 1, ... in the shape of x's spatial dims. */
static tsr_status number_places(tsr_tensor **out, const tsr_tensor *x, int spatial)
{
    tsr_tensor *host = NULL;
    int64_t count = 1;
    const int64_t *shape = x->shape + x->ndim - spatial;
    for (int d = 0; d < spatial; d++)
        TSRI_CHECK(tsri_mul(&count, count, shape[d]), TSR_EOVERFLOW, "max_pool: places of x %s overflow",
                   TSRI_DESC(&x->desc));
    tsr_status s = tsr_arange(&host, TSR_I64, tsr_scalar_i64(0), tsr_scalar_i64(count), tsr_scalar_i64(1));
    if (s == TSR_OK) s = tsr_view(&host, host, spatial, shape);
    if (s == TSR_OK) s = tsr_to_memory(out, host, x->device, tsri_memory_beside(x));
    tsr_release(&host);
    return s;
}

static pool see_pool(const tsr_op *op)
{
    const tsr_pool_params *p = op->params;
    return (pool){ .p = p, .kind = op->kind, .first = op->in[0]->ndim - p->spatial, .x = op->in[0],
                   .results = 1, .result = { op->out[0] } };
}

static tsr_status take_with_indices(pool *l, tsr_tensor *indices)
{
    tsr_tensor *places = NULL, *taken = NULL, *more = NULL;
    const tsr_tensor *z = l->result[Z];
    tsr_status s = tsr_fill(indices, tsr_scalar_i64(-1));
    if (s == TSR_OK) s = number_places(&places, l->x, l->p->spatial);
    if (s == TSR_OK) s = tsri_make_temporary(&taken, name_of(l), z, TSR_BOOL, z->ndim, z->shape);
    if (s == TSR_OK) s = tsri_make_temporary(&more, name_of(l), z, TSR_BOOL, z->ndim, z->shape);
    l->results = RESULTS;
    l->result[INDICES] = indices;
    l->result[TAKEN] = taken;
    l->result[MORE] = more;
    l->places = places;
    if (s == TSR_OK) s = take_all(l);
    tsr_release_all(&more, &taken, &places);
    return s;
}

tsr_status tsri_max_pool_parts(const tsr_op *op)
{
    pool l = see_pool(op);
    TSRI_TRY(tsr_fill(l.result[Z], lowest(l.result[Z]->dtype)));
    return op->nout > 1 ? take_with_indices(&l, op->out[1]) : take_all(&l);
}

/* How many places along spatial dim d each output's window counts. */
static tsr_status count_places(tsr_tensor **out, const pool *l, int d)
{
    const tsr_pool_params *p = l->p;
    const int64_t outputs = l->result[Z]->shape[l->first + d], size = l->x->shape[l->first + d];
    const int64_t low = p->exclude_pad ? 0 : p->padding[d];  /* of what counts, ahead of x and behind it */
    TSRI_TRY(tsri_make_temporary(out, name_of(l), l->x, TSR_F64, 1, &outputs));
    TSRI_TRY(tsr_zero(*out));
    for (int64_t t = 0; t < p->kernel[d]; t++) {
        tsr_tensor v = **out, *z = &v;
        int64_t begin, end;
        inside(&begin, &end, t - p->padding[d] + low, p->stride[d], size + 2 * low, outputs);
        if (begin >= end) continue;
        tsri_see_slice(&v, &v, 0, begin, end, 1);
        TSRI_TRY(tsr_add(&z, z, TSR_NUMBER(1)));
    }
    return TSR_OK;
}

/* A vector along spatial dim d, so that it broadcasts. */
static tsr_tensor along(const tsr_tensor *vector, const pool *l, int d)
{
    tsr_tensor v = *vector;
    for (int i = d + 1; i < l->p->spatial; i++) tsri_insert_dim(&v.desc, v.ndim, 1, 0);
    return v;
}

/* counts = the product of what each spatial dim counts. */
static tsr_status count_windows(tsr_tensor *counts, const pool *l)
{
    TSRI_TRY(tsr_fill(counts, tsr_scalar_f64(1)));
    for (int d = 0; d < l->p->spatial; d++) {
        tsr_tensor *each = NULL;
        tsr_status s = count_places(&each, l, d);
        if (s == TSR_OK) {
            const tsr_tensor v = along(each, l, d);
            s = tsr_mul(&counts, counts, &v);
        }
        tsr_release(&each);
        TSRI_TRY(s);
    }
    return TSR_OK;
}

/* The sums over what they count. */
static tsr_status divide(const pool *l)
{
    tsr_tensor *z = l->result[Z], *counts = NULL;
    if (l->p->divisor != 0) return tsr_div(&z, z, TSR_NUMBER((double)l->p->divisor));
    tsr_status s =
        tsri_make_temporary(&counts, name_of(l), l->x, TSR_F64, l->p->spatial, z->shape + l->first);
    if (s == TSR_OK) s = count_windows(counts, l);
    if (s == TSR_OK) s = tsr_div(&z, z, counts);
    tsr_release(&counts);
    return s;
}

tsr_status tsri_avg_pool_parts(const tsr_op *op)
{
    tsr_tensor *sums = NULL, *wide = NULL;
    const tsr_tensor *x = op->in[0], *z = op->out[0];
    pool l = see_pool(op);
    if (l.p->adaptive) return take_all(&l);
    tsr_status s = tsri_make_temporary(&sums, name_of(&l), x, TSR_F64, z->ndim, z->shape);
    if (s == TSR_OK) s = tsri_make_temporary(&wide, name_of(&l), x, TSR_F64, x->ndim, x->shape);
    if (s == TSR_OK) s = tsr_zero(sums);
    if (s == TSR_OK) s = tsr_copy(wide, x);
    l.x = wide;
    l.result[Z] = sums;
    if (s == TSR_OK) s = take_all(&l);
    if (s == TSR_OK) s = divide(&l);
    if (s == TSR_OK) s = tsr_copy(op->out[0], sums);
    tsr_release_all(&wide, &sums);
    return s;
}

/* largest = the largest |x| of each window. */
static tsr_status find_largest(tsr_tensor *out, const pool *l)
{
    tsr_tensor *size = NULL;
    pool largest = *l;
    largest.kind = TSR_OP_MAX_POOL;
    largest.result[Z] = out;
    tsr_status s = tsr_abs(&size, l->x);
    largest.x = size;
    if (s == TSR_OK) s = tsr_zero(out);
    if (s == TSR_OK) s = take_all(&largest);
    tsr_release(&size);
    return s;
}

/* What elements are divided by, so that powers stay in range: the largest number for an infinite one, and 1
 * for 0 and NaN. */
static tsr_status make_scales(tsr_tensor *largest)
{
    tsr_tensor *suits = NULL;
    tsr_status s = tsr_minimum(&largest, largest, TSR_NUMBER(0x1.fffffffffffffp1023));
    if (s == TSR_OK) s = tsr_gt(&suits, largest, TSR_NUMBER(0));
    if (s == TSR_OK) s = tsr_where(&largest, suits, largest, TSR_NUMBER(1.0));
    tsr_release(&suits);
    return s;
}

/* Sums of powers as roots: z = (sums over what they count * the size of a window)^(1 / p) * scale. */
static tsr_status take_roots(const pool *l)
{
    tsr_tensor *z = l->result[Z];
    double kernel = 1;
    for (int d = 0; d < l->p->spatial; d++) kernel *= (double)l->p->kernel[d];
    TSRI_TRY(divide(l));
    TSRI_TRY(tsr_mul(&z, z, TSR_NUMBER(kernel)));
    if (l->p->p != 1) TSRI_TRY(tsr_pow(&z, z, TSR_NUMBER(1 / l->p->p)));
    return tsr_mul(&z, z, l->result[SCALE]);
}

static tsr_status sum_powers(pool *l, tsr_tensor *sums, tsr_tensor *scale)
{
    TSRI_TRY(find_largest(scale, l));
    if (l->p->p == __builtin_inf()) return tsr_copy(sums, scale);
    TSRI_TRY(make_scales(scale));
    TSRI_TRY(tsr_zero(sums));
    l->results = 2;
    l->result[SCALE] = scale;
    TSRI_TRY(take_all(l));
    return take_roots(l);
}

tsr_status tsri_lp_pool_parts(const tsr_op *op)
{
    tsr_tensor *sums = NULL, *wide = NULL, *scale = NULL;
    const tsr_tensor *x = op->in[0], *z = op->out[0];
    pool l = see_pool(op);
    tsr_status s = tsri_make_temporary(&sums, name_of(&l), x, TSR_F64, z->ndim, z->shape);
    if (s == TSR_OK) s = tsri_make_temporary(&scale, name_of(&l), x, TSR_F64, z->ndim, z->shape);
    if (s == TSR_OK) s = tsri_make_temporary(&wide, name_of(&l), x, TSR_F64, x->ndim, x->shape);
    if (s == TSR_OK) s = tsr_copy(wide, x);
    l.x = wide;
    l.result[Z] = sums;
    if (s == TSR_OK) s = sum_powers(&l, sums, scale);
    if (s == TSR_OK) s = tsr_copy(op->out[0], sums);
    tsr_release(&wide);
    tsr_release(&scale);
    tsr_release(&sums);
    return s;
}

/* Options ---------------------------------------------------------------------------- */

static tsr_status run(tsr_tensor **out, tsr_tensor **indices, const char *name, tsr_op_kind kind,
                      const tsr_tensor *x, const tsr_pool_params *params)
{
    return tsri_dispatch(&(tsri_call){ .kind = kind, .params = params, .name = name, .nin = 1, .in = { x },
                                   .nout = indices ? 2 : 1, .out = { out, indices } });
}

static tsr_status slide(tsr_tensor **out, tsr_tensor **indices, const char *name, tsr_op_kind kind,
                        int spatial, const tsr_tensor *x, double p, const tsr_pool *how)
{
    tsr_pool_params params = { .spatial = spatial, .p = p };
    TSRI_CHECK(out, TSR_ENULL, "%s: out is NULL", name);
    TSRI_TRY(tsri_check_allocated(name, "x", x));
    TSRI_CHECK(how, TSR_ENULL, "%s: how is NULL", name);
    params.ceil_mode = how->ceil_mode;
    params.exclude_pad = how->exclude_pad;
    params.divisor = how->divisor;
    for (int d = 0; d < spatial; d++) {
        params.kernel[d] = how->kernel[d];
        params.stride[d] = how->stride[d] == 0 ? how->kernel[d] : how->stride[d];
        params.padding[d] = how->padding[d];
        params.dilation[d] = how->dilation[d] == 0 ? 1 : how->dilation[d];
    }
    return run(out, indices, name, kind, x, &params);
}

static tsr_status adapt(tsr_tensor **out, tsr_tensor **indices, const char *name, tsr_op_kind kind,
                        const tsr_tensor *x, int n, const int64_t *sizes)
{
    tsr_pool_params params = { .spatial = n, .adaptive = true };
    TSRI_CHECK(out, TSR_ENULL, "%s: out is NULL", name);
    TSRI_TRY(tsri_check_allocated(name, "x", x));
    TSRI_CHECK(sizes, TSR_ENULL, "%s: sizes is NULL", name);
    TSRI_CHECK(n >= 1 && n <= TSRI_SPATIAL, TSR_EINVAL, "%s: %d spatial dims; there are 1 to %d", name, n,
               TSRI_SPATIAL);
    TSRI_TRY(check_rank(name, n, &x->desc));
    for (int d = 0; d < n; d++) params.size[d] = sizes[d] == -1 ? x->shape[x->ndim - n + d] : sizes[d];
    return run(out, indices, name, kind, x, &params);
}

/* The ops ----------------------------------------------------------------------------- */

#define MAX_POOL(name, spatial)                                                                              \
    tsr_status tsr_##name(tsr_tensor **out, tsr_tensor **indices, const tsr_tensor *x, const tsr_pool *how)  \
    { return slide(out, indices, #name, TSR_OP_MAX_POOL, spatial, x, 0, how); }
#define AVG_POOL(name, spatial)                                                                              \
    tsr_status tsr_##name(tsr_tensor **out, const tsr_tensor *x, const tsr_pool *how)                        \
    { return slide(out, NULL, #name, TSR_OP_AVG_POOL, spatial, x, 0, how); }
#define LP_POOL(name, spatial)                                                                               \
    tsr_status tsr_##name(tsr_tensor **out, const tsr_tensor *x, double p, const tsr_pool *how)              \
    { return slide(out, NULL, #name, TSR_OP_LP_POOL, spatial, x, p, how); }

MAX_POOL(max_pool1d, 1) MAX_POOL(max_pool2d, 2) MAX_POOL(max_pool3d, 3)
AVG_POOL(avg_pool1d, 1) AVG_POOL(avg_pool2d, 2) AVG_POOL(avg_pool3d, 3)
LP_POOL(lp_pool1d, 1) LP_POOL(lp_pool2d, 2) LP_POOL(lp_pool3d, 3)

tsr_status tsr_adaptive_max_pool(tsr_tensor **out, tsr_tensor **indices, const tsr_tensor *x, int n,
                                 const int64_t *sizes)
{
    return adapt(out, indices, "adaptive_max_pool", TSR_OP_MAX_POOL, x, n, sizes);
}

tsr_status tsr_adaptive_avg_pool(tsr_tensor **out, const tsr_tensor *x, int n, const int64_t *sizes)
{
    return adapt(out, NULL, "adaptive_avg_pool", TSR_OP_AVG_POOL, x, n, sizes);
}

static const int64_t one_each[TSRI_SPATIAL] = { 1, 1, 1 };

tsr_status tsr_max_pool_all(tsr_tensor **out, tsr_tensor **indices, const tsr_tensor *x, int n)
{
    return adapt(out, indices, "max_pool_all", TSR_OP_MAX_POOL, x, n, one_each);
}

tsr_status tsr_avg_pool_all(tsr_tensor **out, const tsr_tensor *x, int n)
{
    return adapt(out, NULL, "avg_pool_all", TSR_OP_AVG_POOL, x, n, one_each);
}
