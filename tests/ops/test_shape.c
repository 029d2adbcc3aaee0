/* test_shape.c - tiles, pads and diagonals: what is particular. That each is right is for opcheck. */
#include "test.h"

/* By hand ------------------------------------------------------------------------------------ */

static void expect_i32(const tsr_tensor *t, int n, const int32_t *numbers)
{
    int32_t got[64] = { 0 };
    EXPECT(tsr_numel(t) == n && tsr_store(got, (size_t)n * sizeof *got, t) == TSR_OK);
    for (int i = 0; i < n; i++)
        EXPECT_MSG(got[i] == numbers[i], "element %d is %d, not %d", i, got[i], numbers[i]);
}

TEST(test_pad_looks_as_the_header_draws_it)
{
    tsr_tensor *t = NULL, *y = NULL;
    static const int32_t drawn[][11] = {
        { 9, 9, 9, 9, 1, 2, 3, 9, 9, 9, 9 }, { 1, 1, 1, 1, 1, 2, 3, 3, 3, 3, 3 },
        { 1, 2, 3, 2, 1, 2, 3, 2, 1, 2, 3 }, { 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1 },
    };
    EXPECT_OK(tsr_from_data(&t, TSR_I32, TSR_SHAPE(3), (int32_t[]){ 1, 2, 3 }));
    for (int mode = 0; mode < 4; mode++) {
        EXPECT_OK(tsr_pad(&y, t, 1, (int64_t[]){ 4 }, (int64_t[]){ 4 }, (tsr_pad_mode)mode, TSR_SCALAR(9)));
        expect_i32(y, 11, drawn[mode]);
    }
    tsr_release_all(&t, &y);
}

/* The stride of a dim of size 1 is any number: a product with it may not fit. */
TEST(test_pad_takes_no_step_along_a_dim_of_size_1)
{
    tsr_tensor *t = NULL, *y = NULL;
    EXPECT_OK(tsr_from_data(&t, TSR_I32, TSR_SHAPE(1, 3), (int32_t[]){ 1, 2, 3 }));
    t->stride[0] = INT64_MIN / 2 + 7;
    EXPECT_OK(tsr_pad(&y, t, 2, (int64_t[]){ 1, 0 }, (int64_t[]){ 0, 1 }, TSR_PAD_CONSTANT, TSR_SCALAR(9)));
    expect_i32(y, 8, (const int32_t[]){ 9, 9, 9, 9, 1, 2, 3, 9 });
    tsr_release_all(&t, &y);
}

/* Which of n indices stands i places on from the first of them; -1: none. */
static int64_t padded_with(tsr_pad_mode mode, int64_t i, int64_t n)
{
    const int64_t period = mode == TSR_PAD_WRAP ? n : n > 1 ? 2 * n - 2 : 1;
    if (i >= 0 && i < n) return i;
    if (mode == TSR_PAD_CONSTANT) return -1;
    if (mode == TSR_PAD_EDGE) return i < 0 ? 0 : n - 1;
    i = (i % period + period) % period;
    return i < n ? i : period - i;
}

/* The row of t whose elements are in row i of y; NULL: of none. Both are i32 of four dims. */
static const int32_t *row_of(const tsr_tensor *t, const tsr_tensor *y, int64_t i, const int64_t *ahead,
                             tsr_pad_mode mode)
{
    const int32_t *row = t->data;
    for (int d = 2; d >= 0; i /= y->shape[d--]) {
        const int64_t at = padded_with(mode, i % y->shape[d] - ahead[d], t->shape[d]);
        if (at < 0) return NULL;
        row += at * t->stride[d];
    }
    return row;
}

/* How many elements of y are not those of t, padded with 101. */
static int count_wrong(const tsr_tensor *y, const tsr_tensor *t, const int64_t *ahead, tsr_pad_mode mode)
{
    const int64_t cols = y->shape[3];
    int64_t column[128];
    int wrong = 0;
    for (int64_t k = 0; k < cols; k++) column[k] = padded_with(mode, k - ahead[3], t->shape[3]);
    for (int64_t i = 0; i * cols < tsr_numel(y); i++) {
        const int32_t *row = row_of(t, y, i, ahead, mode), *here = (const int32_t *)y->data + i * cols;
        for (int64_t k = 0; k < cols; k++)
            wrong += here[k] != (row && column[k] >= 0 ? row[column[k] * t->stride[3]] : 101);
    }
    return wrong;
}

/* Rows that begin anywhere in a line, of a result that is more than a cache holds; with dims ahead of them
 * that are padded or not. */
TEST(test_large_pads_are_right_for_every_size_and_stride)
{
    static const tsr_dtype dtypes[] = { TSR_U8, TSR_I16, TSR_I32, TSR_I64, TSR_C128 };
    static const int64_t ahead[][4] = { { 0, 1, 2, 1 }, { 0, 0, 2, 1 }, { 0, 0, 0, 9 } };
    static const int64_t behind[][4] = { { 1, 0, 1, 3 }, { 0, 0, 1, 3 }, { 0, 0, 0, 5 } };
    static const int64_t cols[] = { 1, 7, 31, 56, 97 };
    for (int i = 0; i < 5 * 2 * 3 * 4; i++) {
        const int k = i % 5, flipped = i / 5 % 2, which = i / 10 % 3;
        const tsr_pad_mode mode = (tsr_pad_mode)(i / 30);
        tsr_tensor *t = NULL, *bytes = NULL, *y = NULL, *got = NULL;
        const int64_t size = (int64_t)tsr_dtype_size(dtypes[k]), rows = (1 << 20) / (cols[k] * size) / 12 + 1;
        EXPECT_OK(tsr_integers(&bytes, TSR_I32, TSR_SHAPE(3, 4, rows, cols[k]), 0, 100, 5));
        EXPECT_OK(tsr_cast(&t, bytes, dtypes[k]));
        if (flipped) EXPECT_OK(tsr_flip(&t, t, 1, (const int[]){ 2 }));
        if (flipped) EXPECT_OK(tsr_flip(&bytes, bytes, 1, (const int[]){ 2 }));
        EXPECT_OK(tsr_pad(&y, t, 4, ahead[which], behind[which], mode, TSR_SCALAR(101)));
        EXPECT_OK(tsr_cast(&got, y, TSR_I32));
        const int wrong = got ? count_wrong(got, bytes, ahead[which], mode) : -1;
        EXPECT_MSG(wrong == 0, "%d wrong of %s, flipped %d, mode %d", wrong, tsr_dtype_name(dtypes[k]),
                   flipped, (int)mode);
        tsr_release_all(&t, &bytes, &y, &got);
    }
}

/* A result of boxes that are joined one by one, of every dtype's size, in the middle and at the end. */
TEST(test_large_joins_are_right_along_every_axis)
{
    static const tsr_dtype dtypes[] = { TSR_I8, TSR_I16, TSR_I32, TSR_I64, TSR_C128 };
    for (int i = 0; i < 5 * 2 * 4; i++) {
        const bool stacked = i % 2;
        const int axis = i / 2 % 4;
        const tsr_dtype dtype = dtypes[i / 8];
        tsr_tensor *numbers = NULL, *part[3] = { NULL }, *z = NULL, *back[3] = { NULL };
        bool same = false;
        for (int k = 0; k < 3; k++) {
            int64_t shape[] = { 5, 40, 30, 7 };
            if (!stacked) shape[axis] += 3 * k - 3;
            EXPECT_OK(tsr_integers(&numbers, TSR_I8, 4, shape, -100, 100, (uint64_t)(i + k)));
            EXPECT_OK(tsr_cast(&part[k], numbers, dtype));
            tsr_release(&numbers);
            if (k == 1) EXPECT_OK(tsr_flip(&part[k], part[k], 1, (const int[]){ 1 }));
        }
        const tsr_tensor *const in[] = { part[0], part[1], part[2] };
        EXPECT_OK(stacked ? tsr_stack(&z, 3, in, axis) : tsr_concat(&z, 3, in, axis));
        for (int64_t k = 0, at = 0; k < 3; at += stacked ? 1 : part[k]->shape[axis], k++) {
            if (stacked) EXPECT_OK(tsr_select(&back[k], z, axis, at));
            else EXPECT_OK(tsr_slice(&back[k], z, axis, at, at + part[k]->shape[axis], 1));
            EXPECT_OK(tsr_equal(&same, back[k], part[k]));
            EXPECT_MSG(same, "part %d of %s along %d, stacked %d", (int)k, tsr_dtype_name(dtype), axis,
                       stacked);
        }
        for (int k = 0; k < 3; k++) tsr_release_all(&part[k], &back[k]);
        tsr_release(&z);
    }
}

TEST(test_the_highest_rank_tiles_and_repeats_too)
{
    int64_t shape[TSR_MAX_NDIM], reps[TSR_MAX_NDIM];
    tsr_tensor *t = NULL, *y = NULL;
    for (int i = 0; i < TSR_MAX_NDIM; i++) shape[i] = reps[i] = 1;
    shape[0] = shape[TSR_MAX_NDIM - 1] = 2;
    reps[0] = 2;
    reps[TSR_MAX_NDIM - 1] = 3;
    EXPECT_OK(tsr_from_data(&t, TSR_I32, TSR_MAX_NDIM, shape, (int32_t[]){ 1, 2, 3, 4 }));
    EXPECT_OK(tsr_tile(&y, t, TSR_MAX_NDIM, reps));
    expect_i32(y, 24, (int32_t[]){ 1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4, 1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4 });
    tsr_release(&y);
    EXPECT_OK(tsr_repeat(&y, t, 2, -1));
    expect_i32(y, 8, (int32_t[]){ 1, 1, 2, 2, 3, 3, 4, 4 });
    tsr_release(&y);
    EXPECT_OK(tsr_repeat(&y, t, 2, 0));
    expect_i32(y, 8, (int32_t[]){ 1, 2, 1, 2, 3, 4, 3, 4 });
    tsr_release_all(&y, &t);
}

TEST(test_scalars_are_taken_where_there_is_sense_in_it)
{
    tsr_tensor *t = NULL, *y = NULL;
    EXPECT_OK(tsr_from_data(&t, TSR_I32, TSR_SCALAR_SHAPE, (int32_t[]){ 7 }));
    EXPECT_OK(tsr_tile(&y, t, 1, (int64_t[]){ 3 }));
    expect_i32(y, 3, (int32_t[]){ 7, 7, 7 });
    tsr_release(&y);
    EXPECT_OK(tsr_pad(&y, t, 0, NULL, NULL, TSR_PAD_EDGE, TSR_SCALAR(0)));
    expect_i32(y, 1, (int32_t[]){ 7 });
    EXPECT_OK(tsr_roll(&y, t, 0, NULL, NULL));
    EXPECT_FAILS(tsr_repeat(&y, t, 2, 0), TSR_EINDEX, "repeat: axis 0");
    EXPECT_FAILS(tsr_tril(&y, t, 0), TSR_ESHAPE, "tril");
    EXPECT_FAILS(tsr_diag(&y, t, 0), TSR_ESHAPE, "diag");
    tsr_release_all(&y, &t);
}

TEST(test_bad_input_is_refused_in_words)
{
    tsr_tensor *t = NULL, *y = NULL, *small = NULL, *v = NULL, *fixed = NULL,
               *spread = NULL;
    const int64_t one[] = { 1, 1 }, minus[] = { -1, 0 }, huge[] = { INT64_MAX, 2 };
    tsr_desc d;
    EXPECT_OK(tsr_zeros(&t, TSR_F32, TSR_SHAPE(2, 3)));
    EXPECT_OK(tsr_zeros(&small, TSR_F32, TSR_SHAPE(2, 2)));
    EXPECT_OK(tsr_zeros(&v, TSR_F32, TSR_SHAPE(3)));
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(2, 3), NULL));
    EXPECT_OK(tsr_wrap_const(&fixed, (float[6]){ 0 }, &d));
    EXPECT_OK(tsr_expand(&spread, v, TSR_SHAPE(2, 3)));

    EXPECT_FAILS(tsr_tile(&y, t, 2, NULL), TSR_ENULL, "reps");
    EXPECT_FAILS(tsr_tile(&y, t, 17, one), TSR_EINVAL, "tile");
    EXPECT_FAILS(tsr_tile(&y, t, 2, minus), TSR_EINVAL, "tile: -1 times along dim 0");
    EXPECT_FAILS(tsr_tile(&y, t, 2, huge), TSR_EOVERFLOW, "tile");
    EXPECT_FAILS(tsr_tile(&small, t, 2, one), TSR_ESHAPE, "tile: the result is f32(2, 3 | 3, 1)");
    EXPECT_FAILS(tsr_tile(&fixed, t, 2, one), TSR_EREADONLY, "tile");
    EXPECT_FAILS(tsr_tile(&spread, t, 2, one), TSR_EOVERLAP, "tile");

    EXPECT_FAILS(tsr_repeat(&y, t, -1, 0), TSR_EINVAL, "repeat: -1 times");
    EXPECT_FAILS(tsr_repeat(&y, t, INT64_MAX, 0), TSR_EOVERFLOW, "repeat");
    EXPECT_FAILS(tsr_repeat(&y, t, 1, 2), TSR_EINDEX, "repeat: axis 2 of f32(2, 3 | 3, 1)");

    EXPECT_FAILS(tsr_roll(&y, t, 1, NULL, (int[]){ 0 }), TSR_ENULL, "roll: shifts");
    EXPECT_FAILS(tsr_roll(&y, t, 1, one, NULL), TSR_ENULL, "roll: axes");
    EXPECT_FAILS(tsr_roll(&y, t, -1, one, (int[]){ 0 }), TSR_EINVAL, "roll");
    EXPECT_FAILS(tsr_roll(&y, t, 1, one, (int[]){ -3 }), TSR_EINDEX, "roll: axes -3");

    EXPECT_FAILS(tsr_pad(&y, t, 2, NULL, one, TSR_PAD_EDGE, TSR_SCALAR(0)), TSR_ENULL, "pad: before");
    EXPECT_FAILS(tsr_pad(&y, t, 2, one, NULL, TSR_PAD_EDGE, TSR_SCALAR(0)), TSR_ENULL, "pad: after");
    EXPECT_FAILS(tsr_pad(&y, t, 1, one, one, TSR_PAD_EDGE, TSR_SCALAR(0)), TSR_ESHAPE,
                 "pad: lengths for 1 dims");
    EXPECT_FAILS(tsr_pad(&y, t, 2, minus, one, TSR_PAD_EDGE, TSR_SCALAR(0)), TSR_EINVAL, "pad: -1 before");
    EXPECT_FAILS(tsr_pad(&y, t, 2, one, huge, TSR_PAD_EDGE, TSR_SCALAR(0)), TSR_EOVERFLOW, "pad: dim 0");
    EXPECT_FAILS(tsr_pad(&y, t, 2, one, one, (tsr_pad_mode)4, TSR_SCALAR(0)), TSR_EINVAL,
                 "pad: 4 is no mode");
    EXPECT_FAILS(tsr_pad(&y, t, 2, one, one, (tsr_pad_mode)-1, TSR_SCALAR(0)), TSR_EINVAL, "no mode");
    EXPECT_FAILS(tsr_pad(&y, t, 2, one, one, TSR_PAD_CONSTANT, (tsr_scalar){ .dtype = TSR_F16 }), TSR_EDTYPE,
                 "");

    EXPECT_FAILS(tsr_triu(&y, v, 0), TSR_ESHAPE, "triu: t: rank must be 2 or more");
    EXPECT_FAILS(tsr_diag(&y, v, INT64_MIN), TSR_EOVERFLOW, "diag");
    EXPECT_FAILS(tsr_diag(&y, v, INT64_MAX), TSR_EOVERFLOW, "diag");

    tsr_tensor *outs[2] = { NULL, NULL };
    EXPECT_FAILS(tsr_meshgrid(NULL, 1, (const tsr_tensor *const[]){ v }, TSR_MESH_IJ), TSR_ENULL,
                 "meshgrid: outs");
    EXPECT_FAILS(tsr_meshgrid(outs, 1, NULL, TSR_MESH_IJ), TSR_ENULL, "meshgrid: vectors");
    EXPECT_FAILS(tsr_meshgrid(outs, 0, (const tsr_tensor *const[]){ v }, TSR_MESH_IJ), TSR_EINVAL,
                 "0 vectors");
    EXPECT_FAILS(tsr_meshgrid(outs, 17, (const tsr_tensor *const[]){ v }, TSR_MESH_IJ), TSR_EINVAL,
                 "17 vectors");
    EXPECT_FAILS(tsr_meshgrid(outs, 2, (const tsr_tensor *const[]){ v, NULL }, TSR_MESH_IJ), TSR_ENULL,
                 "vector 1");
    EXPECT_FAILS(tsr_meshgrid(outs, 2, (const tsr_tensor *const[]){ v, t }, TSR_MESH_XY), TSR_ESHAPE,
                 "vector 1 is f32(2, 3 | 3, 1)");
    EXPECT_FAILS(tsr_meshgrid(outs, 1, (const tsr_tensor *const[]){ v }, (tsr_mesh_order)2), TSR_EINVAL,
                 "no order");
    EXPECT(!y && !outs[0] && !outs[1]);

    tsr_tensor *all[] = { t, small, v, fixed, spread };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tsr_release(&all[i]);
}

TEST(test_padding_nothing_needs_a_constant)
{
    tsr_tensor *t = NULL, *y = NULL;
    const int64_t none[] = { 0, 0 }, two[] = { 2, 0 };
    EXPECT_OK(tsr_zeros(&t, TSR_I32, TSR_SHAPE(0, 2)));
    EXPECT_FAILS(tsr_pad(&y, t, 2, two, none, TSR_PAD_WRAP, TSR_SCALAR(5)), TSR_ESHAPE,
                 "pad: dim 0 of i32(0, 2");
    EXPECT_OK(tsr_pad(&y, t, 2, two, none, TSR_PAD_CONSTANT, TSR_SCALAR(5)));
    expect_i32(y, 4, (int32_t[]){ 5, 5, 5, 5 });
    tsr_release(&y);
    EXPECT_OK(tsr_pad(&y, t, 2, none, two, TSR_PAD_CONSTANT, TSR_SCALAR(5)));
    tsr_release(&y);
    EXPECT_OK(tsr_pad(&y, t, 2, none, none, TSR_PAD_REFLECT, TSR_SCALAR(5)));
    EXPECT(tsr_numel(y) == 0);
    tsr_release_all(&y, &t);
}
