/* The n-th allocation of every op fails, for every n until the op succeeds: refused by the hook, by an
 * allocator of the test's own with the pool on and off, and by the system.
 *
 * After each failure: the status is TSR_ENOMEM, nothing is leaked, a result that was NULL is NULL,
 * a result that was given has its descriptor and its memory, and operands are what they were. The
 * allocator finds out whether each block comes back with the size that was asked for, and whether
 * the bytes around it were written to. The calls are listed in op_calls.inc. test_oom_net.c tries every dtype
 * and layout, and ops in parts, with some of their allocations. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* mallopt, MAP_ANONYMOUS */
#endif
#include <sched.h>
#include <unistd.h>

#define TEST_OWN_MAIN
#include "test.h"

#include "core/memory_int.h"
#include "ops/dispatch.h"
#include "sanitizers.h"
#if defined(__linux__) && !UNDER_TSAN && !defined(TSRI_ASAN) && !defined(TSRI_MSAN)
#define HAVE_LIMITS 1
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#endif

/* An allocator that checks ------------------------------------------------------------ */

enum { GUARD = 64, BEFORE = 0xb5, BEHIND = 0xc6 };

/* In the first bytes of a block; the data follow at `skip`. */
typedef struct tag { size_t bytes, skip; } tag;

static struct {
    long countdown;      /* 1: the next allocation fails; 0: none does; -1: every one does */
    long fired;          /* how many were refused */
    bool lasting;        /* from the n-th on all are refused */
    long live;           /* blocks that did not come back yet */
    long wrong;          /* blocks that came back with another size */
    long overrun;        /* blocks whose surroundings were written to */
} state;

/* May the next allocation be made? Asked by several threads. */
static bool is_allowed(void)
{
    long left = __atomic_load_n(&state.countdown, __ATOMIC_RELAXED);
    while (left > 0 &&
           !__atomic_compare_exchange_n(&state.countdown, &left, left == 1 && state.lasting ? -1 : left - 1,
                                        false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
    if (left == 0 || left > 1) return true;
    (void)__atomic_fetch_add(&state.fired, 1, __ATOMIC_RELAXED);
    return false;
}

static bool ask(void *context, size_t bytes)
{
    (void)context; (void)bytes;
    return is_allowed();
}

static bool holds(const unsigned char *p, int byte)
{
    for (int i = 0; i < GUARD; i++)
        if (p[i] != byte) return false;
    return true;
}

static void *checked_alloc(void *context, size_t bytes, size_t alignment)
{
    const size_t step = alignment > GUARD ? alignment : GUARD, skip = step > 2 * GUARD ? step : 2 * GUARD;
    (void)context;
    if (*(const bool *)context && !is_allowed()) return NULL;
    unsigned char *block = aligned_alloc(step, (skip + bytes + GUARD + step - 1) / step * step);
    if (!block) return NULL;
    *(tag *)(void *)(block + skip - 2 * GUARD) = (tag){ bytes, skip };
    memset(block + skip - GUARD, BEFORE, GUARD);
    memset(block + skip, 0xee, bytes);  /* nobody may count on zeros */
    memset(block + skip + bytes, BEHIND, GUARD);
    (void)__atomic_fetch_add(&state.live, 1, __ATOMIC_RELAXED);
    return block + skip;
}

static void checked_free(void *context, void *data, size_t bytes)
{
    unsigned char *p = data;
    const tag t = *(const tag *)(const void *)(p - 2 * GUARD);
    (void)context;
    if (t.bytes != bytes) (void)__atomic_fetch_add(&state.wrong, 1, __ATOMIC_RELAXED);
    if (!holds(p - GUARD, BEFORE) || !holds(p + t.bytes, BEHIND))
        (void)__atomic_fetch_add(&state.overrun, 1, __ATOMIC_RELAXED);
    (void)__atomic_fetch_sub(&state.live, 1, __ATOMIC_RELAXED);
    free(p - t.skip);
}

static bool allocator_fails;
static const tsr_allocator checked = { &allocator_fails, checked_alloc, checked_free };

#include "op_inputs.h"

/* Operands that stay as they are ------------------------------------------------------- */

static uint64_t hash_bytes(uint64_t h, const tsr_tensor *t)
{
    const unsigned char *data = tsr_storage_data(t->storage);
    const size_t n = tsr_storage_bytes(t->storage);
    for (size_t i = 0; i < n; i += 8) {
        uint64_t word = 0;
        memcpy(&word, data + i, n - i < 8 ? n - i : 8);
        h = (h ^ word) * 0x100000001b3u;
    }
    return h;
}

static uint64_t hash_inputs(void)
{
    uint64_t h = 0xcbf29ce484222325u;
#define I(name) h = hash_bytes(h, name);
    INPUTS(I)
#undef I
    return h;
}

/* Result handles ---------------------------------------------------------------------------- */

typedef enum handle {
    FRESH,    /* NULL */
    GIVEN,    /* a packed tensor */
    STRIDED,  /* a part of a larger one */
    HANDLES
} handle;

static const char *const handle_names[HANDLES] = { "NULL", "a packed result", "a strided result" };

/* What the call makes when nothing fails. */
static tsr_tensor *wanted[OUTS];

static void give_strided(tsr_tensor **result, const tsr_tensor *like)
{
    int64_t shape[TSR_MAX_NDIM];
    const int last = like->ndim - 1;
    tsr_tensor *base = NULL;
    memcpy(shape, like->shape, sizeof shape);
    shape[last] += 3;
    EXPECT_OK(tsr_zeros(&base, like->dtype, like->ndim, shape));
    EXPECT_OK(tsr_slice(result, base, last, 1, 1 + like->shape[last], 1));
    tsr_release(&base);
}

static void give_results(handle h)
{
    for (int i = 0; i < OUTS && h != FRESH; i++) {
        if (!wanted[i]) continue;
        if (h == STRIDED && wanted[i]->ndim > 0) give_strided(&out[i], wanted[i]);
        else EXPECT_OK(tsr_empty(&out[i], wanted[i]->dtype, wanted[i]->ndim, wanted[i]->shape));
    }
}

/* One run ------------------------------------------------------------------------------------- */

/* How allocations fail. */
typedef struct mode {
    const char *name;
    bool        by_hook, lasting, pool;
    int         threads;
} mode;

typedef struct before {
    tsr_memory_stats stats;
    tsr_tensor      *result[OUTS];
    tsr_desc         desc[OUTS];
    void            *data[OUTS];
    long             live;
} before;

static void look(before *b)
{
    tsr_memory_get_stats(&b->stats);
    b->live = state.live;
    for (int i = 0; i < OUTS; i++) {
        b->result[i] = out[i];
        if (out[i]) b->desc[i] = out[i]->desc;
        b->data[i] = out[i] ? out[i]->data : NULL;
    }
}

static void arm(const mode *m, long n)
{
    state.lasting = m->lasting;
    state.fired = 0;
    allocator_fails = !m->by_hook;
    if (m->by_hook) tsr_set_alloc_hook(ask, NULL);
    state.countdown = n;
}

static void disarm(void)
{
    state.countdown = 0;
    allocator_fails = false;
    tsr_set_alloc_hook(NULL, NULL);
}

#define WHO "%s with %s, %s, %d threads, allocation %ld"
#define WHO_IS s->name, handle_names[h], m->name, m->threads, n

static void check_results_kept(const struct scenario *s, handle h, const mode *m, long n, const before *b)
{
    for (int i = 0; i < OUTS; i++) {
        EXPECT_MSG(out[i] == b->result[i], WHO ": result %d is another", WHO_IS, i);
        if (!out[i] || out[i] != b->result[i]) continue;
        EXPECT_MSG(tsr_desc_same(&out[i]->desc, &b->desc[i]) && out[i]->data == b->data[i] &&
                       tsr_check(out[i]) == TSR_OK,
                   WHO ": the descriptor of result %d changed", WHO_IS, i);
    }
}

static void check_nothing_leaked(const struct scenario *s, handle h, const mode *m, long n, const before *b)
{
    tsr_memory_stats after;
    tsr_memory_get_stats(&after);
    EXPECT_MSG(after.live_tensors == b->stats.live_tensors && after.live_storages == b->stats.live_storages &&
                   after.live_bytes == b->stats.live_bytes,
               WHO " leaked %lld tensors, %lld storages, %lld bytes", WHO_IS,
               (long long)(after.live_tensors - b->stats.live_tensors),
               (long long)(after.live_storages - b->stats.live_storages),
               (long long)(after.live_bytes - b->stats.live_bytes));
    if (m->pool && m->threads > 1) return;  /* workers keep blocks of their own */
    (void)tsr_pool_trim(0);
    EXPECT_MSG(state.live == b->live, WHO " leaked %ld blocks", WHO_IS, state.live - b->live);
}

/* A call that got by without an allocation has the same result. */
static void check_results(const struct scenario *s, handle h, const mode *m, long n)
{
    for (int i = 0; i < OUTS; i++) {
        bool same = !wanted[i] && !out[i];
        if (wanted[i] && out[i])
            EXPECT_OK(tsr_allclose(&same, out[i], wanted[i],
                                   &(tsr_close_opts){ .rtol = 1e-5, .atol = 1e-5, .equal_nan = true }, NULL));
        EXPECT_MSG(same, WHO ": another result %d than without failures", WHO_IS, i);
    }
}

/* The n-th allocation fails; false if there was no n-th. */
static bool fails_at(const struct scenario *s, handle h, const mode *m, long n)
{
    before b;
    if (s->does == WRITES) make_own();
    give_results(h);
    (void)tsr_pool_trim(0);
    tsr_clear_error();
    look(&b);
    arm(m, n);
    const tsr_status status = s->run();
    disarm();
    const bool fired = state.fired > 0;
    EXPECT_MSG(status == TSR_OK || (fired && status == TSR_ENOMEM && tsr_last_status() == TSR_ENOMEM),
               WHO " gave %s: %s", WHO_IS, tsr_status_name(status), tsr_last_error());
    if (status == TSR_OK && s->does != WRITES) check_results(s, h, m, n);
    if (status != TSR_OK) {
        check_results_kept(s, h, m, n, &b);
        check_nothing_leaked(s, h, m, n, &b);
    }
    drop_results();
    drop_own();
    return fired;
}

/* All of them ----------------------------------------------------------------------------------- */

static void find_wanted(const struct scenario *s)
{
    if (s->does == WRITES) make_own();
    EXPECT_OK(s->run());
    drop_own();
    for (int i = 0; i < OUTS; i++) {
        wanted[i] = out[i];
        out[i] = NULL;
    }
}

static void drop_wanted(void)
{
    for (int i = 0; i < OUTS; i++) tsr_release(&wanted[i]);
}

static void check_scenario(const struct scenario *s, const mode *m)
{
    enum { MOST = 300 };
    find_wanted(s);
    for (int h = 0; h < (s->does == WRITES ? 1 : HANDLES); h++) {
        long n = 1;
        if (h == GIVEN && m->threads > 1) continue;  /* a strided one says as much */
        while (n < MOST && fails_at(s, (handle)h, m, n)) n++;
        EXPECT_MSG(n < MOST, "%s never succeeds", s->name);
        if (h == FRESH && s->does != WRITES && m->by_hook) EXPECT_MSG(n > 1, "%s allocates nothing", s->name);
    }
    drop_wanted();
}

static long at_rest(void)
{
    tsr_threads_shutdown();
    (void)tsr_pool_trim(0);
    return state.live;
}

static void check_mode(const mode *m)
{
    tsr_pool_enable(m->pool);
    EXPECT_OK(tsr_set_threads(m->threads));
    const uint64_t hash = hash_inputs();
    const long live = at_rest();
    for (int i = 0; i < SCENARIOS; i++) {
        check_scenario(&scenarios[i], m);
        EXPECT_MSG(hash_inputs() == hash, "%s, %s, %d threads: an operand changed", scenarios[i].name,
                   m->name, m->threads);
    }
    EXPECT_MSG(at_rest() <= live, "%s, %d threads: %ld blocks more than before", m->name, m->threads,
               state.live - live);
    EXPECT_MSG(state.wrong == 0, "%s: %ld blocks came back with another size", m->name, state.wrong);
    EXPECT_MSG(state.overrun == 0, "%s: the surroundings of %ld blocks were written to", m->name,
               state.overrun);
    state.wrong = state.overrun = 0;
}

/* Headers enough that no slab grows while a call is watched. */
static void fill_slabs(void)
{
    enum { MANY = 400 };
    static tsr_tensor *t[MANY];
    for (int i = 0; i < MANY; i++) EXPECT_OK(tsr_zeros(&t[i], TSR_F32, TSR_SHAPE(1)));
    for (int i = 0; i < MANY; i++) tsr_release(&t[i]);
}

/* With one thread, and with `most`. */
static void check_with(bool by_hook, bool lasting, bool pool, int most, const char *name)
{
    const bool was_on = tsr_pool_is_enabled();
    const int threads = tsr_threads();
    EXPECT_OK(tsr_set_allocator(&checked));
    fill_slabs();
    make_inputs();
    for (int n = 1; n <= most; n += 2) check_mode(&(mode){ name, by_hook, lasting, pool, n });
    drop_inputs();
    tsr_pool_enable(was_on);
    EXPECT_OK(tsr_set_threads(threads));
    EXPECT_OK(tsr_set_allocator(NULL));
    EXPECT_MSG(state.live == 0, "%ld blocks of the allocator never came back", state.live);
    EXPECT(state.wrong == 0 && state.overrun == 0);
}

static void test_every_op_fails_cleanly_when_the_hook_refuses(void)
{
    check_with(true, false, true, 1, "the hook");
}

static void test_every_op_fails_cleanly_without_the_pool(void)
{
    check_with(false, true, false, 1, "no memory, pool off");
    check_with(false, false, false, 3, "one refused, pool off");
}

static void test_every_op_fails_cleanly_with_the_pool(void)
{
    check_with(false, true, true, 3, "no memory, pool on");
}

/* Takes scratch and gives it back, in three threads at a time. */
static tsr_status use_scratch(void *context, int64_t begin, int64_t end)
{
    int *arrived = context;
    size_t reserved;
    void *scratch = tsri_pool_scratch(1000, &reserved);
    (void)begin; (void)end;
    (void)__atomic_fetch_add(arrived, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(arrived, __ATOMIC_SEQ_CST) < 3) (void)sched_yield();
    tsri_pool_give(scratch, reserved);
    return scratch ? TSR_OK : TSR_ENOMEM;
}

/* The allocator changes while workers keep blocks of the one before. */
static void test_allocator_takes_back_what_workers_kept(void)
{
    const bool was_on = tsr_pool_is_enabled();
    const int threads = tsr_threads();
    tsr_pool_enable(true);
    EXPECT_OK(tsr_set_threads(3));
    for (int pass = 0; pass < 4; pass++) {
        int arrived = 0;
        EXPECT_OK(tsr_set_allocator(pass % 2 ? NULL : &checked));
        EXPECT_MSG(pass % 2 == 0 || state.live == 0, "%ld blocks did not come back", state.live);
        EXPECT_OK(tsr_parallel_for(3, 1, use_scratch, &arrived));
    }
    EXPECT_OK(tsr_set_allocator(NULL));
    EXPECT_MSG(state.wrong == 0, "%ld blocks came back with another size", state.wrong);
    tsr_pool_enable(was_on);
    EXPECT_OK(tsr_set_threads(threads));
}

/* A block that was made while the pool was off and goes back while it is on, and the other way round. */
static void test_blocks_keep_their_size_when_the_pool_is_switched(void)
{
    const bool was_on = tsr_pool_is_enabled();
    EXPECT_OK(tsr_set_allocator(&checked));
    for (int64_t n = 60; n < 600; n += 7)
        for (int on = 0; on < 2; on++) {
            tsr_tensor *t = NULL, *again = NULL;
            tsr_pool_enable(on != 0);
            EXPECT_OK(tsr_empty(&t, TSR_F32, 1, &n));
            tsr_pool_enable(on == 0);
            tsr_release(&t);
            EXPECT_OK(tsr_zeros(&again, TSR_F32, TSR_SHAPE(n + 1)));
            tsr_release(&again);
        }
    tsr_pool_enable(was_on);
    EXPECT_OK(tsr_set_allocator(NULL));
    EXPECT_MSG(state.live == 0 && state.wrong == 0 && state.overrun == 0,
               "%ld lost, %ld with another size, %ld overrun", state.live, state.wrong, state.overrun);
}

/* For real -------------------------------------------------------------------------------------- */

#ifdef HAVE_LIMITS

/* What the child is at, for the parent to read when it dies. */
static struct { const char *name; int threads, failures, refused; } *shown;

static size_t mapped_bytes(void)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%lu", &pages) != 1) pages = 0;
    if (f) (void)fclose(f);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void limit_to(size_t most)
{
    struct rlimit limit;
    (void)getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = most ? (rlim_t)most : limit.rlim_max;
    if (setrlimit(RLIMIT_AS, &limit) != 0) shown->failures++;
}

/* Grows the stack to where no call takes it further. */
static void touch_stack(void)
{
    volatile char deep[1 << 20];
    for (size_t i = 0; i < sizeof deep; i += 512) deep[i] = 0;
}

/* With so many bytes more than there are now; true if the call succeeds. */
static bool runs_within(const struct scenario *s, size_t more)
{
    tsr_memory_stats begin, end;
    if (s->does == WRITES) make_own();
    (void)tsr_pool_trim(0);
    (void)malloc_trim(0);
    tsr_memory_get_stats(&begin);
    limit_to(mapped_bytes() + more);
    const tsr_status status = s->run();
    limit_to(0);
    tsr_memory_get_stats(&end);
    shown->refused += status == TSR_ENOMEM;
    shown->failures += status != TSR_OK && status != TSR_ENOMEM;
    for (int i = 0; i < OUTS && status != TSR_OK; i++) shown->failures += out[i] != NULL;
    if (status != TSR_OK)
        shown->failures += begin.live_bytes != end.live_bytes || begin.live_tensors != end.live_tensors ||
                           begin.live_storages != end.live_storages;
    drop_results();
    drop_own();
    return status == TSR_OK;
}

static void step_limits(const struct scenario *s)
{
    size_t more = 0;
    while (!runs_within(s, more) && more < (size_t)1 << 30 && !shown->failures) more = more ? 2 * more : 4096;
    if (more >= (size_t)1 << 30) shown->failures++;
}

/* Optional libraries end the program when memory is short: they are left out. */
static void run_child(void)
{
    (void)setenv("TSR_FFT", "own", 1);
    (void)setenv("TSR_BLAS", "none", 1);
    (void)setenv("TSR_LAPACK", "none", 1);
    (void)mallopt(M_MMAP_THRESHOLD, 4096);  /* freed memory goes back to the system at once */
    (void)mallopt(M_ARENA_MAX, 1);
    touch_stack();
    make_inputs();
    for (int threads = 1; threads <= 3; threads += 2) {
        if (tsr_set_threads(threads) != TSR_OK) shown->failures++;
        shown->threads = threads;
        for (int i = 0; i < SCENARIOS && !shown->failures; i++) {
            shown->name = scenarios[i].name;
            step_limits(&scenarios[i]);
        }
    }
    drop_inputs();
}

#endif

static void test_every_op_fails_cleanly_when_the_system_refuses(void)
{
#ifdef HAVE_LIMITS
    int status = 0;
    shown = mmap(NULL, sizeof *shown, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT(shown != MAP_FAILED);
    if (shown == MAP_FAILED) return;
    shown->name = "nothing";
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        run_child();
        fflush(stdout);
        _exit(shown->failures != 0 || test_state.failures != 0);
    }
    EXPECT(child > 0 && waitpid(child, &status, 0) == child);
    EXPECT_MSG(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s with %d threads: %s %d, %d failures",
               shown->name, shown->threads, WIFSIGNALED(status) ? "signal" : "status",
               WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), shown->failures);
    EXPECT_MSG(shown->refused > SCENARIOS, "the system refused %d times only", shown->refused);
    (void)munmap(shown, sizeof *shown);
#else
    SKIP("no limits on memory here, or a sanitizer that needs more");
#endif
}

int main(int argc, char **argv)
{
    (void)setenv("TSR_FFT", "own", 0);
    TEST_BEGIN(argc, argv);
    RUN(test_every_op_fails_cleanly_when_the_system_refuses); /* first: the child uses the library first */
    RUN(test_every_op_fails_cleanly_when_the_hook_refuses);
    RUN(test_every_op_fails_cleanly_without_the_pool);
    RUN(test_every_op_fails_cleanly_with_the_pool);
    RUN(test_allocator_takes_back_what_workers_kept);
    RUN(test_blocks_keep_their_size_when_the_pool_is_switched);
    return TEST_END();
}
