/* zlib.h - zlib, where it is installed: faster, and tighter, than our own (inflate.h).
 *
 * Found when it is first needed, as other libraries are (core/library.h); TSR_ZLIB in the
 * environment names another file, or none. */
#ifndef TSRI_ZLIB_H
#define TSRI_ZLIB_H

#include "inflate.h"

/* As tsri_inflate, into *result. False if there is no zlib, or it runs out of memory, perhaps after it has
 * written to dst: the caller then begins again without it. */
bool tsri_zlib_inflate(tsri_inflated *result, void *dst, size_t room, const void *src, size_t bytes,
                       size_t *taken, size_t *made);

/* As tsri_deflate, in at most `room` bytes; 0 if there is no zlib, or what it makes does not fit. */
size_t tsri_zlib_deflate(void *dst, size_t room, const void *src, size_t bytes, bool last);

#endif
