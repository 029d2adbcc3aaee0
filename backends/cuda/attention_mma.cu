/* attention_mma.cu - attention of f16 and bf16: products are the tensor cores', summed in f32. Weights are
 * rounded to the dtype there. */
#include "attention_tensor.cuh"

namespace tsrc {

TSRC_FN void load_four(uint32_t (&x)[4], const void *p)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(shared_address(p))
                 : "memory");
}

TSRC_FN void load_four_transposed(uint32_t (&x)[4], const void *p)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(shared_address(p))
                 : "memory");
}

template <bool BF> TSRC_FN void multiply(float (&z)[4], const uint32_t (&x)[4], uint32_t y0, uint32_t y1)
{
    if constexpr (BF)
        asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
            "{%8,%9}, {%0,%1,%2,%3};"
            : "+f"(z[0]), "+f"(z[1]), "+f"(z[2]), "+f"(z[3])
            : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y0), "r"(y1));
    else
        asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
            "{%8,%9}, {%0,%1,%2,%3};"
            : "+f"(z[0]), "+f"(z[1]), "+f"(z[2]), "+f"(z[3])
            : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y0), "r"(y1));
}

template <int M, int W, bool BF> struct Mma : TensorRows<M, (W <= 128 ? 64 : 32), W> {
    using Base = TensorRows<M, (W <= 128 ? 64 : 32), W>;
    using Element = uint16_t;
    using Stored = Quick16<BF>;
    using Base::first_row, Base::lane, Base::mixture, Base::score;
    enum { KEYS = Base::KEYS, ROWS = Base::ROWS };
    enum { PITCH = W + 8, Q_PITCH = PITCH, K_PITCH = PITCH, V_PITCH = PITCH };

    TSRC_FN static void stage(const AttentionArgs &a, const Spot &s, uint16_t *q)
    {
        fetch<uint16_t, ROWS, W, PITCH>(
            q, s.rows, a.d, [&](uint32_t r) { return row_at(a, s, OF_Q, r); }, s.data[OF_Q], a.of[OF_Q]);
    }

    template <bool CARE> TSRC_FN void multiply_keys(const uint16_t *q, const uint16_t *k)
    {
        const uint16_t *of_q = q + (first_row(0) + lane() % 16) * PITCH + lane() / 16 * 8;
        const uint16_t *of_k = k + (lane() % 8 + lane() / 16 * 8) * PITCH + lane() / 8 % 2 * 8;
        Base::clear_scores();
#pragma unroll
        for (int c = 0; c < W; c += 16) {
            uint32_t x[M][4], y[4];
#pragma unroll
            for (int b = 0; b < M; b++) load_four(x[b], of_q + b * 16 * PITCH + c);
#pragma unroll
            for (int j = 0; j < KEYS / 16; j++) {
                load_four(y, of_k + j * 16 * PITCH + c);
#pragma unroll
                for (int b = 0; b < M; b++) {
                    multiply<BF>(score[b][2 * j], x[b], y[0], y[1]);
                    multiply<BF>(score[b][2 * j + 1], x[b], y[2], y[3]);
                }
            }
        }
    }

    template <bool CARE> TSRC_FN void mix(const uint16_t *v, float *weight)
    {
        if constexpr (CARE)
            Base::mix_values(weight, [&](int c, int x) { return Stored::load(v[c * PITCH + x], 0); });
        else
            mix_plainly(v);
    }

    TSRC_FN void mix_plainly(const uint16_t *v)
    {
        const uint16_t *of_v = v + lane() % 16 * PITCH + lane() / 16 * 8;
#pragma unroll
        for (int j = 0; j < KEYS / 16; j++) {
            uint32_t w[M][4];
#pragma unroll
            for (int b = 0; b < M; b++)
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    const float(&of)[4] = score[b][2 * j + i / 2];
                    w[b][i] = Stored::pair(of[i % 2 * 2], of[i % 2 * 2 + 1]);
                }
#pragma unroll
            for (int x = 0; x < W / 16; x++) {
                uint32_t y[4];
                load_four_transposed(y, of_v + j * 16 * PITCH + x * 16);
#pragma unroll
                for (int b = 0; b < M; b++) {
                    multiply<BF>(mixture[b][2 * x], w[b], y[0], y[1]);
                    multiply<BF>(mixture[b][2 * x + 1], w[b], y[2], y[3]);
                }
            }
        }
    }
};

template <int M, int W, bool BF>
__global__ void __launch_bounds__(THREADS, W <= 128 ? 4 - M : 1)
    mma_kernel(const __grid_constant__ AttentionArgs a)
{
    extern __shared__ __align__(16) char memory[];
    attend(a, blockIdx.x, TensorRoom<Mma<M, W, BF>>(memory), true);
}

template <int M, int W, bool BF>
__global__ void __launch_bounds__(W) mma_join_kernel(const __grid_constant__ AttentionArgs a)
{
    join<Mma<M, W, BF>>(a);
}

/* Are the last rows of all heads that share one finite? */
template <bool BF> TSRC_FN bool is_clean(const AttentionArgs &a, const Spot &s)
{
    bool wild = false;
    for (uint32_t i = threadIdx.x; i < a.shared * a.e; i += THREADS) {
        const uint32_t row = i / a.e * a.m + a.m - 1, c = i % a.e;
        const char *z = row_at(a, s, OF_Z, row) + int64_t(c) * a.of[OF_Z].col;
        wild |= is_wild(Quick16<BF>::load(*reinterpret_cast<const uint16_t *>(z), 0));
    }
    return !__syncthreads_or(wild);
}

template <bool BF>
__global__ void __launch_bounds__(THREADS, 1) mend_kernel(const __grid_constant__ AttentionArgs a)
{
    extern __shared__ __align__(16) char memory[];
    Spot s;
    place_head(a, s, blockIdx.x % a.kv_heads, blockIdx.x / a.kv_heads);
    s.first = 0;
    if (is_clean<BF>(a, s)) return;
    for (uint32_t i = 0; i < a.tiles; i++) {
        __syncthreads();
        attend(a, blockIdx.x * a.tiles + i, TensorRoom<Mma<1, MOST_SIZE, BF>>(memory), false);
    }
}

AttentionKernel mend_attention(tsr_dtype dtype)
{
    using Part = Mma<1, MOST_SIZE, true>;
    return tensor_kernel<Part>(
        dtype == TSR_BF16 ? (const void *)mend_kernel<true> : (const void *)mend_kernel<false>, nullptr);
}

template <int M, int W, bool BF> static AttentionKernel of_dtype()
{
    return tensor_kernel<Mma<M, W, BF>>((const void *)mma_kernel<M, W, BF>,
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
