/* pooling.h - kernels for pooling: rows of windows over contiguous numbers.
 *
 * Numbers are of three types. f32 holds all floats but f64, and integers of up to 16 bits;
 * i64 holds the others; u64 with its top bit flipped, which keeps their order.
 */
#ifndef TSRI_CPU_POOLING_H
#define TSRI_CPU_POOLING_H

#include "core/status_int.h"

enum { TSRI_POOL_F32, TSRI_POOL_F64, TSRI_POOL_I64, TSRI_POOL_TYPES };

/* Tap t of output i of row r is number i at x + r * x_step + tap[t]. */
typedef struct tsri_pool_block {
    const char    *x;
    int64_t        x_step;
    const int64_t *tap;
    int64_t        taps;
    int64_t        first;               /* the number that tap[0] has among all */
    int64_t        ahead;               /* bytes from numbers to what may be prefetched */
    int64_t        follows;             /* of pairs: bytes of x that this block and others read in order */
    int64_t        rows, n;
    char          *z, *which;           /* results so far: numbers or, for sums, doubles; for the largest,
                                           which tap it is, as integers of a number's size */
    int64_t        z_step, which_step;  /* bytes from row to row */
    const void    *begin;               /* what z begins with; NULL: with what is there */
    int64_t        column, columns, across;  /* see max_pairs */
    double         count;               /* see sum_pairs */
} tsri_pool_block;

typedef struct tsri_pool_kernels {
    /* The largest of z and all taps, the first of equal ones; NaN if there is one. */
    void (*max)(const tsri_pool_block *b);
    void (*max_at)(const tsri_pool_block *b);

    /* z plus all taps. Of floats, as below. */
    void (*sum)(const tsri_pool_block *b);

    /* z[i] = sums[i] / counts[i], rounded; if `odd`, rounded to odd, so that rounding the result again to
     * fewer bits is exact. by[i] is 1 / counts[i]. */
    void (*mean)(void *z, const double *sums, const double *counts, const double *by, int64_t n, bool odd);

    /* Splits n pairs of numbers of x into the first and the second ones, for rows z_step and x_step bytes
     * apart. May be NULL. */
    void (*split)(char *even, char *odd, int64_t z_step, const char *x, int64_t x_step, int64_t rows,
                  int64_t n);

    /* The same for outputs that are two columns apart: output i of row r sees columns `column` + 2 i and on,
     * two or three `across`, of the lines at x + r * x_step + tap[t]. Those that are not among the `columns`
     * of a line count as what z begins with. If `count` is not 0, sums are divided by it, and z is of
     * numbers. Rows of at least one vector of outputs end with a whole vector, which computes some
     * outputs again: z must not overlap x. May be NULL. */
    void (*max_pairs)(const tsri_pool_block *b);
    void (*sum_pairs)(const tsri_pool_block *b);
} tsri_pool_kernels;

struct tsri_cpu_kernels;
void tsri_cpu_pool_portable(struct tsri_cpu_kernels *k);  /* pooling_portable.c */

#endif
