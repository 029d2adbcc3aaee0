/* lanes.h - a tensor as lanes along one axis: a nest over the other dims. At each of its
 * positions a kernel walks the axis itself. */
#ifndef TSRI_CPU_LANES_H
#define TSRI_CPU_LANES_H

#include "core/desc_int.h"
#include "core/loop.h"
#include "tessera/tensor.h"

/* The desc without dim `axis`. */
static inline void tsri_without_axis(tsr_desc *out, const tsr_desc *d, int axis)
{
    const int64_t *stride = tsri_strides(d);
    out->dtype = d->dtype;
    out->ndim = 0;
    for (int i = 0; i < d->ndim; i++) {
        if (i == axis) continue;
        out->shape[out->ndim] = d->shape[i];
        out->stride[out->ndim++] = stride[i];
    }
}

/* The nest over `shape` without the axis, of n operands, led by the first. */
static inline void tsri_lanes_build(tsri_loop *loop, const tsr_desc *shape, int n, const tsr_tensor *const *t,
                                    int axis)
{
    tsr_desc rest, d[TSRI_MAX_OPERANDS];
    tsri_operand operands[TSRI_MAX_OPERANDS];
    tsri_without_axis(&rest, shape, axis);
    for (int o = 0; o < n; o++) {
        tsri_without_axis(&d[o], &t[o]->desc, axis);
        operands[o] = (tsri_operand){ t[o]->data, d[o].stride, tsri_dtype_size(t[o]->dtype) };
    }
    tsri_loop_build(loop, rest.ndim, rest.shape, n, operands, 0);
}

/* Bytes from one index to the next along the axis. */
static inline int64_t tsri_axis_step(const tsr_tensor *t, int axis)
{
    return tsri_mul_wrapping(t->stride[axis], tsri_dtype_size(t->dtype));
}

#endif
