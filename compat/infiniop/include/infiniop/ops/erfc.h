#ifndef INFINIOP_ERFC_H
#define INFINIOP_ERFC_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopErfcDescriptor_t;

/* y = 1 - erf(x). All tensors have one shape and one floating dtype. */
__INFINI_C __export infiniStatus_t infiniopCreateErfcDescriptor(
    infiniopHandle_t handle,
    infiniopErfcDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t y_desc,
    infiniopTensorDescriptor_t x_desc);

__INFINI_C __export infiniStatus_t infiniopGetErfcWorkspaceSize(infiniopErfcDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopErfc(
    infiniopErfcDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *y,
    const void *x,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyErfcDescriptor(infiniopErfcDescriptor_t desc);

#endif
