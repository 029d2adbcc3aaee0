/* zip.h - zip files made by hand. */
#ifndef TSR_TEST_ZIP_H
#define TSR_TEST_ZIP_H

#include <string.h>

#include "io/crc.h"
#include "io/io_int.h"

typedef struct zip_member { const char *name; const void *data; size_t bytes; } zip_member;

/* Puts bytes there; how many. */
static inline size_t zip_put(unsigned char *at, const void *data, size_t bytes)
{
    if (bytes) memcpy(at, data, bytes);
    return bytes;
}

/* What a local record and the directory have in common, from its seventh byte on. */
static inline void zip_common(unsigned char *p, const zip_member *m)
{
    tsri_set32(p + 8, tsri_crc32(0, m->data, m->bytes));
    tsri_set32(p + 12, (uint32_t)m->bytes);
    tsri_set32(p + 16, (uint32_t)m->bytes);
    tsri_set16(p + 20, (uint32_t)strlen(m->name));
}

/* A zip file of at most 8 stored members, for which there is room; its length. */
static inline size_t zip_make(unsigned char *out, const zip_member *m, int count)
{
    size_t n = 0, starts[8];
    for (int i = 0; i < count; i++) {
        starts[i] = n;
        memset(out + n, 0, 30);
        memcpy(out + n, "PK\3\4", 4);
        zip_common(out + n + 6, &m[i]);
        n += 30;
        n += zip_put(out + n, m[i].name, strlen(m[i].name));
        n += zip_put(out + n, m[i].data, m[i].bytes);
    }
    const size_t directory = n;
    for (int i = 0; i < count; i++) {
        memset(out + n, 0, 46);
        memcpy(out + n, "PK\1\2", 4);
        zip_common(out + n + 8, &m[i]);
        tsri_set32(out + n + 42, (uint32_t)starts[i]);
        n += 46;
        n += zip_put(out + n, m[i].name, strlen(m[i].name));
    }
    memset(out + n, 0, 22);
    memcpy(out + n, "PK\5\6", 4);
    tsri_set16(out + n + 10, (uint32_t)count);
    tsri_set32(out + n + 12, (uint32_t)(n - directory));
    tsri_set32(out + n + 16, (uint32_t)directory);
    return n + 22;
}

#endif
