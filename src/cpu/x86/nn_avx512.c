/* nn_avx512.c - networks' kernels with the vectors of AVX-512. */
#define ISA(name) name##_avx512
#include "cpu/simd/avx512.h"
#include "cpu/simd/nn.inc"

void tsri_cpu_nn_avx512(tsri_cpu_kernels *k);
void tsri_cpu_nn_avx512(tsri_cpu_kernels *k) { enter_nn(k); }
