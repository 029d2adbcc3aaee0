#ifndef INFINIOP_ROTMG_H
#define INFINIOP_ROTMG_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopRotmgDescriptor_t;

/* The modified rotation for (d1, d2, x1, y1), as in BLAS; param has 5 elements. */
__INFINI_C __export infiniStatus_t infiniopCreateRotmgDescriptor(
    infiniopHandle_t handle,
    infiniopRotmgDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t d1_desc,
    infiniopTensorDescriptor_t d2_desc,
    infiniopTensorDescriptor_t x1_desc,
    infiniopTensorDescriptor_t y1_desc,
    infiniopTensorDescriptor_t param_desc);

__INFINI_C __export infiniStatus_t infiniopGetRotmgWorkspaceSize(
    infiniopRotmgDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopRotmg(
    infiniopRotmgDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *d1,
    void *d2,
    void *x1,
    const void *y1,
    void *param,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyRotmgDescriptor(infiniopRotmgDescriptor_t desc);

#endif
