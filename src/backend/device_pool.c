/* device_pool.c - memory of devices, kept between tensors and handed out in the streams' order.
 *
 * When a tensor is released, queued work may still use its block. So the pool notes which
 * streams used each block. If only the current stream did, it may reuse the block at once, because
 * a stream does its work in order. Otherwise the current stream is first made to wait for the
 * others. The host never waits, and a tensor may be released while its work is queued. */
#include "streams.h"
#include "core/alloc.h"
#include "core/device_int.h"
#include "core/lock.h"
#include "core/mem.h"
#include "tessera/memory.h"

/* Sizes are rounded to an eighth of a power of two: EIGHTHS classes for each, from 2^LOWEST up. */
enum {
    LOWEST = 9, HIGHEST = sizeof(size_t) > 4 ? 47 : 30,
    EIGHTHS = 8, CLASSES = (HIGHEST + 1 - LOWEST) * EIGHTHS + 1,
    MAX_POOLS = 64
};

typedef struct block {
    struct block *next;
    void         *data;
    uint64_t      streams;
} block;

/* The kept blocks of one device and memory kind. Pools are never freed. */
typedef struct pool {
    tsr_device             device;
    tsr_memory             kind;
    block                 *free[CLASSES];
    block                 *spare;  /* records without memory, for blocks that are kept later */
    size_t                 limit;
    tsr_device_memory_stats stats;
} pool;

static tsri_mutex lock = TSRI_MUTEX_INIT;
static pool *pools[MAX_POOLS];
static int32_t npools;

/* The class whose blocks hold `bytes`, and how many bytes they have. */
static int class_of(size_t bytes, size_t *rounded)
{
    int power = LOWEST;
    while (power < HIGHEST && ((size_t)2 << power) < bytes) power++;
    if (bytes <= (size_t)1 << LOWEST) {
        *rounded = (size_t)1 << LOWEST;
        return 0;
    }
    const size_t base = (size_t)1 << power, step = base / EIGHTHS;
    const size_t over = (bytes - base + step - 1) / step;  /* 1 .. EIGHTHS */
    *rounded = base + over * step;
    return (power - LOWEST) * EIGHTHS + (int)over;
}

/* How many bytes the blocks of a class have. */
static size_t class_bytes(int class)
{
    if (class == 0) return (size_t)1 << LOWEST;
    const size_t base = (size_t)1 << (LOWEST + (class - 1) / EIGHTHS);
    return base + (size_t)((class - 1) % EIGHTHS + 1) * (base / EIGHTHS);
}

static pool *find_pool(tsr_device device, tsr_memory kind)
{
    for (int i = 0; i < tsri_load_acquire(&npools); i++)
        if (pools[i]->device == device && pools[i]->kind == kind) return pools[i];
    return NULL;
}

/* NULL if there is no memory for it. With the lock held. */
static pool *make_pool(tsr_device device, tsr_memory kind)
{
    pool *p = npools < MAX_POOLS ? tsri_alloc(sizeof *p, 64) : NULL;
    if (!p) return NULL;
    memset(p, 0, sizeof *p);
    p->device = device;
    p->kind = kind;
    p->limit = SIZE_MAX;
    pools[npools] = p;
    tsri_store_release(&npools, npools + 1);
    return p;
}

static pool *have_pool(tsr_device device, tsr_memory kind)
{
    pool *p = find_pool(device, kind);
    if (p) return p;
    tsri_lock(&lock);
    p = find_pool(device, kind);
    if (!p) p = make_pool(device, kind);
    tsri_unlock(&lock);
    return p;
}

/* Makes stream `now` come after all others that may use a block. */
static tsr_status order(tsr_device device, uint64_t streams, int now)
{
    for (int i = 0; streams; i++, streams >>= 1)
        if ((streams & 1) && i != now) TSRI_TRY(tsri_stream_after(device, now, i));
    return TSR_OK;
}

/* A block that no other stream than this used, or else any block. With the lock held. */
static block *take_block(block **list, int now)
{
    for (block **b = list; *b; b = &(*b)->next) {
        if (((*b)->streams & ~((uint64_t)1 << now)) != 0) continue;
        block *found = *b;
        *b = found->next;
        return found;
    }
    block *found = *list;
    if (found) *list = found->next;
    return found;
}

/* With the lock held. */
static void count_live(pool *p, int64_t bytes)
{
    p->stats.live_bytes += bytes;
    if (bytes > 0) p->stats.allocations++;
    if (p->stats.live_bytes > p->stats.peak_bytes) p->stats.peak_bytes = p->stats.live_bytes;
}

/* Takes the memory of a kept block; *streams are those that used it. NULL if none is kept. */
static void *take_kept(pool *p, int class, size_t bytes, int now, uint64_t *streams)
{
    void *data = NULL;
    tsri_lock(&lock);
    block *b = take_block(&p->free[class], now);
    if (b) {
        data = b->data;
        *streams = b->streams;
        b->next = p->spare;
        p->spare = b;
        p->stats.cached_bytes -= (int64_t)bytes;
        p->stats.hits++;
        count_live(p, (int64_t)bytes);
    }
    tsri_unlock(&lock);
    return data;
}

/* Keeps memory for later. False if there is no memory for its record. */
static bool keep(pool *p, int class, void *data, size_t bytes, uint64_t streams, bool *over)
{
    tsri_lock(&lock);
    block *b = p->spare;
    if (b) p->spare = b->next;
    else {
        tsri_unlock(&lock);
        b = tsri_alloc(sizeof *b, TSRI_CACHE_LINE);
        tsri_lock(&lock);
    }
    count_live(p, -(int64_t)bytes);
    if (b) {
        *b = (block){ p->free[class], data, streams };
        p->free[class] = b;
        p->stats.cached_bytes += (int64_t)bytes;
        *over = (uint64_t)p->stats.cached_bytes > p->limit;
    }
    tsri_unlock(&lock);
    return b != NULL;
}

/* Gives kept blocks back to the device until `keep` bytes are left. Waits for its work first. */
static size_t trim(pool *p, size_t keep)
{
    size_t freed = 0;
    if (tsr_device_sync(p->device) != TSR_OK) return 0;
    for (int c = CLASSES; c-- > 0;) {
        const size_t bytes = class_bytes(c);
        for (;;) {
            tsri_lock(&lock);
            block *b = p->stats.cached_bytes > (int64_t)keep ? p->free[c] : NULL;
            if (b) {
                p->free[c] = b->next;
                p->stats.cached_bytes -= (int64_t)bytes;
            }
            tsri_unlock(&lock);
            if (!b) break;
            tsri_device_free(p->device, b->data, bytes, p->kind);
            tsri_free(b, sizeof *b);
            freed += bytes;
        }
    }
    return freed;
}

/* New memory from the device; if there is none, kept blocks are freed first. */
static tsr_status take_fresh(void **out, pool *p, size_t bytes)
{
    tsr_status s = tsri_device_alloc(out, p->device, bytes, p->kind);
    if (s == TSR_ENOMEM && trim(p, 0) > 0) s = tsri_device_alloc(out, p->device, bytes, p->kind);
    TSRI_TRY(s);
    tsri_lock(&lock);
    count_live(p, (int64_t)bytes);
    tsri_unlock(&lock);
    return TSR_OK;
}

tsr_status tsri_device_take(void **out, size_t *reserved, tsr_device device, size_t bytes, tsr_memory kind)
{
    void *handle;
    size_t rounded;
    const int class = class_of(bytes, &rounded), now = tsri_stream_now(device, &handle);
    TSRI_CHECK(bytes <= class_bytes(CLASSES - 1), TSR_ENOMEM, "alloc: %zu bytes are more than devices have",
               bytes);
    pool *p = have_pool(device, kind);
    TSRI_CHECK(p, TSR_ENOMEM, "alloc: no room for a pool of device memory");
    *reserved = rounded;
    *out = tsri_graph_take(device, now, rounded, kind);
    if (*out) return TSR_OK;  /* the blocks of a graph always count as live */
    uint64_t streams = 0;
    *out = take_kept(p, class, rounded, now, &streams);
    if (*out) {
        const tsr_status s = streams & ~((uint64_t)1 << now) ? order(device, streams, now) : TSR_OK;
        if (s != TSR_OK) {
            tsri_device_give(device, *out, rounded, kind, streams);
            return s;
        }
    } else {
        TSRI_TRY(take_fresh(out, p, rounded));
    }
    tsri_graph_took(device, now, *out, rounded, kind);
    return TSR_OK;
}

void tsri_device_give(tsr_device device, void *data, size_t reserved, tsr_memory kind, uint64_t streams)
{
    size_t rounded;
    void *handle;
    bool over = false;
    const int class = class_of(reserved, &rounded);
    pool *p = find_pool(device, kind);  /* it exists, since the block came from it */
    if (tsri_graph_gave(device, tsri_stream_now(device, &handle), data, reserved, kind)) return;
    if (keep(p, class, data, reserved, streams, &over)) {
        if (over) (void)trim(p, p->limit);
        return;
    }
    if (tsr_device_sync(device) == TSR_OK) tsri_device_free(device, data, reserved, kind);
}

/* Public ------------------------------------------------------------------------------- */

tsr_status tsr_device_memory_get_stats(tsr_device_memory_stats *out, tsr_device device)
{
    TSRI_CHECK(out, TSR_ENULL, "device_memory_get_stats: out is NULL");
    TSRI_CHECK(tsr_device_exists(device), TSR_EDEVICE, "device_memory_get_stats: there is no device %s",
               TSRI_DEVICE_TEXT(device));
    *out = (tsr_device_memory_stats){ 0 };
    for (int i = 0; i < tsri_load_acquire(&npools); i++) {
        pool *p = pools[i];
        if (p->device != device) continue;
        tsri_lock(&lock);
        out->live_bytes += p->stats.live_bytes;
        out->peak_bytes += p->stats.peak_bytes;
        out->cached_bytes += p->stats.cached_bytes;
        out->allocations += p->stats.allocations;
        out->hits += p->stats.hits;
        tsri_unlock(&lock);
    }
    return TSR_OK;
}

tsr_status tsr_device_pool_set_limit(tsr_device device, size_t bytes)
{
    TSRI_CHECK(tsr_device_exists(device), TSR_EDEVICE, "device_pool_set_limit: there is no device %s",
               TSRI_DEVICE_TEXT(device));
    pool *p = have_pool(device, TSR_MEMORY_DEVICE);
    TSRI_CHECK(p, TSR_ENOMEM, "device_pool_set_limit: no room for a pool");
    tsri_lock(&lock);
    p->limit = bytes;
    tsri_unlock(&lock);
    (void)trim(p, bytes);
    return TSR_OK;
}

size_t tsr_device_pool_trim(tsr_device device, size_t keep)
{
    size_t freed = 0;
    for (int i = 0; i < tsri_load_acquire(&npools); i++)
        if (pools[i]->device == device) freed += trim(pools[i], keep);
    return freed;
}
