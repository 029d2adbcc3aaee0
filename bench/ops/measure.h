/* measure.h - running workloads: for bench-ops, and for tsr bench. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include "ops.h"

typedef struct bench_options {
    bool        quick;      /* a part of the workloads, each for a short time */
    bool        list;       /* print names, measure nothing */
    bool        serve;      /* answer requests from standard input */
    bool        json_only;  /* print no table */
    double      seconds;    /* for each workload, about */
    int         threads;
    FILE       *json;       /* one object a line; may be NULL */
    const char *filter;     /* an extended regular expression, or NULL */
} bench_options;

/* False: the filter is no regular expression. A workload that fails ends the program. */
bool bench_run(const bench_options *wanted);

/* The least seconds that a workload took in about so many, without limits; 0: there is no such workload. On
 * one thread these are seconds of the processor. Operands stay until another workload is asked for. For
 * programs that compare by themselves. */
double bench_time(const char *name, int threads, double seconds);

#endif
