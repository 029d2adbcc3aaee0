#ifndef INFINIOP_HISTC_H
#define INFINIOP_HISTC_H

#include "../operator_descriptor.h"
#include <stdint.h>

typedef struct InfiniopDescriptor *infiniopHistcDescriptor_t;

/* How many elements of x fall into each of `bins` equal parts of [min_val, max_val], as float32;
 * both 0 means from the least to the largest element. */
__INFINI_C __export infiniStatus_t infiniopCreateHistcDescriptor(
    infiniopHandle_t handle,
    infiniopHistcDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t y_desc,
    infiniopTensorDescriptor_t x_desc,
    int64_t bins,
    double min_val,
    double max_val);

__INFINI_C __export infiniStatus_t infiniopGetHistcWorkspaceSize(
    infiniopHistcDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopHistc(
    infiniopHistcDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *y,
    const void *x,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyHistcDescriptor(infiniopHistcDescriptor_t desc);

#endif
