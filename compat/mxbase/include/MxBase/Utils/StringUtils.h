/* StringUtils.h - texts into parts and numbers. */
#ifndef MX_STRINGUTILS_H
#define MX_STRINGUTILS_H

#include <sstream>
#include <string>
#include <vector>
#if defined(__has_include)
#if __has_include(<nlohmann/json.hpp>)
#include <nlohmann/json.hpp>
#define MXBASE_HAS_NLOHMANN
#endif
#endif

#include "MxBase/Common/HiddenAttr.h"

namespace MxBase {

class SDK_AVAILABLE_FOR_OUT StringUtils {
public:
    StringUtils() = default;
    ~StringUtils() = default;

    /* Backspace, tab, line and form feeds, carriage return, delete, or two blanks in a row. */
    static bool HasInvalidChar(const std::string &text);

    /* In a key or string of an object, or in what it holds; true also if it is nested more than 10 deep,
     * or no JSON. */
    static bool HasInvalidCharInJson(const std::string &json);
#ifdef MXBASE_HAS_NLOHMANN
    static bool HasInvalidChar(const nlohmann::json &json) { return HasInvalidCharInJson(json.dump()); }
#endif

    static void ReplaceInvalidChar(std::string &text); /* with one blank */

    /* Delimiters in a row are one; one at the beginning begins with an empty part. */
    static std::vector<std::string> Split(const std::string &inString, char delimiter = ' ');

    /* Without blanks at both ends. */
    static std::string &Trim(std::string &str);

    static std::string GetHomePath(); /* "" if it is none, a link, or another user's */

    /* Each without blanks at both ends, also of str. No numbers: nothing at all. */
    static std::vector<std::string> SplitWithRemoveBlank(std::string &str, char rule);
    static std::vector<int> SplitAndCastToInt(std::string &str, char rule);
    static std::vector<float> SplitAndCastToFloat(std::string &str, char rule);
    static std::vector<double> SplitAndCastToDouble(std::string &str, char rule);
    static std::vector<long> SplitAndCastToLong(std::string &str, char rule);
    static std::vector<bool> SplitAndCastToBool(std::string &str, char rule); /* 0, 1, true, false */

    template <typename Type> static Type ToNumber(const std::string &text)
    {
        Type number{};
        std::istringstream(text) >> number;
        return number;
    }

    template <typename T> static std::string ToString(const T &t)
    {
        std::ostringstream text;
        text << t;
        return text.str();
    }

    static std::string GetTimeStamp(); /* "2024-01-31 08:00:00", of China */
};

} // namespace MxBase

#endif
