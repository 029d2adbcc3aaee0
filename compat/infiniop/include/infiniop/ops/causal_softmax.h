#ifndef INFINIOP_CAUSAL_SOFTMAX_H
#define INFINIOP_CAUSAL_SOFTMAX_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopCausalSoftmaxDescriptor_t;

/* Softmax along the last axis of ((batch,) q, k), of which row i sees columns 0 .. i + k - q. */
__INFINI_C __export infiniStatus_t infiniopCreateCausalSoftmaxDescriptor(
    infiniopHandle_t handle,
    infiniopCausalSoftmaxDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t y_desc,
    infiniopTensorDescriptor_t x_desc);

__INFINI_C __export infiniStatus_t infiniopGetCausalSoftmaxWorkspaceSize(
    infiniopCausalSoftmaxDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopCausalSoftmax(
    infiniopCausalSoftmaxDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *y,
    const void *x,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyCausalSoftmaxDescriptor(
    infiniopCausalSoftmaxDescriptor_t desc);

#endif
