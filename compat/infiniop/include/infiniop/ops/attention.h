#ifndef INFINIOP_ATTENTION_H
#define INFINIOP_ATTENTION_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopAttentionDescriptor_t;

/* Causal attention of q (heads, seq, d) to k and v (kv_heads, seq, d), which are first written
 * into the caches (kv_heads, length, d) from pos on. out is (seq, heads, d). */
__INFINI_C __export infiniStatus_t infiniopCreateAttentionDescriptor(
    infiniopHandle_t handle,
    infiniopAttentionDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t out_desc,
    infiniopTensorDescriptor_t q_desc,
    infiniopTensorDescriptor_t k_desc,
    infiniopTensorDescriptor_t v_desc,
    infiniopTensorDescriptor_t k_cache_desc,
    infiniopTensorDescriptor_t v_cache_desc,
    size_t pos);

__INFINI_C __export infiniStatus_t infiniopGetAttentionWorkspaceSize(
    infiniopAttentionDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopAttention(
    infiniopAttentionDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *out,
    const void *q,
    const void *k,
    const void *v,
    void *k_cache,
    void *v_cache,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyAttentionDescriptor(infiniopAttentionDescriptor_t desc);

#endif
