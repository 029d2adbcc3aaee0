/* walks.c - steps through a call, and prints the addresses of the instructions that it runs, each once.
 *
 *     walks CALL ELEMENTS SIDE FILE
 *
 * CALL is add, sum, matmul or read, with _made where the result is made. It is called twice before that, so that
 * what is done once is done. Exit status 77: processes cannot be stepped through here. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <tessera/tessera.h>
#include <unistd.h>

static tsr_tensor *x, *y, *z, *a, *b, *c, *total, *stored;
static tsr_file *file;

static void must(tsr_status s)
{
    if (s == TSR_OK) return;
    fprintf(stderr, "walks: %s\n", tsr_last_error());
    _exit(1);
}

static void prepare(int64_t n, int64_t side, const char *path)
{
    must(tsr_zeros(&x, TSR_F32, TSR_SHAPE(n)));
    must(tsr_zeros(&y, TSR_F32, TSR_SHAPE(n)));
    must(tsr_zeros(&z, TSR_F32, TSR_SHAPE(n)));
    must(tsr_zeros(&total, TSR_F32, 0, NULL));
    must(tsr_zeros(&a, TSR_F32, TSR_SHAPE(side, side)));
    must(tsr_zeros(&b, TSR_F32, TSR_SHAPE(side, side)));
    must(tsr_zeros(&c, TSR_F32, TSR_SHAPE(side, side)));
    must(tsr_zeros(&stored, TSR_F32, TSR_SHAPE(side, side)));
    tsr_writer *w = NULL;
    must(tsr_writer_create(&w, path, NULL));
    must(tsr_writer_add(w, "a", a, NULL));
    must(tsr_writer_finish(&w));
    must(tsr_file_open(&file, path, NULL));
}

static void call(const char *what)
{
    tsr_tensor *made = NULL;
    if (!strcmp(what, "add")) must(tsr_add(&z, x, y));
    else if (!strcmp(what, "add_made")) must(tsr_add(&made, x, y));
    else if (!strcmp(what, "sum")) must(tsr_sum(&total, x, 0, NULL, false));
    else if (!strcmp(what, "sum_made")) must(tsr_sum(&made, x, 0, NULL, false));
    else if (!strcmp(what, "matmul")) must(tsr_matmul(&c, a, b));
    else if (!strcmp(what, "matmul_made")) must(tsr_matmul(&made, a, b));
    else if (!strcmp(what, "read")) must(tsr_file_read(&stored, file, "a"));
    else if (!strcmp(what, "read_made")) must(tsr_file_read(&made, file, "a"));
    else must(TSR_EINVAL);
}

static void run(const char *what)
{
    call(what);
    call(what);
    raise(SIGUSR1);
    call(what);
    raise(SIGUSR1);
    _exit(0);
}

enum { PLACES = 1 << 16 };  /* more than a call has instructions */
static unsigned long long seen[PLACES];

/* Prints an address that is met for the first time. */
static void note(unsigned long long at)
{
    size_t i = (size_t)(at * 0x9e3779b97f4a7c15u >> 48) % PLACES;
    while (seen[i] && seen[i] != at) i = (i + 1) % PLACES;
    if (!seen[i]) printf("%llx\n", at);
    seen[i] = at;
}

#if defined(__x86_64__) && defined(__linux__)

/* Goes on until the process raises SIGUSR1; 0 if it ends before. */
static int go(pid_t pid, int request, int watch)
{
    for (int status = 0; ptrace(request, pid, 0, 0) == 0 && waitpid(pid, &status, 0) == pid;) {
        struct user_regs_struct r;
        if (!WIFSTOPPED(status)) return 0;
        if (WSTOPSIG(status) == SIGUSR1) return 1;
        if (watch && ptrace(PTRACE_GETREGS, pid, 0, &r) == 0) note(r.rip);
    }
    return 0;
}

/* From branch to branch where the processor can, else by instructions. */
static int step(pid_t pid)
{
    return go(pid, PTRACE_SINGLEBLOCK, 1) || go(pid, PTRACE_SINGLESTEP, 1);
}

int main(int argc, char **argv)
{
    if (argc < 5) return 2;
    const pid_t pid = fork();
    if (pid == 0) {
        prepare(atoll(argv[2]), atoll(argv[3]), argv[4]);
        if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0) return 77;
        raise(SIGSTOP);
        run(argv[1]);
    }
    int status = 0;
    if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status)) return 77;
    return go(pid, PTRACE_CONT, 0) && step(pid) ? 0 : 1;
}

#else

int main(void) { return 77; }

#endif
