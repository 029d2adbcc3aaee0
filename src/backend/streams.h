/* streams.h - streams inside the library: which one an op is queued on, and which ones use a storage. */
#ifndef TSRI_STREAMS_H
#define TSRI_STREAMS_H

#include "core/storage.h"
#include "registry.h"
#include "tessera/stream.h"

enum { TSRI_MAX_STREAMS = 64 };  /* of a device; number 0 is its own */

struct tsr_stream {
    tsr_device  device;
    int32_t     number;  /* 1 .. TSRI_MAX_STREAMS - 1; its bit in tsr_storage.streams */
    void       *handle;
};

/* This thread's current stream on a device that is not the CPU: its number, and the backend's handle. */
int tsri_stream_now(tsr_device device, void **handle);

/* The handle of a stream of this device; of this thread's current one for NULL. TSR_EDEVICE if the
 * stream is another device's. */
tsr_status tsri_stream_handle_of(void **out, const char *op, const tsr_stream *s, tsr_device device);

/* Queued work on this stream uses the storage. s may be NULL. */
void tsri_storage_used(tsr_storage *s, int number);

/* Work that is queued on stream `on` after this call waits for all that was queued on stream `other`
 * before. */
tsr_status tsri_stream_after(tsr_device device, int on, int other);

/* Calls a function of a backend; a failure without a message gets one. */
#define TSRI_ASK(op, backend, call) (tsri_backend_ask(), tsri_backend_status((call), (op), (backend)))

/* Graphs (graphs.c) ---------------------------------------------------------------------
 *
 * A graph uses the same memory whenever it is launched. So a block that is taken or given back while a
 * stream records a graph belongs to the graph: only the recording of the same graph may reuse it, until
 * the graph is destroyed. */

/* An idle block of `reserved` bytes of the graph that this stream is recording; NULL if there is none. */
void *tsri_graph_take(tsr_device device, int stream, size_t reserved, tsr_memory kind);

/* To be called when a block was taken: it then belongs to the graph that the stream is recording, if any. */
void tsri_graph_took(tsr_device device, int stream, void *data, size_t reserved, tsr_memory kind);

/* To be called when a block is released. True if it belongs to a graph, which then keeps it. */
bool tsri_graph_gave(tsr_device device, int stream, void *data, size_t reserved, tsr_memory kind);

#endif
