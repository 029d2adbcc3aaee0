/* disk_faults.h - the n-th call to the system fails, or every read and write is short. */
#ifndef TSR_TEST_DISK_FAULTS_H
#define TSR_TEST_DISK_FAULTS_H

#include <dirent.h>
#include <errno.h>
#include <unistd.h>

#include "core/system.h"
#include "unit/files.h"

static const int fault_errors[] = { EIO, ENOSPC, EINTR, EMFILE, EACCES };
enum { FAULT_ERRORS = sizeof fault_errors / sizeof *fault_errors };

static struct {
    int  countdown;     /* 1: the next call fails; 0 and less: none does */
    int  error;
    bool fired;
    int  which;         /* the tsri_system_call that failed; TSRI_CALLS: one of the command's own */
    bool is_short;      /* reads and writes do a few bytes at a time */
    bool is_named;      /* there are no files without a name */
    bool cannot_link;   /* there are, but they can be given none */
    int  opens;
} fault;

/* Counts a call; does it fail? Threads read together. */
static int fault_count(int which)
{
    if (__atomic_sub_fetch(&fault.countdown, 1, __ATOMIC_RELAXED) != 0) return 0;
    fault.fired = true;
    fault.which = which;
    return fault.error;
}

static int fault_of_library(tsri_system_call call, size_t *bytes)
{
    if (fault.is_named && call == TSRI_OPEN && fault.opens++ == 0) return EOPNOTSUPP;
    if (fault.cannot_link && call == TSRI_LINK) return EPERM;
    if (fault.is_short && *bytes > 5) *bytes = 1 + *bytes / 3;
    return fault_count((int)call);
}

static void fault_arm(int n, int error)
{
    fault.countdown = n;
    fault.error = error;
    fault.fired = false;
    fault.opens = 0;
    tsri_system_fault = fault_of_library;
}

static void fault_disarm(void) { tsri_system_fault = NULL; }

/* A file system in memory, where waiting for the disk costs nothing, if there is one. */
static void fault_folder(void)
{
    if (access("/dev/shm", W_OK) == 0) setenv("TMPDIR", "/dev/shm", 1);
    (void)file_path("");
}

static inline int count_names(const char *folder)
{
    int n = 0;
    DIR *d = opendir(folder);
    if (!d) return -1;
    while (readdir(d)) n++;
    closedir(d);
    return n;
}

static inline int open_files(void) { return count_names("/proc/self/fd"); }

static inline bool same_file(const char *path, const unsigned char *data, size_t bytes)
{
    size_t n = 0;
    unsigned char *now = read_bytes(path, &n);
    const bool same = !now ? !data : data && n == bytes && memcmp(now, data, n) == 0;
    free(now);
    return same;
}

#endif
