#ifndef INFINIOP_ERFINV_H
#define INFINIOP_ERFINV_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopErfinvDescriptor_t;

/* y with erf(y) = x. All tensors have one shape and one floating dtype. */
__INFINI_C __export infiniStatus_t infiniopCreateErfinvDescriptor(
    infiniopHandle_t handle,
    infiniopErfinvDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t y_desc,
    infiniopTensorDescriptor_t x_desc);

__INFINI_C __export infiniStatus_t infiniopGetErfinvWorkspaceSize(
    infiniopErfinvDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopErfinv(
    infiniopErfinvDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *y,
    const void *x,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyErfinvDescriptor(infiniopErfinvDescriptor_t desc);

#endif
