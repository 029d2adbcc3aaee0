/* infinirt.cpp - InfiniRT over Tessera's devices, streams and storages. */
#include "infinirt.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <unordered_map>

#include "device.h"
#include "live.h"

using namespace face;

namespace {

/* Each thread's device. */
thread_local infiniDevice_t current_type = INFINI_DEVICE_CPU;
thread_local int            current_id = 0;
thread_local tsr_device     current = TSR_CPU;

bool on_cpu() { return current == TSR_CPU; }

/* The CPU does its work at once; all its streams are this one. */
char cpu_stream;

using Clock = std::chrono::steady_clock;

struct Event {
    uint32_t          flags = 0;
    bool              recorded = false;
    Clock::time_point when;
    void             *device_event = nullptr; /* a tsr_event; NULL on the CPU */
};

/* Memory of devices: whose storage a pointer begins. */
struct Blocks {
    std::mutex lock;
    std::unordered_map<void *, tsr_storage *> at;
};

Blocks &blocks()
{
    static Blocks *all = new Blocks; /* never destroyed: programs may free at exit */
    return *all;
}

/* What this library gave out, and is not destroyed. Memory of the host is here, of devices in the blocks. */
enum Kind : uint32_t { STREAM = 1, EVENT, GRAPH, MEMORY };
Live live;

/* NULL, and the CPU's stream, are the device's own. */
infiniStatus_t find(tsr_stream **out, infinirtStream_t s)
{
    *out = s == &cpu_stream ? nullptr : (tsr_stream *)s;
    return !*out || live.kind(s) == STREAM ? INFINI_STATUS_SUCCESS : INFINI_STATUS_BAD_PARAM;
}

infiniStatus_t find(Event **out, infinirtEvent_t e)
{
    *out = (Event *)e;
    if (!e) return INFINI_STATUS_NULL_POINTER;
    return live.kind(e) == EVENT ? INFINI_STATUS_SUCCESS : INFINI_STATUS_BAD_PARAM;
}

infiniStatus_t host_alloc(void **out, size_t size)
{
    void *p = nullptr;
    if (posix_memalign(&p, 64, size ? size : 1)) return INFINI_STATUS_INTERNAL_ERROR;
    if (!live.add(p, MEMORY)) {
        std::free(p);
        return INFINI_STATUS_INTERNAL_ERROR;
    }
    *out = p;
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t host_free(void *p)
{
    if (!p) return INFINI_STATUS_SUCCESS;
    if (!live.remove(p, MEMORY)) return INFINI_STATUS_BAD_PARAM;
    std::free(p);
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t device_alloc(void **out, size_t size)
{
    tsr_storage *s = nullptr;
    FACE_TRY(status_of(tsr_storage_create(&s, size ? size : 1, current, TSR_MEMORY_HOST)));
    try {
        std::lock_guard<std::mutex> hold(blocks().lock);
        blocks().at[tsr_storage_data(s)] = s;
    } catch (const std::bad_alloc &) {
        tsr_storage_release(&s);
        return INFINI_STATUS_INTERNAL_ERROR;
    }
    *out = tsr_storage_data(s);
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t device_free(void *p)
{
    tsr_storage *s = nullptr;
    {
        std::lock_guard<std::mutex> hold(blocks().lock);
        const auto found = blocks().at.find(p);
        if (found == blocks().at.end()) return INFINI_STATUS_BAD_PARAM;
        s = found->second;
        blocks().at.erase(found);
    }
    tsr_storage_release(&s);
    return INFINI_STATUS_SUCCESS;
}

/* Bytes at p, on the host or a device. */
tsr_status place(tsr_tensor *t, const void *p, size_t size, tsr_device where)
{
    tsr_desc d;
    const int64_t n = (int64_t)size;
    TSR_TRY(tsr_desc_init(&d, TSR_U8, 1, &n, nullptr));
    TSR_TRY(tsr_place(t, const_cast<void *>(p), &d));
    if (where == TSR_CPU) return TSR_OK;
    t->device = where;
    t->memory = TSR_MEMORY_DEVICE;
    return TSR_OK;
}

infiniStatus_t copy(void *dst, tsr_device dst_where, const void *src, tsr_device src_where, size_t size)
{
    if (!size) return INFINI_STATUS_SUCCESS;
    if (!dst || !src) return INFINI_STATUS_NULL_POINTER;
    if (size > (size_t)INT64_MAX) return INFINI_STATUS_BAD_PARAM;
    if (dst_where == TSR_CPU && src_where == TSR_CPU) {
        std::memmove(dst, src, size);
        return INFINI_STATUS_SUCCESS;
    }
    tsr_tensor to, from;
    FACE_TRY(status_of(place(&to, dst, size, dst_where)));
    FACE_TRY(status_of(place(&from, src, size, src_where)));
    return status_of(tsr_copy(&to, &from));
}

/* What body() queues goes to the stream. */
template <class Body>
infiniStatus_t on_stream(infinirtStream_t stream, Body &&body)
{
    tsr_stream *s = nullptr;
    FACE_TRY(find(&s, stream));
    if (on_cpu() || !s) return body();
    tsr_stream *before = tsr_stream_current(current);
    FACE_TRY(status_of(tsr_stream_use(s)));
    const infiniStatus_t done = body();
    FACE_TRY(status_of(before ? tsr_stream_use(before) : tsr_stream_use_default(current)));
    return done;
}

} // namespace

infiniStatus_t infinirtInit(void) { return INFINI_STATUS_SUCCESS; }

/* Devices ----------------------------------------------------------------------------- */

infiniStatus_t infinirtGetDeviceCount(infiniDevice_t device, int *count)
{
    tsr_device found;
    if (!count) return INFINI_STATUS_NULL_POINTER;
    if (!is_device_type(device)) return INFINI_STATUS_DEVICE_TYPE_NOT_SUPPORTED;
    *count = device == INFINI_DEVICE_CPU ? 1 : 0;
    if (device == INFINI_DEVICE_CPU) return INFINI_STATUS_SUCCESS;
    while (*count < 256 && find_device(&found, device, *count) == INFINI_STATUS_SUCCESS) ++*count;
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t infinirtGetAllDeviceCount(int *count_array)
{
    if (!count_array) return INFINI_STATUS_NULL_POINTER;
    for (int i = 0; i < INFINI_DEVICE_TYPE_COUNT; i++)
        FACE_TRY(infinirtGetDeviceCount((infiniDevice_t)i, &count_array[i]));
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t infinirtSetDevice(infiniDevice_t device, int device_id)
{
    tsr_device found;
    FACE_TRY(find_device(&found, device, device_id));
    current_type = device;
    current_id = device_id;
    current = found;
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t infinirtGetDevice(infiniDevice_t *device_ptr, int *device_id_ptr)
{
    if (!device_ptr && !device_id_ptr) return INFINI_STATUS_NULL_POINTER;
    if (device_ptr) *device_ptr = current_type;
    if (device_id_ptr) *device_id_ptr = current_id;
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t infinirtGetMemInfo(infiniDevice_t device, int device_id, size_t *free_bytes,
                                  size_t *total_bytes)
{
    tsr_device found;
    if (!free_bytes || !total_bytes) return INFINI_STATUS_NULL_POINTER;
    FACE_TRY(find_device(&found, device, device_id));
    tsr_device_info info;
    FACE_TRY(status_of(tsr_device_get_info(&info, found)));
    *free_bytes = (size_t)info.memory_free;
    *total_bytes = (size_t)info.memory_total;
    return info.memory_total ? INFINI_STATUS_SUCCESS : INFINI_STATUS_NOT_IMPLEMENTED;
}

infiniStatus_t infinirtGetDeviceResourceSnapshot(infiniDevice_t device, int device_id,
                                                 infinirtDeviceResourceSnapshot_t *snapshot)
{
    size_t free_bytes = 0, total_bytes = 0;
    tsr_device found;
    if (!snapshot) return INFINI_STATUS_NULL_POINTER;
    FACE_TRY(find_device(&found, device, device_id));
    *snapshot = {};
    snapshot->device_type = device;
    snapshot->device_id = device_id;
    if (infinirtGetMemInfo(device, device_id, &free_bytes, &total_bytes) != INFINI_STATUS_SUCCESS)
        return INFINI_STATUS_SUCCESS;
    snapshot->valid_fields = INFINIRT_RESOURCE_FIELD_MEMORY_CAPACITY;
    snapshot->free_bytes = free_bytes;
    snapshot->total_bytes = total_bytes;
    snapshot->used_bytes = total_bytes - free_bytes;
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t infinirtDeviceSynchronize(void)
{
    if (!on_cpu()) return status_of(tsr_device_sync(current));
    return INFINI_STATUS_SUCCESS;
}

/* Streams ------------------------------------------------------------------------------- */

infiniStatus_t infinirtStreamCreate(infinirtStream_t *stream_ptr)
{
    if (!stream_ptr) return INFINI_STATUS_NULL_POINTER;
    *stream_ptr = &cpu_stream;
    tsr_stream *s = nullptr;
    if (on_cpu()) return INFINI_STATUS_SUCCESS;
    FACE_TRY(status_of(tsr_stream_create(&s, current)));
    if (!live.add(s, STREAM)) {
        tsr_stream_destroy(&s);
        return INFINI_STATUS_INTERNAL_ERROR;
    }
    *stream_ptr = s;
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t infinirtStreamDestroy(infinirtStream_t stream)
{
    tsr_stream *s = nullptr;
    FACE_TRY(find(&s, stream));
    if (s && !live.remove(s, STREAM)) return INFINI_STATUS_BAD_PARAM;
    tsr_stream_destroy(&s);
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t infinirtStreamSynchronize(infinirtStream_t stream)
{
    tsr_stream *s = nullptr;
    FACE_TRY(find(&s, stream));
    if (s) return status_of(tsr_stream_sync(s));
    if (!on_cpu()) return status_of(tsr_device_sync(current));
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t infinirtStreamWaitEvent(infinirtStream_t stream, infinirtEvent_t event)
{
    Event *e = nullptr;
    tsr_stream *s = nullptr;
    FACE_TRY(find(&e, event));
    FACE_TRY(find(&s, stream));
    if (e->device_event) return status_of(tsr_stream_wait(s, (const tsr_event *)e->device_event));
    return INFINI_STATUS_SUCCESS;
}

/* Events ---------------------------------------------------------------------------------- */

infiniStatus_t infinirtEventCreateWithFlags(infinirtEvent_t *event_ptr, uint32_t flags)
{
    if (!event_ptr) return INFINI_STATUS_NULL_POINTER;
    if (flags & ~(uint32_t)(INFINIRT_EVENT_DISABLE_TIMING | INFINIRT_EVENT_BLOCKING_SYNC))
        return INFINI_STATUS_BAD_PARAM;
    Event *e = new (std::nothrow) Event;
    if (!e) return INFINI_STATUS_INTERNAL_ERROR;
    e->flags = flags;
    tsr_event *made = nullptr;
    const tsr_status s = on_cpu() ? TSR_OK : tsr_event_create(&made, current);
    if (s != TSR_OK || !live.add(e, EVENT)) {
        tsr_event_destroy(&made);
        delete e;
        return s == TSR_OK ? INFINI_STATUS_INTERNAL_ERROR : status_of(s);
    }
    e->device_event = made;
    *event_ptr = e;
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t infinirtEventCreate(infinirtEvent_t *event_ptr)
{
    return infinirtEventCreateWithFlags(event_ptr, INFINIRT_EVENT_DEFAULT);
}

infiniStatus_t infinirtEventRecord(infinirtEvent_t event, infinirtStream_t stream)
{
    Event *e = nullptr;
    tsr_stream *s = nullptr;
    FACE_TRY(find(&e, event));
    FACE_TRY(find(&s, stream));
    if (e->device_event) FACE_TRY(status_of(tsr_event_record((tsr_event *)e->device_event, s)));
    e->when = Clock::now();
    e->recorded = true;
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t infinirtEventQuery(infinirtEvent_t event, infinirtEventStatus_t *status_ptr)
{
    Event *e = nullptr;
    FACE_TRY(find(&e, event));
    if (!status_ptr) return INFINI_STATUS_NULL_POINTER;
    *status_ptr = INFINIRT_EVENT_COMPLETE;
    bool done = true;
    if (!e->device_event || !e->recorded) return INFINI_STATUS_SUCCESS;
    FACE_TRY(status_of(tsr_event_done(&done, (const tsr_event *)e->device_event)));
    if (!done) *status_ptr = INFINIRT_EVENT_NOT_READY;
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t infinirtEventSynchronize(infinirtEvent_t event)
{
    Event *e = nullptr;
    FACE_TRY(find(&e, event));
    if (e->device_event && e->recorded) return status_of(tsr_event_sync((const tsr_event *)e->device_event));
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t infinirtEventDestroy(infinirtEvent_t event)
{
    Event *e = nullptr;
    FACE_TRY(find(&e, event));
    if (!live.remove(e, EVENT)) return INFINI_STATUS_BAD_PARAM;
    tsr_event *made = (tsr_event *)e->device_event;
    if (made) tsr_event_destroy(&made);
    delete e;
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t infinirtEventElapsedTime(float *ms_ptr, infinirtEvent_t start, infinirtEvent_t end)
{
    Event *from = nullptr, *to = nullptr;
    FACE_TRY(find(&from, start));
    FACE_TRY(find(&to, end));
    if (!ms_ptr) return INFINI_STATUS_NULL_POINTER;
    if (!from->recorded || !to->recorded || ((from->flags | to->flags) & INFINIRT_EVENT_DISABLE_TIMING))
        return INFINI_STATUS_BAD_PARAM;
    if (from->device_event && to->device_event) {
        double seconds = 0;
        FACE_TRY(infinirtEventSynchronize(end));
        FACE_TRY(status_of(tsr_event_elapsed(&seconds, (const tsr_event *)from->device_event,
                                             (const tsr_event *)to->device_event)));
        *ms_ptr = (float)(seconds * 1e3);
        return INFINI_STATUS_SUCCESS;
    }
    *ms_ptr = std::chrono::duration<float, std::milli>(to->when - from->when).count();
    return INFINI_STATUS_SUCCESS;
}

/* Memory ------------------------------------------------------------------------------------ */

infiniStatus_t infinirtMalloc(void **p_ptr, size_t size)
{
    if (!p_ptr) return INFINI_STATUS_NULL_POINTER;
    return on_cpu() ? host_alloc(p_ptr, size) : device_alloc(p_ptr, size);
}

infiniStatus_t infinirtMallocHost(void **p_ptr, size_t size)
{
    return p_ptr ? host_alloc(p_ptr, size) : INFINI_STATUS_NULL_POINTER;
}

infiniStatus_t infinirtFree(void *ptr)
{
    return !on_cpu() && ptr ? device_free(ptr) : host_free(ptr);
}

infiniStatus_t infinirtFreeHost(void *ptr) { return host_free(ptr); }

infiniStatus_t infinirtMallocAsync(void **p_ptr, size_t size, infinirtStream_t)
{
    return infinirtMalloc(p_ptr, size);
}

infiniStatus_t infinirtFreeAsync(void *ptr, infinirtStream_t) { return infinirtFree(ptr); }

infiniStatus_t infinirtMemcpyAsync(void *dst, const void *src, size_t size, infinirtMemcpyKind_t kind,
                                   infinirtStream_t stream)
{
    if ((int)kind < INFINIRT_MEMCPY_H2H || (int)kind > INFINIRT_MEMCPY_D2D) return INFINI_STATUS_BAD_PARAM;
    const bool to_device = kind == INFINIRT_MEMCPY_H2D || kind == INFINIRT_MEMCPY_D2D;
    const bool from_device = kind == INFINIRT_MEMCPY_D2H || kind == INFINIRT_MEMCPY_D2D;
    return on_stream(stream, [=] {
        return copy(dst, to_device ? current : TSR_CPU, src, from_device ? current : TSR_CPU, size);
    });
}

infiniStatus_t infinirtMemcpy(void *dst, const void *src, size_t size, infinirtMemcpyKind_t kind)
{
    FACE_TRY(infinirtMemcpyAsync(dst, src, size, kind, nullptr));
    return infinirtDeviceSynchronize();
}

infiniStatus_t infinirtMemcpyPeer(void *dst, int dst_device, const void *src, int src_device, size_t size)
{
    tsr_device to, from;
    FACE_TRY(find_device(&to, current_type, dst_device));
    FACE_TRY(find_device(&from, current_type, src_device));
    return copy(dst, to, src, from, size);
}

infiniStatus_t infinirtMemcpyPeerAsync(void *dst, int dst_device, const void *src, int src_device,
                                       size_t size, infinirtStream_t stream)
{
    return on_stream(stream,
                     [=] { return infinirtMemcpyPeer(dst, dst_device, src, src_device, size); });
}

infiniStatus_t infinirtMemset(void *ptr, int value, size_t count)
{
    tsr_tensor t;
    if (!count) return INFINI_STATUS_SUCCESS;
    if (!ptr) return INFINI_STATUS_NULL_POINTER;
    if (count > (size_t)INT64_MAX) return INFINI_STATUS_BAD_PARAM;
    FACE_TRY(status_of(place(&t, ptr, count, current)));
    return status_of(tsr_fill(&t, TSR_SCALAR((unsigned)(unsigned char)value)));
}

infiniStatus_t infinirtMemsetAsync(void *ptr, int value, size_t count, infinirtStream_t stream)
{
    return on_stream(stream, [=] { return infinirtMemset(ptr, value, count); });
}

/* Graphs -------------------------------------------------------------------------------------- */

infiniStatus_t infinirtStreamBeginCapture(infinirtStream_t stream, infinirtStreamCaptureMode_t)
{
    tsr_stream *s = nullptr;
    FACE_TRY(find(&s, stream));
    return on_cpu() || !s ? INFINI_STATUS_NOT_IMPLEMENTED : status_of(tsr_graph_begin(s));
}

infiniStatus_t infinirtStreamEndCapture(infinirtStream_t stream, infinirtGraph_t *graph_ptr)
{
    tsr_graph *g = nullptr;
    tsr_stream *s = nullptr;
    if (!graph_ptr) return INFINI_STATUS_NULL_POINTER;
    FACE_TRY(find(&s, stream));
    if (on_cpu() || !s) return INFINI_STATUS_NOT_IMPLEMENTED;
    FACE_TRY(status_of(tsr_graph_end(&g, s)));
    if (!live.add(g, GRAPH)) {
        tsr_graph_destroy(&g);
        return INFINI_STATUS_INTERNAL_ERROR;
    }
    *graph_ptr = g;
    return INFINI_STATUS_SUCCESS;
}

/* A graph can run as it is: its executable is itself. */
infiniStatus_t infinirtGraphInstantiate(infinirtGraphExec_t *graph_exec_ptr, infinirtGraph_t graph,
                                        infinirtGraphNode_t *node_ptr, char *log_buffer, size_t buffer_size)
{
    if (!graph_exec_ptr || !graph) return INFINI_STATUS_NULL_POINTER;
    if (live.kind(graph) != GRAPH) return INFINI_STATUS_BAD_PARAM;
    if (node_ptr) *node_ptr = nullptr;
    if (log_buffer && buffer_size) log_buffer[0] = 0;
    *graph_exec_ptr = graph;
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t infinirtGraphLuanch(infinirtGraphExec_t graph_exec, infinirtStream_t stream)
{
    tsr_stream *s = nullptr;
    if (!graph_exec) return INFINI_STATUS_NULL_POINTER;
    if (live.kind(graph_exec) != GRAPH) return INFINI_STATUS_BAD_PARAM;
    FACE_TRY(find(&s, stream));
    return status_of(tsr_graph_launch((tsr_graph *)graph_exec, s));
}

infiniStatus_t infinirtGraphDestroy(infinirtGraph_t graph)
{
    tsr_graph *g = (tsr_graph *)graph;
    if (!g) return INFINI_STATUS_NULL_POINTER;
    if (!live.remove(g, GRAPH)) return INFINI_STATUS_BAD_PARAM;
    tsr_graph_destroy(&g);
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t infinirtGraphExecDestroy(infinirtGraphExec_t graph_exec)
{
    return graph_exec ? INFINI_STATUS_SUCCESS : INFINI_STATUS_NULL_POINTER; /* the graph owns it */
}

/* Virtual memory -------------------------------------------------------------------------------- */

infiniStatus_t infinirtGetMemGranularityMinimum(size_t *) { return INFINI_STATUS_NOT_IMPLEMENTED; }
infiniStatus_t infinirtCreatePhysicalMem(infinirtPhysicalMemoryHandle_t *, size_t)
{
    return INFINI_STATUS_NOT_IMPLEMENTED;
}
infiniStatus_t infinirtReleasePhysicalMem(infinirtPhysicalMemoryHandle_t)
{
    return INFINI_STATUS_NOT_IMPLEMENTED;
}
infiniStatus_t infinirtCreateVirtualMem(void **, size_t) { return INFINI_STATUS_NOT_IMPLEMENTED; }
infiniStatus_t infinirtMapVirtualMem(void *, size_t, size_t, infinirtPhysicalMemoryHandle_t)
{
    return INFINI_STATUS_NOT_IMPLEMENTED;
}
infiniStatus_t infinirtUnmapVirtualMem(void *, size_t) { return INFINI_STATUS_NOT_IMPLEMENTED; }
infiniStatus_t infinirtReleaseVirtualMem(void *, size_t) { return INFINI_STATUS_NOT_IMPLEMENTED; }
