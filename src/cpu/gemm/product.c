/* product.c - which method a product is computed with.
 *
 *     vector    one row or one column, or up to three rows of floats and a large b of unit stride along k:
 *               the matrix is read once, unpacked
 *     bytes     few rows of bytes, and a b of unit stride along k, which is read unpacked
 *     skinny    few rows, and a large b of unit stride along k, which is read once
 *     regions   few rows or many columns, and several threads: each takes regions of the result
 *     panels    everything else, and each region
 *
 * A product may be transposed first: z^T = b^T a^T has the same sums. */
#include "gemm.h"
#include "core/dtype_int.h"
#include "core/sizes.h"

static tsri_gemm_matrix transposed(tsri_gemm_matrix x) { return (tsri_gemm_matrix){ x.data, x.col, x.row }; }

/* Replaces the product by its transpose. */
static void transpose(tsri_gemm *g)
{
    const tsri_gemm_matrix a = g->a;
    const tsr_dtype dtype = g->a_type;
    const int64_t m = g->m;
    g->a = transposed(g->b);
    g->b = transposed(a);
    g->c = transposed(g->c);
    g->z = transposed(g->z);
    g->a_type = g->b_type;
    g->b_type = dtype;
    g->m = g->n;
    g->n = m;
}

/* Sums over nothing are 0. */
static void store_zeros(const tsri_gemm *g)
{
    const tsr_c128 zeros[TSRI_GEMM_ROWS] = { { 0, 0 } };
    const tsri_gemm_store_fn store = g->kernels->dtypes[g->z_type].store;
    for (int64_t j = 0; j < g->n; j++)
        for (int64_t i = 0; i < g->m; i += TSRI_GEMM_ROWS)
            store(tsri_gemm_at(g->z, i, j), tsri_gemm_at(g->c, i, j), zeros, least(g->m - i, TSRI_GEMM_ROWS),
                  1, TSRI_GEMM_ROWS, 1, &g->scale);
}

/* Micro-kernels write along rows. Steps of dims of size 1 are never taken, so they are set to what suits
 * best. */
bool tsri_gemm_transpose(tsri_gemm *g)
{
    if (g->k == 1) g->a.col = g->b.row = g->kernels->element;
    if (g->n == 1) g->z.col = g->m == 1 ? g->kernels->sum : 0;
    if (g->kernels->dtypes != g->kernels->right && (g->n > 1 || g->a_type != g->b_type)) return false;
    if (g->z.col == g->kernels->sum || (g->z.row != g->kernels->sum && g->n > 1)) return false;
    transpose(g);
    if (g->m == 1) g->a.row = g->kernels->element;
    return true;
}

/* Few rows of bytes, and columns of b in one run? */
static bool are_bytes(const tsri_gemm *g)
{
    enum {
        ROWS = 3,     /* with more, b is packed as fast */
        LEAST_K = 64  /* with fewer, adding up what a vector holds takes longer than packing */
    };
    return g->kernels->dots && g->m <= ROWS && g->b.row == 1 && g->k >= LEAST_K;
}

/* So few rows that reading b is what takes the time? */
static bool is_skinny(const tsri_gemm *g)
{
    const tsri_tuning_products *t = tsri_gemm_tuning();
    const tsri_gemm_kernels *u = g->kernels;
    const int64_t size = tsri_dtype_size(g->b_type);
    if (g->m > t->skinny_rows || g->b.row != size || g->b.col == size || u->whole_rows) return false;
    if ((double)g->n * (double)g->k * (double)size <= (double)t->skinny_bytes) return false;
    return g->cls != TSRI_GEMM_C64 && g->cls != TSRI_GEMM_C128 &&
           g->k / u->group < t->skinny_packed / u->element / g->m;
}

/* Few enough rows that a column of b is rather read from cache again for each than packed? Not where columns
 * are summed without vectors; and columns that lie about 4096 bytes apart evict each other from an L1
 * cache. */
static bool are_vectors(const tsri_gemm *g)
{
    enum { NEAR = 128 };
    return g->m <= TSRI_GEMM_VECTORS && g->cls == TSRI_GEMM_F32 && g->kernels->dtypes[g->b_type].rows &&
           g->kernels->many_accumulators && (uint64_t)(g->b.col + NEAR) % 4096 >= 2 * NEAR &&
           is_skinny(g);
}

tsr_status tsri_gemm_run(tsri_gemm *g)
{
    if (g->m == 0 || g->n == 0) return TSR_OK;
    if (g->k == 0) {
        store_zeros(g);
        return TSR_OK;
    }
    if ((g->m == 1 || g->n == 1) && g->kernels->dtypes[g->a_type].rows) {
        if (g->m == 1) transpose(g);
        return tsri_gemm_vector(g);
    }
    (void)tsri_gemm_transpose(g);
    if (are_bytes(g)) return tsri_gemm_bytes(g);
    if (are_vectors(g)) {
        transpose(g);
        return tsri_gemm_vector(g);
    }
    if (is_skinny(g)) return tsri_gemm_skinny(g);
    return tsri_gemm_regions(g);
}
