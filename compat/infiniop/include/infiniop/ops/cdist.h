#ifndef INFINIOP_CDIST_H
#define INFINIOP_CDIST_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopCdistDescriptor_t;

/* y[..., i, j] is the p-norm of x1[..., i, :] - x2[..., j, :]. */
__INFINI_C __export infiniStatus_t infiniopCreateCdistDescriptor(
    infiniopHandle_t handle,
    infiniopCdistDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t y_desc,
    infiniopTensorDescriptor_t x1_desc,
    infiniopTensorDescriptor_t x2_desc,
    double p);

__INFINI_C __export infiniStatus_t infiniopGetCdistWorkspaceSize(
    infiniopCdistDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopCdist(
    infiniopCdistDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *y,
    const void *x1,
    const void *x2,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyCdistDescriptor(infiniopCdistDescriptor_t desc);

#endif
