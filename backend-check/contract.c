/* contract.c - the table of a backend, what it says of ops without data, and calls that are wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "opcheck/op_facts.h"

/* The table ------------------------------------------------------------------------------------ */

static void check_table(trial *t)
{
    const tsr_backend *b = session_of(t)->backend;
    REQUIRE(t, b->abi == TSR_BACKEND_ABI && b->name && b->name[0], "the table has another ABI, or no name");
    REQUIRE(t, b->device_count && b->alloc && b->free && b->supports && b->run,
            "a required entry is missing");
    REQUIRE(t, b->device_count() > session_of(t)->index, "device_count() does not count the device");
    const bool streams[] = { b->stream_create, b->stream_destroy, b->stream_sync,  b->stream_wait,
                             b->event_create,  b->event_destroy,  b->event_record, b->event_sync,
                             b->event_done,    b->event_elapsed };
    for (size_t i = 1; i < sizeof streams / sizeof *streams; i++)
        REQUIRE(t, streams[i] == streams[0],
                "it has some of the entries for streams and events, and not all");
    const bool graphs[] = { b->graph_begin, b->graph_end, b->graph_launch, b->graph_destroy };
    for (size_t i = 1; i < sizeof graphs / sizeof *graphs; i++)
        REQUIRE(t, graphs[i] == graphs[0], "it has some of the entries for graphs, and not all");
    REQUIRE(t, !graphs[0] || streams[0], "it has graphs and no streams");
    REQUIRE(t, !b->upload == !b->download, "it has one of upload and download");
    REQUIRE(t, !b->host_alloc == !b->host_free, "it has one of host_alloc and host_free");
}

static void check_info(trial *t)
{
    const tsr_device_info *info = &session_of(t)->info;
    REQUIRE(t, info->name[0], "the device has no name");
    REQUIRE(t,
            memchr(info->name, 0, sizeof info->name) &&
                memchr(info->capabilities, 0, sizeof info->capabilities),
            "a text of the device does not end");
    REQUIRE(t, info->memory_free <= info->memory_total || info->memory_total == 0,
            "more memory is free than there is");
    REQUIRE(t, info->units >= 0, "the device has %d units", (int)info->units);
}

/* supports() ------------------------------------------------------------------------------------- */

/* Every op has a check of its own; a new one must get one. */
static void check_coverage(trial *t)
{
    check_list all = { 0 };
    char missing[400] = "";
    bool seen[TSR_OP_COUNT] = { false };
    add_op_checks(&all);
    for (int i = 0; i < all.count; i++) seen[all.item[i].op] = true;
    free(all.item);
    for (int k = TSR_OP_NONE + 1; k < TSR_OP_COUNT; k++) {
        const size_t used = strlen(missing);
        if (!seen[k])
            snprintf(missing + used, sizeof missing - used, " %s", tsr_op_get_info((tsr_op_kind)k)->name);
    }
    REQUIRE(t, !missing[0], "ops without a check:%s", missing);
}

/* An elementwise op on tensors that have descs and an address that nobody may read. */
static void ask(trial *t, tsr_op_kind kind, const op_facts *f, tsr_dtype dtype)
{
    static const union {
        void *p;
        uintptr_t n;
    } nowhere = { .n = 0x1000 };
    const tsr_backend *b = session_of(t)->backend;
    tsr_tensor tensors[TSR_OP_MAX_IN + TSR_OP_MAX_OUT];
    tsr_op op = { .kind = kind };
    int64_t shape[TRIAL_RANK];
    const int ndim = random_shape(t, shape, 0, 4, true);
    for (int i = 0; i < f->signature.noperands; i++) {
        const bool is_result = f->signature.operand[i].is_result;
        const tsr_dtype own = f->dtypes[i] >> dtype & 1 ? dtype : TSR_BOOL;
        tsr_tensor *x = &tensors[i];
        memset(x, 0, sizeof *x);
        random_desc(t, &x->desc, own, ndim, shape, !is_result);
        GO_ON(t);
        x->data = nowhere.p;
        x->device = session_of(t)->device;
        x->memory = TSR_MEMORY_DEVICE;
        if (is_result)
            op.out[op.nout++] = x;
        else
            op.in[op.nin++] = x;
    }
    const bool first = b->supports(session_of(t)->index, &op),
               second = b->supports(session_of(t)->index, &op);
    REQUIRE(t, first == second, "supports() says yes and no of %s %s", f->info->name, tsr_dtype_name(dtype));
    if (b->size > offsetof(tsr_backend, plan) && b->plan) {
        tsr_plan plan = { NULL, NULL, NULL, 0 };
        const bool planned = b->plan(session_of(t)->index, &op, &plan);
        REQUIRE(t, planned == first, "plan() and supports() disagree about %s %s", f->info->name,
                tsr_dtype_name(dtype));
        REQUIRE(t, !planned || plan.run, "plan() leaves run empty for %s", f->info->name);
    }
    if (!first && b->why_not)
        REQUIRE(t, b->why_not(session_of(t)->index, &op), "why_not() has no words for %s", f->info->name);
}

static void check_supports(trial *t)
{
    for (int k = TSR_OP_NONE + 1; k < TSR_OP_COUNT && !t->failed; k++) {
        op_facts f;
        if (!op_facts_get(&f, (tsr_op_kind)k) || strcmp(f.info->family, "elementwise") ||
            strcmp(f.info->params, "none"))
            continue;
        for (int d = 1; d < TSR_DTYPE_COUNT && !t->failed; d++)
            if (f.dtypes[k == TSR_OP_WHERE ? 1 : 0] >> d & 1) ask(t, (tsr_op_kind)k, &f, (tsr_dtype)d);
    }
}

/* Bad calls ------------------------------------------------------------------------------------------ */

typedef struct rule {
    const char *name;
    tsr_status (*call)(tsr_tensor **out, const tsr_tensor *matrix, const tsr_tensor *integers,
                       tsr_device device);
    tsr_status wanted;
} rule;

#define CALL(name, expression) \
    static tsr_status name(tsr_tensor **out, const tsr_tensor *matrix, const tsr_tensor *integers, \
                           tsr_device device) \
    { \
        (void)out; \
        (void)matrix; \
        (void)integers; \
        (void)device; \
        return expression; \
    }

CALL(mix_kinds, tsr_add(out, matrix, integers))
CALL(exp_of_integers, tsr_exp(out, integers))
CALL(sizes_differ, tsr_matmul(out, matrix, matrix))
CALL(no_such_axis, tsr_sum(out, matrix, 1, (int[]){ 2 }, false))
CALL(gather_beyond, tsr_gather(out, matrix, integers, 1))
CALL(no_such_device, tsr_to(out, matrix, TSR_NO_DEVICE))
CALL(pointer, tsr_pointer(&(void *){ NULL }, matrix, 2, (int64_t[]){ 1, 1 }))

static tsr_status two_devices(tsr_tensor **out, const tsr_tensor *matrix, const tsr_tensor *integers,
                              tsr_device device)
{
    tsr_tensor *here = NULL;
    (void)integers;
    (void)device;
    TSR_TRY(tsr_ones(&here, TSR_F32, 2, (int64_t[]){ 3, 4 }));
    const tsr_status s = tsr_add(out, matrix, here);
    tsr_release(&here);
    return s;
}

static tsr_status write_repeated(tsr_tensor **out, const tsr_tensor *matrix, const tsr_tensor *integers,
                                 tsr_device device)
{
    tsr_tensor *repeated = NULL;
    (void)out;
    (void)integers;
    (void)device;
    TSR_TRY(tsr_unsqueeze(&repeated, matrix, 0));
    tsr_status s = tsr_expand(&repeated, repeated, 3, (int64_t[]){ 2, 3, 4 });
    if (s == TSR_OK) s = tsr_fill(repeated, TSR_SCALAR(1));
    tsr_release(&repeated);
    return s;
}

static tsr_status read_without_memory(tsr_tensor **out, const tsr_tensor *matrix, const tsr_tensor *integers,
                                      tsr_device device)
{
    tsr_tensor *described = NULL;
    (void)integers;
    TSR_TRY(tsr_declare(&described, tsr_desc_of(matrix), device, TSR_MEMORY_DEFAULT));
    const tsr_status s = tsr_neg(out, described);
    tsr_release(&described);
    return s;
}

static const rule rules[] = {
    { "add: kinds mixed", mix_kinds, TSR_EDTYPE },
    { "exp: integers", exp_of_integers, TSR_EDTYPE },
    { "matmul: sizes differ", sizes_differ, TSR_ESHAPE },
    { "sum: no such axis", no_such_axis, TSR_EINDEX },
    { "gather: index beyond", gather_beyond, TSR_EINDEX },
    { "to: no such device", no_such_device, TSR_EDEVICE },
    { "pointer: memory of the device", pointer, TSR_EDEVICE },
    { "add: operands on two devices", two_devices, TSR_EDEVICE },
    { "fill: repeated", write_repeated, TSR_EOVERLAP },
    { "neg: no memory", read_without_memory, TSR_ESTATE },
};

static tsr_status full_on(tsr_tensor **out, tsr_dtype dtype, int64_t number, tsr_device device)
{
    tsr_tensor *host = NULL;
    TSR_TRY(tsr_full(&host, dtype, 2, (int64_t[]){ 3, 4 }, tsr_scalar_i64(number)));
    const tsr_status s = tsr_to(out, host, device);
    tsr_release(&host);
    return s;
}

static void check_bad_call(trial *t)
{
    enum { MATRIX, INTEGERS, OUT };
    const rule *r = t->check->about;
    const tsr_device device = session_of(t)->device;
    NEED(t, full_on(&t->tensor[MATRIX], TSR_F32, 1, device));
    NEED(t, full_on(&t->tensor[INTEGERS], TSR_I64, 7, device));
    const tsr_status s = r->call(&t->tensor[OUT], t->tensor[MATRIX], t->tensor[INTEGERS], device);
    REQUIRE(t, s == r->wanted, "it gave %s, not %s: %s", tsr_status_name(s), tsr_status_name(r->wanted),
            tsr_last_error());
    REQUIRE(t, !t->tensor[OUT], "a result was left behind");
}

void add_contract_checks(check_list *list)
{
    add_check(list, (check){ .family = "contract", .run = check_table, .every = ONCE }, "the table");
    add_check(list, (check){ .family = "contract", .run = check_info, .every = ONCE },
              "what the device says of itself");
    add_check(list, (check){ .family = "contract", .run = check_coverage, .every = ONCE },
              "every op has a check");
    add_check(list, (check){ .family = "contract", .run = check_supports }, "supports() without data");
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        add_check(list,
                  (check){ .family = "contract", .run = check_bad_call, .about = &rules[i], .every = ONCE },
                  rules[i].name);
}
