/* DeviceManager.h - how many devices there are, and which one this thread uses. */
#ifndef DEVICE_MANAGER_H
#define DEVICE_MANAGER_H

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "MxBase/Common/HiddenAttr.h"
#include "MxBase/ErrorCode/ErrorCode.h"

namespace MxBase {

const unsigned int DEFAULT_VALUE = 0;

struct DeviceContext {
    enum DeviceStatus {
        IDLE = 0,
        USING
    } devStatus = IDLE;
    int32_t devId = DEFAULT_VALUE;
};

class SDK_AVAILABLE_FOR_OUT DeviceManager {
public:
    virtual ~DeviceManager();
    static DeviceManager *GetInstance();

    /* The file is not read. May be called again. */
    APP_ERROR InitDevices(std::string configFilePath = "");

    /* 0 before InitDevices. */
    APP_ERROR GetDevicesCount(uint32_t &deviceCount);

    /* This thread's device. -1 (APP_ERR_ACL_FAILURE) if it has set none. */
    APP_ERROR GetCurrentDevice(DeviceContext &device);

    /* 1004 if there is no such device. */
    APP_ERROR SetDevice(DeviceContext device);

    /* 1009 without an InitDevices before; otherwise OK, also when called again. */
    APP_ERROR DestroyDevices();
    bool IsInitDevices() const;
    APP_ERROR CheckDeviceId(int32_t deviceId);

    /* The devices here answer to the name of an Ascend 310P. */
    static bool IsAscend310();
    static bool IsAscend310B();
    static bool IsAscend310P();
    static bool IsAtlas800IA2();
    static std::string GetSocName();

private:
    DeviceManager() = default;
    mutable std::mutex mtx_ = {};
    uint32_t deviceCount_ = 0;
    uint32_t initCounter_ = 0;
    bool destroyFlag_ = false;
};

} // namespace MxBase

#endif
