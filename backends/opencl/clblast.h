/* clblast.h - matrix products by CLBlast, if it is found at run time. */
#ifndef OCL_CLBLAST_H
#define OCL_CLBLAST_H

#include "nest.h"

/* One product of matrices as stored: strides in bytes, 0 where they do not matter. */
typedef struct ocl_product {
    tsr_dtype dtype;
    int64_t   m, n, k;
    cl_mem    z, a, b;
    int64_t   z_base, a_base, b_base;
    int64_t   z_row, z_col, a_row, a_col, b_row, b_col;
    tsr_c128  alpha, beta;  /* of what z holds */
} ocl_product;

/* Is it there, and do dtype, size and strides suit it? */
bool ocl_clblast_suits(const ocl_product *p);

tsr_status ocl_clblast_run(const ocl_call *call, const ocl_product *p);

#endif
