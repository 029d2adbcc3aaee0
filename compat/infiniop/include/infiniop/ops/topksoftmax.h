#ifndef INFINIOP_TOPKSOFTMAX_H
#define INFINIOP_TOPKSOFTMAX_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopTopksoftmaxDescriptor_t;

/* The topk largest of each row of softmax(x), x (n, width), and where they are: float32 and int32,
 * (n, topk), packed. norm divides them by their sum. */
__INFINI_C __export infiniStatus_t infiniopCreateTopksoftmaxDescriptor(
    infiniopHandle_t handle,
    infiniopTopksoftmaxDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t x_desc);

__INFINI_C __export infiniStatus_t infiniopGetTopksoftmaxWorkspaceSize(
    infiniopTopksoftmaxDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopTopksoftmax(
    infiniopTopksoftmaxDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *values,
    void *indices,
    const void *x,
    const size_t topk,
    const int norm,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyTopksoftmaxDescriptor(infiniopTopksoftmaxDescriptor_t desc);

#endif
