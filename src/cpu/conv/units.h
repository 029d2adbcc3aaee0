/* units.h - how the outputs of a grid are cut into units of work, for tiles and windows alike. */
#ifndef TSRI_CPU_CONV_UNITS_H
#define TSRI_CPU_CONV_UNITS_H

#include "conv.h"
#include "core/sizes.h"
#include "core/threads_int.h"

/* Cuts `out` outputs into nearly equal boxes of at most `wanted`: outputs of a box, and the number of
 * boxes. */
static inline void tsri_cut_axis(int64_t out, int64_t wanted, int64_t *box, int64_t *boxes)
{
    const int64_t count = wanted < 1 ? out : (out + wanted - 1) / wanted;
    *box = (out + count - 1) / count;
    *boxes = (out + *box - 1) / *box;
}

/* A unit of work: an image, a group, a slice of its kernels, a box of outputs. */
typedef struct tsri_conv_unit {
    int64_t     image, group, slice;
    int64_t     o[TSRI_AXES], n[TSRI_AXES];  /* the box: its first outputs, and how many there are */
    const char *x;                           /* the group's part of the image */
} tsri_conv_unit;

/* Unit i: images outermost, then groups, then boxes, then slices. */
static inline tsri_conv_unit tsri_find_unit(const tsri_grid *g, int64_t i, int64_t slices,
                                            const int64_t box[TSRI_AXES], const int64_t boxes[TSRI_AXES])
{
    tsri_conv_unit u = { .slice = i % slices };
    i /= slices;
    for (int d = TSRI_AXES - 1; d >= 0; i /= boxes[d], d--) {
        const int64_t left = g->axis[d].out - i % boxes[d] * box[d];
        u.o[d] = i % boxes[d] * box[d];
        u.n[d] = left < box[d] ? left : box[d];
    }
    u.image = i / g->groups;
    u.group = i % g->groups;
    u.x = g->x + u.image * g->x_image + u.group * g->channels * g->x_channel;
    return u;
}

/* A unit has all panels of a group's kernels, if there are enough units for the threads. Else panels are cut
 * into `slices` of `slice` panels, at least `fewest`. */
static inline void tsri_cut_panels(int64_t units, int64_t panels, int64_t fewest, int64_t *slice,
                                   int64_t *slices)
{
    const int64_t wanted = 2 * (int64_t)tsr_threads();
    *slice = panels;
    if (units < wanted && tsr_threads() > 1) {
        const int64_t parts = (wanted + units - 1) / units, each = (panels + parts - 1) / parts;
        *slice = each > fewest ? each : fewest < panels ? fewest : panels;
    }
    *slices = (panels + *slice - 1) / *slice;
}

/* How work is split over threads: the panels of weights, which are packed first, and the units. */
typedef struct tsri_conv_shares {
    int64_t    panels, fewest;   /* of a group's weights; the fewest that are worth a unit */
    int64_t    boxes;            /* of an image and a group */
    int64_t    box[TSRI_AXES];   /* outputs of one along each axis, at most */
    int64_t    kernels, k;       /* of a group, that are packed; multiplications of an output */
    int64_t    parts;            /* of a panel, that are packed separately */
    double     packing;          /* the cost of packing an index of k of a panel, in multiplications */
    tsr_status (*pack)(void *job, int64_t begin, int64_t end);
    tsr_status (*multiply)(void *job, int64_t begin, int64_t end);
} tsri_conv_shares;

/* Cuts panels into slices, as above, and runs the job. */
static inline tsr_status tsri_share_units(const tsri_conv_shares *s, const tsri_grid *g, int64_t *slice,
                                          int64_t *slices, void *job)
{
    const int64_t units = g->batch * g->groups * s->boxes;
    tsri_cut_panels(units, s->panels, s->fewest, slice, slices);
    const double outputs = (double)s->box[0] * (double)s->box[1] * (double)s->box[2];
    const double products = outputs * (double)s->kernels * (double)s->k;
    const double packing = s->packing * (double)s->k / (double)s->parts;
    TSRI_TRY(tsri_parallel_for(g->groups * s->panels * s->parts, tsri_grain(TSRI_WORK_PRODUCT * packing),
                               s->pack, job));
    return tsri_parallel_for(units * *slices, tsri_grain(TSRI_WORK_PRODUCT * products / (double)*slices),
                             s->multiply, job);
}

#endif
