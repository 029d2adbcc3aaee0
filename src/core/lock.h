/* lock.h - a mutex and a once, and nothing at all in a build without threads.
 *
 *     static tsri_mutex lock = TSRI_MUTEX_INIT;
 *     tsri_lock(&lock);
 *     ...
 *     tsri_unlock(&lock);
 *
 * Not recursive. Hold one for a few instructions, and never across a callback
 * of the user's or a parallel loop. After fork() a lock that another thread held
 * stays locked in the child: TSRI_HELD_AT_FORK(lock, ...) is for one that a child may need.
 *
 * TSRI_PER_THREAD marks a variable that each thread has for itself.
 */
#ifndef TSRI_LOCK_H
#define TSRI_LOCK_H

#include "tessera/config.h"

#ifdef TSR_NO_THREADS

#define TSRI_PER_THREAD

typedef struct tsri_mutex { char unused; } tsri_mutex;
typedef struct tsri_once { char done; } tsri_once;

#define TSRI_MUTEX_INIT { 0 }
#define TSRI_ONCE_INIT { 0 }

static inline void tsri_lock(tsri_mutex *mutex) { (void)mutex; }
static inline bool tsri_trylock(tsri_mutex *mutex) { (void)mutex; return true; }
static inline void tsri_unlock(tsri_mutex *mutex) { (void)mutex; }

#define TSRI_HELD_AT_FORK(lock, in_child) _Static_assert(1, "there are no other threads")

static inline void tsri_once_run(tsri_once *once, void (*fn)(void))
{
    if (once->done) return;
    once->done = 1;
    fn();
}

#else

#define TSRI_PER_THREAD _Thread_local

#include <pthread.h>

typedef struct tsri_mutex { pthread_mutex_t os; } tsri_mutex;
typedef struct tsri_once { pthread_once_t os; } tsri_once;

#define TSRI_MUTEX_INIT { PTHREAD_MUTEX_INITIALIZER }
#define TSRI_ONCE_INIT { PTHREAD_ONCE_INIT }

static inline void tsri_lock(tsri_mutex *mutex) { (void)pthread_mutex_lock(&mutex->os); }
static inline bool tsri_trylock(tsri_mutex *mutex) { return pthread_mutex_trylock(&mutex->os) == 0; }
static inline void tsri_unlock(tsri_mutex *mutex) { (void)pthread_mutex_unlock(&mutex->os); }

/* fork() waits for a static lock, which the child finds free after the statement in_child. */
#define TSRI_HELD_AT_FORK(lock, in_child)                                                               \
    static void lock##_before_fork(void) { tsri_lock(&lock); }                                          \
    static void lock##_after_fork(void) { tsri_unlock(&lock); }                                         \
    static void lock##_after_fork_in_child(void)                                                        \
    {                                                                                                   \
        in_child;                                                                                       \
        tsri_unlock(&lock);                                                                             \
    }                                                                                                   \
    __attribute__((constructor)) static void lock##_watches_forks(void)                                 \
    {                                                                                                   \
        (void)pthread_atfork(lock##_before_fork, lock##_after_fork, lock##_after_fork_in_child);        \
    }                                                                                                   \
    _Static_assert(1, "a semicolon follows")

/* fn runs once, whichever thread comes first; the others wait for it. */
static inline void tsri_once_run(tsri_once *once, void (*fn)(void)) { (void)pthread_once(&once->os, fn); }

#endif

#endif
