/* pooling_job.h - what the files of pooling share.
 *
 * The lane is the axis along which outputs are computed in vectors, chosen by x's strides: the columns of a
 * row, or the channels of a place. Rows are counted along the three other axes.
 */
#ifndef TSRI_CPU_POOLING_JOB_H
#define TSRI_CPU_POOLING_JOB_H

#include "core/sizes.h"
#include "conv.h"
#include "cpu/kernels.h"
#include "pooling.h"

enum {
    AXES = TSRI_AXES + 1,   /* three that rows are counted along, and the lane */
    LANE = TSRI_AXES,
    ROWS = TSRI_AXES - 1,   /* the axis along which rows of a block are counted */
    SIDE = 256,             /* outputs of a row of a block, at most */
    TAPS = 256,             /* that are taken at a time */
    BUFFER = 24 << 10       /* bytes of lines */
};

/* Divisors of the averages of a row: counts along the lane, and products with the other axes' counts. */
typedef struct tsri_pooling_counts {
    int64_t outer, around, along[SIDE];  /* along all axes but the lane; along those constant in a block */
    double  all[SIDE], by[SIDE];
} tsri_pooling_counts;

typedef struct tsri_pooling {
    tsri_slide             axis[AXES];
    const tsr_pool_params *p;
    bool                   spatial[AXES];  /* is the axis part of an index into x's spatial dims? */
    bool                   average, adaptive, slides, pairs;
    bool                   streams;       /* pairs, whose results are written with non-temporal stores */
    int64_t                follows;       /* bytes of x that are read in order */
    int64_t                images, channels;
    const char            *x;
    char                  *z, *indices;
    int64_t                x_image, x_channel, z_image, z_channel;  /* bytes, here and below */
    int64_t                i_image, i_channel, i[AXES];             /* of the indices */
    tsr_dtype              dtype;
    int64_t                size, wide;    /* of an element and of a number */
    int                    type;
    const tsri_pool_kernels *k;
    const tsri_cpu_kernels  *all;
    int64_t                rows, side;    /* of a block; outputs of its rows */
    int64_t                blocks;        /* along ROWS */
    _Alignas(8) char       lowest[8];     /* the least number */
    tsri_pooling_counts    common;        /* of most rows, if a block is as wide as a row; else outer is -1 */
    bool                   all_common;    /* the same for all rows, and one number */
} tsri_pooling;

/* A block of outputs: where its image and channel, and its first row, lie. */
typedef struct tsri_pooling_block {
    const char *x;
    char       *z, *indices;
    int64_t     at[TSRI_AXES];
    int64_t     rows;
} tsri_pooling_block;

/* Are elements used as numbers without a conversion? */
static inline bool is_native(const tsri_pooling *j)
{
    return j->dtype == TSR_F32 || j->dtype == TSR_F64 || j->dtype == TSR_I64;
}

/* Where the window of output o along an axis begins and ends. */
static inline int64_t begin_of(const tsri_pooling *j, int d, int64_t o)
{
    const tsri_slide *a = &j->axis[d];
    return j->adaptive ? o * a->in / a->out : o * a->step + a->first;
}
static inline int64_t end_of(const tsri_pooling *j, int d, int64_t o)
{
    const tsri_slide *a = &j->axis[d];
    return j->adaptive ? ((o + 1) * a->in - 1) / a->out + 1
                       : o * a->step + a->first + (a->taps - 1) * a->reach + 1;
}
static inline int64_t reach_of(const tsri_pooling *j, int d) { return j->adaptive ? 1 : j->axis[d].reach; }

/* What a step along axis d adds to the number of a place. */
static inline int64_t weight_of(const tsri_pooling *j, int d)
{
    int64_t weight = j->spatial[d] ? 1 : 0;
    for (int i = d + 1; i < AXES; i++)
        if (j->spatial[i]) weight *= j->axis[i].in;
    return weight;
}

/* Numbers (pooling_numbers.c)
 * ------------------------------------------------------------------------------ */

/* n elements as numbers, and back. */
void tsri_pooling_load(void *numbers, const char *x, int64_t step, int64_t n, const tsri_pooling *j);
void tsri_pooling_store(char *z, int64_t step, const void *numbers, int64_t n, const tsri_pooling *j);

/* n numbers that no other is below; zeros, for averages. */
void tsri_pooling_fill(char *numbers, int64_t n, const tsri_pooling *j);
void tsri_pooling_lowest(tsri_pooling *j);

/* Divisors of averages: those of most rows, if they can be computed once; then for the axes that are constant
 * in a block, and for one row of outputs first .. first + n - 1. */
void tsri_pooling_counts_plan(tsri_pooling *j);
void tsri_pooling_around(tsri_pooling_counts *c, const tsri_pooling *j, const int64_t *at);
const tsri_pooling_counts *tsri_pooling_row(tsri_pooling_counts *c, const tsri_pooling *j, const int64_t *at,
                                            int64_t first, int64_t n);

/* n sums as averages. */
void tsri_pooling_means(char *z, const double *sums, const tsri_pooling_counts *c, int64_t n,
                        const tsri_pooling *j);

/* Windows ------------------------------------------------------------------------------------------------ */

/* Small ones that slide (pooling_slide.c). How large blocks are; false: they are too large for that. */
bool tsri_pooling_blocks(tsri_pooling *j);
void tsri_pooling_slide(const tsri_pooling *j, const tsri_pooling_block *b);

/* Large ones, and adaptive ones (pooling_large.c): one row of outputs. */
void tsri_pooling_reduce(const tsri_pooling *j, const tsri_pooling_block *b);

#endif
