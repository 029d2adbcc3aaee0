/* view_algebra.c - views as desc arithmetic: desc in, desc out, no memory touched.
 *
 * A view that only rearranges or leaves out elements of a valid desc is valid;
 * expand and unfold, which repeat elements, check what they made. */
#include "desc_int.h"

static void put_dim(tsr_desc *d, int64_t n, int64_t stride)
{
    d->shape[d->ndim] = n;
    d->stride[d->ndim] = stride;
    d->ndim++;
}

static void begin(tsr_desc *out, const tsr_desc *d)
{
    out->dtype = d->dtype;
    out->ndim = 0;
}

/* Elements of a valid desc. */
static int64_t count_elements(const tsr_desc *d)
{
    if (tsri_desc_is_empty(d)) return 0;
    int64_t n = 1;
    for (int i = 0; i < d->ndim; i++) n *= d->shape[i];
    return n;
}

/* View ---------------------------------------------------------------------------- */

/* Copies a shape with at most one -1, worked out so that it holds `numel`. */
static tsr_status complete_shape(int64_t *out, const char *op, int ndim, const int64_t *shape, int64_t numel,
                                 const tsr_desc *d)
{
    int64_t known = 1;
    int unknown = -1;
    bool fits = true, zero = false;
    for (int i = 0; i < ndim; i++) zero = zero || shape[i] == 0;
    for (int i = 0; i < ndim; i++) {
        out[i] = shape[i];
        if (shape[i] == -1) {
            TSRI_CHECK(unknown < 0, TSR_EINVAL, "%s: shape %s leaves more than one dim open", op,
                       TSRI_DIMS(ndim, shape));
            unknown = i;
            continue;
        }
        TSRI_CHECK(shape[i] >= 0, TSR_ESHAPE, "%s: dim %d is %lld in shape %s", op, i, (long long)shape[i],
                   TSRI_DIMS(ndim, shape));
        fits = fits && (zero || tsri_mul(&known, known, shape[i]));
    }
    if (zero) known = 0;
    if (unknown >= 0 && fits && known > 0 && numel % known == 0) {
        out[unknown] = numel / known;
        known = numel;
        unknown = -1;
    }
    TSRI_CHECK(unknown < 0 && fits && known == numel, TSR_ESHAPE,
               "%s: shape %s does not hold the %lld elements of %s", op, TSRI_DIMS(ndim, shape),
               (long long)numel, TSRI_DESC(d));
    return TSR_OK;
}

/* Strides for `shape` over the memory of d, or the axis of d that cannot be
 * merged with the axis after it. Dims of d are taken in chunks that lie
 * as one run; each chunk must be filled exactly by dims of the new shape. */
static int view_strides(int64_t *stride, const tsr_desc *d, int ndim, const int64_t *shape)
{
    int at = ndim - 1;
    int64_t chunk = 1, filled = 1, base = d->ndim ? d->stride[d->ndim - 1] : 1;
    for (int i = d->ndim - 1; i >= 0; i--) {
        chunk *= d->shape[i];
        const bool ends =
            i == 0 || (d->shape[i - 1] != 1 && d->stride[i - 1] != tsri_mul_wrapping(chunk, base));
        if (!ends) continue;
        while (at >= 0 && (filled < chunk || shape[at] == 1)) {
            stride[at] = tsri_mul_wrapping(filled, base);
            filled *= shape[at--];
        }
        if (filled != chunk) return i - 1;
        if (i > 0) {
            base = d->stride[i - 1];
            chunk = filled = 1;
        }
    }
    for (; at >= 0; at--) stride[at] = 1;  /* the dims of a scalar's view, all 1 */
    return -1;
}

/* The usual case in one pass: packed memory under a shape with nothing open,
 * nothing empty and the right count. */
static bool reshape_packed(tsr_desc *out, const tsr_desc *d, int ndim, const int64_t *shape)
{
    int64_t numel = 1, step = 1;
    out->dtype = d->dtype;
    out->ndim = ndim;
    for (int i = d->ndim - 1; i >= 0; i--) {
        if (d->shape[i] != 1 && d->stride[i] != numel) return false;
        numel = tsri_mul_wrapping(numel, d->shape[i]);  /* exact unless there are no elements */
    }
    for (int i = ndim - 1; i >= 0; i--) {
        out->shape[i] = shape[i];
        out->stride[i] = step;
        if (shape[i] <= 0 || !tsri_mul(&step, step, shape[i])) return false;
    }
    return step == numel;
}

/* *stuck: the dim of d that cannot be merged with the next, if the result
 * is no view; -1 otherwise. Strides are then packed, as they are for no elements. */
static tsr_status reshape(tsr_desc *out, int *stuck, const char *op, const tsr_desc *d, int ndim,
                          const int64_t *shape)
{
    *stuck = -1;
    if (TSRI_LIKELY(reshape_packed(out, d, ndim, shape))) return TSR_OK;
    const int64_t numel = count_elements(d);
    TSRI_TRY(complete_shape(out->shape, op, ndim, shape, numel, d));
    if (numel > 0) *stuck = view_strides(out->stride, d, ndim, out->shape);
    if (numel > 0 && *stuck < 0) return TSR_OK;
    TSRI_CHECK(tsri_row_major(out->stride, ndim, out->shape), TSR_EOVERFLOW,
               "%s: packed strides of shape %s exceed 2^63 - 1", op, TSRI_DIMS(ndim, out->shape));
    return TSR_OK;
}

/* The next dim after `at` whose size is not 1; there is one. */
static int next_longer_dim(const tsr_desc *d, int at)
{
    do at++;
    while (d->shape[at] == 1);
    return at;
}

static tsr_status view_as(tsr_desc *out, const char *op, const tsr_desc *d, int ndim, const int64_t *shape)
{
    int stuck = -1;
    TSRI_TRY(reshape(out, &stuck, op, d, ndim, shape));
    TSRI_CHECK(stuck < 0, TSR_ESTRIDE,
               "%s: cannot view %s as %s: dims %d and %d are not contiguous (tsr_reshape copies)", op,
               TSRI_DESC(d), TSRI_DIMS(ndim, out->shape), stuck, next_longer_dim(d, stuck));
    return TSR_OK;
}

tsr_status tsri_desc_view(tsr_desc *out, const tsr_desc *d, int ndim, const int64_t *shape)
{
    TSRI_TRY(tsri_check_list("view", "shape", ndim, shape));
    if (TSRI_LIKELY(reshape_packed(out, d, ndim, shape))) return TSR_OK;
    return view_as(out, "view", d, ndim, shape);
}

tsr_status tsri_desc_reshape(tsr_desc *out, bool *is_view, const tsr_desc *d, int ndim, const int64_t *shape)
{
    int stuck = -1;
    TSRI_TRY(tsri_check_list("reshape", "shape", ndim, shape));
    TSRI_TRY(reshape(out, &stuck, "reshape", d, ndim, shape));
    *is_view = stuck < 0;
    return TSR_OK;
}

tsr_status tsri_desc_merge(tsr_desc *out, const tsr_desc *d, int axis, int count)
{
    int at;
    int64_t shape[TSR_MAX_NDIM];
    TSRI_TRY(tsri_axis(&at, "merge_dims", "axis", axis, d));
    TSRI_CHECK(count >= 1 && count <= d->ndim - at, TSR_EINDEX, "merge_dims: %d dims from axis %d of %s",
               count, axis, TSRI_DESC(d));
    const int ndim = d->ndim - count + 1;
    for (int i = 0; i < ndim; i++) shape[i] = d->shape[i <= at ? i : i + count - 1];
    for (int i = 1; i < count; i++)
        if (d->shape[at + i] == 0) shape[at] = 0;  /* before a product overflows that would be 0 */
    for (int i = 1; i < count; i++)
        TSRI_CHECK(tsri_mul(&shape[at], shape[at], d->shape[at + i]), TSR_EOVERFLOW,
                   "merge_dims: %d dims from axis %d of %s exceed 2^63 - 1", count, axis, TSRI_DESC(d));
    return view_as(out, "merge_dims", d, ndim, shape);
}

tsr_status tsri_desc_split(tsr_desc *out, const tsr_desc *d, int axis, int n, const int64_t *sizes)
{
    int at;
    TSRI_TRY(tsri_axis(&at, "split_dim", "axis", axis, d));
    TSRI_TRY(tsri_check_list("split_dim", "sizes", n, sizes));
    TSRI_CHECK(n >= 1 && d->ndim - 1 + n <= TSR_MAX_NDIM, TSR_EINVAL,
               "split_dim: one dim of %s into %d; the result must have 1 to %d dims", TSRI_DESC(d), n,
               TSR_MAX_NDIM);
    int64_t parts[TSR_MAX_NDIM];
    TSRI_TRY(complete_shape(parts, "split_dim", n, sizes, d->shape[at], d));
    begin(out, d);
    for (int i = 0; i < at; i++) put_dim(out, d->shape[i], d->stride[i]);
    int64_t stride = d->stride[at];
    out->ndim += n;
    for (int i = n - 1; i >= 0; i--) {
        out->shape[at + i] = parts[i];
        out->stride[at + i] = stride;
        stride = tsri_mul_wrapping(stride, tsri_max(parts[i], 1));
    }
    for (int i = at + 1; i < d->ndim; i++) put_dim(out, d->shape[i], d->stride[i]);
    return TSR_OK;
}

/* Slicing -------------------------------------------------------------------------- */

/* A slice bound as a number: TSR_NONE is `none`, negative counts from the end. */
static int64_t slice_bound(int64_t bound, int64_t n, int64_t none)
{
    if (bound == TSR_NONE) return none;
    return bound < 0 ? bound + n : bound;
}

tsr_status tsri_desc_slice(tsr_desc *out, int64_t *offset, const tsr_desc *d, int axis, int64_t start,
                           int64_t stop, int64_t step)
{
    int at;
    TSRI_TRY(tsri_axis(&at, "slice", "axis", axis, d));
    TSRI_CHECK(step != 0, TSR_EINVAL, "slice: step is 0");
    const int64_t n = d->shape[at], stride = d->stride[at];
    const bool forward = step > 0;
    const int64_t first = slice_bound(start, n, forward ? 0 : n - 1);
    const int64_t last = slice_bound(stop, n, forward ? n : -1);
    const int64_t low = forward ? first : last, high = forward ? last : first;
    /* Backwards, a bound may lie just before 0 only when it was left out. */
    const bool inside = forward
                            ? low >= 0 && high <= n
                            : (low >= 0 || stop == TSR_NONE) && (high >= 0 || start == TSR_NONE) && high < n;
    TSRI_CHECK(inside && low <= high, TSR_EINDEX,
               "slice: %s%lld to %s%lld by %lld leaves dim %d of %s, which has %lld",
               start == TSR_NONE ? "open " : "", (long long)(start == TSR_NONE ? first : start),
               stop == TSR_NONE ? "open " : "", (long long)(stop == TSR_NONE ? last : stop),
               (long long)step, axis, TSRI_DESC(d), (long long)n);
    tsri_desc_copy(out, d);
    /* In unsigned numbers: step may be INT64_MIN. Most steps are 1, and division is slow. */
    const uint64_t by = forward ? (uint64_t)step : 0 - (uint64_t)step, reach = (uint64_t)(high - low);
    const int64_t count = by == 1 ? (int64_t)reach : (int64_t)(reach / by + (reach % by != 0));
    out->shape[at] = count;
    out->stride[at] = tsri_mul_wrapping(stride, step);
    *offset = count ? tsri_mul_wrapping(first, stride) : 0;
    return TSR_OK;
}

static void remove_dim(tsr_desc *d, int at)
{
    for (int i = at; i + 1 < d->ndim; i++) {
        d->shape[i] = d->shape[i + 1];
        d->stride[i] = d->stride[i + 1];
    }
    d->ndim--;
}

tsr_status tsri_desc_select(tsr_desc *out, int64_t *offset, const tsr_desc *d, int axis, int64_t index)
{
    int at;
    int64_t i;
    TSRI_TRY(tsri_axis(&at, "select", "axis", axis, d));
    TSRI_TRY(tsri_index(&i, "select", index, at, d));
    tsri_desc_copy(out, d);
    remove_dim(out, at);
    *offset = tsri_mul_wrapping(i, d->stride[at]);
    return TSR_OK;
}

tsr_status tsri_desc_flip(tsr_desc *out, int64_t *offset, const tsr_desc *d, int n, const int *axes)
{
    uint32_t set;
    TSRI_TRY(tsri_axis_set(&set, "flip", d, n, axes));
    const bool empty = tsri_desc_is_empty(d);
    tsri_desc_copy(out, d);
    *offset = 0;
    for (int i = 0; i < d->ndim; i++) {
        if (!(set >> i & 1) || d->shape[i] <= 1) continue;
        if (!empty) *offset += (d->shape[i] - 1) * d->stride[i];
        out->stride[i] = tsri_mul_wrapping(d->stride[i], -1);
    }
    return TSR_OK;
}

tsr_status tsri_desc_diagonal(tsr_desc *out, int64_t *offset, const tsr_desc *d, int64_t k, int a, int b)
{
    int x, y;
    TSRI_TRY(tsri_axis(&x, "diagonal", "axis", a, d));
    TSRI_TRY(tsri_axis(&y, "diagonal", "axis", b, d));
    TSRI_CHECK(x != y, TSR_EINVAL, "diagonal: axes %d and %d are the same", a, b);
    const int64_t rows = d->shape[x], cols = d->shape[y];
    const bool inside = k < cols && k > -rows;
    const int64_t right = inside && k > 0 ? k : 0, down = inside && k < 0 ? -k : 0;
    const int64_t n = !inside ? 0 : rows - down < cols - right ? rows - down : cols - right;
    begin(out, d);
    for (int i = 0; i < d->ndim; i++)
        if (i != x && i != y) put_dim(out, d->shape[i], d->stride[i]);
    put_dim(out, n, (int64_t)((uint64_t)d->stride[x] + (uint64_t)d->stride[y]));
    *offset = n ? tsri_mul_wrapping(right, d->stride[y]) + tsri_mul_wrapping(down, d->stride[x]) : 0;
    return TSR_OK;
}

tsr_status tsri_desc_unfold(tsr_desc *out, const tsr_desc *d, int axis, int64_t size, int64_t step)
{
    int at;
    TSRI_TRY(tsri_axis(&at, "unfold", "axis", axis, d));
    TSRI_CHECK(d->ndim < TSR_MAX_NDIM, TSR_EINVAL, "unfold: %s has the most dims there can be", TSRI_DESC(d));
    TSRI_CHECK(step > 0, TSR_EINVAL, "unfold: step %lld must be positive", (long long)step);
    TSRI_CHECK(size > 0 && size <= d->shape[at], TSR_ESHAPE,
               "unfold: a window of %lld in dim %d of %s, which has %lld", (long long)size, axis,
               TSRI_DESC(d), (long long)d->shape[at]);
    tsri_desc_copy(out, d);
    out->shape[at] = (d->shape[at] - size) / step + 1;
    out->stride[at] = tsri_mul_wrapping(d->stride[at], step);
    put_dim(out, size, d->stride[at]);
    return tsri_desc_check("unfold", out);
}

/* Reordering ------------------------------------------------------------------------ */

tsr_status tsri_desc_permute(tsr_desc *out, const tsr_desc *d, int n, const int *axes)
{
    uint32_t set;
    TSRI_CHECK(n == d->ndim, TSR_EINVAL, "permute: %d axes for %s, which has %d dims", n, TSRI_DESC(d),
               (int)d->ndim);
    TSRI_TRY(tsri_axis_set(&set, "permute", d, n, axes));
    begin(out, d);
    for (int i = 0; i < n; i++) {
        const int at = axes[i] < 0 ? axes[i] + n : axes[i];
        put_dim(out, d->shape[at], d->stride[at]);
    }
    return TSR_OK;
}

tsr_status tsri_desc_transpose(tsr_desc *out, const tsr_desc *d, int a, int b)
{
    int x, y;
    TSRI_TRY(tsri_axis(&x, "transpose", "axis", a, d));
    TSRI_TRY(tsri_axis(&y, "transpose", "axis", b, d));
    tsri_desc_copy(out, d);
    out->shape[x] = d->shape[y];
    out->shape[y] = d->shape[x];
    out->stride[x] = d->stride[y];
    out->stride[y] = d->stride[x];
    return TSR_OK;
}

tsr_status tsri_desc_move_axis(tsr_desc *out, const tsr_desc *d, int from, int to)
{
    int x, y;
    TSRI_TRY(tsri_axis(&x, "move_axis", "axis", from, d));
    TSRI_TRY(tsri_axis(&y, "move_axis", "axis", to, d));
    begin(out, d);
    for (int i = 0, next = 0; i < d->ndim; i++) {
        if (next == x) next++;
        const int at = i == y ? x : next++;
        put_dim(out, d->shape[at], d->stride[at]);
    }
    return TSR_OK;
}

tsr_status tsri_desc_expand(tsr_desc *out, const tsr_desc *d, int ndim, const int64_t *shape)
{
    TSRI_TRY(tsri_check_list("expand", "shape", ndim, shape));
    TSRI_CHECK(ndim >= d->ndim, TSR_ESHAPE, "expand: shape %s has fewer dims than %s", TSRI_DIMS(ndim, shape),
               TSRI_DESC(d));
    int64_t bytes = tsri_dtype_size(d->dtype);
    bool fits = true;
    begin(out, d);
    for (int i = 0; i < ndim; i++) {
        const int at = i - (ndim - d->ndim);
        const bool keep = at >= 0 && (shape[i] == -1 || shape[i] == d->shape[at]);
        TSRI_CHECK(keep || (shape[i] >= 0 && (at < 0 || d->shape[at] == 1)), TSR_ESHAPE,
                   "expand: dim %d of shape %s cannot come from %s", i, TSRI_DIMS(ndim, shape), TSRI_DESC(d));
        if (keep) put_dim(out, d->shape[at], d->stride[at]);
        else      put_dim(out, shape[i], 0);
        fits = fits && tsri_mul(&bytes, bytes, out->shape[i]);
    }
    return TSRI_LIKELY(fits) ? TSR_OK : tsri_desc_check("expand", out);
}

tsr_status tsri_desc_squeeze(tsr_desc *out, const tsr_desc *d, int axis)
{
    int at;
    TSRI_TRY(tsri_axis(&at, "squeeze", "axis", axis, d));
    TSRI_CHECK(d->shape[at] == 1, TSR_ESHAPE, "squeeze: dim %d of %s is %lld, not 1", axis, TSRI_DESC(d),
               (long long)d->shape[at]);
    tsri_desc_copy(out, d);
    remove_dim(out, at);
    return TSR_OK;
}

void tsri_desc_squeeze_all(tsr_desc *out, const tsr_desc *d)
{
    begin(out, d);
    for (int i = 0; i < d->ndim; i++)
        if (d->shape[i] != 1) put_dim(out, d->shape[i], d->stride[i]);
}

tsr_status tsri_desc_unsqueeze(tsr_desc *out, const tsr_desc *d, int axis)
{
    const int at = axis < 0 ? axis + d->ndim + 1 : axis;
    TSRI_CHECK(d->ndim < TSR_MAX_NDIM, TSR_EINVAL, "unsqueeze: %s has the most dims there can be",
               TSRI_DESC(d));
    TSRI_CHECK(at >= 0 && at <= d->ndim, TSR_EINDEX, "unsqueeze: axis %d of a result with %d dims", axis,
               (int)d->ndim + 1);
    begin(out, d);
    for (int i = 0; i <= d->ndim; i++) {
        if (i == at) put_dim(out, 1, i < d->ndim ? tsri_mul_wrapping(d->stride[i], d->shape[i]) : 1);
        if (i < d->ndim) put_dim(out, d->shape[i], d->stride[i]);
    }
    return TSR_OK;
}

/* The same bits --------------------------------------------------------------------- */

/* The parts of complex elements lie two to an element. */
void tsri_desc_real(tsr_desc *out, const tsr_desc *d)
{
    tsri_desc_copy(out, d);
    if (tsr_dtype_kind(d->dtype) != TSR_COMPLEX) return;
    out->dtype = tsr_dtype_real(d->dtype);
    for (int i = 0; i < d->ndim; i++) out->stride[i] = tsri_mul_wrapping(d->stride[i], 2);
}

tsr_status tsri_desc_imag(tsr_desc *out, int64_t *offset, const tsr_desc *d)
{
    TSRI_CHECK(tsr_dtype_kind(d->dtype) == TSR_COMPLEX, TSR_EDTYPE, "view_imag: %s is not complex",
               TSRI_DESC(d));
    tsri_desc_real(out, d);
    *offset = tsri_desc_is_empty(d) ? 0 : 1;
    return TSR_OK;
}

/* Each old element becomes r smaller ones. */
static tsr_status bit_view_smaller(tsr_desc *out, const tsr_desc *d, int64_t r)
{
    const int last = d->ndim - 1;
    TSRI_CHECK(tsri_mul(&out->shape[last], d->shape[last], r), TSR_EOVERFLOW, "bit_view: %s as %s",
               TSRI_DESC(d), tsr_dtype_name(out->dtype));
    for (int i = 0; i < last; i++) out->stride[i] = tsri_mul_wrapping(d->stride[i], r);
    return TSR_OK;
}

/* Each r old elements become a larger one. */
static tsr_status bit_view_larger(tsr_desc *out, const tsr_desc *d, int64_t r)
{
    const int last = d->ndim - 1;
    TSRI_CHECK(d->shape[last] % r == 0, TSR_ESHAPE, "bit_view: the last dim of %s does not divide into %s",
               TSRI_DESC(d), tsr_dtype_name(out->dtype));
    out->shape[last] /= r;
    for (int i = 0; i < last; i++) {
        TSRI_CHECK(d->shape[i] <= 1 || d->stride[i] % r == 0, TSR_ESTRIDE,
                   "bit_view: the stride of dim %d of %s does not divide into %s", i, TSRI_DESC(d),
                   tsr_dtype_name(out->dtype));
        out->stride[i] /= r;
    }
    return TSR_OK;
}

tsr_status tsri_desc_bit_view(tsr_desc *out, const tsr_desc *d, tsr_dtype dtype)
{
    TSRI_CHECK(tsri_dtype_is_valid(dtype), TSR_EDTYPE, "bit_view: %d is no dtype", (int)dtype);
    TSRI_CHECK(dtype != TSR_BOOL || d->dtype == TSR_BOOL, TSR_EDTYPE,
               "bit_view: %s as bool, whose bytes are only 0 and 1 (tsr_cast converts)", TSRI_DESC(d));
    const int64_t had = tsri_dtype_size(d->dtype), wanted = tsri_dtype_size(dtype);
    tsri_desc_copy(out, d);
    out->dtype = dtype;
    if (had == wanted) return TSR_OK;
    const int last = d->ndim - 1;
    TSRI_CHECK(last >= 0, TSR_ESHAPE, "bit_view: a scalar of %lld bytes as %s", (long long)had,
               tsr_dtype_name(dtype));
    TSRI_CHECK(d->shape[last] <= 1 || d->stride[last] == 1, TSR_ESTRIDE,
               "bit_view: %s as %s needs the last dim packed", TSRI_DESC(d), tsr_dtype_name(dtype));
    if (had > wanted) TSRI_TRY(bit_view_smaller(out, d, had / wanted));
    else              TSRI_TRY(bit_view_larger(out, d, wanted / had));
    out->stride[last] = 1;
    return TSR_OK;
}

/* Packing --------------------------------------------------------------------------- */

/* Positive if dim a lies inside dim b in memory, negative if outside, 0 if strides do
 * not decide it (a dim of size 1, or one that is broadcast). */
static int compare_dims(const tsr_desc *d, int a, int b)
{
    if (d->shape[a] <= 1 || d->shape[b] <= 1) return 0;
    /* In unsigned numbers: where there are no elements, a stride may be INT64_MIN. */
    const uint64_t x = d->stride[a] < 0 ? 0 - (uint64_t)d->stride[a] : (uint64_t)d->stride[a];
    const uint64_t y = d->stride[b] < 0 ? 0 - (uint64_t)d->stride[b] : (uint64_t)d->stride[b];
    if (x == 0 || y == 0 || x == y) return 0;
    return x < y ? 1 : -1;
}

/* Dims of d, outermost in memory first; in their own order where strides do not decide. */
static void memory_order(int order[TSR_MAX_NDIM], const tsr_desc *d)
{
    for (int i = 0; i < d->ndim; i++) order[i] = i;
    for (int i = 1; i < d->ndim; i++) {
        int at = i;
        for (int other = i - 1; other >= 0; other--) {
            const int c = compare_dims(d, order[other], order[at]);
            if (c < 0) break;
            if (c == 0) continue;
            const int swap = order[at];
            order[at] = order[other];
            order[other] = swap;
            at = other;
        }
    }
}

tsr_status tsri_desc_packed_like(tsr_desc *out, const tsr_desc *d, tsr_dtype dtype)
{
    int order[TSR_MAX_NDIM];
    int64_t step = 1;
    tsri_desc_copy(out, d);
    out->dtype = dtype;
    memory_order(order, d);
    for (int i = d->ndim - 1; i >= 0; i--) {
        out->stride[order[i]] = step;
        TSRI_CHECK(tsri_mul(&step, step, tsri_max(d->shape[order[i]], 1)), TSR_EOVERFLOW,
                   "packed_like: the packed strides of %s exceed 2^63 - 1", TSRI_DESC(d));
    }
    return tsri_desc_check("packed_like", out);
}
