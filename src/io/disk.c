/* disk.c - sources and sinks on a POSIX system; without files only bytes in memory. */
#if !defined(TSR_FREESTANDING) && !defined(TSR_NO_FILES)
#define _GNU_SOURCE 1
#define _FILE_OFFSET_BITS 64
#endif
#include "core/alloc.h"
#include "core/text.h"
#include "core/mem.h"
#include "core/posix.h"
#include "core/storage.h"
#include "disk.h"
#include "core/threads_int.h"

void tsri_source_open_bytes(tsri_source *s, const void *data, size_t bytes, const char *name)
{
    *s = (tsri_source){ .path = name, .size = bytes, .file = -1, .base = data, .lock = TSRI_MUTEX_INIT };
}

/* Bytes of one read: with larger ones, threads that are done would wait for a slow disk; with smaller ones,
 * the calls would take time. */
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

#if defined(TSR_NO_FILES) || !defined(TSRI_POSIX)

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

tsr_status tsri_sink_rename(tsri_sink *s, const char *name)
{
    (void)s; (void)name;
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
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/system.h"
#include "temporaries.h"

/* Sources ------------------------------------------------------------------------------ */

/* What comes out of a pipe, in memory that grows as it comes. */
static tsr_status read_pipe(tsri_source *s, int file)
{
    size_t room = 1 << 16, used = 0;
    tsr_storage *storage = NULL, *grown = NULL;
    tsr_status status = tsr_storage_create(&storage, room, TSR_CPU, TSR_MEMORY_HOST);
    while (status == TSR_OK) {
        const int64_t n = tsri_sys_read(file, (char *)tsr_storage_data(storage) + used, room - used);
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

/* Does the path stand for a descriptor that the program was given? */
static bool names_descriptor(const char *path)
{
    return strcmp(path, "/dev/stdin") == 0 || strncmp(path, "/dev/fd/", 8) == 0 ||
           strncmp(path, "/proc/self/fd/", 14) == 0;
}

static const char *kind_of(mode_t mode)
{
    return S_ISDIR(mode) ? "a folder" : S_ISFIFO(mode) ? "a pipe" : "a device";
}

/* A file is regular: a pipe may keep its reader for ever, and a device never end. What was piped into
 * the program is another matter. */
static tsr_status look_at(tsri_source *s, int file)
{
    struct stat info = { 0 };  /* for sanitizers that do not know the call */
    TSRI_CHECK(tsri_sys_fstat(file, &info) == 0, TSR_EIO, "file_open: %s: %s", s->path, strerror(errno));
    if (S_ISREG(info.st_mode)) {
        s->size = (uint64_t)info.st_size;
        s->file = file;
        return TSR_OK;
    }
    TSRI_CHECK(names_descriptor(s->path) && !S_ISDIR(info.st_mode), TSR_EIO,
               "file_open: %s is %s; regular files are read, and pipes as /dev/stdin or /dev/fd/N", s->path,
               kind_of(info.st_mode));
    (void)fcntl(file, F_SETFL, O_RDONLY);  /* from now on it is waited for */
    return read_pipe(s, file);
}

tsr_status tsri_source_open(tsri_source *s, const char *path)
{
    *s = (tsri_source){ .path = path, .file = -1, .lock = TSRI_MUTEX_INIT };
    const int file = tsri_sys_open(path, O_RDONLY | O_NONBLOCK, 0); /* a pipe is refused, not waited for */
    TSRI_CHECK(file >= 0, TSR_EIO, "file_open: %s: %s", path, strerror(errno));
    const tsr_status status = look_at(s, file);
    if (s->file < 0) (void)tsri_sys_close(file);
    return status;
}

void tsri_source_close(tsri_source *s)
{
    tsr_storage_release(&s->storage);
    if (s->file >= 0) (void)tsri_sys_close(s->file);
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
        const int64_t n = tsri_sys_pread(s->file, p, bytes, offset);
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
    tsri_sys_unmap(data, bytes);
}

/* Maps the file copy-on-write; read-only if the system does not reserve that much memory. */
static tsr_status map_all(tsri_source *s)
{
    const size_t bytes = (size_t)s->size;
    bool readonly = false;
    void *base = tsri_sys_map(s->file, bytes, 0, true);
    if (!base) {
        readonly = true;
        base = tsri_sys_map(s->file, bytes, 0, false);
    }
    TSRI_CHECK(base, TSR_EIO, "file_read: %s: %s", s->path, strerror(errno));
    const tsr_status status = tsri_storage_foreign(&s->storage, base, bytes, TSR_CPU, TSR_MEMORY_FILE,
                                                   TSR_MAPPED, readonly, unmap, NULL, "file_read");
    if (status != TSR_OK) {
        tsri_sys_unmap(base, bytes);
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
    const char *name = tsri_sys_resolve(path, resolved);
    TSRI_CHECK(name || errno == ENOENT, TSR_EIO, "writer_create: %s: %s", path, strerror(errno));
    if (!name) name = path;
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

static void folder_of(char folder[TSRI_PATH], const char *path)
{
    size_t n = folder_length(path);
    if (n == 0) folder[n++] = '.';
    else        memcpy(folder, path, n);
    folder[n] = '\0';
}

static void name_temporary(tsri_sink *s, unsigned attempt)
{
    const size_t folder = folder_length(s->path);
    tsri_text text = tsri_text_into(s->temporary, TSRI_PATH);
    tsri_put(&text, "%.*s.%.100s.%ld-%u.tmp", (int)folder, s->path, s->path + folder, (long)getpid(),
             attempt);
}

enum { ATTEMPTS = 10000 };

/* Blocks signals from before a file gets its name until the name is in the table of temporaries.h (or the
 * file is gone), so that a signal handler finds every file. */
static void hold_signals(sigset_t *before)
{
    sigset_t all;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, before);
}

static void release_signals(const sigset_t *before)
{
    const int error = errno;
    (void)pthread_sigmask(SIG_SETMASK, before, NULL);
    errno = error;
}

/* The permissions of the file until it takes its place: never more than those that it has there. */
static unsigned first_mode(const tsri_sink *s) { return s->replaces ? 0600 : 0666; }

/* A file without a name: whatever ends the program, nothing of it is left. -1 where there are none. */
static int open_nameless(const tsri_sink *s)
{
#ifdef O_TMPFILE
    char folder[TSRI_PATH];
    folder_of(folder, s->path);
    return tsri_sys_open(folder, O_TMPFILE | O_RDWR, first_mode(s));
#else
    (void)s;
    return -1;
#endif
}

static int open_named(tsri_sink *s)
{
    sigset_t before;
    int file = -1;
    hold_signals(&before);
    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
        name_temporary(s, attempt);
        file = tsri_sys_open(s->temporary, O_RDWR | O_CREAT | O_EXCL, first_mode(s));
        if (file >= 0 || errno != EEXIST) break;
    }
    s->named = file >= 0;
    if (s->named) s->slot = tsri_temporary_add(s->temporary);
    release_signals(&before);
    return file;
}

/* A new file beside the path, with the rights of the one it will replace. */
static tsr_status create_beside(tsri_sink *s)
{
    struct stat old = { 0 };  /* for sanitizers that do not know the call */
    s->replaces = tsri_sys_stat(s->path, &old) == 0;
    if (!s->replaces && errno != ENOENT) return write_failed(s, "look at what is there");
    TSRI_CHECK(!s->replaces || S_ISREG(old.st_mode), TSR_EIO, "writer_create: %s is no regular file",
               s->path);
    s->file = open_nameless(s);
    if (s->file < 0) s->file = open_named(s);
    if (s->file < 0) return write_failed(s, "create a file beside it");
    s->mode = s->replaces ? old.st_mode & 0777 : 0;
    if (s->replaces) (void)tsri_sys_chmod(s->file, s->mode); /* some file systems have no rights */
    return TSR_OK;
}

/* Streams --------------------------------------------------------------------------------- */

/* The descriptor that a path of a stream stands for; -1 if it is no such path. One of many zeros is none
 * either: the sink keeps the path. */
static int stream_of(const char *path)
{
    enum { LONGEST = 64 };
    static const char before[] = "/dev/fd/";
    int n = 0;
    if (strcmp(path, "/dev/stdout") == 0) return 1;
    if (strncmp(path, before, sizeof before - 1) != 0 || !path[sizeof before - 1]) return -1;
    if (strlen(path) > LONGEST) return -1;
    for (const char *p = path + sizeof before - 1; *p; p++) {
        if (*p < '0' || *p > '9' || n > 99999) return -1;
        n = n * 10 + (*p - '0');
    }
    return n;
}

static tsr_status open_stream(tsri_sink *s, const char *path, int file, char *final_path)
{
    struct stat info = { 0 };  /* for sanitizers that do not know the call */
    memcpy(final_path, path, strlen(path) + 1);
    TSRI_CHECK(tsri_sys_fstat(file, &info) == 0, TSR_EIO, "writer_create: %s: %s", path, strerror(errno));
    TSRI_CHECK(!isatty(file), TSR_EIO, "writer_create: %s is a terminal; send it to a file or a program",
               path);
    s->stream = true;
    s->file = file;
    return TSR_OK;
}

static tsr_status write_in_order(tsri_sink *s, const void *data, size_t bytes)
{
    for (const char *p = data; bytes > 0;) {
        const int64_t n = tsri_sys_write(s->file, p, bytes);
        if (n <= 0) return write_failed(s, "write");
        p += n;
        bytes -= (size_t)n;
        s->size += (uint64_t)n;
    }
    return TSR_OK;
}

static tsr_status no_way_back(const tsri_sink *s)
{
    return tsri_fail(TSR_EUNSUPPORTED, "writer: %s takes bytes in order, and an earlier one is to change",
                     s->path);
}

/* Zeros up to byte `at`, which was not passed yet. */
static tsr_status fill_stream(tsri_sink *s, uint64_t at)
{
    static const char zeros[4096];
    if (at < s->size) return no_way_back(s);
    while (s->size < at) {
        const uint64_t left = at - s->size;
        TSRI_TRY(write_in_order(s, zeros, left < sizeof zeros ? (size_t)left : sizeof zeros));
    }
    return TSR_OK;
}

tsr_status tsri_sink_create(tsri_sink *s, const char *path, bool sync, char *final_path, char *temporary)
{
    *s = (tsri_sink){ .file = -1, .sync = sync, .path = final_path, .temporary = temporary };
    const int stream = stream_of(path);
    if (stream >= 0) return open_stream(s, path, stream, final_path);
    TSRI_TRY(real_name(final_path, path));
    return create_beside(s);
}

/* In pieces: of what is mapped and was not touched yet, the system copies many pages at a time slowly. */
static tsr_status write_to(const tsri_sink *s, int file, uint64_t at, const void *data, size_t bytes)
{
    enum { PIECE = 1 << 20 };
    for (const char *p = data; bytes > 0;) {
        const int64_t n = tsri_sys_pwrite(file, p, bytes < PIECE ? bytes : PIECE, at);
        if (n <= 0) return write_failed(s, "write");
        p += n;
        bytes -= (size_t)n;
        at += (uint64_t)n;
    }
    return TSR_OK;
}

tsr_status tsri_sink_write(tsri_sink *s, uint64_t at, const void *data, size_t bytes)
{
    if (s->stream) {
        TSRI_TRY(fill_stream(s, at));
        return write_in_order(s, data, bytes);
    }
    TSRI_TRY(write_to(s, s->file, at, data, bytes));
    if (at + bytes > s->size) s->size = at + bytes;
    return TSR_OK;
}

tsr_status tsri_sink_check_room(const tsri_sink *s, uint64_t bytes)
{
    uint64_t available;
    if (s->stream || tsri_sys_space(s->file, &available) != 0) return TSR_OK;  /* the write will tell */
    TSRI_CHECK(bytes <= available, TSR_EIO,
               "writer: %s: %llu bytes are to be written, and %llu are free there", s->path,
               (unsigned long long)bytes, (unsigned long long)available);
    return TSR_OK;
}

/* Bytes of the sink's own, into another file or elsewhere in it. */
static tsr_status copy_range(const tsri_sink *s, int file, uint64_t from, uint64_t to, size_t bytes,
                             char *scratch)
{
    for (size_t done = 0; done < bytes;) {
        const int64_t n = tsri_sys_pread(s->file, scratch + done, bytes - done, from + done);
        if (n < 0) return write_failed(s, "read back");
        TSRI_CHECK(n > 0, TSR_EIO, "writer: %s: cannot read back: it was cut short while it was written",
                   s->path);
        done += (size_t)n;
    }
    return write_to(s, file, to, scratch, bytes);
}

/* From the end backwards, so that nothing is written over before it is read. */
tsr_status tsri_sink_move(tsri_sink *s, uint64_t from, uint64_t to, uint64_t bytes, void *scratch,
                          size_t room)
{
    if (s->stream) return no_way_back(s);
    for (uint64_t left = bytes; left > 0;) {
        const size_t piece = left < room ? (size_t)left : room;
        left -= piece;
        TSRI_TRY(copy_range(s, s->file, from + left, to + left, piece, scratch));
    }
    if (bytes) s->size = to + bytes;
    return TSR_OK;
}

tsr_status tsri_sink_cut(tsri_sink *s, uint64_t size)
{
    if (s->stream) {
        s->promised = size;
        return size < s->size ? no_way_back(s) : TSR_OK;
    }
    if (tsri_sys_truncate(s->file, size) != 0) return write_failed(s, "set its length");
    s->size = size;
    return TSR_OK;
}

/* Taking its place ----------------------------------------------------------------------- */

/* The folder holds the name: without this a crash may lose the rename. The file is in its place, so
 * that a folder which cannot be synced is no failure. */
static void sync_folder(const char *path)
{
    char folder[TSRI_PATH];
    folder_of(folder, path);
    const int file = tsri_sys_open(folder, O_RDONLY | O_DIRECTORY, 0);
    if (file < 0) return;
    (void)tsri_sys_sync(file);
    (void)tsri_sys_close(file);
}

static void forget_name(tsri_sink *s)
{
    tsri_temporary_forget(s->slot, s->temporary);
    s->named = false;
}

static tsr_status place_named(tsri_sink *s)
{
    const int file = s->file;
    s->file = -1;
    if (tsri_sys_close(file) != 0) return write_failed(s, "write");
    if (tsri_sys_rename(s->temporary, s->path) != 0) return write_failed(s, "put it in its place");
    forget_name(s);
    return TSR_OK;
}

/* Only a file with a name can replace another. */
static bool link_and_rename(tsri_sink *s)
{
    int result = -1;
    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
        name_temporary(s, attempt);
        result = tsri_sys_link(s->file, s->temporary);
        if (result == 0 || errno != EEXIST) break;
    }
    if (result != 0) return false;
    if (tsri_sys_rename(s->temporary, s->path) == 0) return true;
    const int error = errno;
    (void)tsri_sys_unlink(s->temporary);
    errno = error;
    return false;
}

static bool link_nameless(tsri_sink *s)
{
    sigset_t before;
    hold_signals(&before);
    const bool linked = (!s->replaces && tsri_sys_link(s->file, s->path) == 0) || link_and_rename(s);
    release_signals(&before);
    return linked;
}

static tsr_status copy_all(const tsri_sink *s, int file, char *scratch, size_t room)
{
    for (uint64_t done = 0; done < s->size;) {
        const size_t piece = s->size - done < room ? (size_t)(s->size - done) : room;
        TSRI_TRY(copy_range(s, file, done, done, piece, scratch));
        done += piece;
    }
    if (s->sync && tsri_sys_sync(file) != 0) return write_failed(s, "bring it to the disk");
    return TSR_OK;
}

/* Copies the nameless file, which could not be given a name, into a new one that has one. */
static tsr_status become_named(tsri_sink *s)
{
    enum { ROOM = 1 << 20 };
    char *scratch = tsri_scratch(ROOM);
    TSRI_CHECK(scratch, TSR_ENOMEM, "writer_finish: %s: no room", s->path);
    const int file = open_named(s), nameless = s->file;
    if (file < 0) {
        tsri_free(scratch, ROOM);
        return write_failed(s, "create a file beside it");
    }
    if (s->replaces) (void)tsri_sys_chmod(file, s->mode);
    const tsr_status status = copy_all(s, file, scratch, ROOM);
    tsri_free(scratch, ROOM);
    s->file = file;
    (void)tsri_sys_close(nameless);
    return status;
}

static tsr_status place_nameless(tsri_sink *s)
{
    if (!link_nameless(s)) {
        TSRI_TRY(become_named(s));
        return place_named(s);
    }
    (void)tsri_sys_close(s->file);  /* synced already, if that was wanted */
    s->file = -1;
    return TSR_OK;
}

static tsr_status place(tsri_sink *s)
{
    if (s->sync && tsri_sys_sync(s->file) != 0) return write_failed(s, "bring it to the disk");
    return s->named ? place_named(s) : place_nameless(s);
}

tsr_status tsri_sink_rename(tsri_sink *s, const char *name)
{
    struct stat old = { 0 };  /* for sanitizers that do not know the call */
    char *path = (char *)(uintptr_t)s->path;  /* of TSRI_PATH bytes, the writer's */
    const size_t folder = folder_length(path), length = strlen(name);
    TSRI_CHECK(folder + length + 48 < TSRI_PATH, TSR_EINVAL, "writer: a path of %zu bytes", folder + length);
    memcpy(path + folder, name, length + 1);
    s->replaces = tsri_sys_stat(path, &old) == 0;
    if (!s->replaces && errno != ENOENT) return write_failed(s, "look at what is there");
    TSRI_CHECK(!s->replaces || S_ISREG(old.st_mode), TSR_EIO, "writer_finish: %s is no regular file", path);
    s->mode = s->replaces ? old.st_mode & 0777 : s->mode;
    if (s->replaces) (void)tsri_sys_chmod(s->file, s->mode);
    return TSR_OK;
}

tsr_status tsri_sink_commit(tsri_sink *s)
{
    if (s->stream) return fill_stream(s, s->promised > s->size ? s->promised : s->size);
    const tsr_status status = place(s);
    if (status == TSR_OK && s->sync) sync_folder(s->path);
    tsri_sink_remove(s);
    return status;
}

void tsri_sink_remove(tsri_sink *s)
{
    if (s->file >= 0 && !s->stream) (void)tsri_sys_close(s->file);
    s->file = -1;
    if (!s->named) return;
    (void)tsri_sys_unlink(s->temporary);
    forget_name(s);
}

#endif
