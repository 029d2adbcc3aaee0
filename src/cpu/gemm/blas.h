/* blas.h - another library's matrix products, for those who ask for them.
 *
 * A build with TSR_BLAS=NAME, or the environment variable TSR_BLAS=NAME, hands large products of
 * f32, f64, c64 and c128 to the library of that name, if it opens and has CBLAS (OpenBLAS, MKL,
 * BLIS); TSR_BLAS=none in the environment switches it off. Without either, products are ours. */
#ifndef TSRI_BLAS_H
#define TSRI_BLAS_H

#include "core/atomic.h"
#include "gemm.h"

/* Does the product, if a library was asked for that can; else false. Not for calls inside a
 * parallel loop: the library has threads of its own. */
#ifdef TSR_FREESTANDING
static inline bool tsri_gemm_blas(const tsri_gemm *g)
{
    (void)g;
    return false;
}
#else
extern uint8_t tsri_gemm_no_blas;  /* looked for and not found */
bool           tsri_gemm_ask_blas(const tsri_gemm *g);

static inline bool tsri_gemm_blas(const tsri_gemm *g)
{
    return !tsri_load_acquire(&tsri_gemm_no_blas) && tsri_gemm_ask_blas(g);
}
#endif

#endif
