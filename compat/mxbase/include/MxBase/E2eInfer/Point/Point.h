/* Point.h - a place in an image. */
#ifndef MX_POINT_H
#define MX_POINT_H

#include <cstdint>

namespace MxBase {

struct Point {
    Point() = default;
    Point(const uint32_t inputX, const uint32_t inputY) : x(inputX), y(inputY) {}

    uint32_t x = 0;
    uint32_t y = 0;
};

} // namespace MxBase

#endif
