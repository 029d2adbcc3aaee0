/* copy_avx2.c - copies with the vectors of AVX2. */
#define ISA(name) name##_avx2
#include "cpu/simd/avx2.h"
#include "cpu/simd/copy_sizes.inc"

void tsri_cpu_copy_avx2(tsri_cpu_kernels *k);
void tsri_cpu_copy_avx2(tsri_cpu_kernels *k) { ISA(enter_copies)(k); }
