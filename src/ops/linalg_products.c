/* linalg_products.c - vector products, Kronecker's product, powers of matrices, said with
 * other ops. */
#include "operands.h"
#include "contract.h"
#include "linalg_int.h"
#include "tessera/move.h"
#include "tessera/ops/elementwise.h"
#include "tessera/ops/linalg.h"
#include "tessera/ops/matmul.h"

/* Vector products ------------------------------------------------------------------------------ */

/* Both operands with one shape, and what they are multiplied in. */
typedef struct vectors {
    int         axis;
    tsr_dtype   dtype, wide;
    tsr_tensor  view[2];
    tsr_tensor *temporary[2];
    tsr_desc    desc;     /* of the result */
} vectors;

/* Where dim `axis` of the longer shape stands in t. */
static tsr_status check_three(const char *what, const tsr_tensor *t, int axis, int ndim)
{
    const int at = axis - (ndim - t->ndim);
    TSRI_CHECK(at >= 0, TSR_EINDEX, "cross: %s is %s, which lacks axis %d of %d", what, TSRI_DESC(&t->desc),
               axis, ndim);
    TSRI_CHECK(t->shape[at] == 3, TSR_ESHAPE, "cross: %s is %s, which has %lld elements along axis %d, not 3",
               what, TSRI_DESC(&t->desc), (long long)t->shape[at], at);
    return TSR_OK;
}

static bool is_short(tsr_dtype dtype)
{
    return tsr_dtype_kind(dtype) == TSR_FLOATING && dtype != TSR_F32 && dtype != TSR_F64;
}

static tsr_status infer_cross(vectors *v, const tsr_tensor *a, const tsr_tensor *b, int axis)
{
    const tsr_desc *descs[] = { &a->desc, &b->desc };
    int64_t shape[TSR_MAX_NDIM];
    int ndim = a->ndim > b->ndim ? a->ndim : b->ndim;
    v->axis = axis < 0 ? axis + ndim : axis;
    TSRI_CHECK(v->axis >= 0 && v->axis < ndim, TSR_EINDEX, "cross: axis %d of %s and %s", axis,
               TSRI_DESC(&a->desc), TSRI_DESC(&b->desc));
    TSRI_TRY(check_three("a", a, v->axis, ndim));
    TSRI_TRY(check_three("b", b, v->axis, ndim));
    TSRI_TRY(tsri_product_dtype(&v->dtype, "cross", 2, (const tsr_tensor *const[]){ a, b },
                                (const char *const[]){ "a", "b" }));
    v->wide = is_short(v->dtype) ? TSR_F32 : v->dtype;
    TSRI_CHECK(tsr_desc_broadcast(&ndim, shape, 2, descs) == TSR_OK, TSR_ESHAPE,
               "cross: %s and %s do not broadcast", TSRI_DESC(&a->desc), TSRI_DESC(&b->desc));
    return tsri_desc_packed(&v->desc, "cross", v->dtype, ndim, shape);
}

static tsr_status prepare_vector(vectors *v, int i, const tsr_tensor *t, const tsr_tensor *out)
{
    TSRI_TRY(tsri_as_dtype(&t, &v->temporary[i], v->wide));
    TSRI_TRY(tsri_separate(&t, &v->temporary[i], out, TSRI_ORIGIN_GIVEN));
    v->view[i] = *t;
    return tsri_desc_expand(&v->view[i].desc, &t->desc, v->desc.ndim, v->desc.shape);
}

/* *out = x[i] * y[j]; element numbers count modulo 3. */
static tsr_status multiply(tsr_tensor **out, const vectors *v, int i, int j)
{
    tsr_tensor x, y;
    TSRI_TRY(tsri_see_slice(&x, &v->view[0], v->axis, i % 3, i % 3 + 1, 1));
    TSRI_TRY(tsri_see_slice(&y, &v->view[1], v->axis, j % 3, j % 3 + 1, 1));
    return tsr_mul(out, &x, &y);
}

/* Element i of the result is a[i + 1] * b[i + 2] - a[i + 2] * b[i + 1]. */
static tsr_status cross_one(tsr_tensor *out, const vectors *v, int i)
{
    tsr_tensor *t[2] = { NULL }, place;
    TSRI_TRY(tsri_see_slice(&place, out, v->axis, i, i + 1, 1));
    tsr_status s = multiply(&t[0], v, i + 1, i + 2);
    if (s == TSR_OK) s = multiply(&t[1], v, i + 2, i + 1);
    if (s == TSR_OK) s = tsr_sub(&t[0], t[0], t[1]);
    if (s == TSR_OK) s = tsri_copy_run(&place, t[0]);
    tsri_release_all(2, t);
    return s;
}

static tsr_status cross_run(tsr_tensor *out, vectors *v, const tsr_tensor *a, const tsr_tensor *b)
{
    TSRI_TRY(prepare_vector(v, 0, a, out));
    TSRI_TRY(prepare_vector(v, 1, b, out));
    for (int i = 0; i < 3; i++) TSRI_TRY(cross_one(out, v, i));
    return TSR_OK;
}

tsr_status tsr_cross(tsr_tensor **out, const tsr_tensor *a, const tsr_tensor *b, int axis)
{
    vectors v = { .axis = 0 };
    tsri_origin origin = TSRI_ORIGIN_GIVEN;
    TSRI_CHECK(out, TSR_ENULL, "cross: out is NULL");
    TSRI_TRY(tsri_check_allocated("cross", "a", a));
    TSRI_TRY(tsri_check_allocated("cross", "b", b));
    TSRI_TRY(infer_cross(&v, a, b, axis));
    TSRI_TRY(tsri_result(out, &origin, "cross", &v.desc, a));
    const tsr_status s = cross_run(*out, &v, a, b);
    tsri_release_all(2, v.temporary);
    return tsri_result_end(out, origin, s);
}

/* Kronecker's product ---------------------------------------------------------------------------- */

/* out = a (x) b for operands of one rank. From `axis` on, each dim of out is a's times b's. It
 * is walked as two, in one of which a repeats and in the other b; where there is no room for
 * another dim, each index of a is a product of its own. */
static tsr_status kron_into(const tsr_tensor *out, const tsr_tensor *a, const tsr_tensor *b, int axis)
{
    tsr_tensor z = *out, x = *a, y = *b, *into = &z;
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
        TSRI_TRY(tsri_see_slice(&z, out, axis, i * inner, (i + 1) * inner, 1));
        TSRI_TRY(tsri_see_slice(&x, a, axis, i, i + 1, 1));
        TSRI_TRY(kron_into(&z, &x, b, axis + 1));
    }
    return TSR_OK;
}

static tsr_status infer_kron(tsr_desc *out, tsr_tensor *a, tsr_tensor *b)
{
    int64_t shape[TSR_MAX_NDIM];
    tsr_dtype dtype = TSR_DTYPE_INVALID;
    TSRI_TRY(tsri_product_dtype(&dtype, "kron", 2, (const tsr_tensor *const[]){ a, b },
                                (const char *const[]){ "a", "b" }));
    while (a->ndim < b->ndim) tsri_insert_dim(&a->desc, 0, 1, 0);
    while (b->ndim < a->ndim) tsri_insert_dim(&b->desc, 0, 1, 0);
    for (int i = 0; i < a->ndim; i++)
        TSRI_CHECK(tsri_mul(&shape[i], a->shape[i], b->shape[i]), TSR_EOVERFLOW,
                   "kron: dim %d of %s and %s exceeds 2^63 - 1", i, TSRI_DESC(&a->desc), TSRI_DESC(&b->desc));
    return tsri_desc_packed(out, "kron", dtype, a->ndim, shape);
}

static tsr_status kron_run(tsr_tensor *out, const tsr_tensor *a, const tsr_tensor *b)
{
    tsr_tensor *temporary[2] = { NULL };
    tsr_status s = tsri_separate(&a, &temporary[0], out, TSRI_ORIGIN_GIVEN);
    if (s == TSR_OK) s = tsri_separate(&b, &temporary[1], out, TSRI_ORIGIN_GIVEN);
    if (s == TSR_OK && tsr_numel(out) > 0) s = kron_into(out, a, b, 0);
    tsri_release_all(2, temporary);
    return s;
}

tsr_status tsr_kron(tsr_tensor **out, const tsr_tensor *a, const tsr_tensor *b)
{
    tsr_desc d;
    tsri_origin origin = TSRI_ORIGIN_GIVEN;
    TSRI_CHECK(out, TSR_ENULL, "kron: out is NULL");
    TSRI_TRY(tsri_check_allocated("kron", "a", a));
    TSRI_TRY(tsri_check_allocated("kron", "b", b));
    tsr_tensor x = *a, y = *b;
    TSRI_TRY(infer_kron(&d, &x, &y));
    TSRI_TRY(tsri_result(out, &origin, "kron", &d, a));
    return tsri_result_end(out, origin, kron_run(*out, &x, &y));
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
    tsr_desc d;
    int64_t at = 0;
    TSRI_TRY(tsri_fill_run(out, TSR_SCALAR(0)));
    TSRI_TRY(tsri_desc_diagonal(&d, &at, &out->desc, 0, -2, -1));
    tsri_see(&diagonal, out, &d, at);
    return tsri_fill_run(&diagonal, TSR_SCALAR(1));
}

static tsr_status power(tsr_tensor *out, const tsr_tensor *a, int64_t n)
{
    tsr_tensor *inverse = NULL;
    if (n == 0) return identity_run(out);
    if (n > 0) return power_run(out, a, (uint64_t)n);
    tsr_status s = tsr_inv(&inverse, a);
    if (s == TSR_OK) s = power_run(out, inverse, 0 - (uint64_t)n);
    tsr_release(&inverse);
    return s;
}

tsr_status tsr_matrix_power(tsr_tensor **out, const tsr_tensor *a, int64_t n)
{
    tsr_desc d;
    tsri_origin origin = TSRI_ORIGIN_GIVEN;
    TSRI_CHECK(out, TSR_ENULL, "matrix_power: out is NULL");
    TSRI_TRY(tsri_check_matrix("matrix_power", "a", a));
    TSRI_TRY(tsri_check_numeric("matrix_power", "a", a));
    if (n < 0) TSRI_TRY(tsri_check_factorable("matrix_power", "a", a));
    TSRI_TRY(tsri_check_square("matrix_power", "a", a));
    TSRI_TRY(tsri_batch_desc(&d, "matrix_power", a->dtype, &a->desc, tsri_row_count(a), tsri_col_count(a)));
    TSRI_TRY(tsri_result(out, &origin, "matrix_power", &d, a));
    return tsri_result_end(out, origin, power(*out, a, n));
}
