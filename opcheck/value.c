/* value.c - formats of elements, bit by bit. */
#include "value.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Formats ----------------------------------------------------------------------------- */

bool is_float(tsr_dtype dtype) { return dtype >= TSR_F8E4M3 && dtype <= TSR_F64; }
bool is_complex(tsr_dtype dtype) { return dtype >= TSR_C32 && dtype <= TSR_C128; }
bool is_integer(tsr_dtype dtype) { return dtype >= TSR_I8 && dtype <= TSR_U64; }
bool is_signed(tsr_dtype dtype) { return dtype >= TSR_I8 && dtype <= TSR_I64; }

size_t size_of(tsr_dtype dtype)
{
    static const size_t sizes[] = {
        [TSR_BOOL] = 1,   [TSR_I8] = 1,     [TSR_I16] = 2, [TSR_I32] = 4,  [TSR_I64] = 8, [TSR_U8] = 1,
        [TSR_U16] = 2,    [TSR_U32] = 4,    [TSR_U64] = 8, [TSR_F8E4M3] = 1, [TSR_F8E5M2] = 1, [TSR_F16] = 2,
        [TSR_BF16] = 2,   [TSR_F32] = 4,    [TSR_F64] = 8, [TSR_C32] = 4,  [TSR_C64] = 8, [TSR_C128] = 16,
    };
    return sizes[dtype];
}

int bits_of(tsr_dtype dtype) { return 8 * (int)size_of(dtype); }

tsr_dtype part_of(tsr_dtype dtype)
{
    return dtype == TSR_C32 ? TSR_F16 : dtype == TSR_C64 ? TSR_F32 : dtype == TSR_C128 ? TSR_F64 : dtype;
}

typedef struct format {
    int    exponent_bits, fraction_bits;
    bool   infinities;
    double largest;
} format;

static format format_of(tsr_dtype dtype)
{
    switch (dtype) {
    case TSR_F8E4M3: return (format){ 4, 3, false, 448 };
    case TSR_F8E5M2: return (format){ 5, 2, true, 57344 };
    case TSR_F16:    return (format){ 5, 10, true, 65504 };
    case TSR_BF16:   return (format){ 8, 7, true, ldexp(255, 120) };
    case TSR_F32:    return (format){ 8, 23, true, ldexp(16777215, 104) };
    default:         return (format){ 11, 52, true, ldexp(9007199254740991, 971) };
    }
}

static int bias_of(format f) { return (1 << (f.exponent_bits - 1)) - 1; }

/* The pattern of infinity; where there is none, of the only NaN. */
static uint64_t top_pattern(format f)
{
    const uint64_t exponent = ((uint64_t)1 << f.exponent_bits) - 1;
    return exponent << f.fraction_bits | (f.infinities ? 0 : ((uint64_t)1 << f.fraction_bits) - 1);
}

static double decode(format f, uint64_t bits)
{
    const uint64_t one = (uint64_t)1 << f.fraction_bits,
                   size = bits & (((uint64_t)1 << (f.exponent_bits + f.fraction_bits)) - 1);
    const int exponent = (int)(size >> f.fraction_bits);
    const uint64_t fraction = size & (one - 1);
    const bool negative = bits >> (f.exponent_bits + f.fraction_bits) & 1;
    double x;
    if (size > top_pattern(f) || (size == top_pattern(f) && !f.infinities)) x = NAN;
    else if (size == top_pattern(f)) x = INFINITY;
    else if (exponent == 0) x = ldexp((double)fraction, 1 - bias_of(f) - f.fraction_bits);
    else x = ldexp((double)(one + fraction), exponent - bias_of(f) - f.fraction_bits);
    return negative ? -x : x;
}

/* Counts x in units of its last place; a count that reaches the next power of two carries
 * into the exponent by itself. */
static uint64_t encode(format f, double x)
{
    const uint64_t sign = (uint64_t)(signbit(x) != 0) << (f.exponent_bits + f.fraction_bits);
    const int lowest = 1 - bias_of(f);
    uint64_t bits;
    if (isnan(x)) return sign | top_pattern(f) | (uint64_t)1 << (f.fraction_bits - 1);
    if (x == 0) return sign;
    if (isinf(x)) return sign | top_pattern(f);
    int e = ilogb(x);
    if (e < lowest) e = lowest;
    if (e > bias_of(f) + 1) return sign | top_pattern(f);
    bits = (uint64_t)rint(ldexp(fabs(x), f.fraction_bits - e)) + ((uint64_t)(e - lowest) << f.fraction_bits);
    return sign | (bits < top_pattern(f) ? bits : top_pattern(f));
}

/* Elements ------------------------------------------------------------------------------ */

static uint64_t load_bits(size_t size, const void *p)
{
    uint8_t a;
    uint16_t b;
    uint32_t c;
    uint64_t d;
    switch (size) {
    case 1:  memcpy(&a, p, 1); return a;
    case 2:  memcpy(&b, p, 2); return b;
    case 4:  memcpy(&c, p, 4); return c;
    default: memcpy(&d, p, 8); return d;
    }
}

static void store_bits(size_t size, void *p, uint64_t bits)
{
    const uint8_t a = (uint8_t)bits;
    const uint16_t b = (uint16_t)bits;
    const uint32_t c = (uint32_t)bits;
    switch (size) {
    case 1:  memcpy(p, &a, 1); break;
    case 2:  memcpy(p, &b, 2); break;
    case 4:  memcpy(p, &c, 4); break;
    default: memcpy(p, &bits, 8);
    }
}

value integer_value(tsr_dtype dtype, uint64_t bits)
{
    const int unused = 64 - bits_of(dtype);
    if (is_signed(dtype)) {
        const uint64_t top = (uint64_t)1 << (63 - unused);
        bits = ((bits << unused >> unused) ^ top) - top;
        return (value){ .bits = bits, .re = (double)(int64_t)bits };
    }
    bits = bits << unused >> unused;
    return (value){ .bits = bits, .re = (double)bits };
}

value real_value(double re) { return (value){ .re = re }; }
value complex_value(double re, double im) { return (value){ .re = re, .im = im }; }

value read_value(tsr_dtype dtype, const void *element)
{
    const tsr_dtype part = part_of(dtype);
    const size_t size = size_of(part);
    if (!is_float(part)) return integer_value(dtype, load_bits(size, element));
    value v = real_value(decode(format_of(part), load_bits(size, element)));
    if (is_complex(dtype)) v.im = decode(format_of(part), load_bits(size, (const char *)element + size));
    return v;
}

void write_value(tsr_dtype dtype, void *element, value v)
{
    const tsr_dtype part = part_of(dtype);
    const size_t size = size_of(part);
    store_bits(size, element, is_float(part) ? encode(format_of(part), v.re) : v.bits);
    if (is_complex(dtype)) store_bits(size, (char *)element + size, encode(format_of(part), v.im));
}

/* Conversion ----------------------------------------------------------------------------- */

static uint64_t saturate(tsr_dtype dtype, double x)
{
    const int width = bits_of(dtype) - is_signed(dtype);
    const double end = ldexp(1, width);
    const uint64_t highest = width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
    if (isnan(x)) return 0;
    if (x >= end) return highest;
    if (!is_signed(dtype)) return x <= 0 ? 0 : (uint64_t)x;
    return x <= -end ? ~highest : (uint64_t)(int64_t)x;
}

/* A long integer as a double that rounds to any shorter float as the integer itself does: bits
 * that do not fit are or-ed into the last one that does. */
static double sticky(tsr_dtype dtype, uint64_t bits)
{
    const bool negative = is_signed(dtype) && (bits >> 63);
    uint64_t size = negative ? 0 - bits : bits;
    double scale = 1;
    if (size >> 53) {
        size = size >> 11 | ((size & 0x7ff) != 0);
        scale = 2048;
    }
    return (negative ? -(double)size : (double)size) * scale;
}

/* An integer as a floating dtype has it. */
static double as_float(tsr_dtype to, tsr_dtype from, value v)
{
    if (part_of(to) != TSR_F64) return sticky(from, v.bits);
    return v.re;
}

void convert(tsr_dtype to_dtype, void *to, tsr_dtype from_dtype, const void *from)
{
    value v = read_value(from_dtype, from);
    const bool was_float = is_float(part_of(from_dtype));
    if (to_dtype == from_dtype) {
        memcpy(to, from, size_of(to_dtype));
        return;
    }
    if (to_dtype == TSR_BOOL)
        v.bits = was_float ? v.re != 0 || v.im != 0 : v.bits != 0; /* NaN is not 0 */
    else if (is_integer(to_dtype))   v.bits = was_float ? saturate(to_dtype, v.re) : v.bits;
    else if (!was_float)             v.re = as_float(to_dtype, from_dtype, v);
    write_value(to_dtype, to, v);
}

/* Comparing ------------------------------------------------------------------------------- */

typedef bool (*same_part)(tsr_dtype part, const void *a, const void *b);

static bool same_parts(tsr_dtype dtype, const void *a, const void *b, same_part same)
{
    const tsr_dtype part = part_of(dtype);
    const size_t size = size_of(part);
    return same(part, a, b) &&
           (!is_complex(dtype) || same(part, (const char *)a + size, (const char *)b + size));
}

static bool same_part_bits(tsr_dtype part, const void *a, const void *b)
{
    return !memcmp(a, b, size_of(part)) ||
           (is_float(part) && isnan(read_value(part, a).re) && isnan(read_value(part, b).re));
}

static bool same_part_number(tsr_dtype part, const void *a, const void *b)
{
    return same_part_bits(part, a, b) || (is_float(part) && read_value(part, a).re == read_value(part, b).re);
}

bool same_bits(tsr_dtype dtype, const void *a, const void *b)
{
    return same_parts(dtype, a, b, same_part_bits);
}
bool same_number(tsr_dtype dtype, const void *a, const void *b)
{
    return same_parts(dtype, a, b, same_part_number);
}

/* The distance between numbers of the format near x. */
static double step_near(format f, double x)
{
    const int lowest = 1 - bias_of(f), e = x == 0 ? lowest : ilogb(x);
    return ldexp(1, (e < lowest ? lowest : e) - f.fraction_bits);
}

static bool is_near_part(tsr_dtype dtype, double got, double wanted, double slack)
{
    const format f = format_of(dtype);
    if (isnan(wanted)) return isnan(got);
    if (isfinite(got)) return fabs(got - wanted) <= slack + step_near(f, wanted);
    if (isnan(got) && f.infinities) return false;
    if (isinf(got) && signbit(got) != signbit(wanted)) return false;
    return isinf(wanted) || fabs(wanted) + slack + step_near(f, f.largest) > f.largest;
}

bool is_near(tsr_dtype dtype, const void *element, value wanted, double slack)
{
    const tsr_dtype part = part_of(dtype);
    const value got = read_value(dtype, element);
    if (!is_float(part)) return got.bits == integer_value(dtype, wanted.bits).bits;
    return is_near_part(part, got.re, wanted.re, slack) &&
           (!is_complex(dtype) || is_near_part(part, got.im, wanted.im, slack));
}

double epsilon_of(tsr_dtype dtype) { return part_of(dtype) == TSR_F64 ? ldexp(1, -52) : ldexp(1, -23); }

const char *value_text(char out[64], tsr_dtype dtype, const void *element)
{
    const value v = read_value(dtype, element);
    if (is_complex(dtype))      snprintf(out, 64, "%.9g%+.9gi", v.re, v.im);
    else if (is_float(dtype))   snprintf(out, 64, "%.17g", v.re);
    else if (is_signed(dtype))  snprintf(out, 64, "%" PRId64, (int64_t)v.bits);
    else                        snprintf(out, 64, "%" PRIu64, v.bits);
    return out;
}
