/* foreign_library.c - functions of a library that may be installed. */
#include "core/env.h"
#include "core/library.h"
#include "core/mem.h"
#include "foreign_library.h"

bool tsri_foreign_find(void (**out)(void), const char *variable, int count, const char *const *names, int n,
                       const char *const *symbols)
{
    const char *wish = tsri_env(variable);
    if (wish && tsri_streq(wish, "none")) return false;
    void *library = wish ? tsri_library_open(1, &wish) : tsri_library_open(count, names);
    bool all = library != NULL;
    for (int i = 0; i < n && all; i++) all = (out[i] = tsri_library_find(library, symbols[i])) != NULL;
    return all;
}
