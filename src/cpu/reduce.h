/* reduce.h - how the CPU reduces and scans.
 *
 * A reduction collects elements: what has come together for an output is a state of
 * up to four numbers, and outputs that lie side by side are collected together. A
 * kernel takes a strip of elements into such states. It knows neither shapes nor
 * which op it works for: op -> one or two passes of collecting -> result is
 * reduce_run.c's.
 */
#ifndef TSRI_REDUCE_H
#define TSRI_REDUCE_H

#include "core/status_int.h"

enum { TSRI_SIDE = 64 };  /* outputs side by side, at most */

typedef enum tsri_collect {
    TSRI_COLLECT_SUM,
    TSRI_COLLECT_PROD,
    TSRI_COLLECT_MAX,
    TSRI_COLLECT_MIN,
    TSRI_COLLECT_ARGMAX,
    TSRI_COLLECT_ARGMIN,
    TSRI_COLLECT_NONZERO,     /* counts */
    TSRI_COLLECT_ZERO,
    TSRI_COLLECT_ABS_MAX,
    TSRI_COLLECT_ABS_MIN,
    TSRI_COLLECT_ABS_SUM,
    TSRI_COLLECT_SQUARES,     /* sums of |x k|^2 */
    TSRI_COLLECT_POWERS,      /* of (|x| / k)^p */
    TSRI_COLLECT_EXPS,        /* of exp(x - k) */
    TSRI_COLLECT_DEVIATIONS,  /* of |x - k|^2 */
    TSRI_COLLECT_COUNT
} tsri_collect;

typedef enum tsri_scan { TSRI_SCAN_SUM, TSRI_SCAN_PROD, TSRI_SCAN_MAX, TSRI_SCAN_COUNT } tsri_scan;

/* The states of outputs 0 .. width - 1.
 *
 *     sums             f[0], f[1]: total, and what rounding took from it; imaginary parts in f[2], f[3];
 *                      u[0] for integers
 *     products         f[0], and f[2] for imaginary parts; u[0] for integers
 *     extremes         f[0], and f[1] not 0 once a NaN was met; i[0], u[0] for integers
 *     argmax, argmin   the value as for an extreme, its index in i[1], which is -1 until there is one
 *     counts           i[0]
 *
 * What the first pass of two came to is handed to the second as k, in f[0] .. f[3]. */
typedef union tsri_collected {
    double   f[4][TSRI_SIDE];
    int64_t  i[4][TSRI_SIDE];
    uint64_t u[4][TSRI_SIDE];
} tsri_collected;

typedef struct tsri_strip {
    const char *x;
    int64_t     n, step;        /* elements for each output, and bytes between them */
    int64_t     width, across;  /* outputs, and bytes between their elements */
    int64_t     at;             /* which of its output's elements the first is */
    bool        lone;           /* one output, to be collected in lanes; the others go row by row. The result's
                                   bits depend on it, so it is not the same as width == 1 */
} tsri_strip;

typedef void (*tsri_collect_fn)(tsri_collected *g, const tsri_strip *s, const tsri_collected *k);

/* Lines of a scan, side by side: z and x walk with step[0] and step[1] along, with across[] from
 * line to line. Element i of a line is read before element i is written. */
typedef struct tsri_lines {
    char       *z;
    const char *x;
    int64_t     n, step[2];
    int64_t     width, across[2];
} tsri_lines;

typedef void (*tsri_scan_fn)(const tsri_lines *l);

/* A sum and what rounding took from it, together; infinities have no such error. */
static inline double tsri_with_error(double sum, double lost)
{
    return sum - sum == 0 ? sum + lost : sum;
}

/* *sum += x; *lost takes the rounding error, exactly (Knuth's two-sum). */
static inline void tsri_add_exactly(double *sum, double *lost, double x)
{
    const double had = *sum, now = had + x, back = now - had;
    *sum = now;
    *lost += (had - (now - back)) + (x - back);
}

static inline void tsri_multiply(double *re, double *im, double by_re, double by_im)
{
    const double r = *re * by_re - *im * by_im;
    *im = *re * by_im + *im * by_re;
    *re = r;
}

#endif
