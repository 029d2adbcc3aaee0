/* tiny_constants.h - constants that TinyMath and what stands on it share. */
#ifndef TINY_CONSTANTS_H
#define TINY_CONSTANTS_H

#include <stddef.h>

#ifndef TRUE
#define TRUE 1
#endif
#ifndef FALSE
#define FALSE 0
#endif

#define TINY_PI        3.14159265358979323846f
#define TINY_TWO_PI    6.28318530717958647692f
#define TINY_HALF_PI   1.57079632679489661923f
#define TINY_E         2.71828182845904523536f
#define TINY_SQRT2     1.41421356237309504880f
#define TINY_INV_SQRT2 0.70710678118654752440f

#define TINY_DEG2RAD(x) ((x) * TINY_PI / 180.0f)
#define TINY_RAD2DEG(x) ((x) * 180.0f / TINY_PI)

#define TINY_BIT(n)           (1U << (n))
#define TINY_BIT_SET(x, n)    ((x) |= TINY_BIT(n))
#define TINY_BIT_CLEAR(x, n)  ((x) &= ~TINY_BIT(n))
#define TINY_BIT_TOGGLE(x, n) ((x) ^= TINY_BIT(n))
#define TINY_BIT_CHECK(x, n)  (((x) >> (n)) & 0x1U)

#define TINY_MASK_4BIT  0x0FU
#define TINY_MASK_8BIT  0xFFU
#define TINY_MASK_16BIT 0xFFFFU
#define TINY_MASK_32BIT 0xFFFFFFFFU

#define TINY_Q7_SCALE  128
#define TINY_Q15_SCALE 32768
#define TINY_Q31_SCALE 2147483648U

/* Added to denominators that may be 0; what is smaller counts as 0 in divisions. */
#define TINY_MATH_MIN_DENOMINATOR        1e-6f
#define TINY_MATH_MIN_POSITIVE_INPUT_F32 1e-12f

#endif
