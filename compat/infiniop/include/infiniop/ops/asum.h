#ifndef INFINIOP_ASUM_H
#define INFINIOP_ASUM_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopAsumDescriptor_t;

/* result = sum of |x[i]|. */
__INFINI_C __export infiniStatus_t infiniopCreateAsumDescriptor(
    infiniopHandle_t handle,
    infiniopAsumDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t x_desc,
    infiniopTensorDescriptor_t result_desc);

__INFINI_C __export infiniStatus_t infiniopGetAsumWorkspaceSize(infiniopAsumDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopAsum(
    infiniopAsumDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    const void *x,
    void *result,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyAsumDescriptor(infiniopAsumDescriptor_t desc);

#endif
