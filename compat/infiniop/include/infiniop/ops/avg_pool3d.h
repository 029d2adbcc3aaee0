#ifndef INFINIOP_AVG_POOL3D_H
#define INFINIOP_AVG_POOL3D_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopAvgPool3dDescriptor_t;

/* The same for x (n, c, depth, height, width); each pointer is at 3 size_t. stride NULL is the
 * kernel size, padding NULL is 0. */
__INFINI_C __export infiniStatus_t infiniopCreateAvgPool3dDescriptor(
    infiniopHandle_t handle,
    infiniopAvgPool3dDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t y_desc,
    infiniopTensorDescriptor_t x_desc,
    void *kernel_size,
    void *stride,
    void *padding);

__INFINI_C __export infiniStatus_t infiniopGetAvgPool3dWorkspaceSize(
    infiniopAvgPool3dDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopAvgPool3d(
    infiniopAvgPool3dDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *y,
    const void *x,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyAvgPool3dDescriptor(infiniopAvgPool3dDescriptor_t desc);

#endif
