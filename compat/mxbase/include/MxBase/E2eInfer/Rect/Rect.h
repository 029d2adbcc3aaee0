/* Rect.h - columns x0 .. x1 - 1 and rows y0 .. y1 - 1 of an image. */
#ifndef MX_RECT_H
#define MX_RECT_H

#include <cstdint>

#include "MxBase/E2eInfer/Point/Point.h"

namespace MxBase {

struct Rect {
    Rect() = default;
    Rect(const uint32_t leftTopX, const uint32_t leftTopY, const uint32_t rightBottomX,
         const uint32_t rightBottomY)
        : x0(leftTopX), y0(leftTopY), x1(rightBottomX), y1(rightBottomY)
    {
    }
    Rect(const Point leftTop, const Point rightBottom)
        : x0(leftTop.x), y0(leftTop.y), x1(rightBottom.x), y1(rightBottom.y) {}

    uint32_t x0 = 0;
    uint32_t y0 = 0;
    uint32_t x1 = 0;
    uint32_t y1 = 0;
};

} // namespace MxBase

#endif
