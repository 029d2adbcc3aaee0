/* test_view_algebra.c - view algebra against lists of addresses.
 *
 * A case makes a tensor with random strides and takes one random view after
 * another. The reference works out, for each, whether it must succeed, and if so
 * where each of its elements must lie; the desc function and the tensor function
 * must both agree. A failing call must leave its results alone.
 */
#include "reference.h"

static _Alignas(64) unsigned char memory[REF_BYTES];

/* One step of a chain ------------------------------------------------------------ */

typedef struct step {
    ref_case   *c;
    ref_view    now;         /* what c->t[0] must be */
    int64_t     low, high;   /* the storage; only if there is one */
    /* Set by the step, judged after it: */
    tsr_status  wanted;
    ref_view    next;        /* if wanted is TSR_OK */
    tsr_desc    had;         /* the source's desc */
    int64_t     base;        /* and the address of its data */
    tsr_desc    desc;        /* what the desc function made */
    int64_t     offset;      /* and where it starts, in elements of its dtype */
    tsr_status  desc_got, got;
    tsr_tensor **out;
    tsr_tensor  before;      /* **out before the call, if *out is not NULL */
    bool        ends;        /* the result is a copy: its elements lie elsewhere */
} step;

static const tsr_tensor *source(const step *s) { return s->c->t[0]; }

/* What the desc function reads: the source's desc, or its own output, which holds the same. */
static const tsr_desc *desc_in(step *s) { return ref_once_in(s->c, 2) ? &s->had : &s->desc; }

/* A handle for the result: NULL, the source's own, one that holds a tensor, or a placed one. */
static void choose_out(step *s)
{
    ref_case *c = s->c;
    s->out = &c->t[1];
    switch (ref_below(c, 4)) {
    case 0: break;
    case 1: s->out = &c->t[0]; break;
    case 2: c->t[1] = tsr_zeros(&c->t[1], TSR_I16, TSR_SHAPE(2, 2)) == TSR_OK ? c->t[1] : NULL; break;
    default: {
        const int free = c->t[0] == &c->place[0] ? 1 : 0;
        c->t[1] = tsr_place_none(&c->place[free]);
    }
    }
    if (*s->out) s->before = **s->out;
}

/* Elements of next are those of now that `from` names. */
#define LET_NEXT(s, index, from, k) \
    for (REF_EACH(&(s)->next, index, k)) \
        for (int64_t from[TSR_MAX_NDIM] = { 0 }, once = 1; once; \
             once = 0, (s)->next.at[k] = (s)->now.at[ref_flat(&(s)->now, from)])

static int64_t random_axis(step *s, int ndim)
{
    if (ref_once_in(s->c, 40)) return ref_between(s->c, -ndim - 2, ndim + 2);
    return ndim > 0 ? ref_between(s->c, -ndim, ndim - 1) : 0;
}

/* -1 if there is no such axis. */
static int axis_of(int64_t axis, int ndim)
{
    if (axis < 0) axis += ndim;
    return axis >= 0 && axis < ndim ? (int)axis : -1;
}

/* Judging ------------------------------------------------------------------------ */

static bool desc_is(ref_case *c, const tsr_desc *d, int64_t base, const ref_view *v)
{
    static ref_view got;
    MUST_TRUE(d->dtype == v->dtype && d->ndim == v->ndim);
    for (int i = 0; i < v->ndim; i++) MUST_TRUE(d->shape[i] == v->shape[i]);
    MUST_TRUE(tsr_desc_check(d) == TSR_OK);
    ref_of_desc(&got, d, base);
    for (int64_t k = 0; k < v->n; k++) MUST_TRUE(got.at[k] == v->at[k]);
    return true;
}

static bool tensor_is(ref_case *c, const tsr_tensor *t, const ref_view *v)
{
    MUST_TRUE(tsr_check(t) == TSR_OK && tsr_is_allocated(t));
    return desc_is(c, &t->desc, v->n ? (unsigned char *)t->data - memory : 0, v);
}

/* Pointers to elements, through the checked access. */
static bool pointers_are(ref_case *c, const tsr_tensor *t, const ref_view *v)
{
    for (REF_EACH(v, index, k)) {
        void *p = NULL;
        if (v->n > 16 && !ref_once_in(c, v->n / 8)) continue;
        int64_t from_end[TSR_MAX_NDIM];
        for (int i = 0; i < v->ndim; i++) from_end[i] = ref_once_in(c, 2) ? index[i] : index[i] - v->shape[i];
        MUST_TRUE(tsr_pointer(&p, t, v->ndim, from_end) == TSR_OK && (unsigned char *)p - memory == v->at[k]);
    }
    return true;
}

/* The bytes of a copy are those that the reference names. */
static bool copy_is(ref_case *c, const tsr_tensor *t, const ref_view *v)
{
    MUST_TRUE(tsr_check(t) == TSR_OK && tsr_is_contiguous(t) && !tsr_is_view(t));
    MUST_TRUE(t->dtype == v->dtype && t->ndim == v->ndim && tsr_numel(t) == v->n);
    for (int i = 0; i < v->ndim; i++) MUST_TRUE(t->shape[i] == v->shape[i]);
    const int64_t size = ref_size(v->dtype);
    for (int64_t k = 0; k < v->n; k++)
        MUST_TRUE(!memcmp((char *)t->data + k * size, memory + v->at[k], (size_t)size));
    return true;
}

static bool same_tensor(const tsr_tensor *a, const tsr_tensor *b)
{
    return a->data == b->data && a->storage == b->storage && a->count == b->count && a->flags == b->flags &&
           (a->dtype == TSR_DTYPE_INVALID ? b->dtype == a->dtype : tsr_desc_same(&a->desc, &b->desc));
}

static bool failed_well(step *s)
{
    ref_case *c = s->c;
    MUST_TRUE(tsr_last_error()[0] != '\0');
    MUST_TRUE(!memcmp(&s->desc, &s->had, sizeof s->had));
    if (s->out == &c->t[0])
        MUST_TRUE(c->t[0] && same_tensor(c->t[0], &s->before) && tensor_is(c, c->t[0], &s->now));
    else if (c->t[1]) MUST_TRUE(same_tensor(c->t[1], &s->before));
    tsr_release(s->out == &c->t[1] ? &c->t[1] : NULL);
    return true;
}

/* The result becomes the source of the next step. */
static bool judge(step *s)
{
    ref_case *c = s->c;
    ref_say(c, " -> %s\n", tsr_status_name(s->got));
    MUST_TRUE(s->got == s->wanted);
    MUST_TRUE(s->ends || s->desc_got == s->wanted);
    if (s->wanted != TSR_OK) return failed_well(s);
    if (!s->ends) {
        const int64_t further = s->next.n ? s->offset * ref_size(s->next.dtype) : 0;
        if (!desc_is(c, &s->desc, s->base + further, &s->next)) return false;
        if (!tensor_is(c, *s->out, &s->next) || !pointers_are(c, *s->out, &s->next)) return false;
        MUST_TRUE(tsr_is_view(*s->out) && tsr_same_desc(*s->out, *s->out));
    }
    if (s->out == &c->t[1]) {
        tsr_release(&c->t[0]);
        c->t[0] = c->t[1];
        c->t[1] = NULL;
    }
    s->now = s->next;
    return true;
}

/* The view of a desc and that of a tensor, of the same arguments; MOVED: one that may begin elsewhere. */
#define JUDGE(of_desc, of_tensor, ...)                                              \
    (s->desc_got = tsr_desc_##of_desc(&s->desc, desc_in(s), __VA_ARGS__),           \
     s->got = tsr_##of_tensor(s->out, source(s), __VA_ARGS__), judge(s))
#define JUDGE_MOVED(of_desc, of_tensor, ...)                                        \
    (s->desc_got = tsr_desc_##of_desc(&s->desc, &s->offset, desc_in(s), __VA_ARGS__), \
     s->got = tsr_##of_tensor(s->out, source(s), __VA_ARGS__), judge(s))

/* Shapes ------------------------------------------------------------------------- */

/* A shape that holds n elements, or, rarely, one that does not. */
static int random_factors(ref_case *c, int64_t *shape, int64_t n)
{
    const int ndim = (int)ref_between(c, n == 1 ? 0 : 1, 5);
    int64_t left = n;
    for (int i = 0; i < ndim; i++) {
        int64_t divisors[64];
        int count = 0;
        for (int64_t d = 1; d <= left && count < 64; d++) if (left % d == 0) divisors[count++] = d;
        shape[i] = i == ndim - 1 ? left : count ? divisors[ref_below(c, count)] : ref_between(c, 0, 3);
        if (shape[i] > 0) left /= shape[i];
    }
    if (n == 0 && ndim > 0) {
        for (int i = 0; i < ndim; i++) shape[i] = ref_below(c, 4);
        shape[ref_below(c, ndim)] = 0;
    }
    if (ndim > 0 && ref_once_in(c, 40)) shape[ref_below(c, ndim)] += 1;
    return ndim;
}

/* Opens one dim of `asked` at times; false if that dim then cannot be worked out. */
static bool open_a_dim(ref_case *c, int ndim, const int64_t *shape, int64_t *asked, int64_t n)
{
    for (int i = 0; i < ndim; i++) asked[i] = shape[i];
    if (ndim == 0 || !ref_once_in(c, 4)) return ref_count(ndim, shape) == n;
    const int64_t at = ref_below(c, ndim);
    asked[at] = -1;
    int64_t known = 1;
    for (int i = 0; i < ndim; i++) if (i != at) known *= shape[i];
    return known > 0 && n % known == 0;
}

/* Do the dims that a message names lie next to each other (but for 1s) and fail to merge? */
static bool names_two_dims(const char *message, const tsr_desc *d)
{
    int a = -1, b = -1;
    const char *at = strstr(message, ": dims ");
    if (!at || sscanf(at, ": dims %d and %d", &a, &b) != 2) return false;
    if (a < 0 || b <= a || b >= d->ndim || d->shape[a] == 1 || d->shape[b] == 1) return false;
    for (int i = a + 1; i < b; i++) if (d->shape[i] != 1) return false;
    return d->stride[a] != d->stride[b] * d->shape[b];
}

static tsr_status judge_shape(step *s, bool counts, int ndim, const int64_t *asked, const int64_t *shape)
{
    int64_t full[TSR_MAX_NDIM], known = 1;
    if (!counts) return TSR_ESHAPE;
    for (int i = 0; i < ndim; i++) if (asked[i] != -1) known *= asked[i];
    for (int i = 0; i < ndim; i++) full[i] = asked[i] == -1 ? s->now.n / known : shape[i];
    ref_set_shape(&s->next, s->now.dtype, ndim, full);
    memcpy(s->next.at, s->now.at, (size_t)s->now.n * sizeof *s->now.at);
    return ref_find_strides(NULL, &s->now, ndim, full) ? TSR_OK : TSR_ESTRIDE;
}

static bool step_view(step *s)
{
    ref_case *c = s->c;
    int64_t shape[TSR_MAX_NDIM] = { 0 }, asked[TSR_MAX_NDIM] = { 0 };
    const int ndim = random_factors(c, shape, s->now.n);
    const bool counts = open_a_dim(c, ndim, shape, asked, s->now.n);
    s->wanted = judge_shape(s, counts, ndim, asked, shape);
    ref_say_numbers(c, ndim, asked);
    s->desc_got = tsr_desc_view(&s->desc, desc_in(s), ndim, asked);
    s->got = tsr_view(s->out, source(s), ndim, asked);
    if (s->wanted == TSR_ESTRIDE && s->got == TSR_ESTRIDE)
        MUST_TRUE(names_two_dims(tsr_last_error(), &s->had));
    return judge(s);
}

static bool step_reshape(step *s)
{
    ref_case *c = s->c;
    int64_t shape[TSR_MAX_NDIM] = { 0 }, asked[TSR_MAX_NDIM] = { 0 };
    const int ndim = random_factors(c, shape, s->now.n);
    const bool counts = open_a_dim(c, ndim, shape, asked, s->now.n);
    s->wanted = judge_shape(s, counts, ndim, asked, shape);
    ref_say_numbers(c, ndim, asked);
    s->got = tsr_reshape(s->out, source(s), ndim, asked);
    if (s->wanted == TSR_ESTRIDE) {
        s->ends = true;
        s->wanted = TSR_OK;
        if (s->got == TSR_OK && !copy_is(c, *s->out, &s->next)) return false;
    } else {
        s->desc_got = tsr_desc_view(&s->desc, desc_in(s), ndim, asked);
    }
    return judge(s);
}

static bool step_contiguous(step *s)
{
    ref_case *c = s->c;
    bool packed = true;
    for (int64_t k = 0; k < s->now.n; k++)
        packed &= s->now.at[k] == s->now.at[0] + k * ref_size(s->now.dtype);
    s->next = s->now;
    s->got = tsr_contiguous(s->out, source(s));
    if (!packed) {
        s->ends = true;
        if (s->got == TSR_OK && !copy_is(c, *s->out, &s->next)) return false;
    }
    return judge(s);
}

/* Slices ------------------------------------------------------------------------- */

static int64_t random_bound(ref_case *c, int64_t n)
{
    if (ref_once_in(c, 4)) return TSR_NONE;
    if (ref_once_in(c, 60)) return ref_once_in(c, 2) ? INT64_MAX : INT64_MIN + 1;
    return ref_between(c, -n - (ref_once_in(c, 8) ? 2 : 0), n + (ref_once_in(c, 8) ? 2 : 0));
}

/* The indices start, start + by, ... before stop, as Python lists them, but without clamping.
 * Returns their number, or -1 if a bound leaves the dim. */
static int64_t list_slice(int64_t *list, int64_t n, int64_t start, int64_t stop, int64_t by)
{
    const bool forward = by > 0, open_start = start == TSR_NONE, open_stop = stop == TSR_NONE;
    int64_t count = 0;
    if (open_start)     start = forward ? 0 : n - 1;
    else if (start < 0) start += n;
    if (open_stop)      stop = forward ? n : -1;
    else if (stop < 0)  stop += n;
    if (!open_start && (start < 0 || start > (forward ? n : n - 1))) return -1;
    if (!open_stop && (stop < 0 || stop > (forward ? n : n - 1))) return -1;
    if (forward ? start > stop : start < stop) return -1;
    for (int64_t i = start; forward ? i < stop : i > stop; i += by) {
        list[count++] = i;
        if (forward ? by > stop - i : by < stop - i) break;
    }
    return count;
}

static bool step_slice(step *s)
{
    ref_case *c = s->c;
    static int64_t list[REF_ELEMENTS];
    const int64_t axis = random_axis(s, s->now.ndim);
    const int at = axis_of(axis, s->now.ndim);
    const int64_t n = at >= 0 ? s->now.shape[at] : 3;
    const int64_t start = random_bound(c, n), stop = random_bound(c, n);
    int64_t by = ref_between(c, -3, 3);
    if (ref_once_in(c, 50)) by = ref_once_in(c, 2) ? INT64_MIN : INT64_MAX;
    const int64_t count = at >= 0 && by != 0 ? list_slice(list, n, start, stop, by) : 0;
    s->wanted = at < 0 ? TSR_EINDEX : by == 0 ? TSR_EINVAL : count < 0 ? TSR_EINDEX : TSR_OK;
    if (s->wanted == TSR_OK) {
        ref_set_shape(&s->next, s->now.dtype, s->now.ndim, s->now.shape);
        s->next.shape[at] = count;
        s->next.n = ref_count(s->next.ndim, s->next.shape);
        LET_NEXT(s, index, from, k)
            for (int i = 0; i < s->now.ndim; i++) from[i] = i == at ? list[index[i]] : index[i];
    }
    ref_say(c, "axis %lld, %lld to %lld by %lld", (long long)axis, (long long)start, (long long)stop,
            (long long)by);
    return JUDGE_MOVED(slice, slice, (int)axis, start, stop, by);
}

static void shape_without(ref_view *next, const ref_view *now, int at)
{
    int64_t shape[TSR_MAX_NDIM] = { 0 };
    for (int i = 0; i + 1 < now->ndim; i++) shape[i] = now->shape[i < at ? i : i + 1];
    ref_set_shape(next, now->dtype, now->ndim - 1, shape);
}

static bool step_select(step *s)
{
    const int64_t axis = random_axis(s, s->now.ndim);
    const int at = axis_of(axis, s->now.ndim);
    const int64_t n = at >= 0 ? s->now.shape[at] : 3;
    const int64_t asked = ref_between(s->c, -n - ref_once_in(s->c, 20), n - 1 + ref_once_in(s->c, 20));
    const int64_t chosen = asked < 0 ? asked + n : asked;
    s->wanted = at < 0 || chosen < 0 || chosen >= n ? TSR_EINDEX : TSR_OK;
    if (s->wanted == TSR_OK) {
        shape_without(&s->next, &s->now, at);
        LET_NEXT(s, index, from, k)
            for (int i = 0; i < s->now.ndim; i++) from[i] = i == at ? chosen : index[i < at ? i : i - 1];
    }
    ref_say(s->c, "axis %lld, index %lld", (long long)axis, (long long)asked);
    return JUDGE_MOVED(select, select, (int)axis, asked);
}

static bool step_at_prefix(step *s)
{
    ref_case *c = s->c;
    const int n = (int)ref_between(c, 0, s->now.ndim);
    int64_t asked[TSR_MAX_NDIM], prefix[TSR_MAX_NDIM];
    s->wanted = TSR_OK;
    for (int i = 0; i < n; i++) {
        const int64_t size = s->now.shape[i];
        asked[i] = ref_between(c, -size - ref_once_in(c, 40), size - 1 + ref_once_in(c, 40));
        prefix[i] = asked[i] < 0 ? asked[i] + size : asked[i];
        if (prefix[i] < 0 || prefix[i] >= size) s->wanted = TSR_EINDEX;
    }
    if (s->wanted == TSR_OK) {
        ref_set_shape(&s->next, s->now.dtype, s->now.ndim - n, s->now.shape + n);
        LET_NEXT(s, index, from, k)
            for (int i = 0; i < s->now.ndim; i++) from[i] = i < n ? prefix[i] : index[i - n];
    }
    ref_say_numbers(c, n, asked);
    s->desc_got = tsr_desc_offset(&s->offset, &s->had, n, asked);
    s->desc.ndim -= s->desc_got == TSR_OK ? n : 0;
    for (int i = 0; i < s->desc.ndim && s->desc_got == TSR_OK; i++) {
        s->desc.shape[i] = s->had.shape[i + n];
        s->desc.stride[i] = s->had.stride[i + n];
    }
    s->got = tsr_at_prefix(s->out, source(s), n, asked);
    return judge(s);
}

/* Orders of dims ------------------------------------------------------------------- */

/* next is now with dim i taken from dim order[i]. */
static void let_permuted(step *s, const int *order)
{
    int64_t shape[TSR_MAX_NDIM] = { 0 };
    for (int i = 0; i < s->now.ndim; i++) shape[i] = s->now.shape[order[i]];
    ref_set_shape(&s->next, s->now.dtype, s->now.ndim, shape);
    LET_NEXT(s, index, from, k)
        for (int i = 0; i < s->now.ndim; i++) from[order[i]] = index[i];
}

static bool step_permute(step *s)
{
    ref_case *c = s->c;
    int order[TSR_MAX_NDIM] = { 0 }, asked[TSR_MAX_NDIM];
    int n = s->now.ndim;
    ref_shuffle(c, n, order);
    for (int i = 0; i < n; i++) asked[i] = ref_once_in(c, 2) ? order[i] : order[i] - n;
    s->wanted = TSR_OK;
    if (n > 0 && ref_once_in(c, 30)) {
        s->wanted = TSR_EINVAL;
        if (n > 1 && ref_once_in(c, 2)) asked[0] = asked[1];
        else n--;
    } else if (n > 0 && ref_once_in(c, 60)) {
        s->wanted = TSR_EINDEX;
        asked[0] = ref_once_in(c, 2) ? n : -n - 1;
    }
    if (s->wanted == TSR_OK) let_permuted(s, order);
    for (int i = 0; i < n; i++) ref_say(c, "%d ", asked[i]);
    return JUDGE(permute, permute, n, asked);
}

static bool step_transpose(step *s)
{
    int order[TSR_MAX_NDIM];
    const int n = s->now.ndim;
    const int64_t a = random_axis(s, n), b = random_axis(s, n);
    const int x = axis_of(a, n), y = axis_of(b, n);
    s->wanted = x < 0 || y < 0 ? TSR_EINDEX : TSR_OK;
    if (s->wanted == TSR_OK) {
        for (int i = 0; i < n; i++) order[i] = i == x ? y : i == y ? x : i;
        let_permuted(s, order);
    }
    ref_say(s->c, "%lld, %lld", (long long)a, (long long)b);
    return JUDGE(transpose, transpose, (int)a, (int)b);
}

static bool step_move_axis(step *s)
{
    int order[TSR_MAX_NDIM];
    const int n = s->now.ndim;
    const int64_t a = random_axis(s, n), b = random_axis(s, n);
    const int x = axis_of(a, n), y = axis_of(b, n);
    s->wanted = x < 0 || y < 0 ? TSR_EINDEX : TSR_OK;
    if (s->wanted == TSR_OK) {
        int count = 0;
        for (int i = 0; i < n; i++) if (i != x) order[count++] = i;
        for (int i = n - 1; i > y; i--) order[i] = order[i - 1];
        order[y] = x;
        let_permuted(s, order);
    }
    ref_say(s->c, "%lld to %lld", (long long)a, (long long)b);
    return JUDGE(move_axis, move_axis, (int)a, (int)b);
}

static bool step_flip(step *s)
{
    ref_case *c = s->c;
    int order[TSR_MAX_NDIM], asked[TSR_MAX_NDIM];
    bool flipped[TSR_MAX_NDIM] = { false };
    const int nd = s->now.ndim;
    const int n = (int)ref_between(c, 0, nd);
    ref_shuffle(c, nd, order);
    for (int i = 0; i < n; i++) {
        asked[i] = ref_once_in(c, 2) ? order[i] : order[i] - nd;
        flipped[order[i]] = true;
    }
    for (int i = 0; n == 0 && i < nd; i++) flipped[i] = true;
    s->wanted = TSR_OK;
    if (n > 1 && ref_once_in(c, 40)) {
        asked[0] = asked[1];
        s->wanted = TSR_EINVAL;
    }
    s->next = s->now;
    LET_NEXT(s, index, from, k)
        for (int i = 0; i < nd; i++) from[i] = flipped[i] ? s->now.shape[i] - 1 - index[i] : index[i];
    for (int i = 0; i < n; i++) ref_say(c, "%d ", asked[i]);
    return JUDGE_MOVED(flip, flip, n, asked);
}

/* More dims and fewer -------------------------------------------------------------- */

static bool step_expand(step *s)
{
    ref_case *c = s->c;
    int64_t asked[TSR_MAX_NDIM], shape[TSR_MAX_NDIM];
    const int lead = (int)ref_below(c, 3), n = s->now.ndim + lead;
    int64_t count = s->now.n;
    s->wanted = TSR_OK;
    for (int i = 0; i < n; i++) {
        const int64_t had = i < lead ? 1 : s->now.shape[i - lead];
        shape[i] = had == 1 && count < REF_ELEMENTS / 4 ? ref_between(c, ref_once_in(c, 20) ? 0 : 1, 4) : had;
        if (count > 0) count = count / had * shape[i];
        asked[i] = i >= lead && shape[i] == had && ref_once_in(c, 2) ? -1 : shape[i];
    }
    if (n > 0 && ref_once_in(c, 30)) {
        const int64_t at = ref_below(c, n);
        asked[at] = ref_once_in(c, 2) ? -2 : REF_ELEMENTS + 1;
        if (asked[at] < 0 || (at >= lead && s->now.shape[at - lead] != 1)) s->wanted = TSR_ESHAPE;
        else asked[at] = shape[at];
    }
    if (lead > 0 && ref_once_in(c, 30)) {
        asked[0] = -1;  /* there is no size to keep */
        s->wanted = TSR_ESHAPE;
    }
    if (s->wanted == TSR_OK) {
        ref_set_shape(&s->next, s->now.dtype, n, shape);
        LET_NEXT(s, index, from, k)
            for (int i = 0; i < s->now.ndim; i++) from[i] = s->now.shape[i] == 1 ? 0 : index[i + lead];
    }
    ref_say_numbers(c, n, asked);
    return JUDGE(expand, expand, n, asked);
}

static bool step_squeeze(step *s)
{
    const int64_t axis = random_axis(s, s->now.ndim);
    const int at = axis_of(axis, s->now.ndim);
    s->wanted = at < 0 ? TSR_EINDEX : s->now.shape[at] != 1 ? TSR_ESHAPE : TSR_OK;
    if (s->wanted == TSR_OK) {
        shape_without(&s->next, &s->now, at);
        memcpy(s->next.at, s->now.at, (size_t)s->now.n * sizeof *s->now.at);
    }
    ref_say(s->c, "%lld", (long long)axis);
    return JUDGE(squeeze, squeeze, (int)axis);
}

static bool step_squeeze_all(step *s)
{
    int64_t shape[TSR_MAX_NDIM] = { 0 };
    int n = 0;
    for (int i = 0; i < s->now.ndim; i++) if (s->now.shape[i] != 1) shape[n++] = s->now.shape[i];
    ref_set_shape(&s->next, s->now.dtype, n, shape);
    memcpy(s->next.at, s->now.at, (size_t)s->now.n * sizeof *s->now.at);
    s->desc_got = tsr_desc_squeeze_all(&s->desc, desc_in(s));
    s->got = tsr_squeeze_all(s->out, source(s));
    return judge(s);
}

static bool step_unsqueeze(step *s)
{
    const int n = s->now.ndim;
    const int64_t axis = ref_between(s->c, -n - 1 - ref_once_in(s->c, 30), n + ref_once_in(s->c, 30));
    const int at = axis_of(axis, n + 1);
    s->wanted = at < 0 ? TSR_EINDEX : TSR_OK;
    if (s->wanted == TSR_OK) {
        int64_t shape[TSR_MAX_NDIM] = { 0 };
        for (int i = 0; i <= n; i++) shape[i] = i == at ? 1 : s->now.shape[i < at ? i : i - 1];
        ref_set_shape(&s->next, s->now.dtype, n + 1, shape);
        memcpy(s->next.at, s->now.at, (size_t)s->now.n * sizeof *s->now.at);
    }
    ref_say(s->c, "%lld", (long long)axis);
    return JUDGE(unsqueeze, unsqueeze, (int)axis);
}

static bool step_diagonal(step *s)
{
    ref_case *c = s->c;
    const int n = s->now.ndim;
    const int64_t a = random_axis(s, n), b = random_axis(s, n);
    const int x = axis_of(a, n), y = axis_of(b, n);
    int64_t k = ref_between(c, -4, 4);
    if (ref_once_in(c, 50)) k = ref_once_in(c, 2) ? INT64_MIN : INT64_MAX;
    s->wanted = x < 0 || y < 0 ? TSR_EINDEX : x == y ? TSR_EINVAL : TSR_OK;
    if (s->wanted == TSR_OK) {
        int64_t shape[TSR_MAX_NDIM], rows[REF_ELEMENTS], length = 0;
        int left[TSR_MAX_NDIM], count = 0;
        for (int64_t i = 0; i < s->now.shape[x]; i++)
            for (int64_t j = 0; j < s->now.shape[y]; j++) if (j - i == k) rows[length++] = i;
        for (int i = 0; i < n; i++) if (i != x && i != y) left[count++] = i;
        for (int i = 0; i < count; i++) shape[i] = s->now.shape[left[i]];
        shape[count] = length;
        ref_set_shape(&s->next, s->now.dtype, n - 1, shape);
        LET_NEXT(s, index, from, at) {
            for (int i = 0; i < count; i++) from[left[i]] = index[i];
            from[x] = rows[index[count]];
            from[y] = rows[index[count]] + k;
        }
    }
    ref_say(c, "%lld of %lld and %lld", (long long)k, (long long)a, (long long)b);
    return JUDGE_MOVED(diagonal, diagonal, k, (int)a, (int)b);
}

static bool step_unfold(step *s)
{
    ref_case *c = s->c;
    const int n = s->now.ndim;
    const int64_t axis = random_axis(s, n);
    const int at = axis_of(axis, n);
    const int64_t length = at >= 0 ? s->now.shape[at] : 3;
    const int64_t size = ref_between(c, ref_once_in(c, 30) ? -1 : 1, length + ref_once_in(c, 20));
    int64_t by = ref_between(c, ref_once_in(c, 40) ? -1 : 1, 3);
    if (ref_once_in(c, 40)) by = INT64_MAX;
    s->wanted = at < 0 ? TSR_EINDEX : by <= 0 ? TSR_EINVAL : size <= 0 || size > length ? TSR_ESHAPE : TSR_OK;
    if (s->wanted == TSR_OK) {
        int64_t shape[TSR_MAX_NDIM], windows = 0;
        for (int64_t start = 0; start + size <= length; start += by) {
            windows++;
            if (by > length) break;
        }
        for (int i = 0; i < n; i++) shape[i] = i == at ? windows : s->now.shape[i];
        shape[n] = size;
        if (ref_count(n + 1, shape) > REF_ELEMENTS) return true;
        ref_set_shape(&s->next, s->now.dtype, n + 1, shape);
        LET_NEXT(s, index, from, k)
            for (int i = 0; i < n; i++)
                from[i] = i != at ? index[i] : (index[i] ? index[i] * by : 0) + index[n];
    }
    ref_say(c, "axis %lld, size %lld, step %lld", (long long)axis, (long long)size, (long long)by);
    return JUDGE(unfold, unfold, (int)axis, size, by);
}

static bool step_merge(step *s)
{
    ref_case *c = s->c;
    const int n = s->now.ndim;
    const int64_t axis = random_axis(s, n);
    const int at = axis_of(axis, n);
    const int count =
        (int)ref_between(c, ref_once_in(c, 30) ? 0 : 1, at >= 0 ? n - at + ref_once_in(c, 30) : 2);
    s->wanted = at < 0 || count < 1 || count > n - at ? TSR_EINDEX : TSR_OK;
    if (s->wanted == TSR_OK) {
        int64_t shape[TSR_MAX_NDIM] = { 0 };
        int to = 0;
        for (int i = 0; i < n; i++) {
            if (i <= at || i >= at + count) shape[to++] = s->now.shape[i];
            else shape[to - 1] *= s->now.shape[i];
        }
        s->wanted = judge_shape(s, true, to, shape, shape);
    }
    ref_say(c, "axis %lld, %d of them", (long long)axis, count);
    return JUDGE(merge, merge_dims, (int)axis, count);
}

static bool step_split_dim(step *s)
{
    ref_case *c = s->c;
    const int n = s->now.ndim;
    const int64_t axis = random_axis(s, n);
    const int at = axis_of(axis, n);
    const int64_t length = at >= 0 ? s->now.shape[at] : 6;
    int64_t sizes[TSR_MAX_NDIM], asked[TSR_MAX_NDIM];
    int parts = random_factors(c, sizes, length);
    const bool counts = open_a_dim(c, parts, sizes, asked, length);
    s->wanted = at < 0 ? TSR_EINDEX : parts < 1 ? TSR_EINVAL : !counts ? TSR_ESHAPE : TSR_OK;
    if (s->wanted == TSR_OK) {
        int64_t shape[TSR_MAX_NDIM], known = 1;
        int to = 0;
        for (int p = 0; p < parts; p++) if (asked[p] != -1) known *= asked[p];
        for (int i = 0; i < n; i++) {
            if (i != at) shape[to++] = s->now.shape[i];
            for (int p = 0; i == at && p < parts; p++)
                shape[to++] = asked[p] == -1 ? length / known : sizes[p];
        }
        ref_set_shape(&s->next, s->now.dtype, to, shape);
        memcpy(s->next.at, s->now.at, (size_t)s->now.n * sizeof *s->now.at);
    }
    ref_say(c, "axis %lld into ", (long long)axis);
    ref_say_numbers(c, parts, asked);
    return JUDGE(split, split_dim, (int)axis, parts, asked);
}

/* Other elements ------------------------------------------------------------------- */

static bool step_real(step *s)
{
    s->next = s->now;
    s->next.dtype = ref_part(s->now.dtype);
    s->desc_got = tsr_desc_real(&s->desc, desc_in(s));
    s->got = tsr_view_real(s->out, source(s));
    return judge(s);
}

static bool step_imag(step *s)
{
    s->wanted = ref_is_complex(s->now.dtype) ? TSR_OK : TSR_EDTYPE;
    s->next = s->now;
    s->next.dtype = ref_part(s->now.dtype);
    for (int64_t k = 0; k < s->next.n; k++) s->next.at[k] += ref_size(s->next.dtype);
    s->desc_got = tsr_desc_imag(&s->desc, &s->offset, desc_in(s));
    s->got = tsr_view_imag(s->out, source(s));
    return judge(s);
}

/* The status of a bit view, by the words of view.h. */
static tsr_status judge_bits(const step *s, tsr_dtype to)
{
    const tsr_desc *d = &s->had;
    const int64_t had = ref_size(d->dtype), wanted = ref_size(to);
    if (to == TSR_BOOL && d->dtype != TSR_BOOL) return TSR_EDTYPE;
    if (had == wanted) return TSR_OK;
    if (d->ndim == 0) return TSR_ESHAPE;
    const int last = d->ndim - 1;
    if (d->shape[last] > 1 && d->stride[last] != 1) return TSR_ESTRIDE;
    if (had > wanted) return TSR_OK;
    if (d->shape[last] % (wanted / had) != 0) return TSR_ESHAPE;
    for (int i = 0; i < last; i++)
        if (d->shape[i] > 1 && d->stride[i] % (wanted / had) != 0) return TSR_ESTRIDE;
    return TSR_OK;
}

static bool step_bit_view(step *s)
{
    ref_case *c = s->c;
    const tsr_dtype to = ref_random_dtype(c);
    const int64_t had = ref_size(s->now.dtype), size = ref_size(to);
    const int last = s->now.ndim - 1;
    tsr_status of_desc = judge_bits(s, to);
    s->wanted = of_desc;
    if (of_desc == TSR_OK && (uintptr_t)source(s)->data % (size_t)ref_align(to)) s->wanted = TSR_EINVAL;
    if (s->wanted == TSR_OK) {
        int64_t shape[TSR_MAX_NDIM] = { 0 };
        for (int i = 0; i <= last; i++) shape[i] = s->now.shape[i];
        if (last >= 0) shape[last] = shape[last] * had / size;
        if (ref_count(last + 1, shape) > REF_ELEMENTS) return true;
        ref_set_shape(&s->next, to, last + 1, shape);
        for (REF_EACH(&s->next, index, k)) {
            int64_t from[TSR_MAX_NDIM], byte = last >= 0 ? index[last] * size : 0;
            for (int i = 0; i <= last; i++) from[i] = i == last ? byte / had : index[i];
            s->next.at[k] = s->now.at[ref_flat(&s->now, from)] + byte % had;
        }
    }
    ref_say(c, "as %s", tsr_dtype_name(to));
    s->desc_got = tsr_desc_bit_view(&s->desc, desc_in(s), to);
    s->got = tsr_bit_view(s->out, source(s), to);
    if (s->wanted == TSR_EINVAL) {  /* a desc has no address to be aligned */
        MUST_TRUE(s->desc_got == TSR_OK);
        s->desc_got = TSR_EINVAL;
        s->desc = s->had;
    }
    return judge(s);
}

/* What a view of the source may lie in. */
static void find_bounds(const step *s, int64_t *low, int64_t *high)
{
    *low = s->low;
    *high = s->high;
    if (!source(s)->storage) ref_span(&s->now, low, high);
}

static bool step_as_strided(step *s)
{
    ref_case *c = s->c;
    int64_t shape[TSR_MAX_NDIM], stride[TSR_MAX_NDIM], low, high, low_bound, high_bound;
    tsr_desc d = { .dtype = s->now.dtype };
    const int64_t size = ref_size(d.dtype), base = s->base;
    d.ndim = ref_random_shape(c, shape, 4, 60);
    ref_random_strides(c, d.ndim, shape, stride);
    for (int i = 0; i < d.ndim; i++) {
        d.shape[i] = shape[i];
        d.stride[i] = stride[i];
    }
    find_bounds(s, &low_bound, &high_bound);
    ref_of_desc(&s->next, &d, 0);
    ref_span(&s->next, &low, &high);
    /* Often just inside, or one element too far, at either end. */
    int64_t offset = ref_between(c, -20, 20);
    if (ref_once_in(c, 2)) offset = (low_bound - low - base) / size - ref_below(c, 2);
    else if (ref_once_in(c, 2)) offset = (high_bound - high - base) / size + ref_below(c, 2);
    if (ref_once_in(c, 50)) offset = ref_junk(c);
    const bool far = offset > REF_BYTES || offset < -REF_BYTES;
    for (int64_t k = 0; k < s->next.n && !far; k++) s->next.at[k] += base + offset * size;
    ref_span(&s->next, &low, &high);
    s->wanted = s->next.n > 0 && (far || low < low_bound || high > high_bound) ? TSR_EBOUNDS : TSR_OK;
    ref_say_desc(c, &d);
    ref_say(c, " from %lld, in %lld .. %lld", (long long)offset, (long long)low_bound, (long long)high_bound);
    if (s->wanted == TSR_OK) s->desc = d;
    s->offset = offset;
    s->desc_got = s->wanted;
    s->got = tsr_as_strided(s->out, source(s), d.ndim, shape, stride, offset);
    return judge(s);
}

/* Chains ------------------------------------------------------------------------- */

static const struct { const char *name; bool (*take)(step *s); int weight; } steps[] = {
    { "view", step_view, 4 },
    { "reshape", step_reshape, 1 },
    { "contiguous", step_contiguous, 1 },
    { "slice", step_slice, 6 },
    { "select", step_select, 2 },
    { "at_prefix", step_at_prefix, 2 },
    { "permute", step_permute, 3 },
    { "transpose", step_transpose, 3 },
    { "move_axis", step_move_axis, 2 },
    { "flip", step_flip, 2 },
    { "expand", step_expand, 3 },
    { "squeeze", step_squeeze, 1 },
    { "squeeze_all", step_squeeze_all, 1 },
    { "unsqueeze", step_unsqueeze, 2 },
    { "diagonal", step_diagonal, 3 },
    { "unfold", step_unfold, 2 },
    { "merge_dims", step_merge, 3 },
    { "split_dim", step_split_dim, 3 },
    { "view_real", step_real, 1 },
    { "view_imag", step_imag, 1 },
    { "bit_view", step_bit_view, 3 },
    { "as_strided", step_as_strided, 4 },
};

/* How often each step was taken and succeeded, so that the test cannot go empty unnoticed. */
static int64_t taken[sizeof steps / sizeof *steps], succeeded[sizeof steps / sizeof *steps];

static bool take_step(step *s, size_t which)
{
    s->wanted = TSR_OK;
    s->desc_got = s->got = TSR_OK;
    s->offset = 0;
    s->ends = false;
    s->had = s->desc = s->c->t[0]->desc;
    s->base = (unsigned char *)s->c->t[0]->data - memory;
    choose_out(s);
    ref_say(s->c, "    %s ", steps[which].name);
    const bool good = steps[which].take(s);
    if (s->c->t[1]) tsr_release(&s->c->t[1]);
    taken[which]++;
    succeeded[which] += s->wanted == TSR_OK;
    return good;
}

static size_t random_step(ref_case *c)
{
    const size_t count = sizeof steps / sizeof *steps;
    int64_t total = 0;
    for (size_t i = 0; i < count; i++) total += steps[i].weight;
    int64_t chosen = ref_below(c, total);
    size_t at = 0;
    while (chosen >= steps[at].weight) chosen -= steps[at++].weight;
    return at;
}

/* A random tensor somewhere in memory. */
static bool make_source(step *s)
{
    ref_case *c = s->c;
    s->ends = false;
    int64_t shape[TSR_MAX_NDIM], low, high;
    tsr_desc d;
    const tsr_dtype dtype = ref_random_dtype(c);
    const int ndim = ref_random_shape(c, shape, REF_RANK, REF_SOURCE);
    ref_random_desc(c, &d, &s->now, &low, dtype, ndim, shape, false, REF_BYTES - 1024);
    ref_span(&s->now, &low, &high);
    if (s->now.n == 0 && ndim > 0 && ref_once_in(c, 2)) d.stride[ref_below(c, ndim)] = ref_junk(c);
    const int64_t align = ref_align(dtype);
    const int64_t at = ref_between(c, -low, REF_BYTES - high) / align * align;
    const int64_t first = at < -low ? at + align : at;
    for (int64_t k = 0; k < s->now.n; k++) s->now.at[k] += first;
    const int64_t before = ref_below(c, first + low + 1), after = ref_below(c, REF_BYTES - first - high + 1);
    s->low = first + low - (before < 40 ? before : 0);
    s->high = first + high + (after < 40 ? after : 0);
    if (!ref_make(c, 0, memory, first, &d, s->low, s->high)) return false;
    if (c->t[0]->storage) {
        s->low = (unsigned char *)tsr_storage_data(c->t[0]->storage) - memory;
        s->high = s->low + (int64_t)tsr_storage_bytes(c->t[0]->storage);
    }
    return tensor_is(c, c->t[0], &s->now) && pointers_are(c, c->t[0], &s->now);
}

static void chain_case(ref_case *c)
{
    static step s;
    s.c = c;
    MUST(make_source(&s) || c->failed);
    const int64_t length = ref_between(c, 1, 6);
    for (int64_t i = 0; i < length && !c->failed && !s.ends && s.now.ndim + 5 < TSR_MAX_NDIM; i++)
        if (!take_step(&s, random_step(c))) return;
}

TEST(test_chains_of_views_reach_the_elements_they_name) { ref_cases(60000, chain_case); }

/* Each view function alone, so that a failure names it. */
static void each_step_case(ref_case *c)
{
    static step s;
    s.c = c;
    MUST(make_source(&s) || c->failed);
    if (!c->failed) (void)take_step(&s, (size_t)c->number % (sizeof steps / sizeof *steps));
}

TEST(test_each_view_reaches_the_elements_it_names) { ref_cases(44000, each_step_case); }

TEST(test_each_view_was_tried_often_enough)
{
    if (ref_options.only >= 0 || ref_options.scale < 1 || test_state.filter) SKIP("few cases were asked for");
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        EXPECT_MSG(taken[i] >= 2500 && succeeded[i] >= 500, "%s: %lld times, %lld with success",
                   steps[i].name, (long long)taken[i], (long long)succeeded[i]);
}

/* Asking ------------------------------------------------------------------------- */

static bool is_line(const ref_view *v, const int64_t *order)
{
    for (int64_t k = 0; k < v->n; k++)
        if (v->at[order ? order[k] : k] != v->at[0] + k * ref_size(v->dtype)) return false;
    return true;
}

static bool is_column_line(const ref_view *v)
{
    static int64_t order[REF_ELEMENTS];
    for (REF_EACH(v, index, k)) {
        int64_t place = 0;
        for (int i = v->ndim - 1; i >= 0; i--) place = place * v->shape[i] + index[i];
        order[place] = k;
    }
    return is_line(v, order);
}

/* Dims from .. to - 1 alone, the others at index 0. */
static bool is_line_range(const ref_view *v, int from, int to)
{
    int64_t place = 0, index[TSR_MAX_NDIM] = { 0 };
    const int64_t n = ref_count(to - from, v->shape + from);
    if (v->n == 0) return true;
    for (; place < n; place++, ref_next(index + from, to - from, v->shape + from))
        if (v->at[ref_flat(v, index)] != v->at[0] + place * ref_size(v->dtype)) return false;
    return true;
}

static bool merges(const ref_view *v, int axis)
{
    int64_t shape[TSR_MAX_NDIM] = { 0 };
    int n = 0;
    if (v->n == 0) return true;
    for (int i = 0; i < v->ndim; i++) {
        if (i == axis + 1) shape[n - 1] *= v->shape[i];
        else shape[n++] = v->shape[i];
    }
    return ref_find_strides(NULL, v, n, shape);
}

static void text_case(ref_case *c, const tsr_desc *d)
{
    char wanted[600], got[600];
    size_t n = (size_t)snprintf(wanted, sizeof wanted, "%s(", tsr_dtype_name(d->dtype));
    for (int i = 0; i < d->ndim; i++)
        n += (size_t)snprintf(wanted + n, sizeof wanted - n, i ? ", %lld" : "%lld", (long long)d->shape[i]);
    if (d->ndim) n += (size_t)snprintf(wanted + n, sizeof wanted - n, " | ");
    for (int i = 0; i < d->ndim; i++)
        n += (size_t)snprintf(wanted + n, sizeof wanted - n, i ? ", %lld" : "%lld", (long long)d->stride[i]);
    n += (size_t)snprintf(wanted + n, sizeof wanted - n, ")");
    const size_t room = (size_t)ref_below(c, (int64_t)n + 3);
    memset(got, '#', sizeof got);
    MUST(tsr_desc_to_string(got, room, d) == n);
    MUST(got[room] == '#');
    if (room > 0) MUST(strlen(got) == (room - 1 < n ? room - 1 : n) && !strncmp(got, wanted, strlen(got)));
}

/* Dims in the order that memory has them stay so; broadcast dims and 1s may go anywhere. */
static void packed_like_case(ref_case *c, const tsr_desc *d, const ref_view *v)
{
    tsr_desc like;
    static ref_view w;
    const tsr_dtype dtype = ref_random_dtype(c);
    bool row_major = true;
    MUST(tsr_desc_packed_like(&like, d, dtype) == TSR_OK);
    MUST(like.dtype == dtype && tsr_desc_same_shape(&like, d) && tsr_desc_is_dense(&like));
    ref_of_desc(&w, &like, 0);
    int64_t low, high;
    ref_span(&w, &low, &high);
    MUST(low == 0 && high == w.n * ref_size(dtype) && !ref_repeats(&w));
    for (int a = 0; a < d->ndim && v->n > 0; a++)
        for (int b = a + 1; b < d->ndim; b++) {
            if (d->shape[a] == 1 || d->shape[b] == 1 || !d->stride[a] || !d->stride[b]) continue;
            const int64_t x = llabs(d->stride[a]), y = llabs(d->stride[b]);
            if (x != y) MUST((x > y) == (like.stride[a] > like.stride[b]));
            if (x < y) row_major = false;
        }
    if (row_major && v->n > 0) MUST(tsr_desc_is_contiguous(&like));
}

static void question_case(ref_case *c)
{
    static ref_view v;
    int64_t shape[TSR_MAX_NDIM], low, high, lo, hi;
    tsr_desc d, row, column;
    const int ndim = ref_random_shape(c, shape, REF_RANK, REF_SOURCE);
    ref_random_desc(c, &d, &v, &low, ref_random_dtype(c), ndim, shape, false, REF_BYTES);
    if (v.n == 0 && ndim > 0 && ref_once_in(c, 2)) d.stride[ref_below(c, ndim)] = ref_junk(c);
    ref_span(&v, &low, &high);
    ref_say(c, "    ");
    ref_say_desc(c, &d);
    MUST(tsr_desc_check(&d) == TSR_OK && tsr_desc_init(&row, d.dtype, ndim, shape, d.stride) == TSR_OK);
    MUST(tsr_desc_same(&d, &row));
    MUST(tsr_desc_numel(&d) == v.n && tsr_desc_bytes(&d) == v.n * ref_size(d.dtype));
    MUST(tsr_desc_span(&d, &lo, &hi) == high - low && lo == low && hi == high);
    MUST(tsr_desc_is_contiguous(&d) == is_line(&v, NULL));
    MUST(tsr_desc_is_column_major(&d) == is_column_line(&v));
    MUST(tsr_desc_is_dense(&d) == (v.n == 0 || (!ref_repeats(&v) && high - low == v.n * ref_size(d.dtype))));
    MUST(tsr_desc_self_overlaps(&d) == ref_repeats(&v));
    bool any = false;
    for (int i = 0; i < ndim; i++) {
        int64_t size = 0;
        const bool broadcast = d.shape[i] > 1 && d.stride[i] == 0;
        any |= broadcast;
        MUST(tsr_desc_is_broadcast_dim(&d, i) == broadcast &&
             tsr_desc_is_broadcast_dim(&d, i - ndim) == broadcast);
        MUST(tsr_desc_dim(&size, &d, i - (ref_once_in(c, 2) ? ndim : 0)) == TSR_OK && size == shape[i]);
        if (i + 1 < ndim) MUST(tsr_desc_can_merge(&d, i) == merges(&v, i));
        for (int j = i; j <= ndim; j++)
            MUST(tsr_desc_is_contiguous_range(&d, i, j) == is_line_range(&v, i, j));
    }
    MUST(tsr_desc_has_broadcast(&d) == any);
    MUST(tsr_desc_init(&row, d.dtype, ndim, shape, NULL) == TSR_OK && tsr_desc_is_contiguous(&row));
    MUST(tsr_desc_init_column_major(&column, d.dtype, ndim, shape) == TSR_OK &&
         tsr_desc_is_column_major(&column));
    MUST(tsr_desc_same(&d, &row) == is_line(&v, NULL) && tsr_desc_same(&d, &column) == is_column_line(&v));
    text_case(c, &d);
    if (!c->failed) packed_like_case(c, &d, &v);
}

TEST(test_queries_of_descs_agree_with_enumeration)
{
    ref_cases(30000, question_case);
}

/* Broadcasting ---------------------------------------------------------------------- */

static void broadcast_case(ref_case *c)
{
    tsr_desc descs[4];
    const tsr_desc *list[4];
    const int n = (int)ref_between(c, 1, 4);
    int64_t common[4], wanted[TSR_MAX_NDIM], got[TSR_MAX_NDIM];
    int rank = 0, ndim = -7;
    bool fits = true;
    for (int i = 0; i < 4; i++) common[i] = ref_once_in(c, 8) ? 0 : ref_between(c, 1, 4);
    for (int o = 0; o < n; o++) {
        int64_t shape[4];
        const int nd = (int)ref_below(c, 5);
        for (int i = 0; i < nd; i++) shape[i] = ref_once_in(c, 3) ? 1 : common[4 - nd + i];
        if (nd > 0 && ref_once_in(c, 8)) shape[ref_below(c, nd)] += 1;
        MUST(tsr_desc_init(&descs[o], TSR_F32, nd, shape, NULL) == TSR_OK);
        list[o] = &descs[o];
        if (nd > rank) rank = nd;
        ref_say_desc(c, &descs[o]);
    }
    for (int back = 1; back <= rank; back++) {
        int64_t size = 1;
        for (int o = 0; o < n; o++) {
            const int64_t s = back <= descs[o].ndim ? descs[o].shape[descs[o].ndim - back] : 1;
            if (s == 1) continue;
            if (size != 1 && size != s) fits = false;
            size = s;
        }
        wanted[rank - back] = size;
    }
    const tsr_status s = tsr_desc_broadcast(&ndim, got, n, list);
    MUST(s == (fits ? TSR_OK : TSR_ESHAPE));
    MUST(ndim == (fits ? rank : -7));
    for (int i = 0; fits && i < rank; i++) MUST(got[i] == wanted[i]);
    for (int o = 0; fits && o < n; o++) {
        tsr_desc wide;
        MUST(tsr_desc_expand(&wide, &descs[o], rank, wanted) == TSR_OK);
    }
}

TEST(test_shapes_broadcast_by_the_rule_of_numpy) { ref_cases(20000, broadcast_case); }

static void matmul_case(ref_case *c)
{
    tsr_desc d[2];
    bool fits = true;
    for (int o = 0; o < 2; o++) {
        int64_t shape[4];
        const int nd = (int)ref_below(c, 5);
        for (int i = 0; i < nd; i++) shape[i] = ref_between(c, 1, 2);
        MUST(tsr_desc_init(&d[o], TSR_F64, nd, shape, NULL) == TSR_OK);
        ref_say_desc(c, &d[o]);
    }
    const tsr_desc *a = &d[0], *b = &d[1];
    if (!a->ndim || !b->ndim) fits = false;
    else if (a->shape[a->ndim - 1] != b->shape[b->ndim > 1 ? b->ndim - 2 : 0]) fits = false;
    for (int back = 3; fits && back <= a->ndim && back <= b->ndim; back++) {
        const int64_t x = a->shape[a->ndim - back], y = b->shape[b->ndim - back];
        if (x != y && x != 1 && y != 1) fits = false;
    }
    MUST(tsr_desc_matmul_check(a, b) == (fits ? TSR_OK : TSR_ESHAPE));
}

TEST(test_matmul_accepts_the_shapes_that_can_be_multiplied) { ref_cases(5000, matmul_case); }

TEST_BEFORE
{
    for (size_t i = 0; i < sizeof memory; i++) memory[i] = (unsigned char)(i * 167 + i / 251);
}
