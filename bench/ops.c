/* ops.c - every op family beside the machine's own limits.
 *
 *     bench-ops [--json FILE] [--quick] [--threads N] [--seconds S] [FILTER]
 *     bench-ops --list
 *     bench-ops --serve
 *
 * A workload and the limit that binds it take turns in small batches, and the best of
 * each is reported: GB/s (each operand read once, each result written once) or GFLOP/s,
 * and the share of the limit. FILTER is an extended regular expression. --json appends
 * one object a line: lib, workload, threads, seconds, bytes, flops. --serve answers lines
 * "NAME THREADS" from standard input with "SECONDS", so that another program can measure
 * its own in turns with ours.
 *
 * Limits: a copy of as many bytes, with plain stores and around the caches; a pass that
 * only reads; a loop of fused multiply-adds in registers. Names of workloads say family,
 * op, dtype and size; results are given beforehand unless the name ends in .alloc. */
#define _GNU_SOURCE
#include <math.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tessera/tessera.h"

enum { MOST_JOBS = 400, N16M = 1 << 24 };

typedef struct job {
    char        name[64];
    double      read, written, flops;
    bool        quick;
    void      (*make)(struct job *j);
    tsr_status (*run)(struct job *j);
    int64_t     n[5];
    int         axis;
    tsr_dtype   dtype, to;
    tsr_tensor *x[4], *z;
    tsr_tensor *list[64];
} job;

static job jobs[MOST_JOBS];
static int njobs;

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

/* Making operands ---------------------------------------------------------------------- */

/* Values in [-1, 1), small integers, or a random yes and no. */
static void values(tsr_tensor **t, tsr_dtype dtype, int ndim, const int64_t *shape, uint64_t seed)
{
    tsr_tensor *wide = NULL;
    const tsr_kind kind = tsr_dtype_kind(dtype);
    if (kind == TSR_BOOLEAN) must(tsr_bernoulli(t, ndim, shape, 0.5, seed));
    else if (kind == TSR_FLOATING || kind == TSR_COMPLEX) must(tsr_uniform(t, dtype, ndim, shape, -1, 1, seed));
    else {
        must(tsr_integers(&wide, TSR_I32, ndim, shape, 0, 100, seed));
        must(tsr_cast(t, wide, dtype));
    }
    tsr_release(&wide);
}

#define VALUES(t, dtype, ...) values((t), (dtype), TSR_SHAPE(__VA_ARGS__), 1)
#define ROOM(t, dtype, ...) must(tsr_zeros((t), (dtype), TSR_SHAPE(__VA_ARGS__)))

static double size_of(tsr_dtype d) { return (double)tsr_dtype_size(d); }
static const char *dtype_name(tsr_dtype d) { return tsr_dtype_name(d); }

/* A job of this name, to be filled in. */
#if defined(__GNUC__)
__attribute__((format(printf, 5, 6)))
#endif
static job *add(double read, double written, double flops, bool quick, const char *name, ...)
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

/* a: moving ------------------------------------------------------------------------------ */

static tsr_status run_copy(job *j) { return tsr_copy(j->z, j->x[0]); }
static tsr_status run_fresh_copy(job *j)
{
    tsr_tensor *t = NULL;
    const tsr_status s = tsr_rearrange(&t, j->x[0]);
    tsr_release(&t);
    return s;
}

/* n[0 .. axis - 1] permuted by a list of digits. */
static const char *permutations[] = { "10", "102", "021", "210", "0231", "0312", "0213", "43210", "543210" };

static void make_permuted(job *j)
{
    int axes[6];
    const char *digits = permutations[j->to];
    const int n = (int)strlen(digits);
    int64_t shape[6] = { j->n[0], j->n[1], j->n[2], j->n[3], j->n[4], 7 };
    for (int i = 0; i < n; i++) axes[i] = digits[i] - '0';
    values(&j->x[1], j->dtype, n, shape, 1);
    must(tsr_permute(&j->x[0], j->x[1], n, axes));
    must(tsr_zeros(&j->z, j->dtype, n, j->x[0]->shape));
}

static void add_permuted(const char *name, tsr_dtype dtype, int which, const int64_t *n, bool quick, bool alloc)
{
    double count = 1;
    const int rank = (int)strlen(permutations[which]);
    for (int i = 0; i < rank; i++) count *= i == 5 ? 7 : (double)n[i];
    job *j = add(count * size_of(dtype), count * size_of(dtype), 0, quick, "%s", name);
    j->make = make_permuted;
    j->run = alloc ? run_fresh_copy : run_copy;
    j->dtype = dtype;
    j->to = (tsr_dtype)which;
    for (int i = 0; i < 5 && i < rank; i++) j->n[i] = n[i];
}

enum view { FLIP0, FLIP1, STEP0, STEP1, INNER, WHOLE, ROWS, COLUMNS };

static void make_view(job *j)
{
    const int64_t r = j->n[0], c = j->n[1];
    const int a0 = 0, a1 = 1;
    switch ((enum view)j->axis) {
    case FLIP0: VALUES(&j->x[1], TSR_F32, r, c); must(tsr_flip(&j->x[0], j->x[1], 1, &a0)); break;
    case FLIP1: VALUES(&j->x[1], TSR_F32, r, c); must(tsr_flip(&j->x[0], j->x[1], 1, &a1)); break;
    case STEP0: VALUES(&j->x[1], TSR_F32, 2 * r, c); must(tsr_slice(&j->x[0], j->x[1], 0, 0, 2 * r, 2)); break;
    case STEP1: VALUES(&j->x[1], TSR_F32, r, 2 * c); must(tsr_slice(&j->x[0], j->x[1], 1, 0, 2 * c, 2)); break;
    case INNER:
        VALUES(&j->x[1], TSR_F32, r + 200, c + 200);
        must(tsr_slice(&j->x[0], j->x[1], 0, 100, r + 100, 1));
        must(tsr_slice(&j->x[0], j->x[0], 1, 100, c + 100, 1));
        break;
    case WHOLE: VALUES(&j->x[0], TSR_F32, r, c); break;
    case ROWS: VALUES(&j->x[1], TSR_F32, 1, c); must(tsr_expand(&j->x[0], j->x[1], TSR_SHAPE(r, c))); break;
    case COLUMNS: VALUES(&j->x[1], TSR_F32, r, 1); must(tsr_expand(&j->x[0], j->x[1], TSR_SHAPE(r, c))); break;
    }
    ROOM(&j->z, TSR_F32, r, c);
}

static void add_view(const char *name, enum view view, int64_t r, int64_t c, bool quick)
{
    const double all = 4.0 * (double)(r * c);
    const double read = view == STEP1 ? 2 * all : view == ROWS ? 4.0 * (double)c : view == COLUMNS ? 4.0 * (double)r : all;
    job *j = add(read, all, 0, quick, "%s", name);
    j->make = make_view;
    j->run = run_copy;
    j->axis = view;
    j->n[0] = r;
    j->n[1] = c;
}

static void add_moving(void)
{
    static const int64_t sides[] = { 100, 1000, 2000, 2001, 4096, 8192 };
    static const tsr_dtype others[] = { TSR_F16, TSR_U8, TSR_F64 };
    char name[64];
    for (int i = 0; i < 6; i++) {
        snprintf(name, sizeof name, "a.T.f32.%d", (int)sides[i]);
        add_permuted(name, TSR_F32, 0, (const int64_t[]){ sides[i], sides[i] }, i == 0 || i == 2 || i == 4, false);
    }
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "a.T.%s.2000", dtype_name(others[i]));
        add_permuted(name, others[i], 0, (const int64_t[]){ 2000, 2000 }, i == 1, false);
    }
    add_permuted("a.T.f32.2000.alloc", TSR_F32, 0, (const int64_t[]){ 2000, 2000 }, false, true);
    for (int i = 1; i < 4; i++) {
        snprintf(name, sizeof name, "a.p3.%s.f32.4x6x64", permutations[i]);
        add_permuted(name, TSR_F32, i, (const int64_t[]){ 4, 6, 64 }, i == 2, false);
    }
    add_permuted("a.nchw2nhwc.f32.32x64x56x56", TSR_F32, 4, (const int64_t[]){ 32, 64, 56, 56 }, true, false);
    add_permuted("a.nhwc2nchw.f32.32x64x56x56", TSR_F32, 5, (const int64_t[]){ 32, 56, 56, 64 }, false, false);
    add_permuted("a.nchw2nhwc.f32.32x64x56x56.alloc", TSR_F32, 4, (const int64_t[]){ 32, 64, 56, 56 }, false, true);
    add_permuted("a.nchw2nhwc.u8.32x3x224x224", TSR_U8, 4, (const int64_t[]){ 32, 3, 224, 224 }, false, false);
    add_permuted("a.nhwc2nchw.u8.32x3x224x224", TSR_U8, 5, (const int64_t[]){ 32, 224, 224, 3 }, false, false);
    add_permuted("a.p4.0213.f32.8x128x16x64", TSR_F32, 6, (const int64_t[]){ 8, 128, 16, 64 }, true, false);
    add_permuted("a.rev5.f32.3x4x7x53x9", TSR_F32, 7, (const int64_t[]){ 3, 4, 7, 53, 9 }, false, false);
    add_permuted("a.rev6.f32.3x4x50x50x5x7", TSR_F32, 8, (const int64_t[]){ 3, 4, 50, 50, 5 }, true, false);
    add_view("a.bcast_row.f32.15x10752", ROWS, 15, 10752, true);
    add_view("a.bcast_col.f32.15x10752", COLUMNS, 15, 10752, false);
    add_view("a.bcast_row.f32.4096x4096", ROWS, 4096, 4096, false);
    add_view("a.bcast_col.f32.4096x4096", COLUMNS, 4096, 4096, false);
    add_view("a.flip0.f32.2000", FLIP0, 2000, 2000, false);
    add_view("a.flip1.f32.2000", FLIP1, 2000, 2000, true);
    add_view("a.slice2_first.f32.2000", STEP0, 2000, 2000, false);
    add_view("a.slice2_last.f32.2000", STEP1, 2000, 2000, true);
    add_view("a.copy.f32.2000", WHOLE, 2000, 2000, true);
    add_view("a.copy.f32.8192", WHOLE, 8192, 8192, false);
    add_view("a.slice_inner.f32.2000", INNER, 2000, 2000, false);
}

/* b: elementwise -------------------------------------------------------------------------- */

typedef tsr_status (*unary_fn)(tsr_tensor **, const tsr_tensor *);
typedef tsr_status (*binary_fn)(tsr_tensor **, const tsr_tensor *, const tsr_tensor *);

static const struct { const char *name; unary_fn run; } unaries[] = {
    { "exp", tsr_exp }, { "tanh", tsr_tanh }, { "gelu", tsr_gelu }, { "gelu_tanh", tsr_gelu_tanh },
    { "sigmoid", tsr_sigmoid }, { "sqrt", tsr_sqrt }, { "log", tsr_log }, { "sin", tsr_sin }, { "relu", tsr_relu },
    { "silu", tsr_silu }, { "erf", tsr_erf },
};
static const struct { const char *name; binary_fn run; } binaries[] = {
    { "add", tsr_add }, { "mul", tsr_mul }, { "maximum", tsr_maximum }, { "less", tsr_lt },
};

static tsr_status run_unary(job *j)  { return unaries[j->axis].run(&j->z, j->x[0]); }
static tsr_status run_binary(job *j) { return binaries[j->axis].run(&j->z, j->x[0], j->x[1]); }
static tsr_status run_fma(job *j)    { return tsr_fma(&j->z, j->x[0], j->x[1], j->x[2]); }
static tsr_status run_where(job *j)  { return tsr_where(&j->z, j->x[2], j->x[0], j->x[1]); }
static tsr_status run_number(job *j) { return tsr_add(&j->z, j->x[0], TSR_NUMBER(2.5)); }
static tsr_status run_fresh_add(job *j)
{
    tsr_tensor *t = NULL;
    const tsr_status s = tsr_add(&t, j->x[0], j->x[1]);
    tsr_release(&t);
    return s;
}

static void make_vectors(job *j)
{
    for (int i = 0; i < 3; i++) values(&j->x[i], i == 2 && j->run == run_where ? TSR_BOOL : j->dtype, 1, j->n, (uint64_t)i);
    must(tsr_zeros(&j->z, j->to != TSR_DTYPE_INVALID ? j->to : j->dtype, 1, j->n));
}

/* Logarithms and roots want positive numbers. */
static void make_positive(job *j)
{
    make_vectors(j);
    must(tsr_abs(&j->x[0], j->x[0]));
}

static job *add_vectors(const char *op, tsr_dtype dtype, const char *tag, int64_t n, int operands, bool quick)
{
    job *j = add((double)n * size_of(dtype) * operands, (double)n * size_of(dtype), 0, quick, "b.%s.%s.%s", op,
                 dtype_name(dtype), tag);
    j->make = make_vectors;
    j->dtype = dtype;
    j->n[0] = n;
    return j;
}

/* Broadcasts and mixed orders of (4096, 4096). */
enum mix { OUTER, ROW, COLUMN, TURNED };

static void make_mixed(job *j)
{
    const int64_t n = j->n[0];
    ROOM(&j->z, TSR_F32, n, n);
    if (j->n[1] == OUTER) VALUES(&j->x[0], TSR_F32, n, 1);
    else                  VALUES(&j->x[0], TSR_F32, n, n);
    switch ((enum mix)j->n[1]) {
    case OUTER:
    case ROW:    VALUES(&j->x[1], TSR_F32, 1, n); break;
    case COLUMN: VALUES(&j->x[1], TSR_F32, n, 1); break;
    case TURNED: VALUES(&j->x[2], TSR_F32, n, n); must(tsr_transpose(&j->x[1], j->x[2], 0, 1)); break;
    }
}

static void add_mixed(const char *name, enum mix mix, bool quick)
{
    const double all = 4096.0 * 4096 * 4, row = 4096 * 4;
    job *j = add(mix == OUTER ? 2 * row : mix == TURNED ? 2 * all : all + row, all, 0, quick, "%s", name);
    j->make = make_mixed;
    j->run = run_binary;
    j->n[0] = 4096;
    j->n[1] = mix;
}

static void make_stepped(job *j)
{
    for (int i = 0; i < 2; i++) {
        VALUES(&j->x[2 + i], TSR_F32, 2 * j->n[0]);
        must(tsr_slice(&j->x[i], j->x[2 + i], 0, 0, 2 * j->n[0], 2));
    }
    must(tsr_zeros(&j->z, TSR_F32, 1, j->n));
}

static void make_cast(job *j)
{
    values(&j->x[0], j->dtype, 1, j->n, 1);
    must(tsr_zeros(&j->z, j->to, 1, j->n));
}

static void add_elementwise(void)
{
    static const struct { const char *tag; int64_t n; } sizes[] = { { "64", 64 }, { "1K", 1024 }, { "1M", 1 << 20 }, { "16M", N16M } };
    static const tsr_dtype shorts[] = { TSR_F16, TSR_BF16, TSR_I32, TSR_I8, TSR_F64 };
    static const tsr_dtype casts[][2] = { { TSR_F32, TSR_F16 }, { TSR_F16, TSR_F32 }, { TSR_F32, TSR_BF16 }, { TSR_BF16, TSR_F32 },
                                          { TSR_I8, TSR_F32 }, { TSR_F32, TSR_F64 }, { TSR_F32, TSR_I32 }, { TSR_F32, TSR_U8 } };
    job *j;
    for (int i = 0; i < 4; i++) {
        add_vectors("add", TSR_F32, sizes[i].tag, sizes[i].n, 2, i != 2)->run = run_binary;
        add_vectors("fma", TSR_F32, sizes[i].tag, sizes[i].n, 3, i == 3)->run = run_fma;
    }
    j = add_vectors("mul", TSR_F32, "16M", N16M, 2, false);
    j->run = run_binary;
    j->axis = 1;
    add_vectors("add", TSR_F32, "16M.alloc", N16M, 2, true)->run = run_fresh_add;
    add_vectors("addscalar", TSR_F32, "16M", N16M, 1, false)->run = run_number;
    add_mixed("b.bcast_outer.f32.4096", OUTER, true);
    add_mixed("b.bcast_row.f32.4096", ROW, true);
    add_mixed("b.bcast_col.f32.4096", COLUMN, false);
    for (int i = 0; i < (int)(sizeof unaries / sizeof unaries[0]); i++) {
        j = add_vectors(unaries[i].name, TSR_F32, "16M", N16M, 1, i < 3);
        j->run = run_unary;
        j->make = make_positive;
        j->axis = i;
    }
    add_vectors("exp", TSR_F32, "1K", 1024, 1, false)->run = run_unary;
    add_vectors("exp", TSR_F64, "16M", N16M, 1, false)->run = run_unary;
    add_vectors("exp", TSR_F16, "16M", N16M, 1, false)->run = run_unary;
    for (int i = 0; i < 5; i++) add_vectors("add", shorts[i], "16M", N16M, 2, i == 0 || i == 3)->run = run_binary;
    j = add_vectors("mul", TSR_I8, "16M", N16M, 2, false);
    j->run = run_binary;
    j->axis = 1;
    j = add(4.0 * 4 * (1 << 23), 4.0 * (1 << 23), 0, true, "b.add_strided2.f32.8M");
    j->make = make_stepped;
    j->run = run_binary;
    j->n[0] = 1 << 23;
    add_mixed("b.add_T.f32.4096", TURNED, true);
    for (int i = 0; i < 8; i++) {
        j = add((double)N16M * size_of(casts[i][0]), (double)N16M * size_of(casts[i][1]), 0, i == 0 || i == 4,
                "b.cast.%s.%s.16M", dtype_name(casts[i][0]), dtype_name(casts[i][1]));
        j->make = make_cast;
        j->run = run_copy;
        j->dtype = casts[i][0];
        j->to = casts[i][1];
        j->n[0] = N16M;
    }
    j = add(9.0 * N16M, 4.0 * N16M, 0, false, "b.where.f32.16M");
    j->make = make_vectors;
    j->run = run_where;
    j->n[0] = N16M;
    j = add(8.0 * N16M, 1.0 * N16M, 0, false, "b.less.f32.16M");
    j->make = make_vectors;
    j->run = run_binary;
    j->to = TSR_BOOL;
    j->axis = 3;
    j->n[0] = N16M;
    j = add_vectors("maximum", TSR_F32, "16M", N16M, 2, false);
    j->run = run_binary;
    j->axis = 2;
}

/* c: reductions ----------------------------------------------------------------------------- */

static int axes_of(const job *j, int axes[2])
{
    axes[0] = j->axis;
    return j->axis == 2 ? 0 : 1;
}
#define OVER(name, call)                                     \
    static tsr_status run_##name(job *j)                     \
    {                                                        \
        int axes[2];                                         \
        const int n = axes_of(j, axes);                      \
        return call;                                         \
    }
OVER(sum, tsr_sum(&j->z, j->x[0], n, axes, false))
OVER(max, tsr_max(&j->z, j->x[0], n, axes, false))
OVER(mean, tsr_mean(&j->z, j->x[0], n, axes, false))
OVER(std, tsr_std(&j->z, j->x[0], n, axes, false, 0))
OVER(logsumexp, tsr_logsumexp(&j->z, j->x[0], n, axes, false))
static tsr_status run_argmax(job *j) { return tsr_argmax(&j->z, j->x[0], j->axis == 2 ? TSR_ALL_AXES : j->axis, false); }
static tsr_status run_softmax(job *j) { return tsr_softmax(&j->z, j->x[0], -1); }
static tsr_status run_layer_norm(job *j) { return tsr_layer_norm(&j->z, j->x[0], 1, j->x[1], j->x[2], 1e-5); }
static tsr_status run_rms_norm(job *j) { return tsr_rms_norm(&j->z, j->x[0], j->x[1], 1e-5); }
static tsr_status run_cumsum(job *j) { return tsr_cumsum(&j->z, j->x[0], j->axis); }

/* The result is made by the first run. */
static void make_matrix(job *j)
{
    values(&j->x[0], j->dtype, 2, j->n, 1);
    if (j->to == 1) must(tsr_transpose(&j->x[0], j->x[0], 0, 1));
}

static void make_normed(job *j)
{
    values(&j->x[0], TSR_F32, 2, j->n, 1);
    VALUES(&j->x[1], TSR_F32, j->n[1]);
    VALUES(&j->x[2], TSR_F32, j->n[1]);
}

static void make_flat(job *j) { VALUES(&j->x[0], TSR_F32, j->n[0] * j->n[1]); }

static job *add_matrix(const char *name, tsr_status (*run)(job *), int64_t r, int64_t c, double written, bool quick)
{
    job *j = add(4.0 * (double)(r * c), written, 0, quick, "%s", name);
    j->make = make_matrix;
    j->run = run;
    j->n[0] = r;
    j->n[1] = c;
    return j;
}

static void add_reductions(void)
{
    static const int64_t shapes[][2] = { { 4096, 4096 }, { 1000000, 8 }, { 8, 1000000 } };
    static const struct { const char *name; tsr_status (*run)(job *); } ops[] = {
        { "sum", run_sum }, { "max", run_max }, { "mean", run_mean }, { "argmax", run_argmax } };
    static const char *const axis_names[] = { "ax0", "ax1", "all" };
    static const tsr_dtype dtypes[] = { TSR_F64, TSR_F16, TSR_I8 };
    char name[64];
    job *j;
    for (int s = 0; s < 3; s++)
        for (int o = 0; o < 4; o++)
            for (int a = 0; a < 3; a++) {
                const double results = a == 2 ? 1 : (double)shapes[s][1 - a];
                snprintf(name, sizeof name, "c.%s.%s.f32.%dx%d", ops[o].name, axis_names[a], (int)shapes[s][0], (int)shapes[s][1]);
                j = add_matrix(name, ops[o].run, shapes[s][0], shapes[s][1], results * (o == 3 ? 8 : 4),
                               (o == 0 || o == 3) && s != 2 && a != 2);
                j->axis = a;
            }
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "c.sum.all.%s.4096x4096", dtype_name(dtypes[i]));
        j = add_matrix(name, run_sum, 4096, 4096, 8, false);
        j->read = 4096.0 * 4096 * size_of(dtypes[i]);
        j->dtype = dtypes[i];
        j->axis = 2;
    }
    j = add_matrix("c.sum.ax0.f32.4096x4096.T", run_sum, 4096, 4096, 4096 * 4, false);
    j->to = (tsr_dtype)1;
    add_matrix("c.softmax.f32.4096x4096", run_softmax, 4096, 4096, 4096.0 * 4096 * 4, true);
    add_matrix("c.softmax.f32.32x50257", run_softmax, 32, 50257, 32.0 * 50257 * 4, true);
    add_matrix("c.layernorm.f32.4096x4096", run_layer_norm, 4096, 4096, 4096.0 * 4096 * 4, true)->make = make_normed;
    add_matrix("c.rmsnorm.f32.4096x4096", run_rms_norm, 4096, 4096, 4096.0 * 4096 * 4, false)->make = make_normed;
    add_matrix("c.cumsum.flat.f32.4096x4096", run_cumsum, 4096, 4096, 4096.0 * 4096 * 4, false)->make = make_flat;
    add_matrix("c.cumsum.ax0.f32.4096x4096", run_cumsum, 4096, 4096, 4096.0 * 4096 * 4, true);
    add_matrix("c.cumsum.ax1.f32.4096x4096", run_cumsum, 4096, 4096, 4096.0 * 4096 * 4, false)->axis = 1;
    add_matrix("c.std.ax1.f32.4096x4096", run_std, 4096, 4096, 4096 * 4, false)->axis = 1;
    add_matrix("c.logsumexp.ax1.f32.4096x4096", run_logsumexp, 4096, 4096, 4096 * 4, false)->axis = 1;
}

/* d: products --------------------------------------------------------------------------------- */

static tsr_status run_matmul(job *j) { return tsr_matmul(&j->z, j->x[0], j->x[1]); }
static tsr_status run_matmul_i8(job *j) { return tsr_matmul_i8(&j->z, j->x[0], j->x[1]); }
static tsr_status run_outer(job *j) { return tsr_outer(&j->z, j->x[0], j->x[1]); }

/* Operands transposed by the letters of `how`: n, t, or s for every second element of a larger one. */
static void make_operand(tsr_tensor **out, tsr_dtype dtype, int64_t b, int64_t r, int64_t c, char how)
{
    tsr_tensor *t = NULL;
    if (how == 't') VALUES(&t, dtype, b, c, r);
    else if (how == 's') VALUES(&t, dtype, b, 2 * r, 2 * c);
    else VALUES(&t, dtype, b, r, c);
    if (how == 't') must(tsr_transpose(out, t, 1, 2));
    else if (how == 's') {
        must(tsr_slice(out, t, 1, 0, 2 * r, 2));
        must(tsr_slice(out, *out, 2, 0, 2 * c, 2));
    } else *out = tsr_retain(t);
    if (b == 1) must(tsr_squeeze(out, *out, 0));
    tsr_release(&t);
}

static void make_product(job *j)
{
    make_operand(&j->x[0], j->dtype, j->n[0], j->n[1], j->n[2], "ntsn"[j->axis & 3]);
    make_operand(&j->x[1], j->dtype, j->n[0], j->n[2], j->n[3], "nt"[j->axis >> 2]);
}

static job *add_product(const char *name, tsr_dtype dtype, int64_t b, int64_t m, int64_t k, int64_t n, const char *how, bool quick)
{
    const double result = dtype == TSR_I8 ? 4 : size_of(dtype);
    job *j = add((double)b * (double)(m * k + k * n) * size_of(dtype), (double)(b * m * n) * result,
                 2.0 * (double)b * (double)m * (double)k * (double)n, quick, "%s", name);
    j->make = make_product;
    j->run = dtype == TSR_I8 ? run_matmul_i8 : run_matmul;
    j->dtype = dtype;
    j->axis = (how[0] == 't' ? 1 : how[0] == 's' ? 2 : 0) | (how[1] == 't' ? 4 : 0);
    j->n[0] = b;
    j->n[1] = m;
    j->n[2] = k;
    j->n[3] = n;
    return j;
}

static void make_pair(job *j)
{
    VALUES(&j->x[0], TSR_F32, j->n[0]);
    VALUES(&j->x[1], TSR_F32, j->n[0]);
}

static void add_products(void)
{
    char name[64];
    for (int n = 8; n <= 4096; n *= 2) {
        snprintf(name, sizeof name, "d.mm.f32.%d", n);
        add_product(name, TSR_F32, 1, n, n, n, "nn", n <= 256 || n == 1024);
    }
    add_product("d.gemv.f32.1x4096x4096", TSR_F32, 1, 1, 4096, 4096, "nn", true);
    add_product("d.gemv_nt.f32.1x4096x4096", TSR_F32, 1, 1, 4096, 4096, "nt", false);
    add_product("d.mm.f32.128x4096x11008", TSR_F32, 1, 128, 4096, 11008, "nn", false);
    add_product("d.mm_nt.f32.128x4096x11008", TSR_F32, 1, 128, 4096, 11008, "nt", false);
    add_product("d.bmm.f32.64x64x64x64", TSR_F32, 64, 64, 64, 64, "nn", true);
    add_product("d.bmm.f32.4096x8x8x8", TSR_F32, 4096, 8, 8, 8, "nn", false);
    add_product("d.mm_nt.f32.1024", TSR_F32, 1, 1024, 1024, 1024, "nt", false);
    add_product("d.mm_tn.f32.1024", TSR_F32, 1, 1024, 1024, 1024, "tn", false);
    add_product("d.mm_tt.f32.1024", TSR_F32, 1, 1024, 1024, 1024, "tt", false);
    add_product("d.mm_gs.f32.1024", TSR_F32, 1, 1024, 1024, 1024, "sn", false);
    add_product("d.mm.f64.1024", TSR_F64, 1, 1024, 1024, 1024, "nn", true);
    add_product("d.mm.bf16.1024", TSR_BF16, 1, 1024, 1024, 1024, "nn", true);
    add_product("d.mm.f16.1024", TSR_F16, 1, 1024, 1024, 1024, "nn", true);
    add_product("d.mm.i8.1024", TSR_I8, 1, 1024, 1024, 1024, "nn", true);
    add_product("d.mm.i32.256", TSR_I32, 1, 256, 256, 256, "nn", false);
    add_product("d.mm.f32.2000x16x2000", TSR_F32, 1, 2000, 16, 2000, "nn", false);
    add_product("d.mm.f32.16x100000x16", TSR_F32, 1, 16, 100000, 16, "nn", false);
    add_product("d.mm.f32.1000000x8x8", TSR_F32, 1, 1000000, 8, 8, "nn", false);
    job *j = add(8.0 * (1 << 20), 4, 0, false, "d.dot.f32.1M");
    j->make = make_pair;
    j->run = run_matmul;
    j->n[0] = 1 << 20;
    j = add(2.0 * 4096 * 4, 4096.0 * 4096 * 4, 0, false, "d.outer.f32.4096");
    j->make = make_pair;
    j->run = run_outer;
    j->n[0] = 4096;
}

/* e: networks ------------------------------------------------------------------------------------ */

static tsr_status run_conv2d(job *j)
{
    const int64_t pad = j->n[4] / 2;
    return tsr_conv2d(&j->z, j->x[0], j->x[1], NULL,
                      &(tsr_conv){ .padding = { pad, pad }, .groups = j->axis == 1 ? j->n[1] : 1 });
}
static tsr_status run_conv1d(job *j) { return tsr_conv1d(&j->z, j->x[0], j->x[1], NULL, &(tsr_conv){ .padding = { 1 } }); }
static tsr_status run_attention(job *j)
{
    return tsr_attention(&j->z, j->x[0], j->x[1], j->x[2], NULL, &(tsr_attention_options){ .causal = j->axis == 1 });
}
static tsr_status run_max_pool(job *j)
{
    const int64_t k = j->axis;
    return tsr_max_pool2d(&j->z, NULL, j->x[0], &(tsr_pool){ .kernel = { k, k }, .stride = { 2, 2 }, .padding = { k / 3, k / 3 } });
}
static tsr_status run_avg_pool(job *j) { return tsr_avg_pool2d(&j->z, j->x[0], &(tsr_pool){ .kernel = { 2, 2 } }); }

static void make_conv2d(job *j)
{
    const int64_t k = j->n[4];
    VALUES(&j->x[0], TSR_F32, j->n[0], j->n[1], j->n[2], j->n[3]);
    VALUES(&j->x[1], TSR_F32, j->n[1], j->axis == 1 ? 1 : j->n[1], k, k);
    if (j->axis == 2) {  /* channels last in memory */
        tsr_tensor *t = NULL;
        must(tsr_permute(&t, j->x[0], TSR_AXES(0, 2, 3, 1)));
        must(tsr_rearrange(&j->x[2], t));
        must(tsr_permute(&j->x[0], j->x[2], TSR_AXES(0, 3, 1, 2)));
        must(tsr_empty_like(&j->z, j->x[0]));
        tsr_release(&t);
    }
}

static void make_conv1d(job *j)
{
    VALUES(&j->x[0], TSR_F32, 32, 64, 1024);
    VALUES(&j->x[1], TSR_F32, 64, 64, 3);
}

static void make_heads(job *j)
{
    for (int i = 0; i < 3; i++) VALUES(&j->x[i], TSR_F32, 1, 32, 1024, 128);
}

static void make_image(job *j) { VALUES(&j->x[0], TSR_F32, 32, 64, 56, 56); }

static void add_conv(const char *name, int64_t batch, int64_t k, int kind, bool quick)
{
    const double x = (double)batch * 64 * 56 * 56, inputs = kind == 1 ? 1 : 64;
    job *j = add((x + 64 * inputs * (double)(k * k)) * 4, x * 4, 2 * x * inputs * (double)(k * k), quick, "%s", name);
    const int64_t n[5] = { batch, 64, 56, 56, k };
    j->make = make_conv2d;
    j->run = run_conv2d;
    j->axis = kind;
    memcpy(j->n, n, sizeof n);
}

static void add_networks(void)
{
    const double x = 32.0 * 64 * 56 * 56, q = 32.0 * 1024 * 128;
    job *j;
    add_conv("e.conv2d.f32.32x64x56x56.k3", 32, 3, 0, true);
    add_conv("e.conv2d.f32.1x64x56x56.k3", 1, 3, 0, false);
    add_conv("e.conv2d_nhwc.f32.32x64x56x56.k3", 32, 3, 2, false);
    add_conv("e.conv2d_1x1.f32.32x64x56x56", 32, 1, 0, false);
    add_conv("e.dwconv2d.f32.32x64x56x56.k3", 32, 3, 1, false);
    j = add((32.0 * 64 * 1024 + 64 * 64 * 3) * 4, 32.0 * 64 * 1024 * 4, 2.0 * 32 * 64 * 1024 * 64 * 3, false, "e.conv1d.f32.32x64x1024.k3");
    j->make = make_conv1d;
    j->run = run_conv1d;
    j = add(3 * q * 4, q * 4, 4.0 * 32 * 1024 * 1024 * 128, true, "e.attn.f32.1x32x1024x128");
    j->make = make_heads;
    j->run = run_attention;
    j = add(3 * q * 4, q * 4, 2.0 * 32 * 1024 * 1024 * 128, false, "e.attn_causal.f32.1x32x1024x128");
    j->make = make_heads;
    j->run = run_attention;
    j->axis = 1;
    j = add(x * 4, x, 0, true, "e.maxpool2x2.f32.32x64x56x56");
    j->make = make_image;
    j->run = run_max_pool;
    j->axis = 2;
    j = add(x * 4, x, 0, false, "e.avgpool2x2.f32.32x64x56x56");
    j->make = make_image;
    j->run = run_avg_pool;
    j = add(x * 4, x, 0, false, "e.maxpool3x3s2.f32.32x64x56x56");
    j->make = make_image;
    j->run = run_max_pool;
    j->axis = 3;
}

/* f: small calls ------------------------------------------------------------------------------------- */

static tsr_status run_slice(job *j) { return tsr_slice(&j->z, j->x[0], 0, 0, 2, 1); }
static tsr_status run_turn(job *j) { return tsr_transpose(&j->z, j->x[0], 0, 1); }
static tsr_status run_reshape(job *j) { return tsr_reshape(&j->z, j->x[0], TSR_SHAPE(4)); }
static tsr_status fresh(tsr_tensor **t, tsr_status s)
{
    tsr_release(t);
    return s;
}
static tsr_status run_empty(job *j) { return fresh(&j->z, tsr_empty(&j->z, TSR_F32, TSR_SHAPE(2, 3))); }
static tsr_status run_zeros(job *j) { return fresh(&j->z, tsr_zeros(&j->z, TSR_F32, TSR_SHAPE(2, 3))); }
static tsr_status run_add_fresh(job *j) { return fresh(&j->z, tsr_add(&j->z, j->x[0], j->x[1])); }
static tsr_status run_add_given(job *j) { return tsr_add(&j->z, j->x[0], j->x[1]); }
static tsr_status run_read(job *j)
{
    float v = 0;
    return tsr_get_f32(&v, j->x[0], TSR_INDEX(1, 1));
}

static void make_small(job *j)
{
    for (int i = 0; i < 2; i++) VALUES(&j->x[i], TSR_F32, j->n[0], j->n[0]);
}

static void add_calls(void)
{
    static const struct { const char *name; tsr_status (*run)(job *); int64_t side; int axis; } calls[] = {
        { "add4", run_add_fresh, 2, 0 }, { "add4_out", run_add_given, 2, 0 }, { "slice", run_slice, 3, 0 },
        { "transpose", run_turn, 2, 0 }, { "zeros2x3", run_zeros, 2, 0 }, { "empty2x3", run_empty, 2, 0 },
        { "mm4", run_matmul, 4, 0 }, { "reshape", run_reshape, 2, 0 }, { "sum4", run_sum, 2, 2 },
        { "getitem_scalar", run_read, 2, 0 },
    };
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        job *j = add(0, 0, 0, true, "f.%s", calls[i].name);
        j->make = make_small;
        j->run = calls[i].run;
        j->n[0] = calls[i].side;
        j->axis = calls[i].axis;
    }
}

/* g: others -------------------------------------------------------------------------------------------- */

static tsr_status run_concat(job *j) { return tsr_concat(&j->z, (int)j->n[0], (const tsr_tensor *const *)j->list, j->axis); }
static tsr_status run_stack(job *j) { return tsr_stack(&j->z, (int)j->n[0], (const tsr_tensor *const *)j->list, j->axis); }
static tsr_status run_randn(job *j) { return tsr_randn(&j->z, TSR_F32, 1, j->n, 7); }
static tsr_status run_uniform(job *j) { return tsr_uniform(&j->z, TSR_F32, 1, j->n, 0, 1, 7); }
static tsr_status run_sort(job *j) { return tsr_sort(&j->z, j->x[0], 0, false); }
static tsr_status run_argsort(job *j) { return tsr_argsort(&j->z, j->x[0], 0, false); }
static tsr_status run_topk(job *j)
{
    tsr_tensor *at = NULL;
    const tsr_status s = tsr_topk(&j->z, &at, j->x[0], 100, 0, true, true);
    tsr_release(&at);
    return s;
}
static tsr_status run_take(job *j) { return tsr_take(&j->z, j->x[0], j->x[1], 0); }
static tsr_status run_index_add(job *j) { return tsr_index_add(&j->z, j->z, j->x[1], j->x[2], 0); }
static tsr_status run_pad(job *j)
{
    static const int64_t one[] = { 0, 0, 1, 1 };
    return tsr_pad(&j->z, j->x[0], 4, one, one, TSR_PAD_CONSTANT, TSR_SCALAR(0));
}

static void make_list(job *j)
{
    const int rank = j->n[3] ? 4 : 2;
    const int64_t wide[4] = { 1, j->n[1], j->n[2], j->n[3] };
    for (int i = 0; i < j->n[0]; i++) values(&j->list[i], TSR_F32, rank, rank == 4 ? wide : j->n + 1, (uint64_t)i);
}

static void make_line(job *j)
{
    if (j->run != run_randn && j->run != run_uniform) VALUES(&j->x[0], TSR_F32, j->n[0]);
}

static void make_table(job *j)
{
    VALUES(&j->x[0], TSR_F32, 50257, 768);
    must(tsr_integers(&j->x[1], TSR_I64, TSR_SHAPE(4096), 0, 50257, 3));
    VALUES(&j->x[2], TSR_F32, 4096, 768);
    if (j->run == run_index_add) j->z = tsr_retain(j->x[0]);
}

static job *add_list(const char *name, tsr_status (*run)(job *), int64_t count, int64_t r, int64_t c, int64_t last, int axis, bool quick)
{
    const double bytes = 4.0 * (double)(count * r * c * (last ? last : 1));
    job *j = add(bytes, bytes, 0, quick, "%s", name);
    const int64_t n[5] = { count, r, c, last, 0 };
    j->make = make_list;
    j->run = run;
    j->axis = axis;
    memcpy(j->n, n, sizeof n);
    return j;
}

static job *add_line(const char *name, tsr_status (*run)(job *), int64_t n, double read, double written, bool quick)
{
    job *j = add(read, written, 0, quick, "%s", name);
    j->make = make_line;
    j->run = run;
    j->n[0] = n;
    return j;
}

static void add_others(void)
{
    const double rows = 4096.0 * 768 * 4, index = 4096 * 8, image = 32.0 * 64 * 56 * 56 * 4;
    add_list("g.concat3.f32.1x224x224x3", run_concat, 3, 224, 224, 3, 0, true);
    add_list("g.stack3_last.f32.224x224", run_stack, 3, 224, 224, 0, 2, false);
    add_list("g.concat64.ax0.f32.1024x1024", run_concat, 64, 1024, 1024, 0, 0, false);
    add_list("g.concat64.ax1.f32.1024x1024", run_concat, 64, 1024, 1024, 0, 1, false);
    add_list("g.stack64.ax2.f32.1024x1024", run_stack, 64, 1024, 1024, 0, 2, false);
    add_line("g.randn.f32.16M", run_randn, N16M, 0, 4.0 * N16M, true);
    add_line("g.rand.f32.16M", run_uniform, N16M, 0, 4.0 * N16M, false);
    add_line("g.sort.f32.1M", run_sort, 1 << 20, 4 << 20, 4 << 20, true);
    add_line("g.argsort.f32.1M", run_argsort, 1 << 20, 4 << 20, 8 << 20, false);
    add_line("g.topk.f32.1M.k100", run_topk, 1 << 20, 4 << 20, 1200, true);
    add(rows + index, rows, 0, true, "g.gather.f32.50257x768.4096")->run = run_take;
    add(2 * rows + index, rows, 0, false, "g.scatter_add.f32.50257x768.4096")->run = run_index_add;
    jobs[njobs - 1].make = jobs[njobs - 2].make = make_table;
    job *j = add(image, 32.0 * 64 * 58 * 58 * 4, 0, false, "g.pad.f32.32x64x56x56.p1");
    j->make = make_image;
    j->run = run_pad;
}

/* Limits ------------------------------------------------------------------------------------------------- */

static char *from, *to_;
static size_t room;

static void have_room(size_t bytes)
{
    tsr_tensor *a = NULL, *b = NULL;
    if (bytes <= room) return;
    const int64_t n = (int64_t)bytes;
    must(tsr_zeros(&a, TSR_U8, 1, &n));  /* kept to the end: the limits use it again and again */
    must(tsr_ones(&b, TSR_U8, 1, &n));
    from = a->data;
    to_ = b->data;
    room = bytes;
}

static volatile double sink;

/* Seconds for one pass over about this many bytes read and written. */
static void pass_copy(double bytes) { memcpy(to_, from, (size_t)(bytes / 2)); }

static void pass_read(double bytes)
{
    const double *p = (const double *)(const void *)from;
    const size_t n = (size_t)bytes / sizeof *p;
    double s[8] = { 0 };
    for (size_t i = 0; i + 8 <= n; i += 8)
        for (int k = 0; k < 8; k++) s[k] += p[i + (size_t)k];
    for (int k = 0; k < 8; k++) sink += s[k];
}

/* Multiply-adds whose operands stay in registers: CHAINS sums side by side, so that none waits for
 * another. Returns how many were done. */
enum { CHAINS = 12 };

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define FMA_PASS(name, isa, vector, set, fma, lanes)                        \
    __attribute__((target(isa))) static double name(int64_t steps)          \
    {                                                                       \
        vector sum[CHAINS], x = set(0.999f), y = set(1e-3f);                \
        for (int i = 0; i < CHAINS; i++) sum[i] = set((float)i);            \
        for (int64_t s = 0; s < steps; s++)                                 \
            for (int i = 0; i < CHAINS; i++) sum[i] = fma(sum[i], x, y);    \
        float first[CHAINS];                                                \
        for (int i = 0; i < CHAINS; i++) memcpy(&first[i], &sum[i], sizeof first[i]); \
        for (int i = 0; i < CHAINS; i++) sink += (double)first[i];          \
        return 2.0 * (double)steps * CHAINS * lanes;                        \
    }
FMA_PASS(fma_avx512_f32, "avx512f", __m512, _mm512_set1_ps, _mm512_fmadd_ps, 16)
FMA_PASS(fma_avx512_f64, "avx512f", __m512d, _mm512_set1_pd, _mm512_fmadd_pd, 8)
FMA_PASS(fma_avx2_f32, "avx2,fma", __m256, _mm256_set1_ps, _mm256_fmadd_ps, 8)
FMA_PASS(fma_avx2_f64, "avx2,fma", __m256d, _mm256_set1_pd, _mm256_fmadd_pd, 4)
#endif

static double fma_plain(int64_t steps)
{
    float sum[CHAINS] = { 0 };
    for (int64_t s = 0; s < steps; s++)
        for (int i = 0; i < CHAINS; i++) sum[i] = sum[i] * 0.999f + 1e-3f;
    for (int i = 0; i < CHAINS; i++) sink += (double)sum[i];
    return 2.0 * (double)steps * CHAINS;
}

static double pass_fma(int64_t steps, int wide)
{
#if defined(__x86_64__) && defined(__GNUC__)
    if (!strcmp(tsr_cpu_isa(), "avx512")) return wide ? fma_avx512_f64(steps) : fma_avx512_f32(steps);
    if (!strcmp(tsr_cpu_isa(), "avx2")) return wide ? fma_avx2_f64(steps) : fma_avx2_f32(steps);
#endif
    (void)wide;
    return fma_plain(steps);
}

/* Measuring ----------------------------------------------------------------------------------------------- */

static struct {
    bool   quick, list, serve;
    double seconds;
    int    threads;
    FILE  *json;
} options = { .seconds = 0.4, .threads = 1 };

static void open_job(job *j)
{
    if (!j->z && !j->x[0] && !j->list[0]) j->make(j);
    must(j->run(j));
}

static void close_job(job *j)
{
    for (int i = 0; i < 4; i++) tsr_release(&j->x[i]);
    for (int i = 0; i < 64; i++) tsr_release(&j->list[i]);
    tsr_release(&j->z);
}

/* How often a batch runs, so that it takes a millisecond at least. */
static int64_t batch_of(job *j)
{
    int64_t n = 1;
    for (;;) {
        const double start = now();
        for (int64_t i = 0; i < n; i++) must(j->run(j));
        if (now() - start > 1e-3 || n > 1 << 24) return n;
        n *= 2;
    }
}

static double time_job(job *j, int64_t batch)
{
    const double start = now();
    for (int64_t i = 0; i < batch; i++) must(j->run(j));
    return (now() - start) / (double)batch;
}

/* The limit's seconds for this job: its bytes copied, or read, or its flops. */
static double time_limit(const job *j)
{
    const double bytes = j->read + j->written, start = now();
    if (bytes == 0) return 0;
    const int64_t repeats = bytes < 1e6 ? (int64_t)(1e6 / bytes) + 1 : 1;
    have_room((size_t)bytes + 64);
    for (int64_t i = 0; i < repeats; i++) {
        if (j->written * 4 < j->read) pass_read(bytes);
        else pass_copy(bytes);
    }
    return (now() - start) / (double)repeats;
}

static double fma_peak[2];  /* of f32 and f64, in flops a second */

static void measure_peaks(void)
{
    enum { STEPS = 200000 };
    for (int w = 0; w < 2; w++)
        for (int i = 0; i < 5; i++) {
            const double start = now();
            const double done = pass_fma(STEPS, w), rate = done / (now() - start);
            if (rate > fma_peak[w]) fma_peak[w] = rate;
        }
}

static void report(const job *j, double best, double limit)
{
    const double bytes = j->read + j->written;
    if (options.json) {
        fprintf(options.json, "{\"lib\": \"tessera\", \"workload\": \"%s\", \"threads\": %d, \"seconds\": %.9g, \"bytes\": %.0f, \"flops\": %.0f}\n",
                j->name, options.threads, best, bytes, j->flops);
        if (limit > 0)
            fprintf(options.json, "{\"lib\": \"limit\", \"workload\": \"%s\", \"threads\": %d, \"seconds\": %.9g, \"bytes\": %.0f, \"flops\": %.0f}\n",
                    j->name, options.threads, limit, bytes, j->flops);
        fflush(options.json);
    }
    if (j->flops > 0) printf("%-40s %10.1f GFLOP/s  %5.2f of the peak\n", j->name, j->flops / best * 1e-9, limit / best);
    else if (bytes > 0) printf("%-40s %10.1f GB/s     %5.2f of %s\n", j->name, bytes / best * 1e-9, limit / best,
                               j->written * 4 < j->read ? "reading" : "copying");
    else printf("%-40s %10.1f ns\n", j->name, best * 1e9);
    fflush(stdout);
}

static void progress(int done, int all, const char *name)
{
    if (!isatty(2)) return;
    if (done < all) fprintf(stderr, "\r\033[K[%3d/%d] %s", done, all, name);
    else fprintf(stderr, "\r\033[K");
}

static void measure(job *j)
{
    double best = 1e9, limit = 1e9;
    open_job(j);
    const int64_t batch = batch_of(j);
    const double until = now() + options.seconds;
    for (int round = 0; round < 5 || now() < until; round++) {
        const double ours = time_job(j, batch);
        const double theirs = j->flops > 0 ? 0 : time_limit(j);
        if (ours < best) best = ours;
        if (theirs < limit) limit = theirs;
    }
    if (j->flops > 0) limit = j->flops / fma_peak[j->dtype == TSR_F64];
    close_job(j);
    report(j, best, limit < 1e9 ? limit : 0);
}

static void serve(void)
{
    char name[64];
    int threads;
    job *open = NULL;
    while (scanf("%63s %d", name, &threads) == 2) {
        job *j = NULL;
        for (int i = 0; i < njobs; i++)
            if (!strcmp(jobs[i].name, name)) j = &jobs[i];
        if (!j) {
            printf("none\n");
        } else {
            double best = 1e9;
            must(tsr_set_threads(threads));
            if (open && open != j) close_job(open);
            open_job(open = j);
            const int64_t batch = batch_of(j);
            const double until = now() + options.seconds / 4;
            for (int round = 0; round < 3 || now() < until; round++) {
                const double ours = time_job(j, batch);
                if (ours < best) best = ours;
            }
            printf("%.9g\n", best);
        }
        fflush(stdout);
    }
}

static void usage(int status)
{
    fprintf(status ? stderr : stdout, "usage: bench-ops [--json FILE] [--quick] [--threads N] [--seconds S] [--list | --serve] [FILTER]\n");
    exit(status);
}

static const char *read_options(int argc, char **argv)
{
    const char *filter = NULL;
    for (int i = 1; i < argc; i++) {
        const bool more = i + 1 < argc;
        if (!strcmp(argv[i], "--quick")) options.quick = true;
        else if (!strcmp(argv[i], "--list")) options.list = true;
        else if (!strcmp(argv[i], "--serve")) options.serve = true;
        else if (!strcmp(argv[i], "--json") && more) options.json = fopen(argv[++i], "a");
        else if (!strcmp(argv[i], "--threads") && more) options.threads = atoi(argv[++i]);
        else if (!strcmp(argv[i], "--seconds") && more) options.seconds = atof(argv[++i]);
        else if (argv[i][0] == '-' || filter) usage(strcmp(argv[i], "--help") != 0 ? 2 : 0);
        else filter = argv[i];
    }
    return filter;
}

int main(int argc, char **argv)
{
    const char *filter = read_options(argc, argv);
    regex_t regex;
    int chosen = 0, done = 0;
    if (filter && regcomp(&regex, filter, REG_EXTENDED | REG_NOSUB) != 0) usage(2);
    add_moving();
    add_elementwise();
    add_reductions();
    add_products();
    add_networks();
    add_calls();
    add_others();
    if (options.serve) {
        serve();
        return 0;
    }
    if (options.quick) options.seconds = 0.1;
    must(tsr_set_threads(options.threads));
    for (int i = 0; i < njobs; i++) {
        const bool wanted = (!options.quick || jobs[i].quick) && (!filter || regexec(&regex, jobs[i].name, 0, NULL, 0) == 0);
        if (wanted && options.list) puts(jobs[i].name);
        if (!wanted) jobs[i].name[0] = '\0';
        chosen += wanted;
    }
    if (!options.list) {
        measure_peaks();
        printf("%s, %d thread%s; multiply-adds of f32 %.0f GFLOP/s, of f64 %.0f\n", tsr_cpu_isa(), options.threads,
               options.threads == 1 ? "" : "s", fma_peak[0] * 1e-9, fma_peak[1] * 1e-9);
        for (int i = 0; i < njobs; i++) {
            if (!jobs[i].name[0]) continue;
            progress(done++, chosen, jobs[i].name);
            measure(&jobs[i]);
        }
        progress(chosen, chosen, "");
    }
    if (options.json) fclose(options.json);
    if (filter) regfree(&regex);
    return 0;
}
