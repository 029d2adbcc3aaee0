/* alloc.h - where the library's own memory comes from. */
#ifndef TSRI_ALLOC_H
#define TSRI_ALLOC_H

#include "atomic.h"
#include "status_int.h"
#include "tessera/memory.h"

extern tsr_alloc_hook tsri_alloc_hook;
bool tsri_alloc_ask_hook(size_t bytes);

/* May this allocation be made? Calls the hook; true if there is none. Called once
 * for every tensor header, every storage with its bytes, and every scratch
 * block, whether or not it comes from a cache. */
static inline bool tsri_alloc_allowed(size_t bytes)
{
    return TSRI_LIKELY(!tsri_load_acquire(&tsri_alloc_hook)) || tsri_alloc_ask_hook(bytes);
}

/* Straight from the allocator; NULL when there is no room. bytes may be 0. */
void *tsri_alloc(size_t bytes, size_t alignment);
void  tsri_free(void *data, size_t bytes);

/* Asks the system for huge pages for a block that begins on one, as far as it fills whole ones:
 * fewer misses in the TLB, fewer page faults. The system may refuse. The library's allocator
 * calls this for large blocks. */
void tsri_wish_huge(void *data, size_t bytes);

/* Sets how large such blocks are at least (cpu/tuning): a huge page or more. */
void tsri_set_huge_least(int64_t bytes);

/* Scratch memory for the length of a call, aligned to a cache line. NULL, with
 * nothing recorded, when there is none. */
static inline void *tsri_scratch(size_t bytes)
{
    return tsri_alloc_allowed(bytes) ? tsri_alloc(bytes, 64) : NULL;
}

enum { TSRI_CACHE_LINE = 64, TSRI_PAGE = 4096, TSRI_HUGE_PAGE = 2 << 20 };

static inline size_t tsri_round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

#endif
