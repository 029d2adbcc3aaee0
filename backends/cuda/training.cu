/* training.cu - steps of training and the norm of a list: a table of tensors goes to one kernel, whose blocks
 * find theirs by number. Tensors whose elements do not lie side by side have a launch each. */
#include "cuda.h"
#include "nest.cuh"

namespace tsrc {

enum { MOST = 64, OPERANDS = 4, LANES = 4, CHUNK = 16 * TSRC_THREADS };

/* Elements as stored, by a code: of one tensor they may differ. */
enum StepCode { CODE_F32, CODE_F16, CODE_BF16, CODE_F64 };

static bool code_of(tsr_dtype dtype, unsigned char *code)
{
    switch (dtype) {
    case TSR_F32: *code = CODE_F32; return true;
    case TSR_F16: *code = CODE_F16; return true;
    case TSR_BF16: *code = CODE_BF16; return true;
    case TSR_F64: *code = CODE_F64; return true;
    default: return false;
    }
}

struct StepItem {
    char *x[OPERANDS];
    int64_t count;
    uint32_t first; /* block */
    unsigned char code[OPERANDS];
};

/* The numbers of tsr_step_params. */
struct StepNumbers {
    double rate, kept, added, first, second, scale, eps;
    int32_t nesterov;
};

struct StepListArgs {
    StepNumbers s;
    int32_t n;
    uint32_t aligned; /* every address is that of LANES elements at once */
    StepItem item[MOST];
};

struct StepNestArgs {
    StepNumbers s;
    tsrc_nest nest;
    unsigned char code[OPERANDS];
};

/* Elements ---------------------------------------------------------------------------------------- */

template <class T> TSRC_FN T load_one(const char *p, int code)
{
    if (code == CODE_F32) return T(*reinterpret_cast<const float *>(p));
    if (code == CODE_F64) return T(*reinterpret_cast<const double *>(p));
    const uint16_t b = *reinterpret_cast<const uint16_t *>(p);
    return T(code == CODE_F16 ? f16_to_f32(b) : bf16_to_f32(b));
}

template <class T> TSRC_FN void store_one(char *p, int code, T v)
{
    if (code == CODE_F32) *reinterpret_cast<float *>(p) = float(v);
    else if (code == CODE_F64) *reinterpret_cast<double *>(p) = double(v);
    else {
        const float f = odd_f32(v);
        *reinterpret_cast<uint16_t *>(p) = code == CODE_F16 ? f32_to_f16(f) : f32_to_bf16(f);
    }
}

TSRC_FN int size_of(int code) { return code == CODE_F32 ? 4 : code == CODE_F64 ? 8 : 2; }

template <class T> TSRC_FN void load_lanes(T (&v)[LANES], const char *p, int code)
{
    union {
        float4 f;
        float e[LANES];
    } wide;
    union {
        uint2 w;
        uint16_t e[LANES];
    } narrow;
    if (code == CODE_F32) {
        wide.f = *reinterpret_cast<const float4 *>(p);
#pragma unroll
        for (int k = 0; k < LANES; k++) v[k] = T(wide.e[k]);
    } else if (code == CODE_F64) {
#pragma unroll
        for (int k = 0; k < LANES; k++) v[k] = T(reinterpret_cast<const double *>(p)[k]);
    } else {
        narrow.w = *reinterpret_cast<const uint2 *>(p);
#pragma unroll
        for (int k = 0; k < LANES; k++)
            v[k] = T(code == CODE_F16 ? f16_to_f32(narrow.e[k]) : bf16_to_f32(narrow.e[k]));
    }
}

template <class T> TSRC_FN void store_lanes(char *p, int code, const T (&v)[LANES])
{
    union {
        uint2 w;
        uint16_t e[LANES];
    } narrow;
    if (code == CODE_F32) {
        *reinterpret_cast<float4 *>(p) = make_float4(float(v[0]), float(v[1]), float(v[2]), float(v[3]));
    } else if (code == CODE_F64) {
#pragma unroll
        for (int k = 0; k < LANES; k++) reinterpret_cast<double *>(p)[k] = double(v[k]);
    } else {
#pragma unroll
        for (int k = 0; k < LANES; k++) {
            const float f = odd_f32(v[k]);
            narrow.e[k] = code == CODE_F16 ? f32_to_f16(f) : f32_to_bf16(f);
        }
        *reinterpret_cast<uint2 *>(p) = narrow.w;
    }
}

/* Steps ------------------------------------------------------------------------------------------- */

TSRC_FN float root(float x) { return sqrtf(x); }
TSRC_FN double root(double x) { return sqrt(x); }

/* The numbers of a step as they are computed with. What moments take in is rounded after it is subtracted. */
template <class T> struct StepAs {
    T rate, kept, added, first, second, scale, eps, more_first, more_second;
    bool nesterov;
    explicit TSRC_FN StepAs(const StepNumbers &s)
        : rate(T(s.rate)), kept(T(s.kept)), added(T(s.added)), first(T(s.first)), second(T(s.second)),
          scale(T(s.scale)), eps(T(s.eps)), more_first(T(1 - s.first)), more_second(T(1 - s.second)),
          nesterov(s.nesterov != 0)
    {
    }
};

/* N operands in the order of an op's; bit i of written: operand i is a result. */
struct ScaleStep {
    enum { N = 1, written = 1 };
    template <class T> static TSRC_FN void run(const StepAs<T> &s, T (&x)[N]) { x[0] *= s.rate; }
};

struct AxpyStep {
    enum { N = 2, written = 1 };
    template <class T> static TSRC_FN void run(const StepAs<T> &s, T (&x)[N]) { x[0] = x[1] * s.rate + x[0]; }
};

struct SgdStep {
    enum { N = 3, written = 5 };
    template <class T> static TSRC_FN void run(const StepAs<T> &s, T (&x)[N])
    {
        const T g = s.added != T(0) ? x[0] * s.added + x[1] : x[1];
        x[2] = x[2] * s.first + g;
        x[0] = x[0] * s.kept - (s.nesterov ? x[2] * s.first + g : x[2]) * s.rate;
    }
};

struct AdamStep {
    enum { N = 4, written = 13 };
    template <class T> static TSRC_FN void run(const StepAs<T> &s, T (&x)[N])
    {
        const T g = s.added != T(0) ? x[0] * s.added + x[1] : x[1];
        x[2] = x[2] * s.first + g * s.more_first;
        x[3] = x[3] * s.second + g * g * s.more_second;
        x[0] = x[0] * s.kept - x[2] * s.rate / (root(x[3] * s.scale) + s.eps);
    }
};

template <class F, class T>
TSRC_FN void step_one(const StepAs<T> &s, char *const *at, const unsigned char *code)
{
    T x[F::N];
#pragma unroll
    for (int o = 0; o < F::N; o++) x[o] = load_one<T>(at[o], code[o]);
    F::run(s, x);
#pragma unroll
    for (int o = 0; o < F::N; o++)
        if (F::written >> o & 1) store_one(at[o], code[o], x[o]);
}

template <class F, class T>
TSRC_FN void step_lanes(const StepAs<T> &s, char *const *at, const unsigned char *code)
{
    T v[F::N][LANES];
#pragma unroll
    for (int o = 0; o < F::N; o++) load_lanes(v[o], at[o], code[o]);
#pragma unroll
    for (int k = 0; k < LANES; k++) {
        T x[F::N];
#pragma unroll
        for (int o = 0; o < F::N; o++) x[o] = v[o][k];
        F::run(s, x);
#pragma unroll
        for (int o = 0; o < F::N; o++) v[o][k] = x[o];
    }
#pragma unroll
    for (int o = 0; o < F::N; o++)
        if (F::written >> o & 1) store_lanes(at[o], code[o], v[o]);
}

/* The tensor that a block belongs to. */
TSRC_FN int find_item(const StepListArgs &p, uint32_t block)
{
    int low = 0, high = p.n - 1;
    while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (p.item[middle].first <= block) low = middle;
        else high = middle - 1;
    }
    return low;
}

template <class F, class T>
__global__ void __launch_bounds__(TSRC_THREADS) step_list_kernel(const __grid_constant__ StepListArgs p)
{
    const StepItem &item = p.item[find_item(p, blockIdx.x)];
    const StepAs<T> s(p.s);
    const int64_t begin = int64_t(blockIdx.x - item.first) * CHUNK;
    const int64_t end = begin + CHUNK < item.count ? begin + CHUNK : item.count;
    for (int64_t i = begin + threadIdx.x * LANES; i < end; i += TSRC_THREADS * LANES) {
        char *at[F::N];
#pragma unroll
        for (int o = 0; o < F::N; o++) at[o] = item.x[o] + i * size_of(item.code[o]);
        if (p.aligned && i + LANES <= end) {
            step_lanes<F, T>(s, at, item.code);
            continue;
        }
        for (int64_t k = i; k < end && k < i + LANES; k++) {
            step_one<F, T>(s, at, item.code);
#pragma unroll
            for (int o = 0; o < F::N; o++) at[o] += size_of(item.code[o]);
        }
    }
}

template <class F, class T>
__global__ void __launch_bounds__(TSRC_THREADS) step_nest_kernel(const __grid_constant__ StepNestArgs p)
{
    const uint32_t i = blockIdx.x * TSRC_THREADS + threadIdx.x;
    if (i >= p.nest.total) return;
    int64_t offset[F::N];
    char *at[F::N];
    find_group(p.nest, i, offset);
#pragma unroll
    for (int o = 0; o < F::N; o++) at[o] = p.nest.data[o] + offset[o];
    step_one<F, T>(StepAs<T>(p.s), at, p.code);
}

/* StepKernels by op, and by whether it is computed in f64. */
struct StepKernels {
    const void *list[2], *nest[2];
};

template <class F> static StepKernels make_kernels()
{
    return { { (const void *)step_list_kernel<F, float>, (const void *)step_list_kernel<F, double> },
             { (const void *)step_nest_kernel<F, float>, (const void *)step_nest_kernel<F, double> } };
}

static StepKernels kernels_of(tsr_op_kind kind)
{
    switch (kind) {
    case TSR_OP_SCALE_EACH: return make_kernels<ScaleStep>();
    case TSR_OP_AXPY_EACH: return make_kernels<AxpyStep>();
    case TSR_OP_SGD_STEP: return make_kernels<SgdStep>();
    default: return make_kernels<AdamStep>();
    }
}

/* Queueing ---------------------------------------------------------------------------------------- */

static StepNumbers numbers_of(const tsr_op *op)
{
    const tsr_step_params *s = static_cast<const tsr_step_params *>(op->params);
    return { s->rate, s->kept, s->added, s->first, s->second, s->scale, s->eps, s->nesterov };
}

static bool is_wide(const tsr_op *op)
{
    bool wide = false;
    for (int i = 0; i < op->nin; i++) wide = wide || op->in[i]->dtype == TSR_F64;
    return wide;
}

/* Do the elements of every operand lie side by side, in one order? */
static bool is_flat(const tsr_loop &l, const tsr_op *op)
{
    bool flat = l.ndim <= 1;
    for (int i = 0; i < op->nin && l.ndim == 1; i++)
        flat = flat && l.step[0][i] == tsrc_size(op->in[i]->dtype);
    return flat;
}

static void normalise(tsr_loop *l, const tsr_op *op)
{
    host->normalise(l, op->nin, op->in);
}

/* Lists that fill up: one of each precision. */
struct StepPending {
    StepListArgs args;
    uint32_t blocks;
};

static tsr_status queue_list(const Work &w, StepPending &p, bool wide)
{
    if (p.args.n == 0) return TSR_OK;
    const tsr_status s = launch(w, kernels_of(w.op->kind).list[wide], p.blocks, TSRC_THREADS, 0, p.args);
    p.args.n = 0;
    p.args.aligned = 1;
    p.blocks = 0;
    return s;
}

static tsr_status add_item(const Work &w, StepPending &p, bool wide, const tsr_loop &l, const tsr_op *op)
{
    StepItem &item = p.args.item[p.args.n++];
    item.count = l.ndim ? l.n[0] : 1;
    item.first = p.blocks;
    for (int i = 0; i < op->nin; i++) {
        const uintptr_t together = static_cast<uintptr_t>(tsrc_size(op->in[i]->dtype) * LANES);
        item.x[i] = static_cast<char *>(l.data[i]);
        (void)code_of(op->in[i]->dtype, &item.code[i]);
        if (reinterpret_cast<uintptr_t>(item.x[i]) % (together < 16 ? together : 16)) p.args.aligned = 0;
    }
    p.blocks += static_cast<uint32_t>((item.count + CHUNK - 1) / CHUNK);
    return p.args.n == MOST || p.blocks > 1u << 28 ? queue_list(w, p, wide) : TSR_OK;
}

struct StepJob {
    const Work *w;
    const void *kernel;
    StepNestArgs args;
    int size[TSRC_OPERANDS];
};

static int nest_part(const tsr_loop *part, void *context)
{
    StepJob *j = static_cast<StepJob *>(context);
    tsrc_nest_of(&j->args.nest, part, j->size, 1);
    return launch(*j->w, j->kernel, tsrc_blocks(j->args.nest.total, TSRC_THREADS), TSRC_THREADS, 0, j->args);
}

static tsr_status queue_nest(const Work &w, const tsr_loop &l, const tsr_op *op)
{
    StepJob j;
    j.w = &w;
    j.kernel = kernels_of(op->kind).nest[is_wide(op)];
    j.args.s = numbers_of(op);
    for (int i = 0; i < op->nin; i++) {
        j.size[i] = tsrc_size(op->in[i]->dtype);
        (void)code_of(op->in[i]->dtype, &j.args.code[i]);
    }
    return static_cast<tsr_status>(tsrc_split(&l, TSRC_DIMS, TSRC_LIMIT, nest_part, &j));
}

static bool is_same(const tsr_tensor *a, const tsr_tensor *b)
{
    bool same = a->data == b->data && a->dtype == b->dtype && a->ndim == b->ndim;
    for (int d = 0; d < a->ndim && same; d++) same = a->shape[d] == 1 || a->stride[d] == b->stride[d];
    return same;
}

/* Steps in place. */
bool has_step(const tsr_op *op)
{
    unsigned char code;
    bool has = op->nin >= 1 && op->nin <= OPERANDS;
    for (int i = 0; i < op->nin && has; i++) has = op->in[i] && code_of(op->in[i]->dtype, &code);
    for (int i = 0; i < op->nout && has; i++) has = op->out[i] && is_same(op->out[i], op->in[i ? i + 1 : 0]);
    return has;
}

/* n ops like w's. */
static tsr_status run_steps(const Work &w, int n, const tsr_op *ops)
{
    StepPending pending[2] = {};
    for (StepPending &p : pending) {
        p.args.s = numbers_of(ops);
        p.args.aligned = 1;
    }
    for (int i = 0; i < n; i++) {
        tsr_loop l;
        const bool wide = is_wide(&ops[i]);
        normalise(&l, &ops[i]);
        TSRC_TRY(is_flat(l, &ops[i]) ? add_item(w, pending[wide], wide, l, &ops[i])
                                     : queue_nest(w, l, &ops[i]));
    }
    TSRC_TRY(queue_list(w, pending[0], false));
    return queue_list(w, pending[1], true);
}

tsr_status run_step(const Work &w) { return run_steps(w, 1, w.op); }

/* The norm of a list -------------------------------------------------------------------------------- */

enum { NORM_CHUNK = 64 * TSRC_THREADS };

struct ListNormItem {
    const char *x;
    float *z;
    int64_t count;
    uint32_t first, code;
};

struct ListNormArgs {
    double *parts;
    int32_t n;
    ListNormItem item[MOST];
};

TSRC_FN double sum_of_block(double sum)
{
    __shared__ double sums[TSRC_THREADS / 32];
#pragma unroll
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0;
    for (int i = 0; i < TSRC_THREADS / 32; i++) sum += sums[i];
    return sum;
}

/* Squares of a chunk, in double: those of f32 do not overflow. */
__global__ void __launch_bounds__(TSRC_THREADS) squares_kernel(const __grid_constant__ ListNormArgs p)
{
    int low = 0, high = p.n - 1;
    while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (p.item[middle].first <= blockIdx.x) low = middle;
        else high = middle - 1;
    }
    const ListNormItem &item = p.item[low];
    const int size = size_of(int(item.code));
    const int64_t begin = int64_t(blockIdx.x - item.first) * NORM_CHUNK;
    const int64_t end = begin + NORM_CHUNK < item.count ? begin + NORM_CHUNK : item.count;
    double sum = 0;
    for (int64_t i = begin + threadIdx.x; i < end; i += TSRC_THREADS) {
        const double v = double(load_one<float>(item.x + i * size, int(item.code)));
        sum += v * v;
    }
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) p.parts[blockIdx.x] = sum;
}

/* A block for each tensor. */
__global__ void __launch_bounds__(TSRC_THREADS) roots_kernel(const __grid_constant__ ListNormArgs p)
{
    const ListNormItem &item = p.item[blockIdx.x];
    const int64_t blocks = (item.count + NORM_CHUNK - 1) / NORM_CHUNK;
    double sum = 0;
    for (int64_t i = threadIdx.x; i < blocks; i += TSRC_THREADS) sum += p.parts[item.first + i];
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) *item.z = float(sqrt(sum));
}

bool has_joint_norm(const tsr_op *op)
{
    tsr_loop l;
    unsigned char code;
    const tsr_tensor *x = op->nin == 1 ? op->in[0] : nullptr;
    if (!x || !op->out[0] || op->out[0]->dtype != TSR_F32 || !code_of(x->dtype, &code) || code == CODE_F64)
        return false;
    normalise(&l, op);
    return is_flat(l, op) && numel(x) < int64_t(1) << 40;
}

static tsr_status run_norms(const Work &w, int n, const tsr_op *ops)
{
    ListNormArgs args = {};
    Scratch parts(w);
    uint32_t blocks = 0;
    args.n = n;
    for (int i = 0; i < n; i++) {
        tsr_loop l;
        unsigned char code = 0;
        normalise(&l, &ops[i]);
        (void)code_of(ops[i].in[0]->dtype, &code);
        args.item[i] = { static_cast<const char *>(l.data[0]), static_cast<float *>(ops[i].out[0]->data),
                         l.ndim ? l.n[0] : 1, blocks, code };
        blocks += static_cast<uint32_t>((args.item[i].count + NORM_CHUNK - 1) / NORM_CHUNK);
    }
    TSRC_TRY(parts.take(sizeof(double) * (blocks + size_t(1))));
    args.parts = parts.as<double>();
    TSRC_TRY(launch(w, (const void *)squares_kernel, blocks, TSRC_THREADS, 0, args));
    return launch(w, (const void *)roots_kernel, static_cast<uint32_t>(n), TSRC_THREADS, 0, args);
}

tsr_status run_joint_norm(const Work &w) { return run_norms(w, 1, w.op); }

tsr_status run_list(const Work &w, int n, const tsr_op *ops)
{
    if (w.op->kind == TSR_OP_JOINT_NORM) return n <= MOST ? run_norms(w, n, ops) : TSR_EUNSUPPORTED;
    return w.op->kind >= TSR_OP_SCALE_EACH && w.op->kind <= TSR_OP_ADAM_STEP ? run_steps(w, n, ops)
                                                                             : TSR_EUNSUPPORTED;
}

} // namespace tsrc
