#ifndef INFINIOP_BLAS_COPY_H
#define INFINIOP_BLAS_COPY_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopBlasCopyDescriptor_t;

/* y = x. */
__INFINI_C __export infiniStatus_t infiniopCreateBlasCopyDescriptor(
    infiniopHandle_t handle,
    infiniopBlasCopyDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t x_desc,
    infiniopTensorDescriptor_t y_desc);

__INFINI_C __export infiniStatus_t infiniopGetBlasCopyWorkspaceSize(
    infiniopBlasCopyDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopBlasCopy(
    infiniopBlasCopyDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    const void *x,
    void *y,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyBlasCopyDescriptor(infiniopBlasCopyDescriptor_t desc);

#endif
