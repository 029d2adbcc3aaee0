/* layout.h - how a picture lies in memory: planes of rows of pixels. */
#ifndef TSRI_CPU_IMAGE_LAYOUT_H
#define TSRI_CPU_IMAGE_LAYOUT_H

#include "core/tensor_int.h"

enum { TSRI_PLANES = 2 };  /* dims ahead of rows: batch and channels */

/* Pixels have `inner` elements: all channels, where they come last in memory, or one. */
typedef struct tsri_picture {
    char   *data;
    int64_t inner, columns, rows, slices;
    int64_t plane[TSRI_PLANES];                       /* how many */
    int64_t plane_step[TSRI_PLANES], slice, row, step;  /* bytes; step: from pixel to pixel */
    bool    dense;                                    /* the elements of a row follow one another */
} tsri_picture;

/* Do channels come last, and pixels one after another? */
bool tsri_picture_is_last(const tsr_tensor *t, int spatial);

/* t with `spatial` dims; with_channels: pixels of all channels, which tsri_picture_is_last allows. */
tsri_picture tsri_picture_of(const tsr_tensor *t, int spatial, bool with_channels);

/* Row i of all planes and slices. */
char *tsri_picture_plane(const tsri_picture *p, int64_t plane);

static inline int64_t tsri_picture_planes(const tsri_picture *p) { return p->plane[0] * p->plane[1]; }

#endif
