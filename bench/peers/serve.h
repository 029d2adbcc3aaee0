/* serve.h - the protocol between a peer's program and bench/peers/compare.py.
 *
 * Lines "NAME THREADS" come in, and "SECONDS" goes out: the best time of one run of that
 * workload in about a tenth of a second, or "none" where the peer has nothing like it. The
 * names are those of bench-ops --list. A peer fills in a `peer` and calls serve(). */
#ifndef BENCH_SERVE_H
#define BENCH_SERVE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct peer {
    const char *name;
    void (*set_threads)(int n);
    bool (*open)(const char *workload);  /* makes the operands; false: no such workload here */
    void (*run)(void);
    void (*close)(void);
} peer;

/* The parts of a workload's name, cut at its dots. */
typedef struct words {
    char  text[64];
    char *part[8];
    int   count;
} words;

static inline void cut(words *w, const char *name)
{
    memset(w, 0, sizeof *w);
    snprintf(w->text, sizeof w->text, "%s", name);
    for (char *p = strtok(w->text, "."); p && w->count < 8; p = strtok(NULL, ".")) w->part[w->count++] = p;
}

/* Numbers of "8x128x16" into `n`; how many there were. */
static inline int sizes(const char *text, int64_t n[8])
{
    int count = 0;
    for (char *end; count < 8; text = end + 1) {
        n[count++] = strtoll(text, &end, 10);
        if (*end != 'x') break;
    }
    return count;
}

/* Room for `bytes`, aligned, filled with floats in [-1, 1). */
static inline void *floats(size_t bytes)
{
    void *p = NULL;
    uint32_t seed = 1;
    if (posix_memalign(&p, 64, (bytes + 63) / 64 * 64) != 0) abort();
    for (size_t i = 0; i + 4 <= bytes; i += 4) {
        const float v = (float)(int32_t)(seed = seed * 1664525 + 1013904223) / 2147483648.0f;
        memcpy((char *)p + i, &v, 4);
    }
    return p;
}

static inline double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline double best_time(void (*run)(void))
{
    int64_t batch = 1;
    double best = 1e9, took;
    run();
    for (;; batch *= 2) {
        const double start = seconds_now();
        for (int64_t i = 0; i < batch; i++) run();
        took = seconds_now() - start;
        if (took > 1e-3) break;
    }
    const double until = seconds_now() + 0.1;
    for (int round = 0; round < 3 || seconds_now() < until; round++) {
        const double start = seconds_now();
        for (int64_t i = 0; i < batch; i++) run();
        took = (seconds_now() - start) / (double)batch;
        if (took < best) best = took;
    }
    return best;
}

static inline int serve(const peer *p)
{
    char name[64], open[64] = "";
    int threads;
    printf("%s\n", p->name);
    fflush(stdout);
    while (scanf("%63s %d", name, &threads) == 2) {
        p->set_threads(threads);
        if (strcmp(open, name) != 0) {
            if (open[0]) p->close();
            snprintf(open, sizeof open, "%s", p->open(name) ? name : "");
        }
        if (open[0]) printf("%.9g\n", best_time(p->run));
        else printf("none\n");
        fflush(stdout);
    }
    if (open[0]) p->close();
    return 0;
}

#endif
