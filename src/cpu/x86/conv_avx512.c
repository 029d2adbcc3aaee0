/* conv_avx512.c - convolutions with the vectors of AVX-512. */
#include "cpu/simd/avx512.h"

V vf load_where(const void *p, vm m) { return _mm512_maskz_loadu_ps(m, p); }

#define EACH TO_8
#define ROWS 8
#define TILES_OF_FOUR
#include "cpu/simd/convs.inc"

void tsri_cpu_conv_avx512(tsri_cpu_kernels *k);
void tsri_cpu_conv_avx512(tsri_cpu_kernels *k) { k->conv = conv_kernels; }
