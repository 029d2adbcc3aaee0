#ifndef INFINIOP_RECIPROCAL_H
#define INFINIOP_RECIPROCAL_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopReciprocalDescriptor_t;

/* y = 1 / x. All tensors have one shape and one floating dtype. */
__INFINI_C __export infiniStatus_t infiniopCreateReciprocalDescriptor(
    infiniopHandle_t handle,
    infiniopReciprocalDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t y_desc,
    infiniopTensorDescriptor_t x_desc);

__INFINI_C __export infiniStatus_t infiniopGetReciprocalWorkspaceSize(
    infiniopReciprocalDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopReciprocal(
    infiniopReciprocalDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *y,
    const void *x,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyReciprocalDescriptor(infiniopReciprocalDescriptor_t desc);

#endif
