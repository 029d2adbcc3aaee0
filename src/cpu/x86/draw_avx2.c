/* draw_avx2.c - random numbers with the vectors of AVX2. */
#define ISA(name) name##_avx2
#include "cpu/simd/avx2.h"

V vl vl_mul_low(vl a, vl b) { return _mm256_mul_epu32(a, b); }
V vl vl_high(vl a) { return _mm256_srli_epi64(a, 32); }
V vl vl_xor3(vl a, vl b, vl c) { return _mm256_xor_si256(_mm256_xor_si256(a, c), b); }
V vi vi_low_pairs(vl a, vl b) { return _mm256_blend_epi32(a, _mm256_slli_epi64(b, 32), 0xaa); }
V vl vl_block_order(void) { return _mm256_setr_epi64x(0, 2, 1, 3); }
V vf vf_even(vf a, vf b) { return _mm256_shuffle_ps(a, b, 0x88); }
V vf vf_odd(vf a, vf b) { return _mm256_shuffle_ps(a, b, 0xdd); }
V vm vi_has(vi a, int32_t bit) { return vi_eq(vi_and(a, vi_set(bit)), vi_set(bit)); }
V vf vf_flip(vf x, vi a) { return vf_xor(x, vf_sign_of(vi_as_vf(a))); }

/* Both halves are exact, and so is the product: the sum alone is rounded. */
V vf vf_of_u32(vi a)
{
    const vf high = _mm256_cvtepi32_ps(_mm256_srli_epi32(a, 16));
    const vf low = _mm256_cvtepi32_ps(_mm256_and_si256(a, _mm256_set1_epi32(0xffff)));
    return _mm256_add_ps(_mm256_mul_ps(high, _mm256_set1_ps(65536.0f)), low);
}

/* The halves become mantissas of 2^52 and of 2^84 + 2^63, whose sum is subtracted again: exact
 * except for the last addition. */
V vd vd_of_i64(vl a)
{
    const vl low = _mm256_blend_epi32(a, _mm256_set1_epi64x(0x4330000000000000), 0xaa);
    const vl high = _mm256_xor_si256(_mm256_srli_epi64(a, 32), _mm256_set1_epi64x(0x4530000080000000));
    const vd both = _mm256_castsi256_pd(_mm256_set1_epi64x(0x4530000080100000));
    return _mm256_add_pd(_mm256_sub_pd(_mm256_castsi256_pd(high), both), _mm256_castsi256_pd(low));
}

V vd vd_of_exponent(vl a)
{
    const vi high =
        _mm256_permutevar8x32_epi32(_mm256_srai_epi32(a, 20), _mm256_setr_epi32(1, 3, 5, 7, 1, 3, 5, 7));
    return _mm256_cvtepi32_pd(_mm256_castsi256_si128(high));
}

#include "cpu/simd/draw.inc"

void tsri_cpu_draw_avx2(tsri_cpu_kernels *k);
void tsri_cpu_draw_avx2(tsri_cpu_kernels *k) { ISA(enter_draws)(k); }
