/* api.c - finding OpenCL, and what its errors mean. */
#include "api.h"

#include <dlfcn.h>
#include <string.h>

ocl_functions ocl;

const char *ocl_load(void)
{
    static const char *const names[] = { "libOpenCL.so.1", "libOpenCL.so" };
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library) return "libOpenCL.so.1 is not there";
#define X(name)                                                             \
    {                                                                       \
        void *found = dlsym(library, #name);                                \
        if (!found) return "libOpenCL.so.1 lacks " #name;                   \
        memcpy(&ocl.name, &found, sizeof found);                            \
    }
    OCL_FUNCTIONS(X)
#undef X
    return NULL;  /* the library stays: its functions are in use until the end */
}

const char *ocl_error_name(cl_int error)
{
    switch (error) {
#define X(name) case name: return #name;
    X(CL_DEVICE_NOT_FOUND) X(CL_DEVICE_NOT_AVAILABLE) X(CL_COMPILER_NOT_AVAILABLE)
    X(CL_MEM_OBJECT_ALLOCATION_FAILURE) X(CL_OUT_OF_RESOURCES) X(CL_OUT_OF_HOST_MEMORY)
    X(CL_PROFILING_INFO_NOT_AVAILABLE) X(CL_MEM_COPY_OVERLAP) X(CL_BUILD_PROGRAM_FAILURE) X(CL_MAP_FAILURE)
    X(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) X(CL_INVALID_VALUE) X(CL_INVALID_DEVICE)
    X(CL_INVALID_CONTEXT) X(CL_INVALID_COMMAND_QUEUE) X(CL_INVALID_MEM_OBJECT) X(CL_INVALID_BINARY)
    X(CL_INVALID_BUILD_OPTIONS) X(CL_INVALID_PROGRAM) X(CL_INVALID_PROGRAM_EXECUTABLE)
    X(CL_INVALID_KERNEL_NAME) X(CL_INVALID_KERNEL) X(CL_INVALID_ARG_INDEX) X(CL_INVALID_ARG_VALUE)
    X(CL_INVALID_ARG_SIZE) X(CL_INVALID_KERNEL_ARGS) X(CL_INVALID_WORK_GROUP_SIZE)
    X(CL_INVALID_WORK_ITEM_SIZE) X(CL_INVALID_EVENT) X(CL_INVALID_BUFFER_SIZE)
    X(CL_INVALID_GLOBAL_WORK_SIZE) X(CL_INVALID_OPERATION)
#undef X
    case -1001: return "CL_PLATFORM_NOT_FOUND_KHR";
    case -9999: return "a fault on the device (-9999)";
    default: return "an error of the driver's own";
    }
}

tsr_status ocl_status(cl_int error)
{
    switch (error) {
    case CL_SUCCESS: return TSR_OK;
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_RESOURCES:
    case CL_OUT_OF_HOST_MEMORY:
    case CL_INVALID_BUFFER_SIZE: return TSR_ENOMEM;
    default: return TSR_EDEVICE;
    }
}
