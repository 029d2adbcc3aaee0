/* calls.c - what calls cost on a device: launching, allocating, replaying a graph, moving bytes.
 *
 *     calls [cuda:0]
 *
 * One line for each: name, number, unit, target. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tessera/tessera.h>

#define TRY(call) \
    do { \
        if ((call) != TSR_OK) { \
            fprintf(stderr, "calls: %s: %s\n", #call, tsr_last_error()); \
            return 1; \
        } \
    } while (0)

static tsr_device device;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void row(const char *name, double value, const char *unit, const char *target)
{
    printf("%-44s %9.2f %-5s %s\n", name, value, unit, target);
    fflush(stdout);
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, compare_doubles);
    return v[n / 2];
}

/* Queueing: rounds of calls that the queue has room for, the device left out of it. */
static int time_launch(void)
{
    enum { ROUNDS = 41, CALLS = 200 };
    double t[ROUNDS];
    const float values[4] = { 1, 2, 3, 4 };
    tsr_tensor *host = NULL, *x = NULL, *y = NULL, *z = NULL;
    TRY(tsr_from_data(&host, TSR_F32, 1, (int64_t[]){ 4 }, values));
    TRY(tsr_to(&x, host, device));
    TRY(tsr_to(&y, host, device));
    TRY(tsr_add(&z, x, y));
    for (int r = 0; r < ROUNDS; r++) {
        TRY(tsr_device_sync(device));
        const double begin = now();
        for (int i = 0; i < CALLS; i++) TRY(tsr_add(&z, x, y));
        t[r] = (now() - begin) / CALLS;
    }
    TRY(tsr_device_sync(device));
    row("add of 4 elements, queueing", median(t, ROUNDS) * 1e6, "us", "<= 2.5");
    for (int r = 0; r < ROUNDS; r++) {
        const double begin = now();
        for (int i = 0; i < CALLS; i++) {
            tsr_tensor *e = NULL;
            TRY(tsr_empty_like(&e, x));
            tsr_release(&e);
        }
        t[r] = (now() - begin) / CALLS;
    }
    row("allocate and release", median(t, ROUNDS) * 1e6, "us", "<= 0.3");
    tsr_release_all(&host, &x, &y, &z);
    return 0;
}

static int time_graph(void)
{
    enum { ROUNDS = 41, OPS = 100, LAUNCHES = 10 };
    double t[ROUNDS];
    tsr_stream *s = NULL;
    tsr_graph *g = NULL;
    tsr_tensor *host = NULL, *x = NULL;
    const float values[4] = { 1, 2, 3, 4 };
    TRY(tsr_from_data(&host, TSR_F32, 1, (int64_t[]){ 4 }, values));
    TRY(tsr_to(&x, host, device));
    TRY(tsr_device_sync(device));
    TRY(tsr_stream_create(&s, device));
    TRY(tsr_stream_use(s));
    TRY(tsr_graph_begin(s));
    for (int i = 0; i < OPS; i++) TRY(tsr_neg(&x, x));
    TRY(tsr_graph_end(&g, s));
    TRY(tsr_graph_launch(g, s));
    TRY(tsr_stream_sync(s));
    for (int r = 0; r < ROUNDS; r++) {
        const double begin = now();
        for (int i = 0; i < LAUNCHES; i++) TRY(tsr_graph_launch(g, s));
        TRY(tsr_stream_sync(s));
        t[r] = (now() - begin) / (LAUNCHES * OPS);
    }
    row("op of a graph of 100", median(t, ROUNDS) * 1e6, "us", "<= 1.5");
    tsr_graph_destroy(&g);
    TRY(tsr_stream_use_default(device));
    tsr_stream_destroy(&s);
    tsr_release_all(&host, &x);
    return 0;
}

/* Moves there and back, in GB/s. */
static int time_moves(const char *name, tsr_tensor *there, tsr_tensor *here, double bytes, const char *target)
{
    enum { ROUNDS = 7 };
    double up[ROUNDS], down[ROUNDS];
    char text[64];
    for (int r = -2; r < ROUNDS; r++) {
        TRY(tsr_device_sync(device));
        double begin = now();
        TRY(tsr_copy(there, here));
        TRY(tsr_device_sync(device));
        const double a = now() - begin;
        begin = now();
        TRY(tsr_copy(here, there));
        TRY(tsr_device_sync(device));
        if (r < 0) continue;
        up[r] = a;
        down[r] = now() - begin;
    }
    snprintf(text, sizeof text, "%s, up", name);
    row(text, bytes / median(up, ROUNDS) * 1e-9, "GB/s", target);
    snprintf(text, sizeof text, "%s, down", name);
    row(text, bytes / median(down, ROUNDS) * 1e-9, "GB/s", target);
    return 0;
}

static int time_transfers(void)
{
    enum { ROWS = 16384, COLUMNS = 16384 };
    const int64_t shape[] = { ROWS, COLUMNS };
    const double bytes = 4.0 * ROWS * COLUMNS;
    tsr_tensor *host = NULL, *pinned = NULL, *there = NULL, *view = NULL, *inner = NULL;
    TRY(tsr_zeros(&host, TSR_F32, 2, shape));
    TRY(tsr_to(&there, host, device));
    TRY(tsr_to_memory(&pinned, host, TSR_CPU, TSR_MEMORY_PINNED));
    if (time_moves("1 GiB pinned", there, pinned, bytes, ">= 0.98 of 55")) return 1;
    if (time_moves("1 GiB pageable", there, host, bytes, ">= 3 x plain")) return 1;
    TRY(tsr_slice(&view, pinned, 1, 0, COLUMNS / 2, 1));
    TRY(tsr_slice(&inner, there, 1, 0, COLUMNS / 2, 1));
    if (time_moves("half of the columns, pinned", inner, view, bytes / 2, "within 10 %")) return 1;
    tsr_release_all(&view, &inner, &host, &pinned, &there);
    return 0;
}

int main(int argc, char **argv)
{
    TRY(tsr_device_parse(&device, argc > 1 ? argv[1] : "cuda:0"));
    return time_launch() || time_graph() || time_transfers();
}
