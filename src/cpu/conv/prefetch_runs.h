/* prefetch_runs.h - prefetches the inputs and outputs of the next unit while this one is summed: a few cache
 * lines with each call of a micro-kernel. */
#ifndef TSRI_CPU_CONV_PREFETCH_H
#define TSRI_CPU_CONV_PREFETCH_H

#include "core/alloc.h"

#include <stdint.h>

/* `outer` rows of `inner` runs, of so many bytes each. */
typedef struct tsri_prefetch {
    const char *at, *end;               /* what is left of a run */
    int64_t     outer, inner;           /* rows that are left, and runs of the current row, */
    int64_t     outer_step, inner_step; /* how far apart they begin, */
    int64_t     bytes, width;           /* how long one is, and how many a row has */
    int64_t     lines;                  /* at a time, at most, and of one run; 0: there are none left */
    int64_t     step;                   /* bytes from one index of k to the next */
} tsri_prefetch;

static inline void tsri_prefetch_next(tsri_prefetch *f)
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

/* The address of the next lines, and the step between them for the indices of a micro-kernel's k; `none` if
 * no lines are left. */
static inline const char *tsri_prefetch_lines(tsri_prefetch *f, const void *none, int64_t *step)
{
    const char *at = f->at;
    *step = 0;
    if (!f->lines) return none;
    *step = f->step;
    f->at += f->lines * TSRI_CACHE_LINE;
    if (f->at >= f->end) tsri_prefetch_next(f);
    return at;
}

/* Prefetches all that is left. */
static inline void tsri_prefetch_all(tsri_prefetch *f)
{
    while (f->lines) {
        for (; f->at < f->end; f->at += TSRI_CACHE_LINE) __builtin_prefetch(f->at, 0, 2);
        tsri_prefetch_next(f);
    }
}

/* Plans the prefetches for `times` calls of micro-kernels of at most k indices, with one line for each index,
 * or more if that is not enough. The runs of f are set; their rows and bytes are more than 0. */
static inline void tsri_prefetch_plan(tsri_prefetch *f, int64_t times, int64_t k)
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
