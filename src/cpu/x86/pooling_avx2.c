/* pooling_avx2.c - the kernels of pools with the vectors of AVX2. */
#define ISA(name) name##_avx2
#include "cpu/simd/avx2.h"
#include "cpu/simd/pooling.inc"

void tsri_cpu_pooling_avx2(tsri_cpu_kernels *k);
void tsri_cpu_pooling_avx2(tsri_cpu_kernels *k) { enter_pool(k); }
