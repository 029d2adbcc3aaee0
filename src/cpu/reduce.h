/* reduce.h - what the CPU's kernels do in reductions and scans.
 *
 * A reduction collects elements: what has come together for an output is a state of
 * up to four numbers. A kernel takes a strip of elements, which lie as it likes them,
 * into the states of a few outputs. It knows neither shapes nor which op it works for:
 *
 *     reduce_run.c       op -> one or two passes over blocks of outputs, split over threads
 *     reduce_walk.c      a block -> strips: elements packed, turned and widened where they must be
 *     reduce_states.c    states -> their beginning, their union, the result
 *     reduce_short.c       outputs of few elements, which need none of that
 *     reduce_scan.c      the same road for scans
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
    TSRI_ACC_FIND,        /* that, and where the first of them is */
    TSRI_ACC_NONZERO,     /* counts */
    TSRI_ACC_ABS_SUM,
    TSRI_ACC_SQUARES,     /* sums of |x k|^2 */
    TSRI_ACC_POWERS,      /* of (|x| / k)^p */
    TSRI_ACC_EXPS,        /* of exp(x - k) */
    TSRI_ACC_DEVIATIONS,  /* of |x - k|^2 */
    TSRI_ACC_FINALISE,      /* no elements: `width` totals of f64 take in what rounding took from them; with
                                 `size`, extremes become NaN where one was met, and change sign with `least` */
    TSRI_ACC_COUNT
} tsri_acc_kind;

typedef enum tsri_scan { TSRI_SCAN_SUM, TSRI_SCAN_PROD, TSRI_SCAN_MAX, TSRI_SCAN_COUNT } tsri_scan;

/* The states of outputs side by side.
 *
 *     sums       f[0], f[1]: total, and what rounding took from it; imaginary parts in f[2], f[3];
 *                u[0] for integers
 *     products   f[0] 2^f[1], and f[2] 2^f[1] for imaginary parts; u[0] for integers
 *     largest    f[0], and f[1] not 0 once a NaN was met; i[0] for integers
 *     find       the value as for the largest, but NaN itself once there is one; its index in i[1],
 *                which is -1 until there is one
 *     counts     i[0]
 *
 * What the first pass of two came to is handed to the second as k, in f[0] .. f[3]. */
typedef union tsri_states {
    double   *f[4];
    int64_t  *i[4];
    uint64_t *u[4];
} tsri_states;

/* Elements of `width` outputs, n of each. A lone strip has runs, one for each output, `across`
 * bytes apart: what comes together in lanes of a vector is put together in the end. The others
 * have rows, `step` bytes apart, with one element for each output, side by side. The result's
 * bits depend on which it is. */
typedef struct tsri_strip {
    const char *x;
    int64_t     n, step;
    int64_t     width, across;
    int64_t     at;           /* which of its output's elements the first is */
    int64_t     ahead;        /* bytes from x to what is read next, in the same way; 0: nothing */
    int64_t     period;       /* of rows, states that are so far apart will be united: an element may be taken into
                                 any of them; 0: none will be */
    bool        lone;
    bool        least, size;  /* of floats, the largest of -x, of |x| */
    uint64_t    flip;         /* integers are taken as signed x ^ flip */
} tsri_strip;

/* k is there for kinds that are described with it. */
typedef void (*tsri_accumulate_fn)(tsri_states *g, const tsri_strip *s, const tsri_states *k);

/* Outputs that are `width` in number and have n elements each, which are few: their results, which run on, are
 * written at once. Elements are `step` bytes apart and outputs `across`; one of the two is the size of an element.
 * Sums are multiplied by `times` and divided by `over`, one of which is 1. */
typedef struct tsri_short_reduction {
    char       *z;
    const char *x;
    int64_t     n, step;
    int64_t     width, across;
    bool        least;        /* the least is asked for */
    double      times, over;
} tsri_short_reduction;

enum { TSRI_SHORT_RUN = 64, TSRI_SHORT_COLUMN = 16 };  /* elements that are few, at most: of a run, of a column */

/* False, and nothing done, where these are not for it. */
typedef bool (*tsri_reduce_short_fn)(const tsri_short_reduction *f);

/* Lines of a scan, side by side: z and x walk with step[0] and step[1] along, with across[] from
 * line to line. Element i of a line is read before element i is written. */
typedef struct tsri_lines {
    char       *z;
    const char *x;
    int64_t     n, step[2];
    int64_t     width, across[2];
    bool        rows;    /* lines are scanned side by side: the order of sums follows from it, not from width,
                            which depends on how the lines are split over threads */
    bool        stream;  /* the result is larger than the caches */
} tsri_lines;

typedef void (*tsri_scan_fn)(const tsri_lines *l);

/* The larger of v and best, and of two zeros +0, so that no order of elements shows in a result. NaN in v does not
 * count. */
static inline double tsri_larger(double v, double best)
{
    return v > best ? v : v == 0 && best == 0 ? v + best : best;
}

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

#ifndef TSR_FREESTANDING

/* Products are m 2^e, so that no part of one leaves the range of doubles before the rest has been met. m is within
 * 1 and 2, unless it is 0, infinite or NaN; scaling is exact, so the bits do not depend on when it is done. The
 * elements of a run are multiplied in TSRI_FACTORS lanes, element i in lane i % TSRI_FACTORS, and lane l takes in
 * lane l + 8, then l + 4, l + 2 and l + 1: every set of kernels has the same bits. */
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

/* Brings the larger part of a complex number to near 1; returns the exponent that this took. Numbers whose squares
 * are far from the ends of the range stay as they are. */
static inline double tsri_split_complex(double *re, double *im)
{
    double most = fabs(*re) > fabs(*im) ? fabs(*re) : fabs(*im);
    if (TSRI_LIKELY((most > 0x1p-500 && most < 0x1p500) || !(most > 0 && most < (double)INFINITY))) return 0;
    const double e = tsri_take_exponent(&most);
    *re = tsri_scaled(*re, -e);
    *im = tsri_scaled(*im, -e);
    return e;
}

/* The complex product re + i im, times 2^e, takes in a factor. */
static inline void tsri_take_complex(double *re, double *im, double *e, double by_re, double by_im)
{
    *e += tsri_split_complex(&by_re, &by_im);
    tsri_multiply(re, im, by_re, by_im);
    *e += tsri_split_complex(re, im);
}

#endif

#endif
