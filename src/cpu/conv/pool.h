/* pool.h - what pools are made of: rows of windows whose numbers lie side by side.
 *
 * Numbers are of three types. f32 holds all floats but f64, and integers of up to 16 bits;
 * i64 holds the others, u64 with its sign bit turned, which keeps their order.
 */
#ifndef TSRI_CPU_POOL_H
#define TSRI_CPU_POOL_H

#include "core/status_int.h"

enum { TSRI_POOL_F32, TSRI_POOL_F64, TSRI_POOL_I64, TSRI_POOL_TYPES };

/* Tap t of output i of row r is number i at x + r * x_step + tap[t]. */
typedef struct tsri_pool_block {
    const char    *x;
    int64_t        x_step;
    const int64_t *tap;
    int64_t        taps;
    int64_t        first;               /* the number that tap[0] has among all */
    int64_t        ahead;               /* bytes from numbers to what is needed later, and may be fetched */
    int64_t        follows;             /* of pairs: bytes of x that are read in order, by this block and others */
    int64_t        rows, n;
    char          *z, *which;           /* what has come together, as numbers or, for sums, as doubles; of the
                                           largest, which tap it is, as integers of a number's size */
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

    /* z[i] = sums[i] / counts[i], rounded; if `odd`, to an odd number unless exact, so that it can be
     * rounded to fewer bits as if from the beginning. by[i] is 1 / counts[i]. */
    void (*mean)(void *z, const double *sums, const double *counts, const double *by, int64_t n, bool odd);

    /* n numbers from every second place of x, and those between, for rows z_step and x_step bytes apart.
     * NULL: there is no such kernel. */
    void (*split)(char *even, char *odd, int64_t z_step, const char *x, int64_t x_step, int64_t rows,
                  int64_t n);

    /* The same for outputs that are two columns apart: output i of row r sees columns `column` + 2 i and
     * on, two or three `across`, of the lines at x + r * x_step + tap[t]. Those that are not among the
     * `columns` of a line count as what z begins with. If `count` is not 0, sums are divided by it, and z is of
     * numbers. Rows of a vector of outputs and more end with a whole one, which computes some again: z must not
     * overlap x. NULL: there are no such kernels. */
    void (*max_pairs)(const tsri_pool_block *b);
    void (*sum_pairs)(const tsri_pool_block *b);
} tsri_pool_kernels;

struct tsri_cpu_kernels;
void tsri_cpu_pool_portable(struct tsri_cpu_kernels *k);  /* pool_rows.c */

#endif
