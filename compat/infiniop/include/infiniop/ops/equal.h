#ifndef INFINIOP_EQUAL_H
#define INFINIOP_EQUAL_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopEqualDescriptor_t;

/* c = (a == b). a and b have one shape and one dtype; c is bool, bytes or I32. It has their shape, or one
 * element, which says whether all are equal. */
__INFINI_C __export infiniStatus_t infiniopCreateEqualDescriptor(
    infiniopHandle_t handle,
    infiniopEqualDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t c_desc,
    infiniopTensorDescriptor_t a_desc,
    infiniopTensorDescriptor_t b_desc);

__INFINI_C __export infiniStatus_t infiniopGetEqualWorkspaceSize(
    infiniopEqualDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopEqual(
    infiniopEqualDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *c,
    const void *a,
    const void *b,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyEqualDescriptor(infiniopEqualDescriptor_t desc);

#endif
