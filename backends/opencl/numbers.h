/* numbers.h - numbers of any dtype on the host, by the rules of dtype.h; classes of dtypes. */
#ifndef OCL_NUMBERS_H
#define OCL_NUMBERS_H

#include "opencl.h"

/* A floating dtype's pattern nearest to v, and the value of a pattern. */
uint64_t ocl_float_bits(tsr_dtype dtype, double v);
double   ocl_float_value(tsr_dtype dtype, uint64_t bits);

/* A scalar as an element lies in memory; the rest of `out` is 0. */
void ocl_scalar_bytes(unsigned char out[16], tsr_dtype dtype, tsr_scalar s);

double   ocl_scalar_real(tsr_scalar s);
double   ocl_scalar_imaginary(tsr_scalar s);
uint64_t ocl_scalar_whole(tsr_scalar s);  /* low 64 bits; floats toward zero, held to the range of i64 */

int64_t ocl_to_i64(double v);

bool ocl_is_floating(tsr_dtype dtype);
bool ocl_is_complex(tsr_dtype dtype);
bool ocl_is_signed(tsr_dtype dtype);

/* "-DCLASS_FLOAT": the option for programs that compute with the dtype (common.cl). */
const char *ocl_class_option(tsr_dtype dtype);

/* NULL, or why the device cannot compute with the dtype. */
const char *ocl_lacks(const ocl_device *d, tsr_dtype dtype);

#endif
