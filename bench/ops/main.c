/* main.c - bench-ops: every op family beside the machine's own limits.
 *
 *     bench-ops [--json FILE] [--quick] [--threads N] [--seconds S] [FILTER]
 *     bench-ops --list
 *     bench-ops --serve
 *
 * A workload and the limits that may bind it take turns in small batches, and the best of
 * each is reported: GB/s (each operand read once, each result written once) or GFLOP/s,
 * and the share of each limit; the one that binds is marked. FILTER is an extended regular
 * expression. --json appends one object a line: lib (tessera; limit, the one that binds;
 * limit.copy, limit.nt, limit.read, limit.peak), workload, threads, seconds, bytes, flops.
 * --serve answers lines "NAME THREADS" from standard input with "SECONDS LIMIT", our time and
 * that of the limit that binds (0: none does), so that another program can measure its own in
 * turns with ours. */
#include "measure.h"

static void usage(int status)
{
    fprintf(
        status ? stderr : stdout,
        "usage: bench-ops [--json FILE] [--quick] [--threads N] [--seconds S] [--list | --serve] [FILTER]\n");
    exit(status);
}

static void read_options(bench_options *o, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const bool more = i + 1 < argc;
        if (!strcmp(argv[i], "--quick")) o->quick = true;
        else if (!strcmp(argv[i], "--list")) o->list = true;
        else if (!strcmp(argv[i], "--serve")) o->serve = true;
        else if (!strcmp(argv[i], "--json") && more) {
            o->json = fopen(argv[++i], "a");
            if (!o->json) {
                perror(argv[i]);
                exit(1);
            }
        }
        else if (!strcmp(argv[i], "--threads") && more) o->threads = atoi(argv[++i]);
        else if (!strcmp(argv[i], "--seconds") && more) o->seconds = atof(argv[++i]);
        else if (argv[i][0] == '-' || o->filter) usage(strcmp(argv[i], "--help") != 0 ? 2 : 0);
        else o->filter = argv[i];
    }
    if (o->threads < 1) usage(2);
}

int main(int argc, char **argv)
{
    bench_options o = { .seconds = 0.4, .threads = 1 };
    read_options(&o, argc, argv);
    if (!bench_run(&o)) usage(2);
    if (o.json) fclose(o.json);
    return 0;
}
