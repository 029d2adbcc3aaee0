/* attention_avx2.c - rows of scores with the vectors of AVX2. */
#define ISA(name) name##_avx2
#include "cpu/simd/avx2.h"

V float vf_largest(vf x)
{
    __m128 y = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    y = _mm_max_ps(y, _mm_movehl_ps(y, y));
    return _mm_cvtss_f32(_mm_max_ss(y, _mm_movehdup_ps(y)));
}

#include "cpu/simd/attention.inc"

void tsri_cpu_attention_avx2(tsri_cpu_kernels *k);
void tsri_cpu_attention_avx2(tsri_cpu_kernels *k) { k->attention = &attention_rows; }
