#ifndef INFINIOP_RANDOM_SAMPLE_H
#define INFINIOP_RANDOM_SAMPLE_H

#include "../operator_descriptor.h"

typedef struct InfiniopDescriptor *infiniopRandomSampleDescriptor_t;

/* Draws one index from softmax(probs / temperature): the first, in descending order, whose sum so
 * far reaches random_val * min(topp, sum of the topk largest). The largest element where topk is 1
 * or topp, temperature or random_val is 0. result is an integer scalar. */
__INFINI_C __export infiniStatus_t infiniopCreateRandomSampleDescriptor(
    infiniopHandle_t handle,
    infiniopRandomSampleDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t result_desc,
    infiniopTensorDescriptor_t probs_desc);

__INFINI_C __export infiniStatus_t infiniopGetRandomSampleWorkspaceSize(
    infiniopRandomSampleDescriptor_t desc, size_t *size);

__INFINI_C __export infiniStatus_t infiniopRandomSample(
    infiniopRandomSampleDescriptor_t desc,
    void *workspace,
    size_t workspace_size,
    void *result,
    const void *probs,
    float random_val,
    float topp,
    int topk,
    float temperature,
    void *stream);

__INFINI_C __export infiniStatus_t infiniopDestroyRandomSampleDescriptor(
    infiniopRandomSampleDescriptor_t desc);

#endif
