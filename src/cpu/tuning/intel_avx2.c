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
    .thread_work = 256 << 10,
    .reads_apart = false,
    .run_ahead = 0,
    .column_ahead = 0,
    .copy_ahead = 0,
    .scan_ahead = 0,
    .row_ahead = 0,
    .pool_ahead = 0,
    .result_least = INT64_MAX,
    .result_ahead = 0,
    .stream_least = 8 << 20,
    .stream_usual = 32 << 20,
    .stream_most = 64 << 20,
    .stream_transposed = 6 << 20,
    .stream_bytes = 32,
    .stream_pages = 1,
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
