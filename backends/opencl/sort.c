/* sort.c - sort, argsort, searchsorted. Lanes are sorted in scratch memory, as many at once as fit. */
#include "launch.h"
#include "numbers.h"

#include <stdio.h>

enum { RUN = 16, SCRATCH = 128 << 20 };

static const char *can(const ocl_device *d, const tsr_op *op)
{
    (void)d; (void)op;
    return NULL;
}

/* A sort under way. */
typedef struct sorting {
    const ocl_call *call;
    ocl_nest        t;            /* values, indices, x, without the axis */
    ocl_operand     operands[3];
    bool            has_values, has_indices, descending, pairs;
    int             axis;
    int64_t         n, best;
    cl_mem          items[2];
} sorting;

static const char *options_of(const sorting *s) { return s->pairs ? "-DPAIRS" : ""; }

static tsr_status see(sorting *s)
{
    const tsr_op *op = s->call->op;
    const tsr_sort_params *p = op->params;
    const tsr_tensor *x = op->in[0], *values = op->kind == TSR_OP_SORT ? op->out[0] : NULL;
    const tsr_tensor *indices = op->kind == TSR_OP_ARGSORT ? op->out[0] : op->nout > 1 ? op->out[1] : NULL;
    s->axis = p->axis;
    s->descending = p->descending;
    s->n = x->shape[p->axis];
    s->best = op->out[0]->shape[p->axis];
    s->pairs = ocl_size_of(x->dtype) > 4 || s->n > INT32_MAX;
    s->has_values = values != NULL;
    s->has_indices = indices != NULL;
    OCL_TRY(ocl_see(&s->operands[2], x));
    s->operands[0] = s->operands[1] = s->operands[2];
    if (values) OCL_TRY(ocl_see(&s->operands[0], values));
    if (indices) OCL_TRY(ocl_see(&s->operands[1], indices));
    ocl_nest_lanes(&s->t, x->ndim, x->shape, s->axis, 3, s->operands);
    return TSR_OK;
}

/* Groups that cover `items` work items of each of `lanes` lanes. */
static tsr_status end_lanes(ocl_launch *l, int64_t items, int64_t lanes)
{
    size_t group = 64;
    while (group > l->kernel->group) group /= 2;
    const size_t groups[2] = { ((size_t)items + group - 1) / group, (size_t)lanes };
    return ocl_end_groups(l, 2, groups, (const size_t[]){ group, 1 });
}

static tsr_status make_runs(const sorting *s, int64_t first, int64_t lanes)
{
    ocl_launch l;
    OCL_TRY(ocl_begin(&l, s->call, "sort", "make_runs", options_of(s)));
    ocl_arg_mem(&l, s->items[0]);
    ocl_arg_mem(&l, s->operands[2].mem);
    ocl_arg_nest(&l, &s->t);
    ocl_arg_long(&l, first);
    ocl_arg_long(&l, s->n);
    ocl_arg_long(&l, s->operands[2].stride[s->axis]);
    ocl_arg_int(&l, s->descending);
    return end_lanes(&l, (s->n + RUN - 1) / RUN, lanes);
}

static tsr_status merge_runs(const sorting *s, int to, int64_t run, int64_t lanes)
{
    ocl_launch l;
    OCL_TRY(ocl_begin(&l, s->call, "sort", "merge_runs", options_of(s)));
    ocl_arg_mem(&l, s->items[to]);
    ocl_arg_mem(&l, s->items[1 - to]);
    ocl_arg_long(&l, s->n);
    ocl_arg_long(&l, run);
    return end_lanes(&l, (s->n + RUN - 1) / RUN, lanes);
}

static tsr_status give_items(const sorting *s, int from, int64_t first, int64_t lanes)
{
    ocl_launch l;
    OCL_TRY(ocl_begin(&l, s->call, "sort", "give_items", options_of(s)));
    for (int k = 0; k < 3; k++) ocl_arg_mem(&l, s->operands[k].mem);
    ocl_arg_mem(&l, s->items[from]);
    ocl_arg_nest(&l, &s->t);
    ocl_arg_long(&l, first);
    ocl_arg_long(&l, s->n);
    ocl_arg_long(&l, s->best);
    for (int k = 0; k < 3; k++) ocl_arg_long(&l, s->operands[k].stride[s->axis]);
    ocl_arg_int(&l, s->has_values);
    ocl_arg_int(&l, s->has_indices);
    return end_lanes(&l, s->best, lanes);
}

static tsr_status sort_lanes(const sorting *s, int64_t first, int64_t lanes)
{
    int at = 0;
    OCL_TRY(make_runs(s, first, lanes));
    for (int64_t run = RUN; run < s->n; run *= 2) {
        at = 1 - at;
        OCL_TRY(merge_runs(s, at, run, lanes));
    }
    return give_items(s, at, first, lanes);
}

static tsr_status sort_all(sorting *s)
{
    const size_t item = s->pairs ? 16 : 8, lane = (size_t)s->n * item;
    int64_t at_once = (int64_t)(SCRATCH / lane);
    if (at_once < 1) at_once = 1;
    if (at_once > OCL_LANES_AT_ONCE) at_once = OCL_LANES_AT_ONCE;
    if (at_once > s->t.count) at_once = s->t.count;
    OCL_TRY(ocl_scratch(&s->items[0], s->call, (size_t)at_once * lane));
    OCL_TRY(ocl_scratch(&s->items[1], s->call, s->n > RUN ? (size_t)at_once * lane : 1));
    for (int64_t first = 0; first < s->t.count; first += at_once) {
        const int64_t rest = s->t.count - first;
        OCL_TRY(sort_lanes(s, first, rest < at_once ? rest : at_once));
    }
    return TSR_OK;
}

/* Values that go where x is would be read after they were written: x is copied first. */
static tsr_status copy_if_shared(sorting *s, cl_mem *copy)
{
    ocl_place at;
    size_t bytes = 0;
    if (!s->has_values || s->operands[0].mem != s->operands[2].mem) return TSR_OK;
    OCL_TRY(ocl_find(&at, s->call->op->in[0]->data));
    OCL_TRY(ocl_buffer_size(&bytes, s->call->op->in[0]->data));
    OCL_TRY(ocl_scratch(copy, s->call, bytes));
    s->operands[2].mem = *copy;
    const cl_int error =
        ocl.clEnqueueCopyBuffer(s->call->stream->queue, at.mem, *copy, 0, 0, bytes, 0, NULL, NULL);
    return ocl_queued(s->call->stream, error, "clEnqueueCopyBuffer");
}

static tsr_status run(const ocl_call *call)
{
    sorting s = { .call = call };
    cl_mem copy = NULL;
    OCL_TRY(see(&s));
    tsr_status status = copy_if_shared(&s, &copy);
    if (status == TSR_OK) status = sort_all(&s);
    for (int i = 0; i < 2; i++)
        if (s.items[i]) (void)ocl.clReleaseMemObject(s.items[i]);
    if (copy) (void)ocl.clReleaseMemObject(copy);
    return status;
}

const ocl_runner ocl_runner_sort = { can, run };

static tsr_status run_search(const ocl_call *call)
{
    ocl_nest t;
    cl_mem mems[2];
    ocl_operand sorted = { .mem = NULL };
    ocl_launch l;
    const tsr_tensor *z = call->op->out[0], *x = call->op->in[0], *list = call->op->in[1];
    OCL_TRY(ocl_nest_of(&t, mems, 2, (const tsr_tensor *const[]){ z, x }));
    if (list->shape[0] > 0) OCL_TRY(ocl_see(&sorted, list));
    OCL_TRY(ocl_begin(&l, call, "sort", "search", ""));
    ocl_arg_mem(&l, mems[0]);
    ocl_arg_mem(&l, mems[1]);
    ocl_arg_mem(&l, sorted.mem ? sorted.mem : mems[1]);
    ocl_arg_nest(&l, &t);
    ocl_arg_long(&l, sorted.base);
    ocl_arg_long(&l, sorted.stride[0]);
    ocl_arg_long(&l, list->shape[0]);
    ocl_arg_int(&l, ((const tsr_search_params *)call->op->params)->right);
    return ocl_end(&l, t.count);
}

const ocl_runner ocl_runner_search = { can, run_search };
