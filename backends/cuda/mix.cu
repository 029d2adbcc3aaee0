/* mix.cu - copies between pixels and planes: a thread takes 16 bytes of each plane, which are as many
 * pixels, and sorts their elements in its registers. */
#include "mix.h"
#include "nest.cuh"

namespace tsrc {

template <class S, int C, bool JOIN>
__global__ void __launch_bounds__(TSRC_THREADS) mix_kernel(const __grid_constant__ tsrc_mix p)
{
    constexpr int N = 16 / sizeof(S);
    union Words {
        uint4 v[C];
        S e[C * N];
    };
    const uint32_t i = blockIdx.x * TSRC_THREADS + threadIdx.x, row = i / p.groups, g = i - row * p.groups;
    if (row >= p.outer.count) return;
    int64_t dst = 0, src = 0;
    find_place(p.outer, row, dst, src);
    uint4 *pixels = reinterpret_cast<uint4 *>(p.pixels + (JOIN ? dst : src)) + g * C;
    char *planes = p.planes + (JOIN ? src : dst) + int64_t(g) * 16;
    Words from, to;
#pragma unroll
    for (int c = 0; c < C; c++)
        from.v[c] = JOIN ? *reinterpret_cast<const uint4 *>(planes + c * p.plane) : pixels[c];
#pragma unroll
    for (int c = 0; c < C; c++)
#pragma unroll
        for (int k = 0; k < N; k++) {
            if (JOIN) to.e[k * C + c] = from.e[c * N + k];
            else to.e[c * N + k] = from.e[k * C + c];
        }
#pragma unroll
    for (int c = 0; c < C; c++) {
        if (JOIN) pixels[c] = to.v[c];
        else *reinterpret_cast<uint4 *>(planes + c * p.plane) = to.v[c];
    }
}

template <class S> static const void *kernel_for(int channels, bool join)
{
    switch (channels) {
    case 2:  return join ? (const void *)mix_kernel<S, 2, true> : (const void *)mix_kernel<S, 2, false>;
    case 3:  return join ? (const void *)mix_kernel<S, 3, true> : (const void *)mix_kernel<S, 3, false>;
    default: return join ? (const void *)mix_kernel<S, 4, true> : (const void *)mix_kernel<S, 4, false>;
    }
}

tsr_status queue_mix(const Work &w, const tsrc_mix &m)
{
    const void *kernel = m.size == 1   ? kernel_for<uint8_t>(m.channels, m.join)
                         : m.size == 2 ? kernel_for<uint16_t>(m.channels, m.join)
                                       : kernel_for<uint32_t>(m.channels, m.join);
    return launch(w, kernel, m.blocks, TSRC_THREADS, 0, m);
}

} // namespace tsrc
