/* attention_fma.cu - attention of f64: products are multiply-adds on tiles in shared memory. */
#include "attention.cuh"

namespace tsrc {

enum { LANES = 16 }; /* threads that share a row */

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
TSRC_FN void load_piece(const AttentionArgs &a, const Spot &s, T *to, uint32_t first, uint32_t step,
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
    const Spot s = find_spot(a, Part::ROWS, blockIdx.x);
    const uint32_t of_keys = max((a.d + Part::COLUMNS - 1) / Part::COLUMNS, 1u);
    Part part;
    stage_rows<T>(q, pitch, Part::ROWS, a, s, T(a.early));
    for (bool care = false;; care = true) {
        part.begin();
        if (s.keys > 0) load_piece<Part>(a, s, now, 0, 0, of_keys);
        for (uint32_t first = 0; first < s.keys; first += Part::KEYS) {
            const uint32_t have = min(s.keys - first, uint32_t(Part::KEYS));
            const uint32_t steps = of_keys + (have + Part::VALUES - 1) / Part::VALUES;
            part.clear_scores();
            for (uint32_t step = 0; step < steps; step++) {
                wait_ahead();
                __syncthreads();
                if (step + 1 < steps)
                    load_piece<Part>(a, s, next, first, step + 1, of_keys);
                else if (first + Part::KEYS < s.keys)
                    load_piece<Part>(a, s, next, first + Part::KEYS, 0, of_keys);
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

template <class T, int R, int K, int W> static AttentionKernel of_width(uint32_t d)
{
    using Part = Fma<T, R, K, W>;
    return { (const void *)fma_kernel<T, R, K, W>, Part::bytes(d), THREADS, Part::ROWS,
             nullptr, 0, 0 };
}

AttentionKernel fma_attention(const AttentionArgs &a)
{
    return a.e <= 64 ? of_width<double, 4, 2, 64>(a.d) : of_width<double, 4, 2, 256>(a.d);
}

} // namespace tsrc
