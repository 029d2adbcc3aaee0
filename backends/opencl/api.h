/* api.h - OpenCL's functions, found at run time: on machines without OpenCL the plugin loads, and reports
 * that there is none. */
#ifndef OCL_API_H
#define OCL_API_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <tessera/backend.h>

#define OCL_FUNCTIONS(X) \
    X(clGetPlatformIDs) X(clGetPlatformInfo) X(clGetDeviceIDs) X(clGetDeviceInfo) X(clCreateContext) \
    X(clCreateCommandQueue) X(clReleaseContext) X(clReleaseCommandQueue) X(clRetainCommandQueue) \
    X(clCreateBuffer) X(clReleaseMemObject) X(clCreateProgramWithSource) X(clCreateProgramWithBinary) \
    X(clBuildProgram) X(clReleaseProgram) X(clGetProgramInfo) X(clGetProgramBuildInfo) X(clCreateKernel) \
    X(clReleaseKernel) X(clSetKernelArg) X(clGetKernelWorkGroupInfo) X(clEnqueueNDRangeKernel) \
    X(clEnqueueReadBuffer) X(clEnqueueWriteBuffer) X(clEnqueueCopyBuffer) X(clEnqueueFillBuffer) \
    X(clEnqueueMapBuffer) X(clEnqueueUnmapMemObject) X(clEnqueueMarkerWithWaitList) \
    X(clEnqueueBarrierWithWaitList) X(clFinish) X(clFlush) X(clWaitForEvents) X(clGetEventInfo) \
    X(clGetEventProfilingInfo) X(clRetainEvent) X(clReleaseEvent)

typedef struct ocl_functions {
#define X(name) __typeof__(&name) name;
    OCL_FUNCTIONS(X)
#undef X
} ocl_functions;

extern ocl_functions ocl;

/* Finds them; NULL, or what is wrong. */
const char *ocl_load(void);

/* "CL_OUT_OF_RESOURCES" */
const char *ocl_error_name(cl_int error);

/* The status that an error is. */
tsr_status ocl_status(cl_int error);

#endif
