/* Under the address sanitizer, memory that the library keeps for itself is as forbidden as memory that
 * was given back: whoever touches it is reported. Each case runs in a child of its own, which must
 * die with a report. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define TEST_OWN_MAIN
#include "test.h"

#include "core/sanitize.h"
#include "core/memory_int.h"

#ifdef TSRI_ASAN

#include <sys/wait.h>
#include <unistd.h>

static volatile unsigned char seen;

static void touch(const void *p) { seen = *(const volatile unsigned char *)p; }

static tsr_tensor *make(int64_t bytes)
{
    tsr_tensor *t = NULL;
    if (tsr_zeros(&t, TSR_U8, 1, &bytes) != TSR_OK) _exit(0);
    return t;
}

/* Cases ------------------------------------------------------------------------------------- */

static void stay_inside(bool pool)
{
    tsr_pool_enable(pool);
    tsr_tensor *t = make(1000), *again;
    for (int i = 0; i < 1000; i++) ((unsigned char *)t->data)[i] = 1;
    tsr_release(&t);
    again = make(1020);
    touch((char *)again->data + 1019);
    tsr_release(&again);
}

/* A block of 1000 bytes has 1024, or 1000 rounded up to cache lines. */
static void overrun(bool pool)
{
    tsr_pool_enable(pool);
    touch((char *)make(1000)->data + 1000);
}

/* The block is used for the second time, and was longer the first time. */
static void overrun_again(bool pool)
{
    tsr_pool_enable(pool);
    tsr_tensor *t = make(1020);
    tsr_release(&t);
    touch((char *)make(1000)->data + 1010);
}

static void overrun_large(bool pool)
{
    tsr_pool_enable(pool);
    touch((char *)make(5 << 20)->data + (5 << 20));
}

static void use_after_release(bool pool)
{
    tsr_pool_enable(pool);
    tsr_tensor *t = make(1000);
    const char *data = t->data;
    tsr_release(&t);
    touch(data);
}

/* Of two blocks of a class a thread keeps one; the other goes where all threads find it. */
static void use_after_second_release(bool pool)
{
    tsr_pool_enable(pool);
    tsr_tensor *t = make(1000), *second = make(1000);
    const char *data = second->data;
    tsr_release_all(&t, &second);
    touch(data + 8);
}

static void use_after_trim(bool pool)
{
    tsr_pool_enable(pool);
    tsr_tensor *t = make(1000);
    const char *data = t->data;
    tsr_release(&t);
    (void)tsr_pool_trim(0);
    touch(data + 8);
}

static void overrun_scratch(bool pool)
{
    size_t reserved;
    tsr_pool_enable(pool);
    touch((char *)tsri_pool_scratch(300, &reserved) + 300);
}

static void use_released_scratch(bool pool)
{
    size_t reserved;
    tsr_pool_enable(pool);
    char *scratch = tsri_pool_scratch(300, &reserved);
    tsri_pool_give(scratch, reserved);
    touch(scratch + 299);
}

static void use_released_handle(bool pool)
{
    tsr_pool_enable(pool);
    tsr_tensor *t = make(1000);
    const tsr_tensor *stale = t;
    tsr_release(&t);
    touch(&stale->shape[0]);
}

static void use_slot_of_storage(bool pool)
{
    tsr_pool_enable(pool);
    touch((const char *)make(8)->storage + TSRI_STORAGE_HEADER);
}

/* Running them -------------------------------------------------------------------------------- */

typedef void (*body)(bool pool);

/* Runs in a child; says whether it was reported. */
static bool is_reported(body run, bool pool)
{
    char text[4096] = "";
    size_t length = 0;
    int ends[2], status = 0;
    if (pipe(ends) != 0) return false;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        (void)dup2(ends[1], 2);
        run(pool);
        _exit(0);
    }
    (void)close(ends[1]);
    for (ssize_t n;
         (n = read(ends[0], text + length, sizeof text - 1 - length)) > 0 && length + 1 < sizeof text;)
        length += (size_t)n;
    char rest[1024];
    while (read(ends[0], rest, sizeof rest) > 0) continue;
    (void)close(ends[0]);
    (void)waitpid(child, &status, 0);
    const bool died = WIFSIGNALED(status) || WEXITSTATUS(status) != 0;
    return died && strstr(text, "AddressSanitizer") != NULL;
}

static void test_memory_that_is_kept_is_forbidden(void)
{
    static const struct { const char *name; body run; } cases[] = {
        { "overrun", overrun },
        { "overrun of a block used again", overrun_again },
        { "overrun of a large block", overrun_large },
        { "use after release", use_after_release },
        { "use after release, shared list", use_after_second_release },
        { "use after trim", use_after_trim },
        { "overrun of scratch", overrun_scratch },
        { "use of released scratch", use_released_scratch },
        { "use of a released handle", use_released_handle },
        { "use of the slot of a storage", use_slot_of_storage },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int pool = 0; pool < 2; pool++)
            EXPECT_MSG(is_reported(cases[i].run, pool != 0), "%s, pool %s: no report", cases[i].name,
                       pool ? "on" : "off");
}

static void test_memory_in_use_is_allowed(void)
{
    for (int pool = 0; pool < 2; pool++) EXPECT(!is_reported(stay_inside, pool != 0));
}

#else

static void test_memory_that_is_kept_is_forbidden(void) { SKIP("not built with the address sanitizer"); }
static void test_memory_in_use_is_allowed(void) { SKIP("not built with the address sanitizer"); }

#endif

int main(int argc, char **argv)
{
    TEST_BEGIN(argc, argv);
    RUN(test_memory_that_is_kept_is_forbidden);
    RUN(test_memory_in_use_is_allowed);
    return TEST_END();
}
