/* intel_avx2.c - Intel's without AVX-512: desktops and laptops, and servers up to Broadwell.
 *
 * None is measured. Memory is read in order, as no processor is slow at that (default.c). Two channels and
 * short latencies are nearer to amd_zen.c than to large Xeons: large results are written with non-temporal
 * stores, from the same sizes on. Products are those of intel_avx512.c. */
#include "tuning.h"
#include "common.h"

#ifndef TSR_FREESTANDING

const tsri_tuning tsri_tuning_intel_avx2 = {
    .name = "intel_avx2",
    TSRI_COMMON_IN_ORDER,
    TSRI_COMMON_STREAMS,
    .products = TSRI_COMMON_PRODUCTS,
    TSRI_COMMON_ROWS
};

#endif
