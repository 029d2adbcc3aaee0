/* llaisys/tensor.h - tensors and views of them.
 *
 * A view shares the memory of the tensor it was made from and keeps it alive; each handle is
 * destroyed on its own. Strides count elements.
 *
 * A call that cannot be done prints why to standard error and throws std::invalid_argument or
 * std::runtime_error out of the C function, as the original does: a program in C++ may catch it, one
 * in another language ends. With LLAISYS_STRICT=0 in the environment it prints and returns NULL or 0.
 */
#ifndef LLAISYS_TENSOR_H
#define LLAISYS_TENSOR_H

#include "../llaisys.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct LlaisysTensor *llaisysTensor_t;

/* Contents are undefined. ndim 0 (shape may be NULL) is a scalar. */
__export llaisysTensor_t tensorCreate(size_t *shape, size_t ndim, llaisysDataType_t dtype,
                                      llaisysDeviceType_t device_type, int device_id);
__export void tensorDestroy(llaisysTensor_t tensor); /* NULL is fine */

__export void *tensorGetData(llaisysTensor_t tensor);
__export size_t tensorGetNdim(llaisysTensor_t tensor);
__export void tensorGetShape(llaisysTensor_t tensor, size_t *shape);
__export void tensorGetStrides(llaisysTensor_t tensor, ptrdiff_t *strides);
__export llaisysDataType_t tensorGetDataType(llaisysTensor_t tensor);
__export llaisysDeviceType_t tensorGetDeviceType(llaisysTensor_t tensor);
__export int tensorGetDeviceId(llaisysTensor_t tensor);

/* Shape, strides, dtype and elements, to standard output. */
__export void tensorDebug(llaisysTensor_t tensor);

/* Row-major without gaps; dims of size 1 do not count. */
__export uint8_t tensorIsContiguous(llaisysTensor_t tensor);

/* The elements of the tensor from row-major host memory. */
__export void tensorLoad(llaisysTensor_t tensor, const void *data);

/* Another shape for the same elements, where the strides allow it. */
__export llaisysTensor_t tensorView(llaisysTensor_t tensor, size_t *shape, size_t ndim);

/* The same with a packed copy where they do not. Not every release of the system has it. */
__export llaisysTensor_t tensorReshape(llaisysTensor_t tensor, size_t *shape, size_t ndim);

/* Dim i of the result is dim order[i]; order has as many numbers as the tensor has dims. */
__export llaisysTensor_t tensorPermute(llaisysTensor_t tensor, size_t *order);

/* Indices start .. end - 1 of one dim. */
__export llaisysTensor_t tensorSlice(llaisysTensor_t tensor, size_t dim, size_t start, size_t end);

#ifdef __cplusplus
}
#endif

#endif
