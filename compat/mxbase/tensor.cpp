/* tensor.cpp - Tensor: a handle to a TensorBase and a region of it. */
#include "MxBase/E2eInfer/Tensor/Tensor.h"

#include <algorithm>
#include <stdexcept>

#include "MxBase/DeviceManager/DeviceManager.h"
#include "face.hpp"

namespace MxBase {

using mxface::fail;
using mxface::Placed;

namespace {

using Type = MemoryData::MemoryType;

[[noreturn]] void refuse(APP_ERROR code, const char *words)
{
    fail(code, words);
    throw std::runtime_error(GetErrorInfo(code));
}

Type type_of(int32_t deviceId, bool isDvpp, Type host)
{
    if (deviceId < 0) return host;
    return isDvpp ? MemoryData::MEMORY_DVPP : MemoryData::MEMORY_DEVICE;
}

bool is_device(int32_t id) { return id >= 0 && static_cast<uint32_t>(id) < mxface::count_devices(); }

/* -1 is the host; anything else that is no device is refused. */
void check_place(int32_t deviceId)
{
    if (deviceId != -1 && !is_device(deviceId))
        refuse(APP_ERR_COMM_ALLOC_MEM, "Tensor: there is no such device.");
}

/* TensorBase says itself what is wrong; a Tensor's constructor has one code for it. */
std::shared_ptr<TensorBase> describe(const std::vector<uint32_t> &shape, TensorDType type, Type memory,
                                     int32_t id)
{
    check_place(id);
    auto base = MemoryHelper::MakeShared<TensorBase>(shape, static_cast<TensorDataType>(type), memory, id);
    if (!base) refuse(APP_ERR_COMM_ALLOC_MEM, "Tensor: the shape or the type is wrong.");
    return base;
}

std::shared_ptr<TensorBase> over(void *data, const std::vector<uint32_t> &shape, TensorDType type,
                                 Type memory, int32_t id, bool isBorrowed)
{
    const size_t bytes = describe(shape, type, memory, id)->GetByteSize();
    const MemoryData given(data, bytes, memory, id);
    auto base =
        MemoryHelper::MakeShared<TensorBase>(given, isBorrowed, shape, static_cast<TensorDataType>(type));
    if (!base) refuse(APP_ERR_COMM_ALLOC_MEM, "Tensor: the memory is not usable.");
    return base;
}

bool is_set(const Rect &r) { return r.x0 > 0 || r.y0 > 0 || r.x1 > 0 || r.y1 > 0; }

/* The dim of an image's rows: of HW and HWC the first, of NHWC the second. */
size_t rows_of(size_t rank) { return rank == 4 ? 1 : 0; }

APP_ERROR set_all(const Tensor &tensor, TensorDType type, double value, AscendStream &stream)
{
    if (tensor.GetDataType() != type)
        return fail(APP_ERR_COMM_INVALID_PARAM, "SetTensorValue: the tensor is of another type.");
    if (tensor.GetDeviceId() < 0)
        return fail(APP_ERR_COMM_FAILURE, "SetTensorValue: the tensor is on the host.");
    if (tensor.IsEmpty())
        return fail(APP_ERR_COMM_INVALID_POINTER, "SetTensorValue: the tensor has no memory.");
    const mxface::OnStream queued(stream);
    Placed scratch;
    tsr_tensor *all = nullptr;
    tsr_status s = TensorParts::Look(&all, &scratch, tensor, false);
    if (s == TSR_OK) s = tsr_fill(all, TSR_SCALAR(value));
    if (s == TSR_OK) s = mxface::finish(all);
    return mxface::to_error(s, "SetTensorValue");
}

std::vector<uint32_t> shape_of(const tsr_tensor *t)
{
    return std::vector<uint32_t>(t->shape, t->shape + t->ndim);
}

/* Gives a tensor of as many elements the shape of another. */
APP_ERROR show_as(TensorBase &base, const tsr_tensor *t)
{
    const std::vector<uint32_t> &dims = TensorParts::Shape(base)->dims;
    return std::equal(dims.begin(), dims.end(), t->shape, t->shape + t->ndim) ? APP_ERR_OK
                                                                              : base.SetShape(shape_of(t));
}

} // namespace

tsr_status TensorParts::Place(Placed *out, tsr_storage *storage, const std::vector<uint32_t> &dims,
                              TensorDataType type, const Rect *rect)
{
    const int rank = static_cast<int>(dims.size());
    int64_t shape[TSR_MAX_NDIM], stride[TSR_MAX_NDIM], step = 1, first = 0;
    tsr_dtype dtype;
    tsr_desc desc;
    tsr_tensor *tensor = out->Use();
    TSR_TRY(tsr_dtype_from_number(&dtype, TSR_NUMBERING_MXBASE, type));
    if (rank > TSR_MAX_NDIM)
        return tsr_desc_init(&desc, dtype, rank, nullptr, nullptr); /* fails, with words */
    for (int i = rank - 1; i >= 0; i--) {
        shape[i] = dims[i];
        stride[i] = step;
        step *= dims[i];
    }
    if (rect) {
        const size_t row = rows_of(dims.size());
        shape[row] = rect->y1 - rect->y0;
        shape[row + 1] = rect->x1 - rect->x0;
        first = rect->y0 * stride[row] + rect->x0 * stride[row + 1];
    }
    TSR_TRY(tsr_desc_init(&desc, dtype, rank, shape, stride));
    return tsr_from_storage(&tensor, storage, static_cast<size_t>(first) * tsr_dtype_size(dtype), &desc);
}

tsr_status TensorParts::Look(tsr_tensor **out, Placed *scratch, const Tensor &t, bool region)
{
    const TensorBase &base = *Base(t);
    TensorMemory &buffer = *Buffer(base);
    const std::vector<uint32_t> &dims = Shape(base)->dims;
    const Rect &rect = Dptr(t)->refer;
    const bool part = region && is_set(rect) && dims.size() >= 2 && dims.size() <= 4;
    *out = part ? nullptr : buffer.view.Get();
    if (*out) return TSR_OK;
    *out = scratch->Use();
    return Place(scratch, buffer.storage, dims, base.GetDataType(), part ? &rect : nullptr);
}

APP_ERROR TensorParts::Renew(Tensor &t, const std::vector<uint32_t> &shape, TensorDataType type,
                             MemoryData::MemoryType memory, int32_t deviceId)
{
    auto base = MemoryHelper::MakeShared<TensorBase>(shape, type, memory, deviceId);
    if (!base) return fail(APP_ERR_COMM_INIT_FAIL, "The result is too large.");
    const APP_ERROR ret = TensorBase::TensorBaseMalloc(*base);
    if (ret != APP_ERR_OK) return ret;
    if (!t.dPtr_) t.dPtr_ = std::make_shared<TensorDptr>();
    t.dPtr_->base = base;
    return APP_ERR_OK;
}

Tensor::Tensor() : dPtr_(std::make_shared<TensorDptr>()) {}
Tensor::~Tensor() = default;
Tensor::Tensor(const Tensor &other) = default;
Tensor &Tensor::operator=(const Tensor &other) = default;
bool Tensor::operator==(const Tensor &other) { return dPtr_ == other.dPtr_; }

Tensor::Tensor(const Tensor &tensor, const Rect &rect) : dPtr_(std::make_shared<TensorDptr>())
{
    if (tensor.IsEmpty()) refuse(APP_ERR_COMM_ALLOC_MEM, "Tensor: the tensor to refer to is empty.");
    dPtr_->base = tensor.dPtr_->base;
    if (SetReferRect(rect) != APP_ERR_OK)
        throw std::runtime_error("Construct Tensor with setting refer rect failed.");
}

Tensor::Tensor(const std::vector<uint32_t> &shape, const TensorDType &dataType, const int32_t &deviceId)
    : dPtr_(std::make_shared<TensorDptr>())
{
    dPtr_->base = describe(shape, dataType, type_of(deviceId, false, MemoryData::MEMORY_HOST_NEW), deviceId);
}

Tensor::Tensor(void *usrData, const std::vector<uint32_t> &shape, const TensorDType &dataType,
               const int32_t &deviceId)
    : dPtr_(std::make_shared<TensorDptr>())
{
    dPtr_->base =
        over(usrData, shape, dataType, type_of(deviceId, false, MemoryData::MEMORY_HOST_NEW), deviceId, true);
}

Tensor::Tensor(const std::vector<uint32_t> &shape, const TensorDType &dataType, const int32_t &deviceId,
               bool isDvpp)
    : dPtr_(std::make_shared<TensorDptr>())
{
    dPtr_->base = describe(shape, dataType, type_of(deviceId, isDvpp, MemoryData::MEMORY_HOST), deviceId);
}

Tensor::Tensor(void *usrData, const std::vector<uint32_t> &shape, const TensorDType &dataType,
               const int32_t &deviceId, const bool isDvpp, const bool isBorrowed)
    : dPtr_(std::make_shared<TensorDptr>())
{
    dPtr_->base = over(usrData, shape, dataType, type_of(deviceId, isDvpp, MemoryData::MEMORY_HOST_NEW),
                       deviceId, isBorrowed);
}

void *Tensor::GetData() const
{
    const TensorBase *base = TensorParts::Base(*this);
    return base ? base->GetBuffer() : nullptr;
}

std::vector<uint32_t> Tensor::GetShape() const
{
    const TensorBase *base = TensorParts::Base(*this);
    return base ? base->GetShape() : std::vector<uint32_t>();
}

APP_ERROR Tensor::SetShape(std::vector<uint32_t> shape)
{
    TensorBase *base = TensorParts::Base(*this);
    if (!base) return fail(APP_ERR_COMM_INIT_FAIL, "SetShape: this is no tensor.");
    if (shape.empty()) return fail(APP_ERR_COMM_INVALID_PARAM, "SetShape: the shape has no dims.");
    unsigned __int128 size = 1;
    for (const uint32_t dim : shape) size = std::min<unsigned __int128>(size * dim, UINT64_MAX);
    if (size != base->GetSize()) return fail(APP_ERR_COMM_INVALID_PARAM, "SetShape: not as many elements.");
    try {
        return base->SetShape(shape);
    } catch (const std::exception &) {
        return APP_ERR_COMM_INVALID_PARAM;
    }
}

TensorDType Tensor::GetDataType() const
{
    const TensorBase *base = TensorParts::Base(*this);
    return base ? static_cast<TensorDType>(base->GetDataType()) : TensorDType::UNDEFINED;
}

MemoryData::MemoryType Tensor::GetMemoryType() const
{
    const TensorBase *base = TensorParts::Base(*this);
    return base ? base->GetTensorType() : MemoryData::MEMORY_HOST_NEW;
}

size_t Tensor::GetByteSize() const
{
    const TensorBase *base = TensorParts::Base(*this);
    return base ? base->GetByteSize() : 0;
}

int32_t Tensor::GetDeviceId() const
{
    const TensorBase *base = TensorParts::Base(*this);
    return base ? base->GetDeviceId() : -1;
}

APP_ERROR Tensor::ToDevice(int32_t deviceId)
{
    TensorBase *base = TensorParts::Base(*this);
    if (!base) return fail(APP_ERR_COMM_INIT_FAIL, "ToDevice: this is no tensor.");
    if (!is_device(deviceId)) return fail(APP_ERR_COMM_INVALID_PARAM, "ToDevice: there is no such device.");
    return base->ToDevice(deviceId);
}

APP_ERROR Tensor::ToDvpp(int32_t deviceId)
{
    TensorBase *base = TensorParts::Base(*this);
    if (!base) return fail(APP_ERR_COMM_INIT_FAIL, "ToDvpp: this is no tensor.");
    if (!is_device(deviceId)) return fail(APP_ERR_COMM_INVALID_PARAM, "ToDvpp: there is no such device.");
    return base->ToDvpp(deviceId);
}

APP_ERROR Tensor::ToHost()
{
    TensorBase *base = TensorParts::Base(*this);
    return base ? base->ToHost() : fail(APP_ERR_COMM_INIT_FAIL, "ToHost: this is no tensor.");
}

APP_ERROR Tensor::SetTensorValue(uint8_t value, AscendStream &stream)
{
    return set_all(*this, TensorDType::UINT8, value, stream);
}

APP_ERROR Tensor::SetTensorValue(float value, bool IsFloat16, AscendStream &stream)
{
    return set_all(*this, IsFloat16 ? TensorDType::FLOAT16 : TensorDType::FLOAT32, value, stream);
}

APP_ERROR Tensor::SetTensorValue(int32_t value, AscendStream &stream)
{
    return set_all(*this, TensorDType::INT32, value, stream);
}

APP_ERROR BatchConcat(const std::vector<Tensor> &inputs, Tensor &output)
{
    std::vector<TensorBase> bases;
    bases.reserve(inputs.size());
    for (const Tensor &input : inputs) {
        const TensorBase *base = TensorParts::Base(input);
        if (!base) return fail(APP_ERR_COMM_INIT_FAIL, "BatchConcat: one is no tensor.");
        bases.push_back(*base);
    }
    TensorBase result;
    const APP_ERROR ret = TensorBase::BatchConcat(bases, result);
    if (ret != APP_ERR_OK) return ret;
    if (!output.dPtr_) output.dPtr_ = std::make_shared<TensorDptr>();
    output.dPtr_->base = std::make_shared<TensorBase>(result);
    return APP_ERR_OK;
}

APP_ERROR Tensor::DoTranspose(const Tensor &input, Tensor &output, const std::vector<uint32_t> &axes)
{
    const TensorBase *base = TensorParts::Base(input);
    if (!base || input.IsEmpty() || input.GetByteSize() == 0 || base->IsDevice())
        return fail(APP_ERR_COMM_INVALID_PARAM, "Transpose: the input is empty, or on a device.");
    const TensorDType type = input.GetDataType();
    const std::vector<uint32_t> &dims = TensorParts::Shape(*base)->dims;
    const size_t rank = dims.size();
    if (rank < 2 || rank > 4 || (!axes.empty() && axes.size() != rank))
        return fail(APP_ERR_COMM_INVALID_PARAM, "Transpose: there are not 2 to 4 dims, and as many axes.");
    if (type != TensorDType::UINT8 && type != TensorDType::FLOAT16 && type != TensorDType::FLOAT32)
        return fail(APP_ERR_COMM_INVALID_PARAM, "Transpose: the type is not UINT8, FLOAT16 or FLOAT32.");

    int order[4];
    for (size_t i = 0; i < rank; i++)
        order[i] = static_cast<int>(axes.empty() ? rank - 1 - i : std::min(axes[i], 4u));
    Placed scratch, transposed;
    tsr_tensor *from = nullptr, *view = transposed.Use(), *to = nullptr;
    tsr_status s = TensorParts::Look(&from, &scratch, input, false);
    if (s == TSR_OK) s = tsr_permute(&view, from, static_cast<int>(rank), order);
    if (s != TSR_OK) return mxface::to_error(s, "Transpose");

    const bool fits =
        !output.IsEmpty() && output.GetByteSize() == input.GetByteSize() && output.GetDataType() == type;
    if (fits && TensorParts::Base(output)->IsDevice())
        return fail(APP_ERR_COMM_INVALID_PARAM, "Transpose: the output is on a device.");
    const APP_ERROR ret = fits ? show_as(*TensorParts::Base(output), view)
                               : TensorParts::Renew(output, shape_of(view), base->GetDataType(),
                                                    MemoryData::MEMORY_HOST_NEW, -1);
    if (ret != APP_ERR_OK) return ret;
    s = TensorParts::Look(&to, &scratch, output, false);
    if (s == TSR_OK) s = tsr_copy(to, view);
    return mxface::to_error(s, "Transpose");
}

APP_ERROR Tensor::TensorMalloc(Tensor &tensor) { return tensor.Malloc(); }

APP_ERROR Tensor::Malloc()
{
    TensorBase *base = TensorParts::Base(*this);
    return base ? TensorBase::TensorBaseMalloc(*base)
                : fail(APP_ERR_COMM_INIT_FAIL, "Malloc: this is no tensor.");
}

bool Tensor::IsEmpty() const
{
    const TensorBase *base = TensorParts::Base(*this);
    return !base || !TensorParts::Buffer(*base)->storage;
}

APP_ERROR Tensor::TensorFree(Tensor &tensor)
{
    tensor.dPtr_.reset();
    return APP_ERR_OK;
}

bool Tensor::IsWithMargin() const
{
    const TensorBase *base = TensorParts::Base(*this);
    if (!base) return false;
    const Rect roi = base->GetValidRoi();
    const std::vector<uint32_t> &dims = TensorParts::Shape(*base)->dims;
    const size_t rank = dims.size();
    if (!is_set(roi) || rank < 2 || rank > 4 || (rank == 4 && dims[0] != 1)) return false;
    const size_t row = rows_of(rank);
    return roi.y1 - roi.y0 != dims[row] || roi.x1 - roi.x0 != dims[row + 1];
}

APP_ERROR Tensor::SetValidRoi(Rect rect)
{
    TensorBase *base = TensorParts::Base(*this);
    return base ? base->SetValidRoi(rect)
                : fail(APP_ERR_COMM_INVALID_PARAM, "SetValidRoi: this is no tensor.");
}

Rect Tensor::GetValidRoi() const
{
    const TensorBase *base = TensorParts::Base(*this);
    return base ? base->GetValidRoi() : Rect();
}

Tensor Tensor::Clone(AscendStream &stream) const
{
    Tensor result;
    if (IsEmpty() || (GetDeviceId() != -1 && GetDeviceId() != stream.GetDeviceId())) {
        fail(APP_ERR_COMM_INVALID_PARAM, "Clone: the tensor is empty, or not on the stream's device.");
        return result;
    }
    const mxface::OnStream queued(stream);
    const TensorBase &base = *dPtr_->base;
    Tensor copy;
    if (TensorParts::Renew(copy, base.GetShape(), base.GetDataType(), base.GetTensorType(),
                           base.GetDeviceId()) != APP_ERR_OK)
        return result;
    return TensorBase::TensorBaseCopy(*copy.dPtr_->base, base) == APP_ERR_OK ? copy : result;
}

namespace {

const size_t MOST_CLONED = 6710886;                       /* elements of the target */
const uint32_t LEAST_SIDE = 64, MOST_SIDE = 4096;         /* of the target */
const uint32_t MOST_HEIGHT = 1u << 20, MOST_WIDTH = 1920; /* of the source; of a region */

bool is_image(const std::vector<uint32_t> &dims)
{
    return dims.size() >= 2 && dims.size() <= 4 && (dims.size() < 4 || dims[0] == 1);
}

bool can_clone(const Tensor &dst, const Tensor &src, const AscendStream &stream)
{
    const std::vector<uint32_t> to = dst.GetShape(), from = src.GetShape();
    const Rect a = dst.GetReferRect(), b = src.GetReferRect();
    if (!mxface::is_on_device(src.GetMemoryType()) || !mxface::is_on_device(dst.GetMemoryType()))
        return false;
    if (src.GetDeviceId() != dst.GetDeviceId() || src.GetDeviceId() != stream.GetDeviceId()) return false;
    if (src.GetDataType() != dst.GetDataType()) return false;
    if (src.GetDataType() != TensorDType::UINT8 && src.GetDataType() != TensorDType::FLOAT16) return false;
    if (to.size() != from.size() || !is_image(to) || !is_image(from)) return false;
    const uint32_t channels = to.size() == 2 ? 1 : to.back();
    if (to.size() > 2 && to.back() != from.back()) return false;
    if (channels != 1 && channels != 3) return false;
    const size_t row = rows_of(to.size());
    const uint32_t h = to[row], w = to[row + 1];
    if (h < LEAST_SIDE || h > MOST_SIDE || w < LEAST_SIDE || w > MOST_SIDE || from[row] > MOST_HEIGHT)
        return false;
    return a.x1 - a.x0 == b.x1 - b.x0 && a.y1 - a.y0 == b.y1 - b.y0 && a.x1 - a.x0 <= MOST_WIDTH;
}

} // namespace

APP_ERROR Tensor::Clone(const Tensor &src, AscendStream &stream)
{
    if (IsEmpty() || src.IsEmpty()) return fail(APP_ERR_COMM_INVALID_POINTER, "Clone: a tensor is empty.");
    if (!is_set(GetReferRect()) || !is_set(src.GetReferRect()) || dPtr_->base->GetSize() > MOST_CLONED ||
        !can_clone(*this, src, stream))
        return fail(APP_ERR_COMM_INVALID_PARAM, "Clone: the tensors or their regions do not fit.");
    const mxface::OnStream queued(stream);
    Placed scratch[2];
    tsr_tensor *to = nullptr, *from = nullptr;
    tsr_status s = TensorParts::Look(&to, &scratch[0], *this, true);
    if (s == TSR_OK) s = TensorParts::Look(&from, &scratch[1], src, true);
    if (s == TSR_OK) s = tsr_copy(to, from);
    if (s == TSR_OK) s = mxface::finish(to);
    return mxface::to_error(s, "Clone");
}

APP_ERROR Tensor::SetReferRect(Rect rect)
{
    const TensorBase *base = TensorParts::Base(*this);
    if (!base) return fail(APP_ERR_COMM_INVALID_PARAM, "SetReferRect: this is no tensor.");
    const std::vector<uint32_t> &dims = TensorParts::Shape(*base)->dims;
    if (!is_image(dims))
        return fail(APP_ERR_COMM_INVALID_PARAM, "SetReferRect: the tensor is not HW, HWC, or NHWC with N 1.");
    if (dims.size() > 2 && dims.back() != 1 && dims.back() != 3 && dims.back() != 4)
        return fail(APP_ERR_COMM_INVALID_PARAM, "SetReferRect: there are not 1, 3 or 4 channels.");
    const size_t row = rows_of(dims.size());
    if (rect.x1 <= rect.x0 || rect.y1 <= rect.y0 || rect.x1 > dims[row + 1] || rect.y1 > dims[row])
        return fail(APP_ERR_COMM_INVALID_PARAM, "SetReferRect: the region is empty, or leaves the image.");
    dPtr_->refer = rect;
    return APP_ERR_OK;
}

Rect Tensor::GetReferRect() const { return dPtr_ ? dPtr_->refer : Rect(); }

} // namespace MxBase
