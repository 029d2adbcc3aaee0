/* conv_avx2.c - convolutions with the vectors of AVX2. */
#include "cpu/simd/avx2.h"

V vf load_where(const void *p, vm m) { return _mm256_maskload_ps(p, m); }

#define EACH TO_4
#define ROWS 4
#include "cpu/simd/convs.inc"

void tsri_cpu_conv_avx2(tsri_cpu_kernels *k);
void tsri_cpu_conv_avx2(tsri_cpu_kernels *k) { k->conv = conv_kernels; }
