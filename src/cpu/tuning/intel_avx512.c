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
    .thread_work = 256 << 10,
    .reads_apart = true,
    .run_ahead = 1024,
    .column_ahead = 1024,
    .copy_ahead = 4096,
    .scan_ahead = 4096,
    .row_ahead = 4096,
    .pool_ahead = 8192,
    .result_least = 16 << 10,
    .result_ahead = 1024,
    .stream_least = 8 << 20,
    .stream_usual = 32 << 20,
    .stream_most = 64 << 20,
    .stream_transposed = 6 << 20,
    .stream_bytes = 64,
    .stream_pages = 4,
    .resident_least = 1 << 17,
    .resident_usual = 1 << 18,
    .resident_most = 1 << 20,
    .products = TSRI_COMMON_PRODUCTS,
    .conv = TSRI_COMMON_CONV,
    .indexing = TSRI_COMMON_INDEXING,
    .copies = TSRI_COMMON_COPIES,
    .lanes = TSRI_COMMON_LANES,
    .system = TSRI_COMMON_SYSTEM,
};

#endif
