#ifndef INFINIOP_INT8_GEMM_H
#define INFINIOP_INT8_GEMM_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopI8GemmDescriptor_t;

/* out = (x weights) * x_scale * weights_scale + bias, for int8 x (m, k) and weights (k, n).
 * x_scale has m elements, weights_scale n; bias (n) may be NULL. */
__INFINI_C __export infiniStatus_t infiniopCreateI8GemmDescriptor(
    infiniopHandle_t handle,
    infiniopI8GemmDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t out_desc,
    infiniopTensorDescriptor_t bias_desc,
    infiniopTensorDescriptor_t x_desc,
    infiniopTensorDescriptor_t x_scale_desc,
    infiniopTensorDescriptor_t weights_desc,
    infiniopTensorDescriptor_t weights_scale_desc);

__INFINI_C __export infiniStatus_t infiniopGetI8GemmWorkspaceSize(
    infiniopI8GemmDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopI8Gemm(
    infiniopI8GemmDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *out,
    const void *bias,
    const void *x,
    const void *x_scale,
    const void *weights,
    const void *weights_scale,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyI8GemmDescriptor(infiniopI8GemmDescriptor_t desc);

#endif
