/* config.cpp - ConfigData and ConfigUtil. */
#include "MxBase/ConfigUtil/ConfigUtil.h"

#include "MxBase/Common/Version.h"
#include "MxBase/Utils/FileUtils.h"
#include "MxBase/Utils/StringUtils.h"
#include "face.hpp"
#include "json.hpp"

namespace MxBase {

using mxface::fail;
using mxface::Json;

namespace {

const size_t LONGEST_CONTENT = 100 << 20;
const size_t LONGEST_LINE = 9999;
const int MOST_LINES = 100000;
const int MOST_ELEMENTS = 100000;

/* NULL unless the value is of this kind, or can become it because there is none yet. */
Json *as_kind(Json *json, Json::Kind kind)
{
    if (json->kind == Json::NONE) json->kind = kind;
    return json->kind == kind ? json : nullptr;
}

Json *element_of(Json *json, int pos)
{
    if (!as_kind(json, Json::ARRAY)) return nullptr;
    const size_t place = static_cast<size_t>(pos);
    if (json->elements.size() <= place) json->elements.resize(place + 1);
    return &json->elements[place];
}

/* A path that may be read: 1004 for none or a link, 1001 for what is no file. */
APP_ERROR check_path(std::string &path)
{
    if (!FileUtils::RegularFilePath(path, path)) return APP_ERR_COMM_INVALID_PARAM;
    return FileUtils::IsFileValid(path, false) ? APP_ERR_OK : APP_ERR_COMM_FAILURE;
}

APP_ERROR too_long() { return fail(APP_ERR_COMM_OPEN_FAIL, "The file has too many lines, or one too long."); }

} // namespace

std::string GetSDKVersion()
{
    return std::to_string(MINDX_SDK_VERSION_MAJOR) + "." + std::to_string(MINDX_SDK_VERSION_MINOR) + "." +
           std::to_string(MINDX_SDK_VERSION_MICRO);
}

ConfigData::ConfigData() : cfgJson_(new Json) {}
ConfigData::ConfigData(const ConfigData &other)
    : cfgJson_(new Json(*other.cfgJson_)), cfgFile_(other.cfgFile_), labelVec_(other.labelVec_) {}
ConfigData::~ConfigData() = default;

ConfigData &ConfigData::operator=(const ConfigData &other)
{
    if (this == &other) return *this;
    *cfgJson_ = *other.cfgJson_;
    cfgFile_ = other.cfgFile_;
    labelVec_ = other.labelVec_;
    saveBuf_.str("");
    return *this;
}

APP_ERROR ConfigData::SetJsonValue(const std::string &key, const std::string &value, int pos)
{
    if (StringUtils::HasInvalidChar(key) || StringUtils::HasInvalidChar(value))
        return fail(APP_ERR_COMM_INVALID_PARAM, "SetJsonValue: key or value has refused characters.");
    if (key.empty() || pos < -1 || pos >= MOST_ELEMENTS)
        return fail(APP_ERR_COMM_INVALID_PARAM, "SetJsonValue: the key is empty, or pos out of range.");
    Json *object = pos == -1 ? cfgJson_.get() : element_of(cfgJson_.get(), pos);
    if (!object || !as_kind(object, Json::OBJECT))
        return fail(APP_ERR_COMM_INVALID_PARAM, "SetJsonValue: the value there is of another kind.");
    Json &member = object->members[key];
    member = Json();
    member.kind = Json::TEXT;
    member.text = value;
    return APP_ERR_OK;
}

std::string ConfigData::GetCfgJson() { return cfgJson_->Dump(); }

bool ConfigData::Find(const std::string &key, std::string &text) const
{
    const auto found = cfgFile_.find(key);
    if (found == cfgFile_.end()) return false;
    text = found->second;
    return true;
}

APP_ERROR ConfigData::InitFile(std::ifstream &inFile)
{
    int lines = 0;
    for (std::string line; std::getline(inFile, line);) {
        if (line.size() > LONGEST_LINE || ++lines > MOST_LINES) return too_long();
        line.erase(std::min(line.find('#'), line.size()));
        if (!line.empty() && line.back() == '\r') line.pop_back();
        const size_t equals = line.find('=');
        if (equals == std::string::npos) continue;
        std::string key = line.substr(0, equals), value = line.substr(equals + 1);
        cfgFile_.insert({ StringUtils::Trim(key), StringUtils::Trim(value) });
    }
    return APP_ERR_OK;
}

APP_ERROR ConfigData::InitJson(std::ifstream &inFile)
{
    std::ostringstream text;
    text << inFile.rdbuf();
    Json json;
    if (!Json::Parse(&json, text.str()) || StringUtils::HasInvalidCharInJson(text.str()))
        return fail(APP_ERR_COMM_OPEN_FAIL, "InitJson: the file is not JSON, or has refused characters.");
    *cfgJson_ = json;
    return APP_ERR_OK;
}

APP_ERROR ConfigData::InitContent(const std::string &content)
{
    Json json;
    if (content.size() > LONGEST_CONTENT || !Json::Parse(&json, content) || json.kind != Json::OBJECT)
        return fail(APP_ERR_COMM_INVALID_PARAM, "InitContent: the content is no JSON object.");
    if (StringUtils::HasInvalidCharInJson(content))
        return fail(APP_ERR_COMM_INVALID_PARAM, "InitContent: the content has refused characters.");
    for (const auto &member : json.members) {
        if (member.second.kind != Json::TEXT)
            return fail(APP_ERR_COMM_INVALID_PARAM, "InitContent: a value is no string.");
        cfgFile_.insert({ member.first, member.second.text });
    }
    return APP_ERR_OK;
}

APP_ERROR ConfigData::LoadLabels(const std::string &labelPath)
{
    std::string path = labelPath;
    const APP_ERROR ret = check_path(path);
    if (ret != APP_ERR_OK) return fail(ret, "LoadLabels: the file cannot be used.");
    std::ifstream in(path);
    if (!in) return fail(APP_ERR_COMM_OPEN_FAIL, "LoadLabels: the file cannot be opened.");
    labelVec_.clear();
    int lines = 0;
    for (std::string line; std::getline(in, line);) {
        if (++lines > MOST_LINES + 1) return too_long();
        if (labelVec_.empty() && line.find('#') <= 1 && line.size() != 1) continue;
        const size_t last = line.find_last_not_of("\r\n\t");
        if (last != std::string::npos) line.erase(last + 1);
        labelVec_.push_back(line);
    }
    return APP_ERR_OK;
}

std::string ConfigData::GetClassName(const size_t classId)
{
    if (classId < labelVec_.size()) return labelVec_[classId];
    LogWarn << "There is no label for class " << classId << ": there are " << labelVec_.size() << ".";
    return "";
}

APP_ERROR ConfigUtil::LoadConfiguration(const std::string &config, ConfigData &data, ConfigMode mode)
{
    if (mode == CONFIGCONTENT) return data.InitContent(config);
    std::string path = config;
    const APP_ERROR ret = check_path(path);
    if (ret != APP_ERR_OK) return fail(ret, "LoadConfiguration: the file cannot be used.");
    std::ifstream file(path);
    if (!file) return fail(APP_ERR_COMM_OPEN_FAIL, "LoadConfiguration: the file cannot be opened.");
    if (mode == CONFIGJSON) return data.InitJson(file);
    if (mode == CONFIGFILE) return data.InitFile(file);
    return fail(APP_ERR_COMM_INVALID_PARAM, "LoadConfiguration: there is no such mode.");
}

} // namespace MxBase
