/* GlobalManager.h - names of the environment, and checks of denominators. */
#ifndef MXBASE_COMMON_H
#define MXBASE_COMMON_H

#include <cmath>
#include <string>

#include "MxBase/ErrorCode/ErrorCode.h"
#include "MxBase/Log/Log.h"

namespace MxBase {

const std::string ASCEND_HOME = "ASCEND_HOME";
const std::string MX_SDK_HOME = "MX_SDK_HOME";

inline char FileSeparator() { return '/'; }

inline bool LogIfZero(bool isZero)
{
    if (isZero) LogError << "A denominator is 0." << GetErrorInfo(APP_ERR_COMM_FAILURE);
    return isZero;
}

/* Floats count as 0 below 1e-6, doubles below 1e-15. */
inline bool IsDenominatorZero(int denominator) { return LogIfZero(denominator == 0); }
inline bool IsDenominatorZero(unsigned int denominator) { return LogIfZero(denominator == 0); }
inline bool IsDenominatorZero(long denominator) { return LogIfZero(denominator == 0); }
inline bool IsDenominatorZero(float denominator) { return LogIfZero(std::fabs(denominator) < 1e-6f); }
inline bool IsDenominatorZero(double denominator) { return LogIfZero(std::fabs(denominator) < 1e-15); }

} // namespace MxBase

#endif
