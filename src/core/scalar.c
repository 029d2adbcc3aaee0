/* scalar.c - one number of any dtype: read from memory, as C types, and written.
 *
 * A scalar holds what it was made from exactly, so writing it converts once, by
 * the rules of dtype.h. Elements are moved with memcpy: they may lie anywhere.
 */
#include "half.h"
#include "mem.h"
#include "tessera/scalar.h"

/* As C numbers ------------------------------------------------------------------ */

static bool is_integral(tsr_scalar s)
{
    return s.dtype == TSR_I64 || s.dtype == TSR_U64 || s.dtype == TSR_BOOL;
}

static bool is_scalar_dtype(tsr_dtype dtype)
{
    return dtype == TSR_BOOL || dtype == TSR_I64 || dtype == TSR_U64 || dtype == TSR_F64 || dtype == TSR_C128;
}

double tsr_scalar_to_f64(tsr_scalar s)
{
    switch (s.dtype) {
    case TSR_BOOL: return s.as.u != 0 ? 1.0 : 0.0;
    case TSR_I64:  return (double)s.as.i;
    case TSR_U64:  return (double)s.as.u;
    case TSR_F64:
    case TSR_C128: return s.as.c.re;
    default:       return 0.0;
    }
}

int64_t tsr_scalar_to_i64(tsr_scalar s)
{
    switch (s.dtype) {
    case TSR_BOOL: return s.as.u != 0;
    case TSR_I64:
    case TSR_U64:  return s.as.i;  /* the same 64 bits: that is the wrap */
    case TSR_F64:
    case TSR_C128: return tsri_f64_to_i64_sat(s.as.c.re);
    default:       return 0;
    }
}

uint64_t tsr_scalar_to_u64(tsr_scalar s)
{
    switch (s.dtype) {
    case TSR_BOOL: return s.as.u != 0;
    case TSR_I64:
    case TSR_U64:  return s.as.u;
    case TSR_F64:
    case TSR_C128: return tsri_f64_to_u64_sat(s.as.c.re);
    default:       return 0;
    }
}

bool tsr_scalar_to_bool(tsr_scalar s)
{
    switch (s.dtype) {
    case TSR_BOOL:
    case TSR_I64:
    case TSR_U64:  return s.as.u != 0;
    case TSR_F64:  return s.as.c.re != 0;
    case TSR_C128: return s.as.c.re != 0 || s.as.c.im != 0;
    default:       return false;
    }
}

tsr_c128 tsr_scalar_to_c128(tsr_scalar s)
{
    const tsr_c128 c = { tsr_scalar_to_f64(s), s.dtype == TSR_C128 ? s.as.c.im : 0.0 };
    return c;
}

/* From memory ------------------------------------------------------------------- */

static int64_t load_signed(const void *p, size_t size)
{
    int8_t b; int16_t h; int32_t w; int64_t d;
    switch (size) {
    case 1:  memcpy(&b, p, 1); return b;
    case 2:  memcpy(&h, p, 2); return h;
    case 4:  memcpy(&w, p, 4); return w;
    default: memcpy(&d, p, 8); return d;
    }
}

static double load_float(tsr_dtype dtype, const void *p)
{
    return tsri_float_value(dtype, tsri_load_bits(p, tsr_dtype_size(dtype)));
}

static tsr_scalar load_complex(tsr_dtype dtype, const void *p)
{
    const tsr_dtype part = tsr_dtype_real(dtype);
    const char *im = (const char *)p + tsr_dtype_size(part);
    return tsr_scalar_c128(load_float(part, p), load_float(part, im));
}

tsr_status tsr_scalar_load(tsr_scalar *out, tsr_dtype dtype, const void *element)
{
    TSRI_CHECK(out, TSR_ENULL, "scalar_load: out is NULL");
    TSRI_CHECK(element, TSR_ENULL, "scalar_load: element is NULL");
    const size_t size = tsr_dtype_size(dtype);
    switch (tsr_dtype_kind(dtype)) {
    case TSR_BOOLEAN:  *out = tsr_scalar_bool(tsri_load_bits(element, 1) != 0);  return TSR_OK;
    case TSR_SIGNED:   *out = tsr_scalar_i64(load_signed(element, size));       return TSR_OK;
    case TSR_UNSIGNED: *out = tsr_scalar_u64(tsri_load_bits(element, size));     return TSR_OK;
    case TSR_FLOATING: *out = tsr_scalar_f64(load_float(dtype, element));       return TSR_OK;
    case TSR_COMPLEX:  *out = load_complex(dtype, element);                     return TSR_OK;
    default:           return tsri_fail(TSR_EDTYPE, "scalar_load: %d is no dtype", (int)dtype);
    }
}

/* To memory --------------------------------------------------------------------- */

/* The low bytes of bits. */
static void store_bits(void *p, size_t size, uint64_t bits)
{
    const uint8_t b = (uint8_t)bits;
    const uint16_t h = (uint16_t)bits;
    const uint32_t w = (uint32_t)bits;
    switch (size) {
    case 1:  memcpy(p, &b, 1); break;
    case 2:  memcpy(p, &h, 2); break;
    case 4:  memcpy(p, &w, 4); break;
    default: memcpy(p, &bits, 8); break;
    }
}

/* Integers keep their low bits; a float saturates at the ends of the target. */
static uint64_t integer_bits(tsr_dtype dtype, tsr_scalar s)
{
    if (is_integral(s)) return tsr_scalar_to_u64(s);
    const double x = s.as.c.re;
    switch (dtype) {
    case TSR_I8:  return (uint64_t)tsri_f64_to_i8_sat(x);
    case TSR_I16: return (uint64_t)tsri_f64_to_i16_sat(x);
    case TSR_I32: return (uint64_t)tsri_f64_to_i32_sat(x);
    case TSR_I64: return (uint64_t)tsri_f64_to_i64_sat(x);
    case TSR_U8:  return tsri_f64_to_u8_sat(x);
    case TSR_U16: return tsri_f64_to_u16_sat(x);
    case TSR_U32: return tsri_f64_to_u32_sat(x);
    default:      return tsri_f64_to_u64_sat(x);
    }
}

/* A double that rounds to any narrower float as the scalar's own value does. */
static double to_f64_odd(tsr_scalar s)
{
    switch (s.dtype) {
    case TSR_I64: return tsri_i64_to_f64_odd(s.as.i);
    case TSR_U64: return tsri_u64_to_f64_odd(s.as.u);
    default:      return tsr_scalar_to_f64(s);
    }
}

static uint64_t float_bits(tsr_dtype dtype, tsr_scalar s)
{
    switch (dtype) {
#define X(ID, suffix, S, mant, exp, inf, dlpack) case TSR_##ID: return tsri_f64_to_##suffix(to_f64_odd(s));
#include "short_floats.def"
#undef X
    case TSR_F32:    return tsri_f32_bits((float)to_f64_odd(s));
    default:         return tsri_f64_bits(tsr_scalar_to_f64(s));
    }
}

static void store_complex(void *p, tsr_dtype dtype, tsr_scalar s)
{
    const tsr_dtype part = tsr_dtype_real(dtype);
    const size_t size = tsr_dtype_size(part);
    const double im = s.dtype == TSR_C128 ? s.as.c.im : 0.0;
    store_bits(p, size, float_bits(part, s));
    store_bits((char *)p + size, size, float_bits(part, tsr_scalar_f64(im)));
}

tsr_status tsr_scalar_store(void *element, tsr_dtype dtype, tsr_scalar s)
{
    TSRI_CHECK(element, TSR_ENULL, "scalar_store: element is NULL");
    TSRI_CHECK(is_scalar_dtype(s.dtype), TSR_EDTYPE,
               "scalar_store: a scalar is of dtype bool, i64, u64, f64 or c128, not %s (%d)",
               tsr_dtype_name(s.dtype), (int)s.dtype);
    const size_t size = tsr_dtype_size(dtype);
    switch (tsr_dtype_kind(dtype)) {
    case TSR_BOOLEAN:  store_bits(element, 1, tsr_scalar_to_bool(s));         return TSR_OK;
    case TSR_SIGNED:
    case TSR_UNSIGNED: store_bits(element, size, integer_bits(dtype, s));     return TSR_OK;
    case TSR_FLOATING: store_bits(element, size, float_bits(dtype, s));       return TSR_OK;
    case TSR_COMPLEX:  store_complex(element, dtype, s);                      return TSR_OK;
    default:           return tsri_fail(TSR_EDTYPE, "scalar_store: %d is no dtype", (int)dtype);
    }
}
