/* elementwise.hpp - the three forms of an op on one or two tensors, with their checks. */
#ifndef RENAISSANCE_ELEMENTWISE_HPP
#define RENAISSANCE_ELEMENTWISE_HPP

#include "bridge.hpp"

namespace tr {
namespace face {

using Unary = tsr_status (*)(tsr_tensor **out, const tsr_tensor *x);
using Binary = tsr_status (*)(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y);

/* Looks at the elements before they are computed with; throws. */
using Check = void (*)(const Op &op, const Tensor &x);

Tensor unary(const Op &op, Unary function, const Tensor &x, Check check = nullptr);
void unary_inplace(const Op &op, Unary function, Tensor &x, Check check = nullptr);
void unary_into(const Op &op, Unary function, const Tensor &x, Tensor &y, Check check = nullptr);

/* Tensors of one shape; `what` is the op in words. */
Tensor binary(const Op &op, Binary function, const char *what, const Tensor &a, const Tensor &b);
void binary_into(const Op &op, Binary function, const Tensor &a, const Tensor &b, Tensor &result);

} // namespace face
} // namespace tr

#endif
