/* attention_decode.cu - attention of one row of f16 or bf16, or some of f32, to many keys, as in decoding.
 *
 * The keys of a head are shared out to blocks. G threads have AT_ONCE keys at a time, each 8 elements of
 * them, and keep for every row what they have come to so far. While they are at it the next keys come.
 * Groups of a block meet in shared memory, blocks in scratch memory, always in the same order. */
#include "attention.cuh"

namespace tsrc {

enum { DECODE_THREADS = 128, AT_ONCE = 4 };

/* Eight elements as they lie. */
template <class S> struct Eight {
    enum { WORDS = sizeof(typename S::Bits) / 2 };
    Vec<uint32_t, 4> words[WORDS];
    TSRC_FN void read(const char *p, bool there)
    {
#pragma unroll
        for (int i = 0; i < WORDS; i++)
            words[i] = there ? reinterpret_cast<const Vec<uint32_t, 4> *>(p)[i] : Vec<uint32_t, 4>{};
    }
    TSRC_FN float at(int k) const
    {
        if constexpr (WORDS == 2)
            return __uint_as_float(words[k / 4].e[k % 4]);
        else
            return S::load(uint16_t(words[0].e[k / 2] >> (k % 2 * 16)), 0);
    }
};

/* R rows of G threads with 8 columns each. */
template <class S, int R, int G> struct Decode {
    enum { GROUPS = DECODE_THREADS / G, WIDTH = 8 * G, STATE = HEAD + WIDTH };

    float q[R][8], largest[R], sum[R], mixture[R][8];
    uint32_t seen[R];

    TSRC_FN static uint32_t lane() { return threadIdx.x % G; }
    TSRC_FN static uint32_t group() { return threadIdx.x / G; }
    TSRC_FN static uint32_t column() { return lane() * 8; }

    /* Of AT_ONCE keys, which one's score this thread has. */
    TSRC_FN static uint32_t own() { return lane() / (G / 4); }

    TSRC_FN void begin(const AttentionArgs &a, const Spot &s)
    {
#pragma unroll
        for (int r = 0; r < R; r++) {
            const bool there = uint32_t(r) < s.rows;
            const char *p = there ? row_at(a, s, OF_Q, r) : nullptr;
            seen[r] = there ? keys_of(a, r) : 0;
            largest[r] = -INFINITY;
            sum[r] = 0;
#pragma unroll
            for (int k = 0; k < 8; k++) {
                const bool has = there && column() + k < a.d;
                const char *at = p + int64_t(column() + k) * a.of[OF_Q].col;
                const float x = has ? S::load(*reinterpret_cast<const typename S::Bits *>(at), 0) : 0.0f;
                q[r][k] = x * float(a.early);
                mixture[r][k] = 0;
            }
        }
    }

    /* Sums of AT_ONCE numbers over the group: of each thread's own one. */
    TSRC_FN static float total(const float (&x)[AT_ONCE])
    {
        const bool high = lane() & G / 2, odd = lane() & G / 4;
        float a = high ? x[2] : x[0], b = high ? x[3] : x[1];
        a += __shfl_xor_sync(~0u, high ? x[0] : x[2], G / 2);
        b += __shfl_xor_sync(~0u, high ? x[1] : x[3], G / 2);
        float all = odd ? b : a;
        all += __shfl_xor_sync(~0u, odd ? a : b, G / 4);
#pragma unroll
        for (int o = G / 8; o; o /= 2) all += __shfl_xor_sync(~0u, all, o);
        return all;
    }

    /* Row r takes in keys first + j * GROUPS. */
    TSRC_FN void take(const AttentionArgs &a, const char *mask, int r, uint32_t first, uint32_t end,
                      const Eight<S> (&k)[AT_ONCE], const Eight<S> (&v)[AT_ONCE])
    {
        float dot[AT_ONCE];
#pragma unroll
        for (int j = 0; j < AT_ONCE; j++) {
            dot[j] = 0;
#pragma unroll
            for (int c = 0; c < 8; c++) dot[j] = __fmaf_rn(q[r][c], k[j].at(c), dot[j]);
        }
        const uint32_t key = first + own() * GROUPS;
        const float log2e = 1.44269504f, score = total(dot) * float(a.late);
        const float mine = key < end ? masked(a, score, mask, key, seen[r]) * log2e : -INFINITY;
        float now = fmaxf(mine, __shfl_xor_sync(~0u, mine, G / 2));
        now = fmaxf(largest[r], fmaxf(now, __shfl_xor_sync(~0u, now, G / 4)));
        if (now > largest[r]) {
            const float by = two_to(largest[r] - now);
            largest[r] = now;
            sum[r] *= by;
#pragma unroll
            for (int c = 0; c < 8; c++) mixture[r][c] = shrunk(mixture[r][c], by, true);
        }
        const float weight = two_to(mine - base_of(largest[r]));
        sum[r] += weight;
        float w[AT_ONCE];
#pragma unroll
        for (int j = 0; j < AT_ONCE; j++) w[j] = __shfl_sync(~0u, weight, j * (G / 4), G);
#pragma unroll
        for (int j = 0; j < AT_ONCE; j++)
            if (w[j] != 0)
#pragma unroll
                for (int c = 0; c < 8; c++) mixture[r][c] = __fmaf_rn(w[j], v[j].at(c), mixture[r][c]);
    }

    /* To a state for each row. */
    TSRC_FN void leave(float *state)
    {
#pragma unroll
        for (int r = 0; r < R; r++) {
            float all = sum[r] + __shfl_xor_sync(~0u, sum[r], G / 2);
            all += __shfl_xor_sync(~0u, all, G / 4);
            if (lane() == 0) {
                state[r * STATE] = largest[r];
                state[r * STATE + 1] = all;
            }
#pragma unroll
            for (int c = 0; c < 8; c++) state[r * STATE + HEAD + column() + c] = mixture[r][c];
        }
    }
};

template <class S, int R, int G>
__global__ void __launch_bounds__(DECODE_THREADS) decode_kernel(const __grid_constant__ AttentionArgs a)
{
    using Part = Decode<S, R, G>;
    enum { GROUPS = Part::GROUPS, STEP = GROUPS * AT_ONCE, SIZE = sizeof(typename S::Bits) };
    __shared__ float states[GROUPS * R * Part::STATE];
    const uint32_t head = blockIdx.x / a.parts, part = blockIdx.x % a.parts;
    const Spot s = find_head(a, head);
    const uint32_t first = part * a.part, end = min(first + a.part, a.n);
    const bool in_k = Part::column() < a.d, in_v = Part::column() < a.e;
    const char *k_at = s.data[OF_K] + int64_t(Part::column()) * SIZE;
    const char *v_at = s.data[OF_V] + int64_t(Part::column()) * SIZE;
    Eight<S> k[AT_ONCE], v[AT_ONCE], next_k[AT_ONCE], next_v[AT_ONCE];
    const auto fetch_keys = [&](uint32_t from) {
#pragma unroll
        for (int j = 0; j < AT_ONCE; j++) {
            const uint32_t key = from + j * GROUPS;
            next_k[j].read(k_at + int64_t(key) * a.of[OF_K].row, in_k && key < end);
            next_v[j].read(v_at + int64_t(key) * a.of[OF_V].row, in_v && key < end);
        }
    };
    Part share;
    fetch_keys(first + Part::group());
    share.begin(a, s);
    for (uint32_t from = first; from < end; from += STEP) { /* all threads: they meet in warps */
#pragma unroll
        for (int j = 0; j < AT_ONCE; j++) {
            k[j] = next_k[j];
            v[j] = next_v[j];
        }
        fetch_keys(from + STEP + Part::group());
#pragma unroll
        for (int r = 0; r < R; r++) {
            const bool masks = a.of[OF_MASK].data && uint32_t(r) < s.rows;
            share.take(a, masks ? row_at(a, s, OF_MASK, r) : nullptr, r, from + Part::group(), end, k, v);
        }
    }
    share.leave(states + Part::group() * R * Part::STATE);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < R * Part::WIDTH; i += DECODE_THREADS) {
        const uint32_t r = i / Part::WIDTH, c = i % Part::WIDTH;
        const Met m = meet(states + r * Part::STATE, GROUPS, R * Part::STATE, c);
        float *to = a.states + (uint64_t(blockIdx.x) * R + r) * Part::STATE;
        if (a.parts == 1) {
            write_met<S>(a, s, r, c, m);
        } else {
            to[HEAD + c] = m.mixture;
            if (c == 0) to[0] = m.largest;
            if (c == 0) to[1] = m.sum;
        }
    }
}

/* Parts of a head meet: a block for each row, a thread for each column. */
template <class S, int R, int G>
__global__ void __launch_bounds__(8 * G) join_kernel(const __grid_constant__ AttentionArgs a)
{
    using Part = Decode<S, R, G>;
    const uint32_t head = blockIdx.x / R, r = blockIdx.x % R;
    const Spot s = find_head(a, head);
    const float *states = a.states + (uint64_t(head) * a.parts * R + r) * Part::STATE;
    if (r >= s.rows) return;
    write_met<S>(a, s, r, threadIdx.x, meet_as_block<Part::WIDTH>(states, a.parts, R * Part::STATE));
}

template <class S, int R, int G> static DecodeKernel kernel_of()
{
    using Part = Decode<S, R, G>;
    return { (const void *)decode_kernel<S, R, G>, (const void *)join_kernel<S, R, G>, DECODE_THREADS, R,
             Part::WIDTH, size_t(R) * Part::STATE * sizeof(float), 0, 128, 8192 };
}

template <class S, int MOST, int G> static DecodeKernel kernel_of_rows(uint32_t rows)
{
    if constexpr (MOST > 1) {
        if (rows > 4) return kernel_of<S, 8, G>();
        if (rows > 1) return kernel_of<S, 4, G>();
    }
    return kernel_of<S, 1, G>();
}

template <class S, int MOST> static DecodeKernel kernel_of_size(const AttentionArgs &a)
{
    const uint32_t rows = a.shared * a.m, both = a.d > a.e ? a.d : a.e;
    if (both <= 64) return kernel_of_rows<S, MOST, 8>(rows);
    return both <= 128 ? kernel_of_rows<S, MOST, 16>(rows) : kernel_of_rows<S, MOST, 32>(rows);
}

DecodeKernel decode_attention(tsr_dtype dtype, const AttentionArgs &a)
{
    const uint32_t rows = a.shared * a.m;
    const bool fits = rows <= 16 && a.n > 0 && a.of[OF_K].wide && a.of[OF_V].wide;
    /* A thread has 8 elements of a row or none. */
    if (!fits || a.d % 8 || a.e % 8) return DecodeKernel();
    if (rows > 1 && tsrc_size(dtype) == 2) return narrow_attention(dtype, a);
    if (rows > 8) return DecodeKernel();
    switch (dtype) {
    case TSR_BF16: return kernel_of_size<Quick16<true>, 1>(a);
    case TSR_F16: return kernel_of_size<Quick16<false>, 1>(a);
    case TSR_F32: return kernel_of_size<SF32, 8>(a);
    default: return DecodeKernel();
    }
}

} // namespace tsrc
