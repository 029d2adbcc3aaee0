/* intel_avx512.c - Intel's with AVX-512 and without AMX: Xeons before Sapphire Rapids, and some of the
 * desktops and laptops before Alder Lake. Measured on a Xeon of Ice Lake.
 *
 * Memory has many channels and long latencies: a core reaches its share only if many accesses to different
 * banks are in flight. So there are several streams, and lines beyond a page are prefetched. */
#include "tuning.h"
#include "common.h"

#ifndef TSR_FREESTANDING

const tsri_tuning tsri_tuning_intel_avx512 = {
    .name = "intel_avx512",
    TSRI_COMMON_XEON,
    TSRI_COMMON_STREAMS,
    .products = TSRI_COMMON_PRODUCTS,
    TSRI_COMMON_ROWS
};

#endif
