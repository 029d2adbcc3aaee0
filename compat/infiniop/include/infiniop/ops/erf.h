#ifndef INFINIOP_ERF_H
#define INFINIOP_ERF_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopErfDescriptor_t;

/* y = erf(x). All tensors have one shape and one floating dtype. */
__INFINI_C __export infiniStatus_t infiniopCreateErfDescriptor(
    infiniopHandle_t handle,
    infiniopErfDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t y_desc,
    infiniopTensorDescriptor_t x_desc);

__INFINI_C __export infiniStatus_t infiniopGetErfWorkspaceSize(infiniopErfDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopErf(
    infiniopErfDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *y,
    const void *x,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyErfDescriptor(infiniopErfDescriptor_t desc);

#endif
