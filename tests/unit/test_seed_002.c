/* test_seed_002.c - what seed 002 (LLAISYS' Tensor) describes, natively.
 *
 * docs/seeds.md says which call stands for which function of the document. */
#include "test.h"

/* 0, 1, 2, ... of a dtype, in the given shape. */
static tsr_tensor *counting(tsr_dtype dtype, int ndim, const int64_t *shape)
{
    tsr_tensor *t = NULL;
    int64_t n = 1;
    for (int i = 0; i < ndim; i++) n *= shape[i];
    EXPECT_OK(tsr_arange(&t, dtype, TSR_SCALAR(0), TSR_SCALAR(n), TSR_SCALAR(1)));
    EXPECT_OK(tsr_view(&t, t, ndim, shape));
    return t;
}

static double value_at(const tsr_tensor *t, int n, const int64_t *index)
{
    tsr_scalar s = TSR_SCALAR(-1);
    EXPECT_OK(tsr_get(&s, t, n, index));
    return tsr_scalar_to_f64(s);
}

/* load ------------------------------------------------------------------------------ */

TEST(test_seed_002_load_copies_host_data_into_the_tensor)
{
    const float data[6] = { 1, 2, 3, 4, 5, 6 };
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_zeros(&t, TSR_F32, TSR_SHAPE(2, 3)));
    EXPECT_OK(tsr_load(t, data, sizeof data));
    EXPECT(t->data != data && memcmp(t->data, data, sizeof data) == 0);
    tsr_release(&t);
}

TEST(test_seed_002_load_honours_the_offset_of_a_slice)
{
    const float data[3] = { 10, 20, 30 };
    const float want[9] = { 0, 0, 0, 10, 20, 30, 0, 0, 0 };
    tsr_tensor *t = NULL, *row = NULL;
    EXPECT_OK(tsr_zeros(&t, TSR_F32, TSR_SHAPE(3, 3)));
    EXPECT_OK(tsr_slice(&row, t, 0, 1, 2, 1));
    EXPECT_OK(tsr_load(row, data, sizeof data));
    EXPECT(memcmp(t->data, want, sizeof want) == 0); /* the rest of the storage is untouched */
    tsr_release_all(&row, &t);
}

TEST(test_seed_002_load_honours_strides)
{
    const float data[6] = { 1, 2, 3, 4, 5, 6 };
    const float want[6] = { 1, 4, 2, 5, 3, 6 };
    tsr_tensor *t = NULL, *transposed = NULL;
    EXPECT_OK(tsr_zeros(&t, TSR_F32, TSR_SHAPE(3, 2)));
    EXPECT_OK(tsr_transpose(&transposed, t, 0, 1)); /* 2 x 3 */
    EXPECT_OK(tsr_load(transposed, data, sizeof data));
    EXPECT(memcmp(t->data, want, sizeof want) == 0);
    EXPECT(TSR_AT(float, transposed, 1, 0) == 4);
    tsr_release_all(&transposed, &t);
}

TEST(test_seed_002_load_allocates_a_described_tensor)
{
    const int32_t data[2] = { 7, 8 };
    tsr_desc d;
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_desc_init(&d, TSR_I32, TSR_SHAPE(2), NULL));
    EXPECT_OK(tsr_declare(&t, &d, TSR_CPU, TSR_MEMORY_HOST));
    EXPECT_OK(tsr_load(t, data, sizeof data));
    EXPECT(tsr_is_allocated(t) && TSR_AT(int32_t, t, 1) == 8);
    tsr_release(&t);
}

TEST(test_seed_002_load_checks_the_size_and_the_pointer)
{
    const float data[6] = { 1, 2, 3, 4, 5, 6 };
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_zeros(&t, TSR_F32, TSR_SHAPE(2, 3)));
    EXPECT_FAILS(tsr_load(t, data, 20), TSR_ESHAPE, "20 bytes");
    EXPECT_FAILS(tsr_load(t, NULL, 24), TSR_ENULL, "src");
    EXPECT(TSR_AT(float, t, 0, 1) == 0);
    tsr_release(&t);
}

TEST(test_seed_002_store_is_the_way_back)
{
    float back[6] = { 0 };
    const float want[6] = { 0, 3, 1, 4, 2, 5 };
    tsr_tensor *t = counting(TSR_F32, TSR_SHAPE(2, 3)), *transposed = NULL;
    EXPECT_OK(tsr_transpose(&transposed, t, 0, 1));
    EXPECT_OK(tsr_store(back, sizeof back, transposed));
    EXPECT(memcmp(back, want, sizeof want) == 0);
    tsr_release_all(&transposed, &t);
}

/* isContiguous ---------------------------------------------------------------------- */

static bool contiguous(int ndim, const int64_t *shape, const int64_t *stride)
{
    tsr_desc d;
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, ndim, shape, stride));
    return tsr_desc_is_contiguous(&d);
}

TEST(test_seed_002_is_contiguous_when_each_stride_is_the_product_behind_it)
{
    EXPECT(contiguous(TSR_SHAPE(2, 3, 4), (int64_t[]){ 12, 4, 1 }));
    EXPECT(!contiguous(TSR_SHAPE(2, 3, 4), (int64_t[]){ 4, 8, 1 }));
    EXPECT(!contiguous(TSR_SHAPE(2, 3, 4), (int64_t[]){ 24, 4, 1 }));
    EXPECT(!contiguous(TSR_SHAPE(3), (int64_t[]){ -1 }));
    EXPECT(!contiguous(TSR_SHAPE(3), (int64_t[]){ 0 }));
}

TEST(test_seed_002_is_contiguous_needs_a_last_stride_of_1)
{
    /* The recurrence stride[i] == stride[i + 1] * shape[i + 1] holds, and yet there are gaps. */
    EXPECT(!contiguous(TSR_SHAPE(2, 3), (int64_t[]){ 6, 2 }));
}

TEST(test_seed_002_is_contiguous_ignores_dims_of_size_1_and_empty_tensors)
{
    EXPECT(contiguous(TSR_SHAPE(2, 1, 4), (int64_t[]){ 4, 777, 1 }));
    EXPECT(contiguous(TSR_SHAPE(1, 4), (int64_t[]){ -5, 1 }));
    EXPECT(contiguous(TSR_SHAPE(4, 1), (int64_t[]){ 1, 9 }));
    EXPECT(contiguous(TSR_SHAPE(3, 0), (int64_t[]){ 1, 3 }));
    EXPECT(contiguous(TSR_SCALAR_SHAPE, NULL));
}

TEST(test_seed_002_is_contiguous_tells_slices_and_permutations_apart)
{
    tsr_tensor *t = counting(TSR_F32, TSR_SHAPE(4, 5)), *v = NULL;
    EXPECT(tsr_is_contiguous(t));
    EXPECT_OK(tsr_slice(&v, t, 0, 1, 3, 1));
    EXPECT(tsr_is_contiguous(v)); /* whole rows */
    EXPECT_OK(tsr_slice(&v, t, 1, 1, 3, 1));
    EXPECT(!tsr_is_contiguous(v)); /* parts of rows */
    EXPECT_OK(tsr_permute(&v, t, TSR_AXES(1, 0)));
    EXPECT(!tsr_is_contiguous(v));
    EXPECT_OK(tsr_contiguous(&v, v));
    EXPECT(tsr_is_contiguous(v) && TSR_AT(float, v, 1, 0) == 1 && TSR_AT(float, v, 0, 1) == 5);
    tsr_release_all(&v, &t);
}

/* view ------------------------------------------------------------------------------ */

TEST(test_seed_002_view_splits_and_merges_dims_of_the_same_memory)
{
    tsr_tensor *t = counting(TSR_F32, TSR_SHAPE(2, 3, 5)), *v = NULL;
    EXPECT_OK(tsr_view(&v, t, TSR_SHAPE(6, 5)));
    EXPECT(v->data == t->data && v->storage == t->storage && value_at(v, TSR_INDEX(5, 4)) == 29);
    EXPECT_OK(tsr_view(&v, t, TSR_SHAPE(5, 2, 3)));
    EXPECT(v->data == t->data && value_at(v, TSR_INDEX(4, 1, 2)) == 29 && v->stride[0] == 6);
    TSR_AT(float, v, 0, 0, 0) = 100;
    EXPECT(TSR_AT(float, t, 0, 0, 0) == 100);
    EXPECT_OK(tsr_view(&v, t, TSR_SHAPE(-1)));
    EXPECT(v->ndim == 1 && v->shape[0] == 30);
    tsr_release_all(&v, &t);
}

TEST(test_seed_002_view_keeps_strides_that_are_not_row_major)
{
    /* Columns 1 to 3 of 4 x 6, split into 2 x 2 rows: the gaps between rows stay. */
    tsr_tensor *t = counting(TSR_F32, TSR_SHAPE(4, 6)), *v = NULL;
    EXPECT_OK(tsr_slice(&v, t, 1, 1, 4, 1));
    EXPECT_OK(tsr_view(&v, v, TSR_SHAPE(2, 2, 3)));
    EXPECT(v->stride[0] == 12 && v->stride[1] == 6 && v->stride[2] == 1);
    for (int64_t i = 0; i < 2; i++)
        for (int64_t j = 0; j < 2; j++)
            for (int64_t k = 0; k < 3; k++)
                EXPECT(TSR_AT(float, v, i, j, k) == (float)((i * 2 + j) * 6 + k + 1));
    tsr_release_all(&v, &t);
}

TEST(test_seed_002_view_of_a_permuted_tensor_splits_where_strides_allow)
{
    tsr_tensor *t = counting(TSR_F32, TSR_SHAPE(6, 4)), *v = NULL;
    EXPECT_OK(tsr_permute(&v, t, TSR_AXES(1, 0))); /* f32(4, 6 | 1, 4) */
    EXPECT_OK(tsr_view(&v, v, TSR_SHAPE(2, 2, 3, 2)));
    for (int64_t i = 0; i < 4; i++)
        for (int64_t j = 0; j < 6; j++)
            EXPECT(TSR_AT(float, v, i / 2, i % 2, j / 2, j % 2) == (float)(j * 4 + i));
    tsr_release_all(&v, &t);
}

TEST(test_seed_002_view_fails_where_dims_cannot_merge_and_reshape_copies)
{
    tsr_tensor *t = counting(TSR_F32, TSR_SHAPE(3, 4)), *transposed = NULL, *flat = NULL;
    EXPECT_OK(tsr_permute(&transposed, t, TSR_AXES(1, 0)));
    EXPECT_FAILS(tsr_view(&flat, transposed, TSR_SHAPE(12)), TSR_ESTRIDE, "view");
    EXPECT(flat == NULL);
    EXPECT_OK(tsr_reshape(&flat, transposed, TSR_SHAPE(12)));
    EXPECT(!tsr_may_overlap(flat, t));
    EXPECT(TSR_AT(float, flat, 0) == 0 && TSR_AT(float, flat, 1) == 4 && TSR_AT(float, flat, 3) == 1);
    tsr_release_all(&flat, &transposed, &t);
}

TEST(test_seed_002_view_keeps_the_offset_of_a_slice)
{
    tsr_tensor *t = counting(TSR_F64, TSR_SHAPE(4, 6)), *v = NULL;
    EXPECT_OK(tsr_slice(&v, t, 0, 2, 4, 1));
    EXPECT_OK(tsr_view(&v, v, TSR_SHAPE(3, 4)));
    EXPECT((double *)v->data == (double *)t->data + 12 && TSR_AT(double, v, 2, 3) == 23);
    tsr_release_all(&v, &t);
}

TEST(test_seed_002_view_checks_the_number_of_elements)
{
    tsr_tensor *t = counting(TSR_F32, TSR_SHAPE(3, 4)), *v = NULL;
    EXPECT_FAILS(tsr_view(&v, t, TSR_SHAPE(3, 5)), TSR_ESHAPE, "view");
    EXPECT(v == NULL);
    tsr_release(&t);
}

TEST(test_seed_002_view_outlives_its_source)
{
    tsr_tensor *t = counting(TSR_F32, TSR_SHAPE(2, 3)), *v = NULL;
    EXPECT_OK(tsr_view(&v, t, TSR_SHAPE(3, 2)));
    tsr_release(&t);
    EXPECT(TSR_AT(float, v, 2, 1) == 5);
    tsr_release(&v);
}

/* permute --------------------------------------------------------------------------- */

TEST(test_seed_002_permute_reorders_shape_and_strides_together)
{
    tsr_tensor *t = counting(TSR_F32, TSR_SHAPE(2, 3, 4)), *p = NULL;
    EXPECT_OK(tsr_permute(&p, t, TSR_AXES(2, 0, 1)));
    EXPECT(p->data == t->data && p->shape[0] == 4 && p->shape[1] == 2 && p->shape[2] == 3);
    EXPECT(p->stride[0] == 1 && p->stride[1] == 12 && p->stride[2] == 4);
    for (int64_t i = 0; i < 2; i++)
        for (int64_t j = 0; j < 3; j++)
            for (int64_t k = 0; k < 4; k++) EXPECT(TSR_AT(float, p, k, i, j) == TSR_AT(float, t, i, j, k));
    tsr_release_all(&p, &t);
}

TEST(test_seed_002_permute_twice_with_the_inverse_is_the_tensor_again)
{
    tsr_tensor *t = counting(TSR_F32, TSR_SHAPE(2, 3, 4)), *p = NULL;
    EXPECT_OK(tsr_permute(&p, t, TSR_AXES(2, 0, 1)));
    EXPECT_OK(tsr_permute(&p, p, TSR_AXES(1, 2, 0)));
    EXPECT(tsr_identical(p, t));
    tsr_release_all(&p, &t);
}

TEST(test_seed_002_permute_rejects_what_is_no_permutation)
{
    tsr_tensor *t = counting(TSR_F32, TSR_SHAPE(2, 3, 4)), *p = NULL;
    EXPECT_FAILS(tsr_permute(&p, t, TSR_AXES(0, 0, 1)), TSR_EINVAL, "is named twice");
    EXPECT_FAILS(tsr_permute(&p, t, TSR_AXES(0, 1, 3)), TSR_EINDEX, "axis 3");
    EXPECT_FAILS(tsr_permute(&p, t, TSR_AXES(0, 1)), TSR_EINVAL, "2 axes");
    EXPECT_STATUS(tsr_permute(&p, t, TSR_AXES(0, 1, -2)), TSR_EINVAL); /* -2 is 1 again */
    EXPECT_STATUS(tsr_permute(&p, t, 3, NULL), TSR_ENULL);
    EXPECT(p == NULL);
    tsr_release(&t);
}

/* slice ----------------------------------------------------------------------------- */

TEST(test_seed_002_slice_narrows_the_shape_and_keeps_the_strides)
{
    tsr_tensor *t = counting(TSR_F32, TSR_SHAPE(4, 5)), *v = NULL;
    EXPECT_OK(tsr_slice(&v, t, 1, 1, 4, 1));
    EXPECT(v->shape[0] == 4 && v->shape[1] == 3 && v->stride[0] == 5 && v->stride[1] == 1);
    EXPECT(v->storage == t->storage && TSR_AT(float, v, 0, 0) == 1 && TSR_AT(float, v, 3, 2) == 18);
    tsr_release_all(&v, &t);
}

TEST(test_seed_002_slice_of_a_slice_starts_at_the_right_element)
{
    static const tsr_dtype dtypes[] = { TSR_U8, TSR_F16, TSR_I32, TSR_F64, TSR_C128 };
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        tsr_tensor *t = NULL, *v = NULL, *numbers = counting(TSR_I32, TSR_SHAPE(8, 10));
        EXPECT_OK(tsr_cast(&t, numbers, dtypes[i]));
        EXPECT_OK(tsr_slice(&v, t, 0, 2, 7, 1));
        EXPECT_OK(tsr_slice(&v, v, 1, 3, 9, 1));
        EXPECT_OK(tsr_slice(&v, v, 0, 1, 4, 1));
        EXPECT_OK(tsr_slice(&v, v, 1, 2, 4, 1));
        /* Rows 2 + 1 .. 5, columns 3 + 2 .. 6: the offset is 35 elements, once. */
        const int64_t size = (int64_t)tsr_dtype_size(dtypes[i]);
        EXPECT((char *)v->data - (char *)t->data == 35 * size);
        EXPECT(v->shape[0] == 3 && v->shape[1] == 2);
        EXPECT(value_at(v, TSR_INDEX(0, 0)) == 35 && value_at(v, TSR_INDEX(2, 1)) == 56);
        tsr_release_all(&v, &t, &numbers);
    }
}

TEST(test_seed_002_slice_of_a_permuted_tensor_uses_its_strides)
{
    tsr_tensor *t = counting(TSR_F32, TSR_SHAPE(4, 5)), *v = NULL;
    EXPECT_OK(tsr_permute(&v, t, TSR_AXES(1, 0)));
    EXPECT_OK(tsr_slice(&v, v, 0, 2, 4, 1));
    EXPECT_OK(tsr_slice(&v, v, 1, 1, 3, 1));
    EXPECT(TSR_AT(float, v, 0, 0) == 7 && TSR_AT(float, v, 1, 1) == 13);
    tsr_release_all(&v, &t);
}

TEST(test_seed_002_slice_may_be_empty_step_and_walk_backwards)
{
    tsr_tensor *t = counting(TSR_F32, TSR_SHAPE(6)), *v = NULL;
    EXPECT_OK(tsr_slice(&v, t, 0, 3, 3, 1));
    EXPECT(tsr_numel(v) == 0 && tsr_is_contiguous(v));
    EXPECT_OK(tsr_slice(&v, t, 0, 1, TSR_NONE, 2));
    EXPECT(v->shape[0] == 3 && TSR_AT(float, v, 2) == 5);
    EXPECT_OK(tsr_slice(&v, t, 0, TSR_NONE, TSR_NONE, -1));
    EXPECT(v->shape[0] == 6 && v->stride[0] == -1 && TSR_AT(float, v, 0) == 5);
    EXPECT_OK(tsr_slice(&v, v, 0, 1, 3, 1));
    EXPECT(TSR_AT(float, v, 0) == 4 && TSR_AT(float, v, 1) == 3);
    EXPECT_OK(tsr_slice(&v, t, 0, -2, TSR_NONE, 1));
    EXPECT(v->shape[0] == 2 && TSR_AT(float, v, 0) == 4);
    tsr_release_all(&v, &t);
}

TEST(test_seed_002_slice_checks_the_axis_and_the_bounds)
{
    tsr_tensor *t = counting(TSR_F32, TSR_SHAPE(2, 3)), *v = NULL;
    EXPECT_FAILS(tsr_slice(&v, t, 3, 0, 1, 1), TSR_EINDEX, "slice: axis 3 of f32(2, 3 | 3, 1)");
    EXPECT_STATUS(tsr_slice(&v, t, 1, 0, 4, 1), TSR_EINDEX);
    EXPECT_STATUS(tsr_slice(&v, t, 1, 2, 1, 1), TSR_EINDEX);
    EXPECT_STATUS(tsr_slice(&v, t, 1, 0, 3, 0), TSR_EINVAL);
    EXPECT(v == NULL);
    tsr_release(&t);
}
