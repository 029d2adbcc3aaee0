/* ops_order.c - elements in order: stable, so there is one answer. */
#include <stdlib.h>
#include <string.h>

#include "operands.h"

enum { X, OTHER, MOST = 60000 };

static const tolerance bits = { .ulps = BITS };

static tsr_status sort(trial *t, side s)
{
    return tsr_sort(RESULT(t, s, 0), IN(t, s, X), t->with.axis, t->with.flag);
}
static tsr_status argsort(trial *t, side s)
{
    return tsr_argsort(RESULT(t, s, 0), IN(t, s, X), t->with.axis, t->with.flag);
}
static tsr_status sort_both(trial *t, side s)
{
    return tsr_sort_with_indices(RESULT(t, s, 0), RESULT(t, s, 1), IN(t, s, X), t->with.axis, t->with.flag);
}
static tsr_status topk(trial *t, side s)
{
    return tsr_topk(RESULT(t, s, 0), RESULT(t, s, 1), IN(t, s, X), t->with.n[0], t->with.axis, t->with.flag,
                    true);
}
static tsr_status kthvalue(trial *t, side s)
{
    return tsr_kthvalue(RESULT(t, s, 0), RESULT(t, s, 1), IN(t, s, X), t->with.n[0], t->with.axis,
                        t->with.flag);
}
static tsr_status unique(trial *t, side s)
{
    const tsr_unique_results more = { RESULT(t, s, 1), RESULT(t, s, 2), RESULT(t, s, 3) };
    return tsr_unique(RESULT(t, s, 0), IN(t, s, X), &more);
}
static tsr_status isin(trial *t, side s) { return tsr_isin(RESULT(t, s, 0), IN(t, s, X), IN(t, s, OTHER)); }
static tsr_status searchsorted(trial *t, side s)
{
    return tsr_searchsorted(RESULT(t, s, 0), IN(t, s, OTHER), IN(t, s, X), t->with.flag);
}

/* Few different numbers, so that many are equal; or any. */
static void make_x(trial *t, int least)
{
    int64_t shape[RANK];
    const values few = { -3, 3, 5, false };
    const int ndim = random_shape(t, shape, least, 4, MOST);
    const int axis = ndim > 0 ? (int)random_below(t, ndim) : 0;
    const int64_t n = ndim > 0 ? shape[axis] : 1;
    t->with.axis = once_in(t, 2) ? axis : axis - ndim;
    t->with.flag = once_in(t, 2);
    t->with.n[0] = random_between(t, n > 0 ? 1 : 0, n);
    make_input(t, X, t->check->dtype, ndim, shape, once_in(t, 2) ? &few : &any_values);
}

typedef struct row {
    const char *name;
    tsr_op_kind op;
    call_fn call;
    int results, least;
    unsigned in_place;
} row;

static const row rows[] = {
    { "sort", TSR_OP_SORT, sort, 1, 1, 1 },
    { "argsort", TSR_OP_ARGSORT, argsort, 1, 1, 0 },
    { "sort_with_indices", TSR_OP_SORT, sort_both, 2, 1, 1 },
    { "topk", TSR_OP_SORT, topk, 2, 1, 0 },
    { "kthvalue", TSR_OP_SORT, kthvalue, 2, 1, 0 },
    { "unique", TSR_OP_NONE, unique, 4, 0, 0 },
};

static void check_order(trial *t)
{
    const row *r = t->check->about;
    make_x(t, r->least);
    run_op(t, r->call, r->results, r->in_place, &bits);
}

static void check_isin(trial *t)
{
    const int64_t n = random_below(t, 30);
    make_x(t, 0);
    make_input(t, OTHER, t->check->dtype, 1, &n, &plain_values);
    run_op(t, isin, 1, 0, &bits);
}

/* The list is sorted by the CPU first, which puts NaN last. */
static void check_search(trial *t)
{
    const int64_t n = random_below(t, 50);
    tsr_tensor *sorted = NULL, *any = NULL;
    make_x(t, 0);
    make_input(t, OTHER, t->check->dtype, 1, &n, &plain_values);
    GO_ON(t);
    any = t->slot[OTHER].at[HERE];
    t->slot[OTHER].at[HERE] = NULL;
    tsr_release(&t->slot[OTHER].at[THERE]);
    free(t->slot[OTHER].bytes);
    t->slot[OTHER].bytes = NULL;
    const tsr_status s = tsr_sort(&sorted, any, 0, false);
    if (s == TSR_OK) make_from(t, OTHER, t->check->dtype, 1, &n, sorted->data);
    tsr_release(&any);
    tsr_release(&sorted);
    NEED(t, s);
    run_op(t, searchsorted, 1, 0, &bits);
}

void list_order(check_list *list)
{
    const uint32_t dtypes = dtypes_of(TSR_OP_SORT, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        add_for_dtypes(list,
                       (check){ .family = "order", .op = rows[i].op, .run = check_order, .about = &rows[i] },
                       rows[i].name, dtypes);
    add_for_dtypes(list, (check){ .family = "order", .op = TSR_OP_NONE, .run = check_isin }, "isin", dtypes);
    add_for_dtypes(list, (check){ .family = "order", .op = TSR_OP_SEARCHSORTED, .run = check_search },
                   "searchsorted", dtypes);
}
