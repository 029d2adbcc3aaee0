/* infer.c - tsr_infer and tsr_op_cost: results and costs of an op from descs alone. */
#include "dispatch.h"
#include "operands.h"
#include "core/mem.h"

/* The call ---------------------------------------------------------------------------- */

typedef struct question {
    const char     *name;
    const tsr_desc *in[TSR_OP_MAX_IN];
    tsr_tensor      like[TSR_OP_MAX_IN];  /* the same as tensors without data */
} question;

static tsr_status open_question(question *q, tsr_op_kind kind, int nin, const tsr_desc *const *in,
                                const void *params)
{
    TSRI_CHECK(kind > TSR_OP_NONE && kind < TSR_OP_COUNT, TSR_EINVAL, "infer: %d is no op", (int)kind);
    const tsr_op_info *info = tsr_op_get_info(kind);
    const tsri_signature_view *s = tsri_signature_of(kind);
    const int most = s->noperands - s->nresults;
    const uint32_t optional = tsri_traits_of(kind)->optional;
    q->name = info->name;
    TSRI_CHECK(nin >= 0 && nin <= most, TSR_EINVAL, "infer: %s takes %d operands, not %d", info->name, most,
               nin);
    TSRI_CHECK(in || nin == 0, TSR_ENULL, "infer: in is NULL");
    TSRI_CHECK(params || tsri_streq(info->params, "none") || kind == TSR_OP_MATMUL ||
                   kind == TSR_OP_MATMUL_I8,
               TSR_ENULL, "infer: params is NULL, but %s has a %s", info->name, info->params);
    for (int i = 0; i < TSR_OP_MAX_IN; i++) {
        q->in[i] = i < nin ? in[i] : NULL;
        if (q->in[i]) TSRI_TRY(tsri_desc_check(info->name, q->in[i]));
        TSRI_CHECK(q->in[i] || i >= most || (optional >> i & 1), TSR_ENULL, "infer: %s: %s is NULL",
                   info->name, s->operand[i].name);
    }
    return TSR_OK;
}

/* Replaces descs by those with the dtypes that the operands are promoted to. */
static tsr_status promote(question *q, tsr_op_kind kind, const tsri_dtype_rule *rule)
{
    tsr_dtype dtypes[TSR_OP_MAX_IN];
    const tsr_tensor *tensors[TSR_OP_MAX_IN];
    for (int i = 0; i < rule->nin; i++)
        tensors[i] = q->in[i] ? tsri_tensor_like(&q->like[i], q->in[i]) : NULL;
    TSRI_TRY(tsri_dtypes_of(dtypes, q->name, kind, rule->nin, tensors, rule));
    for (int i = 0; i < rule->nin; i++) {
        if (!q->in[i]) continue;
        q->like[i].dtype = dtypes[i];
        q->in[i] = &q->like[i].desc;
    }
    return TSR_OK;
}

static tsr_status infer(tsr_desc *out, question *q, tsr_op_kind kind, const void *params)
{
    const tsri_dtype_rule *rule = tsri_rule_of(kind);
    TSRI_TRY(promote(q, kind, rule));
    return tsri_infer(out, q->name, kind, rule->nin, q->in, params);
}

tsr_status tsri_infer_packed(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                             const void *params)
{
    (void)kind; (void)params;
    return tsri_desc_packed(out, name, in[0]->dtype, in[0]->ndim, in[0]->shape);
}

tsr_status tsr_infer(tsr_desc *out, tsr_op_kind kind, int nin, const tsr_desc *const *in, const void *params)
{
    question q;
    tsr_desc made[TSR_OP_MAX_OUT];
    TSRI_CHECK(out, TSR_ENULL, "infer: out is NULL");
    TSRI_TRY(open_question(&q, kind, nin, in, params));
    TSRI_TRY(infer(made, &q, kind, params));
    for (int i = 0; i < tsri_signature_of(kind)->nresults; i++) out[i] = made[i];
    return TSR_OK;
}

/* Cost -------------------------------------------------------------------------------- */

static double bytes_of(const tsr_desc *d)
{
    return (double)tsr_desc_numel(d) * (double)tsri_dtype_size(d->dtype);
}

tsr_status tsr_op_cost(tsr_cost *out, tsr_op_kind kind, int nin, const tsr_desc *const *in,
                       const void *params)
{
    question q;
    tsr_desc made[TSR_OP_MAX_OUT];
    TSRI_CHECK(out, TSR_ENULL, "op_cost: out is NULL");
    TSRI_TRY(open_question(&q, kind, nin, in, params));
    TSRI_TRY(infer(made, &q, kind, params));
    const tsri_work_fn work = tsri_traits_of(kind)->work;
    tsr_cost cost = { 0, tsr_op_get_info(kind)->flops };
    cost.flops *= work ? work(q.in, made, params) : (double)tsr_desc_numel(made);
    for (int i = 0; i < TSR_OP_MAX_IN; i++)
        if (q.in[i]) cost.bytes += bytes_of(q.in[i]);
    for (int i = 0; i < tsri_signature_of(kind)->nresults; i++) cost.bytes += bytes_of(&made[i]);
    *out = cost;
    return TSR_OK;
}
