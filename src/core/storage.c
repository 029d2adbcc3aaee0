/* storage.c - counted bytes on one device: the only owner in the library. */
#include "storage.h"
#include "alloc.h"
#include "device_int.h"
#include "mem.h"

_Static_assert(TSRI_STORAGE_HEADER % 64 == 0, "inline data begins on a cache line");

/* A slot with everything but its memory. Statistics may read the fields of a
 * slot from another thread at any time, so they are stored one by one. */
static tsr_status new_storage(tsr_storage **out, size_t bytes, const char *origin)
{
    tsr_storage *s = tsri_alloc_allowed(bytes) ? tsri_slab_take(TSRI_SLAB_STORAGES) : NULL;
    TSRI_CHECK(s, TSR_ENOMEM, "%s: no room for a storage of %zu bytes", origin, bytes);
    tsri_store_relaxed(&s->bytes, bytes);
    tsri_store_relaxed(&s->origin, origin);
    s->is_inline = false;
    s->readonly = false;
    s->reserved = 0;
    s->streams = 0;
    s->deleter = NULL;
    s->context = NULL;
    *out = s;
    return TSR_OK;
}

static void publish(tsr_storage *s, tsr_device device, tsr_memory memory, tsr_ownership ownership,
                    bool counted)
{
    s->device = device;
    tsri_store_relaxed(&s->memory, memory);
    tsri_store_relaxed(&s->ownership, (uint8_t)ownership);
    tsri_store_relaxed(&s->counted, counted);
    tsri_count_made(counted ? (int64_t)s->bytes : 0);
    tsri_store_release(&s->count, 1);
}

/* An empty storage has one byte, so that it has an address. */
static size_t backing(const tsr_storage *s) { return s->bytes ? s->bytes : 1; }

/* A device's own memory comes from its backend; a kind of the program's own from
 * its functions, wherever it is. */
static bool is_device_memory(tsr_device device, tsr_memory memory)
{
    return device != TSR_CPU && memory < TSR_MEMORY_COUNT_BUILTIN;
}

/* Pinned memory comes from a backend that has some, which `context` names. */
static tsr_status take_pinned(tsr_storage *s, const char *origin)
{
    const tsr_device by = tsri_devices_get()->pinning();
    if (by == TSR_CPU) return tsri_memory_take(&s->data, &s->reserved, backing(s), TSR_MEMORY_PINNED, origin);
    s->context = (void *)(intptr_t)by;
    return tsri_devices_get()->take(&s->data, &s->reserved, by, backing(s), TSR_MEMORY_PINNED);
}

tsr_device tsri_pinned_by(const tsr_storage *s)
{
    return s->ownership == TSR_OWNED && s->memory == TSR_MEMORY_PINNED ? (tsr_device)(intptr_t)s->context
                                                                       : TSR_CPU;
}

static tsr_status take_memory(tsr_storage *s, tsr_device device, tsr_memory memory, const char *origin)
{
    if (memory == TSR_MEMORY_PINNED) return take_pinned(s, origin);
    if (is_device_memory(device, memory))
        return tsri_devices_get()->take(&s->data, &s->reserved, device, backing(s), memory);
    /* The address sanitizer watches what comes from the allocator, not inside slots. */
    if (TSRI_FAST_SLOTS && memory == TSR_MEMORY_HOST && s->bytes <= TSRI_INLINE_BYTES) {
        s->data = (char *)s + TSRI_STORAGE_HEADER;
        s->is_inline = true;
        return TSR_OK;
    }
    return tsri_memory_take(&s->data, &s->reserved, backing(s), memory, origin);
}

tsr_status tsri_storage_create(tsr_storage **out, size_t bytes, tsr_device device, tsr_memory memory,
                               const char *origin)
{
    tsr_storage *s;
    memory = tsri_memory_on(device, memory);
    TSRI_CHECK(device == TSR_CPU || memory >= TSR_MEMORY_DEVICE, TSR_EINVAL, "%s: %s memory is the host's",
               origin, tsr_memory_name(memory));
    TSRI_CHECK(device == TSR_CPU || memory != TSR_MEMORY_PINNED, TSR_EINVAL,
               "%s: pinned memory is the host's", origin);
    TSRI_TRY(new_storage(&s, bytes, origin));
    const tsr_status status = take_memory(s, device, memory, origin);
    if (status != TSR_OK) {
        tsri_slab_give(TSRI_SLAB_STORAGES, s);
        return status;
    }
    publish(s, device, memory, TSR_OWNED, true);
    *out = s;
    return TSR_OK;
}

tsr_status tsri_storage_foreign(tsr_storage **out, void *data, size_t bytes, tsr_device device,
                                tsr_memory memory, tsr_ownership ownership, bool readonly,
                                tsr_deleter deleter, void *context, const char *origin)
{
    tsr_storage *s;
    memory = tsri_memory_on(device, memory);
    TSRI_TRY(new_storage(&s, bytes, origin));
    s->data = data;
    s->readonly = readonly;
    s->deleter = deleter;
    s->context = context;
    publish(s, device, memory, ownership, ownership == TSR_MAPPED);
    *out = s;
    return TSR_OK;
}

static void give_back(tsr_storage *s, tsr_device device)
{
    tsri_devices_get()->give(device, s->data, s->reserved, s->memory, tsri_load_relaxed(&s->streams));
}

void tsri_storage_destroy(tsr_storage *s)
{
    if (s->name[0]) tsr_storage_set_name(s, NULL);  /* under the lock: a report may be reading it */
    if (s->counted) tsri_count_freed((int64_t)s->bytes);
    if (s->deleter) s->deleter(s->context, s->data, s->bytes);
    else if (s->ownership == TSR_OWNED && is_device_memory(s->device, s->memory)) give_back(s, s->device);
    else if (tsri_pinned_by(s) != TSR_CPU) give_back(s, tsri_pinned_by(s));
    else if (s->ownership == TSR_OWNED && !s->is_inline)
        tsri_memory_give(s->data, backing(s), s->reserved, s->memory);
    tsri_slab_give(TSRI_SLAB_STORAGES, s);
}

/* Public ----------------------------------------------------------------------- */

static tsr_status check_place(const char *op, size_t bytes, tsr_device device, tsr_memory kind)
{
    TSRI_CHECK(tsri_device_exists(device), TSR_EDEVICE, "%s: there is no device %s", op,
               TSRI_DEVICE_TEXT(device));
    TSRI_CHECK(tsri_memory_kind(kind), TSR_EINVAL, "%s: %d is no memory kind", op, (int)kind);
    TSRI_CHECK(bytes <= PTRDIFF_MAX, TSR_EOVERFLOW, "%s: %zu bytes", op, bytes);
    return TSR_OK;
}

tsr_status tsr_storage_create(tsr_storage **out, size_t bytes, tsr_device device, tsr_memory kind)
{
    TSRI_CHECK(out, TSR_ENULL, "storage_create: out is NULL");
    TSRI_TRY(check_place("storage_create", bytes, device, kind));
    return tsri_storage_create(out, bytes, device, kind, "storage_create");
}

tsr_status tsr_storage_borrow(tsr_storage **out, void *data, size_t bytes, tsr_device device, tsr_memory kind)
{
    TSRI_CHECK(out, TSR_ENULL, "storage_borrow: out is NULL");
    TSRI_CHECK(data || bytes == 0, TSR_ENULL, "storage_borrow: data is NULL");
    TSRI_TRY(check_place("storage_borrow", bytes, device, kind));
    return tsri_storage_foreign(out, data, bytes, device, kind, TSR_BORROWED, false, NULL, NULL,
                                "storage_borrow");
}

tsr_status tsr_storage_adopt(tsr_storage **out, void *data, size_t bytes, tsr_device device, tsr_memory kind,
                             tsr_deleter deleter, void *context)
{
    TSRI_CHECK(out, TSR_ENULL, "storage_adopt: out is NULL");
    TSRI_CHECK(data || bytes == 0, TSR_ENULL, "storage_adopt: data is NULL");
    TSRI_CHECK(deleter, TSR_ENULL, "storage_adopt: deleter is NULL");
    TSRI_TRY(check_place("storage_adopt", bytes, device, kind));
    return tsri_storage_foreign(out, data, bytes, device, kind, TSR_ADOPTED, false, deleter, context,
                                "storage_adopt");
}

tsr_storage *tsr_storage_retain(tsr_storage *s)
{
    tsri_storage_retain(s);
    return s;
}

void tsr_storage_release(tsr_storage **s)
{
    if (!s) return;
    tsr_storage *gone = *s;
    *s = NULL;
    tsri_storage_release(gone);
}

void         *tsr_storage_data(const tsr_storage *s) { return s ? s->data : NULL; }
size_t        tsr_storage_bytes(const tsr_storage *s) { return s ? s->bytes : 0; }
tsr_memory    tsr_storage_memory(const tsr_storage *s) { return s ? s->memory : TSR_MEMORY_HOST; }
tsr_device    tsr_storage_device(const tsr_storage *s) { return s ? s->device : TSR_CPU; }
tsr_ownership tsr_storage_ownership(const tsr_storage *s)
{
    return s ? (tsr_ownership)s->ownership : TSR_BORROWED;
}
bool          tsr_storage_is_readonly(const tsr_storage *s) { return s && s->readonly; }
int64_t       tsr_storage_count(const tsr_storage *s) { return s ? tsri_load_relaxed(&s->count) : 0; }

void tsr_storage_set_name(tsr_storage *s, const char *name)
{
    if (!s) return;
    tsri_slab_lock();
    size_t n = 0;
    for (; name && name[n] && n + 1 < TSRI_NAME; n++) s->name[n] = name[n];
    s->name[n] = '\0';
    tsri_slab_unlock();
}
