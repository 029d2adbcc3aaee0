/* mirror.h - host copies of memory that only a device can access.
 *
 * Checks read and write elements by address. For a tensor on a device that is an address in a copy of its
 * whole storage. mirror_of() makes the copy when it is first needed. Before the next call of the library,
 * mirrors_end() must write it back to the device and drop it. One trial at a time uses them.
 */
#ifndef TSR_OPCHECK_MIRROR_H
#define TSR_OPCHECK_MIRROR_H

#include "tessera/tessera.h"

/* The host's copy of the storage's lowest byte, after all work that is queued for it. Zeros if it cannot be
 * read; then mirrors_error() has words. NULL: no memory for it. */
unsigned char *mirror_of(tsr_storage *s);

/* Stores and forgets all copies, or only forgets them. */
void mirrors_end(void);
void mirrors_drop(void);

/* Why a copy could not be read or stored since this was last called with clear; NULL if all could. */
const char *mirrors_error(bool clear);

/* From now on copies hold zeros instead of the device's bytes: for a device that computes nothing. */
void mirrors_blank(bool on);

#endif
