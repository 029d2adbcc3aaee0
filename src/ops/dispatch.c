/* dispatch.c - from a call to a backend, led by the op's signature. */
#include "dispatch.h"
#include "backend/device_run.h"
#include "core/match_int.h"
#include "core/op_info.h"
#include "core/overlap.h"
#include "operands.h"

/* One call. */
typedef struct context {
    const tsri_call   *call;
    const char        *name;
    const tsri_parsed *parsed;
    tsri_operands      operands;
    tsri_origin        origin[TSR_OP_MAX_OUT];
    tsr_desc           desc[TSR_OP_MAX_OUT];
} context;

static TSRI_ALWAYS_INLINE tsr_status check_operands(context *x)
{
    const tsri_call *c = x->call;
    const tsr_signature *s = &x->parsed->signature;
    for (int i = 0; i < c->nout; i++)
        TSRI_CHECK(c->out[i], TSR_ENULL, "%s: %s is NULL", x->name,
                   c->nout == 1 ? "out" : s->operand[c->nin + i].name);
    for (int i = 0; i < c->nout; i++)
        for (int k = 0; k < i; k++)
            TSRI_CHECK(c->out[i] != c->out[k], TSR_EINVAL, "%s: two results are to go into one handle",
                       x->name);
    for (int i = 0; i < c->nin; i++) {
        x->operands.in[i] = c->in[i];
        x->operands.temporary[i] = NULL;
        if (c->in[i] || !(tsri_traits_of(c->kind)->optional >> i & 1))
            TSRI_TRY(tsri_check_allocated(x->name, s->operand[i].name, c->in[i]));
    }
    return TSR_OK;
}

/* Operands with one dtype name come to one dtype. */
static TSRI_ALWAYS_INLINE tsr_status promote(context *x)
{
    tsr_dtype dtypes[TSR_OP_MAX_IN];
    tsri_operands *o = &x->operands;
    const int nin = x->call->nin;
    const tsri_dtype_rule *rule = &x->parsed->rule;
    if (TSRI_LIKELY(nin == 0)) return TSR_OK;
    if (TSRI_LIKELY(o->in[0] && tsri_same_dtypes(nin, o->in) && tsri_takes_dtype(rule, o->in[0])))
        return TSR_OK;
    TSRI_TRY(tsri_dtypes_of(dtypes, x->name, x->call->kind, nin, o->in, rule));
    for (int i = 0; i < nin; i++) TSRI_TRY(tsri_operand_convert(o, i, dtypes[i]));
    return TSR_OK;
}

/* Is there nothing that matching the signature would find? Then only the op's own rule is asked. */
static TSRI_ALWAYS_INLINE bool matches_at_sight(const context *x)
{
    const tsri_dtype_rule *rule = &x->parsed->rule;
    if (!rule->any_shape || !tsri_traits_of(x->call->kind)->infer) return false;
    for (int i = 0; i < x->call->nin; i++)
        if (!x->operands.in[i] || !(rule->accepts[i] >> x->operands.in[i]->dtype & 1)) return false;
    return true;
}

static TSRI_ALWAYS_INLINE tsr_status infer(context *x)
{
    const tsri_call *c = x->call;
    const tsri_op_traits *traits = tsri_traits_of(c->kind);
    const tsr_desc *descs[TSR_OP_MAX_IN];  /* as many as the signature has */
    tsr_bindings bindings;
    for (int i = 0; i < x->parsed->rule.nin; i++)
        descs[i] = i < c->nin && x->operands.in[i] ? &x->operands.in[i]->desc : NULL;
    if (matches_at_sight(x)) return traits->infer(x->desc, x->name, c->kind, descs, c->params);
    memset(bindings.bound, 0, sizeof bindings.bound);
    TSRI_TRY(tsr_match(&x->parsed->signature, x->name, c->nin, descs, &bindings));
    return traits->infer ? traits->infer(x->desc, x->name, c->kind, descs, c->params)
                         : tsri_infer_by_signature(x->desc, x->name, c->kind, descs, &bindings);
}

/* Results are made where the first operand is. */
static TSRI_ALWAYS_INLINE tsr_status fit(context *x, int *made)
{
    const tsr_tensor *first = NULL;
    for (int i = x->call->nin; i-- > 0;)
        if (x->operands.in[i]) first = x->operands.in[i];
    for (*made = 0; *made < x->call->nout; (*made)++)
        TSRI_TRY(tsri_result_in(x->call->out[*made], &x->origin[*made], x->name, &x->desc[*made],
                                first ? first->device : TSR_CPU,
                                first ? tsri_memory_beside(first) : TSR_MEMORY_HOST));
    return TSR_OK;
}

static TSRI_ALWAYS_INLINE bool may_be_in_place(const context *x, int i, int result)
{
    return result == 0 && (tsri_traits_of(x->call->kind)->in_place >> i & 1) &&
           tsri_is_exactly(x->operands.in[i], *x->call->out[result]);
}

static TSRI_ALWAYS_INLINE tsr_status separate(context *x)
{
    tsri_operands *o = &x->operands;
    for (int r = 0; r < x->call->nout; r++) {
        const tsr_tensor *out = *x->call->out[r];
        if (x->origin[r] != TSRI_ORIGIN_GIVEN) continue;
        for (int k = 0; k < r; k++) {
            const tsr_tensor *other = *x->call->out[k];
            TSRI_CHECK(!tsri_overlap(out->data, &out->desc, other->data, &other->desc), TSR_EOVERLAP,
                       "%s: the results overlap each other", x->name);
        }
        for (int i = 0; i < x->call->nin; i++)
            if (o->in[i] && !may_be_in_place(x, i, r))
                TSRI_TRY(tsri_separate(&o->in[i], &o->temporary[i], out, x->origin[r]));
    }
    return TSR_OK;
}

static uint8_t parts_first;

void tsri_prefer_parts(bool on) { tsri_store_release(&parts_first, (uint8_t)on); }

/* To the backend, or in parts. */
static TSRI_ALWAYS_INLINE tsr_status run(context *x)
{
    const tsri_call *c = x->call;
    const tsri_op_traits *traits = tsri_traits_of(c->kind);
    tsr_op op;  /* written as far as it is read: this runs once a call */
    op.kind = c->kind;
    op.nin = c->nin;
    op.nout = c->nout;
    op.reserved = 0;
    op.params = c->params;
    op.stream = NULL;
    for (int i = 0; i < x->parsed->rule.nin; i++) op.in[i] = i < c->nin ? x->operands.in[i] : NULL;
    for (int i = 0; i < x->parsed->signature.nresults; i++) op.out[i] = i < c->nout ? *c->out[i] : NULL;
    tsri_planned planned;
    if (!traits->parts) return tsri_op_run(&op);
    if (!tsri_load_acquire(&parts_first) && tsri_op_plan(&planned, &op))
        return tsri_planned_run(&planned, &op);
    const tsr_device before = tsri_work_on(op.out[0]->device);
    const tsr_status s = traits->parts(&op);
    tsri_work_on(before);
    if (op.out[0]->device != TSR_CPU) tsri_count_in_parts(c->kind);
    return s;
}

static TSRI_ALWAYS_INLINE tsr_status prepare_and_run(context *x, int *made)
{
    TSRI_TRY(promote(x));
    TSRI_TRY(infer(x));
    TSRI_TRY(fit(x, made));
    TSRI_TRY(separate(x));
    return run(x);
}

static TSRI_ALWAYS_INLINE tsr_status dispatch(const tsri_call *call)
{
    int made = 0;
    context x;
    x.call = call;
    x.name = call->name ? call->name : tsri_op_name(call->kind);
    x.parsed = tsri_parsed_of(call->kind);
    TSRI_TRY(check_operands(&x));
    tsr_status s = prepare_and_run(&x, &made);
    tsri_operands_release(&x.operands, call->nin);
    while (made-- > 0) s = tsri_result_end(call->out[made], x.origin[made], s);
    return s;
}

tsr_status tsri_dispatch(const tsri_call *call) { return dispatch(call); }

/* The same, with loops that the compiler knows to be of one. */
tsr_status tsri_dispatch_unary(tsr_tensor **out, tsr_op_kind kind, const void *params, const tsr_tensor *x)
{
    tsri_call call;
    call.kind = kind;
    call.params = params;
    call.nin = call.nout = 1;
    call.in[0] = x;
    call.out[0] = out;
    call.name = NULL;
    return dispatch(&call);
}
