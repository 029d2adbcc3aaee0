/* TensorContext.h - DeviceManager::SetDevice by another name. */
#ifndef TENSOR_CONTEXT_H
#define TENSOR_CONTEXT_H

#include <cstdint>
#include <memory>

#include "MxBase/Common/HiddenAttr.h"
#include "MxBase/ErrorCode/ErrorCode.h"

namespace MxBase {

class SDK_AVAILABLE_FOR_OUT TensorContext {
public:
    TensorContext();
    ~TensorContext();
    APP_ERROR SetContext(const uint32_t &deviceId);
    static std::shared_ptr<TensorContext> GetInstance();
};

} // namespace MxBase

#endif
