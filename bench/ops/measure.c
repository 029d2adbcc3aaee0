/* measure.c - workloads and limits in turns, and what came of it. */
#define _GNU_SOURCE
#include <math.h>
#include <regex.h>
#include <stdarg.h>
#include <time.h>
#include <unistd.h>

#include "limits.h"
#include "measure.h"

enum { MOST_JOBS = 400 };
static job jobs[MOST_JOBS];
static int njobs;

static bench_options options;

void must(tsr_status s)
{
    if (s == TSR_OK) return;
    fprintf(stderr, "bench: %s\n", tsr_last_error());
    exit(1);
}

/* Of the clock, or of this process: that does not count what others run in between. */
static double seconds_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double bench_now(void) { return seconds_of(CLOCK_MONOTONIC); }

void values(tsr_tensor **t, tsr_dtype dtype, int ndim, const int64_t *shape, uint64_t seed)
{
    tsr_tensor *wide = NULL;
    const tsr_kind kind = tsr_dtype_kind(dtype);
    if (kind == TSR_BOOLEAN) must(tsr_bernoulli(t, ndim, shape, 0.5, seed));
    else if (kind == TSR_FLOATING || kind == TSR_COMPLEX)
        must(tsr_uniform(t, dtype, ndim, shape, -1, 1, seed));
    else {
        must(tsr_integers(&wide, TSR_I32, ndim, shape, 0, 100, seed));
        must(tsr_cast(t, wide, dtype));
    }
    tsr_release(&wide);
}

job *add(double read, double written, double flops, bool quick, const char *name, ...)
{
    va_list args;
    if (njobs == MOST_JOBS) {
        fprintf(stderr, "bench: more workloads than there is room for\n");
        exit(1);
    }
    job *j = &jobs[njobs++];
    va_start(args, name);
    vsnprintf(j->name, sizeof j->name, name, args);
    va_end(args);
    j->read = read;
    j->written = written;
    j->flops = flops;
    j->quick = quick;
    j->dtype = TSR_F32;
    return j;
}

/* Timing -------------------------------------------------------------------------------- */

#define SERIES_SECONDS 5e-3

static void open_job(job *j)
{
    if (!j->z && !j->x[0] && !j->list[0]) j->make(j);
    must(j->run(j));
}

static void close_job(job *j)
{
    for (int i = 0; i < 4; i++) tsr_release(&j->x[i]);
    for (int i = 0; i < JOB_LIST; i++) tsr_release(&j->list[i]);
    tsr_release(&j->z);
}

/* How often a batch runs, so that it takes a millisecond at least. */
static int64_t batch_of(job *j)
{
    int64_t n = 1;
    for (;;) {
        const double start = bench_now();
        for (int64_t i = 0; i < n; i++) must(j->run(j));
        if (bench_now() - start > 1e-3 || n > 1 << 24) return n;
        n *= 2;
    }
}

static double time_batch(job *j, int64_t batch, clockid_t clock)
{
    const double start = seconds_of(clock);
    for (int64_t i = 0; i < batch; i++) must(j->run(j));
    return (seconds_of(clock) - start) / (double)batch;
}

static double time_job(job *j, int64_t batch) { return time_batch(j, batch, CLOCK_MONOTONIC); }

/* Seconds that ours took and that the limits allow; infinity where a limit says nothing. */
typedef struct figures {
    double ours, copy, around, read, peak;
} figures;

static void lower(double *best, double seconds)
{
    if (seconds < *best) *best = seconds;
}

static double time_limit(job *j, int64_t which) { return limit_seconds(j, (limit)which); }

/* Several runs in a row, since the caches hold the data of those before. Peers are measured in
 * such series, too. */
static void lower_by_series(double *best, job *j, double (*timed)(job *, int64_t), int64_t what)
{
    const double until = bench_now() + SERIES_SECONDS;
    do lower(best, timed(j, what));
    while (bench_now() < until);
}

static figures measure(job *j)
{
    figures f = { INFINITY, INFINITY, INFINITY, INFINITY, INFINITY };
    if (j->flops > 0 && limit_peak(j->peak) > 0) f.peak = j->flops / limit_peak(j->peak);
    const double bytes = j->read + j->written;
    const bool memory = bytes > 0 && !(isfinite(f.peak) && f.peak > bytes / 4e9);
    open_job(j);
    const int64_t batch = batch_of(j);
    const double until = bench_now() + options.seconds;
    for (int round = 0; round < 5 || bench_now() < until; round++) {
        lower_by_series(&f.ours, j, time_job, batch);
        if (!memory) continue;
        lower_by_series(&f.copy, j, time_limit, LIMIT_COPY);
        lower_by_series(&f.around, j, time_limit, LIMIT_AROUND);
        lower_by_series(&f.read, j, time_limit, LIMIT_READ);
    }
    return f;
}

static bool mostly_reads(const job *j) { return j->written * 4 < j->read; }

static double memory_limit(const job *j, const figures *f)
{
    return mostly_reads(j) ? f->read : fmin(f->copy, f->around);
}

static bool computing_binds(const job *j, const figures *f)
{
    const double memory = memory_limit(j, f);
    return isfinite(f->peak) && !(isfinite(memory) && memory > f->peak);
}

/* Reporting -------------------------------------------------------------------------------- */

static void write_line(const job *j, const char *lib, double seconds)
{
    if (!options.json || !isfinite(seconds)) return;
    fprintf(options.json,
            "{\"lib\": \"%s\", \"workload\": \"%s\", \"threads\": %d, \"seconds\": %.9g, \"bytes\": %.0f, "
            "\"flops\": %.0f}\n",
            lib, j->name, options.threads, seconds, j->read + j->written, j->flops);
    fflush(options.json);
}

/* What part of this limit we reach; the one that binds gets a star. */
static void print_share(double allowed, double ours, bool binds)
{
    if (isfinite(allowed)) printf("%8.2f%c", allowed / ours, binds ? '*' : ' ');
    else printf("%9s", "");
}

static void report(const job *j, const figures *f)
{
    const double bytes = j->read + j->written;
    const bool reads = mostly_reads(j), computes = computing_binds(j, f);
    write_line(j, "tessera", f->ours);
    write_line(j, "limit", computes ? f->peak : memory_limit(j, f));
    write_line(j, "limit.copy", f->copy);
    write_line(j, "limit.nt", f->around);
    write_line(j, "limit.read", f->read);
    write_line(j, "limit.peak", f->peak);
    if (options.json_only) return;
    if (bytes == 0) {
        printf("%-40s %10.1f ns\n", j->name, f->ours * 1e9);
    } else {
        printf("%-40s %10.1f %-5s", j->name, (j->flops > 0 ? j->flops : bytes) / f->ours * 1e-9,
               j->flops > 0 ? "GF/s" : "GB/s");
        print_share(f->copy, f->ours, !computes && !reads && f->copy <= f->around);
        print_share(f->around, f->ours, !computes && !reads && f->copy > f->around);
        print_share(f->read, f->ours, !computes && reads);
        print_share(f->peak, f->ours, computes);
        putchar('\n');
    }
    fflush(stdout);
}

static void print_head(void)
{
    if (options.json_only) return;
    printf("%s, %d thread%s; multiply-adds of f32 %.0f GF/s, of f64 %.0f", tsr_cpu_isa(), options.threads,
           options.threads == 1 ? "" : "s", limit_peak(PEAK_F32) * 1e-9, limit_peak(PEAK_F64) * 1e-9);
    if (limit_peak(PEAK_I8) > 0) printf(", of i8 %.0f", limit_peak(PEAK_I8) * 1e-9);
    printf("; a call %.1f ns, malloc and free %.1f ns\n", limit_call(), limit_malloc());
    printf("%-40s %16s %8s %8s %8s %8s   (share of the limit; * binds)\n", "workload", "", "copy", "nt copy",
           "read", "peak");
}

static void progress(int done, int all, const char *name)
{
    enum { WIDTH = 24 };
    char bar[WIDTH + 1];
    if (!isatty(2)) return;
    for (int i = 0; i < WIDTH; i++) bar[i] = i < done * WIDTH / (all ? all : 1) ? '#' : '.';
    bar[WIDTH] = '\0';
    if (done < all) fprintf(stderr, "\r\033[K%s %d/%d %s", bar, done, all, name);
    else fprintf(stderr, "\r\033[K");
}

/* Jobs by name ------------------------------------------------------------------------------- */

static void add_jobs(void)
{
    njobs = 0;
    add_moving();
    add_elementwise();
    add_reductions();
    add_products();
    add_networks();
    add_calls();
    add_others();
    add_chains();
    add_all_sizes();
}

static job *find_job(const char *name)
{
    for (int i = 0; i < njobs; i++)
        if (!strcmp(jobs[i].name, name)) return &jobs[i];
    return NULL;
}

double bench_time(const char *name, int threads, double seconds)
{
    static job *open;
    static int64_t batch;
    double best = INFINITY;
    if (njobs == 0) add_jobs();
    job *j = find_job(name);
    if (!j) return 0;
    must(tsr_set_threads(threads));
    if (open && open != j) close_job(open);
    if (open != j) {
        open_job(j);
        batch = batch_of(j);
    }
    open = j;
    const double until = bench_now() + seconds;
    do lower(&best, time_batch(j, batch, threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC));
    while (bench_now() < until);
    return best;
}

/* Serving ------------------------------------------------------------------------------------ */

static void serve(void)
{
    char name[64];
    int threads;
    job *open = NULL;
    options.seconds /= 4;
    limits_start(options.threads);
    while (scanf("%63s %d", name, &threads) == 2) {
        job *j = find_job(name);
        if (open && open != j) close_job(open);
        open = j;
        must(tsr_set_threads(threads));
        if (j) {
            const figures f = measure(j);
            const double bound = computing_binds(j, &f) ? f.peak : memory_limit(j, &f);
            printf("%.9g %.9g\n", f.ours, isfinite(bound) ? bound : 0);
        } else printf("none\n");
        fflush(stdout);
    }
    if (open) close_job(open);
    limits_stop();
}

static void measure_all(int chosen)
{
    int done = 0;
    must(tsr_set_threads(options.threads));
    limits_start(options.threads);
    print_head();
    for (int i = 0; i < njobs; i++) {
        if (!jobs[i].name[0]) continue;
        progress(done++, chosen, jobs[i].name);
        const figures f = measure(&jobs[i]);
        close_job(&jobs[i]);
        progress(1, 1, "");
        report(&jobs[i], &f);
    }
    limits_stop();
}

bool bench_run(const bench_options *wanted)
{
    regex_t regex;
    int chosen = 0;
    options = *wanted;
    if (options.quick) options.seconds = 0.1;
    if (options.filter && regcomp(&regex, options.filter, REG_EXTENDED | REG_NOSUB) != 0) return false;
    add_jobs();
    for (int i = 0; i < njobs; i++) {
        const bool fits = (!options.quick || jobs[i].quick) &&
                          (!options.filter || regexec(&regex, jobs[i].name, 0, NULL, 0) == 0);
        if (fits && options.list) puts(jobs[i].name);
        if (!fits && !options.serve) jobs[i].name[0] = '\0';
        chosen += fits;
    }
    if (options.serve) serve();
    else if (!options.list) measure_all(chosen);
    if (options.filter) regfree(&regex);
    return true;
}
