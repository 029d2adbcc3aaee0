/* avx2.h - vectors of AVX2 with FMA and F16C under names that all instruction sets share.
 *
 * Kernels for vectors are written once, against these names, and compiled for each
 * set by the file that includes the header (in src/cpu/x86). All functions are static:
 * nothing of one set may be linked into another.
 *
 *     vf  VF lanes of f32     vi  VF lanes of i32     vm  a mask of VF lanes
 *     vd  VD lanes of f64     vl  VD lanes of i64     vk  a mask of VD lanes
 */
#ifndef TSRI_SIMD_H
#define TSRI_SIMD_H

#include <immintrin.h>
#include <stdint.h>

#include "core/status_int.h"

enum { VF = 8, VD = 4, VBYTES = 32, REGISTERS = 16 };

#define V static TSRI_ALWAYS_INLINE

typedef __m256 vf;
typedef __m256i vi;
typedef __m256d vd;
typedef __m256i vl;

typedef __m256i vm;  /* all bits or none */
typedef __m256i vk;

/* Lanes of 16 bytes in reverse order, and bytes within each by `order`; what two vectors were packed to,
 * back in their order. */
V vi vi_reverse16(vi x) { return _mm256_permute4x64_epi64(x, 0x4e); }
V vi vi_in_lanes(vi x, __m128i order) { return _mm256_shuffle_epi8(x, _mm256_broadcastsi128_si256(order)); }
V vi vi_in_order(vi packed) { return _mm256_permute4x64_epi64(packed, 0xd8); }

#define MM(op)           _mm256_##op
#define MM_BITS(op)      _mm256_##op##_si256
#define MM_OF_BITS(type) _mm256_castsi256_##type
#define MM_ROUND(type)   _mm256_round_##type
#include "avx_shared.h"

/* Memory. _n: the first n lanes, 0 <= n <= VF; the others read as 0, and are not written. */

V vm vm_first(int64_t n)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
V vk vk_first(int64_t n)
{
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3));
}

/* The same with stores of 32 bytes. */
V void vf_stream_short(void *p, vf x) { vf_stream(p, x); }
V void vd_stream_short(void *p, vd x) { vd_stream(p, x); }
V void vi_stream_short(void *p, vi x) { vi_stream(p, x); }
V vf   vf_load_n(const void *p, int64_t n)      { return _mm256_maskload_ps(p, vm_first(n)); }
V void vf_store_n(void *p, vf x, int64_t n)     { _mm256_maskstore_ps(p, vm_first(n), x); }
V vd   vd_load_n(const void *p, int64_t n)      { return _mm256_maskload_pd(p, vk_first(n)); }
V void vd_store_n(void *p, vd x, int64_t n)     { _mm256_maskstore_pd(p, vk_first(n), x); }
V vi   vi_load_n(const void *p, int64_t n)      { return _mm256_maskload_epi32(p, vm_first(n)); }
V void vi_store_n(void *p, vi x, int64_t n)     { _mm256_maskstore_epi32(p, vm_first(n), x); }

/* Integers of 32 and 64 bits: shifts. sar keeps the sign. */
V vl vl_set(int64_t x) { return _mm256_set1_epi64x(x); }
V vi vi_shl(vi a, int n) { return _mm256_slli_epi32(a, n); }
V vi vi_shr(vi a, int n) { return _mm256_srli_epi32(a, n); }
V vl vl_shl(vl a, int n) { return _mm256_slli_epi64(a, n); }
V vl vl_shr(vl a, int n) { return _mm256_srli_epi64(a, n); }
V vi vi_sar(vi a, int n) { return _mm256_srai_epi32(a, n); }

/* Halves of vectors. */
V __m128 vf_low(vf a) { return _mm256_castps256_ps128(a); }
V __m128 vf_high(vf a) { return _mm256_extractf128_ps(a, 1); }
V vf vf_join(__m128 low, __m128 high) { return _mm256_insertf128_ps(_mm256_castps128_ps256(low), high, 1); }
V vd vd_low_of(vf a) { return _mm256_cvtps_pd(vf_low(a)); }
V vd vd_high_of(vf a) { return _mm256_cvtps_pd(vf_high(a)); }
V vf vf_of(vd low, vd high) { return vf_join(_mm256_cvtpd_ps(low), _mm256_cvtpd_ps(high)); }

/* Comparisons. False for NaN, except ne. select: a where the mask is set, else b. */
V vm vf_lt(vf a, vf b) { return _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_LT_OQ)); }
V vm vf_le(vf a, vf b) { return _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_LE_OQ)); }
V vm vf_gt(vf a, vf b) { return _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_GT_OQ)); }
V vm vf_ge(vf a, vf b) { return _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_GE_OQ)); }
V vm vf_eq(vf a, vf b) { return _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_EQ_OQ)); }
V vm vf_ne(vf a, vf b) { return _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_NEQ_UQ)); }
V vm vf_is_nan(vf a) { return _mm256_castps_si256(_mm256_cmp_ps(a, a, _CMP_UNORD_Q)); }
V vf vf_select(vm m, vf a, vf b) { return _mm256_blendv_ps(b, a, _mm256_castsi256_ps(m)); }
V vk vd_lt(vd a, vd b) { return _mm256_castpd_si256(_mm256_cmp_pd(a, b, _CMP_LT_OQ)); }
V vk vd_le(vd a, vd b) { return _mm256_castpd_si256(_mm256_cmp_pd(a, b, _CMP_LE_OQ)); }
V vk vd_gt(vd a, vd b) { return _mm256_castpd_si256(_mm256_cmp_pd(a, b, _CMP_GT_OQ)); }
V vk vd_ge(vd a, vd b) { return _mm256_castpd_si256(_mm256_cmp_pd(a, b, _CMP_GE_OQ)); }
V vk vd_eq(vd a, vd b) { return _mm256_castpd_si256(_mm256_cmp_pd(a, b, _CMP_EQ_OQ)); }
V vk vd_ne(vd a, vd b) { return _mm256_castpd_si256(_mm256_cmp_pd(a, b, _CMP_NEQ_UQ)); }
V vk vd_is_nan(vd a) { return _mm256_castpd_si256(_mm256_cmp_pd(a, a, _CMP_UNORD_Q)); }
V vd vd_select(vk m, vd a, vd b) { return _mm256_blendv_pd(b, a, _mm256_castsi256_pd(m)); }
V vm vi_eq(vi a, vi b) { return _mm256_cmpeq_epi32(a, b); }
V vm vi_gt(vi a, vi b) { return _mm256_cmpgt_epi32(a, b); }
V vi vi_select(vm m, vi a, vi b) { return _mm256_blendv_epi8(b, a, m); }
V vk vl_eq(vl a, vl b) { return _mm256_cmpeq_epi64(a, b); }
V vk vl_gt(vl a, vl b) { return _mm256_cmpgt_epi64(a, b); }
V vl vl_select(vk m, vl a, vl b) { return _mm256_blendv_epi8(b, a, m); }
V vm vm_and(vm a, vm b) { return _mm256_and_si256(a, b); }
V vm vm_or(vm a, vm b) { return _mm256_or_si256(a, b); }
V vm vm_xor(vm a, vm b) { return _mm256_xor_si256(a, b); }
V vm vm_not(vm a) { return _mm256_xor_si256(a, _mm256_set1_epi32(-1)); }
V vk vk_and(vk a, vk b) { return _mm256_and_si256(a, b); }
V vk vk_or(vk a, vk b) { return _mm256_or_si256(a, b); }
V vk vk_xor(vk a, vk b) { return _mm256_xor_si256(a, b); }
V vk vk_not(vk a) { return _mm256_xor_si256(a, _mm256_set1_epi32(-1)); }
V uint32_t vm_mask(vm m) { return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(m)); }
V uint32_t vk_mask(vk m) { return (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(m)); }

/* x * 2^n for whole n within 2 * (exponent range), with correct overflow and underflow:
 * in two steps, so that each factor is a normal number. */
V vf vf_power_of_two(vi n) { return vi_as_vf(vi_shl(vi_add(n, vi_set(127)), 23)); }
V vf vf_scale(vf x, vf n)
{
    const vi whole = vi_max(vi_min(vf_to_vi(n), vi_set(252)), vi_set(-252)), half = vi_sar(whole, 1);
    return vf_mul(vf_mul(x, vf_power_of_two(half)), vf_power_of_two(vi_sub(whole, half)));
}
V vl vl_of_vd(vd n)  /* |n| < 2^51 */
{
    const vd magic = vd_set(0x1.8p52);
    return vl_sub(vd_bits(vd_add(n, magic)), vd_bits(magic));
}
V vd vd_power_of_two(vl n) { return vl_as_vd(vl_shl(vl_add(n, vl_set(1023)), 52)); }
V vd vd_scale_normal(vd x, vd n) { return vd_mul(x, vd_power_of_two(vl_of_vd(n))); }  /* 2^n is normal */
V vd vd_scale(vd x, vd n)
{
    const vd whole = vd_max(vd_min(n, vd_set(2044)), vd_set(-2044)),
             half = vd_floor(vd_mul(whole, vd_set(0.5)));
    return vd_mul(vd_mul(x, vd_power_of_two(vl_of_vd(half))), vd_power_of_two(vl_of_vd(vd_sub(whole, half))));
}

/* Short floats, VF of them at a time. Rounding is to nearest even; NaN stays NaN. */
V vf vf_load_f16(const void *p) { return _mm256_cvtph_ps(_mm_loadu_si128(p)); }
V vf vf_load_bf16(const void *p) { return vi_as_vf(vi_shl(_mm256_cvtepu16_epi32(_mm_loadu_si128(p)), 16)); }
enum { NEAREST = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC };
V void vf_store_f16(void *p, vf x) { _mm_storeu_si128(p, _mm256_cvtps_ph(x, NEAREST)); }
/* bf16 as the high half of each lane, rounded. */
V vi vf_round_bf16(vf x)
{
    const vi bits = vf_bits(x), odd = vi_and(vi_shr(bits, 16), vi_set(1));
    const vi up = vi_shr(vi_add(bits, vi_add(odd, vi_set(0x7fff))), 16);
    const vi nan = vi_or(vi_shr(bits, 16), vi_set(0x40));
    return vi_select(vf_is_nan(x), nan, up);
}
V __m128i vf_to_bf16(vf x)
{
    const __m256i packed = _mm256_packus_epi32(vf_round_bf16(x), vf_round_bf16(x));
    return _mm256_castsi256_si128(_mm256_permute4x64_epi64(packed, 0x08));
}
V void vf_store_bf16(void *p, vf x) { _mm_storeu_si128(p, vf_to_bf16(x)); }
V void vf_stream_bf16(void *p, vf x) { _mm_stream_si128(p, vf_to_bf16(x)); }
V void vf_stream_f16(void *p, vf x) { _mm_stream_si128(p, _mm256_cvtps_ph(x, NEAREST)); }

/* Across lanes. */
V float vf_sum(vf x)
{
    __m128 s = _mm_add_ps(vf_low(x), vf_high(x));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}
V double vd_sum(vd x)
{
    const __m128d s = _mm_add_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd(x, 1));
    return _mm_cvtsd_f64(_mm_add_sd(s, _mm_unpackhi_pd(s, s)));
}

/* Lanes of 16 bytes: LANES of them in a vector. un_: interleaves the low or high halves of two
 * vectors, within each lane (unpack). */
enum { LANES = 2 };
V vi vi_lanes(const char *p, int64_t step)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)p)),
                                   _mm_loadu_si128((const __m128i *)(const void *)(p + step)), 1);
}
/* The same from p + at[0], p + at[apart]. */
V vi vi_lanes_at(const char *p, const int32_t *at, int apart)
{
    return _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)(p + at[0]))),
        _mm_loadu_si128((const __m128i *)(const void *)(p + at[apart])), 1);
}
/* Transposes lanes of 16 bytes: swaps lane k of a[i apart] and lane i of a[k apart], for i, k < LANES. */
V void vi_transpose_lanes(vi *a, int apart)
{
    const vi low = _mm256_permute2x128_si256(a[0], a[apart], 0x20);
    a[apart] = _mm256_permute2x128_si256(a[0], a[apart], 0x31);
    a[0] = low;
}

/* Words of 32 bits selected from a (numbers 0 .. VF - 1) and b (from VF on) by `from`. */
V vi vi_across(vi a, vi b, vi from)
{
    const vi in_b = _mm256_cmpgt_epi32(from, _mm256_set1_epi32(VF - 1));
    return _mm256_blendv_epi8(_mm256_permutevar8x32_epi32(a, from), _mm256_permutevar8x32_epi32(b, from),
                              in_b);
}

/* As vi_even1 and vi_even2 (avx_shared.h). */
V vi vi_even4(vi a, vi b)
{
    return vi_in_order(
        _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0x88)));
}
V vi vi_even8(vi a, vi b) { return vi_in_order(_mm256_unpacklo_epi64(a, b)); }
V vi vi_even16(vi a, vi b) { return _mm256_permute2x128_si256(a, b, 0x20); }

/* Lanes of two vectors, by their numbers: 0 .. 2 VF - 1. Bit 3 says which vector, as a sign. */
V vf vf_shuffle_two(vf low, vf high, vi i)
{
    return _mm256_blendv_ps(_mm256_permutevar8x32_ps(low, i), _mm256_permutevar8x32_ps(high, i),
                            vi_as_vf(vi_shl(i, 28)));
}

/* Gathers element i from p + offset[i]. */
V vi vi_gather4(const char *p, const int32_t *offset)
{
    return _mm256_i32gather_epi32((const int *)(const void *)p, vi_load(offset), 1);
}
V vi vi_gather8(const char *p, const int32_t *offset)
{
    return _mm256_i32gather_epi64((const long long *)(const void *)p,
                                  _mm_loadu_si128((const __m128i *)(const void *)offset), 1);
}

/* The first n bytes, 0 <= n <= VBYTES; the others read as 0, and are not written. */
V vi vi_load_bytes(const void *p, int64_t n)
{
    const unsigned char *byte = p;
    const int64_t words = n >> 2;
    const vi all = vi_load_n(p, words);
    uint32_t last = 0;
    if ((n & 3) == 0) return all;
    for (int64_t i = n; i-- > 4 * words; ) last = last << 8 | byte[i];
    const vi there = _mm256_xor_si256(vm_first(words), vm_first(words + 1));
    return _mm256_or_si256(all, _mm256_and_si256(there, _mm256_set1_epi32((int)last)));
}
V void vi_store_bytes(void *p, vi x, int64_t n)
{
    unsigned char bytes[VBYTES];
    vi_store_n(p, x, n >> 2);
    if ((n & 3) == 0) return;
    vi_store(bytes, x);
    for (int64_t i = n & ~(int64_t)3; i < n; i++) ((unsigned char *)p)[i] = bytes[i];
}

/* Masks to VF or VD bytes that are 1 or 0, and from bytes: any byte but 0 is true. */
V int64_t vm_to_bytes(vm m)
{
    const __m128i half = _mm_packs_epi32(_mm256_castsi256_si128(m), _mm256_extracti128_si256(m, 1));
    return _mm_cvtsi128_si64(_mm_and_si128(_mm_packs_epi16(half, half), _mm_set1_epi8(1)));
}
V int32_t vk_to_bytes(vk m)
{
    const __m128i half = _mm_packs_epi32(_mm256_castsi256_si128(m), _mm256_extracti128_si256(m, 1));
    return _mm_cvtsi128_si32(_mm_shuffle_epi8(half, _mm_set1_epi32(0x0c080400))) & 0x01010101;
}
V void store8(void *p, int64_t bytes) { __builtin_memcpy(p, &bytes, sizeof bytes); }
V void store4(void *p, int32_t bytes) { __builtin_memcpy(p, &bytes, sizeof bytes); }
V void vm_store_bytes(void *p, vm m)  { store8(p, vm_to_bytes(m)); }
V void vk_store_bytes(void *p, vk m)  { store4(p, vk_to_bytes(m)); }
V void vm_stream_bytes(void *p, vm m) { _mm_stream_si64(p, vm_to_bytes(m)); }
V void vk_stream_bytes(void *p, vk m) { _mm_stream_si32(p, vk_to_bytes(m)); }
V vm vm_load_bytes(const void *p)
{
    return vm_not(vi_eq(_mm256_cvtepu8_epi32(_mm_loadl_epi64(p)), vi_set(0)));
}
V vk vk_load_bytes(const void *p)
{
    int32_t four;
    __builtin_memcpy(&four, p, sizeof four);
    return vk_not(vl_eq(_mm256_cvtepu8_epi64(_mm_cvtsi32_si128(four)), vl_set(0)));
}

/* Elements of 1, 2, 4, 8 and 16 bytes: of x where the byte at c is not 0, else of y. */
V vi vi_where1(const void *c, vi x, vi y)
{
    return _mm256_blendv_epi8(x, y, _mm256_cmpeq_epi8(vi_load(c), _mm256_setzero_si256()));
}
V vi vi_where2(const void *c, vi x, vi y)
{
    return _mm256_blendv_epi8(x, y,
                              _mm256_cvtepi8_epi16(_mm_cmpeq_epi8(_mm_loadu_si128(c), _mm_setzero_si128())));
}
V vi vi_where4(const void *c, vi x, vi y) { return vi_select(vm_load_bytes(c), x, y); }
V vi vi_where8(const void *c, vi x, vi y) { return vl_select(vk_load_bytes(c), x, y); }
V vi vi_where16(const void *c, vi x, vi y)
{
    const unsigned char *b = c;
    const __m256i on = _mm256_setr_epi64x(b[0], b[0], b[1], b[1]);
    return _mm256_blendv_epi8(x, y, _mm256_cmpeq_epi64(on, _mm256_setzero_si256()));
}

/* 1 / x to 14 bits at least, for normal results. */
V vf vf_rcp(vf x)
{
    const vf y = _mm256_rcp_ps(x);
    return vf_fma(y, vf_fnma(x, y, vf_set(1)), y);
}
V vd vd_rcp(vd x) { return vd_div(vd_set(1), x); }

/* 1 / sqrt(x) to 11 bits, for normal x. */
V vf vf_rsqrt_guess(vf x) { return _mm256_rsqrt_ps(x); }

/* Whole numbers below 2^51 as doubles. */
V vd vd_of_vl(vl n)
{
    const vd magic = vd_set(0x1.8p52);
    return vd_sub(vl_as_vd(vl_add(n, vd_bits(magic))), magic);
}

/* Integers as floats: exact, but for those of 32 bits, which are rounded. */
V vf vf_load_i8(const void *p)  { return vi_to_vf(_mm256_cvtepi8_epi32(_mm_loadl_epi64(p))); }
V vf vf_load_u8(const void *p)  { return vi_to_vf(_mm256_cvtepu8_epi32(_mm_loadl_epi64(p))); }
V vf vf_load_i16(const void *p) { return vi_to_vf(_mm256_cvtepi16_epi32(_mm_loadu_si128(p))); }
V vf vf_load_u16(const void *p) { return vi_to_vf(_mm256_cvtepu16_epi32(_mm_loadu_si128(p))); }

/* Bytes 0 .. VF - 1 of four words. */
V vf vf_of_words_u8(const int32_t word[4])
{
    return vi_to_vf(_mm256_cvtepu8_epi32(_mm_setr_epi32(word[0], word[1], word[2], word[3])));
}

/* The low 8 or 16 bits of each lane. */
V __m128i vi_to_16(vi x)
{
    const __m128i order = _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, -1, -1, -1, -1, -1, -1, -1, -1);
    return _mm256_castsi256_si128(_mm256_permute4x64_epi64(vi_in_lanes(x, order), 0x08));
}
V int64_t vi_to_8(vi x)
{
    const __m128i order = _mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, -1, -1, -1, -1, -1, -1, -1, -1);
    return _mm_cvtsi128_si64(_mm_shuffle_epi8(vi_to_16(x), order));
}
V void vi_store_8(void *p, vi x)   { store8(p, vi_to_8(x)); }
V void vi_stream_8(void *p, vi x)  { _mm_stream_si64(p, vi_to_8(x)); }
V void vi_store_16(void *p, vi x)  { _mm_storeu_si128(p, vi_to_16(x)); }
V void vi_stream_16(void *p, vi x) { _mm_stream_si128(p, vi_to_16(x)); }

/* The floats at indices i of a table of 32. HAS_TABLES: with one shuffle. */
enum { HAS_TABLES = 0 };
V vf vf_lookup(const float *table, vi i) { return _mm256_i32gather_ps(table, i, 4); }

/* Parts of vectors ------------------------------------------------------------------------- */

/* VD floats as doubles, straight from memory, which takes no shuffles; the first n of them. */
V vd vd_load_floats(const void *p) { return _mm256_cvtps_pd(_mm_loadu_ps(p)); }
V vd vd_load_floats_n(const void *p, int64_t n) { return vd_low_of(vf_load_n(p, n)); }

/* The floats at p in the lanes of m; `otherwise` in the others. */
V vf vf_load_where(const void *p, vm m, vf otherwise)
{
    return vf_select(m, _mm256_maskload_ps(p, m), otherwise);
}

/* Is either a NaN? */
V vm vf_unordered(vf a, vf b) { return _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_UNORD_Q)); }
V vk vd_unordered(vd a, vd b) { return _mm256_castpd_si256(_mm256_cmp_pd(a, b, _CMP_UNORD_Q)); }

/* y, but `plain` where y is 0 or NaN. */
V vf vf_unless_zero(vf y, vf plain)
{
    return _mm256_blendv_ps(y, plain, _mm256_cmp_ps(y, vf_zero(), _CMP_EQ_UQ));
}

/* Lane 0; all lanes the last one; swaps of lanes that are `by` apart, a constant. */
V vd vd_last_lane(vd x) { return _mm256_permute4x64_pd(x, 0xff); }
V vd vd_swap(vd x, int by) { return by == 2 ? _mm256_permute2f128_pd(x, x, 1) : _mm256_permute_pd(x, 0x5); }
V vf vf_swap(vf x, int by)
{
    if (by == 4) return _mm256_permute2f128_ps(x, x, 1);
    return by == 2 ? _mm256_permute_ps(x, 0x4e) : _mm256_permute_ps(x, 0xb1);
}

/* Of two neighbours: both the first, or the second; the first a - b, the second a + b; and +0 and -0. */
V vd vd_dup_odds(vd x) { return _mm256_permute_pd(x, 0xf); }
V vd vd_addsub(vd a, vd b) { return _mm256_addsub_pd(a, b); }
V vd vd_minus_odds(void) { return _mm256_setr_pd(0.0, -0.0, 0.0, -0.0); }

/* Lanes 0, 2, 4, ... of two vectors, and the others. */
V vf vf_in_order(vf x) { return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(x), 0xd8)); }
V vf vf_evens(vf a, vf b) { return vf_in_order(_mm256_shuffle_ps(a, b, 0x88)); }
V vf vf_odds(vf a, vf b) { return vf_in_order(_mm256_shuffle_ps(a, b, 0xdd)); }
V vd vd_evens(vd a, vd b) { return _mm256_permute4x64_pd(_mm256_unpacklo_pd(a, b), 0xd8); }
V vd vd_odds(vd a, vd b)  { return _mm256_permute4x64_pd(_mm256_unpackhi_pd(a, b), 0xd8); }

/* Two vectors of floats as one of short floats. */
V vi vi_of_halves(__m128i a, __m128i b) { return _mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1); }
V vi vi_of_f16(vf a, vf b)
{
    return vi_of_halves(_mm256_cvtps_ph(a, NEAREST), _mm256_cvtps_ph(b, NEAREST));
}
V vi vi_of_bf16(vf a, vf b) { return vi_of_halves(vf_to_bf16(a), vf_to_bf16(b)); }

/* The larger, and of two zeros +0, so that the result does not depend on the order of elements. A NaN in x is
 * ignored. */
V vf vf_max_ordered(vf x, vf best)
{
    return _mm256_and_ps(_mm256_max_ps(x, best), _mm256_or_ps(x, _mm256_cmp_ps(x, best, _CMP_NEQ_UQ)));
}
V vd vd_max_ordered(vd x, vd best)
{
    return _mm256_and_pd(_mm256_max_pd(x, best), _mm256_or_pd(x, _mm256_cmp_pd(x, best, _CMP_NEQ_UQ)));
}
V float vf_largest_lane(vf x)
{
    x = vf_max_ordered(x, vf_swap(x, 4));
    x = vf_max_ordered(x, vf_swap(x, 2));
    return _mm256_cvtss_f32(vf_max_ordered(x, vf_swap(x, 1)));
}
V double vd_largest_lane(vd x)
{
    x = vd_max_ordered(x, vd_swap(x, 2));
    return vd_first_lane(vd_max_ordered(x, vd_swap(x, 1)));
}

/* Lane l: the reduction of all lanes of x[l] by f. */
V vd vd_reduce(const vd x[VD], vd (*f)(vd, vd))
{
    const vd a = f(_mm256_unpacklo_pd(x[0], x[1]), _mm256_unpackhi_pd(x[0], x[1]));
    const vd b = f(_mm256_unpacklo_pd(x[2], x[3]), _mm256_unpackhi_pd(x[2], x[3]));
    return f(_mm256_permute2f128_pd(a, b, 0x20), _mm256_permute2f128_pd(a, b, 0x31));
}
V vf vf_reduce_two(vf a, vf b, vf (*f)(vf, vf))
{
    return f(_mm256_blend_ps(a, b, 0xcc),
             _mm256_castpd_ps(_mm256_shuffle_pd(_mm256_castps_pd(a), _mm256_castps_pd(b), 0x5)));
}
V vf vf_reduce_four(const vf *x, vf (*f)(vf, vf))
{
    const vf a = vf_reduce_two(x[0], x[1], f), b = vf_reduce_two(x[2], x[3], f);
    return f(_mm256_shuffle_ps(a, b, 0x88), _mm256_shuffle_ps(a, b, 0xdd));
}
V vf vf_reduce(const vf x[VF], vf (*f)(vf, vf))
{
    const vf a = vf_reduce_four(x, f), b = vf_reduce_four(x + 4, f);
    return f(_mm256_permute2f128_ps(a, b, 0x20), _mm256_permute2f128_ps(a, b, 0x31));
}

/* Lane l: the sum of lanes 0 .. l. */
V vd vd_running_sum(vd x)
{
    x = vd_add(x, _mm256_blend_pd(_mm256_permute4x64_pd(x, 0x90), vd_zero(), 1));
    return vd_add(x, _mm256_permute2f128_pd(x, x, 0x08));
}

/* The same of complex numbers, as pairs of lanes; all pairs the last one. */
V vd vd_running_pairs(vd x) { return vd_add(x, _mm256_permute2f128_pd(x, x, 0x08)); }
V vd vd_last_pair(vd x) { return _mm256_permute2f128_pd(x, x, 0x11); }

/* *x = m and returns e, with x = m 2^e: not with a few instructions here. */
enum { HAS_EXPONENTS = 0 };
V vd vd_split_exponent(vd *x) { (void)x; return vd_zero(); }

#endif
