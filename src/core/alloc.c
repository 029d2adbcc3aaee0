/* alloc.c - the allocator of all host memory, and the hook that lets tests make it fail. */
#if defined(__linux__) && !defined(TSR_FREESTANDING)
#define _DEFAULT_SOURCE 1
#include <sys/mman.h>
#endif
#include "alloc.h"
#include "atomic.h"
#include "memory_int.h"
#include "tessera/threads.h"

void tsri_wish_huge(void *data, size_t bytes)
{
#if defined(__linux__) && defined(MADV_HUGEPAGE) && !defined(TSR_FREESTANDING)
    if (data) (void)madvise(data, bytes / TSRI_HUGE_PAGE * TSRI_HUGE_PAGE, MADV_HUGEPAGE);
#else
    (void)data; (void)bytes;
#endif
}

#ifdef TSR_NO_MALLOC

static void *default_alloc(void *context, size_t bytes, size_t alignment)
{
    (void)context; (void)bytes; (void)alignment;
    return NULL;
}

static void default_free(void *context, void *data, size_t bytes) { (void)context; (void)data; (void)bytes; }

void tsri_set_huge_least(int64_t bytes) { (void)bytes; }

#else

#include <stdlib.h>

/* Aligned memory; the bytes after the last one asked for are poisoned. */
static void *aligned(size_t alignment, size_t bytes)
{
    const size_t taken = tsri_round_up(bytes, alignment);
    char *data = aligned_alloc(alignment, taken);
    if (data) TSRI_POISON(data + bytes, taken - bytes);
    return data;
}

static int64_t huge_least = TSRI_HUGE_PAGE;

void tsri_set_huge_least(int64_t bytes) { tsri_store_relaxed(&huge_least, bytes); }

static void *default_alloc(void *context, size_t bytes, size_t alignment)
{
    (void)context;
    if (bytes > SIZE_MAX - TSRI_HUGE_PAGE - alignment) return NULL;
    if (bytes >= (uint64_t)tsri_load_relaxed(&huge_least) && alignment <= TSRI_HUGE_PAGE) {
        void *data = aligned(TSRI_HUGE_PAGE, bytes);
        tsri_wish_huge(data, bytes);
        if (data) return data;
    }
    if (alignment <= _Alignof(max_align_t)) return malloc(bytes ? bytes : 1);
    return aligned(alignment, bytes ? bytes : 1);
}

static void default_free(void *context, void *data, size_t bytes)
{
    (void)context; (void)bytes;
    free(data);
}

#endif

static const tsr_allocator defaults = { NULL, default_alloc, default_free };
static tsr_allocator allocator = { NULL, default_alloc, default_free };

tsr_alloc_hook tsri_alloc_hook;
static void *hook_context;

void tsr_set_alloc_hook(tsr_alloc_hook fn, void *context)
{
    hook_context = context;
    tsri_store_release(&tsri_alloc_hook, fn);
}

bool tsri_alloc_ask_hook(size_t bytes)
{
    const tsr_alloc_hook fn = tsri_load_acquire(&tsri_alloc_hook);
    return !fn || fn(hook_context, bytes);
}

void *tsri_alloc(size_t bytes, size_t alignment)
{
    return allocator.alloc(allocator.context, bytes, alignment);
}

void tsri_free(void *data, size_t bytes)
{
    if (data) allocator.free(allocator.context, data, bytes);
}

tsr_status tsr_set_allocator(const tsr_allocator *a)
{
    tsr_memory_stats stats;
    if (!a) a = &defaults;
    TSRI_CHECK(a->alloc && a->free, TSR_ENULL, "set_allocator: a function of the allocator is NULL");
    tsr_memory_get_stats(&stats);
    TSRI_CHECK(stats.live_tensors == 0 && stats.live_storages == 0, TSR_EBUSY,
               "set_allocator: %lld tensors and %lld storages live, and must go back where they came from",
               (long long)stats.live_tensors, (long long)stats.live_storages);
    tsr_threads_shutdown();  /* workers give back what they kept */
    (void)tsr_pool_trim(0);
    TSRI_CHECK(tsri_slab_drop_all(), TSR_EBUSY, "set_allocator: another thread still caches memory");
    allocator = *a;
    return TSR_OK;
}
