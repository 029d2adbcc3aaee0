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
    bool      scan;   /* what there is so far, one element after another */
    int64_t   count;
    value    *x;
} list;

typedef tsr_status (*axes_fn)(tsr_tensor **, const tsr_tensor *, int, const int *, bool);
typedef tsr_status (*axis_fn)(tsr_tensor **, const tsr_tensor *, int, bool);
typedef tsr_status (*scan_fn)(tsr_tensor **, const tsr_tensor *, int);
typedef value      (*right_fn)(const list *l);

typedef struct rule {
    const char *name;
    axes_fn     over_axes;
    axis_fn     over_axis;
    scan_fn     along;
    right_fn    right;
    bool        chooses; /* has no answer for no elements */
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
    const double over = l->count > 1 ? (double)(l->count - 1) : 0;
    long double sum = 0;
    for (int64_t i = 0; i < l->count; i++) {
        const double re = l->x[i].re - mean.re, im = l->x[i].im - mean.im;
        sum += (long double)(re * re + im * im);
    }
    return real_value(l->count == 0 ? NAN : (double)sum / over);
}

static value right_std(const list *l) { return real_value(sqrt(right_var(l).re)); }

static value right_norm(const list *l)
{
    long double sum = 0;
    for (int64_t i = 0; i < l->count; i++)
        sum += (long double)(l->x[i].re * l->x[i].re + l->x[i].im * l->x[i].im);
    return real_value(sqrt((double)sum));
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

/* Ops with parameters, at some of them ------------------------------------------------------ */

static tsr_status var(tsr_tensor **out, const tsr_tensor *x, int n, const int *axes, bool keep)
{
    return tsr_var(out, x, n, axes, keep, 1);
}

static tsr_status std(tsr_tensor **out, const tsr_tensor *x, int n, const int *axes, bool keep)
{
    return tsr_std(out, x, n, axes, keep, 1);
}

static tsr_status norm(tsr_tensor **out, const tsr_tensor *x, int n, const int *axes, bool keep)
{
    return tsr_norm(out, x, n, axes, keep, 2);
}

static const rule rules[] = {
    { .name = "sum", .over_axes = tsr_sum, .right = right_sum },
    { .name = "prod", .over_axes = tsr_prod, .right = right_prod },
    { .name = "mean", .over_axes = tsr_mean, .right = right_mean },
    { .name = "var", .over_axes = var, .right = right_var },
    { .name = "std", .over_axes = std, .right = right_std },
    { .name = "max", .over_axes = tsr_max, .right = right_max, .chooses = true },
    { .name = "min", .over_axes = tsr_min, .right = right_min, .chooses = true },
    { .name = "any", .over_axes = tsr_any, .right = right_any },
    { .name = "all", .over_axes = tsr_all, .right = right_all },
    { .name = "count_nonzero", .over_axes = tsr_count_nonzero, .right = right_count_nonzero },
    { .name = "logsumexp", .over_axes = tsr_logsumexp, .right = right_logsumexp },
    { .name = "norm", .over_axes = norm, .right = right_norm },
    { .name = "argmax", .over_axis = tsr_argmax, .right = right_argmax, .chooses = true },
    { .name = "argmin", .over_axis = tsr_argmin, .right = right_argmin, .chooses = true },
    { .name = "cumsum", .along = tsr_cumsum, .right = right_sum },
    { .name = "cumprod", .along = tsr_cumprod, .right = right_prod },
    { .name = "cummax", .along = tsr_cummax, .right = right_max },
};

/* Trials ------------------------------------------------------------------------------------- */

static double finite_size(double x) { return isfinite(x) ? fabs(x) : 0; }

/* Sums are rounded to the result once; the rest is the order of adding in double. */
static double slack_of(const list *l, value wanted)
{
    const double result = finite_size(wanted.re) + finite_size(wanted.im);
    double size = result;
    for (int64_t i = 0; i < l->count; i++) {
        const double x = finite_size(l->x[i].re) + finite_size(l->x[i].im);
        size += x * (1 + x);
    }
    return 1e-13 * size + 4 * epsilon_of(l->dtype) * result;
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
    for (int d = 0; d < x->ndim; d++)
        extent[d] = !(axes >> d & 1) ? 1 : l->scan ? at[d] + 1 : x->shape[d];
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
    if (r->over_axes) return (uint32_t)random_bits(t) & all;
    return (uint32_t)1 << random_below(t, ndim);
}

static int list_axes(int axes[TSR_MAX_NDIM], uint32_t bits)
{
    int n = 0;
    for (int d = 0; d < TSR_MAX_NDIM; d++)
        if (bits >> d & 1) axes[n++] = d;
    return n;
}

static tsr_status call(const rule *r, tsr_tensor **out, const tsr_tensor *x, uint32_t bits, bool keepdims)
{
    int axes[TSR_MAX_NDIM];
    const int n = list_axes(axes, bits);
    if (r->along) return r->along(out, x, axes[0]);
    if (r->over_axis) return r->over_axis(out, x, axes[0], keepdims);
    return r->over_axes(out, x, n, axes, keepdims);
}

static void check_values(trial *t, const rule *r, uint32_t axes, const int64_t *full)
{
    const tsr_tensor *x = t->tensor[INPUT];
    GO_ON(t);
    const int64_t n = tsr_numel(t->tensor[RESULT]), cost = elements_of_one(x, axes);
    list l = { .scan = r->along != NULL, .x = trial_room(t, (size_t)cost * sizeof(value)) };
    for (int64_t k = first_sample(t, n, 4 * cost); k >= 0; k = next_sample(t, k, n, 4 * cost)) {
        int64_t at[TSR_MAX_NDIM];
        index_of(at, k, x->ndim, full);
        gather_list(&l, x, axes, at);
        const value wanted = r->right(&l);
        check_near(t, RESULT, k, wanted, slack_of(&l, wanted));
    }
}

/* With infinities, products of complex numbers depend on how they are worked out, and so do
 * sizes where the other part is NaN. */
static filling filling_of(const trial *t)
{
    const rule *r = t->check->about;
    const bool multiplies = r->right == right_prod || r->right == right_norm;
    return multiplies && is_complex(t->check->dtype) ? FILL_SMALL : FILL_SPECIAL;
}

static void check_op(trial *t)
{
    const rule *r = t->check->about;
    const bool keepdims = once_in(t, 2);
    int64_t shape[TRIAL_RANK], full[TRIAL_RANK], kept[TRIAL_RANK];
    const int ndim = random_shape(t, shape, r->over_axes ? 0 : 1, 5, !r->chooses);
    uint32_t axes = random_axes(t, r, ndim);
    int nkept = 0;
    make_input(t, INPUT, t->check->dtype, ndim, shape, filling_of(t));
    GO_ON(t);
    NEED(t, call(r, &t->tensor[RESULT], t->tensor[INPUT], axes, keepdims));
    if (axes == 0) axes = ((uint32_t)1 << ndim) - 1; /* none named: all */
    for (int d = 0; d < ndim; d++) {
        const bool reduced = (axes >> d & 1) && !r->along;
        full[d] = reduced ? 1 : shape[d];
        if (!reduced || keepdims) kept[nkept++] = full[d];
    }
    check_shape(t, RESULT, t->tensor[RESULT]->dtype, nkept, kept);
    const tsr_reduce_params params = { .axes = axes, .keepdims = keepdims, .a = 1 };
    check_inferred(t, 1, INPUT, &params, RESULT);
    check_values(t, r, axes, full);
    GO_ON(t);

    /* The same into memory with gaps. */
    const tsr_dtype dtype = t->tensor[RESULT]->dtype;
    make_output(t, RESULT, dtype, nkept, kept);
    GO_ON(t);
    NEED(t, call(r, &t->tensor[RESULT], t->tensor[INPUT], axes, keepdims));
    check_gaps(t, RESULT);
    check_values(t, r, axes, full);
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
                                   .dtype = (tsr_dtype)d },
                          rules[i].name);
    }
}
