#ifndef INFINIOP_ROPE_H
#define INFINIOP_ROPE_H

#include "../operator_descriptor.h"

/* Which elements are rotated together: 2j and 2j + 1, or j and j + d / 2. */
typedef enum {
    INFINIOP_ROPE_ALGO_GPT_J = 0,
    INFINIOP_ROPE_ALGO_GPT_NEOX = 1,
} infiniopRoPEAlgo_t;

typedef struct InfiniopDescriptor *infiniopRoPEDescriptor_t;

/* Rotates pairs of the last dim of x ((batch,) seq, heads, d) by the angle whose sine and cosine
 * stand in row pos_ids[i] of the tables (max_pos, d / 2). pos_ids is (seq) or (batch, seq). */
__INFINI_C __export infiniStatus_t infiniopCreateRoPEDescriptor(
    infiniopHandle_t handle,
    infiniopRoPEDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t y_desc,
    infiniopTensorDescriptor_t x_desc,
    infiniopTensorDescriptor_t pos_ids_desc,
    infiniopTensorDescriptor_t sin_table_desc,
    infiniopTensorDescriptor_t cos_table_desc,
    infiniopRoPEAlgo_t algo);

__INFINI_C __export infiniStatus_t infiniopGetRoPEWorkspaceSize(infiniopRoPEDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopRoPE(
    infiniopRoPEDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *y,
    const void *x,
    const void *pos_ids,
    const void *sin_table,
    const void *cos_table,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyRoPEDescriptor(infiniopRoPEDescriptor_t desc);

#endif
