/* What an op cannot do is refused with the status and the words of the header, and makes no result. */
#include <math.h>

#include "test.h"

static tsr_tensor *z, *y;

static tsr_tensor *full(tsr_dtype dtype, int ndim, const int64_t *shape)
{
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_full(&t, dtype, ndim, shape, TSR_SCALAR(1)));
    return t;
}

static tsr_tensor *kept[64];
static int nkept;

/* Released by drop. */
static tsr_tensor *make(tsr_dtype dtype, int ndim, const int64_t *shape)
{
    return kept[nkept++] = full(dtype, ndim, shape);
}

static void drop(void)
{
    while (nkept > 0) tsr_release(&kept[--nkept]);
    EXPECT(!z && !y);
    tsr_release_all(&z, &y);
}

#define F32(...) make(TSR_F32, TSR_SHAPE(__VA_ARGS__))
#define I64(...) make(TSR_I64, TSR_SHAPE(__VA_ARGS__))

/* Empty, with dims whose packed strides are no numbers. */
static tsr_tensor *vast(tsr_dtype dtype, int64_t rows, int64_t cols)
{
    static char nothing[16];
    const int64_t shape[] = { INT64_MAX / 2, INT64_MAX / 2, rows, cols };
    tsr_desc d;
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_desc_init(&d, dtype, 4, shape, (const int64_t[]){ 1, 1, 1, 1 }));
    EXPECT_OK(tsr_wrap(&t, nothing, &d));
    return kept[nkept++] = t;
}

static tsr_tensor *vast_batch(void)
{
    static float nothing;
    tsr_desc d;
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(0, INT64_MAX / 2, 4, 4), (const int64_t[]){ 1, 1, 1, 1 }));
    EXPECT_OK(tsr_wrap(&t, &nothing, &d));
    return kept[nkept++] = t;
}

#define EXPECT_TOO_MUCH(call) EXPECT_STATUS(call, TSR_EOVERFLOW)

TEST(test_results_whose_strides_overflow_are_refused)
{
    tsr_tensor *x = vast(TSR_F32, 0, 4), *square = vast(TSR_F32, 0, 0), *bits = vast(TSR_BOOL, 0, 4),
               *u = NULL;
    tsr_tensor *three = vast(TSR_F32, 0, 3);
    tsr_tensor *vast_images = vast_batch();
    EXPECT_TOO_MUCH(tsr_exp(&z, x));
    EXPECT_TOO_MUCH(tsr_clone(&z, x));
    EXPECT_TOO_MUCH(tsr_cast(&z, x, TSR_F64));
    EXPECT_TOO_MUCH(tsr_rearrange(&z, x));
    EXPECT_TOO_MUCH(tsr_store(&z, 0, x));
    EXPECT_TOO_MUCH(tsr_to_memory(&z, x, TSR_CPU, TSR_MEMORY_PINNED));
    EXPECT_TOO_MUCH(tsr_add(&z, x, F32(4)));
    EXPECT_TOO_MUCH(tsr_gather(&z, x, vast(TSR_I64, 0, 4), 3));
    EXPECT_TOO_MUCH(tsr_scatter(&z, x, vast(TSR_I64, 0, 4), x, 3, TSR_SCATTER_SET));
    EXPECT_TOO_MUCH(tsr_einsum(&z, "abij->abji", 1, (const tsr_tensor *const[]){ x }));
    EXPECT_TOO_MUCH(tsr_tile(&z, x, 4, (const int64_t[]){ 1, 1, 1, 2 }));
    EXPECT_TOO_MUCH(tsr_repeat(&z, x, 2, 3));
    EXPECT_TOO_MUCH(tsr_roll(&z, x, 1, (const int64_t[]){ 1 }, (const int[]){ 3 }));
    EXPECT_TOO_MUCH(
        tsr_pad(&z, x, 4, (const int64_t[4]){ 0 }, (const int64_t[4]){ 0 }, TSR_PAD_EDGE, TSR_SCALAR(0)));
    EXPECT_TOO_MUCH(tsr_tril(&z, x, 0));
    EXPECT_TOO_MUCH(tsr_triu(&z, x, 0));
    EXPECT_TOO_MUCH(tsr_diff(&z, x, 3, 1));
    EXPECT_TOO_MUCH(tsr_cumsum(&z, x, 3));
    EXPECT_TOO_MUCH(tsr_sum(&z, x, TSR_AXES(3), true));
    EXPECT_TOO_MUCH(tsr_sort(&z, x, 3, false));
    EXPECT_TOO_MUCH(tsr_argsort(&z, x, 3, false));
    EXPECT_TOO_MUCH(tsr_sort_with_indices(&z, &y, x, 3, false));
    EXPECT_TOO_MUCH(tsr_topk(&z, &y, x, 2, 3, true, true));
    EXPECT_TOO_MUCH(tsr_isin(&z, x, F32(3)));
    EXPECT_TOO_MUCH(tsr_searchsorted(&z, F32(3), x, false));
    EXPECT_TOO_MUCH(tsr_concat(&z, 2, (const tsr_tensor *const[]){ x, x }, 3));
    EXPECT_TOO_MUCH(tsr_stack(&z, 2, (const tsr_tensor *const[]){ x, x }, 0));
    EXPECT_TOO_MUCH(tsr_softmax(&z, x, -1));
    EXPECT_TOO_MUCH(tsr_shuffle(&z, x, 3, 1));
    EXPECT_TOO_MUCH(tsr_bernoulli_each(&z, x, 1));
    EXPECT_TOO_MUCH(tsr_masked_fill(&z, x, bits, TSR_SCALAR(1)));
    EXPECT_TOO_MUCH(tsr_take(&z, x, I64(2), 3));
    EXPECT_TOO_MUCH(tsr_cross(&z, three, three, 3));
    EXPECT_TOO_MUCH(tsr_inv(&z, square));
    EXPECT_TOO_MUCH(tsr_det(&z, square));
    EXPECT_TOO_MUCH(tsr_slogdet(&z, &y, square));
    EXPECT_TOO_MUCH(tsr_lu(&z, &y, &u, x));
    EXPECT_TOO_MUCH(tsr_qr(&z, &y, x, true));
    EXPECT_TOO_MUCH(tsr_svd(&z, &y, &u, x, true));
    EXPECT_TOO_MUCH(tsr_eigh(&z, &y, square));
    EXPECT_TOO_MUCH(tsr_pinv(&z, x, 0));
    EXPECT_TOO_MUCH(tsr_matrix_rank(&z, x, 0));
    EXPECT_TOO_MUCH(tsr_matrix_power(&z, square, 2));
    EXPECT_TOO_MUCH(tsr_matrix_norm(&z, x, TSR_ORD_ONE, false));
    EXPECT_TOO_MUCH(tsr_trace(&z, x, 0));
    EXPECT_TOO_MUCH(tsr_solve(&z, square, F32(0)));
    EXPECT_TOO_MUCH(tsr_quantise(&z, x, F32(1), NULL, TSR_ALL_AXES, TSR_I8));
    EXPECT_TOO_MUCH(tsr_quantise_dynamic(&z, &y, &u, x, 3, TSR_I8, false));
    EXPECT_TOO_MUCH(
        tsr_max_pool2d(&z, &y, vast_images, &(tsr_pool){ .kernel = { 1, 1 }, .padding = { 0, 0 } }));
    EXPECT_TOO_MUCH(tsr_lp_pool2d(&z, vast_images, 2, &(tsr_pool){ .kernel = { 1, 1 } }));
    EXPECT_TOO_MUCH(tsr_resize(&z, vast_images, 2, (const int64_t[]){ -1, -1 }, NULL));
    EXPECT_TOO_MUCH(tsr_fftshift(&z, x, 0, NULL));
    EXPECT_TOO_MUCH(tsr_dropout(&z, x, 0.5, 1));
    EXPECT_TOO_MUCH(tsr_one_hot(&z, vast(TSR_I64, 0, 4), 3, TSR_F32));
    EXPECT_TOO_MUCH(tsr_sample(&z, x, 1, 0, 1, 1));
    EXPECT(!u);
    drop();
}

TEST(test_products_name_the_operand_that_does_not_fit)
{
    tsr_tensor *m = F32(2, 3), *v = F32(3), *cube = F32(2, 2, 3), *bits = make(TSR_BOOL, TSR_SHAPE(2, 3));
    EXPECT_FAILS(tsr_gemm(&z, v, m, NULL, TSR_SCALAR(1), TSR_SCALAR(0)), TSR_ESHAPE, "gemm: a");
    EXPECT_FAILS(tsr_gemm(&z, m, v, NULL, TSR_SCALAR(1), TSR_SCALAR(0)), TSR_ESHAPE, "gemm: b");
    EXPECT_FAILS(tsr_gemm(&z, m, m, NULL, TSR_SCALAR(1), TSR_SCALAR(0)), TSR_ESHAPE, "gemm: b");
    EXPECT_FAILS(tsr_gemm(&z, m, F32(3, 2), NULL, (tsr_scalar){ 0 }, TSR_SCALAR(0)), TSR_EDTYPE,
                 "gemm: alpha");
    EXPECT_FAILS(tsr_addmm(&z, m, cube, m), TSR_ESHAPE, "addmm: a");
    EXPECT_FAILS(tsr_addmm(&z, m, m, v), TSR_ESHAPE, "addmm: b");
    EXPECT_FAILS(tsr_addmm(&z, m, m, m), TSR_ESHAPE, "addmm: b");
    EXPECT_FAILS(tsr_linear(&z, v, v, NULL), TSR_ESHAPE, "linear: w");
    EXPECT_FAILS(tsr_linear(&z, v, F32(2, 4), NULL), TSR_ESHAPE, "linear: w");
    EXPECT_FAILS(tsr_linear(&z, v, m, v), TSR_ESHAPE, "linear: bias");
    EXPECT_FAILS(tsr_dot(&z, v, m), TSR_ESHAPE, "dot: b");
    EXPECT_FAILS(tsr_dot(&z, v, F32(4)), TSR_ESHAPE, "dot: b");
    EXPECT_FAILS(tsr_outer(&z, m, v), TSR_ESHAPE, "outer: a");
    EXPECT_FAILS(tsr_outer(&z, v, m), TSR_ESHAPE, "outer: b");
    EXPECT_FAILS(tsr_matmul(&z, bits, m), TSR_EDTYPE, "matmul: bool and f32");
    EXPECT_FAILS(tsr_matmul(&z, bits, bits), TSR_EDTYPE, "matmul: a");
    EXPECT_FAILS(tsr_vecdot(&z, v, F32(4), -1), TSR_ESHAPE, "vecdot: b");
    EXPECT_FAILS(tsr_tensordot(&z, m, v, 2, NULL, NULL), TSR_EINVAL, "2 axes");
    EXPECT_FAILS(tsr_tensordot(&z, v, m, 2, NULL, NULL), TSR_EINVAL, "2 axes");
    EXPECT_FAILS(tsr_tensordot(&z, m, m, -1, NULL, NULL), TSR_EINVAL, "-1 axes");
    EXPECT_FAILS(tsr_tensordot(&z, m, m, 1, (const int[]){ 0 }, NULL), TSR_ENULL, "axes_b is NULL");
    EXPECT_FAILS(tsr_tensordot(&z, m, m, 1, NULL, (const int[]){ 0 }), TSR_ENULL, "axes_a is NULL");
    EXPECT_FAILS(tsr_tensordot(&z, m, m, 1, (const int[]){ 0 }, (const int[]){ 5 }), TSR_EINDEX, "axes_b");
    drop();
}

/* Ones: every element of the product counts the elements along the axis. */
TEST(test_tensordot_takes_mixed_dtypes_and_results_that_overlap)
{
    tsr_tensor *a = F32(3, 3), *b = make(TSR_F64, TSR_SHAPE(3, 3)), *same = a;
    EXPECT_OK(tsr_tensordot(&z, a, b, 1, NULL, NULL));
    EXPECT(z && z->dtype == TSR_F64);
    for (int i = 0; z && i < 9; i++) EXPECT(((const double *)z->data)[i] == 3);
    tsr_release(&z);
    EXPECT_OK(tsr_tensordot(&same, a, a, 1, NULL, NULL));
    for (int i = 0; i < 9; i++) EXPECT(((const float *)a->data)[i] == 3);
    drop();
}

TEST(test_lists_of_steps_are_checked)
{
    tsr_tensor *a = F32(2, 3), *b = F32(2, 3), *c = F32(3, 2), *whole = make(TSR_I32, TSR_SHAPE(2, 3));
    tsr_tensor *const as[] = { a }, *const bs[] = { b }, *const cs[] = { c }, *const none[] = { NULL };
    const tsr_tensor *const xs[] = { b }, *const same[] = { a }, *const integers[] = { whole };
    EXPECT_OK(tsr_scale_each(0, NULL, 2));
    EXPECT_FAILS(tsr_scale_each(-1, as, 2), TSR_EINVAL, "scale_each: n is -1");
    EXPECT_FAILS(tsr_scale_each(1, NULL, 2), TSR_ENULL, "scale_each: xs is NULL");
    EXPECT_FAILS(tsr_scale_each(1, none, 2), TSR_ENULL, "scale_each: xs 0");
    EXPECT_FAILS(tsr_axpy_each(1, as, integers, 2), TSR_EDTYPE, "axpy_each: xs 0 is i32");
    EXPECT_FAILS(tsr_axpy_each(1, as, same, 2), TSR_EOVERLAP, "axpy_each: ys 0 and xs 0 overlap");
    EXPECT_FAILS(tsr_axpy_each(1, cs, xs, 2), TSR_ESHAPE, "axpy_each: ys 0");
    EXPECT_FAILS(tsr_sgd_step(1, as, as, xs, 1, 0.9, 0, false, false), TSR_EOVERLAP, "sgd_step");
    EXPECT_FAILS(tsr_adam_step(1, as, bs, cs, xs, 0, 1, 0.9, 0.9, 0, 0, false), TSR_EINVAL,
                 "adam_step: step is 0");
    EXPECT_FAILS(tsr_adam_step(1, as, bs, cs, xs, 1, 1, 1, 0.9, 0, 0, false), TSR_EINVAL, "beta1");
    EXPECT_FAILS(tsr_adam_step(1, as, bs, cs, xs, 1, 1, 0.9, -0.1, 0, 0, false), TSR_EINVAL, "beta2");
    EXPECT_FAILS(tsr_joint_norm(&z, 0, xs), TSR_EINVAL, "joint_norm: 0 tensors");
    EXPECT_FAILS(tsr_joint_norm(&z, 1, integers), TSR_EDTYPE, "joint_norm: xs 0 is i32");
    tsr_tensor *both[] = { a, NULL };
    EXPECT_OK(tsr_expand(&both[1], F32(1, 3), TSR_SHAPE(2, 3)));
    EXPECT_FAILS(tsr_scale_each(2, both, 2), TSR_EOVERLAP, "scale_each: xs 1 is f32(2, 3 | 0, 1), where");
    tsr_release(&both[1]);
    for (int i = 0; i < 6; i++) EXPECT(((const float *)a->data)[i] == 1);
    drop();
}

TEST(test_gradients_of_convolutions_are_checked)
{
    tsr_tensor *x = F32(1, 2, 5, 5), *w = F32(4, 2, 3, 3), *grad = F32(1, 4, 3, 3), *odd = F32(1, 4, 4, 3);
    const int64_t sizes[] = { 5, 5 }, taps[] = { 3, 3 }, below[] = { -1, 5 }, nothing[] = { 0, 3 };
    EXPECT_OK(tsr_conv_grad_data(&z, grad, w, 2, sizes, NULL));
    tsr_release(&z);
    EXPECT_FAILS(tsr_conv_grad_data(&z, grad, w, 4, sizes, NULL), TSR_EINVAL, "4 sizes");
    EXPECT_FAILS(tsr_conv_grad_data(&z, grad, w, 2, NULL, NULL), TSR_ENULL, "sizes is NULL");
    EXPECT_FAILS(tsr_conv_grad_data(&z, grad, w, 2, below, NULL), TSR_EINVAL, "size -1");
    EXPECT_FAILS(tsr_conv_grad_data(&z, odd, w, 2, sizes, NULL), TSR_ESHAPE, "spatial dim 0 of grad");
    EXPECT_FAILS(tsr_conv_grad_data(&z, NULL, w, 2, sizes, NULL), TSR_ENULL, "grad is NULL");
    EXPECT_FAILS(tsr_conv_grad_weights(&z, grad, x, 2, nothing, NULL), TSR_EINVAL, "size 0");
    EXPECT_FAILS(tsr_conv_grad_weights(&z, odd, x, 2, taps, NULL), TSR_ESHAPE, "spatial dim 0 of grad");
    EXPECT_FAILS(tsr_conv_grad_weights(&z, grad, x, 2, taps, &(tsr_conv){ .groups = 3 }), TSR_ESHAPE,
                 "groups");
    EXPECT_FAILS(tsr_conv_grad_weights(&z, grad, x, 2, taps, &(tsr_conv){ .output_padding = { 1 } }),
                 TSR_EINVAL, "output_padding");
    drop();
}

TEST(test_activations_are_checked)
{
    tsr_tensor *x = F32(5, 4), *w = F32(3, 4), *bias = F32(3), *long_bias = F32(4), *more = F32(4, 3);
    EXPECT_FAILS(tsr_linear_activation(&z, x, w, bias, NULL, (tsr_activation)9), TSR_EINVAL, "9 is no");
    EXPECT_FAILS(tsr_linear_activation(&z, x, w, long_bias, NULL, TSR_ACTIVATION_RELU), TSR_ESHAPE, "bias");
    EXPECT_FAILS(tsr_linear_activation(&z, x, w, bias, more, TSR_ACTIVATION_RELU), TSR_ESHAPE, "residual");
    EXPECT_FAILS(tsr_linear_activation(&z, x, NULL, bias, NULL, TSR_ACTIVATION_RELU), TSR_ENULL, "w is NULL");
    drop();
}

TEST(test_windows_of_convolutions_are_checked)
{
    tsr_tensor *x = F32(1, 2, 5, 5), *w = F32(2, 2, 3, 3), *empty = F32(2, 2, 0, 3);
    const int64_t far = INT64_MAX - 2;
    EXPECT_FAILS(tsr_conv2d(&z, x, w, NULL, &(tsr_conv){ .pad_low = { -1, 0 } }), TSR_EINVAL, "pad");
    EXPECT_FAILS(tsr_conv2d(&z, x, w, NULL, &(tsr_conv){ .pad_high = { 0, -1 } }), TSR_EINVAL, "pad");
    EXPECT_FAILS(tsr_conv2d(&z, x, w, NULL, &(tsr_conv){ .padding = { -1, 0 } }), TSR_EINVAL, "pad");
    EXPECT_FAILS(tsr_conv2d(&z, x, w, NULL, &(tsr_conv){ .padding = { far, 0 }, .pad_low = { 9, 0 } }),
                 TSR_EOVERFLOW, "conv2d");
    EXPECT_FAILS(tsr_conv2d(&z, x, w, NULL, &(tsr_conv){ .padding = { far, 0 }, .pad_high = { 9, 0 } }),
                 TSR_EOVERFLOW, "conv2d");
    EXPECT_FAILS(tsr_conv2d(&z, x, w, NULL, &(tsr_conv){ .padding = { far, 0 } }), TSR_EOVERFLOW, "conv2d");
    EXPECT_FAILS(tsr_conv2d(&z, x, w, NULL, &(tsr_conv){ .dilation = { far, 1 } }), TSR_EOVERFLOW, "conv2d");
    EXPECT_FAILS(tsr_conv2d(&z, x, empty, NULL, NULL), TSR_ESHAPE, "conv2d");
    EXPECT_FAILS(tsr_conv2d(&z, x, w, NULL, &(tsr_conv){ .groups = far }), TSR_EOVERFLOW, "groups");
    EXPECT_FAILS(tsr_conv_transpose2d(&z, x, w, NULL, &(tsr_conv){ .stride = { far, 1 } }), TSR_EOVERFLOW,
                 "conv_tr");
    EXPECT_FAILS(tsr_conv_transpose2d(&z, x, w, NULL, &(tsr_conv){ .dilation = { far, 1 } }), TSR_EOVERFLOW,
                 "conv_tr");
    EXPECT_FAILS(tsr_conv_transpose2d(&z, x, w, F32(3), NULL), TSR_ESHAPE, "bias");
    EXPECT_FAILS(tsr_conv2d(&z, x, w, F32(3), NULL), TSR_ESHAPE, "bias");
    drop();
}

TEST(test_windows_of_pools_are_checked)
{
    tsr_tensor *x = F32(1, 2, 5, 5), *none = F32(1, 2, 0, 5);
    EXPECT_FAILS(tsr_max_pool2d(&z, NULL, x, &(tsr_pool){ .kernel = { 2, 2 }, .divisor = 3 }), TSR_EINVAL,
                 "max_pool");
    EXPECT_FAILS(tsr_max_pool2d(&z, NULL, x, &(tsr_pool){ .kernel = { 2, 2 }, .exclude_pad = true }),
                 TSR_EINVAL, "max_pool");
    EXPECT_FAILS(tsr_adaptive_avg_pool(&z, none, 2, (const int64_t[]){ 2, 2 }), TSR_ESHAPE, "adaptive");
    EXPECT_FAILS(tsr_adaptive_avg_pool(&z, x, 2, (const int64_t[]){ INT64_MAX, 2 }), TSR_EOVERFLOW,
                 "adaptive");
    EXPECT_FAILS(tsr_adaptive_avg_pool(&z, x, 2, (const int64_t[]){ INT64_MAX / 2, 2 }), TSR_EOVERFLOW,
                 "adaptive");
    drop();
}

#define SAMPLE(x, grid, mode, padding) tsr_grid_sample(&z, x, grid, mode, (tsr_grid_padding)(padding), false)

TEST(test_grids_fit_what_they_see)
{
    tsr_tensor *x = F32(1, 2, 5, 5), *flat = F32(1, 2, 5), *grid = F32(1, 3, 3, 2);
    EXPECT_FAILS(SAMPLE(flat, F32(1, 3, 1), TSR_INTERPOLATE_LINEAR, 0), TSR_ESHAPE, "grid_sample: x is");
    EXPECT_FAILS(SAMPLE(x, F32(1, 3, 2), TSR_INTERPOLATE_LINEAR, 0), TSR_ESHAPE, "grid_sample: x is");
    EXPECT_FAILS(SAMPLE(x, F32(1, 3, 3, 3), TSR_INTERPOLATE_LINEAR, 0), TSR_ESHAPE, "grid_sample: x is");
    EXPECT_FAILS(SAMPLE(x, F32(2, 3, 3, 2), TSR_INTERPOLATE_LINEAR, 0), TSR_ESHAPE, "dim 0 of grid is 2");
    EXPECT_FAILS(SAMPLE(x, grid, TSR_INTERPOLATE_LINEAR, -1), TSR_EINVAL, "padding is -1");
    EXPECT_FAILS(SAMPLE(x, grid, TSR_INTERPOLATE_LINEAR, 9), TSR_EINVAL, "padding is 9");
    EXPECT_FAILS(tsr_resize(&z, x, 0, (const int64_t[]){ 2 }, NULL), TSR_EINVAL, "0 spatial dims");
    EXPECT_FAILS(tsr_resize(&z, x, 2, (const int64_t[]){ 2, 2 },
                            &(tsr_resize_options){ .mode = (tsr_interpolation)-1 }),
                 TSR_EINVAL, "mode is -1");
    EXPECT_FAILS(tsr_resize(&z, x, 2, (const int64_t[]){ 2, 2 }, &(tsr_resize_options){ .antialias = true }),
                 TSR_EINVAL, "antialias");
    EXPECT_FAILS(tsr_resize(&z, x, 2, (const int64_t[]){ 2, INT64_MAX / 2 }, NULL), TSR_EOVERFLOW, "resize");
    drop();
}

TEST(test_numbers_that_are_counted_are_real)
{
    tsr_tensor *x = F32(6), *flags = make(TSR_BOOL, TSR_SHAPE(6)), *classes = I64(6), *edges = F32(3);
    EXPECT_FAILS(tsr_bincount(&z, classes, flags, 0), TSR_EDTYPE, "weights is bool");
    EXPECT_FAILS(tsr_histogram(&z, &y, flags, 4, 0, 1, NULL, false), TSR_EDTYPE, "x is bool");
    EXPECT_FAILS(tsr_histogram(&z, &y, x, INT64_MAX, 0, 1, NULL, false), TSR_EINVAL, "bins is");
    EXPECT_FAILS(tsr_histogram(&z, &y, x, 4, (double)NAN, 1, NULL, false), TSR_EINVAL, "histogram");
    EXPECT_FAILS(tsr_histogram(&z, &y, x, 4, (double)-INFINITY, 1, NULL, false), TSR_EINVAL, "histogram");
    EXPECT_FAILS(tsr_histogram_with(&z, x, make(TSR_BOOL, TSR_SHAPE(3)), NULL, false), TSR_EDTYPE, "bool");
    EXPECT_FAILS(tsr_histogram_with(&z, x, F32(2, 3), NULL, false), TSR_ESHAPE, "edges is");
    EXPECT_FAILS(tsr_histogram_with(&z, flags, edges, NULL, false), TSR_EDTYPE, "bool");
    EXPECT_FAILS(tsr_cov(&z, make(TSR_C32, TSR_SHAPE(2, 6)), 1, NULL, NULL), TSR_EDTYPE, "x is c32");
    EXPECT_FAILS(tsr_cov(&z, x, 1, NULL, flags), TSR_EDTYPE, "aweights is bool");
    EXPECT_FAILS(tsr_cov(&z, x, 1, x, NULL), TSR_EDTYPE, "fweights is f32");
    EXPECT_FAILS(tsr_cov(&z, x, 1, NULL, F32(1, 6)), TSR_ESHAPE, "aweights");
    EXPECT_FAILS(tsr_quantile(&z, x, TSR_NUMBER(-0.5), 0, NULL, false, TSR_QUANTILE_LINEAR), TSR_EINVAL,
                 "q is -0.5");
    EXPECT_FAILS(tsr_kthvalue(&z, &z, x, 1, 0, false), TSR_EINVAL, "the same handle");
    EXPECT_FAILS(tsr_pad(&z, x, 1, (const int64_t[]){ 0 }, (const int64_t[]){ -1 }, TSR_PAD_CONSTANT,
                         tsr_scalar_i64(0)),
                 TSR_EINVAL, "-1 after");
    EXPECT_FAILS(tsr_pad(&z, F32(0), 1, (const int64_t[]){ 0 }, (const int64_t[]){ 1 }, TSR_PAD_EDGE,
                         tsr_scalar_i64(0)),
                 TSR_ESHAPE, "pad");
    drop();
}

TEST(test_results_have_no_more_dims_than_there_can_be)
{
    tsr_tensor *deep = F32(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1);
    const tsr_tensor *const two[] = { F32(1, 1, 1, 1, 1, 1, 1, 1, 1), F32(1, 1, 1, 1, 1, 1, 1, 1) };
    EXPECT_FAILS(tsr_quantile(&z, deep, F32(2), 1, (const int[]){ 0 }, true, TSR_QUANTILE_LINEAR), TSR_ESHAPE,
                 "more than 16 dims");
    EXPECT_FAILS(tsr_einsum(&z, "abcdefghi,jklmnopq", 2, two), TSR_ESHAPE, "17 dims");
    drop();
}

TEST(test_parameters_of_networks_are_checked)
{
    tsr_tensor *x = F32(4, 6), *odd = F32(4, 2, 5), *places = I64(4), *even = F32(4, 2, 6);
    EXPECT_FAILS(tsr_rope(&z, odd, places, 10000, TSR_ROPE_HALVES), TSR_ESHAPE, "odd");
    EXPECT_FAILS(tsr_rope(&z, even, places, INFINITY, TSR_ROPE_HALVES), TSR_EINVAL, "theta");
    EXPECT_FAILS(tsr_rope(&z, even, places, -1, TSR_ROPE_HALVES), TSR_EINVAL, "theta");
    EXPECT_FAILS(tsr_rope_with(&z, even, NULL, F32(9, 3), F32(9, 3), TSR_ROPE_HALVES), TSR_ENULL,
                 "positions");
    EXPECT_FAILS(tsr_rope_with(&z, even, places, F32(9, 2), F32(9, 3), TSR_ROPE_HALVES), TSR_ESHAPE, "table");
    EXPECT_FAILS(tsr_rope_with(&z, even, places, F32(9, 3), F32(9, 2), TSR_ROPE_HALVES), TSR_ESHAPE, "table");
    EXPECT_FAILS(tsr_silu_and_mul(&z, F32(4, 5)), TSR_ESHAPE, "silu_and_mul");
    EXPECT_FAILS(tsr_silu_and_mul(&z, make(TSR_F32, 0, NULL)), TSR_ESHAPE, "silu_and_mul");
    EXPECT_FAILS(tsr_huber_loss(&z, x, x, TSR_REDUCTION_MEAN, INFINITY), TSR_EINVAL, "delta");
    EXPECT_FAILS(tsr_huber_loss(&z, x, x, TSR_REDUCTION_MEAN, 0), TSR_EINVAL, "delta");
    EXPECT_FAILS(tsr_smooth_l1_loss(&z, x, x, TSR_REDUCTION_MEAN, INFINITY), TSR_EINVAL, "beta");
    EXPECT_FAILS(tsr_smooth_l1_loss(&z, x, x, TSR_REDUCTION_MEAN, -1), TSR_EINVAL, "beta");
    EXPECT_FAILS(tsr_cross_entropy(&z, x, places, NULL, TSR_REDUCTION_MEAN, -1, -0.1), TSR_EINVAL,
                 "label_smoothing");
    EXPECT_FAILS(tsr_cross_entropy(&z, x, places, NULL, TSR_REDUCTION_MEAN, -1, 1.1), TSR_EINVAL,
                 "label_smoothing");
    EXPECT_FAILS(tsr_cross_entropy(&z, x, NULL, NULL, TSR_REDUCTION_MEAN, -1, 0), TSR_ENULL, "target");
    EXPECT_FAILS(tsr_cross_entropy(&z, F32(4, 0), places, NULL, TSR_REDUCTION_MEAN, -1, 0), TSR_EINDEX,
                 "0 classes");
    EXPECT_FAILS(tsr_sample(&z, x, -1, 0, 1, 1), TSR_EINVAL, "temperature");
    EXPECT_FAILS(tsr_sample(&z, x, INFINITY, 0, 1, 1), TSR_EINVAL, "temperature");
    EXPECT_FAILS(tsr_sample(&z, x, 1, 0, -0.5, 1), TSR_EINVAL, "top_p");
    EXPECT_FAILS(tsr_sample(&z, x, 1, 0, 1.5, 1), TSR_EINVAL, "top_p");
    EXPECT_FAILS(tsr_normal(&z, TSR_F32, TSR_SHAPE(3), 0, INFINITY, 1), TSR_EINVAL, "deviation");
    EXPECT_FAILS(tsr_normal(&z, TSR_F32, TSR_SHAPE(3), 0, -1, 1), TSR_EINVAL, "deviation");
    EXPECT_FAILS(tsr_attention(&z, make(TSR_F32, 0, NULL), x, x, NULL, NULL), TSR_ESHAPE, "q");
    EXPECT_FAILS(tsr_attention(&z, even, even, even, make(TSR_BOOL, TSR_SHAPE(3, 3)), NULL), TSR_ESHAPE,
                 "mask");
    drop();
}

TEST(test_indices_and_what_they_place_must_fit)
{
    tsr_tensor *t = F32(4, 6), *at = I64(2), *src = F32(2, 6);
    EXPECT_FAILS(tsr_index_add(&z, t, I64(2, 2), src, 0), TSR_ESHAPE, "index");
    EXPECT_FAILS(tsr_index_add(&z, t, at, F32(6), 0), TSR_ESHAPE, "src");
    EXPECT_FAILS(tsr_index_add(&z, t, at, F32(2, 5), 0), TSR_ESHAPE, "src");
    EXPECT_FAILS(tsr_index_add(&z, t, at, F32(3, 6), 0), TSR_ESHAPE, "src");
    EXPECT_FAILS(tsr_index_add(&z, t, at, src, 2), TSR_EINDEX, "axis");
    EXPECT_FAILS(tsr_scatter(&z, t, I64(2, 6), F32(6), 0, TSR_SCATTER_SET), TSR_ESHAPE, "src");
    EXPECT_FAILS(tsr_scatter(&z, t, I64(2, 7), F32(2, 7), 0, TSR_SCATTER_SET), TSR_ESHAPE, "index");
    EXPECT_FAILS(tsr_scatter(&z, t, I64(2, 6), src, 2, TSR_SCATTER_SET), TSR_EINDEX, "axis");
    EXPECT_FAILS(tsr_take_along_axis(&z, t, I64(3, 2), 1), TSR_ESHAPE, "index");
    EXPECT_FAILS(tsr_gather(&z, t, I64(5, 2), 1), TSR_ESHAPE, "index");
    drop();
}

/* A product needs one dim more than its vectors have, and a result may have so many. */
TEST(test_ranks_that_leave_no_room_are_refused)
{
    int64_t ones[TSR_MAX_NDIM];
    for (int i = 0; i < TSR_MAX_NDIM; i++) ones[i] = 1;
    tsr_tensor *deep = make(TSR_F32, TSR_MAX_NDIM, ones);
    EXPECT_FAILS(tsr_vecdot(&z, deep, deep, -1), TSR_EINVAL, "one must be left");
    EXPECT_STATUS(tsr_tensordot(&z, deep, deep, 0, NULL, NULL), TSR_EINVAL);
    EXPECT_STATUS(tsr_stack(&z, 1, (const tsr_tensor *const[]){ deep }, 0), TSR_EINVAL);
    EXPECT_STATUS(tsr_one_hot(&z, make(TSR_I64, TSR_MAX_NDIM, ones), 3, TSR_F32), TSR_EINVAL);
    drop();
}

/* Results that do not fit what the quick path of small products takes, and must not be written to. */
TEST(test_given_results_of_products_must_fit)
{
    tsr_tensor *a = F32(2, 3), *b = F32(3, 2), *wrong = F32(3, 2), *narrow = F32(2, 3), *locked = NULL,
               *bare = NULL;
    tsr_desc d;
    EXPECT_FAILS(tsr_matmul(&wrong, a, b), TSR_ESHAPE, "out holds");
    EXPECT_FAILS(tsr_matmul(&narrow, a, b), TSR_ESHAPE, "out holds");
    EXPECT_FAILS(tsr_matmul(&wrong, NULL, b), TSR_ENULL, "a is NULL");
    EXPECT_FAILS(tsr_matmul(&wrong, a, NULL), TSR_ENULL, "b is NULL");
    EXPECT_FAILS(tsr_matmul(NULL, a, b), TSR_ENULL, "out is NULL");
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(2, 2), NULL));
    EXPECT_OK(tsr_wrap_const(&locked, (const float[4]){ 0 }, &d));
    EXPECT_STATUS(tsr_matmul(&locked, a, b), TSR_EREADONLY);
    EXPECT_OK(tsr_declare(&bare, &d, TSR_CPU, TSR_MEMORY_DEFAULT));
    EXPECT_FAILS(tsr_matmul(&wrong, bare, b), TSR_ESTATE, "a");
    EXPECT_FAILS(tsr_matmul(&wrong, a, bare), TSR_ESTATE, "b");
    EXPECT_OK(tsr_matmul(&bare, a, b));
    for (int i = 0; i < 4; i++) EXPECT(((const float *)bare->data)[i] == 3);
    tsr_release_all(&locked, &bare);
    drop();
}

static tsr_status infer(tsr_op_kind kind, int n, const tsr_tensor *a, const tsr_tensor *b, const void *params)
{
    tsr_desc d[TSR_OP_MAX_OUT];
    const tsr_desc *in[] = { &a->desc, b ? &b->desc : NULL, b ? &b->desc : NULL };
    return tsr_infer(d, kind, n, in, params);
}

/* Parameters that no call of the library makes, as a backend's author may ask about them. */
TEST(test_parameters_of_questions_are_checked)
{
    tsr_tensor *x = F32(1, 2, 5, 5), *w = F32(2, 2, 3, 3), *m = F32(4, 6), *one = F32(1);
    tsr_conv_params conv = {
        .spatial = 2, .groups = 1, .stride = { 1, 1 }, .dilation = { 1, 1 }, .low = { -1, 0 }
    };
    EXPECT_FAILS(infer(TSR_OP_CONV, 2, x, w, &conv), TSR_EINVAL, "conv");
    conv = (tsr_conv_params){
        .spatial = 2, .groups = 1, .stride = { 1, 1 }, .dilation = { 1, 1 }, .high = { 0, -1 }
    };
    EXPECT_FAILS(infer(TSR_OP_CONV, 2, x, w, &conv), TSR_EINVAL, "conv");
    for (int axis = -7; axis <= 2; axis += 9)
        for (int kind = 0; kind < 2; kind++) {
            const tsr_quant_params quant = { axis, TSR_I8, false };
            EXPECT_FAILS(
                infer(kind ? TSR_OP_QUANTISE : TSR_OP_QUANTISATION_RANGE, kind ? 2 : 1, m, one, &quant),
                TSR_EINDEX, "axis");
        }
    for (int axis = -1; axis <= 2; axis += 3)
        EXPECT_FAILS(infer(TSR_OP_FFT, 1, make(TSR_C64, TSR_SHAPE(4, 4)), NULL,
                           &(tsr_fft_params){ axis, false, 4, 1 }),
                     TSR_EINDEX, "axis");
    drop();
}

TEST(test_questions_promote_as_calls_do)
{
    tsr_tensor *q = F32(2, 3, 4), *k = make(TSR_F64, TSR_SHAPE(2, 3, 4)),
               *bits = make(TSR_BOOL, TSR_SHAPE(2, 3, 4));
    const tsr_attention_params params = { 1, false };
    tsr_desc d;
    tsr_cost cost;
    EXPECT_OK(tsr_infer(&d, TSR_OP_ATTENTION, 3, (const tsr_desc *const[]){ &q->desc, &k->desc, &k->desc },
                        &params));
    EXPECT(d.dtype == TSR_F64 && d.ndim == 3 && d.shape[1] == 3);
    EXPECT_STATUS(infer(TSR_OP_ATTENTION, 3, q, bits, &params), TSR_EDTYPE);
    EXPECT_STATUS(tsr_op_cost(&cost, TSR_OP_ATTENTION, 3,
                              (const tsr_desc *const[]){ &q->desc, &bits->desc, &bits->desc }, &params),
                  TSR_EDTYPE);
    drop();
}

/* The work of an adaptive mean is done once for each element of x, and that of a draw for each logit. */
TEST(test_costs_count_what_is_read)
{
    tsr_tensor *x = F32(1, 2, 8, 8), *logits = F32(3, 10), *chance = make(TSR_F64, TSR_SHAPE(3));
    const tsr_pool_params wide = { .spatial = 2, .adaptive = true, .kernel = { 2, 2 } };
    const tsr_pool_params narrow = { .spatial = 2, .adaptive = true, .kernel = { 4, 4 } };
    tsr_cost a, b;
    EXPECT_OK(tsr_op_cost(&a, TSR_OP_AVG_POOL, 1, (const tsr_desc *const[]){ &x->desc }, &wide));
    EXPECT_OK(tsr_op_cost(&b, TSR_OP_AVG_POOL, 1, (const tsr_desc *const[]){ &x->desc }, &narrow));
    EXPECT(a.flops == b.flops && a.flops > 0);
    EXPECT_OK(tsr_op_cost(&a, TSR_OP_SAMPLE, 2, (const tsr_desc *const[]){ &logits->desc, &chance->desc },
                          &(tsr_sample_params){ 1, 1, 0 }));
    EXPECT(a.flops == tsr_op_get_info(TSR_OP_SAMPLE)->flops * 30);
    drop();
}

TEST(test_shapes_that_overflow_and_lists_with_holes_are_refused)
{
    tsr_tensor *m = F32(4, 6), *bare = NULL, *grid[2] = { NULL };
    tsr_desc d;
    const int64_t none[] = { 0, 0 }, far[] = { INT64_MAX, 0 };
    EXPECT_FAILS(tsr_pad(&z, m, 2, far, none, TSR_PAD_CONSTANT, TSR_SCALAR(0)), TSR_EOVERFLOW, "pad");
    EXPECT_FAILS(tsr_pad(&z, m, 2, none, far, TSR_PAD_CONSTANT, TSR_SCALAR(0)), TSR_EOVERFLOW, "pad");
    EXPECT_FAILS(tsr_meshgrid(grid, 2, (const tsr_tensor *const[]){ F32(3), NULL }, TSR_MESH_XY), TSR_ENULL,
                 "vector");
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(4), NULL));
    EXPECT_OK(tsr_declare(&bare, &d, TSR_CPU, TSR_MEMORY_DEFAULT));
    EXPECT_FAILS(tsr_diff(&z, bare, 0, 1), TSR_ESTATE, "diff: x");
    tsr_release(&bare);
    drop();
}

/* The quick path of sums takes none of these. */
TEST(test_sums_into_a_given_scalar)
{
    static const float zero;
    tsr_tensor *x = F32(4, 6), *scalar = make(TSR_F32, 0, NULL), *locked = NULL, *bare = NULL,
               *wide = make(TSR_F64, 0, NULL);
    tsr_desc d;
    EXPECT_OK(tsr_sum(&scalar, x, 0, NULL, false));
    EXPECT(*(const float *)scalar->data == 24);
    EXPECT_FAILS(tsr_sum(&scalar, x, 0, NULL, true), TSR_ESHAPE, "out holds");
    EXPECT_FAILS(tsr_sum(&scalar, x, TSR_AXES(0), false), TSR_ESHAPE, "out holds");
    EXPECT_FAILS(tsr_cumsum(&scalar, F32(3), 0), TSR_ESHAPE, "out holds");
    EXPECT_FAILS(tsr_sum(&wide, x, 0, NULL, false), TSR_EDTYPE, "out holds");
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, 0, NULL, NULL));
    EXPECT_OK(tsr_wrap_const(&locked, &zero, &d));
    EXPECT_STATUS(tsr_sum(&locked, x, 0, NULL, false), TSR_EREADONLY);
    EXPECT_OK(tsr_declare(&bare, &d, TSR_CPU, TSR_MEMORY_DEFAULT));
    EXPECT_OK(tsr_sum(&bare, x, 0, NULL, false));
    EXPECT(*(const float *)bare->data == 24);
    tsr_release_all(&locked, &bare);
    drop();
}

TEST(test_einsum_counts_the_dims_of_its_results)
{
    tsr_tensor *v = F32(1), *m = F32(3, 3), *same = m;
    tsr_tensor *deep = make(TSR_F32, TSR_SHAPE(1, 1, 1, 1, 1, 1));
    const tsr_tensor *const three[] = { deep, deep, deep };
    EXPECT_FAILS(tsr_einsum(&z, "abcdef,ghijkl,mnopqr->abcdefghijklmnopqr", 3, three), TSR_ESHAPE, "dims");
    EXPECT_FAILS(tsr_einsum(&z, "a->B", 1, (const tsr_tensor *const[]){ v }), TSR_EFORMAT, "B");
    EXPECT_FAILS(tsr_einsum(&z, "A,A->?", 2, (const tsr_tensor *const[]){ v, v }), TSR_EFORMAT, "einsum");
    EXPECT_OK(tsr_einsum(&same, "ij,jk->ik", 2, (const tsr_tensor *const[]){ m, m }));
    for (int i = 0; i < 9; i++) EXPECT(((const float *)m->data)[i] == 3);
    drop();
}

/* Without axes, what they point to plays no part. */
TEST(test_tensordot_of_no_axes_is_the_outer_product)
{
    tsr_tensor *m = F32(2, 3);
    EXPECT_OK(tsr_tensordot(&z, m, m, 0, (const int[]){ 7 }, NULL));
    EXPECT(z && z->ndim == 4 && z->shape[0] == 2 && z->shape[3] == 3);
    for (int i = 0; z && i < 36; i++) EXPECT(((const float *)z->data)[i] == 1);
    tsr_release(&z);
    drop();
}

static void expect_report(tsr_dtype dtype, const char *words)
{
    char text[256];
    tsr_close_report report;
    bool same = true;
    tsr_tensor *a = make(dtype, TSR_SHAPE(2)), *b = NULL;
    EXPECT_OK(tsr_zeros(&b, dtype, TSR_SHAPE(2)));
    EXPECT_OK(tsr_allclose(&same, a, b, NULL, &report));
    EXPECT(!same);
    (void)tsr_close_report_to_string(text, sizeof text, &report, 1);
    EXPECT_MSG(strstr(text, words), "\"%s\" lacks \"%s\"", text, words);
    tsr_release(&b);
}

TEST(test_reports_of_differences_write_each_kind_of_number)
{
    expect_report(TSR_BOOL, "true vs false");
    expect_report(TSR_I32, "1 vs 0");
    expect_report(TSR_U8, "1 vs 0");
    expect_report(TSR_C64, "1+0i vs 0+0i");
    drop();
}

TEST(test_matrices_that_do_not_fit_are_refused)
{
    tsr_tensor *a = F32(2, 3, 3), *bits = make(TSR_BOOL, TSR_SHAPE(3, 3)), *scalar = make(TSR_F32, 0, NULL);
    EXPECT_FAILS(tsr_solve(&z, a, scalar), TSR_ESHAPE, "solve: b");
    EXPECT_FAILS(tsr_solve(&z, a, F32(4, 3, 3)), TSR_ESHAPE, "solve");
    EXPECT_FAILS(tsr_lstsq(&z, a, scalar, 0), TSR_ESHAPE, "lstsq: b");
    EXPECT_FAILS(tsr_lstsq(&z, a, F32(4, 3, 3), 0), TSR_ESHAPE, "lstsq");
    EXPECT_FAILS(tsr_lstsq(&z, F32(3, 3), bits, 0), TSR_EDTYPE, "lstsq");
    EXPECT_FAILS(tsr_cross(&z, F32(3), F32(3), 1), TSR_EINDEX, "axis");
    EXPECT_FAILS(tsr_cross(&z, F32(3), F32(3), -2), TSR_EINDEX, "axis");
    EXPECT_FAILS(tsr_cross(&z, F32(2, 3), F32(4, 3), 1), TSR_ESHAPE, "broadcast");
    EXPECT_FAILS(tsr_cross(&z, F32(3), make(TSR_BOOL, TSR_SHAPE(3)), 0), TSR_EDTYPE, "cross");
    EXPECT_FAILS(tsr_matrix_norm(&z, make(TSR_C32, TSR_SHAPE(3, 3)), TSR_ORD_ONE, false), TSR_EDTYPE,
                 "matrix_norm");
    EXPECT_FAILS(tsr_matrix_power(&z, make(TSR_C32, TSR_SHAPE(3, 3)), 2), TSR_EDTYPE, "matrix_power");
    EXPECT_FAILS(
        tsr_einsum(&z, "i,i->", 2, (const tsr_tensor *const[]){ F32(3), make(TSR_BOOL, TSR_SHAPE(3)) }),
        TSR_EDTYPE, "einsum");
    drop();
}

/* One element, as often as asked. */
static tsr_tensor *repeated(tsr_dtype dtype, int ndim, const int64_t *shape)
{
    tsr_tensor *t = make(dtype, 0, NULL);
    EXPECT_OK(tsr_expand(&kept[nkept - 1], t, ndim, shape));
    return kept[nkept - 1];
}

/* Of more than 2^63 bytes, though the operands have fewer, or are repeated. */
TEST(test_results_of_more_bytes_than_there_are_addresses_are_refused)
{
    const int64_t many = INT64_MAX / 4;
    tsr_tensor *bits = repeated(TSR_BOOL, 1, &many), *floats = repeated(TSR_F32, 1, &many);
    EXPECT_TOO_MUCH(tsr_argsort(&z, bits, 0, false));
    EXPECT_TOO_MUCH(tsr_searchsorted(&z, F32(3), floats, false));
    EXPECT_TOO_MUCH(tsr_add(&z, F32(2, 1), floats));
    EXPECT_TOO_MUCH(tsr_permutation(&z, many, 1));
    EXPECT_TOO_MUCH(tsr_multinomial(&z, F32(3), many, true, 1));
    EXPECT_TOO_MUCH(tsr_diag(&z, F32(3), many));
    EXPECT_TOO_MUCH(tsr_outer(&z, floats, F32(3)));
    EXPECT_TOO_MUCH(tsr_kron(&z, floats, F32(3)));
    drop();
}

TEST(test_windows_beyond_all_numbers_are_refused)
{
    tsr_tensor *x = F32(1, 1, 5), *w = F32(1, 1, 3), *none = F32(1, 1, 0);
    const int64_t most = INT64_MAX;
    EXPECT_FAILS(tsr_conv1d(&z, x, w, NULL, &(tsr_conv){ .padding = { most / 2 + 1 } }), TSR_EOVERFLOW,
                 "padding");
    EXPECT_FAILS(tsr_conv1d(&z, x, w, NULL, &(tsr_conv){ .padding = { most / 2 } }), TSR_EOVERFLOW,
                 "padding");
    EXPECT_FAILS(tsr_conv1d(&z, x, w, NULL, &(tsr_conv){ .dilation = { most } }), TSR_EOVERFLOW, "dilation");
    EXPECT_FAILS(tsr_conv1d(&z, x, w, NULL, &(tsr_conv){ .dilation = { most }, .fit = TSR_CONV_SAME }),
                 TSR_EOVERFLOW, "dilation");
    EXPECT_FAILS(tsr_conv1d(&z, x, none, NULL, &(tsr_conv){ .fit = TSR_CONV_SAME }), TSR_ESHAPE, "is empty");
    EXPECT_FAILS(tsr_conv1d(&z, F32(5), w, NULL, &(tsr_conv){ .fit = TSR_CONV_SAME }), TSR_ESHAPE,
                 "conv1d: x");
    EXPECT_FAILS(tsr_conv_transpose1d(&z, x, w, NULL, &(tsr_conv){ .dilation = { most } }), TSR_EOVERFLOW,
                 "overflow");
    EXPECT_FAILS(tsr_conv_transpose1d(&z, x, w, NULL, &(tsr_conv){ .stride = { most } }), TSR_EOVERFLOW,
                 "overflow");
    EXPECT_FAILS(tsr_conv_transpose1d(&z, x, w, F32(2), NULL), TSR_ESHAPE, "bias");
    EXPECT_FAILS(tsr_conv_transpose1d(&z, x, w, NULL, &(tsr_conv){ .output_padding = { -1 } }), TSR_EINVAL,
                 "output_padding");
    EXPECT_FAILS(tsr_conv1d(&z, x, w, NULL, &(tsr_conv){ .output_padding = { 1 } }), TSR_EINVAL,
                 "output_padding");
    drop();
}

TEST(test_heads_that_weights_do_not_have_are_refused)
{
    tsr_tensor *x = F32(5, 4), *four = F32(4, 4), *six = F32(6, 4), *none = F32(0, 4);
    tsr_attention_weights w = { .q = none, .k = four, .v = four, .out = four };
    EXPECT_FAILS(tsr_multi_head_attention(&z, x, &w, 2, NULL, NULL), TSR_ESHAPE, "weights.q");
    w.q = four;
    w.k = none;
    EXPECT_FAILS(tsr_multi_head_attention(&z, x, &w, 2, NULL, NULL), TSR_ESHAPE, "weights.k");
    w.k = six; /* three heads, which two cannot share */
    EXPECT_FAILS(tsr_multi_head_attention(&z, x, &w, 2, NULL, NULL), TSR_ESHAPE, "weights.k");
    w.k = F32(3, 4);
    EXPECT_FAILS(tsr_multi_head_attention(&z, x, &w, 2, NULL, NULL), TSR_ESHAPE, "weights.k");
    drop();
}

TEST(test_losses_and_factors_that_do_not_fit_are_refused)
{
    tsr_tensor *bytes = make(TSR_I8, TSR_SHAPE(2, 3)), *other = make(TSR_I8, TSR_SHAPE(3, 2)),
               *described = NULL;
    tsr_desc d;
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(1), NULL));
    EXPECT_OK(tsr_declare(&described, &d, TSR_CPU, TSR_MEMORY_HOST));
    EXPECT_FAILS(tsr_nll_loss(&z, F32(2, 3), described, NULL, TSR_REDUCTION_MEAN, -100), TSR_ESTATE,
                 "target");
    EXPECT_FAILS(tsr_matmul_quantised(&z, bytes, F32(1), described, other, F32(1), NULL, NULL, TSR_F32),
                 TSR_ESTATE, "a_zero");
    EXPECT_FAILS(tsr_matmul_quantised(&z, bytes, F32(1), NULL, other, F32(1), NULL, described, TSR_F32),
                 TSR_ESTATE, "bias");
    EXPECT_FAILS(tsr_matmul_quantised(&z, bytes, F32(1, 1, 2, 1), NULL, other, F32(1), NULL, NULL, TSR_F32),
                 TSR_ESHAPE, "a_scale");
    EXPECT_FAILS(tsr_matmul_quantised(&z, bytes, F32(2, 2), NULL, other, F32(1), NULL, NULL, TSR_F32),
                 TSR_ESHAPE, "a_scale");
    EXPECT_FAILS(tsr_quantise(&z, F32(2, 3), F32(2), NULL, 1, TSR_I8), TSR_ESHAPE, "scale");
    EXPECT_FAILS(tsr_quantise(&z, F32(2, 3), F32(3), F32(2), 1, TSR_I8), TSR_EDTYPE, "zero_point");
    tsr_release(&described);
    drop();
}

TEST(test_gathers_of_different_ranks_are_not_inferred)
{
    tsr_desc x, index, result;
    EXPECT_OK(tsr_desc_init(&x, TSR_F32, TSR_SHAPE(2, 3), NULL));
    EXPECT_OK(tsr_desc_init(&index, TSR_I64, TSR_SHAPE(3), NULL));
    EXPECT_FAILS(tsr_infer(&result, TSR_OP_GATHER, 2, (const tsr_desc *const[]){ &x, &index },
                           &(tsr_axis_params){ 0 }), TSR_ESHAPE, "differ in rank");
}

TEST(test_losses_without_classes_are_not_inferred)
{
    const tsr_loss_params params = { .reduction = TSR_REDUCTION_MEAN };
    tsr_desc x, target, result;
    EXPECT_OK(tsr_desc_init(&x, TSR_F32, TSR_SHAPE(2, 0), NULL));
    EXPECT_OK(tsr_desc_init(&target, TSR_I64, TSR_SHAPE(2), NULL));
    EXPECT_FAILS(tsr_infer(&result, TSR_OP_NLL_LOSS, 2, (const tsr_desc *const[]){ &x, &target }, &params),
                 TSR_ESHAPE, "no classes");
}

TEST(test_tables_and_tensors_that_are_not_there_are_named)
{
    tsr_tensor *x = F32(2, 1, 4), *at = I64(2), *table = F32(8, 2), *wide = F32(8, 3), *described = NULL,
               none = { 0 };
    tsr_desc d;
    EXPECT_OK(tsr_desc_init(&d, TSR_I64, TSR_SHAPE(2), NULL));
    EXPECT_OK(tsr_declare(&described, &d, TSR_CPU, TSR_MEMORY_HOST));
    EXPECT_FAILS(tsr_rope_with(&z, x, at, wide, table, TSR_ROPE_HALVES), TSR_ESHAPE, "sin_table");
    EXPECT_FAILS(tsr_rope_with(&z, x, at, table, wide, TSR_ROPE_HALVES), TSR_ESHAPE, "cos_table");
    EXPECT_FAILS(tsr_rope_with(&z, x, described, table, table, TSR_ROPE_HALVES), TSR_ESTATE, "positions");
    EXPECT_FAILS(tsr_copy_async(at, described), TSR_ESTATE, "src");
    EXPECT_FAILS(tsr_to(&z, &none, TSR_CPU), TSR_EDTYPE, "t is no tensor");
    EXPECT_FAILS(tsr_to_host(&z, &none), TSR_EDTYPE, "t is no tensor");
    tsr_release(&described);
    drop();
}

TEST(test_einsum_names_the_dims_that_differ)
{
    tsr_tensor *a = F32(2, 5, 3), *b = F32(2, 3), *c = F32(4, 3);
    EXPECT_FAILS(tsr_einsum(&z, "Aj,Aj->j", 2, (const tsr_tensor *const[]){ b, c }), TSR_ESHAPE, "A");
    EXPECT_FAILS(tsr_einsum(&z, "i...j,j->i", 2, (const tsr_tensor *const[]){ a, F32(4) }), TSR_ESHAPE, "j");
    EXPECT_FAILS(tsr_einsum(&z, "j,i...j->i", 2, (const tsr_tensor *const[]){ F32(4), a }), TSR_ESHAPE, "j");
    EXPECT_FAILS(tsr_einsum(&z, "i,i...j->i", 2, (const tsr_tensor *const[]){ F32(4), a }), TSR_ESHAPE, "i");
    EXPECT_FAILS(tsr_einsum(&z, "i...j,...j->i", 2, (const tsr_tensor *const[]){ a, c }), TSR_ESHAPE,
                 "einsum");
    drop();
}

TEST(test_infinite_parts_are_close_to_nothing_else)
{
    const tsr_c128 plain = { 1, 2 }, others[] = { { 1, INFINITY }, { -INFINITY, 2 } };
    for (int i = 0; i < 2; i++)
        for (int swap = 0; swap < 2; swap++) {
            bool same = true;
            EXPECT_OK(tsr_from_data(&z, TSR_C128, TSR_SHAPE(1), swap ? &plain : &others[i]));
            EXPECT_OK(tsr_from_data(&y, TSR_C128, TSR_SHAPE(1), swap ? &others[i] : &plain));
            EXPECT_OK(tsr_allclose(&same, z, y, &(tsr_close_opts){ .atol = 1e300, .rtol = 1 }, NULL));
            EXPECT(!same);
            tsr_release_all(&z, &y);
        }
}

TEST(test_nothing_is_made_of_no_data)
{
    EXPECT_OK(tsr_from_data(&z, TSR_F32, TSR_SHAPE(0), NULL));
    EXPECT(tsr_numel(z) == 0);
    tsr_release(&z);
    EXPECT_FAILS(tsr_from_data(&z, TSR_F32, TSR_SHAPE(2), NULL), TSR_ENULL, "data is NULL");
    drop();
}
