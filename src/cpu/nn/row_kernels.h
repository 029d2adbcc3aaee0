/* row_kernels.h - the arithmetic of networks' ops on rows of packed numbers.
 *
 * A row is n numbers of the type that is computed in: float for f32 and shorter dtypes,
 * double for f64. y may be x itself, or not overlap it. The order of a sum
 * depends only on n and the set of kernels: leaves of a fixed length in fixed lanes, and the leaves' sums
 * with compensation for rounding errors.
 */
#ifndef TSRI_NN_ROW_KERNELS_H
#define TSRI_NN_ROW_KERNELS_H

#include "core/status_int.h"

/* Rows of short dtypes are floats that will be rounded to fewer bits. */
enum { TSRI_ROW_F32, TSRI_ROW_F64, TSRI_ROW_SHORT, TSRI_ROW_TYPES };

/* How a row's result is written, and what is prefetched meanwhile. */
typedef struct tsri_row_options {
    const char *next;    /* the next row's elements, to be prefetched; NULL: none */
    int64_t     size;    /* bytes from one of them to the next */
    int asked; /* quarters of that row that are prefetched already; passes before the last one add to it */
    void       *spare;   /* scratch for a row that stays in cache; NULL: y does */
    bool        stream;  /* y is written with non-temporal stores; call fence() after all rows */
} tsri_row_options;

typedef struct tsri_nn_kernels {
    /* y = exp(x) over the sum of exp(x); its logarithm. */
    void (*softmax)(void *y, const void *x, int64_t n, const tsri_row_options *w);
    void (*log_softmax)(void *y, const void *x, int64_t n, const tsri_row_options *w);

    /* The same in place for `width` lanes next to each other: number i of all of them is at tile +
     * i * pitch. The pitch is whole cache lines; bytes between width and the end of a line may be
     * overwritten. */
    void (*softmax_side)(void *tile, int64_t n, int64_t pitch, int64_t width, bool log);

    /* The same for lanes that do not fit a cache, in two passes over some numbers at a time. take_side
     * accumulates the largest of each lane and, in sums[0] and sums[1], the sum of exp(x - largest) and its
     * rounding error; start with -infinity and 0. When it has seen all numbers, give_side computes the
     * results. Lanes are as above; most and sums have space for whole cache lines. */
    void (*take_side)(void *most, double *const *sums, const void *tile, int64_t n, int64_t pitch,
                      int64_t width);
    void (*give_side)(void *tile, int64_t n, int64_t pitch, int64_t width, const void *most,
                      double *const *sums, bool log);

    /* The largest, and the logarithm of the sum of exp(x - largest); of lanes next to each other. */
    void (*log_sum)(double *largest, double *log_sum, const void *x, int64_t n);
    void (*log_sum_side)(double *largest, double *log_sum, const void *tile, int64_t n, int64_t pitch,
                         int64_t width);

    /* The sum of x; of x^2; the mean of x, and the sum of (x - mean)^2. What is prefetched is counted in
     * w. */
    double (*sum)(const void *x, int64_t n);
    double (*squares)(const void *x, int64_t n, tsri_row_options *w);
    void   (*moments)(double *mean, double *squares, const void *x, int64_t n, tsri_row_options *w);

    /* z = x + y */
    void (*add)(void *z, const void *x, const void *y, int64_t n);

    /* y = (x - from) * by + add; y = (x - from) * by * w + b, with w and b for each
     * element, of which b may be NULL. As if in double, rounded once, but for the last place of b;
     * short ones in float. */
    void (*scale)(void *y, const void *x, int64_t n, double from, double by, double add,
                  const tsri_row_options *w);
    void (*scale_each)(void *y, const void *x, int64_t n, double from, double by, const void *weights,
                       const void *biases, const tsri_row_options *w);

    /* y = 0 */
    void (*zero)(void *y, int64_t n, bool stream);

    /* Cosines and sines of the angles at / slowness[i]. */
    void (*rotations)(double *cosines, double *sines, double at, const double *slowness, int64_t n);

    /* Rotates the pairs of a row, by tsr_rope_mode. rotations are, for halves, the cosines of all n / 2 pairs
     * and then their sines; for pairs, the cosine for each of the n elements, and then the factor of its
     * neighbour: the sine, negated for the first of a pair. */
    void (*rotate[2])(void *y, const void *x, int64_t n, const double *rotations, const tsri_row_options *w);

    /* Call after non-temporal stores; NULL: nothing to do. */
    void (*fence)(void);
} tsri_nn_kernels;

struct tsri_cpu_kernels;

/* Fills the slots of rows, and the elementwise ones of this family (rows.c, swiglu.c). */
void tsri_cpu_nn_portable(struct tsri_cpu_kernels *k);
void tsri_cpu_swiglu_portable(struct tsri_cpu_kernels *k);

#endif
