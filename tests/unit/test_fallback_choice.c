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
