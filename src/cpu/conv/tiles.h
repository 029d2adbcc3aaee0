/* tiles.h - what the files of tiles.c's method share. */
#ifndef TSRI_CPU_CONV_TILES_H
#define TSRI_CPU_CONV_TILES_H

#include "cpu/kernels.h"
#include "prefetch_runs.h"
#include "units.h"

/* One axis as it is copied: output o of a box sees inputs o * step + low .. o * step + low + reach - 1. */
typedef struct tsri_tiles_side {
    int64_t low, reach;
    int64_t box, boxes; /* outputs of a box, and how many boxes there are */
    int64_t pitch;      /* bytes from one input to the next */
} tsri_tiles_side;

typedef struct tsri_tiles {
    const tsri_grid         *g;
    const tsri_conv_kernels *kernels;
    const tsri_gemm_dtype   *dtype;
    int64_t                  element;       /* bytes of a float or double */
    int64_t                  taps, k;
    int64_t                  block;         /* indices of k that are summed from 0 */
    int64_t                  chunk;         /* indices of k, whole blocks, that a band takes at a time */
    tsri_tiles_side          side[TSRI_AXES];
    int64_t                  boxes;
    int64_t                  channel;       /* bytes from one channel of the copy to the next */
    bool                     last;          /* channels come last in the copy, */
    bool                     transposed;        /* and places do in x */
    bool                     no_copy;    /* x is not copied */
    bool                     writes_z;      /* micro-kernels write to z */
    int64_t                  first, count;  /* kernels of each group whose weights are packed */
    int64_t                  vectors, panels;
    int64_t                  slices, slice; /* parts that panels are cut into, and panels of one */
    char                    *weights, *bias;
    int64_t                 *offset;        /* k of them */
} tsri_tiles;

/* What a thread works on, in scratch of its own. */
typedef struct tsri_tiles_unit {
    tsri_conv_unit of;
    int64_t        panel, panels;
    char          *copy, *sums;
    tsri_prefetch     ahead, results;  /* inputs of the next unit; outputs of the next band */
    bool           odd;             /* tiles prefetch from the two alternately */
} tsri_tiles_unit;

/* Inputs of an axis that a box sees, and those of them that are inside x. */
typedef struct tsri_tiles_inputs {
    int64_t first;       /* index of the first in x */
    int64_t begin, end;  /* those inside, counted from the first; both the count if none is */
    int64_t all;
} tsri_tiles_inputs;

/* Inputs of an axis that so many outputs see. */
static inline int64_t tsri_tiles_inputs_of(const tsri_tiles *j, int d, int64_t outputs)
{
    return (outputs - 1) * j->g->axis[d].step + j->side[d].reach;
}

static inline int64_t panel_vectors(const tsri_tiles *j, int64_t panel)
{
    return least(j->vectors - panel * j->kernels->across, j->kernels->across);
}
static inline int64_t panel_kernels(const tsri_tiles *j) { return j->kernels->across * j->kernels->lanes; }
static inline int64_t vector_bytes(const tsri_tiles *j) { return j->kernels->lanes * j->element; }

/* The first vector of a panel, of all groups' vectors. */
static inline int64_t vector_of(const tsri_tiles *j, int64_t group, int64_t panel)
{
    return group * j->vectors + panel * j->kernels->across;
}

/* Weights (tiles_pack.c) ------------------------------------------------------------------------ */

/* Parts of a panel, some channels each, that are packed separately. */
int64_t tsri_tiles_pack_parts(const tsri_tiles *j);

/* Parts begin .. end - 1, counted through the panels of all groups. */
tsr_status tsri_tiles_pack(void *job, int64_t begin, int64_t end);

/* Fills in offset: where each index of k reads. */
void tsri_tiles_offsets(const tsri_tiles *j);

/* The copy of a box (tiles_copy.c) -------------------------------------------------------------- */

tsri_tiles_inputs tsri_tiles_see_inputs(const tsri_tiles *j, const tsri_tiles_unit *u, int d);

void tsri_tiles_copy(const tsri_tiles *j, const tsri_tiles_unit *u);

#endif
