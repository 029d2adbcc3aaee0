/* desc_int.h - desc helpers shared inside the library. */
#ifndef TSRI_DESC_INT_H
#define TSRI_DESC_INT_H

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

/* Multiplication for numbers that may be junk (strides of dims of size 1). */
static inline int64_t tsri_mul_wrapping(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }

/* tsr_desc_check with the caller's name at the front of the message. */
tsr_status tsri_desc_check(const char *op, const tsr_desc *d);

/* A rank, and a list of that many numbers that may be NULL only for rank 0. */
tsr_status tsri_check_list(const char *op, const char *what, int n, const void *list);

/* An axis of a rank-ndim desc, negative from the end, to 0 .. ndim - 1. */
tsr_status tsri_axis(int *out, const char *op, const char *what, int axis, const tsr_desc *d);

/* An index of a dim of size n at place `axis`, negative from the end. */
tsr_status tsri_index(int64_t *out, const char *op, int64_t index, int axis, const tsr_desc *d);

/* Row-major strides of a shape, computed with max(size, 1). False on overflow. */
bool tsri_row_major(int64_t *stride, int ndim, const int64_t *shape);

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
