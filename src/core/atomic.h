/* atomic.h - counts and flags shared between threads.
 *
 * Plain integers with atomic access, so that they may stand in public structs
 * that C++ reads too. In a build without threads the access is plain.
 */
#ifndef TSRI_ATOMIC_H
#define TSRI_ATOMIC_H

#include "tessera/config.h"

#ifdef TSR_NO_THREADS
#define tsri_load_relaxed(p)      (*(p))
#define tsri_load_acquire(p)      (*(p))
#define tsri_store_relaxed(p, v)  ((void)(*(p) = (v)))
#define tsri_store_release(p, v)  ((void)(*(p) = (v)))
#define tsri_fetch_add(p, v)      ((*(p) += (v)) - (v))
#define tsri_fetch_sub(p, v)      ((*(p) -= (v)) + (v))
#define tsri_fetch_or(p, v)       ((void)(*(p) |= (v)))
#else
#define tsri_load_relaxed(p)      __atomic_load_n((p), __ATOMIC_RELAXED)
#define tsri_load_acquire(p)      __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define tsri_store_relaxed(p, v)  __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define tsri_store_release(p, v)  __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define tsri_fetch_add(p, v)      __atomic_fetch_add((p), (v), __ATOMIC_RELAXED)
#define tsri_fetch_sub(p, v)      __atomic_fetch_sub((p), (v), __ATOMIC_ACQ_REL)
#define tsri_fetch_or(p, v)       ((void)__atomic_fetch_or((p), (v), __ATOMIC_RELAXED))
#endif

/* One more owner. */
static inline void tsri_count_up(int32_t *count) { (void)tsri_fetch_add(count, 1); }

/* One owner less; true for the last. A sole owner needs no locked instruction:
 * nobody else holds the count, so nobody else can raise it. */
static inline bool tsri_count_down(int32_t *count)
{
    if (tsri_load_acquire(count) == 1) {
        tsri_store_relaxed(count, 0);
        return true;
    }
    return tsri_fetch_sub(count, 1) == 1;
}

#endif
