#ifndef INFINIOP_SILU_AND_MUL_H
#define INFINIOP_SILU_AND_MUL_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopSiluAndMulDescriptor_t;

/* y = silu(gate) * up, where x (..., 2n) is gate (..., n) and then up (..., n). */
__INFINI_C __export infiniStatus_t infiniopCreateSiluAndMulDescriptor(
    infiniopHandle_t handle,
    infiniopSiluAndMulDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t y_desc,
    infiniopTensorDescriptor_t x_desc);

__INFINI_C __export infiniStatus_t infiniopGetSiluAndMulWorkspaceSize(
    infiniopSiluAndMulDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopSiluAndMul(
    infiniopSiluAndMulDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *y,
    const void *x,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroySiluAndMulDescriptor(infiniopSiluAndMulDescriptor_t desc);

#endif
