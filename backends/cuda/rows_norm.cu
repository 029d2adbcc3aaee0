/* rows_norm.cu - norms of rows in registers. */
#include "rows.cuh"

namespace tsrc {

/* What elements are multiplied by, or what is added to them: f32, f16 or bf16, side by side and aligned. */
struct Affine {
    const char *data;
    int dtype;

    TSRC_FN float one(uint32_t i) const
    {
        if (dtype == TSR_F32) return reinterpret_cast<const float *>(data)[i];
        return S16::load(reinterpret_cast<const uint16_t *>(data)[i], dtype == TSR_BF16);
    }
    /* V of them from i on, a multiple of V. */
    template <int V> TSRC_FN void load(float (&w)[V], uint32_t i) const
    {
        if (dtype == TSR_F32) {
            const float4 *p = reinterpret_cast<const float4 *>(data + int64_t(i) * 4);
#pragma unroll
            for (int q = 0; q < V / 4; q++) {
                const float4 four = p[q];
                w[4 * q] = four.x;
                w[4 * q + 1] = four.y;
                w[4 * q + 2] = four.z;
                w[4 * q + 3] = four.w;
            }
            return;
        }
        const Vec<uint16_t, V> bits = *reinterpret_cast<const Vec<uint16_t, V> *>(data + int64_t(i) * 2);
        if (dtype == TSR_BF16) {
#pragma unroll
            for (int k = 0; k < V; k++) w[k] = Quick16<true>::load(bits.e[k], 0);
        } else {
#pragma unroll
            for (int k = 0; k < V; k++) w[k] = Quick16<false>::load(bits.e[k], 0);
        }
    }
};

/* What is known of a row once all of it was met. A mean of f32 has more digits than fit. */
struct Moments {
    double mean, squares;
};

TSRC_FN bool is_centred(const RowArgs &a) { return a.op == TSR_OP_LAYER_NORM || a.op == TSR_OP_GROUP_NORM; }

/* x - mean, with what rounding took from the mean. */
struct Centred {
    float mean, rest;
    TSRC_FN explicit Centred(double of) : mean(float(of)), rest(float(of - double(float(of)))) {}
    TSRC_FN float operator()(float x) const { return (x - mean) - rest; }
};

/* Sums of f(x) over a thread's share: f32 in f64, short floats in f32, whose few terms lose nothing that
 * they show. */
template <class S, class Row, class F> TSRC_FN double sum_of(Row &row, uint32_t n, F f)
{
    if constexpr (sizeof(typename S::Bits) == 4) {
        double sum = 0;
        row.each(n, [&](float x) { sum += f(double(x)); });
        return sum;
    } else {
        float sum = 0;
        row.each(n, [&](float x) { sum += f(x); });
        return double(sum);
    }
}

struct Itself {
    template <class T> TSRC_FN T operator()(T x) const { return x; }
};
struct Squared {
    template <class T> TSRC_FN T operator()(T x) const { return x * x; }
};

/* Squares about the mean. Those of short floats may pass the ends of f32: then all is done again in f64. */
template <class S, int TH, RowMode MODE, class Row>
TSRC_FN double squares_of(Row &row, uint32_t n, double mean, double *shared, double *slots)
{
    const Centred centred(mean);
    double squares;
    if constexpr (sizeof(typename S::Bits) == 4) {
        squares = 0;
        row.each(n, [&](float x) { /* not double(x), of which all would be kept from the mean on */
            const double d = double(centred(x));
            squares += d * d;
        });
        return over_row<TH, MODE>(squares, shared, slots, Plus());
    } else {
        float sum = 0;
        row.each(n, [&](float x) {
            const float d = centred(x);
            sum = __fmaf_rn(d, d, sum);
        });
        squares = over_row<TH, MODE>(double(sum), shared, slots, Plus());
        const bool fits = squares > 1e-20 && squares < 1e37;
        if (TH < 32 ? __all_sync(~0u, fits) : fits) return squares; /* a warp's rows meet all or none */
        double again = 0;
        row.each(n, [&](float x) {
            const double d = double(x) - mean;
            again += d * d;
        });
        again = over_row<TH, MODE>(again, shared, slots + 1, Plus());
        return fits ? squares : again;
    }
}

/* The parts of a row together. */
template <int TH> TSRC_FN Moments join_moments(const RowArgs &a, uint32_t row, double *shared)
{
    const RowPart *parts = a.parts + uint64_t(row) * a.blocks;
    Moments all = { 0, 0 };
    const auto size = [&](uint32_t p) { return double(min(a.n - int64_t(p) * a.share, int64_t(a.share))); };
    if (is_centred(a)) {
        for (uint32_t p = threadIdx.x; p < a.blocks; p += TH) all.mean += parts[p].first * size(p);
        all.mean = over_threads<TH>(all.mean, shared, Plus()) * a.inverse;
    }
    for (uint32_t p = threadIdx.x; p < a.blocks; p += TH) {
        const double off = parts[p].first - all.mean;
        all.squares += parts[p].second + (is_centred(a) ? off * off * size(p) : 0);
    }
    all.squares = over_threads<TH>(all.squares, shared, Plus());
    return all;
}

/* Weights of the elements from i on that vector r of a row has; `channels` come before the row's, where
 * weights are of channels. A WIDE vector lies in one channel. */
template <class Row>
TSRC_FN void load_affine(const RowArgs &a, const Affine &of, float (&w)[Row::V], const Row &row, int r,
                         uint32_t first, uint32_t n, uint32_t channels)
{
    const bool group = a.op == TSR_OP_GROUP_NORM;
    if (Row::ALIGNED && !group) {
        if (row.below(r, 0, n)) of.load(w, first + row.index(r, 0));
        return;
    }
#pragma unroll
    for (int k = 0; k < Row::V; k++) {
        if (Row::ALIGNED && k > 0) {
            w[k] = w[0];
            continue;
        }
        const uint32_t i = first + row.index(r, k);
        if (row.below(r, k, n)) w[k] = of.one(group ? channels + divide(i, a.by_each) : i);
    }
}

/* (x - mean) * by, times weight, plus bias. */
template <class Row>
TSRC_FN void scale_row(const RowArgs &a, Row &row, uint32_t lane, uint32_t first, uint32_t n,
                       const Moments &of)
{
    enum { V = Row::V };
    const Centred centred(of.mean);
    const float by = float(rsqrt(of.squares * a.inverse + a.eps));
    const uint32_t channels =
        a.op == TSR_OP_GROUP_NORM ? lane % uint32_t(a.groups) * divide(uint32_t(a.n), a.by_each) : 0;
#pragma unroll
    for (int r = 0; r < Row::VECTORS; r++) {
        float other[V];
#pragma unroll
        for (int k = 0; k < V; k++) row.v[r][k] = centred(row.v[r][k]) * by;
        if (a.weight) {
            load_affine<Row>(a, { a.weight, a.dtype_weight }, other, row, r, first, n, channels);
#pragma unroll
            for (int k = 0; k < V; k++) row.v[r][k] *= other[k];
        }
        if (a.bias) {
            load_affine<Row>(a, { a.bias, a.dtype_bias }, other, row, r, first, n, channels);
#pragma unroll
            for (int k = 0; k < V; k++) row.v[r][k] += other[k];
        }
    }
}

/* x + residual, as it is kept in sum_out. */
template <class S, class Row>
TSRC_FN void add_residual(Row &row, const char *residual, char *sum, uint32_t n)
{
    Row other(residual);
    other.shift = row.shift;
    other.load(residual, n);
#pragma unroll
    for (int r = 0; r < Row::VECTORS; r++)
#pragma unroll
        for (int k = 0; k < Row::V; k++)
            row.v[r][k] = S::load(S::store(row.v[r][k] + other.v[r][k], 0), 0);
    row.store(sum, n);
}

template <class S, int TH, int R, bool WIDE, RowMode MODE>
__global__ void __launch_bounds__(RowBlock<TH>::threads, RowBlock<TH>::resident)
    norm_kernel(const __grid_constant__ RowArgs a)
{
    __shared__ double shared[TH / 32 + 1], slots[3];
    const RowPlace<TH, MODE> at(a);
    const int64_t offset = int64_t(at.first) * int64_t(sizeof(typename S::Bits));
    int64_t z = 0, x = 0, sum = 0, residual = 0;
    if (at.there) find_place(a.lanes, at.row, z, x);
    Share<S, TH, R, WIDE> row(a.x + x + offset);
    if (a.op == TSR_OP_ADD_RMS_NORM) {
        if (at.there) find_place(a.also, at.row, sum, residual);
        if constexpr (MODE == ROW_SECOND_PASS) {
            row.load(a.sum + sum + offset, at.count);
        } else {
            row.load(a.x + x + offset, at.count);
            add_residual<S>(row, a.residual + residual + offset, a.sum + sum + offset, at.count);
        }
    } else {
        row.load(a.x + x + offset, at.count);
    }
    Moments of = { 0, 0 };
    if constexpr (MODE == ROW_SECOND_PASS) {
        of = join_moments<TH>(a, at.row, shared);
    } else {
        const double inverse = MODE == ROW_FIRST_PASS ? 1 / double(at.count) : a.inverse;
        if (is_centred(a)) {
            of.mean = sum_of<S>(row, at.count, Itself());
            of.mean = over_row<TH, MODE>(of.mean, shared, slots, Plus()) * inverse;
        }
        of.squares = squares_of<S, TH, MODE>(row, at.count, of.mean, shared, slots + 1);
    }
    if constexpr (MODE == ROW_FIRST_PASS) {
        if (threadIdx.x == 0) a.parts[uint64_t(at.row) * a.blocks + at.part] = { of.mean, of.squares };
        return;
    }
    scale_row(a, row, at.row, at.first, at.count, of);
    row.store(a.z + z + offset, at.count);
    if constexpr (MODE == ROW_CLUSTER) leave_cluster();
}

template <class S, bool WIDE> static RowKernel kernel_of(int64_t n, RowMode mode)
{
    enum { TH = TSRC_PART_THREADS, R = PartVectors<S>::n };
    const uint32_t most = LongestShare<S, TH, R, WIDE>::n;
#define X(mode) \
    case mode: return { (const void *)norm_kernel<S, TH, R, WIDE, mode>, TH, 1, most };
    switch (mode) { X(ROW_CLUSTER) X(ROW_FIRST_PASS) X(ROW_SECOND_PASS) default: break; }
#undef X
#define X(TH, R) \
    { \
        (const void *)norm_kernel<S, TH, R, WIDE, ROW_ALONE>, RowBlock<TH>::threads, RowBlock<TH>::rows, \
            LongestShare<S, TH, R, WIDE>::n \
    }
    if constexpr (WIDE) {
        static const RowKernel alone[] = { TSRC_WIDE_SHAPES(X, R) };
        return first_that_holds(alone, n);
    } else {
        static const RowKernel alone[] = { TSRC_OTHER_SHAPES(X, R) };
        return first_that_holds(alone, n);
    }
#undef X
}

template <class S> static RowKernel kernel_of(const RowArgs &a, int64_t n, RowMode mode)
{
    return a.wide ? kernel_of<S, true>(n, mode) : kernel_of<S, false>(n, mode);
}

RowKernel norm_kernel_for(const RowArgs &a, int64_t n, RowMode mode)
{
    switch (a.dtype) {
    case TSR_F32: return kernel_of<SF32>(a, n, mode);
    case TSR_F16: return kernel_of<Quick16<false>>(a, n, mode);
    case TSR_BF16: return kernel_of<Quick16<true>>(a, n, mode);
    default: return { nullptr, 0, 0, 0 };
    }
}

} // namespace tsrc
