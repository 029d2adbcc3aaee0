/* foreign_library.h - functions of a library that may be installed (core/library.h). */
#ifndef TSRI_FOREIGN_LIBRARY_H
#define TSRI_FOREIGN_LIBRARY_H

#include "tessera/config.h"

/* All functions of these n symbols, into out: of the library that the variable of the environment names, or
 * else of the first of `count` names that opens. False if there is none, it lacks one, or the variable says
 * "none". */
bool tsri_foreign_find(void (**out)(void), const char *variable, int count, const char *const *names, int n,
                       const char *const *symbols);

#endif
