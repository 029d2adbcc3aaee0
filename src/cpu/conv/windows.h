/* windows.h - what the files of windows.c's method share. */
#ifndef TSRI_CPU_CONV_WINDOWS_H
#define TSRI_CPU_CONV_WINDOWS_H

#include "cpu/kernels.h"
#include "prefetch_runs.h"
#include "units.h"

enum { TSRI_WINDOWS_WHOLE = 3 };  /* widths of strips that may be read after the end of a copy */

/* One axis of the copy. Tap t of output o sees place o + steps - low of a phase, where `steps` is the number
 * of whole steps from input 0 to the input that the tap of output 0 sees. */
typedef struct tsri_windows_side {
    int64_t low, span;  /* the least `steps` of the taps; the count from it to the greatest */
    int64_t phases;     /* different remainders of the taps' inputs modulo the step, in the order of taps */
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
    bool                     no_copy;     /* x is not copied */
    bool                     writes_z;       /* micro-kernels write to z, */
    bool                     stream;         /* with non-temporal stores */
    int64_t                  first, count;   /* kernels of each group whose weights are packed */
    int64_t                  panels;         /* of them: so many of one row more than the others */
    int64_t                  high_panels, low_rows;
    int64_t                  slices, slice;  /* parts that panels are cut into, and panels of one */
    bool                     depthwise;          /* each kernel is summed over a whole box */
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
    tsri_prefetch     ahead;
} tsri_windows_unit;

/* Bytes of as many columns as a strip has. */
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

/* Places of a box when its rows are merged into one. */
static inline int64_t flat_places(const tsri_windows *j, const tsri_windows_unit *u)
{
    return (u->of.n[0] - 1) * j->side[0].pitch + (u->of.n[1] - 1) * j->side[1].pitch + u->of.n[2];
}

/* The copy of a box (windows_copy.c) ------------------------------------------------------------ */

/* What windows see along an axis, for a box of all outputs. */
void tsri_windows_side_of(tsri_windows_side *s, const tsri_slide *a);

/* Bytes of the copy for the current boxes, with what is read after its end; sets their pitches. */
int64_t tsri_windows_measure(tsri_windows *j);

/* Fills in offset: where each index of k reads. */
void tsri_windows_offsets(const tsri_windows *j);

void tsri_windows_copy(const tsri_windows *j, const tsri_windows_unit *u);

/* The sums of a unit (windows_sum.c), which writes all of its outputs. */
void tsri_windows_multiply(const tsri_windows *j, tsri_windows_unit *u);

#endif
