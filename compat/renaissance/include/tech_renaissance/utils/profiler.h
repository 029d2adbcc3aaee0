/* profiler.h - a stop watch that knows how much work an operation is. Times are in ms. */
#pragma once

#include <chrono>
#include <string>

#include "tech_renaissance/data/shape.h"
#include "tech_renaissance/utils/logger.h"
#include "tech_renaissance/utils/tr_exception.h"

namespace tr {

class TR_EXPORT Profiler {
public:
    Profiler();
    virtual ~Profiler();

    void start();
    void stop();
    void set_iterations(int iterations);
    double total_time() const;
    double avg_time() const;

    /* "mm", "conv_k3_s1_p1" or "conv_k1_s1_p0". */
    void describe_operation(const std::string &operation_type, Shape shape_a, Shape shape_b);
    double get_performance() const; /* GFLOPS */

private:
    bool running_;
    int iterations_;
    std::chrono::steady_clock::time_point start_;
    double total_;    /* -1: not yet measured */
    long long flops_; /* -1: not yet described */
};

} // namespace tr
