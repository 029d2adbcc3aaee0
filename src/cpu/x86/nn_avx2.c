/* nn_avx2.c - networks' kernels with the vectors of AVX2. */
#define ISA(name) name##_avx2
#include "cpu/simd/avx2.h"
#include "cpu/simd/nn.inc"

void tsri_cpu_nn_avx2(tsri_cpu_kernels *k);
void tsri_cpu_nn_avx2(tsri_cpu_kernels *k) { enter_nn(k); }
