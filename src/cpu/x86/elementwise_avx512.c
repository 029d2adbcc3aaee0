/* elementwise_avx512.c - elementwise kernels with the vectors of AVX-512. */
#define ISA(name) name##_avx512
#include "cpu/simd/avx512.h"

/* Lanes 0, 2, 4, ... of two vectors, and the others. */
V vd vd_evens(vd a, vd b)
{
    return _mm512_permutex2var_pd(a, _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14), b);
}
V vd vd_odds(vd a, vd b)
{
    return _mm512_permutex2var_pd(a, _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15), b);
}

#include "cpu/simd/elementwise_dtypes.inc"

void tsri_cpu_elementwise_avx512(tsri_cpu_kernels *k);
void tsri_cpu_elementwise_avx512(tsri_cpu_kernels *k) { ISA(enter_elementwise)(k); }
