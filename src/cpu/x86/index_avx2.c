/* index_avx2.c - gather and scatter with the vectors of AVX2. */
#define ISA(name) name##_avx2
#include "cpu/simd/avx2.h"
#include "cpu/simd/index.inc"

void tsri_cpu_index_avx2(tsri_cpu_kernels *k);
void tsri_cpu_index_avx2(tsri_cpu_kernels *k) { ISA(enter_indexing)(k); }
