/* attention_tf32.cu - attention of f32 on tensor cores: each number is split into two of 11 bits, and a
 * product is the sum of three of their four products, with a relative error of about 2^-21. Results that are
 * not finite are computed again by multiply-adds. */
#include "attention_tensor.cuh"

namespace tsrc {

/* A number's upper 11 bits, rounded, and the rest. */
struct Split {
    uint32_t high, low;
    TSRC_FN explicit Split(float x)
    {
        high = (__float_as_uint(x) + 0x1000u) & 0xffffe000u;
        low = __float_as_uint(x - __uint_as_float(high));
    }
};

TSRC_FN void multiply(float (&z)[4], const uint32_t (&x)[4], uint32_t y0, uint32_t y1)
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(z[0]), "+f"(z[1]), "+f"(z[2]), "+f"(z[3])
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y0), "r"(y1));
}

/* Operands of an instruction, in two parts each. */
struct Left {
    uint32_t high[4], low[4];
    TSRC_FN void set(int i, float x)
    {
        const Split s(x);
        high[i] = s.high;
        low[i] = s.low;
    }
};

struct Right {
    Split first, second;
    TSRC_FN Right(float x, float y) : first(x), second(y) {}
};

/* Small parts first. */
TSRC_FN void multiply(float (&z)[4], const Left &x, const Right &y)
{
    multiply(z, x.low, y.first.high, y.second.high);
    multiply(z, x.high, y.first.low, y.second.low);
    multiply(z, x.high, y.first.high, y.second.high);
}

/* Sums run over pairs of neighbours: what the instruction calls numbers c and c + 4 are 2 c and 2 c + 1. */
template <int M, int KEYS_, int W> struct Tf32 : TensorRows<M, KEYS_, W> {
    using Base = TensorRows<M, KEYS_, W>;
    using Element = float;
    using Stored = SF32;
    using Base::first_row, Base::lane, Base::mixture, Base::row, Base::score;
    enum { KEYS = Base::KEYS, ROWS = Base::ROWS, Q_PITCH = W + 16, K_PITCH = W + 16, V_PITCH = W + 4 };

    TSRC_FN static void stage(const AttentionArgs &a, const Spot &s, float *q)
    {
#pragma unroll 8
        for (uint32_t i = threadIdx.x; i < ROWS * W; i += THREADS) {
            const uint32_t r = i / W, c = i % W;
            float x = 0;
            if (r < s.rows && c < a.d)
                x = *reinterpret_cast<const float *>(row_at(a, s, OF_Q, r) + int64_t(c) * a.of[OF_Q].col);
            q[r * Q_PITCH + c] = x * float(a.early);
        }
    }

    template <bool CARE> TSRC_FN void multiply_keys(const float *q, const float *k)
    {
        Base::clear_scores();
        if constexpr (CARE)
            multiply_with_care(q, k);
        else
            multiply_plainly(q, k);
    }

    /* Four neighbours of a row are two instructions' worth. */
    TSRC_FN void multiply_plainly(const float *q, const float *k)
    {
        const float *of_q = q + (first_row(0) + lane() / 4) * Q_PITCH + lane() % 4 * 4;
        const float *of_k = k + lane() / 4 * K_PITCH + lane() % 4 * 4;
#pragma unroll 1
        for (int c = 0; c < W; c += 16) {
            Left x[M][2];
#pragma unroll
            for (int b = 0; b < M; b++)
#pragma unroll
                for (int i = 0; i < 2; i++) {
                    using Four = Vec<float, 4>;
                    const Four f = *reinterpret_cast<const Four *>(of_q + (b * 16 + i * 8) * Q_PITCH + c);
#pragma unroll
                    for (int e = 0; e < 4; e++) x[b][e / 2].set(i + e % 2 * 2, f.e[e]);
                }
#pragma unroll
            for (int j = 0; j < KEYS / 8; j++) {
                const Vec<float, 4> f = *reinterpret_cast<const Vec<float, 4> *>(of_k + j * 8 * K_PITCH + c);
#pragma unroll
                for (int e = 0; e < 2; e++) {
                    const Right y(f.e[2 * e], f.e[2 * e + 1]);
#pragma unroll
                    for (int b = 0; b < M; b++) multiply(score[b][j], x[b][e], y);
                }
            }
        }
    }

    TSRC_FN void multiply_with_care(const float *q, const float *k)
    {
#pragma unroll 1
        for (int c = 0; c < W; c++)
#pragma unroll
            for (int b = 0; b < M; b++)
#pragma unroll
                for (int i = 0; i < 2; i++) {
                    const float x = q[row(b, i) * Q_PITCH + c];
#pragma unroll
                    for (int j = 0; j < KEYS / 8; j++)
#pragma unroll
                        for (int e = 0; e < 2; e++) {
                            const float y = k[(j * 8 + lane() % 4 * 2 + e) * K_PITCH + c];
                            score[b][j][2 * i + e] = __fmaf_rn(x, y, score[b][j][2 * i + e]);
                        }
                }
    }

    template <bool CARE> TSRC_FN void mix(const float *v, float *weight)
    {
        if constexpr (CARE)
            Base::mix_values(weight, [&](int c, int x) { return v[c * V_PITCH + x]; });
        else
            mix_plainly(v);
    }

    /* Tensor cores truncate sums, so each tile is summed from 0, and its sums are added with rounding. */
    TSRC_FN void mix_plainly(const float *v)
    {
        const float *of_v = v + lane() % 4 * 2 * V_PITCH + lane() / 4;
        Left w[M][KEYS / 8];
#pragma unroll
        for (int b = 0; b < M; b++)
#pragma unroll
            for (int j = 0; j < KEYS / 8; j++)
#pragma unroll
                for (int i = 0; i < 4; i++) w[b][j].set(i % 2 * 2 + i / 2, score[b][j][i]);
#pragma unroll
        for (int x = 0; x < W / 8; x++) {
            float tile[M][4] = {};
#pragma unroll
            for (int j = 0; j < KEYS / 8; j++) {
                const float *p = of_v + j * 8 * V_PITCH + x * 8;
                const Right y(p[0], p[V_PITCH]);
#pragma unroll
                for (int b = 0; b < M; b++) multiply(tile[b], w[b][j], y);
            }
#pragma unroll
            for (int b = 0; b < M; b++)
#pragma unroll
                for (int i = 0; i < 4; i++) mixture[b][x][i] += tile[b][i];
        }
    }
};

template <int M, int KEYS, int W>
__global__ void __launch_bounds__(THREADS, W <= 128 ? 2 : 1)
    tf32_kernel(const __grid_constant__ AttentionArgs a)
{
    extern __shared__ __align__(16) char memory[];
    attend(a, blockIdx.x, TensorRoom<Tf32<M, KEYS, W>>(memory), true);
}

template <int M, int KEYS, int W>
__global__ void __launch_bounds__(W) tf32_join_kernel(const __grid_constant__ AttentionArgs a)
{
    join<Tf32<M, KEYS, W>>(a);
}

template <int M, int KEYS, int W> static AttentionKernel of_width()
{
    return tensor_kernel<Tf32<M, KEYS, W>>((const void *)tf32_kernel<M, KEYS, W>,
                                           (const void *)tf32_join_kernel<M, KEYS, W>);
}

AttentionKernel tf32_attention(const AttentionArgs &a)
{
    const uint32_t both = a.d > a.e ? a.d : a.e;
    const bool many = a.shared * a.m > 64;
    if (both <= 64) return many ? of_width<2, 32, 64>() : of_width<1, 32, 64>();
    return both <= 128 ? of_width<1, 32, 128>() : of_width<1, 32, 256>();
}

} // namespace tsrc
