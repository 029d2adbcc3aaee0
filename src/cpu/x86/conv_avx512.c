/* conv_avx512.c - convolutions with the vectors of AVX-512. */
#define ISA(name) name##_avx512
#include "cpu/simd/avx512.h"

V vf load_where(const void *p, vm m) { return _mm512_maskz_loadu_ps(m, p); }

V vi load_quarters(const char *p, int64_t step)
{
    __m512i v = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)(const void *)p));
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(const void *)(p + step)), 1);
    v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(const void *)(p + 2 * step)), 2);
    return _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(const void *)(p + 3 * step)), 3);
}

#define EACH TO_8
#define ROWS 8
#define TILES_OF_FOUR
#include "cpu/simd/conv_kernels.inc"

void tsri_cpu_conv_avx512(tsri_cpu_kernels *k);
void tsri_cpu_conv_avx512(tsri_cpu_kernels *k) { k->conv = conv_kernels; }
