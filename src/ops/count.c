/* count.c - bincount and histograms: how often each number occurs, and how many lie in each bin. */
#include "core/alloc.h"
#include "core/mem.h"
#include "core/threads_int.h"
#include "statistics.h"
#include "tessera/compare.h"
#include "tessera/element.h"
#include "tessera/move.h"
#include "tessera/ops/elementwise.h"
#include "tessera/ops/index.h"
#include "tessera/ops/order.h"
#include "tessera/ops/reduce.h"

enum {
    SIDE_TABLES = 4,       /* so that equal neighbours do not wait for each other */
    SIDE_LENGTH = 1024,    /* of tables that fit the L1 cache */
    GRID = 2048,           /* cells, and edges that one cell may have */
    CROWD = 4
};

static tsr_status check_weights(const char *op, const tsr_tensor *weights, const tsr_tensor *x)
{
    if (!weights) return TSR_OK;
    TSRI_TRY(tsri_check_kinds(op, "weights", weights, TSRI_REAL));
    TSRI_CHECK(tsr_same_shape(weights, x), TSR_ESHAPE, "%s: weights is %s, but x is %s", op,
               TSRI_DESC(&weights->desc), TSRI_DESC(&x->desc));
    return TSR_OK;
}

/* Counting in parts ------------------------------------------------------------------------- */

/* Counts elements from .. to - 1 in a table, which holds zeros before. */
typedef void (*count_fn)(int64_t *table, const void *how, int64_t from, int64_t to);

typedef struct counting {
    count_fn    count;
    const void *how;
    int64_t     n, length, parts;
    int64_t    *tables;   /* one for each part, one behind the other */
} counting;

static tsr_status count_parts(void *context, int64_t begin, int64_t end)
{
    const counting *c = context;
    for (int64_t i = begin; i < end; i++) {
        int64_t *table = c->tables + i * c->length;
        memset(table, 0, sizeof *table * (size_t)c->length);
        c->count(table, c->how, c->n / c->parts * i, i + 1 == c->parts ? c->n : c->n / c->parts * (i + 1));
    }
    return TSR_OK;
}

static void add_tables(int64_t *total, const int64_t *tables, int64_t length, int64_t n)
{
    for (int64_t t = 0; t < n; t++)
        for (int64_t i = 0; i < length; i++) total[i] += tables[t * length + i];
}

/* A table of the host with `length` counts of n elements. */
static tsr_status count_all(tsr_tensor **out, const char *op, int64_t n, int64_t length, count_fn count,
                            const void *how)
{
    const int64_t grain = tsri_grain(TSRI_WORK_READ);
    counting c = { .count = count, .how = how, .n = n, .length = length, .parts = tsr_threads() };
    if (c.parts > n / grain) c.parts = n / grain;
    if (c.parts < 2 || length > n / (4 * c.parts)) c.parts = 1;
    TSRI_TRY(tsri_make_packed(out, op, TSR_I64, 1, &length));
    int64_t *total = (*out)->data;
    c.tables = total;
    if (c.parts == 1) return count_parts(&c, 0, 1);
    const size_t bytes = sizeof *c.tables * (size_t)(c.parts * length);
    c.tables = tsri_scratch(bytes);
    TSRI_CHECK(c.tables, TSR_ENOMEM, "%s: no memory for %lld counts", op, (long long)(c.parts * length));
    const tsr_status s = tsr_parallel_for(c.parts, 1, count_parts, &c);
    memset(total, 0, sizeof *total * (size_t)length);
    add_tables(total, c.tables, length, c.parts);
    tsri_free(c.tables, bytes);
    return s;
}

/* Counting on a device -------------------------------------------------------------------------- */

/* below[i] = how many elements of x lie before limit i, or, if the last one counts, not behind that. Limits
 * are of the host and have x's dtype. Elements are sorted, so that none waits for another. */
static tsr_status count_below(tsr_tensor *below, const char *op, const tsr_tensor *x,
                              const tsr_tensor *limits, bool last_counts)
{
    tsr_tensor flat = *x, front, end, front_limits, end_limits, *to[2] = { &front, &end };
    tsr_tensor *sorted = NULL, *there = NULL;
    const int64_t n = tsr_numel(limits), count = tsr_numel(x);
    TSRI_TRY(tsri_desc_packed(&flat.desc, op, x->dtype, 1, &count));
    tsr_status s = tsr_sort(&sorted, &flat, 0, false);
    if (s == TSR_OK) s = tsri_make_packed_beside(&there, op, limits->dtype, 1, &n, x);
    if (s == TSR_OK) s = tsr_copy(there, limits);
    if (s == TSR_OK) {
        tsri_see_slice(&front, below, 0, 0, n - 1, 1);
        tsri_see_slice(&end, below, 0, n - 1, n, 1);
        tsri_see_slice(&front_limits, there, 0, 0, n - 1, 1);
        tsri_see_slice(&end_limits, there, 0, n - 1, n, 1);
        s = tsr_searchsorted(&to[0], sorted, &front_limits, false);
    }
    if (s == TSR_OK) s = tsr_searchsorted(&to[1], sorted, &end_limits, last_counts);
    tsr_release_all(&sorted, &there);
    return s;
}

/* How many elements of x lie between neighbouring limits. */
static tsr_status count_between(tsr_tensor **out, const char *op, const tsr_tensor *x,
                                const tsr_tensor *limits, bool last_counts)
{
    tsr_tensor *below = NULL, low, high;
    const int64_t n = tsr_numel(limits);
    TSRI_TRY(tsri_make_packed_beside(&below, op, TSR_I64, 1, &n, x));
    tsr_status s = count_below(below, op, x, limits, last_counts);
    if (s == TSR_OK) {
        tsri_see_slice(&low, below, 0, 0, n - 1, 1);
        tsri_see_slice(&high, below, 0, 1, n, 1);
        s = tsr_sub(out, &high, &low);
    }
    tsr_release(&below);
    return s;
}

/* Sums of weights at each of `length` places that index names, in order. */
static tsr_status add_there(tsr_tensor **out, const char *op, const tsr_tensor *index,
                            const tsr_tensor *weights, int64_t length)
{
    tsr_tensor places = *index, flat = *weights, *zeros = NULL;
    const int64_t n = tsr_numel(index);
    TSRI_TRY(tsri_desc_packed(&places.desc, op, TSR_I64, 1, &n));
    TSRI_TRY(tsri_desc_packed(&flat.desc, op, TSR_F64, 1, &n));
    TSRI_TRY(tsri_make_packed_beside(&zeros, op, TSR_F64, 1, &length, index));
    tsr_status s = tsr_zero(zeros);
    if (s == TSR_OK) s = tsr_scatter(out, zeros, &places, &flat, 0, TSR_SCATTER_ADD);
    tsr_release(&zeros);
    return s;
}

/* bincount ------------------------------------------------------------------------------------- */

typedef struct numbers {
    const int64_t *x;
    int64_t        length;
} numbers;

static void count_numbers(int64_t *table, const void *how, int64_t from, int64_t to)
{
    const numbers *v = how;
    int64_t sides[SIDE_TABLES * SIDE_LENGTH], i = from;
    if (v->length <= SIDE_LENGTH && to - from >= 4 * v->length) {
        memset(sides, 0, sizeof *sides * SIDE_TABLES * (size_t)v->length);
        for (; i + SIDE_TABLES <= to; i += SIDE_TABLES)
            for (int s = 0; s < SIDE_TABLES; s++) sides[s * v->length + v->x[i + s]]++;
        add_tables(table, sides, v->length, SIDE_TABLES);
    }
    for (; i < to; i++) table[v->x[i]]++;
}

/* How long the table must be. Read as unsigned, negative numbers are the largest. */
static tsr_status table_length(int64_t *out, const tsr_tensor *x, int64_t minlength)
{
    tsr_tensor *most = NULL, plain = *x;
    tsr_scalar last;
    *out = minlength;
    if (tsr_numel(x) == 0) return TSR_OK;
    plain.dtype = TSR_U64;
    TSRI_TRY(tsr_max(&most, &plain, 0, NULL, false));
    const tsr_status s = tsr_item(&last, most);
    tsr_release(&most);
    TSRI_TRY(s);
    TSRI_CHECK(last.as.u < INT64_MAX, TSR_EINVAL,
               "bincount: x is %s, and has an element that is negative or above 2^63", TSRI_DESC(&x->desc));
    if ((int64_t)last.as.u >= minlength) *out = (int64_t)last.as.u + 1;
    return TSR_OK;
}

static tsr_status add_weights(tsr_tensor **out, const numbers *v, const double *weights, int64_t n)
{
    TSRI_TRY(tsri_make_packed(out, "bincount", TSR_F64, 1, &v->length));
    double *sum = (*out)->data;
    memset(sum, 0, sizeof *sum * (size_t)v->length);
    for (int64_t i = 0; i < n; i++) sum[v->x[i]] += weights[i];
    return TSR_OK;
}

static tsr_status bincount_there(tsr_tensor **made, const tsr_tensor *x, const tsr_tensor *weights,
                                 int64_t length)
{
    tsr_tensor *limits = NULL;
    const int64_t n = length + 1;
    if (weights) return add_there(made, "bincount", x, weights, length);
    TSRI_TRY(tsri_make_packed(&limits, "bincount", TSR_I64, 1, &n));
    for (int64_t i = 0; i < n; i++) ((int64_t *)limits->data)[i] = i;
    const tsr_status s = count_between(made, "bincount", x, limits, false);
    tsr_release(&limits);
    return s;
}

/* x is packed i64, weights packed f64 or NULL. */
static tsr_status bincount(tsr_tensor **made, const tsr_tensor *x, const tsr_tensor *weights,
                           int64_t minlength)
{
    numbers v = { .x = x->data };
    TSRI_TRY(table_length(&v.length, x, minlength));
    if (x->device != TSR_CPU) return bincount_there(made, x, weights, v.length);
    if (weights) return add_weights(made, &v, weights->data, tsr_numel(x));
    return count_all(made, "bincount", tsr_numel(x), v.length, count_numbers, &v);
}

tsr_status tsr_bincount(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *weights, int64_t minlength)
{
    tsr_tensor *temporary[2] = { NULL, NULL }, *made = NULL;
    const tsr_tensor *seen = x;
    TSRI_CHECK(out, TSR_ENULL, "bincount: out is NULL");
    TSRI_TRY(tsri_check_kinds("bincount", "x", x, TSRI_INTEGER));
    TSRI_TRY(check_weights("bincount", weights, x));
    TSRI_CHECK(minlength >= 0, TSR_EINVAL, "bincount: minlength is %lld", (long long)minlength);
    tsr_status s = tsri_as_packed_beside(&seen, &temporary[0], "bincount", TSR_I64, x);
    if (s == TSR_OK && weights) s = tsri_as_packed_beside(&weights, &temporary[1], "bincount", TSR_F64, x);
    if (s == TSR_OK) s = bincount(&made, seen, weights, minlength);
    if (s == TSR_OK)
        s = tsri_deliver("bincount", 1, (tsr_tensor **const[]){ out },
                         (const tsr_tensor *const[]){ made }, x);
    tsr_release_all(&temporary[0], &temporary[1], &made);
    return s;
}

/* Bins ------------------------------------------------------------------------------------------ */

typedef struct bin_list {
    const double  *edges;   /* n + 1 */
    int64_t        n;
    double         scale;   /* bins to a unit, if all have one width, or cells of the grid; else 0 */
    int64_t        cells;   /* of a grid over all bins; 0: there is none */
    const int32_t *grid;    /* the bin that each cell begins in, or one beside it */
} bin_list;

/* The last bin whose lower edge is not above v, by halving. */
static inline int64_t find_bin(const bin_list *b, double v)
{
    const double *edge = b->edges;
    for (int64_t left = b->n; left > 1;) {
        const int64_t half = left / 2;
        edge = v >= edge[half] ? edge + half : edge;
        left -= half;
    }
    return edge - b->edges;
}

/* The bin of v, or n if it is outside all bins. The quotient may be off by one: the edges decide. */
static inline int64_t bin_of(const bin_list *b, double v)
{
    if (!(v >= b->edges[0] && v <= b->edges[b->n])) return b->n;
    if (!(b->scale > 0)) return find_bin(b, v);
    int64_t i = (int64_t)((v - b->edges[0]) * b->scale);
    if (b->cells > 0) i = b->grid[i < b->cells ? i : b->cells - 1];
    i = i < b->n ? i : b->n - 1;
    while (v < b->edges[i]) i--;
    while (i + 1 < b->n && v >= b->edges[i + 1]) i++;
    return i;
}

/* A grid for bins of different widths, of fewer than GRID / 4: cells so small that few have an edge, and none
 * CROWD of them. Without one, bins are found by halving. */
static void make_grid(bin_list *b, int32_t *grid)
{
    const double first = b->edges[0], scale = GRID / (b->edges[b->n] - first);
    if (b->n < CROWD || b->n >= GRID / 4 || !__builtin_isfinite(scale)) return;
    for (int64_t cell = 0, i = 0; cell < GRID; cell++) {
        const int64_t before = i;
        while (i + 1 < b->n && (b->edges[i + 1] - first) * scale < (double)cell) i++;
        if (i - before >= CROWD) return;
        grid[cell] = (int32_t)i;
    }
    b->scale = scale;
    b->cells = GRID;
    b->grid = grid;
}

typedef struct binned {
    bin_list          bins;
    const tsr_tensor *x;   /* packed f32 or f64 */
} binned;

static inline double number_at(const void *x, int64_t i, bool is_f32)
{
    return is_f32 ? (double)((const float *)x)[i] : ((const double *)x)[i];
}

/* The last place of a table counts the elements that are in no bin. */
static inline void count_bins_of(int64_t *table, const binned *v, int64_t from, int64_t to, bool is_f32)
{
    const bin_list b = v->bins;
    const void *x = v->x->data;
    int64_t sides[SIDE_TABLES * SIDE_LENGTH], i = from;
    const int64_t length = b.n + 1;
    if (length <= SIDE_LENGTH && to - from >= 4 * length) {
        memset(sides, 0, sizeof *sides * SIDE_TABLES * (size_t)length);
        for (; i + SIDE_TABLES <= to; i += SIDE_TABLES)
            for (int s = 0; s < SIDE_TABLES; s++)
                sides[s * length + bin_of(&b, number_at(x, i + s, is_f32))]++;
        add_tables(table, sides, length, SIDE_TABLES);
    }
    for (; i < to; i++) table[bin_of(&b, number_at(x, i, is_f32))]++;
}

static void count_bins(int64_t *table, const void *how, int64_t from, int64_t to)
{
    const binned *v = how;
    if (v->x->dtype == TSR_F32) count_bins_of(table, v, from, to, true);
    else count_bins_of(table, v, from, to, false);
}

/* The sums of weights, in f64 and in order. */
static tsr_status add_bin_weights(tsr_tensor **out, const char *op, const binned *v, const double *weights)
{
    const int64_t length = v->bins.n + 1, n = tsr_numel(v->x);
    const bool is_f32 = v->x->dtype == TSR_F32;
    TSRI_TRY(tsri_make_packed(out, op, TSR_F64, 1, &length));
    double *sum = (*out)->data;
    memset(sum, 0, sizeof *sum * (size_t)length);
    for (int64_t i = 0; i < n; i++) sum[bin_of(&v->bins, number_at(v->x->data, i, is_f32))] += weights[i];
    return TSR_OK;
}

/* Densities: each count divided by the total and by the width of its bin. */
static void make_density(double *sum, const bin_list *b)
{
    double total = 0;
    for (int64_t i = 0; i < b->n; i++) total += sum[i];
    for (int64_t i = 0; i < b->n; i++) sum[i] = sum[i] / (b->edges[i + 1] - b->edges[i]) / total;
}

/* Histograms --------------------------------------------------------------------------------------- */

typedef struct histogram {
    const char       *op;
    const tsr_tensor *x, *weights;    /* as given, then packed */
    tsr_tensor       *temporary[2], *edges, *table, *counts;
    tsr_dtype         dtype;          /* of the counts */
    bool              density;
} histogram;

static tsr_status open_histogram(histogram *h)
{
    TSRI_TRY(tsri_check_kinds(h->op, "x", h->x, TSRI_REAL));
    TSRI_TRY(check_weights(h->op, h->weights, h->x));
    h->dtype = h->density ? TSR_F64 : h->weights ? h->weights->dtype : TSR_I64;
    const bool is_exact = tsr_dtype_kind(h->x->dtype) == TSR_FLOATING && h->x->dtype != TSR_F64;
    const tsr_tensor *x = h->x;
    TSRI_TRY(tsri_as_packed_beside(&h->x, &h->temporary[0], h->op, is_exact ? TSR_F32 : TSR_F64, x));
    if (h->weights) TSRI_TRY(tsri_as_packed_beside(&h->weights, &h->temporary[1], h->op, TSR_F64, x));
    return TSR_OK;
}

/* The next float above x, or below it. */
static float step_float(float x, bool up)
{
    union { float f; uint32_t bits; } u = { x };
    if (x == 0) u.bits = up ? 1 : 0x80000001u;
    else        u.bits += (x > 0) == up ? 1u : -1u;
    return u.f;
}

/* The edges in x's dtype, so that elements lie as they do among doubles: the least float that is not below a
 * lower edge, and the largest that is not above the last. */
static tsr_status make_limits(tsr_tensor **out, const histogram *h)
{
    const double *e = h->edges->data;
    const int64_t n = tsr_numel(h->edges);
    TSRI_TRY(tsri_make_packed(out, h->op, h->x->dtype, 1, &n));
    if (h->x->dtype == TSR_F64) return tsr_copy(*out, h->edges);
    float *f = (*out)->data;
    for (int64_t i = 0; i < n; i++) {
        const bool up = i + 1 < n;
        f[i] = (float)e[i];
        if (up ? (double)f[i] < e[i] : (double)f[i] > e[i]) f[i] = step_float(f[i], up);
    }
    return TSR_OK;
}

/* Each element's bin, and its weight, which is 0 where it lies in none. */
static tsr_status weigh_there(tsr_tensor **out, const histogram *h, const tsr_tensor *limits)
{
    tsr_tensor *there = NULL, *bin = NULL, *above = NULL, *below = NULL, *weights = NULL, inner, first, last;
    const int64_t n = tsr_numel(limits);
    TSRI_TRY(tsri_make_packed_beside(&there, h->op, limits->dtype, 1, &n, h->x));
    tsr_status s = tsr_copy(there, limits);
    tsri_see_slice(&inner, there, 0, 1, n - 1, 1);
    tsri_see_slice(&first, there, 0, 0, 1, 1);
    tsri_see_slice(&last, there, 0, n - 1, n, 1);
    first.ndim = last.ndim = 0;
    if (s == TSR_OK) s = tsr_searchsorted(&bin, &inner, h->x, true);
    if (s == TSR_OK) s = tsr_ge(&above, h->x, &first);
    if (s == TSR_OK) s = tsr_le(&below, h->x, &last);
    if (s == TSR_OK) s = tsr_logical_and(&above, above, below);
    if (s == TSR_OK) s = tsr_where(&weights, above, h->weights, TSR_NUMBER(0));
    if (s == TSR_OK) s = add_there(out, h->op, bin, weights, n - 1);
    tsr_release_all(&there, &bin, &above, &below, &weights);
    return s;
}

/* h->table, on the device of x. */
static tsr_status fill_bins_there(histogram *h)
{
    tsr_tensor *limits = NULL;
    tsr_status s = make_limits(&limits, h);
    if (s == TSR_OK)
        s = h->weights ? weigh_there(&h->table, h, limits)
                       : count_between(&h->table, h->op, h->x, limits, true);
    tsr_release(&limits);
    return s;
}

/* Fills in counts from x, weights and the bins. */
static tsr_status fill_bins(histogram *h, double scale)
{
    binned v = { { h->edges->data, tsr_numel(h->edges) - 1, scale, 0, NULL }, h->x };
    int32_t grid[GRID];
    tsr_tensor sums;
    if (!(scale > 0) && tsr_numel(h->x) > GRID) make_grid(&v.bins, grid);
    if (h->x->device != TSR_CPU) TSRI_TRY(fill_bins_there(h));
    else if (h->weights) TSRI_TRY(add_bin_weights(&h->table, h->op, &v, h->weights->data));
    else TSRI_TRY(count_all(&h->table, h->op, tsr_numel(h->x), v.bins.n + 1, count_bins, &v));
    tsri_see_slice(&sums, h->table, 0, 0, v.bins.n, 1);
    TSRI_TRY(tsri_make_packed(&h->counts, h->op, h->dtype, 1, &v.bins.n));
    TSRI_TRY(tsr_copy(h->counts, &sums));
    if (h->density) make_density(h->counts->data, &v.bins);
    return TSR_OK;
}

static tsr_status end_histogram(histogram *h, tsr_status s)
{
    tsr_release_all(&h->temporary[0], &h->temporary[1], &h->edges, &h->table, &h->counts);
    return s;
}

/* Least or most of x, which has elements. */
static tsr_status extreme(double *out, const tsr_tensor *x, bool most)
{
    tsr_tensor *found = NULL;
    tsr_status s = most ? tsr_max(&found, x, 0, NULL, false) : tsr_min(&found, x, 0, NULL, false);
    if (s == TSR_OK) s = tsr_item_f64(out, found);
    tsr_release(&found);
    return s;
}

static tsr_status find_range(const histogram *h, double *low, double *high)
{
    if (*low == 0 && *high == 0) {
        *high = 1;
        if (tsr_numel(h->x) > 0) {
            TSRI_TRY(extreme(low, h->x, false));
            TSRI_TRY(extreme(high, h->x, true));
            TSRI_CHECK(__builtin_isfinite(*low) && __builtin_isfinite(*high), TSR_EINVAL,
                       "histogram: x is from %g to %g, which is not finite; give low and high", *low, *high);
        }
    }
    if (*low < *high) return TSR_OK;
    *low -= 0.5;
    *high += 0.5;
    return TSR_OK;
}

/* Of a width that overflows, halves are computed, and then doubled. */
static tsr_status make_edges(histogram *h, int64_t n, double low, double high)
{
    const int64_t count = n + 1;
    const double by = __builtin_isinf(high - low) ? 2 : 1, step = (high / by - low / by) / (double)n;
    TSRI_TRY(tsri_make_packed(&h->edges, h->op, TSR_F64, 1, &count));
    double *edge = h->edges->data;
    for (int64_t i = 0; i < n; i++) {
        const double here = (low / by + (double)i * step) * by;
        edge[i] = here < high ? here : high;
    }
    edge[n] = high;
    return TSR_OK;
}

static tsr_status histogram_of_width(histogram *h, tsr_tensor **counts, tsr_tensor **edges, int64_t n,
                                     double low, double high)
{
    const tsr_tensor *x = h->x;
    TSRI_TRY(open_histogram(h));
    TSRI_TRY(find_range(h, &low, &high));
    TSRI_TRY(make_edges(h, n, low, high));
    const double scale = (double)n / (high - low);
    TSRI_TRY(fill_bins(h, __builtin_isfinite(scale) ? scale : 0));
    return tsri_deliver(h->op, 2, (tsr_tensor **const[]){ counts, edges },
                        (const tsr_tensor *const[]){ h->counts, h->edges }, x);
}

tsr_status tsr_histogram(tsr_tensor **counts, tsr_tensor **edges, const tsr_tensor *x, int64_t bins,
                         double low, double high, const tsr_tensor *weights, bool density)
{
    histogram h = { .op = "histogram", .x = x, .weights = weights, .density = density };
    TSRI_CHECK(counts, TSR_ENULL, "histogram: counts is NULL");
    TSRI_CHECK(edges, TSR_ENULL, "histogram: edges is NULL");
    TSRI_CHECK(counts != edges, TSR_EINVAL, "histogram: counts and edges are the same handle");
    TSRI_CHECK(bins > 0 && bins < INT64_MAX, TSR_EINVAL, "histogram: bins is %lld", (long long)bins);
    TSRI_CHECK(__builtin_isfinite(low) && __builtin_isfinite(high) && low <= high, TSR_EINVAL,
               "histogram: the range is %g to %g", low, high);
    return end_histogram(&h, histogram_of_width(&h, counts, edges, bins, low, high));
}

static tsr_status check_edges(const tsr_tensor *edges)
{
    const double *e = edges->data;
    const int64_t n = tsr_numel(edges);
    for (int64_t i = 0; i + 1 < n; i++)
        TSRI_CHECK(e[i] <= e[i + 1], TSR_EINVAL, "histogram_with: edges[%lld] is %g, and the next is %g",
                   (long long)i, e[i], e[i + 1]);
    return TSR_OK;
}

static tsr_status histogram_by_edges(histogram *h, tsr_tensor **counts, const tsr_tensor *edges)
{
    const tsr_tensor *x = h->x;
    TSRI_TRY(open_histogram(h));
    TSRI_TRY(tsri_make_packed(&h->edges, h->op, TSR_F64, 1, edges->shape));
    TSRI_TRY(tsr_copy(h->edges, edges));
    TSRI_TRY(check_edges(h->edges));
    TSRI_TRY(fill_bins(h, 0));
    return tsri_deliver(h->op, 1, (tsr_tensor **const[]){ counts }, (const tsr_tensor *const[]){ h->counts },
                        x);
}

tsr_status tsr_histogram_with(tsr_tensor **counts, const tsr_tensor *x, const tsr_tensor *edges,
                              const tsr_tensor *weights, bool density)
{
    histogram h = { .op = "histogram_with", .x = x, .weights = weights, .density = density };
    TSRI_CHECK(counts, TSR_ENULL, "histogram_with: counts is NULL");
    TSRI_TRY(tsri_check_kinds("histogram_with", "edges", edges, TSRI_REAL));
    TSRI_CHECK(edges->ndim == 1 && edges->shape[0] > 1, TSR_ESHAPE,
               "histogram_with: edges is %s, and must be a vector of 2 or more", TSRI_DESC(&edges->desc));
    return end_histogram(&h, histogram_by_edges(&h, counts, edges));
}
