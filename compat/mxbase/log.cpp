/* log.cpp - lines to the standard error output. */
#include "MxBase/Log/Log.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>

namespace MxBase {

int Log::rotateDay_ = 7;
int Log::rotateFileNumber_ = 50;
std::string Log::logConfigPath_;
int Log::logFlowControlFrequency_ = 1;
bool Log::showLog_ = true;

namespace {

int read_lowest()
{
    const char *text = std::getenv("GLOG_minloglevel");
    return text && *text ? std::atoi(text) : LOG_LEVEL_INFO;
}

const char *file_name(const char *path)
{
    const char *slash = std::strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void write_line(LogLevels level, const char *file, int line, const std::string &text)
{
    static const char letters[] = "DIWEF";
    timespec now = {};
    tm local = {};
    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &local);
    char stamp[32];
    std::strftime(stamp, sizeof stamp, "%Y%m%d %H:%M:%S", &local);
    std::fprintf(stderr, "%c%s.%06ld %d %s:%d] %s\n", letters[level + 1], stamp, now.tv_nsec / 1000,
                 static_cast<int>(getpid()), file_name(file), line, text.c_str());
}

} // namespace

bool LogLine::IsShown(LogLevels level)
{
    static const int lowest = read_lowest();
    return level >= lowest && (Log::showLog_ || level >= LOG_LEVEL_ERROR);
}

LogLine::~LogLine()
{
    write_line(level_, file_, line_, text_.str());
    if (level_ == LOG_LEVEL_FATAL) std::abort();
}

Log &Log::getLogger(const std::string loggerName)
{
    static std::mutex lock;
    static auto &loggers = *new std::map<std::string, std::unique_ptr<Log>>; /* outlives every static */
    const std::lock_guard<std::mutex> guard(lock);
    std::unique_ptr<Log> &logger = loggers[loggerName];
    if (!logger) logger.reset(new Log(loggerName));
    return *logger;
}

APP_ERROR Log::Init() { return APP_ERR_OK; }
APP_ERROR Log::InitWithoutCfg() { return APP_ERR_OK; }
APP_ERROR Log::Deinit() { return APP_ERR_OK; }
void Log::Flush() { std::fflush(stderr); }
void Log::LogRotateByTime(int) {}
void Log::LogRotateByNumbers(int) {}
void Log::UpdateFileMode() {}

void Log::Say(LogLevels level, const std::string &file, const std::string &function, int line,
              const std::string &msg) const
{
    if (!LogLine::IsShown(level)) return;
    LogLine(level, file.c_str(), line).stream()
        << "[" << instanceName_ << ":" << file << ":" << function << ":" << line << "] " << msg;
}

void Log::Debug(const std::string &file, const std::string &function, const int &line, std::string &msg)
{
    Say(LOG_LEVEL_DEBUG, file, function, line, msg);
}

void Log::Info(const std::string &file, const std::string &function, const int &line, std::string &msg)
{
    Say(LOG_LEVEL_INFO, file, function, line, msg);
}

void Log::Warn(const std::string &file, const std::string &function, const int &line, std::string &msg)
{
    Say(LOG_LEVEL_WARN, file, function, line, msg);
}

void Log::Error(const std::string &file, const std::string &function, const int &line, std::string &msg)
{
    Say(LOG_LEVEL_ERROR, file, function, line, msg);
}

void Log::Fatal(const std::string &file, const std::string &function, const int &line, std::string &msg)
{
    Say(LOG_LEVEL_FATAL, file, function, line, msg);
}

} // namespace MxBase
