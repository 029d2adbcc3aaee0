/* boxes.h - a result that is made box by box, each in the cache, and then written at once.
 *
 * Results put together from parts are written in short runs, a part at a time; where they are
 * larger than the caches, every line goes to memory and back once for each part. A box is a range
 * of the leading dims, small enough to stay in a core's cache until it is whole. */
#ifndef TSRI_BOXES_H
#define TSRI_BOXES_H

#include "op.h"

/* dst = src, of the same dtype, where dst is a piece of `whole`, which is written as a whole. */
tsr_status tsri_copy_piece(tsr_tensor *dst, const tsr_tensor *src, const tsr_tensor *whole);

typedef struct tsri_boxes {
    int     dim;                  /* that is cut; each index of those before it is a box of its own */
    int64_t run;                  /* indices of it in a box */
    int64_t shape[TSR_MAX_NDIM];  /* up to it */
    int64_t count;
} tsri_boxes;

/* Cuts the first `leading` dims of a result. False if there are not two boxes that fit, or if it is
 * not the host's. */
bool tsri_boxes_cut(tsri_boxes *b, const tsr_tensor *result, int leading);

/* *v = box i of t, which has these dims. v may be t. */
void tsri_boxes_see(tsr_tensor *v, const tsr_tensor *t, const tsri_boxes *b, int64_t i);

#endif
