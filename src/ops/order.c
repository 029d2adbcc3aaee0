/* order.c - sorting, and what follows from it: the best, the k-th, the different ones,
 * and finding. */
#include "backend/device_run.h"
#include "composed.h"
#include "dispatch.h"
#include "statistics.h"
#include "tessera/move.h"
#include "tessera/ops/elementwise.h"
#include "tessera/ops/index.h"
#include "tessera/ops/order.h"
#include "tessera/scope.h"
#include "tessera/view.h"

static tsr_status check_ordered(const char *op, const char *what, const tsr_tensor *t)
{
    TSRI_TRY(tsri_check_allocated(op, what, t));
    TSRI_CHECK(tsr_dtype_kind(t->dtype) != TSR_COMPLEX, TSR_EDTYPE,
               "%s: %s is %s, and complex numbers have no order", op, what, TSRI_DESC(&t->desc));
    return TSR_OK;
}

/* Sorting -------------------------------------------------------------------------------- */

/* The first `keep` of each lane. */
typedef struct sorting {
    tsr_sort_params how;
    int64_t         keep;
} sorting;

static tsr_status infer_kept(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                             const void *params)
{
    const sorting *p = params;
    int64_t shape[TSR_MAX_NDIM];
    (void)kind;
    for (int i = 0; i < in[0]->ndim; i++) shape[i] = i == p->how.axis ? p->keep : in[0]->shape[i];
    TSRI_TRY(tsri_desc_packed(&out[0], name, in[0]->dtype, in[0]->ndim, shape));
    return tsri_desc_packed(&out[1], name, TSR_I64, in[0]->ndim, shape);
}

static tsr_status run_kept(const tsr_op *op)
{
    tsr_op sort = *op;
    sort.kind = TSR_OP_SORT;
    sort.params = &((const sorting *)op->params)->how;
    return tsri_op_run(&sort);
}

static tsr_status sort_some(tsr_tensor **values, tsr_tensor **indices, const char *op, const tsr_tensor *x,
                            const sorting *p)
{
    static tsri_composed topk = { .row = "topk", .traits = { .infer = infer_kept, .parts = run_kept } };
    return tsri_dispatch(&(tsri_call){ .composed = &topk, .name = op, .params = p, .nin = 1, .in = { x },
                                       .nout = 2, .out = { values, indices } });
}

static tsr_status open_sorting(sorting *p, const char *op, const tsr_tensor *x, int axis, bool descending)
{
    TSRI_TRY(tsri_check_allocated(op, "x", x));
    TSRI_TRY(tsri_axis(&axis, op, "axis", axis, &x->desc));
    *p = (sorting){ .how = { axis, descending }, .keep = x->shape[axis] };
    return TSR_OK;
}

/* The whole of each lane. */
static tsr_status sort(tsr_op_kind kind, const char *op, int nout, tsr_tensor **const *outs,
                       const tsr_tensor *x, int axis, bool descending)
{
    sorting p;
    tsri_call call = { .kind = kind, .name = op, .params = &p.how, .nin = 1, .in = { x }, .nout = nout };
    for (int i = 0; i < nout; i++) call.out[i] = outs[i];
    TSRI_TRY(open_sorting(&p, op, x, axis, descending));
    return tsri_dispatch(&call);
}

tsr_status tsr_sort(tsr_tensor **out, const tsr_tensor *x, int axis, bool descending)
{
    return sort(TSR_OP_SORT, "sort", 1, &out, x, axis, descending);
}

tsr_status tsr_argsort(tsr_tensor **out, const tsr_tensor *x, int axis, bool descending)
{
    return sort(TSR_OP_ARGSORT, "argsort", 1, &out, x, axis, descending);
}

tsr_status tsr_sort_with_indices(tsr_tensor **values, tsr_tensor **indices, const tsr_tensor *x, int axis,
                                 bool descending)
{
    return sort(TSR_OP_SORT, "sort_with_indices", 2, (tsr_tensor **const[]){ values, indices }, x, axis,
                descending);
}

tsr_status tsr_topk(tsr_tensor **values, tsr_tensor **indices, const tsr_tensor *x, int64_t k, int axis,
                    bool largest, bool sorted)
{
    sorting p;
    (void)sorted;  /* an order left open may be this one */
    TSRI_TRY(open_sorting(&p, "topk", x, axis, largest));
    TSRI_CHECK(k >= 0 && k <= p.keep, TSR_EINVAL, "topk: k is %lld, but dim %d of %s has %lld", (long long)k,
               axis, TSRI_DESC(&x->desc), (long long)p.keep);
    p.keep = k;
    return sort_some(values, indices, "topk", x, &p);
}

/* The last index along the axis, which goes away or stays. */
static void see_last(tsr_tensor *v, const tsr_tensor *t, int axis, bool keep_dim)
{
    tsri_see_slice(v, t, axis, t->shape[axis] - 1, t->shape[axis], 1);
    if (!keep_dim) tsri_remove_dim(&v->desc, axis);
}

tsr_status tsr_kthvalue(tsr_tensor **values, tsr_tensor **indices, const tsr_tensor *x, int64_t k, int axis,
                        bool keep_dim)
{
    sorting p;
    tsr_tensor *sorted = NULL, *places = NULL, value, place;
    TSRI_CHECK(values && indices, TSR_ENULL, "kthvalue: %s is NULL", values ? "indices" : "values");
    TSRI_CHECK(values != indices, TSR_EINVAL, "kthvalue: values and indices are the same handle");
    TSRI_TRY(open_sorting(&p, "kthvalue", x, axis, false));
    TSRI_CHECK(k >= 1 && k <= p.keep, TSR_EINVAL,
               "kthvalue: the %lld-th along dim %d of %s, which has %lld", (long long)k, axis,
               TSRI_DESC(&x->desc), (long long)p.keep);
    p.keep = k;
    tsr_status s = sort_some(&sorted, &places, "kthvalue", x, &p);
    if (s == TSR_OK) {
        see_last(&value, sorted, p.how.axis, keep_dim);
        see_last(&place, places, p.how.axis, keep_dim);
        s = tsri_deliver("kthvalue", 2, (tsr_tensor **const[]){ values, indices },
                         (const tsr_tensor *const[]){ &value, &place }, x);
    }
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
    for (int64_t i = 0; at < n; i++) {  /* without a branch that cannot be predicted */
        start[at] = i;
        at += i == 0 || change[i - 1];
    }
    return TSR_OK;
}

static tsr_status find_runs(runs *r, const tsr_tensor *x, bool with_places)
{
    tsr_tensor *flat = NULL, before, after;
    r->n = tsr_numel(x);
    TSRI_TRY(tsr_reshape(&flat, x, 1, &r->n));
    const tsr_status s = with_places ? tsr_sort_with_indices(&r->sorted, &r->places, flat, 0, false)
                                     : tsr_sort(&r->sorted, flat, 0, false);
    tsr_release(&flat);
    TSRI_TRY(s);
    if (r->n > 1) {
        tsri_see_slice(&before, r->sorted, 0, 0, r->n - 1, 1);
        tsri_see_slice(&after, r->sorted, 0, 1, r->n, 1);
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
    TSRI_TRY(find_runs(r, x, outs[2] || outs[3]));
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
    TSRI_TRY(check_ordered("unique", "x", x));
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++)
            TSRI_CHECK(!outs[i] || outs[i] != outs[j], TSR_EINVAL, "unique: two results are the same handle");
    const tsr_tensor *seen = x;
    tsr_status s = tsri_copy_to_host(&seen, &temporary);
    if (s == TSR_OK) s = unique(outs, &r, made, seen, x);
    tsr_release(&temporary);
    for (int i = 0; i < 4; i++) tsr_release(&made[i]);
    end_runs(&r);
    return s;
}

/* Finding ---------------------------------------------------------------------------------- */

tsr_status tsr_searchsorted(tsr_tensor **out, const tsr_tensor *sorted, const tsr_tensor *x, bool right)
{
    const tsr_search_params params = { right };
    return tsri_dispatch(&(tsri_call){ .kind = TSR_OP_SEARCHSORTED, .params = &params, .nin = 2,
                                       .in = { x, sorted }, .nout = 1, .out = { out } });
}
