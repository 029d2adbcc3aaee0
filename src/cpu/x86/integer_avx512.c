/* integer_avx512.c - elementwise kernels of integers with the vectors of AVX-512. */
#define ISA(name) name##_avx512
#include "cpu/simd/avx512.h"
#include "cpu/simd/integer_dtypes.inc"

void tsri_cpu_integer_avx512(tsri_cpu_kernels *k);
void tsri_cpu_integer_avx512(tsri_cpu_kernels *k) { ISA(enter_integers)(k); }
