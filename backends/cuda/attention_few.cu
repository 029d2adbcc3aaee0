/* attention_few.cu - attention of few rows of f16 or bf16 to many keys, as in decoding.
 *
 * The keys of a head are shared out to blocks. G threads have a key at a time, each 8 elements of it, and
 * keep for every row what they have come to so far: the largest score, the sum of weights and their mixture.
 * Groups of a block meet in shared memory, blocks in scratch memory, always in the same order. */
#include "attention.cuh"

namespace tsrc {

enum { FEW_THREADS = 128, AT_ONCE = 4 /* keys whose elements are under way */ };

/* A row's state of a block: the largest score times log2(e), the sum, then the mixture. */
enum { HEAD = 2 };

template <class S> TSRC_FN void load_eight(float (&x)[8], const char *p, bool there)
{
    Vec<uint16_t, 8> bits;
    if (there) bits = *reinterpret_cast<const Vec<uint16_t, 8> *>(p);
#pragma unroll
    for (int k = 0; k < 8; k++) x[k] = there ? S::load(bits.e[k], 0) : 0.0f;
}

TSRC_FN float two_to(float x)
{
    float out;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"(x));
    return out;
}

/* R rows of a thread's eight columns. */
template <int R> struct Few {
    float largest[R], sum[R], mixture[R][8];

    TSRC_FN Few()
    {
#pragma unroll
        for (int r = 0; r < R; r++) {
            largest[r] = -INFINITY;
            sum[r] = 0;
#pragma unroll
            for (int k = 0; k < 8; k++) mixture[r][k] = 0;
        }
    }

    /* Makes room for scores of up to `now`. */
    TSRC_FN void grow(int r, float now)
    {
        if (!(now > largest[r])) return;
        const float by = two_to(largest[r] - base_of(now));
        largest[r] = now;
        sum[r] *= by;
#pragma unroll
        for (int k = 0; k < 8; k++) mixture[r][k] = shrunk(mixture[r][k], by, true);
    }

    TSRC_FN void take(int r, float score, const float (&v)[8])
    {
        const float w = two_to(score - base_of(largest[r]));
        sum[r] += w;
        if (w == 0) return;
#pragma unroll
        for (int k = 0; k < 8; k++) mixture[r][k] = __fmaf_rn(w, v[k], mixture[r][k]);
    }

    /* Takes in what another came to: state[0], state[1], and eight columns. */
    TSRC_FN void merge(int r, const float *state, const float *columns)
    {
        const float top = state[0];
        grow(r, top);
        const float by = two_to(top - base_of(largest[r]));
        sum[r] += state[1] * by;
        if (by == 0) return;
#pragma unroll
        for (int k = 0; k < 8; k++) mixture[r][k] = __fmaf_rn(by, columns[k], mixture[r][k]);
    }
};

/* Groups of G threads of a block meet: the first has it all. */
template <int R, int G> struct FewRoom {
    enum { GROUPS = FEW_THREADS / G };
    float states[GROUPS][R][HEAD + 8 * G];
    TSRC_FN void meet(Few<R> &few, uint32_t group, uint32_t column)
    {
#pragma unroll
        for (int r = 0; r < R; r++) {
            states[group][r][0] = few.largest[r];
            states[group][r][1] = few.sum[r];
#pragma unroll
            for (int k = 0; k < 8; k++) states[group][r][HEAD + column + k] = few.mixture[r][k];
        }
        __syncthreads();
        if (group != 0) return;
        for (int g = 1; g < GROUPS; g++)
#pragma unroll
            for (int r = 0; r < R; r++) few.merge(r, states[g][r], states[g][r] + HEAD + column);
    }
};

/* The head that a block has, without tiles of rows: all rows are in it. */
TSRC_FN Spot find_head(const AttentionArgs &a, uint32_t at)
{
    Spot s;
    const uint32_t kv = at % a.kv_heads;
    at /= a.kv_heads;
    place_head(a, s, kv, at);
    s.first = 0;
    s.rows = a.shared * a.m;
    s.keys = a.n;
    return s;
}

/* What rows came to, to the result. */
template <class S, int R>
TSRC_FN void write_rows(const AttentionArgs &a, const Spot &s, const Few<R> &few, uint32_t column)
{
#pragma unroll
    for (int r = 0; r < R; r++) {
        if (uint32_t(r) >= s.rows) continue;
        char *z = row_at(a, s, OF_Z, r);
#pragma unroll
        for (int k = 0; k < 8; k++)
            if (column + k < a.e)
                *reinterpret_cast<uint16_t *>(z + int64_t(column + k) * a.of[OF_Z].col) =
                    S::store(few.sum[r] == 0 ? 0.0f : few.mixture[r][k] / few.sum[r], 0);
    }
}

template <class S, int R, int G>
__global__ void __launch_bounds__(FEW_THREADS) few_kernel(const __grid_constant__ AttentionArgs a)
{
    enum { GROUPS = FEW_THREADS / G, WIDTH = 8 * G };
    __shared__ FewRoom<R, G> room;
    const uint32_t head = blockIdx.x / a.parts, part = blockIdx.x % a.parts;
    const uint32_t group = threadIdx.x / G, lane = threadIdx.x % G, column = lane * 8;
    const Spot s = find_head(a, head);
    const float scale = float(a.late), log2e = 1.44269504f;
    const bool in_k = column < a.d, in_v = column < a.e;
    float q[R][8];
    uint32_t seen[R];
#pragma unroll
    for (int r = 0; r < R; r++) {
        const bool there = uint32_t(r) < s.rows;
        seen[r] = there ? keys_of(a, r) : 0;
        const char *p = there ? row_at(a, s, OF_Q, r) + int64_t(column) * a.of[OF_Q].col : nullptr;
#pragma unroll
        for (int k = 0; k < 8; k++) {
            q[r][k] = 0;
            if (there && column + k < a.d)
                q[r][k] = S::load(*reinterpret_cast<const uint16_t *>(p + k * a.of[OF_Q].col), 0);
        }
    }
    Few<R> few;
    const uint32_t first = part * a.part, end = min(first + a.part, a.n);
    const char *k_at = s.data[OF_K] + int64_t(column) * 2, *v_at = s.data[OF_V] + int64_t(column) * 2;
    for (uint32_t from = first; from < end; from += GROUPS * AT_ONCE) { /* all threads: they meet in warps */
        float of_k[AT_ONCE][8], of_v[AT_ONCE][8];
#pragma unroll
        for (int j = 0; j < AT_ONCE; j++) {
            const uint32_t key = from + j * GROUPS + group;
            load_eight<S>(of_k[j], k_at + int64_t(key) * a.of[OF_K].row, in_k && key < end);
            load_eight<S>(of_v[j], v_at + int64_t(key) * a.of[OF_V].row, in_v && key < end);
        }
#pragma unroll
        for (int r = 0; r < R; r++) {
            float score[AT_ONCE], now = -INFINITY;
            const bool masks = a.of[OF_MASK].data && uint32_t(r) < s.rows;
            const char *mask = masks ? row_at(a, s, OF_MASK, r) : nullptr;
#pragma unroll
            for (int j = 0; j < AT_ONCE; j++) {
                const uint32_t key = from + j * GROUPS + group;
                float dot = 0;
#pragma unroll
                for (int k = 0; k < 8; k++) dot = __fmaf_rn(q[r][k], of_k[j][k], dot);
#pragma unroll
                for (int o = G / 2; o; o /= 2) dot += __shfl_xor_sync(~0u, dot, o);
                score[j] = key < end ? masked(a, dot * scale, mask, key, seen[r]) * log2e : -INFINITY;
                now = fmaxf(now, score[j]);
            }
            few.grow(r, now);
#pragma unroll
            for (int j = 0; j < AT_ONCE; j++) few.take(r, score[j], of_v[j]);
        }
    }
    room.meet(few, group, column);
    if (group != 0) return;
    if (a.parts == 1) {
        write_rows<S>(a, s, few, column);
        return;
    }
#pragma unroll
    for (int r = 0; r < R; r++) {
        float *to = a.states + (uint64_t(blockIdx.x) * R + r) * (HEAD + WIDTH);
        if (lane == 0) {
            to[0] = few.largest[r];
            to[1] = few.sum[r];
        }
#pragma unroll
        for (int k = 0; k < 8; k++) to[HEAD + column + k] = few.mixture[r][k];
    }
}

/* Parts of a head meet: each group of threads has some. */
template <class S, int R, int G>
__global__ void __launch_bounds__(FEW_THREADS) join_kernel(const __grid_constant__ AttentionArgs a)
{
    enum { GROUPS = FEW_THREADS / G, WIDTH = 8 * G };
    __shared__ FewRoom<R, G> room;
    const uint32_t group = threadIdx.x / G, column = threadIdx.x % G * 8;
    Few<R> few;
    for (uint32_t p = group; p < a.parts; p += GROUPS)
#pragma unroll
        for (int r = 0; r < R; r++) {
            const float *from = a.states + ((uint64_t(blockIdx.x) * a.parts + p) * R + r) * (HEAD + WIDTH);
            few.merge(r, from, from + HEAD + column);
        }
    room.meet(few, group, column);
    if (group == 0) write_rows<S>(a, find_head(a, blockIdx.x), few, column);
}

template <class S, int R, int G> static FewKernel kernel_of()
{
    return { (const void *)few_kernel<S, R, G>, (const void *)join_kernel<S, R, G>, FEW_THREADS,
             size_t(R) * (HEAD + 8 * G) * sizeof(float) };
}

template <class S, int G> static FewKernel kernel_of_rows(uint32_t rows)
{
    if (rows <= 1) return kernel_of<S, 1, G>();
    return rows <= 4 ? kernel_of<S, 4, G>() : kernel_of<S, 8, G>();
}

template <class S> static FewKernel kernel_of_size(const AttentionArgs &a)
{
    const uint32_t rows = a.shared * a.m, both = a.d > a.e ? a.d : a.e;
    if (both <= 64) return kernel_of_rows<S, 8>(rows);
    return both <= 128 ? kernel_of_rows<S, 16>(rows) : kernel_of_rows<S, 32>(rows);
}

FewKernel few_attention(tsr_dtype dtype, const AttentionArgs &a)
{
    const bool fits = a.shared * a.m <= 8 && a.n > 0 && a.of[OF_K].wide && a.of[OF_V].wide;
    if (!fits || tsrc_size(dtype) != 2) return { nullptr, nullptr, 0, 0 };
    return dtype == TSR_BF16 ? kernel_of_size<Quick16<true>>(a) : kernel_of_size<Quick16<false>>(a);
}

} // namespace tsrc
