/* memory_int.h - slabs of headers, the block pool, kinds: what storage.c and
 * tensor.c stand on.
 *
 * Tensor and storage headers come from slabs: chunks of equal slots that are
 * never given back while the program runs, so that a report can walk them and
 * find every live header without any list being kept on the way. A slot is live
 * while its count is not 0.
 */
#ifndef TSRI_MEMORY_INT_H
#define TSRI_MEMORY_INT_H

#include "status_int.h"
#include "tessera/memory.h"

/* Slabs (slab.c) ------------------------------------------------------------ */

typedef enum tsri_slab { TSRI_SLAB_TENSORS, TSRI_SLAB_STORAGES, TSRI_SLAB_COUNT } tsri_slab;

enum {
    TSRI_STORAGE_HEADER = 128, /* bytes of a storage slot before its inline data */
    TSRI_INLINE_BYTES   = 128  /* small storages lie in their slot */
};

/* A slot whose count reads 0, or NULL. The taker sets the count last. */
void *tsri_slab_take(tsri_slab slab);
void  tsri_slab_give(tsri_slab slab, void *slot); /* its count must read 0 */

/* Visits every slot, live or not, with the slab lock held. */
void tsri_slab_walk(tsri_slab slab, void (*visit)(void *context, void *slot), void *context);

/* Gives all chunks back; false if other threads hold slots in their caches. */
bool tsri_slab_drop_all(void);

/* The lock that guards slot names (storage.c) and walks. */
void tsri_slab_lock(void);
void tsri_slab_unlock(void);

/* Blocks (pool.c) ------------------------------------------------------------
 *
 * Cache-line aligned host memory by size class. *reserved receives the bytes to
 * hand back to tsri_pool_give. */
void *tsri_pool_take(size_t bytes, size_t *reserved);
void  tsri_pool_give(void *block, size_t reserved);

/* Counting (slab.c) ---------------------------------------------------------- */

void tsri_count_bytes(int64_t bytes);  /* made (positive) or freed (negative) */
void tsri_count_allocation(void);
void tsri_count_hit(void);

/* Sums for tsr_memory_get_stats. */
typedef struct tsri_counts { int64_t live, peak, allocations, hits, cached; } tsri_counts;
void tsri_counts_get(tsri_counts *out);
void tsri_counts_reset_peak(void);

/* Bytes the pool's shared lists hold. */
int64_t tsri_pool_cached(void);

/* One block per small class kept by each thread: no lock on the way. */
enum { TSRI_THREAD_CLASSES = 32 };
void **tsri_thread_block(int size_class);
void   tsri_count_cached(int64_t bytes);    /* of this thread's blocks */
void   tsri_pool_give_shared(void *block, int size_class);
size_t tsri_pool_class_bytes(int size_class);

/* Kinds (memory.c) ----------------------------------------------------------- */

/* NULL if there is no such kind. */
const tsr_memory_kind *tsri_memory_kind(tsr_memory kind);

/* Memory of a kind on the host or of a registered kind. */
tsr_status tsri_memory_take(void **out, size_t *reserved, size_t bytes, tsr_memory kind, const char *origin);
void       tsri_memory_give(void *data, size_t bytes, size_t reserved, tsr_memory kind);

/* Kept whole over fork (slab.c registers these with the system). */
void tsri_pool_lock(void);
void tsri_pool_unlock(void);
void tsri_kinds_lock(void);
void tsri_kinds_unlock(void);

#endif
