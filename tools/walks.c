/* walks.c - makes a call, and prints the addresses of the functions that it enters, on any thread.
 *
 *     walks CALL ELEMENTS SIDE FILE < addresses of functions
 *
 * CALL is add, sum, matmul or read, with _made where the result is made. It is called twice before that, so
 * that what is done once is done. Each function then begins with a breakpoint, which goes when it is met.
 * Exit status 77: processes cannot be traced here. */
#include <fcntl.h>
#include <inttypes.h>
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

#if defined(__x86_64__) && defined(__linux__)

enum { BREAKPOINT = 0xcc, MOST_FUNCTIONS = 1 << 16 };

static struct { uint64_t at; uint8_t byte; } functions[MOST_FUNCTIONS];
static int count;

static void read_functions(void)
{
    while (count < MOST_FUNCTIONS && scanf("%" SCNx64, &functions[count].at) == 1) count++;
}

static bool plant_all(int memory)
{
    const uint8_t breakpoint = BREAKPOINT;
    for (int i = 0; i < count; i++)
        if (pread(memory, &functions[i].byte, 1, (off_t)functions[i].at) != 1 ||
            pwrite(memory, &breakpoint, 1, (off_t)functions[i].at) != 1)
            return false;
    return true;
}

static int compare(const void *key, const void *function)
{
    const uint64_t at = *(const uint64_t *)key, other = *(const uint64_t *)function;
    return at < other ? -1 : at > other;
}

/* A thread has met a breakpoint: what stood there is back, and the thread goes on from it. Another thread may
 * have met it at the same time. */
static bool enter(int memory, pid_t thread)
{
    struct user_regs_struct r;
    if (ptrace(PTRACE_GETREGS, thread, 0, &r) != 0) return false;
    const uint64_t at = r.rip - 1;
    const size_t size = sizeof *functions;
    const char *found = bsearch(&at, functions, (size_t)count, size, compare);
    if (!found) return false;
    const uint8_t *byte = &functions[(size_t)(found - (char *)functions) / size].byte;
    if (pwrite(memory, byte, 1, (off_t)at) != 1) return false;
    printf("%" PRIx64 "\n", at);
    r.rip = at;
    return ptrace(PTRACE_SETREGS, thread, 0, &r) == 0;
}

/* From one SIGUSR1 of the process to the next its threads meet breakpoints. */
static bool watch(int memory)
{
    bool planted = false;
    int status;
    for (pid_t thread; (thread = waitpid(-1, &status, __WALL)) > 0;) {
        if (!WIFSTOPPED(status)) continue;
        int signal = WSTOPSIG(status);
        const bool event = status >> 16 != 0;  /* a thread has begun */
        if (signal == SIGUSR1 && planted) return true;
        if (signal == SIGUSR1 && !(planted = plant_all(memory))) return false;
        if (signal == SIGTRAP && !event && !enter(memory, thread)) return false;
        if (signal == SIGUSR1 || signal == SIGTRAP || signal == SIGSTOP) signal = 0;
        if (ptrace(PTRACE_CONT, thread, 0, signal) != 0) return false;
    }
    return false;
}

int main(int argc, char **argv)
{
    char path[64];
    int status = 0;
    if (argc < 5) return 2;
    read_functions();
    const pid_t pid = fork();
    if (pid == 0) {
        if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0) return 77;
        raise(SIGSTOP);  /* the threads that begin from here on are traced, too */
        prepare(atoll(argv[2]), atoll(argv[3]), argv[4]);
        run(argv[1]);
    }
    if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) ||
        ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL) != 0)
        return 77;
    snprintf(path, sizeof path, "/proc/%ld/mem", (long)pid);
    const int memory = open(path, O_RDWR);
    if (memory < 0 || ptrace(PTRACE_CONT, pid, 0, 0) != 0) return 77;
    return watch(memory) ? 0 : 1;
}

#else

int main(void) { return 77; }

#endif
