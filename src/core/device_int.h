/* device_int.h - the functions that the core needs for devices that are not the CPU.
 *
 * The core does not call backends. backend/registry.c sets this table before the first such device exists;
 * until then there is the CPU alone. */
#ifndef TSRI_DEVICE_INT_H
#define TSRI_DEVICE_INT_H

#include "atomic.h"
#include "tessera/device.h"
#include "tessera/memory.h"
#include "tessera/tensor.h"

/* A device in a message: its number, or the name that TSR_DEVICE did not find. */
enum { TSRI_DEVICE_NAME = 80 };
#define TSRI_DEVICE_TEXT(device) tsri_device_text((char[TSRI_DEVICE_NAME]){ 0 }, (device))
const char *tsri_device_text(char out[TSRI_DEVICE_NAME], tsr_device device);

/* Notes the name of a device that this thread looked up and that does not exist, for messages about
 * TSR_NO_DEVICE. */
void tsri_device_missed(const char *name);

typedef struct tsri_devices {
    bool   (*exists)(tsr_device device);
    size_t (*name)(char *out, size_t size, tsr_device device);

    /* take: memory of at least `bytes` from the device's pool, for this thread's current stream; *reserved
     * is its size. give: back to the pool; bit i of `streams`: stream i of the device may still use it. */
    tsr_status (*take)(void **out, size_t *reserved, tsr_device device, size_t bytes, tsr_memory kind);
    void (*give)(tsr_device device, void *data, size_t reserved, tsr_memory kind, uint64_t streams);

    /* The device whose backend makes pinned memory of the host, TSR_CPU if none does. take and give work
     * with it and TSR_MEMORY_PINNED. */
    tsr_device (*pinning)(void);

    /* One element of a tensor, `offset` bytes from its first. */
    tsr_status (*read)(void *out, const tsr_tensor *t, int64_t offset);
    tsr_status (*write)(tsr_tensor *t, int64_t offset, const void *value);

    /* A packed copy on the host. */
    tsr_status (*to_host)(tsr_tensor **out, const tsr_tensor *t);
} tsri_devices;

/* The table, which is never NULL: that of a program with the CPU alone, or the one that was set. */
const tsri_devices *tsri_devices_get(void);
void                tsri_devices_set(const tsri_devices *devices);

/* As tsr_device_exists, which is the backends'. */
static inline bool tsri_device_exists(tsr_device device)
{
    return device == TSR_CPU || tsri_devices_get()->exists(device);
}

/* "copy: there is no device 7": TSR_EDEVICE. */
tsr_status tsri_fail_no_device(const char *op, tsr_device device);

#endif
