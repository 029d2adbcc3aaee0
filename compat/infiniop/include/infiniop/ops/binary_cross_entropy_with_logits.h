#ifndef INFINIOP_BINARY_CROSS_ENTROPY_WITH_LOGITS_H
#define INFINIOP_BINARY_CROSS_ENTROPY_WITH_LOGITS_H

#include "../operator_descriptor.h"

typedef enum {
    INFINIOP_REDUCTION_NONE = 0,
    INFINIOP_REDUCTION_MEAN = 1,
    INFINIOP_REDUCTION_SUM = 2,
} infiniopReduction_t;

typedef struct InfiniopDescriptor *infiniopBCEWithLogitsDescriptor_t;

/* Binary cross entropy of sigmoid(logits) and target; weight and pos_weight broadcast and may be
 * NULL. out has the shape of logits, or is a scalar if reduced. */
__INFINI_C __export infiniStatus_t infiniopCreateBCEWithLogitsDescriptor(
    infiniopHandle_t handle,
    infiniopBCEWithLogitsDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t out_desc,
    infiniopTensorDescriptor_t logits_desc,
    infiniopTensorDescriptor_t target_desc,
    infiniopTensorDescriptor_t weight_desc,
    infiniopTensorDescriptor_t pos_weight_desc,
    infiniopReduction_t reduction);

__INFINI_C __export infiniStatus_t infiniopGetBCEWithLogitsWorkspaceSize(
    infiniopBCEWithLogitsDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopBCEWithLogits(
    infiniopBCEWithLogitsDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *out,
    const void *logits,
    const void *target,
    const void *weight,
    const void *pos_weight,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyBCEWithLogitsDescriptor(
    infiniopBCEWithLogitsDescriptor_t desc);

#endif
