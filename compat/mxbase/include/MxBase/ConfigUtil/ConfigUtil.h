/* ConfigUtil.h - configurations: files of key=value, JSON, and files of labels. */
#ifndef CONFIG_UTIL_H
#define CONFIG_UTIL_H

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>
#if defined(__has_include)
#if __has_include(<nlohmann/json.hpp>)
#include <nlohmann/json.hpp> /* not needed here; the system's header gives it to programs */
#endif
#endif

#include "MxBase/Common/HiddenAttr.h"
#include "MxBase/ErrorCode/ErrorCode.h"
#include "MxBase/Log/Log.h"

namespace mxface {
class Json;
}

namespace MxBase {

enum ConfigMode {
    CONFIGJSON = 0, /* a file of JSON, for GetCfgJson */
    CONFIGFILE,     /* a file of key=value, '#' before comments */
    CONFIGPM,       /* refused, as in the system */
    CONFIGCONTENT   /* JSON itself, an object of strings, for GetFileValue */
};

class SDK_AVAILABLE_FOR_OUT ConfigData {
public:
    ConfigData();
    ConfigData(const ConfigData &other);
    ConfigData &operator=(const ConfigData &other);
    ~ConfigData();

    /* Of the JSON value, or of its element `pos`, if that is not -1. 1004 if the key is empty, pos below
     * -1, the value of another kind, or there are characters that HasInvalidChar knows. */
    APP_ERROR SetJsonValue(const std::string &key, const std::string &value, int pos = -1);

    /* A name per line; lines of '#' before the first name are comments. 1004 if there is no such file. */
    APP_ERROR LoadLabels(const std::string &labelPath);

    /* "" if there are not so many. */
    std::string GetClassName(const size_t classId);

    /* The value of a key as the stream operator >> reads it: of strings, the first word. 1016
     * (APP_ERR_COMM_NO_EXIST) without the key, 1004 for another type; value stays then. */
    template <typename T> APP_ERROR GetFileValue(const std::string &key, T &value) const
    {
        std::string text;
        if (!Find(key, text)) return APP_ERR_COMM_NO_EXIST;
        T read{};
        if (!Read(text, read)) return APP_ERR_COMM_INVALID_PARAM;
        value = read;
        return APP_ERR_OK;
    }

    /* The same, held to min .. max. */
    template <typename T>
    APP_ERROR GetFileValue(const std::string &key, T &value, const T &min, const T &max) const
    {
        T read{};
        const APP_ERROR ret = GetFileValue<T>(key, read);
        if (ret != APP_ERR_OK) return ret;
        if (read < min || read > max) LogInfo << "The value of " << key << " is held to its range.";
        value = read < min ? min : read > max ? max : read;
        return APP_ERR_OK;
    }

    /* A failure is a warning. */
    template <typename T> void GetFileValueWarn(const std::string &key, T &value) const
    {
        WarnOf(key, GetFileValue<T>(key, value));
    }

    template <typename T>
    void GetFileValueWarn(const std::string &key, T &value, const T &min, const T &max) const
    {
        WarnOf(key, GetFileValue<T>(key, value, min, max));
    }

    /* Kept as text, "key = value", and not read back by GetFileValue. 1004 if the key is empty. */
    template <typename T> APP_ERROR SetFileValue(const std::string &key, const T &value)
    {
        if (key.empty()) {
            LogError << "SetFileValue: the key is empty." << GetErrorInfo(APP_ERR_COMM_INVALID_PARAM);
            return APP_ERR_COMM_INVALID_PARAM;
        }
        saveBuf_ << key << " = " << std::boolalpha << value << std::noboolalpha << std::endl;
        return APP_ERR_OK;
    }

    /* A key that is there already keeps its value. 1019 (APP_ERR_COMM_OPEN_FAIL) for lines of 10000
     * characters or more than 100000 lines, and for what is not JSON. */
    APP_ERROR InitFile(std::ifstream &inFile);
    APP_ERROR InitJson(std::ifstream &inFile);
    APP_ERROR InitContent(const std::string &content); /* 1004 for what is no object of strings */
    std::string GetCfgJson();                          /* "null" if there is none */

private:
    static bool Read(const std::string &text, bool &value)
    {
        std::string lower(text);
        std::transform(lower.begin(), lower.end(), lower.begin(),
                       [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        return static_cast<bool>(std::istringstream(lower) >> std::boolalpha >> value);
    }

    template <typename T> static bool Read(const std::string &text, T &value)
    {
        return static_cast<bool>(std::istringstream(text) >> value);
    }

    static void WarnOf(const std::string &key, APP_ERROR ret)
    {
        if (ret == APP_ERR_OK) return;
        LogWarn << "The configuration has no usable " << key << "." << GetErrorInfo(ret);
    }

    bool Find(const std::string &key, std::string &text) const;

    std::unique_ptr<mxface::Json> cfgJson_;
    std::map<std::string, std::string> cfgFile_;
    std::stringstream saveBuf_;
    std::vector<std::string> labelVec_;
};

class SDK_AVAILABLE_FOR_OUT ConfigUtil {
public:
    /* config: a path, or for CONFIGCONTENT the JSON itself. 1004 for a path that is none or a link, 1001
     * for what is no file. */
    APP_ERROR LoadConfiguration(const std::string &config, ConfigData &data, ConfigMode mode = CONFIGJSON);
};

} // namespace MxBase

#endif
