#ifndef INFINIOP_TOPKROUTER_H
#define INFINIOP_TOPKROUTER_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopTopkrouterDescriptor_t;

/* DeepSeek's choice of experts: scores sigmoid(x), (n, width), with the correction bias added; of
 * 8 groups the 4 whose two best sum highest; of those the topk best. values are the scores,
 * divided by their sum, times the factor: float32 and int32, (n, topk), packed. */
__INFINI_C __export infiniStatus_t infiniopCreateTopkrouterDescriptor(
    infiniopHandle_t handle,
    infiniopTopkrouterDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t x_desc,
    infiniopTensorDescriptor_t correction_bias_desc);

__INFINI_C __export infiniStatus_t infiniopGetTopkrouterWorkspaceSize(
    infiniopTopkrouterDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopTopkrouter(
    infiniopTopkrouterDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *values,
    void *indices,
    const void *x,
    const void *correction_bias,
    const float routed_scaling_factor,
    const size_t topk,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyTopkrouterDescriptor(infiniopTopkrouterDescriptor_t desc);

#endif
