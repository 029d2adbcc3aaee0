/* scalar.h - one number of any dtype, as a value.
 *
 * Where a call takes a number (fill, set an element), it takes a tsr_scalar, so
 * that 2^63 - 1 and 1+2i arrive as exactly as 0.5 does. TSR_SCALAR(x) makes one
 * from any C number:
 *
 *     tsr_fill(t, TSR_SCALAR(2.5));
 *
 * A scalar argument takes the dtype of the tensor it meets, by the conversion
 * rules of dtype.h.
 */
#ifndef TESSERA_SCALAR_H
#define TESSERA_SCALAR_H

#include "dtype.h"

TSR_BEGIN_C

/* dtype says which member holds the value:
 *   BOOL, U64: u     I64: i     F64: re     C128: re, im
 * and is never any other dtype. */
typedef struct tsr_scalar {
    tsr_dtype dtype;
    int32_t   reserved; /* 0 */
    union {
        int64_t  i;
        uint64_t u;
        tsr_c128 c;
    } as;
} tsr_scalar;

static inline tsr_scalar tsr_scalar_i64(int64_t v)
{
    tsr_scalar s;
    s.dtype = TSR_I64; s.reserved = 0; s.as.c.re = 0; s.as.c.im = 0;
    s.as.i = v;
    return s;
}

static inline tsr_scalar tsr_scalar_u64(uint64_t v)
{
    tsr_scalar s;
    s.dtype = TSR_U64; s.reserved = 0; s.as.c.re = 0; s.as.c.im = 0;
    s.as.u = v;
    return s;
}

static inline tsr_scalar tsr_scalar_bool(bool v)
{
    tsr_scalar s = tsr_scalar_u64(v ? 1u : 0u);
    s.dtype = TSR_BOOL;
    return s;
}

static inline tsr_scalar tsr_scalar_f64(double v)
{
    tsr_scalar s;
    s.dtype = TSR_F64; s.reserved = 0;
    s.as.c.re = v; s.as.c.im = 0;
    return s;
}

static inline tsr_scalar tsr_scalar_c128(double re, double im)
{
    tsr_scalar s = tsr_scalar_f64(re);
    s.dtype = TSR_C128;
    s.as.c.im = im;
    return s;
}

/* The scalar as a C number, by the conversion rules of dtype.h. A scalar whose
 * dtype is none of the five is 0. */
TSR_API double   tsr_scalar_to_f64(tsr_scalar s);
TSR_API int64_t  tsr_scalar_to_i64(tsr_scalar s);
TSR_API uint64_t tsr_scalar_to_u64(tsr_scalar s);
TSR_API bool     tsr_scalar_to_bool(tsr_scalar s);
TSR_API tsr_c128 tsr_scalar_to_c128(tsr_scalar s);

/* One element in memory (any alignment) to a scalar, exactly; and back, by the
 * conversion rules (a NaN may become quiet). TSR_ENULL; TSR_EDTYPE for
 * what is no dtype, or a scalar whose dtype is none of the five. */
TSR_API TSR_MUST_CHECK tsr_status tsr_scalar_load(tsr_scalar *out, tsr_dtype dtype, const void *element);
TSR_API TSR_MUST_CHECK tsr_status tsr_scalar_store(void *element, tsr_dtype dtype, tsr_scalar s);

TSR_END_C

#ifdef __cplusplus
static inline tsr_scalar tsr_scalar_of(bool v)               { return tsr_scalar_bool(v); }
static inline tsr_scalar tsr_scalar_of(int v)                { return tsr_scalar_i64(v); }
static inline tsr_scalar tsr_scalar_of(long v)               { return tsr_scalar_i64(v); }
static inline tsr_scalar tsr_scalar_of(long long v)          { return tsr_scalar_i64(v); }
static inline tsr_scalar tsr_scalar_of(unsigned v)           { return tsr_scalar_u64(v); }
static inline tsr_scalar tsr_scalar_of(unsigned long v)      { return tsr_scalar_u64(v); }
static inline tsr_scalar tsr_scalar_of(unsigned long long v) { return tsr_scalar_u64(v); }
static inline tsr_scalar tsr_scalar_of(double v)             { return tsr_scalar_f64(v); }
static inline tsr_scalar tsr_scalar_of(tsr_c64 v)            { return tsr_scalar_c128(v.re, v.im); }
static inline tsr_scalar tsr_scalar_of(tsr_c128 v)           { return tsr_scalar_c128(v.re, v.im); }
static inline tsr_scalar tsr_scalar_of(tsr_scalar v)         { return v; }
#define TSR_SCALAR(x) tsr_scalar_of(x)
#else
static inline tsr_scalar tsr_scalar_c64_(tsr_c64 v)       { return tsr_scalar_c128(v.re, v.im); }
static inline tsr_scalar tsr_scalar_c128_(tsr_c128 v)     { return tsr_scalar_c128(v.re, v.im); }
static inline tsr_scalar tsr_scalar_same_(tsr_scalar v)   { return v; }
#define TSR_SCALAR(x) _Generic((x),                                                          \
    _Bool: tsr_scalar_bool,                                                                  \
    unsigned char: tsr_scalar_u64, unsigned short: tsr_scalar_u64, unsigned: tsr_scalar_u64, \
    unsigned long: tsr_scalar_u64, unsigned long long: tsr_scalar_u64,                       \
    float: tsr_scalar_f64, double: tsr_scalar_f64, long double: tsr_scalar_f64,              \
    tsr_c64: tsr_scalar_c64_, tsr_c128: tsr_scalar_c128_, tsr_scalar: tsr_scalar_same_,      \
    default: tsr_scalar_i64)(x)
#endif

#endif
