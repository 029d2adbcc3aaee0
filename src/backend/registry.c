/* registry.c - which backends there are, and which of them each device number belongs to. */
#include "registry.h"
#include "core/atomic.h"
#include "core/device_int.h"
#include "core/text.h"
#include "core/lock.h"
#include "core/mem.h"
#include "transfer.h"

static tsri_mutex lock = TSRI_MUTEX_INIT;
static tsr_backend tables[TSRI_MAX_BACKENDS];  /* of registered backends; slot 0, the CPU's, is not used */
static const tsr_backend *backends[TSRI_MAX_BACKENDS] = { &tsri_cpu_backend };
const tsr_backend *const tsri_host_backend = &tsri_cpu_backend;
const tsri_host_entries *const tsri_host = &tsri_cpu_entries;
static int32_t count = 1;  /* grows only; entries below it do not change */

const tsr_backend *tsri_backend_at(int slot)
{
    return slot < tsri_load_acquire(&count) ? backends[slot] : NULL;
}

tsr_status tsri_backend_of(const tsr_backend **out, int *index, const char *op, tsr_device device)
{
    if (TSRI_LIKELY(device == TSR_CPU)) {
        *out = tsri_host_backend;
        *index = 0;
        return TSR_OK;
    }
    if (!tsr_device_exists(device)) return tsri_fail_no_device(op, device);
    *out = backends[device / TSRI_DEVICES];
    *index = device % TSRI_DEVICES;
    return TSR_OK;
}

/* How many devices a backend has: what it says, limited to 0 .. TSRI_DEVICES. */
static int devices_of(const tsr_backend *backend)
{
    const int n = backend->device_count();
    return n < 0 ? 0 : n > TSRI_DEVICES ? TSRI_DEVICES : n;
}

bool tsr_device_exists(tsr_device device)
{
    if (TSRI_LIKELY(device == TSR_CPU)) return true;
    const int slot = device / TSRI_DEVICES;
    if (device < 0 || slot >= tsri_load_acquire(&count)) return false;
    return device % TSRI_DEVICES < devices_of(backends[slot]);
}

/* The core's table of devices ------------------------------------------------------- */

static tsr_device pinning_device(void)
{
    for (int slot = 1; slot < tsri_load_acquire(&count); slot++)
        if (backends[slot]->host_alloc && devices_of(backends[slot]) > 0) return slot * TSRI_DEVICES;
    return TSR_CPU;
}

static const tsri_devices devices = {
    .exists = tsr_device_exists, .name = tsr_device_name,
    .take = tsri_device_take, .give = tsri_device_give, .pinning = pinning_device,
    .read = tsri_element_read, .write = tsri_element_write, .to_host = tsri_packed_here,
};

/* Adding --------------------------------------------------------------------------- */

/* Letters, digits, '_', '-' and '.': a name stands before a colon, in messages and in the name of a file. */
static tsr_status check_name(const char *name, const char *what)
{
    size_t n = 0;
    TSRI_CHECK(name && name[0], TSR_EINVAL, "%s: name is missing", what);
    for (; name[n] && n <= TSR_BACKEND_NAME; n++) {
        const char c = name[n];
        const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                          c == '_' || c == '-' || c == '.';
        TSRI_CHECK(fits, TSR_EINVAL,
                   "%s: byte %zu of the name is 0x%x; a name has letters, digits, '_', '-' and '.'", what, n,
                   (unsigned)(unsigned char)c);
    }
    TSRI_CHECK(n <= TSR_BACKEND_NAME, TSR_EINVAL, "%s: the name has more than %d bytes", what,
               TSR_BACKEND_NAME);
    return TSR_OK;
}

tsr_status tsri_backend_check(const tsr_backend *b, const char *what)
{
    TSRI_CHECK(b, TSR_ENULL, "%s: backend is NULL", what);
    TSRI_CHECK(b->abi == TSR_BACKEND_ABI, TSR_EINVAL, "%s: built for ABI %u, and this is ABI %u", what,
               (unsigned)b->abi, (unsigned)TSR_BACKEND_ABI);
    TSRI_CHECK(b->size >= offsetof(tsr_backend, sync), TSR_EINVAL,
               "%s: a table of %u bytes lacks required entries", what, (unsigned)b->size);
    TSRI_CHECK(b->size % sizeof(void *) == 0, TSR_EINVAL, "%s: a table of %u bytes ends inside an entry",
               what, (unsigned)b->size);
    TSRI_TRY(check_name(b->name, what));
    TSRI_CHECK(b->device_count && b->alloc && b->free && b->supports && b->run, TSR_EINVAL,
               "%s: %s: a required entry is NULL", what, b->name);
    return TSR_OK;
}

/* Asked once the table is known to be whole. */
static tsr_status check_count(const tsr_backend *b, const char *what)
{
    const int n = b->device_count();
    TSRI_CHECK(n >= 0 && n <= TSRI_DEVICES, TSR_EINVAL,
               "%s: %s: device_count gives %d; a backend has 0 to %d devices", what, b->name, n,
               TSRI_DEVICES);
    return TSR_OK;
}

static tsr_status check_groups(const tsr_backend *b, const char *what)
{
    const bool streams = b->stream_create && b->stream_destroy && b->stream_sync && b->stream_wait &&
                         b->event_create && b->event_destroy && b->event_record && b->event_sync &&
                         b->event_done && b->event_elapsed;
    const bool graphs = b->graph_begin && b->graph_end && b->graph_launch && b->graph_destroy;
    TSRI_CHECK(streams || !b->stream_create, TSR_EINVAL, "%s: %s: some entries for streams are NULL", what,
               b->name);
    TSRI_CHECK(graphs || !b->graph_begin, TSR_EINVAL, "%s: %s: some entries for graphs are NULL", what,
               b->name);
    TSRI_CHECK(!b->host_alloc == !b->host_free, TSR_EINVAL, "%s: %s: host_alloc and host_free go together",
               what, b->name);
    TSRI_CHECK(!b->upload == !b->download, TSR_EINVAL, "%s: %s: upload and download go together", what,
               b->name);
    TSRI_CHECK(!b->upload_rows == !b->download_rows, TSR_EINVAL,
               "%s: %s: upload_rows and download_rows go together", what, b->name);
    return TSR_OK;
}

tsr_status tsri_backend_add(const tsr_backend *backend, const char *what)
{
    tsr_backend table = { 0 };
    TSRI_TRY(tsri_backend_check(backend, what));
    memcpy(&table, backend, backend->size < sizeof table ? backend->size : sizeof table);
    TSRI_TRY(check_groups(&table, what));
    TSRI_TRY(check_count(&table, what));
    tsri_lock(&lock);
    const int n = count;
    bool taken = false;
    for (int i = 0; i < n; i++) taken = taken || tsri_streq(backends[i]->name, table.name);
    const bool fits = n < TSRI_MAX_BACKENDS && !taken;
    if (fits) {
        tables[n] = table;
        backends[n] = &tables[n];
        tsri_devices_set(&devices);
        tsri_store_release(&count, n + 1);
    }
    tsri_unlock(&lock);
    TSRI_CHECK(!taken, TSR_EINVAL, "%s: there is a backend called %s", what, table.name);
    TSRI_CHECK(fits, TSR_ENOMEM, "%s: %s: there are %d backends already", what, table.name,
               TSRI_MAX_BACKENDS);
    return TSR_OK;
}

tsr_status tsr_backend_register(const tsr_backend *backend)
{
    return tsri_backend_add(backend, "backend_register");
}

tsr_status tsr_backend_fail(tsr_status status, const char *message)
{
    return tsri_fail_text(status, message ? message : tsr_status_text(status));
}

/* Names ---------------------------------------------------------------------------- */

/* "NAME" or "NAME:INDEX" against one backend's name; the index, or -1. */
static int match_name(const char *name, const char *backend)
{
    while (*backend && *name == *backend) { name++; backend++; }
    if (*backend) return -1;
    if (!*name) return 0;
    if (*name++ != ':' || !*name) return -1;
    int index = 0;
    for (; *name >= '0' && *name <= '9' && index < TSRI_DEVICES; name++) index = index * 10 + (*name - '0');
    return *name ? -1 : index;
}

static const char *names_of_devices(char *out, size_t size)
{
    tsri_text text = tsri_text_into(out, size);
    for (int slot = 0; slot < tsri_load_acquire(&count); slot++)
        for (int i = 0; i < devices_of(backends[slot]); i++)
            tsri_put(&text, "%s%s:%d", text.length ? ", " : "", backends[slot]->name, i);
    return out;
}

static tsr_device find_device(const char *name)
{
    for (int slot = 0; slot < tsri_load_acquire(&count); slot++) {
        const int index = match_name(name, backends[slot]->name);
        const tsr_device device = slot * TSRI_DEVICES + index;
        if (index >= 0 && index < TSRI_DEVICES && tsr_device_exists(device)) return device;
    }
    return TSR_NO_DEVICE;
}

static size_t length_of_backend(const char *name)
{
    size_t n = 0;
    while (name[n] && name[n] != ':') n++;
    return n;
}

tsr_status tsr_device_parse(tsr_device *out, const char *name)
{
    char names[256];
    TSRI_CHECK(out, TSR_ENULL, "device_parse: out is NULL");
    TSRI_CHECK(name, TSR_ENULL, "device_parse: name is NULL");
    tsr_device device = find_device(name);
    if (device == TSR_NO_DEVICE) {
        tsri_plugins_find(name, length_of_backend(name));
        device = find_device(name);
    }
    const char *problem = tsri_plugin_problem_of(name, length_of_backend(name));
    TSRI_CHECK(device != TSR_NO_DEVICE, TSR_EDEVICE,
               "device_parse: there is no device \"%s\"; there are %s%s%s", name,
               names_of_devices(names, sizeof names), problem ? "; " : "", problem ? problem : "");
    *out = device;
    return TSR_OK;
}

tsr_device tsr_device_named(const char *name)
{
    tsr_device device = TSR_NO_DEVICE;
    if (tsr_device_parse(&device, name) == TSR_OK) return device;
    tsri_device_missed(name);
    return TSR_NO_DEVICE;
}

size_t tsr_device_name(char *out, size_t size, tsr_device device)
{
    tsri_text text = tsri_text_into(out, out ? size : 0);
    if (!tsr_device_exists(device)) tsri_put(&text, "no device %d", (int)device);
    else tsri_put(&text, "%s:%d", backends[device / TSRI_DEVICES]->name, (int)device % TSRI_DEVICES);
    return text.length;
}

int tsr_device_count(void)
{
    int n = 0;
    tsri_plugins_find(NULL, 0);
    for (int slot = 0; slot < tsri_load_acquire(&count); slot++) n += devices_of(backends[slot]);
    return n;
}

tsr_device tsr_device_at(int index)
{
    for (int slot = 0; index >= 0 && slot < tsri_load_acquire(&count); slot++) {
        const int n = devices_of(backends[slot]);
        if (index < n) return slot * TSRI_DEVICES + index;
        index -= n;
    }
    return TSR_NO_DEVICE;
}

/* Memory ---------------------------------------------------------------------------- */

tsr_status tsri_backend_end(tsr_status s, uint32_t failures, const char *op, const tsr_backend *backend)
{
    if (TSRI_LIKELY(s == TSR_OK) || tsri_failures() != failures) return s;
    return tsri_fail(s, "%s: the %s backend failed: %s", op, backend->name, tsr_status_text(s));
}

static TSRI_PER_THREAD uint32_t asked;

void tsri_backend_ask(void) { asked = tsri_failures(); }

tsr_status tsri_backend_status(tsr_status s, const char *op, const tsr_backend *backend)
{
    return tsri_backend_end(s, asked, op, backend);
}

tsr_status tsri_device_alloc(void **out, tsr_device device, size_t bytes, tsr_memory kind)
{
    const tsr_backend *backend = NULL;
    int index = 0;
    TSRI_TRY(tsri_backend_of(&backend, &index, "alloc", device));
    const uint32_t failures = tsri_failures();
    *out = NULL;
    const tsr_status s = kind == TSR_MEMORY_PINNED ? backend->host_alloc(out, bytes)
                                                   : backend->alloc(out, index, bytes, kind);
    TSRI_TRY(tsri_backend_end(s, failures, "alloc", backend));
    TSRI_CHECK(*out, TSR_ENOMEM, "alloc: the %s backend gave no memory for %zu bytes", backend->name, bytes);
    return TSR_OK;
}

void tsri_device_free(tsr_device device, void *data, size_t bytes, tsr_memory kind)
{
    const tsr_backend *backend = backends[device / TSRI_DEVICES];
    if (kind == TSR_MEMORY_PINNED) backend->host_free(data, bytes);
    else                           backend->free(device % TSRI_DEVICES, data, bytes, kind);
}
