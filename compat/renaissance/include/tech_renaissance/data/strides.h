/* strides.h - elements from one index to the next, along N, C, H and W. */
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "tech_renaissance/tr_export.h"

namespace tr {

class Shape;

class TR_EXPORT Strides {
public:
    Strides() noexcept; /* all 0 */
    explicit Strides(const Shape &shape); /* row-major and packed */
    Strides(int64_t n, int64_t c, int64_t h, int64_t w) noexcept;

    int64_t stride(int32_t dim) const; /* 0 is N, 3 is W; std::out_of_range */
    int64_t n() const noexcept { return strides_[0]; }
    int64_t c() const noexcept { return strides_[1]; }
    int64_t h() const noexcept { return strides_[2]; }
    int64_t w() const noexcept { return strides_[3]; }
    const int64_t *data() const noexcept { return strides_.data(); }
    int64_t *data() noexcept { return strides_.data(); }

    bool operator==(const Strides &other) const noexcept;
    bool operator!=(const Strides &other) const noexcept;

    int64_t get_offset(int64_t n, int64_t c, int64_t h, int64_t w) const noexcept;
    std::string to_string() const; /* "Strides(24, 12, 4, 1)" */
    bool is_contiguous(const Shape &shape) const; /* are they Strides(shape)? */

private:
    std::array<int64_t, 4> strides_;
};

} // namespace tr
