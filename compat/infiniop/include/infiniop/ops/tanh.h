#ifndef INFINIOP_TANH_H
#define INFINIOP_TANH_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopTanhDescriptor_t;

/* y = tanh(x). All tensors have one shape and one floating dtype. */
__INFINI_C __export infiniStatus_t infiniopCreateTanhDescriptor(
    infiniopHandle_t handle,
    infiniopTanhDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t y_desc,
    infiniopTensorDescriptor_t x_desc);

__INFINI_C __export infiniStatus_t infiniopGetTanhWorkspaceSize(infiniopTanhDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopTanh(
    infiniopTanhDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *y,
    const void *x,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyTanhDescriptor(infiniopTanhDescriptor_t desc);

#endif
