/* quant.c - to bytes and back, ranges, and products of bytes. */
#include "quant.h"
#include "tessera/move.h"
#include "tessera/ops/elementwise.h"
#include "tessera/ops/matmul.h"
#include "tessera/ops/quant.h"
#include "tessera/ops/reduce.h"
#include "tessera/ops/shape.h"
#include "tessera/scope.h"
#include "tessera/view.h"

/* Of k, whose products of bytes, added up, still fit an i32: 32768 * 255 * 255 < 2^31. */
enum { EXACT_K = 32768 };

static double lowest_of(tsr_dtype dtype) { return dtype == TSR_I8 ? -128 : 0; }
static double highest_of(tsr_dtype dtype) { return dtype == TSR_I8 ? 127 : 255; }

/* Checks ------------------------------------------------------------------------------ */

static tsr_status check_bytes(const char *name, tsr_dtype dtype)
{
    TSRI_CHECK(dtype == TSR_I8 || dtype == TSR_U8, TSR_EDTYPE, "%s: dtype is %s (%d), and must be i8 or u8",
               name, tsr_dtype_name(dtype), (int)dtype);
    return TSR_OK;
}

static tsr_status check_floating(const char *name, tsr_dtype dtype)
{
    TSRI_CHECK(tsr_dtype_kind(dtype) == TSR_FLOATING, TSR_EDTYPE,
               "%s: dtype is %s (%d), and must be floating", name, tsr_dtype_name(dtype), (int)dtype);
    return TSR_OK;
}

static tsr_status check_axis(const char *name, int axis, const tsr_desc *x)
{
    TSRI_CHECK(axis == TSR_ALL_AXES || (axis >= 0 && axis < x->ndim), TSR_EINDEX,
               "%s: axis %d of x, which is %s", name, axis, TSRI_DESC(x));
    return TSR_OK;
}

/* A scale or zero point: one element, or, if it may be, one for each index of the axis. */
static tsr_status check_factor(const char *name, const char *what, const tsr_desc *f, const tsr_desc *x,
                               int axis, bool must_be_long)
{
    const bool is_long = axis != TSR_ALL_AXES && f->ndim == 1 && f->shape[0] == x->shape[axis];
    if (axis == TSR_ALL_AXES)
        TSRI_CHECK(tsr_desc_numel(f) == 1, TSR_ESHAPE, "%s: %s is %s, and must have one element", name, what,
                   TSRI_DESC(f));
    else
        TSRI_CHECK(is_long || (!must_be_long && tsr_desc_numel(f) == 1), TSR_ESHAPE,
                   "%s: %s is %s, and must have one element for each index of axis %d of %s", name, what,
                   TSRI_DESC(f), axis, TSRI_DESC(x));
    return TSR_OK;
}

tsr_status tsri_infer_quantise(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                               const void *params)
{
    const tsr_quant_params *p = params;
    TSRI_TRY(kind == TSR_OP_QUANTISE ? check_bytes(name, p->dtype) : check_floating(name, p->dtype));
    TSRI_TRY(check_axis(name, p->axis, in[0]));
    TSRI_TRY(check_factor(name, "scale", in[1], in[0], p->axis, true));
    if (in[2]) TSRI_TRY(check_factor(name, "zero_point", in[2], in[0], p->axis, false));
    return tsri_desc_packed(out, name, p->dtype, in[0]->ndim, in[0]->shape);
}

tsr_status tsri_infer_quant_range(tsr_desc *out, const char *name, tsr_op_kind kind,
                                  const tsr_desc *const *in, const void *params)
{
    const tsr_quant_params *p = params;
    (void)kind;
    TSRI_TRY(check_bytes(name, p->dtype));
    TSRI_TRY(check_axis(name, p->axis, in[0]));
    const int ndim = p->axis == TSR_ALL_AXES ? 0 : 1;
    const int64_t *shape = ndim ? &in[0]->shape[p->axis] : NULL;
    TSRI_TRY(tsri_desc_packed(&out[0], name, in[0]->dtype == TSR_F64 ? TSR_F64 : TSR_F32, ndim, shape));
    return tsri_desc_packed(&out[1], name, p->dtype, ndim, shape);
}

tsr_status tsri_infer_quant_dynamic(tsr_desc *out, const char *name, tsr_op_kind kind,
                                    const tsr_desc *const *in, const void *params)
{
    const tsr_quant_params *p = params;
    TSRI_TRY(tsri_infer_quant_range(&out[1], name, kind, in, params));
    return tsri_desc_packed(&out[0], name, p->dtype, in[0]->ndim, in[0]->shape);
}

/* In parts ------------------------------------------------------------------------------ */

/* A scale or zero point in this dtype, with dims of 1 so that it broadcasts against x. */
static tsr_status along_axis(tsr_tensor **out, const tsr_tensor *f, tsr_dtype dtype, const tsr_tensor *x,
                             int axis)
{
    int64_t shape[TSR_MAX_NDIM];
    const bool is_long = axis != TSR_ALL_AXES && f->ndim == 1 && f->shape[0] == x->shape[axis];
    for (int i = 0; i < x->ndim; i++) shape[i] = is_long && i == axis ? f->shape[0] : 1;
    TSRI_TRY(tsr_cast(out, f, dtype));
    return tsr_reshape(out, *out, is_long ? x->ndim : 0, shape);
}

/* x / scale in f32 or f64, rounded, in f64. */
static tsr_status whole_quotients(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *scale, int axis)
{
    const tsr_dtype dtype = x->dtype == TSR_F64 || scale->dtype == TSR_F64 ? TSR_F64 : TSR_F32;
    tsr_tensor *numbers = NULL, *over = NULL;
    tsr_status s = tsr_cast(&numbers, x, dtype);
    if (s == TSR_OK) s = along_axis(&over, scale, dtype, x, axis);
    if (s == TSR_OK) s = tsr_div(&numbers, numbers, over);
    if (s == TSR_OK) s = tsr_round(&numbers, numbers);
    if (s == TSR_OK) s = tsr_cast(out, numbers, TSR_F64);
    tsr_release_all(&over, &numbers);
    return s;
}

tsr_status tsri_parts_quantise(const tsr_op *op)
{
    const tsr_quant_params *p = op->params;
    const tsr_tensor *x = op->in[0], *zero = op->in[2];
    tsr_tensor *q = NULL, *offset = NULL;
    tsr_status s = whole_quotients(&q, x, op->in[1], p->axis);
    if (s == TSR_OK && zero) s = along_axis(&offset, zero, TSR_F64, x, p->axis);
    if (s == TSR_OK && zero) s = tsr_add(&q, q, offset);
    if (s == TSR_OK) s = tsr_clip(&q, q, TSR_NUMBER(lowest_of(p->dtype)), TSR_NUMBER(highest_of(p->dtype)));
    if (s == TSR_OK) s = tsr_copy(op->out[0], q);
    tsr_release_all(&offset, &q);
    return s;
}

tsr_status tsri_parts_dequantise(const tsr_op *op)
{
    const tsr_quant_params *p = op->params;
    const tsr_tensor *x = op->in[0], *zero = op->in[2];
    tsr_tensor *numbers = NULL, *f = NULL;
    tsr_status s = tsr_cast(&numbers, x, TSR_F64);
    if (s == TSR_OK && zero) s = along_axis(&f, zero, TSR_F64, x, p->axis);
    if (s == TSR_OK && zero) s = tsr_sub(&numbers, numbers, f);
    tsr_release(&f);
    if (s == TSR_OK) s = along_axis(&f, op->in[1], TSR_F64, x, p->axis);
    if (s == TSR_OK) s = tsr_mul(&numbers, numbers, f);
    if (s == TSR_OK) s = tsr_copy(op->out[0], numbers);
    tsr_release_all(&f, &numbers);
    return s;
}

/* Ranges -------------------------------------------------------------------------------- */

/* Every axis but this one. */
static int other_axes(int *axes, int ndim, int axis)
{
    int n = 0;
    for (int i = 0; i < ndim; i++)
        if (i != axis) axes[n++] = i;
    return n;
}

/* The smallest or largest along all other axes, in f64; what is not finite counts as 0. */
static tsr_status find_end(tsr_tensor **out, const tsr_tensor *finite, int axis, bool high)
{
    int axes[TSR_MAX_NDIM];
    const int n = other_axes(axes, finite->ndim, axis);
    tsr_tensor *end = NULL;
    tsr_status s = TSR_OK;
    if (tsr_numel(finite) == 0) {
        const int64_t *shape = axis == TSR_ALL_AXES ? NULL : &finite->shape[axis];
        return tsr_zeros(out, TSR_F64, axis == TSR_ALL_AXES ? 0 : 1, shape);
    }
    if (n == 0 && finite->ndim > 0) s = tsr_cast(out, finite, TSR_F64);
    else {
        s = high ? tsr_max(&end, finite, n, axes, false) : tsr_min(&end, finite, n, axes, false);
        if (s == TSR_OK) s = tsr_cast(out, end, TSR_F64);
    }
    if (s == TSR_OK) s = high ? tsr_maximum(out, *out, TSR_NUMBER(0)) : tsr_minimum(out, *out, TSR_NUMBER(0));
    tsr_release(&end);
    return s;
}

static tsr_status find_ends(tsr_tensor **low, tsr_tensor **high, const tsr_tensor *x, int axis)
{
    tsr_tensor *is = NULL, *finite = NULL;
    tsr_status s = tsr_isfinite(&is, x);
    if (s == TSR_OK) s = tsr_where(&finite, is, x, TSR_NUMBER(0));
    if (s == TSR_OK) s = find_end(low, finite, axis, false);
    if (s == TSR_OK) s = find_end(high, finite, axis, true);
    tsr_release_all(&finite, &is);
    return s;
}

/* *high = *high / 255 - *low / 255, or max(-*low, *high) / 127. *low is overwritten, too. */
static tsr_status width(tsr_tensor **high, tsr_tensor **low, bool symmetric)
{
    if (symmetric) {
        TSRI_TRY(tsr_neg(low, *low));
        TSRI_TRY(tsr_maximum(high, *high, *low));
        return tsr_div(high, *high, TSR_NUMBER(127));
    }
    TSRI_TRY(tsr_div(high, *high, TSR_NUMBER(255)));
    TSRI_TRY(tsr_div(low, *low, TSR_NUMBER(255)));
    return tsr_sub(high, *high, *low);
}

/* Writes the scale, rounded to its dtype; 1 where that is 0. */
static tsr_status write_scale(tsr_tensor *scale, const tsr_tensor *value)
{
    tsr_tensor *is = NULL;
    TSRI_TRY(tsr_copy(scale, value));
    tsr_status s = tsr_eq(&is, scale, TSR_NUMBER(0));
    if (s == TSR_OK) s = tsr_where(&scale, is, TSR_NUMBER(1), scale);
    tsr_release(&is);
    return s;
}

/* round(lowest - low / scale), held to the dtype. */
static tsr_status write_zero_point(tsr_tensor *zero, tsr_tensor **low, const tsr_tensor *scale)
{
    tsr_tensor *over = NULL;
    const double lowest = lowest_of(zero->dtype), highest = highest_of(zero->dtype);
    tsr_status s = tsr_cast(&over, scale, TSR_F64);
    if (s == TSR_OK) s = tsr_div(low, *low, over);
    if (s == TSR_OK) s = tsr_sub(low, TSR_NUMBER(lowest), *low);
    if (s == TSR_OK) s = tsr_round(low, *low);
    if (s == TSR_OK) s = tsr_clip(low, *low, TSR_NUMBER(lowest), TSR_NUMBER(highest));
    if (s == TSR_OK) s = tsr_copy(zero, *low);
    tsr_release(&over);
    return s;
}

tsr_status tsri_parts_quant_range(const tsr_op *op)
{
    const tsr_quant_params *p = op->params;
    tsr_tensor *low = NULL, *high = NULL, *end = NULL;
    tsr_status s = find_ends(&low, &high, op->in[0], p->axis);
    if (s == TSR_OK) s = tsr_clone(&end, low);
    if (s == TSR_OK) s = width(&high, &end, p->symmetric);
    if (s == TSR_OK) s = write_scale(op->out[0], high);
    if (s == TSR_OK && p->symmetric) s = tsr_fill(op->out[1], TSR_SCALAR(p->dtype == TSR_I8 ? 0 : 128));
    if (s == TSR_OK && !p->symmetric) s = write_zero_point(op->out[1], &low, op->out[0]);
    tsr_release_all(&end, &high, &low);
    return s;
}

tsr_status tsri_parts_quant_dynamic(const tsr_op *op)
{
    const tsr_quant_params *p = op->params;
    tsr_tensor *q = op->out[0], *scale = op->out[1], *zero = op->out[2];
    TSRI_TRY(tsr_quantisation_range(&scale, &zero, op->in[0], p->axis, p->dtype, p->symmetric));
    return tsr_quantise(&q, op->in[0], scale, zero, p->axis, p->dtype);
}

/* The calls ------------------------------------------------------------------------------- */

/* The axis counted from the front; TSR_ALL_AXES stays. */
static tsr_status read_axis(int32_t *out, const char *name, const char *what, const tsr_tensor *x, int axis)
{
    int at = axis;
    TSRI_TRY(tsri_check_allocated(name, what, x));
    if (axis != TSR_ALL_AXES) TSRI_TRY(tsri_axis(&at, name, "axis", axis, &x->desc));
    *out = at;
    return TSR_OK;
}

static tsr_status convert(tsr_tensor **out, tsr_op_kind kind, const tsr_tensor *x, const tsr_tensor *scale,
                          const tsr_tensor *zero, int axis, tsr_dtype dtype)
{
    const char *name = tsr_op_get_info(kind)->name;
    tsr_quant_params params = { .dtype = dtype };
    TSRI_CHECK(out, TSR_ENULL, "%s: out is NULL", name);
    TSRI_TRY(read_axis(&params.axis, name, "x", x, axis));
    return tsri_dispatch(&(tsri_call){
        .kind = kind, .params = &params, .nin = 3, .in = { x, scale, zero }, .nout = 1, .out = { out } });
}

tsr_status tsr_quantise(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *scale,
                        const tsr_tensor *zero_point, int axis, tsr_dtype dtype)
{
    return convert(out, TSR_OP_QUANTISE, x, scale, zero_point, axis, dtype);
}

tsr_status tsr_dequantise(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *scale,
                          const tsr_tensor *zero_point, int axis, tsr_dtype dtype)
{
    return convert(out, TSR_OP_DEQUANTISE, x, scale, zero_point, axis, dtype);
}

tsr_status tsr_quantisation_range(tsr_tensor **scale, tsr_tensor **zero_point, const tsr_tensor *x, int axis,
                                  tsr_dtype dtype, bool symmetric)
{
    tsr_quant_params params = { .dtype = dtype, .symmetric = symmetric };
    TSRI_TRY(read_axis(&params.axis, "quantisation_range", "x", x, axis));
    return tsri_dispatch(&(tsri_call){ .kind = TSR_OP_QUANTISATION_RANGE, .params = &params, .nin = 1,
                                   .in = { x }, .nout = 2, .out = { scale, zero_point } });
}

tsr_status tsr_quantise_dynamic(tsr_tensor **out, tsr_tensor **scale, tsr_tensor **zero_point,
                                const tsr_tensor *x, int axis, tsr_dtype dtype, bool symmetric)
{
    tsr_quant_params params = { .dtype = dtype, .symmetric = symmetric };
    TSRI_TRY(read_axis(&params.axis, "quantise_dynamic", "x", x, axis));
    return tsri_dispatch(&(tsri_call){ .kind = TSR_OP_QUANTISE_DYNAMIC, .params = &params, .nin = 1,
                                   .in = { x }, .nout = 3, .out = { out, scale, zero_point } });
}

/* Products ---------------------------------------------------------------------------------- */

/* A quantised matrix, and along which of its last two dims its scale may run. */
typedef struct factor {
    const tsr_tensor *x, *scale, *zero;
    const char       *names[3];
    int               along;  /* -2: rows; -1: columns */
} factor;

static const char product[] = "matmul_quantised";

/* One element; a vector along the matrix; or dims that broadcast to x's, 1 across the matrix. */
static bool is_factor(const tsr_tensor *f, const tsr_tensor *x, int along)
{
    const int across = -3 - along;
    if (tsr_numel(f) == 1) return true;
    if (f->ndim == 1) return f->shape[0] == x->shape[x->ndim + along];
    if (f->ndim > x->ndim || f->shape[f->ndim + across] != 1) return false;
    for (int i = -1; i >= -f->ndim; i--)
        if (i != across && f->shape[f->ndim + i] != 1 && f->shape[f->ndim + i] != x->shape[x->ndim + i])
            return false;
    return true;
}

static tsr_status check_shape(const factor *f, int i, const tsr_tensor *t)
{
    TSRI_CHECK(is_factor(t, f->x, f->along), TSR_ESHAPE,
               "%s: %s is %s, and must have one element or one for each %s of %s, which is %s", product,
               f->names[i], TSRI_DESC(&t->desc), f->along == -2 ? "row" : "column", f->names[0],
               TSRI_DESC(&f->x->desc));
    return TSR_OK;
}

static bool is_zero_dtype(tsr_dtype d) { return d == TSR_I8 || d == TSR_U8 || d == TSR_I16 || d == TSR_I32; }

static tsr_status check_matrix(const factor *f)
{
    TSRI_TRY(tsri_check_allocated(product, f->names[0], f->x));
    TSRI_TRY(tsri_check_kinds(product, f->names[1], f->scale, TSRI_FLOATING));
    if (f->zero) TSRI_TRY(tsri_check_allocated(product, f->names[2], f->zero));
    TSRI_CHECK(f->x->dtype == TSR_I8 || f->x->dtype == TSR_U8, TSR_EDTYPE,
               "%s: %s is %s, and must be i8 or u8", product, f->names[0], TSRI_DESC(&f->x->desc));
    TSRI_CHECK(!f->zero || is_zero_dtype(f->zero->dtype), TSR_EDTYPE,
               "%s: %s is %s, and must be i8, u8, i16 or i32", product, f->names[2],
               TSRI_DESC(&f->zero->desc));
    TSRI_CHECK(f->x->ndim >= 2, TSR_ESHAPE, "%s: %s is %s, and must have two dims at least", product,
               f->names[0], TSRI_DESC(&f->x->desc));
    TSRI_TRY(check_shape(f, 1, f->scale));
    return f->zero ? check_shape(f, 2, f->zero) : TSR_OK;
}

/* A scale or zero point in this dtype, as it broadcasts against the result. */
static tsr_status against_result(tsr_tensor **out, const tsr_tensor *t, tsr_dtype dtype, int along)
{
    TSRI_TRY(tsr_cast(out, t, dtype));
    if (tsr_numel(t) == 1) return tsr_reshape(out, *out, TSR_SCALAR_SHAPE);
    return t->ndim == 1 && along == -2 ? tsr_unsqueeze(out, *out, 1) : TSR_OK;
}

/* a @ b over k in begin .. end - 1, in i64. */
static tsr_status multiply_some(tsr_tensor **out, const tsr_tensor *a, const tsr_tensor *b, int64_t begin,
                                int64_t end)
{
    tsr_tensor *some_a = NULL, *some_b = NULL, *sums = NULL;
    tsr_status s = tsr_slice(&some_a, a, -1, begin, end, 1);
    if (s == TSR_OK) s = tsr_slice(&some_b, b, -2, begin, end, 1);
    if (s == TSR_OK) s = tsr_matmul_i8(&sums, some_a, some_b);
    if (s == TSR_OK) s = tsr_cast(out, sums, TSR_I64);
    tsr_release_all(&sums, &some_b, &some_a);
    return s;
}

static tsr_status multiply_bytes(tsr_tensor **out, const tsr_tensor *a, const tsr_tensor *b)
{
    tsr_tensor *more = NULL;
    const int64_t k = a->shape[a->ndim - 1];
    tsr_status s = multiply_some(out, a, b, 0, k < EXACT_K ? k : EXACT_K);
    for (int64_t p = EXACT_K; p < k && s == TSR_OK; p += EXACT_K) {
        s = multiply_some(&more, a, b, p, k - p < EXACT_K ? k : p + EXACT_K);
        if (s == TSR_OK) s = tsr_add(out, *out, more);
        tsr_release(&more);
    }
    return s;
}

/* *out = the sums of a matrix over k, in i64, with size 1 there. */
static tsr_status sum_over_k(tsr_tensor **out, const factor *f)
{
    tsr_tensor *sums = NULL;
    tsr_status s = tsr_sum(&sums, f->x, TSR_AXES(f->along == -2 ? -1 : -2), true);
    if (s == TSR_OK) s = tsr_cast(out, sums, TSR_I64);
    tsr_release(&sums);
    return s;
}

/* *x -= zero * sums, where zero is a zero point in i64. */
static tsr_status subtract_product(tsr_tensor **x, const tsr_tensor *zero, const tsr_tensor *sums)
{
    tsr_tensor *product_of = NULL;
    tsr_status s = tsr_mul(&product_of, zero, sums);
    if (s == TSR_OK) s = tsr_sub(x, *x, product_of);
    tsr_release(&product_of);
    return s;
}

/* *x -= zero point of a * sums of b. */
static tsr_status take_zero_of_a(tsr_tensor **x, const factor *a, const factor *b)
{
    tsr_tensor *zero = NULL, *sums = NULL;
    tsr_status s = against_result(&zero, a->zero, TSR_I64, a->along);
    if (s == TSR_OK) s = sum_over_k(&sums, b);
    if (s == TSR_OK) s = subtract_product(x, zero, sums);
    tsr_release_all(&sums, &zero);
    return s;
}

/* *x -= zero point of b * (sums of a - k * zero point of a). Without the last term the product of both zero
 * points, which is part of the sums of a and of b, would be subtracted twice. */
static tsr_status take_zero_of_b(tsr_tensor **x, const factor *a, const factor *b)
{
    tsr_tensor *zero = NULL, *sums = NULL, *offset = NULL, *whole = NULL;
    const int64_t k = a->x->shape[a->x->ndim - 1];
    tsr_status s = against_result(&zero, b->zero, TSR_I64, b->along);
    if (s == TSR_OK) s = sum_over_k(&sums, a);
    if (s == TSR_OK && a->zero) s = against_result(&offset, a->zero, TSR_I64, a->along);
    if (s == TSR_OK && a->zero) s = tsr_mul(&offset, offset, TSR_NUMBER(k));
    if (s == TSR_OK && a->zero) s = tsr_sub(&whole, sums, offset);
    if (s == TSR_OK) s = subtract_product(x, zero, a->zero ? whole : sums);
    tsr_release_all(&whole, &offset, &sums, &zero);
    return s;
}

/* *x *= the scale. */
static tsr_status scale_by(tsr_tensor **x, const factor *f)
{
    tsr_tensor *scale = NULL;
    tsr_status s = against_result(&scale, f->scale, TSR_F64, f->along);
    if (s == TSR_OK) s = tsr_mul(x, *x, scale);
    tsr_release(&scale);
    return s;
}

static tsr_status add_bias(tsr_tensor **x, const tsr_tensor *bias)
{
    tsr_tensor *wide = NULL;
    tsr_status s = tsr_cast(&wide, bias, TSR_F64);
    if (s == TSR_OK) s = tsr_add(x, *x, wide);
    tsr_release(&wide);
    return s;
}

static tsr_status multiply(tsr_tensor *out, const factor *a, const factor *b, const tsr_tensor *bias)
{
    tsr_tensor *sums = NULL, *numbers = NULL;
    tsr_status s = multiply_bytes(&sums, a->x, b->x);
    if (s == TSR_OK && a->zero) s = take_zero_of_a(&sums, a, b);
    if (s == TSR_OK && b->zero) s = take_zero_of_b(&sums, a, b);
    if (s == TSR_OK) s = tsr_cast(&numbers, sums, TSR_F64);
    tsr_release(&sums);
    if (s == TSR_OK) s = scale_by(&numbers, a);
    if (s == TSR_OK) s = scale_by(&numbers, b);
    if (s == TSR_OK && bias) s = add_bias(&numbers, bias);
    if (s == TSR_OK) s = tsr_copy(out, numbers);
    tsr_release(&numbers);
    return s;
}

static tsr_status infer_product(tsr_desc *out, const factor *a, const factor *b, const tsr_tensor *bias,
                                tsr_dtype dtype)
{
    tsr_desc seen;
    TSRI_CHECK(dtype == TSR_F16 || dtype == TSR_BF16 || dtype == TSR_F32 || dtype == TSR_F64, TSR_EDTYPE,
               "%s: dtype is %s (%d), and must be f16, bf16, f32 or f64", product, tsr_dtype_name(dtype),
               (int)dtype);
    TSRI_TRY(tsri_infer_matmul(out, product, TSR_OP_MATMUL_I8,
                               (const tsr_desc *const[]){ &a->x->desc, &b->x->desc, NULL }, NULL));
    out->dtype = dtype;
    if (!bias) return TSR_OK;
    TSRI_TRY(tsri_check_kinds(product, "bias", bias, TSRI_FLOATING));
    TSRI_CHECK(tsri_desc_expand(&seen, &bias->desc, out->ndim, out->shape) == TSR_OK, TSR_ESHAPE,
               "%s: bias is %s, which does not broadcast to %s", product, TSRI_DESC(&bias->desc),
               TSRI_DESC(out));
    return TSR_OK;
}

tsr_status tsr_matmul_quantised(tsr_tensor **out, const tsr_tensor *a, const tsr_tensor *a_scale,
                                const tsr_tensor *a_zero, const tsr_tensor *b, const tsr_tensor *b_scale,
                                const tsr_tensor *b_zero, const tsr_tensor *bias, tsr_dtype dtype)
{
    const factor left = { a, a_scale, a_zero, { "a", "a_scale", "a_zero" }, -2 };
    const factor right = { b, b_scale, b_zero, { "b", "b_scale", "b_zero" }, -1 };
    tsri_origin origin = TSRI_ORIGIN_GIVEN;
    tsr_desc d;
    TSRI_CHECK(out, TSR_ENULL, "%s: out is NULL", product);
    TSRI_TRY(check_matrix(&left));
    TSRI_TRY(check_matrix(&right));
    TSRI_TRY(infer_product(&d, &left, &right, bias, dtype));
    TSRI_TRY(tsri_result(out, &origin, product, &d, a));
    return tsri_result_end(out, origin, multiply(*out, &left, &right, bias));
}
