/* memory.h - the bytes behind tensors: kinds, storages, the pool, and who holds what.
 *
 * A storage is a counted run of bytes on one device, of one memory kind, and the
 * only owner in the library. Tensors share storages; when the last one is released the
 * bytes are freed according to their origin:
 *
 *   owned      allocated here, from its kind
 *   borrowed   the caller's; nothing is freed
 *   adopted    the caller's until now; freed through the caller's function
 *   mapped     a file
 *
 * A kind says what sort of memory: host, page-aligned host, huge-page host, a
 * mapped file, a device's own, one that host and device share, or one that the
 * program registered with a name and an allocator of its own (PSRAM, shared
 * memory, an arena).
 */
#ifndef TESSERA_MEMORY_H
#define TESSERA_MEMORY_H

#include "device.h"

TSR_BEGIN_C

/* Kinds -------------------------------------------------------------------- */

typedef int32_t tsr_memory;

enum {
    TSR_MEMORY_HOST    = 0, /* aligned to a cache line (64 bytes); kept warm by the pool */
    TSR_MEMORY_ALIGNED = 1, /* aligned to a page (4096 bytes): direct I/O, mprotect, DMA */
    TSR_MEMORY_HUGE    = 2, /* aligned to 2 MiB, huge pages asked for */
    TSR_MEMORY_FILE    = 3, /* a mapped file; made by tsr_map_file only */
    TSR_MEMORY_DEVICE  = 4, /* a device's own; what HOST becomes on a device that is not the CPU */
    TSR_MEMORY_PINNED  = 5, /* the host's, kept in place for devices that copy by themselves */
    TSR_MEMORY_MANAGED = 6, /* a device's, reached from the host too */
    TSR_MEMORY_MEDIA   = 7, /* as MANAGED, aligned to 128 bytes, for image and video units */
    TSR_MEMORY_COUNT_BUILTIN = 8,
    TSR_MEMORY_DEFAULT = 0, /* the ordinary memory of the device asked for */
    TSR_MEMORY_MAX = 32     /* kinds there can be */
};

/* A kind of the program's own. Zeroed fields mean: cpu, alignment 64, no
 * context, not reachable from the host. */
typedef struct tsr_memory_kind {
    size_t      size;      /* sizeof(tsr_memory_kind) */
    const char *name;      /* letters, digits, '_' and '-', at most 31; copied */
    tsr_device  device;
    bool        host_access; /* may the host read and write it through a pointer? */
    size_t      alignment; /* a power of two */
    void       *context;   /* handed to both functions */
    void     *(*alloc)(void *context, size_t bytes, size_t alignment); /* NULL when there is no room */
    void      (*free)(void *context, void *data, size_t bytes);
} tsr_memory_kind;

/* TSR_EINVAL: a bad name, alignment or size, or the name is taken. TSR_ENOMEM: TSR_MEMORY_MAX
 * kinds exist. */
TSR_API TSR_MUST_CHECK tsr_status tsr_memory_register(tsr_memory *out, const tsr_memory_kind *kind);

/* TSR_EBUSY while storages of the kind live. */
TSR_API TSR_MUST_CHECK tsr_status tsr_memory_unregister(tsr_memory kind);

/* The kind of that name, and what a kind is. */
TSR_API TSR_MUST_CHECK tsr_status tsr_memory_find(tsr_memory *out, const char *name);
TSR_API const char *tsr_memory_name(tsr_memory kind);        /* "host"; "?" if there is none */
TSR_API bool        tsr_memory_is_host(tsr_memory kind);     /* may the host touch it? */

/* Storages ----------------------------------------------------------------- */

typedef struct tsr_storage tsr_storage;

typedef enum tsr_ownership {
    TSR_OWNED = 0, TSR_BORROWED, TSR_ADOPTED, TSR_MAPPED,
    TSR_OWNERSHIP_MAX_ = 0x7fffffff
} tsr_ownership;

/* Called once, when the last tensor lets go of adopted memory. */
typedef void (*tsr_deleter)(void *context, void *data, size_t bytes);

/* Storages are made by the tensor factories; these are for code that shares one
 * between several tensors itself (tsr_from_storage in tensor.h). A storage made
 * here starts with one count, dropped by tsr_storage_release. */
TSR_API TSR_MUST_CHECK tsr_status tsr_storage_create(tsr_storage **out, size_t bytes, tsr_device device,
                                                     tsr_memory kind);
TSR_API TSR_MUST_CHECK tsr_status tsr_storage_borrow(tsr_storage **out, void *data, size_t bytes,
                                                     tsr_device device, tsr_memory kind);
TSR_API TSR_MUST_CHECK tsr_status tsr_storage_adopt(tsr_storage **out, void *data, size_t bytes,
                                                    tsr_device device, tsr_memory kind, tsr_deleter deleter,
                                                    void *context);

/* How a file is mapped. Copy-on-write lets the program write to its own pages;
 * the file never changes. */
typedef enum tsr_map_mode {
    TSR_MAP_READ = 0,
    TSR_MAP_COPY_ON_WRITE,
    TSR_MAP_MODE_MAX_ = 0x7fffffff
} tsr_map_mode;

/* bytes 0 means: to the end of the file. TSR_EIO with the system's words;
 * TSR_EBOUNDS if the range leaves the file; TSR_EUNSUPPORTED in a build without
 * files. */
TSR_API TSR_MUST_CHECK tsr_status tsr_storage_map_file(tsr_storage **out, const char *path, uint64_t offset,
                                                       size_t bytes, tsr_map_mode mode);

/* One more owner, and one less: the last one frees it, according to its origin. *s becomes NULL. */
TSR_API tsr_storage *tsr_storage_retain(tsr_storage *s);  /* returns s */
TSR_API void         tsr_storage_release(tsr_storage **s);

/* What a storage is. */
TSR_API void         *tsr_storage_data(const tsr_storage *s);   /* lowest byte */
TSR_API size_t        tsr_storage_bytes(const tsr_storage *s);
TSR_API tsr_memory    tsr_storage_memory(const tsr_storage *s);
TSR_API tsr_device    tsr_storage_device(const tsr_storage *s);
TSR_API tsr_ownership tsr_storage_ownership(const tsr_storage *s);
TSR_API bool          tsr_storage_is_readonly(const tsr_storage *s);
TSR_API int64_t       tsr_storage_count(const tsr_storage *s);  /* owners at this moment */

/* A name for the memory report, at most 31 characters; copied. */
TSR_API void tsr_storage_set_name(tsr_storage *s, const char *name);

/* The pool -----------------------------------------------------------------
 *
 * Freed host memory is kept by size class and handed out again while its pages
 * are warm. `limit` bounds what is kept. The environment variable TSR_POOL=off
 * (or a number of MiB) sets the start; under the address sanitizer the pool
 * starts switched off, and what it keeps is poisoned. */
TSR_API void   tsr_pool_enable(bool on);         /* off also trims */
TSR_API bool   tsr_pool_is_enabled(void);
TSR_API void   tsr_pool_set_limit(size_t bytes); /* trims down to it */
TSR_API size_t tsr_pool_limit(void);
TSR_API size_t tsr_pool_trim(size_t keep); /* free cached bytes until `keep` are left; returns bytes freed */

/* Counting ----------------------------------------------------------------- */

typedef struct tsr_memory_stats {
    int64_t live_bytes;    /* in storages, owned and mapped, as asked for */
    int64_t peak_bytes;    /* the most live_bytes has been since the start or tsr_memory_reset_peak() */
    int64_t cached_bytes;  /* held by the pool, free for reuse */
    int64_t allocations;   /* storages ever made */
    int64_t pool_hits;     /* of those, served from the pool */
    int64_t live_storages; /* of every ownership */
    int64_t live_tensors;  /* handles on the heap; placed tensors are not counted */
} tsr_memory_stats;

/* Totals over all threads and memory kinds. They are exact if no other thread is inside
 * the library; peak_bytes may be too low by up to 64 KiB for each that is allocating. */
TSR_API void tsr_memory_get_stats(tsr_memory_stats *out);
TSR_API void tsr_memory_reset_peak(void);

/* Live bytes of one kind. */
TSR_API int64_t tsr_memory_live(tsr_memory kind);

/* A readable report: totals, each kind, and the live storages, largest first,
 * with their names, kinds, ownership, counts and the call that made them.
 * Writes at most `size` bytes with the closing 0 and returns the length the
 * report would have. */
TSR_API size_t tsr_memory_report(char *out, size_t size);

/* Devices ------------------------------------------------------------------
 *
 * Each device has a pool as well: memory that is released is kept there, and reused once
 * the streams that used it have passed that point (stream.h). */
typedef struct tsr_device_memory_stats {
    int64_t live_bytes, peak_bytes;  /* in tensors, as taken from the device */
    int64_t cached_bytes;            /* kept, free for reuse */
    int64_t allocations, hits;       /* ever made; of those, from what was kept */
} tsr_device_memory_stats;

TSR_API TSR_MUST_CHECK tsr_status tsr_device_memory_get_stats(tsr_device_memory_stats *out,
                                                              tsr_device device);
TSR_API TSR_MUST_CHECK tsr_status tsr_device_pool_set_limit(tsr_device device,
                                                            size_t bytes); /* of what is kept */
TSR_API size_t tsr_device_pool_trim(tsr_device device,
                                    size_t keep); /* waits for its work; returns bytes given back */

/* The allocator ------------------------------------------------------------
 *
 * Everything the library takes from the host (headers, host memory, scratch)
 * comes from one allocator. A build without malloc starts with none. Its functions
 * may be called with a lock of the library held: they must not call the library. */
typedef struct tsr_allocator {
    void *context;
    void *(*alloc)(void *context, size_t bytes, size_t alignment); /* NULL when there is no room */
    void  (*free)(void *context, void *data, size_t bytes);
} tsr_allocator;

/* NULL restores the default. TSR_EBUSY while tensors or storages live: an allocator
 * must free its own memory. */
TSR_API TSR_MUST_CHECK tsr_status tsr_set_allocator(const tsr_allocator *allocator);

/* Asked before every allocation, pooled or not; false makes it fail. For tests
 * and quotas. NULL removes it. Set it while no other thread allocates. */
typedef bool (*tsr_alloc_hook)(void *context, size_t bytes);
TSR_API void tsr_set_alloc_hook(tsr_alloc_hook hook, void *context);

/* An allocator over a block of the caller's: first fit, with merging of
 * neighbours; for machines without malloc. Not for several threads at once.
 *
 *     static _Alignas(64) unsigned char block[256 * 1024];
 *     tsr_arena arena;
 *     tsr_arena_init(&arena, block, sizeof block);
 *     tsr_set_allocator(&(tsr_allocator){ &arena, tsr_arena_alloc, tsr_arena_free });
 */
typedef struct tsr_arena {
    unsigned char *base;
    size_t         size;
    size_t         used;  /* bytes handed out now, with their overhead */
    size_t         peak;
    void          *first; /* free blocks, by address */
} tsr_arena;

TSR_API TSR_MUST_CHECK tsr_status tsr_arena_init(tsr_arena *arena, void *block, size_t bytes);
TSR_API void *tsr_arena_alloc(void *arena, size_t bytes, size_t alignment);
TSR_API void  tsr_arena_free(void *arena, void *data, size_t bytes);

TSR_END_C

#endif
