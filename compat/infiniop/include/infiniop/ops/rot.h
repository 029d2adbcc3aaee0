#ifndef INFINIOP_ROT_H
#define INFINIOP_ROT_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopRotDescriptor_t;

/* (x, y) = (c x + s y, c y - s x); c and s are scalars. */
__INFINI_C __export infiniStatus_t infiniopCreateRotDescriptor(
    infiniopHandle_t handle,
    infiniopRotDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t x_desc,
    infiniopTensorDescriptor_t y_desc,
    infiniopTensorDescriptor_t c_desc,
    infiniopTensorDescriptor_t s_desc);

__INFINI_C __export infiniStatus_t infiniopGetRotWorkspaceSize(infiniopRotDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopRot(
    infiniopRotDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *x,
    void *y,
    const void *c,
    const void *s,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyRotDescriptor(infiniopRotDescriptor_t desc);

#endif
