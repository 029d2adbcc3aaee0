/* attention_mma.cuh - products of attention of f16 and bf16 on tensor cores, summed in f32. Weights are
 * rounded to the dtype there. */
#ifndef TSRC_ATTENTION_MMA_CUH
#define TSRC_ATTENTION_MMA_CUH

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

template <int M, int KEYS_, int W, bool BF, bool ALIKE = false> struct Mma : TensorRows<M, KEYS_, W, ALIKE> {
    using Base = TensorRows<M, KEYS_, W, ALIKE>;
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

} // namespace tsrc

#endif
