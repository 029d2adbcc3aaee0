/* AscendStream.h - a queue of work on a device. Copies are the same queue. */
#ifndef MXBASE_ASCENDSTREAM_H
#define MXBASE_ASCENDSTREAM_H

#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "MxBase/Common/HiddenAttr.h"
#include "MxBase/ErrorCode/ErrorCode.h"
#include "MxBase/Log/Log.h"

namespace MxBase {

class Tensor;
struct TensorParts; /* the library's own way in */

class SDK_AVAILABLE_FOR_OUT AscendStream {
    typedef void (*aclrtCallback)(void *userData);

public:
    enum FlagType : int {
        DEFAULT = 0,
        FAST_LAUNCH = 1,
        FAST_SYNC = 2,
        LAUNCH_SYNC = 3,
    };

    /* Throws std::runtime_error if there is no such device or flag. */
    explicit AscendStream(int32_t deviceId = 0);
    explicit AscendStream(int32_t deviceId, FlagType flag);
    ~AscendStream();
    AscendStream(const AscendStream &other);
    AscendStream &operator=(const AscendStream &other);

    /* Waits for its work. May be called again. */
    APP_ERROR DestroyAscendStream();

    /* -1 if `stream` was overwritten with something else. */
    APP_ERROR Synchronize() const;

    /* Makes LaunchCallBack possible. 1030 the second time. */
    APP_ERROR CreateAscendStream();

    /* The stream of calls that name none: what they do is done when they return. */
    static AscendStream &DefaultStream();

    APP_ERROR GetChannel(int *channelId);
    APP_ERROR CreateChannel();
    int32_t GetDeviceId() const;

    /* The first code stays first; of the later ones the last is kept. */
    void SetErrorCode(APP_ERROR errCode);
    std::pair<APP_ERROR, APP_ERROR> GetErrorCode();

    /* Calls fn when the work queued so far is done. */
    APP_ERROR LaunchCallBack(aclrtCallback fn, void *userData);

    APP_ERROR AddTensorRefPtr(const Tensor &inputTensor);

    void *stream = nullptr;
    bool isDefault_ = false;

private:
    friend struct TensorParts;
    struct Queue;
    std::shared_ptr<Queue> queue_;
    int chnId_ = -1;
    int32_t deviceId_ = 0;
    bool hasCallbacks_ = false;
    std::pair<APP_ERROR, APP_ERROR> errCodeLogger = std::make_pair(APP_ERR_OK, APP_ERR_OK);
};

} // namespace MxBase

#endif
