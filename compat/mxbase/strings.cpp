/* strings.cpp - StringUtils. */
#include "MxBase/Utils/StringUtils.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>

#include "MxBase/Utils/FileUtils.h"
#include "face.hpp"
#include "json.hpp"

namespace MxBase {

namespace {

const char REFUSED[] = "\b\t\n\v\f\r\x7f";
const int DEEPEST = 10;

/* Of the value of an object's member: strings, and what objects and arrays hold. */
bool is_refused(const mxface::Json &json, int depth)
{
    if (depth >= DEEPEST) return true;
    if (json.kind == mxface::Json::TEXT) return StringUtils::HasInvalidChar(json.text);
    for (const mxface::Json &element : json.elements) {
        if (is_refused(element, depth + 1)) return true;
    }
    for (const auto &member : json.members) {
        if (StringUtils::HasInvalidChar(member.first) || is_refused(member.second, depth + 1)) return true;
    }
    return false;
}

/* All parts through `read`, which throws or is false for what is none; nothing at all then. */
template <typename T, typename Read> std::vector<T> cast(std::string &str, char rule, Read read)
{
    std::vector<T> out;
    for (const std::string &part : StringUtils::SplitWithRemoveBlank(str, rule)) {
        try {
            out.push_back(read(part));
        } catch (const std::exception &) {
            mxface::fail(APP_ERR_COMM_INVALID_PARAM, "StringUtils: a part is not of the type.");
            return {};
        }
    }
    return out;
}

bool read_bool(const std::string &text)
{
    if (text == "1" || text == "true") return true;
    if (text == "0" || text == "false") return false;
    throw std::invalid_argument("neither true nor false");
}

} // namespace

bool StringUtils::HasInvalidChar(const std::string &text)
{
    return text.find_first_of(REFUSED) != std::string::npos || text.find("  ") != std::string::npos;
}

bool StringUtils::HasInvalidCharInJson(const std::string &json)
{
    mxface::Json value;
    if (!mxface::Json::Parse(&value, json)) return true;
    return value.kind == mxface::Json::OBJECT && is_refused(value, 0);
}

void StringUtils::ReplaceInvalidChar(std::string &text)
{
    std::string out;
    for (char c : text) {
        if (c && std::strchr(REFUSED, c)) c = ' ';
        if (c != ' ' || out.empty() || out.back() != ' ') out += c;
    }
    text = out;
}

std::vector<std::string> StringUtils::Split(const std::string &inString, char delimiter)
{
    std::vector<std::string> parts;
    size_t begin = inString.empty() ? std::string::npos : 0;
    while (begin != std::string::npos) {
        const size_t end = inString.find(delimiter, begin);
        parts.push_back(inString.substr(begin, end - begin));
        begin = inString.find_first_not_of(delimiter, end);
    }
    return parts;
}

std::string &StringUtils::Trim(std::string &str)
{
    str.erase(0, str.find_first_not_of(' '));
    str.erase(str.find_last_not_of(' ') + 1);
    return str;
}

std::string StringUtils::GetHomePath()
{
    const char *home = std::getenv("HOME");
    std::string path;
    if (home)
        return FileUtils::RegularFilePath(home, path) && FileUtils::ConstrainOwner(path, true) ? path : "";
    passwd entry = {};
    passwd *found = nullptr;
    char buffer[PATH_MAX + 1];
    const int failed = getpwuid_r(getuid(), &entry, buffer, sizeof buffer, &found);
    return failed || !found || !found->pw_dir ? "" : found->pw_dir;
}

std::vector<std::string> StringUtils::SplitWithRemoveBlank(std::string &str, char rule)
{
    std::vector<std::string> parts = Split(Trim(str), rule);
    for (std::string &part : parts) Trim(part);
    return parts;
}

std::vector<int> StringUtils::SplitAndCastToInt(std::string &str, char rule)
{
    return cast<int>(str, rule, [](const std::string &part) { return std::stoi(part); });
}

std::vector<float> StringUtils::SplitAndCastToFloat(std::string &str, char rule)
{
    return cast<float>(str, rule, [](const std::string &part) { return std::stof(part); });
}

std::vector<double> StringUtils::SplitAndCastToDouble(std::string &str, char rule)
{
    return cast<double>(str, rule, [](const std::string &part) { return std::stod(part); });
}

std::vector<long> StringUtils::SplitAndCastToLong(std::string &str, char rule)
{
    return cast<long>(str, rule, [](const std::string &part) { return std::stol(part); });
}

std::vector<bool> StringUtils::SplitAndCastToBool(std::string &str, char rule)
{
    return cast<bool>(str, rule, read_bool);
}

std::string StringUtils::GetTimeStamp()
{
    const time_t now = std::time(nullptr) + 8 * 3600;
    tm parts = {};
    gmtime_r(&now, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
    return text;
}

} // namespace MxBase
