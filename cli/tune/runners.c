/* runners.c - processes that measure, each with numbers of its own. */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tessera/tessera.h"

#include "measure.h"
#include "tune.h"

/* The last one has no workload. A process that is started later holds the ends of these pipes, too, so that
 * closing them would not be noticed. */
typedef struct request {
    char   workload[64];
    int    threads;
    double seconds;
} request;

/* All of it, or false. */
static bool read_whole(int from, void *data, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        const ssize_t n = read(from, (char *)data + at, bytes - at);
        if (n <= 0) return false;
        at += (size_t)n;
    }
    return true;
}

static bool write_whole(int to, const void *data, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        const ssize_t n = write(to, (const char *)data + at, bytes - at);
        if (n <= 0) return false;
        at += (size_t)n;
    }
    return true;
}

/* The process -------------------------------------------------------------------------------- */

/* Settings follow those in the user's environment, and so override them. */
static bool set_environment(const char *settings)
{
    static char text[2 * TUNING_ROOM];
    const char *given = getenv("TSR_TUNING");
    const int n = snprintf(text, sizeof text, "%s,%s", given ? given : "", settings);
    return n < (int)sizeof text && setenv("TSR_TUNING", text, 1) == 0;
}

static void run_all(int from, int to, const char *settings)
{
    static char tuning[TUNING_ROOM];
    request r;
    if (!set_environment(settings)) return;
    snprintf(tuning, sizeof tuning, "%s", tsr_cpu_tuning());
    if (!write_whole(to, tuning, sizeof tuning)) return;
    while (read_whole(from, &r, sizeof r) && r.workload[0]) {
        const double seconds = bench_time(r.workload, r.threads, r.seconds);
        if (!write_whole(to, &seconds, sizeof seconds)) return;
    }
}

/* Seen from outside -------------------------------------------------------------------------- */

static void close_both(const int ends[2])
{
    close(ends[0]);
    close(ends[1]);
}

/* The library is not yet in use here, so that the process reads its environment anew. */
static bool start_between(runner *p, const int in[2], const int out[2], const char *settings)
{
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        close(in[1]);
        close(out[0]);
        run_all(in[0], out[1], settings);
        _exit(0);
    }
    close(in[0]);
    close(out[1]);
    *p = (runner){ .pid = (int)pid, .to = in[1], .from = out[0] };
    if (pid > 0 && read_whole(p->from, p->tuning, sizeof p->tuning)) return true;
    runner_stop(p);
    return false;
}

bool runner_start(runner *p, const char *settings)
{
    int in[2], out[2];
    signal(SIGPIPE, SIG_IGN);  /* of a process that ended: writing fails */
    if (pipe(in) != 0) return false;
    if (pipe(out) == 0) return start_between(p, in, out, settings);
    close_both(in);
    return false;
}

double runner_time(const runner *p, const char *workload, int threads, double seconds)
{
    request r = { .threads = threads, .seconds = seconds };
    double taken = 0;
    snprintf(r.workload, sizeof r.workload, "%s", workload);
    return write_whole(p->to, &r, sizeof r) && read_whole(p->from, &taken, sizeof taken) ? taken : 0;
}

void runner_stop(runner *p)
{
    const request last = { .workload = "" };
    (void)write_whole(p->to, &last, sizeof last);
    close(p->to);
    close(p->from);
    if (p->pid > 0) waitpid(p->pid, NULL, 0);
}
