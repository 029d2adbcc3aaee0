/* cuda.h - what the parts of the CUDA backend share on the host.
 *
 * An op is a Work: the op, its device and its stream. Families of ops are functions from a
 * Work to a status; they queue kernels and return. Device memory that they need meanwhile is
 * a Scratch: taken and given back in the order of the stream, so that a captured graph owns
 * what its ops took.
 */
#ifndef TSRC_CUDA_H
#define TSRC_CUDA_H

#include <atomic>

#include <cuda_runtime.h>

#include "plan.h"

namespace tsrc {

extern const tsr_host *host;

/* The value of an environment variable; null in an elevated program, and where the host cannot say. */
inline const char *setting(const char *name)
{
    return host->size > offsetof(tsr_host, env) ? host->env(name) : nullptr;
}

/* Devices ----------------------------------------------------------------------------------- */

enum { MOST_DEVICES = 64 };

struct Device {
    std::atomic<int> opened{ 0 };
    cudaStream_t own = nullptr; /* what a NULL stream stands for */
    int units = 0;              /* multiprocessors */
    int major = 0, minor = 0;
    bool pools = false;         /* memory in the order of a stream */
    std::atomic<int> last{ 0 }; /* kind of the op queued last */
    std::atomic<int> lost{ 0 }; /* the error after which nothing works */
    std::atomic<int64_t> waits{ 0 };
    char name[256];
};

extern Device devices[MOST_DEVICES];
extern int device_total;

/* The host waits, and it is counted. */
static inline cudaError_t wait_for(int device, cudaStream_t stream)
{
    devices[device].waits.fetch_add(1, std::memory_order_relaxed);
    return cudaStreamSynchronize(stream);
}

static inline cudaError_t wait_for_event(int device, cudaEvent_t event)
{
    devices[device].waits.fetch_add(1, std::memory_order_relaxed);
    return cudaEventSynchronize(event);
}

static inline cudaError_t wait_for_all(int device)
{
    devices[device].waits.fetch_add(1, std::memory_order_relaxed);
    return cudaDeviceSynchronize();
}

/* Makes the device current for this thread, and ready. */
tsr_status use_device(int device);

/* Records a message, formatted as by printf, and returns the status. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
tsr_status
say(tsr_status status, const char *format, ...);

/* The status of an error of CUDA, and a recorded message; `what` is the operation. If the device is lost,
 * later calls on it fail, too. */
tsr_status fail(int device, const char *what, cudaError_t e);

static inline tsr_status check(int device, const char *what, cudaError_t e)
{
    return e == cudaSuccess ? TSR_OK : fail(device, what, e);
}

/* Work -------------------------------------------------------------------------------------- */

struct Work {
    const tsr_op *op;
    int device;
    cudaStream_t stream;
    const char *name() const { return host->op_info(op->kind)->name; }
};

static inline cudaStream_t stream_of(int device, void *handle)
{
    return handle ? static_cast<cudaStream_t>(handle) : devices[device].own;
}

/* As cudaMemcpy2DAsync, for steps of any size. */
cudaError_t copy_rows(void *dst, size_t dst_step, const void *src, size_t src_step, size_t bytes, size_t rows,
                      cudaMemcpyKind kind, cudaStream_t stream);

/* As cudaLaunchKernel, in less time. */
cudaError_t queue_kernel(int device, const void *kernel, dim3 blocks, dim3 threads, size_t shared,
                         cudaStream_t stream, void **args);

/* Queues a kernel whose only argument is `args`. */
template <class Args>
static inline tsr_status launch(const Work &w, const void *kernel, uint32_t blocks, uint32_t threads,
                                size_t shared, const Args &args)
{
    void *list[] = { const_cast<Args *>(&args) };
    if (blocks == 0) return TSR_OK;
    const cudaError_t e = queue_kernel(w.device, kernel, dim3(blocks), dim3(threads), shared, w.stream, list);
    return e == cudaSuccess ? TSR_OK : fail(w.device, w.name(), e);
}

/* While a thread captures a graph, it may make calls that are not part of it only with one of these alive. */
class Beside {
  public:
    Beside() { (void)cudaThreadExchangeStreamCaptureMode(&mode); }
    ~Beside() { (void)cudaThreadExchangeStreamCaptureMode(&mode); }
    Beside(const Beside &) = delete;
    Beside &operator=(const Beside &) = delete;

  private:
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
};

/* Device memory while an op is under way. */
class Scratch {
  public:
    explicit Scratch(const Work &work) : w(work) {}
    Scratch(const Scratch &) = delete;
    Scratch &operator=(const Scratch &) = delete;
    ~Scratch() { give(); }
    tsr_status take(size_t bytes);
    void swap(Scratch &other);
    template <class T> T *as() const { return static_cast<T *>(data); }
    char *bytes() const { return static_cast<char *>(data); }

  private:
    void give();
    const Work &w;
    void *data = nullptr;
};

/* Waits for the device's work and frees the scratch memory that it keeps for later. False: that failed. */
bool trim_scratch(int device);

/* Tensors ----------------------------------------------------------------------------------- */

static inline tsr_kind kind_of(tsr_dtype dtype)
{
    static const unsigned char kinds[TSR_DTYPE_COUNT] = {
        TSR_KIND_INVALID,
#define X(ID, suffix, S, kind, name) TSR_##kind,
#include <tessera/dtype.def>
#undef X
    };
    return static_cast<unsigned>(dtype) < TSR_DTYPE_COUNT ? static_cast<tsr_kind>(kinds[dtype])
                                                          : TSR_KIND_INVALID;
}

static inline int64_t numel(const tsr_tensor *t)
{
    int64_t n = 1;
    for (int d = 0; d < t->ndim; d++) n *= t->shape[d];
    return n;
}

/* A packed row-major tensor of this dtype and shape over memory. */
tsr_tensor packed(void *data, tsr_dtype dtype, int ndim, const int64_t *shape);

/* Are addresses and steps of a loop's operand multiples of so many bytes? (Complex numbers may be
 * aligned as their parts only.) */
bool is_aligned(const tsr_loop *loop, int operand, int bytes);

/* 2^n up to `most` that is not below n. */
static inline uint32_t power_of_2(int64_t n, uint32_t most)
{
    uint32_t p = 1;
    while (p < most && p < n) p *= 2;
    return p;
}

/* Families ------------------------------------------------------------------------------------
 *
 * has_x: does run_x support the op? It does not read elements. */

typedef bool (*has_fn)(const tsr_op *op);
typedef tsr_status (*run_fn)(const Work &w);

/* dst = src for any dtypes and strides, both on the device. */
tsr_status copy(const Work &w, const tsr_tensor *dst, const tsr_tensor *src);

/* The same for n pairs of one dtype each, of which no result overlaps anything; an entry of the table. */
tsr_status copy_pieces(int device, int n, tsr_tensor *const *dst, const tsr_tensor *const *src, void *stream);

/* An entry of the table (index_range.cu). */
tsr_status index_range(int device, const tsr_tensor *index, int64_t *low, int64_t *high, void *stream);

tsr_status run_copy(const Work &w);
tsr_status run_fill(const Work &w);
bool has_elementwise(const tsr_op *op);
tsr_status run_elementwise(const Work &w);
bool has_reduce(const tsr_op *op);
tsr_status run_reduce(const Work &w);
bool has_scan(const tsr_op *op);
tsr_status run_scan(const Work &w);
tsr_status run_gather(const Work &w);
bool has_scatter(const tsr_op *op);
tsr_status run_scatter(const Work &w);
bool has_sort(const tsr_op *op);
tsr_status run_sort(const Work &w);
tsr_status run_searchsorted(const Work &w);
tsr_status run_random(const Work &w);
bool has_matmul(const tsr_op *op);
tsr_status run_matmul(const Work &w);
bool has_softmax(const tsr_op *op);
tsr_status run_softmax(const Work &w);
bool has_norm(const tsr_op *op);
tsr_status run_norm(const Work &w);
bool has_rope(const tsr_op *op);
tsr_status run_rope(const Work &w);
bool has_attention(const tsr_op *op);
tsr_status run_attention(const Work &w);
tsr_status run_dropout(const Work &w);
bool has_conv(const tsr_op *op);
tsr_status run_conv(const Work &w);
bool has_linear_activation(const tsr_op *op);
tsr_status run_linear_activation(const Work &w);
bool has_conv_grad(const tsr_op *op);
tsr_status run_conv_grad(const Work &w);
bool has_step(const tsr_op *op);
tsr_status run_step(const Work &w);
bool has_joint_norm(const tsr_op *op);
tsr_status run_joint_norm(const Work &w);
bool has_fft(const tsr_op *op);
tsr_status run_fft(const Work &w);
bool has_factor(const tsr_op *op);
tsr_status run_factor(const Work &w);
bool has_resize(const tsr_op *op);
tsr_status run_resize(const Work &w);
tsr_status run_grid_sample(const Work &w);
bool has_lp_pool(const tsr_op *op);
tsr_status run_lp_pool(const Work &w);

/* n ops like w's at once; TSR_EUNSUPPORTED, without a message, if they must be run one by one. */
tsr_status run_list(const Work &w, int n, const tsr_op *ops);

/* Streams (streams.cpp) ----------------------------------------------------------------------- */

void fill_streams(tsr_backend *table);
void fill_memory(tsr_backend *table);

/* Status or the next step. */
#define TSRC_TRY(call) \
    do { \
        const tsr_status tried_ = (call); \
        if (tried_ != TSR_OK) return tried_; \
    } while (0)

} // namespace tsrc

#endif
