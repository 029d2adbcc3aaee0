/* device_info.c - what the library keeps about devices: the default one, layouts, descriptions. */
#include "core/device_int.h"
#include "registry.h"
#include "core/atomic.h"
#include "core/mem.h"

static tsr_device by_default = TSR_CPU;
static uint8_t layouts[TSRI_MAX_BACKENDS * TSRI_DEVICES];

tsr_status tsr_device_set_default(tsr_device device)
{
    TSRI_CHECK(tsr_device_exists(device), TSR_EDEVICE, "device_set_default: there is no device %s",
               TSRI_DEVICE_TEXT(device));
    tsri_store_release(&by_default, device);
    return TSR_OK;
}

tsr_device tsr_device_default(void) { return tsri_load_acquire(&by_default); }

tsr_status tsr_device_set_layout(tsr_device device, tsr_layout layout)
{
    TSRI_CHECK(device != TSR_CPU, TSR_EDEVICE, "device_set_layout: the CPU's layout is row-major");
    TSRI_CHECK(tsr_device_exists(device), TSR_EDEVICE, "device_set_layout: there is no device %s",
               TSRI_DEVICE_TEXT(device));
    TSRI_CHECK((unsigned)layout <= TSR_LAYOUT_COLUMN, TSR_EINVAL, "device_set_layout: %d is no layout",
               (int)layout);
    tsri_store_release(&layouts[device], (uint8_t)layout);
    return TSR_OK;
}

tsr_layout tsr_device_layout(tsr_device device)
{
    return tsr_device_exists(device) ? (tsr_layout)tsri_load_acquire(&layouts[device]) : TSR_LAYOUT_ROW;
}

tsr_status tsr_device_get_info(tsr_device_info *out, tsr_device device)
{
    const tsr_backend *backend = NULL;
    int index = 0;
    TSRI_CHECK(out, TSR_ENULL, "device_get_info: out is NULL");
    TSRI_TRY(tsri_backend_of(&backend, &index, "device_get_info", device));
    memset(out, 0, sizeof *out);
    const uint32_t failures = tsri_failures();
    if (backend->device_info)
        TSRI_TRY(tsri_backend_end(backend->device_info(index, out), failures, "device_get_info", backend));
    if (!out->name[0]) (void)tsr_device_name(out->name, sizeof out->name, device);
    return TSR_OK;
}
