/* tensor_base.cpp - TensorBase: shape, type and buffer. */
#include "MxBase/Tensor/TensorBase/TensorBase.h"

#include <stdexcept>

#include "MxBase/DeviceManager/DeviceManager.h"
#include "face.hpp"

namespace MxBase {

using mxface::fail;

namespace {

const size_t MOST_ELEMENTS = size_t(1) << 29;

struct TypeInfo {
    const char *name;
    uint32_t size;
};

/* NULL for what is no type. "undefined" is one, of size 0. */
const TypeInfo *find_type(TensorDataType type)
{
    static const TypeInfo types[] = {
        { "undefined", 0 }, { "float32", 4 }, { "float16", 2 }, { "int8", 1 },  { "int32", 4 },
        { "uint8", 1 },     { nullptr, 0 },   { "int16", 2 },   { "uint16", 2 }, { "uint32", 4 },
        { "int64", 8 },     { "uint64", 8 },  { "double64", 8 }, { "bool", 1 },
    };
    if (type < TENSOR_DTYPE_UNDEFINED || type > TENSOR_DTYPE_BOOL) return nullptr;
    const TypeInfo *found = &types[type + 1];
    return found->name ? found : nullptr;
}

uint32_t size_of(TensorDataType type)
{
    const TypeInfo *found = find_type(type);
    return found ? found->size : 0;
}

[[noreturn]] void refuse(const char *words)
{
    fail(APP_ERR_COMM_INIT_FAIL, words);
    throw std::runtime_error(GetErrorInfo(APP_ERR_COMM_INIT_FAIL));
}

size_t bytes_for(const TensorShape &shape, TensorDataType type)
{
    const TypeInfo *found = find_type(type);
    if (!found) refuse("There is no such TensorDataType: it is not within -1 and 12, or it is 5.");
    return shape.GetSize() * found->size;
}

} // namespace

void TensorShape::Set(const std::vector<uint32_t> &shape)
{
    size_t size = 1;
    for (const uint32_t dim : shape) {
        if (dim != 0 && size >= MOST_ELEMENTS / dim)
            throw std::runtime_error("Maximum memory capacity exceeded");
        size *= dim;
    }
    dims = shape;
}

size_t TensorShape::GetSize() const
{
    size_t size = 1;
    for (const uint32_t dim : dims) size *= dim;
    return size;
}

void TensorMemory::TakeFrom(TensorMemory &other)
{
    mxface::give_back(&storage);
    storage = other.storage;
    other.storage = nullptr;
    size = other.size;
    type = other.type;
    deviceId = other.deviceId;
}

std::string GetTensorDataTypeDesc(TensorDataType type)
{
    const TypeInfo *found = find_type(type);
    return found ? found->name : "undefined";
}

TensorBase::TensorBase() : buffer_(std::make_shared<TensorMemory>()), shape_(std::make_shared<TensorShape>())
{
}

TensorBase::TensorBase(const MemoryData &memoryData, const bool &isBorrowed,
                       const std::vector<uint32_t> &shape, const TensorDataType &type)
    : shape_(std::make_shared<TensorShape>(shape)), dataType_(type)
{
    if (memoryData.size != bytes_for(*shape_, type)) refuse("The memory's size is not the tensor's.");
    buffer_ = std::make_shared<TensorMemory>(memoryData.size, memoryData.type, memoryData.deviceId);
    if (!memoryData.ptrData) return;
    if (mxface::wrap(&buffer_->storage, memoryData, !isBorrowed) != APP_ERR_OK)
        refuse("The memory is not usable.");
    Refresh();
}

/* Where the library has no such tensor, ops will say so. */
void TensorBase::Refresh()
{
    buffer_->view.Clear();
    if (!buffer_->storage || buffer_->size < GetByteSize()) return;
    if (TensorParts::Place(&buffer_->view, buffer_->storage, shape_->dims, dataType_, nullptr) != TSR_OK)
        tsr_clear_error();
}

TensorBase::TensorBase(const std::vector<uint32_t> &shape, const TensorDataType &type,
                       const MemoryData::MemoryType &bufferType, const int32_t &deviceId)
    : shape_(std::make_shared<TensorShape>(shape)), dataType_(type)
{
    buffer_ = std::make_shared<TensorMemory>(bytes_for(*shape_, type), bufferType, deviceId);
}

TensorBase::TensorBase(const std::vector<uint32_t> &shape, const TensorDataType &type,
                       const int32_t &deviceId)
    : TensorBase(shape, type, MemoryData::MEMORY_HOST_NEW, deviceId)
{
}

TensorBase::TensorBase(const std::vector<uint32_t> &shape, const TensorDataType &type)
    : TensorBase(shape, type, MemoryData::MEMORY_HOST_NEW, -1) {}

TensorBase::TensorBase(const std::vector<uint32_t> &shape)
    : TensorBase(shape, TENSOR_DTYPE_UINT8, MemoryData::MEMORY_HOST_NEW, -1) {}

TensorBase &TensorBase::operator=(const TensorBase &other) = default;

APP_ERROR TensorBase::TensorBaseMalloc(TensorBase &tensor)
{
    APP_ERROR ret = tensor.CheckTensorValid();
    if (ret != APP_ERR_OK) return ret;
    TensorMemory &buffer = *tensor.buffer_;
    if (buffer.size == 0)
        return fail(APP_ERR_COMM_INVALID_PARAM, "TensorBaseMalloc: the tensor has no bytes.");
    if (mxface::is_on_device(buffer.type)) {
        ret = DeviceManager::GetInstance()->CheckDeviceId(buffer.deviceId);
        if (ret != APP_ERR_OK) return ret;
    }
    tsr_storage *storage = nullptr;
    ret = mxface::allocate(&storage, buffer.type, buffer.deviceId, buffer.size);
    if (ret != APP_ERR_OK) return ret;
    mxface::give_back(&buffer.storage);
    buffer.storage = storage;
    tensor.Refresh();
    return APP_ERR_OK;
}

APP_ERROR TensorBase::TensorBaseCopy(TensorBase &dst, const TensorBase &src)
{
    APP_ERROR ret = dst.CheckTensorValid();
    if (ret == APP_ERR_OK) ret = src.CheckTensorValid();
    if (ret != APP_ERR_OK) return ret;
    TensorMemory &to = *dst.buffer_;
    const TensorMemory &from = *src.buffer_;
    if (to.size != from.size || !to.storage || !from.storage)
        return fail(APP_ERR_COMM_INVALID_PARAM, "TensorBaseCopy: there is no memory, or not of one size.");
    return mxface::copy(to.storage, from.storage, from.size);
}

MemoryData::MemoryType TensorBase::GetTensorType() const { return buffer_->type; }
size_t TensorBase::GetSize() const { return shape_->GetSize(); }
size_t TensorBase::GetByteSize() const { return shape_->GetSize() * size_of(dataType_); }
std::vector<uint32_t> TensorBase::GetShape() const { return shape_->dims; }

APP_ERROR TensorBase::SetShape(std::vector<uint32_t> shape)
{
    shape_->Set(shape);
    Refresh();
    return APP_ERR_OK;
}

std::vector<uint32_t> TensorBase::GetStrides() const
{
    const std::vector<uint32_t> &dims = shape_->dims;
    std::vector<uint32_t> strides(dims.size());
    uint32_t stride = size_of(dataType_);
    for (size_t i = dims.size(); i-- > 0;) {
        strides[i] = stride;
        stride *= dims[i];
    }
    return strides;
}

int32_t TensorBase::GetDeviceId() const { return buffer_->deviceId; }
TensorDataType TensorBase::GetDataType() const { return dataType_; }
uint32_t TensorBase::GetDataTypeSize() const { return size_of(dataType_); }
bool TensorBase::IsHost() const { return !IsDevice(); }
bool TensorBase::IsDevice() const { return mxface::is_on_device(buffer_->type); }
void *TensorBase::GetBuffer() const
{
    return buffer_->storage ? tsr_storage_data(buffer_->storage) : nullptr;
}

APP_ERROR TensorBase::GetBuffer(void *&ptr, const std::vector<uint32_t> &indices) const
{
    return FindElement(ptr, indices.data(), indices.size());
}

APP_ERROR TensorBase::FindElement(void *&ptr, const uint32_t *indices, size_t count) const
{
    const std::vector<uint32_t> &dims = shape_->dims;
    if (count > dims.size()) return fail(APP_ERR_COMM_OUT_OF_RANGE, "GetBuffer: more indices than dims.");
    size_t element = 0;
    for (size_t i = 0; i < dims.size(); i++) {
        if (i < count && indices[i] >= dims[i])
            return fail(APP_ERR_COMM_OUT_OF_RANGE, "GetBuffer: an index is out of range.");
        element = element * dims[i] + (i < count ? indices[i] : 0);
    }
    if (!buffer_->storage) return fail(APP_ERR_COMM_INVALID_PARAM, "GetBuffer: the tensor has no memory.");
    const size_t size = size_of(dataType_), offset = element * size;
    if (offset + size > buffer_->size &&
        buffer_->size > 0) /* SetShape may have made it larger than its memory */
        return fail(APP_ERR_COMM_OUT_OF_RANGE, "GetBuffer: the element lies outside the memory.");
    ptr = static_cast<uint8_t *>(tsr_storage_data(buffer_->storage)) + offset;
    return APP_ERR_OK;
}

APP_ERROR TensorBase::MoveTo(MemoryData::MemoryType type, int32_t deviceId)
{
    TensorMemory &buffer = *buffer_;
    TensorMemory moved(buffer.size, type, deviceId);
    const bool on_device = mxface::is_on_device(type);
    if (on_device && DeviceManager::GetInstance()->CheckDeviceId(deviceId) != APP_ERR_OK)
        return APP_ERR_COMM_INVALID_PARAM;
    if (!buffer.storage) return fail(APP_ERR_COMM_INVALID_PARAM, "The tensor has no memory to move.");
    APP_ERROR ret = mxface::allocate(&moved.storage, type, deviceId, buffer.size);
    if (ret == APP_ERR_OK) ret = mxface::copy(moved.storage, buffer.storage, buffer.size);
    if (ret != APP_ERR_OK) return ret;
    buffer.TakeFrom(moved);
    Refresh();
    if (!on_device) return APP_ERR_OK;
    DeviceContext device;
    device.devId = deviceId;
    return DeviceManager::GetInstance()->SetDevice(device);
}

APP_ERROR TensorBase::ToDevice(int32_t deviceId)
{
    if (buffer_->deviceId == deviceId && buffer_->type == MemoryData::MEMORY_DEVICE) return APP_ERR_OK;
    return MoveTo(MemoryData::MEMORY_DEVICE, deviceId);
}

APP_ERROR TensorBase::ToDvpp(int32_t deviceId)
{
    if (buffer_->deviceId == deviceId && buffer_->type == MemoryData::MEMORY_DVPP) return APP_ERR_OK;
    return MoveTo(MemoryData::MEMORY_DVPP, deviceId);
}

APP_ERROR TensorBase::ToHost() { return IsHost() ? APP_ERR_OK : MoveTo(MemoryData::MEMORY_HOST_NEW, -1); }

APP_ERROR TensorBase::CheckBatchTensors(const std::vector<TensorBase> &inputs, bool checkFirstDim)
{
    if (inputs.empty()) return fail(APP_ERR_COMM_INVALID_PARAM, "Batch: there are no tensors.");
    const TensorBase &first = inputs[0];
    for (const TensorBase &input : inputs) {
        const std::vector<uint32_t> &a = first.shape_->dims, &b = input.shape_->dims;
        bool same = a.size() == b.size() && first.GetDeviceId() == input.GetDeviceId() &&
                    first.dataType_ == input.dataType_ && first.GetTensorType() == input.GetTensorType();
        for (size_t i = checkFirstDim ? 0 : 1; same && i < a.size(); i++) same = a[i] == b[i];
        if (!same)
            return fail(APP_ERR_COMM_INVALID_PARAM, "Batch: the tensors' shapes, types or places differ.");
    }
    return APP_ERR_OK;
}

/* The result is made in a temporary: `output` may be one of the inputs, and stays as it is on failure. */
APP_ERROR TensorBase::Join(const std::vector<TensorBase> &inputs, const std::vector<uint32_t> &shape,
                           TensorBase &output)
{
    const TensorBase &first = inputs[0];
    TensorBase result(shape, first.dataType_, first.GetTensorType(), first.GetDeviceId());
    APP_ERROR ret = TensorBaseMalloc(result);
    size_t offset = 0;
    for (size_t i = 0; ret == APP_ERR_OK && i < inputs.size(); i++) {
        const TensorMemory &from = *inputs[i].buffer_;
        if (!from.storage || from.size != inputs[i].GetByteSize())
            return fail(APP_ERR_COMM_INVALID_PARAM, "Batch: a tensor has no memory, or not of its size.");
        if (from.size > 0) ret = mxface::copy(result.buffer_->storage, from.storage, from.size, offset);
        offset += from.size;
    }
    if (ret == APP_ERR_OK) output = result;
    return ret;
}

APP_ERROR TensorBase::BatchConcat(const std::vector<TensorBase> &inputs, TensorBase &output)
{
    const APP_ERROR ret = CheckBatchTensors(inputs, false);
    if (ret != APP_ERR_OK) return ret;
    std::vector<uint32_t> shape = inputs[0].GetShape();
    if (shape.empty()) return fail(APP_ERR_COMM_INVALID_PARAM, "BatchConcat: the tensors have no dims.");
    uint64_t batch = 0;
    for (const TensorBase &input : inputs) batch += input.shape_->dims[0];
    if (batch >= MOST_ELEMENTS) return fail(APP_ERR_COMM_INVALID_PARAM, "BatchConcat: too many elements.");
    shape[0] = static_cast<uint32_t>(batch);
    return Join(inputs, shape, output);
}

APP_ERROR TensorBase::BatchStack(const std::vector<TensorBase> &inputs, TensorBase &output)
{
    const APP_ERROR ret = CheckBatchTensors(inputs, true);
    if (ret != APP_ERR_OK) return ret;
    std::vector<uint32_t> shape = inputs[0].GetShape();
    shape.insert(shape.begin(), static_cast<uint32_t>(inputs.size()));
    return Join(inputs, shape, output);
}

APP_ERROR TensorBase::BatchVector(const std::vector<TensorBase> &inputs, TensorBase &output,
                                  const bool &keepDims)
{
    for (const TensorBase &input : inputs) {
        const APP_ERROR ret = input.CheckTensorValid();
        if (ret != APP_ERR_OK) return ret;
    }
    return keepDims ? BatchConcat(inputs, output) : BatchStack(inputs, output);
}

std::string TensorBase::GetDesc()
{
    std::string dims;
    for (const uint32_t dim : shape_->dims) dims += (dims.empty() ? "" : ", ") + std::to_string(dim);
    return "<Tensor>\nshape:\t(" + dims + ")\ndtype:\t" + GetTensorDataTypeDesc(dataType_) + "\ndevice:\t" +
           std::to_string(GetDeviceId());
}

APP_ERROR TensorBase::CheckTensorValid() const
{
    if (IsDevice() && GetDeviceId() < 0) return fail(APP_ERR_COMM_FAILURE, "Device memory without a device.");
    return APP_ERR_OK;
}

APP_ERROR TensorBase::SetValidRoi(Rect rect)
{
    const std::vector<uint32_t> &dims = shape_->dims;
    const size_t rank = dims.size();
    if (rank < 2 || rank > 4 || (rank == 4 && dims[0] != 1))
        return fail(APP_ERR_COMM_INVALID_PARAM, "SetValidRoi: the tensor is not HW, HWC, or NHWC with N 1.");
    if (rect.x1 <= rect.x0 || rect.y1 <= rect.y0 || rect.x0 != 0 || rect.y0 != 0)
        return fail(APP_ERR_COMM_INVALID_PARAM,
                    "SetValidRoi: the part does not begin at (0, 0), or is empty.");
    const size_t height = rank == 4 || (rank == 3 && dims[0] == 1) ? 1 : 0;
    if (rect.y1 > dims[height] || rect.x1 > dims[height + 1])
        return fail(APP_ERR_COMM_INVALID_PARAM, "SetValidRoi: the part is larger than the image.");
    shape_->roi = rect;
    return APP_ERR_OK;
}

Rect TensorBase::GetValidRoi() const { return shape_->roi; }

} // namespace MxBase
