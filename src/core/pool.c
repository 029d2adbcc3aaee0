/* pool.c - freed host blocks, kept by size class while their pages are warm.
 *
 * Four classes to each doubling, so that a block is at most a quarter larger
 * than asked for. Blocks of the small classes are first kept by the thread that
 * freed them, one of each class, without a lock; all others hang in shared
 * lists, and in one list by age from which the limit evicts. A block is kept if
 * its size is that of a class, whether or not the pool was on when it was made. */
#include "alloc.h"
#include "atomic.h"
#include "env.h"
#include "lock.h"
#include "mem.h"
#include "memory_int.h"
#include "posix.h"
#include "sanitize.h"

#if !defined(TSR_FREESTANDING)
#include <stdlib.h>
#endif
#if defined(TSRI_POSIX)
#include <unistd.h>
#endif

enum { LEAST_SHIFT = 8, CLASSES = 160 };

/* Lies in the freed block itself. */
typedef struct block {
    struct block *next, *prev;    /* in its class, newest first */
    struct block *younger, *older;
    int           size_class;
} block;

static tsri_mutex lock = TSRI_MUTEX_INIT;
static struct {
    block  *first[CLASSES];
    block  *youngest, *oldest;
    size_t  cached, limit;
    bool    on, ready;
} pool;

void tsri_pool_lock(void) { tsri_lock(&lock); }
void tsri_pool_unlock(void) { tsri_unlock(&lock); }

/* 256, 320, 384, 448, 512, 640, ... */
size_t tsri_pool_class_bytes(int size_class)
{
    const int octave = size_class / 4, quarter = size_class % 4;
    return ((size_t)4 + (size_t)quarter) << (octave + LEAST_SHIFT - 2);
}

/* The smallest class that holds the bytes, or -1 if none does. */
static int class_of(size_t bytes)
{
    if (bytes <= (size_t)1 << LEAST_SHIFT) return 0;
    if (bytes > SIZE_MAX / 4) return -1;
    const int top =
        (int)(sizeof(unsigned long long) * 8) - 1 - __builtin_clzll((unsigned long long)(bytes - 1));
    const int c = (top - LEAST_SHIFT) * 4 + (int)((bytes - 1) >> (top - 2) & 3) + 1;
    return c < CLASSES ? c : -1;
}

static size_t default_limit(void)
{
    size_t limit = (size_t)1 << 30;
#if defined(_SC_PHYS_PAGES) && !defined(TSR_FREESTANDING)
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page > 0 && (size_t)pages / 8 * (size_t)page < limit)
        limit = (size_t)pages / 8 * (size_t)page;
#endif
    return limit;
}

/* The start: on, unless the address sanitizer watches or TSR_POOL says otherwise. */
static void start(void)
{
    pool.limit = default_limit();
    pool.on = true;
#if defined(TSRI_ASAN) || defined(TSR_FREESTANDING)
    pool.on = false;
#endif
#ifndef TSR_FREESTANDING
    const char *wish = tsri_env("TSR_POOL");
    if (!wish || !*wish) return;
    if (tsri_streq(wish, "off")) pool.on = false;
    char *end;
    const unsigned long long mib = strtoull(wish, &end, 10);
    if (*wish < '0' || *wish > '9' || *end || mib > SIZE_MAX >> 20) return; /* no number, or none that fits */
    pool.on = true;
    pool.limit = (size_t)mib << 20;
#endif
}

/* The lock is held. `ready` is stored last, with release: readers of it read the rest as set. */
static void set_up(void)
{
    if (pool.ready) return;
    start();
    tsri_store_release(&pool.ready, true);
}

static bool is_on(void)
{
    if (!tsri_load_acquire(&pool.ready)) {
        tsri_lock(&lock);
        set_up();
        tsri_unlock(&lock);
    }
    return tsri_load_relaxed(&pool.on);
}

/* Lists; the lock is held ---------------------------------------------------- */

static TSRI_SEES_POISONED void link_block(block *b, int size_class)
{
    b->size_class = size_class;
    b->prev = NULL;
    b->next = pool.first[size_class];
    if (b->next) b->next->prev = b;
    pool.first[size_class] = b;
    b->younger = NULL;
    b->older = pool.youngest;
    if (b->older) b->older->younger = b;
    else          pool.oldest = b;
    pool.youngest = b;
    tsri_store_relaxed(&pool.cached, pool.cached + tsri_pool_class_bytes(size_class));
    TSRI_KEPT(b);
}

static TSRI_SEES_POISONED void unlink_block(block *b)
{
    if (b->prev) b->prev->next = b->next;
    else         pool.first[b->size_class] = b->next;
    if (b->next) b->next->prev = b->prev;
    if (b->younger) b->younger->older = b->older;
    else            pool.youngest = b->older;
    if (b->older) b->older->younger = b->younger;
    else          pool.oldest = b->younger;
    tsri_store_relaxed(&pool.cached, pool.cached - tsri_pool_class_bytes(b->size_class));
}

/* To the allocator. */
static void free_block(void *p, size_t bytes)
{
    TSRI_UNPOISON(p, bytes);
    tsri_free(p, bytes);
}

static TSRI_SEES_POISONED size_t bytes_of(const block *b) { return tsri_pool_class_bytes(b->size_class); }

/* Frees the oldest blocks until `keep` bytes are cached; returns bytes freed. */
static size_t evict(size_t keep)
{
    size_t freed = 0;
    while (pool.cached > keep) {
        block *b = pool.oldest;
        const size_t bytes = bytes_of(b);
        unlink_block(b);
        free_block(b, bytes);
        freed += bytes;
    }
    return freed;
}

/* What the shared lists may hold beside this thread's own blocks. Those of other
 * threads, some hundred KiB at most for each, are not seen from here. */
static size_t room(void)
{
    const size_t limit = tsri_load_relaxed(&pool.limit), mine = (size_t)tsri_mine.cached;
    return limit > mine ? limit - mine : 0;
}

/* Taking and giving ----------------------------------------------------------- */

static void *take_cached(int size_class)
{
    void *b = NULL;
    if (size_class < TSRI_THREAD_CLASSES) {
        void **kept = tsri_thread_block(size_class);
        b = *kept;
        *kept = NULL;
        if (b) tsri_count_cached(-(int64_t)tsri_pool_class_bytes(size_class));
    }
    if (b) return b;
    tsri_lock(&lock);
    block *shared = pool.first[size_class];
    if (shared) unlink_block(shared);
    tsri_unlock(&lock);
    return shared;
}

static void *take_class(int size_class)
{
    const size_t bytes = tsri_pool_class_bytes(size_class);
    void *b = take_cached(size_class);
    if (b) {
        tsri_count_hit();
        return b;
    }
    b = tsri_alloc(bytes, TSRI_CACHE_LINE);
    if (b) return b;
    (void)tsr_pool_trim(0);  /* what is cached may be what is missing */
    return tsri_alloc(bytes, TSRI_CACHE_LINE);
}

void *tsri_pool_take(size_t bytes, size_t *reserved)
{
    const int size_class = is_on() ? class_of(bytes) : -1;
    const size_t taken = size_class < 0 ? bytes : tsri_pool_class_bytes(size_class);
    void *p = size_class < 0 ? tsri_alloc(bytes, TSRI_CACHE_LINE) : take_class(size_class);
    *reserved = p ? taken : 0;
    if (!p) return NULL;
    TSRI_UNPOISON(p, bytes);
    TSRI_POISON((char *)p + bytes, taken - bytes);
    TSRI_UNWRITTEN(p, bytes);
    return p;
}

void *tsri_pool_scratch(size_t bytes, size_t *reserved)
{
    *reserved = 0;
    return tsri_alloc_allowed(bytes) ? tsri_pool_take(bytes, reserved) : NULL;
}

static TSRI_COLD void make_room(void)
{
    tsri_lock(&lock);
    (void)evict(room());
    tsri_unlock(&lock);
}

void tsri_pool_give_shared(void *p, int size_class)
{
    const size_t bytes = tsri_pool_class_bytes(size_class);
    tsri_lock(&lock);
    const bool keep = pool.on && bytes <= pool.limit;
    if (keep) {
        link_block(p, size_class);
        (void)evict(room());
    }
    tsri_unlock(&lock);
    if (!keep) free_block(p, bytes);
}

/* The class whose blocks have just this size, or -1. */
static int class_with(size_t bytes)
{
    const int size_class = class_of(bytes);
    return size_class >= 0 && tsri_pool_class_bytes(size_class) == bytes ? size_class : -1;
}

void tsri_pool_give(void *p, size_t reserved)
{
    if (!p) return;
    const int size_class = is_on() ? class_with(reserved) : -1;
    if (size_class < 0) {
        free_block(p, reserved);
        return;
    }
    TSRI_POISON(p, reserved);
    if (size_class < TSRI_THREAD_CLASSES && reserved <= room()) {
        void **kept = tsri_thread_block(size_class);
        if (!*kept) {
            *kept = p;
            tsri_count_cached((int64_t)reserved);
            if (!TSRI_LIKELY(tsri_load_relaxed(&pool.cached) <= room())) make_room();
            return;
        }
    }
    tsri_pool_give_shared(p, size_class);
}

/* Public ---------------------------------------------------------------------- */

/* This thread's blocks to the shared lists, where they can be counted and freed. */
static void flush_thread_blocks(void)
{
    for (int i = 0; i < TSRI_THREAD_CLASSES; i++) {
        void **kept = tsri_thread_block(i), *b = *kept;
        if (!b) continue;
        *kept = NULL;
        tsri_count_cached(-(int64_t)tsri_pool_class_bytes(i));
        tsri_lock(&lock);
        link_block(b, i);
        tsri_unlock(&lock);
    }
}

size_t tsr_pool_trim(size_t keep)
{
    flush_thread_blocks();
    tsri_lock(&lock);
    const size_t freed = evict(keep);
    tsri_unlock(&lock);
    return freed;
}

void tsr_pool_enable(bool on)
{
    tsri_lock(&lock);
    set_up();
    tsri_store_relaxed(&pool.on, on);
    tsri_unlock(&lock);
    if (!on) (void)tsr_pool_trim(0);
}

bool tsr_pool_is_enabled(void) { return is_on(); }

void tsr_pool_set_limit(size_t bytes)
{
    tsri_lock(&lock);
    set_up();
    tsri_store_relaxed(&pool.limit, bytes);
    tsri_unlock(&lock);
    (void)tsr_pool_trim(bytes);
}

size_t tsr_pool_limit(void)
{
    (void)is_on();
    return tsri_load_relaxed(&pool.limit);
}

int64_t tsri_pool_cached(void)
{
    tsri_lock(&lock);
    const size_t cached = pool.cached;
    tsri_unlock(&lock);
    return (int64_t)cached;
}
