/* report.c - one check after the other: trials, leaks, lines, the table. */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "backend/registry.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

bool find_backend(session *s)
{
    return tsri_backend_of(&s->backend, &s->index, "check", s->device) == TSR_OK;
}

/* Checks --------------------------------------------------------------------------------------- */

typedef struct holdings {
    tsr_memory_stats all;
    tsr_device_memory_stats device;
} holdings;

static void take_stock(holdings *h, const session *s)
{
    memset(h, 0, sizeof *h);
    tsr_memory_get_stats(&h->all);
    if (tsr_device_memory_get_stats(&h->device, s->device) != TSR_OK) memset(&h->device, 0, sizeof h->device);
}

static void check_leaks(outcome *out, const holdings *before, const session *s)
{
    holdings after;
    if (out->verdict == FAILED) return;
    take_stock(&after, s);
    const int64_t tensors = after.all.live_tensors - before->all.live_tensors;
    const int64_t storages = after.all.live_storages - before->all.live_storages;
    const int64_t bytes = after.device.live_bytes - before->device.live_bytes;
    if (!tensors && !storages && !bytes) return;
    out->verdict = FAILED;
    snprintf(out->why, sizeof out->why, "leaked %lld tensors, %lld storages, %lld bytes of the device",
             (long long)tensors, (long long)storages, (long long)bytes);
}

/* Factors, Fourier transforms and quantised blocks may be computed elsewhere, all else by the device. */
static tsr_fallback policy_for(const check *c)
{
    const bool blocks = c->op == TSR_OP_DEQUANTISE_BLOCKS || c->op == TSR_OP_LINEAR_BLOCKS;
    const bool elsewhere = blocks || !strcmp(c->family, "linalg") || !strcmp(c->family, "fft");
    return elsewhere ? TSR_FALLBACK_ALLOW : TSR_FALLBACK_ERROR;
}

/* Sizes of groups, tiles and blocks that devices work in. */
static const int64_t edges[] = { 16, 32, 64, 128, 256, 512, 1024, 4096 };

/* Three cases of small tensors, then one of large ones. */
static bool is_large(int number) { return number % 4 == 3; }

static trial_settings settings_for(const session *s, tsr_device device, uint64_t random, int number)
{
    trial_settings how = { .device = device, .plumbing = s->plumbing, .excuse = excuse_of_trial, .about = s };
    if (!is_large(number)) return how;
    how.elements = random >> 32 & 7 ? 6000 : 100000;
    how.edges = edges;
    how.nedges = sizeof edges / sizeof *edges;
    return how;
}

static void describe_tensors(outcome *out, const trial *t)
{
    size_t used = strlen(out->why);
    for (int i = 0; i < TRIAL_TENSORS; i++) {
        char text[240];
        if (!t->tensor[i] || used + 2 >= sizeof out->why) continue;
        tsr_desc_to_string(text, sizeof text, &t->tensor[i]->desc);
        used += (size_t)snprintf(out->why + used, sizeof out->why - used, "\ntensor %d: %s", i, text);
    }
}

static void try_once(outcome *out, const session *s, const check *c, tsr_device device, int number, int part)
{
    const uint64_t random = trial_random(s->seed, c, number + (int64_t)part * 1000000);
    const trial_settings how = settings_for(s, device, random, number);
    trial t = { .check = c, .how = &how, .random = random };
    run_trial(&t);
    const bool ended_well = !t.failed;
    if (!ended_well || t.skipped) snprintf(out->why, sizeof out->why, "%s", t.why);
    if (!ended_well) describe_tensors(out, &t);
    end_trial(&t);
    if (ended_well && t.failed) snprintf(out->why, sizeof out->why, "%s", t.why); /* a leak */
    out->trials++;
    out->failed_at = number;
    out->verdict = t.failed ? FAILED : t.skipped ? SKIPPED : PASSED;
}

/* Checks that are run in some cases only are run in those of large tensors too. */
static bool is_due(const check *c, int number)
{
    return number % (c->every > 1 ? c->every : 1) == 0 || (is_large(number) && c->every != ONCE);
}

static void run_trials(outcome *out, const session *s, const check *c, tsr_device device)
{
    for (int i = 0; i < s->cases; i++) {
        const int parts =
            is_large(i) && c->more > 1 ? c->more : 1; /* large ones meet other kernels each time */
        for (int k = 0; k < parts && is_due(c, i) && out->verdict == PASSED; k++)
            try_once(out, s, c, device, i, k);
    }
    const tsr_status last = tsr_device_sync(s->device);
    if (last == TSR_OK || out->verdict != PASSED) return;
    out->verdict = FAILED;
    snprintf(out->why, sizeof out->why, "tsr_device_sync gave %s after it: %s", tsr_status_name(last),
             tsr_last_error());
}

void run_check(outcome *out, const session *s, const check *c, tsr_device device)
{
    holdings before;
    tsr_op_stats then, stats;
    memset(out, 0, sizeof *out);
    const double start = now();
    if (tsr_set_fallback(policy_for(c)) != TSR_OK) return;
    tsr_op_get_stats(&then, c->op);
    take_stock(&before, s);
    run_trials(out, s, c, device);
    check_leaks(out, &before, s);
    out->seconds = now() - start;
    if (!c->op) return;
    tsr_op_get_stats(&stats, c->op);
    out->ran = stats.run - then.run;
    out->in_parts = stats.in_parts - then.in_parts;
    out->elsewhere = stats.elsewhere - then.elsewhere;
}

/* Lines ------------------------------------------------------------------------------------------- */

void report_begin(report *r, const session *s, bool json, bool quiet)
{
    char name[64];
    memset(r, 0, sizeof *r);
    r->session = s;
    r->json = json;
    r->quiet = quiet;
    r->terminal = isatty(STDERR_FILENO) == 1;
    r->started = now();
    (void)tsr_device_name(name, sizeof name, s->device);
    if (json) return;
    printf("%s: %s (%s), seed %llu, %d cases\n", name, s->info.name, s->info.capabilities,
           (unsigned long long)s->seed, s->cases);
}

static void erase_progress(report *r)
{
    if (r->drawn) fprintf(stderr, "\r\033[K");
    r->drawn = false;
}

void report_progress(report *r, const char *name)
{
    r->done++;
    if (!r->terminal || now() - r->last < 0.1) return;
    r->last = now();
    r->drawn = true;
    fprintf(stderr, "\r\033[K%4d/%d  %4.0f s  %s", r->done, r->total, r->last - r->started, name);
    fflush(stderr);
}

static const char *verdict_text(verdict v) { return v == PASSED ? "ok" : v == FAILED ? "FAIL" : "skip"; }
static const char *run_text(const outcome *o)
{
    return o->elsewhere ? "elsewhere" : o->in_parts ? "in parts" : "";
}

static void print_json_text(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            printf("\\%c", c);
        else if (c < 0x20)
            printf("\\u%04x", c);
        else
            putchar(c);
    }
    putchar('"');
}

static void print_json(const check *c, const outcome *o)
{
    printf("{\"family\": \"%s\", \"check\": \"%s\", \"verdict\": \"%s\", \"cases\": %d, \"seconds\": %.4f",
           c->family, c->name, verdict_text(o->verdict), o->trials, o->seconds);
    if (c->op)
        printf(", \"op\": \"%s\", \"by\": \"%s\"", tsr_op_get_info(c->op)->name,
               *run_text(o) ? run_text(o) : "run");
    if (o->why[0] && o->verdict != PASSED) {
        printf(", \"why\": ");
        print_json_text(o->why);
    }
    printf("}\n");
}

static void print_lines(const char *text)
{
    for (const char *end; *text; text = *end ? end + 1 : end) {
        end = text + strcspn(text, "\n");
        printf("      %.*s\n", (int)(end - text), text);
    }
}

static void print_line(const report *r, const check *c, const outcome *o)
{
    const char *how = run_text(o);
    if (o->verdict == PASSED) {
        if (!r->quiet) printf("ok    %-12s %s%s%s\n", c->family, c->name, *how ? ", " : "", how);
    } else if (o->verdict == SKIPPED) {
        if (!r->quiet) printf("skip  %-12s %s: %s\n", c->family, c->name, o->why);
    } else {
        printf("FAIL  %-12s %s, case %d (--seed %llu --filter \"%s\")\n", c->family, c->name, o->failed_at,
               (unsigned long long)r->session->seed, c->name);
        print_lines(o->why);
    }
}

static int family_of(report *r, const char *name)
{
    int i = 0;
    while (i < r->families && strcmp(r->family[i].name, name)) i++;
    if (i == r->families && r->families < FAMILIES) r->family[r->families++].name = name;
    return i < FAMILIES ? i : FAMILIES - 1;
}

void report_check(report *r, const check *c, const outcome *o)
{
    const int f = family_of(r, c->family);
    r->family[f].passed += o->verdict == PASSED;
    r->family[f].failed += o->verdict == FAILED;
    r->family[f].skipped += o->verdict == SKIPPED;
    r->family[f].elsewhere += o->elsewhere > 0;
    r->family[f].in_parts += !o->elsewhere && o->in_parts > 0;
    r->family[f].seconds += o->seconds;
    erase_progress(r);
    if (r->json)
        print_json(c, o);
    else
        print_line(r, c, o);
    fflush(stdout);
}

int report_end(report *r)
{
    int passed = 0, failed = 0, skipped = 0;
    erase_progress(r);
    if (!r->json)
        printf("\n%-12s %7s %7s %7s %9s %10s %8s\n", "family", "passed", "failed", "skipped", "in parts",
               "elsewhere", "seconds");
    for (int i = 0; i < r->families; i++) {
        passed += r->family[i].passed;
        failed += r->family[i].failed;
        skipped += r->family[i].skipped;
        if (!r->json)
            printf("%-12s %7d %7d %7d %9d %10d %8.1f\n", r->family[i].name, r->family[i].passed,
                   r->family[i].failed, r->family[i].skipped, r->family[i].in_parts, r->family[i].elsewhere,
                   r->family[i].seconds);
    }
    if (r->json)
        printf("{\"passed\": %d, \"failed\": %d, \"skipped\": %d}\n", passed, failed, skipped);
    else
        printf("\n%d passed, %d failed, %d skipped\n", passed, failed, skipped);
    return failed != 0;
}
