/* face.hpp - what the files of this face share: devices, memory by pointer, and the insides of tensors. */
#ifndef MXBASE_FACE_HPP
#define MXBASE_FACE_HPP

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <vector>

#include "MxBase/Asynchron/AscendStream.h"
#include "MxBase/E2eInfer/Tensor/Tensor.h"
#include "MxBase/ErrorCode/ErrorCode.h"
#include "MxBase/Log/Log.h"
#include "MxBase/MemoryHelper/MemoryHelper.h"
#include "MxBase/Tensor/TensorBase/TensorBase.h"
#include "tessera/tessera.h"

namespace mxface {

using MxBase::MemoryData;
using Type = MxBase::MemoryData::MemoryType;

/* Devices: number n is "cuda:n" where that exists, else "sim:n" ------------------------------ */

uint32_t count_devices();
bool find_device(tsr_device *out, int32_t id);  /* false if there is none */
bool is_hardware(int32_t id);                   /* may memory on it come from elsewhere? */
int32_t current_device();                       /* of this thread; 0 if it has set none */

/* Memory ------------------------------------------------------------------------------------- */

inline bool is_on_device(Type type)
{
    return type == MemoryData::MEMORY_DEVICE || type == MemoryData::MEMORY_DVPP;
}
inline bool is_type(Type type)
{
    return type >= MemoryData::MEMORY_HOST && type <= MemoryData::MEMORY_HOST_NEW;
}

/* Memory for a tensor. On success *out holds one count; return it with give_back. */
APP_ERROR allocate(tsr_storage **out, Type type, int32_t deviceId, size_t bytes);

/* The caller's memory as a storage; owned: freed by its type with the storage. */
APP_ERROR wrap(tsr_storage **out, const MemoryData &data, bool owned);

void give_back(tsr_storage **storage);

/* The first `bytes` of two storages. 26 (APP_ERR_ACL_BAD_COPY) if that fails. */
APP_ERROR copy(tsr_storage *dst, tsr_storage *src, size_t bytes, size_t dst_offset = 0);

/* Waits for the work that made t where a program may rely on it: on the device's own stream, the default
 * one, and where the host can look at the result through a pointer. */
tsr_status finish(const tsr_tensor *t);

/* A status of the library as a code: 1004 where the arguments are to blame. Logs the words. */
APP_ERROR to_code(tsr_status s, const char *what);
inline APP_ERROR to_error(tsr_status s, const char *what)
{
    return s == TSR_OK ? APP_ERR_OK : to_code(s, what);
}

/* Room for a tensor struct that lets go of its storage by itself. It costs nothing until it is used. */
class Placed {
public:
    Placed() : used_(false) {}
    ~Placed() { Clear(); }
    Placed(const Placed &) = delete;
    Placed &operator=(const Placed &) = delete;

    tsr_tensor *Use() /* as it is; none the first time */
    {
        if (!used_) tsr_place_none(&t_);
        used_ = true;
        return &t_;
    }

    tsr_tensor *Get() { return used_ && t_.data ? &t_ : nullptr; } /* NULL if there is none */

    void Clear()
    {
        tsr_tensor *p = &t_;
        if (used_) tsr_release(&p);
        used_ = false;
    }

private:
    bool used_;
    tsr_tensor t_;
};

/* Logs the words with the code, and is the code. */
APP_ERROR fail(APP_ERROR code, const char *words);

} // namespace mxface

namespace MxBase {

/* Sizes of dims. 2^28 elements in all are always taken, 2^29 never. */
class TensorShape {
public:
    TensorShape() = default;
    explicit TensorShape(const std::vector<uint32_t> &shape) { Set(shape); }
    void Set(const std::vector<uint32_t> &shape); /* throws std::runtime_error if they are too many */
    size_t GetSize() const;

    std::vector<uint32_t> dims = { 0 };
    Rect roi;
};

/* The memory of a tensor and of its copies. */
class TensorMemory {
public:
    TensorMemory() = default;
    TensorMemory(size_t bytes, MemoryData::MemoryType memoryType, int32_t device)
        : size(bytes), type(memoryType), deviceId(device) {}
    ~TensorMemory() { mxface::give_back(&storage); }
    TensorMemory(const TensorMemory &) = delete;
    TensorMemory &operator=(const TensorMemory &) = delete;

    /* Takes the other's memory and place; the other keeps nothing. The view is to be made anew. */
    void TakeFrom(TensorMemory &other);

    size_t size = 0;
    MemoryData::MemoryType type = MemoryData::MEMORY_HOST_NEW;
    int32_t deviceId = -1;
    tsr_storage *storage = nullptr; /* NULL until there is memory */

    /* The tensor as the library sees it, made whenever memory or shape change, so that ops need not;
     * none while there is no memory, or no such tensor there (undefined types, unaligned memory). */
    mxface::Placed view;
};

class TensorDptr {
public:
    std::shared_ptr<TensorBase> base;
    Rect refer;
};

/* The way into the classes of the public headers. */
struct TensorParts {
    static TensorMemory *Buffer(const TensorBase &t) { return t.buffer_.get(); }
    static TensorShape *Shape(const TensorBase &t) { return t.shape_.get(); }
    static TensorDType Type(const TensorBase &t) { return static_cast<TensorDType>(t.dataType_); }
    static TensorDptr *Dptr(const Tensor &t) { return t.dPtr_.get(); }
    static TensorBase *Base(const Tensor &t) { return t.dPtr_ ? t.dPtr_->base.get() : nullptr; }
    static tsr_stream *Stream(const AscendStream &s);
    static int32_t Device(const AscendStream &s) { return s.deviceId_; }

    /* The tensor as one of the library's; only the region that its refer rect names, if that is wanted
     * and there is one. It may be made in `scratch`. */
    static tsr_status Look(tsr_tensor **out, mxface::Placed *scratch, const Tensor &t, bool region);

    /* A tensor of these dims and this type in a storage, `rect` of it if that is not NULL. */
    static tsr_status Place(mxface::Placed *out, tsr_storage *storage, const std::vector<uint32_t> &dims,
                            TensorDataType type, const Rect *rect);

    /* Gives t a shape, a type and memory; the others that share its handle see that. */
    static APP_ERROR Renew(Tensor &t, const std::vector<uint32_t> &shape, TensorDataType type,
                           MemoryData::MemoryType memory, int32_t deviceId);
};

} // namespace MxBase

namespace mxface {

/* Queues what is done in its life on this stream. */
class OnStream {
public:
    explicit OnStream(const MxBase::AscendStream &stream)
    {
        if (!stream.isDefault_) Begin(stream);
    }

    ~OnStream()
    {
        if (changed_) End();
    }

    OnStream(const OnStream &) = delete;
    OnStream &operator=(const OnStream &) = delete;

private:
    void Begin(const MxBase::AscendStream &stream);
    void End();

    tsr_device device_ = TSR_CPU;
    tsr_stream *before_ = nullptr;
    bool changed_ = false;
};

} // namespace mxface

#endif
