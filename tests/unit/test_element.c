/* test_element.c - single elements: unchecked, checked, and converting. */
#include "test.h"
#include "core/device_int.h"

/* A counting tensor of rank `ndim` (1 to 6) whose dims are permuted and partly backwards. */
static tsr_tensor *tangled(int ndim)
{
    static const int64_t shape[] = { 2, 3, 2, 3, 2, 3 };
    tsr_tensor *t = NULL;
    int axes[6];
    EXPECT_OK(tsr_empty(&t, TSR_I32, ndim, shape));
    for (int64_t i = 0; i < tsr_numel(t); i++) ((int32_t *)t->data)[i] = (int32_t)i;
    for (int i = 0; i < ndim; i++) axes[i] = (i + 1) % ndim;
    EXPECT_OK(tsr_permute(&t, t, ndim, axes));
    EXPECT_OK(tsr_flip(&t, t, 1, (const int[]){ ndim / 2 }));
    return t;
}

static int32_t at(const tsr_tensor *t, const int64_t *i)
{
    switch (t->ndim) {
    case 1:  return TSR_AT(int32_t, t, i[0]);
    case 2:  return TSR_AT(int32_t, t, i[0], i[1]);
    case 3:  return TSR_AT(int32_t, t, i[0], i[1], i[2]);
    case 4:  return TSR_AT(int32_t, t, i[0], i[1], i[2], i[3]);
    case 5:  return TSR_AT(int32_t, t, i[0], i[1], i[2], i[3], i[4]);
    default: return TSR_AT(int32_t, t, i[0], i[1], i[2], i[3], i[4], i[5]);
    }
}

TEST(test_element_unchecked_and_checked_access_agree_for_every_rank)
{
    for (int ndim = 1; ndim <= 6; ndim++) {
        tsr_tensor *t = tangled(ndim);
        int64_t index[6] = { 0 }, from_end[6], sum = 0;
        const int64_t n = tsr_numel(t);
        for (int64_t k = 0; k < n; k++) {
            int32_t a = -1, b = -1;
            void *p = NULL;
            tsr_scalar s;
            for (int i = 0; i < ndim; i++) from_end[i] = index[i] - t->shape[i];
            EXPECT_OK(tsr_get_i32(&a, t, ndim, index));
            EXPECT_OK(tsr_get_i32(&b, t, ndim, from_end));
            EXPECT_OK(tsr_get(&s, t, ndim, index));
            EXPECT_OK(tsr_pointer(&p, t, ndim, index));
            EXPECT(a == at(t, index) && b == a && tsr_scalar_to_i64(s) == a && *(int32_t *)p == a);
            sum += a;
            for (int i = ndim - 1; i >= 0 && ++index[i] == t->shape[i]; i--) index[i] = 0;
        }
        EXPECT_MSG(sum == n * (n - 1) / 2, "rank %d: every element once", ndim);
        tsr_release(&t);
    }
}

TEST(test_element_unchecked_access_is_an_lvalue)
{
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_zeros(&t, TSR_F64, TSR_SHAPE(2, 2)));
    TSR_AT(double, t, 1, 0) = 2.5;
    TSR_AT(double, t, 1, 0) += 1;
    double *p = &TSR_AT(double, t, 1, 0);
    EXPECT(*p == 3.5 && p == (double *)t->data + 2);
    tsr_release(&t);
}

TEST(test_element_arguments_of_unchecked_access_are_evaluated_once)
{
    tsr_tensor *t = tangled(2);
    int64_t i = 0, j = 0;
    (void)TSR_AT(int32_t, t, i++, j++);
    EXPECT(i == 1 && j == 1);
    tsr_release(&t);
}

/* One typed pair of get and set: round trip, wrong dtype, wrong rank, wrong index. */
#define TYPED(suffix, ID, T, x, same) \
    do { \
        tsr_tensor *t = NULL, *other = NULL; \
        T value = x, got; \
        memset(&got, 0, sizeof got); \
        EXPECT_OK(tsr_zeros(&t, TSR_##ID, TSR_SHAPE(2, 3))); \
        EXPECT_OK(tsr_zeros(&other, TSR_##ID == TSR_I8 ? TSR_U8 : TSR_I8, TSR_SHAPE(2, 3))); \
        EXPECT_OK(tsr_set_##suffix(t, TSR_INDEX(1, -1), value)); \
        EXPECT_OK(tsr_get_##suffix(&got, t, TSR_INDEX(-1, 2))); \
        EXPECT(same); \
        EXPECT_FAILS(tsr_get_##suffix(&got, other, TSR_INDEX(0, 0)), TSR_EDTYPE, \
                     "is not " #suffix " (tsr_get and tsr_set convert)"); \
        EXPECT_FAILS(tsr_set_##suffix(other, TSR_INDEX(0, 0), value), TSR_EDTYPE, "set_" #suffix ":"); \
        EXPECT_FAILS(tsr_get_##suffix(&got, t, TSR_INDEX(0)), TSR_ESHAPE, \
                     "get_" #suffix ": 1 indices for "); \
        EXPECT_FAILS(tsr_set_##suffix(t, TSR_INDEX(0, 0, 0), value), TSR_ESHAPE, \
                     "set_" #suffix ": 3 indices for "); \
        EXPECT_FAILS(tsr_get_##suffix(&got, t, TSR_INDEX(2, 0)), TSR_EINDEX, \
                     "get_" #suffix ": index 2 of dim 0 of "); \
        EXPECT_FAILS(tsr_set_##suffix(t, TSR_INDEX(0, -4), value), TSR_EINDEX, \
                     "set_" #suffix ": index -4 of dim 1 of "); \
        EXPECT_FAILS(tsr_get_##suffix(NULL, t, TSR_INDEX(0, 0)), TSR_ENULL, "get_" #suffix ": out is NULL"); \
        EXPECT_FAILS(tsr_get_##suffix(&got, NULL, TSR_INDEX(0, 0)), TSR_ENULL, \
                     "get_" #suffix ": t is NULL"); \
        EXPECT_FAILS(tsr_set_##suffix(t, 2, NULL, value), TSR_ENULL, "set_" #suffix ": index is NULL"); \
        EXPECT(same); \
        tsr_release(&other); \
        tsr_release(&t); \
    } while (0)

TEST(test_element_typed_access_reads_what_it_wrote_and_checks_everything)
{
    TYPED(bool, BOOL, bool, true, got == value);
    TYPED(i8, I8, int8_t, INT8_MIN, got == value);
    TYPED(i16, I16, int16_t, INT16_MIN, got == value);
    TYPED(i32, I32, int32_t, INT32_MIN, got == value);
    TYPED(i64, I64, int64_t, INT64_MIN, got == value);
    TYPED(u8, U8, uint8_t, UINT8_MAX, got == value);
    TYPED(u16, U16, uint16_t, UINT16_MAX, got == value);
    TYPED(u32, U32, uint32_t, UINT32_MAX, got == value);
    TYPED(u64, U64, uint64_t, UINT64_MAX, got == value);
    TYPED(f8e4m3, F8E4M3, uint8_t, 0x7e, got == value);
    TYPED(f8e5m2, F8E5M2, uint8_t, 0x7b, got == value);
    TYPED(f16, F16, uint16_t, 0x7bff, got == value);
    TYPED(bf16, BF16, uint16_t, 0x7f7f, got == value);
    TYPED(f32, F32, float, 1.5f, got == value);
    TYPED(f64, F64, double, 0.1, got == value);
    const tsr_c32 c32 = { 0x3c00, 0xbc00 };
    const tsr_c64 c64 = { 1, -2 };
    const tsr_c128 c128 = { 0.1, -0.2 };
    TYPED(c32, C32, tsr_c32, c32, got.re == value.re && got.im == value.im);
    TYPED(c64, C64, tsr_c64, c64, got.re == value.re && got.im == value.im);
    TYPED(c128, C128, tsr_c128, c128, got.re == value.re && got.im == value.im);
}

TEST(test_element_of_a_scalar_has_no_indices)
{
    tsr_tensor *t = NULL;
    float x = 0;
    EXPECT_OK(tsr_full(&t, TSR_F32, TSR_SCALAR_SHAPE, TSR_SCALAR(4)));
    EXPECT_OK(tsr_get_f32(&x, t, 0, NULL));
    EXPECT(x == 4);
    EXPECT_OK(tsr_set_f32(t, 0, (const int64_t[]){ 7 }, 6)); /* none of them is read */
    EXPECT_OK(tsr_get_f32(&x, t, 0, (const int64_t[]){ 7 }));
    EXPECT(x == 6);
    EXPECT_OK(tsr_set_f32(t, 0, NULL, 5));
    EXPECT_OK(tsr_get_f32(&x, t, 0, NULL));
    EXPECT(x == 5);
    EXPECT_STATUS(tsr_get_f32(&x, t, TSR_INDEX(0)), TSR_ESHAPE);
    tsr_release(&t);
}

TEST(test_element_indices_count_from_the_end_in_every_dim)
{
    tsr_tensor *t = NULL;
    int32_t first = 0, last = 0;
    EXPECT_OK(tsr_arange(&t, TSR_I32, TSR_SCALAR(0), TSR_SCALAR(120), TSR_SCALAR(1)));
    EXPECT_OK(tsr_reshape(&t, t, TSR_SHAPE(2, 3, 4, 5)));
    for (int d = 0; d < 4; d++) {
        int64_t index[4] = { 0, 0, 0, 0 }, same[4] = { 0, 0, 0, 0 };
        index[d] = -1;
        same[d] = t->shape[d] - 1;
        EXPECT_OK(tsr_get_i32(&first, t, 4, index));
        EXPECT_OK(tsr_get_i32(&last, t, 4, same));
        EXPECT(first == last && last == (int32_t)(t->stride[d] * same[d]));
        index[d] = t->shape[d];
        EXPECT_STATUS(tsr_get_i32(&first, t, 4, index), TSR_EINDEX);
    }
    tsr_release(&t);
}

TEST(test_element_of_an_empty_tensor_is_out_of_range)
{
    tsr_tensor *t = NULL;
    float x = 0;
    EXPECT_OK(tsr_zeros(&t, TSR_F32, TSR_SHAPE(3, 0)));
    EXPECT_FAILS(tsr_get_f32(&x, t, TSR_INDEX(0, 0)), TSR_EINDEX,
                 "get_f32: index 0 of dim 1 of f32(3, 0 | 1, 1), which has 0");
    EXPECT_STATUS(tsr_get_f32(&x, t, TSR_INDEX(0, -1)), TSR_EINDEX);
    tsr_release(&t);
}

TEST(test_element_converting_access_takes_any_dtype)
{
    for (int d = 1; d < TSR_DTYPE_COUNT; d++) {
        tsr_tensor *t = NULL;
        tsr_scalar s;
        EXPECT_OK(tsr_zeros(&t, (tsr_dtype)d, TSR_SHAPE(3)));
        EXPECT_OK(tsr_set(t, TSR_INDEX(-1), TSR_SCALAR(1)));
        EXPECT_OK(tsr_get(&s, t, TSR_INDEX(2)));
        EXPECT_MSG(tsr_scalar_to_f64(s) == 1, "%s", tsr_dtype_name((tsr_dtype)d));
        EXPECT_OK(tsr_get(&s, t, TSR_INDEX(1)));
        EXPECT_MSG(tsr_scalar_to_f64(s) == 0, "%s", tsr_dtype_name((tsr_dtype)d));
        EXPECT_STATUS(tsr_get(&s, t, TSR_INDEX(3)), TSR_EINDEX);
        EXPECT_STATUS(tsr_set(t, TSR_INDEX(0, 0), TSR_SCALAR(1)), TSR_ESHAPE);
        tsr_release(&t);
    }
}

TEST(test_element_converting_access_keeps_64_bit_integers_exact)
{
    tsr_tensor *t = NULL;
    tsr_scalar s;
    EXPECT_OK(tsr_zeros(&t, TSR_U64, TSR_SHAPE(1)));
    EXPECT_OK(tsr_set(t, TSR_INDEX(0), TSR_SCALAR(UINT64_MAX)));
    EXPECT_OK(tsr_get(&s, t, TSR_INDEX(0)));
    EXPECT(s.dtype == TSR_U64 && s.as.u == UINT64_MAX);
    tsr_release(&t);
    EXPECT_OK(tsr_zeros(&t, TSR_I64, TSR_SHAPE(1)));
    EXPECT_OK(tsr_set(t, TSR_INDEX(0), TSR_SCALAR(INT64_MIN + 1)));
    EXPECT_OK(tsr_get(&s, t, TSR_INDEX(0)));
    EXPECT(s.dtype == TSR_I64 && s.as.i == INT64_MIN + 1);
    EXPECT_OK(tsr_set(t, TSR_INDEX(0), TSR_SCALAR(1e300)));
    EXPECT_OK(tsr_get(&s, t, TSR_INDEX(0)));
    EXPECT(s.as.i == INT64_MAX);
    tsr_release(&t);
}

TEST(test_element_writes_to_repeated_or_read_only_elements_are_refused)
{
    static const float constant[2] = { 1, 2 };
    tsr_tensor *t = NULL, *v = NULL;
    tsr_desc d;
    EXPECT_OK(tsr_zeros(&t, TSR_F32, TSR_SHAPE(1)));
    EXPECT_OK(tsr_expand(&v, t, TSR_SHAPE(4)));
    EXPECT_FAILS(
        tsr_set_f32(v, TSR_INDEX(0), 1), TSR_EOVERLAP,
        "set_f32: t is f32(4 | 0), where several indices reach one address, so it cannot be written");
    EXPECT_STATUS(tsr_set(v, TSR_INDEX(0), TSR_SCALAR(1)), TSR_EOVERLAP);
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, 1, (const int64_t[]){ 2 }, NULL));
    EXPECT_OK(tsr_wrap_const(&v, constant, &d));
    EXPECT_FAILS(tsr_set_f32(v, TSR_INDEX(0), 1), TSR_EREADONLY,
                 "set_f32: t is f32(2 | 1) in read-only memory");
    EXPECT_STATUS(tsr_set(v, TSR_INDEX(0), TSR_SCALAR(1)), TSR_EREADONLY);
    tsr_release_all(&v, &t);
}

TEST(test_element_pointer_takes_a_prefix_of_the_indices)
{
    tsr_tensor *t = NULL, *v = NULL;
    void *p = NULL;
    EXPECT_OK(tsr_zeros(&t, TSR_I16, TSR_SHAPE(2, 3, 4)));
    EXPECT_OK(tsr_pointer(&p, t, 0, NULL));
    EXPECT(p == t->data);
    EXPECT_OK(tsr_pointer(&p, t, TSR_INDEX(1)));
    EXPECT(p == (int16_t *)t->data + 12);
    EXPECT_OK(tsr_pointer(&p, t, TSR_INDEX(1, -1)));
    EXPECT(p == (int16_t *)t->data + 20);
    EXPECT_OK(tsr_pointer(&p, t, TSR_INDEX(1, 2, 3)));
    EXPECT(p == (int16_t *)t->data + 23);
    EXPECT_OK(tsr_flip(&v, t, TSR_AXES(0)));
    EXPECT_OK(tsr_pointer(&p, v, TSR_INDEX(1)));
    EXPECT(p == t->data);
    EXPECT_FAILS(tsr_pointer(&p, t, TSR_INDEX(0, 0, 0, 0)), TSR_ESHAPE,
                 "pointer: 4 indices for i16(2, 3, 4 | 12, 4, 1)");
    EXPECT_FAILS(tsr_pointer(&p, t, TSR_INDEX(0, 3)), TSR_EINDEX, "pointer: index 3 of dim 1");
    EXPECT_STATUS(tsr_pointer(&p, t, -1, NULL), TSR_EINVAL);
    EXPECT_STATUS(tsr_pointer(NULL, t, 0, NULL), TSR_ENULL);
    EXPECT(p == t->data);
    tsr_release_all(&v, &t);
}

TEST(test_element_item_is_the_one_element_whatever_the_rank)
{
    tsr_tensor *t = NULL, *v = NULL;
    tsr_scalar s;
    double f = 0;
    int64_t i = 0;
    EXPECT_OK(tsr_full(&t, TSR_F16, TSR_SHAPE(2, 3), TSR_SCALAR(2.75)));
    EXPECT_OK(tsr_as_strided(&v, t, 3, (const int64_t[]){ 1, 1, 1 }, (const int64_t[]){ -9, 7, 0 }, 5));
    EXPECT_OK(tsr_item(&s, v));
    EXPECT_OK(tsr_item_f64(&f, v));
    EXPECT_OK(tsr_item_i64(&i, v));
    EXPECT(s.dtype == TSR_F64 && s.as.c.re == 2.75 && f == 2.75 && i == 2);
    EXPECT_FAILS(tsr_item(&s, t), TSR_ESHAPE, "item: f16(2, 3 | 3, 1) has 6 elements, not one");
    EXPECT_OK(tsr_slice(&v, t, 0, 1, 1, 1));
    EXPECT_FAILS(tsr_item_i64(&i, v), TSR_ESHAPE, "has 0 elements, not one");
    EXPECT_STATUS(tsr_item(NULL, v), TSR_ENULL);
    EXPECT_STATUS(tsr_item_f64(NULL, v), TSR_ENULL);
    EXPECT_STATUS(tsr_item_i64(NULL, v), TSR_ENULL);
    tsr_release_all(&v, &t);
}

/* What the core asks until the backends are there, as a program begins. */
static const tsri_devices *at_first;
__attribute__((constructor)) static void see_first(void) { at_first = tsri_devices_get(); }

TEST(test_without_backends_there_is_the_cpu_alone)
{
    tsr_tensor t = { .device = 7 }, *copy = NULL;
    char text[20];
    void *data = NULL;
    size_t reserved = 0;
    int64_t value = 5;
    EXPECT(at_first->exists(TSR_CPU) && !at_first->exists(7) && at_first->pinning() == TSR_CPU);
    EXPECT(at_first->name(text, sizeof text, TSR_CPU) == 5 && !strcmp(text, "cpu:0"));
    EXPECT(at_first->name(text, sizeof text, 7) == 11 && !strcmp(text, "no device 7"));
    EXPECT(at_first->name(NULL, 9, TSR_CPU) == 5);
    EXPECT_FAILS(at_first->take(&data, &reserved, 7, 64, TSR_MEMORY_DEFAULT), TSR_EDEVICE, "no device 7");
    at_first->give(7, data, reserved, TSR_MEMORY_DEFAULT, 0);
    EXPECT_FAILS(at_first->read(&value, &t, 0), TSR_EDEVICE, "no device 7");
    EXPECT_FAILS(at_first->write(&t, 0, &value), TSR_EDEVICE, "no device 7");
    EXPECT_FAILS(at_first->to_host(&copy, &t), TSR_EDEVICE, "no device 7");
    EXPECT(!data && !copy && value == 5);
}
