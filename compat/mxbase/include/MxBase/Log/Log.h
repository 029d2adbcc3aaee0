/* Log.h - LogInfo << "text" << 5; and its four companions.
 *
 * Lines go to the standard error output, in glog's form:
 *
 *     E20240131 12:00:00.000000 4711 main.cpp:42] text
 *
 * INFO and above are shown; the environment variable GLOG_minloglevel raises that (1 WARN, 2 ERROR,
 * 3 FATAL, 4 none), and -1 shows LogDebug too. LogFatal ends the program, after its line. */
#ifndef CORE_LOG_H
#define CORE_LOG_H

#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "MxBase/Common/HiddenAttr.h"
#include "MxBase/ErrorCode/ErrorCode.h"

namespace MxBase {

enum LogLevels {
    LOG_LEVEL_DEBUG = -1,
    LOG_LEVEL_INFO = 0,
    LOG_LEVEL_WARN = 1,
    LOG_LEVEL_ERROR = 2,
    LOG_LEVEL_FATAL = 3,
    LOG_LEVEL_NONE
};

const std::string DEFAULT_LOGGER = "DEFAULT_LOGGER";

class SDK_AVAILABLE_FOR_OUT Log {
public:
    static Log &getLogger(const std::string loggerName = DEFAULT_LOGGER);
    static APP_ERROR Init();
    static APP_ERROR InitWithoutCfg();
    static APP_ERROR Deinit();

    void Debug(const std::string &file, const std::string &function, const int &line, std::string &msg);
    void Info(const std::string &file, const std::string &function, const int &line, std::string &msg);
    void Warn(const std::string &file, const std::string &function, const int &line, std::string &msg);
    void Error(const std::string &file, const std::string &function, const int &line, std::string &msg);
    void Fatal(const std::string &file, const std::string &function, const int &line, std::string &msg);
    void Flush();

    static void LogRotateByTime(int rotateDay);
    static void LogRotateByNumbers(int fileNumbers);
    static void UpdateFileMode();

    static int rotateDay_;
    static int rotateFileNumber_;
    static std::string logConfigPath_;
    static int logFlowControlFrequency_;
    static bool showLog_; /* false: ERROR and above only */

private:
    explicit Log(const std::string &name) : instanceName_(name) {}
    Log(const Log &) = delete;
    Log &operator=(const Log &) = delete;
    void Say(LogLevels level, const std::string &file, const std::string &function, int line,
             const std::string &msg) const;
    std::string instanceName_;
};

/* One line; it is written when the object dies. */
class SDK_AVAILABLE_FOR_OUT LogLine {
public:
    LogLine(LogLevels level, const char *file, int line) : level_(level), file_(file), line_(line) {}
    ~LogLine();
    LogLine(const LogLine &) = delete;
    LogLine &operator=(const LogLine &) = delete;
    std::ostream &stream() { return text_; }
    static bool IsShown(LogLevels level);

private:
    LogLevels level_;
    const char *file_;
    int line_;
    std::ostringstream text_;
};

/* Makes the two arms of the macro below the same type; & binds weaker than <<. */
struct LogNothing {
    void operator&(std::ostream &) const {}
};

} // namespace MxBase

#define MXBASE_LOG_LINE(level)                               \
    !MxBase::LogLine::IsShown(MxBase::level) ? (void)0       \
        : MxBase::LogNothing() & MxBase::LogLine(MxBase::level, __FILE__, __LINE__).stream()

#define FILELINE __FILE__, __FUNCTION__, __LINE__
#define LogDebug MXBASE_LOG_LINE(LOG_LEVEL_DEBUG)
#define LogInfo MXBASE_LOG_LINE(LOG_LEVEL_INFO)
#define LogWarn MXBASE_LOG_LINE(LOG_LEVEL_WARN)
#define LogError MXBASE_LOG_LINE(LOG_LEVEL_ERROR)
#define LogFatal MXBASE_LOG_LINE(LOG_LEVEL_FATAL)

#endif
