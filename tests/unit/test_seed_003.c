/* test_seed_003.c - what seed 003 (MxBase's TensorBase) describes, natively.
 *
 * docs/seeds.md says which call stands for which function of the document. */
#include "test.h"

/* Memory that stands for the document's: "dvpp" the host can touch, "far" it cannot. */
typedef struct counts { int allocs, frees; } counts;

static void *counted_alloc(void *context, size_t bytes, size_t alignment)
{
    ((counts *)context)->allocs++;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void counted_free(void *context, void *data, size_t bytes)
{
    (void)bytes;
    ((counts *)context)->frees++;
    free(data);
}

static tsr_memory register_kind(const char *name, bool host_access, counts *c)
{
    tsr_memory kind = -1;
    const tsr_memory_kind about = { .size = sizeof about, .name = name, .host_access = host_access,
                                    .alignment = 128, .context = c, .alloc = counted_alloc,
                                    .free = counted_free };
    EXPECT_OK(tsr_memory_register(&kind, &about));
    return kind;
}

static tsr_tensor *described(tsr_dtype dtype, int ndim, const int64_t *shape, tsr_memory memory)
{
    tsr_desc d;
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_desc_init(&d, dtype, ndim, shape, NULL));
    EXPECT_OK(tsr_declare(&t, &d, TSR_CPU, memory));
    return t;
}

/* Constructor 1 --------------------------------------------------------------------- */

static void count_deletion(void *context, void *data, size_t bytes)
{
    EXPECT(data && bytes == 24);
    ++*(int *)context;
    free(data);
}

TEST(test_seed_003_constructor_1_borrowed_leaves_the_memory_to_the_caller)
{
    float *buffer = malloc(6 * sizeof *buffer);
    tsr_desc d;
    tsr_tensor *t = NULL;
    for (int i = 0; i < 6; i++) buffer[i] = (float)i;
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(2, 3), NULL));
    EXPECT_OK(tsr_wrap(&t, buffer, &d)); /* isBorrowed = true */
    EXPECT(tsr_is_borrowed(t) && t->data == buffer && TSR_AT(float, t, 1, 2) == 5);
    tsr_release(&t);
    EXPECT(buffer[5] == 5);
    free(buffer);
}

TEST(test_seed_003_constructor_1_not_borrowed_frees_the_memory_once)
{
    float *buffer = malloc(6 * sizeof *buffer);
    int deletions = 0;
    tsr_desc d;
    tsr_tensor *t = NULL, *view = NULL;
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(2, 3), NULL));
    EXPECT_OK(tsr_adopt(&t, buffer, &d, count_deletion, &deletions)); /* isBorrowed = false */
    EXPECT(!tsr_is_borrowed(t) && t->data == buffer);
    EXPECT_OK(tsr_select(&view, t, 0, 1));
    tsr_release(&t);
    EXPECT(deletions == 0); /* the view still looks at it */
    tsr_release(&view);
    EXPECT(deletions == 1);
}

TEST(test_seed_003_constructor_1_checks_the_size_of_the_memory)
{
    float buffer[6] = { 0 };
    tsr_storage *storage = NULL;
    tsr_desc d;
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_storage_borrow(&storage, buffer, sizeof buffer, TSR_CPU, TSR_MEMORY_HOST));
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(2, 4), NULL));
    EXPECT_FAILS(tsr_from_storage(&t, storage, 0, &d), TSR_EBOUNDS, "24 bytes");
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(2, 3), NULL));
    EXPECT_OK(tsr_from_storage(&t, storage, 0, &d));
    tsr_release(&t);
    tsr_storage_release(&storage);
}

/* Constructors 2 to 5 --------------------------------------------------------------- */

TEST(test_seed_003_constructors_2_to_5_set_the_shape_and_allocate_nothing)
{
    counts c = { 0, 0 };
    const tsr_memory dvpp = register_kind("dvpp", true, &c);
    const int64_t live = tsr_memory_live(TSR_MEMORY_HOST);
    tsr_tensor *two = described(TSR_U8, TSR_SHAPE(224, 224, 3), dvpp);        /* shape, type, kind, device */
    tsr_tensor *three = described(TSR_F16, TSR_SHAPE(1, 3), TSR_MEMORY_HOST); /* shape, type, device */
    tsr_tensor *five = described(TSR_F32, TSR_SHAPE(4), TSR_MEMORY_HOST);     /* shape */
    EXPECT(!tsr_is_none(two) && !tsr_is_allocated(two) && two->data == NULL && two->memory == dvpp);
    EXPECT(three->dtype == TSR_F16 && three->device == TSR_CPU && !tsr_is_allocated(three));
    EXPECT(five->ndim == 1 && five->shape[0] == 4 && !tsr_is_allocated(five));
    EXPECT(c.allocs == 0 && tsr_memory_live(TSR_MEMORY_HOST) == live);
    tsr_release_all(&five, &three, &two);
    EXPECT_OK(tsr_memory_unregister(dvpp));
}

TEST(test_seed_003_create_tensor_base_reports_what_is_invalid)
{
    tsr_desc d;
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(2), NULL));
    EXPECT_FAILS(tsr_declare(&t, &d, 99, TSR_MEMORY_HOST), TSR_EDEVICE, "99");
    EXPECT_FAILS(tsr_declare(&t, &d, TSR_CPU, 31), TSR_EINVAL, "31");
    d.dtype = TSR_DTYPE_INVALID; /* TENSOR_DTYPE_UNDEFINED */
    EXPECT_STATUS(tsr_declare(&t, &d, TSR_CPU, TSR_MEMORY_HOST), TSR_EDTYPE);
    EXPECT(t == NULL);
}

/* TensorBaseMalloc ------------------------------------------------------------------ */

TEST(test_seed_003_malloc_gives_a_described_tensor_memory_once)
{
    counts c = { 0, 0 };
    const tsr_memory dvpp = register_kind("dvpp", true, &c);
    tsr_tensor *t = described(TSR_F32, TSR_SHAPE(5, 7), dvpp);
    EXPECT_OK(tsr_alloc(t));
    EXPECT(tsr_is_allocated(t) && !tsr_is_borrowed(t) && c.allocs == 1 && tsr_memory_live(dvpp) == 140);
    EXPECT((uintptr_t)t->data % 128 == 0);
    const void *data = t->data;
    EXPECT_OK(tsr_alloc(t));
    EXPECT(t->data == data && c.allocs == 1);
    tsr_release(&t);
    EXPECT(c.frees == 1 && tsr_memory_live(dvpp) == 0);
    EXPECT_OK(tsr_memory_unregister(dvpp));
}

static bool refuse(void *context, size_t bytes)
{
    (void)context;
    (void)bytes;
    return false;
}

TEST(test_seed_003_malloc_out_of_memory_leaves_the_tensor_described)
{
    tsr_tensor *t = described(TSR_F32, TSR_SHAPE(100), TSR_MEMORY_HOST);
    tsr_set_alloc_hook(refuse, NULL);
    EXPECT_STATUS(tsr_alloc(t), TSR_ENOMEM);
    tsr_set_alloc_hook(NULL, NULL);
    EXPECT(!tsr_is_none(t) && !tsr_is_allocated(t));
    EXPECT_OK(tsr_alloc(t));
    tsr_release(&t);
    EXPECT_STATUS(tsr_alloc(NULL), TSR_ENULL);
}

TEST(test_seed_003_first_write_allocates_without_malloc)
{
    tsr_tensor *t = described(TSR_I32, TSR_SHAPE(3), TSR_MEMORY_HOST);
    EXPECT_OK(tsr_fill(t, TSR_SCALAR(6)));
    EXPECT(tsr_is_allocated(t) && TSR_AT(int32_t, t, 2) == 6);
    tsr_release(&t);
}

/* TensorBaseCopy -------------------------------------------------------------------- */

TEST(test_seed_003_copy_moves_data_between_memory_kinds)
{
    counts c = { 0, 0 };
    const tsr_memory dvpp = register_kind("dvpp", true, &c);
    tsr_tensor *src = NULL, *dst = described(TSR_F32, TSR_SHAPE(2, 3), dvpp);
    bool equal = false;
    EXPECT_OK(tsr_randn(&src, TSR_F32, TSR_SHAPE(2, 3), 1));
    EXPECT_OK(tsr_copy(dst, src)); /* allocates dst in its own kind */
    EXPECT(dst->memory == dvpp && c.allocs == 1);
    EXPECT_OK(tsr_equal(&equal, dst, src));
    EXPECT(equal);
    EXPECT_OK(tsr_zero(src));
    EXPECT_OK(tsr_copy(src, dst));
    EXPECT_OK(tsr_equal(&equal, dst, src));
    EXPECT(equal);
    tsr_release_all(&dst, &src);
    EXPECT_OK(tsr_memory_unregister(dvpp));
}

TEST(test_seed_003_copy_needs_equal_shapes_and_a_source_with_memory)
{
    tsr_tensor *a = NULL, *b = NULL, *nothing = described(TSR_F32, TSR_SHAPE(2), TSR_MEMORY_HOST);
    EXPECT_OK(tsr_zeros(&a, TSR_F32, TSR_SHAPE(2)));
    EXPECT_OK(tsr_zeros(&b, TSR_F32, TSR_SHAPE(3)));
    EXPECT_STATUS(tsr_copy(a, b), TSR_ESHAPE);
    EXPECT_STATUS(tsr_copy(a, nothing), TSR_ESTATE);
    tsr_release_all(&nothing, &b, &a);
}

/* Memory types ---------------------------------------------------------------------- */

TEST(test_seed_003_get_tensor_type_names_the_memory)
{
    counts c = { 0, 0 };
    const tsr_memory dvpp = register_kind("dvpp", true, &c), far = register_kind("far", false, &c);
    tsr_memory found = -1;
    tsr_desc d;
    tsr_tensor *on_host = described(TSR_F32, TSR_SHAPE(2), TSR_MEMORY_HOST); /* MEMORY_HOST */
    tsr_tensor *on_dvpp = described(TSR_F32, TSR_SHAPE(2), dvpp);            /* MEMORY_DVPP */
    tsr_tensor *on_device = described(TSR_F32, TSR_SHAPE(2), far);           /* MEMORY_DEVICE */
    tsr_tensor *malloced = NULL;                                             /* MEMORY_HOST_MALLOC, _NEW */
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(2), NULL));
    EXPECT_OK(tsr_adopt(&malloced, malloc(8), &d, test_free, NULL));
    EXPECT(on_host->memory == TSR_MEMORY_HOST && !strcmp(tsr_memory_name(on_host->memory), "host"));
    EXPECT(on_dvpp->memory == dvpp && !strcmp(tsr_memory_name(dvpp), "dvpp"));
    EXPECT(on_device->memory == far && malloced->memory == TSR_MEMORY_HOST);
    EXPECT(tsr_storage_ownership(malloced->storage) == TSR_ADOPTED);
    EXPECT_OK(tsr_memory_find(&found, "dvpp"));
    EXPECT(found == dvpp);
    tsr_release_all(&malloced, &on_device, &on_dvpp, &on_host);
    EXPECT_OK(tsr_memory_unregister(far));
    EXPECT_OK(tsr_memory_unregister(dvpp));
    EXPECT_STATUS(tsr_memory_find(&found, "dvpp"), TSR_EINVAL);
}

/* Metadata -------------------------------------------------------------------------- */

TEST(test_seed_003_get_size_counts_elements)
{
    tsr_tensor *t = described(TSR_F16, TSR_SHAPE(224, 224, 3), TSR_MEMORY_HOST);
    EXPECT(tsr_numel(t) == 224 * 224 * 3);
    tsr_release(&t);
}

TEST(test_seed_003_get_byte_size_counts_bytes)
{
    tsr_tensor *t = described(TSR_F16, TSR_SHAPE(224, 224, 3), TSR_MEMORY_HOST);
    EXPECT(tsr_byte_size(t) == 224 * 224 * 3 * 2);
    tsr_release(&t);
}

TEST(test_seed_003_get_shape_and_get_strides_are_fields)
{
    static const int64_t shape[4] = { 1, 2, 3, 4 }, strides[4] = { 24, 12, 4, 1 };
    tsr_tensor *t = described(TSR_F32, 4, shape, TSR_MEMORY_HOST);
    EXPECT(t->ndim == 4 && memcmp(t->shape, shape, sizeof shape) == 0);
    EXPECT(memcmp(t->stride, strides, sizeof strides) == 0); /* elements, not bytes */
    tsr_release(&t);
}

TEST(test_seed_003_get_device_id_is_a_field_with_a_name)
{
    char name[16];
    tsr_device device = -1;
    tsr_tensor *t = described(TSR_F32, TSR_SHAPE(2), TSR_MEMORY_HOST);
    EXPECT(t->device == TSR_CPU);
    (void)tsr_device_name(name, sizeof name, t->device);
    EXPECT(!strcmp(name, "cpu:0"));
    EXPECT_OK(tsr_device_parse(&device, "cpu"));
    EXPECT(device == t->device);
    tsr_release(&t);
}

TEST(test_seed_003_get_data_type_and_size_cover_the_enum)
{
    static const struct { int64_t number; tsr_dtype dtype; size_t size; const char *name; } table[] = {
        { 0, TSR_F32, 4, "float32" }, { 1, TSR_F16, 2, "float16" },  { 2, TSR_I8, 1, "int8" },
        { 3, TSR_I32, 4, "int32" },   { 4, TSR_U8, 1, "uint8" },     { 6, TSR_I16, 2, "int16" },
        { 7, TSR_U16, 2, "uint16" },  { 8, TSR_U32, 4, "uint32" },   { 9, TSR_I64, 8, "int64" },
        { 10, TSR_U64, 8, "uint64" }, { 11, TSR_F64, 8, "float64" }, { 12, TSR_BOOL, 1, "bool" },
    };
    tsr_dtype dtype = TSR_F32;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        EXPECT_OK(tsr_dtype_from_number(&dtype, TSR_NUMBERING_MXBASE, table[i].number));
        EXPECT(dtype == table[i].dtype && tsr_dtype_size(dtype) == table[i].size);
        EXPECT(!strcmp(tsr_dtype_long_name(dtype), table[i].name));
        tsr_tensor *t = described(dtype, TSR_SHAPE(3), TSR_MEMORY_HOST);
        EXPECT(t->dtype == table[i].dtype && tsr_byte_size(t) == 3 * (int64_t)table[i].size);
        tsr_release(&t);
    }
    EXPECT_STATUS(tsr_dtype_from_number(&dtype, TSR_NUMBERING_MXBASE, 5), TSR_EDTYPE); /* a gap in the enum */
    EXPECT(tsr_dtype_size(TSR_DTYPE_INVALID) == 0);
}

TEST(test_seed_003_is_host_and_is_device_follow_the_memory_kind)
{
    counts c = { 0, 0 };
    const tsr_memory dvpp = register_kind("dvpp", true, &c), far = register_kind("far", false, &c);
    tsr_tensor *on_host = described(TSR_F32, TSR_SHAPE(2), TSR_MEMORY_HOST);
    tsr_tensor *on_dvpp = described(TSR_F32, TSR_SHAPE(2), dvpp);
    tsr_tensor *on_device = described(TSR_F32, TSR_SHAPE(2), far);
    EXPECT(tsr_is_host(on_host) && tsr_is_host(on_dvpp) && !tsr_is_host(on_device));
    tsr_release_all(&on_device, &on_dvpp, &on_host);
    EXPECT_OK(tsr_memory_unregister(far));
    EXPECT_OK(tsr_memory_unregister(dvpp));
}

/* GetBuffer and GetValue ------------------------------------------------------------ */

static tsr_tensor *counting(int ndim, const int64_t *shape)
{
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_empty(&t, TSR_F32, ndim, shape));
    for (int64_t i = 0; i < tsr_numel(t); i++) ((float *)t->data)[i] = (float)i;
    return t;
}

TEST(test_seed_003_get_buffer_1_is_the_data_pointer)
{
    tsr_tensor *t = counting(TSR_SHAPE(2, 3)), *none = described(TSR_F32, TSR_SHAPE(2), TSR_MEMORY_HOST);
    EXPECT(t->data == tsr_storage_data(t->storage));
    EXPECT(none->data == NULL);
    tsr_release_all(&none, &t);
}

TEST(test_seed_003_get_buffer_2_adds_indices_times_strides_in_elements)
{
    tsr_tensor *t = counting(TSR_SHAPE(2, 3, 4));
    void *p = NULL;
    EXPECT_OK(tsr_pointer(&p, t, TSR_INDEX(1, 2, 3)));
    EXPECT((char *)p == (char *)t->data + (1 * 12 + 2 * 4 + 3 * 1) * 4);
    EXPECT_OK(tsr_pointer(&p, t, TSR_INDEX(1))); /* fewer indices: a sub-tensor */
    EXPECT((char *)p == (char *)t->data + 12 * 4);
    EXPECT_OK(tsr_pointer(&p, t, 0, NULL));
    EXPECT(p == t->data);
    tsr_release(&t);
}

TEST(test_seed_003_get_buffer_3_is_a_typed_pointer)
{
    tsr_tensor *t = counting(TSR_SHAPE(2, 3));
    const float *p = &TSR_AT(float, t, 1, 2);
    EXPECT(*p == 5 && p == (float *)t->data + 5);
    tsr_release(&t);
}

TEST(test_seed_003_get_buffer_checks_the_indices)
{
    tsr_tensor *t = counting(TSR_SHAPE(2, 3));
    void *p = &p;
    EXPECT_STATUS(tsr_pointer(&p, t, TSR_INDEX(2, 0)), TSR_EINDEX);
    EXPECT_STATUS(tsr_pointer(&p, t, TSR_INDEX(0, 0, 0)), TSR_ESHAPE);
    EXPECT(p == &p);
    tsr_release(&t);
}

TEST(test_seed_003_get_value_reads_an_element_of_the_named_type)
{
    tsr_tensor *t = counting(TSR_SHAPE(2, 3)), *transposed = NULL;
    float value = 0;
    EXPECT_OK(tsr_get_f32(&value, t, TSR_INDEX(1, 1)));
    EXPECT(value == 4);
    EXPECT_OK(tsr_transpose(&transposed, t, 0, 1));
    EXPECT_OK(tsr_get_f32(&value, transposed, TSR_INDEX(2, 0)));
    EXPECT(value == 2);
    tsr_release_all(&transposed, &t);
}

TEST(test_seed_003_get_value_fails_for_another_type_index_or_place)
{
    counts c = { 0, 0 };
    const tsr_memory far = register_kind("far", false, &c);
    tsr_tensor *t = counting(TSR_SHAPE(2, 3)), *away = described(TSR_F32, TSR_SHAPE(2), far);
    float value = -1;
    int32_t whole = -1;
    double wide = -1;
    EXPECT_STATUS(tsr_get_f64(&wide, t, TSR_INDEX(0, 0)), TSR_EDTYPE); /* another size, as in the document */
    EXPECT_STATUS(tsr_get_i32(&whole, t, TSR_INDEX(0, 0)), TSR_EDTYPE); /* the same size, another type */
    EXPECT_STATUS(tsr_get_f32(&value, t, TSR_INDEX(0, 3)), TSR_EINDEX);
    EXPECT_STATUS(tsr_get_f32(&value, t, TSR_INDEX(0)), TSR_ESHAPE);
    EXPECT_STATUS(tsr_get_f32(&value, away, TSR_INDEX(0)), TSR_ESTATE);
    EXPECT_OK(tsr_alloc(away));
    EXPECT_FAILS(tsr_get_f32(&value, away, TSR_INDEX(0)), TSR_EDEVICE, "far");
    EXPECT(value == -1 && whole == -1 && wide == -1);
    tsr_release_all(&away, &t);
    EXPECT_OK(tsr_memory_unregister(far));
}

/* ToDevice, ToDvpp, ToHost ---------------------------------------------------------- */

TEST(test_seed_003_to_dvpp_and_to_host_deploy_and_keep_the_values)
{
    counts c = { 0, 0 };
    const tsr_memory dvpp = register_kind("dvpp", true, &c);
    tsr_tensor *t = counting(TSR_SHAPE(3, 4)), *before = NULL;
    bool equal = false;
    EXPECT_OK(tsr_clone(&before, t));
    EXPECT_OK(tsr_to_memory(&t, t, TSR_CPU, dvpp)); /* ToDvpp: the handle now holds the moved tensor */
    EXPECT(t->memory == dvpp && c.allocs == 1);
    EXPECT_OK(tsr_equal(&equal, t, before));
    EXPECT(equal);
    EXPECT_OK(tsr_to_memory(&t, t, TSR_CPU, TSR_MEMORY_HOST)); /* ToHost */
    EXPECT(t->memory == TSR_MEMORY_HOST && c.frees == 1 && tsr_memory_live(dvpp) == 0);
    EXPECT_OK(tsr_equal(&equal, t, before));
    EXPECT(equal);
    tsr_release_all(&before, &t);
    EXPECT_OK(tsr_memory_unregister(dvpp));
}

TEST(test_seed_003_to_leaves_other_owners_where_they_were)
{
    counts c = { 0, 0 };
    const tsr_memory dvpp = register_kind("dvpp", true, &c);
    tsr_tensor *t = counting(TSR_SHAPE(4)), *view = NULL, *moved = NULL, *again = NULL;
    EXPECT_OK(tsr_slice(&view, t, 0, 1, 3, 1));
    EXPECT_OK(tsr_to_memory(&moved, t, TSR_CPU, dvpp));
    EXPECT(moved->memory == dvpp && t->memory == TSR_MEMORY_HOST && view->memory == TSR_MEMORY_HOST);
    TSR_AT(float, moved, 1) = 50;
    EXPECT(TSR_AT(float, view, 0) == 1);
    EXPECT_OK(tsr_to_memory(&again, moved, TSR_CPU, dvpp)); /* there already: no copy */
    EXPECT(again->data == moved->data && c.allocs == 1);
    tsr_release_all(&again, &moved, &view, &t);
    EXPECT_OK(tsr_memory_unregister(dvpp));
}

TEST(test_seed_003_to_device_fails_without_such_a_device)
{
    tsr_tensor *t = counting(TSR_SHAPE(4)), *moved = NULL;
    EXPECT_STATUS(tsr_to_memory(&moved, t, 255 * 256, TSR_MEMORY_HOST), TSR_EDEVICE);
    EXPECT(moved == NULL);
    tsr_release(&t);
}

/* Batches --------------------------------------------------------------------------- */

TEST(test_seed_003_batch_concat_joins_along_the_batch)
{
    tsr_tensor *parts[3] = { NULL }, *out = NULL;
    for (int i = 0; i < 3; i++)
        EXPECT_OK(tsr_full(&parts[i], TSR_U8, TSR_SHAPE(1, 224, 224, 3), TSR_SCALAR(i + 1)));
    EXPECT_OK(tsr_concat(&out, 3, (const tsr_tensor *const *)parts, 0));
    EXPECT(out->ndim == 4 && out->shape[0] == 3 && out->shape[1] == 224 && out->shape[3] == 3);
    for (int64_t i = 0; i < 3; i++)
        EXPECT(TSR_AT(uint8_t, out, i, 0, 0, 0) == i + 1 && TSR_AT(uint8_t, out, i, 223, 223, 2) == i + 1);
    tsr_release(&out);
    for (int i = 0; i < 3; i++) tsr_release(&parts[i]);
}

TEST(test_seed_003_batch_stack_adds_a_dim)
{
    tsr_tensor *parts[3] = { NULL }, *out = NULL;
    for (int i = 0; i < 3; i++)
        EXPECT_OK(tsr_full(&parts[i], TSR_U8, TSR_SHAPE(224, 224, 3), TSR_SCALAR(i + 1)));
    EXPECT_OK(tsr_stack(&out, 3, (const tsr_tensor *const *)parts, 0));
    EXPECT(out->ndim == 4 && out->shape[0] == 3 && out->shape[1] == 224 && out->shape[3] == 3);
    for (int64_t i = 0; i < 3; i++)
        EXPECT(TSR_AT(uint8_t, out, i, 0, 0, 0) == i + 1 && TSR_AT(uint8_t, out, i, 223, 223, 2) == i + 1);
    tsr_release(&out);
    for (int i = 0; i < 3; i++) tsr_release(&parts[i]);
}

TEST(test_seed_003_batch_vector_chooses_by_keep_dims)
{
    tsr_tensor *a = counting(TSR_SHAPE(2, 3)), *b = counting(TSR_SHAPE(2, 3)), *kept = NULL, *added = NULL;
    EXPECT_OK(tsr_batch_join(&kept, 2, (const tsr_tensor *[]){ a, b }, true));
    EXPECT(kept->ndim == 2 && kept->shape[0] == 4 && TSR_AT(float, kept, 3, 2) == 5);
    EXPECT_OK(tsr_batch_join(&added, 2, (const tsr_tensor *[]){ a, b }, false));
    EXPECT(added->ndim == 3 && added->shape[0] == 2 && TSR_AT(float, added, 1, 1, 2) == 5);
    tsr_release_all(&added, &kept, &b, &a);
}

TEST(test_seed_003_batching_rejects_tensors_that_do_not_fit)
{
    tsr_tensor *a = counting(TSR_SHAPE(2, 3)), *b = counting(TSR_SHAPE(2, 4)), *c = NULL, *out = NULL;
    EXPECT_OK(tsr_zeros(&c, TSR_F64, TSR_SHAPE(2, 3)));
    EXPECT_STATUS(tsr_concat(&out, 2, (const tsr_tensor *[]){ a, b }, 0), TSR_ESHAPE);
    EXPECT_STATUS(tsr_stack(&out, 2, (const tsr_tensor *[]){ a, b }, 0), TSR_ESHAPE);
    EXPECT_STATUS(tsr_concat(&out, 2, (const tsr_tensor *[]){ a, c }, 0), TSR_EDTYPE);
    EXPECT_STATUS(tsr_concat(&out, 0, (const tsr_tensor *[]){ a }, 0), TSR_EINVAL);
    EXPECT(out == NULL);
    tsr_release_all(&c, &b, &a);
}

/* GetDesc and CheckTensorValid ------------------------------------------------------ */

TEST(test_seed_003_get_desc_says_what_the_tensor_is)
{
    char text[128];
    tsr_tensor *t = counting(TSR_SHAPE(3, 4)), *later = described(TSR_F16, TSR_SHAPE(2), TSR_MEMORY_HOST);
    (void)tsr_describe(text, sizeof text, t);
    EXPECT_MSG(!strcmp(text, "f32(3, 4 | 4, 1) on cpu:0, host memory, owned, 48 bytes"), "%s", text);
    (void)tsr_describe(text, sizeof text, later);
    EXPECT_MSG(!strcmp(text, "f16(2 | 1) on cpu:0, host memory, not allocated, 4 bytes"), "%s", text);
    tsr_release_all(&later, &t);
}

TEST(test_seed_003_check_tensor_valid_accepts_described_and_allocated)
{
    tsr_tensor *t = counting(TSR_SHAPE(2, 3)), *later = described(TSR_F32, TSR_SHAPE(2), TSR_MEMORY_HOST);
    EXPECT_OK(tsr_check(t));
    EXPECT_OK(tsr_check(later));
    tsr_release_all(&later, &t);
}

TEST(test_seed_003_check_tensor_valid_finds_what_is_wrong)
{
    tsr_tensor *t = counting(TSR_SHAPE(2, 3)), empty;
    EXPECT_FAILS(tsr_check(NULL), TSR_ENULL, "t");
    EXPECT_STATUS(tsr_check(tsr_place_none(&empty)), TSR_EDTYPE);
    t->shape[0] = -2;
    EXPECT_STATUS(tsr_check(t), TSR_ESHAPE);
    t->shape[0] = 3; /* beyond the storage */
    EXPECT_STATUS(tsr_check(t), TSR_EBOUNDS);
    t->shape[0] = 2;
    t->memory = 30;
    EXPECT_STATUS(tsr_check(t), TSR_EINVAL);
    t->memory = TSR_MEMORY_HOST;
    EXPECT_OK(tsr_check(t));
    tsr_release(&t);
}
