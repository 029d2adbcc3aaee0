/* tiny_mat.h - matrices of floats, row-major, with padding at the ends of rows.
 *
 * Element (r, c) lies at r * (cols + padding) + c * stride. An output may be an input.
 *
 * TINY_ERR_MATH_NULL_POINTER    a pointer is NULL
 * TINY_ERR_MATH_INVALID_PARAM   a size or stride is below 1, or a padding below 0
 */
#ifndef TINY_MAT_H
#define TINY_MAT_H

#include "tiny_math_config.h"

#ifdef __cplusplus
extern "C" {
#endif

TINY_EXPORT void print_matrix(const char *name, const float *mat, int rows, int cols);
TINY_EXPORT void print_matrix_padded(const char *name, const float *mat, int rows, int cols, int step);

TINY_EXPORT tiny_error_t tiny_mat_add_f32(const float *input1, const float *input2, float *output, int rows,
                                          int cols, int padd1, int padd2, int padd_out, int stride1,
                                          int stride2, int stride_out);
TINY_EXPORT tiny_error_t tiny_mat_addc_f32(const float *input, float *output, float C, int rows, int cols,
                                           int padd_in, int padd_out, int stride_in, int stride_out);
TINY_EXPORT tiny_error_t tiny_mat_sub_f32(const float *input1, const float *input2, float *output, int rows,
                                          int cols, int padd1, int padd2, int padd_out, int stride1,
                                          int stride2, int stride_out);
TINY_EXPORT tiny_error_t tiny_mat_subc_f32(const float *input, float *output, float C, int rows, int cols,
                                           int padd_in, int padd_out, int stride_in, int stride_out);
TINY_EXPORT tiny_error_t tiny_mat_multc_f32(const float *input, float *output, float C, int rows, int cols,
                                            int padd_in, int padd_out, int stride_in, int stride_out);

/* C (m, k) = A (m, n) B (n, k) */
TINY_EXPORT tiny_error_t tiny_mat_mult_f32(const float *A, const float *B, float *C, int m, int n, int k);
TINY_EXPORT tiny_error_t tiny_mat_mult_ex_f32(const float *A, const float *B, float *C, int A_rows,
                                              int A_cols, int B_cols, int A_padding, int B_padding,
                                              int C_padding);

#ifdef __cplusplus
}
#endif

#endif
