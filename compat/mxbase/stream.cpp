/* stream.cpp - queues of work. */
#include "MxBase/Asynchron/AscendStream.h"

#include <atomic>
#include <stdexcept>

#include "MxBase/DeviceManager/DeviceManager.h"
#include "face.hpp"

namespace {

std::atomic<int> open_streams(0); /* beside the devices' own */

} // namespace

namespace MxBase {

/* NULL is the device's own stream. */
struct AscendStream::Queue {
    explicit Queue(tsr_device d) : device(d) {}
    ~Queue() { Close(); }
    Queue(const Queue &) = delete;
    Queue &operator=(const Queue &) = delete;

    tsr_status Open()
    {
        const tsr_status s = tsr_stream_create(&stream, device);
        if (s == TSR_OK) open_streams++;
        return s;
    }

    void Close()
    {
        if (stream) open_streams--;
        tsr_stream_destroy(&stream);
    }

    tsr_device device;
    tsr_stream *stream = nullptr;
};

AscendStream::AscendStream(int32_t deviceId) : AscendStream(deviceId, LAUNCH_SYNC) {}

AscendStream::AscendStream(int32_t deviceId, FlagType flag) : deviceId_(deviceId)
{
    DeviceContext context;
    context.devId = deviceId;
    tsr_device device;
    if (DeviceManager::GetInstance()->SetDevice(context) != APP_ERR_OK ||
        !mxface::find_device(&device, deviceId) || flag < DEFAULT || flag > LAUNCH_SYNC)
        throw std::runtime_error(GetErrorInfo(APP_ERR_COMM_INIT_FAIL));
    queue_ = std::make_shared<Queue>(device);
    if (queue_->Open() != TSR_OK) {
        mxface::fail(APP_ERR_COMM_INIT_FAIL, tsr_last_error());
        throw std::runtime_error(GetErrorInfo(APP_ERR_COMM_INIT_FAIL));
    }
    stream = queue_.get();
}

AscendStream::~AscendStream() = default;
AscendStream::AscendStream(const AscendStream &other) = default;
AscendStream &AscendStream::operator=(const AscendStream &other) = default;

APP_ERROR AscendStream::DestroyAscendStream()
{
    const APP_ERROR ret = queue_ && stream == queue_.get() ? Synchronize() : APP_ERR_OK;
    queue_.reset();
    stream = nullptr;
    chnId_ = -1;
    hasCallbacks_ = false;
    return ret;
}

APP_ERROR AscendStream::Synchronize() const
{
    if (!stream) return APP_ERR_OK;
    if (stream != queue_.get()) return mxface::fail(APP_ERR_ACL_FAILURE, "Synchronize: this is no stream.");
    const tsr_status s =
        queue_->stream ? tsr_stream_sync(queue_->stream) : tsr_device_sync(queue_->device);
    return s == TSR_OK ? APP_ERR_OK : mxface::fail(APP_ERR_ACL_FAILURE, tsr_last_error());
}

APP_ERROR AscendStream::CreateAscendStream()
{
    if (hasCallbacks_)
        return mxface::fail(APP_ERR_COMM_REPEAT_INITIALIZE, "CreateAscendStream: called again.");
    hasCallbacks_ = true;
    return APP_ERR_OK;
}

AscendStream &AscendStream::DefaultStream()
{
    /* The device's own stream, which calls that name none use too. */
    const auto make = [](int32_t id) {
        AscendStream s(id);
        s.queue_->Close();
        s.isDefault_ = true;
        return s;
    };
    static std::mutex lock;
    static AscendStream *const the =
        new AscendStream(make(mxface::current_device())); /* outlives every static */
    if (the->stream) return *the;
    const std::lock_guard<std::mutex> guard(lock);
    if (!the->stream) *the = make(the->deviceId_);
    return *the;
}

APP_ERROR AscendStream::GetChannel(int *channelId)
{
    if (!channelId)
        return mxface::fail(APP_ERR_COMM_FAILURE, "GetChannel: the place for the number is NULL.");
    *channelId = chnId_;
    return APP_ERR_OK;
}

APP_ERROR AscendStream::CreateChannel()
{
    chnId_ = 0;
    return APP_ERR_OK;
}

int32_t AscendStream::GetDeviceId() const { return deviceId_; }

void AscendStream::SetErrorCode(APP_ERROR errCode)
{
    if (isDefault_) return;
    (errCodeLogger.first == APP_ERR_OK ? errCodeLogger.first : errCodeLogger.second) = errCode;
}

std::pair<APP_ERROR, APP_ERROR> AscendStream::GetErrorCode() { return errCodeLogger; }

APP_ERROR AscendStream::LaunchCallBack(aclrtCallback fn, void *userData)
{
    if (!fn || !stream) return mxface::fail(APP_ERR_COMM_INVALID_POINTER, "LaunchCallBack: NULL.");
    if (!hasCallbacks_)
        return mxface::fail(APP_ERR_ACL_FAILURE, "LaunchCallBack: CreateAscendStream comes first.");
    const APP_ERROR ret = Synchronize();
    if (ret == APP_ERR_OK) fn(userData);
    return ret;
}

/* Memory that queued work uses is kept by the library. */
APP_ERROR AscendStream::AddTensorRefPtr(const Tensor &) { return APP_ERR_OK; }

tsr_stream *TensorParts::Stream(const AscendStream &s)
{
    return s.queue_ && s.stream == s.queue_.get() ? s.queue_->stream : nullptr;
}

} // namespace MxBase

namespace mxface {

tsr_status finish(const tsr_tensor *t)
{
    tsr_stream *const current = tsr_stream_current(t->device);
    tsr_event *done = nullptr;
    if (t->device == TSR_CPU) return TSR_OK;
    if (current) return t->memory == TSR_MEMORY_MEDIA ? tsr_stream_sync(current) : TSR_OK;
    /* An event is worth its cost only where a device has other streams, whose work need not be waited for. */
    if (open_streams == 0 || tsr_event_create(&done, t->device) != TSR_OK) return tsr_device_sync(t->device);
    tsr_status s = tsr_event_record(done, nullptr);
    if (s == TSR_OK) s = tsr_event_sync(done);
    tsr_event_destroy(&done);
    return s;
}

void OnStream::Begin(const MxBase::AscendStream &stream)
{
    tsr_stream *const wanted = MxBase::TensorParts::Stream(stream);
    if (!wanted) return;
    device_ = tsr_stream_device(wanted);
    before_ = tsr_stream_current(device_);
    changed_ = tsr_stream_use(wanted) == TSR_OK;
}

void OnStream::End()
{
    (void)((before_ ? tsr_stream_use(before_) : tsr_stream_use_default(device_)) == TSR_OK);
}

} // namespace mxface
