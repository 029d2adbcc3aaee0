#ifndef INFINIOP_SCAL_H
#define INFINIOP_SCAL_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopScalDescriptor_t;

/* x = alpha * x; alpha is a scalar. */
__INFINI_C __export infiniStatus_t infiniopCreateScalDescriptor(
    infiniopHandle_t handle,
    infiniopScalDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t alpha_desc,
    infiniopTensorDescriptor_t x_desc);

__INFINI_C __export infiniStatus_t infiniopGetScalWorkspaceSize(infiniopScalDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopScal(
    infiniopScalDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    const void *alpha,
    void *x,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyScalDescriptor(infiniopScalDescriptor_t desc);

#endif
