/* Parallel loops: what is covered, what nests, what fails, and what survives fork(). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_setaffinity, mkdtemp */
#endif

#ifndef TSR_NO_THREADS
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#ifdef __linux__
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#define TEST_OWN_MAIN
#include "test.h"
#include "core/atomic.h"
#include "core/status_int.h"
#include "core/threads_int.h"
#include "core/wait.h"
#include "sanitizers.h"

#define UNDER_SANITIZER (UNDER_TSAN || UNDER_ASAN)

enum { MAX_N = 5000 };

/* ---- loops to run ---- */

typedef struct tally {
    int     hits[MAX_N];   /* how often each index was met */
    int     calls;
    int64_t shortest;      /* part; of several threads, so under no order */
} tally;

static tsr_status count_hits(void *context, int64_t begin, int64_t end)
{
    tally *t = context;
    (void)tsri_fetch_add(&t->calls, 1);
    if (end - begin < tsri_load_relaxed(&t->shortest)) tsri_store_relaxed(&t->shortest, end - begin);
    for (int64_t i = begin; i < end; i++) (void)tsri_fetch_add(&t->hits[i], 1);
    return TSR_OK;
}

static int parts_of(int64_t n, int64_t grain)
{
    return tsri_split_loop(n, grain, (tsri_needs){ .least = grain }, tsr_threads()).parts;
}

static bool covers_once(int64_t n, int64_t grain)
{
    static tally t;
    memset(&t, 0, sizeof t);
    t.shortest = INT64_MAX;
    if (tsr_parallel_for(n, grain, count_hits, &t) != TSR_OK) return false;
    for (int64_t i = 0; i < MAX_N; i++)
        if (t.hits[i] != (i < n)) return false;
    if (t.calls != (n > 0 ? parts_of(n, grain) : 0)) return false;
    return n < grain || grain < 1 || t.calls <= 1 || t.shortest >= grain;
}

static tsr_status add_indices(void *context, int64_t begin, int64_t end)
{
    int64_t sum = 0;
    for (int64_t i = begin; i < end; i++) sum += i;
    (void)tsri_fetch_add((int64_t *)context, sum);
    return TSR_OK;
}

/* A loop with a known result, for places that can only say yes or no. */
static bool loop_works(void)
{
    int64_t sum = 0;
    return tsr_parallel_for(1000, 1, add_indices, &sum) == TSR_OK && sum == 499500;
}

/* ---- coverage ---- */

TEST(test_parallel_for_meets_every_index_once)
{
    static const int threads[] = { 1, 2, 3, 4, 7, 16 };
    static const int64_t ns[] = { 0, 1, 2, 3, 7, 8, 31, 100, 1023, 4999 };
    static const int64_t grains[] = { -5, 0, 1, 2, 3, 10, 64, 1000, 4999, 100000, INT64_MAX };
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        EXPECT_OK(tsr_set_threads(threads[t]));
        for (size_t i = 0; i < sizeof ns / sizeof *ns; i++)
            for (size_t g = 0; g < sizeof grains / sizeof *grains; g++)
                EXPECT_MSG(covers_once(ns[i], grains[g]), "threads %d n %lld grain %lld", threads[t],
                           (long long)ns[i], (long long)grains[g]);
    }
    EXPECT_OK(tsr_set_threads(0));
}

TEST(test_parts_are_even_and_at_least_a_grain)
{
    uint64_t random = 1;
    for (int round = 0; round < 2000; round++) {
        const int64_t n = 1 + test_below(&random, round % 2 ? 50 : 1000000);
        const int64_t grain = 1 + test_below(&random, 200);
        const int threads = 1 + (int)test_below(&random, 32);
        const tsri_split s = tsri_split_loop(n, grain, (tsri_needs){ 0 }, threads);
        const int parts = s.parts;
        bool right = parts >= 1 && parts <= threads * TSRI_PARTS_PER_THREAD;
        right = right && tsri_split_begin(&s, 0) == 0 && tsri_split_begin(&s, parts) == n;
        for (int i = 0; i < parts && right; i++) {
            const int64_t length = tsri_split_begin(&s, i + 1) - tsri_split_begin(&s, i);
            right = (length == n / parts || length == n / parts + 1) && (parts == 1 || length >= grain);
        }
        EXPECT_MSG(right, "n %lld grain %lld threads %d", (long long)n, (long long)grain, threads);
    }
}

/* Parts are as the function needs them, also where loops are split finely. */
static bool meets_needs(const tsri_split *s, tsri_needs needs)
{
    bool right = tsri_split_begin(s, 0) == 0 && tsri_split_begin(s, s->parts) == s->n;
    for (int i = 0; i < s->parts && s->parts > 1; i++) {
        const int64_t begin = tsri_split_begin(s, i), end = tsri_split_begin(s, i + 1);
        right = right && end > begin && end - begin >= needs.least &&
                begin % (needs.multiple ? needs.multiple : 1) == 0;
    }
    return right;
}

TEST(test_parts_are_what_a_function_needs)
{
    uint64_t random = 3;
    int split = 0, shortest = 0;
    for (int round = 0; round < 8000; round++) {
        const int64_t n = 1 + test_below(&random, round % 3 ? 60 : 1000000);
        const tsri_needs needs = { test_below(&random, 20),
                                   test_below(&random, 3) ? test_below(&random, 20) : 0 };
        const int threads = 1 + (int)test_below(&random, 8);
        tsri_split_finely(round % 2);
        const tsri_split s = tsri_split_loop(n, 1 + test_below(&random, 50), needs, threads);
        EXPECT_MSG(meets_needs(&s, needs), "n %lld least %lld multiple %lld threads %d", (long long)n,
                   (long long)needs.least, (long long)needs.multiple, threads);
        split += s.parts > 1;
        shortest += s.parts > 2 && round % 2 && tsri_split_begin(&s, 1) == 1;
    }
    tsri_split_finely(false);
    EXPECT(split > 1000 && shortest > 5);
}

TEST(test_small_work_is_shared_where_loops_are_split_finely)
{
    EXPECT(!tsri_worth_sharing(9, 10) && tsri_worth_sharing(10, 10));
    tsri_split_finely(true);
    EXPECT(tsri_worth_sharing(9, 10) && tsri_worth_sharing(10, 10));
    tsri_split_finely(false);
}

#ifndef TSR_NO_THREADS

static const char *program;     /* this one, to be run again */

/* Ends with the number of parts of a small loop. */
static int count_parts(void) { return tsri_split_loop(10, 1000, (tsri_needs){ 0 }, 2).parts; }

static int parts_with(const char *wish)
{
    char command[600];
    (void)snprintf(command, sizeof command, "%s%s '%s' --parts", wish ? "TSR_SPLIT=" : "env -u TSR_SPLIT",
                   wish ? wish : "", program);
    const int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(test_the_environment_has_loops_split_finely)
{
    EXPECT(parts_with(NULL) == 1);
    EXPECT(parts_with("usual") == 1);
    EXPECT(parts_with("fine") > 1);
}

#endif

TEST(test_parallel_for_over_nothing_calls_nothing)
{
    static tally t;
    EXPECT_OK(tsr_parallel_for(0, 1, count_hits, &t));
    EXPECT(t.calls == 0);
}

static tsr_status count_calls(void *context, int64_t begin, int64_t end)
{
    (void)begin;
    (void)end;
    (void)tsri_fetch_add((int *)context, 1);
    return TSR_OK;
}

static tsr_status add_lengths(void *context, int64_t begin, int64_t end)
{
    (void)tsri_fetch_add((int64_t *)context, end - begin);
    return TSR_OK;
}

TEST(test_huge_loops_have_few_parts)
{
    static const int64_t ns[] = { (int64_t)1 << 40, INT64_MAX };
    EXPECT_OK(tsr_set_threads(4));
    for (int i = 0; i < 2; i++) {
        int calls = 0;
        int64_t total = 0;
        EXPECT_OK(tsr_parallel_for(ns[i], 1, count_calls, &calls));
        EXPECT_OK(tsr_parallel_for(ns[i], 1, add_lengths, &total));
        EXPECT(total == ns[i]);
#ifdef TSR_NO_THREADS
        EXPECT(calls == 1);
#else
        EXPECT(calls == 4 * TSRI_PARTS_PER_THREAD);
#endif
    }
    EXPECT_OK(tsr_set_threads(0));
}

TEST(test_bad_arguments_are_refused_in_words)
{
    EXPECT_FAILS(tsr_parallel_for(10, 1, NULL, NULL), TSR_ENULL, "parallel_for: fn");
    EXPECT_FAILS(tsr_parallel_for(0, 1, NULL, NULL), TSR_ENULL, "parallel_for: fn");
    EXPECT_FAILS(tsr_parallel_for(-3, 1, count_calls, NULL), TSR_EINVAL, "parallel_for: n is -3");
    EXPECT_FAILS(tsr_set_threads(-1), TSR_EINVAL, "set_threads: -1");
    EXPECT_FAILS(tsr_set_threads(4097), TSR_EINVAL, "set_threads: 4097");
}

/* ---- failures ---- */

static tsr_status fail_from_500(void *context, int64_t begin, int64_t end)
{
    (void)context;
    if (end > 500) return tsri_fail(TSR_EINDEX, "part %lld has no luck", (long long)begin);
    return TSR_OK;
}

TEST(test_a_failing_part_ends_the_loop_with_its_message)
{
    EXPECT_OK(tsr_set_threads(4));
    for (int round = 0; round < 200; round++)
        EXPECT_FAILS(tsr_parallel_for(1000, 1, fail_from_500, NULL), TSR_EINDEX, "has no luck");
    EXPECT(loop_works());
    EXPECT_OK(tsr_set_threads(0));
}

TEST(test_a_loop_of_one_part_fails_with_its_message)
{
    EXPECT_FAILS(tsr_parallel_for(1000, 1000, fail_from_500, NULL), TSR_EINDEX, "part 0 has no luck");
}

#ifndef TSR_NO_THREADS

static tsr_status fail_silently(void *context, int64_t begin, int64_t end)
{
    (void)context;
    return begin <= 7 && 7 < end ? TSR_EBOUNDS : TSR_OK;
}

TEST(test_a_part_that_fails_without_a_message_gets_one)
{
    EXPECT_OK(tsr_set_threads(4));
    EXPECT_FAILS(tsr_parallel_for(16, 1, fail_silently, NULL), TSR_EBOUNDS, "7 to 8 failed: view leaves");
    EXPECT_FAILS(tsr_parallel_for(16, 16, fail_silently, NULL), TSR_EBOUNDS, "the part 0 to 16 failed");
    EXPECT_OK(tsr_set_threads(0));
}

/* Parts that wait for each other, so that each has a thread of its own. */
typedef struct meeting {
    int met, expected;
} meeting;

static tsr_status meet(void *context, int64_t begin, int64_t end)
{
    meeting *m = context;
    (void)begin;
    (void)end;
    (void)tsri_fetch_add(&m->met, 1);
    while (tsri_load_acquire(&m->met) < m->expected) sched_yield();
    return TSR_OK;
}

/* A loop that ends only if so many threads work on it at once. */
static bool threads_meet(int threads)
{
    meeting m = { 0, threads };
    return tsr_parallel_for(threads, 1, meet, &m) == TSR_OK && m.met == threads;
}

TEST(test_as_many_threads_as_asked_for_work_at_once)
{
    for (int threads = 2; threads <= 300; threads += threads < 8 ? 1 : 73) {
        EXPECT_OK(tsr_set_threads(threads));
        EXPECT(threads_meet(threads));
        usleep(1000);
        EXPECT(threads_meet(threads));
    }
    EXPECT_OK(tsr_set_threads(0));
}

static pthread_t main_thread;

static tsr_status fail_on_worker(void *context, int64_t begin, int64_t end)
{
    TSRI_TRY(meet(context, begin, end));
    if (pthread_equal(pthread_self(), main_thread)) return TSR_OK;
    return tsri_fail(TSR_EBOUNDS, "an older story");
}

static tsr_status fail_silently_on_worker(void *context, int64_t begin, int64_t end)
{
    TSRI_TRY(meet(context, begin, end));
    return pthread_equal(pthread_self(), main_thread) ? TSR_OK : TSR_EBOUNDS;
}

TEST(test_a_worker_does_not_repeat_the_message_of_an_earlier_loop)
{
    meeting first = { 0, 2 }, second = { 0, 2 };
    main_thread = pthread_self();
    EXPECT_OK(tsr_set_threads(2));
    EXPECT_FAILS(tsr_parallel_for(2, 1, fail_on_worker, &first), TSR_EBOUNDS, "an older story");
    EXPECT_FAILS(tsr_parallel_for(2, 1, fail_silently_on_worker, &second), TSR_EBOUNDS, "the part");
    EXPECT_OK(tsr_set_threads(0));
}

static tsr_status fail_together(void *context, int64_t begin, int64_t end)
{
    TSRI_TRY(meet(context, begin, end));
    return tsri_fail(TSR_EINVAL, "part %lld of the race", (long long)begin);
}

TEST(test_the_lowest_of_several_failing_parts_wins)
{
    EXPECT_OK(tsr_set_threads(4));
    for (int round = 0; round < 100; round++) {
        meeting m = { 0, 4 };
        EXPECT_FAILS(tsr_parallel_for(4, 1, fail_together, &m), TSR_EINVAL, "part 0 of the race");
    }
    EXPECT_OK(tsr_set_threads(0));
}

static tsr_status fail_first(void *context, int64_t begin, int64_t end)
{
    (void)end;
    (void)tsri_fetch_add((int *)context, 1);
    return begin == 0 ? tsri_fail(TSR_EINVAL, "first") : TSR_OK;
}

static tsr_status fail_nested(void *context, int64_t begin, int64_t end)
{
    (void)begin;
    (void)end;
    return tsr_parallel_for(1000, 1, fail_first, context);
}

TEST(test_parts_after_a_failure_are_not_run)
{
    int calls = 0;
    EXPECT_OK(tsr_set_threads(2));
    /* Inside a part the inner loop runs in order, so that "after" is certain. */
    EXPECT_FAILS(tsr_parallel_for(2, 1, fail_nested, &calls), TSR_EINVAL, "first");
    EXPECT(calls >= 1 && calls <= 2);
    EXPECT_OK(tsr_set_threads(0));
}

TEST(test_a_loop_that_succeeds_leaves_the_last_error_alone)
{
    EXPECT_OK(tsr_set_threads(4));
    (void)tsri_fail(TSR_EIO, "an older story");
    EXPECT(loop_works());
    EXPECT(strcmp(tsr_last_error(), "an older story") == 0 && tsr_last_status() == TSR_EIO);
    EXPECT_OK(tsr_set_threads(0));
}

/* ---- nesting ---- */

typedef struct nest {
    pthread_t thread;     /* of the outer part */
    int64_t   expected;   /* where the next inner part must begin */
    int       inner;
    bool      in_place;
} nest;

static tsr_status inner_part(void *context, int64_t begin, int64_t end)
{
    nest *inner = context;
    if (!pthread_equal(pthread_self(), inner->thread) || begin != inner->expected) inner->in_place = false;
    inner->expected = end;
    inner->inner++;
    return TSR_OK;
}

static tsr_status outer_part(void *context, int64_t begin, int64_t end)
{
    int *wrong = context;
    for (int64_t i = begin; i < end; i++) {
        nest inner = { pthread_self(), 0, 0, true };
        TSRI_TRY(tsr_parallel_for(100, 1, inner_part, &inner));
        if (!inner.in_place || inner.expected != 100 || inner.inner != parts_of(100, 1))
            (void)tsri_fetch_add(wrong, 1);
    }
    return TSR_OK;
}

TEST(test_a_loop_inside_a_part_runs_in_order_on_its_thread)
{
    int wrong = 0;
    EXPECT_OK(tsr_set_threads(4));
    EXPECT_OK(tsr_parallel_for(500, 1, outer_part, &wrong));
    EXPECT(wrong == 0);
    EXPECT_OK(tsr_set_threads(0));
}

static tsr_status change_settings(void *context, int64_t begin, int64_t end)
{
    (void)begin;
    (void)end;
    tsr_threads_shutdown();
    if (tsr_set_threads(3) != TSR_EBUSY) (void)tsri_fetch_add((int *)context, 1);
    return TSR_OK;
}

TEST(test_settings_inside_a_part_do_not_wait_for_themselves)
{
    int wrong = 0;
    EXPECT_OK(tsr_set_threads(4));
    EXPECT_OK(tsr_parallel_for(100, 1, change_settings, &wrong));
    EXPECT(wrong == 0);
    EXPECT(tsr_threads() == 4);
    EXPECT_OK(tsr_set_threads(0));
}

/* ---- several callers ---- */

static void *call_loops(void *wrong)
{
    for (int i = 0; i < 400; i++)
        if (!loop_works()) (void)tsri_fetch_add((int *)wrong, 1);
    for (int i = 0; i < 100; i++) {
        tsr_clear_error();
        if (tsr_parallel_for(1000, 1, fail_from_500, NULL) != TSR_EINDEX || !strstr(tsr_last_error(), "luck"))
            (void)tsri_fetch_add((int *)wrong, 1);
    }
    return NULL;
}

TEST(test_several_threads_may_call_at_once)
{
    pthread_t caller[4];
    int wrong = 0;
    EXPECT_OK(tsr_set_threads(3));
    for (int i = 0; i < 4; i++) EXPECT(pthread_create(&caller[i], NULL, call_loops, &wrong) == 0);
    for (int i = 0; i < 50; i++) {
        EXPECT_OK(tsr_set_threads(2 + i % 3));
        if (i % 10 == 0) tsr_threads_shutdown();
    }
    for (int i = 0; i < 4; i++) pthread_join(caller[i], NULL);
    EXPECT(wrong == 0);
    EXPECT_OK(tsr_set_threads(0));
}

/* Held by a loop of another thread: the pool is taken as long as we like. */
typedef struct held {
    int taken, release;
} held;

static tsr_status hold_part(void *context, int64_t begin, int64_t end)
{
    held *h = context;
    (void)begin;
    (void)end;
    tsri_store_release(&h->taken, 1);
    while (!tsri_load_acquire(&h->release)) sched_yield();
    return TSR_OK;
}

static void *hold_pool(void *context)
{
    const tsr_status status = tsr_parallel_for(3, 1, hold_part, context);
    return status == TSR_OK ? context : NULL;
}

TEST(test_a_loop_runs_in_order_on_its_thread_while_the_pool_is_taken)
{
    pthread_t other;
    void *ended = NULL;
    held h = { 0, 0 };
    EXPECT_OK(tsr_set_threads(3));
    EXPECT(pthread_create(&other, NULL, hold_pool, &h) == 0);
    while (!tsri_load_acquire(&h.taken)) sched_yield();
    nest inner = { pthread_self(), 0, 0, true };
    EXPECT_OK(tsr_parallel_for(100, 1, inner_part, &inner));
    EXPECT(inner.in_place && inner.expected == 100 && inner.inner == 3 * TSRI_PARTS_PER_THREAD);
    EXPECT_FAILS(tsr_parallel_for(1000, 1, fail_from_500, NULL), TSR_EINDEX, "has no luck");
    tsri_store_release(&h.release, 1);
    pthread_join(other, &ended);
    EXPECT(ended == &h);
    EXPECT_OK(tsr_set_threads(0));
}

/* ---- settings ---- */

/* A child that hangs fails too. A worker's child would leave the alarm blocked. */
static void end_me_if_i_hang(void)
{
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGALRM);
    (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    alarm(20);
}

static pid_t fork_or_stop(void)
{
    const pid_t child = fork();
    if (child < 0) abort();
    if (child == 0) end_me_if_i_hang();
    return child;
}

/* -1 is any child. */
static bool child_succeeds(pid_t child)
{
    int status = 0;
    return waitpid(child, &status, 0) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* A TSan run has a thread of its own, so only differences mean anything. */
static int live_threads(void)
{
    int count = 0;
    DIR *dir = opendir("/proc/self/task");
    if (!dir) return -1;
    for (const struct dirent *e; (e = readdir(dir)) != NULL;) count += e->d_name[0] != '.';
    closedir(dir);
    return count;
}

/* A joined thread may stay listed for a moment. */
static bool live_threads_become(int count)
{
    for (int i = 0; i < 2000; i++) {
        if (live_threads() == count) return true;
        usleep(1000);
    }
    return false;
}

TEST(test_set_threads_changes_the_pool)
{
    tsr_threads_shutdown();
    const int before = live_threads();
    if (before < 0) SKIP("no /proc/self/task");
    for (int threads = 1; threads <= 6; threads++) {
        EXPECT_OK(tsr_set_threads(threads));
        EXPECT(tsr_threads() == threads);
        EXPECT(live_threads_become(before));
        EXPECT(loop_works());
        EXPECT(live_threads() == before + threads - 1);
    }
    EXPECT_OK(tsr_set_threads(6));
    EXPECT_MSG(live_threads() == before + 5, "the same number must keep the workers");
    EXPECT_OK(tsr_set_threads(0));
    EXPECT(live_threads_become(before));
}

TEST(test_the_pool_starts_no_more_workers_than_parts_need)
{
    int calls = 0;
    tsr_threads_shutdown();
    const int before = live_threads();
    if (before < 0) SKIP("no /proc/self/task");
    EXPECT_OK(tsr_set_threads(8));
    EXPECT_OK(tsr_parallel_for(3, 1, count_calls, &calls));
    EXPECT(calls == 3 && live_threads() == before + 2);
    EXPECT_OK(tsr_set_threads(0));
}

TEST(test_the_pool_shuts_down_and_starts_again)
{
    EXPECT_OK(tsr_set_threads(4));
    tsr_threads_shutdown();
    const int before = live_threads();
    for (int i = 0; i < 30; i++) {
        EXPECT(loop_works());
        EXPECT(before < 0 || live_threads() == before + 3);
        tsr_threads_shutdown();
        tsr_threads_shutdown();
        EXPECT(before < 0 || live_threads_become(before));
    }
    EXPECT_OK(tsr_set_threads(0));
}

TEST(test_a_system_without_threads_to_give_means_fewer_threads)
{
    if (UNDER_SANITIZER) SKIP("sanitizers need memory of their own");
    EXPECT_OK(tsr_set_threads(0));
    const pid_t child = fork_or_stop();
    if (child == 0) {
        struct rlimit usual, none;
        if (tsr_set_threads(64) != TSR_OK || getrlimit(RLIMIT_AS, &usual) != 0) TEST_LEAVE(1);
        none = (struct rlimit){ 0, usual.rlim_max };
        if (setrlimit(RLIMIT_AS, &none) != 0) TEST_LEAVE(1);
        bool works = loop_works() && loop_works() && live_threads() < 64;
        tsr_threads_shutdown();
        works = works && loop_works() && tsr_threads() == 64;
        (void)setrlimit(RLIMIT_AS, &usual);
        TEST_LEAVE(works ? 0 : 1);
    }
    EXPECT(child_succeeds(child));
}

TEST(test_who_waits_for_what_happened_does_not_sleep)
{
    uint32_t word = 5, sleepers = 0;
    tsri_await_change(&word, 4, &sleepers, true);
    tsri_await_change(&word, 4, &sleepers, false);
    EXPECT(sleepers == 0 && word == 5);
}

TEST(test_loops_wake_workers_that_went_to_sleep)
{
    EXPECT_OK(tsr_set_threads(4));
    for (int i = 0; i < 60; i++) {
        EXPECT(loop_works());
        usleep((useconds_t)(i * 20));
    }
    EXPECT_OK(tsr_set_threads(0));
}

static int deaf_threads;

static tsr_status look_at_mask(void *context, int64_t begin, int64_t end)
{
    sigset_t mask;
    TSRI_TRY(meet(context, begin, end));
    (void)pthread_sigmask(SIG_SETMASK, NULL, &mask);
    const bool deaf = sigismember(&mask, SIGTERM) && sigismember(&mask, SIGUSR1);
    (void)tsri_fetch_add(&deaf_threads, deaf && !sigismember(&mask, SIGSEGV));
    return TSR_OK;
}

TEST(test_workers_take_no_signals_and_the_caller_keeps_his)
{
    meeting m = { 0, 2 };
    sigset_t mask;
    deaf_threads = 0;
    EXPECT_OK(tsr_set_threads(2));
    EXPECT_OK(tsr_parallel_for(2, 1, look_at_mask, &m));
    EXPECT(deaf_threads == 1);
    (void)pthread_sigmask(SIG_SETMASK, NULL, &mask);
    EXPECT(!sigismember(&mask, SIGTERM));
    EXPECT_OK(tsr_set_threads(0));
}

/* ---- fork ---- */

TEST(test_a_child_of_fork_has_a_pool_of_its_own)
{
    EXPECT_OK(tsr_set_threads(3));
    for (int i = 0; i < 50; i++) {
        EXPECT(loop_works());
        if (i % 2) usleep(200); /* workers asleep in one half, spinning in the other */
        const pid_t child = fork_or_stop();
        if (child == 0) {
            const bool works = UNDER_TSAN || (loop_works() && threads_meet(3) && tsr_threads() == 3);
            if (i % 3 == 0) tsr_threads_shutdown();
            TEST_LEAVE(works ? 0 : 1);
        }
        EXPECT(child_succeeds(child));
        EXPECT(loop_works());
    }
    EXPECT_OK(tsr_set_threads(0));
}

static void *loop_until_told(void *stop)
{
    int64_t sum = 0;
    while (!tsri_load_acquire((int *)stop))
        if (tsr_parallel_for(1000, 1, add_indices, &sum) != TSR_OK) break;
    return NULL;
}

TEST(test_fork_is_safe_while_another_thread_is_in_a_loop)
{
    pthread_t other;
    int stop = 0;
    EXPECT_OK(tsr_set_threads(3));
    EXPECT(pthread_create(&other, NULL, loop_until_told, &stop) == 0);
    for (int i = 0; i < 50; i++) {
        const pid_t child = fork_or_stop();
        if (child == 0) TEST_LEAVE(UNDER_TSAN || (loop_works() && threads_meet(3)) ? 0 : 1);
        EXPECT(child_succeeds(child));
    }
    tsri_store_release(&stop, 1);
    pthread_join(other, NULL);
    EXPECT_OK(tsr_set_threads(0));
}

static tsr_status fork_in_part(void *context, int64_t begin, int64_t end)
{
    (void)begin;
    (void)end;
    const pid_t child = fork_or_stop();
    if (child == 0) {
        const bool works = UNDER_TSAN || (threads_meet(3) && tsr_set_threads(2) == TSR_OK && loop_works());
        TEST_LEAVE(works ? 0 : 1);
    }
    (void)tsri_fetch_add((int *)context, child_succeeds(child));
    return TSR_OK;
}

TEST(test_a_part_may_fork)
{
    int succeeded = 0;
    EXPECT_OK(tsr_set_threads(3));
    for (int i = 0; i < 10; i++) EXPECT_OK(tsr_parallel_for(6, 1, fork_in_part, &succeeded));
    EXPECT(succeeded == 60);
    EXPECT(loop_works());
    EXPECT_OK(tsr_set_threads(0));
}

static pid_t fork_in_zero_parent;

static tsr_status fork_in_zero(void *context, int64_t begin, int64_t end)
{
    (void)context;
    (void)end;
    if (begin == 0) (void)fork_or_stop();
    return TSR_OK;
}

/* The child comes back from the part on a copy of the caller's stack (then the
 * call fails in words) or of a worker's (then the child ends). */
TEST(test_returning_from_a_part_in_the_child_never_hangs)
{
    if (UNDER_TSAN) SKIP("TSan cannot follow it");
    fork_in_zero_parent = getpid();
    EXPECT_OK(tsr_set_threads(2));
    for (int i = 0; i < 20; i++) {
        tsr_clear_error();
        const tsr_status status = tsr_parallel_for(2, 1, fork_in_zero, NULL);
        if (getpid() != fork_in_zero_parent) {
            const bool told = status == TSR_EUNSUPPORTED && strstr(tsr_last_error(), "fork()");
            TEST_LEAVE(told && loop_works() ? 0 : 1);
        }
        EXPECT_STATUS(status, TSR_OK);
        EXPECT(child_succeeds(-1));
    }
    EXPECT_OK(tsr_set_threads(0));
}

static tsr_status exit_in_part(void *context, int64_t begin, int64_t end)
{
    (void)context;
    (void)end;
    if (begin == 1) exit(0);
    return TSR_OK;
}

TEST(test_exit_never_hangs)
{
    const int rounds = UNDER_TSAN ? 6 : 30; /* TSan sleeps a second in exit() */
    for (int i = 0; i < rounds; i++) {
        fflush(stdout);
        const pid_t child = fork_or_stop();
        if (child == 0) {
            if (tsr_set_threads(3) != TSR_OK || !loop_works()) TEST_LEAVE(1);
            if (i % 3 == 0) exit(0);                        /* with a live pool */
            if (i % 3 == 1) usleep(1000);
            (void)!tsr_parallel_for(12, 1, exit_in_part, NULL); /* from a part, whoever runs it */
            TEST_LEAVE(1);
        }
        EXPECT(child_succeeds(child));
    }
}

/* ---- counting CPUs ---- */

TEST(test_the_default_respects_affinity)
{
#ifdef __linux__
    EXPECT(tsr_available_threads() >= 1 && tsr_threads() >= 1);
    const pid_t child = fork_or_stop();
    if (child == 0) {
        cpu_set_t allowed, one;
        unsetenv("TSR_THREADS");
        CPU_ZERO(&one);
        if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) TEST_LEAVE(0);
        for (size_t cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++)
            if (CPU_ISSET(cpu, &allowed)) CPU_SET(cpu, &one);
        if (sched_setaffinity(0, sizeof one, &one) != 0) TEST_LEAVE(0);
        TEST_LEAVE(tsr_available_threads() == 1 && tsr_threads() == 1 && loop_works() ? 0 : 1);
    }
    EXPECT(child_succeeds(child));
#else
    SKIP("no affinity masks here");
#endif
}

/* The system call fails in this process from now on; false if that cannot be had. */
static bool forbid_call(unsigned number)
{
#if defined(__linux__) && defined(__x86_64__)
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),  /* the call's number */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog rules = { sizeof filter / sizeof *filter, filter };
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &rules) == 0;
#else
    (void)number;
    return false;
#endif
}

TEST(test_a_system_without_any_thread_to_give_has_the_caller_do_all)
{
#if defined(__linux__) && defined(SYS_clone3)
    if (UNDER_SANITIZER) SKIP("sanitizers make threads of their own");
    EXPECT_OK(tsr_set_threads(0));
    const pid_t child = fork_or_stop();
    if (child == 0) {
        if (!forbid_call(SYS_clone3) || !forbid_call(SYS_clone)) TEST_LEAVE(0);
        const bool works = tsr_set_threads(4) == TSR_OK && loop_works() && loop_works();
        TEST_LEAVE(works && live_threads() == 1 ? 0 : 1);
    }
    EXPECT(child_succeeds(child));
#else
    SKIP("no way to forbid threads here");
#endif
}

TEST(test_without_affinity_masks_all_processors_count)
{
#ifdef __linux__
    if (UNDER_SANITIZER) SKIP("sanitizers ask for affinity masks too");
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    const pid_t child = fork_or_stop();
    if (child == 0) {
        if (!forbid_call(SYS_sched_getaffinity)) TEST_LEAVE(0);
        const int n = tsr_available_threads();
        TEST_LEAVE(n >= 1 && n <= online ? 0 : 1);
    }
    EXPECT(child_succeeds(child));
#else
    SKIP("no affinity masks here");
#endif
}

TEST(test_the_environment_names_the_default)
{
    const pid_t child = fork_or_stop();
    if (child == 0) {
        bool right = true;
        setenv("TSR_THREADS", "5", 1);
        right = right && tsr_set_threads(0) == TSR_OK && tsr_threads() == 5 && loop_works();
        right = right && tsr_set_threads(2) == TSR_OK && tsr_threads() == 2;
        setenv("TSR_THREADS", "five", 1);
        right = right && tsr_set_threads(0) == TSR_OK && tsr_threads() == tsr_available_threads();
        TEST_LEAVE(right ? 0 : 1);
    }
    EXPECT(child_succeeds(child));
}

static void write_text(const char *dir, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    if (!text) {
        (void)mkdir(path, 0700);
        return;
    }
    FILE *f = fopen(path, "w");
    if (!f) return;
    fputs(text, f);
    fclose(f);
}

TEST(test_the_tightest_limit_up_to_the_root_counts)
{
    char root[] = "/tmp/tessera-cgroup-XXXXXX", deep[5000];
    char command[128], above[128];
    if (!mkdtemp(root)) SKIP("no folder for a pretended /sys/fs/cgroup");
    write_text(root, "pod", NULL);
    write_text(root, "pod/box", NULL);
    write_text(root, "pod/cpu.max", "250000 100000\n");
    write_text(root, "pod/box/cpu.max", "max 100000\n");
    write_text(root, "cpu", NULL);
    write_text(root, "cpu/old", NULL);
    write_text(root, "cpu/cpu.cfs_quota_us", "700000\n");
    write_text(root, "cpu/cpu.cfs_period_us", "100000\n");
    write_text(root, "cpu/old/cpu.cfs_quota_us", "-1\n");
    write_text(root, "cpu/old/cpu.cfs_period_us", "100000\n");

    EXPECT(tsri_cgroup_limit(root, "0::/pod/box\n") == 3);
    EXPECT(tsri_cgroup_limit(root, "0::/pod/box/deeper/still\n") == 3);
    EXPECT(tsri_cgroup_limit(root, "0::/\n") == 0);
    snprintf(above, sizeof above, "%s/cpu", root);
    EXPECT(tsri_cgroup_limit(above, "0::/../pod\n") == 0);
    EXPECT(tsri_cgroup_limit(root, "4:cpu,cpuacct:/old\n0::/\n") == 7);
    EXPECT(tsri_cgroup_limit(root, "4:cpu,cpuacct:/not/here\n") == 7);
    EXPECT(tsri_cgroup_limit(root, "4:cpu:/old\n0::/pod\n") == 3);
    EXPECT(tsri_cgroup_limit(root, "4:memory:/old\n") == 0);
    EXPECT(tsri_cgroup_limit(root, "4:cpu:/old/.hidden\n0::/\n") == 7);  /* a dot is no step up */
    memset(deep, 'd', sizeof deep - 2);
    memcpy(deep, "0::/", 4);
    memcpy(deep + sizeof deep - 2, "\n", 2);
    EXPECT(tsri_cgroup_limit(root, deep) == 0);  /* longer than a path is */
    EXPECT(tsri_cgroup_limit("/nowhere", "4:cpu:/old\n0::/pod\n") == 0);
    for (size_t n = 1000; n < 1030;
         n++) { /* about as long as a path may be: the folders that fit count, or none */
        memset(deep, 'd', n);
        memcpy(deep, "0::/pod/", 8);
        memcpy(deep + n - strlen(root), "\n", 2);
        const int limit = tsri_cgroup_limit(root, deep);
        EXPECT_MSG(limit == (n - 3 < 1024 ? 3 : 0), "%d for a path of %zu bytes", limit, n - 3);
    }
    write_text(root, "pod/box/cpu.max", "150000 100000\n");
    EXPECT(tsri_cgroup_limit(root, "0::/pod/box\n") == 2);  /* now the group's own is the tightest */
    write_text(root, "pod/box/cpu.max", "500000 100000\n");
    EXPECT(tsri_cgroup_limit(root, "0::/pod/box\n") == 3);
    write_text(root, "pod/box/cpu.max",
               "max 100000 and more words than a limit has, so that they are not all read\n");
    EXPECT(tsri_cgroup_limit(root, "0::/pod/box\n") == 3);

    snprintf(command, sizeof command, "rm -r %s", root);
    EXPECT(system(command) == 0);
}

#endif

TEST(test_quotas_round_up_and_nonsense_is_no_limit)
{
    EXPECT(tsri_quota_v2("max 100000\n") == 0);
    EXPECT(tsri_quota_v2("\t200000\t100000 \t\n") == 2);
    EXPECT(tsri_quota_v2("100000 100000\n") == 1);
    EXPECT(tsri_quota_v2("150000 100000\n") == 2);
    EXPECT(tsri_quota_v2("1000 100000") == 1);
    EXPECT(tsri_quota_v2("400000 100000") == 4);
    EXPECT(tsri_quota_v2("999999999999999999 1") == TSRI_MAX_THREADS);
    EXPECT(tsri_quota_v2("9999999999999999999 1") == 0);
    EXPECT(tsri_quota_v2("100000 0") == 0);
    EXPECT(tsri_quota_v2("100000") == 0);
    EXPECT(tsri_quota_v2("100000 1x") == 0);
    EXPECT(tsri_quota_v2("") == 0);
    EXPECT(tsri_quota_v1("-1\n", "100000\n") == 0);
    EXPECT(tsri_quota_v1("250000\n", "100000\n") == 3);
    EXPECT(tsri_quota_v1("50000\n", "100000\n") == 1);
    EXPECT(tsri_quota_v1("", "") == 0);
    EXPECT(tsri_quota_v1("5", "") == 0);
    EXPECT(tsri_quota_v1("250000x", "100000") == 0);
    EXPECT(tsri_quota_v1("250000", "100000 1") == 0);
    EXPECT(tsri_quota_v1("0", "100000") == 0);
}

TEST(test_the_own_group_is_found_by_controller)
{
    static const char hybrid[] = "12:cpuset:/a\n9:name=systemd:/b\n"
                                 "4:cpuacct,cpu:/docker/x:y\n0::/user.slice\n";
    char path[32], small[4];
    EXPECT(tsri_cgroup_path(path, sizeof path, hybrid, "cpu") && !strcmp(path, "/docker/x:y"));
    EXPECT(tsri_cgroup_path(path, sizeof path, hybrid, "") && !strcmp(path, "/user.slice"));
    EXPECT(tsri_cgroup_path(path, sizeof path, hybrid, "cpuset") && !strcmp(path, "/a"));
    EXPECT(tsri_cgroup_path(path, sizeof path, "0::/last", "") && !strcmp(path, "/last"));
    EXPECT(!tsri_cgroup_path(path, sizeof path, hybrid, "cp"));
    EXPECT(!tsri_cgroup_path(path, sizeof path, hybrid, "memory"));
    EXPECT(!tsri_cgroup_path(small, sizeof small, hybrid, "cpu"));
    EXPECT(!tsri_cgroup_path(path, sizeof path, "", ""));
    EXPECT(!tsri_cgroup_path(path, sizeof path, ":\n::\n:::\n0\n0:", ""));
}

TEST(test_a_wish_for_threads_is_one_positive_number)
{
    EXPECT(tsri_threads_wish("4") == 4);
    EXPECT(tsri_threads_wish(" 12 \n") == 12);
    EXPECT(tsri_threads_wish("99999") == TSRI_MAX_THREADS);
    EXPECT(tsri_threads_wish("0") == 0);
    EXPECT(tsri_threads_wish("-2") == 0);
    EXPECT(tsri_threads_wish("4 5") == 0);
    EXPECT(tsri_threads_wish("four") == 0);
    EXPECT(tsri_threads_wish("") == 0);
    EXPECT(tsri_threads_wish(NULL) == 0);
}

/* ---- executors ---- */

#ifndef TSR_NO_THREADS

typedef struct order {
    int calls, parts;
    int skip;           /* how many parts to leave out */
    int first;          /* an extra part number to ask for */
} order;

static void run_backwards(void *executor_context, int parts, tsr_part_fn body, void *context)
{
    order *o = executor_context;
    o->calls++;
    o->parts = parts;
    body(context, o->first);
    for (int i = parts - 1; i >= o->skip; i--) body(context, i);
}

typedef struct task {
    tsr_part_fn body;
    void       *context;
    int         part;
} task;

static void *run_task(void *arg)
{
    const task *t = arg;
    t->body(t->context, t->part);
    return NULL;
}

static void run_on_own_threads(void *executor_context, int parts, tsr_part_fn body, void *context)
{
    pthread_t thread[64];
    task tasks[64];
    (void)executor_context;
    for (int i = 0; i < parts; i++) {
        tasks[i] = (task){ body, context, i };
        if (pthread_create(&thread[i], NULL, run_task, &tasks[i]) != 0) abort();
    }
    for (int i = 0; i < parts; i++) pthread_join(thread[i], NULL);
}

TEST(test_an_executor_replaces_the_pool)
{
    order o = { 0, 0, 0, -1 };
    int wrong = 0;
    EXPECT_OK(tsr_set_threads(3));
    tsr_set_executor(run_backwards, &o);
    EXPECT(covers_once(1000, 10));
    EXPECT(o.calls == 1 && o.parts == 3 * TSRI_PARTS_PER_THREAD);
    EXPECT(covers_once(7, 2));
    EXPECT(o.calls == 2 && o.parts == 3);
    EXPECT_OK(tsr_parallel_for(20, 1, outer_part, &wrong));
    EXPECT(wrong == 0 && o.calls == 3);
    EXPECT(covers_once(1, 1));
    EXPECT(o.calls == 3);
    tsr_set_executor(NULL, NULL);
    EXPECT(covers_once(1000, 10));
    EXPECT(o.calls == 3);
    EXPECT_OK(tsr_set_threads(0));
}

TEST(test_failures_come_through_an_executor)
{
    EXPECT_OK(tsr_set_threads(4));
    tsr_set_executor(run_on_own_threads, NULL);
    EXPECT(covers_once(1000, 1));
    for (int i = 0; i < 20; i++) {
        meeting m = { 0, 4 };
        EXPECT_FAILS(tsr_parallel_for(4, 1, fail_together, &m), TSR_EINVAL, "part 0 of the race");
    }
    tsr_set_executor(NULL, NULL);
    EXPECT_OK(tsr_set_threads(0));
}

TEST(test_an_executor_that_leaves_parts_out_is_found_out)
{
    order o = { 0, 0, 2, 1000 };
    int calls = 0;
    EXPECT_OK(tsr_set_threads(2));
    tsr_set_executor(run_backwards, &o);
    EXPECT_FAILS(tsr_parallel_for(100, 1, count_calls, &calls), TSR_EUNSUPPORTED, "ran 6 of 8 parts");
    tsr_set_executor(NULL, NULL);
    EXPECT_OK(tsr_set_threads(0));
}

#endif

int main(int argc, char **argv)
{
#ifndef TSR_NO_THREADS
    if (argc > 1 && !strcmp(argv[1], "--parts")) return count_parts();
    program = argv[0];
#endif
    TEST_BEGIN(argc, argv);
    return test_all();
}
