/* threads_int.h - what the library knows of its thread pool beyond tessera/threads.h. */
#ifndef TSRI_THREADS_INT_H
#define TSRI_THREADS_INT_H

#include "tessera/threads.h"

enum { TSRI_MAX_THREADS = 4096, TSRI_PARTS_PER_THREAD = 4 };

/* What a function requires of the part of a loop that it is given, for its results to be right.
 * It is declared beside the function, and loops are split accordingly. Zeros: nothing. */
typedef struct tsri_needs {
    int64_t least;     /* fewest indices of a part, unless the whole loop has fewer */
    int64_t multiple;  /* a part begins at a multiple of it */
} tsri_needs;

/* How the lengths of parts differ: by one unit at most, or as much as they may. */
typedef enum tsri_uneven { TSRI_EVEN, TSRI_LONG_FIRST, TSRI_LONG_LAST } tsri_uneven;

/* A loop over 0 .. n - 1 in parts. */
typedef struct tsri_split {
    int64_t  n, multiple;
    int64_t  units;        /* of `multiple` indices; the last one may be shorter or longer */
    int64_t  least;        /* units of a part at least */
    int      parts;
    tsri_uneven uneven;
} tsri_split;

/* For n > 0: 1 to TSRI_PARTS_PER_THREAD parts for each thread, one for one thread. No part has
 * fewer indices than the function needs, or than `grain` (which makes a part worth a thread),
 * unless n is fewer. */
tsri_split tsri_split_loop(int64_t n, int64_t grain, tsri_needs needs, int threads);

/* Where part i begins; part `parts` begins at n. */
int64_t tsri_split_begin(const tsri_split *s, int i);

/* For tests: with TSR_SPLIT=fine in the environment, or after this call, every loop is split as
 * finely and as unevenly as the needs of its function allow, whatever the grain. */
void tsri_split_finely(bool finely);

/* Work is estimated in bytes that take as long to read or write in order. What others cost: */
enum {
    TSRI_WORK_PRODUCT = 2,    /* a multiplication of blocks of matrices */
    TSRI_WORK_READ = 8,       /* an element that is read once, and added, compared or multiplied */
    TSRI_WORK_ELEMENT = 16,   /* one that is read and written several times, or found by its index */
    TSRI_WORK_DECODED = 32,   /* one that is decoded or sorted */
    TSRI_WORK_NUMBER = 64,    /* a random number, a logarithm */
    TSRI_WORK_SEARCH = 256    /* a search, a sine of a double */
};

/* The least number of indices, each of this much work, in a part that is worth a thread: 1 at least. */
int64_t tsri_grain(double work);

/* Sets how much work makes a part worth a thread (cpu/tuning). */
void tsri_set_thread_work(int64_t work);

/* Is work of this size worth sharing? Always, where loops are split finely. For choices that are made
 * before a loop is split. */
bool tsri_worth_sharing(int64_t size, int64_t least);

/* tsr_parallel_for() for a function that is right for parts of any length, and for one with needs. */
tsr_status tsri_parallel_for(int64_t n, int64_t grain, tsr_range_fn fn, void *context);
tsr_status tsri_parallel_for_needs(int64_t n, int64_t grain, tsri_needs needs, tsr_range_fn fn,
                                   void *context);

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
