/* copy.cu - copies within one dtype, by the plans of plan_copy.c; and fill.
 *
 * Plain loads and stores, one vector a thread, are what the memory of recent GPUs likes best. */
#include "cuda.h"
#include "mix.h"
#include "nest.cuh"

namespace tsrc {

/* One run ------------------------------------------------------------------------------------ */

struct FlatArgs {
    char *dst;
    const char *src;
    uint64_t bytes;
};

template <class V>
__global__ void __launch_bounds__(TSRC_THREADS) flat_kernel(const __grid_constant__ FlatArgs p)
{
    const uint64_t i = uint64_t(blockIdx.x) * TSRC_THREADS + threadIdx.x, n = p.bytes / sizeof(V);
    if (i < n) {
        reinterpret_cast<V *>(p.dst)[i] = reinterpret_cast<const V *>(p.src)[i];
    } else if (i == n) {
        for (uint64_t b = n * sizeof(V); b < p.bytes; b++) p.dst[b] = p.src[b];
    }
}

/* Runs --------------------------------------------------------------------------------------- */

struct RunsArgs {
    char *dst;
    const char *src;
    tsrc_runs p;
};

template <class V>
__global__ void __launch_bounds__(TSRC_THREADS) rows_kernel(const __grid_constant__ RunsArgs a)
{
    constexpr uint32_t N = tsrc_words(sizeof(V));
    int64_t to[N];
    V v[N];
#pragma unroll
    for (uint32_t k = 0; k < N; k++) {
        const uint32_t i = (blockIdx.x * N + k) * TSRC_THREADS + threadIdx.x;
        if (i >= a.p.total) continue;
        const uint32_t row = divide(i, a.p.by_run), word = i - row * a.p.run;
        int64_t d = int64_t(word) * int64_t(sizeof(V)), s = d;
        find_place(a.p.outer, row, d, s);
        to[k] = d;
        v[k] = *reinterpret_cast<const V *>(a.src + s);
    }
#pragma unroll
    for (uint32_t k = 0; k < N; k++)
        if ((blockIdx.x * N + k) * TSRC_THREADS + threadIdx.x < a.p.total)
            *reinterpret_cast<V *>(a.dst + to[k]) = v[k];
}

/* A block does a tile of tile[1] rows of tile[0] runs. */
template <class V>
__global__ void __launch_bounds__(TSRC_THREADS) runs_kernel(const __grid_constant__ RunsArgs a)
{
    constexpr uint32_t N = tsrc_words(sizeof(V));
    const tsrc_runs &p = a.p;
    uint32_t id = blockIdx.x;
    const uint32_t t0 = id % p.tiles[0] * p.tile[0];
    id /= p.tiles[0];
    const uint32_t t1 = id % p.tiles[1] * p.tile[1];
    id /= p.tiles[1];
    int64_t to = 0, from = 0, at[N];
    find_place(p.outer, id, to, from);
    V v[N];
#pragma unroll
    for (uint32_t k = 0; k < N; k++) {
        const uint32_t i = k * TSRC_THREADS + threadIdx.x;
        const uint32_t row = divide(i, p.by_tile), in_row = i - row * p.by_tile.d;
        const uint32_t run = divide(in_row, p.by_run);
        const int64_t word = int64_t(in_row - run * p.run) * int64_t(sizeof(V));
        at[k] = -1;
        if (row >= p.tile[1] || t0 + run >= p.size[0] || t1 + row >= p.size[1]) continue;
        at[k] = word + (t0 + run) * p.step[0][0] + (t1 + row) * p.step[1][0];
        v[k] = *reinterpret_cast<const V *>(a.src + from + word + (t0 + run) * p.step[0][1] +
                                            (t1 + row) * p.step[1][1]);
    }
#pragma unroll
    for (uint32_t k = 0; k < N; k++)
        if (at[k] >= 0) *reinterpret_cast<V *>(a.dst + to + at[k]) = v[k];
}

/* Transposes of long dims ----------------------------------------------------------------------- */

struct WideArgs {
    char *dst;
    const char *src;
    tsrc_wide p;
};

/* Where a block's tile begins; T elements of S along each side. */
template <class S, int T> struct WidePlace {
    int64_t a0, b0;
    S *d;
    const S *s;
    bool whole;
    TSRC_FN WidePlace(const WideArgs &args)
    {
        const tsrc_wide &p = args.p;
        uint32_t id = blockIdx.x;
        a0 = int64_t(id % p.tiles_a) * T;
        id /= p.tiles_a;
        b0 = int64_t(id % p.tiles_b) * T;
        id /= p.tiles_b;
        int64_t to = a0 * p.dst_a + b0 * int64_t(sizeof(S)), from = a0 * int64_t(sizeof(S)) + b0 * p.src_b;
        find_place(p.outer, id, to, from);
        d = reinterpret_cast<S *>(args.dst + to);
        s = reinterpret_cast<const S *>(args.src + from);
        whole = a0 + T <= p.na && b0 + T <= p.nb;
    }
};

/* A tile at the edge: element by element, rows of T + 1 in shared memory. */
template <class S, int T> TSRC_FN void transpose_edge(const WidePlace<S, T> &w, const tsrc_wide &p, S *tile)
{
    const int64_t sb = p.src_b / int64_t(sizeof(S)), da = p.dst_a / int64_t(sizeof(S));
    for (int e = threadIdx.x; e < T * T; e += TSRC_THREADS) {
        const int b = e / T, a = e % T;
        if (w.a0 + a < p.na && w.b0 + b < p.nb) tile[b * (T + 1) + a] = w.s[b * sb + a];
    }
    __syncthreads();
    for (int e = threadIdx.x; e < T * T; e += TSRC_THREADS) {
        const int a = e / T, b = e % T;
        if (w.a0 + a < p.na && w.b0 + b < p.nb) w.d[a * da + b] = tile[b * (T + 1) + a];
    }
}

__global__ void __launch_bounds__(TSRC_THREADS) wide4_kernel(const __grid_constant__ WideArgs args)
{
    enum { T = 64, L = T / 4, ROWS = TSRC_THREADS / L };
    __shared__ float tile[T][T + 1];
    const WidePlace<float, T> w(args);
    const int64_t sb = args.p.src_b / 4, da = args.p.dst_a / 4;
    if (!w.whole) {
        transpose_edge(w, args.p, &tile[0][0]);
        return;
    }
    const int x = threadIdx.x % L, y = threadIdx.x / L;
    float4 v[T / ROWS];
#pragma unroll
    for (int k = 0; k < T / ROWS; k++)
        v[k] = __ldcs(reinterpret_cast<const float4 *>(w.s + (y + k * ROWS) * sb + 4 * x));
#pragma unroll
    for (int k = 0; k < T / ROWS; k++) {
        float *row = tile[y + k * ROWS] + 4 * x;
        row[0] = v[k].x;
        row[1] = v[k].y;
        row[2] = v[k].z;
        row[3] = v[k].w;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < T / ROWS; k++) {
        const int a = y + k * ROWS;
        const float4 o =
            make_float4(tile[4 * x][a], tile[4 * x + 1][a], tile[4 * x + 2][a], tile[4 * x + 3][a]);
        __stcs(reinterpret_cast<float4 *>(w.d + a * da + 4 * x), o);
    }
}

/* Blocks of 2 x 2 are transposed in registers; a word of shared memory is a pair along b. */
__global__ void __launch_bounds__(TSRC_THREADS) wide2_kernel(const __grid_constant__ WideArgs args)
{
    enum { T = 64 };
    __shared__ uint32_t tile[T][T / 2 + 1];
    const WidePlace<uint16_t, T> w(args);
    const int64_t sb = args.p.src_b / 2, da = args.p.dst_a / 2;
    if (!w.whole) {
        transpose_edge(w, args.p, reinterpret_cast<uint16_t *>(&tile[0][0]));
        return;
    }
    const int x = threadIdx.x % 32, y = threadIdx.x / 32;
    uint32_t v[4][2];
#pragma unroll
    for (int k = 0; k < 4; k++)
#pragma unroll
        for (int r = 0; r < 2; r++)
            v[k][r] = __ldcs(reinterpret_cast<const uint32_t *>(w.s + (2 * (y + 8 * k) + r) * sb + 2 * x));
#pragma unroll
    for (int k = 0; k < 4; k++) {
        tile[2 * x][y + 8 * k] = __byte_perm(v[k][0], v[k][1], 0x5410);
        tile[2 * x + 1][y + 8 * k] = __byte_perm(v[k][0], v[k][1], 0x7632);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; k++) {
        const int a = y + 8 * k;
        __stcs(reinterpret_cast<uint32_t *>(w.d + a * da + 2 * x), tile[a][x]);
    }
}

/* Blocks of 4 x 4 likewise. */
__global__ void __launch_bounds__(TSRC_THREADS) wide1_kernel(const __grid_constant__ WideArgs args)
{
    enum { T = 128 };
    __shared__ uint32_t tile[T][T / 4 + 1];
    const WidePlace<uint8_t, T> w(args);
    const int64_t sb = args.p.src_b, da = args.p.dst_a;
    if (!w.whole) {
        transpose_edge(w, args.p, reinterpret_cast<uint8_t *>(&tile[0][0]));
        return;
    }
    const int x = threadIdx.x % 32, y = threadIdx.x / 32;
    uint32_t v[4][4];
#pragma unroll
    for (int k = 0; k < 4; k++)
#pragma unroll
        for (int r = 0; r < 4; r++)
            v[k][r] = __ldcs(reinterpret_cast<const uint32_t *>(w.s + (4 * (y + 8 * k) + r) * sb + 4 * x));
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const uint32_t t0 = __byte_perm(v[k][0], v[k][1], 0x5140), t1 = __byte_perm(v[k][2], v[k][3], 0x5140);
        const uint32_t t2 = __byte_perm(v[k][0], v[k][1], 0x7362), t3 = __byte_perm(v[k][2], v[k][3], 0x7362);
        const int word = y + 8 * k;
        tile[4 * x][word] = __byte_perm(t0, t1, 0x5410);
        tile[4 * x + 1][word] = __byte_perm(t0, t1, 0x7632);
        tile[4 * x + 2][word] = __byte_perm(t2, t3, 0x5410);
        tile[4 * x + 3][word] = __byte_perm(t2, t3, 0x7632);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; k++) {
        const int a = y + 8 * k;
        __stcs(reinterpret_cast<uint32_t *>(w.d + a * da + 4 * x), tile[a][x]);
    }
}

/* Any permutation -------------------------------------------------------------------------------- */

struct TileArgs {
    char *dst;
    const char *src;
    tsrc_tile p;
};

/* Offsets of all indices of a side, on the other operand. */
TSRC_FN void list_offsets(int64_t *out, const tsrc_side &s, uint32_t n)
{
    for (uint32_t i = threadIdx.x; i < n; i += TSRC_THREADS) {
        uint32_t at = i;
        int64_t o = 0;
#pragma unroll 1
        for (int k = 0; k < s.nd; k++) {
            const uint32_t q = k + 1 < s.nd ? divide(at, s.n[k]) : 0, r = at - q * s.n[k].d;
            o += int64_t(r) * s.step[k];
            at = q;
        }
        out[i] = o;
    }
}

/* Elements of a side in chunk c. */
TSRC_FN uint32_t side_count(const tsrc_side &s, uint32_t c)
{
    return s.count / s.chunk * min(s.chunk, s.rest - c * s.chunk);
}

template <class S>
__global__ void __launch_bounds__(TSRC_THREADS) tile_kernel(const __grid_constant__ TileArgs args)
{
    extern __shared__ __align__(16) unsigned char raw[];
    const tsrc_tile &p = args.p;
    S *tile = reinterpret_cast<S *>(raw);
    int64_t *at_a =
        reinterpret_cast<int64_t *>(raw + (size_t(p.pitch) * p.b.count * sizeof(S) + 15) / 16 * 16);
    int64_t *at_b = at_a + p.a.count;
    uint32_t id = blockIdx.x;
    const uint32_t ca = id % p.a.chunks;
    id /= p.a.chunks;
    const uint32_t cb = id % p.b.chunks;
    id /= p.b.chunks;
    int64_t d = ca * p.a.to_next[0] + cb * p.b.to_next[0], s = ca * p.a.to_next[1] + cb * p.b.to_next[1];
    find_place(p.outer, id, d, s);
    const uint32_t na = side_count(p.a, ca), nb = side_count(p.b, cb), total = na * nb;
    list_offsets(at_a, p.a, na);
    list_offsets(at_b, p.b, nb);
    __syncthreads();
    const char *src = args.src + s;
    char *dst = args.dst + d;
    if (na == p.a.count && nb == p.b.count) {
#pragma unroll 4
        for (uint32_t e = threadIdx.x; e < total; e += TSRC_THREADS) {
            const uint32_t b = divide(e, p.a.by_count), a = e - b * na;
            tile[b * p.pitch + a] = reinterpret_cast<const S *>(src + at_b[b])[a];
        }
        __syncthreads();
#pragma unroll 4
        for (uint32_t e = threadIdx.x; e < total; e += TSRC_THREADS) {
            const uint32_t a = divide(e, p.b.by_count), b = e - a * nb;
            reinterpret_cast<S *>(dst + at_a[a])[b] = tile[b * p.pitch + a];
        }
        return;
    }
    for (uint32_t e = threadIdx.x; e < total; e += TSRC_THREADS) {
        const uint32_t b = e / na, a = e - b * na;
        tile[b * p.pitch + a] = reinterpret_cast<const S *>(src + at_b[b])[a];
    }
    __syncthreads();
    for (uint32_t e = threadIdx.x; e < total; e += TSRC_THREADS) {
        const uint32_t a = e / nb, b = e - a * nb;
        reinterpret_cast<S *>(dst + at_a[a])[b] = tile[b * p.pitch + a];
    }
}

/* Element by element: four a thread, a block apart. */
template <class S>
__global__ void __launch_bounds__(TSRC_THREADS) each_kernel(const __grid_constant__ tsrc_nest p)
{
    enum { AHEAD = 4 };
    const uint32_t first = blockIdx.x * (TSRC_THREADS * AHEAD) + threadIdx.x;
    S v[AHEAD];
    int64_t to[AHEAD];
#pragma unroll
    for (int k = 0; k < AHEAD; k++) {
        const uint32_t e = first + k * TSRC_THREADS;
        if (e >= p.total) continue;
        int64_t at[2];
        find_group(p, e, at);
        v[k] = *reinterpret_cast<const S *>(p.data[1] + at[1]);
        to[k] = at[0];
    }
#pragma unroll
    for (int k = 0; k < AHEAD; k++)
        if (first + k * TSRC_THREADS < p.total) *reinterpret_cast<S *>(p.data[0] + to[k]) = v[k];
}

/* Host -------------------------------------------------------------------------------------------- */

#define BY_SIZE(kernel) \
    { \
        (const void *)kernel<uint8_t>, (const void *)kernel<uint16_t>, (const void *)kernel<uint32_t>, \
            (const void *)kernel<uint2>, (const void *)kernel<uint4> \
    }

static const void *const flats[] = BY_SIZE(flat_kernel);
static const void *const rows[] = BY_SIZE(rows_kernel);
static const void *const runs[] = BY_SIZE(runs_kernel);
static const void *const tiles[] = BY_SIZE(tile_kernel);
static const void *const eaches[] = BY_SIZE(each_kernel);
static const void *const wides[] = { (const void *)wide1_kernel, (const void *)wide2_kernel,
                                     (const void *)wide4_kernel };

static int log2_of(int width)
{
    int n = 0;
    while (1 << n < width) n++;
    return n;
}

static tsr_status queue_copy(const Work &w, const tsrc_copy &c)
{
    const int n = log2_of(c.width);
    switch (c.kind) {
    case TSRC_COPY_FLAT:
        return launch(w, flats[n], c.blocks, TSRC_THREADS, 0, FlatArgs{ c.dst, c.src, c.bytes });
    case TSRC_COPY_ROWS:
        return launch(w, rows[n], tsrc_blocks(c.as.runs.total, TSRC_THREADS * tsrc_words(c.width)),
                      TSRC_THREADS, 0, RunsArgs{ c.dst, c.src, c.as.runs });
    case TSRC_COPY_RUNS:
        return launch(w, runs[n], c.blocks, TSRC_THREADS, 0, RunsArgs{ c.dst, c.src, c.as.runs });
    case TSRC_COPY_WIDE:
        return launch(w, wides[n], c.blocks, TSRC_THREADS, 0, WideArgs{ c.dst, c.src, c.as.wide });
    case TSRC_COPY_TILE:
        return launch(w, tiles[n], c.blocks, TSRC_THREADS, c.shared, TileArgs{ c.dst, c.src, c.as.tile });
    case TSRC_COPY_EACH: return launch(w, eaches[n], c.blocks, TSRC_THREADS, 0, c.as.nest);
    default: return TSR_OK;
    }
}

struct CopyJob {
    const Work *w;
    int size;
    bool halves; /* an element of the loop is two of `size` */
};

/* Elements that are aligned as their parts are seen as two parts each. */
static void halve(tsr_loop *l, int size)
{
    l->n[l->ndim] = 2;
    l->step[l->ndim][0] = l->step[l->ndim][1] = size;
    l->ndim++;
}

static int copy_part(const tsr_loop *part, void *context)
{
    const CopyJob *j = static_cast<const CopyJob *>(context);
    tsr_loop l = *part;
    tsrc_copy c;
    tsrc_mix m;
    if (j->halves) halve(&l, j->size);
    if (tsrc_mix_of(&m, &l, j->size)) return queue_mix(*j->w, m);
    tsrc_copy_of(&c, &l, j->size);
    return queue_copy(*j->w, c);
}

/* dst = src of one dtype. */
tsr_status copy_same(const Work &w, const tsr_tensor *dst, const tsr_tensor *src)
{
    tsr_loop l;
    const int size = tsrc_size(dst->dtype);
    const tsr_tensor *const both[] = { dst, src };
    host->normalise(&l, 2, both);
    if (dst->data == src->data && l.ndim > 0 && l.step[l.ndim - 1][0] == l.step[l.ndim - 1][1]) {
        bool same = true;
        for (int d = 0; d < l.ndim; d++) same = same && l.step[d][0] == l.step[d][1];
        if (same) return TSR_OK;
    }
    if (kind_of(dst->dtype) == TSR_COMPLEX && (!is_aligned(&l, 0, size) || !is_aligned(&l, 1, size))) {
        CopyJob job = { &w, size / 2, true };
        return static_cast<tsr_status>(tsrc_split(&l, TSRC_DIMS - 1, TSRC_LIMIT / 2, copy_part, &job));
    }
    if (l.ndim == 1 && l.step[0][0] == size && l.step[0][1] == size) { /* any length */
        tsrc_copy c;
        tsrc_copy_of(&c, &l, size);
        return queue_copy(w, c);
    }
    CopyJob job = { &w, size, false };
    return static_cast<tsr_status>(tsrc_split(&l, TSRC_DIMS, TSRC_LIMIT, copy_part, &job));
}

} // namespace tsrc
