/* storage.h - the one owner of memory, from inside. */
#ifndef TSRI_STORAGE_H
#define TSRI_STORAGE_H

#include "atomic.h"
#include "memory_int.h"

enum { TSRI_NAME = 32 };

struct tsr_storage {
    void       *data;       /* lowest byte */
    size_t      bytes;      /* as asked for */
    int32_t     count;      /* 0: the slot is free */
    tsr_memory  memory;
    tsr_device  device;
    uint8_t     ownership;  /* tsr_ownership */
    bool        readonly;
    bool        is_inline;  /* the bytes follow the header in its slot */
    bool        counted;    /* in live_bytes */
    size_t      reserved;   /* bytes taken for it */
    tsr_deleter deleter;    /* adopted and mapped */
    void       *context;
    uint64_t    streams;    /* bit i: work queued on stream i of its device may use it */
    const char *origin;     /* the call that made it */
    char        name[TSRI_NAME]; /* "" in a free slot; written with the slab lock held */
};

/* As the public functions. `origin` is the name of the call, for tsr_memory_report. */
tsr_status tsri_storage_create(tsr_storage **out, size_t bytes, tsr_device device, tsr_memory memory,
                               const char *origin);
tsr_status tsri_storage_foreign(tsr_storage **out, void *data, size_t bytes, tsr_device device,
                                tsr_memory memory, tsr_ownership ownership, bool readonly,
                                tsr_deleter deleter, void *context, const char *origin);

/* The device that fetches from this storage by itself; TSR_CPU if none does. */
tsr_device tsri_pinned_by(const tsr_storage *s);

/* Frees the storage and its bytes, when its last owner has released it. */
void tsri_storage_destroy(tsr_storage *s);

static inline void tsri_storage_retain(tsr_storage *s)
{
    if (s) tsri_count_up(&s->count);
}

static inline void tsri_storage_release(tsr_storage *s)
{
    if (s && tsri_count_down(&s->count)) tsri_storage_destroy(s);
}

#endif
