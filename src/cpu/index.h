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

/* Prefetches the start of a row. */
static TSRI_ALWAYS_INLINE void prefetch_row(const char *row, int64_t bytes)
{
    const int64_t start = tsri_tuning_used->indexing.start;
    for (int64_t i = 0; i < bytes && i < start; i += 64) __builtin_prefetch(row + i);
}

static TSRI_ALWAYS_INLINE int64_t index_at(const char *p) { return *(const int64_t *)(const void *)p; }

/* Where the source of row r of a gather begins. */
static TSRI_ALWAYS_INLINE const char *row_of(const tsri_tile *t, int64_t r, int64_t step)
{
    return t->ptr[2] + r * t->row_step[2] + index_at(t->ptr[1] + r * t->row_step[1]) * step;
}

#endif
