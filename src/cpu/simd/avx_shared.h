/* avx_shared.h - what avx2.h and avx512.h have in common: functions that are mostly one instruction in both.
 *
 * MM(op) is the intrinsic of the width; MM_BITS(op) that of integer vectors, MM_OF_BITS(type) the cast of
 * such, and MM_ROUND(type) rounds. vi_reverse16, vi_in_lanes and vi_in_order are there already. */
#ifndef TSRI_AVX_SHARED_H
#define TSRI_AVX_SHARED_H

/* Memory. A stream is a non-temporal store; p is aligned to VBYTES. */
V vf vf_load(const void *p) { return MM(loadu_ps)(p); }
V void vf_store(void *p, vf x) { MM(storeu_ps)(p, x); }
V void vf_stream(void *p, vf x) { MM(stream_ps)(p, x); }
V vd vd_load(const void *p) { return MM(loadu_pd)(p); }
V void vd_store(void *p, vd x) { MM(storeu_pd)(p, x); }
V void vd_stream(void *p, vd x) { MM(stream_pd)(p, x); }
V vi vi_load(const void *p) { return MM_BITS(loadu)(p); }
V void vi_store(void *p, vi x) { MM_BITS(storeu)(p, x); }
V void vi_stream(void *p, vi x) { MM_BITS(stream)(p, x); }

/* Arithmetic. min and max give the second where either is NaN. */
V vf vf_set(float x) { return MM(set1_ps)(x); }
V vf vf_zero(void) { return MM(setzero_ps)(); }
V vf vf_add(vf a, vf b) { return MM(add_ps)(a, b); }
V vf vf_sub(vf a, vf b) { return MM(sub_ps)(a, b); }
V vf vf_mul(vf a, vf b) { return MM(mul_ps)(a, b); }
V vf vf_div(vf a, vf b) { return MM(div_ps)(a, b); }
V vf vf_min(vf a, vf b) { return MM(min_ps)(a, b); }
V vf vf_max(vf a, vf b) { return MM(max_ps)(a, b); }
V vf vf_sqrt(vf a) { return MM(sqrt_ps)(a); }
V vf vf_fma(vf a, vf b, vf c) { return MM(fmadd_ps)(a, b, c); }
V vf vf_fms(vf a, vf b, vf c) { return MM(fmsub_ps)(a, b, c); }
V vf vf_fnma(vf a, vf b, vf c) { return MM(fnmadd_ps)(a, b, c); }
V vd vd_set(double x) { return MM(set1_pd)(x); }
V vd vd_zero(void) { return MM(setzero_pd)(); }
V vd vd_add(vd a, vd b) { return MM(add_pd)(a, b); }
V vd vd_sub(vd a, vd b) { return MM(sub_pd)(a, b); }
V vd vd_mul(vd a, vd b) { return MM(mul_pd)(a, b); }
V vd vd_div(vd a, vd b) { return MM(div_pd)(a, b); }
V vd vd_min(vd a, vd b) { return MM(min_pd)(a, b); }
V vd vd_max(vd a, vd b) { return MM(max_pd)(a, b); }
V vd vd_sqrt(vd a) { return MM(sqrt_pd)(a); }
V vd vd_fma(vd a, vd b, vd c) { return MM(fmadd_pd)(a, b, c); }
V vd vd_fms(vd a, vd b, vd c) { return MM(fmsub_pd)(a, b, c); }
V vd vd_fnma(vd a, vd b, vd c) { return MM(fnmadd_pd)(a, b, c); }
V vd vd_fmaddsub(vd a, vd b, vd c) { return MM(fmaddsub_pd)(a, b, c); }
V vf vf_round(vf a) { return MM_ROUND(ps)(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
V vf vf_floor(vf a) { return MM_ROUND(ps)(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }
V vf vf_ceil(vf a) { return MM_ROUND(ps)(a, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC); }
V vf vf_trunc(vf a) { return MM_ROUND(ps)(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC); }
V vd vd_round(vd a) { return MM_ROUND(pd)(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
V vd vd_floor(vd a) { return MM_ROUND(pd)(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }
V vd vd_ceil(vd a) { return MM_ROUND(pd)(a, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC); }
V vd vd_trunc(vd a) { return MM_ROUND(pd)(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC); }

/* Bits. */
V vi vf_bits(vf a) { return MM_BITS(castps)(a); }
V vf vi_as_vf(vi a) { return MM_OF_BITS(ps)(a); }
V vf vf_and(vf a, vf b) { return MM(and_ps)(a, b); }
V vf vf_or(vf a, vf b) { return MM(or_ps)(a, b); }
V vf vf_xor(vf a, vf b) { return MM(xor_ps)(a, b); }
V vf vf_andnot(vf a, vf b) { return MM(andnot_ps)(a, b); }
V vf vf_abs(vf a) { return vf_andnot(vf_set(-0.0f), a); }
V vf vf_neg(vf a) { return vf_xor(vf_set(-0.0f), a); }
V vf vf_sign_of(vf a) { return vf_and(vf_set(-0.0f), a); }
V vl vd_bits(vd a) { return MM_BITS(castpd)(a); }
V vd vl_as_vd(vl a) { return MM_OF_BITS(pd)(a); }
V vd vd_and(vd a, vd b) { return MM(and_pd)(a, b); }
V vd vd_or(vd a, vd b) { return MM(or_pd)(a, b); }
V vd vd_xor(vd a, vd b) { return MM(xor_pd)(a, b); }
V vd vd_andnot(vd a, vd b) { return MM(andnot_pd)(a, b); }
V vd vd_abs(vd a) { return vd_andnot(vd_set(-0.0), a); }
V vd vd_neg(vd a) { return vd_xor(vd_set(-0.0), a); }
V vd vd_sign_of(vd a) { return vd_and(vd_set(-0.0), a); }

/* Integers of 32 and 64 bits; sub8 is of bytes. */
V vi vi_set(int32_t x) { return MM(set1_epi32)(x); }
V vi vi_add(vi a, vi b) { return MM(add_epi32)(a, b); }
V vi vi_sub(vi a, vi b) { return MM(sub_epi32)(a, b); }
V vi vi_and(vi a, vi b) { return MM_BITS(and)(a, b); }
V vi vi_or(vi a, vi b) { return MM_BITS(or)(a, b); }
V vi vi_xor(vi a, vi b) { return MM_BITS(xor)(a, b); }
V vl vl_add(vl a, vl b) { return MM(add_epi64)(a, b); }
V vl vl_sub(vl a, vl b) { return MM(sub_epi64)(a, b); }
V vl vl_and(vl a, vl b) { return MM_BITS(and)(a, b); }
V vl vl_or(vl a, vl b) { return MM_BITS(or)(a, b); }
V vl vl_xor(vl a, vl b) { return MM_BITS(xor)(a, b); }
V vi vi_mul(vi a, vi b) { return MM(mullo_epi32)(a, b); }
V vi vi_min(vi a, vi b) { return MM(min_epi32)(a, b); }
V vi vi_max(vi a, vi b) { return MM(max_epi32)(a, b); }
V vi vi_sub8(vi a, vi b) { return MM(sub_epi8)(a, b); }

/* Conversions: to the nearest integer, halves to even; cut rounds toward 0, and numbers beyond 32 bits give
 * the lowest integer. */
V vi vf_to_vi(vf a) { return MM(cvtps_epi32)(a); }
V vf vi_to_vf(vi a) { return MM(cvtepi32_ps)(a); }
V vi vf_cut(vf x) { return MM(cvttps_epi32)(x); }
V vf vf_load_i32(const void *p) { return vi_to_vf(vi_load(p)); }

/* Lanes. un_: interleaves the low or high halves of two vectors, within each lane of 16 bytes (unpack).
 * dup_evens: of two neighbours both are the first. */
V vi vi_un_low8(vi a, vi b) { return MM(unpacklo_epi8)(a, b); }
V vi vi_un_high8(vi a, vi b) { return MM(unpackhi_epi8)(a, b); }
V vi vi_un_low16(vi a, vi b) { return MM(unpacklo_epi16)(a, b); }
V vi vi_un_high16(vi a, vi b) { return MM(unpackhi_epi16)(a, b); }
V vi vi_un_low32(vi a, vi b) { return MM(unpacklo_epi32)(a, b); }
V vi vi_un_high32(vi a, vi b) { return MM(unpackhi_epi32)(a, b); }
V vi vi_un_low64(vi a, vi b) { return MM(unpacklo_epi64)(a, b); }
V vi vi_un_high64(vi a, vi b) { return MM(unpackhi_epi64)(a, b); }

/* Elements of 1, 2, 4 and 8 bytes in reverse order. */
V vi vi_reverse8(vi x)
{
    return vi_reverse16(vi_in_lanes(x, _mm_setr_epi8(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7)));
}
V vi vi_reverse4(vi x)
{
    return vi_reverse16(vi_in_lanes(x, _mm_setr_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3)));
}
V vi vi_reverse2(vi x)
{
    return vi_reverse16(vi_in_lanes(x, _mm_setr_epi8(14, 15, 12, 13, 10, 11, 8, 9, 6, 7, 4, 5, 2, 3, 0, 1)));
}
V vi vi_reverse1(vi x)
{
    return vi_reverse16(vi_in_lanes(x, _mm_setr_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)));
}

/* Every second element of a and b, of 1 or 2 bytes, from the first on. */
V vi vi_even1(vi a, vi b)
{
    const vi low = MM(set1_epi16)(0xff);
    return vi_in_order(MM(packus_epi16)(vi_and(a, low), vi_and(b, low)));
}
V vi vi_even2(vi a, vi b)
{
    const vi low = MM(set1_epi32)(0xffff);
    return vi_in_order(MM(packus_epi32)(vi_and(a, low), vi_and(b, low)));
}

V double vd_first_lane(vd x) { return MM(cvtsd_f64)(x); }
V vd vd_dup_evens(vd x) { return MM(movedup_pd)(x); }

/* Four floats. */
typedef __m128 v4;
V v4 v4_zero(void) { return _mm_setzero_ps(); }
V v4 v4_load(const void *p) { return _mm_loadu_ps(p); }
V v4 v4_load_u8(const void *p) { return _mm_cvtepi32_ps(_mm_cvtepu8_epi32(_mm_loadu_si32(p))); }
V v4 v4_fma(float a, v4 b, v4 c) { return _mm_fmadd_ps(_mm_set1_ps(a), b, c); }
V void v4_store(void *p, v4 x) { _mm_storeu_ps(p, x); }

/* 16 bytes. */
typedef __m128i vb;
V vb vb_load(const void *p) { return _mm_loadu_si128(p); }
V void vb_store(void *p, vb x) { _mm_storeu_si128(p, x); }
V vb vb_or(vb a, vb b) { return _mm_or_si128(a, b); }
V vb vb_shuffle(vb a, vb order) { return _mm_shuffle_epi8(a, order); }

/* After non-temporal stores, before others read them. */
V void stream_fence(void) { _mm_sfence(); }

/* Prefetches a line that will be written: stores retire in order, and one that waits for its line holds up
 * those after it. */
V void prefetch_to_write(const void *p) { __asm__ volatile("prefetchw (%0)" : : "r"(p)); }

#endif
