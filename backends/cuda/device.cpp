/* device.cpp - devices: opening them, their errors, memory in the order of a stream. */
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "cuda.h"

namespace tsrc {

const tsr_host *host;
Device devices[MOST_DEVICES];
int device_total;

tsr_status say(tsr_status status, const char *format, ...)
{
    char words[512];
    va_list list;
    va_start(list, format);
    vsnprintf(words, sizeof words, format, list);
    va_end(list);
    return host->fail(status, words);
}

/* Errors ------------------------------------------------------------------------------------ */

/* After these the device's context is gone: every later call gives the same. */
static bool is_lasting(cudaError_t e)
{
    switch (e) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorAssert:
    case cudaErrorDevicesUnavailable: return true;
    default: return false;
    }
}

static const char *last_name(int device)
{
    const tsr_op_info *info = host->op_info(static_cast<tsr_op_kind>(devices[device].last.load()));
    return info ? info->name : "copy";
}

tsr_status fail(int device, const char *what, cudaError_t e)
{
    (void)cudaGetLastError(); /* one that does not last is over with this */
    if (e == cudaErrorMemoryAllocation) return say(TSR_ENOMEM, "%s: cuda:%d is out of memory", what, device);
    if (e == cudaErrorNotSupported) return say(TSR_EUNSUPPORTED, "%s: %s", what, cudaGetErrorString(e));
    if (!is_lasting(e)) return say(TSR_EDEVICE, "%s: cuda:%d: %s", what, device, cudaGetErrorString(e));
    const bool first = devices[device].lost.exchange(static_cast<int>(e)) == 0;
    return say(TSR_EDEVICE, "%s: %s on cuda:%d failed (%s); the device is lost to this process",
               first ? last_name(device) : what, first ? "queued work" : "earlier work", device,
               cudaGetErrorString(e));
}

/* Opening ------------------------------------------------------------------------------------ */

static tsr_status open_device(int device)
{
    static std::mutex lock;
    std::lock_guard<std::mutex> guard(lock);
    Device &d = devices[device];
    int pools = 0;
    if (d.opened.load(std::memory_order_relaxed)) return TSR_OK;
    const char *what = "opening the device";
    TSRC_TRY(check(device, what, cudaSetDevice(device)));
    TSRC_TRY(check(device, what, cudaDeviceGetAttribute(&d.units, cudaDevAttrMultiProcessorCount, device)));
    TSRC_TRY(
        check(device, what, cudaDeviceGetAttribute(&d.major, cudaDevAttrComputeCapabilityMajor, device)));
    TSRC_TRY(
        check(device, what, cudaDeviceGetAttribute(&d.minor, cudaDevAttrComputeCapabilityMinor, device)));
    TSRC_TRY(check(device, what, cudaDeviceGetAttribute(&pools, cudaDevAttrMemoryPoolsSupported, device)));
    TSRC_TRY(check(device, what, cudaStreamCreateWithFlags(&d.own, cudaStreamNonBlocking)));
    d.pools = pools != 0;
    if (d.pools) { /* what ops give back is kept for the next */
        cudaMemPool_t pool;
        uint64_t keep = uint64_t(1) << 30;
        if (cudaDeviceGetDefaultMemPool(&pool, device) == cudaSuccess)
            (void)cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);
        (void)cudaGetLastError();
    }
    d.opened.store(1, std::memory_order_release);
    return TSR_OK;
}

tsr_status use_device(int device)
{
    Device &d = devices[device];
    if (!d.opened.load(std::memory_order_acquire)) TSRC_TRY(open_device(device));
    if (d.lost.load(std::memory_order_relaxed))
        return fail(device, last_name(device), static_cast<cudaError_t>(d.lost.load()));
    if (device_total == 1) return TSR_OK;
    int now = -1;
    if (cudaGetDevice(&now) == cudaSuccess && now == device) return TSR_OK;
    return check(device, "choosing the device", cudaSetDevice(device));
}

/* Scratch ------------------------------------------------------------------------------------ */

tsr_status Scratch::take(size_t bytes)
{
    if (bytes == 0) bytes = 16;
    const cudaError_t e =
        devices[w.device].pools ? cudaMallocAsync(&data, bytes, w.stream) : cudaMalloc(&data, bytes);
    if (e != cudaSuccess) data = nullptr;
    return check(w.device, w.name(), e);
}

void Scratch::swap(Scratch &other)
{
    void *had = data;
    data = other.data;
    other.data = had;
}

void Scratch::give()
{
    if (!data) return;
    if (devices[w.device].pools) {
        (void)cudaFreeAsync(data, w.stream);
    } else {
        (void)wait_for(w.device, w.stream);
        (void)cudaFree(data);
    }
    data = nullptr;
}

bool trim_scratch(int device)
{
    cudaMemPool_t pool;
    (void)cudaGetLastError();
    if (!devices[device].pools || cudaDeviceGetDefaultMemPool(&pool, device) != cudaSuccess) return false;
    (void)wait_for_all(device);
    return cudaMemPoolTrimTo(pool, 0) == cudaSuccess;
}

/* Tensors ------------------------------------------------------------------------------------ */

tsr_tensor packed(void *data, tsr_dtype dtype, int ndim, const int64_t *shape)
{
    tsr_tensor t;
    std::memset(&t, 0, sizeof t);
    t.data = data;
    t.dtype = dtype;
    t.ndim = ndim;
    int64_t step = 1;
    for (int d = ndim - 1; d >= 0; d--) {
        t.shape[d] = shape[d];
        t.stride[d] = step;
        step *= shape[d] > 0 ? shape[d] : 1;
    }
    return t;
}

bool is_aligned(const tsr_loop *loop, int operand, int bytes)
{
    if (reinterpret_cast<uintptr_t>(loop->data[operand]) % static_cast<uintptr_t>(bytes)) return false;
    for (int d = 0; d < loop->ndim; d++)
        if (loop->step[d][operand] % bytes) return false;
    return true;
}

} // namespace tsrc
