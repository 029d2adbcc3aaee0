/* sample.c - random order, and indices drawn by weight. */
#include "backend/device_run.h"
#include "sample.h"
#include "tessera/element.h"
#include "tessera/move.h"
#include "tessera/ops/elementwise.h"
#include "tessera/ops/index.h"
#include "tessera/ops/order.h"
#include "tessera/ops/reduce.h"
#include "tessera/random.h"
#include "tessera/scope.h"
#include "tessera/view.h"

/* Order -------------------------------------------------------------------------------- */

/* z = 0 .. n - 1 in the order of random keys. */
static tsr_status fill_permutation(tsr_tensor *z, uint64_t seed)
{
    tsr_tensor *keys = NULL;
    tsr_status s;
    TSRI_WORK_ON(z->device, s, tsr_integers(&keys, TSR_I64, 1, z->shape, INT64_MIN, INT64_MAX, seed));
    if (s == TSR_OK) s = tsr_argsort(&z, keys, 0, false);
    tsr_release(&keys);
    return s;
}

tsr_status tsr_permutation(tsr_tensor **out, int64_t n, uint64_t seed)
{
    tsr_desc d;
    tsri_origin origin = TSRI_ORIGIN_GIVEN;
    TSRI_CHECK(out, TSR_ENULL, "permutation: out is NULL");
    TSRI_CHECK(n >= 0, TSR_EINVAL, "permutation: n is %lld, below 0", (long long)n);
    TSRI_TRY(tsri_desc_packed(&d, "permutation", TSR_I64, 1, &n));
    TSRI_TRY(tsri_result(out, &origin, "permutation", &d, NULL));
    return tsri_result_end(out, origin, fill_permutation(*out, seed));
}

/* The parameters of shuffle. */
typedef struct shuffling {
    int      axis;
    uint64_t seed;
} shuffling;

static tsr_status infer_shuffle(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                                const void *params)
{
    int axis;
    TSRI_TRY(tsri_axis(&axis, name, "axis", ((const shuffling *)params)->axis, in[0]));
    return tsri_infer_packed(out, name, kind, in, params);
}

static tsr_status run_shuffle(const tsr_op *op)
{
    const shuffling *p = op->params;
    const tsr_tensor *x = op->in[0];
    tsr_tensor *z = op->out[0], *order = NULL;
    tsr_status s = tsr_permutation(&order, x->shape[p->axis < 0 ? p->axis + x->ndim : p->axis], p->seed);
    if (s == TSR_OK) s = tsr_take(&z, x, order, p->axis);
    tsr_release(&order);
    return s;
}

tsr_status tsr_shuffle(tsr_tensor **out, const tsr_tensor *x, int axis, uint64_t seed)
{
    static tsri_composed call = { .row = "shuffle",
                                  .traits = { .infer = infer_shuffle, .parts = run_shuffle } };
    return tsri_dispatch_composed(out, &call, &(shuffling){ axis, seed }, x);
}

/* Checks of rows -------------------------------------------------------- */

/* Where a bool tensor is first true, in row-major order; -1 if nowhere. */
static tsr_status first_true(int64_t *out, const tsr_tensor *is)
{
    tsr_tensor *any = NULL, *at = NULL;
    int64_t found = 0, place = 0;
    *out = -1;
    if (tsr_numel(is) == 0) return TSR_OK;
    tsr_status s = tsr_any(&any, is, 0, NULL, false);
    if (s == TSR_OK) s = tsr_to_host(&any, any);
    if (s == TSR_OK) s = tsr_item_i64(&found, any);
    if (s == TSR_OK && found) s = tsr_argmax(&at, is, TSR_ALL_AXES, false);
    if (s == TSR_OK && found) s = tsr_to_host(&at, at);
    if (s == TSR_OK && found) s = tsr_item_i64(&place, at);
    if (s == TSR_OK && found) *out = place;
    tsr_release_all(&at, &any);
    return s;
}

/* Fails if `is`, a bool for each row, is true anywhere; the message names the row and ends with `words`.
 * Releases `is`. */
static tsr_status refuse(tsr_tensor **is, tsr_status s, const char *op, const char *what, const char *words)
{
    int64_t at = -1, index[TSR_MAX_NDIM];
    if (s == TSR_OK) s = first_true(&at, *is);
    if (s == TSR_OK && at >= 0) {
        for (int i = (*is)->ndim - 1; i >= 0; i--) {
            index[i] = at % (*is)->shape[i];
            at /= (*is)->shape[i];
        }
        s = tsri_fail(TSR_EINVAL, "%s: row %s of %s %s", op, TSRI_DIMS((*is)->ndim, index), what, words);
    }
    tsr_release(is);
    return s;
}

/* x is (..., n), with something in each row. */
static tsr_status check_rows(const char *op, const char *what, const tsr_desc *x)
{
    TSRI_CHECK(x->ndim > 0, TSR_ESHAPE, "%s: %s is %s, and must have a dim to choose along", op, what,
               TSRI_DESC(x));
    TSRI_CHECK(x->shape[x->ndim - 1] > 0, TSR_ESHAPE, "%s: %s is %s, which has nothing to choose from", op,
               what, TSRI_DESC(x));
    return TSR_OK;
}

/* Weights -------------------------------------------------------------------------------- */

static tsr_status check_low_weights(const tsr_tensor *low)
{
    tsr_tensor *is = NULL;
    const tsr_status s = tsr_lt(&is, low, TSR_NUMBER(0));
    return refuse(&is, s, "multinomial", "weights", "has a negative weight");
}

/* A NaN anywhere in a row makes the row's largest NaN. */
static tsr_status check_high_weights(const tsr_tensor *high)
{
    tsr_tensor *is = NULL;
    tsr_status s = tsr_isfinite(&is, high);
    if (s == TSR_OK) s = tsr_logical_not(&is, is);
    TSRI_TRY(refuse(&is, s, "multinomial", "weights", "has a weight that is infinite or NaN"));
    s = tsr_eq(&is, high, TSR_NUMBER(0));
    return refuse(&is, s, "multinomial", "weights", "has no weight above 0");
}

/* Without replacement each sample takes a weight away. */
static tsr_status check_enough(const tsr_tensor *weights, int64_t samples)
{
    tsr_tensor *count = NULL, *is = NULL;
    tsr_status s = tsr_count_nonzero(&count, weights, TSR_AXES(-1), false);
    if (s == TSR_OK) s = tsr_lt(&is, count, TSR_NUMBER(samples));
    tsr_release(&count);
    return refuse(&is, s, "multinomial", "weights", "has fewer weights above 0 than samples are asked for");
}

/* *out = the weights in f64, divided by the largest of each row, so that sums do not overflow. */
static tsr_status read_weights(tsr_tensor **out, const tsr_tensor *weights)
{
    tsr_tensor *low = NULL, *high = NULL;
    tsr_status s = tsr_cast(out, weights, TSR_F64);
    if (s == TSR_OK) s = tsr_min(&low, *out, TSR_AXES(-1), false);
    if (s == TSR_OK) s = tsr_max(&high, *out, TSR_AXES(-1), false);
    if (s == TSR_OK) s = check_high_weights(high);
    if (s == TSR_OK) s = check_low_weights(low);
    if (s == TSR_OK) s = tsr_unsqueeze(&high, high, -1);
    if (s == TSR_OK) s = tsr_div(out, *out, high);
    tsr_release_all(&high, &low);
    return s;
}

/* *out = numbers in [0, sum of the row), `sums` being the sums so far. */
static tsr_status draw_targets(tsr_tensor **out, const tsr_tensor *sums, int ndim, const int64_t *shape,
                               uint64_t seed)
{
    tsr_tensor *total = NULL;
    tsr_status s;
    TSRI_WORK_ON(sums->device, s, tsr_uniform(out, TSR_F64, ndim, shape, 0, 1, seed));
    if (s == TSR_OK) s = tsr_slice(&total, sums, -1, -1, TSR_NONE, 1);
    if (s == TSR_OK) s = tsr_mul(out, *out, total);
    tsr_release(&total);
    return s;
}

/* For each target, how many of its row's cumulative sums are not above it. All are (rows, ...). */
static tsr_status search_rows(tsr_tensor *out, const tsr_tensor *sums, const tsr_tensor *targets)
{
    tsr_tensor places[3], *row[3];
    const tsr_tensor *const whole[3] = { out, sums, targets };
    tsr_status s = TSR_OK;
    for (int64_t i = 0; i < out->shape[0] && s == TSR_OK; i++) {
        for (int k = 0; k < 3; k++) row[k] = tsr_place_none(&places[k]);
        for (int k = 0; k < 3 && s == TSR_OK; k++) s = tsr_select(&row[k], whole[k], 0, i);
        if (s == TSR_OK) s = tsr_searchsorted(&row[0], row[1], row[2], true);
        for (int k = 3; k-- > 0;) tsr_release(&row[k]);
    }
    return s;
}

/* A packed tensor as rows of its last dim. */
static tsr_status as_rows(tsr_tensor **t)
{
    const int64_t last = (*t)->shape[(*t)->ndim - 1];
    return tsr_view(t, *t, 2, (const int64_t[]){ tsr_numel(*t) / last, last });
}

static tsr_status draw_with_replacement(tsr_tensor *z, const tsr_tensor *weights, uint64_t seed)
{
    tsr_tensor *sums = NULL, *targets = NULL, *indices = NULL, *rows = NULL;
    tsr_status s = tsr_cumsum(&sums, weights, -1);
    if (s == TSR_OK) s = draw_targets(&targets, sums, z->ndim, z->shape, seed);
    if (s == TSR_OK) TSRI_WORK_ON(weights->device, s, tsr_empty(&indices, TSR_I64, z->ndim, z->shape));
    if (s == TSR_OK) s = tsr_contiguous(&rows, indices);
    if (s == TSR_OK) s = as_rows(&rows);
    if (s == TSR_OK) s = tsr_contiguous(&sums, sums);
    if (s == TSR_OK) s = as_rows(&sums);
    if (s == TSR_OK) s = as_rows(&targets);
    if (s == TSR_OK) s = search_rows(rows, sums, targets);
    if (s == TSR_OK) s = tsr_copy(z, indices);
    tsr_release_all(&rows, &indices, &targets, &sums);
    return s;
}

/* Each index gets a random time, exponential at the rate of its weight; the earliest ones are drawn. Times
 * are in a unit so large that they are finite for every weight but 0. */
static tsr_status draw_without_replacement(tsr_tensor *z, const tsr_tensor *weights, int64_t samples,
                                           uint64_t seed)
{
    tsr_tensor *times = NULL, *first = NULL, *indices = NULL;
    tsr_status s = check_enough(weights, samples);
    if (s == TSR_OK)
        TSRI_WORK_ON(weights->device, s,
                     tsr_exponential(&times, TSR_F64, weights->ndim, weights->shape, 0x1p700, seed));
    if (s == TSR_OK) s = tsr_div(&times, times, weights);
    if (s == TSR_OK) s = tsr_topk(&first, &indices, times, samples, -1, false, true);
    if (s == TSR_OK) s = tsr_copy(z, indices);
    tsr_release_all(&indices, &first, &times);
    return s;
}

typedef struct drawing {
    int64_t  samples;
    bool     replacement;
    uint64_t seed;
} drawing;

static tsr_status infer_multinomial(tsr_desc *out, const char *name, tsr_op_kind kind,
                                    const tsr_desc *const *in, const void *params)
{
    const drawing *p = params;
    const int last = in[0]->ndim - 1;
    int64_t shape[TSR_MAX_NDIM];
    (void)kind;
    TSRI_TRY(check_rows(name, "weights", in[0]));
    TSRI_CHECK(p->replacement || p->samples <= in[0]->shape[last], TSR_EINVAL,
               "%s: %lld samples without replacement of %s", name, (long long)p->samples, TSRI_DESC(in[0]));
    for (int i = 0; i < last; i++) shape[i] = in[0]->shape[i];
    shape[last] = p->samples;
    return tsri_desc_packed(out, name, TSR_I64, last + 1, shape);
}

static tsr_status run_multinomial(const tsr_op *op)
{
    const drawing *p = op->params;
    tsr_tensor *w = NULL, *z = op->out[0];
    tsr_status s = read_weights(&w, op->in[0]);
    if (s == TSR_OK && tsr_numel(z) > 0)
        s = p->replacement ? draw_with_replacement(z, w, p->seed)
                           : draw_without_replacement(z, w, p->samples, p->seed);
    tsr_release(&w);
    return s;
}

tsr_status tsr_multinomial(tsr_tensor **out, const tsr_tensor *weights, int64_t samples, bool replacement,
                           uint64_t seed)
{
    static tsri_composed call = { .row = "multinomial",
                                  .signature = "weights{ floating | (...) } -> out{ i64 | (...) }",
                                  .traits = { .infer = infer_multinomial, .parts = run_multinomial } };
    TSRI_CHECK(samples >= 0, TSR_EINVAL, "multinomial: samples is %lld, below 0", (long long)samples);
    return tsri_dispatch_composed(out, &call, &(drawing){ samples, replacement, seed }, weights);
}

/* Logits --------------------------------------------------------------------------------- */

double tsri_work_sample(const tsr_desc *const *in, const tsr_desc *out, const void *params)
{
    (void)out; (void)params;
    return (double)tsr_desc_numel(in[0]);
}

/* The best k of each row, best first, and where they were. */
static tsr_status sort_rows(tsr_tensor **values, tsr_tensor **indices, const tsr_tensor *logits, int64_t k)
{
    if (k == logits->shape[logits->ndim - 1]) return tsr_sort_with_indices(values, indices, logits, -1, true);
    return tsr_topk(values, indices, logits, k, -1, true, true);
}

/* *out = the sums so far of exp((values - best) / temperature). */
static tsr_status sum_weights(tsr_tensor **out, const tsr_tensor *values, double temperature)
{
    tsr_tensor *w = NULL, *best = NULL;
    tsr_status s = tsr_cast(&w, values, TSR_F64);
    if (s == TSR_OK) s = tsr_slice(&best, w, -1, 0, 1, 1);
    if (s == TSR_OK) s = tsr_sub(&w, w, best);
    if (s == TSR_OK) s = tsr_div(&w, w, TSR_NUMBER(temperature));
    if (s == TSR_OK) s = tsr_exp(&w, w);
    if (s == TSR_OK) s = tsr_cumsum(out, w, -1);
    tsr_release_all(&best, &w);
    return s;
}

/* *out = the number of the first sum in each row that reaches the row's limit, (..., 1). */
static tsr_status first_to_reach(tsr_tensor **out, const tsr_tensor *sums, const tsr_tensor *limit)
{
    tsr_tensor *is = NULL;
    tsr_status s = tsr_lt(&is, sums, limit);
    if (s == TSR_OK) s = tsr_count_nonzero(out, is, TSR_AXES(-1), true);
    tsr_release(&is);
    return s;
}

/* *out = the sum of what top_p keeps, (..., 1). */
static tsr_status kept_sum(tsr_tensor **out, const tsr_tensor *sums, double top_p)
{
    tsr_tensor *total = NULL, *limit = NULL, *last = NULL;
    tsr_status s = tsr_slice(&total, sums, -1, -1, TSR_NONE, 1);
    if (s == TSR_OK) s = tsr_mul(&limit, total, TSR_NUMBER(top_p));
    if (s == TSR_OK) s = first_to_reach(&last, sums, limit);
    if (s == TSR_OK) s = tsr_gather(out, sums, last, -1);
    tsr_release_all(&last, &limit, &total);
    return s;
}

/* z = the indices of the first sums that reach `random` of what is kept. */
static tsr_status choose(tsr_tensor *z, const tsr_tensor *sums, const tsr_tensor *indices,
                         const tsr_tensor *random, double top_p)
{
    tsr_tensor *kept = NULL, *r = NULL, *place = NULL, *index = NULL;
    tsr_status s = kept_sum(&kept, sums, top_p);
    if (s == TSR_OK) s = tsr_unsqueeze(&r, random, -1);
    if (s == TSR_OK) s = tsr_mul(&kept, kept, r);
    if (s == TSR_OK) s = first_to_reach(&place, sums, kept);
    if (s == TSR_OK) s = tsr_gather(&index, indices, place, -1);
    if (s == TSR_OK) s = tsr_squeeze(&index, index, -1);
    if (s == TSR_OK) s = tsr_copy(z, index);
    tsr_release_all(&index, &place, &r, &kept);
    return s;
}

tsr_status tsri_parts_sample(const tsr_op *op)
{
    const tsr_sample_params *p = op->params;
    const tsr_tensor *logits = op->in[0];
    const int64_t n = logits->shape[logits->ndim - 1], k = p->top_k == 0 || p->top_k > n ? n : p->top_k;
    tsr_tensor *z = op->out[0], *values = NULL, *indices = NULL, *sums = NULL;
    if (tsr_numel(z) == 0) return TSR_OK;
    if (p->temperature == 0) return tsr_argmax(&z, logits, -1, false);
    tsr_status s = sort_rows(&values, &indices, logits, k);
    if (s == TSR_OK) s = sum_weights(&sums, values, p->temperature);
    if (s == TSR_OK) s = choose(z, sums, indices, op->in[1], p->top_p);
    tsr_release_all(&sums, &indices, &values);
    return s;
}

/* The largest of each row says what is wrong with it. */
static tsr_status check_logits(const char *op, const tsr_tensor *logits)
{
    tsr_tensor *high = NULL, *is = NULL;
    tsr_status s = tsr_max(&high, logits, TSR_AXES(-1), false);
    if (s == TSR_OK) s = refuse(&is, tsr_isnan(&is, high), op, "logits", "has a NaN");
    if (s == TSR_OK)
        s = refuse(&is, tsr_eq(&is, high, TSR_NUMBER(__builtin_inf())), op, "logits", "has an infinity");
    if (s == TSR_OK)
        s = refuse(&is, tsr_eq(&is, high, TSR_NUMBER(-__builtin_inf())), op, "logits",
                   "is all -infinity: there is nothing to choose");
    tsr_release(&high);
    return s;
}

static tsr_status check_sample(const char *op, const tsr_tensor *logits, const tsr_sample_params *p)
{
    TSRI_TRY(tsri_check_kinds(op, "logits", logits, TSRI_FLOATING));
    TSRI_TRY(check_rows(op, "logits", &logits->desc));
    TSRI_CHECK(p->temperature >= 0 && p->temperature - p->temperature == 0, TSR_EINVAL,
               "%s: temperature is %g, and must be finite and not negative", op, p->temperature);
    TSRI_CHECK(p->top_k >= 0, TSR_EINVAL, "%s: top_k is %lld, below 0", op, (long long)p->top_k);
    TSRI_CHECK(p->top_p >= 0 && p->top_p <= 1, TSR_EINVAL, "%s: top_p is %g, and must be in [0, 1]", op,
               p->top_p);
    return check_logits(op, logits);
}

static tsr_status sample(tsr_tensor **out, const char *op, const tsr_tensor *logits, const tsr_tensor *random,
                         const tsr_sample_params *p)
{
    return tsri_dispatch(&(tsri_call){ .kind = TSR_OP_SAMPLE, .params = p, .nin = 2, .in = { logits, random },
                                   .nout = 1, .out = { out }, .name = op });
}

tsr_status tsr_sample(tsr_tensor **out, const tsr_tensor *logits, double temperature, int64_t top_k,
                      double top_p, uint64_t seed)
{
    const tsr_sample_params p = { temperature, top_p, top_k };
    tsr_tensor *random = NULL;
    TSRI_TRY(check_sample("sample", logits, &p));
    tsr_status s = tsr_uniform(&random, TSR_F64, logits->ndim - 1, logits->shape, 0, 1, seed);
    if (s == TSR_OK) s = tsr_to_memory(&random, random, logits->device, tsri_memory_beside(logits));
    if (s == TSR_OK) s = sample(out, "sample", logits, random, &p);
    tsr_release(&random);
    return s;
}

tsr_status tsr_sample_with(tsr_tensor **out, const tsr_tensor *logits, double temperature, int64_t top_k,
                           double top_p, double random)
{
    const tsr_sample_params p = { temperature, top_p, top_k };
    tsr_tensor *value = NULL;
    TSRI_TRY(check_sample("sample_with", logits, &p));
    TSRI_CHECK(random >= 0 && random < 1, TSR_EINVAL, "sample_with: random is %g, and must be in [0, 1)",
               random);
    tsr_status s = tsr_full(&value, TSR_F64, TSR_SCALAR_SHAPE, TSR_SCALAR(random));
    if (s == TSR_OK) s = tsr_to_memory(&value, value, logits->device, tsri_memory_beside(logits));
    if (s == TSR_OK) s = tsr_expand(&value, value, logits->ndim - 1, logits->shape);
    if (s == TSR_OK) s = sample(out, "sample_with", logits, value, &p);
    tsr_release(&value);
    return s;
}
