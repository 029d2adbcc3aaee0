/* init.cpp - the first and the last call of a program. */
#include "MxBase/E2eInfer/GlobalInit/GlobalInit.h"

#include <unistd.h>

#include "MxBase/Asynchron/AscendStream.h"
#include "MxBase/DeviceManager/DeviceManager.h"
#include "face.hpp"

namespace MxBase {

namespace {

bool is_within(uint32_t channels, uint32_t most) { return channels >= 1 && channels <= most; }

APP_ERROR load(const std::string &path)
{
    if (path.empty() || access(path.c_str(), R_OK) != 0)
        return mxface::fail(APP_ERR_COMM_INVALID_PATH, "MxInitFromConfig: the file cannot be read.");
    const std::string ending = ".json";
    if (path.size() < ending.size() || path.compare(path.size() - ending.size(), ending.size(), ending) != 0)
        return mxface::fail(APP_ERR_COMM_INVALID_PARAM, "MxInitFromConfig: the file is no .json.");
    return APP_ERR_OK;
}

} // namespace

APP_ERROR MxInit() { return DeviceManager::GetInstance()->InitDevices(); }

APP_ERROR MxInit(const AppGlobalCfg &globalCfg)
{
    AppGlobalCfgExtra extra;
    extra.vpcChnNum = globalCfg.vpcChnNum;
    return MxInit(extra);
}

APP_ERROR MxInit(const AppGlobalCfgExtra &cfg)
{
    if (!is_within(cfg.vpcChnNum, 128) || !is_within(cfg.jpegdChnNum, 64) || !is_within(cfg.pngdChnNum, 64) ||
        !is_within(cfg.jpegeChnNum, 48))
        return mxface::fail(APP_ERR_COMM_INVALID_PARAM, "MxInit: a number of channels is out of range.");
    return MxInit();
}

APP_ERROR MxInitFromConfig(const std::string &configFile)
{
    const APP_ERROR ret = MxInit();
    return ret == APP_ERR_OK ? load(configFile) : ret;
}

APP_ERROR MxInitFromConfig(const std::string &configFile, const AppGlobalCfg &globalCfg)
{
    const APP_ERROR ret = MxInit(globalCfg);
    return ret == APP_ERR_OK ? load(configFile) : ret;
}

APP_ERROR MxInitFromConfig(const std::string &configFile, const AppGlobalCfgExtra &globalCfgExtra)
{
    const APP_ERROR ret = MxInit(globalCfgExtra);
    return ret == APP_ERR_OK ? load(configFile) : ret;
}

APP_ERROR MxDeInit()
{
    const APP_ERROR streams = AscendStream::DefaultStream().DestroyAscendStream();
    const APP_ERROR devices = DeviceManager::GetInstance()->DestroyDevices();
    return streams == APP_ERR_OK && devices == APP_ERR_OK ? APP_ERR_OK : APP_ERR_COMM_FAILURE;
}

} // namespace MxBase
