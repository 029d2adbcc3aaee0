/* memory.cpp - memory by bare pointers.
 *
 * A table (the book) lists every block of device memory that this face allocated, for MxbsMalloc and for
 * tensors, so that the block that a program's pointer points into can be found. */
#include "MxBase/MemoryHelper/CustomizedMemoryHelper.h"
#include "MxBase/MemoryHelper/MemoryHelper.h"

#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>

#include "face.hpp"

namespace mxface {
namespace {

struct Run {
    tsr_storage *storage;
    bool owned; /* the book holds a count: MxbsMalloc gave it, MxbsFree takes it back */
};

class Book {
public:
    void Enter(tsr_storage *storage, bool owned)
    {
        const std::lock_guard<std::mutex> guard(lock_);
        runs_[Address(tsr_storage_data(storage))] = { storage, owned };
    }

    /* The storage that p points into, with one more count, and how far; NULL if there is none. */
    tsr_storage *Find(const void *p, size_t *offset)
    {
        const std::lock_guard<std::mutex> guard(lock_);
        auto at = runs_.upper_bound(Address(p));
        if (at == runs_.begin()) return nullptr;
        --at;
        *offset = Address(p) - at->first;
        if (*offset >= tsr_storage_bytes(at->second.storage)) return nullptr;
        return tsr_storage_retain(at->second.storage);
    }

    /* The count of an owned run that begins at p goes to the caller; NULL if there is none. keep: the
     * run is still known. */
    tsr_storage *Take(const void *p, bool keep)
    {
        const std::lock_guard<std::mutex> guard(lock_);
        const auto at = runs_.find(Address(p));
        if (at == runs_.end() || !at->second.owned) return nullptr;
        tsr_storage *storage = at->second.storage;
        at->second.owned = false;
        if (!keep) runs_.erase(at);
        return storage;
    }

    void Forget(tsr_storage *storage)
    {
        const std::lock_guard<std::mutex> guard(lock_);
        const auto at = runs_.find(Address(tsr_storage_data(storage)));
        if (at != runs_.end() && at->second.storage == storage) runs_.erase(at);
    }

private:
    static uintptr_t Address(const void *p) { return reinterpret_cast<uintptr_t>(p); }
    std::mutex lock_;
    std::map<uintptr_t, Run> runs_;
};

/* Never destroyed: tensors in static variables may die after it would. */
Book &book()
{
    static Book &the = *new Book;
    return the;
}

std::atomic<long> largest{ 1L << 32 };

tsr_memory kind_of(Type type)
{
    return type == MemoryData::MEMORY_DVPP ? TSR_MEMORY_MEDIA : TSR_MEMORY_DEVICE;
}

/* Where memory lies that is in no book. A simulated device has only memory of its own, so there such
 * memory is the host's (an allocator of the program's gave it). */
void place_of(tsr_device *device, tsr_memory *kind, Type type, int32_t id)
{
    *device = TSR_CPU;
    *kind = TSR_MEMORY_HOST;
    if (!is_on_device(type)) return;
    const int32_t used = id >= 0 ? id : current_device();
    if (!is_hardware(used)) return;
    (void)find_device(device, used);
    *kind = TSR_MEMORY_DEVICE;
}

tsr_status describe(tsr_desc *out, size_t bytes)
{
    const int64_t n = static_cast<int64_t>(bytes);
    return tsr_desc_init(out, TSR_U8, 1, &n, nullptr);
}

tsr_status look_at(Placed *out, tsr_storage *storage, size_t offset, size_t bytes)
{
    tsr_desc desc;
    tsr_tensor *t = out->Use();
    TSR_TRY(describe(&desc, bytes));
    return tsr_from_storage(&t, storage, offset, &desc);
}

/* `bytes` bytes from a pointer on, as a tensor. */
tsr_status look_at(Placed *out, void *p, size_t bytes, Type type, int32_t id)
{
    size_t offset = 0;
    tsr_device device;
    tsr_memory kind;
    tsr_storage *storage = is_on_device(type) ? book().Find(p, &offset) : nullptr;
    if (!storage) {
        place_of(&device, &kind, type, id);
        if (device == TSR_CPU) {
            tsr_desc desc;
            TSR_TRY(describe(&desc, bytes));
            return tsr_place(out->Use(), p, &desc);
        }
        TSR_TRY(tsr_storage_borrow(&storage, p, bytes, device, kind));
    }
    const tsr_status s = look_at(out, storage, offset, bytes);
    tsr_storage_release(&storage);
    return s;
}

/* Built-in memory of a device, entered in the book. */
APP_ERROR make_device(tsr_storage **out, Type type, int32_t id, size_t bytes, bool owned)
{
    tsr_device device;
    if (bytes == 0 || !find_device(&device, id))
        return fail(APP_ERR_ACL_BAD_ALLOC, "There is no such device, or nothing to allocate.");
    if (tsr_storage_create(out, bytes, device, kind_of(type)) != TSR_OK)
        return fail(APP_ERR_ACL_BAD_ALLOC, tsr_last_error());
    book().Enter(*out, owned);
    return APP_ERR_OK;
}

APP_ERROR make_pointer(void **out, Type type, int32_t id, size_t bytes)
{
    tsr_storage *storage = nullptr;
    if (!out) return fail(APP_ERR_COMM_INVALID_POINTER, "The place for the pointer is NULL.");
    const APP_ERROR ret = make_device(&storage, type, id, bytes, true);
    if (ret == APP_ERR_OK) *out = tsr_storage_data(storage);
    return ret;
}

APP_ERROR free_pointer(void *p)
{
    tsr_storage *storage = book().Take(p, false);
    if (!storage) return APP_ERR_COMM_FREE_MEM;
    tsr_storage_release(&storage);
    return APP_ERR_OK;
}

APP_ERROR make_dvpp(unsigned int id, void **out, unsigned long long bytes)
{
    return make_pointer(out, MemoryData::MEMORY_DVPP, static_cast<int32_t>(id), bytes);
}

/* A pair of allocators, the program's or the built-in one. */
template <typename Malloc, typename Free> struct Pair {
    Malloc builtin;
    std::atomic<Malloc> make{ nullptr };
    std::atomic<Free> free{ nullptr };

    bool Fits() const
    {
        const Malloc m = make;
        const Free f = free;
        return m && f && (m == builtin) == (f == free_pointer);
    }

    bool IsCustom() const { return Fits() && make != builtin; }
};

Pair<MxBase::g_deviceMallocFuncType, MxBase::g_deviceFreeFuncType> device_pair{ MxBase::aclrtMallocAdapter };
Pair<MxBase::g_dvppMallocFuncType, MxBase::g_dvppFreeFuncType> dvpp_pair{ make_dvpp };

bool is_custom(Type type)
{
    return type == MemoryData::MEMORY_DEVICE ? device_pair.IsCustom()
           : type == MemoryData::MEMORY_DVPP ? dvpp_pair.IsCustom()
                                             : false;
}

/* By the program's allocator. */
APP_ERROR make_custom(void **out, Type type, int32_t id, size_t bytes)
{
    if (bytes > UINT32_MAX)
        return fail(APP_ERR_ACL_BAD_ALLOC, "An allocator of the program's takes 32 bits.");
    const APP_ERROR ret = type == MemoryData::MEMORY_DEVICE
        ? MxBase::DeviceMemoryMallocFunc(out, static_cast<unsigned>(bytes), MxBase::MX_MEM_MALLOC_HUGE_FIRST)
        : MxBase::DVPPMemoryMallocFunc(static_cast<unsigned>(id), out, bytes);
    return ret == APP_ERR_OK && !*out ? APP_ERR_ACL_BAD_ALLOC : ret;
}

APP_ERROR free_array(void *p)
{
    delete[] static_cast<int8_t *>(p);
    return APP_ERR_OK;
}

APP_ERROR free_malloc(void *p)
{
    std::free(p);
    return APP_ERR_OK;
}

using FreeFunction = APP_ERROR (*)(void *);

FreeFunction free_of(Type type)
{
    switch (type) {
    case MemoryData::MEMORY_HOST: return free_pointer;
    case MemoryData::MEMORY_DEVICE: return MxBase::DeviceMemoryFreeFunc;
    case MemoryData::MEMORY_DVPP: return MxBase::DVPPMemoryFreeFunc;
    case MemoryData::MEMORY_HOST_MALLOC: return free_malloc;
    case MemoryData::MEMORY_HOST_NEW: return free_array;
    default: return nullptr;
    }
}

void delete_by(void *free, void *data, size_t) { (void)reinterpret_cast<FreeFunction>(free)(data); }

APP_ERROR make_host(void **out, size_t bytes)
{
    tsr_storage *storage = nullptr;
    if (tsr_storage_create(&storage, bytes, TSR_CPU, TSR_MEMORY_HOST) != TSR_OK)
        return fail(APP_ERR_ACL_BAD_ALLOC, tsr_last_error());
    book().Enter(storage, true);
    *out = tsr_storage_data(storage);
    return APP_ERR_OK;
}

APP_ERROR make_any(MemoryData &data)
{
    switch (data.type) {
    case MemoryData::MEMORY_HOST: return make_host(&data.ptrData, data.size);
    case MemoryData::MEMORY_DEVICE:
    case MemoryData::MEMORY_DVPP:
        return is_custom(data.type) ? make_custom(&data.ptrData, data.type, data.deviceId, data.size)
                                    : make_pointer(&data.ptrData, data.type, data.deviceId, data.size);
    case MemoryData::MEMORY_HOST_MALLOC: data.ptrData = std::calloc(data.size, 1); break;
    case MemoryData::MEMORY_HOST_NEW: data.ptrData = new (std::nothrow) int8_t[data.size]; break;
    default: return APP_ERR_COMM_ALLOC_MEM;
    }
    return data.ptrData ? APP_ERR_OK : APP_ERR_COMM_ALLOC_MEM;
}

APP_ERROR fill(MemoryData &data, int32_t value, size_t count)
{
    if (!data.ptrData) return fail(APP_ERR_COMM_INVALID_POINTER, "Memset: the pointer is NULL.");
    if (MxBase::MemoryHelper::CheckDataSize(static_cast<long>(data.size)) != APP_ERR_OK ||
        !is_type(data.type) || count == 0 || count > data.size)
        return fail(APP_ERR_COMM_INVALID_PARAM,
                    "Memset: the size, the count or the type of memory is wrong.");
    Placed bytes;
    tsr_status s = look_at(&bytes, data.ptrData, count, data.type, data.deviceId);
    if (s == TSR_OK) s = tsr_fill(bytes.Use(), TSR_SCALAR(static_cast<unsigned>(value & 0xff)));
    if (s == TSR_OK) s = finish(bytes.Use());
    return s == TSR_OK ? APP_ERR_OK : fail(APP_ERR_ACL_FAILURE, tsr_last_error());
}

} // namespace

APP_ERROR allocate(tsr_storage **out, Type type, int32_t deviceId, size_t bytes)
{
    if (MxBase::MemoryHelper::CheckDataSize(static_cast<long>(bytes)) != APP_ERR_OK || !is_type(type))
        return fail(is_type(type) ? APP_ERR_COMM_INVALID_PARAM : APP_ERR_ACL_BAD_ALLOC,
                    "The size or the type is wrong.");
    if (is_custom(type)) {
        MemoryData data(bytes, type, deviceId);
        const APP_ERROR ret = make_custom(&data.ptrData, type, deviceId, bytes);
        return ret == APP_ERR_OK ? wrap(out, data, true) : APP_ERR_ACL_BAD_ALLOC;
    }
    if (is_on_device(type)) return make_device(out, type, deviceId, bytes, false);
    if (tsr_storage_create(out, bytes, TSR_CPU, TSR_MEMORY_HOST) != TSR_OK)
        return fail(APP_ERR_ACL_BAD_ALLOC, tsr_last_error());
    if (type == MemoryData::MEMORY_HOST_MALLOC) __builtin_memset(tsr_storage_data(*out), 0, bytes);
    return APP_ERR_OK;
}

APP_ERROR wrap(tsr_storage **out, const MemoryData &data, bool owned)
{
    tsr_device device;
    tsr_memory kind;
    size_t offset = 0;
    if (owned && (*out = book().Take(data.ptrData, is_on_device(data.type))) != nullptr) return APP_ERR_OK;
    place_of(&device, &kind, data.type, data.deviceId);
    tsr_storage *known = is_on_device(data.type) ? book().Find(data.ptrData, &offset) : nullptr;
    if (known) {
        device = tsr_storage_device(known);
        kind = tsr_storage_memory(known);
        tsr_storage_release(&known);
    }
    const FreeFunction free = free_of(data.type);
    const tsr_status s = owned && free ? tsr_storage_adopt(out, data.ptrData, data.size, device, kind,
                                                           delete_by, reinterpret_cast<void *>(free))
                                       : tsr_storage_borrow(out, data.ptrData, data.size, device, kind);
    return s == TSR_OK ? APP_ERR_OK : fail(APP_ERR_COMM_INIT_FAIL, tsr_last_error());
}

void give_back(tsr_storage **storage)
{
    if (!*storage) return;
    if (tsr_storage_device(*storage) != TSR_CPU) book().Forget(*storage);
    tsr_storage_release(storage);
}

APP_ERROR copy(tsr_storage *dst, tsr_storage *src, size_t bytes, size_t dst_offset)
{
    Placed to, from;
    tsr_status s = look_at(&to, dst, dst_offset, bytes);
    if (s == TSR_OK) s = look_at(&from, src, 0, bytes);
    if (s == TSR_OK) s = tsr_copy(to.Use(), from.Use());
    if (s == TSR_OK) s = finish(to.Use());
    return s == TSR_OK ? APP_ERR_OK : fail(APP_ERR_ACL_BAD_COPY, tsr_last_error());
}

} // namespace mxface

namespace MxBase {

using namespace mxface;

APP_ERROR DVPPMallocFuncHookReg(g_dvppMallocFuncType pFun)
{
    dvpp_pair.make = pFun;
    return APP_ERR_OK;
}

APP_ERROR DVPPFreeFuncHookReg(g_dvppFreeFuncType pFun)
{
    dvpp_pair.free = pFun;
    return APP_ERR_OK;
}

APP_ERROR DeviceMallocFuncHookReg(g_deviceMallocFuncType pFun)
{
    device_pair.make = pFun;
    return APP_ERR_OK;
}

APP_ERROR DeviceFreeFuncHookReg(g_deviceFreeFuncType pFun)
{
    device_pair.free = pFun;
    return APP_ERR_OK;
}

bool CheckDVPPMemoryFuncPair() { return dvpp_pair.Fits(); }
bool CheckDeviceMemoryFuncPair() { return device_pair.Fits(); }

APP_ERROR aclrtMallocAdapter(void **devPtr, unsigned int size, MxMemMallocPolicy)
{
    return make_pointer(devPtr, MemoryData::MEMORY_DEVICE, current_device(), size);
}

APP_ERROR DeviceMemoryMallocFunc(void **devPtr, unsigned int size, MxMemMallocPolicy policy)
{
    if (!device_pair.IsCustom()) return aclrtMallocAdapter(devPtr, size, policy);
    return device_pair.make.load()(devPtr, size, policy) == APP_ERR_OK ? APP_ERR_OK : APP_ERR_COMM_ALLOC_MEM;
}

/* What the built-in allocator gave goes back to it, whichever is in use by now. */
APP_ERROR DeviceMemoryFreeFunc(void *devPtr)
{
    if (free_pointer(devPtr) == APP_ERR_OK) return APP_ERR_OK;
    if (!device_pair.IsCustom())
        return fail(APP_ERR_COMM_FREE_MEM, "No memory of a device was given out there.");
    return device_pair.free.load()(devPtr) == APP_ERR_OK ? APP_ERR_OK : APP_ERR_COMM_FREE_MEM;
}

APP_ERROR DVPPMemoryMallocFunc(unsigned int dev_id, void **dev_ptr, unsigned long long size)
{
    const auto make = dvpp_pair.IsCustom() ? dvpp_pair.make.load() : make_dvpp;
    return make(dev_id, dev_ptr, size) == APP_ERR_OK ? APP_ERR_OK : APP_ERR_COMM_ALLOC_MEM;
}

APP_ERROR DVPPMemoryFreeFunc(void *dev_ptr)
{
    if (free_pointer(dev_ptr) == APP_ERR_OK) return APP_ERR_OK;
    if (!dvpp_pair.IsCustom())
        return fail(APP_ERR_COMM_FREE_MEM, "No memory of an image unit was given out there.");
    return dvpp_pair.free.load()(dev_ptr) == APP_ERR_OK ? APP_ERR_OK : APP_ERR_COMM_FREE_MEM;
}

APP_ERROR MemoryHelper::MxbsMalloc(MemoryData &data)
{
    if (CheckDataSize(static_cast<long>(data.size)) != APP_ERR_OK) return APP_ERR_COMM_INVALID_PARAM;
    data.ptrData = nullptr;
    data.free = free_of(data.type);
    const APP_ERROR ret = make_any(data);
    if (ret == APP_ERR_OK) return ret;
    data.ptrData = nullptr;
    return fail(APP_ERR_ACL_BAD_ALLOC, "Malloc failed.");
}

APP_ERROR MemoryHelper::MxbsFree(MemoryData &data)
{
    if (!data.ptrData) return fail(APP_ERR_COMM_INVALID_POINTER, "Free: the pointer is NULL.");
    const FreeFunction free = free_of(data.type);
    if (!free || free(data.ptrData) != APP_ERR_OK) return fail(APP_ERR_ACL_BAD_FREE, "Free failed.");
    data.ptrData = nullptr;
    return APP_ERR_OK;
}

APP_ERROR MemoryHelper::MxbsMemset(MemoryData &data, int32_t value, size_t count)
{
    return fill(data, value, count);
}

APP_ERROR MemoryHelper::MxbsMemset(MemoryData &data, int32_t value, size_t count, AscendStream &stream)
{
    const OnStream queued(stream);
    return fill(data, value, count);
}

APP_ERROR MemoryHelper::MxbsMemcpy(MemoryData &dest, const MemoryData &src, size_t count)
{
    if (!dest.ptrData || !src.ptrData)
        return fail(APP_ERR_COMM_INVALID_POINTER, "Memcpy: a pointer is NULL.");
    if (count == 0 || count > dest.size)
        return fail(APP_ERR_COMM_INVALID_PARAM, "Memcpy: the count is wrong.");
    if (!is_type(dest.type) || !is_type(src.type))
        return fail(APP_ERR_ACL_BAD_COPY, "Memcpy: there is no such type of memory.");
    Placed to, from;
    tsr_status s = look_at(&to, dest.ptrData, count, dest.type, dest.deviceId);
    if (s == TSR_OK) s = look_at(&from, src.ptrData, count, src.type, src.deviceId);
    if (s == TSR_OK) s = tsr_copy(to.Use(), from.Use());
    if (s == TSR_OK) s = finish(to.Use());
    return s == TSR_OK ? APP_ERR_OK : fail(APP_ERR_ACL_BAD_COPY, tsr_last_error());
}

APP_ERROR MemoryHelper::MxbsMallocAndCopy(MemoryData &dest, const MemoryData &src)
{
    if (!src.ptrData) return fail(APP_ERR_COMM_INVALID_POINTER, "MallocAndCopy: the source is NULL.");
    if (src.size == 0) return fail(APP_ERR_COMM_INVALID_PARAM, "MallocAndCopy: the source is empty.");
    const APP_ERROR ret = MxbsMalloc(dest);
    if (ret != APP_ERR_OK) return ret;
    if (MxbsMemcpy(dest, src, src.size) == APP_ERR_OK) return APP_ERR_OK;
    MxbsFree(dest);
    return APP_ERR_ACL_BAD_COPY;
}

APP_ERROR MemoryHelper::SetMaxDataSize(long size)
{
    if (size < 1 || size > 1L << 32)
        return fail(APP_ERR_COMM_INVALID_PARAM, "The limit is not 1 byte to 4 GiB.");
    largest = size;
    return APP_ERR_OK;
}

APP_ERROR MemoryHelper::CheckDataSize(long size)
{
    if (size >= 1 && size <= largest) return APP_ERR_OK;
    LogError << "A size of " << size << " is not within 1 and " << largest << "."
             << GetErrorInfo(APP_ERR_COMM_INVALID_PARAM);
    return APP_ERR_COMM_INVALID_PARAM;
}

APP_ERROR MemoryHelper::CheckDataSizeAllowZero(long size)
{
    return size == 0 ? APP_ERR_OK : CheckDataSize(size);
}

} // namespace MxBase
