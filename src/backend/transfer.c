/* transfer.c - elements from one device to another.
 *
 * Pinned memory, which the device reads and writes by itself, is transferred directly. Other memory is
 * transferred in chunks through a ring of pinned buffers: while the device moves one chunk, the host
 * packs or unpacks the next one, on all its threads. Packing also gathers strided elements and
 * converts dtypes, so these cost no further pass. */
#include "transfer.h"
#include "core/alloc.h"
#include "core/lock.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/see.h"
#include "registry.h"
#include "run.h"
#include "streams.h"

/* Two sides ----------------------------------------------------------------------------- */

typedef struct route {
    const tsr_backend *backend;
    int                index;
    tsr_device         device;
    int                number;  /* of the stream */
    void              *stream;
} route;

static tsr_status find_route(route *r, tsr_device device)
{
    TSRI_TRY(tsri_backend_of(&r->backend, &r->index, "copy", device));
    r->device = device;
    r->number = tsri_stream_now(device, &r->stream);
    return TSR_OK;
}

/* Does a desc fill all bytes it reaches over, each once? */
static bool is_dense(const tsr_desc *d)
{
    int64_t lo;
    return tsri_desc_span(d, &lo) == tsr_desc_numel(d) * tsri_dtype_size(d->dtype) &&
           !tsr_desc_self_overlaps(d);
}

/* The same dtype, and the same place of every element relative to the first. */
static bool same_layout(const tsr_desc *a, const tsr_desc *b)
{
    return a->dtype == b->dtype && tsr_desc_same(a, b);
}

/* The lowest byte of a tensor's elements; *bytes is how many bytes they reach over. */
static char *bytes_of(const tsr_tensor *t, size_t *bytes)
{
    int64_t lo;
    *bytes = (size_t)tsri_desc_span(&t->desc, &lo);
    return (char *)t->data + lo;
}

static tsr_status end(const route *r, uint32_t failures, tsr_status s)
{
    return tsri_backend_end(s, failures, "copy", r->backend);
}

/* A backend without these has memory that the host reaches. */
static tsr_status up(const route *r, void *to, const void *from, size_t bytes)
{
    const uint32_t failures = tsri_failures();
    if (r->backend->upload) return end(r, failures, r->backend->upload(r->index, to, from, bytes, r->stream));
    TSRI_TRY(tsr_device_sync(r->device));
    memcpy(to, from, bytes);
    return TSR_OK;
}

static tsr_status down(const route *r, void *to, const void *from, size_t bytes)
{
    const uint32_t failures = tsri_failures();
    if (r->backend->download)
        return end(r, failures, r->backend->download(r->index, to, from, bytes, r->stream));
    TSRI_TRY(tsr_device_sync(r->device));
    memcpy(to, from, bytes);
    return TSR_OK;
}

static tsr_status wait_for(const route *r)
{
    const uint32_t failures = tsri_failures();
    if (!r->backend->stream_sync) return TSR_OK;
    return end(r, failures, r->backend->stream_sync(r->index, r->stream));
}

/* The ring --------------------------------------------------------------------------------
 *
 * Each device has a ring, made when it is first needed. A slot is free when its event has happened. */

enum { SLOTS = 3, CHUNK = 16 << 20, DIRECT = 64 << 10, MAX_RINGS = 64 };

typedef struct ring {
    tsr_device device;
    tsri_mutex lock;
    void      *buffer[SLOTS], *event[SLOTS];
    bool       used[SLOTS];
    int        next;
} ring;

static tsri_mutex lock = TSRI_MUTEX_INIT;
static ring *rings[MAX_RINGS];
static int32_t nrings;

static void drop_ring(ring *g, const route *r)
{
    for (int i = 0; i < SLOTS; i++) {
        if (g->event[i]) r->backend->event_destroy(r->index, g->event[i]);
        if (g->buffer[i]) r->backend->host_free(g->buffer[i], CHUNK);
    }
    tsri_free(g, sizeof *g);
}

static ring *make_ring(const route *r)
{
    ring *g = nrings < MAX_RINGS ? tsri_alloc(sizeof *g, TSRI_CACHE_LINE) : NULL;
    if (!g) return NULL;
    *g = (ring){ .device = r->device, .lock = TSRI_MUTEX_INIT };
    for (int i = 0; i < SLOTS; i++)
        if (r->backend->host_alloc(&g->buffer[i], CHUNK) != TSR_OK ||
            r->backend->event_create(&g->event[i], r->index) != TSR_OK) {
            drop_ring(g, r);
            return NULL;
        }
    rings[nrings] = g;
    tsri_store_release(&nrings, nrings + 1);
    return g;
}

static ring *find_ring(tsr_device device)
{
    for (int i = 0; i < tsri_load_acquire(&nrings); i++)
        if (rings[i]->device == device) return rings[i];
    return NULL;
}

/* NULL where the backend has no use for one, or there is no room for it. */
static ring *ring_of(const route *r)
{
    if (!r->backend->host_alloc || !r->backend->event_create || !r->backend->upload) return NULL;
    ring *g = find_ring(r->device);
    if (g) return g;
    tsri_lock(&lock);
    g = find_ring(r->device);
    if (!g) g = make_ring(r);
    tsri_unlock(&lock);
    return g;
}

/* One transfer through a ring: packed bytes on the device, and a tensor of the host. */
typedef struct job {
    const route *r;
    ring        *ring;
    bool         upward;
    tsr_tensor   place[SLOTS], target[SLOTS];  /* downward: a buffer as a tensor, and where it goes */
    bool         waiting[SLOTS];
} job;

static tsr_status finish_slot(job *j, int slot)
{
    const uint32_t failures = tsri_failures();
    if (j->ring->used[slot]) {
        j->ring->used[slot] = false;
        TSRI_TRY(end(j->r, failures, j->r->backend->event_sync(j->r->index, j->ring->event[slot])));
    }
    if (!j->waiting[slot]) return TSR_OK;
    j->waiting[slot] = false;
    return tsri_copy_run(&j->target[slot], &j->place[slot]);
}

static tsr_status mark_slot(job *j, int slot)
{
    const uint32_t failures = tsri_failures();
    TSRI_TRY(
        end(j->r, failures, j->r->backend->event_record(j->r->index, j->ring->event[slot], j->r->stream)));
    j->ring->used[slot] = true;
    return TSR_OK;
}

/* One chunk: `there` is dense, of at most CHUNK bytes. */
static tsr_status move_chunk(job *j, tsr_tensor *there, const tsr_tensor *host)
{
    size_t bytes;
    int64_t lo;
    const int slot = j->ring->next;
    char *remote = bytes_of(there, &bytes);
    j->ring->next = (slot + 1) % SLOTS;
    TSRI_TRY(finish_slot(j, slot));
    tsr_tensor *place = &j->place[slot];
    *place = *there;
    (void)tsri_desc_span(&there->desc, &lo);
    place->data = (char *)j->ring->buffer[slot] - lo;
    place->storage = NULL;
    place->device = TSR_CPU;
    place->memory = TSR_MEMORY_HOST;
    if (j->upward) {
        TSRI_TRY(tsri_copy_run(place, host));
        TSRI_TRY(up(j->r, remote, j->ring->buffer[slot], bytes));
    } else {
        TSRI_TRY(down(j->r, j->ring->buffer[slot], remote, bytes));
        j->target[slot] = *host;
        j->waiting[slot] = true;
    }
    return mark_slot(j, slot);
}

static int outermost(const tsr_desc *d)
{
    int found = -1;
    for (int i = 0; i < d->ndim; i++)
        if (d->shape[i] > 1 && (found < 0 || d->stride[i] > d->stride[found])) found = i;
    return found;
}

/* Cut along the outermost dim of what is packed, so that each piece is packed too. */
static tsr_status move_pieces(job *j, const tsr_tensor *there, const tsr_tensor *host)
{
    tsr_tensor piece = *there, other = *host;
    const int axis = outermost(&there->desc);
    const int64_t bytes = tsr_numel(there) * tsri_dtype_size(there->dtype);
    if (bytes <= CHUNK) return move_chunk(j, &piece, &other);
    const int64_t n = there->shape[axis], row = bytes / n, step = row >= CHUNK ? 1 : CHUNK / row;
    for (int64_t i = 0; i < n; i += step) {
        const int64_t stop = i + step < n ? i + step : n;
        tsri_see_slice(&piece, there, axis, i, stop, 1);
        tsri_see_slice(&other, host, axis, i, stop, 1);
        TSRI_TRY(row > CHUNK ? move_pieces(j, &piece, &other) : move_chunk(j, &piece, &other));
    }
    return TSR_OK;
}

static tsr_status move_through(ring *g, const route *r, bool upward, const tsr_tensor *there,
                               const tsr_tensor *host)
{
    job j = { .r = r, .ring = g, .upward = upward };
    tsri_lock(&g->lock);
    tsr_status s = move_pieces(&j, there, host);
    for (int i = 0; i < SLOTS; i++) {
        const int slot = (g->next + i) % SLOTS;
        if (!j.waiting[slot]) continue;
        if (s == TSR_OK) s = finish_slot(&j, slot);
    }
    tsri_unlock(&g->lock);
    return s;
}

/* Up and down ------------------------------------------------------------------------------ */

/* Was the memory pinned by this device's backend, so that the device can read and write it by itself? */
static bool is_pinned_for(const tsr_tensor *t, const route *r)
{
    return t->storage && t->memory == TSR_MEMORY_PINNED && tsri_pinned_by(t->storage) == r->device;
}

/* Moves bytes as they are stored; both tensors are dense and have the same layout. */
static tsr_status move_bytes(const route *r, bool upward, const tsr_tensor *there, const tsr_tensor *host,
                             bool async)
{
    size_t bytes, same;
    char *remote = bytes_of(there, &bytes), *local = bytes_of(host, &same);
    const bool pinned = is_pinned_for(host, r);
    ring *g = pinned || bytes <= DIRECT ? NULL : ring_of(r);
    if (g) return move_through(g, r, upward, there, host);
    TSRI_TRY(upward ? up(r, remote, local, bytes) : down(r, local, remote, bytes));
    if (!pinned) return TSR_OK;
    tsri_storage_used(host->storage, r->number);
    return async ? TSR_OK : wait_for(r);
}

/* A temporary on the device, packed, with the order of dims of `like`. */
static tsr_status packed_on(tsr_tensor **out, const tsr_desc *like, tsr_dtype dtype, tsr_device device)
{
    tsr_desc d;
    TSRI_TRY(tsri_desc_packed_like(&d, like, dtype));
    return tsri_make(out, "copy", &d, device, TSR_MEMORY_DEFAULT);
}

/* The narrower of the two: fewer bytes are moved. */
static tsr_dtype transfer_dtype(const tsr_tensor *dst, const tsr_tensor *src)
{
    return tsr_dtype_size(dst->dtype) < tsr_dtype_size(src->dtype) ? dst->dtype : src->dtype;
}

/* Moves pinned memory row by row, without packing, where the host's tensor has long enough rows. False: it
 * has not, or the backend cannot do that. */
static bool move_rows(tsr_status *s, const route *r, bool upward, tsr_tensor *there, tsr_tensor *host,
                      bool async)
{
    enum { SHORTEST = 512 };  /* bytes of a row that are worth it */
    tsri_loop loop;
    const int64_t size = tsri_dtype_size(host->dtype);
    if (!r->backend->upload_rows || !is_pinned_for(host, r) || host->dtype != there->dtype) return false;
    tsri_loop_build(
        &loop, there->ndim, there->shape, 2,
        (const tsri_operand[]){ { there->data, there->stride, size }, { host->data, host->stride, size } },
        0);
    if (loop.ndim != 2 || loop.dim[1].step[1] != size) return false;  /* `there` is packed */
    const int64_t bytes = loop.dim[1].n * size, rows = loop.dim[0].n;
    const int64_t remote = loop.dim[0].step[0], local = loop.dim[0].step[1];
    if (bytes < SHORTEST || local < bytes) return false;
    tsri_backend_ask();
    *s = tsri_backend_status(
        upward ? r->backend->upload_rows(r->index, loop.base[0], (size_t)remote, loop.base[1], (size_t)local,
                                         (size_t)bytes, (size_t)rows, r->stream)
               : r->backend->download_rows(r->index, loop.base[1], (size_t)local, loop.base[0],
                                           (size_t)remote, (size_t)bytes, (size_t)rows, r->stream),
        "copy", r->backend);
    tsri_storage_used(host->storage, r->number);
    if (*s == TSR_OK && !async) *s = wait_for(r);
    return true;
}

/* Moves between a packed tensor of the device (there) and any tensor of the host: directly, through the
 * ring, or through a packed copy. */
static tsr_status exchange(const route *r, bool upward, tsr_tensor *there, tsr_tensor *host, bool async)
{
    tsr_tensor *packed = NULL;
    tsr_status moved;
    if (same_layout(&there->desc, &host->desc)) return move_bytes(r, upward, there, host, async);
    if (move_rows(&moved, r, upward, there, host, async)) return moved;
    ring *g = ring_of(r);
    if (g) return move_through(g, r, upward, there, host);
    TSRI_TRY(tsri_make(&packed, "copy", &there->desc, TSR_CPU, TSR_MEMORY_HOST));
    tsr_status s = upward ? tsri_copy_run(packed, host) : TSR_OK;
    if (s == TSR_OK) s = move_bytes(r, upward, there, packed, async);
    if (s == TSR_OK && !upward) s = tsri_copy_run(host, packed);
    tsr_release(&packed);
    return s;
}

/* The host's tensor without const: a transfer has one type for what it reads and writes. */
static tsr_tensor seen(const tsr_tensor *t) { return *t; }

static tsr_status upload(tsr_tensor *dst, const tsr_tensor *src, bool async)
{
    route r;
    tsr_tensor *there = NULL, host = seen(src);
    const tsr_dtype dtype = transfer_dtype(dst, src);
    TSRI_TRY(find_route(&r, dst->device));
    tsri_storage_used(dst->storage, r.number);
    if (dtype == dst->dtype && is_dense(&dst->desc)) return exchange(&r, true, dst, &host, async);
    TSRI_TRY(packed_on(&there, is_dense(&dst->desc) ? &dst->desc : &src->desc, dtype, dst->device));
    tsri_storage_used(there->storage, r.number);
    tsr_status s = exchange(&r, true, there, &host, async);
    if (s == TSR_OK) s = tsri_copy_run(dst, there);
    tsr_release(&there);
    return s;
}

static tsr_status download(tsr_tensor *dst, const tsr_tensor *src, bool async)
{
    route r;
    tsr_tensor *packed = NULL, there = seen(src);
    const tsr_dtype dtype = transfer_dtype(dst, src);
    TSRI_TRY(find_route(&r, src->device));
    tsri_storage_used(src->storage, r.number);
    if (dtype == src->dtype && is_dense(&src->desc) &&
        (same_layout(&dst->desc, &src->desc) || !is_dense(&dst->desc)))
        return exchange(&r, false, &there, dst, async);
    TSRI_TRY(packed_on(&packed, is_dense(&dst->desc) ? &dst->desc : &src->desc, dtype, src->device));
    tsr_status s = tsri_copy_run(packed, src);
    if (s == TSR_OK) s = exchange(&r, false, packed, dst, async);
    tsr_release(&packed);
    return s;
}

/* Between devices --------------------------------------------------------------------------- */

/* TSR_EUNSUPPORTED, without a message, if one device cannot copy from the other. Streams of different devices
 * are not ordered, so the host waits for the source's work before, and for the copy after. */
static tsr_status move_directly(tsr_tensor *dst, const tsr_tensor *src)
{
    size_t bytes, same;
    route to, from;
    char *target = bytes_of(dst, &bytes);
    const char *source = bytes_of(src, &same);
    TSRI_TRY(find_route(&to, dst->device));
    TSRI_TRY(find_route(&from, src->device));
    if (to.backend != from.backend || !to.backend->peer) return TSR_EUNSUPPORTED;
    TSRI_TRY(wait_for(&from));
    const tsr_status s = to.backend->peer(to.index, target, from.index, source, bytes, to.stream);
    if (s == TSR_EUNSUPPORTED) return s;
    tsri_storage_used(dst->storage, to.number);
    const uint32_t failures = tsri_failures();
    return s == TSR_OK ? wait_for(&to) : end(&to, failures, s);
}

static tsr_status move_packed(tsr_tensor *dst, const tsr_tensor *src)
{
    tsr_tensor *host = NULL;
    tsr_status s = move_directly(dst, src);
    if (s != TSR_EUNSUPPORTED) return s;
    TSRI_TRY(tsri_make(&host, "copy", &src->desc, TSR_CPU, TSR_MEMORY_HOST));
    s = download(host, src, false);
    if (s == TSR_OK) s = upload(dst, host, false);
    tsr_release(&host);
    return s;
}

/* Packed on the source's side, put in place on the other. */
static tsr_status across(tsr_tensor *dst, const tsr_tensor *src)
{
    tsr_tensor *packed = NULL, *there = NULL;
    const tsr_desc *like = is_dense(&dst->desc) ? &dst->desc : &src->desc;
    tsr_status s = packed_on(&packed, like, transfer_dtype(dst, src), src->device);
    if (s == TSR_OK) s = tsri_copy_run(packed, src);
    if (s == TSR_OK && same_layout(&dst->desc, &packed->desc)) s = move_packed(dst, packed);
    else if (s == TSR_OK) {
        s = packed_on(&there, &packed->desc, packed->dtype, dst->device);
        if (s == TSR_OK) s = move_packed(there, packed);
        if (s == TSR_OK) s = tsri_copy_run(dst, there);
    }
    tsr_release(&packed);
    tsr_release(&there);
    return s;
}

tsr_status tsri_transfer(tsr_tensor *dst, const tsr_tensor *src, bool async)
{
    if (tsr_numel(src) == 0) return TSR_OK;
    if (dst->device != TSR_CPU && src->device != TSR_CPU) return across(dst, src);
    return dst->device != TSR_CPU ? upload(dst, src, async) : download(dst, src, async);
}

tsr_status tsri_packed_here(tsr_tensor **out, const tsr_tensor *t)
{
    TSRI_TRY(packed_on(out, &t->desc, t->dtype, TSR_CPU));
    const tsr_status s = tsri_copy_run(*out, t);
    if (s != TSR_OK) tsr_release(out);
    return s;
}

/* Single elements ------------------------------------------------------------------------------ */

tsr_status tsri_element_read(void *out, const tsr_tensor *t, int64_t offset)
{
    route r;
    TSRI_TRY(find_route(&r, t->device));
    TSRI_TRY(down(&r, out, (const char *)t->data + offset, (size_t)tsri_dtype_size(t->dtype)));
    return wait_for(&r);
}

tsr_status tsri_element_write(tsr_tensor *t, int64_t offset, const void *value)
{
    route r;
    TSRI_TRY(find_route(&r, t->device));
    tsri_storage_used(t->storage, r.number);
    return up(&r, (char *)t->data + offset, value, (size_t)tsri_dtype_size(t->dtype));
}
