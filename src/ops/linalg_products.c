/* linalg_products.c - vector products, Kronecker's product, powers of matrices, said with
 * other ops. */
#include "linalg_int.h"
#include "tessera/move.h"
#include "tessera/ops/elementwise.h"
#include "tessera/ops/linalg.h"
#include "tessera/ops/matmul.h"

/* Vector products ------------------------------------------------------------------------------ */

/* Dim `axis`, counted in the longer of both shapes, must have three elements in t. */
static tsr_status check_three(const char *what, const tsr_desc *t, int axis, int ndim)
{
    const int at = axis - (ndim - t->ndim);
    TSRI_CHECK(at >= 0, TSR_EINDEX, "cross: %s is %s, which lacks axis %d of %d", what, TSRI_DESC(t),
               axis, ndim);
    TSRI_CHECK(t->shape[at] == 3, TSR_ESHAPE, "cross: %s is %s, which has %lld elements along axis %d, not 3",
               what, TSRI_DESC(t), (long long)t->shape[at], at);
    return TSR_OK;
}

static tsr_status infer_cross(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                              const void *params)
{
    const int axis = *(const int *)params;
    int64_t shape[TSR_MAX_NDIM];
    int ndim = in[0]->ndim > in[1]->ndim ? in[0]->ndim : in[1]->ndim;
    const int at = axis < 0 ? axis + ndim : axis;
    (void)kind;
    TSRI_CHECK(at >= 0 && at < ndim, TSR_EINDEX, "%s: axis %d of %s and %s", name, axis, TSRI_DESC(in[0]),
               TSRI_DESC(in[1]));
    TSRI_TRY(check_three("a", in[0], at, ndim));
    TSRI_TRY(check_three("b", in[1], at, ndim));
    TSRI_CHECK(tsr_desc_broadcast(&ndim, shape, 2, in) == TSR_OK, TSR_ESHAPE,
               "%s: %s and %s do not broadcast", name, TSRI_DESC(in[0]), TSRI_DESC(in[1]));
    return tsri_desc_packed(out, name, in[0]->dtype, ndim, shape);
}

/* *out = a[i] * b[j]; element numbers count modulo 3. */
static tsr_status multiply(tsr_tensor **out, const tsr_tensor *v, int axis, int i, int j)
{
    tsr_tensor x, y;
    tsri_see_slice(&x, &v[0], axis, i % 3, i % 3 + 1, 1);
    tsri_see_slice(&y, &v[1], axis, j % 3, j % 3 + 1, 1);
    return tsr_mul(out, &x, &y);
}

/* Element i of the result is a[i + 1] * b[i + 2] - a[i + 2] * b[i + 1]. */
static tsr_status cross_one(tsr_tensor *out, const tsr_tensor *v, int axis, int i)
{
    tsr_tensor *t[2] = { NULL }, place;
    tsri_see_slice(&place, out, axis, i, i + 1, 1);
    tsr_status s = multiply(&t[0], v, axis, i + 1, i + 2);
    if (s == TSR_OK) s = multiply(&t[1], v, axis, i + 2, i + 1);
    if (s == TSR_OK) s = tsr_sub(&t[0], t[0], t[1]);
    if (s == TSR_OK) s = tsri_copy_run(&place, t[0]);
    tsri_release_all(2, t);
    return s;
}

/* Both operands are expanded to the result's shape; short floats are computed in f32. */
static tsr_status run_cross(const tsr_op *op)
{
    tsr_tensor *out = op->out[0], *temporary[2] = { NULL }, v[2];
    const int given = *(const int *)op->params, axis = given < 0 ? given + out->ndim : given;
    tsr_status s = TSR_OK;
    for (int i = 0; i < 2 && s == TSR_OK; i++) {
        const tsr_tensor *t = op->in[i];
        s = tsri_as_dtype(&t, &temporary[i], tsri_computed_dtype(out->dtype));
        v[i] = *t;
        if (s == TSR_OK) s = tsri_desc_expand(&v[i].desc, &t->desc, out->ndim, out->shape);
    }
    for (int i = 0; i < 3 && s == TSR_OK; i++) s = cross_one(out, v, axis, i);
    tsri_release_all(2, temporary);
    return s;
}

tsr_status tsr_cross(tsr_tensor **out, const tsr_tensor *a, const tsr_tensor *b, int axis)
{
    static tsri_composed call = { .row = "cross", .traits = { .infer = infer_cross, .parts = run_cross } };
    return tsri_dispatch_product(out, &call, &axis, a, b);
}

/* Kronecker's product ---------------------------------------------------------------------------- */

/* out = a (x) b for operands of one rank. From `axis` on, each dim of out is a's times b's. It
 * is walked as two, in one of which a repeats and in the other b; where there is no room for
 * another dim, each index of a is a product of its own. */
static tsr_status kron_into(const tsr_tensor *out, const tsr_tensor *a, const tsr_tensor *b, int axis)
{
    tsr_tensor z, x, y, *into = &z;
    tsri_see_as(&z, out);
    tsri_see_as(&x, a);
    tsri_see_as(&y, b);
    while (axis < z.ndim && (x.shape[axis] == 1 || y.shape[axis] == 1)) axis++;
    if (axis == z.ndim) return tsr_mul(&into, &x, &y);
    const int64_t n = x.shape[axis], inner = y.shape[axis];
    if (z.ndim < TSR_MAX_NDIM) {
        tsri_insert_dim(&z.desc, axis, n, tsri_mul_wrapping(z.stride[axis], inner));
        z.shape[axis + 1] = inner;
        tsri_insert_dim(&x.desc, axis + 1, 1, 0);
        tsri_insert_dim(&y.desc, axis, 1, 0);
        return kron_into(&z, &x, &y, axis + 2);
    }
    for (int64_t i = 0; i < n; i++) {
        tsri_see_slice(&z, out, axis, i * inner, (i + 1) * inner, 1);
        tsri_see_slice(&x, a, axis, i, i + 1, 1);
        TSRI_TRY(kron_into(&z, &x, b, axis + 1));
    }
    return TSR_OK;
}

/* Adds dims of size 1 in front of the shorter shape. */
static void align(tsr_desc *a, tsr_desc *b)
{
    while (a->ndim < b->ndim) tsri_insert_dim(a, 0, 1, 0);
    while (b->ndim < a->ndim) tsri_insert_dim(b, 0, 1, 0);
}

static tsr_status infer_kron(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                             const void *params)
{
    tsr_desc a, b;
    (void)kind; (void)params;
    tsri_desc_copy(&a, in[0]);
    tsri_desc_copy(&b, in[1]);
    align(&a, &b);
    for (int i = 0; i < a.ndim; i++)
        TSRI_CHECK(tsri_mul(&a.shape[i], a.shape[i], b.shape[i]), TSR_EOVERFLOW,
                   "%s: dim %d of %s and %s exceeds 2^63 - 1", name, i, TSRI_DESC(in[0]), TSRI_DESC(in[1]));
    return tsri_desc_packed(out, name, a.dtype, a.ndim, a.shape);
}

static tsr_status run_kron(const tsr_op *op)
{
    tsr_tensor a, b;
    tsri_see_as(&a, op->in[0]);
    tsri_see_as(&b, op->in[1]);
    align(&a.desc, &b.desc);
    return tsr_numel(op->out[0]) > 0 ? kron_into(op->out[0], &a, &b, 0) : TSR_OK;
}

tsr_status tsr_kron(tsr_tensor **out, const tsr_tensor *a, const tsr_tensor *b)
{
    static tsri_composed call = { .row = "kron", .traits = { .infer = infer_kron, .parts = run_kron } };
    return tsri_dispatch_product(out, &call, NULL, a, b);
}

/* Powers ------------------------------------------------------------------------------------------- */

/* *t = x @ y, where either may be *t. */
static tsr_status replace_product(tsr_tensor **t, const tsr_tensor *x, const tsr_tensor *y)
{
    tsr_tensor *product = NULL;
    TSRI_TRY(tsr_matmul(&product, x, y));
    tsr_release(t);
    *t = product;
    return TSR_OK;
}

/* out = a to the n-th, n > 0. The bits of n, from the lowest, say which squares are multiplied. */
static tsr_status power_run(tsr_tensor *out, const tsr_tensor *a, uint64_t n)
{
    tsr_tensor *square = NULL, *product = NULL;
    tsr_status s = tsr_clone(&square, a);
    while (s == TSR_OK && n > 0) {
        if (n & 1) s = product ? replace_product(&product, product, square) : tsr_clone(&product, square);
        n >>= 1;
        if (s == TSR_OK && n > 0) s = replace_product(&square, square, square);
    }
    if (s == TSR_OK) s = tsri_copy_run(out, product);
    tsr_release(&square);
    tsr_release(&product);
    return s;
}

/* An identity in each place of the batch. */
static tsr_status identity_run(tsr_tensor *out)
{
    tsr_tensor diagonal;
    TSRI_TRY(tsri_fill_run(out, TSR_SCALAR(0)));
    tsri_see_diagonal(&diagonal, out, 0);
    return tsri_fill_run(&diagonal, TSR_SCALAR(1));
}

static tsr_status run_power(const tsr_op *op)
{
    const int64_t n = *(const int64_t *)op->params;
    tsr_tensor *out = op->out[0], *inverse = NULL;
    if (n == 0) return identity_run(out);
    if (n > 0) return power_run(out, op->in[0], (uint64_t)n);
    tsr_status s = tsr_inv(&inverse, op->in[0]);
    if (s == TSR_OK) s = power_run(out, inverse, 0 - (uint64_t)n);
    tsr_release(&inverse);
    return s;
}

tsr_status tsr_matrix_power(tsr_tensor **out, const tsr_tensor *a, int64_t n)
{
    static tsri_composed call = { .row = "matrix_power", .traits = { .parts = run_power } };
    return tsri_dispatch_composed(out, &call, &n, a);
}
