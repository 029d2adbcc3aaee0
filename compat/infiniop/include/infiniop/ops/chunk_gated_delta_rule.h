#ifndef INFINIOP_CHUNK_GATED_DELTA_RULE_H
#define INFINIOP_CHUNK_GATED_DELTA_RULE_H

#include "../operator_descriptor.h"
#include <stdbool.h>

typedef struct InfiniopDescriptor *infiniopChunkGatedDeltaRuleDescriptor_t;

/* Not implemented here: INFINI_STATUS_NOT_IMPLEMENTED. */
__INFINI_C __export infiniStatus_t infiniopCreateChunkGatedDeltaRuleDescriptor(
    infiniopHandle_t handle,
    infiniopChunkGatedDeltaRuleDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t out_desc,
    infiniopTensorDescriptor_t initial_state_desc,
    infiniopTensorDescriptor_t final_state_desc,
    infiniopTensorDescriptor_t q_desc,
    infiniopTensorDescriptor_t k_desc,
    infiniopTensorDescriptor_t v_desc,
    infiniopTensorDescriptor_t g_desc,
    infiniopTensorDescriptor_t beta_desc,
    infiniopTensorDescriptor_t cu_seqlens_desc,
    infiniopTensorDescriptor_t initial_state_indices_desc,
    infiniopTensorDescriptor_t final_state_indices_desc,
    bool use_qk_l2norm,
    size_t chunk_size);

__INFINI_C __export infiniStatus_t infiniopGetChunkGatedDeltaRuleWorkspaceSize(
    infiniopChunkGatedDeltaRuleDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopChunkGatedDeltaRule(
    infiniopChunkGatedDeltaRuleDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *out,
    void *initial_state,
    void *final_state,
    const void *q,
    const void *k,
    const void *v,
    const void *g,
    const void *beta,
    const void *cu_seqlens,
    const void *initial_state_indices,
    const void *final_state_indices,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyChunkGatedDeltaRuleDescriptor(
    infiniopChunkGatedDeltaRuleDescriptor_t desc);

#endif
