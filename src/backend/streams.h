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

/* The handle of stream `number`, if there is one now. Number 0 is NULL and always there. */
bool tsri_stream_handle(tsr_device device, int number, void **handle);

/* Queued work on this stream uses the storage. s may be NULL. */
void tsri_storage_used(tsr_storage *s, int number);

/* Makes work that is queued on `on` from now on wait for what is queued on `other` until now. */
tsr_status tsri_stream_after(tsr_device device, int on, int other);

#endif
