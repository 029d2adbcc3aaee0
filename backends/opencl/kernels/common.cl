/* common.cl - what every program begins with: types, short floats, elements in memory, nests.
 *
 * Ahead of it the host puts T_<dtype> for every dtype, and, where the device has doubles,
 * HAS_F64. Programs are built for a class of dtypes that compute in one type; which dtype of
 * the class an operand has is a number in the nest, or, in programs for long tensors, a
 * constant (FIXED0 ..).
 *
 *     class       dtypes                      value
 *     FLOAT       f8e4m3 f8e5m2 f16 bf16 f32  float
 *     DOUBLE      f64                         double
 *     SIGNED      i8 i16 i32 i64              long
 *     UNSIGNED    bool u8 u16 u32 u64         ulong
 *     COMPLEX     c32 c64 c128                wide2
 *     CFLOAT      c32 c64                     float2   (in casts, where bits are kept)
 */
#pragma OPENCL FP_CONTRACT OFF

#ifdef HAS_F64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double  wide;
typedef double2 wide2;
#else
typedef float  wide;
typedef float2 wide2;
#endif

#define BYTES global uchar *
#define CONST_BYTES global const uchar *
#define AT(type, p) (*(global type *)(p))
#define AT_CONST(type, p) (*(global const type *)(p))

/* Nests ------------------------------------------------------------------------------------ */

/* Loops over up to four operands, outermost first; steps and bases in bytes. The host has the
 * same struct (nest.h). */
typedef struct nest {
    long count;
    long n[16];
    long step[4][16];
    long base[4];
    int  dtype[4];
    int  ndim;
    int  is_small;  /* count fits 31 bits */
} nest;

/* Adds the places of element i of dims `from` .. to - 1 to at[0 .. operands - 1]. */
static inline void place_dims(const nest *t, int from, int to, ulong i, int is_small, long *at, int operands)
{
    if (to <= from) return;
    if (is_small) {
        uint rest = (uint)i;
        for (int d = to - 1; d > from; d--) {
            const uint n = (uint)t->n[d], q = rest / n, c = rest - q * n;
            for (int k = 0; k < operands; k++) at[k] += (long)c * t->step[k][d];
            rest = q;
        }
        for (int k = 0; k < operands; k++) at[k] += (long)rest * t->step[k][from];
    } else {
        ulong rest = i;
        for (int d = to - 1; d > from; d--) {
            const ulong n = (ulong)t->n[d], q = rest / n, c = rest - q * n;
            for (int k = 0; k < operands; k++) at[k] += (long)c * t->step[k][d];
            rest = q;
        }
        for (int k = 0; k < operands; k++) at[k] += (long)rest * t->step[k][from];
    }
}

/* The same of the whole nest. */
static inline void place(const nest *t, ulong i, long *at, int operands)
{
    place_dims(t, 0, t->ndim, i, t->is_small, at, operands);
}

/* The dtype of operand k. */
#ifdef FIXED0
#define DTYPE0(t) FIXED0
#else
#define DTYPE0(t) ((t)->dtype[0])
#endif
#ifdef FIXED1
#define DTYPE1(t) FIXED1
#else
#define DTYPE1(t) ((t)->dtype[1])
#endif

/* Short floats: to nearest even, once. --------------------------------------------------------- */

static inline float widen(uint m, int mant, int bias)
{
    return m >> mant ? as_float((m << (23 - mant)) + ((uint)(127 - bias) << 23))
                     : (float)(int)m * as_float((uint)(127 + 1 - bias - mant) << 23);
}

/* The pattern nearest to the magnitude with f32 bits u; too large a one gives a pattern above the
 * format's largest. */
static inline uint round_bits(uint u, int mant, int bias)
{
    const int drop = 23 - mant;
    const uint least = (uint)(128 - bias) << 23;
    if (u >= least)
        return (u - ((uint)(127 - bias) << 23) + (1u << (drop - 1)) - 1u + (u >> drop & 1u)) >> drop;
    /* Counts of the smallest step, by integers: a device may flush subnormal floats. */
    const int e = (int)(u >> 23);
    const uint m = e ? (u & 0x7fffffu) | 0x800000u : u;
    const int shift = (e ? 150 - e : 149) - (bias - 1 + mant);
    if (shift <= 0) return m;
    if (shift > 25) return 0;
    const uint whole = m >> shift, rest = m & ((1u << shift) - 1u), half_way = 1u << (shift - 1);
    return whole + (rest > half_way || (rest == half_way && (whole & 1u)) ? 1u : 0u);
}

static inline float f16_value(uint bits)
{
    const uint sign = (bits & 0x8000u) << 16, m = bits & 0x7fffu;
    if (m >= 0x7c00u) return as_float(sign | 0x7f800000u | m << 13 | (m > 0x7c00u ? 0x400000u : 0u));
    return as_float(sign | as_uint(widen(m, 10, 15)));
}

static inline float bf16_value(uint bits)
{
    return as_float(bits << 16 | ((bits & 0x7fffu) > 0x7f80u ? 0x400000u : 0u));
}

static inline float f8e4m3_value(uint bits)
{
    const uint sign = (bits & 0x80u) << 24, m = bits & 0x7fu;
    return as_float(sign | (m == 0x7fu ? 0x7fc00000u : as_uint(widen(m, 3, 7))));
}

static inline float f8e5m2_value(uint bits) { return f16_value(bits << 8); }

static inline ushort f16_bits(float v)
{
    const uint b = as_uint(v), u = b & 0x7fffffffu;
    const uint m = u > 0x7f800000u ? 0x7e00u | (u >> 13 & 0x3ffu) : min(round_bits(u, 10, 15), 0x7c00u);
    return (ushort)((b >> 16 & 0x8000u) | m);
}

static inline ushort bf16_bits(float v)
{
    const uint b = as_uint(v), u = b & 0x7fffffffu;
    const uint m = u > 0x7f800000u ? 0x7fc0u | (u >> 16 & 0x7fu) : (u + 0x7fffu + (u >> 16 & 1u)) >> 16;
    return (ushort)((b >> 16 & 0x8000u) | m);
}

static inline uchar f8e5m2_bits(float v)
{
    const uint b = as_uint(v), u = b & 0x7fffffffu;
    const uint m = u > 0x7f800000u ? 0x7eu | (u >> 21 & 3u) : min(round_bits(u, 2, 15), 0x7cu);
    return (uchar)((b >> 24 & 0x80u) | m);
}

static inline uchar f8e4m3_bits(float v)
{
    const uint b = as_uint(v), u = b & 0x7fffffffu;
    const uint m = u > 0x7f800000u ? 0x7fu : min(round_bits(u, 3, 7), 0x7fu);
    return (uchar)((b >> 24 & 0x80u) | m);
}

#ifdef HAS_F64
/* The float next to v whose last bit is set if v lies between two: any shorter float is rounded
 * from it as from v. Out of f32's range it stays beyond what shorter ones hold. */
static inline float odd_float(double v)
{
    const float f = (float)v;
    const double back = (double)f;
    if (back == v || v != v) return f;
    const uint b = as_uint(f);
    if (isinf(f)) return isinf(v) ? f : as_float(b - 1u);
    if (b & 1u) return f;
    if (f == 0.0f) return as_float((as_uint((float)copysign(1.0, v)) & 0x80000000u) | 1u);
    return as_float(fabs(back) < fabs(v) ? b + 1u : b - 1u);
}
#endif

/* The same from integers. */
static inline float odd_float_u(ulong v)
{
    const int extra = 64 - 24 - (int)clz(v);
    if (v == 0 || extra <= 0) return (float)v;
    return (float)(((v >> extra) | (v & ((1ul << extra) - 1ul) ? 1ul : 0ul)) << extra);
}

static inline float odd_float_i(long v)
{
    return v < 0 ? -odd_float_u(0ul - (ulong)v) : odd_float_u((ulong)v);
}

/* Elements ------------------------------------------------------------------------------------- */

static inline float load_float(CONST_BYTES p, int dtype)
{
    switch (dtype) {
    case T_F8E4M3: return f8e4m3_value(*p);
    case T_F8E5M2: return f8e5m2_value(*p);
    case T_F16:    return f16_value(AT_CONST(ushort, p));
    case T_BF16:   return bf16_value(AT_CONST(ushort, p));
    default:       return AT_CONST(float, p);
    }
}

static inline void store_float(BYTES p, int dtype, float v)
{
    switch (dtype) {
    case T_F8E4M3: *p = f8e4m3_bits(v); break;
    case T_F8E5M2: *p = f8e5m2_bits(v); break;
    case T_F16:    AT(ushort, p) = f16_bits(v); break;
    case T_BF16:   AT(ushort, p) = bf16_bits(v); break;
    default:       AT(float, p) = v;
    }
}

static inline long load_signed(CONST_BYTES p, int dtype)
{
    switch (dtype) {
    case T_I8:  return (long)AT_CONST(char, p);
    case T_I16: return (long)AT_CONST(short, p);
    case T_I32: return (long)AT_CONST(int, p);
    default:    return AT_CONST(long, p);
    }
}

static inline ulong load_unsigned(CONST_BYTES p, int dtype)
{
    switch (dtype) {
    case T_BOOL: return *p != 0;
    case T_U8:   return (ulong)*p;
    case T_U16:  return (ulong)AT_CONST(ushort, p);
    case T_U32:  return (ulong)AT_CONST(uint, p);
    default:     return AT_CONST(ulong, p);
    }
}

/* The low bits; bool is 0 or 1. */
static inline void store_integer(BYTES p, int dtype, ulong v)
{
    switch (dtype) {
    case T_BOOL: *p = v != 0; break;
    case T_I8:
    case T_U8:   *p = (uchar)v; break;
    case T_I16:
    case T_U16:  AT(ushort, p) = (ushort)v; break;
    case T_I32:
    case T_U32:  AT(uint, p) = (uint)v; break;
    default:     AT(ulong, p) = v;
    }
}

static inline int size_of(int dtype)
{
    switch (dtype) {
    case T_BOOL: case T_I8: case T_U8: case T_F8E4M3: case T_F8E5M2: return 1;
    case T_I16: case T_U16: case T_F16: case T_BF16: return 2;
    case T_I32: case T_U32: case T_F32: case T_C32: return 4;
    case T_C128: return 16;
    default: return 8;
    }
}

static inline ulong load_bits(CONST_BYTES p, int size)
{
    switch (size) {
    case 1:  return (ulong)*p;
    case 2:  return (ulong)AT_CONST(ushort, p);
    case 4:  return (ulong)AT_CONST(uint, p);
    default: return AT_CONST(ulong, p);
    }
}

static inline void store_bits(BYTES p, int size, ulong v)
{
    switch (size) {
    case 1:  *p = (uchar)v; break;
    case 2:  AT(ushort, p) = (ushort)v; break;
    case 4:  AT(uint, p) = (uint)v; break;
    default: AT(ulong, p) = v;
    }
}

/* One element as it is. */
static inline void move_bits(BYTES z, CONST_BYTES x, int size)
{
    if (size == 16) {  /* aligned as its parts are */
        const ulong low = AT_CONST(ulong, x), high = AT_CONST(ulong, x + 8);
        AT(ulong, z) = low;
        AT(ulong, z + 8) = high;
    } else {
        store_bits(z, size, load_bits(x, size));
    }
}

static inline float2 load_cfloat(CONST_BYTES p, int dtype)
{
    if (dtype == T_C32) return (float2)(f16_value(AT_CONST(ushort, p)), f16_value(AT_CONST(ushort, p + 2)));
    return (float2)(AT_CONST(float, p), AT_CONST(float, p + 4));
}

static inline wide2 load_complex(CONST_BYTES p, int dtype)
{
#ifdef HAS_F64
    if (dtype == T_C128) return (double2)(AT_CONST(double, p), AT_CONST(double, p + 8));
#endif
    const float2 v = load_cfloat(p, dtype);
    return (wide2)((wide)v.x, (wide)v.y);
}

static inline void store_complex(BYTES p, int dtype, wide2 v)
{
#ifdef HAS_F64
    if (dtype == T_C128) {
        AT(double, p) = v.x;
        AT(double, p + 8) = v.y;
        return;
    }
#endif
    AT(float, p) = (float)v.x;
    AT(float, p + 4) = (float)v.y;
}

/* An element of any floating dtype. */
static inline wide load_real(CONST_BYTES p, int dtype)
{
#ifdef HAS_F64
    if (dtype == T_F64) return AT_CONST(double, p);
#endif
    return (wide)load_float(p, dtype);
}

/* A real number computed in the wide type, rounded once to a floating dtype. */
static inline void store_real(BYTES p, int dtype, wide v)
{
#ifdef HAS_F64
    if (dtype == T_F64) AT(double, p) = v;
    else store_float(p, dtype, dtype == T_F32 ? (float)v : odd_float(v));
#else
    store_float(p, dtype, v);
#endif
}

/* The class's own names. */
#if defined(CLASS_FLOAT)
typedef float value;
#define LOAD load_float
#define STORE store_float
#elif defined(CLASS_DOUBLE)
typedef double value;
#define LOAD(p, dtype) AT_CONST(double, p)
#define STORE(p, dtype, v) (AT(double, p) = (v))
#elif defined(CLASS_SIGNED)
typedef long value;
#define LOAD load_signed
#define STORE(p, dtype, v) store_integer(p, dtype, (ulong)(v))
#elif defined(CLASS_UNSIGNED)
typedef ulong value;
#define LOAD load_unsigned
#define STORE store_integer
#elif defined(CLASS_COMPLEX)
typedef wide2 value;
#define LOAD load_complex
#define STORE store_complex
#elif defined(CLASS_CFLOAT)
typedef float2 value;
#define LOAD load_cfloat
#endif

/* Sums ------------------------------------------------------------------------------------------- */

/* *sum += x; *lost takes the rounding error (Knuth's two-sum). */
static inline void add_exactly(wide *sum, wide *lost, wide x)
{
    const wide had = *sum, now = had + x, back = now - had;
    *sum = now;
    *lost += (had - (now - back)) + (x - back);
}

/* Both together; infinities have no such error. */
static inline wide with_error(wide sum, wide lost) { return sum - sum == 0 ? sum + lost : sum; }

/* Order ------------------------------------------------------------------------------------------- */

/* Patterns above this magnitude are NaN; 0 for dtypes that are no floats. */
static inline ulong last_number(int dtype)
{
    switch (dtype) {
    case T_F8E4M3: return 0x7eul;
    case T_F8E5M2: return 0x7cul;
    case T_F16:    return 0x7c00ul;
    case T_BF16:   return 0x7f80ul;
    case T_F32:    return 0x7f800000ul;
    case T_F64:    return 0x7ff0000000000000ul;
    default:       return 0ul;
    }
}

/* An unsigned number that stands to others as the element does: NaN last in either order, -0 and 0
 * equal. */
static inline ulong order_key(ulong bits, int dtype, int descending)
{
    const int size = size_of(dtype);
    const ulong sign = 1ul << (8 * size - 1), all = sign | (sign - 1ul), invert = descending ? all : 0ul;
    const ulong last = last_number(dtype);
    if (last == 0ul) {
        if (dtype == T_BOOL) return (ulong)(bits != 0ul) ^ invert;
        return (dtype >= T_I8 && dtype <= T_I64 ? bits ^ sign : bits) ^ invert;
    }
    const ulong magnitude = bits & ~sign, b = magnitude ? bits : 0ul;
    if (magnitude > last) return all;
    return ((b & sign ? ~b & all : b ^ sign)) ^ invert;
}
