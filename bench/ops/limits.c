#define _GNU_SOURCE
#include "limits.h"

#include <pthread.h>
#include <stdatomic.h>
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define HAVE_VECTORS 1
#else
#define HAVE_VECTORS 0
#endif

static volatile double sink;

/* A crew of threads ---------------------------------------------------------------------
 * Between measurements they sleep; during one they spin, so that handing out a pass costs
 * little beside the pass. */

typedef void (*task_fn)(int part, int parts);

enum { MOST_CREW = 256 };
static struct {
    int             threads;
    pthread_t       id[MOST_CREW];
    pthread_mutex_t lock;
    pthread_cond_t  wake;
    bool            awake, stop;
    task_fn         task;
    atomic_int      round, busy;
} crew = { .threads = 1, .lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER };

static void wait_until_awake(void)
{
    pthread_mutex_lock(&crew.lock);
    while (!crew.awake && !crew.stop) pthread_cond_wait(&crew.wake, &crew.lock);
    pthread_mutex_unlock(&crew.lock);
}

static void *work(void *part)
{
    int seen = 0;
    while (!crew.stop) {
        const int round = atomic_load_explicit(&crew.round, memory_order_acquire);
        if (round == seen) {
            if (!crew.awake) wait_until_awake();
            continue;
        }
        seen = round;
        crew.task((int)(intptr_t)part, crew.threads);
        atomic_fetch_sub_explicit(&crew.busy, 1, memory_order_release);
    }
    return NULL;
}

static void set_awake(bool awake)
{
    pthread_mutex_lock(&crew.lock);
    crew.awake = awake;
    pthread_cond_broadcast(&crew.wake);
    pthread_mutex_unlock(&crew.lock);
}

/* Runs `task` once on every thread of the crew, which must be awake. */
static void run_together(task_fn task)
{
    crew.task = task;
    atomic_store_explicit(&crew.busy, crew.threads - 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&crew.round, 1, memory_order_release);
    task(0, crew.threads);
    while (atomic_load_explicit(&crew.busy, memory_order_acquire) > 0) {}
}

void limits_start(int threads)
{
    crew.threads = threads < 1 ? 1 : threads > MOST_CREW ? MOST_CREW : threads;
    for (int i = 1; i < crew.threads; i++)
        if (pthread_create(&crew.id[i], NULL, work, (void *)(intptr_t)i) != 0) {
            fprintf(stderr, "bench: cannot start a thread\n");
            exit(1);
        }
}

void limits_stop(void)
{
    crew.stop = true;
    set_awake(true);
    for (int i = 1; i < crew.threads; i++) pthread_join(crew.id[i], NULL);
}

/* Passes over memory ---------------------------------------------------------------------- */

static struct {
    char  *from, *to;
    size_t room, bytes;  /* of each of the two buffers; of the pass */
    int    streams;      /* read for one written */
} pass;

static void have_room(size_t bytes)
{
    tsr_tensor *a = NULL, *b = NULL;
    const int64_t n = (int64_t)bytes;
    if (bytes <= pass.room) return;
    must(tsr_zeros(&a, TSR_U8, 1, &n));  /* kept to the end: later passes use them again */
    must(tsr_ones(&b, TSR_U8, 1, &n));
    pass.from = a->data;
    pass.to = b->data;
    pass.room = bytes;
}

/* A thread's share of `bytes`, in whole pages where there are that many. */
static size_t share(size_t bytes, int part, int parts, size_t *first)
{
    const size_t unit = bytes >= (size_t)parts << 12 ? 4096 : 64, units = bytes / unit;
    const size_t a = units * (size_t)part / (size_t)parts, b = units * (size_t)(part + 1) / (size_t)parts;
    *first = a * unit;
    return (b - a) * unit;
}

static void pass_copy(int part, int parts)
{
    size_t at;
    const size_t n = share(pass.bytes / 2, part, parts, &at);
    memcpy(pass.to + at, pass.from + at, n);
}

static double read_plain(const char *from, size_t n)
{
    const double *p = (const double *)(const void *)from;
    double s[16] = { 0 }, all = 0;
    for (size_t i = 0; i + 16 <= n / sizeof *p; i += 16)
        for (int k = 0; k < 16; k++) s[k] += p[i + (size_t)k];
    for (int k = 0; k < 16; k++) all += s[k];
    return all;
}

#if HAVE_VECTORS
/* Sums of 1, 2 or 3 streams of the source into the target, with stores that go around the caches. */
#define AROUND_PASS(name, isa, vector, load, or, stream)                                              \
    __attribute__((target(isa))) static void name(char *to, const char *from, size_t n, size_t apart, \
                                                  int streams)                                        \
    {                                                                                                 \
        for (size_t i = 0; i + sizeof(vector) <= n; i += sizeof(vector)) {                            \
            vector v = load((const void *)(from + i));                                                \
            if (streams > 1) v = or (v, load((const void *)(from + apart + i)));                      \
            if (streams > 2) v = or (v, load((const void *)(from + 2 * apart + i)));                  \
            stream((void *)(to + i), v);                                                              \
        }                                                                                             \
        _mm_sfence();                                                                                 \
    }
AROUND_PASS(around_avx512, "avx512f", __m512i, _mm512_loadu_si512, _mm512_or_si512, _mm512_stream_si512)
AROUND_PASS(around_sse2, "sse2", __m128i, _mm_loadu_si128, _mm_or_si128, _mm_stream_si128)

__attribute__((target("avx512f"))) static double read_avx512(const char *from, size_t n)
{
    __m512i v[8] = { 0 };
    for (size_t i = 0; i + sizeof v <= n; i += sizeof v)
        for (size_t k = 0; k < 8; k++) v[k] = _mm512_or_si512(v[k], _mm512_loadu_si512(from + i + k * 64));
    for (int k = 1; k < 8; k++) v[0] = _mm512_or_si512(v[0], v[k]);
    return (double)_mm512_reduce_or_epi64(v[0]);
}
#endif

static void pass_read(int part, int parts)
{
    size_t at;
    const size_t n = share(pass.bytes, part, parts, &at);
#if HAVE_VECTORS
    if (__builtin_cpu_supports("avx512f")) {
        sink += read_avx512(pass.from + at, n);
        return;
    }
#endif
    sink += read_plain(pass.from + at, n);
}

static void pass_around(int part, int parts)
{
#if HAVE_VECTORS
    size_t at;
    const size_t line = pass.bytes / (size_t)(pass.streams + 1) / 64 * 64;
    const size_t n = share(line, part, parts, &at);
    if (__builtin_cpu_supports("avx512f")) around_avx512(pass.to + at, pass.from + at, n, line, pass.streams);
    else around_sse2(pass.to + at, pass.from + at, n, line, pass.streams);
#else
    pass_copy(part, parts);
#endif
}

/* Passes over fewer bytes run on one thread: it is done before a second one would start. */
#define TOGETHER 65536

static double seconds_alone(task_fn task, int64_t repeats)
{
    task(0, 1);
    const double start = bench_now();
    for (int64_t i = 0; i < repeats; i++) task(0, 1);
    return (bench_now() - start) / (double)repeats;
}

double limit_seconds(const job *j, limit which)
{
    static const task_fn passes[] = { pass_copy, pass_around, pass_read };
    const double bytes = j->read + j->written, streams = j->written > 0 ? j->read / j->written : 1;
    const int64_t repeats = bytes < 1e6 ? (int64_t)(1e6 / bytes) + 1 : 1;
    have_room((size_t)bytes + 4096);
    pass.bytes = (size_t)bytes;
    pass.streams = streams < 1.5 ? 1 : streams < 2.5 ? 2 : 3;
    if (bytes < TOGETHER) return seconds_alone(passes[which], repeats);
    set_awake(true);
    run_together(passes[which]);
    const double start = bench_now();
    for (int64_t i = 0; i < repeats; i++) run_together(passes[which]);
    const double took = (bench_now() - start) / (double)repeats;
    set_awake(false);
    return took;
}

/* Peaks ---------------------------------------------------------------------------------------
 * CHAINS sums side by side, so that none waits for another. */

enum { CHAINS = 12, STEPS = 200000 };

#if HAVE_VECTORS
#define PEAK_PASS(name, isa, vector, set, step)                                                              \
    __attribute__((target(isa))) static void name(int part, int parts)                                       \
    {                                                                                                        \
        vector s0 = set(0), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0, s8 = s0, s9 = s0, \
               s10 = s0, s11 = s0;                                                                           \
        vector x = set(1), y = set(0);                                                                       \
        (void)part, (void)parts;                                                                             \
        __asm__ volatile("" : "+v"(x), "+v"(y));                                                             \
        for (int64_t s = 0; s < STEPS; s++) {                                                                \
            s0 = step(s0, x, y), s1 = step(s1, x, y), s2 = step(s2, x, y), s3 = step(s3, x, y),              \
            s4 = step(s4, x, y), s5 = step(s5, x, y);                                                        \
            s6 = step(s6, x, y), s7 = step(s7, x, y), s8 = step(s8, x, y), s9 = step(s9, x, y),              \
            s10 = step(s10, x, y), s11 = step(s11, x, y);                                                    \
            __asm__ volatile(""                                                                              \
                             : "+v"(s0), "+v"(s1), "+v"(s2), "+v"(s3), "+v"(s4),                             \
                               "+v"(s5)); /* each stays in its register */                                   \
            __asm__ volatile("" : "+v"(s6), "+v"(s7), "+v"(s8), "+v"(s9), "+v"(s10), "+v"(s11));             \
        }                                                                                                    \
    }
PEAK_PASS(fma_avx512_f32, "avx512f", __m512, _mm512_set1_ps, _mm512_fmadd_ps)
PEAK_PASS(fma_avx512_f64, "avx512f", __m512d, _mm512_set1_pd, _mm512_fmadd_pd)
PEAK_PASS(fma_avx2_f32, "avx2,fma", __m256, _mm256_set1_ps, _mm256_fmadd_ps)
PEAK_PASS(fma_avx2_f64, "avx2,fma", __m256d, _mm256_set1_pd, _mm256_fmadd_pd)
PEAK_PASS(dot_vnni, "avx512f,avx512vnni", __m512i, _mm512_set1_epi8, _mm512_dpbusd_epi32)
#endif

static void fma_plain(int part, int parts)
{
    float sum[CHAINS] = { 0 };
    (void)part, (void)parts;
    for (int64_t s = 0; s < STEPS; s++)
        for (int i = 0; i < CHAINS; i++) sum[i] = sum[i] * 0.999f + 1e-3f;
    for (int i = 0; i < CHAINS; i++) sink += (double)sum[i];
}

/* The loop for a peak, and how many flops one step of one chain does. */
static task_fn peak_loop(peak which, int *flops)
{
#if HAVE_VECTORS
    const bool wide = !strcmp(tsr_cpu_isa(), "avx512"), half = !strcmp(tsr_cpu_isa(), "avx2");
    if (which == PEAK_I8) return *flops = 128, __builtin_cpu_supports("avx512vnni") && wide ? dot_vnni : NULL;
    if (wide)
        return *flops = which == PEAK_F64 ? 16 : 32, which == PEAK_F64 ? fma_avx512_f64 : fma_avx512_f32;
    if (half) return *flops = which == PEAK_F64 ? 8 : 16, which == PEAK_F64 ? fma_avx2_f64 : fma_avx2_f32;
#endif
    *flops = 2;
    return which == PEAK_I8 ? NULL : fma_plain;
}

double limit_peak(peak which)
{
    static double best[PEAKS];
    int flops;
    const task_fn loop = peak_loop(which, &flops);
    if (best[which] > 0 || !loop) return best[which];
    set_awake(true);
    for (int i = 0; i < 40; i++) {
        const double start = bench_now();
        run_together(loop);
        const double rate = (double)flops * STEPS * CHAINS * crew.threads / (bench_now() - start);
        if (rate > best[which]) best[which] = rate;
    }
    set_awake(false);
    return best[which];
}

/* Small costs ----------------------------------------------------------------------------------- */

static void *keep(void *p)
{
    __asm__ volatile("" : "+r"(p) : : "memory");
    return p;
}

static void malloc_once(void) { free(keep(malloc(64))); }
static void nothing(void) {}

static double nanoseconds(void (*once)(void))
{
    double best = 1e9;
    void (*volatile call)(void) = once;
    for (int i = 0; i < 20; i++) {
        const double start = bench_now();
        for (int k = 0; k < 20000; k++) call();
        const double took = (bench_now() - start) / 20000;
        if (took < best) best = took;
    }
    return best * 1e9;
}

double limit_malloc(void) { return nanoseconds(malloc_once); }
double limit_call(void) { return nanoseconds(nothing); }
