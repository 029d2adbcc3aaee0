#ifndef INFINIOP_DOT_H
#define INFINIOP_DOT_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopDotDescriptor_t;

/* y = sum of a[i] * b[i]; y is a scalar. */
__INFINI_C __export infiniStatus_t infiniopCreateDotDescriptor(
    infiniopHandle_t handle,
    infiniopDotDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t y_desc,
    infiniopTensorDescriptor_t a_desc,
    infiniopTensorDescriptor_t b_desc);

__INFINI_C __export infiniStatus_t infiniopGetDotWorkspaceSize(infiniopDotDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopDot(
    infiniopDotDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *y,
    const void *a,
    const void *b,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyDotDescriptor(infiniopDotDescriptor_t desc);

#endif
