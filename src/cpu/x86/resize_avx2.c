/* resize_avx2.c - lines of pictures with the vectors of AVX2. */
#define ISA(name) name##_avx2
#include "cpu/simd/avx2.h"
#include "cpu/simd/resize.inc"

void tsri_cpu_resize_avx2(tsri_cpu_kernels *k);
void tsri_cpu_resize_avx2(tsri_cpu_kernels *k) { enter_image(k); }
