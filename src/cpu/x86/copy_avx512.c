/* copy_avx512.c - copies with the vectors of AVX512. */
#define ISA(name) name##_avx512
#include "cpu/simd/avx512.h"
#include "cpu/simd/copy_sizes.inc"

void tsri_cpu_copy_avx512(tsri_cpu_kernels *k);
void tsri_cpu_copy_avx512(tsri_cpu_kernels *k) { ISA(enter_copies)(k); }
