#ifndef INFINIOP_ONES_H
#define INFINIOP_ONES_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopOnesDescriptor_t;

/* y = 1, of any dtype. x has the shape of y and is not read. */
__INFINI_C __export infiniStatus_t infiniopCreateOnesDescriptor(
    infiniopHandle_t handle,
    infiniopOnesDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t y_desc,
    infiniopTensorDescriptor_t x_desc);

__INFINI_C __export infiniStatus_t infiniopGetOnesWorkspaceSize(infiniopOnesDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopOnes(
    infiniopOnesDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *y,
    const void *x,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyOnesDescriptor(infiniopOnesDescriptor_t desc);

#endif
