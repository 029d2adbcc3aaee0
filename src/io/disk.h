/* disk.h - bytes from files and into files: the only part of io that makes system calls.
 *
 * A source is a file, or bytes in memory, that can be read at any offset. Headers are read once into
 * memory of the library and checked there, so that a file that changes meanwhile does no harm.
 *
 * A sink is a file being written, under another name, or none, until it is complete. */
#ifndef TSRI_DISK_H
#define TSRI_DISK_H

#include "core/lock.h"
#include "tessera/memory.h"

/* Sources ------------------------------------------------------------------------------ */

typedef struct tsri_source {
    const char          *path;
    uint64_t             size;
    int                  file;      /* -1: bytes in memory */
    const unsigned char *base;      /* all the bytes, where they are in memory or mapped; else NULL */
    tsr_storage         *storage;   /* the owner of base; NULL if it is the caller's */
    tsri_mutex           lock;      /* of base and storage while the file is being mapped */
} tsri_source;

/* *s must be zeroed. Opens regular files, and what /dev/stdin and /dev/fd/N stand for: a pipe there is
 * read to its end. Other paths are refused without waiting. The source keeps a pointer to the path. */
tsr_status tsri_source_open(tsri_source *s, const char *path);
void       tsri_source_open_bytes(tsri_source *s, const void *data, size_t bytes, const char *name);
void       tsri_source_close(tsri_source *s);

/* Bytes [offset, offset + bytes), which lie in the source. TSR_EIO; TSR_EFORMAT if the file is
 * shorter than it was. */
tsr_status tsri_source_read(const tsri_source *s, void *dst, uint64_t offset, size_t bytes);

/* The same on several threads. */
tsr_status tsri_source_read_wide(const tsri_source *s, void *dst, uint64_t offset, size_t bytes);

/* All bytes in memory: maps a file at the first call. */
tsr_status tsri_source_map(tsri_source *s);

/* Sinks -------------------------------------------------------------------------------- */

typedef struct tsri_sink {
    int         file;       /* -1: none */
    bool        sync;
    bool        named;      /* the file is at `temporary`, listed in `slot` (temporaries.h); else: no name */
    bool        stream;     /* a descriptor that the program was given: written in order, and left open */
    bool        replaces;   /* there is a file at path, of permissions `mode` */
    unsigned    mode;
    int         slot;
    const char *path;       /* where it will be */
    char       *temporary;
    uint64_t    size;       /* one past the highest byte written */
    uint64_t    promised;   /* a stream: how long it is to be; zeros make up the rest */
} tsri_sink;

enum { TSRI_PATH = 4096 };

/* path and temporary: room for TSRI_PATH bytes each, filled here. /dev/stdout and /dev/fd/N are streams,
 * which can only be written in order; terminals are refused. */
tsr_status tsri_sink_create(tsri_sink *s, const char *path, bool sync, char *final_path, char *temporary);
tsr_status tsri_sink_write(tsri_sink *s, uint64_t at, const void *data, size_t bytes);

/* Changes the last name of s->path; the sink is not a stream. */
tsr_status tsri_sink_rename(tsri_sink *s, const char *name);

/* Is there room for this many bytes more? */
tsr_status tsri_sink_check_room(const tsri_sink *s, uint64_t bytes);

/* Moves the last bytes, which begin at `from`, up to `to`; scratch is `room` bytes. */
tsr_status tsri_sink_move(tsri_sink *s, uint64_t from, uint64_t to, uint64_t bytes, void *scratch,
                          size_t room);

/* Makes it `size` bytes long. */
tsr_status tsri_sink_cut(tsri_sink *s, uint64_t size);

/* commit puts the file in its place, remove deletes what was written. Both end the sink. */
tsr_status tsri_sink_commit(tsri_sink *s);
void       tsri_sink_remove(tsri_sink *s);

#endif
