/* memory.c - memory kinds, statistics, and the report of who holds what. */
#include "alloc.h"
#include "device_int.h"
#include "text.h"
#include "lock.h"
#include "mem.h"
#include "storage.h"
#include "tessera/tensor.h"

/* Kinds ---------------------------------------------------------------------- */

static void *host_alloc(void *context, size_t bytes, size_t alignment)
{
    (void)context;
    return tsri_alloc(bytes, alignment);
}

static void host_free(void *context, void *data, size_t bytes)
{
    (void)context;
    tsri_free(data, bytes);
}

static void *huge_alloc(void *context, size_t bytes, size_t alignment)
{
    (void)context;
    if (bytes > SIZE_MAX - alignment) return NULL;
    void *data = tsri_alloc(tsri_round_up(bytes, alignment), alignment);
    tsri_wish_huge(data, tsri_round_up(bytes, alignment));
    return data;
}

static void huge_free(void *context, void *data, size_t bytes)
{
    (void)context;
    tsri_free(data, tsri_round_up(bytes, TSRI_HUGE_PAGE));
}

static tsri_mutex lock = TSRI_MUTEX_INIT;

/* A kind with the name "" is a free slot. A kind is written once, before anybody can have its number, so
 * readers need no lock. */
static struct kind {
    tsr_memory_kind kind;
    char            name[TSRI_NAME];
} kinds[TSR_MEMORY_MAX] = {
    [TSR_MEMORY_HOST] = { { sizeof(tsr_memory_kind), "host", TSR_CPU, true, TSRI_CACHE_LINE, NULL, host_alloc,
                            host_free },
                          "host" },
    [TSR_MEMORY_ALIGNED] = { { sizeof(tsr_memory_kind), "aligned", TSR_CPU, true, TSRI_PAGE, NULL, host_alloc,
                               host_free },
                             "aligned" },
    [TSR_MEMORY_HUGE] = { { sizeof(tsr_memory_kind), "huge", TSR_CPU, true, TSRI_HUGE_PAGE, NULL, huge_alloc,
                            huge_free },
                          "huge" },
    [TSR_MEMORY_FILE] = { { sizeof(tsr_memory_kind), "file", TSR_CPU, true, TSRI_PAGE, NULL, NULL, NULL },
                          "file" },
    /* Other devices get these kinds from their backends; on the CPU the nearest thing stands for them. */
    [TSR_MEMORY_DEVICE] = { { sizeof(tsr_memory_kind), "device", TSR_CPU, false, TSRI_CACHE_LINE, NULL, NULL,
                              NULL },
                            "device" },
    [TSR_MEMORY_PINNED] = { { sizeof(tsr_memory_kind), "pinned", TSR_CPU, true, TSRI_PAGE, NULL, host_alloc,
                              host_free },
                            "pinned" },
    [TSR_MEMORY_MANAGED] = { { sizeof(tsr_memory_kind), "managed", TSR_CPU, true, TSRI_PAGE, NULL, host_alloc,
                               host_free },
                             "managed" },
    [TSR_MEMORY_MEDIA] = { { sizeof(tsr_memory_kind), "media", TSR_CPU, true, TSRI_MEDIA_ALIGNMENT, NULL,
                             host_alloc, host_free },
                           "media" },
};

void tsri_kinds_lock(void) { tsri_lock(&lock); }
void tsri_kinds_unlock(void) { tsri_unlock(&lock); }

const tsr_memory_kind *tsri_memory_kind(tsr_memory kind)
{
    if (kind < 0 || kind >= TSR_MEMORY_MAX || !tsri_load_acquire(&kinds[kind].name[0])) return NULL;
    return &kinds[kind].kind;
}

const char *tsr_memory_name(tsr_memory kind)
{
    const tsr_memory_kind *k = tsri_memory_kind(kind);
    return k ? k->name : "?";
}

bool tsr_memory_is_host(tsr_memory kind)
{
    const tsr_memory_kind *k = tsri_memory_kind(kind);
    return k && k->host_access;
}

static tsr_memory find_kind(const char *name)
{
    for (tsr_memory i = 0; i < TSR_MEMORY_MAX; i++)
        if (kinds[i].name[0] && tsri_streq(kinds[i].name, name)) return i;
    return -1;
}

tsr_status tsr_memory_find(tsr_memory *out, const char *name)
{
    TSRI_CHECK(out, TSR_ENULL, "memory_find: out is NULL");
    TSRI_CHECK(name, TSR_ENULL, "memory_find: name is NULL");
    tsri_lock(&lock);
    const tsr_memory found = *name ? find_kind(name) : -1;
    tsri_unlock(&lock);
    TSRI_CHECK(found >= 0, TSR_EINVAL, "memory_find: no memory kind is called \"%s\"", name);
    *out = found;
    return TSR_OK;
}

static bool is_good_name(const char *name)
{
    size_t n = 0;
    for (; name[n]; n++) {
        const char c = name[n];
        const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                          c == '_' || c == '-';
        if (!good || n + 1 >= TSRI_NAME) return false;
    }
    return n > 0;
}

static tsr_status check_kind(const tsr_memory_kind *k)
{
    TSRI_CHECK(k, TSR_ENULL, "memory_register: kind is NULL");
    TSRI_CHECK(k->size == sizeof *k, TSR_EINVAL, "memory_register: size is %zu, not %zu", k->size, sizeof *k);
    TSRI_CHECK(k->name, TSR_ENULL, "memory_register: name is NULL");
    TSRI_CHECK(is_good_name(k->name), TSR_EINVAL,
               "memory_register: \"%s\" is no name: 1 to %d letters, digits, '_' and '-'", k->name,
               TSRI_NAME - 1);
    TSRI_CHECK(k->alloc && k->free, TSR_ENULL, "memory_register: %s: a function is NULL", k->name);
    TSRI_CHECK((k->alignment & (k->alignment - 1)) == 0, TSR_EINVAL,
               "memory_register: %s: alignment %zu is no power of two", k->name, k->alignment);
    TSRI_CHECK(tsri_device_exists(k->device), TSR_EDEVICE, "memory_register: %s: there is no device %s",
               k->name, TSRI_DEVICE_TEXT(k->device));
    return TSR_OK;
}

tsr_status tsr_memory_register(tsr_memory *out, const tsr_memory_kind *kind)
{
    tsr_memory at = -1;
    TSRI_CHECK(out, TSR_ENULL, "memory_register: out is NULL");
    TSRI_TRY(check_kind(kind));
    tsri_lock(&lock);
    const bool taken = find_kind(kind->name) >= 0;
    for (tsr_memory i = TSR_MEMORY_COUNT_BUILTIN; i < TSR_MEMORY_MAX && at < 0 && !taken; i++)
        if (!kinds[i].name[0]) at = i;
    if (at >= 0) {
        kinds[at].kind = *kind;
        if (kind->alignment == 0) kinds[at].kind.alignment = TSRI_CACHE_LINE;
        memcpy(kinds[at].name + 1, kind->name + 1, tsri_strlen(kind->name));
        kinds[at].kind.name = kinds[at].name;
        tsri_store_release(&kinds[at].name[0], kind->name[0]);  /* last: the kind can be found from now on */
    }
    tsri_unlock(&lock);
    TSRI_CHECK(!taken, TSR_EINVAL, "memory_register: the name \"%s\" is taken", kind->name);
    TSRI_CHECK(at >= 0, TSR_ENOMEM, "memory_register: %s: there are %d kinds already", kind->name,
               TSR_MEMORY_MAX);
    *out = at;
    return TSR_OK;
}

/* Of one kind: all storages, and those whose bytes count. */
typedef struct kind_sum { tsr_memory kind; int64_t bytes, storages, all; } kind_sum;

static void sum_kind(void *context, void *slot)
{
    kind_sum *sum = context;
    tsr_storage *s = slot;
    if (tsri_load_acquire(&s->count) <= 0 || tsri_load_relaxed(&s->memory) != sum->kind) return;
    sum->all++;
    if (!tsri_load_relaxed(&s->counted)) return;
    sum->bytes += (int64_t)tsri_load_relaxed(&s->bytes);
    sum->storages++;
}

tsr_status tsr_memory_unregister(tsr_memory kind)
{
    TSRI_CHECK(kind >= TSR_MEMORY_COUNT_BUILTIN && tsri_memory_kind(kind), TSR_EINVAL,
               "memory_unregister: %d is no kind that was registered", (int)kind);
    kind_sum sum = { .kind = kind };
    tsri_slab_walk(TSRI_SLAB_STORAGES, sum_kind, &sum);
    TSRI_CHECK(sum.all == 0, TSR_EBUSY, "memory_unregister: %lld storages of %s live, with %lld bytes",
               (long long)sum.all, tsr_memory_name(kind), (long long)sum.bytes);
    tsri_lock(&lock);
    tsri_store_release(&kinds[kind].name[0], '\0');
    tsri_unlock(&lock);
    return TSR_OK;
}

tsr_status tsri_memory_take(void **out, size_t *reserved, size_t bytes, tsr_memory kind, const char *origin)
{
    const tsr_memory_kind *k = tsri_memory_kind(kind);
    TSRI_CHECK(k, TSR_EINVAL, "%s: %d is no memory kind", origin, (int)kind);
    TSRI_CHECK(k->alloc, TSR_EUNSUPPORTED, "%s: memory of kind %s cannot be allocated", origin, k->name);
    *reserved = 0;
    if (kind == TSR_MEMORY_HOST) *out = tsri_pool_take(bytes, reserved);
    else                         *out = k->alloc(k->context, bytes, k->alignment);
    TSRI_CHECK(*out, TSR_ENOMEM, "%s: no room for %zu bytes of %s memory", origin, bytes, k->name);
    return TSR_OK;
}

void tsri_memory_give(void *data, size_t bytes, size_t reserved, tsr_memory kind)
{
    const tsr_memory_kind *k = tsri_memory_kind(kind);
    if (kind == TSR_MEMORY_HOST) tsri_pool_give(data, reserved);
    else                         k->free(k->context, data, bytes);  /* a kind stays while it is in use */
}

/* Statistics ------------------------------------------------------------------- */

static void count_tensor(void *context, void *slot)
{
    tsr_memory_stats *stats = context;
    if (tsri_load_acquire(&((tsr_tensor *)slot)->count) > 0) stats->live_tensors++;
}

static void count_storage(void *context, void *slot)
{
    tsr_memory_stats *stats = context;
    if (tsri_load_acquire(&((tsr_storage *)slot)->count) > 0) stats->live_storages++;
}

void tsr_memory_get_stats(tsr_memory_stats *out)
{
    tsri_counts counts;
    if (!out) return;
    tsri_counts_get(&counts);
    *out = (tsr_memory_stats){
        .live_bytes   = counts.live,
        .peak_bytes   = counts.peak,
        .cached_bytes = counts.cached + tsri_pool_cached(),
        .allocations  = counts.allocations,
        .pool_hits    = counts.hits,
    };
    tsri_slab_walk(TSRI_SLAB_TENSORS, count_tensor, out);
    tsri_slab_walk(TSRI_SLAB_STORAGES, count_storage, out);
}

void tsr_memory_reset_peak(void) { tsri_counts_reset_peak(); }

int64_t tsr_memory_live(tsr_memory kind)
{
    kind_sum sum = { .kind = kind };
    tsri_slab_walk(TSRI_SLAB_STORAGES, sum_kind, &sum);
    return sum.bytes;
}

/* The report --------------------------------------------------------------------- */

enum { REPORT_ROWS = 32 };

typedef struct row {
    const void   *slot;
    size_t        bytes;
    int32_t       count;
    tsr_memory    memory;
    uint8_t       ownership;
    const char   *origin;
    char          name[TSRI_NAME];
} row;

/* The largest storages, sorted, and how many there are in all. */
typedef struct rows { row row[REPORT_ROWS]; int n; int64_t all; } rows;

static void keep_row(void *context, void *slot)
{
    rows *r = context;
    tsr_storage *s = slot;
    const int32_t count = tsri_load_acquire(&s->count);
    if (count <= 0) return;
    r->all++;
    const size_t bytes = tsri_load_relaxed(&s->bytes);
    int at = r->n;
    while (at > 0 && r->row[at - 1].bytes < bytes) at--;
    if (at >= REPORT_ROWS) return;
    if (r->n < REPORT_ROWS) r->n++;
    for (int i = r->n - 1; i > at; i--) r->row[i] = r->row[i - 1];
    row *new_row = &r->row[at];
    *new_row = (row){ slot, bytes, count, tsri_load_relaxed(&s->memory), tsri_load_relaxed(&s->ownership),
                      tsri_load_relaxed(&s->origin), { 0 } };
    memcpy(new_row->name, s->name, TSRI_NAME);
}

/* The names of all kinds at one moment: another thread may register while a report
 * is written. */
typedef struct kind_names { char name[TSR_MEMORY_MAX][TSRI_NAME]; } kind_names;

static void copy_names(kind_names *out)
{
    tsri_lock(&lock);
    for (tsr_memory k = 0; k < TSR_MEMORY_MAX; k++) memcpy(out->name[k], kinds[k].name, TSRI_NAME);
    tsri_unlock(&lock);
}

static const char *name_in(const kind_names *names, tsr_memory kind)
{
    return kind >= 0 && kind < TSR_MEMORY_MAX && names->name[kind][0] ? names->name[kind] : "?";
}

static void put_kinds(tsri_text *text, const kind_names *names)
{
    for (tsr_memory k = 0; k < TSR_MEMORY_MAX; k++) {
        kind_sum sum = { .kind = k };
        if (!names->name[k][0]) continue;
        tsri_slab_walk(TSRI_SLAB_STORAGES, sum_kind, &sum);
        if (sum.storages)
            tsri_put(text, "  %-12s %12lld bytes in %lld storage%s\n", name_in(names, k),
                     (long long)sum.bytes, (long long)sum.storages, sum.storages == 1 ? "" : "s");
    }
}

static const char *ownership_name(uint8_t ownership)
{
    static const char *const names[] = { "owned", "borrowed", "adopted", "mapped" };
    return ownership < 4 ? names[ownership] : "?";
}

static void put_rows(tsri_text *text, const kind_names *names)
{
    rows r = { .n = 0 };
    tsri_slab_walk(TSRI_SLAB_STORAGES, keep_row, &r);
    if (r.n)
        tsri_put(text, "  %12s  %-10s %-9s %6s  %s\n", "bytes", "kind", "ownership", "held by", "made by");
    for (int i = 0; i < r.n; i++) {
        const row *w = &r.row[i];
        tsri_put(text, "  %12zu  %-10s %-9s %7d  %s", w->bytes, name_in(names, w->memory),
                 ownership_name(w->ownership), (int)w->count, w->origin ? w->origin : "?");
        if (w->name[0]) tsri_put(text, " \"%s\"", w->name);
        tsri_put_char(text, '\n');
    }
    if (r.all > r.n) tsri_put(text, "  and %lld more\n", (long long)(r.all - r.n));
}

size_t tsr_memory_report(char *out, size_t size)
{
    kind_names names;
    tsr_memory_stats stats;
    tsri_text text = tsri_text_into(out, out ? size : 0);
    tsr_memory_get_stats(&stats);
    tsri_put(&text, "%lld tensor%s hold%s %lld storage%s: %lld bytes live, %lld at most, %lld cached\n",
             (long long)stats.live_tensors, stats.live_tensors == 1 ? "" : "s",
             stats.live_tensors == 1 ? "s" : "", (long long)stats.live_storages,
             stats.live_storages == 1 ? "" : "s", (long long)stats.live_bytes, (long long)stats.peak_bytes,
             (long long)stats.cached_bytes);
    copy_names(&names);
    put_kinds(&text, &names);
    put_rows(&text, &names);
    return text.length;
}
