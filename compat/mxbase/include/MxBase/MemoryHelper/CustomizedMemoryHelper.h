/* CustomizedMemoryHelper.h - the allocators in use: the program's (MemoryHelper.h) or the built-in ones. */
#ifndef CUSTOMIZED_MEMORY_HELPER_H
#define CUSTOMIZED_MEMORY_HELPER_H

#include "MxBase/MemoryHelper/MemoryHelper.h"

namespace MxBase {

/* Are both of a pair given, and both the program's or both built in? */
SDK_AVAILABLE_FOR_OUT bool CheckDVPPMemoryFuncPair();
SDK_AVAILABLE_FOR_OUT bool CheckDeviceMemoryFuncPair();

SDK_AVAILABLE_FOR_OUT APP_ERROR DVPPMemoryMallocFunc(unsigned int dev_id, void **dev_ptr,
                                                     unsigned long long size);
SDK_AVAILABLE_FOR_OUT APP_ERROR DVPPMemoryFreeFunc(void *dev_ptr);
SDK_AVAILABLE_FOR_OUT APP_ERROR DeviceMemoryMallocFunc(void **devPtr, unsigned int size,
                                                       MxMemMallocPolicy policy);
SDK_AVAILABLE_FOR_OUT APP_ERROR DeviceMemoryFreeFunc(void *devPtr);

/* The built-in allocator of device memory. */
SDK_AVAILABLE_FOR_OUT APP_ERROR aclrtMallocAdapter(void **devPtr, unsigned int size,
                                                   MxMemMallocPolicy policy);

} // namespace MxBase

#endif
