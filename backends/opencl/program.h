/* program.h - kernels, built when they are first asked for.
 *
 * A program is common.cl and some of the other files in kernels/, built with options. Programs and
 * their kernels stay until the end. */
#ifndef OCL_PROGRAM_H
#define OCL_PROGRAM_H

#include "opencl.h"

/* Setting arguments and queueing go together, under the lock: OpenCL does not let threads share
 * them. */
typedef struct ocl_kernel {
    struct ocl_kernel *next;
    char               name[32];
    cl_kernel          kernel;
    size_t             group;  /* work items of a group, at most */
    pthread_mutex_t    lock;
} ocl_kernel;

/* Writes the text that goes ahead of a program's files: macros that options have no room for. What
 * it writes depends on files and options alone. */
enum { OCL_HEAD = 2048 };
typedef void (*ocl_head_fn)(char out[OCL_HEAD], const ocl_call *call);

/* files: names without ".cl", with spaces in between. head: NULL for none. */
tsr_status ocl_kernel_get(ocl_kernel **out, const ocl_call *call, const char *files, const char *kernel,
                          const char *options, ocl_head_fn head);

/* The texts of kernels/, made by embed.cmake. */
typedef struct ocl_source {
    const char *name, *text;
} ocl_source;

extern const ocl_source ocl_sources[];  /* the last one has no name */

/* Programs on disk (cache.c) -------------------------------------------------------------- */

/* What a program is known by. */
typedef struct ocl_key {
    uint64_t first, second;
} ocl_key;

void ocl_key_begin(ocl_key *key);
void ocl_key_add(ocl_key *key, const char *text);

/* Are programs kept? TSR_OPENCL_CACHE says on or off. Without it they are, but for a driver that keeps
 * programs on disk itself and compiles every kernel when asked for a binary. */
bool ocl_cache_is_on(const ocl_device *d);

/* The program's binary, which the caller frees; NULL if there is none, or what is there is damaged. */
void *ocl_cache_read(const ocl_key *key, size_t *bytes);

/* Keeps a binary. If that fails, nothing is kept, and no error is reported. */
void ocl_cache_write(const ocl_key *key, const void *binary, size_t bytes);

#endif
