/* test_quant.c - quantised tensors against direct loops, by the backend's kernels and in parts.
 *
 * Results are exact: what must come out is worked out in long double and integers from
 * the definition, and compared for equality.
 */
#include <math.h>

#include "ops/products.h"
#include "ops/dispatch.h"

typedef long double wide;

static const tsr_dtype floats[] = { TSR_F8E4M3, TSR_F8E5M2, TSR_F16, TSR_BF16, TSR_F32, TSR_F64 };
static const tsr_dtype bytes[] = { TSR_I8, TSR_U8 };
static const tsr_dtype zeros[] = { TSR_I8, TSR_U8, TSR_I16, TSR_I32 };
enum { FLOATS = sizeof floats / sizeof *floats, EACH = 220 };

static wide load(const tsr_tensor *t, int64_t place)
{
    const value v = value_load(t->dtype, element_at(t, place));
    return is_integer(t->dtype) ? (wide)(int64_t)v.u : v.re;
}

static void store(const tsr_tensor *t, int64_t place, wide x)
{
    const bool whole = is_integer(t->dtype);
    value_store(t->dtype, element_at(t, place),
                (value){ whole ? (uint64_t)(int64_t)x : 0, whole ? 0 : x, 0 });
}

static wide lowest(tsr_dtype d) { return d == TSR_I8 ? -128 : 0; }
static wide highest(tsr_dtype d) { return d == TSR_I8 ? 127 : 255; }

/* Cases ------------------------------------------------------------------------------------- */

typedef struct quantity {
    int     ndim, axis;             /* axis TSR_ALL_AXES: one scale */
    int64_t shape[TSR_MAX_NDIM];
    strided x, scale, zero;
} quantity;

static int random_shape(uint64_t *random, int64_t *shape)
{
    const int ndim = (int)test_below(random, 5);
    for (int i = 0; i < ndim; i++) shape[i] = test_below(random, 6);
    if (ndim == 1) shape[0] = test_below(random, 400);
    return ndim;
}

/* A scale or zero point: one element of any rank, or a vector along the axis. */
static strided random_factor(uint64_t *random, tsr_dtype dtype, const quantity *q, bool must_be_long)
{
    static const int64_t ones[] = { 1, 1 };
    if (q->axis != TSR_ALL_AXES && (must_be_long || test_below(random, 2)))
        return strided_make(random, dtype, 1, &q->shape[q->axis], true, false);
    return strided_make(random, dtype, (int)test_below(random, 3), ones, true, false);
}

static void make_quantity(quantity *q, uint64_t *random, tsr_dtype x, tsr_dtype scale, bool zero)
{
    q->ndim = random_shape(random, q->shape);
    q->axis = q->ndim > 0 && test_below(random, 2) ? (int)test_below(random, q->ndim) : TSR_ALL_AXES;
    q->x = strided_make(random, x, q->ndim, q->shape, true, false);
    q->scale = random_factor(random, scale, q, true);
    q->zero = zero ? random_factor(random, zeros[test_below(random, 4)], q, false) : (strided){ NULL, NULL };
    for (int64_t i = 0; i < tsr_numel(q->scale.t); i++) {
        static const double scales[] = { 1, 0.5, 0.25, 2, 0.1, 0.3, 1.7, -0.5 };
        store(q->scale.t, i, scales[test_below(random, 8)]);
    }
    for (int64_t i = 0; zero && i < tsr_numel(q->zero.t); i++) {
        const bool low = q->zero.t->dtype != TSR_U8;
        store(q->zero.t, i, (wide)(test_below(random, 200) - (low ? 100 : 0)));
        if (q->zero.t->dtype == TSR_I32 && test_below(random, 8) == 0)
            store(q->zero.t, i, (wide)(int32_t)test_next(random));
    }
}

static void free_quantity(quantity *q)
{
    strided_free(&q->x);
    strided_free(&q->scale);
    strided_free(&q->zero);
}

/* What belongs to element number `place` of x. */
static wide factor_at(const quantity *q, const tsr_tensor *f, int64_t place)
{
    if (!f) return 0;
    if (q->axis == TSR_ALL_AXES || f->ndim != 1 || f->shape[0] != q->shape[q->axis]) return load(f, 0);
    for (int i = q->ndim - 1; i > q->axis; i--) place /= q->shape[i];
    return load(f, place % q->shape[q->axis]);
}

/* The axis counted from either end. */
static int axis_of(uint64_t *random, const quantity *q)
{
    return q->axis != TSR_ALL_AXES && test_below(random, 2) ? q->axis - q->ndim : q->axis;
}

/* Quantising ---------------------------------------------------------------------------------- */

/* Halves to even. */
static wide round_even(wide x)
{
    const wide down = floorl(x), rest = x - down;
    if (rest != 0.5L) return rest < 0.5L ? down : down + 1;
    return fmodl(down, 2) == 0 ? down : down + 1;
}

static wide byte_for(const quantity *q, int64_t place, tsr_dtype dtype)
{
    const wide x = load(q->x.t, place), scale = factor_at(q, q->scale.t, place);
    const bool in_f64 = q->x.t->dtype == TSR_F64 || q->scale.t->dtype == TSR_F64;
    const wide over = in_f64 ? (wide)((double)x / (double)scale) : (wide)((float)x / (float)scale);
    if (over != over) return 0;
    const wide byte = (isinf(over) ? over : round_even(over)) + factor_at(q, q->zero.t, place);
    return byte < lowest(dtype) ? lowest(dtype) : byte > highest(dtype) ? highest(dtype) : byte;
}

/* Numbers near halves of scales, beyond the bytes, and special ones. */
static void fill_numbers(uint64_t *random, const quantity *q)
{
    static const double special[] = { NAN, INFINITY, -INFINITY, 1e30, -1e30, 0, -0.0, 1e-30 };
    for (int64_t i = 0; i < tsr_numel(q->x.t); i++) {
        const wide halves = (wide)(test_below(random, 1200) - 600) / 2;
        store(q->x.t, i,
              test_below(random, 12) ? halves * factor_at(q, q->scale.t, i) : special[test_below(random, 8)]);
    }
}

static void expect_quantised(const tsr_tensor *z, const quantity *q, const char *what)
{
    for (int64_t i = 0; i < tsr_numel(z); i++)
        EXPECT_MSG(load(z, i) == byte_for(q, i, z->dtype), "%s: %Lg / %Lg + %Lg in %s, axis %d: %Lg, not %Lg",
                   what, load(q->x.t, i), factor_at(q, q->scale.t, i), factor_at(q, q->zero.t, i),
                   tsr_dtype_name(z->dtype), q->axis, load(z, i), byte_for(q, i, z->dtype));
}

TEST(test_quantise_is_exact_for_every_dtype_axis_and_stride)
{
    for (int d = 0; d < FLOATS * 2; d++)
        for (int i = 0; i < EACH; i++)
            for (int parts = 0; parts < 2; parts++) {
                uint64_t random = (uint64_t)(d * 100000 + i);
                quantity q;
                strided given;
                tsr_tensor *made = NULL;
                const tsr_dtype dtype = bytes[d % 2];
                make_quantity(&q, &random, floats[d / 2], floats[test_below(&random, FLOATS)],
                              test_below(&random, 3) > 0);
                fill_numbers(&random, &q);
                given = strided_make(&random, dtype, q.ndim, q.shape, false, false);
                const int axis = axis_of(&random, &q);
                tsri_prefer_parts(parts);
                EXPECT_OK(tsr_quantise(&made, q.x.t, q.scale.t, q.zero.t, axis, dtype));
                EXPECT_OK(tsr_quantise(&given.t, q.x.t, q.scale.t, q.zero.t, axis, dtype));
                tsri_prefer_parts(false);
                EXPECT(made && tsr_is_contiguous(made) && made->dtype == dtype);
                if (made) expect_quantised(made, &q, parts ? "made in parts" : "made");
                expect_quantised(given.t, &q, parts ? "given in parts" : "given");
                tsr_release(&made);
                strided_free(&given);
                free_quantity(&q);
            }
}

TEST(test_ties_go_to_even_and_ends_saturate)
{
    static const float x[] = { 0.5f, 1.5f,    2.5f, -0.5f, -1.5f, -2.5f,    126.5f,    127.5f,
                               1e9f, -128.5f, -129, -1e9f, NAN,   INFINITY, -INFINITY, 0.49999997f };
    static const int8_t want[] = { 0, 2, 2, 0, -2, -2, 126, 127, 127, -128, -128, -128, 0, 127, -128, 0 };
    enum { N = sizeof x / sizeof *x };
    for (int parts = 0; parts < 2; parts++) {
        tsr_tensor *t = NULL, *scale = NULL, *z = NULL;
        EXPECT_OK(tsr_from_data(&t, TSR_F32, TSR_SHAPE(N), x));
        EXPECT_OK(tsr_ones(&scale, TSR_F32, TSR_SCALAR_SHAPE));
        tsri_prefer_parts(parts);
        EXPECT_OK(tsr_quantise(&z, t, scale, NULL, TSR_ALL_AXES, TSR_I8));
        tsri_prefer_parts(false);
        for (int i = 0; z && i < N; i++)
            EXPECT_MSG(((int8_t *)z->data)[i] == want[i], "%g: %d", (double)x[i], ((int8_t *)z->data)[i]);
        tsr_release(&z);
        tsr_release(&scale);
        tsr_release(&t);
    }
}

/* Back ------------------------------------------------------------------------------------------ */

static void expect_numbers(const tsr_tensor *z, const quantity *q, const char *what)
{
    for (int64_t i = 0; i < tsr_numel(z); i++) {
        const double difference = (double)(load(q->x.t, i) - factor_at(q, q->zero.t, i));
        const double want = difference * (double)factor_at(q, q->scale.t, i);
        EXPECT_MSG(is_value(z->dtype, element_at(z, i), (value){ 0, (wide)want, 0 }), "%s in %s: %Lg, not %g",
                   what, tsr_dtype_name(z->dtype), load(z, i), want);
    }
}

TEST(test_dequantise_is_exact_for_every_dtype_axis_and_stride)
{
    for (int d = 0; d < FLOATS * 4; d++)
        for (int i = 0; i < EACH; i++)
            for (int parts = 0; parts < 2; parts++) {
                uint64_t random = (uint64_t)(d * 100000 + i);
                quantity q;
                strided given;
                tsr_tensor *made = NULL;
                const tsr_dtype dtype = floats[d / 4];
                make_quantity(&q, &random, zeros[d % 4], floats[test_below(&random, FLOATS)],
                              test_below(&random, 3) > 0);
                fill_random(&random, q.x.t);
                given = strided_make(&random, dtype, q.ndim, q.shape, false, false);
                const int axis = axis_of(&random, &q);
                tsri_prefer_parts(parts);
                EXPECT_OK(tsr_dequantise(&made, q.x.t, q.scale.t, q.zero.t, axis, dtype));
                EXPECT_OK(tsr_dequantise(&given.t, q.x.t, q.scale.t, q.zero.t, axis, dtype));
                tsri_prefer_parts(false);
                EXPECT(made && tsr_is_contiguous(made) && made->dtype == dtype);
                if (made) expect_numbers(made, &q, parts ? "made in parts" : "made");
                expect_numbers(given.t, &q, parts ? "given in parts" : "given");
                tsr_release(&made);
                strided_free(&given);
                free_quantity(&q);
            }
}

/* Ranges ----------------------------------------------------------------------------------------- */

/* The scale and zero point for indices of x that share `channel`. */
static void want_range(wide *scale, wide *zero, const quantity *q, int64_t channel, tsr_dtype dtype,
                       bool symmetric)
{
    double low = 0, high = 0;
    for (int64_t i = 0; i < tsr_numel(q->x.t); i++) {
        int64_t at = i;
        const double x = (double)load(q->x.t, i);
        for (int k = q->ndim - 1; q->axis != TSR_ALL_AXES && k > q->axis; k--) at /= q->shape[k];
        if (!isfinite(x) || (q->axis != TSR_ALL_AXES && at % q->shape[q->axis] != channel)) continue;
        low = fmin(low, x);
        high = fmax(high, x);
    }
    const double width = symmetric ? fmax(-low, high) / 127 : high / 255 - low / 255;
    *scale = q->x.t->dtype == TSR_F64 ? width : (double)(float)width;
    if (*scale == 0) *scale = 1;
    const wide at = round_even((wide)((double)lowest(dtype) - low / (double)*scale));
    *zero = symmetric ? (dtype == TSR_I8 ? 0 : 128) : fminl(fmaxl(at, lowest(dtype)), highest(dtype));
}

static void expect_range(const tsr_tensor *scale, const tsr_tensor *zero, const quantity *q, tsr_dtype dtype,
                         bool symmetric)
{
    const int64_t n = q->axis == TSR_ALL_AXES ? 1 : q->shape[q->axis];
    EXPECT(tsr_numel(scale) == n && tsr_numel(zero) == n && zero->dtype == dtype);
    EXPECT(scale->ndim == (q->axis == TSR_ALL_AXES ? 0 : 1) &&
           scale->dtype == (q->x.t->dtype == TSR_F64 ? TSR_F64 : TSR_F32));
    for (int64_t c = 0; c < n; c++) {
        wide want_scale, want_zero;
        want_range(&want_scale, &want_zero, q, c, dtype, symmetric);
        EXPECT_MSG(load(scale, c) == want_scale && load(zero, c) == want_zero,
                   "%s: %.10Lg and %Lg, not %.10Lg and %Lg", tsr_dtype_name(q->x.t->dtype), load(scale, c),
                   load(zero, c), want_scale, want_zero);
    }
}

TEST(test_ranges_cover_what_is_finite)
{
    for (int d = 0; d < FLOATS; d++)
        for (int i = 0; i < 2 * EACH; i++) {
            uint64_t random = (uint64_t)(d * 100000 + i);
            quantity q;
            tsr_tensor *scale = NULL, *zero = NULL, *z = NULL, *same = NULL, *whole = NULL;
            const tsr_dtype dtype = bytes[test_below(&random, 2)];
            const bool symmetric = test_below(&random, 2);
            make_quantity(&q, &random, floats[d], TSR_F32, false);
            fill_numbers(&random, &q);
            const int axis = axis_of(&random, &q);
            EXPECT_OK(tsr_quantisation_range(&scale, &zero, q.x.t, axis, dtype, symmetric));
            if (scale && zero) expect_range(scale, zero, &q, dtype, symmetric);
            EXPECT_OK(tsr_quantise(&same, q.x.t, scale, zero, axis, dtype));
            tsr_release(&scale);
            tsr_release(&zero);
            EXPECT_OK(tsr_quantise_dynamic(&z, &scale, &zero, q.x.t, axis, dtype, symmetric));
            if (scale && zero) expect_range(scale, zero, &q, dtype, symmetric);
            bool equal = false;
            if (z && same) EXPECT_OK(tsr_equal(&equal, z, same));
            EXPECT(equal);
            EXPECT_OK(tsr_quantise_dynamic(&z, &scale, &zero, q.x.t, axis, dtype,
                                           symmetric)); /* into what is there */
            tsr_release(&whole);
            tsr_release(&same);
            tsr_release(&z);
            tsr_release(&zero);
            tsr_release(&scale);
            free_quantity(&q);
        }
}

/* What is quantised and taken back is at most half a scale off. */
TEST(test_quantised_numbers_come_back_near)
{
    for (int symmetric = 0; symmetric < 2; symmetric++)
        for (int b = 0; b < 2; b++) {
            tsr_tensor *x = NULL, *q = NULL, *scale = NULL, *zero = NULL, *back = NULL;
            EXPECT_OK(tsr_normal(&x, TSR_F32, TSR_SHAPE(40, 30), 0.5, 2, 3));
            EXPECT_OK(tsr_quantise_dynamic(&q, &scale, &zero, x, 0, bytes[b], symmetric));
            EXPECT_OK(tsr_dequantise(&back, q, scale, zero, 0, TSR_F32));
            for (int64_t i = 0; back && i < 1200; i++)
                EXPECT(fabsl(load(back, i) - load(x, i)) <=
                       load(scale, i / 30) * (symmetric ? 0.5001L : 1.0001L));
            tsr_release(&back);
            tsr_release(&zero);
            tsr_release(&scale);
            tsr_release(&q);
            tsr_release(&x);
        }
}

/* Products ------------------------------------------------------------------------------------------ */

typedef struct side {
    strided x, scale, zero;
} side;

/* One element; a vector; or dims of x with 1 across. */
static strided random_side_factor(uint64_t *random, tsr_dtype dtype, int ndim, const int64_t *shape,
                                  int along)
{
    int64_t dims[TSR_MAX_NDIM];
    const int kind = (int)test_below(random, 3);
    if (kind == 0)
        return strided_make(random, dtype, (int)test_below(random, 2), (const int64_t[]){ 1 }, true, false);
    if (kind == 1) return strided_make(random, dtype, 1, &shape[ndim + along], true, false);
    for (int i = 0; i < ndim; i++) dims[i] = test_below(random, 4) ? shape[i] : 1;
    dims[ndim - 3 - along] = 1;
    dims[ndim + along] = shape[ndim + along];
    const int less = (int)test_below(random, ndim - 1);
    return strided_make(random, dtype, ndim - less, dims + less, true, false);
}

static void make_side(side *s, uint64_t *random, int ndim, const int64_t *shape, int along)
{
    s->x = strided_make(random, bytes[test_below(random, 2)], ndim, shape, true, false);
    fill_random(random, s->x.t);
    s->scale = random_side_factor(random, floats[2 + test_below(random, 4)], ndim, shape, along);
    for (int64_t i = 0; i < tsr_numel(s->scale.t); i++)
        store(s->scale.t, i, (wide)(1 + test_below(random, 100)) / 64);
    s->zero = (strided){ NULL, NULL };
    if (test_below(random, 3) == 0) return;
    s->zero = random_side_factor(random, zeros[test_below(random, 4)], ndim, shape, along);
    for (int64_t i = 0; i < tsr_numel(s->zero.t); i++) store(s->zero.t, i, (wide)test_below(random, 128));
}

static void free_side(side *s)
{
    strided_free(&s->x);
    strided_free(&s->scale);
    strided_free(&s->zero);
}

/* The element of t that belongs to an index of the result, aligned at the right; a vector runs along dim
 * `along`. */
static wide broadcast_at(const tsr_tensor *t, int ndim, const int64_t *index, int along)
{
    int64_t place = 0;
    if (t->ndim == 1 && t->shape[0] != 1) return load(t, index[ndim + along]);
    for (int d = 0; d < t->ndim; d++)
        place = place * t->shape[d] + (t->shape[d] == 1 ? 0 : index[ndim - t->ndim + d]);
    return load(t, place);
}

static double product_at(const side *a, const side *b, const tsr_tensor *bias, int ndim, const int64_t *index,
                         int64_t k)
{
    int64_t sum = 0, left[TSR_MAX_NDIM], right[TSR_MAX_NDIM];
    const int64_t a_zero = a->zero.t ? (int64_t)broadcast_at(a->zero.t, ndim, index, -2) : 0;
    const int64_t b_zero = b->zero.t ? (int64_t)broadcast_at(b->zero.t, ndim, index, -1) : 0;
    memcpy(left, index, sizeof left);
    memcpy(right, index, sizeof right);
    for (int64_t p = 0; p < k; p++) {
        left[ndim - 1] = right[ndim - 2] = p;
        sum += ((int64_t)broadcast_at(a->x.t, ndim, left, -1) - a_zero) *
               ((int64_t)broadcast_at(b->x.t, ndim, right, -1) - b_zero);
    }
    const double scaled = (double)sum * (double)broadcast_at(a->scale.t, ndim, index, -2) *
                          (double)broadcast_at(b->scale.t, ndim, index, -1);
    return bias ? scaled + (double)broadcast_at(bias, ndim, index, -1) : scaled;
}

static void expect_product(const tsr_tensor *z, const side *a, const side *b, const tsr_tensor *bias,
                           int64_t k)
{
    for (int64_t place = 0; place < tsr_numel(z); place++) {
        int64_t index[TSR_MAX_NDIM] = { 0 }, rest = place;
        for (int d = z->ndim - 1; d >= 0; d--) {
            index[d] = rest % z->shape[d];
            rest /= z->shape[d];
        }
        const double want = product_at(a, b, bias, z->ndim, index, k);
        EXPECT_MSG(is_value(z->dtype, element_at(z, place), (value){ 0, (wide)want, 0 }),
                   "%s at %lld of k %lld: %Lg, not %g", tsr_dtype_name(z->dtype), (long long)place,
                   (long long)k, load(z, place), want);
    }
}

TEST(test_products_are_exact_before_they_are_rounded)
{
    static const tsr_dtype results[] = { TSR_F16, TSR_BF16, TSR_F32, TSR_F64 };
    for (int i = 0; i < 1200; i++) {
        uint64_t random = (uint64_t)i;
        const int batch = (int)test_below(&random, 3);
        const int64_t m = test_below(&random, 5), n = test_below(&random, 6), k = test_below(&random, 9);
        int64_t shape_a[4], shape_b[4], shape_z[4];
        for (int d = 0; d < batch; d++) {
            shape_z[d] = shape_a[d] = shape_b[d] = 1 + test_below(&random, 3);
            if (test_below(&random, 4) == 0) shape_a[d] = 1;
            else if (test_below(&random, 4) == 0) shape_b[d] = 1;
        }
        shape_a[batch] = shape_z[batch] = m;
        shape_a[batch + 1] = shape_b[batch] = k;
        shape_b[batch + 1] = shape_z[batch + 1] = n;
        side a, b;
        strided bias = { NULL, NULL }, given;
        tsr_tensor *z = NULL;
        make_side(&a, &random, batch + 2, shape_a, -2);
        make_side(&b, &random, batch + 2, shape_b, -1);
        if (test_below(&random, 2)) {
            bias = strided_make(&random, floats[test_below(&random, FLOATS)], 1, &n, true, false);
            for (int64_t j = 0; j < n; j++) store(bias.t, j, (wide)(test_below(&random, 40) - 20) / 4);
        }
        const tsr_dtype dtype = results[i % 4];
        given = strided_make(&random, dtype, batch + 2, shape_z, false, false);
        EXPECT_OK(
            tsr_matmul_quantised(&z, a.x.t, a.scale.t, a.zero.t, b.x.t, b.scale.t, b.zero.t, bias.t, dtype));
        EXPECT_OK(tsr_matmul_quantised(&given.t, a.x.t, a.scale.t, a.zero.t, b.x.t, b.scale.t, b.zero.t,
                                       bias.t, dtype));
        if (z) expect_product(z, &a, &b, bias.t, k);
        expect_product(given.t, &a, &b, bias.t, k);
        tsr_release(&z);
        strided_free(&given);
        strided_free(&bias);
        free_side(&a);
        free_side(&b);
    }
}

/* 70000 * 255 * 255 is more than 2^32. */
TEST(test_long_sums_of_bytes_do_not_wrap)
{
    enum { K = 70000 };
    tsr_tensor *a = NULL, *b = NULL, *scale = NULL, *zero = NULL, *z = NULL;
    EXPECT_OK(tsr_full(&a, TSR_U8, TSR_SHAPE(2, K), TSR_SCALAR(255)));
    EXPECT_OK(tsr_full(&b, TSR_U8, TSR_SHAPE(K, 3), TSR_SCALAR(255)));
    EXPECT_OK(tsr_ones(&scale, TSR_F32, TSR_SCALAR_SHAPE));
    EXPECT_OK(tsr_full(&zero, TSR_U8, TSR_SCALAR_SHAPE, TSR_SCALAR(1)));
    EXPECT_OK(tsr_matmul_quantised(&z, a, scale, NULL, b, scale, NULL, NULL, TSR_F64));
    for (int64_t i = 0; z && i < 6; i++) EXPECT(load(z, i) == 255.0L * 255 * K);
    EXPECT_OK(tsr_matmul_quantised(&z, a, scale, zero, b, scale, zero, NULL, TSR_F64));
    for (int64_t i = 0; z && i < 6; i++) EXPECT(load(z, i) == 254.0L * 254 * K);
    tsr_release(&z);
    tsr_release(&zero);
    tsr_release(&scale);
    tsr_release(&b);
    tsr_release(&a);
}

/* The result lies in the memory of an operand: bytes over the numbers that they stand for. */
TEST(test_a_result_may_overlap_an_operand)
{
    for (int parts = 0; parts < 2; parts++) {
        tsr_tensor *x = NULL, *bits = NULL, *scale = NULL, *want = NULL;
        EXPECT_OK(tsr_normal(&x, TSR_F32, TSR_SHAPE(50), 0, 40, 1));
        EXPECT_OK(tsr_ones(&scale, TSR_F32, TSR_SCALAR_SHAPE));
        EXPECT_OK(tsr_quantise(&want, x, scale, NULL, TSR_ALL_AXES, TSR_I8));
        EXPECT_OK(tsr_bit_view(&bits, x, TSR_I8));
        EXPECT_OK(tsr_slice(&bits, bits, 0, 100, 150, 1));
        tsri_prefer_parts(parts);
        EXPECT_OK(tsr_quantise(&bits, x, scale, NULL, TSR_ALL_AXES, TSR_I8));
        tsri_prefer_parts(false);
        bool same = false;
        EXPECT_OK(tsr_equal(&same, bits, want));
        EXPECT(same);
        tsr_release(&want);
        tsr_release(&scale);
        tsr_release(&bits);
        tsr_release(&x);
    }
}

TEST(test_infer_needs_no_data)
{
    tsr_desc x, scale, out[3];
    const tsr_quant_params params = { 1, TSR_U8, false }, whole = { TSR_ALL_AXES, TSR_F16, false };
    EXPECT_OK(tsr_desc_init(&x, TSR_F64, TSR_SHAPE(4, 5), NULL));
    EXPECT_OK(tsr_desc_init(&scale, TSR_F32, TSR_SHAPE(5), NULL));
    EXPECT_OK(tsr_infer(out, TSR_OP_QUANTISE, 2, (const tsr_desc *const[]){ &x, &scale }, &params));
    EXPECT(out[0].dtype == TSR_U8 && out[0].ndim == 2 && out[0].shape[1] == 5);
    EXPECT_OK(tsr_infer(out, TSR_OP_QUANTISE_DYNAMIC, 1, (const tsr_desc *const[]){ &x }, &params));
    EXPECT(out[0].dtype == TSR_U8 && out[1].dtype == TSR_F64 && out[1].ndim == 1 && out[1].shape[0] == 5 &&
           out[2].dtype == TSR_U8);
    EXPECT_OK(tsr_infer(out, TSR_OP_QUANTISATION_RANGE, 1, (const tsr_desc *const[]){ &x }, &params));
    EXPECT(out[0].dtype == TSR_F64 && out[1].dtype == TSR_U8 && out[1].ndim == 1);
    x.dtype = TSR_I32;
    scale.ndim = 0;
    EXPECT_OK(tsr_infer(out, TSR_OP_DEQUANTISE, 2, (const tsr_desc *const[]){ &x, &scale }, &whole));
    EXPECT(out[0].dtype == TSR_F16 && out[0].shape[0] == 4);
}

/* Bad input ------------------------------------------------------------------------------------------ */

TEST(test_bad_arguments_are_refused_in_words)
{
    tsr_tensor *x = NULL, *q = NULL, *scale = NULL, *five = NULL, *z = NULL, *s = NULL, *o = NULL;
    EXPECT_OK(tsr_zeros(&x, TSR_F32, TSR_SHAPE(4, 6)));
    EXPECT_OK(tsr_zeros(&q, TSR_I8, TSR_SHAPE(4, 6)));
    EXPECT_OK(tsr_ones(&scale, TSR_F32, TSR_SCALAR_SHAPE));
    EXPECT_OK(tsr_ones(&five, TSR_F32, TSR_SHAPE(5)));
    EXPECT_FAILS(tsr_quantise(NULL, x, scale, NULL, TSR_ALL_AXES, TSR_I8), TSR_ENULL,
                 "quantise: out is NULL");
    EXPECT_FAILS(tsr_quantise(&z, NULL, scale, NULL, TSR_ALL_AXES, TSR_I8), TSR_ENULL, "quantise: x is NULL");
    EXPECT_FAILS(tsr_quantise(&z, x, NULL, NULL, TSR_ALL_AXES, TSR_I8), TSR_ENULL, "quantise: scale is NULL");
    EXPECT_FAILS(tsr_quantise(&z, x, scale, NULL, 2, TSR_I8), TSR_EINDEX, "quantise: axis 2 of f32(4, 6");
    EXPECT_FAILS(tsr_quantise(&z, x, scale, NULL, TSR_ALL_AXES, TSR_I16), TSR_EDTYPE, "dtype is i16");
    EXPECT_FAILS(tsr_quantise(&z, q, scale, NULL, TSR_ALL_AXES, TSR_I8), TSR_EDTYPE, "quantise: x");
    EXPECT_FAILS(tsr_quantise(&z, x, q, NULL, TSR_ALL_AXES, TSR_I8), TSR_EDTYPE, "quantise: scale");
    EXPECT_FAILS(tsr_quantise(&z, x, scale, scale, TSR_ALL_AXES, TSR_I8), TSR_EDTYPE, "quantise: zero_point");
    EXPECT_FAILS(tsr_quantise(&z, x, five, NULL, TSR_ALL_AXES, TSR_I8), TSR_ESHAPE, "must have one element");
    EXPECT_FAILS(tsr_quantise(&z, x, five, NULL, 1, TSR_I8), TSR_ESHAPE,
                 "one element for each index of axis 1");
    EXPECT_FAILS(tsr_quantise(&z, x, scale, q, TSR_ALL_AXES, TSR_I8), TSR_ESHAPE, "zero_point is i8(4, 6");
    EXPECT_FAILS(tsr_quantise(&x, x, scale, NULL, TSR_ALL_AXES, TSR_I8), TSR_EDTYPE,
                 "quantise: the result is i8");
    EXPECT_FAILS(tsr_dequantise(NULL, q, scale, NULL, TSR_ALL_AXES, TSR_F32), TSR_ENULL,
                 "dequantise: out is NULL");
    EXPECT_FAILS(tsr_dequantise(&z, NULL, scale, NULL, TSR_ALL_AXES, TSR_F32), TSR_ENULL,
                 "dequantise: x is NULL");
    EXPECT_FAILS(tsr_dequantise(&z, q, NULL, NULL, TSR_ALL_AXES, TSR_F32), TSR_ENULL,
                 "dequantise: scale is NULL");
    EXPECT_FAILS(tsr_dequantise(&z, q, scale, NULL, TSR_ALL_AXES, TSR_I8), TSR_EDTYPE, "must be floating");
    EXPECT_FAILS(tsr_dequantise(&z, x, scale, NULL, TSR_ALL_AXES, TSR_F32), TSR_EDTYPE, "dequantise: x");
    EXPECT_FAILS(tsr_dequantise(&z, q, scale, NULL, -3, TSR_F32), TSR_EINDEX, "dequantise: axis -3");
    EXPECT_FAILS(tsr_quantisation_range(NULL, &z, x, 0, TSR_I8, false), TSR_ENULL,
                 "quantisation_range: scale is NULL");
    EXPECT_FAILS(tsr_quantisation_range(&s, NULL, x, 0, TSR_I8, false), TSR_ENULL,
                 "quantisation_range: zero_point is NULL");
    EXPECT_FAILS(tsr_quantisation_range(&s, &s, x, 0, TSR_I8, false), TSR_EINVAL, "one handle");
    EXPECT_FAILS(tsr_quantisation_range(&s, &z, NULL, 0, TSR_I8, false), TSR_ENULL,
                 "quantisation_range: x is NULL");
    EXPECT_FAILS(tsr_quantisation_range(&s, &z, x, 5, TSR_I8, false), TSR_EINDEX, "axis 5");
    EXPECT_FAILS(tsr_quantisation_range(&s, &z, x, 0, TSR_F32, false), TSR_EDTYPE, "dtype is f32");
    EXPECT_FAILS(tsr_quantisation_range(&s, &z, q, 0, TSR_I8, false), TSR_EDTYPE, "quantisation_range: x");
    EXPECT_FAILS(tsr_quantise_dynamic(NULL, &s, &z, x, 0, TSR_I8, false), TSR_ENULL,
                 "quantise_dynamic: out is NULL");
    EXPECT_FAILS(tsr_quantise_dynamic(&o, NULL, &z, x, 0, TSR_I8, false), TSR_ENULL,
                 "quantise_dynamic: scale is NULL");
    EXPECT_FAILS(tsr_quantise_dynamic(&o, &s, &z, NULL, 0, TSR_I8, false), TSR_ENULL,
                 "quantise_dynamic: x is NULL");
    EXPECT_FAILS(tsr_quantise_dynamic(&five, &s, &z, x, 0, TSR_I8, false), TSR_EDTYPE,
                 "quantise_dynamic: the result is i8");
    EXPECT_FAILS(tsr_quantise_dynamic(&o, &five, &z, x, 0, TSR_I8, false), TSR_ESHAPE,
                 "quantise_dynamic: the result is f32(4");
    EXPECT(z == NULL && s == NULL && o == NULL);
    tsr_release(&five);
    tsr_release(&scale);
    tsr_release(&q);
    tsr_release(&x);
}

TEST(test_bad_arguments_of_products_are_refused_in_words)
{
    tsr_tensor *a = NULL, *b = NULL, *f = NULL, *one = NULL, *zero = NULL, *z = NULL;
    EXPECT_OK(tsr_zeros(&a, TSR_I8, TSR_SHAPE(2, 3)));
    EXPECT_OK(tsr_zeros(&b, TSR_U8, TSR_SHAPE(3, 4)));
    EXPECT_OK(tsr_zeros(&f, TSR_F32, TSR_SHAPE(3)));
    EXPECT_OK(tsr_ones(&one, TSR_F32, TSR_SCALAR_SHAPE));
    EXPECT_OK(tsr_zeros(&zero, TSR_I8, TSR_SHAPE(3)));
    EXPECT_FAILS(tsr_matmul_quantised(NULL, a, one, NULL, b, one, NULL, NULL, TSR_F32), TSR_ENULL,
                 "matmul_quantised: out is NULL");
    EXPECT_FAILS(tsr_matmul_quantised(&z, NULL, one, NULL, b, one, NULL, NULL, TSR_F32), TSR_ENULL,
                 "a is NULL");
    EXPECT_FAILS(tsr_matmul_quantised(&z, a, NULL, NULL, b, one, NULL, NULL, TSR_F32), TSR_ENULL,
                 "a_scale is NULL");
    EXPECT_FAILS(tsr_matmul_quantised(&z, a, one, NULL, NULL, one, NULL, NULL, TSR_F32), TSR_ENULL,
                 "b is NULL");
    EXPECT_FAILS(tsr_matmul_quantised(&z, a, one, NULL, b, NULL, NULL, NULL, TSR_F32), TSR_ENULL,
                 "b_scale is NULL");
    EXPECT_FAILS(tsr_matmul_quantised(&z, f, one, NULL, b, one, NULL, NULL, TSR_F32), TSR_EDTYPE,
                 "a is f32(3");
    EXPECT_FAILS(tsr_matmul_quantised(&z, zero, one, NULL, b, one, NULL, NULL, TSR_F32), TSR_ESHAPE,
                 "two dims at least");
    EXPECT_FAILS(tsr_matmul_quantised(&z, a, zero, NULL, b, one, NULL, NULL, TSR_F32), TSR_EDTYPE,
                 "a_scale is i8(3");
    EXPECT_FAILS(tsr_matmul_quantised(&z, a, f, NULL, b, one, NULL, NULL, TSR_F32), TSR_ESHAPE,
                 "one for each row of a");
    EXPECT_FAILS(tsr_matmul_quantised(&z, a, one, zero, b, one, NULL, NULL, TSR_F32), TSR_ESHAPE,
                 "a_zero is i8(3");
    EXPECT_FAILS(tsr_matmul_quantised(&z, a, one, f, b, one, NULL, NULL, TSR_F32), TSR_EDTYPE,
                 "a_zero is f32(3");
    EXPECT_FAILS(tsr_matmul_quantised(&z, a, one, NULL, b, f, NULL, NULL, TSR_F32), TSR_ESHAPE,
                 "one for each column of b");
    EXPECT_FAILS(tsr_matmul_quantised(&z, a, one, NULL, a, one, NULL, NULL, TSR_F32), TSR_ESHAPE,
                 "matmul_quantised: b: k is 3");
    EXPECT_FAILS(tsr_matmul_quantised(&z, a, one, NULL, b, one, NULL, f, TSR_F32), TSR_ESHAPE,
                 "bias is f32(3");
    EXPECT_FAILS(tsr_matmul_quantised(&z, a, one, NULL, b, one, NULL, zero, TSR_F32), TSR_EDTYPE,
                 "bias is i8(3");
    EXPECT_FAILS(tsr_matmul_quantised(&z, a, one, NULL, b, one, NULL, NULL, TSR_I32), TSR_EDTYPE,
                 "dtype is i32");
    EXPECT_FAILS(tsr_matmul_quantised(&f, a, one, NULL, b, one, NULL, NULL, TSR_F32), TSR_ESHAPE,
                 "matmul_quantised: the result is");
    EXPECT(z == NULL);
    tsr_release(&zero);
    tsr_release(&one);
    tsr_release(&f);
    tsr_release(&b);
    tsr_release(&a);
}
