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

/* Rows that begin anywhere in a line, of a result that is more than a cache holds. */
TEST(test_large_pads_are_right_for_every_size_and_stride)
{
    static const tsr_dtype dtypes[] = { TSR_U8, TSR_I16, TSR_I32, TSR_I64, TSR_C128 };
    static const int64_t ahead[] = { 0, 1, 2, 1 }, behind[] = { 1, 0, 1, 3 }, cols[] = { 1, 7, 31, 56, 97 };
    for (int k = 0; k < 5; k++)
        for (int flipped = 0; flipped < 2; flipped++) {
            tsr_tensor *t = NULL, *bytes = NULL, *y = NULL, *got = NULL;
            const int64_t size = (int64_t)tsr_dtype_size(dtypes[k]),
                          rows = (1 << 20) / (cols[k] * size) / 12 + 1;
            const int64_t shape[] = { 3, 4, rows, cols[k] };
            EXPECT_OK(tsr_integers(&bytes, TSR_I32, 4, shape, 0, 100, 5));
            EXPECT_OK(tsr_cast(&t, bytes, dtypes[k]));
            if (flipped) EXPECT_OK(tsr_flip(&t, t, 1, (const int[]){ 2 }));
            if (flipped) EXPECT_OK(tsr_flip(&bytes, bytes, 1, (const int[]){ 2 }));
            EXPECT_OK(tsr_pad(&y, t, 4, ahead, behind, TSR_PAD_CONSTANT, TSR_SCALAR(101)));
            EXPECT_OK(tsr_cast(&got, y, TSR_I32));
            int wrong = 0;
            for (int64_t a = 0; got && a < 4; a++)
                for (int64_t b = 0; b < 5; b++)
                    for (int64_t c = 0; c < rows + 3; c++)
                        for (int64_t d = 0; d < cols[k] + 4; d++) {
                            const bool inside =
                                a < 3 && b >= 1 && c >= 2 && c < rows + 2 && d >= 1 && d < cols[k] + 1;
                            const int there = inside ? TSR_AT(int32_t, bytes, a, b - 1, c - 2, d - 1) : 101;
                            wrong += TSR_AT(int32_t, got, a, b, c, d) != there;
                        }
            EXPECT_MSG(wrong == 0, "%d wrong of %s, flipped %d", wrong, tsr_dtype_name(dtypes[k]), flipped);
            tsr_release_all(&t, &bytes, &y, &got);
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

    EXPECT_FAILS(tsr_triu(&y, v, 0), TSR_ESHAPE, "triu: f32(3 | 1) holds no matrix");
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

TEST(test_described_and_placed_results_are_filled)
{
    tsr_tensor *t = NULL, *y = NULL, place, *p = tsr_place_none(&place);
    tsr_desc d;
    EXPECT_OK(tsr_from_data(&t, TSR_I32, TSR_SHAPE(3), (int32_t[]){ 1, 2, 3 }));
    EXPECT_OK(tsr_desc_init(&d, TSR_I32, TSR_SHAPE(3), (int64_t[]){ -2 }));
    EXPECT_OK(tsr_declare(&y, &d, TSR_CPU, TSR_MEMORY_HOST));
    EXPECT_OK(tsr_roll(&y, t, 1, (int64_t[]){ 1 }, (int[]){ 0 }));
    expect_i32(y, 3, (int32_t[]){ 3, 1, 2 });
    EXPECT_OK(tsr_repeat(&p, t, 2, 0));
    EXPECT(p == &place);
    expect_i32(p, 6, (int32_t[]){ 1, 1, 2, 2, 3, 3 });
    tsr_release_all(&p, &y, &t);
}

/* Parts and results that are windows of one block: as if the parts were copied first. */
TEST(test_a_joined_result_may_overlap_its_parts)
{
    for (int64_t i = 0; i < 60; i++) {
        const bool stacked = i % 2;
        const int axis = (int)(i / 2 % 2);
        const int64_t cols = axis && !stacked ? 12 : 6;
        tsr_tensor *block = NULL, *part[3] = { NULL }, *copy[3] = { NULL }, *z = NULL, *want = NULL;
        bool same = false;
        EXPECT_OK(tsr_integers(&block, TSR_I16, TSR_SHAPE(400), 0, 30000, (uint64_t)i));
        for (int k = 0; k < 3; k++) {
            const int64_t steps[] = { 9, k == 1 ? -2 : 2 };
            EXPECT_OK(tsr_as_strided(&part[k], block, TSR_SHAPE(4, 4), steps, (i * 7 + k * 11) % 150 + 20));
            EXPECT_OK(tsr_clone(&copy[k], part[k]));
        }
        const int64_t flat[] = { axis ? 4 : 12, axis ? 12 : 4 }, deep[] = { axis ? 4 : 3, axis ? 3 : 4, 4 };
        const int64_t strides[] = { stacked ? 40 : cols + 13, stacked ? 9 : 1, 1 };
        EXPECT_OK(tsr_as_strided(&z, block, stacked ? 3 : 2, stacked ? deep : flat, strides, i % 9));
        const tsr_tensor *const in[] = { part[0], part[1], part[2] },
                         *const own[] = { copy[0], copy[1], copy[2] };
        EXPECT_OK(stacked ? tsr_stack(&want, 3, own, axis) : tsr_concat(&want, 3, own, axis));
        EXPECT_OK(stacked ? tsr_stack(&z, 3, in, axis) : tsr_concat(&z, 3, in, axis));
        EXPECT_OK(tsr_equal(&same, z, want));
        EXPECT_MSG(same, "case %d", (int)i);
        tsr_tensor *all[] = { block, part[0], part[1], part[2], copy[0], copy[1], copy[2], z, want };
        for (int k = 0; k < 9; k++) tsr_release(&all[k]);
    }
}
