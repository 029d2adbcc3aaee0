/* foreign_library.h - functions of a library that may be installed (core/library.h). */
#ifndef TSRI_FOREIGN_LIBRARY_H
#define TSRI_FOREIGN_LIBRARY_H

#include "tessera/config.h"

/* Fills out[0 .. n - 1] with the functions of these n symbols, from the library that the environment variable
 * names, or else from the first of `count` names that opens. False if none opens, a symbol is missing, or the
 * variable is "none". */
bool tsri_foreign_find(void (**out)(void), const char *variable, int count, const char *const *names, int n,
                       const char *const *symbols);

#endif
