/* convert.cuh - any dtype to any other, one element at a time. */
#ifndef TSRC_CONVERT_CUH
#define TSRC_CONVERT_CUH

#include "numbers.cuh"

namespace tsrc {

struct ComplexF {
    float re, im;
};

TSRC_FN int32_t clamp_i32(int32_t v, int32_t low, int32_t high) { return min(max(v, low), high); }

/* To an integer D: low bits of integers; floats toward zero, held to the ends. */
template <class D> TSRC_FN D integer_of(int64_t v) { return D(v); }
template <class D> TSRC_FN D integer_of(uint64_t v) { return D(v); }
template <class D> TSRC_FN D of_float_32(int32_t v)
{
    const bool has_sign = D(-1) < D(0);
    const int32_t low = has_sign ? -(1 << (8 * sizeof(D) - 1)) : 0,
                  high = has_sign ? ~low : (1 << (8 * sizeof(D))) - 1;
    return D(clamp_i32(v, low, high));
}
template <class D, class V> TSRC_FN D of_float(V v)
{
    if constexpr (sizeof(D) < 4)
        return of_float_32<D>(to_i32(v));
    else if constexpr (sizeof(D) == 4 && D(-1) < D(0))
        return to_i32(v);
    else if constexpr (sizeof(D) == 4)
        return to_u32(v);
    else if constexpr (D(-1) < D(0))
        return to_i64(v);
    else
        return to_u64(v);
}
template <class D> TSRC_FN D integer_of(float v) { return of_float<D>(v); }
template <class D> TSRC_FN D integer_of(double v) { return of_float<D>(v); }

TSRC_FN float f32_of(int64_t v) { return __ll2float_rn(v); }
TSRC_FN float f32_of(uint64_t v) { return __ull2float_rn(v); }
TSRC_FN float f32_of(float v) { return v; }
TSRC_FN float f32_of(double v) { return f64_to_f32(v); }
TSRC_FN double f64_of(int64_t v) { return __ll2double_rn(v); }
TSRC_FN double f64_of(uint64_t v) { return __ull2double_rn(v); }
TSRC_FN double f64_of(float v) { return f32_to_f64(v); }
TSRC_FN double f64_of(double v) { return v; }

/* A real number of a wide type to any dtype. */
template <class V> TSRC_FN void store_any(int dtype, char *p, V v)
{
    switch (dtype) {
    case TSR_BOOL: *reinterpret_cast<uint8_t *>(p) = v != V(0); break;
    case TSR_I8: *reinterpret_cast<int8_t *>(p) = integer_of<int8_t>(v); break;
    case TSR_I16: *reinterpret_cast<int16_t *>(p) = integer_of<int16_t>(v); break;
    case TSR_I32: *reinterpret_cast<int32_t *>(p) = integer_of<int32_t>(v); break;
    case TSR_I64: *reinterpret_cast<int64_t *>(p) = integer_of<int64_t>(v); break;
    case TSR_U8: *reinterpret_cast<uint8_t *>(p) = integer_of<uint8_t>(v); break;
    case TSR_U16: *reinterpret_cast<uint16_t *>(p) = integer_of<uint16_t>(v); break;
    case TSR_U32: *reinterpret_cast<uint32_t *>(p) = integer_of<uint32_t>(v); break;
    case TSR_U64: *reinterpret_cast<uint64_t *>(p) = integer_of<uint64_t>(v); break;
    case TSR_F8E4M3: *reinterpret_cast<uint8_t *>(p) = f32_to_f8e4m3(odd_f32(v)); break;
    case TSR_F8E5M2: *reinterpret_cast<uint8_t *>(p) = f32_to_f8e5m2(odd_f32(v)); break;
    case TSR_F16: *reinterpret_cast<uint16_t *>(p) = f32_to_f16(odd_f32(v)); break;
    case TSR_BF16: *reinterpret_cast<uint16_t *>(p) = f32_to_bf16(odd_f32(v)); break;
    case TSR_F32: *reinterpret_cast<float *>(p) = f32_of(v); break;
    case TSR_F64: *reinterpret_cast<double *>(p) = f64_of(v); break;
    case TSR_C32: *reinterpret_cast<tsr_c32 *>(p) = { f32_to_f16(odd_f32(v)), 0 }; break;
    case TSR_C64: *reinterpret_cast<tsr_c64 *>(p) = { f32_of(v), 0 }; break;
    default: *reinterpret_cast<tsr_c128 *>(p) = { f64_of(v), 0 }; break;
    }
}

/* A complex one. */
template <class V> TSRC_FN void store_complex(int dtype, char *p, V re, V im)
{
    switch (dtype) {
    case TSR_BOOL: *reinterpret_cast<uint8_t *>(p) = re != V(0) || im != V(0); break;
    case TSR_C32:
        *reinterpret_cast<tsr_c32 *>(p) = { f32_to_f16(odd_f32(re)), f32_to_f16(odd_f32(im)) };
        break;
    case TSR_C64: *reinterpret_cast<tsr_c64 *>(p) = { f32_of(re), f32_of(im) }; break;
    case TSR_C128: *reinterpret_cast<tsr_c128 *>(p) = { f64_of(re), f64_of(im) }; break;
    default: store_any(dtype, p, re); break;
    }
}

TSRC_FN void convert(int to, char *z, int from, const char *x)
{
    switch (from) {
    case TSR_U64: store_any(to, z, *reinterpret_cast<const uint64_t *>(x)); break;
    case TSR_F64: store_any(to, z, *reinterpret_cast<const double *>(x)); break;
    case TSR_F8E4M3:
    case TSR_F8E5M2:
    case TSR_F16:
    case TSR_BF16:
    case TSR_F32: store_any(to, z, load_f32(from, x)); break;
    case TSR_C32: {
        const tsr_c32 v = *reinterpret_cast<const tsr_c32 *>(x);
        store_complex(to, z, f16_to_f32(v.re), f16_to_f32(v.im));
        break;
    }
    case TSR_C64: {
        const tsr_c64 v = *reinterpret_cast<const tsr_c64 *>(x);
        store_complex(to, z, v.re, v.im);
        break;
    }
    case TSR_C128: {
        const tsr_c128 v = *reinterpret_cast<const tsr_c128 *>(x);
        store_complex(to, z, v.re, v.im);
        break;
    }
    default: store_any(to, z, load_integer(from, x)); break;
    }
}

} // namespace tsrc

#endif
