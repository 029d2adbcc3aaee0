#ifndef INFINIOP_ATANH_H
#define INFINIOP_ATANH_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopAtanhDescriptor_t;

/* y = atanh(x). All tensors have one shape and one floating dtype. */
__INFINI_C __export infiniStatus_t infiniopCreateAtanhDescriptor(
    infiniopHandle_t handle,
    infiniopAtanhDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t y_desc,
    infiniopTensorDescriptor_t x_desc);

__INFINI_C __export infiniStatus_t infiniopGetAtanhWorkspaceSize(
    infiniopAtanhDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopAtanh(
    infiniopAtanhDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *y,
    const void *x,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyAtanhDescriptor(infiniopAtanhDescriptor_t desc);

#endif
