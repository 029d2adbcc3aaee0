/* see.h - other views of tensors, for the length of a call.
 *
 * A view made here is a struct on the stack that owns nothing: it is never released. */
#ifndef TSRI_SEE_H
#define TSRI_SEE_H

#include "tensor_int.h"

/* *v looks at t's memory through d, `offset` elements on. v may be t. Where there are no elements the offset
 * may be any number, and so may the address. */
static inline void tsri_see(tsr_tensor *v, const tsr_tensor *t, const tsr_desc *d, int64_t offset)
{
    if (v != t) *v = *t;
    v->data = (void *)((uintptr_t)t->data + (uintptr_t)tsri_mul_wrapping(offset, tsri_dtype_size(d->dtype)));
    if (&v->desc != d) tsri_desc_copy(&v->desc, d);
}

/* Indices start, start + step, ... before stop along an axis. v may be t. */
static inline tsr_status tsri_see_slice(tsr_tensor *v, const tsr_tensor *t, int axis, int64_t start,
                                        int64_t stop, int64_t step)
{
    tsr_desc d;
    int64_t offset;
    TSRI_TRY(tsri_desc_slice(&d, &offset, &t->desc, axis, start, stop, step));
    tsri_see(v, t, &d, offset);
    return TSR_OK;
}

/* A new dim before dim `at`; there is room for it. */
static inline void tsri_insert_dim(tsr_desc *d, int at, int64_t size, int64_t stride)
{
    for (int i = d->ndim++; i > at; i--) {
        d->shape[i] = d->shape[i - 1];
        d->stride[i] = d->stride[i - 1];
    }
    d->shape[at] = size;
    d->stride[at] = stride;
}

static inline void tsri_remove_dim(tsr_desc *d, int at)
{
    d->ndim--;
    for (int i = at; i < d->ndim; i++) {
        d->shape[i] = d->shape[i + 1];
        d->stride[i] = d->stride[i + 1];
    }
}

/* The element at `bytes`, wherever an operand with this shape looks. */
static inline void tsri_see_element(tsr_tensor *v, void *bytes, tsr_dtype dtype, const tsr_desc *shape)
{
    *v = (tsr_tensor){ .data = bytes, .count = 1, .flags = TSR_FLAG_PLACED, .device = TSR_CPU,
                       .memory = TSR_MEMORY_HOST };
    v->dtype = dtype;
    v->ndim = shape->ndim;
    for (int i = 0; i < shape->ndim; i++) v->shape[i] = shape->shape[i];
}

#endif
