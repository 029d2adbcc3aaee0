#ifndef INFINIOP_ROTM_H
#define INFINIOP_ROTM_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopRotmDescriptor_t;

/* The modified rotation: param is flag, h11, h21, h12, h22, as in BLAS. */
__INFINI_C __export infiniStatus_t infiniopCreateRotmDescriptor(
    infiniopHandle_t handle,
    infiniopRotmDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t x_desc,
    infiniopTensorDescriptor_t y_desc,
    infiniopTensorDescriptor_t param_desc);

__INFINI_C __export infiniStatus_t infiniopGetRotmWorkspaceSize(infiniopRotmDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopRotm(
    infiniopRotmDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *x,
    void *y,
    const void *param,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyRotmDescriptor(infiniopRotmDescriptor_t desc);

#endif
