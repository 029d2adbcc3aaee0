/* test_view.c - views and their handles: what they hold, what is refused, and in which words. Which elements
 * each view reaches, and with which status it fails, is in tests/property/test_view_algebra.c.
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

#define CUBE "i32(2, 3, 4 | 12, 4, 1)"

/* Refusals ------------------------------------------------------------------------------ */

TEST(test_shapes_that_do_not_hold_the_elements_are_refused_in_words)
{
    tsr_tensor *t = cube(), *empty = counting(TSR_SHAPE(0, 3)), *v = NULL;
    EXPECT_FAILS(tsr_view(&v, t, TSR_SHAPE(5, 5)), TSR_ESHAPE,
                 "view: shape (5, 5) does not hold the 24 elements of " CUBE);
    EXPECT_FAILS(tsr_view(&v, t, TSR_SHAPE(-1, 5)), TSR_ESHAPE, "view: shape (-1, 5) does not hold");
    EXPECT_FAILS(tsr_view(&v, t, TSR_SHAPE(-1, -1)), TSR_EINVAL,
                 "view: shape (-1, -1) leaves more than one dim open");
    EXPECT_FAILS(tsr_view(&v, t, TSR_SHAPE(-2, 12)), TSR_ESHAPE, "view: dim 0 is -2 in shape (-2, 12)");
    EXPECT_FAILS(tsr_view(&v, t, TSR_SHAPE(INT64_MAX, INT64_MAX)), TSR_ESHAPE, "does not hold");
    EXPECT_FAILS(tsr_view(&v, t, TSR_SHAPE(INT64_C(1) << 32, INT64_C(1) << 32)), TSR_ESHAPE, "does not hold");
    EXPECT_FAILS(tsr_view(&v, empty, TSR_SHAPE(-1, 0)), TSR_ESHAPE, "does not hold");
    EXPECT_FAILS(tsr_view(&v, empty, TSR_SHAPE(1)), TSR_ESHAPE, "does not hold the 0 elements");
    EXPECT_FAILS(tsr_view(&v, t, 1, NULL), TSR_ENULL, "view: shape is NULL");
    EXPECT_FAILS(tsr_view(NULL, t, TSR_SHAPE(24)), TSR_ENULL, "view: out is NULL");
    EXPECT_FAILS(tsr_view(&v, NULL, TSR_SHAPE(24)), TSR_ENULL, "view: t is NULL");
    EXPECT_FAILS(tsr_reshape(&v, t, TSR_SHAPE(5)), TSR_ESHAPE,
                 "reshape: shape (5) does not hold the 24 elements");
    EXPECT_FAILS(tsr_split_dim(&v, t, 2, 2, (const int64_t[]){ 5, 2 }), TSR_ESHAPE,
                 "split_dim: shape (5, 2) does not hold the 4 elements of");
    EXPECT_FAILS(tsr_expand(&v, t, TSR_SHAPE(3, 3, 4)), TSR_ESHAPE,
                 "expand: dim 0 of shape (3, 3, 4) cannot come from " CUBE);
    EXPECT_FAILS(tsr_expand(&v, t, TSR_SHAPE(2)), TSR_ESHAPE, "expand: shape (2) has fewer dims than " CUBE);
    EXPECT_STATUS(tsr_expand(&v, t, TSR_SHAPE(INT64_MAX, 2, 3, 4)), TSR_EOVERFLOW);
    EXPECT(v == NULL);
    tsr_release_all(&t, &empty);
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
    EXPECT_OK(tsr_slice(&v, t, 2, 0, 3, 1));
    EXPECT_FAILS(tsr_view(&v, v, TSR_SHAPE(18)), TSR_ESTRIDE, "as (18): dims 1 and 2 are not");
    EXPECT_FAILS(tsr_merge_dims(&v, v, 1, 2), TSR_ESTRIDE, "as (2, 9): dims 1 and 2 are not");
    EXPECT_OK(tsr_unsqueeze(&v, v, 2));
    EXPECT_FAILS(tsr_view(&v, v, TSR_SHAPE(18)), TSR_ESTRIDE,
                 "dims 1 and 3 are not contiguous");
    tsr_release_all(&v, &t);
}

TEST(test_axes_and_indices_that_are_not_there_are_refused_in_words)
{
    tsr_tensor *t = cube(), *row = counting(TSR_SHAPE(5)), *v = NULL;
    EXPECT_FAILS(tsr_slice(&v, row, 0, 0, 6, 1), TSR_EINDEX,
                 "slice: 0 to 6 by 1 leaves dim 0 of i32(5 | 1), which has 5");
    EXPECT_FAILS(tsr_slice(&v, row, 0, -9, TSR_NONE, 1), TSR_EINDEX,
                 "slice: -9 to open 5 by 1 leaves dim 0 of i32(5 | 1), which has 5");
    EXPECT_FAILS(tsr_slice(&v, row, 0, 0, 5, 0), TSR_EINVAL, "slice: step is 0");
    EXPECT_FAILS(tsr_slice(&v, row, 3, 0, 5, 1), TSR_EINDEX, "slice: axis 3 of i32(5 | 1), which has 1 dims");
    EXPECT_FAILS(tsr_select(&v, t, 3, 0), TSR_EINDEX, "select: axis 3 of " CUBE ", which has 3 dims");
    EXPECT_FAILS(tsr_select(&v, t, 0, 2), TSR_EINDEX, "select: index 2 of dim 0 of " CUBE ", which has 2");
    EXPECT_FAILS(tsr_select(&v, t, 0, -3), TSR_EINDEX, "select: index -3 of dim 0");
    EXPECT_STATUS(tsr_at_prefix(&v, t, TSR_INDEX(1, 2, 3, 0)), TSR_ESHAPE);
    EXPECT_FAILS(tsr_permute(&v, t, TSR_AXES(0, 1)), TSR_EINVAL, "permute: 2 axes for " CUBE ", which has 3");
    EXPECT_FAILS(tsr_permute(&v, t, TSR_AXES(0, 1, 1)), TSR_EINVAL, "permute: axis 1 of i32(2, 3, 4");
    EXPECT_FAILS(tsr_permute(&v, t, TSR_AXES(0, 1, -2)), TSR_EINVAL, "4, 1) is named twice");
    EXPECT_FAILS(tsr_permute(&v, t, TSR_AXES(0, 1, 3)), TSR_EINDEX, "permute: axis 3 of");
    EXPECT_FAILS(tsr_permute(&v, t, 3, NULL), TSR_ENULL, "permute: axes is NULL");
    EXPECT_FAILS(tsr_transpose(&v, t, 0, 3), TSR_EINDEX, "transpose: axis 3 of " CUBE ", which has 3 dims");
    EXPECT_FAILS(tsr_flip(&v, t, TSR_AXES(0, -3)), TSR_EINVAL, "flip: axis -3 of");
    EXPECT_FAILS(tsr_squeeze(&v, t, 1), TSR_ESHAPE, "squeeze: dim 1 of " CUBE " is 3, not 1");
    EXPECT_FAILS(tsr_unsqueeze(&v, t, 4), TSR_EINDEX, "unsqueeze: axis 4 of a result with 4 dims");
    EXPECT_FAILS(tsr_diagonal(&v, t, 0, 1, -2), TSR_EINVAL, "diagonal: axes 1 and -2 are the same");
    EXPECT_FAILS(tsr_unfold(&v, row, 0, 7, 1), TSR_ESHAPE,
                 "unfold: a window of 7 in dim 0 of i32(5 | 1), which has 5");
    EXPECT_FAILS(tsr_unfold(&v, row, 0, 1, 0), TSR_EINVAL, "unfold: step 0 must be positive");
    EXPECT_FAILS(tsr_merge_dims(&v, t, 1, 3), TSR_EINDEX, "merge_dims: 3 dims from axis 1 of");
    EXPECT(v == NULL);
    tsr_release_all(&t, &row);
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

TEST(test_as_strided_cannot_escape)
{
    tsr_tensor *t = counting(TSR_SHAPE(10)), *v = NULL;
    EXPECT_FAILS(tsr_as_strided(&v, t, 1, (const int64_t[]){ 10 }, (const int64_t[]){ 1 }, 1), TSR_EBOUNDS,
                 "as_strided: i32(10 | 1) from element 1 on leaves the memory of i32(10 | 1)");
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
    tsr_release(&t);
}

/* It has no storage: what the tensor itself reaches is all there is. */
TEST(test_as_strided_of_memory_of_ones_own_cannot_escape)
{
    float data[6] = { 0, 1, 2, 3, 4, 5 };
    tsr_tensor t, *v = NULL, *back = NULL;
    EXPECT_OK(tsr_place(&t, data, TSR_DESC(TSR_F32, 6)));
    EXPECT_OK(tsr_as_strided(&v, &t, 2, (const int64_t[]){ 2, 2 }, (const int64_t[]){ 1, 3 }, 1));
    EXPECT(v && v->data == data + 1 && v->shape[1] == 2 && v->stride[1] == 3);
    EXPECT_OK(tsr_flip(&back, &t, 1, (const int[]){ 0 }));
    EXPECT_OK(tsr_as_strided(&v, back, 1, (const int64_t[]){ 6 }, (const int64_t[]){ 1 }, -5));
    EXPECT(v && v->data == data);
    EXPECT_STATUS(tsr_as_strided(&v, &t, 1, (const int64_t[]){ 6 }, (const int64_t[]){ 1 }, 1), TSR_EBOUNDS);
    EXPECT_STATUS(tsr_as_strided(&v, &t, 1, (const int64_t[]){ 2 }, (const int64_t[]){ -1 }, 0), TSR_EBOUNDS);
    EXPECT_STATUS(tsr_as_strided(&v, back, 1, (const int64_t[]){ 7 }, (const int64_t[]){ 1 }, -5),
                  TSR_EBOUNDS);
    tsr_release_all(&v, &back);
}

TEST(test_bits_that_do_not_fit_a_dtype_are_refused_in_words)
{
    tsr_tensor *t = NULL, *v = NULL, *s = NULL;
    EXPECT_OK(tsr_zeros(&t, TSR_I32, TSR_SHAPE(2, 4)));
    EXPECT_FAILS(tsr_view_imag(&v, t), TSR_EDTYPE, "view_imag: i32(2, 4 | 4, 1) is not complex");
    EXPECT_FAILS(tsr_bit_view(&v, t, TSR_BOOL), TSR_EDTYPE,
                 "as bool, whose bytes are only 0 and 1 (tsr_cast converts)");
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
    EXPECT_OK(tsr_at_prefix(&s, t, 2, (const int64_t[]){ 0, 0 }));
    EXPECT_FAILS(tsr_bit_view(&v, s, TSR_I16), TSR_ESHAPE, "bit_view: a scalar of 4 bytes as i16");
    EXPECT(v == NULL);
    tsr_release_all(&s, &t);
}

/* Several at once --------------------------------------------------------------------------- */

TEST(test_split_rebinds_all_of_its_results_or_none)
{
    tsr_tensor *t = counting(TSR_SHAPE(2, 5)), *outs[3] = { NULL, NULL, NULL };
    EXPECT_OK(tsr_split(outs, t, 1, 3, (const int64_t[]){ 2, 0, 3 }));
    EXPECT(outs[0]->shape[1] == 2 && outs[1]->shape[1] == 0 && outs[2]->shape[1] == 3);
    EXPECT(TSR_AT(int32_t, outs[0], 1, 1) == 6 && TSR_AT(int32_t, outs[2], 1, 0) == 7);
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
    for (int i = 0; i < 3; i++)
        EXPECT(outs[i]->ndim == 1 && outs[i]->shape[0] == 2 && TSR_AT(int32_t, outs[i], 1) == 2 * i + 1);
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
    EXPECT(w->shape[0] == 3 && TSR_AT(int32_t, w, 2, 1) == 21);
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
