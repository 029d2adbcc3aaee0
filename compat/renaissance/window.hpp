/* window.hpp - convolutions with square kernels: what both backends share. */
#ifndef RENAISSANCE_WINDOW_HPP
#define RENAISSANCE_WINDOW_HPP

#include "bridge.hpp"

namespace tr {
namespace face {

enum class Window { CONV, TRANSPOSED };

/* "[CPU Conv] words" */
[[noreturn]] void refuse_window(const Op &op, Window window, const std::string &words);

/* Sizes of H and W of the result; throws where there is no result. */
struct Sizes {
    int32_t h, w;
};
Sizes window_sizes(const Op &op, Window window, const Shape &input, const Shape &kernel, int32_t stride,
                   int32_t padding);

/* Operands have storage, FP32 and two dims at least; the kernel has four and is square. */
void check_window(const Op &op, Window window, const Tensor &input, const Tensor &kernel, int32_t stride,
                  int32_t padding);
void check_window_result(const Op &op, Window window, const Tensor &result, const Shape &expected);

/* Ones in front of the dims, until there are `ndim`. */
void lengthen(Operand &t, int ndim);

/* The input (n, c, h, w); the kernel (c_out, c_in, k, k), and (c_in, c_out, k, k) for TRANSPOSED. */
void run_window(const Op &op, Window window, Operand &input, Operand &kernel, Operand &result, int32_t stride,
                int32_t padding);

} // namespace face
} // namespace tr

#endif
