/* draw_avx512.c - random numbers with the vectors of AVX-512. */
#define ISA(name) name##_avx512
#include "cpu/simd/avx512.h"

V vl vl_mul_low(vl a, vl b) { return _mm512_mul_epu32(a, b); }
/* A shift would use the same port as the products. */
V vl vl_high(vl a) { return _mm512_shuffle_epi32(a, _MM_PERM_DDBB); }
V vl vl_xor3(vl a, vl b, vl c) { return _mm512_ternarylogic_epi64(a, b, c, 0x96); }
V vi vi_low_pairs(vl a, vl b) { return _mm512_mask_shuffle_epi32(a, 0xaaaa, b, _MM_PERM_CCAA); }
V vl vl_block_order(void) { return _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7); }
V vf vf_of_u32(vi a) { return _mm512_cvtepu32_ps(a); }
V vd vd_of_i64(vl a) { return _mm512_cvtepi64_pd(a); }
V vd vd_of_exponent(vl a) { return _mm512_cvtepi64_pd(_mm512_srai_epi64(a, 52)); }
V vf vf_even(vf a, vf b) { return _mm512_shuffle_ps(a, b, 0x88); }
V vf vf_odd(vf a, vf b) { return _mm512_shuffle_ps(a, b, 0xdd); }
V vm vi_has(vi a, int32_t bit) { return _mm512_test_epi32_mask(a, vi_set(bit)); }
V vf vf_flip(vf x, vi a)
{
    return vi_as_vf(_mm512_ternarylogic_epi32(vf_bits(x), a, vi_set(INT32_MIN), 0x78));
}

#include "cpu/simd/draw.inc"

void tsri_cpu_draw_avx512(tsri_cpu_kernels *k);
void tsri_cpu_draw_avx512(tsri_cpu_kernels *k) { ISA(enter_draws)(k); }
