/* plan_mix.c - see plan_mix.h. */
#include "plan_mix.h"

/* The dim of an operand's unit step; -1: there is none. */
static int unit_dim(const tsr_loop *l, int operand, int size)
{
    for (int d = 0; d < l->ndim; d++)
        if (l->step[d][operand] == size) return d;
    return -1;
}

static bool is_aligned(const tsr_loop *l, uint32_t but, int64_t also)
{
    int64_t bits = also | (int64_t)(uintptr_t)l->data[0] | (int64_t)(uintptr_t)l->data[1];
    for (int d = 0; d < l->ndim; d++)
        if (!(but >> d & 1)) bits |= l->step[d][0] | l->step[d][1];
    return bits % 16 == 0;
}

bool tsrc_mix_of(tsrc_mix *m, const tsr_loop *l, int size)
{
    if (size > 4 || l->ndim < 2) return false;
    for (int side = 0; side < 2; side++) {  /* the one that has pixels */
        const int channel = unit_dim(l, side, size), pixel = unit_dim(l, 1 - side, size);
        if (channel < 0 || pixel < 0 || channel == pixel) continue;
        const int64_t c = l->n[channel], n = l->n[pixel];
        if (c > 4 || l->step[pixel][side] != c * size || n * size % 16) continue;
        if (!is_aligned(l, 1u << channel | 1u << pixel, l->step[channel][1 - side])) continue;
        m->pixels = l->data[side];
        m->planes = l->data[1 - side];
        m->channels = (int)c;
        m->size = size;
        m->join = side == 0;
        m->groups = (uint32_t)(n * size / 16);
        m->plane = l->step[channel][1 - side];
        tsrc_place_of(&m->outer, l, 1u << channel | 1u << pixel);
        m->blocks = tsrc_blocks((uint64_t)m->groups * m->outer.count, TSRC_THREADS);
        return true;
    }
    return false;
}
