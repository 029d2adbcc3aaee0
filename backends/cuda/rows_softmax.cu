/* rows_softmax.cu - softmax of rows in registers. */
#include "rows.cuh"

namespace tsrc {

/* The parts of a row together: the largest of all, and the sum relative to it. */
template <int TH> TSRC_FN RowPart join_parts(const RowArgs &a, uint32_t row, float *mosts, double *sums)
{
    const RowPart *parts = a.parts + uint64_t(row) * a.blocks;
    float most = -INFINITY;
    for (uint32_t p = threadIdx.x; p < a.blocks; p += TH) most = fmaxf(most, float(parts[p].first));
    most = over_threads<TH>(most, mosts, Most());
    double sum = 0;
    for (uint32_t p = threadIdx.x; p < a.blocks; p += TH)
        if (parts[p].second != 0) sum += parts[p].second * double(expf(float(parts[p].first) - most));
    return { double(most), over_threads<TH>(sum, sums, Plus()) };
}

/* Elements become exponentials, or what the largest leaves of them; the sums are of exponentials. */
template <bool LOG, class Row> TSRC_FN void add_exponentials(Row &row, float most, float (&sum)[4])
{
#pragma unroll
    for (int r = 0; r < Row::VECTORS; r++)
#pragma unroll
        for (int k = 0; k < Row::V; k++) {
            const float below = row.v[r][k] - most, e = expf(below);
            sum[k % 4] += e;
            row.v[r][k] = LOG ? below : e;
        }
}

/* Unseen elements are -inf in between. A NaN is passed over by fmaxf, and makes the sum NaN. */
template <class S, int TH, int R, bool WIDE, bool CAUSAL, RowMode MODE>
__global__ void __launch_bounds__(RowBlock<TH>::threads, RowBlock<TH>::resident)
    softmax_kernel(const __grid_constant__ RowArgs a)
{
    using Row = Share<S, TH, R, WIDE>;
    __shared__ float mosts[TH / 32 + 1], most_slot;
    __shared__ double sums[TH / 32 + 1], sum_slot;
    const RowPlace<TH, MODE> at(a);
    uint32_t seen = at.count;
    if constexpr (CAUSAL) {
        const int64_t end = int64_t(at.row % uint64_t(a.rows)) + 1 + a.columns - a.rows - at.first;
        seen = end < 0 ? 0 : uint32_t(min(end, int64_t(at.count)));
    }
    int64_t z = 0, x = 0;
    if (at.there) find_place(a.lanes, at.row, z, x);
    const int64_t offset = int64_t(at.first) * int64_t(sizeof(typename S::Bits));
    Row row(a.x + x + offset);
    row.load(a.x + x + offset, at.count);
    float most = -INFINITY;
#pragma unroll
    for (int r = 0; r < R; r++)
#pragma unroll
        for (int k = 0; k < Row::V; k++) {
            if (CAUSAL ? row.index(r, k) >= seen : !row.below(r, k, seen)) row.v[r][k] = -INFINITY;
            most = fmaxf(most, row.v[r][k]);
        }
    RowPart all = { 0, 0 };
    if constexpr (MODE == ROW_SECOND_PASS) {
        all = join_parts<TH>(a, at.row, mosts, sums);
        most = float(all.first);
    } else {
        most = over_row<TH, MODE>(most, mosts, &most_slot, Most());
    }
    const bool log = a.op == TSR_OP_LOG_SOFTMAX;
    /* A part of nothing but -inf adds 0 to the row, unless there is a NaN: -inf less itself would be one. */
    const float base = MODE == ROW_FIRST_PASS && most == -INFINITY ? 0.0f : most;
    float part[4] = { 0, 0, 0, 0 };
    if (log)
        add_exponentials<true>(row, base, part);
    else
        add_exponentials<false>(row, base, part);
    double sum = all.second;
    if constexpr (MODE != ROW_SECOND_PASS) {
        sum = (double(part[0]) + double(part[1])) + (double(part[2]) + double(part[3]));
        sum = over_row<TH, MODE>(sum, sums, &sum_slot, Plus());
    }
    if constexpr (MODE == ROW_FIRST_PASS) {
        if (threadIdx.x == 0) a.parts[uint64_t(at.row) * a.blocks + at.part] = { double(most), sum };
        return;
    }
    const float inverse = __frcp_rn(float(sum)), logarithm = log ? logf(float(sum)) : 0.0f;
#pragma unroll
    for (int r = 0; r < R; r++)
#pragma unroll
        for (int k = 0; k < Row::V; k++) {
            row.v[r][k] = log ? row.v[r][k] - logarithm : row.v[r][k] * inverse;
            if (CAUSAL && row.index(r, k) >= seen) row.v[r][k] = 0;
        }
    row.store(a.z + z + offset, at.count);
    if constexpr (MODE == ROW_CLUSTER) leave_cluster();
}

template <class S, bool WIDE, bool CAUSAL> static RowKernel kernel_of(int64_t n, RowMode mode)
{
    enum { TH = TSRC_PART_THREADS, R = PartVectors<S>::n };
    const uint32_t most = LongestShare<S, TH, R, WIDE>::n;
#define X(mode) \
    case mode: return { (const void *)softmax_kernel<S, TH, R, WIDE, CAUSAL, mode>, TH, 1, most };
    switch (mode) { X(ROW_CLUSTER) X(ROW_FIRST_PASS) X(ROW_SECOND_PASS) default: break; }
#undef X
#define X(TH, R) \
    { \
        (const void *)softmax_kernel<S, TH, R, WIDE, CAUSAL, ROW_ALONE>, RowBlock<TH>::threads, \
            RowBlock<TH>::rows, LongestShare<S, TH, R, WIDE>::n \
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
    if (a.op == TSR_OP_CAUSAL_SOFTMAX)
        return a.wide ? kernel_of<S, true, true>(n, mode) : kernel_of<S, false, true>(n, mode);
    return a.wide ? kernel_of<S, true, false>(n, mode) : kernel_of<S, false, false>(n, mode);
}

RowKernel softmax_kernel_for(const RowArgs &a, int64_t n, RowMode mode)
{
    switch (a.dtype) {
    case TSR_F32: return kernel_of<SF32>(a, n, mode);
    case TSR_F16: return kernel_of<Quick16<false>>(a, n, mode);
    case TSR_BF16: return kernel_of<Quick16<true>>(a, n, mode);
    default: return { nullptr, 0, 0, 0 };
    }
}

} // namespace tsrc
