/* attention.cu - attention without a matrix of scores.
 *
 * A block has a tile of rows that look at one head of k and v: rows of all the heads of q that share it,
 * one after the other. It walks the keys in tiles, and keeps for each row the largest score so far, the
 * sum of the weights relative to it, and their mixture of v, which shrink when a larger score comes:
 *
 *     f32, f64     products are multiply-adds on tiles in shared memory
 *     f16, bf16    products are the tensor cores', summed in f32; a weight goes in as the sum of two short
 *                  floats, so that it is not rounded to one
 *
 * What a row may not look at has weight 0, but 0 times a NaN or infinity of v is NaN. So a block whose
 * mixture comes out not finite walks again with care: it leaves out products with weight 0.
 *
 * LIMIT: one row of one head alone is done by one block. */
#include <cstring>

#include "cuda.h"
#include "nest.cuh"

namespace tsrc {

enum {
    THREADS = 128,
    LANES = 16,     /* threads that share a row, where products are multiply-adds */
    MOST_SIZE = 256 /* of d and e */
};

enum { OF_Q, OF_K, OF_V, OF_Z, OF_MASK, OPERANDS };

/* The matrices of an operand: bytes from head to head, row to row, element to element. */
struct Heads {
    char *data;
    int64_t head, row, col;
    int wide; /* rows can be read 16 bytes at a time */
};

struct AttentionArgs {
    Heads of[OPERANDS]; /* no mask: data is NULL */
    int32_t nd;         /* batch dims, innermost first */
    tsrc_div batch[TSRC_DIMS];
    int64_t step[TSRC_DIMS][OPERANDS];
    uint32_t m, n, d, e;
    uint32_t shared, kv_heads; /* heads of q that look at one of k */
    uint32_t tiles;            /* of rows, for each head of k */
    double early, late;        /* scales of q and of scores */
    int causal, mask_dtype, flag;
};

/* Places ------------------------------------------------------------------------------------------------ */

/* Rows first .. first + rows - 1 of those that share a head. */
struct Spot {
    char *data[OPERANDS]; /* q, z, mask: of the first head that shares; k, v: of their head */
    uint32_t first, rows;
    uint32_t keys;  /* that any row sees */
    uint32_t plain; /* that every row sees, mask apart */
};

/* How many keys a row sees. */
TSRC_FN uint32_t keys_of(const AttentionArgs &a, uint32_t row)
{
    if (!a.causal) return a.n;
    const int64_t seen = int64_t(row % a.m) + 1 + a.n - a.m;
    return seen < 0 ? 0u : uint32_t(seen);
}

/* Long tiles come first. */
TSRC_FN Spot find_spot(const AttentionArgs &a, uint32_t most_rows)
{
    uint32_t at = blockIdx.x;
    const uint32_t tile = a.tiles - 1 - at % a.tiles;
    at /= a.tiles;
    const uint32_t kv = at % a.kv_heads;
    at /= a.kv_heads;
    Spot s;
#pragma unroll
    for (int o = 0; o < OPERANDS; o++)
        s.data[o] = a.of[o].data + a.of[o].head * (o == OF_K || o == OF_V ? kv : kv * a.shared);
#pragma unroll 1
    for (int i = 0; i < a.nd; i++) {
        const uint32_t q = divide(at, a.batch[i]), r = at - q * a.batch[i].d;
#pragma unroll
        for (int o = 0; o < OPERANDS; o++) s.data[o] += int64_t(r) * a.step[i][o];
        at = q;
    }
    s.first = tile * most_rows;
    s.rows = min(a.shared * a.m - s.first, most_rows);
    const uint32_t last = s.first + s.rows - 1;
    const bool one_head = s.first / a.m == last / a.m;
    s.keys = one_head ? keys_of(a, last) : a.n;
    s.plain = one_head ? keys_of(a, s.first) : a.causal ? 0 : a.n;
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

/* Multiply-adds ------------------------------------------------------------------------------------------
 *
 * Threads are 8 groups of LANES. Group g has rows g + 8 i, lane l of it keys l + LANES j, and columns of
 * the mixture in vectors of 16 bytes, every LANES-th. */

/* Rows of q to shared memory, times scale; what is past their ends is 0. */
template <class T>
TSRC_FN void stage_rows(T *to, uint32_t pitch, uint32_t rows, const AttentionArgs &a, const Spot &s, T scale)
{
    for (uint32_t i = threadIdx.x; i < rows * pitch; i += THREADS) {
        const uint32_t r = i / pitch, c = i - r * pitch;
        T x = 0;
        if (r < s.rows && c < a.d)
            x = *reinterpret_cast<const T *>(row_at(a, s, OF_Q, r) + int64_t(c) * a.of[OF_Q].col) * scale;
        to[i] = x;
    }
}

/* R rows and K keys of a thread; W is not below e. */
template <class T, int R, int K, int W> struct Fma {
    enum { V = 16 / sizeof(T), ROWS = THREADS / LANES * R, KEYS = LANES * K, X = W / (LANES * V) };
    enum { WEIGHT_PITCH = KEYS + V };
    enum { COLUMNS = 128 / sizeof(T), PITCH = COLUMNS + V }; /* of a piece of k, which has all keys */
    enum { VALUES = KEYS < 4096 / W ? KEYS : 4096 / W };     /* rows of a piece of v */
    enum { PIECE = KEYS * PITCH > VALUES *W ? KEYS *PITCH : VALUES *W };
    using Vector = Vec<T, V>;

    T score[R][K];
    T mixture[R][X][V];
    T largest[R], sum[R];

    /* Vectors of neighbouring rows lie in different banks. */
    static __host__ __device__ uint32_t pitch_of(uint32_t d) { return (((d + V - 1) / V) | 1) * V; }
    static size_t bytes(uint32_t d)
    {
        return (ROWS * pitch_of(d) + 2 * PIECE + ROWS * WEIGHT_PITCH) * sizeof(T);
    }

    TSRC_FN static uint32_t lane() { return threadIdx.x % LANES; }
    TSRC_FN static uint32_t row(int i) { return threadIdx.x / LANES + THREADS / LANES * i; }

    TSRC_FN void begin()
    {
#pragma unroll
        for (int i = 0; i < R; i++) {
            largest[i] = T(-INFINITY);
            sum[i] = 0;
#pragma unroll
            for (int x = 0; x < X; x++)
#pragma unroll
                for (int k = 0; k < V; k++) mixture[i][x][k] = 0;
        }
    }

    TSRC_FN void clear_scores()
    {
#pragma unroll
        for (int i = 0; i < R; i++)
#pragma unroll
            for (int j = 0; j < K; j++) score[i][j] = 0;
    }

    /* Adds the products of `columns` columns, from q on in rows `pitch` apart. */
    TSRC_FN void multiply_keys(const T *q, uint32_t pitch, const T *k, uint32_t columns)
    {
#pragma unroll 2
        for (uint32_t c = 0; c < columns; c += V) {
            Vector of_k[K];
#pragma unroll
            for (int j = 0; j < K; j++)
                of_k[j] = *reinterpret_cast<const Vector *>(k + (lane() + LANES * j) * PITCH + c);
#pragma unroll
            for (int i = 0; i < R; i++) {
                const Vector of_q = *reinterpret_cast<const Vector *>(q + row(i) * pitch + c);
#pragma unroll
                for (int j = 0; j < K; j++)
#pragma unroll
                    for (int x = 0; x < V; x++) score[i][j] = fma_of(of_q.e[x], of_k[j].e[x], score[i][j]);
            }
        }
    }

    /* Scores become weights. */
    TSRC_FN void weigh(const AttentionArgs &a, const Spot &s, uint32_t first, T *weight, bool care)
    {
        const bool edge = a.of[OF_MASK].data || first + KEYS > s.plain;
#pragma unroll
        for (int i = 0; i < R; i++) {
            T now = largest[i];
            const bool there = row(i) < s.rows;
            const uint32_t seen = there ? keys_of(a, s.first + row(i)) : 0;
            const char *mask = there ? row_at(a, s, OF_MASK, row(i)) : nullptr;
#pragma unroll
            for (int j = 0; j < K; j++) {
                score[i][j] *= T(a.late);
                if (edge) score[i][j] = masked(a, score[i][j], mask, first + lane() + LANES * j, seen);
                now = larger(now, score[i][j]);
            }
#pragma unroll
            for (int o = LANES / 2; o; o /= 2) now = larger(now, __shfl_xor_sync(~0u, now, o));
            const T base = base_of(now), by = exp_of(largest[i] - base);
            largest[i] = now;
            sum[i] *= by;
#pragma unroll
            for (int j = 0; j < K; j++) {
                const T w = exp_of(score[i][j] - base);
                sum[i] += w;
                weight[row(i) * WEIGHT_PITCH + lane() + LANES * j] = w;
            }
#pragma unroll
            for (int x = 0; x < X; x++)
#pragma unroll
                for (int k = 0; k < V; k++) mixture[i][x][k] = shrunk(mixture[i][x][k], by, care);
        }
    }

    /* A piece of v, whose first key has its weights at `weight`. */
    template <bool CARE> TSRC_FN void mix(const T *weight, const T *v)
    {
#pragma unroll 1
        for (uint32_t c = 0; c < VALUES; c += V) {
            Vector w[R];
#pragma unroll
            for (int i = 0; i < R; i++)
                w[i] = *reinterpret_cast<const Vector *>(weight + row(i) * WEIGHT_PITCH + c);
#pragma unroll
            for (int k = 0; k < V; k++)
#pragma unroll
                for (int x = 0; x < X; x++) {
                    const Vector of_v =
                        *reinterpret_cast<const Vector *>(v + (c + k) * W + (lane() + LANES * x) * V);
#pragma unroll
                    for (int i = 0; i < R; i++)
#pragma unroll
                        for (int y = 0; y < V; y++)
                            if (!CARE || w[i].e[k] != T(0))
                                mixture[i][x][y] = fma_of(w[i].e[k], of_v.e[y], mixture[i][x][y]);
                }
        }
    }

    TSRC_FN bool wild() const
    {
        bool any = false;
#pragma unroll
        for (int i = 0; i < R; i++)
#pragma unroll
            for (int x = 0; x < X; x++)
#pragma unroll
                for (int k = 0; k < V; k++) any |= is_wild(mixture[i][x][k]);
        return any;
    }

    TSRC_FN void finish(const AttentionArgs &a, const Spot &s)
    {
#pragma unroll
        for (int i = 0; i < R; i++) {
#pragma unroll
            for (int o = LANES / 2; o; o /= 2) sum[i] += __shfl_xor_sync(~0u, sum[i], o);
            if (row(i) >= s.rows) continue;
            char *z = row_at(a, s, OF_Z, row(i));
#pragma unroll
            for (int x = 0; x < X; x++)
#pragma unroll
                for (int k = 0; k < V; k++) {
                    const uint32_t c = (lane() + LANES * x) * V + k;
                    const T out = sum[i] == T(0) ? T(0) : mixture[i][x][k] / sum[i];
                    if (c < a.e) *reinterpret_cast<T *>(z + int64_t(c) * a.of[OF_Z].col) = out;
                }
        }
    }
};

/* Begins to fetch piece number `step` of the keys from `first` on: of k, and after those of v. */
template <class Part, class T>
TSRC_FN void bring_piece(const AttentionArgs &a, const Spot &s, T *to, uint32_t first, uint32_t step,
                         uint32_t of_keys)
{
    const Heads &k = a.of[OF_K], &v = a.of[OF_V];
    if (step < of_keys) {
        const uint32_t column = step * Part::COLUMNS;
        const char *from = s.data[OF_K] + int64_t(first) * k.row + int64_t(column) * k.col;
        fetch<T, Part::KEYS, Part::COLUMNS, Part::PITCH>(
            to, s.keys - first, a.d - column, [&](uint32_t r) { return from + int64_t(r) * k.row; },
            s.data[OF_K], k);
    } else {
        const uint32_t key = first + (step - of_keys) * Part::VALUES;
        const char *from = s.data[OF_V] + int64_t(key) * v.row;
        fetch<T, Part::VALUES, Part::X * LANES * Part::V, Part::X * LANES * Part::V>(
            to, s.keys - key, a.e, [&](uint32_t r) { return from + int64_t(r) * v.row; }, s.data[OF_V], v);
    }
}

/* While one piece is multiplied, the next comes. */
template <class T, int R, int K, int W>
__global__ void __launch_bounds__(THREADS) fma_kernel(const __grid_constant__ AttentionArgs a)
{
    using Part = Fma<T, R, K, W>;
    extern __shared__ __align__(16) char room[];
    const uint32_t pitch = Part::pitch_of(a.d);
    T *q = reinterpret_cast<T *>(room), *now = q + Part::ROWS * pitch, *next = now + Part::PIECE;
    T *weight = next + Part::PIECE;
    const Spot s = find_spot(a, Part::ROWS);
    const uint32_t of_keys = max((a.d + Part::COLUMNS - 1) / Part::COLUMNS, 1u);
    Part part;
    stage_rows<T>(q, pitch, Part::ROWS, a, s, T(a.early));
    for (bool care = false;; care = true) {
        part.begin();
        if (s.keys > 0) bring_piece<Part>(a, s, now, 0, 0, of_keys);
        for (uint32_t first = 0; first < s.keys; first += Part::KEYS) {
            const uint32_t have = min(s.keys - first, uint32_t(Part::KEYS));
            const uint32_t steps = of_keys + (have + Part::VALUES - 1) / Part::VALUES;
            part.clear_scores();
            for (uint32_t step = 0; step < steps; step++) {
                wait_ahead();
                __syncthreads();
                if (step + 1 < steps)
                    bring_piece<Part>(a, s, next, first, step + 1, of_keys);
                else if (first + Part::KEYS < s.keys)
                    bring_piece<Part>(a, s, next, first + Part::KEYS, 0, of_keys);
                if (step < of_keys) {
                    const uint32_t column = step * Part::COLUMNS;
                    part.multiply_keys(q + column, pitch, now, min(a.d - column, uint32_t(Part::COLUMNS)));
                } else if (care) {
                    part.template mix<true>(weight + (step - of_keys) * Part::VALUES, now);
                } else {
                    part.template mix<false>(weight + (step - of_keys) * Part::VALUES, now);
                }
                if (step + 1 == of_keys) part.weigh(a, s, first, weight, care);
                T *const old = now;
                now = next;
                next = old;
            }
        }
        if (care || !__syncthreads_or(part.wild())) break;
    }
    part.finish(a, s);
}

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

TSRC_FN void load_four_turned(uint32_t (&x)[4], const void *p)
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

/* Two numbers as short floats, x in the lower half. */
template <bool BF> TSRC_FN uint32_t pair_of(float x, float y)
{
    uint32_t out;
    if constexpr (BF)
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(y), "f"(x));
    else
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(y), "f"(x));
    return out;
}

/* What two numbers of weights, which are not above 1, have beyond their pair. */
template <bool BF> TSRC_FN uint32_t rest_of(float x, float y, uint32_t pair)
{
    if constexpr (BF)
        return pair_of<BF>(x - __uint_as_float(pair << 16), y - __uint_as_float(pair & 0xffff0000u));
    else
        return pair_of<BF>(x - __half2float(__ushort_as_half(uint16_t(pair))),
                           y - __half2float(__ushort_as_half(uint16_t(pair >> 16))));
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

    /* Scores of rows b become weights. */
    TSRC_FN void weigh_rows(int b, bool care)
    {
        float base[2], by[2];
#pragma unroll
        for (int i = 0; i < 2; i++) {
            float now = largest[b][i];
#pragma unroll
            for (int j = 0; j < KEYS / 8; j++)
                now = fmaxf(now, fmaxf(score[b][j][2 * i], score[b][j][2 * i + 1]));
            now = fmaxf(now, __shfl_xor_sync(~0u, now, 1));
            now = fmaxf(now, __shfl_xor_sync(~0u, now, 2));
            base[i] = base_of(now);
            by[i] = power_of_two(largest[b][i] - base[i]);
            largest[b][i] = now;
            sum[b][i] *= by[i];
        }
#pragma unroll
        for (int j = 0; j < KEYS / 8; j++)
#pragma unroll
            for (int x = 0; x < 4; x++) {
                score[b][j][x] = power_of_two(score[b][j][x] - base[x / 2]);
                sum[b][x / 2] += score[b][j][x];
            }
#pragma unroll
        for (int x = 0; x < W / 8; x++)
#pragma unroll
            for (int k = 0; k < 4; k++) mixture[b][x][k] = shrunk(mixture[b][x][k], by[k / 2], care);
    }

    TSRC_FN void weigh(const AttentionArgs &a, const Spot &s, uint32_t first, bool care)
    {
        constexpr float log2e = 1.44269504f;
        const bool masks = a.of[OF_MASK].data;
        scale_scores(masks ? float(a.late) : float(a.late) * log2e);
        if (masks || first + KEYS > s.plain) hide(a, s, first);
        if (masks) scale_scores(log2e);
#pragma unroll
        for (int b = 0; b < M; b++) weigh_rows(b, care);
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
                    w[b][i] = pair_of<BF>(of[i % 2 * 2], of[i % 2 * 2 + 1]);
                    rest[b][i] = rest_of<BF>(of[i % 2 * 2], of[i % 2 * 2 + 1], w[b][i]);
                }
#pragma unroll
            for (int x = 0; x < W / 16; x++) {
                uint32_t y[4];
                load_four_turned(y, of_v + j * 16 * PITCH + x * 16);
#pragma unroll
                for (int b = 0; b < M; b++) {
                    multiply<BF>(mixture[b][2 * x], w[b], y[0], y[1]);
                    multiply<BF>(mixture[b][2 * x + 1], w[b], y[2], y[3]);
                    multiply<BF>(mixture[b][2 * x], rest[b], y[0], y[1]);
                    multiply<BF>(mixture[b][2 * x + 1], rest[b], y[2], y[3]);
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

/* While scores are computed values come, and the next keys while those are mixed. */
template <int M, int W, bool BF>
__global__ void __launch_bounds__(THREADS, W <= 128 ? 4 - M : 1)
    mma_kernel(const __grid_constant__ AttentionArgs a)
{
    using Part = Mma<M, W, BF>;
    extern __shared__ __align__(16) char room[];
    uint16_t *q = reinterpret_cast<uint16_t *>(room), *k = q + Part::ROWS * Part::PITCH;
    uint16_t *v = k + Part::KEYS * Part::PITCH;
    float *weight = reinterpret_cast<float *>(v + Part::KEYS * Part::PITCH);
    const Spot s = find_spot(a, Part::ROWS);
    const auto bring_tile = [&](uint16_t *to, int operand, uint32_t first, uint32_t cols) {
        const Heads &h = a.of[operand];
        const char *from = s.data[operand] + int64_t(first) * h.row;
        fetch<uint16_t, Part::KEYS, W, Part::PITCH>(
            to, s.keys - first, cols, [&](uint32_t r) { return from + int64_t(r) * h.row; }, s.data[operand],
            h);
    };
    Part part;
    fetch<uint16_t, Part::ROWS, W, Part::PITCH>(
        q, s.rows, a.d, [&](uint32_t r) { return row_at(a, s, OF_Q, r); }, s.data[OF_Q], a.of[OF_Q]);
    for (bool care = false;; care = true) {
        part.begin();
        if (s.keys > 0) bring_tile(k, OF_K, 0, a.d);
        for (uint32_t first = 0; first < s.keys; first += Part::KEYS) {
            wait_ahead();
            __syncthreads();
            bring_tile(v, OF_V, first, a.e);
            part.multiply_keys(q, k);
            part.weigh(a, s, first, care);
            wait_ahead();
            __syncthreads();
            if (first + Part::KEYS < s.keys) bring_tile(k, OF_K, first + Part::KEYS, a.d);
            if (care)
                part.mix_with_care(v, weight);
            else
                part.mix(v);
        }
        if (care || !__syncthreads_or(part.wild())) break;
    }
    wait_ahead();
    part.finish(a, s);
}

/* Host -------------------------------------------------------------------------------------------------- */

static int64_t step_of(const tsr_tensor *t, int dim)
{
    return t->shape[dim] > 1 ? t->stride[dim] * tsrc_size(t->dtype) : 0;
}

/* Operand o, whose dims are the last of ndim; (m, h, d) stands for (h, m, d) if heads are second. */
static void plan_operand(AttentionArgs &a, int o, const tsr_tensor *t, int ndim, bool heads_second)
{
    const int last = t->ndim - 1;
    int64_t step[TSR_MAX_NDIM] = { 0 }; /* of dim ndim - 1 - i */
    for (int i = 0; i <= last; i++) step[i] = step_of(t, last - i);
    Heads &h = a.of[o];
    h.data = static_cast<char *>(t->data);
    h.col = step[0];
    h.row = step[heads_second ? 2 : 1];
    h.head = step[heads_second ? 1 : 2];
    const int64_t cols = last >= 0 ? t->shape[last] : 1, size = tsrc_size(t->dtype);
    h.wide = h.col == size && cols * size % 16 == 0 && reinterpret_cast<uintptr_t>(h.data) % 16 == 0 &&
             h.row % 16 == 0 && h.head % 16 == 0;
    for (int i = 3; i < ndim; i++) {
        a.step[i - 3][o] = step[i];
        h.wide = h.wide && step[i] % 16 == 0;
    }
}

static bool plan_sizes(AttentionArgs &a, const tsr_op *op, bool heads_second)
{
    const tsr_tensor *q = op->in[0], *k = op->in[1], *v = op->in[2];
    const int last = q->ndim - 1, head = last - (heads_second ? 1 : 2), row = last - (heads_second ? 2 : 1);
    const int64_t m = q->shape[row], n = k->shape[row], d = q->shape[last], e = v->shape[last];
    const int64_t heads = q->shape[head], kv_heads = k->shape[head];
    if (d > MOST_SIZE || e > MOST_SIZE || m > TSRC_LIMIT || n > TSRC_LIMIT || heads > TSRC_LIMIT)
        return false;
    if (numel(op->out[0]) == 0) return true;
    if (heads / kv_heads * m > TSRC_LIMIT) return false;
    a.m = uint32_t(m);
    a.n = uint32_t(n);
    a.d = uint32_t(d);
    a.e = uint32_t(e);
    a.kv_heads = uint32_t(kv_heads);
    a.shared = uint32_t(heads / kv_heads);
    return true;
}

static bool plan_attention(AttentionArgs &a, const tsr_op *op)
{
    const tsr_attention_params *p = static_cast<const tsr_attention_params *>(op->params);
    const tsr_tensor *q = op->in[0], *mask = op->nin > 3 ? op->in[3] : nullptr;
    const bool self = op->kind == TSR_OP_SELF_ATTENTION;
    const tsr_dtype t = q->dtype;
    std::memset(&a, 0, sizeof a);
    if (t != TSR_F16 && t != TSR_BF16 && t != TSR_F32 && t != TSR_F64) return false;
    a.nd = q->ndim - 3;
    if (a.nd > TSRC_DIMS || !plan_sizes(a, op, self)) return false;
    for (int i = 0; i < a.nd; i++) {
        if (q->shape[a.nd - 1 - i] > TSRC_LIMIT) return false;
        a.batch[i] = tsrc_div_by(uint32_t(q->shape[a.nd - 1 - i]));
    }
    const tsr_tensor *const of[] = { q, op->in[1], op->in[2], op->out[0], mask };
    for (int o = 0; o < OPERANDS; o++)
        if (of[o]) plan_operand(a, o, of[o], q->ndim, self);
    a.mask_dtype = mask ? mask->dtype : TSR_BOOL;
    a.causal = self || p->causal;
    const bool early = tsrc_size(t) > 2 && p->scale >= -1 && p->scale <= 1; /* q does not overflow then */
    a.early = early ? p->scale : 1;
    a.late = early ? 1 : p->scale;
    return true;
}

struct Kernel {
    const void *run;
    size_t shared;
    uint32_t rows;
};

template <class T, int R, int K, int W> static Kernel fma_of_width(uint32_t d)
{
    using Part = Fma<T, R, K, W>;
    return { (const void *)fma_kernel<T, R, K, W>, Part::bytes(d), Part::ROWS };
}

template <int M, int W> static Kernel mma_of_width(bool bf)
{
    using Part = Mma<M, W, true>;
    return { bf ? (const void *)mma_kernel<M, W, true> : (const void *)mma_kernel<M, W, false>, Part::bytes(),
             Part::ROWS };
}

static Kernel kernel_for(tsr_dtype dtype, const AttentionArgs &a)
{
    const uint32_t both = a.d > a.e ? a.d : a.e;
    const bool bf = dtype == TSR_BF16;
    if (dtype == TSR_F64)
        return a.e <= 64 ? fma_of_width<double, 4, 2, 64>(a.d) : fma_of_width<double, 4, 2, 256>(a.d);
    if (dtype == TSR_F32)
        return a.e <= 64    ? fma_of_width<float, 8, 8, 64>(a.d)
               : a.e <= 128 ? fma_of_width<float, 8, 8, 128>(a.d)
                            : fma_of_width<float, 8, 4, 256>(a.d);
    const bool many = a.shared * a.m > 64; /* rows: two times 16 for a warp then */
    if (both <= 64) return many ? mma_of_width<2, 64>(bf) : mma_of_width<1, 64>(bf);
    if (both <= 128) return many ? mma_of_width<2, 128>(bf) : mma_of_width<1, 128>(bf);
    return mma_of_width<1, 256>(bf);
}

/* Blocks that the op takes, or 0 if they are too many. */
static int64_t blocks_of(const tsr_op *op, const AttentionArgs &a, uint32_t rows)
{
    int64_t blocks = int64_t(tsrc_blocks(uint64_t(a.shared) * a.m, rows)) * a.kv_heads;
    for (int i = 0; i < a.nd && blocks <= TSRC_LIMIT; i++) blocks *= op->in[0]->shape[i];
    return blocks <= TSRC_LIMIT ? blocks : 0;
}

/* Shared memory that a block can have on every device. */
static size_t least_shared()
{
    int least = 0, bytes = 0;
    for (int i = 0; i < device_total; i++)
        if (cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, i) == cudaSuccess)
            least = i == 0 || bytes < least ? bytes : least;
    return size_t(least);
}

bool has_attention(const tsr_op *op)
{
    static const size_t room = least_shared();
    AttentionArgs a;
    if (op->nin < 3 || !op->in[0] || !op->in[1] || !op->in[2] || !op->params) return false;
    if (!plan_attention(a, op)) return false;
    const Kernel k = kernel_for(op->in[0]->dtype, a);
    return numel(op->out[0]) == 0 || (k.shared <= room && blocks_of(op, a, k.rows) > 0);
}

tsr_status run_attention(const Work &w)
{
    AttentionArgs a;
    if (numel(w.op->out[0]) == 0) return TSR_OK;
    (void)plan_attention(a, w.op);
    const Kernel k = kernel_for(w.op->in[0]->dtype, a);
    a.tiles = tsrc_blocks(uint64_t(a.shared) * a.m, k.rows);
    TSRC_TRY(check(w.device, w.name(),
                   cudaFuncSetAttribute(k.run, cudaFuncAttributeMaxDynamicSharedMemorySize, int(k.shared))));
    return launch(w, k.run, uint32_t(blocks_of(w.op, a, k.rows)), THREADS, k.shared, a);
}

} // namespace tsrc
