/* common.h - values of tuning.h that several families share. Those that no family has measured for itself
 * were found on Ice Lake and Sapphire Rapids. */
#ifndef TSRI_CPU_TUNING_COMMON_H
#define TSRI_CPU_TUNING_COMMON_H

#define TSRI_COMMON_PRODUCTS                                                                        \
    {                                                                                               \
        .small_work = 1 << 22, .small_m = 64, .large_m = 512, .small_n = 192, .skinny_rows = 64,    \
        .short_k = 64, .cached_bytes = 256 << 10, .chunk = 2048, .cached_rows = 512,                \
        .skinny_bytes = 1 << 20, .skinny_packed = 4 << 20, .skinny_panel = 16 << 10,                \
        .chunk_threads = 4, .chunk_blocks = 4, .tile_rows = 256, .region_m = 512, .region_n = 512,  \
        .pack_cost = 24, .read_cost = 6, .region_cost = 1 << 15, .stream_ahead = 2048,              \
        .stream_bytes = 1024, .vector_ahead = 128                                                   \
    }

#define TSRI_COMMON_CONV                                                                            \
    {                                                                                               \
        .kernels = 512, .places = 128, .rows = 64, .copy_most = 4 << 20, .tiles_copy = 300 << 10,   \
        .windows_copy = 340 << 10, .chunk = 640, .band = 224, .packed = 144, .unpadded = 16 << 10,  \
        .ahead = 96 << 10                                                                           \
    }

#define TSRI_COMMON_INDEXING                                                                        \
    {                                                                                               \
        .short_row = 256, .rows_ahead = 2, .start = 512, .short_ahead = 4096, .short_most = 16,     \
        .along = 1024, .line_ahead = 2048, .alternated = 32 << 10                                   \
    }

#define TSRI_COMMON_COPIES                                                                          \
    {                                                                                               \
        .short_run = 1024, .span = 1 << 20, .list_ahead = 192, .repeated = 16 << 10,                \
        .long_run = 4096, .long_tile = 16 << 10, .padded = 1 << 20, .staged_run = 8 << 10,          \
        .staged_cast = 8 << 10, .staged_column = 512                                                \
    }

#define TSRI_COMMON_LANES                                                                           \
    {                                                                                               \
        .row_tile = 32 << 10, .next_row = 256 << 10, .fft_packed = 256 << 10,                       \
        .fft_strided = 2 << 20, .attention_step = 1024,                                              \
        .sort_shared = 128 << 10                                                                    \
    }

#define TSRI_COMMON_SYSTEM { .spin_ns = 8000, .huge_least = 2 << 20 }

/* Rows in which no family differs. */
#define TSRI_COMMON_ROWS                                                                            \
    .thread_work = 256 << 10, .copy_rows = 2, .copy_alternated = 96 << 10,                          \
    .resident_least = 1 << 17, .resident_usual = 1 << 18, .resident_most = 1 << 20,                 \
    .conv = TSRI_COMMON_CONV, .indexing = TSRI_COMMON_INDEXING, .copies = TSRI_COMMON_COPIES,       \
    .lanes = TSRI_COMMON_LANES, .system = TSRI_COMMON_SYSTEM

/* Memory in order, without prefetches: no processor is slow at that. */
#define TSRI_COMMON_IN_ORDER                                                                        \
    .reads_apart = false, .run_ahead = 0, .column_ahead = 0, .copy_ahead = 0, .scan_ahead = 0,      \
    .row_ahead = 0, .pool_ahead = 0, .result_least = INT64_MAX, .result_ahead = 0,                  \
    .stream_bytes = 32, .stream_pages = 1

/* Many channels and long latencies: several streams, and prefetches beyond a page. */
#define TSRI_COMMON_XEON                                                                            \
    .reads_apart = true, .run_ahead = 1024, .column_ahead = 1024, .copy_ahead = 4096,               \
    .scan_ahead = 4096, .row_ahead = 4096, .pool_ahead = 8192, .result_least = 16 << 10,            \
    .result_ahead = 1024, .stream_bytes = 64, .stream_pages = 4

/* Non-temporal stores for results that leave the caches. */
#define TSRI_COMMON_STREAMS                                                                         \
    .stream_least = 8 << 20, .stream_usual = 32 << 20, .stream_most = 64 << 20,                     \
    .stream_transposed = 6 << 20

#endif
