/* reduction.hpp - ops along one dim: checks and shapes. */
#ifndef RENAISSANCE_REDUCTION_HPP
#define RENAISSANCE_REDUCTION_HPP

#include "bridge.hpp"

namespace tr {
namespace face {

/* "[CPU Sum] words" */
[[noreturn]] void refuse_along(const Op &op, const char *title, const std::string &words);

/* Checks the operand, and counts a negative dim from the end. */
int32_t check_along(const Op &op, const char *title, const Tensor &x, int32_t dim);

/* Checks a result that is given. */
void check_result_place(const Op &op, const char *title, const Tensor &result);
void check_result_shape(const Op &op, const char *title, const Tensor &result, const Shape &expected);

Shape reduced_shape(const Shape &shape, int32_t dim, bool keep_dim);

} // namespace face
} // namespace tr

#endif
