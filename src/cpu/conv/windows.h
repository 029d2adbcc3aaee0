/* windows.h - what the parts of a grid by strips (windows.c) know of it. */
#ifndef TSRI_CPU_CONV_WINDOWS_H
#define TSRI_CPU_CONV_WINDOWS_H

#include "cpu/kernels.h"
#include "fetch.h"
#include "units.h"

enum { TSRI_WINDOWS_WHOLE = 3 };  /* strips' widths that can be read behind a copy */

/* One axis as it is copied. Tap t of output o looks at place o + turn - low of a phase, where turn is the
 * number of whole steps from input 0 to where the tap of output 0 looks. */
typedef struct tsri_windows_side {
    int64_t low, span;  /* the least of the turns, and how many there are from it to the greatest */
    int64_t phases;     /* remainders that taps have, in the order in which taps bring them */
    int64_t box, boxes; /* outputs of a box, and how many boxes there are */
    int64_t places;     /* of a box, that are copied */
    int64_t pitch;      /* from one place to the next, in places of the last axis */
} tsri_windows_side;

typedef struct tsri_windows {
    const tsri_grid         *g;
    const tsri_conv_kernels *kernels;
    const tsri_gemm_dtype   *dtype;
    int64_t                  element;        /* bytes of a float or double */
    int64_t                  taps, k;
    int64_t                  block;          /* indices of k that are whole channels */
    tsri_windows_side        side[TSRI_AXES];
    int64_t                  plane, channel; /* places of the copy from one phase and channel to the next */
    int64_t                  boxes;
    bool                     as_it_lies;     /* x is not copied */
    bool                     straight;       /* sums are written to z at once, */
    bool                     stream;         /* and around the caches */
    int64_t                  first, count;   /* kernels of each group whose weights are packed */
    int64_t                  panels;         /* of them: so many of one row more than the others */
    int64_t                  high_panels, low_rows;
    int64_t                  slices, slice;  /* parts that panels are cut into, and panels of one */
    bool                     alone;          /* kernels are summed one by one, for all of a box at once */
    bool                     three;          /* by the kernel for windows of 3 x 3 */
    int64_t                  rows;           /* of a panel, at most */
    char                    *weights;
    int64_t                 *offset;         /* k of them */
} tsri_windows;

/* What a thread works on, in scratch of its own. */
typedef struct tsri_windows_unit {
    tsri_conv_unit of;
    int64_t        panel, panels;
    char          *copy, *sums;
    tsri_fetch     ahead;
} tsri_windows_unit;

/* Of as many columns as a strip has. */
static inline int64_t vectors_bytes(const tsri_windows *j)
{
    return TSRI_CONV_VECTORS * j->kernels->lanes * j->element;
}

/* Panels differ in height by one row at most. */
static inline int64_t row_of(const tsri_windows *j, int64_t panel)
{
    return panel * j->low_rows + least(panel, j->high_panels);
}

/* Indices of k from p on that are summed from 0: whole channels, or some of the taps of one. */
static inline int64_t block_at(const tsri_windows *j, int64_t p)
{
    return j->taps > TSRI_GEMM_BLOCK ? least(TSRI_GEMM_BLOCK, j->taps - p % j->taps)
                                     : least(j->block, j->k - p);
}

/* Places of the flat box. */
static inline int64_t flat_places(const tsri_windows *j, const tsri_windows_unit *u)
{
    return (u->of.n[0] - 1) * j->side[0].pitch + (u->of.n[1] - 1) * j->side[1].pitch + u->of.n[2];
}

/* The copy of a box (windows_copy.c) ------------------------------------------------------------ */

/* What windows look at along an axis, for a box of all outputs. */
void tsri_windows_side_of(tsri_windows_side *s, const tsri_slide *a);

/* Bytes of the copy for boxes as they are, with what is read behind it; sets their pitches. */
int64_t tsri_windows_measure(tsri_windows *j);

/* Where each index of k looks. */
void tsri_windows_offsets(const tsri_windows *j);

void tsri_windows_copy(const tsri_windows *j, const tsri_windows_unit *u);

/* The sums of a unit (windows_sum.c), which writes all of its outputs. */
void tsri_windows_multiply(const tsri_windows *j, tsri_windows_unit *u);

#endif
