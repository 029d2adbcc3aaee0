/* net.c - see net.h. */
#include "net.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/threads_int.h"
#include "cpu/cpu_run.h"
#include "cpu/edges.h"
#include "cpu/kernels.h"
#include "ops/dispatch.h"
#include "opcheck/guard.h"

enum { MOST_EDGES = 256 };
static int64_t edges[MOST_EDGES];
static int nedges;

int net_edges(void) { return nedges; }

void net_begin(check_list *list)
{
    list_everything(list);
    nedges = tsri_cpu_edges(edges, MOST_EDGES);
    if (!list->full && guard_library(true) == TSR_OK) return;
    fprintf(stderr, "cannot begin: %s\n", tsr_last_error());
    exit(2);
}

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

/* 0: those that suit it. */
static void choose_tuning(uint64_t random)
{
    static const tsri_tuning *usual;
    static tsri_tuning drawn;
    if (!usual) usual = tsri_tuning_get();
    drawn = *usual;
    draw_tuning(&drawn, random);
    tsri_tuning_used = random ? &drawn : usual;
}

/* One trial --------------------------------------------------------------------------------- */

/* Runs it and keeps what it gave. */
static void run_with(trial *t, const net_trial *what, const trial_settings *how, int threads, outcome *o)
{
    *t = (trial){ .check = what->check, .how = how, .random = what->random,
                  .bytes = what->bytes, .bytes_end = what->bytes_end };
    tsri_split_finely(threads > 1);
    if (tsr_set_threads(threads) != TSR_OK) fail_trial(t, "no %d threads", threads);
    run_trial(t);
    if (!t->failed && !keep_outcome(o, t)) fail_trial(t, "no memory for what it gave");
}

static verdict run_alone(const net_trial *what, const trial_settings *how, outcome *o)
{
    trial t;
    run_with(&t, what, how, 1, o);
    end_trial(&t);
    verdict v = { .failed = t.failed, .skipped = t.skipped };
    memcpy(v.why, t.why, sizeof v.why);
    return v;
}

static verdict run_shared(const net_trial *what, const trial_settings *how, const outcome *alone)
{
    trial t;
    outcome o = { { 0 }, { NULL } };
    run_with(&t, what, how, what->threads, &o);
    if (!t.failed) compare_outcomes(&t, alone, &o, what->threads);
    end_trial(&t);
    free_outcome(&o);
    verdict v = { .failed = t.failed };
    memcpy(v.why, t.why, sizeof v.why);
    return v;
}

static void choose_kernels(const net_trial *what)
{
    tsri_cpu_stream_from(what->streams ? 1 : 0);
    tsr_set_external(what->external);
    tsri_prefer_parts(what->parts);
    choose_tuning(what->tuning);
}

verdict net_try(const net_trial *what)
{
    choose_kernels(what);
    trial_settings how = { .elements = what->elements, .edges = edges, .guarded = true,
                           .nedges = what->edges ? nedges : 0 };
    const int64_t faults = guard_faults();
    outcome alone = { { 0 }, { NULL } };
    verdict v = run_alone(what, &how, &alone);
    how.unchecked = true;
    if (!v.failed && !v.skipped && what->threads > 1) v = run_shared(what, &how, &alone);
    free_outcome(&alone);
    if (!v.failed && guard_faults() != faults) {
        v.failed = true;
        snprintf(v.why, sizeof v.why,
                 "memory beside a block of the library was written, or freed with another size");
    }
    return v;
}
