/* arena.c - an allocator over a block of the caller's.
 *
 * Free blocks form a list sorted by address; a freed block merges with the
 * neighbours it touches. Every block, free or used, begins with its size, and
 * is a multiple of the grain. */
#include "alloc.h"

enum { GRAIN = 64 };  /* every address handed out is at least cache-line aligned */

typedef struct hole {
    size_t       size;  /* with this header */
    struct hole *next;
} hole;

/* A used block: its size and where it begins lie just before the data. */
typedef struct tag { unsigned char *begin; size_t size; } tag;

_Static_assert(sizeof(tag) <= GRAIN && sizeof(hole) <= GRAIN, "headers fit the grain");

tsr_status tsr_arena_init(tsr_arena *arena, void *block, size_t bytes)
{
    TSRI_CHECK(arena, TSR_ENULL, "arena_init: arena is NULL");
    TSRI_CHECK(block, TSR_ENULL, "arena_init: block is NULL");
    const size_t skip = (size_t)(0 - (uintptr_t)block) % GRAIN;
    TSRI_CHECK(bytes >= skip + 2 * GRAIN, TSR_EINVAL, "arena_init: %zu bytes are too few; %zu at least",
               bytes, skip + 2 * GRAIN);
    arena->base = (unsigned char *)block + skip;
    arena->size = (bytes - skip) / GRAIN * GRAIN;
    arena->used = arena->peak = 0;
    hole *first = (hole *)(void *)arena->base;
    first->size = arena->size;
    first->next = NULL;
    arena->first = first;
    return TSR_OK;
}

/* Bytes of a hole that begins at h needed for `bytes` aligned data and its tag. */
static size_t needed(const hole *h, size_t bytes, size_t alignment)
{
    const size_t pad = (size_t)(0 - ((uintptr_t)h + GRAIN)) % alignment;
    return GRAIN + pad + tsri_round_up(bytes, GRAIN);
}

void *tsr_arena_alloc(void *context, size_t bytes, size_t alignment)
{
    tsr_arena *arena = context;
    if (!arena || bytes > arena->size || alignment > arena->size) return NULL;
    if (bytes == 0) bytes = 1;
    if (alignment < GRAIN) alignment = GRAIN;
    for (hole *h = arena->first, *before = NULL; h; before = h, h = h->next) {
        const size_t size = needed(h, bytes, alignment);
        if (size > h->size) continue;
        hole *rest = h->next;
        size_t taken = h->size;
        if (h->size - size >= GRAIN) {  /* cut the tail off as a hole of its own */
            rest = (hole *)(void *)((unsigned char *)h + size);
            rest->size = h->size - size;
            rest->next = h->next;
            taken = size;
        }
        if (before) before->next = rest;
        else        arena->first = rest;
        arena->used += taken;
        if (arena->used > arena->peak) arena->peak = arena->used;
        unsigned char *data = (unsigned char *)h + size - tsri_round_up(bytes, GRAIN);
        *(tag *)(void *)(data - GRAIN) = (tag){ (unsigned char *)h, taken };
        return data;
    }
    return NULL;
}

/* Joins h with the hole after it where they touch. */
static void join_next(hole *h)
{
    if (!h->next || (unsigned char *)h + h->size != (unsigned char *)h->next) return;
    h->size += h->next->size;
    h->next = h->next->next;
}

void tsr_arena_free(void *context, void *data, size_t bytes)
{
    tsr_arena *arena = context;
    (void)bytes;
    if (!arena || !data) return;
    const tag t = *(tag *)(void *)((unsigned char *)data - GRAIN);
    hole *h = (hole *)(void *)t.begin, *before = NULL;
    arena->used -= t.size;
    for (hole *next = arena->first; next && next < h; next = next->next) before = next;
    h->size = t.size;
    h->next = before ? before->next : arena->first;
    if (before) before->next = h;
    else        arena->first = h;
    join_next(h);
    if (before) join_next(before);
}
