/* test_fallback_choice.c - TSR_FALLBACK says what happens to ops that a backend lacks. It is read once, so
 * that each choice has a process of its own. */
#define _GNU_SOURCE 1
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "tessera/device.h"

static int policy_with(const char *wish)
{
    if (wish) setenv("TSR_FALLBACK", wish, 1);
    else unsetenv("TSR_FALLBACK");
    return (int)tsr_get_fallback();
}

static int in_a_process(const char *wish)
{
    int status = 0;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) exit(policy_with(wish));
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(test_fallback_is_an_error_unless_the_variable_says_otherwise)
{
    EXPECT(in_a_process(NULL) == TSR_FALLBACK_ERROR);
    EXPECT(in_a_process("warn") == TSR_FALLBACK_WARN);
    EXPECT(in_a_process("allow") == TSR_FALLBACK_ALLOW);
    EXPECT(in_a_process("allowed") == TSR_FALLBACK_ERROR);
    EXPECT(in_a_process("") == TSR_FALLBACK_ERROR);
}

#ifndef TSR_NO_THREADS
#include <pthread.h>

static pthread_barrier_t both;

/* A first use, which reads the variables, while another thread sets what they say. */
static void *use_first(void *context)
{
    (void)pthread_barrier_wait(&both);
    (void)tsr_get_external();
    (void)tsr_get_fallback();
    return context;
}

static int set_while_used(void)
{
    pthread_t thread;
    if (pthread_barrier_init(&both, NULL, 2) != 0 || pthread_create(&thread, NULL, use_first, NULL) != 0)
        return 2;
    (void)pthread_barrier_wait(&both);
    tsr_set_external(false);
    const tsr_status s = tsr_set_fallback(TSR_FALLBACK_ALLOW);
    if (pthread_join(thread, NULL) != 0 || s != TSR_OK) return 2;
    return tsr_get_external() || tsr_get_fallback() != TSR_FALLBACK_ALLOW;
}

TEST(test_a_choice_of_the_program_is_not_undone_by_a_first_use)
{
    int undone = 0;
    for (int i = 0; i < 1000; i++) {
        int status = 0;
        fflush(stdout);
        const pid_t child = fork();
        if (child == 0) _exit(set_while_used());
        if (waitpid(child, &status, 0) != child || status != 0) undone++;
    }
    EXPECT_MSG(undone == 0, "%d of 1000", undone);
}
#endif
