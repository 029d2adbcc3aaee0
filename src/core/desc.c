/* desc.c - descs: making, checking, asking. View arithmetic is in view_algebra.c. */
#include "desc_int.h"
#include "text.h"

/* Can its dims be read? */
static bool is_legible(const tsr_desc *d)
{
    return d && tsri_dtype_is_valid(d->dtype) && d->ndim >= 0 && d->ndim <= TSR_MAX_NDIM;
}

/* And are they sizes? */
static bool is_usable(const tsr_desc *d)
{
    if (!is_legible(d)) return false;
    for (int i = 0; i < d->ndim; i++)
        if (d->shape[i] < 0) return false;
    return true;
}

bool tsri_row_major(int64_t *stride, int ndim, const int64_t *shape)
{
    int64_t step = 1;
    for (int d = ndim - 1; d >= 0; d--) {
        stride[d] = step;
        if (!tsri_mul(&step, step, tsri_max(shape[d], 1))) return false;
    }
    return true;
}

static bool column_major(int64_t *stride, int ndim, const int64_t *shape)
{
    int64_t step = 1;
    for (int d = 0; d < ndim; d++) {
        stride[d] = step;
        if (!tsri_mul(&step, step, tsri_max(shape[d], 1))) return false;
    }
    return true;
}

/* Elements, or -1 on overflow. No dim is negative. */
static int64_t count_elements(const tsr_desc *d)
{
    int64_t n = 1;
    for (int i = 0; i < d->ndim; i++)
        if (d->shape[i] == 0) return 0;
    for (int i = 0; i < d->ndim; i++)
        if (!tsri_mul(&n, n, d->shape[i])) return -1;
    return n;
}

/* Bytes reached, from lo to hi; false on overflow. There are elements. */
static bool find_span(const tsr_desc *d, int64_t size, int64_t *lo, int64_t *hi)
{
    *lo = 0;
    *hi = size;
    for (int i = 0; i < d->ndim; i++) {
        int64_t reach;
        if (d->shape[i] == 1) continue;
        if (!tsri_mul(&reach, d->shape[i] - 1, d->stride[i]) || !tsri_mul(&reach, reach, size)) return false;
        int64_t *end = reach < 0 ? lo : hi;
        if (!tsri_add(end, *end, reach)) return false;
    }
    int64_t total;
    return *lo != INT64_MIN && tsri_add(&total, *hi, -*lo);
}

tsr_status tsri_list_words(const char *op, const char *what, int n)
{
    if (n >= 0 && n <= TSR_MAX_NDIM) return tsri_fail(TSR_ENULL, "%s: %s is NULL", op, what);
    return tsri_fail(TSR_EINVAL, "%s: %d dims in %s; 0 to %d can be had", op, n, what, TSR_MAX_NDIM);
}

tsr_status tsri_desc_check(const char *op, const tsr_desc *d)
{
    int64_t lo, hi, bytes;
    TSRI_CHECK(d, TSR_ENULL, "%s: desc is NULL", op);
    TSRI_CHECK(tsri_dtype_is_valid(d->dtype), TSR_EDTYPE, "%s: %d is no dtype", op, (int)d->dtype);
    TSRI_CHECK(d->ndim >= 0 && d->ndim <= TSR_MAX_NDIM, TSR_EINVAL, "%s: rank %d is outside 0 .. %d", op,
               (int)d->ndim, TSR_MAX_NDIM);
    for (int i = 0; i < d->ndim; i++)
        TSRI_CHECK(d->shape[i] >= 0, TSR_ESHAPE, "%s: dim %d is %lld in shape %s", op, i,
                   (long long)d->shape[i], TSRI_DIMS(d->ndim, d->shape));
    const int64_t n = count_elements(d), size = tsri_dtype_size(d->dtype);
    TSRI_CHECK(n >= 0, TSR_EOVERFLOW, "%s: the number of elements of shape %s exceeds 2^63 - 1", op,
               TSRI_DIMS(d->ndim, d->shape));
    TSRI_CHECK(tsri_mul(&bytes, n, size), TSR_EOVERFLOW, "%s: the bytes of %s exceed 2^63 - 1", op,
               TSRI_DESC(d));
    TSRI_CHECK(n == 0 || find_span(d, size, &lo, &hi), TSR_EOVERFLOW,
               "%s: the strides of %s reach over more than 2^63 - 1 bytes", op, TSRI_DESC(d));
    return TSR_OK;
}

tsr_status tsr_desc_check(const tsr_desc *d) { return tsri_desc_check("desc", d); }

static tsr_status init(tsr_desc *out, const char *op, tsr_dtype dtype, int ndim, const int64_t *shape,
                       const int64_t *stride, bool (*fill)(int64_t *, int, const int64_t *))
{
    tsr_desc d;
    TSRI_CHECK(out, TSR_ENULL, "desc: out is NULL");
    TSRI_TRY(tsri_check_list(op, "shape", ndim, shape));
    d.dtype = dtype;
    d.ndim = ndim;
    for (int i = 0; i < ndim; i++) {
        d.shape[i] = shape[i];
        d.stride[i] = stride ? stride[i] : 0;
    }
    TSRI_TRY(tsri_desc_check(op, &d));
    TSRI_CHECK(stride || fill(d.stride, ndim, shape), TSR_EOVERFLOW,
               "%s: packed strides of shape %s exceed 2^63 - 1", op, TSRI_DIMS(ndim, shape));
    tsri_desc_copy(out, &d);
    return TSR_OK;
}

tsr_status tsri_desc_init(tsr_desc *out, const char *op, tsr_dtype dtype, int ndim, const int64_t *shape,
                          const int64_t *stride)
{
    return init(out, op, dtype, ndim, shape, stride, tsri_row_major);
}

tsr_status tsr_desc_init(tsr_desc *out, tsr_dtype dtype, int ndim, const int64_t *shape,
                         const int64_t *stride)
{
    return tsri_desc_init(out, "desc", dtype, ndim, shape, stride);
}

tsr_status tsr_desc_init_column_major(tsr_desc *out, tsr_dtype dtype, int ndim, const int64_t *shape)
{
    return init(out, "desc", dtype, ndim, shape, NULL, column_major);
}

/* Checks in one pass; if anything is wrong, tsr_desc_init is called for its message. */
tsr_status tsri_desc_packed(tsr_desc *out, const char *op, tsr_dtype dtype, int ndim, const int64_t *shape)
{
    TSRI_TRY(tsri_check_list(op, "shape", ndim, shape));
    int64_t step = 1, bytes;
    bool usual = tsri_dtype_is_valid(dtype);
    out->dtype = dtype;
    out->ndim = ndim;
    for (int i = ndim - 1; i >= 0 && usual; i--) {
        out->shape[i] = shape[i];
        out->stride[i] = step;
        usual = shape[i] > 0 && tsri_mul(&step, step, shape[i]);
    }
    if (TSRI_LIKELY(usual && tsri_mul(&bytes, step, tsri_dtype_size(dtype)))) return TSR_OK;
    return init(out, op, dtype, ndim, shape, NULL, tsri_row_major);
}

int64_t tsr_desc_numel(const tsr_desc *d)
{
    return is_usable(d) ? tsri_max(count_elements(d), 0) : 0;
}

int64_t tsr_desc_bytes(const tsr_desc *d)
{
    int64_t bytes = 0;
    if (is_usable(d)) (void)tsri_mul(&bytes, tsr_desc_numel(d), (int64_t)tsr_dtype_size(d->dtype));
    return bytes;
}

int64_t tsr_desc_span(const tsr_desc *d, int64_t *lo, int64_t *hi)
{
    int64_t low = 0, high = 0;
    if (tsr_desc_numel(d) == 0 || !find_span(d, (int64_t)tsr_dtype_size(d->dtype), &low, &high))
        low = high = 0;
    if (lo) *lo = low;
    if (hi) *hi = high;
    return high - low;
}

/* Does walking dims first, first + by, ... (count of them) from the innermost
 * meet packed elements? */
static bool is_packed(const tsr_desc *d, int first, int by, int count, int64_t step)
{
    for (int i = 0, at = first; i < count; i++, at += by) {
        if (d->shape[at] == 1) continue;
        if (d->stride[at] != step) return false;
        step = tsri_mul_wrapping(step, d->shape[at]);
    }
    return true;
}

bool tsr_desc_is_contiguous(const tsr_desc *d)
{
    return is_usable(d) && (is_packed(d, d->ndim - 1, -1, d->ndim, 1) || tsri_desc_is_empty(d));
}

bool tsr_desc_is_column_major(const tsr_desc *d)
{
    return is_usable(d) && (is_packed(d, 0, 1, d->ndim, 1) || tsri_desc_is_empty(d));
}

bool tsr_desc_is_contiguous_range(const tsr_desc *d, int from, int to)
{
    if (!is_usable(d) || from < 0 || to > d->ndim || from > to) return false;
    return is_packed(d, to - 1, -1, to - from, 1) || tsri_desc_is_empty(d);
}

bool tsr_desc_is_dense(const tsr_desc *d)
{
    if (!is_usable(d)) return false;
    if (tsri_desc_is_empty(d)) return true;
    int64_t step = 1;
    uint32_t left = 0;
    for (int i = 0; i < d->ndim; i++)
        if (d->shape[i] != 1) left |= 1u << i;
    while (left) {
        int at = -1;
        for (int i = 0; i < d->ndim && at < 0; i++)
            if ((left >> i & 1) && (d->stride[i] == step || d->stride[i] == tsri_mul_wrapping(step, -1)))
                at = i;
        if (at < 0) return false;
        left &= ~(1u << at);
        step = tsri_mul_wrapping(step, d->shape[at]);
    }
    return true;
}

bool tsr_desc_is_broadcast_dim(const tsr_desc *d, int axis)
{
    if (!is_usable(d)) return false;
    if (axis < 0) axis += d->ndim;
    return axis >= 0 && axis < d->ndim && d->shape[axis] > 1 && d->stride[axis] == 0;
}

bool tsr_desc_has_broadcast(const tsr_desc *d)
{
    if (!is_usable(d)) return false;
    for (int i = 0; i < d->ndim; i++)
        if (d->shape[i] > 1 && d->stride[i] == 0) return true;
    return false;
}

bool tsr_desc_can_merge(const tsr_desc *d, int axis)
{
    if (!is_usable(d)) return false;
    if (axis < 0) axis += d->ndim;
    if (axis < 0 || axis >= d->ndim - 1) return false;
    if (d->shape[axis] == 1 || d->shape[axis + 1] == 1 || tsri_desc_is_empty(d)) return true;
    return d->stride[axis] == tsri_mul_wrapping(d->stride[axis + 1], d->shape[axis + 1]);
}

bool tsr_desc_same_shape(const tsr_desc *a, const tsr_desc *b)
{
    if (!is_usable(a) || !is_usable(b) || a->ndim != b->ndim) return false;
    for (int i = 0; i < a->ndim; i++)
        if (a->shape[i] != b->shape[i]) return false;
    return true;
}

bool tsr_desc_same(const tsr_desc *a, const tsr_desc *b)
{
    if (!tsr_desc_same_shape(a, b) || a->dtype != b->dtype) return false;
    if (tsri_desc_is_empty(a)) return true;
    for (int i = 0; i < a->ndim; i++)
        if (a->shape[i] != 1 && a->stride[i] != b->stride[i]) return false;
    return true;
}

tsr_status tsri_axis_words(const char *op, const char *what, int axis, const tsr_desc *d)
{
    return tsri_fail(TSR_EINDEX, "%s: %s %d of %s, which has %d dims", op, what, axis, TSRI_DESC(d),
                     (int)d->ndim);
}

tsr_status tsri_axis_twice_words(const char *op, int axis, const tsr_desc *d)
{
    return tsri_fail(TSR_EINVAL, "%s: axis %d of %s is named twice", op, axis, TSRI_DESC(d));
}

tsr_status tsri_index_words(const char *op, int64_t index, int axis, const tsr_desc *d)
{
    return tsri_fail(TSR_EINDEX, "%s: index %lld of dim %d of %s, which has %lld", op, (long long)index, axis,
                     TSRI_DESC(d), (long long)d->shape[axis]);
}

tsr_status tsr_desc_dim(int64_t *out, const tsr_desc *d, int axis)
{
    int at;
    TSRI_CHECK(out, TSR_ENULL, "dim: out is NULL");
    TSRI_TRY(tsri_desc_check("dim", d));
    TSRI_TRY(tsri_axis(&at, "dim", "axis", axis, d));
    *out = d->shape[at];
    return TSR_OK;
}

tsr_status tsri_desc_offset(int64_t *out, const char *op, const tsr_desc *d, int n, const int64_t *index)
{
    uint64_t offset = 0;  /* wraps: where there are no elements, strides may be anything */
    TSRI_TRY(tsri_check_list(op, "index", n, index));
    TSRI_CHECK(n <= d->ndim, TSR_ESHAPE, "%s: %d indices for %s, which has %d dims", op, n, TSRI_DESC(d),
               (int)d->ndim);
    for (int i = 0; i < n; i++) {
        int64_t at;
        TSRI_TRY(tsri_index(&at, op, index[i], i, d));
        offset += (uint64_t)at * (uint64_t)d->stride[i];
    }
    *out = (int64_t)offset;
    return TSR_OK;
}

tsr_status tsr_desc_offset(int64_t *out, const tsr_desc *d, int n, const int64_t *index)
{
    TSRI_CHECK(out, TSR_ENULL, "offset: out is NULL");
    TSRI_TRY(tsri_desc_check("offset", d));
    return tsri_desc_offset(out, "offset", d, n, index);
}

/* Joins dim `at` of one more operand into a broadcast; `back` counts from the end. */
static bool broadcast_dim(int64_t *n, int64_t more)
{
    if (*n == more || more == 1) return true;
    if (*n != 1) return false;
    *n = more;
    return true;
}

static bool has_dim(const tsr_desc *d, int back, int64_t n)
{
    return back <= d->ndim && d->shape[d->ndim - back] == n;
}

/* The first operand whose dim -back is n, for the message; there is one. */
static int find_other(const tsr_desc *const *descs, int back, int64_t n)
{
    int o = 0;
    while (!has_dim(descs[o], back, n)) o++;
    return o;
}

tsr_status tsri_broadcast_dims(int *ndim, int64_t *shape, int n, const tsr_desc *const *descs)
{
    int64_t result[TSR_MAX_NDIM];  /* counted from the end */
    int rank = 0;
    for (int o = 0; o < n; o++)
        for (int back = 1; back <= descs[o]->ndim; back++) {
            const int64_t more = descs[o]->shape[descs[o]->ndim - back];
            if (back > rank) {
                result[back - 1] = more;
                rank = back;
                continue;
            }
            const int64_t had = result[back - 1];
            const int other = find_other(descs, back, had);
            TSRI_CHECK(broadcast_dim(&result[back - 1], more), TSR_ESHAPE,
                       "broadcast: dim -%d is %lld in operand %d %s and %lld in operand %d %s", back,
                       (long long)had, other, TSRI_DESC(descs[other]), (long long)more, o,
                       TSRI_DESC(descs[o]));
        }
    *ndim = rank;
    for (int i = 0; i < rank; i++) shape[i] = result[rank - 1 - i];
    return TSR_OK;
}

tsr_status tsr_desc_broadcast(int *ndim, int64_t shape[TSR_MAX_NDIM], int n, const tsr_desc *const *descs)
{
    TSRI_CHECK(ndim, TSR_ENULL, "broadcast: ndim is NULL");
    TSRI_CHECK(shape, TSR_ENULL, "broadcast: shape is NULL");
    TSRI_CHECK(descs, TSR_ENULL, "broadcast: descs is NULL");
    TSRI_CHECK(n >= 1, TSR_EINVAL, "broadcast: %d operands; one at least is needed", n);
    for (int o = 0; o < n; o++) {
        TSRI_CHECK(descs[o], TSR_ENULL, "broadcast: operand %d is NULL", o);
        TSRI_TRY(tsri_desc_check("broadcast", descs[o]));
    }
    return tsri_broadcast_dims(ndim, shape, n, descs);
}

/* The dims before the last two, for broadcasting. */
static tsr_desc batch_dims(const tsr_desc *d)
{
    tsr_desc batch = *d;
    batch.ndim = d->ndim > 2 ? d->ndim - 2 : 0;
    return batch;
}

tsr_status tsr_desc_matmul_check(const tsr_desc *a, const tsr_desc *b)
{
    TSRI_TRY(tsri_desc_check("matmul: a", a));
    TSRI_TRY(tsri_desc_check("matmul: b", b));
    TSRI_CHECK(a->ndim >= 1, TSR_ESHAPE, "matmul: a is a scalar; it must have at least one dim");
    TSRI_CHECK(b->ndim >= 1, TSR_ESHAPE, "matmul: b is a scalar; it must have at least one dim");
    const int inner = b->ndim == 1 ? 0 : b->ndim - 2;
    TSRI_CHECK(a->shape[a->ndim - 1] == b->shape[inner], TSR_ESHAPE,
               "matmul: b: k is %lld from a, but dim %d of b is %lld; a is %s, b is %s",
               (long long)a->shape[a->ndim - 1], b->ndim == 1 ? -1 : -2, (long long)b->shape[inner],
               TSRI_DESC(a), TSRI_DESC(b));
    int rank;
    int64_t shape[TSR_MAX_NDIM];
    const tsr_desc ba = batch_dims(a), bb = batch_dims(b);
    TSRI_CHECK(tsri_broadcast_dims(&rank, shape, 2, (const tsr_desc *const[]){ &ba, &bb }) == TSR_OK,
               TSR_ESHAPE, "matmul: the batch dims of a %s and b %s do not broadcast", TSRI_DESC(a),
               TSRI_DESC(b));
    return TSR_OK;
}

static void put_dims(tsri_text *text, int n, const int64_t *dims)
{
    for (int i = 0; i < n; i++) {
        if (i) tsri_put_chars(text, ", ", 2);
        tsri_put_i64(text, dims[i]);
    }
}

size_t tsr_desc_to_string(char *out, size_t size, const tsr_desc *d)
{
    tsri_text text = tsri_text_into(out, out ? size : 0);
    if (!d) {
        tsri_put(&text, "no desc");
    } else if (!is_legible(d)) {
        tsri_put(&text, "invalid desc (dtype %d, rank %d)", (int)d->dtype, (int)d->ndim);
    } else {
        tsri_put(&text, "%s(", tsr_dtype_name(d->dtype));
        put_dims(&text, d->ndim, d->shape);
        if (d->ndim) tsri_put(&text, " | ");
        put_dims(&text, d->ndim, d->stride);
        tsri_put_char(&text, ')');
    }
    return text.length;
}

const char *tsri_desc_text(char out[TSRI_DESC_TEXT], const tsr_desc *d)
{
    (void)tsr_desc_to_string(out, TSRI_DESC_TEXT, d);
    return out;
}

const char *tsri_dims_text(char out[TSRI_DESC_TEXT], int n, const int64_t *dims)
{
    tsri_text text = tsri_text_into(out, TSRI_DESC_TEXT);
    tsri_put_char(&text, '(');
    put_dims(&text, n, dims);
    tsri_put_char(&text, ')');
    return out;
}
