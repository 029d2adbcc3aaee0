/* stream.h - work that goes on while the program does something else.
 *
 * A device that works on its own has streams: queues of ops and copies, done in order.
 * Each thread has a current stream on each device, at first the device's own; ops go
 * there and return at once. What the host reads (tsr_get, tsr_store, tsr_to to the
 * host) waits for the work it depends on; anything else asks: tsr_stream_sync,
 * tsr_event_sync, tsr_device_sync.
 *
 *     tsr_stream *s = NULL;
 *     tsr_stream_create(&s, device);
 *     tsr_stream_use(s);
 *     ... ops on that device are queued on s ...
 *     tsr_stream_sync(s);
 *     tsr_stream_destroy(&s);
 *
 * Tensors may die at any time: their memory is kept until the streams that used it
 * are past that point, and given out again in their order. Between streams only
 * events order work: tsr_event_record on one, tsr_stream_wait on the other.
 *
 * A device without streams does its work at once; all calls here succeed and do
 * nothing. A failure of queued work (a lost device, a fault) is the status of the
 * next call that touches the device, with the op's name in the message.
 */
#ifndef TESSERA_STREAM_H
#define TESSERA_STREAM_H

#include "device.h"

TSR_BEGIN_C

typedef struct tsr_stream tsr_stream;
typedef struct tsr_event  tsr_event;
typedef struct tsr_graph  tsr_graph;

/* TSR_ENOMEM when the device has 63 streams already. */
TSR_API TSR_MUST_CHECK tsr_status tsr_stream_create(tsr_stream **out, tsr_device device);

/* Waits for its work. Current streams of other threads must not be this one any more. */
TSR_API void tsr_stream_destroy(tsr_stream **s);

/* Makes it this thread's current stream on its device. */
TSR_API TSR_MUST_CHECK tsr_status tsr_stream_use(tsr_stream *s);
TSR_API TSR_MUST_CHECK tsr_status tsr_stream_use_default(tsr_device device);

/* This thread's current stream on the device; NULL is the device's own. */
TSR_API tsr_stream *tsr_stream_current(tsr_device device);

/* Where a stream runs; waiting for all that was put into it; letting what is put into it from now on
 * wait for an event. */
TSR_API tsr_device tsr_stream_device(const tsr_stream *s);
TSR_API void      *tsr_stream_handle(const tsr_stream *s);  /* the backend's own (a cudaStream_t) */
TSR_API TSR_MUST_CHECK tsr_status tsr_stream_sync(tsr_stream *s);
TSR_API TSR_MUST_CHECK tsr_status
tsr_stream_wait(tsr_stream *s, const tsr_event *e); /* s NULL: the current one of e's device */

/* Waits for all streams of the device. */
TSR_API TSR_MUST_CHECK tsr_status tsr_device_sync(tsr_device device);

/* Events -------------------------------------------------------------------------- */

/* A mark in a stream: it is done when all that was in the stream before it is. tsr_event_sync() waits
 * for that. */
TSR_API TSR_MUST_CHECK tsr_status tsr_event_create(tsr_event **out, tsr_device device);
TSR_API void                      tsr_event_destroy(tsr_event **e);
TSR_API TSR_MUST_CHECK tsr_status tsr_event_record(tsr_event *e, tsr_stream *s); /* s NULL: the current one */
TSR_API TSR_MUST_CHECK tsr_status tsr_event_sync(const tsr_event *e);
TSR_API TSR_MUST_CHECK tsr_status tsr_event_done(bool *out, const tsr_event *e);

/* Seconds between two recorded events that are done. */
TSR_API TSR_MUST_CHECK tsr_status tsr_event_elapsed(double *seconds, const tsr_event *from,
                                                    const tsr_event *to);

/* Graphs -------------------------------------------------------------------------- */

/* Keeps what is queued on s until tsr_graph_end instead of doing it. Memory that ops take
 * meanwhile is the graph's while it lives. TSR_EUNSUPPORTED if the device has no graphs. */
TSR_API TSR_MUST_CHECK tsr_status tsr_graph_begin(tsr_stream *s);
TSR_API TSR_MUST_CHECK tsr_status tsr_graph_end(tsr_graph **out, tsr_stream *s);
TSR_API TSR_MUST_CHECK tsr_status tsr_graph_launch(tsr_graph *g, tsr_stream *s);
TSR_API void                      tsr_graph_destroy(tsr_graph **g);

TSR_END_C

#endif
