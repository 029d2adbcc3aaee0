/* library.c - dlopen, where there is one. */
#include "library.h"

#if !defined(TSR_NO_LIBRARIES) && defined(__STDC_HOSTED__) && __STDC_HOSTED__ && \
    (defined(__unix__) || defined(__APPLE__))
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

void *tsri_library_open(int n, const char *const *names)
{
    for (int i = 0; i < n; i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (library) return library;
    }
    return NULL;
}

void (*tsri_library_find(void *library, const char *symbol))(void)
{
    void (*function)(void) = NULL;
    void *address = dlsym(library, symbol);
    memcpy(&function, &address, sizeof function); /* ISO C has no cast from data to code */
    return function;
}

#else
#include <stddef.h>

void *tsri_library_open(int n, const char *const *names)
{
    (void)n; (void)names;
    return NULL;
}

void (*tsri_library_find(void *library, const char *symbol))(void)
{
    (void)library; (void)symbol;
    return NULL;
}
#endif
