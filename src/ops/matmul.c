/* matmul.c - products of matrices and vectors, as views around one op.
 *
 *     check    operands are tensors with memory, of dtypes that multiply
 *     look     each as matrices: rows and columns get the dim they lack
 *     infer    batch dims broadcast; the result is made, or checked
 *     run      operands of one dtype and equal batch dims go to the backend
 */
#include "contract.h"
#include "dispatch.h"
#include "operands.h"
#include "tessera/match.h"
#include "tessera/ops/elementwise.h"
#include "tessera/ops/matmul.h"

/* Everything about one call. */
typedef struct product {
    const char       *name;
    tsr_op_kind       kind;
    tsr_dtype         dtype;     /* that operands come to */
    tsr_dtype         result;
    int               nin;       /* 2, or 3 with c */
    tsr_tensor        in[3];     /* a, b and c as they were given; a and b seen as matrices */
    tsr_tensor        view[3];   /* as they are handed over */
    tsri_operands     operands;
    bool              no_m, no_n; /* a dim that the result does not have */
    tsr_matmul_params params;
} product;

/* Dtypes ---------------------------------------------------------------------------- */

static bool multiplies(tsr_dtype dtype) { return tsr_dtype_kind(dtype) != TSR_BOOLEAN && dtype != TSR_C32; }

tsr_status tsri_product_dtype(tsr_dtype *out, const char *op, int n, const tsr_tensor *const *in,
                              const char *const *names)
{
    tsr_dtype dtype = TSR_DTYPE_INVALID;
    TSRI_TRY(tsri_promote_all(&dtype, op, n, in));
    for (int i = 0; i < n; i++)
        TSRI_CHECK(!in[i] || multiplies(tsri_is_number(in[i]) ? dtype : in[i]->dtype), TSR_EDTYPE,
                   "%s: %s is %s, which is not multiplied (tsr_cast converts)", op,
                   names ? names[i] : "an operand", TSRI_DESC(&in[i]->desc));
    *out = dtype;
    return TSR_OK;
}

static tsr_status check_factor(const product *p, const char *what, tsr_scalar s)
{
    const tsr_kind kind = tsr_dtype_kind(s.dtype);
    TSRI_CHECK(kind != TSR_KIND_INVALID && tsri_number_fits(kind, tsr_dtype_kind(p->dtype)), TSR_EDTYPE,
               "%s: %s is a %s number, which does not fit %s", p->name, what, tsr_kind_name(kind),
               tsr_dtype_name(p->dtype));
    return TSR_OK;
}

/* Shapes ---------------------------------------------------------------------------- */

/* Finds the words for shapes that do not fit, by the signature of the call. */
static TSRI_COLD tsr_status blame_shapes(const char *op, const char *signature, tsr_dtype dtype, int n,
                                         const tsr_tensor *const *in)
{
    tsr_signature s;
    tsr_desc d[3];
    const tsr_desc *descs[3] = { NULL };
    for (int i = 0; i < n; i++) {
        if (!in[i]) continue;
        d[i] = in[i]->desc;
        d[i].dtype = dtype;
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

static tsr_status blame_matmul(const product *p, const tsr_tensor *a, const tsr_tensor *b)
{
    const int rank_a = a->ndim < 2 ? a->ndim : 2, rank_b = b->ndim < 2 ? b->ndim : 2;
    return blame_shapes(p->name, matmul_signatures[rank_b][rank_a], p->dtype, 2,
                        (const tsr_tensor *const[]){ a, b });
}

/* Sees a vector as a row (axis 0 is new) or as a column (axis 1 is). */
static void see_vector(tsr_tensor *t, int axis)
{
    t->ndim = 2;
    t->shape[1 - axis] = t->shape[0];
    t->stride[1 - axis] = t->stride[0];
    t->shape[axis] = 1;
    t->stride[axis] = 0;
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

/* The result with both dims of matrices, and its batch dims: those of a and b, broadcast. */
static tsr_status infer_full(tsr_desc *out, const product *p)
{
    const tsr_desc *a = &p->in[0].desc, *b = &p->in[1].desc;
    tsr_desc batch[2];
    int ndim = 0;
    int64_t shape[TSR_MAX_NDIM];
    tsri_desc_copy(&batch[0], a);
    tsri_desc_copy(&batch[1], b);
    batch[0].ndim -= 2;
    batch[1].ndim -= 2;
    TSRI_CHECK(tsri_broadcast_dims(&ndim, shape, 2, (const tsr_desc *const[]){ &batch[0], &batch[1] }) ==
                   TSR_OK,
               TSR_ESHAPE, "%s: the batch dims of a %s and b %s do not broadcast", p->name, TSRI_DESC(a),
               TSRI_DESC(b));
    shape[ndim] = a->shape[a->ndim - 2];
    shape[ndim + 1] = b->shape[b->ndim - 1];
    return tsri_desc_packed(out, p->name, p->result, ndim + 2, shape);
}

/* Drops the dims that the result does not have. */
static void drop_added(tsr_desc *d, const product *p)
{
    if (p->no_m) swap_last(d);
    d->ndim -= (p->no_m ? 1 : 0) + (p->no_n ? 1 : 0);
}

/* The result of p, whose a and b are matrices that fit each other. */
static tsr_status infer(tsr_desc *out, const product *p)
{
    tsr_desc full, seen;
    TSRI_TRY(infer_full(&full, p));
    tsri_desc_copy(&seen, &full);
    drop_added(&seen, p);
    TSRI_TRY(tsri_desc_packed(out, p->name, seen.dtype, seen.ndim, (const int64_t *)seen.shape));
    TSRI_CHECK(p->nin < 3 || tsri_desc_expand(&seen, &p->in[2].desc, full.ndim, full.shape) == TSR_OK,
               TSR_ESHAPE, "%s: c is %s, which does not broadcast to the result, %s", p->name,
               TSRI_DESC(&p->in[2].desc), TSRI_DESC(out));
    return TSR_OK;
}

/* The result as the backend sees it: with them. */
static void see_result(tsr_tensor *view, const tsr_tensor *out, const product *p)
{
    *view = *out;
    for (int i = 0; i < (p->no_m ? 1 : 0) + (p->no_n ? 1 : 0); i++) {
        view->shape[view->ndim] = 1;
        view->stride[view->ndim++] = 0;
    }
    if (p->no_m && !p->no_n) swap_last(&view->desc);
}

/* Operands -------------------------------------------------------------------------- */

/* Operand i with the result's batch dims. */
static tsr_status see_operand(product *p, int i, const tsr_tensor *z)
{
    const tsr_tensor *t = p->operands.in[i];
    int64_t shape[TSR_MAX_NDIM];
    for (int d = 0; d < z->ndim; d++) shape[d] = z->shape[d];
    if (i < 2) {
        shape[z->ndim - 2] = t->shape[t->ndim - 2];
        shape[z->ndim - 1] = t->shape[t->ndim - 1];
    }
    p->view[i] = *t;
    return tsri_desc_expand(&p->view[i].desc, &t->desc, z->ndim, shape);
}

/* Operand i in the product's dtype, in memory that the result does not touch, with the
 * result's batch dims. */
static tsr_status prepare_operand(product *p, int i, const tsr_tensor *z, tsri_origin origin)
{
    tsri_operands *o = &p->operands;
    o->in[i] = &p->in[i];
    if (p->kind == TSR_OP_MATMUL) TSRI_TRY(tsri_operand_convert(o, i, p->dtype));
    TSRI_TRY(see_operand(p, i, z));
    if (origin != TSRI_ORIGIN_GIVEN || (i == 2 && tsri_is_exactly(&p->view[i], z))) return TSR_OK;
    TSRI_TRY(tsri_separate(&o->in[i], &o->temporary[i], z, origin));
    return see_operand(p, i, z);
}

static tsr_status run(product *p, tsr_tensor *out, tsri_origin origin)
{
    tsr_tensor z;
    tsr_op op = { .kind = p->kind, .nin = p->nin, .nout = 1, .out = { &z }, .params = &p->params };
    see_result(&z, out, p);
    for (int i = 0; i < p->nin; i++) {
        TSRI_TRY(prepare_operand(p, i, &z, origin));
        op.in[i] = &p->view[i];
    }
    return tsri_op_run(&op);
}

/* a and b of p are matrices that fit each other, c fits the result. */
static tsr_status multiply(tsr_tensor **out, product *p)
{
    tsr_desc d;
    tsri_origin origin = TSRI_ORIGIN_GIVEN;
    TSRI_TRY(infer(&d, p));
    TSRI_TRY(tsri_result(out, &origin, p->name, &d, &p->in[0]));
    const tsr_status s = run(p, *out, origin);
    tsri_operands_release(&p->operands, 3);
    return tsri_result_end(out, origin, s);
}

static void begin(product *p, const char *name)
{
    p->name = name;
    p->kind = TSR_OP_MATMUL;
    p->nin = 2;
    p->no_m = p->no_n = false;
    p->params = (tsr_matmul_params){ tsr_scalar_i64(1), tsr_scalar_i64(0) };
    for (int i = 0; i < 3; i++) p->operands.temporary[i] = NULL;
}

static tsr_status check_operands(product *p, const void *out, int n, const tsr_tensor *const *in,
                                 const char *const *names)
{
    TSRI_CHECK(out, TSR_ENULL, "%s: out is NULL", p->name);
    for (int i = 0; i < n; i++)
        if (in[i] || i < 2) TSRI_TRY(tsri_check_allocated(p->name, names[i], in[i]));
    return TSR_OK;
}

static const char *const a_and_b[] = { "a", "b", "c" };

/* Checks, and brings to one dtype. in[2] may be NULL. */
static tsr_status start(product *p, const void *out, const char *name, int n, const tsr_tensor *const *in,
                        const char *const *names)
{
    begin(p, name);
    TSRI_TRY(check_operands(p, out, n, in, names));
    TSRI_TRY(tsri_product_dtype(&p->dtype, name, n, in, names));
    p->result = p->dtype;
    for (int i = 0; i < n; i++)
        if (in[i]) p->in[i] = *in[i];
    p->nin = n > 2 && in[2] ? 3 : 2;
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

static tsr_status multiply_plainly(tsr_tensor *z, const tsr_tensor *a, const tsr_tensor *b)
{
    static const tsr_matmul_params plain = { .alpha = { .dtype = TSR_I64, .as = { .i = 1 } },
                                             .beta = { .dtype = TSR_I64, .as = { .i = 0 } } };
    tsr_op op;  /* the places of operands that it does not have stay empty */
    op.kind = TSR_OP_MATMUL;
    op.nin = 2;
    op.nout = 1;
    op.reserved = 0;
    op.in[0] = a;
    op.in[1] = b;
    op.out[0] = z;
    op.params = &plain;
    return tsri_op_run(&op);
}

/* The ops --------------------------------------------------------------------------- */

/* Vectors become a row and a column. */
static tsr_status see_matrices(product *p, const tsr_tensor *a, const tsr_tensor *b)
{
    const bool fit = a->ndim >= 1 && b->ndim >= 1 &&
                     a->shape[a->ndim - 1] == b->shape[b->ndim > 1 ? b->ndim - 2 : 0];
    if (!fit) return blame_matmul(p, a, b);
    p->no_m = a->ndim == 1;
    p->no_n = b->ndim == 1;
    if (p->no_m) see_vector(&p->in[0], 0);
    if (p->no_n) see_vector(&p->in[1], 1);
    return TSR_OK;
}

tsr_status tsr_matmul(tsr_tensor **out, const tsr_tensor *a, const tsr_tensor *b)
{
    product p;
    if (out && is_plain_product(*out, a, b)) return multiply_plainly(*out, a, b);
    TSRI_TRY(start(&p, out, "matmul", 2, (const tsr_tensor *const[]){ a, b }, a_and_b));
    TSRI_TRY(see_matrices(&p, a, b));
    return multiply(out, &p);
}

static bool is_byte(const tsr_tensor *t) { return t->dtype == TSR_I8 || t->dtype == TSR_U8; }

static tsr_status start_i8(product *p, const void *out, const char *name, const tsr_tensor *const *in)
{
    begin(p, name);
    TSRI_TRY(check_operands(p, out, 2, in, a_and_b));
    for (int i = 0; i < 2; i++) {
        TSRI_CHECK(is_byte(in[i]), TSR_EDTYPE, "%s: %s: dtype must be i8/u8, but %s is %s", name, a_and_b[i],
                   a_and_b[i], TSRI_DESC(&in[i]->desc));
        p->in[i] = *in[i];
    }
    p->kind = TSR_OP_MATMUL_I8;
    p->dtype = p->result = TSR_I32;
    return TSR_OK;
}

tsr_status tsr_matmul_i8(tsr_tensor **out, const tsr_tensor *a, const tsr_tensor *b)
{
    product p;
    TSRI_TRY(start_i8(&p, out, "matmul_i8", (const tsr_tensor *const[]){ a, b }));
    TSRI_TRY(see_matrices(&p, a, b));
    return multiply(out, &p);
}

tsr_status tsri_infer_matmul(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                             const void *params)
{
    product p;
    tsr_tensor t[3];
    const tsr_tensor *tensors[3] = { NULL };
    (void)params;
    for (int i = 0; i < 3; i++)
        if (in[i]) tensors[i] = tsri_tensor_like(&t[i], in[i]);
    if (kind == TSR_OP_MATMUL_I8) TSRI_TRY(start_i8(&p, out, name, tensors));
    else TSRI_TRY(start(&p, out, name, 3, tensors, a_and_b));
    TSRI_TRY(see_matrices(&p, tensors[0], tensors[1]));
    return infer(out, &p);
}

tsr_status tsr_gemm(tsr_tensor **out, const tsr_tensor *a, const tsr_tensor *b, const tsr_tensor *c,
                    tsr_scalar alpha, tsr_scalar beta)
{
    product p;
    const tsr_tensor *const in[] = { a, b, c };
    TSRI_TRY(start(&p, out, "gemm", 3, in, a_and_b));
    TSRI_TRY(check_factor(&p, "alpha", alpha));
    TSRI_TRY(check_factor(&p, "beta", beta));
    if (a->ndim < 2 || b->ndim < 2 || a->shape[a->ndim - 1] != b->shape[b->ndim - 2])
        return blame_shapes("gemm", "a{ dT | (..., m, k) } b{ dT | (..., k, n) } c{ dT | (...) }", p.dtype, 3,
                            in);
    p.params = (tsr_matmul_params){ alpha, beta };
    return multiply(out, &p);
}

tsr_status tsr_addmm(tsr_tensor **out, const tsr_tensor *c, const tsr_tensor *a, const tsr_tensor *b)
{
    product p;
    const tsr_tensor *const in[] = { a, b, c };
    TSRI_CHECK(c, TSR_ENULL, "addmm: c is NULL");
    TSRI_TRY(start(&p, out, "addmm", 3, in, a_and_b));
    if (a->ndim != 2 || b->ndim != 2 || a->shape[1] != b->shape[0])
        return blame_shapes("addmm", "a{ dT | (m, k) } b{ dT | (k, n) } c{ dT | (...) }", p.dtype, 3, in);
    p.params.beta = tsr_scalar_i64(1);
    return multiply(out, &p);
}

tsr_status tsr_linear(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *w, const tsr_tensor *bias)
{
    product p;
    const tsr_tensor *const in[] = { x, w, bias };
    static const char *const names[] = { "x", "w", "bias" };
    TSRI_TRY(start(&p, out, "linear", 3, in, names));
    if (x->ndim < 1 || w->ndim != 2 || x->shape[x->ndim - 1] != w->shape[1] ||
        (bias && (bias->ndim != 1 || bias->shape[0] != w->shape[0])))
        return blame_shapes("linear", "x{ dT | (..., k) } w{ dT | (n, k) } bias{ dT | (n) }", p.dtype, 3, in);
    p.no_m = x->ndim == 1;
    if (p.no_m) see_vector(&p.in[0], 0);
    swap_last(&p.in[1].desc);
    p.params.beta = tsr_scalar_i64(1);
    return multiply(out, &p);
}

tsr_status tsr_dot(tsr_tensor **out, const tsr_tensor *a, const tsr_tensor *b)
{
    product p;
    const tsr_tensor *const in[] = { a, b };
    TSRI_TRY(start(&p, out, "dot", 2, in, a_and_b));
    if (a->ndim != 1 || b->ndim != 1 || a->shape[0] != b->shape[0])
        return blame_shapes("dot", "a{ dT | (k) } b{ dT | (k) }", p.dtype, 2, in);
    TSRI_TRY(see_matrices(&p, a, b));
    return multiply(out, &p);
}

tsr_status tsr_outer(tsr_tensor **out, const tsr_tensor *a, const tsr_tensor *b)
{
    product p;
    const tsr_tensor *const in[] = { a, b };
    TSRI_TRY(start(&p, out, "outer", 2, in, a_and_b));
    if (a->ndim != 1 || b->ndim != 1)
        return blame_shapes("outer", "a{ dT | (m) } b{ dT | (n) }", p.dtype, 2, in);
    see_vector(&p.in[0], 1);
    see_vector(&p.in[1], 0);
    return multiply(out, &p);
}

/* Vecdot ------------------------------------------------------------------------------ */

/* Puts the axis last, and a new dim of size 1 before it (a row) or behind it (a column). */
static tsr_status see_vectors(tsr_tensor *t, int axis, bool row)
{
    tsr_desc moved;
    TSRI_CHECK(t->ndim < TSR_MAX_NDIM, TSR_EINVAL, "vecdot: %s has %d dims; one must be left",
               TSRI_DESC(&t->desc), (int)t->ndim);
    TSRI_TRY(tsri_desc_move_axis(&moved, &t->desc, axis, -1));
    t->desc = moved;
    t->shape[t->ndim] = 1;
    t->stride[t->ndim++] = 0;
    if (row) swap_last(&t->desc);
    return TSR_OK;
}

/* The axis, counted from the end of both. */
static tsr_status find_axis(int *out, int axis, const tsr_tensor *const *in)
{
    const int rank = in[0]->ndim > in[1]->ndim ? in[0]->ndim : in[1]->ndim;
    const int back = axis < 0 ? axis : axis - rank;
    for (int i = 0; i < 2; i++)
        TSRI_CHECK(back < 0 && -back <= in[i]->ndim, TSR_EINDEX, "vecdot: axis %d of %s and %s: %s lacks it",
                   axis, TSRI_DESC(&in[0]->desc), TSRI_DESC(&in[1]->desc), a_and_b[i]);
    *out = back;
    return TSR_OK;
}

tsr_status tsr_vecdot(tsr_tensor **out, const tsr_tensor *a, const tsr_tensor *b, int axis)
{
    product p;
    const tsr_tensor *const in[] = { a, b };
    tsr_tensor *conjugate = NULL;
    TSRI_TRY(start(&p, out, "vecdot", 2, in, a_and_b));
    TSRI_TRY(find_axis(&axis, axis, in));
    TSRI_CHECK(a->shape[a->ndim + axis] == b->shape[b->ndim + axis], TSR_ESHAPE,
               "vecdot: b: k is %lld from a, but dim %d of b is %lld", (long long)a->shape[a->ndim + axis],
               axis, (long long)b->shape[b->ndim + axis]);
    TSRI_TRY(see_vectors(&p.in[0], axis, true));
    TSRI_TRY(see_vectors(&p.in[1], axis, false));
    p.no_m = p.no_n = true;
    if (tsr_dtype_kind(a->dtype) == TSR_COMPLEX) {
        TSRI_TRY(tsr_conj(&conjugate, &p.in[0]));
        p.in[0] = *conjugate;
    }
    const tsr_status s = multiply(out, &p);
    tsr_release(&conjugate);
    return s;
}

/* Tensordot --------------------------------------------------------------------------- */

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

/* Adds the dims that are not paired to the result. */
static void add_free_dims(int *ndim, int64_t *shape, uint8_t *names, int n, const tsri_named *t)
{
    for (int i = 0; i < t->view.ndim; i++) {
        if (t->name[i] < n) continue;
        if (*ndim < TSR_MAX_NDIM) {
            shape[*ndim] = t->view.shape[i];
            names[*ndim] = t->name[i];
        }
        (*ndim)++;
    }
}

/* Runs with operands of one dtype that the result does not touch. */
static tsr_status contract_apart(product *p, tsr_tensor *out, tsri_origin origin, const uint8_t *names,
                                 tsri_named *a, tsri_named *b)
{
    tsri_named z = { .view = *out };
    tsri_named *const operands[] = { a, b };
    for (int i = 0; i < out->ndim; i++) z.name[i] = names[i];
    for (int i = 0; i < 2; i++) {
        tsri_operands *o = &p->operands;
        o->in[i] = &operands[i]->view;
        TSRI_TRY(tsri_operand_convert(o, i, p->dtype));
        TSRI_TRY(tsri_separate(&o->in[i], &o->temporary[i], out, origin));
        if (o->in[i] != &operands[i]->view) operands[i]->view = *o->in[i];
    }
    return tsri_contract(p->name, &z, a, b);
}

tsr_status tsr_tensordot(tsr_tensor **out, const tsr_tensor *a, const tsr_tensor *b, int n, const int *axes_a,
                         const int *axes_b)
{
    product p;
    tsr_desc d;
    tsri_named na, nb;
    tsri_origin origin = TSRI_ORIGIN_GIVEN;
    int64_t shape[TSR_MAX_NDIM];
    uint8_t names[TSR_MAX_NDIM];
    int ndim = 0;
    TSRI_TRY(start(&p, out, "tensordot", 2, (const tsr_tensor *const[]){ a, b }, a_and_b));
    TSRI_CHECK(n >= 0 && n <= a->ndim && n <= b->ndim, TSR_EINVAL, "tensordot: %d axes of a %s and b %s", n,
               TSRI_DESC(&a->desc), TSRI_DESC(&b->desc));
    TSRI_CHECK((axes_a == NULL) == (axes_b == NULL) || n == 0, TSR_ENULL, "tensordot: axes_%c is NULL",
               axes_a ? 'b' : 'a');
    na.view = *a;
    nb.view = *b;
    TSRI_TRY(name_dims(&na, "axes_a", n, axes_a, a->ndim - n, TSR_MAX_NDIM));
    TSRI_TRY(name_dims(&nb, "axes_b", n, axes_b, 0, 2 * TSR_MAX_NDIM));
    TSRI_TRY(check_pairs(n, &na, &nb));
    add_free_dims(&ndim, shape, names, n, &na);
    add_free_dims(&ndim, shape, names, n, &nb);
    TSRI_TRY(tsri_desc_packed(&d, "tensordot", p.dtype, ndim, shape));
    TSRI_TRY(tsri_result(out, &origin, "tensordot", &d, a));
    const tsr_status s = contract_apart(&p, *out, origin, names, &na, &nb);
    tsri_operands_release(&p.operands, 2);
    return tsri_result_end(out, origin, s);
}
