/* scan.cu - sums, products and maxima so far, along one axis.
 *
 * If the axis has the smallest stride, a block scans a lane in tiles with all its threads, in registers if
 * elements can be loaded as vectors; otherwise each thread scans a lane, and adjacent threads adjacent lanes.
 * If there are few long lanes they are cut into chunks: first the total of each chunk is computed, then the
 * sum of those before it, and then the chunks are scanned. */
#include <cstring>

#include "convert.cuh"
#include "cuda.h"
#include "nest.cuh"

namespace tsrc {

struct ScanWords {
    double w[4];
};

struct ScanArgs {
    tsrc_place lanes; /* steps of z, x */
    char *z;
    const char *x;
    uint32_t count; /* lanes */
    uint32_t chunks;
    int64_t n, chunk; /* elements of a lane, of a chunk */
    int64_t step_z, step_x;
    int from, to;
    int totals;       /* only the chunks' totals, into carry */
    ScanWords *carry; /* of chunk c of lane l at c * count + l; NULL: none */
};

/* How elements are scanned: State, begin, load (an element as a state), join (a then b), store. ---------- */

/* Floats are added up with the errors carried along. */
struct RealSum {
    struct State {
        double sum, lost;
    };
    static TSRC_FN State begin(const ScanArgs &) { return { 0, 0 }; }
    static TSRC_FN State load(const ScanArgs &a, const char *p) { return { load_real(a.from, p), 0 }; }
    static TSRC_FN State join(const ScanArgs &, const State &a, const State &b)
    {
        const double now = a.sum + b.sum, part = now - a.sum;
        return { now, a.lost + b.lost + ((a.sum - (now - part)) + (b.sum - part)) };
    }
    static TSRC_FN double value(const State &s) { return s.sum - s.sum == 0 ? s.sum + s.lost : s.sum; }
    static TSRC_FN void store(const ScanArgs &a, char *p, const State &s) { store_float(a.to, p, value(s)); }
};

struct RealProduct {
    using State = double;
    static TSRC_FN State begin(const ScanArgs &) { return 1; }
    static TSRC_FN State load(const ScanArgs &a, const char *p) { return load_real(a.from, p); }
    static TSRC_FN State join(const ScanArgs &, State a, State b) { return a * b; }
    static TSRC_FN void store(const ScanArgs &a, char *p, State s) { store_float(a.to, p, s); }
};

struct RealLargest {
    using State = double;
    static TSRC_FN State begin(const ScanArgs &) { return -INFINITY; }
    static TSRC_FN State load(const ScanArgs &a, const char *p) { return load_real(a.from, p); }
    static TSRC_FN State join(const ScanArgs &, State a, State b)
    {
        return a == a && (b > a || b != b) ? b : a;
    }
    static TSRC_FN void store(const ScanArgs &a, char *p, State s) { store_float(a.to, p, s); }
};

/* Integers as they are; 0 stands before products that are not there. */
template <bool PRODUCT> struct IntegerScan {
    using State = uint64_t;
    static TSRC_FN State begin(const ScanArgs &) { return PRODUCT ? 1 : 0; }
    static TSRC_FN State load(const ScanArgs &a, const char *p) { return uint64_t(load_integer(a.from, p)); }
    static TSRC_FN State join(const ScanArgs &, State a, State b) { return PRODUCT ? a * b : a + b; }
    static TSRC_FN void store(const ScanArgs &, char *p, State s) { *reinterpret_cast<uint64_t *>(p) = s; }
};

struct IntegerLargest {
    using State = int64_t;
    static TSRC_FN int64_t sign_bit(const ScanArgs &a) { return a.from == TSR_U64 ? INT64_MIN : 0; }
    static TSRC_FN State begin(const ScanArgs &) { return INT64_MIN; }
    static TSRC_FN State load(const ScanArgs &a, const char *p)
    { return load_integer(a.from, p) ^ sign_bit(a); }
    static TSRC_FN State join(const ScanArgs &, State a, State b) { return b > a ? b : a; }
    static TSRC_FN void store(const ScanArgs &a, char *p, State s)
    { store_integer(a.to, p, s ^ sign_bit(a)); }
};

TSRC_FN Complex load_complex(int dtype, const char *p)
{
    if (dtype == TSR_C64) return SC64::load(*reinterpret_cast<const tsr_c64 *>(p), 0);
    return SC128::load(*reinterpret_cast<const tsr_c128 *>(p), 0);
}

struct ComplexSum {
    struct State {
        RealSum::State re, im;
    };
    static TSRC_FN State begin(const ScanArgs &) { return { { 0, 0 }, { 0, 0 } }; }
    static TSRC_FN State load(const ScanArgs &a, const char *p)
    {
        const Complex v = load_complex(a.from, p);
        return { { v.re, 0 }, { v.im, 0 } };
    }
    static TSRC_FN State join(const ScanArgs &a, const State &x, const State &y)
    {
        return { RealSum::join(a, x.re, y.re), RealSum::join(a, x.im, y.im) };
    }
    static TSRC_FN void store(const ScanArgs &a, char *p, const State &s)
    {
        store_complex(a.to, p, RealSum::value(s.re), RealSum::value(s.im));
    }
};

struct ComplexProduct {
    using State = Complex;
    static TSRC_FN State begin(const ScanArgs &) { return { 1, 0 }; }
    static TSRC_FN State load(const ScanArgs &a, const char *p) { return load_complex(a.from, p); }
    static TSRC_FN State join(const ScanArgs &, const State &a, const State &b)
    {
        return { a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re };
    }
    static TSRC_FN void store(const ScanArgs &a, char *p, const State &s)
    {
        store_complex(a.to, p, s.re, s.im);
    }
};

/* Kernels ------------------------------------------------------------------------------------------------ */

/* What comes before a chunk. */
template <class K> TSRC_FN typename K::State carried(const ScanArgs &a, uint32_t lane, uint32_t chunk)
{
    if (!a.carry || a.totals) return K::begin(a);
    return *reinterpret_cast<const typename K::State *>(a.carry + uint64_t(chunk) * a.count + lane);
}

template <class K>
TSRC_FN void leave(const ScanArgs &a, uint32_t lane, uint32_t chunk, const typename K::State &s)
{
    *reinterpret_cast<typename K::State *>(a.carry + uint64_t(chunk) * a.count + lane) = s;
}

/* A thread for each lane and chunk. */
template <class K>
__global__ void __launch_bounds__(TSRC_THREADS) beside_kernel(const __grid_constant__ ScanArgs a)
{
    const uint32_t i = blockIdx.x * TSRC_THREADS + threadIdx.x;
    const uint32_t chunk = i / a.count, lane = i - chunk * a.count;
    if (chunk >= a.chunks) return;
    int64_t z = 0, x = 0;
    find_place(a.lanes, lane, z, x);
    const int64_t first = chunk * a.chunk, end = min(first + a.chunk, a.n);
    typename K::State s = carried<K>(a, lane, chunk);
    for (int64_t e = first; e < end; e++) {
        s = K::join(a, s, K::load(a, a.x + x + e * a.step_x));
        if (!a.totals) K::store(a, a.z + z + e * a.step_z, s);
    }
    if (a.totals) leave<K>(a, lane, chunk, s);
}

/* The threads of a block join what they have with what those before them have; total is of all. */
template <class K>
TSRC_FN typename K::State scan_block(const ScanArgs &a, typename K::State s, typename K::State *shared,
                                     typename K::State &total)
{
    shared[threadIdx.x] = s;
    __syncthreads();
    for (uint32_t reach = 1; reach < TSRC_THREADS; reach *= 2) {
        if (threadIdx.x >= reach) s = K::join(a, shared[threadIdx.x - reach], s);
        __syncthreads();
        shared[threadIdx.x] = s;
        __syncthreads();
    }
    total = shared[TSRC_THREADS - 1];
    const typename K::State before = threadIdx.x > 0 ? shared[threadIdx.x - 1] : K::begin(a);
    __syncthreads();
    return before;
}

/* A block for each lane and chunk: tiles of a few elements a thread. A tile is read before it is written,
 * so that z may be x. */
template <class K>
__global__ void __launch_bounds__(TSRC_THREADS) along_kernel(const __grid_constant__ ScanArgs a)
{
    enum { EACH = 4 };
    __shared__ typename K::State shared[TSRC_THREADS];
    __shared__ typename K::State tile[TSRC_THREADS * EACH];
    const uint32_t chunk = blockIdx.x / a.count, lane = blockIdx.x - chunk * a.count;
    int64_t z = 0, x = 0;
    find_place(a.lanes, lane, z, x);
    const int64_t first = chunk * a.chunk, end = min(first + a.chunk, a.n);
    typename K::State carry = carried<K>(a, lane, chunk);
    for (int64_t from = first; from < end; from += TSRC_THREADS * EACH) {
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            const int64_t e = from + k * TSRC_THREADS + threadIdx.x;
            tile[k * TSRC_THREADS + threadIdx.x] = e < end ? K::load(a, a.x + x + e * a.step_x) : K::begin(a);
        }
        __syncthreads();
        typename K::State own[EACH], total;
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            own[k] = tile[threadIdx.x * EACH + k];
            if (k > 0) own[k] = K::join(a, own[k - 1], own[k]);
        }
        const typename K::State before = K::join(a, carry, scan_block<K>(a, own[EACH - 1], shared, total));
#pragma unroll
        for (int k = 0; k < EACH; k++) tile[threadIdx.x * EACH + k] = K::join(a, before, own[k]);
        carry = K::join(a, carry, total);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < EACH && !a.totals; k++) {
            const int64_t e = from + k * TSRC_THREADS + threadIdx.x;
            if (e < end) K::store(a, a.z + z + e * a.step_z, tile[k * TSRC_THREADS + threadIdx.x]);
        }
        __syncthreads();
    }
    if (a.totals && threadIdx.x == 0) leave<K>(a, lane, chunk, carry);
}

/* Sums of floats that f64 holds with digits to spare, of lanes of unit stride that are aligned. */
template <class Storage> struct PlainSum {
    using S = Storage;
    using State = double;
    static TSRC_FN State begin(const ScanArgs &) { return 0; }
    static TSRC_FN State join(const ScanArgs &, State a, State b) { return a + b; }
};

/* A thread for each lane and chunk, as above: a few elements are on their way at once. A thread reads them
 * before it writes them, so that z may be x. */
template <class K>
__global__ void __launch_bounds__(TSRC_THREADS) fall_kernel(const __grid_constant__ ScanArgs a)
{
    using S = typename K::S;
    using Bits = typename S::Bits;
    enum { AHEAD = 16 };
    const uint32_t i = blockIdx.x * TSRC_THREADS + threadIdx.x;
    const uint32_t chunk = i / a.count, lane = i - chunk * a.count;
    if (chunk >= a.chunks) return;
    int64_t z = 0, x = 0;
    find_place(a.lanes, lane, z, x);
    const int64_t first = chunk * a.chunk, end = min(first + a.chunk, a.n);
    const char *from = a.x + x + first * a.step_x;
    char *to = a.z + z + first * a.step_z;
    double s = carried<K>(a, lane, chunk);
    for (int64_t e = first; e < end; e += AHEAD, from += AHEAD * a.step_x, to += AHEAD * a.step_z) {
        Bits v[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; k++)
            if (e + k < end) v[k] = *reinterpret_cast<const Bits *>(from + k * a.step_x);
#pragma unroll
        for (int k = 0; k < AHEAD; k++) {
            if (e + k >= end) continue;
            s += double(S::load(v[k], 0));
            if (a.totals) continue;
            *reinterpret_cast<Bits *>(to + k * a.step_z) =
                S::store(sizeof(Bits) == 4 ? float(s) : odd_f32(s), 0);
        }
    }
    if (a.totals) leave<K>(a, lane, chunk, s);
}

/* What the threads of a warp before this one came to. */
TSRC_FN double scan_warp(double own, double &all)
{
    const uint32_t lane = threadIdx.x % 32;
    double so_far = own;
#pragma unroll
    for (int o = 1; o < 32; o *= 2) {
        const double before = __shfl_up_sync(~0u, so_far, o);
        if (lane >= uint32_t(o)) so_far = before + so_far;
    }
    all = __shfl_sync(~0u, so_far, 31);
    const double before = __shfl_up_sync(~0u, so_far, 1);
    return lane == 0 ? 0 : before;
}

/* A block for each lane and chunk, a vector a thread; the next tile is on its way while one is scanned.
 * Warps' totals change places, so that one barrier a tile is enough. */
template <class K>
__global__ void __launch_bounds__(TSRC_THREADS) run_kernel(const __grid_constant__ ScanArgs a)
{
    using S = typename K::S;
    using Bits = typename S::Bits;
    enum { V = 16 / sizeof(Bits), TILE = TSRC_THREADS * V, WARPS = TSRC_THREADS / 32 };
    using Vector = Vec<Bits, V>;
    __shared__ double totals[2][WARPS];
    const uint32_t chunk = blockIdx.x / a.count, lane = blockIdx.x - chunk * a.count, warp = threadIdx.x / 32;
    int64_t z = 0, x = 0;
    find_place(a.lanes, lane, z, x);
    const int64_t first = chunk * a.chunk, end = min(first + a.chunk, a.n);
    double carry = carried<K>(a, lane, chunk);
    int64_t at = first + threadIdx.x * V;
    Vector next = {};
    if (at < end) next = *reinterpret_cast<const Vector *>(a.x + x + at * int64_t(sizeof(Bits)));
    int half = 0;
    for (int64_t from = first; from < end; from += TILE, at += TILE, half ^= 1) {
        const Vector now = next;
        if (at + TILE < end)
            next = *reinterpret_cast<const Vector *>(a.x + x + (at + TILE) * int64_t(sizeof(Bits)));
        double own[V], all;
#pragma unroll
        for (int k = 0; k < V; k++) {
            const double e = at < end ? double(S::load(now.e[k], 0)) : 0.0;
            own[k] = k > 0 ? own[k - 1] + e : e;
        }
        const double in_warp = scan_warp(own[V - 1], all);
        if (threadIdx.x % 32 == 0) totals[half][warp] = all;
        __syncthreads();
        double before = carry;
#pragma unroll
        for (uint32_t w = 0; w < WARPS; w++) {
            if (w == warp) before = carry;
            carry += totals[half][w];
        }
        before += in_warp;
        if (a.totals || at >= end) continue;
        float out[V];
#pragma unroll
        for (int k = 0; k < V; k++)
            out[k] = sizeof(Bits) == 4 ? float(before + own[k]) : odd_f32(before + own[k]);
        *reinterpret_cast<Vector *>(a.z + z + at * int64_t(sizeof(Bits))) = Packing<S>::pack(out, 0);
    }
    if (a.totals && threadIdx.x == 0) leave<K>(a, lane, chunk, carry);
}

/* Totals of chunks become what comes before them: a thread for each lane. */
template <class K>
__global__ void __launch_bounds__(TSRC_THREADS) carry_kernel(const __grid_constant__ ScanArgs a)
{
    const uint32_t lane = blockIdx.x * TSRC_THREADS + threadIdx.x;
    if (lane >= a.count) return;
    typename K::State s = K::begin(a);
    for (uint32_t c = 0; c < a.chunks; c++) {
        typename K::State *at = reinterpret_cast<typename K::State *>(a.carry + uint64_t(c) * a.count + lane);
        const typename K::State total = *at;
        *at = s;
        s = K::join(a, s, total);
    }
}

/* Host -------------------------------------------------------------------------------------------------- */

struct Scanner {
    const void *along, *beside, *carry;
};

template <class K> static Scanner scanner_of()
{
    return { (const void *)along_kernel<K>, (const void *)beside_kernel<K>, (const void *)carry_kernel<K> };
}

static Scanner find_scanner(const tsr_op *op)
{
    const tsr_dtype dtype = op->in[0]->dtype;
    const tsr_kind kind = kind_of(dtype);
    if (dtype == TSR_C32) return { nullptr, nullptr, nullptr };
    switch (op->kind) {
    case TSR_OP_CUMSUM:
        if (kind == TSR_FLOATING) return scanner_of<RealSum>();
        return kind == TSR_COMPLEX ? scanner_of<ComplexSum>() : scanner_of<IntegerScan<false>>();
    case TSR_OP_CUMPROD:
        if (kind == TSR_FLOATING) return scanner_of<RealProduct>();
        return kind == TSR_COMPLEX ? scanner_of<ComplexProduct>() : scanner_of<IntegerScan<true>>();
    default:
        if (kind == TSR_FLOATING) return scanner_of<RealLargest>();
        return kind == TSR_COMPLEX ? Scanner{ nullptr, nullptr, nullptr } : scanner_of<IntegerLargest>();
    }
}

template <class S> static Scanner runner_of()
{
    using K = PlainSum<S>;
    return { (const void *)run_kernel<K>, (const void *)fall_kernel<K>, (const void *)carry_kernel<K> };
}

/* Kernels for sums of floats: beside each other of any strides, along lanes of unit stride that are aligned.
 * NULL: there are none. */
static Scanner find_runner(const tsr_op *op, const ScanArgs &a, bool along)
{
    const tsr_dtype dtype = op->in[0]->dtype;
    const int64_t size = tsrc_size(dtype);
    uint64_t bits = uint64_t(a.n * size);
    for (const char *p : { a.x, static_cast<const char *>(a.z) }) bits |= reinterpret_cast<uintptr_t>(p);
    for (int i = 0; i < a.lanes.nd; i++) bits |= uint64_t(a.lanes.step[i][0] | a.lanes.step[i][1]);
    const bool runs = a.step_x == size && a.step_z == size && a.to == a.from && bits % 16 == 0;
    if (op->kind == TSR_OP_CUMSUM && (runs || (!along && a.to == a.from))) {
        if (dtype == TSR_F32) return runner_of<SF32>();
        if (dtype == TSR_F16) return runner_of<Quick16<false>>();
        if (dtype == TSR_BF16) return runner_of<Quick16<true>>();
    }
    return { nullptr, nullptr, nullptr };
}

bool has_scan(const tsr_op *op) { return op->nin > 0 && op->in[0] && op->params && find_scanner(op).along; }

enum { TILE = TSRC_THREADS * 4, MOST_CHUNKS = 1024, BUSY = 256 << 10 };

/* Chunks of a lane: enough threads to be busy, no chunk below a few tiles. */
static void cut(ScanArgs &a, bool along)
{
    const int64_t threads = along ? int64_t(a.count) * TSRC_THREADS : a.count, least = along ? 4 * TILE : 64;
    int64_t chunks = threads < BUSY ? BUSY / threads : 1;
    if (chunks > a.n / least) chunks = a.n / least;
    if (chunks > MOST_CHUNKS) chunks = MOST_CHUNKS;
    if (chunks < 1) chunks = 1;
    a.chunk = (a.n + chunks - 1) / chunks;
    if (along) a.chunk = (a.chunk + TILE - 1) / TILE * TILE;
    a.chunks = a.n ? uint32_t((a.n + a.chunk - 1) / a.chunk) : 0;
}

static tsr_status queue_scan(const Work &w, const Scanner &k, ScanArgs &a, bool along)
{
    Scratch carry(w);
    const void *kernel = along ? k.along : k.beside;
    const uint32_t blocks =
        along ? a.count * a.chunks : tsrc_blocks(uint64_t(a.count) * a.chunks, TSRC_THREADS);
    a.totals = 0;
    a.carry = nullptr;
    if (a.chunks > 1) {
        TSRC_TRY(carry.take(size_t(a.count) * a.chunks * sizeof(ScanWords)));
        a.carry = carry.as<ScanWords>();
        a.totals = 1;
        TSRC_TRY(launch(w, kernel, blocks, TSRC_THREADS, 0, a));
        TSRC_TRY(launch(w, k.carry, tsrc_blocks(a.count, TSRC_THREADS), TSRC_THREADS, 0, a));
        a.totals = 0;
    }
    return launch(w, kernel, blocks, TSRC_THREADS, 0, a);
}

struct ScanJob {
    const Work *w;
    Scanner kernels;
    ScanArgs args;
};

static int64_t magnitude(int64_t v) { return v < 0 ? -v : v; }

static int scan_part(const tsr_loop *part, void *context)
{
    ScanJob *j = static_cast<ScanJob *>(context);
    ScanArgs &a = j->args;
    tsrc_place_of(&a.lanes, part, 0);
    a.z = static_cast<char *>(part->data[0]);
    a.x = static_cast<const char *>(part->data[1]);
    a.count = a.lanes.count;
    bool along = true;
    for (int d = 0; d < part->ndim; d++)
        if (part->n[d] > 8 && magnitude(part->step[d][1]) < magnitude(a.step_x)) along = false;
    if (a.n < 32) along = false;
    cut(a, along);
    const Scanner runner = find_runner(j->w->op, a, along);
    return queue_scan(*j->w, runner.along ? runner : j->kernels, a, along);
}

tsr_status run_scan(const Work &w)
{
    const tsr_op *op = w.op;
    const uint32_t axes = static_cast<const tsr_reduce_params *>(op->params)->axes;
    tsr_tensor z = *op->out[0], x = *op->in[0];
    tsr_loop lanes;
    ScanJob job;
    std::memset(&job.args, 0, sizeof job.args);
    job.w = &w;
    job.kernels = find_scanner(op);
    job.args.from = x.dtype;
    job.args.to = z.dtype;
    int axis = 0;
    while (!(axes >> axis & 1)) axis++;
    job.args.n = x.shape[axis];
    job.args.step_z = job.args.n > 1 ? z.stride[axis] * tsrc_size(z.dtype) : 0;
    job.args.step_x = job.args.n > 1 ? x.stride[axis] * tsrc_size(x.dtype) : 0;
    if (job.args.n == 0) return TSR_OK;
    z.shape[axis] = x.shape[axis] = 1;
    const tsr_tensor *const both[] = { &z, &x };
    host->normalise(&lanes, 2, both);
    return static_cast<tsr_status>(tsrc_split(&lanes, TSRC_DIMS, 1 << 20, scan_part, &job));
}

} // namespace tsrc
