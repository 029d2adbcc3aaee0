/* interleave_avx512.c - elements of several sources as neighbours, with the vectors of AVX-512. */
#define ISA(name) name##_avx512
#include "cpu/simd/avx512.h"
#include "cpu/simd/interleave.inc"

void tsri_cpu_interleave_avx512(tsri_cpu_kernels *k);
void tsri_cpu_interleave_avx512(tsri_cpu_kernels *k)
{
    (void)k;  /* it has a table of its own */
    ISA(enter_interleaving)();
}
