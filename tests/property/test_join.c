/* test_join.c - joining tensors, and cutting them apart again.
 *
 * Parts lie in one block of memory with strides of their own; results are made,
 * or given with any strides, and may overlap the parts. What must come out is
 * listed element by element from a copy of the block.
 */
#include "reference.h"

enum { MOST_PARTS = 5, OUT = 0, FIRST_PART = 1 };

static _Alignas(64) unsigned char memory[REF_BYTES], before[REF_BYTES];
static ref_view part[MOST_PARTS], whole;
static int64_t from_at[REF_ELEMENTS]; /* for each element of the result, where its bytes lay */

/* A tensor with its lowest byte near `lowest`, in c->t[handle]. */
static bool make_tensor(ref_case *c, int handle, ref_view *v, tsr_dtype dtype, int ndim, const int64_t *shape,
                        bool writable, int64_t lowest, int64_t most)
{
    tsr_desc d;
    int64_t low, high;
    const int64_t align = ref_align(dtype);
    ref_random_desc(c, &d, v, &low, dtype, ndim, shape, writable, most);
    ref_span(v, &low, &high);
    const int64_t first = (lowest - low + align - 1) / align * align;
    for (int64_t k = 0; k < v->n; k++) v->at[k] += first;
    return ref_make(c, handle, memory, first, &d, first + low, first + high);
}

/* Joining ---------------------------------------------------------------------------- */

typedef struct join {
    int       n, ndim, axis;
    bool      stacked;
    tsr_dtype dtype;
    int64_t   shape[TSR_MAX_NDIM];   /* of a part; for concat, its size along axis varies */
    const tsr_tensor *parts[MOST_PARTS];
} join;

/* Parts that fit together. */
static bool make_parts(ref_case *c, join *j, bool overlap)
{
    j->n = (int)ref_between(c, 1, MOST_PARTS);
    j->dtype = ref_random_dtype(c);
    j->stacked = ref_once_in(c, 2);
    do j->ndim = ref_random_shape(c, j->shape, 4, 24);
    while (!j->stacked && j->ndim == 0);
    j->axis = (int)ref_below(c, j->stacked ? j->ndim + 1 : j->ndim);
    ref_random_bytes(c, memory, sizeof memory);
    for (int i = 0; i < j->n; i++) {
        const int64_t lowest = overlap ? ref_below(c, 200) : 64 + i * (REF_BYTES / 8);
        if (!j->stacked && ref_once_in(c, 2)) j->shape[j->axis] = ref_below(c, 5);
        if (!make_tensor(c, FIRST_PART + i, &part[i], j->dtype, j->ndim, j->shape, false, lowest,
                         REF_BYTES / 8 - 128))
            return false;
        j->parts[i] = c->t[FIRST_PART + i];
    }
    return true;
}

/* The result's shape, and where each of its elements comes from. */
static void list_joined(const join *j)
{
    int64_t shape[TSR_MAX_NDIM];
    if (j->stacked) {
        for (int i = 0; i <= j->ndim; i++)
            shape[i] = i == j->axis ? j->n : j->shape[i < j->axis ? i : i - 1];
    } else {
        for (int i = 0; i < j->ndim; i++) shape[i] = part[0].shape[i];
        shape[j->axis] = 0;
        for (int i = 0; i < j->n; i++) shape[j->axis] += part[i].shape[j->axis];
    }
    ref_set_shape(&whole, j->dtype, j->ndim + (j->stacked ? 1 : 0), shape);
    for (REF_EACH(&whole, index, k)) {
        int64_t inner[TSR_MAX_NDIM];
        int which = 0;
        if (j->stacked) {
            which = (int)index[j->axis];
            for (int i = 0; i < j->ndim; i++) inner[i] = index[i < j->axis ? i : i + 1];
        } else {
            for (int i = 0; i < j->ndim; i++) inner[i] = index[i];
            while (inner[j->axis] >= part[which].shape[j->axis])
                inner[j->axis] -= part[which++].shape[j->axis];
        }
        from_at[k] = part[which].at[ref_flat(&part[which], inner)];
    }
}

static tsr_status run_join(ref_case *c, tsr_tensor **out, const join *j)
{
    const int rank = j->ndim + (j->stacked ? 1 : 0);
    const int axis = ref_once_in(c, 2) ? j->axis : j->axis - rank;
    ref_say(c, "    %s %d along %d\n", j->stacked ? "stack" : "concat", j->n, axis);
    if (j->axis == 0 && ref_once_in(c, 2)) return tsr_batch_join(out, j->n, j->parts, !j->stacked);
    return j->stacked ? tsr_stack(out, j->n, j->parts, axis) : tsr_concat(out, j->n, j->parts, axis);
}

static void join_case(ref_case *c)
{
    static join j;
    const bool given = ref_once_in(c, 2), overlap = given && ref_once_in(c, 2);
    if (!make_parts(c, &j, overlap)) return;
    list_joined(&j);
    const size_t size = (size_t)ref_size(j.dtype);
    if (given) {
        const int64_t shape_n = whole.ndim, lowest = overlap ? ref_below(c, 200) : REF_BYTES * 3 / 4;
        int64_t shape[TSR_MAX_NDIM];
        memcpy(shape, whole.shape, sizeof shape);
        if (!make_tensor(c, OUT, &whole, j.dtype, (int)shape_n, shape, true, lowest, REF_BYTES / 4 - 128))
            return;
    }
    memcpy(before, memory, sizeof memory);
    MUST(run_join(c, &c->t[OUT], &j) == TSR_OK && tsr_check(c->t[OUT]) == TSR_OK);
    if (!given) {
        MUST(tsr_is_contiguous(c->t[OUT]) && c->t[OUT]->dtype == j.dtype && c->t[OUT]->ndim == whole.ndim);
        for (int i = 0; i < whole.ndim; i++) MUST(c->t[OUT]->shape[i] == whole.shape[i]);
        for (int64_t k = 0; k < whole.n; k++)
            MUST(!memcmp((char *)c->t[OUT]->data + (size_t)k * size, before + from_at[k], size));
    } else {
        static unsigned char wanted[REF_BYTES];
        memcpy(wanted, before, sizeof wanted);
        for (int64_t k = 0; k < whole.n; k++) memcpy(wanted + whole.at[k], before + from_at[k], size);
        memcpy(before, wanted, sizeof wanted);
    }
    MUST(!memcmp(memory, before, sizeof memory));
}

TEST(test_joined_tensors_hold_the_elements_of_their_parts) { ref_cases(40000, join_case); }

/* A part of another dtype, rank or size, or an axis that there is not. */
static void misfit_case(ref_case *c)
{
    static join j;
    static ref_view other;
    if (!make_parts(c, &j, false)) return;
    const int rank = j.ndim + (j.stacked ? 1 : 0);
    tsr_status want = TSR_OK;
    int axis = j.axis;
    int64_t shape[TSR_MAX_NDIM] = { 0 };
    for (int i = 0; i < j.ndim; i++) shape[i] = part[0].shape[i];
    const int64_t which = ref_below(c, 4), at = j.n > 1 ? ref_between(c, 1, j.n - 1) : -1;
    const int handle = FIRST_PART + MOST_PARTS;
    if (which == 0) {
        axis = ref_once_in(c, 2) ? rank : -rank - 1;
        want = TSR_EINDEX;
    } else if (at >= 0) {
        int ndim = j.ndim;
        tsr_dtype dtype = j.dtype;
        if (which == 1) {
            while (dtype == j.dtype) dtype = ref_random_dtype(c);
            want = TSR_EDTYPE;
        } else if (which == 2) {
            shape[ndim++] = 1;
            want = TSR_ESHAPE;
        } else {
            const int64_t dim = ndim ? ref_below(c, ndim) : -1;
            if (dim < 0 || (!j.stacked && dim == j.axis)) return;
            shape[dim]++;
            want = TSR_ESHAPE;
        }
        if (!make_tensor(c, handle, &other, dtype, ndim, shape, false, REF_BYTES * 3 / 4,
                         REF_BYTES / 4 - 128))
            return;
        j.parts[at] = c->t[handle];
    } else {
        return;
    }
    memcpy(before, memory, sizeof memory);
    MUST((j.stacked ? tsr_stack(&c->t[OUT], j.n, j.parts, axis)
                    : tsr_concat(&c->t[OUT], j.n, j.parts, axis)) == want);
    MUST(c->t[OUT] == NULL && !memcmp(memory, before, sizeof memory));
}

TEST(test_parts_that_do_not_fit_are_refused) { ref_cases(10000, misfit_case); }

/* Cutting ---------------------------------------------------------------------------- */

/* Is t the part of `whole` whose indices along axis begin at start? For unstack there is one
 * index, and the axis is gone. */
static bool is_part(ref_case *c, const tsr_tensor *t, int axis, int64_t start, bool stacked)
{
    static ref_view v;
    MUST_TRUE(tsr_check(t) == TSR_OK && tsr_is_view(t) && t->ndim == whole.ndim - (stacked ? 1 : 0));
    ref_of_desc(&v, &t->desc, (unsigned char *)t->data - memory);
    for (REF_EACH(&v, index, k)) {
        int64_t from[TSR_MAX_NDIM];
        for (int i = 0; i < whole.ndim; i++) {
            if (i == axis) from[i] = stacked ? start : start + index[i];
            else           from[i] = index[stacked && i > axis ? i - 1 : i];
        }
        MUST_TRUE(v.at[k] == whole.at[ref_flat(&whole, from)]);
    }
    return true;
}

/* Handles for the parts: none, some that hold tensors, some placed, and the source's own. */
static void choose_outs(ref_case *c, tsr_tensor **outs, int n, bool with_source)
{
    for (int i = 0; i < n; i++) {
        outs[i] = NULL;
        if (ref_once_in(c, 4) && tsr_zeros(&outs[i], TSR_U8, TSR_SHAPE(3)) != TSR_OK) outs[i] = NULL;
        if (!outs[i] && ref_once_in(c, 3)) outs[i] = tsr_place_none(&c->place[2 + i]);
    }
    if (with_source && n > 0) {  /* the source's handle is one of the results */
        const int64_t at = ref_below(c, n);
        tsr_release(&outs[at]);
        outs[at] = c->t[OUT];
    }
}

static void cut_case(ref_case *c)
{
    int64_t shape[TSR_MAX_NDIM], sizes[8], start = 0;
    const bool stacked = ref_once_in(c, 2), with_source = ref_once_in(c, 5);
    int ndim;
    do ndim = ref_random_shape(c, shape, 5, 200);
    while (ndim == 0);
    const int axis = (int)ref_below(c, ndim);
    if (shape[axis] > 8) shape[axis] = 8;
    if (!make_tensor(c, OUT, &whole, ref_random_dtype(c), ndim, shape, false, 64, REF_BYTES - 256)) return;
    int n = stacked ? (int)shape[axis] : (int)ref_between(c, 1, 5);
    int64_t left = shape[axis];
    for (int i = 0; i < n && !stacked; i++) {
        sizes[i] = i == n - 1 ? left : ref_below(c, left + 1);
        left -= sizes[i];
    }
    const bool wrong = ref_once_in(c, 15);
    if (wrong && stacked) n = (int)ref_below(c, 2) && n > 0 ? n - 1 : n + 1;
    else if (wrong) sizes[ref_below(c, n)] += ref_once_in(c, 2) ? 1 : -1 - shape[axis];
    tsr_tensor *outs[9], *had[9];
    choose_outs(c, outs, n, with_source);
    memcpy(had, outs, sizeof had);
    const int asked = ref_once_in(c, 2) ? axis : axis - ndim;
    ref_say(c, "    %s along %d into %d\n", stacked ? "unstack" : "split", asked, n);
    const tsr_status s =
        stacked ? tsr_unstack(outs, c->t[OUT], asked, n) : tsr_split(outs, c->t[OUT], asked, n, sizes);
    if (with_source && n > 0) c->t[OUT] = NULL;  /* it is among outs */
    bool good = s == (wrong ? TSR_ESHAPE : TSR_OK);
    for (int i = 0; i < n && good && !wrong; i++) {
        good = is_part(c, outs[i], axis, start, stacked);
        if (good && !stacked) good = outs[i]->shape[axis] == sizes[i];
        start += stacked ? 1 : sizes[i];
    }
    for (int i = 0; i < n && wrong; i++) good = good && outs[i] == had[i];
    for (int i = 0; i < n; i++) tsr_release(&outs[i]);
    MUST(good);
}

TEST(test_split_and_unstack_cut_views_out_of_their_source) { ref_cases(20000, cut_case); }

/* A dim cut in several and merged again is the dim it was. */
static void round_trip_case(ref_case *c)
{
    int64_t shape[TSR_MAX_NDIM], sizes[4], left;
    int ndim;
    do ndim = ref_random_shape(c, shape, 5, 200);
    while (ndim == 0);
    if (!make_tensor(c, OUT, &whole, ref_random_dtype(c), ndim, shape, false, 64, REF_BYTES - 256)) return;
    const int axis = (int)ref_below(c, ndim), n = (int)ref_between(c, 1, 4);
    left = shape[axis];
    for (int i = 0; i < n; i++) {
        do sizes[i] = i == n - 1 ? left : ref_between(c, left ? 1 : 0, left ? left : 3);
        while (left && left % sizes[i]);
        left = left ? left / sizes[i] : 0;
    }
    MUST(tsr_split_dim(&c->t[1], c->t[OUT], axis, n, sizes) == TSR_OK && c->t[1]->ndim == ndim + n - 1);
    MUST(tsr_merge_dims(&c->t[2], c->t[1], axis, n) == TSR_OK);
    MUST(tsr_same_desc(c->t[2], c->t[OUT]) && c->t[2]->data == c->t[OUT]->data);
}

TEST(test_a_dim_that_is_split_merges_again) { ref_cases(10000, round_trip_case); }

/* What is cut apart and joined again is as it was. */
static void cut_and_join_case(ref_case *c)
{
    int64_t shape[TSR_MAX_NDIM];
    const bool stacked = ref_once_in(c, 2);
    int ndim;
    do ndim = ref_random_shape(c, shape, 5, 200);
    while (ndim == 0);
    const int axis = (int)ref_below(c, ndim);
    shape[axis] = ref_between(c, 1, 5);
    ref_random_bytes(c, memory, sizeof memory);
    if (!make_tensor(c, OUT, &whole, ref_random_dtype(c), ndim, shape, false, 64, REF_BYTES - 256)) return;
    int64_t sizes[5];
    const int n = (int)shape[axis];
    for (int i = 0; i < n; i++) sizes[i] = 1;
    tsr_tensor **outs = &c->t[1];
    const tsr_tensor *parts[5];
    MUST((stacked ? tsr_unstack(outs, c->t[OUT], axis, n) : tsr_split(outs, c->t[OUT], axis, n, sizes)) ==
         TSR_OK);
    for (int i = 0; i < n; i++) parts[i] = outs[i];
    MUST((stacked ? tsr_stack(&c->t[7], n, parts, axis) : tsr_concat(&c->t[7], n, parts, axis)) == TSR_OK);
    MUST(tsr_same_shape(c->t[7], c->t[OUT]));
    const size_t size = (size_t)ref_size(whole.dtype);
    for (int64_t k = 0; k < whole.n; k++)
        MUST(!memcmp((char *)c->t[7]->data + (size_t)k * size, memory + whole.at[k], size));
}

TEST(test_what_is_cut_apart_joins_again) { ref_cases(10000, cut_and_join_case); }
