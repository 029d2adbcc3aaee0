#ifndef INFINIOP_LOGSOFTMAX_H
#define INFINIOP_LOGSOFTMAX_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopLogSoftmaxDescriptor_t;

/* y = log(softmax(x)) along an axis. */
__INFINI_C __export infiniStatus_t infiniopCreateLogSoftmaxDescriptor(
    infiniopHandle_t handle,
    infiniopLogSoftmaxDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t y_desc,
    infiniopTensorDescriptor_t x_desc,
    int axis);

__INFINI_C __export infiniStatus_t infiniopGetLogSoftmaxWorkspaceSize(
    infiniopLogSoftmaxDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopLogSoftmax(
    infiniopLogSoftmaxDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *y,
    const void *x,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyLogSoftmaxDescriptor(infiniopLogSoftmaxDescriptor_t desc);

#endif
