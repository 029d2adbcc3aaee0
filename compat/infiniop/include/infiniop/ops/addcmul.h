#ifndef INFINIOP_ADDCMUL_H
#define INFINIOP_ADDCMUL_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopAddcmulDescriptor_t;

/* out = input + value * t1 * t2. All tensors have one shape and one floating dtype. */
__INFINI_C __export infiniStatus_t infiniopCreateAddcmulDescriptor(
    infiniopHandle_t handle,
    infiniopAddcmulDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t out_desc,
    infiniopTensorDescriptor_t input_desc,
    infiniopTensorDescriptor_t t1_desc,
    infiniopTensorDescriptor_t t2_desc,
    float value);

__INFINI_C __export infiniStatus_t infiniopGetAddcmulWorkspaceSize(
    infiniopAddcmulDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopAddcmul(
    infiniopAddcmulDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *out,
    const void *input,
    const void *t1,
    const void *t2,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyAddcmulDescriptor(infiniopAddcmulDescriptor_t desc);

#endif
