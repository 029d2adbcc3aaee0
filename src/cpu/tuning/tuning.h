/* tuning.h - what suits one family of processors: distances, thresholds and numbers of streams.
 *
 * Each family has one file here, and choose.c says which family a machine is of. Kernels and those that call
 * them read the fields once per call. Sizes that a micro-kernel is compiled for stay beside it. Tests choose
 * a family by name:
 *
 *     TSR_TUNING=default | intel_server | intel_client | amd_zen      unknown words: the machine's own
 *
 * Results do not depend on it, except for the order in which sums are added
 * (docs/concepts/reproducibility.md). docs/howto/add-a-processor.md says how to add a family. */
#ifndef TSRI_CPU_TUNING_H
#define TSRI_CPU_TUNING_H

#include "cpu/isa.h"

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
} tsri_tuning;

extern const tsri_tuning tsri_tuning_default, tsri_tuning_intel_server, tsri_tuning_intel_client,
    tsri_tuning_amd_zen;

/* The family of a processor; `wish` is the value of TSR_TUNING, or NULL. */
const tsri_tuning *tsri_tuning_find(tsri_machine machine, const char *wish);

/* The one in use. For kernels, which run when it is chosen; others call tsri_tuning_get() (kernels.h). */
extern const tsri_tuning *tsri_tuning_used;

#endif
