/* elementwise_avx2.c - elementwise kernels with the vectors of AVX2. */
#define ISA(name) name##_avx2
#include "cpu/simd/avx2.h"

/* Lanes 0 and 2 of two vectors, and the others. */
V vd vd_evens(vd a, vd b) { return _mm256_permute4x64_pd(_mm256_unpacklo_pd(a, b), 0xd8); }
V vd vd_odds(vd a, vd b)  { return _mm256_permute4x64_pd(_mm256_unpackhi_pd(a, b), 0xd8); }

#include "cpu/simd/elementwise_dtypes.inc"

void tsri_cpu_elementwise_avx2(tsri_cpu_kernels *k);
void tsri_cpu_elementwise_avx2(tsri_cpu_kernels *k) { ISA(enter_elementwise)(k); }
