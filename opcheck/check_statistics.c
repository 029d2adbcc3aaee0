/* check_statistics.c - counts, quantiles and covariances, from their definitions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trial.h"

enum { X, SIZES, WEIGHTS, RESULT, EDGES, MORE, RANK = TRIAL_RANK };

static bool is_real(tsr_dtype dtype) { return is_float(dtype) || is_integer(dtype); }
static bool is_ordered(tsr_dtype dtype) { return !is_complex(dtype); }
static bool is_number(tsr_dtype dtype) { return dtype != TSR_BOOL && dtype != TSR_C32; }

/* Weights of x's shape, half of the time; returns whether there are any. */
static bool make_weights(trial *t, int ndim, const int64_t *shape)
{
    static const tsr_dtype dtypes[] = { TSR_F64, TSR_F32, TSR_I32, TSR_I64 };
    if (once_in(t, 2)) return false;
    make_input(t, WEIGHTS, dtypes[random_below(t, 4)], ndim, shape, FILL_SMALL);
    return true;
}

static double weight_at(const trial *t, int64_t k)
{
    return t->tensor[WEIGHTS] ? value_at(t->tensor[WEIGHTS], k).re : 1;
}

/* bincount ------------------------------------------------------------------------------------- */

static void check_counts(trial *t, const tsr_tensor *x, int64_t length)
{
    double *sum = trial_room(t, 2 * sizeof *sum * (size_t)(length + 1)), *size = sum + length;
    GO_ON(t);
    memset(sum, 0, 2 * sizeof *sum * (size_t)length);
    for (int64_t k = 0; k < tsr_numel(x); k++) {
        const uint64_t i = value_at(x, k).bits;
        sum[i] += weight_at(t, k);
        size[i] += fabs(weight_at(t, k));
    }
    for (int64_t i = 0; i < length; i++)
        check_near(t, RESULT, i, (value){ (uint64_t)(int64_t)sum[i], sum[i], 0 }, 1e-12 * size[i]);
}

static void check_bincount(trial *t)
{
    int64_t shape[RANK], length = random_between(t, 0, 12);
    if (t->how && t->how->plumbing) return; /* the size of the result follows from values */
    const int ndim = random_shape(t, shape, 0, RANK, true);
    const bool weighted = make_weights(t, ndim, shape);
    const int64_t minlength = length;
    make_input(t, X, t->check->dtype, ndim, shape, FILL_SMALL);
    GO_ON(t);
    if (is_signed(t->check->dtype)) NEED(t, tsr_abs(&t->tensor[SIZES], t->tensor[X]));
    const tsr_tensor *x = t->tensor[is_signed(t->check->dtype) ? SIZES : X];
    for (int64_t k = 0; k < tsr_numel(x); k++) {
        const int64_t own = (int64_t)value_at(x, k).bits;
        MUST(t, own >= 0 && own < 1 << 20, "the operand has %lld", (long long)own);
        if (own >= length) length = own + 1;
    }
    const tsr_dtype dtype = weighted ? TSR_F64 : TSR_I64;
    if (once_in(t, 2)) make_output(t, RESULT, dtype, 1, &length);
    GO_ON(t);
    NEED(t, tsr_bincount(&t->tensor[RESULT], x, t->tensor[WEIGHTS], minlength));
    check_shape(t, RESULT, dtype, 1, &length);
    check_counts(t, x, length);
}

/* Histograms ------------------------------------------------------------------------------------ */

/* Each bin against all elements, by the edges in slot EDGES. */
static void check_bins(trial *t, bool density)
{
    const tsr_tensor *x = t->tensor[X];
    const int64_t bins = tsr_numel(t->tensor[EDGES]) - 1, n = tsr_numel(x);
    double *edge = trial_room(t, sizeof *edge * 3 * (size_t)(bins + 1)), *sum = edge + bins + 1,
           *size = sum + bins + 1, total = 0;
    GO_ON(t);
    for (int64_t i = 0; i <= bins; i++) {
        edge[i] = value_at(t->tensor[EDGES], i).re;
        sum[i] = size[i] = 0;
    }
    for (int64_t k = 0; k < n; k++) {
        const double v = value_at(x, k).re, w = weight_at(t, k);
        for (int64_t i = 0; i < bins; i++)
            if (v >= edge[i] && (i + 1 == bins ? v <= edge[i + 1] : v < edge[i + 1])) {
                sum[i] += w;
                size[i] += fabs(w);
                total += w;
            }
    }
    for (int64_t i = 0; i < bins; i++) {
        const double width = edge[i + 1] - edge[i], v = density ? sum[i] / width / total : sum[i];
        const double by = density ? fabs(width * total) : 1, slack = 1e-12 * (size[i] / by + fabs(v));
        if (density && fabs(total) < 1e-3) continue;  /* weights that cancel */
        check_near(t, RESULT, i, (value){ (uint64_t)(int64_t)sum[i], v, 0 }, isfinite(slack) ? slack : 0);
    }
}

static tsr_dtype histogram_dtype(const trial *t, bool density)
{
    return density ? TSR_F64 : t->tensor[WEIGHTS] ? t->tensor[WEIGHTS]->dtype : TSR_I64;
}

static void check_histogram(trial *t)
{
    int64_t shape[RANK], bins = random_between(t, 1, 20), edges = bins + 1;
    const int ndim = random_shape(t, shape, 0, RANK, true);
    const bool own = once_in(t, 2), density = once_in(t, 3), given = once_in(t, 2);
    double low = own ? 0 : (double)random_between(t, -4, 1),
           high = own ? 0 : low + (double)random_below(t, 9);
    make_input(t, X, t->check->dtype, ndim, shape, low == 0 && high == 0 ? FILL_SMALL : FILL_SPECIAL);
    (void)make_weights(t, ndim, shape);
    GO_ON(t);
    if (given) make_output(t, RESULT, histogram_dtype(t, density), 1, &bins);
    if (given) make_output(t, EDGES, TSR_F64, 1, &edges);
    GO_ON(t);
    NEED(t, tsr_histogram(&t->tensor[RESULT], &t->tensor[EDGES], t->tensor[X], bins, low, high,
                          t->tensor[WEIGHTS], density));
    check_shape(t, RESULT, histogram_dtype(t, density), 1, &bins);
    check_shape(t, EDGES, TSR_F64, 1, &edges);
    GO_ON(t);
    if (low == 0 && high == 0) {
        const int64_t n = tsr_numel(t->tensor[X]);
        low = n ? INFINITY : 0;
        high = n ? -INFINITY : 1;
        for (int64_t k = 0; k < n; k++) {
            low = fmin(low, value_at(t->tensor[X], k).re);
            high = fmax(high, value_at(t->tensor[X], k).re);
        }
    }
    if (low == high) {
        low -= 0.5;
        high += 0.5;
    }
    for (int64_t i = 0; i <= bins; i++) {
        const double want = low + (high - low) * ((double)i / (double)bins);
        check_near(t, EDGES, i, real_value(want), i == 0 || i == bins ? 0 : 1e-14 * (fabs(low) + fabs(high)));
    }
    check_bins(t, density);
}

static void check_histogram_with(trial *t)
{
    int64_t shape[RANK], edges = random_between(t, 2, 12), bins = edges - 1;
    const int ndim = random_shape(t, shape, 0, RANK, true);
    const bool density = once_in(t, 3);
    make_input(t, X, t->check->dtype, ndim, shape, FILL_SPECIAL);
    make_input(t, MORE, once_in(t, 2) ? TSR_F32 : TSR_I16, 1, &edges, FILL_SMALL);
    (void)make_weights(t, ndim, shape);
    GO_ON(t);
    NEED(t, tsr_sort(&t->tensor[EDGES], t->tensor[MORE], 0, false));
    if (once_in(t, 2)) make_output(t, RESULT, histogram_dtype(t, density), 1, &bins);
    GO_ON(t);
    NEED(t, tsr_histogram_with(&t->tensor[RESULT], t->tensor[X], t->tensor[EDGES], t->tensor[WEIGHTS],
                               density));
    check_shape(t, RESULT, histogram_dtype(t, density), 1, &bins);
    check_bins(t, density);
}

/* Quantiles ----------------------------------------------------------------------------------------- */

typedef struct quantile_rule { bool median, skips_nan; } quantile_rule;

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorted numbers that result `at` comes from; -1: one of them is NaN. */
static int64_t gather_lane(trial *t, double *lane, int64_t at, const int64_t *shape, int ndim, uint32_t axes,
                           bool skips_nan)
{
    int64_t kept[RANK], index[RANK], lanes[RANK], count = 1, n = 0;
    for (int d = 0; d < ndim; d++) {
        lanes[d] = axes >> d & 1 ? 1 : shape[d];
        kept[d] = axes >> d & 1 ? shape[d] : 1;
        count *= kept[d];
    }
    int64_t first[RANK];
    index_of(first, at, ndim, lanes);
    for (int64_t k = 0; k < count; k++) {
        index_of(index, k, ndim, kept);
        for (int d = 0; d < ndim; d++) index[d] += first[d];
        lane[n] = value_at(t->tensor[X], place_of(index, ndim, shape)).re;
        if (!isnan(lane[n])) n++;
        else if (!skips_nan) return -1;
    }
    qsort(lane, (size_t)n, sizeof *lane, compare_numbers);
    return n;
}

static double right_quantile(const double *lane, int64_t n, double q, tsr_quantile_method method)
{
    const double at = q * (double)(n - 1), low = floor(at), high = ceil(at);
    const double a = lane[(int64_t)low], b = lane[(int64_t)high];
    switch (method) {
    case TSR_QUANTILE_LOWER:    return a;
    case TSR_QUANTILE_HIGHER:   return b;
    case TSR_QUANTILE_NEAREST:  return at - low > 0.5 || (at - low == 0.5 && fmod(low, 2) == 1) ? b : a;
    case TSR_QUANTILE_MIDPOINT: return a == b ? a : a / 2 + b / 2;
    default:                    return a == b ? a : a * (1 - (at - low)) + b * (at - low);
    }
}

static void check_lanes(trial *t, const int64_t *shape, int ndim, uint32_t axes, int64_t lanes,
                        tsr_quantile_method method)
{
    const quantile_rule *rule = t->check->about;
    const int64_t count = tsr_numel(t->tensor[RESULT]), cost = 16 * (tsr_numel(t->tensor[X]) + 16);
    double *lane = trial_room(t, sizeof *lane * (size_t)(tsr_numel(t->tensor[X]) + 1));
    GO_ON(t);
    for (int64_t k = first_sample(t, count, cost); k >= 0; k = next_sample(t, k, count, cost)) {
        const int64_t n = gather_lane(t, lane, k % lanes, shape, ndim, axes, rule->skips_nan);
        const double q = rule->median ? 0.5 : value_at(t->tensor[MORE], k / lanes).re;
        const double v = n > 0 ? right_quantile(lane, n, q, method) : (double)NAN;
        const double most = n > 0 ? fmax(fabs(lane[0]), fabs(lane[n - 1])) : 0;
        check_near(t, RESULT, k, real_value(v), isfinite(most) ? 4e-16 * most : 0);
    }
}

/* q from 0 to 1, both now and then, in a dtype that holds eighths; rank 0 or 1. */
static void make_shares(trial *t, int *rank, int64_t *count)
{
    *rank = (int)random_below(t, 2);
    *count = *rank ? random_below(t, 8) : 1;
    make_output(t, MORE, once_in(t, 2) ? TSR_F64 : TSR_F16, *rank, count);
    for (int64_t i = 0; i < *count && !t->failed; i++)
        write_value(t->tensor[MORE]->dtype, element(t->tensor[MORE], i),
                    real_value((double)random_between(t, 0, 8) / 8));
}

static void check_quantile(trial *t)
{
    const quantile_rule *rule = t->check->about;
    int64_t shape[RANK], z[RANK + 1], qs = 1, lanes = 1;
    int axes[RANK], naxes = 0, rank = 0, qrank = 0;
    uint32_t set = 0;
    const int ndim = random_shape(t, shape, 0, RANK - 1, true);
    const bool keep = once_in(t, 2);
    const tsr_quantile_method method =
        rule->median ? TSR_QUANTILE_MIDPOINT : (tsr_quantile_method)random_below(t, 5);
    if (!rule->median) make_shares(t, &qrank, &qs);
    GO_ON(t);
    if (qrank) z[rank++] = qs;
    for (int d = 0; d < ndim; d++)
        if (once_in(t, 2)) {
            set |= 1u << d;
            axes[naxes++] = once_in(t, 2) ? d : d - ndim;
        }
    if (naxes == 0) set = (1u << ndim) - 1;
    for (int d = 0; d < ndim; d++) {
        if (!(set >> d & 1)) lanes *= shape[d];
        if (!(set >> d & 1) || keep) z[rank++] = set >> d & 1 ? 1 : shape[d];
    }
    const tsr_dtype given = is_float(t->check->dtype) ? t->check->dtype : TSR_F64;
    make_input(t, X, t->check->dtype, ndim, shape, once_in(t, 2) ? FILL_SMALL : FILL_SPECIAL);
    if (once_in(t, 2)) make_output(t, RESULT, given, rank, z);
    GO_ON(t);
    const tsr_tensor *x = t->tensor[X], *q = t->tensor[MORE];
    tsr_tensor **out = &t->tensor[RESULT];
    if (rule->median) NEED(t, (rule->skips_nan ? tsr_nanmedian : tsr_median)(out, x, naxes, axes, keep));
    else NEED(t, (rule->skips_nan ? tsr_nanquantile : tsr_quantile)(out, x, q, naxes, axes, keep, method));
    check_shape(t, RESULT, given, rank, z);
    GO_ON(t);
    check_lanes(t, shape, ndim, set, lanes, method);
}

/* Covariances ----------------------------------------------------------------------------------------- */

/* The covariance of two rows, and the sum of the sizes of what it is made of, over the divisor. */
typedef struct pair { long double re, im, size; } pair;

/* Of observation k: the weight, and its part that is not a count. */
static long double observation_weight(const trial *t, int64_t k, long double *own)
{
    const tsr_tensor *f = t->tensor[SIZES], *a = t->tensor[WEIGHTS];
    *own = a ? (long double)value_at(a, k).re : 1;
    return *own * (f ? (long double)value_at(f, k).re : 1);
}

/* The parts of elements k of rows i and j. */
static void read_parts(const trial *t, long double part[4], int64_t i, int64_t j, int64_t n, int64_t k)
{
    const value u = value_at(t->tensor[X], i * n + k), v = value_at(t->tensor[X], j * n + k);
    part[0] = (long double)u.re;
    part[1] = (long double)u.im;
    part[2] = (long double)v.re;
    part[3] = (long double)v.im;
}

/* size: the sum of the sizes of what it is made of, over the divisor, times how many times larger than the
 * divisor the numbers are of which that is the difference. */
static pair right_cov(const trial *t, int64_t i, int64_t j, int64_t n, double correction)
{
    long double mean[4] = { 0 }, p[4], own, total = 0, important = 0;
    pair z = { 0, 0, 0 };
    for (int64_t k = 0; k < n; k++) {
        const long double w = observation_weight(t, k, &own);
        read_parts(t, p, i, j, n, k);
        for (int c = 0; c < 4; c++) mean[c] += w * p[c];
        total += w;
        important += w * own;
    }
    for (int64_t k = 0; k < n; k++) {
        const long double w = observation_weight(t, k, &own);
        long double size[4];
        read_parts(t, p, i, j, n, k);
        for (int c = 0; c < 4; c++) {
            size[c] = fabsl(p[c]) + fabsl(mean[c] / total);
            p[c] -= mean[c] / total;
        }
        z.size += w * (size[0] + size[1]) * (size[2] + size[3]);
        z.re += w * (p[0] * p[2] + p[1] * p[3]);
        z.im += w * (p[1] * p[2] - p[0] * p[3]);
    }
    const long double less = (long double)correction * (t->tensor[WEIGHTS] ? important / total : 1);
    const long double by = total - less;
    return (pair){ z.re / by, z.im / by, z.size / fabsl(by) * (total + fabsl(less)) / fabsl(by) };
}

static double cov_rounding(const trial *t, int64_t n)
{
    const tsr_dtype dtype = is_integer(t->check->dtype) ? TSR_F64 : t->check->dtype;
    return (double)(16 + n) * rounding_of(t, dtype, epsilon_of(dtype));
}

static void check_cov(trial *t)
{
    int64_t shape[2] = { random_between(t, 1, 5), random_between(t, 3, 40) };
    const bool vector = once_in(t, 4);
    const int64_t n = shape[1], m = vector ? 1 : shape[0], z[2] = { m, m };
    const double correction = (double)random_below(t, 2);
    const tsr_dtype given = is_integer(t->check->dtype) ? TSR_F64 : t->check->dtype;
    make_input(t, X, t->check->dtype, vector ? 1 : 2, vector ? shape + 1 : shape, FILL_SMALL);
    if (once_in(t, 3)) {
        make_input(t, MORE, TSR_U8, 1, &n, FILL_SMALL);
        GO_ON(t);
        NEED(t, tsr_maximum(&t->tensor[SIZES], t->tensor[MORE], TSR_NUMBER(1)));
    }
    if (once_in(t, 3)) {
        make_input(t, EDGES, TSR_F64, 1, &n, FILL_SMALL);
        GO_ON(t);
        NEED(t, tsr_exp2(&t->tensor[WEIGHTS], t->tensor[EDGES]));
    }
    if (once_in(t, 2)) make_output(t, RESULT, given, vector ? 0 : 2, z);
    GO_ON(t);
    NEED(t, tsr_cov(&t->tensor[RESULT], t->tensor[X], correction, t->tensor[SIZES], t->tensor[WEIGHTS]));
    check_shape(t, RESULT, given, vector ? 0 : 2, z);
    GO_ON(t);
    for (int64_t k = 0; k < m * m; k++) {
        const pair p = right_cov(t, k / m, k % m, n, correction);
        check_near(t, RESULT, k, complex_value((double)p.re, (double)p.im),
                   cov_rounding(t, n) * (double)p.size);
    }
}

/* Where a variable hardly varies, nothing is said. */
static void check_corrcoef(trial *t)
{
    int64_t shape[2] = { random_between(t, 1, 5), random_between(t, 2, 40) };
    const int64_t n = shape[1], m = shape[0];
    const tsr_dtype given = is_integer(t->check->dtype) ? TSR_F64 : t->check->dtype;
    make_input(t, X, t->check->dtype, 2, shape, FILL_SMALL);
    if (once_in(t, 2)) make_output(t, RESULT, given, 2, (const int64_t[]){ m, m });
    GO_ON(t);
    NEED(t, tsr_corrcoef(&t->tensor[RESULT], t->tensor[X]));
    check_shape(t, RESULT, given, 2, (const int64_t[]){ m, m });
    GO_ON(t);
    for (int64_t k = 0; k < m * m; k++) {
        const pair p = right_cov(t, k / m, k % m, n, 1), a = right_cov(t, k / m, k / m, n, 1),
                   b = right_cov(t, k % m, k % m, n, 1);
        const long double by = sqrtl(a.re * b.re), loss = a.size / a.re + b.size / b.re + p.size / by;
        if (!(a.re > 1e-3L * a.size && b.re > 1e-3L * b.size)) continue;
        check_near(t, RESULT, k, complex_value((double)(p.re / by), (double)(p.im / by)),
                   2 * cov_rounding(t, n) * (double)loss);
    }
}

void list_statistics(check_list *list)
{
    static const quantile_rule rules[4] = {
        { true, false }, { true, true }, { false, false }, { false, true } };
    static const check_rule all[] = {
        { "bincount", check_bincount, NULL, is_integer },
        { "histogram", check_histogram, NULL, is_real },
        { "histogram_with", check_histogram_with, NULL, is_real },
        { "median", check_quantile, &rules[0], is_ordered },
        { "nanmedian", check_quantile, &rules[1], is_ordered },
        { "quantile", check_quantile, &rules[2], is_ordered },
        { "nanquantile", check_quantile, &rules[3], is_ordered },
        { "cov", check_cov, NULL, is_number },
        { "corrcoef", check_corrcoef, NULL, is_number },
    };
    add_rules(list, (check){ .family = "statistics", .every = 2 }, all, sizeof all / sizeof *all);
}
