/* mapping.c - files as storages. */
#if !defined(TSR_FREESTANDING) && !defined(TSR_NO_FILES)
#define _DEFAULT_SOURCE 1
#define _FILE_OFFSET_BITS 64
#endif
#include "posix.h"
#include "storage.h"

#if defined(TSR_NO_FILES) || !defined(TSRI_POSIX)

tsr_status tsr_storage_map_file(tsr_storage **out, const char *path, uint64_t offset, size_t bytes,
                                tsr_map_mode mode)
{
    (void)offset; (void)bytes; (void)mode;
    TSRI_CHECK(out, TSR_ENULL, "map_file: out is NULL");
    TSRI_CHECK(path, TSR_ENULL, "map_file: path is NULL");
    TSRI_CHECK(false, TSR_EUNSUPPORTED, "map_file: %s: this build has no files", path);
}

#else

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system.h"

/* The mapping begins on a page, the data some bytes into it. */
static void unmap(void *context, void *data, size_t bytes)
{
    const size_t into = (size_t)(uintptr_t)context;
    tsri_sys_unmap((char *)data - into, bytes + into);
}

/* How many bytes to map: as many as were asked for, or for 0 all up to the end of the file. */
static tsr_status range_in_file(size_t *out, int file, const char *path, uint64_t offset, size_t bytes)
{
    struct stat info = { 0 };  /* for sanitizers that do not know the call */
    TSRI_CHECK(tsri_sys_fstat(file, &info) == 0, TSR_EIO, "map_file: %s: %s", path, strerror(errno));
    TSRI_CHECK(S_ISREG(info.st_mode), TSR_EIO, "map_file: %s is no regular file", path);
    const uint64_t size = (uint64_t)info.st_size;
    TSRI_CHECK(offset <= size && bytes <= size - offset, TSR_EBOUNDS,
               "map_file: %zu bytes from %llu on leave %s, which has %llu", bytes, (unsigned long long)offset,
               path, (unsigned long long)size);
    *out = bytes ? bytes : (size_t)(size - offset);
    return TSR_OK;
}

static tsr_status map_open_file(tsr_storage **out, int file, const char *path, uint64_t offset, size_t bytes,
                                tsr_map_mode mode)
{
    TSRI_TRY(range_in_file(&bytes, file, path, offset, bytes));
    const bool writable = mode == TSR_MAP_COPY_ON_WRITE;
    if (bytes == 0)  /* nothing can be mapped, and nothing need be */
        return tsri_storage_foreign(out, NULL, 0, TSR_CPU, TSR_MEMORY_FILE, TSR_MAPPED, !writable, NULL, NULL,
                                    "map_file");
    const size_t into = (size_t)(offset % (uint64_t)sysconf(_SC_PAGESIZE));
    void *base = tsri_sys_map(file, bytes + into, offset - into, writable);
    TSRI_CHECK(base, TSR_EIO, "map_file: %s: %s", path, strerror(errno));
    const tsr_status s =
        tsri_storage_foreign(out, (char *)base + into, bytes, TSR_CPU, TSR_MEMORY_FILE, TSR_MAPPED, !writable,
                             unmap, (void *)(uintptr_t)into, "map_file");
    if (s != TSR_OK) tsri_sys_unmap(base, bytes + into);
    return s;
}

tsr_status tsr_storage_map_file(tsr_storage **out, const char *path, uint64_t offset, size_t bytes,
                                tsr_map_mode mode)
{
    TSRI_CHECK(out, TSR_ENULL, "map_file: out is NULL");
    TSRI_CHECK(path, TSR_ENULL, "map_file: path is NULL");
    TSRI_CHECK(mode == TSR_MAP_READ || mode == TSR_MAP_COPY_ON_WRITE, TSR_EINVAL, "map_file: %d is no mode",
               (int)mode);
    const int file = tsri_sys_open(path, O_RDONLY | O_NONBLOCK, 0); /* a pipe is refused, not waited for */
    TSRI_CHECK(file >= 0, TSR_EIO, "map_file: %s: %s", path, strerror(errno));
    const tsr_status s = map_open_file(out, file, path, offset, bytes, mode);
    (void)tsri_sys_close(file);
    return s;
}

#endif
