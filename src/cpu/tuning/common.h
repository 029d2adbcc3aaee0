/* common.h - values of tuning.h that no family has measured for itself. Found on Ice Lake and Sapphire
 * Rapids. */
#ifndef TSRI_CPU_TUNING_COMMON_H
#define TSRI_CPU_TUNING_COMMON_H

#define TSRI_COMMON_PRODUCTS                                                                        \
    {                                                                                               \
        .small_work = 1 << 22, .small_m = 64, .large_m = 512, .small_n = 192, .skinny_rows = 64,    \
        .short_k = 64, .cached_bytes = 256 << 10, .chunk = 2048, .cached_rows = 512,                \
        .skinny_bytes = 1 << 20, .chunk_threads = 4,                                                \
        .chunk_blocks = 4, .tile_rows = 256, .region_m = 512, .region_n = 512, .pack_cost = 24,     \
        .read_cost = 6, .region_cost = 1 << 15, .stream_ahead = 2048, .stream_bytes = 1024,         \
        .vector_ahead = 128                                                                         \
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
        .long_run = 4096, .long_tile = 16 << 10, .padded = 1 << 20                                  \
    }

#define TSRI_COMMON_LANES                                                                           \
    {                                                                                               \
        .row_tile = 32 << 10, .next_row = 256 << 10, .fft_packed = 256 << 10,                       \
        .fft_strided = 2 << 20, .attention_step = 1024,                                              \
        .sort_shared = 128 << 10                                                                    \
    }

#define TSRI_COMMON_SYSTEM { .spin_ns = 8000, .huge_least = 2 << 20 }

#endif
