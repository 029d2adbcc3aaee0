/* Tensor.h - the newer tensor: a handle to a TensorBase and a region of it.
 *
 * Copies are the same tensor (==). A device id of -1 means the host.
 */
#ifndef MX_TENSOR_H
#define MX_TENSOR_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "MxBase/Asynchron/AscendStream.h"
#include "MxBase/Common/HiddenAttr.h"
#include "MxBase/E2eInfer/DataType.h"
#include "MxBase/E2eInfer/Rect/Rect.h"
#include "MxBase/ErrorCode/ErrorCode.h"
#include "MxBase/MemoryHelper/MemoryHelper.h"

namespace MxBase {

class TensorDptr;
struct TensorParts;

class SDK_AVAILABLE_FOR_OUT Tensor {
public:
    /* No tensor: no shape, no type, IsEmpty. */
    Tensor();
    ~Tensor();
    Tensor(const Tensor &other);

    /* The same memory with a region of its own. Throws std::runtime_error if `tensor` is empty, or the
     * region is none of its. */
    Tensor(const Tensor &tensor, const Rect &rect);
    Tensor &operator=(const Tensor &other);
    bool operator==(const Tensor &other);

    /* Described, or over the caller's memory. All throw std::runtime_error if there is no such device or
     * type, or the tensor is too large. */
    Tensor(const std::vector<uint32_t> &shape, const MxBase::TensorDType &dataType,
           const int32_t &deviceId = -1);
    Tensor(void *usrData, const std::vector<uint32_t> &shape, const MxBase::TensorDType &dataType,
           const int32_t &deviceId = -1);
    Tensor(const std::vector<uint32_t> &shape, const MxBase::TensorDType &dataType, const int32_t &deviceId,
           bool isDvpp);
    Tensor(void *usrData, const std::vector<uint32_t> &shape, const MxBase::TensorDType &dataType,
           const int32_t &deviceId, const bool isDvpp, const bool isBorrowed);

    void *GetData() const;
    std::vector<uint32_t> GetShape() const;

    /* 1004 unless there are as many elements. */
    APP_ERROR SetShape(std::vector<uint32_t> shape);
    MxBase::TensorDType GetDataType() const;
    MemoryData::MemoryType GetMemoryType() const;
    size_t GetByteSize() const;
    int32_t GetDeviceId() const;

    APP_ERROR ToDevice(int32_t deviceId);
    APP_ERROR ToDvpp(int32_t deviceId);
    APP_ERROR ToHost();

    /* Every element of a device tensor of that type. 1004 for another type, 1001 on the host. */
    APP_ERROR SetTensorValue(uint8_t value, AscendStream &stream = AscendStream::DefaultStream());
    APP_ERROR SetTensorValue(float value, bool IsFloat16 = false,
                             AscendStream &stream = AscendStream::DefaultStream());
    APP_ERROR SetTensorValue(int32_t value, AscendStream &stream = AscendStream::DefaultStream());

    friend SDK_AVAILABLE_FOR_OUT APP_ERROR BatchConcat(const std::vector<Tensor> &inputs, Tensor &output);

    /* Host tensors of 2 to 4 dims, UINT8, FLOAT16 or FLOAT32. Without axes, in the opposite order. */
    friend APP_ERROR Transpose(const Tensor &input, Tensor &output, std::vector<uint32_t> axes = {})
    {
        return DoTranspose(input, output, axes);
    }

    static APP_ERROR TensorMalloc(Tensor &tensor);
    APP_ERROR Malloc();
    bool IsEmpty() const; /* has it no memory? */
    static APP_ERROR TensorFree(Tensor &tensor);

    bool IsWithMargin() const; /* is the valid part smaller than the image? */
    APP_ERROR SetValidRoi(Rect rect);
    Rect GetValidRoi() const;

    /* A copy with memory of its own; an empty tensor if that fails. */
    Tensor Clone(AscendStream &stream = AscendStream::DefaultStream()) const;

    /* The region of src into the region of this one. */
    APP_ERROR Clone(const Tensor &src, AscendStream &stream = AscendStream::DefaultStream());

    /* The region that Clone, Add and ConvertTo work on. */
    APP_ERROR SetReferRect(Rect rect);
    Rect GetReferRect() const;

private:
    friend struct TensorParts;
    static APP_ERROR DoTranspose(const Tensor &input, Tensor &output, const std::vector<uint32_t> &axes);
    std::shared_ptr<MxBase::TensorDptr> dPtr_;
};

SDK_AVAILABLE_FOR_OUT APP_ERROR BatchConcat(const std::vector<Tensor> &inputs, Tensor &output);

} // namespace MxBase

#endif
