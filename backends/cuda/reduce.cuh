/* reduce.cuh - the kernels of reductions.
 *
 * K is how elements are accumulated:
 *     K::S, K::V                      storage type of elements, neighbours taken at once
 *     K::State, K::W                  at most four words; how many
 *     K::BLOCKS                       that a multiprocessor is to have at once; 1: as it comes
 *     K::begin(), K::take(args, constants, state, element, index), K::merge(args, state, other)
 *     K::pack(state), K::unpack(words)
 *     K::finish(args, words, constants, z)     the result, or the next pass's constants
 */
#ifndef TSRC_REDUCE_CUH
#define TSRC_REDUCE_CUH

#include "convert.cuh"
#include "nest.cuh"
#include "reduce.h"

namespace tsrc {

/* Where group g of an output's elements lies. */
TSRC_FN int64_t group_offset(const tsrc_reduction &r, uint64_t g)
{
    if (r.nd <= 1) return int64_t(g) * r.step[0];
    uint32_t at = uint32_t(g);
    int64_t o = 0;
#pragma unroll 1
    for (int i = 0; i < r.nd; i++) {
        const uint32_t q = i + 1 < r.nd ? divide(at, r.n[i]) : 0;
        o += int64_t(at - q * r.n[i].d) * r.step[i];
        at = q;
    }
    return o;
}

/* Elements that are read once go past the caches. */
template <class V> TSRC_FN V load_once(const char *p)
{
    V v;
    if constexpr (sizeof(V) == 16)
        *reinterpret_cast<uint4 *>(&v) = __ldcs(reinterpret_cast<const uint4 *>(p));
    else if constexpr (sizeof(V) == 8 && alignof(V) == 8)
        *reinterpret_cast<uint2 *>(&v) = __ldcs(reinterpret_cast<const uint2 *>(p));
    else
        v = *reinterpret_cast<const V *>(p);
    return v;
}

/* V neighbours, which lie side by side if there are more than one. */
template <class S, int V, bool WIDE> struct Group {
    using Bits = typename S::Bits;
    Vec<Bits, V> v;
    TSRC_FN void load(const char *p)
    {
        if constexpr (WIDE)
            v = load_once<Vec<Bits, V>>(p);
        else
            v.e[0] = *reinterpret_cast<const Bits *>(p);
    }
};

template <class K, bool WIDE>
TSRC_FN void accumulate_part(const ReduceArgs &a, const char *x, uint64_t first, uint64_t end, const Words &k,
                          typename K::State &state)
{
    enum { V = WIDE ? K::V : 1, AHEAD = 4 };
    const uint64_t lanes = a.plan.lanes;
    uint64_t g = first;
    for (; g + (AHEAD - 1) * lanes < end; g += AHEAD * lanes) {
        Group<typename K::S, V, WIDE> v[AHEAD];
#pragma unroll
        for (int i = 0; i < AHEAD; i++) v[i].load(x + group_offset(a.plan, g + i * lanes));
#pragma unroll
        for (int i = 0; i < AHEAD; i++) K::template take<V>(a, k, state, v[i].v.e, (g + i * lanes) * V);
    }
    for (; g < end; g += lanes) {
        Group<typename K::S, V, WIDE> v;
        v.load(x + group_offset(a.plan, g));
        K::template take<V>(a, k, state, v.v.e, g * V);
    }
}

/* Hands over what an output came to. */
template <class K> TSRC_FN void finalise(const ReduceArgs &a, uint32_t output, const Words &words, char *z)
{
    Words none = {};
    K::finish(a, words, a.constants ? a.constants[output] : none, z, a.next ? a.next + output : nullptr);
}

/* The state of a thread `by` further in the warp. */
template <class K> TSRC_FN typename K::State state_from(const typename K::State &state, int by)
{
    Words w = K::pack(state);
#pragma unroll
    for (int i = 0; i < K::W; i++) w.w[i] = __shfl_down_sync(~0u, w.w[i], by);
    return K::unpack(w);
}

/* Neighbouring threads meet, `lanes` of them, always in the same order: the first has it all. */
template <class K>
TSRC_FN void meet_neighbours(const ReduceArgs &a, typename K::State &state, uint32_t lanes, Words *shared)
{
    for (uint32_t half = min(lanes, 32u) / 2; half > 0; half /= 2) {
        const typename K::State other = state_from<K>(state, int(half));
        if ((threadIdx.x & 31 & (lanes - 1)) < half) K::merge(a, state, other);
    }
    if (lanes <= 32) return;
    const uint32_t warp = threadIdx.x / 32, warps = lanes / 32;
    if (threadIdx.x % 32 == 0) shared[warp] = K::pack(state);
    __syncthreads();
    if (warp % warps == 0) {
        state = threadIdx.x % 32 < warps ? K::unpack(shared[warp + threadIdx.x % 32]) : K::begin(a);
        for (uint32_t half = warps / 2; half > 0; half /= 2) {
            const typename K::State other = state_from<K>(state, int(half));
            if (threadIdx.x % 32 < half) K::merge(a, state, other);
        }
    }
}

/* Threads `stride` apart meet by halves. */
template <class K>
TSRC_FN void meet_apart(const ReduceArgs &a, typename K::State &state, uint32_t lane, uint32_t lanes,
                        uint32_t stride, Words *shared)
{
    for (uint32_t half = lanes / 2; half > 0; half /= 2) {
        if (lane >= half && lane < 2 * half) shared[threadIdx.x] = K::pack(state);
        __syncthreads();
        if (lane < half) K::merge(a, state, K::unpack(shared[threadIdx.x + half * stride]));
        __syncthreads();
    }
}

/* What a part of an output came to: to the other parts, or the result. */
template <class K>
TSRC_FN void hand_over(const ReduceArgs &a, uint32_t part, uint32_t output, const typename K::State &state,
                       char *z)
{
    const Words words = K::pack(state);
    if (a.plan.parts > 1)
        a.states[uint64_t(part) * a.plan.outputs + output] = words;
    else
        finalise<K>(a, output, words, z);
}

template <class K>
__global__ void __launch_bounds__(TSRC_THREADS, K::BLOCKS)
    accumulate_kernel(const __grid_constant__ ReduceArgs a)
{
    __shared__ Words shared[TSRC_THREADS];
    const tsrc_reduction &r = a.plan;
    const uint32_t lane = r.lanes_first ? threadIdx.x % r.lanes : threadIdx.x / r.across;
    const uint32_t mine = r.lanes_first ? threadIdx.x / r.lanes : threadIdx.x % r.across;
    const uint32_t part = blockIdx.x % r.parts, output = blockIdx.x / r.parts * r.across + mine;
    typename K::State state = K::begin(a);
    int64_t z = 0, x = 0;
    if (output < r.outputs) {
        find_place(r.kept, output, z, x);
        Words k = {};
        if (a.constants) k = a.constants[output];
        const uint64_t first = part * r.part, end = min(first + r.part, r.groups);
        if (K::V > 1 && r.per > 1)
            accumulate_part<K, true>(a, r.x + x, first + lane, end, k, state);
        else
            accumulate_part<K, false>(a, r.x + x, first + lane, end, k, state);
    }
    if (r.lanes_first)
        meet_neighbours<K>(a, state, r.lanes, shared);
    else
        meet_apart<K>(a, state, lane, r.lanes, r.across, shared);
    if (lane == 0 && output < r.outputs) hand_over<K>(a, part, output, state, r.z + z);
}

/* Lanes of columns meet: threads leave their states, and each takes some outputs from there. */
template <class K> struct ColumnRoom {
    double w[K::W][K::V][TSRC_THREADS];
    TSRC_FN void leave(const typename K::State (&state)[K::V])
    {
#pragma unroll
        for (int j = 0; j < K::V; j++) {
            const Words words = K::pack(state[j]);
#pragma unroll
            for (int i = 0; i < K::W; i++) w[i][j][threadIdx.x] = words.w[i];
        }
    }
    TSRC_FN typename K::State at(uint32_t j, uint32_t thread) const
    {
        Words words = {};
#pragma unroll
        for (int i = 0; i < K::W; i++) words.w[i] = w[i][j][thread];
        return K::unpack(words);
    }
};

template <class K>
TSRC_FN void hand_over_column(const ReduceArgs &a, uint32_t part, uint32_t output,
                              const typename K::State &state)
{
    int64_t z = 0, x = 0;
    find_place(a.plan.kept, output, z, x);
    hand_over<K>(a, part, output, state, a.plan.z + z);
}

/* Outputs whose elements lie side by side, K::V of them a thread. */
template <class K>
__global__ void __launch_bounds__(TSRC_THREADS) columns_kernel(const __grid_constant__ ReduceArgs a)
{
    enum { V = K::V, AHEAD = 8 };
    using Bits = typename K::S::Bits;
    __shared__ ColumnRoom<K> room;
    const tsrc_reduction &r = a.plan;
    const uint32_t lane = threadIdx.x / r.across, mine = threadIdx.x % r.across;
    const uint32_t part = blockIdx.x % r.parts, begin = blockIdx.x / r.parts * r.across * V;
    const uint32_t output = begin + mine * V;
    typename K::State state[V];
#pragma unroll
    for (int j = 0; j < V; j++) state[j] = K::begin(a);
    if (output < r.outputs) {
        int64_t z = 0, x = 0;
        find_place(r.kept, output, z, x);
        Words k[V] = {};
        if (a.constants)
#pragma unroll
            for (int j = 0; j < V; j++) k[j] = a.constants[output + j];
        const uint64_t first = part * r.part, end = min(first + r.part, r.groups);
        for (uint64_t g = first + lane; g < end; g += AHEAD * r.lanes) {
            Vec<Bits, V> v[AHEAD];
#pragma unroll
            for (int i = 0; i < AHEAD; i++)
                if (g + i * r.lanes < end)
                    v[i] = load_once<Vec<Bits, V>>(r.x + x + group_offset(r, g + i * r.lanes));
#pragma unroll
            for (int i = 0; i < AHEAD; i++)
                if (g + i * r.lanes < end)
#pragma unroll
                    for (int j = 0; j < V; j++)
                        K::template take<1>(a, k[j], state[j], &v[i].e[j], g + i * r.lanes);
        }
    }
    if (r.lanes == 1) {
#pragma unroll
        for (int j = 0; j < V; j++)
            if (output < r.outputs) hand_over_column<K>(a, part, output + j, state[j]);
        return;
    }
    room.leave(state);
    __syncthreads();
    for (uint32_t o = threadIdx.x; o < r.across * V; o += TSRC_THREADS) {
        const uint32_t j = o / r.across, column = o % r.across;
        typename K::State all = room.at(j, column);
        for (uint32_t l = 1; l < r.lanes; l++) K::merge(a, all, room.at(j, l * r.across + column));
        if (begin + column * V < r.outputs) hand_over_column<K>(a, part, begin + column * V + j, all);
    }
}

/* Parts meet: few of them in a thread, which has neighbouring outputs beside it; many in a block. */
template <class K>
__global__ void __launch_bounds__(TSRC_THREADS) merge_kernel(const __grid_constant__ ReduceArgs a)
{
    __shared__ Words shared[TSRC_THREADS];
    const tsrc_reduction &r = a.plan;
    const bool few = r.parts <= TSRC_FEW_PARTS;
    const uint32_t lanes = few ? 1 : TSRC_THREADS, lane = few ? 0 : threadIdx.x;
    const uint32_t output = few ? blockIdx.x * TSRC_THREADS + threadIdx.x : blockIdx.x;
    typename K::State state = K::begin(a);
#pragma unroll 4
    for (uint32_t p = lane; p < r.parts; p += lanes)
        if (output < r.outputs) K::merge(a, state, K::unpack(a.states[uint64_t(p) * r.outputs + output]));
    if (!few) meet_neighbours<K>(a, state, lanes, shared);
    if (lane != 0 || output >= r.outputs) return;
    int64_t z = 0, x = 0;
    find_place(r.kept, output, z, x);
    finalise<K>(a, output, K::pack(state), r.z + z);
}

template <class K> Reducer make_reducer()
{
    return { (const void *)accumulate_kernel<K>, K::V > 1 ? (const void *)columns_kernel<K> : nullptr,
             (const void *)merge_kernel<K>, K::V };
}

/* A sum and what rounding took from it. */
struct Sum {
    double sum, lost;
};

TSRC_FN void add_exactly(Sum &s, double x)
{
    const double had = s.sum, now = had + x, part = now - had;
    s.sum = now;
    s.lost += (had - (now - part)) + (x - part);
}

TSRC_FN double total(const Sum &s) { return s.sum - s.sum == 0 ? s.sum + s.lost : s.sum; }

} // namespace tsrc

#endif
