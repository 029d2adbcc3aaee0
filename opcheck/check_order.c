/* check_order.c - sorting and searching, against counting.
 *
 * The place of an element in a stable order is the number of elements that go
 * before it; that is all there is to know about sorting.
 */
#include <math.h>

#include "op_facts.h"
#include "trial.h"

enum { INPUT, RESULT, INDICES, OTHER };

static const char family[] = "order";

/* Does a go before b? NaN goes last, in both directions. */
static bool is_before(tsr_dtype dtype, value a, value b, bool descending)
{
    if (isnan(a.re) || isnan(b.re)) return !isnan(a.re) && isnan(b.re);
    if (is_float(dtype)) return descending ? a.re > b.re : a.re < b.re;
    if (is_signed(dtype))
        return descending ? (int64_t)a.bits > (int64_t)b.bits : (int64_t)a.bits < (int64_t)b.bits;
    return descending ? a.bits > b.bits : a.bits < b.bits;
}

/* The element number of place i in the lane of element k, along an axis. */
static int64_t in_lane(const tsr_tensor *x, int64_t k, int axis, int64_t i)
{
    int64_t index[TSR_MAX_NDIM];
    index_of(index, k, x->ndim, x->shape);
    index[axis] = i;
    return place_of(index, x->ndim, x->shape);
}

/* The place that element k, at `own` in its lane, has in order. */
static int64_t rank_of(const tsr_tensor *x, int64_t k, int axis, bool descending)
{
    int64_t index[TSR_MAX_NDIM], rank = 0;
    index_of(index, k, x->ndim, x->shape);
    const value own = value_at(x, k);
    for (int64_t i = 0; i < x->shape[axis]; i++) {
        const value other = value_at(x, in_lane(x, k, axis, i));
        if (is_before(x->dtype, other, own, descending)) rank++;
        else if (i < index[axis] && !is_before(x->dtype, own, other, descending)) rank++;
    }
    return rank;
}

/* Each element lies where it belongs, if that is among the first `kept`. */
static void check_ordered(trial *t, int axis, bool descending, int64_t kept, bool values, bool indices)
{
    const tsr_tensor *x = t->tensor[INPUT];
    GO_ON(t);
    const int64_t count = tsr_numel(x), cost = 4 * x->shape[axis];
    for (int64_t k = first_sample(t, count, cost); k >= 0; k = next_sample(t, k, count, cost)) {
        int64_t index[TSR_MAX_NDIM];
        index_of(index, k, x->ndim, x->shape);
        const int64_t own = index[axis], rank = rank_of(x, k, axis, descending);
        if (rank >= kept) continue;
        index[axis] = rank;
        const tsr_tensor *v = t->tensor[RESULT], *i = t->tensor[INDICES];
        if (values)
            MUST(t, same_bits(x->dtype, element(v, place_of(index, v->ndim, v->shape)), element(x, k)),
                 "element %lld belongs to place %lld of its lane, and is not there", (long long)k,
                 (long long)rank);
        if (indices)
            MUST(t, value_at(i, place_of(index, i->ndim, i->shape)).bits == (uint64_t)own,
                 "place %lld of the lane of element %lld does not say that it came from %lld",
                 (long long)rank, (long long)k, (long long)own);
    }
}

static int random_input(trial *t, int64_t shape[TRIAL_RANK])
{
    const int ndim = random_shape(t, shape, 1, 3, true);
    make_input(t, INPUT, t->check->dtype, ndim, shape, FILL_SPECIAL);
    return ndim;
}

static void check_sort(trial *t)
{
    int64_t shape[TRIAL_RANK];
    const int ndim = random_input(t, shape), axis = (int)random_below(t, ndim);
    const bool descending = once_in(t, 2), both = once_in(t, 2);
    const int from = make_output_like(t, RESULT, INPUT);
    const bool given = once_in(t, 2);
    if (both && given) make_output(t, INDICES, TSR_I64, ndim, shape);
    GO_ON(t);
    if (both) {
        NEED(t, tsr_sort_with_indices(&t->tensor[RESULT], &t->tensor[INDICES], t->tensor[from], axis,
                                      descending));
        check_shape(t, INDICES, TSR_I64, ndim, shape);
        if (given) check_gaps(t, INDICES);
    } else {
        NEED(t, tsr_sort(&t->tensor[RESULT], t->tensor[from], axis, descending));
    }
    check_gaps(t, RESULT);
    check_ordered(t, axis, descending, shape[axis], true, both);
}

static void check_argsort(trial *t)
{
    int64_t shape[TRIAL_RANK];
    const int ndim = random_input(t, shape), axis = (int)random_below(t, ndim);
    const bool descending = once_in(t, 2);
    make_output(t, INDICES, TSR_I64, ndim, shape);
    GO_ON(t);
    NEED(t, tsr_argsort(&t->tensor[INDICES], t->tensor[INPUT], axis, descending));
    check_gaps(t, INDICES);
    check_ordered(t, axis, descending, shape[axis], false, true);
}

/* In any order: each index names an element of the lane that is among the best, and none is named twice. */
static void check_best(trial *t, int axis, bool largest, int64_t kept)
{
    const tsr_tensor *x = t->tensor[INPUT], *v = t->tensor[RESULT], *i = t->tensor[INDICES];
    GO_ON(t);
    const int64_t count = tsr_numel(v), n = x->shape[axis], cost = 8 * (n + kept);
    for (int64_t k = first_sample(t, count, cost); k >= 0; k = next_sample(t, k, count, cost)) {
        int64_t index[TSR_MAX_NDIM];
        index_of(index, k, v->ndim, v->shape);
        const int64_t own = (int64_t)value_at(i, k).bits;
        MUST(t, own >= 0 && own < n, "index %lld is %lld", (long long)k, (long long)own);
        for (int64_t other = 0; other < index[axis]; other++)
            MUST(t, (int64_t)value_at(i, in_lane(v, k, axis, other)).bits != own, "index %lld is there twice",
                 (long long)own);
        index[axis] = own;
        const int64_t from = place_of(index, x->ndim, x->shape);
        MUST(t, rank_of(x, from, axis, largest) < kept, "element %lld is not among the best %lld",
             (long long)from, (long long)kept);
        check_bits(t, RESULT, k, element(x, from));
    }
}

static void check_topk(trial *t)
{
    int64_t shape[TRIAL_RANK];
    const int ndim = random_input(t, shape), axis = (int)random_below(t, ndim);
    const bool largest = once_in(t, 2), sorted = !once_in(t, 3), given = once_in(t, 2);
    const int64_t k = random_between(t, 0, shape[axis]);
    shape[axis] = k;
    if (given) make_output(t, RESULT, t->check->dtype, ndim, shape);
    if (given) make_output(t, INDICES, TSR_I64, ndim, shape);
    GO_ON(t);
    NEED(t, tsr_topk(&t->tensor[RESULT], &t->tensor[INDICES], t->tensor[INPUT], k,
                     once_in(t, 2) ? axis : axis - ndim, largest, sorted));
    if (given) check_gaps(t, RESULT);
    if (given) check_gaps(t, INDICES);
    check_shape(t, RESULT, t->check->dtype, ndim, shape);
    check_shape(t, INDICES, TSR_I64, ndim, shape);
    if (sorted) check_ordered(t, axis, largest, k, true, true);
    else        check_best(t, axis, largest, k);
}

/* The place before which x belongs is the number of elements before it. */
static void check_searchsorted(trial *t)
{
    int64_t shape[TRIAL_RANK];
    const int64_t n = random_size(t, 0, 30, most_elements(t));
    const bool right = once_in(t, 2);
    const int ndim = random_shape(t, shape, 0, 3, true);
    make_input(t, OTHER, t->check->dtype, 1, &n, FILL_SPECIAL);
    make_input(t, INPUT, t->check->dtype, ndim, shape, FILL_SPECIAL);
    make_output(t, RESULT, TSR_I64, ndim, shape);
    GO_ON(t);
    tsr_tensor **sorted = &t->tensor[4];
    NEED(t, tsr_sort(sorted, t->tensor[OTHER], 0, false));
    NEED(t, tsr_searchsorted(&t->tensor[RESULT], *sorted, t->tensor[INPUT], right));
    check_gaps(t, RESULT);
    GO_ON(t);
    const int64_t count = tsr_numel(t->tensor[RESULT]);
    for (int64_t k = first_sample(t, count, n); k >= 0; k = next_sample(t, k, count, n)) {
        const value x = value_at(t->tensor[INPUT], k);
        uint64_t before = 0;
        for (int64_t i = 0; i < n; i++) {
            const value y = value_at(*sorted, i);
            before +=
                right ? !is_before(t->check->dtype, x, y, false) : is_before(t->check->dtype, y, x, false);
        }
        MUST(t, value_at(t->tensor[RESULT], k).bits == before, "element %lld belongs before %lld, not %lld",
             (long long)k, (long long)before, (long long)value_at(t->tensor[RESULT], k).bits);
    }
}

void list_order(check_list *list)
{
    for (int d = 1; d < TSR_DTYPE_COUNT; d++) {
        const tsr_dtype dtype = (tsr_dtype)d;
        if (is_complex(dtype)) continue;
        add_check(list, (check){ .family = family, .op = TSR_OP_SORT, .run = check_sort, .dtype = dtype },
                  "sort");
        add_check(list, (check){ .family = family, .op = TSR_OP_SORT, .run = check_topk, .dtype = dtype },
                  "topk");
        add_check(list,
                  (check){ .family = family, .op = TSR_OP_ARGSORT, .run = check_argsort, .dtype = dtype },
                  "argsort");
        add_check(list, (check){ .family = family, .op = TSR_OP_SEARCHSORTED, .run = check_searchsorted,
                                 .dtype = dtype }, "searchsorted");
    }
}
