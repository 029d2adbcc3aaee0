/* report.h - running a check, and what is said of it. */
#ifndef TSR_BACKEND_CHECK_REPORT_H
#define TSR_BACKEND_CHECK_REPORT_H

#include "check.h"

typedef enum verdict { PASSED, FAILED, SKIPPED } verdict;

typedef struct outcome {
    verdict verdict;
    int trials;    /* that were made */
    int failed_at; /* which of them failed */
    int64_t ran, in_parts,
        elsewhere; /* how often the check's op was done by the backend, with others, by the CPU */
    double seconds;
    char why[2600];
} outcome;

/* Trials of a check whose tensors are on this device. */
void run_check(outcome *out, const session *s, const check *c, tsr_device device);

/* The backend of the session's device. */
bool find_backend(session *s);

enum { FAMILIES = 40 };

typedef struct report {
    const session *session;
    bool json, quiet, terminal, drawn;
    double started, last;
    int done, total; /* checks */
    struct {
        const char *name;
        int passed, failed, skipped, in_parts, elsewhere;
        double seconds;
    } family[FAMILIES];
    int families;
} report;

void report_begin(report *r, const session *s, bool json, bool quiet);
void report_progress(report *r, const char *name);
void report_check(report *r, const check *c, const outcome *o);
int report_end(report *r); /* the exit status */

#endif
