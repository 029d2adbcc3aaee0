#ifndef INFINIOP_ROTG_H
#define INFINIOP_ROTG_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopRotgDescriptor_t;

/* The rotation (c, s) that rotates (a, b) to (r, 0); a receives r, and b the number that stands for
 * it. */
__INFINI_C __export infiniStatus_t infiniopCreateRotgDescriptor(
    infiniopHandle_t handle,
    infiniopRotgDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t a_desc,
    infiniopTensorDescriptor_t b_desc,
    infiniopTensorDescriptor_t c_desc,
    infiniopTensorDescriptor_t s_desc);

__INFINI_C __export infiniStatus_t infiniopGetRotgWorkspaceSize(infiniopRotgDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopRotg(
    infiniopRotgDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *a,
    void *b,
    void *c,
    void *s,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyRotgDescriptor(infiniopRotgDescriptor_t desc);

#endif
