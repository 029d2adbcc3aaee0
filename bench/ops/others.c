/* others.c - joining, indexing, order, random. */
#include "ops.h"

static tsr_status run_concat(job *j)
{
    return tsr_concat(&j->z, (int)j->n[0], (const tsr_tensor *const *)j->list, j->axis);
}
static tsr_status run_stack(job *j)
{
    return tsr_stack(&j->z, (int)j->n[0], (const tsr_tensor *const *)j->list, j->axis);
}
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
    for (int i = 0; i < j->n[0]; i++)
        values(&j->list[i], TSR_F32, rank, rank == 4 ? wide : j->n + 1, (uint64_t)i);
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

static job *add_list(const char *name, tsr_status (*run)(job *), int64_t count, int64_t r, int64_t c,
                     int64_t last, int axis, bool quick)
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

static job *add_line(const char *name, tsr_status (*run)(job *), int64_t n, double read, double written,
                     bool quick)
{
    job *j = add(read, written, 0, quick, "%s", name);
    j->make = make_line;
    j->run = run;
    j->n[0] = n;
    return j;
}

static void add_table(const char *name, tsr_status (*run)(job *), double read, double written, bool quick)
{
    job *j = add(read, written, 0, quick, "%s", name);
    j->make = make_table;
    j->run = run;
}

void add_others(void)
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
    add_table("g.gather.f32.50257x768.4096", run_take, rows + index, rows, true);
    add_table("g.scatter_add.f32.50257x768.4096", run_index_add, 2 * rows + index, rows, false);
    job *j = add(image, 32.0 * 64 * 58 * 58 * 4, 0, false, "g.pad.f32.32x64x56x56.p1");
    j->make = make_image;
    j->run = run_pad;
}
