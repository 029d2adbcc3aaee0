/* fft.cpp - Fourier transforms by cuFFT, opened by name if it is there. Plans are made once for each shape.
 *
 * Lanes that lie at one distance, or at one in each of a few groups, are transformed where they are; others
 * in packed copies. What is shorter than the transform is copied in front of zeros. */
#include "fft.h"
#include "library.h"

#if __has_include(<cufft.h>)

#include <cstring>
#include <map>
#include <mutex>

#include <cufft.h>

namespace tsrc {

tsr_status fill(const Work &w, const tsr_tensor *dst, tsr_scalar value);

/* The library -------------------------------------------------------------------------------------- */

#define FUNCTIONS(X) \
    X(cufftCreate) X(cufftDestroy) X(cufftSetAutoAllocation) X(cufftMakePlanMany64) X(cufftSetWorkArea) \
    X(cufftSetStream) X(cufftExecC2C) X(cufftExecZ2Z) X(cufftExecR2C) X(cufftExecD2Z) X(cufftExecC2R) \
    X(cufftExecZ2D)

struct Fft {
    bool found = false;
    FUNCTIONS(TSRC_POINTER)
    std::mutex lock; /* a plan has one stream, and one room to work in, at a time */
};

static Fft fft;

static void open_fft()
{
#define X(function) TSRC_FUNCTION_OF(fft, function)
    fft.found = open_library("cufft", CUFFT_VER_MAJOR, { FUNCTIONS(X) });
#undef X
}

static bool is_open()
{
    static const bool tried = (open_fft(), true);
    return tried && fft.found;
}

static tsr_status failure(const Work &w, const char *what, cufftResult s)
{
    if (s == CUFFT_ALLOC_FAILED) return say(TSR_ENOMEM, "%s: cuFFT is out of memory", w.name());
    return say(TSR_EDEVICE, "%s: cuFFT: %s gave %d", w.name(), what, static_cast<int>(s));
}

bool has_fft(const tsr_op *op)
{
    const tsr_fft_params *p = static_cast<const tsr_fft_params *>(op->params);
    return op->nin == 1 && op->in[0] && p && p->n < INT32_MAX && is_open();
}

/* Lanes --------------------------------------------------------------------------------------------- */

/* Where the lanes of two tensors lie, in elements of each: `groups` of `count` lanes. */
struct FftLanes {
    int64_t groups, count;
    int64_t apart[2], distance[2]; /* groups, lanes in one */
    int64_t step[2];               /* along the axis */
};

enum { MOST_GROUPS = 32 };

/* Numbers of a dtype that have a complex number's size: memory must be aligned to it. */
static int pairs_of(tsr_dtype dtype) { return dtype == TSR_F32 || dtype == TSR_F64 ? 2 : 1; }

/* Dims but the axis, neighbours merged where both tensors allow it. False: more than two are left. */
static bool find_lanes(FftLanes *out, const tsr_tensor &x, const tsr_tensor &z, int axis)
{
    int64_t n[2] = { 1, 1 }, step[2][2] = {};
    int used = 0; /* n[0] is innermost */
    for (int d = z.ndim - 1; d >= 0; d--) {
        if (d == axis || z.shape[d] == 1) continue;
        if (used > 0 && x.stride[d] == n[used - 1] * step[used - 1][0] &&
            z.stride[d] == n[used - 1] * step[used - 1][1]) {
            n[used - 1] *= z.shape[d];
            continue;
        }
        if (used == 2) return false;
        n[used] = z.shape[d];
        step[used][0] = x.stride[d];
        step[used++][1] = z.stride[d];
    }
    const int inner = used == 2 && n[1] > n[0] ? 1 : 0;
    *out = { n[1 - inner], n[inner], { step[1 - inner][0], step[1 - inner][1] },
             { step[inner][0], step[inner][1] }, { x.stride[axis], z.stride[axis] } };
    return out->groups == 1 || (out->groups <= MOST_GROUPS && out->apart[0] % pairs_of(x.dtype) == 0 &&
                                out->apart[1] % pairs_of(z.dtype) == 0);
}

/* Can cuFFT walk it? It takes no steps back. */
static bool suits(const tsr_tensor &t)
{
    const int aligned = tsrc_size(t.dtype) * pairs_of(t.dtype);
    for (int d = 0; d < t.ndim; d++)
        if (t.shape[d] > 1 && t.stride[d] <= 0) return false;
    return reinterpret_cast<uintptr_t>(t.data) % static_cast<uintptr_t>(aligned) == 0;
}

/* Do its elements fill the memory from the first to the last? */
static bool is_dense(const tsr_tensor &t)
{
    int64_t last = 0;
    for (int d = 0; d < t.ndim; d++) last += (t.shape[d] - 1) * t.stride[d];
    return last == numel(&t) - 1; /* elements of a result do not meet */
}

/* A copy with the dims of t, and `length` elements along the axis, lane after lane. */
static tsr_status make_room(Scratch &memory, tsr_tensor *out, const tsr_tensor &t, tsr_dtype dtype, int axis,
                            int64_t length)
{
    int64_t step = length;
    tsr_tensor r = t;
    r.dtype = dtype;
    r.shape[axis] = length;
    r.stride[axis] = 1;
    for (int d = t.ndim - 1; d >= 0; d--) {
        if (d == axis) continue;
        r.stride[d] = step;
        step *= t.shape[d];
    }
    TSRC_TRY(memory.take(static_cast<size_t>(numel(&r)) * static_cast<size_t>(tsrc_size(dtype))));
    r.data = memory.bytes();
    *out = r;
    return TSR_OK;
}

/* Plans -------------------------------------------------------------------------------------------- */

struct FftKey {
    int64_t device, type, n, count, step[2], distance[2];
    bool operator<(const FftKey &o) const { return std::memcmp(this, &o, sizeof *this) < 0; }
};

struct FftPlan {
    cufftHandle handle;
    size_t room;
};

enum { MOST_PLANS = 1024 };

static std::map<FftKey, FftPlan> plans;

static cufftResult make_plan(FftPlan *plan, const FftKey &k)
{
    const Beside beside;
    long long n = k.n, in = k.n, out = k.n; /* of one dim only whether there are any counts */
    cufftResult s = fft.cufftCreate(&plan->handle);
    if (s != CUFFT_SUCCESS) return s;
    s = fft.cufftSetAutoAllocation(plan->handle, 0);
    if (s == CUFFT_SUCCESS)
        s = fft.cufftMakePlanMany64(plan->handle, 1, &n, &in, k.step[0], k.distance[0], &out, k.step[1],
                                    k.distance[1], static_cast<cufftType>(k.type), k.count, &plan->room);
    if (s != CUFFT_SUCCESS) (void)fft.cufftDestroy(plan->handle);
    return s;
}

/* A plan in the list is never destroyed, as graphs may have recorded its kernels. */
static cufftResult find_plan(FftPlan *out, bool *is_kept, const FftKey &k)
{
    const auto found = plans.find(k);
    *is_kept = found != plans.end() || plans.size() < MOST_PLANS;
    if (found != plans.end()) {
        *out = found->second;
        return CUFFT_SUCCESS;
    }
    const cufftResult s = make_plan(out, k);
    if (s == CUFFT_SUCCESS && *is_kept) plans[k] = *out;
    return s;
}

static cufftType type_of(tsr_op_kind kind, bool wide)
{
    if (kind == TSR_OP_RFFT) return wide ? CUFFT_D2Z : CUFFT_R2C;
    if (kind == TSR_OP_IRFFT) return wide ? CUFFT_Z2D : CUFFT_C2R;
    return wide ? CUFFT_Z2Z : CUFFT_C2C;
}

static cufftResult execute(const FftPlan &plan, cufftType type, void *x, void *z, int direction)
{
    switch (type) {
    case CUFFT_C2C:
        return fft.cufftExecC2C(plan.handle, static_cast<cufftComplex *>(x), static_cast<cufftComplex *>(z),
                                direction);
    case CUFFT_Z2Z:
        return fft.cufftExecZ2Z(plan.handle, static_cast<cufftDoubleComplex *>(x),
                                static_cast<cufftDoubleComplex *>(z), direction);
    case CUFFT_R2C:
        return fft.cufftExecR2C(plan.handle, static_cast<cufftReal *>(x), static_cast<cufftComplex *>(z));
    case CUFFT_D2Z:
        return fft.cufftExecD2Z(plan.handle, static_cast<cufftDoubleReal *>(x),
                                static_cast<cufftDoubleComplex *>(z));
    case CUFFT_C2R:
        return fft.cufftExecC2R(plan.handle, static_cast<cufftComplex *>(x), static_cast<cufftReal *>(z));
    default:
        return fft.cufftExecZ2D(plan.handle, static_cast<cufftDoubleComplex *>(x),
                                static_cast<cufftDoubleReal *>(z));
    }
}

static char *at(const tsr_tensor &t, int64_t elements)
{
    return static_cast<char *>(t.data) + elements * tsrc_size(t.dtype);
}

static tsr_status transform(const Work &w, const tsr_tensor &x, const tsr_tensor &z, const FftLanes &l)
{
    const tsr_fft_params *p = static_cast<const tsr_fft_params *>(w.op->params);
    const bool wide = z.dtype == TSR_F64 || z.dtype == TSR_C128;
    const cufftType type = type_of(w.op->kind, wide);
    FftKey key;
    std::memset(&key, 0, sizeof key);
    key.device = w.device;
    key.type = type;
    key.n = p->n;
    key.count = l.count;
    for (int i = 0; i < 2; i++) {
        key.step[i] = l.step[i] > 0 ? l.step[i] : 1;
        key.distance[i] = l.count > 1 ? l.distance[i] : p->n;
    }
    std::lock_guard<std::mutex> guard(fft.lock);
    FftPlan plan;
    bool is_kept;
    Scratch room(w);
    cufftResult s = find_plan(&plan, &is_kept, key);
    if (s != CUFFT_SUCCESS) return failure(w, "the plan", s);
    const tsr_status taken = room.take(plan.room);
    if (taken == TSR_OK) s = fft.cufftSetWorkArea(plan.handle, room.bytes());
    if (taken == TSR_OK && s == CUFFT_SUCCESS) s = fft.cufftSetStream(plan.handle, w.stream);
    for (int64_t i = 0; i < l.groups && taken == TSR_OK && s == CUFFT_SUCCESS; i++)
        s = execute(plan, type, at(x, i * l.apart[0]), at(z, i * l.apart[1]),
                    p->inverse ? CUFFT_INVERSE : CUFFT_FORWARD);
    if (!is_kept) {
        (void)wait_for(w.device, w.stream);
        (void)fft.cufftDestroy(plan.handle);
    }
    return s != CUFFT_SUCCESS ? failure(w, "the transform", s) : taken;
}

/* Operands and results --------------------------------------------------------------------------------- */

static tsr_dtype complex_of(tsr_dtype dtype)
{
    return dtype == TSR_F64 || dtype == TSR_C128 ? TSR_C128 : TSR_C64;
}

/* x as the transform reads it, packed: followed by zeros, and for irfft as a spectrum that cuFFT may write
 * to, whose sign is that of the inverse. */
static tsr_status pack(const Work &w, Scratch &memory, tsr_tensor *out, tsr_dtype dtype, int64_t length)
{
    const tsr_fft_params *p = static_cast<const tsr_fft_params *>(w.op->params);
    const tsr_tensor &x = *w.op->in[0];
    TSRC_TRY(make_room(memory, out, x, dtype, p->axis, length));
    if (x.shape[p->axis] < length) TSRC_TRY(fill(w, out, tsr_scalar_i64(0)));
    tsr_tensor begin = *out;
    begin.shape[p->axis] = x.shape[p->axis];
    if (numel(&x) > 0) TSRC_TRY(copy(w, &begin, &x));
    if (w.op->kind != TSR_OP_IRFFT) return TSR_OK;
    return queue_spectrum(w, { out->data, numel(out) / length, length, p->n % 2 == 0, !p->inverse,
                               dtype == TSR_C128 });
}

/* The factors that are left to do, over memory without gaps. */
static tsr_status finish(const Work &w, const tsr_tensor &z)
{
    const tsr_fft_params *p = static_cast<const tsr_fft_params *>(w.op->params);
    const bool wide = z.dtype == TSR_F64 || z.dtype == TSR_C128, real = w.op->kind == TSR_OP_IRFFT;
    const double im = w.op->kind == TSR_OP_RFFT && p->inverse ? -p->scale : p->scale;
    const int64_t n = numel(&z);
    if (p->scale == 1 && im == 1) return TSR_OK;
    return queue_scale(w, { z.data, real ? n / 2 : n, p->scale, real ? p->scale : im, wide,
                            real && n % 2 == 1 });
}

static bool is_finished(const tsr_op *op)
{
    const tsr_fft_params *p = static_cast<const tsr_fft_params *>(op->params);
    return p->scale == 1 && !(op->kind == TSR_OP_RFFT && p->inverse);
}

/* One number is its own transform; of a spectrum, its real part. */
static tsr_status copy_numbers(const Work &w)
{
    tsr_tensor x = *w.op->in[0];
    if (w.op->kind == TSR_OP_IRFFT) {
        x.dtype = w.op->out[0]->dtype;
        for (int d = 0; d < x.ndim; d++) x.stride[d] *= 2;
    }
    return copy(w, w.op->out[0], &x);
}

tsr_status run_fft(const Work &w)
{
    const tsr_op *op = w.op;
    const tsr_fft_params *p = static_cast<const tsr_fft_params *>(op->params);
    const int axis = p->axis;
    tsr_tensor x = *op->in[0], z = *op->out[0];
    Scratch x_memory(w), z_memory(w);
    FftLanes lanes;
    const int64_t length = op->kind == TSR_OP_IRFFT ? p->n / 2 + 1 : p->n;
    const tsr_dtype reads = op->kind == TSR_OP_RFFT ? x.dtype : complex_of(x.dtype);
    if (numel(&z) == 0) return TSR_OK;
    if (p->n == 1 && x.shape[axis] == 1) return copy_numbers(w);
    const bool direct = op->kind != TSR_OP_IRFFT && x.dtype == reads && x.shape[axis] == length &&
                        suits(x);
    const bool writes = suits(z) && (is_finished(op) || is_dense(z));
    if (!direct) TSRC_TRY(pack(w, x_memory, &x, reads, length));
    if (!writes) TSRC_TRY(make_room(z_memory, &z, z, z.dtype, axis, z.shape[axis]));
    bool fits = find_lanes(&lanes, x, z, axis);
    if (!fits && direct) {
        TSRC_TRY(pack(w, x_memory, &x, reads, length));
        fits = find_lanes(&lanes, x, z, axis);
    }
    if (!fits) {
        TSRC_TRY(make_room(z_memory, &z, z, z.dtype, axis, z.shape[axis]));
        (void)find_lanes(&lanes, x, z, axis);
    }
    TSRC_TRY(transform(w, x, z, lanes));
    TSRC_TRY(finish(w, z));
    return z.data == op->out[0]->data ? TSR_OK : copy(w, op->out[0], &z);
}

} // namespace tsrc

#else

namespace tsrc {

bool has_fft(const tsr_op *) { return false; }
tsr_status run_fft(const Work &w) { return say(TSR_EUNSUPPORTED, "%s: built without cuFFT", w.name()); }

} // namespace tsrc

#endif
