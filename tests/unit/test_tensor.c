/* test_tensor.c - tensors: states, owners, borrowed memory, placing, and questions. */
#include "core/tensor_int.h"
#include "test.h"

static tsr_desc desc(tsr_dtype dtype, int ndim, const int64_t *shape, const int64_t *stride)
{
    tsr_desc d = { .dtype = TSR_DTYPE_INVALID };
    EXPECT_OK(tsr_desc_init(&d, dtype, ndim, shape, stride));
    return d;
}

#define DIMS(...) (const int64_t[]){ __VA_ARGS__ }

/* Three states ---------------------------------------------------------------------- */

TEST(test_tensor_packed_of_more_than_memory_is_refused)
{
    tsr_tensor *t = NULL;
    EXPECT_STATUS(tsri_make_packed(&t, "test", TSR_F32, 2, (const int64_t[]){ INT64_MAX, 4 }), TSR_EOVERFLOW);
    EXPECT(t == NULL);
}

TEST(test_tensor_none_answers_nothing)
{
    tsr_tensor zeroed, *none[] = { NULL, &zeroed };
    memset(&zeroed, 0, sizeof zeroed);
    for (int i = 0; i < 2; i++) {
        const tsr_tensor *t = none[i];
        EXPECT(tsr_is_none(t) && !tsr_is_allocated(t) && tsr_desc_of(t) == NULL);
        EXPECT(tsr_numel(t) == 0 && tsr_byte_size(t) == 0);
        EXPECT(!tsr_is_scalar(t) && !tsr_is_matrix(t) && !tsr_is_contiguous(t) && !tsr_is_view(t));
        EXPECT(!tsr_is_borrowed(t) && !tsr_is_readonly(t) && !tsr_is_host(t) && !tsr_self_overlaps(t));
        EXPECT(tsr_batch(t) == 0 && tsr_channels(t) == 0 && tsr_height(t) == 0 && tsr_width(t) == 0);
        EXPECT(tsr_rows(t) == 0 && tsr_cols(t) == 0 && !tsr_may_overlap(t, t));
    }
    EXPECT_FAILS(tsr_check(NULL), TSR_ENULL, "check: t is NULL");
    EXPECT_FAILS(tsr_check(&zeroed), TSR_EDTYPE, "check: t is no tensor: its dtype is invalid");
    tsr_set_name(NULL, "nothing");
}

TEST(test_tensor_described_has_everything_but_memory)
{
    const tsr_desc d = desc(TSR_F32, 2, DIMS(2, 3), DIMS(-4, 1));
    tsr_tensor *t = NULL;
    tsr_memory_stats before, after;
    tsr_memory_get_stats(&before);
    EXPECT_OK(tsr_declare(&t, &d, TSR_CPU, TSR_MEMORY_ALIGNED));
    tsr_memory_get_stats(&after);
    EXPECT(after.live_storages == before.live_storages && after.live_bytes == before.live_bytes);
    EXPECT(!tsr_is_none(t) && !tsr_is_allocated(t) && t->data == NULL && t->storage == NULL);
    EXPECT(t->memory == TSR_MEMORY_ALIGNED && tsr_numel(t) == 6 && tsr_byte_size(t) == 24);
    EXPECT(tsr_desc_same(tsr_desc_of(t), &d) && !tsr_is_borrowed(t) && tsr_is_host(t));
    EXPECT_OK(tsr_check(t));
    EXPECT_OK(tsr_alloc(t));
    EXPECT(tsr_is_allocated(t) && tsr_storage_bytes(t->storage) == 28);  /* the span, gap included */
    EXPECT((char *)t->data == (char *)tsr_storage_data(t->storage) + 16); /* the second row lies below */
    EXPECT((uintptr_t)tsr_storage_data(t->storage) % 4096 == 0);
    const void *data = t->data;
    EXPECT_OK(tsr_alloc(t));
    EXPECT(t->data == data);
    EXPECT_OK(tsr_check(t));
    tsr_release(&t);
}

/* In a place of the caller's, or a handle of its own: memory that runs backwards begins at its end. */
TEST(test_tensor_made_with_negative_strides_lies_in_its_memory)
{
    tsr_desc d;
    tsr_tensor place, *all[] = { tsr_place_none(&place), NULL };
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(4), (const int64_t[]){ -1 }));
    for (int i = 0; i < 2; i++) {
        EXPECT_OK(tsri_make(&all[i], "it", &d, TSR_CPU, TSR_MEMORY_HOST));
        EXPECT((char *)all[i]->data == (char *)tsr_storage_data(all[i]->storage) + 12);
        tsr_release(&all[i]);
    }
}

TEST(test_tensor_described_is_allocated_by_the_first_write)
{
    const tsr_desc d = desc(TSR_I16, 1, DIMS(4), NULL);
    tsr_tensor *t[7] = { NULL }, *src = NULL;
    const int16_t numbers[] = { 1, 2, 3, 4 };
    EXPECT_OK(tsr_from_data(&src, TSR_I16, TSR_SHAPE(4), numbers));
    for (int i = 0; i < 7; i++) EXPECT_OK(tsr_declare(&t[i], &d, TSR_CPU, TSR_MEMORY_HOST));
    EXPECT_OK(tsr_fill(t[0], TSR_SCALAR(5)));
    EXPECT_OK(tsr_copy(t[1], src));
    EXPECT_OK(tsr_load(t[2], numbers, sizeof numbers));
    EXPECT_OK(tsr_set_i16(t[3], TSR_INDEX(1), 9));
    EXPECT_OK(tsr_cast(&t[4], src, TSR_I16));
    EXPECT_OK(tsr_concat(&t[5], 1, (const tsr_tensor *const[]){ src }, 0));
    EXPECT_OK(tsr_arange(&t[6], TSR_I16, TSR_SCALAR(0), TSR_SCALAR(4), TSR_SCALAR(1)));
    for (int i = 0; i < 7; i++) {
        EXPECT(tsr_is_allocated(t[i]));
        tsr_release(&t[i]);
    }
    tsr_release(&src);
}

TEST(test_tensor_described_cannot_be_read)
{
    const tsr_desc d = desc(TSR_I16, 1, DIMS(1), NULL);
    tsr_tensor *t = NULL, *other = NULL;
    int16_t x = 0;
    tsr_scalar s;
    tsr_matrix m;
    void *p = NULL;
    EXPECT_OK(tsr_declare(&t, &d, TSR_CPU, TSR_MEMORY_HOST));
    EXPECT_FAILS(tsr_get_i16(&x, t, TSR_INDEX(0)), TSR_ESTATE,
                 "get_i16: t is i16(1 | 1), which is described but has no memory (tsr_alloc)");
    EXPECT_STATUS(tsr_get(&s, t, TSR_INDEX(0)), TSR_ESTATE);
    EXPECT_STATUS(tsr_item(&s, t), TSR_ESTATE);
    EXPECT_STATUS(tsr_pointer(&p, t, 0, NULL), TSR_ESTATE);
    EXPECT_STATUS(tsr_as_matrix(&m, t), TSR_ESTATE);
    EXPECT_STATUS(tsr_store(&x, sizeof x, t), TSR_ESTATE);
    EXPECT_STATUS(tsr_cast(&other, t, TSR_F32), TSR_ESTATE);
    EXPECT_STATUS(tsr_rearrange(&other, t), TSR_ESTATE);
    EXPECT_STATUS(tsr_reshape(&other, t, TSR_SHAPE(1, 1)), TSR_ESTATE);
    EXPECT_STATUS(tsr_contiguous(&other, t), TSR_ESTATE);
    EXPECT(other == NULL && !tsr_is_allocated(t));
    tsr_release(&t);
}

TEST(test_tensor_failed_writes_leave_a_described_tensor_described)
{
    const tsr_desc d = desc(TSR_I16, 1, DIMS(4), NULL), repeated = desc(TSR_I16, 1, DIMS(4), DIMS(0));
    tsr_tensor *t = NULL, *src = NULL;
    EXPECT_OK(tsr_zeros(&src, TSR_I16, TSR_SHAPE(3)));
    EXPECT_OK(tsr_declare(&t, &d, TSR_CPU, TSR_MEMORY_HOST));
    EXPECT_STATUS(tsr_copy(t, src), TSR_ESHAPE);
    EXPECT_STATUS(tsr_load(t, "", 1), TSR_ESHAPE);
    EXPECT_STATUS(tsr_set_i16(t, TSR_INDEX(4), 1), TSR_EINDEX);
    EXPECT_STATUS(tsr_set_i32(t, TSR_INDEX(0), 1), TSR_EDTYPE);
    EXPECT_STATUS(tsr_set(t, TSR_INDEX(0, 0), TSR_SCALAR(1)), TSR_ESHAPE);
    EXPECT(!tsr_is_allocated(t));
    EXPECT_OK(tsr_declare(&t, &repeated, TSR_CPU, TSR_MEMORY_HOST));
    EXPECT_STATUS(tsr_zero(t), TSR_EOVERLAP);
    EXPECT(!tsr_is_allocated(t));
    EXPECT_OK(tsr_alloc(t));  /* one element, seen four times */
    EXPECT(tsr_storage_bytes(t->storage) == 2);
    tsr_release_all(&t, &src);
}

TEST(test_tensor_declare_checks_device_and_kind_and_replaces)
{
    const tsr_desc d = desc(TSR_F32, 1, DIMS(4), NULL);
    tsr_tensor *t = NULL;
    EXPECT_FAILS(tsr_declare(&t, &d, 12345, TSR_MEMORY_HOST), TSR_EDEVICE,
                 "declare: there is no device 12345");
    EXPECT_FAILS(tsr_declare(&t, &d, TSR_CPU, 31), TSR_EINVAL, "declare: 31 is no memory kind");
    EXPECT_FAILS(tsr_declare(&t, NULL, TSR_CPU, 0), TSR_ENULL, "declare: desc is NULL");
    EXPECT(t == NULL);
    EXPECT_OK(tsr_zeros(&t, TSR_I8, TSR_SHAPE(2)));
    EXPECT_OK(tsr_declare(&t, &d, TSR_CPU, TSR_MEMORY_HOST));
    EXPECT(t->dtype == TSR_F32 && !tsr_is_allocated(t));
    EXPECT_OK(tsr_declare(&t, &t->desc, TSR_CPU, TSR_MEMORY_HOST));  /* its own desc */
    EXPECT(tsr_desc_same(&t->desc, &d));
    tsr_release(&t);
}

/* Owning --------------------------------------------------------------------------- */

TEST(test_tensor_retain_is_one_more_owner_of_the_same_handle)
{
    tsr_tensor *a = NULL, *b = NULL;
    EXPECT_OK(tsr_zeros(&a, TSR_F32, TSR_SHAPE(2)));
    b = tsr_retain(a);
    EXPECT(b == a && a->count == 2 && tsr_storage_count(a->storage) == 1);
    tsr_release(&a);
    EXPECT(a == NULL && b->count == 1 && TSR_AT(float, b, 1) == 0);
    tsr_release(&b);
    EXPECT(b == NULL);
    tsr_release(&b);
    tsr_release(NULL);
    EXPECT(tsr_retain(NULL) == NULL);
}

TEST(test_tensor_clone_has_memory_of_its_own_in_the_same_order)
{
    tsr_tensor *t = NULL, *v = NULL, *c = NULL;
    EXPECT_OK(tsr_arange(&t, TSR_I32, TSR_SCALAR(0), TSR_SCALAR(24), TSR_SCALAR(1)));
    EXPECT_OK(tsr_view(&t, t, TSR_SHAPE(4, 6)));
    EXPECT_OK(tsr_slice(&v, t, 1, TSR_NONE, TSR_NONE, -2));
    EXPECT_OK(tsr_transpose(&v, v, 0, 1));
    EXPECT_OK(tsr_clone(&c, v));
    EXPECT(!tsr_is_view(c) && !tsr_may_overlap(c, v) && c->shape[0] == 3 && c->stride[0] == 1 &&
           c->stride[1] == 3);
    EXPECT(TSR_AT(int32_t, c, 0, 1) == 11 && TSR_AT(int32_t, c, 2, 3) == 19);
    TSR_AT(int32_t, c, 0, 0) = -1;
    EXPECT(TSR_AT(int32_t, v, 0, 0) == 5);
    EXPECT_OK(tsr_clone(&c, c));  /* into itself */
    EXPECT(TSR_AT(int32_t, c, 0, 0) == -1);
    tsr_release_all(&c, &v, &t);
}

TEST(test_tensor_clone_of_a_described_tensor_is_described)
{
    const tsr_desc d = desc(TSR_F32, 2, DIMS(2, 3), DIMS(1, 9));
    tsr_tensor *t = NULL, *c = NULL;
    EXPECT_OK(tsr_declare(&t, &d, TSR_CPU, TSR_MEMORY_ALIGNED));
    EXPECT_OK(tsr_clone(&c, t));
    EXPECT(!tsr_is_allocated(c) && c->memory == TSR_MEMORY_ALIGNED && tsr_desc_same_shape(&c->desc, &d));
    tsr_release_all(&c, &t);
}

TEST(test_tensor_results_that_exist_are_written_into)
{
    tsr_tensor *t = NULL, *same = NULL;
    EXPECT_OK(tsr_zeros(&t, TSR_F32, TSR_SHAPE(2, 2)));
    same = t;
    const void *data = t->data;
    EXPECT_OK(tsr_ones(&t, TSR_F32, TSR_SHAPE(2, 2)));
    EXPECT(t == same && t->data == data && TSR_AT(float, t, 1, 1) == 1);
    EXPECT_FAILS(tsr_ones(&t, TSR_F64, TSR_SHAPE(2, 2)), TSR_EDTYPE,
                 "ones: the result is f64(2, 2 | 2, 1), but out holds f32(2, 2 | 2, 1)");
    EXPECT_FAILS(tsr_ones(&t, TSR_F32, TSR_SHAPE(4)), TSR_ESHAPE,
                 "ones: the result is f32(4 | 1), but out holds f32(2, 2 | 2, 1)");
    EXPECT(t == same && t->data == data);
    tsr_release(&t);
}

/* Borrowed and adopted ---------------------------------------------------------------- */

TEST(test_tensor_wrap_looks_at_the_callers_memory)
{
    float numbers[6] = { 0, 1, 2, 3, 4, 5 };
    const tsr_desc d = desc(TSR_F32, 2, DIMS(2, 3), DIMS(-3, 1));
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_wrap(&t, numbers + 3, &d));
    EXPECT(t->data == numbers + 3 && tsr_is_borrowed(t) && !tsr_is_view(t) && !tsr_is_readonly(t));
    EXPECT(tsr_storage_data(t->storage) == numbers && tsr_storage_bytes(t->storage) == sizeof numbers);
    EXPECT(tsr_storage_ownership(t->storage) == TSR_BORROWED);
    EXPECT(TSR_AT(float, t, 1, 2) == 2);
    EXPECT_OK(tsr_fill(t, TSR_SCALAR(9)));
    EXPECT(numbers[0] == 9 && numbers[5] == 9);
    tsr_release(&t);
    EXPECT_FAILS(tsr_wrap(&t, NULL, &d), TSR_ENULL, "wrap: data is NULL");
    EXPECT_FAILS(tsr_wrap(&t, (char *)numbers + 1, &d), TSR_EINVAL,
                 "is not aligned to 4 bytes, as f32 needs");
    EXPECT_FAILS(tsr_wrap(&t, numbers, NULL), TSR_ENULL, "wrap: desc is NULL");
    EXPECT_FAILS(tsr_wrap(NULL, numbers, &d), TSR_ENULL, "wrap: out is NULL");
    EXPECT(t == NULL);
}

TEST(test_tensor_wrap_of_no_elements_needs_no_memory)
{
    const tsr_desc d = desc(TSR_F32, 2, DIMS(0, 3), NULL);
    tsr_tensor *t = NULL, *v = NULL;
    EXPECT_OK(tsr_wrap(&t, NULL, &d));
    EXPECT(tsr_is_allocated(t) && tsr_numel(t) == 0);
    EXPECT_OK(tsr_check(t));
    EXPECT_OK(tsr_transpose(&v, t, 0, 1));
    EXPECT_OK(tsr_fill(v, TSR_SCALAR(1)));
    tsr_release_all(&v, &t);
}

TEST(test_tensor_wrap_const_cannot_be_written)
{
    static const float numbers[2] = { 1, 2 };
    const tsr_desc d = desc(TSR_F32, 1, DIMS(2), NULL);
    tsr_tensor *t = NULL, *c = NULL;
    EXPECT_OK(tsr_wrap_const(&t, numbers, &d));
    EXPECT(tsr_is_readonly(t) && tsr_storage_is_readonly(t->storage));
    EXPECT_FAILS(tsr_fill(t, TSR_SCALAR(0)), TSR_EREADONLY, "fill: t is f32(2 | 1) in read-only memory");
    EXPECT_FAILS(tsr_set_f32(t, TSR_INDEX(0), 1), TSR_EREADONLY,
                 "set_f32: t is f32(2 | 1) in read-only memory");
    EXPECT_FAILS(tsr_load(t, numbers, sizeof numbers), TSR_EREADONLY,
                 "load: t is f32(2 | 1) in read-only memory");
    EXPECT_OK(tsr_clone(&c, t));
    EXPECT(!tsr_is_readonly(c));
    EXPECT_FAILS(tsr_copy(t, c), TSR_EREADONLY, "copy: dst is f32(2 | 1) in read-only memory");
    tsr_release_all(&c, &t);
}

typedef struct deletion {
    int    calls;
    void  *data;
    size_t bytes;
} deletion;

static void note_deletion(void *context, void *data, size_t bytes)
{
    deletion *d = context;
    d->calls++;
    d->data = data;
    d->bytes = bytes;
}

TEST(test_tensor_adopted_memory_is_deleted_once_after_the_last_tensor)
{
    float numbers[6] = { 0 };
    deletion gone = { 0, NULL, 0 };
    const tsr_desc d = desc(TSR_F32, 1, DIMS(6), DIMS(-1));
    tsr_tensor *t = NULL, *v = NULL, *r = NULL;
    EXPECT_OK(tsr_adopt(&t, numbers + 5, &d, note_deletion, &gone));
    EXPECT(tsr_storage_ownership(t->storage) == TSR_ADOPTED && !tsr_is_borrowed(t));
    EXPECT_OK(tsr_slice(&v, t, 0, 1, 3, 1));
    r = tsr_retain(t);
    tsr_release_all(&t, &r);
    EXPECT(gone.calls == 0);
    tsr_release(&v);
    EXPECT(gone.calls == 1 && gone.data == numbers && gone.bytes == sizeof numbers);
    EXPECT_FAILS(tsr_adopt(&t, numbers, &d, NULL, NULL), TSR_ENULL, "adopt: deleter is NULL");
    EXPECT_STATUS(tsr_adopt(&t, (char *)numbers + 1, &d, note_deletion, &gone), TSR_EINVAL);
    EXPECT_STATUS(tsr_adopt(&t, numbers, NULL, note_deletion, &gone), TSR_ENULL);
    EXPECT(t == NULL && gone.calls == 1);  /* what failed is still the caller's */
}

TEST(test_tensor_adopted_memory_is_deleted_when_its_handle_is_rebound)
{
    float numbers[2] = { 0 };
    deletion gone = { 0, NULL, 0 };
    const tsr_desc d = desc(TSR_F32, 1, DIMS(2), NULL);
    tsr_tensor *t = NULL, *other = NULL;
    EXPECT_OK(tsr_zeros(&other, TSR_F32, TSR_SHAPE(3)));
    EXPECT_OK(tsr_adopt(&t, numbers, &d, note_deletion, &gone));
    EXPECT_OK(tsr_slice(&t, t, 0, 0, 1, 1));  /* still the same storage */
    EXPECT(gone.calls == 0);
    EXPECT_OK(tsr_slice(&t, other, 0, 0, 1, 1));
    EXPECT(gone.calls == 1);
    tsr_release_all(&t, &other);
}

TEST(test_tensor_from_storage_is_checked_against_it)
{
    const tsr_desc d = desc(TSR_I32, 1, DIMS(3), DIMS(-1)), big = desc(TSR_I32, 1, DIMS(5), NULL);
    tsr_storage *s = NULL;
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_storage_create(&s, 16, TSR_CPU, TSR_MEMORY_HOST));
    EXPECT_OK(tsr_from_storage(&t, s, 8, &d));
    EXPECT(t->data == (char *)tsr_storage_data(s) + 8 && tsr_storage_count(s) == 2);
    EXPECT_OK(tsr_from_storage(&t, s, 12, &d));
    EXPECT(tsr_storage_count(s) == 2);
    EXPECT_FAILS(tsr_from_storage(&t, s, 4, &d), TSR_EBOUNDS,
                 "from_storage: i32(3 | -1) from byte 4 on leaves its storage of 16 bytes");
    EXPECT_STATUS(tsr_from_storage(&t, s, 16, &d), TSR_EBOUNDS);
    EXPECT_STATUS(tsr_from_storage(&t, s, SIZE_MAX, &d), TSR_EBOUNDS);
    EXPECT_STATUS(tsr_from_storage(&t, s, SIZE_MAX - 3, &d), TSR_EBOUNDS);
    EXPECT_STATUS(tsr_from_storage(&t, s, 0, &big), TSR_EBOUNDS);
    EXPECT_STATUS(tsr_from_storage(&t, s, 10, &d), TSR_EINVAL);
    EXPECT_STATUS(tsr_from_storage(&t, NULL, 8, &d), TSR_ENULL);
    EXPECT(t->data == (char *)tsr_storage_data(s) + 12);
    tsr_storage_release(&s);
    EXPECT(s == NULL);
    EXPECT_OK(tsr_zero(t));
    tsr_release(&t);
}

/* Placing ---------------------------------------------------------------------------- */

TEST(test_tensor_placed_needs_no_allocation_for_itself_or_its_views)
{
    float samples[6] = { 0, 1, 2, 3, 4, 5 };
    const tsr_desc d = desc(TSR_F32, 2, DIMS(2, 3), NULL);
    tsr_memory_stats before, after;
    tsr_tensor frame, row, *r = tsr_place_none(&row), *f = &frame;
    tsr_memory_get_stats(&before);
    EXPECT_OK(tsr_place(&frame, samples, &d));
    EXPECT(tsr_is_borrowed(&frame) && frame.storage == NULL && (frame.flags & TSR_FLAG_PLACED));
    EXPECT(r == &row && tsr_is_none(r));
    EXPECT_OK(tsr_slice(&r, &frame, 0, 1, 2, 1));
    EXPECT(r == &row && row.data == samples + 3 && tsr_is_view(r) && (row.flags & TSR_FLAG_PLACED));
    EXPECT_OK(tsr_select(&r, r, 0, 0));  /* rebound where it lies */
    EXPECT(r == &row && row.ndim == 1);
    EXPECT_OK(tsr_fill(r, TSR_SCALAR(8)));
    EXPECT(samples[5] == 8);
    tsr_memory_get_stats(&after);
    EXPECT(after.allocations == before.allocations && after.live_tensors == before.live_tensors);
    tsr_release(&r);
    EXPECT(r == NULL && tsr_is_none(&row));
    tsr_release(&f);
    EXPECT(tsr_is_none(&frame));
    EXPECT(tsr_place_none(NULL) == NULL);
    EXPECT_STATUS(tsr_place(NULL, samples, &d), TSR_ENULL);
    EXPECT_STATUS(tsr_place(&frame, NULL, &d), TSR_ENULL);
    EXPECT_STATUS(tsr_place(&frame, (char *)samples + 2, &d), TSR_EINVAL);
}

TEST(test_tensor_placed_view_holds_the_storage_it_looks_at)
{
    tsr_tensor *t = NULL, place, *p = tsr_place_none(&place);
    EXPECT_OK(tsr_ones(&t, TSR_F32, TSR_SHAPE(3)));
    EXPECT_OK(tsr_slice(&p, t, 0, 1, 3, 1));
    EXPECT(p == &place && tsr_storage_count(t->storage) == 2);
    tsr_release(&t);
    EXPECT(TSR_AT(float, p, 1) == 1);
    EXPECT_OK(tsr_zeros(&t, TSR_F32, TSR_SHAPE(2)));
    EXPECT_OK(tsr_slice(&p, t, 0, 0, 1, 1));  /* lets go of the old one */
    EXPECT(tsr_storage_count(t->storage) == 2);
    tsr_release(&p);
    EXPECT(tsr_storage_count(t->storage) == 1);
    tsr_release(&t);
}

TEST(test_tensor_placed_none_is_a_result_that_factories_fill)
{
    tsr_tensor place, *p = tsr_place_none(&place);
    EXPECT_OK(tsr_ones(&p, TSR_F32, TSR_SHAPE(3)));
    EXPECT(p == &place && tsr_is_allocated(p) && TSR_AT(float, p, 2) == 1);
    tsr_release(&p);
    EXPECT(tsr_is_none(&place));
}

/* Asking ----------------------------------------------------------------------------- */

TEST(test_tensor_names_of_dims_by_rank)
{
    static const struct { int ndim; int64_t shape[6], batch, channels, height, width; } cases[] = {
        { 0, { 0 }, 1, 1, 1, 1 },
        { 1, { 2 }, 1, 1, 1, 2 },
        { 2, { 2, 3 }, 1, 1, 2, 3 },
        { 3, { 2, 3, 4 }, 2, 1, 3, 4 },
        { 4, { 2, 3, 4, 5 }, 2, 3, 4, 5 },
        { 5, { 2, 3, 4, 5, 6 }, 2, 3, 5, 6 },
        { 6, { 2, 3, 4, 5, 6, 0 }, 2, 3, 6, 0 },
    };
    for (int i = 0; i < 7; i++) {
        tsr_tensor *t = NULL;
        EXPECT_OK(tsr_empty(&t, TSR_I8, cases[i].ndim, cases[i].shape));
        EXPECT_MSG(tsr_batch(t) == cases[i].batch && tsr_channels(t) == cases[i].channels, "rank %d", i);
        EXPECT_MSG(tsr_height(t) == cases[i].height && tsr_width(t) == cases[i].width, "rank %d", i);
        EXPECT_MSG(tsr_rows(t) == cases[i].height && tsr_cols(t) == cases[i].width, "rank %d", i);
        EXPECT(tsr_is_scalar(t) == (i == 0) && tsr_is_matrix(t) == (i == 2));
        tsr_release(&t);
    }
}

TEST(test_tensor_dim_counts_from_either_end)
{
    tsr_tensor *t = NULL;
    int64_t n = 0;
    EXPECT_OK(tsr_zeros(&t, TSR_I8, TSR_SHAPE(2, 3)));
    EXPECT_OK(tsr_dim(&n, t, -1));
    EXPECT(n == 3);
    EXPECT_FAILS(tsr_dim(&n, t, 2), TSR_EINDEX, "dim: axis 2 of i8(2, 3 | 3, 1), which has 2 dims");
    EXPECT_STATUS(tsr_dim(NULL, t, 0), TSR_ENULL);
    EXPECT_STATUS(tsr_dim(&n, NULL, 0), TSR_ENULL);
    tsr_release(&t);
}

TEST(test_tensor_as_matrix_knows_rows_columns_and_leading_dimension)
{
    static const struct { int64_t shape[2], stride[2], ld; int row_major; } cases[] = {
        { { 3, 4 }, { 4, 1 }, 4, 1 },   /* packed */
        { { 3, 4 }, { 9, 1 }, 9, 1 },   /* padded rows */
        { { 3, 4 }, { 1, 3 }, 3, 0 },   /* transposed */
        { { 3, 4 }, { 1, 7 }, 7, 0 },
        { { 1, 4 }, { -5, 1 }, 4, 1 },  /* one row: its stride is free */
        { { 3, 1 }, { 1, -5 }, 1, 1 },  /* one column */
        { { 3, 1 }, { 6, 77 }, 6, 1 },
        { { 1, 4 }, { 0, 6 }, 6, 0 },
        { { 1, 1 }, { 0, 0 }, 1, 1 },
        { { 0, 4 }, { 0, 0 }, 4, 1 },
        { { 4, 0 }, { 0, 0 }, 1, 1 },
        { { 3, 4 }, { 3, 1 }, 0, -1 },  /* rows overlap */
        { { 3, 4 }, { 8, 2 }, 0, -1 },
        { { 3, 4 }, { -4, 1 }, 0, -1 },
        { { 3, 4 }, { 0, 1 }, 0, -1 },
        { { 3, 4 }, { 4, -1 }, 0, -1 },
        { { 2, 2 }, { 1, 1 }, 0, -1 },
    };
    static float numbers[64];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const tsr_desc d = desc(TSR_F32, 2, cases[i].shape, cases[i].stride);
        tsr_tensor *t = NULL;
        tsr_matrix m = { .rows = -1 };
        EXPECT_OK(tsr_wrap(&t, numbers + 30, &d));
        const tsr_status s = tsr_as_matrix(&m, t);
        if (cases[i].row_major < 0) {
            EXPECT_MSG(s == TSR_ESTRIDE && m.rows == -1, "case %zu", i);
        } else {
            EXPECT_MSG(s == TSR_OK && m.data == t->data && m.rows == cases[i].shape[0] &&
                           m.cols == cases[i].shape[1],
                       "case %zu", i);
            EXPECT_MSG(m.ld == cases[i].ld && m.row_major == cases[i].row_major && m.dtype == TSR_F32,
                       "case %zu: ld %lld, %d", i, (long long)m.ld, m.row_major);
        }
        tsr_release(&t);
    }
}

TEST(test_tensor_as_matrix_wants_two_dims)
{
    tsr_tensor *t = NULL;
    tsr_matrix m;
    EXPECT_OK(tsr_zeros(&t, TSR_F32, TSR_SHAPE(2, 3, 4)));
    EXPECT_FAILS(tsr_as_matrix(&m, t), TSR_ESHAPE, "as_matrix: f32(2, 3, 4 | 12, 4, 1) has 3 dims, not 2");
    EXPECT_STATUS(tsr_as_matrix(NULL, t), TSR_ENULL);
    EXPECT_STATUS(tsr_as_matrix(&m, NULL), TSR_ENULL);
    tsr_release(&t);
}

TEST(test_tensor_check_finds_what_is_corrupt)
{
    tsr_tensor *t = NULL, good;
    EXPECT_OK(tsr_zeros(&t, TSR_F32, TSR_SHAPE(2, 3)));
    good = *t;
    EXPECT_OK(tsr_check(&good));
#define CORRUPT(change, status, part)                     \
    do {                                                  \
        tsr_tensor bad = good;                            \
        change;                                           \
        EXPECT_FAILS(tsr_check(&bad), status, part);      \
    } while (0)
    CORRUPT(bad.dtype = TSR_DTYPE_INVALID, TSR_EDTYPE, "no tensor");
    CORRUPT(bad.dtype = (tsr_dtype)200, TSR_EDTYPE, "check: 200 is no dtype");
    CORRUPT(bad.ndim = 99, TSR_EINVAL, "check: rank 99 is outside 0 .. 16");
    CORRUPT(bad.ndim = -1, TSR_EINVAL, "rank -1");
    CORRUPT(bad.shape[1] = -3, TSR_ESHAPE, "check: dim 1 is -3 in shape (2, -3)");
    CORRUPT(bad.shape[0] = INT64_MAX, TSR_EOVERFLOW, "exceeds 2^63 - 1");
    CORRUPT(bad.shape[0] = 3, TSR_EBOUNDS, "leaves its storage of 24 bytes");
    CORRUPT(bad.stride[0] = -3, TSR_EBOUNDS, "leaves its storage");
    CORRUPT(bad.stride[1] = INT64_MAX, TSR_EOVERFLOW, "reach over more than");
    CORRUPT(bad.data = (char *)good.data + 4, TSR_EBOUNDS, "leaves its storage");
    CORRUPT(bad.data = (char *)good.data - 4, TSR_EBOUNDS, "leaves its storage");
    CORRUPT(bad.data = (char *)good.data + 1, TSR_EINVAL, "is not aligned");
    CORRUPT(bad.device = 77, TSR_EDEVICE, "there is no device 77");
    CORRUPT(bad.memory = 31, TSR_EINVAL, "31 is no memory kind");
    CORRUPT(bad.memory = -1, TSR_EINVAL, "-1 is no memory kind");
    CORRUPT(bad.count = 0, TSR_EINVAL, "was released");
#undef CORRUPT
    tsr_release(&t);
}

TEST(test_tensor_likes_lie_where_their_model_lies)
{
    const tsr_desc d = desc(TSR_I16, 2, DIMS(3, 4), DIMS(1, 3));
    tsr_tensor *t = NULL, *like = NULL;
    EXPECT_OK(tsr_declare(&t, &d, TSR_CPU, TSR_MEMORY_ALIGNED));
    EXPECT_OK(tsr_zeros_like(&like, t));  /* a model needs no memory */
    EXPECT(like->memory == TSR_MEMORY_ALIGNED && tsr_desc_same(&like->desc, &d) &&
           (uintptr_t)like->data % 4096 == 0);
    EXPECT(TSR_AT(int16_t, like, 2, 3) == 0 && !tsr_is_allocated(t));
    tsr_release_all(&like, &t);
}

TEST(test_tensor_to_is_the_tensor_seen_again_where_it_is_there_already)
{
    tsr_tensor *t = NULL, *same = NULL, *moved = NULL;
    EXPECT_OK(tsr_ones(&t, TSR_F32, TSR_SHAPE(2, 3)));
    EXPECT_OK(tsr_to_memory(&same, t, TSR_CPU, TSR_MEMORY_HOST));
    EXPECT(same->data == t->data && tsr_is_view(same));
    EXPECT_OK(tsr_transpose(&same, same, 0, 1));
    EXPECT_OK(tsr_to_memory(&moved, same, TSR_CPU, TSR_MEMORY_ALIGNED));
    EXPECT(moved->memory == TSR_MEMORY_ALIGNED && moved->data != t->data && !tsr_is_view(moved));
    EXPECT(moved->stride[0] == 1 && moved->stride[1] == 3 && TSR_AT(float, moved, 2, 1) == 1);
    EXPECT_STATUS(tsr_to_memory(&moved, t, 1234, TSR_MEMORY_HOST), TSR_EDEVICE);
    EXPECT_STATUS(tsr_to_memory(&moved, t, TSR_CPU, 30), TSR_EINVAL);
    EXPECT(tsr_to_memory(&moved, t, TSR_CPU, TSR_MEMORY_FILE) != TSR_OK);  /* files are mapped, not made */
    EXPECT(moved->memory == TSR_MEMORY_ALIGNED);
    tsr_release_all(&moved, &same, &t);
}

TEST(test_tensor_may_overlap_is_exact_for_interleaved_views)
{
    tsr_tensor *t = NULL, *even = NULL, *odd = NULL;
    EXPECT_OK(tsr_zeros(&t, TSR_I32, TSR_SHAPE(10)));
    EXPECT_OK(tsr_slice(&even, t, 0, 0, 10, 2));
    EXPECT_OK(tsr_slice(&odd, t, 0, 1, 10, 2));
    EXPECT(!tsr_may_overlap(even, odd) && tsr_may_overlap(even, t) && tsr_may_overlap(odd, t));
    EXPECT_OK(tsr_copy(even, odd));
    tsr_release_all(&odd, &even, &t);
}

TEST(test_tensor_of_nothing_may_be_placed_nowhere)
{
    tsr_desc d;
    tsr_tensor t;
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(0, 4), NULL));
    EXPECT_OK(tsr_place(&t, NULL, &d));
    EXPECT(t.data != NULL && tsr_numel(&t) == 0 && tsr_is_allocated(&t));
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(1, 4), NULL));
    EXPECT_FAILS(tsr_place(&t, NULL, &d), TSR_ENULL, "place");
    EXPECT(tsr_number_init(NULL, tsr_scalar_i64(1)) == NULL);
}
