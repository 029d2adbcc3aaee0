/* test_llaisys_c.c - the headers of LLAISYS from C, and how a program in another language than C++
 * ends when it asks for a view that cannot be. */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "llaisys.h"
#include "llaisys/ops.h"
#include "llaisys/runtime.h"
#include "llaisys/tensor.h"
#include "test.h"

TEST(test_numbers_are_the_systems_own)
{
    EXPECT(LLAISYS_DEVICE_CPU == 0 && LLAISYS_DEVICE_NVIDIA == 1 && LLAISYS_DEVICE_TYPE_COUNT == 2);
    EXPECT(LLAISYS_DTYPE_BYTE == 1 && LLAISYS_DTYPE_I64 == 6 && LLAISYS_DTYPE_F16 == 12);
    EXPECT(LLAISYS_DTYPE_F32 == 13 && LLAISYS_DTYPE_F64 == 14 && LLAISYS_DTYPE_BF16 == 19);
    EXPECT(LLAISYS_MEMCPY_H2H == 0 && LLAISYS_MEMCPY_H2D == 1 && LLAISYS_MEMCPY_D2H == 2 &&
           LLAISYS_MEMCPY_D2D == 3);
    EXPECT(sizeof(LlaisysRuntimeAPI) == 12 * sizeof(void (*)(void)));
}

TEST(test_tensors_are_used_from_c)
{
    size_t shape[2] = { 2, 3 }, flat = 6;
    const float values[6] = { 1, 2, 3, 4, 5, 6 };
    llaisysTensor_t a = tensorCreate(shape, 2, LLAISYS_DTYPE_F32, LLAISYS_DEVICE_CPU, 0);
    llaisysTensor_t c = tensorCreate(shape, 2, LLAISYS_DTYPE_F32, LLAISYS_DEVICE_CPU, 0);
    tensorLoad(a, values);
    llaisysAdd(c, a, a);
    llaisysTensor_t v = tensorView(c, &flat, 1);
    EXPECT(tensorGetNdim(v) == 1 && ((float *)tensorGetData(v))[5] == 12.0f);
    tensorDestroy(v);
    tensorDestroy(c);
    tensorDestroy(a);
}

/* 0: it was ended by a signal; otherwise its exit status. */
static int outcome_of_bad_view(const char *strict)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        size_t shape[2] = { 2, 3 }, five = 5;
        if (!freopen("/dev/null", "w", stderr)) _exit(9);
        signal(SIGABRT, SIG_DFL);
        if (strict) setenv("LLAISYS_STRICT", strict, 1);
        llaisysTensor_t a = tensorCreate(shape, 2, LLAISYS_DTYPE_F32, LLAISYS_DEVICE_CPU, 0);
        _exit(tensorView(a, &five, 1) == NULL ? 3 : 4);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT ? 0 : WEXITSTATUS(status);
}

TEST(test_a_bad_view_ends_the_program_as_the_original_does)
{
    EXPECT(outcome_of_bad_view(NULL) == 0);
    EXPECT(outcome_of_bad_view("1") == 0);
}

TEST(test_a_bad_view_is_null_where_the_environment_says_so)
{
    EXPECT(outcome_of_bad_view("0") == 3);
}
