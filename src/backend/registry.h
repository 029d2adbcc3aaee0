/* registry.h - backends by slot, devices by number. */
#ifndef TSRI_REGISTRY_H
#define TSRI_REGISTRY_H

#include "core/status_int.h"
#include "tessera/backend.h"

/* The backend of a device, and the device's index in it. TSR_EDEVICE if there is
 * no such device. */
tsr_status tsri_backend_of(const tsr_backend **out, int *index, const char *op, tsr_device device);

/* A status that came from a backend, with words if it left none of its own: `failures`
 * is tsri_failures() before the call. */
tsr_status tsri_backend_end(tsr_status s, uint32_t failures, const char *op, const tsr_backend *backend);

/* The one backend that is always there (src/cpu). */
extern const tsr_backend tsri_cpu_backend;

/* Its short road for few elements (cpu/cpu_run.c): an elementwise op on n > 0 of them that follow
 * each other, in the result as in all operands, which are of one dtype. False: no kernel. */
bool tsri_cpu_run_row(tsr_op_kind kind, const void *params, int64_t n, tsr_tensor *out, int nin,
                      const tsr_tensor *const *in);

#endif
