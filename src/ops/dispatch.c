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
    const tsri_op_traits *traits;
    tsri_operands      operands;
    bool               promotes;              /* operand i comes to dtype[i]; else all keep theirs */
    bool               by_tile;               /* the CPU converts operands of other dtypes by tiles */
    tsr_dtype          dtype[TSR_OP_MAX_IN];
    tsri_results       results;
    tsr_desc           desc[TSR_OP_MAX_OUT];
    tsr_tensor         view;                  /* of a result, where the backend sees it otherwise */
} context;

static const char *operand_name(const context *x, int i)
{
    return x->call->names ? x->call->names[i] : x->parsed->signature.operand[i].name;
}

static const char *result_name(const context *x, int i)
{
    const tsri_signature_view *s = &x->parsed->signature;
    return x->call->nout == 1 ? "out" : s->operand[s->noperands - s->nresults + i].name;
}

static TSRI_ALWAYS_INLINE tsr_status check_operands(context *x)
{
    const tsri_call *c = x->call;
    for (int i = 0; i < c->nout; i++) {
        TSRI_CHECK(c->out[i], TSR_ENULL, "%s: %s is NULL", x->name, result_name(x, i));
        for (int k = 0; k < i; k++)
            TSRI_CHECK(c->out[i] != c->out[k], TSR_EINVAL, "%s: %s and %s are the same handle", x->name,
                       result_name(x, k), result_name(x, i));
    }
    for (int i = 0; i < c->nin; i++) {
        x->operands.in[i] = c->in[i];
        x->operands.temporary[i] = NULL;
        if (c->in[i] || !(x->traits->optional >> i & 1))
            TSRI_TRY(tsri_check_allocated(x->name, operand_name(x, i), c->in[i]));
    }
    return TSR_OK;
}

/* Finds the dtypes that operands are converted to: those that share a dtype name come to one dtype. */
static TSRI_ALWAYS_INLINE tsr_status promote(context *x)
{
    const tsr_tensor *const *in = x->operands.in;
    const int nin = x->call->nin;
    const tsri_dtype_rule *rule = &x->parsed->rule;
    x->promotes = x->by_tile = false;
    if (TSRI_LIKELY(tsri_keep_dtypes(rule, nin, in))) return TSR_OK;
    x->promotes = true;
    return tsri_dtypes_of(x->dtype, x->name, x->call->kind, nin, in, rule);
}

static bool comes_to_another(const context *x, int i)
{
    return x->promotes && x->operands.in[i] && x->operands.in[i]->dtype != x->dtype[i];
}

/* The desc of operand i, with the dtype that it is converted to. */
static TSRI_ALWAYS_INLINE const tsr_desc *desc_of(context *x, int i)
{
    const tsr_tensor *t = x->operands.in[i];
    if (TSRI_LIKELY(!comes_to_another(x, i))) return t ? &t->desc : NULL;
    tsr_desc *d = &x->operands.view[i].desc;
    tsri_desc_copy(d, &t->desc);
    d->dtype = x->dtype[i];
    return d;
}

/* The first operand whose dtype, or, unless any_dims, whose number of dims the op does not take; n: none. */
static TSRI_ALWAYS_INLINE int find_refused(const tsri_dtype_rule *rule, bool any_dims, int n,
                                           const tsr_desc *const *in)
{
    for (int i = 0; i < n; i++) {
        const tsr_desc *d = in[i];
        if (!d) continue;
        if (!(rule->accepts[i] >> d->dtype & 1)) return i;
        if (!any_dims && (d->ndim < rule->least[i] || d->ndim > rule->most[i])) return i;
    }
    return n;
}

/* Fails with a message that says what is wrong with operand i. */
static TSRI_COLD tsr_status blame_operand(const char *name, const char *operand, const tsri_parsed *p, int i,
                                          int n, const tsr_desc *const *in)
{
    if (p->rule.accepts[i] >> in[i]->dtype & 1) return tsri_match(&p->signature, name, n, in, NULL);
    return tsri_fail_dtype(name, operand, p->rule.accepts[i], in[i]);
}

/* Descs are not matched with the signature where the op's own rule checks all that a signature says. */
static TSRI_ALWAYS_INLINE tsr_status infer(tsr_desc *out, const char *name, const char *const *names,
                                           const tsri_parsed *p, const tsri_op_traits *traits,
                                           tsr_op_kind kind, int n, const tsr_desc *const *in,
                                           const void *params)
{
    tsr_bindings bindings;
    const bool unmatched = traits->broadcast || (p->rule.any_sizes && traits->infer);
    const int refused = unmatched && !traits->broadcast ? find_refused(&p->rule, false, n, in)
                                                       : find_refused(&p->rule, true, n, in);
    if (!TSRI_LIKELY(refused == n))
        return blame_operand(name, names ? names[refused] : p->signature.operand[refused].name, p, refused,
                             n, in);
    if (unmatched) return traits->infer(out, name, kind, in, params);
    memset(bindings.bound, 0, sizeof bindings.bound);
    TSRI_TRY(tsri_match(&p->signature, name, n, in, traits->infer ? NULL : &bindings));
    return traits->infer ? traits->infer(out, name, kind, in, params)
                         : tsri_infer_by_signature(out, name, &p->signature, in, &bindings);
}

tsr_status tsri_infer(tsr_desc *out, const char *name, tsr_op_kind kind, int n, const tsr_desc *const *in,
                      const void *params)
{
    return infer(out, name, NULL, tsri_parsed_of(kind), tsri_traits_of(kind), kind, n, in, params);
}

static TSRI_ALWAYS_INLINE tsr_status infer_results(context *x)
{
    const tsri_call *c = x->call;
    const tsr_desc *descs[TSR_OP_MAX_IN];  /* as many as the signature has */
    for (int i = 0; i < x->parsed->rule.nin; i++) descs[i] = i < c->nin ? desc_of(x, i) : NULL;
    return infer(x->desc, x->name, c->names, x->parsed, x->traits, c->kind, c->nin, descs, c->params);
}

/* Results are made where the leading operand is. */
static TSRI_ALWAYS_INLINE tsr_status fit(context *x)
{
    const tsr_tensor *leader = tsri_leader(x->call->nin, x->operands.in);
    for (int i = 0; i < x->call->nout; i++)
        TSRI_TRY(tsri_results_add(&x->results, x->call->out[i], &x->desc[i], leader));
    return TSR_OK;
}

static TSRI_ALWAYS_INLINE bool may_be_in_place(const context *x, int i, int result)
{
    return result == 0 && (x->traits->in_place >> i & 1) &&
           tsri_is_exactly(x->operands.in[i], *x->call->out[result]);
}

/* Replaces operand i by a copy if it overlaps a given result, and may not. */
static TSRI_ALWAYS_INLINE tsr_status separate(context *x, int i)
{
    tsri_operands *o = &x->operands;
    for (int r = 0; r < x->call->nout; r++)
        if (x->results.origin[r] == TSRI_ORIGIN_GIVEN && !may_be_in_place(x, i, r))
            TSRI_TRY(tsri_separate(&o->in[i], &o->temporary[i], *x->call->out[r], TSRI_ORIGIN_GIVEN));
    return TSR_OK;
}

/* Converts operand i: whole, into a temporary, or later tile by tile, where the CPU does that and the result
 * does not overlap it. */
static TSRI_NEVER_INLINE tsr_status convert(context *x, int i)
{
    const tsr_tensor *t = x->operands.in[i], *out = *x->call->out[0];
    if (!x->traits->by_tile || tsri_is_number(t) || out->device != TSR_CPU ||
        (x->results.origin[0] == TSRI_ORIGIN_GIVEN &&
         tsri_overlap(out->data, &out->desc, t->data, &t->desc)))
        return tsri_operand_convert(&x->operands, i, x->dtype[i]);
    x->by_tile = true;
    return TSR_OK;
}

static TSRI_ALWAYS_INLINE tsr_status prepare_operands(context *x)
{
    for (int i = 0; i < x->call->nin; i++) {
        if (!x->operands.in[i]) continue;
        TSRI_TRY(TSRI_LIKELY(!comes_to_another(x, i)) ? separate(x, i) : convert(x, i));
    }
    return TSR_OK;
}

static uint8_t parts_first;

void tsri_prefer_parts(bool on) { tsri_store_release(&parts_first, (uint8_t)on); }

bool tsri_prefers_parts(void) { return tsri_load_acquire(&parts_first); }

/* By the backend, or in parts. */
static TSRI_ALWAYS_INLINE tsr_status run(context *x)
{
    const tsri_call *c = x->call;
    const tsri_op_traits *traits = x->traits;
    tsr_op op;  /* only fields that are read are written: small calls must be quick */
    op.kind = c->kind;
    op.nin = c->nin;
    op.nout = c->nout;
    op.reserved = 0;
    op.params = c->params;
    op.stream = NULL;
    for (int i = 0; i < x->parsed->signature.nresults; i++) op.out[i] = i < c->nout ? *c->out[i] : NULL;
    if (traits->broadcast) TSRI_TRY(traits->broadcast(&x->operands, c->nin, &op.out[0], &x->view));
    for (int i = 0; i < x->parsed->rule.nin; i++) op.in[i] = i < c->nin ? x->operands.in[i] : NULL;
    tsri_planned planned;
    if (x->by_tile) return tsri_op_run_converted(&op, x->dtype);
    if (!traits->parts) return tsri_op_run(&op);
    if (!c->composed && !tsri_prefers_parts() && tsri_op_plan(&planned, &op))
        return tsri_planned_run(&planned, &op);
    const tsr_device before = tsri_work_on(op.out[0]->device);
    const tsr_status s = traits->parts(&op);
    tsri_work_on(before);
    if (!c->composed && op.out[0]->device != TSR_CPU) tsri_count_in_parts(c->kind);
    return s;
}

static TSRI_ALWAYS_INLINE tsr_status prepare_and_run(context *x)
{
    TSRI_TRY(promote(x));
    TSRI_TRY(infer_results(x));
    TSRI_TRY(fit(x));
    TSRI_TRY(prepare_operands(x));
    return run(x);
}

static const tsri_parsed *parsed_of(tsri_composed *c)
{
    const tsri_parsed *p = tsri_load_acquire(&c->parsed);
    return TSRI_LIKELY(p != NULL) ? p : tsri_parse_composed(&c->parsed, c->row, c->signature);
}

static TSRI_ALWAYS_INLINE void open_call(context *x, const tsri_call *call)
{
    tsri_composed *c = call->composed;
    x->call = call;
    x->parsed = c ? parsed_of(c) : tsri_parsed_of(call->kind);
    x->traits = c ? &c->traits : tsri_traits_of(call->kind);
    x->name = call->name ? call->name : c ? c->row : tsri_op_name(call->kind);
}

static TSRI_ALWAYS_INLINE tsr_status dispatch(const tsri_call *call)
{
    context x;
    open_call(&x, call);
    x.results.op = x.name;
    x.results.n = 0;
    TSRI_TRY(check_operands(&x));
    const tsr_status s = prepare_and_run(&x);
    tsri_operands_release(&x.operands, call->nin);
    return TSRI_LIKELY(s == TSR_OK) ? s : tsri_results_end(&x.results, s);
}

tsr_status tsri_dispatch(const tsri_call *call) { return dispatch(call); }

/* Inlined where the number of operands is a constant. */
static TSRI_ALWAYS_INLINE tsr_status dispatch_some(tsr_tensor **out, tsr_op_kind kind,
                                                   tsri_composed *composed, const void *params, int nin,
                                                   const tsr_tensor *const *in)
{
    tsri_call call;
    tsri_call_init(&call, out, kind, composed, params, nin, in);
    return dispatch(&call);
}

tsr_status tsri_dispatch_unary(tsr_tensor **out, tsr_op_kind kind, const void *params, const tsr_tensor *x)
{
    return dispatch_some(out, kind, NULL, params, 1, &x);
}

tsr_status tsri_dispatch_composed(tsr_tensor **out, tsri_composed *composed, const void *params,
                                  const tsr_tensor *x)
{
    return dispatch_some(out, TSR_OP_NONE, composed, params, 1, &x);
}

tsr_status tsri_dispatch_product(tsr_tensor **out, tsri_composed *composed, const void *params,
                                 const tsr_tensor *a, const tsr_tensor *b)
{
    return dispatch_some(out, TSR_OP_MATMUL, composed, params, 2, (const tsr_tensor *const[]){ a, b });
}
