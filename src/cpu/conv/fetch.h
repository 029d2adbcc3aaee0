/* fetch.h - inputs and outputs that come nearer while others are summed, a few lines with each kernel. */
#ifndef TSRI_CPU_CONV_FETCH_H
#define TSRI_CPU_CONV_FETCH_H

#include "core/alloc.h"

#include <stdint.h>

/* `outer` times `inner` runs, of so many bytes each. */
typedef struct tsri_fetch {
    const char *at, *end;               /* what is left of a run */
    int64_t     outer, inner;           /* runs that are left, of the current row of runs and others, */
    int64_t     outer_step, inner_step; /* how far apart they begin, */
    int64_t     bytes, width;           /* how long one is, and how many a row has */
    int64_t     lines;                  /* at a time, at most, and of one run; 0: there are none left */
    int64_t     step;                   /* bytes from one index of k to the next */
} tsri_fetch;

static inline void tsri_fetch_next(tsri_fetch *f)
{
    const char *start = f->end - f->bytes;
    if (--f->inner > 0) {
        start += f->inner_step;
    } else if (--f->outer > 0) {
        start += f->outer_step - (f->width - 1) * f->inner_step;
        f->inner = f->width;
    } else {
        f->lines = 0;
    }
    f->at = start;
    f->end = start + f->bytes;
}

/* Where the lines are that come next, and how far apart for the indices of a kernel's k; `none` if there are
 * none left. */
static inline const char *tsri_fetch_lines(tsri_fetch *f, const void *none, int64_t *step)
{
    const char *at = f->at;
    *step = 0;
    if (!f->lines) return none;
    *step = f->step;
    f->at += f->lines * TSRI_CACHE_LINE;
    if (f->at >= f->end) tsri_fetch_next(f);
    return at;
}

/* All that is left, at once. */
static inline void tsri_fetch_all(tsri_fetch *f)
{
    while (f->lines) {
        for (; f->at < f->end; f->at += TSRI_CACHE_LINE) __builtin_prefetch(f->at, 0, 2);
        tsri_fetch_next(f);
    }
}

/* Kernels of `k` indices each, at most, bring it, `times` of them all of it if a line for each index is enough.
 * What f says of runs is given; their rows and bytes are more than 0. */
static inline void tsri_fetch_plan(tsri_fetch *f, int64_t times, int64_t k)
{
    if (f->inner_step == f->bytes) {
        f->bytes *= f->inner;
        f->inner = 1;
    }
    const int64_t lines = (f->bytes + TSRI_CACHE_LINE - 1) / TSRI_CACHE_LINE, runs = f->outer * f->inner;
    const int64_t parts = times > runs ? times / runs : 1, wanted = (lines + parts - 1) / parts;
    f->width = f->inner;
    f->end = f->at + f->bytes;
    f->lines = wanted < k ? wanted : k;
    f->step = (f->lines * TSRI_CACHE_LINE + k - 1) / k;
}

#endif
