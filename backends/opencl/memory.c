/* memory.c - addresses and the buffers they stand for; bytes to and fro.
 *
 * The address of an allocation is that of pages without access, mapped for it: so addresses of the host and
 * of devices differ, and a program that reads device memory through its pointer faults at once. A sorted
 * table maps an address to its buffer; every op reads it, only allocating and freeing write it. */
#include "opencl.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct range {
    uintptr_t from;
    size_t    bytes;
    cl_mem    mem;
} range;

/* By address. */
typedef struct table {
    pthread_rwlock_t lock;
    range           *ranges;
    size_t           count, room;
} table;

static table buffers = { PTHREAD_RWLOCK_INITIALIZER, NULL, 0, 0 };  /* of devices */
static table pinned = { PTHREAD_RWLOCK_INITIALIZER, NULL, 0, 0 };   /* of the host: mapped buffers */

/* How many ranges begin at or before the address. */
static size_t rank_of(const table *t, uintptr_t address)
{
    size_t low = 0, high = t->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (t->ranges[middle].from <= address) low = middle + 1;
        else high = middle;
    }
    return low;
}

static bool look_up(table *t, range *out, const void *address)
{
    bool found = false;
    pthread_rwlock_rdlock(&t->lock);
    const size_t rank = rank_of(t, (uintptr_t)address);
    if (rank > 0) {
        *out = t->ranges[rank - 1];
        found = (uintptr_t)address - out->from < out->bytes;
    }
    pthread_rwlock_unlock(&t->lock);
    return found;
}

static bool insert(table *t, range r)
{
    bool ok = true;
    pthread_rwlock_wrlock(&t->lock);
    if (t->count == t->room) {
        const size_t room = t->room ? 2 * t->room : 256;
        range *more = realloc(t->ranges, room * sizeof *more);
        ok = more != NULL;
        if (ok) {
            t->ranges = more;
            t->room = room;
        }
    }
    if (ok) {
        const size_t rank = rank_of(t, r.from);
        memmove(t->ranges + rank + 1, t->ranges + rank, (t->count - rank) * sizeof r);
        t->ranges[rank] = r;
        t->count++;
    }
    pthread_rwlock_unlock(&t->lock);
    return ok;
}

static bool take_out(table *t, range *out, const void *address)
{
    bool found = false;
    pthread_rwlock_wrlock(&t->lock);
    const size_t rank = rank_of(t, (uintptr_t)address);
    if (rank > 0 && t->ranges[rank - 1].from == (uintptr_t)address) {
        *out = t->ranges[rank - 1];
        memmove(t->ranges + rank - 1, t->ranges + rank, (t->count - rank) * sizeof *out);
        t->count--;
        found = true;
    }
    pthread_rwlock_unlock(&t->lock);
    return found;
}

tsr_status ocl_find(ocl_place *out, const void *address)
{
    range r;
    *out = (ocl_place){ NULL, 0 };
    if (!look_up(&buffers, &r, address))
        return ocl_fail(TSR_EDEVICE, "opencl: %p is no address of a device", address);
    out->mem = r.mem;
    out->offset = (uintptr_t)address - r.from;
    return TSR_OK;
}

tsr_status ocl_buffer_size(size_t *out, const void *address)
{
    range r;
    if (!look_up(&buffers, &r, address))
        return ocl_fail(TSR_EDEVICE, "opencl: %p is no address of a device", address);
    *out = r.bytes;
    return TSR_OK;
}

/* Allocation --------------------------------------------------------------------------- */

static size_t page_rounded(size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

/* Room for the bytes, counted as used; or why there is none. */
static tsr_status count_in(ocl_device *d, size_t bytes)
{
    pthread_mutex_lock(&d->lock);
    const cl_ulong rest = d->memory > d->used ? d->memory - d->used : 0;
    const bool fits = bytes <= d->most && bytes <= rest;
    if (fits) d->used += bytes;
    pthread_mutex_unlock(&d->lock);
    if (fits) return TSR_OK;
    return ocl_fail(TSR_ENOMEM, "opencl:%d: %zu bytes do not fit (at most %llu at once, %llu are left)",
                    d->index, bytes, (unsigned long long)d->most, (unsigned long long)rest);
}

static void count_out(ocl_device *d, size_t bytes)
{
    pthread_mutex_lock(&d->lock);
    d->used -= bytes;
    pthread_mutex_unlock(&d->lock);
}

static tsr_status make_buffer(cl_mem *out, ocl_device *d, size_t bytes)
{
    cl_int error = CL_SUCCESS;
    *out = ocl.clCreateBuffer(d->context, CL_MEM_READ_WRITE, bytes, NULL, &error);
    if (error == CL_SUCCESS) return TSR_OK;
    return ocl_fail(ocl_status(error), "opencl:%d: no buffer of %zu bytes (%s)", d->index, bytes,
                    ocl_error_name(error));
}

tsr_status ocl_alloc(void **out, int device, size_t bytes, tsr_memory kind)
{
    ocl_device *d = ocl_device_at(device);
    range r = { 0, bytes, NULL };
    if (kind != TSR_MEMORY_DEVICE)
        return ocl_fail(TSR_EUNSUPPORTED, "opencl:%d: there is no memory that host and device share", device);
    OCL_TRY(count_in(d, bytes));
    tsr_status s = make_buffer(&r.mem, d, bytes);
    if (s != TSR_OK) {
        count_out(d, bytes);
        return s;
    }
    void *pages =
        mmap(NULL, page_rounded(bytes), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    r.from = (uintptr_t)pages;
    if (pages != MAP_FAILED && insert(&buffers, r)) {
        *out = pages;
        return TSR_OK;
    }
    if (pages != MAP_FAILED) (void)munmap(pages, page_rounded(bytes));
    (void)ocl.clReleaseMemObject(r.mem);
    count_out(d, bytes);
    return ocl_fail(TSR_ENOMEM, "opencl:%d: no addresses for %zu bytes", device, bytes);
}

void ocl_free(int device, void *data, size_t bytes, tsr_memory kind)
{
    range r;
    (void)bytes; (void)kind;
    if (!take_out(&buffers, &r, data)) return;
    (void)ocl.clReleaseMemObject(r.mem);
    (void)munmap(data, page_rounded(r.bytes));
    count_out(ocl_device_at(device), r.bytes);
}

tsr_status ocl_scratch(cl_mem *out, const ocl_call *call, size_t bytes)
{
    return make_buffer(out, call->device, bytes ? bytes : 1);
}

tsr_status ocl_constant(cl_mem *out, const ocl_call *call, const void *data, size_t bytes)
{
    cl_int error = CL_SUCCESS;
    *out = ocl.clCreateBuffer(call->device->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes,
                              (void *)(uintptr_t)data, &error);
    if (error == CL_SUCCESS) return TSR_OK;
    return ocl_fail(ocl_status(error), "%s: opencl:%d: no buffer of %zu bytes (%s)", call->name,
                    call->device->index, bytes, ocl_error_name(error));
}

/* The host's ---------------------------------------------------------------------------- */

/* Mapped for good: drivers copy such memory without another copy in between. Of the first device. */
tsr_status ocl_host_alloc(void **out, size_t bytes)
{
    ocl_device *d = ocl_device_at(0);
    ocl_stream *s;
    cl_int error = CL_SUCCESS;
    range r = { 0, bytes, NULL };
    OCL_TRY(ocl_stream_of(&s, 0, NULL));
    r.mem = ocl.clCreateBuffer(d->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, NULL, &error);
    if (error != CL_SUCCESS)
        return ocl_fail(TSR_ENOMEM, "opencl: no pinned memory of %zu bytes (%s)", bytes,
                        ocl_error_name(error));
    void *data = ocl.clEnqueueMapBuffer(s->queue, r.mem, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0,
                                        NULL, NULL, &error);
    r.from = (uintptr_t)data;
    if (error == CL_SUCCESS && insert(&pinned, r)) {
        *out = data;
        return TSR_OK;
    }
    if (error == CL_SUCCESS) (void)ocl.clEnqueueUnmapMemObject(s->queue, r.mem, data, 0, NULL, NULL);
    (void)ocl.clReleaseMemObject(r.mem);
    return ocl_fail(TSR_ENOMEM, "opencl: no pinned memory of %zu bytes", bytes);
}

void ocl_host_free(void *data, size_t bytes)
{
    range r;
    ocl_stream *s;
    (void)bytes;
    if (!take_out(&pinned, &r, data)) return;
    if (ocl_stream_of(&s, 0, NULL) == TSR_OK) {
        (void)ocl.clEnqueueUnmapMemObject(s->queue, r.mem, data, 0, NULL, NULL);
        (void)ocl.clFinish(s->queue);
    }
    (void)ocl.clReleaseMemObject(r.mem);
}

/* Transfers ------------------------------------------------------------------------------ */

static cl_bool must_wait(const void *of_host)
{
    range r;
    return look_up(&pinned, &r, of_host) ? CL_FALSE : CL_TRUE;
}

tsr_status ocl_upload(int device, void *dst, const void *src, size_t bytes, void *stream)
{
    ocl_stream *s;
    ocl_place to;
    OCL_TRY(ocl_stream_of(&s, device, stream));
    OCL_TRY(ocl_find(&to, dst));
    cl_int error =
        ocl.clEnqueueWriteBuffer(s->queue, to.mem, must_wait(src), to.offset, bytes, src, 0, NULL, NULL);
    if (error == CL_SUCCESS) error = ocl.clFlush(s->queue);
    return ocl_queued(s, error, "clEnqueueWriteBuffer");
}

tsr_status ocl_download(int device, void *dst, const void *src, size_t bytes, void *stream)
{
    ocl_stream *s;
    ocl_place from;
    OCL_TRY(ocl_stream_of(&s, device, stream));
    OCL_TRY(ocl_find(&from, src));
    cl_int error =
        ocl.clEnqueueReadBuffer(s->queue, from.mem, must_wait(dst), from.offset, bytes, dst, 0, NULL, NULL);
    if (error == CL_SUCCESS) error = ocl.clFlush(s->queue);
    return ocl_queued(s, error, "clEnqueueReadBuffer");
}
