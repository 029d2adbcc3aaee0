/* launch.h - the start of a kernel: arguments in order, then its work items.
 *
 *     OCL_TRY(ocl_begin(&l, call, "move", "copy", "-DSIZE=4"));
 *     ocl_arg_mem(&l, z);
 *     ocl_arg_nest(&l, &nest);
 *     return ocl_end(&l, count);
 *
 * ocl_end returns the error of an argument, too. ocl_begin locks the kernel and ocl_end unlocks it, so every
 * ocl_begin that succeeds must be followed by an ocl_end. */
#ifndef OCL_LAUNCH_H
#define OCL_LAUNCH_H

#include "nest.h"
#include "program.h"

typedef struct ocl_launch {
    const ocl_call *call;
    ocl_kernel     *kernel;
    cl_uint         next;   /* argument */
    cl_int          error;
} ocl_launch;

tsr_status ocl_begin(ocl_launch *l, const ocl_call *call, const char *files, const char *kernel,
                     const char *options);

/* The same for a program with a text of its own ahead (program.h). */
tsr_status ocl_begin_with(ocl_launch *l, const ocl_call *call, const char *files, const char *kernel,
                          const char *options, ocl_head_fn head);

void ocl_arg(ocl_launch *l, size_t bytes, const void *value);
void ocl_arg_mem(ocl_launch *l, cl_mem mem);
void ocl_arg_int(ocl_launch *l, int value);
void ocl_arg_long(ocl_launch *l, int64_t value);
void ocl_arg_wide(ocl_launch *l, double value);  /* in the widest type that the device has */
void ocl_arg_nest(ocl_launch *l, const ocl_nest *nest);
void ocl_arg_local(ocl_launch *l, size_t bytes);

/* A work item for each of n, in groups as large as suits. */
tsr_status ocl_end(ocl_launch *l, int64_t n);

/* Groups of so many work items, in up to three dims. */
tsr_status ocl_end_groups(ocl_launch *l, cl_uint dims, const size_t *groups, const size_t *group);

/* A power of two: the work items of a group that shares `bytes` of local memory for each of them, and a
 * lane of n elements. */
size_t ocl_group_for(const ocl_launch *l, int64_t n, size_t bytes);

/* Options for work on so many elements: of long tensors dtypes are constants of the program. */
enum { OCL_LONG = 1 << 16 };
void ocl_fix_dtypes(char *out, size_t size, const ocl_nest *nest, int64_t elements);

enum { OCL_LANES_AT_ONCE = 32768 };  /* groups of a second or third dim, which devices limit */

#endif
