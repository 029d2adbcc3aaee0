/* threads_int.h - what the library knows of its thread pool beyond tessera/threads.h. */
#ifndef TSRI_THREADS_INT_H
#define TSRI_THREADS_INT_H

#include "tessera/threads.h"

enum { TSRI_MAX_THREADS = 4096, TSRI_PARTS_PER_THREAD = 4 };

/* How many parts a loop has, from 1 to TSRI_PARTS_PER_THREAD for each thread, for
 * n > 0. One thread means one part. */
int tsri_part_count(int64_t n, int64_t grain, int threads);

/* Where part i of them begins; part `parts` begins at n. Lengths differ by at
 * most one, and none is below the grain unless n is. */
int64_t tsri_part_begin(int64_t n, int parts, int i);

/* Threads that a loop begun here is split over: 1 inside a part of another. */
int tsri_threads_here(void);

/* A number of threads as in TSR_THREADS: 1 .. TSRI_MAX_THREADS, more counts as
 * the maximum. 0 for NULL and for text that is not one positive number. */
int tsri_threads_wish(const char *text);

/* CPU limits of control groups, in whole CPUs, rounded up; 0 is no limit, also
 * for text that is not understood. */
int tsri_quota_v2(const char *cpu_max);                         /* "150000 100000" is 2; "max 100000" is 0 */
int tsri_quota_v1(const char *cfs_quota, const char *cfs_period);    /* "-1" is no limit */

/* The path of the process's own group in the text of /proc/self/cgroup, for a
 * v1 controller or, with "", for v2. False if it is not there or does not fit. */
bool tsri_cgroup_path(char *out, size_t size, const char *text, const char *controller);

/* The tightest limit on the way from the process's own groups up to the root,
 * v1 and v2; 0 is none. root is /sys/fs/cgroup, text that of /proc/self/cgroup. */
int tsri_cgroup_limit(const char *root, const char *text);

#endif
