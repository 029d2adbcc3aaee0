/* numbers.c - conversions by the library, and ordered keys. */
#include "numbers.h"

#include <string.h>

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

void numbers_at(double *out, const tsr_tensor *numbers, int64_t from, int64_t n)
{
    if (numbers->dtype == TSR_F64) memcpy(out, (const double *)numbers->data + from, (size_t)n * sizeof *out);
    else for (int64_t i = 0; i < n; i++) out[i] = number_at(numbers, from + i);
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

static int64_t integer_keys(uint64_t *keys, tsr_dtype dtype, const uint64_t *x, int64_t n)
{
    const uint64_t flipped =
        tsr_dtype_kind(dtype) != TSR_SIGNED ? 0 : (uint64_t)1 << (is_short(dtype) ? 31 : 63);
    const uint64_t kept = is_short(dtype) ? 0xffffffffu : UINT64_MAX;
    for (int64_t i = 0; i < n; i++) keys[i] = (x[i] & kept) ^ flipped;
    return n;
}

int64_t keys_of(uint64_t *keys, tsr_dtype dtype, const tsr_tensor *numbers, int64_t from, int64_t n)
{
    if (numbers->dtype == TSR_F64)
        return float_keys(keys, is_short(dtype), (const double *)numbers->data + from, n);
    return integer_keys(keys, dtype, (const uint64_t *)numbers->data + from, n);
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
