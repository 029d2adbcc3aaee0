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

#include "sanitize.h"
#include "status_int.h"
#include "tessera/memory.h"

/* Slabs (slab.c) ------------------------------------------------------------ */

typedef enum tsri_slab { TSRI_SLAB_TENSORS, TSRI_SLAB_STORAGES, TSRI_SLAB_COUNT } tsri_slab;

enum {
    TSRI_STORAGE_HEADER = 128, /* bytes of a storage slot before its inline data */
    TSRI_INLINE_BYTES   = 128  /* small storages lie in their slot */
};

enum {
    TSRI_SLOTS_KEPT     = 64,       /* free slots a thread keeps of each slab */
    TSRI_THREAD_CLASSES = 32,       /* block classes (pool.c) a thread keeps one of */
    TSRI_FLUSH_BYTES    = 64 << 10  /* how far a thread's count of live bytes may run ahead */
};

/* A free slot's first bytes link it to the next; both headers begin with a
 * pointer, so this never touches the count. */
typedef struct tsri_free_slot { struct tsri_free_slot *next; } tsri_free_slot;

/* What each thread keeps for itself, so that making and releasing a tensor takes
 * no lock and no shared cache line. Counters have one writer, and are read by
 * tsr_memory_get_stats() from any thread. */
typedef struct tsri_cache {
    tsri_free_slot    *free[TSRI_SLAB_COUNT];
    int32_t            kept[TSRI_SLAB_COUNT];
    bool               known;         /* to the list that statistics read */
    int64_t            live;          /* bytes not yet folded into the shared count */
    int64_t            high;          /* the most `live` was since it was folded */
    int64_t            allocations, hits, cached;
    void              *block[TSRI_THREAD_CLASSES];
    struct tsri_cache *next, **link;
    struct tsr_scope  *scope;         /* the innermost that is open */
    bool               mixes;         /* kinds are promoted together (tsr_set_promotion) */
} tsri_cache;

#ifdef TSR_NO_THREADS
extern tsri_cache tsri_mine;
#elif defined(__GNUC__)
/* Small enough for the static block of a library that is loaded late. */
extern _Thread_local tsri_cache tsri_mine __attribute__((tls_model("initial-exec"), visibility("hidden")));
#else
extern _Thread_local tsri_cache tsri_mine;
#endif

/* Under a sanitizer free slots are poisoned, which the fast paths below know nothing of. */
#if defined(TSRI_ASAN) || defined(TSRI_MSAN)
enum { TSRI_FAST_SLOTS = 0 };
#else
enum { TSRI_FAST_SLOTS = 1 };
#endif

void *tsri_slab_take_slowly(tsri_slab slab);
void  tsri_slab_give_slowly(tsri_slab slab, void *slot);

/* A slot whose count reads 0, or NULL. The taker sets the count last. */
static inline void *tsri_slab_take(tsri_slab slab)
{
    tsri_cache *c = &tsri_mine;
    tsri_free_slot *slot = c->free[slab];
    if (!TSRI_FAST_SLOTS || !TSRI_LIKELY(slot != NULL)) return tsri_slab_take_slowly(slab);
    c->free[slab] = slot->next;
    c->kept[slab]--;
    return slot;
}

/* Its count must read 0. */
static inline void tsri_slab_give(tsri_slab slab, void *p)
{
    tsri_cache *c = &tsri_mine;
    tsri_free_slot *slot = p;
    if (!TSRI_FAST_SLOTS || !TSRI_LIKELY(c->known && c->kept[slab] < TSRI_SLOTS_KEPT)) {
        tsri_slab_give_slowly(slab, p);
        return;
    }
    slot->next = c->free[slab];
    c->free[slab] = slot;
    c->kept[slab]++;
}

/* Visits every slot, live or not, with the slab lock held. */
void tsri_slab_walk(tsri_slab slab, void (*visit)(void *context, void *slot), void *context);

/* Gives all chunks back; false if other threads hold slots or blocks in their caches. */
bool tsri_slab_drop_all(void);

/* The lock that guards slot names (storage.c) and walks. */
void tsri_slab_lock(void);
void tsri_slab_unlock(void);

/* Blocks (pool.c) ------------------------------------------------------------
 *
 * Cache-line aligned host memory by size class. *reserved receives the bytes to
 * hand back to tsri_pool_give: what the allocator was asked for. NULL and 0 when
 * there is no room. Giving NULL back does nothing. */
void *tsri_pool_take(size_t bytes, size_t *reserved);
void  tsri_pool_give(void *block, size_t reserved);

/* The same, as scratch memory of one call: the hook is called first, and may refuse. */
void *tsri_pool_scratch(size_t bytes, size_t *reserved);

/* Counting (slab.c) ---------------------------------------------------------- */

void tsri_count_made(int64_t bytes);   /* a storage, and the bytes it adds to the live ones */
void tsri_count_freed(int64_t bytes);
void tsri_count_hit(void);

/* Sums for tsr_memory_get_stats. */
typedef struct tsri_counts { int64_t live, peak, allocations, hits, cached; } tsri_counts;
void tsri_counts_get(tsri_counts *out);
void tsri_counts_reset_peak(void);

/* Bytes the pool's shared lists hold. */
int64_t tsri_pool_cached(void);

/* One block per small class kept by each thread: no lock on the way. */
void **tsri_thread_block(int size_class);
void   tsri_count_cached(int64_t bytes);    /* of this thread's blocks */
void   tsri_pool_give_shared(void *block, int size_class);
size_t tsri_pool_class_bytes(int size_class);

/* Kinds (memory.c) ----------------------------------------------------------- */

/* NULL if there is no such kind. */
const tsr_memory_kind *tsri_memory_kind(tsr_memory kind);

enum { TSRI_MEDIA_ALIGNMENT = 128 };

/* HOST and DEVICE both mean the ordinary memory of a device: gives HOST on the CPU, DEVICE elsewhere. */
static inline tsr_memory tsri_memory_on(tsr_device device, tsr_memory kind)
{
    if (TSRI_LIKELY(device == TSR_CPU)) return kind == TSR_MEMORY_DEVICE ? TSR_MEMORY_HOST : kind;
    return kind == TSR_MEMORY_HOST ? TSR_MEMORY_DEVICE : kind;
}

/* Memory of a kind on the host or of a registered kind. */
tsr_status tsri_memory_take(void **out, size_t *reserved, size_t bytes, tsr_memory kind, const char *origin);
void       tsri_memory_give(void *data, size_t bytes, size_t reserved, tsr_memory kind);

/* Held around fork(), so that the child finds the lists complete (slab.c registers these handlers). */
void tsri_pool_lock(void);
void tsri_pool_unlock(void);
void tsri_kinds_lock(void);
void tsri_kinds_unlock(void);

#endif
