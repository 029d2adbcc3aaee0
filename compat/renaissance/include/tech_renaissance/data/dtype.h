/* dtype.h - what an element is. The numbers are those in .tsr files. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tech_renaissance/tr_export.h"

namespace tr {

enum class DType : int32_t { UNKNOWN = 0, FP32 = 1, INT8 = 2, INT32 = 3 };

TR_EXPORT size_t dtype_size(DType dtype);               /* bytes; 0 if it is none */
TR_EXPORT std::string dtype_to_string(DType dtype);     /* "fp32", "int8", "int32", "unknown" */
TR_EXPORT DType string_to_dtype(const std::string &str); /* "float32" too; throws TRException */

} // namespace tr
