/* selftest.c - tsr selftest: is this library right, on this machine?
 *
 * Passes over the list of checks, each with other random tensors, until the
 * number of passes or of seconds is reached. At least one pass is whole.
 */
#include "opcheck/trial.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "command.h"
#include "json.h"
#include "names.h"
#include "opcheck/op_facts.h"
#include "terminal.h"

enum { PASSES = 20, FAILURES_KEPT = 50 };

static const char name_of_command[] = "selftest";

typedef struct failure {
    const check *check;
    int64_t      pass;
    char         why[800];
} failure;

typedef struct session {
    bool        json, verbose, timed;
    uint64_t    seed;
    double      seconds;      /* to run for, if timed; then, how long it took */
    const char *family;
    check_list  list;         /* of the chosen family */
    int64_t    *runs, *fails; /* for each check */
    bool       *skips;        /* is it one that this machine cannot do? */
    int         nskips;
    failure     skip;         /* the first of them */
    int64_t     run, failed;
    failure    *kept;
    int         nkept;
    const char *unchecked[TSR_OP_COUNT]; /* ops that no check is about */
    int         nunchecked;
} session;

/* The list ---------------------------------------------------------------------------- */

/* Every family of checks once, in the order of the list. */
static int families_of(const check_list *list, const char *families[FAMILIES_MOST])
{
    int count = 0;
    for (int i = 0; i < list->count; i++) {
        int k = 0;
        while (k < count && strcmp(families[k], list->item[i].family)) k++;
        if (k == count && count < FAMILIES_MOST) families[count++] = list->item[i].family;
    }
    return count;
}

/* Is the family of --family known? A family of ops without checks is accepted, too: nothing is run. */
static bool check_family(const session *s)
{
    const char *families[2 * FAMILIES_MOST];
    char near[200];
    nearest best = { .word = s->family };
    int count = families_of(&s->list, families);
    count += list_families(families + count);
    for (int i = 0; s->family && i < count; i++) {
        if (!strcmp(families[i], s->family)) return true;
        nearest_add(&best, families[i]);
    }
    if (s->family)
        complain(name_of_command, "no family is called '%s'%s", s->family,
                 nearest_text(near, sizeof near, &best));
    return !s->family;
}

static bool is_checked(const check_list *list, int kind)
{
    for (int i = 0; i < list->count; i++)
        if ((int)list->item[i].op == kind) return true;
    return false;
}

static void find_unchecked(session *s)
{
    for (int kind = 1; kind < TSR_OP_COUNT && tsr_op_get_info((tsr_op_kind)kind); kind++) {
        const tsr_op_info *info = tsr_op_get_info((tsr_op_kind)kind);
        if ((!s->family || !strcmp(s->family, info->family)) && !is_checked(&s->list, kind))
            s->unchecked[s->nunchecked++] = info->name;
    }
}

static void keep_family(check_list *list, const char *family)
{
    int kept = 0;
    for (int i = 0; i < list->count; i++)
        if (!strcmp(list->item[i].family, family)) list->item[kept++] = list->item[i];
    list->count = kept;
}

static bool prepare(session *s)
{
    list_everything(&s->list);
    if (!check_family(s)) return false;
    find_unchecked(s);
    if (s->family) keep_family(&s->list, s->family);
    s->runs = calloc((size_t)s->list.count + 1, sizeof *s->runs);
    s->fails = calloc((size_t)s->list.count + 1, sizeof *s->fails);
    s->skips = calloc((size_t)s->list.count + 1, sizeof *s->skips);
    s->kept = calloc(FAILURES_KEPT, sizeof *s->kept);
    if (!s->list.full && s->runs && s->fails && s->skips && s->kept) return true;
    complain(name_of_command, "out of memory");
    return false;
}

static void clear(session *s)
{
    free(s->list.item);
    free(s->runs);
    free(s->fails);
    free(s->skips);
    free(s->kept);
}

/* One trial ---------------------------------------------------------------------------- */

static void note(failure *f, const trial *t, int64_t pass)
{
    f->check = t->check;
    f->pass = pass;
    memcpy(f->why, t->why, sizeof f->why);
}

static void keep_failure(session *s, const trial *t, int64_t pass)
{
    if (s->nkept < FAILURES_KEPT) note(&s->kept[s->nkept++], t, pass);
}

static void keep_skip(session *s, int i, const trial *t, int64_t pass)
{
    if (!s->nskips) note(&s->skip, t, pass);
    if (!s->skips[i]) s->nskips++;
    s->skips[i] = true;
}

static void try_check(session *s, int i, int64_t pass)
{
    const check *c = &s->list.item[i];
    trial t = { .check = c, .random = trial_random(s->seed, c, pass) };
    run_trial(&t);
    end_trial(&t);
    if (t.skipped && !t.failed) {
        keep_skip(s, i, &t, pass);
        return;
    }
    s->run++;
    s->runs[i]++;
    if (!t.failed) return;
    s->failed++;
    if (s->fails[i]++ == 0) keep_failure(s, &t, pass); /* one of a check tells enough */
}

/* All of them --------------------------------------------------------------------------- */

static bool is_due(const check *c, int64_t pass) { return pass % (c->every > 1 ? c->every : 1) == 0; }

static void run_all(session *s)
{
    progress p;
    const double start = now();
    bool over = false;
    progress_begin(&p);
    for (int64_t pass = 0; !over; pass++) {
        for (int i = 0; i < s->list.count && !over; i++) {
            const double done = s->timed ? now() - start : (double)pass + (double)i / s->list.count;
            if (is_due(&s->list.item[i], pass)) try_check(s, i, pass);
            progress_draw(&p, done, s->timed ? s->seconds : PASSES, s->run);
            over = s->timed && pass > 0 && done >= s->seconds;
        }
        if (s->timed ? now() - start >= s->seconds : pass + 1 >= PASSES) over = true;
    }
    progress_end(&p);
    s->seconds = now() - start;
}

/* Telling -------------------------------------------------------------------------------- */

typedef struct tally {
    int     checks;
    int64_t run, failed;
} tally;

static int skipped_of(const session *s) { return s->nskips + s->nunchecked; }

static tally tally_of(const session *s, const char *family)
{
    tally sum = { 0 };
    for (int i = 0; i < s->list.count; i++) {
        if (strcmp(s->list.item[i].family, family)) continue;
        sum.checks++;
        sum.run += s->runs[i];
        sum.failed += s->fails[i];
    }
    return sum;
}

static void print_check(const session *s, int i, const colours *c)
{
    const char *word = s->fails[i] ? "FAILED" : s->skips[i] ? "skip" : "ok";
    printf("%s%-6s%s %-12s %-28s %" PRId64 " run\n",
           s->fails[i]   ? c->red
           : s->skips[i] ? ""
                         : c->green,
           word, c->off, s->list.item[i].family, s->list.item[i].name, s->runs[i]);
}

static void print_failures(const session *s, const colours *c)
{
    for (int i = 0; i < s->nkept; i++) {
        const failure *f = &s->kept[i];
        printf("%sFAILED%s %s: %s, pass %" PRId64 ": %s\n", c->red, c->off, f->check->family, f->check->name,
               f->pass, f->why);
    }
    if (s->nkept == FAILURES_KEPT) puts("... and perhaps others");
}

static void print_families(const session *s)
{
    const char *families[FAMILIES_MOST];
    const int count = families_of(&s->list, families);
    printf("%-14s %8s %10s %8s\n", "family", "checks", "run", "failed");
    for (int i = 0; i < count; i++) {
        const tally sum = tally_of(s, families[i]);
        printf("%-14s %8d %10" PRId64 " %8" PRId64 "\n", families[i], sum.checks, sum.run, sum.failed);
    }
}

static void print_unchecked(const session *s)
{
    int column = 0;
    if (!s->nunchecked) return;
    column = printf("skipped, as no check is about them:");
    for (int i = 0; i < s->nunchecked; i++) {
        const int length = (int)strlen(s->unchecked[i]) + 1;
        if (column + length > terminal_width()) column = printf("\n   ") - 1;
        column += printf(" %s", s->unchecked[i]);
    }
    putchar('\n');
}

static void print_skips(const session *s)
{
    if (s->nskips)
        printf("skipped, as this machine cannot do them: %d checks from %s on: %s\n", s->nskips,
               s->skip.check->name, s->skip.why);
}

static void print_report(const session *s)
{
    const colours c = colours_of(stdout);
    for (int i = 0; s->verbose && i < s->list.count; i++) print_check(s, i, &c);
    print_failures(s, &c);
    print_families(s);
    print_unchecked(s);
    print_skips(s);
    printf("%s%" PRId64 " run, %" PRId64 " failed, %d skipped%s", s->failed ? c.red : c.green, s->run,
           s->failed, skipped_of(s), c.off);
    printf(" in %.1f s with %d threads; seed %" PRIu64 "\n", s->seconds, tsr_threads(), s->seed);
}

static void json_families(json *j, const session *s)
{
    const char *families[FAMILIES_MOST];
    const int count = families_of(&s->list, families);
    json_open(j, "families", '[');
    for (int i = 0; i < count; i++) {
        const tally sum = tally_of(s, families[i]);
        json_open(j, NULL, '{');
        json_string(j, "name", families[i]);
        json_integer(j, "checks", sum.checks);
        json_integer(j, "run", sum.run);
        json_integer(j, "failed", sum.failed);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void json_failures(json *j, const session *s)
{
    json_open(j, "failures", '[');
    for (int i = 0; i < s->nkept; i++) {
        json_open(j, NULL, '{');
        json_string(j, "family", s->kept[i].check->family);
        json_string(j, "check", s->kept[i].check->name);
        json_integer(j, "pass", s->kept[i].pass);
        json_string(j, "why", s->kept[i].why);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void json_skips(json *j, const session *s)
{
    json_open(j, "skips", '[');
    for (int i = 0; i < s->list.count; i++) {
        if (!s->skips[i]) continue;
        json_open(j, NULL, '{');
        json_string(j, "family", s->list.item[i].family);
        json_string(j, "check", s->list.item[i].name);
        json_close(j, '}');
    }
    json_close(j, ']');
    if (s->nskips) json_string(j, "skipped_because", s->skip.why);
}

static void json_checks(json *j, const session *s)
{
    json_open(j, "checks", '[');
    for (int i = 0; i < s->list.count; i++) {
        json_open(j, NULL, '{');
        json_string(j, "family", s->list.item[i].family);
        json_string(j, "name", s->list.item[i].name);
        json_integer(j, "run", s->runs[i]);
        json_integer(j, "failed", s->fails[i]);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void print_json_report(const session *s)
{
    json j = { 0 };
    json_open(&j, NULL, '{');
    json_string(&j, "version", tsr_version());
    json_unsigned(&j, "seed", s->seed);
    json_integer(&j, "threads", tsr_threads());
    json_number(&j, "seconds", s->seconds);
    json_integer(&j, "run", s->run);
    json_integer(&j, "failed", s->failed);
    json_integer(&j, "skipped", skipped_of(s));
    json_families(&j, s);
    json_failures(&j, s);
    json_skips(&j, s);
    json_open(&j, "unchecked_ops", '[');
    for (int i = 0; i < s->nunchecked; i++) json_string(&j, NULL, s->unchecked[i]);
    json_close(&j, ']');
    if (s->verbose) json_checks(&j, s);
    json_close(&j, '}');
}

/* The command ------------------------------------------------------------------------------ */

static int run_session(session *s)
{
    if (!prepare(s)) return EXIT_NO;
    run_all(s);
    if (s->json) print_json_report(s);
    else         print_report(s);
    return s->failed ? EXIT_NO : EXIT_YES;
}

static int run_selftest(int argc, char **argv)
{
    session s = { .seed = (uint64_t)time(NULL) };
    const char *seed = NULL, *seconds = NULL;
    const option options[] = {
        { "--seed",    "N",       NULL,       &seed },
        { "--seconds", "SECONDS", &s.timed,   &seconds },
        { "--family",  "FAMILY",  NULL,       &s.family },
        { "--json",    NULL,      &s.json,    NULL },
        { "--verbose", NULL,      &s.verbose, NULL },
        { NULL, NULL, NULL, NULL },
    };
    const int words = read_options(name_of_command, options, argc, argv);
    if (words < 0) return EXIT_USAGE;
    if (words > 0) return complain_usage(name_of_command, "takes options only, not '%s'", argv[1]);
    if (seed && !read_count(&s.seed, name_of_command, "--seed", seed)) return EXIT_USAGE;
    if (seconds && !read_seconds(&s.seconds, name_of_command, "--seconds", seconds)) return EXIT_USAGE;
    const int status = run_session(&s);
    clear(&s);
    return status;
}

const command selftest_command = {
    .name = name_of_command,
    .run = run_selftest,
    .summary = "check the library on this machine",
    .help = "usage: tsr selftest [--seed N] [--seconds SECONDS] [--family FAMILY]\n"
            "                    [--json] [--verbose]\n"
            "\n"
            "Checks the library that this command found: every op on random tensors with\n"
            "random strides, against simple loops of the command's own; that bad arguments\n"
            "are refused; and that the number of threads changes no bit of a result.\n"
            "\n"
            "  --seed N           the random numbers of an earlier run\n"
            "  --seconds SECONDS  go on for so long, and for one pass over all checks at\n"
            "                     least; 20 passes if not given\n"
            "  --family FAMILY    only one family: one of `tsr ops --families`, errors or\n"
            "                     threads\n"
            "  --json             one JSON document\n"
            "  --verbose          each check, and how often it ran\n"
            "\n"
            "What a machine cannot do is counted as skipped, with the reason, and so are\n"
            "ops that no check is about. The last line tells the counts and the seed; with\n"
            "the same seed a failure can be seen again.\n"
            "\n"
            "exit status: 0, or 1 if a check failed or there is no such family, 2 for a\n"
            "command line that cannot be understood\n",
};
