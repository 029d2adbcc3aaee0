/* tiny_math.h - vectors and matrices. */
#ifndef TINY_MATH_H
#define TINY_MATH_H

#include "tiny_math_config.h"
#include "tiny_vec.h"
#include "tiny_mat.h"
#ifdef __cplusplus
#include "tiny_matrix.hpp"
#endif

#endif
