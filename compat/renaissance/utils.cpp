/* utils.cpp - exceptions, the log and the profiler. */
#include "tech_renaissance/utils/tr_exception.h"

#include <ctime>
#include <iomanip>
#include <iostream>

#include "tech_renaissance/utils/logger.h"
#include "tech_renaissance/utils/profiler.h"

namespace tr {

/* Exceptions --------------------------------------------------------------------------------- */

TRException::TRException(const std::string &message, const std::string &file, int line)
    : message_(message), file_(file), line_(line)
{
}

TRException::~TRException() noexcept = default;

const char *TRException::type() const noexcept { return "TRException"; }
const char *FileNotFoundError::type() const noexcept { return "FileNotFoundError"; }
const char *NotImplementedError::type() const noexcept { return "NotImplementedError"; }
const char *ZeroDivisionError::type() const noexcept { return "ZeroDivisionError"; }
const char *TypeError::type() const noexcept { return "TypeError"; }
const char *ValueError::type() const noexcept { return "ValueError"; }
const char *IndexError::type() const noexcept { return "IndexError"; }
const char *ShapeError::type() const noexcept { return "ShapeError"; }

const char *TRException::what() const noexcept
{
    try {
        if (what_.empty()) build_what();
        return what_.c_str();
    } catch (const std::exception &) {
        return message_.c_str();
    }
}

void TRException::build_what() const
{
    what_ = std::string(type()) + ": " + message_;
    if (file_.empty()) return;
    what_ += " (File: " + file_;
    if (line_ > 0) what_ += ", Line: " + std::to_string(line_);
    what_ += ")";
}

/* The log ------------------------------------------------------------------------------------ */

namespace {

const char *level_name(LogLevel level)
{
    switch (level) {
    case LogLevel::DEBUG: return "DEBUG";
    case LogLevel::INFO: return "INFO";
    case LogLevel::WARN: return "WARN";
    case LogLevel::ERROR: return "ERROR";
    }
    return "UNKNOWN";
}

std::string line_of(LogLevel level, const std::string &message)
{
    const auto now = std::chrono::system_clock::now();
    const auto ms =
        std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
    const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
    std::tm parts = {};
    std::ostringstream text;
    localtime_r(&seconds, &parts);
    text << "[" << std::put_time(&parts, "%Y-%m-%d %H:%M:%S") << "." << std::setfill('0') << std::setw(3)
         << ms << "] [" << level_name(level) << "] [TR] " << message;
    return text.str();
}

} // namespace

Logger &Logger::get_instance()
{
    static Logger *instance = new Logger;
    return *instance;
}

Logger::Logger() : level_(LogLevel::INFO), quiet_(false) {}
Logger::~Logger() = default;

void Logger::set_level(LogLevel level) { level_ = level; }
void Logger::set_quiet_mode(bool quiet) { quiet_ = quiet; }
void Logger::be_quiet() { set_quiet_mode(true); }

bool Logger::wants(LogLevel level) const { return level >= level_ && !(quiet_ && level == LogLevel::INFO); }

void Logger::set_output_file(const std::string &filename)
{
    const std::lock_guard<std::mutex> lock(mutex_);
    if (file_.is_open()) file_.close();
    if (filename.empty()) return;
    file_.open(filename, std::ios::app);
    if (!file_.is_open())
        std::cerr << line_of(LogLevel::ERROR, "Failed to open log file: " + filename) << std::endl;
}

void Logger::log_internal(LogLevel level, const std::string &message)
{
    const std::string line = line_of(level, message);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (file_.is_open()) file_ << line << std::endl;
    else (level >= LogLevel::ERROR ? std::cerr : std::cout) << line << std::endl;
}

void InitLogger(const std::string &filename, LogLevel level, bool quiet)
{
    Logger &logger = Logger::get_instance();
    logger.set_level(level);
    logger.set_output_file(filename);
    logger.set_quiet_mode(quiet);
}

/* The profiler ------------------------------------------------------------------------------- */

Profiler::Profiler() : running_(false), iterations_(1), total_(-1.0), flops_(-1) {}
Profiler::~Profiler() = default;

void Profiler::start()
{
    if (running_) throw TRException("[Profiler::start] Timer has already started!");
    running_ = true;
    start_ = std::chrono::steady_clock::now();
}

void Profiler::stop()
{
    if (!running_) throw TRException("[Profiler::stop] Timer has not yet started!");
    running_ = false;
    total_ = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_).count();
}

void Profiler::set_iterations(int iterations)
{
    if (iterations <= 0)
        throw TRException("[Profiler::set_iterations] Invalid iteration count: " +
                          std::to_string(iterations));
    iterations_ = iterations;
}

double Profiler::total_time() const
{
    if (running_) throw TRException("[Profiler::total_time] Timer is still running!");
    return total_;
}

double Profiler::avg_time() const
{
    if (running_) throw TRException("[Profiler::avg_time] Timer is still running!");
    return total_ / iterations_;
}

namespace {

/* Matrices are (M, K) and (K, N), or (M, K, 1, 1) and (N, K, 1, 1). */
long long flops_of_mm(const Shape &a, const Shape &b)
{
    const bool flat_a = a.ndim() == 2, flat_b = b.ndim() == 2;
    return 2LL * (flat_a ? a.h() : a.n()) * (flat_a ? a.w() : a.c()) * (flat_b ? b.w() : b.n());
}

long long flops_of_conv(const Shape &input, const Shape &kernel, int size)
{
    if (kernel.h() != size || kernel.w() != size)
        throw TRException("[Profiler::describe_operation] Unsupported kernel size!");
    if (input.c() != kernel.c()) throw TRException("[Profiler::describe_operation] Invalid kernel channel!");
    return 2LL * input.n() * kernel.n() * kernel.c() * input.h() * input.w() * kernel.h() * kernel.w();
}

} // namespace

void Profiler::describe_operation(const std::string &operation_type, Shape shape_a, Shape shape_b)
{
    if (operation_type == "mm") flops_ = flops_of_mm(shape_a, shape_b);
    else if (operation_type == "conv_k3_s1_p1") flops_ = flops_of_conv(shape_a, shape_b, 3);
    else if (operation_type == "conv_k1_s1_p0") flops_ = flops_of_conv(shape_a, shape_b, 1);
    else throw TRException("[Profiler::describe_operation] Unsupported operation type!");
}

double Profiler::get_performance() const
{
    if (flops_ <= 0) throw TRException("[Profiler::get_performance] Operation type not specified!");
    if (total_ < 0) throw TRException("[Profiler::get_performance] Timer has not yet started!");
    return static_cast<double>(flops_) / (total_ / iterations_ * 1e6);
}

} // namespace tr
