#ifndef INFINIOP_AVG_POOL1D_H
#define INFINIOP_AVG_POOL1D_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopAvgPool1dDescriptor_t;

/* Means of windows of x ((n,) c, width); padding counts as zeros. stride 0 is kernel_size. */
__INFINI_C __export infiniStatus_t infiniopCreateAvgPool1dDescriptor(
    infiniopHandle_t handle,
    infiniopAvgPool1dDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t y_desc,
    infiniopTensorDescriptor_t x_desc,
    size_t kernel_size,
    size_t stride,
    size_t padding);

__INFINI_C __export infiniStatus_t infiniopGetAvgPool1dWorkspaceSize(
    infiniopAvgPool1dDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopAvgPool1d(
    infiniopAvgPool1dDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *y,
    const void *x,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyAvgPool1dDescriptor(infiniopAvgPool1dDescriptor_t desc);

#endif
