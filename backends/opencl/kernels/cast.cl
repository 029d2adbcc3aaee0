/* cast.cl - from the dtypes of one class to any dtype, by the rules of dtype.h. */

/* To integers: toward zero, to the nearest end where out of range; NaN becomes 0. */
static inline ulong saturated(float v, int dtype)
{
    if (v != v) return 0;
    switch (dtype) {
    case T_I8:  return (ulong)(long)clamp(v, -128.0f, 127.0f);
    case T_I16: return (ulong)(long)clamp(v, -32768.0f, 32767.0f);
    case T_I32: return v >= 2147483648.0f ? 0x7ffffffful : (ulong)(long)max(v, -2147483648.0f);
    case T_I64: return v >= 9223372036854775808.0f ? 0x7ffffffffffffffful
                     : v < -9223372036854775808.0f ? 0x8000000000000000ul : (ulong)(long)v;
    case T_U8:  return (ulong)clamp(v, 0.0f, 255.0f);
    case T_U16: return (ulong)clamp(v, 0.0f, 65535.0f);
    case T_U32: return v >= 4294967296.0f ? 0xfffffffful : (ulong)max(v, 0.0f);
    default:    return v >= 18446744073709551616.0f ? 0xfffffffffffffffful : (ulong)max(v, 0.0f);
    }
}

#ifdef HAS_F64
static inline ulong saturated_double(double v, int dtype)
{
    if (v != v) return 0;
    switch (dtype) {
    case T_I8:  return (ulong)(long)clamp(v, -128.0, 127.0);
    case T_I16: return (ulong)(long)clamp(v, -32768.0, 32767.0);
    case T_I32: return (ulong)(long)clamp(v, -2147483648.0, 2147483647.0);
    case T_I64: return v >= 9223372036854775808.0 ? 0x7ffffffffffffffful
                     : v < -9223372036854775808.0 ? 0x8000000000000000ul : (ulong)(long)v;
    case T_U8:  return (ulong)clamp(v, 0.0, 255.0);
    case T_U16: return (ulong)clamp(v, 0.0, 65535.0);
    case T_U32: return (ulong)clamp(v, 0.0, 4294967295.0);
    default:    return v >= 18446744073709551616.0 ? 0xfffffffffffffffful : (ulong)max(v, 0.0);
    }
}
#endif

static inline int is_integer(int dtype) { return dtype >= T_I8 && dtype <= T_U64; }

/* Two parts that are floats, or floats rounded to odd for what is shorter than f32. */
static inline void store_parts(BYTES p, int dtype, float re, float im, float odd_re, float odd_im)
{
    if (dtype == T_C32) {
        AT(ushort, p) = f16_bits(odd_re);
        AT(ushort, p + 2) = f16_bits(odd_im);
    } else if (dtype == T_C64) {
        AT(float, p) = re;
        AT(float, p + 4) = im;
    } else {
        store_float(p, dtype, dtype == T_F32 ? re : odd_re);
    }
}

static inline int is_double(int dtype) { return dtype == T_F64 || dtype == T_C128; }

#ifdef HAS_F64
static inline void store_doubles(BYTES p, int dtype, double re, double im)
{
    AT(double, p) = re;
    if (dtype == T_C128) AT(double, p + 8) = im;
}
#endif

#if defined(CLASS_FLOAT)
static inline void convert(BYTES p, int dtype, float v)
{
    if (dtype == T_BOOL) *p = v != 0;
    else if (is_integer(dtype)) store_integer(p, dtype, saturated(v, dtype));
#ifdef HAS_F64
    else if (is_double(dtype)) store_doubles(p, dtype, (double)v, 0.0);
#endif
    else store_parts(p, dtype, v, 0.0f, v, 0.0f);
}
#elif defined(CLASS_CFLOAT)
static inline void convert(BYTES p, int dtype, float2 v)
{
    if (dtype == T_BOOL) *p = v.x != 0 || v.y != 0;
    else if (is_integer(dtype)) store_integer(p, dtype, saturated(v.x, dtype));
#ifdef HAS_F64
    else if (is_double(dtype)) store_doubles(p, dtype, (double)v.x, (double)v.y);
#endif
    else store_parts(p, dtype, v.x, v.y, v.x, v.y);
}
#elif defined(CLASS_DOUBLE)
static inline void convert(BYTES p, int dtype, double v)
{
    if (dtype == T_BOOL) *p = v != 0;
    else if (is_integer(dtype)) store_integer(p, dtype, saturated_double(v, dtype));
    else if (is_double(dtype)) store_doubles(p, dtype, v, 0.0);
    else store_parts(p, dtype, (float)v, 0.0f, odd_float(v), 0.0f);
}
#elif defined(CLASS_COMPLEX)
static inline void convert(BYTES p, int dtype, wide2 v)
{
#ifdef HAS_F64
    if (dtype == T_BOOL) *p = v.x != 0 || v.y != 0;
    else if (is_integer(dtype)) store_integer(p, dtype, saturated_double(v.x, dtype));
    else if (is_double(dtype)) store_doubles(p, dtype, v.x, v.y);
    else store_parts(p, dtype, (float)v.x, (float)v.y, odd_float(v.x), odd_float(v.y));
#endif
}
#else
#ifdef CLASS_SIGNED
#define ODD odd_float_i
#else
#define ODD odd_float_u
#endif
static inline void convert(BYTES p, int dtype, value v)
{
    if (dtype <= T_U64) store_integer(p, dtype, (ulong)v);
#ifdef HAS_F64
    else if (is_double(dtype)) store_doubles(p, dtype, (double)v, 0.0);
#endif
    else store_parts(p, dtype, (float)v, 0.0f, ODD(v), 0.0f);
}
#endif

kernel void cast(BYTES z, CONST_BYTES x, nest t)
{
    const ulong i = get_global_id(0);
    if (i >= (ulong)t.count) return;
    long at[2] = { t.base[0], t.base[1] };
    place(&t, i, at, 2);
    convert(z + at[0], DTYPE0(&t), LOAD(x + at[1], DTYPE1(&t)));
}
