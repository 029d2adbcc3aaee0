/* registry.h - backends by slot, devices by number. */
#ifndef TSRI_REGISTRY_H
#define TSRI_REGISTRY_H

#include "core/status_int.h"
#include "tessera/backend.h"

/* The backend of a device, and the device's index in it. TSR_EDEVICE if there is
 * no such device. */
tsr_status tsri_backend_of(const tsr_backend **out, int *index, const char *op, tsr_device device);

/* The one backend that is always there (src/cpu). */
extern const tsr_backend tsri_cpu_backend;

#endif
