#ifndef INFINIOP_LOG1P_H
#define INFINIOP_LOG1P_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopLog1pDescriptor_t;

/* y = log(1 + x). All tensors have one shape and one floating dtype. */
__INFINI_C __export infiniStatus_t infiniopCreateLog1pDescriptor(
    infiniopHandle_t handle,
    infiniopLog1pDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t y_desc,
    infiniopTensorDescriptor_t x_desc);

__INFINI_C __export infiniStatus_t infiniopGetLog1pWorkspaceSize(
    infiniopLog1pDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopLog1p(
    infiniopLog1pDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *y,
    const void *x,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyLog1pDescriptor(infiniopLog1pDescriptor_t desc);

#endif
