/* random.hpp - random elements in row-major order, on any device. The tensor has storage. */
#ifndef RENAISSANCE_RANDOM_HPP
#define RENAISSANCE_RANDOM_HPP

#include "tech_renaissance.h"

namespace tr {
namespace face {

void draw_normal(Tensor &t, unsigned int seed);
void draw_uniform(Tensor &t, float low, float high, unsigned int seed);
void draw_bool(Tensor &t, float rate_of_zeros, unsigned int seed);
void draw_integers(Tensor &t, int low, int high, unsigned int seed); /* low < high; any dtype */

} // namespace face
} // namespace tr

#endif
