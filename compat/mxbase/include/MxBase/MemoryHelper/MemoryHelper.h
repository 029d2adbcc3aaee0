/* MemoryHelper.h - memory of the host, of a device, and of a device's image units, by bare pointers. */
#ifndef MEMORY_HELPER_H
#define MEMORY_HELPER_H

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>

#include "MxBase/Asynchron/AscendStream.h"
#include "MxBase/Common/HiddenAttr.h"
#include "MxBase/ErrorCode/ErrorCode.h"

namespace MxBase {

typedef enum MxMemMallocPolicy {
    MX_MEM_MALLOC_HUGE_FIRST,
    MX_MEM_MALLOC_HUGE_ONLY,
    MX_MEM_MALLOC_NORMAL_ONLY,
    MX_MEM_MALLOC_HUGE_FIRST_P2P,
    MX_MEM_MALLOC_HUGE_ONLY_P2P,
    MX_MEM_MALLOC_NORMAL_ONLY_P2P,
    MX_MEM_TYPE_LOW_BAND_WIDTH = 0x0100,
    MX_MEM_TYPE_HIGH_BAND_WIDTH = 0x1000,
} MxMemMallocPolicy;

using g_dvppMallocFuncType = APP_ERROR (*)(unsigned int, void **, unsigned long long);
using g_dvppFreeFuncType = APP_ERROR (*)(void *);
using g_deviceMallocFuncType = APP_ERROR (*)(void **, unsigned int, MxMemMallocPolicy);
using g_deviceFreeFuncType = APP_ERROR (*)(void *);

/* The program's own allocators. They are used when both of a pair are given, else the built-in ones. */
SDK_AVAILABLE_FOR_OUT APP_ERROR DVPPMallocFuncHookReg(g_dvppMallocFuncType pFun);
SDK_AVAILABLE_FOR_OUT APP_ERROR DVPPFreeFuncHookReg(g_dvppFreeFuncType pFun);
SDK_AVAILABLE_FOR_OUT APP_ERROR DeviceMallocFuncHookReg(g_deviceMallocFuncType pFun);
SDK_AVAILABLE_FOR_OUT APP_ERROR DeviceFreeFuncHookReg(g_deviceFreeFuncType pFun);

struct SDK_AVAILABLE_FOR_OUT MemoryData {
    enum MemoryType : int {
        MEMORY_HOST = 0,
        MEMORY_DEVICE,
        MEMORY_DVPP,
        MEMORY_HOST_MALLOC, /* by malloc; zeroed */
        MEMORY_HOST_NEW     /* by new[] */
    };

    MemoryData() = default;
    MemoryData(size_t memorySize, MemoryType memoryType = MEMORY_HOST, int32_t device = 0)
        : size(memorySize), deviceId(device), type(memoryType) {}
    MemoryData(void *pointer, size_t memorySize, MemoryType memoryType = MEMORY_HOST, int32_t device = 0)
        : ptrData(pointer), size(memorySize), deviceId(device), type(memoryType) {}

    void *ptrData = nullptr;
    size_t size = 0;
    int32_t deviceId = 0;
    MemoryType type = MEMORY_HOST;
    APP_ERROR (*free)(void *) = nullptr;
};

class SDK_AVAILABLE_FOR_OUT MemoryHelper {
public:
    /* 1004 if the size is 0 or too large; 2 (APP_ERR_ACL_BAD_ALLOC) if there is no room or no such device. */
    static APP_ERROR MxbsMalloc(MemoryData &data);

    /* 1003 for NULL; 27 (APP_ERR_ACL_BAD_FREE) for what MxbsMalloc did not give. */
    static APP_ERROR MxbsFree(MemoryData &data);

    /* 1003 for NULL; 1004 if count is 0 or more than the size. */
    static APP_ERROR MxbsMemset(MemoryData &data, int32_t value, size_t count);
    static APP_ERROR MxbsMemset(MemoryData &data, int32_t value, size_t count, AscendStream &stream);

    /* 1003 for NULL; 1004 if count is 0 or more than dest.size; 26 (APP_ERR_ACL_BAD_COPY) for the rest. */
    static APP_ERROR MxbsMemcpy(MemoryData &dest, const MemoryData &src, size_t count);

    /* Memory of dest.size and dest.type, with the contents of src. Nothing is kept if that fails. */
    static APP_ERROR MxbsMallocAndCopy(MemoryData &dest, const MemoryData &src);

    /* The largest size that is given out: 1 to 4 GiB, which is the start. */
    static APP_ERROR SetMaxDataSize(long size);
    static APP_ERROR CheckDataSize(long size);
    static APP_ERROR CheckDataSizeAllowZero(long size);

    /* std::make_shared that gives NULL where the constructor throws. */
    template <typename T, typename... Args> static std::shared_ptr<T> MakeShared(Args &&...args)
    {
        try {
            return std::make_shared<T>(args...);
        } catch (const std::exception &) {
            return nullptr;
        }
    }
};

} // namespace MxBase

#endif
