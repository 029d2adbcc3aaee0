/* join.cu - many copies of one dtype in few launches: what concat and stack consist of. */
#include "cuda.h"
#include "nest.cuh"
#include "plan_join.h"

namespace tsrc {

tsr_status copy_same(const Work &w, const tsr_tensor *dst, const tsr_tensor *src);

/* Which piece a block belongs to, and which of its blocks it is. */
TSRC_FN uint32_t find_piece(const tsrc_join &p, uint32_t &block)
{
    uint32_t i = 0;
    if (p.even) {
        i = block % uint32_t(p.n);
        block /= uint32_t(p.n);
        return i;
    }
    for (uint32_t half = TSRC_PIECES / 2; half > 0; half /= 2)
        if (i + half < uint32_t(p.n) && p.piece[i + half].first <= block) i += half;
    block -= p.piece[i].first;
    return i;
}

template <class V>
__global__ void __launch_bounds__(TSRC_THREADS) join_kernel(const __grid_constant__ tsrc_join p)
{
    constexpr uint32_t N = tsrc_words(sizeof(V));
    uint32_t block = blockIdx.x;
    const tsrc_piece &piece = p.piece[find_piece(p, block)];
    int64_t to[N];
    V v[N];
#pragma unroll
    for (uint32_t k = 0; k < N; k++) {
        const uint32_t i = (block * N + k) * TSRC_THREADS + threadIdx.x;
        if (i >= piece.total) continue;
        const uint32_t row = divide(i, piece.by_run);
        const int64_t word = int64_t(i - row * piece.run) * int64_t(sizeof(V));
        to[k] = word + row * piece.step[0];
        v[k] = *reinterpret_cast<const V *>(piece.src + word + row * piece.step[1]);
    }
#pragma unroll
    for (uint32_t k = 0; k < N; k++)
        if ((block * N + k) * TSRC_THREADS + threadIdx.x < piece.total)
            *reinterpret_cast<V *>(piece.dst + to[k]) = v[k];
}

static tsr_status queue_join(const Work &w, tsrc_join &join)
{
    static const void *const kernels[] = {
        (const void *)join_kernel<uint8_t>, (const void *)join_kernel<uint16_t>,
        (const void *)join_kernel<uint32_t>, (const void *)join_kernel<uint2>,
        (const void *)join_kernel<uint4>
    };
    int n = 0;
    if (join.n == 0) return TSR_OK;
    tsrc_join_end(&join);
    while (1 << n < join.width) n++;
    TSRC_TRY(launch(w, kernels[n], join.blocks, TSRC_THREADS, 0, join));
    join.n = 0;
    return TSR_OK;
}

/* Pieces that are no rows are copied as any other tensor. */
tsr_status copy_pieces(int device, int n, tsr_tensor *const *dst, const tsr_tensor *const *src, void *stream)
{
    TSRC_TRY(use_device(device));
    tsr_op op = {};
    op.kind = TSR_OP_COPY;
    const Work w = { &op, device, stream_of(device, stream) };
    tsrc_join join;
    join.n = 0;
    devices[device].last.store(op.kind, std::memory_order_relaxed);
    for (int i = 0; i < n; i++) {
        tsr_loop l;
        const tsr_tensor *const both[] = { dst[i], src[i] };
        host->normalise(&l, 2, both);
        if (tsrc_count(&l) == 0) continue;
        if (tsrc_join_add(&join, &l, tsrc_size(dst[i]->dtype))) continue;
        if (join.n == TSRC_PIECES) {
            TSRC_TRY(queue_join(w, join));
            if (tsrc_join_add(&join, &l, tsrc_size(dst[i]->dtype))) continue;
        }
        TSRC_TRY(copy_same(w, dst[i], src[i]));
    }
    return queue_join(w, join);
}

} // namespace tsrc
