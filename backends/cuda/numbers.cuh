/* numbers.cuh - elements in device code: short floats, conversions by the rules of dtype.h.
 *
 * Rounding is to nearest even, once, from the source's own value. A NaN keeps its sign and as
 * much of its payload as fits, and becomes quiet; so conversions do not use the instructions
 * that replace it.
 */
#ifndef TSRC_NUMBERS_CUH
#define TSRC_NUMBERS_CUH

#include <cstdint>

#include <cuda_fp16.h>

#include <tessera/dtype.h>

namespace tsrc {

#define TSRC_FN __device__ __forceinline__

/* Short floats to f32: exact ------------------------------------------------------------------ */

TSRC_FN float f16_to_f32(uint16_t b)
{
    const uint32_t m = b & 0x7fffu;
    if (m > 0x7c00u) return __uint_as_float(uint32_t(b & 0x8000u) << 16 | 0x7fc00000u | m << 13);
    return __half2float(__ushort_as_half(b));
}

TSRC_FN float bf16_to_f32(uint16_t b)
{
    const uint32_t quiet = (b & 0x7fffu) > 0x7f80u ? 0x00400000u : 0u;
    return __uint_as_float(uint32_t(b) << 16 | quiet);
}

TSRC_FN float f8e5m2_to_f32(uint8_t b) { return f16_to_f32(uint16_t(b << 8)); }

TSRC_FN float f8e4m3_to_f32(uint8_t b)
{
    const uint32_t sign = uint32_t(b & 0x80u) << 24, m = b & 0x7fu;
    const uint32_t normal = (m << 20) + (120u << 23), small = __float_as_uint(float(m) * 0.001953125f);
    return __uint_as_float(sign | (m == 0x7fu ? 0x7fc00000u : m >= 8u ? normal : small));
}

/* f32 to short floats --------------------------------------------------------------------------- */

TSRC_FN uint16_t f32_to_f16(float v)
{
    const uint32_t bits = __float_as_uint(v), u = bits & 0x7fffffffu;
    if (u > 0x7f800000u) return uint16_t((bits >> 16 & 0x8000u) | 0x7e00u | (u >> 13 & 0x3ffu));
    return __half_as_ushort(__float2half_rn(v));
}

TSRC_FN uint16_t f32_to_bf16(float v)
{
    const uint32_t bits = __float_as_uint(v), u = bits & 0x7fffffffu;
    const uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
    return uint16_t(u > 0x7f800000u ? (bits >> 16 | 0x0040u) : rounded);
}

/* The pattern nearest to the magnitude with bits u, below 2^31: mant bits and this bias. */
TSRC_FN uint32_t round_short(uint32_t u, int mant, int bias)
{
    const int drop = 23 - mant;
    const uint32_t least = uint32_t(128 - bias) << 23; /* the smallest normal number */
    const uint32_t half = (1u << (drop - 1)) - 1u + (u >> drop & 1u);
    const uint32_t normal = (u - (uint32_t(127 - bias) << 23) + half) >> drop;
    const float step = __uint_as_float(uint32_t(127 + bias - 1 + mant) << 23);
    return u < least ? uint32_t(__float2int_rn(__uint_as_float(u) * step)) : normal;
}

TSRC_FN uint8_t f32_to_f8e5m2(float v)
{
    const uint32_t bits = __float_as_uint(v), u = bits & 0x7fffffffu;
    const uint32_t m = min(round_short(min(u, 0x7f800000u), 2, 15), 0x7cu);
    return uint8_t((bits >> 24 & 0x80u) | (u > 0x7f800000u ? 0x7eu | (u >> 21 & 3u) : m));
}

TSRC_FN uint8_t f32_to_f8e4m3(float v)
{
    const uint32_t bits = __float_as_uint(v), u = bits & 0x7fffffffu;
    const uint32_t m = min(round_short(min(u, 0x7f800000u), 3, 7), 0x7fu);
    return uint8_t((bits >> 24 & 0x80u) | (u > 0x7f800000u ? 0x7fu : m));
}

/* An f32 that every shorter float rounds to as it would to the value itself: cut, with a last bit that
 * says whether something was cut off. */
TSRC_FN float odd_f32(double v)
{
    const uint64_t bits = uint64_t(__double_as_longlong(v));
    if (v != v)
        return __uint_as_float(uint32_t(bits >> 32 & 0x80000000u) | 0x7fc00000u |
                               uint32_t(bits >> 29 & 0x7fffffu));
    const float f = __double2float_rz(v);
    return double(f) == v ? f : __uint_as_float(__float_as_uint(f) | 1u);
}

TSRC_FN float odd_f32(int64_t v)
{
    const float f = __ll2float_rz(v);
    return (long long)f == v ? f : __uint_as_float(__float_as_uint(f) | 1u);
}

TSRC_FN float odd_f32(uint64_t v)
{
    const float f = __ull2float_rz(v);
    return (unsigned long long)f == v ? f : __uint_as_float(__float_as_uint(f) | 1u);
}

TSRC_FN float odd_f32(float v) { return v; }

/* f64 to f32; a NaN keeps its payload's upper bits. */
TSRC_FN float f64_to_f32(double v) { return v != v ? odd_f32(v) : __double2float_rn(v); }

TSRC_FN double f32_to_f64(float v)
{
    const uint32_t bits = __float_as_uint(v);
    if (v == v) return double(v);
    return __longlong_as_double((long long)(uint64_t(bits & 0x80000000u) << 32 | 0x7ff8000000000000u |
                                            uint64_t(bits & 0x7fffffu) << 29));
}

/* Floats to integers: toward zero, held to the ends; NaN is 0 ------------------------------------ */

TSRC_FN int32_t to_i32(float v) { return v != v ? 0 : __float2int_rz(v); }
TSRC_FN uint32_t to_u32(float v) { return v != v ? 0 : __float2uint_rz(v); }
TSRC_FN int64_t to_i64(float v) { return v != v ? 0 : __float2ll_rz(v); }
TSRC_FN uint64_t to_u64(float v) { return v != v ? 0 : v <= 0 ? 0 : __float2ull_rz(v); }
TSRC_FN int32_t to_i32(double v) { return v != v ? 0 : __double2int_rz(v); }
TSRC_FN uint32_t to_u32(double v) { return v != v ? 0 : __double2uint_rz(v); }
TSRC_FN int64_t to_i64(double v) { return v != v ? 0 : __double2ll_rz(v); }
TSRC_FN uint64_t to_u64(double v) { return v != v ? 0 : v <= 0 ? 0 : __double2ull_rz(v); }

/* Elements as stored ------------------------------------------------------------------------------
 *
 * A storage type S says what lies in memory (Bits), what it is computed in (T), and how to get from
 * one to the other. Where two formats of one size share kernels, `flag` says which it is. */

struct S8 { /* f8e4m3, or f8e5m2 with the flag */
    using Bits = uint8_t;
    using T = float;
    static TSRC_FN T load(Bits b, int flag) { return flag ? f8e5m2_to_f32(b) : f8e4m3_to_f32(b); }
    static TSRC_FN Bits store(T v, int flag) { return flag ? f32_to_f8e5m2(v) : f32_to_f8e4m3(v); }
};

struct S16 { /* f16, or bf16 with the flag */
    using Bits = uint16_t;
    using T = float;
    static TSRC_FN T load(Bits b, int flag) { return flag ? bf16_to_f32(b) : f16_to_f32(b); }
    static TSRC_FN Bits store(T v, int flag) { return flag ? f32_to_bf16(v) : f32_to_f16(v); }
};

/* The same, known when the kernel is compiled. */
template <bool BF> struct Short16 {
    using Bits = uint16_t;
    using T = float;
    static TSRC_FN T load(Bits b, int) { return S16::load(b, BF); }
    static TSRC_FN Bits store(T v, int) { return S16::store(v, BF); }
};

/* The same for arithmetic, which takes the payload of a NaN anyway. */
template <bool BF> struct Quick16 {
    using Bits = uint16_t;
    using T = float;
    static TSRC_FN T load(Bits b, int)
    {
        return BF ? __uint_as_float(uint32_t(b) << 16) : __half2float(__ushort_as_half(b));
    }
    static TSRC_FN Bits store(T v, int) { return Bits(pair(v, v)); }
    /* Two numbers in one word, x in the lower half. */
    static TSRC_FN uint32_t pair(T x, T y)
    {
        uint32_t out;
        if constexpr (BF)
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(y), "f"(x));
        else
            asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(y), "f"(x));
        return out;
    }
};

template <class Type> struct Plain {
    using Bits = Type;
    using T = Type;
    static TSRC_FN T load(Bits b, int) { return b; }
    static TSRC_FN Bits store(T v, int) { return v; }
};

/* Complex numbers lie as two parts, aligned as those are, and are computed in double. */
struct Complex {
    double re, im;
};

template <class Part, class Memory> struct Parts {
    using Bits = Memory;
    using T = Complex;
    static TSRC_FN T load(Bits b, int) { return { double(b.re), double(b.im) }; }
    static TSRC_FN Bits store(T v, int) { return { Part(v.re), Part(v.im) }; }
};

using SF32 = Plain<float>;
using SF64 = Plain<double>;
using SC64 = Parts<float, tsr_c64>;
using SC128 = Parts<double, tsr_c128>;

/* One element of a real dtype that is known when it is met. */
TSRC_FN double load_real(int dtype, const char *p)
{
    switch (dtype) {
    case TSR_F8E4M3: return double(f8e4m3_to_f32(*reinterpret_cast<const uint8_t *>(p)));
    case TSR_F8E5M2: return double(f8e5m2_to_f32(*reinterpret_cast<const uint8_t *>(p)));
    case TSR_F16: return double(f16_to_f32(*reinterpret_cast<const uint16_t *>(p)));
    case TSR_BF16: return double(bf16_to_f32(*reinterpret_cast<const uint16_t *>(p)));
    case TSR_F32: return double(*reinterpret_cast<const float *>(p));
    default: return *reinterpret_cast<const double *>(p);
    }
}

TSRC_FN float load_f32(int dtype, const char *p)
{
    switch (dtype) {
    case TSR_F8E4M3: return f8e4m3_to_f32(*reinterpret_cast<const uint8_t *>(p));
    case TSR_F8E5M2: return f8e5m2_to_f32(*reinterpret_cast<const uint8_t *>(p));
    case TSR_F16: return f16_to_f32(*reinterpret_cast<const uint16_t *>(p));
    case TSR_BF16: return bf16_to_f32(*reinterpret_cast<const uint16_t *>(p));
    case TSR_F32: return *reinterpret_cast<const float *>(p);
    default: return float(*reinterpret_cast<const double *>(p));
    }
}

TSRC_FN int64_t load_integer(int dtype, const char *p)
{
    switch (dtype) {
    case TSR_BOOL: return *reinterpret_cast<const uint8_t *>(p) != 0;
    case TSR_I8: return *reinterpret_cast<const int8_t *>(p);
    case TSR_I16: return *reinterpret_cast<const int16_t *>(p);
    case TSR_I32: return *reinterpret_cast<const int32_t *>(p);
    case TSR_U8: return *reinterpret_cast<const uint8_t *>(p);
    case TSR_U16: return *reinterpret_cast<const uint16_t *>(p);
    case TSR_U32: return *reinterpret_cast<const uint32_t *>(p);
    default: return *reinterpret_cast<const int64_t *>(p);
    }
}

/* A number to a floating dtype, rounded once. */
template <class V> TSRC_FN void store_float(int dtype, char *p, V v)
{
    switch (dtype) {
    case TSR_F8E4M3: *reinterpret_cast<uint8_t *>(p) = f32_to_f8e4m3(odd_f32(v)); break;
    case TSR_F8E5M2: *reinterpret_cast<uint8_t *>(p) = f32_to_f8e5m2(odd_f32(v)); break;
    case TSR_F16: *reinterpret_cast<uint16_t *>(p) = f32_to_f16(odd_f32(v)); break;
    case TSR_BF16: *reinterpret_cast<uint16_t *>(p) = f32_to_bf16(odd_f32(v)); break;
    case TSR_F32: *reinterpret_cast<float *>(p) = float(v); break;
    default: *reinterpret_cast<double *>(p) = double(v); break;
    }
}

/* An integer to an integer dtype or bool. */
TSRC_FN void store_integer(int dtype, char *p, int64_t v)
{
    switch (dtype) {
    case TSR_BOOL: *reinterpret_cast<uint8_t *>(p) = v != 0; break;
    case TSR_I8:
    case TSR_U8: *reinterpret_cast<uint8_t *>(p) = uint8_t(v); break;
    case TSR_I16:
    case TSR_U16: *reinterpret_cast<uint16_t *>(p) = uint16_t(v); break;
    case TSR_I32:
    case TSR_U32: *reinterpret_cast<uint32_t *>(p) = uint32_t(v); break;
    default: *reinterpret_cast<int64_t *>(p) = v; break;
    }
}

/* Where bits are all that counts: elements by size, and by parts where they are aligned so. */
template <class P> struct Two {
    P a, b;
};
using Bits16 = Two<uint64_t>; /* aligned to 8 */
using Half8 = Two<uint32_t>;  /* 8 bytes aligned to 4 */
using Half4 = Two<uint16_t>;

/* A vector of N elements, loaded as one. */
template <class B, int N> struct alignas(sizeof(B) * N <= 16 ? sizeof(B) * N : 16) Vec {
    B e[N];
};

/* N numbers as they lie. */
template <class S> struct Packing {
    template <class R, int N> static TSRC_FN Vec<typename S::Bits, N> pack(const R (&x)[N], int flag)
    {
        Vec<typename S::Bits, N> v;
#pragma unroll
        for (int k = 0; k < N; k++) v.e[k] = S::store(x[k], flag);
        return v;
    }
};

/* An even N. */
template <bool BF> struct Packing<Quick16<BF>> {
    template <int N> static TSRC_FN Vec<uint16_t, N> pack(const float (&x)[N], int)
    {
        union {
            uint32_t pair[N / 2];
            Vec<uint16_t, N> v;
        } out;
#pragma unroll
        for (int k = 0; k < N / 2; k++) out.pair[k] = Quick16<BF>::pair(x[2 * k], x[2 * k + 1]);
        return out.v;
    }
};

} // namespace tsrc

#endif
