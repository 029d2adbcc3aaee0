/* blas.c - see blas.h. */
#include "blas.h"

#ifndef TSR_FREESTANDING

#include "core/library.h"
#include "core/env.h"
#include "core/lock.h"
#include "core/mem.h"
#include "tessera/threads.h"

enum { WORTH = 64 * 64 * 64, ROW_MAJOR = 101, AS_IS = 111, TRANSPOSED = 112 };

/* alpha and beta are values for real elements, and addresses for complex ones. */
typedef void (*sgemm_fn)(int order, int ta, int tb, int m, int n, int k, float alpha, const void *a, int lda,
                         const void *b, int ldb, float beta, void *z, int ldz);
typedef void (*dgemm_fn)(int order, int ta, int tb, int m, int n, int k, double alpha, const void *a, int lda,
                         const void *b, int ldb, double beta, void *z, int ldz);
typedef void (*cgemm_fn)(int order, int ta, int tb, int m, int n, int k, const void *alpha, const void *a,
                         int lda, const void *b, int ldb, const void *beta, void *z, int ldz);

static struct {
    bool     found;
    sgemm_fn s;
    dgemm_fn d;
    cgemm_fn c, z;
    void   (*set_threads)(int n);
} blas;
static tsri_once once = TSRI_ONCE_INIT;
uint8_t tsri_gemm_no_blas;

static bool find_function(void *library, const char *symbol, void *function)
{
    void (*const f)(void) = tsri_library_find(library, symbol);
    if (f) memcpy(function, &f, sizeof f);
    return f != NULL;
}

static void find_library(void)
{
#ifdef TSRI_BLAS_NAME
    const char *name = TSRI_BLAS_NAME;
#else
    const char *name = NULL;
#endif
    const char *asked = tsri_env("TSR_BLAS");
    if (asked && *asked) name = asked;
    if (!name || tsri_streq(name, "none")) return;
    void *library = tsri_library_open(1, &name);
    if (!library) return;
    blas.found =
        find_function(library, "cblas_sgemm", &blas.s) && find_function(library, "cblas_dgemm", &blas.d) &&
        find_function(library, "cblas_cgemm", &blas.c) && find_function(library, "cblas_zgemm", &blas.z);
    (void)find_function(library, "openblas_set_num_threads", &blas.set_threads);
}

static void find(void)
{
    find_library();
    tsri_store_release(&tsri_gemm_no_blas, !blas.found);
}

/* A matrix as CBLAS takes it: rows, or columns, of unit stride. */
typedef struct layout {
    int transpose, ld;
} layout;

static bool find_layout(layout *out, tsri_gemm_matrix x, int64_t rows, int64_t cols, int64_t size)
{
    const bool by_rows = x.col == size || cols == 1;
    const int64_t step = by_rows ? x.row : x.col, length = by_rows ? cols : rows,
                  count = by_rows ? rows : cols;
    if (!by_rows && x.row != size && rows != 1) return false;
    const int64_t ld = count == 1 ? length : step / size;
    if (step % size != 0 || ld < length || ld > INT32_MAX) return false;
    *out = (layout){ by_rows ? AS_IS : TRANSPOSED, (int)ld };
    return true;
}

static bool fits(const tsri_gemm *g)
{
    return g->a_type == g->b_type && g->a_type == g->z_type && g->m <= INT32_MAX && g->n <= INT32_MAX &&
           g->k <= INT32_MAX && g->m > 1 && g->n > 1 && (double)g->m * (double)g->n * (double)g->k >= WORTH &&
           !g->c.data;
}

static bool multiply(const tsri_gemm *g, const layout *a, const layout *b, const layout *z)
{
    const int m = (int)g->m, n = (int)g->n, k = (int)g->k;
    const tsr_c128 alpha = g->scale.plain ? (tsr_c128){ 1, 0 } : g->scale.alpha, zero = { 0, 0 };
    const tsr_c64 short_alpha = { (float)alpha.re, (float)alpha.im }, short_zero = { 0, 0 };
    if (blas.set_threads) blas.set_threads(tsr_threads());
    switch (g->a_type) {
    case TSR_F32:
        blas.s(ROW_MAJOR, a->transpose, b->transpose, m, n, k, (float)alpha.re, g->a.data, a->ld, g->b.data,
               b->ld, 0, g->z.data, z->ld);
        return true;
    case TSR_F64:
        blas.d(ROW_MAJOR, a->transpose, b->transpose, m, n, k, alpha.re, g->a.data, a->ld, g->b.data, b->ld,
               0, g->z.data, z->ld);
        return true;
    case TSR_C64:
        blas.c(ROW_MAJOR, a->transpose, b->transpose, m, n, k, &short_alpha, g->a.data, a->ld, g->b.data,
               b->ld, &short_zero, g->z.data, z->ld);
        return true;
    case TSR_C128:
        blas.z(ROW_MAJOR, a->transpose, b->transpose, m, n, k, &alpha, g->a.data, a->ld, g->b.data, b->ld,
               &zero, g->z.data, z->ld);
        return true;
    default: return false;
    }
}

bool tsri_gemm_ask_blas(const tsri_gemm *g)
{
    layout a, b, z;
    if (!tsri_libraries_used()) return false;
    tsri_once_run(&once, find);
    if (!blas.found || !fits(g)) return false;
    const int64_t size = (int64_t)tsr_dtype_size(g->a_type);
    return find_layout(&a, g->a, g->m, g->k, size) && find_layout(&b, g->b, g->k, g->n, size) &&
           find_layout(&z, g->z, g->m, g->n, size) && z.transpose == AS_IS && multiply(g, &a, &b, &z);
}

#endif
