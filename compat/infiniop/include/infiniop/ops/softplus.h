#ifndef INFINIOP_SOFTPLUS_H
#define INFINIOP_SOFTPLUS_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopSoftplusDescriptor_t;

/* y = log(1 + exp(beta x)) / beta, and x where beta x is above the threshold. All tensors have one
 * shape and one floating dtype. */
__INFINI_C __export infiniStatus_t infiniopCreateSoftplusDescriptor(
    infiniopHandle_t handle,
    infiniopSoftplusDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t y_desc,
    infiniopTensorDescriptor_t x_desc,
    float beta,
    float threshold);

__INFINI_C __export infiniStatus_t infiniopGetSoftplusWorkspaceSize(
    infiniopSoftplusDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopSoftplus(
    infiniopSoftplusDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *y,
    const void *x,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroySoftplusDescriptor(infiniopSoftplusDescriptor_t desc);

#endif
