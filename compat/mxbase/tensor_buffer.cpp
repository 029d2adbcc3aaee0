/* tensor_buffer.cpp - TensorBuffer, over MemoryHelper. */
#include "MxBase/Tensor/TensorBuffer/TensorBuffer.h"

#include "MxBase/Tensor/TensorContext/TensorContext.h"
#include "face.hpp"

namespace MxBase {

APP_ERROR TensorBuffer::SetContext() const
{
    return IsDevice() ? TensorContext::GetInstance()->SetContext(deviceId) : APP_ERR_OK;
}

APP_ERROR TensorBuffer::TensorBufferMalloc(TensorBuffer &buffer)
{
    APP_ERROR ret = buffer.SetContext();
    if (ret != APP_ERR_OK) return ret;
    MemoryData memory(buffer.size, buffer.type, buffer.deviceId);
    ret = MemoryHelper::MxbsMalloc(memory);
    if (ret != APP_ERR_OK) return ret;
    buffer.data.reset(memory.ptrData, [memory](void *) {
        MemoryData given = memory;
        MemoryHelper::MxbsFree(given);
    });
    return APP_ERR_OK;
}

APP_ERROR TensorBuffer::CheckCopyValid(const TensorBuffer &buffer1, const TensorBuffer &buffer2)
{
    if (buffer1.size == buffer2.size && buffer1.data && buffer2.data) return APP_ERR_OK;
    return mxface::fail(APP_ERR_COMM_INVALID_PARAM, "TensorBuffer: there is no memory, or not of one size.");
}

TensorBufferCopyType TensorBuffer::GetBufferCopyType(const TensorBuffer &buffer1, const TensorBuffer &buffer2)
{
    if (buffer1.IsHost() && buffer2.IsHost()) return TensorBufferCopyType::HOST_AND_HOST;
    if (buffer1.IsHost() || buffer2.IsHost()) return TensorBufferCopyType::HOST_AND_DEVICE;
    return buffer1.deviceId == buffer2.deviceId ? TensorBufferCopyType::DEVICE_AND_SAME_DEVICE
                                                : TensorBufferCopyType::DEVICE_AND_DIFF_DEVICE;
}

/* Any place to any other: MxbsMemcpy knows them all. */
APP_ERROR TensorBuffer::TensorBufferCopy(TensorBuffer &dst, const TensorBuffer &src)
{
    APP_ERROR ret = CheckCopyValid(dst, src);
    if (ret == APP_ERR_OK) ret = (src.IsDevice() ? src : dst).SetContext();
    if (ret != APP_ERR_OK) return ret;
    MemoryData to(dst.data.get(), dst.size, dst.type, dst.deviceId);
    const MemoryData from(src.data.get(), src.size, src.type, src.deviceId);
    return MemoryHelper::MxbsMemcpy(to, from, dst.size);
}

APP_ERROR TensorBuffer::CopyBetweenHost(TensorBuffer &dst, const TensorBuffer &src)
{
    const APP_ERROR ret = CheckCopyValid(dst, src);
    if (ret != APP_ERR_OK) return ret;
    if (dst.IsDevice() || src.IsDevice())
        return mxface::fail(APP_ERR_ACL_BAD_COPY, "CopyBetweenHost: a buffer is on a device.");
    return TensorBufferCopy(dst, src);
}

APP_ERROR TensorBuffer::CopyBetweenHostDevice(TensorBuffer &dst, const TensorBuffer &src)
{
    return TensorBufferCopy(dst, src);
}

APP_ERROR TensorBuffer::CopyBetweenSameDevice(TensorBuffer &dst, const TensorBuffer &src)
{
    return TensorBufferCopy(dst, src);
}

APP_ERROR TensorBuffer::CopyBetweenDiffDevice(TensorBuffer &dst, const TensorBuffer &src)
{
    return TensorBufferCopy(dst, src);
}

} // namespace MxBase
