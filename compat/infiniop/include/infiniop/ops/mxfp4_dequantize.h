#ifndef INFINIOP_MXFP4_DEQUANTIZE_H
#define INFINIOP_MXFP4_DEQUANTIZE_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopMxfp4DequantizeDescriptor_t;

/* packed uint8 (..., k / 2), low half first, of e2m1 numbers; scales uint8 (..., k / 32), powers
 * of two with a bias of 127. */
__INFINI_C __export infiniStatus_t infiniopCreateMxfp4DequantizeDescriptor(
    infiniopHandle_t handle,
    infiniopMxfp4DequantizeDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t out_desc,
    infiniopTensorDescriptor_t packed_desc,
    infiniopTensorDescriptor_t scales_desc);

__INFINI_C __export infiniStatus_t infiniopGetMxfp4DequantizeWorkspaceSize(
    infiniopMxfp4DequantizeDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopMxfp4Dequantize(
    infiniopMxfp4DequantizeDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *out,
    const void *packed,
    const void *scales,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyMxfp4DequantizeDescriptor(
    infiniopMxfp4DequantizeDescriptor_t desc);

#endif
