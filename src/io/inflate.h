/* inflate.h - the deflate format (RFC 1951), both ways. */
#ifndef TSRI_INFLATE_H
#define TSRI_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum tsri_inflated {
    TSRI_INFLATE_DONE,   /* the last block ended */
    TSRI_INFLATE_FULL,   /* dst is full, and there was more */
    TSRI_INFLATE_SHORT,  /* src ended first */
    TSRI_INFLATE_BAD     /* src is no deflate stream */
} tsri_inflated;

/* Decompresses src into dst, at most `room` bytes. *taken and *made (either may be NULL)
 * receive how much was read and written. */
tsri_inflated tsri_inflate(void *dst, size_t room, const void *src, size_t bytes, size_t *taken,
                           size_t *made);

/* Compressing, in pieces: each piece but the last ends on a byte and can be put after
 * the one before. dst needs tsri_deflate_room(bytes), and bytes are
 * below 4 GiB; returns the bytes made.
 * scratch is TSRI_DEFLATE_SCRATCH bytes, aligned for uint32_t. */
enum { TSRI_DEFLATE_SCRATCH = 4 << 15 };
size_t tsri_deflate_room(size_t bytes);
size_t tsri_deflate(void *dst, const void *src, size_t bytes, bool last, void *scratch);

/* The same without the help of zlib, which larger ones get where it is installed (zlib.h). */
tsri_inflated tsri_inflate_alone(void *dst, size_t room, const void *src, size_t bytes, size_t *taken,
                                 size_t *made);
size_t tsri_deflate_alone(void *dst, const void *src, size_t bytes, bool last, void *scratch);

/* The checksum of zlib streams; begin with 1. */
uint32_t tsri_adler32(uint32_t sum, const void *data, size_t bytes);

#endif
