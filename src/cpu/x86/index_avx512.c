/* index_avx512.c - gather and scatter with the vectors of AVX-512. */
#define ISA(name) name##_avx512
#include "cpu/simd/avx512.h"
#include "cpu/simd/index.inc"

void tsri_cpu_index_avx512(tsri_cpu_kernels *k);
void tsri_cpu_index_avx512(tsri_cpu_kernels *k) { ISA(enter_indexing)(k); }
