/* test_net.c - every check of opcheck/, where kernels end and loops split.
 *
 *     test_net                          a part of it that fits a test run
 *     test_net --seed 7 --passes 100    more of it, from other numbers (or TSR_SEED=7, TSR_PASSES=100)
 *     test_net --part 3/32              the checks from 3/32 to 4/32 of their list
 *     test_net --only "matmul f64" --scale edges --seed 7 --trial 31    one trial again
 *     test_net --only matmul            every check of that family, or whose name begins so
 *
 * A trial is run as net.h says, the second time with 2, 3, 5 or 8 threads. Sizes are drawn from those at
 * which the kernels of this instruction set end (TSR_ISA lowers it). Some trials write their results around
 * the caches, as only large ones are otherwise, some use none of the libraries that others wrote, and in some
 * the numbers that suit a processor are others: what is for large operands is done with small ones then.
 *
 * A failure is tried again with smaller tensors, and the smallest that fails is told.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "net.h"

enum { TOLD = 25, MOST_MORE = 64 };

/* Tensors of a few elements, of those where kernels end, and of the middle. */
typedef struct scale {
    const char *name;
    int64_t     elements;
    bool        edges;
    int         passes;   /* of each check, in a test run */
    int         among;    /* only one check in so many is run in a pass */
} scale;

static const scale scales[] = {
    { "small", 200, false, 3, 1 },
    { "edges", 17000, true, 3, 2 },
    { "middle", 300000, true, 3, 24 },
};
enum { SCALES = sizeof scales / sizeof *scales };

static struct {
    uint64_t    seed;
    int64_t     passes;         /* 0: as many as the scale says */
    int64_t     trial;          /* that alone; -1: all */
    const char *only;           /* a check's name, the words it begins with, or a family; or NULL */
    const char *scale;
    int         part, parts;    /* part of so many of the list of checks */
    check_list  list;
    int64_t     trials, failed;
} net = { .seed = 1, .trial = -1, .parts = 1 };

/* One trial --------------------------------------------------------------------------------- */

static verdict try_trial(const check *c, uint64_t random, const scale *s, int threads)
{
    const net_trial what = {
        .check = c, .random = random, .elements = s->elements, .edges = s->edges, .threads = threads,
        .streams = (random >> 40) % 3 == 0, .external = (random >> 44) % 2 == 0,
        .parts = (random >> 48) % 6 == 0, .tuning = (random >> 52) % 3 == 0 ? random : 0,
    };
    return net_try(&what);
}

/* Failures ----------------------------------------------------------------------------------- */

/* The first failure among tensors of few elements, if one is soon found: those are easier to read. */
static void shrink(const check *c, const scale *s, int threads)
{
    const time_t end = time(NULL) + 5;
    for (int64_t elements = 2; elements < s->elements; elements *= 2)
        for (uint64_t i = 0; i < 150 && time(NULL) < end; i++) {
            const scale smaller = { s->name, elements, s->edges, 1, 1 };
            const verdict v =
                try_trial(c, trial_random(net.seed, c, (int64_t)(1000000 + i)), &smaller, threads);
            if (!v.failed) continue;
            printf("    at most %lld elements: %s\n", (long long)elements, v.why);
            return;
        }
}

static void tell(const check *c, const scale *s, int64_t pass, int threads, const verdict *v)
{
    if (net.failed++ >= TOLD) return;
    if (getenv("TSR_STOP")) exit(1);
    printf("FAILED %s, %s, %d threads: %s\n    again: test_net --only \"%s\" --scale %s --seed %llu --trial "
           "%lld\n",
           c->name, s->name, threads, v->why, c->name, s->name, (unsigned long long)net.seed,
           (long long)pass);
    shrink(c, s, threads);
    fflush(stdout);
}

/* All of them -------------------------------------------------------------------------------- */

static bool is_chosen(const check *c, const scale *s, int index, int64_t pass)
{
    if (!strcmp(c->family, "threads") || !strcmp(c->family, "errors")) return false;
    return net.only || ((index + pass) % s->among == 0 && pass % (c->every > 1 ? c->every : 1) == 0);
}

static bool is_named(const check *c)
{
    const size_t n = net.only ? strlen(net.only) : 0;
    return n == 0 || !strcmp(c->family, net.only) ||
           (!strncmp(c->name, net.only, n) && (c->name[n] == '\0' || c->name[n] == ' '));
}

static void run_scale(const scale *s)
{
    static const int threads[] = { 2, 3, 5, 8 };
    const int64_t passes = net.passes ? net.passes : s->passes;
    const int64_t first = net.trial >= 0 ? net.trial / MOST_MORE : 0,
                  end = net.trial >= 0 ? first + 1 : passes;
    const int64_t from = (int64_t)net.list.count * net.part / net.parts,
                  to = (int64_t)net.list.count * (net.part + 1) / net.parts;
    for (int64_t pass = first; pass < end; pass++)
        for (int i = (int)from; i < to; i++) {
            const check *c = &net.list.item[i];
            for (int k = 0; k < (c->more && s->edges ? c->more : 1); k++) {
                const int64_t number = pass * MOST_MORE + k;
                if (net.trial >= 0 ? number != net.trial : !is_chosen(c, s, i, pass)) continue;
                if (!is_named(c)) continue;
                const int some = threads[(i + number) % 4];
                const verdict v = try_trial(c, trial_random(net.seed, c, number), s, some);
                net.trials++;
                if (v.failed) tell(c, s, number, some, &v);
            }
        }
}

static bool read_options(int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *name = argv[i], *text = argv[i + 1];
        if (!strcmp(name, "--seed")) net.seed = strtoull(text, NULL, 10);
        else if (!strcmp(name, "--passes")) net.passes = strtoll(text, NULL, 10);
        else if (!strcmp(name, "--trial")) net.trial = strtoll(text, NULL, 10);
        else if (!strcmp(name, "--only")) net.only = text;
        else if (!strcmp(name, "--scale")) net.scale = text;
        else if (!strcmp(name, "--part")) sscanf(text, "%d/%d", &net.part, &net.parts);
        else return false;
    }
    return argc % 2 == 1 && net.part >= 0 && net.part < net.parts;
}

int main(int argc, char **argv)
{
    const char *seed = getenv("TSR_SEED"), *passes = getenv("TSR_PASSES");
    if (seed) net.seed = strtoull(seed, NULL, 10);
    if (passes) net.passes = strtoll(passes, NULL, 10);
    if (!read_options(argc, argv)) {
        fprintf(stderr,
                "usage: test_net [--seed N] [--passes N] [--trial N] [--only CHECK] [--scale NAME] "
                "[--part K/N]\n");
        return 2;
    }
    net_begin(&net.list);
    for (int i = 0; i < SCALES; i++)
        if (!net.scale || !strcmp(net.scale, scales[i].name)) run_scale(&scales[i]);
    printf("%lld trials of %d checks, sizes around %d edges\n", (long long)net.trials, net.list.count,
           net_edges());
    printf("%lld passed, %lld failed, 0 skipped\n", (long long)(net.trials - net.failed),
           (long long)net.failed);
    free(net.list.item);
    if (net.only && net.trials == 0) fprintf(stderr, "no check is named %s\n", net.only);
    return net.failed != 0 || (net.only && net.trials == 0);
}
