/* index.h - what the kernels of gather and scatter share. */
#ifndef TSRI_CPU_INDEX_H
#define TSRI_CPU_INDEX_H

#include "core/mem.h"
#include "kernels.h"
#include "tessera/ops/index.h"

/* The axis that a lane walks. */
typedef struct scatter_axis {
    int64_t n;
    int64_t step[3]; /* bytes: result, index, source */
} scatter_axis;

enum {
    AHEAD = 2,         /* rows whose beginning is fetched before it is needed */
    FETCHED = 512,     /* bytes of it: the machine goes on by itself */
    AHEAD_SINGLY = 16, /* elements */
    SHORT_ROW = 256    /* bytes */
};

/* The beginning of a row that is needed soon. */
static TSRI_ALWAYS_INLINE void fetch_row(const char *row, int64_t bytes)
{
    for (int64_t i = 0; i < bytes && i < FETCHED; i += 64) __builtin_prefetch(row + i);
}

static TSRI_ALWAYS_INLINE int64_t index_at(const char *p) { return *(const int64_t *)(const void *)p; }

#endif
