/* ops_reduce.c - axes brought together, and walked along.
 *
 * The CPU adds in f64 and rounds once. A device may add in f32, in any order: its error is of the
 * size of the sum of |x|, and grows with the root of how many there are. */
#include <math.h>
#include <string.h>

#include "operands.h"

enum { X, MOST = 100000 };

typedef tsr_status (*over_fn)(tsr_tensor **out, const tsr_tensor *x, int naxes, const int *axes,
                              bool keepdims);
typedef tsr_status (*over_with_fn)(tsr_tensor **out, const tsr_tensor *x, int naxes, const int *axes,
                                   bool keepdims, double a);
typedef tsr_status (*arg_fn)(tsr_tensor **out, const tsr_tensor *x, int axis, bool keepdims);
typedef tsr_status (*scan_fn)(tsr_tensor **out, const tsr_tensor *x, int axis);

typedef struct row {
    tsr_op_kind kind;
    over_fn over;
    over_with_fn with;
    arg_fn arg;
    scan_fn scan;
    values values;
    tolerance tolerance;
} row;

#define SUMS \
    { \
        -8, 8, 0, false \
    }
#define CHOICE \
    { \
        -8, 8, 10, true \
    }
#define FACTOR \
    { \
        0.75, 1.25, 0, false \
    }

static const row rows[] = {
    { TSR_OP_SUM, .over = tsr_sum, .values = SUMS,
      .tolerance = { .ulps = 2, .sized = true, .grows = GROWS_ROOT } },
    { TSR_OP_PROD, .over = tsr_prod, .values = FACTOR, .tolerance = { .ulps = 2, .grows = GROWS_LINEAR } },
    { TSR_OP_MEAN, .over = tsr_mean, .values = SUMS,
      .tolerance = { .ulps = 2, .sized = true, .grows = GROWS_ROOT } },
    { TSR_OP_VAR, .with = tsr_var, .values = SUMS,
      .tolerance = { .ulps = 4, .least = 8, .grows = GROWS_ROOT } },
    { TSR_OP_STD, .with = tsr_std, .values = SUMS,
      .tolerance = { .ulps = 4, .least = 8, .grows = GROWS_ROOT } },
    { TSR_OP_MAX, .over = tsr_max, .values = CHOICE, .tolerance = { .any_zero = true } },
    { TSR_OP_MIN, .over = tsr_min, .values = CHOICE, .tolerance = { .any_zero = true } },
    { TSR_OP_ANY, .over = tsr_any, .values = { -1, 1, 9, true } },
    { TSR_OP_ALL, .over = tsr_all, .values = { -1, 9, 9, true } },
    { TSR_OP_COUNT_NONZERO, .over = tsr_count_nonzero, .values = { -1, 1, 9, true } },
    { TSR_OP_LOGSUMEXP, .over = tsr_logsumexp, .values = { -20, 20, 0, false },
      .tolerance = { .ulps = 8, .least = 16, .grows = GROWS_ROOT } },
    { TSR_OP_NORM, .with = tsr_norm, .values = SUMS, .tolerance = { .ulps = 64, .grows = GROWS_ROOT } },
    { TSR_OP_ARGMAX, .arg = tsr_argmax, .values = CHOICE },
    { TSR_OP_ARGMIN, .arg = tsr_argmin, .values = CHOICE },
    { TSR_OP_CUMSUM, .scan = tsr_cumsum, .values = SUMS,
      .tolerance = { .ulps = 2, .sized = true, .grows = GROWS_ROOT } },
    { TSR_OP_CUMPROD, .scan = tsr_cumprod, .values = FACTOR,
      .tolerance = { .ulps = 2, .grows = GROWS_LINEAR } },
    { TSR_OP_CUMMAX, .scan = tsr_cummax, .values = CHOICE, .tolerance = { .any_zero = true } },
};

static tsr_status call(trial *t, side s)
{
    const row *r = t->check->about;
    const arguments *w = &t->with;
    tsr_tensor **out = RESULT(t, s, 0);
    const tsr_tensor *x = IN(t, s, X);
    if (r->over) return r->over(out, x, w->naxes, w->axes, w->flag);
    if (r->with) return r->with(out, x, w->naxes, w->axes, w->flag, w->a);
    if (r->arg) return r->arg(out, x, w->axis, w->flag);
    return r->scan(out, x, w->axis);
}

/* Some axes, each once and in any order; none means all. */
static void choose_axes(trial *t, int ndim, const int64_t *shape)
{
    arguments *w = &t->with;
    t->terms = 1;
    for (int d = 0; d < ndim; d++)
        if (once_in(t, 2)) w->axes[w->naxes++] = once_in(t, 2) ? d : d - ndim;
    for (int i = 0; i < w->naxes; i++) {
        const int d = w->axes[i] < 0 ? w->axes[i] + ndim : w->axes[i];
        t->terms *= (double)shape[d];
    }
    if (w->naxes == 0) t->terms = (double)count_of(ndim, shape);
}

static void check_reduce(trial *t)
{
    static const double powers[] = { 2, 1, 0, INFINITY, -INFINITY, 3, 0.5 };
    const row *r = t->check->about;
    int64_t shape[RANK];
    values v = r->values;
    const int ndim = random_shape(t, shape, r->scan ? 1 : 0, RANK, MOST);
    const bool is_floating = tsr_dtype_kind(t->check->dtype) >= TSR_FLOATING;
    if (!is_floating) v = any_values;
    if (is_floating && r->tolerance.ulps > 0 && t->number % 4 == 1) v.special = 30;
    if (is_floating && r->kind == TSR_OP_LOGSUMEXP && t->check->dtype <= TSR_F8E5M2) v.low = -8, v.high = 8;
    choose_axes(t, ndim, shape);
    t->with.flag = once_in(t, 2);
    t->with.axis =
        ndim > 0 && (r->scan || !once_in(t, 3)) ? (int)random_between(t, -ndim, ndim - 1) : TSR_ALL_AXES;
    if (r->scan) t->terms = (double)shape[t->with.axis < 0 ? t->with.axis + ndim : t->with.axis];
    t->with.a = r->kind == TSR_OP_NORM ? powers[random_below(t, 7)] : (double)random_below(t, 2);
    make_input(t, X, t->check->dtype, ndim, shape, &v);
    run_op(t, call, 1, r->scan ? 1 : 0, &r->tolerance);
}

/* Differences are subtractions, which are exact. */
static tsr_status call_diff(trial *t, side s)
{
    return tsr_diff(RESULT(t, s, 0), IN(t, s, X), t->with.axis, t->with.n[0]);
}

static void check_diff(trial *t)
{
    static const tolerance e = { .ulps = 0, .any_zero = true };
    int64_t shape[RANK];
    const int ndim = random_shape(t, shape, 1, 4, MOST);
    t->with.axis = (int)random_below(t, ndim);
    t->with.n[0] = random_below(t, 3);
    make_input(t, X, t->check->dtype, ndim, shape, &small_values);
    run_op(t, call_diff, 1, 0, &e);
}

void list_reduce(check_list *list)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const tsr_op_info *info = tsr_op_get_info(rows[i].kind);
        const check c = {
            .family = info->family, .op = rows[i].kind, .run = check_reduce, .about = &rows[i]
        };
        add_for_dtypes(list, c, info->name, dtypes_of(rows[i].kind, 0));
    }
    add_for_dtypes(list, (check){ .family = "reduce", .op = TSR_OP_SUB, .run = check_diff }, "diff",
                   dtypes_of(TSR_OP_SUB, 0));
}
