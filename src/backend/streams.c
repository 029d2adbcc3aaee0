/* streams.c - streams and events, made of those that backends have. */
#include "core/device_int.h"
#include "streams.h"
#include "core/alloc.h"
#include "core/lock.h"
#include "core/mem.h"

/* The streams of one device. Rows are never freed. */
typedef struct row {
    tsr_device device;
    tsr_stream streams[TSRI_MAX_STREAMS];
    bool       taken[TSRI_MAX_STREAMS];
} row;

enum { MAX_ROWS = 64, MAX_CURRENT = 16 };

static tsri_mutex lock = TSRI_MUTEX_INIT;
static row *rows[MAX_ROWS];
static int32_t nrows;

/* The streams that this thread has chosen; on other devices it uses stream 0. */
static TSRI_PER_THREAD struct { tsr_device device; tsr_stream *stream; } current[MAX_CURRENT];
static TSRI_PER_THREAD bool choices;  /* has this thread ever chosen one? */

static row *find_row(tsr_device device)
{
    for (int i = 0; i < tsri_load_acquire(&nrows); i++)
        if (rows[i]->device == device) return rows[i];
    return NULL;
}

/* With the lock held. */
static tsr_status make_row(row **out, tsr_device device)
{
    *out = find_row(device);
    if (*out) return TSR_OK;
    row *r = nrows < MAX_ROWS ? tsri_alloc(sizeof *r, 64) : NULL;
    TSRI_CHECK(r, TSR_ENOMEM, "stream_create: no room for the streams of another device");
    memset(r, 0, sizeof *r);
    r->device = device;
    rows[nrows] = *out = r;
    tsri_store_release(&nrows, nrows + 1);
    return TSR_OK;
}

/* Streams -------------------------------------------------------------------------- */

static tsr_status take_number(tsr_stream **out, tsr_device device)
{
    row *r = NULL;
    TSRI_TRY(make_row(&r, device));
    for (int i = 1; i < TSRI_MAX_STREAMS; i++) {
        if (r->taken[i]) continue;
        r->taken[i] = true;
        r->streams[i] = (tsr_stream){ device, i, NULL };
        *out = &r->streams[i];
        return TSR_OK;
    }
    return tsri_fail(TSR_ENOMEM, "stream_create: the device has %d streams already", TSRI_MAX_STREAMS - 1);
}

static void give_number(tsr_stream *s)
{
    tsri_lock(&lock);
    s->handle = NULL;
    find_row(s->device)->taken[s->number] = false;
    tsri_unlock(&lock);
}

tsr_status tsr_stream_create(tsr_stream **out, tsr_device device)
{
    const tsr_backend *b = NULL;
    int index = 0;
    tsr_stream *s = NULL;
    void *handle = NULL;
    TSRI_CHECK(out, TSR_ENULL, "stream_create: out is NULL");
    TSRI_TRY(tsri_backend_of(&b, &index, "stream_create", device));
    tsri_lock(&lock);
    const tsr_status status = take_number(&s, device);
    tsri_unlock(&lock);
    TSRI_TRY(status);
    const tsr_status made =
        b->stream_create ? TSRI_ASK("stream_create", b, b->stream_create(&handle, index)) : TSR_OK;
    if (made != TSR_OK) {
        give_number(s);
        return made;
    }
    tsri_lock(&lock); /* other threads read it: they may look for an earlier stream of this number */
    s->handle = handle;
    tsri_unlock(&lock);
    *out = s;
    return TSR_OK;
}

static void forget(const tsr_stream *s)
{
    for (int i = 0; i < MAX_CURRENT; i++)
        if (current[i].stream == s) current[i].stream = NULL;
}

void tsr_stream_destroy(tsr_stream **s)
{
    const tsr_backend *b = NULL;
    int index = 0;
    if (!s || !*s) return;
    tsr_stream *gone = *s;
    *s = NULL;
    forget(gone);
    if (tsri_backend_of(&b, &index, "stream_destroy", gone->device) == TSR_OK && b->stream_create) {
        (void)b->stream_sync(index, gone->handle);
        tsri_lock(&lock);
        void *handle = gone->handle;
        gone->handle = NULL;  /* other threads find it no more */
        tsri_unlock(&lock);
        b->stream_destroy(index, handle);
    }
    give_number(gone);
}

static tsr_status set_current(const char *op, tsr_device device, tsr_stream *s)
{
    int free = -1;
    for (int i = 0; i < MAX_CURRENT; i++) {
        if (current[i].stream && current[i].device == device) {
            current[i].stream = s;
            return TSR_OK;
        }
        if (!current[i].stream && free < 0) free = i;
    }
    if (!s) return TSR_OK;
    TSRI_CHECK(free >= 0, TSR_ENOMEM, "%s: this thread has chosen streams on %d devices already", op,
               MAX_CURRENT);
    choices = true;
    current[free].device = device;
    current[free].stream = s;
    return TSR_OK;
}

tsr_status tsr_stream_use(tsr_stream *s)
{
    TSRI_CHECK(s, TSR_ENULL, "stream_use: s is NULL (tsr_stream_use_default)");
    return set_current("stream_use", s->device, s);
}

tsr_status tsr_stream_use_default(tsr_device device)
{
    TSRI_CHECK(tsr_device_exists(device), TSR_EDEVICE, "stream_use_default: there is no device %s",
               TSRI_DEVICE_TEXT(device));
    return set_current("stream_use_default", device, NULL);
}

tsr_stream *tsr_stream_current(tsr_device device)
{
    if (!choices) return NULL;
    for (int i = 0; i < MAX_CURRENT; i++)
        if (current[i].stream && current[i].device == device) return current[i].stream;
    return NULL;
}

int tsri_stream_now(tsr_device device, void **handle)
{
    const tsr_stream *s = tsr_stream_current(device);
    *handle = s ? s->handle : NULL;
    return s ? s->number : 0;
}

/* The handle of stream `number`; false if there is no such stream. Stream 0 is always there, and its handle
 * is NULL. With the lock held. */
static bool find_handle(tsr_device device, int number, void **handle)
{
    *handle = NULL;
    if (number == 0) return true;
    const row *r = find_row(device);  /* it exists, since the stream does */
    if (r->taken[number]) *handle = r->streams[number].handle;
    return *handle != NULL;
}

tsr_device tsr_stream_device(const tsr_stream *s) { return s ? s->device : TSR_NO_DEVICE; }
void *tsr_stream_handle(const tsr_stream *s) { return s ? s->handle : NULL; }

tsr_status tsr_stream_sync(tsr_stream *s)
{
    const tsr_backend *b = NULL;
    int index = 0;
    TSRI_CHECK(s, TSR_ENULL, "stream_sync: s is NULL (tsr_device_sync)");
    TSRI_TRY(tsri_backend_of(&b, &index, "stream_sync", s->device));
    return b->stream_sync ? TSRI_ASK("stream_sync", b, b->stream_sync(index, s->handle)) : TSR_OK;
}

tsr_status tsr_device_sync(tsr_device device)
{
    const tsr_backend *b = NULL;
    int index = 0;
    TSRI_TRY(tsri_backend_of(&b, &index, "device_sync", device));
    return b->sync ? TSRI_ASK("device_sync", b, b->sync(index)) : TSR_OK;
}

void tsri_storage_used(tsr_storage *s, int number)
{
    const uint64_t bit = (uint64_t)1 << number;
    if (s && !(tsri_load_relaxed(&s->streams) & bit)) tsri_fetch_or(&s->streams, bit);
}

/* Events ----------------------------------------------------------------------------- */

struct tsr_event {
    tsr_device device;
    void      *handle;
};

tsr_status tsr_event_create(tsr_event **out, tsr_device device)
{
    const tsr_backend *b = NULL;
    int index = 0;
    TSRI_CHECK(out, TSR_ENULL, "event_create: out is NULL");
    TSRI_TRY(tsri_backend_of(&b, &index, "event_create", device));
    tsr_event *e = tsri_alloc(sizeof *e, 64);
    TSRI_CHECK(e, TSR_ENOMEM, "event_create: no room for an event");
    *e = (tsr_event){ device, NULL };
    if (b->event_create) {
        const tsr_status s = TSRI_ASK("event_create", b, b->event_create(&e->handle, index));
        if (s != TSR_OK) {
            tsri_free(e, sizeof *e);
            return s;
        }
    }
    *out = e;
    return TSR_OK;
}

void tsr_event_destroy(tsr_event **e)
{
    const tsr_backend *b = NULL;
    int index = 0;
    if (!e || !*e) return;
    if (tsri_backend_of(&b, &index, "event_destroy", (*e)->device) == TSR_OK && b->event_destroy)
        b->event_destroy(index, (*e)->handle);
    tsri_free(*e, sizeof **e);
    *e = NULL;
}

tsr_status tsri_stream_handle_of(void **out, const char *op, const tsr_stream *s, tsr_device device)
{
    if (!s) {
        (void)tsri_stream_now(device, out);
        return TSR_OK;
    }
    TSRI_CHECK(s->device == device, TSR_EDEVICE, "%s: the stream is on device %d, and this is of device %d",
               op, (int)s->device, (int)device);
    *out = s->handle;
    return TSR_OK;
}

tsr_status tsr_event_record(tsr_event *e, tsr_stream *s)
{
    const tsr_backend *b = NULL;
    int index = 0;
    void *handle = NULL;
    TSRI_CHECK(e, TSR_ENULL, "event_record: e is NULL");
    TSRI_TRY(tsri_backend_of(&b, &index, "event_record", e->device));
    TSRI_TRY(tsri_stream_handle_of(&handle, "event_record", s, e->device));
    return b->event_record ? TSRI_ASK("event_record", b, b->event_record(index, e->handle, handle)) : TSR_OK;
}

tsr_status tsr_stream_wait(tsr_stream *s, const tsr_event *e)
{
    const tsr_backend *b = NULL;
    int index = 0;
    void *handle = NULL;
    TSRI_CHECK(e, TSR_ENULL, "stream_wait: e is NULL");
    TSRI_TRY(tsri_backend_of(&b, &index, "stream_wait", e->device));
    TSRI_TRY(tsri_stream_handle_of(&handle, "stream_wait", s, e->device));
    return b->stream_wait ? TSRI_ASK("stream_wait", b, b->stream_wait(index, handle, e->handle)) : TSR_OK;
}

tsr_status tsr_event_sync(const tsr_event *e)
{
    const tsr_backend *b = NULL;
    int index = 0;
    TSRI_CHECK(e, TSR_ENULL, "event_sync: e is NULL");
    TSRI_TRY(tsri_backend_of(&b, &index, "event_sync", e->device));
    return b->event_sync ? TSRI_ASK("event_sync", b, b->event_sync(index, e->handle)) : TSR_OK;
}

tsr_status tsr_event_done(bool *out, const tsr_event *e)
{
    const tsr_backend *b = NULL;
    int index = 0;
    TSRI_CHECK(out, TSR_ENULL, "event_done: out is NULL");
    TSRI_CHECK(e, TSR_ENULL, "event_done: e is NULL");
    TSRI_TRY(tsri_backend_of(&b, &index, "event_done", e->device));
    *out = true;
    return b->event_done ? TSRI_ASK("event_done", b, b->event_done(index, e->handle, out)) : TSR_OK;
}

tsr_status tsr_event_elapsed(double *seconds, const tsr_event *from, const tsr_event *to)
{
    const tsr_backend *b = NULL;
    int index = 0;
    TSRI_CHECK(seconds, TSR_ENULL, "event_elapsed: seconds is NULL");
    TSRI_CHECK(from && to, TSR_ENULL, "event_elapsed: %s is NULL", from ? "to" : "from");
    TSRI_CHECK(from->device == to->device, TSR_EDEVICE, "event_elapsed: events on devices %d and %d",
               (int)from->device, (int)to->device);
    TSRI_TRY(tsri_backend_of(&b, &index, "event_elapsed", from->device));
    *seconds = 0;
    return b->event_elapsed
               ? TSRI_ASK("event_elapsed", b, b->event_elapsed(index, seconds, from->handle, to->handle))
               : TSR_OK;
}

tsr_status tsri_stream_after(tsr_device device, int on, int other)
{
    const tsr_backend *b = NULL;
    int index = 0;
    void *waits = NULL, *goes = NULL, *event = NULL;
    TSRI_TRY(tsri_backend_of(&b, &index, "stream_wait", device));
    if (!b->stream_create) return TSR_OK;
    TSRI_TRY(TSRI_ASK("event_create", b, b->event_create(&event, index)));
    const uint32_t failures = tsri_failures();
    tsri_lock(&lock);  /* no stream is destroyed meanwhile; one that was destroyed has finished its work */
    const bool there = find_handle(device, other, &goes);
    tsr_status s = there ? b->event_record(index, event, goes) : TSR_OK;
    (void)find_handle(device, on, &waits);
    tsri_unlock(&lock);
    if (s == TSR_OK && there) s = b->stream_wait(index, waits, event);
    b->event_destroy(index, event);
    return tsri_backend_end(s, failures, "stream_wait", b);
}
