/* intel_amx.c - Xeons with AMX, from Sapphire Rapids on. Measured on one of Sapphire Rapids: its memory wants
 * what that of its predecessors does (intel_avx512.c). */
#include "tuning.h"
#include "common.h"

#ifndef TSR_FREESTANDING

const tsri_tuning tsri_tuning_intel_amx = {
    .name = "intel_amx",
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
