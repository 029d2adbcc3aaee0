#ifndef INFINIOP_MROPE_H
#define INFINIOP_MROPE_H

#include "../operator_descriptor.h"
#include <stdbool.h>

typedef struct InfiniopDescriptor *infiniopMRoPEDescriptor_t;

/* RoPE with three positions for each token: (3, tokens), or (tokens) for all three. q and k are
 * (tokens, heads * head_size); the first rotary_dim of each head are rotated, j with j + rotary_dim / 2.
 * Pair j takes its position by the sections, in turn or interleaved. */
__INFINI_C __export infiniStatus_t infiniopCreateMRoPEDescriptor(
    infiniopHandle_t handle,
    infiniopMRoPEDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t q_out_desc,
    infiniopTensorDescriptor_t k_out_desc,
    infiniopTensorDescriptor_t q_desc,
    infiniopTensorDescriptor_t k_desc,
    infiniopTensorDescriptor_t cos_desc,
    infiniopTensorDescriptor_t sin_desc,
    infiniopTensorDescriptor_t positions_desc,
    int head_size,
    int rotary_dim,
    int section_t,
    int section_h,
    int section_w,
    bool interleaved);

__INFINI_C __export infiniStatus_t infiniopGetMRoPEWorkspaceSize(
    infiniopMRoPEDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopMRoPE(
    infiniopMRoPEDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *q_out,
    void *k_out,
    const void *q,
    const void *k,
    const void *cos,
    const void *sin,
    const void *positions,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyMRoPEDescriptor(infiniopMRoPEDescriptor_t desc);

#endif
