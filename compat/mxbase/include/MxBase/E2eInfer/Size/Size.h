/* Size.h - the size of an image. */
#ifndef MX_SIZE_H
#define MX_SIZE_H

#include <cstdint>

namespace MxBase {

struct Size {
    Size() = default;
    Size(const uint32_t inputWidth, const uint32_t inputHeight) : width(inputWidth), height(inputHeight) {}

    uint32_t width = 0;
    uint32_t height = 0;
};

} // namespace MxBase

#endif
