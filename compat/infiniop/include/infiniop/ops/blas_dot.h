#ifndef INFINIOP_BLAS_DOT_H
#define INFINIOP_BLAS_DOT_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopBlasDotDescriptor_t;

/* result = sum of x[i] * y[i]; result is a scalar. */
__INFINI_C __export infiniStatus_t infiniopCreateBlasDotDescriptor(
    infiniopHandle_t handle,
    infiniopBlasDotDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t x_desc,
    infiniopTensorDescriptor_t y_desc,
    infiniopTensorDescriptor_t result_desc);

__INFINI_C __export infiniStatus_t infiniopGetBlasDotWorkspaceSize(
    infiniopBlasDotDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopBlasDot(
    infiniopBlasDotDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    const void *x,
    const void *y,
    void *result,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyBlasDotDescriptor(infiniopBlasDotDescriptor_t desc);

#endif
