/* runtime.cpp - llaisys/runtime.h: the CPU's table over malloc and memcpy, and that of NVIDIA's
 * devices over the library's "cuda" backend. */
#include "face.hpp"

#include <mutex>
#include <unordered_map>

namespace
{

/* The device of this thread, by kind. */
thread_local int current_cuda = 0;

/* The CPU ----------------------------------------------------------------------------- */

int cpu_count() { return 1; }
void cpu_set(int) {}
void cpu_sync() {}
llaisysStream_t cpu_create_stream() { return nullptr; }
void cpu_destroy_stream(llaisysStream_t) {}
void cpu_sync_stream(llaisysStream_t) {}

void *cpu_malloc(size_t size)
{
    const size_t align = 64;
    if (size > SIZE_MAX - align) return nullptr;
    return std::aligned_alloc(align, size ? (size + align - 1) / align * align : align);
}

void cpu_free(void *p) { std::free(p); }

void cpu_copy(void *dst, const void *src, size_t size, llaisysMemcpyKind_t)
{
    guarded([&] {
        if (!size) return;
        if (!dst || !src) throw_argument("memcpy of NULL");
        std::memmove(dst, src, size);
    });
}

void cpu_copy_async(void *dst, const void *src, size_t size, llaisysMemcpyKind_t kind, llaisysStream_t)
{
    cpu_copy(dst, src, size, kind);
}

/* NVIDIA ------------------------------------------------------------------------------- */

tsr_device cuda()
{
    tsr_device device;
    if (!find_device(&device, LLAISYS_DEVICE_NVIDIA, current_cuda)) throw_runtime("Unsupported device");
    return device;
}

int cuda_count()
{
    int n = 0;
    tsr_device device;
    while (n < 256 && find_device(&device, LLAISYS_DEVICE_NVIDIA, n)) n++;
    return n;
}

void cuda_set(int id)
{
    guarded([&] {
        tsr_device device;
        if (!find_device(&device, LLAISYS_DEVICE_NVIDIA, id)) throw_runtime("Unsupported device");
        current_cuda = id;
    });
}

/* Memory given out, by address: a storage of the library each. */
std::mutex memory_lock;
std::unordered_map<void *, tsr_storage *> &memory()
{
    static std::unordered_map<void *, tsr_storage *> map;
    return map;
}

void *take(size_t size, tsr_device where, tsr_memory kind)
{
    tsr_storage *s = nullptr;
    must(tsr_storage_create(&s, size ? size : 1, where, kind));
    void *p = tsr_storage_data(s);
    const std::lock_guard<std::mutex> hold(memory_lock);
    memory()[p] = s;
    return p;
}

void cuda_free(void *p)
{
    guarded([&] {
        cuda();
        if (!p) return;
        tsr_storage *s = nullptr;
        {
            const std::lock_guard<std::mutex> hold(memory_lock);
            const auto at = memory().find(p);
            if (at == memory().end()) throw_argument("free of memory that was not given out here");
            s = at->second;
            memory().erase(at);
        }
        tsr_storage_release(&s);
    });
}

void *cuda_malloc(size_t size)
{
    return guarded<void *>(nullptr, [&] { return take(size, cuda(), TSR_MEMORY_DEFAULT); });
}

void *cuda_malloc_host(size_t size)
{
    return guarded<void *>(nullptr, [&] {
        cuda();
        return take(size, TSR_CPU, TSR_MEMORY_PINNED);
    });
}

/* Bytes of the device as a tensor. */
struct Bytes {
    tsr_storage *storage = nullptr;
    tsr_tensor *t = nullptr;

    Bytes(const void *p, size_t size, tsr_device device)
    {
        tsr_desc desc;
        const int64_t n = static_cast<int64_t>(size);
        if (!p) throw_argument("memcpy of NULL");
        must(tsr_desc_init(&desc, TSR_U8, 1, &n, nullptr));
        must(tsr_storage_borrow(&storage, const_cast<void *>(p), size, device, TSR_MEMORY_DEFAULT));
        const tsr_status s = tsr_from_storage(&t, storage, 0, &desc);
        tsr_storage_release(&storage);
        must(s);
    }
    ~Bytes() { tsr_release(&t); }
    Bytes(const Bytes &) = delete;
    Bytes &operator=(const Bytes &) = delete;
};

void cuda_copy(void *dst, const void *src, size_t size, llaisysMemcpyKind_t kind)
{
    guarded([&] {
        const tsr_device device = cuda();
        if (!size) return;
        if (kind == LLAISYS_MEMCPY_H2H) return cpu_copy(dst, src, size, kind);
        if (kind == LLAISYS_MEMCPY_H2D) {
            Bytes to(dst, size, device);
            if (!src) throw_argument("memcpy of NULL");
            return must(tsr_load(to.t, src, size));
        }
        if (kind == LLAISYS_MEMCPY_D2H) {
            Bytes from(src, size, device);
            if (!dst) throw_argument("memcpy of NULL");
            return must(tsr_store(dst, size, from.t));
        }
        if (kind != LLAISYS_MEMCPY_D2D) throw_argument("no such direction of a copy");
        Bytes from(src, size, device), to(dst, size, device);
        must(tsr_copy(to.t, from.t));
    });
}

/* Operators work on the device's own stream, so a copy that is done at once is in order with them. */
void cuda_copy_async(void *dst, const void *src, size_t size, llaisysMemcpyKind_t kind, llaisysStream_t)
{
    cuda_copy(dst, src, size, kind);
}

void cuda_sync()
{
    guarded([&] { must(tsr_device_sync(cuda())); });
}

llaisysStream_t cuda_create_stream()
{
    return guarded<llaisysStream_t>(nullptr, [&] {
        tsr_stream *s = nullptr;
        must(tsr_stream_create(&s, cuda()));
        return static_cast<llaisysStream_t>(s);
    });
}

void cuda_destroy_stream(llaisysStream_t stream)
{
    guarded([&] {
        cuda();
        tsr_stream *s = static_cast<tsr_stream *>(stream);
        tsr_stream_destroy(&s);
    });
}

void cuda_sync_stream(llaisysStream_t stream)
{
    if (!stream) return cuda_sync();
    guarded([&] { must(tsr_stream_sync(static_cast<tsr_stream *>(stream))); });
}

const LlaisysRuntimeAPI cpu_table = {
    cpu_count,  cpu_set,  cpu_sync,   cpu_create_stream, cpu_destroy_stream, cpu_sync_stream,
    cpu_malloc, cpu_free, cpu_malloc, cpu_free,          cpu_copy,           cpu_copy_async,
};

const LlaisysRuntimeAPI cuda_table = {
    cuda_count,  cuda_set,  cuda_sync,        cuda_create_stream, cuda_destroy_stream, cuda_sync_stream,
    cuda_malloc, cuda_free, cuda_malloc_host, cuda_free,          cuda_copy,           cuda_copy_async,
};

} // namespace

const LlaisysRuntimeAPI *llaisysGetRuntimeAPI(llaisysDeviceType_t device_type)
{
    return guarded<const LlaisysRuntimeAPI *>(nullptr, [&] {
        if (device_type == LLAISYS_DEVICE_CPU) return &cpu_table;
        if (device_type == LLAISYS_DEVICE_NVIDIA) return &cuda_table;
        throw_runtime("Unsupported device");
    });
}

void llaisysSetContextRuntime(llaisysDeviceType_t device_type, int device_id)
{
    guarded([&] {
        device_of(device_type, device_id);
        if (device_type == LLAISYS_DEVICE_NVIDIA) current_cuda = device_id;
    });
}
