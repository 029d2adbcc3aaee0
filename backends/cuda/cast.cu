/* cast.cu - copies that convert, and fill.
 *
 * Pairs of dtypes that networks live on have kernels of their own; all the others share one
 * that looks at the dtypes for every element. */
#include "convert.cuh"
#include "cuda.h"
#include "nest.cuh"

namespace tsrc {

tsr_status copy_same(const Work &w, const tsr_tensor *dst, const tsr_tensor *src);

struct CastArgs {
    tsrc_nest nest;
    int to, from;
};

__global__ void __launch_bounds__(TSRC_THREADS) any_cast_kernel(const __grid_constant__ CastArgs p)
{
    const uint32_t i = blockIdx.x * TSRC_THREADS + threadIdx.x;
    if (i >= p.nest.total) return;
    int64_t at[2];
    find_group(p.nest, i, at);
    convert(p.to, p.nest.data[0] + at[0], p.from, p.nest.data[1] + at[1]);
}

/* Elements of known dtypes: what they are in memory, and the wide number they hold. */
template <int D> struct Element;
template <class B, class W> struct IntegerElement {
    using Bits = B;
    static TSRC_FN W load(B b) { return W(b); }
    template <class V> static TSRC_FN B store(V v) { return integer_of<B>(v); }
};
template <> struct Element<TSR_I32> : IntegerElement<int32_t, int64_t> {
};
template <> struct Element<TSR_I64> : IntegerElement<int64_t, int64_t> {
};
template <> struct Element<TSR_U8> : IntegerElement<uint8_t, int64_t> {
};
template <> struct Element<TSR_I8> : IntegerElement<int8_t, int64_t> {
};
template <> struct Element<TSR_BOOL> {
    using Bits = uint8_t;
    static TSRC_FN int64_t load(uint8_t b) { return b != 0; }
    template <class V> static TSRC_FN uint8_t store(V v) { return v != V(0); }
};
#define SHORT_FLOAT(ID, B, name) \
    template <> struct Element<TSR_##ID> { \
        using Bits = B; \
        static TSRC_FN float load(B b) { return name##_to_f32(b); } \
        template <class V> static TSRC_FN B store(V v) { return f32_to_##name(odd_f32(v)); } \
    };
SHORT_FLOAT(F16, uint16_t, f16)
SHORT_FLOAT(BF16, uint16_t, bf16)
SHORT_FLOAT(F8E4M3, uint8_t, f8e4m3)
SHORT_FLOAT(F8E5M2, uint8_t, f8e5m2)
template <> struct Element<TSR_F32> {
    using Bits = float;
    static TSRC_FN float load(float b) { return b; }
    template <class V> static TSRC_FN float store(V v) { return f32_of(v); }
};
template <> struct Element<TSR_F64> {
    using Bits = double;
    static TSRC_FN double load(double b) { return b; }
    template <class V> static TSRC_FN double store(V v) { return f64_of(v); }
};

/* Neighbours that a thread converts at once: 16 bytes of the wider side. */
template <int TO, int FROM> struct Together {
    enum {
        to = sizeof(typename Element<TO>::Bits),
        from = sizeof(typename Element<FROM>::Bits),
        fit = 16 / (to > from ? to : from),
        n = fit < 8 ? fit : 8
    };
};

template <int TO, int FROM>
__global__ void __launch_bounds__(TSRC_THREADS) cast_kernel(const __grid_constant__ CastArgs p)
{
    using Z = Element<TO>;
    using X = Element<FROM>;
    constexpr int V = Together<TO, FROM>::n;
    const uint32_t i = blockIdx.x * TSRC_THREADS + threadIdx.x;
    if (i >= p.nest.total) return;
    int64_t at[2];
    const uint32_t column = find_group(p.nest, i, at);
    char *z = p.nest.data[0] + at[0];
    const char *x = p.nest.data[1] + at[1];
    if (p.nest.per == V && column + V <= p.nest.len) {
        Vec<typename X::Bits, V> from;
        Vec<typename Z::Bits, V> to;
        if (p.nest.step[0][1] != 0)
            from = *reinterpret_cast<const Vec<typename X::Bits, V> *>(x);
        else
            for (int k = 0; k < V; k++) from.e[k] = *reinterpret_cast<const typename X::Bits *>(x);
#pragma unroll
        for (int k = 0; k < V; k++) to.e[k] = Z::store(X::load(from.e[k]));
        *reinterpret_cast<Vec<typename Z::Bits, V> *>(z) = to;
        return;
    }
    for (uint32_t k = 0; k < uint32_t(p.nest.per) && column + k < p.nest.len; k++)
        *reinterpret_cast<typename Z::Bits *>(z + k * p.nest.step[0][0]) =
            Z::store(X::load(*reinterpret_cast<const typename X::Bits *>(x + k * p.nest.step[0][1])));
}

struct Pair {
    int to, from, vector;
    const void *kernel;
};

#define PAIR(A, B) \
    { \
        TSR_##A, TSR_##B, Together<TSR_##A, TSR_##B>::n, (const void *)cast_kernel<TSR_##A, TSR_##B> \
    }
#define BOTH(A, B) PAIR(A, B), PAIR(B, A)

static const Pair pairs[] = {
    BOTH(F32, F16),    BOTH(F32, BF16),    BOTH(F32, F64),    BOTH(F32, I32),    BOTH(F32, I64),
    BOTH(F32, U8),     BOTH(F32, I8),      BOTH(F32, BOOL),   BOTH(F16, BF16),   BOTH(F32, F8E4M3),
    BOTH(F32, F8E5M2), BOTH(BF16, F8E4M3), BOTH(F16, F8E4M3), BOTH(F16, F8E5M2), BOTH(I32, I64),
    BOTH(I32, U8),     BOTH(I64, BOOL),    BOTH(I32, BOOL),   BOTH(F64, I64),    BOTH(F64, I32),
    BOTH(F16, I32),    BOTH(BF16, I32),    BOTH(F16, U8),     BOTH(BF16, U8),    BOTH(BF16, F64),
    BOTH(F16, F64),    BOTH(F16, BOOL),    BOTH(BF16, BOOL),  BOTH(F64, BOOL),   BOTH(U8, BOOL),
    BOTH(F16, I64),    BOTH(BF16, I64),    BOTH(F16, I8),     BOTH(BF16, I8),    BOTH(F64, U8),
    BOTH(F64, I8),     BOTH(I64, U8),      BOTH(I64, I8),     BOTH(I32, I8),     BOTH(U8, I8),
};

static const Pair *find_pair(int to, int from)
{
    for (const Pair &p : pairs)
        if (p.to == to && p.from == from) return &p;
    return nullptr;
}

struct CastJob {
    const Work *w;
    const Pair *pair;
    CastArgs args;
};

static int cast_part(const tsr_loop *part, void *context)
{
    CastJob *j = static_cast<CastJob *>(context);
    const int sizes[] = { tsrc_size(static_cast<tsr_dtype>(j->args.to)),
                          tsrc_size(static_cast<tsr_dtype>(j->args.from)) };
    tsrc_nest_of(&j->args.nest, part, sizes, j->pair ? j->pair->vector : 1);
    return launch(*j->w, j->pair ? j->pair->kernel : (const void *)any_cast_kernel,
                  tsrc_blocks(j->args.nest.total, TSRC_THREADS), TSRC_THREADS, 0, j->args);
}

tsr_status copy(const Work &w, const tsr_tensor *dst, const tsr_tensor *src)
{
    if (dst->dtype == src->dtype) return copy_same(w, dst, src);
    tsr_loop l;
    CastJob job = { &w, find_pair(dst->dtype, src->dtype), {} };
    const tsr_tensor *const both[] = { dst, src };
    job.args.to = dst->dtype;
    job.args.from = src->dtype;
    host->normalise(&l, 2, both);
    return static_cast<tsr_status>(tsrc_split(&l, TSRC_DIMS, TSRC_LIMIT, cast_part, &job));
}

tsr_status run_copy(const Work &w) { return copy(w, w.op->out[0], w.op->in[0]); }

/* Fill --------------------------------------------------------------------------------------------- */

struct FillArgs {
    tsrc_nest nest;
    tsr_scalar value;
    int dtype;
};

TSRC_FN void store_scalar(int dtype, char *p, const tsr_scalar &s)
{
    switch (s.dtype) {
    case TSR_I64: store_any(dtype, p, s.as.i); break;
    case TSR_F64: store_any(dtype, p, s.as.c.re); break;
    case TSR_C128: store_complex(dtype, p, s.as.c.re, s.as.c.im); break;
    default: store_any(dtype, p, s.as.u); break;
    }
}

template <class S, int V>
__global__ void __launch_bounds__(TSRC_THREADS) fill_kernel(const __grid_constant__ FillArgs p)
{
    const uint32_t i = blockIdx.x * TSRC_THREADS + threadIdx.x;
    if (i >= p.nest.total) return;
    int64_t at[1];
    const uint32_t column = find_group(p.nest, i, at);
    S v;
    store_scalar(p.dtype, reinterpret_cast<char *>(&v), p.value);
    char *z = p.nest.data[0] + at[0];
    if (p.nest.per == V && column + V <= p.nest.len) {
        Vec<S, V> all;
#pragma unroll
        for (int k = 0; k < V; k++) all.e[k] = v;
        *reinterpret_cast<Vec<S, V> *>(z) = all;
    } else {
        for (uint32_t k = 0; k < uint32_t(p.nest.per) && column + k < p.nest.len; k++)
            *reinterpret_cast<S *>(z + k * p.nest.step[0][0]) = v;
    }
}

/* Complex numbers are aligned as their parts are. */
__global__ void __launch_bounds__(TSRC_THREADS) fill_parts_kernel(const __grid_constant__ FillArgs p)
{
    const uint32_t i = blockIdx.x * TSRC_THREADS + threadIdx.x;
    if (i >= p.nest.total) return;
    int64_t at[1];
    find_group(p.nest, i, at);
    store_scalar(p.dtype, p.nest.data[0] + at[0], p.value);
}

static const struct {
    const void *kernel;
    int vector;
} fills[] = {
    { (const void *)fill_kernel<uint8_t, 16>, 16 }, { (const void *)fill_kernel<uint16_t, 8>, 8 },
    { (const void *)fill_kernel<uint32_t, 4>, 4 },  { (const void *)fill_kernel<uint64_t, 2>, 2 },
    { (const void *)fill_parts_kernel, 1 },
};

struct FillJob {
    const Work *w;
    int size, slot;
    FillArgs args;
};

static int fill_part(const tsr_loop *part, void *context)
{
    FillJob *j = static_cast<FillJob *>(context);
    tsrc_nest_of(&j->args.nest, part, &j->size, fills[j->slot].vector);
    return launch(*j->w, fills[j->slot].kernel, tsrc_blocks(j->args.nest.total, TSRC_THREADS), TSRC_THREADS,
                  0, j->args);
}

tsr_status fill(const Work &w, const tsr_tensor *dst, tsr_scalar value)
{
    tsr_loop l;
    FillJob job = { &w, tsrc_size(dst->dtype), 0, {} };
    job.args.value = value;
    job.args.dtype = dst->dtype;
    host->normalise(&l, 1, &dst);
    while (1 << job.slot < job.size) job.slot++;
    if (kind_of(dst->dtype) == TSR_COMPLEX && !is_aligned(&l, 0, job.size)) job.slot = 4;
    return static_cast<tsr_status>(tsrc_split(&l, TSRC_DIMS, TSRC_LIMIT, fill_part, &job));
}

tsr_status run_fill(const Work &w)
{
    return fill(w, w.op->out[0], static_cast<const tsr_fill_params *>(w.op->params)->value);
}

} // namespace tsrc
