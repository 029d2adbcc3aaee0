/* shape.h - up to four sizes, aligned at the right: (rows, cols) is N 0, C 0, H rows, W cols. */
#pragma once

#include <cstdint>
#include <initializer_list>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>

#include "tech_renaissance/tr_export.h"

namespace tr {

/* Sizes are positive; a scalar has none (all four are 0) and one element. What is negative, zero
 * among others, or too large throws TRException. */
class TR_EXPORT Shape {
public:
    Shape();
    explicit Shape(int32_t dim0); /* 0 makes a scalar */
    Shape(int32_t dim0, int32_t dim1);
    Shape(int32_t dim0, int32_t dim1, int32_t dim2);
    Shape(int32_t n, int32_t c, int32_t h, int32_t w);
    explicit Shape(std::initializer_list<int32_t> dims);

    int32_t ndim() const { return ndim_; }
    int64_t numel() const { return numel_; }
    int32_t dim(int32_t dim) const; /* TRException if there is none */

    /* 0 where the shape has no such dim. */
    int32_t n() const { return dims_[0]; }
    int32_t c() const { return dims_[1]; }
    int32_t h() const { return dims_[2]; }
    int32_t w() const { return dims_[3]; }
    int32_t number() const { return n(); }
    int32_t channel() const { return c(); }
    int32_t height() const { return h(); }
    int32_t width() const { return w(); }

    bool operator==(const Shape &other) const
    {
        return dims_[0] == other.dims_[0] && dims_[1] == other.dims_[1] && dims_[2] == other.dims_[2] &&
               dims_[3] == other.dims_[3];
    }
    bool operator!=(const Shape &other) const { return !(*this == other); }
    std::string to_string() const; /* "(4,3,2)", "()" */
    bool is_scalar() const { return ndim_ == 0; }

    /* (m,k) with (k,n)? */
    bool is_matmul_compatible(const Shape &other) const;

    /* Aligned at the right, each dim equal or 1? */
    bool is_broadcastable_to(const Shape &target) const;

private:
    int32_t dims_[4];
    int32_t ndim_;
    int64_t numel_;

    void set(const int32_t *dims, int32_t count);
};

TR_EXPORT std::ostream &operator<<(std::ostream &os, const Shape &shape);

} // namespace tr
