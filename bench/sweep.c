/* sweep.c - how far the functions of one operand are off in f32, over every value that there is.
 *
 *     bench-sweep [--every N] [--rows] [NAME ...]
 *
 * Takes all 2^32 patterns of f32, or every Nth of them, through each function of op.def (or those named) and
 * compares with the same function in f64, whose error bench-accuracy measures against more digits: what is
 * printed is right to 0.0001 units. --rows prints lines of a table for docs/accuracy.md. TSR_ISA chooses the
 * kernels, TSR_THREADS the threads. Ends with 1 if a bound of op.def does not hold. */
#define _POSIX_C_SOURCE 200809L
#include "../tests/ops/accuracy.h"

#include <unistd.h>

enum { BLOCK = 1 << 15 };

static struct {
    uint64_t every;
    bool     rows;
    char   **names;
    int      count;
} options = { .every = 1 };

typedef struct sweep {
    double  most;
    float   at;
    int64_t count, right;
} sweep;

static double double_of(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static float float_of(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static uint64_t bits_of(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

/* |got - want| in units of f32 at `want`. An infinity counts as 2^128. */
static double error_of(float got, double want)
{
    const double beyond = 0x1p128;
    if (want != want) return got != got ? 0 : (double)INFINITY;
    if (got != got) return (double)INFINITY;
    const int exponent = (int)(bits_of(want) >> 52 & 0x7ff) - 1023;
    const int held = exponent < -126 ? -126 : exponent > 127 ? 127 : exponent;
    double w = want > beyond ? beyond : want < -beyond ? -beyond : want, g = (double)got;
    g = g > beyond ? beyond : g < -beyond ? -beyond : g;
    return fabs(g - w) * double_of((uint64_t)(1023 + 23 - held) << 52);
}

static void take_block(sweep *s, const float *x, const float *got, const double *want, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const double e = error_of(got[i], want[i]);
        s->right += (float)want[i] == got[i] || e == 0;
        if (e > s->most) {
            s->most = e;
            s->at = x[i];
        }
    }
    s->count += n;
}

static void progress(const char *name, uint64_t done)
{
    if (!isatty(STDERR_FILENO) || done >> 15 & 511) return;
    fprintf(stderr, "\r%-11s %3d%%", name, (int)(done * 100 >> 32));
    fflush(stderr);
}

static bool run_function(sweep *s, const acc_function *f)
{
    tsr_tensor *x = NULL, *wide = NULL, *got = NULL, *want = NULL;
    bool fine = tsr_empty(&x, TSR_F32, TSR_SHAPE(BLOCK)) == TSR_OK;
    for (uint64_t at = 0; fine && at < (uint64_t)1 << 32; at += options.every * BLOCK) {
        int64_t n = 0;
        for (uint64_t bits = at; n < BLOCK && bits < (uint64_t)1 << 32; bits += options.every)
            ((float *)x->data)[n++] = float_of((uint32_t)bits);
        fine = tsr_cast(&wide, x, TSR_F64) == TSR_OK &&
               elementwise_call(f->op, &got, (const tsr_tensor *const[]){ x }, NULL) == TSR_OK &&
               elementwise_call(f->op, &want, (const tsr_tensor *const[]){ wide }, NULL) == TSR_OK;
        if (fine) take_block(s, x->data, got->data, want->data, n);
        progress(f->op->name, at);
    }
    tsr_release_all(&x, &wide, &got, &want);
    return fine;
}

static bool is_named(const acc_function *f)
{
    if (f->is_complex || f->op->nin != 1) return false;
    for (int i = 0; i < options.count; i++)
        if (!strcmp(options.names[i], f->op->name)) return true;
    return options.count == 0;
}

static void print_line(const acc_function *f, const sweep *s)
{
    const double share = 100 * (double)s->right / (double)s->count;
    if (isatty(STDERR_FILENO)) fprintf(stderr, "\r%20s\r", "");
    if (options.rows)
        printf("| %s | %s | %g | %.4f | %.9g | %.3f%% |\n", f->op->name, tsr_cpu_isa(), acc_bound(f, TSR_F32),
               s->most, (double)s->at, share);
    else
        printf("%-11s %-9s %.4f of %g at %.9g  %.3f%% right, %lld values%s\n", f->op->name, tsr_cpu_isa(),
               s->most, acc_bound(f, TSR_F32), (double)s->at, share, (long long)s->count,
               s->most > acc_bound(f, TSR_F32) + 1e-4 ? "  BEYOND" : "");
    fflush(stdout);
}

static bool read_options(int argc, char **argv)
{
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        if (!strcmp(argv[i], "--rows")) options.rows = true;
        else if (!strcmp(argv[i], "--every") && i + 1 < argc) options.every = strtoull(argv[++i], NULL, 10);
        else return false;
    }
    options.names = argv + i;
    options.count = argc - i;
    return options.every > 0 && options.every <= (uint64_t)1 << 24;
}

int main(int argc, char **argv)
{
    int beyond = 0;
    if (!read_options(argc, argv)) {
        fprintf(stderr, "usage: bench-sweep [--every N] [--rows] [NAME ...]\n");
        return 2;
    }
    const int functions = acc_list();
    for (int i = 0; i < functions; i++) {
        const acc_function *f = &acc_functions[i];
        sweep s = { .most = 0 };
        if (!is_named(f)) continue;
        if (!run_function(&s, f)) {
            fprintf(stderr, "bench-sweep: %s\n", tsr_last_error());
            return 1;
        }
        print_line(f, &s);
        beyond += s.most > acc_bound(f, TSR_F32) + 1e-4;
    }
    return beyond > 0;
}
