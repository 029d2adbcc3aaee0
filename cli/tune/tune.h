/* tune.h - tsr bench --tune: which numbers of the library's tuning suit this machine.
 *
 * The library takes its numbers from the environment (TSR_TUNING) and tells them (tsr_cpu_tuning). So each
 * set of numbers that is compared has a process of its own, and these run the same workload alternately. */
#ifndef TSR_CLI_TUNE_H
#define TSR_CLI_TUNE_H

#include <stdbool.h>

typedef struct tune_options {
    const char *filter;   /* an extended regular expression on names of fields, or NULL: all of them */
    double      seconds;  /* in all, about */
    int         threads;  /* for what is measured on several; 0: as many as there are CPUs */
    bool        json;
} tune_options;

/* Measures, and prints what came of it. Returns an exit code. */
int tune(const tune_options *o);

/* Choices (choices.c) ------------------------------------------------------------------------ */

enum { MOST_SETTINGS = 6, MOST_WORKLOADS = 3 };

/* What is compared: settings as TSR_TUNING takes them, beside the numbers in use. */
typedef struct choice {
    const char *workloads[MOST_WORKLOADS + 1];
    const char *settings[MOST_SETTINGS + 1];
    bool        threads;  /* on all threads, not on one */
} choice;

extern const choice choices[];
extern const int nchoices;

/* Processes (runners.c) ---------------------------------------------------------------------- */

enum { TUNING_ROOM = 8192 };  /* for a whole tuning, as text */

/* A process with numbers of its own. */
typedef struct runner {
    int  pid, to, from;
    char tuning[TUNING_ROOM];  /* the numbers that it has */
} runner;

/* Starts one with these settings beside those of the environment. False: the system has no room for it. */
bool runner_start(runner *p, const char *settings);

/* The seconds that a workload takes, measured for about so long; 0 if the process ended. */
double runner_time(const runner *p, const char *workload, int threads, double seconds);

void runner_stop(runner *p);

/* Texts (row.c) ------------------------------------------------------------------------------ */

/* The names in "a=1,b=2", or the numbers that a tuning has for them: "a b", "1 2". */
void put_names(char *out, int room, const char *settings);
void put_numbers(char *out, int room, const char *settings, const char *tuning);

/* Has the tuning all of these? */
bool has_settings(const char *tuning, const char *settings);

/* The file of a family with these numbers. */
void print_row(const char *tuning);

#endif
