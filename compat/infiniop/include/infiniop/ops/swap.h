#ifndef INFINIOP_SWAP_H
#define INFINIOP_SWAP_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopSwapDescriptor_t;

/* x and y change places. */
__INFINI_C __export infiniStatus_t infiniopCreateSwapDescriptor(
    infiniopHandle_t handle,
    infiniopSwapDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t x_desc,
    infiniopTensorDescriptor_t y_desc);

__INFINI_C __export infiniStatus_t infiniopGetSwapWorkspaceSize(infiniopSwapDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopSwap(
    infiniopSwapDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *x,
    void *y,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroySwapDescriptor(infiniopSwapDescriptor_t desc);

#endif
