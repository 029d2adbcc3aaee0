/* offset.h - a range along each of N, C, H and W: what CpuBackend::slice cuts out.
 *
 * The end is not part of the range, and -1 is the end of the dim. Dims that are not given are
 * taken whole. A range that is empty, and a stride below 1, throw TRException.
 */
#pragma once

#include <cstdint>
#include <string>

#include "tech_renaissance/utils/tr_exception.h"

namespace tr {

class TR_EXPORT Offset {
public:
    Offset(int32_t w_start, int32_t w_end);
    Offset(int32_t h_start, int32_t h_end, int32_t w_start, int32_t w_end);
    Offset(int32_t c_start, int32_t c_end, int32_t h_start, int32_t h_end, int32_t w_start, int32_t w_end);
    Offset(int32_t n_start, int32_t n_end, int32_t c_start, int32_t c_end, int32_t h_start, int32_t h_end,
           int32_t w_start, int32_t w_end);

    int32_t n_start() const { return range_[0].start; }
    int32_t n_end() const { return range_[0].end; }
    int32_t n_stride() const { return range_[0].stride; }
    int32_t c_start() const { return range_[1].start; }
    int32_t c_end() const { return range_[1].end; }
    int32_t c_stride() const { return range_[1].stride; }
    int32_t h_start() const { return range_[2].start; }
    int32_t h_end() const { return range_[2].end; }
    int32_t h_stride() const { return range_[2].stride; }
    int32_t w_start() const { return range_[3].start; }
    int32_t w_end() const { return range_[3].end; }
    int32_t w_stride() const { return range_[3].stride; }

    void set_n_stride(int32_t stride) { set_stride(0, stride); }
    void set_c_stride(int32_t stride) { set_stride(1, stride); }
    void set_h_stride(int32_t stride) { set_stride(2, stride); }
    void set_w_stride(int32_t stride) { set_stride(3, stride); }

private:
    struct Range {
        int32_t start = 0, end = -1, stride = 1;
    };
    Range range_[4];

    void set_range(int dim, int32_t start, int32_t end);
    void set_stride(int dim, int32_t stride);
};

} // namespace tr
