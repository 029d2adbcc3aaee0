/* default.c - processors that nobody has measured: plain loops, which no processor is slow at. */
#include "tuning.h"
#include "common.h"

const tsri_tuning tsri_tuning_default = {
    .name = "default",
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
    .stream_least = INT64_MAX,  /* never */
    .stream_usual = INT64_MAX,
    .stream_most = INT64_MAX,
    .stream_transposed = INT64_MAX,
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
