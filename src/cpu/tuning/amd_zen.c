/* amd_zen.c - Zen 2 to 5. Measured on an EPYC of Zen 4; column_ahead on one of Zen 5.
 *
 * One stream at a time reaches what a core can read or write; several cost a third to a half. The hardware
 * prefetcher needs no help with one, but with the rows of columns. Stores of 64 bytes are slower than two of
 * 32. */
#include "tuning.h"
#include "common.h"

#ifndef TSR_FREESTANDING

const tsri_tuning tsri_tuning_amd_zen = {
    .name = "amd_zen",
    .reads_apart = false,
    .run_ahead = 0,
    .column_ahead = 1024,
    .copy_ahead = 0,
    .scan_ahead = 4096,
    .row_ahead = 4096,
    .pool_ahead = 8192,
    .result_least = INT64_MAX,
    .result_ahead = 0,
    TSRI_COMMON_STREAMS,
    .stream_bytes = 32,
    .stream_pages = 1,
    .products = {
        .small_work = 1 << 22, .small_m = 64, .large_m = 512, .small_n = 192, .skinny_rows = 64,
        .skinny_bytes = 1 << 20, .skinny_packed = 4 << 20, .skinny_panel = 16 << 10, .short_k = 64,
        .cached_bytes = 256 << 10, .chunk = 2048, .cached_rows = 512,
        .chunk_threads = 4, .chunk_blocks = 4, .tile_rows = 256, .region_m = 512, .region_n = 512,
        .pack_cost = 24, .read_cost = 6, .region_cost = 1 << 15, .stream_ahead = 2048, .stream_bytes = 1024,
        .vector_ahead = 0
    },
    TSRI_COMMON_ROWS
};

#endif
