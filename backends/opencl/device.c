/* device.c - all devices of all platforms, in the order in which OpenCL lists them. */
#include "opencl.h"

#include <stdio.h>
#include <string.h>

enum { MOST_PLATFORMS = 16, MOST_DEVICES = 64 };

static ocl_device devices[MOST_DEVICES];
static int count;

int ocl_device_count(void) { return count; }
ocl_device *ocl_device_at(int index) { return index >= 0 && index < count ? &devices[index] : NULL; }

static void read_text(char *out, size_t size, cl_device_id id, cl_device_info what)
{
    char text[512] = "";
    if (ocl.clGetDeviceInfo(id, what, sizeof text - 1, text, NULL) != CL_SUCCESS) text[0] = '\0';
    snprintf(out, size, "%s", text);
}

static cl_ulong read_number(cl_device_id id, cl_device_info what)
{
    cl_ulong value = 0;
    if (ocl.clGetDeviceInfo(id, what, sizeof value, &value, NULL) != CL_SUCCESS) return 0;
    return value;
}

/* Does it compute at all: on line, with a compiler, little endian, with 1.2's functions? */
static bool is_usable(cl_device_id id)
{
    char version[128];
    int major = 0, minor = 0;
    read_text(version, sizeof version, id, CL_DEVICE_VERSION);
    if (sscanf(version, "OpenCL %d.%d", &major, &minor) != 2 || major * 10 + minor < 12) return false;
    return read_number(id, CL_DEVICE_AVAILABLE) && read_number(id, CL_DEVICE_COMPILER_AVAILABLE) &&
           read_number(id, CL_DEVICE_ENDIAN_LITTLE);
}

static size_t largest_group(cl_device_id id)
{
    size_t most = 1, sizes[8] = { 1 };
    (void)ocl.clGetDeviceInfo(id, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof most, &most, NULL);
    (void)ocl.clGetDeviceInfo(id, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof sizes, sizes, NULL);
    if (most > sizes[0]) most = sizes[0];
    size_t group = 256;
    while (group > most) group /= 2;
    return group ? group : 1;
}

static void open_device(cl_platform_id platform, cl_device_id id)
{
    ocl_device *d = &devices[count];
    cl_int error = CL_SUCCESS;
    const cl_context_properties properties[] = { CL_CONTEXT_PLATFORM, (cl_context_properties)platform, 0 };
    memset(d, 0, sizeof *d);
    d->context = ocl.clCreateContext(properties, 1, &id, NULL, NULL, &error);
    if (error != CL_SUCCESS) return;
    d->index = count;
    d->platform = platform;
    d->id = id;
    read_text(d->name, sizeof d->name, id, CL_DEVICE_NAME);
    read_text(d->driver, sizeof d->driver, id, CL_DRIVER_VERSION);
    d->has_f64 = read_number(id, CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
    d->has_fma = (read_number(id, CL_DEVICE_SINGLE_FP_CONFIG) & CL_FP_FMA) != 0;
    d->divides_exactly =
        (read_number(id, CL_DEVICE_SINGLE_FP_CONFIG) & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
    d->is_processor = (read_number(id, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
    d->group = largest_group(id);
    d->units = (cl_uint)read_number(id, CL_DEVICE_MAX_COMPUTE_UNITS);
    d->memory = read_number(id, CL_DEVICE_GLOBAL_MEM_SIZE);
    d->most = read_number(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    d->local = read_number(id, CL_DEVICE_LOCAL_MEM_SIZE);
    pthread_mutex_init(&d->lock, NULL);
    pthread_mutex_init(&d->building, NULL);
    pthread_rwlock_init(&d->programs_lock, NULL);
    count++;
}

const char *ocl_find_devices(void)
{
    cl_platform_id platforms[MOST_PLATFORMS];
    cl_uint platform_count = 0;
    if (ocl.clGetPlatformIDs(MOST_PLATFORMS, platforms, &platform_count) != CL_SUCCESS || platform_count == 0)
        return "OpenCL has no platform (no driver is installed)";
    if (platform_count > MOST_PLATFORMS) platform_count = MOST_PLATFORMS;
    for (cl_uint p = 0; p < platform_count; p++) {
        cl_device_id ids[MOST_DEVICES];
        cl_uint n = 0;
        if (ocl.clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MOST_DEVICES, ids, &n) != CL_SUCCESS)
            continue;
        for (cl_uint i = 0; i < n && i < MOST_DEVICES && count < MOST_DEVICES; i++)
            if (is_usable(ids[i])) open_device(platforms[p], ids[i]);
    }
    return count ? NULL : "OpenCL has no device that can be used";
}

tsr_status ocl_device_info(int index, tsr_device_info *out)
{
    ocl_device *d = ocl_device_at(index);
    memset(out, 0, sizeof *out);
    snprintf(out->name, sizeof out->name, "%.63s", d->name);
    snprintf(out->capabilities, sizeof out->capabilities, "%sf16 bf16 async", d->has_f64 ? "f64 " : "");
    pthread_mutex_lock(&d->lock);
    out->memory_total = d->memory;
    out->memory_free = d->used < d->memory ? d->memory - d->used : 0;
    pthread_mutex_unlock(&d->lock);
    out->units = (int32_t)d->units;
    return TSR_OK;
}
