#ifndef INFINIOP_DEQUANTIZE_GPTQ_H
#define INFINIOP_DEQUANTIZE_GPTQ_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopDequantizeGPTQDescriptor_t;

/* 4-bit weights in GPTQ's order: qweight int32 (in / 8, out), scales (groups, out), zeros int32
 * (groups, out / 8), g_idx (in): out = (q - zero - 1) * scale of group g_idx[row]. */
__INFINI_C __export infiniStatus_t infiniopCreateDequantizeGPTQDescriptor(
    infiniopHandle_t handle,
    infiniopDequantizeGPTQDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t out_desc,
    infiniopTensorDescriptor_t qweight_desc,
    infiniopTensorDescriptor_t scales_desc,
    infiniopTensorDescriptor_t zeros_desc,
    infiniopTensorDescriptor_t g_idx_desc);

__INFINI_C __export infiniStatus_t infiniopGetDequantizeGPTQWorkspaceSize(
    infiniopDequantizeGPTQDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopDequantizeGPTQ(
    infiniopDequantizeGPTQDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *out,
    const void *qweight,
    const void *scales,
    const void *zeros,
    const void *g_idx,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyDequantizeGPTQDescriptor(
    infiniopDequantizeGPTQDescriptor_t desc);

#endif
