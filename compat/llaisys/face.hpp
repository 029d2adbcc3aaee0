/* face.hpp - what the files of this face share: the handle, devices, and how calls fail. */
#ifndef LLAISYS_FACE_HPP
#define LLAISYS_FACE_HPP

#include "llaisys/ops.h"
#include "llaisys/runtime.h"
#include "llaisys/tensor.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "tessera/tessera.h"

/* A tensor of the library, and what its dtype and device are called here. */
struct LlaisysTensor {
    tsr_tensor *t;
    llaisysDataType_t dtype;
    llaisysDeviceType_t device_type;
    int device_id;
};

namespace
{

[[noreturn]] inline void throw_argument(const char *why)
{
    std::fprintf(stderr, "[ERROR] Invalid argument: %s\n", why);
    throw std::invalid_argument(why);
}

[[noreturn]] inline void throw_runtime(const char *why)
{
    std::fprintf(stderr, "[ERROR] %s\n", why);
    throw std::runtime_error(why);
}

[[noreturn]] inline void throw_status(tsr_status s)
{
    if (s == TSR_ENOMEM || s == TSR_EDEVICE || s == TSR_EUNSUPPORTED) throw_runtime(tsr_last_error());
    throw_argument(tsr_last_error());
}

/* A failure of the library becomes an exception, with its words. */
inline void must(tsr_status s)
{
    if (s != TSR_OK) throw_status(s);
}

inline bool is_strict()
{
    const char *s = std::getenv("LLAISYS_STRICT");
    return !s || std::strcmp(s, "0") != 0;
}

/* Runs the body of an exported function. An exception goes on to the caller or, with LLAISYS_STRICT=0 in the
 * environment, `otherwise` is returned instead. */
template <typename R, typename F> R guarded(R otherwise, F body)
{
    try {
        return body();
    } catch (const std::exception &) {
        if (is_strict()) throw;
        return otherwise;
    }
}

template <typename F> void guarded(F body)
{
    try {
        body();
    } catch (const std::exception &) {
        if (is_strict()) throw;
    }
}

inline LlaisysTensor &given(llaisysTensor_t tensor)
{
    if (!tensor) throw_argument("a tensor is NULL");
    return *tensor;
}

/* False if there is no such device. */
inline bool find_named(tsr_device *out, const char *backend, int id)
{
    char name[32];
    std::snprintf(name, sizeof name, "%s:%d", backend, id);
    return tsr_device_parse(out, name) == TSR_OK;
}

/* Do simulated devices stand in for NVIDIA's? Only where there are none of those. */
inline bool may_simulate()
{
    const char *s = std::getenv("LLAISYS_SIMULATE");
    tsr_device device;
    return s && std::strcmp(s, "1") == 0 && !find_named(&device, "cuda", 0);
}

inline bool find_device(tsr_device *out, llaisysDeviceType_t type, int id)
{
    if (id < 0) return false;
    if (type == LLAISYS_DEVICE_CPU) {
        *out = TSR_CPU;
        return id == 0;
    }
    if (type != LLAISYS_DEVICE_NVIDIA) return false;
    return find_named(out, "cuda", id) || (may_simulate() && find_named(out, "sim", id));
}

inline tsr_device device_of(llaisysDeviceType_t type, int id)
{
    tsr_device device = TSR_CPU;
    if (type < LLAISYS_DEVICE_CPU || type >= LLAISYS_DEVICE_TYPE_COUNT) throw_runtime("Unsupported device");
    if (!find_device(&device, type, id)) throw_argument("invalid device id");
    return device;
}

} // namespace

#endif
