/* test_desc.c - descs as values: corner cases, and what is refused in which words. What a desc reaches, and
 * what its queries say, is compared with enumeration in tests/property/test_view_algebra.c; descs that are no
 * descs are in test_bad_input.c. */
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
    EXPECT_DESC(NULL, "no desc");
    d.dtype = TSR_DTYPE_INVALID;
    EXPECT(!strncmp(text(&d), "invalid desc", 12));
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

TEST(test_desc_dims_that_are_not_there_are_refused_in_words)
{
    tsr_desc d = strided(TSR_F32, 3, DIMS(2, 3, 4), NULL);
    int64_t n = 0;
    EXPECT_FAILS(tsr_desc_dim(&n, &d, 3), TSR_EINDEX,
                 "dim: axis 3 of f32(2, 3, 4 | 12, 4, 1), which has 3 dims");
    EXPECT_FAILS(tsr_desc_dim(&n, &d, -4), TSR_EINDEX,
                 "dim: axis -4 of f32(2, 3, 4 | 12, 4, 1), which has 3 dims");
    EXPECT_FAILS(tsr_desc_dim(NULL, &d, 0), TSR_ENULL, "dim: out is NULL");
    EXPECT(n == 0);
}

TEST(test_desc_indices_that_are_not_there_are_refused_in_words)
{
    tsr_desc d = strided(TSR_F32, 3, DIMS(2, 3, 4), DIMS(-12, 0, 2));
    int64_t at = 0;
    EXPECT_FAILS(tsr_desc_offset(&at, &d, 2, DIMS(0, 3)), TSR_EINDEX,
                 "offset: index 3 of dim 1 of f32(2, 3, 4 | -12, 0, 2), which has 3");
    EXPECT_FAILS(tsr_desc_offset(&at, &d, 1, DIMS(-3)), TSR_EINDEX, "offset: index -3 of dim 0");
    EXPECT_FAILS(tsr_desc_offset(&at, &d, 4, DIMS(0, 0, 0, 0)), TSR_ESHAPE, "offset: 4 indices");
    EXPECT_FAILS(tsr_desc_offset(&at, &d, 2, NULL), TSR_ENULL, "offset: index is NULL");
    EXPECT_STATUS(tsr_desc_offset(&at, &d, 1, DIMS(INT64_MIN)), TSR_EINDEX);
    EXPECT_STATUS(tsr_desc_offset(&at, &d, 1, DIMS(INT64_MAX)), TSR_EINDEX);
    EXPECT(at == 0);
}

/* Shape arithmetic ------------------------------------------------------------------ */

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

TEST(test_desc_matrices_that_do_not_fit_are_refused_in_words)
{
    const tsr_desc m23 = strided(TSR_F32, 2, DIMS(2, 3), NULL), m34 = strided(TSR_F32, 2, DIMS(3, 4), NULL);
    const tsr_desc v3 = strided(TSR_F32, 1, DIMS(3), NULL), s = strided(TSR_F32, 0, NULL, NULL);
    const tsr_desc b523 = strided(TSR_F32, 3, DIMS(5, 2, 3), NULL),
                   b634 = strided(TSR_F32, 3, DIMS(6, 3, 4), NULL);
    EXPECT_FAILS(tsr_desc_matmul_check(&m34, &m23), TSR_ESHAPE, "k is 4 from a, but dim -2 of b is 2");
    EXPECT_FAILS(tsr_desc_matmul_check(&m34, &v3), TSR_ESHAPE, "dim -1 of b is 3");
    EXPECT_FAILS(tsr_desc_matmul_check(&b523, &b634), TSR_ESHAPE, "batch dims");
    EXPECT_FAILS(tsr_desc_matmul_check(&s, &m34), TSR_ESHAPE, "a is a scalar");
    EXPECT_FAILS(tsr_desc_matmul_check(&m23, &s), TSR_ESHAPE, "b is a scalar");
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
