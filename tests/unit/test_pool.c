/* The pool of freed host blocks: what is kept, what is handed out again, what is let go. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* popen, setenv */
#endif
#ifndef TSR_NO_THREADS
#include <pthread.h>
#endif

#define TEST_OWN_MAIN
#include "test.h"
#include "core/memory_int.h"

static const char *program;     /* this one, to be run again */
static bool enabled_at_start;
static size_t limit_at_start;

static tsr_memory_stats stats_now(void)
{
    tsr_memory_stats stats;
    tsr_memory_get_stats(&stats);
    return stats;
}

/* An empty pool that keeps up to `limit` bytes. */
static void begin(size_t limit)
{
    tsr_pool_enable(true);
    tsr_pool_set_limit(limit);
    (void)tsr_pool_trim(0);
    EXPECT(stats_now().cached_bytes == 0);
}

static void end(void)
{
    tsr_pool_set_limit(limit_at_start);
    tsr_pool_enable(enabled_at_start);
    (void)tsr_pool_trim(0);
}

static tsr_tensor *make(int64_t bytes)
{
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_empty(&t, TSR_U8, TSR_SHAPE(bytes)));
    return t;
}

/* Makes and frees one, so that it lies in the pool; returns where it lay. */
static void *leave_block(int64_t bytes)
{
    tsr_tensor *t = make(bytes);
    void *data = t->data;
    tsr_release(&t);
    return data;
}

enum { MIB = 1 << 20 };

TEST(test_pool_hands_the_same_block_out_again)
{
    const int64_t sizes[] = { 200, 1000, 5000, 60000, 100000, 3 * MIB };
    begin(64 * MIB);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        void *data = leave_block(sizes[i]);
        const tsr_memory_stats before = stats_now();
        EXPECT(before.cached_bytes >= sizes[i]);
        tsr_tensor *t = make(sizes[i] - 7);  /* of the same class */
        EXPECT(t->data == data);
        EXPECT(stats_now().pool_hits == before.pool_hits + 1 &&
               stats_now().allocations == before.allocations + 1);
        EXPECT(stats_now().cached_bytes <= before.cached_bytes - sizes[i]);
        tsr_release(&t);
    }
    end();
}

TEST(test_pool_never_hands_one_block_out_twice)
{
    begin(64 * MIB);
    void *data = leave_block(5000);
    tsr_tensor *a = make(5000), *b = make(5000);
    EXPECT(a->data == data && b->data != data);
    tsr_release_all(&a, &b);
    tsr_tensor *c = make(5000), *d = make(5000), *e = make(5000);
    EXPECT(c->data != d->data && d->data != e->data && c->data != e->data);
    tsr_release_all(&c, &d, &e);
    end();
}

/* A block never serves a request it is too small for; the sanitizer watches the writes. */
TEST(test_pool_classes_are_never_smaller_than_asked)
{
    uint64_t dice = 1;
    begin(64 * MIB);
    for (int i = 0; i < 3000; i++) {
        const size_t bytes = 1 + (size_t)test_below(&dice, (int64_t)1 << (8 + test_below(&dice, 14)));
        size_t reserved = 0;
        char *block = tsri_pool_take(bytes, &reserved);
        EXPECT(block && (uintptr_t)block % 64 == 0);
        EXPECT_MSG(reserved >= bytes && (reserved <= 256 || reserved <= bytes + bytes / 4), "%zu for %zu",
                   reserved, bytes);
        if (!block) break;
        block[0] = block[bytes - 1] = 1;
        tsri_pool_give(block, reserved);
    }
    end();
}

TEST(test_pool_class_sizes_grow_by_quarters)
{
    size_t last = 0;
    for (int c = 0; c < 150; c++) {
        const size_t bytes = tsri_pool_class_bytes(c);
        EXPECT(bytes > last && bytes % 64 == 0 && (c == 0 || bytes - last <= last / 4));
        last = bytes;
    }
}

TEST(test_pool_reused_memory_is_cleared_where_that_is_promised)
{
    tsr_tensor *t = make(5000);
    begin(64 * MIB);
    memset(t->data, 0x5a, 5000);
    tsr_release(&t);
    EXPECT_OK(tsr_zeros(&t, TSR_U8, TSR_SHAPE(5000)));
    for (int i = 0; i < 5000; i++) EXPECT(((unsigned char *)t->data)[i] == 0);
    tsr_release(&t);
    end();
}

TEST(test_pool_limit_bounds_what_is_kept)
{
    const size_t limits[] = { 0, 1000, 4096, 100000, 10 * MIB };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        tsr_tensor *all[100];
        uint64_t dice = 3;
        begin(limits[i]);
        EXPECT(tsr_pool_limit() == limits[i]);
        for (int k = 0; k < 100; k++) all[k] = make(200 + test_below(&dice, k % 10 ? 20000 : 2 * MIB));
        for (int k = 0; k < 100; k++) {
            tsr_release(&all[k]);
            EXPECT_MSG(stats_now().cached_bytes <= (int64_t)limits[i],
                       "%lld bytes are kept, the limit is %zu", (long long)stats_now().cached_bytes,
                       limits[i]);
        }
        if (limits[i] >= 100000) EXPECT(stats_now().cached_bytes > 0);
        end();
    }
}

TEST(test_pool_block_larger_than_the_limit_is_not_kept)
{
    begin(1 * MIB);
    (void)leave_block(2 * MIB);
    EXPECT(stats_now().cached_bytes == 0);
    (void)leave_block(100000);
    const int64_t kept = stats_now().cached_bytes;
    EXPECT(kept >= 100000);
    (void)leave_block(2 * MIB);
    EXPECT(stats_now().cached_bytes == kept);  /* and pushes nothing out */
    end();
}

TEST(test_pool_lets_the_oldest_go_first)
{
    begin(64 * MIB);
    (void)leave_block(1 * MIB);
    void *second = leave_block(2 * MIB), *third = leave_block(3 * MIB);
    const int64_t cached = stats_now().cached_bytes;
    EXPECT(tsr_pool_trim((size_t)cached - 1) >= MIB);
    tsr_tensor *a = make(1 * MIB), *b = make(2 * MIB), *c = make(3 * MIB);
    EXPECT(b->data == second && c->data == third);
    tsr_release_all(&a, &b, &c);
    end();
}

TEST(test_pool_trim_frees_what_it_says)
{
    begin(64 * MIB);
    for (int64_t bytes = 300; bytes < 2 * MIB; bytes *= 2) (void)leave_block(bytes);
    const int64_t cached = stats_now().cached_bytes;
    EXPECT(tsr_pool_trim(SIZE_MAX) == 0 && stats_now().cached_bytes == cached);
    const size_t freed = tsr_pool_trim((size_t)cached / 2);
    EXPECT(freed > 0 && stats_now().cached_bytes == cached - (int64_t)freed);
    EXPECT(stats_now().cached_bytes <= cached / 2);
    EXPECT(tsr_pool_trim(0) == (size_t)(cached - (int64_t)freed));
    EXPECT(stats_now().cached_bytes == 0 && tsr_pool_trim(0) == 0);
    end();
}

TEST(test_pool_lower_limit_trims_at_once)
{
    begin(64 * MIB);
    for (int i = 1; i <= 4; i++) (void)leave_block(i * (int64_t)MIB);
    EXPECT(stats_now().cached_bytes > 9 * MIB);
    tsr_pool_set_limit(4 * MIB);
    EXPECT(stats_now().cached_bytes <= 4 * MIB);
    tsr_pool_set_limit(0);
    EXPECT(stats_now().cached_bytes == 0);
    end();
}

TEST(test_pool_switched_off_keeps_nothing)
{
    begin(64 * MIB);
    (void)leave_block(1 * MIB);
    tsr_tensor *t = make(5000);
    EXPECT(tsr_pool_is_enabled());
    tsr_pool_enable(false);
    EXPECT(!tsr_pool_is_enabled() && stats_now().cached_bytes == 0);
    tsr_release(&t);  /* taken while it was on */
    EXPECT(stats_now().cached_bytes == 0);
    t = make(5000);
    const int64_t hits = stats_now().pool_hits;
    (void)leave_block(5000);
    EXPECT(stats_now().pool_hits == hits && stats_now().cached_bytes == 0);
    tsr_pool_enable(true);
    tsr_release(&t);  /* taken while it was off: not the pool's */
    (void)leave_block(5000);
    EXPECT(stats_now().cached_bytes >= 5000);
    end();
}

#if !defined(TSRI_ASAN) && !defined(TSRI_MSAN) /* they note every byte */

/* Pretends to have any number of bytes. */
static void *pretend_alloc(void *context, size_t bytes, size_t alignment)
{
    size_t *most = context;
    if (bytes > *most) *most = bytes;
    return aligned_alloc(alignment, bytes < MIB ? (bytes + alignment - 1) / alignment * alignment : MIB);
}

static void pretend_free(void *context, void *data, size_t bytes)
{
    size_t *most = context;
    if (bytes == *most) *most = 0;
    free(data);
}

TEST(test_pool_has_no_class_for_a_block_beyond_all_memory)
{
    size_t most = 0;
    begin(SIZE_MAX);
    EXPECT_OK(tsr_set_allocator(&(tsr_allocator){ &most, pretend_alloc, pretend_free }));
    tsr_tensor *t = make((int64_t)1 << 50);
    EXPECT(most >= (size_t)1 << 50);
    tsr_release(&t);
    EXPECT(most == 0 && stats_now().cached_bytes < MIB);
    (void)tsr_pool_trim(0);
    EXPECT_OK(tsr_set_allocator(NULL));
    end();
}

#endif

TEST(test_pool_does_not_touch_other_kinds)
{
    begin(64 * MIB);
    tsr_storage *s = NULL;
    for (tsr_memory kind = TSR_MEMORY_ALIGNED; kind <= TSR_MEMORY_HUGE; kind++) {
        EXPECT_OK(tsr_storage_create(&s, 5000, TSR_CPU, kind));
        tsr_storage_release(&s);
    }
    EXPECT(stats_now().cached_bytes == 0);
    EXPECT_OK(tsr_storage_create(&s, 64, TSR_CPU, TSR_MEMORY_HOST));
    tsr_storage_release(&s);
    if (TSRI_FAST_SLOTS) EXPECT(stats_now().cached_bytes == 0);  /* lay in its header */
    end();
}

TEST(test_pool_cached_bytes_are_not_live_and_do_not_raise_the_peak)
{
    begin(64 * MIB);
    tsr_memory_reset_peak();
    const int64_t live = stats_now().live_bytes;
    for (int i = 0; i < 10; i++) (void)leave_block(100000);
    EXPECT(stats_now().live_bytes == live && stats_now().peak_bytes == live + 100000);
    end();
}

TEST(test_pool_random_use_keeps_every_byte_apart)
{
    enum { SLOTS = 100 };
    struct { tsr_tensor *t; unsigned char mark; } slots[SLOTS] = { { NULL, 0 } };
    uint64_t dice = 5;
    begin(200000);
    for (int round = 0; round < 20000; round++) {
        const int64_t i = test_below(&dice, SLOTS);
        tsr_tensor **t = &slots[i].t;
        if (*t) {
            const unsigned char *bytes = (*t)->data;
            const int64_t n = tsr_byte_size(*t);
            EXPECT(bytes[0] == slots[i].mark && bytes[n / 2] == slots[i].mark &&
                   bytes[n - 1] == slots[i].mark);
            tsr_release(t);
        } else {
            *t = make(1 + test_below(&dice, (int64_t)1 << test_below(&dice, 17)));
            slots[i].mark = (unsigned char)test_next(&dice);
            memset((*t)->data, slots[i].mark, (size_t)tsr_byte_size(*t));
        }
        if (round % 1000 == 0) (void)tsr_pool_trim((size_t)test_below(&dice, 100000));
    }
    for (int i = 0; i < SLOTS; i++) tsr_release(&slots[i].t);
    end();
}

/* The environment -------------------------------------------------------------------- */

/* What a program that starts with TSR_POOL=value has: "on LIMIT" or "off LIMIT". */
static void state_with(const char *value, char *out, size_t size)
{
    char command[600];
    out[0] = '\0';
    if (value) (void)setenv("TSR_POOL", value, 1);
    else       (void)unsetenv("TSR_POOL");
    (void)snprintf(command, sizeof command, "'%s' --pool-state", program);
    FILE *child = popen(command, "r");
    EXPECT(child != NULL);
    if (child) {
        EXPECT(fgets(out, (int)size, child) != NULL);
        EXPECT(pclose(child) == 0);
    }
    (void)unsetenv("TSR_POOL");
}

TEST(test_pool_environment_sets_the_start)
{
    char plain[64], got[64];
    state_with(NULL, plain, sizeof plain);
#ifdef TSRI_ASAN
    EXPECT(!strncmp(plain, "off ", 4));  /* so that a stale pointer is seen */
#else
    EXPECT(!strncmp(plain, "on ", 3));
#endif
    const char *const default_limit = strchr(plain, ' ');
    if (!default_limit) return;

    state_with("off", got, sizeof got);
    EXPECT_MSG(!strncmp(got, "off ", 4) && !strcmp(strchr(got, ' '), default_limit), "off: %s", got);
    state_with("16", got, sizeof got);
    EXPECT_MSG(!strcmp(got, "on 16777216\n"), "16: %s", got);
    state_with("0", got, sizeof got);
    EXPECT_MSG(!strcmp(got, "on 0\n"), "0: %s", got);

    /* What is neither is as if it were not there. */
    const char *const bad[] = { "",        "16x", "x16", "-1", "99999999999999999999", "17592186044416",
                                "offline", "of",  " " };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        state_with(bad[i], got, sizeof got);
        EXPECT_MSG(!strcmp(got, plain), "\"%s\": %s", bad[i], got);
    }
}

#ifndef TSR_NO_THREADS
static void *make_one(void *context)
{
    tsr_tensor *t = NULL;
    if (tsr_empty(&t, TSR_U8, TSR_SHAPE(1000)) != TSR_OK) return context;
    tsr_release(&t);
    return NULL;
}

/* A thread uses the library and ends before anyone else has. */
static int use_in_a_thread_first(void)
{
    pthread_t thread;
    void *failed = NULL;
    if (pthread_create(&thread, NULL, make_one, &failed) != 0 || pthread_join(thread, &failed) != 0) return 1;
    const tsr_memory_stats now = stats_now();
    return failed || now.allocations != 1 || now.live_bytes != 0 || now.live_tensors != 0;
}

TEST(test_pool_counts_a_thread_that_came_before_all_others)
{
    char command[600];
    (void)snprintf(command, sizeof command, "'%s' --thread-first", program);
    EXPECT(system(command) == 0);
}
#endif

static int print_pool_state(void)
{
    printf("%s %zu\n", tsr_pool_is_enabled() ? "on" : "off", tsr_pool_limit());
    return 0;
}

/* Threads ---------------------------------------------------------------------------- */

#ifndef TSR_NO_THREADS

enum { MANY = 40 };

static void in_a_thread(void *(*fn)(void *), void *context)
{
    pthread_t thread;
    EXPECT(pthread_create(&thread, NULL, fn, context) == 0);
    EXPECT(pthread_join(thread, NULL) == 0);
}

static void *release_all(void *context)
{
    tsr_tensor **all = context;
    for (int i = 0; i < MANY; i++) tsr_release(&all[i]);
    return NULL;
}

static void *make_all(void *context)
{
    tsr_tensor **all = context;
    for (int i = 0; i < MANY; i++) (void)!tsr_empty(&all[i], TSR_U8, TSR_SHAPE(300 + 500 * i));
    return NULL;
}

TEST(test_pool_blocks_freed_on_another_thread_are_used_again)
{
    tsr_tensor *all[MANY];
    begin(64 * MIB);
    for (int i = 0; i < MANY; i++) all[i] = make(100000);
    in_a_thread(release_all, all);
    EXPECT(stats_now().cached_bytes >= MANY * 100000);
    const int64_t hits = stats_now().pool_hits;
    for (int i = 0; i < MANY; i++) all[i] = make(100000);
    EXPECT(stats_now().pool_hits == hits + MANY && stats_now().cached_bytes == 0);
    for (int i = 0; i < MANY; i++) tsr_release(&all[i]);
    end();
}

TEST(test_pool_thread_that_ends_returns_what_it_kept)
{
    tsr_tensor *all[MANY] = { NULL };
    begin(64 * MIB);
    const tsr_memory_stats before = stats_now();
    in_a_thread(make_all, all);  /* small classes, one of each kept by the thread */
    EXPECT(stats_now().live_tensors == before.live_tensors + MANY);
    in_a_thread(release_all, all);
    tsr_memory_stats now = stats_now();
    EXPECT(now.live_bytes == before.live_bytes && now.live_tensors == before.live_tensors);
    EXPECT(now.allocations == before.allocations + MANY);
    EXPECT(now.cached_bytes > 0);
    const int64_t hits = now.pool_hits;
    (void)make_all(all);  /* this thread gets them */
    EXPECT(stats_now().pool_hits == hits + MANY);
    (void)release_all(all);
    EXPECT(tsr_pool_trim(0) > 0 && stats_now().cached_bytes == 0);
    end();
}

static pthread_barrier_t together;

static void *keep_blocks_for_a_while(void *context)
{
    (void)release_all(context);
    (void)pthread_barrier_wait(&together);
    (void)pthread_barrier_wait(&together);
    return NULL;
}

TEST(test_pool_switched_off_takes_nothing_from_a_thread_that_ends)
{
    tsr_tensor *all[MANY] = { NULL };
    begin(64 * MIB);
    (void)make_all(all);
    pthread_t thread;
    EXPECT(pthread_barrier_init(&together, NULL, 2) == 0);
    EXPECT(pthread_create(&thread, NULL, keep_blocks_for_a_while, all) == 0);
    (void)pthread_barrier_wait(&together);
    tsr_pool_enable(false);
    EXPECT(stats_now().cached_bytes > 0);  /* what the thread keeps is its own while it lives */
    (void)pthread_barrier_wait(&together);
    EXPECT(pthread_join(thread, NULL) == 0);
    EXPECT(stats_now().cached_bytes == 0);
    (void)pthread_barrier_destroy(&together);
    end();
}

static int64_t allocated;  /* blocks, ever */

static void *counting_alloc(void *context, size_t bytes, size_t alignment)
{
    (void)context;
    allocated++;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

TEST(test_pool_threads_that_come_and_go_need_no_more_memory)
{
    tsr_tensor *all[MANY] = { NULL };
    begin(64 * MIB);
    EXPECT_OK(tsr_set_allocator(&(tsr_allocator){ NULL, counting_alloc, test_free }));
    in_a_thread(make_all, all);
    in_a_thread(release_all, all);
    const int64_t before = allocated;
    for (int i = 0; i < 200; i++) {
        in_a_thread(make_all, all);
        in_a_thread(release_all, all);
    }
    EXPECT_MSG(allocated == before, "%lld blocks more", (long long)(allocated - before));
    EXPECT_OK(tsr_set_allocator(NULL));
    end();
}

#endif

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "--pool-state")) return print_pool_state();
#ifndef TSR_NO_THREADS
    if (argc > 1 && !strcmp(argv[1], "--thread-first")) return use_in_a_thread_first();
#endif
    program = argv[0];
    (void)unsetenv("TSR_POOL");
    enabled_at_start = tsr_pool_is_enabled();
    limit_at_start = tsr_pool_limit();
    TEST_BEGIN(argc, argv);
    return test_all();
}
