/* tensor_descriptor.h - dtype, shape and strides of a tensor, apart from its data. */
#ifndef INFINIOP_TENSOR_DESCRIPTOR_H
#define INFINIOP_TENSOR_DESCRIPTOR_H

#include "../infinicore.h"

struct InfiniopTensorDescriptor;

typedef struct InfiniopTensorDescriptor *infiniopTensorDescriptor_t;

/* ndim 0 is a scalar, and shape may then be NULL. Strides count elements and may be 0 or negative;
 * NULL means packed. Shape and strides are copied. */
__INFINI_C __export infiniStatus_t infiniopCreateTensorDescriptor(
    infiniopTensorDescriptor_t *desc_ptr,
    size_t ndim,
    const size_t *shape,
    const ptrdiff_t *strides,
    infiniDtype_t dtype);

__INFINI_C __export infiniStatus_t infiniopDestroyTensorDescriptor(infiniopTensorDescriptor_t desc);

#endif
