#ifndef INFINIOP_SUB_H
#define INFINIOP_SUB_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopSubDescriptor_t;

/* c = a - b. All tensors have one shape and one dtype. */
__INFINI_C __export infiniStatus_t infiniopCreateSubDescriptor(
    infiniopHandle_t handle,
    infiniopSubDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t c_desc,
    infiniopTensorDescriptor_t a_desc,
    infiniopTensorDescriptor_t b_desc);

__INFINI_C __export infiniStatus_t infiniopGetSubWorkspaceSize(infiniopSubDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopSub(
    infiniopSubDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *c,
    const void *a,
    const void *b,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroySubDescriptor(infiniopSubDescriptor_t desc);

#endif
