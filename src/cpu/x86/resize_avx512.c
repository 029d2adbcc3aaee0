/* resize_avx512.c - lines of pictures with the vectors of AVX-512. */
#define ISA(name) name##_avx512
#include "cpu/simd/avx512.h"
#include "cpu/simd/resize.inc"

void tsri_cpu_resize_avx512(tsri_cpu_kernels *k);
void tsri_cpu_resize_avx512(tsri_cpu_kernels *k) { enter_image(k); }
