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

static void from_f32(double *out, const float *x, int64_t n) CLI_WIDE;
static void from_f32(double *out, const float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) out[i] = (double)x[i];
}

static void floats_of_bf16(float *out, const uint16_t *x, int64_t n) CLI_WIDE;
static void floats_of_bf16(float *out, const uint16_t *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const union { uint32_t bits; float f; } u = { (uint32_t)x[i] << 16 };
        out[i] = u.f;
    }
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

bool floats_at(float *out, const tsr_tensor *t, int64_t from, int64_t n)
{
    const void *x = (const char *)t->data + (size_t)from * tsr_dtype_size(t->dtype);
    switch (t->dtype) {
    case TSR_F32:  memcpy(out, x, (size_t)n * sizeof *out); return true;
    case TSR_F16:  floats_of_f16(out, x, n); return true;
    case TSR_BF16: floats_of_bf16(out, x, n); return true;
    default:       return false;
    }
}

enum { FLOATS = 512 };

/* By way of floats, which are short. */
static void from_16(double *out, const tsr_tensor *t, int64_t from, int64_t n)
{
    float x[FLOATS];
    for (int64_t i = 0; i < n; i += FLOATS) {
        const int64_t count = n - i < FLOATS ? n - i : FLOATS;
        (void)floats_at(x, t, from + i, count);
        from_f32(out + i, x, count);
    }
}

static void from_f64(double *out, const double *x, int64_t n) { memcpy(out, x, (size_t)n * sizeof *out); }
static void from_i8(double *out, const int8_t *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) out[i] = x[i];
}
static void from_u8(double *out, const uint8_t *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) out[i] = x[i];
}
static void from_i16(double *out, const int16_t *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) out[i] = x[i];
}
static void from_u16(double *out, const uint16_t *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) out[i] = x[i];
}
static void from_i32(double *out, const int32_t *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) out[i] = x[i];
}
static void from_u32(double *out, const uint32_t *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) out[i] = x[i];
}
static void from_i64(double *out, const int64_t *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) out[i] = (double)x[i];
}
static void from_u64(double *out, const uint64_t *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) out[i] = (double)x[i];
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

void doubles_at(double *out, const tsr_tensor *t, int64_t from, int64_t n)
{
    const void *x = (const char *)t->data + (size_t)from * tsr_dtype_size(t->dtype);
    switch (t->dtype) {
    case TSR_F64:  from_f64(out, x, n); break;
    case TSR_F32:  from_f32(out, x, n); break;
    case TSR_F16:
    case TSR_BF16: from_16(out, t, from, n); break;
    case TSR_I8:   from_i8(out, x, n); break;
    case TSR_U8:   from_u8(out, x, n); break;
    case TSR_I16:  from_i16(out, x, n); break;
    case TSR_U16:  from_u16(out, x, n); break;
    case TSR_I32:  from_i32(out, x, n); break;
    case TSR_U32:  from_u32(out, x, n); break;
    case TSR_I64:  from_i64(out, x, n); break;
    case TSR_U64:  from_u64(out, x, n); break;
    default:       from_any(out, t->dtype, x, n); break;
    }
}

/* Sign and magnitude as a signed number. */
static void steps_of_32(double *out, const uint32_t *x, int64_t n) CLI_WIDE;
static void steps_of_32(double *out, const uint32_t *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const int32_t size = (int32_t)(x[i] & 0x7fffffffu), sign = -(int32_t)(x[i] >> 31);
        out[i] = (double)((size ^ sign) - sign); /* a branch would be taken at random */
    }
}

static void steps_of_16(double *out, const uint16_t *x, int64_t n) CLI_WIDE;
static void steps_of_16(double *out, const uint16_t *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const int32_t size = x[i] & 0x7fff, sign = -(int32_t)(x[i] >> 15);
        out[i] = (double)((size ^ sign) - sign);
    }
}

static void steps_of_8(double *out, const uint8_t *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) out[i] = x[i] & 0x80 ? -(x[i] & 0x7f) : x[i];
}

void steps_at(double *out, const tsr_tensor *t, int64_t from, int64_t n)
{
    const size_t size = tsr_dtype_size(t->dtype);
    const void *x = (const char *)t->data + (size_t)from * size;
    if (size == 4)      steps_of_32(out, x, n);
    else if (size == 2) steps_of_16(out, x, n);
    else                steps_of_8(out, x, n);
}

/* Keys ------------------------------------------------------------------------------- */

int key_bits(tsr_dtype dtype) { return is_short(dtype) ? 32 : 64; }

/* Negative floats run backwards: all of their bits are flipped, of the others the sign. */
static uint64_t float_key(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

static uint32_t short_float_key(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 31 ? ~bits : bits | (uint32_t)1 << 31;
}

static int64_t float_keys(uint64_t *keys, bool is_short_one, const double *x, int64_t n)
{
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        const double v = x[i] + 0.0; /* -0 becomes 0 */
        keys[count] = is_short_one ? short_float_key((float)v) : float_key(v);
        count += v == v;
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
