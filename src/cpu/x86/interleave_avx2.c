/* interleave_avx2.c - elements of several sources as neighbours, with the vectors of AVX2. */
#define ISA(name) name##_avx2
#include "cpu/simd/avx2.h"
#include "cpu/simd/interleave.inc"

void tsri_cpu_interleave_avx2(tsri_cpu_kernels *k);
void tsri_cpu_interleave_avx2(tsri_cpu_kernels *k)
{
    (void)k;  /* it has a table of its own */
    ISA(enter_interleaving)();
}
