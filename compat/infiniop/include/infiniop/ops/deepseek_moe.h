#ifndef INFINIOP_DEEPSEEK_MOE_H
#define INFINIOP_DEEPSEEK_MOE_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopDeepseekMoeDescriptor_t;

/* out = sum over the topk experts of down(silu(gate hidden) * (up hidden) * weight). Each expert's
 * matrices are at pointers of their own: gate and up (intermediate_size, hidden), down (hidden,
 * intermediate_size), packed. */
__INFINI_C __export infiniStatus_t infiniopCreateDeepseekMoeDescriptor(
    infiniopHandle_t handle,
    infiniopDeepseekMoeDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t out_desc,
    infiniopTensorDescriptor_t hidden_desc,
    infiniopTensorDescriptor_t topk_indices_desc,
    infiniopTensorDescriptor_t topk_weights_desc,
    size_t intermediate_size,
    size_t num_experts);

__INFINI_C __export infiniStatus_t infiniopGetDeepseekMoeWorkspaceSize(
    infiniopDeepseekMoeDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopDeepseekMoe(
    infiniopDeepseekMoeDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *out,
    const void *hidden,
    const void *topk_indices,
    const void *topk_weights,
    const void *const *gate_weights,
    const void *const *up_weights,
    const void *const *down_weights,
    void *stream);

/* The same with the three lists of pointers in memory of the device. */
__INFINI_C __export infiniStatus_t infiniopDeepseekMoeWithDevicePtrs(
    infiniopDeepseekMoeDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *out,
    const void *hidden,
    const void *topk_indices,
    const void *topk_weights,
    const void *gate_weight_ptrs,
    const void *up_weight_ptrs,
    const void *down_weight_ptrs,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyDeepseekMoeDescriptor(infiniopDeepseekMoeDescriptor_t desc);

#endif
