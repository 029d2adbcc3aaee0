/* elementwise.c - every op that works element by element: what it gives, how operands are broadcast, and the
 * call that most programs make, of contiguous operands that need no preparation. */
#include "backend/registry.h"
#include "dispatch.h"
#include "operands.h"
#include "core/op_info.h"
#include "tessera/ops/elementwise.h"

/* The rule ---------------------------------------------------------------------------- */

/* The last operand is always one of those that are promoted. */
static tsr_dtype result_dtype(const tsri_dtype_rule *rule, const tsr_desc *const *in)
{
    const tsr_dtype last = in[rule->nin - 1]->dtype;
    switch (rule->result) {
    case TSRI_RESULT_GROUP: return last;
    case TSRI_RESULT_REAL:  return tsr_dtype_real(last);
    default:                return rule->fixed;
    }
}

static bool all_same_shape(int n, const tsr_desc *const *in)
{
    for (int i = 1; i < n; i++)
        if (!tsr_desc_same_shape(in[0], in[i])) return false;
    return true;
}

/* The result: packed in the order of the first operand that has its shape. */
tsr_status tsri_infer_elementwise(tsr_desc *out, const char *name, tsr_op_kind kind,
                                  const tsr_desc *const *in, const void *params)
{
    const tsri_dtype_rule *rule = tsri_rule_of(kind);
    const tsr_dtype dtype = result_dtype(rule, in);
    int64_t shape[TSR_MAX_NDIM];
    int ndim = 0;
    (void)params;
    if (all_same_shape(rule->nin, in)) return tsri_desc_packed_like(out, in[0], dtype);
    TSRI_CHECK(tsr_desc_broadcast(&ndim, shape, rule->nin, in) == TSR_OK, TSR_ESHAPE, "%s: %s", name,
               tsr_last_error());
    TSRI_TRY(tsri_desc_packed(out, name, dtype, ndim, shape));
    for (int i = 0; i < rule->nin; i++)
        if (tsr_desc_same_shape(out, in[i])) return tsri_desc_packed_like(out, in[i], dtype);
    return TSR_OK;
}

tsr_status tsri_broadcast_elementwise(tsri_operands *o, int nin, tsr_tensor **out, tsr_tensor *view)
{
    (void)view;
    for (int i = 0; i < nin; i++) TSRI_TRY(tsri_operand_expand(o, i, (*out)->ndim, (*out)->shape));
    return TSR_OK;
}

static TSRI_NEVER_INLINE tsr_status prepare_and_run(tsr_tensor **out, tsr_op_kind kind, const void *params,
                                                    int nin, const tsr_tensor *const *in)
{
    tsri_call call;
    tsri_call_init(&call, out, kind, NULL, params, nin, in);
    return tsri_dispatch(&call);
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

/* Are z and t, of this many bytes each, apart? A distance below 0 wraps, and so is larger than any tensor. */
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

/* Shared by all ops: the public functions below only name the op. */
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
#define UNARY_AB(ID, name, ...)  /* written by hand below, as they check their parameters */
#include "tessera/op.def"

tsr_status tsr_hardtanh(tsr_tensor **out, const tsr_tensor *x, double low, double high)
{
    const tsr_pair_params params = { low, high };
    TSRI_CHECK(low <= high, TSR_EINVAL, "hardtanh: low is %g, above high, which is %g", low, high);
    return tsri_elementwise(out, TSR_OP_HARDTANH, &params, 1, (const tsr_tensor *const[]){ x });
}
