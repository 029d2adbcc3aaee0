/* attention.c - attention, and layers made of it.
 *
 * In parts, attention is done for a block of rows at a time: scores of the block with
 * all keys, what may not be seen set to -infinity, softmax, and the product with v. So
 * the memory it takes grows with the number of keys, and not with that of rows. */
#include "attention.h"
#include "core/same_math.h"
#include "core/sizes.h"
#include "tessera/element.h"
#include "tessera/move.h"
#include "tessera/ops/attention.h"
#include "tessera/ops/elementwise.h"
#include "tessera/ops/matmul.h"
#include "tessera/ops/reduce.h"
#include "tessera/ops/shape.h"
#include "tessera/scope.h"
#include "tessera/view.h"

enum { BLOCK_ROWS = 64 };

/* Shapes ---------------------------------------------------------------------------- */

static tsr_status check_heads(const char *name, const tsr_desc *q, int64_t heads, const tsr_desc *k,
                              int64_t kv_heads)
{
    TSRI_CHECK(kv_heads > 0 ? heads % kv_heads == 0 : heads == 0, TSR_ESHAPE,
               "%s: q is %s and k is %s: %lld heads do not divide into %lld", name, TSRI_DESC(q),
               TSRI_DESC(k), (long long)heads, (long long)kv_heads);
    return TSR_OK;
}

static tsr_status check_batch(const char *name, const tsr_desc *q, const char *what, const tsr_desc *t)
{
    bool same = q->ndim == t->ndim;
    for (int i = 0; same && i < q->ndim - 3; i++) same = q->shape[i] == t->shape[i];
    TSRI_CHECK(same, TSR_ESHAPE, "%s: q is %s and %s is %s, which differ in the dims (...)", name,
               TSRI_DESC(q), what, TSRI_DESC(t));
    return TSR_OK;
}

/* The mask as every row and key see it: (..., heads, m, n). */
static tsr_status see_mask(tsr_desc *out, const char *name, const tsr_desc *mask, const tsr_desc *q,
                           int64_t n)
{
    int64_t shape[TSR_MAX_NDIM];
    for (int i = 0; i < q->ndim; i++) shape[i] = q->shape[i];
    shape[q->ndim - 1] = n;
    TSRI_CHECK(tsri_desc_expand(out, mask, q->ndim, shape) == TSR_OK, TSR_ESHAPE,
               "%s: mask is %s, which does not broadcast to %s", name, TSRI_DESC(mask),
               TSRI_DIMS(q->ndim, shape));
    return TSR_OK;
}

tsr_status tsri_infer_attention(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                                const void *params)
{
    const tsr_desc *q = in[0], *k = in[1], *v = in[2];
    const int last = q->ndim - 1;
    int64_t shape[TSR_MAX_NDIM];
    tsr_desc seen;
    (void)kind; (void)params;
    TSRI_TRY(check_batch(name, q, "k", k));
    TSRI_TRY(check_batch(name, q, "v", v));
    TSRI_TRY(check_heads(name, q, q->shape[last - 2], k, k->shape[last - 2]));
    if (in[3]) TSRI_TRY(see_mask(&seen, name, in[3], q, k->shape[last - 1]));
    for (int i = 0; i < last; i++) shape[i] = q->shape[i];
    shape[last] = v->shape[last];
    return tsri_desc_packed(out, name, q->dtype, q->ndim, shape);
}

tsr_status tsri_infer_self_attention(tsr_desc *out, const char *name, tsr_op_kind kind,
                                     const tsr_desc *const *in, const void *params)
{
    const tsr_desc *q = in[0], *k = in[1], *v = in[2];
    (void)kind; (void)params;
    TSRI_TRY(check_heads(name, q, q->shape[1], k, k->shape[1]));
    return tsri_desc_packed(out, name, q->dtype, 3,
                            (const int64_t[]){ q->shape[0], q->shape[1], v->shape[2] });
}

/* How many keys the m rows see, all together. */
static double seen_keys(int64_t m, int64_t n, bool causal)
{
    if (!causal) return (double)m * (double)n;
    const int64_t rows = least(m, n);  /* those that see any */
    return (double)rows * ((double)n - ((double)rows - 1) / 2);
}

double tsri_work_attention(const tsr_desc *const *in, const tsr_desc *out, const void *params)
{
    const tsr_attention_params *p = params;
    const int last = out->ndim - 1;
    const int64_t m = out->shape[last - 1], d = in[0]->shape[last], e = out->shape[last];
    double matrices = 1;
    for (int i = 0; i < last - 1; i++) matrices *= (double)out->shape[i];
    return matrices * seen_keys(m, in[1]->shape[last - 1], p->causal) * ((double)d + (double)e);
}

double tsri_work_self_attention(const tsr_desc *const *in, const tsr_desc *out, const void *params)
{
    (void)params;
    return (double)out->shape[1] * seen_keys(out->shape[0], in[1]->shape[0], true) *
           ((double)in[0]->shape[2] + (double)out->shape[2]);
}

/* In parts: scores ------------------------------------------------------------------- */

/* What every block of rows needs. */
typedef struct attention {
    tsr_tensor *q, *k, *v;   /* in the dtype of scores, with as many heads each */
    tsr_tensor *mask;        /* (..., heads, m, n), or NULL */
    bool        finite;      /* no NaN or infinity in v */
    int64_t     m, n;
    double      scale;
    bool        causal;
} attention;

/* t in this dtype: itself seen again if it has it. */
static tsr_status in_dtype(tsr_tensor **out, const tsr_tensor *t, tsr_dtype dtype)
{
    return t->dtype == dtype ? tsr_view(out, t, t->ndim, t->shape) : tsr_cast(out, t, dtype);
}

/* *x = -infinity where `seen` is false. */
static tsr_status hide(tsr_tensor **x, const tsr_tensor *seen)
{
    return tsr_where(x, seen, *x, TSR_NUMBER(-__builtin_inf()));
}

/* Row i of the scores sees the first i + 1 + offset keys. */
static tsr_status hide_later(tsr_tensor **scores, int64_t rows, int64_t keys, int64_t offset)
{
    tsr_tensor *row = NULL, *key = NULL, *seen = NULL;
    tsr_status s = tsr_arange(&row, TSR_I64, TSR_SCALAR(offset), TSR_SCALAR(offset + rows), TSR_SCALAR(1));
    if (s == TSR_OK) s = tsr_unsqueeze(&row, row, 1);
    if (s == TSR_OK) s = tsr_arange(&key, TSR_I64, TSR_SCALAR(0), TSR_SCALAR(keys), TSR_SCALAR(1));
    if (s == TSR_OK) s = tsr_le(&seen, key, row);
    if (s == TSR_OK) s = tsr_to_memory(&seen, seen, (*scores)->device, tsri_memory_beside(*scores));
    if (s == TSR_OK) s = hide(scores, seen);
    tsr_release_all(&seen, &key, &row);
    return s;
}

/* Adds a floating mask. Where it is -infinity the score does not count, NaN or not. */
static tsr_status add_mask(tsr_tensor **scores, const tsr_tensor *mask)
{
    tsr_tensor *as = NULL, *seen = NULL;
    tsr_status s = in_dtype(&as, mask, (*scores)->dtype);
    if (s == TSR_OK) s = tsr_ne(&seen, as, TSR_NUMBER(-__builtin_inf()));
    if (s == TSR_OK) s = tsr_add(scores, *scores, as);
    if (s == TSR_OK) s = hide(scores, seen);
    tsr_release_all(&seen, &as);
    return s;
}

static tsr_status apply_mask(tsr_tensor **scores, const attention *a, int64_t first, int64_t rows,
                             int64_t keys)
{
    tsr_tensor *part = NULL;
    if (!a->mask) return TSR_OK;
    tsr_status s = tsr_slice(&part, a->mask, -2, first, first + rows, 1);
    if (s == TSR_OK) s = tsr_slice(&part, part, -1, 0, keys, 1);
    if (s == TSR_OK) s = part->dtype == TSR_BOOL ? hide(scores, part) : add_mask(scores, part);
    tsr_release(&part);
    return s;
}

/* Scores of rows first .. first + rows - 1 with the first keys. */
static tsr_status score(tsr_tensor **out, const attention *a, int64_t first, int64_t rows, int64_t keys)
{
    tsr_tensor *q = NULL, *k = NULL;
    tsr_status s = tsr_slice(&q, a->q, -2, first, first + rows, 1);
    if (s == TSR_OK) s = tsr_slice(&k, a->k, -2, 0, keys, 1);
    if (s == TSR_OK) s = tsr_transpose(&k, k, -1, -2);
    if (s == TSR_OK) s = tsr_matmul(out, q, k);
    if (s == TSR_OK) s = tsr_mul(out, *out, TSR_NUMBER(a->scale));
    if (s == TSR_OK) s = apply_mask(out, a, first, rows, keys);
    if (s == TSR_OK && a->causal) s = hide_later(out, rows, keys, first + a->n - a->m);
    tsr_release_all(&k, &q);
    return s;
}

/* In parts: softmax and the product with v -------------------------------------------- */

/* *x = where(test, value, *x), for a test of *x with `with`. */
static tsr_status replace(tsr_tensor **x, double with, double value)
{
    tsr_tensor *is = NULL;
    tsr_status s = tsr_eq(&is, *x, TSR_NUMBER(with));
    if (s == TSR_OK) s = tsr_where(x, is, TSR_NUMBER(value), *x);
    tsr_release(&is);
    return s;
}

/* Scores to weights, *sum being what they add up to: 1 for a row that sees nothing. */
static tsr_status weigh(tsr_tensor **scores, tsr_tensor **sum)
{
    tsr_tensor *most = NULL;
    tsr_status s = tsr_max(&most, *scores, TSR_AXES(-1), true);
    if (s == TSR_OK) s = replace(&most, -__builtin_inf(), 0);
    if (s == TSR_OK) s = tsr_sub(scores, *scores, most);
    if (s == TSR_OK) s = tsr_exp(scores, *scores);
    if (s == TSR_OK) s = tsr_sum(sum, *scores, TSR_AXES(-1), true);
    if (s == TSR_OK) s = replace(sum, 0, 1);
    tsr_release(&most);
    return s;
}

/* *x + value where weights that are not 0 meet elements of v that are NaN or `value`. */
static tsr_status add_infinity(tsr_tensor **x, const tsr_tensor *seen, const tsr_tensor *v, double value)
{
    tsr_tensor *is = NULL, *nan = NULL, *hits = NULL, *more = NULL;
    tsr_status s = tsr_eq(&is, v, TSR_NUMBER(value));
    if (s == TSR_OK) s = tsr_isnan(&nan, v);
    if (s == TSR_OK) s = tsr_logical_or(&is, is, nan);
    if (s == TSR_OK) s = tsr_cast(&more, is, v->dtype);
    if (s == TSR_OK) s = tsr_matmul(&hits, seen, more);
    tsr_release_all(&more, &is);
    if (s == TSR_OK) s = tsr_gt(&is, hits, TSR_NUMBER(0));
    if (s == TSR_OK) s = tsr_add(&more, *x, TSR_NUMBER(value));
    if (s == TSR_OK) s = tsr_where(x, is, more, *x);
    tsr_release_all(&more, &hits, &nan, &is);
    return s;
}

/* weights @ v, where 0 times what is not finite counts as 0. */
static tsr_status multiply_with_care(tsr_tensor **out, const tsr_tensor *weights, const tsr_tensor *v)
{
    tsr_tensor *is = NULL, *finite = NULL, *seen = NULL;
    tsr_status s = tsr_isfinite(&is, v);
    if (s == TSR_OK) s = tsr_where(&finite, is, v, TSR_NUMBER(0));
    if (s == TSR_OK) s = tsr_matmul(out, weights, finite);
    tsr_release(&is);
    if (s == TSR_OK) s = tsr_gt(&is, weights, TSR_NUMBER(0));
    if (s == TSR_OK) s = tsr_cast(&seen, is, v->dtype);
    if (s == TSR_OK) s = add_infinity(out, seen, v, __builtin_inf());
    if (s == TSR_OK) s = add_infinity(out, seen, v, -__builtin_inf());
    tsr_release_all(&seen, &finite, &is);
    return s;
}

static tsr_status mix(tsr_tensor *out, const attention *a, tsr_tensor **scores, int64_t keys)
{
    tsr_tensor *sum = NULL, *v = NULL, *mixed = NULL;
    tsr_status s = weigh(scores, &sum);
    if (s == TSR_OK) s = tsr_slice(&v, a->v, -2, 0, keys, 1);
    if (s == TSR_OK) s = a->finite ? tsr_matmul(&mixed, *scores, v) : multiply_with_care(&mixed, *scores, v);
    if (s == TSR_OK) s = tsr_div(&mixed, mixed, sum);
    if (s == TSR_OK) s = tsr_copy(out, mixed);
    tsr_release_all(&mixed, &v, &sum);
    return s;
}

static tsr_status attend(tsr_tensor *out, const attention *a, int64_t first, int64_t rows)
{
    tsr_tensor *part = NULL, *scores = NULL;
    const int64_t seen = a->causal ? least(first + rows + a->n - a->m, a->n) : a->n;
    tsr_status s = tsr_slice(&part, out, -2, first, first + rows, 1);
    if (s == TSR_OK && seen <= 0) s = tsr_zero(part);
    if (s == TSR_OK && seen > 0) s = score(&scores, a, first, rows, seen);
    if (s == TSR_OK && seen > 0) s = mix(part, a, &scores, seen);
    tsr_release_all(&scores, &part);
    return s;
}

/* In parts: the whole ------------------------------------------------------------------ */

static tsr_status is_finite(bool *out, const tsr_tensor *t)
{
    tsr_tensor *is = NULL, *all = NULL;
    int64_t all_finite = 0;
    tsr_status s = tsr_isfinite(&is, t);
    if (s == TSR_OK) s = tsr_all(&all, is, 0, NULL, false);
    if (s == TSR_OK) s = tsr_to_host(&all, all);
    if (s == TSR_OK) s = tsr_item_i64(&all_finite, all);
    *out = all_finite != 0;
    tsr_release_all(&all, &is);
    return s;
}

/* k or v in the dtype of scores, each head as often as heads of q look at it. */
static tsr_status for_all_heads(tsr_tensor **out, const tsr_tensor *t, tsr_dtype dtype, int64_t heads)
{
    const int64_t own = t->shape[t->ndim - 3];
    TSRI_TRY(in_dtype(out, t, dtype));
    if (own == heads) return TSR_OK;
    tsr_tensor *repeated = NULL;
    const tsr_status s = tsr_repeat(&repeated, *out, heads / own, -3);
    tsr_release(out);
    *out = repeated;
    return s;
}

static tsr_status prepare(attention *a, const tsr_op *op)
{
    const tsr_tensor *q = op->in[0], *mask = op->in[3];
    const tsr_dtype dtype = q->dtype == TSR_F64 ? TSR_F64 : TSR_F32;
    const int64_t heads = q->shape[q->ndim - 3];
    tsr_desc seen;
    TSRI_TRY(in_dtype(&a->q, q, dtype));
    TSRI_TRY(for_all_heads(&a->k, op->in[1], dtype, heads));
    TSRI_TRY(for_all_heads(&a->v, op->in[2], dtype, heads));
    TSRI_TRY(is_finite(&a->finite, a->v));
    if (!mask) return TSR_OK;
    TSRI_TRY(see_mask(&seen, "attention", &mask->desc, &q->desc, a->n));
    return tsr_expand(&a->mask, mask, seen.ndim, seen.shape);
}

tsr_status tsri_parts_attention(const tsr_op *op)
{
    const tsr_attention_params *p = op->params;
    tsr_tensor *out = op->out[0];
    const tsr_tensor *k = op->in[1];
    attention a = {
        .m = out->shape[out->ndim - 2], .n = k->shape[k->ndim - 2], .scale = p->scale, .causal = p->causal
    };
    if (tsr_numel(out) == 0) return TSR_OK;
    tsr_status s = prepare(&a, op);
    for (int64_t i = 0; i < a.m && s == TSR_OK; i += BLOCK_ROWS)
        s = attend(out, &a, i, least(a.m - i, BLOCK_ROWS));
    tsr_release_all(&a.mask, &a.v, &a.k, &a.q);
    return s;
}

/* (seq, heads, d) as (heads, seq, d), in place of the caller's. */
static tsr_status heads_first(tsr_tensor *place, const tsr_tensor *t)
{
    tsr_tensor *view = tsr_place_none(place);
    return tsr_transpose(&view, t, 0, 1);
}

tsr_status tsri_parts_self_attention(const tsr_op *op)
{
    const tsr_attention_params *p = op->params;
    tsr_tensor view[4], *at[4] = { NULL };
    const tsr_tensor *const t[4] = { op->in[0], op->in[1], op->in[2], op->out[0] };
    tsr_status s = TSR_OK;
    for (int i = 0; i < 4; i++) at[i] = tsr_place_none(&view[i]);
    for (int i = 0; i < 4 && s == TSR_OK; i++) s = heads_first(at[i], t[i]);
    if (s == TSR_OK)
        s = tsri_dispatch(&(tsri_call){ .kind = TSR_OP_ATTENTION, .params = p, .nin = 4,
                                    .in = { at[0], at[1], at[2] }, .nout = 1, .out = { &at[3] },
                                    .name = "self_attention" });
    for (int i = 4; i-- > 0;) tsr_release(&at[i]);
    return s;
}

/* The calls --------------------------------------------------------------------------- */

/* Scale 0 stands for 1 / sqrt(d), d being the last dim of q. */
static tsr_status read_scale(double *out, const char *op, const tsr_tensor *q, double scale)
{
    TSRI_TRY(tsri_check_allocated(op, "q", q));
    TSRI_CHECK(scale - scale == 0, TSR_EINVAL, "%s: scale is %g, and must be finite", op, scale);
    const int64_t d = q->ndim > 0 ? q->shape[q->ndim - 1] : 1;
    *out = scale != 0 ? scale : d > 0 ? 1 / tsri_sqrt_f64((double)d) : 1;
    return TSR_OK;
}

static tsr_status read_options(tsr_attention_params *out, const char *op, const tsr_tensor *q,
                               const tsr_attention_options *how)
{
    out->causal = how && how->causal;
    return read_scale(&out->scale, op, q, how ? how->scale : 0);
}

tsr_status tsr_attention(tsr_tensor **out, const tsr_tensor *q, const tsr_tensor *k, const tsr_tensor *v,
                         const tsr_tensor *mask, const tsr_attention_options *how)
{
    tsr_attention_params params;
    TSRI_CHECK(out, TSR_ENULL, "attention: out is NULL");
    TSRI_TRY(read_options(&params, "attention", q, how));
    return tsri_dispatch(&(tsri_call){ .kind = TSR_OP_ATTENTION, .params = &params, .nin = 4,
                                   .in = { q, k, v, mask }, .nout = 1, .out = { out } });
}

tsr_status tsr_self_attention(tsr_tensor **out, const tsr_tensor *q, const tsr_tensor *k, const tsr_tensor *v,
                              double scale)
{
    tsr_attention_params params = { .causal = true };
    TSRI_CHECK(out, TSR_ENULL, "self_attention: out is NULL");
    TSRI_TRY(read_scale(&params.scale, "self_attention", q, scale));
    return tsri_dispatch(&(tsri_call){ .kind = TSR_OP_SELF_ATTENTION, .params = &params, .nin = 3,
                                   .in = { q, k, v }, .nout = 1, .out = { out } });
}

/* A layer ------------------------------------------------------------------------------- */

static tsr_status check_weights(const tsr_attention_weights *w)
{
    const char *const names[] = { "weights.q", "weights.k", "weights.v", "weights.out" };
    const char *const bias_names[] = { "weights.q_bias", "weights.k_bias", "weights.v_bias",
                                       "weights.out_bias" };
    const tsr_tensor *const matrices[] = { w->q, w->k, w->v, w->out };
    const tsr_tensor *const biases[] = { w->q_bias, w->k_bias, w->v_bias, w->out_bias };
    for (int i = 0; i < 4; i++) {
        if (biases[i]) TSRI_TRY(tsri_check_allocated("multi_head_attention", bias_names[i], biases[i]));
        TSRI_TRY(tsri_check_allocated("multi_head_attention", names[i], matrices[i]));
        TSRI_CHECK(matrices[i]->ndim == 2, TSR_ESHAPE, "multi_head_attention: %s is %s, and must be a matrix",
                   names[i], TSRI_DESC(&matrices[i]->desc));
    }
    return TSR_OK;
}

/* How many rows of each matrix a head has, and how many heads look at another's keys. */
typedef struct head_sizes {
    int64_t heads, kv_heads, d, e;
} head_sizes;

static tsr_status divide_heads(head_sizes *out, const tsr_attention_weights *w, int64_t heads)
{
    const int64_t q = w->q->shape[0], k = w->k->shape[0], v = w->v->shape[0];
    TSRI_CHECK(heads > 0, TSR_EINVAL, "multi_head_attention: heads is %lld, and must be positive",
               (long long)heads);
    TSRI_CHECK(q > 0 && q % heads == 0, TSR_ESHAPE,
               "multi_head_attention: weights.q is %s, whose rows are not %lld heads", TSRI_DESC(&w->q->desc),
               (long long)heads);
    const int64_t d = q / heads;
    TSRI_CHECK(
        k > 0 && k % d == 0 && heads % (k / d) == 0, TSR_ESHAPE,
        "multi_head_attention: weights.k is %s, whose rows are not heads of %lld that %lld heads can share",
        TSRI_DESC(&w->k->desc), (long long)d, (long long)heads);
    TSRI_CHECK(v % (k / d) == 0, TSR_ESHAPE,
               "multi_head_attention: weights.v is %s, whose rows are not %lld heads", TSRI_DESC(&w->v->desc),
               (long long)(k / d));
    *out = (head_sizes){ heads, k / d, d, v / (k / d) };
    return TSR_OK;
}

/* x w^T + bias as (..., heads, seq, size). */
static tsr_status project(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *w, const tsr_tensor *bias,
                          int64_t heads, int64_t size)
{
    TSRI_TRY(tsr_linear(out, x, w, bias));
    TSRI_TRY(tsr_split_dim(out, *out, -1, 2, (const int64_t[]){ heads, size }));
    return tsr_transpose(out, *out, -2, -3);
}

/* (..., heads, seq, e) as (..., seq, heads * e). */
static tsr_status join_heads(tsr_tensor **out, const tsr_tensor *t)
{
    int64_t shape[TSR_MAX_NDIM];
    tsr_tensor *transposed = NULL;
    tsr_status s = tsr_transpose(&transposed, t, -2, -3);
    if (s == TSR_OK) {
        for (int i = 0; i < transposed->ndim - 2; i++) shape[i] = transposed->shape[i];
        shape[transposed->ndim - 2] =
            transposed->shape[transposed->ndim - 2] * transposed->shape[transposed->ndim - 1];
        s = tsr_reshape(out, transposed, transposed->ndim - 1, shape);
    }
    tsr_release(&transposed);
    return s;
}

tsr_status tsr_multi_head_attention(tsr_tensor **out, const tsr_tensor *x,
                                    const tsr_attention_weights *weights, int64_t heads,
                                    const tsr_tensor *mask, const tsr_attention_options *how)
{
    tsr_tensor *q = NULL, *k = NULL, *v = NULL, *mixed = NULL, *joined = NULL;
    const tsr_attention_weights *w = weights;
    head_sizes n;
    TSRI_CHECK(out, TSR_ENULL, "multi_head_attention: out is NULL");
    TSRI_TRY(tsri_check_allocated("multi_head_attention", "x", x));
    TSRI_CHECK(w, TSR_ENULL, "multi_head_attention: weights is NULL");
    TSRI_TRY(check_weights(w));
    TSRI_TRY(divide_heads(&n, w, heads));
    TSRI_CHECK(x->ndim >= 2 && x->ndim < TSR_MAX_NDIM, TSR_ESHAPE,
               "multi_head_attention: x is %s, and must be (..., seq, embed)", TSRI_DESC(&x->desc));
    tsr_status s = project(&q, x, w->q, w->q_bias, n.heads, n.d);
    if (s == TSR_OK) s = project(&k, x, w->k, w->k_bias, n.kv_heads, n.d);
    if (s == TSR_OK) s = project(&v, x, w->v, w->v_bias, n.kv_heads, n.e);
    if (s == TSR_OK) s = tsr_attention(&mixed, q, k, v, mask, how);
    if (s == TSR_OK) s = join_heads(&joined, mixed);
    if (s == TSR_OK) s = tsr_linear(out, joined, w->out, w->out_bias);
    tsr_release_all(&joined, &mixed, &v, &k, &q);
    return tsri_as_of("multi_head_attention", s);
}
