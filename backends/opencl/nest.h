/* nest.h - strides as kernels take them: the struct of common.cl, and how it is filled. */
#ifndef OCL_NEST_H
#define OCL_NEST_H

#include "opencl.h"

enum { OCL_DIMS = 16, OCL_OPERANDS = 4 };

typedef struct ocl_nest {
    cl_long count;
    cl_long n[OCL_DIMS];
    cl_long step[OCL_OPERANDS][OCL_DIMS];  /* bytes */
    cl_long base[OCL_OPERANDS];
    cl_int  dtype[OCL_OPERANDS];
    cl_int  ndim, is_small;
} ocl_nest;

/* One operand: where its first element is, and how it walks. */
typedef struct ocl_operand {
    cl_mem         mem;
    int64_t        base;                  /* bytes */
    int64_t        stride[TSR_MAX_NDIM];  /* bytes; 0 for dims of size 1 */
    tsr_dtype      dtype;
} ocl_operand;

size_t ocl_size_of(tsr_dtype dtype);

/* The product of a shape. */
int64_t ocl_numel(const tsr_tensor *t);

/* A tensor as an operand; one without elements has no buffer. */
tsr_status ocl_see(ocl_operand *out, const tsr_tensor *t);

/* The nest of tensors of one shape, sorted by the first one's steps and merged, and their buffers. */
tsr_status ocl_nest_of(ocl_nest *out, cl_mem *mems, int n, const tsr_tensor *const *tensors);

/* The nest of operands in the order of their dims: row-major, with neighbours merged that all walk as
 * one. */
void ocl_nest_in_order(ocl_nest *out, int ndim, const int64_t *shape, int n, const ocl_operand *operands);

/* The same without one dim, which has a lane's elements; steps come from operand->stride[axis]. */
void ocl_nest_lanes(ocl_nest *out, int ndim, const int64_t *shape, int axis, int n,
                    const ocl_operand *operands);

#endif
