/* attention_narrow.cu - attention of up to 16 rows of f16 or bf16 to many keys: heads that share one while
 * decoding. All warps of a block have all rows; each walks keys of its own, which come some steps ahead. */
#include "attention_mma.cuh"

namespace tsrc {

enum { WARPS = THREADS / 32 };

template <int W, bool BF> struct Narrow : Mma<1, (W <= 64 ? 32 : 16), W, BF, true> {
    using Base = Mma<1, (W <= 64 ? 32 : 16), W, BF, true>;
    using Base::lane;
    enum { KEYS = Base::KEYS, PITCH = Base::PITCH, STATE = Base::STATE, ROWS = 16, STEPS = 3 };
    enum { PIECE = KEYS * PITCH, RING = STEPS * 2 * PIECE, Q = ROWS * PITCH }; /* numbers of 16 bits */
    enum { WEIGHTS = ROWS * Base::WEIGHT_PITCH };
    enum { BYTES = (Q + WARPS * RING) * 2 + WARPS * WEIGHTS * 4 };
    static_assert(WARPS * ROWS * STATE * 4 <= WARPS * RING * 2, "states lie where keys were");

    /* Begins to fetch a piece of k or v for this warp. */
    TSRC_FN static void fetch_piece(const AttentionArgs &a, const Spot &s, uint16_t *to, int operand,
                                    uint32_t first)
    {
        enum { ACROSS = W / 8 };
        const Heads &h = a.of[operand];
        const uint32_t cols = operand == OF_K ? a.d : a.e;
#pragma unroll
        for (uint32_t i = lane(); i < KEYS * ACROSS; i += 32) {
            const uint32_t r = i / ACROSS, c = i % ACROSS * 8;
            const bool there = first + r < s.end && c < cols;
            const char *from = s.data[operand] + int64_t(first + r) * h.row + c * 2;
            copy_ahead(to + r * PITCH + c, there ? from : s.data[operand], there);
        }
    }

    template <bool CARE>
    TSRC_FN void walk_own(const AttentionArgs &a, const Spot &s, const uint16_t *q, uint16_t *ring,
                          float *weight)
    {
        const uint32_t own = s.begin + threadIdx.x / 32 * KEYS;
        const auto fetch_step = [&](uint32_t step) {
            const uint32_t first = own + step * WARPS * KEYS;
            uint16_t *to = ring + step % STEPS * 2 * PIECE;
            if (first < s.end) fetch_piece(a, s, to, OF_K, first);
            if (first < s.end) fetch_piece(a, s, to + PIECE, OF_V, first);
            close_group();
        };
        Base::begin();
        for (uint32_t step = 0; step < STEPS - 1; step++) fetch_step(step);
        wait_groups<STEPS - 1>(); /* q, which was begun before */
        __syncthreads();
#pragma unroll 1
        for (uint32_t step = 0; own + step * WARPS * KEYS < s.end; step++) {
            const uint16_t *k = ring + step % STEPS * 2 * PIECE;
            wait_groups<STEPS - 2>();
            __syncwarp();
            fetch_step(step + STEPS - 1);
            Base::template multiply_keys<CARE>(q, k);
            Base::template weigh<CARE>(a, s, own + step * WARPS * KEYS);
            Base::template mix<CARE>(k + PIECE, weight);
            __syncwarp();
        }
        wait_ahead();
    }

    TSRC_FN void leave(float *states)
    {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            Base::add_up(0, i);
            Base::leave_row(states + (threadIdx.x / 32 * ROWS + Base::row(0, i)) * STATE, 0, i);
        }
    }
};

template <int W, bool BF>
__global__ void __launch_bounds__(THREADS, W <= 128 ? 2 : 1)
    narrow_kernel(const __grid_constant__ AttentionArgs a)
{
    using Part = Narrow<W, BF>;
    extern __shared__ __align__(16) char memory[];
    uint16_t *q = reinterpret_cast<uint16_t *>(memory), *rings = q + Part::Q;
    uint16_t *ring = rings + threadIdx.x / 32 * Part::RING;
    float *weight = reinterpret_cast<float *>(rings + WARPS * Part::RING) + threadIdx.x / 32 * Part::WEIGHTS;
    float *states = reinterpret_cast<float *>(rings);
    Spot s = find_head(a, blockIdx.x / a.parts);
    s.begin = blockIdx.x % a.parts * a.part;
    s.end = min(s.begin + a.part, a.n);
    Part part;
    fetch<uint16_t, Part::ROWS, W, Part::PITCH>(
        q, s.rows, a.d, [&](uint32_t r) { return row_at(a, s, OF_Q, r); }, s.data[OF_Q], a.of[OF_Q]);
    close_group();
    part.template walk_own<false>(a, s, q, ring, weight);
    if (__syncthreads_or(part.wild())) part.template walk_own<true>(a, s, q, ring, weight);
    __syncthreads();
    part.leave(states);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < s.rows * W; i += THREADS) {
        const uint32_t r = i / W, c = i % W;
        const Met m = meet(states + r * Part::STATE, WARPS, Part::ROWS * Part::STATE, c);
        float *to = a.states + (uint64_t(blockIdx.x) * Part::ROWS + r) * Part::STATE;
        if (a.parts == 1) {
            write_met<Quick16<BF>>(a, s, r, c, m);
        } else {
            to[HEAD + c] = m.mixture;
            if (c == 0) to[0] = m.largest;
            if (c == 0) to[1] = m.sum;
        }
    }
}

template <int W, bool BF>
__global__ void __launch_bounds__(W) narrow_join_kernel(const __grid_constant__ AttentionArgs a)
{
    using Part = Narrow<W, BF>;
    const uint32_t head = blockIdx.x / Part::ROWS, r = blockIdx.x % Part::ROWS;
    const Spot s = find_head(a, head);
    const float *states = a.states + (uint64_t(head) * a.parts * Part::ROWS + r) * Part::STATE;
    if (r >= s.rows) return;
    write_met<Quick16<BF>>(a, s, r, threadIdx.x,
                           meet_as_block<W>(states, a.parts, Part::ROWS * Part::STATE));
}

template <int W, bool BF> static DecodeKernel kernel_of()
{
    using Part = Narrow<W, BF>;
    return { (const void *)narrow_kernel<W, BF>, (const void *)narrow_join_kernel<W, BF>, THREADS, Part::ROWS,
             W, Part::ROWS * Part::STATE * sizeof(float), Part::BYTES, 256, 2048 };
}

template <int W> static DecodeKernel kernel_of_dtype(tsr_dtype dtype)
{
    return dtype == TSR_BF16 ? kernel_of<W, true>() : kernel_of<W, false>();
}

DecodeKernel narrow_attention(tsr_dtype dtype, const AttentionArgs &a)
{
    const uint32_t both = a.d > a.e ? a.d : a.e;
    if (both <= 64) return kernel_of_dtype<64>(dtype);
    return both <= 128 ? kernel_of_dtype<128>(dtype) : kernel_of_dtype<256>(dtype);
}

} // namespace tsrc
