#ifndef INFINIOP_PER_TENSOR_DEQUANT_INT8_H
#define INFINIOP_PER_TENSOR_DEQUANT_INT8_H

#include "../../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopPerTensorDequantI8Descriptor_t;

/* x = (x_packed - x_zero) * x_scale; x_zero may be NULL. */
__INFINI_C __export infiniStatus_t infiniopCreatePerTensorDequantI8Descriptor(
    infiniopHandle_t handle,
    infiniopPerTensorDequantI8Descriptor_t *desc_ptr,
    infiniopTensorDescriptor_t x_desc,
    infiniopTensorDescriptor_t x_packed_desc,
    infiniopTensorDescriptor_t x_scale_desc,
    infiniopTensorDescriptor_t x_zero_desc);

__INFINI_C __export infiniStatus_t infiniopGetPerTensorDequantI8WorkspaceSize(
    infiniopPerTensorDequantI8Descriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopPerTensorDequantI8(
    infiniopPerTensorDequantI8Descriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *x,
    const void *x_packed,
    const void *x_scale,
    const void *x_zero,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyPerTensorDequantI8Descriptor(
    infiniopPerTensorDequantI8Descriptor_t desc);

#endif
