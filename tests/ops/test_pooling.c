/* test_pooling.c - pools: what is particular. That they are right over any strides, options and dtypes is for
 * opcheck. Everything runs with the backend's kernels and with other ops in their place. */
#include <math.h>

#include "ops/dispatch.h"
#include "test.h"

/* Meaning ------------------------------------------------------------------------------------- */

TEST(test_all_places_come_together)
{
    for (int parts = 0; parts < 2; parts++) {
        tsr_tensor *x = NULL, *z = NULL, *at = NULL, *flat = NULL;
        tsri_prefer_parts(parts);
        EXPECT_OK(tsr_arange(&flat, TSR_F32, TSR_SCALAR(0), TSR_SCALAR(48), TSR_SCALAR(1)));
        EXPECT_OK(tsr_view(&x, flat, 4, (const int64_t[]){ 2, 2, 3, 4 }));
        EXPECT_OK(tsr_avg_pool_all(&z, x, 2));
        EXPECT(z && z->ndim == 4 && z->shape[1] == 2 && z->shape[2] == 1 && z->shape[3] == 1);
        for (int i = 0; z && i < 4; i++) EXPECT(((float *)z->data)[i] == 12.0f * (float)i + 5.5f);
        EXPECT_OK(tsr_max_pool_all(&z, &at, x, 2));
        for (int i = 0; z && at && i < 4; i++)
            EXPECT(((float *)z->data)[i] == 12.0f * (float)i + 11 && ((int64_t *)at->data)[i] == 11);
        tsr_release(&z);
        EXPECT_OK(tsr_max_pool_all(&z, NULL, x, 3));  /* (2, 2, 3, 4) is then without a batch */
        EXPECT(z && z->shape[0] == 2 && z->shape[1] == 1 && ((float *)z->data)[1] == 47);
        tsr_release(&z);
        EXPECT_OK(tsr_adaptive_avg_pool(&z, x, 2, (const int64_t[]){ 1, -1 }));
        EXPECT(z && z->shape[2] == 1 && z->shape[3] == 4 && ((float *)z->data)[1] == 5);
        tsr_release_all(&x, &z, &at, &flat);
        tsri_prefer_parts(false);
    }
}

TEST(test_the_first_nan_is_the_place_of_a_nan)
{
    const float in[] = { 1, NAN, 3, NAN };
    for (int parts = 0; parts < 2; parts++) {
        tsr_tensor *x = NULL, *z = NULL, *at = NULL;
        tsri_prefer_parts(parts);
        EXPECT_OK(tsr_from_data(&x, TSR_F32, 2, (const int64_t[]){ 1, 4 }, in));
        EXPECT_OK(tsr_max_pool1d(&z, &at, x, &(tsr_pool){ .kernel = { 4 } }));
        EXPECT(z && isnan(*(float *)z->data) && at && *(int64_t *)at->data == 1);
        tsr_release_all(&x, &z, &at);
        tsri_prefer_parts(false);
    }
}

/* p = 1 is a sum, and large and small numbers have roots that fit. */
TEST(test_powers_leave_the_range_of_numbers_where_roots_do_not)
{
    const double in[] = { 3e200, 4e200, 3e-200, -4e-200 };
    static const double right[][2] = { { 7e200, -1e-200 }, { 5e200, 5e-200 } };
    for (int parts = 0; parts < 2; parts++)
        for (int p = 1; p < 3; p++) {
            tsr_tensor *x = NULL, *z = NULL;
            tsri_prefer_parts(parts);
            EXPECT_OK(tsr_from_data(&x, TSR_F64, 2, (const int64_t[]){ 1, 4 }, in));
            EXPECT_OK(tsr_lp_pool1d(&z, x, p, &(tsr_pool){ .kernel = { 2 } }));
            for (int i = 0; z && i < 2; i++)
                EXPECT(fabs(((double *)z->data)[i] / right[p - 1][i] - 1) < 1e-15);
            EXPECT_FAILS(tsr_lp_pool1d(&z, x, 0, &(tsr_pool){ .kernel = { 2 } }), TSR_EINVAL, "p is 0");
            EXPECT_FAILS(tsr_lp_pool1d(&z, x, NAN, &(tsr_pool){ .kernel = { 2 } }), TSR_EINVAL, "lp_pool1d");
            tsr_release_all(&x, &z);
            tsri_prefer_parts(false);
        }
}

/* Zeros of both signs and NaNs: values are those that the places lie at, bit for bit. */
TEST(test_windows_that_move_by_two_take_the_first_of_equal_numbers)
{
    static const float choice[] = { -1, 0.0f, -0.0f, 0.0f, -0.0f, -2, NAN };
    uint64_t r = 9;
    for (int64_t wide = 3; wide < 80; wide += 1 + wide / 40)
        for (int kernel = 2; kernel < 4; kernel++) {
            tsr_tensor *x = NULL, *z = NULL, *same = NULL, *place = NULL;
            const tsr_pool how = { .kernel = { kernel, kernel }, .stride = { 2, 2 },
                                   .padding = { kernel / 2, kernel / 2 } };
            EXPECT_OK(tsr_empty(&x, TSR_F32, 4, (const int64_t[]){ 1, 3, 7, wide }));
            for (int64_t i = 0; x && i < 21 * wide; i++) {
                r = r * 6364136223846793005u + 1442695040888963407u;
                ((float *)x->data)[i] = choice[(r >> 40) % (i % 5 == 0 ? 7 : 6)];
            }
            EXPECT_OK(tsr_max_pool2d(&z, NULL, x, &how));
            EXPECT_OK(tsr_max_pool2d(&same, &place, x, &how));
            EXPECT(z && same && !memcmp(z->data, same->data, (size_t)tsr_byte_size(z)));
            tsr_release_all(&x, &z, &same, &place);
        }
}

/* Results beyond the caches are those of the images one by one, whether or not planes follow each other. */
TEST(test_large_pools_are_those_of_their_images)
{
    static const tsr_pool pools[] = { { .kernel = { 2, 2 }, .stride = { 2, 2 } },
                                     { .kernel = { 3, 3 }, .stride = { 2, 2 }, .padding = { 1, 1 } } };
    static const int64_t heights[] = { 58, 59 };
    enum { IMAGES = 40, CHANNELS = 70 };
    tsr_tensor *x = NULL, *image = NULL, *z = NULL, *one = NULL;
    for (int k = 0; k < 8; k++) {
        const tsr_pool *how = &pools[k & 1];
        const bool average = (k & 2) != 0;
        EXPECT_OK(tsr_empty(&x, TSR_F32, TSR_SHAPE(IMAGES, CHANNELS, heights[k / 4], 54)));
        for (int64_t i = 0; i < tsr_numel(x); i++)
            ((float *)x->data)[i] = (float)((i * 7919 + k) % 10007 - 5000);
        ((float *)x->data)[12345] = NAN;
        EXPECT_OK(average ? tsr_avg_pool2d(&z, x, how) : tsr_max_pool2d(&z, NULL, x, how));
        for (int64_t i = 0; i < IMAGES && z; i += 13) {
            EXPECT_OK(tsr_slice(&image, x, 0, i, i + 1, 1));
            EXPECT_OK(average ? tsr_avg_pool2d(&one, image, how) : tsr_max_pool2d(&one, NULL, image, how));
            const char *part = (const char *)z->data + i * z->stride[0] * (int64_t)sizeof(float);
            EXPECT(one && !memcmp(part, one->data, (size_t)tsr_byte_size(one)));
        }
        tsr_release_all(&x, &image, &z, &one);
    }
}

TEST(test_sums_of_a_large_window_do_not_lose_small_numbers)
{
    tsr_tensor *x = NULL, *z = NULL;
    EXPECT_OK(tsr_full(&x, TSR_F32, 3, (const int64_t[]){ 1, 1, 1 << 20 }, TSR_SCALAR(0.1)));
    EXPECT_OK(tsr_avg_pool1d(&z, x, &(tsr_pool){ .kernel = { 1 << 20 } }));
    EXPECT(z && *(float *)z->data == 0.1f);
    EXPECT_OK(tsr_avg_pool_all(&z, x, 1));
    EXPECT(z && *(float *)z->data == 0.1f);
    tsr_release_all(&x, &z);
}

/* Bad input --------------------------------------------------------------------------------------- */

TEST(test_bad_arguments_are_refused_in_words)
{
    tsr_tensor *x = NULL, *z = NULL, *at = NULL, *i = NULL, *c = NULL;
    const tsr_pool two = { .kernel = { 2, 2, 2 } };
    EXPECT_OK(tsr_zeros(&x, TSR_F32, 4, (const int64_t[]){ 1, 4, 5, 6 }));
    EXPECT_OK(tsr_zeros(&i, TSR_I32, 4, (const int64_t[]){ 1, 4, 5, 6 }));
    EXPECT_OK(tsr_zeros(&c, TSR_C64, 4, (const int64_t[]){ 1, 4, 5, 6 }));
    EXPECT_FAILS(tsr_max_pool3d(&z, NULL, NULL, &two), TSR_ENULL, "max_pool3d: x");
    EXPECT_FAILS(tsr_max_pool2d(&z, &z, x, &two), TSR_EINVAL, "the same handle");
    EXPECT_FAILS(tsr_max_pool2d(&z, NULL, x, NULL), TSR_ENULL, "max_pool2d: how is NULL");
    EXPECT_FAILS(tsr_avg_pool1d(&z, x, &two), TSR_ESHAPE, "avg_pool1d: x is f32(1, 4, 5, 6");
    EXPECT_FAILS(tsr_avg_pool2d(&z, i, &two), TSR_EDTYPE, "avg_pool2d");
    EXPECT_FAILS(tsr_max_pool2d(&z, NULL, c, &two), TSR_EDTYPE, "max_pool2d");
    EXPECT_FAILS(tsr_max_pool2d(&z, NULL, x, &(tsr_pool){ .kernel = { 2 } }), TSR_EINVAL,
                 "kernel 0 of spatial dim 1");
    EXPECT_FAILS(tsr_max_pool2d(&z, NULL, x, &(tsr_pool){ .kernel = { 2, 2 }, .stride = { -1 } }), TSR_EINVAL,
                 "stride -1");
    EXPECT_FAILS(tsr_max_pool2d(&z, NULL, x, &(tsr_pool){ .kernel = { 2, 2 }, .dilation = { -1 } }),
                 TSR_EINVAL, "dilation -1");
    EXPECT_FAILS(tsr_avg_pool2d(&z, x, &(tsr_pool){ .kernel = { 2, 2 }, .dilation = { 2 } }), TSR_EINVAL,
                 "dilation 2");
    EXPECT_FAILS(tsr_max_pool2d(&z, NULL, x, &(tsr_pool){ .kernel = { 2, 2 }, .padding = { 0, 2 } }),
                 TSR_EINVAL, "padding 2 of spatial dim 1");
    EXPECT_FAILS(tsr_max_pool2d(&z, NULL, x, &(tsr_pool){ .kernel = { 2, 2 }, .padding = { -1 } }),
                 TSR_EINVAL, "padding -1");
    EXPECT_FAILS(tsr_max_pool2d(&z, NULL, x, &(tsr_pool){ .kernel = { 2, 2 }, .divisor = 3 }), TSR_EINVAL,
                 "divisor");
    EXPECT_FAILS(tsr_max_pool2d(&z, NULL, x, &(tsr_pool){ .kernel = { 6, 2 } }), TSR_ESHAPE,
                 "a window 6 long");
    EXPECT_FAILS(tsr_max_pool2d(&z, NULL, x, &(tsr_pool){ .kernel = { INT64_MAX, 2 }, .dilation = { 2 } }),
                 TSR_EOVERFLOW, "overflows");
    EXPECT_OK(tsr_max_pool2d(&z, NULL, x, &(tsr_pool){ .kernel = { 2, 2 }, .stride = { INT64_MAX, 4 } }));
    EXPECT(z && z->shape[2] == 1 && z->shape[3] == 2);
    tsr_release(&z);
    EXPECT_FAILS(tsr_adaptive_max_pool(&z, &at, x, 2, NULL), TSR_ENULL, "adaptive_max_pool: sizes is NULL");
    EXPECT_FAILS(tsr_adaptive_max_pool(&z, &at, x, 4, (const int64_t[]){ 1, 1, 1, 1 }), TSR_EINVAL,
                 "4 spatial dims");
    EXPECT_FAILS(tsr_adaptive_avg_pool(&z, x, 1, (const int64_t[]){ 1 }), TSR_ESHAPE,
                 "adaptive_avg_pool: x is f32(1, 4, 5, 6");
    EXPECT_FAILS(tsr_adaptive_avg_pool(&z, x, 2, (const int64_t[]){ 1, -2 }), TSR_EINVAL, "size -2");
    EXPECT_FAILS(tsr_adaptive_avg_pool(&z, x, 2, (const int64_t[]){ 1, INT64_MAX / 2 }), TSR_EOVERFLOW,
                 "too many");
    EXPECT_FAILS(tsr_max_pool_all(&z, NULL, x, 0), TSR_EINVAL, "max_pool_all: 0 spatial dims");
    EXPECT_FAILS(tsr_max_pool2d(&x, NULL, x, &two), TSR_ESHAPE, "max_pool2d: the result is f32(1, 4, 2, 3");
    EXPECT_OK(tsr_slice(&x, x, 2, 0, 0, 1));
    EXPECT_FAILS(tsr_avg_pool_all(&z, x, 2), TSR_ESHAPE, "spatial dim 0 of x");
    EXPECT(z == NULL && at == NULL);
    tsr_release_all(&x, &i, &c);
}
