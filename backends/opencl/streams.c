/* streams.c - command queues in order, and events as markers in them. */
#include "opencl.h"

#include <stdlib.h>

typedef struct event {
    pthread_mutex_t lock;
    cl_event        marker;  /* NULL: never recorded */
} event;

/* Streams ------------------------------------------------------------------------------ */

static tsr_status open_stream(ocl_stream **out, ocl_device *d)
{
    cl_int error = CL_SUCCESS;
    ocl_stream *s = calloc(1, sizeof *s);
    if (!s) return ocl_fail(TSR_ENOMEM, "opencl: no room for a stream");
    s->device = d;
    s->last = "nothing";
    s->queue = ocl.clCreateCommandQueue(d->context, d->id, CL_QUEUE_PROFILING_ENABLE, &error);
    if (error != CL_SUCCESS) {
        free(s);
        return ocl_fail(ocl_status(error), "opencl:%d: no command queue (%s)", d->index,
                        ocl_error_name(error));
    }
    *out = s;
    return TSR_OK;
}

/* The lock is held. */
static void enter_stream(ocl_device *d, ocl_stream *s)
{
    s->next = d->streams;
    d->streams = s;
}

tsr_status ocl_stream_of(ocl_stream **out, int device, void *handle)
{
    ocl_device *d = ocl_device_at(device);
    tsr_status status = TSR_OK;
    *out = handle;
    if (handle) return TSR_OK;
    pthread_mutex_lock(&d->lock);
    if (!d->own) {
        status = open_stream(&d->own, d);
        if (status == TSR_OK) enter_stream(d, d->own);
    }
    *out = d->own;
    pthread_mutex_unlock(&d->lock);
    return status;
}

tsr_status ocl_queued(ocl_stream *s, cl_int error, const char *what)
{
    if (error == CL_SUCCESS) return TSR_OK;
    const char *last = __atomic_load_n(&s->last, __ATOMIC_RELAXED);
    return ocl_fail(ocl_status(error), "%s: queued work on opencl:%d failed (%s: %s)", last, s->device->index,
                    what, ocl_error_name(error));
}

tsr_status ocl_stream_create(void **out, int device)
{
    ocl_device *d = ocl_device_at(device);
    ocl_stream *s = NULL;
    OCL_TRY(open_stream(&s, d));
    pthread_mutex_lock(&d->lock);
    enter_stream(d, s);
    pthread_mutex_unlock(&d->lock);
    *out = s;
    return TSR_OK;
}

void ocl_stream_destroy(int device, void *stream)
{
    ocl_device *d = ocl_device_at(device);
    ocl_stream *gone = stream;
    (void)ocl.clFinish(gone->queue);
    pthread_mutex_lock(&d->lock);
    for (ocl_stream **s = &d->streams; *s; s = &(*s)->next)
        if (*s == gone) {
            *s = gone->next;
            break;
        }
    pthread_mutex_unlock(&d->lock);
    (void)ocl.clReleaseCommandQueue(gone->queue);
    free(gone);
}

tsr_status ocl_stream_sync(int device, void *stream)
{
    ocl_stream *s;
    OCL_TRY(ocl_stream_of(&s, device, stream));
    return ocl_queued(s, ocl.clFinish(s->queue), "clFinish");
}

/* Other threads may create and destroy streams meanwhile: queues are retained while they are waited for. */
tsr_status ocl_sync(int device)
{
    enum { MOST = 256 };
    ocl_device *d = ocl_device_at(device);
    cl_command_queue queues[MOST];
    const char *last[MOST];
    int n = 0;
    cl_int error = CL_SUCCESS;
    const char *failed = "nothing";
    pthread_mutex_lock(&d->lock);
    for (ocl_stream *s = d->streams; s && n < MOST; s = s->next) {
        (void)ocl.clRetainCommandQueue(s->queue);
        last[n] = __atomic_load_n(&s->last, __ATOMIC_RELAXED);
        queues[n++] = s->queue;
    }
    pthread_mutex_unlock(&d->lock);
    for (int i = 0; i < n; i++) {
        const cl_int outcome = ocl.clFinish(queues[i]);
        if (outcome != CL_SUCCESS && error == CL_SUCCESS) {
            error = outcome;
            failed = last[i];
        }
        (void)ocl.clReleaseCommandQueue(queues[i]);
    }
    if (error == CL_SUCCESS) return TSR_OK;
    return ocl_fail(ocl_status(error), "%s: queued work on opencl:%d failed (clFinish: %s)", failed, device,
                    ocl_error_name(error));
}

/* Events ------------------------------------------------------------------------------- */

tsr_status ocl_event_create(void **out, int device)
{
    event *e = calloc(1, sizeof *e);
    (void)device;
    if (!e) return ocl_fail(TSR_ENOMEM, "opencl: no room for an event");
    pthread_mutex_init(&e->lock, NULL);
    *out = e;
    return TSR_OK;
}

void ocl_event_destroy(int device, void *handle)
{
    event *e = handle;
    (void)device;
    if (e->marker) (void)ocl.clReleaseEvent(e->marker);
    pthread_mutex_destroy(&e->lock);
    free(e);
}

/* The marker, which the caller releases; NULL: never recorded. */
static cl_event marker_of(event *e)
{
    pthread_mutex_lock(&e->lock);
    cl_event marker = e->marker;
    if (marker) (void)ocl.clRetainEvent(marker);
    pthread_mutex_unlock(&e->lock);
    return marker;
}

/* Work of other queues may wait for the marker: the queue will reach it. */
tsr_status ocl_event_record(int device, void *handle, void *stream)
{
    event *e = handle;
    ocl_stream *s;
    cl_event marker = NULL, before;
    OCL_TRY(ocl_stream_of(&s, device, stream));
    cl_int error = ocl.clEnqueueMarkerWithWaitList(s->queue, 0, NULL, &marker);
    if (error == CL_SUCCESS) error = ocl.clFlush(s->queue);
    if (error != CL_SUCCESS) {
        if (marker) (void)ocl.clReleaseEvent(marker);
        return ocl_queued(s, error, "clEnqueueMarkerWithWaitList");
    }
    pthread_mutex_lock(&e->lock);
    before = e->marker;
    e->marker = marker;
    pthread_mutex_unlock(&e->lock);
    if (before) (void)ocl.clReleaseEvent(before);
    return TSR_OK;
}

tsr_status ocl_stream_wait(int device, void *stream, void *handle)
{
    ocl_stream *s;
    OCL_TRY(ocl_stream_of(&s, device, stream));
    cl_event marker = marker_of(handle);
    if (!marker) return TSR_OK;
    const cl_int error = ocl.clEnqueueBarrierWithWaitList(s->queue, 1, &marker, NULL);
    (void)ocl.clReleaseEvent(marker);
    return ocl_queued(s, error, "clEnqueueBarrierWithWaitList");
}

static tsr_status event_failed(int device, cl_int error)
{
    return ocl_fail(TSR_EDEVICE, "opencl:%d: work ahead of an event failed (%s)", device,
                    ocl_error_name(error));
}

tsr_status ocl_event_sync(int device, void *handle)
{
    cl_event marker = marker_of(handle);
    if (!marker) return TSR_OK;
    const cl_int error = ocl.clWaitForEvents(1, &marker);
    (void)ocl.clReleaseEvent(marker);
    return error == CL_SUCCESS ? TSR_OK : event_failed(device, error);
}

tsr_status ocl_event_done(int device, void *handle, bool *done)
{
    cl_int at = CL_COMPLETE;
    cl_event marker = marker_of(handle);
    *done = true;
    if (!marker) return TSR_OK;
    const cl_int error = ocl.clGetEventInfo(marker, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof at, &at, NULL);
    (void)ocl.clReleaseEvent(marker);
    *done = error != CL_SUCCESS || at <= CL_COMPLETE;
    if (error != CL_SUCCESS) return event_failed(device, error);
    return at < 0 ? event_failed(device, at) : TSR_OK;
}

/* When the marker was passed; TSR_EINVAL if it was not. */
static tsr_status time_of(cl_ulong *out, int device, event *e)
{
    bool done = false;
    OCL_TRY(ocl_event_done(device, e, &done));
    cl_event marker = marker_of(e);
    if (!marker || !done) {
        if (marker) (void)ocl.clReleaseEvent(marker);
        return ocl_fail(TSR_EINVAL, "opencl:%d: an event was not recorded, or is not done", device);
    }
    const cl_int error =
        ocl.clGetEventProfilingInfo(marker, CL_PROFILING_COMMAND_END, sizeof *out, out, NULL);
    (void)ocl.clReleaseEvent(marker);
    if (error == CL_SUCCESS) return TSR_OK;
    return ocl_fail(TSR_EUNSUPPORTED, "opencl:%d: the driver keeps no time of events (%s)", device,
                    ocl_error_name(error));
}

tsr_status ocl_event_elapsed(int device, double *seconds, void *from, void *to)
{
    cl_ulong begin = 0, end = 0;
    OCL_TRY(time_of(&begin, device, from));
    OCL_TRY(time_of(&end, device, to));
    *seconds = ((double)end - (double)begin) * 1e-9;
    return TSR_OK;
}
