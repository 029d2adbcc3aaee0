/* llaisys/runtime.h - devices, streams and memory, as one table of functions for a kind of device.
 *
 * Failures are as in tensor.h. */
#ifndef LLAISYS_RUNTIME_H
#define LLAISYS_RUNTIME_H

#include "../llaisys.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int (*get_device_count_api)(void);
typedef void (*set_device_api)(int);
typedef void (*device_synchronize_api)(void);
typedef llaisysStream_t (*create_stream_api)(void);
typedef void (*destroy_stream_api)(llaisysStream_t);
typedef void (*stream_synchronize_api)(llaisysStream_t);
typedef void *(*malloc_device_api)(size_t);
typedef void (*free_device_api)(void *);
typedef void *(*malloc_host_api)(size_t);
typedef void (*free_host_api)(void *);
typedef void (*memcpy_sync_api)(void *, const void *, size_t, llaisysMemcpyKind_t);
typedef void (*memcpy_async_api)(void *, const void *, size_t, llaisysMemcpyKind_t, llaisysStream_t);

struct LlaisysRuntimeAPI {
    get_device_count_api get_device_count;
    set_device_api set_device;
    device_synchronize_api device_synchronize;
    create_stream_api create_stream;
    destroy_stream_api destroy_stream;
    stream_synchronize_api stream_synchronize;
    malloc_device_api malloc_device;
    free_device_api free_device;
    malloc_host_api malloc_host;
    free_host_api free_host;
    memcpy_sync_api memcpy_sync;
    memcpy_async_api memcpy_async;
};
typedef struct LlaisysRuntimeAPI LlaisysRuntimeAPI;

/* The table of a kind of device. Where there is no such device it counts 0, and its other functions
 * fail. */
__export const LlaisysRuntimeAPI *llaisysGetRuntimeAPI(llaisysDeviceType_t device_type);

/* The device that this thread works on. */
__export void llaisysSetContextRuntime(llaisysDeviceType_t device_type, int device_id);

#ifdef __cplusplus
}
#endif

#endif
