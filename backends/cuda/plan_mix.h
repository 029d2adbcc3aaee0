/* plan_mix.h - copies between pixels and planes: a short dim of channels that is innermost on one side,
 * with the pixels next to it, and apart on the other, where pixels are contiguous. Plain C. */
#ifndef TSRC_PLAN_MIX_H
#define TSRC_PLAN_MIX_H

#include "plan.h"

TSR_BEGIN_C

typedef struct tsrc_mix {
    char      *pixels, *planes;  /* one is dst, the other src */
    int        channels;         /* 2, 3 or 4 */
    int        size;             /* bytes of an element: 1, 2 or 4 */
    bool       join;             /* planes to pixels */
    uint32_t   groups;           /* of 16 bytes of a plane */
    uint32_t   blocks;
    int64_t    plane;            /* bytes from plane to plane */
    tsrc_place outer;            /* steps of dst, src */
} tsrc_mix;

/* The loop is of dst and src, elements of `size` bytes. False: it is no such copy, or not aligned. */
bool tsrc_mix_of(tsrc_mix *out, const tsr_loop *loop, int size);

TSR_END_C

#endif
