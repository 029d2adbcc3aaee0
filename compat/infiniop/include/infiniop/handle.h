/* handle.h - a device, as operators are created for it. */
#ifndef INFINIOP_HANDLE_H
#define INFINIOP_HANDLE_H

#include "../infinicore.h"

struct InfiniopHandle;

typedef struct InfiniopHandle *infiniopHandle_t;

/* For the device that infinirtSetDevice made current in this thread. */
__INFINI_C __export infiniStatus_t infiniopCreateHandle(infiniopHandle_t *handle_ptr);

__INFINI_C __export infiniStatus_t infiniopDestroyHandle(infiniopHandle_t handle);

/* infinirtSetDevice, for programs that load this library alone. */
__INFINI_C __export infiniStatus_t infiniopSetRuntimeDevice(infiniDevice_t device, int device_id);

#endif
