/* tiny_vec.h - vectors of floats, element by element.
 *
 * A step is the distance between neighbours, in elements, 1 or more. An output may be an input.
 *
 * TINY_ERR_MATH_NULL_POINTER   a pointer is NULL
 * TINY_ERR_INVALID_ARG         a length or a step is below 1
 */
#ifndef TINY_VEC_H
#define TINY_VEC_H

#include "tiny_math_config.h"

#ifdef __cplusplus
extern "C" {
#endif

TINY_EXPORT tiny_error_t tiny_vec_add_f32(const float *input1, const float *input2, float *output, int len,
                                          int step1, int step2, int step_out);
TINY_EXPORT tiny_error_t tiny_vec_addc_f32(const float *input, float *output, int len, float C, int step_in,
                                           int step_out);
TINY_EXPORT tiny_error_t tiny_vec_sub_f32(const float *input1, const float *input2, float *output, int len,
                                          int step1, int step2, int step_out);
TINY_EXPORT tiny_error_t tiny_vec_subc_f32(const float *input, float *output, int len, float C, int step_in,
                                           int step_out);
TINY_EXPORT tiny_error_t tiny_vec_mul_f32(const float *input1, const float *input2, float *output, int len,
                                          int step1, int step2, int step_out);
TINY_EXPORT tiny_error_t tiny_vec_mulc_f32(const float *input, float *output, int len, float C, int step_in,
                                           int step_out);

/* A denominator below TINY_MATH_MIN_DENOMINATOR in magnitude gives 0 if that is allowed;
 * TINY_ERR_MATH_ZERO_DIVISION, before anything is written, if not. */
TINY_EXPORT tiny_error_t tiny_vec_div_f32(const float *input1, const float *input2, float *output, int len,
                                          int step1, int step2, int step_out, bool allow_divide_by_zero);
TINY_EXPORT tiny_error_t tiny_vec_divc_f32(const float *input, float *output, int len, float C, int step_in,
                                           int step_out, bool allow_divide_by_zero);

/* TINY_ERR_MATH_NEGATIVE_SQRT, before anything is written, if an element is negative (for the
 * inverse: not positive). The names with sqrtf are the same functions. */
TINY_EXPORT tiny_error_t tiny_vec_sqrt_f32(const float *input, float *output, int len);
TINY_EXPORT tiny_error_t tiny_vec_sqrtf_f32(const float *input, float *output, int len);
TINY_EXPORT tiny_error_t tiny_vec_inv_sqrt_f32(const float *input, float *output, int len);
TINY_EXPORT tiny_error_t tiny_vec_inv_sqrtf_f32(const float *input, float *output, int len);

TINY_EXPORT tiny_error_t tiny_vec_dotprod_f32(const float *src1, const float *src2, float *dest, int len);
TINY_EXPORT tiny_error_t tiny_vec_dotprode_f32(const float *src1, const float *src2, float *dest, int len,
                                               int step1, int step2);

#ifdef __cplusplus
}
#endif

#endif
