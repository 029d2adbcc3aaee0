/* factor_parts.cu - see factor.h. A block does a matrix, and then another. */
#include "factor.h"

namespace tsrc {

enum { THREADS = 512, MOST_BLOCKS = 1 << 16 };

template <class T> __device__ __forceinline__ T nan_of();
template <> __device__ __forceinline__ float nan_of<float>() { return __int_as_float(0x7fc00000); }
template <> __device__ __forceinline__ double nan_of<double>()
{
    return __longlong_as_double(0x7ff8000000000000ll);
}

/* Does a number of a matrix lie in its triangle? */
__device__ __forceinline__ bool counts(const FactorArgs &p, int64_t i)
{
    const int64_t element = i / p.parts, row = element % p.rows, col = element / p.rows;
    return p.triangle == WHOLE || (p.triangle == LOWER ? row >= col : row <= col);
}

template <class T> __device__ __forceinline__ T *matrix_of(const FactorArgs &p, int64_t b)
{
    return static_cast<T *>(p.data) + b * p.rows * p.cols * p.parts;
}

template <class T> __device__ __forceinline__ void put_identity(const FactorArgs &p, T *x, int64_t size)
{
    for (int64_t i = threadIdx.x; i < size; i += THREADS) {
        const int64_t element = i / p.parts;
        x[i] = i % p.parts == 0 && element % p.rows == element / p.rows ? T(1) : T(0);
    }
}

struct Tame {
    template <class T> static __device__ void run(const FactorArgs &p, int64_t b)
    {
        T *x = matrix_of<T>(p, b);
        const int64_t size = p.rows * p.cols * p.parts;
        int finite = 1;
        for (int64_t i = threadIdx.x; i < size; i += THREADS)
            if (!(x[i] - x[i] == T(0)) && counts(p, i)) finite = 0;
        finite = __syncthreads_and(finite);
        if (threadIdx.x == 0) p.flags[b] = finite;
        if (!finite) put_identity(p, x, size);
    }
};

struct Untame {
    template <class T> static __device__ void run(const FactorArgs &p, int64_t b)
    {
        if (p.flags[b]) return;
        T *x = matrix_of<T>(p, b);
        const int64_t size = p.rows * p.cols * p.parts;
        for (int64_t i = threadIdx.x; i < size; i += THREADS) x[i] = nan_of<T>();
    }
};

struct ClearTriangle {
    template <class T> static __device__ void run(const FactorArgs &p, int64_t b)
    {
        T *x = matrix_of<T>(p, b);
        const int64_t size = p.rows * p.cols * p.parts;
        for (int64_t i = threadIdx.x; i < size; i += THREADS)
            if (!counts(p, i)) x[i] = T(0);
    }
};

struct PutIdentity {
    template <class T> static __device__ void run(const FactorArgs &p, int64_t b)
    {
        put_identity(p, matrix_of<T>(p, b), p.rows * p.cols * p.parts);
    }
};

template <class F, class T> __global__ void __launch_bounds__(THREADS) factor_kernel(const FactorArgs p)
{
    for (int64_t b = blockIdx.x; b < p.count; b += gridDim.x) F::template run<T>(p, b);
}

__global__ void __launch_bounds__(THREADS) pivots_kernel(const FactorArgs p)
{
    for (int64_t b = blockIdx.x; b < p.count; b += gridDim.x) {
        int64_t *pivot = static_cast<int64_t *>(p.data) + b * p.rows;
        for (int64_t i = threadIdx.x; i < p.rows; i += THREADS) pivot[i] = p.flags[b] ? pivot[i] - 1 : i;
    }
}

static uint32_t blocks_for(const FactorArgs &a)
{
    return static_cast<uint32_t>(a.count < MOST_BLOCKS ? a.count : static_cast<int64_t>(MOST_BLOCKS));
}

template <class F> static tsr_status queue(const Work &w, const FactorArgs &a)
{
    const void *kernel =
        a.wide ? (const void *)factor_kernel<F, double> : (const void *)factor_kernel<F, float>;
    return launch(w, kernel, blocks_for(a), THREADS, 0, a);
}

tsr_status queue_tame(const Work &w, const FactorArgs &a) { return queue<Tame>(w, a); }
tsr_status queue_untame(const Work &w, const FactorArgs &a) { return queue<Untame>(w, a); }
tsr_status queue_clear(const Work &w, const FactorArgs &a) { return queue<ClearTriangle>(w, a); }
tsr_status queue_identity(const Work &w, const FactorArgs &a) { return queue<PutIdentity>(w, a); }

tsr_status queue_pivots(const Work &w, const FactorArgs &a)
{
    return launch(w, (const void *)pivots_kernel, blocks_for(a), THREADS, 0, a);
}

} // namespace tsrc
