/* quantile.c - medians and quantiles: elements of few ranks are chosen, for many lanes are sorted. */
#include "core/mem.h"
#include "core/threads_int.h"
#include "dispatch.h"
#include "statistics.h"
#include "tessera/move.h"
#include "tessera/ops/elementwise.h"
#include "tessera/ops/index.h"
#include "tessera/ops/order.h"
#include "tessera/ops/reduce.h"

enum {
    INSERTION_SORTED = 24,  /* keys, at most */
    MANY = 1 << 13,       /* keys that are worth longer digits */
    SHORT_DIGIT = 8,
    LONG_DIGIT = 11,
    CHOSEN_AT_MOST = 4    /* quantiles of a lane; for more, it is sorted */
};

/* The call ------------------------------------------------------------------------- */

typedef struct quantiles {
    const char *op;
    int64_t     count;        /* how many q; their values follow */
    const double *q;
    tsr_quantile_method method;
    bool        is_median, skips_nan, is_f32;
    int64_t     lanes, n;     /* elements of a lane */
    char       *x;            /* lanes one after another, f32 or f64; sorted if there are many q */
    void       *keys;         /* room for all of them, or x itself */
    double     *out;          /* lane by lane, for each q */
    int64_t     at;           /* the q that is looked for */
} quantiles;

/* Between element `low` of a sorted lane and the next one, at this share of the distance. */
typedef struct place { int64_t low; double share; } place;

static place place_of(const quantiles *c, double q, int64_t n)
{
    const double at = q * (double)(n - 1);
    const int64_t low = (int64_t)at;
    const double share = at - (double)low;
    const bool up = share > 0.5 || (share == 0.5 && low % 2 != 0);  /* of two to the even one */
    switch (c->method) {
    case TSR_QUANTILE_LOWER:    return (place){ low, 0 };
    case TSR_QUANTILE_HIGHER:   return (place){ low + (share > 0), 0 };
    case TSR_QUANTILE_NEAREST:  return (place){ low + up, 0 };
    case TSR_QUANTILE_MIDPOINT: return (place){ low, share > 0 ? 0.5 : 0 };
    default:                    return (place){ low, share };
    }
}

/* Sums and differences that overflow are those of parts. */
static double between(const quantiles *c, double a, double b, double share)
{
    const double sum = a + b, gap = b - a;
    if (share == 0 || a == b) return a;
    if (c->is_median) return __builtin_isfinite(sum) ? sum / 2 : a / 2 + b / 2;
    if (!__builtin_isfinite(gap)) return a * (1 - share) + b * share;
    return share < 0.5 ? a + gap * share : b - gap * (1 - share);
}

/* Lanes ---------------------------------------------------------------------------------------- */

/* How many numbers of a lane count, of those that are not NaN; 0: the result is NaN. */
static int64_t numbers_of(const quantiles *c, int64_t have)
{
    return c->skips_nan || have == c->n ? have : 0;
}

#define KEY uint32_t
#define FLOAT float
#define NAME(x) x##_f32
#include "choose_rank.inc"

#define KEY uint64_t
#define FLOAT double
#define NAME(x) x##_f64
#include "choose_rank.inc"

static tsr_status choose_lanes(void *context, int64_t begin, int64_t end)
{
    const quantiles *c = context;
    double *out = c->out + c->at * c->lanes;
    for (int64_t i = begin; i < end; i++) out[i] = c->is_f32 ? choose_f32(c, i) : choose_f64(c, i);
    return TSR_OK;
}

/* Element i of a sorted lane. */
static double sorted_at(const quantiles *c, int64_t lane, int64_t i)
{
    const int64_t at = lane * c->n + i;
    return c->is_f32 ? (double)((const float *)(void *)c->x)[at] : ((const double *)(void *)c->x)[at];
}

/* All q of sorted lanes, in which NaNs come last. */
static tsr_status read_lanes(void *context, int64_t begin, int64_t end)
{
    const quantiles *c = context;
    for (int64_t i = begin; i < end; i++) {
        int64_t have = c->n;
        while (have > 0 && __builtin_isnan(sorted_at(c, i, have - 1))) have--;
        const int64_t n = numbers_of(c, have);
        for (int64_t j = 0; j < c->count; j++) {
            const place p = place_of(c, c->q[j], n);
            c->out[j * c->lanes + i] =
                n == 0 ? __builtin_nan("")
                       : between(c, sorted_at(c, i, p.low),
                                 sorted_at(c, i, p.low + 1 < n ? p.low + 1 : p.low), p.share);
        }
    }
    return TSR_OK;
}

/* Results --------------------------------------------------------------------------------------- */

/* A view of x whose first dims stay, and whose last are reduced; returns how many stay. */
static int see_lanes(tsr_tensor *v, const tsr_tensor *x, uint32_t axes)
{
    int to = 0, kept = 0;
    *v = *x;
    for (int reduced = 0; reduced < 2; reduced++) {
        for (int d = 0; d < x->ndim; d++)
            if ((int)(axes >> d & 1) == reduced) {
                v->shape[to] = x->shape[d];
                v->stride[to++] = x->stride[d];
            }
        if (!reduced) kept = to;
    }
    return kept;
}

/* Lanes of f32 or f64, packed and beside x, as (lanes, n). */
static tsr_status copy_lanes(quantiles *c, tsr_tensor **out, const tsr_tensor *x, uint32_t axes)
{
    tsr_tensor v;
    const int kept = see_lanes(&v, x, axes);
    const bool is_short = tsr_dtype_kind(x->dtype) == TSR_FLOATING && x->dtype != TSR_F64;
    c->is_f32 = is_short;
    c->lanes = c->n = 1;
    for (int d = 0; d < x->ndim; d++) {
        int64_t *count = d < kept ? &c->lanes : &c->n;
        *count = tsri_mul_wrapping(*count, v.shape[d]);
    }
    TSRI_TRY(tsri_make_packed_beside(out, c->op, is_short ? TSR_F32 : TSR_F64, x->ndim, v.shape, x));
    TSRI_TRY(tsr_copy(*out, &v));
    const int64_t shape[] = { c->lanes, c->n };
    return tsri_desc_packed(&(*out)->desc, c->op, (*out)->dtype, 2, shape);
}

static tsr_status find_chosen(quantiles *c, tsr_tensor *lanes)
{
    tsr_tensor *room = NULL;
    const int64_t shape[] = { c->lanes, c->n }, grain = tsri_grain((double)c->n * TSRI_WORK_DECODED);
    tsr_status s = c->count > 1 ? tsri_make_packed(&room, c->op, lanes->dtype, 2, shape) : TSR_OK;
    for (c->at = 0; c->at < c->count && s == TSR_OK; c->at++) {
        c->keys = c->at + 1 < c->count ? room->data : lanes->data;
        s = tsr_parallel_for(c->lanes, grain, choose_lanes, c);
    }
    tsr_release(&room);
    return s;
}

static tsr_status find_sorted(quantiles *c, tsr_tensor *lanes)
{
    if (c->n > 0) TSRI_TRY(tsr_sort(&lanes, lanes, 1, false));
    return tsr_parallel_for(c->lanes, tsri_grain((double)c->count * TSRI_WORK_ELEMENT), read_lanes, c);
}

/* On a device: lanes are sorted there, and the host gets those elements that quantiles lie between. */
typedef struct asked {
    tsr_tensor       *nan, *nans, *index, *there, *found;
    tsr_tensor       *temporary[2];
    const tsr_tensor *have, *value;   /* of the host: NaNs of each lane; two elements of it for each q */
} asked;

static tsr_status count_nans(asked *a, const quantiles *c, const tsr_tensor *lanes)
{
    const int last = 1;
    TSRI_TRY(tsr_isnan(&a->nan, lanes));
    TSRI_TRY(tsr_count_nonzero(&a->nans, a->nan, 1, &last, false));
    a->have = a->nans;
    return tsri_as_packed(&a->have, &a->temporary[0], c->op, TSR_I64);
}

/* How many numbers of a lane count; 0 if its quantiles are NaN. */
static int64_t numbers_in(const asked *a, const quantiles *c, int64_t lane)
{
    return numbers_of(c, c->n - ((const int64_t *)a->have->data)[lane]);
}

static tsr_status ask_for_places(asked *a, const quantiles *c, const tsr_tensor *lanes)
{
    const int64_t shape[] = { c->lanes, 2 * c->count };
    TSRI_TRY(tsri_make_packed(&a->index, c->op, TSR_I64, 2, shape));
    int64_t *at = a->index->data;
    for (int64_t i = 0; i < c->lanes; i++) {
        const int64_t n = numbers_in(a, c, i);
        for (int64_t j = 0; j < c->count; j++, at += 2) {
            at[0] = n ? place_of(c, c->q[j], n).low : 0;
            at[1] = at[0] + 1 < n ? at[0] + 1 : at[0];
        }
    }
    TSRI_TRY(tsri_make_packed_beside(&a->there, c->op, TSR_I64, 2, shape, lanes));
    TSRI_TRY(tsr_copy(a->there, a->index));
    TSRI_TRY(tsr_take_along_axis(&a->found, lanes, a->there, 1));
    a->value = a->found;
    return tsri_as_packed(&a->value, &a->temporary[1], c->op, TSR_F64);
}

static void read_places(const asked *a, quantiles *c)
{
    const double *v = a->value->data;
    for (int64_t i = 0; i < c->lanes; i++) {
        const int64_t n = numbers_in(a, c, i);
        for (int64_t j = 0; j < c->count; j++, v += 2)
            c->out[j * c->lanes + i] =
                n ? between(c, v[0], v[1], place_of(c, c->q[j], n).share) : __builtin_nan("");
    }
}

static tsr_status find_there(quantiles *c, tsr_tensor *lanes)
{
    asked a = { .nan = NULL };
    for (int64_t i = 0; c->n == 0 && i < c->lanes * c->count; i++) c->out[i] = __builtin_nan("");
    if (c->n == 0) return TSR_OK;
    tsr_status s = tsr_sort(&lanes, lanes, 1, false);
    if (s == TSR_OK) s = count_nans(&a, c, lanes);
    if (s == TSR_OK) s = ask_for_places(&a, c, lanes);
    if (s == TSR_OK) read_places(&a, c);
    tsr_release_all(&a.nan, &a.nans, &a.index, &a.there, &a.found, &a.temporary[0], &a.temporary[1]);
    return s;
}

/* c->out is that of a tensor; q and the shape are known. */
static tsr_status find(quantiles *c, const tsr_tensor *x, uint32_t axes)
{
    tsr_tensor *lanes = NULL;
    tsr_status s = copy_lanes(c, &lanes, x, axes);
    if (s == TSR_OK && x->device != TSR_CPU) {
        s = find_there(c, lanes);
    } else if (s == TSR_OK) {
        c->x = lanes->data;
        s = c->count > CHOSEN_AT_MOST ? find_sorted(c, lanes) : find_chosen(c, lanes);
    }
    tsr_release(&lanes);
    return s;
}

/* What a call asks for. */
typedef struct asking {
    uint32_t axes;
    bool     keepdims, is_median, skips_nan;
    tsr_quantile_method method;
} asking;

/* q's dim if it has one, then the dims of x that stay. */
static tsr_status infer_quantile(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                                 const void *params)
{
    const asking *p = params;
    const tsr_desc *x = in[0], *q = p->is_median ? NULL : in[1];
    int64_t shape[TSR_MAX_NDIM];
    int ndim = 0;
    (void)kind;
    if (q && q->ndim == 1) shape[ndim++] = q->shape[0];
    for (int d = 0; d < x->ndim; d++) {
        const bool reduced = p->axes >> d & 1;
        if (reduced && !p->keepdims) continue;
        TSRI_CHECK(ndim < TSR_MAX_NDIM, TSR_ESHAPE, "%s: the result of %s would have more than %d dims", name,
                   TSRI_DESC(x), TSR_MAX_NDIM);
        shape[ndim++] = reduced ? 1 : x->shape[d];
    }
    const bool is_float = tsr_dtype_kind(x->dtype) == TSR_FLOATING;
    return tsri_desc_packed(out, name, is_float ? x->dtype : TSR_F64, ndim, shape);
}

/* numbers: q, packed. */
static tsr_status check_numbers(const tsr_tensor *numbers)
{
    const double *q = numbers->data;
    for (int64_t i = 0; i < tsr_numel(numbers); i++)
        TSRI_CHECK(q[i] >= 0 && q[i] <= 1, TSR_EINVAL, "quantile: q is %g, and must be from 0 to 1", q[i]);
    return TSR_OK;
}

/* All results in f64, and then in the result. */
static tsr_status find_all(quantiles *c, const tsr_op *op)
{
    const asking *p = op->params;
    tsr_tensor *wide = NULL, *out = op->out[0];
    TSRI_TRY(tsri_make_packed(&wide, c->op, TSR_F64, out->ndim, out->shape));
    c->out = wide->data;
    tsr_status s = tsr_numel(wide) > 0 ? find(c, op->in[0], p->axes) : TSR_OK;
    if (s == TSR_OK) s = tsr_copy(out, wide);
    tsr_release(&wide);
    return s;
}

static tsr_status run_quantile(const tsr_op *op)
{
    static const double middle = 0.5;
    const asking *p = op->params;
    const tsr_tensor *numbers = op->in[1];
    tsr_tensor *temporary = NULL;
    quantiles c = { .op = "quantile", .count = 1, .q = &middle, .method = p->method,
                    .is_median = p->is_median, .skips_nan = p->skips_nan };
    if (p->is_median) return find_all(&c, op);
    tsr_status s = tsri_as_packed(&numbers, &temporary, c.op, TSR_F64);
    if (s == TSR_OK) s = check_numbers(numbers);
    c.q = numbers->data;
    c.count = tsr_numel(numbers);
    if (s == TSR_OK) s = find_all(&c, op);
    tsr_release(&temporary);
    return s;
}

/* The calls -------------------------------------------------------------------------------------- */

#define COMPOSED(name) { .row = name, .traits = { .infer = infer_quantile, .parts = run_quantile } }

static tsr_status ask(tsr_tensor **out, tsri_composed *composed, const tsr_tensor *x, const tsr_tensor *q,
                      int naxes, const int *axes, asking *p)
{
    TSRI_TRY(tsri_check_allocated(composed->row, "x", x));
    TSRI_TRY(tsri_axis_set(&p->axes, composed->row, &x->desc, naxes, axes));
    TSRI_CHECK((unsigned)p->method <= TSR_QUANTILE_MIDPOINT, TSR_EINVAL, "%s: there is no method %d",
               composed->row, (int)p->method);
    return tsri_dispatch(&(tsri_call){ .composed = composed, .params = p, .nin = p->is_median ? 1 : 2,
                                       .in = { x, q }, .nout = 1, .out = { out } });
}

tsr_status tsr_median(tsr_tensor **out, const tsr_tensor *x, int naxes, const int *axes, bool keepdims)
{
    static tsri_composed call = COMPOSED("median");
    return ask(out, &call, x, NULL, naxes, axes, &(asking){ .keepdims = keepdims, .is_median = true });
}

tsr_status tsr_nanmedian(tsr_tensor **out, const tsr_tensor *x, int naxes, const int *axes, bool keepdims)
{
    static tsri_composed call = COMPOSED("nanmedian");
    return ask(out, &call, x, NULL, naxes, axes,
               &(asking){ .keepdims = keepdims, .is_median = true, .skips_nan = true });
}

tsr_status tsr_quantile(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *q, int naxes,
                        const int *axes, bool keepdims, tsr_quantile_method method)
{
    static tsri_composed call = COMPOSED("quantile");
    return ask(out, &call, x, q, naxes, axes, &(asking){ .keepdims = keepdims, .method = method });
}

tsr_status tsr_nanquantile(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *q, int naxes,
                           const int *axes, bool keepdims, tsr_quantile_method method)
{
    static tsri_composed call = COMPOSED("nanquantile");
    return ask(out, &call, x, q, naxes, axes,
               &(asking){ .keepdims = keepdims, .skips_nan = true, .method = method });
}
