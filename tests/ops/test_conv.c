/* test_conv.c - convolutions: what is particular. That sums are right over any strides, options and dtypes
 * is for opcheck. Everything runs with the backend's kernels and with other ops in their place. */
#include <math.h>

#include "ops/dispatch.h"
#include "test.h"

/* Rounding and special values --------------------------------------------------------------- */

TEST(test_nan_and_infinity_reach_the_windows_that_hold_them)
{
    for (int parts = 0; parts < 2; parts++)
        for (int depthwise = 0; depthwise < 2; depthwise++) {
            tsr_tensor *x = NULL, *w = NULL, *z = NULL;
            const int64_t c = 4;
            tsri_prefer_parts(parts);
            EXPECT_OK(tsr_ones(&x, TSR_F32, 4, (const int64_t[]){ 1, c, 6, 20 }));
            EXPECT_OK(tsr_ones(&w, TSR_F32, 4, (const int64_t[]){ c, depthwise ? 1 : c, 3, 3 }));
            if (!x || !w) return;
            ((float *)x->data)[2 * 20 + 9] = NAN;         /* channel 0, (2, 9) */
            ((float *)x->data)[120 + 4 * 20] = -INFINITY; /* channel 1, (4, 0) */
            EXPECT_OK(
                tsr_conv2d(&z, x, w, NULL, &(tsr_conv){ .padding = { 1, 1 }, .groups = depthwise ? c : 1 }));
            for (int64_t k = 0; z && k < c; k++)
                for (int64_t i = 0; i < 6; i++)
                    for (int64_t j = 0; j < 20; j++) {
                        const float got = ((float *)z->data)[k * 120 + i * 20 + j];
                        const bool nan = (k == 0 || !depthwise) && llabs(i - 2) < 2 && llabs(j - 9) < 2;
                        const bool inf = !nan && (k == 1 || !depthwise) && llabs(i - 4) < 2 && j < 2;
                        EXPECT(nan ? isnan(got) : inf ? got == -INFINITY : isfinite(got));
                    }
            tsr_release_all(&x, &w, &z);
            tsri_prefer_parts(false);
        }
}

/* x's channels become those closest together in memory. */
static void put_channels_last(tsr_tensor **out, const tsr_tensor *x)
{
    tsr_tensor *moved = NULL;
    EXPECT_OK(tsr_move_axis(&moved, x, 1, -1));
    EXPECT_OK(tsr_contiguous(&moved, moved));
    EXPECT_OK(tsr_move_axis(out, moved, -1, 1));
    tsr_release(&moved);
}

TEST(test_layouts_give_the_same_bits)
{
    for (int i = 0; i < 20; i++) {
        const int64_t taps = i % 2 ? 3 : 1, channels = taps == 1 ? 300 : 70, kernels = 12 + i / 4 * 16;
        const tsr_dtype dtype = i / 2 % 2 ? TSR_F32 : TSR_F64;
        const tsr_conv how = { .padding = { taps / 2, taps / 2 } };
        tsr_tensor *x[2] = { NULL }, *w = NULL, *z[4] = { NULL };
        EXPECT_OK(tsr_randn(&x[0], dtype, TSR_SHAPE(2, channels, 9, 13), 71));
        EXPECT_OK(tsr_randn(&w, dtype, TSR_SHAPE(kernels, channels, taps, taps), 72));
        put_channels_last(&x[1], x[0]);
        for (int k = 0; k < 4; k++) {
            bool same = false;
            if (k >= 2) put_channels_last(&z[k], z[0]);
            if (k >= 2) EXPECT_OK(tsr_zero(z[k]));
            EXPECT_OK(tsr_conv2d(&z[k], x[k % 2], w, NULL, &how));
            EXPECT_OK(tsr_equal(&same, z[0], z[k]));
            EXPECT_MSG(same, "layout %d, %lld kernels", k, (long long)kernels);
        }
        tsr_tensor *all[] = { x[0], x[1], w, z[0], z[1], z[2], z[3] };
        for (int k = 0; k < 7; k++) tsr_release(&all[k]);
    }
}

enum { LONG_TAPS = 70001, LONG_OUT = 19, LONG_KERNELS = 5 };

static int long_input(int64_t channel, int64_t i) { return (int)((3 * i + channel) % 5) - 2; }
static int long_weight(int64_t kernel, int64_t channel, int64_t i)
{
    return (int)((i + 2 * channel) % (3 + kernel)) - 1;
}

/* Longer than kernels for windows take: a product of packed panels. Whole numbers, whose sums are exact. */
TEST(test_windows_of_many_taps_are_sums_of_all)
{
    enum { IN = LONG_TAPS + LONG_OUT - 1 };
    double want[LONG_KERNELS][LONG_OUT];
    for (int64_t k = 0; k < LONG_KERNELS; k++)
        for (int64_t o = 0; o < LONG_OUT; o++) {
            int64_t sum = 0;
            for (int64_t c = 0; c < 2; c++)
                for (int64_t i = 0; i < LONG_TAPS; i++) sum += long_input(c, o + i) * long_weight(k, c, i);
            want[k][o] = (double)sum;
        }
    for (int wide = 0; wide < 2; wide++) {
        tsr_tensor *x = NULL, *w = NULL, *z = NULL;
        EXPECT_OK(tsr_empty(&x, wide ? TSR_F64 : TSR_F32, TSR_SHAPE(1, 2, IN)));
        EXPECT_OK(tsr_empty(&w, wide ? TSR_F64 : TSR_F32, TSR_SHAPE(LONG_KERNELS, 2, LONG_TAPS)));
        for (int64_t i = 0; i < 2 * IN; i++) {
            const int v = long_input(i / IN, i % IN);
            if (wide) ((double *)x->data)[i] = v;
            else      ((float *)x->data)[i] = (float)v;
        }
        for (int64_t i = 0; i < LONG_KERNELS * 2 * LONG_TAPS; i++) {
            const int v = long_weight(i / LONG_TAPS / 2, i / LONG_TAPS % 2, i % LONG_TAPS);
            if (wide) ((double *)w->data)[i] = v;
            else      ((float *)w->data)[i] = (float)v;
        }
        EXPECT_OK(tsr_conv1d(&z, x, w, NULL, NULL));
        for (int64_t i = 0; z && i < LONG_KERNELS * LONG_OUT; i++) {
            const double got = wide ? ((double *)z->data)[i] : (double)((float *)z->data)[i];
            EXPECT(got == want[i / LONG_OUT][i % LONG_OUT]);
        }
        tsr_release_all(&x, &w, &z);
    }
}

TEST(test_a_complex_bias_keeps_its_infinity_apart)
{
    tsr_tensor *x = NULL, *w = NULL, *b = NULL, *z = NULL;
    EXPECT_OK(tsr_ones(&x, TSR_C64, 3, (const int64_t[]){ 1, 1, 3 }));
    EXPECT_OK(tsr_ones(&w, TSR_C64, 3, (const int64_t[]){ 1, 1, 3 }));
    EXPECT_OK(tsr_full(&b, TSR_C64, 1, (const int64_t[]){ 1 }, tsr_scalar_c128(INFINITY, 2)));
    EXPECT_OK(tsr_conv1d(&z, x, w, b, NULL));
    EXPECT(z && ((tsr_c64 *)z->data)->re == INFINITY && ((tsr_c64 *)z->data)->im == 2);
    tsr_release_all(&x, &w, &b, &z);
}

/* Meaning ---------------------------------------------------------------------------------- */

/* Seed 001's shapes: a signal of one channel, an image of one channel. */
TEST(test_the_smallest_signal_and_image)
{
    tsr_tensor *x = NULL, *w = NULL, *z = NULL;
    EXPECT_OK(tsr_from_data(&x, TSR_F32, 3, (const int64_t[]){ 1, 1, 5 }, (const float[]){ 1, 2, 3, 4, 5 }));
    EXPECT_OK(tsr_from_data(&w, TSR_F32, 3, (const int64_t[]){ 1, 1, 3 }, (const float[]){ 1, 0, -1 }));
    EXPECT_OK(tsr_conv1d(&z, x, w, NULL, NULL));
    EXPECT(z && z->ndim == 3 && z->shape[2] == 3);
    for (int i = 0; z && i < 3; i++) EXPECT(((float *)z->data)[i] == -2);
    tsr_release_all(&x, &w, &z);
    EXPECT_OK(tsr_ones(&x, TSR_F32, 4, (const int64_t[]){ 1, 1, 4, 4 }));
    EXPECT_OK(tsr_ones(&w, TSR_F32, 4, (const int64_t[]){ 1, 1, 3, 3 }));
    EXPECT_OK(tsr_conv2d(&z, x, w, NULL, &(tsr_conv){ .padding = { 1, 1 } }));
    static const float want[] = { 4, 6, 6, 4, 6, 9, 9, 6, 6, 9, 9, 6, 4, 6, 6, 4 };
    EXPECT(z && memcmp(z->data, want, sizeof want) == 0);
    tsr_release_all(&x, &w, &z);
}

TEST(test_dtypes_are_promoted_together)
{
    tsr_tensor *x = NULL, *w = NULL, *b = NULL, *z = NULL;
    EXPECT_OK(tsr_ones(&x, TSR_F16, 3, (const int64_t[]){ 1, 2, 4 }));
    EXPECT_OK(tsr_ones(&w, TSR_BF16, 3, (const int64_t[]){ 3, 2, 2 }));
    EXPECT_OK(tsr_ones(&b, TSR_F16, 1, (const int64_t[]){ 3 }));
    EXPECT_OK(tsr_conv1d(&z, x, w, b, NULL));
    EXPECT(z && z->dtype == TSR_F32 && ((float *)z->data)[8] == 5);
    tsr_release_all(&x, &w, &b, &z);
}

/* Sizes whose sums or products leave 63 bits, and strides longer than everything. */
TEST(test_huge_options_overflow_in_words_or_leave_one_window)
{
    const int64_t huge = INT64_MAX;
    for (int parts = 0; parts < 2; parts++) {
        tsr_tensor *x = NULL, *w = NULL, *z = NULL;
        tsri_prefer_parts(parts);
        EXPECT_OK(tsr_ones(&x, TSR_F32, 3, (const int64_t[]){ 1, 1, 4 }));
        EXPECT_OK(tsr_ones(&w, TSR_F32, 3, (const int64_t[]){ 1, 1, 2 }));
        EXPECT_FAILS(tsr_conv1d(&z, x, w, NULL, &(tsr_conv){ .dilation = { huge } }), TSR_EOVERFLOW,
                     "overflow");
        EXPECT_FAILS(tsr_conv1d(&z, x, w, NULL, &(tsr_conv){ .padding = { huge } }), TSR_EOVERFLOW,
                     "overflow");
        EXPECT_FAILS(tsr_conv1d(&z, x, w, NULL, &(tsr_conv){ .padding = { huge }, .pad_low = { 1 } }),
                     TSR_EOVERFLOW, "overflow");
        EXPECT_FAILS(tsr_conv_transpose1d(&z, x, w, NULL, &(tsr_conv){ .stride = { huge } }), TSR_EOVERFLOW,
                     "overflow");
        EXPECT_FAILS(tsr_conv_transpose1d(&z, x, w, NULL, &(tsr_conv){ .dilation = { huge } }), TSR_EOVERFLOW,
                     "overflow");
        EXPECT_FAILS(tsr_conv1d(&z, x, w, NULL, &(tsr_conv){ .groups = huge }), TSR_ESHAPE, "groups");
        EXPECT_FAILS(tsr_conv1d(&z, x, w, NULL, &(tsr_conv){ .fit = TSR_CONV_SAME, .dilation = { huge } }),
                     TSR_EOVERFLOW, "overflow");
        EXPECT(z == NULL);
        EXPECT_OK(tsr_conv1d(&z, x, w, NULL, &(tsr_conv){ .stride = { huge } }));
        EXPECT(z && z->shape[2] == 1 && *(float *)z->data == 2);
        tsr_release(&z);
        const tsr_conv far = { .stride = { huge / 2 }, .pad_high = { huge / 2 } };
        if (parts) {  /* which would lay the padding out */
            EXPECT_FAILS(tsr_conv1d(&z, x, w, NULL, &far), TSR_EOVERFLOW, "conv");
        } else {
            EXPECT_OK(tsr_conv1d(&z, x, w, NULL, &far));
            EXPECT(z && z->shape[2] == 2 && ((float *)z->data)[0] == 2 && ((float *)z->data)[1] == 0);
        }
        tsr_release(&z);
        EXPECT_OK(tsr_slice(&x, x, 2, 0, 1, 1));
        EXPECT_OK(tsr_conv_transpose1d(&z, x, w, NULL, &(tsr_conv){ .stride = { huge } }));
        EXPECT(z && z->shape[2] == 2 && ((float *)z->data)[0] == 1 && ((float *)z->data)[1] == 1);
        tsr_release_all(&x, &w, &z);
        tsri_prefer_parts(false);
    }
}

/* Bad input ------------------------------------------------------------------------------------ */

TEST(test_bad_arguments_are_refused_in_words)
{
    tsr_tensor *x = NULL, *w = NULL, *b = NULL, *z = NULL, *flags = NULL, *odd = NULL;
    EXPECT_OK(tsr_zeros(&x, TSR_F32, 4, (const int64_t[]){ 1, 4, 5, 6 }));
    EXPECT_OK(tsr_zeros(&w, TSR_F32, 4, (const int64_t[]){ 6, 4, 3, 3 }));
    EXPECT_OK(tsr_zeros(&b, TSR_F32, 1, (const int64_t[]){ 5 }));
    EXPECT_OK(tsr_zeros(&flags, TSR_BOOL, 4, (const int64_t[]){ 1, 4, 5, 6 }));
    EXPECT_OK(tsr_zeros(&odd, TSR_C32, 4, (const int64_t[]){ 1, 4, 5, 6 }));
    EXPECT_FAILS(tsr_conv1d(&z, x, w, NULL, NULL), TSR_ESHAPE, "conv1d: x is f32(1, 4, 5, 6");
    EXPECT_FAILS(tsr_conv3d(&z, x, w, NULL, NULL), TSR_ESHAPE, "conv3d: w is f32(6, 4, 3, 3");
    EXPECT_FAILS(tsr_conv2d(&z, x, b, NULL, NULL), TSR_ESHAPE, "conv2d: w");
    EXPECT_FAILS(tsr_conv2d(&z, x, w, b, NULL), TSR_ESHAPE, "conv2d: bias");
    EXPECT_FAILS(tsr_conv2d(&z, x, w, x, NULL), TSR_ESHAPE, "conv2d: bias");
    EXPECT_FAILS(tsr_conv_transpose2d(&z, x, w, NULL, NULL), TSR_ESHAPE, "has 4 channels");
    EXPECT_FAILS(tsr_conv2d(&z, x, w, NULL, &(tsr_conv){ .groups = 2 }), TSR_ESHAPE, "groups 2 has 8");
    EXPECT_FAILS(tsr_conv2d(&z, x, w, NULL, &(tsr_conv){ .groups = -1 }), TSR_EINVAL, "-1 groups");
    EXPECT_FAILS(tsr_conv2d(&z, x, w, NULL, &(tsr_conv){ .stride = { 1, -1 } }), TSR_EINVAL,
                 "stride -1 of spatial dim 1");
    EXPECT_FAILS(tsr_conv2d(&z, x, w, NULL, &(tsr_conv){ .dilation = { -2 } }), TSR_EINVAL,
                 "dilation -2 of spatial dim 0");
    EXPECT_FAILS(tsr_conv2d(&z, x, w, NULL, &(tsr_conv){ .padding = { -1 } }), TSR_EINVAL, "padding -1");
    EXPECT_FAILS(tsr_conv2d(&z, x, w, NULL, &(tsr_conv){ .pad_high = { 0, -1 } }), TSR_EINVAL,
                 "pad_high -1 of spatial dim 1");
    EXPECT_FAILS(tsr_conv2d(&z, x, w, NULL, &(tsr_conv){ .output_padding = { 1 } }), TSR_EINVAL,
                 "output_padding 1");
    EXPECT_FAILS(tsr_conv2d(&z, x, w, NULL, &(tsr_conv){ .fit = (tsr_conv_fit)9 }), TSR_EINVAL, "fit 9");
    EXPECT_FAILS(tsr_conv2d(&z, x, w, NULL, &(tsr_conv){ .fit = TSR_CONV_SAME, .padding = { 1 } }),
                 TSR_EINVAL, "fit");
    EXPECT_FAILS(
        tsr_conv2d(&z, x, w, NULL, &(tsr_conv){ .dilation = { 2, 3 } }), TSR_ESHAPE,
        "6 long with padding, has no room for the window of w f32(6, 4, 3, 3 | 36, 9, 3, 1), 7 long");
    EXPECT_FAILS(tsr_conv2d(&z, flags, w, NULL, NULL), TSR_EDTYPE, "conv2d");
    EXPECT_FAILS(tsr_conv2d(&z, odd, odd, NULL, NULL), TSR_EDTYPE, "conv2d");
    EXPECT_FAILS(tsr_conv_transpose2d(&z, x, x, NULL, NULL), TSR_ESHAPE, "conv_transpose2d");
    EXPECT_FAILS(tsr_conv2d(&x, x, w, NULL, NULL), TSR_ESHAPE, "conv2d: the result is f32(1, 6, 3, 4");
    tsr_release(&w);
    EXPECT_OK(tsr_zeros(&w, TSR_F32, 4, (const int64_t[]){ 4, 3, 3, 3 }));
    EXPECT_FAILS(tsr_conv_transpose2d(&z, x, w, b, NULL), TSR_ESHAPE,
                 "bias is f32(5 | 1), but there are 3 outputs");
    EXPECT_FAILS(tsr_conv_transpose2d(&z, x, w, NULL, &(tsr_conv){ .groups = 3 }), TSR_ESHAPE, "3 groups");
    EXPECT_FAILS(tsr_conv_transpose2d(&z, x, w, NULL, &(tsr_conv){ .fit = TSR_CONV_SAME }), TSR_EINVAL,
                 "TSR_CONV_SAME");
    EXPECT_FAILS(tsr_conv_transpose2d(&z, x, w, NULL, &(tsr_conv){ .output_padding = { 1 } }), TSR_EINVAL,
                 "output_padding 1 of spatial dim 0 is not below the stride 1");
    EXPECT_FAILS(tsr_conv_transpose2d(&z, x, w, NULL, &(tsr_conv){ .padding = { 9 } }), TSR_ESHAPE,
                 "padding of 18");
    EXPECT_OK(tsr_slice(&x, x, 2, 0, 0, 1));
    EXPECT_FAILS(tsr_conv_transpose2d(&z, x, w, NULL, NULL), TSR_ESHAPE, "spatial dim 0 of x");
    EXPECT_OK(tsr_slice(&w, w, 2, 0, 0, 1));
    EXPECT_FAILS(tsr_conv_transpose2d(&z, x, w, NULL, NULL), TSR_ESHAPE, "is empty");
    EXPECT(z == NULL);
    tsr_release_all(&x, &w, &b, &flags, &odd);
}

/* Small whole numbers, whose sums are exact: the gradient of a batch is the sum of those of its images,
 * however many are summed at once. */
TEST(test_gradients_of_large_batches_are_those_of_their_images)
{
    static const tsr_dtype dtypes[] = { TSR_F32, TSR_F64, TSR_BF16 };
    const int64_t taps[] = { 5, 5 };
    for (int d = 0; d < 3; d++) {
        tsr_tensor *x = NULL, *grad = NULL, *some = NULL, *whole = NULL, *sum = NULL, *part = NULL,
                   *wide_x = NULL, *wide_grad = NULL;
        bool same = false;
        EXPECT_OK(tsr_integers(&some, TSR_I8, TSR_SHAPE(5, 9, 130, 124), -1, 2, 1));
        EXPECT_OK(tsr_cast(&x, some, dtypes[d]));
        tsr_release(&some);
        EXPECT_OK(tsr_integers(&some, TSR_I8, TSR_SHAPE(5, 2, 126, 120), 0, 2, 2));
        EXPECT_OK(tsr_cast(&grad, some, dtypes[d]));
        EXPECT_OK(tsr_conv_grad_weights(&whole, grad, x, 2, taps, NULL));
        EXPECT_OK(tsr_cast(&wide_x, x, TSR_F64));
        EXPECT_OK(tsr_cast(&wide_grad, grad, TSR_F64));
        EXPECT_OK(tsr_zeros(&sum, TSR_F64, TSR_SHAPE(2, 9, 5, 5)));
        for (int64_t i = 0; i < 5; i++) {
            tsr_tensor *image = NULL, *above = NULL;
            EXPECT_OK(tsr_slice(&image, wide_x, 0, i, i + 1, 1));
            EXPECT_OK(tsr_slice(&above, wide_grad, 0, i, i + 1, 1));
            EXPECT_OK(tsr_conv_grad_weights(&part, above, image, 2, taps, NULL));
            EXPECT_OK(tsr_add(&sum, sum, part));
            tsr_release_all(&image, &above, &part);
        }
        EXPECT_OK(tsr_cast(&part, sum, dtypes[d]));
        EXPECT(tsr_equal(&same, whole, part) == TSR_OK && same);
        tsr_release_all(&x, &grad, &some, &whole, &sum, &part, &wide_x, &wide_grad);
    }
}
