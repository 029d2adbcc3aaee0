#ifndef INFINIOP_CONV_H
#define INFINIOP_CONV_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopConvDescriptor_t;

/* Convolution of x (n, c_in, ...) with w (c_out, c_in, ...) and bias b (c_out) or NULL, over n
 * spatial dims, 1 .. 3. pads, strides and dilations each point at n 64-bit integers. */
__INFINI_C __export infiniStatus_t infiniopCreateConvDescriptor(
    infiniopHandle_t handle,
    infiniopConvDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t y_desc,
    infiniopTensorDescriptor_t x_desc,
    infiniopTensorDescriptor_t w_desc,
    infiniopTensorDescriptor_t b_desc,
    void *pads,
    void *strides,
    void *dilations,
    size_t n);

__INFINI_C __export infiniStatus_t infiniopGetConvWorkspaceSize(infiniopConvDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopConv(
    infiniopConvDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *y,
    const void *x,
    const void *w,
    const void *bias,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyConvDescriptor(infiniopConvDescriptor_t desc);

#endif
