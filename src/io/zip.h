/* zip.h - the members of a zip file: what npz and PyTorch's checkpoints share.
 *
 * Work is bounded by the size of the file: members do not overlap, and no deflated one is longer than
 * deflate can make it. */
#ifndef TSRI_ZIP_H
#define TSRI_ZIP_H

#include "io_int.h"

enum {
    TSRI_ZIP_END = 22, TSRI_ZIP_END64 = 56, TSRI_ZIP_LOCATOR = 20, TSRI_ZIP_CENTRAL = 46, TSRI_ZIP_LOCAL = 30,
    TSRI_ZIP_STORED = 0, TSRI_ZIP_DEFLATED = 8, TSRI_ZIP_ONES16 = 0xFFFF
};
#define TSRI_ZIP_ONES32 0xFFFFFFFFu

typedef struct tsri_member {
    const char *name;
    uint32_t    method, crc;
    uint64_t    stored, bytes;   /* as stored; as unpacked */
    uint64_t    header, data;    /* where its local header and its bytes begin */
    size_t      start;           /* of the elements, in its bytes: the reader's own */
    int32_t     checked;         /* its checksum was found right */
} tsri_member;

typedef struct tsri_zip { tsri_member *members; uint64_t count; } tsri_zip;

/* May the first bytes be those of a zip file? */
bool tsri_is_zip(const unsigned char *head, size_t n);

/* Reads the directory, into the file's memory. All members are listed, but only those for which wanted() is
 * true can be read: of the others the local header is not. */
tsr_status tsri_zip_list(tsri_zip *out, tsr_file *f, bool (*wanted)(const char *name));

/* The first n bytes of a member, which has as many. */
tsr_status tsri_member_front(void *dst, const tsr_file *f, const tsri_member *m, size_t n);

/* All m->bytes of a deflated member, whose checksum is tested. */
tsr_status tsri_member_inflate(void *dst, const tsr_file *f, const tsri_member *m);

/* Is the checksum of a stored member right? Its bytes are read once. */
tsr_status tsri_member_check(const tsr_file *f, tsri_member *m);

#endif
