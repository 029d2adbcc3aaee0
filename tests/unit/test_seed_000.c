/* test_seed_000.c - what seed 000 (InfiniOP's tensor descriptor) describes, natively.
 *
 * docs/seeds.md says which call stands for which function of the document. */
#include "test.h"

/* 0, 1, 2, ... as f32(rows, cols). */
static tsr_tensor *counting(int64_t rows, int64_t cols)
{
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_arange(&t, TSR_F32, TSR_SCALAR(0), TSR_SCALAR(rows * cols), TSR_SCALAR(1)));
    EXPECT_OK(tsr_view(&t, t, TSR_SHAPE(rows, cols)));
    return t;
}

/* infiniopCreateTensorDescriptor ---------------------------------------------------- */

TEST(test_seed_000_create_descriptor_keeps_dtype_shape_and_strides)
{
    tsr_desc d;
    EXPECT_OK(tsr_desc_init(&d, TSR_F16, TSR_SHAPE(2, 3, 4), (int64_t[]){ 100, 8, 2 }));
    EXPECT(d.dtype == TSR_F16 && d.ndim == 3);
    EXPECT(d.shape[0] == 2 && d.shape[1] == 3 && d.shape[2] == 4);
    EXPECT(d.stride[0] == 100 && d.stride[1] == 8 && d.stride[2] == 2);
    EXPECT(tsr_desc_numel(&d) == 24);
}

TEST(test_seed_000_create_descriptor_of_rank_0_is_a_scalar_with_null_shape)
{
    tsr_desc d;
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, 0, NULL, NULL));
    EXPECT(d.ndim == 0 && tsr_desc_numel(&d) == 1 && tsr_desc_bytes(&d) == 4);
    EXPECT(tsr_desc_is_contiguous(&d));

    tsr_tensor *t = NULL;
    double value = 0;
    EXPECT_OK(tsr_full(&t, TSR_F32, TSR_SCALAR_SHAPE, TSR_SCALAR(2.5)));
    EXPECT(tsr_is_scalar(t));
    EXPECT_OK(tsr_item_f64(&value, t));
    EXPECT(value == 2.5);
    tsr_release(&t);
}

TEST(test_seed_000_create_descriptor_with_null_strides_is_contiguous)
{
    tsr_desc d;
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(2, 3, 4), NULL));
    EXPECT(d.stride[0] == 12 && d.stride[1] == 4 && d.stride[2] == 1);
    EXPECT(tsr_desc_is_contiguous(&d));

    /* A dim of size 0 counts as 1 in the strides before it. */
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(2, 0, 4), NULL));
    EXPECT(d.stride[0] == 4 && d.stride[1] == 4 && d.stride[2] == 1);
    EXPECT(tsr_desc_numel(&d) == 0 && tsr_desc_is_contiguous(&d));
}

TEST(test_seed_000_create_descriptor_accepts_negative_strides)
{
    tsr_desc d;
    int64_t lo = 0, hi = 0;
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(2, 3), (int64_t[]){ 3, -1 }));
    EXPECT(d.stride[0] == 3 && d.stride[1] == -1 && !tsr_desc_is_contiguous(&d));
    EXPECT(tsr_desc_span(&d, &lo, &hi) == 6 * 4);
    EXPECT(lo == -2 * 4 && hi == 4 * 4);
}

TEST(test_seed_000_create_descriptor_reports_null_pointers)
{
    tsr_desc d = { .ndim = 77 };
    EXPECT_FAILS(tsr_desc_init(NULL, TSR_F32, TSR_SHAPE(2), NULL), TSR_ENULL, "out");
    EXPECT_FAILS(tsr_desc_init(&d, TSR_F32, 2, NULL, NULL), TSR_ENULL, "shape");
    EXPECT(d.ndim == 77);
}

TEST(test_seed_000_create_descriptor_rejects_what_is_no_descriptor)
{
    tsr_desc d;
    EXPECT_STATUS(tsr_desc_init(&d, TSR_DTYPE_INVALID, TSR_SHAPE(2), NULL), TSR_EDTYPE);
    EXPECT_STATUS(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(2, -1), NULL), TSR_ESHAPE);
    static const int64_t many[TSR_MAX_NDIM + 1];
    EXPECT_STATUS(tsr_desc_init(&d, TSR_F32, TSR_MAX_NDIM + 1, many, NULL), TSR_EINVAL);
    EXPECT_STATUS(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(INT64_MAX, 2), NULL), TSR_EOVERFLOW);
}

/* infiniopDestroyTensorDescriptor --------------------------------------------------- */

TEST(test_seed_000_descriptors_are_values_and_need_no_destroying)
{
    tsr_memory_stats before, after;
    tsr_desc a, b;
    tsr_memory_get_stats(&before);
    EXPECT_OK(tsr_desc_init(&a, TSR_F32, TSR_SHAPE(2, 3), NULL));
    b = a;
    b.shape[0] = 9;
    EXPECT(a.shape[0] == 2 && b.shape[0] == 9 && b.dtype == TSR_F32);
    tsr_memory_get_stats(&after);
    EXPECT(before.allocations == after.allocations && before.live_bytes == after.live_bytes);
}

TEST(test_seed_000_destroy_releases_a_descriptor_handle_once)
{
    /* Where a handle is wanted, a described tensor is one: a desc without memory. */
    tsr_desc d;
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(2, 3), NULL));
    EXPECT_OK(tsr_declare(&t, &d, TSR_CPU, TSR_MEMORY_HOST));
    EXPECT(t != NULL && t->data == NULL && tsr_desc_same(&d, tsr_desc_of(t)));
    tsr_release(&t);
    EXPECT(t == NULL);
    tsr_release(&t);
}

/* Descriptor and data apart --------------------------------------------------------- */

TEST(test_seed_000_one_descriptor_describes_many_buffers)
{
    float first[4] = { 1, 2, 3, 4 }, second[4] = { 5, 6, 7, 8 };
    tsr_desc d;
    tsr_tensor *a = NULL, *b = NULL;
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(2, 2), (int64_t[]){ 1, 2 }));
    EXPECT_OK(tsr_wrap(&a, first, &d));
    EXPECT_OK(tsr_wrap(&b, second, &d));
    EXPECT(a->data == first && b->data == second && tsr_same_desc(a, b));
    EXPECT(TSR_AT(float, a, 0, 1) == 3 && TSR_AT(float, b, 0, 1) == 7);
    tsr_release_all(&a, &b);
}

/* addr + ((3 - 1) * s1 + (2 - 1) * s2) * size(T) */
TEST(test_seed_000_address_of_row_3_column_2_follows_the_formula)
{
    static const int64_t strides[][2] = { { 4, 1 },  { 1, 6 }, { 8, 2 },  { -4, 1 },
                                          { 5, -1 }, { 0, 1 }, { -7, -2 } };
    static _Alignas(8) unsigned char block[1024];
    static const tsr_dtype dtypes[] = { TSR_U8, TSR_F16, TSR_F32, TSR_F64 };
    for (size_t s = 0; s < sizeof strides / sizeof *strides; s++)
        for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++) {
            const int64_t s1 = strides[s][0], s2 = strides[s][1], size = (int64_t)tsr_dtype_size(dtypes[k]);
            unsigned char *addr = block + 512;
            tsr_desc d;
            tsr_tensor *t = NULL;
            void *element = NULL;
            EXPECT_OK(tsr_desc_init(&d, dtypes[k], TSR_SHAPE(6, 4), strides[s]));
            EXPECT_OK(tsr_wrap(&t, addr, &d));
            EXPECT_OK(tsr_pointer(&element, t, TSR_INDEX(2, 1)));
            EXPECT(element == addr + ((3 - 1) * s1 + (2 - 1) * s2) * size);
            tsr_release(&t);
        }
}

/* Strides that are zero or negative ------------------------------------------------- */

TEST(test_seed_000_stride_zero_repeats_the_data_along_its_dim)
{
    float row[3] = { 1, 2, 3 };
    tsr_desc d;
    tsr_tensor *t = NULL, *packed = NULL;
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(4, 3), (int64_t[]){ 0, 1 }));
    EXPECT(tsr_desc_is_broadcast_dim(&d, 0) && !tsr_desc_is_broadcast_dim(&d, 1));
    EXPECT(tsr_desc_has_broadcast(&d));
    EXPECT_OK(tsr_wrap(&t, row, &d));
    EXPECT_OK(tsr_rearrange(&packed, t));
    for (int64_t i = 0; i < 4; i++)
        for (int64_t j = 0; j < 3; j++) EXPECT(TSR_AT(float, packed, i, j) == row[j]);
    tsr_release_all(&packed, &t);
}

TEST(test_seed_000_stride_zero_of_a_dim_of_length_1_is_no_broadcast)
{
    tsr_desc d;
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(1, 3), (int64_t[]){ 0, 1 }));
    EXPECT(!tsr_desc_is_broadcast_dim(&d, 0) && !tsr_desc_has_broadcast(&d) && tsr_desc_is_contiguous(&d));
}

TEST(test_seed_000_negative_stride_walks_backwards_from_element_zero)
{
    float values[4] = { 10, 20, 30, 40 };
    tsr_desc d;
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(4), (int64_t[]){ -1 }));
    EXPECT_OK(tsr_wrap(&t, &values[3], &d)); /* data is element 0, the highest address here */
    for (int64_t i = 0; i < 4; i++) EXPECT(TSR_AT(float, t, i) == values[3 - i]);
    tsr_release(&t);
}

/* Views by descriptor alone --------------------------------------------------------- */

TEST(test_seed_000_transpose_and_slice_change_metadata_and_move_nothing)
{
    tsr_tensor *t = counting(3, 4), *transposed = NULL, *cut = NULL;
    EXPECT_OK(tsr_transpose(&transposed, t, 0, 1));
    EXPECT(transposed->data == t->data && transposed->stride[0] == 1 && transposed->stride[1] == 4);
    EXPECT(transposed->shape[0] == 4 && transposed->shape[1] == 3);
    EXPECT_OK(tsr_slice(&cut, t, 1, 1, 3, 1));
    EXPECT(cut->data == (float *)t->data + 1 && cut->shape[1] == 2 && cut->stride[0] == 4);
    TSR_AT(float, t, 2, 1) = 99;
    EXPECT(TSR_AT(float, transposed, 1, 2) == 99 && TSR_AT(float, cut, 2, 0) == 99);
    tsr_release_all(&cut, &transposed, &t);
}

/* The notation's three examples ----------------------------------------------------- */

static tsr_desc desc_of(tsr_dtype dtype, int ndim, const int64_t *shape, const int64_t *stride)
{
    tsr_desc d = { TSR_DTYPE_INVALID, 0, { 0 }, { 0 } };
    EXPECT_OK(tsr_desc_init(&d, dtype, ndim, shape, stride));
    return d;
}

TEST(test_seed_000_notation_float32_d1_d2_with_last_stride_1)
{
    static const char pattern[] = "{ float32 | (d1, d2) | (..., 1) }";
    const tsr_desc packed = desc_of(TSR_F32, TSR_SHAPE(3, 4), NULL);
    const tsr_desc padded = desc_of(TSR_F32, TSR_SHAPE(3, 4), (int64_t[]){ 9, 1 });
    const tsr_desc transposed = desc_of(TSR_F32, TSR_SHAPE(3, 4), (int64_t[]){ 1, 3 });
    const tsr_desc halves = desc_of(TSR_F16, TSR_SHAPE(3, 4), NULL);
    const tsr_desc cube = desc_of(TSR_F32, TSR_SHAPE(2, 3, 4), NULL);
    EXPECT_OK(tsr_match_text(pattern, &packed));
    EXPECT_OK(tsr_match_text(pattern, &padded));
    EXPECT_STATUS(tsr_match_text(pattern, &transposed), TSR_ESTRIDE);
    EXPECT_FAILS(tsr_match_text(pattern, &halves), TSR_EDTYPE, "f16");
    EXPECT_FAILS(tsr_match_text(pattern, &cube), TSR_ESHAPE, "rank");
}

TEST(test_seed_000_notation_optional_b_before_h_w_c)
{
    static const char pattern[] = "{ dT | ((b,) h, w, c) | (...) }";
    const tsr_desc image = desc_of(TSR_U8, TSR_SHAPE(8, 6, 3), (int64_t[]){ -18, 3, 1 });
    const tsr_desc batch = desc_of(TSR_F16, TSR_SHAPE(2, 8, 6, 3), (int64_t[]){ 0, 18, 3, 1 });
    const tsr_desc matrix = desc_of(TSR_F32, TSR_SHAPE(8, 6), NULL);
    const tsr_desc video = desc_of(TSR_F32, TSR_SHAPE(2, 2, 8, 6, 3), NULL);
    EXPECT_OK(tsr_match_text(pattern, &image));
    EXPECT_OK(tsr_match_text(pattern, &batch));
    EXPECT_FAILS(tsr_match_text(pattern, &matrix), TSR_ESHAPE, "3 or 4");
    EXPECT_FAILS(tsr_match_text(pattern, &video), TSR_ESHAPE, "3 or 4");
}

TEST(test_seed_000_notation_any_rank_from_2_and_contiguous)
{
    static const char pattern[] = "{ dT | ((...,) m, n) | (~) }";
    const tsr_desc matrix = desc_of(TSR_F32, TSR_SHAPE(3, 4), NULL);
    const tsr_desc batch = desc_of(TSR_I8, TSR_SHAPE(2, 5, 3, 4), NULL);
    const tsr_desc vector = desc_of(TSR_F32, TSR_SHAPE(3), NULL);
    const tsr_desc transposed = desc_of(TSR_F32, TSR_SHAPE(3, 4), (int64_t[]){ 1, 3 });
    EXPECT_OK(tsr_match_text(pattern, &matrix));
    EXPECT_OK(tsr_match_text(pattern, &batch));
    EXPECT_STATUS(tsr_match_text(pattern, &vector), TSR_ESHAPE);
    EXPECT_STATUS(tsr_match_text(pattern, &transposed), TSR_ESTRIDE);
}

TEST(test_seed_000_notation_may_be_written_with_semicolons)
{
    const tsr_desc d = desc_of(TSR_F32, TSR_SHAPE(3, 4), NULL);
    EXPECT_OK(tsr_match_text("{ float32; (d1, d2); (..., 1) }", &d));
}

TEST(test_seed_000_notation_names_bind_across_operands)
{
    tsr_signature s;
    const tsr_desc a = desc_of(TSR_F32, TSR_SHAPE(2, 4), NULL);
    const tsr_desc fits = desc_of(TSR_F32, TSR_SHAPE(4, 3), NULL);
    const tsr_desc wrong = desc_of(TSR_F32, TSR_SHAPE(5, 3), NULL);
    EXPECT_OK(tsr_signature_parse(&s, "a{ dT | (m, k) } b{ dT | (k, n) }"));
    EXPECT_OK(tsr_match(&s, "matmul", 2, (const tsr_desc *[]){ &a, &fits }, NULL));
    EXPECT_FAILS(tsr_match(&s, "matmul", 2, (const tsr_desc *[]){ &a, &wrong }, NULL), TSR_ESHAPE,
                 "k is 4 from a");
}

/* Rearrange ------------------------------------------------------------------------- */

TEST(test_seed_000_rearrange_packs_any_strides)
{
    tsr_tensor *t = counting(3, 4), *view = NULL, *packed = NULL;
    EXPECT_OK(tsr_transpose(&view, t, 0, 1));
    EXPECT_OK(tsr_flip(&view, view, TSR_AXES(0)));
    EXPECT_OK(tsr_rearrange(&packed, view));
    EXPECT(tsr_is_contiguous(packed) && !tsr_may_overlap(packed, t));
    for (int64_t i = 0; i < 4; i++)
        for (int64_t j = 0; j < 3; j++) EXPECT(TSR_AT(float, packed, i, j) == (float)(j * 4 + 3 - i));
    tsr_release_all(&packed, &view, &t);
}

TEST(test_seed_000_rearrange_writes_into_the_strides_of_its_result)
{
    float block[40];
    tsr_desc d;
    tsr_tensor *t = counting(3, 4), *target = NULL;
    for (int i = 0; i < 40; i++) block[i] = -1;
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(3, 4), (int64_t[]){ -10, 2 }));
    EXPECT_OK(tsr_wrap(&target, &block[25], &d));
    EXPECT_OK(tsr_rearrange(&target, t));
    int touched = 0;
    for (int i = 0; i < 40; i++) touched += block[i] != -1;
    EXPECT(touched == 12);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++) EXPECT(block[25 - i * 10 + j * 2] == (float)(i * 4 + j));
    tsr_release_all(&target, &t);
}

TEST(test_seed_000_rearrange_refuses_a_broadcast_destination)
{
    float row[3] = { 7, 7, 7 };
    tsr_desc d;
    tsr_tensor *source = counting(2, 3), *target = NULL;
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(2, 3), (int64_t[]){ 0, 1 }));
    EXPECT_OK(tsr_wrap(&target, row, &d));
    EXPECT_STATUS(tsr_rearrange(&target, source), TSR_EOVERLAP);
    EXPECT(row[0] == 7 && row[1] == 7 && row[2] == 7);
    tsr_release_all(&target, &source);
}
