/* numbers.c - conversions by the library, and ordered keys. */
#include "numbers.h"

#include <math.h>
#include <string.h>

#include "wide.h"

static bool is_short(tsr_dtype dtype) { return tsr_dtype_size(tsr_dtype_real(dtype)) <= 4; }

tsr_dtype numbers_dtype(tsr_dtype dtype)
{
    const tsr_kind kind = tsr_dtype_kind(dtype);
    if (kind == TSR_FLOATING || kind == TSR_COMPLEX) return TSR_F64;
    return dtype == TSR_U64 ? TSR_U64 : TSR_I64;
}

/* |t|, which is taken in c64 where the parts are f16. */
static tsr_status magnitude(tsr_tensor **out, const tsr_tensor *t)
{
    tsr_tensor *wide = NULL;
    tsr_status s = TSR_OK;
    if (t->dtype == TSR_C32) s = tsr_cast(&wide, t, TSR_C64);
    if (s == TSR_OK) s = tsr_abs(out, wide ? wide : t);
    tsr_release(&wide);
    return s;
}

static tsr_status convert_to(tsr_tensor **out, const tsr_tensor *t, tsr_dtype dtype)
{
    tsr_tensor *real = NULL, *cast = NULL, *packed = NULL;
    tsr_status s = tsr_dtype_kind(t->dtype) == TSR_COMPLEX ? magnitude(&real, t) : TSR_OK;
    if (s == TSR_OK) s = tsr_cast(&cast, real ? real : t, dtype);
    if (s == TSR_OK) s = tsr_contiguous(&packed, cast);
    if (s == TSR_OK) {
        tsr_release(out);
        *out = packed;
        packed = NULL;
    }
    tsr_release(&packed);
    tsr_release(&cast);
    tsr_release(&real);
    return s;
}

tsr_status numbers_of(tsr_tensor **out, const tsr_tensor *t)
{
    return convert_to(out, t, numbers_dtype(t->dtype));
}
tsr_status doubles_of(tsr_tensor **out, const tsr_tensor *t) { return convert_to(out, t, TSR_F64); }

double number_at(const tsr_tensor *numbers, int64_t i)
{
    if (numbers->dtype == TSR_F64) return ((const double *)numbers->data)[i];
    if (numbers->dtype == TSR_U64) return (double)((const uint64_t *)numbers->data)[i];
    return (double)((const int64_t *)numbers->data)[i];
}

/* Runs -------------------------------------------------------------------------------- */

/* One C type to another, which holds all of its numbers but for integers of 64 bits. */
#define CONVERT(name, from, to)                                         \
    static void name(to *out, const from *x, int64_t n) CLI_WIDE;       \
    static void name(to *out, const from *x, int64_t n)                 \
    {                                                                   \
        for (int64_t i = 0; i < n; i++) out[i] = (to)x[i];              \
    }
CONVERT(floats_of_i8, int8_t, float)
CONVERT(floats_of_u8, uint8_t, float)
CONVERT(floats_of_i16, int16_t, float)
CONVERT(floats_of_u16, uint16_t, float)
CONVERT(doubles_of_f32, float, double)
CONVERT(doubles_of_i32, int32_t, double)
CONVERT(doubles_of_u32, uint32_t, double)
CONVERT(doubles_of_i64, int64_t, double)
CONVERT(doubles_of_u64, uint64_t, double)

static void floats_of_bf16(float *out, const uint16_t *x, int64_t n) CLI_WIDE;
static void floats_of_bf16(float *out, const uint16_t *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const union { uint32_t bits; float f; } u = { (uint32_t)x[i] << 16 };
        out[i] = u.f;
    }
}

static void floats_of_bool(float *out, const uint8_t *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) out[i] = x[i] ? 1 : 0;
}

/* The exponent moves by a product, which also makes normal numbers of subnormal ones. */
static void floats_of_f16(float *out, const uint16_t *x, int64_t n) CLI_WIDE;
static void floats_of_f16(float *out, const uint16_t *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const uint32_t size = x[i] & 0x7fffu;
        const union { uint32_t bits; float f; } up = { size << 13 };
        union { float f; uint32_t bits; } u = { up.f * 0x1p112f };
        u.bits |= (size >= 0x7c00u ? 0x7f800000u : 0) | (uint32_t)(x[i] & 0x8000u) << 16;
        out[i] = u.f;
    }
}

const float *floats_at(float *room, const tsr_tensor *t, int64_t from, int64_t n)
{
    const void *x = (const char *)t->data + (size_t)from * tsr_dtype_size(t->dtype);
    switch (t->dtype) {
    case TSR_F32:  return x;
    case TSR_F16:  floats_of_f16(room, x, n); return room;
    case TSR_BF16: floats_of_bf16(room, x, n); return room;
    case TSR_I8:   floats_of_i8(room, x, n); return room;
    case TSR_U8:   floats_of_u8(room, x, n); return room;
    case TSR_BOOL: floats_of_bool(room, x, n); return room;
    case TSR_I16:  floats_of_i16(room, x, n); return room;
    case TSR_U16:  floats_of_u16(room, x, n); return room;
    default:       return NULL;
    }
}

/* Any other dtype, an element at a time. */
static void from_any(double *out, tsr_dtype dtype, const char *x, int64_t n)
{
    const size_t size = tsr_dtype_size(dtype);
    for (int64_t i = 0; i < n; i++) {
        tsr_scalar s;
        out[i] = tsr_scalar_load(&s, dtype, x + (size_t)i * size) != TSR_OK ? (double)NAN
                 : s.dtype == TSR_I64                                       ? (double)s.as.i
                 : s.dtype == TSR_U64 || s.dtype == TSR_BOOL                ? (double)s.as.u
                                                                            : s.as.c.re;
    }
}

static void doubles_of_others(double *out, const tsr_tensor *t, int64_t from, int64_t n)
{
    const void *x = (const char *)t->data + (size_t)from * tsr_dtype_size(t->dtype);
    switch (t->dtype) {
    case TSR_I32: doubles_of_i32(out, x, n); break;
    case TSR_U32: doubles_of_u32(out, x, n); break;
    case TSR_I64: doubles_of_i64(out, x, n); break;
    case TSR_U64: doubles_of_u64(out, x, n); break;
    default:      from_any(out, t->dtype, x, n); break;
    }
}

enum { FLOATS = 512 };

const double *doubles_at(double *room, const tsr_tensor *t, int64_t from, int64_t n)
{
    float x[FLOATS];
    if (t->dtype == TSR_F64) return (const double *)t->data + from;
    for (int64_t i = 0; i < n; i += FLOATS) {
        const int64_t count = n - i < FLOATS ? n - i : FLOATS;
        const float *short_ones = floats_at(x, t, from + i, count);
        if (short_ones) doubles_of_f32(room + i, short_ones, count);
        else            doubles_of_others(room + i, t, from + i, count);
    }
    return room;
}

/* Keys ------------------------------------------------------------------------------- */

int key_bits(tsr_dtype dtype) { return is_short(dtype) ? 32 : 64; }

/* Negative floats run backwards: all of their bits are flipped, of the others the sign. -0 becomes 0. */
static void long_float_keys(uint64_t *keys, const double *x, int64_t n) CLI_WIDE;
static void long_float_keys(uint64_t *keys, const double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const union { double x; uint64_t bits; } u = { x[i] + 0.0 };
        keys[i] = u.bits ^ (-(u.bits >> 63) | (uint64_t)1 << 63);
    }
}

static void short_float_keys(uint64_t *keys, const double *x, int64_t n) CLI_WIDE;
static void short_float_keys(uint64_t *keys, const double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const union { float x; uint32_t bits; } u = { (float)(x[i] + 0.0) };
        keys[i] = u.bits ^ (-(u.bits >> 31) | (uint32_t)1 << 31);
    }
}

static int64_t float_keys(uint64_t *keys, bool is_short_one, const double *x, int64_t n)
{
    int64_t count = 0;
    if (is_short_one) short_float_keys(keys, x, n);
    else              long_float_keys(keys, x, n);
    for (int64_t i = 0; i < n; i++) {
        keys[count] = keys[i];
        count += x[i] == x[i];
    }
    return count;
}

/* Of integers that doubles hold exactly. */
static int64_t short_integer_keys(uint64_t *keys, tsr_dtype dtype, const double *x, int64_t n)
{
    const uint64_t flipped = tsr_dtype_kind(dtype) != TSR_SIGNED ? 0 : (uint64_t)1 << 31;
    for (int64_t i = 0; i < n; i++) keys[i] = ((uint64_t)(int64_t)x[i] & 0xffffffffu) ^ flipped;
    return n;
}

static int64_t long_integer_keys(uint64_t *keys, tsr_dtype dtype, const uint64_t *x, int64_t n)
{
    const uint64_t flipped = tsr_dtype_kind(dtype) != TSR_SIGNED ? 0 : (uint64_t)1 << 63;
    for (int64_t i = 0; i < n; i++) keys[i] = x[i] ^ flipped;
    return n;
}

int64_t keys_of(uint64_t *keys, tsr_dtype dtype, const double *x, const tsr_tensor *t, int64_t from,
                int64_t n)
{
    if (numbers_dtype(dtype) == TSR_F64) return float_keys(keys, is_short(dtype), x, n);
    if (is_short(dtype)) return short_integer_keys(keys, dtype, x, n);
    return long_integer_keys(keys, dtype, (const uint64_t *)t->data + from, n);
}

static double float_of_key(uint64_t key)
{
    const uint64_t bits = key >> 63 ? key & ~((uint64_t)1 << 63) : ~key;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static float short_float_of_key(uint32_t key)
{
    const uint32_t bits = key >> 31 ? key & ~((uint32_t)1 << 31) : ~key;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

double key_value(tsr_dtype dtype, uint64_t key)
{
    const tsr_dtype as = numbers_dtype(dtype);
    if (as == TSR_F64) return is_short(dtype) ? (double)short_float_of_key((uint32_t)key) : float_of_key(key);
    if (as == TSR_U64) return (double)key;
    if (!is_short(dtype)) return (double)(int64_t)(key ^ (uint64_t)1 << 63);
    return tsr_dtype_kind(dtype) == TSR_SIGNED ? (double)(int32_t)((uint32_t)key ^ (uint32_t)1 << 31)
                                               : (double)(uint32_t)key;
}
