/* test_net.c - every check of opcheck/, where kernels end and loops split.
 *
 *     test_net                          a part of it that fits a test run
 *     test_net --seed 7 --passes 100    more of it, from other numbers (or TSR_SEED=7, TSR_PASSES=100)
 *     test_net --part 3/32              the checks from 3/32 to 4/32 of their list
 *     test_net --only "matmul f64" --scale edges --seed 7 --trial 31    one trial again
 *     test_net --only matmul            every check of that family, or whose name begins so
 *
 * A trial is run with one thread and compared with the references, in memory between pages that cannot
 * be accessed, the library's own blocks included. The same trial is run again with 2, 3, 5 or 8 threads,
 * every loop split as finely and unevenly as its function allows: the bits must be the same, and nothing
 * but the results may have been written. Sizes are drawn from those at which the kernels of this
 * instruction set end (TSR_ISA lowers it). Some trials write their results around the caches, as only
 * large ones are otherwise, some use none of the libraries that others wrote, and in some the numbers that
 * suit a processor are others: what is for large operands is done with small ones then.
 *
 * A failure is tried again with smaller tensors, and the smallest that fails is told.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/threads_int.h"
#include "cpu/cpu_run.h"
#include "cpu/edges.h"
#include "cpu/kernels.h"
#include "ops/dispatch.h"
#include "opcheck/guard.h"
#include "opcheck/trial.h"

enum { MOST_EDGES = 256, TOLD = 25, MOST_MORE = 64 };

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
    int64_t     edges[MOST_EDGES];
    int         nedges;
    int64_t     trials, runs, failed;
} net = { .seed = 1, .trial = -1, .parts = 1 };

/* What a trial gave ------------------------------------------------------------------------- */

/* Elements of the results, in row-major order. */
typedef struct outcome {
    size_t         bytes[TRIAL_TENSORS];
    unsigned char *data[TRIAL_TENSORS];
} outcome;

static bool keep_outcome(outcome *o, const trial *t)
{
    for (int i = 0; i < TRIAL_TENSORS; i++) {
        const tsr_tensor *r = t->tensor[i];
        if (!r || t->before[i] || !tsr_is_allocated(r)) continue;
        const size_t size = size_of(r->dtype);
        o->bytes[i] = (size_t)tsr_numel(r) * size;
        o->data[i] = malloc(o->bytes[i] + 1);
        if (!o->data[i]) return false;
        for (int64_t k = 0; k < tsr_numel(r); k++) memcpy(o->data[i] + (size_t)k * size, element(r, k), size);
    }
    return true;
}

static void free_outcome(outcome *o)
{
    for (int i = 0; i < TRIAL_TENSORS; i++) free(o->data[i]);
}

static void compare_outcomes(trial *t, const outcome *alone, const outcome *shared, int threads)
{
    for (int i = 0; i < TRIAL_TENSORS && !t->failed; i++) {
        if (alone->bytes[i] != shared->bytes[i])
            fail_trial(t, "with %d threads result %d has another size", threads, i);
        if (t->failed || alone->bytes[i] == 0 || !memcmp(alone->data[i], shared->data[i], alone->bytes[i]))
            continue;
        const tsr_dtype dtype = t->tensor[i]->dtype;
        for (size_t at = 0; at < alone->bytes[i] && !t->failed; at += size_of(dtype)) {
            char text[160], one[64], many[64];
            if (same_bits(dtype, alone->data[i] + at, shared->data[i] + at)) continue; /* a NaN is any NaN */
            tsr_desc_to_string(text, sizeof text, &t->tensor[i]->desc);
            fail_trial(t, "with %d threads element %zu of result %d, %s, is %s, and with one %s", threads,
                       at / size_of(dtype), i, text, value_text(many, dtype, shared->data[i] + at),
                       value_text(one, dtype, alone->data[i] + at));
        }
    }
}

/* Tuning -------------------------------------------------------------------------------------- */

/* A number as it is, the least that it may be, or one a little or much above that. */
static int64_t draw_number(uint64_t *random, int64_t usual, int64_t least, int64_t most)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    const uint64_t r = *random >> 33;
    const int64_t above = (int64_t)((r >> 7) % (UINT64_C(1) << (r >> 2) % 22));
    if (r % 4 == 0) return usual;
    return r % 4 < 3 ? least : above < most - least ? least + above : most;
}

/* Of the numbers that suit a processor, those that kernels read while they run: any within their limits must
 * give the same results. */
static void draw_tuning(tsri_tuning *t, uint64_t random)
{
#define PLAIN(type, name, least, most) t->name = (type)draw_number(&random, t->name, least, most);
#define MEMBER(group, name, least, most) t->group.name = draw_number(&random, t->group.name, least, most);
#define PRODUCTS(name, least, most) MEMBER(products, name, least, most)
#define CONV(name, least, most)     MEMBER(conv, name, least, most)
#define INDEXING(name, least, most) MEMBER(indexing, name, least, most)
#define COPIES(name, least, most)   MEMBER(copies, name, least, most)
#define OF_LANES(name, least, most) MEMBER(lanes, name, least, most)
#include "cpu/tuning/fields.def"
}

static void choose_tuning(uint64_t random)
{
    static const tsri_tuning *usual;
    static tsri_tuning drawn;
    if (!usual) usual = tsri_tuning_get();
    drawn = *usual;
    draw_tuning(&drawn, random);
    tsri_tuning_used = (random >> 52) % 3 == 0 ? &drawn : usual;
}

/* One trial --------------------------------------------------------------------------------- */

typedef struct verdict {
    bool failed;
    char why[800];
} verdict;

/* Runs it and keeps what it gave. */
static void run_with(trial *t, const check *c, uint64_t random, const trial_settings *how, int threads,
                     outcome *o)
{
    *t = (trial){ .check = c, .how = how, .random = random };
    tsri_split_finely(threads > 1);
    if (tsr_set_threads(threads) != TSR_OK) fail_trial(t, "no %d threads", threads);
    run_trial(t);
    if (!t->failed && !keep_outcome(o, t)) fail_trial(t, "no memory for what it gave");
    net.runs++;
}

/* The same for all runs of a trial. */
static void choose_kernels(uint64_t random)
{
    tsri_cpu_stream_from((random >> 40) % 3 == 0 ? 1 : 0);
    tsr_set_external((random >> 44) % 2 == 0);
    tsri_prefer_parts((random >> 48) % 6 == 0);
    choose_tuning(random);
}

static verdict try_trial(const check *c, uint64_t random, const scale *s, int threads)
{
    choose_kernels(random);
    const trial_settings checked = { .elements = s->elements, .edges = net.edges, .guarded = true,
                                     .nedges = s->edges ? net.nedges : 0 };
    trial_settings unchecked = checked;
    unchecked.unchecked = true;
    const int64_t faults = guard_faults();
    trial alone, shared;
    outcome a = { { 0 }, { NULL } }, b = { { 0 }, { NULL } };
    run_with(&alone, c, random, &checked, 1, &a);
    end_trial(&alone);
    const bool failed = alone.failed;
    verdict v = { .failed = alone.failed };
    memcpy(v.why, alone.why, sizeof v.why);
    if (!failed && !alone.skipped) {
        run_with(&shared, c, random, &unchecked, threads, &b);
        if (!shared.failed) compare_outcomes(&shared, &a, &b, threads);
        end_trial(&shared);
        v.failed = shared.failed;
        memcpy(v.why, shared.why, sizeof v.why);
    }
    free_outcome(&a);
    free_outcome(&b);
    if (!v.failed && guard_faults() != faults) {
        v.failed = true;
        snprintf(v.why, sizeof v.why,
                 "memory beside a block of the library was written, or freed with another size");
    }
    return v;
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
    list_everything(&net.list);
    net.nedges = tsri_cpu_edges(net.edges, MOST_EDGES);
    if (net.list.full || guard_library(true) != TSR_OK) {
        fprintf(stderr, "cannot begin: %s\n", tsr_last_error());
        return 2;
    }
    for (int i = 0; i < SCALES; i++)
        if (!net.scale || !strcmp(net.scale, scales[i].name)) run_scale(&scales[i]);
    printf("%lld trials of %d checks, %lld runs, sizes around %d edges\n", (long long)net.trials,
           net.list.count, (long long)net.runs, net.nedges);
    printf("%lld passed, %lld failed, 0 skipped\n", (long long)(net.trials - net.failed),
           (long long)net.failed);
    free(net.list.item);
    if (net.only && net.trials == 0) fprintf(stderr, "no check is named %s\n", net.only);
    return net.failed != 0 || (net.only && net.trials == 0);
}
