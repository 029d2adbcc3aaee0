/* integer_avx2.c - elementwise kernels of integers with the vectors of AVX2. */
#define ISA(name) name##_avx2
#include "cpu/simd/avx2.h"

/* VD integers of 32 bits as doubles, and back: whole numbers whose low 32 bits count. */
V vd vd_load_i32(const void *p) { return _mm256_cvtepi32_pd(_mm_loadu_si128(p)); }
V vd vd_load_u32(const void *p)
{
    const vl wide = vl_or(_mm256_cvtepu32_epi64(_mm_loadu_si128(p)), vd_bits(vd_set(0x1p52)));
    return vd_sub(vl_as_vd(wide), vd_set(0x1p52));
}
V void vd_store_i32(void *p, vd x)
{
    const vi low = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
    const vi bits = vd_bits(vd_add(x, vd_set(0x1.8p52)));
    _mm_storeu_si128(p, _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(bits, low)));
}
V void vd_store_u32(void *p, vd x) { vd_store_i32(p, x); }

#include "cpu/simd/integer_dtypes.inc"

void tsri_cpu_integer_avx2(tsri_cpu_kernels *k);
void tsri_cpu_integer_avx2(tsri_cpu_kernels *k) { ISA(enter_integers)(k); }
