#ifndef INFINIOP_REARRANGE_H
#define INFINIOP_REARRANGE_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopRearrangeDescriptor_t;

/* dst = src, element by element, bits kept: one dtype and shape, any strides. dst has no broadcast
 * dim (INFINI_STATUS_BAD_TENSOR_STRIDES). */
__INFINI_C __export infiniStatus_t infiniopCreateRearrangeDescriptor(
    infiniopHandle_t handle,
    infiniopRearrangeDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t dst_desc,
    infiniopTensorDescriptor_t src_desc);

__INFINI_C __export infiniStatus_t infiniopGetRearrangeWorkspaceSize(
    infiniopRearrangeDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopRearrange(
    infiniopRearrangeDescriptor_t desc,
    void *dst,
    const void *src,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyRearrangeDescriptor(infiniopRearrangeDescriptor_t desc);

#endif
