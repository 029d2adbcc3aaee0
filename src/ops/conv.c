/* conv.c - convolutions, and the transposed ones.
 *
 * dispatch.c checks and promotes operands, and makes results. This file turns options into
 * parameters, computes the sizes of results, and does convolutions with other ops where a
 * backend has none. */
#include "conv.h"
#include "composed.h"
#include "tessera/move.h"
#include "tessera/ops/conv.h"
#include "tessera/ops/elementwise.h"
#include "tessera/ops/matmul.h"
#include "tessera/ops/shape.h"
#include "tessera/scope.h"
#include "tessera/view.h"

/* Sizes ------------------------------------------------------------------------------ */

static tsr_status check_ranks(const char *name, int spatial, const tsr_desc *x, const tsr_desc *w)
{
    TSRI_CHECK(x->ndim == spatial + 1 || x->ndim == spatial + 2, TSR_ESHAPE,
               "%s: x is %s; with %d spatial dims it has %d dims, or %d without a batch", name, TSRI_DESC(x),
               spatial, spatial + 2, spatial + 1);
    TSRI_CHECK(w->ndim == spatial + 2, TSR_ESHAPE, "%s: w is %s; with %d spatial dims it has %d dims", name,
               TSRI_DESC(w), spatial, spatial + 2);
    return TSR_OK;
}

static tsr_status check_params(const char *name, tsr_op_kind kind, const tsr_conv_params *p)
{
    TSRI_CHECK(p->spatial >= 1 && p->spatial <= TSRI_SPATIAL, TSR_EINVAL,
               "%s: %d spatial dims; there are 1 to %d", name, (int)p->spatial, TSRI_SPATIAL);
    TSRI_CHECK(p->groups >= 1, TSR_EINVAL, "%s: %lld groups", name, (long long)p->groups);
    for (int d = 0; d < p->spatial; d++) {
        TSRI_CHECK(p->stride[d] >= 1, TSR_EINVAL, "%s: stride %lld of spatial dim %d", name,
                   (long long)p->stride[d], d);
        TSRI_CHECK(p->dilation[d] >= 1, TSR_EINVAL, "%s: dilation %lld of spatial dim %d", name,
                   (long long)p->dilation[d], d);
        TSRI_CHECK(p->low[d] >= 0 && p->high[d] >= 0, TSR_EINVAL,
                   "%s: padding %lld and %lld of spatial dim %d", name, (long long)p->low[d],
                   (long long)p->high[d], d);
        const int64_t more = p->output_padding[d];
        TSRI_CHECK(more == 0 || kind == TSR_OP_CONV_TRANSPOSE, TSR_EINVAL,
                   "%s: output_padding %lld, which only a transposed convolution takes", name,
                   (long long)more);
        TSRI_CHECK(
            more >= 0 && (more < p->stride[d] || more < p->dilation[d]), TSR_EINVAL,
            "%s: output_padding %lld of spatial dim %d is not below the stride %lld or the dilation %lld",
            name, (long long)more, d, (long long)p->stride[d], (long long)p->dilation[d]);
    }
    return TSR_OK;
}

/* x must have the channels that w takes in each group. */
static tsr_status check_channels(const char *name, tsr_op_kind kind, const tsr_conv_params *p,
                                 const tsr_desc *const *in)
{
    const tsr_desc *x = in[0], *w = in[1];
    const bool transposed = kind == TSR_OP_CONV_TRANSPOSE;
    const int64_t c = x->shape[x->ndim - p->spatial - 1], groups = p->groups;
    int64_t all = 0;
    TSRI_CHECK(tsri_mul(&all, w->shape[1], groups), TSR_EOVERFLOW, "%s: %lld groups of w %s overflow", name,
               (long long)groups, TSRI_DESC(w));
    TSRI_CHECK((transposed ? w->shape[0] : all) == c, TSR_ESHAPE,
               "%s: x %s has %lld channels, but w %s with groups %lld has %lld", name, TSRI_DESC(x),
               (long long)c, TSRI_DESC(w), (long long)groups, (long long)(transposed ? w->shape[0] : all));
    TSRI_CHECK(w->shape[0] % groups == 0, TSR_ESHAPE, "%s: w %s does not divide into %lld groups", name,
               TSRI_DESC(w), (long long)groups);
    TSRI_CHECK(!in[2] || in[2]->shape[0] == (transposed ? all : w->shape[0]), TSR_ESHAPE,
               "%s: bias is %s, but there are %lld outputs", name, TSRI_DESC(in[2]),
               (long long)(transposed ? all : w->shape[0]));
    return TSR_OK;
}

/* Spatial dim d of a convolution's result. */
static tsr_status conv_size(int64_t *out, const char *name, const tsr_conv_params *p,
                            const tsr_desc *const *in, int d)
{
    const tsr_desc *x = in[0], *w = in[1];
    const int64_t size = x->shape[x->ndim - p->spatial + d], taps = w->shape[2 + d];
    int64_t padded = 0, window = 0;
    TSRI_CHECK(tsri_window_length(&window, taps, p->dilation[d]) &&
                   tsri_add(&padded, p->low[d], p->high[d]) && tsri_add(&padded, padded, size),
               TSR_EOVERFLOW, "%s: padding or dilation of spatial dim %d overflows", name, d);
    TSRI_CHECK(
        window <= padded, TSR_ESHAPE,
        "%s: spatial dim %d of x %s, %lld long with padding, has no room for the window of w %s, %lld long",
        name, d, TSRI_DESC(x), (long long)padded, TSRI_DESC(w), (long long)window);
    *out = (padded - window) / p->stride[d] + 1;
    return TSR_OK;
}

static tsr_status conv_transpose_size(int64_t *out, const char *name, const tsr_conv_params *p,
                                      const tsr_desc *const *in, int d)
{
    const tsr_desc *x = in[0], *w = in[1];
    const int64_t size = x->shape[x->ndim - p->spatial + d], taps = w->shape[2 + d];
    int64_t whole = 0, window = 0, less = 0;
    TSRI_CHECK(size > 0, TSR_ESHAPE, "%s: spatial dim %d of x %s is empty", name, d, TSRI_DESC(x));
    TSRI_CHECK(tsri_window_length(&window, taps, p->dilation[d]) &&
                   tsri_mul(&whole, size - 1, p->stride[d]) && tsri_add(&whole, whole, window) &&
                   tsri_add(&whole, whole, p->output_padding[d]) && tsri_add(&less, p->low[d], p->high[d]),
               TSR_EOVERFLOW, "%s: spatial dim %d of the result overflows", name, d);
    TSRI_CHECK(less <= whole, TSR_ESHAPE,
               "%s: x %s and w %s make spatial dim %d %lld long, less than its padding of %lld", name,
               TSRI_DESC(x), TSRI_DESC(w), d, (long long)whole, (long long)less);
    *out = whole - less;
    return TSR_OK;
}

tsr_status tsri_infer_conv(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                           const void *params)
{
    const tsr_conv_params *p = params;
    const tsr_desc *x = in[0], *w = in[1];
    int64_t shape[TSRI_SPATIAL + 2];
    TSRI_TRY(check_params(name, kind, p));
    TSRI_TRY(check_ranks(name, p->spatial, x, w));
    TSRI_TRY(check_channels(name, kind, p, in));
    const int first = x->ndim - p->spatial;
    shape[0] = x->shape[0];
    shape[first - 1] = kind == TSR_OP_CONV ? w->shape[0] : w->shape[1] * p->groups;
    for (int d = 0; d < p->spatial; d++) {
        TSRI_CHECK(w->shape[2 + d] > 0, TSR_ESHAPE, "%s: the window of w %s is empty", name, TSRI_DESC(w));
        TSRI_TRY((kind == TSR_OP_CONV ? conv_size : conv_transpose_size)(&shape[first + d], name, p, in, d));
    }
    return tsri_desc_packed(out, name, x->dtype, x->ndim, shape);
}

/* Weights of one kernel: the products for an element of the result, or, transposed, of x. */
static double kernel_size(const tsr_desc *w)
{
    return w->shape[0] == 0 ? 0 : (double)tsr_desc_numel(w) / (double)w->shape[0];
}

double tsri_conv_work(const tsr_desc *const *in, const tsr_desc *out, const void *params)
{
    (void)params;
    return (double)tsr_desc_numel(out) * kernel_size(in[1]);
}

double tsri_conv_transpose_work(const tsr_desc *const *in, const tsr_desc *out, const void *params)
{
    (void)params; (void)out;
    return (double)tsr_desc_numel(in[0]) * kernel_size(in[1]);
}

/* A convolution with other ops: windows are views, and einsum sums over them ------------- */

/* The temporaries of a convolution; released at its end. */
typedef struct pieces {
    tsr_tensor *padded, *wide_x, *wide_w, *sums;
} pieces;

static void insert_batch(tsr_tensor *t, int spatial)
{
    if (t->ndim == spatial + 1) tsri_insert_dim(&t->desc, 0, 1, 0);
}

/* Dim `axis` in groups: (groups, the rest). */
static void split_groups(tsr_tensor *t, int axis, int64_t groups)
{
    const int64_t each = t->shape[axis] / groups, stride = t->stride[axis];
    t->shape[axis] = each;
    tsri_insert_dim(&t->desc, axis, groups, tsri_mul_wrapping(stride, each));
}

/* A copy of x, which has a batch, with zeros around it; x itself where there are none. */
static tsr_status pad(tsr_tensor *x, pieces *made, const tsr_conv_params *p)
{
    int64_t before[TSRI_SPATIAL + 2] = { 0 }, after[TSRI_SPATIAL + 2] = { 0 }, shape[TSRI_SPATIAL + 2];
    int64_t any = 0;
    for (int i = 0; i < x->ndim; i++) {
        const int d = i - 2;
        if (d >= 0) before[i] = p->low[d];
        if (d >= 0) after[i] = p->high[d];
        shape[i] = x->shape[i] + before[i] + after[i];
        any |= before[i] | after[i];
    }
    if (!any) return TSR_OK;
    TSRI_TRY(tsri_make_temporary(&made->padded, "conv", x, x->dtype, x->ndim, shape));
    TSRI_TRY(tsr_pad(&made->padded, x, x->ndim, before, after, TSR_PAD_CONSTANT, TSR_SCALAR(0)));
    *x = *made->padded;
    return TSR_OK;
}

/* (n, groups, c, spatial...) becomes (n, groups, c, places..., taps...). */
static tsr_status see_windows(tsr_tensor *x, const tsr_conv_params *p, const int64_t *taps)
{
    for (int d = 0; d < p->spatial; d++) {
        tsr_desc wide;
        const int64_t length = (taps[d] - 1) * p->dilation[d] + 1;
        TSRI_TRY(tsri_desc_unfold(&wide, &x->desc, 3 + d, length, p->stride[d]));
        tsri_see(x, x, &wide, 0);
        tsri_see_slice(x, x, x->ndim - 1, 0, length, p->dilation[d]);
    }
    return TSR_OK;
}

/* z = the sums of products, without a bias. z is x's dtype. */
static tsr_status convolve(const tsr_tensor *z, const tsr_tensor *x, const tsr_tensor *w, pieces *made,
                           const tsr_conv_params *p)
{
    static const char *const texts[] = { "ngcaA,gocA->ngoa", "ngcabAB,gocAB->ngoab",
                                         "ngcabdABD,gocABD->ngoabd" };
    tsr_tensor to = *z, from = *x, by = *w, *out = &to;
    insert_batch(&to, p->spatial);
    insert_batch(&from, p->spatial);
    TSRI_TRY(pad(&from, made, p));
    split_groups(&to, 1, p->groups);
    split_groups(&from, 1, p->groups);
    split_groups(&by, 0, p->groups);
    TSRI_TRY(see_windows(&from, p, w->shape + 2));
    return tsr_einsum(&out, texts[p->spatial - 1], 2, (const tsr_tensor *const[]){ &from, &by });
}

/* z += bias, along its channels. */
static tsr_status add_bias(tsr_tensor *z, const tsr_tensor *bias, int spatial)
{
    tsr_tensor along = *bias;
    for (int d = 0; d < spatial; d++) tsri_insert_dim(&along.desc, along.ndim, 1, 0);
    return tsr_add(&z, z, &along);
}

/* Short floats are summed in f32: they stay f32 until the bias is added. */
static bool is_short(tsr_dtype dtype)
{
    return tsr_dtype_kind(dtype) == TSR_FLOATING && tsr_dtype_size(dtype) < 4;
}

static tsr_status widen(tsr_tensor **out, const tsr_tensor *t)
{
    TSRI_TRY(tsri_make_temporary(out, "conv", t, TSR_F32, t->ndim, t->shape));
    return tsr_copy(*out, t);
}

static tsr_status convolve_short(const tsr_op *op, pieces *made)
{
    const tsr_conv_params *p = op->params;
    TSRI_TRY(widen(&made->wide_x, op->in[0]));
    TSRI_TRY(widen(&made->wide_w, op->in[1]));
    TSRI_TRY(
        tsri_make_temporary(&made->sums, "conv", op->out[0], TSR_F32, op->out[0]->ndim, op->out[0]->shape));
    TSRI_TRY(convolve(made->sums, made->wide_x, made->wide_w, made, p));
    TSRI_TRY(add_bias(made->sums, op->in[2], p->spatial));
    return tsr_copy(op->out[0], made->sums);
}

static tsr_status convolve_with_bias(const tsr_op *op, pieces *made)
{
    const tsr_conv_params *p = op->params;
    const tsr_tensor *bias = op->nin > 2 ? op->in[2] : NULL;
    if (bias && is_short(op->out[0]->dtype)) return convolve_short(op, made);
    TSRI_TRY(convolve(op->out[0], op->in[0], op->in[1], made, p));
    return bias ? add_bias(op->out[0], bias, p->spatial) : TSR_OK;
}

tsr_status tsri_conv_parts(const tsr_op *op)
{
    pieces made = { NULL, NULL, NULL, NULL };
    const tsr_status s = convolve_with_bias(op, &made);
    tsr_release_all(&made.sums, &made.wide_w, &made.wide_x, &made.padded);
    return s;
}

/* A transposed one as a plain one: x with zeros between its elements, w reversed --------- */

/* (c_in, c_out / groups, k...) to (c_out, c_in / groups, k...), each window backwards. */
static tsr_status transpose_weights(tsr_tensor **out, const tsr_tensor *w, const tsr_conv_params *p)
{
    static const int axes[] = { 3, 4, 5 };
    tsr_tensor transposed = *w;
    tsr_desc d;
    int64_t shape[TSRI_SPATIAL + 2], offset = 0;
    split_groups(&transposed, 0, p->groups);
    TSRI_TRY(tsri_desc_transpose(&d, &transposed.desc, 1, 2));
    tsri_see(&transposed, &transposed, &d, 0);
    TSRI_TRY(tsri_desc_flip(&d, &offset, &transposed.desc, p->spatial, axes));
    tsri_see(&transposed, &transposed, &d, offset);
    for (int i = 0; i < w->ndim; i++) shape[i] = i > 1 ? w->shape[i] : transposed.shape[i + 1];
    shape[0] *= p->groups;
    TSRI_TRY(tsri_make_temporary(out, "conv_transpose", w, w->dtype, w->ndim, shape));
    tsr_tensor grouped = **out;
    split_groups(&grouped, 0, p->groups);
    return tsr_copy(&grouped, &transposed);
}

/* Element i of x along a dim stands at i * stride + shift in the spread one, if that is inside: both
 * views are narrowed to those that are. False: there are none. */
static bool see_spread(tsr_tensor *to, tsr_tensor *from, int axis, int64_t stride, int64_t shift)
{
    const int64_t size = from->shape[axis], room = to->shape[axis];
    const int64_t begin = shift >= 0 ? 0 : (-shift - 1) / stride + 1;
    int64_t end = room > shift ? (room - shift - 1) / stride + 1 : 0;
    if (end > size) end = size;
    if (begin >= end) return false;
    tsri_see_slice(from, from, axis, begin, end, 1);
    tsri_see_slice(to, to, axis, begin * stride + shift, (end - 1) * stride + shift + 1, stride);
    return true;
}

/* x with stride - 1 zeros between its elements, and those around it that the windows reach. */
static tsr_status spread(tsr_tensor **out, const tsr_op *op)
{
    const tsr_conv_params *p = op->params;
    const tsr_tensor *x = op->in[0], *w = op->in[1], *z = op->out[0];
    int64_t shape[TSRI_SPATIAL + 2];
    bool any = true;
    const int first = x->ndim - p->spatial;
    for (int i = 0; i < x->ndim; i++) {
        const int64_t more = i < first ? 0 : (w->shape[2 + i - first] - 1) * p->dilation[i - first];
        TSRI_CHECK(tsri_add(&shape[i], i < first ? x->shape[i] : z->shape[i], more), TSR_EOVERFLOW,
                   "conv_transpose: dim %d of x %s overflows", i, TSRI_DESC(&x->desc));
    }
    TSRI_TRY(tsri_make_temporary(out, "conv_transpose", x, x->dtype, x->ndim, shape));
    TSRI_TRY(tsr_zero(*out));
    tsr_tensor from = *x, to = **out;
    for (int d = 0; d < p->spatial && any; d++)
        any = see_spread(&to, &from, first + d, p->stride[d],
                         (w->shape[2 + d] - 1) * p->dilation[d] - p->low[d]);
    return any ? tsr_copy(&to, &from) : TSR_OK;
}

tsr_status tsri_conv_transpose_parts(const tsr_op *op)
{
    tsr_tensor *x = NULL, *w = NULL, *out = op->out[0];
    const tsr_conv_params *p = op->params;
    tsr_conv_params plain = { .spatial = p->spatial, .groups = p->groups };
    if (tsr_numel(out) == 0) return TSR_OK;
    for (int d = 0; d < p->spatial; d++) {
        plain.stride[d] = 1;
        plain.dilation[d] = p->dilation[d];
    }
    tsr_status s = spread(&x, op);
    if (s == TSR_OK) s = transpose_weights(&w, op->in[1], p);
    if (s == TSR_OK)
        s = tsri_dispatch(&(tsri_call){ .kind = TSR_OP_CONV, .params = &plain, .nout = 1, .out = { &out },
                                    .nin = 3, .in = { x, w, op->nin > 2 ? op->in[2] : NULL } });
    tsr_release_all(&w, &x);
    return s;
}

/* Options ---------------------------------------------------------------------------- */

static int64_t or_one(int64_t n) { return n == 0 ? 1 : n; }

/* Zeros that make the result ceil(in / stride) long. The window fits 63 bits. */
static void same_padding(tsr_conv_params *p, int d, int64_t size, int64_t window)
{
    const int64_t stride = p->stride[d], left = size % stride;
    /* what the last window reaches beyond its own first `left` (or, if 0, `stride`) places of x */
    const int64_t total = size == 0 ? 0 : tsri_max(window - (left ? left : stride), 0);
    p->low[d] = total / 2;
    p->high[d] = total - total / 2;
}

static tsr_status read_padding(tsr_conv_params *p, const char *name, const tsr_conv *how, int d)
{
    const int64_t both = how->padding[d];
    TSRI_CHECK(both >= 0 && how->pad_low[d] >= 0 && how->pad_high[d] >= 0, TSR_EINVAL,
               "%s: padding %lld, pad_low %lld, pad_high %lld of spatial dim %d", name, (long long)both,
               (long long)how->pad_low[d], (long long)how->pad_high[d], d);
    TSRI_CHECK(tsri_add(&p->low[d], both, how->pad_low[d]) && tsri_add(&p->high[d], both, how->pad_high[d]),
               TSR_EOVERFLOW, "%s: padding of spatial dim %d overflows", name, d);
    TSRI_CHECK(how->fit == TSR_CONV_PADDED || (p->low[d] | p->high[d]) == 0, TSR_EINVAL,
               "%s: padding of spatial dim %d is given, but fit says what it is", name, d);
    return TSR_OK;
}

static tsr_status read_options(tsr_conv_params *p, const char *name, tsr_op_kind kind, const tsr_conv *how)
{
    static const tsr_conv plain = { .groups = 1 };
    if (!how) how = &plain;
    p->groups = or_one(how->groups);
    TSRI_CHECK(how->fit >= TSR_CONV_PADDED && how->fit <= TSR_CONV_SAME, TSR_EINVAL, "%s: fit %d is none",
               name, (int)how->fit);
    TSRI_CHECK(how->fit != TSR_CONV_SAME || kind == TSR_OP_CONV, TSR_EINVAL,
               "%s: fit is TSR_CONV_SAME, which a transposed convolution does not take", name);
    for (int d = 0; d < p->spatial; d++) {
        p->stride[d] = or_one(how->stride[d]);
        p->dilation[d] = or_one(how->dilation[d]);
        p->output_padding[d] = how->output_padding[d];
        TSRI_TRY(read_padding(p, name, how, d));
    }
    return check_params(name, kind, p);
}

/* The padding of TSR_CONV_SAME, which depends on the sizes. */
static tsr_status fit_same(tsr_conv_params *p, const char *name, const tsr_tensor *x, const tsr_tensor *w)
{
    TSRI_TRY(check_ranks(name, p->spatial, &x->desc, &w->desc));
    for (int d = 0; d < p->spatial; d++) {
        int64_t window = 0;
        TSRI_CHECK(w->shape[2 + d] > 0, TSR_ESHAPE, "%s: the window of w %s is empty", name,
                   TSRI_DESC(&w->desc));
        TSRI_CHECK(tsri_window_length(&window, w->shape[2 + d], p->dilation[d]), TSR_EOVERFLOW,
                   "%s: dilation of spatial dim %d overflows", name, d);
        same_padding(p, d, x->shape[x->ndim - p->spatial + d], window);
    }
    return TSR_OK;
}

static tsr_status conv(tsr_tensor **out, const char *name, tsr_op_kind kind, int spatial, const tsr_tensor *x,
                       const tsr_tensor *w, const tsr_tensor *bias, const tsr_conv *how)
{
    tsr_conv_params params = { .spatial = spatial };
    TSRI_CHECK(out, TSR_ENULL, "%s: out is NULL", name);
    TSRI_TRY(tsri_check_allocated(name, "x", x));
    TSRI_TRY(tsri_check_allocated(name, "w", w));
    TSRI_TRY(read_options(&params, name, kind, how));
    if (how && how->fit == TSR_CONV_SAME) TSRI_TRY(fit_same(&params, name, x, w));
    return tsri_dispatch(&(tsri_call){ .kind = kind,
                                       .params = &params,
                                       .name = name,
                                       .nout = 1,
                                       .out = { out },
                                       .nin = 3,
                                       .in = { x, w, bias } });
}

/* Gradients ---------------------------------------------------------------------------- */

/* The spatial dim of a convolution's result for a dim of x and a window's. */
static tsr_status check_grad_size(const char *name, const tsr_conv_params *p, const tsr_desc *grad, int d,
                                  int64_t size, int64_t taps)
{
    int64_t padded = 0, window = 0;
    const int64_t there = grad->shape[grad->ndim - p->spatial + d];
    TSRI_CHECK(tsri_window_length(&window, taps, p->dilation[d]) &&
                   tsri_add(&padded, p->low[d], p->high[d]) && tsri_add(&padded, padded, size),
               TSR_EOVERFLOW, "%s: padding or dilation of spatial dim %d overflows", name, d);
    TSRI_CHECK(
        window <= padded && (padded - window) / p->stride[d] + 1 == there, TSR_ESHAPE,
        "%s: spatial dim %d of grad %s is %lld long, which a window of %lld with padding over %lld does "
        "not give",
        name, d, TSRI_DESC(grad), (long long)there, (long long)window, (long long)padded);
    return TSR_OK;
}

tsr_status tsri_infer_conv_grad(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                                const void *params)
{
    const tsr_conv_params *p = params;
    const tsr_desc *grad = in[0], *x = in[1];
    int64_t shape[TSRI_SPATIAL + 2];
    TSRI_TRY(check_params(name, kind, p));
    const int first = x->ndim - p->spatial;
    TSRI_CHECK((first == 1 || first == 2) && grad->ndim == x->ndim, TSR_ESHAPE,
               "%s: grad is %s and x is %s; with %d spatial dims they have %d dims, or %d without a batch",
               name, TSRI_DESC(grad), TSRI_DESC(x), (int)p->spatial, (int)p->spatial + 2,
               (int)p->spatial + 1);
    TSRI_CHECK(first == 1 || grad->shape[0] == x->shape[0], TSR_ESHAPE,
               "%s: the batches of grad %s and x %s differ", name, TSRI_DESC(grad), TSRI_DESC(x));
    shape[0] = grad->shape[first - 1];
    shape[1] = x->shape[first - 1] / p->groups;
    TSRI_CHECK(shape[0] % p->groups == 0 && x->shape[first - 1] % p->groups == 0, TSR_ESHAPE,
               "%s: the channels of grad %s and x %s do not divide into %lld groups", name, TSRI_DESC(grad),
               TSRI_DESC(x), (long long)p->groups);
    for (int d = 0; d < p->spatial; d++) {
        shape[2 + d] = p->size[d];
        TSRI_CHECK(p->size[d] >= 1, TSR_EINVAL, "%s: size %lld of spatial dim %d of the window", name,
                   (long long)p->size[d], d);
        TSRI_TRY(check_grad_size(name, p, grad, d, x->shape[first + d], p->size[d]));
    }
    return tsri_desc_packed(out, name, x->dtype, p->spatial + 2, shape);
}

double tsri_conv_grad_work(const tsr_desc *const *in, const tsr_desc *out, const void *params)
{
    (void)params;
    return (double)tsr_desc_numel(in[0]) * kernel_size(out);
}

/* z = the sums for some images. */
static tsr_status sum_weights(tsr_tensor *z, const tsr_tensor *grad, const tsr_tensor *x, pieces *made,
                              const tsr_conv_params *p)
{
    static const char *const texts[] = { "ngoa,ngcaA->gocA", "ngoab,ngcabAB->gocAB",
                                         "ngoabd,ngcabdABD->gocABD" };
    tsr_tensor to = *z, from = *x, by = *grad, *out = &to;
    TSRI_TRY(pad(&from, made, p));
    split_groups(&to, 0, p->groups);
    split_groups(&from, 1, p->groups);
    split_groups(&by, 1, p->groups);
    TSRI_TRY(see_windows(&from, p, p->size));
    return tsr_einsum(&out, texts[p->spatial - 1], 2, (const tsr_tensor *const[]){ &by, &from });
}

/* Images whose windows, side by side, are no more elements than this are summed at once. */
enum { MOST_PATCHES = 1 << 23 };

static int64_t images_at_once(const tsr_tensor *grad, const tsr_tensor *x, const tsr_conv_params *p)
{
    const int64_t all = x->shape[0] > 0 ? x->shape[0] : 1;
    double each = (double)x->shape[1];
    for (int d = 0; d < p->spatial; d++) each *= (double)grad->shape[2 + d] * (double)p->size[d];
    const double fit = MOST_PATCHES / (each > 1 ? each : 1);
    return fit >= (double)all ? all : fit > 1 ? (int64_t)fit : 1;
}

/* The sum of what parts of the batch give, in f32 if the result is shorter. */
static tsr_status sum_images(tsr_tensor *z, const tsr_tensor *grad, const tsr_tensor *x,
                             const tsr_conv_params *p)
{
    const int64_t n = x->shape[0], some = images_at_once(grad, x, p);
    pieces made = { NULL, NULL, NULL, NULL };
    if (some >= n) {
        const tsr_status s = sum_weights(z, grad, x, &made, p);
        tsr_release(&made.padded);
        return s;
    }
    const tsr_dtype dtype = is_short(z->dtype) ? TSR_F32 : z->dtype;
    TSRI_TRY(tsri_make_temporary(&made.sums, "conv_grad_weights", z, dtype, z->ndim, z->shape));
    tsr_status s = tsr_zero(made.sums);
    for (int64_t i = 0; i < n && s == TSR_OK; i += some) {
        tsr_tensor g = *grad, from = *x;
        const int64_t end = i + some < n ? i + some : n;
        tsri_see_slice(&g, &g, 0, i, end, 1);
        tsri_see_slice(&from, &from, 0, i, end, 1);
        tsr_release_all(&made.wide_x, &made.wide_w, &made.padded);
        if (is_short(z->dtype)) s = widen(&made.wide_x, &from);
        if (is_short(z->dtype) && s == TSR_OK) s = widen(&made.wide_w, &g);
        tsr_tensor *part = NULL;
        if (s == TSR_OK)
            s = tsri_make_temporary(&part, "conv_grad_weights", z, dtype, z->ndim, z->shape);
        if (s == TSR_OK)
            s = sum_weights(part, made.wide_w ? made.wide_w : &g, made.wide_x ? made.wide_x : &from, &made,
                            p);
        if (s == TSR_OK) s = tsr_add(&made.sums, made.sums, part);
        tsr_release(&part);
    }
    if (s == TSR_OK) s = tsr_copy(z, made.sums);
    tsr_release_all(&made.sums, &made.wide_w, &made.wide_x, &made.padded);
    return s;
}

tsr_status tsri_conv_grad_parts(const tsr_op *op)
{
    const tsr_conv_params *p = op->params;
    tsr_tensor grad = *op->in[0], x = *op->in[1];
    if (tsr_numel(op->out[0]) == 0) return TSR_OK;
    insert_batch(&grad, p->spatial);
    insert_batch(&x, p->spatial);
    return sum_images(op->out[0], &grad, &x, p);
}

/* The options of a gradient, and its sizes. */
static tsr_status read_grad(tsr_conv_params *p, const char *name, int nsizes, const int64_t *sizes,
                            const tsr_conv *how)
{
    TSRI_CHECK(nsizes >= 1 && nsizes <= TSRI_SPATIAL, TSR_EINVAL, "%s: %d sizes; there are 1 to %d", name,
               nsizes, TSRI_SPATIAL);
    TSRI_CHECK(sizes, TSR_ENULL, "%s: sizes is NULL", name);
    *p = (tsr_conv_params){ .spatial = nsizes };
    for (int d = 0; d < nsizes; d++) {
        p->size[d] = sizes[d];
        TSRI_CHECK(sizes[d] >= 0, TSR_EINVAL, "%s: size %lld of spatial dim %d", name, (long long)sizes[d],
                   d);
    }
    return read_options(p, name, TSR_OP_CONV, how);
}

static tsr_status run_grad(tsr_tensor **out, const char *name, tsr_op_kind kind, const tsr_conv_params *p,
                           const char *const *names, const tsr_tensor *grad, const tsr_tensor *other)
{
    const tsr_kind of = tsr_dtype_kind(grad->dtype);
    TSRI_CHECK(of == TSR_FLOATING || of == TSR_COMPLEX, TSR_EDTYPE,
               "%s: grad is %s; a floating or complex dtype is needed "
               "(tsr_cast converts)",
               name, TSRI_DESC(&grad->desc));
    return tsri_dispatch(&(tsri_call){ .kind = kind, .params = p, .name = name, .names = names, .nout = 1,
                                       .out = { out }, .nin = 2, .in = { grad, other } });
}

/* A transposed convolution, as much longer as x was. */
tsr_status tsr_conv_grad_data(tsr_tensor **out, const tsr_tensor *grad, const tsr_tensor *w, int nsizes,
                              const int64_t *sizes, const tsr_conv *how)
{
    static const char name[] = "conv_grad_data", *const names[] = { "grad", "w", "bias" };
    tsr_conv_params p;
    TSRI_CHECK(out, TSR_ENULL, "%s: out is NULL", name);
    TSRI_TRY(tsri_check_allocated(name, "grad", grad));
    TSRI_TRY(tsri_check_allocated(name, "w", w));
    TSRI_TRY(read_grad(&p, name, nsizes, sizes, how));
    TSRI_TRY(check_ranks(name, p.spatial, &grad->desc, &w->desc));
    for (int d = 0; d < p.spatial; d++) {
        const int64_t taps = w->shape[2 + d];
        int64_t window = 0;
        TSRI_CHECK(taps > 0 && tsri_window_length(&window, taps, p.dilation[d]), TSR_ESHAPE,
                   "%s: the window of w %s is empty, or overflows", name, TSRI_DESC(&w->desc));
        if (how && how->fit == TSR_CONV_SAME) same_padding(&p, d, p.size[d], window);
        TSRI_TRY(check_grad_size(name, &p, &grad->desc, d, p.size[d], taps));
        p.output_padding[d] = (p.size[d] + p.low[d] + p.high[d] - window) % p.stride[d];
    }
    return run_grad(out, name, TSR_OP_CONV_TRANSPOSE, &p, names, grad, w);
}

tsr_status tsr_conv_grad_weights(tsr_tensor **out, const tsr_tensor *grad, const tsr_tensor *x, int nsizes,
                                 const int64_t *sizes, const tsr_conv *how)
{
    static const char name[] = "conv_grad_weights", *const names[] = { "grad", "x" };
    tsr_conv_params p;
    TSRI_CHECK(out, TSR_ENULL, "%s: out is NULL", name);
    TSRI_TRY(tsri_check_allocated(name, "grad", grad));
    TSRI_TRY(tsri_check_allocated(name, "x", x));
    TSRI_TRY(read_grad(&p, name, nsizes, sizes, how));
    for (int d = 0; d < p.spatial && how && how->fit == TSR_CONV_SAME && x->ndim > p.spatial; d++) {
        int64_t window = 0;
        TSRI_CHECK(p.size[d] > 0 && tsri_window_length(&window, p.size[d], p.dilation[d]), TSR_EOVERFLOW,
                   "%s: size or dilation of spatial dim %d is 0, or overflows", name, d);
        same_padding(&p, d, x->shape[x->ndim - p.spatial + d], window);
    }
    return run_grad(out, name, TSR_OP_CONV_GRAD_WEIGHTS, &p, names, grad, x);
}

/* The ops ----------------------------------------------------------------------------- */

#define CONV(name, ID, spatial) \
    tsr_status tsr_##name(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *w, \
                          const tsr_tensor *bias, const tsr_conv *how) \
    { \
        return conv(out, #name, TSR_OP_##ID, spatial, x, w, bias, how); \
    }

CONV(conv1d, CONV, 1)
CONV(conv2d, CONV, 2)
CONV(conv3d, CONV, 3)
CONV(conv_transpose1d, CONV_TRANSPOSE, 1)
CONV(conv_transpose2d, CONV_TRANSPOSE, 2)
CONV(conv_transpose3d, CONV_TRANSPOSE, 3)
