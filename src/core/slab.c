/* slab.c - header slots and counters, cached per thread (memory_int.h).
 *
 * When a thread ends, what it kept is folded into the shared state. */
#include "alloc.h"
#include "atomic.h"
#include "lock.h"
#include "memory_int.h"
#include "storage.h"
#include "tensor_int.h"

/* The first chunk is small, for the sake of small arenas; each next is twice as
 * large, up to the last number. */
enum { KEEP = TSRI_SLOTS_KEPT, FIRST_SLOTS = 4, MOST_SLOTS = 128 };

static const size_t slot_bytes[TSRI_SLAB_COUNT] = {
    [TSRI_SLAB_TENSORS]  = (sizeof(tsri_header) + 63) / 64 * 64,
    [TSRI_SLAB_STORAGES] = TSRI_STORAGE_HEADER + TSRI_INLINE_BYTES,
};

_Static_assert(sizeof(struct tsr_storage) <= TSRI_STORAGE_HEADER, "a storage fits its slot");

typedef tsri_free_slot free_slot;
typedef tsri_cache cache;

typedef struct chunk {
    _Alignas(64) struct chunk *next;  /* slots begin on a cache line */
    int slots;
} chunk;

TSRI_PER_THREAD cache tsri_mine;

static tsri_mutex lock = TSRI_MUTEX_INIT;
static struct {
    chunk     *chunks[TSRI_SLAB_COUNT];
    free_slot *free[TSRI_SLAB_COUNT];
    cache     *threads;
    int64_t    live, peak, allocations, hits; /* live and peak: atomic */
} shared;

void tsri_slab_lock(void) { tsri_lock(&lock); }
void tsri_slab_unlock(void) { tsri_unlock(&lock); }

/* Threads ------------------------------------------------------------------- */

#ifdef TSR_NO_THREADS

static void raise_peak(int64_t to)
{
    if (to > shared.peak) shared.peak = to;
}

#else

static bool replace_peak(int64_t *had, int64_t by)
{
    return __atomic_compare_exchange_n(&shared.peak, had, by, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static void raise_peak(int64_t to)
{
    int64_t had = tsri_load_relaxed(&shared.peak);
    while (to > had && !replace_peak(&had, to)) {}
}

#endif

static void fold_bytes(cache *c)
{
    const int64_t before = tsri_fetch_add(&shared.live, c->live);
    raise_peak(before + c->high);
    tsri_store_relaxed(&c->live, 0);
    c->high = 0;
}

static void return_slots(cache *c, tsri_slab slab, int keep)
{
    while (c->kept[slab] > keep) {
        free_slot *slot = c->free[slab];
        c->free[slab] = slot->next;
        slot->next = shared.free[slab];
        shared.free[slab] = slot;
        c->kept[slab]--;
    }
}

#ifndef TSR_NO_THREADS

static pthread_key_t at_exit;

static void give_blocks(cache *c)
{
    for (int i = 0; i < TSRI_THREAD_CLASSES; i++) {
        if (!c->block[i]) continue;
        tsri_pool_give_shared(c->block[i], i);
        c->block[i] = NULL;
    }
}

static void thread_ends(void *context)
{
    cache *c = context;
    give_blocks(c);
    fold_bytes(c);
    tsri_lock(&lock);
    for (int s = 0; s < TSRI_SLAB_COUNT; s++) return_slots(c, (tsri_slab)s, 0);
    shared.allocations += c->allocations;
    shared.hits += c->hits;
    *c->link = c->next;
    if (c->next) c->next->link = c->link;
    tsri_unlock(&lock);
    *c = (cache){ 0 };  /* a later destructor may release a tensor: start afresh */
}

static void before_fork(void)
{
    tsri_kinds_lock();
    tsri_pool_lock();
    tsri_lock(&lock);
}

static void after_fork(void)
{
    tsri_unlock(&lock);
    tsri_pool_unlock();
    tsri_kinds_unlock();
}

/* The child has this thread alone. What the others kept is lost, as it may be half
 * changed; their caches must leave the list before their memory becomes that of
 * new threads. */
static void after_fork_in_child(void)
{
    cache *self = &tsri_mine;
    for (cache *c = shared.threads; c; c = c->next) {
        if (c == self) continue;
        (void)tsri_fetch_add(&shared.live, tsri_load_relaxed(&c->live));
        shared.allocations += tsri_load_relaxed(&c->allocations);
        shared.hits += tsri_load_relaxed(&c->hits);
    }
    shared.threads = self->known ? self : NULL;
    self->next = NULL;
    self->link = &shared.threads;
    after_fork();
}

static void set_up(void)
{
    (void)pthread_key_create(&at_exit, thread_ends);
    (void)pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

static tsri_once once = TSRI_ONCE_INIT;

#if defined(__GNUC__)
/* An unloaded library must leave no destructor behind. */
__attribute__((destructor)) static void unload(void)
{
    tsri_once_run(&once, set_up);
    (void)pthread_key_delete(at_exit);
}
#endif

#endif

/* A thread's first use: put its cache on the list that statistics read. */
static TSRI_COLD void introduce(cache *c)
{
#ifndef TSR_NO_THREADS
    tsri_once_run(&once, set_up);
    (void)pthread_setspecific(at_exit, c);
#endif
    tsri_lock(&lock);
    c->next = shared.threads;
    c->link = &shared.threads;
    if (c->next) c->next->link = &c->next;
    shared.threads = c;
    c->known = true;
    tsri_unlock(&lock);
}

static inline cache *my_cache(void)
{
    cache *c = &tsri_mine;
    if (!TSRI_LIKELY(c->known)) introduce(c);
    return c;
}

/* Slots --------------------------------------------------------------------- */

static int32_t *count_of(tsri_slab slab, void *slot)
{
    return slab == TSRI_SLAB_TENSORS ? &((tsr_tensor *)slot)->count : &((tsr_storage *)slot)->count;
}

/* Poisons the bytes of a free slot that nothing reads: those between the link and the count; of a
 * storage also the fields that no report shows. */
static void guard(tsri_slab slab, void *slot, bool on)
{
    char *from = (char *)slot + sizeof(free_slot), *to = (char *)count_of(slab, slot);
    const size_t n = (size_t)(to - from) / 8 * 8;
    tsr_storage *s = slab == TSRI_SLAB_STORAGES ? slot : NULL;
    const size_t hidden = s ? (size_t)((char *)&s->origin - (char *)&s->reserved) : 0;
    if (on) TSRI_POISON(from, n);
    else    TSRI_UNPOISON(from, n);
    if (on && s) TSRI_POISON(&s->reserved, hidden);
    else if (s)  TSRI_UNPOISON(&s->reserved, hidden);
}

/* Under a sanitizer no tensor's bytes lie in the slot of its storage. */
static void guard_inline(void *slot)
{
    if (!TSRI_FAST_SLOTS) TSRI_POISON((char *)slot + TSRI_STORAGE_HEADER, TSRI_INLINE_BYTES);
}

static size_t chunk_bytes(tsri_slab slab, int slots)
{
    return sizeof(chunk) + (size_t)slots * slot_bytes[slab];
}

/* A new chunk, cut into the shared list. The lock is held. */
static void add_chunk(tsri_slab slab)
{
    const chunk *last = shared.chunks[slab];
    int slots = !last ? FIRST_SLOTS : last->slots < MOST_SLOTS ? 2 * last->slots : MOST_SLOTS;
    chunk *c = tsri_alloc(chunk_bytes(slab, slots), TSRI_CACHE_LINE);
    if (!c) c = tsri_alloc(chunk_bytes(slab, slots = FIRST_SLOTS), TSRI_CACHE_LINE);
    if (!c) return;
    c->slots = slots;
    c->next = shared.chunks[slab];
    shared.chunks[slab] = c;
    for (int i = slots - 1; i >= 0; i--) {
        free_slot *slot = (free_slot *)((char *)(c + 1) + (size_t)i * slot_bytes[slab]);
        slot->next = shared.free[slab];
        shared.free[slab] = slot;
        tsri_store_relaxed(count_of(slab, slot), 0);
        if (slab == TSRI_SLAB_STORAGES) {
            ((tsr_storage *)(void *)slot)->name[0] = '\0';
            guard_inline(slot);
        }
        guard(slab, slot, true);
    }
}

static TSRI_COLD void refill(cache *c, tsri_slab slab)
{
    tsri_lock(&lock);
    if (!shared.free[slab]) add_chunk(slab);
    for (int i = 0; i < KEEP / 2 && shared.free[slab]; i++) {
        free_slot *slot = shared.free[slab];
        shared.free[slab] = slot->next;
        slot->next = c->free[slab];
        c->free[slab] = slot;
        c->kept[slab]++;
    }
    tsri_unlock(&lock);
}

void *tsri_slab_take_slowly(tsri_slab slab)
{
    cache *c = my_cache();
    if (!c->free[slab]) refill(c, slab);
    free_slot *slot = c->free[slab];
    if (!slot) return NULL;
    c->free[slab] = slot->next;
    c->kept[slab]--;
    guard(slab, slot, false);
    return slot;
}

static TSRI_COLD void return_half(cache *c, tsri_slab slab)
{
    tsri_lock(&lock);
    return_slots(c, slab, KEEP / 2);
    tsri_unlock(&lock);
}

void tsri_slab_give_slowly(tsri_slab slab, void *p)
{
    cache *c = my_cache();
    free_slot *slot = p;
    slot->next = c->free[slab];
    c->free[slab] = slot;
    guard(slab, slot, true);
    if (++c->kept[slab] > KEEP) return_half(c, slab);
}

void tsri_slab_walk(tsri_slab slab, void (*visit)(void *context, void *slot), void *context)
{
    tsri_lock(&lock);
    for (chunk *c = shared.chunks[slab]; c; c = c->next)
        for (int i = 0; i < c->slots; i++) visit(context, (char *)(c + 1) + (size_t)i * slot_bytes[slab]);
    tsri_unlock(&lock);
}

bool tsri_slab_drop_all(void)
{
    cache *self = my_cache();
    tsri_lock(&lock);
    bool alone = true;
    for (cache *c = shared.threads; c; c = c->next) {
        if (c == self) continue;
        alone = alone && tsri_load_relaxed(&c->cached) == 0;
        for (int s = 0; s < TSRI_SLAB_COUNT; s++) alone = alone && c->kept[s] == 0;
    }
    for (int s = 0; alone && s < TSRI_SLAB_COUNT; s++) {
        self->free[s] = shared.free[s] = NULL;
        self->kept[s] = 0;
        for (chunk *c = shared.chunks[s], *next; c; c = next) {
            const size_t bytes = chunk_bytes((tsri_slab)s, c->slots);
            next = c->next;
            TSRI_UNPOISON(c, bytes);
            tsri_free(c, bytes);
        }
        shared.chunks[s] = NULL;
    }
    tsri_unlock(&lock);
    return alone;
}

/* Counters ------------------------------------------------------------------ */

static void count_bytes(cache *c, int64_t bytes)
{
    const int64_t live = c->live + bytes;
    tsri_store_relaxed(&c->live, live);
    if (live > c->high) c->high = live;
    if (live >= TSRI_FLUSH_BYTES || live <= -TSRI_FLUSH_BYTES) fold_bytes(c);
}

void tsri_count_made(int64_t bytes)
{
    cache *c = my_cache();
    tsri_store_relaxed(&c->allocations, c->allocations + 1);
    count_bytes(c, bytes);
}

void tsri_count_freed(int64_t bytes) { count_bytes(my_cache(), -bytes); }

void tsri_count_hit(void)
{
    cache *c = my_cache();
    tsri_store_relaxed(&c->hits, c->hits + 1);
}

void tsri_count_cached(int64_t bytes)
{
    cache *c = my_cache();
    tsri_store_relaxed(&c->cached, c->cached + bytes);
}

void **tsri_thread_block(int size_class) { return &my_cache()->block[size_class]; }

void tsri_counts_get(tsri_counts *out)
{
    cache *self = my_cache();
    tsri_lock(&lock);
    int64_t others = 0;
    *out = (tsri_counts){ .allocations = shared.allocations, .hits = shared.hits };
    for (cache *c = shared.threads; c; c = c->next) {
        if (c != self) others += tsri_load_relaxed(&c->live);
        out->allocations += tsri_load_relaxed(&c->allocations);
        out->hits += tsri_load_relaxed(&c->hits);
        out->cached += tsri_load_relaxed(&c->cached);
    }
    tsri_unlock(&lock);
    const int64_t base = tsri_load_relaxed(&shared.live) + others;
    out->live = base + self->live;
    raise_peak(base + self->high);
    out->peak = tsri_load_relaxed(&shared.peak);
}

void tsri_counts_reset_peak(void)
{
    tsri_counts now;
    cache *self = my_cache();
    self->high = self->live;
    tsri_counts_get(&now);
    tsri_store_relaxed(&shared.peak, now.live);
}
