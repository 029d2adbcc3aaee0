/* rows.cu - softmax and norms: planning, and lanes of any strides.
 *
 * f32 and shorter floats are computed in f32 and added up in f64, f64 in itself. */
#include <cstring>

#include "convert.cuh"
#include "cuda.h"
#include "nest.cuh"
#include "rows.h"

namespace tsrc {

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
template <class T>
TSRC_FN T scaled(const RowArgs &a, uint32_t lane, int64_t i, double x, double mean, double by)
{
    double v = (x - mean) * by;
    const int64_t c =
        a.op == TSR_OP_GROUP_NORM ? int64_t(lane % uint64_t(a.groups)) * (a.n / a.each) + i / a.each : i;
    if (a.weight) v *= load_real(a.dtype_weight, a.weight + c * a.step_weight);
    if (a.bias) v += load_real(a.dtype_bias, a.bias + c * a.step_bias);
    return T(v);
}

/* Any lane ---------------------------------------------------------------------------------------------- */

struct Plus {
    template <class T> TSRC_FN T operator()(T a, T b) const { return a + b; }
};

/* The largest, NaN if there is one. */
TSRC_FN float largest_of(float a, float b) { return a != a ? a : b > a || b != b ? b : a; }
TSRC_FN double largest_of(double a, double b) { return a != a ? a : b > a || b != b ? b : a; }
struct Largest {
    template <class T> TSRC_FN T operator()(T a, T b) const { return largest_of(a, b); }
};

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

/* Of a lane whose elements are times `scale`. */
struct LaneMoments {
    double scale, mean, squares;
};

/* Where the n elements of a lane lie that a thread has its share of. */
struct LaneOf {
    const char *x;
    int64_t step, n;
    uint32_t thread;
};

template <class T>
TSRC_FN LaneMoments moments_of(const RowArgs &a, const LaneOf &l, double scale, double *shared)
{
    LaneMoments m = { scale, 0, 0 };
    if (has_mean(a)) {
        for (int64_t i = l.thread; i < l.n; i += a.threads)
            m.mean += double(load_as<T>(a.dtype, l.x + i * l.step)) * scale;
        m.mean = over_lane(a, l.thread, m.mean, shared, Plus()) / double(a.n);
    }
    for (int64_t i = l.thread; i < l.n; i += a.threads) {
        const double d = double(load_as<T>(a.dtype, l.x + i * l.step)) * scale - m.mean;
        m.squares += d * d;
    }
    m.squares = over_lane(a, l.thread, m.squares, shared, Plus());
    return m;
}

/* A power of two that scales the largest of a lane, or sqrt(eps), to about 1. */
TSRC_FN double scale_of(const RowArgs &a, const LaneOf &l, double *shared)
{
    double most = sqrt(a.eps);
    for (int64_t i = l.thread; i < l.n; i += a.threads)
        most = fmax(most, fabs(load_as<double>(a.dtype, l.x + i * l.step)));
    most = over_lane(a, l.thread, most, shared, Largest());
    const int e = most > 0 && most < INFINITY ? ilogb(most) : 0;
    return ldexp(1.0, e > 1000 ? -1000 : e < -1000 ? 1000 : -e);
}

/* Squares of doubles may overflow or vanish: then the lane is looked at again, scaled. All threads of the
 * block come here. */
template <class T>
TSRC_FN LaneMoments safe_moments_of(const RowArgs &a, const LaneOf &l, double *shared)
{
    const LaneMoments plain = moments_of<T>(a, l, 1, shared);
    if constexpr (sizeof(T) == 8) {
        const double v = plain.squares / double(a.n) + a.eps;
        const bool fits = v > 0x1p-900 && v < 0x1p1000;
        if (!__syncthreads_or(l.n > 0 && !fits)) return plain;
        const LaneMoments again = moments_of<T>(a, l, scale_of(a, l, shared), shared);
        return fits ? plain : again;
    }
    return plain;
}

template <class T>
TSRC_FN void norm_lane(const RowArgs &a, uint32_t lane, uint32_t thread, bool there, const char *x,
                       int64_t step, char *z, double *shared)
{
    const LaneOf l = { x, step, there ? a.n : 0, thread };
    const LaneMoments m = safe_moments_of<T>(a, l, shared);
    /* Where all are the same and eps vanishes beside them, the result is 0. */
    const bool same = m.scale != 1 && m.squares == 0 && a.eps > 0;
    const double by = same ? 1 : 1 / sqrt(m.squares / double(a.n) + a.eps * m.scale * m.scale);
    for (int64_t i = thread; i < l.n; i += a.threads)
        store_float(a.dtype, z + i * a.step_z,
                    scaled<T>(a, lane, i, double(load_as<T>(a.dtype, x + i * step)) * m.scale, m.mean, by));
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

/* Has a lane of n elements unit stride? In `bits` are those of all lanes' beginnings and their lengths. */
static bool runs_on(const tsrc_place &p, int which, const void *data, int64_t step, int size, int64_t n,
                    uint64_t *bits)
{
    *bits |= reinterpret_cast<uintptr_t>(data) | uint64_t(n * size);
    for (int i = 0; i < p.nd; i++) *bits |= uint64_t(p.step[i][which]);
    return n == 1 || step == size;
}

/* Can rows be kept in registers? */
static bool plan_registers(RowArgs &a)
{
    const int size = tsrc_size(static_cast<tsr_dtype>(a.dtype));
    uint64_t bits = 0;
    if ((size != 4 && size != 2) || a.n > INT32_MAX) return false;
    if (!runs_on(a.lanes, 0, a.z, a.step_z, size, a.n, &bits)) return false;
    if (!runs_on(a.lanes, 1, a.x, a.step_x, size, a.n, &bits)) return false;
    if (a.op == TSR_OP_ADD_RMS_NORM && (!runs_on(a.also, 0, a.sum, a.step_sum, size, a.n, &bits) ||
                                        !runs_on(a.also, 1, a.residual, a.step_residual, size, a.n, &bits)))
        return false;
    a.wide = bits % 16 == 0 && (a.op != TSR_OP_GROUP_NORM || a.each % 8 == 0);
    a.by_each = tsrc_div_by(uint32_t(a.each));
    a.inverse = 1 / double(a.n);
    return true;
}

/* Weights as kernels of rows in registers read them: as they lie, or as f32 in memory of their own. */
static tsr_status plan_affine(const Work &w, const tsr_tensor *t, Scratch &room, const char **data,
                              int *dtype, int64_t step)
{
    const bool known = *dtype == TSR_F32 || *dtype == TSR_F16 || *dtype == TSR_BF16;
    const int64_t n = t ? numel(t) : 0;
    const int size = tsrc_size(static_cast<tsr_dtype>(*dtype));
    if (n == 0 || (known && (n == 1 || step == size) && reinterpret_cast<uintptr_t>(*data) % 16 == 0))
        return TSR_OK;
    TSRC_TRY(room.take(size_t(n) * sizeof(float)));
    const tsr_tensor own = packed(room.bytes(), TSR_F32, t->ndim, t->shape);
    *data = room.bytes();
    *dtype = TSR_F32;
    return copy(w, &own, t);
}

static RowKernel row_kernel_for(const RowArgs &a, int64_t n, RowMode mode)
{
    return is_softmax(a) ? softmax_kernel_for(a, n, mode) : norm_kernel_for(a, n, mode);
}

/* Cuts rows into so many shares, of whole vectors. */
static void share_row(RowArgs &a, int64_t blocks)
{
    const int64_t share = (a.n + blocks - 1) / blocks;
    a.share = uint32_t((share + 7) / 8 * 8);
    a.blocks = uint32_t((a.n + a.share - 1) / a.share);
}

/* Do blocks of the kernel meet in clusters? Code that was made for older devices runs, but does not. */
static bool knows_clusters(const void *kernel)
{
    const Beside beside;
    cudaFuncAttributes of;
    const bool known = cudaFuncGetAttributes(&of, kernel) == cudaSuccess && of.ptxVersion >= 90;
    (void)cudaGetLastError();
    return known;
}

static tsr_status queue_cluster(const Work &w, const RowKernel &k, const RowArgs &a)
{
    cudaLaunchConfig_t config;
    cudaLaunchAttribute size;
    std::memset(&config, 0, sizeof config);
    std::memset(&size, 0, sizeof size);
    size.id = cudaLaunchAttributeClusterDimension;
    size.val.clusterDim.x = a.blocks;
    size.val.clusterDim.y = size.val.clusterDim.z = 1;
    config.gridDim = dim3(a.count * a.blocks);
    config.blockDim = dim3(k.threads);
    config.stream = w.stream;
    config.attrs = &size;
    config.numAttrs = 1;
    void *list[] = { const_cast<RowArgs *>(&a) };
    return check(w.device, w.name(), cudaLaunchKernelExC(&config, k.run, list));
}

static tsr_status queue_passes(const Work &w, RowArgs &a)
{
    Scratch parts(w);
    const uint64_t total = uint64_t(a.count) * a.blocks;
    TSRC_TRY(parts.take(total * sizeof(RowPart)));
    a.parts = parts.as<RowPart>();
    for (const RowMode mode : { ROW_FIRST_PASS, ROW_SECOND_PASS }) {
        const RowKernel k = row_kernel_for(a, a.share, mode);
        TSRC_TRY(launch(w, k.run, uint32_t(total), k.threads, 0, a));
    }
    return TSR_OK;
}

enum {
    MOST_CLUSTER = 8, /* blocks, on every device that has clusters */
    MOST_PARTS = 8192 /* of a row: each block of the second pass reads them all */
};

/* Rows in registers. False: they are not for these kernels. The plan is a copy, as weights may be seen in
 * memory that is gone after the call. */
static bool queue_registers(const Work &w, RowArgs a, tsr_status *status)
{
    if (!plan_registers(a)) return false;
    Scratch weights(w), biases(w);
    const int at = a.op == TSR_OP_ADD_RMS_NORM ? 2 : 1;
    *status = TSR_OK;
    if (a.weight) *status = plan_affine(w, w.op->in[at], weights, &a.weight, &a.dtype_weight, a.step_weight);
    if (*status == TSR_OK && a.bias)
        *status = plan_affine(w, w.op->in[2], biases, &a.bias, &a.dtype_bias, a.step_bias);
    if (*status != TSR_OK) return true;
    const RowKernel alone = row_kernel_for(a, a.n, ROW_ALONE);
    if (a.n <= alone.most) {
        a.share = uint32_t(a.n);
        a.blocks = 1;
        *status = launch(w, alone.run, tsrc_blocks(a.count, alone.rows), alone.threads, 0, a);
        return true;
    }
    const RowKernel cluster = row_kernel_for(a, a.n, ROW_CLUSTER);
    int64_t blocks = (a.n + cluster.most - 1) / cluster.most;
    /* Many rows keep all multiprocessors busy: reading them twice costs less than waiting in clusters. */
    const bool many = is_softmax(a) && int64_t(a.count) * blocks > 8 * devices[w.device].units;
    if (!many && blocks <= MOST_CLUSTER && devices[w.device].major >= 9 && knows_clusters(cluster.run)) {
        if (blocks < MOST_CLUSTER && int64_t(a.count) * blocks * 2 <= devices[w.device].units) blocks *= 2;
        share_row(a, blocks < MOST_CLUSTER ? blocks : int64_t(MOST_CLUSTER));
        *status = queue_cluster(w, cluster, a);
        return true;
    }
    share_row(a, blocks);
    if (blocks > MOST_PARTS || int64_t(a.count) * a.blocks > TSRC_LIMIT) return false;
    *status = queue_passes(w, a);
    return true;
}

static int64_t magnitude(int64_t v) { return v < 0 ? -v : v; }

static tsr_status queue_rows(const Work &w, RowArgs &a)
{
    tsr_status status = TSR_OK;
    if (queue_registers(w, a, &status)) return status;
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
