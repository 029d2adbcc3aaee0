/* attention_mma.cu - attention of f16 and bf16 in tiles of rows. */
#include "attention_mma.cuh"

namespace tsrc {

template <int M, int W, bool BF> using Tile = Mma<M, (W <= 128 ? 64 : 32), W, BF>;

template <int M, int W, bool BF>
__global__ void __launch_bounds__(THREADS, W <= 128 ? 4 - M : 1)
    mma_kernel(const __grid_constant__ AttentionArgs a)
{
    extern __shared__ __align__(16) char memory[];
    attend(a, blockIdx.x, TensorRoom<Tile<M, W, BF>>(memory), true);
}

template <int M, int W, bool BF>
__global__ void __launch_bounds__(W) mma_join_kernel(const __grid_constant__ AttentionArgs a)
{
    join<Tile<M, W, BF>>(a);
}

/* Are `count` rows finite, each `apart` rows behind the last? */
template <bool BF>
TSRC_FN bool is_clean(const AttentionArgs &a, const Spot &s, uint32_t first, uint32_t apart, uint32_t count)
{
    bool wild = false;
    for (uint32_t i = threadIdx.x; i < count * a.e; i += THREADS) {
        const uint32_t row = first + i / a.e * apart, c = i % a.e;
        const char *z = row_at(a, s, OF_Z, row) + int64_t(c) * a.of[OF_Z].col;
        wild |= is_wild(Quick16<BF>::load(*reinterpret_cast<const uint16_t *>(z), 0));
    }
    return !__syncthreads_or(wild);
}

/* Blocks have heads, whose last rows see all, or with a mask tiles, of which any row may need mending. */
template <bool BF>
__global__ void __launch_bounds__(THREADS, 1) mend_kernel(const __grid_constant__ AttentionArgs a)
{
    using Part = Tile<1, MOST_SIZE, BF>;
    extern __shared__ __align__(16) char memory[];
    const bool masks = a.of[OF_MASK].data;
    const uint32_t count = masks ? 1 : a.tiles, first = blockIdx.x * count;
    Spot s = find_spot(a, Part::ROWS, first);
    if (!masks) s.first = 0;
    if (masks ? is_clean<BF>(a, s, 0, 1, s.rows) : is_clean<BF>(a, s, a.m - 1, a.m, a.shared)) return;
    for (uint32_t i = 0; i < count; i++) {
        __syncthreads();
        attend(a, first + i, TensorRoom<Part>(memory), false);
    }
}

AttentionKernel mend_attention(tsr_dtype dtype)
{
    using Part = Tile<1, MOST_SIZE, true>;
    return tensor_kernel<Part>(
        dtype == TSR_BF16 ? (const void *)mend_kernel<true> : (const void *)mend_kernel<false>, nullptr);
}

template <int M, int W, bool BF> static AttentionKernel of_dtype()
{
    return tensor_kernel<Tile<M, W, BF>>((const void *)mma_kernel<M, W, BF>,
                                        (const void *)mma_join_kernel<M, W, BF>);
}

template <int M, int W> static AttentionKernel of_width(bool bf)
{
    return bf ? of_dtype<M, W, true>() : of_dtype<M, W, false>();
}

AttentionKernel mma_attention(tsr_dtype dtype, const AttentionArgs &a)
{
    const uint32_t both = a.d > a.e ? a.d : a.e;
    const bool bf = dtype == TSR_BF16, many = a.shared * a.m > 64; /* rows: two times 16 for a warp then */
    if (both <= 64) return many ? of_width<2, 64>(bf) : of_width<1, 64>(bf);
    if (both <= 128) return many ? of_width<2, 128>(bf) : of_width<1, 128>(bf);
    return of_width<1, 256>(bf);
}

} // namespace tsrc
