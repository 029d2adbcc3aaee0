/* fft_parts.cu - see fft.h. */
#include "fft.h"

namespace tsrc {

enum { MOST_BLOCKS = 1 << 16 };

static uint32_t blocks_for(int64_t n)
{
    const int64_t blocks = (n + TSRC_THREADS - 1) / TSRC_THREADS;
    return static_cast<uint32_t>(blocks < MOST_BLOCKS ? blocks : static_cast<int64_t>(MOST_BLOCKS));
}

template <class T> __global__ void __launch_bounds__(TSRC_THREADS) scale_kernel(const ScaleArgs p)
{
    T *x = static_cast<T *>(p.data);
    const T re = T(p.re), im = T(p.im);
    const int64_t step = int64_t(gridDim.x) * TSRC_THREADS;
    for (int64_t i = int64_t(blockIdx.x) * TSRC_THREADS + threadIdx.x; i < p.n; i += step) {
        x[2 * i] *= re;
        x[2 * i + 1] *= im;
    }
    if (p.odd && blockIdx.x == 0 && threadIdx.x == 0) x[2 * p.n] *= re;
}

tsr_status queue_scale(const Work &w, const ScaleArgs &a)
{
    const void *kernel = a.wide ? (const void *)scale_kernel<double> : (const void *)scale_kernel<float>;
    return launch(w, kernel, blocks_for(a.n > 0 ? a.n : 1), TSRC_THREADS, 0, a);
}

template <class T> __global__ void __launch_bounds__(TSRC_THREADS) spectrum_kernel(const SpectrumArgs p)
{
    T *x = static_cast<T *>(p.data);
    const int64_t step = int64_t(gridDim.x) * TSRC_THREADS, count = p.lanes * p.length;
    for (int64_t i = int64_t(blockIdx.x) * TSRC_THREADS + threadIdx.x; i < count; i += step) {
        const int64_t k = i % p.length;
        const bool is_real = k == 0 || (p.even && k == p.length - 1);
        if (is_real) x[2 * i + 1] = T(0);
        else if (p.negate) x[2 * i + 1] = -x[2 * i + 1];
    }
}

tsr_status queue_spectrum(const Work &w, const SpectrumArgs &a)
{
    const void *kernel =
        a.wide ? (const void *)spectrum_kernel<double> : (const void *)spectrum_kernel<float>;
    return launch(w, kernel, blocks_for(a.lanes * a.length), TSRC_THREADS, 0, a);
}

} // namespace tsrc
