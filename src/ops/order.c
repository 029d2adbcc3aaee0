/* order.c - sorting, and what follows from it: the best, the k-th, the different ones,
 * and finding. */
#include "backend/device_run.h"
#include "composed.h"
#include "statistics.h"
#include "tessera/move.h"
#include "tessera/ops/elementwise.h"
#include "tessera/ops/index.h"
#include "tessera/ops/order.h"
#include "tessera/scope.h"
#include "tessera/view.h"

tsr_status tsri_check_ordered(const char *op, const char *what, const tsr_tensor *t)
{
    TSRI_TRY(tsri_check_allocated(op, what, t));
    TSRI_CHECK(tsr_dtype_kind(t->dtype) != TSR_COMPLEX, TSR_EDTYPE,
               "%s: %s is %s, and complex numbers have no order", op, what, TSRI_DESC(&t->desc));
    return TSR_OK;
}

/* Several results ------------------------------------------------------------------------ */

tsr_status tsri_deliver(const char *op, int n, tsr_tensor **const *outs, const tsr_tensor *const *made,
                        const tsr_tensor *x)
{
    tsri_results r = { .op = op };
    tsr_status s = TSR_OK;
    int at = 0;
    for (int i = 0; i < n && s == TSR_OK; i++) {
        tsr_desc d;
        if (!made[i]) continue;
        s = tsri_desc_packed(&d, op, made[i]->dtype, made[i]->ndim, made[i]->shape);
        if (s == TSR_OK) s = tsri_results_add(&r, outs[i], &d, x);
    }
    for (int i = 0; i < n && s == TSR_OK; i++)
        if (made[i]) s = tsri_copy_run(*r.out[at++], made[i]);
    return tsri_results_end(&r, s);
}

/* Sorting -------------------------------------------------------------------------------- */

/* The first `keep` of each lane; values or indices may be NULL, but not both. */
typedef struct sorting {
    const char *op;
    int         axis;
    int64_t     keep;
    bool        descending;
} sorting;

static tsr_status sort_run(tsr_tensor *values, tsr_tensor *indices, const tsr_tensor *x, const sorting *how)
{
    const tsr_sort_params params = { how->axis, how->descending };
    tsr_op op = { .kind = values ? TSR_OP_SORT : TSR_OP_ARGSORT, .nin = 1, .nout = 1, .in = { x },
                  .out = { values ? values : indices, NULL }, .params = &params };
    if (values && indices) op.out[op.nout++] = indices;
    return tsr_numel(op.out[0]) == 0 ? TSR_OK : tsri_op_run(&op);
}

static tsr_status sort_into(tsri_results *r, tsr_tensor **values, tsr_tensor **indices, const tsr_tensor **x,
                            tsr_tensor **temporary, const sorting *how)
{
    tsr_desc d;
    int64_t shape[TSR_MAX_NDIM];
    for (int i = 0; i < (*x)->ndim; i++) shape[i] = i == how->axis ? how->keep : (*x)->shape[i];
    TSRI_TRY(tsri_desc_packed(&d, how->op, (*x)->dtype, (*x)->ndim, shape));
    if (values) TSRI_TRY(tsri_results_add(r, values, &d, *x));
    TSRI_TRY(tsri_desc_packed(&d, how->op, TSR_I64, (*x)->ndim, shape));
    if (indices) TSRI_TRY(tsri_results_add(r, indices, &d, *x));
    for (int i = 0; i < r->n; i++) TSRI_TRY(tsri_separate(x, temporary, *r->out[i], r->origin[i]));
    return sort_run(values ? *values : NULL, indices ? *indices : NULL, *x, how);
}

static tsr_status sort(tsr_tensor **values, tsr_tensor **indices, const tsr_tensor *x, const sorting *how)
{
    tsri_results r = { .op = how->op };
    tsr_tensor *temporary = NULL;
    const tsr_status s = sort_into(&r, values, indices, &x, &temporary, how);
    tsr_release(&temporary);
    return tsri_results_end(&r, s);
}

/* The whole of a lane, or k of it. */
static tsr_status open_sorting(sorting *how, const char *op, const tsr_tensor *x, int axis, bool descending)
{
    TSRI_TRY(tsri_check_ordered(op, "x", x));
    how->op = op;
    how->descending = descending;
    TSRI_TRY(tsri_axis(&how->axis, op, "axis", axis, &x->desc));
    how->keep = x->shape[how->axis];
    return TSR_OK;
}

tsr_status tsr_sort(tsr_tensor **out, const tsr_tensor *x, int axis, bool descending)
{
    sorting how;
    TSRI_CHECK(out, TSR_ENULL, "sort: out is NULL");
    TSRI_TRY(open_sorting(&how, "sort", x, axis, descending));
    return sort(out, NULL, x, &how);
}

tsr_status tsr_argsort(tsr_tensor **out, const tsr_tensor *x, int axis, bool descending)
{
    sorting how;
    TSRI_CHECK(out, TSR_ENULL, "argsort: out is NULL");
    TSRI_TRY(open_sorting(&how, "argsort", x, axis, descending));
    return sort(NULL, out, x, &how);
}

static tsr_status check_two(const char *op, tsr_tensor **values, tsr_tensor **indices)
{
    TSRI_CHECK(values, TSR_ENULL, "%s: values is NULL", op);
    TSRI_CHECK(indices, TSR_ENULL, "%s: indices is NULL", op);
    TSRI_CHECK(values != indices, TSR_EINVAL, "%s: values and indices are one handle", op);
    return TSR_OK;
}

tsr_status tsr_sort_with_indices(tsr_tensor **values, tsr_tensor **indices, const tsr_tensor *x, int axis,
                                 bool descending)
{
    sorting how;
    TSRI_TRY(check_two("sort_with_indices", values, indices));
    TSRI_TRY(open_sorting(&how, "sort_with_indices", x, axis, descending));
    return sort(values, indices, x, &how);
}

tsr_status tsr_topk(tsr_tensor **values, tsr_tensor **indices, const tsr_tensor *x, int64_t k, int axis,
                    bool largest, bool sorted)
{
    sorting how;
    (void)sorted;  /* an order left open may be this one */
    TSRI_TRY(check_two("topk", values, indices));
    TSRI_TRY(open_sorting(&how, "topk", x, axis, largest));
    TSRI_CHECK(k >= 0 && k <= how.keep, TSR_EINVAL, "topk: k is %lld, but dim %d of %s has %lld",
               (long long)k, axis, TSRI_DESC(&x->desc), (long long)how.keep);
    how.keep = k;
    return sort(values, indices, x, &how);
}

/* The last index along the axis, which goes away or stays. */
static tsr_status see_last(tsr_tensor *v, const tsr_tensor *t, int axis, bool keep_dim)
{
    TSRI_TRY(tsri_see_slice(v, t, axis, t->shape[axis] - 1, t->shape[axis], 1));
    if (!keep_dim) tsri_remove_dim(&v->desc, axis);
    return TSR_OK;
}

tsr_status tsr_kthvalue(tsr_tensor **values, tsr_tensor **indices, const tsr_tensor *x, int64_t k, int axis,
                        bool keep_dim)
{
    sorting how;
    tsr_tensor *sorted = NULL, *places = NULL, value, place;
    TSRI_TRY(check_two("kthvalue", values, indices));
    TSRI_TRY(open_sorting(&how, "kthvalue", x, axis, false));
    TSRI_CHECK(k >= 1 && k <= how.keep, TSR_EINVAL,
               "kthvalue: the %lld-th along dim %d of %s, which has %lld", (long long)k, axis,
               TSRI_DESC(&x->desc), (long long)how.keep);
    how.keep = k;
    tsr_status s = sort(&sorted, &places, x, &how);
    if (s == TSR_OK) s = see_last(&value, sorted, how.axis, keep_dim);
    if (s == TSR_OK) s = see_last(&place, places, how.axis, keep_dim);
    if (s == TSR_OK)
        s = tsri_deliver("kthvalue", 2, (tsr_tensor **const[]){ values, indices },
                         (const tsr_tensor *const[]){ &value, &place }, x);
    tsr_release_all(&sorted, &places);
    return s;
}

/* Different values ------------------------------------------------------------------------- */

/* x as a vector in order, and what tells its runs of equal values. */
typedef struct runs {
    int64_t     n;       /* elements */
    tsr_tensor *sorted;
    tsr_tensor *places;  /* i64: where each was */
    tsr_tensor *changes; /* bool: is element i + 1 another value than element i? */
    tsr_tensor *starts;  /* i64: where each run begins */
} runs;

static void end_runs(runs *r)
{
    tsr_tensor **all[] = { &r->sorted, &r->places, &r->changes, &r->starts };
    for (int i = 0; i < 4; i++) tsr_release(all[i]);
}

static tsr_status make_vector(tsr_tensor **out, const char *op, int64_t n)
{
    tsr_desc d;
    TSRI_TRY(tsri_desc_packed(&d, op, TSR_I64, 1, &n));
    return tsri_make(out, op, &d, TSR_CPU, TSR_MEMORY_HOST);
}

static tsr_status list_starts(runs *r)
{
    const bool *change = r->changes ? r->changes->data : NULL;
    int64_t n = r->n > 0, at = 0;
    for (int64_t i = 1; i < r->n; i++) n += change[i - 1];
    TSRI_TRY(make_vector(&r->starts, "unique", n));
    int64_t *start = r->starts->data;
    for (int64_t i = 0; i < r->n; i++)
        if (i == 0 || change[i - 1]) start[at++] = i;
    return TSR_OK;
}

static tsr_status find_runs(runs *r, const tsr_tensor *x)
{
    tsr_tensor *flat = NULL, before, after;
    r->n = tsr_numel(x);
    TSRI_TRY(tsr_reshape(&flat, x, 1, &r->n));
    const tsr_status s = sort(&r->sorted, &r->places, flat, &(sorting){ "unique", 0, r->n, false });
    tsr_release(&flat);
    TSRI_TRY(s);
    if (r->n > 1) {
        TSRI_TRY(tsri_see_slice(&before, r->sorted, 0, 0, r->n - 1, 1));
        TSRI_TRY(tsri_see_slice(&after, r->sorted, 0, 1, r->n, 1));
        TSRI_TRY(tsr_ne(&r->changes, &before, &after));
    }
    return list_starts(r);
}

static tsr_status count_runs(tsr_tensor **out, const runs *r)
{
    const int64_t n = tsr_numel(r->starts), *start = r->starts->data;
    TSRI_TRY(make_vector(out, "unique", n));
    int64_t *count = (*out)->data;
    for (int64_t i = 0; i < n; i++) count[i] = (i + 1 < n ? start[i + 1] : r->n) - start[i];
    return TSR_OK;
}

static tsr_status number_elements(tsr_tensor **out, const runs *r, const tsr_tensor *x)
{
    tsr_desc d;
    const bool *change = r->changes ? r->changes->data : NULL;
    const int64_t *place = r->places->data;
    int64_t run = 0;
    TSRI_TRY(tsri_desc_packed(&d, "unique", TSR_I64, x->ndim, x->shape));
    TSRI_TRY(tsri_make(out, "unique", &d, TSR_CPU, TSR_MEMORY_HOST));
    int64_t *number = (*out)->data;
    for (int64_t i = 0; i < r->n; i++) {
        if (i > 0 && change[i - 1]) run++;
        number[place[i]] = run;
    }
    return TSR_OK;
}

static tsr_status unique(tsr_tensor **const *outs, runs *r, tsr_tensor **made, const tsr_tensor *x,
                         const tsr_tensor *like)
{
    TSRI_TRY(find_runs(r, x));
    TSRI_TRY(tsr_take(&made[0], r->sorted, r->starts, 0));
    if (outs[1]) TSRI_TRY(count_runs(&made[1], r));
    if (outs[2]) TSRI_TRY(number_elements(&made[2], r, x));
    if (outs[3]) TSRI_TRY(tsr_take(&made[3], r->places, r->starts, 0));
    return tsri_deliver("unique", 4, outs,
                        (const tsr_tensor *const[]){ made[0], made[1], made[2], made[3] }, like);
}

tsr_status tsr_unique(tsr_tensor **values, const tsr_tensor *x, const tsr_unique_results *more)
{
    runs r = { 0 };
    tsr_tensor *made[4] = { NULL }, *temporary = NULL;
    tsr_tensor **const outs[4] = { values, more ? more->counts : NULL, more ? more->inverse : NULL,
                                   more ? more->first : NULL };
    TSRI_CHECK(values, TSR_ENULL, "unique: values is NULL");
    TSRI_TRY(tsri_check_ordered("unique", "x", x));
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++)
            TSRI_CHECK(!outs[i] || outs[i] != outs[j], TSR_EINVAL, "unique: two results are one handle");
    const tsr_tensor *seen = x;
    tsr_status s = tsri_copy_to_host(&seen, &temporary);
    if (s == TSR_OK) s = unique(outs, &r, made, seen, x);
    tsr_release(&temporary);
    for (int i = 0; i < 4; i++) tsr_release(&made[i]);
    end_runs(&r);
    return s;
}

/* Finding ---------------------------------------------------------------------------------- */

/* A list and what is looked for in it, in one dtype. */
typedef struct search {
    const char       *op;
    const tsr_tensor *list, *x;
    tsr_tensor       *list_temporary, *x_temporary;
} search;

static tsr_status end_search(search *c, tsr_status s)
{
    tsr_release_all(&c->list_temporary, &c->x_temporary);
    return s;
}

static tsr_status open_search(search *c)
{
    tsr_dtype dtype;
    TSRI_TRY(tsri_promote_all(&dtype, c->op, 2, (const tsr_tensor *const[]){ c->list, c->x }));
    TSRI_TRY(tsri_as_dtype(&c->list, &c->list_temporary, dtype));
    return tsri_as_dtype(&c->x, &c->x_temporary, dtype);
}

static tsr_status search_run(tsr_tensor *out, const tsr_tensor *list, const tsr_tensor *x, bool right)
{
    const tsr_search_params params = { right };
    if (tsr_numel(out) == 0) return TSR_OK;
    return tsri_op_run(&(tsr_op){ .kind = TSR_OP_SEARCHSORTED,
                                  .nin = 2,
                                  .nout = 1,
                                  .in = { x, list },
                                  .out = { out },
                                  .params = &params });
}

static tsr_status searchsorted(search *c, tsr_tensor **out, bool right)
{
    tsr_desc d;
    tsri_origin origin = TSRI_ORIGIN_GIVEN;
    TSRI_TRY(open_search(c));
    TSRI_TRY(tsri_desc_packed(&d, c->op, TSR_I64, c->x->ndim, c->x->shape));
    TSRI_TRY(tsri_result(out, &origin, c->op, &d, c->x));
    tsr_status s = tsri_separate(&c->x, &c->x_temporary, *out, origin);
    if (s == TSR_OK) s = tsri_separate(&c->list, &c->list_temporary, *out, origin);
    if (s == TSR_OK) s = search_run(*out, c->list, c->x, right);
    return tsri_result_end(out, origin, s);
}

tsr_status tsr_searchsorted(tsr_tensor **out, const tsr_tensor *sorted, const tsr_tensor *x, bool right)
{
    search c = { .op = "searchsorted", .list = sorted, .x = x };
    TSRI_CHECK(out, TSR_ENULL, "searchsorted: out is NULL");
    TSRI_TRY(tsri_check_ordered("searchsorted", "sorted", sorted));
    TSRI_TRY(tsri_check_ordered("searchsorted", "x", x));
    TSRI_CHECK(sorted->ndim == 1, TSR_ESHAPE, "searchsorted: sorted is %s, and must be a vector",
               TSRI_DESC(&sorted->desc));
    return end_search(&c, searchsorted(&c, out, right));
}

/* c->list as a sorted vector. */
static tsr_status sort_list(search *c)
{
    tsr_tensor *flat = NULL, *sorted = NULL;
    const int64_t n = tsr_numel(c->list);
    TSRI_TRY(tsr_reshape(&flat, c->list, 1, &n));
    const tsr_status s = sort(&sorted, NULL, flat, &(sorting){ c->op, 0, n, false });
    tsr_release(&flat);
    TSRI_TRY(s);
    tsr_release(&c->list_temporary);
    c->list = c->list_temporary = sorted;
    return TSR_OK;
}

/* Where each element would stand in the list, and what stands there. Beyond the end is
 * the last one, which such an element is not. */
static tsr_status find_nearest(const search *c, tsr_tensor **places, tsr_tensor **nearest)
{
    tsr_desc d;
    TSRI_TRY(tsri_desc_packed(&d, c->op, TSR_I64, c->x->ndim, c->x->shape));
    TSRI_TRY(tsri_make_beside(places, c->op, &d, c->x));
    TSRI_TRY(search_run(*places, c->list, c->x, false));
    TSRI_TRY(tsr_minimum(places, *places, TSR_NUMBER(tsr_numel(c->list) - 1)));
    return tsr_take(nearest, c->list, *places, 0);
}

static tsr_status isin_run(search *c, tsr_tensor **out)
{
    tsr_tensor *places = NULL, *nearest = NULL;
    if (tsr_numel(c->list) == 0) return tsri_fill_run(*out, tsr_scalar_bool(false));
    TSRI_TRY(sort_list(c));
    tsr_status s = find_nearest(c, &places, &nearest);
    if (s == TSR_OK) s = tsr_eq(out, nearest, c->x);
    tsr_release_all(&places, &nearest);
    return s;
}

static tsr_status isin(search *c, tsr_tensor **out)
{
    tsr_desc d;
    tsri_origin origin = TSRI_ORIGIN_GIVEN;
    TSRI_TRY(open_search(c));
    TSRI_TRY(tsri_desc_packed(&d, c->op, TSR_BOOL, c->x->ndim, c->x->shape));
    TSRI_TRY(tsri_result(out, &origin, c->op, &d, c->x));
    return tsri_result_end(out, origin, isin_run(c, out));
}

tsr_status tsr_isin(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *test)
{
    search c = { .op = "isin", .list = test, .x = x };
    TSRI_CHECK(out, TSR_ENULL, "isin: out is NULL");
    TSRI_TRY(tsri_check_ordered("isin", "x", x));
    TSRI_TRY(tsri_check_ordered("isin", "test", test));
    return end_search(&c, isin(&c, out));
}
