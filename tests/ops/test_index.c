/* test_index.c - elements by number: what is particular. That each op is right is for opcheck. */
#include "test.h"

/* By hand ------------------------------------------------------------------------------------- */

static void expect_f32(const tsr_tensor *t, int n, const float *numbers)
{
    float got[64] = { 0 };
    EXPECT(tsr_numel(t) == n && tsr_store(got, (size_t)n * sizeof *got, t) == TSR_OK);
    for (int i = 0; i < n; i++)
        EXPECT_MSG(got[i] == numbers[i], "element %d is %g, not %g", i, got[i], numbers[i]);
}

TEST(test_the_last_of_several_is_set_and_all_are_added)
{
    tsr_tensor *t = NULL, *at = NULL, *src = NULL, *y = NULL;
    EXPECT_OK(tsr_from_data(&t, TSR_F32, TSR_SHAPE(3), (float[]){ 10, 20, 30 }));
    EXPECT_OK(tsr_from_data(&at, TSR_I8, TSR_SHAPE(4), (int8_t[]){ 0, -1, 0, 2 }));
    EXPECT_OK(tsr_from_data(&src, TSR_F32, TSR_SHAPE(4), (float[]){ 1, 2, 3, 4 }));
    EXPECT_OK(tsr_scatter(&y, t, at, src, 0, TSR_SCATTER_SET));
    expect_f32(y, 3, (float[]){ 3, 20, 4 });
    EXPECT_OK(tsr_scatter(&y, t, at, src, 0, TSR_SCATTER_ADD));
    expect_f32(y, 3, (float[]){ 14, 20, 36 });
    EXPECT_OK(tsr_scatter(&y, t, at, src, 0, TSR_SCATTER_MAX));
    expect_f32(y, 3, (float[]){ 10, 20, 30 });
    EXPECT_OK(tsr_scatter(&y, t, at, TSR_NUMBER(15), 0, TSR_SCATTER_MAX));
    expect_f32(y, 3, (float[]){ 15, 20, 30 });
    EXPECT_FAILS(tsr_scatter(&t, t, at, t, 0, TSR_SCATTER_SET), TSR_ESHAPE, "longer than in src f32(3 | 1)");
    EXPECT_OK(tsr_index_add(&t, t, at, src, 0));
    expect_f32(t, 3, (float[]){ 14, 20, 36 });
    tsr_tensor *all[] = { t, at, src, y };
    for (int i = 0; i < 4; i++) tsr_release(&all[i]);
}

TEST(test_bad_input_is_refused_in_words)
{
    tsr_tensor *t = NULL, *at = NULL, *y = NULL, *f = NULL, *mask = NULL, *z = NULL,
               *deep = NULL;
    tsr_tensor *given = NULL, *v = NULL;
    int64_t ones[TSR_MAX_NDIM];
    for (int i = 0; i < TSR_MAX_NDIM; i++) ones[i] = 1;
    EXPECT_OK(tsr_zeros(&t, TSR_F32, TSR_SHAPE(5)));
    EXPECT_OK(tsr_from_data(&at, TSR_I32, TSR_SHAPE(3), (int32_t[]){ 0, 1, 7 }));
    EXPECT_OK(tsr_zeros(&f, TSR_F64, TSR_SHAPE(3)));
    EXPECT_OK(tsr_zeros(&z, TSR_C32, TSR_SHAPE(3)));
    EXPECT_OK(tsr_zeros(&mask, TSR_BOOL, TSR_SHAPE(4)));
    EXPECT_OK(tsr_zeros(&deep, TSR_U8, TSR_MAX_NDIM, ones));
    EXPECT_OK(tsr_full(&given, TSR_F32, TSR_SHAPE(3), TSR_SCALAR(9)));
    EXPECT_OK(tsr_zeros(&v, TSR_F32, TSR_SHAPE(3)));

    EXPECT_FAILS(tsr_take(&given, t, at, 0), TSR_EINDEX,
                 "take: index 7 at (2) is outside dim 0 of f32(5 | 1), which has 5");
    expect_f32(given, 3, (float[]){ 9, 9, 9 });
    EXPECT_FAILS(tsr_take_along_axis(&given, t, at, 0), TSR_EINDEX, "take_along_axis: index 7 at (2)");
    EXPECT_FAILS(tsr_gather(&given, t, at, 0), TSR_EINDEX, "gather: index 7 at (2)");
    EXPECT_FAILS(tsr_scatter(&given, given, at, v, 0, TSR_SCATTER_SET), TSR_EINDEX,
                 "scatter: index 7 at (2)");
    EXPECT_FAILS(tsr_index_add(&given, given, at, v, 0), TSR_EINDEX, "index_add: index 7 at (2)");
    EXPECT_FAILS(tsr_one_hot(&y, at, 7, TSR_F32), TSR_EINDEX,
                 "one_hot: index 7 at (2) is outside dim 1 of f32(3, 7");
    expect_f32(given, 3, (float[]){ 9, 9, 9 });

    EXPECT_FAILS(tsr_take(&y, t, f, 0), TSR_EDTYPE,
                 "take: index: dtype must be integer, but index is f64(3 | 1)");
    EXPECT_FAILS(tsr_take(&y, t, mask, 0), TSR_EDTYPE, "integer");
    EXPECT_FAILS(tsr_take(&y, t, at, 1), TSR_EINDEX, "take: axis 1 of f32(5 | 1)");
    EXPECT_FAILS(tsr_take(&y, deep, deep, 0), TSR_EINVAL, "too many dims");
    EXPECT_FAILS(tsr_embedding(&y, t, at), TSR_ESHAPE, "but weight is f32(5 | 1)");
    EXPECT_FAILS(tsr_take_along_axis(&y, t, deep, 0), TSR_ESHAPE, "ranks differ");
    EXPECT_FAILS(tsr_gather(&y, t, at, -2), TSR_EINDEX, "gather: axis -2");
    EXPECT_FAILS(tsr_scatter(&y, NULL, at, t, 0, TSR_SCATTER_SET), TSR_ENULL, "scatter: t");
    EXPECT_FAILS(tsr_scatter(&y, t, at, NULL, 0, TSR_SCATTER_SET), TSR_ENULL, "scatter: src");
    EXPECT_FAILS(tsr_scatter(&y, t, at, f, 0, TSR_SCATTER_SET), TSR_EDTYPE,
                 "scatter: t is f32(5 | 1), but src is f64");
    EXPECT_FAILS(tsr_scatter(&y, t, at, t, 0, (tsr_scatter_mode)3), TSR_EINVAL, "scatter: 3 is no mode");
    EXPECT_FAILS(tsr_scatter(&y, z, at, z, 0, TSR_SCATTER_ADD), TSR_EDTYPE, "scatter: add does not take c32");
    EXPECT_FAILS(tsr_scatter(&y, z, at, z, 0, TSR_SCATTER_MAX), TSR_EDTYPE, "scatter: max does not take c32");
    EXPECT_FAILS(tsr_scatter(&y, at, at, TSR_NUMBER(1.5), 0, TSR_SCATTER_SET), TSR_EDTYPE,
                 "scatter: t is i32(3 | 1), but src is f64()");
    EXPECT_FAILS(tsr_scatter(&y, t, deep, t, 0, TSR_SCATTER_SET), TSR_ESHAPE, "ranks differ");
    EXPECT_FAILS(tsr_index_add(&y, NULL, at, t, 0), TSR_ENULL, "index_add: t");
    EXPECT_FAILS(tsr_index_add(&y, t, at, NULL, 0), TSR_ENULL, "index_add: src");
    EXPECT_FAILS(tsr_index_add(&y, t, at, t, 0), TSR_ESHAPE,
                 "index_add: dim 0 of src f32(5 | 1) is 5, not 3");
    EXPECT_FAILS(tsr_index_add(&y, mask, at, mask, 0), TSR_EDTYPE,
                 "index_add: t: dtype must be real/c64/c128");
    EXPECT_FAILS(tsr_one_hot(&y, at, -1, TSR_F32), TSR_EINVAL, "one_hot: depth is -1");
    EXPECT_FAILS(tsr_one_hot(&y, at, 8, (tsr_dtype)99), TSR_EDTYPE, "one_hot: 99 is no dtype");
    EXPECT_FAILS(tsr_one_hot(&y, deep, 8, TSR_F32), TSR_EINVAL, "one_hot");
    EXPECT_FAILS(tsr_one_hot(&y, at, INT64_MAX, TSR_F32), TSR_EOVERFLOW, "one_hot");
    EXPECT_FAILS(tsr_masked_select(&y, t, at), TSR_EDTYPE,
                 "masked_select: mask is i32(3 | 1), and must be bool");
    EXPECT_FAILS(tsr_masked_select(&y, t, mask), TSR_ESHAPE,
                 "masked_select: t f32(5 | 1) and mask bool(4 | 1)");
    EXPECT_FAILS(tsr_masked_fill(&y, t, mask, TSR_SCALAR(0)), TSR_ESHAPE,
                 "masked_fill: mask bool(4 | 1) does not");
    EXPECT_FAILS(tsr_masked_fill(&y, mask, mask, (tsr_scalar){ .dtype = TSR_F16 }), TSR_EDTYPE, "");
    EXPECT_FAILS(tsr_nonzero(&given, t), TSR_EDTYPE, "nonzero: the result is i64(0, 1");
    EXPECT(y == NULL);

    tsr_tensor *all[] = { t, at, f, mask, z, deep, given, v };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tsr_release(&all[i]);
}

/* Rows of which each begins elsewhere in a line, to and from between guards; some are met again. */
TEST(test_long_rows_of_every_length_move_and_are_added)
{
    enum { ROWS = 9, CHOSEN = 23, GUARD = -77 };
    for (int64_t n = 60; n < 420; n += n < 140 ? 1 : 37)
        for (int wide = 0; wide < 2; wide++) {
            const tsr_dtype dtype = wide ? TSR_F64 : TSR_F32;
            const int64_t pitch = n + 3;
            tsr_tensor *all = NULL, *t = NULL, *big = NULL, *z = NULL, *at = NULL, *was = NULL, *whole = NULL;
            EXPECT_OK(tsr_integers(&at, TSR_I64, TSR_SHAPE(CHOSEN), 0, ROWS, (uint64_t)n));
            EXPECT_OK(tsr_integers(&whole, TSR_I32, TSR_SHAPE(ROWS, pitch), 0, 1000, 3));
            EXPECT_OK(tsr_cast(&all, whole, dtype));
            EXPECT_OK(tsr_slice(&t, all, 1, 1, n + 1, 1));
            EXPECT_OK(tsr_full(&big, dtype, TSR_SHAPE(CHOSEN, pitch), TSR_SCALAR(GUARD)));
            EXPECT_OK(tsr_slice(&z, big, 1, 2, n + 2, 1));
            EXPECT_OK(tsr_take(&z, t, at, 0));
            EXPECT_OK(tsr_clone(&was, all));
            EXPECT_OK(tsr_index_add(&t, t, at, z, 0));
            int wrong = 0;
            for (int64_t i = 0; big && was && i < CHOSEN; i++)
                for (int64_t j = 0; j < pitch; j++) {
                    const int64_t from = ((const int64_t *)at->data)[i];
                    const bool moved = j >= 2 && j < n + 2;
                    const double got = wide ? TSR_AT(double, big, i, j) : (double)TSR_AT(float, big, i, j);
                    if (!moved) wrong += got != GUARD;
                    else
                        wrong += got != (wide ? TSR_AT(double, was, from, j - 1)
                                              : (double)TSR_AT(float, was, from, j - 1));
                }
            for (int64_t i = 0; was && i < ROWS; i++)
                for (int64_t j = 0; j < pitch; j++) {
                    int64_t times = 1;
                    for (int64_t k = 0; k < CHOSEN; k++)
                        times += j >= 1 && j < n + 1 && ((const int64_t *)at->data)[k] == i;
                    const double had = wide ? TSR_AT(double, was, i, j) : (double)TSR_AT(float, was, i, j);
                    const double got = wide ? TSR_AT(double, all, i, j) : (double)TSR_AT(float, all, i, j);
                    wrong += got != had * (double)times;
                }
            EXPECT_MSG(wrong == 0, "%d wrong of rows of %d", wrong, (int)n);
            tsr_release_all(&all, &t, &big, &z, &at, &was, &whole);
        }
}
