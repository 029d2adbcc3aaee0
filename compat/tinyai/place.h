/* place.h - the caller's floats as a placed tensor.
 *
 * tsr_place() checks a desc that may say anything, which costs as much as a small op. Here the dims are
 * ints that the caller of this has checked, so the fields, whose layout is public and frozen, are
 * written as tsr_place() leaves them. */
#ifndef TINYAI_PLACE_H
#define TINYAI_PLACE_H

#include "tessera/tessera.h"

/* rows and cols are positive, steps not negative. TSR_EOVERFLOW if no memory could be that large. */
static inline tsr_status tinyai_place(tsr_tensor *t, const float *data, int rows, int cols, int64_t row_step,
                                      int64_t step)
{
    if ((rows - 1) * row_step > (int64_t)1 << 60 || (cols - 1) * step > (int64_t)1 << 60)
        return TSR_EOVERFLOW;
    t->data = (void *)(uintptr_t)data; /* read or written as its place in the call says */
    t->storage = NULL;
    t->dtype = TSR_F32;
    t->ndim = 2;
    t->shape[0] = rows;
    t->shape[1] = cols;
    t->stride[0] = row_step;
    t->stride[1] = step;
    t->count = 1;
    t->flags = TSR_FLAG_PLACED;
    t->device = TSR_CPU;
    t->memory = TSR_MEMORY_HOST;
    return TSR_OK;
}

#endif
