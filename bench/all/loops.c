/* loops.c - plain loops over two dims, as anybody would write them: the floor that no op should be behind.
 *
 * Built by run.py with -O3 -march=native -ffast-math: sums may be vectorised in any order. A loop is called
 * with the result, the operands and their strides in elements, and repeated `times` times. */
#include <math.h>
#include <stdint.h>

#define NAME_(op, t) op##_##t
#define NAME(op, t)  NAME_(op, t)

#define T f32
typedef float f32;
#include "loops.inc"
#undef T

#define T f64
typedef double f64;
#include "loops.inc"
#undef T

#define T i32
#define WHOLE
typedef int32_t i32;
#include "loops.inc"
#undef T
#undef WHOLE
