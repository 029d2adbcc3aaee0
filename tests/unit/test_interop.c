/* test_interop.c - memory of other libraries, and ours for them: who sees what, and who lets go when. */
#define _GNU_SOURCE 1 /* mkdtemp */
#include "unit/files.h"

/* An allocation that cannot be is NULL to the library, and not the end of the test. */
const char *__asan_default_options(void);
const char *__msan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }
const char *__msan_default_options(void) { return "allocator_may_return_null=1"; }

/* A producer that counts how often it is asked to delete. */
typedef struct producer {
    tsr_dl_managed_versioned m;
    tsr_dl_managed           old;
    float                    data[24];
    int64_t                  shape[3], strides[3];
    int                      deleted;
} producer;

static void count_versioned(tsr_dl_managed_versioned *m) { ((producer *)m->manager_ctx)->deleted++; }
static void count_legacy(tsr_dl_managed *m) { ((producer *)m->manager_ctx)->deleted++; }

static void produce(producer *p)
{
    *p = (producer){ .shape = { 2, 3, 4 }, .strides = { 12, 4, 1 } };
    for (int i = 0; i < 24; i++) p->data[i] = (float)i;
    p->m = (tsr_dl_managed_versioned){
        .version = { 1, 3 }, .manager_ctx = p, .deleter = count_versioned,
        .dl_tensor = { .data = p->data, .device = { TSR_DL_CPU, 0 }, .ndim = 3, .dtype = { 2, 32, 1 },
                       .shape = p->shape, .strides = p->strides },
    };
    p->old = (tsr_dl_managed){ p->m.dl_tensor, p, count_legacy };
}

TEST(test_imports_share_memory_and_delete_once)
{
    producer p;
    tsr_tensor *t = NULL, *view = NULL;
    produce(&p);
    EXPECT_OK(tsr_from_dlpack(&t, &p.m));
    EXPECT(t->data == p.data && t->ndim == 3 && t->dtype == TSR_F32 && !tsr_is_readonly(t));
    TSR_AT(float, t, 1, 2, 3) = 99;
    EXPECT(p.data[23] == 99);
    EXPECT_OK(tsr_select(&view, t, 0, 1));
    tsr_release(&t);
    EXPECT(p.deleted == 0);
    tsr_release(&view);
    EXPECT(p.deleted == 1);
    EXPECT_OK(tsr_from_dlpack_legacy(&t, &p.old));
    EXPECT(t->data == p.data);
    tsr_release(&t);
    EXPECT(p.deleted == 2);
    p.m.deleter = NULL;  /* allowed */
    EXPECT_OK(tsr_from_dlpack(&t, &p.m));
    tsr_release(&t);
    p.old.deleter = NULL;
    EXPECT_OK(tsr_from_dlpack_legacy(&t, &p.old));
    tsr_release(&t);
    EXPECT_OK(tsr_wrap_dlpack(&t, &p.m.dl_tensor, true));
    EXPECT(t->data == p.data && tsr_is_readonly(t) && tsr_is_borrowed(t));
    tsr_release(&t);
    EXPECT(p.deleted == 2);
}

TEST(test_imports_take_every_stride_and_offset)
{
    producer p;
    tsr_tensor *t = NULL;
    produce(&p);
    p.m.dl_tensor.strides = NULL;  /* of an old producer: row-major */
    EXPECT_OK(tsr_from_dlpack(&t, &p.m));
    EXPECT(t->stride[0] == 12 && t->stride[1] == 4 && t->stride[2] == 1);
    p.m.dl_tensor.strides = p.strides;
    p.m.dl_tensor.byte_offset = 11 * sizeof(float);
    p.strides[0] = 12, p.strides[1] = -4, p.strides[2] = -1;
    EXPECT_OK(tsr_from_dlpack(&t, &p.m));
    EXPECT(TSR_AT(float, t, 0, 0, 0) == 11 && TSR_AT(float, t, 0, 2, 3) == 0 &&
           TSR_AT(float, t, 1, 0, 1) == 22);
    EXPECT(tsr_check(t) == TSR_OK);
    p.strides[0] = 0, p.strides[1] = 0, p.strides[2] = 0;
    EXPECT_OK(tsr_from_dlpack(&t, &p.m));
    EXPECT(TSR_AT(float, t, 1, 2, 3) == 11);
    EXPECT_STATUS(tsr_fill(t, TSR_SCALAR(0)), TSR_EOVERLAP);
    p.shape[1] = 0;
    p.m.dl_tensor.data = NULL;
    EXPECT_OK(tsr_from_dlpack(&t, &p.m));
    EXPECT(tsr_numel(t) == 0);
    p.m.dl_tensor.ndim = 0;
    p.m.dl_tensor.data = p.data;
    p.m.dl_tensor.shape = NULL;
    p.m.dl_tensor.strides = NULL;
    EXPECT_OK(tsr_from_dlpack(&t, &p.m));
    EXPECT(tsr_is_scalar(t) && *(float *)t->data == 11);
    tsr_release(&t);
    EXPECT(p.deleted == 5);
}

TEST(test_interop_dlpack_of_as_many_dims_as_there_may_be_is_taken)
{
    producer p;
    tsr_tensor *t = NULL;
    int64_t ones[TSR_MAX_NDIM];
    for (int i = 0; i < TSR_MAX_NDIM; i++) ones[i] = 1;
    produce(&p);
    p.m.dl_tensor.ndim = TSR_MAX_NDIM;
    p.m.dl_tensor.shape = ones;
    p.m.dl_tensor.strides = NULL;
    EXPECT_OK(tsr_from_dlpack(&t, &p.m));
    EXPECT(t && t->ndim == TSR_MAX_NDIM && tsr_numel(t) == 1 && *(float *)t->data == 0);
    tsr_release(&t);
    EXPECT(p.deleted == 1);
}

TEST(test_a_read_only_import_refuses_to_be_written)
{
    producer p;
    tsr_tensor *t = NULL, *view = NULL;
    produce(&p);
    p.m.flags = TSR_DL_READ_ONLY | TSR_DL_IS_COPIED | UINT64_C(1) << 40;
    EXPECT_OK(tsr_from_dlpack(&t, &p.m));
    EXPECT_OK(tsr_transpose(&view, t, 0, 1));
    EXPECT_STATUS(tsr_fill(t, TSR_SCALAR(0)), TSR_EREADONLY);
    EXPECT_STATUS(tsr_fill(view, TSR_SCALAR(0)), TSR_EREADONLY);
    tsr_release_all(&t, &view);
}

TEST(test_imports_that_cannot_be_are_refused_and_stay_the_callers)
{
    producer p;
    tsr_tensor *t = NULL;
    produce(&p);
#define REFUSED(change, status, words)                            \
    do {                                                          \
        produce(&p);                                              \
        change;                                                   \
        EXPECT_FAILS(tsr_from_dlpack(&t, &p.m), status, words);   \
        EXPECT(t == NULL && p.deleted == 0);                      \
    } while (0)
    REFUSED(p.m.version.major = 2, TSR_EUNSUPPORTED, "DLPack 2.3");
    REFUSED(p.m.dl_tensor.ndim = TSR_MAX_NDIM + 1, TSR_EUNSUPPORTED, "dims");
    REFUSED(p.m.dl_tensor.ndim = -1, TSR_EUNSUPPORTED, "-1 dims");
    REFUSED(p.m.dl_tensor.shape = NULL, TSR_ENULL, "shape");
    REFUSED(p.m.dl_tensor.data = NULL, TSR_ENULL, "data");
    REFUSED(p.m.dl_tensor.dtype.lanes = 4, TSR_EDTYPE, "4 lanes");
    REFUSED((p.m.dl_tensor.dtype = (tsr_dl_dtype){ 17, 4, 1 }), TSR_EDTYPE, "4 bits");
    REFUSED((p.m.dl_tensor.dtype = (tsr_dl_dtype){ 3, 64, 1 }), TSR_EDTYPE, "");
    REFUSED((p.m.dl_tensor.dtype = (tsr_dl_dtype){ 2, 128, 1 }), TSR_EDTYPE, "");
    REFUSED(p.shape[0] = -2, TSR_ESHAPE, "-2");
    REFUSED(p.shape[0] = INT64_MAX, TSR_EOVERFLOW, "");
    REFUSED(p.strides[0] = INT64_MIN, TSR_EOVERFLOW, "");
    REFUSED(p.m.dl_tensor.byte_offset = 2, TSR_EINVAL, "aligned");
    REFUSED(p.m.dl_tensor.device.type = 16, TSR_EDEVICE, "16");
    REFUSED(p.m.dl_tensor.device.type = TSR_DL_METAL, TSR_EDEVICE, "metal");
    produce(&p);
    p.m.dl_tensor.device.type = TSR_DL_CUDA_HOST;  /* pinned: the host reaches it */
    EXPECT_OK(tsr_from_dlpack(&t, &p.m));
    tsr_release(&t);
    EXPECT(p.deleted == 1);
}

/* Exports ------------------------------------------------------------------------------ */

TEST(test_imports_outside_the_address_space_are_refused)
{
    producer p;
    tsr_tensor *t = NULL;
    produce(&p);
    p.m.dl_tensor.byte_offset = UINT64_MAX - 3;  /* 4 bytes before the data, if it wrapped */
    EXPECT_FAILS(tsr_from_dlpack(&t, &p.m), TSR_EOVERFLOW, "byte_offset");
    p.m.dl_tensor.byte_offset = (uint64_t)-(uintptr_t)p.data - 4;
    EXPECT_FAILS(tsr_from_dlpack(&t, &p.m), TSR_EOVERFLOW, "byte_offset");
    EXPECT(t == NULL && p.deleted == 0);
}

/* Nothing is counted or reached where one dim is 0, however long the others are. */
TEST(test_empty_tensors_of_any_other_dims_go_out_and_come_back)
{
    const tsr_desc d = {
        .dtype = TSR_F32, .ndim = 4, .shape = { 1, INT64_MAX / 3, 5, 0 }, .stride = { 1, 7, 0, 1 }
    };
    const tsr_buffer nothing = { .data = NULL };
    tsr_tensor *t = NULL, *back = NULL, *sum = NULL;
    tsr_dl_managed_versioned *m = NULL;
    EXPECT_OK(tsr_from_buffer(&t, &nothing, 0, &d));
    EXPECT_OK(tsr_to_dlpack(&m, t, NULL));
    EXPECT_OK(tsr_from_dlpack(&back, m));
    EXPECT(tsr_same_shape(back, t) && tsr_numel(back) == 0);
    EXPECT_OK(tsr_sum(&sum, back, 0, NULL, false));
    EXPECT(*(float *)sum->data == 0);
    tsr_release_all(&sum, &back, &t);
}

/* Some readers take a stride for what it says even where there is one element. */
TEST(test_dims_of_size_1_are_exported_with_the_stride_of_a_packed_tensor)
{
    const int64_t odd[] = { 99, 1, -7 };
    tsr_tensor *t = NULL, *view = NULL;
    tsr_dl_managed_versioned *m = NULL;
    EXPECT_OK(tsr_zeros(&t, TSR_F32, TSR_SHAPE(4)));
    EXPECT_OK(tsr_as_strided(&view, t, 3, (const int64_t[]){ 1, 4, 1 }, odd, 0));
    EXPECT_OK(tsr_to_dlpack(&m, view, NULL));
    EXPECT(m->dl_tensor.strides[0] == 4 && m->dl_tensor.strides[1] == 1 && m->dl_tensor.strides[2] == 1);
    m->deleter(m);
    tsr_release_all(&view, &t);
}

TEST(test_exports_come_back_the_same_for_every_dtype_and_layout)
{
    uint64_t r = 11;
    for (int dtype = 1; dtype < TSR_DTYPE_COUNT; dtype++)
        for (int k = 0; k < 40; k++) {
            tsr_tensor *t = any_tensor(&r, (tsr_dtype)dtype, 4), *back = NULL;
            tsr_dl_managed_versioned *m = NULL;
            tsr_dl_managed *old = NULL;
            const bool copy = test_below(&r, 4) == 0;
            EXPECT_OK(tsr_to_dlpack(&m, t, &(tsr_dlpack_opts){ .copy = copy }));
            EXPECT(m->version.major == 1 && m->flags == (copy ? TSR_DL_IS_COPIED : 0));
            EXPECT(m->dl_tensor.ndim == 0 || m->dl_tensor.strides != NULL);
            EXPECT(tsr_numel(t) == 0 ? m->dl_tensor.data == NULL : copy || m->dl_tensor.data == t->data);
            EXPECT_OK(tsr_to_dlpack_legacy(&old, t, NULL));
            EXPECT_OK(tsr_from_dlpack(&back, m));
            EXPECT(same_bits(t, back));
            tsr_release(&back);
            tsr_tensor *kept = NULL;
            EXPECT_OK(tsr_clone(&kept, t));
            tsr_release(&t);  /* the export keeps the memory */
            EXPECT_OK(tsr_from_dlpack_legacy(&back, old));
            EXPECT(same_bits(kept, back));
            tsr_release_all(&back, &kept);
        }
}

TEST(test_exports_say_what_is_read_only)
{
    static const float numbers[4] = { 1, 2, 3, 4 };
    tsr_tensor *t = NULL;
    tsr_desc d;
    tsr_dl_managed_versioned *m = NULL;
    tsr_dl_managed *old = NULL;
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(4), NULL));
    EXPECT_OK(tsr_wrap_const(&t, numbers, &d));
    EXPECT_OK(tsr_to_dlpack(&m, t, NULL));
    EXPECT(m->flags == TSR_DL_READ_ONLY);
    m->deleter(m);
    EXPECT_FAILS(tsr_to_dlpack_legacy(&old, t, NULL), TSR_EREADONLY, "read-only");
    EXPECT_OK(tsr_to_dlpack_legacy(&old, t, &(tsr_dlpack_opts){ .copy = true }));
    EXPECT(old->dl_tensor.data != numbers && ((float *)old->dl_tensor.data)[3] == 4);
    old->deleter(old);
    tsr_release(&t);
}

/* The table ---------------------------------------------------------------------------- */

static char said[200];
static void remember(void *context, const char *kind, const char *message)
{
    snprintf(said, sizeof said, "%s %s: %s", (const char *)context, kind, message);
}

TEST(test_the_exchange_table_makes_looks_and_passes_on)
{
    const tsr_dl_exchange_api *api = tsr_dlpack_exchange_api();
    int64_t shape[] = { 3, 5 };
    tsr_dl_tensor like = { .device = { TSR_DL_CPU, 0 }, .ndim = 2, .dtype = { 2, 64, 1 }, .shape = shape },
                  look;
    tsr_dl_managed_versioned *m = NULL;
    void *object = NULL, *stream = &look;
    EXPECT(api->header.version.major == 1 && api->header.version.minor == 3 && api->header.prev_api == NULL);
    EXPECT(api->managed_tensor_allocator(&like, &m, "ctx", remember) == 0);
    EXPECT(api->managed_tensor_to_object(m, &object) == 0);
    tsr_tensor *t = object;
    EXPECT(t->dtype == TSR_F64 && t->shape[1] == 5 && tsr_is_contiguous(t));
    EXPECT(api->dltensor_from_object(t, &look) == 0 && look.data == t->data && look.shape[0] == 3 &&
           look.strides[0] == 5);
    EXPECT(api->managed_tensor_from_object(t, &m) == 0 && m->dl_tensor.data == t->data);
    m->deleter(m);
    tsr_release(&t);
    EXPECT(api->current_work_stream(TSR_DL_CPU, 0, &stream) == 0 && stream == NULL);
    EXPECT(api->current_work_stream(99, 0, &stream) == -1);
    EXPECT(api->current_work_stream(TSR_DL_CPU, 0, NULL) == -1);
    like.dtype.bits = 4;
    EXPECT(api->managed_tensor_allocator(&like, &m, "ctx", remember) == -1 &&
           strstr(said, "ctx BufferError: "));
    EXPECT(api->managed_tensor_allocator(NULL, &m, "ctx", NULL) == -1);
    EXPECT(api->managed_tensor_allocator(&like, NULL, "ctx", NULL) == -1);
    EXPECT(api->managed_tensor_from_object(NULL, &m) == -1 &&
           api->managed_tensor_to_object(NULL, &object) == -1);
    EXPECT(api->managed_tensor_to_object(m, NULL) == -1 && api->dltensor_from_object(NULL, &look) == -1);
}

TEST(test_exchange_table_says_what_failed)
{
    const tsr_dl_exchange_api *api = tsr_dlpack_exchange_api();
    int64_t shape[] = { 3, (int64_t)1 << 56 };
    tsr_dl_tensor like = { .device = { TSR_DL_CPU, 0 }, .ndim = 2, .dtype = { 2, 64, 1 }, .shape = shape };
    tsr_dl_managed_versioned *m = NULL;
    tsr_tensor *t = NULL;
    EXPECT(api->managed_tensor_allocator(&like, &m, "ctx", remember) == -1 &&
           strstr(said, "ctx MemoryError: "));
    like.device.type = 99;
    EXPECT(api->managed_tensor_allocator(&like, &m, "ctx", remember) == -1 && strstr(said, "type 99"));
    EXPECT(m == NULL);
    EXPECT_OK(tsr_zeros(&t, TSR_F32, TSR_SHAPE(2)));
    EXPECT(api->dltensor_from_object(t, NULL) == -1);
    tsr_release(&t);
}

TEST(test_memory_that_the_host_reaches_is_the_cpus)
{
    static const int32_t types[] = { TSR_DL_CPU, TSR_DL_CUDA_HOST, TSR_DL_ROCM_HOST };
    for (int i = 0; i < 3; i++) {
        producer p;
        tsr_tensor *t = NULL;
        produce(&p);
        p.m.dl_tensor.device.type = types[i];
        EXPECT_OK(tsr_from_dlpack(&t, &p.m));
        EXPECT(t && t->device == TSR_CPU && t->data == p.data);
        tsr_release(&t);
    }
}

/* Buffers ------------------------------------------------------------------------------ */

static int buffers_deleted;
static void count_buffer(void *context, void *data, size_t bytes)
{
    EXPECT(data == context && bytes == 64);
    buffers_deleted++;
}

TEST(test_buffers_are_bounded_and_deleted_once)
{
    _Alignas(8) char bytes[64];
    tsr_tensor *t = NULL;
    tsr_desc d;
    tsr_buffer b = { bytes, sizeof bytes, false, count_buffer, bytes };
    EXPECT_OK(tsr_desc_init(&d, TSR_I32, TSR_SHAPE(4, 2), NULL));
    EXPECT_OK(tsr_from_buffer(&t, &b, 32, &d));
    EXPECT(t->data == bytes + 32);
    EXPECT_FAILS(tsr_from_buffer(&t, &b, 36, &d), TSR_EBOUNDS, "64 bytes");
    EXPECT_FAILS(tsr_from_buffer(&t, &b, 2, &d), TSR_EINVAL, "aligned");
    tsr_release(&t);
    EXPECT(buffers_deleted == 1);
    b.readonly = true;
    b.deleter = NULL;
    EXPECT_OK(tsr_from_buffer(&t, &b, 0, &d));
    EXPECT_STATUS(tsr_zero(t), TSR_EREADONLY);
    tsr_release(&t);
    EXPECT(buffers_deleted == 1);
}

TEST(test_buffer_may_be_as_long_as_a_pointer_difference)
{
    _Alignas(8) char bytes[64];
    tsr_tensor *t = NULL;
    tsr_desc d;
    EXPECT_OK(tsr_desc_init(&d, TSR_I32, TSR_SHAPE(4, 2), NULL));
    EXPECT_OK(tsr_from_buffer(&t, &(tsr_buffer){ .data = bytes, .bytes = PTRDIFF_MAX }, 32, &d));
    EXPECT(t && t->data == bytes + 32);
    tsr_release(&t);
    EXPECT_FAILS(
        tsr_from_buffer(&t, &(tsr_buffer){ .data = bytes, .bytes = (size_t)PTRDIFF_MAX + 1 }, 32, &d),
        TSR_EOVERFLOW, "9223372036854775808 bytes");
}

/* Arrow -------------------------------------------------------------------------------- */

TEST(test_columns_go_to_arrow_and_back)
{
    uint64_t r = 5;
    for (int dtype = 1; dtype < TSR_DTYPE_COUNT; dtype++)
        for (int k = 0; k < 30; k++) {
            tsr_tensor *t = NULL, *back = NULL;
            tsr_arrow_array a;
            tsr_arrow_schema s;
            do {
                tsr_release(&t);
                t = any_tensor(&r, (tsr_dtype)dtype, 1);
            } while (t->ndim != 1);
            const tsr_status got = tsr_to_arrow(&a, &s, t);
            if (got == TSR_EDTYPE) {
                EXPECT(tsr_dtype_kind((tsr_dtype)dtype) == TSR_COMPLEX || dtype == TSR_BF16 ||
                       dtype == TSR_F8E4M3 || dtype == TSR_F8E5M2);
                tsr_release(&t);
                continue;
            }
            EXPECT_STATUS(got, TSR_OK);
            EXPECT(a.length == t->shape[0] && a.n_buffers == 2 && a.buffers[0] == NULL);
            EXPECT_OK(tsr_from_arrow(&back, &a, &s));
            EXPECT(a.release == NULL && s.release == NULL && same_bits(t, back));
            EXPECT(dtype == TSR_BOOL || tsr_numel(back) == 0 || tsr_is_readonly(back));
            tsr_release_all(&back, &t);
        }
}

static int arrays_released;
static void release_ours(tsr_arrow_array *a)
{
    arrays_released++;
    a->release = NULL;
}
static int schemas_released;
static void release_schema(tsr_arrow_schema *s)
{
    schemas_released++;
    s->release = NULL;
}

TEST(test_columns_that_cannot_be_are_refused)
{
    static const int16_t numbers[] = { 1, 2, 3, 4, 5 };
    static const uint8_t valid[] = { 0x1e };
    const void *buffers[2] = { NULL, numbers }, *nothing[2] = { valid, NULL };
    tsr_tensor *t = NULL;
    tsr_arrow_array a;
    tsr_arrow_schema s;
#define COLUMN() \
    (a = \
         (tsr_arrow_array){ \
             .length = 4, .offset = 1, .n_buffers = 2, .buffers = buffers, .release = release_ours }, \
     s = (tsr_arrow_schema){ .format = "s", .release = release_schema })
#define REFUSED_COLUMN(change, status)                              \
    do {                                                            \
        COLUMN();                                                   \
        change;                                                     \
        EXPECT_STATUS(tsr_from_arrow(&t, &a, &s), status);          \
        EXPECT(t == NULL && arrays_released == 0);                  \
    } while (0)
    REFUSED_COLUMN(s.format = "u", TSR_EUNSUPPORTED);
    REFUSED_COLUMN(s.format = NULL, TSR_EFORMAT);
    REFUSED_COLUMN(a.length = -1, TSR_EFORMAT);
    REFUSED_COLUMN(a.offset = INT64_MAX, TSR_EFORMAT);
    REFUSED_COLUMN((s.format = "l", buffers[1] = (const void *)(UINTPTR_MAX - 63), a.offset = 8),
                   TSR_EFORMAT);
    buffers[1] = numbers;
    REFUSED_COLUMN(a.n_buffers = 3, TSR_EFORMAT);
    REFUSED_COLUMN(a.n_children = 1, TSR_EUNSUPPORTED);
    REFUSED_COLUMN(a.release = NULL, TSR_EINVAL);
    EXPECT(strstr(tsr_last_error(), "the array was released"));
    REFUSED_COLUMN(s.release = NULL, TSR_EINVAL);
    EXPECT(strstr(tsr_last_error(), "the schema was released"));
    REFUSED_COLUMN(s.dictionary = &s, TSR_EUNSUPPORTED);
    EXPECT(strstr(tsr_last_error(), "with a dictionary"));
    REFUSED_COLUMN(a.dictionary = &a, TSR_EUNSUPPORTED);
    REFUSED_COLUMN(a.offset = -1, TSR_EFORMAT);
    REFUSED_COLUMN(a.length = INT64_MAX / 16, TSR_EFORMAT);
    REFUSED_COLUMN(a.buffers = NULL, TSR_EFORMAT);
    REFUSED_COLUMN(a.buffers = nothing, TSR_EFORMAT);
    COLUMN();
    buffers[0] = valid;  /* elements 1 to 4 are there, 0 is not */
    a.null_count = -1;
    EXPECT_OK(tsr_from_arrow(&t, &a, &s));
    EXPECT(t->shape[0] == 4 && TSR_AT(int16_t, t, 0) == 2);
    tsr_release(&t);
    EXPECT(arrays_released == 1);
    COLUMN();
    a.offset = 0;
    a.null_count = 1;
    EXPECT_FAILS(tsr_from_arrow(&t, &a, &s), TSR_EUNSUPPORTED, "1 of 4");
}

TEST(test_columns_without_elements_or_bits_are_taken)
{
    static const int16_t numbers[] = { 1, 2, 3, 4, 5 };
    static const uint8_t valid[] = { 0 };
    tsr_tensor *t = NULL;
    tsr_arrow_array a;
    tsr_arrow_schema s;
    const void *buffers[2] = { NULL, NULL };
    arrays_released = schemas_released = 0;
    COLUMN();
    a.length = a.offset = 0;
    EXPECT_OK(tsr_from_arrow(&t, &a, &s));
    EXPECT(schemas_released == 1 && !a.release && !s.release);
    EXPECT(t && t->ndim == 1 && t->shape[0] == 0);
    buffers[1] = numbers;
    COLUMN();
    a.null_count = -1;  /* not counted, and no bits that would tell */
    EXPECT_OK(tsr_from_arrow(&t, &a, &s));
    EXPECT(arrays_released == 1 && t->shape[0] == 4 && TSR_AT(int16_t, t, 3) == 5);
    buffers[0] = valid;
    COLUMN();  /* the count is 0: the bits are not looked at */
    EXPECT_OK(tsr_from_arrow(&t, &a, &s));
    EXPECT(arrays_released == 2 && t->shape[0] == 4);
    tsr_release(&t);
    EXPECT(arrays_released == 3);
}

TEST(test_a_column_of_bits_follows_the_scope_of_its_handle)
{
    tsr_tensor place, *before = NULL, *placed = tsr_place_none(&place);
    tsr_tensor **const handles[] = { &before, &placed };
    EXPECT_OK(tsr_zeros(&before, TSR_F32, TSR_SHAPE(2)));
    for (int i = 0; i < 2; i++) {
        static const uint8_t bits[] = { 0x5 };
        const void *buffers[2] = { NULL, bits };
        tsr_arrow_array a = { .length = 3, .n_buffers = 2, .buffers = buffers, .release = release_ours };
        tsr_arrow_schema s = { .format = "b", .release = release_schema };
        tsr_scope scope;
        tsr_scope_begin(&scope);
        EXPECT_OK(tsr_from_arrow(handles[i], &a, &s));
        tsr_scope_end(&scope);
        EXPECT((*handles[i])->shape[0] == 3 && TSR_AT(bool, *handles[i], 2) && !TSR_AT(bool, *handles[i], 1));
    }
    tsr_release_all(&before, &placed);
}

/* Hostile callers ---------------------------------------------------------------------- */

TEST(test_bad_arguments_are_told_apart)
{
    producer p;
    tsr_tensor *t = NULL, *described = NULL;
    tsr_dl_managed_versioned *m = NULL;
    tsr_dl_managed *old = NULL;
    tsr_arrow_array a;
    tsr_arrow_schema s;
    tsr_desc d;
    produce(&p);
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(2, 2), NULL));
    EXPECT_OK(tsr_declare(&described, &d, TSR_CPU, TSR_MEMORY_HOST));
    EXPECT_STATUS(tsr_to_dlpack(NULL, described, NULL), TSR_ENULL);
    EXPECT_STATUS(tsr_to_dlpack(&m, NULL, NULL), TSR_ENULL);
    EXPECT_STATUS(tsr_to_dlpack(&m, described, NULL), TSR_ESTATE);
    EXPECT_STATUS(tsr_to_dlpack_legacy(NULL, described, NULL), TSR_ENULL);
    EXPECT_STATUS(tsr_to_dlpack_legacy(&old, NULL, NULL), TSR_ENULL);
    EXPECT_STATUS(tsr_from_dlpack(NULL, &p.m), TSR_ENULL);
    EXPECT_STATUS(tsr_from_dlpack(&t, NULL), TSR_ENULL);
    EXPECT_STATUS(tsr_from_dlpack_legacy(NULL, &p.old), TSR_ENULL);
    EXPECT_STATUS(tsr_from_dlpack_legacy(&t, NULL), TSR_ENULL);
    EXPECT_STATUS(tsr_wrap_dlpack(NULL, &p.m.dl_tensor, false), TSR_ENULL);
    EXPECT_STATUS(tsr_wrap_dlpack(&t, NULL, false), TSR_ENULL);
    EXPECT_STATUS(tsr_from_buffer(NULL, &(tsr_buffer){ .data = NULL }, 0, &d), TSR_ENULL);
    EXPECT_STATUS(tsr_from_buffer(&t, NULL, 0, &d), TSR_ENULL);
    EXPECT_STATUS(tsr_from_buffer(&t, &(tsr_buffer){ .bytes = 4 }, 0, &d), TSR_ENULL);
    EXPECT_STATUS(tsr_from_buffer(&t, &(tsr_buffer){ .bytes = 0 }, 0, NULL), TSR_ENULL);
    EXPECT_STATUS(tsr_to_arrow(NULL, &s, described), TSR_ENULL);
    EXPECT_STATUS(tsr_to_arrow(&a, NULL, described), TSR_ENULL);
    EXPECT_STATUS(tsr_to_arrow(&a, &s, NULL), TSR_ENULL);
    EXPECT_OK(tsr_alloc(described));
    EXPECT_STATUS(tsr_to_arrow(&a, &s, described), TSR_ESHAPE);
    EXPECT_STATUS(tsr_from_arrow(NULL, &a, &s), TSR_ENULL);
    EXPECT_STATUS(tsr_from_arrow(&t, NULL, &s), TSR_ENULL);
    EXPECT_STATUS(tsr_from_arrow(&t, &a, NULL), TSR_ENULL);
    EXPECT(t == NULL && m == NULL && old == NULL);
    tsr_release(&described);
}

static tsr_status there_and_back(const tsr_tensor *t, bool copy)
{
    tsr_tensor *back = NULL;
    tsr_dl_managed_versioned *m = NULL;
    tsr_dl_managed *old = NULL;
    tsr_status s = tsr_to_dlpack(&m, t, &(tsr_dlpack_opts){ .copy = copy });
    if (s == TSR_OK && (s = tsr_from_dlpack(&back, m)) != TSR_OK) m->deleter(m);
    if (s == TSR_OK) s = tsr_to_dlpack_legacy(&old, t, &(tsr_dlpack_opts){ .copy = copy });
    if (s == TSR_OK && (s = tsr_from_dlpack_legacy(&back, old)) != TSR_OK) old->deleter(old);
    if (s == TSR_OK) {
        tsr_dl_tensor dl = { .data = t->data, .device = { TSR_DL_CPU, 0 }, .ndim = 1, .dtype = { 2, 32, 1 },
                             .shape = (int64_t[]){ 3 } };
        s = tsr_wrap_dlpack(&back, &dl, true);
    }
    if (s == TSR_OK) s = tsr_from_buffer(&back, &(tsr_buffer){ .data = t->data, .bytes = 12 }, 0, &t->desc);
    tsr_release(&back);
    return s;
}

static tsr_status through_arrow(const tsr_tensor *t)
{
    tsr_tensor *back = NULL;
    tsr_arrow_array a = { .release = NULL };
    tsr_arrow_schema schema = { .release = NULL };
    tsr_status s = tsr_to_arrow(&a, &schema, t);
    if (s == TSR_OK) s = tsr_from_arrow(&back, &a, &schema);
    if (a.release) a.release(&a);
    if (schema.release) schema.release(&schema);
    tsr_release(&back);
    return s;
}

TEST(test_running_out_of_memory_leaves_nothing_behind)
{
    tsr_tensor *t = NULL, *bools = NULL;
    EXPECT_OK(tsr_ones(&t, TSR_F32, TSR_SHAPE(3)));
    EXPECT_OK(tsr_ones(&bools, TSR_BOOL, TSR_SHAPE(100)));
    EXPECT_SURVIVES(there_and_back(t, false));
    EXPECT_SURVIVES(there_and_back(t, true));
    EXPECT_SURVIVES(through_arrow(t));
    EXPECT_SURVIVES(through_arrow(bools));
    tsr_release_all(&t, &bools);
}

TEST(test_interop_dlpack_that_reaches_below_the_address_space_is_refused)
{
    tsr_tensor *t = NULL;
    const tsr_dl_tensor dl = { .data = (void *)(uintptr_t)64, .device = { TSR_DL_CPU, 0 }, .ndim = 1,
                               .dtype = { 2, 32, 1 }, .shape = (int64_t[]){ 100 },
                               .strides = (int64_t[]){ -1 } };
    EXPECT_FAILS(tsr_wrap_dlpack(&t, &dl, true), TSR_EOVERFLOW, "out of the address space");
    EXPECT(t == NULL);
}
