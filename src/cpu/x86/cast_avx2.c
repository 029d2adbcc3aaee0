/* cast_avx2.c - casts with the vectors of AVX2. */
#define ISA(name) name##_avx2
#include "cpu/simd/avx2.h"
#include "cpu/simd/cast_dtypes.inc"

void tsri_cpu_cast_avx2(tsri_cpu_kernels *k);
void tsri_cpu_cast_avx2(tsri_cpu_kernels *k) { ISA(enter_casts)(k); }
