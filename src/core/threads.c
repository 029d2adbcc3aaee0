/* threads.c - parallel loops, and the pool that runs them.
 *
 * A loop is cut into parts, a few for each thread. Each thread has a share: a
 * run of neighbouring parts that it takes first. So when loops over the same
 * memory follow each other, it usually gets the part that is in its cache. When
 * its share is empty it takes from the others' shares.
 *
 * What is always true of the pool:
 *
 *   - One loop at a time: its caller holds pool.busy from before the shares are
 *     filled until every part is accounted for. A caller that finds it held runs
 *     its loop by itself.
 *   - A part is claimed by lowering share.left, which fails at 0. The loop
 *     cannot end before the thread that claimed a part reports it in pool.undone,
 *     so what the loop's caller wrote may be read after a claim, and only then. A worker
 *     that wakes late for one loop may thus help with the next.
 *   - pool.ticket changes after each filling. A worker reads it before it looks
 *     for parts, and sleeps only while it has not changed.
 *   - After fork() the child has none of the workers and starts from an empty
 *     pool. A thread that was inside a loop finds pool.forks changed, and so that
 *     its loop does not exist in the child.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pthread_setname_np */
#endif

#include "threads_int.h"
#include "atomic.h"
#include "lock.h"
#include "status_int.h"

static tsr_status check_loop(int64_t n, tsr_range_fn fn)
{
    TSRI_CHECK(fn, TSR_ENULL, "parallel_for: fn is NULL");
    TSRI_CHECK(n >= 0, TSR_EINVAL, "parallel_for: n is %lld", (long long)n);
    return TSR_OK;
}

static tsr_status check_threads(int threads)
{
    TSRI_CHECK(threads >= 0 && threads <= TSRI_MAX_THREADS, TSR_EINVAL,
               "set_threads: %d threads, not 0 to %d", threads, TSRI_MAX_THREADS);
    return TSR_OK;
}

#ifdef TSR_NO_THREADS

tsr_status tsri_parallel_for_needs(int64_t n, int64_t grain, tsri_needs needs, tsr_range_fn fn, void *context)
{
    (void)grain;
    (void)needs;
    TSRI_TRY(check_loop(n, fn));
    return n > 0 ? fn(context, 0, n) : TSR_OK;
}

tsr_status tsr_set_threads(int threads) { return check_threads(threads); }
int tsr_threads(void) { return 1; }
int tsri_threads_here(void) { return 1; }
void tsr_threads_shutdown(void) {}

void tsr_set_executor(tsr_executor executor, void *executor_context)
{
    (void)executor;
    (void)executor_context;
}

#else

#include <signal.h>
#include <stdlib.h>

#include "alloc.h"
#include "env.h"
#include "mem.h"
#include "wait.h"

enum { SHARES = 256 };  /* threads beyond that have none of their own */

/* One loop, on its caller's stack. */
typedef struct job {
    tsr_range_fn fn;
    void        *context;
    tsri_split   split;
    int          ran;                   /* parts handed in by an executor */
    int          failed;                /* the lowest part that failed; split.parts if none */
    tsr_status   status;                /* of that part, as is message */
    char         message[TSRI_MESSAGE];
} job;

typedef struct share {
    _Alignas(TSRI_CACHE_LINE) uint32_t left; /* parts not claimed: end - left .. end - 1 */
    int end;
} share;

static struct {
    tsri_mutex busy;        /* held for a loop's whole length, and to start or stop workers */
    job       *job;
    int        workers;     /* threads that run, or are starting */
    bool       full;        /* the system refused another one */
    bool       spin;        /* there is a CPU for each thread */
    unsigned   forks;       /* fork()s between the first process and this one */
    int        wanted;      /* by tsr_set_threads(); 0 is the standard */
    int        standard;    /* by environment and machine; 0 is not yet known */
    tsr_executor executor;
    void        *executor_context;

    _Alignas(TSRI_CACHE_LINE) uint32_t ticket;
    uint32_t   sleepers;    /* workers that wait for a new ticket, not spinning */
    uint32_t   quit;
    int        shares;      /* in use */
    _Alignas(TSRI_CACHE_LINE) uint32_t undone; /* parts not accounted for */
    uint32_t   waiting;     /* 1 when the caller waits for undone, not spinning */
    share      share[SHARES];
    pthread_t  thread[TSRI_MAX_THREADS];
} pool = { .busy = TSRI_MUTEX_INIT };

static tsri_mutex failing = TSRI_MUTEX_INIT; /* guards status and message of all jobs */

/* Set while this thread runs a part: loops inside it run in place. */
static _Thread_local bool inside;

/* ---- parts ---- */

/* A status without a sentence of its own gets one. */
static void explain(tsr_status status, int64_t begin, int64_t end)
{
    if (tsr_last_status() == status) return;
    (void)tsri_fail(status, "parallel_for: the part %lld to %lld failed: %s", (long long)begin,
                    (long long)end, tsr_status_text(status));
}

static void note_failure(job *j, int part, tsr_status status)
{
    tsri_lock(&failing);
    if (part < tsri_load_relaxed(&j->failed)) {
        const char *message = tsr_last_error();
        const size_t length = tsri_strlen(message);
        memcpy(j->message, message, length + 1);
        j->status = status;
        tsri_store_relaxed(&j->failed, part);
    }
    tsri_unlock(&failing);
}

/* Parts after a failure are not run. */
static void run_part(job *j, int part)
{
    if (tsri_load_relaxed(&j->failed) < j->split.parts) return;
    const int64_t begin = tsri_split_begin(&j->split, part);
    const int64_t end = tsri_split_begin(&j->split, part + 1);
    const tsr_status status = j->fn(j->context, begin, end);
    if (TSRI_LIKELY(status == TSR_OK)) return;
    explain(status, begin, end);
    note_failure(j, part, status);
}

static tsr_status outcome(const job *j)
{
    return TSRI_LIKELY(j->failed == j->split.parts) ? TSR_OK : tsri_fail_text(j->status, j->message);
}

/* All parts in order, on this thread. */
static tsr_status run_here(job *j)
{
    const bool outer = inside;
    inside = true;
    for (int part = 0; part < j->split.parts; part++) run_part(j, part);
    inside = outer;
    return outcome(j);
}

/* ---- sharing a loop out ---- */

/* A part of the share, or -1. */
static int claim(share *s)
{
    uint32_t left = tsri_load_relaxed(&s->left);
    while (left > 0)
        if (__atomic_compare_exchange_n(&s->left, &left, left - 1, true, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return s->end - (int)left;
    return -1;
}

/* Claims and runs parts until none is left, from share `first` on; returns how many. */
static uint32_t work(int first)
{
    uint32_t ran = 0;
    const int shares = tsri_load_relaxed(&pool.shares);
    for (int i = 0; i < shares; i++) {
        share *s = &pool.share[(first + i) % shares];
        for (int part = claim(s); part >= 0; part = claim(s)) {
            run_part(pool.job, part);
            ran++;
        }
    }
    return ran;
}

/* Where share i of n parts begins. */
static int share_begin(int n, int shares, int i)
{
    const int rest = n % shares;
    return n / shares * i + (i < rest ? i : rest);
}

/* Fills the shares, and wakes workers, so that `threads` threads with the caller run them. */
static void share_out(job *j, int threads)
{
    const int shares = threads < SHARES ? threads : SHARES;
    pool.job = j;
    tsri_store_relaxed(&pool.undone, (uint32_t)j->split.parts);
    for (int i = 0; i < shares; i++) {
        share *s = &pool.share[i];
        const int begin = share_begin(j->split.parts, shares, i);
        s->end = share_begin(j->split.parts, shares, i + 1);
        tsri_store_release(&s->left, (uint32_t)(s->end - begin));
    }
    tsri_store_relaxed(&pool.shares, shares);
    (void)__atomic_fetch_add(&pool.ticket, 1, __ATOMIC_SEQ_CST);

    const int sleepers = (int)__atomic_load_n(&pool.sleepers, __ATOMIC_SEQ_CST);
    const int missing = threads - 1 - (pool.workers - sleepers);
    if (missing > 0 && sleepers > 0) tsri_wake(&pool.ticket, (uint32_t)missing);
}

/* Reports parts that have run; the last report wakes the caller, who may then free the job. */
static void report(uint32_t ran)
{
    const uint32_t undone = __atomic_fetch_sub(&pool.undone, ran, __ATOMIC_SEQ_CST);
    if (undone == ran && __atomic_load_n(&pool.waiting, __ATOMIC_SEQ_CST)) tsri_wake(&pool.undone, 1);
}

/* ---- workers ---- */

static void name_thread(void)
{
#if defined(__linux__)
    (void)pthread_setname_np(pthread_self(), "tessera");
#elif defined(__APPLE__)
    (void)pthread_setname_np("tessera");
#endif
}

static void *worker(void *index)
{
    const int first = (int)(intptr_t)index;
    const unsigned forks = pool.forks;
    name_thread();
    inside = true;
    for (;;) {
        const uint32_t ticket = tsri_load_acquire(&pool.ticket);
        if (tsri_load_relaxed(&pool.quit)) return NULL;
        tsr_clear_error(); /* no message of an earlier loop is taken for one of this loop */
        const uint32_t ran = work(first);
        if (pool.forks != forks) return NULL; /* a part forked, and this is the child */
        if (ran > 0) report(ran);
        tsri_await_change(&pool.ticket, ticket, &pool.sleepers, pool.spin);
    }
}

/* Workers block all signals, so that the program's own threads handle them, but
 * those for faults of the worker itself, so that crash handlers still run. */
static void worker_signals(sigset_t *blocked)
{
    static const int fault[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT };
    (void)sigfillset(blocked);
    for (size_t i = 0; i < sizeof fault / sizeof *fault; i++) (void)sigdelset(blocked, fault[i]);
}

/* Have so many workers, or as many as the system gives. */
static void start_workers(int count)
{
    sigset_t blocked, before;
    if (pool.workers >= count || pool.full) return;
    if (pool.workers == 0) pool.spin = tsr_threads() <= tsr_available_threads();
    worker_signals(&blocked);
    (void)pthread_sigmask(SIG_SETMASK, &blocked, &before);
    while (pool.workers < count && !pool.full) {
        void *index = (void *)(intptr_t)(pool.workers + 1); /* the caller has share 0 */
        if (pthread_create(&pool.thread[pool.workers], NULL, worker, index) == 0) pool.workers++;
        else pool.full = true;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void stop_workers(void)
{
    tsri_store_relaxed(&pool.quit, 1);
    (void)__atomic_fetch_add(&pool.ticket, 1, __ATOMIC_SEQ_CST);
    tsri_wake(&pool.ticket, TSRI_MAX_THREADS);
    while (pool.workers > 0) (void)pthread_join(pool.thread[--pool.workers], NULL);
    tsri_store_relaxed(&pool.quit, 0);
    pool.full = false;
}

/* The child has one thread, which may have been inside a part. The state that the
 * other threads left is reset. */
static void start_afresh(void)
{
    pool.forks++;
    pool.busy = (tsri_mutex)TSRI_MUTEX_INIT;
    failing = (tsri_mutex)TSRI_MUTEX_INIT;
    tsri_forget_waiters();
    pool.workers = 0;
    pool.full = false;
    pool.standard = 0;
    pool.sleepers = 0;
    pool.quit = 0;
    pool.shares = 0;
    pool.undone = 0;
    pool.waiting = 0;
    for (int i = 0; i < SHARES; i++) pool.share[i].left = 0;
    inside = false;
}

__attribute__((constructor)) static void watch_forks(void) { (void)pthread_atfork(NULL, NULL, start_afresh); }

/* At exit and before the library is unloaded. When a loop is under way then, as
 * when a part calls exit(), its threads end with the process. */
__attribute__((destructor)) static void stop_at_exit(void)
{
    if (!tsri_trylock(&pool.busy)) return;
    stop_workers();
    tsri_unlock(&pool.busy);
}

/* ---- loops ---- */

/* The caller holds pool.busy; it is free afterwards. */
static tsr_status run_on_pool(job *j, int threads)
{
    const unsigned forks = pool.forks;
    if (threads > j->split.parts) threads = j->split.parts;
    start_workers(threads - 1);
    share_out(j, threads);
    inside = true;
    const uint32_t ran = work(0);
    if (pool.forks != forks)
        return tsri_fail(TSR_EUNSUPPORTED, "parallel_for: a part called fork() and returned in the child, "
                                           "where the loop's other threads do not exist");
    inside = false;
    report(ran);
    for (uint32_t undone; (undone = tsri_load_acquire(&pool.undone)) > 0;)
        tsri_await_change(&pool.undone, undone, &pool.waiting, pool.spin);
    tsri_unlock(&pool.busy);
    return outcome(j);
}

static void run_for_executor(void *context, int part)
{
    job *j = context;
    const bool outer = inside;
    if (part < 0 || part >= j->split.parts) return;
    inside = true;
    run_part(j, part);
    inside = outer;
    (void)tsri_fetch_add(&j->ran, 1);
}

static tsr_status run_on_executor(job *j, tsr_executor executor)
{
    executor(pool.executor_context, j->split.parts, run_for_executor, j);
    TSRI_TRY(outcome(j));
    const int ran = tsri_load_acquire(&j->ran);
    TSRI_CHECK(ran == j->split.parts, TSR_EUNSUPPORTED, "parallel_for: the executor ran %d of %d parts", ran,
               j->split.parts);
    return TSR_OK;
}

/* A loop of one part is a plain call: a loop inside it may still be split. */
static tsr_status run_whole(int64_t n, tsr_range_fn fn, void *context)
{
    const tsr_status status = fn(context, 0, n);
    if (!TSRI_LIKELY(status == TSR_OK)) explain(status, 0, n);
    return status;
}

tsr_status tsri_parallel_for_needs(int64_t n, int64_t grain, tsri_needs needs, tsr_range_fn fn, void *context)
{
    TSRI_TRY(check_loop(n, fn));
    if (n == 0) return TSR_OK;
    const int threads = tsr_threads();
    job j; /* not initialised as a whole: the message is long and seldom used */
    j.split = tsri_split_loop(n, grain, needs, threads);
    if (j.split.parts == 1) return run_whole(n, fn, context);

    j.fn = fn;
    j.context = context;
    j.ran = 0;
    j.failed = j.split.parts;
    j.status = TSR_OK;
    if (inside) return run_here(&j);
    const tsr_executor executor = tsri_load_acquire(&pool.executor);
    if (executor) return run_on_executor(&j, executor);
    if (!tsri_trylock(&pool.busy)) return run_here(&j);
    return run_on_pool(&j, threads);
}

/* ---- settings ---- */

static int standard_threads(void)
{
    const int wish = tsri_threads_wish(tsri_env("TSR_THREADS"));
    return wish > 0 ? wish : tsr_available_threads();
}

int tsr_threads(void)
{
    const int wanted = tsri_load_relaxed(&pool.wanted);
    if (wanted > 0) return wanted;
    int standard = tsri_load_relaxed(&pool.standard);
    if (standard == 0) {
        standard = standard_threads();
        tsri_store_relaxed(&pool.standard, standard);
    }
    return standard;
}

int tsri_threads_here(void) { return inside ? 1 : tsr_threads(); }

tsr_status tsr_set_threads(int threads)
{
    TSRI_TRY(check_threads(threads));
    TSRI_CHECK(!inside, TSR_EBUSY, "set_threads: called inside a parallel loop, which it would wait for");
    tsri_lock(&pool.busy);
    if (threads == 0 || threads != pool.wanted) stop_workers();
    tsri_store_relaxed(&pool.wanted, threads);
    tsri_store_relaxed(&pool.standard, 0); /* asked again when next needed */
    tsri_unlock(&pool.busy);
    return TSR_OK;
}

void tsr_set_executor(tsr_executor executor, void *executor_context)
{
    pool.executor_context = executor_context;
    tsri_store_release(&pool.executor, executor);
}

void tsr_threads_shutdown(void)
{
    if (inside) return;
    tsri_lock(&pool.busy);
    stop_workers();
    tsri_unlock(&pool.busy);
}

#endif

tsr_status tsri_parallel_for(int64_t n, int64_t grain, tsr_range_fn fn, void *context)
{
    return tsri_parallel_for_needs(n, grain, (tsri_needs){ 0 }, fn, context);
}

/* The public promise is that no part is shorter than the grain. */
tsr_status tsr_parallel_for(int64_t n, int64_t grain, tsr_range_fn fn, void *context)
{
    return tsri_parallel_for_needs(n, grain, (tsri_needs){ .least = grain }, fn, context);
}
