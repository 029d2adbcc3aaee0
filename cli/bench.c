/* bench.c - tsr bench: how fast this machine is, and how much of that the ops reach. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tessera/tessera.h"

#include "command.h"
#include "measure.h"
#include "picture/roofline.h"
#include "tune/tune.h"

static const char name_of_command[] = "bench";

typedef struct request {
    bool        json, list, all, tune;
    const char *picture, *threads, *seconds;
} request;

/* The picture of the lines that were written. */
static int draw(const char *path, FILE *lines)
{
    rewind(lines);
    canvas *c = roofline_picture(lines);
    const tsr_status s = canvas_save(c, path, NULL);
    if (s != TSR_OK) complain(name_of_command, "%s: %s", path, c ? tsr_last_error() : "no memory");
    canvas_free(c);
    return s == TSR_OK ? EXIT_YES : EXIT_NO;
}

static int copy_lines(FILE *from)
{
    char line[512];
    rewind(from);
    while (fgets(line, sizeof line, from)) fputs(line, stdout);
    return EXIT_YES;
}

static int measure(const request *r, bench_options *o)
{
    FILE *lines = tmpfile();
    if (!lines) return complain(name_of_command, "no temporary file can be made");
    o->json = lines;
    int status = EXIT_YES;
    if (!bench_run(o)) status = complain_usage(name_of_command, "'%s' is no regular expression", o->filter);
    if (status == EXIT_YES && r->json) status = copy_lines(lines);
    if (status == EXIT_YES && r->picture) status = draw(r->picture, lines);
    fclose(lines);
    return status;
}

/* What goes with --tune, as the options of it. */
static int run_tune(const request *r, double seconds, int threads, const char *filter)
{
    if (r->list || r->all || r->picture)
        return complain_usage(name_of_command, "--tune goes with --json, --seconds, --threads and a pattern");
    const tune_options o = { .filter = filter, .json = r->json, .seconds = r->seconds ? seconds : 60,
                             .threads = r->threads ? threads : 0 };
    return tune(&o);
}

static int run(int argc, char **argv)
{
    request r = { 0 };
    bench_options o = { .threads = 1, .seconds = 0.2 };
    uint64_t threads = 1;
    const option options[] = {
        { "--json",    NULL,   &r.json, NULL },
        { "--list",    NULL,   &r.list, NULL },
        { "--all",     NULL,   &r.all,  NULL },
        { "--tune",    NULL,   &r.tune, NULL },
        { "--picture", "FILE", NULL,    &r.picture },
        { "--threads", "N",    NULL,    &r.threads },
        { "--seconds", "S",    NULL,    &r.seconds },
        { NULL, NULL, NULL, NULL },
    };
    const int n = read_options(name_of_command, options, argc, argv);
    if (n < 0) return EXIT_USAGE;
    if (n > 1) return complain_usage(name_of_command, "one pattern at most");
    if (r.threads && !read_count(&threads, name_of_command, "--threads", r.threads)) return EXIT_USAGE;
    if (r.seconds && !read_seconds(&o.seconds, name_of_command, "--seconds", r.seconds)) return EXIT_USAGE;
    if (threads < 1 || threads > 1024) return complain_usage(name_of_command, "--threads is 1 to 1024");
    o.threads = (int)threads;
    o.filter = n == 1 ? argv[1] : NULL;
    if (r.tune) return run_tune(&r, o.seconds, o.threads, o.filter);
    o.quick = !r.all && !o.filter;
    o.list = r.list;
    o.json_only = r.json;
    return measure(&r, &o);
}

const command bench_command = {
    .name = name_of_command,
    .run = run,
    .summary = "measure this machine's limits, and how much of them the ops reach",
    .help =
        "tsr bench - measure this machine's limits, and how much of them the ops reach\n"
        "\n"
        "usage: tsr bench [OPTIONS] [PATTERN]\n"
        "       tsr bench --tune [--seconds S] [--threads N] [--json] [PATTERN]\n"
        "\n"
        "Each workload takes turns with what the machine itself can do at that size: a\n"
        "copy, a copy around the caches, a read, multiply-adds in registers. The table\n"
        "shows what part of each we reach; a star marks the limit that binds. Without a\n"
        "pattern a choice of workloads is run, in less than a minute.\n"
        "\n"
        "options:\n"
        "  --all            every workload\n"
        "  --threads N      with N threads (1)\n"
        "  --seconds S      about so long for each workload (0.2)\n"
        "  --picture FILE   a roofline as FILE.svg or FILE.png: every workload a point\n"
        "                   below the machine's roof (of one thread)\n"
        "  --json           one object a line: lib, workload, threads, seconds, bytes, flops\n"
        "  --list           the names of the workloads\n"
        "  --tune           measure which numbers suit this processor, in S seconds (60)\n"
        "\n"
        "PATTERN is an extended regular expression on names, which say family, op, dtype\n"
        "and size.\n"
        "\n"
        "The library has numbers for each family of processors: how far to prefetch, from\n"
        "which size on to write around the caches, block sizes, when to wake a thread.\n"
        "--tune compares others with those in use, in turns, and says by how much the best\n"
        "other is faster. One that wins clearly, twice, is chosen. In the end it prints a\n"
        "file of all numbers for src/cpu/tuning, and what TSR_TUNING has to be to use them\n"
        "at once. Nothing is changed. PATTERN chooses fields, such as 'stream' or '^conv'.\n"
        "Have nothing else run meanwhile.\n"
        "\n"
        "examples:\n"
        "  tsr bench --picture roof.svg\n"
        "  tsr bench --threads 2 '^d.mm.f32'\n"
        "  tsr bench --list\n"
        "  tsr bench --tune\n",
};
