/* backend.h - the contract between the library and a kind of device.
 *
 * The only header that the author of a backend needs. A backend is a table: memory,
 * ops, and, where the device works on its own, streams and events. An op is passed to
 * it as data, so that a new op never changes this interface; "can you?" and "do it"
 * are two questions, and a plan is what the first one found out for the second.
 *
 * A plugin is a shared object with one exported symbol, tsr_backend_entry, that
 * returns its table (or NULL, after host->fail, if it has no device here):
 *
 *     const tsr_backend *tsr_backend_entry(const tsr_host *host)
 *     {
 *         services = host;
 *         return &table;
 *     }
 *
 * Versions. `abi` is the major version: with another one the plugin is refused.
 * Within a major version entries are only ever added, at the end; `size` says how
 * many a table has. A table that is shorter than the library's lacks the last ones,
 * as if they were NULL; one that is longer has some that the library does not ask.
 * The same holds of tsr_host, read by the backend.
 *
 * Threads. Entries may be called from any thread, also at once. None is called with
 * a lock of the library held, except where a comment says so.
 */
#ifndef TESSERA_BACKEND_H
#define TESSERA_BACKEND_H

#include "op.h"
#include "threads.h"

TSR_BEGIN_C

enum {
    TSR_BACKEND_ABI     = 1,
    TSR_BACKEND_NAME    = 32,  /* bytes of a backend's name, at most */
    TSR_BACKEND_DEVICES = 256  /* devices of a backend, at most */
};

/* What the library does for backends ------------------------------------------- */

/* A nest of loops over up to TSR_LOOP_OPERANDS operands of one shape: dims of size 1 left out,
 * dims sorted by the first operand's steps (largest first) and walked forwards by it, neighbours
 * that all operands walk as one merged. Steps are in bytes; data points at the first element to
 * be met. A scalar has no dims, and a nest of 0 elements has a dim of size 0. */
enum { TSR_LOOP_OPERANDS = 4 };

typedef struct tsr_loop {
    int32_t ndim, noperands;
    int64_t n[TSR_MAX_NDIM];                          /* n[0] is outermost */
    int64_t step[TSR_MAX_NDIM][TSR_LOOP_OPERANDS];
    void   *data[TSR_LOOP_OPERANDS];
} tsr_loop;

typedef struct tsr_host {
    uint32_t abi, size;

    /* Leaves a sentence for tsr_last_error() and returns the status. */
    tsr_status (*fail)(tsr_status status, const char *message);

    /* One line for whoever listens; level 0 is an error, 1 a warning, 2 information. */
    void (*log)(int level, const char *message);

    /* The loop nest of n tensors of one shape. */
    void (*normalise)(tsr_loop *out, int n, const tsr_tensor *const *tensors);

    /* Runs fn over parts of 0 .. n - 1 on the library's threads. */
    tsr_status (*parallel_for)(int64_t n, int64_t grain, tsr_range_fn fn, void *context);

    /* tsr_op_get_info and tsr_last_error, of the library that loaded the plugin. */
    const tsr_op_info *(*op_info)(tsr_op_kind kind);
    const char        *(*last_error)(void);

    /* Bytes of the op's params struct; 0 if it has none. For backends that queue ops: what is
     * behind op->params lives only until run() returns. */
    size_t (*params_size)(tsr_op_kind kind);

    /* Computes an op with the CPU's kernels: its operands are on the CPU, or lie where the host
     * reaches them and say so. Can the CPU's kernels do it? */
    bool       (*can_compute)(const tsr_op *op);
    tsr_status (*compute)(const tsr_op *op);

    /* The value of an environment variable; NULL if it is not set, and in a program with more rights than
     * whoever started it (setuid, setgid, file capabilities). Backends read variables by this alone. */
    const char *(*env)(const char *name);

    /* How resize makes spatial dim d of an x that is `in` long there: output o is the sum of
     * weight[o * taps + i] * input first[o] + i, for i below taps. Where a weight is 0 there may be no
     * such input. Returns taps, which are 1 for nearest; first and weight may be NULL. */
    int64_t (*resize_table)(const tsr_resize_params *p, int d, int64_t in, int64_t *first, double *weight);
} tsr_host;

/* The table ------------------------------------------------------------------------ */

/* How a backend will run an op: filled by its plan(). It owns nothing, so a plan that is not run needs no
 * release. */
typedef struct tsr_plan tsr_plan;
struct tsr_plan {
    /* Does what the table's run() does, with what the plan holds. */
    tsr_status (*run)(const tsr_plan *plan, int device, const tsr_op *op);

    /* The backend's own: a kernel, and what it needs to know. */
    void      (*kernel)(void);
    const void *data;
    int64_t     number;
};

typedef struct tsr_backend {
    uint32_t    abi;   /* TSR_BACKEND_ABI it was built with */
    uint32_t    size;  /* sizeof(tsr_backend) it was built with */
    const char *name;  /* "cuda": what stands before the colon in a device's name; letters, digits, '_', '-',
                        * '.'.  A plugin's is that of its file, libtessera-cuda.so */

    /* How many devices there are, 0 .. TSR_BACKEND_DEVICES. Required. Asked often: keep it cheap. */
    int        (*device_count)(void);

    /* Memory. Required. bytes is at least 1; data suits every dtype, and data + n is the n-th byte
     * (a device without pointers hands out addresses of its own making). kind is
     * TSR_MEMORY_DEVICE, or one that the host reaches too, after a sync: TSR_MEMORY_MANAGED,
     * TSR_MEMORY_MEDIA (TSR_EUNSUPPORTED if there is no such memory). The library keeps freed memory
     * for itself while streams may still use it (stream.h): free() is called when no queued work
     * needs it any more. */
    tsr_status (*alloc)(void **out, int device, size_t bytes, tsr_memory kind);
    void       (*free)(int device, void *data, size_t bytes, tsr_memory kind);

    /* Compute. Required. supports() must not fail and must not touch data; where
     * it says yes, run() may fail only for want of memory, of hardware or of a library,
     * or because the values have no result (a singular matrix: TSR_EINVAL). Operands
     * are allocated and on this device. Elementwise ones have the result's shape
     * (broadcasting is strides of 0) and the dtype that their signature's name came
     * to. Outputs do not overlap themselves, and overlap an input only where they
     * are exactly that input (of another dtype of the same size, perhaps). With streams,
     * run() queues the op on op->stream and returns; tensors, descs and params are the
     * caller's again then, and memory stays until the work is done. */
    bool       (*supports)(int device, const tsr_op *op);
    tsr_status (*run)(int device, const tsr_op *op);

    /* Optional from here on: NULL, or a size too small to hold it. --------------------- */

    /* Waits for all work of the device; reports what went wrong since it was last asked. Without
     * it work is finished when run() returns. */
    tsr_status (*sync)(int device);

    /* Why supports() says no, as the end of a sentence that begins "cannot do this: ". */
    const char *(*why_not)(int device, const tsr_op *op);

    tsr_status (*device_info)(int device, tsr_device_info *out);

    /* Memory of the host that the device copies from and to by itself (TSR_MEMORY_PINNED). */
    tsr_status (*host_alloc)(void **out, size_t bytes);
    void       (*host_free)(void *data, size_t bytes);

    /* Bytes between the host and the device, and between two devices of this backend, in the
     * order of the stream (NULL: the device's own). Where the host's bytes are from host_alloc the
     * call may return before they are moved; others are the caller's again, and read or written,
     * when it returns. A backend whose memory the host cannot reach has upload and download; peer()
     * may refuse (TSR_EUNSUPPORTED). */
    tsr_status (*upload)(int device, void *dst, const void *src, size_t bytes, void *stream);
    tsr_status (*download)(int device, void *dst, const void *src, size_t bytes, void *stream);
    tsr_status (*peer)(int dst_device, void *dst, int src_device, const void *src, size_t bytes,
                       void *stream);

    /* Streams: queues of work in order. A backend has all of these or none. */
    tsr_status (*stream_create)(void **out, int device);
    void       (*stream_destroy)(int device, void *stream);
    tsr_status (*stream_sync)(int device, void *stream);
    tsr_status (*stream_wait)(int device, void *stream, void *event);  /* later work waits for it */

    /* An event marks a point in a stream. event_done() is true for one that was never recorded. */
    tsr_status (*event_create)(void **out, int device);
    void       (*event_destroy)(int device, void *event);
    tsr_status (*event_record)(int device, void *event, void *stream);
    tsr_status (*event_sync)(int device, void *event);
    tsr_status (*event_done)(int device, void *event, bool *done);
    tsr_status (*event_elapsed)(int device, double *seconds, void *from, void *to);

    /* Graphs: work queued between graph_begin and graph_end is recorded, not done; graph_launch does it. */
    tsr_status (*graph_begin)(int device, void *stream);
    tsr_status (*graph_end)(int device, void *stream, void **graph);
    tsr_status (*graph_launch)(int device, void *graph, void *stream);
    void       (*graph_destroy)(int device, void *graph);

    /* upload and download of `rows` stretches of bytes, each `step` bytes after the one before, for
     * backends that do so at once: both or neither. The host's bytes are from host_alloc. */
    tsr_status (*upload_rows)(int device, void *dst, size_t dst_step, const void *src, size_t src_step,
                              size_t bytes, size_t rows, void *stream);
    tsr_status (*download_rows)(int device, void *dst, size_t dst_step, const void *src, size_t src_step,
                                size_t bytes, size_t rows, void *stream);

    /* As supports(); if it returns true, it also fills *out, so that the kernel is looked for only once. The
     * library then calls out->run instead of run(): immediately or not at all, and with the same op
     * except for its stream, which is set after plan(). supports() and run() must give the same answer and
     * results. */
    bool (*plan)(int device, const tsr_op *op, tsr_plan *out);

    /* dst[i] = src[i] for n pairs, as that many copies would: for backends that do many at once in less time.
     * The tensors of a pair have one dtype and shape, and no dst overlaps another tensor. */
    tsr_status (*copy_pieces)(int device, int n, tsr_tensor *const *dst, const tsr_tensor *const *src,
                              void *stream);

    /* How many times the host has waited for the device so far, for whatever reason. run() must not wait,
     * except for ops whose failure depends on values, as that of factorisations does, and when it measures
     * methods for the first op of a shape. */
    int64_t (*waits)(int device);

    /* Runs n > 0 ops of one kind, with the same params and on one stream, each of which supports() says yes
     * to: better at once than one after another. No result of one overlaps an operand or a result of
     * another. TSR_EUNSUPPORTED, if it does not do so with these: they are run one by one. */
    tsr_status (*run_all)(int device, int n, const tsr_op *ops);

    /* The smallest and the largest element of an i64 tensor that has some, when the stream comes to it: the
     * host waits. While the stream keeps a graph they are 0 and 0, since what it will read is not known. */
    tsr_status (*index_range)(int device, const tsr_tensor *index, int64_t *low, int64_t *high, void *stream);
} tsr_backend;

typedef const tsr_backend *(*tsr_backend_entry_fn)(const tsr_host *host);
#define TSR_BACKEND_ENTRY "tsr_backend_entry"

/* Adding one ------------------------------------------------------------------------- */

/* Add a backend that was built into the program. The table is copied; its name and functions must
 * stay. TSR_EINVAL if a required entry is missing, the name is taken or no name, there are too
 * many devices, or the ABI is another. */
TSR_API TSR_MUST_CHECK tsr_status tsr_backend_register(const tsr_backend *backend);

/* Load a plugin from a file, which runs its code: as trusted as the program itself. An elevated program gives
 * an absolute path (TSR_EINVAL). TSR_EIO if it cannot be opened or lacks the symbol; otherwise as
 * tsr_backend_register, or what the plugin says. A failure is also kept: tsr_backend_problem. */
TSR_API TSR_MUST_CHECK tsr_status tsr_backend_load(const char *path);

/* What the library does for backends, as plugins get it; for those that are built in. */
TSR_API const tsr_host *tsr_backend_host(void);

/* For backends: leaves a sentence for tsr_last_error() and returns the status.
 *     return tsr_backend_fail(TSR_ENOMEM, "mydevice: 4096 bytes are too many");  */
TSR_API tsr_status tsr_backend_fail(tsr_status status, const char *message);

TSR_END_C

#endif
