/* index_range.cu - the smallest and the largest of some indices, for the host: one kernel and one wait. */
#include <mutex>

#include "cuda.h"
#include "nest.cuh"

namespace tsrc {

enum { RANGE_BLOCKS = 64, RANGE_ELEMENTS = 8 * TSRC_THREADS /* worth a block */ };

struct RangeArgs {
    const char *x;
    int64_t n, step;
    int64_t *ends; /* of block b at 2 b: in the host's memory */
};

__global__ void __launch_bounds__(TSRC_THREADS) range_kernel(const __grid_constant__ RangeArgs a)
{
    __shared__ int64_t lows[TSRC_THREADS / 32], highs[TSRC_THREADS / 32];
    int64_t low = INT64_MAX, high = INT64_MIN;
    const int64_t all = int64_t(gridDim.x) * TSRC_THREADS;
#pragma unroll 4
    for (int64_t i = int64_t(blockIdx.x) * TSRC_THREADS + threadIdx.x; i < a.n; i += all) {
        const int64_t v = *reinterpret_cast<const int64_t *>(a.x + i * a.step);
        low = v < low ? v : low;
        high = v > high ? v : high;
    }
    for (int o = 16; o; o /= 2) {
        const int64_t l = __shfl_xor_sync(~0u, low, o), h = __shfl_xor_sync(~0u, high, o);
        low = l < low ? l : low;
        high = h > high ? h : high;
    }
    if (threadIdx.x % 32 == 0) {
        lows[threadIdx.x / 32] = low;
        highs[threadIdx.x / 32] = high;
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (int w = 1; w < TSRC_THREADS / 32; w++) {
        low = lows[w] < low ? lows[w] : low;
        high = highs[w] > high ? highs[w] : high;
    }
    a.ends[2 * blockIdx.x] = low;
    a.ends[2 * blockIdx.x + 1] = high;
}

/* One dim, packed if it must be. */
static tsr_status as_one_dim(const Work &w, Scratch &room, const tsr_tensor *t, RangeArgs &a)
{
    tsr_loop l;
    host->normalise(&l, 1, &t);
    a.n = tsrc_count(&l);
    a.x = static_cast<const char *>(l.data[0]);
    a.step = l.ndim > 0 ? l.step[0][0] : 0;
    if (l.ndim <= 1) return TSR_OK;
    TSRC_TRY(room.take(size_t(a.n) * sizeof(int64_t)));
    const tsr_tensor own = packed(room.bytes(), t->dtype, t->ndim, t->shape);
    a.x = room.bytes();
    a.step = sizeof(int64_t);
    return copy(w, &own, t);
}

static tsr_status find_ends(const Work &w, RangeArgs &a, int64_t *low, int64_t *high)
{
    static std::mutex lock; /* of what the host reads */
    static int64_t *ends = nullptr;
    const std::lock_guard<std::mutex> guard(lock);
    uint32_t blocks = tsrc_blocks(uint64_t(a.n), RANGE_ELEMENTS);
    if (blocks > RANGE_BLOCKS) blocks = RANGE_BLOCKS;
    if (!ends) {
        const Beside beside;
        TSRC_TRY(check(w.device, "index",
                       cudaHostAlloc(reinterpret_cast<void **>(&ends), 2 * RANGE_BLOCKS * sizeof *ends,
                                     cudaHostAllocPortable | cudaHostAllocMapped)));
    }
    a.ends = ends;
    TSRC_TRY(launch(w, reinterpret_cast<const void *>(range_kernel), blocks, TSRC_THREADS, 0, a));
    TSRC_TRY(check(w.device, "index", wait_for(w.device, w.stream)));
    for (uint32_t b = 0; b < blocks; b++) {
        if (b == 0 || ends[2 * b] < *low) *low = ends[2 * b];
        if (b == 0 || ends[2 * b + 1] > *high) *high = ends[2 * b + 1];
    }
    return TSR_OK;
}

tsr_status index_range(int device, const tsr_tensor *index, int64_t *low, int64_t *high, void *stream)
{
    TSRC_TRY(use_device(device));
    tsr_op op = {};
    op.kind = TSR_OP_COPY;
    const Work w = { &op, device, stream_of(device, stream) };
    cudaStreamCaptureStatus kept = cudaStreamCaptureStatusNone;
    TSRC_TRY(check(device, "index", cudaStreamIsCapturing(w.stream, &kept)));
    *low = *high = 0;
    if (kept != cudaStreamCaptureStatusNone) return TSR_OK;
    Scratch room(w);
    RangeArgs a;
    TSRC_TRY(as_one_dim(w, room, index, a));
    return find_ends(w, a, low, high);
}

} // namespace tsrc
