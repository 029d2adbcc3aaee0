/* device_int.h - what the core asks of the backends; registry.c answers. */
#ifndef TSRI_DEVICE_INT_H
#define TSRI_DEVICE_INT_H

#include "tessera/device.h"
#include "tessera/memory.h"
#include "tessera/tensor.h"

/* A device in a message: its number, or the name that TSR_DEVICE did not find. */
enum { TSRI_DEVICE_NAME = 80 };
#define TSRI_DEVICE_TEXT(device) tsri_device_text((char[TSRI_DEVICE_NAME]){ 0 }, (device))
const char *tsri_device_text(char out[TSRI_DEVICE_NAME], tsr_device device);

/* Memory of a device that is not the CPU, from its backend. The device exists. */
tsr_status tsri_device_alloc(void **out, tsr_device device, size_t bytes, tsr_memory kind);
void       tsri_device_free(tsr_device device, void *data, size_t bytes, tsr_memory kind);

/* The same through the pool of the device (backend/device_pool.c): at least `bytes`, for this
 * thread's current stream; *reserved is what was taken. Bit i of `streams`: stream i of the
 * device may still use it. */
tsr_status tsri_device_take(void **out, size_t *reserved, tsr_device device, size_t bytes, tsr_memory kind);
void tsri_device_give(tsr_device device, void *data, size_t reserved, tsr_memory kind, uint64_t streams);

/* The device whose backend makes pinned memory of the host, TSR_CPU if none does. tsri_device_take
 * and give work with it and TSR_MEMORY_PINNED. */
tsr_device tsri_pinning_device(void);

/* One element of a tensor that is not here, `offset` bytes from its first (backend/transfer.c). */
tsr_status tsri_element_read(void *out, const tsr_tensor *t, int64_t offset);
tsr_status tsri_element_write(tsr_tensor *t, int64_t offset, const void *value);

/* A packed copy on the host (ops/move.c). */
tsr_status tsri_copy_here(tsr_tensor **out, const tsr_tensor *t);

#endif
