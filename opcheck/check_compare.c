/* check_compare.c - equality and closeness of tensors that differ as is known. */
#include <math.h>
#include <string.h>

#include "trial.h"

enum { A, B, C, RANK = TRIAL_RANK };

/* B is A with other strides, but for some elements that are drawn anew. */
static int make_pair(trial *t, int64_t *shape)
{
    const int ndim = random_shape(t, shape, 0, RANK, true);
    const int64_t rarely = once_in(t, 2) ? 1 << 30 : random_between(t, 1, 40);
    make_input(t, A, t->check->dtype, ndim, shape, once_in(t, 2) ? FILL_SMALL : FILL_SPECIAL);
    make_input(t, C, t->check->dtype, ndim, shape, FILL_SPECIAL);
    make_output(t, B, t->check->dtype, ndim, shape);
    if (t->failed) return ndim;
    for (int64_t k = 0; k < count_of(ndim, shape); k++)
        memcpy(element(t->tensor[B], k), element(t->tensor[once_in(t, rarely) ? C : A], k),
               size_of(t->check->dtype));
    return ndim;
}

static bool is_equal(tsr_dtype dtype, value a, value b)
{
    return is_float(part_of(dtype)) ? a.re == b.re && a.im == b.im : a.bits == b.bits;
}

static void check_equal(trial *t)
{
    int64_t shape[RANK];
    bool got = false, wanted = true;
    const int ndim = make_pair(t, shape);
    GO_ON(t);
    NEED(t, tsr_equal(&got, t->tensor[A], t->tensor[B]));
    for (int64_t k = 0; k < count_of(ndim, shape); k++)
        wanted = wanted && is_equal(t->check->dtype, value_at(t->tensor[A], k), value_at(t->tensor[B], k));
    MUST(t, got == wanted, "equal tensors are said to differ, or others to be equal: %d, not %d", got,
         wanted);
}

/* Their distance; that of long integers is exact. */
static double distance(tsr_dtype dtype, value a, value b)
{
    if (is_float(part_of(dtype))) return hypot(a.re - b.re, a.im - b.im);
    const bool above = is_signed(dtype) ? (int64_t)a.bits > (int64_t)b.bits : a.bits > b.bits;
    return (double)(above ? a.bits - b.bits : b.bits - a.bits);
}

/* False: they are not; *undecided: rounding decides. */
static bool is_close(tsr_dtype dtype, value a, value b, const tsr_close_opts *o, bool *undecided)
{
    const bool nan_a = isnan(a.re) || isnan(a.im), nan_b = isnan(b.re) || isnan(b.im);
    if (nan_a || nan_b) return nan_a && nan_b && o->equal_nan;
    if (is_equal(dtype, a, b)) return true;
    if (!isfinite(hypot(a.re, a.im)) || !isfinite(hypot(b.re, b.im))) return false;
    const double limit = o->atol + o->rtol * hypot(b.re, b.im), off = distance(dtype, a, b);
    *undecided = *undecided || fabs(off - limit) <= 1e-12 * limit;
    return off <= limit;
}

static void check_report(trial *t, const tsr_close_report *r, int64_t differ, int64_t first, int ndim,
                         const int64_t *shape)
{
    MUST(t, r->count == count_of(ndim, shape) && r->differ == differ, "%lld of %lld differ, not %lld",
         (long long)r->differ, (long long)r->count, (long long)differ);
    if (differ)
        MUST(t, place_of(r->first.index, ndim, shape) == first, "the first that differs is %lld, not %lld",
             (long long)place_of(r->first.index, ndim, shape), (long long)first);
}

static void check_allclose(trial *t)
{
    int64_t shape[RANK], differ = 0, first = -1;
    bool got = false, undecided = false;
    const int ndim = make_pair(t, shape);
    const tsr_close_opts o = { .rtol = 0.25, .atol = 0.5, .equal_nan = once_in(t, 2) };
    tsr_close_report report;
    GO_ON(t);
    NEED(t, tsr_allclose(&got, t->tensor[A], t->tensor[B], &o, &report));
    for (int64_t k = 0; k < count_of(ndim, shape); k++) {
        if (is_close(t->check->dtype, value_at(t->tensor[A], k), value_at(t->tensor[B], k), &o, &undecided))
            continue;
        if (!differ++) first = k;
    }
    if (undecided) return;
    MUST(t, got == (differ == 0), "close tensors are said to differ, or others to be close");
    check_report(t, &report, differ, first, ndim, shape);
}

void list_compare(check_list *list)
{
    add_checks(list, (check){ .family = "compare", .run = check_equal, .every = 4 }, "equal", NULL);
    add_checks(list, (check){ .family = "compare", .run = check_allclose, .every = 4 }, "allclose", NULL);
}
