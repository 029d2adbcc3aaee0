/* check_reduce.c - reductions over any axes, and scans along one.
 *
 * What is right for one element of a result is worked out from the list of the
 * elements it comes from, in row-major order.
 */
#include <math.h>
#include <string.h>

#include "op_facts.h"
#include "trial.h"

enum { INPUT, RESULT };

typedef struct list {
    tsr_dtype dtype;
    bool scan; /* what there is so far, one element after another */
    double a;  /* the correction of var and std, the power of norm */
    int64_t count;
    value *x;
} list;

typedef tsr_status (*axes_fn)(tsr_tensor **, const tsr_tensor *, int, const int *, bool);
typedef tsr_status (*with_fn)(tsr_tensor **, const tsr_tensor *, int, const int *, bool, double);
typedef tsr_status (*axis_fn)(tsr_tensor **, const tsr_tensor *, int, bool);
typedef tsr_status (*scan_fn)(tsr_tensor **, const tsr_tensor *, int);
typedef value (*right_fn)(const list *l);

typedef struct rule {
    const char *name;
    axes_fn over_axes;
    with_fn with;
    axis_fn over_axis;
    scan_fn along;
    right_fn right;
    bool chooses; /* has no answer for no elements */
} rule;

/* What is right --------------------------------------------------------------------------- */

static bool is_zero(const value *v, tsr_dtype dtype)
{
    return is_float(part_of(dtype)) ? v->re == 0 && v->im == 0 : v->bits == 0;
}

static value right_sum(const list *l)
{
    uint64_t bits = 0;
    long double re = 0, im = 0;
    for (int64_t i = 0; i < l->count; i++) {
        bits += l->x[i].bits;
        re += (long double)l->x[i].re;
        im += (long double)l->x[i].im;
    }
    return (value){ bits, (double)re, (double)im };
}

/* Mantissa and exponent apart: only a product that is too large or too small itself overflows or vanishes. */
static double scaled_prod(const list *l)
{
    long double mantissa = 1;
    int64_t exponent = 0;
    for (int64_t i = 0; i < l->count; i++) {
        int e = 0;
        mantissa = frexpl(mantissa * (long double)l->x[i].re, &e);
        exponent += e;
    }
    const int64_t most = 20000;
    return (double)ldexpl(mantissa, (int)(exponent > most ? most : exponent < -most ? -most : exponent));
}

static value scaled_complex_prod(const list *l)
{
    long double re = 1, im = 0;
    int64_t exponent = 0;
    for (int64_t i = 0; i < l->count; i++) {
        const long double a = (long double)l->x[i].re, b = (long double)l->x[i].im, more = re * a - im * b;
        int e = 0;
        im = re * b + im * a;
        re = more;
        (void)frexpl(fabsl(re) > fabsl(im) ? re : im, &e);
        re = ldexpl(re, -e);
        im = ldexpl(im, -e);
        exponent += e;
    }
    const int by = (int)(exponent > 20000 ? 20000 : exponent < -20000 ? -20000 : exponent);
    return complex_value((double)ldexpl(re, by), (double)ldexpl(im, by));
}

static value right_prod(const list *l)
{
    value p = { .bits = 1, .re = 1 };
    if (is_float(l->dtype) && !l->scan) return real_value(scaled_prod(l));
    if (is_complex(l->dtype) && !l->scan) return scaled_complex_prod(l);
    for (int64_t i = 0; i < l->count; i++) {
        const value x = l->x[i];
        const double re = p.re * x.re - (is_complex(l->dtype) ? p.im * x.im : 0);
        p.im = is_complex(l->dtype) ? p.re * x.im + p.im * x.re : 0;
        p.re = re;
        p.bits *= x.bits;
    }
    return p;
}

static value right_mean(const list *l)
{
    const value sum = right_sum(l);
    return complex_value(sum.re / (double)l->count, sum.im / (double)l->count);
}

static value right_var(const list *l)
{
    const value mean = right_mean(l);
    const double over = (double)l->count - l->a;
    long double sum = 0;
    for (int64_t i = 0; i < l->count; i++) {
        const double re = l->x[i].re - mean.re, im = l->x[i].im - mean.im;
        sum += (long double)(re * re + im * im);
    }
    return real_value(l->count == 0 ? NAN : (double)sum / (over > 0 ? over : 0));
}

static value right_std(const list *l) { return real_value(sqrt(right_var(l).re)); }

/* The root of the sum of powers; of 0, how many are not 0; of an infinity, the largest or smallest size. */
static value right_norm(const list *l)
{
    const double p = l->a;
    long double sum = 0, low = INFINITY, high = 0;
    bool nan = false;
    for (int64_t i = 0; i < l->count; i++) {
        const long double size = hypotl((long double)l->x[i].re, (long double)l->x[i].im);
        nan = nan || isnan(size);
        low = size < low ? size : low;
        high = size > high ? size : high;
        sum += p == 0 ? !is_zero(&l->x[i], l->dtype) : powl(size, (long double)p);
    }
    if (l->count == 0) return real_value(0);
    if (nan && p != 0) return real_value(NAN);
    if (isinf(p)) return real_value((double)(p > 0 ? high : low));
    return real_value((double)(p == 0 ? sum : powl(sum, 1 / (long double)p)));
}

static value right_logsumexp(const list *l)
{
    long double sum = 0;
    for (int64_t i = 0; i < l->count; i++) sum += expl((long double)l->x[i].re); /* no element is large */
    return real_value((double)logl(sum));
}

static value right_count_nonzero(const list *l)
{
    value n = { 0 };
    for (int64_t i = 0; i < l->count; i++) n.bits += !is_zero(&l->x[i], l->dtype);
    return n;
}

static value right_any(const list *l) { return (value){ .bits = right_count_nonzero(l).bits > 0 }; }
static value right_all(const list *l)
{
    return (value){ .bits = right_count_nonzero(l).bits == (uint64_t)l->count };
}

static bool is_less(tsr_dtype dtype, const value *a, const value *b)
{
    if (is_float(dtype)) return a->re < b->re;
    return is_signed(dtype) ? (int64_t)a->bits < (int64_t)b->bits : a->bits < b->bits;
}

/* The first NaN, or else the first of the largest or smallest. */
static int64_t choose(const list *l, bool largest)
{
    int64_t best = 0;
    for (int64_t i = 0; i < l->count; i++) {
        const value *a = &l->x[i], *b = &l->x[best];
        if (isnan(a->re)) return i;
        if (largest ? is_less(l->dtype, b, a) : is_less(l->dtype, a, b)) best = i;
    }
    return best;
}

static value right_max(const list *l) { return l->x[choose(l, true)]; }
static value right_min(const list *l) { return l->x[choose(l, false)]; }
static value right_argmax(const list *l) { return (value){ .bits = (uint64_t)choose(l, true) }; }
static value right_argmin(const list *l) { return (value){ .bits = (uint64_t)choose(l, false) }; }

static const rule rules[] = {
    { .name = "sum", .over_axes = tsr_sum, .right = right_sum },
    { .name = "prod", .over_axes = tsr_prod, .right = right_prod },
    { .name = "mean", .over_axes = tsr_mean, .right = right_mean },
    { .name = "var", .with = tsr_var, .right = right_var },
    { .name = "std", .with = tsr_std, .right = right_std },
    { .name = "max", .over_axes = tsr_max, .right = right_max, .chooses = true },
    { .name = "min", .over_axes = tsr_min, .right = right_min, .chooses = true },
    { .name = "any", .over_axes = tsr_any, .right = right_any },
    { .name = "all", .over_axes = tsr_all, .right = right_all },
    { .name = "count_nonzero", .over_axes = tsr_count_nonzero, .right = right_count_nonzero },
    { .name = "logsumexp", .over_axes = tsr_logsumexp, .right = right_logsumexp },
    { .name = "norm", .with = tsr_norm, .right = right_norm },
    { .name = "argmax", .over_axis = tsr_argmax, .right = right_argmax, .chooses = true },
    { .name = "argmin", .over_axis = tsr_argmin, .right = right_argmin, .chooses = true },
    { .name = "cumsum", .along = tsr_cumsum, .right = right_sum },
    { .name = "cumprod", .along = tsr_cumprod, .right = right_prod },
    { .name = "cummax", .along = tsr_cummax, .right = right_max },
};

/* Trials ------------------------------------------------------------------------------------- */

static double finite_size(double x) { return isfinite(x) ? fabs(x) : 0; }

/* Sums are made in f64 whatever the dtype, and rounded to the result once: so many units of f64. */
static double units(double n) { return ldexp(n, -53); }

static double largest_size(const list *l)
{
    double size = 0;
    for (int64_t i = 0; i < l->count; i++)
        size = fmax(size, hypot(finite_size(l->x[i].re), finite_size(l->x[i].im)));
    return size;
}

static double sum_of_sizes(const list *l)
{
    double size = 0;
    for (int64_t i = 0; i < l->count; i++) size += finite_size(l->x[i].re) + finite_size(l->x[i].im);
    return size;
}

/* A device may add and multiply in the dtype that results have. */
static double device_slack(const rule *r, const list *l, double result, double n)
{
    const double epsilon = epsilon_of(l->dtype);
    if (r->right == right_norm) return 32 * sqrt(n) * epsilon * result;
    if (r->right == right_prod) return (4 + n) * epsilon * result;
    return epsilon * (4 * result + (1 + sqrt(n)) * (largest_size(l) + sum_of_sizes(l)));
}

/* A mean that is some units of the largest element off adds its square to a variance. */
static double slack_of(const trial *t, const rule *r, const list *l, value wanted)
{
    const double result = finite_size(wanted.re) + finite_size(wanted.im),
                 n = (double)(l->count ? l->count : 1);
    const double exps = l->dtype == TSR_F64 ? 0 : ldexp(1, -32); /* short floats need no better ones */
    const double off = units(8) * largest_size(l);
    if (t->device != TSR_CPU) return device_slack(r, l, result, n);
    if (r->right == right_sum) return units(16) * sum_of_sizes(l);
    if (r->right == right_mean) return units(16) * sum_of_sizes(l) / n + units(4) * result;
    if (r->right == right_prod)
        return units(8 * n) * result + (l->scan ? 4 * epsilon_of(l->dtype) * result : 0);
    if (r->right == right_var) return units(64) * result + off * off;
    if (r->right == right_std) return units(64) * result + off;
    if (r->right == right_logsumexp) return units(32) * (1 + largest_size(l) + result) + exps;
    return units(128) * result;
}

/* How many elements of x come to one of the result, at most. */
static int64_t elements_of_one(const tsr_tensor *x, uint32_t axes)
{
    int64_t n = 1;
    for (int d = 0; d < x->ndim; d++)
        if (axes >> d & 1) n *= x->shape[d];
    return n;
}

/* The elements of x that come to the result's element `at`: those whose index is the result's in
 * the axes that stay, and in a scanned axis is not beyond it. */
static void gather_list(list *l, const tsr_tensor *x, uint32_t axes, const int64_t *at)
{
    int64_t index[TSR_MAX_NDIM], extent[TSR_MAX_NDIM];
    for (int d = 0; d < x->ndim; d++) extent[d] = !(axes >> d & 1) ? 1 : l->scan ? at[d] + 1 : x->shape[d];
    l->dtype = x->dtype;
    l->count = count_of(x->ndim, extent);
    for (int64_t i = 0; i < l->count; i++) {
        index_of(index, i, x->ndim, extent);
        for (int d = 0; d < x->ndim; d++)
            if (!(axes >> d & 1)) index[d] = at[d];
        l->x[i] = value_at(x, place_of(index, x->ndim, x->shape));
    }
}

/* A random set of axes; argmax and scans have one. */
static uint32_t random_axes(trial *t, const rule *r, int ndim)
{
    const uint32_t all = ((uint32_t)1 << ndim) - 1;
    if (r->over_axes || r->with) return (uint32_t)random_bits(t) & all;
    if (r->over_axis && once_in(t, 4)) return 0;
    return (uint32_t)1 << random_below(t, ndim);
}

/* In any order, from either end. */
static int list_axes(trial *t, int axes[TSR_MAX_NDIM], uint32_t bits, int ndim)
{
    int n = 0;
    for (int d = 0; d < ndim; d++) {
        if (!(bits >> d & 1)) continue;
        const int at = (int)random_below(t, n + 1);
        axes[n++] = axes[at];
        axes[at] = once_in(t, 2) ? d : d - ndim;
    }
    return n;
}

static tsr_status call(trial *t, const rule *r, uint32_t bits, bool keepdims, double a)
{
    tsr_tensor **out = &t->tensor[RESULT], *x = t->tensor[INPUT];
    int axes[TSR_MAX_NDIM + 1] = { TSR_ALL_AXES };
    const int n = list_axes(t, axes, bits, x->ndim);
    if (r->along) return r->along(out, x, axes[0]);
    if (r->over_axis) return r->over_axis(out, x, axes[0], keepdims);
    if (r->with) return r->with(out, x, n, axes, keepdims, a);
    return r->over_axes(out, x, n, axes, keepdims);
}

static double random_parameter(trial *t, const rule *r)
{
    static const double corrections[] = { 0, 1, 0.5, -1 };
    static const double powers[] = { 0, 1, 2, INFINITY, -INFINITY, 3, 0.5, -1, -2, 10, 2, 2 };
    return r->right == right_norm ? powers[random_below(t, 12)] : corrections[random_below(t, 4)];
}

static tsr_dtype result_dtype(const rule *r, tsr_dtype d)
{
    if (r->right == right_any || r->right == right_all) return TSR_BOOL;
    if (r->right == right_count_nonzero || r->over_axis) return TSR_I64;
    if (r->right == right_var || r->right == right_std || r->right == right_norm) return part_of(d);
    if ((r->right == right_sum || r->right == right_prod) && is_integer(d))
        return is_signed(d) ? TSR_I64 : TSR_U64;
    return d;
}

static void check_values(trial *t, const rule *r, uint32_t axes, const int64_t *full, double a)
{
    const tsr_tensor *x = t->tensor[INPUT];
    GO_ON(t);
    const int64_t n = tsr_numel(t->tensor[RESULT]), cost = elements_of_one(x, axes);
    list l = { .scan = r->along != NULL, .a = a, .x = trial_room(t, (size_t)cost * sizeof(value)) };
    for (int64_t k = first_sample(t, n, 4 * cost); k >= 0; k = next_sample(t, k, n, 4 * cost)) {
        int64_t at[TSR_MAX_NDIM];
        index_of(at, k, x->ndim, full);
        gather_list(&l, x, axes, at);
        const value wanted = r->right(&l);
        check_near(t, RESULT, k, wanted, slack_of(t, r, &l, wanted));
    }
}

/* Of many elements one is NaN, which hides all others: so most have none. With infinities, products of
 * complex numbers depend on how they are worked out, and so do sizes where the other part is NaN. On a
 * device, products may overflow in between. */
static filling filling_of(trial *t)
{
    const rule *r = t->check->about;
    if (t->device != TSR_CPU && r->right == right_prod) return FILL_FACTORS;
    const bool multiplies = r->right == right_prod || r->right == right_norm;
    if (!once_in(t, 3)) return FILL_SMALL;
    if (!multiplies || !is_complex(t->check->dtype)) return FILL_SPECIAL;
    return r->right == right_norm ? FILL_NAN : FILL_SMALL;
}

static void check_op(trial *t)
{
    const rule *r = t->check->about;
    const bool keepdims = once_in(t, 2);
    int64_t shape[TRIAL_RANK], full[TRIAL_RANK], kept[TRIAL_RANK];
    const int ndim = random_shape(t, shape, r->over_axes || r->with ? 0 : 1, 5, !r->chooses);
    const uint32_t named = random_axes(t, r, ndim);
    const double a = random_parameter(t, r);
    int nkept = 0;
    make_input(t, INPUT, t->check->dtype, ndim, shape, filling_of(t));
    GO_ON(t);
    NEED(t, call(t, r, named, keepdims, a));
    const uint32_t axes = named ? named : ((uint32_t)1 << ndim) - 1; /* none named: all */
    for (int d = 0; d < ndim; d++) {
        const bool reduced = (axes >> d & 1) && !r->along;
        full[d] = reduced ? 1 : shape[d];
        if (!reduced || keepdims) kept[nkept++] = full[d];
    }
    check_shape(t, RESULT, result_dtype(r, t->check->dtype), nkept, kept);
    const tsr_reduce_params params = { .axes = axes, .keepdims = keepdims, .a = a };
    check_inferred(t, 1, INPUT, &params, RESULT);
    check_values(t, r, axes, full, a);
    GO_ON(t);

    /* The same into memory with gaps. */
    const tsr_dtype dtype = t->tensor[RESULT]->dtype;
    make_output(t, RESULT, dtype, nkept, kept);
    GO_ON(t);
    NEED(t, call(t, r, named, keepdims, a));
    check_gaps(t, RESULT);
    check_values(t, r, axes, full, a);
}

void list_reduce(check_list *checks)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        op_facts f;
        const tsr_op_kind kind = tsr_op_find(rules[i].name);
        if (!op_facts_get(&f, kind)) continue;
        for (int d = 1; d < TSR_DTYPE_COUNT; d++)
            if ((f.dtypes[0] >> d & 1) && d != TSR_C32) /* c32 is to store in */
                add_check(checks,
                          (check){ .family = f.info->family,
                                   .op = kind,
                                   .run = check_op,
                                   .about = &rules[i],
                                   .dtype = (tsr_dtype)d,
                                   .more = rules[i].right == right_norm ? 12 : 1 }, /* of many powers */
                          rules[i].name);
    }
}
