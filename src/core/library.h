/* library.h - shared objects of others, found when they are first needed.
 *
 * Optional libraries (LAPACK, FFTW, zlib, a BLAS) are not linked: a program that does not use
 * them never loads them, and one library file serves machines that have
 * them and machines that do not. Where there is no dynamic loader
 * (TSR_NO_LIBRARIES, freestanding) none is ever found.
 *
 * Code that calls one checks tsri_libraries_used() first, at every call: a program may switch them off at
 * any time (tsr_set_external in device.h).
 */
#ifndef TSRI_LIBRARY_H
#define TSRI_LIBRARY_H

#include "tessera/config.h"

/* May libraries of others be opened and called? */
bool tsri_libraries_used(void);

/* The first of the n names that opens, or NULL. It stays open. A name without a slash is looked for by the
 * system's loader, an absolute path is opened as it is. A relative path would depend on the current folder:
 * it is not opened, and a line in the log says so. */
void *tsri_library_open(int n, const char *const *names);

/* A function of it, or NULL. */
void (*tsri_library_find(void *library, const char *symbol))(void);

#endif
