/* elementwise_avx2.c - elementwise kernels with the vectors of AVX2. */
#define ISA(name) name##_avx2
#include "cpu/simd/avx2.h"

#include "cpu/simd/elementwise_dtypes.inc"

void tsri_cpu_elementwise_avx2(tsri_cpu_kernels *k);
void tsri_cpu_elementwise_avx2(tsri_cpu_kernels *k) { ISA(enter_elementwise)(k); }
