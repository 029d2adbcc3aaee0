#ifndef INFINIOP_QUICKGELU_H
#define INFINIOP_QUICKGELU_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopQuickGeluDescriptor_t;

/* y = x * sigmoid(1.702 x). All tensors have one shape and one floating dtype. */
__INFINI_C __export infiniStatus_t infiniopCreateQuickGeluDescriptor(
    infiniopHandle_t handle,
    infiniopQuickGeluDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t y_desc,
    infiniopTensorDescriptor_t x_desc);

__INFINI_C __export infiniStatus_t infiniopGetQuickGeluWorkspaceSize(
    infiniopQuickGeluDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopQuickGelu(
    infiniopQuickGeluDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *y,
    const void *x,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyQuickGeluDescriptor(infiniopQuickGeluDescriptor_t desc);

#endif
