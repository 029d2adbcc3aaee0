/* operator_descriptor.h - what all operator descriptors have in common.
 *
 * A descriptor is created from tensor descriptors, which it copies: they may be destroyed before it
 * runs. Running may be repeated, with other data, from any thread. Data is element (0, ..., 0) of its
 * tensor and may have any alignment. No operator here needs a workspace; NULL and 0 will do. A stream
 * that is NULL is the current one. */
#ifndef INFINIOP_OPERATOR_DESCRIPTOR_H
#define INFINIOP_OPERATOR_DESCRIPTOR_H

#include "handle.h"
#include "tensor_descriptor.h"

struct InfiniopDescriptor;

__INFINI_C __export infiniStatus_t infiniopGetDescriptorDeviceType(
    const struct InfiniopDescriptor *desc_ptr,
    infiniDevice_t *device_type);
__INFINI_C __export infiniStatus_t infiniopGetDescriptorDeviceId(
    const struct InfiniopDescriptor *desc_ptr,
    int *device_id);

#endif
