/* test.h - the whole test rig.
 *
 * A test is a function whose name says what is true. EXPECT counts a failure and
 * goes on; SKIP leaves the test and says why. After each test the rig checks
 * that the library holds as many tensors and bytes as before, so a leak is a
 * failure of the test that made it.
 *
 *     TEST(test_view_shares_memory) { ... EXPECT(a == b); ... }
 *
 * main() is here too: it runs a file's tests in their order, or those alone whose names contain its first
 * argument, and prints "N passed, N failed, N skipped". TEST_BEFORE { ... } and TEST_AFTER { ... } are run
 * around them. A file that must do more defines TEST_OWN_MAIN and calls TEST_BEGIN, RUN and TEST_END itself.
 */
#ifndef TSR_TEST_H
#define TSR_TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tessera/tessera.h"

static struct {
    const char *filter;
    const char *current;
    uint64_t seed;       /* of generated data, from TSR_SEED; 0 unless that is set */
    int passed, failed, skipped;
    int failures;        /* in the current test */
    bool skip;
    bool stop;           /* at the first failure: TSR_STOP is set */
    void (*before)(void), (*after)(void);
    struct test_entry *first, *last;
} test_state;

typedef struct test_entry {
    const char *name;
    void (*run)(void);
    struct test_entry *next;
} test_entry;

static inline void test_list(test_entry *entry)
{
    if (test_state.last) test_state.last->next = entry;
    else                 test_state.first = entry;
    test_state.last = entry;
}

/* A test, which lists itself before main() begins. */
#define TEST(name)                                                                     \
    static void name(void);                                                            \
    __attribute__((constructor)) static void name##_listed(void)                       \
    {                                                                                  \
        static test_entry entry = { #name, name, NULL };                               \
        test_list(&entry);                                                             \
    }                                                                                  \
    static void name(void)

#define TEST_AROUND(when)                                                              \
    static void test_##when(void);                                                     \
    __attribute__((constructor)) static void test_##when##_listed(void) { test_state.when = test_##when; } \
    static void test_##when(void)
#define TEST_BEFORE TEST_AROUND(before)
#define TEST_AFTER  TEST_AROUND(after)

/* For allocators and kinds of memory: what malloc gave. */
static inline void test_free(void *context, void *data, size_t bytes)
{
    (void)context; (void)bytes;
    free(data);
}

static inline void test_begin(int argc, char **argv)
{
    const char *seed = getenv("TSR_SEED");
    test_state.filter = argc > 1 ? argv[1] : NULL;
    test_state.stop = getenv("TSR_STOP") != NULL;
    test_state.seed = seed ? strtoull(seed, NULL, 10) * 0xd1342543de82ef95u : 0;
}

#define TEST_BEGIN(argc, argv) test_begin(argc, argv)

#define EXPECT_MSG(cond, ...)                                                          \
    do {                                                                               \
        if (!(cond)) {                                                                 \
            if (test_state.failures++ < 8) {                                           \
                printf("%s:%d: %s: expected %s", __FILE__, __LINE__, test_state.current, #cond); \
                printf("\n    " __VA_ARGS__);                                          \
                printf("\n");                                                          \
                fflush(stdout);                                                        \
            }                                                                          \
            if (test_state.stop) _Exit(1);                                             \
        }                                                                              \
    } while (0)

#define EXPECT(cond) EXPECT_MSG(cond, "last error: %s", tsr_last_error())

/* The call succeeds. */
#define EXPECT_OK(call) EXPECT_STATUS(call, TSR_OK)

/* The call ends with this status. */
#define EXPECT_STATUS(call, status)                                                    \
    do {                                                                               \
        const tsr_status got_ = (call);                                                \
        EXPECT_MSG(got_ == (status), "%s gave %s (%s), not %s", #call, tsr_status_name(got_), \
                   tsr_last_error(), tsr_status_name(status));                         \
    } while (0)

/* The call fails with this status, and the message contains this text. */
#define EXPECT_FAILS(call, status, part)                                               \
    do {                                                                               \
        tsr_clear_error();                                                             \
        EXPECT_STATUS(call, status);                                                   \
        EXPECT_MSG(strstr(tsr_last_error(), (part)) != NULL, "message \"%s\" lacks \"%s\"", \
                   tsr_last_error(), (part));                                          \
    } while (0)

#define SKIP(reason)                                                                   \
    do {                                                                               \
        printf("skipped %s: %s\n", test_state.current, (reason));                      \
        test_state.skip = true;                                                        \
        return;                                                                        \
    } while (0)

static inline void test_run(const char *name, void (*fn)(void))
{
    tsr_memory_stats before, after;
    if (test_state.filter && !strstr(name, test_state.filter)) return;
    test_state.current = name;
    test_state.failures = 0;
    test_state.skip = false;
    tsr_clear_error();
    tsr_memory_get_stats(&before);
    fn();
    tsr_memory_get_stats(&after);
    EXPECT_MSG(before.live_tensors == after.live_tensors && before.live_storages == after.live_storages &&
                   before.live_bytes == after.live_bytes,
               "leaked %lld tensors, %lld storages, %lld bytes",
               (long long)(after.live_tensors - before.live_tensors),
               (long long)(after.live_storages - before.live_storages),
               (long long)(after.live_bytes - before.live_bytes));
    if (test_state.failures) {
        test_state.failed++;
        printf("FAILED %s (%d expectations)\n", name, test_state.failures);
    } else if (test_state.skip) {
        test_state.skipped++;
    } else {
        test_state.passed++;
    }
    fflush(stdout);
}

#define RUN(fn) test_run(#fn, fn)

static inline int test_end(void)
{
    printf("%d passed, %d failed, %d skipped\n", test_state.passed, test_state.failed, test_state.skipped);
    return test_state.failed != 0;
}

#define TEST_END() test_end()

static inline int test_all(void)
{
    if (test_state.before) test_state.before();
    for (test_entry *e = test_state.first; e; e = e->next) test_run(e->name, e->run);
    if (test_state.after) test_state.after();
    return test_end();
}

#ifndef TEST_OWN_MAIN
int main(int argc, char **argv)
{
    test_begin(argc, argv);
    return test_all();
}
#endif

/* A child of fork() ends with _exit(): the end of the program is its parent's affair. A build that counts
 * what is reached (TSR_COVERAGE) keeps the child's counts. */
#ifdef TEST_COVERAGE
void __gcov_dump(void);
#define TEST_LEAVE(code) (__gcov_dump(), _exit(code))
#else
#define TEST_LEAVE(code) _exit(code)
#endif

/* A small repeatable generator for test data; shares nothing with the library. TSR_SEED in the
 * environment makes it another one, so that every generated test has new cases. */
static inline uint64_t test_next(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u) ^ test_state.seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* 0 .. n - 1 */
static inline int64_t test_below(uint64_t *state, int64_t n)
{
    return (int64_t)(test_next(state) % (uint64_t)n);
}

#endif
