/* check_unique.c - different values, the k-th of a lane, and being among others. */
#include <math.h>
#include <string.h>

#include "trial.h"

enum { X, RESULT, COUNTS, INVERSE, FIRST, TEST, RANK = TRIAL_RANK };

/* Does a go before b? NaN goes last. */
static bool is_before(tsr_dtype dtype, value a, value b)
{
    if (is_float(dtype)) return isnan(b.re) ? !isnan(a.re) : a.re < b.re;
    return is_signed(dtype) ? (int64_t)a.bits < (int64_t)b.bits : a.bits < b.bits;
}

static bool is_equal(tsr_dtype dtype, value a, value b)
{
    return is_float(dtype) ? a.re == b.re : a.bits == b.bits;
}

/* Different values --------------------------------------------------------------------------------- */

/* How often each value is there and where first, counted from the inverse; NaN is a value each time. */
static void check_counts(trial *t, int64_t n)
{
    const tsr_tensor *x = t->tensor[X], *values = t->tensor[RESULT];
    int64_t *seen = trial_room(t, 2 * sizeof *seen * (size_t)(n + 1)), *first = seen + n;
    GO_ON(t);
    memset(seen, 0, sizeof *seen * (size_t)n);
    for (int64_t k = 0; k < tsr_numel(x); k++) {
        const uint64_t i = value_at(t->tensor[INVERSE], k).bits;
        MUST(t, i < (uint64_t)n, "inverse %lld is %lld of %lld values", (long long)k, (long long)i,
             (long long)n);
        const value own = value_at(x, k), v = value_at(values, (int64_t)i);
        MUST(t, is_equal(x->dtype, own, v) || (isnan(own.re) && isnan(v.re)),
             "element %lld is not value %lld", (long long)k, (long long)i);
        if (!seen[i]++) first[i] = k;
    }
    for (int64_t i = 0; i < n; i++) {
        const value v = value_at(values, i);
        MUST(t, seen[i] > 0 && (!isnan(v.re) || seen[i] == 1), "value %lld is there %lld times", (long long)i,
             (long long)seen[i]);
        check_near(t, COUNTS, i, integer_value(TSR_I64, (uint64_t)seen[i]), 0);
        check_near(t, FIRST, i, integer_value(TSR_I64, (uint64_t)first[i]), 0);
        check_bits(t, RESULT, i, element(x, first[i]));
        MUST(t, i == 0 || isnan(v.re) || is_before(x->dtype, value_at(values, i - 1), v),
             "value %lld is out of order", (long long)i);
    }
}

static void check_unique(trial *t)
{
    int64_t shape[RANK];
    const int ndim = random_shape(t, shape, 0, RANK, true);
    const bool inverse = once_in(t, 2);
    make_input(t, X, t->check->dtype, ndim, shape, FILL_SPECIAL);
    if (inverse) make_output(t, INVERSE, TSR_I64, ndim, shape);
    GO_ON(t);
    const tsr_unique_results more = { &t->tensor[COUNTS], &t->tensor[INVERSE], &t->tensor[FIRST] };
    NEED(t, tsr_unique(&t->tensor[RESULT], t->tensor[X], &more));
    if (inverse) check_gaps(t, INVERSE);
    const int64_t n = tsr_numel(t->tensor[RESULT]);
    check_shape(t, RESULT, t->check->dtype, 1, &n);
    check_shape(t, COUNTS, TSR_I64, 1, &n);
    check_shape(t, FIRST, TSR_I64, 1, &n);
    check_shape(t, INVERSE, TSR_I64, ndim, shape);
    GO_ON(t);
    check_counts(t, n);
}

/* The k-th of a lane ------------------------------------------------------------------------------------ */

/* Its index names the element of the lane that k - 1 others go before. */
static void check_place(trial *t, int64_t at, const int64_t *shape, int ndim, int axis, int64_t k)
{
    const tsr_tensor *x = t->tensor[X];
    int64_t index[RANK], before = 0;
    int64_t lanes[RANK];
    memcpy(lanes, shape, sizeof lanes);
    lanes[axis] = 1;
    index_of(index, at, ndim, lanes);
    const int64_t own = (int64_t)value_at(t->tensor[INVERSE], at).bits;
    MUST(t, own >= 0 && own < shape[axis], "index %lld is %lld", (long long)at, (long long)own);
    index[axis] = own;
    const void *found = element(x, place_of(index, ndim, shape));
    check_bits(t, RESULT, at, found);
    const value v = read_value(x->dtype, found);
    for (int64_t i = 0; i < shape[axis]; i++) {
        index[axis] = i;
        const value other = value_at(x, place_of(index, ndim, shape));
        before += is_before(x->dtype, other, v) || (i < own && !is_before(x->dtype, v, other));
    }
    MUST(t, before == k - 1, "element %lld of the lane of result %lld is number %lld, not %lld",
         (long long)own, (long long)at, (long long)before + 1, (long long)k);
}

static void check_kthvalue(trial *t)
{
    int64_t shape[RANK], z[RANK];
    const int ndim = random_shape(t, shape, 1, RANK, false), axis = (int)random_below(t, ndim);
    const int64_t k = random_between(t, 1, shape[axis]);
    const bool keep = once_in(t, 2);
    int rank = 0;
    for (int d = 0; d < ndim; d++)
        if (d != axis || keep) z[rank++] = d == axis ? 1 : shape[d];
    make_input(t, X, t->check->dtype, ndim, shape, FILL_SPECIAL);
    make_output(t, RESULT, t->check->dtype, rank, z);
    make_output(t, INVERSE, TSR_I64, rank, z);
    GO_ON(t);
    NEED(t, tsr_kthvalue(&t->tensor[RESULT], &t->tensor[INVERSE], t->tensor[X], k, axis, keep));
    check_gaps(t, RESULT);
    check_gaps(t, INVERSE);
    const int64_t count = count_of(rank, z), cost = 32 * shape[axis];
    for (int64_t i = first_sample(t, count, cost); i >= 0; i = next_sample(t, i, count, cost))
        check_place(t, i, shape, ndim, axis, k);
}

/* Being among others --------------------------------------------------------------------------- */

static void check_isin(trial *t)
{
    int64_t shape[RANK], others[RANK];
    const int ndim = random_shape(t, shape, 0, RANK, true), dims = random_shape(t, others, 0, 3, true);
    const filling with = once_in(t, 2) ? FILL_SMALL : FILL_SPECIAL; /* integers span few numbers, or many */
    make_input(t, X, t->check->dtype, ndim, shape, FILL_SPECIAL);
    make_input(t, TEST, t->check->dtype, dims, others, with);
    make_output(t, RESULT, TSR_BOOL, ndim, shape);
    GO_ON(t);
    NEED(t, tsr_isin(&t->tensor[RESULT], t->tensor[X], t->tensor[TEST]));
    check_gaps(t, RESULT);
    const int64_t count = count_of(ndim, shape), n = count_of(dims, others), cost = 16 * n + 16;
    for (int64_t k = first_sample(t, count, cost); k >= 0; k = next_sample(t, k, count, cost)) {
        bool found = false;
        for (int64_t i = 0; i < n && !found; i++)
            found = is_equal(t->check->dtype, value_at(t->tensor[X], k), value_at(t->tensor[TEST], i));
        check_near(t, RESULT, k, integer_value(TSR_BOOL, found), 0);
    }
}

static bool is_ordered(tsr_dtype dtype) { return !is_complex(dtype); }

void list_unique(check_list *list)
{
    const check c = { .family = "order", .every = 2 };
    check u = c, k = c, i = c;
    u.run = check_unique;
    k.run = check_kthvalue;
    i.run = check_isin;
    add_checks(list, u, "unique", is_ordered);
    add_checks(list, k, "kthvalue", is_ordered);
    add_checks(list, i, "isin", is_ordered);
}
