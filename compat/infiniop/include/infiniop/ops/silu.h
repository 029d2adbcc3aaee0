#ifndef INFINIOP_SILU_H
#define INFINIOP_SILU_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopSiluDescriptor_t;

/* y = x * sigmoid(x). All tensors have one shape and one floating dtype. */
__INFINI_C __export infiniStatus_t infiniopCreateSiluDescriptor(
    infiniopHandle_t handle,
    infiniopSiluDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t y_desc,
    infiniopTensorDescriptor_t x_desc);

__INFINI_C __export infiniStatus_t infiniopGetSiluWorkspaceSize(infiniopSiluDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopSilu(
    infiniopSiluDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *y,
    const void *x,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroySiluDescriptor(infiniopSiluDescriptor_t desc);

#endif
