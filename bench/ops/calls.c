/* calls.c - what a call on a tiny tensor costs. */
#include "ops.h"

static tsr_status run_slice(job *j) { return tsr_slice(&j->z, j->x[0], 0, 0, 2, 1); }
static tsr_status run_transpose(job *j) { return tsr_transpose(&j->z, j->x[0], 0, 1); }
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

void add_calls(void)
{
    static const struct { const char *name; tsr_status (*run)(job *); int64_t side; int axis; } calls[] = {
        { "add4", run_add_fresh, 2, 0 }, { "add4_out", run_add_given, 2, 0 }, { "slice", run_slice, 3, 0 },
        { "transpose", run_transpose, 2, 0 }, { "zeros2x3", run_zeros, 2, 0 },
        { "empty2x3", run_empty, 2, 0 },
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
