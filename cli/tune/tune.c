/* tune.c - settings are measured alternately; one that wins clearly, and does so again, is chosen. */
#define _POSIX_C_SOURCE 200809L
#include "tune.h"

#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tessera/tessera.h"

#include "../command.h"

static const char name_of_command[] = "bench";

enum { ROUNDS = 7, RUNNERS = MOST_SETTINGS + 1, WORD = 128 };

/* A setting must be faster by so much, and by more than the rounds of the one in use differ. */
static const double margin = 0.03;

typedef struct session {
    tune_options o;
    int          threads;                 /* for choices on all of them */
    int          chosen[64], nchosen;     /* the choices to be made */
    double       sample;                  /* seconds that one measurement takes, about */
    char         adopted[TUNING_ROOM];    /* settings */
    char         before[TUNING_ROOM], now[TUNING_ROOM];  /* tunings */
    int          changes;
} session;

/* Measuring ---------------------------------------------------------------------------------- */

/* One choice, measured: the first runner has the numbers in use. */
typedef struct comparison {
    const choice *choice;
    int           threads, n;
    const char   *settings[RUNNERS];
    runner        runner[RUNNERS];
    double        score[RUNNERS];  /* logarithm of how many times as fast as the first */
    bool          loses[RUNNERS];  /* at a workload */
    double        noise;
} comparison;

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The lower quartile of the rounds, and how far the median is from it. */
static double quartile(double *noise, const double rounds[ROUNDS])
{
    double sorted[ROUNDS];
    memcpy(sorted, rounds, sizeof sorted);
    qsort(sorted, ROUNDS, sizeof *sorted, compare);
    *noise = log(sorted[ROUNDS / 2] / sorted[ROUNDS / 4]);
    return sorted[ROUNDS / 4];
}

static void add_scores(comparison *m, double rounds[RUNNERS][ROUNDS], int workloads)
{
    double noise, its_own;
    const double first = quartile(&noise, rounds[0]);
    m->noise += noise / workloads;
    for (int i = 1; i < m->n; i++) {
        const double gain = log(first / quartile(&its_own, rounds[i]));
        m->score[i] += gain / workloads;
        m->loses[i] |= gain < -margin;
    }
}

/* Every round begins with another runner. False: one of them ended. */
static bool measure_workload(comparison *m, const char *workload, int workloads, double sample)
{
    double rounds[RUNNERS][ROUNDS];
    for (int r = 0; r < ROUNDS; r++)
        for (int k = 0; k < m->n; k++) {
            const int i = (r + k) % m->n;
            rounds[i][r] = runner_time(&m->runner[i], workload, m->threads, sample);
            if (!(rounds[i][r] > 0)) return false;
        }
    add_scores(m, rounds, workloads);
    return true;
}

static bool measure(comparison *m, double sample)
{
    int workloads = 0;
    while (m->choice->workloads[workloads]) workloads++;
    for (int w = 0; w < workloads; w++)
        if (!measure_workload(m, m->choice->workloads[w], workloads, sample)) return false;
    return true;
}

static void stop_runners(comparison *m)
{
    for (int i = 0; i < m->n; i++) runner_stop(&m->runner[i]);
}

static bool start_runner(comparison *m, const session *s, const char *settings)
{
    char text[TUNING_ROOM];
    const int n = snprintf(text, sizeof text, "%s,%s", s->adopted, settings);
    if (n >= (int)sizeof text || !runner_start(&m->runner[m->n], text)) return false;
    m->settings[m->n++] = settings;
    return true;
}

/* Starts all runners, measures them, and stops them. */
static bool run_all(comparison *m, const session *s, const char *const *settings)
{
    bool fine = start_runner(m, s, "");
    for (int i = 0; fine && settings[i]; i++)
        if (!has_settings(m->runner[0].tuning, settings[i])) fine = start_runner(m, s, settings[i]);
    fine = fine && measure(m, s->sample);
    stop_runners(m);
    return fine;
}

/* The best but the first; 0 if there is none. */
static int find_best(const comparison *m)
{
    int best = 0;
    for (int i = 1; i < m->n; i++)
        if (best == 0 || m->score[i] > m->score[best]) best = i;
    return best;
}

static bool wins(const comparison *m, int i)
{
    return i > 0 && !m->loses[i] && m->score[i] > margin && m->score[i] > m->noise;
}

/* Reporting ---------------------------------------------------------------------------------- */

static void report(const session *s, const choice *c, const char *best, double gain, bool is_chosen)
{
    char names[WORD], now[WORD], other[WORD];
    put_names(names, sizeof names, c->settings[0]);
    put_numbers(now, sizeof now, c->settings[0], s->now);
    put_numbers(other, sizeof other, best, best);
    if (s->o.json)
        printf("{\"fields\": \"%s\", \"in_use\": \"%s\", \"other\": \"%s\", \"gain\": %.3f, "
               "\"chosen\": %s}\n",
               names, now, other, gain, is_chosen ? "true" : "false");
    else
        printf("%-44s %-26s %-26s %6.2f  %s\n", names, now, other, gain, is_chosen ? "chosen" : "");
    fflush(stdout);
}

static void print_head(const session *s)
{
    if (s->o.json) return;
    printf("%.*s, %d thread%s: %d choices, in about %.0f s\n", (int)strcspn(s->before, ","), s->before,
           s->threads, s->threads == 1 ? "" : "s", s->nchosen, s->o.seconds);
    printf("%-44s %-26s %-26s %6s\n", "field", "in use", "best other", "gain");
}

static void print_changes(const session *s)
{
    if (s->o.json) {
        printf("{\"changes\": \"%s\", \"tuning\": \"%s\"}\n", s->adopted, s->now);
        return;
    }
    if (s->changes == 0)
        printf("\nNothing else is clearly faster: %.*s suits.\n\n", (int)strcspn(s->before, ","), s->before);
    else
        printf("\nTo use these numbers now:  export TSR_TUNING=%s\n"
               "To keep them, add this file to src/cpu/tuning (docs/howto/add-a-processor.md):\n\n",
               s->adopted);
    print_row(s->now);
}

/* Choosing ----------------------------------------------------------------------------------- */

static bool adopt(session *s, const char *settings)
{
    runner p;
    const size_t at = strlen(s->adopted);
    const int n = snprintf(s->adopted + at, sizeof s->adopted - at, "%s%s", at > 0 ? "," : "", settings);
    if (n >= (int)(sizeof s->adopted - at) || !runner_start(&p, s->adopted)) return false;
    runner_stop(&p);
    memcpy(s->now, p.tuning, sizeof s->now);
    s->changes++;
    return true;
}

static comparison make_comparison(const session *s, const choice *c)
{
    return (comparison){ .choice = c, .threads = c->threads ? s->threads : 1 };
}

/* What wins is measured once more, alone beside what is in use: the best of several had luck, too. */
static bool make_choice(session *s, const choice *c)
{
    comparison m = make_comparison(s, c);
    if (!run_all(&m, s, c->settings)) return false;
    const int best = find_best(&m);
    if (best == 0) return true;
    const char *const settings[] = { m.settings[best], NULL };
    double gain = m.score[best];
    bool is_chosen = wins(&m, best);
    if (is_chosen) {
        comparison again = make_comparison(s, c);
        if (!run_all(&again, s, settings)) return false;
        is_chosen = wins(&again, 1);
        gain = again.score[1];
    }
    report(s, c, settings[0], exp(gain), is_chosen);
    return !is_chosen || adopt(s, settings[0]);
}

static bool is_wanted(const session *s, const choice *c, const regex_t *filter)
{
    char names[WORD];
    put_names(names, sizeof names, c->settings[0]);
    return (!c->threads || s->threads > 1) && (!s->o.filter || regexec(filter, names, 0, NULL, 0) == 0);
}

/* Seconds of a sample, so that all fit the time: half of it is for making operands and measuring again. */
static double sample_seconds(const session *s)
{
    double samples = 1;
    for (int i = 0; i < s->nchosen; i++) {
        const choice *c = &choices[s->chosen[i]];
        int runners = 1, workloads = 0;
        while (c->settings[runners]) runners++;
        while (c->workloads[workloads]) workloads++;
        samples += (double)runners * workloads * ROUNDS;
    }
    return s->o.seconds / 2 / samples;
}

static int tune_all(session *s)
{
    print_head(s);
    for (int i = 0; i < s->nchosen; i++)
        if (!make_choice(s, &choices[s->chosen[i]]))
            return complain(name_of_command, "a process that measures ended, or could not be started");
    print_changes(s);
    return EXIT_YES;
}

/* Does a setting in TSR_TUNING take effect? Not in an elevated program or with another library version. */
static bool can_be_set(void)
{
    runner p;
    if (!runner_start(&p, "thread_work=65536")) return false;
    const bool set = has_settings(p.tuning, "thread_work=65536");
    runner_stop(&p);
    return set;
}

static bool look_at_machine(session *s)
{
    runner p;
    if (!runner_start(&p, "")) return false;
    runner_stop(&p);
    memcpy(s->before, p.tuning, sizeof s->before);
    memcpy(s->now, p.tuning, sizeof s->now);
    s->threads = s->o.threads > 0 ? s->o.threads : tsr_available_threads();
    return true;
}

int tune(const tune_options *o)
{
    session s = { .o = *o };
    regex_t filter;
    if (o->filter && regcomp(&filter, o->filter, REG_EXTENDED | REG_NOSUB) != 0)
        return complain_usage(name_of_command, "'%s' is no regular expression", o->filter);
    const bool starts = look_at_machine(&s);
    for (int i = 0; starts && i < nchoices; i++)
        if (is_wanted(&s, &choices[i], &filter)) s.chosen[s.nchosen++] = i;
    if (o->filter) regfree(&filter);
    if (!starts || !can_be_set())
        return complain(name_of_command, "the library does not take numbers from TSR_TUNING here");
    if (s.nchosen == 0) return complain(name_of_command, "no field that is measured matches '%s'", o->filter);
    s.sample = sample_seconds(&s);
    return tune_all(&s);
}
