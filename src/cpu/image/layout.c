/* layout.c - planes, slices, rows and pixels of a tensor. */
#ifndef TSR_FREESTANDING

#include "layout.h"

/* Bytes from one index to the next; 0 where there is none. */
static int64_t bytes_along(const tsr_tensor *t, int d)
{
    return t->shape[d] > 1 ? t->stride[d] * tsri_dtype_size(t->dtype) : 0;
}

bool tsri_picture_is_last(const tsr_tensor *t, int spatial)
{
    const int c = t->ndim - spatial - 1, last = t->ndim - 1;
    return t->shape[c] > 1 && t->stride[c] == 1 && (t->shape[last] == 1 || t->stride[last] == t->shape[c]);
}

tsri_picture tsri_picture_of(const tsr_tensor *t, int spatial, bool with_channels)
{
    const int c = t->ndim - spatial - 1, last = t->ndim - 1;
    const int64_t size = tsri_dtype_size(t->dtype);
    tsri_picture p = { .data = t->data, .inner = with_channels ? t->shape[c] : 1, .columns = t->shape[last],
                       .rows = 1, .slices = 1, .plane = { 1, with_channels ? 1 : t->shape[c] } };
    p.step = p.columns > 1 ? bytes_along(t, last) : p.inner * size;
    p.dense = with_channels || p.step == size;
    if (!with_channels) p.plane_step[1] = bytes_along(t, c);
    if (c > 0) {
        p.plane[0] = t->shape[0];
        p.plane_step[0] = bytes_along(t, 0);
    }
    if (spatial > 1) {
        p.rows = t->shape[last - 1];
        p.row = bytes_along(t, last - 1);
    }
    if (spatial > 2) {
        p.slices = t->shape[last - 2];
        p.slice = bytes_along(t, last - 2);
    }
    return p;
}

char *tsri_picture_plane(const tsri_picture *p, int64_t plane)
{
    return p->data + plane / p->plane[1] * p->plane_step[0] + plane % p->plane[1] * p->plane_step[1];
}

#endif
