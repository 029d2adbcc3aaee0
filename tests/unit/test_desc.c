/* test_desc.c - descs as values: making, checking, asking. Views are in test_view.c. */
#include "test.h"

#include "core/desc_int.h"

/* "f32(3, 4 | 4, 1)" */
static const char *text(const tsr_desc *d)
{
    static char buffers[4][256];
    static int next;
    char *out = buffers[next++ % 4];
    (void)tsr_desc_to_string(out, sizeof buffers[0], d);
    return out;
}

#define EXPECT_DESC(d, wanted) EXPECT_MSG(!strcmp(text(d), (wanted)), "%s, not %s", text(d), (wanted))

static tsr_desc strided(tsr_dtype dtype, int ndim, const int64_t *shape, const int64_t *stride)
{
    tsr_desc d = { .dtype = TSR_DTYPE_INVALID };
    EXPECT_OK(tsr_desc_init(&d, dtype, ndim, shape, stride));
    return d;
}

#define DIMS(...) (const int64_t[]){ __VA_ARGS__ }

/* Making ------------------------------------------------------------------------- */

TEST(test_desc_without_strides_is_row_major_and_packed)
{
    tsr_desc d = strided(TSR_F32, 3, DIMS(2, 3, 4), NULL);
    EXPECT_DESC(&d, "f32(2, 3, 4 | 12, 4, 1)");
    EXPECT(tsr_desc_numel(&d) == 24 && tsr_desc_bytes(&d) == 96);
    EXPECT(tsr_desc_is_contiguous(&d) && !tsr_desc_is_column_major(&d) && tsr_desc_is_dense(&d));
    EXPECT_OK(tsr_desc_init_column_major(&d, TSR_F32, 3, DIMS(2, 3, 4)));
    EXPECT_DESC(&d, "f32(2, 3, 4 | 1, 2, 6)");
    EXPECT(!tsr_desc_is_contiguous(&d) && tsr_desc_is_column_major(&d) && tsr_desc_is_dense(&d));
}

TEST(test_desc_packed_strides_are_computed_with_max_of_size_and_one)
{
    tsr_desc d = strided(TSR_I8, 4, DIMS(2, 0, 3, 0), NULL);
    EXPECT_DESC(&d, "i8(2, 0, 3, 0 | 3, 3, 1, 1)");
    EXPECT_OK(tsr_desc_init_column_major(&d, TSR_I8, 4, DIMS(2, 0, 3, 0)));
    EXPECT_DESC(&d, "i8(2, 0, 3, 0 | 1, 2, 2, 6)");
}

TEST(test_desc_packed_is_what_init_makes_and_is_checked_where_it_is_used)
{
    float memory[6] = { 0 };
    tsr_tensor *t = NULL;
    tsr_desc d;
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(2, 0, 3), NULL));
    EXPECT(tsr_desc_same(&d, TSR_DESC(TSR_F32, 2, 0, 3)));
    EXPECT_OK(tsr_wrap(&t, memory, TSR_DESC(TSR_F32, 2, 3)));
    EXPECT(t->ndim == 2 && t->stride[0] == 3 && t->stride[1] == 1);
    tsr_release(&t);
    EXPECT_FAILS(tsr_wrap(&t, memory, TSR_DESC(TSR_F32, 2, -3)), TSR_ESHAPE, "dim 1 is -3 in shape (2, -3)");
    EXPECT_FAILS(tsr_wrap(&t, memory, TSR_DESC(TSR_F32, INT64_MAX, INT64_MAX, 4)), TSR_EOVERFLOW, "exceed");
    d = tsr_desc_packed(TSR_F32, TSR_MAX_NDIM + 1, (int64_t[TSR_MAX_NDIM + 1]){ 1 });
    EXPECT_FAILS(tsr_wrap(&t, memory, &d), TSR_EINVAL, "rank 17");
    d = tsr_desc_packed(TSR_F32, -1, NULL);
    EXPECT_FAILS(tsr_wrap(&t, memory, &d), TSR_EINVAL, "-1");
}

TEST(test_desc_of_rank_zero_is_a_scalar_with_one_element)
{
    tsr_desc d = strided(TSR_F64, 0, NULL, NULL);
    int64_t lo = 5, hi = 5;
    EXPECT_DESC(&d, "f64()");
    EXPECT(tsr_desc_numel(&d) == 1 && tsr_desc_bytes(&d) == 8);
    EXPECT(tsr_desc_span(&d, &lo, &hi) == 8 && lo == 0 && hi == 8);
    EXPECT(tsr_desc_is_contiguous(&d) && tsr_desc_is_column_major(&d) && tsr_desc_is_dense(&d));
    EXPECT(!tsr_desc_has_broadcast(&d) && !tsr_desc_self_overlaps(&d));
}

TEST(test_desc_with_a_dim_of_zero_has_no_elements_and_is_contiguous)
{
    tsr_desc d = strided(TSR_F32, 3, DIMS(4, 0, 2), DIMS(-7, 0, INT64_MAX));
    int64_t lo = 5, hi = 5;
    EXPECT(tsr_desc_numel(&d) == 0 && tsr_desc_bytes(&d) == 0);
    EXPECT(tsr_desc_span(&d, &lo, &hi) == 0 && lo == 0 && hi == 0);
    EXPECT(tsr_desc_is_contiguous(&d) && tsr_desc_is_column_major(&d) && tsr_desc_is_dense(&d));
    EXPECT(!tsr_desc_self_overlaps(&d) && tsr_desc_can_merge(&d, 0));
    EXPECT(tsr_desc_is_contiguous_range(&d, 0, 1));
}

TEST(test_desc_keeps_zero_and_negative_strides)
{
    tsr_desc d = strided(TSR_I32, 3, DIMS(2, 3, 4), DIMS(-12, 0, 1));
    int64_t lo, hi;
    EXPECT_DESC(&d, "i32(2, 3, 4 | -12, 0, 1)");
    EXPECT(tsr_desc_span(&d, &lo, &hi) == 64 && lo == -48 && hi == 16);
    EXPECT(tsr_desc_is_broadcast_dim(&d, 1) && tsr_desc_is_broadcast_dim(&d, -2) &&
           tsr_desc_has_broadcast(&d));
    EXPECT(!tsr_desc_is_broadcast_dim(&d, 0) && !tsr_desc_is_broadcast_dim(&d, 3) &&
           !tsr_desc_is_broadcast_dim(&d, -4));
    EXPECT(tsr_desc_self_overlaps(&d));
}

TEST(test_desc_stride_of_a_dim_of_one_never_matters)
{
    tsr_desc junk = strided(TSR_F32, 3, DIMS(1, 3, 1), DIMS(INT64_MIN, 1, INT64_MAX));
    tsr_desc d = strided(TSR_F32, 3, DIMS(1, 3, 1), NULL);
    EXPECT(tsr_desc_same(&d, &junk) && tsr_desc_is_contiguous(&junk) && tsr_desc_is_column_major(&junk));
    EXPECT(tsr_desc_is_dense(&junk) && !tsr_desc_has_broadcast(&junk) &&
           tsr_desc_span(&junk, NULL, NULL) == 12);
    EXPECT(tsr_desc_can_merge(&junk, 0) && tsr_desc_can_merge(&junk, 1));
    tsr_desc zero = strided(TSR_F32, 1, DIMS(1), DIMS(0));
    EXPECT(!tsr_desc_is_broadcast_dim(&zero, 0) && !tsr_desc_self_overlaps(&zero));
}

TEST(test_desc_of_the_highest_rank_can_be_made_and_no_higher)
{
    int64_t shape[TSR_MAX_NDIM + 1];
    tsr_desc d;
    char message[64];
    for (int i = 0; i <= TSR_MAX_NDIM; i++) shape[i] = 2;
    EXPECT_OK(tsr_desc_init(&d, TSR_U8, TSR_MAX_NDIM, shape, NULL));
    EXPECT(tsr_desc_numel(&d) == (int64_t)1 << TSR_MAX_NDIM);
    EXPECT(d.stride[0] == (int64_t)1 << (TSR_MAX_NDIM - 1));
    (void)snprintf(message, sizeof message, "desc: %d dims in shape; 0 to %d can be had", TSR_MAX_NDIM + 1,
                   TSR_MAX_NDIM);
    EXPECT_FAILS(tsr_desc_init(&d, TSR_U8, TSR_MAX_NDIM + 1, shape, NULL), TSR_EINVAL, message);
    EXPECT_FAILS(tsr_desc_init(&d, TSR_U8, -1, shape, NULL), TSR_EINVAL, "desc: -1 dims in shape");
    EXPECT(d.ndim == TSR_MAX_NDIM);
    EXPECT(tsr_build_max_ndim() == TSR_MAX_NDIM);
}

TEST(test_desc_failures_say_what_was_wrong_and_leave_the_result_alone)
{
    tsr_desc d = strided(TSR_F32, 2, DIMS(2, 3), NULL);
    EXPECT_FAILS(tsr_desc_init(NULL, TSR_F32, 1, DIMS(2), NULL), TSR_ENULL, "desc: out is NULL");
    EXPECT_FAILS(tsr_desc_init(&d, TSR_F32, 1, NULL, NULL), TSR_ENULL, "desc: shape is NULL");
    EXPECT_FAILS(tsr_desc_init(&d, TSR_DTYPE_INVALID, 1, DIMS(2), NULL), TSR_EDTYPE, "desc: 0 is no dtype");
    EXPECT_FAILS(tsr_desc_init(&d, (tsr_dtype)99, 1, DIMS(2), NULL), TSR_EDTYPE, "desc: 99 is no dtype");
    EXPECT_FAILS(tsr_desc_init(&d, TSR_F32, 3, DIMS(2, -5, 1), NULL), TSR_ESHAPE,
                 "desc: dim 1 is -5 in shape (2, -5, 1)");
    EXPECT_FAILS(tsr_desc_init(&d, TSR_F32, 2, DIMS(INT64_MAX, 2), DIMS(0, 0)), TSR_EOVERFLOW,
                 "desc: the number of elements of shape (9223372036854775807, 2) exceeds 2^63 - 1");
    EXPECT_FAILS(tsr_desc_init(&d, TSR_F32, 1, DIMS(INT64_MAX / 2), DIMS(0)), TSR_EOVERFLOW,
                 "desc: the bytes of f32(4611686018427387903 | 0) exceed 2^63 - 1");
    EXPECT_FAILS(tsr_desc_init(&d, TSR_U8, 1, DIMS(3), DIMS(INT64_MAX)), TSR_EOVERFLOW,
                 "desc: the strides of u8(3 | 9223372036854775807) reach over more than 2^63 - 1 bytes");
    EXPECT_DESC(&d, "f32(2, 3 | 3, 1)");
}

TEST(test_desc_check_accepts_what_init_makes_and_nothing_else)
{
    tsr_desc d = strided(TSR_F32, 2, DIMS(2, 3), DIMS(-9, 0));
    EXPECT_OK(tsr_desc_check(&d));
    EXPECT_FAILS(tsr_desc_check(NULL), TSR_ENULL, "desc is NULL");
    d.ndim = TSR_MAX_NDIM + 1;
    EXPECT_FAILS(tsr_desc_check(&d), TSR_EINVAL, "rank");
    d.ndim = -1;
    EXPECT_STATUS(tsr_desc_check(&d), TSR_EINVAL);
    d.ndim = 2;
    d.shape[0] = -1;
    EXPECT_STATUS(tsr_desc_check(&d), TSR_ESHAPE);
    d.shape[0] = 2;
    d.dtype = (tsr_dtype)-3;
    EXPECT_STATUS(tsr_desc_check(&d), TSR_EDTYPE);
}

/* Asking ------------------------------------------------------------------------- */

TEST(test_desc_queries_of_null_or_invalid_descs_answer_nothing)
{
    tsr_desc bad[4] = { strided(TSR_F32, 2, DIMS(2, 3), NULL) };
    for (int i = 1; i < 4; i++) bad[i] = bad[0];
    bad[0].dtype = TSR_DTYPE_INVALID;
    bad[1].ndim = TSR_MAX_NDIM + 1;
    bad[2].ndim = -2;
    bad[3].shape[0] = -2;  /* with strides that would be packed */
    for (int i = 0; i <= 4; i++) {
        const tsr_desc *d = i < 4 ? &bad[i] : NULL;
        int64_t lo = 3, hi = 3;
        EXPECT_MSG(tsr_desc_numel(d) == 0 && tsr_desc_bytes(d) == 0, "desc %d", i);
        EXPECT_MSG(tsr_desc_span(d, &lo, &hi) == 0 && lo == 0 && hi == 0, "desc %d", i);
        EXPECT_MSG(!tsr_desc_is_contiguous(d) && !tsr_desc_is_column_major(d) && !tsr_desc_is_dense(d),
                   "desc %d", i);
        EXPECT_MSG(!tsr_desc_is_contiguous_range(d, 0, 1) && !tsr_desc_can_merge(d, 0), "desc %d", i);
        EXPECT_MSG(!tsr_desc_is_broadcast_dim(d, 0) && !tsr_desc_has_broadcast(d), "desc %d", i);
        EXPECT_MSG(!tsr_desc_self_overlaps(d), "desc %d", i);
        EXPECT_MSG(!tsr_desc_same(d, d) && !tsr_desc_same_shape(d, d), "desc %d", i);
    }
    EXPECT_DESC(NULL, "no desc");
    EXPECT_DESC(&bad[3], "f32(-2, 3 | 3, 1)");
    EXPECT(!strncmp(text(&bad[0]), "invalid desc", 12) && !strncmp(text(&bad[1]), "invalid desc", 12));
}

TEST(test_desc_dense_means_packed_in_some_order_even_backwards)
{
    tsr_desc d = strided(TSR_F32, 3, DIMS(2, 3, 4), DIMS(4, -8, 1));
    EXPECT(tsr_desc_is_dense(&d) && !tsr_desc_is_contiguous(&d));
    d = strided(TSR_F32, 2, DIMS(3, 4), DIMS(5, 1));
    EXPECT(!tsr_desc_is_dense(&d));
    d = strided(TSR_F32, 2, DIMS(2, 2), DIMS(1, 1));
    EXPECT(!tsr_desc_is_dense(&d));
    d = strided(TSR_F32, 2, DIMS(2, 2), DIMS(1, -1));
    EXPECT(!tsr_desc_is_dense(&d));
    d = strided(TSR_F32, 2, DIMS(2, 3), DIMS(0, 1));
    EXPECT(!tsr_desc_is_dense(&d));
}

TEST(test_desc_range_asks_only_about_its_dims)
{
    tsr_desc d = strided(TSR_F32, 3, DIMS(2, 3, 4), DIMS(100, 4, 1));
    EXPECT(tsr_desc_is_contiguous_range(&d, 1, 3) && !tsr_desc_is_contiguous_range(&d, 0, 3));
    EXPECT(tsr_desc_is_contiguous_range(&d, 2, 2) && tsr_desc_is_contiguous_range(&d, 0, 0));
    EXPECT(!tsr_desc_is_contiguous_range(&d, 0, 2) && !tsr_desc_is_contiguous_range(&d, 0, 1));
    EXPECT(!tsr_desc_is_contiguous_range(&d, -1, 2) && !tsr_desc_is_contiguous_range(&d, 0, 4) &&
           !tsr_desc_is_contiguous_range(&d, 2, 1));
}

TEST(test_desc_dims_merge_when_they_are_contiguous)
{
    tsr_desc d = strided(TSR_F32, 4, DIMS(2, 3, 4, 5), DIMS(60, 20, 5, 2));
    EXPECT(tsr_desc_can_merge(&d, 0) && tsr_desc_can_merge(&d, -4));
    EXPECT(tsr_desc_can_merge(&d, 1) && !tsr_desc_can_merge(&d, 2));
    EXPECT(!tsr_desc_can_merge(&d, 3) && !tsr_desc_can_merge(&d, -1) && !tsr_desc_can_merge(&d, 9));
    d = strided(TSR_F32, 2, DIMS(3, 4), DIMS(0, 0));
    EXPECT(tsr_desc_can_merge(&d, 0));
}

TEST(test_desc_same_compares_what_counts)
{
    tsr_desc a = strided(TSR_F32, 2, DIMS(2, 3), NULL), b = a;
    b.shape[2] = 77;  /* beyond the rank */
    EXPECT(tsr_desc_same(&a, &b) && tsr_desc_same_shape(&a, &b));
    b.dtype = TSR_I32;
    EXPECT(!tsr_desc_same(&a, &b) && tsr_desc_same_shape(&a, &b));
    b = strided(TSR_F32, 2, DIMS(2, 3), DIMS(4, 1));
    EXPECT(!tsr_desc_same(&a, &b) && tsr_desc_same_shape(&a, &b));
    b = strided(TSR_F32, 1, DIMS(6), NULL);
    EXPECT(!tsr_desc_same_shape(&a, &b));
    a = strided(TSR_F32, 2, DIMS(0, 3), DIMS(9, 9));
    b = strided(TSR_F32, 2, DIMS(0, 3), NULL);
    EXPECT(tsr_desc_same(&a, &b));
}

TEST(test_desc_dim_counts_from_either_end)
{
    tsr_desc d = strided(TSR_F32, 3, DIMS(2, 3, 4), NULL);
    int64_t n = 0;
    EXPECT_OK(tsr_desc_dim(&n, &d, 0));
    EXPECT(n == 2);
    EXPECT_OK(tsr_desc_dim(&n, &d, -1));
    EXPECT(n == 4);
    EXPECT_FAILS(tsr_desc_dim(&n, &d, 3), TSR_EINDEX,
                 "dim: axis 3 of f32(2, 3, 4 | 12, 4, 1), which has 3 dims");
    EXPECT_FAILS(tsr_desc_dim(&n, &d, -4), TSR_EINDEX,
                 "dim: axis -4 of f32(2, 3, 4 | 12, 4, 1), which has 3 dims");
    EXPECT_FAILS(tsr_desc_dim(NULL, &d, 0), TSR_ENULL, "dim: out is NULL");
    EXPECT(n == 4);
}

TEST(test_desc_offset_is_the_sum_of_index_times_stride)
{
    tsr_desc d = strided(TSR_F32, 3, DIMS(2, 3, 4), DIMS(-12, 0, 2));
    int64_t at = 0;
    EXPECT_OK(tsr_desc_offset(&at, &d, 3, DIMS(1, 2, 3)));
    EXPECT(at == -6);
    EXPECT_OK(tsr_desc_offset(&at, &d, 3, DIMS(-1, -1, -4)));
    EXPECT(at == -12);
    EXPECT_OK(tsr_desc_offset(&at, &d, 1, DIMS(1)));
    EXPECT(at == -12);
    EXPECT_OK(tsr_desc_offset(&at, &d, 0, NULL));
    EXPECT(at == 0);
    EXPECT_FAILS(tsr_desc_offset(&at, &d, 2, DIMS(0, 3)), TSR_EINDEX,
                 "offset: index 3 of dim 1 of f32(2, 3, 4 | -12, 0, 2), which has 3");
    EXPECT_FAILS(tsr_desc_offset(&at, &d, 1, DIMS(-3)), TSR_EINDEX, "offset: index -3 of dim 0");
    EXPECT_FAILS(tsr_desc_offset(&at, &d, 4, DIMS(0, 0, 0, 0)), TSR_ESHAPE, "offset: 4 indices");
    EXPECT_FAILS(tsr_desc_offset(&at, &d, 2, NULL), TSR_ENULL, "offset: index is NULL");
    EXPECT_STATUS(tsr_desc_offset(&at, &d, 1, DIMS(INT64_MIN)), TSR_EINDEX);
    EXPECT_STATUS(tsr_desc_offset(&at, &d, 1, DIMS(INT64_MAX)), TSR_EINDEX);
}

TEST(test_desc_text_is_cut_to_fit_and_measured_whole)
{
    tsr_desc d = strided(TSR_BF16, 2, DIMS(3, 4), DIMS(4, -1));
    char out[32];
    EXPECT(tsr_desc_to_string(NULL, 0, &d) == strlen("bf16(3, 4 | 4, -1)"));
    for (size_t size = 0; size <= sizeof out; size++) {
        memset(out, '#', sizeof out);
        EXPECT(tsr_desc_to_string(out, size, &d) == 18);
        for (size_t i = size; i < sizeof out; i++) EXPECT(out[i] == '#');
        if (size > 0)
            EXPECT(strlen(out) == (size <= 18 ? size - 1 : 18) &&
                   !strncmp(out, "bf16(3, 4 | 4, -1)", strlen(out)));
    }
}

/* Shape arithmetic ------------------------------------------------------------------ */

TEST(test_desc_broadcast_aligns_at_the_right_and_repeats_ones)
{
    const tsr_desc a = strided(TSR_F32, 3, DIMS(5, 1, 4), NULL), b = strided(TSR_F32, 2, DIMS(3, 1), NULL);
    const tsr_desc c = strided(TSR_F32, 0, NULL, NULL), zero = strided(TSR_F32, 1, DIMS(0), NULL);
    const tsr_desc one = strided(TSR_F32, 2, DIMS(1, 1), NULL);
    int ndim = -1;
    int64_t shape[TSR_MAX_NDIM];
    EXPECT_OK(tsr_desc_broadcast(&ndim, shape, 3, (const tsr_desc *const[]){ &a, &b, &c }));
    EXPECT(ndim == 3 && shape[0] == 5 && shape[1] == 3 && shape[2] == 4);
    EXPECT_OK(tsr_desc_broadcast(&ndim, shape, 2, (const tsr_desc *const[]){ &zero, &one }));
    EXPECT(ndim == 2 && shape[0] == 1 && shape[1] == 0);
    EXPECT_OK(tsr_desc_broadcast(&ndim, shape, 1, (const tsr_desc *const[]){ &c }));
    EXPECT(ndim == 0);
}

TEST(test_desc_broadcast_names_the_operands_and_dims_that_disagree)
{
    const tsr_desc a = strided(TSR_F32, 2, DIMS(2, 3), NULL), b = strided(TSR_F32, 2, DIMS(2, 4), NULL);
    const tsr_desc one = strided(TSR_F32, 1, DIMS(1), NULL);
    int ndim = -1;
    int64_t shape[TSR_MAX_NDIM];
    EXPECT_FAILS(tsr_desc_broadcast(&ndim, shape, 3, (const tsr_desc *const[]){ &one, &a, &b }), TSR_ESHAPE,
                 "broadcast: dim -1 is 3 in operand 1 f32(2, 3 | 3, 1) and 4 in operand 2 f32(2, 4 | 4, 1)");
    EXPECT_FAILS(tsr_desc_broadcast(&ndim, shape, 2, (const tsr_desc *const[]){ &a, NULL }), TSR_ENULL,
                 "broadcast: operand 1 is NULL");
    EXPECT_STATUS(tsr_desc_broadcast(&ndim, shape, 0, (const tsr_desc *const[]){ &a }), TSR_EINVAL);
    EXPECT_STATUS(tsr_desc_broadcast(NULL, shape, 1, (const tsr_desc *const[]){ &a }), TSR_ENULL);
    EXPECT_STATUS(tsr_desc_broadcast(&ndim, NULL, 1, (const tsr_desc *const[]){ &a }), TSR_ENULL);
    EXPECT(ndim == -1);
}

TEST(test_desc_matmul_check_follows_the_matrix_rule)
{
    const tsr_desc m23 = strided(TSR_F32, 2, DIMS(2, 3), NULL), m34 = strided(TSR_F32, 2, DIMS(3, 4), NULL);
    const tsr_desc v3 = strided(TSR_F32, 1, DIMS(3), NULL), s = strided(TSR_F32, 0, NULL, NULL);
    const tsr_desc b523 = strided(TSR_F32, 3, DIMS(5, 2, 3), NULL),
                   b634 = strided(TSR_F32, 3, DIMS(6, 3, 4), NULL);
    const tsr_desc b134 = strided(TSR_F32, 3, DIMS(1, 3, 4), NULL);
    EXPECT_OK(tsr_desc_matmul_check(&m23, &m34));
    EXPECT_OK(tsr_desc_matmul_check(&m23, &v3));
    EXPECT_OK(tsr_desc_matmul_check(&v3, &m34));
    EXPECT_OK(tsr_desc_matmul_check(&v3, &v3));
    EXPECT_OK(tsr_desc_matmul_check(&b523, &m34));
    EXPECT_OK(tsr_desc_matmul_check(&b523, &b134));
    EXPECT_FAILS(tsr_desc_matmul_check(&m34, &m23), TSR_ESHAPE, "k is 4 from a, but dim -2 of b is 2");
    EXPECT_FAILS(tsr_desc_matmul_check(&m34, &v3), TSR_ESHAPE, "dim -1 of b is 3");
    EXPECT_FAILS(tsr_desc_matmul_check(&b523, &b634), TSR_ESHAPE, "batch dims");
    EXPECT_FAILS(tsr_desc_matmul_check(&s, &m34), TSR_ESHAPE, "a is a scalar");
    EXPECT_FAILS(tsr_desc_matmul_check(&m23, &s), TSR_ESHAPE, "b is a scalar");
}

TEST(test_desc_packed_like_keeps_the_order_that_memory_has)
{
    tsr_desc d = strided(TSR_F32, 3, DIMS(2, 3, 4), DIMS(1, 2, 6)), like;
    EXPECT_OK(tsr_desc_packed_like(&like, &d, TSR_I8));
    EXPECT_DESC(&like, "i8(2, 3, 4 | 1, 2, 6)");
    d = strided(TSR_F32, 3, DIMS(2, 3, 4), DIMS(-100, 1, 10));
    EXPECT_OK(tsr_desc_packed_like(&like, &d, TSR_F32));
    EXPECT_DESC(&like, "f32(2, 3, 4 | 12, 1, 3)");
    d = strided(TSR_F32, 3, DIMS(2, 3, 4), DIMS(0, 0, 0));
    EXPECT_OK(tsr_desc_packed_like(&like, &d, TSR_F32));
    EXPECT_DESC(&like, "f32(2, 3, 4 | 12, 4, 1)");
    d = strided(TSR_F32, 3, DIMS(2, 1, 4), DIMS(1, INT64_MIN, 2));
    EXPECT_OK(tsr_desc_packed_like(&d, &d, TSR_F32));
    EXPECT(tsr_desc_is_dense(&d) && d.stride[0] == 1 && d.stride[2] == 2);
    EXPECT_STATUS(tsr_desc_packed_like(&like, &d, TSR_DTYPE_INVALID), TSR_EDTYPE);
}

TEST(test_desc_view_offsets_need_not_be_asked_for)
{
    const tsr_desc d = strided(TSR_C64, 2, DIMS(3, 4), NULL);
    tsr_desc v;
    EXPECT_OK(tsr_desc_slice(&v, NULL, &d, 0, 1, 3, 1));
    EXPECT_DESC(&v, "c64(2, 4 | 4, 1)");
    EXPECT_OK(tsr_desc_select(&v, NULL, &d, 1, -1));
    EXPECT_DESC(&v, "c64(3 | 4)");
    EXPECT_OK(tsr_desc_flip(&v, NULL, &d, 0, NULL));
    EXPECT_DESC(&v, "c64(3, 4 | -4, -1)");
    EXPECT_OK(tsr_desc_diagonal(&v, NULL, &d, 1, 0, 1));
    EXPECT_DESC(&v, "c64(3 | 5)");
    EXPECT_OK(tsr_desc_imag(&v, NULL, &d));
    EXPECT_DESC(&v, "f32(3, 4 | 8, 2)");
}

TEST(test_desc_view_offsets_count_elements_of_the_result)
{
    const tsr_desc d = strided(TSR_C64, 2, DIMS(3, 4), DIMS(-4, 1));
    tsr_desc v;
    int64_t at = 77;
    EXPECT_OK(tsr_desc_slice(&v, &at, &d, 0, 2, TSR_NONE, -1));
    EXPECT(at == -8 && v.stride[0] == 4);
    EXPECT_OK(tsr_desc_flip(&v, &at, &d, 0, NULL));
    EXPECT(at == -5);
    EXPECT_OK(tsr_desc_diagonal(&v, &at, &d, -1, 0, 1));
    EXPECT(at == -4 && v.stride[0] == -3);
    EXPECT_OK(tsr_desc_imag(&v, &at, &d));
    EXPECT(at == 1);  /* one f32 further */
}

/* Helpers that the rest of the library stands on -------------------------------------- */

TEST(test_desc_arithmetic_helpers_refuse_to_overflow)
{
    int64_t r = 7;
    EXPECT(tsri_mul(&r, INT64_C(3037000499), INT64_C(3037000499)) && r == INT64_C(9223372030926249001));
    EXPECT(!tsri_mul(&r, INT64_MAX, 2) && r == INT64_C(9223372030926249001));
    EXPECT(!tsri_mul(&r, INT64_MIN, -1));
    EXPECT(tsri_add(&r, INT64_MAX, 0) && r == INT64_MAX && !tsri_add(&r, INT64_MAX, 1) && r == INT64_MAX);
    EXPECT(!tsri_add(&r, INT64_MIN, -1));
}
