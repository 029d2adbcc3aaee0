/* system.c - system calls of files, begun again after a signal, and failing where a test says so. */
#if !defined(TSR_FREESTANDING) && !defined(TSR_NO_FILES)
#define _GNU_SOURCE 1
#define _FILE_OFFSET_BITS 64
#endif
#include "system.h"

#if !defined(TSR_NO_FILES) && defined(TSRI_POSIX)

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h> /* rename */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

tsri_fault_fn tsri_system_fault;

/* Must this call fail? Sets errno if so. */
static bool fails(tsri_system_call call, size_t *bytes)
{
    size_t ignored = 0;
    const int error = tsri_system_fault ? tsri_system_fault(call, bytes ? bytes : &ignored) : 0;
    if (error) errno = error;
    return error != 0;
}

/* The value of a call, which is made again while signals interrupt it. */
#define CALL(result, which, bytes, expression)                            \
    do (result) = fails((which), (bytes)) ? -1 : (expression);            \
    while ((result) < 0 && errno == EINTR)

int tsri_sys_open(const char *path, int flags, unsigned mode)
{
    int file;
    CALL(file, TSRI_OPEN, NULL, open(path, flags | O_CLOEXEC | O_NOCTTY, (mode_t)mode));
    return file;
}

/* Also where the call is interrupted, the descriptor is closed. */
int tsri_sys_close(int file)
{
    const bool failed = fails(TSRI_CLOSE, NULL);
    const int error = failed ? errno : 0, result = close(file);
    if (failed) errno = error;
    return (failed || result != 0) && errno != EINTR ? -1 : 0;
}

int tsri_sys_stat(const char *path, struct stat *out)
{
    int result;
    CALL(result, TSRI_STAT, NULL, stat(path, out));
    return result;
}

int tsri_sys_fstat(int file, struct stat *out)
{
    int result;
    CALL(result, TSRI_STAT, NULL, fstat(file, out));
    return result;
}

int64_t tsri_sys_read(int file, void *dst, size_t bytes)
{
    int64_t n;
    CALL(n, TSRI_READ, &bytes, read(file, dst, bytes));
    return n;
}

int64_t tsri_sys_pread(int file, void *dst, size_t bytes, uint64_t at)
{
    int64_t n;
    CALL(n, TSRI_READ, &bytes, pread(file, dst, bytes, (off_t)at));
    return n;
}

int64_t tsri_sys_write(int file, const void *data, size_t bytes)
{
    int64_t n;
    CALL(n, TSRI_WRITE, &bytes, write(file, data, bytes));
    return n;
}

int64_t tsri_sys_pwrite(int file, const void *data, size_t bytes, uint64_t at)
{
    int64_t n;
    CALL(n, TSRI_WRITE, &bytes, pwrite(file, data, bytes, (off_t)at));
    return n;
}

void *tsri_sys_map(int file, size_t bytes, uint64_t at, bool writable)
{
    const int access = writable ? PROT_READ | PROT_WRITE : PROT_READ;
    if (fails(TSRI_MAP, NULL)) return NULL;
    void *base = mmap(NULL, bytes, access, MAP_PRIVATE | MAP_NORESERVE, file, (off_t)at);
    return base == MAP_FAILED ? NULL : base;
}

void tsri_sys_unmap(void *base, size_t bytes) { (void)munmap(base, bytes); }

int tsri_sys_sync(int file)
{
    int result;
    CALL(result, TSRI_SYNC, NULL, fsync(file));
    return result;
}

int tsri_sys_truncate(int file, uint64_t size)
{
    int result;
    CALL(result, TSRI_TRUNCATE, NULL, ftruncate(file, (off_t)size));
    return result;
}

int tsri_sys_rename(const char *from, const char *to)
{
    int result;
    CALL(result, TSRI_RENAME, NULL, rename(from, to));
    return result;
}

int tsri_sys_unlink(const char *path)
{
    int result;
    CALL(result, TSRI_UNLINK, NULL, unlink(path));
    return result;
}

int tsri_sys_chmod(int file, unsigned mode)
{
    int result;
    CALL(result, TSRI_CHMOD, NULL, fchmod(file, (mode_t)mode));
    return result;
}

int tsri_sys_link(int file, const char *path)
{
#ifdef O_TMPFILE
    char own[40];
    int result;
    (void)snprintf(own, sizeof own, "/proc/self/fd/%d", file);
    CALL(result, TSRI_LINK, NULL, linkat(AT_FDCWD, own, AT_FDCWD, path, AT_SYMLINK_FOLLOW));
    return result;
#else
    (void)file; (void)path;
    errno = ENOSYS;
    return -1;
#endif
}

int tsri_sys_space(int file, uint64_t *out)
{
    struct statvfs fs;
    int result;
    CALL(result, TSRI_SPACE, NULL, fstatvfs(file, &fs));
    if (result != 0) return result;
    if (__builtin_mul_overflow((uint64_t)fs.f_bavail, (uint64_t)fs.f_frsize, out)) *out = UINT64_MAX;
    return 0;
}

char *tsri_sys_resolve(const char *path, char *out)
{
    int result;
    CALL(result, TSRI_RESOLVE, NULL, realpath(path, out) ? 0 : -1);
    return result == 0 ? out : NULL;
}

#endif
