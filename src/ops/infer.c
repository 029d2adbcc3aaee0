/* infer.c - what an op would give and cost, before there is data. */
#include "road.h"
#include "core/mem.h"

/* Rules ----------------------------------------------------------------------------- */

static tsr_status infer_reduce(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                               const void *params)
{
    const tsr_reduce_params *p = params;
    TSRI_CHECK(!(p->axes >> in[0]->ndim), TSR_EINDEX, "%s: axes has bits beyond the %d dims of %s", name,
               (int)in[0]->ndim, TSRI_DESC(in[0]));
    return tsri_infer_reduce(out, kind, in[0], p);
}

typedef struct family_rule {
    const char   *family;
    tsri_infer_fn infer;
} family_rule;

static const family_rule by_family[] = {
    { "elementwise", tsri_infer_elementwise }, { "reduce", infer_reduce }, { "scan", infer_reduce },
    { "matmul", tsri_infer_matmul },
};

static tsri_infer_fn rule_of(tsr_op_kind kind)
{
    const tsri_way *way = tsri_way_of(kind);
    if (way->infer) return way->infer;
    for (size_t i = 0; i < sizeof by_family / sizeof by_family[0]; i++)
        if (tsri_streq(by_family[i].family, tsr_op_get_info(kind)->family)) return by_family[i].infer;
    return NULL;
}

/* Families that promote and broadcast on a road of their own check dims themselves. */
static bool checks_itself(tsr_op_kind kind)
{
    const char *family = tsr_op_get_info(kind)->family;
    return tsri_streq(family, "elementwise") || tsri_streq(family, "matmul");
}

/* The call ---------------------------------------------------------------------------- */

typedef struct question {
    const char     *name;
    const tsr_desc *in[TSR_OP_MAX_IN];
    tsr_desc        cast[TSR_OP_MAX_IN];
} question;

static tsr_status open_question(question *q, tsr_op_kind kind, int nin, const tsr_desc *const *in, const void *params)
{
    TSRI_CHECK(kind > TSR_OP_NONE && kind < TSR_OP_COUNT, TSR_EINVAL, "infer: %d is no op", (int)kind);
    const tsr_op_info *info = tsr_op_get_info(kind);
    const tsr_signature *s = tsri_signature_of(kind);
    const int most = s->noperands - s->nresults;
    const uint32_t optional = tsri_way_of(kind)->optional;
    q->name = info->name;
    TSRI_CHECK(nin >= 0 && nin <= most, TSR_EINVAL, "infer: %s takes %d operands, not %d", info->name, most, nin);
    TSRI_CHECK(in || nin == 0, TSR_ENULL, "infer: in is NULL");
    TSRI_CHECK(params || tsri_streq(info->params, "none") || kind == TSR_OP_MATMUL || kind == TSR_OP_MATMUL_I8, TSR_ENULL,
               "infer: params is NULL, but %s has a %s", info->name, info->params);
    for (int i = 0; i < TSR_OP_MAX_IN; i++) {
        q->in[i] = i < nin ? in[i] : NULL;
        if (q->in[i]) TSRI_TRY(tsri_desc_check(info->name, q->in[i]));
        TSRI_CHECK(q->in[i] || i >= most || (optional >> i & 1), TSR_ENULL, "infer: %s: %s is NULL", info->name,
                   s->operand[i].name);
    }
    return TSR_OK;
}

/* Operands that share a dtype name, in the dtype they come to. */
static tsr_status promote(question *q, const tsr_signature *s)
{
    tsr_dtype dtypes[TSR_OP_MAX_IN];
    const int nin = s->noperands - s->nresults;
    TSRI_TRY(tsri_promote_named(dtypes, q->name, s, nin, q->in));
    for (int i = 0; i < nin; i++) {
        if (!q->in[i] || q->in[i]->dtype == dtypes[i]) continue;
        tsri_desc_copy(&q->cast[i], q->in[i]);
        q->cast[i].dtype = dtypes[i];
        q->in[i] = &q->cast[i];
    }
    return TSR_OK;
}

static tsr_status answer(tsr_desc *out, question *q, tsr_op_kind kind, const void *params)
{
    const tsri_infer_fn rule = rule_of(kind);
    const tsr_signature *s = tsri_signature_of(kind);
    tsr_bindings bindings;
    if (checks_itself(kind)) return rule(out, q->name, kind, q->in, params);
    memset(bindings.bound, 0, sizeof bindings.bound);
    TSRI_TRY(promote(q, s));
    TSRI_TRY(tsr_match(s, q->name, s->noperands - s->nresults, q->in, &bindings));
    return rule ? rule(out, q->name, kind, q->in, params) : tsri_infer_by_signature(out, q->name, kind, q->in, &bindings);
}

tsr_status tsr_infer(tsr_desc *out, tsr_op_kind kind, int nin, const tsr_desc *const *in, const void *params)
{
    question q;
    tsr_desc made[TSR_OP_MAX_OUT];
    TSRI_CHECK(out, TSR_ENULL, "infer: out is NULL");
    TSRI_TRY(open_question(&q, kind, nin, in, params));
    TSRI_TRY(answer(made, &q, kind, params));
    for (int i = 0; i < tsri_signature_of(kind)->nresults; i++) out[i] = made[i];
    return TSR_OK;
}

/* Cost -------------------------------------------------------------------------------- */

static double bytes_of(const tsr_desc *d) { return (double)tsr_desc_numel(d) * (double)tsri_dtype_size(d->dtype); }

/* How often the row's flops are done. */
static double work_of(const question *q, const tsr_desc *out, tsr_op_kind kind, const void *params)
{
    const tsri_way *way = tsri_way_of(kind);
    const char *family = tsr_op_get_info(kind)->family;
    if (way->work) return way->work(q->in, out, params);
    if (tsri_streq(family, "reduce")) return (double)tsr_desc_numel(q->in[0]);
    if (tsri_streq(family, "matmul")) return (double)tsr_desc_numel(out) * (double)q->in[0]->shape[q->in[0]->ndim - 1];
    return (double)tsr_desc_numel(out);
}

tsr_status tsr_op_cost(tsr_cost *out, tsr_op_kind kind, int nin, const tsr_desc *const *in, const void *params)
{
    question q;
    tsr_desc made[TSR_OP_MAX_OUT];
    TSRI_CHECK(out, TSR_ENULL, "op_cost: out is NULL");
    TSRI_TRY(open_question(&q, kind, nin, in, params));
    TSRI_TRY(answer(made, &q, kind, params));
    tsr_cost cost = { 0, tsr_op_get_info(kind)->flops * work_of(&q, made, kind, params) };
    for (int i = 0; i < TSR_OP_MAX_IN; i++)
        if (q.in[i]) cost.bytes += bytes_of(q.in[i]);
    for (int i = 0; i < tsri_signature_of(kind)->nresults; i++) cost.bytes += bytes_of(&made[i]);
    *out = cost;
    return TSR_OK;
}
