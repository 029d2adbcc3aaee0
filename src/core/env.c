/* env.c - see env.h. */
#if defined(__linux__) && !defined(_DEFAULT_SOURCE)
#define _DEFAULT_SOURCE 1  /* getuid and its like, in a build for plain C */
#endif
#include "env.h"

#if defined(TSR_FREESTANDING)

bool tsri_is_elevated(void) { return false; }
const char *tsri_env(const char *name) { return (void)name, NULL; }

#else

#include <stdlib.h>

#if defined(__linux__)
#include <sys/auxv.h>

/* The kernel says so when the program is started: uids may have been made equal since. */
bool tsri_is_elevated(void) { return getauxval(AT_SECURE) != 0; }

#elif defined(__APPLE__) || defined(__FreeBSD__) || defined(__OpenBSD__) || defined(__NetBSD__)
int issetugid(void);

bool tsri_is_elevated(void) { return issetugid() != 0; }

#elif defined(__unix__)
#include <unistd.h>

bool tsri_is_elevated(void) { return getuid() != geteuid() || getgid() != getegid(); }

#else

bool tsri_is_elevated(void) { return false; }

#endif

const char *tsri_env(const char *name) { return tsri_is_elevated() ? NULL : getenv(name); }

#endif
