/* value.c - elements as doubles and integers. */
#include "value.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "number.h"

/* Formats ----------------------------------------------------------------------------- */

bool is_float(tsr_dtype dtype) { return ref_is_float(dtype); }
bool is_complex(tsr_dtype dtype) { return ref_is_complex(dtype); }
bool is_integer(tsr_dtype dtype) { return is_signed(dtype) || ref_kind(dtype) == TSR_UNSIGNED; }
bool is_signed(tsr_dtype dtype) { return ref_is_signed(dtype); }

size_t    size_of(tsr_dtype dtype) { return (size_t)ref_size(dtype); }
int       bits_of(tsr_dtype dtype) { return ref_bits(dtype); }
tsr_dtype part_of(tsr_dtype dtype) { return ref_part(dtype); }

static double decode(tsr_dtype dtype, const void *p)
{
    const ref_number n = ref_decode(dtype, p);
    const double x = n.kind == REF_NAN ? (double)NAN : n.kind == REF_INFINITE ? (double)INFINITY
                                                      : ldexp((double)n.bits, n.exponent);
    return n.negative ? -x : x;
}

static void encode(tsr_dtype dtype, void *p, double x)
{
    ref_store_bits(p, ref_size(dtype), ref_encode_float(dtype, ref_decode(TSR_F64, &x)));
}

/* Elements ------------------------------------------------------------------------------ */

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
    if (!is_float(part)) return integer_value(dtype, ref_load_bits(element, (int64_t)size));
    value v = real_value(decode(part, element));
    if (is_complex(dtype)) v.im = decode(part, (const char *)element + size);
    return v;
}

void write_value(tsr_dtype dtype, void *element, value v)
{
    const tsr_dtype part = part_of(dtype);
    const size_t size = size_of(part);
    if (is_float(part)) encode(part, element, v.re);
    else ref_store_bits(element, (int64_t)size, v.bits);
    if (is_complex(dtype)) encode(part, (char *)element + size, v.im);
}

/* Conversion ----------------------------------------------------------------------------- */

void convert(tsr_dtype to_dtype, void *to, tsr_dtype from_dtype, const void *from)
{
    ref_convert(to_dtype, to, from_dtype, from);
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
static double step_near(ref_format f, double x)
{
    const int lowest = 2 - (1 << (f.exponent_bits - 1)), e = x == 0 ? lowest : ilogb(x);
    return ldexp(1, (e < lowest ? lowest : e) - f.mantissa_bits);
}

double largest_of(tsr_dtype dtype)
{
    const ref_format f = ref_format_of(dtype);
    if (!f.infinities) return 448; /* of f8e4m3: the next pattern is its NaN */
    return ldexp(2 - ldexp(1, -f.mantissa_bits), (1 << (f.exponent_bits - 1)) - 1);
}

double smallest_of(tsr_dtype dtype) { return step_near(ref_format_of(dtype), 0); }

static bool is_near_part(tsr_dtype dtype, double got, double wanted, double slack)
{
    const ref_format f = ref_format_of(dtype);
    const double largest = largest_of(dtype);
    if (isnan(wanted)) return isnan(got);
    if (isfinite(got)) return fabs(got - wanted) <= slack + step_near(f, wanted);
    if (isnan(got) && f.infinities) return false;
    if (isinf(got) && signbit(got) != signbit(wanted)) return false;
    return isinf(wanted) || fabs(wanted) + slack + step_near(f, largest) > largest;
}

bool is_near(tsr_dtype dtype, const void *element, value wanted, double slack)
{
    const tsr_dtype part = part_of(dtype);
    const value got = read_value(dtype, element);
    if (!is_float(part)) return got.bits == integer_value(dtype, wanted.bits).bits;
    return is_near_part(part, got.re, wanted.re, slack) &&
           (!is_complex(dtype) || is_near_part(part, got.im, wanted.im, slack));
}

double rounding_near_1(tsr_dtype dtype)
{
    return dtype == TSR_BF16 ? ldexp(1, -8) : dtype == TSR_F16 ? ldexp(1, -11) : epsilon_of(dtype);
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
