/* library.h - shared objects of others, found when they are first needed.
 *
 * Optional libraries (LAPACK, FFTW) are not linked: a program that never asks
 * for them never loads them, and one library file serves machines that have
 * them and machines that do not. Where there is no dynamic loader
 * (TSR_NO_LIBRARIES, freestanding) none is ever found.
 */
#ifndef TSRI_LIBRARY_H
#define TSRI_LIBRARY_H

/* The first of the n names that opens, or NULL. It stays open. */
void *tsri_library_open(int n, const char *const *names);

/* A function of it, or NULL. */
void (*tsri_library_find(void *library, const char *symbol))(void);

#endif
