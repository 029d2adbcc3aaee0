#ifndef INFINIOP_HARDSWISH_H
#define INFINIOP_HARDSWISH_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopHardSwishDescriptor_t;

/* y = x * min(max(x + 3, 0), 6) / 6. All tensors have one shape and one floating dtype. */
__INFINI_C __export infiniStatus_t infiniopCreateHardSwishDescriptor(
    infiniopHandle_t handle,
    infiniopHardSwishDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t y_desc,
    infiniopTensorDescriptor_t x_desc);

__INFINI_C __export infiniStatus_t infiniopGetHardSwishWorkspaceSize(
    infiniopHardSwishDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopHardSwish(
    infiniopHardSwishDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *y,
    const void *x,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyHardSwishDescriptor(infiniopHardSwishDescriptor_t desc);

#endif
