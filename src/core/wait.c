/* wait.c - sleeping on a word: a futex where there is one, a condition variable
 * elsewhere (and everywhere with TSRI_NO_FUTEX, to test it). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* syscall */
#endif

#include "wait.h"
#include "atomic.h"
#include "lock.h"
#include "relax.h"

#ifndef TSR_NO_THREADS

#include <time.h>

/* Long enough to bridge the gap between two ops, short against a time slice. */
static int64_t spin_ns = 8000;

void tsri_set_spin(int64_t ns) { tsri_store_relaxed(&spin_ns, ns); }

#if defined(__linux__) && !defined(TSRI_NO_FUTEX)

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

static void sleep_while(uint32_t *word, uint32_t value)
{
    (void)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

void tsri_wake(uint32_t *word, uint32_t n)
{
    (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, n, NULL, NULL, 0);
}

void tsri_forget_waiters(void) {}

#else

/* One condition variable for all words: every waiter that wakes looks at its own word again. */
static tsri_mutex sleepers_lock = TSRI_MUTEX_INIT;
static pthread_cond_t wake_up = PTHREAD_COND_INITIALIZER;

static void sleep_while(uint32_t *word, uint32_t value)
{
    tsri_lock(&sleepers_lock);
    if (tsri_load_acquire(word) == value) (void)pthread_cond_wait(&wake_up, &sleepers_lock.os);
    tsri_unlock(&sleepers_lock);
}

void tsri_wake(uint32_t *word, uint32_t n)
{
    (void)word;
    (void)n;
    tsri_lock(&sleepers_lock);
    (void)pthread_cond_broadcast(&wake_up);
    tsri_unlock(&sleepers_lock);
}

void tsri_forget_waiters(void)
{
    sleepers_lock = (tsri_mutex)TSRI_MUTEX_INIT;
    wake_up = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
}

#endif

static int64_t now_ns(void)
{
    struct timespec t = { 0, 0 };
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* True when the word changed, false when it is time to sleep. */
static bool spin_while(const uint32_t *word, uint32_t value)
{
    const int64_t most = tsri_load_relaxed(&spin_ns);
    int64_t start = 0, now = 0;
    for (int64_t rounds = 0; rounds < most && now - start <= most;
         rounds++) { /* also if the clock stands still */
        for (int i = 0; i < 16; i++) {
            if (tsri_load_acquire(word) != value) return true;
            tsri_relax();
        }
        now = now_ns();
        if (start == 0) start = now;
    }
    return false;
}

void tsri_await_change(uint32_t *word, uint32_t value, uint32_t *sleepers, bool spin)
{
    if (spin && spin_while(word, value)) return;
    (void)__atomic_fetch_add(sleepers, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(word, __ATOMIC_SEQ_CST) == value) sleep_while(word, value);
    (void)__atomic_fetch_sub(sleepers, 1, __ATOMIC_SEQ_CST);
}

#endif
