/* rows.h - the arithmetic of networks' ops on rows of packed numbers.
 *
 * A row is n numbers of the type that is computed in: float for f32 and shorter dtypes,
 * double for f64. y may lie exactly where x does, or not touch it. The order of a sum
 * depends on n and on the set of kernels alone: leaves of a fixed length in fixed lanes,
 * whose errors are carried along from leaf to leaf.
 */
#ifndef TSRI_NN_ROWS_H
#define TSRI_NN_ROWS_H

#include "core/status_int.h"

/* Rows of short dtypes are floats that will be rounded to fewer bits. */
enum { TSRI_ROW_F32, TSRI_ROW_F64, TSRI_ROW_SHORT, TSRI_ROW_TYPES };

/* How a row's result is written, and what memory is asked for meanwhile. */
typedef struct tsri_row_way {
    const char *next;    /* the elements of the row to come, to be fetched early; NULL: not */
    int64_t     size;    /* bytes from one of them to the next */
    int         asked;   /* quarters of that row that have been asked for; passes before the last one add to it */
    void       *spare;   /* room for a row that stays in the cache; NULL: y is such */
    bool        stream;  /* y is written around the caches; settle() when all are */
} tsri_row_way;

typedef struct tsri_nn_kernels {
    /* y = exp(x) over the sum of exp(x); its logarithm. */
    void (*softmax)(void *y, const void *x, int64_t n, const tsri_row_way *w);
    void (*log_softmax)(void *y, const void *x, int64_t n, const tsri_row_way *w);

    /* The same for `width` lanes that lie side by side, where they are: number i of all of
     * them is at tile + i * pitch. The pitch is whole lines, and what lies between width and the
     * end of a line may be overwritten. */
    void (*softmax_side)(void *tile, int64_t n, int64_t pitch, int64_t width, bool log);

    /* The same for lanes that are too long to stay in a cache, some numbers at a time. Taking in collects the
     * largest of each lane and, in sums[0] and sums[1], the sum of exp(x - largest) and what rounding took
     * from it; begin with -infinity and 0. Then, when all are in, giving makes the results. Lanes come as
     * above, and most and sums have room for whole lines. */
    void (*take_side)(void *most, double *const *sums, const void *tile, int64_t n, int64_t pitch,
                      int64_t width);
    void (*give_side)(void *tile, int64_t n, int64_t pitch, int64_t width, const void *most,
                      double *const *sums, bool log);

    /* The largest, and the logarithm of the sum of exp(x - largest); of lanes side by side. */
    void (*log_sum)(double *largest, double *log_sum, const void *x, int64_t n);
    void (*log_sum_side)(double *largest, double *log_sum, const void *tile, int64_t n, int64_t pitch,
                         int64_t width);

    /* Of x; of x^2; the mean of x, and the sum of (x - mean)^2. What is asked for meanwhile is noted in w. */
    double (*sum)(const void *x, int64_t n);
    double (*squares)(const void *x, int64_t n, tsri_row_way *w);
    void   (*moments)(double *mean, double *squares, const void *x, int64_t n, tsri_row_way *w);

    /* z = x + y */
    void (*add)(void *z, const void *x, const void *y, int64_t n);

    /* y = (x - from) * by + add; y = (x - from) * by * w + b, with w and b for each
     * element, of which b may be NULL. As if in double, rounded once, but for the last place of b;
     * short ones in float. */
    void (*scale)(void *y, const void *x, int64_t n, double from, double by, double add,
                  const tsri_row_way *w);
    void (*scale_each)(void *y, const void *x, int64_t n, double from, double by, const void *weights,
                       const void *biases, const tsri_row_way *w);

    /* y = 0 */
    void (*zero)(void *y, int64_t n, bool stream);

    /* Cosines and sines of the angles at / slowness[i]. */
    void (*turns)(double *cosines, double *sines, double at, const double *slowness, int64_t n);

    /* Pairs of a row turned, by tsr_rope_mode. turns are, for halves, the cosines of all n / 2 pairs and then
     * their sines; for pairs, the cosine of each of the n elements, and then what its neighbour is taken
     * times: its sine, for the first of a pair with the sign turned. */
    void (*rotate[2])(void *y, const void *x, int64_t n, const double *turns, const tsri_row_way *w);

    /* After results that were streamed; NULL: nothing to do. */
    void (*settle)(void);
} tsri_nn_kernels;

struct tsri_cpu_kernels;

/* Fills the slots of rows, and the elementwise ones of this family (rows.c, swiglu.c). */
void tsri_cpu_nn_portable(struct tsri_cpu_kernels *k);
void tsri_cpu_swiglu_portable(struct tsri_cpu_kernels *k);

#endif
