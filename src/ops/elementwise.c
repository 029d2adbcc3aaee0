/* elementwise.c - every op that works element by element.
 *
 *     check       operands are tensors with memory, of dtypes the op takes
 *     promote     operands that share a dtype name come to one dtype
 *     broadcast   shapes come to one shape
 *     fit         the result is made, or checked
 *     run         by the backend, on operands of equal shape and dtype
 */
#include "backend/registry.h"
#include "dispatch.h"
#include "operands.h"
#include "core/match_int.h"
#include "core/op_info.h"
#include "core/overlap.h"
#include "tessera/ops/elementwise.h"
#include "tessera/view.h"

/* One call. */
typedef struct context {
    tsr_op_kind        kind;
    const char        *name;
    const tsri_parsed *parsed;
    int                nin;
    tsr_dtype          dtype[TSR_OP_MAX_IN];  /* that the operands come to */
    bool               converts;              /* some are of another dtype still: tiles are converted */
    tsri_operands      operands;
} context;

static tsr_status check_operands(context *c, const tsr_tensor *const *in)
{
    for (int i = 0; i < c->nin; i++) {
        if (!TSRI_LIKELY(in[i] && in[i]->dtype != TSR_DTYPE_INVALID && in[i]->data))
            return tsri_check_allocated(c->name, c->parsed->signature.operand[i].name, in[i]);
        c->operands.in[i] = in[i];
        c->operands.temporary[i] = NULL;
    }
    return TSR_OK;
}

/* Dtypes ---------------------------------------------------------------------------- */

static TSRI_COLD tsr_status blame_dtype(const context *c, int i)
{
    return tsri_fail(TSR_EDTYPE,
                     "%s: %s is %s, which it does not take; its signature is %s (tsr_cast converts)", c->name,
                     c->parsed->signature.operand[i].name, TSRI_DESC(&c->operands.in[i]->desc),
                     tsr_op_get_info(c->kind)->signature);
}

static tsr_status promote(context *c)
{
    const tsri_dtype_rule *rule = &c->parsed->rule;
    TSRI_TRY(tsri_dtypes_of(c->dtype, c->name, c->kind, c->nin, c->operands.in, rule));
    for (int i = 0; i < c->nin; i++)
        if (!(rule->accepts[i] >> c->dtype[i] & 1)) return blame_dtype(c, i);
    return TSR_OK;
}

/* The last operand is always one of those that are promoted. */
static tsr_dtype result_dtype(const context *c)
{
    const tsri_dtype_rule *rule = &c->parsed->rule;
    switch (rule->result) {
    case TSRI_RESULT_GROUP: return c->dtype[c->nin - 1];
    case TSRI_RESULT_REAL:  return tsr_dtype_real(c->dtype[c->nin - 1]);
    default:                return rule->fixed;
    }
}

/* Shapes ---------------------------------------------------------------------------- */

static bool all_same_shape(const context *c)
{
    for (int i = 1; i < c->nin; i++)
        if (!tsr_desc_same_shape(&c->operands.in[0]->desc, &c->operands.in[i]->desc)) return false;
    return true;
}

/* The result: packed in the order of the first operand that has its shape. */
static tsr_status result_desc(tsr_desc *out, const context *c)
{
    const tsr_dtype dtype = result_dtype(c);
    const tsr_desc *descs[TSR_OP_MAX_IN];
    int64_t shape[TSR_MAX_NDIM];
    int ndim = 0;
    if (all_same_shape(c)) return tsri_desc_packed_like(out, &c->operands.in[0]->desc, dtype);
    for (int i = 0; i < c->nin; i++) descs[i] = &c->operands.in[i]->desc;
    TSRI_CHECK(tsr_desc_broadcast(&ndim, shape, c->nin, descs) == TSR_OK, TSR_ESHAPE, "%s: %s", c->name,
               tsr_last_error());
    TSRI_TRY(tsri_desc_packed(out, c->name, dtype, ndim, shape));
    for (int i = 0; i < c->nin; i++)
        if (tsr_desc_same_shape(out, descs[i])) return tsri_desc_packed_like(out, descs[i], dtype);
    return TSR_OK;
}

/* Operand i with the result's shape. */
static tsr_status broadcast_operand(tsri_operands *o, int i, const tsr_desc *result)
{
    const tsr_tensor *t = o->in[i];
    if (TSRI_LIKELY(tsr_desc_same_shape(&t->desc, result))) return TSR_OK;
    tsr_tensor *v = &o->view[i];
    const tsr_desc own = t->desc;
    if (t != v) *v = *t;
    TSRI_TRY(tsri_desc_expand(&v->desc, &own, result->ndim, result->shape));
    o->in[i] = v;
    return TSR_OK;
}

/* Calls ------------------------------------------------------------------------------ */

/* Operand i in its dtype: a tile at a time where the CPU runs the op, unless the result overlaps it. */
static tsr_status convert_operand(context *c, int i, const tsr_tensor *out, tsri_origin origin)
{
    const tsr_tensor *t = c->operands.in[i];
    const bool apart =
        origin != TSRI_ORIGIN_GIVEN || !tsri_overlap(out->data, &out->desc, t->data, &t->desc);
    if (tsri_is_number(t) || out->device != TSR_CPU || !apart)
        return tsri_operand_convert(&c->operands, i, c->dtype[i]);
    c->converts = true;
    return TSR_OK;
}

static tsr_status prepare_operands(context *c, const tsr_tensor *out, tsri_origin origin)
{
    tsri_operands *o = &c->operands;
    c->converts = false;
    for (int i = 0; i < c->nin; i++) {
        if (o->in[i]->dtype != c->dtype[i]) TSRI_TRY(convert_operand(c, i, out, origin));
        else if (!tsri_is_exactly(o->in[i], out))
            TSRI_TRY(tsri_separate(&o->in[i], &o->temporary[i], out, origin));
        TSRI_TRY(broadcast_operand(o, i, &out->desc));
    }
    return TSR_OK;
}

static tsr_status run(const context *c, tsr_tensor *out, const void *params)
{
    tsr_op op = { .kind = c->kind, .nin = c->nin, .nout = 1, .out = { out }, .params = params };
    for (int i = 0; i < c->nin; i++) op.in[i] = c->operands.in[i];
    return c->converts ? tsri_op_run_converted(&op, c->dtype) : tsri_op_run(&op);
}

static TSRI_NEVER_INLINE tsr_status prepare_and_run(tsr_tensor **out, tsr_op_kind kind, const void *params,
                                                    int nin, const tsr_tensor *const *in)
{
    context c;
    tsr_desc d;
    tsri_origin origin = TSRI_ORIGIN_GIVEN;
    c.kind = kind;
    c.name = tsri_op_name(kind);
    c.parsed = tsri_parsed_of(kind);
    c.nin = nin;
    TSRI_CHECK(out, TSR_ENULL, "%s: out is NULL", c.name);
    TSRI_TRY(check_operands(&c, in));
    TSRI_TRY(promote(&c));
    TSRI_TRY(result_desc(&d, &c));
    TSRI_TRY(tsri_result(out, &origin, c.name, &d, tsri_leader(nin, in)));
    tsr_status s = prepare_operands(&c, *out, origin);
    if (s == TSR_OK) s = run(&c, *out, params);
    tsri_operands_release(&c.operands, nin);
    return tsri_result_end(out, origin, s);
}

/* The usual call -------------------------------------------------------------------- */

enum { ONE_ROW = 4096 };  /* elements that are not worth a loop */

/* Elements of a desc that is packed in row-major order, with the strides that such a tensor is
 * made with; 0 for any other, and for an empty one. */
static int64_t count_canonical(const tsr_desc *d)
{
    int64_t n = 1;
    for (int i = d->ndim - 1; i >= 0; i--) {
        if (d->stride[i] != n) return 0;
        n = tsri_mul_wrapping(n, d->shape[i]);
    }
    return n;
}

/* A tensor that the host reaches, of this dtype, with d's shape and strides. */
static bool is_like(const tsr_tensor *t, tsr_dtype dtype, const tsr_desc *d)
{
    if (!t->data || t->dtype != dtype || t->ndim != d->ndim || !tsri_is_plain(t)) return false;
    for (int i = 0; i < d->ndim; i++)
        if (t->shape[i] != d->shape[i] || t->stride[i] != d->stride[i]) return false;
    return true;
}

/* Are z and t, of so many bytes each, apart? Distances wrap: the one that is below 0 is larger than any
 * tensor. */
static bool is_apart(const tsr_tensor *z, uintptr_t z_bytes, const tsr_tensor *t, uintptr_t t_bytes)
{
    const uintptr_t to = (uintptr_t)t->data - (uintptr_t)z->data;
    return to >= z_bytes && 0 - to >= t_bytes;
}

/* Operands of one dtype, and a result if there is one, of one shape and contiguous: nothing is to be
 * prepared. How many elements they have, or 0. */
static int64_t count_usual(const tsr_tensor *z, const tsri_dtype_rule *rule, int nin,
                           const tsr_tensor *const *in)
{
    const tsr_tensor *first = in[0];
    if (!first || !first->data || !(rule->usual >> first->dtype & 1)) return 0;
    if ((first->flags & TSR_FLAG_NUMBER) || !tsri_is_plain(first)) return 0;
    const int64_t n = count_canonical(&first->desc);
    for (int i = 1; i < nin; i++)
        if (!in[i] || (in[i]->flags & TSR_FLAG_NUMBER) || !is_like(in[i], first->dtype, &first->desc))
            return 0;
    if (!z) return n;
    const tsr_dtype dtype = rule->result == TSRI_RESULT_FIXED ? rule->fixed : first->dtype;
    if ((z->flags & TSR_FLAG_READONLY) || !is_like(z, dtype, &first->desc)) return 0;
    const uintptr_t z_bytes = (uintptr_t)(n * tsri_dtype_size(dtype));
    const uintptr_t bytes = (uintptr_t)(n * tsri_dtype_size(first->dtype));
    for (int i = 0; i < nin; i++)
        if (!is_apart(z, z_bytes, in[i], bytes) && !(in[i]->data == z->data && dtype == first->dtype))
            return 0;
    return n;
}

static tsr_status make_usual(tsr_tensor **out, tsr_op_kind kind, const tsri_dtype_rule *rule,
                             const tsr_tensor *like)
{
    tsr_desc d;
    const char *name = tsri_op_name(kind);
    if (rule->result != TSRI_RESULT_FIXED) return tsri_make(out, name, &like->desc, TSR_CPU, TSR_MEMORY_HOST);
    tsri_desc_copy(&d, &like->desc);
    d.dtype = rule->fixed;
    return tsri_make(out, name, &d, TSR_CPU, TSR_MEMORY_HOST);
}

static tsr_status run_usual(tsr_tensor *out, tsr_op_kind kind, const void *params, int64_t n, int nin,
                            const tsr_tensor *const *in)
{
    if (n <= ONE_ROW && tsri_host->run_row(kind, params, n, out, nin, in)) return TSR_OK;
    tsr_op op = { .kind = kind, .nin = nin, .nout = 1, .out = { out }, .params = params };
    for (int i = 0; i < nin; i++) op.in[i] = in[i];
    return tsri_op_run(&op);
}

/* One copy for all ops: the functions below only say which it is. */
TSRI_NEVER_INLINE tsr_status tsri_elementwise(tsr_tensor **out, tsr_op_kind kind, const void *params, int nin,
                                              const tsr_tensor *const *in)
{
    const tsri_dtype_rule *rule = tsri_rule_of(kind);
    const int64_t n = out ? count_usual(*out, rule, nin, in) : 0;
    if (!TSRI_LIKELY(n > 0)) return prepare_and_run(out, kind, params, nin, in);
    if (*out) return run_usual(*out, kind, params, n, nin, in);
    TSRI_TRY(make_usual(out, kind, rule, in[0]));
    return tsri_result_end(out, TSRI_ORIGIN_MADE, run_usual(*out, kind, params, n, nin, in));
}

tsr_status tsri_infer_elementwise(tsr_desc *out, const char *name, tsr_op_kind kind,
                                  const tsr_desc *const *in, const void *params)
{
    context c = { .kind = kind, .name = name, .parsed = tsri_parsed_of(kind) };
    (void)params;
    c.nin = c.parsed->rule.nin;
    for (int i = 0; i < c.nin; i++) c.operands.in[i] = tsri_tensor_like(&c.operands.view[i], in[i]);
    TSRI_TRY(promote(&c));
    return result_desc(out, &c);
}

/* The ops --------------------------------------------------------------------------- */

#define UNARY(ID, name, ...)                                                                            \
    tsr_status tsr_##name(tsr_tensor **out, const tsr_tensor *x)                                        \
    { return tsri_elementwise(out, TSR_OP_##ID, NULL, 1, (const tsr_tensor *const[]){ x }); }
#define BINARY(ID, name, ...)                                                                           \
    tsr_status tsr_##name(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y)                   \
    { return tsri_elementwise(out, TSR_OP_##ID, NULL, 2, (const tsr_tensor *const[]){ x, y }); }
#define TERNARY(ID, name, ...)                                                                          \
    tsr_status tsr_##name(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y, const tsr_tensor *w) \
    { return tsri_elementwise(out, TSR_OP_##ID, NULL, 3, (const tsr_tensor *const[]){ x, y, w }); }
#define UNARY_A(ID, name, ...)                                                                          \
    tsr_status tsr_##name(tsr_tensor **out, const tsr_tensor *x, double a)                              \
    {                                                                                                   \
        const tsr_pair_params params = { a, 0 };                                                        \
        return tsri_elementwise(out, TSR_OP_##ID, &params, 1, (const tsr_tensor *const[]){ x });        \
    }
#define TERNARY_A(ID, name, ...)                                                                           \
    tsr_status tsr_##name(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y, const tsr_tensor *w, \
                          double a)                                                                        \
    {                                                                                                      \
        const tsr_pair_params params = { a, 0 };                                                           \
        return tsri_elementwise(out, TSR_OP_##ID, &params, 3, (const tsr_tensor *const[]){ x, y, w });     \
    }
#define UNARY_AB(ID, name, ...)  /* these look at their parameters: below */
#include "tessera/op.def"

tsr_status tsr_hardtanh(tsr_tensor **out, const tsr_tensor *x, double low, double high)
{
    const tsr_pair_params params = { low, high };
    TSRI_CHECK(low <= high, TSR_EINVAL, "hardtanh: low is %g, above high, which is %g", low, high);
    return tsri_elementwise(out, TSR_OP_HARDTANH, &params, 1, (const tsr_tensor *const[]){ x });
}
