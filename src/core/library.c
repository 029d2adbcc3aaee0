/* library.c - dlopen, where there is one. */
#include "library.h"
#include "atomic.h"
#include "env.h"
#include "lock.h"
#include "text.h"
#include "log.h"
#include "mem.h"
#include "tessera/device.h"

/* Whether they are used ----------------------------------------------------------------- */

#ifdef TSRI_NO_EXTERNAL

bool tsri_libraries_used(void) { return false; }

void tsr_set_external(bool used) { (void)used; }

#else

enum { OFF, ON, NOT_READ };

static int32_t external = NOT_READ;
static tsri_once chosen = TSRI_ONCE_INIT;

static void choose(void)
{
    const char *text = tsri_env("TSR_EXTERNAL");
    tsri_store_release(&external, text && tsri_streq(text, "off") ? OFF : ON);
}

bool tsri_libraries_used(void)
{
    if (tsri_load_acquire(&external) == NOT_READ) tsri_once_run(&chosen, choose);
    return tsri_load_acquire(&external) == ON;
}

/* The variable is read first: a thread that reads it now must not undo this. */
void tsr_set_external(bool used)
{
    tsri_once_run(&chosen, choose);
    tsri_store_release(&external, used ? ON : OFF);
}

#endif

bool tsr_get_external(void) { return tsri_libraries_used(); }

/* Opening ------------------------------------------------------------------------------- */

#if !defined(TSR_NO_LIBRARIES) && defined(__STDC_HOSTED__) && __STDC_HOSTED__ && \
    (defined(__unix__) || defined(__APPLE__))
#include <dlfcn.h>

static bool is_relative(const char *name)
{
    if (name[0] == '/') return false;
    while (*name && *name != '/') name++;
    return *name == '/';
}

static void *open_one(const char *name)
{
    char line[512];
    if (!is_relative(name)) return dlopen(name, RTLD_NOW | RTLD_LOCAL);
    tsri_text text = tsri_text_into(line, sizeof line);
    tsri_put(&text, "%s was not opened: a library is named without a slash, or by an absolute path", name);
    tsri_log(TSR_LOG_WARNING, line);
    return NULL;
}

void *tsri_library_open(int n, const char *const *names)
{
    void *library = NULL;
    for (int i = 0; i < n && !library; i++) library = open_one(names[i]);
    return library;
}

void (*tsri_library_find(void *library, const char *symbol))(void)
{
    void (*function)(void) = NULL;
    void *address = dlsym(library, symbol);
    memcpy(&function, &address, sizeof function); /* ISO C has no cast from data to code */
    return function;
}

#else

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
