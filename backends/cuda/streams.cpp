/* streams.cpp - memory, bytes between host and device, streams, events and graphs. */
#include "cuda.h"

namespace tsrc {

/* Memory -------------------------------------------------------------------------------------- */

static tsr_status take_memory(void **out, int device, size_t bytes, tsr_memory kind)
{
    TSRC_TRY(use_device(device));
    const Beside beside;
    if (kind == TSR_MEMORY_DEVICE) {
        cudaError_t e = cudaMalloc(out, bytes);
        if (e == cudaErrorMemoryAllocation && trim_scratch(device)) e = cudaMalloc(out, bytes);
        return check(device, "alloc", e);
    }
    if (kind == TSR_MEMORY_MANAGED || kind == TSR_MEMORY_MEDIA)
        return check(device, "alloc", cudaMallocManaged(out, bytes, cudaMemAttachGlobal));
    return say(TSR_EUNSUPPORTED, "alloc: cuda has no memory of kind %d", static_cast<int>(kind));
}

static void give_memory(int device, void *data, size_t bytes, tsr_memory kind)
{
    (void)bytes;
    (void)kind;
    const Beside beside;
    if (use_device(device) == TSR_OK) (void)cudaFree(data);
    (void)cudaGetLastError();
}

static tsr_status take_pinned(void **out, size_t bytes)
{
    const Beside beside;
    return check(0, "alloc", cudaHostAlloc(out, bytes, cudaHostAllocPortable));
}

static void give_pinned(void *data, size_t bytes)
{
    (void)bytes;
    const Beside beside;
    (void)cudaFreeHost(data);
    (void)cudaGetLastError();
}

/* Is it memory that the device copies from and to by itself? */
static bool is_pinned(const void *data)
{
    cudaPointerAttributes a;
    if (cudaPointerGetAttributes(&a, data) == cudaSuccess) return a.type == cudaMemoryTypeHost;
    (void)cudaGetLastError();
    return false;
}

/* Is work of the stream kept in a graph rather than done? */
static bool is_capturing(cudaStream_t stream)
{
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    return cudaStreamIsCapturing(stream, &status) == cudaSuccess && status != cudaStreamCaptureStatusNone;
}

/* Waits for the copy if the host's memory is not pinned, as the caller may reuse it after the return. */
static tsr_status transfer(int device, void *dst, const void *src, size_t bytes, void *handle, bool up)
{
    TSRC_TRY(use_device(device));
    const cudaStream_t stream = stream_of(device, handle);
    const char *what = up ? "upload" : "download";
    TSRC_TRY(check(
        device, what,
        cudaMemcpyAsync(dst, src, bytes, up ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, stream)));
    if (is_pinned(up ? src : dst) || is_capturing(stream)) return TSR_OK;
    return check(device, what, wait_for(device, stream));
}

static tsr_status upload(int device, void *dst, const void *src, size_t bytes, void *stream)
{
    return transfer(device, dst, src, bytes, stream, true);
}

static tsr_status download(int device, void *dst, const void *src, size_t bytes, void *stream)
{
    return transfer(device, dst, src, bytes, stream, false);
}

cudaError_t copy_rows(void *dst, size_t dst_step, const void *src, size_t src_step, size_t bytes, size_t rows,
                      cudaMemcpyKind kind, cudaStream_t stream)
{
    const size_t longest = INT32_MAX; /* the pitch that CUDA takes at most */
    if (dst_step <= longest && src_step <= longest)
        return cudaMemcpy2DAsync(dst, dst_step, src, src_step, bytes, rows, kind, stream);
    for (size_t i = 0; i < rows; i++) {
        char *to = static_cast<char *>(dst) + i * dst_step;
        const cudaError_t e =
            cudaMemcpyAsync(to, static_cast<const char *>(src) + i * src_step, bytes, kind, stream);
        if (e != cudaSuccess) return e;
    }
    return cudaSuccess;
}

static tsr_status upload_rows(int device, void *dst, size_t dst_step, const void *src, size_t src_step,
                              size_t bytes, size_t rows, void *stream)
{
    TSRC_TRY(use_device(device));
    return check(device, "upload",
                 copy_rows(dst, dst_step, src, src_step, bytes, rows, cudaMemcpyHostToDevice,
                           stream_of(device, stream)));
}

static tsr_status download_rows(int device, void *dst, size_t dst_step, const void *src, size_t src_step,
                                size_t bytes, size_t rows, void *stream)
{
    TSRC_TRY(use_device(device));
    return check(device, "download",
                 copy_rows(dst, dst_step, src, src_step, bytes, rows, cudaMemcpyDeviceToHost,
                           stream_of(device, stream)));
}

static tsr_status peer(int to, void *dst, int from, const void *src, size_t bytes, void *stream)
{
    TSRC_TRY(use_device(to));
    return check(to, "copy", cudaMemcpyPeerAsync(dst, to, src, from, bytes, stream_of(to, stream)));
}

void fill_memory(tsr_backend *t)
{
    t->alloc = take_memory;
    t->free = give_memory;
    t->host_alloc = take_pinned;
    t->host_free = give_pinned;
    t->upload = upload;
    t->download = download;
    t->upload_rows = upload_rows;
    t->download_rows = download_rows;
    t->peer = peer;
}

/* Streams -------------------------------------------------------------------------------------- */

static tsr_status sync_device(int device)
{
    TSRC_TRY(use_device(device));
    return check(device, "sync", wait_for_all(device));
}

static tsr_status stream_create(void **out, int device)
{
    cudaStream_t s = nullptr;
    TSRC_TRY(use_device(device));
    TSRC_TRY(check(device, "stream_create", cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking)));
    *out = s;
    return TSR_OK;
}

static void stream_destroy(int device, void *stream)
{
    if (use_device(device) == TSR_OK) (void)cudaStreamDestroy(static_cast<cudaStream_t>(stream));
    (void)cudaGetLastError();
}

static tsr_status stream_sync(int device, void *stream)
{
    TSRC_TRY(use_device(device));
    return check(device, "stream_sync", wait_for(device, stream_of(device, stream)));
}

/* A graph cannot wait for work outside it. What it is to wait for was queued before, so that it is
 * waited for now. True: the event is of the graph's own work. */
static bool is_of_graph(int device, cudaEvent_t event)
{
    const Beside beside;
    const cudaError_t e = cudaEventQuery(event);
    if (e == cudaErrorNotReady) (void)wait_for_event(device, event);
    (void)cudaGetLastError();
    return e == cudaErrorCapturedEvent;
}

static tsr_status stream_wait(int device, void *stream, void *event)
{
    TSRC_TRY(use_device(device));
    const cudaStream_t s = stream_of(device, stream);
    const cudaEvent_t e = static_cast<cudaEvent_t>(event);
    if (is_capturing(s) && !is_of_graph(device, e)) return TSR_OK;
    return check(device, "stream_wait", cudaStreamWaitEvent(s, e, 0));
}

/* Events ---------------------------------------------------------------------------------------- */

static tsr_status event_create(void **out, int device)
{
    cudaEvent_t e = nullptr;
    TSRC_TRY(use_device(device));
    TSRC_TRY(check(device, "event_create", cudaEventCreate(&e)));
    *out = e;
    return TSR_OK;
}

static void event_destroy(int device, void *event)
{
    if (use_device(device) == TSR_OK) (void)cudaEventDestroy(static_cast<cudaEvent_t>(event));
    (void)cudaGetLastError();
}

static tsr_status event_record(int device, void *event, void *stream)
{
    TSRC_TRY(use_device(device));
    return check(device, "event_record",
                 cudaEventRecord(static_cast<cudaEvent_t>(event), stream_of(device, stream)));
}

static tsr_status event_sync(int device, void *event)
{
    TSRC_TRY(use_device(device));
    return check(device, "event_sync", wait_for_event(device, static_cast<cudaEvent_t>(event)));
}

static tsr_status event_done(int device, void *event, bool *done)
{
    TSRC_TRY(use_device(device));
    const cudaError_t e = cudaEventQuery(static_cast<cudaEvent_t>(event));
    *done = e == cudaSuccess;
    if (e != cudaErrorNotReady) return check(device, "event_done", e);
    (void)cudaGetLastError();
    return TSR_OK;
}

static tsr_status event_elapsed(int device, double *seconds, void *from, void *to)
{
    float ms = 0;
    TSRC_TRY(use_device(device));
    TSRC_TRY(check(device, "event_elapsed",
                   cudaEventElapsedTime(&ms, static_cast<cudaEvent_t>(from), static_cast<cudaEvent_t>(to))));
    *seconds = static_cast<double>(ms) * 1e-3;
    return TSR_OK;
}

/* Graphs ---------------------------------------------------------------------------------------- */

static tsr_status graph_begin(int device, void *stream)
{
    TSRC_TRY(use_device(device));
    const cudaStream_t s = stream_of(device, stream);
    if (is_capturing(s)) return say(TSR_EBUSY, "graph_begin: the stream is keeping a graph already");
    return check(device, "graph_begin", cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
}

static tsr_status graph_end(int device, void *stream, void **out)
{
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    TSRC_TRY(use_device(device));
    const cudaStream_t s = stream_of(device, stream);
    if (!is_capturing(s)) return say(TSR_EINVAL, "graph_end: the stream is keeping no graph");
    TSRC_TRY(check(device, "graph_end", cudaStreamEndCapture(s, &graph)));
    const cudaError_t e = cudaGraphInstantiate(&exec, graph, 0);
    (void)cudaGraphDestroy(graph);
    TSRC_TRY(check(device, "graph_end", e));
    *out = exec;
    return TSR_OK;
}

static tsr_status graph_launch(int device, void *graph, void *stream)
{
    TSRC_TRY(use_device(device));
    return check(device, "graph_launch",
                 cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph), stream_of(device, stream)));
}

static void graph_destroy(int device, void *graph)
{
    if (use_device(device) == TSR_OK) (void)cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(graph));
    (void)cudaGetLastError();
}

static int64_t waits(int device) { return devices[device].waits.load(std::memory_order_relaxed); }

void fill_streams(tsr_backend *t)
{
    t->waits = waits;
    t->sync = sync_device;
    t->stream_create = stream_create;
    t->stream_destroy = stream_destroy;
    t->stream_sync = stream_sync;
    t->stream_wait = stream_wait;
    t->event_create = event_create;
    t->event_destroy = event_destroy;
    t->event_record = event_record;
    t->event_sync = event_sync;
    t->event_done = event_done;
    t->event_elapsed = event_elapsed;
    t->graph_begin = graph_begin;
    t->graph_end = graph_end;
    t->graph_launch = graph_launch;
    t->graph_destroy = graph_destroy;
}

} // namespace tsrc
