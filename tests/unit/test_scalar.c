/* test_scalar.c - scalars of every dtype to every dtype.
 *
 * The reference converts by the words of dtype.h: integers modulo 2^n, floats by
 * comparing with the ends, and to a short float by searching the values of all
 * its patterns (which test_half.c has checked one by one) for the nearest.
 */
#include "test.h"

#include "core/half.h"

/* The reference ------------------------------------------------------------------- */

/* What a scalar holds: an exact integer, or floats. */
typedef struct number {
    bool     integral, negative;
    uint64_t magnitude;            /* if integral */
    double   re, im;               /* otherwise */
} number;

static double pattern_value(tsr_dtype d, uint32_t p)
{
    switch (d) {
    case TSR_F16:    return (double)tsr_f16_to_f32((uint16_t)p);
    case TSR_BF16:   return (double)tsr_bf16_to_f32((uint16_t)p);
    case TSR_F8E4M3: return (double)tsr_f8e4m3_to_f32((uint8_t)p);
    default:         return (double)tsr_f8e5m2_to_f32((uint8_t)p);
    }
}

static uint32_t top_pattern(tsr_dtype d)
{
    return d == TSR_F16 ? 0x7bff : d == TSR_BF16 ? 0x7f7f : d == TSR_F8E4M3 ? 0x7e : 0x7b;
}

/* Does the number's magnitude lie above (1), on (0) or below (-1) x >= 0? */
static int compare(const number *n, double x)
{
    if (!n->integral) {
        const double m = n->re < 0 ? -n->re : n->re;
        return m > x ? 1 : m < x ? -1 : 0;
    }
    if (x >= 0x1p64) return -1;
    const uint64_t whole = (uint64_t)x;
    if (n->magnitude != whole) return n->magnitude > whole ? 1 : -1;
    return (double)whole < x ? -1 : 0;
}

static uint32_t nearest_pattern(tsr_dtype d, const number *n)
{
    const uint32_t top = top_pattern(d);
    uint32_t low = 0, high = top;          /* the largest pattern not above the number */
    while (low < high) {
        const uint32_t middle = (low + high + 1) / 2;
        if (compare(n, pattern_value(d, middle)) >= 0) low = middle;
        else high = middle - 1;
    }
    const double step = low == top ? pattern_value(d, top) - pattern_value(d, top - 1)
                                   : pattern_value(d, low + 1) - pattern_value(d, low);
    const int side = compare(n, pattern_value(d, low) + step / 2);
    return side > 0 || (side == 0 && low % 2 == 1) ? low + 1 : low;
}

static bool is_negative(const number *n) { return n->integral ? n->negative : tsri_f64_bits(n->re) >> 63; }

/* f32 and f64: what C does with one conversion. */
static uint64_t want_float(tsr_dtype d, const number *n)
{
    const double sign = is_negative(n) ? -1 : 1;
    if (d == TSR_F32) return tsri_f32_bits(n->integral ? (float)sign * (float)n->magnitude : (float)n->re);
    if (d == TSR_F64) return tsri_f64_bits(n->integral ? sign * (double)n->magnitude : n->re);
    const uint32_t sign_bit = is_negative(n) ? 1u << (8 * tsr_dtype_size(d) - 1) : 0;
    return nearest_pattern(d, n) | sign_bit;
}

static uint64_t want_integer(tsr_dtype d, const number *n)
{
    const int bits = 8 * (int)tsr_dtype_size(d);
    const bool is_signed = tsr_dtype_kind(d) == TSR_SIGNED;
    const double high = is_signed ? 0.5 * 0x1p64 / (double)((uint64_t)1 << (64 - bits)) : 0;
    const double end = is_signed ? high : bits == 64 ? 0x1p64 : (double)((uint64_t)1 << bits);
    const uint64_t most = is_signed ? UINT64_MAX >> (65 - bits) : UINT64_MAX >> (64 - bits);
    if (n->integral) return n->negative ? 0u - n->magnitude : n->magnitude;
    if (n->re != n->re) return 0;
    if (n->re >= end) return most;
    if (n->re >= 0) return (uint64_t)n->re;
    if (!is_signed) return 0;
    if (n->re <= -end) return 0u - (most + 1);
    return 0u - (uint64_t)-n->re;
}

static void put(unsigned char *out, size_t size, uint64_t bits) /* little end first */
{
    for (size_t i = 0; i < size; i++) out[i] = (unsigned char)(bits >> (8 * i));
}

static void want_element(unsigned char *out, tsr_dtype d, const number *n)
{
    const size_t size = tsr_dtype_size(d);
    const number im = { .re = n->integral ? 0 : n->im };
    switch (tsr_dtype_kind(d)) {
    case TSR_BOOLEAN:
        out[0] = n->integral ? n->magnitude != 0 : n->re != 0 || n->im != 0;
        break;
    case TSR_FLOATING: put(out, size, want_float(d, n)); break;
    case TSR_COMPLEX:
        put(out, size / 2, want_float(tsr_dtype_real(d), n));
        put(out + size / 2, size / 2, want_float(tsr_dtype_real(d), &im));
        break;
    default: put(out, size, want_integer(d, n)); break;
    }
}

static number number_of(tsr_scalar s)
{
    number n = { .re = 0 };
    n.integral = s.dtype == TSR_BOOL || s.dtype == TSR_I64 || s.dtype == TSR_U64;
    if (n.integral) {
        n.negative = s.dtype == TSR_I64 && s.as.i < 0;
        n.magnitude = n.negative ? 0u - s.as.u : s.as.u;
    } else {
        n.re = s.as.c.re;
        n.im = s.dtype == TSR_C128 ? s.as.c.im : 0;
    }
    return n;
}

static bool has_nan(const number *n) { return !n->integral && (n->re != n->re || n->im != n->im); }

/* Stores s as dtype d at an odd address, and looks at the bytes and around them. */
static void expect_store(tsr_dtype d, tsr_scalar s)
{
    unsigned char got[40], want[40];
    const number n = number_of(s);
    memset(got, 0xa5, sizeof got);
    memset(want, 0xa5, sizeof want);
    if (has_nan(&n) && tsr_dtype_kind(d) >= TSR_FLOATING) return;   /* NaN has a test of its own */
    want_element(want + 9, d, &n);
    EXPECT_OK(tsr_scalar_store(got + 9, d, s));
    EXPECT_MSG(memcmp(got, want, sizeof got) == 0, "%s (%lld, %.17g, %.17g) as %s", tsr_dtype_name(s.dtype),
               n.integral ? (long long)s.as.i : 0, n.re, n.im, tsr_dtype_name(d));
}

static void expect_store_everywhere(tsr_scalar s)
{
    for (int d = 1; d < TSR_DTYPE_COUNT; d++) expect_store((tsr_dtype)d, s);
}

/* Stores ---------------------------------------------------------------------------- */

TEST(test_scalar_integers_store_to_every_dtype)
{
    expect_store_everywhere(tsr_scalar_bool(false));
    expect_store_everywhere(tsr_scalar_bool(true));
    for (int k = 0; k < 64; k++)
        for (int j = 0; j <= k; j++)
            for (int d = -1; d <= 1; d++) {
                const uint64_t v = ((uint64_t)1 << k) + ((uint64_t)1 << j) + (uint64_t)(int64_t)d;
                expect_store_everywhere(tsr_scalar_u64(v));
                expect_store_everywhere(tsr_scalar_i64((int64_t)v));
                expect_store_everywhere(tsr_scalar_i64((int64_t)(0u - v)));
            }
    expect_store_everywhere(tsr_scalar_i64(INT64_MIN));
    expect_store_everywhere(tsr_scalar_i64(INT64_MAX));
    expect_store_everywhere(tsr_scalar_u64(UINT64_MAX));
}

TEST(test_scalar_floats_store_to_every_dtype)
{
    uint64_t state = 1;
    const double inf = tsri_f64_from_bits(0x7ff0000000000000u);
    for (int k = -160; k < 140; k++) {
        const double power = k < 0 ? 1 / (double)tsri_f64_pow2(-k) : tsri_f64_pow2(k);
        for (int j = -3; j <= 3; j++) {
            expect_store_everywhere(tsr_scalar_f64(power + j * power / 16));
            expect_store_everywhere(tsr_scalar_f64(-power - j * power / 512));
            expect_store_everywhere(tsr_scalar_f64(power + j));
            expect_store_everywhere(tsr_scalar_c128(power * (1 + j * 0x1p-12), -power - j));
        }
    }
    for (int i = 0; i < 5000; i++) {
        const double re = tsri_f64_from_bits(test_next(&state)), im = tsri_f64_from_bits(test_next(&state));
        expect_store_everywhere(tsr_scalar_f64(re));
        expect_store_everywhere(tsr_scalar_c128(re, im));
        expect_store_everywhere(tsr_scalar_f64((double)(int64_t)test_next(&state) * 0x1p-40));
    }
    const double ends[] = { 0, -0.0, inf, -inf, 0x1p63, -0x1p63, 0x1p64, 1e308, 0x1p-1074 };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        expect_store_everywhere(tsr_scalar_f64(ends[i]));
        expect_store_everywhere(tsr_scalar_c128(ends[i], 1));
        expect_store_everywhere(tsr_scalar_c128(0, ends[i]));
    }
}

static bool is_nan_with_sign(double x, int negative)
{
    return x != x && (int)(tsri_f64_bits(x) >> 63) == negative;
}

TEST(test_scalar_nan_is_nan_with_its_sign_zero_as_integer_and_true)
{
    for (int negative = 0; negative < 2; negative++) {
        const double nan = tsri_f64_from_bits(negative ? 0xfff8000000000000u : 0x7ff8000000000000u);
        for (int d = 1; d < TSR_DTYPE_COUNT; d++) {
            unsigned char bytes[16] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
            const unsigned char zero[16] = { 0 };
            tsr_scalar back;
            const size_t size = tsr_dtype_size((tsr_dtype)d);
            EXPECT_OK(tsr_scalar_store(bytes, (tsr_dtype)d, tsr_scalar_f64(nan)));
            EXPECT_OK(tsr_scalar_load(&back, (tsr_dtype)d, bytes));
            if (d == TSR_BOOL) EXPECT(bytes[0] == 1);
            else if (tsr_dtype_kind((tsr_dtype)d) < TSR_FLOATING) EXPECT(memcmp(bytes, zero, size) == 0);
            else EXPECT_MSG(is_nan_with_sign(back.as.c.re, negative), "%s", tsr_dtype_name((tsr_dtype)d));
            if (tsr_dtype_kind((tsr_dtype)d) == TSR_COMPLEX)
                EXPECT(memcmp(bytes + size / 2, zero, size / 2) == 0);
        }
        EXPECT(tsr_scalar_to_i64(tsr_scalar_f64(nan)) == 0 && tsr_scalar_to_u64(tsr_scalar_f64(nan)) == 0);
        EXPECT(tsr_scalar_to_bool(tsr_scalar_f64(nan)) && tsr_scalar_to_bool(tsr_scalar_c128(0, nan)));
    }
}

/* Loads ------------------------------------------------------------------------------ */

static bool same_scalar(tsr_scalar a, tsr_scalar b)
{
    return a.dtype == b.dtype && a.reserved == b.reserved && memcmp(&a.as, &b.as, sizeof a.as) == 0;
}

static void expect_load(tsr_dtype d, const void *element, tsr_scalar want)
{
    unsigned char bytes[32] = { 0 };
    tsr_scalar got = tsr_scalar_i64(-1);
    memcpy(bytes + 3, element, tsr_dtype_size(d));
    EXPECT_OK(tsr_scalar_load(&got, d, bytes + 3));
    EXPECT_MSG(same_scalar(got, want), "%s gave %s, bits %#llx", tsr_dtype_name(d), tsr_dtype_name(got.dtype),
               (unsigned long long)got.as.u);
}

TEST(test_scalar_load_is_exact_for_every_dtype)
{
    expect_load(TSR_BOOL, &(uint8_t){ 1 }, tsr_scalar_bool(true));
    expect_load(TSR_BOOL, &(uint8_t){ 0 }, tsr_scalar_bool(false));
    expect_load(TSR_I8, &(int8_t){ -128 }, tsr_scalar_i64(-128));
    expect_load(TSR_I16, &(int16_t){ -300 }, tsr_scalar_i64(-300));
    expect_load(TSR_I32, &(int32_t){ INT32_MIN }, tsr_scalar_i64(INT32_MIN));
    expect_load(TSR_I64, &(int64_t){ INT64_MIN }, tsr_scalar_i64(INT64_MIN));
    expect_load(TSR_U8, &(uint8_t){ 255 }, tsr_scalar_u64(255));
    expect_load(TSR_U16, &(uint16_t){ 65535 }, tsr_scalar_u64(65535));
    expect_load(TSR_U32, &(uint32_t){ UINT32_MAX }, tsr_scalar_u64(UINT32_MAX));
    expect_load(TSR_U64, &(uint64_t){ UINT64_MAX }, tsr_scalar_u64(UINT64_MAX));
    expect_load(TSR_F8E4M3, &(uint8_t){ 0xfe }, tsr_scalar_f64(-448));
    expect_load(TSR_F8E5M2, &(uint8_t){ 0x01 }, tsr_scalar_f64(0x1p-16));
    expect_load(TSR_F16, &(uint16_t){ 0x0001 }, tsr_scalar_f64(0x1p-24));
    expect_load(TSR_BF16, &(uint16_t){ 0x4049 }, tsr_scalar_f64(3.140625));
    expect_load(TSR_F32, &(float){ 0.1f }, tsr_scalar_f64((double)0.1f));
    expect_load(TSR_F64, &(double){ -0.0 }, tsr_scalar_f64(-0.0));
    expect_load(TSR_C32, &(tsr_c32){ 0x3c00, 0xc000 }, tsr_scalar_c128(1, -2));
    expect_load(TSR_C64, &(tsr_c64){ 0.1f, 2 }, tsr_scalar_c128((double)0.1f, 2));
    expect_load(TSR_C128, &(tsr_c128){ 0.1, -0.2 }, tsr_scalar_c128(0.1, -0.2));
}

TEST(test_scalar_any_byte_but_zero_is_a_true_bool)
{
    for (int b = 0; b < 256; b++) expect_load(TSR_BOOL, &(uint8_t){ (uint8_t)b }, tsr_scalar_bool(b != 0));
    tsr_scalar odd = tsr_scalar_u64(12);
    odd.dtype = TSR_BOOL;
    EXPECT(tsr_scalar_to_i64(odd) == 1 && tsr_scalar_to_f64(odd) == 1);
    uint32_t x = 0;
    EXPECT_OK(tsr_scalar_store(&x, TSR_U32, odd));
    EXPECT(x == 1);
}

/* Every element of every dtype, loaded and stored as every dtype; in its own dtype
 * it comes back with the same bytes. Signalling NaNs become quiet, so NaNs stay out. */
TEST(test_scalar_every_pair_of_dtypes_converts)
{
    uint64_t state = 2;
    for (int from = 1; from < TSR_DTYPE_COUNT; from++)
        for (int i = 0; i < 600; i++) {
            const size_t size = tsr_dtype_size((tsr_dtype)from);
            unsigned char element[24], back[24] = { 0 };
            for (size_t b = 0; b < sizeof element; b++) element[b] = (unsigned char)test_next(&state);
            if (size == 1) element[5] = (unsigned char)i;
            if (from == TSR_BOOL) element[5] &= 1;
            tsr_scalar s;
            EXPECT_OK(tsr_scalar_load(&s, (tsr_dtype)from, element + 5));
            const number n = number_of(s);
            expect_store_everywhere(s);
            EXPECT_OK(tsr_scalar_store(back + 7, (tsr_dtype)from, s));
            EXPECT_MSG(has_nan(&n) || memcmp(element + 5, back + 7, size) == 0, "%s",
                       tsr_dtype_name((tsr_dtype)from));
        }
}

/* As C numbers ------------------------------------------------------------------------- */

TEST(test_scalar_becomes_c_numbers_by_the_rules)
{
    EXPECT(tsr_scalar_to_f64(tsr_scalar_i64(-3)) == -3);
    EXPECT(tsr_scalar_to_f64(tsr_scalar_u64(UINT64_MAX)) == 0x1p64);
    EXPECT(tsr_scalar_to_f64(tsr_scalar_bool(true)) == 1 && tsr_scalar_to_f64(tsr_scalar_c128(2, 9)) == 2);
    EXPECT(tsr_scalar_to_i64(tsr_scalar_u64(UINT64_MAX)) == -1);
    EXPECT(tsr_scalar_to_i64(tsr_scalar_f64(-2.9)) == -2 && tsr_scalar_to_i64(tsr_scalar_c128(7.5, 1)) == 7);
    EXPECT(tsr_scalar_to_i64(tsr_scalar_f64(1e30)) == INT64_MAX);
    EXPECT(tsr_scalar_to_u64(tsr_scalar_i64(-1)) == UINT64_MAX && tsr_scalar_to_u64(tsr_scalar_f64(-5)) == 0);
    EXPECT(tsr_scalar_to_u64(tsr_scalar_f64(1e30)) == UINT64_MAX);
    EXPECT(tsr_scalar_to_u64(tsr_scalar_bool(true)) == 1);
    EXPECT(tsr_scalar_to_bool(tsr_scalar_i64(2)) && !tsr_scalar_to_bool(tsr_scalar_f64(-0.0)));
    EXPECT(tsr_scalar_to_bool(tsr_scalar_c128(0, 1)) && !tsr_scalar_to_bool(tsr_scalar_c128(0, -0.0)));
    const tsr_c128 c = tsr_scalar_to_c128(tsr_scalar_c128(1, 2)), r = tsr_scalar_to_c128(tsr_scalar_i64(-4));
    EXPECT(c.re == 1 && c.im == 2 && r.re == -4 && tsri_f64_bits(r.im) == 0);
}

TEST(test_scalar_reads_only_the_member_its_dtype_names)
{
    tsr_scalar s = tsr_scalar_c128(3, 9);
    tsr_c64 c = { 1, 1 };
    s.dtype = TSR_F64;
    EXPECT_OK(tsr_scalar_store(&c, TSR_C64, s));
    EXPECT(c.re == 3 && c.im == 0 && tsr_scalar_to_c128(s).im == 0);
    s.as.c.re = 0;
    EXPECT(!tsr_scalar_to_bool(s));
}

TEST(test_scalar_macro_takes_any_c_number)
{
    EXPECT(same_scalar(TSR_SCALAR(3), tsr_scalar_i64(3)) && same_scalar(TSR_SCALAR(3u), tsr_scalar_u64(3)));
    EXPECT(same_scalar(TSR_SCALAR((short)-3), tsr_scalar_i64(-3)));
    EXPECT(same_scalar(TSR_SCALAR((uint8_t)200), tsr_scalar_u64(200)));
    EXPECT(same_scalar(TSR_SCALAR(INT64_MIN), tsr_scalar_i64(INT64_MIN)));
    EXPECT(same_scalar(TSR_SCALAR(UINT64_MAX), tsr_scalar_u64(UINT64_MAX)));
    EXPECT(same_scalar(TSR_SCALAR(0.5f), tsr_scalar_f64(0.5)));
    EXPECT(same_scalar(TSR_SCALAR(0.1), tsr_scalar_f64(0.1)));
    EXPECT(same_scalar(TSR_SCALAR((bool)true), tsr_scalar_bool(true)));
    EXPECT(same_scalar(TSR_SCALAR(((tsr_c64){ 1, 2 })), tsr_scalar_c128(1, 2)));
    EXPECT(same_scalar(TSR_SCALAR(((tsr_c128){ 1, 2 })), tsr_scalar_c128(1, 2)));
    EXPECT(same_scalar(TSR_SCALAR(tsr_scalar_bool(false)), tsr_scalar_bool(false)));
}

/* Mistakes ------------------------------------------------------------------------------ */

TEST(test_scalar_refuses_null_and_what_is_no_dtype)
{
    static const tsr_dtype wrong[] = { TSR_DTYPE_INVALID, TSR_DTYPE_COUNT, (tsr_dtype)-1 };
    float x = 7;
    tsr_scalar s = tsr_scalar_i64(5);
    EXPECT_FAILS(tsr_scalar_load(NULL, TSR_F32, &x), TSR_ENULL, "out is NULL");
    EXPECT_FAILS(tsr_scalar_load(&s, TSR_F32, NULL), TSR_ENULL, "element is NULL");
    EXPECT_FAILS(tsr_scalar_store(NULL, TSR_F32, s), TSR_ENULL, "element is NULL");
    for (int i = 0; i < 3; i++) {
        EXPECT_FAILS(tsr_scalar_load(&s, wrong[i], &x), TSR_EDTYPE, "scalar_load");
        EXPECT_FAILS(tsr_scalar_store(&x, wrong[i], s), TSR_EDTYPE, "scalar_store");
    }
    EXPECT(x == 7 && s.as.i == 5);
}

TEST(test_scalar_of_another_dtype_is_refused_and_reads_as_zero)
{
    float x = 7;
    tsr_scalar s = tsr_scalar_f64(5);
    s.dtype = TSR_F32;
    EXPECT_FAILS(tsr_scalar_store(&x, TSR_F32, s), TSR_EDTYPE, "not f32");
    s.dtype = TSR_DTYPE_INVALID;
    EXPECT_FAILS(tsr_scalar_store(&x, TSR_F32, s), TSR_EDTYPE, "not invalid");
    EXPECT(x == 7);
    EXPECT(tsr_scalar_to_f64(s) == 0 && tsr_scalar_to_i64(s) == 0 && tsr_scalar_to_u64(s) == 0);
    EXPECT(!tsr_scalar_to_bool(s) && tsr_scalar_to_c128(s).re == 0 && tsr_scalar_to_c128(s).im == 0);
}
