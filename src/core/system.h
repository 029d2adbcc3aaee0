/* system.h - the system calls of everything that reads and writes files, in one place.
 *
 * Each is the call of its name, begun again when a signal interrupts it; on failure errno says
 * why. A test can make any of them fail, or read and write less than was asked for. */
#ifndef TSRI_SYSTEM_H
#define TSRI_SYSTEM_H

#include <stddef.h>
#include <stdint.h>

#include "posix.h"
#include "tessera/config.h"

typedef enum tsri_system_call {
    TSRI_OPEN, TSRI_CLOSE, TSRI_STAT, TSRI_READ, TSRI_WRITE, TSRI_MAP, TSRI_SYNC, TSRI_TRUNCATE,
    TSRI_RENAME, TSRI_LINK, TSRI_UNLINK, TSRI_CHMOD, TSRI_SPACE, TSRI_RESOLVE, TSRI_CALLS
} tsri_system_call;

/* For tests, NULL otherwise: called before each system call. Returns the errno to fail with, or 0; may lower
 * *bytes of a read or write, not to 0. A close that fails still closes. */
typedef int (*tsri_fault_fn)(tsri_system_call call, size_t *bytes);
extern tsri_fault_fn tsri_system_fault;

#if defined(TSRI_POSIX) && !defined(TSR_NO_FILES)

struct stat;

int     tsri_sys_open(const char *path, int flags, unsigned mode);
int     tsri_sys_close(int file);
int     tsri_sys_stat(const char *path, struct stat *out);
int     tsri_sys_fstat(int file, struct stat *out);

/* At most `bytes`; the number, 0 at the end, or -1. */
int64_t tsri_sys_read(int file, void *dst, size_t bytes);
int64_t tsri_sys_pread(int file, void *dst, size_t bytes, uint64_t at);
int64_t tsri_sys_write(int file, const void *data, size_t bytes);
int64_t tsri_sys_pwrite(int file, const void *data, size_t bytes, uint64_t at);

/* A private mapping; NULL on failure. */
void   *tsri_sys_map(int file, size_t bytes, uint64_t at, bool writable);
void    tsri_sys_unmap(void *base, size_t bytes);

int     tsri_sys_sync(int file);
int     tsri_sys_truncate(int file, uint64_t size);
int     tsri_sys_rename(const char *from, const char *to);
int     tsri_sys_unlink(const char *path);
int     tsri_sys_chmod(int file, unsigned mode);

/* A name for a file that has none (O_TMPFILE). ENOSYS where there are no such files. */
int     tsri_sys_link(int file, const char *path);

/* The bytes that are free where the file lies. */
int     tsri_sys_space(int file, uint64_t *out);

/* The path without links, in PATH_MAX bytes; NULL on failure. */
char   *tsri_sys_resolve(const char *path, char *out);

#endif
#endif
