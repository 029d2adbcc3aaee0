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
    AHEAD = 2,                /* rows by which the start of a row is prefetched */
    PREFETCHED = 512,         /* bytes of that start: then the hardware prefetcher follows */
    PREFETCHED_ALONG = 1024,  /* bytes of a later row that are prefetched while a row is processed */
    BYTES_AHEAD = 2048,       /* by which lines of the row in process are prefetched */
    ROWS_AHEAD = 4096,        /* bytes of rows by which short rows are prefetched */
    AHEAD_SHORT = 16,         /* most rows by which short rows are prefetched */
    SHORT_ROW = 256           /* bytes */
};

/* Prefetches the start of a row. */
static TSRI_ALWAYS_INLINE void prefetch_row(const char *row, int64_t bytes)
{
    for (int64_t i = 0; i < bytes && i < PREFETCHED; i += 64) __builtin_prefetch(row + i);
}

static TSRI_ALWAYS_INLINE int64_t index_at(const char *p) { return *(const int64_t *)(const void *)p; }

/* Where the source of row r of a gather begins. */
static TSRI_ALWAYS_INLINE const char *row_of(const tsri_tile *t, int64_t r, int64_t step)
{
    return t->ptr[2] + r * t->row_step[2] + index_at(t->ptr[1] + r * t->row_step[1]) * step;
}

#endif
