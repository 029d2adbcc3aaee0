/* TensorBuffer.h - memory that copies share: what the system keeps in its tensors. */
#ifndef TENSOR_BUFFER_H
#define TENSOR_BUFFER_H

#include <cstdint>
#include <memory>

#include "MxBase/Common/HiddenAttr.h"
#include "MxBase/ErrorCode/ErrorCode.h"
#include "MxBase/MemoryHelper/MemoryHelper.h"

namespace MxBase {

enum class TensorBufferCopyType {
    HOST_AND_HOST = 0,
    HOST_AND_DEVICE,
    DEVICE_AND_SAME_DEVICE,
    DEVICE_AND_DIFF_DEVICE
};

class SDK_AVAILABLE_FOR_OUT TensorBuffer {
public:
    TensorBuffer() {}
    TensorBuffer(uint32_t bytes, MemoryData::MemoryType memoryType, int32_t device)
        : size(bytes), type(memoryType), deviceId(device) {}
    TensorBuffer(uint32_t bytes, int32_t device) : size(bytes), deviceId(device) {}
    explicit TensorBuffer(uint32_t bytes) : size(bytes) {}

    /* The caller's memory, which stays the caller's. */
    TensorBuffer(void *ptr, uint32_t bytes, MemoryData::MemoryType memoryType = MemoryData::MEMORY_HOST_NEW,
                 int32_t device = -1)
        : size(bytes), type(memoryType), deviceId(device), data(ptr, [](void *) {}) {}

    bool IsDevice() const { return type == MemoryData::MEMORY_DEVICE || type == MemoryData::MEMORY_DVPP; }
    bool IsHost() const { return !IsDevice(); }

    APP_ERROR SetContext() const; /* its device is the thread's; 1004 if there is none such */
    static APP_ERROR TensorBufferMalloc(TensorBuffer &buffer);

    /* 1004 unless both have memory, of one size. */
    static APP_ERROR TensorBufferCopy(TensorBuffer &dst, const TensorBuffer &src);
    static APP_ERROR CheckCopyValid(const TensorBuffer &buffer1, const TensorBuffer &buffer2);
    static TensorBufferCopyType GetBufferCopyType(const TensorBuffer &buffer1, const TensorBuffer &buffer2);
    static APP_ERROR CopyBetweenHost(TensorBuffer &dst, const TensorBuffer &src); /* 26 on a device */
    static APP_ERROR CopyBetweenHostDevice(TensorBuffer &dst, const TensorBuffer &src);
    static APP_ERROR CopyBetweenSameDevice(TensorBuffer &dst, const TensorBuffer &src);
    static APP_ERROR CopyBetweenDiffDevice(TensorBuffer &dst, const TensorBuffer &src);

private:
    uint32_t size = 0;
    MemoryData::MemoryType type = MemoryData::MEMORY_HOST_NEW;
    int32_t deviceId = -1;
    std::shared_ptr<void> data;
};

} // namespace MxBase

#endif
