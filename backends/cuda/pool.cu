/* pool.cu - lp_pool: roots of sums of powers of windows, in f64. */
#include <cstring>

#include "cuda.h"
#include "nest.cuh"

namespace tsrc {

/* Dims of windows stand outermost first; what x lacks has size 1. */
struct PoolArgs {
    tsrc_place lead; /* z, x over the dims ahead of the spatial ones */
    char *z;
    const char *x;
    uint32_t total;
    tsrc_div out[3];
    int64_t in[3], taps[3], stride[3], padding[3];
    int64_t z_step[3], x_step[3]; /* bytes */
    double p;
    int dtype;
};

/* What one output sees: elements begin .. end - 1 of each dim. */
struct Seen {
    int64_t begin[3], end[3];
    double places, all; /* in x and its padding, and of a whole window */
};

TSRC_FN Seen see(const PoolArgs &a, const uint32_t (&o)[3])
{
    Seen s;
    s.places = s.all = 1;
    for (int d = 0; d < 3; d++) {
        const int64_t at = o[d] * a.stride[d] - a.padding[d];
        s.begin[d] = max(at, int64_t(0));
        s.end[d] = min(at + a.taps[d], a.in[d]);
        s.places *= double(min(a.taps[d], a.in[d] + a.padding[d] - at));
        s.all *= double(a.taps[d]);
    }
    return s;
}

TSRC_FN double power(double x, double p)
{
    return p == 2 ? x * x : p == 1 ? x : p == 3 ? x * x * x : pow(x, p);
}

TSRC_FN double root(double sum, double p) { return p == 1 ? sum : p == 2 ? sqrt(sum) : pow(sum, 1 / p); }

/* The sum of (x * half * rest)^p; of an infinite p the largest |x|, where a NaN stays. */
TSRC_FN double accumulate(const PoolArgs &a, const char *x, const Seen &s, double half, double rest, double p)
{
    double sum = 0;
    for (int64_t i = s.begin[0]; i < s.end[0]; i++)
        for (int64_t k = s.begin[1]; k < s.end[1]; k++)
            for (int64_t m = s.begin[2]; m < s.end[2]; m++) {
                const double v =
                    load_real(a.dtype, x + i * a.x_step[0] + k * a.x_step[1] + m * a.x_step[2]);
                if (!isinf(p)) sum += power(v * half * rest, p);
                else if (fabs(v) > sum || v != v) sum = fabs(v);
            }
    return sum;
}

/* Elements are divided by a power of two near the largest, in two steps: it may be 2^1024. */
TSRC_FN double norm_of(const PoolArgs &a, const char *x, const Seen &s)
{
    const double largest = accumulate(a, x, s, 1, 1, HUGE_VAL);
    int exponent = isinf(largest) ? 1024 : 0;
    if (isinf(a.p)) return largest;
    if (isfinite(largest)) (void)frexp(largest, &exponent);
    const double half = ldexp(1.0, -exponent / 2), rest = ldexp(1.0, -exponent - -exponent / 2);
    double sum = accumulate(a, x, s, half, rest, a.p);
    if (s.places != s.all) sum = sum / s.places * s.all;
    return root(sum, a.p) / half / rest;
}

/* A thread for each output. */
__global__ void __launch_bounds__(TSRC_THREADS) lp_pool_kernel(const __grid_constant__ PoolArgs a)
{
    uint32_t i = blockIdx.x * TSRC_THREADS + threadIdx.x, o[3];
    if (i >= a.total) return;
    int64_t z = 0, x = 0;
    for (int d = 2; d >= 0; d--) {
        const uint32_t q = divide(i, a.out[d]);
        o[d] = i - q * a.out[d].d;
        z += o[d] * a.z_step[d];
        i = q;
    }
    find_place(a.lead, i, z, x);
    store_float(a.dtype, a.z + z, norm_of(a, a.x + x, see(a, o)));
}

static int64_t step_of(const tsr_tensor *t, int d)
{
    return t->shape[d] > 1 ? t->stride[d] * tsrc_size(t->dtype) : 0;
}

/* Spatial dim i, or one that x lacks. */
static void plan_dim(PoolArgs &a, const tsr_op *op, int i)
{
    const tsr_pool_params *p = static_cast<const tsr_pool_params *>(op->params);
    const tsr_tensor *x = op->in[0], *z = op->out[0];
    const int d = 3 - p->spatial + i, dim = x->ndim - p->spatial + i;
    a.out[d] = tsrc_div_by(i < 0 ? 1 : uint32_t(z->shape[dim]));
    a.in[d] = i < 0 ? 1 : x->shape[dim];
    a.taps[d] = i < 0 ? 1 : p->kernel[i];
    a.stride[d] = i < 0 ? 1 : p->stride[i];
    a.padding[d] = i < 0 ? 0 : p->padding[i];
    a.z_step[d] = i < 0 ? 0 : step_of(z, dim);
    a.x_step[d] = i < 0 ? 0 : step_of(x, dim);
}

static bool fits(const tsr_op *op) { return numel(op->out[0]) <= TSRC_LIMIT && op->in[0]->ndim <= TSRC_DIMS; }

bool has_lp_pool(const tsr_op *op) { return op->params && op->in[0] && op->out[0] && fits(op); }

tsr_status run_lp_pool(const Work &w)
{
    const tsr_pool_params *p = static_cast<const tsr_pool_params *>(w.op->params);
    const tsr_tensor *x = w.op->in[0], *z = w.op->out[0];
    const tsr_tensor *const both[] = { z, x };
    PoolArgs a;
    tsr_loop l;
    if (numel(z) == 0) return TSR_OK;
    std::memset(&a, 0, sizeof a);
    tsrc_ordered(&l, 2, both, ((1u << p->spatial) - 1) << (x->ndim - p->spatial));
    tsrc_place_of(&a.lead, &l, 0);
    for (int d = 0; d < 3; d++) plan_dim(a, w.op, d - (3 - p->spatial));
    a.z = static_cast<char *>(z->data);
    a.x = static_cast<const char *>(x->data);
    a.total = uint32_t(numel(z));
    a.p = p->p;
    a.dtype = x->dtype;
    return launch(w, (const void *)lp_pool_kernel, tsrc_blocks(a.total, TSRC_THREADS), TSRC_THREADS, 0, a);
}

} // namespace tsrc
