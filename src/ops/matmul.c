/* matmul.c - products of matrices and vectors: one op, and the calls that are views around it. */
#include "contract.h"
#include "dispatch.h"
#include "operands.h"
#include "tessera/match.h"
#include "tessera/ops/elementwise.h"
#include "tessera/ops/matmul.h"

/* Dtypes ---------------------------------------------------------------------------- */

static tsr_status check_factor(const char *name, const char *what, tsr_scalar s, tsr_dtype dtype)
{
    if (TSRI_LIKELY(s.dtype == TSR_I64)) return TSR_OK;  /* fits all that is multiplied */
    const tsr_kind kind = tsr_dtype_kind(s.dtype);
    TSRI_CHECK(kind != TSR_KIND_INVALID && tsri_number_fits(kind, tsr_dtype_kind(dtype)), TSR_EDTYPE,
               "%s: %s is a %s number, which does not fit %s", name, what, tsr_kind_name(kind),
               tsr_dtype_name(dtype));
    return TSR_OK;
}

/* Shapes ---------------------------------------------------------------------------- */

/* Finds the words for shapes that do not fit, by the signature of the call. */
static TSRI_COLD tsr_status blame_shapes(const char *op, const char *signature, int n,
                                         const tsr_desc *const *in)
{
    tsr_signature s;
    tsr_desc d[3];
    const tsr_desc *descs[3] = { NULL };
    for (int i = 0; i < n; i++) {
        if (!in[i]) continue;
        d[i] = *in[i];
        d[i].dtype = in[0]->dtype;
        descs[i] = &d[i];
    }
    TSRI_TRY(tsr_signature_parse(&s, signature));
    TSRI_TRY(tsr_match(&s, op, n, descs, NULL));
    return tsri_fail(TSR_ESHAPE, "%s: shapes do not fit", op);
}

#define ROW_OR_MATRIX(b) { "a{ dT | (..., k) } " b, "a{ dT | (k) } " b, "a{ dT | (..., m, k) } " b }

/* By the ranks of b and a: a scalar, a vector, matrices. */
static const char *const matmul_signatures[3][3] = { ROW_OR_MATRIX("b{ dT | (..., k) }"),
                                                     ROW_OR_MATRIX("b{ dT | (k) }"),
                                                     ROW_OR_MATRIX("b{ dT | (..., k, n) }") };

static TSRI_COLD tsr_status blame_matmul(const char *name, const tsr_desc *const *in)
{
    const int rank_a = in[0]->ndim < 2 ? in[0]->ndim : 2, rank_b = in[1]->ndim < 2 ? in[1]->ndim : 2;
    return blame_shapes(name, matmul_signatures[rank_b][rank_a], 2, in);
}

static void swap_last(tsr_desc *d)
{
    const int i = d->ndim - 2, j = d->ndim - 1;
    const int64_t n = d->shape[i], step = d->stride[i];
    d->shape[i] = d->shape[j];
    d->stride[i] = d->stride[j];
    d->shape[j] = n;
    d->stride[j] = step;
}

/* Sees columns: a new last dim, of size 1. */
static void add_dim(tsr_desc *d)
{
    d->shape[d->ndim] = 1;
    d->stride[d->ndim++] = 0;
}

/* Sees a vector as a row. */
static void see_row(tsr_desc *d)
{
    add_dim(d);
    swap_last(d);
}

/* The result of matrices, with batch dims that are broadcast. */
static tsr_status infer_full(tsr_desc *out, const char *name, tsr_dtype dtype, const tsr_desc *a,
                             const tsr_desc *b)
{
    tsr_desc batch[2];
    int ndim = 0;
    int64_t shape[TSR_MAX_NDIM];
    tsri_desc_copy(&batch[0], a);
    tsri_desc_copy(&batch[1], b);
    batch[0].ndim -= 2;
    batch[1].ndim -= 2;
    TSRI_CHECK(tsri_broadcast_dims(&ndim, shape, 2, (const tsr_desc *const[]){ &batch[0], &batch[1] }) ==
                   TSR_OK,
               TSR_ESHAPE, "%s: the batch dims of a %s and b %s do not broadcast", name, TSRI_DESC(a),
               TSRI_DESC(b));
    shape[ndim] = a->shape[a->ndim - 2];
    shape[ndim + 1] = b->shape[b->ndim - 1];
    return tsri_desc_packed(out, name, dtype, ndim + 2, shape);
}

/* Vectors are a row (a) or a column (b), whose dim of size 1 the result lacks. */
tsr_status tsri_infer_matmul(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                             const void *params)
{
    const tsr_matmul_params *p = params;
    const bool bytes = kind == TSR_OP_MATMUL_I8;
    const tsr_dtype dtype = bytes ? TSR_I32 : in[0]->dtype;
    const bool row = in[0]->ndim == 1, column = in[1]->ndim == 1;
    tsr_desc a, b, full, seen;
    const bool fit = in[0]->ndim >= 1 && in[1]->ndim >= 1 &&
                     in[0]->shape[in[0]->ndim - 1] == in[1]->shape[column ? 0 : in[1]->ndim - 2];
    if (!fit) return blame_matmul(name, in);
    if (p) TSRI_TRY(check_factor(name, "alpha", p->alpha, dtype));
    if (p) TSRI_TRY(check_factor(name, "beta", p->beta, dtype));
    tsri_desc_copy(&a, in[0]);
    tsri_desc_copy(&b, in[1]);
    if (row) see_row(&a);
    if (column) add_dim(&b);
    TSRI_TRY(infer_full(&full, name, dtype, &a, &b));
    tsri_desc_copy(&seen, &full);
    if (row) swap_last(&seen);
    seen.ndim -= row + column;
    TSRI_TRY(tsri_desc_packed(out, name, dtype, seen.ndim, (const int64_t *)seen.shape));
    TSRI_CHECK(bytes || !in[2] || tsri_desc_expand(&seen, in[2], full.ndim, full.shape) == TSR_OK, TSR_ESHAPE,
               "%s: c is %s, which does not broadcast to the result, %s", name, TSRI_DESC(in[2]),
               TSRI_DESC(out));
    return TSR_OK;
}

/* The result with the dims that rows and columns lack. */
static void see_result(tsr_tensor **out, tsr_tensor *view, bool row, bool column)
{
    *view = **out;
    if (column) add_dim(&view->desc);
    if (row) add_dim(&view->desc);
    if (row && !column) swap_last(&view->desc);
    *out = view;
}

/* Matrices with the batch dims of the result; c is broadcast to all of it. */
tsr_status tsri_broadcast_matmul(tsri_operands *o, int nin, tsr_tensor **out, tsr_tensor *view)
{
    const bool row = o->in[0]->ndim == 1, column = o->in[1]->ndim == 1;
    int64_t shape[TSR_MAX_NDIM];
    if (row || column) see_result(out, view, row, column);
    if (row) see_row(&tsri_operand_view(o, 0)->desc);
    if (column) add_dim(&tsri_operand_view(o, 1)->desc);
    const tsr_desc *z = &(*out)->desc;
    for (int d = 0; d < z->ndim; d++) shape[d] = z->shape[d];
    if (nin > 2) TSRI_TRY(tsri_operand_expand(o, 2, z->ndim, shape));
    for (int i = 0; i < 2; i++) {
        const tsr_desc *t = &o->in[i]->desc;
        shape[z->ndim - 2] = t->shape[t->ndim - 2];
        shape[z->ndim - 1] = t->shape[t->ndim - 1];
        TSRI_TRY(tsri_operand_expand(o, i, z->ndim, shape));
    }
    return TSR_OK;
}

/* Plain products ---------------------------------------------------------------------- */

/* Are all of z's elements, which are packed, apart from all of t's? False where that would take a search. */
static inline bool is_apart(const tsr_tensor *z, const tsr_tensor *t, int64_t size)
{
    const uintptr_t z_begin = (uintptr_t)z->data, t_begin = (uintptr_t)t->data;
    const uintptr_t z_bytes = (uintptr_t)(z->shape[0] * z->shape[1] * size);
    const uintptr_t t_last = (uintptr_t)(t->shape[0] - 1) * (uintptr_t)t->stride[0] +
                             (uintptr_t)(t->shape[1] - 1) * (uintptr_t)t->stride[1];
    return t_begin + (t_last + 1) * (uintptr_t)size <= z_begin || z_begin + z_bytes <= t_begin;
}

/* Has t elements, and does it walk forwards? */
static inline bool walks_forwards(const tsr_tensor *t)
{
    return (t->stride[0] | t->stride[1] | (t->shape[0] - 1) | (t->shape[1] - 1)) >= 0;
}

/* Matrices of one dtype, of which nothing must be converted, seen otherwise, made or copied:
 * what most calls are, and what small ones must be quick with. */
static bool is_plain_product(const tsr_tensor *z, const tsr_tensor *a, const tsr_tensor *b)
{
    enum {
        DTYPES = 1 << TSR_F32 | 1 << TSR_F64 | 1 << TSR_F16 | 1 << TSR_BF16 | 1 << TSR_I32 | 1 << TSR_I64
    };
    if (!z || !a || !b || !z->data || !a->data || !b->data) return false;
    if ((z->ndim ^ 2) | (a->ndim ^ 2) | (b->ndim ^ 2) | (int)(z->dtype ^ a->dtype) |
        (int)(a->dtype ^ b->dtype))
        return false;
    if ((DTYPES >> a->dtype & 1) == 0 || (z->flags & TSR_FLAG_READONLY)) return false;
    if (a->shape[1] != b->shape[0] || z->shape[0] != a->shape[0] || z->shape[1] != b->shape[1]) return false;
    if (z->stride[1] != 1 || z->stride[0] != z->shape[1] || !walks_forwards(a) || !walks_forwards(b))
        return false;
    const int64_t size = tsri_dtype_size(a->dtype);
    return is_apart(z, a, size) && is_apart(z, b, size);
}

static const tsr_matmul_params no_sum = { .alpha = { .dtype = TSR_I64, .as = { .i = 1 } },
                                          .beta = { .dtype = TSR_I64, .as = { .i = 0 } } };

static tsr_status multiply_plainly(tsr_tensor *z, const tsr_tensor *a, const tsr_tensor *b)
{
    tsr_op op;  /* the places of operands that it does not have stay empty */
    op.kind = TSR_OP_MATMUL;
    op.nin = 2;
    op.nout = 1;
    op.reserved = 0;
    op.in[0] = a;
    op.in[1] = b;
    op.out[0] = z;
    op.params = &no_sum;
    return tsri_op_run(&op);
}

/* The ops --------------------------------------------------------------------------- */

static const char *const a_and_b[] = { "a", "b", "c" };

/* a @ b + c, where c is not NULL: of any names and dims that matmul takes. */
static tsr_status multiply(tsr_tensor **out, const char *name, const char *const *names, const tsr_tensor *a,
                           const tsr_tensor *b, const tsr_tensor *c)
{
    static const tsr_matmul_params sum = { .alpha = { .dtype = TSR_I64, .as = { .i = 1 } },
                                           .beta = { .dtype = TSR_I64, .as = { .i = 1 } } };
    return tsri_dispatch(&(tsri_call){ .kind = TSR_OP_MATMUL, .params = c ? &sum : &no_sum,
                                       .nin = c ? 3 : 2, .in = { a, b, c }, .nout = 1, .out = { out },
                                       .name = name, .names = names });
}

tsr_status tsr_matmul(tsr_tensor **out, const tsr_tensor *a, const tsr_tensor *b)
{
    if (out && is_plain_product(*out, a, b)) return multiply_plainly(*out, a, b);
    return multiply(out, "matmul", NULL, a, b, NULL);
}

tsr_status tsr_matmul_i8(tsr_tensor **out, const tsr_tensor *a, const tsr_tensor *b)
{
    return tsri_dispatch(&(tsri_call){ .kind = TSR_OP_MATMUL_I8, .params = &no_sum, .nin = 2,
                                       .in = { a, b }, .nout = 1, .out = { out } });
}

/* What a call checks before it looks at shapes; c may be NULL. Gives the operands' descs. */
static tsr_status check_operands(const tsr_desc **descs, const void *out, const char *name,
                                 const char *const *names, const tsr_tensor *a, const tsr_tensor *b,
                                 const tsr_tensor *c)
{
    const tsr_tensor *const in[] = { a, b, c };
    TSRI_CHECK(out, TSR_ENULL, "%s: out is NULL", name);
    for (int i = 0; i < 3; i++) {
        if (in[i] || i < 2) TSRI_TRY(tsri_check_allocated(name, names[i], in[i]));
        descs[i] = in[i] ? &in[i]->desc : NULL;
    }
    return TSR_OK;
}

tsr_status tsr_gemm(tsr_tensor **out, const tsr_tensor *a, const tsr_tensor *b, const tsr_tensor *c,
                    tsr_scalar alpha, tsr_scalar beta)
{
    const tsr_matmul_params params = { alpha, beta };
    const tsr_desc *d[3];
    TSRI_TRY(check_operands(d, out, "gemm", a_and_b, a, b, c));
    if (a->ndim < 2 || b->ndim < 2 || a->shape[a->ndim - 1] != b->shape[b->ndim - 2])
        return blame_shapes("gemm", "a{ dT | (..., m, k) } b{ dT | (..., k, n) } c{ dT | (...) }", 3, d);
    return tsri_dispatch(&(tsri_call){ .kind = TSR_OP_MATMUL, .params = &params, .nin = c ? 3 : 2,
                                       .in = { a, b, c }, .nout = 1, .out = { out }, .name = "gemm" });
}

tsr_status tsr_addmm(tsr_tensor **out, const tsr_tensor *c, const tsr_tensor *a, const tsr_tensor *b)
{
    const tsr_desc *d[3];
    TSRI_CHECK(c, TSR_ENULL, "addmm: c is NULL");
    TSRI_TRY(check_operands(d, out, "addmm", a_and_b, a, b, c));
    if (a->ndim != 2 || b->ndim != 2 || a->shape[1] != b->shape[0])
        return blame_shapes("addmm", "a{ dT | (m, k) } b{ dT | (k, n) } c{ dT | (...) }", 3, d);
    return multiply(out, "addmm", a_and_b, a, b, c);
}

tsr_status tsr_linear(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *w, const tsr_tensor *bias)
{
    static const char *const names[] = { "x", "w", "bias" };
    const tsr_desc *d[3];
    TSRI_TRY(check_operands(d, out, "linear", names, x, w, bias));
    if (x->ndim < 1 || w->ndim != 2 || x->shape[x->ndim - 1] != w->shape[1] ||
        (bias && (bias->ndim != 1 || bias->shape[0] != w->shape[0])))
        return blame_shapes("linear", "x{ dT | (..., k) } w{ dT | (n, k) } bias{ dT | (n) }", 3, d);
    tsr_tensor transposed = *w;
    swap_last(&transposed.desc);
    return multiply(out, "linear", names, x, &transposed, bias);
}

/* Linear, and what follows it ----------------------------------------------------------- */

static const tsr_op_kind activations[] = { TSR_OP_NONE, TSR_OP_RELU, TSR_OP_GELU, TSR_OP_GELU_TANH,
                                           TSR_OP_SILU };

/* The residual, which z may be, goes with the product, and is rounded once with it. */
tsr_status tsri_linear_activation_parts(const tsr_op *op)
{
    tsr_tensor *z = op->out[0], w = *op->in[1];
    const tsr_activation_params *p = op->params;
    const tsr_tensor *bias = op->in[2], *residual = op->in[3];
    const tsr_op_kind kind = activations[p->activation];
    swap_last(&w.desc);
    TSRI_TRY(multiply(&z, "linear_activation", a_and_b, op->in[0], &w, residual ? residual : bias));
    if (bias && residual)
        TSRI_TRY(tsri_elementwise(&z, TSR_OP_ADD, NULL, 2, (const tsr_tensor *const[]){ z, bias }));
    if (kind == TSR_OP_NONE) return TSR_OK;
    return tsri_elementwise(&z, kind, NULL, 1, (const tsr_tensor *const[]){ z });
}

tsr_status tsr_linear_activation(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *w,
                                 const tsr_tensor *bias, const tsr_tensor *residual,
                                 tsr_activation activation)
{
    const tsr_activation_params params = { (int32_t)activation };
    TSRI_CHECK((unsigned)activation < sizeof activations / sizeof *activations, TSR_EINVAL,
               "linear_activation: %d is no activation", (int)activation);
    return tsri_dispatch(&(tsri_call){ .kind = TSR_OP_LINEAR_ACTIVATION, .params = &params, .nout = 1,
                                       .out = { out }, .nin = 4, .in = { x, w, bias, residual } });
}

tsr_status tsr_dot(tsr_tensor **out, const tsr_tensor *a, const tsr_tensor *b)
{
    const tsr_desc *d[3];
    TSRI_TRY(check_operands(d, out, "dot", a_and_b, a, b, NULL));
    if (a->ndim != 1 || b->ndim != 1 || a->shape[0] != b->shape[0])
        return blame_shapes("dot", "a{ dT | (k) } b{ dT | (k) }", 2, d);
    return multiply(out, "dot", a_and_b, a, b, NULL);
}

tsr_status tsr_outer(tsr_tensor **out, const tsr_tensor *a, const tsr_tensor *b)
{
    const tsr_desc *d[3];
    TSRI_TRY(check_operands(d, out, "outer", a_and_b, a, b, NULL));
    if (a->ndim != 1 || b->ndim != 1) return blame_shapes("outer", "a{ dT | (m) } b{ dT | (n) }", 2, d);
    tsr_tensor column = *a, row = *b;
    add_dim(&column.desc);
    see_row(&row.desc);
    return multiply(out, "outer", a_and_b, &column, &row, NULL);
}

/* Vecdot ------------------------------------------------------------------------------ */

/* Puts the axis last, and a new dim of size 1 before it (a row) or behind it (a column). */
static tsr_status see_vectors(tsr_desc *out, const tsr_desc *d, int axis, bool row)
{
    TSRI_CHECK(d->ndim < TSR_MAX_NDIM, TSR_EINVAL, "vecdot: %s has %d dims; one must be left", TSRI_DESC(d),
               (int)d->ndim);
    TSRI_TRY(tsri_desc_move_axis(out, d, axis, -1));
    add_dim(out);
    if (row) swap_last(out);
    return TSR_OK;
}

/* The axis, counted from the end of both. */
static int axis_from_end(int axis, const tsr_desc *a, const tsr_desc *b)
{
    return axis < 0 ? axis : axis - (a->ndim > b->ndim ? a->ndim : b->ndim);
}

/* The rows of a times the columns of b, without their dims of size 1. */
static tsr_status infer_vecdot(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                               const void *params)
{
    const tsr_desc *a = in[0], *b = in[1];
    const int given = *(const int *)params, axis = axis_from_end(given, a, b);
    tsr_desc rows, columns, full;
    (void)kind;
    for (int i = 0; i < 2; i++)
        TSRI_CHECK(axis < 0 && axis >= -in[i]->ndim, TSR_EINDEX, "%s: axis %d of %s and %s: %s lacks it",
                   name, given, TSRI_DESC(a), TSRI_DESC(b), a_and_b[i]);
    TSRI_CHECK(a->shape[a->ndim + axis] == b->shape[b->ndim + axis], TSR_ESHAPE,
               "%s: b: k is %lld from a, but dim %d of b is %lld", name, (long long)a->shape[a->ndim + axis],
               axis, (long long)b->shape[b->ndim + axis]);
    TSRI_TRY(see_vectors(&rows, a, axis, true));
    TSRI_TRY(see_vectors(&columns, b, axis, false));
    TSRI_TRY(infer_full(&full, name, a->dtype, &rows, &columns));
    return tsri_desc_packed(out, name, a->dtype, full.ndim - 2, (const int64_t *)full.shape);
}

static tsr_status run_vecdot(const tsr_op *op)
{
    const int axis = axis_from_end(*(const int *)op->params, &op->in[0]->desc, &op->in[1]->desc);
    tsr_tensor rows = *op->in[0], columns = *op->in[1], z = *op->out[0], *out = &z, *conjugate = NULL;
    TSRI_TRY(see_vectors(&rows.desc, &op->in[0]->desc, axis, true));
    TSRI_TRY(see_vectors(&columns.desc, &op->in[1]->desc, axis, false));
    add_dim(&z.desc);
    add_dim(&z.desc);
    const bool complex = tsr_dtype_kind(rows.dtype) == TSR_COMPLEX;
    if (complex) TSRI_TRY(tsr_conj(&conjugate, &rows));
    const tsr_status s = multiply(&out, "vecdot", a_and_b, complex ? conjugate : &rows, &columns, NULL);
    tsr_release(&conjugate);
    return s;
}

tsr_status tsr_vecdot(tsr_tensor **out, const tsr_tensor *a, const tsr_tensor *b, int axis)
{
    static tsri_composed call = { .row = "vecdot", .traits = { .infer = infer_vecdot, .parts = run_vecdot } };
    return tsri_dispatch_product(out, &call, &axis, a, b);
}

/* Tensordot --------------------------------------------------------------------------- */

typedef struct pairs {
    int        n;
    const int *axes_a, *axes_b;
} pairs;

/* Names the dims: pair i of axes is i, the others are named apart. */
static tsr_status name_dims(tsri_named *t, const char *what, int n, const int *axes, int first_axis,
                            uint8_t other)
{
    bool named[TSR_MAX_NDIM] = { false };
    for (int i = 0; i < n; i++) {
        int axis;
        TSRI_TRY(tsri_axis(&axis, "tensordot", what, axes ? axes[i] : first_axis + i, &t->view.desc));
        TSRI_CHECK(!named[axis], TSR_EINVAL, "tensordot: %s names dim %d of %s twice", what, axis,
                   TSRI_DESC(&t->view.desc));
        named[axis] = true;
        t->name[axis] = (uint8_t)i;
    }
    for (int i = 0; i < t->view.ndim; i++)
        if (!named[i]) t->name[i] = (uint8_t)(other + i);
    return TSR_OK;
}

static tsr_status check_pairs(int n, const tsri_named *a, const tsri_named *b)
{
    for (uint8_t i = 0; i < n; i++) {
        const int in_a = tsri_find_dim(a, i), in_b = tsri_find_dim(b, i);
        TSRI_CHECK(a->view.shape[in_a] == b->view.shape[in_b], TSR_ESHAPE,
                   "tensordot: b: dim %d of a is %lld, but dim %d of b is %lld; a is %s, b is %s", in_a,
                   (long long)a->view.shape[in_a], in_b, (long long)b->view.shape[in_b],
                   TSRI_DESC(&a->view.desc), TSRI_DESC(&b->view.desc));
    }
    return TSR_OK;
}

/* Adds the dims that are not paired to the result; those that it has no room for are counted. */
static void add_free_dims(tsri_named *z, int n, const tsri_named *t)
{
    for (int i = 0; i < t->view.ndim; i++) {
        if (t->name[i] < n) continue;
        if (z->view.ndim < TSR_MAX_NDIM) {
            z->view.shape[z->view.ndim] = t->view.shape[i];
            z->name[z->view.ndim] = t->name[i];
        }
        z->view.ndim++;
    }
}

/* The names of all three, and the shape of the result, from the descs of a and b. */
static tsr_status pair_dims(tsri_named *z, tsri_named *a, tsri_named *b, const pairs *p)
{
    const int n = p->n;
    TSRI_TRY(name_dims(a, "axes_a", n, p->axes_a, a->view.ndim - n, TSR_MAX_NDIM));
    TSRI_TRY(name_dims(b, "axes_b", n, p->axes_b, 0, 2 * TSR_MAX_NDIM));
    TSRI_TRY(check_pairs(n, a, b));
    z->view.ndim = 0;
    add_free_dims(z, n, a);
    add_free_dims(z, n, b);
    return TSR_OK;
}

static tsr_status infer_tensordot(tsr_desc *out, const char *name, tsr_op_kind kind,
                                  const tsr_desc *const *in, const void *params)
{
    const pairs *p = params;
    tsri_named z, a, b;
    (void)kind;
    TSRI_CHECK(p->n >= 0 && p->n <= in[0]->ndim && p->n <= in[1]->ndim, TSR_EINVAL,
               "%s: %d axes of a %s and b %s", name, p->n, TSRI_DESC(in[0]), TSRI_DESC(in[1]));
    TSRI_CHECK((p->axes_a == NULL) == (p->axes_b == NULL) || p->n == 0, TSR_ENULL, "%s: axes_%c is NULL",
               name, p->axes_a ? 'b' : 'a');
    tsri_desc_copy(&a.view.desc, in[0]);
    tsri_desc_copy(&b.view.desc, in[1]);
    TSRI_TRY(pair_dims(&z, &a, &b, p));
    return tsri_desc_packed(out, name, in[0]->dtype, z.view.ndim, z.view.shape);
}

static tsr_status run_tensordot(const tsr_op *op)
{
    tsri_named z, a, b;
    tsri_see_as(&a.view, op->in[0]);
    tsri_see_as(&b.view, op->in[1]);
    TSRI_TRY(pair_dims(&z, &a, &b, op->params));
    tsri_see_as(&z.view, op->out[0]);
    return tsri_contract("tensordot", &z, &a, &b);
}

tsr_status tsr_tensordot(tsr_tensor **out, const tsr_tensor *a, const tsr_tensor *b, int n, const int *axes_a,
                         const int *axes_b)
{
    static tsri_composed call = { .row = "tensordot",
                                  .traits = { .infer = infer_tensordot, .parts = run_tensordot } };
    return tsri_dispatch_product(out, &call, &(pairs){ n, axes_a, axes_b }, a, b);
}
