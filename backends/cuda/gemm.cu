/* gemm.cu - tiles of 64 x 64, by 256 threads that keep 4 x 4 sums each. What cuBLAS does not multiply
 * (integers), and all of it where there is no cuBLAS. */
#include "convert.cuh"
#include "gemm.h"
#include "nest.cuh"

namespace tsrc {

enum { TILE = 64, DEPTH = 16, EACH = 4 };

/* How elements are multiplied: Acc, zero, load, add (a product to a sum), store. */
struct FloatProduct {
    using Acc = float;
    static TSRC_FN Acc zero() { return 0; }
    static TSRC_FN Acc load(int dtype, const char *p) { return load_f32(dtype, p); }
    static TSRC_FN void add(Acc &s, Acc x, Acc y) { s = fmaf(x, y, s); }
    static TSRC_FN void store(const GemmArgs &g, char *z, Acc s, const char *c)
    {
        float v = float(g.alpha[0]) * s;
        if (c) v = fmaf(float(g.beta[0]), load_f32(g.dtype, c), v);
        store_float(g.dtype, z, v);
    }
};

struct DoubleProduct {
    using Acc = double;
    static TSRC_FN Acc zero() { return 0; }
    static TSRC_FN Acc load(int, const char *p) { return *reinterpret_cast<const double *>(p); }
    static TSRC_FN void add(Acc &s, Acc x, Acc y) { s = fma(x, y, s); }
    static TSRC_FN void store(const GemmArgs &g, char *z, Acc s, const char *c)
    {
        double v = g.alpha[0] * s;
        if (c) v = fma(g.beta[0], load(0, c), v);
        *reinterpret_cast<double *>(z) = v;
    }
};

template <class R> struct Pair {
    R re, im;
};

template <class R> struct ComplexProduct {
    using Acc = Pair<R>;
    static TSRC_FN Acc zero() { return { 0, 0 }; }
    static TSRC_FN Acc load(int, const char *p)
    {
        return { reinterpret_cast<const R *>(p)[0], reinterpret_cast<const R *>(p)[1] };
    }
    static TSRC_FN void add(Acc &s, Acc x, Acc y)
    {
        s.re += x.re * y.re - x.im * y.im;
        s.im += x.re * y.im + x.im * y.re;
    }
    static TSRC_FN void store(const GemmArgs &g, char *z, Acc s, const char *c)
    {
        Acc v = zero();
        add(v, { R(g.alpha[0]), R(g.alpha[1]) }, s);
        if (c) add(v, { R(g.beta[0]), R(g.beta[1]) }, load(0, c));
        reinterpret_cast<R *>(z)[0] = v.re;
        reinterpret_cast<R *>(z)[1] = v.im;
    }
};

/* Sums that wrap have the same low bits whatever the signs: 32 bits do for all but the longest. */
template <class W> struct IntegerProduct {
    using Acc = W;
    static TSRC_FN Acc zero() { return 0; }
    static TSRC_FN Acc load(int dtype, const char *p) { return W(load_integer(dtype, p)); }
    static TSRC_FN void add(Acc &s, Acc x, Acc y) { s += x * y; }
    static TSRC_FN void store(const GemmArgs &g, char *z, Acc s, const char *c)
    {
        W v = W(g.alpha_i) * s;
        if (c) v += W(g.beta_i) * load(g.dtype, c);
        store_integer(g.dtype, z, int64_t(v));
    }
};

template <class P>
__global__ void __launch_bounds__(TSRC_THREADS) gemm_kernel(const __grid_constant__ GemmArgs g)
{
    using Acc = typename P::Acc;
    __shared__ Acc left[DEPTH][TILE + 1], right[DEPTH][TILE + 1];
    uint32_t id = blockIdx.x;
    const int64_t n0 = int64_t(id % g.tiles_n) * TILE;
    id /= g.tiles_n;
    const int64_t m0 = int64_t(id % g.tiles_m) * TILE;
    id /= g.tiles_m;
    int64_t at[4];
    find_group(g.batch, id, at);
    const char *a = g.batch.data[1] + at[1], *b = g.batch.data[2] + at[2];
    const int x = threadIdx.x % 16, y = threadIdx.x / 16;
    Acc sum[EACH][EACH];
#pragma unroll
    for (int i = 0; i < EACH; i++)
#pragma unroll
        for (int j = 0; j < EACH; j++) sum[i][j] = P::zero();
    for (int64_t k0 = 0; k0 < g.k; k0 += DEPTH) {
        for (int e = threadIdx.x; e < TILE * DEPTH; e += TSRC_THREADS) {
            /* Neighbouring threads along the dim of unit stride. */
            const int ka = g.a[1] <= g.a[0] ? e % DEPTH : e / TILE,
                      i = g.a[1] <= g.a[0] ? e / DEPTH : e % TILE;
            const int kb = g.b[1] <= g.b[0] ? e / TILE : e % DEPTH,
                      j = g.b[1] <= g.b[0] ? e % TILE : e / DEPTH;
            const bool in_a = m0 + i < g.m && k0 + ka < g.k, in_b = n0 + j < g.n && k0 + kb < g.k;
            left[ka][i] = in_a ? P::load(g.dtype_a, a + (m0 + i) * g.a[0] + (k0 + ka) * g.a[1]) : P::zero();
            right[kb][j] = in_b ? P::load(g.dtype_b, b + (k0 + kb) * g.b[0] + (n0 + j) * g.b[1]) : P::zero();
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            Acc p[EACH], q[EACH];
#pragma unroll
            for (int i = 0; i < EACH; i++) {
                p[i] = left[k][y + 16 * i];
                q[i] = right[k][x + 16 * i];
            }
#pragma unroll
            for (int i = 0; i < EACH; i++)
#pragma unroll
                for (int j = 0; j < EACH; j++) P::add(sum[i][j], p[i], q[j]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < EACH; i++)
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            const int64_t row = m0 + y + 16 * i, column = n0 + x + 16 * j;
            if (row >= g.m || column >= g.n) continue;
            const char *c = g.has_c ? g.batch.data[3] + at[3] + row * g.c[0] + column * g.c[1] : nullptr;
            P::store(g, g.batch.data[0] + at[0] + row * g.z[0] + column * g.z[1], sum[i][j], c);
        }
}

/* Host ------------------------------------------------------------------------------------------------- */

void scalar_parts(tsr_scalar s, double parts[2], int64_t *integer)
{
    parts[1] = s.dtype == TSR_C128 ? s.as.c.im : 0;
    switch (s.dtype) {
    case TSR_I64:
        parts[0] = static_cast<double>(s.as.i);
        *integer = s.as.i;
        break;
    case TSR_F64:
    case TSR_C128:
        parts[0] = s.as.c.re;
        *integer = static_cast<int64_t>(s.as.c.re);
        break;
    default: parts[0] = static_cast<double>(s.as.u); *integer = static_cast<int64_t>(s.as.u);
    }
}

static const void *kernel_for(tsr_dtype dtype)
{
    switch (kind_of(dtype)) {
    case TSR_FLOATING:
        return dtype == TSR_F64 ? (const void *)gemm_kernel<DoubleProduct>
                                : (const void *)gemm_kernel<FloatProduct>;
    case TSR_COMPLEX:
        return dtype == TSR_C64 ? (const void *)gemm_kernel<ComplexProduct<float>>
                                : (const void *)gemm_kernel<ComplexProduct<double>>;
    default:
        return tsrc_size(dtype) == 8 ? (const void *)gemm_kernel<IntegerProduct<uint64_t>>
                                     : (const void *)gemm_kernel<IntegerProduct<uint32_t>>;
    }
}

/* A dim's step; of a dim of size 1 none. */
static int64_t step_of(const tsr_tensor *t, int d)
{
    return t->shape[d] > 1 ? t->stride[d] * tsrc_size(t->dtype) : 0;
}

struct GemmJob {
    const Work *w;
    const void *kernel;
    GemmArgs args;
};

static int gemm_part(const tsr_loop *part, void *context)
{
    GemmJob *j = static_cast<GemmJob *>(context);
    const int sizes[] = { 1, 1, 1, 1 };
    tsrc_nest_of(&j->args.batch, part, sizes, 1);
    return launch(*j->w, j->kernel, j->args.tiles_m * j->args.tiles_n * j->args.batch.total, TSRC_THREADS, 0,
                  j->args);
}

tsr_status gemm(const Work &w, const tsr_tensor *z, const tsr_tensor *a, const tsr_tensor *b,
                const tsr_tensor *c, tsr_scalar alpha, tsr_scalar beta)
{
    tsr_loop l;
    GemmJob job;
    GemmArgs &g = job.args;
    const int row = z->ndim - 2, column = z->ndim - 1;
    tsr_tensor views[4] = { *z, *a, *b, c ? *c : *z };
    const tsr_tensor *tensors[4];
    job.w = &w;
    job.kernel = kernel_for(z->dtype);
    g.m = z->shape[row];
    g.n = z->shape[column];
    g.k = a->shape[column];
    g.dtype_a = a->dtype;
    g.dtype_b = b->dtype;
    g.dtype = z->dtype;
    scalar_parts(alpha, g.alpha, &g.alpha_i);
    scalar_parts(beta, g.beta, &g.beta_i);
    g.has_c = c != nullptr && (g.beta[0] != 0 || g.beta[1] != 0 || g.beta_i != 0);
    g.tiles_m = tsrc_blocks(uint64_t(g.m), TILE);
    g.tiles_n = tsrc_blocks(uint64_t(g.n), TILE);
    for (int i = 0; i < 2; i++) {
        g.a[i] = step_of(a, row + i);
        g.b[i] = step_of(b, row + i);
        g.z[i] = step_of(z, row + i);
        g.c[i] = step_of(&views[3], row + i);
    }
    for (int i = 0; i < 4; i++) {
        views[i].ndim -= 2;
        tensors[i] = &views[i];
    }
    if (g.m == 0 || g.n == 0) return TSR_OK;
    host->normalise(&l, 4, tensors);
    const int64_t each = int64_t(g.tiles_m) * g.tiles_n, limit = (int64_t(1) << 31) / (each > 0 ? each : 1);
    return static_cast<tsr_status>(tsrc_split(&l, TSRC_DIMS, limit > 1 ? limit - 1 : 1, gemm_part, &job));
}

} // namespace tsrc
