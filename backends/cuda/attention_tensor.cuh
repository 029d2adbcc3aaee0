/* attention_tensor.cuh - what attention on tensor cores has in common for all dtypes.
 *
 * A warp has M times 16 rows. Of every 8 columns of a product, thread t of it has columns 2 (t % 4) and the
 * next, of rows t / 4 (numbers 0 and 1) and t / 4 + 8 (numbers 2 and 3), as the instructions want them. */
#ifndef TSRC_ATTENTION_TENSOR_CUH
#define TSRC_ATTENTION_TENSOR_CUH

#include "attention.cuh"

namespace tsrc {

/* W is not below d and e. Scores are kept times log2(e). ALIKE: all warps have the same rows. */
template <int M_, int KEYS_, int W_, bool ALIKE = false> struct TensorRows {
    enum { M = M_, KEYS = KEYS_, W = W_, ROWS = 64 * M, WEIGHT_PITCH = KEYS + 2, STATE = HEAD + W };

    float score[M][KEYS / 8][4];
    float mixture[M][W / 8][4];
    float largest[M][2], sum[M][2];

    TSRC_FN static uint32_t lane() { return threadIdx.x % 32; }
    TSRC_FN static uint32_t first_row(int b) { return ((ALIKE ? 0 : threadIdx.x / 32 * M) + b) * 16; }
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

    TSRC_FN void clear_scores()
    {
#pragma unroll
        for (int b = 0; b < M; b++)
#pragma unroll
            for (int j = 0; j < KEYS / 8; j++)
#pragma unroll
                for (int x = 0; x < 4; x++) score[b][j][x] = 0;
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
            by[i] = two_to(largest[b][i] - base[i]);
            grew |= now > largest[b][i];
            largest[b][i] = now;
        }
#pragma unroll
        for (int i = 0; i < 2; i++) sum[b][i] *= by[i];
#pragma unroll
        for (int j = 0; j < KEYS / 8; j++)
#pragma unroll
            for (int x = 0; x < 4; x++) {
                score[b][j][x] = two_to(__fmaf_rn(score[b][j][x], scale, -base[x / 2]));
                sum[b][x / 2] += score[b][j][x];
            }
        if (!__any_sync(~0u, grew)) return;
#pragma unroll
        for (int x = 0; x < W / 8; x++)
#pragma unroll
            for (int k = 0; k < 4; k++) mixture[b][x][k] = shrunk(mixture[b][x][k], by[k / 2], CARE);
    }

    /* Scores are of `late` times log2(e) where they meet their base: with a mask before it is added, and with
     * a scale that is not above 0 as a float before the largest is looked for and -infinity hides any. */
    template <bool CARE> TSRC_FN void weigh(const AttentionArgs &a, const Spot &s, uint32_t first)
    {
        constexpr float log2e = 1.44269504f;
        const float late = float(a.late);
        const bool masks = a.of[OF_MASK].data, early = masks || !(late > 0);
        if (early) scale_scores(late);
        if (masks || first + KEYS > s.plain) hide(a, s, first);
        const float scale = early ? log2e : late * log2e;
#pragma unroll
        for (int b = 0; b < M; b++) weigh_rows<CARE>(b, scale);
    }

    /* Adds values by their weights, without products of weight 0; v(c, x) is element x of key c, `weight` is
     * room for all rows' weights. */
    template <class Value> TSRC_FN void mix_values(float *weight, Value v)
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
                            const float y = v(c, x * 8 + lane() % 4 * 2 + k);
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

    template <class S> TSRC_FN void write_row(const AttentionArgs &a, const Spot &s, int b, int i)
    {
        if (row(b, i) >= s.rows) return;
        char *z = row_at(a, s, OF_Z, row(b, i));
#pragma unroll
        for (int x = 0; x < W / 8; x++)
#pragma unroll
            for (int k = 0; k < 2; k++) {
                const uint32_t c = x * 8 + lane() % 4 * 2 + k;
                const float out = sum[b][i] == 0 ? 0 : mixture[b][x][2 * i + k] / sum[b][i];
                if (c < a.e)
                    *reinterpret_cast<typename S::Bits *>(z + int64_t(c) * a.of[OF_Z].col) = S::store(out, 0);
            }
    }

    template <class S> TSRC_FN void finish(const AttentionArgs &a, const Spot &s)
    {
#pragma unroll
        for (int b = 0; b < M; b++)
#pragma unroll
            for (int i = 0; i < 2; i++) {
                add_up(b, i);
                if (a.parts > 1)
                    leave_row(a.states + (uint64_t(blockIdx.x) * ROWS + row(b, i)) * STATE, b, i);
                else
                    write_row<S>(a, s, b, i);
            }
    }

    /* The sum of a row, of which each thread had its columns'. */
    TSRC_FN void add_up(int b, int i)
    {
        sum[b][i] += __shfl_xor_sync(~0u, sum[b][i], 1);
        sum[b][i] += __shfl_xor_sync(~0u, sum[b][i], 2);
    }

    /* To a state. */
    TSRC_FN void leave_row(float *state, int b, int i)
    {
        if (lane() % 4 == 0) {
            state[0] = largest[b][i];
            state[1] = sum[b][i];
        }
#pragma unroll
        for (int x = 0; x < W / 8; x++)
#pragma unroll
            for (int k = 0; k < 2; k++) state[HEAD + x * 8 + lane() % 4 * 2 + k] = mixture[b][x][2 * i + k];
    }
};

/* Shared memory of a block. */
template <class Part> struct TensorRoom {
    using Element = typename Part::Element;
    enum {
        K_AT = Part::ROWS * Part::Q_PITCH,
        V_AT = K_AT + Part::KEYS * Part::K_PITCH,
        END = V_AT + Part::KEYS * Part::V_PITCH,
        BYTES = END * sizeof(Element) + Part::ROWS * Part::WEIGHT_PITCH * sizeof(float)
    };
    Element *q, *k, *v;
    float *weight;
    TSRC_FN explicit TensorRoom(char *room)
        : q(reinterpret_cast<Element *>(room)), k(q + K_AT), v(q + V_AT),
          weight(reinterpret_cast<float *>(q + END))
    {
    }
};

/* Begins to fetch the tile of k or v whose first key is `first`. */
template <class Part, int PITCH>
TSRC_FN void load_tile(const AttentionArgs &a, const Spot &s, typename Part::Element *to, int operand,
                       uint32_t first)
{
    const Heads &h = a.of[operand];
    const char *from = s.data[operand] + int64_t(first) * h.row;
    fetch<typename Part::Element, Part::KEYS, Part::W, PITCH>(
        to, s.keys - first, operand == OF_K ? a.d : a.e,
        [&](uint32_t r) { return from + int64_t(r) * h.row; }, s.data[operand], h);
}

/* Values are fetched while scores are computed, and the next keys while the values are added. */
template <bool CARE, class Part>
TSRC_FN void walk(const AttentionArgs &a, const Spot &s, Part &part, const TensorRoom<Part> &room)
{
    part.begin();
    if (s.begin < s.end) load_tile<Part, Part::K_PITCH>(a, s, room.k, OF_K, s.begin);
    for (uint32_t first = s.begin; first < s.end; first += Part::KEYS) {
        wait_ahead();
        __syncthreads();
        load_tile<Part, Part::V_PITCH>(a, s, room.v, OF_V, first);
        part.template multiply_keys<CARE>(room.q, room.k);
        part.template weigh<CARE>(a, s, first);
        wait_ahead();
        __syncthreads();
        if (first + Part::KEYS < s.end)
            load_tile<Part, Part::K_PITCH>(a, s, room.k, OF_K, first + Part::KEYS);
        part.template mix<CARE>(room.v, room.weight);
    }
}

/* Share `at` of all: a tile of rows, and part of its keys; a part is a multiple of KEYS. First without care,
 * then with it where a mixture is not finite. */
template <class Part>
TSRC_FN void attend(const AttentionArgs &a, uint32_t at, const TensorRoom<Part> &room, bool plain_first)
{
    Spot s = find_spot(a, Part::ROWS, at / a.parts);
    s.begin = at % a.parts * a.part;
    s.end = min(s.keys, s.begin + a.part);
    Part part;
    part.stage(a, s, room.q);
    if (plain_first) walk<false>(a, s, part, room);
    if (!plain_first || __syncthreads_or(part.wild())) walk<true>(a, s, part, room);
    wait_ahead();
    part.template finish<typename Part::Stored>(a, s);
}

/* Parts of a row meet: a block for each row, a thread for each column. */
template <class Part> TSRC_FN void join(const AttentionArgs &a)
{
    const uint32_t rows = a.shared * a.m, head = blockIdx.x / rows, row = blockIdx.x % rows;
    const uint32_t share = head * a.tiles + (a.tiles - 1 - row / Part::ROWS); /* as find_spot has them */
    const uint64_t first = uint64_t(share) * a.parts * Part::ROWS + row % Part::ROWS;
    Spot s;
    place_head(a, s, head % a.kv_heads, head / a.kv_heads);
    write_met<typename Part::Stored>(
        a, s, row, threadIdx.x,
        meet_as_block<Part::W>(a.states + first * Part::STATE, a.parts, Part::ROWS * Part::STATE));
}

/* What the host needs to know of a kernel for such parts and of what joins them. */
template <class Part> static AttentionKernel tensor_kernel(const void *run, const void *join)
{
    return { run, TensorRoom<Part>::BYTES, THREADS, Part::ROWS, join, Part::W,
             size_t(Part::ROWS) * Part::STATE * sizeof(float) };
}

} // namespace tsrc

#endif
