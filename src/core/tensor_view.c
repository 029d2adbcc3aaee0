/* tensor_view.c - view.c's arithmetic applied to tensors.
 *
 * Each function works out a desc and an offset, and binds the result to the
 * same storage. Views that stay inside their source need no bounds check;
 * as_strided, which need not, has one. */
#include "alloc.h"
#include "tensor_int.h"
#include "tessera/view.h"

static tsr_status check_source(const char *op, tsr_tensor **out, const tsr_tensor *t)
{
    TSRI_CHECK(out, TSR_ENULL, "%s: out is NULL", op);
    return tsri_check_allocated(op, "t", t);
}

/* The view of t with this desc, `offset` elements of its own dtype further on. */
static tsr_status bind_view(tsr_tensor **out, const char *op, const tsr_tensor *t, const tsr_desc *desc,
                            int64_t offset)
{
    char *data = (char *)t->data + offset * (int64_t)tsr_dtype_size(desc->dtype);
    return tsri_bind(out, op, desc, t->storage, data, t, TSR_FLAG_VIEW);
}

tsr_status tsr_view(tsr_tensor **out, const tsr_tensor *t, int ndim, const int64_t *shape)
{
    tsr_desc d;
    TSRI_TRY(check_source("view", out, t));
    TSRI_TRY(tsr_desc_view(&d, &t->desc, ndim, shape));
    return bind_view(out, "view", t, &d, 0);
}

tsr_status tsr_slice(tsr_tensor **out, const tsr_tensor *t, int axis, int64_t start, int64_t stop, int64_t step)
{
    tsr_desc d;
    int64_t offset;
    TSRI_TRY(check_source("slice", out, t));
    TSRI_TRY(tsr_desc_slice(&d, &offset, &t->desc, axis, start, stop, step));
    return bind_view(out, "slice", t, &d, offset);
}

tsr_status tsr_select(tsr_tensor **out, const tsr_tensor *t, int axis, int64_t index)
{
    tsr_desc d;
    int64_t offset;
    TSRI_TRY(check_source("select", out, t));
    TSRI_TRY(tsr_desc_select(&d, &offset, &t->desc, axis, index));
    return bind_view(out, "select", t, &d, offset);
}

tsr_status tsr_at_prefix(tsr_tensor **out, const tsr_tensor *t, int n, const int64_t *index)
{
    int64_t offset;
    TSRI_TRY(check_source("at_prefix", out, t));
    TSRI_TRY(tsr_desc_offset(&offset, &t->desc, n, index));
    tsr_desc d = { .dtype = t->dtype, .ndim = t->ndim - n };
    for (int i = 0; i < d.ndim; i++) {
        d.shape[i] = t->shape[i + n];
        d.stride[i] = t->stride[i + n];
    }
    return bind_view(out, "at_prefix", t, &d, offset);
}

tsr_status tsr_permute(tsr_tensor **out, const tsr_tensor *t, int n, const int *axes)
{
    tsr_desc d;
    TSRI_TRY(check_source("permute", out, t));
    TSRI_TRY(tsr_desc_permute(&d, &t->desc, n, axes));
    return bind_view(out, "permute", t, &d, 0);
}

tsr_status tsr_transpose(tsr_tensor **out, const tsr_tensor *t, int a, int b)
{
    tsr_desc d;
    TSRI_TRY(check_source("transpose", out, t));
    TSRI_TRY(tsr_desc_transpose(&d, &t->desc, a, b));
    return bind_view(out, "transpose", t, &d, 0);
}

tsr_status tsr_move_axis(tsr_tensor **out, const tsr_tensor *t, int from, int to)
{
    tsr_desc d;
    TSRI_TRY(check_source("move_axis", out, t));
    TSRI_TRY(tsr_desc_move_axis(&d, &t->desc, from, to));
    return bind_view(out, "move_axis", t, &d, 0);
}

tsr_status tsr_expand(tsr_tensor **out, const tsr_tensor *t, int ndim, const int64_t *shape)
{
    tsr_desc d;
    TSRI_TRY(check_source("expand", out, t));
    TSRI_TRY(tsr_desc_expand(&d, &t->desc, ndim, shape));
    return bind_view(out, "expand", t, &d, 0);
}

tsr_status tsr_squeeze(tsr_tensor **out, const tsr_tensor *t, int axis)
{
    tsr_desc d;
    TSRI_TRY(check_source("squeeze", out, t));
    TSRI_TRY(tsr_desc_squeeze(&d, &t->desc, axis));
    return bind_view(out, "squeeze", t, &d, 0);
}

tsr_status tsr_squeeze_all(tsr_tensor **out, const tsr_tensor *t)
{
    tsr_desc d;
    TSRI_TRY(check_source("squeeze", out, t));
    TSRI_TRY(tsr_desc_squeeze_all(&d, &t->desc));
    return bind_view(out, "squeeze", t, &d, 0);
}

tsr_status tsr_unsqueeze(tsr_tensor **out, const tsr_tensor *t, int axis)
{
    tsr_desc d;
    TSRI_TRY(check_source("unsqueeze", out, t));
    TSRI_TRY(tsr_desc_unsqueeze(&d, &t->desc, axis));
    return bind_view(out, "unsqueeze", t, &d, 0);
}

tsr_status tsr_flip(tsr_tensor **out, const tsr_tensor *t, int n, const int *axes)
{
    tsr_desc d;
    int64_t offset;
    TSRI_TRY(check_source("flip", out, t));
    TSRI_TRY(tsr_desc_flip(&d, &offset, &t->desc, n, axes));
    return bind_view(out, "flip", t, &d, offset);
}

tsr_status tsr_diagonal(tsr_tensor **out, const tsr_tensor *t, int64_t k, int a, int b)
{
    tsr_desc d;
    int64_t offset;
    TSRI_TRY(check_source("diagonal", out, t));
    TSRI_TRY(tsr_desc_diagonal(&d, &offset, &t->desc, k, a, b));
    return bind_view(out, "diagonal", t, &d, offset);
}

tsr_status tsr_unfold(tsr_tensor **out, const tsr_tensor *t, int axis, int64_t size, int64_t step)
{
    tsr_desc d;
    TSRI_TRY(check_source("unfold", out, t));
    TSRI_TRY(tsr_desc_unfold(&d, &t->desc, axis, size, step));
    return bind_view(out, "unfold", t, &d, 0);
}

tsr_status tsr_merge_dims(tsr_tensor **out, const tsr_tensor *t, int axis, int count)
{
    tsr_desc d;
    TSRI_TRY(check_source("merge_dims", out, t));
    TSRI_TRY(tsr_desc_merge(&d, &t->desc, axis, count));
    return bind_view(out, "merge_dims", t, &d, 0);
}

tsr_status tsr_split_dim(tsr_tensor **out, const tsr_tensor *t, int axis, int n, const int64_t *sizes)
{
    tsr_desc d;
    TSRI_TRY(check_source("split_dim", out, t));
    TSRI_TRY(tsr_desc_split(&d, &t->desc, axis, n, sizes));
    return bind_view(out, "split_dim", t, &d, 0);
}

tsr_status tsr_view_real(tsr_tensor **out, const tsr_tensor *t)
{
    tsr_desc d;
    TSRI_TRY(check_source("view_real", out, t));
    TSRI_TRY(tsr_desc_real(&d, &t->desc));
    return bind_view(out, "view_real", t, &d, 0);
}

tsr_status tsr_view_imag(tsr_tensor **out, const tsr_tensor *t)
{
    tsr_desc d;
    int64_t offset;
    TSRI_TRY(check_source("view_imag", out, t));
    TSRI_TRY(tsr_desc_imag(&d, &offset, &t->desc));
    return bind_view(out, "view_imag", t, &d, offset);
}

tsr_status tsr_bit_view(tsr_tensor **out, const tsr_tensor *t, tsr_dtype dtype)
{
    tsr_desc d;
    TSRI_TRY(check_source("bit_view", out, t));
    TSRI_TRY(tsr_desc_bit_view(&d, &t->desc, dtype));
    const size_t size = tsr_dtype_size(dtype);
    const size_t align = tsr_dtype_kind(dtype) == TSR_COMPLEX ? size / 2 : size;
    TSRI_CHECK((uintptr_t)t->data % align == 0, TSR_EINVAL, "bit_view: %s begins at an address that does not suit %s",
               TSRI_DESC(&t->desc), tsr_dtype_name(dtype));
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

tsr_status tsr_as_strided(tsr_tensor **out, const tsr_tensor *t, int ndim, const int64_t *shape,
                          const int64_t *stride, int64_t offset)
{
    tsr_desc d;
    int64_t lo, hi, at;
    TSRI_TRY(check_source("as_strided", out, t));
    TSRI_TRY(tsri_check_list("as_strided", "stride", ndim, stride));
    TSRI_TRY(tsr_desc_init(&d, t->dtype, ndim, shape, stride));
    (void)tsr_desc_span(&d, &lo, &hi);
    TSRI_CHECK(tsri_mul(&at, offset, (int64_t)tsr_dtype_size(t->dtype)) && stays_inside(t, at, lo, hi), TSR_EBOUNDS,
               "as_strided: %s from element %lld on leaves the memory of %s", TSRI_DESC(&d), (long long)offset,
               TSRI_DESC(&t->desc));
    return bind_view(out, "as_strided", t, &d, offset);
}

/* Several at once ---------------------------------------------------------------- */

static tsr_status check_sizes(const tsr_desc *d, int at, int n, const int64_t *sizes)
{
    int64_t start = 0;
    for (int i = 0; i < n; i++) {
        TSRI_CHECK(sizes[i] >= 0 && sizes[i] <= d->shape[at] - start, TSR_ESHAPE,
                   "split: part %d of size %lld does not fit dim %d of %s", i, (long long)sizes[i], at, TSRI_DESC(d));
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
        TSRI_TRY(tsr_desc_select(&d, &offset, &t->desc, axis, i));
    } else {
        TSRI_TRY(tsr_desc_slice(&d, &offset, &t->desc, axis, *start, *start + sizes[i], 1));
        *start += sizes[i];
    }
    return bind_view(out, op, t, &d, offset);
}

static bool is_placed(const tsr_tensor *t) { return t && (t->flags & TSR_FLAG_PLACED); }

/* Binds fresh[i], or outs[i] where that is placed and so cannot fail. */
static tsr_status bind_fresh(tsr_tensor **fresh, const char *op, const tsr_tensor *t, int axis, int n,
                             const int64_t *sizes, tsr_tensor **outs, bool placed)
{
    int64_t start = 0;
    for (int i = 0; i < n; i++) {
        tsr_tensor *aside = NULL;
        if (is_placed(outs[i]) != placed) {
            if (sizes) start += sizes[i];
            continue;
        }
        TSRI_TRY(bind_part(placed ? &outs[i] : &aside, op, t, axis, i, sizes, &start));
        if (!placed) fresh[i] = aside;
    }
    return TSR_OK;
}

/* All of outs are rebound or none: what needs a new header is made aside first. */
static tsr_status bind_parts(tsr_tensor **outs, const char *op, const tsr_tensor *t, int axis, int n,
                             const int64_t *sizes)
{
    int heap = 0;
    for (int i = 0; i < n; i++) heap += !is_placed(outs[i]);
    const size_t bytes = (size_t)n * sizeof(tsr_tensor *);
    tsr_tensor **fresh = heap ? tsri_scratch(bytes) : NULL;
    TSRI_CHECK(fresh || !heap, TSR_ENOMEM, "%s: no room for %d handles", op, n);
    for (int i = 0; heap && i < n; i++) fresh[i] = NULL;

    tsr_tensor source = *t;  /* t may be one of outs */
    source.flags &= ~(uint32_t)TSR_FLAG_PLACED;
    tsri_storage_retain(source.storage);
    tsr_status s = heap ? bind_fresh(fresh, op, &source, axis, n, sizes, outs, false) : TSR_OK;
    if (s == TSR_OK) s = bind_fresh(fresh, op, &source, axis, n, sizes, outs, true);
    for (int i = 0; heap && i < n; i++) {
        tsr_tensor **gone = s == TSR_OK && fresh[i] ? &outs[i] : &fresh[i];
        tsr_release(gone);
        if (gone == &outs[i]) outs[i] = fresh[i];
    }
    tsri_storage_release(source.storage);
    tsri_free(fresh, bytes);
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
