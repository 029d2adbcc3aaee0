/* conv_avx2.c - convolutions with the vectors of AVX2. */
#define ISA(name) name##_avx2
#include "cpu/simd/avx2.h"

V vf load_where(const void *p, vm m) { return _mm256_maskload_ps(p, m); }

V vi load_quarters(const char *p, int64_t step)
{
    const __m128i low = _mm_loadu_si128((const __m128i *)(const void *)p);
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low),
                                   _mm_loadu_si128((const __m128i *)(const void *)(p + step)), 1);
}

#define EACH TO_4
#define ROWS 4
#include "cpu/simd/conv_kernels.inc"

void tsri_cpu_conv_avx2(tsri_cpu_kernels *k);
void tsri_cpu_conv_avx2(tsri_cpu_kernels *k) { k->conv = conv_kernels; }
