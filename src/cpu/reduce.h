/* reduce.h - what the CPU's kernels do in reductions and scans.
 *
 * A reduction accumulates elements. What it holds for an output is a state of up to
 * four numbers. A kernel adds a strip of elements, in a layout that it can read, to the
 * states of a few outputs. It knows neither shapes nor the op:
 *
 *     reduce_run.c       op -> one or two passes over blocks of outputs, split over threads
 *     reduce_walk.c      a block -> strips: elements packed, transposed and widened where needed
 *     reduce_states.c    states -> initial values, merging, the result
 *     reduce_short.c     outputs of few elements each, without states
 *     reduce_scan.c      the same for scans
 */
#ifndef TSRI_REDUCE_H
#define TSRI_REDUCE_H

#include "core/status_int.h"

#ifndef TSR_FREESTANDING
#include <math.h>
#endif

enum { TSRI_SIDE = 512, TSRI_LINES = 1024 };  /* outputs of a block, lines of a scan side by side, at most */

typedef enum tsri_acc_kind {
    TSRI_ACC_SUM,
    TSRI_ACC_PROD,
    TSRI_ACC_LARGEST,     /* of x, -x, |x| or -|x| */
    TSRI_ACC_FIND,        /* that, and the index of the first of them */
    TSRI_ACC_NONZERO,     /* counts */
    TSRI_ACC_ABS_SUM,
    TSRI_ACC_SQUARES,     /* sums of |x k|^2 */
    TSRI_ACC_POWERS,      /* of (|x| / k)^p */
    TSRI_ACC_EXPS,        /* of exp(x - k) */
    TSRI_ACC_DEVIATIONS,  /* of |x - k|^2 */
    TSRI_ACC_FINALISE,    /* no elements: adds to `width` totals of f64 their rounding errors. With `size`:
                             extremes become NaN where an element was NaN, and change sign with `least` */
    TSRI_ACC_COUNT
} tsri_acc_kind;

typedef enum tsri_scan { TSRI_SCAN_SUM, TSRI_SCAN_PROD, TSRI_SCAN_MAX, TSRI_SCAN_COUNT } tsri_scan;

/* The states of outputs side by side.
 *
 *     sums       f[0], f[1]: total, and its rounding error; imaginary parts in f[2], f[3];
 *                u[0] for integers
 *     products   f[0] 2^f[1], and f[2] 2^f[1] for imaginary parts; u[0] for integers
 *     largest    f[0], and f[1] not 0 after a NaN; i[0] for integers
 *     find       the value as for the largest, but NaN itself after a NaN; its index in i[1],
 *                which is -1 at first
 *     counts     i[0]
 *
 * The second of two passes gets what the first computed as k, in f[0] .. f[3]. */
typedef union tsri_states {
    double   *f[4];
    int64_t  *i[4];
    uint64_t *u[4];
} tsri_states;

/* Elements of `width` outputs, n of each. A strip by runs has one contiguous run for each output,
 * `across` bytes apart: a kernel accumulates in the lanes of a vector and combines the lanes at the end.
 * Other strips have rows, `step` bytes apart, with one element for each output, side by side. The
 * result's bits depend on which it is. */
typedef struct tsri_strip {
    const char *x;
    int64_t     n, step;
    int64_t     width, across;
    int64_t     at;           /* index of the first element among those of its output */
    int64_t     ahead;        /* bytes from x to the strip that is read next, of the same layout; 0: none */
    int64_t     period;       /* of rows: states whose distance is a multiple of this will be merged, so an
                                 element may be added to any of them; 0: none will be */
    bool        by_runs;
    bool        least, size;  /* of floats, the largest of -x, of |x| */
    uint64_t    flip;         /* integers are taken as signed x ^ flip */
} tsri_strip;

/* k is for the kinds whose description above names it. */
typedef void (*tsri_accumulate_fn)(tsri_states *g, const tsri_strip *s, const tsri_states *k);

/* `width` outputs with a small number n of elements each, or columns of any length for kernels that compare
 * bits (reduce_short.c). Their results, which are contiguous, are written directly. Elements are `step`
 * bytes apart and outputs `across`; one of the two is the size of an element. Sums are multiplied by `times`
 * and divided by `over`, one of which is 1. */
typedef struct tsri_short_reduction {
    char       *z;
    const char *x;
    int64_t     n, step;
    int64_t     width, across;
    bool        least;        /* find the least, not the largest; are all set, not any? */
    double      times, over;
} tsri_short_reduction;

enum { TSRI_SHORT_RUN = 512, TSRI_SHORT_COLUMN = 16 };  /* most elements: of a run, of a column */
enum { TSRI_SHORT_GROUP = 16 };  /* outputs that every kernel takes: parts of a row have as many, or all */

/* False, and nothing done, if the kernel does not support these sizes. With states sums have another order,
 * so what it supports must not depend on how rows are split. */
typedef bool (*tsri_reduce_short_fn)(const tsri_short_reduction *f);

/* Lines of a scan, side by side: z and x walk with step[0] and step[1] along, with across[] from
 * line to line. Element i of a line is read before element i is written. */
typedef struct tsri_lines {
    char       *z;
    const char *x;
    int64_t     n, step[2];
    int64_t     width, across[2];
    bool        rows;    /* lines are scanned side by side. The order of sums depends on this, and not on
                            width, which depends on how the lines are split over threads */
    bool        stream;  /* the result is larger than the caches: write it with non-temporal stores */
} tsri_lines;

typedef void (*tsri_scan_fn)(const tsri_lines *l);

/* The larger of v and best, and of two zeros +0, so that the result does not depend on the order of
 * elements. A NaN in v is ignored. */
static inline double tsri_larger(double v, double best)
{
    return v > best ? v : v == 0 && best == 0 ? v + best : best;
}

/* A sum plus its rounding error; an infinite sum has none. */
static inline double tsri_with_error(double sum, double lost)
{
    return sum - sum == 0 ? sum + lost : sum;
}

/* *sum += x; adds the exact rounding error to *lost (Knuth's two-sum). */
static inline void tsri_add_exactly(double *sum, double *lost, double x)
{
    const double had = *sum, now = had + x, back = now - had;
    *sum = now;
    *lost += (had - (now - back)) + (x - back);
}

#ifndef TSR_FREESTANDING

/* Products are m 2^e, so that a partial product cannot leave the range of doubles. m is within 1 and 2,
 * unless it is 0, infinite or NaN. Scaling is exact, so the bits do not depend on when it is done. The
 * elements of a run are multiplied in TSRI_FACTORS lanes, element i in lane i % TSRI_FACTORS. At the end
 * lane l is multiplied by lane l + 8, then l + 4, l + 2 and l + 1: every instruction set gives the same
 * bits. */
enum { TSRI_FACTORS = 16 };

/* *x = m; returns e. */
static inline double tsri_take_exponent(double *x)
{
    union { double f; uint64_t u; } v = { *x };
    const int field = (int)(v.u >> 52 & 0x7ff);
    if (TSRI_LIKELY(field > 0 && field < 0x7ff)) {
        v.u = (v.u & ~((uint64_t)0x7ff << 52)) | (uint64_t)1023 << 52;
        *x = v.f;
        return field - 1023;
    }
    if (*x == 0 || field != 0) return 0;
    *x *= 0x1p54;
    return tsri_take_exponent(x) - 54;
}

/* m 2^e, rounded once. */
static inline double tsri_scaled(double m, double e)
{
    if (TSRI_LIKELY(e > -1000 && e < 1000)) {
        const union { uint64_t u; double f; } power = { (uint64_t)((int64_t)e + 1023) << 52 };
        return m * power.f;
    }
    return ldexp(m, e > 4000 ? 4000 : e < -4000 ? -4000 : (int)e);
}

static inline void tsri_multiply(double *re, double *im, double by_re, double by_im)
{
    const double r = *re * by_re - *im * by_im;
    *im = *re * by_im + *im * by_re;
    *re = r;
}

/* Scales a complex number so that its larger part is near 1; returns the exponent that was removed.
 * Numbers whose squares neither overflow nor underflow are not changed. */
static inline double tsri_split_complex(double *re, double *im)
{
    double most = fabs(*re) > fabs(*im) ? fabs(*re) : fabs(*im);
    if (TSRI_LIKELY((most > 0x1p-500 && most < 0x1p500) || !(most > 0 && most < (double)INFINITY))) return 0;
    const double e = tsri_take_exponent(&most);
    *re = tsri_scaled(*re, -e);
    *im = tsri_scaled(*im, -e);
    return e;
}

/* Multiplies the product (re + i im) 2^e by a factor. */
static inline void tsri_take_complex(double *re, double *im, double *e, double by_re, double by_im)
{
    *e += tsri_split_complex(&by_re, &by_im);
    tsri_multiply(re, im, by_re, by_im);
    *e += tsri_split_complex(re, im);
}

#endif

#endif
