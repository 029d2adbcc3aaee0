/* tuning.h - what suits one family of processors: block sizes, prefetch distances, thresholds and numbers of
 * streams.
 *
 * Each family has one file here, and choose.c says which family a machine is of. Kernels and those that call
 * them read the fields once per call. Groups of fields that no family has measured for itself have their
 * values in common.h; a family that has writes them out in its own file.
 *
 * What belongs elsewhere:
 *   - what a kernel is compiled for (vectors, rows and columns of a micro-tile, unrolled loops, buffers on
 *     the stack) stays beside the kernel: it belongs to the instruction set;
 *   - what decides the order of sums (TSRI_GEMM_BLOCK, TSRI_CONV_BLOCK, leaves and strips of reductions,
 *     panels of factorisations, L2_BYTES of nn/rows_run.c) or which library computes them (WORTH of
 *     gemm/blas.c) stays beside the sums, so that no family changes the bits of a result;
 *   - what an instruction set or the system fixes (cache lines, pages) is a constant.
 *
 * Tests choose a family by name:
 *
 *     TSR_TUNING=default | intel | amd_zen      unknown words: the machine's own
 *
 * Results do not depend on it, except for the order in which sums are added
 * (docs/concepts/reproducibility.md). docs/howto/add-a-processor.md says how to add a family. */
#ifndef TSRI_CPU_TUNING_H
#define TSRI_CPU_TUNING_H

#include "cpu/isa.h"

/* Products of matrices (gemm/). */
typedef struct tsri_tuning_products {
    int64_t small_work;      /* multiplications of a product below which it is computed at once, unpacked */
    int64_t small_m;         /* rows up to which packing b does not pay */
    int64_t large_m;         /* rows from which it does, however small b is */
    int64_t small_n;         /* columns up to which packing a does not pay */
    int64_t few_rows;        /* rows up to which reading b is what takes the time (few.c), */
    int64_t few_bytes;       /* if it is larger than this */
    int64_t short_k;         /* indices of k up to which a micro-tile is faster than z arrives */
    int64_t cached_bytes;    /* an operand of up to this size is read as fast unpacked */
    int64_t chunk;           /* rows or columns of a chunk */
    int64_t cached_rows;     /* rows of a chunk whose sums stay in cache */
    int64_t few_threads;     /* threads up to which a chunk is one tile wide and one block of k deep */
    int64_t chunk_blocks;    /* blocks of k of a chunk, for more threads */
    int64_t tile_rows;       /* rows of a tile */
    int64_t region_m;        /* rows up to which z is cut into regions (regions.c) */
    int64_t region_n;        /* columns for each thread from which it is */
    int64_t pack_cost, read_cost, region_cost; /* of packing an element of b, reading one of a, and beginning
                                a region: in multiplications that take as long */
    int64_t stream_ahead, stream_bytes; /* how much of a is prefetched, and how far ahead, while z is written
                                with non-temporal stores */
    int64_t vector_ahead;    /* elements by which rows are prefetched that a vector is multiplied with; 0:
                                not */
} tsri_tuning_products;

/* Convolutions (conv/). */
typedef struct tsri_tuning_conv {
    int64_t kernels;         /* whose weights are packed at a time, of each group */
    int64_t places;          /* of a unit of a convolution that is a product of matrices, */
    int64_t rows;            /* and rows of its weights that stay in a cache over all panels of columns */
    int64_t copy_most;       /* bytes of a padded copy, at most */
    int64_t tiles_copy;      /* bytes of a copy for tiles, if boxes can be cut so small, */
    int64_t windows_copy;    /* and for windows */
    int64_t chunk;           /* indices of k, at most, whose weights stay in the L2 cache */
    int64_t band;            /* places of a band, or two rows of them if that is more */
    int64_t packed;          /* indices of k that are packed at a time, unless a channel has more */
    int64_t unpadded;        /* bytes of rows that are summed without a copy */
    int64_t ahead;           /* bytes of the input that are prefetched at a time */
} tsri_tuning_conv;

/* Rows that indices name (index.c). Their sources may be anywhere: the hardware prefetcher finds none. */
typedef struct tsri_tuning_indexing {
    int64_t short_row;       /* bytes below which a row is short */
    int64_t rows_ahead;      /* rows by which the start of a row is prefetched, */
    int64_t start;           /* and bytes of that start: then the hardware prefetcher follows */
    int64_t short_ahead;     /* bytes by which short rows are prefetched, */
    int64_t short_most;      /* but no more rows than this */
    int64_t along;           /* bytes of a later row that are prefetched while a row is processed */
    int64_t line_ahead;      /* bytes by which lines of the row in process are prefetched */
    int64_t alternated;      /* bytes of several rows that are prefetched alternately: the L1 cache holds
                                them */
} tsri_tuning_indexing;

/* Copies that are not contiguous (copy.c). */
typedef struct tsri_tuning_copies {
    int64_t short_run;       /* runs of at most so many bytes are prefetched */
    int64_t span;            /* a source that spans more bytes is prefetched, */
    int64_t list_ahead;      /* by so many bytes if its offsets are listed */
    int64_t repeated;        /* bytes of a repeated row that stay in the L1 cache */
    int64_t long_run;        /* bytes from which on memcpy is as fast */
    int64_t long_tile;       /* bytes of a result from which on shorter runs are copied a vector at a time */
    int64_t padded;          /* bytes of a result from which on short rows are padded one after the other */
} tsri_tuning_copies;

/* What works on lanes: nn/, fft/, attention.c, order.c. */
typedef struct tsri_tuning_lanes {
    int64_t row_tile;        /* bytes of lanes in a tile that stay in the L1 cache (nn/) */
    int64_t next_row;        /* bytes of a row, at most, for the next one to be prefetched */
    int64_t fft_packed;      /* bytes of scratch of a group of lanes: with unit stride, */
    int64_t fft_strided;     /* and without */
    int64_t attention_step;  /* bytes from row to row of v up to which packing it does not pay */
    int64_t sort_shared;     /* elements from which on threads share the sorting of one lane */
} tsri_tuning_lanes;

typedef struct tsri_tuning {
    const char *name;

    int64_t thread_work;     /* of a part of a loop that is worth waking a thread for (core/threads_int.h) */

    /* Memory that is read in order. The hardware prefetcher stops at the end of a page. */
    bool    reads_apart;     /* a long run is read at several places alternately, each a stream of its own,
                                and two runs at once */
    int64_t run_ahead;       /* bytes by which runs are prefetched that are reduced; 0: they are not, here and
                                below */
    int64_t column_ahead;    /* the same for columns that are reduced, */
    int64_t copy_ahead;      /* for operands of copies and elementwise ops whose result is not kept, */
    int64_t scan_ahead;      /* for the line of a scan, */
    int64_t row_ahead;       /* for rows that are written with borders, and split into two, */
    int64_t pool_ahead;      /* and for the input of pooling */

    /* Results that stay in the caches: their lines may be prefetched before they are written. */
    int64_t result_least;    /* bytes of a result from which on they are, */
    int64_t result_ahead;    /* by so many bytes */

    /* Results that do not: non-temporal stores. */
    int64_t stream_least, stream_usual, stream_most;  /* bytes that an op touches from which on they are
                                used: limits of what is computed from the last level cache, and what is used
                                if its size is not known */
    int64_t stream_transposed; /* the same for a transposed result: its lines are written in pieces, and
                                caches evict them before they are complete */
    int32_t stream_bytes;    /* of a store, at most */
    int32_t stream_pages;    /* pages that are processed alternately; 1: memory is processed in order */

    /* A core's own cache: limits of the bytes that stay in it, and what is used if its size is not known. */
    int64_t resident_least, resident_usual, resident_most;

    tsri_tuning_products products;
    tsri_tuning_conv     conv;
    tsri_tuning_indexing indexing;
    tsri_tuning_copies   copies;
    tsri_tuning_lanes    lanes;
} tsri_tuning;

extern const tsri_tuning tsri_tuning_default, tsri_tuning_intel, tsri_tuning_amd_zen;

/* The family of a processor; `wish` is the value of TSR_TUNING, or NULL. */
const tsri_tuning *tsri_tuning_find(tsri_machine machine, const char *wish);

/* The one in use. For kernels, which run when it is chosen; others call tsri_tuning_get() (kernels.h). */
extern const tsri_tuning *tsri_tuning_used;

#endif
