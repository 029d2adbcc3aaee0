/* elementwise.c - one road for every op that works element by element.
 *
 *     check       operands are tensors with memory, of dtypes the op takes
 *     promote     operands that share a dtype name come to one dtype
 *     broadcast   shapes come to one shape
 *     fit         the result is made, or checked
 *     hand over   operands of equal shape and dtype go to the backend
 */
#include "road.h"
#include "backend/registry.h"
#include "core/atomic.h"
#include "core/overlap.h"
#include "tessera/match.h"
#include "tessera/move.h"
#include "tessera/ops/elementwise.h"
#include "tessera/view.h"

/* Everything about one call. Operands are seen through `view` where they need
 * another shape or dtype than they have. */
typedef struct call {
    tsr_op_kind            kind;
    const char            *name;
    const tsri_dtype_rule *rule;
    int                    nin;
    const tsr_tensor      *in[TSR_OP_MAX_IN];
    tsr_tensor             view[TSR_OP_MAX_IN];
    tsr_tensor            *aside[TSR_OP_MAX_IN];   /* copies to release */
    unsigned char          number[TSR_OP_MAX_IN][16];
    tsr_dtype              dtype;                  /* that the named operands come to */
} call;

/* The operand's name, for a message. */
static const char *operand_name(char out[TSR_MATCH_NAME], tsr_op_kind kind, int i)
{
    tsr_signature s;
    out[0] = '\0';
    if (tsr_signature_parse(&s, tsr_op_get_info(kind)->signature) != TSR_OK) return out;
    for (int c = 0; c < TSR_MATCH_NAME; c++) out[c] = s.operand[i].name[c];
    return out;
}

static bool is_number(const tsr_tensor *t) { return (t->flags & TSR_FLAG_NUMBER) != 0; }

static TSRI_COLD tsr_status blame_dtype(const call *c, int i)
{
    char name[TSR_MATCH_NAME];
    return tsri_fail(TSR_EDTYPE, "%s: %s is %s, which it does not take; its signature is %s (tsr_cast converts)",
                     c->name, operand_name(name, c->kind, i), TSRI_DESC(&c->in[i]->desc),
                     tsr_op_get_info(c->kind)->signature);
}

/* Dtypes ---------------------------------------------------------------------------- */

/* May a number of this kind stand where elements are of the other? */
static bool number_fits(tsr_kind number, tsr_kind kind)
{
    switch (number) {
    case TSR_BOOLEAN: return true;
    case TSR_SIGNED:
    case TSR_UNSIGNED: return kind != TSR_BOOLEAN;
    case TSR_FLOATING: return kind == TSR_FLOATING || kind == TSR_COMPLEX;
    default: return kind == TSR_COMPLEX;
    }
}

static tsr_status promote(call *c)
{
    c->dtype = TSR_DTYPE_INVALID;
    for (int pass = 0; pass < 2 && c->dtype == TSR_DTYPE_INVALID; pass++)  /* numbers count only among themselves */
        for (int i = 0; i < c->nin; i++) {
            const tsr_tensor *t = c->in[i];
            if (!c->rule->grouped[i] || (pass == 0 && is_number(t)) || c->dtype == t->dtype) continue;
            if (c->dtype == TSR_DTYPE_INVALID) c->dtype = t->dtype;
            else TSRI_CHECK(tsr_dtype_promote(&c->dtype, c->dtype, t->dtype) == TSR_OK, TSR_EDTYPE,
                            "%s: %s and %s do not mix (tsr_cast converts)", c->name, tsr_dtype_name(c->dtype),
                            TSRI_DESC(&t->desc));
        }
    const tsr_kind kind = tsr_dtype_kind(c->dtype);
    for (int i = 0; i < c->nin; i++) {
        const tsr_tensor *t = c->in[i];
        const tsr_dtype dtype = c->rule->grouped[i] ? c->dtype : t->dtype;
        if (!(c->rule->accepts[i] >> dtype & 1)) return blame_dtype(c, i);
        TSRI_CHECK(!is_number(t) || !c->rule->grouped[i] || number_fits(tsr_dtype_kind(t->dtype), kind), TSR_EDTYPE,
                   "%s: a %s number does not fit %s", c->name, tsr_kind_name(tsr_dtype_kind(t->dtype)),
                   tsr_dtype_name(c->dtype));
    }
    return TSR_OK;
}

static tsr_dtype result_dtype(const call *c)
{
    switch (c->rule->result) {
    case TSRI_RESULT_GROUP: return c->dtype;
    case TSRI_RESULT_REAL:  return tsr_dtype_real(c->dtype);
    default:                return c->rule->fixed;
    }
}

/* Shapes ---------------------------------------------------------------------------- */

static bool all_same_shape(const call *c)
{
    for (int i = 1; i < c->nin; i++)
        if (!tsr_desc_same_shape(&c->in[0]->desc, &c->in[i]->desc)) return false;
    return true;
}

/* The result: packed in the order of the first operand that has its shape. */
static tsr_status result_desc(tsr_desc *out, const call *c)
{
    const tsr_dtype dtype = result_dtype(c);
    const tsr_desc *descs[TSR_OP_MAX_IN];
    int64_t shape[TSR_MAX_NDIM];
    int ndim = 0;
    if (all_same_shape(c)) return tsri_desc_packed_like(out, &c->in[0]->desc, dtype);
    for (int i = 0; i < c->nin; i++) descs[i] = &c->in[i]->desc;
    TSRI_CHECK(tsr_desc_broadcast(&ndim, shape, c->nin, descs) == TSR_OK, TSR_ESHAPE, "%s: %s", c->name,
               tsr_last_error());
    TSRI_TRY(tsri_desc_packed(out, c->name, dtype, ndim, shape));
    for (int i = 0; i < c->nin; i++)
        if (tsr_desc_same_shape(out, descs[i])) return tsri_desc_packed_like(out, descs[i], dtype);
    return TSR_OK;
}

/* Operands -------------------------------------------------------------------------- */

/* Sees operand i with the result's shape. */
static tsr_status broadcast_operand(call *c, int i, const tsr_desc *result)
{
    const tsr_tensor *t = c->in[i];
    if (TSRI_LIKELY(tsr_desc_same_shape(&t->desc, result))) return TSR_OK;
    tsr_tensor *v = &c->view[i];
    const tsr_desc had = t->desc;
    if (t != v) *v = *t;
    TSRI_TRY(tsri_desc_expand(&v->desc, &had, result->ndim, result->shape));
    c->in[i] = v;
    return TSR_OK;
}

/* A number in the dtype that the tensors have. */
static tsr_status place_number(call *c, int i)
{
    tsr_scalar value;
    tsr_tensor *v = &c->view[i];
    TSRI_TRY(tsr_scalar_load(&value, c->in[i]->dtype, c->in[i]->data));
    TSRI_TRY(tsr_scalar_store(c->number[i], c->dtype, value));
    *v = *c->in[i];
    v->data = c->number[i];
    v->dtype = c->dtype;
    c->in[i] = v;
    return TSR_OK;
}

/* Brings operand i to the dtype of its group. */
static tsr_status convert_operand(call *c, int i)
{
    if (!c->rule->grouped[i] || c->in[i]->dtype == c->dtype) return TSR_OK;
    if (is_number(c->in[i])) return place_number(c, i);
    TSRI_TRY(tsr_cast(&c->aside[i], c->in[i], c->dtype));
    c->in[i] = c->aside[i];
    return TSR_OK;
}

/* An operand that the result partly overlaps is copied first. */
static tsr_status separate_operand(call *c, int i, const tsr_tensor *out)
{
    const tsr_tensor *t = c->in[i];
    if (t->data == out->data && tsr_desc_same(&t->desc, &out->desc)) return TSR_OK;
    if (!tsri_overlap(out->data, &out->desc, t->data, &t->desc)) return TSR_OK;
    tsr_tensor *copy = NULL;
    TSRI_TRY(tsr_clone(&copy, t));
    tsr_release(&c->aside[i]);
    c->in[i] = c->aside[i] = copy;
    return TSR_OK;
}

static tsr_status prepare_operands(call *c, const tsr_tensor *out, bool had_memory)
{
    for (int i = 0; i < c->nin; i++) {
        TSRI_TRY(convert_operand(c, i));
        if (had_memory) TSRI_TRY(separate_operand(c, i, out));
        TSRI_TRY(broadcast_operand(c, i, &out->desc));
    }
    return TSR_OK;
}

static tsr_status hand_over(call *c, tsr_tensor *out, const void *params)
{
    tsr_op op = { .kind = c->kind, .nin = c->nin, .nout = 1, .out = { out }, .params = params };
    for (int i = 0; i < c->nin; i++) op.in[i] = c->in[i];
    return tsri_op_run(&op);
}

static TSRI_NEVER_INLINE tsr_status prepare_and_run(tsr_tensor **out, tsr_op_kind kind, const void *params, int nin,
                                                    const tsr_tensor *const *in)
{
    call c;
    tsr_desc d;
    tsri_fresh fresh = TSRI_HAD;
    c.kind = kind;
    c.name = tsr_op_get_info(kind)->name;
    c.rule = tsri_rule_of(kind);
    c.nin = nin;
    TSRI_CHECK(out, TSR_ENULL, "%s: out is NULL", c.name);
    for (int i = 0; i < nin; i++) {
        char name[TSR_MATCH_NAME];
        if (!TSRI_LIKELY(in[i] && in[i]->dtype != TSR_DTYPE_INVALID && in[i]->data))
            return tsri_check_allocated(c.name, operand_name(name, kind, i), in[i]);
        c.in[i] = in[i];
        c.aside[i] = NULL;
    }
    TSRI_TRY(promote(&c));
    TSRI_TRY(result_desc(&d, &c));
    TSRI_TRY(tsri_result(out, &fresh, c.name, &d, tsri_leader(nin, in)));
    tsr_status s = prepare_operands(&c, *out, fresh == TSRI_HAD);
    if (s == TSR_OK) s = hand_over(&c, *out, params);
    for (int i = 0; i < nin; i++) tsr_release(&c.aside[i]);
    return tsri_result_end(out, fresh, s);
}

/* The usual call -------------------------------------------------------------------- */

enum { FEW = 4096 };  /* elements that are one row, and not worth a loop */

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

/* A tensor that the host reaches, of this dtype, that lies as d does. */
static bool lies_like(const tsr_tensor *t, tsr_dtype dtype, const tsr_desc *d)
{
    if (!t->data || t->dtype != dtype || t->ndim != d->ndim || !tsri_is_plain(t)) return false;
    for (int i = 0; i < d->ndim; i++)
        if (t->shape[i] != d->shape[i] || t->stride[i] != d->stride[i]) return false;
    return true;
}

/* Are z and t, of so many bytes each, apart? Distances wrap: the one that is below 0 is larger than any tensor. */
static bool is_apart(const tsr_tensor *z, uintptr_t z_bytes, const tsr_tensor *t, uintptr_t t_bytes)
{
    const uintptr_t to = (uintptr_t)t->data - (uintptr_t)z->data;
    return to >= z_bytes && 0 - to >= t_bytes;
}

/* Operands of one dtype, and a result if there is one, that all lie alike: nothing is to be prepared.
 * How many elements they have, or 0. */
static int64_t count_usual(const tsr_tensor *z, const tsri_dtype_rule *rule, int nin, const tsr_tensor *const *in)
{
    const tsr_tensor *first = in[0];
    if (!first || !first->data || !(rule->usual >> first->dtype & 1)) return 0;
    if ((first->flags & TSR_FLAG_NUMBER) || !tsri_is_plain(first)) return 0;
    const int64_t n = count_canonical(&first->desc);
    for (int i = 1; i < nin; i++)
        if (!in[i] || (in[i]->flags & TSR_FLAG_NUMBER) || !lies_like(in[i], first->dtype, &first->desc)) return 0;
    if (!z) return n;
    const tsr_dtype dtype = rule->result == TSRI_RESULT_FIXED ? rule->fixed : first->dtype;
    if ((z->flags & TSR_FLAG_READONLY) || !lies_like(z, dtype, &first->desc)) return 0;
    const uintptr_t z_bytes = (uintptr_t)(n * tsri_dtype_size(dtype));
    const uintptr_t bytes = (uintptr_t)(n * tsri_dtype_size(first->dtype));
    for (int i = 0; i < nin; i++)
        if (!is_apart(z, z_bytes, in[i], bytes) && !(in[i]->data == z->data && dtype == first->dtype)) return 0;
    return n;
}

static tsr_status make_usual(tsr_tensor **out, tsr_op_kind kind, const tsri_dtype_rule *rule, const tsr_tensor *like)
{
    tsr_desc d;
    const char *name = tsr_op_get_info(kind)->name;
    if (rule->result != TSRI_RESULT_FIXED) return tsri_make(out, name, &like->desc, TSR_CPU, TSR_MEMORY_HOST);
    tsri_desc_copy(&d, &like->desc);
    d.dtype = rule->fixed;
    return tsri_make(out, name, &d, TSR_CPU, TSR_MEMORY_HOST);
}

static tsr_status run_usual(tsr_tensor *out, tsr_op_kind kind, const void *params, int64_t n, int nin,
                            const tsr_tensor *const *in)
{
    if (n <= FEW && tsri_cpu_run_row(kind, params, n, out, nin, in)) return TSR_OK;
    tsr_op op = { .kind = kind, .nin = nin, .nout = 1, .out = { out }, .params = params };
    for (int i = 0; i < nin; i++) op.in[i] = in[i];
    return tsri_op_run(&op);
}

/* Rules that were asked for before. */
static const tsri_dtype_rule *known[TSR_OP_COUNT];

static TSRI_NEVER_INLINE const tsri_dtype_rule *get_to_know(tsr_op_kind kind)
{
    const tsri_dtype_rule *rule = tsri_rule_of(kind);
    tsri_store_release(&known[kind], rule);
    return rule;
}

static inline const tsri_dtype_rule *known_rule(tsr_op_kind kind)
{
    const tsri_dtype_rule *rule = tsri_load_acquire(&known[kind]);
    return TSRI_LIKELY(rule != NULL) ? rule : get_to_know(kind);
}

/* One copy for all ops: the functions below only say which it is. */
TSRI_NEVER_INLINE tsr_status tsri_elementwise(tsr_tensor **out, tsr_op_kind kind, const void *params, int nin,
                                              const tsr_tensor *const *in)
{
    const tsri_dtype_rule *rule = known_rule(kind);
    const int64_t n = out ? count_usual(*out, rule, nin, in) : 0;
    if (!TSRI_LIKELY(n > 0)) return prepare_and_run(out, kind, params, nin, in);
    if (*out) return run_usual(*out, kind, params, n, nin, in);
    TSRI_TRY(make_usual(out, kind, rule, in[0]));
    return tsri_result_end(out, TSRI_MADE, run_usual(*out, kind, params, n, nin, in));
}

tsr_status tsri_infer_elementwise(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                                  const void *params)
{
    call c = { .kind = kind, .name = name, .rule = tsri_rule_of(kind) };
    (void)params;
    c.nin = c.rule->nin;
    for (int i = 0; i < c.nin; i++) c.in[i] = tsri_tensor_like(&c.view[i], in[i]);
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
#define TERNARY_A(ID, name, ...)                                                                        \
    tsr_status tsr_##name(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y, const tsr_tensor *w, double a) \
    {                                                                                                   \
        const tsr_pair_params params = { a, 0 };                                                        \
        return tsri_elementwise(out, TSR_OP_##ID, &params, 3, (const tsr_tensor *const[]){ x, y, w });  \
    }
#define UNARY_AB(ID, name, ...)  /* these look at their parameters: below */
#include "tessera/op.def"

tsr_status tsr_hardtanh(tsr_tensor **out, const tsr_tensor *x, double low, double high)
{
    const tsr_pair_params params = { low, high };
    TSRI_CHECK(low <= high, TSR_EINVAL, "hardtanh: low is %g, above high, which is %g", low, high);
    return tsri_elementwise(out, TSR_OP_HARDTANH, &params, 1, (const tsr_tensor *const[]){ x });
}
