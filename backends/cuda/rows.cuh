/* rows.cuh - rows in registers: threads' shares of them, and what threads and blocks come to together. */
#ifndef TSRC_ROWS_CUH
#define TSRC_ROWS_CUH

#include <cooperative_groups.h>

#include "convert.cuh"
#include "nest.cuh"
#include "rows.h"

namespace tsrc {

/* Threads and rows of a block where TH threads have a row, and blocks that a multiprocessor is to hold. */
template <int TH> struct RowBlock {
    enum { threads = TH < 128 ? 128 : TH, rows = threads / TH, resident = TH == 512 ? 2 : 768 / threads };
};

/* Which row, and which of its elements, a block's TH threads have. */
template <int TH, RowMode MODE> struct RowPlace {
    uint32_t row, part;
    uint32_t first, count; /* elements */
    bool there;
    TSRC_FN explicit RowPlace(const RowArgs &a)
    {
        constexpr bool whole = MODE == ROW_ALONE;
        row = whole ? blockIdx.x * RowBlock<TH>::rows + threadIdx.x / TH : blockIdx.x / a.blocks;
        part = whole ? 0 : blockIdx.x % a.blocks;
        there = !whole || row < a.count;
        first = part * a.share;
        const uint32_t n = uint32_t(a.n), left = first < n ? n - first : 0;
        count = there ? min(left, a.share) : 0;
    }
};

/* A thread's R times V elements of a share, side by side in vectors. WIDE rows are aligned and have whole
 * vectors. Others are seen `shift` elements further back, where vectors are aligned: the first and the last
 * are taken in parts, and all of an operand that is aligned otherwise. Elements beyond the ends are not
 * loaded. */
template <class S, int TH, int R, bool WIDE> struct Share {
    enum { V = 16 / sizeof(typename S::Bits), VECTORS = R, ALIGNED = WIDE };
    using Bits = typename S::Bits;
    using Vector = Vec<Bits, V>;
    float v[R][V];
    uint32_t shift;

    TSRC_FN explicit Share(const char *x) : shift(WIDE ? 0 : shift_of(x)) {}
    TSRC_FN static uint32_t shift_of(const char *p)
    {
        return uint32_t(reinterpret_cast<uintptr_t>(p) / sizeof(Bits) % V);
    }
    /* Which element of the share; those before it have the numbers from 2^32 down. */
    TSRC_FN uint32_t index(int r, int k) const
    {
        return r * (TH * V) + threadIdx.x % TH * V + k - (WIDE ? 0 : shift);
    }
    TSRC_FN bool below(int r, int k, uint32_t n) const { return index(r, WIDE ? 0 : k) < n; }
    TSRC_FN bool is_whole(int r, uint32_t n) const
    {
        const uint32_t i = index(r, 0);
        return i < n && (WIDE || n - i >= V);
    }

    TSRC_FN void load(const char *x, uint32_t n)
    {
        const bool vectors = WIDE || shift_of(x) == shift;
        Vector bits[R];
#pragma unroll
        for (int r = 0; r < R; r++) {
            if (vectors && is_whole(r, n)) {
                bits[r] = *reinterpret_cast<const Vector *>(x + index(r, 0) * sizeof(Bits));
            } else if (!WIDE) {
#pragma unroll
                for (int k = 0; k < V; k++)
                    if (below(r, k, n))
                        bits[r].e[k] = *reinterpret_cast<const Bits *>(x + index(r, k) * sizeof(Bits));
            }
        }
#pragma unroll
        for (int r = 0; r < R; r++)
#pragma unroll
            for (int k = 0; k < V; k++) v[r][k] = S::load(bits[r].e[k], 0);
    }
    TSRC_FN void store(char *z, uint32_t n) const
    {
        const bool vectors = WIDE || shift_of(z) == shift;
#pragma unroll
        for (int r = 0; r < R; r++) {
            const Vector bits = Packing<S>::pack(v[r], 0);
            if (vectors && is_whole(r, n)) {
                *reinterpret_cast<Vector *>(z + index(r, 0) * sizeof(Bits)) = bits;
            } else if (!WIDE) {
#pragma unroll
                for (int k = 0; k < V; k++)
                    if (below(r, k, n))
                        *reinterpret_cast<Bits *>(z + index(r, k) * sizeof(Bits)) = bits.e[k];
            }
        }
    }
    /* f(element) for those below n. */
    template <class F> TSRC_FN void each(uint32_t n, F f)
    {
#pragma unroll
        for (int r = 0; r < R; r++)
#pragma unroll
            for (int k = 0; k < V; k++)
                if (below(r, k, n)) f(v[r][k]);
    }
};

/* Elements of the longest share; rows that are not WIDE may lose some to the shift. */
template <class S, int TH, int R, bool WIDE> struct LongestShare {
    enum { n = TH * R * 16 / sizeof(typename S::Bits) - (WIDE ? 0 : 8) };
};

/* Meeting ------------------------------------------------------------------------------------------------ */

struct Most {
    TSRC_FN float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Plus {
    template <class T> TSRC_FN T operator()(T a, T b) const { return a + b; }
};

/* All of a row's TH threads get what theirs came to together. */
template <int TH, class V, class F> TSRC_FN V over_threads(V v, V *shared, F join)
{
#pragma unroll
    for (int o = (TH < 32 ? TH : 32) / 2; o; o /= 2) v = join(v, __shfl_xor_sync(~0u, v, o));
    if constexpr (TH > 32) {
        __syncthreads();
        if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = v;
        __syncthreads();
        v = shared[0];
#pragma unroll
        for (int k = 1; k < TH / 32; k++) v = join(v, shared[k]);
    }
    return v;
}

/* All blocks of a cluster get what theirs came to together. A slot is used once; rows end with
 * leave_cluster, so that it stays until all have read it. */
template <class V, class F> TSRC_FN V over_cluster(V v, V *slot, F join)
{
#if __CUDA_ARCH__ >= 900
    const cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    if (threadIdx.x == 0) *slot = v;
    cluster.sync();
    v = *cluster.map_shared_rank(slot, 0);
    for (uint32_t b = 1; b < cluster.num_blocks(); b++) v = join(v, *cluster.map_shared_rank(slot, b));
#endif
    return v;
}

TSRC_FN void leave_cluster()
{
#if __CUDA_ARCH__ >= 900
    cooperative_groups::this_cluster().sync();
#endif
}

template <int TH, RowMode MODE, class V, class F> TSRC_FN V over_row(V v, V *shared, V *slot, F join)
{
    v = over_threads<TH>(v, shared, join);
    if constexpr (MODE == ROW_CLUSTER) v = over_cluster(v, slot, join);
    return v;
}

/* Kernels by shape --------------------------------------------------------------------------------------- */

/* The first of a list of kernels, from the shortest rows on, that holds n elements; else the last. */
template <int N> static RowKernel first_that_holds(const RowKernel (&list)[N], int64_t n)
{
    int i = 0;
    while (i < N - 1 && n > list[i].most) i++;
    return list[i];
}

/* Shapes of rows that a block has alone: threads of a row, vectors of a thread. PART has that of parts. */
#define TSRC_WIDE_SHAPES(X, PART) \
    X(4, 1), X(8, 1), X(8, 2), X(16, 2), X(32, 2), X(32, 4), X(128, 2), X(128, 4), X(256, 4), X(512, 4), \
        X(512, PART)
#define TSRC_OTHER_SHAPES(X, PART) X(8, 1), X(32, 1), X(32, 4), X(128, 4), X(512, 4), X(512, PART)

enum { TSRC_PART_THREADS = 512 };
template <class S> struct PartVectors {
    enum { n = sizeof(typename S::Bits) == 4 ? 8 : 4 };
};

} // namespace tsrc

#endif
