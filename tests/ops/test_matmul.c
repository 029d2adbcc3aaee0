/* test_matmul.c - products of matrices and vectors: what is particular. That they are right for every dtype,
 * size and stride is for opcheck. */
#include "test.h"

static const tsr_dtype product_dtypes[] = { TSR_I8,  TSR_I16, TSR_I32,    TSR_I64,    TSR_U8,  TSR_U16,
                                            TSR_U32, TSR_U64, TSR_F8E4M3, TSR_F8E5M2, TSR_F16, TSR_BF16,
                                            TSR_F32, TSR_F64, TSR_C64,    TSR_C128 };
enum { PRODUCT_DTYPES = sizeof product_dtypes / sizeof *product_dtypes };

/* Small whole numbers, whose sums are exact. */
static tsr_tensor *small_numbers(tsr_dtype dtype, int ndim, const int64_t *shape, uint64_t seed)
{
    tsr_tensor *t = NULL, *z = NULL;
    EXPECT_OK(tsr_integers(&t, TSR_I8, ndim, shape, -3, 4, seed));
    EXPECT_OK(tsr_cast(&z, t, dtype));
    tsr_release(&t);
    return z;
}

static void expect_same(const tsr_tensor *z, const tsr_tensor *want)
{
    bool same = false;
    EXPECT_OK(tsr_equal(&same, z, want));
    EXPECT_MSG(same, "%s", tsr_dtype_name(z->dtype));
}

TEST(test_matmul_i8_takes_bytes_only)
{
    tsr_tensor *a = NULL, *b = NULL, *z = NULL;
    EXPECT_OK(tsr_zeros(&a, TSR_I16, TSR_SHAPE(2, 3)));
    EXPECT_OK(tsr_zeros(&b, TSR_I8, TSR_SHAPE(3, 2)));
    EXPECT_FAILS(tsr_matmul_i8(&z, a, b), TSR_EDTYPE,
                 "matmul_i8: a: dtype must be i8/u8, but a is i16(2, 3 | 3, 1)");
    EXPECT_FAILS(tsr_matmul_i8(&z, b, b), TSR_ESHAPE, "matmul_i8: b: k is 2 from a, but dim -2 of b is 3");
    tsr_release_all(&a, &b);
}

/* The order of sums ------------------------------------------------------------------ */

/* As the header says it, with every step rounded. */
static float sum_in_order_f32(int64_t k, const float *a, const float *b, int64_t step)
{
    volatile float total = 0;
    for (int64_t p = 0; p < k; p += 256) {
        volatile float block = 0;
        for (int64_t i = p; i < k && i < p + 256; i++) {
            volatile float product = a[i] * b[i * step];
            block = block + product;
        }
        total = total + block;
    }
    return total;
}

static void random_floats(uint64_t *r, tsr_tensor *t)
{
    float *x = t->data;
    for (int64_t i = 0; i < tsr_numel(t); i++) x[i] = (float)(test_below(r, 20001) - 10000) / 997.0f;
}

TEST(test_sums_have_the_order_of_the_header_on_every_path)
{
    static const int64_t shape[][3] = { { 1, 1024, 1 }, { 1, 300, 1 },   { 40, 5000, 1 },    { 1, 700, 33 },
                                        { 5, 6, 7 },    { 70, 2600, 9 }, { 130, 300, 140 }, { 3, 257, 3 } };
    uint64_t r = 6;
    for (size_t c = 0; c < sizeof shape / sizeof *shape; c++) {
        const int64_t m = shape[c][0], k = shape[c][1], n = shape[c][2];
        tsr_tensor *a = NULL, *b = NULL, *z = NULL, *narrow = NULL, *ha = NULL, *hb = NULL;
        EXPECT_OK(tsr_empty(&a, TSR_F32, TSR_SHAPE(m, k)));
        EXPECT_OK(tsr_empty(&b, TSR_F32, TSR_SHAPE(k, n)));
        random_floats(&r, a);
        random_floats(&r, b);
        EXPECT_OK(tsr_cast(&ha, a, TSR_F16));
        EXPECT_OK(tsr_cast(&hb, b, TSR_F16));
        EXPECT_OK(tsr_cast(&a, ha, TSR_F32));
        EXPECT_OK(tsr_cast(&b, hb, TSR_F32));
        EXPECT_OK(tsr_matmul(&z, a, b));
        EXPECT_OK(tsr_matmul(&narrow, ha, hb));
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++) {
                const float want = sum_in_order_f32(k, (float *)a->data + i * k, (float *)b->data + j, n);
                const float got = ((float *)z->data)[i * n + j];
                EXPECT_MSG(memcmp(&want, &got, 4) == 0, "%lld %lld %lld: %.9g, not %.9g", (long long)m,
                           (long long)k, (long long)n, (double)got, (double)want);
                EXPECT(((uint16_t *)narrow->data)[i * n + j] == tsr_f32_to_f16(want));
            }
        tsr_release_all(&a, &b, &z, &narrow, &ha, &hb);
    }
}

/* Fractions in every part of every element of a made tensor. */
static tsr_tensor *fractions(uint64_t *r, tsr_dtype dtype, int64_t rows, int64_t cols)
{
    tsr_tensor *f = NULL, *t = NULL;
    const bool complex = dtype == TSR_C64 || dtype == TSR_C128;
    EXPECT_OK(tsr_empty(&f, TSR_F32, TSR_SHAPE(rows, cols, complex ? 2 : 1)));
    random_floats(r, f);
    if (complex) {
        tsr_tensor *parts = NULL;
        EXPECT_OK(tsr_cast(&parts, f, dtype == TSR_C64 ? TSR_F32 : TSR_F64));
        EXPECT_OK(tsr_empty(&t, dtype, TSR_SHAPE(rows, cols)));
        memcpy(t->data, parts->data, (size_t)tsr_byte_size(t));
        tsr_release(&parts);
    } else {
        EXPECT_OK(tsr_cast(&t, f, dtype));
        EXPECT_OK(tsr_reshape(&t, t, TSR_SHAPE(rows, cols)));
    }
    tsr_release(&f);
    return t;
}

/* Is each element of part the one of whole that lies `row` rows and `col` columns on? */
static void check_same_bits(const tsr_tensor *part, const tsr_tensor *whole, int64_t row, int64_t col)
{
    const size_t size = tsr_dtype_size(whole->dtype);
    for (int64_t i = 0; i < part->shape[0]; i++)
        for (int64_t j = 0; j < part->shape[1]; j++) {
            const char *x =
                (const char *)part->data + (size_t)(i * part->stride[0] + j * part->stride[1]) * size;
            const char *y = (const char *)whole->data +
                            (size_t)((row + i) * whole->stride[0] + (col + j) * whole->stride[1]) * size;
            EXPECT_MSG(memcmp(x, y, size) == 0, "%s: row %lld, column %lld", tsr_dtype_name(whole->dtype),
                       (long long)(row + i), (long long)(col + j));
        }
}

/* One row, one column, and a result whose columns lie along memory have the sums of the whole. */
TEST(test_sums_do_not_depend_on_the_kernel_of_a_product)
{
    static const tsr_dtype dtypes[] = { TSR_F32, TSR_F64, TSR_F16, TSR_BF16, TSR_C64, TSR_C128 };
    static const int64_t sizes[][3] = { { 37, 700, 53 }, { 9, 11, 7 }, { 130, 300, 260 } };
    uint64_t r = 77;
    for (size_t c = 0; c < 18; c++) {
        const tsr_dtype dtype = dtypes[c / 3];
        const int64_t m = sizes[c % 3][0], k = sizes[c % 3][1], n = sizes[c % 3][2];
        tsr_tensor *a = fractions(&r, dtype, m, k), *b = fractions(&r, dtype, k, n);
        tsr_tensor *z = NULL, *part = NULL, *row = NULL, *column = NULL, *across = NULL, *transposed = NULL;
        EXPECT_OK(tsr_matmul(&z, a, b));
        EXPECT_OK(tsr_slice(&row, a, 0, m / 2, m / 2 + 1, 1));
        EXPECT_OK(tsr_matmul(&part, row, b));
        check_same_bits(part, z, m / 2, 0);
        tsr_release(&part);
        EXPECT_OK(tsr_slice(&column, b, 1, n / 2, n / 2 + 1, 1));
        EXPECT_OK(tsr_matmul(&part, a, column));
        check_same_bits(part, z, 0, n / 2);
        EXPECT_OK(tsr_empty(&across, dtype, TSR_SHAPE(n, m)));
        EXPECT_OK(tsr_transpose(&transposed, across, 0, 1));
        EXPECT_OK(tsr_matmul(&transposed, a, b));
        check_same_bits(transposed, z, 0, 0);
        tsr_tensor *const all[] = { a, b, z, part, row, column, across, transposed };
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) tsr_release(&(tsr_tensor *){ all[i] });
    }
}

/* Large weights whose rows are the columns of b, with few rows of a: read once, panel after panel. */
TEST(test_few_rows_have_the_same_sums_whatever_the_strides_of_b)
{
    static const tsr_dtype dtypes[] = { TSR_F32, TSR_F64, TSR_F16, TSR_BF16, TSR_I8, TSR_I16, TSR_I32 };
    enum { M = 19, K = 1031, N = 1037 };
    uint64_t r = 78;
    for (size_t c = 0; c < sizeof dtypes / sizeof *dtypes; c++) {
        const bool whole = c > 3;
        tsr_tensor *a = whole ? small_numbers(dtypes[c], TSR_SHAPE(M, K), 1) : fractions(&r, dtypes[c], M, K);
        tsr_tensor *w = whole ? small_numbers(dtypes[c], TSR_SHAPE(N, K), 2) : fractions(&r, dtypes[c], N, K);
        tsr_tensor *b = NULL, *copy = NULL, *z = NULL, *want = NULL;
        EXPECT_OK(tsr_transpose(&b, w, 0, 1));
        EXPECT_OK(tsr_contiguous(&copy, b));
        EXPECT_OK(tsr_matmul(&z, a, b));
        EXPECT_OK(tsr_matmul(&want, a, copy));
        check_same_bits(z, want, 0, 0);
        tsr_tensor *const all[] = { a, w, b, copy, z, want };
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) tsr_release(&(tsr_tensor *){ all[i] });
    }
}

/* Has the dot of a and b the bits of `want`? */
static void check_dot(const tsr_tensor *want, const tsr_tensor *a, const tsr_tensor *b)
{
    tsr_tensor *z = NULL;
    EXPECT_OK(tsr_dot(&z, a, b));
    EXPECT_MSG(memcmp(z->data, want->data, tsr_dtype_size(want->dtype)) == 0, "%s, %lld elements",
               tsr_dtype_name(a->dtype), (long long)a->shape[0]);
    tsr_release(&z);
}

/* The elements of t again, `step` places apart. */
static tsr_tensor *spread(const tsr_tensor *t, int64_t step)
{
    tsr_tensor *room = NULL, *view = NULL;
    const int64_t k = t->shape[0], places = step < 0 ? -step : step;
    EXPECT_OK(tsr_zeros(&room, t->dtype, TSR_SHAPE(k * places)));
    EXPECT_OK(tsr_slice(&view, room, 0, 0, k * places, places));
    if (step < 0) EXPECT_OK(tsr_flip(&view, view, 1, (int[]){ 0 }));
    EXPECT_OK(tsr_copy(view, t));
    tsr_release(&room);
    return view;
}

/* Is `had` as near to a sum of k terms, whose sizes add up to `size`, as blocks of 256 in one chain are? */
static void check_near(double had, long double sum, long double size, int64_t k, tsr_dtype dtype)
{
    const bool wide = dtype == TSR_F64 || dtype == TSR_C128;
    const long double off = (long double)had - sum, unit = wide ? 0x1p-53L : 0x1p-24L;
    const long double rounded = dtype == TSR_F16 ? 0x1p-11L : dtype == TSR_BF16 ? 0x1p-8L : 0;
    EXPECT((off < 0 ? -off : off) <=
           size * (260 + (long double)k / 256) * unit + (sum < 0 ? -sum : sum) * rounded * 1.01L);
}

static void check_sums(const tsr_c128 *had, const tsr_c128 *x, const tsr_c128 *y, int64_t k, tsr_dtype dtype)
{
    long double re = 0, im = 0, re_size = 0, im_size = 0;
    for (int64_t p = 0; p < k; p++) {
        const long double terms[] = { (long double)x[p].re * y[p].re, -(long double)x[p].im * y[p].im,
                                      (long double)x[p].re * y[p].im, (long double)x[p].im * y[p].re };
        re += terms[0] + terms[1];
        im += terms[2] + terms[3];
        for (int i = 0; i < 2; i++) re_size += terms[i] < 0 ? -terms[i] : terms[i];
        for (int i = 2; i < 4; i++) im_size += terms[i] < 0 ? -terms[i] : terms[i];
    }
    check_near(had->re, re, re_size, k, dtype);
    check_near(had->im, im, im_size, k, dtype);
}

/* Long dots have an order of their own, that strides, threads and batches do not change. */
TEST(test_long_dots_are_the_same_and_accurate_on_every_path)
{
    static const tsr_dtype dtypes[] = { TSR_F32, TSR_F64, TSR_F16, TSR_BF16, TSR_C64, TSR_C128 };
    static const int64_t lengths[] = { 1024, 1025, 2048, 2049, 2303, 4096 + 131, 70001, 600001 };
    uint64_t r = 78;
    for (size_t c = 0; c < 6 * sizeof lengths / sizeof *lengths; c++) {
        const tsr_dtype dtype = dtypes[c % 6];
        const int64_t k = lengths[c / 6];
        tsr_tensor *a = fractions(&r, dtype, k, 1), *b = fractions(&r, dtype, k, 1), *z = NULL;
        tsr_tensor *row = NULL, *rows = NULL, *each = NULL, *x = NULL, *y = NULL, *had = NULL;
        EXPECT_OK(tsr_reshape(&a, a, TSR_SHAPE(k)));
        EXPECT_OK(tsr_reshape(&b, b, TSR_SHAPE(k)));
        EXPECT_OK(tsr_set_threads(1));
        EXPECT_OK(tsr_dot(&z, a, b));
        EXPECT_OK(tsr_set_threads(7));
        check_dot(z, a, b);
        EXPECT_OK(tsr_set_threads(0));
        check_dot(z, b, a);
        for (int64_t step = -3; step <= 3; step++) {
            if (step == 0) continue;
            tsr_tensor *p = spread(a, step), *q = spread(b, step == 1 ? 2 : 1);
            check_dot(z, p, q);
            check_dot(z, p, b);
            tsr_release(&p); tsr_release(&q);
        }
        EXPECT_OK(tsr_reshape(&row, a, TSR_SHAPE(1, 1, k)));
        EXPECT_OK(tsr_expand(&rows, row, TSR_SHAPE(3, 1, k)));
        EXPECT_OK(tsr_reshape(&row, b, TSR_SHAPE(k, 1)));
        EXPECT_OK(tsr_matmul(&each, rows, row));
        for (size_t i = 0, size = tsr_dtype_size(dtype); i < 3; i++)
            EXPECT(memcmp((char *)each->data + i * size, z->data, size) == 0);
        EXPECT_OK(tsr_cast(&x, a, TSR_C128));
        EXPECT_OK(tsr_cast(&y, b, TSR_C128));
        EXPECT_OK(tsr_cast(&had, z, TSR_C128));
        check_sums(had->data, x->data, y->data, k, dtype);
        tsr_tensor *const all[] = { a, b, z, row, rows, each, x, y, had };
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) tsr_release(&(tsr_tensor *){ all[i] });
    }
}

/* Results larger than caches, of few products each. */
TEST(test_long_results_of_short_sums_are_exact)
{
    static const int64_t sizes[][3] = {
        { 1100000, 8, 8 }, { 4160, 3, 4160 }, { 4200, 1, 4133 }, { 700001, 5, 17 }, { 1999, 16, 2000 },
        { 301, 17, 433 },  { 66, 64, 193 }
    };
    for (size_t c = 0; c < sizeof sizes / sizeof *sizes; c++) {
        const int64_t m = sizes[c][0], k = sizes[c][1], n = sizes[c][2];
        tsr_tensor *a = NULL, *b = NULL, *z = NULL;
        EXPECT_OK(tsr_empty(&a, TSR_F32, TSR_SHAPE(m, k)));
        EXPECT_OK(tsr_empty(&b, TSR_F32, TSR_SHAPE(k, n)));
        float *x = a->data, *y = b->data;
        for (int64_t i = 0; i < m * k; i++) x[i] = (float)(i * 7 % 23 - 11);
        for (int64_t i = 0; i < k * n; i++) y[i] = (float)(i * 5 % 19 - 9);
        EXPECT_OK(tsr_matmul(&z, a, b));
        const float *had = z->data;
        int64_t wrong = 0;
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++) {
                float sum = 0;
                for (int64_t p = 0; p < k; p++) sum += x[i * k + p] * y[p * n + j];
                wrong += had[i * n + j] != sum;
            }
        EXPECT_MSG(wrong == 0, "%lld x %lld x %lld: %lld elements", (long long)m, (long long)k, (long long)n,
                   (long long)wrong);
        tsr_release_all(&a, &b, &z);
    }
}

/* Special values ---------------------------------------------------------------------- */

TEST(test_nan_and_infinity_reach_the_rows_and_columns_they_are_in)
{
    static const int64_t sizes[] = { 1, 3, 9, 70 };
    for (size_t c = 0; c < 4; c++) {
        const int64_t m = sizes[c], n = sizes[3 - c], k = 300;
        tsr_tensor *a = NULL, *b = NULL, *z = NULL;
        EXPECT_OK(tsr_ones(&a, TSR_F32, TSR_SHAPE(m, k)));
        EXPECT_OK(tsr_zeros(&b, TSR_F32, TSR_SHAPE(k, n)));
        ((float *)a->data)[(m - 1) * k + 299] = (float)(1e308 * 1e10);
        EXPECT_OK(tsr_matmul(&z, a, b));
        for (int64_t i = 0; i < m * n; i++) {
            const float v = ((float *)z->data)[i];
            EXPECT(i / n == m - 1 ? v != v : v == 0);
        }
        tsr_release(&a); tsr_release(&b); tsr_release(&z);
    }
}

/* gemm --------------------------------------------------------------------------------- */

TEST(test_gemm_with_beta_0_does_not_read_c)
{
    tsr_tensor *a = NULL, *c = NULL;
    EXPECT_OK(tsr_ones(&a, TSR_F32, TSR_SHAPE(9, 9)));
    EXPECT_OK(tsr_full(&c, TSR_F32, TSR_SHAPE(9, 9), tsr_scalar_f64(0.0 / (double)(a->ndim - 2))));
    EXPECT(((float *)c->data)[3] != ((float *)c->data)[3]);
    EXPECT_OK(tsr_gemm(&c, a, a, c, tsr_scalar_f64(0.5), tsr_scalar_f64(0)));
    for (int i = 0; i < 81; i++) EXPECT(((float *)c->data)[i] == 4.5f);
    tsr_release(&a); tsr_release(&c);
}

TEST(test_gemm_scales_by_complex_and_wide_integer_factors)
{
    tsr_tensor *a = NULL, *z = NULL, *i = NULL, *iz = NULL;
    EXPECT_OK(tsr_full(&a, TSR_C64, TSR_SHAPE(2, 2), tsr_scalar_c128(1, 2)));
    EXPECT_OK(tsr_gemm(&z, a, a, a, tsr_scalar_c128(0, 1), tsr_scalar_c128(2, -1)));
    /* 2 (1+2i)^2 = -6+8i; times i = -8-6i; (2-i)(1+2i) = 4+3i */
    EXPECT(((tsr_c64 *)z->data)[0].re == -4 && ((tsr_c64 *)z->data)[0].im == -3);
    EXPECT_OK(tsr_ones(&i, TSR_I64, TSR_SHAPE(1, 1)));
    EXPECT_OK(tsr_gemm(&iz, i, i, i, tsr_scalar_i64(INT64_MAX - 1), tsr_scalar_i64(-3)));
    EXPECT(*(int64_t *)iz->data == INT64_MAX - 4);
    tsr_release(&a); tsr_release(&z); tsr_release(&i); tsr_release(&iz);
}

TEST(test_gemm_c_may_be_a_number)
{
    tsr_tensor *a = NULL, *z = NULL;
    EXPECT_OK(tsr_ones(&a, TSR_F16, TSR_SHAPE(3, 3)));
    EXPECT_OK(tsr_gemm(&z, a, a, TSR_NUMBER(0.5), tsr_scalar_i64(1), tsr_scalar_i64(1)));
    EXPECT(z->dtype == TSR_F16 && tsr_f16_to_f32(((uint16_t *)z->data)[4]) == 3.5f);
    tsr_release(&a); tsr_release(&z);
}

/* What is made of matmul ------------------------------------------------------------------ */

TEST(test_addmm_is_c_plus_the_product)
{
    tsr_tensor *a = NULL, *b = NULL, *c = NULL, *z = NULL;
    EXPECT_OK(tsr_full(&a, TSR_I32, TSR_SHAPE(2, 3), tsr_scalar_i64(2)));
    EXPECT_OK(tsr_full(&b, TSR_I32, TSR_SHAPE(3, 4), tsr_scalar_i64(5)));
    EXPECT_OK(tsr_arange(&c, TSR_I32, tsr_scalar_i64(0), tsr_scalar_i64(4), tsr_scalar_i64(1)));
    EXPECT_OK(tsr_addmm(&z, c, a, b));
    for (int i = 0; i < 8; i++) EXPECT(((int32_t *)z->data)[i] == 30 + i % 4);
    EXPECT_FAILS(tsr_addmm(&z, c, a, c), TSR_ESHAPE,
                 "addmm: b: rank must be 2 for (k, n), but b is i32(4 | 1)");
    tsr_release(&a); tsr_release(&b); tsr_release(&c); tsr_release(&z);
}

TEST(test_dot_does_not_conjugate_and_vecdot_does)
{
    tsr_tensor *a = NULL, *b = NULL, *dot = NULL, *vecdot = NULL;
    EXPECT_OK(tsr_full(&a, TSR_C128, TSR_SHAPE(3), tsr_scalar_c128(1, 2)));
    EXPECT_OK(tsr_full(&b, TSR_C128, TSR_SHAPE(3), tsr_scalar_c128(3, -1)));
    EXPECT_OK(tsr_dot(&dot, a, b));
    EXPECT_OK(tsr_vecdot(&vecdot, a, b, -1));
    EXPECT(dot->ndim == 0 && vecdot->ndim == 0);
    EXPECT(((tsr_c128 *)dot->data)->re == 15 && ((tsr_c128 *)dot->data)->im == 15);      /* 3 (1+2i)(3-i) */
    EXPECT(((tsr_c128 *)vecdot->data)->re == 3 && ((tsr_c128 *)vecdot->data)->im == -21); /* 3 (1-2i)(3-i) */
    tsr_release(&a); tsr_release(&b); tsr_release(&dot); tsr_release(&vecdot);
}

/* Dtypes ------------------------------------------------------------------------------------ */

TEST(test_operands_of_different_dtypes_are_promoted)
{
    tsr_tensor *a = NULL, *b = NULL, *z = NULL;
    EXPECT_OK(tsr_full(&a, TSR_F16, TSR_SHAPE(2, 3), tsr_scalar_f64(1.5)));
    EXPECT_OK(tsr_full(&b, TSR_BF16, TSR_SHAPE(3, 2), tsr_scalar_f64(2)));
    EXPECT_OK(tsr_matmul(&z, a, b));
    EXPECT(z->dtype == TSR_F32 && ((float *)z->data)[3] == 9.0f);
    tsr_release_all(&z, &b);
    EXPECT_OK(tsr_ones(&b, TSR_I32, TSR_SHAPE(3, 2)));
    EXPECT_FAILS(tsr_matmul(&z, a, b), TSR_EDTYPE,
                 "matmul: f16 and i32(3, 2 | 2, 1) are not promoted together");
    tsr_release(&b);
    EXPECT_OK(tsr_ones(&b, TSR_BOOL, TSR_SHAPE(3, 2)));
    EXPECT_FAILS(tsr_matmul(&z, b, b), TSR_EDTYPE,
                 "matmul: a: dtype must be real/c64/c128, but a is bool(3, 2 | 2, 1)");
    tsr_release(&b);
    EXPECT_OK(tsr_ones(&b, TSR_C32, TSR_SHAPE(3, 2)));
    EXPECT_FAILS(tsr_matmul(&z, b, b), TSR_EDTYPE, "but a is c32(3, 2 | 2, 1)");
    tsr_release(&b);
    EXPECT_OK(tsr_ones(&b, TSR_I32, TSR_SHAPE(2, 2)));
    EXPECT_FAILS(tsr_gemm(&z, b, b, NULL, tsr_scalar_f64(0.5), tsr_scalar_i64(0)), TSR_EDTYPE,
                 "gemm: alpha is a floating number, which does not fit i32");
    EXPECT_FAILS(tsr_gemm(&z, b, b, NULL, tsr_scalar_i64(1), tsr_scalar_c128(0, 1)), TSR_EDTYPE,
                 "gemm: beta is a complex");
    EXPECT_FAILS(tsr_gemm(&z, b, b, TSR_NUMBER(0.5), tsr_scalar_i64(1), tsr_scalar_i64(1)), TSR_EDTYPE,
                 "gemm: a floating number does not fit i32");
    tsr_release(&a); tsr_release(&b);
}

/* Memory ------------------------------------------------------------------------------------- */

TEST(test_sums_over_nothing_are_0_or_beta_times_c)
{
    for (int i = 0; i < PRODUCT_DTYPES; i++) {
        const tsr_dtype dtype = product_dtypes[i];
        tsr_tensor *a = NULL, *b = NULL, *c = NULL, *z = NULL, *v = NULL, *dot = NULL, *want = NULL,
                   *zero = NULL;
        EXPECT_OK(tsr_zeros(&a, dtype, TSR_SHAPE(2, 11, 0)));
        EXPECT_OK(tsr_zeros(&b, dtype, TSR_SHAPE(0, 5)));
        EXPECT_OK(tsr_full(&c, dtype, TSR_SHAPE(2, 11, 5), tsr_scalar_i64(3)));
        EXPECT_OK(tsr_full(&z, dtype, TSR_SHAPE(2, 11, 5), tsr_scalar_i64(9)));
        EXPECT_OK(tsr_zeros(&want, dtype, TSR_SHAPE(2, 11, 5)));
        EXPECT_OK(tsr_matmul(&z, a, b));
        expect_same(z, want);
        EXPECT_OK(tsr_gemm(&z, a, b, c, tsr_scalar_i64(1), tsr_scalar_i64(2)));
        EXPECT_OK(tsr_fill(want, tsr_scalar_i64(6)));
        expect_same(z, want);
        EXPECT_OK(tsr_zeros(&v, dtype, TSR_SHAPE(0)));
        EXPECT_OK(tsr_zeros(&zero, dtype, TSR_SCALAR_SHAPE));
        EXPECT_OK(tsr_dot(&dot, v, v));
        expect_same(dot, zero);
        tsr_tensor *all[] = { a, b, c, z, v, dot, want, zero };
        for (int k = 0; k < 8; k++) tsr_release(&all[k]);
    }
}

/* Tensordot -------------------------------------------------------------------------------- */

TEST(test_tensordot_says_which_axes_do_not_fit)
{
    tsr_tensor *a = NULL, *b = NULL, *z = NULL;
    EXPECT_OK(tsr_ones(&a, TSR_F32, TSR_SHAPE(2, 3)));
    EXPECT_OK(tsr_ones(&b, TSR_F32, TSR_SHAPE(4, 3)));
    EXPECT_FAILS(tsr_tensordot(&z, a, b, 1, NULL, NULL), TSR_ESHAPE,
                 "tensordot: b: dim 1 of a is 3, but dim 0 of b is 4");
    EXPECT_FAILS(tsr_tensordot(&z, a, b, 3, NULL, NULL), TSR_EINVAL, "tensordot: 3 axes of a f32(2, 3");
    EXPECT_FAILS(tsr_tensordot(&z, a, b, -1, NULL, NULL), TSR_EINVAL, "tensordot: -1 axes");
    EXPECT_FAILS(tsr_tensordot(&z, a, b, 1, (int[]){ 2 }, (int[]){ 1 }), TSR_EINDEX,
                 "tensordot: axes_a 2 of f32(2, 3 | 3, 1), which has 2 dims");
    EXPECT_FAILS(tsr_tensordot(&z, a, b, 2, (int[]){ 1, -1 }, (int[]){ 1, 0 }), TSR_EINVAL,
                 "tensordot: axes_a names dim 1 of f32(2, 3 | 3, 1) twice");
    EXPECT_FAILS(tsr_tensordot(&z, a, b, 1, (int[]){ 1 }, NULL), TSR_ENULL, "tensordot: axes_b is NULL");
    tsr_release(&a); tsr_release(&b);
}

/* Words ---------------------------------------------------------------------------------------- */

TEST(test_shapes_that_do_not_fit_are_named)
{
    tsr_tensor *m34 = NULL, *m56 = NULL, *v4 = NULL, *v5 = NULL, *s = NULL, *b2 = NULL, *b3 = NULL, *z = NULL;
    EXPECT_OK(tsr_ones(&m34, TSR_F32, TSR_SHAPE(3, 4)));
    EXPECT_OK(tsr_ones(&m56, TSR_F32, TSR_SHAPE(5, 6)));
    EXPECT_OK(tsr_ones(&v4, TSR_F32, TSR_SHAPE(4)));
    EXPECT_OK(tsr_ones(&v5, TSR_F32, TSR_SHAPE(5)));
    EXPECT_OK(tsr_ones(&s, TSR_F32, TSR_SCALAR_SHAPE));
    EXPECT_OK(tsr_ones(&b2, TSR_F32, TSR_SHAPE(2, 3, 3)));
    EXPECT_OK(tsr_ones(&b3, TSR_F32, TSR_SHAPE(3, 3, 3)));
    EXPECT_FAILS(tsr_matmul(&z, m34, m56), TSR_ESHAPE, "matmul: b: k is 4 from a, but dim -2 of b is 5");
    EXPECT_FAILS(tsr_matmul(&z, m34, v5), TSR_ESHAPE, "matmul: b: k is 4 from a, but dim 0 of b is 5");
    EXPECT_FAILS(tsr_matmul(&z, v4, m56), TSR_ESHAPE, "matmul: b: k is 4 from a, but dim -2 of b is 5");
    EXPECT_FAILS(tsr_matmul(&z, v4, v5), TSR_ESHAPE, "matmul: b: k is 4 from a, but dim 0 of b is 5");
    EXPECT_FAILS(tsr_matmul(&z, s, m34), TSR_ESHAPE,
                 "matmul: a: rank must be 1 or more for (..., k), but a is f32()");
    EXPECT_FAILS(tsr_matmul(&z, m34, s), TSR_ESHAPE,
                 "matmul: b: rank must be 1 or more for (..., k), but b is f32()");
    EXPECT_FAILS(tsr_matmul(&z, b2, b3), TSR_ESHAPE, "matmul: the batch dims of a f32(2, 3, 3");
    EXPECT_FAILS(tsr_gemm(&z, m34, m56, NULL, tsr_scalar_i64(1), tsr_scalar_i64(0)), TSR_ESHAPE,
                 "gemm: b: k is 4 from a, but dim -2 of b is 5");
    EXPECT_FAILS(tsr_gemm(&z, v4, m56, NULL, tsr_scalar_i64(1), tsr_scalar_i64(0)), TSR_ESHAPE,
                 "gemm: a: rank must be 2 or more");
    EXPECT_FAILS(tsr_gemm(&z, b2, b2, v4, tsr_scalar_i64(1), tsr_scalar_i64(1)), TSR_ESHAPE,
                 "gemm: c is f32(4 | 1), which does not broadcast to the result, f32(2, 3, 3");
    EXPECT_FAILS(tsr_linear(&z, m34, m56, NULL), TSR_ESHAPE, "linear: w: k is 4 from x, but dim 1 of w is 6");
    EXPECT_FAILS(tsr_linear(&z, m34, m34, v4), TSR_ESHAPE,
                 "linear: bias: n is 3 from w, but dim 0 of bias is 4");
    EXPECT_FAILS(tsr_linear(&z, s, m34, NULL), TSR_ESHAPE, "linear: x: rank must be 1 or more");
    EXPECT_FAILS(tsr_dot(&z, v4, v5), TSR_ESHAPE, "dot: b: k is 4 from a, but dim 0 of b is 5");
    EXPECT_FAILS(tsr_dot(&z, m34, v4), TSR_ESHAPE,
                 "dot: a: rank must be 1 for (k), but a is f32(3, 4 | 4, 1)");
    EXPECT_FAILS(tsr_outer(&z, v4, m34), TSR_ESHAPE, "outer: b: rank must be 1 for (n)");
    EXPECT_FAILS(tsr_vecdot(&z, m34, m56, -1), TSR_ESHAPE, "vecdot: b: k is 4 from a, but dim -1 of b is 6");
    EXPECT_FAILS(tsr_vecdot(&z, m34, v4, 0), TSR_EINDEX,
                 "vecdot: axis 0 of f32(3, 4 | 4, 1) and f32(4 | 1): b lacks it");
    EXPECT_FAILS(tsr_vecdot(&z, m34, m34, 2), TSR_EINDEX, "vecdot: axis 2");
    EXPECT(z == NULL);
    tsr_release_all(&m34, &m56, &v4, &v5, &s, &b2, &b3);
}

/* Every op, by number, with the same operands throughout; i8 fits them all. */
enum { OPS = 9 };

static tsr_status call(int op, tsr_tensor **z, const tsr_tensor *a, const tsr_tensor *b)
{
    switch (op) {
    case 0:  return tsr_matmul(z, a, b);
    case 1:  return tsr_matmul_i8(z, a, b);
    case 2:  return tsr_gemm(z, a, b, NULL, tsr_scalar_i64(1), tsr_scalar_i64(0));
    case 3:  return tsr_addmm(z, a, a, b);
    case 4:  return tsr_linear(z, a, b, NULL);
    case 5:  return tsr_dot(z, a, b);
    case 6:  return tsr_outer(z, a, b);
    case 7:  return tsr_vecdot(z, a, b, -1);
    default: return tsr_tensordot(z, a, b, 1, NULL, NULL);
    }
}

TEST(test_every_op_refuses_what_is_no_operand)
{
    tsr_tensor *matrix = NULL, *vector = NULL, *described = NULL, *z = NULL, zeroed = { .data = NULL };
    tsr_desc d;
    EXPECT_OK(tsr_ones(&matrix, TSR_I8, TSR_SHAPE(3, 3)));
    EXPECT_OK(tsr_ones(&vector, TSR_I8, TSR_SHAPE(3)));
    EXPECT_OK(tsr_desc_init(&d, TSR_I8, TSR_SHAPE(3, 3), NULL));
    EXPECT_OK(tsr_declare(&described, &d, TSR_CPU, TSR_MEMORY_HOST));
    for (int op = 0; op < OPS; op++) {
        const tsr_tensor *good = op == 5 || op == 6 ? vector : matrix;
        EXPECT_STATUS(call(op, NULL, good, good), TSR_ENULL);
        EXPECT_STATUS(call(op, &z, NULL, good), TSR_ENULL);
        EXPECT_STATUS(call(op, &z, good, NULL), TSR_ENULL);
        EXPECT_STATUS(call(op, &z, &zeroed, good), TSR_EDTYPE);
        EXPECT_STATUS(call(op, &z, good, &zeroed), TSR_EDTYPE);
        EXPECT_STATUS(call(op, &z, described, good), TSR_ESTATE);
        EXPECT_STATUS(call(op, &z, good, described), TSR_ESTATE);
        EXPECT(z == NULL);
    }
    tsr_release(&matrix); tsr_release(&vector); tsr_release(&described);
}
