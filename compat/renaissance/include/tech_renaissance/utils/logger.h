/* logger.h - one log for the process: "[2025-10-31 12:00:00.000] [INFO] [TR] words".
 *
 * Lines go to std::cout, errors to std::cerr, and all of them to a file if one is set. Any
 * thread may write.
 */
#pragma once

#include <atomic>
#include <chrono>
#include <fstream>
#include <iostream>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>

#include "tech_renaissance/tr_export.h"

namespace tr {

enum class LogLevel { DEBUG = 0, INFO = 1, WARN = 2, ERROR = 3 };

class TR_EXPORT Logger {
public:
    /* Never destroyed, so that destructors of statics may log. */
    static Logger &get_instance();

    Logger(const Logger &) = delete;
    Logger &operator=(const Logger &) = delete;

    void set_level(LogLevel level);
    void set_output_file(const std::string &filename); /* appends; "" is the console */
    void set_quiet_mode(bool quiet);                   /* without INFO */
    void be_quiet();                                   /* set_quiet_mode(true) */

    template <typename... Args> void debug(const Args &...args) { log(LogLevel::DEBUG, args...); }
    template <typename... Args> void info(const Args &...args) { log(LogLevel::INFO, args...); }
    template <typename... Args> void warn(const Args &...args) { log(LogLevel::WARN, args...); }
    template <typename... Args> void error(const Args &...args) { log(LogLevel::ERROR, args...); }

private:
    Logger();
    ~Logger();

    bool wants(LogLevel level) const;
    void log_internal(LogLevel level, const std::string &message);

    template <typename... Args> void log(LogLevel level, const Args &...args)
    {
        if (!wants(level)) return;
        std::ostringstream text;
        (text << ... << args);
        log_internal(level, text.str());
    }

    std::mutex mutex_;
    std::atomic<LogLevel> level_;
    std::atomic<bool> quiet_;
    std::ofstream file_;
};

TR_EXPORT void InitLogger(const std::string &filename = "", LogLevel level = LogLevel::INFO,
                          bool quiet = false);

} // namespace tr

#define TR_LOG_DEBUG(...) tr::Logger::get_instance().debug(__VA_ARGS__)
#define TR_LOG_INFO(...)  tr::Logger::get_instance().info(__VA_ARGS__)
#define TR_LOG_WARN(...)  tr::Logger::get_instance().warn(__VA_ARGS__)
#define TR_LOG_ERROR(...) tr::Logger::get_instance().error(__VA_ARGS__)
