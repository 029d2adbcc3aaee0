#ifndef INFINIOP_AWQ_MARLIN_REPACK_H
#define INFINIOP_AWQ_MARLIN_REPACK_H

#include "../operator_descriptor.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct InfiniopDescriptor *infiniopAwqMarlinRepackDescriptor_t;

/* Not implemented here: INFINI_STATUS_NOT_IMPLEMENTED. */
__INFINI_C __export infiniStatus_t infiniopCreateAwqMarlinRepackDescriptor(
    infiniopHandle_t handle,
    infiniopAwqMarlinRepackDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t output_desc,
    infiniopTensorDescriptor_t input_desc,
    int64_t num_bits,
    bool is_a_8bit);

__INFINI_C __export infiniStatus_t infiniopGetAwqMarlinRepackWorkspaceSize(
    infiniopAwqMarlinRepackDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopAwqMarlinRepack(
    infiniopAwqMarlinRepackDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *output,
    const void *input,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyAwqMarlinRepackDescriptor(
    infiniopAwqMarlinRepackDescriptor_t desc);

#endif
