/* calls.c - what a call on a tiny tensor costs. */
#include "ops.h"

static tsr_status run_slice(job *j) { return tsr_slice(&j->z, j->x[0], 0, 0, 2, 1); }
static tsr_status run_transpose(job *j) { return tsr_transpose(&j->z, j->x[0], 0, 1); }
static tsr_status run_reshape(job *j) { return tsr_reshape(&j->z, j->x[0], TSR_SHAPE(4)); }
static tsr_status run_permute(job *j) { return tsr_permute(&j->z, j->x[0], TSR_AXES(1, 0)); }
static tsr_status run_view(job *j) { return tsr_view(&j->z, j->x[0], TSR_SHAPE(4)); }
static tsr_status run_expand(job *j) { return tsr_expand(&j->z, j->x[0], TSR_SHAPE(5, 2, 2)); }
static tsr_status run_fill(job *j) { return tsr_fill(j->x[1], TSR_SCALAR(1.5)); }
static tsr_status fresh(tsr_tensor **t, tsr_status s)
{
    tsr_release(t);
    return s;
}
static tsr_status run_empty(job *j) { return fresh(&j->z, tsr_empty(&j->z, TSR_F32, TSR_SHAPE(2, 3))); }
static tsr_status run_zeros(job *j) { return fresh(&j->z, tsr_zeros(&j->z, TSR_F32, TSR_SHAPE(2, 3))); }
static tsr_status run_add_fresh(job *j) { return fresh(&j->z, tsr_add(&j->z, j->x[0], j->x[1])); }
static tsr_status run_clone(job *j) { return fresh(&j->z, tsr_clone(&j->z, j->x[0])); }
static tsr_status run_add_given(job *j) { return tsr_add(&j->z, j->x[0], j->x[1]); }
static tsr_status run_read(job *j)
{
    float v = 0;
    return tsr_get_f32(&v, j->x[0], TSR_INDEX(1, 1));
}

/* Every element by unchecked access, column after column, so that no vector instructions add them up. */
static tsr_status run_read_at(job *j)
{
    static volatile float sink;
    const tsr_tensor *x = j->x[0];
    float sum = 0;
    for (int64_t c = 0; c < j->n[0]; c++)
        for (int64_t r = 0; r < j->n[0]; r++) sum += TSR_AT(const float, x, r, c);
    sink = sum;
    (void)sink;
    return TSR_OK;
}

static void make_small(job *j)
{
    for (int i = 0; i < 2; i++) VALUES(&j->x[i], TSR_F32, j->n[0], j->n[0]);
}

void add_calls(void)
{
    static const struct { const char *name; tsr_status (*run)(job *); int64_t side; int axis; } calls[] = {
        { "add4", run_add_fresh, 2, 0 }, { "add4_out", run_add_given, 2, 0 }, { "slice", run_slice, 3, 0 },
        { "transpose", run_transpose, 2, 0 }, { "zeros2x3", run_zeros, 2, 0 },
        { "empty2x3", run_empty, 2, 0 },
        { "mm4", run_matmul, 4, 0 }, { "reshape", run_reshape, 2, 0 }, { "sum4", run_sum, 2, 2 },
        { "getitem_scalar", run_read, 2, 0 }, { "permute", run_permute, 2, 0 }, { "view", run_view, 2, 0 },
        { "expand", run_expand, 2, 0 }, { "clone4", run_clone, 2, 0 }, { "fill4", run_fill, 2, 0 },
        { "read_at4096", run_read_at, 64, 0 },
    };
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        job *j = add(0, 0, 0, true, "f.%s", calls[i].name);
        j->make = make_small;
        j->run = calls[i].run;
        j->n[0] = calls[i].side;
        j->axis = calls[i].axis;
    }
}
