#ifndef INFINIOP_BLAS_AMIN_H
#define INFINIOP_BLAS_AMIN_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopBlasAminDescriptor_t;

/* result = place of the first smallest |x[i]|, counted from 1, an integer. */
__INFINI_C __export infiniStatus_t infiniopCreateBlasAminDescriptor(
    infiniopHandle_t handle,
    infiniopBlasAminDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t x_desc,
    infiniopTensorDescriptor_t result_desc);

__INFINI_C __export infiniStatus_t infiniopGetBlasAminWorkspaceSize(
    infiniopBlasAminDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopBlasAmin(
    infiniopBlasAminDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    const void *x,
    void *result,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyBlasAminDescriptor(infiniopBlasAminDescriptor_t desc);

#endif
