/* bytes.c - few rows of bytes times a matrix of unit stride along k, with instructions that sum neighbouring
 * products of bytes.
 *
 * Sums of integers have no order, so nothing is transposed: a column of b is read in one run, and again from
 * cache for each further row. From the outermost loop: columns of b that stay in cache, row of a, column,
 * index of k. */
#include "gemm.h"
#include "core/alloc.h"
#include "core/dtype_int.h"
#include "core/memory_int.h"
#include "core/sizes.h"
#include "core/threads_int.h"

enum { COLS = 16 };  /* of b, that stay in cache for all rows */

typedef struct byte_rows {
    const tsri_gemm *g;
    const char      *a;     /* packed, row after row */
    int64_t          step;  /* bytes of a packed row */
} byte_rows;

static void sum_row(const byte_rows *r, int64_t i, int64_t col, int64_t cols)
{
    const tsri_gemm *g = r->g;
    uint32_t sums[COLS];
    g->kernels->dots(sums, r->a + i * r->step, tsri_gemm_at(g->b, 0, col).data, g->b.col, cols, g->k);
    g->kernels->dtypes[g->z_type].store(tsri_gemm_at(g->z, i, col), tsri_gemm_at(g->c, i, col), sums, 1, cols,
                                        1, COLS, &g->scale);
}

static tsr_status sum_columns(void *context, int64_t begin, int64_t end)
{
    const byte_rows *r = context;
    for (int64_t j = begin * COLS; j < least(end * COLS, r->g->n); j += COLS)
        for (int64_t i = 0; i < r->g->m; i++) sum_row(r, i, j, least(r->g->n - j, COLS));
    return TSR_OK;
}

tsr_status tsri_gemm_bytes(const tsri_gemm *g)
{
    const int64_t group = g->kernels->group, step = pieces(g->k, group) * group;
    size_t reserved = 0;
    char *a = tsri_pool_scratch((size_t)(g->m * step), &reserved);
    if (!a) return TSR_ENOMEM;
    for (int64_t i = 0; i < g->m; i++)
        g->kernels->dtypes[g->a_type].pack(a + i * step, tsri_gemm_at(g->a, i, 0).data, 0, g->a.col, 1, g->k,
                                           1);
    byte_rows r = { g, a, step };
    const double work = TSRI_WORK_READ * (double)COLS * (double)g->k;
    const tsr_status s = tsri_parallel_for(pieces(g->n, COLS), tsri_grain(work), sum_columns, &r);
    tsri_pool_give(a, reserved);
    return s;
}
