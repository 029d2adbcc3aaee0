/* rows.cu - softmax and norms: what all elements of a lane come to together.
 *
 * A block keeps a lane that runs on in its registers, so that it is read once. Other lanes are read
 * once for each pass. f32 and shorter floats are computed in f32 and added up in f64, f64 in itself. */
#include <cstring>

#include "convert.cuh"
#include "cuda.h"
#include "nest.cuh"

namespace tsrc {

struct RowArgs {
    tsrc_place lanes; /* z, x; numbered in row-major order */
    tsrc_place also;  /* add_rms_norm: sum_out, residual */
    char *z, *sum;
    const char *x, *residual;
    const char *weight, *bias;             /* NULL: none */
    uint32_t count;                        /* lanes */
    uint32_t threads, across, lanes_first; /* of a lane; lanes of a block; as in reductions */
    int64_t n;
    int64_t step_z, step_x, step_sum, step_residual, step_weight, step_bias;
    int64_t rows, columns; /* causal_softmax: of a matrix */
    int64_t each;          /* group_norm: elements of a channel; else 1 */
    int64_t groups;        /* group_norm: of an image; else 1 */
    double eps;
    int op, dtype, dtype_weight, dtype_bias, flag;
};

__host__ TSRC_FN bool is_softmax(const RowArgs &a)
{
    return a.op == TSR_OP_SOFTMAX || a.op == TSR_OP_LOG_SOFTMAX || a.op == TSR_OP_CAUSAL_SOFTMAX;
}

TSRC_FN bool has_mean(const RowArgs &a) { return a.op == TSR_OP_LAYER_NORM || a.op == TSR_OP_GROUP_NORM; }

/* How many elements of a lane count. */
TSRC_FN int64_t seen_of(const RowArgs &a, uint32_t lane)
{
    if (a.op != TSR_OP_CAUSAL_SOFTMAX) return a.n;
    const int64_t seen = int64_t(lane % uint64_t(a.rows)) + 1 + a.columns - a.rows;
    return seen < 0 ? 0 : seen;
}

TSRC_FN float exp_of(float x) { return expf(x); }
TSRC_FN double exp_of(double x) { return exp(x); }

/* Softmax: what an element becomes, given the largest and the sum. */
template <class T> struct SoftmaxOf {
    T largest, inverse, logarithm;
    bool log;
    TSRC_FN SoftmaxOf(const RowArgs &a, T most, double sum)
        : largest(most), inverse(T(1 / sum)), logarithm(0), log(a.op == TSR_OP_LOG_SOFTMAX)
    {
        if (log) logarithm = T(::log(sum));
    }
    TSRC_FN T operator()(T x, T e) const { return log ? (x - largest) - logarithm : e * inverse; }
};

/* A norm: weight and bias of element i. */
template <class T> TSRC_FN T scaled(const RowArgs &a, uint32_t lane, int64_t i, T x, double mean, double by)
{
    double v = (double(x) - mean) * by;
    const int64_t c =
        a.op == TSR_OP_GROUP_NORM ? int64_t(lane % uint64_t(a.groups)) * (a.n / a.each) + i / a.each : i;
    if (a.weight) v *= load_real(a.dtype_weight, a.weight + c * a.step_weight);
    if (a.bias) v += load_real(a.dtype_bias, a.bias + c * a.step_bias);
    return T(v);
}

/* A lane in registers ----------------------------------------------------------------------------------- */

template <int TH, class V, class F> TSRC_FN V over_block(V v, V *shared, F join)
{
#pragma unroll
    for (int o = 16; o; o /= 2) v = join(v, __shfl_xor_sync(~0u, v, o));
    if (TH == 32) return v;
    __syncthreads();
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = v;
    __syncthreads();
    v = shared[0];
#pragma unroll
    for (int k = 1; k < TH / 32; k++) v = join(v, shared[k]);
    return v;
}

struct Most {
    TSRC_FN float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Plus {
    template <class T> TSRC_FN T operator()(T a, T b) const { return a + b; }
};

/* The largest, NaN if there is one. */
TSRC_FN float largest_of(float a, float b) { return a != a ? a : b > a || b != b ? b : a; }
TSRC_FN double largest_of(double a, double b) { return a != a ? a : b > a || b != b ? b : a; }
struct Largest {
    template <class T> TSRC_FN T operator()(T a, T b) const { return largest_of(a, b); }
};

template <class S, int TH, int R> struct Registers {
    enum { V = 16 / sizeof(typename S::Bits) };
    float v[R][V];

    TSRC_FN static uint32_t place(int r) { return (r * TH + threadIdx.x) * V; }
    TSRC_FN void load(const char *x, uint32_t n, int flag)
    {
        Vec<typename S::Bits, V> bits[R];
#pragma unroll
        for (int r = 0; r < R; r++)
            if (place(r) < n)
                bits[r] = *reinterpret_cast<const Vec<typename S::Bits, V> *>(
                    x + place(r) * sizeof(typename S::Bits));
#pragma unroll
        for (int r = 0; r < R; r++)
#pragma unroll
            for (int k = 0; k < V; k++)
                if (place(r) < n) v[r][k] = S::load(bits[r].e[k], flag);
    }
    TSRC_FN void store(char *z, uint32_t n, int flag) const
    {
#pragma unroll
        for (int r = 0; r < R; r++) {
            Vec<typename S::Bits, V> bits;
#pragma unroll
            for (int k = 0; k < V; k++) bits.e[k] = S::store(v[r][k], flag);
            if (place(r) < n)
                *reinterpret_cast<Vec<typename S::Bits, V> *>(z + place(r) * sizeof(typename S::Bits)) = bits;
        }
    }
    /* f(element, its index) for those below n. */
    template <class F> TSRC_FN void each(uint32_t n, F f)
    {
#pragma unroll
        for (int r = 0; r < R; r++)
#pragma unroll
            for (int k = 0; k < V; k++)
                if (place(r) + k < n) f(v[r][k], int64_t(place(r) + k));
    }
};

/* Unseen elements are -inf in between. A NaN is passed over by fmaxf, and makes the sum NaN. */
template <class S, int TH, int R, int OP>
__global__ void __launch_bounds__(TH, 1024 / TH) softmax_kernel(const __grid_constant__ RowArgs a)
{
    using Row = Registers<S, TH, R>;
    __shared__ float most_shared[TH / 32];
    __shared__ double sum_shared[TH / 32];
    constexpr bool causal = OP == TSR_OP_CAUSAL_SOFTMAX, log = OP == TSR_OP_LOG_SOFTMAX;
    const uint32_t n = uint32_t(a.n), seen = causal ? uint32_t(seen_of(a, blockIdx.x)) : n;
    Row row;
    int64_t z = 0, x = 0;
    find_place(a.lanes, blockIdx.x, z, x);
    row.load(a.x + x, n, a.flag);
    float most = -INFINITY;
#pragma unroll
    for (int r = 0; r < R; r++)
#pragma unroll
        for (int k = 0; k < Row::V; k++) {
            if (row.place(r) + (causal ? k : 0) >= seen) row.v[r][k] = -INFINITY;
            most = fmaxf(most, row.v[r][k]);
        }
    most = over_block<TH>(most, most_shared, Most());
    float part[4] = { 0, 0, 0, 0 };
#pragma unroll
    for (int r = 0; r < R; r++)
#pragma unroll
        for (int k = 0; k < Row::V; k++) {
            const float e = expf(row.v[r][k] - most);
            part[k % 4] += e;
            row.v[r][k] = log ? row.v[r][k] - most : e;
        }
    double sum = (double(part[0]) + double(part[1])) + (double(part[2]) + double(part[3]));
    sum = over_block<TH>(sum, sum_shared, Plus());
    const float inverse = float(1 / sum), logarithm = log ? float(::log(sum)) : 0.0f;
#pragma unroll
    for (int r = 0; r < R; r++)
#pragma unroll
        for (int k = 0; k < Row::V; k++) {
            row.v[r][k] = log ? row.v[r][k] - logarithm : row.v[r][k] * inverse;
            if (causal && row.place(r) + k >= seen) row.v[r][k] = 0;
        }
    row.store(a.z + z, n, a.flag);
}

template <class S, int TH, int R>
TSRC_FN void norm_registers(const RowArgs &a, Registers<S, TH, R> &row, uint32_t lane)
{
    __shared__ double shared[TH / 32];
    double mean = 0, squares = 0;
    if (has_mean(a)) {
        row.each(a.n, [&](float &x, int64_t) { mean += double(x); });
        mean = over_block<TH>(mean, shared, Plus()) / double(a.n);
    }
    row.each(a.n, [&](float &x, int64_t) {
        const double d = double(x) - mean;
        squares += d * d;
    });
    squares = over_block<TH>(squares, shared, Plus());
    const double by = 1 / sqrt(squares / double(a.n) + a.eps);
    row.each(a.n, [&](float &x, int64_t i) { x = scaled(a, lane, i, x, mean, by); });
}

template <class S, int TH, int R>
__global__ void __launch_bounds__(TH) norm_kernel(const __grid_constant__ RowArgs a)
{
    const uint32_t lane = blockIdx.x;
    Registers<S, TH, R> row;
    int64_t z = 0, x = 0;
    find_place(a.lanes, lane, z, x);
    row.load(a.x + x, a.n, a.flag);
    if (a.op == TSR_OP_ADD_RMS_NORM) {
        Registers<S, TH, R> other;
        int64_t sum = 0, residual = 0;
        find_place(a.also, lane, sum, residual);
        other.load(a.residual + residual, a.n, a.flag);
#pragma unroll
        for (int r = 0; r < R; r++)
#pragma unroll
            for (int k = 0; k < Registers<S, TH, R>::V; k++)
                if (row.place(r) < a.n)
                    row.v[r][k] = S::load(S::store(row.v[r][k] + other.v[r][k], a.flag), a.flag);
        row.store(a.sum + sum, a.n, a.flag);
    }
    norm_registers(a, row, lane);
    row.store(a.z + z, a.n, a.flag);
}

/* Any lane ---------------------------------------------------------------------------------------------- */

template <class T> TSRC_FN T load_as(int dtype, const char *p)
{
    if constexpr (sizeof(T) == 8)
        return load_real(dtype, p);
    else
        return load_f32(dtype, p);
}

/* All threads of a lane get what theirs came to together. */
template <class T, class F> TSRC_FN T over_lane(const RowArgs &a, uint32_t thread, T v, T *shared, F join)
{
    const uint32_t stride = a.lanes_first ? 1 : a.across, mine = threadIdx.x - thread * stride;
    __syncthreads();
    shared[threadIdx.x] = v;
    for (uint32_t half = a.threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (thread < half)
            shared[threadIdx.x] = join(shared[threadIdx.x], shared[threadIdx.x + half * stride]);
    }
    __syncthreads();
    return shared[mine];
}

template <class T>
TSRC_FN void softmax_lane(const RowArgs &a, uint32_t lane, uint32_t thread, bool there, const char *x,
                          char *z, double *shared)
{
    const int64_t seen = there ? seen_of(a, lane) : 0;
    T most = T(-INFINITY);
    for (int64_t i = thread; i < seen; i += a.threads)
        most = largest_of(most, load_as<T>(a.dtype, x + i * a.step_x));
    most = T(over_lane(a, thread, double(most), shared, Largest()));
    double sum = 0;
    for (int64_t i = thread; i < seen; i += a.threads)
        sum += double(exp_of(load_as<T>(a.dtype, x + i * a.step_x) - most));
    sum = over_lane(a, thread, sum, shared, Plus());
    const SoftmaxOf<T> f(a, most, sum);
    for (int64_t i = thread; i < a.n && there; i += a.threads) {
        T v = 0;
        if (i < seen) {
            const T e = load_as<T>(a.dtype, x + i * a.step_x);
            v = f(e, f.log ? e : exp_of(e - most));
        }
        store_float(a.dtype, z + i * a.step_z, v);
    }
}

template <class T>
TSRC_FN void norm_lane(const RowArgs &a, uint32_t lane, uint32_t thread, bool there, const char *x,
                       int64_t step, char *z, double *shared)
{
    const int64_t n = there ? a.n : 0;
    double mean = 0, squares = 0;
    if (has_mean(a)) {
        for (int64_t i = thread; i < n; i += a.threads) mean += double(load_as<T>(a.dtype, x + i * step));
        mean = over_lane(a, thread, mean, shared, Plus()) / double(a.n);
    }
    for (int64_t i = thread; i < n; i += a.threads) {
        const double d = double(load_as<T>(a.dtype, x + i * step)) - mean;
        squares += d * d;
    }
    squares = over_lane(a, thread, squares, shared, Plus());
    const double by = 1 / sqrt(squares / double(a.n) + a.eps);
    for (int64_t i = thread; i < n; i += a.threads)
        store_float(a.dtype, z + i * a.step_z,
                    scaled(a, lane, i, load_as<T>(a.dtype, x + i * step), mean, by));
}

template <class T>
__global__ void __launch_bounds__(TSRC_THREADS) lane_kernel(const __grid_constant__ RowArgs a)
{
    __shared__ double shared[TSRC_THREADS];
    const uint32_t thread = a.lanes_first ? threadIdx.x % a.threads : threadIdx.x / a.across;
    const uint32_t mine = a.lanes_first ? threadIdx.x / a.threads : threadIdx.x % a.across;
    const uint32_t lane = blockIdx.x * a.across + mine;
    const bool there = lane < a.count;
    int64_t z = 0, x = 0, sum = 0, residual = 0;
    if (there) find_place(a.lanes, lane, z, x);
    if (is_softmax(a)) {
        softmax_lane<T>(a, lane, thread, there, a.x + x, a.z + z, shared);
        return;
    }
    const char *from = a.x + x;
    int64_t step = a.step_x;
    if (a.op == TSR_OP_ADD_RMS_NORM) { /* sum_out is what is normalised; a thread reads what it wrote */
        if (there) find_place(a.also, lane, sum, residual);
        for (int64_t i = thread; i < a.n && there; i += a.threads)
            store_float(a.dtype, a.sum + sum + i * a.step_sum,
                        load_as<T>(a.dtype, from + i * a.step_x) +
                            load_as<T>(a.dtype, a.residual + residual + i * a.step_residual));
        from = a.sum + sum;
        step = a.step_sum;
    }
    norm_lane<T>(a, lane, thread, there, from, step, a.z + z, shared);
}

/* Host -------------------------------------------------------------------------------------------------- */

/* Kernels for lanes of up to so many threads and vectors of 16 bytes: for f32, for floats of two bytes. */
struct Shape {
    int threads, vectors;
    const void *softmax[2], *log[2], *causal[2], *norm[2];
};

#define ONE(kernel, TH, R, ...) \
    { \
        (const void *)kernel<SF32, TH, R __VA_ARGS__>, \
            R < 8 ? (const void *)kernel<S16, TH, (R < 8 ? R : 4) __VA_ARGS__> : nullptr \
    }
#define SHAPE(TH, R) \
    { \
        TH, R, ONE(softmax_kernel, TH, R, , TSR_OP_SOFTMAX), \
            ONE(softmax_kernel, TH, R, , TSR_OP_LOG_SOFTMAX), \
            ONE(softmax_kernel, TH, R, , TSR_OP_CAUSAL_SOFTMAX), ONE(norm_kernel, TH, R) \
    }
static const Shape shapes[] = { SHAPE(32, 1),  SHAPE(32, 2),  SHAPE(128, 1), SHAPE(128, 2),
                                SHAPE(128, 4), SHAPE(512, 2), SHAPE(512, 4), SHAPE(512, 8) };

/* Does a lane of n elements run on, with all lanes' beginnings aligned? */
static bool runs_on(const tsrc_place &p, int which, const void *data, int64_t step, int size, int64_t n)
{
    if (step != size || reinterpret_cast<uintptr_t>(data) % 16 || n * size % 16) return false;
    for (int i = 0; i < p.nd; i++)
        if (p.step[i][which] % 16) return false;
    return true;
}

/* NULL: no kernel keeps such a lane in registers. */
static const void *kernel_for(const RowArgs &a, uint32_t *threads)
{
    const int size = tsrc_size(static_cast<tsr_dtype>(a.dtype));
    if (size != 4 && size != 2) return nullptr;
    if (!runs_on(a.lanes, 0, a.z, a.step_z, size, a.n) || !runs_on(a.lanes, 1, a.x, a.step_x, size, a.n))
        return nullptr;
    if (a.op == TSR_OP_ADD_RMS_NORM && (!runs_on(a.also, 0, a.sum, a.step_sum, size, a.n) ||
                                        !runs_on(a.also, 1, a.residual, a.step_residual, size, a.n)))
        return nullptr;
    for (const Shape &s : shapes) {
        if (a.n * size > int64_t(s.threads) * s.vectors * 16) continue;
        *threads = uint32_t(s.threads);
        return (a.op == TSR_OP_SOFTMAX          ? s.softmax
                : a.op == TSR_OP_LOG_SOFTMAX    ? s.log
                : a.op == TSR_OP_CAUSAL_SOFTMAX ? s.causal
                                                : s.norm)[size == 2];
    }
    return nullptr;
}

static int64_t magnitude(int64_t v) { return v < 0 ? -v : v; }

static tsr_status queue_rows(const Work &w, RowArgs &a)
{
    uint32_t threads = 0;
    const void *kernel = kernel_for(a, &threads);
    if (kernel) return launch(w, kernel, a.count, threads, 0, a);
    a.lanes_first = 1;
    a.threads = power_of_2(a.n, TSRC_THREADS);
    if (!is_softmax(a) || a.lanes.nd == 0 || magnitude(a.lanes.step[0][1]) >= magnitude(a.step_x) ||
        a.lanes.n[0].d < 8) {
        a.across = TSRC_THREADS / a.threads;
    } else { /* neighbouring lanes lie closer than neighbours of a lane */
        a.lanes_first = 0;
        a.across = power_of_2(a.lanes.n[0].d, 32);
        a.threads = TSRC_THREADS / a.across;
    }
    return launch(w,
                  a.dtype == TSR_F64 ? (const void *)lane_kernel<double> : (const void *)lane_kernel<float>,
                  tsrc_blocks(a.count, a.across), TSRC_THREADS, 0, a);
}

/* Dims first .. last of a tensor as one: false if strides do not allow it. */
static bool merged(const tsr_tensor *t, int first, int last, int64_t *n, int64_t *step)
{
    *n = 1;
    *step = 0;
    for (int d = last; d >= first; d--) {
        if (t->shape[d] == 1) continue;
        if (*n > 1 && t->stride[d] != *step * *n) return false;
        if (*n == 1) *step = t->stride[d];
        *n *= t->shape[d];
    }
    *step *= tsrc_size(t->dtype);
    return true;
}

/* Lanes of two tensors over their dims but those of the row. */
static bool lanes_of(tsrc_place *out, const tsr_tensor *z, const tsr_tensor *x, uint32_t row)
{
    tsr_loop l;
    const tsr_tensor *const both[] = { z, x };
    tsrc_ordered(&l, 2, both, row);
    if (l.ndim > TSRC_DIMS || tsrc_count(&l) > TSRC_LIMIT) return false;
    tsrc_place_of(out, &l, 0);
    return true;
}

static void begin_rows(RowArgs &a, const tsr_op *op)
{
    const tsr_tensor *x = op->in[0];
    const tsr_tensor *z = op->kind == TSR_OP_ADD_RMS_NORM ? op->out[1] : op->out[0];
    std::memset(&a, 0, sizeof a);
    a.op = op->kind;
    a.dtype = x->dtype;
    a.flag = x->dtype == TSR_BF16;
    a.z = static_cast<char *>(z->data);
    a.x = static_cast<const char *>(x->data);
    a.each = a.groups = 1;
}

/* Softmax ----------------------------------------------------------------------------------------------- */

static bool plan_softmax(RowArgs &a, const tsr_op *op)
{
    const tsr_tensor *x = op->in[0], *z = op->out[0];
    const bool causal = op->kind == TSR_OP_CAUSAL_SOFTMAX;
    const int axis = causal ? x->ndim - 1 : static_cast<const tsr_axis_params *>(op->params)->axis;
    begin_rows(a, op);
    if (!merged(x, axis, axis, &a.n, &a.step_x) || !merged(z, axis, axis, &a.n, &a.step_z)) return false;
    if (causal) {
        a.rows = x->shape[axis - 1];
        a.columns = x->shape[axis];
    }
    return lanes_of(&a.lanes, z, x, 1u << axis);
}

bool has_softmax(const tsr_op *op)
{
    RowArgs a;
    return op->nin > 0 && op->in[0] && plan_softmax(a, op);
}

tsr_status run_softmax(const Work &w)
{
    RowArgs a;
    (void)plan_softmax(a, w.op);
    a.count = a.lanes.count;
    return numel(w.op->out[0]) == 0 ? TSR_OK : queue_rows(w, a);
}

/* Norms ------------------------------------------------------------------------------------------------- */

static bool plan_weight(const tsr_tensor *t, int64_t n, const char **data, int64_t *step, int *dtype)
{
    int64_t count = 0;
    if (!t) return true;
    *data = static_cast<const char *>(t->data);
    *dtype = t->dtype;
    return merged(t, 0, t->ndim - 1, &count, step) && count == n;
}

static bool plan_norm(RowArgs &a, const tsr_op *op)
{
    const bool group = op->kind == TSR_OP_GROUP_NORM, twice = op->kind == TSR_OP_ADD_RMS_NORM;
    const tsr_norm_params *p = static_cast<const tsr_norm_params *>(op->params);
    tsr_tensor x = *op->in[0], z = twice ? *op->out[1] : *op->out[0];
    const int weight = twice ? 2 : 1, row = op->kind == TSR_OP_LAYER_NORM ? int(p->count) : 1;
    if (op->kind == TSR_OP_BATCH_NORM) return false;
    begin_rows(a, op);
    a.eps = p->eps;
    int first = x.ndim - row;
    if (group) { /* (n, c, ...) as (n, groups, c / groups, ...) */
        if (x.ndim >= TSR_MAX_NDIM) return false;
        a.groups = p->count;
        a.each = 1;
        for (int d = 2; d < x.ndim; d++) a.each *= x.shape[d];
        for (tsr_tensor *t : { &x, &z }) {
            for (int d = t->ndim; d > 2; d--) {
                t->shape[d] = t->shape[d - 1];
                t->stride[d] = t->stride[d - 1];
            }
            t->shape[2] = t->shape[1] / p->count;
            t->stride[2] = t->stride[1];
            t->stride[1] *= t->shape[2];
            t->shape[1] = p->count;
            t->ndim++;
        }
        first = 2;
    }
    if (!merged(&x, first, x.ndim - 1, &a.n, &a.step_x) || !merged(&z, first, z.ndim - 1, &a.n, &a.step_z))
        return false;
    const int64_t weights = group ? x.shape[1] * x.shape[2] : a.n;
    if (!plan_weight(op->nin > weight ? op->in[weight] : nullptr, weights, &a.weight, &a.step_weight,
                     &a.dtype_weight))
        return false;
    if (!twice &&
        !plan_weight(op->nin > 2 ? op->in[2] : nullptr, weights, &a.bias, &a.step_bias, &a.dtype_bias))
        return false;
    const uint32_t rows = ((1u << x.ndim) - 1) & ~((1u << first) - 1);
    if (twice) {
        a.sum = static_cast<char *>(op->out[0]->data);
        a.residual = static_cast<const char *>(op->in[1]->data);
        if (!merged(op->out[0], first, x.ndim - 1, &a.n, &a.step_sum)) return false;
        if (!merged(op->in[1], first, x.ndim - 1, &a.n, &a.step_residual)) return false;
        if (!lanes_of(&a.also, op->out[0], op->in[1], rows)) return false;
    }
    return lanes_of(&a.lanes, &z, &x, rows);
}

bool has_norm(const tsr_op *op)
{
    RowArgs a;
    return op->nin > 0 && op->in[0] && op->params && plan_norm(a, op);
}

tsr_status run_norm(const Work &w)
{
    RowArgs a;
    (void)plan_norm(a, w.op);
    a.count = a.lanes.count;
    return numel(w.op->in[0]) == 0 ? TSR_OK : queue_rows(w, a);
}

} // namespace tsrc
