/* GlobalInit.h - the first and the last call of a program. */
#ifndef GLOBAL_INIT_H
#define GLOBAL_INIT_H

#include <cstdint>
#include <string>

#include "MxBase/Common/HiddenAttr.h"
#include "MxBase/Log/Log.h"

namespace MxBase {

/* How many channels of the image units to hold. They are checked, and otherwise mean nothing here. */
struct AppGlobalCfg {
    uint32_t vpcChnNum = 48; /* 1 .. 128 */
};

struct AppGlobalCfgExtra {
    uint32_t vpcChnNum = 48;   /* 1 .. 128 */
    uint32_t jpegdChnNum = 24; /* 1 .. 64 */
    uint32_t pngdChnNum = 24;  /* 1 .. 64 */
    uint32_t jpegeChnNum = 24; /* 1 .. 48 */
    virtual ~AppGlobalCfgExtra() = default;
};

SDK_AVAILABLE_FOR_OUT APP_ERROR MxInit();
SDK_AVAILABLE_FOR_OUT APP_ERROR MxInit(const AppGlobalCfg &globalCfg);
SDK_AVAILABLE_FOR_OUT APP_ERROR MxInit(const AppGlobalCfgExtra &globalCfgExtra);

/* 1029 if there is no such file, 1004 if its name does not end in .json. There is nothing to preload. */
SDK_AVAILABLE_FOR_OUT APP_ERROR MxInitFromConfig(const std::string &configFile);
SDK_AVAILABLE_FOR_OUT APP_ERROR MxInitFromConfig(const std::string &configFile,
                                                 const AppGlobalCfg &globalCfg);
SDK_AVAILABLE_FOR_OUT APP_ERROR MxInitFromConfig(const std::string &configFile,
                                                 const AppGlobalCfgExtra &globalCfgExtra);

SDK_AVAILABLE_FOR_OUT APP_ERROR MxDeInit();

} // namespace MxBase

#endif
