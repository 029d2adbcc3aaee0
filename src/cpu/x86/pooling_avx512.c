/* pooling_avx512.c - the kernels of pools with the vectors of AVX-512. */
#define ISA(name) name##_avx512
#include "cpu/simd/avx512.h"
#include "cpu/simd/pooling.inc"

void tsri_cpu_pooling_avx512(tsri_cpu_kernels *k);
void tsri_cpu_pooling_avx512(tsri_cpu_kernels *k) { enter_pool(k); }
