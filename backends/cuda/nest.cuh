/* nest.cuh - plans in device code: finding a thread's place. */
#ifndef TSRC_NEST_CUH
#define TSRC_NEST_CUH

#include "numbers.cuh"
#include "plan.h"

namespace tsrc {

TSRC_FN uint32_t divide(uint32_t n, const tsrc_div &by) { return (__umulhi(n, by.m) + n) >> by.s; }

/* Adds the steps of place `at` to both offsets. */
TSRC_FN void find_place(const tsrc_place &p, uint32_t at, int64_t &first, int64_t &second)
{
#pragma unroll 1
    for (int i = 0; i < p.nd; i++) {
        const uint32_t q = divide(at, p.n[i]), r = at - q * p.n[i].d;
        first += int64_t(r) * p.step[i][0];
        second += int64_t(r) * p.step[i][1];
        at = q;
    }
}

/* The place of thread `at` of a nest with N operands: offsets in bytes, and which element of the
 * innermost dim its first is. */
template <int N> TSRC_FN uint32_t find_group(const tsrc_nest &p, uint32_t at, int64_t (&offset)[N])
{
    uint32_t row = p.nd > 1 ? divide(at, p.div[0]) : 0;
    const uint32_t column = (at - row * p.div[0].d) * uint32_t(p.per);
#pragma unroll
    for (int o = 0; o < N; o++) offset[o] = int64_t(column) * p.step[0][o];
#pragma unroll 1
    for (int i = 1; i < p.nd; i++) {
        const uint32_t q = i + 1 < p.nd ? divide(row, p.div[i]) : 0, r = row - q * p.div[i].d;
#pragma unroll
        for (int o = 0; o < N; o++) offset[o] += int64_t(r) * p.step[i][o];
        row = q;
    }
    return column;
}

} // namespace tsrc

#endif
