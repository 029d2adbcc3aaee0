/* test_limits.c - tensors beyond 2^31 and 2^40 elements, and the edge at 2^63.
 *
 * Zero strides make any number of elements from one; a sparse file gives each of
 * them an address of its own.
 */
#define _DEFAULT_SOURCE 1
#define _FILE_OFFSET_BITS 64
#include <sys/types.h>
#include <unistd.h>

#include "test.h"

/* An allocation that cannot be is NULL to the library, and not the end of the test. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }

#define DIMS(...) (const int64_t[]){ __VA_ARGS__ }
#define POWER(n) (INT64_C(1) << (n))

/* Counting ------------------------------------------------------------------------- */

TEST(test_limits_descs_hold_more_than_2_to_31_and_2_to_40_elements)
{
    tsr_desc d;
    int64_t at = 0;
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, 1, DIMS(POWER(31) + 1), NULL));
    EXPECT(tsr_desc_numel(&d) == POWER(31) + 1 && tsr_desc_bytes(&d) == 4 * (POWER(31) + 1));
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, 3, DIMS(POWER(20), POWER(20), 3), NULL));
    EXPECT(tsr_desc_numel(&d) == 3 * POWER(40) && d.stride[0] == 3 * POWER(20));
    EXPECT(tsr_desc_span(&d, NULL, NULL) == 12 * POWER(40) && tsr_desc_is_contiguous(&d));
    EXPECT_OK(tsr_desc_offset(&at, &d, 3, DIMS(-1, -1, -1)));
    EXPECT(at == 3 * POWER(40) - 1);
    EXPECT(!tsr_desc_self_overlaps(&d));
    EXPECT_OK(tsr_desc_view(&d, &d, 2, DIMS(-1, POWER(30))));
    EXPECT(d.shape[0] == 3 * POWER(10) && d.stride[0] == POWER(30));
    EXPECT_OK(tsr_desc_transpose(&d, &d, 0, 1));
    EXPECT(!tsr_desc_self_overlaps(&d) && tsr_desc_is_dense(&d) && tsr_desc_is_column_major(&d));
}

TEST(test_limits_counts_reach_2_to_63_minus_1_and_no_further)
{
    tsr_desc d;
    EXPECT_OK(tsr_desc_init(&d, TSR_U8, 1, DIMS(INT64_MAX), NULL));
    EXPECT(tsr_desc_numel(&d) == INT64_MAX && tsr_desc_span(&d, NULL, NULL) == INT64_MAX);
    EXPECT_OK(tsr_desc_init(&d, TSR_U8, 3, DIMS(7, 7, INT64_MAX / 49), NULL));  /* 2^63 - 1 = 49 * ... */
    EXPECT(tsr_desc_numel(&d) == INT64_MAX);
    EXPECT_STATUS(tsr_desc_init(&d, TSR_U8, 2, DIMS(POWER(32), POWER(31)), NULL), TSR_EOVERFLOW);
    EXPECT_STATUS(tsr_desc_init(&d, TSR_U8, 2, DIMS(POWER(32), POWER(31)), DIMS(0, 0)), TSR_EOVERFLOW);
    EXPECT_STATUS(tsr_desc_init(&d, TSR_U8, 4, DIMS(POWER(32), POWER(32), POWER(32), POWER(32)), NULL),
                  TSR_EOVERFLOW);
    EXPECT_OK(tsr_desc_init(&d, TSR_U8, 3, DIMS(0, POWER(40), POWER(20)), NULL));  /* none of many */
    EXPECT(tsr_desc_numel(&d) == 0);
    EXPECT_OK(tsr_desc_init(&d, TSR_U8, 3, DIMS(POWER(40), POWER(40), 0), DIMS(1, 1, 1)));
    EXPECT(tsr_desc_numel(&d) == 0 && tsr_desc_is_contiguous(&d));
}

TEST(test_limits_bytes_and_spans_overflow_before_elements_do)
{
    tsr_desc d;
    int64_t lo, hi;
    EXPECT_FAILS(tsr_desc_init(&d, TSR_F64, 1, DIMS(POWER(60)), NULL), TSR_EOVERFLOW, "the bytes of");
    EXPECT_FAILS(tsr_desc_init(&d, TSR_F64, 1, DIMS(POWER(60)), DIMS(0)), TSR_EOVERFLOW, "the bytes of");
    EXPECT_OK(tsr_desc_init(&d, TSR_F64, 1, DIMS(POWER(60) - 1), NULL));
    EXPECT_FAILS(tsr_desc_init(&d, TSR_F64, 1, DIMS(2), DIMS(POWER(60))), TSR_EOVERFLOW,
                 "reach over more than");
    EXPECT_OK(tsr_desc_init(&d, TSR_F64, 1, DIMS(2), DIMS(POWER(60) - 2)));
    EXPECT(tsr_desc_span(&d, &lo, &hi) == 8 * (POWER(60) - 1) && lo == 0);
    EXPECT_OK(tsr_desc_init(&d, TSR_F64, 1, DIMS(2), DIMS(2 - POWER(60))));
    EXPECT(tsr_desc_span(&d, &lo, &hi) == 8 * (POWER(60) - 1) && hi == 8 && lo == -8 * (POWER(60) - 2));
    /* Each way fits; both together do not. */
    EXPECT_STATUS(tsr_desc_init(&d, TSR_U8, 2, DIMS(2, 2), DIMS(POWER(62), -POWER(62))), TSR_EOVERFLOW);
    EXPECT_STATUS(tsr_desc_init(&d, TSR_U8, 1, DIMS(2), DIMS(INT64_MIN)), TSR_EOVERFLOW);
    /* One byte too many. */
    EXPECT_STATUS(tsr_desc_init(&d, TSR_U8, 1, DIMS(2), DIMS(INT64_MAX)), TSR_EOVERFLOW);
    EXPECT_OK(tsr_desc_init(&d, TSR_U8, 1, DIMS(2), DIMS(INT64_MAX - 1)));
    EXPECT(tsr_desc_span(&d, NULL, NULL) == INT64_MAX);
    EXPECT_OK(tsr_desc_init(&d, TSR_U8, 1, DIMS(2), DIMS(1 - INT64_MAX)));
    EXPECT(tsr_desc_span(&d, &lo, &hi) == INT64_MAX && lo == 1 - INT64_MAX && hi == 1);
}

TEST(test_limits_views_overflow_with_a_status)
{
    tsr_desc d, v;
    EXPECT_OK(tsr_desc_init(&d, TSR_U8, 2, DIMS(POWER(40), 1), DIMS(0, 1)));
    EXPECT_OK(tsr_desc_expand(&v, &d, 2, DIMS(-1, POWER(22))));
    EXPECT_STATUS(tsr_desc_expand(&v, &d, 2, DIMS(-1, POWER(23))), TSR_EOVERFLOW);
    EXPECT_STATUS(tsr_desc_expand(&v, &d, 3, DIMS(POWER(23), -1, 1)), TSR_EOVERFLOW);
    EXPECT_OK(tsr_desc_expand(&v, &d, 4, DIMS(0, POWER(60), -1, POWER(30))));  /* none of many */
    EXPECT_STATUS(tsr_desc_unfold(&v, &d, 0, POWER(39), 1), TSR_EOVERFLOW);
    EXPECT(tsr_desc_check(&d) == TSR_OK);
    EXPECT_OK(tsr_desc_init(&d, TSR_U8, 3, DIMS(POWER(40), POWER(40), 0), DIMS(1, 1, 1)));
    EXPECT_STATUS(tsr_desc_merge(&v, &d, 0, 2), TSR_EOVERFLOW);
    EXPECT_OK(tsr_desc_merge(&v, &d, 0, 3));
    EXPECT(v.ndim == 1 && v.shape[0] == 0);
    EXPECT_OK(tsr_desc_init(&d, TSR_C128, 1, DIMS(INT64_MAX / 16), DIMS(1)));
    EXPECT_OK(tsr_desc_bit_view(&v, &d, TSR_U8));
    EXPECT(v.shape[0] == INT64_MAX / 16 * 16);
    EXPECT_OK(tsr_desc_real(&v, &d));
    EXPECT(v.stride[0] == 2);
}

TEST(test_limits_slices_of_huge_dims_count_exactly)
{
    tsr_desc d, v;
    int64_t at = 0;
    EXPECT_OK(tsr_desc_init(&d, TSR_U8, 1, DIMS(INT64_MAX), NULL));
    EXPECT_OK(tsr_desc_slice(&v, &at, &d, 0, TSR_NONE, TSR_NONE, -1));
    EXPECT(v.shape[0] == INT64_MAX && v.stride[0] == -1 && at == INT64_MAX - 1);
    EXPECT_OK(tsr_desc_slice(&v, &at, &d, 0, 0, INT64_MAX, INT64_MAX));
    EXPECT(v.shape[0] == 1 && at == 0);
    EXPECT_OK(tsr_desc_slice(&v, &at, &d, 0, TSR_NONE, TSR_NONE, INT64_MIN));
    EXPECT(v.shape[0] == 1 && at == INT64_MAX - 1);
    EXPECT_OK(tsr_desc_slice(&v, &at, &d, 0, 1, INT64_MAX, 2));
    EXPECT(v.shape[0] == INT64_MAX / 2 && at == 1);
    EXPECT_OK(tsr_desc_slice(&v, &at, &d, 0, -INT64_MAX, -1, POWER(62)));
    EXPECT(v.shape[0] == 2 && at == 0 && v.stride[0] == POWER(62));
}

/* Broadcast tensors ------------------------------------------------------------------- */

TEST(test_limits_broadcast_tensor_of_2_to_40_elements_is_read_like_any_other)
{
    tsr_tensor *t = NULL, *big = NULL, *part = NULL, *copy = NULL;
    float x = 0;
    void *p = NULL;
    EXPECT_OK(tsr_from_data(&t, TSR_F32, TSR_SHAPE(1, 2), (const float[]){ 3, 4 }));
    EXPECT_OK(tsr_expand(&big, t, TSR_SHAPE(POWER(20), POWER(19), 2)));
    EXPECT(tsr_numel(big) == POWER(40) && tsr_byte_size(big) == POWER(42) && big->data == t->data);
    EXPECT_OK(tsr_get_f32(&x, big, TSR_INDEX(-1, -1, 1)));
    EXPECT(x == 4);
    EXPECT_OK(tsr_pointer(&p, big, TSR_INDEX(POWER(20) - 1, 5)));
    EXPECT(p == t->data);
    EXPECT_STATUS(tsr_get_f32(&x, big, TSR_INDEX(POWER(20), 0, 0)), TSR_EINDEX);
    EXPECT_STATUS(tsr_fill(big, TSR_SCALAR(1)), TSR_EOVERLAP);

    /* A piece of it, copied. */
    EXPECT_OK(tsr_slice(&part, big, 0, POWER(20) - 3, TSR_NONE, 1));
    EXPECT_OK(tsr_slice(&part, part, 1, POWER(18), POWER(18) + 1000, 1));
    EXPECT_OK(tsr_rearrange(&copy, part));
    EXPECT(tsr_numel(copy) == 6000);
    for (int64_t i = 0; i < 6000; i++) EXPECT(((float *)copy->data)[i] == (i % 2 ? 4.0f : 3.0f));
    tsr_release_all(&copy, &part, &big, &t);
}

TEST(test_limits_a_copy_too_large_for_memory_fails_with_a_status)
{
    tsr_tensor *t = NULL, *big = NULL, *copy = NULL;
    EXPECT_OK(tsr_ones(&t, TSR_F64, TSR_SHAPE(1)));
    EXPECT_OK(tsr_expand(&big, t, TSR_SHAPE(POWER(59))));
    EXPECT_STATUS(tsr_rearrange(&copy, big), TSR_ENOMEM);
    EXPECT_STATUS(tsr_clone(&copy, big), TSR_ENOMEM);
    EXPECT_STATUS(tsr_cast(&copy, big, TSR_I8), TSR_ENOMEM);
    EXPECT_STATUS(tsr_cast(&copy, big, TSR_C128), TSR_EOVERFLOW);
    EXPECT_STATUS(tsr_zeros(&copy, TSR_U8, TSR_SHAPE(POWER(61))), TSR_ENOMEM);
    EXPECT(copy == NULL);
    tsr_release_all(&big, &t);
}

TEST(test_limits_printing_2_to_40_elements_shows_the_ends)
{
    tsr_tensor *t = NULL, *big = NULL;
    char text[4000];
    size_t length = 0;
    EXPECT_OK(tsr_full(&t, TSR_I32, TSR_SHAPE(1), TSR_SCALAR(7)));
    EXPECT_OK(tsr_expand(&big, t, TSR_SHAPE(POWER(20), POWER(20))));
    EXPECT_OK(tsr_to_string(text, sizeof text, &length, big, NULL));
    EXPECT(length > 0 && length < 1000 && strstr(text, "i32(1048576, 1048576 | 0, 0)") &&
           strstr(text, "..."));
    EXPECT(strstr(text, "[7 7 7 ... 7 7 7]") != NULL);
    tsr_release_all(&big, &t);
}

TEST(test_limits_joining_dims_that_overflow_is_refused)
{
    tsr_tensor *t = NULL, *big = NULL, *out = NULL;
    EXPECT_OK(tsr_ones(&t, TSR_U8, TSR_SHAPE(1)));
    EXPECT_OK(tsr_expand(&big, t, TSR_SHAPE(POWER(62))));
    const tsr_tensor *const parts[] = { big, big };
    EXPECT_STATUS(tsr_concat(&out, 2, parts, 0), TSR_EOVERFLOW);
    EXPECT_STATUS(tsr_stack(&out, 2, parts, 0), TSR_EOVERFLOW);
    EXPECT(out == NULL);
    tsr_release_all(&big, &t);
}

/* A sparse file ------------------------------------------------------------------------ */

enum { PATH = 256 };

/* A temporary file of `size` bytes that takes no room; false if there can be none. */
static bool make_sparse(char path[PATH], int64_t size)
{
    const char *folder = getenv("TMPDIR");
    if (snprintf(path, PATH, "%s/tessera-limits-XXXXXX", folder ? folder : "/tmp") >= PATH) return false;
    const int file = mkstemp(path);
    if (file < 0) return false;
    const bool made = ftruncate(file, (off_t)size) == 0 && pwrite(file, "\1", 1, 0) == 1 &&
                      pwrite(file, "\2", 1, (off_t)(size - 1)) == 1 &&
                      pwrite(file, "\3", 1, (off_t)POWER(33)) == 1;
    (void)close(file);
    if (!made) (void)unlink(path);
    return made;
}

TEST(test_limits_a_mapped_file_is_read_at_both_ends_beyond_2_to_40)
{
    char path[PATH];
    const int64_t size = POWER(41);
    tsr_desc d;
    tsr_tensor *t = NULL, *v = NULL, *copy = NULL;
    uint8_t x = 0;
    if (sizeof(size_t) < 8 || sizeof(off_t) < 8) SKIP("addresses are too short");
    if (!make_sparse(path, size)) SKIP("the file system has no sparse files of 2^41 bytes");
    EXPECT_OK(tsr_desc_init(&d, TSR_U8, 2, DIMS(POWER(21), POWER(20)), NULL));
    const tsr_status mapped = tsr_map_file(&t, path, 0, &d, TSR_MAP_READ);
    (void)unlink(path);
    if (mapped == TSR_EIO) SKIP("the system does not map 2^41 bytes");
    EXPECT_OK(mapped);
    EXPECT(tsr_numel(t) == POWER(41) && (int64_t)tsr_storage_bytes(t->storage) == size);
    EXPECT_OK(tsr_check(t));
    EXPECT_OK(tsr_get_u8(&x, t, TSR_INDEX(0, 0)));
    EXPECT(x == 1);
    EXPECT_OK(tsr_get_u8(&x, t, TSR_INDEX(-1, -1)));
    EXPECT(x == 2);
    EXPECT_OK(tsr_get_u8(&x, t, TSR_INDEX(POWER(13), 0)));  /* byte 2^33 */
    EXPECT(x == 3 && TSR_AT(uint8_t, t, POWER(13), 0) == 3);

    /* Backwards from the far end, in steps beyond 2^32. */
    EXPECT_OK(tsr_flip(&v, t, 0, NULL));
    EXPECT_OK(tsr_view(&v, v, TSR_SHAPE(-1)));
    EXPECT_OK(tsr_slice(&v, v, 0, 0, TSR_NONE, POWER(37)));
    EXPECT(v->shape[0] == 16 && v->stride[0] == -POWER(37) && TSR_AT(uint8_t, v, 0) == 2);
    EXPECT_OK(tsr_rearrange(&copy, v));
    EXPECT(TSR_AT(uint8_t, copy, 0) == 2 && TSR_AT(uint8_t, copy, 15) == 0);

    /* One byte further is outside. */
    EXPECT_STATUS(tsr_as_strided(&v, t, 1, DIMS(2), DIMS(size), 0), TSR_EBOUNDS);
    EXPECT_OK(tsr_as_strided(&v, t, 1, DIMS(2), DIMS(size - 1), 0));
    EXPECT(TSR_AT(uint8_t, v, 0) == 1 && TSR_AT(uint8_t, v, 1) == 2);
    EXPECT_OK(tsr_bit_view(&v, t, TSR_F64));
    EXPECT(v->shape[1] == POWER(17) && tsr_numel(v) == POWER(38));
    EXPECT_STATUS(tsr_zero(t), TSR_EREADONLY);
    tsr_release_all(&copy, &v, &t);
}

TEST(test_limits_elements_beyond_2_to_32_bytes_are_written_where_they_lie)
{
    char path[PATH];
    const int64_t size = POWER(33) + POWER(20);
    tsr_desc d;
    tsr_tensor *t = NULL, *v = NULL;
    if (sizeof(size_t) < 8 || sizeof(off_t) < 8) SKIP("addresses are too short");
    if (!make_sparse(path, size)) SKIP("the file system has no sparse files of 2^33 bytes");
    EXPECT_OK(tsr_desc_init(&d, TSR_U16, 1, DIMS(size / 2), NULL));
    const tsr_status mapped = tsr_map_file(&t, path, 0, &d, TSR_MAP_COPY_ON_WRITE);
    (void)unlink(path);
    if (mapped == TSR_EIO) SKIP("the system does not map 2^33 bytes for writing");
    EXPECT_OK(mapped);
    uint16_t *elements = t->data;
    EXPECT(elements[POWER(32)] == 3);
    EXPECT_OK(tsr_set_u16(t, TSR_INDEX(-1), 5));
    EXPECT(elements[size / 2 - 1] == 5);
    /* Three elements, 2^32 bytes apart. */
    EXPECT_OK(tsr_slice(&v, t, 0, POWER(32) + 7, TSR_NONE, -POWER(31)));
    EXPECT(v->shape[0] == 3);
    EXPECT_OK(tsr_fill(v, TSR_SCALAR(9)));
    EXPECT(elements[POWER(32) + 7] == 9 && elements[POWER(31) + 7] == 9 && elements[7] == 9 &&
           elements[6] == 0);
    EXPECT_OK(tsr_slice(&v, t, 0, POWER(32), POWER(32) + 1000, 1));
    EXPECT_OK(tsr_arange(&v, TSR_U16, TSR_SCALAR(0), TSR_SCALAR(1000), TSR_SCALAR(1)));
    EXPECT(elements[POWER(32) + 999] == 999 && elements[POWER(32) + 1000] == 0);
    tsr_release_all(&v, &t);
}
