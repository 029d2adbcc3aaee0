/* device_int.h - what the core asks of the backends; registry.c answers. */
#ifndef TSRI_DEVICE_INT_H
#define TSRI_DEVICE_INT_H

#include "tessera/device.h"
#include "tessera/memory.h"

/* Memory of a device that is not the CPU. The device exists. */
tsr_status tsri_device_alloc(void **out, tsr_device device, size_t bytes, tsr_memory kind);
void       tsri_device_free(tsr_device device, void *data, size_t bytes, tsr_memory kind);

#endif
