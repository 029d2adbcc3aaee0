/* device.c - see device_int.h. */
#include "device_int.h"
#include "text.h"
#include "lock.h"
#include "status_int.h"

static TSRI_PER_THREAD char missing[TSRI_DEVICE_NAME];

void tsri_device_missed(const char *name)
{
    tsri_text text = tsri_text_into(missing, sizeof missing);
    tsri_put(&text, "\"%s\"", name ? name : "NULL");
}

const char *tsri_device_text(char out[TSRI_DEVICE_NAME], tsr_device device)
{
    tsri_text text = tsri_text_into(out, TSRI_DEVICE_NAME);
    if (device == TSR_NO_DEVICE && missing[0]) tsri_put(&text, "%s", missing);
    else                                       tsri_put(&text, "%d", (int)device);
    return out;
}

tsr_status tsri_fail_no_device(const char *op, tsr_device device)
{
    return tsri_fail(TSR_EDEVICE, "%s: there is no device %s", op, TSRI_DEVICE_TEXT(device));
}

/* A program with the CPU alone ------------------------------------------------------------ */

static bool exists(tsr_device device) { return device == TSR_CPU; }

static size_t name(char *out, size_t size, tsr_device device)
{
    tsri_text text = tsri_text_into(out, out ? size : 0);
    if (device == TSR_CPU) tsri_put(&text, "cpu:0");
    else                   tsri_put(&text, "no device %d", (int)device);
    return text.length;
}

static tsr_status take(void **out, size_t *reserved, tsr_device device, size_t bytes, tsr_memory kind)
{
    (void)out; (void)reserved; (void)bytes; (void)kind;
    return tsri_fail_no_device("alloc", device);
}

static void give(tsr_device device, void *data, size_t reserved, tsr_memory kind, uint64_t streams)
{
    (void)device; (void)data; (void)reserved; (void)kind; (void)streams;
}

static tsr_device pinning(void) { return TSR_CPU; }

static tsr_status read(void *out, const tsr_tensor *t, int64_t offset)
{
    (void)out; (void)offset;
    return tsri_fail_no_device("copy", t->device);
}

static tsr_status write(tsr_tensor *t, int64_t offset, const void *value)
{
    (void)offset; (void)value;
    return tsri_fail_no_device("copy", t->device);
}

static tsr_status to_host(tsr_tensor **out, const tsr_tensor *t)
{
    (void)out;
    return tsri_fail_no_device("copy", t->device);
}

static const tsri_devices cpu_alone = { exists, name, take, give, pinning, read, write, to_host };
static const tsri_devices *devices = &cpu_alone;

const tsri_devices *tsri_devices_get(void) { return tsri_load_acquire(&devices); }
void tsri_devices_set(const tsri_devices *set) { tsri_store_release(&devices, set); }
