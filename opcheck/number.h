/* number.h - elements of every dtype as exact numbers, by integer arithmetic alone.
 *
 * Nothing here calls the library, so that it can be held against it. */
#ifndef TSR_OPCHECK_NUMBER_H
#define TSR_OPCHECK_NUMBER_H

#include <string.h>

#include "tessera/dtype.h"

/* Dtypes -------------------------------------------------------------------------- */

static inline int64_t ref_size(tsr_dtype dtype)
{
    static const int64_t sizes[] = {
        0,
#define X(ID, suffix, S, kind, name) sizeof(S),
#include "tessera/dtype.def"
#undef X
    };
    return sizes[dtype];
}

static inline tsr_kind ref_kind(tsr_dtype dtype)
{
    static const tsr_kind kinds[] = {
        TSR_KIND_INVALID,
#define X(ID, suffix, S, kind, name) TSR_##kind,
#include "tessera/dtype.def"
#undef X
    };
    return kinds[dtype];
}

static inline bool ref_is_complex(tsr_dtype dtype) { return ref_kind(dtype) == TSR_COMPLEX; }

/* What an element's address must be a multiple of. */
static inline int64_t ref_align(tsr_dtype dtype) { return ref_size(dtype) / (ref_is_complex(dtype) ? 2 : 1); }

static inline tsr_dtype ref_part(tsr_dtype dtype)
{
    return dtype == TSR_C32 ? TSR_F16 : dtype == TSR_C64 ? TSR_F32 : dtype == TSR_C128 ? TSR_F64 : dtype;
}

/* Numbers ------------------------------------------------------------------------- */

/* (-1)^negative * bits * 2^exponent, exactly; or one of the others. */
typedef struct ref_number {
    enum { REF_FINITE, REF_INFINITE, REF_NAN } kind;
    bool     negative;
    uint64_t bits;
    int      exponent;
} ref_number;

typedef struct ref_format {
    int  exponent_bits, mantissa_bits;
    bool infinities;                     /* f8e4m3 has none, and one NaN per sign */
} ref_format;

static inline ref_format ref_format_of(tsr_dtype dtype)
{
    switch (dtype) {
    case TSR_F8E4M3: return (ref_format){ 4, 3, false };
    case TSR_F8E5M2: return (ref_format){ 5, 2, true };
    case TSR_F16:    return (ref_format){ 5, 10, true };
    case TSR_BF16:   return (ref_format){ 8, 7, true };
    case TSR_F32:    return (ref_format){ 8, 23, true };
    default:         return (ref_format){ 11, 52, true };
    }
}

static inline bool ref_is_float(tsr_dtype d) { return ref_kind(d) == TSR_FLOATING; }
static inline bool ref_is_signed(tsr_dtype d) { return ref_kind(d) == TSR_SIGNED; }
static inline int  ref_bits(tsr_dtype d) { return (int)ref_size(d) * 8; }
static inline uint64_t ref_low_mask(int bits) { return bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1; }

/* 1, 2, 4 or 8 bytes at any address. */
static inline uint64_t ref_load_bits(const void *p, int64_t size)
{
    union { uint8_t b; uint16_t h; uint32_t w; uint64_t d; } x = { .d = 0 };
    memcpy(&x, p, size < 8 ? (size_t)size : 8);
    return size == 1 ? x.b : size == 2 ? x.h : size == 4 ? x.w : x.d;
}

static inline void ref_store_bits(void *p, int64_t size, uint64_t bits)
{
    union { uint8_t b; uint16_t h; uint32_t w; uint64_t d; } x;
    if (size == 1)      x.b = (uint8_t)bits;
    else if (size == 2) x.h = (uint16_t)bits;
    else if (size == 4) x.w = (uint32_t)bits;
    else                x.d = bits;
    memcpy(p, &x, (size_t)size);
}

static inline ref_number ref_decode_float(tsr_dtype dtype, uint64_t bits)
{
    const ref_format f = ref_format_of(dtype);
    const uint64_t mantissa = bits & ref_low_mask(f.mantissa_bits);
    const int field = (int)(bits >> f.mantissa_bits & ref_low_mask(f.exponent_bits));
    const int top = (1 << f.exponent_bits) - 1, bias = top / 2;
    ref_number n = { REF_FINITE, bits >> (f.mantissa_bits + f.exponent_bits) & 1, mantissa, 0 };
    if (field == top && f.infinities) n.kind = mantissa ? REF_NAN : REF_INFINITE;
    if (field == top && !f.infinities && mantissa == ref_low_mask(f.mantissa_bits)) n.kind = REF_NAN;
    if (field > 0) n.bits |= (uint64_t)1 << f.mantissa_bits;
    n.exponent = (field > 0 ? field : 1) - bias - f.mantissa_bits;
    return n;
}

/* A real dtype's element. */
static inline ref_number ref_decode(tsr_dtype dtype, const void *p)
{
    const uint64_t bits = ref_load_bits(p, ref_size(dtype));
    if (ref_is_float(dtype)) return ref_decode_float(dtype, bits);
    const bool negative = ref_is_signed(dtype) && (bits >> (ref_bits(dtype) - 1) & 1);
    const uint64_t size = negative ? (0 - bits) & ref_low_mask(ref_bits(dtype)) : bits;
    return (ref_number){ REF_FINITE, negative, size, 0 };
}

/* The sign-less pattern of a NaN, quiet. */
static inline uint64_t ref_nan_bits(ref_format f)
{
    if (!f.infinities) return ref_low_mask(f.exponent_bits + f.mantissa_bits);
    return ref_low_mask(f.exponent_bits + 1) << (f.mantissa_bits - 1);
}

/* n / 2^shift, to the nearest whole number, ties to even. */
static inline uint64_t ref_shift_round(uint64_t n, int shift)
{
    if (shift > 64) return 0;
    if (shift == 64) return n > (uint64_t)1 << 63; /* a tie goes to 0 */
    if (shift == 0) return n;
    const uint64_t whole = n >> shift, rest = n & ref_low_mask(shift), half = (uint64_t)1 << (shift - 1);
    return whole + (rest > half || (rest == half && (whole & 1)));
}

static inline uint64_t ref_encode_magnitude(ref_format f, ref_number n)
{
    const int top = (1 << f.exponent_bits) - 1, bias = top / 2;
    const uint64_t beyond = f.infinities ? (uint64_t)top << f.mantissa_bits : ref_nan_bits(f);
    if (n.kind == REF_NAN) return ref_nan_bits(f);
    if (n.kind == REF_INFINITE) return beyond;
    if (n.bits == 0) return 0;
    int length = 0;
    while (length < 64 && n.bits >> length) length++;
    /* Counts of 2^unit: the last place of the result. */
    const int lead = n.exponent + length - 1;
    int unit = (lead < 1 - bias ? 1 - bias : lead) - f.mantissa_bits;
    uint64_t m = n.exponent >= unit ? n.bits << (n.exponent - unit)
                                    : ref_shift_round(n.bits, unit - n.exponent);
    if (m >> (f.mantissa_bits + 1)) {  /* rounded up to the next power of two */
        m >>= 1;
        unit++;
    }
    if (!(m >> f.mantissa_bits)) return m;  /* subnormal */
    const int field = unit + f.mantissa_bits + bias;
    if (field > top || (field == top && f.infinities)) return beyond;
    const uint64_t bits = (uint64_t)field << f.mantissa_bits | (m & ref_low_mask(f.mantissa_bits));
    return bits > beyond ? beyond : bits;
}

static inline uint64_t ref_encode_float(tsr_dtype dtype, ref_number n)
{
    const ref_format f = ref_format_of(dtype);
    const uint64_t sign = (uint64_t)n.negative << (f.exponent_bits + f.mantissa_bits);
    return sign | ref_encode_magnitude(f, n);
}

/* A float's number toward zero, held within the ends of an integer dtype. */
static inline uint64_t ref_saturate(tsr_dtype dtype, ref_number n)
{
    const int bits = ref_bits(dtype) - (ref_is_signed(dtype) ? 1 : 0);
    const uint64_t highest = ref_low_mask(bits), lowest = ref_is_signed(dtype) ? highest + 1 : 0;
    const uint64_t end = n.negative ? lowest : highest;
    uint64_t size = 0;
    if (n.kind == REF_NAN) return 0;
    if (n.kind == REF_INFINITE) size = end;
    else if (n.exponent <= -64) size = 0;
    else if (n.exponent < 0) size = n.bits >> -n.exponent;
    else if (n.bits == 0) size = 0;
    else if (n.exponent > 63 || (n.bits << n.exponent) >> n.exponent != n.bits) size = end;
    else size = n.bits << n.exponent;
    if (size > end) size = end;
    return n.negative ? 0 - size : size;
}

static inline void ref_encode_real(tsr_dtype dtype, void *p, ref_number n, bool from_integer)
{
    uint64_t bits;
    if (dtype == TSR_BOOL)        bits = n.kind != REF_FINITE || n.bits != 0;
    else if (ref_is_float(dtype)) bits = ref_encode_float(dtype, n);
    else if (from_integer)        bits = n.negative ? 0 - n.bits : n.bits;
    else                          bits = ref_saturate(dtype, n);
    ref_store_bits(p, ref_size(dtype), bits);
}

/* One element of dtype `from` as one of dtype `to`, by the rules of dtype.h. */
static inline void ref_convert(tsr_dtype to, void *dst, tsr_dtype from, const void *src)
{
    if (to == from) {
        memcpy(dst, src, (size_t)ref_size(to));
        return;
    }
    const tsr_dtype part = ref_part(from), into = ref_part(to);
    const bool integer = !ref_is_float(part);
    ref_number re = ref_decode(part, src), im = { REF_FINITE, false, 0, 0 };
    if (ref_is_complex(from)) im = ref_decode(part, (const char *)src + ref_size(part));
    if (to == TSR_BOOL && (im.kind != REF_FINITE || im.bits != 0)) re.bits = 1;
    ref_encode_real(into, dst, re, integer);
    if (ref_is_complex(to)) ref_encode_real(into, (char *)dst + ref_size(into), im, integer);
}

/* Is one part of an element as it should be? Bits for bits, but for the payload of a NaN;
 * a NaN must be quiet unless its bits may have been carried over. */
static inline bool ref_part_is(tsr_dtype part, const void *got, const void *wanted, bool may_signal)
{
    const int64_t size = ref_size(part);
    if (!ref_is_float(part)) return !memcmp(got, wanted, (size_t)size);
    const uint64_t g = ref_load_bits(got, size), w = ref_load_bits(wanted, size);
    const ref_number a = ref_decode_float(part, g), b = ref_decode_float(part, w);
    if (b.kind != REF_NAN) return g == w;
    const ref_format f = ref_format_of(part);
    return a.kind == REF_NAN && a.negative == b.negative && (may_signal || (g >> (f.mantissa_bits - 1) & 1));
}

/* Is *got what an element of dtype `from` must become, which is *wanted? */
static inline bool ref_element_is(tsr_dtype dtype, const void *got, const void *wanted, tsr_dtype from)
{
    const tsr_dtype part = ref_part(dtype);
    const size_t size = (size_t)ref_size(part);
    if (dtype == from) return !memcmp(got, wanted, (size_t)ref_size(dtype));
    const bool carried = part == ref_part(from);
    return ref_part_is(part, got, wanted, carried) &&
           (!ref_is_complex(dtype) ||
            ref_part_is(part, (const char *)got + size, (const char *)wanted + size, carried));
}

#endif
