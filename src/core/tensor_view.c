/* tensor_view.c - the arithmetic of view_algebra.c applied to tensors.
 *
 * Each function works out a desc and an offset, and binds the result to the
 * same storage. Views that stay inside their source need no bounds check;
 * as_strided, which need not, has one. */
#include "alloc.h"
#include "tensor_int.h"
#include "tessera/view.h"

/* Where a view of t is worked out: a header of its own, or, for a result that is
 * placed, one on the stack. */
static inline tsr_status begin_view(tsr_tensor **view, tsr_tensor **out, tsr_tensor *room, const char *op,
                                    const tsr_tensor *t)
{
    TSRI_CHECK(out, TSR_ENULL, "%s: out is NULL", op);
    TSRI_TRY(tsri_check_allocated(op, "t", t));
    *view = *out && ((*out)->flags & TSR_FLAG_PLACED) ? room : tsri_header_take();
    TSRI_CHECK(*view, TSR_ENOMEM, "%s: no room for a tensor", op);
    return TSR_OK;
}

/* For views that are worked out on the stack: check first, bind at the end. */
static tsr_status check_source(const char *op, tsr_tensor **out, const tsr_tensor *t)
{
    TSRI_CHECK(out, TSR_ENULL, "%s: out is NULL", op);
    return tsri_check_allocated(op, "t", t);
}

static tsr_status bind_view(tsr_tensor **out, const char *op, const tsr_tensor *t, const tsr_desc *desc,
                            int64_t offset)
{
    if (tsri_desc_is_empty(desc)) offset = 0;
    return tsri_bind(out, op, desc, t->storage, (char *)t->data + offset * tsri_dtype_size(desc->dtype), t,
                     TSR_FLAG_VIEW);
}

/* Binds *out to the view, whose desc is worked out, `offset` elements of its own
 * dtype from t's data; or, after a failure, gives the header back. */
static tsr_status end_view(tsr_tensor **out, tsr_tensor *view, const tsr_tensor *room, const tsr_tensor *t,
                           int64_t offset, tsr_status s)
{
    if (!TSRI_LIKELY(s == TSR_OK)) {
        if (view != room) tsri_header_give(view);
        return s;
    }
    if (offset && tsri_desc_is_empty(&view->desc)) offset = 0;  /* stay inside the storage, whatever it is */
    char *data = (char *)t->data + offset * tsri_dtype_size(view->dtype);
    if (view == room) return tsri_bind(out, "view", &view->desc, t->storage, data, t, TSR_FLAG_VIEW);
    tsr_tensor *old = *out;
    view->data = data;
    view->storage = t->storage;
    view->flags = TSR_FLAG_VIEW | (t->flags & TSR_FLAG_READONLY);
    view->device = t->device;
    view->memory = t->memory;
    /* A view that replaces one of the same storage takes its place among the owners. */
    if (old && old->storage == t->storage && tsri_load_acquire(&old->count) == 1) old->storage = NULL;
    else tsri_storage_retain(view->storage);
    tsri_store_release(&view->count, 1);
    *out = view;
    if (old) {
        tsri_scope_stay(view, old);
        tsr_release(&old);
    }
    return TSR_OK;
}

#define VIEW(desc_name, name, parameters, ...)                                                       \
    tsr_status tsr_##name(tsr_tensor **out, const tsr_tensor *t, TSRI_UNWRAP parameters)             \
    {                                                                                                \
        tsr_tensor room, *view = NULL;                                                               \
        TSRI_TRY(begin_view(&view, out, &room, #name, t));                                           \
        return end_view(out, view, &room, t, 0, tsri_desc_##desc_name(&view->desc, &t->desc, __VA_ARGS__)); \
    }
#define VIEW_AT(desc_name, name, parameters, ...)                                                    \
    tsr_status tsr_##name(tsr_tensor **out, const tsr_tensor *t, TSRI_UNWRAP parameters)             \
    {                                                                                                \
        tsr_tensor room, *view = NULL;                                                               \
        int64_t offset = 0;                                                                          \
        TSRI_TRY(begin_view(&view, out, &room, #name, t));                                           \
        const tsr_status s = tsri_desc_##desc_name(&view->desc, &offset, &t->desc, __VA_ARGS__);     \
        return end_view(out, view, &room, t, offset, s);                                             \
    }
#include "views.def"

tsr_status tsr_at_prefix(tsr_tensor **out, const tsr_tensor *t, int n, const int64_t *index)
{
    int64_t offset;
    TSRI_TRY(check_source("at_prefix", out, t));
    TSRI_TRY(tsri_desc_offset(&offset, "at_prefix", &t->desc, n, index));
    tsr_desc d = { .dtype = t->dtype, .ndim = t->ndim - n };
    for (int i = 0; i < d.ndim; i++) {
        d.shape[i] = t->shape[i + n];
        d.stride[i] = t->stride[i + n];
    }
    return bind_view(out, "at_prefix", t, &d, offset);
}

tsr_status tsr_squeeze_all(tsr_tensor **out, const tsr_tensor *t)
{
    tsr_tensor room, *view = NULL;
    TSRI_TRY(begin_view(&view, out, &room, "squeeze_all", t));
    tsri_desc_squeeze_all(&view->desc, &t->desc);
    return end_view(out, view, &room, t, 0, TSR_OK);
}

tsr_status tsr_view_real(tsr_tensor **out, const tsr_tensor *t)
{
    tsr_tensor room, *view = NULL;
    TSRI_TRY(begin_view(&view, out, &room, "view_real", t));
    tsri_desc_real(&view->desc, &t->desc);
    return end_view(out, view, &room, t, 0, TSR_OK);
}

tsr_status tsr_view_imag(tsr_tensor **out, const tsr_tensor *t)
{
    tsr_tensor room, *view = NULL;
    int64_t offset = 0;
    TSRI_TRY(begin_view(&view, out, &room, "view_imag", t));
    const tsr_status s = tsri_desc_imag(&view->desc, &offset, &t->desc);
    return end_view(out, view, &room, t, offset, s);
}

tsr_status tsr_bit_view(tsr_tensor **out, const tsr_tensor *t, tsr_dtype dtype)
{
    tsr_desc d;
    TSRI_TRY(check_source("bit_view", out, t));
    TSRI_TRY(tsri_desc_bit_view(&d, &t->desc, dtype));
    const size_t size = tsr_dtype_size(dtype);
    const size_t align = tsr_dtype_kind(dtype) == TSR_COMPLEX ? size / 2 : size;
    TSRI_CHECK((uintptr_t)t->data % align == 0, TSR_EINVAL,
               "bit_view: %s begins at an address that does not suit %s", TSRI_DESC(&t->desc),
               tsr_dtype_name(dtype));
    return bind_view(out, "bit_view", t, &d, 0);
}

/* Where a view may lie: the storage, or, for a tensor placed over bare memory,
 * what that tensor itself reaches. */
static void bounds_of(const tsr_tensor *t, uintptr_t *low, uintptr_t *high)
{
    int64_t lo, hi;
    if (t->storage) {
        *low = (uintptr_t)t->storage->data;
        *high = *low + t->storage->bytes;
        return;
    }
    (void)tsr_desc_span(&t->desc, &lo, &hi);
    *low = (uintptr_t)t->data - (uintptr_t)-lo;
    *high = (uintptr_t)t->data + (uintptr_t)hi;
}

/* Do the bytes at + lo .. at + hi - 1, counted from t's data, stay in bounds? */
static bool stays_inside(const tsr_tensor *t, int64_t at, int64_t lo, int64_t hi)
{
    uintptr_t low, high;
    bounds_of(t, &low, &high);
    const int64_t before = (int64_t)((uintptr_t)t->data - low), after = (int64_t)(high - (uintptr_t)t->data);
    int64_t first, end;
    return tsri_add(&first, at, lo) && tsri_add(&end, at, hi) && first >= -before && end <= after;
}

/* One pass while nothing is unusual: there are elements, and all lie in bounds. What has elements and fails
 * here is no tensor, or leaves the bounds. */
static bool strided_usual(tsr_desc *d, const tsr_tensor *t, int ndim, const int64_t *shape,
                          const int64_t *stride, int64_t offset)
{
    const int64_t size = tsri_dtype_size(t->dtype);
    int64_t lo = 0, hi = 1, bytes = size, at;
    if (ndim < 0 || ndim > TSR_MAX_NDIM || (ndim && (!shape || !stride))) return false;
    d->dtype = t->dtype;
    d->ndim = ndim;
    for (int i = 0; i < ndim; i++) {
        int64_t reach;
        if (shape[i] <= 0 || !tsri_mul(&bytes, bytes, shape[i])) return false;
        if (!tsri_mul(&reach, shape[i] - 1, stride[i])) return false;
        int64_t *end = reach < 0 ? &lo : &hi;
        if (!tsri_add(end, *end, reach)) return false;
        d->shape[i] = shape[i];
        d->stride[i] = stride[i];
    }
    return tsri_mul(&lo, lo, size) && tsri_mul(&hi, hi, size) && tsri_mul(&at, offset, size) &&
           stays_inside(t, at, lo, hi);
}

static tsr_status strided_desc(tsr_desc *d, const tsr_tensor *t, int ndim, const int64_t *shape,
                               const int64_t *stride, int64_t offset)
{
    if (TSRI_LIKELY(strided_usual(d, t, ndim, shape, stride, offset))) return TSR_OK;
    TSRI_TRY(tsri_check_list("as_strided", "shape", ndim, shape));
    TSRI_TRY(tsri_check_list("as_strided", "stride", ndim, stride));
    TSRI_TRY(tsri_desc_init(d, "as_strided", t->dtype, ndim, shape, stride));
    TSRI_CHECK(tsri_desc_is_empty(d), TSR_EBOUNDS,
               "as_strided: %s from element %lld on leaves the memory of %s", TSRI_DESC(d), (long long)offset,
               TSRI_DESC(&t->desc));
    return TSR_OK;
}

tsr_status tsr_as_strided(tsr_tensor **out, const tsr_tensor *t, int ndim, const int64_t *shape,
                          const int64_t *stride, int64_t offset)
{
    tsr_tensor room, *view = NULL;
    TSRI_TRY(begin_view(&view, out, &room, "as_strided", t));
    const tsr_status s = strided_desc(&view->desc, t, ndim, shape, stride, offset);
    return end_view(out, view, &room, t, offset, s);
}

/* Several at once ---------------------------------------------------------------- */

static tsr_status check_sizes(const tsr_desc *d, int at, int n, const int64_t *sizes)
{
    int64_t start = 0;
    for (int i = 0; i < n; i++) {
        TSRI_CHECK(sizes[i] >= 0 && sizes[i] <= d->shape[at] - start, TSR_ESHAPE,
                   "split: part %d of size %lld does not fit dim %d of %s", i, (long long)sizes[i], at,
                   TSRI_DESC(d));
        start += sizes[i];
    }
    TSRI_CHECK(start == d->shape[at], TSR_ESHAPE, "split: the parts add up to %lld, but dim %d of %s is %lld",
               (long long)start, at, TSRI_DESC(d), (long long)d->shape[at]);
    return TSR_OK;
}

/* Part `i`, which begins at *start along the axis; sizes NULL: one index each. */
static tsr_status bind_part(tsr_tensor **out, const char *op, const tsr_tensor *t, int axis, int i,
                            const int64_t *sizes, int64_t *start)
{
    tsr_desc d;
    int64_t offset;
    if (!sizes) {
        TSRI_TRY(tsri_desc_select(&d, &offset, &t->desc, axis, i));
    } else {
        TSRI_TRY(tsri_desc_slice(&d, &offset, &t->desc, axis, *start, *start + sizes[i], 1));
        *start += sizes[i];
    }
    return bind_view(out, op, t, &d, offset);
}

static bool is_placed(const tsr_tensor *t) { return t && (t->flags & TSR_FLAG_PLACED); }

/* Binds fresh[i], or outs[i] where that is placed and so cannot fail. */
static tsr_status bind_new(tsr_tensor **is_new, const char *op, const tsr_tensor *t, int axis, int n,
                             const int64_t *sizes, tsr_tensor **outs, bool placed)
{
    int64_t start = 0;
    for (int i = 0; i < n; i++) {
        tsr_tensor *room = NULL;
        if (is_placed(outs[i]) != placed) {
            if (sizes) start += sizes[i];
            continue;
        }
        TSRI_TRY(bind_part(placed ? &outs[i] : &room, op, t, axis, i, sizes, &start));
        if (!placed) is_new[i] = room;
    }
    return TSR_OK;
}

/* All of outs are rebound or none: what needs a new header is made first. */
static tsr_status bind_parts(tsr_tensor **outs, const char *op, const tsr_tensor *t, int axis, int n,
                             const int64_t *sizes)
{
    int heap = 0;
    for (int i = 0; i < n; i++) heap += !is_placed(outs[i]);
    const size_t bytes = (size_t)n * sizeof(tsr_tensor *);
    tsr_tensor **is_new = heap ? tsri_scratch(bytes) : NULL;
    TSRI_CHECK(is_new || !heap, TSR_ENOMEM, "%s: no room for %d handles", op, n);
    for (int i = 0; heap && i < n; i++) is_new[i] = NULL;

    tsr_tensor source = *t;  /* t may be one of outs */
    source.flags &= ~(uint32_t)TSR_FLAG_PLACED;
    tsri_storage_retain(source.storage);
    tsr_status s = heap ? bind_new(is_new, op, &source, axis, n, sizes, outs, false) : TSR_OK;
    if (s == TSR_OK) s = bind_new(is_new, op, &source, axis, n, sizes, outs, true);
    for (int i = 0; heap && i < n; i++) {
        tsr_tensor **gone = s == TSR_OK && is_new[i] ? &outs[i] : &is_new[i];
        tsr_release(gone);
        if (gone == &outs[i]) outs[i] = is_new[i];
    }
    tsri_storage_release(source.storage);
    tsri_free(is_new, bytes);
    return s;
}

tsr_status tsr_split(tsr_tensor **outs, const tsr_tensor *t, int axis, int n, const int64_t *sizes)
{
    int at;
    TSRI_TRY(check_source("split", outs, t));
    TSRI_TRY(tsri_axis(&at, "split", "axis", axis, &t->desc));
    TSRI_CHECK(n >= 1, TSR_EINVAL, "split: into %d parts; one at least is needed", n);
    TSRI_CHECK(sizes, TSR_ENULL, "split: sizes is NULL");
    TSRI_TRY(check_sizes(&t->desc, at, n, sizes));
    return bind_parts(outs, "split", t, at, n, sizes);
}

tsr_status tsr_unstack(tsr_tensor **outs, const tsr_tensor *t, int axis, int n)
{
    int at;
    TSRI_TRY(check_source("unstack", outs, t));
    TSRI_TRY(tsri_axis(&at, "unstack", "axis", axis, &t->desc));
    TSRI_CHECK(n == t->shape[at], TSR_ESHAPE, "unstack: into %d parts, but dim %d of %s is %lld", n, axis,
               TSRI_DESC(&t->desc), (long long)t->shape[at]);
    return bind_parts(outs, "unstack", t, at, n, NULL);
}
