/* desc_int.h - desc helpers shared inside the library. */
#ifndef TSRI_DESC_INT_H
#define TSRI_DESC_INT_H

#include "dtype_int.h"
#include "status_int.h"

/* false on overflow, with *out as it was. */
static inline bool tsri_mul(int64_t *out, int64_t a, int64_t b)
{
    int64_t r;
    if (__builtin_mul_overflow(a, b, &r)) return false;
    *out = r;
    return true;
}

static inline bool tsri_add(int64_t *out, int64_t a, int64_t b)
{
    int64_t r;
    if (__builtin_add_overflow(a, b, &r)) return false;
    *out = r;
    return true;
}

static inline int64_t tsri_max(int64_t a, int64_t b) { return a > b ? a : b; }

/* Multiplication that may overflow without harm: of strides of dims of size 1, which are not used, and of
 * sizes, one of which is 0, so that the product of all is 0. */
static inline int64_t tsri_mul_wrapping(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }

/* The strides to compute addresses with in a loop over some of the dims: zeros for a desc without elements,
 * whose own strides may be any numbers. */
static inline const int64_t *tsri_strides(const tsr_desc *d)
{
    static const int64_t none[TSR_MAX_NDIM];
    for (int i = 0; i < d->ndim; i++)
        if (d->shape[i] == 0) return none;
    return d->stride;
}

/* Is a dim of size 0? */
static inline bool tsri_desc_is_empty(const tsr_desc *d)
{
    for (int i = 0; i < d->ndim; i++)
        if (d->shape[i] == 0) return true;
    return false;
}

/* Bytes a valid desc reaches over, and how far the lowest lies below element
 * (0, ..., 0): *lo <= 0. */
static inline int64_t tsri_desc_span(const tsr_desc *d, int64_t *lo)
{
    uint64_t low = 0, high = 1;  /* where a later dim is 0, those before it may have any reach */
    for (int i = 0; i < d->ndim; i++) {
        if (d->shape[i] == 0) {
            *lo = 0;
            return 0;
        }
        if (d->shape[i] == 1) continue;
        const int64_t reach = tsri_mul_wrapping(d->shape[i] - 1, d->stride[i]);
        if (reach < 0) low += (uint64_t)reach;
        else           high += (uint64_t)reach;
    }
    const uint64_t size = (uint64_t)tsri_dtype_size(d->dtype);
    *lo = (int64_t)(low * size);
    return (int64_t)((high - low) * size);
}

/* tsr_desc_init with the caller's name at the front of the message. */
tsr_status tsri_desc_init(tsr_desc *out, const char *op, tsr_dtype dtype, int ndim, const int64_t *shape,
                          const int64_t *stride);

/* A packed row-major desc, checked. */
tsr_status tsri_desc_packed(tsr_desc *out, const char *op, tsr_dtype dtype, int ndim, const int64_t *shape);

/* tsr_desc_broadcast of descs that stand for their shapes only: neither strides nor the number of elements
 * are looked at, since leading dims of an empty tensor may have any. */
tsr_status tsri_broadcast_dims(int *ndim, int64_t *shape, int n, const tsr_desc *const *descs);

/* tsr_desc_check with the caller's name at the front of the message. */
tsr_status tsri_desc_check(const char *op, const tsr_desc *d);

/* A check is an inline test and, for when it fails, one of these functions: they
 * record the message and return the status. */
tsr_status tsri_list_words(const char *op, const char *what, int n) TSRI_COLD;
tsr_status tsri_axis_words(const char *op, const char *what, int axis, const tsr_desc *d) TSRI_COLD;
tsr_status tsri_axis_twice_words(const char *op, int axis, const tsr_desc *d) TSRI_COLD;
tsr_status tsri_index_words(const char *op, int64_t index, int axis, const tsr_desc *d) TSRI_COLD;

/* A rank, and a list of that many numbers that may be NULL only for rank 0. */
static inline tsr_status tsri_check_list(const char *op, const char *what, int n, const void *list)
{
    if (TSRI_LIKELY((unsigned)n <= TSR_MAX_NDIM && (list || n == 0))) return TSR_OK;
    return tsri_list_words(op, what, n);
}

/* An axis of d, negative from the end, to 0 .. ndim - 1. */
static inline tsr_status tsri_axis(int *out, const char *op, const char *what, int axis, const tsr_desc *d)
{
    const int at = axis < 0 ? axis + d->ndim : axis;
    *out = at;
    if (TSRI_LIKELY((unsigned)at < (unsigned)d->ndim)) return TSR_OK;
    return tsri_axis_words(op, what, axis, d);
}

/* A list of axes as bits; an empty one is all. */
static inline tsr_status tsri_axis_set(uint32_t *out, const char *op, const tsr_desc *d, int n,
                                       const int *axes)
{
    uint32_t set = *out = 0;
    TSRI_TRY(tsri_check_list(op, "axes", n, axes));
    for (int i = 0; i < n; i++) {
        int at = 0;
        TSRI_TRY(tsri_axis(&at, op, "axis", axes[i], d));
        if (!TSRI_LIKELY(!(set >> at & 1))) return tsri_axis_twice_words(op, axes[i], d);
        set |= (uint32_t)1 << at;
    }
    *out = n == 0 ? ((uint32_t)1 << d->ndim) - 1 : set;
    return TSR_OK;
}

/* An index of dim `axis` of d, negative from the end, to 0 .. size - 1. */
static inline tsr_status tsri_index(int64_t *out, const char *op, int64_t index, int axis, const tsr_desc *d)
{
    const int64_t at = index < 0 ? index + d->shape[axis] : index;
    *out = at;
    if (TSRI_LIKELY((uint64_t)at < (uint64_t)d->shape[axis])) return TSR_OK;
    return tsri_index_words(op, index, axis, d);
}

/* Row-major and packed, of a valid desc. */
static inline bool tsri_is_packed(const tsr_desc *d)
{
    int64_t step = 1;
    for (int i = d->ndim - 1; i >= 0; i--) {
        if (d->shape[i] == 1) continue;
        if (d->stride[i] != step) return false;
        step = tsri_mul_wrapping(step, d->shape[i]);
    }
    return true;
}

/* Elements from (0, ..., 0) to the index of a valid desc; the rest are 0. */
tsr_status tsri_desc_offset(int64_t *out, const char *op, const tsr_desc *d, int n, const int64_t *index);

/* Row-major strides of a shape, computed with max(size, 1). False on overflow. */
bool tsri_row_major(int64_t *stride, int ndim, const int64_t *shape);

/* View arithmetic on descs that are known to be valid, as those of tensors are;
 * the public forms check their input and call these. out is not d. */
#define TSRI_UNWRAP(...) __VA_ARGS__
#define VIEW(desc, name, parameters, ...) \
    tsr_status tsri_desc_##desc(tsr_desc *out, const tsr_desc *d, TSRI_UNWRAP parameters);
#define VIEW_AT(desc, name, parameters, ...) \
    tsr_status tsri_desc_##desc(tsr_desc *out, int64_t *offset, const tsr_desc *d, TSRI_UNWRAP parameters);
#include "views.def"
void       tsri_desc_squeeze_all(tsr_desc *out, const tsr_desc *d);
void       tsri_desc_real(tsr_desc *out, const tsr_desc *d);
tsr_status tsri_desc_imag(tsr_desc *out, int64_t *offset, const tsr_desc *d);
tsr_status tsri_desc_bit_view(tsr_desc *out, const tsr_desc *d, tsr_dtype dtype);
tsr_status tsri_desc_packed_like(tsr_desc *out, const tsr_desc *d, tsr_dtype dtype);

/* The desc of d under another shape: with strides over d's own memory if that is
 * possible (*is_view), else packed and row-major. */
tsr_status tsri_desc_reshape(tsr_desc *out, bool *is_view, const tsr_desc *d, int ndim, const int64_t *shape);

/* Copies the dims that count. */
static inline void tsri_desc_copy(tsr_desc *out, const tsr_desc *d)
{
    out->dtype = d->dtype;
    out->ndim = d->ndim;
    for (int i = 0; i < d->ndim; i++) {
        out->shape[i] = d->shape[i];
        out->stride[i] = d->stride[i];
    }
}

#endif
