/* Version.h - the version of the system that this library answers for. */
#ifndef MINDX_SDK_VERSION_H
#define MINDX_SDK_VERSION_H

#include <cstdint>
#include <string>

#include "MxBase/Common/HiddenAttr.h"

#define MINDX_SDK_VERSION_MAJOR 5
#define MINDX_SDK_VERSION_MINOR 0
#define MINDX_SDK_VERSION_MICRO 0
#define VERSION_INTERVAL 1000

#define MINDX_SDK_MAJOR_VERSION MINDX_SDK_VERSION_MAJOR
#define MINDX_SDK_MINOR_VERSION MINDX_SDK_VERSION_MINOR
#define MINDX_SDK_MICRO_VERSION MINDX_SDK_VERSION_MICRO

/* 5.0.0 is 5000000. */
#define MINDX_SDK_VERSION \
    (((uint64_t)MINDX_SDK_VERSION_MAJOR * VERSION_INTERVAL + MINDX_SDK_VERSION_MINOR) * VERSION_INTERVAL + \
     MINDX_SDK_VERSION_MICRO)

namespace MxBase {

SDK_AVAILABLE_FOR_OUT std::string GetSDKVersion(); /* "5.0.0" */

} // namespace MxBase

#endif
