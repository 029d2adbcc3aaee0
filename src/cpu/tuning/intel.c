/* intel.c - Xeons with AVX-512, with AMX or without; measured on Ice Lake and Sapphire Rapids. Desktops and
 * laptops, which are not measured yet, have the same values.
 *
 * Memory has many channels and long latencies: a core reaches its share only if many accesses to different
 * banks are in flight. So there are several streams, and lines beyond a page are prefetched. */
#include "tuning.h"
#include "common.h"

#ifndef TSR_FREESTANDING

const tsri_tuning tsri_tuning_intel = {
    .name = "intel",
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
};

#endif
