/* see.h - other views of tensors, for the length of a call.
 *
 * A view made here is a struct on the stack that owns nothing: it is never released. */
#ifndef TSRI_SEE_H
#define TSRI_SEE_H

#include "tensor_int.h"

/* *v looks at t's memory; its desc is left as it is. */
static inline void tsri_see_memory(tsr_tensor *v, const tsr_tensor *t)
{
    v->data = t->data;
    v->storage = t->storage;
    v->count = t->count;
    v->flags = t->flags;
    v->device = t->device;
    v->memory = t->memory;
}

/* *v looks as t does. Only dims that count are copied. */
static inline void tsri_see_as(tsr_tensor *v, const tsr_tensor *t)
{
    tsri_see_memory(v, t);
    tsri_desc_copy(&v->desc, &t->desc);
}

/* *v looks at t's memory through d, `offset` elements on. v may be t. Where there are no elements the offset
 * may be any number, and so may the address. */
static inline void tsri_see(tsr_tensor *v, const tsr_tensor *t, const tsr_desc *d, int64_t offset)
{
    if (v != t) tsri_see_memory(v, t);
    v->data = (void *)((uintptr_t)t->data + (uintptr_t)tsri_mul_wrapping(offset, tsri_dtype_size(d->dtype)));
    if (&v->desc != d) tsri_desc_copy(&v->desc, d);
}

/* Indices start, start + step, ... before stop along an axis, which has all of them. v may be t. */
static inline void tsri_see_slice(tsr_tensor *v, const tsr_tensor *t, int axis, int64_t start, int64_t stop,
                                  int64_t step)
{
    TSRI_ASSERT(0 <= start && start <= stop && stop <= t->shape[axis] && step > 0);
    const int64_t stride = t->stride[axis], reach = stop - start;
    tsri_see(v, t, &t->desc, reach ? tsri_mul_wrapping(start, stride) : 0);
    v->shape[axis] = reach / step + (reach % step != 0);
    v->stride[axis] = tsri_mul_wrapping(stride, step);
}

/* The k-th diagonals of the matrices in the last two dims, which are there. */
static inline void tsri_see_diagonal(tsr_tensor *v, const tsr_tensor *t, int64_t k)
{
    tsr_desc d;
    int64_t offset = 0;
    (void)tsri_desc_diagonal(&d, &offset, &t->desc, k, -2, -1); /* it fails for axes alone */
    tsri_see(v, t, &d, offset);
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
