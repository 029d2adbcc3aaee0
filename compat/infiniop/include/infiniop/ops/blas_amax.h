#ifndef INFINIOP_BLAS_AMAX_H
#define INFINIOP_BLAS_AMAX_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopBlasAmaxDescriptor_t;

/* result = place of the first largest |x[i]|, counted from 1, an integer. */
__INFINI_C __export infiniStatus_t infiniopCreateBlasAmaxDescriptor(
    infiniopHandle_t handle,
    infiniopBlasAmaxDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t x_desc,
    infiniopTensorDescriptor_t result_desc);

__INFINI_C __export infiniStatus_t infiniopGetBlasAmaxWorkspaceSize(
    infiniopBlasAmaxDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopBlasAmax(
    infiniopBlasAmaxDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    const void *x,
    void *result,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyBlasAmaxDescriptor(infiniopBlasAmaxDescriptor_t desc);

#endif
