#ifndef INFINIOP_GELUTANH_H
#define INFINIOP_GELUTANH_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopGeluTanhDescriptor_t;

/* gelu by its tanh approximation. All tensors have one shape and one floating dtype. */
__INFINI_C __export infiniStatus_t infiniopCreateGeluTanhDescriptor(
    infiniopHandle_t handle,
    infiniopGeluTanhDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t y_desc,
    infiniopTensorDescriptor_t x_desc);

__INFINI_C __export infiniStatus_t infiniopGetGeluTanhWorkspaceSize(
    infiniopGeluTanhDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopGeluTanh(
    infiniopGeluTanhDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *y,
    const void *x,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyGeluTanhDescriptor(infiniopGeluTanhDescriptor_t desc);

#endif
