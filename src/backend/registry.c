/* registry.c - which backends there are, and whose device a number is. */
#include "registry.h"
#include "core/atomic.h"
#include "core/device_int.h"
#include "core/format.h"
#include "core/lock.h"
#include "core/mem.h"

enum { MAX_BACKENDS = 16, DEVICES_PER_BACKEND = 256 };

static tsri_mutex lock = TSRI_MUTEX_INIT;
static const tsr_backend *backends[MAX_BACKENDS] = { &tsri_cpu_backend };
static int32_t count = 1;  /* grows only; entries below it do not change */

tsr_status tsri_backend_of(const tsr_backend **out, int *index, const char *op, tsr_device device)
{
    if (TSRI_LIKELY(device == TSR_CPU)) {
        *out = &tsri_cpu_backend;
        *index = 0;
        return TSR_OK;
    }
    TSRI_CHECK(tsr_device_exists(device), TSR_EDEVICE, "%s: there is no device %d", op, (int)device);
    *out = backends[device / DEVICES_PER_BACKEND];
    *index = device % DEVICES_PER_BACKEND;
    return TSR_OK;
}

bool tsr_device_exists(tsr_device device)
{
    if (TSRI_LIKELY(device == TSR_CPU)) return true;
    const int slot = device / DEVICES_PER_BACKEND;
    if (device < 0 || slot >= tsri_load_acquire(&count)) return false;
    return device % DEVICES_PER_BACKEND < backends[slot]->device_count();
}

static tsr_status check_backend(const tsr_backend *b)
{
    TSRI_CHECK(b, TSR_ENULL, "backend_register: backend is NULL");
    TSRI_CHECK(b->abi == TSR_BACKEND_ABI, TSR_EINVAL, "backend_register: built for ABI %u, and this is ABI %u",
               (unsigned)b->abi, (unsigned)TSR_BACKEND_ABI);
    TSRI_CHECK(b->size >= offsetof(tsr_backend, sync), TSR_EINVAL,
               "backend_register: a table of %u bytes lacks required entries", (unsigned)b->size);
    TSRI_CHECK(b->name && b->name[0], TSR_EINVAL, "backend_register: name is missing");
    TSRI_CHECK(b->device_count && b->alloc && b->free && b->supports && b->run, TSR_EINVAL,
               "backend_register: %s: a required entry is NULL", b->name);
    return TSR_OK;
}

tsr_status tsr_backend_register(const tsr_backend *backend)
{
    TSRI_TRY(check_backend(backend));
    tsri_lock(&lock);
    const int n = count;
    bool taken = false;
    for (int i = 0; i < n; i++) taken = taken || tsri_streq(backends[i]->name, backend->name);
    const bool fits = n < MAX_BACKENDS && !taken;
    if (fits) {
        backends[n] = backend;
        tsri_store_release(&count, n + 1);
    }
    tsri_unlock(&lock);
    TSRI_CHECK(!taken, TSR_EINVAL, "backend_register: there is a backend called %s", backend->name);
    TSRI_CHECK(fits, TSR_ENOMEM, "backend_register: %s: there are %d backends already", backend->name, MAX_BACKENDS);
    return TSR_OK;
}

tsr_status tsr_backend_fail(tsr_status status, const char *message)
{
    return tsri_fail_text(status, message ? message : tsr_status_text(status));
}

/* "NAME" or "NAME:INDEX" against one backend's name; the index, or -1. */
static int match_name(const char *name, const char *backend)
{
    while (*backend && *name == *backend) { name++; backend++; }
    if (*backend) return -1;
    if (!*name) return 0;
    if (*name++ != ':' || !*name) return -1;
    int index = 0;
    for (; *name >= '0' && *name <= '9' && index < DEVICES_PER_BACKEND; name++) index = index * 10 + (*name - '0');
    return *name ? -1 : index;
}

static const char *names_of_devices(char *out, size_t size)
{
    tsri_text text = tsri_text_into(out, size);
    for (int slot = 0; slot < tsri_load_acquire(&count); slot++)
        for (int i = 0; i < backends[slot]->device_count(); i++)
            tsri_put(&text, "%s%s:%d", text.length ? ", " : "", backends[slot]->name, i);
    return out;
}

tsr_status tsr_device_parse(tsr_device *out, const char *name)
{
    TSRI_CHECK(out, TSR_ENULL, "device_parse: out is NULL");
    TSRI_CHECK(name, TSR_ENULL, "device_parse: name is NULL");
    for (int slot = 0; slot < tsri_load_acquire(&count); slot++) {
        const int index = match_name(name, backends[slot]->name);
        const tsr_device device = slot * DEVICES_PER_BACKEND + index;
        if (index < 0 || index >= DEVICES_PER_BACKEND || !tsr_device_exists(device)) continue;
        *out = device;
        return TSR_OK;
    }
    char names[256];
    TSRI_CHECK(false, TSR_EDEVICE, "device_parse: there is no device \"%s\"; there are %s", name,
               names_of_devices(names, sizeof names));
}

size_t tsr_device_name(char *out, size_t size, tsr_device device)
{
    tsri_text text = tsri_text_into(out, out ? size : 0);
    if (!tsr_device_exists(device)) tsri_put(&text, "no device %d", (int)device);
    else tsri_put(&text, "%s:%d", backends[device / DEVICES_PER_BACKEND]->name, (int)device % DEVICES_PER_BACKEND);
    return text.length;
}

tsr_status tsri_backend_end(tsr_status s, uint32_t failures, const char *op, const tsr_backend *backend)
{
    if (TSRI_LIKELY(s == TSR_OK) || tsri_failures() != failures) return s;
    return tsri_fail(s, "%s: the %s backend failed: %s", op, backend->name, tsr_status_text(s));
}

tsr_status tsri_device_alloc(void **out, tsr_device device, size_t bytes, tsr_memory kind)
{
    const tsr_backend *backend = NULL;
    int index = 0;
    TSRI_TRY(tsri_backend_of(&backend, &index, "alloc", device));
    const uint32_t failures = tsri_failures();
    *out = NULL;
    TSRI_TRY(tsri_backend_end(backend->alloc(out, index, bytes, kind), failures, "alloc", backend));
    TSRI_CHECK(*out, TSR_ENOMEM, "alloc: the %s backend gave no memory for %zu bytes", backend->name, bytes);
    return TSR_OK;
}

void tsri_device_free(tsr_device device, void *data, size_t bytes, tsr_memory kind)
{
    backends[device / DEVICES_PER_BACKEND]->free(device % DEVICES_PER_BACKEND, data, bytes, kind);
}
