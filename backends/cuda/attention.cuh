/* attention.cuh - attention in device code: places, scores and tiles. */
#ifndef TSRC_ATTENTION_CUH
#define TSRC_ATTENTION_CUH

#include "attention.h"
#include "nest.cuh"

namespace tsrc {

enum { THREADS = 128 };

/* Places ------------------------------------------------------------------------------------------------ */

/* Rows first .. first + rows - 1 of those that share a head. */
struct Spot {
    char *data[OPERANDS]; /* q, z, mask: of the first head that shares; k, v: of their head */
    uint32_t first, rows;
    uint32_t keys;       /* that any row sees */
    uint32_t begin, end; /* of those, what the block has */
    uint32_t plain;      /* that every row sees, mask apart */
};

/* How many keys a row sees. */
TSRC_FN uint32_t keys_of(const AttentionArgs &a, uint32_t row)
{
    if (!a.causal) return a.n;
    const int64_t seen = int64_t(row % a.m) + 1 + a.n - a.m;
    return seen < 0 ? 0u : uint32_t(seen);
}

/* Where the operands of head kv of k begin, in matrix `batch`. */
TSRC_FN void place_head(const AttentionArgs &a, Spot &s, uint32_t kv, uint32_t batch)
{
#pragma unroll
    for (int o = 0; o < OPERANDS; o++)
        s.data[o] = a.of[o].data + a.of[o].head * (o == OF_K || o == OF_V ? kv : kv * a.shared);
#pragma unroll 1
    for (int i = 0; i < a.nd; i++) {
        const uint32_t q = divide(batch, a.batch[i]), r = batch - q * a.batch[i].d;
#pragma unroll
        for (int o = 0; o < OPERANDS; o++) s.data[o] += int64_t(r) * a.step[i][o];
        batch = q;
    }
}

/* Tile `at` of all. Long tiles come first. */
TSRC_FN Spot find_spot(const AttentionArgs &a, uint32_t most_rows, uint32_t at)
{
    const uint32_t tile = a.tiles - 1 - at % a.tiles;
    at /= a.tiles;
    Spot s;
    place_head(a, s, at % a.kv_heads, at / a.kv_heads);
    s.first = tile * most_rows;
    s.rows = min(a.shared * a.m - s.first, most_rows);
    const uint32_t last = s.first + s.rows - 1;
    const bool one_head = s.first / a.m == last / a.m;
    s.keys = one_head ? keys_of(a, last) : a.n;
    s.plain = one_head ? keys_of(a, s.first) : a.causal ? 0 : a.n;
    s.begin = 0;
    s.end = s.keys;
    return s;
}

/* The head that a block has, without tiles of rows: all rows are in it. */
TSRC_FN Spot find_head(const AttentionArgs &a, uint32_t at)
{
    Spot s;
    const uint32_t kv = at % a.kv_heads;
    place_head(a, s, kv, at / a.kv_heads);
    s.first = 0;
    s.rows = a.shared * a.m;
    s.keys = a.n;
    s.plain = a.causal ? keys_of(a, 0) : a.n;
    s.begin = 0;
    s.end = a.n;
    return s;
}

/* Row r of the tile in q, z or the mask. */
TSRC_FN char *row_at(const AttentionArgs &a, const Spot &s, int operand, uint32_t r)
{
    const uint32_t row = s.first + r;
    return s.data[operand] + int64_t(row / a.m) * a.of[operand].head + int64_t(row % a.m) * a.of[operand].row;
}

/* Scores ------------------------------------------------------------------------------------------------ */

TSRC_FN float fma_of(float x, float y, float z) { return __fmaf_rn(x, y, z); }
TSRC_FN double fma_of(double x, double y, double z) { return __fma_rn(x, y, z); }
TSRC_FN float exp_of(float x) { return expf(x); }
TSRC_FN double exp_of(double x) { return exp(x); }
TSRC_FN float larger(float x, float y) { return fmaxf(x, y); }
TSRC_FN double larger(double x, double y) { return fmax(x, y); }
TSRC_FN bool is_wild(float x) { return !(fabsf(x) < INFINITY); }
TSRC_FN bool is_wild(double x) { return !(fabs(x) < INFINITY); }

template <class T> TSRC_FN T load_mask(int dtype, const char *p)
{
    if constexpr (sizeof(T) == 8)
        return load_real(dtype, p);
    else
        return load_f32(dtype, p);
}

/* A key's score after the mask: -infinity where it does not count, NaN or not. The row sees keys below
 * `seen`. */
template <class T>
TSRC_FN T masked(const AttentionArgs &a, T score, const char *mask, uint32_t key, uint32_t seen)
{
    if (key >= seen) return T(-INFINITY);
    if (!a.of[OF_MASK].data) return score;
    const char *p = mask + int64_t(key) * a.of[OF_MASK].col;
    if (a.mask_dtype == TSR_BOOL) return *reinterpret_cast<const uint8_t *>(p) ? score : T(-INFINITY);
    const T add = load_mask<T>(a.mask_dtype, p);
    return add == T(-INFINITY) ? add : score + add;
}

/* What scores are relative to: a row that has seen nothing yet has no largest. */
template <class T> TSRC_FN T base_of(T largest) { return largest == T(-INFINITY) ? T(0) : largest; }

/* With care, an infinity that has come to weigh nothing goes. */
template <class T> TSRC_FN T shrunk(T x, T by, bool care) { return care && by == T(0) ? T(0) : x * by; }

/* States ------------------------------------------------------------------------------------------------
 *
 * What a share of a row's keys comes to: the largest score times log2(e), the sum of weights relative to it,
 * then the mixture. */

enum { HEAD = 2 };

TSRC_FN float two_to(float x)
{
    float out;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"(x));
    return out;
}

struct Met {
    float largest, sum, mixture;
};

/* What `count` states, `apart` numbers from one to the next, come to at a column. */
TSRC_FN Met meet(const float *state, uint32_t count, uint32_t apart, uint32_t column)
{
    Met m = { -INFINITY, 0, 0 };
#pragma unroll 8
    for (uint32_t i = 0; i < count; i++) m.largest = fmaxf(m.largest, state[i * apart]);
    const float base = base_of(m.largest);
#pragma unroll 8
    for (uint32_t i = 0; i < count; i++) {
        const float *of = state + i * apart, by = two_to(of[0] - base), x = of[HEAD + column];
        m.sum = __fmaf_rn(of[1], by, m.sum);
        m.mixture = by == 0 ? m.mixture : __fmaf_rn(by, x, m.mixture);
    }
    return m;
}

/* The same by a block, each thread its column. */
template <int WIDTH> TSRC_FN Met meet_as_block(const float *state, uint32_t count, uint32_t apart)
{
    __shared__ float by[MOST_SHARES], sums[MOST_SHARES];
    Met m = { -INFINITY, 0, 0 };
    for (uint32_t i = threadIdx.x; i < count; i += WIDTH) {
        by[i] = state[i * apart];
        sums[i] = state[i * apart + 1];
    }
    __syncthreads();
#pragma unroll 8
    for (uint32_t i = 0; i < count; i++) m.largest = fmaxf(m.largest, by[i]);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < count; i += WIDTH) by[i] = two_to(by[i] - base_of(m.largest));
    __syncthreads();
#pragma unroll 16
    for (uint32_t i = 0; i < count; i++) {
        const float x = state[i * apart + HEAD + threadIdx.x];
        m.sum = __fmaf_rn(sums[i], by[i], m.sum);
        m.mixture = by[i] == 0 ? m.mixture : __fmaf_rn(by[i], x, m.mixture);
    }
    return m;
}

/* An element of row `row` of those that share a head. */
template <class S>
TSRC_FN void write_met(const AttentionArgs &a, const Spot &s, uint32_t row, uint32_t column, const Met &m)
{
    if (row >= a.shared * a.m || column >= a.e) return;
    char *z = s.data[OF_Z] + int64_t(row / a.m) * a.of[OF_Z].head + int64_t(row % a.m) * a.of[OF_Z].row +
              int64_t(column) * a.of[OF_Z].col;
    *reinterpret_cast<typename S::Bits *>(z) = S::store(m.sum == 0 ? 0.0f : m.mixture / m.sum, 0);
}

/* Tiles ------------------------------------------------------------------------------------------------- */

TSRC_FN uint32_t shared_address(const void *p) { return uint32_t(__cvta_generic_to_shared(p)); }

/* 16 bytes to shared memory, or zeros. */
TSRC_FN void copy_ahead(void *to, const void *from, bool there)
{
    const int bytes = there ? 16 : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from),
                 "r"(bytes)
                 : "memory");
}

TSRC_FN void wait_ahead() { asm volatile("cp.async.wait_all;" ::: "memory"); }

/* What was begun since the last such call is a group; all but the last N groups have come. */
TSRC_FN void close_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> TSRC_FN void wait_groups() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }

/* Begins to fetch ROWS x WIDTH elements; what is past `have` rows or `cols` columns is 0. `any` is an
 * address that could be read. */
template <class T, int ROWS, int WIDTH, int PITCH, class At>
TSRC_FN void fetch(T *to, uint32_t have, uint32_t cols, At at, const char *any, const Heads &h)
{
    enum { V = 16 / sizeof(T), ACROSS = WIDTH / V };
    if (h.wide) {
#pragma unroll 8
        for (uint32_t i = threadIdx.x; i < ROWS * ACROSS; i += THREADS) {
            const uint32_t r = i / ACROSS, c = i % ACROSS * V;
            const bool there = r < have && c < cols;
            copy_ahead(to + r * PITCH + c, there ? at(r) + c * sizeof(T) : any, there);
        }
        return;
    }
    const bool down = (h.row < 0 ? -h.row : h.row) < (h.col < 0 ? -h.col : h.col);
#pragma unroll 4
    for (uint32_t i = threadIdx.x; i < ROWS * WIDTH; i += THREADS) {
        const uint32_t r = down ? i % ROWS : i / WIDTH, c = down ? i / ROWS : i % WIDTH;
        T x = 0;
        if (r < have && c < cols) x = *reinterpret_cast<const T *>(at(r) + int64_t(c) * h.col);
        to[r * PITCH + c] = x;
    }
}

} // namespace tsrc

#endif
