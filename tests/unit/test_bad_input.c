/* Every argument of every public function, wrong in every way we can think of: a status and
 * words, or the answer that the header promises; never a crash, a leak or a lost handle.
 *
 * One test for each header, and one that throws random hostile arguments at everything.
 * tools/check_covered.sh compares this file with the headers. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* mkstemp, mkfifo */
#endif
#include <limits.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"
#include "tessera/backend.h"

/* An allocation that cannot be is NULL to the library, and not the end of the test. */
const char *__asan_default_options(void);
const char *__tsan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }
const char *__tsan_default_options(void) { return "allocator_may_return_null=1"; }

/* Wrong values ----------------------------------------------------------------------- */

enum { RANK_TOO_HIGH = TSR_MAX_NDIM + 1, NO_DEVICE = 255, NO_MEMORY = 31 };

static const int bad_axes[] = { 2, -3, 99, -99, INT_MAX, INT_MIN };         /* of a matrix */
static const int bad_ranks[] = { -1, RANK_TOO_HIGH, INT_MAX, INT_MIN };
static const int bad_dtype_numbers[] = { 0, 77, TSR_DTYPE_COUNT, INT_MAX, -1 };
static const tsr_device bad_devices[] = { NO_DEVICE, -1, INT32_MIN, INT32_MAX, 1 };
static const tsr_memory bad_memories[] = { NO_MEMORY, -1, INT32_MIN, INT32_MAX, TSR_MEMORY_MAX };
static const int64_t ones_17[RANK_TOO_HIGH] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
static const int axes_17[RANK_TOO_HIGH] = { 0 };
static const tsr_scalar bad_scalar = { .dtype = (tsr_dtype)77 };

#define EACH(i, list) for (size_t i = 0; i < sizeof(list) / sizeof *(list); i++)
#define DTYPE(i) ((tsr_dtype)bad_dtype_numbers[i])

static struct { tsr_desc desc; tsr_status want; } bad_descs[8];
static struct { tsr_tensor *t; tsr_status want; } bad_tensors[3];  /* for calls that read */

/* What each test starts from. */
static tsr_tensor *good;      /* f32(2, 3 | 3, 1): 0 .. 5 */
static tsr_tensor *complex64; /* c64(2, 3 | 3, 1) */
static tsr_tensor *integers;  /* i32(2, 3 | 3, 1) */
static tsr_tensor *repeated;  /* f32(2, 3 | 0, 1): cannot be written */
static tsr_tensor *constant;  /* f32(2, 3 | 3, 1), read-only */
static tsr_tensor *described; /* f32(2, 3 | 3, 1), without memory */
static tsr_tensor *hidden;    /* f32(2, 3 | 3, 1), where the host cannot reach */
static tsr_tensor *held;      /* f32(2, 3 | 3, 1), in the handle that results go to */
static tsr_tensor  none;
static tsr_desc    matrix;    /* f32(2, 3 | 3, 1) */
static tsr_memory  hidden_kind;
static const float six[6] = { 0, 1, 2, 3, 4, 5 };

static void *hidden_alloc(void *context, size_t bytes, size_t alignment)
{
    (void)context;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void set_bad_desc(int i, tsr_dtype dtype, int ndim, int64_t first_dim, int64_t stride, tsr_status want)
{
    tsr_desc *d = &bad_descs[i].desc;
    memset(d, 0, sizeof *d);
    d->dtype = dtype;
    d->ndim = ndim;
    d->shape[0] = first_dim;
    d->shape[1] = 4;
    d->stride[0] = stride;
    d->stride[1] = 1;
    bad_descs[i].want = want;
}

static void set_up(void)
{
    const tsr_memory_kind kind = {
        .size = sizeof kind, .name = "hidden", .alloc = hidden_alloc, .free = test_free
    };
    tsr_tensor *row = NULL;
    memset(&none, 0, sizeof none);
    EXPECT_OK(tsr_memory_register(&hidden_kind, &kind));
    EXPECT_OK(tsr_desc_init(&matrix, TSR_F32, TSR_SHAPE(2, 3), NULL));
    EXPECT_OK(tsr_from_data(&good, TSR_F32, TSR_SHAPE(2, 3), six));
    EXPECT_OK(tsr_clone(&held, good));
    EXPECT_OK(tsr_zeros(&complex64, TSR_C64, TSR_SHAPE(2, 3)));
    EXPECT_OK(tsr_zeros(&integers, TSR_I32, TSR_SHAPE(2, 3)));
    EXPECT_OK(tsr_wrap_const(&constant, six, &matrix));
    EXPECT_OK(tsr_declare(&described, &matrix, TSR_CPU, TSR_MEMORY_HOST));
    EXPECT_OK(tsr_declare(&hidden, &matrix, TSR_CPU, hidden_kind));
    EXPECT_OK(tsr_alloc(hidden));
    EXPECT_OK(tsr_slice(&row, good, 0, 0, 1, 1));
    EXPECT_OK(tsr_expand(&repeated, row, TSR_SHAPE(2, 3)));
    tsr_release(&row);

    set_bad_desc(0, TSR_F32, 99, 2, 3, TSR_EINVAL);
    set_bad_desc(1, TSR_F32, -1, 2, 3, TSR_EINVAL);
    set_bad_desc(2, (tsr_dtype)77, 2, 2, 3, TSR_EDTYPE);
    set_bad_desc(3, TSR_DTYPE_INVALID, 2, 2, 3, TSR_EDTYPE);
    set_bad_desc(4, TSR_F32, 2, -2, 3, TSR_ESHAPE);
    set_bad_desc(5, TSR_F32, 2, INT64_MIN, 3, TSR_ESHAPE);
    set_bad_desc(6, TSR_F32, 2, INT64_MAX, 3, TSR_EOVERFLOW);
    set_bad_desc(7, TSR_F32, 2, 2, INT64_MIN, TSR_EOVERFLOW);
    bad_tensors[0].t = NULL, bad_tensors[0].want = TSR_ENULL;
    bad_tensors[1].t = &none, bad_tensors[1].want = TSR_EDTYPE;
    bad_tensors[2].t = described, bad_tensors[2].want = TSR_ESTATE;
}

static void tear_down(void)
{
    tsr_tensor **all[] = { &good, &complex64, &integers, &repeated, &constant, &described, &hidden, &held };
    EXPECT(!memcmp(good->data, six, sizeof six));
    EXPECT(!memcmp(held->data, six, sizeof six));
    EXPECT(!tsr_is_allocated(described));
    EACH(i, all) tsr_release(all[i]);
    EXPECT_OK(tsr_memory_unregister(hidden_kind));
}

/* The call ends with this status, and with words. */
#define BAD(want_, call)                                                              \
    do {                                                                              \
        tsr_clear_error();                                                            \
        EXPECT_STATUS(call, want_);                                                   \
        EXPECT_MSG(tsr_last_error()[0], "%s left no message", #call);                 \
        EXPECT_MSG(tsr_last_status() == (want_), "%s left another status", #call);    \
    } while (0)

static bool held_is_whole(const tsr_tensor *out)
{
    return out == held && tsr_check(held) == TSR_OK && tsr_desc_same(&held->desc, &matrix);
}

/* The call fails for each kind of result handle `out`: NULL, a tensor, a placed "none"; and
 * leaves the handle as it was. */
#define BAD_OUT(want_, call)                                                          \
    do {                                                                              \
        tsr_tensor place_, *out = NULL;                                               \
        BAD(want_, call);                                                             \
        EXPECT_MSG(!out, "%s made a tensor", #call);                                  \
        out = held;                                                                   \
        BAD(want_, call);                                                             \
        EXPECT_MSG(held_is_whole(out), "%s changed its result", #call);               \
        out = tsr_place_none(&place_);                                                \
        BAD(want_, call);                                                             \
        EXPECT_MSG(out == &place_ && tsr_is_none(out), "%s bound its result", #call); \
    } while (0)

/* config.h, status.h ----------------------------------------------------------------- */

TEST(test_bad_input_to_config_and_status)
{
    EXPECT(tsr_version()[0] != '\0');
    EXPECT(tsr_build_max_ndim() == TSR_MAX_NDIM);
    const int numbers[] = { -1, 18, 99, INT_MAX, INT_MIN };
    EACH(i, numbers) {
        EXPECT(!strcmp(tsr_status_name((tsr_status)numbers[i]), "TSR_?"));
        EXPECT(tsr_status_text((tsr_status)numbers[i])[0] != '\0');
    }
    tsr_clear_error();
    EXPECT(tsr_last_error()[0] == '\0' && tsr_last_status() == TSR_OK);
}

/* dtype.h, scalar.h ------------------------------------------------------------------ */

TEST(test_bad_input_to_dtype)
{
    tsr_dtype dtype = TSR_I8;
    int64_t number = 7;
    char text[8] = "x";
    EACH(i, bad_dtype_numbers) {
        EXPECT(!tsr_dtype_is_valid(DTYPE(i)));
        EXPECT(tsr_dtype_size(DTYPE(i)) == 0);
        EXPECT(!strcmp(tsr_dtype_name(DTYPE(i)), "invalid"));
        EXPECT(!strcmp(tsr_dtype_long_name(DTYPE(i)), "invalid"));
        EXPECT(tsr_dtype_kind(DTYPE(i)) == TSR_KIND_INVALID);
        EXPECT(!tsr_dtype_is_valid(tsr_dtype_real(DTYPE(i))));
        BAD(TSR_EDTYPE, tsr_dtype_promote(&dtype, DTYPE(i), TSR_F32));
        BAD(TSR_EDTYPE, tsr_dtype_promote(&dtype, TSR_F32, DTYPE(i)));
        BAD(TSR_EDTYPE, tsr_dtype_to_number(&number, TSR_NUMBERING_DLPACK, DTYPE(i)));
        BAD(TSR_EDTYPE, tsr_dtype_to_typestr(text, DTYPE(i)));
    }
    EXPECT(tsr_kind_name((tsr_kind)99)[0] != '\0' && tsr_kind_name((tsr_kind)-1)[0] != '\0');
    BAD(TSR_ENULL, tsr_dtype_parse(NULL, "f32"));
    BAD(TSR_ENULL, tsr_dtype_parse(&dtype, NULL));
    BAD(TSR_EDTYPE, tsr_dtype_parse(&dtype, ""));
    BAD(TSR_EDTYPE, tsr_dtype_parse(&dtype, "f31"));
    BAD(TSR_ENULL, tsr_dtype_promote(NULL, TSR_F32, TSR_F32));
    BAD(TSR_EINVAL, tsr_set_promotion((tsr_promotion)-1));
    EXPECT(tsr_get_promotion() == TSR_PROMOTE_STANDARD && (int)tsr_dtype_floating((tsr_dtype)99) == 99);
    BAD(TSR_EDTYPE, tsr_dtype_promote(&dtype, TSR_F32, TSR_I32));

    const int64_t numbers[] = { -2, 99, INT64_MAX, INT64_MIN };
    EACH(i, numbers)
        for (int system = 0; system < TSR_NUMBERING_COUNT; system++)
            BAD(TSR_EDTYPE, tsr_dtype_from_number(&dtype, (tsr_numbering)system, numbers[i]));
    BAD(TSR_ENULL, tsr_dtype_from_number(NULL, TSR_NUMBERING_DLPACK, 0));
    BAD(TSR_EINVAL, tsr_dtype_from_number(&dtype, (tsr_numbering)99, 0));
    BAD(TSR_EINVAL, tsr_dtype_from_number(&dtype, (tsr_numbering)-1, 0));
    BAD(TSR_ENULL, tsr_dtype_to_number(NULL, TSR_NUMBERING_DLPACK, TSR_F32));
    BAD(TSR_EINVAL, tsr_dtype_to_number(&number, (tsr_numbering)99, TSR_F32));

    const char *bad_typestrs[] = { "", "<", "<f", "<f3", "f4", "<f44", "<V2", "?", "<f-4", "<z8" };
    EACH(i, bad_typestrs) BAD(TSR_EDTYPE, tsr_dtype_from_typestr(&dtype, bad_typestrs[i]));
    BAD(TSR_EUNSUPPORTED, tsr_dtype_from_typestr(&dtype, ">f4"));
    BAD(TSR_ENULL, tsr_dtype_from_typestr(NULL, "<f4"));
    BAD(TSR_ENULL, tsr_dtype_from_typestr(&dtype, NULL));
    BAD(TSR_ENULL, tsr_dtype_to_typestr(NULL, TSR_F32));
    EXPECT(dtype == TSR_I8 && number == 7 && !strcmp(text, "x"));
}

/* Any pattern and any value is a legal argument; the sanitizer watches the arithmetic. */
TEST(test_bad_input_to_short_floats)
{
    const double values[] = { 0.0, -0.0, 1e-320, -1e-40, 65504, 65520, 1e38, 3.5e38, -1e308, INFINITY,
                              -INFINITY, NAN };
    for (unsigned bits = 0; bits < 65536; bits++) {
        const float f = tsr_f16_to_f32((uint16_t)bits), b = tsr_bf16_to_f32((uint16_t)bits);
        EXPECT(isnan(f) || tsr_f32_to_f16(f) == bits);
        EXPECT(isnan(b) || tsr_f32_to_bf16(b) == bits);
    }
    for (unsigned bits = 0; bits < 256; bits++) {
        const float e4 = tsr_f8e4m3_to_f32((uint8_t)bits), e5 = tsr_f8e5m2_to_f32((uint8_t)bits);
        EXPECT(isnan(e4) || tsr_f32_to_f8e4m3(e4) == bits);
        EXPECT(isnan(e5) || tsr_f32_to_f8e5m2(e5) == bits);
    }
    EACH(i, values) {
        const double v = values[i];
        const float f = tsr_bf16_to_f32(tsr_f64_to_bf16(v));
        EXPECT(isnan(v) == isnan(tsr_f16_to_f32(tsr_f64_to_f16(v))));
        EXPECT(isnan(v) || isnan(tsr_f8e4m3_to_f32(tsr_f64_to_f8e4m3(v))) == (fabs(v) > 464));
        EXPECT(isnan(v) == isnan(tsr_f8e5m2_to_f32(tsr_f64_to_f8e5m2(v))));
        EXPECT(isnan(f) == isnan(tsr_f16_to_f32(tsr_f32_to_f16_sat(f))));
        EXPECT(isnan(f) || isfinite(tsr_f16_to_f32(tsr_f32_to_f16_sat(f))));
        EXPECT(isnan(f) || isfinite(tsr_bf16_to_f32(tsr_f32_to_bf16_sat(f))));
        EXPECT(isnan(f) || isfinite(tsr_f8e4m3_to_f32(tsr_f32_to_f8e4m3_sat(f))));
        EXPECT(isnan(f) || isfinite(tsr_f8e5m2_to_f32(tsr_f32_to_f8e5m2_sat(f))));
    }
}

TEST(test_bad_input_to_scalar)
{
    tsr_scalar s = tsr_scalar_i64(5);
    unsigned char element[16] = { 1 };
    EXPECT(tsr_scalar_to_f64(bad_scalar) == 0 && tsr_scalar_to_i64(bad_scalar) == 0);
    EXPECT(tsr_scalar_to_u64(bad_scalar) == 0 && !tsr_scalar_to_bool(bad_scalar));
    EXPECT(tsr_scalar_to_c128(bad_scalar).re == 0 && tsr_scalar_to_c128(bad_scalar).im == 0);
    EXPECT(tsr_scalar_to_i64(tsr_scalar_f64(NAN)) == 0 &&
           tsr_scalar_to_i64(tsr_scalar_f64(-1e300)) == INT64_MIN);
    EXPECT(tsr_scalar_to_u64(tsr_scalar_f64(INFINITY)) == UINT64_MAX &&
           tsr_scalar_to_u64(tsr_scalar_f64(-1)) == 0);

    BAD(TSR_ENULL, tsr_scalar_load(NULL, TSR_F32, element));
    BAD(TSR_ENULL, tsr_scalar_load(&s, TSR_F32, NULL));
    BAD(TSR_ENULL, tsr_scalar_store(NULL, TSR_F32, s));
    EACH(i, bad_dtype_numbers) {
        BAD(TSR_EDTYPE, tsr_scalar_load(&s, DTYPE(i), element));
        BAD(TSR_EDTYPE, tsr_scalar_store(element, DTYPE(i), s));
    }
    BAD(TSR_EDTYPE, tsr_scalar_store(element, TSR_F32, bad_scalar));
    BAD(TSR_EDTYPE, tsr_scalar_store(element, TSR_F32, (tsr_scalar){ .dtype = TSR_F32 }));
    EXPECT(s.as.i == 5 && element[0] == 1);
}

/* desc.h ----------------------------------------------------------------------------- */

static void check_queries_of(const tsr_desc *d)
{
    int64_t lo = 7, hi = 7;
    char text[64];
    EXPECT(tsr_desc_numel(d) == 0 && tsr_desc_bytes(d) == 0);
    EXPECT(tsr_desc_span(d, &lo, &hi) == 0 && lo == 0 && hi == 0);
    EXPECT(!tsr_desc_is_contiguous(d) && !tsr_desc_is_column_major(d) &&
           !tsr_desc_is_contiguous_range(d, 0, 1));
    EXPECT(!tsr_desc_is_dense(d) && !tsr_desc_is_broadcast_dim(d, 0) && !tsr_desc_has_broadcast(d));
    EXPECT(!tsr_desc_can_merge(d, 0) && !tsr_desc_self_overlaps(d));
    EXPECT(!tsr_desc_same_shape(d, d) && !tsr_desc_same(d, d));
    EXPECT(tsr_desc_to_string(text, sizeof text, d) > 0 && text[0]);
}

TEST(test_bad_input_to_desc_queries)
{
    set_up();
    check_queries_of(NULL);
    EACH(i, bad_descs)
        if (bad_descs[i].want != TSR_EOVERFLOW) check_queries_of(&bad_descs[i].desc);
        else EXPECT(tsr_desc_span(&bad_descs[i].desc, NULL, NULL) == 0);
    EACH(i, bad_axes) {
        EXPECT(!tsr_desc_is_broadcast_dim(&matrix, bad_axes[i]));
        EXPECT(!tsr_desc_can_merge(&matrix, bad_axes[i]));
        EXPECT(bad_axes[i] == 2 || !tsr_desc_is_contiguous_range(&matrix, 0, bad_axes[i]));
        EXPECT(!tsr_desc_is_contiguous_range(&matrix, bad_axes[i], 1));
    }
    EXPECT(!tsr_desc_same_shape(&matrix, NULL) && !tsr_desc_same(NULL, &matrix));
    EXPECT(tsr_desc_to_string(NULL, 99, &matrix) == tsr_desc_to_string(NULL, 0, &matrix));
    tear_down();
}

TEST(test_bad_input_to_desc_making)
{
    const int64_t two[] = { 2, 3 }, huge[] = { INT64_MAX, INT64_MAX }, far[] = { INT64_MAX, INT64_MIN };
    tsr_desc d;
    set_up();
    d = matrix;
    EACH(i, bad_ranks) {
        BAD(TSR_EINVAL, tsr_desc_init(&d, TSR_F32, bad_ranks[i], ones_17, NULL));
        BAD(TSR_EINVAL, tsr_desc_init_column_major(&d, TSR_F32, bad_ranks[i], ones_17));
    }
    EACH(i, bad_dtype_numbers) {
        BAD(TSR_EDTYPE, tsr_desc_init(&d, DTYPE(i), 2, two, NULL));
        BAD(TSR_EDTYPE, tsr_desc_init_column_major(&d, DTYPE(i), 2, two));
        BAD(TSR_EDTYPE, tsr_desc_packed_like(&d, &matrix, DTYPE(i)));
        BAD(TSR_EDTYPE, tsr_desc_bit_view(&d, &matrix, DTYPE(i)));
    }
    BAD(TSR_ENULL, tsr_desc_init(NULL, TSR_F32, 2, two, NULL));
    BAD(TSR_ENULL, tsr_desc_init(&d, TSR_F32, 2, NULL, NULL));
    BAD(TSR_ENULL, tsr_desc_init_column_major(NULL, TSR_F32, 2, two));
    BAD(TSR_ENULL, tsr_desc_init_column_major(&d, TSR_F32, 2, NULL));
    BAD(TSR_ESHAPE, tsr_desc_init(&d, TSR_F32, TSR_SHAPE(2, -1), NULL));
    BAD(TSR_ESHAPE, tsr_desc_init_column_major(&d, TSR_F32, TSR_SHAPE(INT64_MIN)));
    BAD(TSR_EOVERFLOW, tsr_desc_init(&d, TSR_F32, 2, huge, NULL));
    BAD(TSR_EOVERFLOW, tsr_desc_init(&d, TSR_U8, 2, two, huge));
    BAD(TSR_EOVERFLOW, tsr_desc_init(&d, TSR_U8, 2, two, far));
    BAD(TSR_EOVERFLOW, tsr_desc_init_column_major(&d, TSR_F32, 2, huge));
    BAD(TSR_ENULL, tsr_desc_check(NULL));
    EACH(i, bad_descs) BAD(bad_descs[i].want, tsr_desc_check(&bad_descs[i].desc));
    EXPECT(tsr_desc_same(&d, &matrix));
    tear_down();
}

TEST(test_bad_input_to_desc_shape_arithmetic)
{
    const tsr_desc *one[] = { &matrix }, *with_null[] = { &matrix, NULL };
    tsr_desc other, scalar;
    int64_t n = 7, shape[TSR_MAX_NDIM] = { 7 }, index[] = { 0, 0, 0 };
    int ndim = 7;
    set_up();
    EXPECT_OK(tsr_desc_init(&other, TSR_F32, TSR_SHAPE(4, 5), NULL));
    EXPECT_OK(tsr_desc_init(&scalar, TSR_F32, TSR_SCALAR_SHAPE, NULL));
    BAD(TSR_ENULL, tsr_desc_matmul_check(NULL, &matrix));
    BAD(TSR_ENULL, tsr_desc_matmul_check(&matrix, NULL));
    BAD(TSR_ESHAPE, tsr_desc_matmul_check(&matrix, &matrix));
    BAD(TSR_ESHAPE, tsr_desc_matmul_check(&scalar, &matrix));
    BAD(TSR_ESHAPE, tsr_desc_matmul_check(&matrix, &scalar));
    BAD(TSR_ENULL, tsr_desc_dim(NULL, &matrix, 0));
    BAD(TSR_ENULL, tsr_desc_dim(&n, NULL, 0));
    EACH(i, bad_axes) BAD(TSR_EINDEX, tsr_desc_dim(&n, &matrix, bad_axes[i]));
    BAD(TSR_ENULL, tsr_desc_offset(NULL, &matrix, 2, index));
    BAD(TSR_ENULL, tsr_desc_offset(&n, NULL, 2, index));
    BAD(TSR_ENULL, tsr_desc_offset(&n, &matrix, 2, NULL));
    BAD(TSR_ESHAPE, tsr_desc_offset(&n, &matrix, 3, index));
    EACH(i, bad_ranks) BAD(TSR_EINVAL, tsr_desc_offset(&n, &matrix, bad_ranks[i], ones_17));
    const int64_t bad[] = { 2, -3, INT64_MAX, INT64_MIN };
    EACH(i, bad) BAD(TSR_EINDEX, tsr_desc_offset(&n, &matrix, 1, &bad[i]));
    EACH(i, bad_descs) {
        const tsr_desc *list[] = { &matrix, &bad_descs[i].desc };
        BAD(bad_descs[i].want, tsr_desc_dim(&n, &bad_descs[i].desc, 0));
        BAD(bad_descs[i].want, tsr_desc_offset(&n, &bad_descs[i].desc, 0, NULL));
        BAD(bad_descs[i].want, tsr_desc_matmul_check(&bad_descs[i].desc, &matrix));
        BAD(bad_descs[i].want, tsr_desc_matmul_check(&matrix, &bad_descs[i].desc));
        BAD(bad_descs[i].want, tsr_desc_broadcast(&ndim, shape, 2, list));
    }
    BAD(TSR_ENULL, tsr_desc_broadcast(NULL, shape, 1, one));
    BAD(TSR_ENULL, tsr_desc_broadcast(&ndim, NULL, 1, one));
    BAD(TSR_ENULL, tsr_desc_broadcast(&ndim, shape, 1, NULL));
    BAD(TSR_ENULL, tsr_desc_broadcast(&ndim, shape, 2, with_null));
    BAD(TSR_EINVAL, tsr_desc_broadcast(&ndim, shape, 0, one));
    BAD(TSR_EINVAL, tsr_desc_broadcast(&ndim, shape, INT_MIN, one));
    BAD(TSR_ESHAPE, tsr_desc_broadcast(&ndim, shape, 2, (const tsr_desc *const[]){ &matrix, &other }));
    EXPECT(n == 7 && ndim == 7 && shape[0] == 7);
    tear_down();
}

/* The call fails for a NULL desc and for every bad one. */
#define BAD_DESCS(call)                                                               \
    do {                                                                              \
        const tsr_desc *in = NULL;                                                    \
        BAD(TSR_ENULL, call);                                                         \
        EACH(i_, bad_descs) {                                                         \
            in = &bad_descs[i_].desc;                                                 \
            BAD(bad_descs[i_].want, call);                                            \
        }                                                                             \
    } while (0)

TEST(test_bad_input_to_desc_views)
{
    tsr_desc d;
    int64_t offset = 7;
    const int64_t six_1[] = { 6 }, parts[] = { 1, 3 };
    const int swap[] = { 1, 0 };
    set_up();
    d = matrix;
    BAD_DESCS(tsr_desc_view(&d, in, 1, six_1));
    BAD_DESCS(tsr_desc_slice(&d, &offset, in, 0, 0, 1, 1));
    BAD_DESCS(tsr_desc_select(&d, &offset, in, 0, 0));
    BAD_DESCS(tsr_desc_permute(&d, in, 2, swap));
    BAD_DESCS(tsr_desc_transpose(&d, in, 0, 1));
    BAD_DESCS(tsr_desc_move_axis(&d, in, 0, 1));
    BAD_DESCS(tsr_desc_expand(&d, in, 1, six_1));
    BAD_DESCS(tsr_desc_squeeze(&d, in, 0));
    BAD_DESCS(tsr_desc_squeeze_all(&d, in));
    BAD_DESCS(tsr_desc_unsqueeze(&d, in, 0));
    BAD_DESCS(tsr_desc_flip(&d, &offset, in, 0, NULL));
    BAD_DESCS(tsr_desc_diagonal(&d, &offset, in, 0, 0, 1));
    BAD_DESCS(tsr_desc_unfold(&d, in, 0, 1, 1));
    BAD_DESCS(tsr_desc_merge(&d, in, 0, 1));
    BAD_DESCS(tsr_desc_split(&d, in, 0, 2, parts));
    BAD_DESCS(tsr_desc_real(&d, in));
    BAD_DESCS(tsr_desc_imag(&d, &offset, in));
    BAD_DESCS(tsr_desc_bit_view(&d, in, TSR_I32));
    BAD_DESCS(tsr_desc_packed_like(&d, in, TSR_F32));

    BAD(TSR_ENULL, tsr_desc_view(NULL, &matrix, 1, six_1));
    BAD(TSR_ENULL, tsr_desc_slice(NULL, &offset, &matrix, 0, 0, 1, 1));
    BAD(TSR_ENULL, tsr_desc_select(NULL, &offset, &matrix, 0, 0));
    BAD(TSR_ENULL, tsr_desc_permute(NULL, &matrix, 2, swap));
    BAD(TSR_ENULL, tsr_desc_transpose(NULL, &matrix, 0, 1));
    BAD(TSR_ENULL, tsr_desc_move_axis(NULL, &matrix, 0, 1));
    BAD(TSR_ENULL, tsr_desc_expand(NULL, &matrix, 1, six_1));
    BAD(TSR_ENULL, tsr_desc_squeeze(NULL, &matrix, 0));
    BAD(TSR_ENULL, tsr_desc_squeeze_all(NULL, &matrix));
    BAD(TSR_ENULL, tsr_desc_unsqueeze(NULL, &matrix, 0));
    BAD(TSR_ENULL, tsr_desc_flip(NULL, &offset, &matrix, 0, NULL));
    BAD(TSR_ENULL, tsr_desc_diagonal(NULL, &offset, &matrix, 0, 0, 1));
    BAD(TSR_ENULL, tsr_desc_unfold(NULL, &matrix, 0, 1, 1));
    BAD(TSR_ENULL, tsr_desc_merge(NULL, &matrix, 0, 1));
    BAD(TSR_ENULL, tsr_desc_split(NULL, &matrix, 0, 2, parts));
    BAD(TSR_ENULL, tsr_desc_real(NULL, &matrix));
    BAD(TSR_ENULL, tsr_desc_imag(NULL, &offset, &matrix));
    BAD(TSR_ENULL, tsr_desc_bit_view(NULL, &matrix, TSR_I32));
    BAD(TSR_ENULL, tsr_desc_packed_like(NULL, &matrix, TSR_F32));
    EXPECT(tsr_desc_same(&d, &matrix) && offset == 7);
    tear_down();
}

/* A dim of size 1 may have any stride, and so may every dim where there are no elements: no
 * arithmetic on them may overflow. */
TEST(test_bad_input_strides_that_never_matter_do_no_harm)
{
    const int64_t junk[] = { INT64_MIN, INT64_MAX, INT64_MIN + 1, -1, 0 };
    tsr_desc d, out;
    int64_t offset;
    EACH(i, junk) {
        const int64_t stride[] = { junk[i], 1, junk[i] };
        EXPECT_OK(tsr_desc_init(&d, TSR_C64, TSR_SHAPE(1, 3, 1), stride));
        EXPECT_OK(tsr_desc_packed_like(&out, &d, TSR_F32));
        EXPECT_OK(tsr_desc_flip(&out, &offset, &d, 0, NULL));
        EXPECT_OK(tsr_desc_imag(&out, &offset, &d));
        EXPECT_OK(tsr_desc_view(&out, &d, TSR_SHAPE(3)));
        EXPECT(tsr_desc_is_contiguous(&d) && tsr_desc_is_dense(&d) && !tsr_desc_self_overlaps(&d));

        EXPECT_OK(tsr_desc_init(&d, TSR_C64, TSR_SHAPE(5, 0, 7), stride));
        EXPECT_OK(tsr_desc_select(&out, &offset, &d, 0, 4));
        EXPECT_OK(tsr_desc_slice(&out, &offset, &d, 0, 4, TSR_NONE, -2));
        EXPECT_OK(tsr_desc_slice(&out, &offset, &d, 2, 3, 7, 2));
        EXPECT_OK(tsr_desc_offset(&offset, &d, TSR_INDEX(4)));
        EXPECT_OK(tsr_desc_diagonal(&out, &offset, &d, 3, 0, 2));
        EXPECT_OK(tsr_desc_diagonal(&out, &offset, &d, -3, 0, 2));
        EXPECT_OK(tsr_desc_flip(&out, &offset, &d, 0, NULL));
        EXPECT_OK(tsr_desc_unfold(&out, &d, 0, 2, 3));
        EXPECT_OK(tsr_desc_imag(&out, &offset, &d));
        EXPECT_OK(tsr_desc_packed_like(&out, &d, TSR_C64));
        EXPECT(tsr_desc_is_contiguous(&d) && tsr_desc_is_dense(&d) && !tsr_desc_self_overlaps(&d));

        const int64_t twice[] = { junk[i], junk[i], 1 };  /* sums overflow where products do not */
        EXPECT_OK(tsr_desc_init(&d, TSR_C64, TSR_SHAPE(2, 2, 0), twice));
        EXPECT_OK(tsr_desc_offset(&offset, &d, TSR_INDEX(1, 1)));
        EXPECT_OK(tsr_desc_flip(&out, &offset, &d, 0, NULL));
        EXPECT_OK(tsr_desc_diagonal(&out, &offset, &d, 1, 0, 1));
        EXPECT_OK(tsr_desc_packed_like(&out, &d, TSR_C64));
    }
    const int64_t packed[] = { INT64_MIN, INT64_C(1) << 62, 1 };  /* as products go, when they wrap */
    EXPECT_OK(tsr_desc_init(&d, TSR_U8, TSR_SHAPE(0, 3, INT64_C(1) << 62), packed));
    EXPECT_OK(tsr_desc_view(&out, &d, TSR_SHAPE(0)));
    EXPECT(tsr_desc_numel(&out) == 0);
}

/* The same through tensors, where offsets become addresses. */
TEST(test_bad_input_views_of_empty_tensors_stay_where_they_are)
{
    const int64_t stride[] = { INT64_MAX, 1, INT64_MIN };
    tsr_desc d;
    tsr_tensor *t = NULL, *v = NULL;
    void *at = NULL;
    char byte = 0;
    EXPECT_OK(tsr_desc_init(&d, TSR_U8, TSR_SHAPE(5, 0, 7), stride));
    EXPECT_OK(tsr_wrap(&t, &byte, &d));
    EXPECT_OK(tsr_select(&v, t, 0, 4));
    EXPECT(v && v->data == &byte);
    EXPECT_OK(tsr_slice(&v, t, 2, 3, 7, 1));
    EXPECT(v && v->data == &byte);
    EXPECT_OK(tsr_diagonal(&v, t, 2, 0, 2));
    EXPECT(v && v->data == &byte);
    EXPECT_OK(tsr_at_prefix(&v, t, TSR_INDEX(-1)));
    EXPECT(v && v->data == &byte);
    EXPECT_OK(tsr_flip(&v, t, 0, NULL));
    EXPECT(v && v->data == &byte);
    EXPECT_OK(tsr_pointer(&at, t, TSR_INDEX(3)));
    EXPECT(at == &byte);
    tsr_release_all(&v, &t);
}

/* match.h ---------------------------------------------------------------------------- */

TEST(test_bad_input_to_match)
{
    tsr_signature s;
    tsr_bindings b = { { 0 }, { 0 } };
    int64_t value = 7;
    char text[32];
    set_up();
    const tsr_desc *descs[] = { &matrix, &matrix };
    EXPECT_OK(tsr_signature_parse(&s, "a{ dT | (m, n) } -> c{ dT | (n, m) }"));
    const tsr_signature before = s;
    const char *bad[] = { "", "{", "{}", "a{", "a{ f32", "a{ f31 | () }", "a{ f32 | (m", "a{ f32 | (m,, n) }",
                          "-> ", "a b", "a{ f32 | (..., ...) }", "\xff\xfe",
                          "a{ f32 | (99999999999999999999) }" };
    EACH(i, bad) BAD(TSR_EFORMAT, tsr_signature_parse(&s, bad[i]));
    EXPECT(!memcmp(&s, &before, sizeof s));
    BAD(TSR_ENULL, tsr_signature_parse(NULL, "a{ f32 | () }"));
    BAD(TSR_ENULL, tsr_signature_parse(&s, NULL));
    BAD(TSR_ENULL, tsr_match(NULL, "op", 1, descs, &b));
    BAD(TSR_ENULL, tsr_match(&s, "op", 1, NULL, &b));
    BAD(TSR_EINVAL, tsr_match(&s, "op", -1, descs, &b));
    BAD(TSR_EINVAL, tsr_match(&s, NULL, 3, descs, &b));
    BAD(TSR_EINVAL, tsr_match(&s, "op", INT_MAX, descs, &b));
    BAD(TSR_ESHAPE, tsr_match(&s, "op", 2, descs, &b));
    EACH(i, bad_descs) {
        const tsr_desc *list[] = { &bad_descs[i].desc };
        const tsr_status want = bad_descs[i].want;
        if (want == TSR_EINVAL || want == TSR_EDTYPE) BAD(want, tsr_match(&s, "op", 1, list, &b));
        else (void)!tsr_match(&s, "op", 1, list, NULL);
    }
    BAD(TSR_ENULL, tsr_match_text(NULL, &matrix));
    BAD(TSR_ENULL, tsr_match_text("{ f32 | (...) }", NULL));
    BAD(TSR_EINVAL, tsr_match_text("a{ f32 | (...) } b{ f32 | (...) }", &matrix));
    BAD(TSR_ENULL, tsr_binding(NULL, &s, &b, "m"));
    BAD(TSR_ENULL, tsr_binding(&value, NULL, &b, "m"));
    BAD(TSR_ENULL, tsr_binding(&value, &s, NULL, "m"));
    BAD(TSR_ENULL, tsr_binding(&value, &s, &b, NULL));
    BAD(TSR_EINVAL, tsr_binding(&value, &s, &b, "m"));
    BAD(TSR_EINVAL, tsr_binding(&value, &s, &b, "a name that is far too long to be one"));
    EXPECT(tsr_signature_to_string(text, sizeof text, NULL) == 0);
    EXPECT(tsr_signature_to_string(NULL, 99, &s) == tsr_signature_to_string(text, sizeof text, &s));
    EXPECT(value == 7);
    tear_down();
}

/* device.h, backend.h ---------------------------------------------------------------- */

TEST(test_bad_input_to_device_and_backend)
{
    tsr_device device = 7;
    char text[64];
    const char *bad[] = { "", "cpu:", "cpu:1", "cpu:-1", "cpu:0x", "cpu:256", "cpu:99999999999999999999",
                          "CPU", "nothing", ":0", "cpu 0" };
    EACH(i, bad) BAD(TSR_EDEVICE, tsr_device_parse(&device, bad[i]));
    BAD(TSR_ENULL, tsr_device_parse(NULL, "cpu"));
    BAD(TSR_ENULL, tsr_device_parse(&device, NULL));
    EXPECT(device == 7);
    EACH(i, bad_devices) {
        EXPECT(!tsr_device_exists(bad_devices[i]));
        EXPECT(tsr_device_name(text, sizeof text, bad_devices[i]) > 0 && text[0]);
    }
    EXPECT(tsr_device_name(NULL, 99, TSR_CPU) == 5);

    const int kinds[] = { 0, -1, TSR_OP_COUNT, INT_MAX };
    EACH(i, kinds) EXPECT(!tsr_op_get_info((tsr_op_kind)kinds[i]));
    BAD(TSR_ENULL, tsr_infer(NULL, TSR_OP_NEG, 0, NULL, NULL));
    BAD(TSR_ENULL, tsr_op_cost(NULL, TSR_OP_NEG, 0, NULL, NULL));
    EXPECT(tsr_op_find(NULL) == TSR_OP_NONE);
    EXPECT(!tsr_op_row(-1) && !tsr_op_row(INT_MIN) && !tsr_op_row(INT_MAX));
    EXPECT(tsr_cpu_isa()[0] != '\0');
    EXPECT(tsr_cpu_tuning()[0] != '\0');
    EXPECT(tsr_backend_fail(TSR_EIO, NULL) == TSR_EIO && tsr_last_error()[0] != '\0');
    EXPECT(tsr_backend_fail(TSR_EIO, "tape: torn") == TSR_EIO && strcmp(tsr_last_error(), "tape: torn") == 0);
    BAD(TSR_ENULL, tsr_backend_register(NULL));
    BAD(TSR_EINVAL, tsr_backend_register(&(tsr_backend){ .abi = 99 }));
    BAD(TSR_EINVAL, tsr_backend_register(&(tsr_backend){ .abi = TSR_BACKEND_ABI, .size = 8 }));
    BAD(TSR_EINVAL,
        tsr_backend_register(&(tsr_backend){ .abi = TSR_BACKEND_ABI, .size = sizeof(tsr_backend) }));
}

/* memory.h --------------------------------------------------------------------------- */

TEST(test_bad_input_to_memory_kinds)
{
    tsr_memory out = 7;
    const tsr_memory_kind kind = {
        .size = sizeof kind, .name = "fine", .alloc = hidden_alloc, .free = test_free
    };
    tsr_memory_kind k;
    const char *bad_names[] = { "", "a b", "a\"", "\n", "host", "a-name-that-is-longer-than-31-bytes" };
    BAD(TSR_ENULL, tsr_memory_register(NULL, &kind));
    BAD(TSR_ENULL, tsr_memory_register(&out, NULL));
    EACH(i, bad_names) {
        k = kind, k.name = bad_names[i];
        BAD(TSR_EINVAL, tsr_memory_register(&out, &k));
    }
    k = kind, k.name = NULL;
    BAD(TSR_ENULL, tsr_memory_register(&out, &k));
    k = kind, k.alloc = NULL;
    BAD(TSR_ENULL, tsr_memory_register(&out, &k));
    k = kind, k.free = NULL;
    BAD(TSR_ENULL, tsr_memory_register(&out, &k));
    k = kind, k.size = 4;
    BAD(TSR_EINVAL, tsr_memory_register(&out, &k));
    k = kind, k.alignment = 48;
    BAD(TSR_EINVAL, tsr_memory_register(&out, &k));
    EACH(i, bad_devices) {
        k = kind, k.device = bad_devices[i];
        BAD(TSR_EDEVICE, tsr_memory_register(&out, &k));
    }
    EACH(i, bad_memories) {
        BAD(TSR_EINVAL, tsr_memory_unregister(bad_memories[i]));
        EXPECT(!strcmp(tsr_memory_name(bad_memories[i]), "?"));
        EXPECT(!tsr_memory_is_host(bad_memories[i]));
        EXPECT(tsr_memory_live(bad_memories[i]) == 0);
    }
    for (tsr_memory builtin = 0; builtin < TSR_MEMORY_COUNT_BUILTIN; builtin++)
        BAD(TSR_EINVAL, tsr_memory_unregister(builtin));
    BAD(TSR_ENULL, tsr_memory_find(NULL, "host"));
    BAD(TSR_ENULL, tsr_memory_find(&out, NULL));
    BAD(TSR_EINVAL, tsr_memory_find(&out, ""));
    BAD(TSR_EINVAL, tsr_memory_find(&out, "nothing"));
    EXPECT(out == 7);
}

static void no_deleter(void *context, void *data, size_t bytes) { (void)context; (void)data; (void)bytes; }

TEST(test_bad_input_to_storages)
{
    tsr_storage *s = NULL;
    char byte = 0;
    BAD(TSR_ENULL, tsr_storage_create(NULL, 1, TSR_CPU, TSR_MEMORY_HOST));
    EACH(i, bad_devices) BAD(TSR_EDEVICE, tsr_storage_create(&s, 1, bad_devices[i], TSR_MEMORY_HOST));
    EACH(i, bad_memories) BAD(TSR_EINVAL, tsr_storage_create(&s, 1, TSR_CPU, bad_memories[i]));
    BAD(TSR_EUNSUPPORTED, tsr_storage_create(&s, 1, TSR_CPU, TSR_MEMORY_FILE));
    BAD(TSR_EOVERFLOW, tsr_storage_create(&s, SIZE_MAX, TSR_CPU, TSR_MEMORY_HOST));
    for (tsr_memory m = 0; m < TSR_MEMORY_FILE; m++)
        BAD(TSR_ENOMEM, tsr_storage_create(&s, INT64_MAX, TSR_CPU, m));
    BAD(TSR_ENULL, tsr_storage_borrow(NULL, &byte, 1, TSR_CPU, TSR_MEMORY_HOST));
    BAD(TSR_ENULL, tsr_storage_borrow(&s, NULL, 1, TSR_CPU, TSR_MEMORY_HOST));
    BAD(TSR_EOVERFLOW, tsr_storage_borrow(&s, &byte, SIZE_MAX, TSR_CPU, TSR_MEMORY_HOST));
    EACH(i, bad_devices) {
        BAD(TSR_EDEVICE, tsr_storage_borrow(&s, &byte, 1, bad_devices[i], TSR_MEMORY_HOST));
        BAD(TSR_EDEVICE, tsr_storage_adopt(&s, &byte, 1, bad_devices[i], TSR_MEMORY_HOST, no_deleter, NULL));
    }
    EACH(i, bad_memories) {
        BAD(TSR_EINVAL, tsr_storage_borrow(&s, &byte, 1, TSR_CPU, bad_memories[i]));
        BAD(TSR_EINVAL, tsr_storage_adopt(&s, &byte, 1, TSR_CPU, bad_memories[i], no_deleter, NULL));
    }
    BAD(TSR_ENULL, tsr_storage_adopt(NULL, &byte, 1, TSR_CPU, TSR_MEMORY_HOST, no_deleter, NULL));
    BAD(TSR_ENULL, tsr_storage_adopt(&s, NULL, 1, TSR_CPU, TSR_MEMORY_HOST, no_deleter, NULL));
    BAD(TSR_ENULL, tsr_storage_adopt(&s, &byte, 1, TSR_CPU, TSR_MEMORY_HOST, NULL, NULL));
    BAD(TSR_EOVERFLOW, tsr_storage_adopt(&s, &byte, SIZE_MAX, TSR_CPU, TSR_MEMORY_HOST, no_deleter, NULL));
    EXPECT(s == NULL);

    EXPECT(tsr_storage_retain(NULL) == NULL);
    tsr_storage_release(NULL);
    tsr_storage_release(&s);
    EXPECT(tsr_storage_data(NULL) == NULL && tsr_storage_bytes(NULL) == 0 && tsr_storage_count(NULL) == 0);
    EXPECT(tsr_storage_memory(NULL) == TSR_MEMORY_HOST && tsr_storage_device(NULL) == TSR_CPU);
    EXPECT(tsr_storage_ownership(NULL) != TSR_OWNED && !tsr_storage_is_readonly(NULL));
    tsr_storage_set_name(NULL, "x");
    EXPECT_OK(tsr_storage_create(&s, 8, TSR_CPU, TSR_MEMORY_HOST));
    tsr_storage_set_name(s, NULL);
    tsr_storage_set_name(s, "a name that is far longer than the 31 characters it may have");
    tsr_storage_release(&s);
}

TEST(test_bad_input_to_file_mappings)
{
    char path[] = "/tmp/tessera-test-XXXXXX", fifo[64];
    tsr_storage *s = NULL;
    const int file = mkstemp(path);
    set_up();
    EXPECT(file >= 0 && write(file, six, sizeof six) == (ssize_t)sizeof six);
    (void)close(file);
    BAD(TSR_ENULL, tsr_storage_map_file(NULL, path, 0, 0, TSR_MAP_READ));
    BAD(TSR_ENULL, tsr_storage_map_file(&s, NULL, 0, 0, TSR_MAP_READ));
    BAD(TSR_EINVAL, tsr_storage_map_file(&s, path, 0, 0, (tsr_map_mode)2));
    BAD(TSR_EINVAL, tsr_storage_map_file(&s, path, 0, 0, (tsr_map_mode)-1));
    BAD(TSR_EIO, tsr_storage_map_file(&s, "", 0, 0, TSR_MAP_READ));
    BAD(TSR_EIO, tsr_storage_map_file(&s, "/nothing/here", 0, 0, TSR_MAP_READ));
    BAD(TSR_EIO, tsr_storage_map_file(&s, "/tmp", 0, 0, TSR_MAP_READ));
    BAD(TSR_EIO, tsr_storage_map_file(&s, "/dev/null", 0, 0, TSR_MAP_READ));
    BAD(TSR_EBOUNDS, tsr_storage_map_file(&s, path, 25, 0, TSR_MAP_READ));
    BAD(TSR_EBOUNDS, tsr_storage_map_file(&s, path, 0, 25, TSR_MAP_READ));
    BAD(TSR_EBOUNDS, tsr_storage_map_file(&s, path, UINT64_MAX, 1, TSR_MAP_READ));
    BAD(TSR_EBOUNDS, tsr_storage_map_file(&s, path, 1, SIZE_MAX, TSR_MAP_READ));
    EXPECT(s == NULL);

    /* A pipe that nobody writes to would keep the caller for ever. */
    (void)snprintf(fifo, sizeof fifo, "%s.fifo", path);
    if (mkfifo(fifo, 0600) == 0) BAD(TSR_EIO, tsr_storage_map_file(&s, fifo, 0, 0, TSR_MAP_READ));
    (void)unlink(fifo);

    BAD(TSR_ENULL, tsr_map_file(NULL, path, 0, &matrix, TSR_MAP_READ));
    BAD_OUT(TSR_ENULL, tsr_map_file(&out, NULL, 0, &matrix, TSR_MAP_READ));
    BAD_OUT(TSR_ENULL, tsr_map_file(&out, path, 0, NULL, TSR_MAP_READ));
    BAD_OUT(TSR_EINVAL, tsr_map_file(&out, path, 0, &matrix, (tsr_map_mode)9));
    BAD_OUT(TSR_EIO, tsr_map_file(&out, "/nothing/here", 0, &matrix, TSR_MAP_READ));
    BAD_OUT(TSR_EBOUNDS, tsr_map_file(&out, path, 4, &matrix, TSR_MAP_READ));
    EACH(i, bad_descs)
        BAD_OUT(bad_descs[i].want, tsr_map_file(&out, path, 0, &bad_descs[i].desc, TSR_MAP_READ));
    tsr_desc one;
    EXPECT_OK(tsr_desc_init(&one, TSR_F32, TSR_SHAPE(1), NULL));
    BAD_OUT(TSR_EINVAL, tsr_map_file(&out, path, 2, &one, TSR_MAP_READ));
    (void)unlink(path);
    tear_down();
}

TEST(test_bad_input_to_pool_and_counting)
{
    const bool on = tsr_pool_is_enabled();
    const size_t limit = tsr_pool_limit();
    char text[8];
    tsr_pool_set_limit(SIZE_MAX);
    EXPECT(tsr_pool_limit() == SIZE_MAX);
    tsr_pool_set_limit(0);
    tsr_pool_enable(true);
    EXPECT(tsr_pool_trim(SIZE_MAX) == 0);
    (void)tsr_pool_trim(0);
    EXPECT(tsr_pool_trim(0) == 0);
    tsr_pool_set_limit(limit);
    tsr_pool_enable(on);

    tsr_memory_get_stats(NULL);
    tsr_memory_reset_peak();
    EXPECT(tsr_memory_report(NULL, 99) == tsr_memory_report(NULL, 0));
    EXPECT(tsr_memory_report(text, sizeof text) > sizeof text && strlen(text) == sizeof text - 1);
    EXPECT(tsr_memory_report(text, 1) > 1 && text[0] == '\0');
}

TEST(test_bad_input_to_allocator_and_arena)
{
    static _Alignas(64) unsigned char block[512];
    tsr_arena arena = { 0 };
    tsr_tensor *t = NULL;
    BAD(TSR_ENULL, tsr_set_allocator(&(tsr_allocator){ NULL, NULL, tsr_arena_free }));
    BAD(TSR_ENULL, tsr_set_allocator(&(tsr_allocator){ NULL, tsr_arena_alloc, NULL }));
    EXPECT_OK(tsr_zeros(&t, TSR_F32, TSR_SHAPE(2)));
    BAD(TSR_EBUSY, tsr_set_allocator(NULL));
    tsr_release(&t);
    tsr_set_alloc_hook(NULL, NULL);

    BAD(TSR_ENULL, tsr_arena_init(NULL, block, sizeof block));
    BAD(TSR_ENULL, tsr_arena_init(&arena, NULL, sizeof block));
    BAD(TSR_EINVAL, tsr_arena_init(&arena, block, 0));
    BAD(TSR_EINVAL, tsr_arena_init(&arena, block, 64));
    BAD(TSR_EINVAL, tsr_arena_init(&arena, block + 1, 128));
    EXPECT_OK(tsr_arena_init(&arena, block, sizeof block));
    EXPECT(tsr_arena_alloc(NULL, 1, 64) == NULL);
    EXPECT(tsr_arena_alloc(&arena, SIZE_MAX, 64) == NULL);
    EXPECT(tsr_arena_alloc(&arena, SIZE_MAX - 63, 64) == NULL);
    EXPECT(tsr_arena_alloc(&arena, sizeof block, 64) == NULL);
    EXPECT(tsr_arena_alloc(&arena, 1, (size_t)1 << 63) == NULL);
    tsr_arena_free(NULL, block, 1);
    tsr_arena_free(&arena, NULL, 1);
    void *p = tsr_arena_alloc(&arena, 0, 0);
    EXPECT(p && (uintptr_t)p % 64 == 0);
    tsr_arena_free(&arena, p, 0);
    EXPECT(arena.used == 0);
}

/* tensor.h --------------------------------------------------------------------------- */

#define BAD_SHAPES(call)                                                              \
    do {                                                                              \
        int ndim = 2;                                                                 \
        tsr_dtype dtype = TSR_F32;                                                    \
        const int64_t *shape = NULL;                                                  \
        BAD_OUT(TSR_ENULL, call);                                                     \
        shape = (const int64_t[]){ 2, -3 };                                           \
        BAD_OUT(TSR_ESHAPE, call);                                                    \
        shape = (const int64_t[]){ INT64_MAX, INT64_MAX };                            \
        BAD_OUT(TSR_EOVERFLOW, call);                                                 \
        shape = ones_17;                                                              \
        EACH(i_, bad_ranks) {                                                         \
            ndim = bad_ranks[i_];                                                     \
            BAD_OUT(TSR_EINVAL, call);                                                \
        }                                                                             \
        ndim = 1;                                                                     \
        EACH(i_, bad_dtype_numbers) {                                                 \
            dtype = DTYPE(i_);                                                        \
            BAD_OUT(TSR_EDTYPE, call);                                                \
        }                                                                             \
    } while (0)

TEST(test_bad_input_to_factories)
{
    const int64_t shape_23[] = { 2, 3 };
    const tsr_scalar one = tsr_scalar_i64(1);
    set_up();
    BAD_SHAPES(tsr_empty(&out, dtype, ndim, shape));
    BAD_SHAPES(tsr_zeros(&out, dtype, ndim, shape));
    BAD_SHAPES(tsr_ones(&out, dtype, ndim, shape));
    BAD_SHAPES(tsr_full(&out, dtype, ndim, shape, one));
    BAD_SHAPES(tsr_from_data(&out, dtype, ndim, shape, six));
    BAD_SHAPES(tsr_uniform(&out, dtype, ndim, shape, 0, 1, 0));
    BAD_SHAPES(tsr_randn(&out, dtype, ndim, shape, 0));
    BAD(TSR_ENULL, tsr_empty(NULL, TSR_F32, 2, shape_23));
    BAD(TSR_ENULL, tsr_zeros(NULL, TSR_F32, 2, shape_23));
    BAD(TSR_ENULL, tsr_ones(NULL, TSR_F32, 2, shape_23));
    BAD(TSR_ENULL, tsr_full(NULL, TSR_F32, 2, shape_23, one));
    BAD(TSR_ENULL, tsr_from_data(NULL, TSR_F32, 2, shape_23, six));
    BAD_OUT(TSR_ENULL, tsr_from_data(&out, TSR_F32, 2, shape_23, NULL));
    BAD_OUT(TSR_EDTYPE, tsr_full(&out, TSR_F32, 2, shape_23, bad_scalar));

    /* A result that does not fit, or cannot be written. */
    tsr_tensor *out = held;
    BAD(TSR_EDTYPE, tsr_zeros(&out, TSR_F64, 2, shape_23));
    BAD(TSR_ESHAPE, tsr_zeros(&out, TSR_F32, 1, shape_23));
    BAD(TSR_ESHAPE, tsr_eye(&out, TSR_F32, 3, 2, 0));
    BAD(TSR_ESHAPE, tsr_linspace(&out, TSR_F32, one, one, 6, true));
    BAD(TSR_ESHAPE, tsr_arange(&out, TSR_F32, tsr_scalar_i64(0), tsr_scalar_i64(6), one));
    EXPECT(held_is_whole(out));
    out = constant;
    BAD(TSR_EREADONLY, tsr_zeros(&out, TSR_F32, 2, shape_23));
    BAD(TSR_EREADONLY, tsr_empty(&out, TSR_F32, 2, shape_23));
    out = repeated;
    BAD(TSR_EOVERLAP, tsr_ones(&out, TSR_F32, 2, shape_23));
    EXPECT(out == repeated);
    tear_down();
}

TEST(test_bad_input_to_progressions)
{
    const tsr_scalar zero = tsr_scalar_i64(0), one = tsr_scalar_i64(1), nan = tsr_scalar_f64(NAN);
    const tsr_scalar most = tsr_scalar_i64(INT64_MAX), least = tsr_scalar_i64(INT64_MIN),
                     im = tsr_scalar_c128(0, 1);
    set_up();
    BAD(TSR_ENULL, tsr_eye(NULL, TSR_F32, 2, 2, 0));
    BAD_OUT(TSR_ESHAPE, tsr_eye(&out, TSR_F32, -1, 2, 0));
    BAD_OUT(TSR_ESHAPE, tsr_eye(&out, TSR_F32, 2, INT64_MIN, 0));
    BAD_OUT(TSR_EOVERFLOW, tsr_eye(&out, TSR_F32, INT64_MAX, INT64_MAX, 0));
    BAD(TSR_ENULL, tsr_arange(NULL, TSR_F32, zero, one, one));
    BAD_OUT(TSR_EINVAL, tsr_arange(&out, TSR_F32, zero, one, zero));
    BAD_OUT(TSR_EINVAL, tsr_arange(&out, TSR_F32, zero, one, tsr_scalar_f64(0)));
    BAD_OUT(TSR_EINVAL, tsr_arange(&out, TSR_F32, nan, one, one));
    BAD_OUT(TSR_EINVAL, tsr_arange(&out, TSR_F32, zero, tsr_scalar_f64(INFINITY), one));
    BAD_OUT(TSR_EINVAL, tsr_arange(&out, TSR_F32, zero, one, nan));
    BAD_OUT(TSR_EDTYPE, tsr_arange(&out, TSR_F32, im, one, one));
    BAD_OUT(TSR_EDTYPE, tsr_arange(&out, TSR_BOOL, zero, one, one));
    BAD_OUT(TSR_EDTYPE, tsr_arange(&out, TSR_C64, zero, one, one));
    BAD_OUT(TSR_EOVERFLOW, tsr_arange(&out, TSR_I64, least, most, one));
    BAD_OUT(TSR_EOVERFLOW, tsr_arange(&out, TSR_F32, zero, tsr_scalar_f64(1e300), tsr_scalar_f64(1e-300)));
    BAD_OUT(TSR_EOVERFLOW, tsr_arange(&out, TSR_I64, zero, most, one));
    BAD(TSR_ENULL, tsr_linspace(NULL, TSR_F32, zero, one, 3, true));
    BAD_OUT(TSR_EINVAL, tsr_linspace(&out, TSR_F32, zero, one, -1, true));
    BAD_OUT(TSR_EINVAL, tsr_linspace(&out, TSR_F32, zero, one, INT64_MIN, false));
    BAD_OUT(TSR_EOVERFLOW, tsr_linspace(&out, TSR_F32, zero, one, INT64_MAX, true));
    BAD_OUT(TSR_EDTYPE, tsr_linspace(&out, TSR_I32, zero, one, 3, true));
    BAD_OUT(TSR_EDTYPE, tsr_linspace(&out, TSR_F32, zero, im, 3, true));
    EACH(i, bad_dtype_numbers) {
        BAD_OUT(TSR_EDTYPE, tsr_eye(&out, DTYPE(i), 2, 2, 0));
        BAD_OUT(TSR_EDTYPE, tsr_arange(&out, DTYPE(i), zero, one, one));
        BAD_OUT(TSR_EDTYPE, tsr_linspace(&out, DTYPE(i), zero, one, 3, true));
    }
    tsr_tensor *out = NULL;
    EXPECT_OK(tsr_eye(&out, TSR_F32, 2, 3, INT64_MIN));
    EXPECT_OK(tsr_eye(&out, TSR_F32, 2, 3, INT64_MAX));
    tsr_release(&out);
    tear_down();
}

TEST(test_bad_input_to_owning_and_likes)
{
    const tsr_scalar one = tsr_scalar_i64(1);
    tsr_tensor *nothing = NULL;
    set_up();
    EXPECT(tsr_retain(NULL) == NULL);
    tsr_release(NULL);
    tsr_release_each(1, NULL);
    tsr_scope_begin(NULL);
    tsr_scope_end(NULL);
    EXPECT(tsr_scope_keep(NULL) == NULL);
    BAD(TSR_ENULL, TSR_REPLACE(NULL, tsr_clone, good));
    BAD(TSR_EINVAL, tsr_replace(&nothing, TSR_OK));
    EXPECT(tsr_replacement() && !*tsr_replacement());
    tsr_release(&nothing);
    for (int i = 0; i < 2; i++) {  /* a described tensor is good enough to be like */
        BAD_OUT(bad_tensors[i].want, tsr_clone(&out, bad_tensors[i].t));
        BAD_OUT(bad_tensors[i].want, tsr_empty_like(&out, bad_tensors[i].t));
        BAD_OUT(bad_tensors[i].want, tsr_zeros_like(&out, bad_tensors[i].t));
        BAD_OUT(bad_tensors[i].want, tsr_ones_like(&out, bad_tensors[i].t));
        BAD_OUT(bad_tensors[i].want, tsr_full_like(&out, bad_tensors[i].t, one));
        BAD(bad_tensors[i].want, tsr_alloc(bad_tensors[i].t));
    }
    BAD_OUT(TSR_EDTYPE, tsr_full_like(&out, good, bad_scalar));
    BAD(TSR_ENULL, tsr_clone(NULL, good));
    BAD(TSR_ENULL, tsr_empty_like(NULL, good));
    BAD(TSR_ENULL, tsr_zeros_like(NULL, good));
    BAD(TSR_ENULL, tsr_ones_like(NULL, good));
    BAD(TSR_ENULL, tsr_full_like(NULL, good, one));
    tsr_tensor *out = held;
    BAD(TSR_EDTYPE, tsr_clone(&out, integers));
    BAD(TSR_EDTYPE, tsr_zeros_like(&out, complex64));
    BAD(TSR_ESTATE, tsr_clone(&out, described));
    EXPECT(held_is_whole(out));
    tear_down();
}

TEST(test_bad_input_to_foreign_memory)
{
    float data[6] = { 0 };
    tsr_storage *s = NULL;
    set_up();
    EACH(i, bad_descs) {
        const tsr_desc *d = &bad_descs[i].desc;
        const tsr_status want = bad_descs[i].want;
        tsr_tensor place = { .count = 77 };
        BAD_OUT(want, tsr_declare(&out, d, TSR_CPU, TSR_MEMORY_HOST));
        BAD_OUT(want, tsr_wrap(&out, data, d));
        BAD_OUT(want, tsr_wrap_const(&out, data, d));
        BAD_OUT(want, tsr_adopt(&out, data, d, no_deleter, NULL));
        BAD_OUT(want, tsr_from_storage(&out, good->storage, 0, d));
        BAD(want, tsr_place(&place, data, d));
        EXPECT(place.count == 77);
    }
    EACH(i, bad_devices) BAD_OUT(TSR_EDEVICE, tsr_declare(&out, &matrix, bad_devices[i], TSR_MEMORY_HOST));
    EACH(i, bad_memories) BAD_OUT(TSR_EINVAL, tsr_declare(&out, &matrix, TSR_CPU, bad_memories[i]));
    BAD(TSR_ENULL, tsr_declare(NULL, &matrix, TSR_CPU, TSR_MEMORY_HOST));
    BAD_OUT(TSR_ENULL, tsr_declare(&out, NULL, TSR_CPU, TSR_MEMORY_HOST));
    BAD(TSR_ENULL, tsr_wrap(NULL, data, &matrix));
    BAD_OUT(TSR_ENULL, tsr_wrap(&out, NULL, &matrix));
    BAD_OUT(TSR_ENULL, tsr_wrap(&out, data, NULL));
    BAD_OUT(TSR_EINVAL, tsr_wrap(&out, (char *)data + 1, &matrix));
    BAD(TSR_ENULL, tsr_wrap_const(NULL, data, &matrix));
    BAD_OUT(TSR_ENULL, tsr_wrap_const(&out, NULL, &matrix));
    BAD_OUT(TSR_ENULL, tsr_wrap_const(&out, data, NULL));
    BAD_OUT(TSR_EINVAL, tsr_wrap_const(&out, (char *)data + 2, &matrix));
    BAD(TSR_ENULL, tsr_adopt(NULL, data, &matrix, no_deleter, NULL));
    BAD_OUT(TSR_ENULL, tsr_adopt(&out, NULL, &matrix, no_deleter, NULL));
    BAD_OUT(TSR_ENULL, tsr_adopt(&out, data, NULL, no_deleter, NULL));
    BAD_OUT(TSR_ENULL, tsr_adopt(&out, data, &matrix, NULL, NULL));
    BAD(TSR_ENULL, tsr_place(NULL, data, &matrix));
    BAD(TSR_ENULL, tsr_place(&(tsr_tensor){ 0 }, NULL, &matrix));
    BAD(TSR_ENULL, tsr_place(&(tsr_tensor){ 0 }, data, NULL));
    EXPECT(tsr_place_none(NULL) == NULL);

    EXPECT_OK(tsr_storage_borrow(&s, data, sizeof data, TSR_CPU, TSR_MEMORY_HOST));
    BAD(TSR_ENULL, tsr_from_storage(NULL, s, 0, &matrix));
    BAD_OUT(TSR_ENULL, tsr_from_storage(&out, NULL, 0, &matrix));
    BAD_OUT(TSR_ENULL, tsr_from_storage(&out, s, 0, NULL));
    BAD_OUT(TSR_EBOUNDS, tsr_from_storage(&out, s, 4, &matrix));
    BAD_OUT(TSR_EBOUNDS, tsr_from_storage(&out, s, SIZE_MAX, &matrix));
    tsr_desc one;
    EXPECT_OK(tsr_desc_init(&one, TSR_F32, TSR_SHAPE(2), (const int64_t[]){ -1 }));
    BAD_OUT(TSR_EBOUNDS, tsr_from_storage(&out, s, 0, &one));
    BAD_OUT(TSR_EINVAL, tsr_from_storage(&out, s, 6, &one));
    tsr_storage_release(&s);
    tear_down();
}

TEST(test_bad_input_to_tensor_queries)
{
    int64_t n = 7;
    tsr_matrix m = { .ld = 7 };
    set_up();
    for (int i = 0; i < 2; i++) {
        tsr_tensor *t = bad_tensors[i].t;
        EXPECT(tsr_is_none(t) && !tsr_is_allocated(t) && tsr_desc_of(t) == NULL);
        EXPECT(tsr_numel(t) == 0 && tsr_byte_size(t) == 0 && !tsr_is_scalar(t) && !tsr_is_contiguous(t));
        EXPECT(!tsr_is_view(t) && !tsr_is_borrowed(t) && !tsr_is_readonly(t) && !tsr_is_host(t) &&
               !tsr_is_matrix(t));
        EXPECT(tsr_device_of(t) == TSR_CPU && tsr_memory_of(t) == TSR_MEMORY_HOST);
        EXPECT(tsr_batch(t) == 0 && tsr_channels(t) == 0 && tsr_height(t) == 0);
        EXPECT(tsr_width(t) == 0 && tsr_rows(t) == 0 && tsr_cols(t) == 0);
        EXPECT(!tsr_may_overlap(t, good) && !tsr_may_overlap(good, t) && !tsr_self_overlaps(t));
        EXPECT(!tsr_same_desc(t, good) && !tsr_same_shape(good, t) && !tsr_identical(t, t));
        tsr_set_name(t, "name");
        BAD(bad_tensors[i].want, tsr_check(t));
        BAD(bad_tensors[i].want, tsr_dim(&n, t, 0));
    }
    EXPECT(!tsr_may_overlap(described, good) && !tsr_self_overlaps(described) &&
           !tsr_identical(described, described));
    tsr_set_name(described, "name");
    tsr_set_name(good, NULL);
    BAD(TSR_ENULL, tsr_dim(NULL, good, 0));
    EACH(i, bad_axes) BAD(TSR_EINDEX, tsr_dim(&n, good, bad_axes[i]));
    BAD(TSR_ENULL, tsr_as_matrix(NULL, good));
    EACH(i, bad_tensors) BAD(bad_tensors[i].want, tsr_as_matrix(&m, bad_tensors[i].t));
    BAD(TSR_ESTRIDE, tsr_as_matrix(&m, repeated));
    EXPECT(n == 7 && m.ld == 7);
    tear_down();
}

/* What tsr_check is for: a struct that something else wrote to. */
TEST(test_bad_input_check_names_a_corrupt_tensor)
{
    float data[8] = { 0 };
    tsr_tensor t;
    set_up();
    EXPECT_OK(tsr_place(&t, data, &matrix));
    EXPECT_OK(tsr_check(&t));
    EACH(i, bad_descs) {
        tsr_tensor corrupt = t;
        corrupt.desc = bad_descs[i].desc;
        if (tsr_is_none(&corrupt)) continue;
        BAD(bad_descs[i].want, tsr_check(&corrupt));
        EXPECT(tsr_numel(&corrupt) == 0 || bad_descs[i].want == TSR_EOVERFLOW);
        (void)tsr_batch(&corrupt), (void)tsr_channels(&corrupt);
        (void)tsr_height(&corrupt), (void)tsr_width(&corrupt);
    }
    tsr_tensor corrupt = t;
    corrupt.device = NO_DEVICE;
    BAD(TSR_EDEVICE, tsr_check(&corrupt));
    corrupt = t, corrupt.memory = NO_MEMORY;
    BAD(TSR_EINVAL, tsr_check(&corrupt));
    corrupt = t, corrupt.data = (char *)data + 1;
    BAD(TSR_EINVAL, tsr_check(&corrupt));
    corrupt = t, corrupt.count = 0;
    BAD(TSR_EINVAL, tsr_check(&corrupt));
    corrupt = *good, corrupt.data = data;
    BAD(TSR_EBOUNDS, tsr_check(&corrupt));
    corrupt = *good, corrupt.shape[0] = 3;
    BAD(TSR_EBOUNDS, tsr_check(&corrupt));
    tear_down();
}

/* view.h ----------------------------------------------------------------------------- */

/* The call fails for a NULL result, and for each tensor that cannot be viewed. */
#define BAD_VIEW(call)                                                                \
    do {                                                                              \
        const tsr_tensor *t = good;                                                   \
        do {                                                                          \
            tsr_tensor **to = NULL;                                                   \
            BAD(TSR_ENULL, call);                                                     \
        } while (0);                                                                  \
        EACH(i_, bad_tensors) {                                                       \
            t = bad_tensors[i_].t;                                                    \
            BAD_OUT_TO(bad_tensors[i_].want, call);                                   \
        }                                                                             \
    } while (0)
#define BAD_OUT_TO(want, call)                                                        \
    do {                                                                              \
        tsr_tensor *out_ = held, **to = &out_;                                        \
        BAD(want, call);                                                              \
        EXPECT(held_is_whole(out_));                                                  \
    } while (0)

TEST(test_bad_input_to_views)
{
    const int64_t six_1[] = { 6 }, stride[] = { 1 }, ones[] = { 1, 1 };
    const int swap[] = { 1, 0 };
    set_up();
    BAD_VIEW(tsr_view(to, t, 1, six_1));
    BAD_VIEW(tsr_reshape(to, t, 1, six_1));
    BAD_VIEW(tsr_contiguous(to, t));
    BAD_VIEW(tsr_slice(to, t, 0, 0, 1, 1));
    BAD_VIEW(tsr_select(to, t, 0, 0));
    BAD_VIEW(tsr_at_prefix(to, t, 1, ones));
    BAD_VIEW(tsr_permute(to, t, 2, swap));
    BAD_VIEW(tsr_transpose(to, t, 0, 1));
    BAD_VIEW(tsr_move_axis(to, t, 0, 1));
    BAD_VIEW(tsr_expand(to, t, 2, (const int64_t[]){ 2, 3 }));
    BAD_VIEW(tsr_squeeze(to, t, 0));
    BAD_VIEW(tsr_squeeze_all(to, t));
    BAD_VIEW(tsr_unsqueeze(to, t, 0));
    BAD_VIEW(tsr_flip(to, t, 0, NULL));
    BAD_VIEW(tsr_diagonal(to, t, 0, 0, 1));
    BAD_VIEW(tsr_unfold(to, t, 0, 1, 1));
    BAD_VIEW(tsr_merge_dims(to, t, 0, 2));
    BAD_VIEW(tsr_split_dim(to, t, 1, 2, (const int64_t[]){ 1, 3 }));
    BAD_VIEW(tsr_as_strided(to, t, 1, six_1, stride, 0));
    BAD_VIEW(tsr_view_real(to, t));
    BAD_VIEW(tsr_view_imag(to, t));
    BAD_VIEW(tsr_bit_view(to, t, TSR_I32));
    BAD_VIEW(tsr_split(to, t, 0, 2, ones));
    BAD_VIEW(tsr_unstack(to, t, 0, 2));
    tear_down();
}

TEST(test_bad_input_to_view_shapes)
{
    const int64_t shape[] = { 2, 3 };
    set_up();
    EACH(i, bad_ranks) {
        const int n = bad_ranks[i];
        BAD_OUT(TSR_EINVAL, tsr_view(&out, good, n, ones_17));
        BAD_OUT(TSR_EINVAL, tsr_reshape(&out, good, n, ones_17));
        BAD_OUT(TSR_EINVAL, tsr_expand(&out, good, n, ones_17));
        BAD_OUT(TSR_EINVAL, tsr_as_strided(&out, good, n, ones_17, ones_17, 0));
        BAD_OUT(TSR_EINVAL, tsr_permute(&out, good, n, axes_17));
        BAD_OUT(TSR_EINVAL, tsr_flip(&out, good, n, axes_17));
        BAD_OUT(TSR_EINVAL, tsr_split_dim(&out, good, 0, n, ones_17));
        BAD_OUT(TSR_EINVAL, tsr_at_prefix(&out, good, n, ones_17));
    }
    BAD_OUT(TSR_ENULL, tsr_view(&out, good, 1, NULL));
    BAD_OUT(TSR_ENULL, tsr_reshape(&out, good, 1, NULL));
    BAD_OUT(TSR_ENULL, tsr_expand(&out, good, 2, NULL));
    BAD_OUT(TSR_ENULL, tsr_as_strided(&out, good, 2, NULL, shape, 0));
    BAD_OUT(TSR_ENULL, tsr_as_strided(&out, good, 2, shape, NULL, 0));
    BAD_OUT(TSR_ENULL, tsr_permute(&out, good, 2, NULL));
    BAD_OUT(TSR_ENULL, tsr_flip(&out, good, 1, NULL));
    BAD_OUT(TSR_ENULL, tsr_split_dim(&out, good, 0, 1, NULL));
    BAD_OUT(TSR_ENULL, tsr_at_prefix(&out, good, 1, NULL));
    BAD_OUT(TSR_ESHAPE, tsr_at_prefix(&out, good, 3, ones_17));

    const int64_t bad[] = { -2, INT64_MIN, INT64_MAX, 5, 0 };
    EACH(i, bad) {
        BAD_OUT(TSR_ESHAPE, tsr_view(&out, good, TSR_SHAPE(bad[i])));
        BAD_OUT(TSR_ESHAPE, tsr_reshape(&out, good, TSR_SHAPE(bad[i], 1)));
        BAD_OUT(TSR_ESHAPE, tsr_expand(&out, good, TSR_SHAPE(bad[i], 3)));
        BAD_OUT(TSR_ESHAPE, tsr_split_dim(&out, good, 1, 2, (const int64_t[]){ bad[i], 1 }));
    }
    BAD_OUT(TSR_ESHAPE, tsr_view(&out, good, TSR_SHAPE(INT64_MAX, 2, -1)));
    BAD_OUT(TSR_EINVAL, tsr_view(&out, good, TSR_SHAPE(-1, -1)));
    BAD_OUT(TSR_EINVAL, tsr_reshape(&out, good, TSR_SHAPE(-1, -1)));
    BAD_OUT(TSR_ESHAPE, tsr_expand(&out, good, TSR_SHAPE(3)));
    BAD_OUT(TSR_ESHAPE, tsr_expand(&out, good, TSR_SHAPE(-1, 2, 3)));
    BAD_OUT(TSR_EOVERFLOW, tsr_expand(&out, good, TSR_SHAPE(INT64_MAX, 2, 3)));
    BAD_OUT(TSR_ESTRIDE, tsr_view(&out, repeated, TSR_SHAPE(6)));
    BAD_OUT(TSR_EBOUNDS, tsr_as_strided(&out, good, TSR_SHAPE(7), (const int64_t[]){ 1 }, 0));
    BAD_OUT(TSR_EBOUNDS, tsr_as_strided(&out, good, TSR_SHAPE(1), (const int64_t[]){ 1 }, -1));
    BAD_OUT(TSR_EBOUNDS, tsr_as_strided(&out, good, TSR_SHAPE(1), (const int64_t[]){ 1 }, INT64_MAX));
    BAD_OUT(TSR_EBOUNDS, tsr_as_strided(&out, good, TSR_SHAPE(1), (const int64_t[]){ 1 }, INT64_MIN));
    BAD_OUT(TSR_EBOUNDS, tsr_as_strided(&out, good, TSR_SHAPE(2), (const int64_t[]){ INT64_MAX / 8 }, 0));
    BAD_OUT(TSR_EOVERFLOW, tsr_as_strided(&out, good, TSR_SHAPE(3), (const int64_t[]){ INT64_MIN }, 0));
    BAD_OUT(TSR_ESHAPE, tsr_as_strided(&out, good, TSR_SHAPE(-1), (const int64_t[]){ 1 }, 0));
    tear_down();
}

TEST(test_bad_input_to_view_axes)
{
    tsr_tensor *outs[3] = { NULL, NULL, NULL };
    const int64_t ones[] = { 1, 1 };
    set_up();
    EACH(i, bad_axes) {
        const int axis = bad_axes[i];
        BAD_OUT(TSR_EINDEX, tsr_slice(&out, good, axis, 0, 1, 1));
        BAD_OUT(TSR_EINDEX, tsr_select(&out, good, axis, 0));
        BAD_OUT(TSR_EINDEX, tsr_transpose(&out, good, axis, 0));
        BAD_OUT(TSR_EINDEX, tsr_transpose(&out, good, 0, axis));
        BAD_OUT(TSR_EINDEX, tsr_move_axis(&out, good, axis, 0));
        BAD_OUT(TSR_EINDEX, tsr_move_axis(&out, good, 0, axis));
        BAD_OUT(TSR_EINDEX, tsr_squeeze(&out, good, axis));
        BAD_OUT(TSR_EINDEX, tsr_flip(&out, good, 1, &axis));
        BAD_OUT(TSR_EINDEX, tsr_permute(&out, good, TSR_AXES(0, axis)));
        BAD_OUT(TSR_EINDEX, tsr_diagonal(&out, good, 0, axis, 0));
        BAD_OUT(TSR_EINDEX, tsr_diagonal(&out, good, 0, 0, axis));
        BAD_OUT(TSR_EINDEX, tsr_unfold(&out, good, axis, 1, 1));
        BAD_OUT(TSR_EINDEX, tsr_merge_dims(&out, good, axis, 1));
        BAD_OUT(TSR_EINDEX, tsr_split_dim(&out, good, axis, 2, ones));
        BAD(TSR_EINDEX, tsr_split(outs, good, axis, 2, ones));
        BAD(TSR_EINDEX, tsr_unstack(outs, good, axis, 2));
        if (axis != 2 && axis != -3) BAD_OUT(TSR_EINDEX, tsr_unsqueeze(&out, good, axis));
    }
    BAD_OUT(TSR_EINVAL, tsr_permute(&out, good, TSR_AXES(0, 0)));
    BAD_OUT(TSR_EINVAL, tsr_permute(&out, good, TSR_AXES(0, -2)));
    BAD_OUT(TSR_EINVAL, tsr_permute(&out, good, TSR_AXES(0)));
    BAD_OUT(TSR_EINVAL, tsr_flip(&out, good, TSR_AXES(1, -1)));
    BAD_OUT(TSR_EINVAL, tsr_diagonal(&out, good, 0, 1, -1));
    BAD_OUT(TSR_ESHAPE, tsr_squeeze(&out, good, 0));
    const int counts[] = { 0, -1, 3, INT_MAX, INT_MIN };
    EACH(i, counts) BAD_OUT(TSR_EINDEX, tsr_merge_dims(&out, good, 0, counts[i]));
    BAD_OUT(TSR_EINDEX, tsr_merge_dims(&out, good, 1, INT_MAX));
    BAD_OUT(TSR_ESTRIDE, tsr_merge_dims(&out, repeated, 0, 2));
    EXPECT(!outs[0] && !outs[1]);

    tsr_tensor *deep = NULL;
    EXPECT_OK(tsr_zeros(&deep, TSR_F32, TSR_MAX_NDIM, ones_17));
    BAD_OUT(TSR_EINVAL, tsr_unsqueeze(&out, deep, 0));
    BAD_OUT(TSR_EINVAL, tsr_unfold(&out, deep, 0, 1, 1));
    BAD_OUT(TSR_EINVAL, tsr_split_dim(&out, deep, 0, 2, ones));
    BAD_OUT(TSR_EINVAL, tsr_stack(&out, 1, (const tsr_tensor *const[]){ deep }, 0));
    tsr_release(&deep);
    tear_down();
}

TEST(test_bad_input_to_view_ranges)
{
    const int64_t bad[] = { 4, -4, INT64_MAX, INT64_MIN + 1 };
    tsr_tensor *outs[3] = { NULL, NULL, NULL };
    set_up();
    EACH(i, bad) {
        BAD_OUT(TSR_EINDEX, tsr_slice(&out, good, 1, bad[i], 3, 1));
        BAD_OUT(TSR_EINDEX, tsr_slice(&out, good, 1, 0, bad[i], 1));
        BAD_OUT(TSR_EINDEX, tsr_slice(&out, good, 1, bad[i], 0, -1));
        BAD_OUT(TSR_EINDEX, tsr_slice(&out, good, 1, 2, bad[i], -1));
        BAD_OUT(TSR_EINDEX, tsr_select(&out, good, 1, bad[i]));
        BAD_OUT(TSR_EINDEX, tsr_at_prefix(&out, good, TSR_INDEX(0, bad[i])));
        BAD_OUT(TSR_ESHAPE, tsr_unfold(&out, good, 1, bad[i], 1));
    }
    BAD_OUT(TSR_EINDEX, tsr_select(&out, good, 1, INT64_MIN));
    BAD_OUT(TSR_EINDEX, tsr_slice(&out, good, 1, 2, 1, 1));
    BAD_OUT(TSR_EINDEX, tsr_slice(&out, good, 1, 1, 2, -1));
    BAD_OUT(TSR_EINVAL, tsr_slice(&out, good, 1, 0, 1, 0));
    BAD_OUT(TSR_ESHAPE, tsr_unfold(&out, good, 1, 0, 1));
    BAD_OUT(TSR_EINVAL, tsr_unfold(&out, good, 1, 1, 0));
    BAD_OUT(TSR_EINVAL, tsr_unfold(&out, good, 1, 1, INT64_MIN));
    tsr_tensor *v = NULL;
    EXPECT_OK(tsr_slice(&v, good, 1, TSR_NONE, TSR_NONE, INT64_MAX));
    EXPECT_OK(tsr_slice(&v, good, 1, TSR_NONE, TSR_NONE, INT64_MIN));
    EXPECT(v && v->shape[1] == 1);
    EXPECT_OK(tsr_unfold(&v, good, 1, 1, INT64_MAX));
    EXPECT_OK(tsr_diagonal(&v, good, INT64_MIN, 0, 1));
    EXPECT_OK(tsr_diagonal(&v, good, INT64_MAX, 0, 1));
    EXPECT(v && tsr_numel(v) == 0);
    tsr_release(&v);

    BAD(TSR_ENULL, tsr_split(outs, good, 1, 2, NULL));
    BAD(TSR_EINVAL, tsr_split(outs, good, 1, 0, ones_17));
    BAD(TSR_EINVAL, tsr_split(outs, good, 1, INT_MIN, ones_17));
    BAD(TSR_ESHAPE, tsr_split(outs, good, 1, 2, ones_17));
    BAD(TSR_ESHAPE, tsr_split(outs, good, 1, 2, (const int64_t[]){ -1, 4 }));
    BAD(TSR_ESHAPE, tsr_split(outs, good, 1, 2, (const int64_t[]){ INT64_MAX, INT64_MIN }));
    BAD(TSR_ESHAPE, tsr_split(outs, good, 1, 3, (const int64_t[]){ 2, INT64_MAX, 2 }));
    const int counts[] = { 2, 4, 0, -1, INT_MAX, INT_MIN };
    EACH(i, counts) BAD(TSR_ESHAPE, tsr_unstack(outs, good, 1, counts[i]));
    EXPECT(!outs[0] && !outs[1] && !outs[2]);
    tear_down();
}

TEST(test_bad_input_to_view_dtypes)
{
    tsr_tensor *bytes = NULL, *odd = NULL;
    set_up();
    BAD_OUT(TSR_EDTYPE, tsr_view_imag(&out, good));
    EACH(i, bad_dtype_numbers) BAD_OUT(TSR_EDTYPE, tsr_bit_view(&out, good, DTYPE(i)));
    BAD_OUT(TSR_EDTYPE, tsr_bit_view(&out, good, TSR_BOOL));
    BAD_OUT(TSR_ESHAPE, tsr_bit_view(&out, good, TSR_F64));
    EXPECT_OK(tsr_zeros(&bytes, TSR_U8, TSR_SHAPE(9)));
    EXPECT_OK(tsr_slice(&odd, bytes, 0, 1, 9, 1));
    BAD_OUT(TSR_EINVAL, tsr_bit_view(&out, odd, TSR_F32));
    EXPECT_OK(tsr_slice(&odd, bytes, 0, 0, 8, 2));
    BAD_OUT(TSR_ESTRIDE, tsr_bit_view(&out, odd, TSR_F32));
    EXPECT_OK(tsr_select(&odd, bytes, 0, 0));
    BAD_OUT(TSR_ESHAPE, tsr_bit_view(&out, odd, TSR_F32));
    tsr_release_all(&odd, &bytes);
    tear_down();
}

/* element.h -------------------------------------------------------------------------- */

/* Wrong dtype, tensor, indices and result for one pair of functions; t is of the dtype. */
#define ELEMENT(ID, suffix, T)                                                                     \
    static void check_element_##suffix(void)                                                       \
    {                                                                                              \
        tsr_tensor *t = NULL, *other = TSR_##ID == TSR_F32 ? integers : good;                      \
        T value;                                                                                   \
        memset(&value, 0, sizeof value);                                                           \
        EXPECT_OK(tsr_zeros(&t, TSR_##ID, TSR_SHAPE(2, 3)));                                       \
        BAD(TSR_ENULL, tsr_get_##suffix(NULL, t, TSR_INDEX(0, 0)));                                \
        BAD(TSR_EDTYPE, tsr_get_##suffix(&value, other, TSR_INDEX(0, 0)));                         \
        BAD(TSR_EDTYPE, tsr_set_##suffix(other, TSR_INDEX(0, 0), value));                          \
        for (int i = 0; i < 2; i++) {                                                              \
            BAD(bad_tensors[i].want, tsr_get_##suffix(&value, bad_tensors[i].t, TSR_INDEX(0, 0))); \
            BAD(bad_tensors[i].want, tsr_set_##suffix(bad_tensors[i].t, TSR_INDEX(0, 0), value));  \
        }                                                                                          \
        EACH(i, bad_indices) {                                                                     \
            BAD(TSR_EINDEX, tsr_get_##suffix(&value, t, 2, bad_indices[i]));                       \
            BAD(TSR_EINDEX, tsr_set_##suffix(t, 2, bad_indices[i], value));                        \
        }                                                                                          \
        EACH(i, bad_counts) {                                                                      \
            BAD(TSR_ESHAPE, tsr_get_##suffix(&value, t, bad_counts[i], ones_17));                  \
            BAD(TSR_ESHAPE, tsr_set_##suffix(t, bad_counts[i], ones_17, value));                   \
        }                                                                                          \
        BAD(TSR_ENULL, tsr_get_##suffix(&value, t, 2, NULL));                                      \
        BAD(TSR_ENULL, tsr_set_##suffix(t, 2, NULL, value));                                       \
        tsr_release(&t);                                                                           \
    }

static const int64_t bad_indices[][2] = { { 2, 0 },  { 0, 3 },         { -3, 0 },
                                          { 0, -4 }, { INT64_MAX, 0 }, { 0, INT64_MIN } };
static const int bad_counts[] = { 0, 1, 3, -1, INT_MAX, INT_MIN, RANK_TOO_HIGH };

ELEMENT(BOOL, bool, bool)
ELEMENT(I8, i8, int8_t)
ELEMENT(I16, i16, int16_t)
ELEMENT(I32, i32, int32_t)
ELEMENT(I64, i64, int64_t)
ELEMENT(U8, u8, uint8_t)
ELEMENT(U16, u16, uint16_t)
ELEMENT(U32, u32, uint32_t)
ELEMENT(U64, u64, uint64_t)
ELEMENT(F8E4M3, f8e4m3, uint8_t)
ELEMENT(F8E5M2, f8e5m2, uint8_t)
ELEMENT(F16, f16, uint16_t)
ELEMENT(BF16, bf16, uint16_t)
ELEMENT(F32, f32, float)
ELEMENT(F64, f64, double)
ELEMENT(C32, c32, tsr_c32)
ELEMENT(C64, c64, tsr_c64)
ELEMENT(C128, c128, tsr_c128)

TEST(test_bad_input_to_elements_by_dtype)
{
    set_up();
#define X(ID, suffix, S, kind, name) check_element_##suffix();
#include "tessera/dtype.def"
#undef X
    float value = 7;
    BAD(TSR_ESTATE, tsr_get_f32(&value, described, TSR_INDEX(0, 0)));
    BAD(TSR_EDEVICE, tsr_get_f32(&value, hidden, TSR_INDEX(0, 0)));
    BAD(TSR_EDEVICE, tsr_set_f32(hidden, TSR_INDEX(0, 0), 1));
    BAD(TSR_EREADONLY, tsr_set_f32(constant, TSR_INDEX(0, 0), 1));
    BAD(TSR_EOVERLAP, tsr_set_f32(repeated, TSR_INDEX(0, 0), 1));
    EXPECT(value == 7);
    tear_down();
}

TEST(test_bad_input_to_elements)
{
    tsr_scalar s = tsr_scalar_i64(7);
    void *p = &s;
    double f = 7;
    int64_t n = 7;
    tsr_tensor *one = NULL;
    set_up();
    EXPECT_OK(tsr_zeros(&one, TSR_F32, TSR_SHAPE(1, 1)));
    EACH(i, bad_tensors) {
        tsr_tensor *t = bad_tensors[i].t;
        BAD(bad_tensors[i].want, tsr_get(&s, t, TSR_INDEX(0, 0)));
        BAD(bad_tensors[i].want, tsr_pointer(&p, t, TSR_INDEX(0, 0)));
        BAD(bad_tensors[i].want, tsr_item(&s, t));
        BAD(bad_tensors[i].want, tsr_item_f64(&f, t));
        BAD(bad_tensors[i].want, tsr_item_i64(&n, t));
        if (i < 2) BAD(bad_tensors[i].want, tsr_set(t, TSR_INDEX(0, 0), s));
    }
    EACH(i, bad_indices) {
        BAD(TSR_EINDEX, tsr_get(&s, good, 2, bad_indices[i]));
        BAD(TSR_EINDEX, tsr_set(good, 2, bad_indices[i], s));
        BAD(TSR_EINDEX, tsr_pointer(&p, good, 2, bad_indices[i]));
    }
    EACH(i, bad_counts) {
        BAD(TSR_ESHAPE, tsr_get(&s, good, bad_counts[i], ones_17));
        BAD(TSR_ESHAPE, tsr_set(good, bad_counts[i], ones_17, s));
    }
    BAD(TSR_EINVAL, tsr_pointer(&p, good, -1, ones_17));
    BAD(TSR_EINVAL, tsr_pointer(&p, good, INT_MIN, ones_17));
    BAD(TSR_ESHAPE, tsr_pointer(&p, good, INT_MAX, ones_17));
    BAD(TSR_ENULL, tsr_get(NULL, good, TSR_INDEX(0, 0)));
    BAD(TSR_ENULL, tsr_get(&s, good, 2, NULL));
    BAD(TSR_ENULL, tsr_set(good, 2, NULL, s));
    BAD(TSR_ENULL, tsr_pointer(NULL, good, 0, NULL));
    BAD(TSR_ENULL, tsr_pointer(&p, good, 1, NULL));
    BAD(TSR_ENULL, tsr_item(NULL, one));
    BAD(TSR_ENULL, tsr_item_f64(NULL, one));
    BAD(TSR_ENULL, tsr_item_i64(NULL, one));
    BAD(TSR_ESHAPE, tsr_item(&s, good));
    BAD(TSR_EDTYPE, tsr_set(good, TSR_INDEX(0, 0), bad_scalar));
    BAD(TSR_EREADONLY, tsr_set(constant, TSR_INDEX(0, 0), s));
    BAD(TSR_EOVERLAP, tsr_set(repeated, TSR_INDEX(0, 0), s));
    BAD(TSR_EDEVICE, tsr_set(hidden, TSR_INDEX(0, 0), s));
    BAD(TSR_EDEVICE, tsr_get(&s, hidden, TSR_INDEX(0, 0)));
    BAD(TSR_EDEVICE, tsr_pointer(&p, hidden, TSR_INDEX(0, 0)));
    EXPECT(s.as.i == 7 && p == &s && f == 7 && n == 7);
    tsr_release(&one);
    tear_down();
}

/* A write that fails for its arguments is no first write. */
TEST(test_bad_input_failed_writes_leave_a_described_tensor_described)
{
    set_up();
    BAD(TSR_EINDEX, tsr_set_f32(described, TSR_INDEX(2, 0), 1));
    BAD(TSR_ESHAPE, tsr_set_f32(described, TSR_INDEX(0), 1));
    BAD(TSR_EINDEX, tsr_set(described, TSR_INDEX(0, -4), tsr_scalar_i64(1)));
    BAD(TSR_ENULL, tsr_set(described, 2, NULL, tsr_scalar_i64(1)));
    BAD(TSR_EDTYPE, tsr_set(described, TSR_INDEX(0, 0), bad_scalar));
    BAD(TSR_EDTYPE, tsr_fill(described, bad_scalar));
    BAD(TSR_ESHAPE, tsr_load(described, six, 8));
    BAD(TSR_EDEVICE, tsr_copy(described, hidden));
    tear_down();
}

/* move.h, random.h ------------------------------------------------------------------- */

TEST(test_bad_input_to_filling_and_copying)
{
    float buffer[6] = { 7 };
    const tsr_scalar one = tsr_scalar_i64(1);
    tsr_tensor *row = NULL;
    set_up();
    EXPECT_OK(tsr_select(&row, good, 0, 0));
    for (int i = 0; i < 2; i++) {
        tsr_tensor *t = bad_tensors[i].t;
        BAD(bad_tensors[i].want, tsr_fill(t, one));
        BAD(bad_tensors[i].want, tsr_zero(t));
        BAD(bad_tensors[i].want, tsr_copy(t, good));
        BAD(bad_tensors[i].want, tsr_load(t, six, sizeof six));
    }
    EACH(i, bad_tensors) {
        BAD(bad_tensors[i].want, tsr_copy(held, bad_tensors[i].t));
        BAD(bad_tensors[i].want, tsr_store(buffer, sizeof buffer, bad_tensors[i].t));
        BAD_OUT(bad_tensors[i].want, tsr_rearrange(&out, bad_tensors[i].t));
        BAD_OUT(bad_tensors[i].want, tsr_cast(&out, bad_tensors[i].t, TSR_F32));
        BAD_OUT(bad_tensors[i].want, tsr_to_memory(&out, bad_tensors[i].t, TSR_CPU, TSR_MEMORY_ALIGNED));
    }
    BAD(TSR_EREADONLY, tsr_fill(constant, one));
    BAD(TSR_EREADONLY, tsr_zero(constant));
    BAD(TSR_EREADONLY, tsr_copy(constant, good));
    BAD(TSR_EREADONLY, tsr_load(constant, buffer, sizeof buffer));
    BAD(TSR_EOVERLAP, tsr_fill(repeated, one));
    BAD(TSR_EOVERLAP, tsr_zero(repeated));
    BAD(TSR_EOVERLAP, tsr_copy(repeated, good));
    BAD(TSR_EDEVICE, tsr_fill(hidden, one));
    BAD(TSR_EDEVICE, tsr_copy(hidden, good));
    BAD(TSR_EDEVICE, tsr_copy(held, hidden));
    BAD(TSR_EDTYPE, tsr_fill(held, bad_scalar));
    BAD(TSR_ESHAPE, tsr_copy(held, row));
    BAD(TSR_ESHAPE, tsr_copy(row, good));
    BAD(TSR_ENULL, tsr_rearrange(NULL, good));
    BAD(TSR_ENULL, tsr_cast(NULL, good, TSR_F32));
    BAD(TSR_ENULL, tsr_to_memory(NULL, good, TSR_CPU, TSR_MEMORY_HOST));
    EACH(i, bad_dtype_numbers) BAD_OUT(TSR_EDTYPE, tsr_cast(&out, good, DTYPE(i)));
    BAD_OUT(TSR_EDTYPE, tsr_cast(&out, good, (tsr_dtype)99));
    EXPECT(strstr(tsr_last_error(), "cast: 99 is no dtype") == tsr_last_error());
    EACH(i, bad_devices) BAD_OUT(TSR_EDEVICE, tsr_to_memory(&out, good, bad_devices[i], TSR_MEMORY_HOST));
    EACH(i, bad_memories) BAD_OUT(TSR_EINVAL, tsr_to_memory(&out, good, TSR_CPU, bad_memories[i]));
    BAD_OUT(TSR_EUNSUPPORTED, tsr_to_memory(&out, good, TSR_CPU, TSR_MEMORY_FILE));
    BAD_OUT(TSR_EDEVICE, tsr_to_memory(&out, good, TSR_CPU, hidden_kind));
    BAD(TSR_ENULL, tsr_load(held, NULL, sizeof six));
    BAD(TSR_ENULL, tsr_store(NULL, sizeof six, good));
    const size_t sizes[] = { 0, sizeof six - 1, sizeof six + 1, SIZE_MAX };
    EACH(i, sizes) {
        BAD(TSR_ESHAPE, tsr_load(held, six, sizes[i]));
        BAD(TSR_ESHAPE, tsr_store(buffer, sizes[i], good));
    }
    tsr_tensor *out = held;
    BAD(TSR_EDTYPE, tsr_cast(&out, good, TSR_F64));
    BAD(TSR_ESHAPE, tsr_rearrange(&out, row));
    EXPECT(held_is_whole(out) && buffer[0] == 7);
    tsr_release(&row);
    tear_down();
}

TEST(test_bad_input_to_joining)
{
    set_up();
    tsr_tensor *scalar = NULL, *wide = NULL;
    EXPECT_OK(tsr_zeros(&scalar, TSR_F32, TSR_SCALAR_SHAPE));
    EXPECT_OK(tsr_zeros(&wide, TSR_F32, TSR_SHAPE(2, 4)));
    const tsr_tensor *const pair[] = { good, good };
    const tsr_tensor *const mixed[] = { good, integers }, *const ranks[] = { good, scalar };
    const tsr_tensor *const shapes[] = { good, wide }, *const scalars[] = { scalar, scalar };
    BAD(TSR_ENULL, tsr_concat(NULL, 2, pair, 0));
    BAD(TSR_ENULL, tsr_stack(NULL, 2, pair, 0));
    BAD(TSR_ENULL, tsr_batch_join(NULL, 2, pair, true));
    BAD(TSR_ENULL, tsr_batch_join(NULL, 2, pair, false));
    BAD_OUT(TSR_ENULL, tsr_concat(&out, 2, NULL, 0));
    BAD_OUT(TSR_ENULL, tsr_stack(&out, 2, NULL, 0));
    BAD_OUT(TSR_ENULL, tsr_batch_join(&out, 2, NULL, true));
    const int counts[] = { 0, -1, INT_MIN };
    EACH(i, counts) {
        BAD_OUT(TSR_EINVAL, tsr_concat(&out, counts[i], pair, 0));
        BAD_OUT(TSR_EINVAL, tsr_stack(&out, counts[i], pair, 0));
        BAD_OUT(TSR_EINVAL, tsr_batch_join(&out, counts[i], pair, false));
    }
    EACH(i, bad_axes) {
        BAD_OUT(TSR_EINDEX, tsr_concat(&out, 2, pair, bad_axes[i]));
        if (bad_axes[i] != 2 && bad_axes[i] != -3) BAD_OUT(TSR_EINDEX, tsr_stack(&out, 2, pair, bad_axes[i]));
    }
    EACH(i, bad_tensors) {
        const tsr_tensor *const list[] = { good, bad_tensors[i].t };
        BAD_OUT(bad_tensors[i].want, tsr_concat(&out, 2, list, 0));
        BAD_OUT(bad_tensors[i].want, tsr_stack(&out, 2, list, 0));
        BAD_OUT(bad_tensors[i].want, tsr_batch_join(&out, 2, list, true));
    }
    BAD_OUT(TSR_EDTYPE, tsr_concat(&out, 2, mixed, 0));
    BAD_OUT(TSR_EDTYPE, tsr_stack(&out, 2, mixed, 0));
    BAD_OUT(TSR_ESHAPE, tsr_concat(&out, 2, ranks, 0));
    BAD_OUT(TSR_ESHAPE, tsr_stack(&out, 2, ranks, 0));
    BAD_OUT(TSR_ESHAPE, tsr_concat(&out, 2, shapes, 0));
    BAD_OUT(TSR_ESHAPE, tsr_stack(&out, 2, shapes, 0));
    BAD_OUT(TSR_ESHAPE, tsr_concat(&out, 2, scalars, 0));
    tsr_tensor *out = held;
    BAD(TSR_ESHAPE, tsr_concat(&out, 2, pair, 0));
    BAD(TSR_ESHAPE, tsr_stack(&out, 2, pair, 0));
    EXPECT(held_is_whole(out));
    tsr_release_all(&wide, &scalar);
    tear_down();
}

TEST(test_bad_input_to_random)
{
    const int64_t shape[] = { 2, 3 };
    uint32_t words[4] = { 7, 7, 7, 7 };
    set_up();
    tsr_philox(NULL, words, words);
    tsr_philox(words, NULL, words);
    tsr_philox(words, words, NULL);
    EXPECT(words[0] == 7);
    BAD(TSR_ENULL, tsr_uniform(NULL, TSR_F32, 2, shape, 0, 1, 0));
    BAD(TSR_ENULL, tsr_randn(NULL, TSR_F32, 2, shape, 0));
    BAD_OUT(TSR_EDTYPE, tsr_uniform(&out, TSR_I32, 2, shape, 0, 1, 0));
    BAD_OUT(TSR_EDTYPE, tsr_randn(&out, TSR_BOOL, 2, shape, 0));
    const double bad[] = { NAN, INFINITY, -INFINITY, 1e300 };
    EACH(i, bad) {
        BAD_OUT(TSR_EINVAL, tsr_uniform(&out, TSR_F32, 2, shape, bad[i], 1, 0));
        BAD_OUT(TSR_EINVAL, tsr_uniform(&out, TSR_F32, 2, shape, 0, bad[i], 0));
    }
    BAD_OUT(TSR_EINVAL, tsr_uniform(&out, TSR_F32, 2, shape, 1, 0, 0));
    tsr_tensor *out = constant;
    BAD(TSR_EREADONLY, tsr_uniform(&out, TSR_F32, 2, shape, 0, 1, 0));
    out = repeated;
    BAD(TSR_EOVERLAP, tsr_randn(&out, TSR_F32, 2, shape, 0));
    out = held;
    BAD(TSR_EDTYPE, tsr_randn(&out, TSR_F64, 2, shape, 0));
    BAD(TSR_ESHAPE, tsr_randn(&out, TSR_F32, 1, shape, 0));
    EXPECT(held_is_whole(out));
    tear_down();
}

/* compare.h -------------------------------------------------------------------------- */

TEST(test_bad_input_to_comparing)
{
    bool same = true;
    tsr_close_report report;
    char text[256];
    tsr_tensor *row = NULL;
    set_up();
    memset(&report, 7, sizeof report);
    EXPECT_OK(tsr_select(&row, good, 0, 0));
    BAD(TSR_ENULL, tsr_equal(NULL, good, good));
    BAD(TSR_ENULL, tsr_allclose(NULL, good, good, NULL, NULL));
    EACH(i, bad_tensors) {
        BAD(bad_tensors[i].want, tsr_equal(&same, bad_tensors[i].t, good));
        BAD(bad_tensors[i].want, tsr_equal(&same, good, bad_tensors[i].t));
        BAD(bad_tensors[i].want, tsr_allclose(&same, bad_tensors[i].t, good, NULL, &report));
        BAD(bad_tensors[i].want, tsr_allclose(&same, good, bad_tensors[i].t, NULL, &report));
    }
    BAD(TSR_EDEVICE, tsr_equal(&same, hidden, good));
    BAD(TSR_EDEVICE, tsr_allclose(&same, good, hidden, NULL, &report));
    BAD(TSR_ESHAPE, tsr_allclose(&same, good, row, NULL, &report));
    BAD(TSR_EDTYPE, tsr_allclose(&same, good, integers, NULL, &report));
    BAD(TSR_EINVAL, tsr_allclose(&same, good, good, &(tsr_close_opts){ .rtol = NAN }, &report));
    BAD(TSR_EINVAL, tsr_allclose(&same, good, good, &(tsr_close_opts){ .atol = INFINITY }, &report));
    EXPECT(same && report.count == 0x0707070707070707);

    EXPECT(tsr_close_report_to_string(text, sizeof text, NULL, 2) == 0);
    EXPECT_OK(tsr_fill(row, tsr_scalar_f64(NAN)));
    EXPECT_OK(tsr_allclose(&same, good, held, NULL, &report));
    EACH(i, bad_ranks) EXPECT(tsr_close_report_to_string(text, sizeof text, &report, bad_ranks[i]) > 0);
    EXPECT(tsr_close_report_to_string(NULL, 99, &report, 2) ==
           tsr_close_report_to_string(text, 8, &report, 2));
    EXPECT_OK(tsr_copy(good, held));
    tsr_release(&row);
    tear_down();
}

/* print.h ---------------------------------------------------------------------------- */

static void count_text(void *context, const char *text, size_t length)
{
    (void)text;
    *(size_t *)context += length;
}

TEST(test_bad_input_to_printing)
{
    char text[512];
    size_t length = 7, written = 0;
    set_up();
    EXPECT(tsr_describe(NULL, 99, good) == tsr_describe(text, sizeof text, good));
    EXPECT(tsr_describe(text, sizeof text, NULL) > 0 && text[0]);
    EXPECT(tsr_describe(text, sizeof text, &none) > 0 && text[0]);
    EXPECT(tsr_describe(text, 1, described) > 1 && !text[0]);
    for (int i = 0; i < 2; i++) {
        BAD(bad_tensors[i].want, tsr_to_string(text, sizeof text, &length, bad_tensors[i].t, NULL));
        BAD(bad_tensors[i].want, tsr_print(bad_tensors[i].t, NULL));
    }
    BAD(TSR_ENULL, tsr_to_string(NULL, 1, &length, good, NULL));
    BAD(TSR_EINVAL, tsr_to_string(text, sizeof text, &length, good, &(tsr_print_opts){ .edge_items = -1 }));
    BAD(TSR_EINVAL,
        tsr_to_string(text, sizeof text, &length, good, &(tsr_print_opts){ .edge_items = INT64_MIN }));
    EXPECT(length == 7);

    tsr_set_print_sink(count_text, &written);
    BAD(TSR_EINVAL, tsr_print(good, &(tsr_print_opts){ .edge_items = -1 }));
    const int ints[] = { INT_MIN, INT_MIN + 1, -1, 0, 1, 1000, INT_MAX };
    EACH(i, ints) {
        const tsr_print_opts opts = { .precision = ints[i], .line_width = ints[i], .threshold = ints[i],
                                      .edge_items = ints[i] < 0 ? INT64_MAX : ints[i], .name = "" };
        EXPECT_OK(tsr_to_string(text, sizeof text, &length, good, &opts));
        EXPECT_OK(tsr_print(complex64, &opts));
        EXPECT_OK(tsr_print(repeated, &(tsr_print_opts){ .threshold = INT64_MIN, .edge_items = INT64_MAX }));
    }
    EXPECT_OK(tsr_print(described, NULL));
    EXPECT_OK(tsr_print(hidden, NULL));
    EXPECT(written > 0);
    tsr_set_print_sink(NULL, NULL);
    tear_down();
}

/* threads.h -------------------------------------------------------------------------- */

static tsr_status count_range(void *context, int64_t begin, int64_t end)
{
    (void)context;
    return begin <= end ? TSR_OK : TSR_EINVAL;
}

TEST(test_bad_input_to_threads)
{
    BAD(TSR_ENULL, tsr_parallel_for(1, 1, NULL, NULL));
    BAD(TSR_EINVAL, tsr_parallel_for(-1, 1, count_range, NULL));
    BAD(TSR_EINVAL, tsr_parallel_for(INT64_MIN, 1, count_range, NULL));
    const int64_t grains[] = { 0, -1, INT64_MIN, INT64_MAX };
    EACH(i, grains) {
        EXPECT_OK(tsr_parallel_for(0, grains[i], count_range, NULL));
        EXPECT_OK(tsr_parallel_for(INT64_MAX, grains[i], count_range, NULL));
    }
    BAD(TSR_EINVAL, tsr_set_threads(-1));
    BAD(TSR_EINVAL, tsr_set_threads(4097));
    BAD(TSR_EINVAL, tsr_set_threads(INT_MAX));
    BAD(TSR_EINVAL, tsr_set_threads(INT_MIN));
    EXPECT(tsr_threads() >= 1 && tsr_available_threads() >= 1);
    tsr_set_executor(NULL, &none);
    tsr_threads_shutdown();
    tsr_threads_shutdown();
}

/* Everything at random --------------------------------------------------------------- */

static uint64_t dice;

#define CHOOSE(list) ((list)[test_below(&dice, (int64_t)(sizeof(list) / sizeof *(list)))])

static int64_t any_number(void)
{
    const int64_t hostile[] = { INT64_MIN, INT64_MIN + 1, INT64_MAX, INT64_MAX - 1, INT64_MAX / 2,
                                INT64_MAX / 4 + 1, INT64_C(1) << 62, INT64_C(1) << 32, -(INT64_C(1) << 61),
                                1 << 20 };
    return test_below(&dice, 4) ? test_below(&dice, 7) - 2 : CHOOSE(hostile);
}

static int any_int(void)
{
    const int hostile[] = { INT_MIN, INT_MAX, 99, -99, TSR_MAX_NDIM, RANK_TOO_HIGH };
    return test_below(&dice, 6) ? (int)test_below(&dice, 7) - 3 : CHOOSE(hostile);
}

/* A count that the lists below are long enough for. */
static int any_count(void) { return test_below(&dice, 5) ? (int)test_below(&dice, 5) : any_int(); }

static tsr_dtype any_dtype(void)
{
    return test_below(&dice, 12) ? (tsr_dtype)(1 + test_below(&dice, TSR_DTYPE_COUNT - 1))
                                 : (tsr_dtype)CHOOSE(bad_dtype_numbers);
}

static tsr_scalar any_scalar(void)
{
    switch (test_below(&dice, 6)) {
    case 0: return tsr_scalar_i64(any_number());
    case 1: return tsr_scalar_u64((uint64_t)any_number());
    case 2: return tsr_scalar_f64((double)any_number());
    case 3: return tsr_scalar_c128(INFINITY, NAN);
    case 4: return tsr_scalar_bool(true);
    default: return bad_scalar;
    }
}

static const int64_t *any_list(void)
{
    static int64_t list[RANK_TOO_HIGH];
    if (test_below(&dice, 40) == 0) return NULL;
    EACH(i, list) list[i] = any_number();
    return list;
}

static const int64_t *any_second_list(void)
{
    static int64_t list[RANK_TOO_HIGH];
    const int64_t *from = any_list();
    if (from) memcpy(list, from, sizeof list);
    return from ? list : NULL;
}

static const int *any_axes(void)
{
    static int list[RANK_TOO_HIGH];
    EACH(i, list) list[i] = any_int();
    return test_below(&dice, 40) ? list : NULL;
}

static const tsr_desc *any_desc(void)
{
    static tsr_desc descs[4];
    tsr_desc *d = &descs[test_below(&dice, 4)];
    if (test_below(&dice, 40) == 0) return NULL;
    d->dtype = any_dtype();
    d->ndim = test_below(&dice, 20) ? (int32_t)test_below(&dice, 4) : any_int();
    for (int i = 0; i < TSR_MAX_NDIM; i++) {
        d->shape[i] = test_below(&dice, 3) ? test_below(&dice, 4) : any_number();
        d->stride[i] = any_number();
    }
    return d;
}

enum { CAST_SIZE = 14 };
static tsr_tensor *cast_of_tensors[CAST_SIZE];

static void make_cast(void)
{
    static unsigned char bytes[4096];
    tsr_desc d;
    tsr_tensor **t = cast_of_tensors;
    const int64_t junk[] = { INT64_MIN, 1, INT64_MAX };
    *t++ = NULL;
    *t++ = &none;
    tsr_tensor *const shared[] = { good, complex64, integers, repeated, constant, described, hidden };
    EACH(i, shared) *t++ = tsr_retain(shared[i]);
    EXPECT_OK(tsr_zeros(t++, TSR_BF16, TSR_SCALAR_SHAPE));
    EXPECT_OK(tsr_desc_init(&d, TSR_C64, TSR_SHAPE(1, 3, 1), junk));
    EXPECT_OK(tsr_wrap(t++, bytes + 1024, &d));
    EXPECT_OK(tsr_desc_init(&d, TSR_U16, TSR_SHAPE(3, 0, 2), junk));
    EXPECT_OK(tsr_wrap(t++, bytes + 2048, &d));
    EXPECT_OK(tsr_desc_init(&d, TSR_U8, TSR_SHAPE(4, 2, 3), (const int64_t[]){ -7, 40, 2 }));
    EXPECT_OK(tsr_wrap(t++, bytes + 2048, &d));
    EXPECT_OK(tsr_zeros(t++, TSR_I8, TSR_MAX_NDIM, ones_17));
    EXPECT(t == cast_of_tensors + CAST_SIZE);
}

static void drop_cast(void)
{
    EACH(i, cast_of_tensors) {
        if (cast_of_tensors[i] == &none) cast_of_tensors[i] = NULL;
        tsr_release(&cast_of_tensors[i]);
    }
}

static tsr_tensor *any_tensor(void) { return CHOOSE(cast_of_tensors); }

/* A tensor that may be written without harm to the others. */
static tsr_tensor *any_target(void)
{
    tsr_tensor *t = any_tensor();
    return t == good || t == described ? held : t;
}

static bool only_small(void *context, size_t bytes)
{
    (void)context;
    return bytes <= 1 << 20;
}

static tsr_status call_desc_function(int which)
{
    tsr_desc out;
    int64_t a, b, shape[TSR_MAX_NDIM];
    int ndim;
    const tsr_desc *d = any_desc(), *e = any_desc();
    switch (which) {
    case 0:  return tsr_desc_init(&out, any_dtype(), any_count(), any_list(), any_second_list());
    case 1:  return tsr_desc_init_column_major(&out, any_dtype(), any_count(), any_list());
    case 2:  return tsr_desc_matmul_check(d, e);
    case 3:  return tsr_desc_dim(&a, d, any_int());
    case 4:  return tsr_desc_offset(&a, d, any_count(), any_list());
    case 5:  return tsr_desc_broadcast(&ndim, shape, 2, (const tsr_desc *const[]){ d, e });
    case 6:  return tsr_desc_view(&out, d, any_count(), any_list());
    case 7:  return tsr_desc_slice(&out, &a, d, any_int(), any_number(), any_number(), any_number());
    case 8:  return tsr_desc_select(&out, &a, d, any_int(), any_number());
    case 9:  return tsr_desc_permute(&out, d, any_count(), any_axes());
    case 10: return tsr_desc_transpose(&out, d, any_int(), any_int());
    case 11: return tsr_desc_move_axis(&out, d, any_int(), any_int());
    case 12: return tsr_desc_expand(&out, d, any_count(), any_list());
    case 13: return tsr_desc_squeeze(&out, d, any_int());
    case 14: return tsr_desc_squeeze_all(&out, d);
    case 15: return tsr_desc_unsqueeze(&out, d, any_int());
    case 16: return tsr_desc_flip(&out, &a, d, any_count(), any_axes());
    case 17: return tsr_desc_diagonal(&out, &a, d, any_number(), any_int(), any_int());
    case 18: return tsr_desc_unfold(&out, d, any_int(), any_number(), any_number());
    case 19: return tsr_desc_merge(&out, d, any_int(), any_int());
    case 20: return tsr_desc_split(&out, d, any_int(), any_count(), any_list());
    case 21: return tsr_desc_real(&out, d);
    case 22: return tsr_desc_imag(&out, &a, d);
    case 23: return tsr_desc_bit_view(&out, d, any_dtype());
    case 24: return tsr_desc_packed_like(&out, d, any_dtype());
    case 25: return tsr_match_text("{ floating/integer | ((b,) ..., m, 3) | (..., 1) }", d);
    default:
        (void)tsr_desc_numel(d), (void)tsr_desc_bytes(d), (void)tsr_desc_span(d, &a, &b);
        (void)tsr_desc_is_contiguous(d), (void)tsr_desc_is_column_major(d), (void)tsr_desc_is_dense(d);
        (void)tsr_desc_is_contiguous_range(d, any_int(), any_int());
        (void)tsr_desc_is_broadcast_dim(d, any_int()), (void)tsr_desc_has_broadcast(d);
        (void)tsr_desc_can_merge(d, any_int()), (void)tsr_desc_self_overlaps(d);
        (void)tsr_desc_same_shape(d, e), (void)tsr_desc_same(d, e);
        return tsr_desc_check(d);
    }
}

static tsr_status call_view_function(int which, tsr_tensor **out)
{
    const tsr_tensor *t = any_tensor();
    switch (which) {
    case 0:  return tsr_view(out, t, any_count(), any_list());
    case 1:  return tsr_reshape(out, t, any_count(), any_list());
    case 2:  return tsr_contiguous(out, t);
    case 3:  return tsr_slice(out, t, any_int(), any_number(), any_number(), any_number());
    case 4:  return tsr_select(out, t, any_int(), any_number());
    case 5:  return tsr_at_prefix(out, t, any_count(), any_list());
    case 6:  return tsr_permute(out, t, any_count(), any_axes());
    case 7:  return tsr_transpose(out, t, any_int(), any_int());
    case 8:  return tsr_move_axis(out, t, any_int(), any_int());
    case 9:  return tsr_expand(out, t, any_count(), any_list());
    case 10: return tsr_squeeze(out, t, any_int());
    case 11: return tsr_squeeze_all(out, t);
    case 12: return tsr_unsqueeze(out, t, any_int());
    case 13: return tsr_flip(out, t, any_count(), any_axes());
    case 14: return tsr_diagonal(out, t, any_number(), any_int(), any_int());
    case 15: return tsr_unfold(out, t, any_int(), any_number(), any_number());
    case 16: return tsr_merge_dims(out, t, any_int(), any_int());
    case 17: return tsr_split_dim(out, t, any_int(), any_count(), any_list());
    case 18: return tsr_as_strided(out, t, any_count(), any_list(), any_second_list(), any_number());
    case 19: return tsr_view_real(out, t);
    case 20: return tsr_view_imag(out, t);
    case 21: return tsr_bit_view(out, t, any_dtype());
    case 22: return tsr_clone(out, t);
    case 23: return tsr_to_memory(out, t, TSR_CPU, (tsr_memory)test_below(&dice, 5));
    case 24: return tsr_declare(out, any_desc(), any_int(), any_int());
    case 25: return tsr_from_storage(out, t ? t->storage : NULL, (size_t)any_number(), any_desc());
    default: return tsr_rearrange(out, t);
    }
}

static tsr_status call_making_function(int which, tsr_tensor **out)
{
    const tsr_tensor *t = any_tensor(), *u = any_tensor();
    const tsr_tensor *const list[] = { t, u, t };
    switch (which) {
    case 0:  return tsr_empty(out, any_dtype(), any_count(), any_list());
    case 1:  return tsr_full(out, any_dtype(), any_count(), any_list(), any_scalar());
    case 2:  return tsr_eye(out, any_dtype(), any_number(), any_number(), any_number());
    case 3:  return tsr_arange(out, any_dtype(), any_scalar(), any_scalar(), any_scalar());
    case 4:
        return tsr_linspace(out, any_dtype(), any_scalar(), any_scalar(), any_number(), test_below(&dice, 2));
    case 5:  return tsr_zeros_like(out, t);
    case 6:  return tsr_full_like(out, t, any_scalar());
    case 7:
        return tsr_uniform(out, any_dtype(), any_count(), any_list(), (double)any_number(),
                           (double)any_number(), 1);
    case 8:  return tsr_randn(out, any_dtype(), any_count(), any_list(), 1);
    case 9:  return tsr_cast(out, t, any_dtype());
    case 10: return tsr_concat(out, (int)test_below(&dice, 4), list, any_int());
    case 11: return tsr_stack(out, (int)test_below(&dice, 4), list, any_int());
    default: return tsr_batch_join(out, (int)test_below(&dice, 4), list, test_below(&dice, 2));
    }
}

static tsr_status call_other_function(int which)
{
    tsr_scalar s;
    double f;
    int64_t n;
    void *p;
    bool same;
    tsr_matrix m;
    char text[200];
    tsr_close_report report;
    const tsr_tensor *t = any_tensor(), *u = any_tensor();
    switch (which) {
    case 0:  return tsr_fill(any_target(), any_scalar());
    case 1:  return tsr_zero(any_target());
    case 2:  return tsr_copy(any_target(), t);
    case 3:  return tsr_get(&s, t, any_count(), any_list());
    case 4:  return tsr_set(any_target(), any_count(), any_list(), any_scalar());
    case 5:  return tsr_pointer(&p, t, any_count(), any_list());
    case 6:  return tsr_item(&s, t);
    case 7:  return tsr_item_f64(&f, t);
    case 8:  return tsr_item_i64(&n, t);
    case 9:  return tsr_dim(&n, t, any_int());
    case 10: return tsr_as_matrix(&m, t);
    case 11: return tsr_equal(&same, t, u);
    case 12: return tsr_allclose(&same, t, u, NULL, &report);
    case 13: return tsr_to_string(text, (size_t)test_below(&dice, sizeof text), NULL, t, NULL);
    default:
        (void)tsr_same_desc(t, u), (void)tsr_same_shape(t, u), (void)tsr_identical(t, u);
        (void)tsr_may_overlap(t, u), (void)tsr_self_overlaps(t), (void)tsr_describe(text, sizeof text, t);
        (void)tsr_batch(t), (void)tsr_channels(t), (void)tsr_height(t), (void)tsr_width(t);
        return tsr_check(t);
    }
}

static void expect_words(tsr_status s, const char *what, int which)
{
    EXPECT_MSG(s == TSR_OK || (tsr_last_error()[0] && tsr_last_status() == s), "%s %d gave %s without words",
               what, which, tsr_status_name(s));
    tsr_clear_error();
}

/* A result handle, filled or not, before and after a call that makes something. */
static void try_making(tsr_status (*call)(int, tsr_tensor **), int which, const char *what)
{
    tsr_tensor place, *out = NULL;
    const int64_t how = test_below(&dice, 3);
    if (how == 1) EXPECT_OK(tsr_zeros(&out, TSR_F32, TSR_SHAPE(2, 3)));
    if (how == 2) out = tsr_place_none(&place);
    tsr_tensor *const before = out;
    const tsr_status s = call(which, &out);
    if (s == TSR_OK)
        EXPECT_MSG(tsr_check(out) == TSR_OK, "%s %d made a bad tensor: %s", what, which, tsr_last_error());
    else
        EXPECT_MSG(out == before && (how != 2 || tsr_is_none(out)), "%s %d failed and changed its result",
                   what, which);
    expect_words(s, what, which);
    if (s == TSR_OK && how == 2) out = &place;
    tsr_release(&out);
}

/* TSR_FUZZ_ROUNDS and TSR_FUZZ_SEED make it longer, and another. */
TEST(test_bad_input_random_arguments_never_crash)
{
    const char *effort = getenv("TSR_FUZZ_ROUNDS"), *seed = getenv("TSR_FUZZ_SEED");
    const long rounds = effort ? strtol(effort, NULL, 10) : 200000;
    set_up();
    make_cast();
    tsr_set_alloc_hook(only_small, NULL);
    dice = seed ? strtoull(seed, NULL, 10) : 1;
    for (long round = 0; round < rounds; round++) {
        const int which = (int)test_below(&dice, 28);
        expect_words(call_desc_function(which), "desc function", which);
        try_making(call_view_function, which, "view function");
        try_making(call_making_function, which / 2, "making function");
        expect_words(call_other_function(which / 2), "other function", which / 2);
        if (round % 64 == 0) EXPECT_OK(tsr_copy(held, good));
    }
    tsr_set_alloc_hook(NULL, NULL);
    EXPECT_OK(tsr_copy(held, good));
    drop_cast();
    tear_down();
}
