/* core.c - what one call costs, and how fast data moves, beside malloc and memcpy.
 *
 *     bench-core [--json FILE] [FILTER]
 *
 * All workloads take turns: each round times a batch of every one of them, so
 * that a noisy moment hits them alike. The best round and the median are
 * reported. FILTER runs the workloads whose names contain it. With --json each
 * workload is one line of JSON: lib, workload, threads, seconds (best), bytes,
 * flops.
 *
 * Floors, on a 2.8 GHz core: a call that takes a count and gives it back needs
 * two locked instructions, about 13 ns; malloc and free of a small block about 8
 * to 12 ns together; a copy moves bytes no faster than memcpy at the same size. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tessera/tessera.h"

enum { ROUNDS = 60, SIDE = 2048 };

/* Everything the workloads touch; made once. */
static struct {
    tsr_tensor *small, *four, *rebound, *grid, *source, *target, *transposed;
    float      *raw, *raw_copy;
} world;

static volatile float sink;

static void must(tsr_status s)
{
    if (s == TSR_OK) return;
    fprintf(stderr, "bench: %s\n", tsr_last_error());
    exit(1);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Keeps the compiler from leaving an allocation out. */
static void keep(void *p) { __asm__ volatile("" : : "r"(p) : "memory"); }

/* Workloads: each runs `n` times -------------------------------------------------- */

static void malloc_24(int64_t n)
{
    for (; n > 0; n--) { void *p = malloc(24); keep(p); free(p); }
}

static void malloc_320(int64_t n)
{
    for (; n > 0; n--) { void *p = malloc(320); keep(p); free(p); }
}

static void create(int64_t n)
{
    for (; n > 0; n--) {
        tsr_tensor *t = NULL;
        must(tsr_empty(&t, TSR_F32, TSR_SHAPE(2, 3)));
        tsr_release(&t);
    }
}

static void create_zeros(int64_t n)
{
    for (; n > 0; n--) {
        tsr_tensor *t = NULL;
        must(tsr_zeros(&t, TSR_F32, TSR_SHAPE(2, 3)));
        tsr_release(&t);
    }
}

static void slice(int64_t n)
{
    for (; n > 0; n--) {
        tsr_tensor *t = NULL;
        must(tsr_slice(&t, world.small, 0, 1, 3, 1));
        tsr_release(&t);
    }
}

static void slice_rebound(int64_t n)
{
    for (; n > 0; n--) must(tsr_slice(&world.rebound, world.small, 0, 1, 3, 1));
}

static void permute(int64_t n)
{
    for (; n > 0; n--) {
        tsr_tensor *t = NULL;
        must(tsr_permute(&t, world.small, TSR_AXES(1, 0)));
        tsr_release(&t);
    }
}

static void view(int64_t n)
{
    for (; n > 0; n--) {
        tsr_tensor *t = NULL;
        must(tsr_view(&t, world.small, TSR_SHAPE(2, 6)));
        tsr_release(&t);
    }
}

static void expand(int64_t n)
{
    for (; n > 0; n--) {
        tsr_tensor *t = NULL;
        must(tsr_expand(&t, world.small, TSR_SHAPE(5, 3, 4)));
        tsr_release(&t);
    }
}

static void clone(int64_t n)
{
    for (; n > 0; n--) {
        tsr_tensor *t = NULL;
        must(tsr_clone(&t, world.four));
        tsr_release(&t);
    }
}

static void fill(int64_t n)
{
    for (; n > 0; n--) must(tsr_fill(world.four, TSR_SCALAR(1.5)));
}

static void get(int64_t n)
{
    float x = 0, sum = 0;
    for (; n > 0; n--) {
        must(tsr_get_f32(&x, world.small, TSR_INDEX(1, 2)));
        sum += x;
    }
    sink = sum;
}

enum { GRID = 64 };

/* One call is one element; the grid stays in cache. Column by column, so that
 * the compiler cannot add up neighbours with vector instructions on one side and
 * not on the other. */
static void read_raw(int64_t n)
{
    const float *raw = world.raw;
    float sum = 0;
    for (int64_t done = 0; done < n; done += GRID * GRID)
        for (int64_t j = 0; j < GRID; j++)
            for (int64_t i = 0; i < GRID; i++) sum += raw[i * GRID + j];
    sink = sum;
}

static void read_at(int64_t n)
{
    const tsr_tensor *grid = world.grid;
    float sum = 0;
    for (int64_t done = 0; done < n; done += GRID * GRID)
        for (int64_t j = 0; j < GRID; j++)
            for (int64_t i = 0; i < GRID; i++) sum += TSR_AT(const float, grid, i, j);
    sink = sum;
}

static void copy_libc(int64_t n)
{
    for (; n > 0; n--) {
        memcpy(world.raw_copy, world.source->data, (size_t)SIDE * SIDE * sizeof(float));
        keep(world.raw_copy);
    }
}

static void copy_packed(int64_t n)
{
    for (; n > 0; n--) must(tsr_copy(world.target, world.source));
}

static void copy_transposed(int64_t n)
{
    for (; n > 0; n--) must(tsr_copy(world.target, world.transposed));
}

typedef struct workload {
    const char *lib, *name;
    void      (*run)(int64_t n);
    double      bytes;         /* read and written by one call */
    int64_t     batch;
    double      seconds[ROUNDS];
} workload;

static workload workloads[] = {
    { "libc",    "malloc_free_24",  malloc_24,     0, 0, { 0 } },
    { "libc",    "malloc_free_320", malloc_320,    0, 0, { 0 } },
    { "tessera", "create_2x3",      create,        0, 0, { 0 } },
    { "tessera", "zeros_2x3",       create_zeros,  0, 0, { 0 } },
    { "tessera", "slice",           slice,         0, 0, { 0 } },
    { "tessera", "slice_rebound",   slice_rebound, 0, 0, { 0 } },
    { "tessera", "permute",         permute,       0, 0, { 0 } },
    { "tessera", "view",            view,          0, 0, { 0 } },
    { "tessera", "expand",          expand,        0, 0, { 0 } },
    { "tessera", "clone_4",         clone,         0, 0, { 0 } },
    { "tessera", "fill_4",          fill,          0, 0, { 0 } },
    { "tessera", "get_checked",     get,           0, 0, { 0 } },
    { "raw",     "read_element",    read_raw,      0, 0, { 0 } },
    { "tessera", "read_at",         read_at,       0, 0, { 0 } },
    { "libc",    "copy_16M",        copy_libc,   2.0 * SIDE * SIDE * sizeof(float), 0, { 0 } },
    { "tessera", "copy_16M",        copy_packed, 2.0 * SIDE * SIDE * sizeof(float), 0, { 0 } },
    { "tessera", "copy_16M_transposed", copy_transposed, 2.0 * SIDE * SIDE * sizeof(float), 0, { 0 } },
};

enum { WORKLOADS = sizeof workloads / sizeof *workloads };

/* Measuring ------------------------------------------------------------------------ */

static double time_batch(const workload *w, int64_t n)
{
    const double start = now();
    w->run(n);
    return (now() - start) / (double)n;
}

/* A batch that takes about 200 microseconds, or one call that takes longer. */
static void choose_batch(workload *w)
{
    w->batch = w->run == read_raw || w->run == read_at ? GRID * GRID : 1;
    while (time_batch(w, w->batch) * (double)w->batch < 200e-6) w->batch *= 2;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void show_progress(int round)
{
    if (!isatty(2)) return;
    fprintf(stderr, "\r[%-30.*s] %3d%%", round * 30 / ROUNDS, "##############################",
            round * 100 / ROUNDS);
    if (round == ROUNDS) fprintf(stderr, "\r%40s\r", "");
}

static void measure(const char *filter)
{
    for (int round = 0; round <= ROUNDS; round++) {
        show_progress(round);
        for (int i = 0; i < WORKLOADS && round < ROUNDS; i++) {
            workload *w = &workloads[i];
            if (filter && !strstr(w->name, filter)) continue;
            if (round == 0) choose_batch(w);
            w->seconds[round] = time_batch(w, w->batch);
        }
    }
}

static void report(FILE *json, const char *filter)
{
    printf("%-8s %-16s %12s %12s\n", "lib", "workload", "best", "median");
    for (int i = 0; i < WORKLOADS; i++) {
        workload *w = &workloads[i];
        if (filter && !strstr(w->name, filter)) continue;
        qsort(w->seconds, ROUNDS, sizeof(double), compare);
        const double best = w->seconds[0], median = w->seconds[ROUNDS / 2];
        if (w->bytes > 0)
            printf("%-8s %-16s %7.1f GB/s %7.1f GB/s\n", w->lib, w->name, w->bytes / best * 1e-9,
                   w->bytes / median * 1e-9);
        else
            printf("%-8s %-16s %9.2f ns %9.2f ns\n", w->lib, w->name, best * 1e9, median * 1e9);
        if (json)
            fprintf(
                json,
                "{\"lib\": \"%s\", \"workload\": \"%s\", \"threads\": 1, \"seconds\": %.4g, \"bytes\": %.0f, "
                "\"flops\": 0}\n",
                w->lib, w->name, best, w->bytes);
    }
}

static void make_world(void)
{
    must(tsr_zeros(&world.small, TSR_F32, TSR_SHAPE(3, 4)));
    must(tsr_zeros(&world.four, TSR_F32, TSR_SHAPE(4)));
    must(tsr_randn(&world.grid, TSR_F32, TSR_SHAPE(GRID, GRID), 1));
    must(tsr_randn(&world.source, TSR_F32, TSR_SHAPE(SIDE, SIDE), 2));
    must(tsr_zeros(&world.target, TSR_F32, TSR_SHAPE(SIDE, SIDE)));
    must(tsr_transpose(&world.transposed, world.source, 0, 1));
    world.raw = world.grid->data;
    world.raw_copy = calloc((size_t)SIDE * SIDE, sizeof(float));
    if (!world.raw_copy) exit(1);
}

static void free_world(void)
{
    tsr_tensor **all[] = { &world.small,  &world.four,   &world.rebound, &world.grid,
                           &world.source, &world.target, &world.transposed };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tsr_release(all[i]);
    free(world.raw_copy);
}

int main(int argc, char **argv)
{
    FILE *json = NULL;
    int at = 1;
    if (argc > 2 && !strcmp(argv[1], "--json")) {
        json = fopen(argv[2], "w");
        if (!json) {
            fprintf(stderr, "bench: cannot write %s\n", argv[2]);
            return 1;
        }
        at = 3;
    }
    const char *filter = argc > at ? argv[at] : NULL;
    must(tsr_set_threads(1));
    make_world();
    measure(filter);
    report(json, filter);
    free_world();
    if (json && fclose(json) != 0) return 1;
    return 0;
}
