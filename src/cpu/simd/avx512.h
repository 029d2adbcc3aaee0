/* avx512.h - vectors of AVX-512 under names that all instruction sets share.
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

enum { VF = 16, VD = 8, VBYTES = 64, REGISTERS = 32 };

#define V static TSRI_ALWAYS_INLINE

typedef __m512 vf;
typedef __m512i vi;
typedef __m512d vd;
typedef __m512i vl;

typedef __mmask16 vm;
typedef __mmask8  vk;

/* Lanes of 16 bytes in reverse order, and bytes within each by `order`; what two vectors were packed to,
 * back in their order. */
V vi vi_reverse16(vi x) { return _mm512_shuffle_i32x4(x, x, 0x1b); }
V vi vi_in_lanes(vi x, __m128i order) { return _mm512_shuffle_epi8(x, _mm512_broadcast_i32x4(order)); }
V vi vi_in_order(vi packed)
{
    return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), packed);
}

#define MM(op)           _mm512_##op
#define MM_BITS(op)      _mm512_##op##_si512
#define MM_OF_BITS(type) _mm512_castsi512_##type
#define MM_ROUND(type)   _mm512_roundscale_##type
#include "avx_shared.h"

/* Memory. _n: the first n lanes, 0 <= n <= VF; the others read as 0, and are not written. */

V vm vm_first(int64_t n) { return (vm)_bzhi_u32(0xffff, (unsigned)n); }
V vk vk_first(int64_t n) { return (vk)_bzhi_u32(0xff, (unsigned)n); }

/* The same with stores of 32 bytes. */
V void vf_stream_short(void *p, vf x)
{
    _mm256_stream_ps(p, _mm512_castps512_ps256(x));
    _mm256_stream_ps((float *)p + VF / 2, _mm512_extractf32x8_ps(x, 1));
}
V void vd_stream_short(void *p, vd x)
{
    _mm256_stream_pd(p, _mm512_castpd512_pd256(x));
    _mm256_stream_pd((double *)p + VD / 2, _mm512_extractf64x4_pd(x, 1));
}
V void vi_stream_short(void *p, vi x)
{
    _mm256_stream_si256(p, _mm512_castsi512_si256(x));
    _mm256_stream_si256((__m256i *)p + 1, _mm512_extracti64x4_epi64(x, 1));
}
V vf   vf_load_n(const void *p, int64_t n)      { return _mm512_maskz_loadu_ps(vm_first(n), p); }
V void vf_store_n(void *p, vf x, int64_t n)     { _mm512_mask_storeu_ps(p, vm_first(n), x); }
V vd   vd_load_n(const void *p, int64_t n)      { return _mm512_maskz_loadu_pd(vk_first(n), p); }
V void vd_store_n(void *p, vd x, int64_t n)     { _mm512_mask_storeu_pd(p, vk_first(n), x); }
V vi   vi_load_n(const void *p, int64_t n)      { return _mm512_maskz_loadu_epi32(vm_first(n), p); }
V void vi_store_n(void *p, vi x, int64_t n)     { _mm512_mask_storeu_epi32(p, vm_first(n), x); }

/* Integers of 32 and 64 bits: shifts. sar keeps the sign. */
V vl vl_set(int64_t x) { return _mm512_set1_epi64(x); }
V vi vi_shl(vi a, int n) { return _mm512_slli_epi32(a, (unsigned)n); }
V vi vi_shr(vi a, int n) { return _mm512_srli_epi32(a, (unsigned)n); }
V vl vl_shl(vl a, int n) { return _mm512_slli_epi64(a, (unsigned)n); }
V vl vl_shr(vl a, int n) { return _mm512_srli_epi64(a, (unsigned)n); }
V vi vi_sar(vi a, int n) { return _mm512_srai_epi32(a, (unsigned)n); }

/* Halves of vectors. */
V __m256 vf_low(vf a) { return _mm512_castps512_ps256(a); }
V __m256 vf_high(vf a) { return _mm512_extractf32x8_ps(a, 1); }
V vf vf_join(__m256 low, __m256 high) { return _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1); }
V vd vd_low_of(vf a) { return _mm512_cvtps_pd(vf_low(a)); }
V vd vd_high_of(vf a) { return _mm512_cvtps_pd(vf_high(a)); }
V vf vf_of(vd low, vd high) { return vf_join(_mm512_cvtpd_ps(low), _mm512_cvtpd_ps(high)); }

/* Comparisons. False for NaN, except ne. select: a where the mask is set, else b. */
V vm vf_lt(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
V vm vf_le(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ); }
V vm vf_gt(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ); }
V vm vf_ge(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_GE_OQ); }
V vm vf_eq(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
V vm vf_ne(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_NEQ_UQ); }
V vm vf_is_nan(vf a) { return _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q); }
V vf vf_select(vm m, vf a, vf b) { return _mm512_mask_blend_ps(m, b, a); }
V vk vd_lt(vd a, vd b) { return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ); }
V vk vd_le(vd a, vd b) { return _mm512_cmp_pd_mask(a, b, _CMP_LE_OQ); }
V vk vd_gt(vd a, vd b) { return _mm512_cmp_pd_mask(a, b, _CMP_GT_OQ); }
V vk vd_ge(vd a, vd b) { return _mm512_cmp_pd_mask(a, b, _CMP_GE_OQ); }
V vk vd_eq(vd a, vd b) { return _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ); }
V vk vd_ne(vd a, vd b) { return _mm512_cmp_pd_mask(a, b, _CMP_NEQ_UQ); }
V vk vd_is_nan(vd a) { return _mm512_cmp_pd_mask(a, a, _CMP_UNORD_Q); }
V vd vd_select(vk m, vd a, vd b) { return _mm512_mask_blend_pd(m, b, a); }
V vm vi_eq(vi a, vi b) { return _mm512_cmpeq_epi32_mask(a, b); }
V vm vi_gt(vi a, vi b) { return _mm512_cmpgt_epi32_mask(a, b); }
V vi vi_select(vm m, vi a, vi b) { return _mm512_mask_blend_epi32(m, b, a); }
V vk vl_eq(vl a, vl b) { return _mm512_cmpeq_epi64_mask(a, b); }
V vk vl_gt(vl a, vl b) { return _mm512_cmpgt_epi64_mask(a, b); }
V vl vl_select(vk m, vl a, vl b) { return _mm512_mask_blend_epi64(m, b, a); }
V vm vm_and(vm a, vm b) { return (vm)(a & b); }
V vm vm_or(vm a, vm b) { return (vm)(a | b); }
V vm vm_xor(vm a, vm b) { return (vm)(a ^ b); }
V vm vm_not(vm a) { return (vm)~a; }
V vk vk_and(vk a, vk b) { return (vk)(a & b); }
V vk vk_or(vk a, vk b) { return (vk)(a | b); }
V vk vk_xor(vk a, vk b) { return (vk)(a ^ b); }
V vk vk_not(vk a) { return (vk)~a; }
V uint32_t vm_mask(vm m) { return m; }
V uint32_t vk_mask(vk m) { return m; }

/* x * 2^n for whole n, with correct overflow and underflow. */
V vf vf_scale(vf x, vf n) { return _mm512_scalef_ps(x, n); }
V vd vd_scale(vd x, vd n) { return _mm512_scalef_pd(x, n); }
V vd vd_scale_normal(vd x, vd n) { return vd_scale(x, n); }

/* Short floats, VF of them at a time. Rounding is to nearest even; NaN stays NaN. */
V vf vf_load_f16(const void *p) { return _mm512_cvtph_ps(_mm256_loadu_si256(p)); }
V vf vf_load_bf16(const void *p)
{
    return vi_as_vf(vi_shl(_mm512_cvtepu16_epi32(_mm256_loadu_si256(p)), 16));
}
enum { NEAREST = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC };
V void vf_store_f16(void *p, vf x) { _mm256_storeu_si256(p, _mm512_cvtps_ph(x, NEAREST)); }
/* bf16 as the high half of each lane, rounded. */
V vi vf_round_bf16(vf x)
{
    const vi bits = vf_bits(x), odd = vi_and(vi_shr(bits, 16), vi_set(1));
    const vi up = vi_shr(vi_add(bits, vi_add(odd, vi_set(0x7fff))), 16);
    const vi nan = vi_or(vi_shr(bits, 16), vi_set(0x40));
    return vi_select(vf_is_nan(x), nan, up);
}
V void vf_stream_f16(void *p, vf x) { _mm256_stream_si256(p, _mm512_cvtps_ph(x, NEAREST)); }
/* bf16 packed: the high half of each lane. */
V __m256i vf_to_bf16(vf x)
{
    const vi high = _mm512_setr_epi32(0x00030001, 0x00070005, 0x000b0009, 0x000f000d, 0x00130011, 0x00170015,
                                      0x001b0019, 0x001f001d, 0, 0, 0, 0, 0, 0, 0, 0);
    const vi bits = vf_bits(x), odd = vi_and(vi_shr(bits, 16), vi_set(1));
    const vi up = vi_add(bits, vi_add(odd, vi_set(0x7fff)));
    const vi whole = _mm512_mask_or_epi32(up, vf_is_nan(x), bits, vi_set(0x400000));
    return _mm512_castsi512_si256(_mm512_permutexvar_epi16(high, whole));
}
V void vf_stream_bf16(void *p, vf x) { _mm256_stream_si256(p, vf_to_bf16(x)); }
V void vf_store_bf16(void *p, vf x) { _mm256_storeu_si256(p, vf_to_bf16(x)); }

/* Across lanes. */
V float vf_sum(vf x) { return _mm512_reduce_add_ps(x); }
V double vd_sum(vd x) { return _mm512_reduce_add_pd(x); }

/* Lanes of 16 bytes: LANES of them in a vector. un_: interleaves the low or high halves of two
 * vectors, within each lane (unpack). */
enum { LANES = 4 };
V vi vi_lanes(const char *p, int64_t step)
{
    __m512i v = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)(const void *)p));
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(const void *)(p + step)), 1);
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(const void *)(p + 2 * step)), 2);
    return _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(const void *)(p + 3 * step)), 3);
}
/* The same from p + at[0], p + at[apart], ... */
V vi vi_lanes_at(const char *p, const int32_t *at, int apart)
{
    __m512i v = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)(const void *)(p + at[0])));
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(const void *)(p + at[apart])), 1);
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(const void *)(p + at[2 * apart])), 2);
    return _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(const void *)(p + at[3 * apart])), 3);
}
/* Transposes lanes of 16 bytes: swaps lane k of a[i apart] and lane i of a[k apart], for i, k < LANES. */
V void vi_transpose_lanes(vi *a, int apart)
{
    const vi low = _mm512_shuffle_i32x4(a[0], a[apart], 0x44),
             low2 = _mm512_shuffle_i32x4(a[2 * apart], a[3 * apart], 0x44);
    const vi high = _mm512_shuffle_i32x4(a[0], a[apart], 0xee),
             high2 = _mm512_shuffle_i32x4(a[2 * apart], a[3 * apart], 0xee);
    a[0] = _mm512_shuffle_i32x4(low, low2, 0x88);
    a[apart] = _mm512_shuffle_i32x4(low, low2, 0xdd);
    a[2 * apart] = _mm512_shuffle_i32x4(high, high2, 0x88);
    a[3 * apart] = _mm512_shuffle_i32x4(high, high2, 0xdd);
}

/* Words of 32 bits selected from a (numbers 0 .. VF - 1) and b (from VF on) by `from`. */
V vi vi_across(vi a, vi b, vi from) { return _mm512_permutex2var_epi32(a, from, b); }

/* As vi_even1 and vi_even2 (avx_shared.h). */
V vi vi_even4(vi a, vi b)
{
    return _mm512_permutex2var_epi32(
        a, _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30), b);
}
V vi vi_even8(vi a, vi b)
{
    return _mm512_permutex2var_epi64(a, _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14), b);
}
V vi vi_even16(vi a, vi b) { return _mm512_shuffle_i32x4(a, b, 0x88); }

/* Lanes of two vectors, by their numbers: 0 .. 2 VF - 1. */
V vf vf_shuffle_two(vf low, vf high, vi i) { return _mm512_permutex2var_ps(low, i, high); }

/* Gathers element i from p + offset[i]. */
V vi vi_gather4(const char *p, const int32_t *offset)
{
    return _mm512_i32gather_epi32(vi_load(offset), p, 1);
}
V vi vi_gather8(const char *p, const int32_t *offset)
{
    return _mm512_i32gather_epi64(_mm256_loadu_si256((const __m256i *)(const void *)offset), p, 1);
}

/* The first n bytes, 0 <= n <= VBYTES; the others read as 0, and are not written. */
V __mmask64 first_bytes(int64_t n) { return _bzhi_u64(~0ull, (unsigned)n); }
V vi   vi_load_bytes(const void *p, int64_t n)  { return _mm512_maskz_loadu_epi8(first_bytes(n), p); }
V void vi_store_bytes(void *p, vi x, int64_t n) { _mm512_mask_storeu_epi8(p, first_bytes(n), x); }

/* Masks to VF or VD bytes that are 1 or 0, and from bytes: any byte but 0 is true. */
V void vm_store_bytes(void *p, vm m) { _mm_storeu_si128(p, _mm_maskz_set1_epi8(m, 1)); }
V void vk_store_bytes(void *p, vk m) { _mm_storel_epi64(p, _mm_maskz_set1_epi8(m, 1)); }
V void vm_stream_bytes(void *p, vm m) { _mm_stream_si128(p, _mm_maskz_set1_epi8(m, 1)); }
V void vk_stream_bytes(void *p, vk m) { _mm_stream_si64(p, _mm_cvtsi128_si64(_mm_maskz_set1_epi8(m, 1))); }
V vm vm_load_bytes(const void *p)
{
    const __m128i b = _mm_loadu_si128(p);
    return _mm_test_epi8_mask(b, b);
}
V vk vk_load_bytes(const void *p)
{
    const __m128i b = _mm_loadl_epi64(p);
    return (vk)_mm_test_epi8_mask(b, b);
}

/* Elements of 1, 2, 4, 8 and 16 bytes: of x where the byte at c is not 0, else of y. */
V vi vi_where1(const void *c, vi x, vi y)
{
    const vi b = vi_load(c);
    return _mm512_mask_blend_epi8(_mm512_test_epi8_mask(b, b), y, x);
}
V vi vi_where2(const void *c, vi x, vi y)
{
    const __m256i b = _mm256_loadu_si256(c);
    return _mm512_mask_blend_epi16(_mm256_test_epi8_mask(b, b), y, x);
}
V vi vi_where4(const void *c, vi x, vi y) { return vi_select(vm_load_bytes(c), x, y); }
V vi vi_where8(const void *c, vi x, vi y) { return vl_select(vk_load_bytes(c), x, y); }
V vi vi_where16(const void *c, vi x, vi y)
{
    int32_t four;
    __builtin_memcpy(&four, c, sizeof four);
    const __m512i b = _mm512_castsi256_si512(_mm256_cvtepu8_epi64(_mm_cvtsi32_si128(four)));
    const __m512i both = _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 0, 1, 1, 2, 2, 3, 3), b);
    return vl_select(_mm512_test_epi64_mask(both, both), x, y);
}

/* 1 / x to 14 bits at least, for normal results. */
V vf vf_rcp(vf x) { return _mm512_rcp14_ps(x); }
V vd vd_rcp(vd x) { return _mm512_rcp14_pd(x); }

/* 1 / sqrt(x) to 12 bits, for normal x. */
V vf vf_rsqrt_guess(vf x) { return _mm512_rsqrt14_ps(x); }

/* Whole numbers below 2^51 in doubles as integers. */
V vl vl_of_vd(vd n) { return _mm512_cvtpd_epi64(n); }
V vd vd_of_vl(vl n) { return _mm512_cvtepi64_pd(n); }

/* Integers as floats: exact, but for those of 32 bits, which are rounded. */
V vf vf_load_i8(const void *p)  { return vi_to_vf(_mm512_cvtepi8_epi32(_mm_loadu_si128(p))); }
V vf vf_load_u8(const void *p)  { return vi_to_vf(_mm512_cvtepu8_epi32(_mm_loadu_si128(p))); }
V vf vf_load_i16(const void *p) { return vi_to_vf(_mm512_cvtepi16_epi32(_mm256_loadu_si256(p))); }
V vf vf_load_u16(const void *p) { return vi_to_vf(_mm512_cvtepu16_epi32(_mm256_loadu_si256(p))); }

/* Bytes 0 .. VF - 1 of four words. */
V vf vf_of_words_u8(const int32_t word[4])
{
    return vi_to_vf(_mm512_cvtepu8_epi32(_mm_setr_epi32(word[0], word[1], word[2], word[3])));
}

/* The low 8 or 16 bits of each lane. */
V __m128i vi_to_8(vi x)  { return _mm512_cvtepi32_epi8(x); }
V __m256i vi_to_16(vi x) { return _mm512_cvtepi32_epi16(x); }
V void vi_store_8(void *p, vi x)   { _mm_storeu_si128(p, vi_to_8(x)); }
V void vi_stream_8(void *p, vi x)  { _mm_stream_si128(p, vi_to_8(x)); }
V void vi_store_16(void *p, vi x)  { _mm256_storeu_si256(p, vi_to_16(x)); }
V void vi_stream_16(void *p, vi x) { _mm256_stream_si256(p, vi_to_16(x)); }

/* The floats at indices i of a table of 32. HAS_TABLES: with one shuffle. */
enum { HAS_TABLES = 1 };
V vf vf_lookup(const float *table, vi i)
{
    return _mm512_permutex2var_ps(vf_load(table), i, vf_load(table + 16));
}

/* Parts of vectors ------------------------------------------------------------------------- */

/* VD floats as doubles, straight from memory, which takes no shuffles; the first n of them. */
V vd vd_load_floats(const void *p) { return _mm512_cvtps_pd(_mm256_loadu_ps(p)); }
V vd vd_load_floats_n(const void *p, int64_t n)
{
    return _mm512_cvtps_pd(_mm256_maskz_loadu_ps(vk_first(n), p));
}

/* The floats at p in the lanes of m; `otherwise` in the others. */
V vf vf_load_where(const void *p, vm m, vf otherwise) { return _mm512_mask_loadu_ps(otherwise, m, p); }

/* Is either a NaN? */
V vm vf_unordered(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q); }
V vk vd_unordered(vd a, vd b) { return _mm512_cmp_pd_mask(a, b, _CMP_UNORD_Q); }

/* y, but `plain` where y is 0 or NaN. */
V vf vf_unless_zero(vf y, vf plain)
{
    return _mm512_mask_mov_ps(y, _mm512_cmp_ps_mask(y, vf_zero(), _CMP_EQ_UQ), plain);
}

/* Lane 0; all lanes the last one; swaps of lanes that are `by` apart, a constant. */
V vd vd_last_lane(vd x) { return _mm512_permutexvar_pd(_mm512_set1_epi64(7), x); }
V vd vd_swap(vd x, int by)
{
    if (by == 4) return _mm512_shuffle_f64x2(x, x, 0x4e);
    return by == 2 ? _mm512_shuffle_f64x2(x, x, 0xb1) : _mm512_permute_pd(x, 0x55);
}
V vf vf_swap(vf x, int by)
{
    if (by == 8) return _mm512_shuffle_f32x4(x, x, 0x4e);
    if (by == 4) return _mm512_shuffle_f32x4(x, x, 0xb1);
    return by == 2 ? _mm512_permute_ps(x, 0x4e) : _mm512_permute_ps(x, 0xb1);
}

/* Of two neighbours: both the first, or the second; the first a - b, the second a + b; and +0 and -0. */
V vd vd_dup_odds(vd x) { return _mm512_permute_pd(x, 0xff); }
V vd vd_addsub(vd a, vd b) { return _mm512_mask_sub_pd(_mm512_add_pd(a, b), 0x55, a, b); }
V vd vd_minus_odds(void) { return _mm512_setr_pd(0.0, -0.0, 0.0, -0.0, 0.0, -0.0, 0.0, -0.0); }

/* Lanes 0, 2, 4, ... of two vectors, and the others. */
V vf vf_evens(vf a, vf b)
{
    return _mm512_permutex2var_ps(
        a, _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30), b);
}
V vf vf_odds(vf a, vf b)
{
    return _mm512_permutex2var_ps(
        a, _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31), b);
}
V vd vd_evens(vd a, vd b)
{
    return _mm512_permutex2var_pd(a, _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14), b);
}
V vd vd_odds(vd a, vd b)
{
    return _mm512_permutex2var_pd(a, _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15), b);
}

/* Two vectors of floats as one of short floats. */
V vi vi_of_halves(__m256i a, __m256i b) { return _mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1); }
V vi vi_of_f16(vf a, vf b)
{
    return vi_of_halves(_mm512_cvtps_ph(a, NEAREST), _mm512_cvtps_ph(b, NEAREST));
}
V vi vi_of_bf16(vf a, vf b) { return vi_of_halves(vf_to_bf16(a), vf_to_bf16(b)); }

/* The larger, and of two zeros +0, so that the result does not depend on the order of elements. A NaN in x is
 * ignored. */
enum { LARGER = 5 };  /* the larger, with its own sign */
V vf vf_max_ordered(vf x, vf best) { return _mm512_range_ps(x, best, LARGER); }
V vd vd_max_ordered(vd x, vd best) { return _mm512_range_pd(x, best, LARGER); }
V float vf_largest_lane(vf x)
{
    x = vf_max_ordered(x, vf_swap(x, 8));
    x = vf_max_ordered(x, vf_swap(x, 4));
    x = vf_max_ordered(x, vf_swap(x, 2));
    return _mm512_cvtss_f32(vf_max_ordered(x, vf_swap(x, 1)));
}
V double vd_largest_lane(vd x)
{
    x = vd_max_ordered(x, vd_swap(x, 4));
    x = vd_max_ordered(x, vd_swap(x, 2));
    return vd_first_lane(vd_max_ordered(x, vd_swap(x, 1)));
}

/* Lane l: the reduction of all lanes of x[l] by f. */
V vd vd_reduce_two(vd a, vd b, vd (*f)(vd, vd))
{
    return f(_mm512_mask_blend_pd(0xaa, a, b), _mm512_shuffle_pd(a, b, 0x55));
}
V vd vd_reduce_four(vd a, vd b, vd (*f)(vd, vd))
{
    return f(_mm512_shuffle_f64x2(a, b, 0x88), _mm512_shuffle_f64x2(a, b, 0xdd));
}
V vd vd_reduce(const vd x[VD], vd (*f)(vd, vd))
{
    const vd a = vd_reduce_two(x[0], x[1], f), b = vd_reduce_two(x[2], x[3], f),
             c = vd_reduce_two(x[4], x[5], f), d = vd_reduce_two(x[6], x[7], f);
    return vd_reduce_four(vd_reduce_four(a, b, f), vd_reduce_four(c, d, f), f);
}
V vf vf_reduce_two(vf a, vf b, vf (*f)(vf, vf))
{
    return f(_mm512_mask_blend_ps(0xcccc, a, b),
             _mm512_castpd_ps(_mm512_shuffle_pd(_mm512_castps_pd(a), _mm512_castps_pd(b), 0x55)));
}
V vf vf_reduce_four(const vf *x, vf (*f)(vf, vf))
{
    const vf a = vf_reduce_two(x[0], x[1], f), b = vf_reduce_two(x[2], x[3], f);
    return f(_mm512_shuffle_ps(a, b, 0x88), _mm512_shuffle_ps(a, b, 0xdd));
}
V vf vf_reduce_lanes(vf a, vf b, vf (*f)(vf, vf))
{
    return f(_mm512_shuffle_f32x4(a, b, 0x88), _mm512_shuffle_f32x4(a, b, 0xdd));
}
V vf vf_reduce(const vf x[VF], vf (*f)(vf, vf))
{
    const vf a = vf_reduce_four(x, f), b = vf_reduce_four(x + 4, f), c = vf_reduce_four(x + 8, f),
             d = vf_reduce_four(x + 12, f);
    return vf_reduce_lanes(vf_reduce_lanes(a, b, f), vf_reduce_lanes(c, d, f), f);
}

/* Lane l: the sum of lanes 0 .. l. */
V vd vd_running_sum(vd x)
{
    const __m512i none = _mm512_setzero_si512();
    x = vd_add(x, vl_as_vd(_mm512_alignr_epi64(vd_bits(x), none, 7)));
    x = vd_add(x, vl_as_vd(_mm512_alignr_epi64(vd_bits(x), none, 6)));
    return vd_add(x, vl_as_vd(_mm512_alignr_epi64(vd_bits(x), none, 4)));
}

/* The same of complex numbers, as pairs of lanes; all pairs the last one. */
V vd vd_running_pairs(vd x)
{
    const __m512i none = _mm512_setzero_si512();
    x = vd_add(x, vl_as_vd(_mm512_alignr_epi64(vd_bits(x), none, 6)));
    return vd_add(x, vl_as_vd(_mm512_alignr_epi64(vd_bits(x), none, 4)));
}
V vd vd_last_pair(vd x) { return _mm512_shuffle_f64x2(x, x, 0xff); }

/* *x = m and returns e, with x = m 2^e and 1 <= |m| < 2; 0, infinity and NaN stay, and e is 0.
 * HAS_EXPONENTS: with a few instructions. */
enum { HAS_EXPONENTS = 1 };
V vd vd_split_exponent(vd *x)
{
    const __mmask8 other = _mm512_fpclass_pd_mask(*x, 0x9f), plain = (__mmask8)~other;
    const vd e = _mm512_maskz_getexp_pd(plain, *x);
    *x = _mm512_mask_getmant_pd(*x, plain, *x, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_src);
    return e;
}

#endif
