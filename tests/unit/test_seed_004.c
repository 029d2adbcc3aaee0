/* test_seed_004.c - what seed 004 (Tech Renaissance's Tensor) describes, natively.
 *
 * docs/seeds.md says which call stands for which function of the document. */
#include "test.h"

static tsr_tensor *counting(int ndim, const int64_t *shape)
{
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_empty(&t, TSR_F32, ndim, shape));
    for (int64_t i = 0; i < tsr_numel(t); i++) ((float *)t->data)[i] = (float)(i + 1);
    return t;
}

static tsr_tensor *described(tsr_dtype dtype, int ndim, const int64_t *shape)
{
    tsr_desc d;
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_desc_init(&d, dtype, ndim, shape, NULL));
    EXPECT_OK(tsr_declare(&t, &d, TSR_CPU, TSR_MEMORY_HOST));
    return t;
}

static bool equal(const tsr_tensor *a, const tsr_tensor *b)
{
    bool same = false;
    EXPECT_OK(tsr_equal(&same, a, b));
    return same;
}

/* Constructors ---------------------------------------------------------------------- */

TEST(test_seed_004_default_constructor_is_a_scalar_without_memory)
{
    tsr_tensor *t = described(TSR_F32, TSR_SCALAR_SHAPE);
    EXPECT(tsr_is_scalar(t) && t->dtype == TSR_F32 && t->device == TSR_CPU && !tsr_is_allocated(t));
    EXPECT(tsr_numel(t) == 1);
    tsr_release(&t);
}

TEST(test_seed_004_light_constructor_stores_metadata_and_allocates_nothing)
{
    tsr_memory_stats before, after;
    tsr_memory_get_stats(&before);
    tsr_tensor *t = described(TSR_F32, TSR_SHAPE(1024, 2048));
    tsr_memory_get_stats(&after);
    EXPECT(after.live_bytes == before.live_bytes && after.live_storages == before.live_storages);
    EXPECT(t->shape[0] == 1024 && t->shape[1] == 2048 && t->data == NULL && t->storage == NULL);
    EXPECT_OK(tsr_zero(t)); /* the first op that writes makes the memory */
    EXPECT(tsr_is_allocated(t) && TSR_AT(float, t, 1023, 2047) == 0);
    tsr_release(&t);
}

/* Metadata -------------------------------------------------------------------------- */

TEST(test_seed_004_shape_dtype_and_device_are_fields)
{
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_zeros(&t, TSR_I8, TSR_SHAPE(2, 3)));
    EXPECT(t->ndim == 2 && t->shape[0] == 2 && t->shape[1] == 3);
    EXPECT(t->dtype == TSR_I8 && t->device == TSR_CPU);
    tsr_release(&t);
}

TEST(test_seed_004_dim_size_checks_its_bounds)
{
    tsr_tensor *t = described(TSR_F32, TSR_SHAPE(2, 3, 4));
    int64_t size = -1;
    EXPECT_OK(tsr_dim(&size, t, 1));
    EXPECT(size == 3);
    EXPECT_OK(tsr_dim(&size, t, -1));
    EXPECT(size == 4);
    EXPECT_FAILS(tsr_dim(&size, t, 3), TSR_EINDEX, "3");
    EXPECT_STATUS(tsr_dim(&size, t, -4), TSR_EINDEX);
    EXPECT(size == 4);
    tsr_release(&t);
}

TEST(test_seed_004_batch_channel_height_width_of_nchw)
{
    tsr_tensor *t = described(TSR_F32, TSR_SHAPE(8, 3, 32, 64));
    EXPECT(tsr_batch(t) == 8 && tsr_channels(t) == 3 && tsr_height(t) == 32 && tsr_width(t) == 64);
    tsr_release(&t);
}

TEST(test_seed_004_height_and_width_are_rows_and_cols_of_a_matrix)
{
    tsr_tensor *t = described(TSR_F32, TSR_SHAPE(1024, 2048));
    EXPECT(tsr_height(t) == 1024 && tsr_width(t) == 2048 && tsr_rows(t) == 1024 && tsr_cols(t) == 2048);
    EXPECT(tsr_batch(t) == 1 && tsr_channels(t) == 1); /* number() is batch() */
    tsr_release(&t);
}

/* Data and scalars ------------------------------------------------------------------ */

TEST(test_seed_004_data_ptr_is_element_zero)
{
    tsr_tensor *t = counting(TSR_SHAPE(2, 3)), *v = NULL;
    EXPECT(t->data == tsr_storage_data(t->storage));
    EXPECT_OK(tsr_select(&v, t, 0, 1));
    EXPECT(v->data == (float *)t->data + 3);
    tsr_release_all(&v, &t);
}

TEST(test_seed_004_item_reads_the_value_of_a_scalar)
{
    tsr_tensor *scalar = NULL, *whole = NULL, *matrix = counting(TSR_SHAPE(2, 3));
    double value = 0;
    int64_t number = 0;
    EXPECT_OK(tsr_full(&scalar, TSR_F32, TSR_SCALAR_SHAPE, TSR_SCALAR(3.14f)));
    EXPECT_OK(tsr_item_f64(&value, scalar));
    EXPECT((float)value == 3.14f);
    EXPECT_OK(tsr_full(&scalar, TSR_F32, TSR_SCALAR_SHAPE, TSR_SCALAR(2.718f))); /* set it */
    EXPECT_OK(tsr_item_f64(&value, scalar));
    EXPECT((float)value == 2.718f);
    EXPECT_OK(tsr_full(&whole, TSR_I32, TSR_SCALAR_SHAPE, TSR_SCALAR(-7)));
    EXPECT_OK(tsr_item_i64(&number, whole));
    EXPECT(number == -7);
    EXPECT_STATUS(tsr_item_f64(&value, matrix), TSR_ESHAPE);
    tsr_release_all(&matrix, &whole, &scalar);
}

TEST(test_seed_004_is_scalar_means_rank_0)
{
    tsr_tensor *scalar = described(TSR_F32, TSR_SCALAR_SHAPE), *one = described(TSR_F32, TSR_SHAPE(1));
    EXPECT(tsr_is_scalar(scalar) && !tsr_is_scalar(one) && !tsr_is_scalar(NULL));
    tsr_release_all(&one, &scalar);
}

TEST(test_seed_004_is_matmul_compatible_compares_inner_and_batch_dims)
{
    tsr_desc a, b, c, batched, vector;
    EXPECT_OK(tsr_desc_init(&a, TSR_F32, TSR_SHAPE(1024, 2048), NULL));
    EXPECT_OK(tsr_desc_init(&b, TSR_F32, TSR_SHAPE(2048, 512), NULL));
    EXPECT_OK(tsr_desc_init(&c, TSR_F32, TSR_SHAPE(1024, 512), NULL));
    EXPECT_OK(tsr_desc_init(&batched, TSR_F32, TSR_SHAPE(7, 2048, 512), NULL));
    EXPECT_OK(tsr_desc_init(&vector, TSR_F32, TSR_SHAPE(2048), NULL));
    EXPECT_OK(tsr_desc_matmul_check(&a, &b));
    EXPECT_OK(tsr_desc_matmul_check(&a, &batched));
    EXPECT_OK(tsr_desc_matmul_check(&a, &vector));
    EXPECT_FAILS(tsr_desc_matmul_check(&a, &c), TSR_ESHAPE, "2048");
}

/* Factories ------------------------------------------------------------------------- */

TEST(test_seed_004_empty_zeros_ones_full_make_what_they_say)
{
    tsr_tensor *e = NULL, *z = NULL, *o = NULL, *f = NULL;
    EXPECT_OK(tsr_empty(&e, TSR_F32, TSR_SHAPE(3, 4)));
    EXPECT_OK(tsr_zeros(&z, TSR_F32, TSR_SHAPE(3, 4)));
    EXPECT_OK(tsr_ones(&o, TSR_F32, TSR_SHAPE(3, 4)));
    EXPECT_OK(tsr_full(&f, TSR_F32, TSR_SHAPE(3, 4), TSR_SCALAR(2.5f)));
    EXPECT(tsr_is_allocated(e) && tsr_same_desc(e, z) && tsr_same_desc(z, o) && tsr_same_desc(o, f));
    for (int64_t i = 0; i < 3; i++)
        for (int64_t j = 0; j < 4; j++)
            EXPECT(TSR_AT(float, z, i, j) == 0 && TSR_AT(float, o, i, j) == 1 &&
                   TSR_AT(float, f, i, j) == 2.5f);
    tsr_release_all(&f, &o, &z, &e);
}

TEST(test_seed_004_randn_is_normal_and_repeats_with_its_seed)
{
    enum { N = 10000 };
    tsr_tensor *a = NULL, *b = NULL, *c = NULL;
    double sum = 0, squares = 0;
    EXPECT_OK(tsr_randn(&a, TSR_F32, TSR_SHAPE(N), 42));
    EXPECT_OK(tsr_randn(&b, TSR_F32, TSR_SHAPE(N), 42));
    EXPECT_OK(tsr_randn(&c, TSR_F32, TSR_SHAPE(N), 12345));
    EXPECT(equal(a, b) && !equal(a, c));
    for (int64_t i = 0; i < N; i++) {
        const double x = TSR_AT(float, a, i);
        sum += x;
        squares += x * x;
    }
    /* Five standard errors. */
    EXPECT_MSG(sum / N > -0.05 && sum / N < 0.05, "mean %g", sum / N);
    EXPECT_MSG(squares / N > 0.93 && squares / N < 1.07, "variance %g", squares / N);
    tsr_release_all(&c, &b, &a);
}

/* Comparison ------------------------------------------------------------------------ */

TEST(test_seed_004_equality_is_four_questions_with_four_names)
{
    tsr_tensor *a = counting(TSR_SHAPE(2, 3)), *b = NULL, *view = NULL, *off = NULL;
    bool close = false;
    EXPECT_OK(tsr_clone(&b, a));
    EXPECT_OK(tsr_view(&view, a, TSR_SHAPE(2, 3)));
    EXPECT_OK(tsr_clone(&off, a));
    TSR_AT(float, off, 0, 0) = 1.000001f;
    EXPECT(tsr_same_desc(a, b) && tsr_same_desc(a, off));              /* what they look like */
    EXPECT(tsr_identical(a, view) && !tsr_identical(a, b));            /* the same memory */
    EXPECT(equal(a, b) && !equal(a, off));                             /* operator==, operator!= */
    EXPECT_OK(tsr_allclose(&close, a, off, &(tsr_close_opts){ .rtol = 1e-4 }, NULL));
    EXPECT(close);                                                     /* is_close */
    tsr_release_all(&off, &view, &b, &a);
}

TEST(test_seed_004_not_equal_for_another_shape_or_dtype_is_no_failure)
{
    tsr_tensor *a = counting(TSR_SHAPE(2, 3)), *transposed = counting(TSR_SHAPE(3, 2)), *wide = NULL;
    EXPECT_OK(tsr_cast(&wide, a, TSR_F64));
    EXPECT(!equal(a, transposed) && !equal(a, wide));
    tsr_release_all(&wide, &transposed, &a);
}

/* Tools ----------------------------------------------------------------------------- */

TEST(test_seed_004_to_string_shows_type_shape_and_values)
{
    char text[128];
    size_t length = 0;
    tsr_tensor *t = counting(TSR_SHAPE(2, 3));
    EXPECT_OK(tsr_to_string(text, sizeof text, &length, t, NULL));
    EXPECT_MSG(!strcmp(text, "f32(2, 3 | 3, 1)\n[[1. 2. 3.]\n [4. 5. 6.]]"), "%s", text);
    EXPECT(length == strlen(text));
    tsr_release(&t);
}

TEST(test_seed_004_memory_size_and_numel)
{
    tsr_tensor *t = described(TSR_F32, TSR_SHAPE(1024, 2048)), *bytes = described(TSR_I8, TSR_SHAPE(3, 5));
    EXPECT(tsr_numel(t) == 1024 * 2048 && tsr_byte_size(t) == 1024 * 2048 * 4);
    EXPECT(tsr_numel(bytes) == 15 && tsr_byte_size(bytes) == 15);
    tsr_release_all(&bytes, &t);
}

/* from_cpu and to_cpu: layout is strides -------------------------------------------- */

static tsr_tensor *column_major(int ndim, const int64_t *shape)
{
    tsr_desc d;
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_desc_init_column_major(&d, TSR_F32, ndim, shape));
    EXPECT_OK(tsr_declare(&t, &d, TSR_CPU, TSR_MEMORY_HOST));
    return t;
}

TEST(test_seed_004_from_cpu_lays_the_documents_example_out_column_major)
{
    /* [[1, 2, 3], [4, 5, 6]]: row-major 1 2 3 4 5 6, column-major 1 4 2 5 3 6. */
    static const float rows[6] = { 1, 2, 3, 4, 5, 6 }, columns[6] = { 1, 4, 2, 5, 3, 6 };
    tsr_tensor *cpu = NULL, *cuda = column_major(TSR_SHAPE(2, 3));
    EXPECT_OK(tsr_from_data(&cpu, TSR_F32, TSR_SHAPE(2, 3), rows));
    EXPECT_OK(tsr_copy(cuda, cpu));
    EXPECT(memcmp(cpu->data, rows, sizeof rows) == 0);
    EXPECT(memcmp(cuda->data, columns, sizeof columns) == 0);
    EXPECT(cuda->stride[0] == 1 && cuda->stride[1] == 2 && tsr_desc_is_column_major(tsr_desc_of(cuda)));
    tsr_release_all(&cuda, &cpu);
}

TEST(test_seed_004_to_cpu_restores_the_row_major_memory)
{
    static const float rows[6] = { 1, 2, 3, 4, 5, 6 };
    tsr_tensor *cpu = NULL, *cuda = column_major(TSR_SHAPE(2, 3)), *back = NULL;
    EXPECT_OK(tsr_from_data(&cpu, TSR_F32, TSR_SHAPE(2, 3), rows));
    EXPECT_OK(tsr_copy(cuda, cpu));
    EXPECT_OK(tsr_rearrange(&back, cuda));
    EXPECT(tsr_is_contiguous(back) && memcmp(back->data, rows, sizeof rows) == 0);
    tsr_release_all(&back, &cuda, &cpu);
}

TEST(test_seed_004_layout_conversion_round_trips_bit_for_bit_in_any_rank)
{
    static const int64_t shape[4] = { 5, 3, 7, 2 };
    for (int ndim = 0; ndim <= 4; ndim++) {
        tsr_tensor *cpu = NULL, *cuda = column_major(ndim, shape), *back = NULL;
        EXPECT_OK(tsr_randn(&cpu, TSR_F32, ndim, shape, 42));
        EXPECT_OK(tsr_copy(cuda, cpu));
        EXPECT_OK(tsr_rearrange(&back, cuda));
        EXPECT(memcmp(back->data, cpu->data, (size_t)tsr_byte_size(cpu)) == 0);
        tsr_release_all(&back, &cuda, &cpu);
    }
}

TEST(test_seed_004_an_index_means_the_same_in_every_layout)
{
    tsr_tensor *cpu = NULL, *cuda = column_major(TSR_SHAPE(16, 32));
    EXPECT_OK(tsr_randn(&cpu, TSR_F32, TSR_SHAPE(16, 32), 42));
    EXPECT_OK(tsr_copy(cuda, cpu));
    for (int64_t i = 0; i < 16; i++)
        for (int64_t j = 0; j < 32; j++) {
            EXPECT(TSR_AT(float, cuda, i, j) == TSR_AT(float, cpu, i, j));
            EXPECT(((float *)cuda->data)[j * 16 + i] == ((float *)cpu->data)[i * 32 + j]);
        }
    EXPECT(equal(cuda, cpu) && !tsr_same_desc(cuda, cpu));
    tsr_release_all(&cuda, &cpu);
}

/* Storage --------------------------------------------------------------------------- */

TEST(test_seed_004_tensors_share_a_storage_and_the_last_one_frees_it)
{
    tsr_storage *storage = NULL;
    tsr_desc d;
    tsr_tensor *front = NULL, *back = NULL, *whole = NULL;
    EXPECT_OK(tsr_storage_create(&storage, 6 * sizeof(float), TSR_CPU, TSR_MEMORY_HOST));
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(3), NULL));
    EXPECT_OK(tsr_from_storage(&front, storage, 0, &d));
    EXPECT_OK(tsr_from_storage(&back, storage, 3 * sizeof(float), &d)); /* offset_ in use */
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(6), NULL));
    EXPECT_OK(tsr_from_storage(&whole, storage, 0, &d));
    EXPECT(tsr_storage_count(storage) == 4);
    tsr_storage_release(&storage);
    EXPECT_OK(tsr_fill(front, TSR_SCALAR(1)));
    EXPECT_OK(tsr_fill(back, TSR_SCALAR(2)));
    EXPECT(TSR_AT(float, whole, 2) == 1 && TSR_AT(float, whole, 3) == 2);
    tsr_release_all(&front, &whole);
    EXPECT(tsr_storage_count(back->storage) == 1 && TSR_AT(float, back, 2) == 2);
    tsr_release(&back);
}

/* Threads --------------------------------------------------------------------------- */

/* Reads, and takes and drops shares of, a tensor that other threads read too. */
static tsr_status read_rows(void *context, int64_t begin, int64_t end)
{
    tsr_tensor *t = context;
    for (int64_t i = begin; i < end; i++) {
        tsr_tensor *share = tsr_retain(t), *row = NULL;
        float value = 0;
        tsr_status s = tsr_select(&row, share, 0, i % t->shape[0]);
        if (s == TSR_OK) s = tsr_get_f32(&value, row, TSR_INDEX(-1));
        if (s == TSR_OK && value != (float)((i % t->shape[0] + 1) * t->shape[1])) s = TSR_EINVAL;
        if (s == TSR_OK && (tsr_numel(t) != 512 || !tsr_is_contiguous(t))) s = TSR_ESHAPE;
        tsr_release_all(&row, &share);
        if (s != TSR_OK) return s;
    }
    return TSR_OK;
}

TEST(test_seed_004_const_access_is_safe_from_many_threads)
{
    tsr_tensor *t = counting(TSR_SHAPE(16, 32));
    EXPECT_OK(tsr_set_threads(4));
    EXPECT_OK(tsr_parallel_for(200000, 1, read_rows, t));
    EXPECT(t->count == 1 && tsr_storage_count(t->storage) == 1); /* no share was lost or left */
    EXPECT_OK(tsr_set_threads(0));
    tsr_threads_shutdown();
    tsr_release(&t);
}

/* Errors ---------------------------------------------------------------------------- */

TEST(test_seed_004_failures_are_statuses_with_words_not_exceptions)
{
    tsr_tensor *t = NULL;
    tsr_device device = TSR_CPU;
    EXPECT_FAILS(tsr_zeros(&t, TSR_F32, TSR_SHAPE(-1, 4)), TSR_ESHAPE, "-1");
    EXPECT_STATUS(tsr_zeros(&t, TSR_F32, TSR_SHAPE(INT64_MAX, 4)), TSR_EOVERFLOW);
    EXPECT_FAILS(tsr_device_parse(&device, "nosuch:0"), TSR_EDEVICE, "cpu:0");
    EXPECT(t == NULL && device == TSR_CPU);
}
