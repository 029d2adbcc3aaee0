#ifndef INFINIOP_AXPY_H
#define INFINIOP_AXPY_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopAxpyDescriptor_t;

/* y = alpha * x + y; alpha is a scalar. */
__INFINI_C __export infiniStatus_t infiniopCreateAxpyDescriptor(
    infiniopHandle_t handle,
    infiniopAxpyDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t alpha_desc,
    infiniopTensorDescriptor_t x_desc,
    infiniopTensorDescriptor_t y_desc);

__INFINI_C __export infiniStatus_t infiniopGetAxpyWorkspaceSize(infiniopAxpyDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopAxpy(
    infiniopAxpyDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    const void *alpha,
    const void *x,
    void *y,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyAxpyDescriptor(infiniopAxpyDescriptor_t desc);

#endif
