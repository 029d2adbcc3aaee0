/* TensorBase.h - a shape, an element type, and a buffer on the host or a device.
 *
 * Copies of a TensorBase share shape and buffer: what one of them moves to a device has moved for all.
 * Four of the constructors only describe; TensorBaseMalloc allocates. A constructor throws
 * std::runtime_error where the type is none, the size does not fit, or the tensor is too large: 2^28
 * elements are always taken, 2^29 never. Everything else returns an APP_ERROR.
 */
#ifndef TENSOR_CORE_H
#define TENSOR_CORE_H

#include <cstddef>
#include <cstdint>
#include <iostream>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "MxBase/Common/HiddenAttr.h"
#include "MxBase/E2eInfer/Rect/Rect.h"
#include "MxBase/ErrorCode/ErrorCode.h"
#include "MxBase/Log/Log.h"
#include "MxBase/MemoryHelper/MemoryHelper.h"
#include "MxBase/Tensor/TensorBase/TensorDataType.h"

/* Indices, given one by one or as a vector, as a vector of T. */
template <typename T, typename U,
          typename = typename std::enable_if<std::numeric_limits<T>::is_integer>::type,
          typename = typename std::enable_if<std::numeric_limits<U>::is_integer>::type>
void GetIndices(std::vector<T> &indices, U value)
{
    indices.push_back((T)value);
}

template <typename T, typename U, typename... Ix,
          typename = typename std::enable_if<std::numeric_limits<T>::is_integer>::type,
          typename = typename std::enable_if<std::numeric_limits<U>::is_integer>::type>
void GetIndices(std::vector<T> &indices, U value, Ix... idxs)
{
    indices.push_back((T)value);
    GetIndices(indices, idxs...);
}

template <typename T, typename U,
          typename = typename std::enable_if<std::numeric_limits<T>::is_integer>::type,
          typename = typename std::enable_if<std::numeric_limits<U>::is_integer>::type>
void GetIndices(std::vector<T> &indices, std::vector<U> values)
{
    indices.assign(values.begin(), values.end());
}

namespace MxBase {

/* "float32"; "undefined" for what is no type. */
SDK_AVAILABLE_FOR_OUT std::string GetTensorDataTypeDesc(TensorDataType type);

class TensorMemory;
class TensorShape;
struct TensorParts; /* the library's own way in */

class SDK_AVAILABLE_FOR_OUT TensorBase {
public:
    TensorBase();
    virtual ~TensorBase() = default;
    TensorBase(const TensorBase &tensor) = default;

    /* Over the caller's memory, whose size must be the tensor's. Not borrowed: freed, by its type, with
     * the last copy. */
    TensorBase(const MemoryData &memoryData, const bool &isBorrowed, const std::vector<uint32_t> &shape,
               const TensorDataType &type);

    /* Described only. Without a buffer type, of the host; without a type, UINT8; without a device, -1. */
    TensorBase(const std::vector<uint32_t> &shape, const TensorDataType &type,
               const MemoryData::MemoryType &bufferType, const int32_t &deviceId);
    TensorBase(const std::vector<uint32_t> &shape, const TensorDataType &type, const int32_t &deviceId);
    TensorBase(const std::vector<uint32_t> &shape, const TensorDataType &type);
    TensorBase(const std::vector<uint32_t> &shape);
    TensorBase &operator=(const TensorBase &other);

    /* New memory; the old, if any, is let go. */
    static APP_ERROR TensorBaseMalloc(TensorBase &tensor);

    /* Bytes from any place to any other. 1004 unless both have memory, of one size. */
    static APP_ERROR TensorBaseCopy(TensorBase &dst, const TensorBase &src);

    MemoryData::MemoryType GetTensorType() const;
    size_t GetSize() const;     /* elements */
    size_t GetByteSize() const;
    std::vector<uint32_t> GetShape() const;

    /* The buffer stays as it is; nothing is checked against it here. */
    APP_ERROR SetShape(std::vector<uint32_t> shape);
    std::vector<uint32_t> GetStrides() const; /* bytes */
    int32_t GetDeviceId() const;
    TensorDataType GetDataType() const;
    uint32_t GetDataTypeSize() const; /* bytes */
    bool IsHost() const;
    bool IsDevice() const;

    /* NULL without memory. */
    void *GetBuffer() const;

    /* Where the sub-tensor at these indices, as many as there are dims or fewer, begins. 1009 out of
     * range; 1004 without memory. */
    APP_ERROR GetBuffer(void *&ptr, const std::vector<uint32_t> &indices) const;

    /* For this tensor and all its copies. 1004 without memory, or if there is no such device. */
    APP_ERROR ToDevice(int32_t deviceId);
    APP_ERROR ToDvpp(int32_t deviceId);
    APP_ERROR ToHost();

    /* Joined along the first dim; along a new first dim; the one or the other. 1004 if there are none, or
     * their types, memory, devices or shapes do not fit. */
    static APP_ERROR BatchConcat(const std::vector<TensorBase> &inputs, TensorBase &output);
    static APP_ERROR BatchStack(const std::vector<TensorBase> &inputs, TensorBase &output);
    static APP_ERROR BatchVector(const std::vector<TensorBase> &inputs, TensorBase &output,
                                 const bool &keepDims = false);

    /* "<Tensor>\nshape:\t(2, 3)\ndtype:\tfloat32\ndevice:\t-1" */
    std::string GetDesc();

    /* 1001 for device memory without a device. */
    APP_ERROR CheckTensorValid() const;

    /* The part, from (0, 0) on, of an image (HW, HWC, or NHWC with N 1) that is valid. */
    APP_ERROR SetValidRoi(Rect rect);
    Rect GetValidRoi() const;

    template <typename... Param> static APP_ERROR CreateTensorBase(TensorBase &tensor, Param... params)
    {
        tensor = TensorBase(params...);
        auto ret = tensor.CheckTensorValid();
        if (ret != APP_ERR_OK) LogError << "Tensor is invalid." << GetErrorInfo(ret);
        return ret;
    }

    template <typename T, typename... Ix> APP_ERROR GetBuffer(T *&value, Ix... index) const
    {
        void *ptr = nullptr;
        const APP_ERROR ret = Locate(AreNumbers<Ix...>(), ptr, index...);
        if (ret != APP_ERR_OK) {
            LogError << "GetBuffer failed." << GetErrorInfo(ret);
            return ret;
        }
        value = static_cast<T *>(ptr);
        return APP_ERR_OK;
    }

    /* One element of a host tensor, as a type of the same size. 1001 on a device, or of another size. */
    template <typename T, typename... Ix> APP_ERROR GetValue(T &value, Ix... index) const
    {
        if (!IsHost()) {
            LogError << "The tensor is not on the host: move it there first."
                     << GetErrorInfo(APP_ERR_COMM_FAILURE);
            return APP_ERR_COMM_FAILURE;
        }
        if (sizeof(T) != GetDataTypeSize()) {
            LogError << "The value's size does not match the tensor's type (" << GetDataType() << ")"
                     << GetErrorInfo(APP_ERR_COMM_FAILURE);
            return APP_ERR_COMM_FAILURE;
        }
        void *ptr = nullptr;
        APP_ERROR ret = GetBuffer(ptr, index...);
        if (ret != APP_ERR_OK) return ret;
        __builtin_memcpy(&value, ptr, sizeof value); /* the caller's memory has any alignment */
        return APP_ERR_OK;
    }

private:
    friend struct TensorParts;

    template <typename... Ix> struct AreNumbers : std::true_type {};
    template <typename I, typename... Ix>
    struct AreNumbers<I, Ix...>
        : std::integral_constant<bool, std::is_integral<I>::value && AreNumbers<Ix...>::value> {};

    template <typename... Ix> APP_ERROR Locate(std::true_type, void *&ptr, Ix... index) const
    {
        const uint32_t indices[sizeof...(index) + 1] = { ToIndex(index)... };
        return FindElement(ptr, indices, sizeof...(index));
    }

    template <typename... Ix> APP_ERROR Locate(std::false_type, void *&ptr, Ix... index) const
    {
        std::vector<uint32_t> indices;
        GetIndices(indices, index...);
        return FindElement(ptr, indices.data(), indices.size());
    }

    /* What does not fit 32 bits, or is negative, is out of every range. */
    template <typename I> static uint32_t ToIndex(I index)
    {
        const uint64_t wide = static_cast<uint64_t>(index);
        return wide > UINT32_MAX ? UINT32_MAX : static_cast<uint32_t>(wide);
    }

    APP_ERROR FindElement(void *&ptr, const uint32_t *indices, size_t count) const;
    static APP_ERROR Join(const std::vector<TensorBase> &inputs, const std::vector<uint32_t> &shape,
                          TensorBase &output);
    static APP_ERROR CheckBatchTensors(const std::vector<TensorBase> &inputs, bool checkFirstDim);
    APP_ERROR MoveTo(MemoryData::MemoryType type, int32_t deviceId);
    void Refresh();

    std::shared_ptr<TensorMemory> buffer_;
    std::shared_ptr<TensorShape> shape_;
    TensorDataType dataType_ = TENSOR_DTYPE_UINT8;
};

} // namespace MxBase

#endif
