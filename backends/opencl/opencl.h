/* opencl.h - what the parts of the plugin share: devices, streams, calls.
 *
 * OpenCL 1.2 has no pointers to device memory. A tensor's address is one that this plugin made up
 * (memory.c); kernels get the buffer it stands for and the place in it, in bytes.
 *
 *     backend.c   the table, and who does which op     device.c   what there is
 *     memory.c    addresses, buffers, transfers        streams.c   queues and events
 *     program.c   kernels, built on first use          cache.c     programs on disk
 *     launch.c    arguments, queueing                  nest.c      strides for kernels
 *     numbers.c   numbers of any dtype on the host
 *     move.c elementwise.c reduce.c scan.c sort.c matmul.c clblast.c random.c rows.c
 *     rope.c      ops
 *
 *     TSR_OPENCL_CACHE=on|off    programs on disk (program.h says what holds without it)
 *     TSR_OPENCL_CLBLAST=off     products by this plugin's kernels even where CLBlast is there
 */
#ifndef OCL_OPENCL_H
#define OCL_OPENCL_H

#include <pthread.h>

#include "api.h"

extern const tsr_host *ocl_host;

/* The value of an environment variable; NULL in an elevated program, and where the host cannot say. */
const char *ocl_setting(const char *name);

/* Leaves a sentence, by printf's rules, and returns the status. */
tsr_status ocl_fail(tsr_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define OCL_TRY(expr)                           \
    do {                                        \
        const tsr_status try_s_ = (expr);       \
        if (try_s_ != TSR_OK) return try_s_;    \
    } while (0)

/* Devices ------------------------------------------------------------------------------ */

typedef struct ocl_stream ocl_stream;
typedef struct ocl_program ocl_program;

enum { OCL_BUCKETS = 256 };

typedef struct ocl_device {
    int              index;
    cl_platform_id   platform;
    cl_device_id     id;
    cl_context       context;
    bool             has_f64;
    bool             has_fma;          /* of f32, in hardware */
    bool             divides_exactly;  /* f32 quotients and roots are rounded to nearest */
    bool             is_processor;     /* of the kind that C runs on */
    size_t           group;            /* work items of a group, at most */
    cl_uint          units;
    cl_ulong         memory, most, used, local;
    char             name[128], driver[128];
    pthread_mutex_t  lock;             /* of what follows, and of `used` */
    ocl_stream      *streams;          /* all of them */
    ocl_stream      *own;              /* the device's own */
    pthread_rwlock_t programs_lock;
    pthread_mutex_t  building;
    ocl_program     *programs[OCL_BUCKETS];
} ocl_device;

/* Finds all devices of all platforms; NULL, or why there are none. */
const char *ocl_find_devices(void);
int         ocl_device_count(void);
ocl_device *ocl_device_at(int index);
tsr_status  ocl_device_info(int index, tsr_device_info *out);

/* Streams ------------------------------------------------------------------------------ */

struct ocl_stream {
    ocl_stream      *next;
    ocl_device      *device;
    cl_command_queue queue;
    const char      *last;   /* the op that was queued last */
};

/* The stream of a handle; NULL is the device's own. Fails if that cannot be made. */
tsr_status ocl_stream_of(ocl_stream **out, int device, void *handle);

/* The status of an error of queued work; the message names the op that was queued last. */
tsr_status ocl_queued(ocl_stream *s, cl_int error, const char *what);

tsr_status ocl_sync(int device);
tsr_status ocl_stream_create(void **out, int device);
void       ocl_stream_destroy(int device, void *stream);
tsr_status ocl_stream_sync(int device, void *stream);
tsr_status ocl_stream_wait(int device, void *stream, void *event);
tsr_status ocl_event_create(void **out, int device);
void       ocl_event_destroy(int device, void *event);
tsr_status ocl_event_record(int device, void *event, void *stream);
tsr_status ocl_event_sync(int device, void *event);
tsr_status ocl_event_done(int device, void *event, bool *done);
tsr_status ocl_event_elapsed(int device, double *seconds, void *from, void *to);

/* Memory ------------------------------------------------------------------------------- */

/* A place in a buffer. */
typedef struct ocl_place {
    cl_mem mem;
    size_t offset;
} ocl_place;

/* Where an address is. TSR_EDEVICE if it is none of this plugin's. */
tsr_status ocl_find(ocl_place *out, const void *address);

/* The bytes of the buffer that an address is in. */
tsr_status ocl_buffer_size(size_t *out, const void *address);

tsr_status ocl_alloc(void **out, int device, size_t bytes, tsr_memory kind);
void       ocl_free(int device, void *data, size_t bytes, tsr_memory kind);
tsr_status ocl_host_alloc(void **out, size_t bytes);
void       ocl_host_free(void *data, size_t bytes);
tsr_status ocl_upload(int device, void *dst, const void *src, size_t bytes, void *stream);
tsr_status ocl_download(int device, void *dst, const void *src, size_t bytes, void *stream);

/* Ops ---------------------------------------------------------------------------------- */

/* One op under way. */
typedef struct ocl_call {
    ocl_device   *device;
    ocl_stream   *stream;
    const tsr_op *op;
    const char   *name;
} ocl_call;

/* Scratch memory for kernels of this call, at least 1 byte. It may be released as soon as they are
 * queued: OpenCL keeps it while they run. */
tsr_status ocl_scratch(cl_mem *out, const ocl_call *call, size_t bytes);

/* The same with bytes of the host, which are copied now. */
tsr_status ocl_constant(cl_mem *out, const ocl_call *call, const void *data, size_t bytes);

/* Who can do an op, and does it. can() returns NULL, or why not in a few words; operands are
 * allocated, and run() is not called for results without elements. */
typedef struct ocl_runner {
    const char *(*can)(const ocl_device *d, const tsr_op *op);
    tsr_status  (*run)(const ocl_call *call);
} ocl_runner;

extern const ocl_runner ocl_runner_copy, ocl_runner_fill, ocl_runner_where, ocl_runner_gather,
    ocl_runner_scatter, ocl_runner_elementwise, ocl_runner_reduce, ocl_runner_scan, ocl_runner_sort,
    ocl_runner_search, ocl_runner_matmul, ocl_runner_random, ocl_runner_rows, ocl_runner_rope,
    ocl_runner_resize, ocl_runner_grid, ocl_runner_pool;

#endif
