/* test_huge.c - tensors of more than 2^31 elements, and dims and indices beyond it, through strides
 * of 0: the memory is one element or a short row. Each family is asked for something small about
 * something huge. */
#include "test.h"

static const int64_t many = ((int64_t)1 << 31) + 11;

/* Walking 2^31 elements one by one takes a sanitizer minutes. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define WALKS 0
#else
#define WALKS 1
#endif

/* A row of n elements, seen `many` times. */
static void repeat(tsr_tensor **out, tsr_dtype dtype, int64_t n)
{
    tsr_tensor *row = NULL;
    EXPECT_OK(tsr_arange(&row, dtype, TSR_SCALAR(0), tsr_scalar_i64(n), TSR_SCALAR(1)));
    EXPECT_OK(tsr_expand(out, row, TSR_SHAPE(many, n)));
    tsr_release(&row);
}

TEST(test_views_and_copies_of_huge_tensors)
{
    tsr_tensor *x = NULL, *part = NULL, *copy = NULL;
    float v = 0;
    repeat(&x, TSR_F32, 5);
    EXPECT(tsr_numel(x) == 5 * many);
    EXPECT_OK(tsr_slice(&part, x, 0, many - 2, many, 1));
    EXPECT_OK(tsr_rearrange(&copy, part));
    EXPECT_OK(tsr_get_f32(&v, copy, TSR_INDEX(1, 4)));
    EXPECT(v == 4);
    EXPECT_OK(tsr_slice(&part, x, 0, 0, many, many - 1));
    EXPECT(part->shape[0] == 2);
    tsr_release_all(&copy, &part, &x);
}

TEST(test_elementwise_ops_on_parts_of_huge_tensors)
{
    tsr_tensor *x = NULL, *part = NULL, *z = NULL;
    float v = 0;
    repeat(&x, TSR_F32, 3);
    EXPECT_OK(tsr_slice(&part, x, 0, 1, many, ((int64_t)1 << 31) - 5));
    EXPECT(part->shape[0] == 2);
    EXPECT_OK(tsr_add(&z, part, TSR_NUMBER(1)));
    EXPECT_OK(tsr_get_f32(&v, z, TSR_INDEX(1, 2)));
    EXPECT(v == 3);
    EXPECT_FAILS(tsr_add(&part, x, x), TSR_ESHAPE, "add");
    tsr_release_all(&z, &part, &x);
}

TEST(test_indices_beyond_32_bits)
{
    tsr_tensor *x = NULL, *index = NULL, *z = NULL, *wide = NULL;
    int64_t places[] = { many - 1, 0, -many, ((int64_t)1 << 31) + 7 };
    float v = 0;
    repeat(&x, TSR_F32, 4);
    EXPECT_OK(tsr_from_data(&index, TSR_I64, TSR_SHAPE(4), places));
    EXPECT_OK(tsr_take(&z, x, index, 0));
    EXPECT(z->shape[0] == 4 && z->shape[1] == 4);
    EXPECT_OK(tsr_get_f32(&v, z, TSR_INDEX(0, 3)));
    EXPECT(v == 3);
    EXPECT_OK(tsr_expand(&wide, index, TSR_SHAPE(4, 4)));
    tsr_release(&z);
    EXPECT_OK(tsr_gather(&z, x, wide, 0));
    EXPECT_OK(tsr_get_f32(&v, z, TSR_INDEX(2, 1)));
    EXPECT(v == 1);
    places[1] = many;
    EXPECT_OK(tsr_load(index, places, sizeof places));
    EXPECT_FAILS(tsr_take(&z, x, index, 0), TSR_EINDEX, "2147483659");
    tsr_release_all(&wide, &z, &index, &x);
}

TEST(test_products_with_huge_batches_are_inferred_and_refused_by_size)
{
    tsr_tensor *x = NULL, *part = NULL, *z = NULL;
    tsr_desc d;
    repeat(&x, TSR_F32, 4);
    EXPECT_OK(tsr_view(&part, x, TSR_SHAPE(many, 2, 2)));
    EXPECT_OK(tsr_infer(&d, TSR_OP_MATMUL, 2, (const tsr_desc *[]){ &part->desc, &part->desc }, NULL));
    EXPECT(d.shape[0] == many && d.ndim == 3);
    EXPECT_OK(tsr_slice(&part, part, 0, many - 3, many, 1));
    EXPECT_OK(tsr_matmul(&z, part, part));
    EXPECT(TSR_AT(float, z, 2, 1, 1) == 11);
    tsr_release_all(&z, &part, &x);
}

TEST(test_reductions_of_huge_tensors)
{
    if (!WALKS) SKIP("walking 2^31 elements under a sanitizer");
    tsr_tensor *one = NULL, *x = NULL, *z = NULL;
    int64_t n = 0;
    EXPECT_OK(tsr_ones(&one, TSR_I8, TSR_SHAPE(1)));
    EXPECT_OK(tsr_expand(&x, one, TSR_SHAPE(many)));
    EXPECT_OK(tsr_sum(&z, x, 0, NULL, false));
    EXPECT_OK(tsr_item_i64(&n, z));
    EXPECT(n == many);
    tsr_release(&z);
    EXPECT_OK(tsr_argmax(&z, x, 0, false));
    EXPECT_OK(tsr_item_i64(&n, z));
    EXPECT(n == 0);
    tsr_release_all(&z, &x, &one);
}

TEST(test_products_over_huge_sums)
{
    if (!WALKS) SKIP("walking 2^31 elements under a sanitizer");
    tsr_tensor *one = NULL, *x = NULL, *z = NULL;
    int64_t n = 0;
    EXPECT_OK(tsr_ones(&one, TSR_I64, TSR_SHAPE(1)));
    EXPECT_OK(tsr_expand(&x, one, TSR_SHAPE(((int64_t)1 << 31) + 5)));
    EXPECT_OK(tsr_dot(&z, x, x));
    EXPECT_OK(tsr_item_i64(&n, z));
    EXPECT(n == ((int64_t)1 << 31) + 5);
    tsr_release_all(&z, &x, &one);
}

TEST(test_windows_and_softmax_on_parts_of_huge_tensors)
{
    tsr_tensor *x = NULL, *part = NULL, *z = NULL, *pooled = NULL;
    repeat(&x, TSR_F32, 6);
    EXPECT_OK(tsr_slice(&part, x, 0, 2, many, many / 3));
    EXPECT_OK(tsr_softmax(&z, part, 1));
    EXPECT(TSR_AT(float, z, 0, 5) > 0.6f);
    EXPECT_OK(tsr_max_pool1d(&pooled, NULL, part, &(tsr_pool){ .kernel = { 3 } }));
    EXPECT(TSR_AT(float, pooled, 1, 1) == 5);
    tsr_release_all(&pooled, &z, &part, &x);
}
