#ifndef INFINIOP_GELU_H
#define INFINIOP_GELU_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopGeluDescriptor_t;

/* y = x times the normal distribution's integral. All tensors have one shape and one floating
 * dtype. */
__INFINI_C __export infiniStatus_t infiniopCreateGeluDescriptor(
    infiniopHandle_t handle,
    infiniopGeluDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t y_desc,
    infiniopTensorDescriptor_t x_desc);

__INFINI_C __export infiniStatus_t infiniopGetGeluWorkspaceSize(infiniopGeluDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopGelu(
    infiniopGeluDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *y,
    const void *x,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyGeluDescriptor(infiniopGeluDescriptor_t desc);

#endif
