/* test_seed_001.c - what seed 001 (TinyAI's Tensor) describes, natively.
 *
 * docs/seeds.md says which call stands for which function of the document. */
#include "test.h"

/* 0, 1, 2, ... in the given shape. */
static tsr_tensor *counting(int ndim, const int64_t *shape)
{
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_empty(&t, TSR_F32, ndim, shape));
    for (int64_t i = 0; i < tsr_numel(t); i++) ((float *)t->data)[i] = (float)i;
    return t;
}

static bool all_are(const tsr_tensor *t, float value)
{
    tsr_tensor *want = NULL;
    bool equal = false;
    EXPECT_OK(tsr_full(&want, TSR_F32, t->ndim, t->shape, TSR_SCALAR(value)));
    EXPECT_OK(tsr_equal(&equal, t, want));
    tsr_release(&want);
    return equal;
}

/* Constructors ---------------------------------------------------------------------- */

TEST(test_seed_001_construct_1_to_4_dims_is_zeroed_and_contiguous)
{
    static const int64_t shape[4] = { 5, 4, 3, 2 };
    static const int64_t sizes[] = { 5, 20, 60, 120 };
    for (int ndim = 1; ndim <= 4; ndim++) {
        tsr_tensor *t = NULL;
        EXPECT_OK(tsr_zeros(&t, TSR_F32, ndim, shape));
        EXPECT(t->ndim == ndim && tsr_numel(t) == sizes[ndim - 1]);
        EXPECT(tsr_is_contiguous(t) && !tsr_is_borrowed(t) && all_are(t, 0));
        tsr_release(&t);
    }
}

TEST(test_seed_001_construct_empty_allocates_nothing)
{
    tsr_tensor *t = NULL; /* Tensor t0; */
    EXPECT(tsr_is_none(t) && !tsr_is_allocated(t));
    EXPECT(tsr_numel(t) == 0 && tsr_byte_size(t) == 0 && tsr_desc_of(t) == NULL);
    tsr_release(&t);

    tsr_tensor on_stack; /* a struct of the caller's can be the empty tensor too */
    EXPECT(tsr_is_none(tsr_place_none(&on_stack)));
}

TEST(test_seed_001_size_of_32_by_3_by_64_is_6144)
{
    tsr_tensor *x = NULL;
    float value = -1;
    EXPECT_OK(tsr_zeros(&x, TSR_F32, TSR_SHAPE(32, 3, 64)));
    EXPECT(tsr_numel(x) == 6144);
    EXPECT_OK(tsr_set_f32(x, TSR_INDEX(0, 1, 2), 8));
    EXPECT_OK(tsr_get_f32(&value, x, TSR_INDEX(0, 1, 2)));
    EXPECT(value == 8 && ((float *)x->data)[64 + 2] == 8);
    tsr_release(&x);
}

TEST(test_seed_001_zeros_clears_memory_that_was_used_before)
{
    for (int round = 0; round < 4; round++) {
        tsr_tensor *t = NULL;
        EXPECT_OK(tsr_zeros(&t, TSR_F32, TSR_SHAPE(33, 17)));
        EXPECT(all_are(t, 0));
        EXPECT_OK(tsr_fill(t, TSR_SCALAR(3)));
        tsr_release(&t);
    }
}

TEST(test_seed_001_zeros_like_has_the_shape_and_other_memory)
{
    tsr_tensor *t = counting(TSR_SHAPE(2, 3, 4)), *z = NULL;
    EXPECT_OK(tsr_zeros_like(&z, t));
    EXPECT(tsr_same_desc(z, t) && z->data != t->data && all_are(z, 0));
    EXPECT(TSR_AT(float, t, 1, 2, 3) == 23);
    tsr_release_all(&z, &t);
}

TEST(test_seed_001_from_data_borrows_and_neither_copies_nor_frees)
{
    float buffer[6] = { 0, 1, 2, 3, 4, 5 };
    tsr_desc d;
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(2, 3), NULL));
    EXPECT_OK(tsr_wrap(&t, buffer, &d));
    EXPECT(t->data == buffer && tsr_is_borrowed(t));
    buffer[4] = 40;
    EXPECT(TSR_AT(float, t, 1, 1) == 40);
    TSR_AT(float, t, 0, 2) = 20;
    EXPECT(buffer[2] == 20);
    tsr_release(&t);
    EXPECT(buffer[4] == 40);
}

TEST(test_seed_001_from_data_placed_uses_no_heap_at_all)
{
    float buffer[6] = { 0 };
    tsr_memory_stats before, after;
    tsr_desc d;
    tsr_tensor frame, place, *row = tsr_place_none(&place);
    tsr_memory_get_stats(&before);
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(2, 3), NULL));
    EXPECT_OK(tsr_place(&frame, buffer, &d));
    EXPECT(tsr_is_borrowed(&frame));
    EXPECT_OK(tsr_select(&row, &frame, 0, 1));
    EXPECT_OK(tsr_fill(row, TSR_SCALAR(4)));
    EXPECT(buffer[2] == 0 && buffer[3] == 4 && buffer[5] == 4);
    tsr_memory_get_stats(&after);
    EXPECT(after.allocations == before.allocations && after.live_tensors == before.live_tensors);
    tsr_release(&row);
}

/* Elements -------------------------------------------------------------------------- */

TEST(test_seed_001_at_is_an_lvalue_by_the_row_major_formula)
{
    static const int64_t s[4] = { 2, 3, 4, 5 };
    tsr_tensor *t4 = counting(4, s), *t3 = counting(3, s), *t2 = counting(2, s), *t1 = counting(1, s);
    for (int64_t i = 0; i < s[0]; i++) {
        EXPECT(TSR_AT(float, t1, i) == (float)i);
        for (int64_t j = 0; j < s[1]; j++) {
            EXPECT(TSR_AT(float, t2, i, j) == (float)(i * s[1] + j));
            for (int64_t k = 0; k < s[2]; k++) {
                EXPECT(TSR_AT(float, t3, i, j, k) == (float)((i * s[1] + j) * s[2] + k));
                for (int64_t l = 0; l < s[3]; l++)
                    EXPECT(TSR_AT(float, t4, i, j, k, l) == (float)(((i * s[1] + j) * s[2] + k) * s[3] + l));
            }
        }
    }
    TSR_AT(float, t4, 1, 2, 3, 4) = -1;
    EXPECT(((float *)t4->data)[119] == -1);
    const tsr_tensor *seen = t4;
    EXPECT(TSR_AT(const float, seen, 1, 2, 3, 4) == -1);
    tsr_release_all(&t1, &t2, &t3, &t4);
}

TEST(test_seed_001_data_is_the_flat_row_major_buffer)
{
    tsr_tensor *t = counting(TSR_SHAPE(3, 4));
    float *data = t->data;
    data[7] = 70;
    EXPECT(TSR_AT(float, t, 1, 3) == 70);
    tsr_release(&t);
}

/* Shape accessors ------------------------------------------------------------------- */

TEST(test_seed_001_batch_rows_cols_channels_follow_the_rank)
{
    static const int64_t shape[4] = { 2, 3, 4, 5 };
    /* Of rank 1 the document says that rows() is shape[0]; here a vector is one row. */
    static const int64_t want[5][4] = {
        { 0 }, { 1, 1, 2, 1 }, { 1, 2, 3, 1 }, { 2, 3, 4, 1 }, { 2, 4, 5, 3 },
    };
    for (int ndim = 1; ndim <= 4; ndim++) {
        tsr_tensor *t = NULL;
        EXPECT_OK(tsr_empty(&t, TSR_F32, ndim, shape));
        EXPECT_MSG(tsr_batch(t) == want[ndim][0] && tsr_rows(t) == want[ndim][1] &&
                       tsr_cols(t) == want[ndim][2] && tsr_channels(t) == want[ndim][3],
                   "rank %d: %lld %lld %lld %lld", ndim, (long long)tsr_batch(t), (long long)tsr_rows(t),
                   (long long)tsr_cols(t), (long long)tsr_channels(t));
        tsr_release(&t);
    }
}

/* In place -------------------------------------------------------------------------- */

TEST(test_seed_001_zero_clears_in_place)
{
    tsr_tensor *t = counting(TSR_SHAPE(2, 3));
    const void *data = t->data;
    EXPECT_OK(tsr_zero(t));
    EXPECT(t->data == data && all_are(t, 0));
    tsr_release(&t);
}

TEST(test_seed_001_fill_sets_every_element_of_a_tensor_or_view)
{
    tsr_tensor *t = counting(TSR_SHAPE(2, 3)), *column = NULL;
    EXPECT_OK(tsr_fill(t, TSR_SCALAR(1.5f)));
    EXPECT(all_are(t, 1.5f));
    EXPECT_OK(tsr_select(&column, t, 1, 1));
    EXPECT_OK(tsr_fill(column, TSR_SCALAR(9)));
    const float want[6] = { 1.5f, 9, 1.5f, 1.5f, 9, 1.5f };
    EXPECT(memcmp(t->data, want, sizeof want) == 0);
    tsr_release_all(&column, &t);
}

TEST(test_seed_001_copy_from_copies_the_values)
{
    tsr_tensor *src = counting(TSR_SHAPE(3, 4)), *dst = NULL;
    bool equal = false;
    EXPECT_OK(tsr_zeros_like(&dst, src));
    EXPECT_OK(tsr_copy(dst, src));
    EXPECT_OK(tsr_equal(&equal, dst, src));
    EXPECT(equal && dst->data != src->data);
    tsr_release_all(&dst, &src);
}

TEST(test_seed_001_copy_from_fails_on_shape_mismatch)
{
    tsr_tensor *src = counting(TSR_SHAPE(3, 4)), *dst = NULL;
    EXPECT_OK(tsr_full(&dst, TSR_F32, TSR_SHAPE(4, 3), TSR_SCALAR(5)));
    EXPECT_FAILS(tsr_copy(dst, src), TSR_ESHAPE, "f32(4, 3 | 3, 1)");
    EXPECT(all_are(dst, 5));
    tsr_release_all(&dst, &src);
}

TEST(test_seed_001_clone_is_deep_and_owns_its_memory)
{
    float buffer[4] = { 1, 2, 3, 4 };
    tsr_desc d;
    tsr_tensor *t = NULL, *copy = NULL;
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(4), NULL));
    EXPECT_OK(tsr_wrap(&t, buffer, &d));
    EXPECT_OK(tsr_clone(&copy, t));
    EXPECT(!tsr_is_borrowed(copy) && copy->data != buffer);
    buffer[0] = 100;
    tsr_release(&t);
    EXPECT(TSR_AT(float, copy, 0) == 1 && TSR_AT(float, copy, 3) == 4);
    tsr_release(&copy);
}

/* reshape --------------------------------------------------------------------------- */

TEST(test_seed_001_reshape_changes_the_shape_and_keeps_the_buffer)
{
    tsr_tensor *t = counting(TSR_SHAPE(2, 12));
    const void *data = t->data;
    EXPECT_OK(tsr_reshape(&t, t, TSR_SHAPE(2, 3, 2, 2)));
    EXPECT(t->data == data && t->ndim == 4 && TSR_AT(float, t, 1, 2, 1, 1) == 23);
    EXPECT_OK(tsr_reshape(&t, t, TSR_SHAPE(24)));
    EXPECT(t->data == data && t->ndim == 1 && tsr_numel(t) == 24);
    tsr_release(&t);
}

TEST(test_seed_001_reshape_3d_and_2d_go_back_and_forth)
{
    /* [B, F] to [B, T, E] and back, as an attention layer does. */
    tsr_tensor *t = counting(TSR_SHAPE(2, 12));
    const void *data = t->data;
    EXPECT_OK(tsr_view(&t, t, TSR_SHAPE(2, 3, 4)));
    EXPECT(TSR_AT(float, t, 1, 2, 3) == 23 && TSR_AT(float, t, 1, 0, 0) == 12);
    EXPECT_OK(tsr_view(&t, t, TSR_SHAPE(2, 12)));
    EXPECT(t->data == data && t->ndim == 2 && TSR_AT(float, t, 1, 0) == 12);
    tsr_release(&t);
}

TEST(test_seed_001_reshape_fails_when_the_count_differs_and_changes_nothing)
{
    tsr_tensor *t = counting(TSR_SHAPE(2, 12));
    const void *data = t->data;
    EXPECT_FAILS(tsr_reshape(&t, t, TSR_SHAPE(5, 5)), TSR_ESHAPE, "reshape");
    EXPECT_STATUS(tsr_view(&t, t, TSR_SHAPE(2, 3, 5)), TSR_ESHAPE);
    EXPECT(t->data == data && t->ndim == 2 && t->shape[0] == 2 && t->shape[1] == 12);
    tsr_release(&t);
}

/* to_mat ---------------------------------------------------------------------------- */

/* Element (i, j) of a matrix as BLAS addresses it: data, ld, and a transposition flag. */
static float at(const tsr_matrix *m, int64_t i, int64_t j)
{
    return ((const float *)m->data)[m->row_major ? i * m->ld + j : j * m->ld + i];
}

/* c = a b over pointers and leading dimensions alone; c row-major. */
static void naive_sgemm(float *c, int64_t ldc, const tsr_matrix *a, const tsr_matrix *b)
{
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t j = 0; j < b->cols; j++) {
            float sum = 0;
            for (int64_t k = 0; k < a->cols; k++) sum += at(a, i, k) * at(b, k, j);
            c[i * ldc + j] = sum;
        }
}

TEST(test_seed_001_to_mat_is_a_zero_copy_matrix_ready_for_blas)
{
    tsr_tensor *whole = counting(TSR_SHAPE(4, 5)), *a = NULL, *b = NULL, *c = NULL;
    tsr_matrix ma, mb, mc;
    EXPECT_OK(tsr_slice(&a, whole, 0, 1, 3, 1)); /* 2 x 3 inside rows of 5 */
    EXPECT_OK(tsr_slice(&a, a, 1, 1, 4, 1));
    EXPECT_OK(tsr_transpose(&b, a, 0, 1)); /* 3 x 2, the same memory */
    EXPECT_OK(tsr_zeros(&c, TSR_F32, TSR_SHAPE(2, 2)));
    EXPECT_OK(tsr_as_matrix(&ma, a));
    EXPECT_OK(tsr_as_matrix(&mb, b));
    EXPECT_OK(tsr_as_matrix(&mc, c));
    EXPECT(ma.data == a->data && ma.rows == 2 && ma.cols == 3 && ma.ld == 5 && ma.row_major);
    EXPECT(mb.data == a->data && mb.rows == 3 && mb.cols == 2 && mb.ld == 5 && !mb.row_major);
    EXPECT(mc.ld == 2 && mc.row_major && mc.dtype == TSR_F32);
    naive_sgemm(mc.data, mc.ld, &ma, &mb);
    for (int64_t i = 0; i < 2; i++)
        for (int64_t j = 0; j < 2; j++) {
            float want = 0;
            for (int64_t k = 0; k < 3; k++) want += TSR_AT(float, a, i, k) * TSR_AT(float, a, j, k);
            EXPECT(TSR_AT(float, c, i, j) == want);
        }
    tsr_release_all(&c, &b, &a, &whole);
}

TEST(test_seed_001_to_mat_is_for_two_dims_with_one_unit_stride)
{
    tsr_tensor *cube = counting(TSR_SHAPE(2, 3, 4)), *sparse = NULL;
    tsr_matrix m;
    EXPECT_STATUS(tsr_as_matrix(&m, cube), TSR_ESHAPE);
    EXPECT_OK(tsr_select(&sparse, cube, 2, 1)); /* f32(2, 3 | 12, 4) */
    EXPECT_STATUS(tsr_as_matrix(&m, sparse), TSR_ESTRIDE);
    tsr_release_all(&sparse, &cube);
}

/* same_shape and print -------------------------------------------------------------- */

TEST(test_seed_001_same_shape_compares_rank_and_sizes)
{
    tsr_tensor *a = counting(TSR_SHAPE(2, 3)), *padded = counting(TSR_SHAPE(2, 3, 1));
    tsr_tensor *b = NULL, *transposed = NULL;
    EXPECT_OK(tsr_ones(&b, TSR_F32, TSR_SHAPE(2, 3)));
    EXPECT_OK(tsr_transpose(&transposed, a, 0, 1));
    EXPECT(tsr_same_shape(a, b) && !tsr_same_shape(a, transposed));
    EXPECT(!tsr_same_shape(a, padded)); /* a trailing 1 is a dim here, not padding */
    tsr_release_all(&padded, &transposed, &b, &a);
}

static struct { char text[4096]; size_t length; } printed;

static void keep_text(void *context, const char *text, size_t length)
{
    (void)context;
    if (length > sizeof printed.text - 1 - printed.length) return;
    memcpy(printed.text + printed.length, text, length);
    printed.length += length;
    printed.text[printed.length] = '\0';
}

static const char *print_text(const tsr_tensor *t, const tsr_print_opts *opts)
{
    printed.length = 0;
    printed.text[0] = '\0';
    tsr_set_print_sink(keep_text, NULL);
    EXPECT_OK(tsr_print(t, opts));
    tsr_set_print_sink(NULL, NULL);
    return printed.text;
}

TEST(test_seed_001_print_shows_name_shape_and_up_to_32_elements)
{
    tsr_tensor *t = counting(TSR_SHAPE(2, 3));
    tsr_tensor *full = counting(TSR_SHAPE(32)), *more = counting(TSR_SHAPE(33));
    EXPECT(!strcmp(print_text(t, &(tsr_print_opts){ .name = "weights" }),
                   "weights: f32(2, 3 | 3, 1)\n[[0. 1. 2.]\n [3. 4. 5.]]\n"));
    const char *all = print_text(full, NULL);
    EXPECT(strstr(all, " 15. ") && strstr(all, " 31.]") && !strstr(all, "..."));
    const char *cut = print_text(more, NULL);
    EXPECT(strstr(cut, "[ 0.  1.  2. ... 30. 31. 32.]"));
    tsr_release_all(&more, &full, &t);
}

TEST(test_seed_001_print_of_the_first_32_is_a_slice)
{
    tsr_tensor *t = counting(TSR_SHAPE(8, 9)), *first = NULL;
    EXPECT_OK(tsr_view(&first, t, TSR_SHAPE(-1)));
    EXPECT_OK(tsr_slice(&first, first, 0, 0, 32, 1));
    const char *text = print_text(first, NULL);
    EXPECT(strstr(text, " 31.]") && !strstr(text, "32.") && !strstr(text, "..."));
    tsr_release_all(&first, &t);
}

/* Copy, move, destroy --------------------------------------------------------------- */

TEST(test_seed_001_copying_is_clone_moving_hands_the_handle_over)
{
    tsr_tensor *a = counting(TSR_SHAPE(4)), *copy = NULL;
    EXPECT_OK(tsr_clone(&copy, a));
    TSR_AT(float, copy, 0) = 50;
    EXPECT(TSR_AT(float, a, 0) == 0);

    tsr_tensor *moved = a; /* the new owner */
    const void *data = a->data;
    a = NULL; /* the old one is empty */
    EXPECT(tsr_is_none(a) && moved->data == data && TSR_AT(float, moved, 3) == 3);
    tsr_release(&a); /* nothing to do */
    tsr_release_all(&moved, &copy);
}

TEST(test_seed_001_destroy_frees_owned_memory_and_leaves_borrowed)
{
    float buffer[64] = { 0 };
    const int64_t live = tsr_memory_live(TSR_MEMORY_HOST);
    tsr_desc d;
    tsr_tensor *owned = NULL, *borrowed = NULL;
    EXPECT_OK(tsr_zeros(&owned, TSR_F32, TSR_SHAPE(1024)));
    EXPECT(tsr_memory_live(TSR_MEMORY_HOST) == live + 4096);
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(64), NULL));
    EXPECT_OK(tsr_wrap(&borrowed, buffer, &d));
    EXPECT(tsr_memory_live(TSR_MEMORY_HOST) == live + 4096); /* not the library's */
    tsr_release_all(&owned, &borrowed);
    EXPECT(tsr_memory_live(TSR_MEMORY_HOST) == live);
    buffer[63] = 1;
    EXPECT(buffer[63] == 1);
}

TEST(test_seed_001_tensors_live_in_containers)
{
    tsr_tensor *layers[3] = { NULL };
    for (int i = 0; i < 3; i++) EXPECT_OK(tsr_full(&layers[i], TSR_F32, TSR_SHAPE(2, 2), TSR_SCALAR(i)));
    tsr_tensor *shared = tsr_retain(layers[1]);
    for (int i = 0; i < 3; i++) tsr_release(&layers[i]);
    EXPECT(all_are(shared, 1));
    tsr_release(&shared);
}

/* Memory that is not malloc's ------------------------------------------------------- */

typedef struct counts { int allocs, frees; size_t bytes; } counts;

static void *counted_alloc(void *context, size_t bytes, size_t alignment)
{
    counts *c = context;
    c->allocs++;
    c->bytes += bytes;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void counted_free(void *context, void *data, size_t bytes)
{
    counts *c = context;
    c->frees++;
    c->bytes -= bytes;
    free(data);
}

TEST(test_seed_001_allocator_hooks_replace_malloc_and_free)
{
    counts c = { 0, 0, 0 };
    tsr_tensor *t = NULL;
    const tsr_allocator allocator = { &c, counted_alloc, counted_free };
    EXPECT_OK(tsr_set_allocator(&allocator));
    EXPECT_OK(tsr_zeros(&t, TSR_F32, TSR_SHAPE(1000)));
    EXPECT(c.allocs > 0 && c.bytes >= 4000);
    EXPECT_STATUS(tsr_set_allocator(NULL), TSR_EBUSY); /* t's memory must go back to where it came from */
    tsr_release(&t);
    EXPECT_OK(tsr_set_allocator(NULL));
    EXPECT(c.allocs == c.frees && c.bytes == 0);
}

TEST(test_seed_001_psram_is_a_registered_memory_kind)
{
    counts c = { 0, 0, 0 };
    tsr_memory psram = -1;
    tsr_desc d;
    tsr_tensor *weights = NULL;
    const tsr_memory_kind kind = { .size = sizeof kind, .name = "psram", .host_access = true, .alignment = 64,
                                   .context = &c, .alloc = counted_alloc, .free = counted_free };
    EXPECT_OK(tsr_memory_register(&psram, &kind));
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(16, 16), NULL));
    EXPECT_OK(tsr_declare(&weights, &d, TSR_CPU, psram));
    EXPECT_OK(tsr_fill(weights, TSR_SCALAR(2)));
    EXPECT(c.allocs == 1 && c.bytes == 1024 && weights->memory == psram && all_are(weights, 2));
    tsr_release(&weights);
    EXPECT(c.frees == 1 && c.bytes == 0);
    EXPECT_OK(tsr_memory_unregister(psram));
}

static bool refuse(void *context, size_t bytes)
{
    (void)context;
    (void)bytes;
    return false;
}

TEST(test_seed_001_out_of_memory_is_a_status)
{
    tsr_tensor *t = NULL;
    tsr_set_alloc_hook(refuse, NULL);
    EXPECT_STATUS(tsr_zeros(&t, TSR_F32, TSR_SHAPE(1000)), TSR_ENOMEM);
    tsr_set_alloc_hook(NULL, NULL);
    EXPECT(t == NULL);
}

/* Broadcasting ---------------------------------------------------------------------- */

TEST(test_seed_001_broadcast_of_3_1_and_1_4_is_3_4)
{
    tsr_tensor *a = counting(TSR_SHAPE(3, 1)), *b = counting(TSR_SHAPE(1, 4)), *wide_a = NULL, *wide_b = NULL;
    int ndim = 0;
    int64_t shape[TSR_MAX_NDIM];
    EXPECT_OK(tsr_desc_broadcast(&ndim, shape, 2, (const tsr_desc *[]){ &a->desc, &b->desc }));
    EXPECT(ndim == 2 && shape[0] == 3 && shape[1] == 4);
    EXPECT_OK(tsr_expand(&wide_a, a, ndim, shape));
    EXPECT_OK(tsr_expand(&wide_b, b, ndim, shape));
    EXPECT(wide_a->data == a->data && wide_b->data == b->data); /* nothing was copied */
    for (int64_t i = 0; i < 3; i++)
        for (int64_t j = 0; j < 4; j++)
            EXPECT(TSR_AT(float, wide_a, i, j) == (float)i && TSR_AT(float, wide_b, i, j) == (float)j);
    tsr_release_all(&wide_b, &wide_a, &b, &a);
}

TEST(test_seed_001_broadcast_aligns_at_the_right_and_fills_missing_dims)
{
    tsr_desc a, b, c;
    int ndim = 0;
    int64_t shape[TSR_MAX_NDIM];
    EXPECT_OK(tsr_desc_init(&a, TSR_F32, TSR_SHAPE(5, 3, 4), NULL));
    EXPECT_OK(tsr_desc_init(&b, TSR_F32, TSR_SHAPE(4), NULL));
    EXPECT_OK(tsr_desc_init(&c, TSR_F32, TSR_SHAPE(3), NULL));
    EXPECT_OK(tsr_desc_broadcast(&ndim, shape, 2, (const tsr_desc *[]){ &a, &b }));
    EXPECT(ndim == 3 && shape[0] == 5 && shape[1] == 3 && shape[2] == 4);
    EXPECT_STATUS(tsr_desc_broadcast(&ndim, shape, 2, (const tsr_desc *[]){ &a, &c }), TSR_ESHAPE);
}
