/* boxes.hpp - what is done to boxes of corners (x0, y0) and (x1, y1), of whatever class. */
#ifndef MXBASE_BOXES_HPP
#define MXBASE_BOXES_HPP

#include <algorithm>
#include <vector>

namespace mxface {

template <typename Box> void scale(std::vector<Box> &boxes, float x, float y)
{
    for (Box &box : boxes) {
        box.x0 *= x;
        box.x1 *= x;
        box.y0 *= y;
        box.y1 *= y;
    }
}

template <typename Box> void shift(std::vector<Box> &boxes, float x, float y)
{
    for (Box &box : boxes) {
        box.x0 += x;
        box.x1 += x;
        box.y0 += y;
        box.y1 += y;
    }
}

template <typename Box, typename Is> void erase_if(std::vector<Box> &boxes, Is is)
{
    boxes.erase(std::remove_if(boxes.begin(), boxes.end(), is), boxes.end());
}

/* Those that begin beyond the picture go, the others end at its edges. */
template <typename Box> void hold(std::vector<Box> &boxes, float width, float height)
{
    erase_if(boxes, [=](const Box &box) { return box.x0 > width || box.y0 > height; });
    for (Box &box : boxes) {
        box.x1 = std::min(box.x1, width);
        box.y1 = std::min(box.y1, height);
    }
}

} // namespace mxface

#endif
