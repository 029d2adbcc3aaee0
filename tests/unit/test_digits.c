/* test_digits.c - decimal digits against the C library's conversions.
 *
 * The oracle shares nothing with digits.c: a text is right if strtod reads it back
 * as the same value of the format, if no text with one digit less does, and if no
 * text of the same length lies nearer. The C library is trusted to convert
 * correctly rounded, as glibc, musl and the BSDs do. */
#include "test.h"

#include "core/digits.h"

#include <math.h>

enum { ROOM = 1200 };

/* Reading back, per format --------------------------------------------------- */

static double value_of(tsr_dtype dtype, uint64_t bits)
{
    switch (dtype) {
    case TSR_F8E4M3: return (double)tsr_f8e4m3_to_f32((uint8_t)bits);
    case TSR_F8E5M2: return (double)tsr_f8e5m2_to_f32((uint8_t)bits);
    case TSR_F16:    return (double)tsr_f16_to_f32((uint16_t)bits);
    case TSR_BF16:   return (double)tsr_bf16_to_f32((uint16_t)bits);
    case TSR_F32: {
        const uint32_t b = (uint32_t)bits;
        float f;
        memcpy(&f, &b, sizeof f);
        return (double)f;
    }
    default: {
        double d;
        memcpy(&d, &bits, sizeof d);
        return d;
    }
    }
}

/* Half the gap to the neighbour on each side, for the formats of up to 16 bits:
 * exact in double. The gap beyond the largest value counts as the one below it. */
static bool reads_back_short(tsr_dtype dtype, uint64_t bits, double text_value)
{
    const double v = value_of(dtype, bits), below = value_of(dtype, bits - 1);
    double above = value_of(dtype, bits + 1);
    if (!isfinite(above)) above = v + (v - below);
    const double low = v - (v - below) / 2, high = v + (above - v) / 2;
    if (bits % 2 == 0) return low <= text_value && text_value <= high;
    return low < text_value && text_value < high;
}

/* Does this text denote the (positive, not zero) value and no other of its format? */
static bool reads_back(tsr_dtype dtype, uint64_t bits, const char *text)
{
    if (dtype == TSR_F64) return strtod(text, NULL) == value_of(dtype, bits);
    if (dtype == TSR_F32) return (double)strtof(text, NULL) == value_of(dtype, bits);
    return reads_back_short(dtype, bits, strtod(text, NULL));
}

/* The slow check ------------------------------------------------------------- */

static void digits_of(tsri_decimal *d, char *room, tsr_dtype dtype, uint64_t bits, tsri_cut cut)
{
    unsigned char element[8];
    const uint8_t b8 = (uint8_t)bits;
    const uint16_t b16 = (uint16_t)bits;
    const uint32_t b32 = (uint32_t)bits;
    const size_t size = tsr_dtype_size(dtype);
    memcpy(element, size == 1 ? (const void *)&b8 : size == 2 ? (const void *)&b16
                  : size == 4 ? (const void *)&b32 : (const void *)&bits, size);
    const tsri_binary v = tsri_binary_load(dtype, element);
    *d = (tsri_decimal){ .digit = room, .capacity = ROOM };
    tsri_digits(d, &v, cut);
}

/* "d.dddde-5" */
static void text_of(char *out, const tsri_decimal *d)
{
    const int n = sprintf(out, "%c.", d->digit[0]);
    sprintf(out + n, "%.*se%d", d->n - 1, d->digit + 1, d->exponent);
}

/* A text of n digits one unit of its last place above or below that of printf. */
static void neighbour_text(char *out, double v, int n, int by)
{
    char digits[40];
    long exponent;
    snprintf(out, 64, "%.*e", n - 1, v);
    exponent = strtol(strchr(out, 'e') + 1, NULL, 10);
    digits[0] = '0';
    digits[1] = out[0];
    memcpy(digits + 2, out + 2, (size_t)n - 1);
    int i = n;
    for (; by > 0 && digits[i] == '9'; i--) digits[i] = '0';
    for (; by < 0 && digits[i] == '0' && i > 0; i--) digits[i] = '9';
    digits[i] = (char)(digits[i] + by);
    snprintf(out, 64, "%.*s.%.*se%ld", 2, digits, n - 1, digits + 2, exponent);
}

static bool some_text_of(tsr_dtype dtype, uint64_t bits, int n)
{
    for (int by = -1; by <= 1; by++) {
        char text[64];
        neighbour_text(text, value_of(dtype, bits), n, by);
        if (reads_back(dtype, bits, text)) return true;
    }
    return false;
}

/* Of the texts of n digits, the nearest to v that reads back. */
static void check_shortest(tsr_dtype dtype, uint64_t bits)
{
    char room[ROOM], text[ROOM + 16], nearest[64];
    tsri_decimal d;
    const double v = value_of(dtype, bits);
    digits_of(&d, room, dtype, bits, TSRI_SHORTEST);
    text_of(text, &d);
    EXPECT_MSG(reads_back(dtype, bits, text), "%s 0x%llx: %s is another value", tsr_dtype_name(dtype),
               (unsigned long long)bits, text);
    EXPECT_MSG(d.n == 1 || d.digit[d.n - 1] != '0', "%s 0x%llx: %s", tsr_dtype_name(dtype),
               (unsigned long long)bits, text);
    EXPECT_MSG(d.n == 1 || !some_text_of(dtype, bits, d.n - 1), "%s 0x%llx: %s is not shortest",
               tsr_dtype_name(dtype), (unsigned long long)bits, text);
    snprintf(nearest, sizeof nearest, "%.*e", d.n - 1, v);
    if (reads_back(dtype, bits, nearest))
        EXPECT_MSG(strtod(nearest, NULL) == strtod(text, NULL), "%s 0x%llx: %s is not nearest, %s is",
                   tsr_dtype_name(dtype), (unsigned long long)bits, text, nearest);
}

/* Every positive finite pattern but zero. */
static void check_all_patterns(tsr_dtype dtype)
{
    const uint64_t count = (uint64_t)1 << (tsr_dtype_size(dtype) * 8 - 1);
    int64_t checked = 0;
    for (uint64_t bits = 1; bits < count; bits++) {
        if (!isfinite(value_of(dtype, bits))) continue;
        check_shortest(dtype, bits);
        checked++;
    }
    EXPECT(checked > 100);
}

TEST(test_digits_of_every_f16_are_shortest_and_nearest)    { check_all_patterns(TSR_F16); }
TEST(test_digits_of_every_bf16_are_shortest_and_nearest)   { check_all_patterns(TSR_BF16); }
TEST(test_digits_of_every_f8e4m3_are_shortest_and_nearest) { check_all_patterns(TSR_F8E4M3); }
TEST(test_digits_of_every_f8e5m2_are_shortest_and_nearest) { check_all_patterns(TSR_F8E5M2); }

/* TSR_TEST_DIGITS asks for more values than the quick default. */
static int64_t how_many(void)
{
    const char *asked = getenv("TSR_TEST_DIGITS");
    return asked ? strtoll(asked, NULL, 10) : 100000;
}

/* Random patterns, and values next to powers of two and of ten, where it is hard. */
static void check_random(tsr_dtype dtype, int mantissa, int exponents)
{
    uint64_t state = 42;
    const uint64_t one = (uint64_t)1 << mantissa;
    for (int64_t i = how_many(); i > 0; i--) {
        const uint64_t bits = test_next(&state) % ((uint64_t)(exponents - 1) * one);
        if (bits > 0) check_shortest(dtype, bits);
    }
    for (int e = 0; e < exponents - 1; e++)
        for (uint64_t near = 0; near < 4; near++) {
            check_shortest(dtype, (uint64_t)e * one + near + 1);
            if (e > 0) check_shortest(dtype, (uint64_t)e * one - near);
        }
}

TEST(test_digits_of_f32_are_shortest_and_nearest) { check_random(TSR_F32, 23, 255); }
TEST(test_digits_of_f64_are_shortest_and_nearest) { check_random(TSR_F64, 52, 2047); }

TEST(test_digits_of_powers_of_ten_are_one_digit)
{
    for (int e = -323; e <= 308; e++) {
        char text[16], room[ROOM];
        tsri_decimal d;
        uint64_t bits;
        snprintf(text, sizeof text, "1e%d", e);
        const double v = strtod(text, NULL);
        memcpy(&bits, &v, sizeof bits);
        digits_of(&d, room, TSR_F64, bits, TSRI_SHORTEST);
        EXPECT_MSG(d.n == 1 && d.digit[0] == '1' && d.exponent == e, "%s: %.*s e%d", text, d.n, d.digit,
                   d.exponent);
    }
}

/* Digits with a precision ------------------------------------------------------ */

static void trim(char *text)
{
    size_t n = strlen(text);
    while (n > 1 && text[n - 1] == '0' && strchr(text, '.')) text[--n] = '\0';
    if (n > 1 && text[n - 1] == '.') text[n - 1] = '\0';
}

static void check_scientific(double v, int precision)
{
    char want[ROOM + 16], got[ROOM + 16], room[ROOM];
    uint64_t bits;
    tsri_decimal d;
    memcpy(&bits, &v, sizeof bits);
    digits_of(&d, room, TSR_F64, bits, (tsri_cut){ false, true, precision, -1 });
    text_of(got, &d);
    snprintf(want, sizeof want, "%.*e", precision, v);
    const long exponent = strtol(strchr(want, 'e') + 1, NULL, 10);
    *strchr(want, 'e') = '\0';
    *strchr(got, 'e') = '\0';
    trim(want);
    trim(got);
    EXPECT_MSG(!strcmp(want, got) && exponent == d.exponent, "%.17g to %d: %se%d, not %se%ld", v, precision,
               got, d.exponent, want, exponent);
}

static void check_fixed(double v, int precision)
{
    char want[ROOM], got[ROOM], room[ROOM];
    uint64_t bits;
    tsri_decimal d;
    memcpy(&bits, &v, sizeof bits);
    digits_of(&d, room, TSR_F64, bits, (tsri_cut){ false, false, precision, -1 });
    tsri_text text = tsri_text_into(got, sizeof got);
    tsri_put_whole(&text, &d);
    tsri_put_char(&text, '.');
    tsri_put_fraction(&text, &d);
    EXPECT((int)text.length == tsri_whole_length(&d) + 1 + tsri_fraction_length(&d));
    snprintf(want, sizeof want, "%.*f", precision, v);
    trim(want);
    trim(got);
    EXPECT_MSG(!strcmp(want, got), "%.17g to %d: %s, not %s", v, precision, got, want);
}

static double random_double(uint64_t *state, bool moderate)
{
    uint64_t bits = test_next(state) % ((uint64_t)2047 << 52);
    double v;
    if (moderate) bits = bits % ((uint64_t)1 << 52) + ((uint64_t)(1023 - 30 + test_below(state, 60)) << 52);
    memcpy(&v, &bits, sizeof v);
    return v;
}

TEST(test_digits_with_a_precision_are_correctly_rounded)
{
    uint64_t state = 7;
    for (int64_t i = how_many() / 5; i > 0; i--) {
        const double v = random_double(&state, i % 2);
        check_scientific(v, (int)test_below(&state, 30));
        check_fixed(v, (int)test_below(&state, 30));
    }
}

TEST(test_digits_of_ties_round_to_even)
{
    static const double ties[] = { 0.5, 1.5, 2.5, 0.125, 0.375, 2.25, 9.5, 99.5, 0.0625, 1e22 + 2097152 };
    for (size_t i = 0; i < sizeof ties / sizeof *ties; i++)
        for (int precision = 0; precision < 5; precision++) {
            check_fixed(ties[i], precision);
            check_scientific(ties[i], precision);
        }
}

TEST(test_digits_can_be_all_of_them)
{
    static const double v[] = { 5e-324, 2.2250738585072011e-308, 1.7976931348623157e308, 0.1, 1e23 };
    for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
        check_scientific(v[i], 1100);
        check_fixed(v[i], 0);
        check_fixed(v[i], 850);
    }
}

TEST(test_digits_end_with_the_room_correctly_rounded)
{
    char room[5];
    const double v = 123456.0;
    const tsri_binary b = tsri_binary_load(TSR_F64, &v);
    tsri_decimal d = { .digit = room, .capacity = 5 };
    tsri_digits(&d, &b, TSRI_SHORTEST);
    EXPECT(d.n == 5 && d.exponent == 5 && !memcmp(d.digit, "12346", 5));
}

/* One digit further than needed shows the value's own digits, not zeros. */
TEST(test_digits_go_on_where_asked)
{
    char room[ROOM];
    tsri_decimal d;
    const float v = 0.1f;
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    digits_of(&d, room, TSR_F32, bits, (tsri_cut){ true, true, 12, 12 });
    EXPECT_MSG(d.n == 13 && !memcmp(d.digit, "1000000014901", 13), "%.*s", d.n, d.digit);
    digits_of(&d, room, TSR_F16, 0x7bff, TSRI_SHORTEST);
    EXPECT_MSG(d.n == 3 && !memcmp(d.digit, "655", 3) && d.exponent == 4, "%.*s", d.n, d.digit);
    digits_of(&d, room, TSR_F16, 0x7bff, TSRI_WHOLE_SHORTEST);
    EXPECT_MSG(d.n == 5 && !memcmp(d.digit, "65504", 5) && d.exponent == 4, "%.*s", d.n, d.digit);
}

/* Text --------------------------------------------------------------------------- */

static void expect_f64(double v, const char *want)
{
    char got[64];
    tsri_text text = tsri_text_into(got, sizeof got);
    tsri_put_f64(&text, v);
    EXPECT_MSG(!strcmp(got, want) && text.length == strlen(want), "%s, not %s", got, want);
}

TEST(test_put_f64_is_short_and_plain)
{
    expect_f64(0, "0");
    expect_f64(-0.0, "-0");
    expect_f64(2, "2");
    expect_f64(-1.5, "-1.5");
    expect_f64(0.1, "0.1");
    expect_f64(1.0 / 3, "0.3333333333333333");
    expect_f64(100, "100");
    expect_f64(0.0001, "0.0001");
    expect_f64(0.00001234, "1.234e-05");
    expect_f64(9007199254740993.0, "9007199254740992");
    expect_f64(1e15, "1000000000000000");
    expect_f64(1e16, "1e+16");
    expect_f64(1.5e300, "1.5e+300");
    expect_f64(5e-324, "5e-324");
    expect_f64(1.7976931348623157e308, "1.7976931348623157e+308");
    expect_f64((double)INFINITY, "inf");
    expect_f64(-(double)INFINITY, "-inf");
    expect_f64((double)NAN, "nan");
}

static void expect_scalar(tsr_dtype dtype, const void *element, const char *want)
{
    char got[64];
    tsri_text text = tsri_text_into(got, sizeof got);
    tsri_put_scalar(&text, dtype, element);
    EXPECT_MSG(!strcmp(got, want), "%s: %s, not %s", tsr_dtype_name(dtype), got, want);
}

TEST(test_put_scalar_writes_every_dtype)
{
    expect_scalar(TSR_BOOL, &(uint8_t){ 1 }, "True");
    expect_scalar(TSR_BOOL, &(uint8_t){ 0 }, "False");
    expect_scalar(TSR_I8, &(int8_t){ -128 }, "-128");
    expect_scalar(TSR_I16, &(int16_t){ -32768 }, "-32768");
    expect_scalar(TSR_I32, &(int32_t){ INT32_MIN }, "-2147483648");
    expect_scalar(TSR_I64, &(int64_t){ INT64_MIN }, "-9223372036854775808");
    expect_scalar(TSR_I64, &(int64_t){ INT64_MAX }, "9223372036854775807");
    expect_scalar(TSR_U8, &(uint8_t){ 255 }, "255");
    expect_scalar(TSR_U16, &(uint16_t){ 65535 }, "65535");
    expect_scalar(TSR_U32, &(uint32_t){ UINT32_MAX }, "4294967295");
    expect_scalar(TSR_U64, &(uint64_t){ UINT64_MAX }, "18446744073709551615");
    expect_scalar(TSR_F8E4M3, &(uint8_t){ 0x7e }, "448");
    expect_scalar(TSR_F8E4M3, &(uint8_t){ 0x7f }, "nan");
    expect_scalar(TSR_F8E4M3, &(uint8_t){ 0x78 }, "256");
    expect_scalar(TSR_F8E5M2, &(uint8_t){ 0xfc }, "-inf");
    expect_scalar(TSR_F8E5M2, &(uint8_t){ 0x01 }, "2e-05");
    expect_scalar(TSR_F16, &(uint16_t){ 0x2e66 }, "0.1");
    expect_scalar(TSR_F16, &(uint16_t){ 0x7bff }, "65504");
    expect_scalar(TSR_BF16, &(uint16_t){ 0x3dcd }, "0.1");
    expect_scalar(TSR_F32, &(float){ 0.1f }, "0.1");
    expect_scalar(TSR_F32, &(float){ 16777216.0f }, "16777216");
    expect_scalar(TSR_F64, &(double){ 0.1 }, "0.1");
    expect_scalar(TSR_C32, &(tsr_c32){ 0x3c00, 0xc000 }, "1-2j");
    expect_scalar(TSR_C64, &(tsr_c64){ 1.5f, 2 }, "1.5+2j");
    expect_scalar(TSR_C128, &(tsr_c128){ -0.0, -(double)NAN }, "-0+nanj");
}

/* Both write the same, whole and cut off. */
#define EXPECT_AS_PRINTF(...)                                                                   \
    do {                                                                                        \
        char want_[64], got_[64], part_[8];                                                     \
        const int n_ = snprintf(want_, sizeof want_, __VA_ARGS__);                              \
        tsri_text text_ = tsri_text_into(got_, sizeof got_);                                    \
        tsri_put(&text_, __VA_ARGS__);                                                          \
        EXPECT_MSG(text_.length == (size_t)n_ && !strcmp(want_, got_), "%s, not %s", got_, want_); \
        text_ = tsri_text_into(part_, sizeof part_);                                            \
        tsri_put(&text_, __VA_ARGS__);                                                          \
        EXPECT_MSG(text_.length == (size_t)n_ && !strncmp(want_, part_, 7), "%s", part_);       \
    } while (0)

TEST(test_put_writes_as_printf_does)
{
    EXPECT_AS_PRINTF("%d %i %u %x", -12, 34, 56u, 0xabcdu);
    EXPECT_AS_PRINTF("%ld %lld %zd %jd %td", -1L, -2LL, (size_t)3, (intmax_t)-4, (ptrdiff_t)-5);
    EXPECT_AS_PRINTF("%lu %llu", 1UL, 0xffffffffffffffffULL);
    EXPECT_AS_PRINTF("%zu %ju", SIZE_MAX, UINTMAX_MAX);
    EXPECT_AS_PRINTF("%lx %llx %zx", 0xfffffffffUL, 0x123456789abcdefULL, (size_t)0);
    EXPECT_AS_PRINTF("%lld %lld", (long long)INT64_MIN, (long long)INT64_MAX);
    EXPECT_AS_PRINTF("%d %u", INT32_MIN, UINT32_MAX);
    EXPECT_AS_PRINTF("[%5d] [%-5d] [%*d] [%-*d]", 42, -42, 6, 7, 6, 7);
    EXPECT_AS_PRINTF("[%2d] [%-2d] [%1s]", 12345, 12345, "abc");
    EXPECT_AS_PRINTF("[%s] [%.2s] [%.*s] [%6.1s] [%-6s]", "text", "text", 3, "text", "text", "text");
    EXPECT_AS_PRINTF("[%.9s] [%.0s] [%s]", "text", "text", "");
    EXPECT_AS_PRINTF("%c%c 100%%", 'a', 'b');
    EXPECT_AS_PRINTF("[%3c] [%-3c]", 'a', 'b');
}

TEST(test_put_takes_a_null_string_and_an_unfinished_format)
{
    char got[64];
    const char *volatile none = NULL, *volatile cut = "a%", *volatile other = "a%qb";
    tsri_text text = tsri_text_into(got, sizeof got);
    tsri_put(&text, "%s %.3s", none, none);
    EXPECT(!strcmp(got, "(null) (nu"));
    text = tsri_text_into(got, sizeof got);
    tsri_put(&text, cut, 0);
    EXPECT(!strcmp(got, "a"));
    text = tsri_text_into(got, sizeof got);
    tsri_put(&text, other, 0);
    EXPECT(!strcmp(got, "aqb"));
}
