/* reduce.c - reductions: one pass or two, each by work items that take a lane each, or by work groups
 * that share one (reduce.cl). */
#include "launch.h"
#include "numbers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    SHORT = 32,         /* lanes up to this are a work item's */
    MANY = 512,         /* lanes that keep a device busy with a work item each */
    PART = 4096,        /* elements that are worth a work group */
    MOST_PARTS = 1024
};

/* As in reduce.cl. */
typedef struct reduce_flags {
    cl_int which, least, sizes, next;
} reduce_flags;

enum { NEXT_DEVIATION = 1, NEXT_EXP, NEXT_SQUARE, NEXT_POWER };

/* What the passes accumulate; the second may be NULL. */
typedef struct plan {
    const char *pass[2];
    bool        least, sizes;  /* in the first */
    int         next;          /* what the first is for */
    double      p;
} plan;

static plan plan_norm(double p)
{
    if (p == 0) return (plan){ .pass = { "COUNT" } };
    if (p == 1) return (plan){ .pass = { "SUM -DOF_SIZE" } };
    if (isinf(p)) return (plan){ .pass = { "LARGEST" }, .sizes = true, .least = p < 0 };
    if (p == 2)
        return (plan){
            .pass = { "LARGEST", "SUM -DOF_K -DOF_SQUARE" }, .sizes = true, .next = NEXT_SQUARE, .p = p
        };
    return (plan){ .pass = { "LARGEST", "SUM -DOF_K -DOF_POWER" },
                   .sizes = true,
                   .least = p < 0,
                   .next = NEXT_POWER,
                   .p = p };
}

static plan plan_of(const tsr_op *op)
{
    const tsr_reduce_params *r = op->params;
    switch (op->kind) {
    case TSR_OP_SUM:
    case TSR_OP_MEAN: return (plan){ .pass = { "SUM" } };
    case TSR_OP_PROD: return (plan){ .pass = { "PROD" } };
    case TSR_OP_VAR:
    case TSR_OP_STD:
        return (plan){ .pass = { "SUM", "SUM -DOF_K -DOF_DEVIATION" }, .next = NEXT_DEVIATION, .p = r->a };
    case TSR_OP_MAX:  return (plan){ .pass = { "LARGEST" } };
    case TSR_OP_MIN:  return (plan){ .pass = { "LARGEST" }, .least = true };
    case TSR_OP_LOGSUMEXP: return (plan){ .pass = { "LARGEST", "SUM -DOF_K -DOF_EXP" }, .next = NEXT_EXP };
    case TSR_OP_NORM:   return plan_norm(r->a);
    case TSR_OP_ARGMAX: return (plan){ .pass = { "FIND" } };
    case TSR_OP_ARGMIN: return (plan){ .pass = { "FIND" }, .least = true };
    default:            return (plan){ .pass = { "COUNT" } };
    }
}

static const char *can(const ocl_device *d, const tsr_op *op)
{
    const char *why = ocl_lacks(d, op->in[0]->dtype);
    return why ? why : ocl_lacks(d, op->out[0]->dtype);
}

/* Strides ---------------------------------------------------------------------------------- */

typedef struct reduction {
    ocl_nest t;
    cl_mem   z, x, k, states;
    int      kept;        /* dims of the nest that are the result's */
    int64_t  n;           /* elements of a lane */
    int64_t  parts, part;
    bool     serial;
} reduction;

/* A tensor with some of another's dims. */
static void select_dims(tsr_tensor *out, const tsr_tensor *from, uint32_t axes)
{
    *out = *from;
    out->ndim = 0;
    for (int d = 0; d < from->ndim; d++) {
        if (!(axes >> d & 1)) continue;
        out->shape[out->ndim] = from->shape[d];
        out->stride[out->ndim++] = from->stride[d];
    }
}

/* Appends the reduced dims to the nest. */
static tsr_status append_reduced(reduction *r, const tsr_tensor *x, uint32_t axes, bool in_order)
{
    tsr_tensor lane;
    ocl_nest t;
    ocl_operand operand;
    ocl_place at;
    select_dims(&lane, x, axes);
    r->n = ocl_numel(&lane);
    if (r->n == 0) return TSR_OK;
    OCL_TRY(ocl_find(&at, x->data));
    if (in_order) {
        OCL_TRY(ocl_see(&operand, &lane));
        ocl_nest_in_order(&t, lane.ndim, lane.shape, 1, &operand);
    } else {
        OCL_TRY(ocl_nest_of(&t, &r->x, 1, (const tsr_tensor *const[]){ &lane }));
    }
    r->t.base[1] += t.base[0] - (int64_t)at.offset;
    for (int d = 0; d < t.ndim; d++) {
        r->t.n[r->t.ndim] = t.n[d];
        r->t.step[1][r->t.ndim++] = t.step[0][d];
    }
    return TSR_OK;
}

static tsr_status see(reduction *r, const ocl_call *call, bool in_order)
{
    tsr_tensor z, x;
    cl_mem mems[2];
    const tsr_reduce_params *p = call->op->params;
    const uint32_t axes = p->axes & (((uint32_t)1 << call->op->in[0]->ndim) - 1);
    select_dims(&x, call->op->in[0], ~axes);
    select_dims(&z, call->op->out[0], p->keepdims ? ~axes : UINT32_MAX);
    if (ocl_numel(call->op->in[0]) == 0) x.data = z.data;  /* which nobody reads */
    OCL_TRY(ocl_nest_of(&r->t, mems, 2, (const tsr_tensor *const[]){ &z, &x }));
    r->z = mems[0];
    r->x = mems[1];
    r->kept = r->t.ndim;
    return append_reduced(r, call->op->in[0], axes, in_order);
}

static int64_t length(int64_t step) { return step < 0 ? -step : step; }

/* Who takes a lane, and in how many parts. */
static void divide(reduction *r, const ocl_device *d)
{
    const int64_t lanes = r->t.count, units = d->units ? d->units : 1;
    const int64_t across = r->kept ? length(r->t.step[1][r->kept - 1]) : INT64_MAX;
    const int64_t along = r->t.ndim > r->kept ? length(r->t.step[1][r->t.ndim - 1]) : 0;
    r->serial = r->n <= SHORT || (lanes >= MANY && across < along);
    r->parts = 1;
    if (!r->serial && lanes < 4 * units) {
        const int64_t wanted = (8 * units + lanes - 1) / lanes, worth = (r->n + PART - 1) / PART;
        r->parts = wanted < worth ? wanted : worth;
        if (r->parts > MOST_PARTS) r->parts = MOST_PARTS;
    }
    r->part = r->parts > 1 ? (r->n + r->parts - 1) / r->parts : r->n;
}

/* Passes ------------------------------------------------------------------------------------ */

static size_t state_size(const ocl_device *d) { return d->has_f64 ? 48 : 32; }
static size_t wide_size(const ocl_device *d) { return d->has_f64 ? 8 : 4; }

static void set_args(ocl_launch *l, const reduction *r, const plan *p, int pass)
{
    ocl_arg_mem(l, r->z);
    ocl_arg_mem(l, r->x);
    ocl_arg_nest(l, &r->t);
    ocl_arg_mem(l, r->k ? r->k : r->z);
    ocl_arg_mem(l, r->states ? r->states : r->z);
    ocl_arg_int(l, r->kept);
    ocl_arg_long(l, r->n);
    ocl_arg_int(l, r->n <= INT32_MAX);
    ocl_arg_long(l, r->parts);
    ocl_arg_long(l, r->part);
    ocl_arg_wide(l, p->p);
    const reduce_flags how = { (cl_int)l->call->op->kind, pass == 0 && p->least, pass == 0 && p->sizes,
                      pass == 0 ? p->next : 0 };
    ocl_arg(l, sizeof how, &how);
}

static tsr_status run_pass(const ocl_call *call, const reduction *r, const plan *p, int pass)
{
    ocl_launch l;
    char options[256], dtypes[64];
    ocl_fix_dtypes(dtypes, sizeof dtypes, &r->t, r->t.count * r->n);
    snprintf(options, sizeof options, "%s -DACCUMULATE_%s%s%s", ocl_class_option(call->op->in[0]->dtype),
             p->pass[pass], call->device->is_processor ? " -DSTRIP=16" : " -DSTRIP=1", dtypes);
    OCL_TRY(ocl_begin(&l, call, "reduce", r->serial ? "serial" : "group", options));
    set_args(&l, r, p, pass);
    if (r->serial) return ocl_end(&l, call->device->is_processor ? (r->t.count + 15) / 16 : r->t.count);
    const size_t group = ocl_group_for(&l, r->part, state_size(call->device));
    ocl_arg_local(&l, group * state_size(call->device));
    OCL_TRY(ocl_end_groups(&l, 2, (const size_t[]){ (size_t)r->t.count, (size_t)r->parts },
                           (const size_t[]){ group, 1 }));
    if (r->parts == 1) return TSR_OK;
    OCL_TRY(ocl_begin(&l, call, "reduce", "finish", options));
    set_args(&l, r, p, pass);
    return ocl_end(&l, r->t.count);
}

static tsr_status run(const ocl_call *call)
{
    reduction r;
    const ocl_device *d = call->device;
    const plan p = plan_of(call->op);
    memset(&r, 0, sizeof r);
    OCL_TRY(see(&r, call, !strcmp(p.pass[0], "FIND")));
    divide(&r, d);
    tsr_status s = TSR_OK;
    if (p.pass[1]) s = ocl_scratch(&r.k, call, (size_t)r.t.count * 4 * wide_size(d));
    if (s == TSR_OK && r.parts > 1)
        s = ocl_scratch(&r.states, call, (size_t)(r.t.count * r.parts) * state_size(d));
    for (int i = 0; i < 2 && s == TSR_OK && p.pass[i]; i++) s = run_pass(call, &r, &p, i);
    if (r.k) (void)ocl.clReleaseMemObject(r.k);
    if (r.states) (void)ocl.clReleaseMemObject(r.states);
    return s;
}

const ocl_runner ocl_runner_reduce = { can, run };
