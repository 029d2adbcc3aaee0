/* streams.h - streams from inside: which one an op goes to, and who still uses a storage. */
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

/* Makes work that is queued on `on` from now on wait for what is queued on `other`, another stream, until
 * now. */
tsr_status tsri_stream_after(tsr_device device, int on, int other);

/* Calls a backend's entry, with words if it has none. */
#define TSRI_ASK(op, backend, call) (tsri_backend_ask(), tsri_backend_status((call), (op), (backend)))

/* Graphs (graphs.c) ---------------------------------------------------------------------
 *
 * What is kept for a graph uses memory again whenever it is launched. So a block that is taken or
 * left while a stream keeps a graph belongs to the graph: it is given out again only within
 * the same graph, until that is destroyed. */

/* A block of `reserved` bytes that work kept on this stream left; NULL if there is none. */
void *tsri_graph_take(tsr_device device, int stream, size_t reserved, tsr_memory kind);

/* A block was taken, while the stream may keep a graph. */
void tsri_graph_took(tsr_device device, int stream, void *data, size_t reserved, tsr_memory kind);

/* Does a graph hold on to this block, which its tensor leaves? */
bool tsri_graph_gave(tsr_device device, int stream, void *data, size_t reserved, tsr_memory kind);

#endif
