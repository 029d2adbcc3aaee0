/* test_view.c - each view function: what it shows, what it refuses, and in which words.
 *
 * Most tests look at 0, 1, 2, ... in a 2 x 3 x 4 tensor, so that a value tells
 * where its element lies. The generated tests are in tests/property/test_view_algebra.c.
 */
#include "test.h"

static tsr_tensor *counting(int ndim, const int64_t *shape)
{
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_empty(&t, TSR_I32, ndim, shape));
    for (int64_t i = 0; i < tsr_numel(t); i++) ((int32_t *)t->data)[i] = (int32_t)i;
    return t;
}

static tsr_tensor *cube(void) { return counting(TSR_SHAPE(2, 3, 4)); }

/* The view is an i32 tensor with this text for its desc and these elements. */
static void expect_view(int line, const tsr_tensor *t, const char *desc, int n, const int *values)
{
    char text[200];
    int64_t index[TSR_MAX_NDIM] = { 0 };
    (void)tsr_desc_to_string(text, sizeof text, tsr_desc_of(t));
    EXPECT_MSG(!strcmp(text, desc), "line %d: %s, not %s", line, text, desc);
    EXPECT_OK(tsr_check(t));
    EXPECT_MSG(tsr_numel(t) == n, "line %d: %lld elements, not %d", line, (long long)tsr_numel(t), n);
    for (int k = 0; k < n; k++) {
        int32_t got = -1;
        EXPECT_OK(tsr_get_i32(&got, t, t->ndim, index));
        EXPECT_MSG(got == values[k], "line %d: element %d is %d, not %d", line, k, (int)got, values[k]);
        for (int i = t->ndim - 1; i >= 0 && ++index[i] == t->shape[i]; i--) index[i] = 0;
    }
}

#define LIST(...) (int)(sizeof((const int[]){ __VA_ARGS__ }) / sizeof(int)), (const int[]){ __VA_ARGS__ }
#define EXPECT_VIEW(t, desc, ...) expect_view(__LINE__, (t), (desc), LIST(__VA_ARGS__))
#define EXPECT_EMPTY(t, desc) expect_view(__LINE__, (t), (desc), 0, NULL)

/* View, reshape, contiguous ----------------------------------------------------------- */

TEST(test_view_shows_the_same_elements_under_another_shape)
{
    tsr_tensor *t = cube(), *v = NULL;
    EXPECT_OK(tsr_view(&v, t, TSR_SHAPE(4, 6)));
    EXPECT(v->data == t->data && v->storage == t->storage && tsr_is_view(v) && !tsr_is_view(t));
    EXPECT(TSR_AT(int32_t, v, 3, 5) == 23);
    EXPECT_OK(tsr_view(&v, t, TSR_SHAPE(-1, 12)));
    EXPECT(v->ndim == 2 && v->shape[0] == 2);
    EXPECT_OK(tsr_view(&v, t, TSR_SHAPE(-1)));
    EXPECT(v->ndim == 1 && v->shape[0] == 24 && v->stride[0] == 1);
    EXPECT_OK(tsr_view(&v, t, TSR_SHAPE(1, 24, 1, -1)));
    EXPECT(v->ndim == 4 && v->shape[3] == 1);
    tsr_release_all(&v, &t);
}

TEST(test_view_of_one_element_has_any_rank)
{
    tsr_tensor *t = NULL, *v = NULL;
    EXPECT_OK(tsr_full(&t, TSR_I32, TSR_SCALAR_SHAPE, TSR_SCALAR(7)));
    EXPECT_OK(tsr_view(&v, t, TSR_SHAPE(1, 1, 1)));
    EXPECT(v->ndim == 3 && TSR_AT(int32_t, v, 0, 0, 0) == 7);
    EXPECT_OK(tsr_view(&v, v, TSR_SCALAR_SHAPE));
    EXPECT(v->ndim == 0 && tsr_is_scalar(v));
    tsr_release_all(&v, &t);
}

TEST(test_view_splits_and_merges_dims_that_strides_allow)
{
    tsr_tensor *t = cube(), *v = NULL;
    EXPECT_OK(tsr_slice(&v, t, 2, 0, 2, 1));          /* (2, 3, 2 | 12, 4, 1) */
    EXPECT_OK(tsr_view(&v, v, TSR_SHAPE(6, 2)));       /* the first two dims are one walk */
    EXPECT_VIEW(v, "i32(6, 2 | 4, 1)", 0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21);
    EXPECT_OK(tsr_view(&v, v, TSR_SHAPE(3, 2, 2)));
    EXPECT_VIEW(v, "i32(3, 2, 2 | 8, 4, 1)", 0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21);
    tsr_release_all(&v, &t);
}

TEST(test_view_refuses_and_names_the_dims_that_are_not_contiguous)
{
    tsr_tensor *t = cube(), *v = NULL, *keep = NULL;
    EXPECT_OK(tsr_transpose(&v, t, 0, 1));
    keep = v;
    EXPECT_FAILS(tsr_view(&v, v, TSR_SHAPE(6, 4)), TSR_ESTRIDE,
                 "view: cannot view i32(3, 2, 4 | 4, 12, 1) as (6, 4): dims 0 and 1 are not contiguous "
                 "(tsr_reshape copies)");
    EXPECT(v == keep);
    EXPECT_OK(tsr_view(&v, v, TSR_SHAPE(3, 2, 2, 2)));
    tsr_release(&v);
    EXPECT_OK(tsr_slice(&v, t, 2, 0, 3, 1));
    EXPECT_FAILS(tsr_view(&v, v, TSR_SHAPE(18)), TSR_ESTRIDE, "as (18): dims 1 and 2 are not");
    EXPECT_OK(tsr_unsqueeze(&v, v, 2));
    EXPECT_FAILS(tsr_view(&v, v, TSR_SHAPE(18)), TSR_ESTRIDE,
                 "dims 1 and 3 are not contiguous");
    tsr_release_all(&v, &t);
}

TEST(test_view_refuses_shapes_that_do_not_hold_the_elements)
{
    tsr_tensor *t = cube(), *v = NULL;
    EXPECT_FAILS(tsr_view(&v, t, TSR_SHAPE(5, 5)), TSR_ESHAPE,
                 "view: shape (5, 5) does not hold the 24 elements of i32(2, 3, 4 | 12, 4, 1)");
    EXPECT_FAILS(tsr_view(&v, t, TSR_SHAPE(-1, 5)), TSR_ESHAPE, "view: shape (-1, 5) does not hold");
    EXPECT_FAILS(tsr_view(&v, t, TSR_SHAPE(-1, -1)), TSR_EINVAL,
                 "view: shape (-1, -1) leaves more than one dim open");
    EXPECT_FAILS(tsr_view(&v, t, TSR_SHAPE(-2, 12)), TSR_ESHAPE, "view: dim 0 is -2 in shape (-2, 12)");
    EXPECT_FAILS(tsr_view(&v, t, TSR_SHAPE(0)), TSR_ESHAPE, "does not hold");
    EXPECT_FAILS(tsr_view(&v, t, TSR_SHAPE(INT64_MAX, INT64_MAX)), TSR_ESHAPE, "does not hold");
    EXPECT_FAILS(tsr_view(&v, t, TSR_SHAPE(INT64_C(1) << 32, INT64_C(1) << 32)), TSR_ESHAPE, "does not hold");
    EXPECT_FAILS(tsr_view(&v, t, 1, NULL), TSR_ENULL, "view: shape is NULL");
    EXPECT_FAILS(tsr_view(NULL, t, TSR_SHAPE(24)), TSR_ENULL, "view: out is NULL");
    EXPECT_FAILS(tsr_view(&v, NULL, TSR_SHAPE(24)), TSR_ENULL, "view: t is NULL");
    EXPECT(v == NULL);
    tsr_release(&t);
}

TEST(test_view_of_no_elements_has_any_shape_without_elements)
{
    tsr_tensor *t = counting(TSR_SHAPE(0, 3)), *v = NULL;
    EXPECT_OK(tsr_view(&v, t, TSR_SHAPE(5, 0, 7)));
    EXPECT_EMPTY(v, "i32(5, 0, 7 | 7, 7, 1)");
    EXPECT_OK(tsr_view(&v, t, TSR_SHAPE(-1, 3)));
    EXPECT(v->shape[0] == 0);
    EXPECT_FAILS(tsr_view(&v, t, TSR_SHAPE(-1, 0)), TSR_ESHAPE, "does not hold");
    EXPECT_FAILS(tsr_view(&v, t, TSR_SHAPE(1)), TSR_ESHAPE, "does not hold the 0 elements");
    tsr_release_all(&v, &t);
}

TEST(test_reshape_is_a_view_where_it_can_and_a_copy_where_it_must)
{
    tsr_tensor *t = cube(), *v = NULL, *r = NULL;
    EXPECT_OK(tsr_reshape(&r, t, TSR_SHAPE(6, 4)));
    EXPECT(r->data == t->data && tsr_is_view(r));
    EXPECT_OK(tsr_transpose(&v, t, 0, 2));
    EXPECT_OK(tsr_reshape(&r, v, TSR_SHAPE(2, -1)));
    EXPECT(!tsr_is_view(r) && !tsr_may_overlap(r, t) && tsr_is_contiguous(r));
    EXPECT(TSR_AT(int32_t, r, 0, 0) == 0 && TSR_AT(int32_t, r, 0, 1) == 12 &&
           TSR_AT(int32_t, r, 1, 11) == 23);
    EXPECT_OK(tsr_reshape(&v, v, TSR_SHAPE(24)));     /* its own source */
    EXPECT(TSR_AT(int32_t, v, 1) == 12);
    EXPECT_FAILS(tsr_reshape(&v, v, TSR_SHAPE(5)), TSR_ESHAPE,
                 "reshape: shape (5) does not hold the 24 elements");
    tsr_release_all(&r, &v, &t);
}

TEST(test_contiguous_is_the_tensor_seen_again_if_it_is_packed)
{
    tsr_tensor *t = cube(), *v = NULL, *c = NULL;
    EXPECT_OK(tsr_contiguous(&c, t));
    EXPECT(c != t && c->data == t->data && c->storage == t->storage && tsr_is_view(c));
    EXPECT_OK(tsr_flip(&v, t, TSR_AXES(2)));
    EXPECT_OK(tsr_contiguous(&c, v));
    EXPECT(tsr_is_contiguous(c) && c->data != v->data && TSR_AT(int32_t, c, 0, 0, 0) == 3);
    EXPECT_OK(tsr_contiguous(&v, v));
    EXPECT(tsr_is_contiguous(v) && TSR_AT(int32_t, v, 1, 2, 3) == 20);
    tsr_release_all(&c, &v, &t);
}

/* Slice and select ------------------------------------------------------------------ */

TEST(test_slice_takes_every_step_th_index_before_stop)
{
    tsr_tensor *t = counting(TSR_SHAPE(10)), *v = NULL;
    EXPECT_OK(tsr_slice(&v, t, 0, 2, 7, 2));
    EXPECT_VIEW(v, "i32(3 | 2)", 2, 4, 6);
    EXPECT_OK(tsr_slice(&v, t, -1, 2, 8, 2));
    EXPECT_VIEW(v, "i32(3 | 2)", 2, 4, 6);
    EXPECT_OK(tsr_slice(&v, t, 0, -3, -1, 1));
    EXPECT_VIEW(v, "i32(2 | 1)", 7, 8);
    EXPECT_OK(tsr_slice(&v, t, 0, 0, 10, INT64_MAX));
    EXPECT(v->shape[0] == 1);
    EXPECT_OK(tsr_slice(&v, t, 0, 4, 4, 1));
    EXPECT_EMPTY(v, "i32(0 | 1)");
    EXPECT_OK(tsr_slice(&v, t, 0, 10, 10, 1));
    EXPECT_EMPTY(v, "i32(0 | 1)");
    tsr_release_all(&v, &t);
}

TEST(test_slice_backwards_starts_at_start_and_ends_after_stop)
{
    tsr_tensor *t = counting(TSR_SHAPE(10)), *v = NULL;
    EXPECT_OK(tsr_slice(&v, t, 0, 7, 2, -2));
    EXPECT_VIEW(v, "i32(3 | -2)", 7, 5, 3);
    EXPECT_OK(tsr_slice(&v, t, 0, -1, 0, -3));
    EXPECT_VIEW(v, "i32(3 | -3)", 9, 6, 3);
    EXPECT_OK(tsr_slice(&v, t, 0, 3, 3, -1));
    EXPECT_EMPTY(v, "i32(0 | -1)");
    EXPECT_OK(tsr_slice(&v, t, 0, 9, 0, INT64_MIN));
    EXPECT(v->shape[0] == 1 && TSR_AT(int32_t, v, 0) == 9);
    tsr_release_all(&v, &t);
}

TEST(test_slice_bounds_left_out_are_the_ends_for_either_direction)
{
    tsr_tensor *t = counting(TSR_SHAPE(5)), *v = NULL;
    EXPECT_OK(tsr_slice(&v, t, 0, TSR_NONE, TSR_NONE, 2));
    EXPECT_VIEW(v, "i32(3 | 2)", 0, 2, 4);
    EXPECT_OK(tsr_slice(&v, t, 0, TSR_NONE, TSR_NONE, -1));
    EXPECT_VIEW(v, "i32(5 | -1)", 4, 3, 2, 1, 0);
    EXPECT_OK(tsr_slice(&v, t, 0, 2, TSR_NONE, 1));
    EXPECT_VIEW(v, "i32(3 | 1)", 2, 3, 4);
    EXPECT_OK(tsr_slice(&v, t, 0, 2, TSR_NONE, -1));
    EXPECT_VIEW(v, "i32(3 | -1)", 2, 1, 0);
    EXPECT_OK(tsr_slice(&v, t, 0, TSR_NONE, 2, 1));
    EXPECT_VIEW(v, "i32(2 | 1)", 0, 1);
    EXPECT_OK(tsr_slice(&v, t, 0, TSR_NONE, 2, -1));
    EXPECT_VIEW(v, "i32(2 | -1)", 4, 3);
    tsr_release_all(&v, &t);
}

TEST(test_slice_of_nothing_is_nothing)
{
    tsr_tensor *t = counting(TSR_SHAPE(0, 3)), *v = NULL;
    EXPECT_OK(tsr_slice(&v, t, 0, TSR_NONE, TSR_NONE, 1));
    EXPECT_EMPTY(v, "i32(0, 3 | 3, 1)");
    EXPECT_OK(tsr_slice(&v, t, 0, TSR_NONE, TSR_NONE, -1));
    EXPECT_EMPTY(v, "i32(0, 3 | -3, 1)");
    EXPECT_OK(tsr_slice(&v, t, 0, 0, 0, 1));
    EXPECT_STATUS(tsr_slice(&v, t, 0, 0, 0, -1), TSR_EINDEX);
    tsr_release_all(&v, &t);
}

TEST(test_slice_of_a_slice_adds_offsets)
{
    tsr_tensor *t = counting(TSR_SHAPE(4, 10)), *v = NULL;
    EXPECT_OK(tsr_slice(&v, t, 1, 1, 10, 2));       /* 1 3 5 7 9 */
    EXPECT_OK(tsr_slice(&v, v, 1, TSR_NONE, 0, -2)); /* 9 5 */
    EXPECT_OK(tsr_slice(&v, v, 0, 2, 4, 1));
    EXPECT_VIEW(v, "i32(2, 2 | 10, -4)", 29, 25, 39, 35);
    EXPECT((int32_t *)v->data == (int32_t *)t->data + 29);
    tsr_release_all(&v, &t);
}

TEST(test_slice_bounds_are_strict_and_nothing_is_clamped)
{
    tsr_tensor *t = counting(TSR_SHAPE(5)), *v = NULL;
    static const int64_t bad[][3] = {
        { 0, 6, 1 }, { 6, 6, 1 }, { -6, 5, 1 }, { 3, 2, 1 }, { 0, -6, 1 },
        { 5, 0, -1 }, { 2, 3, -1 }, { 4, 5, -1 }, { 4, -6, -1 }, { -6, TSR_NONE, -1 }, { 5, TSR_NONE, -1 },
        { INT64_MAX, TSR_NONE, 1 }, { TSR_NONE, INT64_MAX, 1 },
        { INT64_MIN + 1, TSR_NONE, 1 }, { TSR_NONE, INT64_MIN + 1, -1 },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        EXPECT_MSG(tsr_slice(&v, t, 0, bad[i][0], bad[i][1], bad[i][2]) == TSR_EINDEX, "slice %zu", i);
    EXPECT_FAILS(tsr_slice(&v, t, 0, 0, 6, 1), TSR_EINDEX,
                 "slice: 0 to 6 by 1 leaves dim 0 of i32(5 | 1), which has 5");
    EXPECT_FAILS(tsr_slice(&v, t, 0, -9, TSR_NONE, 1), TSR_EINDEX,
                 "slice: -9 to open 5 by 1 leaves dim 0 of i32(5 | 1), which has 5");
    EXPECT_FAILS(tsr_slice(&v, t, 0, 0, 5, 0), TSR_EINVAL, "slice: step is 0");
    EXPECT_FAILS(tsr_slice(&v, t, 3, 0, 5, 1), TSR_EINDEX, "slice: axis 3 of i32(5 | 1), which has 1 dims");
    EXPECT(v == NULL);
    tsr_release(&t);
}

TEST(test_select_takes_one_index_and_drops_the_axis)
{
    tsr_tensor *t = cube(), *v = NULL;
    EXPECT_OK(tsr_select(&v, t, 1, -1));
    EXPECT_VIEW(v, "i32(2, 4 | 12, 1)", 8, 9, 10, 11, 20, 21, 22, 23);
    EXPECT_OK(tsr_select(&v, v, -2, 1));
    EXPECT_VIEW(v, "i32(4 | 1)", 20, 21, 22, 23);
    EXPECT_OK(tsr_select(&v, v, 0, 2));
    EXPECT_VIEW(v, "i32()", 22);
    EXPECT_FAILS(tsr_select(&v, v, 0, 0), TSR_EINDEX, "select: axis 0 of i32(), which has 0 dims");
    EXPECT_FAILS(tsr_select(&v, t, 0, 2), TSR_EINDEX,
                 "select: index 2 of dim 0 of i32(2, 3, 4 | 12, 4, 1), which has 2");
    EXPECT_FAILS(tsr_select(&v, t, 0, -3), TSR_EINDEX, "select: index -3 of dim 0");
    EXPECT(TSR_AT(int32_t, v, 0) == 22);
    tsr_release_all(&v, &t);
}

TEST(test_at_prefix_is_the_sub_tensor_behind_some_indices)
{
    tsr_tensor *t = cube(), *v = NULL;
    EXPECT_OK(tsr_at_prefix(&v, t, TSR_INDEX(1, -1)));
    EXPECT_VIEW(v, "i32(4 | 1)", 20, 21, 22, 23);
    EXPECT_OK(tsr_at_prefix(&v, t, TSR_INDEX(1, 2, 3)));
    EXPECT_VIEW(v, "i32()", 23);
    EXPECT_OK(tsr_at_prefix(&v, t, 0, NULL));
    EXPECT(tsr_same_desc(v, t) && v->data == t->data);
    EXPECT_STATUS(tsr_at_prefix(&v, t, TSR_INDEX(1, 2, 3, 0)), TSR_ESHAPE);
    EXPECT_STATUS(tsr_at_prefix(&v, t, TSR_INDEX(2)), TSR_EINDEX);
    tsr_release_all(&v, &t);
}

/* Orders ------------------------------------------------------------------------- */

TEST(test_permute_puts_dim_axes_i_at_place_i)
{
    tsr_tensor *t = cube(), *v = NULL;
    EXPECT_OK(tsr_permute(&v, t, TSR_AXES(2, 0, 1)));
    EXPECT(v->shape[0] == 4 && v->shape[1] == 2 && v->shape[2] == 3);
    EXPECT(v->stride[0] == 1 && v->stride[1] == 12 && v->stride[2] == 4);
    EXPECT_OK(tsr_permute(&v, v, TSR_AXES(-2, -1, -3)));
    EXPECT(tsr_same_desc(v, t));
    tsr_release_all(&v, &t);
}

TEST(test_permute_wants_every_axis_once)
{
    tsr_tensor *t = cube(), *v = NULL;
    EXPECT_FAILS(tsr_permute(&v, t, TSR_AXES(0, 1)), TSR_EINVAL,
                 "permute: 2 axes for i32(2, 3, 4 | 12, 4, 1), which has 3 dims");
    EXPECT_FAILS(tsr_permute(&v, t, TSR_AXES(0, 1, 1)), TSR_EINVAL, "permute: axis 1 of i32(2, 3, 4");
    EXPECT_FAILS(tsr_permute(&v, t, TSR_AXES(0, 1, -2)), TSR_EINVAL, "4, 1) is named twice");
    EXPECT_FAILS(tsr_permute(&v, t, TSR_AXES(0, 1, 3)), TSR_EINDEX, "permute: axis 3 of");
    EXPECT_FAILS(tsr_permute(&v, t, 3, NULL), TSR_ENULL, "permute: axes is NULL");
    EXPECT(v == NULL);
    tsr_release(&t);
}

TEST(test_transpose_swaps_two_dims)
{
    tsr_tensor *t = counting(TSR_SHAPE(2, 3)), *v = NULL;
    EXPECT_OK(tsr_transpose(&v, t, 0, -1));
    EXPECT_VIEW(v, "i32(3, 2 | 1, 3)", 0, 3, 1, 4, 2, 5);
    EXPECT_OK(tsr_transpose(&v, v, 1, 1));
    EXPECT(v->shape[0] == 3);
    EXPECT_FAILS(tsr_transpose(&v, t, 0, 2), TSR_EINDEX,
                 "transpose: axis 2 of i32(2, 3 | 3, 1), which has 2 dims");
    tsr_release_all(&v, &t);
}

TEST(test_move_axis_shifts_those_between)
{
    tsr_tensor *t = counting(TSR_SHAPE(2, 3, 4, 5)), *v = NULL;
    EXPECT_OK(tsr_move_axis(&v, t, 0, -1));
    EXPECT(v->shape[0] == 3 && v->shape[1] == 4 && v->shape[2] == 5 && v->shape[3] == 2);
    EXPECT_OK(tsr_move_axis(&v, t, 3, 1));
    EXPECT(v->shape[0] == 2 && v->shape[1] == 5 && v->shape[2] == 3 && v->shape[3] == 4);
    EXPECT_OK(tsr_move_axis(&v, t, 2, 2));
    EXPECT(tsr_same_desc(v, t));
    EXPECT_STATUS(tsr_move_axis(&v, t, 4, 0), TSR_EINDEX);
    EXPECT_STATUS(tsr_move_axis(&v, t, 0, -5), TSR_EINDEX);
    tsr_release_all(&v, &t);
}

TEST(test_flip_walks_axes_backwards_from_their_other_end)
{
    tsr_tensor *t = counting(TSR_SHAPE(2, 3)), *v = NULL;
    EXPECT_OK(tsr_flip(&v, t, TSR_AXES(1)));
    EXPECT_VIEW(v, "i32(2, 3 | 3, -1)", 2, 1, 0, 5, 4, 3);
    EXPECT_OK(tsr_flip(&v, t, 0, NULL));
    EXPECT_VIEW(v, "i32(2, 3 | -3, -1)", 5, 4, 3, 2, 1, 0);
    EXPECT_OK(tsr_flip(&v, v, TSR_AXES(-1, 0)));
    EXPECT(tsr_same_desc(v, t) && v->data == t->data);
    EXPECT_FAILS(tsr_flip(&v, t, TSR_AXES(0, -2)), TSR_EINVAL, "flip: axis -2 of");
    EXPECT_STATUS(tsr_flip(&v, t, TSR_AXES(2)), TSR_EINDEX);
    tsr_release_all(&v, &t);
}

/* Repeating and adding dims ------------------------------------------------------------- */

TEST(test_expand_repeats_dims_of_one_and_new_leading_dims_with_stride_zero)
{
    tsr_tensor *t = counting(TSR_SHAPE(2, 1)), *v = NULL;
    EXPECT_OK(tsr_expand(&v, t, TSR_SHAPE(2, -1, 3)));
    EXPECT_VIEW(v, "i32(2, 2, 3 | 0, 1, 0)", 0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1);
    EXPECT(tsr_self_overlaps(v));
    EXPECT_STATUS(tsr_fill(v, TSR_SCALAR(1)), TSR_EOVERLAP);
    EXPECT_OK(tsr_expand(&v, t, TSR_SHAPE(-1, -1)));
    EXPECT(tsr_same_desc(v, t));
    EXPECT_OK(tsr_expand(&v, t, TSR_SHAPE(2, 0)));
    EXPECT(tsr_numel(v) == 0);
    tsr_release_all(&v, &t);
}

TEST(test_expand_refuses_what_cannot_be_repeated)
{
    tsr_tensor *t = counting(TSR_SHAPE(2, 1)), *v = NULL;
    EXPECT_FAILS(tsr_expand(&v, t, TSR_SHAPE(3, 1)), TSR_ESHAPE,
                 "expand: dim 0 of shape (3, 1) cannot come from i32(2, 1 | 1, 1)");
    EXPECT_FAILS(tsr_expand(&v, t, TSR_SHAPE(2)), TSR_ESHAPE,
                 "expand: shape (2) has fewer dims than i32(2, 1 | 1, 1)");
    EXPECT_STATUS(tsr_expand(&v, t, TSR_SHAPE(-1, 2, 1)), TSR_ESHAPE);
    EXPECT_STATUS(tsr_expand(&v, t, TSR_SHAPE(2, -2)), TSR_ESHAPE);
    EXPECT_STATUS(tsr_expand(&v, t, TSR_SHAPE(1, 1)), TSR_ESHAPE);
    EXPECT_STATUS(tsr_expand(&v, t, TSR_SHAPE(INT64_MAX, 2, 4)), TSR_EOVERFLOW);
    EXPECT(v == NULL);
    tsr_release(&t);
}

TEST(test_squeeze_drops_dims_of_one_and_unsqueeze_adds_them)
{
    tsr_tensor *t = counting(TSR_SHAPE(1, 3, 1)), *v = NULL;
    EXPECT_OK(tsr_squeeze(&v, t, 0));
    EXPECT(v->ndim == 2 && v->shape[0] == 3);
    EXPECT_OK(tsr_squeeze_all(&v, t));
    EXPECT_VIEW(v, "i32(3 | 1)", 0, 1, 2);
    EXPECT_OK(tsr_unsqueeze(&v, v, 0));
    EXPECT(v->ndim == 2 && v->shape[0] == 1 && v->shape[1] == 3 && tsr_is_contiguous(v));
    EXPECT_OK(tsr_unsqueeze(&v, v, -1));
    EXPECT(v->ndim == 3 && v->shape[2] == 1 && tsr_is_contiguous(v));
    EXPECT_OK(tsr_unsqueeze(&v, v, 1));
    EXPECT(v->ndim == 4 && v->shape[1] == 1 && v->shape[2] == 3);
    EXPECT_FAILS(tsr_squeeze(&v, t, 1), TSR_ESHAPE, "squeeze: dim 1 of i32(1, 3, 1 | 3, 1, 1) is 3, not 1");
    EXPECT_FAILS(tsr_unsqueeze(&v, t, 4), TSR_EINDEX, "unsqueeze: axis 4 of a result with 4 dims");
    EXPECT_STATUS(tsr_unsqueeze(&v, t, -5), TSR_EINDEX);
    tsr_release_all(&v, &t);
}

TEST(test_no_view_exceeds_the_highest_rank)
{
    int64_t shape[TSR_MAX_NDIM];
    for (int i = 0; i < TSR_MAX_NDIM; i++) shape[i] = 1;
    tsr_tensor *t = counting(TSR_MAX_NDIM, shape), *v = NULL;
    EXPECT_FAILS(tsr_unsqueeze(&v, t, 0), TSR_EINVAL, "has the most dims there can be");
    EXPECT_FAILS(tsr_unfold(&v, t, 0, 1, 1), TSR_EINVAL, "has the most dims there can be");
    EXPECT_STATUS(tsr_split_dim(&v, t, 0, 2, (const int64_t[]){ 1, 1 }), TSR_EINVAL);
    EXPECT_STATUS(tsr_stack(&v, 1, (const tsr_tensor *const[]){ t }, 0), TSR_EINVAL);
    EXPECT_OK(tsr_diagonal(&v, t, 0, 0, 1));
    EXPECT(v->ndim == TSR_MAX_NDIM - 1);
    tsr_release_all(&v, &t);
}

/* Diagonals and windows ------------------------------------------------------------------ */

TEST(test_diagonal_becomes_a_new_last_dim)
{
    tsr_tensor *t = counting(TSR_SHAPE(3, 4)), *v = NULL;
    EXPECT_OK(tsr_diagonal(&v, t, 0, 0, 1));
    EXPECT_VIEW(v, "i32(3 | 5)", 0, 5, 10);
    EXPECT_OK(tsr_diagonal(&v, t, 2, 0, 1));
    EXPECT_VIEW(v, "i32(2 | 5)", 2, 7);
    EXPECT_OK(tsr_diagonal(&v, t, -2, 0, 1));
    EXPECT_VIEW(v, "i32(1 | 5)", 8);
    EXPECT_OK(tsr_diagonal(&v, t, 1, 1, 0));
    EXPECT_VIEW(v, "i32(2 | 5)", 4, 9);
    EXPECT_OK(tsr_diagonal(&v, t, 4, 0, 1));
    EXPECT_EMPTY(v, "i32(0 | 5)");
    EXPECT(v->data == t->data);
    EXPECT_OK(tsr_diagonal(&v, t, INT64_MIN, 0, 1));
    EXPECT_EMPTY(v, "i32(0 | 5)");
    EXPECT_FAILS(tsr_diagonal(&v, t, 0, 1, -1), TSR_EINVAL, "diagonal: axes 1 and -1 are the same");
    EXPECT_STATUS(tsr_diagonal(&v, t, 0, 0, 2), TSR_EINDEX);
    tsr_release(&t);
    t = cube();
    EXPECT_OK(tsr_diagonal(&v, t, 0, 0, 2));
    EXPECT_VIEW(v, "i32(3, 2 | 4, 13)", 0, 13, 4, 17, 8, 21);
    tsr_release_all(&v, &t);
}

TEST(test_diagonal_can_be_written)
{
    tsr_tensor *t = NULL, *v = NULL;
    EXPECT_OK(tsr_zeros(&t, TSR_I32, TSR_SHAPE(3, 3)));
    EXPECT_OK(tsr_diagonal(&v, t, 0, 0, 1));
    EXPECT_OK(tsr_fill(v, TSR_SCALAR(7)));
    for (int64_t i = 0; i < 9; i++) EXPECT(TSR_AT(int32_t, t, i / 3, i % 3) == (i % 4 == 0 ? 7 : 0));
    tsr_release_all(&v, &t);
}

TEST(test_unfold_shows_sliding_windows)
{
    tsr_tensor *t = counting(TSR_SHAPE(6)), *v = NULL;
    EXPECT_OK(tsr_unfold(&v, t, 0, 3, 2));
    EXPECT_VIEW(v, "i32(2, 3 | 2, 1)", 0, 1, 2, 2, 3, 4);
    EXPECT_STATUS(tsr_zero(v), TSR_EOVERLAP);
    EXPECT_OK(tsr_unfold(&v, t, 0, 3, 3));
    EXPECT_OK(tsr_zero(v));
    EXPECT(TSR_AT(int32_t, t, 5) == 0);
    EXPECT_OK(tsr_unfold(&v, t, -1, 6, 1));
    EXPECT(v->shape[0] == 1 && v->shape[1] == 6);
    EXPECT_FAILS(tsr_unfold(&v, t, 0, 7, 1), TSR_ESHAPE,
                 "unfold: a window of 7 in dim 0 of i32(6 | 1), which has 6");
    EXPECT_STATUS(tsr_unfold(&v, t, 0, 0, 1), TSR_ESHAPE);
    EXPECT_FAILS(tsr_unfold(&v, t, 0, 1, 0), TSR_EINVAL, "unfold: step 0 must be positive");
    EXPECT_STATUS(tsr_unfold(&v, t, 1, 1, 1), TSR_EINDEX);
    tsr_release(&t);
    t = counting(TSR_SHAPE(3, 2));
    EXPECT_OK(tsr_unfold(&v, t, 0, 2, 1));
    EXPECT_VIEW(v, "i32(2, 2, 2 | 2, 1, 2)", 0, 2, 1, 3, 2, 4, 3, 5);
    tsr_release_all(&v, &t);
}

/* Merge and split ------------------------------------------------------------------------ */

TEST(test_merge_dims_makes_one_of_several_that_are_contiguous)
{
    tsr_tensor *t = cube(), *v = NULL;
    EXPECT_OK(tsr_merge_dims(&v, t, 1, 2));
    EXPECT(v->ndim == 2 && v->shape[1] == 12 && v->stride[1] == 1);
    EXPECT_OK(tsr_merge_dims(&v, t, 0, 3));
    EXPECT(v->ndim == 1 && v->shape[0] == 24);
    EXPECT_OK(tsr_merge_dims(&v, t, -1, 1));
    EXPECT(tsr_same_desc(v, t));
    EXPECT_OK(tsr_slice(&v, t, 2, 0, 2, 1));
    EXPECT_FAILS(tsr_merge_dims(&v, v, 1, 2), TSR_ESTRIDE, "as (2, 6): dims 1 and 2 are not");
    EXPECT_FAILS(tsr_merge_dims(&v, t, 1, 3), TSR_EINDEX, "merge_dims: 3 dims from axis 1 of");
    EXPECT_STATUS(tsr_merge_dims(&v, t, 1, 0), TSR_EINDEX);
    tsr_release_all(&v, &t);
}

TEST(test_split_dim_makes_several_of_one)
{
    tsr_tensor *t = counting(TSR_SHAPE(2, 12)), *v = NULL;
    EXPECT_OK(tsr_split_dim(&v, t, 1, 3, (const int64_t[]){ 2, -1, 2 }));
    EXPECT(v->ndim == 4 && v->shape[2] == 3 && v->stride[1] == 6 && v->stride[2] == 2 && v->stride[3] == 1);
    EXPECT(TSR_AT(int32_t, v, 1, 1, 2, 1) == 23);
    EXPECT_OK(tsr_flip(&v, t, TSR_AXES(1)));
    EXPECT_OK(tsr_split_dim(&v, v, -1, 2, (const int64_t[]){ 3, 4 }));
    EXPECT(v->stride[1] == -4 && v->stride[2] == -1 && TSR_AT(int32_t, v, 0, 0, 0) == 11);
    EXPECT_FAILS(tsr_split_dim(&v, t, 1, 2, (const int64_t[]){ 5, 2 }), TSR_ESHAPE,
                 "split_dim: shape (5, 2) does not hold the 12 elements of");
    EXPECT_STATUS(tsr_split_dim(&v, t, 1, 0, NULL), TSR_EINVAL);
    EXPECT_STATUS(tsr_split_dim(&v, t, 2, 1, (const int64_t[]){ 12 }), TSR_EINDEX);
    tsr_release_all(&v, &t);
}

/* as_strided ------------------------------------------------------------------------------ */

TEST(test_as_strided_takes_any_strides_inside_the_storage)
{
    tsr_tensor *t = counting(TSR_SHAPE(10)), *v = NULL, *part = NULL;
    EXPECT_OK(tsr_as_strided(&v, t, 2, (const int64_t[]){ 2, 3 }, (const int64_t[]){ 2, 3 }, 1));
    EXPECT_VIEW(v, "i32(2, 3 | 2, 3)", 1, 4, 7, 3, 6, 9);
    EXPECT_OK(tsr_as_strided(&v, t, 1, (const int64_t[]){ 10 }, (const int64_t[]){ -1 }, 9));
    EXPECT(TSR_AT(int32_t, v, 9) == 0);
    /* Bounds are the storage's, not the part's that it is taken from. */
    EXPECT_OK(tsr_slice(&part, t, 0, 4, 6, 1));
    EXPECT_OK(tsr_as_strided(&v, part, 1, (const int64_t[]){ 10 }, (const int64_t[]){ 1 }, -4));
    EXPECT(TSR_AT(int32_t, v, 0) == 0 && TSR_AT(int32_t, v, 9) == 9);
    tsr_release_all(&part, &v, &t);
}

TEST(test_as_strided_cannot_escape)
{
    tsr_tensor *t = counting(TSR_SHAPE(10)), *v = NULL;
    EXPECT_FAILS(tsr_as_strided(&v, t, 1, (const int64_t[]){ 10 }, (const int64_t[]){ 1 }, 1), TSR_EBOUNDS,
                 "as_strided: i32(10 | 1) from element 1 on leaves the memory of i32(10 | 1)");
    EXPECT_STATUS(tsr_as_strided(&v, t, 1, (const int64_t[]){ 2 }, (const int64_t[]){ -1 }, 0), TSR_EBOUNDS);
    EXPECT_STATUS(tsr_as_strided(&v, t, 1, (const int64_t[]){ 2 }, (const int64_t[]){ 10 }, 0), TSR_EBOUNDS);
    EXPECT_STATUS(tsr_as_strided(&v, t, 0, NULL, NULL, 10), TSR_EBOUNDS);
    EXPECT_STATUS(tsr_as_strided(&v, t, 0, NULL, NULL, -1), TSR_EBOUNDS);
    EXPECT_STATUS(tsr_as_strided(&v, t, 0, NULL, NULL, INT64_MAX), TSR_EBOUNDS);
    EXPECT_STATUS(tsr_as_strided(&v, t, 0, NULL, NULL, INT64_MIN), TSR_EBOUNDS);
    EXPECT_STATUS(tsr_as_strided(&v, t, 0, NULL, NULL, INT64_C(1) << 62), TSR_EBOUNDS); /* times 4: 2^64 */
    EXPECT_STATUS(tsr_as_strided(&v, t, 1, (const int64_t[]){ 3 }, (const int64_t[]){ INT64_MAX }, 0),
                  TSR_EOVERFLOW);
    EXPECT_STATUS(tsr_as_strided(&v, t, 1, (const int64_t[]){ 2 }, (const int64_t[]){ INT64_MAX / 8 }, 0),
                  TSR_EBOUNDS);
    EXPECT_FAILS(tsr_as_strided(&v, t, 1, NULL, (const int64_t[]){ 1 }, 0), TSR_ENULL,
                 "as_strided: shape is NULL");
    EXPECT_FAILS(tsr_as_strided(&v, t, 1, (const int64_t[]){ 1 }, NULL, 0), TSR_ENULL,
                 "as_strided: stride is NULL");
    EXPECT(v == NULL);
    /* Nothing leaves where there is nothing. */
    EXPECT_OK(tsr_as_strided(&v, t, 1, (const int64_t[]){ 0 }, (const int64_t[]){ 1 }, 999));
    EXPECT(v->data == t->data && tsr_numel(v) == 0);
    tsr_release_all(&v, &t);
}

TEST(test_as_strided_of_a_placed_tensor_stays_in_what_that_tensor_reaches)
{
    int32_t numbers[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };
    tsr_tensor placed, *v = NULL;
    tsr_desc d;
    EXPECT_OK(tsr_desc_init(&d, TSR_I32, 1, (const int64_t[]){ 3 }, (const int64_t[]){ -2 }));
    EXPECT_OK(tsr_place(&placed, numbers + 5, &d));  /* 5 3 1 */
    EXPECT_OK(tsr_as_strided(&v, &placed, 1, (const int64_t[]){ 5 }, (const int64_t[]){ 1 }, -4));
    EXPECT_VIEW(v, "i32(5 | 1)", 1, 2, 3, 4, 5);
    EXPECT_STATUS(tsr_as_strided(&v, &placed, 1, (const int64_t[]){ 6 }, (const int64_t[]){ 1 }, -4),
                  TSR_EBOUNDS);
    EXPECT_STATUS(tsr_as_strided(&v, &placed, 1, (const int64_t[]){ 5 }, (const int64_t[]){ 1 }, -5),
                  TSR_EBOUNDS);
    tsr_release(&v);
}

/* Other elements -------------------------------------------------------------------------- */

TEST(test_real_and_imag_are_the_parts_of_a_complex_tensor)
{
    static const tsr_c64 values[] = { { 1, 2 }, { 3, 4 }, { 5, 6 } };
    tsr_tensor *t = NULL, *re = NULL, *im = NULL;
    EXPECT_OK(tsr_from_data(&t, TSR_C64, TSR_SHAPE(3), values));
    EXPECT_OK(tsr_view_real(&re, t));
    EXPECT_OK(tsr_view_imag(&im, t));
    EXPECT(re->dtype == TSR_F32 && re->stride[0] == 2 && TSR_AT(float, re, 2) == 5);
    EXPECT(im->dtype == TSR_F32 && im->stride[0] == 2 && TSR_AT(float, im, 2) == 6);
    EXPECT(!tsr_may_overlap(re, im));
    EXPECT_OK(tsr_fill(im, TSR_SCALAR(-1)));
    EXPECT(TSR_AT(tsr_c64, t, 1).re == 3 && TSR_AT(tsr_c64, t, 1).im == -1);
    EXPECT_OK(tsr_view_real(&im, re));
    EXPECT(tsr_same_desc(im, re) && im->data == re->data);
    EXPECT_FAILS(tsr_view_imag(&im, re), TSR_EDTYPE, "view_imag: f32(3 | 2) is not complex");
    tsr_release_all(&im, &re, &t);
}

TEST(test_bit_view_to_a_dtype_of_equal_size_takes_any_strides)
{
    tsr_tensor *t = NULL, *v = NULL;
    EXPECT_OK(tsr_full(&t, TSR_F32, TSR_SHAPE(2, 3), TSR_SCALAR(1.0)));
    EXPECT_OK(tsr_transpose(&v, t, 0, 1));
    EXPECT_OK(tsr_bit_view(&v, v, TSR_U32));
    EXPECT(v->dtype == TSR_U32 && TSR_AT(uint32_t, v, 2, 1) == 0x3f800000u);
    EXPECT_OK(tsr_bit_view(&v, v, TSR_U32));
    EXPECT_FAILS(tsr_bit_view(&v, v, TSR_BOOL), TSR_EDTYPE,
                 "as bool, whose bytes are only 0 and 1 (tsr_cast converts)");
    EXPECT_STATUS(tsr_bit_view(&v, v, TSR_DTYPE_INVALID), TSR_EDTYPE);
    tsr_release(&v);
    EXPECT_OK(tsr_zeros(&v, TSR_BOOL, TSR_SHAPE(2)));
    EXPECT_OK(tsr_bit_view(&v, v, TSR_BOOL));
    EXPECT_OK(tsr_bit_view(&v, v, TSR_U8));
    tsr_release_all(&v, &t);
}

TEST(test_bit_view_to_another_size_scales_the_last_dim)
{
    tsr_tensor *t = NULL, *v = NULL, *s = NULL;
    EXPECT_OK(tsr_zeros(&t, TSR_I32, TSR_SHAPE(2, 4)));
    EXPECT_OK(tsr_bit_view(&v, t, TSR_I16));
    EXPECT(v->shape[1] == 8 && v->stride[0] == 8 && v->stride[1] == 1);
    EXPECT_OK(tsr_bit_view(&v, v, TSR_C128));
    EXPECT(v->shape[1] == 1 && v->stride[0] == 1);
    EXPECT_OK(tsr_bit_view(&v, v, TSR_U8));
    EXPECT(v->shape[1] == 16 && v->stride[0] == 16 && v->data == t->data);
    EXPECT_FAILS(tsr_bit_view(&v, t, TSR_DTYPE_COUNT), TSR_EDTYPE, "is no dtype");
    EXPECT_OK(tsr_slice(&s, t, 1, 0, 3, 1));
    EXPECT_FAILS(tsr_bit_view(&v, s, TSR_I64), TSR_ESHAPE,
                 "bit_view: the last dim of i32(2, 3 | 4, 1) does not divide into i64");
    EXPECT_OK(tsr_slice(&s, t, 1, 0, 4, 2));
    EXPECT_FAILS(tsr_bit_view(&v, s, TSR_I16), TSR_ESTRIDE,
                 "bit_view: i32(2, 2 | 4, 2) as i16 needs the last dim packed");
    EXPECT_OK(tsr_as_strided(&s, t, 2, (const int64_t[]){ 2, 2 }, (const int64_t[]){ 3, 1 }, 0));
    EXPECT_FAILS(tsr_bit_view(&v, s, TSR_I64), TSR_ESTRIDE,
                 "the stride of dim 0 of i32(2, 2 | 3, 1) does not divide into i64");
    EXPECT_OK(tsr_as_strided(&s, t, 1, (const int64_t[]){ 2 }, (const int64_t[]){ 1 }, 1));
    EXPECT_FAILS(tsr_bit_view(&v, s, TSR_I64), TSR_EINVAL, "begins at an address that does not suit i64");
    EXPECT_OK(tsr_bit_view(&v, s, TSR_C64));  /* aligned as its parts are */
    EXPECT_OK(tsr_select(&s, t, 0, 0));
    EXPECT_OK(tsr_select(&s, s, 0, 0));
    EXPECT_FAILS(tsr_bit_view(&v, s, TSR_I16), TSR_ESHAPE, "bit_view: a scalar of 4 bytes as i16");
    tsr_release_all(&s, &v, &t);
}

/* Several at once --------------------------------------------------------------------------- */

TEST(test_split_rebinds_all_of_its_results_or_none)
{
    tsr_tensor *t = counting(TSR_SHAPE(2, 5)), *outs[3] = { NULL, NULL, NULL };
    EXPECT_OK(tsr_split(outs, t, 1, 3, (const int64_t[]){ 2, 0, 3 }));
    EXPECT_VIEW(outs[0], "i32(2, 2 | 5, 1)", 0, 1, 5, 6);
    EXPECT_EMPTY(outs[1], "i32(2, 0 | 5, 1)");
    EXPECT_VIEW(outs[2], "i32(2, 3 | 5, 1)", 2, 3, 4, 7, 8, 9);
    const tsr_tensor *had = outs[2];
    EXPECT_FAILS(tsr_split(outs, t, 1, 3, (const int64_t[]){ 2, 1, 3 }), TSR_ESHAPE,
                 "split: part 2 of size 3 does not fit dim 1 of i32(2, 5 | 5, 1)");
    EXPECT_FAILS(tsr_split(outs, t, 1, 3, (const int64_t[]){ 2, 1, 1 }), TSR_ESHAPE,
                 "split: the parts add up to 4");
    EXPECT_STATUS(tsr_split(outs, t, 1, 3, (const int64_t[]){ 7, -1, -1 }), TSR_ESHAPE);
    EXPECT_STATUS(tsr_split(outs, t, 1, 3, (const int64_t[]){ INT64_MAX, INT64_MAX, 7 }), TSR_ESHAPE);
    EXPECT_STATUS(tsr_split(outs, t, 2, 3, (const int64_t[]){ 2, 1, 2 }), TSR_EINDEX);
    EXPECT_STATUS(tsr_split(outs, t, 1, 0, (const int64_t[]){ 2 }), TSR_EINVAL);
    EXPECT(outs[2] == had && outs[2]->shape[1] == 3);
    for (int i = 0; i < 3; i++) tsr_release(&outs[i]);
    tsr_release(&t);
}

TEST(test_unstack_gives_one_view_per_index)
{
    tsr_tensor *t = counting(TSR_SHAPE(3, 2)), *outs[3] = { NULL, NULL, NULL };
    outs[1] = t;  /* the source may be one of the results */
    EXPECT_OK(tsr_unstack(outs, t, 0, 3));
    EXPECT_VIEW(outs[0], "i32(2 | 1)", 0, 1);
    EXPECT_VIEW(outs[1], "i32(2 | 1)", 2, 3);
    EXPECT_VIEW(outs[2], "i32(2 | 1)", 4, 5);
    EXPECT_FAILS(tsr_unstack(outs, outs[0], 0, 3), TSR_ESHAPE,
                 "unstack: into 3 parts, but dim 0 of i32(2 | 1) is 2");
    for (int i = 0; i < 3; i++) tsr_release(&outs[i]);
}

/* Handles -------------------------------------------------------------------------------- */

TEST(test_views_outlive_their_source)
{
    tsr_tensor *t = cube(), *v = NULL, *w = NULL;
    EXPECT_OK(tsr_transpose(&v, t, 0, 1));
    EXPECT(tsr_storage_count(t->storage) == 2);
    EXPECT_OK(tsr_select(&w, v, 2, 1));
    EXPECT(tsr_storage_count(t->storage) == 3);
    tsr_release_all(&t, &v);
    EXPECT(t == NULL && tsr_storage_count(w->storage) == 1);
    EXPECT_VIEW(w, "i32(3, 2 | 4, 12)", 1, 13, 5, 17, 9, 21);
    tsr_release(&w);
}

TEST(test_views_rebind_their_result_and_drop_what_it_held)
{
    tsr_tensor *t = cube(), *v = cube();
    tsr_memory_stats before, after;
    tsr_memory_get_stats(&before);
    EXPECT_OK(tsr_select(&v, t, 0, 0));
    tsr_memory_get_stats(&after);
    EXPECT(after.live_storages == before.live_storages - 1 && after.live_tensors == before.live_tensors);
    EXPECT_OK(tsr_select(&t, t, 0, 1));  /* into its own handle */
    EXPECT(tsr_storage_count(t->storage) == 2 && TSR_AT(int32_t, t, 0, 0) == 12);
    tsr_release_all(&v, &t);
}

TEST(test_views_leave_other_owners_of_a_shared_handle_alone)
{
    tsr_tensor *t = cube(), *other = tsr_retain(t);
    EXPECT(other == t && t->count == 2);
    EXPECT_OK(tsr_slice(&t, t, 0, 1, 2, 1));
    EXPECT(t != other && other->count == 1 && other->shape[0] == 2 && t->shape[0] == 1);
    EXPECT(tsr_storage_count(t->storage) == 2);
    tsr_release(&t);
    EXPECT(TSR_AT(int32_t, other, 1, 2, 3) == 23);
    tsr_release(&other);
}

TEST(test_views_of_described_tensors_and_of_none_are_refused)
{
    tsr_desc d;
    tsr_tensor *t = NULL, *v = NULL, none;
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, 1, (const int64_t[]){ 3 }, NULL));
    EXPECT_OK(tsr_declare(&t, &d, TSR_CPU, TSR_MEMORY_HOST));
    EXPECT_FAILS(tsr_slice(&v, t, 0, 0, 1, 1), TSR_ESTATE,
                 "slice: t is f32(3 | 1), which is described but has no memory (tsr_alloc)");
    EXPECT_FAILS(tsr_slice(&v, tsr_place_none(&none), 0, 0, 1, 1), TSR_EDTYPE, "slice: t is no tensor");
    EXPECT(v == NULL);
    tsr_release(&t);
}

TEST(test_views_of_read_only_tensors_are_read_only)
{
    static const int32_t numbers[4] = { 1, 2, 3, 4 };
    tsr_desc d;
    tsr_tensor *t = NULL, *v = NULL;
    EXPECT_OK(tsr_desc_init(&d, TSR_I32, 2, (const int64_t[]){ 2, 2 }, NULL));
    EXPECT_OK(tsr_wrap_const(&t, numbers, &d));
    EXPECT_OK(tsr_transpose(&v, t, 0, 1));
    EXPECT_OK(tsr_bit_view(&v, v, TSR_U32));
    EXPECT(tsr_is_readonly(v));
    EXPECT_FAILS(tsr_zero(v), TSR_EREADONLY, "zero: t is u32(2, 2 | 1, 2) in read-only memory");
    EXPECT_OK(tsr_reshape(&v, v, TSR_SHAPE(4)));  /* a copy is the caller's own */
    EXPECT(!tsr_is_readonly(v));
    EXPECT_OK(tsr_zero(v));
    tsr_release_all(&v, &t);
}
