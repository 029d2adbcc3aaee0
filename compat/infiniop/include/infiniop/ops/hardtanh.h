#ifndef INFINIOP_HARDTANH_H
#define INFINIOP_HARDTANH_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopHardTanhDescriptor_t;

/* y = min(max(x, min_val), max_val). All tensors have one shape and one floating dtype. */
__INFINI_C __export infiniStatus_t infiniopCreateHardTanhDescriptor(
    infiniopHandle_t handle,
    infiniopHardTanhDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t y_desc,
    infiniopTensorDescriptor_t x_desc,
    float min_val,
    float max_val);

__INFINI_C __export infiniStatus_t infiniopGetHardTanhWorkspaceSize(
    infiniopHardTanhDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopHardTanh(
    infiniopHardTanhDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *y,
    const void *x,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyHardTanhDescriptor(infiniopHardTanhDescriptor_t desc);

#endif
