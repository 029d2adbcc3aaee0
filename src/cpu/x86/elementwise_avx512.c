/* elementwise_avx512.c - elementwise kernels with the vectors of AVX-512. */
#define ISA(name) name##_avx512
#include "cpu/simd/avx512.h"

#include "cpu/simd/elementwise_dtypes.inc"

void tsri_cpu_elementwise_avx512(tsri_cpu_kernels *k);
void tsri_cpu_elementwise_avx512(tsri_cpu_kernels *k) { ISA(enter_elementwise)(k); }
