/* device.cpp - devices by number. */
#include "MxBase/DeviceManager/DeviceManager.h"
#include "MxBase/Tensor/TensorContext/TensorContext.h"

#include <array>
#include <cstdio>
#include <cstring>

#include "face.hpp"

namespace mxface {
namespace {

const int MOST = 64;

struct Found {
    std::array<tsr_device, MOST> devices;
    std::array<bool, MOST> hardware;
    uint32_t count = 0;
};

bool parse(tsr_device *out, const char *backend, int id)
{
    char name[32];
    std::snprintf(name, sizeof name, "%s:%d", backend, id);
    return tsr_device_parse(out, name) == TSR_OK;
}

Found find_all()
{
    Found found;
    for (int id = 0; id < MOST; id++) {
        found.hardware[id] = parse(&found.devices[id], "cuda", id);
        if (!found.hardware[id] && !parse(&found.devices[id], "sim", id)) break;
        found.count++;
    }
    tsr_clear_error(); /* that there is no further device is no failure of the caller's */
    return found;
}

/* Looked for once: a search for what is absent reads folders. */
const Found &all()
{
    static const Found found = find_all();
    return found;
}

thread_local int32_t chosen = -1;

} // namespace

uint32_t count_devices() { return all().count; }

bool find_device(tsr_device *out, int32_t id)
{
    if (id < 0 || static_cast<uint32_t>(id) >= all().count) return false;
    *out = all().devices[id];
    return true;
}

bool is_hardware(int32_t id)
{
    return id >= 0 && static_cast<uint32_t>(id) < all().count && all().hardware[id];
}

int32_t current_device() { return chosen < 0 ? 0 : chosen; }

} // namespace mxface

namespace MxBase {

using mxface::fail;

DeviceManager::~DeviceManager() = default;

DeviceManager *DeviceManager::GetInstance()
{
    static DeviceManager manager;
    return &manager;
}

APP_ERROR DeviceManager::InitDevices(std::string)
{
    const std::lock_guard<std::mutex> guard(mtx_);
    initCounter_++;
    deviceCount_ = mxface::count_devices();
    return APP_ERR_OK;
}

APP_ERROR DeviceManager::GetDevicesCount(uint32_t &deviceCount)
{
    const std::lock_guard<std::mutex> guard(mtx_);
    deviceCount = deviceCount_;
    return APP_ERR_OK;
}

APP_ERROR DeviceManager::GetCurrentDevice(DeviceContext &device)
{
    if (mxface::chosen < 0) return APP_ERR_ACL_FAILURE;
    device.devId = mxface::chosen;
    device.devStatus = DeviceContext::USING;
    return APP_ERR_OK;
}

APP_ERROR DeviceManager::SetDevice(DeviceContext device)
{
    if (!IsInitDevices()) InitDevices();
    const APP_ERROR ret = CheckDeviceId(device.devId);
    if (ret == APP_ERR_OK) mxface::chosen = device.devId;
    return ret;
}

APP_ERROR DeviceManager::DestroyDevices()
{
    const std::lock_guard<std::mutex> guard(mtx_);
    if (initCounter_ == 0) return APP_ERR_COMM_OUT_OF_RANGE;
    destroyFlag_ = true;
    return APP_ERR_OK;
}

bool DeviceManager::IsInitDevices() const
{
    const std::lock_guard<std::mutex> guard(mtx_);
    return initCounter_ > 0;
}

APP_ERROR DeviceManager::CheckDeviceId(int32_t deviceId)
{
    const uint32_t count = mxface::count_devices();
    if (deviceId >= 0 && static_cast<uint32_t>(deviceId) < count) return APP_ERR_OK;
    LogError << "There is no device " << deviceId << " of " << count << "."
             << GetErrorInfo(APP_ERR_COMM_INVALID_PARAM);
    return APP_ERR_COMM_INVALID_PARAM;
}

bool DeviceManager::IsAscend310() { return false; }
bool DeviceManager::IsAscend310B() { return false; }
bool DeviceManager::IsAscend310P() { return true; }
bool DeviceManager::IsAtlas800IA2() { return false; }
std::string DeviceManager::GetSocName() { return "310P"; }

TensorContext::TensorContext() { DeviceManager::GetInstance()->InitDevices(); }
TensorContext::~TensorContext() = default;

APP_ERROR TensorContext::SetContext(const uint32_t &deviceId)
{
    DeviceContext device;
    device.devId = static_cast<int32_t>(deviceId);
    return DeviceManager::GetInstance()->SetDevice(device);
}

std::shared_ptr<TensorContext> TensorContext::GetInstance()
{
    static const std::shared_ptr<TensorContext> context = std::make_shared<TensorContext>();
    return context;
}

} // namespace MxBase
