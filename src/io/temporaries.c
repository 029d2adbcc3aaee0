/* temporaries.c - a table that a signal handler may read at any moment. */
#if !defined(TSR_FREESTANDING) && !defined(TSR_NO_FILES)
#define _GNU_SOURCE 1
#endif
#include "core/posix.h"
#include "temporaries.h"
#include "tessera/io.h"

#if defined(TSR_NO_FILES) || !defined(TSRI_POSIX)

void tsr_writer_abandon_all(void) { }

#else

#include <errno.h>
#include <sched.h>
#include <unistd.h>

enum { SLOTS = 256 };

static struct { const char *path; long process; } slots[SLOTS];
static int abandoning;  /* calls of tsr_writer_abandon_all that go on now */

/* Marks a slot that is being filled. */
static const char filling[] = "";

int tsri_temporary_add(const char *path)
{
    for (int i = 0; i < SLOTS; i++) {
        const char *none = NULL;
        if (!__atomic_compare_exchange_n(&slots[i].path, &none, filling, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_RELAXED))
            continue;
        slots[i].process = (long)getpid();
        __atomic_store_n(&slots[i].path, path, __ATOMIC_RELEASE);
        return i;
    }
    return -1;
}

/* A path that is being removed stays until it is. */
void tsri_temporary_forget(int slot, const char *path)
{
    if (slot < 0 || __atomic_compare_exchange_n(&slots[slot].path, &path, NULL, false, __ATOMIC_ACQ_REL,
                                                __ATOMIC_RELAXED))
        return;
    while (__atomic_load_n(&abandoning, __ATOMIC_ACQUIRE) > 0) (void)sched_yield();
}

static void remove_path(int slot)
{
    const char *path = __atomic_load_n(&slots[slot].path, __ATOMIC_ACQUIRE);
    if (!path || path == filling || slots[slot].process != (long)getpid()) return;
    if (__atomic_compare_exchange_n(&slots[slot].path, &path, NULL, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED))
        (void)unlink(path);
}

void tsr_writer_abandon_all(void)
{
    const int error = errno;
    (void)__atomic_add_fetch(&abandoning, 1, __ATOMIC_ACQ_REL);
    for (int i = 0; i < SLOTS; i++) remove_path(i);
    (void)__atomic_sub_fetch(&abandoning, 1, __ATOMIC_ACQ_REL);
    errno = error;
}

#endif
