/* contrast.h - how far two tensors are from each other, piece by piece.
 *
 * Elements are close if they are equal, if |a - b| <= atol + rtol * |b|, or if they are no more
 * than `ulps` steps of their dtype apart (of the shorter dtype of two floats). Infinities are
 * close to themselves only; NaN is close to NaN unless nan_differs. The parts of complex
 * numbers are compared each for itself.
 */
#ifndef TSR_CLI_CONTRAST_H
#define TSR_CLI_CONTRAST_H

#include "source.h"
#include "terminal.h"

typedef struct tolerance {
    double   rtol, atol;
    uint64_t ulps;
    bool     nan_differs;
    bool     brief;                 /* leave out the extremes `relative` and `steps` */
} tolerance;

/* The largest of one kind of error, and where in the whole of the first tensor. */
typedef struct extreme {
    double     size;                /* -1: none was found */
    int64_t    index[TSR_MAX_NDIM];
    tsr_scalar a, b;
} extreme;

/* Of all elements, close or not. NaN against a number has no error; it is counted apart. */
typedef struct contrast {
    int64_t count, changed, differ; /* changed: not equal; differ: not close either */
    int64_t nans;                   /* NaN on one side alone */
    extreme error, relative, steps;
    double  distance, norm_a, norm_b, dot; /* sums of (a - b)^2, a^2, b^2 and a b, of finite pairs */
} contrast;

/* |a - b| / |b| and the cosine of the angle between a and b; NaN where one side alone has NaN. */
double contrast_relative(const contrast *c);
double contrast_cosine(const contrast *c);

/* Items of one shape. False after a complaint. */
bool contrast_items(contrast *out, source *a, int64_t ia, source *b, int64_t ib, const tolerance *t,
                    progress *p, double done, double total);

#endif
