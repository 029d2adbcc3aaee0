/* TensorDataType.h - what an element is. */
#ifndef TENSOR_DATATYPE_H
#define TENSOR_DATATYPE_H

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace MxBase {

enum TensorDataType : int {
    TENSOR_DTYPE_UNDEFINED = -1,
    TENSOR_DTYPE_FLOAT32 = 0,
    TENSOR_DTYPE_FLOAT16 = 1,
    TENSOR_DTYPE_INT8 = 2,
    TENSOR_DTYPE_INT32 = 3,
    TENSOR_DTYPE_UINT8 = 4,
    TENSOR_DTYPE_INT16 = 6,
    TENSOR_DTYPE_UINT16 = 7,
    TENSOR_DTYPE_UINT32 = 8,
    TENSOR_DTYPE_INT64 = 9,
    TENSOR_DTYPE_UINT64 = 10,
    TENSOR_DTYPE_DOUBLE64 = 11,
    TENSOR_DTYPE_BOOL = 12
};

struct BaseTensor {
    void *buf;
    std::vector<int> shape;
    size_t size;
};

__attribute__((unused)) static std::map<int, std::string> TensorDataTypeStr = {
    { TENSOR_DTYPE_UNDEFINED, "TENSOR_DTYPE_UNDEFINED" }, { TENSOR_DTYPE_FLOAT32, "TENSOR_DTYPE_FLOAT32" },
    { TENSOR_DTYPE_FLOAT16, "TENSOR_DTYPE_FLOAT16" },     { TENSOR_DTYPE_INT8, "TENSOR_DTYPE_INT8" },
    { TENSOR_DTYPE_INT32, "TENSOR_DTYPE_INT32" },         { TENSOR_DTYPE_UINT8, "TENSOR_DTYPE_UINT8" },
    { TENSOR_DTYPE_INT16, "TENSOR_DTYPE_INT16" },         { TENSOR_DTYPE_UINT16, "TENSOR_DTYPE_UINT16" },
    { TENSOR_DTYPE_UINT32, "TENSOR_DTYPE_UINT32" },       { TENSOR_DTYPE_INT64, "TENSOR_DTYPE_INT64" },
    { TENSOR_DTYPE_UINT64, "TENSOR_DTYPE_UINT64" },       { TENSOR_DTYPE_DOUBLE64, "TENSOR_DTYPE_DOUBLE64" },
    { TENSOR_DTYPE_BOOL, "TENSOR_DTYPE_BOOL" },
};

} // namespace MxBase

#endif
