/* test_quant.c - quantised tensors by the backend's kernels and in parts: what is particular. That results
 * are exact is for opcheck. */
#include <math.h>

#include "ops/dispatch.h"
#include "test.h"

static const tsr_dtype bytes[] = { TSR_I8, TSR_U8 };

/* An element of a packed tensor. */
static double load(const tsr_tensor *t, int64_t place)
{
    tsr_scalar s;
    EXPECT_OK(tsr_scalar_load(&s, t->dtype,
                              (const char *)t->data + place * (int64_t)tsr_dtype_size(t->dtype)));
    return tsr_scalar_to_f64(s);
}

/* Quantising ---------------------------------------------------------------------------------- */

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
        tsr_release_all(&z, &scale, &t);
    }
}

/* Ranges ----------------------------------------------------------------------------------------- */

/* A number that is quantised and dequantised is at most half a scale off. */
TEST(test_quantised_numbers_come_back_near)
{
    for (int symmetric = 0; symmetric < 2; symmetric++)
        for (int b = 0; b < 2; b++) {
            tsr_tensor *x = NULL, *q = NULL, *scale = NULL, *zero = NULL, *back = NULL;
            EXPECT_OK(tsr_normal(&x, TSR_F32, TSR_SHAPE(40, 30), 0.5, 2, 3));
            EXPECT_OK(tsr_quantise_dynamic(&q, &scale, &zero, x, 0, bytes[b], symmetric));
            EXPECT_OK(tsr_dequantise(&back, q, scale, zero, 0, TSR_F32));
            for (int64_t i = 0; back && i < 1200; i++)
                EXPECT(fabs(load(back, i) - load(x, i)) <=
                       load(scale, i / 30) * (symmetric ? 0.5001 : 1.0001));
            tsr_release_all(&back, &zero, &scale, &q, &x);
        }
}

/* Products ------------------------------------------------------------------------------------------ */

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
    for (int64_t i = 0; z && i < 6; i++) EXPECT(load(z, i) == 255.0 * 255 * K);
    EXPECT_OK(tsr_matmul_quantised(&z, a, scale, zero, b, scale, zero, NULL, TSR_F64));
    for (int64_t i = 0; z && i < 6; i++) EXPECT(load(z, i) == 254.0 * 254 * K);
    tsr_release_all(&z, &zero, &scale, &b, &a);
}

/* Bad input ------------------------------------------------------------------------------------------ */

TEST(test_bad_arguments_are_refused_in_words)
{
    tsr_tensor *x = NULL, *q = NULL, *scale = NULL, *five = NULL, *z = NULL, *s = NULL, *o = NULL;
    EXPECT_OK(tsr_zeros(&x, TSR_F32, TSR_SHAPE(4, 6)));
    EXPECT_OK(tsr_zeros(&q, TSR_I8, TSR_SHAPE(4, 6)));
    EXPECT_OK(tsr_ones(&scale, TSR_F32, TSR_SCALAR_SHAPE));
    EXPECT_OK(tsr_ones(&five, TSR_F32, TSR_SHAPE(5)));
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
    EXPECT_FAILS(tsr_dequantise(&z, q, scale, NULL, TSR_ALL_AXES, TSR_I8), TSR_EDTYPE, "must be floating");
    EXPECT_FAILS(tsr_dequantise(&z, x, scale, NULL, TSR_ALL_AXES, TSR_F32), TSR_EDTYPE, "dequantise: x");
    EXPECT_FAILS(tsr_dequantise(&z, q, scale, NULL, -3, TSR_F32), TSR_EINDEX, "dequantise: axis -3");
    EXPECT_FAILS(tsr_quantisation_range(&s, &s, x, 0, TSR_I8, false), TSR_EINVAL, "the same handle");
    EXPECT_FAILS(tsr_quantisation_range(&s, &z, x, 5, TSR_I8, false), TSR_EINDEX, "axis 5");
    EXPECT_FAILS(tsr_quantisation_range(&s, &z, x, 0, TSR_F32, false), TSR_EDTYPE, "dtype is f32");
    EXPECT_FAILS(tsr_quantisation_range(&s, &z, q, 0, TSR_I8, false), TSR_EDTYPE, "quantisation_range: x");
    EXPECT_FAILS(tsr_quantise_dynamic(&five, &s, &z, x, 0, TSR_I8, false), TSR_EDTYPE,
                 "quantise_dynamic: the result is i8");
    EXPECT_FAILS(tsr_quantise_dynamic(&o, &five, &z, x, 0, TSR_I8, false), TSR_ESHAPE,
                 "quantise_dynamic: the result is f32(4");
    EXPECT(z == NULL && s == NULL && o == NULL);
    tsr_release_all(&five, &scale, &q, &x);
}

TEST(test_bad_arguments_of_products_are_refused_in_words)
{
    tsr_tensor *a = NULL, *b = NULL, *f = NULL, *one = NULL, *zero = NULL, *z = NULL;
    EXPECT_OK(tsr_zeros(&a, TSR_I8, TSR_SHAPE(2, 3)));
    EXPECT_OK(tsr_zeros(&b, TSR_U8, TSR_SHAPE(3, 4)));
    EXPECT_OK(tsr_zeros(&f, TSR_F32, TSR_SHAPE(3)));
    EXPECT_OK(tsr_ones(&one, TSR_F32, TSR_SCALAR_SHAPE));
    EXPECT_OK(tsr_zeros(&zero, TSR_I8, TSR_SHAPE(3)));
    EXPECT_FAILS(tsr_matmul_quantised(&z, a, NULL, NULL, b, one, NULL, NULL, TSR_F32), TSR_ENULL,
                 "a_scale is NULL");
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
    tsr_release_all(&zero, &one, &f, &b, &a);
}

/* Blocks ----------------------------------------------------------------------------------------- */

/* Products with blocks have the bits of products with what they unpack to, whatever the number of rows. */
TEST(blocks_multiply_as_unpacked_numbers_do)
{
    static const struct { tsr_block_kind kind; int64_t elements, bytes; } kinds[] = {
        { TSR_BLOCKS_Q4_0, 32, 18 }, { TSR_BLOCKS_Q8_0, 32, 34 }, { TSR_BLOCKS_Q4_K, 256, 144 },
        { TSR_BLOCKS_Q6_K, 256, 210 }, { TSR_BLOCKS_Q5_K, 256, 176 }
    };
    static const int64_t rows[] = { 1, 3, 70, 300 };
    for (int i = 0; i < 5; i++)
        for (int r = 0; r < 4; r++) {
            tsr_tensor *w = NULL, *x = NULL, *numbers = NULL, *got = NULL, *wanted = NULL;
            /* bytes below 0x7c: no scale is infinite */
            EXPECT_OK(tsr_integers(&w, TSR_U8, TSR_SHAPE(83, 512 / kinds[i].elements, kinds[i].bytes), 0,
                                   0x7c, 5));
            EXPECT_OK(tsr_randn(&x, TSR_F32, TSR_SHAPE(rows[r], 512), 6));
            EXPECT_OK(tsr_dequantise_blocks(&numbers, w, kinds[i].kind));
            EXPECT_OK(tsr_linear_blocks(&got, x, w, NULL, kinds[i].kind));
            EXPECT_OK(tsr_linear(&wanted, x, numbers, NULL));
            EXPECT(memcmp(got->data, wanted->data, (size_t)tsr_numel(got) * sizeof(float)) == 0);
            tsr_release_all(&wanted, &got, &numbers, &x, &w);
        }
}

TEST(blocks_of_a_wrong_kind_get_words)
{
    tsr_tensor *w = NULL, *x = NULL, *z = NULL;
    EXPECT_OK(tsr_zeros(&w, TSR_U8, TSR_SHAPE(3, 2, 18)));
    EXPECT_OK(tsr_zeros(&x, TSR_F32, TSR_SHAPE(32)));
    EXPECT(tsr_dequantise_blocks(&z, w, (tsr_block_kind)77) == TSR_EINVAL);
    EXPECT(tsr_dequantise_blocks(&z, w, TSR_BLOCKS_Q8_0) == TSR_ESHAPE);
    EXPECT(tsr_linear_blocks(&z, x, w, NULL, TSR_BLOCKS_Q4_0) == TSR_ESHAPE);
    EXPECT(strstr(tsr_last_error(), "2 times 32 elements") != NULL);
    tsr_release_all(&x, &w);
}
