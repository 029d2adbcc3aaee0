/* reduce.cuh - the kernels of reductions.
 *
 * K is how elements are accumulated:
 *     K::S, K::V                      storage type of elements, neighbours taken at once
 *     K::State, K::W                  at most four words; how many
 *     K::BLOCKS                       that a multiprocessor is to have at once; 1: as it comes
 *     K::BATCH                        elements of a column that are taken at once; if there is none: one
 *     K::begin(), K::take(args, constants, state, element, index), K::merge(args, state, other)
 *     K::pack(state), K::unpack(words)
 *     K::finish(args, words, constants, z)     the result, or the next pass's constants
 */
#ifndef TSRC_REDUCE_CUH
#define TSRC_REDUCE_CUH

#include <type_traits>

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

/* Groups first, first + lanes and so on, of V elements. Group 0 begins with element `at`. */
template <class K, bool WIDE>
TSRC_FN void accumulate_part(const ReduceArgs &a, const char *x, uint64_t first, uint64_t end, const Words &k,
                          typename K::State &state, uint64_t at = 0)
{
    enum { V = WIDE ? K::V : 1, AHEAD = WIDE ? 4 : 8 };
    const uint64_t lanes = a.plan.lanes;
    uint64_t g = first;
    for (; g + (AHEAD - 1) * lanes < end; g += AHEAD * lanes) {
        Group<typename K::S, V, WIDE> v[AHEAD];
#pragma unroll
        for (int i = 0; i < AHEAD; i++) v[i].load(x + group_offset(a.plan, g + i * lanes));
#pragma unroll
        for (int i = 0; i < AHEAD; i++)
            K::template take<V>(a, k, state, v[i].v.e, at + (g + i * lanes) * V);
    }
    for (; g < end; g += lanes) {
        Group<typename K::S, V, WIDE> v;
        v.load(x + group_offset(a.plan, g));
        K::template take<V>(a, k, state, v.v.e, at + g * V);
    }
}

template <class K>
TSRC_FN void take_singly(const ReduceArgs &a, const char *x, uint64_t first, uint64_t end, const Words &k,
                         typename K::State &state)
{
    using Bits = typename K::S::Bits;
#pragma unroll 1
    for (uint64_t e = first; e < end; e += a.plan.lanes)
        K::template take<1>(a, k, state, reinterpret_cast<const Bits *>(x) + e, e);
}

/* Elements side by side that begin or end inside a group: those before the first aligned one, whole
 * groups, and the rest. Groups are counted from the output's first element. */
template <class K>
TSRC_FN void accumulate_ragged(const ReduceArgs &a, const char *x, uint64_t first, uint64_t end,
                               uint32_t lane, const Words &k, typename K::State &state)
{
    enum { V = K::V, SIZE = sizeof(typename K::S::Bits) };
    const uint64_t from = first * V, to = min(end * V, a.plan.count);
    const uint32_t past = uint32_t((reinterpret_cast<uintptr_t>(x) / SIZE + from) % V);
    const uint64_t whole = min(from + (V - past) % V, to), groups = (to - whole) / V;
    take_singly<K>(a, x, from + lane, whole, k, state);
    accumulate_part<K, true>(a, x + whole * SIZE, lane, groups, k, state, whole);
    take_singly<K>(a, x, whole + groups * V + lane, to, k, state);
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
    if (a.plan.parts == 1) {
        finalise<K>(a, output, words, z);
        return;
    }
#pragma unroll
    for (int i = 0; i < K::W; i++)
        a.states[(uint64_t(part) * K::W + i) * a.plan.outputs + output] = words.w[i];
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
        if (K::V > 1 && r.ragged)
            accumulate_ragged<K>(a, r.x + x, first, end, lane, k, state);
        else if (K::V > 1 && r.per > 1)
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

/* Lanes of columns meet: threads leave their states, and each takes some outputs from there. Rows are a bit
 * longer than they need be, so that a warp's outputs lie in different banks. */
template <class K, int V> struct ColumnRoom {
    double w[K::W][V][TSRC_THREADS + 4];
    TSRC_FN void leave(const typename K::State (&state)[V])
    {
#pragma unroll
        for (int j = 0; j < V; j++) {
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
    if (a.plan.parts == 1) find_place(a.plan.kept, output, z, x);
    hand_over<K>(a, part, output, state, a.plan.z + z);
}

template <class B, int V> TSRC_FN void store_beside(char *z, const uint64_t (&bits)[V])
{
    Vec<B, V> v;
#pragma unroll
    for (int j = 0; j < V; j++) v.e[j] = B(bits[j]);
    *reinterpret_cast<Vec<B, V> *>(z) = v;
}

/* A result's bytes, in a word. */
template <class K>
static __device__ __noinline__ uint64_t result_of(const ReduceArgs &a, Words words, uint32_t output)
{
    uint64_t bits = 0;
    finalise<K>(a, output, words, reinterpret_cast<char *>(&bits));
    return bits;
}

/* Results side by side. */
template <class K, int V>
TSRC_FN void finish_beside(const ReduceArgs &a, uint32_t output, const typename K::State (&state)[V], char *z)
{
    uint64_t bits[V];
#pragma unroll
    for (int j = 0; j < V; j++) bits[j] = result_of<K>(a, K::pack(state[j]), output + j);
    switch (a.beside) {
    case 1: store_beside<uint8_t, V>(z, bits); break;
    case 2: store_beside<uint16_t, V>(z, bits); break;
    case 4: store_beside<uint32_t, V>(z, bits); break;
    default: store_beside<uint64_t, V>(z, bits); break;
    }
}

/* A thread's outputs, of which no other thread has anything. */
template <class K, int V>
TSRC_FN void hand_over_alone(const ReduceArgs &a, uint32_t part, uint32_t output,
                             const typename K::State (&state)[V], char *z)
{
    if (output >= a.plan.outputs) return;
    if (a.plan.parts == 1 && a.beside) {
        finish_beside<K, V>(a, output, state, z);
        return;
    }
#pragma unroll 1
    for (int j = 0; j < V; j++) {
        typename K::State one = state[0];
#pragma unroll
        for (int i = 1; i < V; i++)
            if (i == j) one = state[i];
        hand_over_column<K>(a, part, output + j, one);
    }
}

template <class K, class = void> struct Batch {
    enum { n = 1 };
};
template <class K> struct Batch<K, std::enable_if_t<(K::BATCH > 1)>> {
    enum { n = K::BATCH };
};

/* Some rows of V neighbours: each column by itself. */
template <class K, int V, int ROWS>
TSRC_FN void take_batch(const ReduceArgs &a, const Words (&k)[V], typename K::State (&state)[V],
                        const Vec<typename K::S::Bits, V> (&v)[ROWS])
{
#pragma unroll
    for (int j = 0; j < V; j++) {
        typename K::S::Bits column[ROWS];
#pragma unroll
        for (int i = 0; i < ROWS; i++) column[i] = v[i].e[j];
        K::template take<ROWS>(a, k[j], state[j], column, 0);
    }
}

/* Outputs whose elements lie side by side, V of them a thread. */
template <class K, int V>
__global__ void __launch_bounds__(TSRC_THREADS, 3) columns_kernel(const __grid_constant__ ReduceArgs a)
{
    using Bits = typename K::S::Bits;
    enum {
        BYTES = V * sizeof(Bits),
        BATCH = Batch<K>::n,
        AHEAD = BATCH > 1 ? BATCH : BYTES < 8 ? 16 : BYTES == 16 && V == 8 ? 4 : 8
    };
    __shared__ ColumnRoom<K, V> room;
    const tsrc_reduction &r = a.plan;
    const uint32_t lane = threadIdx.x / r.across, mine = threadIdx.x % r.across;
    const uint32_t part = blockIdx.x % r.parts, begin = blockIdx.x / r.parts * r.across * V;
    const uint32_t output = begin + mine * V;
    int64_t z = 0, x = 0;
    typename K::State state[V];
    Words k[V] = {};
#pragma unroll
    for (int j = 0; j < V; j++) state[j] = K::begin(a);
    if (output < r.outputs) {
        find_place(r.kept, output, z, x);
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
            if (BATCH > 1 && g + (AHEAD - 1) * r.lanes < end) {
                take_batch<K, V, AHEAD>(a, k, state, v);
                continue;
            }
#pragma unroll
            for (int i = 0; i < AHEAD; i++)
                if (g + i * r.lanes < end)
#pragma unroll
                    for (int j = 0; j < V; j++)
                        K::template take<1>(a, k[j], state[j], &v[i].e[j], g + i * r.lanes);
        }
    }
    if (r.lanes == 1) {
        hand_over_alone<K, V>(a, part, output, state, r.z + z);
        return;
    }
    room.leave(state);
    __syncthreads();
    for (uint32_t o = threadIdx.x; o < r.across * V; o += TSRC_THREADS) {
        const uint32_t j = o % V, column = o / V;
        typename K::State all = room.at(j, column);
        for (uint32_t l = 1; l < r.lanes; l++) K::merge(a, all, room.at(j, l * r.across + column));
        if (begin + o < r.outputs) hand_over_column<K>(a, part, begin + o, all);
    }
}

template <class K> TSRC_FN typename K::State state_of(const ReduceArgs &a, uint32_t part, uint32_t output)
{
    Words words = {};
#pragma unroll
    for (int i = 0; i < K::W; i++)
        words.w[i] = a.states[(uint64_t(part) * K::W + i) * a.plan.outputs + output];
    return K::unpack(words);
}

/* Parts meet. */
template <class K>
__global__ void __launch_bounds__(TSRC_THREADS) merge_kernel(const __grid_constant__ ReduceArgs a)
{
    __shared__ Words shared[TSRC_THREADS];
    const tsrc_reduction &r = a.plan;
    const uint32_t across = r.parts <= TSRC_MOST_PARTS_BESIDE ? TSRC_MERGED_BESIDE : 1;
    const uint32_t lanes = TSRC_THREADS / across;
    const uint32_t lane = threadIdx.x / across, output = blockIdx.x * across + threadIdx.x % across;
    typename K::State state = K::begin(a);
#pragma unroll 4
    for (uint32_t p = lane; p < r.parts; p += lanes)
        if (output < r.outputs) K::merge(a, state, state_of<K>(a, p, output));
    if (across == 1)
        meet_neighbours<K>(a, state, lanes, shared);
    else
        meet_apart<K>(a, state, lane, lanes, across, shared);
    if (lane != 0 || output >= r.outputs) return;
    int64_t z = 0, x = 0;
    find_place(r.kept, output, z, x);
    finalise<K>(a, output, K::pack(state), r.z + z);
}

template <class K> const void *columns_of()
{
    if constexpr (K::V > 1) return (const void *)columns_kernel<K, K::V>;
    else return nullptr;
}

template <class K> const void *narrow_columns_of()
{
    constexpr int size = sizeof(typename K::S::Bits);
    if constexpr (K::V > 1 && size < 4) return (const void *)columns_kernel<K, 4 / size>;
    else return nullptr;
}

template <class K> Reducer make_reducer()
{
    return { (const void *)accumulate_kernel<K>, columns_of<K>(), (const void *)merge_kernel<K>, K::V,
             narrow_columns_of<K>(), K::W };
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
