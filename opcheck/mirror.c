/* mirror.c - a list of storages and their bytes, as read and as the trial has them now. */
#include "mirror.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MIRRORS = 32 };

typedef struct mirror {
    tsr_storage *storage;
    unsigned char *read, *now; /* the bytes of the device, and those of the trial */
    size_t bytes;
} mirror;

static struct {
    mirror item[MIRRORS];
    int count, last; /* last: that was asked for */
    bool blank, failed;
    char why[300];
} mirrors;

void mirrors_blank(bool on) { mirrors.blank = on; }

const char *mirrors_error(bool clear)
{
    const char *why = mirrors.failed ? mirrors.why : NULL;
    if (clear) mirrors.failed = false;
    return why;
}

static void note_failure(const char *what)
{
    if (mirrors.failed) return;
    mirrors.failed = true;
    snprintf(mirrors.why, sizeof mirrors.why, "%s gave %s: %s", what, tsr_status_name(tsr_last_status()),
             tsr_last_error());
}

/* All bytes of a storage as a tensor. */
static tsr_status view_bytes(tsr_tensor **out, tsr_storage *s)
{
    tsr_desc d;
    const int64_t n = (int64_t)tsr_storage_bytes(s);
    TSR_TRY(tsr_desc_init(&d, TSR_U8, 1, &n, NULL));
    return tsr_from_storage(out, s, 0, &d);
}

static tsr_status read_mirror(const mirror *m)
{
    tsr_tensor *all = NULL;
    TSR_TRY(view_bytes(&all, m->storage));
    const tsr_status s = tsr_store(m->read, m->bytes, all);
    tsr_release(&all);
    return s;
}

static tsr_status write_mirror(const mirror *m)
{
    tsr_tensor *all = NULL;
    TSR_TRY(view_bytes(&all, m->storage));
    const tsr_status s = tsr_load(all, m->now, m->bytes);
    tsr_release(&all);
    return s;
}

static bool make_mirror(mirror *m, tsr_storage *s)
{
    *m = (mirror){ .bytes = tsr_storage_bytes(s) };
    m->read = calloc(2, m->bytes + 1);
    if (!m->read) return false;
    m->now = m->read + m->bytes + 1;
    m->storage = tsr_storage_retain(s); /* so that no other storage gets its address */
    if (m->bytes > 0 && read_mirror(m) != TSR_OK) note_failure("reading the device's memory");
    if (mirrors.failed || mirrors.blank) memset(m->read, 0, m->bytes);
    memcpy(m->now, m->read, m->bytes);
    return true;
}

unsigned char *mirror_of(tsr_storage *s)
{
    if (mirrors.last < mirrors.count && mirrors.item[mirrors.last].storage == s)
        return mirrors.item[mirrors.last].now;
    for (int i = 0; i < mirrors.count; i++)
        if (mirrors.item[i].storage == s) return mirrors.item[mirrors.last = i].now;
    if (mirrors.count == MIRRORS || !make_mirror(&mirrors.item[mirrors.count], s)) return NULL;
    mirrors.last = mirrors.count++;
    return mirrors.item[mirrors.last].now;
}

void mirrors_drop(void)
{
    for (int i = 0; i < mirrors.count; i++) {
        free(mirrors.item[i].read);
        tsr_storage_release(&mirrors.item[i].storage);
    }
    mirrors.count = 0;
}

void mirrors_end(void)
{
    for (int i = 0; i < mirrors.count; i++) {
        const mirror *m = &mirrors.item[i];
        if (memcmp(m->read, m->now, m->bytes) && write_mirror(m) != TSR_OK)
            note_failure("writing the device's memory");
    }
    mirrors_drop();
}
