/* numbers.c - conversions of single numbers, for fill and for the parameters of ops. */
#include "nest.h"
#include "numbers.h"

#include <math.h>
#include <string.h>

/* A floating format shorter than f32. */
typedef struct format {
    int      mantissa, bias, bytes;
    uint64_t top;  /* what is too large: infinity, or NaN */
    uint64_t nan;
} format;

static const format *format_of(tsr_dtype dtype)
{
    static const format formats[] = {
        { 3, 7, 1, 0x7f, 0x7f },
        { 2, 15, 1, 0x7c, 0x7e },
        { 10, 15, 2, 0x7c00, 0x7e00 },
        { 7, 127, 2, 0x7f80, 0x7fc0 },
    };
    switch (dtype) {
    case TSR_F8E4M3: return &formats[0];
    case TSR_F8E5M2: return &formats[1];
    case TSR_F16:    return &formats[2];
    default:         return &formats[3];
    }
}

static uint64_t double_bits(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

/* Of a finite magnitude: to nearest, ties to even. */
static uint64_t round_magnitude(double magnitude, const format *f)
{
    int e = 0;
    if (magnitude == 0) return 0;
    (void)frexp(magnitude, &e);
    const int exponent = e - 1 < 1 - f->bias ? 1 - f->bias : e - 1;
    const double steps = ldexp(magnitude, f->mantissa - exponent), whole = floor(steps), rest = steps - whole;
    uint64_t count = (uint64_t)whole;
    if (rest > 0.5 || (rest == 0.5 && (count & 1))) count++;
    const uint64_t bits =
        ((uint64_t)(exponent + f->bias) << f->mantissa) + count - ((uint64_t)1 << f->mantissa);
    return bits < f->top ? bits : f->top;
}

static uint64_t short_bits(tsr_dtype dtype, double v)
{
    const format *f = format_of(dtype);
    const uint64_t sign = signbit(v) ? (uint64_t)1 << (8 * f->bytes - 1) : 0;
    if (v != v) return sign | f->nan;
    return sign | (isinf(v) ? f->top : round_magnitude(fabs(v), f));
}

uint64_t ocl_float_bits(tsr_dtype dtype, double v)
{
    if (dtype == TSR_F64) return double_bits(v);
    if (dtype != TSR_F32) return short_bits(dtype, v);
    const float narrow = (float)v;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    return bits;
}

double ocl_float_value(tsr_dtype dtype, uint64_t bits)
{
    if (dtype == TSR_F64) {
        double v;
        memcpy(&v, &bits, sizeof v);
        return v;
    }
    if (dtype == TSR_F32) {
        const uint32_t half = (uint32_t)bits;
        float v;
        memcpy(&v, &half, sizeof v);
        return (double)v;
    }
    const format *f = format_of(dtype);
    const uint64_t sign = bits >> (8 * f->bytes - 1) & 1,
                   m = bits & (((uint64_t)1 << (8 * f->bytes - 1)) - 1);
    const uint64_t exponent = m >> f->mantissa, rest = m & (((uint64_t)1 << f->mantissa) - 1);
    double v;
    if (m > f->top || (m == f->top && f->nan == f->top)) v = (double)NAN;
    else if (m == f->top) v = (double)INFINITY;
    else if (exponent == 0) v = ldexp((double)rest, 1 - f->bias - f->mantissa);
    else v = ldexp((double)(rest + ((uint64_t)1 << f->mantissa)), (int)exponent - f->bias - f->mantissa);
    return sign ? -v : v;
}

/* A double that every shorter float is rounded from as from the integer itself. */
static double odd_double(uint64_t v)
{
    return (double)(v >> 53 ? (v & ~(uint64_t)0x7ff) | (v & 0x7ff ? 0x800u : 0u) : v);
}

/* Scalars -------------------------------------------------------------------------------- */

double ocl_scalar_real(tsr_scalar s)
{
    switch (s.dtype) {
    case TSR_BOOL:
    case TSR_U64: return (double)s.as.u;
    case TSR_I64: return (double)s.as.i;
    default:      return s.as.c.re;
    }
}

double ocl_scalar_imaginary(tsr_scalar s) { return s.dtype == TSR_C128 ? s.as.c.im : 0; }

int64_t ocl_to_i64(double v)
{
    if (v != v) return 0;
    if (v >= 9223372036854775808.0) return INT64_MAX;
    return v < -9223372036854775808.0 ? INT64_MIN : (int64_t)v;
}

uint64_t ocl_scalar_whole(tsr_scalar s)
{
    switch (s.dtype) {
    case TSR_BOOL:
    case TSR_U64: return s.as.u;
    case TSR_I64: return (uint64_t)s.as.i;
    default:      return (uint64_t)ocl_to_i64(s.as.c.re);
    }
}

/* Toward zero, to the nearest end of an integer dtype; NaN gives 0. */
static uint64_t saturated(tsr_dtype dtype, double v)
{
    const int bits = 8 * (int)ocl_size_of(dtype);
    if (v != v) return 0;
    if (ocl_is_signed(dtype)) {
        const double end = ldexp(1, bits - 1);
        if (v >= end) return ((uint64_t)1 << (bits - 1)) - 1;
        return v < -end ? (uint64_t)1 << (bits - 1) : (uint64_t)(int64_t)v;
    }
    if (v >= ldexp(1, bits)) return bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    return v > 0 ? (uint64_t)v : 0;
}

/* The real part of a scalar as a pattern of a floating dtype, rounded once. */
static uint64_t real_bits(tsr_dtype dtype, tsr_scalar s)
{
    if (dtype == TSR_F64 || s.dtype == TSR_F64 || s.dtype == TSR_C128)
        return ocl_float_bits(dtype, ocl_scalar_real(s));
    if (s.dtype == TSR_I64 && s.as.i < 0) return ocl_float_bits(dtype, -odd_double(0 - (uint64_t)s.as.i));
    return ocl_float_bits(dtype, odd_double(s.as.u));
}

void ocl_scalar_bytes(unsigned char out[16], tsr_dtype dtype, tsr_scalar s)
{
    const bool is_float = s.dtype == TSR_F64 || s.dtype == TSR_C128;
    uint64_t bits;
    memset(out, 0, 16);
    if (dtype == TSR_BOOL) {
        out[0] = is_float ? s.as.c.re != 0 || ocl_scalar_imaginary(s) != 0 : s.as.u != 0;
    } else if (ocl_is_complex(dtype)) {
        const tsr_dtype part = dtype == TSR_C128 ? TSR_F64 : dtype == TSR_C64 ? TSR_F32 : TSR_F16;
        const size_t size = ocl_size_of(part);
        bits = real_bits(part, s);
        memcpy(out, &bits, size);
        bits = ocl_float_bits(part, ocl_scalar_imaginary(s));
        memcpy(out + size, &bits, size);
    } else {
        bits = ocl_is_floating(dtype) ? real_bits(dtype, s) : is_float ? saturated(dtype, s.as.c.re) : s.as.u;
        memcpy(out, &bits, ocl_size_of(dtype));
    }
}

/* Classes --------------------------------------------------------------------------------- */

bool ocl_is_floating(tsr_dtype dtype) { return dtype >= TSR_F8E4M3 && dtype <= TSR_F64; }
bool ocl_is_complex(tsr_dtype dtype)  { return dtype >= TSR_C32 && dtype <= TSR_C128; }
bool ocl_is_signed(tsr_dtype dtype)   { return dtype >= TSR_I8 && dtype <= TSR_I64; }

const char *ocl_class_option(tsr_dtype dtype)
{
    if (dtype == TSR_F64) return "-DCLASS_DOUBLE";
    if (ocl_is_floating(dtype)) return "-DCLASS_FLOAT";
    if (ocl_is_complex(dtype)) return "-DCLASS_COMPLEX";
    return ocl_is_signed(dtype) ? "-DCLASS_SIGNED" : "-DCLASS_UNSIGNED";
}

const char *ocl_lacks(const ocl_device *d, tsr_dtype dtype)
{
    if ((dtype == TSR_F64 || dtype == TSR_C128) && !d->has_f64) return "the device has no f64";
    return NULL;
}
