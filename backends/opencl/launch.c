/* launch.c - setting arguments and queueing kernels. */
#include "launch.h"

#include <stdio.h>

tsr_status ocl_begin_with(ocl_launch *l, const ocl_call *call, const char *files, const char *kernel,
                          const char *options, ocl_head_fn head)
{
    l->call = call;
    l->next = 0;
    l->error = CL_SUCCESS;
    OCL_TRY(ocl_kernel_get(&l->kernel, call, files, kernel, options, head));
    pthread_mutex_lock(&l->kernel->lock);
    return TSR_OK;
}

tsr_status ocl_begin(ocl_launch *l, const ocl_call *call, const char *files, const char *kernel,
                     const char *options)
{
    return ocl_begin_with(l, call, files, kernel, options, NULL);
}

void ocl_arg(ocl_launch *l, size_t bytes, const void *value)
{
    const cl_int error = ocl.clSetKernelArg(l->kernel->kernel, l->next++, bytes, value);
    if (l->error == CL_SUCCESS) l->error = error;
}

void ocl_arg_mem(ocl_launch *l, cl_mem mem) { ocl_arg(l, sizeof mem, &mem); }
void ocl_arg_nest(ocl_launch *l, const ocl_nest *nest) { ocl_arg(l, sizeof *nest, nest); }
void ocl_arg_local(ocl_launch *l, size_t bytes) { ocl_arg(l, bytes, NULL); }

void ocl_arg_int(ocl_launch *l, int value)
{
    const cl_int v = value;
    ocl_arg(l, sizeof v, &v);
}

void ocl_arg_long(ocl_launch *l, int64_t value)
{
    const cl_long v = value;
    ocl_arg(l, sizeof v, &v);
}

void ocl_arg_wide(ocl_launch *l, double value)
{
    const cl_float narrow = (cl_float)value;
    if (l->call->device->has_f64) ocl_arg(l, sizeof value, &value);
    else ocl_arg(l, sizeof narrow, &narrow);
}

tsr_status ocl_end_groups(ocl_launch *l, cl_uint dims, const size_t *groups, const size_t *group)
{
    size_t all[3] = { 1, 1, 1 };
    ocl_stream *s = l->call->stream;
    cl_int error = l->error;
    for (cl_uint d = 0; d < dims; d++) all[d] = groups[d] * group[d];
    if (error == CL_SUCCESS)
        error =
            ocl.clEnqueueNDRangeKernel(s->queue, l->kernel->kernel, dims, NULL, all, group, 0, NULL, NULL);
    pthread_mutex_unlock(&l->kernel->lock);
    if (error == CL_SUCCESS) error = ocl.clFlush(s->queue);
    __atomic_store_n(&s->last, l->call->name, __ATOMIC_RELAXED);
    if (error == CL_SUCCESS) return TSR_OK;
    return ocl_fail(ocl_status(error), "%s: opencl:%d does not take kernel %s (%s)", l->call->name,
                    l->call->device->index, l->kernel->name, ocl_error_name(error));
}

tsr_status ocl_end(ocl_launch *l, int64_t n)
{
    const size_t group = l->kernel->group, groups = ((size_t)n + group - 1) / group;
    return ocl_end_groups(l, 1, &groups, &group);
}

size_t ocl_group_for(const ocl_launch *l, int64_t n, size_t bytes)
{
    const size_t room = (size_t)l->call->device->local / 2;
    size_t group = n > 16 ? 64 : 8;  /* two sizes: some drivers build a kernel for each */
    while (group > 1 && (group > l->kernel->group || group * bytes > room)) group /= 2;
    return group;
}

void ocl_fix_dtypes(char *out, size_t size, const ocl_nest *nest, int64_t elements)
{
    out[0] = '\0';
    if (elements >= OCL_LONG)
        snprintf(out, size, " -DFIXED0=%d -DFIXED1=%d", (int)nest->dtype[0], (int)nest->dtype[1]);
}
