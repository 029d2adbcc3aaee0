/* registry.h - backends by slot, devices by number. */
#ifndef TSRI_REGISTRY_H
#define TSRI_REGISTRY_H

#include "builtin.h"
#include "core/status_int.h"

enum { TSRI_MAX_BACKENDS = 16, TSRI_DEVICES = TSR_BACKEND_DEVICES };  /* backends; devices of each */

/* The backend of a device, and the device's index in it. TSR_EDEVICE if there is
 * no such device. */
tsr_status tsri_backend_of(const tsr_backend **out, int *index, const char *op, tsr_device device);

/* The backend in a slot; NULL past the last one. Backends are never removed. */
const tsr_backend *tsri_backend_at(int slot);

/* What can be checked of a table before it is used: `what` begins messages. */
tsr_status tsri_backend_check(const tsr_backend *backend, const char *what);

/* Copies a table of this size, perhaps of an older version: functions that it lacks become NULL. `what`
 * begins messages. */
tsr_status tsri_backend_add(const tsr_backend *backend, const char *what);

/* Returns a status that came from a backend. If it is a failure and the backend recorded no message, records
 * one; `failures` is tsri_failures() before the call. */
tsr_status tsri_backend_end(tsr_status s, uint32_t failures, const char *op, const tsr_backend *backend);

/* The same in two steps: the first is called before the backend's function, the second with its status. */
void       tsri_backend_ask(void);
tsr_status tsri_backend_status(tsr_status s, const char *op, const tsr_backend *backend);

/* Plugins (plugin.c): loads libtessera-NAME.so if a folder of the search path has it and no
 * backend of the name is there; all of them for NULL. Problems are kept for tsri_plugin_problem_of. */
void tsri_plugins_find(const char *name, size_t length);

/* The problem that a plugin of this name had, or NULL. */
const char *tsri_plugin_problem_of(const char *name, size_t length);

/* The one backend that is always there, that of the CPU, and what it does beyond its table (builtin.h). */
extern const tsr_backend *const       tsri_host_backend;
extern const tsri_host_entries *const tsri_host;

/* Memory of a device that is not the CPU, from its backend. The device exists. */
tsr_status tsri_device_alloc(void **out, tsr_device device, size_t bytes, tsr_memory kind);
void       tsri_device_free(tsr_device device, void *data, size_t bytes, tsr_memory kind);

/* The same through the pool of the device (device_pool.c): see tsri_devices (core/device_int.h). */
tsr_status tsri_device_take(void **out, size_t *reserved, tsr_device device, size_t bytes, tsr_memory kind);
void tsri_device_give(tsr_device device, void *data, size_t reserved, tsr_memory kind, uint64_t streams);

#endif
