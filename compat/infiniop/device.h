/* device.h - InfiniRT's numbers for devices as Tessera's devices. Shared by both libraries. */
#ifndef COMPAT_INFINIOP_DEVICE_H
#define COMPAT_INFINIOP_DEVICE_H

#include <cstdio>

#include <tessera/tessera.h>

#include "infinicore.h"

namespace face {

inline bool is_device_type(infiniDevice_t type)
{
    return (int)type >= 0 && (int)type < INFINI_DEVICE_TYPE_COUNT;
}

/* The CPU is one device under every id, as in the original. */
inline infiniStatus_t find_device(tsr_device *out, infiniDevice_t type, int id)
{
    if (type == INFINI_DEVICE_CPU) {
        *out = TSR_CPU;
        return INFINI_STATUS_SUCCESS;
    }
    if (type != INFINI_DEVICE_NVIDIA) return INFINI_STATUS_DEVICE_TYPE_NOT_SUPPORTED;
    char name[32];
    std::snprintf(name, sizeof name, "cuda:%d", id);
    return id >= 0 && tsr_device_parse(out, name) == TSR_OK ? INFINI_STATUS_SUCCESS
                                                            : INFINI_STATUS_DEVICE_NOT_FOUND;
}

inline infiniStatus_t status_of(tsr_status s)
{
    switch (s) {
    case TSR_OK: return INFINI_STATUS_SUCCESS;
    case TSR_ENULL: return INFINI_STATUS_NULL_POINTER;
    case TSR_EDTYPE: return INFINI_STATUS_BAD_TENSOR_DTYPE;
    case TSR_ESHAPE:
    case TSR_EOVERFLOW: return INFINI_STATUS_BAD_TENSOR_SHAPE;
    case TSR_ESTRIDE:
    case TSR_EOVERLAP: return INFINI_STATUS_BAD_TENSOR_STRIDES;
    case TSR_EINVAL:
    case TSR_EINDEX: return INFINI_STATUS_BAD_PARAM;
    case TSR_EDEVICE: return INFINI_STATUS_DEVICE_NOT_FOUND;
    case TSR_EUNSUPPORTED: return INFINI_STATUS_NOT_IMPLEMENTED;
    default: return INFINI_STATUS_INTERNAL_ERROR;
    }
}

/* Return from the calling function unless the call succeeds. */
#define FACE_TRY(call)                                                 \
    do {                                                               \
        const infiniStatus_t face_status_ = (call);                    \
        if (face_status_ != INFINI_STATUS_SUCCESS) return face_status_; \
    } while (0)

} // namespace face

#endif
