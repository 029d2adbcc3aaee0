/* reductions.c - reductions, scans, and the row ops that stand on them. */
#include <math.h>

#include "ops.h"

static int axes_of(const job *j, int axes[2])
{
    axes[0] = j->axis;
    return j->axis == 2 ? 0 : 1;
}
tsr_status run_sum(job *j)
{
    int axes[2];
    const int n = axes_of(j, axes);
    return tsr_sum(&j->z, j->x[0], n, axes, false);
}
#define OVER(name, call)                                     \
    static tsr_status run_##name(job *j)                     \
    {                                                        \
        int axes[2];                                         \
        const int n = axes_of(j, axes);                      \
        return call;                                         \
    }
OVER(max, tsr_max(&j->z, j->x[0], n, axes, false))
OVER(mean, tsr_mean(&j->z, j->x[0], n, axes, false))
OVER(std, tsr_std(&j->z, j->x[0], n, axes, false, 0))
OVER(logsumexp, tsr_logsumexp(&j->z, j->x[0], n, axes, false))
static tsr_status run_argmax(job *j)
{
    return tsr_argmax(&j->z, j->x[0], j->axis == 2 ? TSR_ALL_AXES : j->axis, false);
}
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

/* Half of the elements are left out, as attention does it. */
static void make_masked(job *j)
{
    make_matrix(j);
    tsr_tensor *kept = NULL;
    values(&kept, TSR_BOOL, 2, j->n, 3);
    must(tsr_where(&j->x[0], kept, j->x[0], TSR_NUMBER(-INFINITY)));
    tsr_release(&kept);
}

static void make_normed(job *j)
{
    values(&j->x[0], TSR_F32, 2, j->n, 1);
    VALUES(&j->x[1], TSR_F32, j->n[1]);
    VALUES(&j->x[2], TSR_F32, j->n[1]);
}

static void make_flat(job *j) { VALUES(&j->x[0], TSR_F32, j->n[0] * j->n[1]); }

static job *add_matrix(const char *name, tsr_status (*run)(job *), int64_t r, int64_t c, double written,
                       bool quick)
{
    job *j = add(4.0 * (double)(r * c), written, 0, quick, "%s", name);
    j->make = make_matrix;
    j->run = run;
    j->n[0] = r;
    j->n[1] = c;
    return j;
}

void add_reductions(void)
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
                snprintf(name, sizeof name, "c.%s.%s.f32.%dx%d", ops[o].name, axis_names[a],
                         (int)shapes[s][0], (int)shapes[s][1]);
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
    add_matrix("c.softmax.f32.1024x1024.masked", run_softmax, 1024, 1024, 1024.0 * 1024 * 4, false)->make =
        make_masked;
    add_matrix("c.layernorm.f32.4096x4096", run_layer_norm, 4096, 4096, 4096.0 * 4096 * 4, true)->make =
        make_normed;
    add_matrix("c.rmsnorm.f32.4096x4096", run_rms_norm, 4096, 4096, 4096.0 * 4096 * 4, false)->make =
        make_normed;
    add_matrix("c.cumsum.flat.f32.4096x4096", run_cumsum, 4096, 4096, 4096.0 * 4096 * 4, false)->make =
        make_flat;
    add_matrix("c.cumsum.ax0.f32.4096x4096", run_cumsum, 4096, 4096, 4096.0 * 4096 * 4, true);
    add_matrix("c.cumsum.ax1.f32.4096x4096", run_cumsum, 4096, 4096, 4096.0 * 4096 * 4, false)->axis = 1;
    add_matrix("c.std.ax1.f32.4096x4096", run_std, 4096, 4096, 4096 * 4, false)->axis = 1;
    add_matrix("c.logsumexp.ax1.f32.4096x4096", run_logsumexp, 4096, 4096, 4096 * 4, false)->axis = 1;
}
