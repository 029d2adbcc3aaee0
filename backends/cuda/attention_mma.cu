/* attention_mma.cu - attention of f16 and bf16: products are the tensor cores', summed in f32. A weight goes
 * in as one f16, or as the sum of two bf16, which has as many digits. */
#include "attention.cuh"

namespace tsrc {

/* Tensor cores -------------------------------------------------------------------------------------------
 *
 * A warp has 16 rows. Of every 8 columns of a product, thread t of it has columns 2 (t % 4) and the next,
 * of rows t / 4 (numbers 0 and 1) and t / 4 + 8 (numbers 2 and 3), as the instruction wants them. */

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

/* What a pair of weights lost when it was rounded to bf16. */
TSRC_FN uint32_t rest_of(float x, float y, uint32_t pair)
{
    return Quick16<true>::pair(x - __uint_as_float(pair << 16), y - __uint_as_float(pair & 0xffff0000u));
}

TSRC_FN float power_of_two(float x)
{
    float out;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"(x));
    return out;
}

/* A warp has M times 16 rows; W is not below d and e. Scores are kept times log2(e). */
template <int M, int W, bool BF> struct Mma {
    enum { ROWS = 64 * M, KEYS = W <= 128 ? 64 : 32, PITCH = W + 8, WEIGHT_PITCH = KEYS + 2 };

    float score[M][KEYS / 8][4];
    float mixture[M][W / 8][4];
    float largest[M][2], sum[M][2];

    static size_t bytes()
    {
        return (ROWS + 2 * KEYS) * PITCH * sizeof(uint16_t) + ROWS * WEIGHT_PITCH * sizeof(float);
    }

    TSRC_FN static uint32_t lane() { return threadIdx.x % 32; }
    TSRC_FN static uint32_t first_row(int b) { return (threadIdx.x / 32 * M + b) * 16; }
    TSRC_FN static uint32_t row(int b, int i) { return first_row(b) + lane() / 4 + 8 * i; }

    TSRC_FN void begin()
    {
#pragma unroll
        for (int b = 0; b < M; b++) {
            largest[b][0] = largest[b][1] = -INFINITY;
            sum[b][0] = sum[b][1] = 0;
#pragma unroll
            for (int x = 0; x < W / 8; x++)
#pragma unroll
                for (int k = 0; k < 4; k++) mixture[b][x][k] = 0;
        }
    }

    TSRC_FN void multiply_keys(const uint16_t *q, const uint16_t *k)
    {
        const uint16_t *of_q = q + (first_row(0) + lane() % 16) * PITCH + lane() / 16 * 8;
        const uint16_t *of_k = k + (lane() % 8 + lane() / 16 * 8) * PITCH + lane() / 8 % 2 * 8;
#pragma unroll
        for (int b = 0; b < M; b++)
#pragma unroll
            for (int j = 0; j < KEYS / 8; j++)
#pragma unroll
                for (int x = 0; x < 4; x++) score[b][j][x] = 0;
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

    /* Sets what rows do not see of a tile to -infinity; with a mask, scores have no factor log2(e) yet. */
    TSRC_FN void hide(const AttentionArgs &a, const Spot &s, uint32_t first)
    {
#pragma unroll
        for (int b = 0; b < M; b++)
#pragma unroll
            for (int i = 0; i < 2; i++) {
                const bool there = row(b, i) < s.rows;
                const uint32_t seen = there ? keys_of(a, s.first + row(b, i)) : 0;
                const char *mask = there ? row_at(a, s, OF_MASK, row(b, i)) : nullptr;
#pragma unroll
                for (int j = 0; j < KEYS / 8; j++)
#pragma unroll
                    for (int x = 0; x < 2; x++) {
                        float &v = score[b][j][2 * i + x];
                        v = masked(a, v, mask, first + j * 8 + lane() % 4 * 2 + x, seen);
                    }
            }
    }

    TSRC_FN void scale_scores(float by)
    {
#pragma unroll
        for (int b = 0; b < M; b++)
#pragma unroll
            for (int j = 0; j < KEYS / 8; j++)
#pragma unroll
                for (int x = 0; x < 4; x++) score[b][j][x] *= by;
    }

    /* Scores of rows b, times `scale`, become weights. Most tiles have no larger score than came before. */
    template <bool CARE> TSRC_FN void weigh_rows(int b, float scale)
    {
        float base[2], by[2];
        bool grew = false;
#pragma unroll
        for (int i = 0; i < 2; i++) {
            float now = -INFINITY;
#pragma unroll
            for (int j = 0; j < KEYS / 8; j++)
                now = fmaxf(now, fmaxf(score[b][j][2 * i], score[b][j][2 * i + 1]));
            now = fmaxf(now, __shfl_xor_sync(~0u, now, 1));
            now = fmaxf(largest[b][i], scale * fmaxf(now, __shfl_xor_sync(~0u, now, 2)));
            base[i] = base_of(now);
            by[i] = power_of_two(largest[b][i] - base[i]);
            grew |= now > largest[b][i];
            largest[b][i] = now;
        }
#pragma unroll
        for (int i = 0; i < 2; i++) sum[b][i] *= by[i];
#pragma unroll
        for (int j = 0; j < KEYS / 8; j++)
#pragma unroll
            for (int x = 0; x < 4; x++) {
                score[b][j][x] = power_of_two(__fmaf_rn(score[b][j][x], scale, -base[x / 2]));
                sum[b][x / 2] += score[b][j][x];
            }
        if (!__any_sync(~0u, grew)) return;
#pragma unroll
        for (int x = 0; x < W / 8; x++)
#pragma unroll
            for (int k = 0; k < 4; k++) mixture[b][x][k] = shrunk(mixture[b][x][k], by[k / 2], CARE);
    }

    /* Scores are of `late` times log2(e) where they meet their base: with a mask before it is added, and with
     * a scale below 0 before the largest is looked for. */
    template <bool CARE> TSRC_FN void weigh(const AttentionArgs &a, const Spot &s, uint32_t first)
    {
        constexpr float log2e = 1.44269504f;
        const bool masks = a.of[OF_MASK].data, early = masks || !(a.late > 0);
        if (early) scale_scores(float(a.late));
        if (masks || first + KEYS > s.plain) hide(a, s, first);
        const float scale = early ? log2e : float(a.late) * log2e;
#pragma unroll
        for (int b = 0; b < M; b++) weigh_rows<CARE>(b, scale);
    }

    TSRC_FN void mix(const uint16_t *v)
    {
        const uint16_t *of_v = v + lane() % 16 * PITCH + lane() / 16 * 8;
#pragma unroll
        for (int j = 0; j < KEYS / 16; j++) {
            uint32_t w[M][4], rest[M][4];
#pragma unroll
            for (int b = 0; b < M; b++)
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    const float(&of)[4] = score[b][2 * j + i / 2];
                    w[b][i] = Quick16<BF>::pair(of[i % 2 * 2], of[i % 2 * 2 + 1]);
                    if (BF) rest[b][i] = rest_of(of[i % 2 * 2], of[i % 2 * 2 + 1], w[b][i]);
                }
#pragma unroll
            for (int x = 0; x < W / 16; x++) {
                uint32_t y[4];
                load_four_transposed(y, of_v + j * 16 * PITCH + x * 16);
#pragma unroll
                for (int b = 0; b < M; b++) {
                    multiply<BF>(mixture[b][2 * x], w[b], y[0], y[1]);
                    multiply<BF>(mixture[b][2 * x + 1], w[b], y[2], y[3]);
                    if (BF) {
                        multiply<BF>(mixture[b][2 * x], rest[b], y[0], y[1]);
                        multiply<BF>(mixture[b][2 * x + 1], rest[b], y[2], y[3]);
                    }
                }
            }
        }
    }

    /* The same without products of weight 0; `weight` is room for all rows' weights. */
    TSRC_FN void mix_with_care(const uint16_t *v, float *weight)
    {
#pragma unroll
        for (int b = 0; b < M; b++)
#pragma unroll
            for (int j = 0; j < KEYS / 8; j++)
#pragma unroll
                for (int x = 0; x < 4; x++)
                    weight[row(b, x / 2) * WEIGHT_PITCH + j * 8 + lane() % 4 * 2 + x % 2] = score[b][j][x];
        __syncwarp();
#pragma unroll 1
        for (int c = 0; c < KEYS; c++)
#pragma unroll
            for (int b = 0; b < M; b++)
#pragma unroll
                for (int i = 0; i < 2; i++) {
                    const float w = weight[row(b, i) * WEIGHT_PITCH + c];
                    if (w == 0) continue;
#pragma unroll
                    for (int x = 0; x < W / 8; x++)
#pragma unroll
                        for (int k = 0; k < 2; k++) {
                            const float y = S16::load(v[c * PITCH + x * 8 + lane() % 4 * 2 + k], BF);
                            mixture[b][x][2 * i + k] = fma_of(w, y, mixture[b][x][2 * i + k]);
                        }
                }
        __syncwarp();
    }

    TSRC_FN bool wild() const
    {
        bool any = false;
#pragma unroll
        for (int b = 0; b < M; b++)
#pragma unroll
            for (int x = 0; x < W / 8; x++)
#pragma unroll
                for (int k = 0; k < 4; k++) any |= is_wild(mixture[b][x][k]);
        return any;
    }

    TSRC_FN void write_row(const AttentionArgs &a, const Spot &s, int b, int i)
    {
        sum[b][i] += __shfl_xor_sync(~0u, sum[b][i], 1);
        sum[b][i] += __shfl_xor_sync(~0u, sum[b][i], 2);
        if (row(b, i) >= s.rows) return;
        char *z = row_at(a, s, OF_Z, row(b, i));
#pragma unroll
        for (int x = 0; x < W / 8; x++)
#pragma unroll
            for (int k = 0; k < 2; k++) {
                const uint32_t c = x * 8 + lane() % 4 * 2 + k;
                const float out = sum[b][i] == 0 ? 0 : mixture[b][x][2 * i + k] / sum[b][i];
                if (c < a.e)
                    *reinterpret_cast<uint16_t *>(z + int64_t(c) * a.of[OF_Z].col) = S16::store(out, BF);
            }
    }

    TSRC_FN void finish(const AttentionArgs &a, const Spot &s)
    {
#pragma unroll
        for (int b = 0; b < M; b++)
#pragma unroll
            for (int i = 0; i < 2; i++) write_row(a, s, b, i);
    }
};

/* Shared memory of a block. */
template <class Part> struct MmaRoom {
    uint16_t *q, *k, *v;
    float *weight;
    TSRC_FN explicit MmaRoom(char *room)
    {
        q = reinterpret_cast<uint16_t *>(room);
        k = q + Part::ROWS * Part::PITCH;
        v = k + Part::KEYS * Part::PITCH;
        weight = reinterpret_cast<float *>(v + Part::KEYS * Part::PITCH);
    }
};

/* Begins to fetch the tile of k or v whose first key is `first`. */
template <class Part, int W>
TSRC_FN void load_tile(const AttentionArgs &a, const Spot &s, uint16_t *to, int operand, uint32_t first)
{
    const Heads &h = a.of[operand];
    const char *from = s.data[operand] + int64_t(first) * h.row;
    fetch<uint16_t, Part::KEYS, W, Part::PITCH>(
        to, s.keys - first, operand == OF_K ? a.d : a.e,
        [&](uint32_t r) { return from + int64_t(r) * h.row; }, s.data[operand], h);
}

/* While scores are computed values come, and the next keys while those are mixed. */
template <bool CARE, int M, int W, bool BF>
TSRC_FN void walk(const AttentionArgs &a, const Spot &s, Mma<M, W, BF> &part,
                  const MmaRoom<Mma<M, W, BF>> &room)
{
    using Part = Mma<M, W, BF>;
    part.begin();
    if (s.keys > 0) load_tile<Part, W>(a, s, room.k, OF_K, 0);
    for (uint32_t first = 0; first < s.keys; first += Part::KEYS) {
        wait_ahead();
        __syncthreads();
        load_tile<Part, W>(a, s, room.v, OF_V, first);
        part.multiply_keys(room.q, room.k);
        part.template weigh<CARE>(a, s, first);
        wait_ahead();
        __syncthreads();
        if (first + Part::KEYS < s.keys) load_tile<Part, W>(a, s, room.k, OF_K, first + Part::KEYS);
        if (CARE)
            part.mix_with_care(room.v, room.weight);
        else
            part.mix(room.v);
    }
}

/* One tile of rows: first without care, then with it where a mixture is not finite. */
template <int M, int W, bool BF>
TSRC_FN void attend(const AttentionArgs &a, uint32_t at, const MmaRoom<Mma<M, W, BF>> &room, bool plain_first)
{
    using Part = Mma<M, W, BF>;
    const Spot s = find_spot(a, Part::ROWS, at);
    Part part;
    fetch<uint16_t, Part::ROWS, W, Part::PITCH>(
        room.q, s.rows, a.d, [&](uint32_t r) { return row_at(a, s, OF_Q, r); }, s.data[OF_Q], a.of[OF_Q]);
    if (plain_first) walk<false>(a, s, part, room);
    if (!plain_first || __syncthreads_or(part.wild())) walk<true>(a, s, part, room);
    wait_ahead();
    part.finish(a, s);
}

template <int M, int W, bool BF>
__global__ void __launch_bounds__(THREADS, W <= 128 ? 4 - M : 1)
    mma_kernel(const __grid_constant__ AttentionArgs a)
{
    extern __shared__ __align__(16) char memory[];
    attend<M, W, BF>(a, blockIdx.x, MmaRoom<Mma<M, W, BF>>(memory), true);
}

/* Are the last rows of all heads that share one finite? */
template <bool BF> TSRC_FN bool is_clean(const AttentionArgs &a, const Spot &s)
{
    bool wild = false;
    for (uint32_t i = threadIdx.x; i < a.shared * a.e; i += THREADS) {
        const uint32_t row = i / a.e * a.m + a.m - 1, c = i % a.e;
        const char *z = row_at(a, s, OF_Z, row) + int64_t(c) * a.of[OF_Z].col;
        wild |= is_wild(S16::load(*reinterpret_cast<const uint16_t *>(z), BF));
    }
    return !__syncthreads_or(wild);
}

template <bool BF>
__global__ void __launch_bounds__(THREADS, 1) mend_kernel(const __grid_constant__ AttentionArgs a)
{
    using Part = Mma<1, MOST_SIZE, BF>;
    extern __shared__ __align__(16) char memory[];
    Spot s;
    place_head(a, s, blockIdx.x % a.kv_heads, blockIdx.x / a.kv_heads);
    s.first = 0;
    if (is_clean<BF>(a, s)) return;
    for (uint32_t i = 0; i < a.tiles; i++) {
        __syncthreads();
        attend<1, MOST_SIZE, BF>(a, blockIdx.x * a.tiles + i, MmaRoom<Part>(memory), false);
    }
}

AttentionKernel mend_attention(tsr_dtype dtype)
{
    using Part = Mma<1, MOST_SIZE, true>;
    return { dtype == TSR_BF16 ? (const void *)mend_kernel<true> : (const void *)mend_kernel<false>,
             Part::bytes(), THREADS, Part::ROWS };
}

template <int M, int W> static AttentionKernel of_width(bool bf)
{
    using Part = Mma<M, W, true>;
    return { bf ? (const void *)mma_kernel<M, W, true> : (const void *)mma_kernel<M, W, false>, Part::bytes(),
             THREADS, Part::ROWS };
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
