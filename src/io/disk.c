/* disk.c - sources and sinks on a POSIX system; without files only bytes in memory. */
#if !defined(TSR_FREESTANDING) && !defined(TSR_NO_FILES)
#define _GNU_SOURCE 1
#define _FILE_OFFSET_BITS 64
#endif
#include "core/alloc.h"
#include "core/format.h"
#include "core/mem.h"
#include "core/storage.h"
#include "disk.h"
#include "core/threads_int.h"

void tsri_source_open_bytes(tsri_source *s, const void *data, size_t bytes, const char *name)
{
    *s = (tsri_source){ .path = name, .size = bytes, .file = -1, .base = data, .lock = TSRI_MUTEX_INIT };
}

/* Without a limit on one read a slow disk would stop other threads' progress, and with
 * small ones the calls would cost. */
enum { WIDE_PIECE = 4 << 20 };

typedef struct wide_read { const tsri_source *source; char *dst; uint64_t offset; size_t bytes; } wide_read;

static tsr_status read_pieces(void *context, int64_t begin, int64_t end)
{
    const wide_read *r = context;
    const size_t from = (size_t)begin * WIDE_PIECE;
    size_t to = (size_t)end * WIDE_PIECE;
    if (to > r->bytes) to = r->bytes;
    return tsri_source_read(r->source, r->dst + from, r->offset + from, to - from);
}

tsr_status tsri_source_read_wide(const tsri_source *s, void *dst, uint64_t offset, size_t bytes)
{
    wide_read r = { s, dst, offset, bytes };
    return tsri_parallel_for((int64_t)((bytes + WIDE_PIECE - 1) / WIDE_PIECE), 1, read_pieces, &r);
}

#if defined(TSR_NO_FILES) || !defined(__unix__)

tsr_status tsri_source_open(tsri_source *s, const char *path)
{
    *s = (tsri_source){ .file = -1 };
    return tsri_fail(TSR_EUNSUPPORTED, "file_open: %s: this build has no files", path);
}

void tsri_source_close(tsri_source *s) { tsri_source_open_bytes(s, NULL, 0, s->path); }

tsr_status tsri_source_read(const tsri_source *s, void *dst, uint64_t offset, size_t bytes)
{
    if (bytes) memcpy(dst, s->base + offset, bytes);
    return TSR_OK;
}

tsr_status tsri_source_map(tsri_source *s)
{
    (void)s;
    return TSR_OK;
}

tsr_status tsri_sink_create(tsri_sink *s, const char *path, bool sync, char *final_path, char *temporary)
{
    (void)sync; (void)final_path; (void)temporary;
    s->file = -1;
    return tsri_fail(TSR_EUNSUPPORTED, "writer_create: %s: this build has no files", path);
}

tsr_status tsri_sink_write(tsri_sink *s, uint64_t at, const void *data, size_t bytes)
{
    (void)s; (void)at; (void)data; (void)bytes;
    return TSR_EUNSUPPORTED;
}

tsr_status tsri_sink_check_room(const tsri_sink *s, uint64_t bytes)
{
    (void)s; (void)bytes;
    return TSR_EUNSUPPORTED;
}

tsr_status tsri_sink_move(tsri_sink *s, uint64_t from, uint64_t to, uint64_t bytes, void *scratch,
                          size_t room)
{
    (void)s; (void)from; (void)to; (void)bytes; (void)scratch; (void)room;
    return TSR_EUNSUPPORTED;
}

tsr_status tsri_sink_cut(tsri_sink *s, uint64_t size)
{
    (void)s; (void)size;
    return TSR_EUNSUPPORTED;
}

tsr_status tsri_sink_commit(tsri_sink *s)
{
    (void)s;
    return TSR_EUNSUPPORTED;
}

void tsri_sink_remove(tsri_sink *s) { (void)s; }

#else

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h> /* rename */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Sources ------------------------------------------------------------------------------ */

/* What comes out of a pipe, in memory that grows as it comes. */
static tsr_status read_pipe(tsri_source *s, int file)
{
    size_t room = 1 << 16, used = 0;
    tsr_storage *storage = NULL, *grown = NULL;
    tsr_status status = tsr_storage_create(&storage, room, TSR_CPU, TSR_MEMORY_HOST);
    while (status == TSR_OK) {
        const ssize_t n = read(file, (char *)tsr_storage_data(storage) + used, room - used);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) status = tsri_fail(TSR_EIO, "file_open: %s: %s", s->path, strerror(errno));
        if (n <= 0) break;
        used += (size_t)n;
        if (used < room) continue;
        status = tsr_storage_create(&grown, room * 2, TSR_CPU, TSR_MEMORY_HOST);
        if (status != TSR_OK) break;
        memcpy(tsr_storage_data(grown), tsr_storage_data(storage), used);
        tsr_storage_release(&storage);
        storage = grown;
        grown = NULL;
        room *= 2;
    }
    if (status != TSR_OK) {
        tsr_storage_release(&storage);
        return status;
    }
    s->storage = storage;
    s->base = tsr_storage_data(storage);
    s->size = used;
    return TSR_OK;
}

static tsr_status look_at(tsri_source *s, int file)
{
    struct stat info;
    TSRI_CHECK(fstat(file, &info) == 0, TSR_EIO, "file_open: %s: %s", s->path, strerror(errno));
    TSRI_CHECK(!S_ISDIR(info.st_mode), TSR_EIO, "file_open: %s is a folder", s->path);
    if (!S_ISREG(info.st_mode)) return read_pipe(s, file);
    s->size = (uint64_t)info.st_size;
    s->file = file;
    return TSR_OK;
}

tsr_status tsri_source_open(tsri_source *s, const char *path)
{
    *s = (tsri_source){ .path = path, .file = -1, .lock = TSRI_MUTEX_INIT };
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    TSRI_CHECK(file >= 0, TSR_EIO, "file_open: %s: %s", path, strerror(errno));
    const tsr_status status = look_at(s, file);
    if (s->file < 0) (void)close(file);
    return status;
}

void tsri_source_close(tsri_source *s)
{
    tsr_storage_release(&s->storage);
    if (s->file >= 0) (void)close(s->file);
    s->file = -1;
    s->base = NULL;
}

tsr_status tsri_source_read(const tsri_source *s, void *dst, uint64_t offset, size_t bytes)
{
    if (s->file < 0) {
        if (bytes) memcpy(dst, s->base + offset, bytes);
        return TSR_OK;
    }
    for (char *p = dst; bytes > 0;) {
        const ssize_t n = pread(s->file, p, bytes, (off_t)offset);
        if (n < 0 && errno == EINTR) continue;
        TSRI_CHECK(n >= 0, TSR_EIO, "file_read: %s: %s", s->path, strerror(errno));
        TSRI_CHECK(n > 0, TSR_EFORMAT, "file_read: %s: ends at byte %llu; it was cut short while open",
                   s->path, (unsigned long long)offset);
        p += n;
        bytes -= (size_t)n;
        offset += (uint64_t)n;
    }
    return TSR_OK;
}

static void unmap(void *context, void *data, size_t bytes)
{
    (void)context;
    (void)munmap(data, bytes);
}

/* Pages of the program's own where it writes; where the system will not promise so many,
 * read-only ones. */
static tsr_status map_all(tsri_source *s)
{
    const size_t bytes = (size_t)s->size;
    bool readonly = false;
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, s->file, 0);
    if (base == MAP_FAILED) {
        readonly = true;
        base = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_NORESERVE, s->file, 0);
    }
    TSRI_CHECK(base != MAP_FAILED, TSR_EIO, "file_read: %s: %s", s->path, strerror(errno));
    const tsr_status status = tsri_storage_foreign(&s->storage, base, bytes, TSR_CPU, TSR_MEMORY_FILE,
                                                   TSR_MAPPED, readonly, unmap, NULL, "file_read");
    if (status != TSR_OK) {
        (void)munmap(base, bytes);
        return status;
    }
    s->base = base;
    return TSR_OK;
}

tsr_status tsri_source_map(tsri_source *s)
{
    tsr_status status = TSR_OK;
    tsri_lock(&s->lock);
    if (!s->base && s->size > 0) status = map_all(s);
    tsri_unlock(&s->lock);
    return status;
}

/* Sinks -------------------------------------------------------------------------------- */

static tsr_status write_failed(const tsri_sink *s, const char *what)
{
    return tsri_fail(TSR_EIO, "writer: %s: cannot %s: %s", s->path, what, strerror(errno));
}

/* The file that a name stands for: a link is followed, so that the link stays one. */
static tsr_status real_name(char *out, const char *path)
{
    char resolved[PATH_MAX];
    const char *name = realpath(path, resolved) ? resolved : path;
    const size_t length = strlen(name);
    TSRI_CHECK(length > 0 && length + 48 < TSRI_PATH, TSR_EINVAL,
               "writer_create: a path of %zu bytes; between 1 and %d are taken", length, TSRI_PATH - 48);
    memcpy(out, name, length + 1);
    return TSR_OK;
}

static size_t folder_length(const char *path)
{
    size_t n = 0;
    for (size_t i = 0; path[i]; i++)
        if (path[i] == '/') n = i + 1;
    return n;
}

/* A new file beside the path, with the rights of the one it will replace. */
static tsr_status create_beside(tsri_sink *s, char *temporary)
{
    struct stat old;
    const bool replaces = stat(s->path, &old) == 0;
    TSRI_CHECK(!replaces || S_ISREG(old.st_mode), TSR_EIO, "writer_create: %s is no regular file", s->path);
    const size_t folder = folder_length(s->path);
    for (unsigned attempt = 0; attempt < 10000; attempt++) {
        tsri_text text = tsri_text_into(temporary, TSRI_PATH);
        tsri_put(&text, "%.*s.%.100s.%ld-%u.tmp", (int)folder, s->path, s->path + folder, (long)getpid(),
                 attempt);
        s->file = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (s->file >= 0 || errno != EEXIST) break;
    }
    if (s->file < 0) return write_failed(s, "create a file beside it");
    if (replaces) (void)fchmod(s->file, old.st_mode & 07777);
    return TSR_OK;
}

tsr_status tsri_sink_create(tsri_sink *s, const char *path, bool sync, char *final_path, char *temporary)
{
    *s = (tsri_sink){ .file = -1, .sync = sync, .path = final_path, .temporary = temporary };
    TSRI_TRY(real_name(final_path, path));
    return create_beside(s, temporary);
}

tsr_status tsri_sink_write(tsri_sink *s, uint64_t at, const void *data, size_t bytes)
{
    for (const char *p = data; bytes > 0;) {
        const ssize_t n = pwrite(s->file, p, bytes, (off_t)at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return write_failed(s, "write");
        p += n;
        bytes -= (size_t)n;
        at += (uint64_t)n;
        if (at > s->size) s->size = at;
    }
    return TSR_OK;
}

tsr_status tsri_sink_check_room(const tsri_sink *s, uint64_t bytes)
{
    struct statvfs fs;
    if (fstatvfs(s->file, &fs) != 0) return TSR_OK;  /* no answer: the write will tell */
    const uint64_t block = fs.f_frsize ? fs.f_frsize : 1;
    TSRI_CHECK((bytes + block - 1) / block <= fs.f_bavail, TSR_EIO,
               "writer: %s: %llu bytes are to be written, and %llu are free there", s->path,
               (unsigned long long)bytes, (unsigned long long)(fs.f_bavail * block));
    return TSR_OK;
}

static tsr_status copy_range(tsri_sink *s, uint64_t from, uint64_t to, size_t bytes, char *scratch)
{
    for (size_t done = 0; done < bytes;) {
        const ssize_t n = pread(s->file, scratch + done, bytes - done, (off_t)(from + done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return write_failed(s, "read back");
        done += (size_t)n;
    }
    return tsri_sink_write(s, to, scratch, bytes);
}

/* From the end backwards when it moves up, so that nothing is written over before it is read. */
tsr_status tsri_sink_move(tsri_sink *s, uint64_t from, uint64_t to, uint64_t bytes, void *scratch,
                          size_t room)
{
    for (uint64_t done = 0; done < bytes && from != to;) {
        const size_t piece = bytes - done < room ? (size_t)(bytes - done) : room;
        const uint64_t at = to > from ? bytes - done - piece : done;
        TSRI_TRY(copy_range(s, from + at, to + at, piece, scratch));
        done += piece;
    }
    return TSR_OK;
}

tsr_status tsri_sink_cut(tsri_sink *s, uint64_t size)
{
    int result;
    do result = ftruncate(s->file, (off_t)size);
    while (result != 0 && errno == EINTR);
    if (result != 0) return write_failed(s, "set its length");
    s->size = size;
    return TSR_OK;
}

/* The folder holds the name: without this a crash may lose the rename. */
static void sync_folder(const char *path)
{
    char folder[TSRI_PATH];
    size_t n = folder_length(path);
    if (n == 0) folder[n++] = '.';
    else        memcpy(folder, path, n);
    folder[n] = '\0';
    const int file = open(folder, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
    if (file < 0) return;
    (void)fsync(file);
    (void)close(file);
}

tsr_status tsri_sink_commit(tsri_sink *s)
{
    if (s->sync && fsync(s->file) != 0) return write_failed(s, "bring it to the disk");
    const int file = s->file;
    s->file = -1;
    if (close(file) != 0 || rename(s->temporary, s->path) != 0) {
        const tsr_status status = write_failed(s, "put it in its place");
        (void)unlink(s->temporary);
        return status;
    }
    if (s->sync) sync_folder(s->path);
    return TSR_OK;
}

void tsri_sink_remove(tsri_sink *s)
{
    if (s->file < 0) return;
    (void)close(s->file);
    (void)unlink(s->temporary);
    s->file = -1;
}

#endif
