/* bench.c - tsr bench: how fast this machine is, and how much of that the ops reach. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tessera/tessera.h"

#include "command.h"
#include "measure.h"
#include "picture/roofline.h"

static const char name_of_command[] = "bench";

typedef struct request {
    bool        json, list, all;
    const char *picture, *threads, *seconds;
} request;

/* The picture of the lines that were written. */
static int draw(const char *path, FILE *lines)
{
    rewind(lines);
    canvas *c = roofline_picture(lines);
    const tsr_status s = canvas_save(c, path);
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

static int run(int argc, char **argv)
{
    request r = { 0 };
    bench_options o = { .threads = 1, .seconds = 0.2 };
    uint64_t threads = 1;
    const option options[] = {
        { "--json",    NULL,   &r.json, NULL },
        { "--list",    NULL,   &r.list, NULL },
        { "--all",     NULL,   &r.all,  NULL },
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
        "\n"
        "PATTERN is an extended regular expression on names, which say family, op, dtype\n"
        "and size.\n"
        "\n"
        "examples:\n"
        "  tsr bench --picture roof.svg\n"
        "  tsr bench --threads 2 '^d.mm.f32'\n"
        "  tsr bench --list\n",
};
